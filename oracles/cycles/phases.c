/* SPDX-License-Identifier: MIT
 *
 * Oracle phases: what holds inside a collection that marks and sweeps, where a phase ends and at
 * steps in between.
 *
 * The contracts of darken_roots, mark and sweep in Figures 15 and 17 of the long OCaml paper, and
 * its section 4: every gray block is on the mark stack, and what is reachable is reached from a
 * gray block through white ones (phases_look.c has the statements).
 *
 * What is found is the verdict of the operation in which it was found only if no other oracle has
 * found more by its end: an object that is lost in the end says more than that it was not black.
 *
 * A look takes time.  Where few words are in use the first collection of a run is looked at, and of
 * other collections, the first, the second, the fourth, ..., a share; in each some steps of marking
 * (the first, the fifth, the 21st, ...), as long as the words that were looked at are not too many.
 * In a thorough run every collection is looked at, and every step while the words last.
 */
#include "oracles/cycles/phases.h"

#include <stdio.h>
#include <string.h>

/* Before the first phase of which the oracle hears: one may be under way. */
#define PHASES_UNKNOWN GC_STAGES

/* Words of heaps in one run.  Where few are in use, the first collection is looked at in any case;
 * of other heaps one in so many is. */
enum { PHASES_WORDS = 1536, PHASES_EMPTY = 16, PHASES_SMALL = 32, PHASES_SHARE = 16 };
enum { PHASES_THOROUGH = 64 }; /* times as many words in a thorough run */

static bool is_thorough(const struct judge *j) {
    return j->side->thorough & ORACLE_BIT(ORACLE_phases);
}

static bool reset(struct judge *j) {
    struct phases *p = j->state;
    p->last = PHASES_UNKNOWN;
    p->watched = p->inside_minor = false;
    p->darkened = p->marked = p->collections = p->swept = p->before = 0;
    p->budget = PHASES_WORDS * (is_thorough(j) ? PHASES_THOROUGH : 1);
    p->finding.violation = VIOLATION_none;
    size_t bits = j->side->room / 64 + 1;
    p->allocated = p->words + j->side->room;
    p->unreached = p->allocated + bits;
    p->black = p->unreached + bits;
    return false;
}

/* ---- what is worth a look ---------------------------------------------------------------------
 */

static bool is_power(uint64_t n) {
    return (n & (n - 1)) == 0;
}

/* What a look costs: words in use at the last walk, and as much as it takes without any. */
static size_t price(const struct judge *j) {
    return j->side->facts.live_words + PHASES_EMPTY;
}

static bool pay(struct judge *j, size_t words, bool in_any_case) {
    struct phases *p = j->state;
    if (p->finding.violation || (p->budget < words && !in_any_case))
        return false;
    p->budget -= words < p->budget ? words : p->budget;
    return true;
}

/* The program says which, and not what ran before: it has the same verdict each time.  Three looks
 * at least, one where each phase ends. */
static bool is_worth_it(struct judge *j) {
    struct phases *p = j->state;
    const struct side *s = j->side;
    size_t words = price(j);
    if (!is_thorough(j) && !is_power(p->collections))
        return false;
    bool always = is_thorough(j) || (words <= PHASES_SMALL && p->collections == 1);
    if (!always && (s->steps + s->calls + words) % PHASES_SHARE)
        return false;
    return pay(j, GC_STAGES * words, always);
}

static void seek_next_step(struct judge *j) {
    struct phases *p = j->state;
    p->interval *= is_thorough(j) ? 1 : 4;
    j->services->look_after(j, p->budget < price(j) ? 0 : p->interval);
}

/* ---- events inside a call ---------------------------------------------------------------------
 */

static void note_order(struct judge *j, enum gc_stage ended) {
    static const char *const names[GC_STAGES] = {"the darkening of roots", "marking", "sweeping"};
    struct phases *p = j->state;
    snprintf(p->finding.expected, VERDICT_TEXT, "the end of %s", names[(p->last + 1) % GC_STAGES]);
    snprintf(p->finding.found, VERDICT_TEXT, "that of %s", names[ended % GC_STAGES]);
    j->noted = true;
    p->finding.violation = VIOLATION_promise_broken;
    p->finding.detail = "hooks->phase has been told of the end of a phase that is not under way";
}

static void darkened(struct judge *j) {
    struct phases *p = j->state;
    p->collections++;
    p->darkened = j->side->calls;
    p->watched = is_worth_it(j);
    if (!p->watched)
        return;
    p->of_cycle = j->side->collector->cycle && j->services->cycle(j).phase != GC_PHASE_IDLE;
    j->services->with_room(j, phases_look_darkened);
    p->interval = 1;
    j->services->look_after(j, 1);
}

static bool phase(struct judge *j, enum gc_stage ended) {
    struct phases *p = j->state;
    bool in_order =
        p->last == PHASES_UNKNOWN || (unsigned)ended == ((unsigned)p->last + 1) % GC_STAGES;
    if (!in_order && !p->finding.violation)
        note_order(j, ended);
    p->last = ended;
    p->watched = p->watched && in_order;
    p->swept += ended == GC_SWEPT_ALL;
    if (j->side->look)
        j->services->look_after(j, 0);
    if (ended == GC_DARKENED)
        darkened(j);
    else if (!p->watched || p->finding.violation)
        return false;
    else if (ended == GC_MARKED_ALL)
        j->services->with_room(j, phases_look_marked);
    else
        j->services->with_room(j, phases_look_swept);
    if (ended == GC_MARKED_ALL)
        p->marked = j->side->calls;
    return p->watched;
}

static bool ticked(struct judge *j) {
    struct phases *p = j->state;
    if (!p->watched || p->last != GC_DARKENED || p->finding.violation)
        return false;
    if (p->inside_minor) { /* blocks are on their way */
        j->services->look_after(j, p->interval);
        return false;
    }
    if (pay(j, price(j), false))
        phases_look_marking(j);
    seek_next_step(j);
    return true;
}

static bool minor(struct judge *j, bool before) {
    ((struct phases *)j->state)->inside_minor = before;
    return false;
}

/* ---- events between calls ---------------------------------------------------------------------
 */

static void raise_finding(struct judge *j) {
    struct phase_finding *f = &((struct phases *)j->state)->finding;
    memcpy(j->expected, f->expected, VERDICT_TEXT);
    memcpy(j->found, f->found, VERDICT_TEXT);
    judge_fail(j, f->violation, f->detail);
}

/* If the heaps are still to be compared, what that finds comes first. */
static bool noted(struct judge *j) {
    struct phases *p = j->state;
    if (p->finding.violation && j->side->hooks->collections == j->side->compared)
        raise_finding(j);
    return false;
}

/* A full collection sweeps, and tells of it. */
static bool compared(struct judge *j, enum occasion when) {
    struct phases *p = j->state;
    bool told = p->swept > p->before;
    p->before = p->swept;
    if (p->finding.violation)
        raise_finding(j);
    if (when != AFTER_FULL)
        return false;
    if (told)
        return true;
    snprintf(j->expected, VERDICT_TEXT, "a call for the end of each phase");
    snprintf(j->found, VERDICT_TEXT, "none for the end of sweeping");
    judge_fail(j, VIOLATION_promise_broken,
               "a full collection has not told hooks->phase that it has swept");
}

static bool ended(struct judge *j) {
    if (((struct phases *)j->state)->finding.violation)
        raise_finding(j);
    return false;
}

const struct oracle_module oracle_phases = {
    .meaning = "roots darkened, all marked, all swept: what holds then, and at steps of marking",
    .source = "the long OCaml paper, Definition 1, Figures 15 and 17, section 4",
    .classes = {VIOLATION_contract_broken, VIOLATION_stack_broken, VIOLATION_tricolour_broken,
                VIOLATION_ill_formed_heap, VIOLATION_promise_broken},
    .needs = 1u << NEED_walk | 1u << NEED_tells_phases,
    .state = sizeof(struct phases),
    .each = sizeof(word) + 1,
    .samples = true,
    .reset = reset,
    .noted = noted,
    .minor = minor,
    .phase = phase,
    .ticked = ticked,
    .compared = compared,
    .ended = ended,
};
