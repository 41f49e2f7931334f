/* SPDX-License-Identifier: MIT
 *
 * The reference: a simple copying collector with two semispaces, at the level of words.
 *
 * It follows the move primitive of the CakeML collector (section 3.1 of "A verified generational
 * garbage collector for CakeML") and level L4 of Myreen's "Reusable verification of a copying
 * collector" (Figures 2 and 4): a moved block leaves a forwarding pointer in the place of its
 * header.  What OCaml's layout adds: an infix pointer moves its whole closure and is re-based;
 * no-scan blocks and the words before a closure's environment are copied raw; static blocks and
 * words that point outside the heap are left alone.
 *
 * Being the reference it is written to be read: one block at a time, one word at a time.
 */
#include "collectors/cheney/cheney.h"
#include "collectors/words_copy.h"

#include "collectors/arena.h"
#include "collectors/faults.h"

#include <stdlib.h>

#ifndef ISOHEAP_COLLECTOR
#define ISOHEAP_COLLECTOR cheney
#endif

enum { CAPACITY = 1 << 27 }; /* words of one semispace: address space, not memory */

struct gc {
    struct arena space[2];
    int to;            /* the space that holds the heap; during a collection the to-space */
    word *scan, *free; /* Myreen's i and j: [base, scan) is done, [scan, free) is moved */
    word *limit;       /* end of the space that holds the heap */
    word from_low, to_low, bytes; /* both spaces as addresses, for the tests in `move` */
    struct gc_config config;
};

/* Chooses the space that holds the heap. */
static void flip(struct gc *g, int to) {
    g->to = to;
    g->limit = g->space[to].base + g->config.heap_words;
    g->to_low = pointer_word(g->space[to].base);
    g->from_low = pointer_word(g->space[1 - to].base);
    g->bytes = g->config.heap_words * sizeof(word);
}

/* ---- collection ------------------------------------------------------------------------------ */

/* Copies a block behind `free` and returns its new place; the old header becomes the forwarding
 * pointer (Myreen, mc_move). */
static word copy_block(struct gc *g, word v) {
    word header = header_of(v);
    size_t wosize = header_wosize(header);
    word *from = word_pointer(v), *to = g->free + 1;
    size_t copied =
        FAULTY(raw_short) && header_tag(header) >= TAG_NO_SCAN && wosize > 1 ? wosize - 1 : wosize;
    words_copy(to, from, copied);
    if (FAULTY(object_tag) && header_tag(header) == TAG_OBJECT)
        header -= TAG_OBJECT;
    if (FAULTY(even_size) && wosize % 2 && g->free + wosize + 2 < g->limit) {
        header += (word)1 << 10;
        to[wosize++] = WORD_UNIT;
    }
    to[-1] = header;
    if (!(FAULTY(no_forward) && header_tag(header) >= TAG_NO_SCAN))
        from[-1] = pointer_word(to);
    g->free += wosize + 1;
    return pointer_word(to);
}

/* The move primitive: where the block that v points at lives in to-space.  v stands at `place`. */
static word move(struct gc *g, word v, const word *place) {
    if (is_immediate(v) || v - g->from_low >= g->bytes)
        return v;
    word header = header_of(v);
    /* An infix tag is odd and a forwarding pointer even, so this cannot be a forwarded header. */
    if (header_tag(header) == TAG_INFIX) {
        word parent = infix_parent(v);
        word moved = move(g, parent, place); /* a closure: no further recursion */
        return FAULTY(infix_lost) ? moved : moved + (v - parent);
    }
    /* A header is no address: no block is as large as to-space's address would say. */
    bool forwarded = header - g->to_low < g->bytes;
    word to = forwarded ? header : copy_block(g, v);
    if (!FAULTY(forward_untold) || !forwarded)
        gc_tell(g->config.hooks, forwarded || FAULTY(moved_unseen) ? GC_FORWARDED : GC_MOVED, v,
                place, to);
    return to;
}

/* Moves what the block behind header hp points at; returns the next header. */
static word *scan_block(struct gc *g, word *hp) {
    word v = pointer_word(hp + 1);
    size_t wosize = header_wosize(*hp);
    size_t end = FAULTY(last_field) && wosize > 1 ? wosize - 1 : wosize;
    gc_tell(g->config.hooks, GC_SCANNED, v, NULL, 0);
    word *fields = hp + 1;
    FOR_POINTERS (i, fields, first_scanned(v), end)
        fields[i] = move(g, fields[i], &fields[i]);
    return hp + wosize + 1;
}

/* Myreen's Figure 2, `collector`: flip, move the roots, loop until i = j, cut from-space. */
static void copy_live(struct gc *g) {
    struct gc_hooks *hooks = g->config.hooks;
    flip(g, 1 - g->to);
    struct arena *to = &g->space[g->to], *from = &g->space[1 - g->to];
    hooks->unpoison(to->base, g->config.heap_words);
    g->scan = g->free = to->base;
    for (unsigned m = 0; m < g->config.mutators; m++) {
        word *slots = g->config.slots[m];
        for (unsigned s = 0; s < GC_SLOTS; s++)
            if (is_pointer(slots[s]))
                slots[s] = move(g, slots[s], &slots[s]);
    }
    while (g->scan < g->free) {
        if (!FAULTY(never_ticks))
            gc_tick(hooks);
        g->scan = scan_block(g, g->scan);
    }
    if (!FAULTY(never_poisons)) {
        hooks->poison(g->free, (size_t)(g->limit - g->free));
        if (!FAULTY(from_left))
            hooks->poison(from->base, g->config.heap_words);
    }
    if (FAULTY(overwrites) && g->free > to->base + 2)
        g->free--;
    hooks->collections++;
}

/* ---- the interface --------------------------------------------------------------------------- */

static struct gc *cheney_open(void) {
    struct gc *g = calloc(1, sizeof *g);
    if (!g)
        return NULL;
    if (!arena_open(&g->space[0], CAPACITY)) {
        free(g);
        return NULL;
    }
    if (!arena_open(&g->space[1], CAPACITY)) {
        arena_close(&g->space[0]);
        free(g);
        return NULL;
    }
    return g;
}

static void cheney_close(struct gc *g) {
    arena_close(&g->space[0]);
    arena_close(&g->space[1]);
    free(g);
}

static void cheney_reset(struct gc *g, const struct gc_config *config) {
    g->config = *config;
    flip(g, 0);
    arena_reset(&g->space[0], config->hooks, config->heap_words);
    arena_reset(&g->space[1], config->hooks, config->heap_words);
    g->free = g->space[0].base;
}

static word *cheney_image(struct gc *g, size_t *words) {
    g->config.hooks->unpoison(g->free, *words);
    return g->free;
}

/* Gaps of the image stay where they are until the first collection leaves them behind. */
static void cheney_adopt(struct gc *g, size_t words) {
    g->free += words;
}

static enum gc_result cheney_alloc(struct gc *g, unsigned m, unsigned dst, size_t wosize,
                                   unsigned tag, const word *raw) {
    /* Exactly out of memory (Myreen, section 4): has_space, collect once, has_space. */
    if (wosize >= (size_t)(g->limit - g->free)) {
        copy_live(g);
        size_t room = (size_t)(g->limit - g->free);
        if (FAULTY(strict_limit) ? wosize + 1 >= room
                                 : wosize >= room + (FAULTY(soft_limit) ? 7 : 0))
            return GC_OUT_OF_MEMORY;
    }
    word *hp = g->free;
    g->config.hooks->unpoison(hp, wosize + 1);
    hp[0] = header_make(wosize, WHITE, tag);
    words_copy(hp + 1, raw, wosize);
    g->free = hp + wosize + 1;
    g->config.slots[m][dst] = pointer_word(hp + 1);
    return GC_OK;
}

static enum gc_result cheney_collect(struct gc *g, enum gc_collection kind) {
    (void)kind; /* one generation, always compact: every collection is a full one */
    copy_live(g);
    return GC_OK;
}

static void cheney_walk(struct gc *g, gc_visit *visit, void *context) {
    word *hp = g->space[g->to].base;
    while (hp < g->free) {
        size_t words = header_wosize(*hp) + 1;
        enum gc_extent kind = words == 1                   ? GC_FRAGMENT
                              : header_colour(*hp) == BLUE ? GC_FREE
                                                           : GC_LIVE;
        visit(context, kind, hp, words);
        hp += words;
    }
    if (hp < g->limit)
        visit(context, GC_UNUSED, hp, (size_t)(g->limit - hp));
}

const struct collector ISOHEAP_COLLECTOR = {
    .name = COLLECTOR_NAME,
    .summary = "two semispaces, copying (Cheney); the reference",
    .traits = {.moves = true,
               .infix = true,
               .start_env = true,
               .raw = true,
               .outside = true,
               .any_word = true,
               .atoms = true,
               .poisons = true,
               .ticks = true,
               .linear = 1,
               .waits = true,
               .steady = true,
               .tells = GC_TELLS(GC_SCANNED) | GC_TELLS(GC_MOVED) | GC_TELLS(GC_FORWARDED),
               .shallow = true,
               .whitens = true,
               .renews = true,
               .full_until_exact = 1,
               .refusal = REFUSES_EXACTLY,
               .max_mutators = GC_MUTATORS},
    .open = cheney_open,
    .reset = cheney_reset,
    .close = cheney_close,
    .image = cheney_image,
    .adopt = cheney_adopt,
    .alloc = cheney_alloc,
    .collect = cheney_collect,
    .walk = cheney_walk,
};
