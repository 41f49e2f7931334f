/* SPDX-License-Identifier: MIT
 *
 * The young generation of the generational collector: two halves, the remembered set, promotion.
 *
 * New blocks are bumped into one half.  A minor collection copies what roots and remembered fields
 * reach: into the old generation what is old enough, into the other half what is not, or what the
 * old generation has no room for, so that a minor collection never fails.  OCaml 4 promotes at
 * once (promotion age 0); ages are the long OCaml paper's section 2 generalised.
 *
 * The nursery knows of the old generation only what struct major says.
 */
#ifndef ISOHEAP_NURSERY_H
#define ISOHEAP_NURSERY_H

#include "collectors/collector.h"
#include "collectors/faults.h"
#include "collectors/words_copy.h"

#include <stdlib.h>
#include <string.h>

enum { NURSERY_WORDS = 4096 }; /* the largest of the input language */

/* What a nursery asks of the old generation. */
struct major {
    /* Header of a new block with that header word, fields not written; NULL if no free block is
     * large enough.  Never collects. */
    word *(*alloc)(void *heap, word header);
    void *heap;
    word low, bytes; /* its heap as addresses */
};

/* A field of an old block that may point at a young one: an entry of the remembered set. */
struct remembered {
    word block;
    uint32_t field;
};

struct nursery {
    struct major major;
    const struct gc_config *config;
    word *base; /* two halves of half_words words each, after the old generation */
    size_t half_words;
    unsigned half;      /* the one in use */
    word *free, *limit; /* where the next block goes; end of the half */
    bool all_at_once;   /* this minor collection promotes blocks of every age */

    size_t n_remembered, n_promoted;
    size_t old_words;                 /* of the largest old heap so far: for it there is memory */
    struct remembered *remembered;    /* each field at most once: `recorded` */
    uint64_t *recorded;               /* a bit for each word of the old heap */
    word promoted[NURSERY_WORDS / 2]; /* blocks whose fields have still to be looked at */
    uint8_t age[2 * NURSERY_WORDS];   /* minor collections survived, of the block there */
};

/* Does v point into the nursery? */
static inline bool is_young(const struct nursery *n, word v) {
    return (is_pointer(v) || FAULTY(integer_recorded)) &&
           v - pointer_word(n->base) < 2 * n->half_words * sizeof(word);
}
static inline bool is_old(const struct nursery *n, word v) {
    return is_pointer(v) && v - n->major.low < n->major.bytes;
}

/* The first header of the half in use; `free` ends its blocks. */
static inline word *half_start(const struct nursery *n) {
    return n->base + n->half * n->half_words;
}

/* ---- life and allocation --------------------------------------------------------------------- */

static inline void choose_half(struct nursery *n, unsigned half) {
    n->half = half;
    n->free = n->base + half * n->half_words;
    n->limit = n->free + n->half_words;
}

static inline void nursery_close(struct nursery *n) {
    free(n->remembered);
    free(n->recorded);
    n->remembered = NULL;
    n->recorded = NULL;
    n->old_words = 0;
}

/* A field of an old block may be anywhere: memory for all of them, which costs nothing before it is
 * written.  False if the system refuses. */
static inline bool nursery_room(struct nursery *n, size_t old_words) {
    if (old_words <= n->old_words)
        return true;
    nursery_close(n);
    n->remembered = calloc(old_words, sizeof *n->remembered);
    n->recorded = calloc(old_words / 64 + 1, sizeof *n->recorded);
    if (!n->remembered || !n->recorded)
        return false;
    n->old_words = old_words;
    return true;
}

/* After nursery_room. */
static inline void nursery_reset(struct nursery *n, const struct gc_config *config, word *base,
                                 struct major major) {
    n->major = major;
    n->config = config;
    n->base = base;
    n->half_words = config->nursery_words;
    n->n_remembered = n->n_promoted = 0;
    memset(n->recorded, 0, (config->heap_words / 64 + 1) * sizeof *n->recorded);
    choose_half(n, 0);
}

/* Header of a new young block, fields not written; NULL if the half has no room.  Never collects.
 */
static inline word *nursery_alloc(struct nursery *n, size_t wosize, unsigned tag) {
    word *hp = n->free;
    size_t room = (size_t)(n->limit - hp);
    gc_note_fill(n->config->hooks, GC_FILL_NURSERY,
                 n->half_words - room + wosize + !FAULTY(nursery_noted));
    if (wosize >= room)
        return NULL;
    n->config->hooks->unpoison(hp, wosize + 1);
    *hp = header_make(wosize, WHITE, tag);
    n->age[hp - n->base] = 0;
    n->free = hp + wosize + 1;
    return hp;
}

/* ---- remembered set -------------------------------------------------------------------------- */

static inline bool is_recorded(const struct nursery *n, size_t at) {
    return n->recorded[at / 64] >> at % 64 & 1;
}

static inline size_t field_index(const struct nursery *n, word block, size_t i) {
    return (block - n->major.low) / sizeof(word) + i;
}

static inline void remember(struct nursery *n, word block, size_t i) {
    size_t at = field_index(n, block, i);
    if (is_recorded(n, at) && (!FAULTY(recorded_again) || n->n_remembered == n->old_words))
        return;
    n->recorded[at / 64] |= (uint64_t)1 << at % 64;
    n->remembered[n->n_remembered++] = (struct remembered){block, (uint32_t)i};
}

static inline void nursery_barrier(struct nursery *n, word block, size_t i, word value) {
    if (is_old(n, block) && is_young(n, value) && !FAULTY(unrecorded_store))
        remember(n, block, i);
}

/* Keeps the entries that still lead from an old block to a young one; if keep is given, only those
 * of old blocks for which it returns true. */
static inline void nursery_forget(struct nursery *n, bool keep(word block)) {
    size_t kept = 0;
    for (size_t e = 0; e < n->n_remembered; e++) {
        struct remembered *entry = &n->remembered[e];
        size_t at = field_index(n, entry->block, entry->field);
        if ((!keep || keep(entry->block)) && is_young(n, word_pointer(entry->block)[entry->field]))
            n->remembered[kept++] = *entry;
        else
            n->recorded[at / 64] &= ~((uint64_t)1 << at % 64);
    }
    n->n_remembered = kept;
}

/* ---- minor collection ------------------------------------------------------------------------ */

static inline bool is_old_enough(const struct nursery *n, unsigned age) {
    if (FAULTY(promotes_all) || FAULTY(stays_young))
        return FAULTY(promotes_all);
    return age >= n->config->promotion_age;
}

/* A place for a block of the half that is being left. */
static inline word *place(struct nursery *n, const word *from) {
    unsigned age = n->age[from - n->base];
    word header = *from, *to = NULL;
    size_t wosize = header_wosize(header);
    if (n->all_at_once || is_old_enough(n, age))
        to = n->major.alloc(n->major.heap, header);
    if (to) {
        n->promoted[n->n_promoted++] = pointer_word(to + 1);
        return to;
    }
    to = n->free;
    n->config->hooks->unpoison(to, wosize + 1);
    *to = header;
    n->age[to - n->base] = (uint8_t)(age < UINT8_MAX ? age + 1 : age);
    n->free += wosize + 1;
    return to;
}

/* Where the block lives now that v, the word at `at`, pointed at before; the old header becomes 0
 * and field 0 the forwarding pointer, as in OCaml 4: no block of the language has the header 0. */
static inline word forward(struct nursery *n, word v, const word *at) {
    const word *left = n->base + (1 - n->half) * n->half_words; /* the half that is being left */
    if (is_immediate(v) || v - pointer_word(left) >= n->half_words * sizeof(word))
        return v;
    word header = header_of(v);
    if (header == 0) {
        gc_tell(n->config->hooks, GC_FORWARDED, v, at, *word_pointer(v));
        return *word_pointer(v);
    }
    if (header_tag(header) == TAG_INFIX) {
        word parent = infix_parent(v);
        word moved = forward(n, parent, at); /* a closure: no further recursion */
        return FAULTY(young_infix_lost) ? moved : moved + (v - parent);
    }
    word *from = word_pointer(v) - 1, *to = place(n, from);
    words_copy(to + 1, from + 1, header_wosize(header));
    from[0] = 0;
    from[1] = pointer_word(to + 1);
    gc_tell(n->config->hooks, GC_MOVED, v, at, from[1]);
    return from[1];
}

static inline void forward_word(struct nursery *n, word *at) {
    *at = forward(n, *at, at);
}

static inline size_t first_forwarded(word v) {
    bool raw = header_tag(header_of(v)) >= TAG_NO_SCAN;
    return FAULTY(raw_forwarded) && raw ? 0 : first_scanned(v);
}

static inline void forward_fields(struct nursery *n, word v) {
    for (size_t i = first_forwarded(v); i < header_wosize(header_of(v)); i++)
        forward_word(n, &word_pointer(v)[i]);
}

/* FAULT_integer_recorded: the lowest bit of a recorded word is not looked at. */
static inline word taken_for_left(const struct nursery *n, word v) {
    const word *left = n->base + (1 - n->half) * n->half_words;
    word even = v & ~(word)1;
    bool inside = even - pointer_word(left) < n->half_words * sizeof(word);
    return FAULTY(integer_recorded) && inside ? even : v;
}

/* Roots of a minor collection: every slot, and every remembered field of an old block. */
static inline void forward_roots(struct nursery *n) {
    for (unsigned m = 0; m < n->config->mutators; m++)
        for (unsigned s = 0; s < GC_SLOTS; s++)
            forward_word(n, &n->config->slots[m][s]);
    for (size_t e = 0; e < n->n_remembered; e++) {
        word *at = &word_pointer(n->remembered[e].block)[n->remembered[e].field];
        *at = forward(n, taken_for_left(n, *at), at);
    }
}

/* Fields of a promoted block that point at a block which stayed young. */
static inline void remember_fields(struct nursery *n, word v) {
    for (size_t i = first_scanned(v); i < header_wosize(header_of(v)); i++)
        if (is_young(n, word_pointer(v)[i]) && !FAULTY(promoted_unrecorded))
            remember(n, v, i);
}

/* Looks at the fields of all blocks that have moved, until no new one moves. */
static inline void forward_rest(struct nursery *n, word *scan) {
    for (size_t looked = 0; scan < n->free || looked < n->n_promoted;) {
        gc_tick(n->config->hooks);
        if (looked < n->n_promoted) {
            if (!FAULTY(promoted_unscanned))
                forward_fields(n, n->promoted[looked]);
            looked++;
            continue;
        }
        forward_fields(n, pointer_word(scan + 1));
        scan += header_wosize(*scan) + 1;
    }
}

static inline void tell_minor(struct gc_hooks *hooks, bool before) {
    if (hooks->minor && !FAULTY(minor_untold))
        hooks->minor(hooks, before);
}

static inline void nursery_collect(struct nursery *n, bool all) {
    struct gc_hooks *hooks = n->config->hooks;
    word *left = half_start(n);
    const word *used = n->free;
    tell_minor(hooks, true);
    n->all_at_once = all;
    n->n_promoted = 0;
    choose_half(n, 1 - n->half);
    word *scan = n->free;
    if (FAULTY(minor_keeps) && used > left)
        forward(n, pointer_word(left + 1), NULL);
    if (FAULTY(minor_writes) && header_wosize(word_pointer(n->major.low)[0]) == 3 &&
        is_immediate(word_pointer(n->major.low)[1]))
        word_pointer(n->major.low)[1] = WORD_UNIT;
    forward_roots(n);
    forward_rest(n, scan);
    nursery_forget(n, NULL);
    for (size_t p = 0; p < n->n_promoted; p++)
        remember_fields(n, n->promoted[p]);
    n->n_promoted = 0;
    hooks->poison(left, n->half_words);
    hooks->collections++;
    tell_minor(hooks, false);
}

static inline void walk_half(const struct nursery *n, unsigned half, gc_visit *visit,
                             void *context) {
    const word *hp = n->base + half * n->half_words, *end = hp + n->half_words;
    while (half == n->half && hp < n->free) {
        size_t words = header_wosize(*hp) + 1;
        visit(context, GC_LIVE, hp, words);
        hp += words;
    }
    if (hp < end)
        visit(context, GC_UNUSED, hp, (size_t)(end - hp));
}

static inline void nursery_walk(const struct nursery *n, gc_visit *visit, void *context) {
    walk_half(n, 0, visit, context);
    walk_half(n, 1, visit, context);
}

#endif
