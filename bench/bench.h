/* SPDX-License-Identifier: MIT
 *
 * What the benchmarks share: a clock, a generator, the line that they print.
 */
#ifndef ISOHEAP_BENCH_H
#define ISOHEAP_BENCH_H

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

/* Seconds of one core: the benchmarks have one thread, and what else the machine does should not
 * count. */
static inline double bench_seconds(void) {
    struct timespec now;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

/* xorshift64*: the same inputs in every build. */
static inline uint64_t bench_random(uint64_t *state) {
    *state ^= *state >> 12;
    *state ^= *state << 25;
    *state ^= *state >> 27;
    return *state * 0x2545f4914f6cdd1d;
}

static inline int bench_by_size(const void *a, const void *b) {
    unsigned one = *(const unsigned *)a, other = *(const unsigned *)b;
    return (one > other) - (one < other);
}

/* Counts in their order, for a median. */
static inline void bench_sort(unsigned *counts, size_t n) {
    qsort(counts, n, sizeof *counts, bench_by_size);
}

/* One line of the report: name value unit. */
static inline void bench_line(const char *name, const char *suffix, double value,
                              const char *unit) {
    printf("%s%s %.4g %s\n", name, suffix, value, unit);
    fflush(stdout);
}

#endif
