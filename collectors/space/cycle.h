/* SPDX-License-Identifier: MIT
 *
 * A mark-and-sweep cycle in slices: snapshot at the beginning with a deletion barrier (long OCaml
 * paper, section 8.1).
 *
 * A slice is a sequence of steps of mark and sweep.  Each step handles a whole block, so the last
 * one may exceed the budget.  The mutator keeps to three rules between slices:
 *
 *   store     while marking, the old value of the field is darkened before it is overwritten
 *   allocate  while marking black; while sweeping black at the cursor and above, white below; the
 *             sweep is told which free block an allocation has cut (sweep_allocated)
 *
 * A new block must survive the cycle (new_allocs of Definition 6) and be white after it.  A header
 * for the same reason as its parts, and so that a collector with more generations can have its
 * major heap be one.
 */
#ifndef ISOHEAP_INCREMENTAL_CYCLE_H
#define ISOHEAP_INCREMENTAL_CYCLE_H

#include "collectors/space/mark.h"
#include "collectors/space/next_fit.h"
#include "collectors/space/sweep.h"

struct cycle {
    struct space space;
    enum gc_phase phase;
    uint64_t begun;
    /* NULL, or to be called when marking is over: what is not black now is dead. */
    void (*marked)(void *context);
    void *context;
};

static inline void cycle_reset(struct cycle *c) {
    c->phase = GC_PHASE_IDLE;
    c->begun = 0;
}

static inline struct gc_cycle cycle_state(const struct cycle *c) {
    return (struct gc_cycle){c->phase, c->begun, c->space.sweep.cursor};
}

/* FAULT_half_snapshot: every other root, now or when marking seems to be over. */
static inline void darken_half(struct space *g, unsigned half) {
    for (unsigned m = 0; m < g->config.mutators; m++)
        for (unsigned s = half; s < GC_SLOTS; s += 2)
            if (is_pointer(g->config.slots[m][s]))
                darken_word(g, &g->config.slots[m][s]);
}

/* Takes the snapshot: from here on every block that can be reached is marked or gray-protected. All
 * slots are darkened at once, since they have no barrier.  Who has other roots darkens these too,
 * and then tells that it has. */
static inline void cycle_darken(struct cycle *c) {
    mark_begin(&c->space);
    if (FAULTY(half_snapshot))
        darken_half(&c->space, 0);
    else
        darken_roots(&c->space);
    c->phase = GC_PHASE_MARK;
    c->begun++;
}

static inline void cycle_begin(struct cycle *c) {
    cycle_darken(c);
    gc_phase_ended(c->space.config.hooks, GC_DARKENED);
}

/* FAULT_entry_borrowed: the entry below the topmost one is off the stack, and white, for a step. */
static inline size_t mark_step_borrowing(struct space *g) {
    struct mark_stack *s = &g->stack;
    if (s->top < 2)
        return mark_step(g);
    word v = s->entries[s->top - 2];
    s->entries[s->top - 2] = s->entries[s->top - 1];
    s->top--;
    set_colour(v, WHITE);
    size_t words = mark_step(g);
    darken(g, v, NULL);
    return words;
}

/* One step of a cycle that is under way.  Returns its words; 0: the cycle is over. */
static inline size_t cycle_step(struct cycle *c) {
    size_t words = 0;
    if (c->phase == GC_PHASE_MARK) {
        words = FAULTY(entry_borrowed) ? mark_step_borrowing(&c->space) : mark_step(&c->space);
        if (words)
            return words;
        if (FAULTY(half_snapshot))
            darken_half(&c->space, 1);
        gc_phase_ended(c->space.config.hooks, GC_MARKED_ALL);
        if (c->marked)
            c->marked(c->context);
        c->phase = GC_PHASE_SWEEP;
        sweep_begin(&c->space);
    }
    words = sweep_step(&c->space);
    if (words == 0) {
        sweep_poison(&c->space);
        c->phase = GC_PHASE_IDLE;
        gc_phase_ended(c->space.config.hooks, GC_SWEPT_ALL);
        c->space.config.hooks->collections++;
    }
    return words;
}

/* Begins a cycle if none is under way, then does steps until they make up `budget` words or the
 * cycle is over. */
static inline void cycle_slice(struct cycle *c, size_t budget) {
    if (c->phase == GC_PHASE_IDLE)
        cycle_begin(c);
    while (FAULTY(endless_slice) && budget == 0)
        gc_tick(c->space.config.hooks);
    while (budget > 0 && c->phase != GC_PHASE_IDLE) {
        size_t words = cycle_step(c);
        budget -= words < budget ? words : budget;
    }
    if (c->phase == GC_PHASE_SWEEP)
        sweep_poison(&c->space); /* the mutator runs now */
    if (FAULTY(stale_cursor) && c->phase == GC_PHASE_SWEEP)
        sweep_remember(&c->space);
    if (FAULTY(overflow_in_slice))
        c->space.stack.overflow = false;
}

/* Ends the cycle that is under way, if one is. */
static inline void cycle_finish(struct cycle *c) {
    while (c->phase != GC_PHASE_IDLE)
        cycle_step(c);
}

/* A whole cycle.  After it exactly the reachable blocks are left. */
static inline void cycle_full(struct cycle *c) {
    bool running = c->phase != GC_PHASE_IDLE;
    cycle_finish(c); /* what became garbage in it is not found by it */
    if (FAULTY(half_full) && running)
        return;
    cycle_begin(c);
    cycle_finish(c);
}

/* The faults of a barrier that writes: the first pointer that is not needed for marking, or the
 * first immediate, of the block that it darkens. */
static inline void barrier_spoils(struct space *g, word v) {
    if (!in_heap(g, v) || header_tag(header_of(v)) >= TAG_LAZY)
        return;
    for (size_t i = 0; i < header_wosize(header_of(v)); i++) {
        word *field = &word_pointer(v)[i];
        if (FAULTY(barrier_rounds) && is_immediate(*field) && *field != WORD_UNIT) {
            *field = WORD_UNIT;
            return;
        }
        if (FAULTY(barrier_severs) && is_pointer(*field) && in_heap(g, *field) &&
            header_colour(header_of(*field)) != WHITE) {
            *field = WORD_UNIT;
            return;
        }
    }
}

/* The deletion barrier: the word at `field` is about to be overwritten. */
static inline void cycle_delete(struct cycle *c, const word *field) {
    word old = *field;
    if (c->phase != GC_PHASE_MARK || FAULTY(no_barrier) || is_immediate(old))
        return;
    darken_word(&c->space, field);
    if (FAULTY(barrier_severs) || FAULTY(barrier_rounds))
        barrier_spoils(&c->space, old);
}

/* Colour of a new block with this header. */
static inline unsigned cycle_colour(const struct cycle *c, const word *hp) {
    switch (c->phase) {
    case GC_PHASE_MARK:
        return FAULTY(white_in_mark) ? WHITE : BLACK;
    case GC_PHASE_SWEEP:
        if (hp >= c->space.sweep.cursor)
            return FAULTY(white_ahead) ? WHITE : BLACK;
        return FAULTY(black_behind) ? BLACK : WHITE;
    default:
        return WHITE;
    }
}

/* A block of wosize fields from the free list, with a header of the right colour and no content;
 * NULL if no free block fits.  Does no work of the cycle. */
static inline word *cycle_cut(struct cycle *c, size_t wosize, unsigned tag) {
    struct fit fit = next_fit(&c->space, wosize);
    if (!fit.hp)
        return NULL;
    if (c->phase == GC_PHASE_SWEEP)
        sweep_allocated(&c->space, fit.prev, fit.block, fit.gone);
    *fit.hp = header_make(wosize, cycle_colour(c, fit.hp), tag);
    return fit.hp;
}

/* The same, but if no free block fits it first finishes the cycle that is under way and does
 * another one. */
static inline word *cycle_alloc(struct cycle *c, size_t wosize, unsigned tag) {
    word *hp = cycle_cut(c, wosize, tag);
    if (!hp && c->phase != GC_PHASE_IDLE) {
        cycle_finish(c);
        hp = cycle_cut(c, wosize, tag);
    }
    if (!hp) {
        cycle_full(c);
        hp = cycle_cut(c, wosize, tag);
    }
    return hp;
}

/* The collector's own invariants; NULL if they hold. */
static inline const char *cycle_check(const struct cycle *c) {
    const struct space *g = &c->space;
    const char *broken = space_check(g, c->phase == GC_PHASE_MARK);
    if (broken || c->phase != GC_PHASE_SWEEP)
        return broken;
    word v = g->first_free, swept = 0;
    for (size_t n = 0; v && n < g->config.heap_words && word_pointer(v) <= g->sweep.cursor; n++) {
        swept = v;
        v = next_free(g, v);
    }
    if (g->sweep.link != (swept ? word_pointer(swept) : &g->first_free))
        return "the sweep does not link behind the last free block below its cursor";
    return NULL;
}

#endif
