/* SPDX-License-Identifier: MIT
 *
 * A process that judges the programs that it is sent (judged.h).
 *
 * The process itself runs nothing: a copy of it does, one program after the other, and of a copy
 * that dies the next one takes the place, which costs a hundredth of a new start.  After a
 * violation there is a new copy too, so that no program sees what another one has broken; but for
 * trials, which go on as a campaign's process does, unless they are to be alone.
 */
#define _DEFAULT_SOURCE 1 /* MAP_ANONYMOUS */
#include "harness/judged/judged.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

/* The statuses of a copy that wants to be replaced; and of one that has a verdict, and the subject
 * has closed the socket. */
enum { GUARD = 1 << 20, AGAIN = 117, UNHEARD = 118 };

static struct {
    int socket;
    struct judged_request *request;
    struct judged_place *place;
    struct judged_result *result;
    volatile bool *busy; /* a copy runs a program; shared with the copies */
    struct runner *runner;
} served;

/* ---- what is shared ---------------------------------------------------------------------------
 */

/* Between pages that nobody can access: who runs out of his own does not get there. */
static void *map(int file, size_t from, size_t size) {
    int flags = file < 0 ? MAP_SHARED | MAP_ANONYMOUS : MAP_SHARED;
    char *room = mmap(NULL, size + 2 * GUARD, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    void *at = room == MAP_FAILED ? MAP_FAILED
                                  : mmap(room + GUARD, size, PROT_READ | PROT_WRITE,
                                         flags | MAP_FIXED, file, (off_t)from);
    if (at != MAP_FAILED)
        return at;
    perror("isoheap: no memory to serve with");
    _Exit(2);
}

static void map_all(int file) {
    struct judged_offsets o = judged_offsets();
    served.request = map(file, 0, o.place);
    served.place = map(file, o.place, o.result - o.place);
    served.result = map(file, o.result, o.size - o.result);
    served.busy = map(-1, 0, (size_t)sysconf(_SC_PAGESIZE));
}

/* False: nobody listens any more. */
static bool is_told(enum judged_word what, int status) {
    struct judged_answer a = {what, status};
    ssize_t n;
    do
        n = write(served.socket, &a, sizeof a);
    while (n < 0 && errno == EINTR);
    return n == sizeof a;
}

static void answer(enum judged_word what, int status) {
    if (!is_told(what, status))
        _Exit(0);
}

_Noreturn void judged_decline(enum judged_word what) {
    answer(what, 0);
    _Exit(0);
}

/* ---- in a copy --------------------------------------------------------------------------------
 */

/* For reports; a trial does without, and notes the number of the operation when it dies. */
static void note_place(void *context, struct runner *runner, unsigned op, bool before) {
    (void)context;
    if (!before)
        return;
    served.place->op = op;
    runner_operation(runner, op, served.place->operation, VERDICT_TEXT);
}

/* True if the next program may run in the same copy. */
static bool run_one(pid_t self) {
    struct judged_request *request = served.request;
    struct judged_result *result = served.result;
    struct verdict verdict;
    size_t pages = judged_offsets().size - judged_offsets().result;
    mprotect(result, pages, PROT_NONE);
    if (request->trials)
        judged_limit(request->trial_ms);
    runner_run(served.runner, &request->program, &verdict);
    if (getpid() != self)
        _Exit(1); /* a copy that the collector has made has nothing to say */
    if (request->trials)
        judged_limit(0);
    mprotect(result, pages, PROT_READ | PROT_WRITE);
    result->verdict = verdict;
    result->judged = JUDGED_DONE;
    bool well = !verdict.violation && !verdict.harness_error;
    if (!well && !request->trials)
        runner_report(served.runner, &verdict, &request->program, result->report, JUDGED_REPORT);
    result->finished = JUDGED_DONE;
    if (verdict.violation && !request->trials)
        judged_explain(result, served.runner, &request->program, &verdict);
    *served.busy = false;
    if (!is_told(JUDGED_RAN, 0)) {
        *served.busy = true; /* the process itself will say it */
        _Exit(UNHEARD);
    }
    return well;
}

/* again: the one that has been asked for already is the first. */
static _Noreturn void run_programs(bool again) {
    pid_t self = getpid();
    char asked;
    judged_watch(served.place);
    judged_runner(served.runner);
    if (served.request->trials)
        judged_as_trials();
    if (again && !run_one(self) && !served.request->trials)
        _Exit(0);
    for (unsigned ran = again;; ran++) {
        ssize_t n = read(served.socket, &asked, 1);
        if (n < 0 && errno == EINTR)
            continue; /* as if one more had run: that is no harm */
        if (n < 0)
            _Exit(0); /* the subject has closed it: the next copy has it */
        if (n != 1 || asked != JUDGED_RUN)
            _Exit(JUDGED_END);
        *served.busy = true;
        if (served.request->alone && ran)
            _Exit(AGAIN);
        if (!run_one(self) && !served.request->trials)
            _Exit(0);
    }
}

/* ---- the process itself -----------------------------------------------------------------------
 */

static _Noreturn void serve(void) {
    int status;
    bool again = false;
    answer(JUDGED_READY, 0);
    for (;;) {
        fflush(NULL);
        pid_t copy = fork();
        if (copy == 0)
            run_programs(again);
        while (copy > 0 && waitpid(copy, &status, 0) < 0 && errno == EINTR)
            ;
        if (copy < 0)
            _Exit(2);
        again = WIFEXITED(status) && WEXITSTATUS(status) == AGAIN && *served.busy;
        if (again)
            continue;
        bool unheard = WIFEXITED(status) && WEXITSTATUS(status) == UNHEARD &&
                       served.result->finished == JUDGED_DONE;
        if (*served.busy)
            answer(unheard ? JUDGED_RAN : JUDGED_DIED, unheard ? 0 : status);
        else if (WIFEXITED(status) && WEXITSTATUS(status) == JUDGED_END)
            _Exit(0);
        *served.busy = false;
    }
}

/* ---- the beginning ----------------------------------------------------------------------------
 */

/* Limits of an engine's and of a runner's are none here: the command has its own. */
static void forget_alarms(void) {
    setitimer(ITIMER_REAL, &(struct itimerval){.it_value = {.tv_sec = 0}}, NULL);
    signal(SIGALRM, SIG_IGN);
    signal(SIGUSR1, SIG_IGN); /* the copy is meant */
    signal(SIGPIPE, SIG_IGN);
}

const struct judged_request *judged_accept(int file, int socket, size_t size) {
    served.socket = socket;
    forget_alarms();
    if (size != judged_offsets().size)
        judged_decline(JUDGED_OTHER);
    map_all(file);
    if (served.request->layout != judged_layout())
        judged_decline(JUDGED_OTHER);
    return served.request;
}

_Noreturn void judged_serve(const struct runner_options *chosen) {
    struct runner_options options = *chosen;
    options.digest = !served.request->trials;
    options.observe = served.request->trials ? NULL : note_place;
    served.runner = runner_open(&options);
    if (!served.runner)
        judged_decline(JUDGED_REFUSED);
    serve();
}
