/* SPDX-License-Identifier: MIT
 *
 * Survivors of which clang makes the code of the collector itself are no mutants, and those with
 * the code of another survivor are no second one (mutants.h).  Most mutants do not survive, so only
 * these are compiled.
 */
#define _GNU_SOURCE
#include "cli/campaign/campaign.h"
#include "cli/mutants/mutants.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

struct code_share {
    uint64_t *code;   /* of each mutant, 0: not compiled */
    uint64_t *plain;  /* of each file's sources, without a mutant */
    unsigned *wanted; /* mutants, and behind them n + file + 1 */
    unsigned n;
};

static bool is_wanted(const struct mutants *m, const struct results_file *r, unsigned k) {
    const struct mutant *mutant = &m->all[k - 1];
    return is_chosen(mutant) && r->result[k].fate == FATE_open && r->result[k].tried > 0 &&
           !r->result[k].code;
}

/* Every jobs-th of them. */
static _Noreturn void compile_share(const struct compile_plan *plan, const struct mutants *m,
                                    const struct code_share *s, unsigned job, unsigned jobs,
                                    bool progress) {
    be_a_child();
    for (unsigned i = job; i < s->n; i += jobs) {
        unsigned k = s->wanted[i], file = m->all[k - 1].file;
        if (!s->plain[file])
            s->plain[file] = code_of_mutant(plan, m, 0, k);
        s->code[k] = code_of_mutant(plan, m, k, k);
        if (progress && job == 0)
            fprintf(stderr, "\r%u of %u survivors compiled alone \033[K", i + 1, s->n);
    }
    _exit(0);
}

static bool compile_all(const struct compile_plan *plan, const struct mutants *m,
                        const struct code_share *s, unsigned jobs, bool progress) {
    pid_t children[JOBS_MAX], ended = 0;
    bool good = true;
    fflush(NULL);
    for (unsigned job = 0; job < jobs; job++) {
        children[job] = fork();
        if (children[job] == 0)
            compile_share(plan, m, s, job, jobs, progress);
        good &= children[job] > 0;
    }
    for (int status = 0; ended > 0 || (ended < 0 && errno == EINTR) || ended == 0;) {
        ended = wait(&status);
        good &= ended <= 0 || status == 0;
        for (unsigned job = 0; campaign_interrupts && job < jobs; job++)
            if (children[job] > 0)
                kill(children[job], SIGKILL);
    }
    if (progress)
        fprintf(stderr, "\r\033[K");
    return good && !campaign_interrupts;
}

/* The first other survivor of the file with the same code, or 0. */
static unsigned twin_of(const struct mutants *m, const struct results_file *r, unsigned k) {
    for (unsigned other = 1; other < k; other++)
        if (!m->all[other - 1].dropped && r->result[other].fate == FATE_open &&
            r->result[other].code == r->result[k].code &&
            m->all[other - 1].file == m->all[k - 1].file)
            return other;
    return 0;
}

/* Which survivors are none. */
static bool compare_code(const struct mutants *m, const struct code_share *s,
                         struct results_file *r) {
    bool good = true;
    for (unsigned i = 0; i < s->n; i++) {
        unsigned k = s->wanted[i];
        struct result *mine = &r->result[k];
        mine->code = s->code[k] ? s->code[k] : k;
        if (mine->code == s->plain[m->all[k - 1].file])
            mine->fate = FATE_same;
        else if ((mine->twin = twin_of(m, r, k)))
            mine->fate = FATE_twin;
        good &= mutant_results_note(r, k);
    }
    return good;
}

bool find_dead(const struct compile_plan *plan, const struct mutants *m, struct results_file *r) {
    bool *live = calloc(m->n + 1, sizeof *live);
    bool good = live && find_live(plan, m, live);
    for (unsigned k = 1; good && k <= m->n; k++) {
        if (live[k] || m->all[k - 1].dropped || r->result[k].fate != FATE_open)
            continue;
        r->result[k].fate = FATE_same;
        good = mutant_results_note(r, k);
    }
    free(live);
    return good;
}

bool find_same(const struct compile_plan *plan, const struct mutants *m, struct results_file *r,
               unsigned jobs, bool progress) {
    size_t size = (m->n + 1 + MUTANT_FILES) * sizeof(uint64_t);
    uint64_t *shared = guard_share(size);
    struct code_share s = {.code = shared,
                           .plain = shared ? shared + m->n + 1 : NULL,
                           .wanted = calloc(m->n + 1, sizeof *s.wanted)};
    for (unsigned k = 1; s.wanted && k <= m->n; k++)
        if (is_wanted(m, r, k))
            s.wanted[s.n++] = k;
    bool good =
        shared && s.wanted && compile_all(plan, m, &s, jobs, progress) && compare_code(m, &s, r);
    free(s.wanted);
    guard_unshare(shared, size);
    return good;
}
