/* SPDX-License-Identifier: MIT
 *
 * The conformance kit, sixth part: what a runtime has besides a collector (collectors/extras.h,
 * conform.h).
 */
#include "conformance/internal.h"

enum { KEYS = 2, OLD = SCRATCH + 1, NODE_WORDS = 2 };

static const char *has_extras(const struct conform *c) {
    return c->collector->extras ? NULL : "no extras: a collector and no runtime";
}

static const struct gc_extras *extras(struct conform *c) {
    c->hooks->fuel = FUEL;
    return c->collector->extras;
}

/* ---- ephemerons -------------------------------------------------------------------------------
 */

static void make_ephemeron(struct conform *c, unsigned slot) {
    if (extras(c)->ephemeron(c->gc, slot, KEYS) != GC_OK)
        broken(c, "an ephemeron with %d keys was refused, although most of the heap is free", KEYS);
}

static void expect_set(struct conform *c, unsigned obj, size_t i, unsigned id, const char *when) {
    c->slots[0][OLD] = WORD_UNIT;
    if (!extras(c)->get(c->gc, OLD, obj, i))
        broken(c, "%s field %zu of an ephemeron reads as not set", when, i);
    expect_node(c, 0, OLD, id, when);
    c->slots[0][OLD] = WORD_UNIT;
}

static void expect_unset(struct conform *c, unsigned obj, size_t i, const char *when) {
    c->slots[0][OLD] = immediate(99);
    if (extras(c)->get(c->gc, OLD, obj, i))
        broken(c, "%s field %zu of an ephemeron reads as set", when, i);
    if (c->slots[0][OLD] != immediate(99))
        broken(c, "get says that a field is not set, and has changed its slot");
    c->slots[0][OLD] = WORD_UNIT;
}

/* Slot 0: an ephemeron whose key 1 is the block in slot 1 and whose data nothing else holds. */
static void make_pair(struct conform *c) {
    make_ephemeron(c, 0);
    for (size_t i = 0; i <= KEYS; i++)
        expect_unset(c, 0, i, "in a new one");
    make_node(c, 0, 1, 5);
    make_node(c, 0, 2, 6);
    extras(c)->set(c->gc, 0, 1, 1);
    extras(c)->set(c->gc, 0, 0, 2);
    c->slots[0][2] = WORD_UNIT;
    expect_set(c, 0, 1, 5, "after set");
    expect_set(c, 0, 0, 6, "after set");
}

static void check_ephemerons(struct conform *c) {
    make_pair(c);
    collect_fully(c);
    expect_set(c, 0, 1, 5, "while its key lives");
    expect_set(c, 0, 0, 6, "while its key lives");
    make_ephemeron(c, 3);
    extras(c)->blit(c->gc, 0, 1, 3, 2, 1);
    expect_set(c, 3, 2, 5, "after blit");
    expect_unset(c, 3, 1, "after blit to another field");
    extras(c)->unset(c->gc, 3, 2);
    expect_unset(c, 3, 2, "after unset");
    c->slots[0][1] = WORD_UNIT;
    collect_fully(c);
    if (!c->traits.full_until_exact)
        return;
    expect_unset(c, 0, 1, "with a dead key");
    expect_unset(c, 0, 0, "with a dead key");
}

/* Who can be asked for no more than the field, or a copy. */
static void check_questions(struct conform *c) {
    const struct gc_extras *x = extras(c);
    bool is_set = false;
    make_pair(c);
    if (x->is_set && (!x->is_set(c->gc, 0, 1) || x->is_set(c->gc, 0, 2)))
        broken(c, "is_set says of a field what get does not");
    if (!x->copy)
        return;
    if (x->copy(c->gc, OLD, 0, 1, NODE_WORDS, &is_set) != GC_OK || !is_set)
        broken(c, "there is no copy of a field that is set, although most of the heap is free");
    if (c->slots[0][OLD] == c->slots[0][1])
        broken(c, "copy made no copy: it is the block itself");
    expect_node(c, 0, OLD, 5, "in a copy");
    collect_fully(c);
    expect_node(c, 0, OLD, 5, "in a copy");
    is_set = true;
    c->slots[0][OLD] = immediate(99);
    if (x->copy(c->gc, OLD, 0, 2, NODE_WORDS, &is_set) != GC_OK || is_set ||
        c->slots[0][OLD] != immediate(99))
        broken(c, "there is a copy of a field that is not set");
    c->slots[0][OLD] = WORD_UNIT;
}

/* ---- blocks made of others --------------------------------------------------------------------
 */

enum { MADE = 3, LED_PAST = 1 << 10 }; /* a slot; field 0 of a block that pointers are led past */

/* The block in slot MADE is a new one, whose field is node 9. */
static void expect_made(struct conform *c, enum gc_result result, size_t field, const char *what) {
    if (result != GC_OK)
        broken(c, "%s was refused, although most of the heap is free", what);
    if (c->slots[0][MADE] == c->slots[0][0])
        broken(c, "%s made no block: it is the one that was given", what);
    collect_fully(c);
    c->slots[0][OLD] = c->slots[0][MADE];
    if (field != LED_PAST || header_tag(header_of(c->slots[0][MADE])) == TAG_FORWARD)
        get_field(c, 0, OLD, MADE, field % LED_PAST);
    expect_node(c, 0, OLD, 9, what);
    c->slots[0][OLD] = c->slots[0][MADE] = WORD_UNIT;
}

static void check_blocks(struct conform *c) {
    enum { WORDS = 3, AT = 1 };
    make(c, 0, 0, WORDS, 0, c->units);
    make_node(c, 0, 1, 9);
    set_field(c, 0, 0, AT, 1);
    const struct gc_extras *x = extras(c);
    if (x->sub)
        expect_made(c, x->sub(c->gc, MADE, 0, AT, WORDS - AT), 0, "sub");
    if (x->append)
        expect_made(c, x->append(c->gc, MADE, 0, 0, true, 3 * WORDS), 2 * WORDS + AT, "append");
    if (x->dup)
        expect_made(c, x->dup(c->gc, MADE, 0, 0, WORDS), AT, "dup");
    if (x->forwarding)
        expect_made(c, x->forwarding(c->gc, MADE, 1), LED_PAST, "forwarding");
    if (!x->update)
        return;
    make(c, 0, MADE, WORDS, 0, c->units);
    collect_fully(c);
    x->update(c->gc, MADE, 0);
    expect_made(c, GC_OK, AT, "update");
}

/* ---- blocks that tell of their death ----------------------------------------------------------
 */

static void expect_told(struct conform *c, uint64_t number, const char *what) {
    for (unsigned times = 0; times < 2; times++)
        collect_fully(c);
    if (c->told[number] > 1)
        broken(c, "the death of %s was told %u times", what, c->told[number]);
    if (c->traits.full_until_exact && !c->told[number])
        broken(c, "%s is unreachable, and its death was not told by full collections", what);
}

static void check_deaths(struct conform *c) {
    if (extras(c)->resource(c->gc, 0, 2, 1) != GC_OK)
        broken(c, "a custom block of 2 words was refused, although most of the heap is free");
    collect_fully(c);
    if (c->told[1])
        broken(c, "the death of a custom block in a slot was told");
    c->slots[0][0] = WORD_UNIT;
    expect_told(c, 1, "a custom block");
    for (unsigned last = 0; last < 2; last++) {
        make_node(c, 0, 0, 1);
        if (extras(c)->finalise(c->gc, 0, 2 + last, last) != GC_OK)
            broken(c, "finalise was refused, although nothing has taken memory away");
        collect_fully(c);
        if (c->told[2 + last])
            broken(c, "the death of a block in a slot was told");
        c->slots[0][0] = WORD_UNIT;
        expect_told(c, 2 + last, last ? "a block (finalise, last)" : "a block (finalise)");
    }
}

/* ---- blocks that change, copies ---------------------------------------------------------------
 */

static void check_forward(struct conform *c) {
    make(c, 0, 0, 1, TAG_LAZY, c->units);
    make_node(c, 0, 1, 8);
    uint64_t before = c->hooks->collections;
    extras(c)->forward(c->gc, 0, 1);
    c->slots[0][1] = WORD_UNIT;
    for (unsigned round = 0; round < 2; round++) {
        walk(c, HEAP_TILES);
        c->slots[0][1] = c->slots[0][0];
        if (header_tag(header_of(c->slots[0][0])) == TAG_FORWARD)
            get_field(c, 0, 1, 0, 0);
        else if (c->hooks->collections == before || !c->traits.forwards)
            broken(c, "a forwarded block has tag %u, not 250",
                   header_tag(header_of(c->slots[0][0])));
        expect_node(c, 0, 1, 8, "behind a forwarded block");
        c->slots[0][1] = WORD_UNIT;
        collect_fully(c);
    }
}

static void check_truncate(struct conform *c) {
    for (size_t from = 2; from < 6 && extras(c)->truncate; from++) {
        make(c, 0, 0, from, 0, c->units);
        make_node(c, 0, 1, 9);
        set_field(c, 0, 0, 0, 1);
        extras(c)->truncate(c->gc, 0, 1);
        walk(c, HEAP_TILES);
        if (header_wosize(header_of(c->slots[0][0])) != 1)
            broken(c, "a block truncated to 1 field has %llu",
                   (unsigned long long)header_wosize(header_of(c->slots[0][0])));
        collect_fully(c);
        get_field(c, 0, 1, 0, 0);
        expect_node(c, 0, 1, 9, "held by a truncated block");
    }
}

static void check_copies(struct conform *c) {
    enum { LENGTH = 3, WORDS = LENGTH * 3 };
    make_list(c, LENGTH);
    size_t words = extras(c)->measure(c->gc, 0);
    if (words != WORDS && words != SIZE_MAX)
        broken(c, "measure says that %d blocks of 2 fields are %zu words, not %d", LENGTH, words,
               WORDS);
    if (extras(c)->marshal(c->gc, 1, 0, false, WORDS) != GC_OK)
        broken(c, "a copy of %d words was refused, although most of the heap is free", WORDS);
    if (c->slots[0][1] == c->slots[0][0])
        broken(c, "marshal made no copy: both slots hold the same block");
    expect_list(c, LENGTH, "after marshal");
    c->slots[0][0] = c->slots[0][1];
    expect_list(c, LENGTH, "in the copy that marshal made");
}

/* Slot 1 holds the list's copy, or unit where reading it raises. */
static void check_clones(struct conform *c) {
    enum { LENGTH = 3, WORDS = LENGTH * 3, PLACES = 3 };
    const struct gc_extras *x = extras(c);
    make_list(c, LENGTH);
    if (x->clone) {
        if (x->clone(c->gc, 1, 0, false, WORDS) != GC_OK)
            broken(c, "a clone of %d words was refused, although most of the heap is free", WORDS);
        if (c->slots[0][1] == c->slots[0][0])
            broken(c, "clone made no copy: both slots hold the same block");
    }
    for (unsigned damage = GC_DAMAGE_CUT; x->damage && damage < GC_DAMAGE_NAME; damage++)
        for (size_t n = 0; n < PLACES; n++) {
            c->slots[0][1] = c->slots[0][0];
            x->damage(c->gc, 1, 0, (enum gc_damage)damage, n);
            if (c->slots[0][1] != WORD_UNIT)
                broken(c, "damage %u at %zu left a text that can be read", damage, n);
        }
    expect_list(c, LENGTH, "after reading damaged texts");
}

/* What is refused has no effect, and what is not is there: for the want of memory nothing else
 * may happen to a small heap. */
static void check_hunger(struct conform *c) {
    const struct gc_extras *x = extras(c);
    enum { LENGTH = 3 };
    if (!x->starve)
        return;
    make_list(c, LENGTH);
    x->starve(c->gc, 1);
    c->slots[0][1] = WORD_UNIT;
    if (x->ephemeron(c->gc, 1, KEYS) != GC_OK && c->slots[0][1] != WORD_UNIT)
        broken(c, "an ephemeron that was refused for want of memory is there");
    x->starve(c->gc, 0);
    c->slots[0][1] = WORD_UNIT;
    make_ephemeron(c, 1);
    expect_list(c, LENGTH, "after there was no memory");
}

static void check_extras(struct conform *c) {
    static void (*const checks[])(struct conform *) = {
        check_ephemerons, check_questions, check_deaths, check_forward, check_truncate,
        check_copies,     check_blocks,    check_clones, check_hunger};
    for (size_t i = 0; i < sizeof checks / sizeof *checks; i++) {
        fresh_heap(c, c->words, 1);
        checks[i](c);
    }
}

const struct conform_step conform_extras[] = {
    {"extras", "ephemerons are weak, deaths are told, copies are copies", has_extras, check_extras},
    {NULL, NULL, NULL, NULL}};
