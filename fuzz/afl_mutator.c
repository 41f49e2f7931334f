/* SPDX-License-Identifier: MIT
 *
 * Structured mutation (program/mutation/mutate.h) as a custom mutator of AFL++: a shared object for
 * AFL_CUSTOM_MUTATOR_LIBRARY.
 *
 *   afl_custom_fuzz      mutates, or crosses with the other input that AFL++ hands over
 *   afl_custom_describe  the kinds of mutation of the last round, for the names of queue files
 *   afl_custom_trim      leaves out operations, items and roots instead of bytes
 *
 * AFL++ seeds it once (afl-fuzz -s makes a run repeatable); every round draws its own seed.  The
 * interface is that of AFL++ 4.04c; custom mutators come with no header, so it is written down
 * here.
 */
#include "fuzz/mutation_choice.h"
#include "program/bytes/bytes.h"
#include "program/random.h"

#include <stdlib.h>
#include <string.h>

enum {
    ROUNDS = 256,         /* for each input in turn: many inputs, not many rounds */
    CROSSOVERS = 8,       /* one round in so many has two parents */
    LONGEST_INPUT = 4096, /* as libFuzzer's max_len in default.options; larger inputs may stay so */
    SMALLEST_TRIM = 64,   /* trims end at parts / SMALLEST_TRIM: AFL++ runs each of them */
    DESCRIPTION = 256
};

struct glue {
    struct mutation *mutation; /* NULL: switched off */
    struct random random;
    uint8_t *out; /* mutated or trimmed; room for any program */
    size_t room;
    char description[DESCRIPTION];
    /* the trim under way */
    uint8_t *kept;
    size_t kept_size, tried_size;
    unsigned parts, from, count, least;
};

void *afl_custom_init(void *afl, unsigned seed);
void afl_custom_deinit(void *data);
unsigned afl_custom_fuzz_count(void *data, const unsigned char *in, size_t size);
size_t afl_custom_fuzz(void *data, unsigned char *in, size_t size, unsigned char **out,
                       unsigned char *other, size_t other_size, size_t max_size);
const char *afl_custom_describe(void *data, size_t most);
int afl_custom_init_trim(void *data, unsigned char *in, size_t size);
size_t afl_custom_trim(void *data, unsigned char **out);
int afl_custom_post_trim(void *data, unsigned char success);

/* ---- bytes ------------------------------------------------------------------------------------
 */

/* AFL++ does not offer its byte mutations to a library; this stands in for them where
 * AFL_CUSTOM_MUTATOR_ONLY leaves its havoc stage out.  Its randomness is that of the round. */
static uint64_t byte_seed;

static size_t byte_round(uint8_t *data, size_t size, size_t max_size) {
    struct random r = {byte_seed};
    for (unsigned n = random_few(&r, 8); n > 0; n--) {
        size_t at = size ? random_next(&r) % size : 0;
        unsigned dice = random_below(&r, 4);
        if ((dice == 0 || size == 0) && size < max_size) {
            memmove(data + at + 1, data + at, size++ - at);
            data[at] = (uint8_t)random_next(&r);
        } else if (dice == 1 && size > 1) {
            memmove(data + at, data + at + 1, --size - at);
        } else if (dice == 2 && size > 0) {
            data[at] ^= (uint8_t)(1u << random_below(&r, 8));
        } else if (size > 0) {
            data[at] = (uint8_t)random_next(&r);
        }
    }
    return size;
}

/* ---- life -------------------------------------------------------------------------------------
 */

void afl_custom_deinit(void *data) {
    struct glue *g = data;
    mutation_close(g->mutation);
    free(g->out);
    free(g->kept);
    free(g);
}

/* The library is loaded into afl-fuzz: what is wrong ends it, with a message. */
void *afl_custom_init(void *afl, unsigned seed) {
    (void)afl;
    const struct mutation_profile *profile = mutation_choice();
    struct glue *g = calloc(1, sizeof *g);
    if (!g)
        return NULL;
    g->random.state = seed;
    g->room = program_encode_bound;
    g->out = malloc(g->room);
    g->kept = malloc(g->room);
    if (profile)
        g->mutation = mutation_open(profile, byte_round);
    if (!g->out || !g->kept || (profile && !g->mutation)) {
        afl_custom_deinit(g);
        return NULL;
    }
    return g;
}

/* ---- mutation ---------------------------------------------------------------------------------
 */

/* 0 rounds if it is switched off: AFL++ then goes on to its own stages. */
unsigned afl_custom_fuzz_count(void *data, const unsigned char *in, size_t size) {
    const struct glue *g = data;
    (void)in;
    (void)size;
    return g->mutation ? ROUNDS : 0;
}

static size_t limit_for(const struct glue *g, size_t size, size_t max_size) {
    size_t limit = size > LONGEST_INPUT ? size : LONGEST_INPUT;
    limit = limit < max_size ? limit : max_size;
    return limit < g->room ? limit : g->room;
}

/* A size of 0 stands for "nothing to run". */
size_t afl_custom_fuzz(void *data, unsigned char *in, size_t size, unsigned char **out,
                       unsigned char *other, size_t other_size, size_t max_size) {
    struct glue *g = data;
    size_t limit = limit_for(g, size, max_size);
    uint64_t seed = byte_seed = random_next(&g->random);
    *out = g->out;
    if (!g->mutation)
        return 0;
    if (other && other_size > 0 && random_chance(&g->random, CROSSOVERS))
        return mutation_cross(g->mutation, in, size, other, other_size, g->out, limit, seed);
    size = size < limit ? size : limit;
    memcpy(g->out, in, size);
    return mutation_mutate(g->mutation, g->out, size, limit, seed);
}

/* Part of a file name: no slash in it, and no longer than asked for. */
const char *afl_custom_describe(void *data, size_t most) {
    struct glue *g = data;
    size_t capacity = most < DESCRIPTION ? most : DESCRIPTION;
    g->description[0] = '\0';
    if (g->mutation && capacity > 1)
        mutation_describe(g->mutation, g->description, capacity);
    return g->description;
}

/* ---- trimming ---------------------------------------------------------------------------------
 */

/* Large runs first, from the end of the program to its start; then runs of half the length. */
static int next_trim(struct glue *g) {
    while (g->from == 0 && g->count > g->least) {
        g->count /= 2;
        g->from = g->parts;
    }
    if (g->from == 0)
        return 1;
    g->from -= g->from < g->count ? g->from : g->count;
    return 0;
}

/* AFL++ goes on while the number that it gets is below the one from here: 1, and 0 until the end.
 */
int afl_custom_init_trim(void *data, unsigned char *in, size_t size) {
    struct glue *g = data;
    if (!g->mutation || size > g->room)
        return 0;
    memcpy(g->kept, in, size);
    g->kept_size = size;
    g->parts = g->from = mutation_parts(g->mutation, in, size);
    if (g->parts == 0)
        return 0;
    g->count = g->parts > 1 ? g->parts / 2 : 1;
    g->least = g->parts / SMALLEST_TRIM + 1;
    next_trim(g);
    return 1;
}

size_t afl_custom_trim(void *data, unsigned char **out) {
    struct glue *g = data;
    unsigned left = g->parts - g->from, count = g->count < left ? g->count : left;
    *out = g->out;
    g->tried_size =
        mutation_trim(g->mutation, g->kept, g->kept_size, g->from, count, g->out, g->kept_size);
    return g->tried_size;
}

int afl_custom_post_trim(void *data, unsigned char success) {
    struct glue *g = data;
    if (success && g->tried_size > 0) {
        memcpy(g->kept, g->out, g->tried_size);
        g->kept_size = g->tried_size;
        g->parts = mutation_parts(g->mutation, g->kept, g->kept_size);
        if (g->from > g->parts) /* roots went along with their blocks */
            g->from = g->parts;
    }
    return next_trim(g);
}
