/* SPDX-License-Identifier: MIT
 *
 * A stack of its own for the calls of a collector: who goes deeper is found out with the call and
 * the size, who goes deep and comes back passes, and what is called back needs none of it.
 */
#define _DEFAULT_SOURCE /* MAP_ANONYMOUS */
#include "collectors/cheney/cheney.h"
#include "collectors/mark_sweep/mark_sweep.h"
#include "collectors/switch/switch.h"
#include "harness/judged/judged.h"
#include "tests/support/passing.h"
#include "tests/support/support.h"

#include <limits.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

/* ---- places -----------------------------------------------------------------------------------
 */

static struct place here, there;
static char order[8];

static void say(void *context) {
    strcat(order, context);
    place_switch(&there, &here);
    strcat(order, "c");
    place_switch(&there, &here);
    abort();
}

static void a_place_is_gone_on_with(void **state) {
    (void)state;
    static char room[64 << 10];
    char a[] = "a";
    place_make(&there, room, sizeof room, say, a);
    place_switch(&here, &there);
    strcat(order, "b");
    place_switch(&here, &there);
    assert_string_equal(order, "abc");
}

/* ---- calls ------------------------------------------------------------------------------------
 */

static struct stack *stack;
static jmp_buf out;
static bool was_on, was_on_back;
static char *where, *where_back;

static void back(void *context) {
    char local;
    where_back = &local;
    was_on_back = stack_is_on(stack);
    if (context)
        longjmp(out, 1);
}

static void call(void *context) {
    char local;
    where = &local;
    was_on = stack_is_on(stack);
    stack_back(stack, back, context);
    assert_true(stack_is_on(stack));
}

static bool is_near(const char *a, const char *b) {
    return (size_t)(a > b ? a - b : b - a) < 32 << 10;
}

static void calls_are_on_it_and_what_they_call_back_is_not(void **state) {
    (void)state;
    char local;
    stack = stack_open(32);
    assert_non_null(stack);
    assert_int_equal(stack_kib(stack), 32);
    for (unsigned i = 0; i < 3; i++) {
        stack_call(stack, call, NULL);
        assert_true(was_on && !was_on_back && !stack_is_on(stack));
        assert_true(!is_near(where, where_back) && is_near(where_back, &local));
        assert_false(stack_is_behind(stack, where));
        assert_true(stack_is_behind(stack, where - (32 << 10)));
    }
    stack_back(stack, back, NULL); /* nobody has called */
    assert_true(is_near(where_back, &local));
    stack_close(stack);
    stack_close(NULL);
}

/* Who is called back may never return; nor may he call on the stack where somebody waits. */
static void nested(void *context) {
    (void)context;
    stack_call(stack, back, NULL);
}
static void call_nested(void *context) {
    (void)context;
    stack_back(stack, nested, NULL);
}

static void a_call_may_be_left(void **state) {
    (void)state;
    char *volatile first = NULL;
    char local;
    stack = stack_open(32);
    stack_abandon(stack); /* there is none */
    for (volatile unsigned i = 0; i < 100; i++) {
        if (setjmp(out) == 0)
            stack_call(stack, call, stack);
        stack_abandon(stack);
        assert_false(stack_is_on(stack));
        first = first ? first : where;
        assert_ptr_equal(where, first); /* it begins at the top again */
    }
    stack_call(stack, call_nested, NULL);
    assert_true(is_near(where_back, &local) && !was_on_back);
    stack_close(stack);
}

/* ---- collectors -------------------------------------------------------------------------------
 */

static size_t depth; /* KiB that a collection goes down: less than 1024 */

static size_t go_down(size_t kib) {
    volatile char frame[1024];
    frame[kib] = (char)kib;
    size_t below = kib ? go_down(kib - 1) : 0;
    return below + (frame[kib] == (char)kib);
}

static enum gc_result deep_collect(struct gc *gc, enum gc_collection kind) {
    if (go_down(depth) != depth + 1)
        abort();
    return cheney.collect(gc, kind);
}

static struct collector deep(bool shallow) {
    struct collector c = cheney;
    c.name = "deep";
    c.collect = deep_collect;
    c.traits.shallow = shallow;
    return c;
}

#define LIST "isoheap program 1\nscript\n  r0 = list 20 1\n  full\n  full\n"

static struct program program;
static struct judged_place *place;
static struct sigaction before; /* who deals with a fault, before cmocka does: a sanitizer */

/* How a run in a process of its own ends: its status, and what it has noted in *place. */
static int run_apart(const struct runner_options *options) {
    int status;
    memset(place, 0, sizeof *place);
    parse_program(&program, LIST);
    pid_t child = fork();
    if (child == 0) {
        struct verdict verdict;
        struct runner *runner = runner_open(options);
        int null = runner ? 0 : 100;
        if (!freopen("/dev/null", "w", stderr))
            null = 101;
        sigaction(SIGSEGV, &before, NULL);
        judged_watch(place);
        judged_runner(runner);
        if (!null)
            runner_run(runner, &program, &verdict);
        _exit(null ? null : verdict.violation != VIOLATION_none);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    return status;
}

static void who_goes_deeper_is_found_out(void **state) {
    (void)state;
    struct collector c = deep(true);
    struct runner_options options = {.subject = &c, .reference = &cheney};
    depth = 200;
    assert_int_not_equal(run_apart(&options), 0);
    assert_string_equal(place->used_up, "the stack of 64 KiB is used up in collect");
    assert_int_equal(place->running, PARTY_SUBJECT);
    options.stack_kib = 128;
    assert_int_not_equal(run_apart(&options), 0);
    assert_string_equal(place->used_up, "the stack of 128 KiB is used up in collect");
    options.stack_kib = 1024;
    assert_int_equal(run_apart(&options), 0);
    options = (struct runner_options){.subject = &c, .ordinary_stack = true};
    assert_int_equal(run_apart(&options), 0);
    /* The reference keeps the ordinary one. */
    options = (struct runner_options){.subject = &cheney, .reference = &c};
    assert_int_equal(run_apart(&options), 0);
}

static void who_promises_nothing_must_be_asked(void **state) {
    (void)state;
    struct collector c = deep(false);
    struct runner_options options = {.subject = &c};
    depth = 200;
    assert_int_equal(run_apart(&options), 0);
    options.stack_kib = 64;
    assert_int_not_equal(run_apart(&options), 0);
    c.traits.full_until_exact = 0;
    c.traits.renews = c.traits.steady = false;
    c.traits.conservative = true;
    assert_null(runner_open(&options));
    assert_non_null(strstr(runner_fault(&options), "conservative"));
}

/* Half of the stack is a legal depth, whatever is called back there: an assertion, the end of the
 * fuel. */
static struct gc_hooks *hooks;
static void note_hooks(struct gc *gc, const struct gc_config *config) {
    hooks = config->hooks;
    cheney.reset(gc, config);
}
static size_t complain_below(size_t kib) {
    volatile char frame[1024];
    frame[kib] = (char)kib;
    if (!kib && depth % 2)
        hooks->broken(hooks, "deep down");
    for (unsigned i = 0; !kib && i < UINT_MAX; i++)
        gc_tick(hooks);
    return kib ? complain_below(kib - 1) + (size_t)frame[kib] : 0;
}
static enum gc_result complaining_collect(struct gc *gc, enum gc_collection kind) {
    (void)gc, (void)kind;
    return complain_below(depth) ? GC_OK : GC_OUT_OF_MEMORY;
}

static void what_is_deep_and_bounded_passes(void **state) {
    (void)state;
    char text[VERDICT_TEXT];
    struct collector c = deep(true);
    struct runner *r = open_pair(&c, &cheney);
    parse_program(&program, LIST);
    depth = 40;
    must_pass(r, &program, "a deep collection", NULL);
    assert_false(runner_used_up(r, NULL, text)); /* nothing is under way */
    runner_close(r);
}

static void a_deep_call_may_end_the_run(void **state) {
    (void)state;
    struct collector c = deep(true);
    struct verdict v;
    c.reset = note_hooks;
    c.collect = complaining_collect;
    struct runner *r = open_pair(&c, &cheney);
    parse_program(&program, LIST);
    for (unsigned i = 0; i < 20; i++) {
        depth = 40 + i % 2;
        runner_run(r, &program, &v);
        assert_string_equal(violation_name(v.violation),
                            depth % 2 ? "collector_assertion" : "no_progress");
        assert_false(v.harness_error);
    }
    runner_close(r);
}

/* The command that a report ends with has the option. */
static void a_replay_has_the_same_stack(void **state) {
    (void)state;
    char text[256];
    struct runner_options options = {.subject = &mark_sweep, .stack_kib = 48};
    runner_replay(&options, text, sizeof text);
    assert_string_equal(text, "--collector mark_sweep --reference none --stack=48");
    options = (struct runner_options){.subject = &mark_sweep, .ordinary_stack = true};
    runner_replay(&options, text, sizeof text);
    assert_string_equal(text, "--collector mark_sweep --reference none --stack=0");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_place_is_gone_on_with),
        cmocka_unit_test(calls_are_on_it_and_what_they_call_back_is_not),
        cmocka_unit_test(a_call_may_be_left),
        cmocka_unit_test(who_goes_deeper_is_found_out),
        cmocka_unit_test(who_promises_nothing_must_be_asked),
        cmocka_unit_test(what_is_deep_and_bounded_passes),
        cmocka_unit_test(a_deep_call_may_end_the_run),
        cmocka_unit_test(a_replay_has_the_same_stack),
    };
    sigaction(SIGSEGV, NULL, &before);
    place = mmap(NULL, sizeof *place, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    return place == MAP_FAILED ? 1 : cmocka_run_group_tests(tests, NULL, NULL);
}
