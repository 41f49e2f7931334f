/* SPDX-License-Identifier: MIT
 *
 * CakeML's collectors behind collector.h (cakeml.h): the mutator, the choice of a collection, the
 * switch between kinds.
 *
 * Data is allocated from the bottom of the heap, references from its top, whatever the kind: the
 * mutator's code is the same, so that kinds can change at any time (section 3.2).
 */
#include "collectors/cakeml/cakeml.h"
#include "collectors/words_copy.h"

#include "collectors/cakeml/internal.h"

#include <stdlib.h>
#include <string.h>

/* Words that the simulation argument is executed on in one run, about. */
enum { SIMULATION_BUDGET = 2000 };

/* ---- configuration ----------------------------------------------------------------------------
 */

static const char *const variants[] = {"w64", "w32", "list", "words", NULL};
static const char *const kinds[] = {"generational", "simple", "none", NULL};

static void cakeml_promise(const struct gc_config *c, struct collector_traits *traits) {
    struct cakeml_rep rep = cakeml_rep_of(c->variant);
    if (rep.len_size < 16)
        traits->max_wosize = (1u << rep.len_size) - 1;
    if (c->kind % CAKEML_KINDS == CAKEML_NO_GC) {
        traits->full_until_exact = 0;
        traits->renews = traits->ticks = traits->steady = false;
        traits->linear = 0;
        traits->refusal = REFUSES_ANYTIME;
    }
}

static bool is_ref(unsigned tag) {
    return tag & 1;
}

/* ---- life -------------------------------------------------------------------------------------
 */

static struct gc *cakeml_open(void) {
    struct gc *g = calloc(1, sizeof *g);
    if (!g)
        return NULL;
    if (!arena_open(&g->shadow, CAKEML_LARGEST)) {
        free(g);
        return NULL;
    }
    if (!arena_open(&g->memory, (size_t)2 * CAKEML_LARGEST)) {
        arena_close(&g->shadow);
        free(g);
        return NULL;
    }
    return g;
}

static void cakeml_close(struct gc *g) {
    arena_close(&g->memory);
    arena_close(&g->shadow);
    free(g);
}

/* Empties what the last run used. */
static void forget(struct gc *g) {
    const struct cakeml_view *v = &g->view;
    if (g->view.lists && (v->collects || g->judged)) { /* it ended with a violation */
        heap_clear(&g->heaps[0], 0, v->limit);
        heap_clear(&g->heaps[1], 0, v->limit);
    } else if (g->view.lists) {
        heap_clear(&g->heaps[g->heap], 0, v->a + 1);
        heap_clear(&g->heaps[g->heap], refs_start(g), v->limit);
    }
    if (v->words) /* a fault may read what nobody has written in its run */
        memset(g->memory.base, 0, (size_t)2 * v->limit * sizeof(word));
    literals_forget(&g->literals);
}

static void set_generations(struct cakeml_view *v, const struct gc_config *c) {
    v->n_gens = 1 + c->promotion_age % CAKEML_GENERATIONS;
    for (unsigned k = 0; k < CAKEML_GENERATIONS; k++)
        v->sizes[k] = (uint32_t)(c->nursery_words << k);
}

/* An empty heap has the layout of every kind. */
static void cakeml_reset(struct gc *g, const struct gc_config *config) {
    uint32_t limit = (uint32_t)config->heap_words;
    enum cakeml_level level = cakeml_level_of(config->variant);
    bool list = level == CAKEML_LIST;
    if (config->heap_words > (list ? (size_t)CAKEML_LIMIT : (size_t)CAKEML_LARGEST))
        abort(); /* cakeml.h: the largest heap */
    forget(g);
    g->config = *config;
    g->heap = 0;
    g->judged = false;
    bool lists =
        level != CAKEML_WORDS && (list || config->hooks->refinement) && limit <= CAKEML_LIMIT;
    g->view = (struct cakeml_view){.words = !list,
                                   .lists = lists,
                                   .kind = (enum cakeml_kind)(config->kind % CAKEML_KINDS),
                                   .next = (enum cakeml_kind)(config->kind % CAKEML_KINDS),
                                   .rep = cakeml_rep_of(config->variant),
                                   .limit = limit,
                                   .heap = &g->heaps[0],
                                   .w = &g->words,
                                   .s = &g->state,
                                   .roots = g->roots,
                                   .budget = SIMULATION_BUDGET};
    set_generations(&g->view, config);
    place_trigger(g, limit);
    g->words = (struct cakeml_words){
        .m = g->memory.base, .limit = limit, .other = limit, .roots = g->word_roots, .ok = true};
    if (g->view.lists)
        heap_set_unused(&g->heaps[0], 0, limit);
    arena_reset(&g->shadow, config->hooks, limit);
}

/* ---- blocks -----------------------------------------------------------------------------------
 */

/* Where a block of so many words goes; a, sp and sp1 are then behind it. */
static uint32_t take(struct gc *g, uint32_t words, bool ref) {
    struct cakeml_view *v = &g->view;
    uint32_t at = v->a;
    v->sp -= words;
    if (ref && !(FAULTY(ck_refs_at_bottom) && words == 2))
        return refs_start(g);
    v->a += words;
    return at;
}

/* Word i of the element at a := v on every level. */
static void write_word(struct gc *g, uint32_t a, uint32_t i, cakeml_value v, bool raw) {
    if (g->view.lists)
        g->heaps[g->heap].words[a + 1 + i] = v;
    if (g->view.words)
        g->words.m[g->words.curr + a + 1 + i] = raw ? v : cakeml_word_addr(&g->view.rep, v);
}

static cakeml_value encode_raw(struct gc *g, word raw) {
    return g->view.rep.width == 64 ? raw : literal_of_raw(&g->literals, raw, 32);
}

/* The content of a new element at a: no pointers into the heap, so that words and heap addresses
 * are the same. */
static void write_words(struct gc *g, uint32_t a, size_t n, bool raw, const word *content) {
    cakeml_value *list = g->view.lists ? g->heaps[g->heap].words + a + 1 : NULL;
    uint64_t *m = g->view.words ? g->words.m + g->words.curr + a + 1 : NULL;
    size_t units = 0; /* most content is nothing else */
    while (units < n && content[units] == WORD_UNIT && !raw)
        units++;
    if (list)
        memset(list, 0, units * sizeof *list);
    if (m)
        memset(m, 0, units * sizeof *m);
    for (size_t k = units; k < n; k++) {
        word w = content[k];
        cakeml_value v = raw ? encode_raw(g, w) : shadow_encode(g, w);
        if (list)
            list[k] = v;
        if (m)
            m[k] = v;
    }
}

/* The header of a new element at a, on every level. */
static void write_header(struct gc *g, uint32_t a, uint32_t length, unsigned tag) {
    struct cakeml_element e = {.kind = CAKEML_DATA,
                               .tag = (uint8_t)tag,
                               .ref = is_ref(tag),
                               .raw = tag >= TAG_NO_SCAN,
                               .length = (uint16_t)length};
    if (g->view.lists)
        g->heaps[g->heap].el[a] = e;
    if (g->view.words)
        g->words.m[g->words.curr + a] = cakeml_header(&g->view.rep, &e);
}

static void set_unused(struct gc *g, uint32_t before) {
    struct cakeml_view *v = &g->view;
    if (!g->view.lists)
        return;
    if (v->heap->el[before].kind == CAKEML_UNUSED)
        heap_clear(v->heap, before, before + 1);
    heap_set_unused(v->heap, v->a, v->sp + v->sp1);
}

/* ---- the initial heap -------------------------------------------------------------------------
 */

static word *cakeml_image(struct gc *g, size_t *words) {
    g->config.hooks->unpoison(g->shadow.base, *words);
    return g->shadow.base;
}

/* Tag of a block of the image; a gap is a dead block. */
static unsigned image_tag(word header) {
    return header_colour(header) == BLUE ? 0 : header_tag(header);
}

/* Where the blocks of the image go: the generational kind wants references at the top, in the other
 * kinds they may stand anywhere.  Returns whether any block leaves its place. */
static bool place_image(struct gc *g, uint32_t words) {
    const word *base = g->shadow.base;
    struct cakeml_view *v = &g->view;
    uint32_t refs = 0, n;
    bool apart = v->kind == CAKEML_GENERATIONAL, moved = false;
    for (uint32_t at = 0; at < words; at += n) {
        n = (uint32_t)header_wosize(base[at]) + 1;
        refs += apart && is_ref(image_tag(base[at])) ? n : 0;
    }
    uint32_t ref = v->limit - refs;
    for (uint32_t at = 0; at < words; at += n) {
        n = (uint32_t)header_wosize(base[at]) + 1;
        uint32_t *next = apart && is_ref(image_tag(base[at])) ? &ref : &v->a;
        g->place[at] = *next;
        moved |= *next != at;
        *next += n;
    }
    place_trigger(g, v->limit - v->a - refs);
    return moved;
}

/* A word of the image, with pointers to where the blocks go. */
static word placed(const struct gc *g, word v) {
    uint32_t at = shadow_element(g, v);
    return at == CAKEML_NONE
               ? v
               : pointer_word(g->shadow.base) + ((word)g->place[at] + 1) * sizeof(word);
}

static void adopt_words(struct gc *g, const word *hp, uint32_t a) {
    bool raw = image_tag(hp[0]) >= TAG_NO_SCAN;
    uint32_t n = (uint32_t)header_wosize(hp[0]);
    if (raw) {
        write_words(g, a, n, true, hp + 1);
        return;
    }
    for (uint32_t k = 0; k < n; k++) {
        word w = hp[k + 1];
        write_word(g, a, k,
                   shadow_is_small(g, w) ? shadow_small(w) : shadow_encode(g, placed(g, w)), false);
    }
}

/* Every block gets its header before any gets its words: pointers tell of headers. */
static void cakeml_adopt(struct gc *g, size_t words) {
    const word *base = g->shadow.base;
    bool moved = place_image(g, (uint32_t)words);
    set_unused(g, 0);
    for (uint32_t at = 0; at < words; at += (uint32_t)header_wosize(base[at]) + 1)
        write_header(g, g->place[at], (uint32_t)header_wosize(base[at]), image_tag(base[at]));
    for (uint32_t at = 0; at < words; at += (uint32_t)header_wosize(base[at]) + 1)
        adopt_words(g, base + at, g->place[at]);
    if (!moved)
        return;
    for (unsigned m = 0; m < g->config.mutators; m++)
        for (unsigned s = 0; s < GC_SLOTS; s++)
            g->config.slots[m][s] = placed(g, g->config.slots[m][s]);
    shadow_used(g);
    g->config.hooks->collections++; /* addresses are others now */
}

/* ---- which collection -------------------------------------------------------------------------
 */

/* The oldest generation that has as many new words as its size; 0 if none has. */
static int ripe(const struct gc *g) {
    const struct cakeml_view *v = &g->view;
    int gen = 0;
    for (unsigned k = 1; k < v->n_gens; k++)
        if (v->a - v->starts[k] >= v->sizes[k])
            gen = (int)k;
    return gen;
}

/* Section 3.2: a full collection if a partial one might not free enough, that is if less is unused
 * than is requested. */
static bool partial_will_do(const struct gc *g, uint32_t request) {
    const struct cakeml_view *v = &g->view;
    if (FAULTY(ck_eager_full) && request == v->sp + v->sp1)
        return false;
    return v->kind == CAKEML_GENERATIONAL && request <= v->sp + v->sp1;
}

static void collect_for(struct gc *g, uint32_t request) {
    if (g->view.kind != CAKEML_NO_GC)
        collect_now(g, partial_will_do(g, request) ? ripe(g) : -1, request);
}

/* ---- the mutator ------------------------------------------------------------------------------
 */

static void alloc_ok(struct gc *g, unsigned m, unsigned dst, size_t wosize, unsigned tag,
                     const word *raw) {
    uint32_t words = (uint32_t)wosize + 1, before = g->view.a;
    uint32_t a = take(g, words, is_ref(tag));
    word *hp = g->shadow.base + a;
    g->config.hooks->unpoison(hp, words);
    set_unused(g, before);
    write_header(g, a, (uint32_t)wosize, tag);
    hp[0] = header_make(wosize, WHITE, tag);
    words_copy(hp + 1, raw, wosize);
    write_words(g, a, wosize, tag >= TAG_NO_SCAN, raw);
    g->config.slots[m][dst] = pointer_word(hp + 1);
    collection_judge(g, CAKEML_CHANGED);
}

/* The key lemma (Figure 9): space for the request, or NotEnoughSpace. */
static enum gc_result cakeml_alloc(struct gc *g, unsigned m, unsigned dst, size_t wosize,
                                   unsigned tag, const word *raw) {
    uint32_t words = (uint32_t)wosize + 1;
    if (words > g->view.sp) /* past the trigger pointer */
        collect_for(g, words);
    if (words > g->view.sp || (FAULTY(ck_strict_limit) && words == g->view.sp)) {
        g->view.request = words;
        collection_judge(g, CAKEML_REFUSED);
        return GC_OUT_OF_MEMORY;
    }
    alloc_ok(g, m, dst, wosize, tag, raw);
    return GC_OK;
}

/* Static blocks lie outside the heap: plain memory. */
static enum gc_result cakeml_store(struct gc *g, unsigned m, unsigned obj, size_t i,
                                   unsigned value) {
    word *slots = g->config.slots[m];
    uint32_t a = shadow_element(g, slots[obj]);
    word_pointer(slots[obj])[i] = slots[value];
    if (a == CAKEML_NONE)
        return GC_OK;
    cakeml_value v = shadow_encode(g, slots[value]);
    if (FAULTY(ck_stores_beside) && cakeml_is_pointer(v))
        v += (cakeml_value)1 << 32;
    write_word(g, a, (uint32_t)i, v, false);
    return GC_OK;
}

static void cakeml_init(struct gc *g, unsigned m, unsigned obj, size_t i, unsigned value) {
    cakeml_store(g, m, obj, i, value);
}

static void cakeml_write_raw(struct gc *g, unsigned m, unsigned obj, size_t i, word raw) {
    word v = g->config.slots[m][obj];
    uint32_t a = shadow_element(g, v);
    word_pointer(v)[i] = raw;
    if (a != CAKEML_NONE)
        write_word(g, a, (uint32_t)i, encode_raw(g, raw), true);
}

static enum gc_result cakeml_load(struct gc *g, unsigned m, unsigned dst, unsigned obj, size_t i) {
    word *slots = g->config.slots[m];
    uint32_t a = shadow_element(g, slots[obj]);
    if (a == CAKEML_NONE) {
        slots[dst] = word_pointer(slots[obj])[i];
        return GC_OK;
    }
    struct cakeml_element e = shadow_element_here(g, a);
    slots[dst] = shadow_read(g, &e, a, (uint32_t)i);
    return GC_OK;
}

static bool cakeml_writable(unsigned tag) {
    return is_ref(tag);
}

/* ---- the collector ----------------------------------------------------------------------------
 */

/* gen_gc of section 3.5: any heap will do for a partial collection. */
static enum gc_result cakeml_collect(struct gc *g, enum gc_collection kind) {
    bool partial = kind == GC_MINOR && g->view.kind == CAKEML_GENERATIONAL;
    if (FAULTY(ck_lazy_full) && g->view.kind == CAKEML_GENERATIONAL)
        partial = true;
    if (g->view.kind != CAKEML_NO_GC)
        collect_now(g, partial ? ripe(g) : -1, 0);
    return GC_OK;
}

/* There is no cycle to take a slice of; a generation of the budget's choice is collected. */
static enum gc_result cakeml_step(struct gc *g, size_t budget) {
    if (g->view.kind == CAKEML_GENERATIONAL)
        collect_now(g, (int)(budget % g->view.n_gens), 0);
    return GC_IDLE;
}

/* Section 3.2: from generational at any time; to it, by its full collection. */
static enum gc_result cakeml_switch(struct gc *g, unsigned kind) {
    struct cakeml_view *v = &g->view;
    v->next = (enum cakeml_kind)(kind % CAKEML_KINDS);
    if (v->next == CAKEML_GENERATIONAL && v->kind != v->next && !FAULTY(ck_switch_without_full)) {
        collect_now(g, -1, 0);
        return GC_OK;
    }
    v->kind = v->next;
    if (v->kind != CAKEML_GENERATIONAL && !FAULTY(ck_keeps_trigger)) {
        v->sp += v->sp1; /* the trigger is at the end */
        v->sp1 = 0;
    }
    collection_judge(g, CAKEML_CHANGED);
    return GC_OK;
}

/* The machine word that points at an element, or its value on lists: data may look so. */
static word leads_to(const struct gc *g, uint32_t a, uint32_t bits) {
    cakeml_value v = cakeml_pointer(a, bits);
    return g->view.words ? cakeml_word_addr(&g->view.rep, v) : v;
}

static word cakeml_shown_at(struct gc *g, word shown) {
    uint32_t a = shadow_element(g, shown);
    if (a >= g->view.limit)
        return 0;
    struct cakeml_element e = shadow_element_here(g, a);
    if (e.kind != CAKEML_DATA)
        return 0;
    return leads_to(g, a, cakeml_bits_of(&g->view.rep, &e));
}

/* New elements begin at `a`, and those of the youngest generation where it starts. */
static word cakeml_own_place(struct gc *g, enum gc_place place) {
    if (place == GC_PLACE_YOUNG)
        return g->view.kind == CAKEML_GENERATIONAL ? leads_to(g, g->view.starts[0], 0) : 0;
    return leads_to(g, g->view.a, 0);
}

const struct collector ISOHEAP_COLLECTOR = {
    .name = COLLECTOR_NAME,
    .summary = "CakeML's: generational (nested), copying or none; words and lists in lockstep",
    .traits = {.moves = true,
               .raw = true,
               .outside = true,
               .any_word = true,
               .atoms = true,
               .poisons = true,
               .ticks = true,
               .linear = 2,
               .steady = true,
               .shallow = true,
               .whitens = true,
               .renews = true,
               .full_until_exact = 1,
               .refusal = REFUSES_EXACTLY,
               .max_heap_words = CAKEML_LIMIT,
               .max_mutators = GC_MUTATORS,
               .refines_words = true},
    .variants = variants,
    .kinds = kinds,
    .promise = cakeml_promise,
    .open = cakeml_open,
    .reset = cakeml_reset,
    .close = cakeml_close,
    .image = cakeml_image,
    .adopt = cakeml_adopt,
    .alloc = cakeml_alloc,
    .init = cakeml_init,
    .load = cakeml_load,
    .store = cakeml_store,
    .write_raw = cakeml_write_raw,
    .writable = cakeml_writable,
    .collect = cakeml_collect,
    .step = cakeml_step,
    .switch_kind = cakeml_switch,
    .walk = shadow_walk,
    .shown_at = cakeml_shown_at,
    .own_place = cakeml_own_place,
};
