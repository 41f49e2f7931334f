/* SPDX-License-Identifier: MIT
 *
 * Isomorphism against one Cheney copy of the same heap, and how it grows with the heap.
 *
 *   bench_isomorphism FLAVOUR
 *
 * The heap is a binary tree of blocks with three fields, the third of which points at a random
 * block.  Subject (mark_sweep) and reference (cheney) hold it; the reference has been copied once,
 * as after every collection of a fuzz run.  Times are the least of five.
 */
#define _DEFAULT_SOURCE
#include "bench/bench.h"
#include "collectors/cheney/cheney.h"
#include "collectors/mark_sweep/mark_sweep.h"
#include "views/heap.h"

#include <stdlib.h>
#include <string.h>

enum { ROUNDS = 5, FIELDS = 3 };

struct side {
    const struct collector *collector;
    struct gc *gc;
    struct gc_hooks hooks;
    struct gc_config config;
    gc_slots slots[1];
    struct graph graph;
    struct heap_facts facts;
};

static void no_poison(void *start, size_t words) {
    (void)start;
    (void)words;
}
static void no_fuel(struct gc_hooks *hooks) {
    (void)hooks;
    abort();
}

static void build(struct side *s, const struct collector *collector, size_t blocks) {
    size_t words = blocks * (FIELDS + 1), filled = words;
    uint64_t state = 88172645463325252u;
    s->collector = collector;
    s->gc = collector->open();
    s->hooks = (struct gc_hooks){
        .poison = no_poison, .unpoison = no_poison, .fuel = UINT64_MAX, .out_of_fuel = no_fuel};
    s->config = (struct gc_config){
        .heap_words = words, .mutators = 1, .slots = s->slots, .hooks = &s->hooks};
    for (unsigned i = 0; i < GC_SLOTS; i++)
        s->slots[0][i] = WORD_UNIT;
    collector->reset(s->gc, &s->config);
    word *base = collector->image(s->gc, &filled);
    for (size_t b = 0; b < blocks; b++) {
        word *hp = base + b * (FIELDS + 1);
        hp[0] = header_make(FIELDS, WHITE, 0);
        for (size_t f = 0; f < FIELDS; f++) {
            size_t to = f < 2 ? 2 * b + 1 + f : bench_random(&state) % blocks;
            hp[f + 1] = to < blocks ? pointer_word(base + to * (FIELDS + 1) + 1) : WORD_UNIT;
        }
    }
    s->slots[0][0] = pointer_word(base + 1);
    collector->adopt(s->gc, words);
    struct graph_cell *cells = calloc(words + 1, sizeof *cells);
    graph_of_heap(&s->graph, base, words, NULL, 0, s->slots[0], 1, cells, words + 1,
                  calloc(words / 64 + 1, sizeof(uint64_t)));
}

static void finish(struct side *s) {
    free(s->graph.cells);
    free(s->graph.in_use);
    s->collector->close(s->gc);
}

/* Prints the figures for a heap of so many blocks; returns the seconds of one comparison. */
static double measure(const char *flavour, size_t blocks, int report) {
    static struct side a, b;
    char name[80];
    double copy = 1e9, walk = 1e9, compare = 1e9;
    memset(&a, 0, sizeof a);
    memset(&b, 0, sizeof b);
    build(&a, &mark_sweep, blocks);
    build(&b, &cheney, blocks);
    struct isomorphism iso = {.queue = calloc(blocks + 1, sizeof *iso.queue),
                              .capacity = blocks + 1};
    for (unsigned round = 0; round < ROUNDS; round++) {
        double t0 = bench_seconds();
        cheney.collect(b.gc, GC_FULL);
        double t1 = bench_seconds();
        heap_walk(&a.graph, a.collector, a.gc, HEAP_TILES, &a.facts);
        heap_walk(&b.graph, b.collector, b.gc, HEAP_TILES, &b.facts);
        double t2 = bench_seconds();
        if (isomorphism_compare(&iso, &a.graph, &b.graph) || iso.pairs != blocks)
            abort();
        double t3 = bench_seconds();
        copy = t1 - t0 < copy ? t1 - t0 : copy;
        walk = t2 - t1 < walk ? t2 - t1 : walk;
        compare = t3 - t2 < compare ? t3 - t2 : compare;
    }
    double words = (double)blocks * (FIELDS + 1);
    snprintf(name, sizeof name, "isomorphism_%s_%zu_blocks", flavour, blocks);
    bench_line(name, "", compare * 1e9 / words, "ns/word");
    if (report) {
        bench_line(name, "_copy", copy * 1e9 / words, "ns/word");
        bench_line(name, "_walks", walk * 1e9 / words, "ns/word");
        bench_line(name, "_to_copy", compare / copy, "ratio");
    }
    free(iso.queue);
    finish(&a);
    finish(&b);
    return compare;
}

int main(int argc, char **argv) {
    if (argc != 2) {
        fprintf(stderr, "usage: bench_isomorphism FLAVOUR\n");
        return 2;
    }
    measure(argv[1], 2500, 0);
    measure(argv[1], 25000, 0);
    double small = measure(argv[1], 250000, 0);
    measure(argv[1], 1000000, 1);
    double large = measure(argv[1], 2500000, 0), largest = 0;
    char name[80];
    snprintf(name, sizeof name, "isomorphism_%s_growth_1e6_to_1e7_words", argv[1]);
    bench_line(name, "", large / small, "ratio");
    if (strcmp(argv[1], "plain") == 0) { /* two gigabytes, without a sanitizer's shadow */
        largest = measure(argv[1], 10000000, 1);
        snprintf(name, sizeof name, "isomorphism_%s_growth_to_1e7_blocks", argv[1]);
        bench_line(name, "", largest / large, "ratio");
    }
    return 0;
}
