/* SPDX-License-Identifier: MIT
 *
 * Mutation and crossover of a schedule that is listed in the program (mutation.h): decisions
 * between threads come, go, change, move and repeat.
 *
 * A decision says nothing alone: it counts from the one before, and which thread its choice is
 * depends on all that went before it.  So new ones come close to those that there are, and whole
 * runs move and repeat.
 */
#include "program/cut.h"
#include "program/mutation/internal.h"

enum {
    LONGEST_DECISIONS = 8, /* a run */
    FARTHEST = 12,         /* the first decision is below 2^FARTHEST */
    CHOICES = 6,           /* likely numbers of threads that can go on */
    SHIFT = 64             /* a run moves by less, or by one or two */
};

/* Small numbers of all magnitudes: most of what matters happens early. */
static unsigned random_moment(struct random *r) {
    return 1 + random_below(r, 1u << random_between(r, 1, FARTHEST));
}

static unsigned random_choice(struct random *r) {
    return random_few(r, CHOICES);
}

/* A run of decisions that there are; n_switches > 0. */
static unsigned random_decisions(struct mutation *m, unsigned *count) {
    unsigned n = m->program.n_switches, from = random_below(&m->random, n);
    *count = random_chance(&m->random, 8) ? n - from : random_few(&m->random, LONGEST_DECISIONS);
    *count = *count < n - from ? *count : n - from;
    return from;
}

/* New ones, close together: from scratch, or around one that is there. */
static bool insert_decisions(struct mutation *m) {
    struct program *p = &m->program;
    struct random *r = &m->random;
    bool any = false;
    unsigned at = random_moment(r), count;
    if (p->n_switches && !random_chance(r, 4)) {
        at = switch_at(p->switches[random_decisions(m, &count)]);
        at += random_few(r, 16); /* one after the other: compilers differ in the order */
    }
    for (unsigned n = random_few(r, LONGEST_DECISIONS); n > 0 && at <= UINT16_MAX; n--) {
        any |= program_decide(p, at, random_choice(r));
        at += random_few(r, 16);
    }
    return any;
}

static bool remove_decisions(struct mutation *m) {
    unsigned count, from = random_decisions(m, &count);
    cut_switches(&m->program, from, count);
    return true;
}

/* Another of the threads goes on, or the same one a little earlier or later. */
static bool change_decision(struct mutation *m) {
    struct program *p = &m->program;
    struct random *r = &m->random;
    unsigned at = random_below(r, p->n_switches), moment = switch_at(p->switches[at]);
    unsigned choice = switch_choice(p->switches[at]), by = random_few(r, 16);
    if (random_chance(r, 2)) {
        unsigned other = random_choice(r);
        p->switches[at] = switch_make(moment, other);
        return other != choice;
    }
    bool later = random_chance(r, 2);
    if (later ? by > UINT16_MAX - moment : by >= moment)
        return false;
    cut_switches(p, at, 1);
    return program_decide(p, later ? moment + by : moment - by, choice);
}

/* The decision so much later, or earlier, in the place of the one there; false if there is no such
 * moment. */
static bool decide_later(struct program *p, uint32_t decision, int later) {
    int at = (int)switch_at(decision) + later;
    return at > 0 && at <= UINT16_MAX && program_decide(p, (unsigned)at, switch_choice(decision));
}

/* Decisions from .. are taken so much later; if they stay, a second time. */
static bool put_again(struct mutation *m, unsigned from, unsigned count, int later,
                      bool they_stay) {
    struct program *p = &m->program;
    uint32_t run[PROGRAM_SWITCHES];
    bool any = false;
    for (unsigned i = 0; i < count; i++)
        run[i] = p->switches[from + i];
    if (!they_stay)
        cut_switches(p, from, count);
    for (unsigned i = 0; i < count; i++)
        any |= decide_later(p, run[i], later);
    return any || !they_stay;
}

/* A run happens later or earlier; half of the time all that follow it too, as when an operation
 * before them takes longer. */
static bool shift_decisions(struct mutation *m) {
    struct random *r = &m->random;
    unsigned count, from = random_decisions(m, &count);
    int by = random_chance(r, 2) ? (int)random_few(r, 2) : 1 + (int)random_below(r, SHIFT - 1);
    if (random_chance(r, 2))
        count = m->program.n_switches - from;
    return put_again(m, from, count, random_chance(r, 2) ? by : -by, false);
}

/* A run once more, behind its end or anywhere. */
static bool repeat_decisions(struct mutation *m) {
    const uint32_t *s = m->program.switches;
    unsigned count, from = random_decisions(m, &count);
    unsigned span = switch_at(s[from + count - 1]) - switch_at(s[from]);
    unsigned later = random_chance(&m->random, 2) ? span + random_few(&m->random, 16)
                                                  : random_moment(&m->random);
    return put_again(m, from, count, (int)later, true);
}

bool mutate_decision(struct mutation *m) {
    unsigned kind = random_below(&m->random, 8);
    if (m->program.n_switches == 0 || kind < 2)
        return insert_decisions(m);
    if (kind < 4)
        return change_decision(m);
    if (kind < 5)
        return remove_decisions(m);
    return kind < 7 ? shift_decisions(m) : repeat_decisions(m);
}

/* ---- crossover ------------------------------------------------------------------------------- */

/* Decisions from .. to are those of the other parent: from some point on, up to one, or between
 * two; half of the time so much earlier or later that they begin at a decision of the child's. */
bool cross_decisions(struct mutation *m) {
    struct program *p = &m->program;
    const struct program *q = &m->second;
    struct random *r = &m->random;
    if (q->n_switches == 0)
        return false;
    unsigned first = random_below(r, q->n_switches), last = q->n_switches - 1;
    if (random_chance(r, 2))
        last = random_between(r, first, last);
    if (random_chance(r, 4))
        first = 0;
    int from = (int)switch_at(q->switches[first]), to = (int)switch_at(q->switches[last]);
    int later = 0;
    if (p->n_switches && random_chance(r, 2))
        later = (int)switch_at(p->switches[random_below(r, p->n_switches)]) - from;
    for (unsigned i = p->n_switches; i-- > 0;) {
        int at = (int)switch_at(p->switches[i]) - later;
        if (at >= from && at <= to)
            cut_switches(p, i, 1);
    }
    bool any = false;
    for (unsigned i = first; i <= last; i++)
        any |= decide_later(p, q->switches[i], later);
    return any;
}
