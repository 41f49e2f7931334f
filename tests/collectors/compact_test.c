/* SPDX-License-Identifier: MIT
 *
 * The compacting collector and the oracle `compaction`: the seeds pass in all variants and are
 * judged, every block is where sliding puts it, headers survive their packing, and the oracle
 * sees what is not dense and not in order.
 */
#include "collectors/cheney/cheney.h"
#include "collectors/compact/compact.h"
#include "collectors/compact/invert.h"
#include "collectors/mark_sweep/mark_sweep.h"
#include "program/bytes/bytes.h"
#include "tests/support/figures.h"
#include "tests/support/passing.h"
#include "tests/support/support.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

static struct program program;
static struct run_counts total;

static uint64_t pass(struct runner *runner, const char *what) {
    return must_pass(runner, &program, what, &total)->digest;
}

/* ---- seeds -----------------------------------------------------------------------------------
 */

static void pass_one(const char *path, void *runner) {
    load_program(&program, path);
    uint64_t digest = pass(runner, path);
    assert_int_equal(pass(runner, path), digest);
}

static void pass_all(const struct collector *subject, const struct collector *reference) {
    struct runner *runner = open_pair(subject, reference);
    assert_true(for_each_program(SEEDS_DIR "/compact", pass_one, runner) > 0);
    for_each_program(SEEDS_DIR "/mark_sweep", pass_one, runner);
    runner_close(runner);
}

static void seeds_pass_and_are_judged(void **state) {
    (void)state;
    memset(&total, 0, sizeof total);
    pass_all(&compact, &cheney);
    figures_of_counts("compact against cheney", &total);
    pass_all(&compact, NULL);
    pass_all(&cheney, &compact);
    pass_all(&compact, &mark_sweep);
}

static void pass_in_all_variants(const char *path, void *runner) {
    load_program(&program, path);
    for (uint16_t variant = 0; variant < 36; variant++) {
        program.config[CONFIG_VARIANT] = variant;
        pass(runner, path);
    }
}

static void seeds_pass_in_all_variants(void **state) {
    (void)state;
    struct runner *runner = open_pair(&compact, &cheney);
    for_each_program(SEEDS_DIR "/compact", pass_in_all_variants, runner);
    runner_close(runner);
}

static void seeds_pass_without_an_image(void **state) {
    (void)state;
    struct collector built = compact;
    built.image = NULL;
    built.adopt = NULL;
    pass_all(&built, &cheney);
}

/* ---- the collector alone ---------------------------------------------------------------------
 */

static void headers_survive_packing(void **state) {
    (void)state;
    for (unsigned tag = 0; tag < 256; tag++)
        for (unsigned mark = PACKED_KEPT; mark <= PACKED_FREE; mark += 2) {
            word packed = pack(header_make(12345, BLUE, tag), mark);
            assert_true(is_packed(packed));
            assert_int_equal(packed_is_free(packed), mark == PACKED_FREE);
            assert_int_equal(packed_tag(packed), tag);
            assert_true(unpack(packed, WHITE) == header_make(12345, WHITE, tag));
        }
}

static struct gc_hooks hooks;
static gc_slots slots[GC_MUTATORS];
static void nothing(void *start, size_t words) {
    (void)start;
    (void)words;
}

static struct gc *open_heap(size_t words, unsigned variant) {
    hooks = (struct gc_hooks){.poison = nothing, .unpoison = nothing, .fuel = UINT64_MAX};
    for (unsigned i = 0; i < GC_SLOTS; i++)
        slots[0][i] = WORD_UNIT;
    struct gc_config config = {
        .heap_words = words, .variant = variant, .mutators = 1, .slots = slots, .hooks = &hooks};
    struct gc *gc = compact.open();
    assert_non_null(gc);
    compact.reset(gc, &config);
    return gc;
}

static void make_block(struct gc *gc, unsigned slot, size_t wosize) {
    static word raw[64];
    for (size_t i = 0; i < 64; i++)
        raw[i] = immediate((int64_t)i);
    assert_int_equal(compact.alloc(gc, 0, slot, wosize, 0, raw), GC_OK);
}

/* Slots 0 to 9 have blocks of 1 to 10 fields, the last one lowest: it was cut off the high end. */
static void blocks_go_where_sliding_puts_them(void **state) {
    (void)state;
    struct gc *gc = open_heap(100, 0);
    for (unsigned i = 0; i < 10; i++)
        make_block(gc, i, i + 1);
    word base = slots[0][0] - 99 * sizeof(word); /* field 0 of a block at word 98 */
    for (unsigned i = 0; i < 10; i += 2)
        slots[0][i] = WORD_UNIT;
    compact.collect(gc, GC_COMPACT);
    word at = base;
    for (unsigned i = 9; i < 10; i -= 2) { /* ends by wrapping around */
        assert_true(slots[0][i] == at + sizeof(word));
        assert_true(header_of(slots[0][i]) == header_make(i + 1, WHITE, 0));
        assert_true(word_pointer(slots[0][i])[i] == immediate(i));
        at += (i + 2) * sizeof(word);
    }
    assert_true(*word_pointer(at) == header_make(100 - 35 - 1, BLUE, 0));
    compact.close(gc);
}

static unsigned moves;
static void count_moves(struct gc_hooks *h, enum gc_event event, word block, const word *place,
                        word to) {
    (void)h;
    (void)place;
    moves += event == GC_MOVED && to < block;
}

/* An allocation compacts if that helps, and only then. */
static void an_allocation_compacts_when_it_helps(void **state) {
    (void)state;
    static const word raw[16] = {1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1};
    for (unsigned variant = 0; variant < 36; variant++) {
        bool helps = variant >= 18;
        struct gc *gc = open_heap(16, variant);
        for (unsigned i = 0; i < 4; i++)
            make_block(gc, i, 3);
        slots[0][1] = slots[0][3] = WORD_UNIT;
        hooks.event = count_moves;
        hooks.listened = true;
        moves = 0;
        assert_int_equal(compact.alloc(gc, 0, 5, 8, 0, raw), GC_OUT_OF_MEMORY);
        assert_int_equal(moves, 0); /* eight words are free, nine are wanted */
        assert_int_equal(compact.alloc(gc, 0, 5, 7, 0, raw), helps ? GC_OK : GC_OUT_OF_MEMORY);
        assert_int_equal(moves, helps ? 2 : 0);
        compact.close(gc);
    }
}

/* ---- the oracle ------------------------------------------------------------------------------
 */

static enum gc_result does_not_compact(struct gc *gc, enum gc_collection kind) {
    (void)kind;
    return compact.collect(gc, GC_FULL);
}

static void expect(const struct collector *subject, enum violation violation, const char *text) {
    parse_program(&program, text);
    struct verdict verdict = run_here(subject, &cheney, &program);
    assert_int_equal(verdict.violation, violation);
    if (violation)
        assert_int_equal(verdict.oracle, ORACLE_compaction);
}

static void what_is_not_dense_is_seen(void **state) {
    (void)state;
    struct collector lazy = compact;
    lazy.collect = does_not_compact;
    const char *gap = "isoheap program 1\nheap\n  free 3\n  b0 = block tag=0 [1]\nroots\n"
                      "  r0 = b0\nscript\n  compact\n",
               *none = "isoheap program 1\nheap\n  b0 = block tag=0 [1]\nroots\n  r0 = b0\n"
                       "script\n  compact\n",
               *end = "isoheap program 1\nconfig heap=16 variant=1\nheap\n"
                      "  b0 = block tag=0 [1]\n  free 6\n  free 6\nroots\n  r0 = b0\nscript\n"
                      "  compact\n";
    expect(&lazy, VIOLATION_heap_not_dense, gap);
    expect(&lazy, VIOLATION_none, none);
    expect(&lazy, VIOLATION_heap_not_dense, end); /* two free blocks at the end */
    expect(&compact, VIOLATION_none, gap);
    expect(&compact, VIOLATION_none, end);
    lazy.traits.compacts = false;
    expect(&lazy, VIOLATION_none, gap);
}

/* From one space to another there is no order to keep; bad_swapped is seen in known_bad_test.c. */
static void copies_have_no_order(void **state) {
    (void)state;
    struct collector copying = cheney;
    copying.traits.slides = true;
    expect(&copying, VIOLATION_none,
           "isoheap program 1\nheap\n  b0 = block tag=0 [1]\n  b1 = block tag=0 [2]\n"
           "roots\n  r0 = b1\n  r1 = b0\nscript\n  full\n  full\n");
}

/* ---- random programs --------------------------------------------------------------------------
 */

static void compact_often(struct program *p, unsigned number, uint8_t *bytes, uint64_t random) {
    (void)number;
    (void)random;
    program_decode(p, bytes, RANDOM_BYTES);
    for (unsigned op = 0; op < p->n_ops; op++)
        if (p->ops[op].code == OP_MINOR || p->ops[op].code == OP_SLICE)
            p->ops[op].code = OP_COMPACT;
}

static void random_programs_pass_alike(void **state) {
    (void)state;
    runs_are_alike(&compact, &cheney, 2000, 50, compact_often);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(seeds_pass_and_are_judged),
        cmocka_unit_test(seeds_pass_in_all_variants),
        cmocka_unit_test(seeds_pass_without_an_image),
        cmocka_unit_test(headers_survive_packing),
        cmocka_unit_test(blocks_go_where_sliding_puts_them),
        cmocka_unit_test(an_allocation_compacts_when_it_helps),
        cmocka_unit_test(what_is_not_dense_is_seen),
        cmocka_unit_test(copies_have_no_order),
        cmocka_unit_test(random_programs_pass_alike),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
