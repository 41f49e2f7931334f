/* SPDX-License-Identifier: MIT
 *
 * Structured mutations and crossovers per second, on programs of 64 and of 256 bytes that mutation
 * itself has made, as in a campaign.
 *
 *   bench_mutate FLAVOUR    names the build in the output: asan, plain
 */
#define _DEFAULT_SOURCE
#include "bench/bench.h"
#include "program/mutation/mutate.h"

#include <stdlib.h>
#include <string.h>

enum { INPUTS = 500, LONGEST = 256 };
static const double bench_time = 1.0; /* seconds a figure */

static uint8_t inputs[INPUTS][LONGEST];
static size_t sizes[INPUTS];

/* Programs of half to all of `size` bytes, each grown from nothing. */
static void make_inputs(struct mutation *m, size_t size) {
    uint64_t seed = 1;
    for (unsigned i = 0; i < INPUTS; i++)
        for (sizes[i] = 0; sizes[i] < size / 2;)
            sizes[i] = mutation_mutate(m, inputs[i], sizes[i], size, seed++);
}

static void line(const char *flavour, const char *what, size_t size, uint64_t n, double elapsed) {
    char name[64];
    snprintf(name, sizeof name, "%s_%s_%zu", what, flavour, size);
    bench_line(name, "", (double)n / elapsed, "rounds/s");
}

static void run(struct mutation *m, const char *flavour, size_t size) {
    static uint8_t bytes[LONGEST];
    uint64_t n = 0;
    make_inputs(m, size);
    double start = bench_seconds(), elapsed;
    do {
        for (unsigned i = 0; i < INPUTS; i++) {
            memcpy(bytes, inputs[i], sizes[i]);
            mutation_mutate(m, bytes, sizes[i], size, ++n);
        }
        elapsed = bench_seconds() - start;
    } while (elapsed < bench_time);
    line(flavour, "mutate", size, n, elapsed);
    n = 0;
    start = bench_seconds();
    do {
        for (unsigned i = 0; i < INPUTS; i++) {
            unsigned j = (i + (unsigned)n) % INPUTS;
            mutation_cross(m, inputs[i], sizes[i], inputs[j], sizes[j], bytes, size, ++n);
        }
        elapsed = bench_seconds() - start;
    } while (elapsed < bench_time);
    line(flavour, "cross", size, n, elapsed);
}

int main(int argc, char **argv) {
    struct mutation *m = mutation_open(NULL, NULL);
    if (argc != 2 || !m) {
        fprintf(stderr, "usage: bench_mutate FLAVOUR\n");
        return 2;
    }
    run(m, argv[1], 64);
    run(m, argv[1], 256);
    mutation_close(m);
    return 0;
}
