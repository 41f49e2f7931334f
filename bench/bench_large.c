/* SPDX-License-Identifier: MIT
 *
 * Large heaps: the model, and whole runs, of 10^5, 10^6 and 10^7 blocks.
 *
 *   bench_large FLAVOUR [COLLECTOR]
 *
 * The model has a list of blocks with two fields each, which is marked.  A run has the same list as
 * its initial heap, on COLLECTOR (default: mark_sweep) beside cheney, with all oracles and one full
 * collection; its memory is the most that the process has had.  With sanitizers 10^6 blocks are the
 * most.
 */
#define _DEFAULT_SOURCE
#include "bench/bench.h"
#include "collectors/cheney/cheney.h"
#include "collectors/registry/registry.h"
#include "harness/harness.h"
#include "program/text/text.h"
#include "views/model.h"

#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

static const char *flavour;

static void line(const char *what, size_t blocks, const char *suffix, double value,
                 const char *unit) {
    char name[80];
    snprintf(name, sizeof name, "large_%s_%s_%zu_blocks", flavour, what, blocks);
    bench_line(name, suffix, value, unit);
}

static double most_mib(void) {
    struct rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    return (double)usage.ru_maxrss / 1024;
}

/* ---- the model --------------------------------------------------------------------------------
 */

static void measure_model(size_t blocks) {
    static struct model model;
    word content[2] = {WORD_UNIT, WORD_UNIT};
    if (!model_room(&model, blocks, 2 * blocks))
        abort();
    double t0 = bench_seconds();
    model_reset(&model, 1);
    for (size_t b = 0; b < blocks; b++) {
        unsigned object = model_add(&model, 2, 0, 0, content);
        content[1] = model_pointer(object, 0);
    }
    model.slots[0][0] = content[1];
    double t1 = bench_seconds();
    model_mark(&model);
    double t2 = bench_seconds();
    if (model.live_objects != blocks)
        abort();
    line("model", blocks, "_add", (t1 - t0) * 1e9 / (double)blocks, "ns/block");
    line("model", blocks, "_mark", (t2 - t1) * 1e9 / (double)blocks, "ns/block");
    model_close(&model);
}

/* ---- a run ------------------------------------------------------------------------------------
 */

static void measure_run(const struct collector *subject, size_t blocks) {
    static struct program program;
    struct text_error error;
    char text[300];
    int length = snprintf(text, sizeof text,
                          "isoheap program 1\nconfig heap=%zu mark-stack=0\nheap\n"
                          "  b0 = %zu of block tag=0 [7, next]\nroots\n  r0 = b0\nscript\n  full\n",
                          3 * blocks + 100, blocks);
    if (!program_parse(&program, text, (size_t)length, &error))
        abort();
    struct runner_options options = {.subject = subject, .reference = &cheney};
    struct runner *runner = runner_open(&options);
    struct verdict v;
    if (!runner)
        abort();
    double t0 = bench_seconds();
    runner_run(runner, &program, &v);
    double seconds = bench_seconds() - t0;
    if (v.violation || v.harness_error || v.not_run) {
        fprintf(stderr, "bench_large: %s\n", v.detail);
        exit(1);
    }
    line("run", blocks, "", seconds, "s");
    line("run", blocks, "_memory", most_mib(), "MiB");
    runner_close(runner);
}

int main(int argc, char **argv) {
    if (argc < 2) {
        fprintf(stderr, "usage: bench_large FLAVOUR [COLLECTOR]\n");
        return 2;
    }
    flavour = argv[1];
    const struct collector *subject =
        collector_find(registered_collectors, argc > 2 ? argv[2] : "mark_sweep");
    size_t most = strcmp(flavour, "plain") == 0 ? 10000000 : 1000000;
    for (size_t blocks = 100000; subject && blocks <= most; blocks *= 10)
        measure_run(subject, blocks);
    for (size_t blocks = 100000; blocks <= most; blocks *= 10)
        measure_model(blocks);
    return subject ? 0 : 2;
}
