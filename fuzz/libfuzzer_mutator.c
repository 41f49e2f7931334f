/* SPDX-License-Identifier: MIT
 *
 * Structured mutation (program/mutation/mutate.h) as libFuzzer's custom mutator and crossover, for
 * every target whose input is a program as bytes.
 */
#include "fuzz/current.h"
#include "fuzz/mutation_choice.h"

#include <stdlib.h>
#include <string.h>

enum {
    /* libFuzzer chooses mutation and crossover equally often, and another one if we decline:
     * children of two parents then come once in so many. */
    CROSSOVERS = 4,
    /* One mutation in so many makes a new program instead; all do while the engine has none but
     * the empty input that it starts from. */
    FRESH = 2,
    NOTHING = 2 /* bytes: a record that is cut off */
};

size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max_size, unsigned seed);
size_t LLVMFuzzerCustomCrossOver(const uint8_t *first, size_t first_size, const uint8_t *second,
                                 size_t second_size, uint8_t *out, size_t max_size, unsigned seed);

/* The engine's; other engines that take libFuzzer's targets may lack it. */
__attribute__((weak)) size_t LLVMFuzzerMutate(uint8_t *data, size_t size, size_t max_size);

/* collector_target.h */
__attribute__((weak)) size_t target_max_wosize(void);

static struct mutation *mutation; /* NULL: switched off */
static bool grows;                /* ISOHEAP_FRESH=off: programs come from programs alone */

static void choose_once(void) {
    static bool chosen;
    if (chosen)
        return;
    chosen = true;
    const char *fresh = getenv("ISOHEAP_FRESH");
    grows = fresh && strcmp(fresh, "off") == 0;
    const struct mutation_profile *profile = mutation_choice();
    mutation = profile ? mutation_open(profile, LLVMFuzzerMutate) : NULL;
    if (profile && !mutation)
        abort();
    if (mutation && target_max_wosize)
        mutation_limit(mutation, target_max_wosize());
}

size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max_size, unsigned seed) {
    choose_once();
    if (!mutation)
        return LLVMFuzzerMutate ? LLVMFuzzerMutate(data, size, max_size) : size;
    current_mutate(data, size, seed); /* a crash here is ours, whatever the input */
    size = !grows && (size <= NOTHING || seed % FRESH == 0)
               ? mutation_generate(mutation, data, max_size, seed)
               : mutation_mutate(mutation, data, size, max_size, seed);
    current_end();
    return size;
}

size_t LLVMFuzzerCustomCrossOver(const uint8_t *first, size_t first_size, const uint8_t *second,
                                 size_t second_size, uint8_t *out, size_t max_size, unsigned seed) {
    choose_once();
    if (!mutation || seed % CROSSOVERS != 0)
        return 0;
    current_mutate(first, first_size, seed);
    size_t size =
        mutation_cross(mutation, first, first_size, second, second_size, out, max_size, seed);
    current_end();
    return size;
}
