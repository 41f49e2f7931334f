/* SPDX-License-Identifier: MIT
 *
 * The tower behind collector.h (tower.h).
 *
 * The mutator's operations act on every level that there is in a run: the one that holds the heap
 * and those above it.  Allocation is allocate_cons of section 4, for blocks of every size.
 */
#include "collectors/tower/tower.h"
#include "collectors/words_copy.h"

#include "collectors/tower/internal.h"

#include <stdlib.h>
#include <string.h>

/* Addresses that full checks of invariants visit in one run; beyond it they look only at what a
 * step has touched. */
enum { CHECK_BUDGET = 200 };

void tower_judge(struct gc *g, enum tower_stage stage) {
    if (!g->config.hooks->refinement || FAULTY(tower_untold))
        return;
    g->view.stage = stage;
    g->view.used = g->used;
    /* Whoever does not come back from there, and looks at the heap, finds no half of one of L4. */
    enum tower_under_way before = g->under_way;
    if (g->view.level == TOWER_L4 && g->l3.where != TOWER_AT_REST)
        g->under_way = TOWER_COPYING;
    g->config.hooks->refinement(g->config.hooks, &g->view);
    g->under_way = before;
}

void tower_phase_ended(struct gc *g, enum gc_stage ended) {
    g->under_way = ended == GC_SWEPT_ALL ? TOWER_COPIED : TOWER_COPYING;
    gc_phase_ended(g->config.hooks, ended);
    g->under_way = TOWER_NOTHING;
}

void tower_tick(struct gc *g) {
    g->under_way = TOWER_COPYING;
    gc_tick(g->config.hooks);
    g->under_way = TOWER_NOTHING;
}

/* ---- collection -------------------------------------------------------------------------------
 */

/* The slots as a list of values, on every level; unit in a slot is no root. */
static void read_roots(struct gc *g) {
    unsigned n = 0;
    for (unsigned m = 0; m < g->config.mutators; m++) {
        const word *row = g->config.slots[m];
        for (unsigned s = 0; s < GC_SLOTS; s++) {
            if (row[s] == WORD_UNIT)
                continue;
            tower_value v = shadow_encode(g, row[s]);
            g->slot_of[n] = (uint16_t)(m * GC_SLOTS + s);
            g->l2.roots[n] = g->l3.roots[n] = v;
            g->l4.g[g->l4.roots + n++] = tower_ref_heap_addr(v);
        }
    }
    g->l2.n_roots = g->l3.n_roots = g->l4.n_roots = n;
    g->l4.words = g->l4.roots + n;
}

/* Root k as the level that holds the heap has it. */
static tower_value root(const struct gc *g, unsigned k) {
    uint32_t w = g->l4.g[g->l4.roots + k];
    switch (g->view.level) {
    case TOWER_L4:
        return w & 3 ? w : tower_lhs(w / 4);
    case TOWER_L3:
        return g->l3.roots[k];
    default:
        return g->l2.roots[k];
    }
}

static void write_roots(struct gc *g) {
    for (unsigned k = 0; k < g->l2.n_roots; k++) {
        tower_value v = root(g, k);
        if (tower_is_address(v))
            g->config.slots[g->slot_of[k] / GC_SLOTS][g->slot_of[k] % GC_SLOTS] = shadow_word(g, v);
    }
}

static void collect(struct gc *g) {
    struct gc_hooks *hooks = g->config.hooks;
    uint32_t used = g->used;
    read_roots(g);
    tower_judge(g, TOWER_START);
    if (g->view.level == TOWER_L4)
        l4_collect(g);
    else if (g->view.level == TOWER_L3)
        l3_collect(g);
    else if (g->view.level == TOWER_L2)
        l2_collect(g);
    else
        l1_collect(g);
    if (g->view.level == TOWER_L4)
        g->used = g->l4.i - g->l4.b;
    else if (g->view.level == TOWER_L3)
        g->used = g->l3.i - g->l3.b;
    else
        shadow_compact(g);
    tower_judge(g, TOWER_DONE);
    write_roots(g);
    if (g->used < used)
        hooks->poison(g->shadow.base + g->used, used - g->used);
    hooks->collections++;
}

/* ---- life -------------------------------------------------------------------------------------
 */

static struct gc *tower_open(void) {
    struct gc *g = calloc(1, sizeof *g);
    if (!g)
        return NULL;
    if (!arena_open(&g->shadow, TOWER_HALF)) {
        free(g);
        return NULL;
    }
    return g;
}

static void tower_close(struct gc *g) {
    arena_close(&g->shadow);
    free(g);
}

/* Empties what the last run used: all of it, since a fault may read what nobody has written. */
static void forget(struct gc *g) {
    uint32_t n = g->l2.addresses;
    memset(g->l2.h, 0, n * sizeof *g->l2.h);
    memset(g->l2.moved, 0, n * sizeof *g->l2.moved);
    memset(g->l2.sets, 0, n);
    g->l2.n_x = 0;
    memset(g->l3.m, 0, n * sizeof *g->l3.m);
    memset(g->l3.list, 0, n * sizeof *g->l3.list);
    memset(g->l4.g, 0, n * sizeof *g->l4.g);
    memset(g->owner, 0, (n / 2) * sizeof *g->owner);
    g->l2.stores[0].n_blocks = g->l2.stores[0].n_words = 0;
    g->l2.half = 0;
    literals_forget(&g->literals);
}

/* Keys of the config that mean nothing else here are the bytes that choose rules and addresses. */
static uint64_t first_choice(const struct gc_config *c) {
    uint64_t seed = c->variant / TOWER_LEVELS;
    seed = seed * 257 + c->kind;
    seed = seed * 4099 + c->nursery_words;
    seed = seed * 4099 + c->slice_words;
    seed = seed * 4099 + c->large_words;
    return (seed * 17 + c->promotion_age) * 0x9e3779b97f4a7c15;
}

static void tower_reset(struct gc *g, const struct gc_config *config) {
    uint32_t w = (uint32_t)config->heap_words;
    if (config->heap_words > TOWER_HALF)
        abort(); /* tower.h: the largest heap */
    forget(g);
    g->config = *config;
    g->view = (struct tower_view){.level = (enum tower_level)(config->variant % TOWER_LEVELS),
                                  .l2 = &g->l2,
                                  .l3 = &g->l3,
                                  .l4 = &g->l4,
                                  .half = w,
                                  .budget = CHECK_BUDGET,
                                  .words_budget = CHECK_BUDGET};
    g->choices = first_choice(config);
    g->used = 0;
    g->under_way = TOWER_NOTHING;
    g->l3.where = TOWER_AT_REST;
    g->l2.addresses = 2 * w + 1;
    g->cursor = choose(g, g->l2.addresses);
    /* e < b2: a word lies between the halves */
    g->l3.b = g->l3.i = g->l4.b = g->l4.i = 0;
    g->l3.e = g->l4.e = w;
    g->l3.b2 = g->l4.b2 = w + 1;
    g->l3.e2 = g->l4.e2 = 2 * w + 1;
    g->l4.gap = w;
    g->l4.roots = 2 * w + 2; /* and one between the second half and the roots */
    g->l4.g[g->l4.gap] = g->l4.g[g->l4.roots - 1] = 0; /* roots of another run may be there */
    g->l4.bad = 0;
    arena_reset(&g->shadow, config->hooks, w);
}

/* ---- blocks -----------------------------------------------------------------------------------
 */

/* The block at a place of the shadow, added to every level at address a. */
static void add_block(struct gc *g, uint32_t a, const word *hp) {
    uint32_t wosize = (uint32_t)header_wosize(*hp);
    unsigned tag = header_tag(*hp);
    tower_value *words = g->l3.list + g->l3.b + (hp - g->shadow.base) + 1; /* where L3 wants them */
    bool scanned = tag < TAG_NO_SCAN;
    for (uint32_t k = 0; k < wosize; k++)
        words[k] = scanned ? shadow_value(g, hp[k + 1])
                           : (tower_value)literal_of_raw(&g->literals, hp[k + 1], 32);
    l2_add(&g->l2, a, wosize, tag, words);
    if (g->view.level == TOWER_L4)
        l4_add(&g->l4, wosize, tag, words);
    if (has_level(g, TOWER_L3))
        l3_add(&g->l3, wosize, tag);
}

static word *tower_image(struct gc *g, size_t *words) {
    g->config.hooks->unpoison(g->shadow.base, *words);
    return g->shadow.base;
}

static bool is_gap(word header) {
    return header_wosize(header) == 0 || header_colour(header) == BLUE;
}

/* Emp: an empty place of L3, a word of L4 that is no header. */
static void add_gap(struct gc *g, uint32_t words) {
    if (g->view.level == TOWER_L4)
        memset(g->l4.g + g->l4.i, 0, words * sizeof *g->l4.g);
    g->l4.i += words;
    g->l3.i += words;
}

/* Every block gets its address before any is added: they may point at each other. */
static void tower_adopt(struct gc *g, size_t words) {
    const word *base = g->shadow.base;
    for (uint32_t at = 0; at < words; at += (uint32_t)header_wosize(base[at]) + 1)
        if (!is_gap(base[at]))
            shadow_place(g, at);
    for (uint32_t at = 0; at < words; at += (uint32_t)header_wosize(base[at]) + 1) {
        word v = pointer_word(base + at + 1);
        if (is_gap(base[at]))
            add_gap(g, (uint32_t)header_wosize(base[at]) + 1);
        else
            add_block(g, shadow_address(g, v), base + at);
    }
    g->used = (uint32_t)words;
}

/* ---- the mutator ------------------------------------------------------------------------------
 */

static bool has_space(const struct gc *g, size_t wosize) {
    size_t room = g->view.half - g->used;
    if (FAULTY(tower_strict_limit))
        return wosize + 1 < room;
    return wosize < room;
}

static void alloc_ok(struct gc *g, unsigned m, unsigned dst, size_t wosize, unsigned tag,
                     const word *raw) {
    word *hp = g->shadow.base + g->used;
    g->config.hooks->unpoison(hp, wosize + 1);
    hp[0] = header_make(wosize, WHITE, tag);
    words_copy(hp + 1, raw, wosize);
    add_block(g, shadow_place(g, g->used), hp);
    g->used += (uint32_t)wosize + 1;
    g->config.slots[m][dst] = pointer_word(hp + 1);
}

/* allocate_cons: has_space is asked twice, so that it always ends. */
static enum gc_result tower_alloc(struct gc *g, unsigned m, unsigned dst, size_t wosize,
                                  unsigned tag, const word *raw) {
    if (!has_space(g, wosize)) {
        collect(g);
        if (!has_space(g, wosize)) {
            g->view.request = (uint32_t)wosize;
            tower_judge(g, TOWER_REFUSED);
            return GC_OUT_OF_MEMORY;
        }
    }
    alloc_ok(g, m, dst, wosize, tag, raw);
    return GC_OK;
}

/* Word i of the block at a := w, on every level. */
static void write_word(struct gc *g, uint32_t a, uint32_t i, uint32_t w, bool addresses) {
    const struct tower_block *block = tower_block(&g->l2, g->l2.h[a]);
    g->l2.stores[g->l2.h[a] & 1].words[block->first + i] = w;
    if (has_level(g, TOWER_L3))
        g->l3.list[a + 1 + i] = w;
    if (g->view.level == TOWER_L4)
        g->l4.g[a + 1 + i] = addresses ? tower_ref_heap_addr(w) : w;
}

/* Static blocks lie outside the heap: plain memory. */
static enum gc_result tower_store(struct gc *g, unsigned m, unsigned obj, size_t i,
                                  unsigned value) {
    word *slots = g->config.slots[m];
    uint32_t a = shadow_address(g, slots[obj]);
    word_pointer(slots[obj])[i] = slots[value];
    if (a != TOWER_NONE)
        write_word(g, a, (uint32_t)i, shadow_value(g, slots[value]), true);
    return GC_OK;
}

static void tower_init(struct gc *g, unsigned m, unsigned obj, size_t i, unsigned value) {
    tower_store(g, m, obj, i, value);
}

static void tower_write_raw(struct gc *g, unsigned m, unsigned obj, size_t i, word raw) {
    word v = g->config.slots[m][obj];
    uint32_t a = shadow_address(g, v);
    word_pointer(v)[i] = raw;
    if (a != TOWER_NONE)
        write_word(g, a, (uint32_t)i, (tower_value)literal_of_raw(&g->literals, raw, 32), false);
}

/* Field i of the block at a, as the level that holds the heap has it. */
static tower_value read_value(const struct gc *g, uint32_t a, uint32_t i) {
    switch (g->view.level) {
    case TOWER_L4: {
        uint32_t w = g->l4.g[a + 1 + i];
        return w & 3 ? w : tower_lhs(w / 4);
    }
    case TOWER_L3:
        return g->l3.list[a + 1 + i];
    default:
        return tower_words(&g->l2, g->l2.h[a])[i];
    }
}

static enum gc_result tower_load(struct gc *g, unsigned m, unsigned dst, unsigned obj, size_t i) {
    word *slots = g->config.slots[m];
    uint32_t a = shadow_address(g, slots[obj]);
    slots[dst] = a == TOWER_NONE ? word_pointer(slots[obj])[i]
                                 : shadow_word(g, read_value(g, a, (uint32_t)i));
    return GC_OK;
}

/* ---- the collector ----------------------------------------------------------------------------
 */

static enum gc_result tower_collect(struct gc *g, enum gc_collection kind) {
    (void)kind; /* stop the world: every collection is a full one */
    collect(g);
    return GC_OK;
}

/* There is no cycle to take a slice of; the budget is one more byte that chooses. */
static enum gc_result tower_step(struct gc *g, size_t budget) {
    g->choices ^= (uint64_t)budget * 0xd6e8feb86659fd93;
    return GC_IDLE;
}

static word tower_shown_at(struct gc *g, word shown) {
    uint32_t a = shadow_address(g, shown);
    return a < g->l2.addresses ? shadow_own(g, a) : 0;
}

static word tower_own_place(struct gc *g, enum gc_place place) {
    return place == GC_PLACE_FREE ? shadow_free(g) : 0;
}

/* L1 collects at once. */
static void tower_promise(const struct gc_config *config, struct collector_traits *traits) {
    traits->tells_phases = config->variant % TOWER_LEVELS != TOWER_L1;
}

static const char *const variants[] = {"l4", "l3", "l2", "l1", NULL};

const struct collector ISOHEAP_COLLECTOR = {
    .name = COLLECTOR_NAME,
    .summary = "copying, on four levels of refinement; the variant holds the heap",
    .traits = {.moves = true,
               .raw = true,
               .outside = true,
               .any_word = true,
               .atoms = true,
               .poisons = true,
               .ticks = true,
               .linear = 4,
               .waits = true,
               .steady = true,
               .tells_phases = true,
               .shallow = true,
               .whitens = true,
               .renews = true,
               .full_until_exact = 1,
               .refusal = REFUSES_EXACTLY,
               .max_heap_words = TOWER_HALF,
               .max_mutators = GC_MUTATORS,
               .refines = true},
    .variants = variants,
    .promise = tower_promise,
    .open = tower_open,
    .reset = tower_reset,
    .close = tower_close,
    .image = tower_image,
    .adopt = tower_adopt,
    .alloc = tower_alloc,
    .init = tower_init,
    .load = tower_load,
    .store = tower_store,
    .write_raw = tower_write_raw,
    .collect = tower_collect,
    .step = tower_step,
    .walk = shadow_walk,
    .shown_at = tower_shown_at,
    .own_place = tower_own_place,
    .mark_stack = shadow_visit_gray,
};
