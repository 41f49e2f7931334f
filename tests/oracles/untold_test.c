/* SPDX-License-Identifier: MIT
 *
 * What a collector leaves out of what it shows and counts: states of cakeml, cycles, collections
 * that adopt has made, slices.
 */
#define _GNU_SOURCE
#include "collectors/cakeml/cakeml.h"
#include "collectors/cakeml/levels.h"
#include "collectors/cheney/cheney.h"
#include "collectors/incremental/incremental.h"
#include "tests/support/passing.h"
#include "tests/support/support.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cmocka.h>

static struct program program;
static struct gc_config config;
static const struct collector *real;

static void must_break_with(const struct collector *c, const char *source, enum violation v,
                            enum oracle oracle, const char *detail) {
    parse_program(&program, source);
    must_be_found(c, &program, oracle, v, detail);
}

static void passes(const struct collector *c, const char *source) {
    struct runner *r = open_pair(c, &cheney);
    parse_program(&program, source);
    must_pass(r, &program, source, NULL);
    runner_close(r);
}

static void note_config(struct gc *gc, const struct gc_config *c) {
    config = *c;
    real->reset(gc, c);
}

/* ---- states of cakeml -------------------------------------------------------------------------
 */

/* How the state of a stage is shown: not at all, or changed for the time that it is looked at. */
static enum cakeml_stage stage;
static void (*change)(struct cakeml_view *);
static void (*judge)(struct gc_hooks *, void *view);

static void show_changed(struct gc_hooks *h, void *view) {
    struct cakeml_view *v = view, before = *v;
    if (v->stage == stage && !change)
        return;
    if (v->stage == stage)
        change(v);
    judge(h, view);
    if (v->stage == stage)
        *v = before;
}

static void reset_shown(struct gc *gc, const struct gc_config *c) {
    if (c->hooks->refinement && c->hooks->refinement != show_changed) {
        judge = c->hooks->refinement;
        /* What is lent can only be read. */
        size_t page = (size_t)sysconf(_SC_PAGESIZE);
        void *start = (void *)((uintptr_t)c->hooks / page * page);
        assert_int_equal(mprotect(start, page, PROT_READ | PROT_WRITE), 0);
        c->hooks->refinement = show_changed;
    }
    cakeml.reset(gc, c);
}

static struct collector showing(enum cakeml_stage s, void (*how)(struct cakeml_view *)) {
    struct collector c = cakeml;
    c.reset = reset_shown;
    stage = s;
    change = how;
    return c;
}

static void other_size(struct cakeml_view *v) {
    v->sizes[0]++;
}
static void nothing_asked(struct cakeml_view *v) {
    v->request = 0;
}
static void nothing(struct cakeml_view *v) {
    (void)v;
}

#define PROGRAM "isoheap program 1\nconfig heap=16 nursery=8\nroots\n  r0 = 1\nscript\n"
#define FULL    "  r1 = alloc tag=0 [1, 2, 3]\n  full\n"
#define TWO     FULL "  r2 = alloc tag=0 [1, 2, 3]\n"
#define TOO_MUCH                                                                                   \
    TWO "  r3 = alloc tag=0 [1, 2, 3]\n  r4 = alloc tag=0 [1, 2, 3]\n"                             \
        "  r5 = alloc tag=0 [1, 2, 3]\n"
#define DEAD                                                                                       \
    TWO "  r2 = alloc tag=0 [1, 2, 3]\n  r2 = alloc tag=0 [1, 2, 3]\n"                             \
        "  r2 = alloc tag=0 [1, 2, 3]\n"

static void states_of_cakeml_are_shown(void **state) {
    (void)state;
    static const struct {
        enum cakeml_stage stage;
        void (*how)(struct cakeml_view *);
        const char *source, *detail;
    } table[] = {
        {CAKEML_CHANGED, NULL, PROGRAM TWO, "an allocation is not shown"},
        {CAKEML_REFUSED, NULL, PROGRAM TOO_MUCH, "NotEnoughSpace is not shown"},
        {CAKEML_DONE, NULL, PROGRAM FULL, "the end of a collection is not shown"},
        {CAKEML_START, nothing_asked, PROGRAM DEAD,
         "a collection is shown as one for another request than there was"},
        {CAKEML_CHANGED, other_size, PROGRAM TWO,
         "another variant or other generations than the config names"},
        {CAKEML_CHANGED, NULL, PROGRAM "  kind 1\n  full\n",
         "a switch to another kind is not shown"},
    };
    for (unsigned i = 0; i < sizeof table / sizeof *table; i++) {
        struct collector c = showing(table[i].stage, nothing);
        passes(&c, table[i].source);
        c = showing(table[i].stage, table[i].how);
        must_break_with(&c, table[i].source, VIOLATION_promise_broken, ORACLE_refinement_words,
                        table[i].detail);
    }
}

/* ---- cycles and slices ------------------------------------------------------------------------
 */

#define SLICES                                                                                     \
    "isoheap program 1\nheap\n  b0 = block tag=0 [1, 2, 3]\nroots\n  r0 = b0\nscript\n"            \
    "  slice 1\n  slice 1\n  slice 4096\n  slice 4096\n  slice 4096\n"

static unsigned idle_after; /* slices */
static enum gc_result step_for_a_while(struct gc *gc, size_t budget) {
    return idle_after-- > 0 ? incremental.step(gc, budget) : GC_OK;
}
static enum gc_result step_uncounted(struct gc *gc, size_t budget) {
    uint64_t before = config.hooks->collections;
    enum gc_result result = incremental.step(gc, budget);
    config.hooks->collections = before;
    return result;
}

static void slices_take_steps_and_cycles_count(void **state) {
    (void)state;
    struct collector c = incremental;
    real = &incremental;
    c.reset = note_config;
    passes(&c, SLICES);
    c.step = step_for_a_while;
    idle_after = 1;
    must_break_with(&c, SLICES, VIOLATION_no_progress, ORACLE_liveness,
                    "a slice with a budget takes no step of the cycle");
    c.step = step_uncounted;
    must_break_with(&c, SLICES, VIOLATION_promise_broken, ORACLE_liveness,
                    "a cycle has ended, and hooks->collections is what it was");
}

/* ---- adopt ------------------------------------------------------------------------------------
 */

#define HEAP                                                                                       \
    "isoheap program 1\nheap\n  b0 = block tag=0 [1]\n  b1 = block tag=0 [b0]\nroots\n  r0 = b1\n" \
    "script\n  read r0.0\n"

static bool moves;
static uint64_t counted;
static void adopt_and_count(struct gc *gc, size_t words) {
    real->adopt(gc, words);
    if (moves)
        real->collect(gc, GC_FULL);
    config.hooks->collections = counted;
}

static void adopt_counts_a_collection_that_moves(void **state) {
    (void)state;
    struct collector c = cheney;
    real = &cheney;
    c.reset = note_config;
    c.adopt = adopt_and_count;
    counted = 0;
    moves = false;
    passes(&c, HEAP);
    counted = 1;
    moves = true;
    passes(&c, HEAP);
    counted = 2; /* in two steps */
    passes(&c, HEAP);
    counted = 0;
    must_break_with(&c, HEAP, VIOLATION_promise_broken, ORACLE_answers,
                    "adopt has moved blocks, and counts no collection");
    counted = (uint64_t)-1;
    must_break_with(&c, HEAP, VIOLATION_promise_broken, ORACLE_answers,
                    "the number of collections has gone back");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(states_of_cakeml_are_shown),
        cmocka_unit_test(slices_take_steps_and_cycles_count),
        cmocka_unit_test(adopt_counts_a_collection_that_moves),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
