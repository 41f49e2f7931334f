/* SPDX-License-Identifier: MIT
 *
 * What the tests of mutation share (mutate_support.h).
 */
#include "tests/support/mutate_support.h"

#include "program/bytes/bytes.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

const char small_program[] = "isoheap program 1\n"
                             "heap\n"
                             "  b0 = block tag=11 [b1]\n"
                             "  b1 = block tag=12 [1]\n"
                             "roots\n"
                             "  r0 = b0\n"
                             "script\n"
                             "  r1 = alloc tag=13 [r0]\n"
                             "  full\n"
                             "  r1.0 := 1\n";

static struct program made, decoded_child;

/* What lies in data is the program of the round, and decodes to it. */
void check_mutation(const struct mutation *m, const uint8_t *data, size_t size, size_t limit) {
    const char *fault = program_valid(mutation_program(m));
    if (fault)
        fail_msg("not valid: %s", fault);
    assert_true(size <= limit);
    program_decode(&decoded_child, data, size);
    assert_true(program_equal(&decoded_child, mutation_program(m)));
    assert_null(program_valid(&decoded_child));
}

/* An input of up to `most` bytes: random bytes, or a random program. */
size_t random_bytes_or_program(struct rng *rng, uint8_t *data, size_t most) {
    size_t size = rng_below(rng, (unsigned)most + 1);
    if (rng_chance(rng, 2)) {
        unsigned items = 1 + rng_below(rng, 12); /* one draw after the other */
        random_program(rng, &made, items, 1 + rng_below(rng, 20));
        size_t needed = program_encode(&made, data, most);
        if (needed <= most)
            return needed;
    }
    random_bytes(rng, data, size);
    return size;
}

/* FNV-1a. */
uint64_t seen_too(uint64_t digest, const uint8_t *data, size_t size) {
    for (size_t i = 0; i < size; i++)
        digest = (digest ^ data[i]) * UINT64_C(0x100000001b3);
    return digest;
}
