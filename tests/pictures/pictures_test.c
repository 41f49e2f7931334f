/* SPDX-License-Identifier: MIT
 *
 * Pictures: text inside pages, heaps as graphs, one layout for all states.
 */
#define _POSIX_C_SOURCE 200809L /* open_memstream */
#include "collectors/cheney/cheney.h"
#include "collectors/mark_sweep/mark_sweep.h"
#include "pictures/draw.h"
#include "pictures/escape.h"
#include "pictures/layout.h"
#include "tests/support/support.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static struct program program;
static char *out;
static size_t size;
static FILE *file;

static int open_out(void **state) {
    (void)state;
    file = open_memstream(&out, &size);
    return file ? 0 : -1;
}
static int close_out(void **state) {
    (void)state;
    if (file)
        fclose(file);
    free(out);
    file = NULL;
    return 0;
}
static const char *written(void) {
    fflush(file);
    return out;
}
static unsigned count(const char *what) {
    unsigned n = 0;
    for (const char *at = written(); (at = strstr(at, what)); at += strlen(what))
        n++;
    return n;
}

/* ---- text in pages ----------------------------------------------------------------------------
 */

static void json_may_stand_in_a_script(void **state) {
    (void)state;
    put_json(file, "a\"b\\c\n</script>&\xe9");
    assert_string_equal(written(), "\"a\\\"b\\\\c\\u000a\\u003c/script\\u003e\\u0026\\u00e9\"");
}

static void html_has_no_markup_of_others(void **state) {
    (void)state;
    put_html(file, "<a href='x'>\t\"&\xe9.", 16);
    assert_string_equal(written(), "&#60;a href=&#39;x&#39;&#62; &#34;&#38;&#233;");
}

/* ---- heaps as graphs --------------------------------------------------------------------------
 */

/* b0 -> b1 -> b0 by an infix pointer. */
static struct runner *run_pair(runner_observer *observer, void *context) {
    struct runner_options options = {
        .subject = &mark_sweep, .reference = &cheney, .observe = observer, .context = context};
    struct runner *runner = runner_open(&options);
    struct verdict verdict;
    assert_non_null(runner);
    parse_program(&program, "isoheap program 1\nheap\n  b0 = closure arity=1,1 env=[b1]\n"
                            "  b1 = block tag=2 [b0+3, 7]\nroots\n  r3 = b0\nscript\n  full\n"
                            "  drop r3\n  full\n");
    runner_run(runner, &program, &verdict);
    assert_int_equal(verdict.violation, VIOLATION_none);
    return runner;
}

static void draw_after_the_first(void *context, struct runner *r, unsigned op, bool before) {
    struct snapshot s;
    FILE *to = context;
    if (op != 0 || before || !runner_snapshot(r, PARTY_SUBJECT, &s))
        return;
    draw_begin(to, "a \"title\"");
    draw_cluster(to, &s, "x", "subject", "r3.5");
    draw_absence(to, "y", "after", "it crashed");
    draw_end(to);
}

static void a_graph_has_blocks_edges_and_the_path(void **state) {
    (void)state;
    runner_close(run_pair(draw_after_the_first, file));
    const char *dot = written();
    assert_memory_equal(dot, "digraph isoheap {", 17);
    assert_string_equal(dot + strlen(dot) - 2, "}\n");
    assert_int_equal(count("subgraph cluster_x"), 1);
    assert_int_equal(count("subgraph cluster_y"), 1);
    assert_int_equal(count("it crashed"), 1);
    assert_int_equal(count("a \\\"title\\\""), 1);
    assert_int_equal(count(" -> "), 3); /* root to b0, b0 to b1, b1 to b0's second function */
    assert_int_equal(count("xb0:f5 -> xb1:head"), 1);
    assert_int_equal(count("xb1:f0 -> xb0:f3"), 1);
    assert_int_equal(count("[color=red penwidth=2]"), 2); /* r3, and field 5 of b0 */
}

/* Graphviz can read it. */
static void graphviz_reads_the_graph(void **state) {
    (void)state;
    runner_close(run_pair(draw_after_the_first, file));
    FILE *dot = popen("dot -Tplain >/dev/null 2>&1", "w");
    assert_non_null(dot);
    fputs(written(), dot);
    assert_int_equal(pclose(dot), 0);
}

/* ---- one layout -------------------------------------------------------------------------------
 */

static void every_state_has_one_layout(void **state) {
    (void)state;
    struct recorder *recorder = recorder_open(&cheney, 0);
    assert_non_null(recorder);
    runner_close(run_pair(record_state, recorder));
    const struct states *s = recorder_states(recorder);
    assert_false(s->full);
    assert_int_equal(s->n_nodes, 3); /* the root, b0, b1 */
    assert_false(layout_is_large(s));
    assert_true(write_layout(file, s, "", false));
    assert_memory_equal(written(), "{\"width\":", 9);
    assert_int_equal(count("\"left_out\":0"), 1);
    assert_int_equal(count("[\"r3\",1,"), 1);
    assert_int_equal(count("[\"b0\",0,"), 1);
    assert_int_equal(count("[\"b1\",0,"), 1);
    recorder_close(recorder);
}

static void many_nodes_are_a_large_layout(void **state) {
    (void)state;
    struct states *s = calloc(1, sizeof *s);
    assert_non_null(s);
    s->n_nodes = 120;
    assert_false(layout_is_large(s));
    s->n_nodes = 121;
    assert_true(layout_is_large(s));
    free(s);
}

/* ---- switches of threads, keys of roots --------------------------------------------------------
 */

static void switches_are_counted_and_the_first_are_named(void **state) {
    struct states_switches s = {0};
    (void)state;
    states_print_switches(&s, file);
    assert_string_equal(written(), "");
    states_note_switch(&s, 3, 4);
    states_print_switches(&s, file);
    fprintf(file, "\n");
    for (unsigned n = 2; n <= STATES_SWITCHES + 1; n++)
        states_note_switch(&s, 10 + n, n);
    states_print_switches(&s, file);
    assert_non_null(
        strstr(written(), "1 switch: thread 4 at 3\n13 switches: thread 4 at 3, 2 at 12"));
    assert_int_equal(count(" at "), 1 + STATES_SWITCHES);
    assert_int_equal(count(", ..."), 1);
}

static void roots_have_keys(void **state) {
    char key[STATES_KEY];
    (void)state;
    states_root_key(0, 31, key);
    assert_string_equal(key, "r31");
    states_root_key(3, 0, key);
    assert_string_equal(key, "3:r0");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(json_may_stand_in_a_script, open_out, close_out),
        cmocka_unit_test_setup_teardown(html_has_no_markup_of_others, open_out, close_out),
        cmocka_unit_test_setup_teardown(a_graph_has_blocks_edges_and_the_path, open_out, close_out),
        cmocka_unit_test_setup_teardown(graphviz_reads_the_graph, open_out, close_out),
        cmocka_unit_test_setup_teardown(every_state_has_one_layout, open_out, close_out),
        cmocka_unit_test(many_nodes_are_a_large_layout),
        cmocka_unit_test_setup_teardown(switches_are_counted_and_the_first_are_named, open_out,
                                        close_out),
        cmocka_unit_test(roots_have_keys),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
