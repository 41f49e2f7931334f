/* SPDX-License-Identifier: MIT
 *
 * The conformance kit: stores that a collector must hear of, at every moment at which it must
 * (conform.h).
 */
#include "conformance/internal.h"

#include <stdio.h>

enum {
    HOLDER = 1,       /* what is written */
    SOURCE,           /* what led to it before */
    TARGET,           /* what must live */
    FRESH,            /* what is initialised */
    GROWS_OLD = 17,   /* minor collections after which a block is old, whatever the promotion age */
    SLICES = 48,      /* moments of a cycle */
    KINDS_AT_ALL = 4, /* of a collector: so many are looked at at all of them */
    HOLDER_ID = 100,
    SOURCE_ID,
    TARGET_ID
};

/* How the last way to a block is made: each is an operation of its own in a runtime. */
enum way { BY_STORE, BY_INIT, BY_BLIT, BY_ROOT, WAYS };
static const char *const ways[] = {"a store", "an initialising store", "a blit",
                                   "a load into a root"};

static void drop(struct conform *c, unsigned slot) {
    c->slots[0][slot] = WORD_UNIT;
}

static void age(struct conform *c) {
    for (unsigned n = 0; n < GROWS_OLD; n++)
        collect(c, GC_MINOR);
}

static void expect_target(struct conform *c, unsigned holder, const char *when) {
    if (holder != TARGET) {
        expect_node(c, 0, holder, HOLDER_ID, when);
        get_field(c, 0, SCRATCH, holder, 1);
        expect_node(c, 0, SCRATCH, TARGET_ID, when);
        drop(c, SCRATCH);
    } else {
        expect_node(c, 0, TARGET, TARGET_ID, when);
    }
}

static unsigned length(const struct conform *c) {
    return 2u << c->scale;
}

/* The holder in a slot, and the source at the end of a list: a cycle comes by the one early and by
 * the other late. */
static void make_both(struct conform *c) {
    make_node(c, 0, TARGET, TARGET_ID);
    make_node(c, 0, 0, SOURCE_ID);
    set_field(c, 0, 0, 1, TARGET);
    drop(c, TARGET);
    for (unsigned i = 0; i < length(c); i++) {
        make_node(c, 0, SOURCE, i);
        set_field(c, 0, SOURCE, 1, 0);
        c->slots[0][0] = c->slots[0][SOURCE];
    }
    drop(c, SOURCE);
    make_node(c, 0, HOLDER, HOLDER_ID);
}

static void find_source(struct conform *c, const char *when) {
    c->slots[0][SOURCE] = c->slots[0][0];
    for (unsigned i = length(c); i-- > 0;) {
        expect_node(c, 0, SOURCE, i, when);
        get_field(c, 0, SOURCE, SOURCE, 1);
    }
    expect_node(c, 0, SOURCE, SOURCE_ID, when);
}

/* The slot that leads to the target from now on; nothing else does. */
static unsigned move_by(struct conform *c, enum way way) {
    unsigned holder = way == BY_INIT ? FRESH : way == BY_ROOT ? TARGET : HOLDER;
    find_source(c, "in the middle of a cycle");
    if (way == BY_BLIT)
        blit_fields(c, SOURCE, 1, HOLDER, 1, 1);
    else
        get_field(c, 0, TARGET, SOURCE, 1);
    if (way == BY_STORE)
        set_field(c, 0, HOLDER, 1, TARGET);
    if (way == BY_INIT) {
        make_node(c, 0, FRESH, HOLDER_ID);
        init_field(c, 0, FRESH, 1, TARGET);
    }
    set_field(c, 0, SOURCE, 1, SCRATCH);
    if (way != BY_ROOT)
        drop(c, TARGET);
    return holder;
}

/* ---- barrier: while a cycle is under way ------------------------------------------------------
 */

enum gc_result slice(struct conform *c, size_t budget) {
    c->hooks->fuel = FUEL;
    return c->collector->step(c->gc, budget);
}

static void check_moment(struct conform *c, enum way way, unsigned slices, bool old) {
    char when[160];
    fresh_heap(c, c->words, 1);
    make_both(c);
    if (old)
        age(c);
    for (unsigned n = 0; n < slices; n++)
        slice(c, c->words / SLICES + 1);
    unsigned holder = move_by(c, way);
    snprintf(when, sizeof when, "what %s %u slices into a cycle alone leads to: after the cycle",
             ways[way], slices);
    slices_of_a_cycle(c);
    expect_target(c, holder, when);
    snprintf(when, sizeof when,
             "what %s %u slices into a cycle alone leads to: after a full collection", ways[way],
             slices);
    collect(c, GC_FULL);
    expect_target(c, holder, when);
}

/* ---- the same with ephemerons: what is held weakly becomes more ---------------------------------
 */

enum {
    WEAK = 4,   /* slots: an ephemeron, */
    OTHER_WEAK, /* and another one, */
    KEY         /* whose key this is */
};

/* How the last way to the target is made: it comes from data, or goes into data; or it was a key,
 * which nothing need keep before it is read. */
enum weak_way { BY_DATA_READ, BY_KEY_READ, BY_DATA_SET, BY_DATA_BLIT, WEAK_WAYS };
static const char *const weak_ways[] = {"a read of an ephemeron's data", "a read of a key",
                                        "data that an ephemeron gets",
                                        "data that one ephemeron gets of another"};

static const struct gc_extras *weakly(struct conform *c) {
    c->hooks->fuel = FUEL;
    return c->collector->extras;
}

/* An ephemeron with a key that lives and one that is not set. */
static void make_weak(struct conform *c, unsigned slot) {
    if (weakly(c)->ephemeron(c->gc, slot, 2) != GC_OK)
        broken(c, "an ephemeron with 2 keys was refused, although most of the heap is free");
    weakly(c)->set(c->gc, slot, 1, KEY);
}

static void make_weaks(struct conform *c, enum weak_way way) {
    make_both(c);
    make_node(c, 0, KEY, HOLDER_ID);
    make_weak(c, WEAK);
    make_weak(c, OTHER_WEAK);
    if (way == BY_DATA_SET)
        return;
    find_source(c, "before a cycle");
    get_field(c, 0, TARGET, SOURCE, 1);
    weakly(c)->set(c->gc, WEAK, way == BY_KEY_READ ? 2 : 0, TARGET);
    set_field(c, 0, SOURCE, 1, SCRATCH);
    drop(c, TARGET);
    drop(c, SOURCE);
}

/* Out of the ephemeron into a slot.  False: it has gone before, as a key may. */
static bool read_weakly(struct conform *c, size_t i) {
    if (!weakly(c)->get(c->gc, TARGET, WEAK, i)) {
        if (i == 0)
            broken(c, "the data of an ephemeron whose keys live are gone in a cycle");
        return false;
    }
    weakly(c)->unset(c->gc, WEAK, i);
    return true;
}

static bool move_weakly(struct conform *c, enum weak_way way) {
    if (way == BY_DATA_READ || way == BY_KEY_READ)
        return read_weakly(c, way == BY_KEY_READ ? 2 : 0);
    if (way == BY_DATA_SET) {
        find_source(c, "in the middle of a cycle");
        get_field(c, 0, TARGET, SOURCE, 1);
        weakly(c)->set(c->gc, WEAK, 0, TARGET);
        set_field(c, 0, SOURCE, 1, SCRATCH);
    } else {
        weakly(c)->blit(c->gc, WEAK, 0, OTHER_WEAK, 0, 1);
        weakly(c)->unset(c->gc, WEAK, 0);
    }
    drop(c, SOURCE);
    drop(c, TARGET);
    return true;
}

static void expect_weakly(struct conform *c, enum weak_way way, const char *when) {
    bool data = way == BY_DATA_SET || way == BY_DATA_BLIT;
    unsigned holder = way == BY_DATA_BLIT ? OTHER_WEAK : WEAK;
    if (data && !weakly(c)->get(c->gc, TARGET, holder, 0))
        broken(c, "%s the data are gone, although the keys live", when);
    expect_node(c, 0, TARGET, TARGET_ID, when);
    if (data)
        drop(c, TARGET);
}

static void check_weak_moment(struct conform *c, enum weak_way way, unsigned slices, bool old) {
    char when[160];
    fresh_heap(c, c->words, 1);
    make_weaks(c, way);
    if (old)
        age(c);
    for (unsigned n = 0; n < slices; n++)
        slice(c, c->words / SLICES + 1);
    if (!move_weakly(c, way))
        return;
    snprintf(when, sizeof when, "what %s %u slices into a cycle alone leads to: after the cycle",
             weak_ways[way], slices);
    slices_of_a_cycle(c);
    expect_weakly(c, way, when);
    snprintf(when, sizeof when,
             "what %s %u slices into a cycle alone leads to: after a full collection",
             weak_ways[way], slices);
    collect(c, GC_FULL);
    expect_weakly(c, way, when);
}

/* Of many kinds each has its share of the moments, and so has each way by an ephemeron: another
 * one, so that all moments come. */
static bool is_its_turn(const struct conform *c, unsigned moment, unsigned turn, unsigned turns) {
    unsigned stride = (kinds_of(c) + KINDS_AT_ALL - 1) / KINDS_AT_ALL * turns;
    return (moment + c->kind + turn) % stride == 0;
}

static void check_moments(struct conform *c) {
    unsigned ages = c->collector->young ? 2 : 1;
    for (enum way way = 0; way < WAYS; way++)
        for (unsigned n = 0; n < SLICES * ages && (way != BY_BLIT || c->collector->blit); n++)
            if (is_its_turn(c, n / ages, 0, 1))
                check_moment(c, way, n / ages, n % ages);
    for (enum weak_way way = 0; way < WEAK_WAYS && c->collector->extras; way++)
        for (unsigned n = 0; n < SLICES * ages; n++)
            if (is_its_turn(c, n / ages, way, 2))
                check_weak_moment(c, way, n / ages, n % ages);
}

static void check_barrier(struct conform *c) {
    for (c->kind = 0; c->kind < kinds_of(c); c->kind++)
        check_moments(c);
    c->kind = 0;
}

/* ---- recorded: from old to young --------------------------------------------------------------
 */

static void expect_after_minors(struct conform *c, unsigned holder, const char *how) {
    char when[160];
    snprintf(when, sizeof when, "after a minor collection, what %s alone leads to:", how);
    for (unsigned n = 0; n < 3; n++) {
        collect(c, GC_MINOR);
        expect_target(c, holder, when);
    }
}

static void check_record(struct conform *c, enum way way) {
    fresh_heap(c, c->words, 1);
    make_both(c);
    age(c);
    make_node(c, 0, TARGET, TARGET_ID);
    if (way == BY_BLIT) {
        make_node(c, 0, SOURCE, SOURCE_ID);
        set_field(c, 0, SOURCE, 1, TARGET);
        blit_fields(c, SOURCE, 1, HOLDER, 1, 1);
        drop(c, SOURCE);
    } else {
        set_field(c, 0, HOLDER, 1, TARGET);
    }
    drop(c, TARGET);
    expect_after_minors(c, HOLDER, ways[way]);
}

/* Of a block that is as likely as any to be old from the start. */
static void check_initialised(struct conform *c) {
    size_t wosize = as_long(c, c->words / 4);
    fresh_heap(c, c->words, 1);
    make_both(c);
    age(c);
    make_node(c, 0, TARGET, TARGET_ID);
    make(c, 0, FRESH, wosize, node_tag(c), c->units);
    init_field(c, 0, FRESH, wosize - 1, TARGET);
    drop(c, TARGET);
    collect(c, GC_MINOR);
    get_field(c, 0, TARGET, FRESH, wosize - 1);
    expect_node(c, 0, TARGET, TARGET_ID,
                "after a minor collection, what an initialising store into a large block alone "
                "leads to:");
}

/* The last of several stores counts, and what the first ones led to may go. */
static void check_overwritten(struct conform *c) {
    fresh_heap(c, c->words, 1);
    make_both(c);
    age(c);
    make_node(c, 0, FRESH, TARGET_ID + 1);
    make_node(c, 0, TARGET, TARGET_ID);
    set_field(c, 0, HOLDER, 1, FRESH);
    set_field(c, 0, HOLDER, 1, SCRATCH);
    set_field(c, 0, HOLDER, 1, FRESH);
    set_field(c, 0, HOLDER, 1, TARGET);
    drop(c, FRESH);
    drop(c, TARGET);
    expect_after_minors(c, HOLDER, "the last of four stores into a field");
}

/* A block that grows old before what it leads to. */
static void check_promoted(struct conform *c) {
    for (unsigned minors = 0; minors < 4; minors++) {
        fresh_heap(c, c->words, 1);
        make_both(c);
        for (unsigned n = 0; n < minors; n++)
            collect(c, GC_MINOR);
        make_node(c, 0, TARGET, TARGET_ID);
        set_field(c, 0, HOLDER, 1, TARGET);
        drop(c, TARGET);
        expect_after_minors(c, HOLDER, "a store into a block that grows old first");
    }
}

/* As many old blocks as an eighth of the heap holds, and each gets a young one. */
static void check_many(struct conform *c) {
    unsigned n = (unsigned)(c->words / 24);
    fresh_heap(c, c->words, 1);
    drop(c, HOLDER);
    for (unsigned i = 0; i < n; i++) { /* a list through field 0 */
        make(c, 0, SOURCE, 2, node_tag(c), c->units);
        set_field(c, 0, SOURCE, 0, HOLDER);
        c->slots[0][HOLDER] = c->slots[0][SOURCE];
    }
    drop(c, SOURCE);
    age(c);
    c->slots[0][SOURCE] = c->slots[0][HOLDER];
    for (unsigned i = 0; i < n; i++) {
        make_node(c, 0, TARGET, i);
        set_field(c, 0, SOURCE, 1, TARGET);
        get_field(c, 0, SOURCE, SOURCE, 0);
    }
    drop(c, TARGET);
    collect(c, GC_MINOR);
    for (unsigned i = 0; i < n; i++) {
        get_field(c, 0, TARGET, HOLDER, 1);
        expect_node(c, 0, TARGET, i,
                    "after a minor collection, what one of many old blocks alone leads to:");
        get_field(c, 0, HOLDER, HOLDER, 0);
    }
}

static void check_recorded(struct conform *c) {
    check_record(c, BY_STORE);
    check_initialised(c);
    if (c->collector->blit)
        check_record(c, BY_BLIT);
    check_overwritten(c);
    check_promoted(c);
    check_many(c);
}

/* ---- overflow: a mark stack of few entries ----------------------------------------------------
 */

/* A block of many fields in slot HOLDER, each of which leads to a list of two. */
static void make_fan(struct conform *c, unsigned rays) {
    make(c, 0, HOLDER, rays, node_tag(c), c->units);
    for (unsigned i = 0; i < rays; i++) {
        make_node(c, 0, TARGET, 2 * i + 1);
        make_node(c, 0, SOURCE, 2 * i);
        set_field(c, 0, SOURCE, 1, TARGET);
        set_field(c, 0, HOLDER, i, SOURCE);
    }
    drop(c, SOURCE);
    drop(c, TARGET);
}

static void expect_fan(struct conform *c, unsigned rays, const char *when) {
    for (unsigned i = 0; i < rays; i++) {
        get_field(c, 0, SOURCE, HOLDER, i);
        expect_node(c, 0, SOURCE, 2 * i, when);
        get_field(c, 0, TARGET, SOURCE, 1);
        expect_node(c, 0, TARGET, 2 * i + 1, when);
    }
    drop(c, SOURCE);
    drop(c, TARGET);
}

static void check_overflow(struct conform *c) {
    unsigned rays = (unsigned)as_long(c, c->words / 24);
    for (unsigned entries = 1; entries <= 4; entries *= 2) {
        fresh_heap_with(c, c->words, entries);
        make_fan(c, rays);
        for (unsigned k = 0; k < COLLECTIONS; k++) {
            collect(c, conform_each[k].kind);
            expect_fan(c, rays, conform_each[k].when);
        }
        if (!c->collector->step)
            continue;
        slice(c, 1);
        slices_of_a_cycle(c);
        expect_fan(c, rays, "after a cycle of slices");
    }
}

const struct conform_step conform_barriers[] = {
    {"barrier", "what a store, a blit or a load leads to at any moment of a cycle is kept by it",
     has_step, check_barrier},
    {"recorded", "a minor collection keeps what an old block alone leads to, however it came there",
     has_collect, check_recorded},
    {"overflow", "a mark stack of few entries loses nothing", has_collect, check_overflow},
    {NULL, NULL, NULL, NULL}};
