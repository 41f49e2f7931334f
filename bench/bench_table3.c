/* SPDX-License-Identifier: MIT
 *
 * The allocation profiles of Table 3 of the long paper on the verified OCaml collector, scaled
 * down, on every registered collector.
 *
 *   bench_table3 FLAVOUR [COLLECTOR]     FLAVOUR names the build in the output: asan, plain;
 *                                        COLLECTOR: this one alone, and mark_sweep
 *
 * From a row of the table come the share of the heap that is live, the share of what is allocated
 * that survives, and how many heaps full are allocated between two collections; what blocks a
 * program allocates is our own supposition, from what the program is known for.  The collectors are
 * called as the harness calls them, without oracles, in a heap of HEAP words.  docs/explore.md says
 * where the figures agree with the paper's.
 *
 * Lines: nanoseconds for one operation (an allocation, or a store), as a ratio to mark_sweep, and
 * collections for every heap full of allocation, which the table has too (`_paper_collections`;
 * the first heap full, before any collection, left out).
 */
#define _DEFAULT_SOURCE
#include "bench/bench.h"
#include "collectors/collector.h"
#include "collectors/registry/registry.h"

#include <stdlib.h>
#include <string.h>

enum {
    HEAP = 4096,
    TABLES = 16,   /* slots 0 .. : blocks that hold what is live */
    TABLE = 32,    /* fields of each */
    WORK = TABLES, /* scratch slots from here on */
    NEW = GC_SLOTS - 1,
    OTHER = GC_SLOTS - 2,
    COLLECTORS = 32,
    ROUNDS = 20,
    BATCH = 1024 /* turns between two looks at the clock, which takes a microsecond */
};
static const double slice_seconds = 0.01;
static const double runtime_mb = 3.4; /* what MaxRSS is without a heap: FannkuchRedux has none */

enum unit { ATOM, LIST, TREE }; /* of one block; of 8; of 15 */

struct profile {
    const char *name;
    double allocated, promoted, collections,
        rss;     /* the table: MB, MB, of the verified GC, its MB */
    double live; /* share of the heap; 0: from the table */
    unsigned wosize, tag;
    enum unit unit;
    unsigned swaps; /* of two live entries, for every unit */
};

/* live is given where the table does not tell it: the last three heaps are as small as what is
 * allocated between two collections, and Cpdf collects once. */
static const struct profile profiles[] = {
    {"binary_trees", 15206, 7900, 42, 515, 0, 2, 0, TREE, 0},
    {"count_change", 905, 140, 5, 260, 0, 2, 0, LIST, 0},
    {"fannkuch_redux", 0.03, 0, 0, 3.5, 0.05, 1, 0, ATOM, 4},
    {"fasta", 3171, 0.03, 72, 67, 0, 8, TAG_STRING, ATOM, 1},
    {"quicksort", 19, 0.02, 0, 22, 0.8, 1, 0, ATOM, 4},
    {"nbodies", 808, 0.04, 3819, 0, 0.05, 1, TAG_DOUBLE, ATOM, 0},
    {"mandelbrot", 3009, 0.13, 34201, 0, 0.05, 1, TAG_DOUBLE, ATOM, 0},
    {"spectralnorm", 3052, 0.06, 47, 67, 0, 1, TAG_DOUBLE, ATOM, 0},
    {"knucleotide", 140, 17, 2, 67, 0, 3, 0, LIST, 1},
    {"cpdf", 512, 200, 1, 517, 0.27, 4, 0, TREE, 1},
    {"yojson", 129, 14, 48, 14, 0, 2, 0, LIST, 0},
};
enum { PROFILES = sizeof profiles / sizeof *profiles };

static double heap_mb(const struct profile *p) {
    return p->rss > 0 ? p->rss - runtime_mb : p->allocated / p->collections / (1 - p->live);
}

/* A heap full is allocated before the first collection, and what each frees after it. */
static double live_share(const struct profile *p) {
    double freed = (p->allocated - heap_mb(p)) / (p->collections * heap_mb(p));
    double live = p->live > 0 ? p->live : 1 - freed;
    return live < 0.02 ? 0.02 : live > 0.8 ? 0.8 : live;
}

/* ---- a mutator --------------------------------------------------------------------------------
 */

struct mutator {
    const struct collector *collector;
    const struct profile *profile;
    struct gc *gc;
    struct gc_config config;
    struct gc_hooks hooks;
    gc_slots slots[1];
    uint64_t random, operations, words;
    unsigned entries; /* of the tables, in use */
    unsigned refused;
    double best; /* nanoseconds for one operation */
    word units[HEAP];
};

static void no_poison(void *start, size_t words) {
    (void)start;
    (void)words;
}
static void no_minor(struct gc_hooks *hooks, bool before) {
    (void)hooks;
    (void)before;
}
static void no_fuel(struct gc_hooks *hooks) {
    (void)hooks;
    fprintf(stderr, "bench_table3: a collector makes no progress\n");
    exit(1);
}

static unsigned random_below(struct mutator *m, unsigned n) {
    return (unsigned)(bench_random(&m->random) >> 33) % n;
}

static void store(struct mutator *m, unsigned obj, size_t i, unsigned value) {
    m->operations++;
    if (m->collector->store)
        m->collector->store(m->gc, 0, obj, i, value);
    else
        word_pointer(m->slots[0][obj])[i] = m->slots[0][value];
}
static void init(struct mutator *m, unsigned obj, size_t i, unsigned value) {
    if (m->collector->init)
        m->collector->init(m->gc, 0, obj, i, value);
    else
        word_pointer(m->slots[0][obj])[i] = m->slots[0][value];
}
static void load(struct mutator *m, unsigned dst, unsigned obj, size_t i) {
    if (m->collector->load)
        m->collector->load(m->gc, 0, dst, obj, i);
    else
        m->slots[0][dst] = word_pointer(m->slots[0][obj])[i];
}

static void put(struct mutator *m, unsigned entry, unsigned slot) {
    store(m, entry / TABLE, entry % TABLE, slot);
}

/* The heap is full or in pieces: an eighth of what is live goes, so that the run can go on. */
static void give_up_entries(struct mutator *m) {
    m->slots[0][OTHER] = WORD_UNIT;
    m->refused++;
    if (m->refused > 1000) {
        fprintf(stderr, "bench_table3: %s serves nothing any more\n", m->collector->name);
        exit(1);
    }
    for (unsigned i = 0; i < 1 + m->entries / 8; i++)
        put(m, random_below(m, m->entries), OTHER);
}

static void allocate(struct mutator *m, unsigned dst, size_t wosize, unsigned tag) {
    m->operations++;
    m->words += wosize + 1;
    for (;;) {
        enum gc_result result = m->collector->alloc(m->gc, 0, dst, wosize, tag, m->units);
        while (result == GC_PENDING && m->collector->poll)
            result = m->collector->poll(m->gc, 0);
        if (result == GC_OK)
            return;
        give_up_entries(m);
    }
}

/* A tree of 2^(depth + 1) - 1 nodes, bottom up, in slot. */
static void make_tree(struct mutator *m, unsigned slot, unsigned depth) {
    if (depth == 0) {
        allocate(m, slot, m->profile->wosize, m->profile->tag);
        return;
    }
    make_tree(m, slot, depth - 1);
    make_tree(m, slot + 1, depth - 1);
    allocate(m, NEW, m->profile->wosize, m->profile->tag);
    init(m, NEW, 0, slot);
    init(m, NEW, 1, slot + 1);
    m->slots[0][slot] = m->slots[0][NEW];
    m->slots[0][slot + 1] = WORD_UNIT;
}

static void make_unit(struct mutator *m) {
    const struct profile *p = m->profile;
    if (p->unit == TREE) {
        make_tree(m, WORK, 3);
        return;
    }
    allocate(m, WORK, p->wosize, p->tag);
    for (unsigned i = 1; i < 8 && p->unit == LIST; i++) {
        allocate(m, NEW, p->wosize, p->tag);
        init(m, NEW, 0, WORK);
        m->slots[0][WORK] = m->slots[0][NEW];
    }
}

static void swap(struct mutator *m) {
    unsigned a = random_below(m, m->entries), b = random_below(m, m->entries);
    load(m, OTHER, a / TABLE, a % TABLE);
    load(m, NEW, b / TABLE, b % TABLE);
    put(m, a, NEW);
    put(m, b, OTHER);
}

/* ---- a run ------------------------------------------------------------------------------------
 */

static unsigned unit_words(const struct profile *p) {
    return (p->wosize + 1) * (p->unit == TREE ? 15 : p->unit == LIST ? 8 : 1);
}

/* So many entries that the tables and what hangs in them are the live share. */
static unsigned live_entries(const struct profile *p) {
    unsigned n = (unsigned)(live_share(p) * HEAP / (unit_words(p) + 1));
    return n < 1 ? 1 : n > TABLES * TABLE ? TABLES * TABLE : n;
}

static void begin(struct mutator *m) {
    m->config.slots = m->slots;
    m->config.hooks = &m->hooks;
    for (unsigned i = 0; i < GC_SLOTS; i++)
        m->slots[0][i] = WORD_UNIT;
    for (unsigned i = 0; i < HEAP; i++)
        m->units[i] = WORD_UNIT;
    m->collector->reset(m->gc, &m->config);
    m->entries = live_entries(m->profile);
    for (unsigned t = 0; t * TABLE < m->entries; t++)
        allocate(m, t, TABLE, 0);
    for (unsigned e = 0; e < m->entries && m->profile->collections > 0; e++) {
        make_unit(m);
        put(m, e, WORK);
    }
}

/* A unit, which survives or does not, and the work on what is live. */
static void turn(struct mutator *m) {
    const struct profile *p = m->profile;
    uint64_t before = m->words;
    if (p->collections > 0) {
        make_unit(m);
        if (random_below(m, 1u << 20) < p->promoted / p->allocated * (1u << 20))
            put(m, random_below(m, m->entries), WORK);
        m->slots[0][WORK] = WORD_UNIT;
    }
    for (unsigned i = 0; i < p->swaps; i++)
        swap(m);
    m->slots[0][OTHER] = m->slots[0][NEW] = WORD_UNIT;
    /* Who collects in cycles: twice the pace at which one ends before the heap is full.  A step of
     * others is a whole collection, or comes with their allocations. */
    if (m->collector->cycle && m->collector->step && m->words > before)
        m->collector->step(m->gc, (size_t)(2 * (1 + live_share(p)) / (1 - live_share(p)) *
                                           (double)(m->words - before)));
}

/* Nanoseconds for one operation, over a slice of time in which the heap is filled many times. */
static double run_slice(struct mutator *m) {
    uint64_t operations = m->operations;
    double start = bench_seconds(), elapsed;
    do {
        for (unsigned i = 0; i < BATCH; i++)
            turn(m);
        elapsed = bench_seconds() - start;
    } while (elapsed < slice_seconds);
    return elapsed * 1e9 / (double)(m->operations - operations);
}

static void report(const struct mutator *m, const char *flavour, double base) {
    char name[128];
    snprintf(name, sizeof name, "table3_%s_%s_%s", m->profile->name, m->collector->name, flavour);
    bench_line(name, "", m->best, "ns/operation");
    bench_line(name, "_ratio", m->best / base, "ratio");
    if (m->words > 0)
        bench_line(name, "_collections", (double)m->hooks.collections * HEAP / (double)m->words,
                   "collections/heap");
    if (m->refused)
        bench_line(name, "_refused", m->refused, "refusals");
}

static struct mutator *open_mutator(const struct collector *c, const struct profile *p) {
    struct mutator *m = calloc(1, sizeof *m);
    struct gc *gc = m ? c->open() : NULL;
    if (!gc) {
        fprintf(stderr, "bench_table3: no memory for %s\n", c->name);
        exit(1);
    }
    *m = (struct mutator){.collector = c,
                          .profile = p,
                          .gc = gc,
                          .random = 1,
                          .best = 1e9,
                          .hooks = {.poison = no_poison,
                                    .unpoison = no_poison,
                                    .fuel = UINT64_MAX,
                                    .out_of_fuel = no_fuel,
                                    .minor = no_minor},
                          .config = {.heap_words = HEAP,
                                     .nursery_words = HEAP / 8,
                                     .slice_words = 64,
                                     .large_words = 64,
                                     .mutators = 1}};
    begin(m);
    m->hooks.collections = 0;
    m->operations = m->words = m->refused = 0;
    return m;
}

/* Every collector in turn, a slice each: of what else the machine does each has its share, and the
 * fastest slice has the least. */
static void run_profile(const struct profile *p, const struct collector *const *collectors,
                        const char *flavour) {
    struct mutator *mutators[COLLECTORS];
    unsigned n = 0;
    for (; n < COLLECTORS && collectors[n]; n++)
        mutators[n] = open_mutator(collectors[n], p);
    for (unsigned round = 0; round < ROUNDS; round++)
        for (unsigned i = 0; i < n; i++) {
            double ns = run_slice(mutators[i]);
            mutators[i]->best = ns < mutators[i]->best ? ns : mutators[i]->best;
        }
    for (unsigned i = 0; i < n; i++)
        report(mutators[i], flavour, mutators[0]->best);
    for (unsigned i = 0; i < n; i++) {
        mutators[i]->collector->close(mutators[i]->gc);
        free(mutators[i]);
    }
}

static void print_table(const struct profile *p) {
    char name[128];
    snprintf(name, sizeof name, "table3_%s", p->name);
    bench_line(name, "_live", live_share(p), "share");
    if (p->collections > 1)
        bench_line(name, "_paper_collections",
                   p->collections * heap_mb(p) / (p->allocated - heap_mb(p)), "collections/heap");
}

/* The base of the ratios first. */
static void choose(const struct collector **chosen, const char *name) {
    const struct collector *base = collector_find(registered_collectors, "mark_sweep");
    unsigned n = 0;
    chosen[n++] = base;
    for (const struct collector *const *c = registered_collectors; *c && n < COLLECTORS; c++)
        if (*c != base && (!name || strcmp((*c)->name, name) == 0))
            chosen[n++] = *c;
}

int main(int argc, char **argv) {
    const struct collector *chosen[COLLECTORS + 1] = {NULL};
    if (argc < 2 || argc > 3 || (argc == 3 && !collector_find(registered_collectors, argv[2]))) {
        fprintf(stderr, "usage: bench_table3 FLAVOUR [COLLECTOR]\n");
        return 2;
    }
    choose(chosen, argv[2]);
    for (unsigned i = 0; i < PROFILES; i++) {
        print_table(&profiles[i]);
        run_profile(&profiles[i], chosen, argv[1]);
    }
    return 0;
}
