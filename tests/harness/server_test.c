/* SPDX-License-Identifier: MIT
 *
 * A process that judges the programs that it is sent (harness/judged/server.c), asked as the
 * command asks it.
 */
#define _GNU_SOURCE
#include "collectors/mark_sweep/mark_sweep.h"
#include "harness/judged/judged.h"
#include "tests/support/support.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

/* Both sides' view of it. */
static struct {
    struct judged_offsets at;
    char *map;
    int file, ours, theirs;
    pid_t process;
} server;

static struct judged_request *request(void) {
    return (struct judged_request *)(void *)server.map;
}
static struct judged_result *result(void) {
    return (struct judged_result *)(void *)(server.map + server.at.result);
}

static struct judged_answer answer(void) {
    struct judged_answer a = {.word = 0};
    assert_int_equal(recv(server.ours, &a, sizeof a, MSG_WAITALL), sizeof a);
    return a;
}

/* size: what it is told of the file's. */
static void start(const struct collector *subject, size_t size) {
    int pair[2];
    server.at = judged_offsets();
    server.file = memfd_create("served", MFD_CLOEXEC);
    assert_true(server.file >= 0 && ftruncate(server.file, (off_t)server.at.size) == 0);
    server.map = mmap(NULL, server.at.size, PROT_READ | PROT_WRITE, MAP_SHARED, server.file, 0);
    assert_true(server.map != MAP_FAILED);
    assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, pair), 0);
    server.ours = pair[0];
    server.theirs = pair[1];
    request()->layout = judged_layout();
    request()->trials = true;
    server.process = fork();
    if (server.process == 0) {
        struct runner_options options = {.subject = subject};
        close(server.ours);
        judged_accept(server.file, server.theirs, size);
        if (!subject)
            judged_decline(JUDGED_UNKNOWN); /* as a target that lacks the collector */
        judged_serve(&options);
    }
    close(server.theirs);
}

static void end(void) {
    int status;
    close(server.ours); /* nobody asks any more */
    assert_int_equal(waitpid(server.process, &status, 0), server.process);
    assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 0);
    munmap(server.map, server.at.size);
    close(server.file);
}

static struct judged_answer run(const char *text, bool alone) {
    const char asked = JUDGED_RUN;
    parse_program(&request()->program, text);
    request()->alone = alone;
    request()->trial_ms = 5000;
    result()->finished = result()->judged = 0;
    assert_int_equal(write(server.ours, &asked, 1), 1);
    return answer();
}

static const char collects[] = "isoheap program 1\nscript\n  full\n";

static enum gc_result die(struct gc *gc, enum gc_collection kind) {
    (void)gc;
    (void)kind;
    _exit(8);
}

static void test_serves(void **state) {
    (void)state;
    start(&mark_sweep, judged_offsets().size);
    assert_int_equal(answer().word, JUDGED_READY);
    for (unsigned alone = 0; alone < 4; alone++) {
        assert_int_equal(run(collects, alone / 2).word, JUDGED_RAN);
        assert_int_equal(result()->finished, JUDGED_DONE);
        assert_int_equal(result()->verdict.violation, VIOLATION_none);
        assert_true(result()->verdict.counts.checks > 0);
    }
    end();
}

/* One that ends its process costs nobody else anything. */
static void test_outlives(void **state) {
    struct collector dies = mark_sweep;
    (void)state;
    dies.collect = die;
    start(&dies, judged_offsets().size);
    assert_int_equal(answer().word, JUDGED_READY);
    for (unsigned n = 0; n < 2; n++) {
        struct judged_answer a = run(collects, false);
        assert_int_equal(a.word, JUDGED_DIED);
        assert_true(WIFEXITED(a.status) && WEXITSTATUS(a.status) == 8);
        assert_int_not_equal(result()->judged, JUDGED_DONE);
    }
    end();
}

static enum gc_result close_all(struct gc *gc, enum gc_collection kind) {
    (void)gc;
    (void)kind;
    for (int file = 3; file < 64; file++)
        close(file);
    return GC_OK;
}

/* One that closes the socket is judged all the same. */
static void test_speaks_for_the_silenced(void **state) {
    struct collector closes = mark_sweep;
    (void)state;
    closes.collect = close_all;
    start(&closes, judged_offsets().size);
    assert_int_equal(answer().word, JUDGED_READY);
    for (unsigned n = 0; n < 3; n++) {
        assert_int_equal(run(collects, false).word, JUDGED_RAN);
        assert_int_equal(result()->finished, JUDGED_DONE);
    }
    end();
}

static void test_declines(void **state) {
    struct collector lacks = mark_sweep;
    (void)state;
    start(&mark_sweep, judged_offsets().size + 1);
    assert_int_equal(answer().word, JUDGED_OTHER);
    end();
    start(NULL, judged_offsets().size);
    assert_int_equal(answer().word, JUDGED_UNKNOWN);
    end();
    lacks.alloc = NULL;
    start(&lacks, judged_offsets().size);
    assert_int_equal(answer().word, JUDGED_REFUSED);
    end();
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_serves), cmocka_unit_test(test_outlives),
        cmocka_unit_test(test_speaks_for_the_silenced), cmocka_unit_test(test_declines)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
