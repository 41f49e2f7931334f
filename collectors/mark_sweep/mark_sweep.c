/* SPDX-License-Identifier: MIT
 *
 * The subject: the stop-the-world mark-and-sweep collector of "A Mechanically Verified Garbage
 * Collector for OCaml" (long and short version), and the glue that a runtime puts around it.
 *
 * The heap is one contiguous run of words.  Mark has an explicit stack and three versions (long
 * paper, Figures 8 to 10); sweep is the long paper's Figure 11 (no coalescing) or the short paper's
 * Figure 5 (coalescing).  A config variant chooses.  The allocator is next-fit over the free list
 * with splitting from the high end; a rest of one word becomes a fragment, which a coalescing sweep
 * absorbs again.  The mark stack is bounded: what it drops stays gray and a re-scan of the heap
 * finds it (the papers' stated limitation; a stack as large as the heap is the other setting).
 */
#include "collectors/mark_sweep/mark_sweep.h"

#include "collectors/arena.h"
#include "collectors/faults.h"

#include <stdlib.h>
#include <string.h>

#ifndef ISOHEAP_COLLECTOR
#define ISOHEAP_COLLECTOR mark_sweep
#endif
#define STRING_(x) #x
#define STRING(x)  STRING_(x)

enum { CAPACITY = 1 << 25 }; /* words of the heap and of the stack: address space, not memory */

/* How much mark knows of OCaml's layout. */
enum mark_version { MARK_CLOSURES, MARK_NO_SCAN, MARK_BASE };

static const char *const variants[] = {"closures, coalescing",
                                       "closures, plain sweep",
                                       "no-scan, coalescing",
                                       "no-scan, plain sweep",
                                       "base, coalescing",
                                       "base, plain sweep",
                                       NULL};
enum { VARIANTS = 6 };

struct gc {
    struct arena heap, stack; /* the mark stack has an arena of its own: overruns are reports */
    struct gc_config config;
    word low, bytes; /* the heap as addresses */
    word *end;
    enum mark_version version;
    bool coalesce;

    size_t stack_size, stack_top;
    bool overflow; /* a block was grayed that the stack had no room for */

    /* The free list: blue blocks in address order, linked by field 0, ended by 0.  A block is named
     * by its value (the address of field 0); 0 names the head. */
    word first_free;
    word rover; /* next-fit: the search starts behind this one */
};

static inline bool in_heap(const struct gc *g, word v) {
    return v - g->low < g->bytes;
}
static inline void set_colour(word v, unsigned colour) {
    word *hp = word_pointer(v) - 1;
    *hp = header_recolour(*hp, colour);
}

/* ---- mark ------------------------------------------------------------------------------------ */

static inline void push(struct gc *g, word v) {
    gc_note_fill(g->config.hooks, GC_FILL_MARK_STACK, g->stack_top + 1);
    if (g->stack_top == g->stack_size && !FAULTY(lost_overflow)) {
        g->overflow = true; /* v is gray: the re-scan will find it */
        gc_tell(g->config.hooks, GC_SET_ASIDE, v, NULL, 0);
        return;
    }
    if (g->stack_top < g->stack_size)
        g->stack.base[g->stack_top++] = v;
}

/* darken_helper: white blocks become gray and go on the stack. */
static inline void darken(struct gc *g, word v, const word *place) {
    if (header_colour(header_of(v)) != WHITE)
        return;
    set_colour(v, GRAY);
    gc_tell(g->config.hooks, GC_MARKED, v, place, 0);
    push(g, v);
}

/* darken_body: the block that the even word at `place` points at, of an infix pointer the closure
 * around it. */
static inline void darken_word(struct gc *g, const word *place) {
    word v = *place;
    if (!in_heap(g, v) && !FAULTY(follows_code))
        return;
    if (g->version == MARK_CLOSURES && header_tag(header_of(v)) == TAG_INFIX)
        v = infix_parent(v);
    darken(g, v, place);
}

/* First field to scan: darken_wrapper, in the three versions of mark. */
static inline size_t scan_start(const struct gc *g, word v) {
    if (FAULTY(follows_code) && header_tag(header_of(v)) == TAG_CLOSURE)
        return 0;
    return g->version == MARK_BASE ? 0 : first_scanned(v);
}

/* mark_body: the block turns black, what it points at turns gray. */
static void mark_block(struct gc *g, word v) {
    size_t wosize = header_wosize(header_of(v));
    gc_tick(g->config.hooks);
    set_colour(v, BLACK);
    gc_tell(g->config.hooks, GC_SCANNED, v, NULL, 0);
    for (size_t i = scan_start(g, v); i < wosize; i++) {
        const word *field = &word_pointer(v)[i];
        if (is_pointer(*field))
            darken_word(g, field);
    }
    if (FAULTY(mark_writes) && wosize == 3 && header_tag(header_of(v)) < TAG_LAZY)
        word_pointer(v)[0] = WORD_UNIT;
}

static void mark_from_stack(struct gc *g) {
    size_t bottom = FAULTY(stack_not_empty) && g->stack_size > 2 ? 1 : 0;
    while (g->stack_top > bottom)
        mark_block(g, g->stack.base[--g->stack_top]);
    if (bottom && g->stack_top == 1) /* the entry stays, though its block is done */
        mark_block(g, g->stack.base[0]);
}

/* After an overflow every gray block of the heap is off the stack: mark from each in turn. */
static void mark_again(struct gc *g) {
    while (g->overflow) {
        if (!FAULTY(endless_rescan))
            g->overflow = false;
        for (word *hp = g->heap.base; hp < g->end; hp += header_wosize(*hp) + 1) {
            gc_tick(g->config.hooks);
            if (header_colour(*hp) == GRAY) {
                mark_block(g, pointer_word(hp + 1));
                mark_from_stack(g);
            }
        }
    }
}

/* FAULT_infix_root, as in the published glue: the infix header turns black and the environment of
 * its closure is scanned; nobody colours the closure. */
static bool is_infix(const struct gc *g, word v) {
    return is_pointer(v) && in_heap(g, v) && g->version == MARK_CLOSURES &&
           header_tag(header_of(v)) == TAG_INFIX;
}
static void darken_environment(struct gc *g, word v) {
    word parent = infix_parent(v);
    set_colour(v, BLACK);
    for (size_t i = first_scanned(parent); i < header_wosize(header_of(parent)); i++)
        if (is_pointer(word_pointer(parent)[i]))
            darken_word(g, &word_pointer(parent)[i]);
}

/* The closure of an infix root is found here, as the runtime must: in the verified collector infix
 * blocks never reach the mark stack. */
static void darken_roots(struct gc *g) {
    for (unsigned m = 0; m < g->config.mutators; m++) {
        const word *slots = g->config.slots[m];
        for (unsigned s = 0; s < GC_SLOTS; s++)
            if (FAULTY(infix_root) && is_infix(g, slots[s]))
                darken_environment(g, slots[s]);
            else if (is_pointer(slots[s]))
                darken_word(g, &slots[s]);
    }
}

/* ---- sweep ----------------------------------------------------------------------------------- */

/* The sweep in progress.  A run is a free extent that the next one may be merged with. */
struct sweep {
    word *run;        /* header of the last free extent, NULL before the first */
    size_t run_words; /* its words */
    bool dirty;       /* words of the run are not poisoned yet */
    bool linked;      /* it is on the free list (a fragment is not) */
    word *link;       /* the word that must hold the next free block */
};

static void sweep_poison(struct gc *g, struct sweep *s) {
    if (s->run && s->dirty && s->run_words > 2)
        g->config.hooks->poison(s->run + 2, s->run_words - 2);
    s->dirty = false;
}

/* Makes the run a blue block and appends it to the free list. */
static void sweep_emit(struct sweep *s) {
    *s->run = header_make(s->run_words - 1, BLUE, 0);
    if (s->linked)
        return;
    *s->link = pointer_word(s->run + 1);
    s->link = s->run + 1;
    s->linked = true;
}

/* A white, blue or fragment extent: joins the run before it or starts one. */
static void sweep_free(struct gc *g, struct sweep *s, word *hp, size_t words, bool was_blue) {
    bool adjacent = g->coalesce && s->run && s->run + s->run_words == hp;
    if (adjacent) {
        if (!FAULTY(stale_next_fit) && g->rover == pointer_word(hp + 1))
            g->rover = s->linked ? pointer_word(s->run + 1) : 0;
        s->run_words += words;
        s->dirty = true;
    } else {
        sweep_poison(g, s);
        s->run = hp;
        s->run_words = words;
        s->dirty = !was_blue;
        s->linked = false;
    }
    if (s->run_words > 1)
        sweep_emit(s);
}

/* sweep_body: black turns white, the rest is free. */
static void sweep_block(struct gc *g, struct sweep *s, word *hp) {
    size_t words = header_wosize(*hp) + 1;
    gc_tick(g->config.hooks);
    if (words == 1 && (!g->coalesce || FAULTY(lost_fragments)))
        return;
    unsigned colour = header_colour(*hp);
    if (colour == BLACK || (FAULTY(small_retained) && words == 2 && colour == WHITE)) {
        if (!(FAULTY(raw_stays_black) && header_tag(*hp) >= TAG_NO_SCAN))
            *hp = header_recolour(*hp, WHITE);
        return;
    }
    if (colour != BLUE)
        gc_tell(g->config.hooks, GC_SWEPT, pointer_word(hp + 1), NULL, 0);
    sweep_free(g, s, hp, words, colour == BLUE);
}

static void sweep(struct gc *g) {
    struct sweep s = {.link = &g->first_free};
    word *next;
    g->first_free = 0;
    for (word *hp = g->heap.base; hp < g->end; hp = next) {
        next = hp + header_wosize(*hp) + 1; /* before the header changes */
        sweep_block(g, &s, hp);
    }
    sweep_poison(g, &s);
    if (!FAULTY(open_list))
        *s.link = 0;
}

/* mark_and_sweep_GC (long paper, Figure 7) */
static void collect_garbage(struct gc *g) {
    g->stack_top = 0;
    g->overflow = false;
    darken_roots(g);
    mark_from_stack(g);
    mark_again(g);
    sweep(g);
    g->config.hooks->collections++;
}

/* ---- allocation ------------------------------------------------------------------------------ */

static word next_free(const struct gc *g, word v) {
    return v ? *word_pointer(v) : g->first_free;
}
static void set_next_free(struct gc *g, word v, word next) {
    *(v ? word_pointer(v) : &g->first_free) = next;
}

/* Cuts wosize fields off the high end of the free block behind prev; returns the new header. */
static word *split(struct gc *g, word prev, word v, size_t wosize) {
    word *hp = word_pointer(v) - 1;
    size_t rest = header_wosize(*hp) - wosize; /* words left over, header included */
    if (rest < 2)
        set_next_free(g, prev, next_free(g, v));
    g->rover = prev;
    if (rest == 1)
        *hp = header_make(FAULTY(no_fragment) ? 1 : 0, WHITE, 0);
    else if (rest >= 2)
        *hp = header_make(rest - (FAULTY(short_split) ? 0 : 1), BLUE, 0);
    if (rest >= 2)
        g->rover = v;
    g->config.hooks->unpoison(hp + rest, wosize + 1);
    return hp + rest;
}

/* Next-fit: from the rover once around the list.  NULL if no block fits. */
static word *next_fit(struct gc *g, size_t wosize) {
    word start = g->rover, prev = start;
    do {
        gc_tick(g->config.hooks);
        word v = next_free(g, prev);
        if (v && header_wosize(header_of(v)) >= wosize)
            return split(g, prev, v, wosize);
        if (FAULTY(no_wrap) && !v)
            return NULL;
        prev = v;
    } while (prev != start);
    return NULL;
}

static enum gc_result mark_sweep_alloc(struct gc *g, unsigned m, unsigned dst, size_t wosize,
                                       unsigned tag, const word *raw) {
    word *hp = next_fit(g, wosize);
    if (!hp) {
        collect_garbage(g);
        hp = next_fit(g, wosize);
        if (!hp)
            return GC_OUT_OF_MEMORY; /* one fruitless collection is enough */
    }
    hp[0] = header_make(wosize, WHITE, tag);
    memcpy(hp + 1, raw, wosize * sizeof(word));
    g->config.slots[m][dst] = pointer_word(hp + 1);
    return GC_OK;
}

/* ---- the interface --------------------------------------------------------------------------- */

static struct gc *mark_sweep_open(void) {
    struct gc *g = calloc(1, sizeof *g);
    if (!g)
        return NULL;
    if (!arena_open(&g->heap, CAPACITY)) {
        free(g);
        return NULL;
    }
    if (!arena_open(&g->stack, CAPACITY)) {
        arena_close(&g->heap);
        free(g);
        return NULL;
    }
    return g;
}

static void mark_sweep_close(struct gc *g) {
    arena_close(&g->heap);
    arena_close(&g->stack);
    free(g);
}

static void mark_sweep_reset(struct gc *g, const struct gc_config *config) {
    unsigned variant = config->variant % VARIANTS;
    g->config = *config;
    g->version = (enum mark_version)(variant / 2);
    g->coalesce = variant % 2 == 0;
    g->stack_size = config->mark_stack ? config->mark_stack : config->heap_words;
    g->stack_top = 0;
    g->low = pointer_word(g->heap.base);
    g->bytes = config->heap_words * sizeof(word);
    g->end = g->heap.base + config->heap_words;
    arena_reset(&g->heap, config->hooks, config->heap_words);
    arena_reset(&g->stack, config->hooks, g->stack_size);
    config->hooks->unpoison(g->stack.base, g->stack_size);
    /* A fresh heap is one free block. */
    config->hooks->unpoison(g->heap.base, 2);
    g->heap.base[0] = header_make(config->heap_words - 1, BLUE, 0);
    g->heap.base[1] = 0;
    g->first_free = pointer_word(g->heap.base + 1);
    g->rover = 0;
}

static word *mark_sweep_image(struct gc *g, size_t *words) {
    *words = g->config.heap_words; /* the heap is densely packed (long paper, section 5.1) */
    g->config.hooks->unpoison(g->heap.base, *words);
    return g->heap.base;
}

/* Builds the free list from the blue blocks of the image. */
static void mark_sweep_adopt(struct gc *g, size_t words) {
    word *link = &g->first_free;
    for (word *hp = g->heap.base; hp < g->heap.base + words; hp += header_wosize(*hp) + 1) {
        size_t wosize = header_wosize(*hp);
        if (header_colour(*hp) != BLUE || wosize == 0)
            continue;
        *link = pointer_word(hp + 1);
        link = hp + 1;
        if (wosize > 1)
            g->config.hooks->poison(hp + 2, wosize - 1);
    }
    *link = 0;
    g->rover = 0;
}

static enum gc_result mark_sweep_collect(struct gc *g, enum gc_collection kind) {
    (void)kind; /* one generation, never compacts: every collection is a full one */
    collect_garbage(g);
    return GC_OK;
}

static void mark_sweep_walk(struct gc *g, gc_visit *visit, void *context) {
    size_t words;
    for (word *hp = g->heap.base; hp < g->end; hp += words) {
        words = header_wosize(*hp) + 1;
        visit(context,
              words == 1                   ? GC_FRAGMENT
              : header_colour(*hp) == BLUE ? GC_FREE
                                           : GC_LIVE,
              hp, words);
        if (words > (size_t)(g->end - hp))
            break; /* the oracle has seen that it does not tile */
    }
    size_t entries = 0; /* a cyclic list must not make the walk endless */
    for (word v = g->first_free; v && entries <= g->config.heap_words; v = next_free(g, v)) {
        visit(context, GC_FREE_LIST_ENTRY, word_pointer(v - sizeof(word)), 0);
        if (!in_heap(g, v) || v % sizeof(word))
            break;
        entries++;
    }
}

static const char *mark_sweep_check(struct gc *g) {
    if (g->stack_top)
        return "the mark stack is not empty after a cycle";
    if (FAULTY(stale_next_fit)) /* the published glue has no such check */
        return NULL;
    word v = g->first_free;
    size_t entries = 0;
    while (v && v != g->rover && in_heap(g, v) && entries++ < g->config.heap_words)
        v = next_free(g, v);
    if (g->rover && v != g->rover)
        return "the next-fit position is no member of the free list";
    return NULL;
}

static void mark_sweep_promise(const struct gc_config *config, struct collector_traits *traits) {
    unsigned variant = config->variant % VARIANTS;
    if (variant / 2 != MARK_CLOSURES)
        traits->infix = traits->start_env = false;
    if (variant / 2 == MARK_BASE)
        traits->raw = false;
    if (variant % 2) /* without coalescing the heap wears out by design */
        traits->renews = traits->merged_free_list = false;
}

const struct collector ISOHEAP_COLLECTOR = {
    .name = STRING(ISOHEAP_COLLECTOR),
    .summary = "stop-the-world mark and sweep (verified OCaml collector), next-fit",
    .traits = {.infix = true,
               .start_env = true,
               .raw = true,
               .outside = true,
               .poisons = true,
               .whitens = true,
               .free_list = true,
               .sorted_free_list = true,
               .merged_free_list = true,
               .renews = true,
               .full_until_exact = 1,
               .refusal = REFUSES_NO_FREE_BLOCK,
               .max_mutators = 1}, /* as OCaml 4 */
    .variants = variants,
    .promise = mark_sweep_promise,
    .open = mark_sweep_open,
    .reset = mark_sweep_reset,
    .close = mark_sweep_close,
    .image = mark_sweep_image,
    .adopt = mark_sweep_adopt,
    .alloc = mark_sweep_alloc,
    .collect = mark_sweep_collect,
    .walk = mark_sweep_walk,
    .check = mark_sweep_check,
};
