/* SPDX-License-Identifier: MIT
 *
 * The shadow of a subject with words and blocks of its own: what it shows, what leads where, and
 * what it says of a heap that is broken.
 */
#include "collectors/shadow.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* A heap of numbered blocks.  An own word leads to field k of block n if it is TOP + n << 8 + 4 *
 * k, so that a field takes four bytes. */
enum { BLOCKS = 12, FIELDS = 8, WORDS = 40, FIELD_BYTES = 4 };
#define TOP  ((word)0x5000000000000000)
#define GONE ((word)0x6666000000000000)

struct gc {
    struct shadow shadow;
    struct {
        size_t wosize;
        unsigned tag;
        bool freed;
        word fields[FIELDS];
    } blocks[BLOCKS];
    unsigned set_roots; /* how often */
    word roots[GC_MUTATORS][GC_SLOTS];
};

static struct gc toy;
static gc_slots slots[GC_MUTATORS];
static const void *usable; /* what was unpoisoned last */
static size_t usable_words;

static word own(unsigned n, unsigned k) {
    return TOP + ((word)n << 8) + (word)k * FIELD_BYTES;
}

static enum shadow_kind look(struct gc *g, word v, word *block, size_t *fields) {
    if (v == GONE)
        return SHADOW_LOST;
    if (is_immediate(v) || v < TOP || v >= own(BLOCKS, 0))
        return SHADOW_DATA;
    *block = v & ~(word)255;
    *fields = (v & 255) / FIELD_BYTES;
    return g->blocks[(*block - TOP) >> 8].freed ? SHADOW_LOST : SHADOW_BLOCK;
}
static word header(struct gc *g, word block) {
    unsigned n = (unsigned)((block - TOP) >> 8);
    return header_make(g->blocks[n].wosize, BLACK, g->blocks[n].tag);
}
static void copy(struct gc *g, word block, word *to, size_t wosize) {
    unsigned n = (unsigned)((block - TOP) >> 8);
    for (size_t i = 0; i < wosize; i++)
        to[i] = g->blocks[n].tag < TAG_NO_SCAN && g->blocks[n].tag != TAG_CLOSURE
                    ? shadow_of(&g->shadow, g->blocks[n].fields[i])
                    : g->blocks[n].fields[i];
}
static word root(struct gc *g, unsigned m, unsigned slot) {
    return g->roots[m][slot];
}
static void set_root(struct gc *g, unsigned m, unsigned slot, word v) {
    g->set_roots++;
    g->roots[m][slot] = v;
}
static const struct shadow_subject plain = {
    .field_bytes = FIELD_BYTES, .lost = GONE, .look = look, .header = header, .copy = copy};
static const struct shadow_subject with_roots = {.field_bytes = FIELD_BYTES,
                                                 .lost = GONE,
                                                 .look = look,
                                                 .header = header,
                                                 .copy = copy,
                                                 .root = root,
                                                 .set_root = set_root};

static void poison(void *start, size_t words) {
    (void)start, (void)words;
}
static void unpoison(void *start, size_t words) {
    usable = start;
    usable_words = words;
}
static struct gc_hooks hooks = {.poison = poison, .unpoison = unpoison};

static void begin(const struct shadow_subject *subject) {
    const struct gc_config config = {
        .heap_words = WORDS, .mutators = 2, .slots = slots, .hooks = &hooks};
    memset(&toy, 0, sizeof toy);
    for (unsigned m = 0; m < GC_MUTATORS; m++)
        for (unsigned s = 0; s < GC_SLOTS; s++)
            slots[m][s] = toy.roots[m][s] = WORD_UNIT;
    assert_true(shadow_open(&toy.shadow, &toy, subject, 2 * WORDS));
    shadow_reset(&toy.shadow, &config);
    assert_ptr_equal(usable, toy.shadow.arena.base);
    assert_int_equal(usable_words, WORDS);
}
static void end(void) {
    shadow_close(&toy.shadow);
}

static void make(unsigned n, unsigned tag, size_t wosize, word a, word b) {
    toy.blocks[n].wosize = wosize;
    toy.blocks[n].tag = tag;
    for (size_t i = 0; i < FIELDS; i++)
        toy.blocks[n].fields[i] = i == 0 ? a : i == 1 ? b : WORD_UNIT;
}

struct seen {
    unsigned live, units;
    size_t words, unused;
    unsigned pieces; /* of what is unused */
};
static void visit(void *context, enum gc_extent kind, const word *hp, size_t words) {
    struct seen *seen = context;
    assert_ptr_equal(hp, toy.shadow.arena.base + seen->words + seen->unused);
    if (kind == GC_UNUSED) {
        seen->unused += words;
        seen->pieces++;
        return;
    }
    assert_int_equal(kind, GC_LIVE);
    assert_int_equal(header_wosize(*hp) + 1, words);
    assert_int_equal(header_colour(*hp), WHITE);
    seen->live++;
    seen->words += words;
    for (size_t i = 1; i < words; i++)
        seen->units += hp[i] == WORD_UNIT;
}
static void each(struct gc *g, void (*show)(void *, word), void *garbage) {
    for (unsigned n = 0; n < BLOCKS; n++)
        if (g->blocks[n].wosize && !g->blocks[n].freed)
            show(garbage, own(n, 0));
}
static struct seen walk(bool garbage) {
    struct seen seen = {0};
    shadow_walk(&toy.shadow, visit, &seen, garbage ? each : NULL);
    assert_int_equal(seen.words + seen.unused, WORDS);
    return seen;
}
static word field(word shown, size_t i) {
    return word_pointer(shown)[i];
}

/* ---- what is shown ----------------------------------------------------------------------------
 */

/* Room that the subject may need of its own accord is none for others. */
static void hidden_words_are_no_room(void **state) {
    (void)state;
    begin(&plain);
    assert_int_equal(walk(false).pieces, 1);
    toy.shadow.hidden = 3;
    assert_int_equal(walk(false).pieces, 1 + 3);
    toy.shadow.hidden = WORDS + 1;
    assert_int_equal(walk(false).pieces, WORDS);
    end();
    begin(&plain);
    assert_int_equal(toy.shadow.hidden, 0);
    end();
}

static void blocks_lie_in_the_order_of_the_search(void **state) {
    (void)state;
    begin(&plain);
    make(0, 3, 2, own(2, 0), own(1, 0));
    make(1, 4, 1, own(0, 0), 0); /* a cycle */
    make(2, TAG_STRING, 1, own(3, 0), 0);
    make(3, 5, 1, immediate(7), 0); /* nothing but a raw word leads there */
    toy.shadow.roots[0][5] = own(1, 0);
    toy.shadow.roots[1][0] = own(0, 0);
    toy.shadow.roots[1][1] = outside_pointer(9);
    shadow_write(&toy.shadow);
    word one = slots[0][5], nought = slots[1][0];
    assert_int_equal(one, pointer_word(toy.shadow.arena.base + 1));
    assert_int_equal(nought, one + 2 * sizeof(word));
    assert_int_equal(field(one, 0), nought);
    assert_int_equal(field(nought, 1), one);
    assert_int_equal(field(field(nought, 0), 0), own(3, 0));
    assert_int_equal(header_tag(header_of(nought)), 3);
    assert_int_equal(slots[1][1], outside_pointer(9));
    assert_false(shadow_has(&toy.shadow, own(3, 0)));
    struct seen seen = walk(false);
    assert_int_equal(seen.live, 3);
    assert_int_equal(seen.words, 7);
    assert_null(shadow_check(&toy.shadow));
    end();
}

static void what_dies_is_shown_no_more(void **state) {
    (void)state;
    begin(&plain);
    make(0, 0, 2, own(1, 0), WORD_UNIT);
    make(1, 0, 4, WORD_UNIT, WORD_UNIT);
    toy.shadow.roots[0][0] = own(0, 0);
    shadow_write(&toy.shadow);
    assert_int_equal(walk(false).words, 8);
    toy.shadow.roots[0][0] = own(1, 0);
    shadow_write(&toy.shadow);
    assert_false(shadow_has(&toy.shadow, own(0, 0)));
    assert_int_equal(walk(false).words, 5);
    assert_int_equal(shadow_original(&toy.shadow, slots[0][0] + 5 * sizeof(word)), GONE);
    end();
}

static void new_blocks_come_behind_and_changes_where_they_are(void **state) {
    (void)state;
    begin(&plain);
    make(0, 0, 1, WORD_UNIT, 0);
    toy.shadow.roots[0][0] = own(0, 0);
    shadow_write(&toy.shadow);
    make(1, 0, 1, own(2, 0), 0);
    make(2, 0, 1, own(0, 0), 0);
    word shown = shadow_show(&toy.shadow, own(1, 0));
    assert_int_equal(shown, slots[0][0] + 2 * sizeof(word));
    assert_int_equal(field(field(shown, 0), 0), slots[0][0]);
    assert_int_equal(shadow_show(&toy.shadow, own(1, 0)), shown);
    toy.blocks[0].fields[0] = own(3, 0);
    make(3, 0, 1, immediate(4), 0);
    assert_int_equal(field(slots[0][0], 0), WORD_UNIT);
    shadow_refresh(&toy.shadow);
    assert_int_equal(field(field(slots[0][0], 0), 0), immediate(4));
    assert_int_equal(walk(false).live, 4);
    end();
}

/* ---- what leads where -------------------------------------------------------------------------
 */

static void shown_words_lead_back(void **state) {
    (void)state;
    begin(&plain);
    make(0, TAG_CLOSURE, 5, code_pointer(1), closinfo_make(1, 4));
    toy.blocks[0].fields[2] = header_make(3, WHITE, TAG_INFIX);
    toy.shadow.roots[0][0] = own(0, 3);
    toy.shadow.roots[0][1] = own(0, 0);
    shadow_write(&toy.shadow);
    assert_int_equal(slots[0][0], slots[0][1] + 3 * sizeof(word));
    assert_int_equal(shadow_original(&toy.shadow, slots[0][0]), own(0, 3));
    assert_int_equal(shadow_original(&toy.shadow, slots[0][1]), own(0, 0));
    assert_int_equal(shadow_original(&toy.shadow, immediate(-3)), immediate(-3));
    assert_int_equal(shadow_original(&toy.shadow, outside_pointer(1)), outside_pointer(1));
    assert_true(shadow_is_inside(&toy.shadow, slots[0][0]));
    assert_false(shadow_is_inside(&toy.shadow, immediate(1)));
    assert_false(shadow_is_inside(&toy.shadow, pointer_word(toy.shadow.arena.base + WORDS)));
    /* words at which no block starts */
    for (size_t place = 0; place < WORDS; place++)
        if (place != 1 && place != 4)
            assert_int_equal(
                shadow_original(&toy.shadow, pointer_word(toy.shadow.arena.base + place)), GONE);
    end();
}

static void what_is_lost_leads_to_no_block(void **state) {
    (void)state;
    begin(&plain);
    make(0, 0, 2, own(1, 0), own(2, 0));
    make(1, 0, 3, WORD_UNIT, WORD_UNIT);
    make(2, 0, 3, WORD_UNIT, WORD_UNIT);
    toy.blocks[1].freed = true;
    toy.shadow.roots[0][0] = own(0, 0);
    toy.shadow.roots[0][1] = GONE;
    shadow_write(&toy.shadow);
    word lost = field(slots[0][0], 0);
    assert_int_equal(lost, slots[0][1]);
    assert_true(shadow_is_inside(&toy.shadow, lost));
    assert_int_equal(shadow_original(&toy.shadow, lost), GONE);
    assert_int_not_equal(field(slots[0][0], 1), lost);
    /* a heap that is full: no word is left over, so it is the first header */
    toy.shadow.used = WORDS; /* as if by other blocks */
    assert_int_equal(shadow_of(&toy.shadow, GONE), pointer_word(toy.shadow.arena.base));
    end();
}

static void roots_hear_of_the_slots_that_have_changed(void **state) {
    (void)state;
    begin(&with_roots);
    make(0, 0, 1, WORD_UNIT, 0);
    toy.roots[1][2] = own(0, 0);
    shadow_write(&toy.shadow);
    shadow_read_slots(&toy.shadow);
    assert_int_equal(toy.set_roots, 0);
    slots[0][7] = slots[1][2];
    slots[1][2] = immediate(3);
    shadow_read_slots_of(&toy.shadow, 1);
    assert_int_equal(toy.set_roots, 1);
    shadow_read_slots(&toy.shadow);
    shadow_read_slots(&toy.shadow);
    assert_int_equal(toy.set_roots, 2);
    assert_int_equal(toy.roots[0][7], own(0, 0));
    assert_int_equal(toy.roots[1][2], immediate(3));
    shadow_write(&toy.shadow);
    assert_int_equal(slots[1][2], immediate(3));
    assert_int_equal(shadow_original(&toy.shadow, slots[0][7]), own(0, 0));
    end();
}

/* ---- heaps that are not as they should be -----------------------------------------------------
 */

static void garbage_is_shown_if_it_is_asked_for(void **state) {
    (void)state;
    begin(&plain);
    make(0, 0, 1, WORD_UNIT, 0);
    make(1, 0, 2, own(0, 0), own(0, 0));
    make(2, 0, 8, own(0, 0), own(0, 0));
    toy.shadow.roots[0][0] = own(0, 0);
    shadow_write(&toy.shadow);
    assert_int_equal(walk(false).live, 1);
    struct seen seen = walk(true);
    assert_int_equal(seen.live, 3);
    assert_int_equal(seen.words, 2 + 3 + 9);
    assert_int_equal(seen.units, 1 + 2 + 8);
    for (unsigned n = 3; n < 7; n++) /* more than there is room for */
        make(n, 0, 8, WORD_UNIT, WORD_UNIT);
    assert_int_equal(walk(true).live, 5);
    end();
}

static void a_heap_that_does_not_fit_is_said(void **state) {
    (void)state;
    begin(&plain);
    for (unsigned n = 0; n < 5; n++)
        make(n, 0, FIELDS, n < 4 ? own(n + 1, 0) : WORD_UNIT, WORD_UNIT);
    toy.shadow.roots[0][0] = own(0, 0);
    shadow_write(&toy.shadow);
    assert_string_equal(shadow_check(&toy.shadow),
                        "the blocks that can be reached are more than the program has made");
    assert_int_equal(walk(false).live, 4);
    toy.blocks[0].fields[0] = WORD_UNIT;
    shadow_write(&toy.shadow);
    assert_null(shadow_check(&toy.shadow));
    end();
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(hidden_words_are_no_room),
        cmocka_unit_test(blocks_lie_in_the_order_of_the_search),
        cmocka_unit_test(what_dies_is_shown_no_more),
        cmocka_unit_test(new_blocks_come_behind_and_changes_where_they_are),
        cmocka_unit_test(shown_words_lead_back),
        cmocka_unit_test(what_is_lost_leads_to_no_block),
        cmocka_unit_test(roots_hear_of_the_slots_that_have_changed),
        cmocka_unit_test(garbage_is_shown_if_it_is_asked_for),
        cmocka_unit_test(a_heap_that_does_not_fit_is_said),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
