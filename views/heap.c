/* SPDX-License-Identifier: MIT
 *
 * Oracles over one heap walk (heap.h).
 */
#include "views/heap.h"

#include <string.h>

struct walk {
    struct graph *g;
    struct heap_facts *facts;
    unsigned checks;
    const word *next; /* where the next extent must start */
    const word *end;  /* of the heap */
    bool after_free;  /* the extent before was a free block */
    size_t entries;   /* free-list entries met */
    const word *last_entry;
    struct gc_cycle cycle; /* of an incremental collector; else idle */
};

static void report(struct walk *w, enum violation v, const word *where, const char *detail) {
    if (w->facts->violation)
        return;
    w->facts->violation = v;
    w->facts->where = where;
    w->facts->detail = detail;
}

/* Free-list entries are blue blocks of the heap; more entries than free blocks is a cycle. */
static void visit_entry(struct walk *w, const word *header) {
    const struct graph *g = w->g;
    if (!(w->checks & HEAP_FREE_LIST))
        return;
    word v = pointer_word(header) + sizeof(word); /* header may be anything */
    if (v - pointer_word(g->base) >= g->words * sizeof(word) || v % sizeof(word)) {
        report(w, VIOLATION_free_list_corrupt, NULL, "a free-list entry lies outside the heap");
        return;
    }
    if (graph_in_use(g, (size_t)(header + 1 - g->base))) {
        report(w, VIOLATION_free_list_corrupt, header, "a live block is on the free list");
        return;
    }
    if (header_colour(*header) != BLUE)
        report(w, VIOLATION_free_list_corrupt, header, "a free-list entry is not blue");
    if (++w->entries > w->facts->free)
        report(w, VIOLATION_free_list_corrupt, header,
               "the free list has more entries than the heap has free blocks: a cycle");
    if (w->checks & HEAP_SORTED && w->last_entry && header <= w->last_entry)
        report(w, VIOLATION_free_list_corrupt, header, "the free list is not in address order");
    w->last_entry = header;
}

/* Bits id .. end - 1 of the map of words in use, those of them that word `at` of the map holds. */
static uint64_t bits_of(size_t id, size_t end, size_t at) {
    uint64_t bits = ~(uint64_t)0;
    if (at == id / 64)
        bits <<= id % 64;
    if (at == (end - 1) / 64)
        bits &= ~(uint64_t)0 >> (63 - (end - 1) % 64);
    return bits;
}
static bool any_in_use(const struct graph *g, size_t id, size_t words) {
    for (size_t at = id / 64; at <= (id + words - 1) / 64; at++)
        if (g->in_use[at] & bits_of(id, id + words, at))
            return true;
    return false;
}
static void set_in_use(uint64_t *in_use, size_t id, size_t words) {
    for (size_t at = id / 64; at <= (id + words - 1) / 64; at++)
        in_use[at] |= bits_of(id, id + words, at);
}

/* A live block of so many words starts here.  Its words rarely cross a word of the map. */
static inline void take_down(const struct graph *g, size_t id, size_t words) {
    g->cells[id + 1].stamp = g->epoch;
    if (id % 64 + words < 64)
        g->in_use[id / 64] |= (((uint64_t)1 << words) - 1) << id % 64;
    else
        set_in_use(g->in_use, id, words);
}

static bool is_in_nursery(const struct walk *w, const word *header) {
    return header >= w->end - w->g->nursery_words;
}

/* Property 4 after a cycle; in one what the phase allows (collector.h). */
static bool is_legal_colour(const struct walk *w, const word *header) {
    unsigned colour = header_colour(*header);
    if (w->checks & HEAP_BLACK_YOUNG && is_in_nursery(w, header))
        return colour == BLACK;
    if (colour == WHITE || w->cycle.phase == GC_PHASE_MARK)
        return colour != BLUE;
    return w->cycle.phase == GC_PHASE_SWEEP && header >= w->cycle.cursor && colour == BLACK;
}
static const char *colour_detail(const struct walk *w, const word *header) {
    if (w->checks & HEAP_BLACK_YOUNG && is_in_nursery(w, header))
        return "a young block is not black";
    return w->cycle.phase == GC_PHASE_IDLE   ? "a live block is not white after a cycle"
           : w->cycle.phase == GC_PHASE_MARK ? "a live block is blue"
                                             : "while sweeping, a block has a colour that its side "
                                               "of the cursor does not allow";
}

/* Says what is wrong with a live block. */
static void blame_live(struct walk *w, const word *header, size_t words) {
    if (header_tag(*header) == TAG_INFIX)
        report(w, VIOLATION_ill_formed_heap, header, "an infix header where a block must start");
    if (header_wosize(*header) + 1 != words)
        report(w, VIOLATION_ill_formed_heap, header, "a header disagrees with the walk");
    if (words == 1)
        report(w, VIOLATION_ill_formed_heap, header,
               "a header alone is shown as a live block, and not as a fragment");
    if (w->checks & HEAP_COLOURS && !is_legal_colour(w, header))
        report(w, VIOLATION_wrong_colour, header, colour_detail(w, header));
}

static void visit_free(struct walk *w, const word *header, size_t words) {
    w->facts->free++;
    w->facts->free_words += words;
    if (words - 1 > w->facts->largest_free)
        w->facts->largest_free = words - 1;
    if (w->checks & HEAP_MERGED && w->after_free)
        report(w, VIOLATION_free_list_corrupt, header, "two free blocks are adjacent");
    if (w->checks & HEAP_APART && w->after_free)
        report(w, VIOLATION_ill_formed_heap, header,
               "two free blocks are neighbours, and trait always_merged is set");
}

static void visit_fragment(struct walk *w, const word *header, size_t words) {
    bool tagged = header_tag(*header) != 0 && !(w->checks & HEAP_FRAGMENTS);
    if (words != 1 || header_wosize(*header) != 0 || tagged)
        report(w, VIOLATION_ill_formed_heap, header, "a fragment with a size or a tag");
    if (w->checks & HEAP_SOLID_END && header + 1 == w->end - w->g->nursery_words)
        report(w, VIOLATION_ill_formed_heap, header,
               "the heap ends with a fragment, and trait solid_end is set");
}

static void visit_unused(struct heap_facts *facts, size_t wosize) {
    if (wosize > facts->largest_free)
        facts->largest_free = wosize;
    if (wosize > facts->largest_unused)
        facts->largest_unused = wosize;
}

/* One of the dead extents is taken down, in other heaps another one.  Of it header and link may be
 * in use. */
static void pick_dead(struct heap_facts *facts, const word *header, size_t words) {
    enum { SHARE = 3 };
    if (words <= 2)
        return;
    if (facts->dead_extents++ == 0 || (facts->live + facts->dead_extents) % SHARE == 0) {
        facts->dead = header;
        facts->dead_words = words;
    }
}

/* True if the extent lies where the walk must go on. */
static bool tiles(struct walk *w, const word *header, size_t words) {
    const struct graph *g = w->g;
    const char *detail = NULL;
    if (header != w->next) {
        detail = "the walk has a gap or goes back";
        if (!w->facts->violation)
            w->facts->due = w->next;
    } else if (words == 0 || words > (size_t)(g->base + g->words - header)) {
        detail = "a block reaches beyond the end of the heap";
    }
    if (detail)
        report(w, VIOLATION_ill_formed_heap, header, detail);
    return !detail;
}

static void visit_extent(struct walk *w, enum gc_extent kind, const word *header, size_t words) {
    if (!w->next) { /* a moving collector's heap starts where its walk does */
        w->g->base = w->next = header;
        w->end = header + w->g->words;
    }
    if (!tiles(w, header, words))
        return;
    w->next = header + words;
    w->facts->extents++;
    if (kind == GC_FREE || kind == GC_UNUSED)
        pick_dead(w->facts, header, words);
    if (kind == GC_LIVE) {
        w->facts->live++;
        w->facts->live_words += words;
        blame_live(w, header, words);
        take_down(w->g, (size_t)(header - w->g->base), words);
    } else if (kind == GC_FREE) {
        visit_free(w, header, words);
    } else if (kind == GC_FRAGMENT) {
        visit_fragment(w, header, words);
    } else if (!is_in_nursery(w, header)) { /* GC_UNUSED */
        visit_unused(w->facts, words - 1);
    }
    w->after_free = kind == GC_FREE;
}

static void visit(void *context, enum gc_extent kind, const word *header, size_t words) {
    struct walk *w = context;
    struct heap_facts *facts = w->facts;
    if (facts->violation)
        return;
    /* Most extents are white blocks where the one before ended: nothing to complain of. */
    if (kind == GC_LIVE && header == w->next && !(w->checks & HEAP_BLACK_YOUNG) && words > 1 &&
        words <= (size_t)(w->end - header) && *header >> 8 == (words - 1) << 2 &&
        header_tag(*header) != TAG_INFIX) {
        facts->live++;
        facts->extents++;
        facts->live_words += words;
        w->next = header + words;
        w->after_free = false;
        take_down(w->g, (size_t)(header - w->g->base), words);
    } else if (kind == GC_FREE_LIST_ENTRY) {
        visit_entry(w, header);
    } else {
        visit_extent(w, kind, header, words);
    }
}

unsigned heap_legal(const struct collector_traits *t) {
    return HEAP_TILES | (t->always_merged ? HEAP_APART : 0) | (t->solid_end ? HEAP_SOLID_END : 0) |
           (t->fragment_tags ? HEAP_FRAGMENTS : 0) | (t->black_young ? HEAP_BLACK_YOUNG : 0);
}

void heap_walk(struct graph *g, const struct collector *collector, struct gc *gc, unsigned checks,
               struct heap_facts *facts) {
    struct walk w = {.g = g, .facts = facts, .checks = checks};
    *facts = (struct heap_facts){.violation = VIOLATION_none};
    memset(g->in_use, 0, (g->universe / 64 + 1) * sizeof *g->in_use);
    if (++g->epoch == 0) { /* once in 2^32 walks */
        graph_forget(g);
        g->epoch = 1;
    }
    if (collector->cycle)
        w.cycle = collector->cycle(gc);
    collector->walk(gc, visit, &w);
    facts->words = w.next ? (size_t)(w.next - g->base) : 0;
    if (facts->words > g->words || facts->words < g->words - g->growth)
        report(&w, VIOLATION_ill_formed_heap, w.next, "the walk ends before the heap does");
    if (checks & HEAP_FREE_LIST && w.entries != facts->free)
        report(&w, VIOLATION_free_list_corrupt, NULL, "a free block is missing in the free list");
    for (size_t i = 0; i < g->static_words;) { /* static blocks never move: always starts */
        size_t words = header_wosize(g->statics[i]) + 1;
        if (words > g->static_words - i) {
            report(&w, VIOLATION_ill_formed_heap, NULL, "the header of a static block has changed");
            break;
        }
        take_down(g, g->words + i, words);
        i += words;
    }
}

bool heap_claim(struct graph *g, const word *header, size_t words) {
    size_t id = (size_t)(header - g->base);
    if (header < g->base || words > g->words || id > g->words - words)
        return false;
    if (any_in_use(g, id, words))
        return false;
    take_down(g, id, words);
    return true;
}

size_t heap_in_use(const struct graph *g, size_t from, size_t to) {
    size_t n = 0;
    for (size_t at = from / 64; from < to && at <= (to - 1) / 64; at++)
        n += (size_t)__builtin_popcountll(g->in_use[at] & bits_of(from, to, at));
    return n;
}

size_t heap_young(const struct graph *g) {
    return heap_in_use(g, g->words - g->nursery_words, g->words) / 2;
}

struct heap_size heap_size_but_young(const struct heap_facts *facts) {
    return (struct heap_size){
        .blocks = facts->live, .words = facts->live_words, .gaps = facts->extents - facts->live};
}

struct heap_size heap_size(const struct graph *g, const struct heap_facts *facts) {
    struct heap_size size = heap_size_but_young(facts);
    size.young = heap_young(g);
    return size;
}

/* One call may end a marking that is under way and do another; and an allocation may end in six
 * minor collections, before and after full ones. */
uint64_t heap_most_steps(const struct collector *collector, const struct collector_traits *traits,
                         const struct gc_config *config, const struct heap_size *size) {
    enum { MARKINGS = 2, MINORS = 6 };
    uint64_t extents = size->blocks + size->gaps, slots = (uint64_t)config->mutators * GC_SLOTS;
    uint64_t steps = traits->linear * (size->words + size->gaps + slots);
    if (traits->rescans && config->mark_stack)
        steps += MARKINGS * (size->blocks / config->mark_stack + 1) * extents;
    return steps + (collector->young ? MINORS * size->young * extents : 0);
}

uint64_t heap_slice_steps(const struct collector *collector, const struct collector_traits *traits,
                          const struct gc_config *config, const struct heap_size *size,
                          size_t budget, bool begins) {
    uint64_t extents = size->blocks + size->gaps, slots = (uint64_t)config->mutators * GC_SLOTS;
    uint64_t most = budget < UINT32_MAX ? budget : UINT32_MAX; /* more than any heap has */
    uint64_t steps = traits->paced * (most + 2 + (begins ? slots : 0));
    return steps + (begins && collector->young ? (size->young + 1) * (extents + 2) : 0);
}

static bool is_unreached(const struct graph *g, const struct isomorphism *iso, size_t id) {
    return graph_starts(g, id) && g->cells[id].visit != iso->run;
}

const word *heap_unreached(const struct graph *g, const struct isomorphism *iso) {
    for (size_t id = 1; id < g->words; id++) {
        if (is_unreached(g, iso, id))
            return g->base + id - 1;
    }
    return NULL;
}

size_t heap_unreached_words(const struct graph *g, const struct isomorphism *iso) {
    size_t words = 0;
    for (size_t id = 1; id < g->words; id++)
        if (is_unreached(g, iso, id))
            words += header_wosize(g->base[id - 1]) + 1;
    return words;
}

/* Notes of each block that this one, of garbage, points at, that it does. */
static void note_kept(const struct graph *g, const struct isomorphism *iso, uint32_t id) {
    struct graph_block block = graph_block(g, id);
    for (uint32_t i = block.first_scanned; i < block.wosize; i++) {
        struct graph_ref ref = graph_resolve(g, block.fields[i]);
        if (ref.kind == GRAPH_BLOCK && is_unreached(g, iso, ref.id))
            g->cells[ref.id].partner = 1;
    }
}

const word *heap_unkept(const struct graph *g, const struct isomorphism *iso) {
    for (size_t id = 1; id < g->words; id++)
        if (is_unreached(g, iso, id))
            g->cells[id].partner = 0;
    for (size_t id = 1; id < g->words; id++)
        if (is_unreached(g, iso, id))
            note_kept(g, iso, (uint32_t)id);
    for (size_t id = 1; id < g->words; id++)
        if (is_unreached(g, iso, id) && !g->cells[id].partner)
            return g->base + id - 1;
    return NULL;
}

const char *heap_colour(unsigned colour) {
    static const char *const names[] = {"white", "gray", "blue", "black"};
    return names[colour & 3];
}

size_t heap_most_words(const struct collector_traits *traits, const struct gc_config *config) {
    return traits->grows_to > config->heap_words ? traits->grows_to : config->heap_words;
}

size_t most_alive(const struct collector_traits *traits, const struct gc_config *config) {
    return heap_most_words(traits, config) + (traits->nursery_words ? config->nursery_words : 0);
}
