/* SPDX-License-Identifier: MIT
 *
 * Ways to fuzz that `isoheap faults` compares (faults.h).
 */
#include "cli/faults/faults.h"

#include <string.h>

/* len_control is the engine's default for byte mutation, which it drops where it sees a custom
 * mutator, switched off or not. */
#define BYTES "-len_control=100"

static const struct arm arms[] = {
    {.name = "default",
     .meaning = "structured mutation, semantic coverage, all oracles, from nothing"},
    {.name = "bytes",
     .meaning = "the engine's byte mutation instead of structured mutation",
     .environment = {"ISOHEAP_MUTATION=off"},
     .option = BYTES},
    {.name = "no-semantic",
     .meaning = "without semantic coverage",
     .environment = {"ISOHEAP_SEMANTIC=off"}},
    {.name = "plain",
     .meaning = "byte mutation without semantic coverage: the engine as it comes",
     .environment = {"ISOHEAP_MUTATION=off", "ISOHEAP_SEMANTIC=off"},
     .option = BYTES},
    {.name = "grown",
     .meaning = "programs grow out of programs of the corpus alone, none is made from nothing",
     .environment = {"ISOHEAP_FRESH=off"}},
    {.name = "seeds", .meaning = "starts from the seeds of the collector", .seeds = true},
    {.name = "isomorphism",
     .meaning = "isomorphism and the sanitizers, no other oracle",
     .oracles = ORACLE_BIT(ORACLE_isomorphism)},
    {.name = "random",
     .meaning = "programs generated at random, without feedback of any kind",
     .random = true},
#define X(name_)                                                                                   \
    {.name = "without-" #name_,                                                                    \
     .meaning = "all oracles but " #name_,                                                         \
     .oracles = ORACLES_ALL & ~ORACLE_BIT(ORACLE_##name_)},
    ORACLES(X)
#undef X
        {.name = NULL}};

_Static_assert(sizeof arms / sizeof *arms <= ARMS_MAX, "room for all arms");

const struct arm *arm_at(unsigned n) {
    return arms[n].name ? &arms[n] : NULL;
}

const struct arm *arm_find(const char *name) {
    for (const struct arm *a = arms; a->name; a++)
        if (strcmp(a->name, name) == 0)
            return a;
    return NULL;
}
