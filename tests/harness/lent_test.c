/* SPDX-License-Identifier: MIT
 *
 * What a collector is lent (harness/lent.h): who writes beyond a part of it, few words or many,
 * faults or is seen; the hooks' functions cannot be written; a run after one that was seen is not
 * blamed for it.
 */
#define _POSIX_C_SOURCE 200809L
#include "harness/lent.h"

#include "collectors/cheney/cheney.h"
#include "collectors/mark_sweep/mark_sweep.h"
#include "tests/support/support.h"

#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

enum { ROWS = 2, STATICS = 10, UNSEEN = 0, SEEN = 7, FAULT = 8 };

static struct lent lent;
static int owner;

static void open_lent(void) {
    struct gc_hooks hooks;
    memset(&hooks, 0, sizeof hooks);
    hooks.fill_byte = 0x5b;
    assert_true(lent_open(&lent, &owner));
    lent_hooks(&lent, &hooks);
    lent_begin(&lent, ROWS, STATICS);
}

/* As a collector does that nobody has instrumented. */
__attribute__((no_sanitize("address", "undefined"))) static void
scribble(word *from, ptrdiff_t step, size_t words) {
    for (volatile word *w = from; words; words--, w += step)
        *w = UINT64_C(0x9f9f9f9f9f9f9f9f);
}

/* What becomes of a child that writes so many words from there on. */
static int outcome(word *from, ptrdiff_t step, size_t words) {
    int status = -1;
    pid_t child = fork();
    if (child == 0) {
        signal(SIGSEGV, SIG_DFL);
        scribble(from, step, words);
        _exit(lent_damage(&lent) ? SEEN : UNSEEN);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    return WIFSIGNALED(status) && WTERMSIG(status) == SIGSEGV ? FAULT : WEXITSTATUS(status);
}

static void expect_caught(void *start, void *end, const char *part) {
    static const size_t lengths[] = {1, 10, 100, 100000, 200000, 10000000};
    for (unsigned i = 0; i < sizeof lengths / sizeof *lengths; i++) {
        if (outcome((word *)start - 1, -1, lengths[i]) == UNSEEN)
            fail_msg("%zu words before %s are not seen", lengths[i], part);
        if (outcome(end, 1, lengths[i]) == UNSEEN)
            fail_msg("%zu words behind %s are not seen", lengths[i], part);
    }
}

static void words_beyond_a_part_are_caught(void **state) {
    (void)state;
    open_lent();
    expect_caught(lent.slots, lent.slots + ROWS, "the slots");
    expect_caught(lent.statics, lent.statics + STATICS, "the static blocks");
    expect_caught(lent.config, lent.config + 1, "the config");
    expect_caught(lent.hooks, lent.hooks + 1, "the hooks");
    assert_int_equal(outcome((word *)(void *)(lent.slots + ROWS), 1, 1), FAULT);
    lent_close(&lent);
}

static void what_is_lent_can_be_written(void **state) {
    (void)state;
    open_lent();
    assert_int_equal(outcome(lent.slots[0], 1, ROWS * GC_SLOTS), UNSEEN);
    assert_int_equal(outcome(lent.statics, 1, STATICS), UNSEEN);
    assert_int_equal(outcome((word *)(void *)lent.config, 1, sizeof *lent.config / sizeof(word)),
                     UNSEEN);
    lent.hooks->fuel = lent.hooks->collections = lent.hooks->fill[0] = 1;
    assert_null(lent_damage(&lent));
    lent_close(&lent);
}

static void functions_of_the_hooks_can_only_be_read(void **state) {
    (void)state;
    open_lent();
    assert_ptr_equal(lent_owner(lent.hooks), &owner);
    assert_int_equal(lent.hooks->fill_byte, 0x5b);
    assert_int_equal(outcome((word *)(void *)lent.hooks, 1, 1), FAULT);
    assert_int_equal(outcome((word *)(void *)&lent.hooks->finalised, 1, 1), FAULT);
    struct gc_hooks other;
    memcpy(&other, lent.hooks, sizeof other);
    other.fill_byte = 0x6d;
    lent.hooks->fuel = 77;
    lent_hooks(&lent, &other);
    assert_int_equal(lent.hooks->fill_byte, 0x6d);
    assert_int_equal(lent.hooks->fuel, 77); /* a counter */
    assert_int_equal(outcome((word *)(void *)lent.hooks, 1, 1), FAULT);
    lent_close(&lent);
}

/* Units cannot be written at all, another content is a copy that ends where a guard begins. */
static void content_is_a_copy(void **state) {
    (void)state;
    word mine[5] = {1, 3, 5, 7, 9};
    open_lent();
    for (size_t words = 0; words <= 5; words++) {
        const word *copy = lent_content(&lent, mine, words), *units = lent_units(&lent, words);
        assert_memory_equal(copy, mine, words * sizeof(word));
        for (size_t i = 0; i < words; i++)
            assert_true(units[i] == WORD_UNIT);
        assert_int_equal(outcome((word *)(uintptr_t)copy, 1, words), UNSEEN);
        assert_int_equal(outcome((word *)(uintptr_t)(copy + words), 1, 1), FAULT);
        assert_int_equal(outcome((word *)(uintptr_t)(units + words), 1, 1), FAULT);
    }
    assert_int_equal(outcome((word *)(uintptr_t)lent_units(&lent, LENT_UNITS), 1, 1), FAULT);
    lent_close(&lent);
}

/* The words before the slots of one run may be slots of the next. */
static void every_run_has_fences_of_its_own(void **state) {
    (void)state;
    static word heap[64];
    open_lent();
    lent_fence(&lent, heap + 4, 8, "behind a heap");
    assert_null(lent_damage(&lent));
    scribble(heap + 3, 1, 2);
    assert_string_equal(lent_damage(&lent), "behind a heap");
    for (unsigned rows = 1; rows <= GC_MUTATORS; rows++) {
        lent_begin(&lent, rows, rows);
        assert_null(lent_damage(&lent));
        for (unsigned m = 0; m < rows; m++)
            for (unsigned i = 0; i < GC_SLOTS; i++)
                assert_true(lent.slots[m][i] == WORD_UNIT);
        scribble((word *)(void *)lent.slots - 1, -1, 1);
        assert_non_null(strstr(lent_damage(&lent), "before the slots"));
        lent_begin(&lent, rows, rows);
        assert_null(lent_damage(&lent));
        scribble((word *)(void *)(lent.hooks + 1), 1, 3);
        lent.renew = true;
        lent_begin(&lent, rows, rows); /* nobody has asked */
        assert_null(lent_damage(&lent));
    }
    lent_close(&lent);
}

/* A header each, and a field that nobody has. */
static void atoms_have_no_field(void **state) {
    (void)state;
    open_lent();
    word v = lent_atom(&lent, 7);
    assert_true(header_of(v) == header_make(0, BLACK, 7));
    assert_true(lent_atom(&lent, 7) == v && lent_atom(&lent, LENT_ATOMS - 1) != v);
    assert_null(lent_damage(&lent));
    assert_int_equal(outcome(word_pointer(v), 1, 1), SEEN);
    assert_int_equal(outcome(word_pointer(v), 1, 100000), FAULT);
    scribble(word_pointer(v), 1, 1);
    assert_string_equal(lent_damage(&lent), "a field of a block without fields has been written");
    lent_begin(&lent, ROWS, STATICS);
    assert_null(lent_damage(&lent)); /* nobody has asked for one */
    assert_true(lent_atom(&lent, 7) == v);
    assert_null(lent_damage(&lent));
    lent_close(&lent);
}

static void more_fences_than_there_is_room_for(void **state) {
    (void)state;
    static word heap[8];
    open_lent();
    for (unsigned i = 0; i < 2 * LENT_FENCES; i++)
        lent_fence(&lent, heap, 8, "behind a heap");
    assert_null(lent_damage(&lent));
    assert_int_equal(lent.n_fences, LENT_FENCES);
    lent_close(&lent);
    lent_close(&lent); /* is closed */
}

/* ---- beside a heap, as a fuzz target sees it: its runner asks for nothing that costs a call ----
 */

static ptrdiff_t aim; /* words from the heap's end if it is not negative, else from its beginning */
static word *heap;
static size_t heap_words;

static void note_config(struct gc *g, const struct gc_config *config) {
    heap_words = config->heap_words;
    mark_sweep.reset(g, config);
}
static word *note_heap(struct gc *g, size_t *words) {
    return heap = mark_sweep.image(g, words);
}
static enum gc_result collect_and_scribble(struct gc *g, enum gc_collection kind) {
    scribble(aim < 0 ? heap + aim : heap + heap_words + aim, 1, 1);
    return mark_sweep.collect(g, kind);
}

static void a_fuzz_target_sees_words_beside_a_heap(void **state) {
    (void)state;
    static struct program p;
    static const ptrdiff_t aims[] = {-1, -16, 0, 15};
    struct collector scribbler = mark_sweep;
    scribbler.reset = note_config;
    scribbler.image = note_heap;
    scribbler.collect = collect_and_scribble;
    struct runner_options options = {.subject = &scribbler, .reference = &cheney};
    parse_program(&p, "isoheap program 1\nscript\n  r0 = alloc tag=0 [1]\n  full\n  full\n");
    struct runner *r = runner_open(&options);
    assert_non_null(r);
    for (size_t i = 0; i < sizeof aims / sizeof *aims; i++) {
        struct verdict v;
        aim = aims[i];
        runner_run(r, &p, &v);
        assert_int_equal(v.violation, VIOLATION_sanitizer);
        assert_int_equal(v.guilty, PARTY_SUBJECT);
        assert_int_equal(v.op, 1); /* the first collection */
        assert_non_null(strstr(v.detail, aim < 0 ? "before a heap" : "behind a heap"));
    }
    runner_close(r);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(words_beyond_a_part_are_caught),
        cmocka_unit_test(what_is_lent_can_be_written),
        cmocka_unit_test(functions_of_the_hooks_can_only_be_read),
        cmocka_unit_test(content_is_a_copy),
        cmocka_unit_test(every_run_has_fences_of_its_own),
        cmocka_unit_test(atoms_have_no_field),
        cmocka_unit_test(more_fences_than_there_is_room_for),
        cmocka_unit_test(a_fuzz_target_sees_words_beside_a_heap),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
