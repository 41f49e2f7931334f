/* SPDX-License-Identifier: MIT
 *
 * A process that is kept, and gets programs to judge (cli.h; harness/judged/server.c is the other
 * side, harness/judged/judged.h what they say to each other): a fuzz target, or for a job without
 * one a copy of this command, which has the collector as it is here.
 *
 * It runs under the guard, as a child that runs a program does.  One is kept, as long as the jobs
 * differ in nothing but their programs and limits of time.
 */
#define _GNU_SOURCE
#include "cli/cli.h"
#include "harness/judged/judged.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

enum { SAID = 64 << 10 };

static struct session {
    pid_t owner; /* who has started it; 0: none is there.  A copy of us has none. */
    struct guard_child child;
    struct guard_task task;
    _Atomic uint64_t *pace; /* shared with the guardian: a number for each program */
    char *target;           /* its path; NULL: it is a copy of us, for this job */
    struct job job;
    int file, input, ours, theirs;
    char *map;
    struct judged_offsets at;
    bool on_one_core;
    cpu_set_t cores; /* on_one_core: those that we may run on at other times */
    char said[SAID];
} session;

static struct judged_request *request_of(const struct session *s) {
    return (struct judged_request *)(void *)s->map;
}

/* ---- in the child -----------------------------------------------------------------------------
 */

/* The user's own options stay. */
static void add_options(const char *name, const char *options) {
    const char *before = getenv(name);
    char *all = NULL;
    if (asprintf(&all, "%s%s%s", before ? before : "", before && *before ? ":" : "", options) > 0)
        setenv(name, all, 1);
}

/* Made with the standalone runner (fuzz/standalone.c). */
static bool is_standalone(const char *path) {
    static const char end[] = "_standalone";
    size_t length = strlen(path), n = sizeof end - 1;
    return length > n && strcmp(path + length - n, end) == 0;
}

/* The engine gets an input, of a few bytes, and never comes to run it. */
static void become_target(void *context) {
    const struct session *s = context;
    bool trials = request_of(s)->trials;
    char shared[96], input[64];
    char *argv[] = {s->target, input, NULL, NULL, NULL};
    int kept[] = {s->file, s->input, s->theirs};
    for (unsigned i = 0; i < sizeof kept / sizeof *kept; i++)
        fcntl(kept[i], F_SETFD, 0);
    snprintf(shared, sizeof shared, "%d,%d,%zu", s->file, s->theirs, s->at.size);
    snprintf(input, sizeof input, "/proc/self/fd/%d", s->input);
    if (is_standalone(s->target)) { /* the copy that runs a program is to be our grandchild */
        argv[1] = "--no-fork";
        argv[2] = "--timeout=0";
        argv[3] = input;
    }
    setenv(JUDGED_VARIABLE, shared, 1);
    unsetenv("ISOHEAP_CURRENT");
    unsetenv("ISOHEAP_GO_ON");
    add_options("ASAN_OPTIONS",
                trials ? "detect_leaks=0:symbolize=0" : "detect_leaks=0:print_legend=0");
    add_options("UBSAN_OPTIONS", trials ? "symbolize=0" : "print_stacktrace=1");
    int null = open("/dev/null", O_WRONLY | O_CLOEXEC);
    if (null >= 0) {
        dup2(null, STDOUT_FILENO);
        if (trials)
            dup2(null, STDERR_FILENO);
    }
    execv(s->target, argv);
    _exit(127);
}

/* Whoever runs there may write anywhere: our own view of what is shared goes. */
static void become_copy(void *context) {
    struct session *s = context;
    struct runner_options options = job_runner(&s->job);
    int file = s->file, socket = s->theirs;
    size_t size = s->at.size;
    close(s->ours);
    close(s->input);
    munmap(s->map, size);
    guard_unshare((void *)s->pace, sizeof *s->pace);
    dup2(STDERR_FILENO, STDOUT_FILENO);
    judged_accept(file, socket, size);
    judged_serve(&options);
}

/* ---- the beginning and the end ----------------------------------------------------------------
 */

static void fill_request(const struct job *job, struct judged_request *r) {
    memset(r, 0, offsetof(struct judged_request, program));
    struct runner_options options = job_runner(job);
    r->layout = judged_layout();
    snprintf(r->subject, sizeof r->subject, "%s", job->subject->name);
    snprintf(r->reference, sizeof r->reference, "%s", job->reference ? job->reference->name : "");
    r->oracles = job->oracles;
    r->stack_kib = job->stack_kib;
    r->ordinary_stack = job->ordinary_stack;
    r->trials = job->trial_ms > 0;
    r->thorough = job->thorough;
    r->unmasks = job->unmask != NULL;
    snprintf(r->unmask, sizeof r->unmask, "%s", job->unmask ? job->unmask : "");
    snprintf(r->replay, sizeof r->replay, "%s", options.replay ? options.replay : "");
    snprintf(r->subject_name, sizeof r->subject_name, "%s",
             options.subject_name ? options.subject_name : "");
}

static bool fits(const struct session *s, const struct job *job) {
    static struct judged_request wanted;
    if (s->owner != getpid() || !s->target != !job->target || s->task.seconds != job->seconds)
        return false;
    if (s->target ? strcmp(s->target, job->target) != 0
                  : s->job.subject != job->subject || s->job.reference != job->reference)
        return false;
    fill_request(job, &wanted);
    return memcmp(&wanted, request_of(s), offsetof(struct judged_request, trial_ms)) == 0;
}

static void release(struct session *s) {
    if (s->on_one_core)
        sched_setaffinity(0, sizeof s->cores, &s->cores);
    int files[] = {s->file, s->input, s->ours, s->theirs};
    for (unsigned i = 0; i < sizeof files / sizeof *files; i++)
        if (files[i] >= 0)
            close(files[i]);
    if (s->map)
        munmap(s->map, s->at.size);
    guard_unshare((void *)s->pace, sizeof *s->pace);
    free(s->target);
    *s = (struct session){.owner = 0};
}

/* Who takes turns works on one core: to wake another one takes longer than a run.  What is started
 * now stays there as well. */
static void stay_on_core(struct session *s) {
    cpu_set_t one;
    int core = sched_getcpu();
    if (core < 0 || core >= CPU_SETSIZE || sched_getaffinity(0, sizeof s->cores, &s->cores) != 0)
        return;
    CPU_ZERO(&one);
    CPU_SET(core, &one);
    s->on_one_core = sched_setaffinity(0, sizeof one, &one) == 0;
}

/* Its end: how its process ended. */
static struct guard_end end_session(struct session *s) {
    const char end_word = JUDGED_END;
    ssize_t n = send(s->ours, &end_word, 1, MSG_NOSIGNAL | MSG_DONTWAIT);
    (void)n; /* it may have ended already */
    struct guard_end end = guard_finish(&s->child);
    s->owner = 0;
    return end;
}

static void end_at_exit(void) {
    if (session.owner == getpid())
        end_session(&session);
}

static bool share(struct session *s, const struct job *job) {
    int pair[2];
    *s = (struct session){.file = -1, .input = -1, .ours = -1, .theirs = -1};
    s->at = judged_offsets();
    s->target = job->target ? strdup(job->target) : NULL;
    s->job = *job;
    s->file = memfd_create("isoheap", MFD_CLOEXEC);
    s->input = memfd_create("input", MFD_CLOEXEC);
    if (!s->target != !job->target || s->file < 0 || s->input < 0 ||
        ftruncate(s->file, (off_t)s->at.size) != 0 || write(s->input, "none", 4) != 4)
        return false;
    void *map = mmap(NULL, s->at.size, PROT_READ | PROT_WRITE, MAP_SHARED, s->file, 0);
    s->map = map == MAP_FAILED ? NULL : map;
    s->pace = guard_share(sizeof *s->pace);
    if (!s->map || !s->pace || socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) != 0)
        return false;
    s->ours = pair[0];
    s->theirs = pair[1];
    return true;
}

static bool get_answer(struct session *s, struct judged_answer *a) {
    return guard_wait(&s->child, s->ours) &&
           recv(s->ours, a, sizeof *a, MSG_WAITALL) == (ssize_t)sizeof *a;
}

static const char *refusal(const struct judged_answer *a) {
    switch (a->word) {
    case JUDGED_OTHER:
        return "was built from other sources than this isoheap; build it again";
    case JUDGED_UNKNOWN:
        return "does not have this collector and reference (--collector, --reference)";
    case JUDGED_REFUSED:
        return "cannot open this collector";
    default:
        return "is no fuzz target of this isoheap that judges programs; build it again";
    }
}

static bool start(struct session *s, const struct job *job, char *why) {
    struct judged_answer a = {.word = 0};
    static bool registered;
    if (!share(s, job)) {
        snprintf(why, VERDICT_TEXT, "no memory to share with a process: %s", strerror(errno));
        release(s);
        return false;
    }
    fill_request(job, request_of(s));
    if (job->in_turns)
        stay_on_core(s);
    s->task = (struct guard_task){.seconds = job->seconds,
                                  .body = s->target ? become_target : become_copy,
                                  .context = s,
                                  .pace = s->pace,
                                  .forks = true};
    if (!guard_begin(&s->task, s->said, sizeof s->said, &s->child)) {
        snprintf(why, VERDICT_TEXT, "no child process: %s", strerror(errno));
        release(s);
        return false;
    }
    s->owner = getpid();
    bool ready = get_answer(s, &a) && a.word == JUDGED_READY;
    if (!ready) {
        end_session(s);
        if (s->target)
            snprintf(why, VERDICT_TEXT, "%.200s %s", job->target, refusal(&a));
        else
            snprintf(why, VERDICT_TEXT, "a copy of this process does not answer");
        release(s);
        return false;
    }
    if (!registered)
        atexit(end_at_exit);
    registered = true;
    guard_listen(&s->child); /* what an engine says when it starts */
    return true;
}

bool target_begin(const struct job *job, struct judged_place **place, struct judged_result **result,
                  char *why) {
    struct session *s = &session;
    if (s->owner != getpid() && s->map)
        release(s); /* it has ended, or belongs to the process whose copy we are */
    if (s->owner && !fits(s, job)) {
        end_session(s);
        release(s);
    }
    if (!s->owner && !start(s, job, why))
        return false;
    *place = (struct judged_place *)(void *)(s->map + s->at.place);
    *result = (struct judged_result *)(void *)(s->map + s->at.result);
    **place = (struct judged_place){.op = OP_INITIAL};
    (*result)->finished = (*result)->judged = 0;
    (*result)->explaining = (*result)->explained = 0;
    memset(&(*result)->verdict, 0, sizeof(*result)->verdict);
    (*result)->maps[0] = (*result)->report[0] = 0;
    return true;
}

/* ---- a program --------------------------------------------------------------------------------
 */

void target_run(const struct job *job, const struct program *p, struct death *death, char *said) {
    struct session *s = &session;
    const struct judged_place *place = (const void *)(s->map + s->at.place);
    struct judged_answer a = {.word = 0};
    char run_word = JUDGED_RUN;
    size_t room = death->said_length;
    *death = (struct death){.said = said};
    program_copy(&request_of(s)->program, p);
    request_of(s)->trial_ms = job->trial_ms;
    request_of(s)->alone = job->alone;
    atomic_fetch_add(s->pace, 1);
    s->child.length = 0;
    if (send(s->ours, &run_word, 1, MSG_NOSIGNAL) != 1 || !get_answer(s, &a) ||
        (a.word != JUDGED_RAN && (a.word != JUDGED_DIED || place->told))) {
        struct guard_end end = end_session(s); /* a limit, or all of it has died */
        death->limit = end.limit;
        death->seconds = s->task.seconds;
        death->status = end.status;
    } else {
        guard_listen(&s->child);
        death->status = a.status;
    }
    death->late = death->limit == GUARD_PROCESSOR || death->limit == GUARD_IDLE || place->late;
    death->noted = place->noted;
    death->running = place->running;
    death->used_up = place->used_up;
    death->said_length = s->child.length < room ? s->child.length : room;
    memcpy(said, s->said, death->said_length);
}
