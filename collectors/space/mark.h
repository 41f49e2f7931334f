/* SPDX-License-Identifier: MIT
 *
 * Mark, one step at a time: mark_body of the long OCaml paper in its three versions (Figures 8 to
 * 10), with the re-scan after an overflow of the mark stack.
 */
#ifndef ISOHEAP_MARK_H
#define ISOHEAP_MARK_H

#include "collectors/space/space.h"

static inline void set_colour(word v, unsigned colour) {
    word *hp = word_pointer(v) - 1;
    *hp = header_recolour(*hp, colour);
}

static inline void tell_marked(const struct space *g, word v, const word *place) {
    bool slot = place >= g->config.slots[0] && place < g->config.slots[g->config.mutators];
    if (!FAULTY(mark_untold) || slot)
        gc_tell(g->config.hooks, GC_MARKED, v, FAULTY(mark_misplaced) ? place + 1 : place, 0);
}
static inline void tell_scanned(const struct space *g, word v) {
    if (!FAULTY(scan_untold) || header_tag(header_of(v)) < TAG_NO_SCAN)
        gc_tell(g->config.hooks, GC_SCANNED, v, NULL, 0);
}

/* FAULT_deep_mark: not on the mark stack, but on the machine's.  From the last field to the first,
 * so that all of a list is under way at once. */
static inline void darken_word(struct space *, const word *place);
static inline size_t scan_start(const struct space *, word v);
static inline void mark_deep(struct space *g, word v) {
    enum { FRAME = 128 }; /* pointers that a call takes down before it follows them */
    const word *waiting[FRAME];
    size_t n = 0, wosize = header_wosize(header_of(v));
    gc_tick(g->config.hooks);
    set_colour(v, BLACK);
    for (size_t i = scan_start(g, v); i < wosize; i++) {
        if (is_pointer(word_pointer(v)[i]))
            waiting[n++] = &word_pointer(v)[i];
        for (bool full = n == FRAME || i + 1 == wosize; full && n > 0;)
            darken_word(g, waiting[--n]);
    }
}

/* The faults about no-scan blocks: gray and on no stack, or black and on it. */
static inline bool darken_raw(struct space *g, word v) {
    if (!(FAULTY(raw_unpushed) || FAULTY(raw_pushed_black)) ||
        header_tag(header_of(v)) < TAG_NO_SCAN)
        return false;
    set_colour(v, FAULTY(raw_unpushed) ? GRAY : BLACK);
    if (FAULTY(raw_pushed_black))
        stack_push(&g->stack, v);
    return true;
}

/* FAULT_small_table: each block has an entry in a table of what a collection has marked, and there
 * are so many of them. */
#ifndef MARK_TABLE
#define MARK_TABLE 10000
#endif

/* darken_helper: white blocks become gray and go on the stack. */
static inline void darken(struct space *g, word v, const word *place) {
    if (FAULTY(pushed_twice) && header_colour(header_of(v)) == GRAY)
        stack_push(&g->stack, v);
    if (header_colour(header_of(v)) != WHITE)
        return;
    if (FAULTY(small_table) && g->stack.noted++ >= MARK_TABLE)
        return;
    if (FAULTY(deep_mark)) {
        mark_deep(g, v);
        return;
    }
    if (darken_raw(g, v))
        return;
    set_colour(v, GRAY);
    tell_marked(g, v, place);
    stack_push(&g->stack, v);
}

/* FAULT_infix_popped: an infix root goes on the stack as it is, for the branch that the short
 * paper's Figure 4 has for it.  True: it was one. */
static inline bool push_infix(struct space *g, const word *place) {
    bool slot = place >= g->config.slots[0] && place < g->config.slots[g->config.mutators];
    if (!slot || g->version != MARK_CLOSURES || header_tag(header_of(*place)) != TAG_INFIX)
        return false;
    if (header_colour(header_of(*place)) == WHITE) {
        set_colour(*place, GRAY);
        stack_push(&g->stack, *place);
    }
    return true;
}
static inline void darken_environment(struct space *, word v);

/* darken_body: the block that the even word at `place` points at, of an infix pointer the closure
 * around it. */
static inline void darken_word(struct space *g, const word *place) {
    word v = *place;
    if (!in_heap(g, v) && !FAULTY(follows_code))
        return;
    if (FAULTY(infix_popped) && push_infix(g, place))
        return;
    if (g->version == MARK_CLOSURES && header_tag(header_of(v)) == TAG_INFIX)
        v = infix_parent(v);
    darken(g, v, place);
}

/* First field to scan: darken_wrapper, in the three versions of mark. */
static inline size_t scan_start(const struct space *g, word v) {
    if (FAULTY(follows_code) && header_tag(header_of(v)) == TAG_CLOSURE)
        return 0;
    if (FAULTY(raw_marked) && header_tag(header_of(v)) >= TAG_NO_SCAN)
        return 0;
    return g->version == MARK_BASE ? 0 : first_scanned(v);
}

/* FAULT_gray_searched: as if nothing told where the gray block is. */
static inline void search_gray(struct space *g, word v) {
    for (word *hp = g->heap.base; hp + 1 < word_pointer(v); hp += header_wosize(*hp) + 1)
        gc_tick(g->config.hooks);
}

/* FAULT_late_field: without the last field. */
static inline size_t mark_but_last(struct space *g, word v) {
    size_t wosize = header_wosize(header_of(v));
    set_colour(v, BLACK);
    for (size_t i = scan_start(g, v); i + 1 < wosize; i++)
        if (is_pointer(word_pointer(v)[i]))
            darken_word(g, &word_pointer(v)[i]);
    gc_tick(g->config.hooks);
    return wosize + 1;
}

/* mark_body: the block turns black, what it points at turns gray.  Returns its words. */
static inline size_t mark_block(struct space *g, word v) {
    size_t wosize = header_wosize(header_of(v));
    if (FAULTY(late_field))
        return mark_but_last(g, v);
    if (FAULTY(pushed_twice) && header_colour(header_of(v)) == BLACK)
        wosize = 0;
    if (FAULTY(infix_popped) && header_tag(header_of(v)) == TAG_INFIX) {
        darken_environment(g, v);
        return 1;
    }
    set_colour(v, BLACK);
    tell_scanned(g, v);
    for (size_t i = scan_start(g, v); i < wosize; i++) {
        const word *field = &word_pointer(v)[i];
        if (is_pointer(*field))
            darken_word(g, field);
    }
    if (FAULTY(mark_writes) && wosize == 3 && header_tag(header_of(v)) < TAG_LAZY)
        word_pointer(v)[0] = WORD_UNIT;
    if (FAULTY(gray_searched))
        search_gray(g, v);
    if (!FAULTY(scan_unticked))
        gc_tick(g->config.hooks);
    return wosize + 1;
}

/* FAULT_infix_root, as in the published glue: the infix header turns black and the environment of
 * its closure is scanned; nobody colours the closure. */
static inline bool is_infix(const struct space *g, word v) {
    return is_pointer(v) && in_heap(g, v) && g->version == MARK_CLOSURES &&
           header_tag(header_of(v)) == TAG_INFIX;
}
static inline void darken_environment(struct space *g, word v) {
    word parent = infix_parent(v);
    set_colour(v, BLACK);
    for (size_t i = first_scanned(parent); i < header_wosize(header_of(parent)); i++)
        if (is_pointer(word_pointer(parent)[i]))
            darken_word(g, &word_pointer(parent)[i]);
}

/* The closure of an infix root is found here, as the runtime must: in the verified collector infix
 * blocks never reach the mark stack. */
static inline void darken_roots(struct space *g) {
    for (unsigned m = 0; m < g->config.mutators; m++) {
        const word *slots = g->config.slots[m];
        for (unsigned s = 0; s < GC_SLOTS; s++)
            if (FAULTY(infix_root) && is_infix(g, slots[s]))
                darken_environment(g, slots[s]);
            else if (is_pointer(slots[s]))
                darken_word(g, &slots[s]);
    }
}

/* FAULT_static_painted: of what slots lead to, and what has an address that can be one. */
static inline void whiten_statics(struct space *g) {
    for (unsigned s = 0; s < GC_SLOTS; s++) {
        word v = g->config.slots[0][s];
        if (is_pointer(v) && !in_heap(g, v) && v % sizeof v == 0 && v >> 47 == 0)
            set_colour(v, WHITE);
    }
}

/* FAULT_atom_painted: what a slot leads to and has no field.  FAULT_end_taken: the address behind
 * the last word is one of the heap. */
static inline void darken_too_much(struct space *g) {
    for (unsigned s = 0; s < GC_SLOTS; s++) {
        word v = g->config.slots[0][s];
        if (FAULTY(end_taken) && v == pointer_word(g->end))
            darken(g, v, &g->config.slots[0][s]);
        if (FAULTY(atom_painted) && is_pointer(v) && !in_heap(g, v) && v % sizeof v == 0 &&
            v >> 47 == 0 && v >> 16 && header_wosize(header_of(v)) == 0)
            set_colour(v, GRAY);
    }
}

/* To be called before the roots are darkened. */
static inline void mark_begin(struct space *g) {
    stack_clear(&g->stack);
    g->rescan = g->rescan_end;
    if (FAULTY(static_painted))
        whiten_statics(g);
    if (FAULTY(atom_painted) || FAULTY(end_taken))
        darken_too_much(g);
}

/* Looks at one header of the re-scan; a gray block there, which is not on the stack, is marked
 * from. */
static inline size_t rescan_step(struct space *g) {
    word *hp = g->rescan;
    gc_tick(g->config.hooks);
    g->rescan = hp + header_wosize(*hp) + 1;
    return header_colour(*hp) == GRAY ? mark_block(g, pointer_word(hp + 1)) : 1;
}

/* After an overflow there are gray blocks that are not on the stack: begins the next pass over the
 * addresses where they may be.  Blocks that are dropped during a pass are found by another one. */
static inline void rescan_begin(struct space *g) {
    bool range = g->stack.policy == OVERFLOW_RANGE;
    g->rescan = range ? g->stack.first : g->heap.base;
    g->rescan_end = range ? g->stack.last + 1 : g->end;
    if (!FAULTY(endless_rescan))
        g->stack.overflow = false;
}

/* What is gray: on the stack, or in what is still to be scanned again for what it had no room for.
 */
static inline void mark_visit_gray(const struct space *g, gc_visit_gray *visit, void *context) {
    const struct mark_stack *s = &g->stack;
    bool range = s->policy == OVERFLOW_RANGE;
    stack_visit(s, visit, context);
    if (g->rescan < g->rescan_end)
        visit(context, g->rescan, g->rescan_end);
    if (s->overflow)
        visit(context, range ? s->first : g->heap.base, range ? s->last + 1 : g->end);
}

/* One step of mark: a block, or one header of a re-scan.  Returns the words that it looked at; 0:
 * no block is gray any more. */
static inline size_t mark_step(struct space *g) {
    word v = stack_pop(&g->stack);
    if (v)
        return mark_block(g, v);
    if (g->rescan >= g->rescan_end) {
        if (!g->stack.overflow)
            return 0;
        rescan_begin(g);
    }
    return rescan_step(g);
}

#endif
