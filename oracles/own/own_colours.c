/* SPDX-License-Identifier: MIT
 *
 * Oracle own_colours: the colours of the blocks in the own heap of a collector that marks and
 * sweeps in slices, by what its phase asks for.
 *
 * What the program can reach is part of what Definition 6 asks to be kept, so that while marking
 * it is black or protected by what is gray.  What an ephemeron alone reaches is not asked for: it
 * is decided at the end of marking.
 */
#include "oracles/own/own_record.h"

#include <stdio.h>

_Noreturn static void fail_colour(struct judge *j, enum violation v, const struct gc_own_extent *e,
                                  const char *expected, const char *detail) {
    snprintf(j->expected, VERDICT_TEXT, "%s", expected);
    own_describe(j, e, j->found, VERDICT_TEXT);
    judge_fail(j, v, detail);
}

static long long distance(const struct gc_own *own, const word *place) {
    word first = own->n ? pointer_word(own->extents[0].header) : 0;
    return (long long)(pointer_word(place) - first) / (long long)sizeof(word);
}

/* Before anything follows them: a block may have become shorter than what waits on the mark stack
 * says, or be gone. */
static void judge_gray(struct judge *j, const struct gc_own *own) {
    for (size_t n = 0; n < own->n_gray; n++) {
        const struct gc_own_gray *gray = &own->gray[n];
        if (gray->is_static || gray->first == gray->end || own_holds(own, gray->first, gray->end))
            continue;
        snprintf(j->expected, VERDICT_TEXT, "words of blocks that are not young");
        snprintf(j->found, VERDICT_TEXT,
                 "words [%lld, %lld), counted from the first of the collector's own heap",
                 distance(own, gray->first), distance(own, gray->end));
        judge_fail(j, VIOLATION_stack_broken, "marking will look at words that are no block's");
    }
}

static void judge_marking(struct judge *j, const struct gc_own_extent *e) {
    if (e->seen & SEEN_STRONGLY && header_colour(*e->header) != BLACK && !(e->seen & SEEN_GUARDED))
        fail_colour(j, VIOLATION_barrier_missed, e, "black, or reachable from a gray block",
                    "while marking nothing protects a block that can be reached");
}

/* What has been cut off from a block may be black for a cycle: it is abstract, and unreachable. */
static void judge_white(struct judge *j, const struct gc_own_extent *e, const char *detail) {
    bool cut_off = !e->seen && header_tag(*e->header) == TAG_ABSTRACT;
    if (!cut_off && header_colour(*e->header) != WHITE)
        fail_colour(j, VIOLATION_wrong_colour, e, "white", detail);
}

static void judge_block(struct judge *j, const struct gc_own *own, const struct gc_own_extent *e) {
    if (header_colour(*e->header) == GRAY)
        fail_colour(j, VIOLATION_wrong_colour, e, "white or black",
                    "a block is gray in its header");
    if (own->phase == GC_OWN_MARK)
        judge_marking(j, e);
    else if (own->phase == GC_OWN_IDLE)
        judge_white(j, e, "a block is not white after a cycle");
    else if (own_is_below(own, e))
        judge_white(j, e, "a block that sweeping has passed is not white");
    else if (e->seen & SEEN_STRONGLY && header_colour(*e->header) != BLACK)
        fail_colour(j, VIOLATION_wrong_colour, e, "black",
                    "sweeping will free a block that can be reached");
}

static void judge_turning(struct judge *j, const struct gc_own *own,
                          const struct gc_own_extent *e) {
    unsigned colour = header_colour(*e->header);
    if (!(e->seen & SEEN_STRONGLY))
        return;
    if (colour == own->dead)
        fail_colour(j, VIOLATION_wrong_colour, e, "another colour",
                    "sweeping will free a block that can be reached");
    if (own->phase == GC_OWN_SWEEP && colour == own->unmarked)
        fail_colour(j, VIOLATION_wrong_colour, e, "that of marked blocks",
                    "all is marked, but for a block that can be reached");
}

static bool operated(struct judge *j) {
    struct own_record *r = j->record;
    if (!r->own)
        return false;
    if (r->own->phase == GC_OWN_MARK && !r->own->turning) {
        judge_gray(j, r->own);
        own_guard(r);
    }
    for (size_t n = 0; n < r->own->n; n++)
        if (!r->own->extents[n].young && own_is_block(&r->own->extents[n]))
            (r->own->turning ? judge_turning : judge_block)(j, r->own, &r->own->extents[n]);
    return true;
}

const struct oracle_module oracle_own_colours = {
    .meaning = "blocks have the colours that the phase asks for, and marking protects what it must",
    .source = "Definition 6 and Figure 28, property 4, of the long OCaml paper",
    .classes = {VIOLATION_wrong_colour, VIOLATION_barrier_missed, VIOLATION_stack_broken},
    .needs = 1u << NEED_own,
    .record = RECORD_own_record,
    .samples = true,
    .operated = operated,
};
