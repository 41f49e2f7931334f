/* SPDX-License-Identifier: MIT
 *
 * Healthy collectors that do what is rare and legal (odd.h): a sound one, and functions in front of
 * its own.  One is open at a time.
 */
#include "tests/conformance/odd.h"

#include "collectors/cheney/cheney.h"
#include "collectors/counting/counting.h"
#include "collectors/generational/generational.h"
#include "collectors/incremental/incremental.h"
#include "collectors/mark_sweep/mark_sweep.h"
#include "collectors/narrow/narrow.h"
#include "collectors/sharing/sharing.h"

#include <string.h>

static struct gc_config odd_config; /* of the last reset */
static unsigned odd_calls;          /* since then */

static void begin(const struct gc_config *c) {
    odd_config = *c;
    odd_calls = 0;
}

/* ---- refuses: each third call for want of memory, after a collection ---------------------------
 */

static struct collector refuses;

static void refuses_reset(struct gc *g, const struct gc_config *c) {
    begin(c);
    cheney.reset(g, c);
}
static bool refuse(struct gc *g) {
    if (++odd_calls % 3)
        return false;
    cheney.collect(g, GC_FULL);
    return true;
}
static enum gc_result refuses_store(struct gc *g, unsigned m, unsigned obj, size_t i,
                                    unsigned value) {
    if (refuse(g))
        return GC_OUT_OF_MEMORY;
    word_pointer(odd_config.slots[m][obj])[i] = odd_config.slots[m][value];
    return GC_OK;
}
static enum gc_result refuses_load(struct gc *g, unsigned m, unsigned dst, unsigned obj, size_t i) {
    if (refuse(g))
        return GC_OUT_OF_MEMORY;
    odd_config.slots[m][dst] = word_pointer(odd_config.slots[m][obj])[i];
    return GC_OK;
}
static enum gc_result refuses_blit(struct gc *g, unsigned m, unsigned src, size_t i, unsigned dst,
                                   size_t j, size_t n) {
    if (refuse(g))
        return GC_OUT_OF_MEMORY;
    memmove(word_pointer(odd_config.slots[m][dst]) + j, word_pointer(odd_config.slots[m][src]) + i,
            n * sizeof(word));
    return GC_OK;
}
static enum gc_result refuses_collect(struct gc *g, enum gc_collection kind) {
    return refuse(g) ? GC_OUT_OF_MEMORY : cheney.collect(g, kind);
}

static void make_refuses(void) {
    refuses = cheney;
    refuses.name = "odd_refuses";
    refuses.reset = refuses_reset;
    refuses.store = refuses_store;
    refuses.load = refuses_load;
    refuses.blit = refuses_blit;
    refuses.collect = refuses_collect;
    refuses.traits.may_refuse = refuses.traits.single = true;
    refuses.traits.linear = 0; /* a refusal is a collection more */
    refuses.traits.steady = false;
    refuses.promise = NULL;
}

/* ---- comes: a mutator that comes or goes has everything moved -----------------------------------
 */

static struct collector comes;

static void moves_everything(struct gc *g, unsigned m) {
    (void)m;
    cheney.collect(g, GC_FULL);
}
static void make_comes(void) {
    comes = refuses;
    comes.name = "odd_comes";
    comes.store = NULL;
    comes.load = NULL;
    comes.blit = NULL;
    comes.collect = cheney.collect;
    comes.attach = comes.detach = moves_everything;
    comes.traits = cheney.traits;
    comes.traits.single = true;
    comes.promise = cheney.promise;
}

/* ---- pending: an allocation takes two polls, and slices are done in between ---------------------
 */

static struct collector pending;
static struct {
    unsigned polls, m, dst, tag;
    size_t wosize;
    const word *raw;
} asked;

static void pending_reset(struct gc *g, const struct gc_config *c) {
    begin(c);
    incremental.reset(g, c);
}
static enum gc_result pending_alloc(struct gc *g, unsigned m, unsigned dst, size_t wosize,
                                    unsigned tag, const word *raw) {
    (void)g;
    asked.polls = 2;
    asked.m = m;
    asked.dst = dst;
    asked.tag = tag;
    asked.wosize = wosize;
    asked.raw = raw;
    return GC_PENDING;
}
static enum gc_result pending_poll(struct gc *g, unsigned m) {
    if (m != asked.m || !asked.polls)
        return GC_IDLE;
    if (incremental.cycle(g).phase != GC_PHASE_IDLE)
        incremental.step(g, 2);
    if (--asked.polls)
        return GC_PENDING;
    return incremental.alloc(g, m, asked.dst, asked.wosize, asked.tag, asked.raw);
}
static void make_pending(void) {
    pending = incremental;
    pending.name = "odd_pending";
    pending.reset = pending_reset;
    pending.alloc = pending_alloc;
    pending.poll = pending_poll;
    pending.traits.single = true;
    pending.traits.waits = pending.traits.steady = false;
}

/* ---- black: young blocks are black between two calls --------------------------------------------
 */

static struct collector black;
struct brush {
    struct gc *gc;
    unsigned colour;
};

static void paint_one(void *context, enum gc_extent kind, const word *header, size_t words) {
    const struct brush *b = context;
    (void)words;
    if (kind == GC_LIVE && generational.young(b->gc, pointer_word(header + 1)))
        *(word *)(uintptr_t)header = header_recolour(*header, b->colour);
}
static void paint(struct gc *g, unsigned colour) {
    generational.walk(g, paint_one, &(struct brush){g, colour});
}
static enum gc_result painted(struct gc *g, enum gc_result result) {
    paint(g, BLACK);
    return result;
}
static void black_reset(struct gc *g, const struct gc_config *c) {
    begin(c);
    generational.reset(g, c);
}
static void black_adopt(struct gc *g, size_t words) {
    generational.adopt(g, words);
    paint(g, BLACK);
}
static enum gc_result black_alloc(struct gc *g, unsigned m, unsigned dst, size_t wosize,
                                  unsigned tag, const word *raw) {
    paint(g, WHITE);
    return painted(g, generational.alloc(g, m, dst, wosize, tag, raw));
}
static void black_init(struct gc *g, unsigned m, unsigned obj, size_t i, unsigned value) {
    paint(g, WHITE);
    generational.init(g, m, obj, i, value);
    paint(g, BLACK);
}
static enum gc_result black_store(struct gc *g, unsigned m, unsigned obj, size_t i,
                                  unsigned value) {
    paint(g, WHITE);
    return painted(g, generational.store(g, m, obj, i, value));
}
static enum gc_result black_collect(struct gc *g, enum gc_collection kind) {
    paint(g, WHITE);
    return painted(g, generational.collect(g, kind));
}
static enum gc_result black_step(struct gc *g, size_t budget) {
    paint(g, WHITE);
    return painted(g, generational.step(g, budget));
}
static enum gc_result black_switch(struct gc *g, unsigned kind) {
    paint(g, WHITE);
    return painted(g, generational.switch_kind(g, kind));
}
static void black_promise(const struct gc_config *c, struct collector_traits *traits) {
    generational.promise(c, traits);
    traits->black_young = true;
    traits->tells_phases = false;
    traits->tells = 0;
}
static void make_black(void) {
    black = generational;
    black.name = "odd_black";
    black.reset = black_reset;
    black.adopt = black_adopt;
    black.alloc = black_alloc;
    black.init = black_init;
    black.store = black_store;
    black.collect = black_collect;
    black.step = black_step;
    black.switch_kind = black_switch;
    black.promise = black_promise;
    black.traits.max_heap_words = 1 << 13; /* all of it is painted twice at each call */
}

/* ---- restless: where one cycle ends the next one begins, so that none is ever idle --------------
 */

static struct collector restless;

static enum gc_result goes_on(struct gc *g, enum gc_result result) {
    struct gc_cycle cycle = incremental.cycle(g);
    if (cycle.begun == 0 || cycle.phase != GC_PHASE_IDLE)
        return result;
    incremental.step(g, 1);
    return result == GC_IDLE ? GC_OK : result;
}
static void restless_reset(struct gc *g, const struct gc_config *c) {
    begin(c);
    incremental.reset(g, c);
}
static enum gc_result restless_alloc(struct gc *g, unsigned m, unsigned dst, size_t wosize,
                                     unsigned tag, const word *raw) {
    goes_on(g, GC_OK); /* what is collected in an allocation is so before it */
    return incremental.alloc(g, m, dst, wosize, tag, raw);
}
static enum gc_result restless_collect(struct gc *g, enum gc_collection kind) {
    return goes_on(g, incremental.collect(g, kind));
}
static enum gc_result restless_step(struct gc *g, size_t budget) {
    return goes_on(g, incremental.step(g, budget));
}
static void make_restless(void) {
    restless = incremental;
    restless.name = "odd_restless";
    restless.reset = restless_reset;
    restless.alloc = restless_alloc;
    restless.collect = restless_collect;
    restless.step = restless_step;
}

/* ---- doubled: remembers each field twice, and does not promise once ----------------------------
 */

static struct collector doubled;

static void doubled_remembered(struct gc *g, void (*visit)(void *, word, size_t), void *context) {
    generational.remembered(g, visit, context);
    generational.remembered(g, visit, context);
}
static void make_doubled(void) {
    doubled = generational;
    doubled.name = "odd_doubled";
    doubled.remembered = doubled_remembered;
    doubled.traits.remembered_once = false;
}

/* ---- cautious: promises of what it keeps next to nothing, and keeps nothing --------------------
 */

static struct collector cautious;

static void cautious_reset(struct gc *g, const struct gc_config *c) {
    begin(c);
    mark_sweep.reset(g, c);
}
static void cautious_promise(const struct gc_config *c, struct collector_traits *traits) {
    mark_sweep.promise(c, traits);
    traits->conservative = true;
    traits->most_retained = 1;
    traits->full_until_exact = traits->tells = 0;
    traits->shallow = traits->steady = traits->renews = traits->tells_phases = false;
}
static void make_cautious(void) {
    cautious = mark_sweep;
    cautious.name = "odd_cautious";
    cautious.reset = cautious_reset;
    cautious.promise = cautious_promise;
}

/* ---- all of them ------------------------------------------------------------------------------
 */

const struct collector *odd_collector(unsigned n) {
    static const struct collector *const all[] = {&narrow,   &counting, &sharing, &refuses,
                                                  &comes,    &pending,  &black,   &restless,
                                                  &cautious, &doubled};
    if (!refuses.name) {
        make_refuses();
        make_comes();
        make_pending();
        make_black();
        make_restless();
        make_cautious();
        make_doubled();
    }
    return n < sizeof all / sizeof *all ? all[n] : NULL;
}
