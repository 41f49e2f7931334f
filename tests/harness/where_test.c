/* SPDX-License-Identifier: MIT
 *
 * Where a violation is: names of blocks in verdicts, who wrote the field last and when, how far the
 * cycle is, what is young and what is remembered; and that an ordinary run tells nothing of it.
 */
#include "collectors/cheney/cheney.h"
#include "collectors/known_bad/known_bad.h"
#include "harness/path.h"
#include "tests/support/support.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

static struct program program;
static char report[1 << 16], where[1 << 14];

static const struct collector *bad(const char *name) {
    for (const struct collector *const *c = known_bad_collectors(); *c; c++)
        if (strcmp((*c)->name, name) == 0)
            return *c;
    fail_msg("no collector %s", name);
    return NULL;
}

static void ignore(void *context, struct runner *r, unsigned op, bool before) {
    (void)context, (void)r, (void)op, (void)before;
}

/* Runs the program and writes what there is to say of it. */
static struct verdict run(const char *subject, runner_observer *observe, bool explain) {
    struct runner_options options = {
        .subject = bad(subject), .reference = &cheney, .observe = observe};
    struct runner *r = runner_open(&options);
    struct verdict v;
    assert_non_null(r);
    runner_run(r, &program, &v);
    if (explain)
        runner_explain(r, &program, &v);
    runner_where(r, &v, PARTY_SUBJECT, where, sizeof where);
    runner_report(r, &v, &program, report, sizeof report);
    runner_close(r);
    return v;
}

static void has(const char *text, const char *line) {
    if (!strstr(text, line))
        fail_msg("no \"%s\" in\n%s", line, text);
}

/* ---- a hole in the remembered set -------------------------------------------------------------
 */

static const char *const hole = "isoheap program 1\n"
                                "heap\n"
                                "  b0 = block tag=0 [0, 0]\n"
                                "  b1 = block tag=1 [0]\n"
                                "roots\n"
                                "  r0 = b0\n"
                                "  r3 = b1\n"
                                "script\n"
                                "  r1 = alloc tag=0 size=1\n"
                                "  r0.1 := r1\n"
                                "  r1.0 := 5\n"
                                "  r3.0 := 6\n"
                                "  minor\n";

static void a_hole_says_who_wrote_the_field(void **state) {
    (void)state;
    parse_program(&program, hole);
    struct verdict v = run("bad_unrecorded_store", NULL, true);
    assert_int_equal(v.violation, VIOLATION_remembered_set_hole);
    assert_string_equal(v.path, "r0.1");
    assert_string_equal(v.found, "a pointer to n0 (at word 256, tag 0, 1 fields)");
    has(where, "  written    field 1 of b0, by operation 1 (r0.1 := r1)\n");
    has(where, "  correct    at the start, when the heaps were last compared\n");
    has(where, "  cycle      none under way; 0 so far\n");
    has(where, "  young      words 256 to 383, 2 of them used by 1 block: n0; unused 258 to 319,");
    has(where, "  remembered no field\n");
    has(report, where);
}

/* What there is to say after operation *(unsigned *)context of a run that is looked at closely. */
static void look(void *context, struct runner *r, unsigned op, bool before) {
    struct verdict none = {.violation = VIOLATION_none};
    if (before || op != *(unsigned *)context)
        return;
    size_t length = runner_where(r, &none, PARTY_SUBJECT, where, sizeof where);
    assert_int_equal(length, strlen(where));
    assert_int_equal(runner_where(r, &none, PARTY_SUBJECT, report, 5), length);
    assert_int_equal(strlen(report), 4); /* cut, but counted */
    assert_int_equal(runner_where(r, &none, PARTY_MODEL, report, sizeof report), 0);
}

static unsigned fields_remembered;
static void count_field(void *context, word block, size_t i) {
    struct snapshot_edge edge = snapshot_resolve(context, block);
    assert_true(edge.block == 0 && i == 1); /* field 1 of b0 */
    fields_remembered++;
}

static void look_at_generations(void *context, struct runner *r, unsigned op, bool before) {
    struct snapshot s;
    (void)context;
    if (before || op != 3)
        return;
    assert_true(runner_snapshot(r, PARTY_REFERENCE, &s));
    assert_true(s.young == SIZE_MAX);
    assert_false(runner_remembered(r, PARTY_REFERENCE, count_field, &s));
    assert_false(runner_remembered(r, PARTY_MODEL, count_field, &s));
    assert_true(runner_snapshot(r, PARTY_SUBJECT, &s));
    assert_int_equal(s.young, 256);
    assert_true(runner_remembered(r, PARTY_SUBJECT, count_field, &s));
}

static void pictures_know_the_generations(void **state) {
    (void)state;
    parse_program(&program, hole);
    fields_remembered = 0;
    run("bad_minor_keeps", look_at_generations, false);
    assert_int_equal(fields_remembered, 1);
}

static void look_after(const char *subject, unsigned op) {
    struct runner_options options = {.subject = bad(subject),
                                     .reference = &cheney,
                                     .explain = true,
                                     .observe = look,
                                     .context = &op};
    struct runner *r = runner_open(&options);
    struct verdict v;
    assert_non_null(r);
    where[0] = 0;
    runner_run(r, &program, &v);
    runner_close(r);
}

/* Upwards and downwards, a row of fields is one entry. */
static void rows_are_written_at_once(void **state) {
    (void)state;
    parse_program(&program, "isoheap program 1\nheap\n  b0 = block tag=0 [1, 2, 3, 4, 5]\nroots\n"
                            "  r0 = b0\nscript\n  blit r0.0 -> r0.1, 3\n  blit r0.2 -> r0.0, 2\n"
                            "  fill r0.3, 2 := 7\n");
    look_after("bad_minor_keeps", 0);
    has(where,
        "  written    last of all: fields 1 to 3 of b0, by operation 0 (blit r0.0 -> r0.1, 3)\n");
    look_after("bad_minor_keeps", 1);
    has(where,
        "  written    last of all: fields 0 to 1 of b0, by operation 1 (blit r0.2 -> r0.0, 2)\n");
    look_after("bad_minor_keeps", 2);
    has(where,
        "  written    last of all: fields 3 to 4 of b0, by operation 2 (fill r0.3, 2 := 7)\n");
}

static void what_is_remembered_is_listed(void **state) {
    (void)state;
    parse_program(&program, hole);
    look_after("bad_minor_keeps", 3);
    has(where, "  written    last of all: field 0 of b1, by operation 3 (r3.0 := 6)\n");
    has(where, "  young      words 256 to 383, 2 of them used by 1 block: n0; unused 258 to 319,");
    has(where, "  remembered field 1 of b0\n");
}

/* ---- before and after
 * ----------------------------------------------------------------------------
 */

static void a_run_is_explained_afterwards(void **state) {
    (void)state;
    parse_program(&program, hole);
    struct verdict v = run("bad_unrecorded_store", NULL, false);
    assert_string_equal(v.found, "a pointer to the block at word 256 (tag 0, 1 fields)");
    assert_string_equal(where, "");
    v = run("bad_unrecorded_store", ignore, false);
    assert_string_equal(v.found, "a pointer to the block at word 256 (tag 0, 1 fields)");
    assert_string_equal(where, "");
    assert_null(strstr(report, "  written"));
    uint64_t digest = v.digest, checks = v.counts.checks;
    v = run("bad_unrecorded_store", ignore, true);
    assert_string_equal(v.found, "a pointer to n0 (at word 256, tag 0, 1 fields)");
    has(where, "  written    field 1 of b0, by operation 1 (r0.1 := r1)\n");
    assert_true(v.digest == digest && v.counts.checks == checks);
}

/* A defect that shows itself every second time. */
static enum gc_result (*really_collect)(struct gc *, enum gc_collection);
static unsigned collections;

static enum gc_result collect_badly(struct gc *g, enum gc_collection kind) {
    return collections++ % 2 ? GC_OK : really_collect(g, kind);
}

static void another_end_of_the_run_is_told(void **state) {
    (void)state;
    struct collector moody = *bad("bad_lost_overflow");
    struct runner_options options = {.subject = &moody, .reference = &cheney, .observe = ignore};
    struct verdict v;
    char path[512];
    really_collect = moody.collect;
    moody.collect = collect_badly;
    snprintf(path, sizeof path, "%s/lost_object/bad_lost_overflow.txt", CRASHES_DIR);
    load_program(&program, path);
    struct runner *r = runner_open(&options);
    assert_non_null(r);
    runner_run(r, &program, &v);
    assert_int_equal(v.violation, VIOLATION_lost_object);
    struct verdict before = v;
    runner_explain(r, &program, &v);
    assert_memory_equal(&before, &v, sizeof v);
    runner_report(r, &v, &program, report, sizeof report);
    has(report, "  repeated   it did not come again");
    runner_close(r);
}

/* ---- the collector's own writes ---------------------------------------------------------------
 */

static void a_word_that_only_the_collector_can_have_written(void **state) {
    (void)state;
    parse_program(&program, "isoheap program 1\nheap\n  b0 = string [0x1, 0x123456789]\nroots\n"
                            "  r0 = b0\n  r1 = b0\nscript\n  r2 = alloc tag=0 [1]\n  full\n");
    struct verdict v = run("bad_raw_short", NULL, true);
    assert_int_equal(v.violation, VIOLATION_data_changed);
    has(where, "  written    field 1 of b0, by nobody since the initial heap\n");
    has(where, "last compared; since then the collector alone can have written it\n");
}

static void a_slot_has_been_written_too(void **state) {
    (void)state;
    parse_program(&program, "isoheap program 1\nheap\n  b0 = string [0x1]\nroots\n  r0 = b0\n"
                            "script\n  r2 = r0\n  full\n");
    struct verdict v = run("bad_no_forward", NULL, true);
    assert_int_equal(v.violation, VIOLATION_sharing_changed);
    assert_string_equal(v.path, "r2");
    assert_string_equal(v.found, "a pointer to b0#2 (at word 2, tag 252, 1 fields)");
    has(where, "  written    r2, by operation 0 (r2 = r0)\n");
}

static void a_block_that_was_there_is_named(void **state) {
    char path[512];
    (void)state;
    snprintf(path, sizeof path, "%s/lost_object/bad_lost_overflow.txt", CRASHES_DIR);
    load_program(&program, path);
    struct verdict v = run("bad_lost_overflow", NULL, true);
    assert_string_equal(v.found, "a pointer to word 5, where no live block is; b2 was there");
}

/* ---- cycles -----------------------------------------------------------------------------------
 */

static void the_cycle_and_its_cursor(void **state) {
    (void)state;
    parse_program(&program, "isoheap program 1\nconfig slice=0\nheap\n  b0 = block tag=0 [1]\n"
                            "  b1 = block tag=0 [2]\nroots\n  r0 = b0\n  r1 = b1\n"
                            "script\n  slice\n");
    struct verdict v = run("bad_half_snapshot", NULL, true);
    assert_int_equal(v.violation, VIOLATION_snapshot_lost);
    has(v.expected, "b1 (at word 2, tag 0, 1 fields), of the snapshot, ");
    has(v.found, ", white");
    has(where, "  cycle      marking, in cycle 1\n");
    parse_program(&program, "isoheap program 1\nheap\n  b0 = block tag=0 [1]\n  b1 = block tag=0 "
                            "[2]\n  b2 = block tag=0 [3]\nroots\n  r0 = b0\nscript\n  slice 2\n"
                            "  slice 2\n  slice 2\n  slice 2\n  slice 2\n  slice 2\n");
    bool swept = false;
    for (unsigned op = 0; op < 6; op++) {
        look_after("bad_no_barrier", op);
        swept |= strstr(where, "sweeping, in cycle 1; next is b1 (at word 2)\n") ||
                 strstr(where, "sweeping, in cycle 1; next is b2 (at word 4)\n");
    }
    assert_true(swept);
}

/* ---- paths ------------------------------------------------------------------------------------
 */

static void paths_are_read(void **state) {
    (void)state;
    struct path path = path_read("mutator 2: r5.1.0");
    assert_true(path.given);
    assert_int_equal(path.slot, 2 * GC_SLOTS + 5);
    assert_int_equal(path.n, 2);
    assert_int_equal(path.steps[0], 1);
    assert_int_equal(path.steps[1], 0);
    assert_false(path_read("").given);
    assert_int_equal(path_read("r3").n, 0);
}

static void mark_of_b0(void *context, struct runner *r, unsigned op, bool before) {
    struct snapshot s;
    struct path path = path_read("r0.1");
    if (op != OP_INITIAL || before || !runner_snapshot(r, PARTY_SUBJECT, &s))
        return;
    struct mark first = path_mark(&s, &path, 0), second = path_mark(&s, &path, 1);
    *(bool *)context = first.field == 1 && !first.end && second.field == -1 && second.end;
}

static void paths_are_marked(void **state) {
    (void)state;
    bool marked = false;
    parse_program(&program, "isoheap program 1\nheap\n  b0 = block tag=0 [0, b1]\n"
                            "  b1 = block tag=0 [2]\nroots\n  r0 = b0\nscript\n");
    struct runner_options options = {.subject = &cheney, .observe = mark_of_b0, .context = &marked};
    struct runner *r = runner_open(&options);
    struct verdict v;
    assert_non_null(r);
    runner_run(r, &program, &v);
    assert_true(marked);
    runner_close(r);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_hole_says_who_wrote_the_field),
        cmocka_unit_test(what_is_remembered_is_listed),
        cmocka_unit_test(rows_are_written_at_once),
        cmocka_unit_test(pictures_know_the_generations),
        cmocka_unit_test(a_run_is_explained_afterwards),
        cmocka_unit_test(another_end_of_the_run_is_told),
        cmocka_unit_test(a_word_that_only_the_collector_can_have_written),
        cmocka_unit_test(a_slot_has_been_written_too),
        cmocka_unit_test(a_block_that_was_there_is_named),
        cmocka_unit_test(the_cycle_and_its_cursor),
        cmocka_unit_test(paths_are_read),
        cmocka_unit_test(paths_are_marked),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
