/* SPDX-License-Identifier: MIT
 *
 * A child process that judges programs (trial.h).
 */
#define _DEFAULT_SOURCE /* MAP_ANONYMOUS */
#include "tests/support/trial.h"

#include "program/bytes/bytes.h"
#include "program/random.h"
#include "tests/support/support.h"

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

/* For all of a test that crashes on purpose, in children too: the names in the reports of a
 * thousand crashes would take minutes. */
const char *__asan_default_options(void);
const char *__asan_default_options(void) {
    return "symbolize=0:detect_leaks=0";
}

/* A run takes milliseconds.  A defect that has written over the heap may loop, and then uses
 * processor time; or die while a lock is held that the report of its death needs, and then sleeps.
 */
enum { TRIES = 4000, HANGS = 10, INPUT = 2000, PROCESSOR_MS = 400, SECONDS = 20 };

static const char HANG[] = "a hang";

struct trial_shared {
    struct program program;
    struct verdict verdict;
};

_Noreturn static void give_up(const char *what) {
    perror(what);
    exit(1);
}

void trial_open(struct trial *t, const struct collector *subject,
                const struct collector *reference) {
    *t = (struct trial){.options = {.subject = subject, .reference = reference},
                        .one_each = subject->traits.conservative};
    t->runner = runner_open(&t->options);
    t->shared =
        mmap(NULL, sizeof *t->shared, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (!t->runner || t->shared == MAP_FAILED)
        give_up(subject->name);
}

/* ---- the child --------------------------------------------------------------------------------
 */

_Noreturn static void serve(struct trial *t, int ask, int answer) {
    struct verdict v;
    char token;
    crashes_end_the_process();
    dup2(open("/dev/null", O_WRONLY), STDERR_FILENO);
    while (read(ask, &token, 1) == 1) {
        setitimer(ITIMER_PROF, &(struct itimerval){.it_value.tv_usec = 1000 * PROCESSOR_MS}, NULL);
        alarm(SECONDS);
        runner_run(t->runner, &t->shared->program, &v);
        t->shared->verdict = v;
        alarm(0); /* it may wait for the next one as long as that takes */
        if (write(answer, &token, 1) != 1)
            break;
    }
    _exit(0);
}

static void start_server(struct trial *t) {
    int ask[2], answer[2];
    if (pipe(ask) != 0 || pipe(answer) != 0)
        give_up("pipe");
    fflush(NULL);
    t->server = fork();
    if (t->server < 0)
        give_up("fork");
    if (t->server == 0) {
        close(ask[1]);
        close(answer[0]);
        serve(t, ask[0], answer[1]);
    }
    close(ask[0]);
    close(answer[1]);
    t->ask = ask[1];
    t->answer = answer[0];
}

/* True if the child used up its time. */
static bool end_server(struct trial *t) {
    int status = 0;
    if (!t->server)
        return false;
    close(t->ask);
    close(t->answer);
    waitpid(t->server, &status, 0);
    t->server = 0;
    return WIFSIGNALED(status) && (WTERMSIG(status) == SIGPROF || WTERMSIG(status) == SIGALRM);
}

void trial_close(struct trial *t) {
    if (t->server) /* the children of other trials may have its pipe too: it would not see the end
                    */
        kill(t->server, SIGKILL);
    end_server(t);
    runner_close(t->runner);
    munmap(t->shared, sizeof *t->shared);
}

/* ---- judgement --------------------------------------------------------------------------------
 */

struct verdict trial_judge(struct trial *t, const struct program *p) {
    char token = 0;
    if (!t->server)
        start_server(t);
    program_copy(&t->shared->program, p);
    t->shared->verdict = (struct verdict){.violation = VIOLATION_sanitizer, .detail = "a crash"};
    if (write(t->ask, &token, 1) != 1)
        give_up("the child is gone");
    bool died = read(t->answer, &token, 1) != 1;
    if ((died || t->one_each) && end_server(t) && died)
        snprintf(t->shared->verdict.detail, VERDICT_TEXT, "%s", HANG);
    return t->shared->verdict;
}

bool trial_keeps(const struct program *p, void *trial) {
    struct trial *t = trial;
    t->invalid += program_valid(p) != NULL;
    struct verdict v = trial_judge(t, p);
    return verdict_same_defect(&v, &t->wanted);
}

/* The child has the runner that there was when it began. */
static void be_thorough(struct trial *t, oracle_set thorough) {
    if (t->options.thorough == thorough)
        return;
    end_server(t);
    runner_close(t->runner);
    t->options.thorough = thorough;
    t->runner = runner_open(&t->options);
    if (!t->runner)
        give_up(t->options.subject->name);
}

void trial_reduce(struct trial *t, struct reduction *r, struct program *p) {
    static struct program original;
    original = *p;
    r->keeps = trial_keeps;
    r->context = t;
    be_thorough(t, verdict_sampled(&t->wanted));
    for (;;) {
        bool strict = !t->options.thorough;
        program_reduce(r, p);
        be_thorough(t, 0);
        if (strict || trial_keeps(p, t))
            return;
        *p = original;
    }
}

bool trial_hangs(const struct verdict *v) {
    return strcmp(v->detail, HANG) == 0;
}

/* One that leads outside the heap: where there is no field, just behind it, to no address. */
static struct value outsider_value(struct random *random) {
    const struct value values[] = {{.kind = VALUE_ATOM},
                                   {.kind = VALUE_OUTSIDE, .bits = outside_bits(OUTSIDE_BEHIND, 0)},
                                   {.kind = VALUE_OUTSIDE, .bits = outside_bits(OUTSIDE_SMALL, 2)}};
    return values[random_below(random, sizeof values / sizeof *values)];
}

/* Random bytes hardly ever say an address, or a word outside the heap that is none by number: words
 * and integers become those of slots, and integers others. */
static void plant_addresses(struct program *p, struct random *random) {
    for (unsigned i = 0; i < p->n_ops; i++)
        for (unsigned v = 0; v < p->ops[i].n_values; v++) {
            struct value *value = &p->ops[i].values[v];
            if (value->kind == VALUE_IMMEDIATE && random_chance(random, 4))
                *value = outsider_value(random);
            else if (value->kind < VALUE_OUTSIDE && random_chance(random, 2))
                *value = (struct value){.kind = VALUE_ADDRESS,
                                        .block = (uint16_t)random_below(random, PROGRAM_SLOTS)};
        }
}

bool trial_find(struct trial *t, enum violation violation, unsigned operations, struct program *p) {
    static uint8_t bytes[INPUT];
    struct random random = {1};
    for (unsigned tries = 0, hangs = 0; tries < TRIES && hangs < HANGS; tries++) {
        for (size_t i = 0; i < sizeof bytes; i++)
            bytes[i] = (uint8_t)random_next(&random);
        program_decode(p, bytes, sizeof bytes);
        if (p->n_ops < operations)
            continue;
        p->n_ops = operations;
        if (tries % 2) /* half of them: what needs none is found in the other half */
            plant_addresses(p, &random);
        t->wanted = trial_judge(t, p);
        if (trial_hangs(&t->wanted)) /* two thousand such runs take an hour */
            hangs++;
        else if (t->wanted.violation == violation && t->wanted.guilty == PARTY_SUBJECT)
            return true;
    }
    return false;
}
