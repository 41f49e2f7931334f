/* SPDX-License-Identifier: MIT
 *
 * Reduction by delta debugging (reduce.h); steps.h says where the steps are.
 */
#include "program/reduction/reduce.h"

#include "program/cut.h"
#include "program/reduction/steps.h"

#include <string.h>

/* ---- candidates that are known to be without the property -------------------------------------
 */

/* The place of a digest, or of the hole where it belongs; an old entry gives way when it is full.
 */
static uint64_t *place_of(struct reduction *r, uint64_t digest) {
    enum { PROBES = 8 };
    uint64_t *place = NULL;
    for (unsigned i = 0; i < PROBES; i++) {
        place = &r->refused[(digest + i) % REDUCTION_REMEMBERS];
        if (*place == 0 || *place == digest)
            break;
    }
    return place;
}

/* ---- one step ---------------------------------------------------------------------------------
 */

/* May one more run be made? */
static bool goes_on(struct reduction *r) {
    if (r->runs >= r->max_runs || (r->stop && r->stop(r->context)))
        r->complete = false;
    return r->complete;
}

/* Has the candidate the property?  Nothing is asked twice. */
static bool candidate_keeps(struct reduction *r) {
    uint64_t digest = program_digest(&r->candidate) | 1; /* 0 is a hole */
    uint64_t *place = place_of(r, digest);
    if (*place == digest || program_valid(&r->candidate) || !goes_on(r))
        return false;
    r->runs++;
    if (r->keeps(&r->candidate, r->context))
        return true;
    *place = digest;
    return false;
}

/* p becomes the candidate if that is another program and has the property; else the candidate
 * becomes p again. */
static bool take_candidate(struct reduction *r, struct program *p) {
    if (program_equal(&r->candidate, p) || !candidate_keeps(r)) {
        program_copy(&r->candidate, p);
        return false;
    }
    program_copy(p, &r->candidate);
    r->improvements++;
    if (r->improved)
        r->improved(p, r->context);
    return true;
}

/* Steps at .. at + n - 1 on p; r->candidate equals p before and after. */
static bool try_steps(struct reduction *r, struct program *p, const struct step_family *family,
                      unsigned at, unsigned n) {
    if (!family->apply(&r->candidate, at, n))
        return false;
    return take_candidate(r, p);
}

/* ---- passes -----------------------------------------------------------------------------------
 */

/* From the end, since what comes later depends on what comes before. */
static bool pass_in_chunks(struct reduction *r, struct program *p, const struct step_family *family,
                           unsigned size) {
    bool any = false;
    for (unsigned end = family->count(p); end > 0 && r->complete;) {
        unsigned at = end > size ? end - size : 0, count;
        any |= try_steps(r, p, family, at, end - at);
        count = family->count(p);
        end = at < count ? at : count;
    }
    return any;
}

static bool pass(struct reduction *r, struct program *p, const struct step_family *family) {
    bool any = false;
    for (unsigned size = family->chunks ? family->count(p) : 1; size > 0 && r->complete; size /= 2)
        any |= pass_in_chunks(r, p, family, size);
    return any;
}

/* Which families of a table gained nothing when they were last tried. */
struct idle {
    bool family[STEP_FAMILIES];
};

static bool pass_of_all(struct reduction *r, struct program *p, const struct step_family *table,
                        struct idle *idle) {
    bool any = false;
    for (unsigned f = 0; table[f].name && r->complete; f++) {
        if (idle->family[f])
            continue;
        bool gained = pass(r, p, &table[f]);
        idle->family[f] = !gained;
        any |= gained;
    }
    return any;
}

static void begin(struct reduction *r, const struct program *p) {
    memset(r->refused, 0, sizeof r->refused);
    r->runs = r->improvements = 0;
    r->complete = true;
    r->possible = NULL;
    program_copy(&r->candidate, p);
}

/* Those that are tried first, again and again, and those that are tried in turn when these gain
 * nothing any more. */
enum { FIRST_TABLES = 5 };
static const struct step_family *const tables[] = {script_steps, replace_steps,  beforehand_steps,
                                                   heap_steps,   schedule_steps, expand_steps,
                                                   form_steps,   balance_steps};
enum { TABLES = sizeof tables / sizeof *tables };
enum { STRIDES = 1 << 12 }; /* a number has no more than that many times what a round takes */

/* On where a round has led from r->from, further and further. */
static void stride_on(struct reduction *r, struct program *p) {
    program_copy(&r->to, p);
    for (unsigned times = 1; times < STRIDES; times *= 2) {
        bool goes = stride(&r->candidate, &r->from, &r->to, times);
        if (!goes)
            program_copy(&r->candidate, p);
        if (!goes || !take_candidate(r, p))
            return;
    }
}

/* Families that gained nothing wait until no other gains any more: most runs would be lost on them.
 * The last round tries all and changes nothing, and so does a first round from its result. */
static bool round_of_all(struct reduction *r, struct program *p) {
    struct idle idle[TABLES] = {{{false}}};
    bool any = false, gained;
    do {
        gained = false;
        program_copy(&r->from, p);
        for (unsigned t = 0; t < FIRST_TABLES; t++)
            gained |= pass_of_all(r, p, tables[t], &idle[t]);
        if (gained)
            stride_on(r, p);
        any |= gained;
    } while (gained);
    for (unsigned t = FIRST_TABLES; t < TABLES && !any; t++)
        any = pass_of_all(r, p, tables[t], &idle[t]);
    return any;
}

/* What some programs alone are looked at for, small ones among them, goes away with each step that
 * makes another large one.  So the smallest of all is tried first, where there is much. */
static void try_empty(struct reduction *r, struct program *p) {
    enum { MUCH = 16 };
    if (p->n_ops + p->n_items <= MUCH)
        return;
    program_clear(&r->candidate);
    memcpy(r->candidate.config, p->config, sizeof p->config);
    take_candidate(r, p);
}

void program_reduce(struct reduction *r, struct program *p) {
    begin(r, p);
    try_empty(r, p);
    while (round_of_all(r, p) && r->complete)
        ;
}

/* ---- is it minimal? ---------------------------------------------------------------------------
 */

static bool any_keeps(struct reduction *r, const struct program *p,
                      const struct step_family *family) {
    unsigned count = family->count(p);
    for (unsigned at = 0; at < count && r->complete; at++) {
        bool applied = family->apply(&r->candidate, at, 1);
        if (applied && !program_equal(&r->candidate, p) && candidate_keeps(r))
            return true;
        if (applied)
            program_copy(&r->candidate, p);
    }
    return false;
}

bool program_is_minimal(struct reduction *r, const struct program *p) {
    begin(r, p);
    for (unsigned t = 0; t < TABLES; t++) {
        for (const struct step_family *family = tables[t]; family->name && r->complete; family++) {
            if (any_keeps(r, p, family)) {
                r->possible = family->name;
                return false;
            }
        }
    }
    return r->complete;
}
