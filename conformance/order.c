/* SPDX-License-Identifier: MIT
 *
 * The conformance kit, fifth part: the order of blocks in memory, and the order of the phases of a
 * cycle (conform.h).
 */
#include "conformance/internal.h"

enum { GARBAGE = SCRATCH + 2 };

/* ---- compacts ---------------------------------------------------------------------------------
 */

CLAIMED(compacts)

struct packing {
    struct conform *c;
    unsigned live;
    size_t free; /* extents that are not live */
};

static void visit_packing(void *context, enum gc_extent kind, const word *header, size_t words) {
    struct packing *p = context;
    (void)header;
    if (kind == GC_FREE_LIST_ENTRY)
        return;
    if (kind != GC_LIVE) {
        if (kind == GC_UNUSED || p->free++)
            broken(p->c, "after a compaction %s of %zu words is left beside the one free block",
                   kind == GC_UNUSED ? "unused memory" : "a second free block", words);
        return;
    }
    p->live++;
    if (p->free)
        broken(p->c, "after a compaction block %u lies behind a free block: there is a gap",
               p->live - 1);
}

static void check_compacts(struct conform *c) {
    unsigned n = 2u << c->scale;
    for (unsigned round = 0; round < 3; round++) {
        make_list(c, n);
        for (unsigned i = 0; i < 4; i++)
            make(c, 0, GARBAGE, 1 + i, 0, c->units);
        c->slots[0][GARBAGE] = WORD_UNIT;
        make_node(c, 0, 1, round);
        collect(c, GC_COMPACT);
        struct packing packing = {c, 0, 0};
        c->collector->walk(c->gc, visit_packing, &packing);
        if (packing.live != n + 1)
            broken(c, "%u blocks are reachable, and after a compaction the walk has %u live ones",
                   n + 1, packing.live);
        expect_list(c, n, "after a compaction");
    }
}

/* ---- slides -----------------------------------------------------------------------------------
 */

CLAIMED(slides)

static void expect_order(struct conform *c, const word *before, unsigned n) {
    for (unsigned s = 0; s < n; s++)
        for (unsigned t = 0; t < s; t++)
            if ((before[s] < before[t]) != (c->slots[0][s] < c->slots[0][t]))
                broken(c, "a collection has changed the order of the blocks in slots %u and %u", t,
                       s);
}

/* The order of the slots is none of addresses. */
static void check_slides(struct conform *c) {
    unsigned n = 4u << c->scale < SCRATCH ? 4u << c->scale : SCRATCH / 2;
    word before[GC_SLOTS];
    for (unsigned i = 0; i < n; i++) {
        make_node(c, 0, GARBAGE, 100);
        make_node(c, 0, (5 * i + 3) % n, i);
    }
    c->slots[0][GARBAGE] = WORD_UNIT;
    for (enum gc_collection kind = GC_MINOR; kind <= GC_COMPACT; kind++) {
        for (unsigned s = 0; s < n; s++)
            before[s] = c->slots[0][s];
        collect(c, kind);
        expect_order(c, before, n);
    }
}

/* ---- cycle ------------------------------------------------------------------------------------
 */

static const char *tells_cycle(const struct conform *c) {
    return c->collector->cycle ? NULL : "no function cycle: none is shown";
}

struct swept {
    struct conform *c;
    const word *cursor;
    bool inside; /* the cursor is the header of an extent, or the end */
};

static void visit_swept(void *context, enum gc_extent kind, const word *header, size_t words) {
    struct swept *s = context;
    if (kind == GC_FREE_LIST_ENTRY)
        return;
    s->inside |= header == s->cursor || header + words == s->cursor;
    if (kind == GC_LIVE && header < s->cursor && header_colour(*header) != WHITE)
        broken(s->c, "while the cycle sweeps, a block below its cursor is not white");
}

/* The state between two calls is what cycle says of it. */
static void expect_phase(struct conform *c, const struct gc_cycle *now) {
    if (now->phase == GC_PHASE_IDLE && c->traits.whitens)
        walk(c, HEAP_TILES | HEAP_COLOURS);
    if (now->phase != GC_PHASE_SWEEP)
        return;
    struct swept swept = {c, now->cursor, false};
    c->collector->walk(c->gc, visit_swept, &swept);
    if (!swept.inside)
        broken(c, "while the cycle sweeps, its cursor is at no header of the heap");
}

static void expect_progress(struct conform *c, const struct gc_cycle *before,
                            const struct gc_cycle *after) {
    bool same = after->begun == before->begun;
    if (after->begun < before->begun)
        broken(c, "cycle counts backwards: %llu cycles had begun, and now %llu",
               (unsigned long long)before->begun, (unsigned long long)after->begun);
    if (same && before->phase == GC_PHASE_IDLE && after->phase != GC_PHASE_IDLE)
        broken(c, "a cycle has begun, and cycle does not count it");
    if (same && before->phase == GC_PHASE_SWEEP && after->phase == GC_PHASE_MARK)
        broken(c, "a cycle that swept marks again");
}

/* What is allocated while a cycle marks belongs to its snapshot. */
static void expect_allocation(struct conform *c) {
    struct gc_cycle before = c->collector->cycle(c->gc);
    make_node(c, 0, GARBAGE, 7);
    struct gc_cycle after = c->collector->cycle(c->gc);
    word v = c->slots[0][GARBAGE];
    bool young = c->collector->young && c->collector->young(c->gc, v);
    if (!young && before.phase == GC_PHASE_MARK && after.phase == GC_PHASE_MARK &&
        before.begun == after.begun && header_colour(header_of(v)) == WHITE)
        broken(c, "a block that was allocated while the cycle marks is white");
    c->slots[0][GARBAGE] = WORD_UNIT;
}

static void check_phases(struct conform *c) {
    unsigned n = 2u << c->scale;
    make_list(c, n);
    struct gc_cycle before = c->collector->cycle(c->gc);
    uint64_t last = before.begun + 2;
    for (unsigned i = 0; i < 8 * c->words && before.begun <= last; i++) {
        c->hooks->fuel = FUEL;
        enum gc_result result = c->collector->step(c->gc, 1);
        struct gc_cycle after = c->collector->cycle(c->gc);
        if (result == GC_IDLE && after.phase != GC_PHASE_IDLE)
            broken(c, "step answers idle, and cycle says that one is under way");
        if (result == GC_OK && after.phase == GC_PHASE_IDLE)
            broken(c, "step answers ok, and cycle says that none is under way");
        expect_progress(c, &before, &after);
        expect_phase(c, &after);
        if (i % 8 == 0)
            expect_allocation(c);
        before = c->collector->cycle(c->gc);
    }
    expect_list(c, n, "after cycles");
}

const struct conform_step conform_order[] = {
    {"compacts", "a compaction leaves the reachable blocks without a gap, then one free block",
     claims_compacts, check_compacts},
    {"slides", "collections never change the order of the blocks' addresses", claims_slides,
     check_slides},
    {"phases", "cycle tells in which phase a cycle is", tells_cycle, check_phases},
    {NULL, NULL, NULL, NULL}};
