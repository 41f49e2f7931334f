/* SPDX-License-Identifier: MIT
 *
 * A faulty collector from its shared object (faults.h).
 */
#include "cli/faults.h"

#include <dlfcn.h>

const struct collector *load_fault_object(const char *path, struct canary ***canary) {
    void *object = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (!object) {
        fprintf(stderr, "isoheap: %s\n", dlerror());
        return NULL;
    }
    const struct fault_export *fault = dlsym(object, "isoheap_fault");
    if (!fault) {
        fprintf(stderr, "isoheap: %s is no seeded fault: %s\n", path, dlerror());
        return NULL;
    }
    if (canary)
        *canary = fault->canary;
    return fault->collector;
}
