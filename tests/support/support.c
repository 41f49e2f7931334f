/* SPDX-License-Identifier: MIT
 *
 * What the tests share (support.h).
 */
#define _DEFAULT_SOURCE /* scandir, DT_DIR */
#include "tests/support/support.h"

#include "program/text/text.h"

#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

enum { TEXT_SIZE = 1 << 20, CHILD_SECONDS = 20 };

static _Noreturn void give_up(const char *what, const char *why) {
    fprintf(stderr, "%s: %s\n", what, why);
    exit(1);
}

static void parse(struct program *p, const char *text, size_t size, const char *name) {
    struct text_error error;
    char where[300];
    if (program_parse(p, text, size, &error))
        return;
    snprintf(where, sizeof where, "%u:%u: %s", error.line, error.column, error.message);
    give_up(name, where);
}

void load_program(struct program *p, const char *path) {
    static char text[TEXT_SIZE];
    FILE *file = fopen(path, "rb");
    if (!file)
        give_up(path, "cannot be read");
    size_t size = fread(text, 1, sizeof text, file);
    fclose(file);
    parse(p, text, size, path);
}

void parse_program(struct program *p, const char *text) {
    parse(p, text, strlen(text), "program in the test");
}

unsigned for_each_program(const char *dir, void (*visit)(const char *path, void *context),
                          void *context) {
    struct dirent **entries;
    int n = scandir(dir, &entries, NULL, alphasort);
    unsigned found = 0;
    for (int i = 0; i < n; i++) {
        char path[1024];
        const char *name = entries[i]->d_name, *end = strrchr(name, '.');
        snprintf(path, sizeof path, "%s/%s", dir, name);
        if (entries[i]->d_type == DT_DIR && name[0] != '.') {
            found += for_each_program(path, visit, context);
        } else if (end && strcmp(end, ".txt") == 0) {
            visit(path, context);
            found++;
        }
        free(entries[i]);
    }
    if (n >= 0)
        free(entries);
    return found;
}

static struct verdict run_with(const struct collector *subject, const struct collector *reference,
                               const struct program *p, oracle_set thorough) {
    struct runner_options options = {
        .subject = subject, .reference = reference, .thorough = thorough};
    struct verdict verdict;
    struct runner *runner = runner_open(&options);
    if (!runner)
        give_up(subject->name, "cannot be opened");
    runner_run(runner, p, &verdict);
    runner_close(runner);
    return verdict;
}

struct verdict run_here(const struct collector *subject, const struct collector *reference,
                        const struct program *p) {
    return run_with(subject, reference, p, 0);
}

void crashes_end_the_process(void) {
    static const int crashes[] = {SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGABRT};
    for (unsigned i = 0; i < sizeof crashes / sizeof *crashes; i++)
        signal(crashes[i], SIG_DFL);
}

static enum violation run_away(const struct collector *subject, const struct collector *reference,
                               const struct program *p, oracle_set thorough) {
    fflush(NULL);
    pid_t child = fork();
    if (child == 0) {
        int quiet = open("/dev/null", O_WRONLY);
        crashes_end_the_process();
        dup2(quiet, 2); /* a sanitizer report is expected of some */
        /* Of processor time: a busy machine makes nothing hang. */
        setitimer(ITIMER_PROF, &(struct itimerval){.it_value.tv_sec = CHILD_SECONDS}, NULL);
        signal(SIGPROF, SIG_DFL);
        struct verdict verdict = run_with(subject, reference, p, thorough);
        _exit(verdict.harness_error ? 99 : 100 + (int)verdict.violation);
    }
    int status;
    if (child < 0 || waitpid(child, &status, 0) != child)
        give_up(subject->name, "no child process");
    if (WIFSIGNALED(status) && WTERMSIG(status) == SIGPROF)
        give_up(subject->name, "hangs");
    if (WIFEXITED(status) && WEXITSTATUS(status) == 99)
        give_up(subject->name, "harness error");
    if (WIFEXITED(status) && WEXITSTATUS(status) >= 100)
        return (enum violation)(WEXITSTATUS(status) - 100);
    return VIOLATION_sanitizer;
}

enum violation run_in_child(const struct collector *subject, const struct collector *reference,
                            const struct program *p) {
    return run_away(subject, reference, p, 0);
}

enum violation run_thoroughly(const struct collector *subject, const struct program *p) {
    return run_away(subject, NULL, p, ORACLES_ALL);
}
