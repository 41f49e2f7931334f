/* SPDX-License-Identifier: MIT
 *
 * Where the blocks of the OCaml 5 runtime are: young ones in the minor heap, one behind the other,
 * others in pools, at fixed distances, or alone.
 *
 * Which pool a word lies in says a table, by its address.  Young blocks and ephemerons, which look
 * like abstract blocks, are stamped.
 */
#include "collectors/ocaml5/internal.h"
#include "collectors/ocaml5/region.h"
#include "collectors/ocaml5/versions.h"

#include <caml/domain.h>
#include <caml/major_gc.h>
#include <caml/minor_gc.h>
#include <caml/mlvalues.h>
#include <caml/shared_heap.h>
#include <caml/weak.h>

enum {
    POOLS = MAPPED / POOL_BYTES,
    WORDS = MAPPED / sizeof(word), /* of both kinds of blocks that are stamped */
    LARGE = 1 << 12
};

struct stamps {
    uint32_t block, ephemeron; /* == epoch: one starts here */
};
static struct arena stamp_memory;
static struct heap_pool pools[POOLS]; /* start NULL: none */
static uint32_t epochs[POOLS];        /* == epoch: that entry holds */
static struct large {
    word *header;
    bool ephemeron;
} large[LARGE];
static unsigned n_large;
static uint32_t epoch;

void heap_close(struct gc *g) {
    runtime_own_close(g);
}

/* There is one runtime in a process, whoever has it: what is mapped for it stays. */
bool heap_open(void) {
    return stamp_memory.base ||
           arena_open(&stamp_memory, WORDS * sizeof(struct stamps) / sizeof(word));
}

/* ---- the map ------------------------------------------------------------------------------------
 */

/* NULL: it does not lie in what the runtime has mapped. */
static struct stamps *stamps_of(word v) {
    word at = v - region_mapped();
    return at < region_used() ? (struct stamps *)(void *)stamp_memory.base + at / sizeof(word)
                              : NULL;
}

static const struct heap_pool *pool_of(word v) {
    size_t i = (v - region_mapped()) / POOL_BYTES;
    return v >= region_mapped() && i < POOLS && epochs[i] == epoch ? &pools[i] : NULL;
}

static void enter_pool(const struct heap_pool *p) {
    size_t i = ((word)p->start - region_mapped()) / POOL_BYTES;
    pools[i] = *p;
    epochs[i] = epoch;
}

static void enter_large(word *header) {
    if (n_large == LARGE)
        runtime_broken("the heap has grown beyond all that a program can need");
    large[n_large++] = (struct large){.header = header};
}

/* NULL: it is no large block. */
static struct large *large_of(word v) {
    for (unsigned i = 0; i < n_large; i++)
        if (large[i].header + 1 == word_pointer(v))
            return &large[i];
    return NULL;
}

static void map_young(struct gc *g, const caml_domain_state *d) {
    word *hp = (word *)d->young_ptr, *end = (word *)d->young_end;
    while (hp < end) {
        word wosize = header_wosize(*hp);
        if (wosize >= (word)(end - hp) || wosize == 0) {
            g->broken = "a block of the minor heap reaches beyond its end, or has no field";
            return;
        }
        stamps_of((word)(hp + 1))->block = epoch;
        hp += wosize + 1;
    }
}

/* They are on two lists. */
static void map_ephemerons(struct gc *g, word v) {
    while (v) {
        if (heap_is_ephemeron(v)) {
            g->broken = "an ephemeron is twice on the runtime's lists";
            return;
        }
        if (!heap_is_block(v)) {
            g->broken = "a list of ephemerons leads to no block";
            return;
        }
        if (stamps_of(v))
            stamps_of(v)->ephemeron = epoch;
        else
            large_of(v)->ephemeron = true;
        v = word_pointer(v)[CAML_EPHE_LINK_OFFSET];
    }
}

static void map_beside(void *context) {
    struct gc *g = context;
    epoch++;
    n_large = 0;
    heap_pools(enter_pool);
    heap_large(enter_large);
    for (unsigned m = 0; m < RUNTIME_MUTATORS; m++)
        if (runtime_domain(m))
            map_young(g, runtime_domain(m));
    for (unsigned m = 0; m < RUNTIME_MUTATORS; m++) {
        const caml_domain_state *d = runtime_domain(m);
        map_ephemerons(g, d ? (word)d->ephe_info->live : 0);
        map_ephemerons(g, d ? (word)d->ephe_info->todo : 0);
    }
    map_ephemerons(g, runtime_orphans());
}

static void map_all(struct gc *g) {
    runtime_beside(map_beside, g);
}

void heap_map(struct gc *g) {
    runtime_settle();
    map_all(g);
}

void heap_add(struct gc *g, word block) {
    struct stamps *stamps = stamps_of(block);
    if (stamps && Is_young((value)block))
        stamps->block = epoch;
    else if (!heap_is_block(block))
        map_all(g); /* in a new pool, or a large one */
}

/* ---- questions ----------------------------------------------------------------------------------
 */

static bool is_in_large(word v) {
    for (unsigned i = 0; i < n_large; i++)
        if (v > (word)large[i].header &&
            v <= (word)(large[i].header + header_wosize(*large[i].header)))
            return true;
    return false;
}

bool heap_is_inside(word v) {
    return stamps_of(v) != NULL || is_in_large(v);
}

static bool has_died(word header) {
    return (header & (3 << HEADER_COLOR_SHIFT)) == caml_global_heap_state.GARBAGE;
}

bool heap_is_block(word v) {
    const struct heap_pool *pool = pool_of(v);
    if (pool) {
        size_t at = (size_t)(word_pointer(v) - 1 - pool->first);
        return word_pointer(v) > pool->first && at % pool->each == 0 &&
               pool->first + at + pool->each <= pool->end && header_of(v) &&
               !has_died(header_of(v));
    }
    const struct stamps *stamps = stamps_of(v);
    return stamps ? stamps->block == epoch : large_of(v) && !has_died(header_of(v));
}

bool heap_is_ephemeron(word v) {
    const struct stamps *stamps = stamps_of(v);
    const struct large *block = stamps ? NULL : large_of(v);
    return stamps ? stamps->ephemeron == epoch : block && block->ephemeron;
}

bool heap_has_ephemerons(void) {
    bool has = runtime_orphans();
    for (unsigned m = 0; m < RUNTIME_MUTATORS; m++) {
        const caml_domain_state *d = runtime_domain(m);
        has |= d && (d->ephe_info->live || d->ephe_info->todo);
    }
    return has;
}

/* Marking leads a key past others. */
static bool is_kept_key(word key) {
    if (!Is_block((value)key) || Tag_val((value)key) != Forward_tag)
        return false;
    value to = Forward_val((value)key);
    return Is_long(to) || Tag_val(to) == Forward_tag || Tag_val(to) == Lazy_tag ||
           Tag_val(to) == Forcing_tag || Tag_val(to) == Double_tag;
}

static bool list_has_forward_key(value e) {
    for (; e; e = Ephe_link(e))
        for (mlsize_t i = CAML_EPHE_FIRST_KEY; i < Wosize_val(e); i++)
            if (is_kept_key((word)Field(e, i)))
                return true;
    return false;
}

bool heap_has_forward_key(void) {
    bool has = list_has_forward_key((value)runtime_orphans());
    for (unsigned m = 0; m < RUNTIME_MUTATORS; m++) {
        const caml_domain_state *d = runtime_domain(m);
        has |= d && (list_has_forward_key(d->ephe_info->live) ||
                     list_has_forward_key(d->ephe_info->todo));
    }
    return has;
}

/* While ephemerons are swept all marking is done. */
bool heap_lacks_mark(word block) {
    return caml_gc_phase == Phase_sweep_ephe && !Is_young((value)block) &&
           (header_of(block) & (3 << HEADER_COLOR_SHIFT)) == caml_global_heap_state.UNMARKED;
}

/* ---- walks --------------------------------------------------------------------------------------
 */

static struct {
    struct gc *g;
    void (*visit)(struct gc *, word block);
} walker;

/* Blocks that Gc.Memprof keeps for itself. */
enum { KEPT_BLOCKS = 64 };
static word kept[KEPT_BLOCKS];
static unsigned n_kept;

/* Its profile, and what that has in its fields; what we let it keep of a block is a number. */
static void note_kept(void *context, value v, volatile value *place) {
    (void)context, (void)place;
    if (!Is_block(v) || n_kept == KEPT_BLOCKS)
        return;
    kept[n_kept++] = (word)v;
    for (mlsize_t i = 0; i < Wosize_val(v) && Tag_val(v) == 0 && n_kept < KEPT_BLOCKS; i++)
        if (Is_block(Field(v, i)))
            kept[n_kept++] = (word)Field(v, i);
}

static void note_all_kept(void *context) {
    (void)context;
    for (unsigned m = 0; m < RUNTIME_MUTATORS; m++)
        if (runtime_domain(m))
            runtime_scan_sampled(note_kept, runtime_domain(m));
}

static bool is_kept(word block) {
    for (unsigned i = 0; i < n_kept; i++)
        if (kept[i] == block)
            return true;
    return false;
}

static void visit_unless_kept(word block) {
    if (!n_kept || !is_kept(block))
        walker.visit(walker.g, block);
}

static void walk_pool(const struct heap_pool *p) {
    for (word *hp = p->first; hp + p->each <= p->end; hp += p->each)
        if (*hp)
            visit_unless_kept(pointer_word(hp + 1));
}

static void walk_large(word *header) {
    visit_unless_kept(pointer_word(header + 1));
}

static void walk_all(void *context) {
    (void)context;
    heap_pools(walk_pool);
    heap_large(walk_large);
}

/* Young ones too: a full collection leaves none. */
void heap_each(struct gc *g, void visit(struct gc *, word block)) {
    runtime_settle();
    walker.g = g;
    walker.visit = visit;
    n_kept = 0;
    if (g->exact && g->config.variant % VARIANTS == VARIANT_SAMPLED)
        runtime_beside(note_all_kept, NULL); /* no domain has ended since: none adopts anything */
    runtime_beside(walk_all, NULL);
}

static bool has_forward;

static void look_for_forward(struct gc *g, word block) {
    (void)g;
    has_forward |= header_tag(header_of(block)) == TAG_FORWARD;
}

bool heap_has_forward(void) {
    has_forward = false;
    heap_each(runtime_of_process(), look_for_forward);
    return has_forward;
}
