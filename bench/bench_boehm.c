/* SPDX-License-Identifier: MIT
 *
 * What a conservative collector keeps: of the words that random programs have dropped, the share
 * that libgc has not freed at a full collection.  A figure, never a verdict
 * (collectors/boehm/boehm.h).
 */
#define _POSIX_C_SOURCE 200809L
#include "bench/bench.h"
#include "collectors/boehm/boehm.h"
#include "harness/harness.h"
#include "program/bytes/bytes.h"

#include <stdio.h>

enum { PROGRAMS = 1500, BYTES = 256 };

static struct program program;

static double kept_share(struct runner *runner, unsigned variant) {
    struct verdict verdict;
    uint8_t data[BYTES];
    uint64_t random = 1;
    struct boehm_statistics before = boehm_statistics();
    for (unsigned i = 0; i < PROGRAMS; i++) {
        for (unsigned b = 0; b < BYTES; b++) {
            random = random * 6364136223846793005u + 1442695040888963407u;
            data[b] = (uint8_t)(random >> 56);
        }
        program_decode(&program, data, BYTES);
        program.config[CONFIG_VARIANT] = (uint16_t)variant;
        runner_run(runner, &program, &verdict);
    }
    struct boehm_statistics after = boehm_statistics();
    uint64_t garbage = after.garbage_words - before.garbage_words;
    return garbage ? (double)(after.kept_words - before.kept_words) / (double)garbage : 0;
}

int main(int argc, char **argv) {
    char name[64];
    struct runner_options options = {.subject = &boehm};
    struct runner *runner = runner_open(&options);
    if (argc != 2 || !runner) {
        fprintf(stderr, "usage: bench_boehm FLAVOUR\n");
        return 2;
    }
    for (unsigned v = 0; boehm.variants[v]; v++) {
        snprintf(name, sizeof name, "boehm_%s_variant%u", argv[1], v);
        bench_line(name, "_garbage_kept", 100 * kept_share(runner, v), "%");
    }
    runner_close(runner);
    return 0;
}
