/* SPDX-License-Identifier: MIT
 *
 * The processes of an exploration (programs.h).
 *
 * Every worker runs through the whole enumeration, which is cheap, and runs the programs of the
 * chunks that it claims from a counter in shared memory.  It writes each program where the parent
 * can see it, so that of a worker that dies or hangs the program is known; figures of a chunk come
 * through a pipe.  A window bounds how far workers may be ahead of the oldest chunk that is not
 * done, and with it the memory of the parent.
 *
 * Each worker runs under a guard (cli/guard.h), since it runs somebody else's code: a keeper, which
 * is our child, waits for it, and tells us how it ended.
 *
 * After a violation no chunk behind it is begun, and those before it are finished: the one that is
 * reported is the first in the order of the enumeration, whatever the number of processes.
 */
#define _GNU_SOURCE
#include "cli/explore/programs.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

enum { WINDOW = 1 << 14, POLL_MS = 100, SAVE_SECONDS = 2 };

struct worker_shared {
    _Atomic uint64_t runs;  /* programs that it has begun */
    _Atomic uint64_t chunk; /* that it is at */
    _Atomic uint64_t pace;  /* changes as long as it goes on, or has a reason to wait */
    _Atomic bool well;      /* it has come to its end */
    struct guard_end end;   /* how it has ended: the keeper's word */
    struct verdict verdict;
    struct explore_reason not_run; /* of the first, which is of its lowest chunk */
    _Atomic bool refused;          /* that is there */
    struct program program;
};

struct shared {
    _Atomic uint64_t claimed, done; /* the next chunk to claim; all below are done */
    _Atomic uint64_t limit;         /* chunks from here on are not wanted any more */
    struct worker_shared workers[];
};

/* What a worker sends: less than PIPE_BUF, so one piece. */
struct message {
    uint64_t chunk;
    struct explore_figures figures;
    unsigned worker;
    bool violation; /* the chunk ended there */
};

struct worker {
    const struct exploration *x;
    struct shared *shared;
    struct worker_shared *own;
    struct runner *runner;
    unsigned number;
    pid_t process;
    int out;
    uint64_t end; /* of the chunk: the unit after its last one */
    struct message message;
};

/* ---- in a worker ------------------------------------------------------------------------------
 */

static void send_message(struct worker *w) {
    ssize_t n;
    do
        n = write(w->out, &w->message, sizeof w->message);
    while (n < 0 && errno == EINTR);
    if (n != sizeof w->message)
        _exit(EXIT_HARNESS);
}

static bool is_wanted(const struct worker *w, uint64_t chunk) {
    return chunk < w->x->chunks && chunk < atomic_load(&w->shared->limit);
}

/* Takes the next chunk; false if there is none for it. */
static bool claim(struct worker *w) {
    uint64_t chunk = atomic_fetch_add(&w->shared->claimed, 1);
    while (is_wanted(w, chunk) && chunk >= atomic_load(&w->shared->done) + WINDOW) {
        atomic_fetch_add(&w->own->pace, 1);
        usleep(1000);
    }
    w->message = (struct message){.chunk = chunk, .worker = w->number};
    atomic_store(&w->own->chunk, chunk);
    w->end = (chunk + 1) * w->x->chunk;
    return is_wanted(w, chunk);
}

static uint64_t next_unit(void *context, uint64_t unit) {
    struct worker *w = context;
    if (unit < w->end)
        return unit;
    if (w->end)
        send_message(w);
    return claim(w) ? w->message.chunk * w->x->chunk : UINT64_MAX;
}

static void count(struct explore_figures *f, const struct program *p, const struct verdict *v) {
    f->programs++;
    f->digest += program_digest(p);
    f->not_run += v->not_run;
    for (unsigned code = 0; code < OP_CODES; code++)
        f->operations += v->counts.ops[code];
    f->skipped += v->counts.skipped;
    f->checks += v->counts.checks;
    f->refusals += v->counts.refusals;
}

static void note_not_run(struct worker *w, const char *why) {
    struct explore_reason *r = &w->own->not_run;
    if (atomic_load(&w->own->refused))
        return;
    r->chunk = w->message.chunk;
    snprintf(r->text, sizeof r->text, "%s", why);
    atomic_store(&w->own->refused, true);
}

static struct verdict judge_in_target(const struct worker *w, const struct program *p) {
    struct job job = w->x->job;
    char *report;
    job.trial_ms = 1000 * job.seconds;
    return run_job(&job, p, &report);
}

static bool visit(void *context, const struct program *p) {
    struct worker *w = context;
    struct verdict verdict;
    atomic_fetch_add_explicit(&w->own->runs, 1, memory_order_relaxed);
    atomic_fetch_add_explicit(&w->own->pace, 1, memory_order_relaxed);
    if (w->runner)
        runner_run(w->runner, p, &verdict);
    else
        verdict = judge_in_target(w, p);
    if (getpid() != w->process)
        _exit(EXIT_VIOLATION); /* a copy that the collector has made */
    if (verdict.violation || verdict.harness_error) {
        w->own->verdict = verdict;
        w->message.violation = true;
        send_message(w);
        return false;
    }
    count(&w->message.figures, p, &verdict);
    if (verdict.not_run)
        note_not_run(w, verdict.detail);
    return true;
}

/* The body of the guarded process. */
static void work(void *context) {
    struct worker *w = context;
    struct runner_options options = job_runner(&w->x->job);
    struct enumeration e = {&w->x->scope, &w->own->program, next_unit, visit, w};
    int null = open("/dev/null", O_WRONLY);
    w->process = getpid();
    program_clear(&w->own->program);
    for (int number = SIGINT; number; number = number == SIGINT ? SIGHUP : 0)
        signal(number, SIG_IGN); /* the parent ends us */
    signal(SIGTERM, SIG_DFL);
    dup2(null, STDERR_FILENO); /* what a sanitizer says comes again when the program is judged */
    dup2(null, STDOUT_FILENO);
    w->runner = w->x->job.target ? NULL : runner_open(&options);
    bool ready = w->runner || w->x->job.target;
    if (!ready && runner_fault(&options))
        _exit(EXIT_VIOLATION); /* the parent says which, when it runs the empty program */
    enum enumerated ended = ready ? enumerate(&e) : ENUMERATION_NO_MEMORY;
    if (ended == ENUMERATED && w->message.chunk < w->x->chunks)
        send_message(w); /* the last chunk has fewer units than others */
    if (ended == ENUMERATION_NO_MEMORY)
        _exit(EXIT_HARNESS);
    atomic_store(&w->own->well, true);
    _exit(0);
}

/* ---- in a keeper ------------------------------------------------------------------------------
 */

_Noreturn static void keep(struct worker *w) {
    static char said[1];
    size_t length = sizeof said;
    struct guard_task task = {
        .seconds = w->x->job.seconds, .body = work, .context = w, .pace = &w->own->pace};
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    bool started = guard_run(&task, said, &length, &w->own->end);
    _exit(started ? 0 : EXIT_HARNESS);
}

/* ---- in the parent ----------------------------------------------------------------------------
 */

struct pool {
    struct exploration *x;
    struct shared *shared;
    size_t shared_size;
    pid_t *keepers; /* 0: none, or it has ended */
    int in, out;
    unsigned n;
    bool no_memory;
    double saved;
    struct message window[WINDOW]; /* done chunks behind one that is not, by number */
    bool here[WINDOW];
};

/* The first reason in the order of the enumeration, once its chunk is done: that of the worker
 * which has the lowest one. */
static void take_reasons(struct pool *p) {
    struct explore_reason *first = &p->x->not_run;
    for (unsigned i = 0; i < p->n; i++) {
        const struct worker_shared *w = &p->shared->workers[i];
        if (!atomic_load(&w->refused) || (first->text[0] && first->chunk <= w->not_run.chunk))
            continue;
        *first = w->not_run;
        first->text[sizeof first->text - 1] = '\0';
    }
}

static void add(struct explore_figures *sum, const struct explore_figures *f) {
    sum->programs += f->programs;
    sum->not_run += f->not_run;
    sum->operations += f->operations;
    sum->skipped += f->skipped;
    sum->checks += f->checks;
    sum->refusals += f->refusals;
    sum->digest += f->digest;
}

/* A program that raised something, in this chunk. */
static void note_violation(struct pool *p, unsigned worker, uint64_t chunk, bool died, bool late) {
    struct exploration *x = p->x;
    if (chunk < atomic_load(&p->shared->limit))
        atomic_store(&p->shared->limit, chunk);
    if (x->found && x->found_chunk <= chunk)
        return;
    x->found = true;
    x->late = late;
    x->found_chunk = chunk;
    *x->program = p->shared->workers[worker].program;
    if (program_valid(x->program) != NULL)
        program_clear(x->program); /* a collector has written there */
    x->verdict = p->shared->workers[worker].verdict;
    if (died || !verdict_is_sound(&x->verdict, x->program))
        x->verdict = (struct verdict){.op = OP_INITIAL};
}

static void take_message(struct pool *p, const struct message *m) {
    if (m->worker >= p->n || m->chunk >= p->x->chunks)
        return; /* no worker of ours says that */
    if (m->violation) {
        note_violation(p, m->worker, m->chunk, false, false);
        return;
    }
    p->window[m->chunk % WINDOW] = *m;
    p->here[m->chunk % WINDOW] = true;
    for (; p->here[p->x->done % WINDOW]; p->x->done++) {
        p->here[p->x->done % WINDOW] = false;
        add(&p->x->figures, &p->window[p->x->done % WINDOW].figures);
    }
    atomic_store(&p->shared->done, p->x->done);
}

/* False at the end: no worker is left. */
static bool take_messages(struct pool *p) {
    struct pollfd in = {.fd = p->in, .events = POLLIN};
    struct message m;
    if (poll(&in, 1, POLL_MS) <= 0)
        return true;
    ssize_t n = read(p->in, &m, sizeof m);
    if (n == sizeof m)
        take_message(p, &m);
    return n != 0;
}

/* A worker that has ended by itself, at its end, ended well; another one was in a collector. */
static void see_death(struct pool *p, unsigned i, int kept) {
    struct worker_shared *w = &p->shared->workers[i];
    int status = w->end.status;
    bool late = w->end.limit == GUARD_PROCESSOR || w->end.limit == GUARD_IDLE;
    bool none = WIFEXITED(status) && WEXITSTATUS(status) == EXIT_HARNESS && !atomic_load(&w->runs);
    p->keepers[i] = 0;
    if (none || (WIFEXITED(kept) && WEXITSTATUS(kept) == EXIT_HARNESS))
        p->no_memory = true;
    else if (!WIFEXITED(kept) || !WIFEXITED(status) || WEXITSTATUS(status) != 0 || !w->well)
        note_violation(p, i, atomic_load(&w->chunk), true, late);
}

static void look_after(struct pool *p) {
    for (unsigned i = 0; i < p->n; i++) {
        int status;
        if (p->keepers[i] && waitpid(p->keepers[i], &status, WNOHANG) == p->keepers[i])
            see_death(p, i, status);
    }
}

static void end_workers(struct pool *p) {
    for (unsigned i = 0; i < p->n; i++) {
        int status;
        if (!p->keepers[i])
            continue;
        if (signal_caught || p->no_memory)
            kill(p->keepers[i], SIGKILL); /* the guard sees it, and ends the worker */
        while (waitpid(p->keepers[i], &status, 0) < 0 && errno == EINTR)
            ;
        if (!signal_caught && !p->no_memory)
            see_death(p, i, status);
    }
}

static uint64_t running(const struct pool *p) {
    uint64_t all = 0;
    for (unsigned i = 0; i < p->n; i++)
        all += atomic_load(&p->shared->workers[i].runs);
    return all - (p->x->figures.programs - p->x->programs_before);
}

/* What is lost if the process is killed is the work of SAVE_SECONDS. */
static bool watch(struct pool *p) {
    bool good = true;
    for (bool more = true; more && !signal_caught && !p->no_memory && good;) {
        more = take_messages(p);
        double now = seconds_now();
        look_after(p);
        explore_show(p->x, running(p));
        if (now - p->saved > SAVE_SECONDS) {
            p->saved = now;
            take_reasons(p);
            good = explore_save(p->x);
        }
    }
    if (!good)
        p->no_memory = true; /* nobody goes on */
    return good;
}

static bool start(struct pool *p, unsigned i) {
    fflush(NULL);
    pid_t child = fork();
    if (child == 0) {
        struct worker w = {.x = p->x,
                           .shared = p->shared,
                           .own = &p->shared->workers[i],
                           .number = i,
                           .out = p->out};
        close(p->in);
        keep(&w);
    }
    p->keepers[i] = child > 0 ? child : 0;
    return child > 0;
}

static bool open_pool(struct pool *p) {
    int ends[2] = {-1, -1};
    p->n = p->x->jobs;
    p->shared_size = sizeof *p->shared + p->n * sizeof *p->shared->workers;
    p->keepers = calloc(p->n, sizeof *p->keepers);
    p->shared = guard_share(p->shared_size);
    if (!p->keepers || !p->shared || pipe2(ends, O_CLOEXEC) != 0)
        return false;
    p->in = ends[0];
    p->out = ends[1];
    p->saved = seconds_now();
    atomic_store(&p->shared->claimed, p->x->done);
    atomic_store(&p->shared->done, p->x->done);
    atomic_store(&p->shared->limit, UINT64_MAX);
    for (unsigned i = 0; i < p->n; i++)
        if (!start(p, i))
            return false;
    return true;
}

bool explore_pool(struct exploration *x) {
    struct pool *p = calloc(1, sizeof *p);
    if (!p)
        return false;
    p->x = x;
    p->in = p->out = -1;
    bool good = open_pool(p);
    if (p->out >= 0)
        close(p->out); /* so that the workers have the last ones */
    if (!good)
        p->no_memory = true;
    good = good && watch(p);
    if (p->shared)
        end_workers(p);
    if (p->shared)
        take_reasons(p);
    if (p->in >= 0)
        close(p->in);
    bool saved = good && explore_save(x);
    if (p->no_memory && good)
        fprintf(stderr, "isoheap: no memory for the processes of an exploration\n");
    good = good && !p->no_memory;
    guard_unshare(p->shared, p->shared_size);
    free(p->keepers);
    free(p);
    return good && saved;
}
