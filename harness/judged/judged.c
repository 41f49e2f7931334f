/* SPDX-License-Identifier: MIT
 *
 * The last words of a process that runs a program, and the layout of what it shares (judged.h).
 */
#define _DEFAULT_SOURCE 1 /* SA_ONSTACK */
#include "harness/judged/judged.h"

#include "collectors/plugin.h"

#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/time.h>
#include <unistd.h>

enum { ALT_STACK = 64 << 10 };

/* LLVM's sanitizer interface, absent without sanitizers. */
__attribute__((weak)) void __sanitizer_set_death_callback(void (*)(void));
__attribute__((weak)) const char *__asan_get_report_description(void);
void __asan_on_error(void);

static struct {
    struct runner *runner;
    struct judged_place *place;
    bool trials;
} dying; /* what a signal handler or a sanitizer's callback knows */

static void note_running(void) {
    if (!dying.runner || dying.place->noted)
        return;
    dying.place->op = runner_current(dying.runner, &dying.place->running)->op;
    dying.place->noted = true;
}

static void on_crash(int number, siginfo_t *info, void *context) {
    (void)context;
    if (dying.runner && number != SIGABRT)
        runner_used_up(dying.runner, info->si_addr, dying.place->used_up);
    note_running();
    signal(number, SIG_DFL);
    raise(number);
}

static void on_late(int number) {
    dying.place->late = number == SIGPROF;
    dying.place->told = number == SIGUSR1;
    note_running();
    _exit(0);
}

/* AddressSanitizer's name for what it reports; NULL: none. */
static const char *name_of_report(void) {
    return __asan_get_report_description ? __asan_get_report_description() : NULL;
}

/* The end of a process by a sanitizer. */
static void on_death(void) {
    const char *name = name_of_report();
    if (dying.runner && name && strcmp(name, "stack-overflow") == 0)
        runner_used_up(dying.runner, NULL, dying.place->used_up);
    note_running();
}

/* AddressSanitizer calls this before it prints its report. */
void __asan_on_error(void) {
    if (!dying.trials)
        return;
    on_death();
    if (name_of_report())
        snprintf(dying.place->sanitizer, sizeof dying.place->sanitizer, "%s", name_of_report());
    _exit(1);
}

void judged_as_trials(void) {
    struct sigaction late = {.sa_handler = on_late};
    dying.trials = true;
    setrlimit(RLIMIT_CORE, &(struct rlimit){0, 0});
    signal(SIGINT, SIG_DFL);
    signal(SIGTERM, SIG_DFL);
    sigaction(SIGPROF, &late, NULL);
}

void judged_limit(unsigned milliseconds) {
    struct itimerval limit = {
        .it_value = {.tv_sec = milliseconds / 1000, .tv_usec = milliseconds % 1000 * 1000}};
    setitimer(ITIMER_PROF, &limit, NULL);
}

void judged_runner(struct runner *runner) {
    dying.runner = runner;
}

/* With a sanitizer most crashes are its business: it prints a report and calls back.  An engine's
 * own handlers write what nobody reads here. */
void judged_watch(struct judged_place *place) {
    static char stack[ALT_STACK]; /* a collector that recurses too deep has no other */
    static const int crashes[] = {SIGABRT, SIGTRAP, SIGILL, SIGSEGV, SIGBUS, SIGFPE};
    enum { NOT_A_SANITIZERS = 3, CRASHES = sizeof crashes / sizeof *crashes };
    struct sigaction late = {.sa_handler = on_late},
                     crash = {.sa_sigaction = on_crash, .sa_flags = SA_SIGINFO};
    unsigned ours = CRASHES;
    dying.place = place;
    sigaction(SIGUSR1, &late, NULL);
    if (__sanitizer_set_death_callback) {
        __sanitizer_set_death_callback(on_death);
        ours = NOT_A_SANITIZERS;
    } else {
        stack_t alternative = {.ss_sp = stack, .ss_size = sizeof stack};
        sigaltstack(&alternative, NULL);
        crash.sa_flags |= SA_ONSTACK;
    }
    for (unsigned i = 0; i < ours; i++)
        sigaction(crashes[i], &crash, NULL);
}

void judged_explain(struct judged_result *result, struct runner *runner, const struct program *p,
                    const struct verdict *judged) {
    struct verdict verdict = *judged;
    pid_t self = getpid();
    result->explaining = JUDGED_DONE;
    mprotect(result, sizeof *result, PROT_NONE); /* the program runs again */
    runner_explain(runner, p, &verdict);
    if (getpid() != self)
        _exit(1); /* a copy that the collector has made has nothing to say */
    mprotect(result, sizeof *result, PROT_READ | PROT_WRITE);
    runner_report(runner, &verdict, p, result->closer, JUDGED_REPORT);
    memcpy(result->verdict.path, verdict.path, sizeof verdict.path);
    memcpy(result->verdict.expected, verdict.expected, sizeof verdict.expected);
    memcpy(result->verdict.found, verdict.found, sizeof verdict.found);
    result->explained = JUDGED_DONE;
}

char *judged_report(const struct judged_result *result) {
    return strndup(result->explained == JUDGED_DONE ? result->closer : result->report,
                   JUDGED_REPORT);
}

/* ---- layout -----------------------------------------------------------------------------------
 */

uint64_t judged_layout(void) {
    const uint64_t parts[] = {sizeof(struct judged_request),
                              sizeof(struct judged_result),
                              sizeof(struct judged_place),
                              sizeof(struct verdict),
                              OP_CODES,
                              ORACLE_COUNT,
                              VIOLATION_classes,
                              PROGRAM_VERSION};
    uint64_t hash = ISOHEAP_INTERFACE_HASH;
    for (unsigned i = 0; i < sizeof parts / sizeof *parts; i++)
        hash = (hash ^ parts[i]) * 0x100000001b3;
    return hash;
}

struct judged_offsets judged_offsets(void) {
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    struct judged_offsets o;
    o.place = (sizeof(struct judged_request) + page - 1) / page * page;
    o.result = o.place + (sizeof(struct judged_place) + page - 1) / page * page;
    o.size = o.result + (sizeof(struct judged_result) + page - 1) / page * page;
    return o;
}
