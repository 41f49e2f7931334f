/* SPDX-License-Identifier: MIT
 *
 * What a process that dies of a program leaves in shared memory (harness/judged/judged.h).
 */
#define _DEFAULT_SOURCE
#include "collectors/known_bad/known_bad.h"
#include "collectors/mark_sweep/mark_sweep.h"
#include "harness/judged/judged.h"
#include "tests/support/support.h"

#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

static const char lost[] = "isoheap program 1\n"
                           "heap\n  b0 = closure arity=1,1 env=[7]\n"
                           "roots\n  r0 = b0+3\n"
                           "script\n  full\n";

static struct judged_place *place;

static struct runner *runner_of(const char *name) {
    const struct collector *const *c = known_bad_collectors();
    while (*c && strcmp((*c)->name, name) != 0)
        c++;
    struct runner_options options = {.subject = *c ? *c : &mark_sweep};
    struct runner *runner = runner_open(&options);
    assert_non_null(runner);
    return runner;
}

/* In a child: what it does there ends it.  The status, as from waitpid. */
static int ends(void (*deed)(void)) {
    int status;
    *place = (struct judged_place){.op = OP_INITIAL};
    pid_t child = fork();
    if (child == 0) {
        judged_watch(place);
        judged_runner(runner_of("none"));
        deed();
        _exit(99);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    return status;
}

static void crash(void) {
    abort();
}
static void be_told(void) {
    raise(SIGUSR1);
}
static void spin(void) {
    judged_as_trials();
    judged_limit(20);
    for (volatile unsigned i = 1; i;)
        ;
}
static void end_in_time(void) {
    judged_as_trials();
    judged_limit(20);
    judged_limit(0);
    for (volatile unsigned i = 0; i < 100000000; i++)
        ;
}

static void test_last_words(void **state) {
    (void)state;
    place = mmap(NULL, sizeof *place, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    int status = ends(crash);
    assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT);
    assert_true(place->noted && !place->late && !place->told);
    ends(be_told);
    assert_true(place->noted && place->told && !place->late);
    ends(spin);
    assert_true(place->noted && place->late);
    status = ends(end_in_time);
    assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 99 && !place->noted);
}

static void test_report(void **state) {
    static struct program program;
    struct judged_result *result = calloc(1, sizeof *result);
    struct verdict verdict;
    (void)state;
    parse_program(&program, lost);
    struct runner *runner = runner_of("bad_infix_root");
    runner_run(runner, &program, &verdict);
    assert_int_equal(verdict.violation, VIOLATION_lost_object);
    result->verdict = verdict;
    runner_report(runner, &verdict, &program, result->report, JUDGED_REPORT);
    char *first = judged_report(result);
    assert_string_equal(first, result->report);
    judged_explain(result, runner, &program, &verdict);
    char *closer = judged_report(result);
    assert_string_equal(closer, result->closer);
    assert_non_null(strstr(closer, "violation lost_object"));
    free(first);
    free(closer);
    runner_close(runner);
    free(result);
}

static void test_layout(void **state) {
    struct judged_offsets o = judged_offsets();
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    (void)state;
    assert_true(o.place >= sizeof(struct judged_request) && o.place % page == 0);
    assert_true(o.result >= o.place + sizeof(struct judged_place) && o.result % page == 0);
    assert_true(o.size >= o.result + sizeof(struct judged_result));
    assert_true(judged_layout() != 0 && judged_layout() == judged_layout());
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_last_words),
                                       cmocka_unit_test(test_report),
                                       cmocka_unit_test(test_layout)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
