/* SPDX-License-Identifier: MIT
 *
 * A target that finds nothing, with a structured mutator that crashes after a while: the glue is
 * isoheap's, the mutator a stand-in.
 */
#include "fuzz/current.h"
#include "program/mutation/mutate.h"

#include <stdlib.h>
#include <string.h>

enum { ROUNDS = 3000 };

struct mutation {
    unsigned rounds;
};
struct mutation_profile {
    const char *name;
};

static const struct mutation_profile profile = {"only"};

const struct mutation_profile *mutation_profile_find(const char *name) {
    return strcmp(name, profile.name) == 0 ? &profile : NULL;
}
const struct mutation_profile *mutation_profile_at(unsigned n) {
    return n == 0 ? &profile : NULL;
}
const char *mutation_profile_name(const struct mutation_profile *p) {
    return p->name;
}
const char *mutation_profile_meaning(const struct mutation_profile *p) {
    return p->name;
}

struct mutation *mutation_open(const struct mutation_profile *p, mutate_bytes *bytes) {
    static struct mutation only;
    (void)p;
    (void)bytes;
    return &only;
}

void mutation_limit(struct mutation *m, size_t max_wosize) {
    (void)m;
    (void)max_wosize;
}

size_t mutation_mutate(struct mutation *m, uint8_t *data, size_t size, size_t max_size,
                       uint64_t seed) {
    if (++m->rounds == ROUNDS)
        abort();
    if (size < max_size)
        data[size] = (uint8_t)seed;
    return size < max_size ? size + 1 : size;
}

size_t mutation_generate(struct mutation *m, uint8_t *data, size_t max_size, uint64_t seed) {
    return mutation_mutate(m, data, 0, max_size, seed);
}

size_t mutation_cross(struct mutation *m, const uint8_t *first, size_t first_size,
                      const uint8_t *second, size_t second_size, uint8_t *out, size_t max_size,
                      uint64_t seed) {
    (void)m;
    (void)first;
    (void)first_size;
    (void)second;
    (void)second_size;
    (void)out;
    (void)max_size;
    (void)seed;
    return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    current_begin(data, size);
    current_end();
    return 0;
}
