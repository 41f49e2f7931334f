/* SPDX-License-Identifier: MIT
 *
 * Structured mutation (mutate.h): the round, what it uses, and the size limit.
 *
 * A struct program is large and mostly unused: nothing here clears or copies one as a whole.
 */
#include "program/cut.h"
#include "program/mutation/internal.h"

#include "program/bytes/bytes.h"
#include "program/text/text.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    BYTE_ROUNDS = 8,         /* one round in so many is the engine's */
    LONGEST_ROUND = 6,       /* mutations of one round */
    LONGEST_GENERATION = 32, /* rounds of a program from nothing */
    TRIES = 8,               /* kinds to try until one finds something to change */
    SWARM_EVERYTHING = 3     /* one round in so many uses all kinds, operations and tags */
};

static const struct {
    const char *name, *meaning;
    bool (*mutate)(struct mutation *m);
} kinds[MUTATION_KIND_COUNT] = {
#define X(name, meaning) [MUTATION_##name] = {#name, meaning, mutate_##name},
    MUTATION_KINDS(X)
#undef X
};

const char *mutation_kind_name(enum mutation_kind kind) {
    return kinds[kind].name;
}
const char *mutation_kind_meaning(enum mutation_kind kind) {
    return kinds[kind].meaning;
}

/* ---- life ------------------------------------------------------------------------------------ */

struct mutation *mutation_open(const struct mutation_profile *profile, mutate_bytes *bytes) {
    struct mutation *m = calloc(1, sizeof *m);
    if (!m)
        return NULL;
    mutation_weights_set(&m->weights, profile ? profile : mutation_profile_at(0));
    m->bytes = bytes;
    return m;
}

void mutation_limit(struct mutation *m, size_t max_wosize) {
    m->longest = max_wosize;
}

void mutation_close(struct mutation *m) {
    free(m);
}

const struct program *mutation_program(const struct mutation *m) {
    return &m->program;
}
const uint64_t *mutation_counts(const struct mutation *m) {
    return m->counts;
}

size_t mutation_describe(const struct mutation *m, char *out, size_t capacity) {
    size_t length = 0;
    const char *separator = "";
    if (m->bytes_round)
        return (size_t)snprintf(out, capacity, "bytes");
    if (capacity > 0)
        out[0] = '\0';
    for (unsigned k = 0; k <= MUTATION_KIND_COUNT; k++) {
        bool did = k < MUTATION_KIND_COUNT ? m->done >> k & 1 : m->crossed;
        if (!did)
            continue;
        const char *name = k < MUTATION_KIND_COUNT ? kinds[k].name : "cross";
        size_t room = length < capacity ? capacity - length : 0;
        length += (size_t)snprintf(room ? out + length : NULL, room, "%s%s", separator, name);
        separator = ",";
    }
    return length;
}

void mutation_load(struct program *p, const uint8_t *data, size_t size) {
    struct text_error error;
    if (program_looks_like_text(data, size) && program_parse(p, (const char *)data, size, &error))
        return;
    program_decode(p, data, size);
}

/* ---- the size limit -------------------------------------------------------------------------- */

static unsigned count_roots(const struct program *p) {
    unsigned n = 0;
    for (unsigned r = 0; r < PROGRAM_MUTATORS * PROGRAM_SLOTS; r++)
        n += !value_is_unit(&p->roots[r / PROGRAM_SLOTS][r % PROGRAM_SLOTS]);
    return n;
}

/* Roots from .. from + count - 1 of those that hold something become unit. */
static void clear_roots(struct program *p, unsigned from, unsigned count) {
    unsigned n = 0;
    for (unsigned r = 0; r < PROGRAM_MUTATORS * PROGRAM_SLOTS; r++) {
        struct value *v = &p->roots[r / PROGRAM_SLOTS][r % PROGRAM_SLOTS];
        if (value_is_unit(v))
            continue;
        if (n >= from && n - from < count)
            *v = (struct value){.kind = VALUE_IMMEDIATE};
        n++;
    }
}

/* The parts of each sort (operations, items, roots that hold something, decisions), and all. */
enum { SORTS = 4 };
static unsigned count_parts(const struct program *p, unsigned counts[SORTS]) {
    counts[0] = p->n_ops;
    counts[1] = p->n_items;
    counts[2] = count_roots(p);
    counts[3] = p->n_switches;
    return counts[0] + counts[1] + counts[2] + counts[3];
}

static unsigned count_settings(const struct program *p) {
    unsigned n = 0;
    for (unsigned k = 0; k < CONFIG_KEYS; k++)
        n += p->config[k] != config_ranges[k].initial;
    return n;
}

/* The k-th setting that is not the default goes back to it; the heap stays large enough. */
static void reset_setting(struct program *p, unsigned k) {
    for (unsigned key = 0; key < CONFIG_KEYS; key++) {
        if (p->config[key] == config_ranges[key].initial || k-- > 0)
            continue;
        unsigned words = key == CONFIG_HEAP ? program_heap_words(p) : 0;
        p->config[key] = config_ranges[key].initial;
        if (p->config[key] < words)
            p->config[key] = words;
        return;
    }
}

static void leave_out_sort(struct program *p, unsigned sort, unsigned from, unsigned count) {
    switch (sort) {
    case 0:
        edit_remove_ops(p, from, count);
        break;
    case 1:
        edit_remove_items(p, from, count);
        break;
    case 2:
        clear_roots(p, from, count);
        break;
    default:
        cut_switches(p, from, count);
    }
}

/* Leaves out parts from .. of the program, in the order of mutation_trim; the last first: without
 * its item a root holds nothing, and numbers behind it would be others. */
static void leave_out(struct program *p, unsigned from, unsigned count) {
    unsigned counts[SORTS], end = count_parts(p, counts), to = from + count;
    for (unsigned sort = SORTS; sort-- > 0;) {
        unsigned before = end - counts[sort]; /* the first of this sort */
        unsigned first = from > before ? from : before, last = to < end ? to : end;
        if (first < last)
            leave_out_sort(p, sort, first - before, last - first);
        end = before;
    }
}

/* A run of one sort of parts goes, in proportion to what is too much. */
static void drop_some(struct mutation *m, size_t excess, size_t size) {
    struct program *p = &m->program;
    unsigned counts[SORTS], parts = count_parts(p, counts), settings = count_settings(p);
    unsigned before = 0, sort = 0;
    unsigned chosen = random_below(&m->random, parts + settings);
    if (chosen >= parts) {
        reset_setting(p, chosen - parts);
        return;
    }
    while (chosen - before >= counts[sort])
        before += counts[sort++];
    unsigned most = (unsigned)(counts[sort] * excess / size / 2) + 1;
    unsigned left = counts[sort] - (chosen - before);
    leave_out_sort(p, sort, chosen - before, most < left ? most : left);
}

/* The code of a closure is cut to one function, which takes two words. */
static void shorten(struct program *p, unsigned at, unsigned longest) {
    static const int8_t arity[PROGRAM_FUNCTIONS] = {1};
    const struct item *item = &p->items[at];
    unsigned code = closure_code_words(item->functions, item->arity);
    if (code > longest && edit_functions(p, at, 1, arity))
        code = closure_code_words(1, arity);
    edit_resize_item(p, at, longest - code);
}

static void shorten_all(struct mutation *m) {
    struct program *p = &m->program;
    for (unsigned at = 0; m->longest && at < p->n_items; at++)
        if (!p->items[at].is_static && p->items[at].wosize > m->longest)
            shorten(p, at, (unsigned)m->longest);
}

size_t encode_within(struct mutation *m, uint8_t *out, size_t max_size) {
    shorten_all(m);
    size_t size = program_encode(&m->program, out, max_size);
    while (size > max_size) {
        if (max_size == 0)
            program_clear(&m->program);
        else
            drop_some(m, size - max_size, size);
        size = program_encode(&m->program, out, max_size);
    }
    return size;
}

/* ---- the round ------------------------------------------------------------------------------- */

void start_round(struct mutation *m, uint64_t seed) {
    m->random.state = seed;
    m->done = 0;
    m->bytes_round = m->crossed = false;
    m->swarm.kinds = m->swarm.tags = UINT32_MAX;
    m->swarm.ops = OP_BITS_ALL;
    if (random_chance(&m->random, SWARM_EVERYTHING))
        return;
    uint64_t dice = random_next(&m->random);
    uint64_t more = random_next(&m->random);
    m->swarm.kinds = (uint32_t)dice;
    m->swarm.tags = (uint32_t)more;
    m->swarm.ops = (more >> 32 << 32 | dice >> 32) & OP_BITS_ALL;
}

/* One change, of a kind that finds something to do. */
static void mutate_once(struct mutation *m) {
    for (unsigned tries = 0; tries < TRIES; tries++) {
        unsigned kind =
            pick_weighted(&m->random, m->weights.kinds, MUTATION_KIND_COUNT, m->swarm.kinds);
        if (!kinds[kind].mutate(m))
            continue;
        m->counts[kind]++;
        m->done |= UINT32_C(1) << kind;
        return;
    }
}

size_t mutation_mutate(struct mutation *m, uint8_t *data, size_t size, size_t max_size,
                       uint64_t seed) {
    start_round(m, seed);
    if (m->bytes && random_chance(&m->random, BYTE_ROUNDS)) {
        m->bytes_round = true;
        return m->bytes(data, size, max_size);
    }
    mutation_load(&m->program, data, size);
    for (unsigned n = random_few(&m->random, LONGEST_ROUND); n > 0; n--)
        mutate_once(m);
    if (m->done == 0) { /* the kinds of this round need what is not there */
        m->swarm.kinds = UINT32_MAX;
        mutate_once(m);
    }
    return encode_within(m, data, max_size);
}

size_t mutation_generate(struct mutation *m, uint8_t *data, size_t max_size, uint64_t seed) {
    struct random seeds = {seed};
    mutate_bytes *bytes = m->bytes;
    size_t size = 0;
    m->bytes = NULL; /* an engine's own mutator has nothing to say about nothing */
    for (unsigned rounds = 1 + random_below(&seeds, LONGEST_GENERATION); rounds > 0; rounds--)
        size = mutation_mutate(m, data, size, max_size, random_next(&seeds));
    m->bytes = bytes;
    return size;
}

/* ---- trimming -------------------------------------------------------------------------------- */

unsigned mutation_parts(struct mutation *m, const uint8_t *data, size_t size) {
    unsigned counts[SORTS];
    mutation_load(&m->program, data, size);
    return count_parts(&m->program, counts);
}

size_t mutation_trim(struct mutation *m, const uint8_t *data, size_t size, unsigned from,
                     unsigned count, uint8_t *out, size_t max_size) {
    mutation_load(&m->program, data, size);
    leave_out(&m->program, from, count);
    size_t needed = program_encode(&m->program, out, max_size);
    return needed <= max_size ? needed : 0;
}
