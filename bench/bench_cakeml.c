/* SPDX-License-Identifier: MIT
 *
 * Table 2 of the CakeML paper, on our CakeML collectors: trees of depth 5 to 16 are made and
 * dropped again and again beside long-lived data; how long does collecting take?
 *
 *   bench_cakeml FLAVOUR      FLAVOUR names the build in the output: asan, plain
 *
 * The sizes are the paper's where it tells them: a tree of depth d has 5 * 2^d - 3 words (157 for
 * depth 5, 327677 for 16), the heap is 10 MB of 64-bit words in two halves, generations have
 * 100,000 and 200,000 words or more than the heap.  What it does not tell is ours: the long-lived
 * data is a tree of depth 15, collected once, and every setting allocates the same number of words.
 * The word level alone runs, as in a program that is compiled with it: nobody looks at the lists of
 * heap elements.
 *
 * Lines: cakeml_FLAVOUR_depth05_SETTING MILLISECONDS ms; ..._ratio: to the setting `copying`;
 * ..._share: of the whole time.
 */
#define _DEFAULT_SOURCE
#include "bench/bench.h"
#include "collectors/cakeml/cakeml.h"
#include "collectors/cakeml/levels.h"

#include <stdlib.h>
#include <string.h>

enum {
    HALF = 10 * 1000 * 1000 / 8 / 2, /* words */
    WORDS = 8 * 1000 * 1000,         /* allocated by a setting, at least; one tree if sanitized */
    FIRST = 5,
    LAST = 16,
    LONG_LIVED = 15, /* depth */
    PASSES = 3
};

/* What a tree's root is in, and a node while its children are made. */
enum { LIVED = 33, TREE = 34, NODE = 35 };

static const struct setting {
    const char *name;
    unsigned kind;
    size_t nursery;
} settings[] = {
    {"copying", 1, 8}, {"no-gen", 0, HALF + 1}, {"small-gen", 0, 100000}, {"large-gen", 0, 200000}};
enum { SETTINGS = sizeof settings / sizeof *settings };

static gc_slots slots[1];
static struct gc *gc;
static double collecting, since; /* seconds */
static uint64_t allocated;

static void no_poison(void *start, size_t words) {
    (void)start;
    (void)words;
}
static void out_of_fuel(struct gc_hooks *h) {
    (void)h;
    abort();
}
/* A collection starts, or is done. */
static void watch(struct gc_hooks *h, void *view) {
    const struct cakeml_view *v = view;
    (void)h;
    if (v->stage == CAKEML_START)
        since = bench_seconds();
    else
        collecting += bench_seconds() - since;
}
static struct gc_hooks hooks;

/* A block of n unit fields in slot dst. */
static void allocate(unsigned dst, size_t n) {
    static const word units[] = {WORD_UNIT, WORD_UNIT, WORD_UNIT, WORD_UNIT};
    if (cakeml.alloc(gc, 0, dst, n, 0, units) != GC_OK) {
        fprintf(stderr, "bench_cakeml: not enough space\n");
        exit(1);
    }
    allocated += n + 1;
}

/* A tree in slot dst: nodes of four fields, two of them subtrees, and one box more.  Slot d holds
 * the left subtree while the right one is made. */
static void make_tree(unsigned depth, unsigned dst) {
    if (depth == 0) {
        slots[0][dst] = WORD_UNIT;
        return;
    }
    make_tree(depth - 1, depth);
    make_tree(depth - 1, dst);
    allocate(NODE, 4);
    cakeml.init(gc, 0, NODE, 0, depth);
    cakeml.init(gc, 0, NODE, 1, dst);
    slots[0][dst] = slots[0][NODE];
    slots[0][NODE] = slots[0][depth] = WORD_UNIT;
}

static void reset(const struct setting *s) {
    struct gc_config config = {.heap_words = HALF,
                               .nursery_words = s->nursery,
                               .kind = s->kind,
                               .mutators = 1,
                               .slots = slots,
                               .hooks = &hooks};
    hooks = (struct gc_hooks){.poison = no_poison,
                              .unpoison = no_poison,
                              .fuel = UINT64_MAX,
                              .out_of_fuel = out_of_fuel,
                              .refinement = watch};
    for (unsigned k = 0; k < GC_SLOTS; k++)
        slots[0][k] = WORD_UNIT;
    cakeml.reset(gc, &config);
}

/* One setting; the whole time. */
static double pass(const struct setting *s, unsigned depth, uint64_t words) {
    reset(s);
    make_tree(LONG_LIVED, LIVED);
    cakeml.collect(gc, GC_FULL);
    double start = bench_seconds();
    allocated = 0;
    collecting = 0;
    while (allocated < words) {
        make_tree(depth, TREE);
        allocate(NODE, 1); /* the box: 2 words */
        slots[0][TREE] = slots[0][NODE] = WORD_UNIT;
    }
    return bench_seconds() - start;
}

/* The fastest of PASSES: what else a machine does only ever adds time. */
static void run(const char *flavour, unsigned depth, uint64_t words) {
    double copying = 0;
    for (unsigned k = 0; k < SETTINGS; k++) {
        char name[96];
        double best = 1e9, all = 0;
        for (unsigned n = 0; n < PASSES; n++) {
            double time = pass(&settings[k], depth, words);
            if (collecting < best) {
                best = collecting;
                all = time;
            }
        }
        copying = k == 0 ? best : copying;
        snprintf(name, sizeof name, "cakeml_%s_depth%02u_%s", flavour, depth, settings[k].name);
        bench_line(name, "", best * 1e3, "ms");
        bench_line(name, "_ratio", copying > 0 ? best / copying : 0, "to copying");
        bench_line(name, "_share", 100 * best / all, "%");
        bench_line(name, "_collections", (double)hooks.collections - 1, "collections");
    }
}

int main(int argc, char **argv) {
    if (argc != 2) {
        fprintf(stderr, "usage: bench_cakeml FLAVOUR\n");
        return 2;
    }
    gc = cakeml.open();
    if (!gc) {
        fprintf(stderr, "bench_cakeml: no memory\n");
        return 1;
    }
    uint64_t words = strcmp(argv[1], "asan") == 0 ? 1 : WORDS;
    for (unsigned depth = FIRST; depth <= LAST; depth++)
        run(argv[1], depth, words);
    cakeml.close(gc);
    return 0;
}
