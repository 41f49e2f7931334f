/* SPDX-License-Identifier: MIT
 *
 * Collectors that break one promise each (table.h): a sound one, and a function in front of one of
 * its own that spoils it.
 */
#define _DEFAULT_SOURCE /* MAP_ANONYMOUS */
#include "collectors/cheney/cheney.h"
#include "collectors/generational/generational.h"
#include "collectors/incremental/incremental.h"
#include "collectors/mark_sweep/mark_sweep.h"
#include "tests/conformance/table.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

static struct gc_config config; /* of the last reset */
static word units[1 << 14];

static word *slot(unsigned s) {
    return &config.slots[0][s];
}
static word *fields(unsigned s) {
    return word_pointer(*slot(s));
}
static bool holds_block(unsigned s) {
    return is_pointer(*slot(s)) && *slot(s) >> 40 != 0 && *slot(s) >> 48 == 0;
}

static void remember(const struct gc_config *c) {
    config = *c;
    for (size_t i = 0; i < sizeof units / sizeof *units; i++)
        units[i] = WORD_UNIT;
}
static void base_reset(struct gc *g, const struct gc_config *c) {
    remember(c);
    cheney.reset(g, c);
}
static void base_store(unsigned m, unsigned obj, size_t i, unsigned value) {
    word_pointer(config.slots[m][obj])[i] = config.slots[m][value];
}

/* ---- life --------------------------------------------------------------------------------------
 */

static void reset_dirty(struct gc *g, const struct gc_config *c) {
    base_reset(g, c);
    cheney.alloc(g, 0, 0, 1, 0, units);
    *slot(0) = WORD_UNIT;
}
static void reset_writes(struct gc *g, const struct gc_config *c) {
    base_reset(g, c);
    *slot(7) = immediate(1);
}
static struct gc *opens_once(void) {
    static bool opened;
    return opened ? NULL : (opened = true, cheney.open());
}
static struct gc *shares_state(void) {
    static struct gc *only;
    return only ? only : (only = cheney.open());
}
static void stays_open(struct gc *g) {
    (void)g;
}
static void nothing(void *start, size_t words) {
    (void)start;
    (void)words;
}
static void claims_poisons(struct gc *g, const struct gc_config *c) {
    c->hooks->poison = nothing;
    base_reset(g, c);
}
static void one_mutator(struct gc *g, const struct gc_config *c) {
    struct gc_config less = *c;
    less.mutators = 1;
    base_reset(g, &less);
}

/* ---- allocation --------------------------------------------------------------------------------
 */

#define ALLOC(name)                                                                                \
    static enum gc_result name(struct gc *g, unsigned m, unsigned dst, size_t wosize,              \
                               unsigned tag, const word *raw)

ALLOC(alloc_two_slots) {
    enum gc_result result = cheney.alloc(g, m, dst, wosize, tag, raw);
    config.slots[m][(dst + 1) % GC_SLOTS] = config.slots[m][dst];
    return result;
}
ALLOC(alloc_no_content) {
    (void)raw;
    return cheney.alloc(g, m, dst, wosize, tag, units);
}
ALLOC(alloc_twice) {
    static word last;
    if (*slot(0) == last && dst != 0 && is_pointer(last)) {
        config.slots[m][dst] = last;
        return GC_OK;
    }
    enum gc_result result = cheney.alloc(g, m, dst, wosize, tag, raw);
    last = config.slots[m][dst];
    return result;
}
ALLOC(refusal_clears) {
    enum gc_result result = cheney.alloc(g, m, dst, wosize, tag, raw);
    if (result != GC_OK)
        config.slots[m][dst] = WORD_UNIT;
    return result;
}
ALLOC(refusal_harms) {
    enum gc_result result = mark_sweep.alloc(g, m, dst, wosize, tag, raw);
    if (result != GC_OK && holds_block(0))
        fields(0)[0] = immediate(-1);
    return result;
}
ALLOC(refuses_often) {
    static unsigned n;
    return ++n % 11 ? cheney.alloc(g, m, dst, wosize, tag, raw) : GC_OUT_OF_MEMORY;
}
ALLOC(state_stays) {
    static unsigned n;
    if (++n % 7 == 0)
        cheney.collect(g, GC_FULL);
    return cheney.alloc(g, m, dst, wosize, tag, raw);
}
ALLOC(claims_renews) {
    return wosize > config.heap_words / 2 ? GC_OUT_OF_MEMORY
                                          : cheney.alloc(g, m, dst, wosize, tag, raw);
}
ALLOC(claims_exactly) {
    if (cheney.alloc(g, m, dst, wosize + 1, tag, units) != GC_OK)
        return GC_OUT_OF_MEMORY;
    return cheney.alloc(g, m, dst, wosize, tag, raw);
}
ALLOC(claims_size) {
    return wosize >= 20 ? GC_OUT_OF_MEMORY : cheney.alloc(g, m, dst, wosize, tag, raw);
}

/* ---- fields ------------------------------------------------------------------------------------
 */

static void init_collects(struct gc *g, unsigned m, unsigned obj, size_t i, unsigned value) {
    base_store(m, obj, i, value);
    cheney.collect(g, GC_FULL);
}
static enum gc_result store_neighbour(struct gc *g, unsigned m, unsigned obj, size_t i,
                                      unsigned value) {
    (void)g;
    base_store(m, obj, i ? i - 1 : 0, value);
    return GC_OK;
}
static enum gc_result blit_forward(struct gc *g, unsigned m, unsigned src, size_t i, unsigned dst,
                                   size_t j, size_t n) {
    (void)g;
    for (size_t k = 0; k < n; k++)
        word_pointer(config.slots[m][dst])[j + k] = word_pointer(config.slots[m][src])[i + k];
    return GC_OK;
}
static void raw_lost(struct gc *g, unsigned m, unsigned obj, size_t i, word raw) {
    (void)g, (void)m, (void)obj, (void)i, (void)raw;
}

/* ---- the initial heap --------------------------------------------------------------------------
 */

static word *image_small(struct gc *g, size_t *words) {
    *words = 4;
    return cheney.image(g, words);
}

/* ---- collection --------------------------------------------------------------------------------
 */

#define COLLECT(name) static enum gc_result name(struct gc *g, enum gc_collection kind)

COLLECT(slot_stale) {
    word before = *slot(2);
    cheney.collect(g, kind);
    if (is_pointer(before))
        *slot(2) = before;
    return GC_OK;
}
COLLECT(hangs) {
    (void)g, (void)kind;
    static volatile bool never;
    while (!never)
        ;
    return GC_OK;
}
COLLECT(crashes) {
    (void)g, (void)kind;
    abort();
}
COLLECT(sharing_lost) {
    cheney.collect(g, kind);
    if (holds_block(0) && *slot(0) == *slot(2)) {
        const word content[2] = {fields(0)[0], fields(0)[1]};
        cheney.alloc(g, 0, 2, 2, 0, content);
    }
    return GC_OK;
}
COLLECT(field_stale) {
    word before = holds_block(0) ? fields(0)[1] : WORD_UNIT;
    cheney.collect(g, kind);
    if (is_pointer(before))
        fields(0)[1] = before;
    return GC_OK;
}
COLLECT(cycle_cut) {
    cheney.collect(g, kind);
    if (holds_block(0) && is_pointer(fields(0)[1]) && word_pointer(fields(0)[1])[1] == *slot(0))
        word_pointer(fields(0)[1])[1] = WORD_UNIT;
    return GC_OK;
}
COLLECT(uncounted) {
    uint64_t before = config.hooks->collections;
    cheney.collect(g, kind);
    config.hooks->collections = before;
    return GC_OK;
}
COLLECT(claims_start_env) {
    cheney.collect(g, kind);
    if (holds_block(1) && header_tag(header_of(*slot(1))) == TAG_CLOSURE)
        fields(1)[0] = WORD_UNIT;
    return GC_OK;
}
COLLECT(claims_infix) {
    for (unsigned s = 0; s < GC_SLOTS; s++)
        if (holds_block(s) && header_tag(header_of(*slot(s))) == TAG_INFIX)
            *slot(s) = infix_parent(*slot(s));
    return cheney.collect(g, kind);
}
COLLECT(claims_raw) {
    cheney.collect(g, kind);
    if (holds_block(1) && header_tag(header_of(*slot(1))) >= TAG_NO_SCAN)
        fields(1)[1] += 8;
    return GC_OK;
}
COLLECT(claims_outside) {
    for (unsigned s = 0; s < GC_SLOTS; s++)
        if (is_pointer(*slot(s)) && *slot(s) >> 48)
            *slot(s) = WORD_UNIT;
    return cheney.collect(g, kind);
}
COLLECT(claims_statics) {
    for (unsigned s = 0; s < GC_SLOTS; s++)
        if (is_pointer(*slot(s)) && header_wosize(header_of(*slot(s))) == 2 &&
            header_colour(header_of(*slot(s))) == BLACK)
            *slot(s) = WORD_UNIT;
    return cheney.collect(g, kind);
}
COLLECT(claims_any_word) {
    for (unsigned s = 0; s < GC_SLOTS; s++)
        if (*slot(s) == 0)
            *slot(s) = WORD_UNIT;
    return cheney.collect(g, kind);
}
COLLECT(claims_atoms) {
    enum { ATOMS = 5 }; /* that the step has, from slot 2 on */
    if (holds_block(1) && header_wosize(fields(1)[-1]) == ATOMS)
        fields(2)[-1] = header_recolour(fields(2)[-1], WHITE);
    return cheney.collect(g, kind);
}
COLLECT(claims_whitens) {
    cheney.collect(g, kind);
    if (holds_block(0))
        fields(0)[-1] = header_recolour(fields(0)[-1], BLACK);
    return GC_OK;
}
COLLECT(claims_exact) {
    (void)g, (void)kind;
    config.hooks->collections++;
    return GC_OK;
}
static enum gc_result step_endless(struct gc *g, size_t budget) {
    (void)g, (void)budget;
    return GC_OK;
}
static struct gc_cycle tells_cycle(struct gc *g) {
    return incremental.cycle(g);
}
static enum gc_result claims_slices(struct gc *g, size_t budget) {
    return incremental.cycle(g).phase == GC_PHASE_IDLE ? GC_IDLE : incremental.step(g, budget);
}
COLLECT(claims_ticks) {
    uint64_t fuel = config.hooks->fuel;
    cheney.collect(g, kind);
    config.hooks->fuel = fuel;
    return GC_OK;
}
/* Returns how long the list is that begins there; a frame is looked at once more before it ends. */
static size_t recurse(word v) {
    volatile word frame[8];
    frame[v / sizeof v % 8] = 1;
    size_t rest = is_immediate(v) ? 0 : recurse(word_pointer(v)[0]);
    return rest + (size_t)frame[v / sizeof v % 8];
}
COLLECT(claims_shallow) {
    return recurse(config.slots[0][0]) ? cheney.collect(g, kind) : GC_OUT_OF_MEMORY;
}
static const char *const two_kinds[] = {"one", "two", NULL};
static enum gc_result kind_loses(struct gc *g, unsigned kind) {
    (void)g;
    if (kind == 1 && holds_block(0))
        fields(0)[1] = WORD_UNIT;
    return GC_OK;
}

static enum gc_result deletes_silently(struct gc *g, unsigned m, unsigned obj, size_t i,
                                       unsigned value) {
    if (is_pointer(config.slots[m][value]))
        return incremental.store(g, m, obj, i, value);
    base_store(m, obj, i, value);
    return GC_OK;
}
static void inits_silently(struct gc *g, unsigned m, unsigned obj, size_t i, unsigned value) {
    (void)g;
    base_store(m, obj, i, value);
}
COLLECT(fan_cut) {
    enum { FEW = 4, USUAL = 8 };
    if (config.mark_stack <= FEW && holds_block(1) && header_wosize(fields(1)[-1]) > USUAL)
        fields(1)[header_wosize(fields(1)[-1]) - 1] = WORD_UNIT;
    return mark_sweep.collect(g, kind);
}
static enum gc_result one_writes(struct gc *g, unsigned m, unsigned obj, size_t i, unsigned value) {
    (void)g;
    if (m == 0)
        base_store(m, obj, i, value);
    return GC_OK;
}

COLLECT(claims_minor) {
    if (kind != GC_MINOR)
        return generational.collect(g, kind);
    config.hooks->collections++;
    return GC_OK;
}

/* Made while nobody is in a cycle, and white in the one that has begun before the poll. */
static word pends; /* the block; 0: none */
ALLOC(pends_white) {
    enum gc_result result = incremental.alloc(g, m, dst, wosize, tag, raw);
    pends = config.slots[m][dst];
    return result == GC_OK ? GC_PENDING : result;
}
static enum gc_result poll_white(struct gc *g, unsigned m) {
    (void)g, (void)m;
    if (!pends)
        return GC_IDLE;
    word *hp = word_pointer(pends) - 1;
    *hp = header_recolour(*hp, WHITE);
    pends = 0;
    return GC_OK;
}

/* ---- generations and cycles --------------------------------------------------------------------
 */

static bool claims_old(struct gc *g, word v) {
    (void)g, (void)v;
    return false;
}
static void forgets(struct gc *g, void (*visit)(void *, word, size_t), void *context) {
    (void)g, (void)visit, (void)context;
}
static void claims_once(struct gc *g, void (*visit)(void *, word, size_t), void *context) {
    generational.remembered(g, visit, context);
    generational.remembered(g, visit, context);
}
static void claims_nursery(const struct gc_config *c, struct collector_traits *traits) {
    generational.promise(c, traits);
    traits->nursery_words *= 2;
}
static void contradiction(const struct gc_config *c, struct collector_traits *traits) {
    (void)c;
    traits->sorted_free_list = true;
}
static struct gc_cycle claims_idle(struct gc *g) {
    return (struct gc_cycle){.begun = incremental.cycle(g).begun};
}
static enum gc_result claims_busy(struct gc *g, size_t budget) {
    incremental.step(g, budget);
    return GC_OK;
}

/* ---- what is legal in a heap -------------------------------------------------------------------
 */

/* Its second variant merges nothing. */
static void claims_always_merged(struct gc *g, const struct gc_config *c) {
    struct gc_config other = *c;
    other.variant = 1;
    remember(c);
    mark_sweep.reset(g, &other);
}
static void visit_last(void *context, enum gc_extent kind, const word *header, size_t words) {
    (void)words;
    if (kind == GC_FREE)
        *(word *)context = pointer_word(header);
}
/* The last word of the heap becomes a fragment. */
static void claims_solid_end(struct gc *g, const struct gc_config *c) {
    word last = 0;
    remember(c);
    mark_sweep.reset(g, c);
    mark_sweep.walk(g, visit_last, &last);
    word *hp = word_pointer(last);
    size_t wosize = header_wosize(hp[0]);
    hp[0] = header_make(wosize - 1, BLUE, 0);
    hp[wosize] = header_make(0, WHITE, 0);
}

/* ---- sizes ------------------------------------------------------------------------------------
 */

/* Integers have 24 bits. */
static enum gc_result claims_bits(struct gc *g, unsigned m, unsigned obj, size_t i,
                                  unsigned value) {
    word *w = &config.slots[m][value];
    word_pointer(config.slots[m][obj])[i] = is_immediate(*w) ? *w & 0x1ffffff : *w;
    (void)g;
    return GC_OK;
}
static void claims_growth(const struct gc_config *c, struct collector_traits *traits) {
    traits->grows_to = 2 * c->heap_words;
}

/* ---- cost --------------------------------------------------------------------------------------
 */

COLLECT(claims_large) {
    if (config.heap_words > 65536 && holds_block(0))
        fields(0)[0] = WORD_UNIT;
    return mark_sweep.collect(g, kind);
}
COLLECT(claims_linear) {
    for (size_t i = 0, words = config.heap_words; i < words * words / 4; i++)
        gc_tick(config.hooks);
    return mark_sweep.collect(g, kind);
}
static enum gc_result claims_paced(struct gc *g, size_t budget) {
    (void)budget;
    return incremental.step(g, SIZE_MAX);
}
ALLOC(claims_waits) {
    static unsigned n;
    if (++n % 5 == 0)
        mark_sweep.collect(g, GC_FULL);
    return mark_sweep.alloc(g, m, dst, wosize, tag, raw);
}
COLLECT(claims_steady) {
    static unsigned before;
    for (unsigned i = 0; i < before; i++)
        gc_tick(config.hooks);
    before++;
    return cheney.collect(g, kind);
}
static void claims_frugal(struct gc *g, const struct gc_config *c) {
    static void *last;
    void **kept = malloc(256);
    if (kept) {
        *kept = last;
        last = kept;
    }
    base_reset(g, c);
}
static void claims_maps(struct gc *g, const struct gc_config *c) {
    (void)mmap(NULL, 1 << 16, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    base_reset(g, c);
}
static void claims_nurses(struct gc *g, const struct gc_config *c) {
    struct gc_config other = *c;
    other.large_words = 2;
    remember(c);
    generational.reset(g, &other);
}
static void claims_ages(struct gc *g, const struct gc_config *c) {
    struct gc_config other = *c;
    other.promotion_age = 0;
    remember(c);
    generational.reset(g, &other);
}

/* ---- mutators ----------------------------------------------------------------------------------
 */

static void nobody(struct gc *g, unsigned m) {
    (void)g, (void)m;
}
static void attach_writes(struct gc *g, unsigned m) {
    (void)g;
    config.slots[m][3] = immediate(3);
}
static void leaver_takes(struct gc *g, unsigned m) {
    (void)g, (void)m;
    if (holds_block(0))
        fields(0)[1] = WORD_UNIT;
}
static bool never_settled(struct gc *g) {
    (void)g;
    return false;
}
static enum gc_result poll_nothing(struct gc *g, unsigned m) {
    (void)g, (void)m;
    return GC_OK;
}

/* ---- inspection --------------------------------------------------------------------------------
 */

struct filter {
    gc_visit *visit;
    void *context;
    enum gc_extent kind; /* the first of this kind is left out */
    bool done;
};
static void visit_but_one(void *context, enum gc_extent kind, const word *header, size_t words) {
    struct filter *f = context;
    if (kind == f->kind && !f->done)
        f->done = true;
    else
        f->visit(f->context, kind, header, words);
}
static void walk_gap(struct gc *g, gc_visit *visit, void *context) {
    struct filter f = {visit, context, GC_LIVE, false};
    cheney.walk(g, visit_but_one, &f);
}
struct turner {
    gc_visit *visit;
    void *context;
    const word *first;
    size_t words;
    unsigned n;
};
/* The first comes once more behind the second. */
static void visit_turned(void *context, enum gc_extent kind, const word *header, size_t words) {
    struct turner *t = context;
    t->visit(t->context, kind, header, words);
    if (t->n++ == 0) {
        t->first = header;
        t->words = words;
    } else if (t->n == 2) {
        t->visit(t->context, GC_LIVE, t->first, t->words);
    }
}
static void walk_goes_back(struct gc *g, gc_visit *visit, void *context) {
    struct turner t = {visit, context, NULL, 0, 0};
    cheney.walk(g, visit_turned, &t);
}
static void claims_free_list(struct gc *g, gc_visit *visit, void *context) {
    struct filter f = {visit, context, GC_FREE_LIST_ENTRY, false};
    mark_sweep.walk(g, visit_but_one, &f);
}
static void walk_collects(struct gc *g, gc_visit *visit, void *context) {
    cheney.collect(g, GC_FULL);
    cheney.walk(g, visit, context);
}
static void hides_stack(struct gc *g, gc_visit_gray *visit, void *context) {
    (void)g, (void)visit, (void)context;
}
static const char *check_complains(struct gc *g) {
    (void)g;
    return config.hooks->collections ? "to-space is upside down" : NULL;
}

/* ---- all of them -------------------------------------------------------------------------------
 */

/* The functions of a base by names of their own, and its traits as cheney.c and mark_sweep.c have
 * them. */
#define TRAMPOLINES(base)                                                                          \
    static struct gc *base##_open(void) {                                                          \
        return base.open();                                                                        \
    }                                                                                              \
    static void base##_reset(struct gc *g, const struct gc_config *c) {                            \
        remember(c);                                                                               \
        base.reset(g, c);                                                                          \
    }                                                                                              \
    static void base##_close(struct gc *g) {                                                       \
        base.close(g);                                                                             \
    }                                                                                              \
    static word *base##_image(struct gc *g, size_t *words) {                                       \
        return base.image(g, words);                                                               \
    }                                                                                              \
    static void base##_adopt(struct gc *g, size_t words) {                                         \
        base.adopt(g, words);                                                                      \
    }                                                                                              \
    static enum gc_result base##_alloc(struct gc *g, unsigned m, unsigned dst, size_t wosize,      \
                                       unsigned tag, const word *raw) {                            \
        return base.alloc(g, m, dst, wosize, tag, raw);                                            \
    }                                                                                              \
    static enum gc_result base##_collect(struct gc *g, enum gc_collection kind) {                  \
        return base.collect(g, kind);                                                              \
    }                                                                                              \
    static void base##_walk(struct gc *g, gc_visit *visit, void *context) {                        \
        base.walk(g, visit, context);                                                              \
    }
TRAMPOLINES(cheney)
TRAMPOLINES(mark_sweep)
TRAMPOLINES(incremental)
TRAMPOLINES(generational)

/* What those with slices have besides. */
#define SLICE_TRAMPOLINES(base)                                                                    \
    static enum gc_result base##_store(struct gc *g, unsigned m, unsigned obj, size_t i,           \
                                       unsigned value) {                                           \
        return base.store(g, m, obj, i, value);                                                    \
    }                                                                                              \
    static enum gc_result base##_step(struct gc *g, size_t budget) {                               \
        return base.step(g, budget);                                                               \
    }                                                                                              \
    static void base##_promise(const struct gc_config *c, struct collector_traits *traits) {       \
        base.promise(c, traits);                                                                   \
    }
SLICE_TRAMPOLINES(incremental)
SLICE_TRAMPOLINES(generational)

static struct gc_cycle generational_cycle(struct gc *g) {
    return generational.cycle(g);
}
static enum gc_result generational_switch_kind(struct gc *g, unsigned kind) {
    return generational.switch_kind(g, kind);
}
static enum gc_result claims_kind(struct gc *g, size_t budget) {
    bool idle = generational.cycle(g).phase == GC_PHASE_IDLE;
    return idle ? GC_IDLE : generational.step(g, budget);
}
static bool generational_young(struct gc *g, word v) {
    return generational.young(g, v);
}
static void generational_remembered(struct gc *g, void (*visit)(void *, word, size_t),
                                    void *context) {
    generational.remembered(g, visit, context);
}
static void generational_init(struct gc *g, unsigned m, unsigned obj, size_t i, unsigned value) {
    generational.init(g, m, obj, i, value);
}

/* ---- extras on cheney --------------------------------------------------------------------------
 */

static enum gc_result strong_ephemeron(struct gc *g, unsigned dst, size_t keys) {
    return cheney.alloc(g, 0, dst, keys + 1, 0, units);
}
static void strong_set(struct gc *g, unsigned obj, size_t i, unsigned value) {
    (void)g;
    fields(obj)[i] = *slot(value);
}
static void strong_unset(struct gc *g, unsigned obj, size_t i) {
    (void)g;
    fields(obj)[i] = WORD_UNIT;
}
static bool strong_get(struct gc *g, unsigned dst, unsigned obj, size_t i) {
    (void)g;
    if (fields(obj)[i] == WORD_UNIT)
        return false;
    *slot(dst) = fields(obj)[i];
    return true;
}
static void strong_blit(struct gc *g, unsigned src, size_t i, unsigned dst, size_t j, size_t n) {
    (void)g;
    memmove(fields(dst) + j, fields(src) + i, n * sizeof(word));
}
static enum gc_result silent_resource(struct gc *g, unsigned dst, size_t words, uint64_t number) {
    (void)number;
    return cheney.alloc(g, 0, dst, words, TAG_CUSTOM, units);
}
static void plain_forward(struct gc *g, unsigned obj, unsigned value) {
    strong_set(g, obj, 0, value);
    fields(obj)[-1] = header_make(1, WHITE, TAG_FORWARD);
}
static void gapped_truncate(struct gc *g, unsigned obj, size_t n) {
    (void)g;
    fields(obj)[-1] = header_make(n, WHITE, header_tag(fields(obj)[-1]));
}
static enum gc_result silent_finalise(struct gc *g, unsigned obj, uint64_t number, bool last) {
    (void)g, (void)obj, (void)number, (void)last;
    return GC_OK;
}
static enum gc_result shared_marshal(struct gc *g, unsigned dst, unsigned src, bool unshared,
                                     size_t words) {
    (void)g, (void)unshared, (void)words;
    *slot(dst) = *slot(src);
    return GC_OK;
}
static size_t no_measure(struct gc *g, unsigned obj) {
    (void)g, (void)obj;
    return SIZE_MAX;
}
/* With the barriers of incremental, but for unset: what it takes away the cycle never sees. */
static enum gc_result barred_ephemeron(struct gc *g, unsigned dst, size_t keys) {
    return incremental.alloc(g, 0, dst, keys + 1, 0, units);
}
static void barred_set(struct gc *g, unsigned obj, size_t i, unsigned value) {
    incremental.store(g, 0, obj, i, value);
}
#define EXTRAS(ephemeron_, set_)                                                                   \
    {                                                                                              \
        .ephemeron = ephemeron_, .set = set_, .unset = strong_unset, .get = strong_get,            \
        .blit = strong_blit, .resource = silent_resource, .forward = plain_forward,                \
        .truncate = gapped_truncate, .finalise = silent_finalise, .marshal = shared_marshal,       \
        .measure = no_measure                                                                      \
    }
static const struct gc_extras strong_extras = EXTRAS(strong_ephemeron, strong_set);
static const struct gc_extras silent_extras = EXTRAS(barred_ephemeron, barred_set);
#undef EXTRAS

#define BASE(base)                                                                                 \
    .summary = "a test of isoheap conformance", .traits.infix = true, .traits.start_env = true,    \
    .traits.raw = true, .traits.outside = true, .traits.any_word = true, .traits.atoms = true,     \
    .traits.poisons = true, .traits.whitens = true, .traits.renews = true,                         \
    .traits.full_until_exact = 1, .traits.max_mutators = GC_MUTATORS, .open = base##_open,         \
    .reset = base##_reset, .close = base##_close, .image = base##_image, .adopt = base##_adopt,    \
    .alloc = base##_alloc, .collect = base##_collect, .walk = base##_walk
#define BASE_cheney BASE(cheney), .traits.moves = true, .traits.refusal = REFUSES_EXACTLY
#define BASE_mark_sweep                                                                            \
    BASE(mark_sweep), .traits.free_list = true, .traits.refusal = REFUSES_NO_FREE_BLOCK

#define BASE_SLICES(base)                                                                          \
    BASE(base), .traits.free_list = true, .traits.sorted_free_list = true,                         \
                .traits.merged_free_list = true, .traits.refusal = REFUSES_NO_FREE_BLOCK,          \
                .promise = base##_promise, .store = base##_store, .step = base##_step
#define BASE_incremental BASE_SLICES(incremental)
#define BASE_generational                                                                          \
    BASE_SLICES(generational), .traits.moves = true, .traits.max_mutators = 1,                     \
                               .traits.exact_minor = true, .init = generational_init,              \
                               .cycle = generational_cycle, .young = generational_young,           \
                               .remembered = generational_remembered

/* What takes the place of a function or a trait of the base. */
#define SPOILS_reset_dirty      .reset = reset_dirty
#define SPOILS_reset_writes     .reset = reset_writes
#define SPOILS_alloc_two_slots  .alloc = alloc_two_slots
#define SPOILS_alloc_no_content .alloc = alloc_no_content
#define SPOILS_alloc_twice      .alloc = alloc_twice
#define SPOILS_init_collects    .init = init_collects
#define SPOILS_store_neighbour  .store = store_neighbour
#define SPOILS_blit_forward     .blit = blit_forward
#define SPOILS_raw_lost         .write_raw = raw_lost
#define SPOILS_walk_gap         .walk = walk_gap
#define SPOILS_walk_goes_back   .walk = walk_goes_back
#define SPOILS_walk_collects    .walk = walk_collects
#define SPOILS_refusal_clears   .alloc = refusal_clears
#define SPOILS_refusal_harms    .alloc = refusal_harms
#define SPOILS_image_small      .image = image_small
#define SPOILS_slot_stale       .collect = slot_stale
#define SPOILS_one_mutator      .reset = one_mutator
#define SPOILS_check_complains  .check = check_complains
#define SPOILS_hangs            .collect = hangs
#define SPOILS_crashes          .collect = crashes
#define SPOILS_sharing_lost     .collect = sharing_lost
#define SPOILS_field_stale      .collect = field_stale
#define SPOILS_cycle_cut        .collect = cycle_cut
#define SPOILS_refuses_often    .alloc = refuses_often
#define SPOILS_uncounted        .collect = uncounted
#define SPOILS_step_endless     .step = step_endless
#define SPOILS_kind_loses       .switch_kind = kind_loses, .kinds = two_kinds
#define SPOILS_state_stays      .alloc = state_stays
#define SPOILS_shares_state     .open = shares_state, .close = stays_open
#define SPOILS_opens_once       .open = opens_once
#define SPOILS_deletes_silently .store = deletes_silently
#define SPOILS_inits_silently   .init = inits_silently
#define SPOILS_fan_cut          .collect = fan_cut
#define SPOILS_one_writes       .store = one_writes
#define SPOILS_attach_writes    .attach = attach_writes, .detach = nobody
#define SPOILS_leaver_takes     .attach = nobody, .detach = leaver_takes
#define SPOILS_never_settled    .settled = never_settled, .poll = poll_nothing
#define SPOILS_contradiction    .promise = contradiction
#define SPOILS_claims_stays     .traits.moves = false
#define SPOILS_claims_start_env .collect = claims_start_env
#define SPOILS_claims_infix     .collect = claims_infix
#define SPOILS_claims_raw       .collect = claims_raw
#define SPOILS_claims_outside   .collect = claims_outside
#define SPOILS_claims_statics                                                                      \
    .collect = claims_statics, .traits.outside = false, .traits.any_word = false,                  \
    .traits.statics = true
#define SPOILS_claims_any_word  .collect = claims_any_word
#define SPOILS_claims_atoms     .collect = claims_atoms
#define SPOILS_claims_poisons   .reset = claims_poisons
#define SPOILS_claims_whitens   .collect = claims_whitens
#define SPOILS_claims_free_list .walk = claims_free_list
#define SPOILS_claims_exact     .collect = claims_exact
#define SPOILS_claims_bits                                                                         \
    .store = claims_bits, .traits.word_bits = 32, .traits.outside = false,                         \
    .traits.any_word = false, .traits.atoms = false, .traits.infix = false,                        \
    .traits.start_env = false
#define SPOILS_claims_growth   .promise = claims_growth
#define KEEPS_ALL              .collect = claims_exact, .traits.renews = false, .traits.full_until_exact = 0
#define SPOILS_claims_acyclic  KEEPS_ALL, .traits.acyclic_until_exact = 2
#define SPOILS_claims_retained KEEPS_ALL, .traits.conservative = true, .traits.most_retained = 4
#define SPOILS_claims_slices   .step = claims_slices, .cycle = tells_cycle, .traits.slices = true
#define SPOILS_claims_kind                                                                         \
    .step = claims_kind, .kinds = two_kinds, .switch_kind = generational_switch_kind
#define SPOILS_claims_ticks         .collect = claims_ticks, .traits.ticks = true
#define SPOILS_claims_shallow       .collect = claims_shallow, .traits.shallow = true
#define SPOILS_hides_stack          .mark_stack = hides_stack, .traits.tells_phases = true
#define SPOILS_claims_tells         .traits.tells = GC_TELLS(GC_SWEPT)
#define SPOILS_claims_renews        .alloc = claims_renews
#define SPOILS_claims_exactly       .alloc = claims_exactly
#define SPOILS_claims_size          .alloc = claims_size, .traits.max_wosize = 20
#define SPOILS_claims_old           .young = claims_old
#define SPOILS_forgets              .remembered = forgets
#define SPOILS_claims_once          .remembered = claims_once, .traits.remembered_once = true
#define SPOILS_claims_nursery       .promise = claims_nursery
#define SPOILS_claims_minor         .collect = claims_minor
#define SPOILS_claims_always_merged .reset = claims_always_merged, .traits.always_merged = true
#define SPOILS_claims_solid_end     .reset = claims_solid_end, .traits.solid_end = true
#define SPOILS_claims_black         .traits.black_young = true
#define SPOILS_claims_compacts      .traits.compacts = true
#define SPOILS_claims_slides        .traits.slides = true
#define SPOILS_claims_large         .collect = claims_large
#define SPOILS_claims_linear        .collect = claims_linear, .traits.ticks = true, .traits.linear = 3
#define SPOILS_claims_paced                                                                        \
    .step = claims_paced, .cycle = tells_cycle, .traits.slices = true, .traits.ticks = true,       \
    .traits.linear = 5, .traits.paced = 1
#define SPOILS_claims_waits      .alloc = claims_waits, .traits.waits = true
#define SPOILS_claims_steady     .collect = claims_steady, .traits.steady = true
#define SPOILS_claims_frugal     .reset = claims_frugal, .traits.steady = true
#define SPOILS_claims_maps       .reset = claims_maps, .traits.steady = true
#define SPOILS_claims_nurses     .reset = claims_nurses, .traits.young_first = true
#define SPOILS_claims_ages       .reset = claims_ages, .traits.ages = true
#define SPOILS_claims_idle       .cycle = claims_idle
#define SPOILS_claims_busy       .step = claims_busy, .cycle = tells_cycle
#define SPOILS_strong_ephemerons .extras = &strong_extras
#define SPOILS_unsets_silently   .extras = &silent_extras
#define SPOILS_pends_white       .alloc = pends_white, .poll = poll_white

#define X(name_, step, base, what)                                                                 \
    extern const struct collector broken_##name_;                                                  \
    const struct collector broken_##name_ = {.name = "broken_" #name_, BASE_##base, SPOILS_##name_};
BROKEN_PROMISES(X)
#undef X
