/* SPDX-License-Identifier: MIT
 *
 * The mark stack: gray blocks that are still to be scanned.
 *
 * The papers' stack is as large as the heap and never full (long OCaml paper, 6.3); a smaller one
 * is future work there (section 10).  When a smaller one is full there are three answers:
 *
 *   OVERFLOW_DROP    the block stays gray off the stack, and the whole heap is scanned again
 *   OVERFLOW_RANGE   the same, and only the addresses between the lowest and the highest dropped
 *                    block are scanned again
 *   OVERFLOW_CHUNKS  another chunk of the same size is linked on top; nothing is ever dropped
 */
#ifndef ISOHEAP_MARK_STACK_H
#define ISOHEAP_MARK_STACK_H

#include "collectors/arena.h"
#include "collectors/faults.h"

enum overflow { OVERFLOW_DROP, OVERFLOW_RANGE, OVERFLOW_CHUNKS, OVERFLOWS };

struct mark_stack {
    struct arena arena; /* of its own: overruns are reports */
    struct gc_hooks *hooks;
    enum overflow policy;
    word *entries; /* the stack; of several chunks the topmost one */
    size_t size;   /* entries of the stack or of a chunk */
    size_t top;    /* entries in use, of the topmost chunk */
    size_t noted;  /* FAULT_small_table: blocks since stack_clear */
    /* Chunks: the word before the entries names the chunk below, NULL at the bottom. */
    word *spare; /* one empty chunk, so that a stack at its edge does not take and give back */
    word *free_chunks;
    size_t chunks; /* ever made since the last reset */
    /* Dropped: */
    bool overflow;
    word *first, *last; /* lowest and highest header */
};

/* ---- chunks ----------------------------------------------------------------------------------
 */

static inline word *chunk_below(const word *entries) {
    return word_pointer(entries[-1]);
}

/* A chunk of its own, or one that has been given back. */
static inline word *chunk_take(struct mark_stack *s) {
    word *entries = s->spare;
    if (entries) {
        s->spare = NULL;
        return entries;
    }
    entries = s->free_chunks;
    if (entries) {
        s->free_chunks = chunk_below(entries);
    } else {
        entries = s->arena.base + s->chunks++ * (s->size + 1) + 1;
        s->hooks->unpoison(entries - 1, 1);
    }
    s->hooks->unpoison(entries, s->size);
    return entries;
}

static inline void chunk_give_back(struct mark_stack *s, word *entries) {
    if (!s->spare) {
        s->spare = entries;
        return;
    }
    s->hooks->poison(entries, s->size);
    entries[-1] = pointer_word(s->free_chunks);
    s->free_chunks = entries;
}

static inline void chunk_enter(struct mark_stack *s) {
    word *entries = chunk_take(s);
    entries[-1] = FAULTY(lost_chunk) ? 0 : pointer_word(s->entries);
    s->entries = entries;
    s->top = 0;
}

/* False at the bottom. */
static inline bool chunk_leave(struct mark_stack *s) {
    word *below = chunk_below(s->entries);
    if (!below)
        return false;
    chunk_give_back(s, s->entries);
    s->entries = below;
    s->top = s->size;
    return true;
}

/* ---- the stack -------------------------------------------------------------------------------
 */

static inline bool stack_is_empty(const struct mark_stack *s) {
    return s->top == 0 && (s->policy != OVERFLOW_CHUNKS || !chunk_below(s->entries));
}

/* Before a cycle. */
static inline void stack_clear(struct mark_stack *s) {
    s->noted = 0;
    while (s->policy == OVERFLOW_CHUNKS && chunk_leave(s))
        ;
    s->top = 0;
    s->overflow = false;
}

/* config->mark_stack entries, or as many as the heap has words. */
static inline void stack_reset(struct mark_stack *s, enum overflow policy,
                               const struct gc_config *config) {
    s->hooks = config->hooks;
    s->policy = policy;
    s->size = config->mark_stack ? config->mark_stack : config->heap_words;
    s->top = s->chunks = 0;
    s->overflow = false;
    s->spare = s->free_chunks = NULL;
    size_t words = s->size;
    if (policy == OVERFLOW_CHUNKS) /* every block may be on it: chunks for all, and the spare one */
        words = (config->heap_words / 2 / s->size + 3) * (s->size + 1);
    arena_reset(&s->arena, s->hooks, words);
    s->entries = s->arena.base;
    if (policy == OVERFLOW_CHUNKS) {
        s->entries = chunk_take(s);
        s->entries[-1] = 0;
    } else {
        s->hooks->unpoison(s->entries, s->size);
    }
}

/* v is gray, and stays so: a re-scan will find it. */
static inline void stack_drop(struct mark_stack *s, word v) {
    word *hp = word_pointer(v) - 1;
    if (!s->overflow)
        s->first = s->last = hp;
    if (hp < s->first)
        s->first = hp;
    if (hp > s->last && !FAULTY(short_range))
        s->last = hp;
    s->overflow = true;
    if (!FAULTY(aside_untold))
        gc_tell(s->hooks, GC_SET_ASIDE, v, NULL, 0);
}

static inline void stack_push(struct mark_stack *s, word v) {
    gc_note_fill(s->hooks, GC_FILL_MARK_STACK, s->top + !FAULTY(fill_short));
    if (s->top == s->size) {
        if (s->policy == OVERFLOW_CHUNKS) {
            chunk_enter(s);
        } else {
            if (!FAULTY(lost_overflow))
                stack_drop(s, v);
            return;
        }
    }
    s->entries[s->top++] = v;
}

/* Each entry, from the topmost one on. */
static inline void stack_visit(const struct mark_stack *s, gc_visit_gray *visit, void *context) {
    const word *entries = s->entries;
    for (size_t n = s->top; entries; n = s->size) {
        while (n > 0)
            visit(context, word_pointer(entries[--n]) - 1, NULL);
        entries = s->policy == OVERFLOW_CHUNKS ? chunk_below(entries) : NULL;
    }
}

/* The topmost entry; 0 if there is none. */
static inline word stack_pop(struct mark_stack *s) {
    if (s->top == 0 && (s->policy != OVERFLOW_CHUNKS || !chunk_leave(s)))
        return 0;
    return s->entries[--s->top];
}

#endif
