/* SPDX-License-Identifier: MIT
 *
 * Schedules as triggers of faults of the on-the-fly model (schedule.h).
 *
 * A schedule that the clean model cannot follow raises nothing: the paper's collector takes other
 * steps there.
 */
#define _GNU_SOURCE
#include "cli/faults/schedule.h"

#include "cli/schedule.h"
#include "faults/schedules.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

enum { SECONDS_A_SCHEDULE = 20 };

bool is_schedule_trigger(const char *path) {
    return is_schedule_file(path);
}

static _Noreturn void judge_here(const struct fault_schedules *faulty, const struct schedule *s) {
    alarm(SECONDS_A_SCHEDULE);
    struct schedule_result r = faulty ? faulty->run(s, NULL, NULL) : schedule_run(s, NULL, NULL);
    _exit(r.end == SCHEDULE_VIOLATION ? (int)broken_class(r.broken) : VIOLATION_none);
}

/* In a child: a faulty model may break the machine's assertions, or never end. */
enum violation judge_schedule(const struct fault_schedules *faulty, const char *path) {
    struct schedule s = {.n = 0};
    int status = -1;
    if (!read_schedule(path, &s))
        return VIOLATION_classes;
    fflush(NULL);
    pid_t child = fork();
    if (child == 0)
        judge_here(faulty, &s);
    while (child > 0 && waitpid(child, &status, 0) < 0 && errno == EINTR)
        ;
    schedule_free(&s);
    if (child < 0)
        return VIOLATION_classes;
    bool said = WIFEXITED(status) && WEXITSTATUS(status) < VIOLATION_classes;
    return said ? (enum violation)WEXITSTATUS(status) : VIOLATION_sanitizer;
}
