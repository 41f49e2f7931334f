/* SPDX-License-Identifier: MIT
 *
 * What is legal in a heap, by traits: collectors that say so pass, and are given nothing else; the
 * same without the trait break, or are given what they could not take.
 */
#include "collectors/cheney/cheney.h"
#include "collectors/generational/generational.h"
#include "collectors/mark_sweep/mark_sweep.h"
#include "tests/support/odd.h"
#include "tests/support/passing.h"
#include "tests/support/support.h"
#include "views/heap.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

static struct program program;
static struct gc_config config; /* of the last reset */
static unsigned illegal;        /* what a collector has been given that it cannot take */

/* ---- free blocks and fragments in an image ----------------------------------------------------
 */

static word *image_base;

static void note_config(struct gc *gc, const struct gc_config *c) {
    config = *c;
    mark_sweep.reset(gc, c);
}
static word *note_image(struct gc *gc, size_t *words) {
    return image_base = mark_sweep.image(gc, words);
}
static bool refuses_neighbours, refuses_last_fragment;
static void look_at_image(struct gc *gc, size_t words) {
    bool was_free = false;
    size_t size = 0;
    for (size_t at = 0; at < words; at += size) {
        word header = image_base[at];
        bool is_free = header_colour(header) == BLUE;
        size = header_wosize(header) + 1;
        illegal += refuses_neighbours && is_free && was_free;
        illegal += refuses_last_fragment && size == 1 && at + 1 == words;
        was_free = is_free;
    }
    mark_sweep.adopt(gc, words);
}
static void merging_only(const struct gc_config *c, struct collector_traits *t) {
    mark_sweep.promise(c, t);
    t->always_merged &= c->variant % 2 == 0;
}

static struct collector looking(bool merged, bool solid) {
    struct collector c = mark_sweep;
    c.name = "looking";
    c.reset = note_config;
    c.image = note_image;
    c.adopt = look_at_image;
    c.promise = merging_only;
    c.traits.always_merged = refuses_neighbours = merged;
    c.traits.solid_end = refuses_last_fragment = solid;
    illegal = 0;
    return c;
}

static unsigned illegal_in(const struct collector *c, const char *source) {
    illegal = 0;
    odd_program_passes(c, &program, source);
    return illegal;
}

#define NEIGHBOURS                                                                                 \
    "isoheap program 1\nconfig heap=64\nheap\n  b0 = block tag=0 [1]\n  free 3\n  free 2\n"        \
    "  b1 = block tag=0 [b0]\n  free 4\nroots\n  r0 = b1\nscript\n  r1 = alloc tag=0 [r0]\n"       \
    "  full\n  r2 = r0.0\n  full\n"

static void free_blocks_are_no_neighbours(void **state) {
    (void)state;
    struct collector c = looking(true, false);
    assert_int_equal(illegal_in(&c, NEIGHBOURS), 0);
    c.traits.always_merged = false;
    assert_int_equal(illegal_in(&c, NEIGHBOURS), 2);
}

/* One word is left behind what the image holds: a fragment in front of it; and the fragments that a
 * program wants at the end. */
#define LAST_WORD                                                                                  \
    "isoheap program 1\nconfig heap=64\nheap\n  b0 = block tag=0 [1]\n  dead 58\n"                 \
    "  b1 = block tag=0 [b0]\nroots\n  r0 = b1\nscript\n  full\n  r2 = r0.0\n  full\n"
#define LAST_FRAGMENT                                                                              \
    "isoheap program 1\nconfig heap=64\nheap\n  b0 = block tag=0 [1]\n  dead 57\n"                 \
    "  b1 = block tag=0 [b0]\n  fragment\nroots\n  r0 = b1\nscript\n  full\n  r2 = r0.0\n  full\n"

static void no_heap_ends_with_a_fragment(void **state) {
    (void)state;
    struct collector c = looking(false, true);
    assert_int_equal(illegal_in(&c, LAST_WORD), 0);
    assert_int_equal(illegal_in(&c, LAST_FRAGMENT), 0);
    c.traits.solid_end = false;
    assert_int_equal(illegal_in(&c, LAST_WORD), 1);
    assert_int_equal(illegal_in(&c, LAST_FRAGMENT), 1);
}

/* Who takes a word more than is asked for gets no fragment behind a large heap either. */
static word *one_word_more(struct gc *gc, size_t *words) {
    size_t asked = *words + 1;
    image_base = cheney.image(gc, &asked);
    *words = asked;
    return image_base;
}
static void look_at_end(struct gc *gc, size_t words) {
    size_t size = 0;
    for (size_t at = 0; at < words; at += size)
        size = header_wosize(image_base[at]) + 1;
    illegal += size == 1;
    cheney.adopt(gc, words);
}

static void no_large_heap_ends_with_a_fragment(void **state) {
    (void)state;
    struct collector c = cheney;
    c.image = one_word_more;
    c.adopt = look_at_end;
    c.traits.solid_end = true;
    illegal = 0;
    assert_int_equal(odd_step(&c, "large"), CONFORM_KEPT);
    assert_int_equal(illegal, 0);
    c.traits.solid_end = false;
    assert_int_equal(odd_step(&c, "large"), CONFORM_KEPT);
    assert_true(illegal > 0);
}

static void images_are_as_they_must_be(void **state) {
    (void)state;
    struct collector c = looking(true, true);
    assert_int_equal(odd_step(&c, "always_merged"), CONFORM_KEPT);
    assert_int_equal(odd_step(&c, "solid_end"), CONFORM_KEPT);
    assert_int_equal(heap_legal(&c.traits), HEAP_TILES | HEAP_APART | HEAP_SOLID_END);
    assert_int_equal(heap_legal(&mark_sweep.traits), HEAP_TILES);
    c = looking(true, true);
    refuses_neighbours = false; /* other variants may have them; they are looked at above */
    odd_must_pass(&c);
    assert_int_equal(illegal, 0);
}

/* A sweep that merges nothing, and a heap that ends with a fragment of its own. */
static void who_breaks_it_is_found(void **state) {
    (void)state;
    struct collector c = looking(true, false);
    c.promise = NULL;
    c.traits.merged_free_list = false;
    struct verdict verdict = *must_break(&c, &program,
                                         "isoheap program 1\nconfig heap=64 variant=1\nheap\n  b0 "
                                         "= block tag=0 [1]\nscript\n  full\n",
                                         VIOLATION_ill_formed_heap);
    assert_string_equal(verdict.detail,
                        "two free blocks are neighbours, and trait always_merged is set");
}

/* ---- tags of fragments ------------------------------------------------------------------------
 */

static void tag_fragment(void *context, enum gc_extent kind, const word *header, size_t words) {
    (void)context, (void)words;
    if (kind == GC_FRAGMENT)
        *word_pointer(pointer_word(header)) = header_make(0, header_colour(*header), 9);
}
static enum gc_result tag_after_alloc(struct gc *gc, unsigned m, unsigned dst, size_t wosize,
                                      unsigned tag, const word *raw) {
    enum gc_result result = mark_sweep.alloc(gc, m, dst, wosize, tag, raw);
    mark_sweep.walk(gc, tag_fragment, NULL);
    return result;
}

static void fragments_may_keep_a_tag(void **state) {
    (void)state;
    static const char source[] =
        "isoheap program 1\nconfig heap=64\nheap\n  b0 = block tag=0 [1]\n  fragment\n"
        "  b1 = block tag=0 [2]\nroots\n  r0 = b0\n  r1 = b1\nscript\n  r2 = alloc tag=0 [3]\n";
    struct collector c = mark_sweep;
    c.alloc = tag_after_alloc;
    c.traits.fragment_tags = true;
    odd_must_pass(&c);
    c.traits.fragment_tags = false;
    struct verdict verdict = *must_break(&c, &program, source, VIOLATION_ill_formed_heap);
    assert_string_equal(verdict.detail, "a fragment with a size or a tag");
}

/* ---- no-scan tags that are not there ----------------------------------------------------------
 */

static unsigned lacking;
static enum gc_result look_at_tag(struct gc *gc, unsigned m, unsigned dst, size_t wosize,
                                  unsigned tag, const word *raw) {
    illegal += tag >= TAG_NO_SCAN && lacking & 1u << (tag - TAG_NO_SCAN);
    return cheney.alloc(gc, m, dst, wosize, tag, raw);
}

static void tags_that_are_not_there_are_not_made(void **state) {
    (void)state;
    static const char source[] =
        "isoheap program 1\nheap\n  b0 = custom [0x7]\n  b1 = double [0x3ff0000000000000]\n"
        "roots\n  r0 = b0\n  r1 = b1\nscript\n  r2 = custom [0x2]\n  full\n";
    struct collector c = cheney;
    c.image = NULL;
    c.adopt = NULL;
    c.alloc = look_at_tag;
    static const unsigned sets[] = {4 | 16, 1 | 2 | 16}; /* what is left is for any size */
    for (unsigned i = 0; i < sizeof sets / sizeof *sets; i++) {
        c.traits.lacks_raw = lacking = sets[i];
        assert_int_equal(illegal_in(&c, source), 0);
        odd_must_pass(&c);
        assert_int_equal(illegal, 0);
        c.traits.lacks_raw = 0;
        assert_true(illegal_in(&c, source) > 0);
    }
}

/* ---- blocks that may not be written -----------------------------------------------------------
 */

static bool odd_is_writable(unsigned tag) {
    return tag % 2 == 1 && tag < TAG_LAZY;
}
static word fresh; /* the block that may be initialised */
static void expect_writable(unsigned m, unsigned obj) {
    illegal += !odd_is_writable(header_tag(header_of(config.slots[m][obj])));
}
static void cheney_config(struct gc *gc, const struct gc_config *c) {
    config = *c;
    fresh = 0;
    cheney.reset(gc, c);
}
static enum gc_result fresh_alloc(struct gc *gc, unsigned m, unsigned dst, size_t wosize,
                                  unsigned tag, const word *raw) {
    enum gc_result result = cheney.alloc(gc, m, dst, wosize, tag, raw);
    fresh = result == GC_OK ? config.slots[m][dst] : 0;
    return result;
}
static void fresh_init(struct gc *gc, unsigned m, unsigned obj, size_t i, unsigned value) {
    (void)gc;
    illegal += config.slots[m][obj] != fresh;
    word_pointer(config.slots[m][obj])[i] = config.slots[m][value];
}
static enum gc_result safe_load(struct gc *gc, unsigned m, unsigned dst, unsigned obj, size_t i) {
    (void)gc;
    fresh = 0;
    config.slots[m][dst] = word_pointer(config.slots[m][obj])[i];
    return GC_OK;
}
static enum gc_result strict_store(struct gc *gc, unsigned m, unsigned obj, size_t i,
                                   unsigned value) {
    (void)gc;
    fresh = 0;
    expect_writable(m, obj);
    word_pointer(config.slots[m][obj])[i] = config.slots[m][value];
    return GC_OK;
}
static void strict_write_raw(struct gc *gc, unsigned m, unsigned obj, size_t i, word raw) {
    (void)gc;
    expect_writable(m, obj);
    word_pointer(config.slots[m][obj])[i] = raw;
}

static struct collector strict(void) {
    struct collector c = cheney;
    c.name = "strict";
    c.image = NULL;
    c.adopt = NULL;
    c.reset = cheney_config;
    c.alloc = fresh_alloc;
    c.init = fresh_init;
    c.load = safe_load;
    c.store = strict_store;
    c.write_raw = strict_write_raw;
    c.writable = odd_is_writable;
    return c;
}

/* Immutable blocks in any order, a cycle of them, a closure, addresses, mutable ones between. */
#define IMMUTABLE                                                                                  \
    "isoheap program 1\nheap\n  b0 = block tag=0 [b1, b3]\n  b1 = block tag=2 [b2, 7]\n"           \
    "  b2 = block tag=1 [b0, b2]\n  b3 = closure arity=1,2 env=[b4+3, b0]\n"                       \
    "  b4 = closure arity=1,1 env=[b1]\n  b5 = string [0x5]\n  b6 = block tag=4 [b6, b5]\n"        \
    "roots\n  r0 = b0\n  r1 = b4+3\n  r2 = b6\nscript\n  full\n  r3 = r0.1\n  r2.0 := 3\n  full\n"

static void what_is_immutable_is_not_written(void **state) {
    (void)state;
    struct collector c = strict();
    assert_int_equal(illegal_in(&c, IMMUTABLE), 0);
    odd_must_pass(&c);
    assert_int_equal(illegal, 0);
    c.writable = NULL;
    assert_true(illegal_in(&c, IMMUTABLE) > 0);
}

static bool none_is_writable(unsigned tag) {
    (void)tag;
    return false;
}
static void without_a_block_that_may_be_written_nothing_is_built(void **state) {
    (void)state;
    struct collector c = strict();
    c.writable = none_is_writable;
    parse_program(&program, IMMUTABLE);
    struct verdict verdict = run_here(&c, &cheney, &program);
    assert_true(verdict.not_run);
    assert_non_null(strstr(verdict.detail, "no block that may be written"));
}

/* ---- black young blocks -----------------------------------------------------------------------
 *
 * Black between two calls, white in them.
 */

static struct gc *whose;
static unsigned young_colour;
static void recolour(void *context, enum gc_extent kind, const word *header, size_t words) {
    (void)context, (void)words;
    if (kind == GC_LIVE && generational.young(whose, pointer_word(header + 1)))
        *word_pointer(pointer_word(header)) = header_recolour(*header, young_colour);
}
static struct gc *colour_young(struct gc *gc, unsigned colour) {
    whose = gc;
    young_colour = colour;
    generational.walk(gc, recolour, NULL);
    return gc;
}
#define BLACKENS(call)                                                                             \
    colour_young(gc, WHITE);                                                                       \
    enum gc_result result = call;                                                                  \
    colour_young(gc, BLACK);                                                                       \
    return result
static enum gc_result black_alloc(struct gc *gc, unsigned m, unsigned dst, size_t wosize,
                                  unsigned tag, const word *raw) {
    BLACKENS(generational.alloc(gc, m, dst, wosize, tag, raw));
}
static enum gc_result black_store(struct gc *gc, unsigned m, unsigned obj, size_t i,
                                  unsigned value) {
    BLACKENS(generational.store(gc, m, obj, i, value));
}
static enum gc_result black_collect(struct gc *gc, enum gc_collection kind) {
    BLACKENS(generational.collect(gc, kind));
}
static enum gc_result black_step(struct gc *gc, size_t budget) {
    BLACKENS(generational.step(gc, budget));
}
static enum gc_result black_switch(struct gc *gc, unsigned kind) {
    BLACKENS(generational.switch_kind(gc, kind));
}

static void young_blocks_may_be_black(void **state) {
    (void)state;
    static const char source[] = "isoheap program 1\nscript\n  r0 = alloc tag=0 [1]\n  minor\n";
    struct collector c = generational;
    c.name = "black";
    c.alloc = black_alloc;
    c.store = black_store;
    c.collect = black_collect;
    c.step = black_step;
    c.switch_kind = black_switch;
    c.traits.tells_phases = false;
    c.traits.black_young = true;
    odd_must_pass(&c);
    assert_int_equal(odd_step(&c, "black_young"), CONFORM_KEPT);
    c.traits.black_young = false;
    must_break(&c, &program, source, VIOLATION_wrong_colour);
    c = generational;
    c.traits.tells_phases = false;
    c.traits.black_young = true;
    struct verdict verdict = *must_break(&c, &program, source, VIOLATION_wrong_colour);
    assert_string_equal(verdict.detail, "a young block is not black");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(free_blocks_are_no_neighbours),
        cmocka_unit_test(no_heap_ends_with_a_fragment),
        cmocka_unit_test(no_large_heap_ends_with_a_fragment),
        cmocka_unit_test(images_are_as_they_must_be),
        cmocka_unit_test(who_breaks_it_is_found),
        cmocka_unit_test(fragments_may_keep_a_tag),
        cmocka_unit_test(tags_that_are_not_there_are_not_made),
        cmocka_unit_test(what_is_immutable_is_not_written),
        cmocka_unit_test(without_a_block_that_may_be_written_nothing_is_built),
        cmocka_unit_test(young_blocks_may_be_black),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
