/* SPDX-License-Identifier: MIT
 *
 * The arena of a collector: what it poisons, and that it leaves nothing poisoned behind.
 */
#define _DEFAULT_SOURCE /* madvise */
#include "collectors/arena.h"

#include "collectors/large_pages.h"

#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

enum { WORDS = 1000, ALL = WORDS + 2 * ARENA_RED_ZONE };

static word *start; /* of the first red zone */
static bool dead[ALL];

static void mark(void *from, size_t words, bool poisoned) {
    ptrdiff_t at = (word *)from - start;
    assert_true(at >= 0 && (size_t)at + words <= ALL);
    for (size_t i = 0; i < words; i++)
        dead[(size_t)at + i] = poisoned;
}
static void poison(void *from, size_t words) {
    mark(from, words, true);
}
static void unpoison(void *from, size_t words) {
    mark(from, words, false);
}
static size_t count_dead(void) {
    size_t n = 0;
    for (size_t i = 0; i < ALL; i++)
        n += dead[i];
    return n;
}

/* More than there is room for is said, and nothing beside the arena is touched. */
static jmp_buf told;
static const char *sentence;
static void note_broken(struct gc_hooks *hooks, const char *what) {
    (void)hooks;
    sentence = what;
    longjmp(told, 1);
}
static void a_heap_that_is_too_large_is_refused_in_words(void **state) {
    (void)state;
    struct gc_hooks hooks = {.poison = poison, .unpoison = unpoison, .broken = note_broken};
    struct arena arena;
    assert_true(arena_open(&arena, WORDS));
    start = arena.base - ARENA_RED_ZONE;
    memset(dead, 0, sizeof dead);
    if (setjmp(told) == 0) {
        arena_reset(&arena, &hooks, WORDS + 1);
        fail();
    }
    assert_non_null(strstr(sentence, "max_heap_words"));
    assert_int_equal(count_dead(), 0);
    arena_reset(&arena, &hooks, WORDS);
    arena_close(&arena);
}

/* The system may hand the addresses to anybody, who then meets the poison. */
static void no_poison_is_left_behind(void **state) {
    (void)state;
    struct gc_hooks hooks = {.poison = poison, .unpoison = unpoison};
    struct arena arena;
    assert_true(arena_open(&arena, WORDS));
    start = arena.base - ARENA_RED_ZONE;
    memset(dead, 0, sizeof dead);
    arena_reset(&arena, &hooks, 100);
    assert_int_equal(count_dead(), 100 + 2 * ARENA_RED_ZONE);
    arena_reset(&arena, &hooks, WORDS);
    arena_reset(&arena, &hooks, 10);
    arena_reset(&arena, &hooks, 20);
    assert_int_equal(count_dead(), ALL);
    arena_close(&arena);
    assert_int_equal(count_dead(), 0);
}

static void what_was_never_reset_can_be_closed(void **state) {
    (void)state;
    struct arena arena;
    assert_true(arena_open(&arena, WORDS));
    arena_close(&arena);
}

static void unwritten_words_are_the_same_in_every_run(void **state) {
    (void)state;
    struct gc_hooks hooks = {.poison = poison, .unpoison = unpoison, .fill_byte = 0xdb};
    struct arena arena;
    assert_true(arena_open(&arena, WORDS));
    start = arena.base - ARENA_RED_ZONE;
    for (unsigned run = 0; run < 2; run++) {
        arena_reset(&arena, &hooks, 100);
        for (size_t i = 0; i < 100; i++) {
            assert_true(arena.base[i] == UINT64_C(0xdbdbdbdbdbdbdbdb));
            arena.base[i] = i;
        }
    }
    arena_close(&arena);
}

/* Nor is anything beside the heap what an earlier input has left there: a larger heap, or what was
 * written beyond one. */
static void words_beside_the_heap_are_the_same_in_every_run(void **state) {
    (void)state;
    static const size_t before[] = {100, WORDS};
    struct gc_hooks hooks = {.poison = poison, .unpoison = unpoison, .fill_byte = 0xdb};
    struct arena arena;
    assert_true(arena_open(&arena, WORDS));
    start = arena.base - ARENA_RED_ZONE;
    for (unsigned run = 0; run < 2; run++) {
        arena_reset(&arena, &hooks, before[run]);
        for (size_t i = 0; i < before[run] + 2 * ARENA_RED_ZONE; i++)
            start[i] = i;
        arena_reset(&arena, &hooks, 100);
        for (size_t i = 0; i < before[run] + 2 * ARENA_RED_ZONE; i++)
            assert_true(start[i] == UINT64_C(0xdbdbdbdbdbdbdbdb));
    }
    arena_close(&arena);
}

/* ---- guards ---- */

static struct arena guarded;
static struct gc_hooks tight;

/* Does a child die that writes so many words, one after the other, from there on (down, if step is
 * negative)? */
static bool dies(word *from, ptrdiff_t step, size_t words) {
    pid_t child = fork();
    if (child == 0) {
        signal(SIGSEGV, SIG_DFL);
        for (size_t i = 0; i < words; i++)
            ((volatile word *)from)[(ptrdiff_t)i * step] = 1;
        _exit(0);
    }
    int status = -1;
    assert_int_equal(waitpid(child, &status, 0), child);
    return WIFSIGNALED(status) && WTERMSIG(status) == SIGSEGV;
}

static void nothing(void *from, size_t words) {
    (void)from;
    (void)words;
}

static void who_runs_out_of_a_heap_faults(void **state) {
    (void)state;
    static const size_t heaps[] = {64, 8192, 1 << 20, 100, 3000};
    tight = (struct gc_hooks){.poison = nothing, .unpoison = nothing, .tight = true};
    assert_true(arena_open(&guarded, 1 << 20));
    for (size_t i = 0; i < sizeof heaps / sizeof *heaps; i++) {
        arena_reset(&guarded, &tight, heaps[i]);
        word *end = guarded.base + heaps[i];
        assert_false(dies(guarded.base, 1, heaps[i]));
        assert_true(dies(guarded.base - 1, -1, ARENA_RED_ZONE + 1));
        for (size_t words = 1000; words <= 10000000; words *= 100) {
            assert_true(dies(end, 1, words));
            assert_true(dies(guarded.base - 1, -1, words));
        }
    }
    arena_close(&guarded);
}

/* Without tight hooks an arena costs no system call, and ends where its capacity does. */
static void an_arena_ends(void **state) {
    (void)state;
    tight = (struct gc_hooks){.poison = nothing, .unpoison = nothing};
    assert_true(arena_open(&guarded, 100000));
    arena_reset(&guarded, &tight, 64);
    assert_false(dies(guarded.base, 1, 100000));
    assert_true(dies(guarded.base, 1, 101000));
    arena_close(&guarded);
}

/* Who lends tight hooks first and others then has the whole arena again. */
static void tight_is_not_for_ever(void **state) {
    (void)state;
    tight = (struct gc_hooks){.poison = nothing, .unpoison = nothing, .tight = true};
    assert_true(arena_open(&guarded, 100000));
    arena_reset(&guarded, &tight, 64);
    assert_true(dies(guarded.base, 1, 100000));
    tight.tight = false;
    arena_reset(&guarded, &tight, 64);
    assert_false(dies(guarded.base, 1, 100000));
    arena_reset(&guarded, &tight, 100000);
    assert_false(dies(guarded.base, 1, 100000));
    arena_close(&guarded);
}

/* Advice alone: what is there stays, wherever the mapping begins. */
static void large_pages_keep_what_is_there(void **state) {
    (void)state;
    enum { BYTES = 3 * LARGE_PAGE };
    char *memory = malloc(BYTES);
    assert_non_null(memory);
    memset(memory, 7, BYTES);
    for (size_t from = 0; from <= 4096; from += 4096)
        use_large_pages(memory + from, BYTES - from);
    for (size_t i = 0; i < BYTES; i += 512)
        assert_int_equal(memory[i], 7);
    free(memory);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_heap_that_is_too_large_is_refused_in_words),
        cmocka_unit_test(no_poison_is_left_behind),
        cmocka_unit_test(what_was_never_reset_can_be_closed),
        cmocka_unit_test(unwritten_words_are_the_same_in_every_run),
        cmocka_unit_test(words_beside_the_heap_are_the_same_in_every_run),
        cmocka_unit_test(who_runs_out_of_a_heap_faults),
        cmocka_unit_test(an_arena_ends),
        cmocka_unit_test(tight_is_not_for_ever),
        cmocka_unit_test(large_pages_keep_what_is_there),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
