/* SPDX-License-Identifier: MIT
 *
 * ISOHEAP_MUTATION (mutation_choice.h).
 */
#include "fuzz/mutation_choice.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static _Noreturn void refuse(const char *name) {
    fprintf(stderr, "isoheap: ISOHEAP_MUTATION=%s is not known; there are:\n", name);
    for (unsigned n = 0; mutation_profile_at(n); n++)
        fprintf(stderr, "  %-14s %s\n", mutation_profile_name(mutation_profile_at(n)),
                mutation_profile_meaning(mutation_profile_at(n)));
    fprintf(stderr, "  %-14s %s\n", "off", "the engine's own byte mutation alone");
    exit(2);
}

const struct mutation_profile *mutation_choice(void) {
    const char *name = getenv("ISOHEAP_MUTATION");
    if (!name || !name[0])
        return mutation_profile_at(0);
    if (strcmp(name, "off") == 0)
        return NULL;
    const struct mutation_profile *profile = mutation_profile_find(name);
    if (!profile)
        refuse(name);
    return profile;
}
