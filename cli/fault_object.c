/* SPDX-License-Identifier: MIT
 *
 * A seeded fault from its shared object (fault_object.h).
 */
#include "cli/fault_object.h"

#include <dlfcn.h>
#include <stdio.h>

const struct fault_export *load_fault(const char *path) {
    void *object = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (!object) {
        fprintf(stderr, "isoheap: %s\n", dlerror());
        return NULL;
    }
    const struct fault_export *fault = dlsym(object, "isoheap_fault");
    if (!fault)
        fprintf(stderr, "isoheap: %s is no seeded fault: %s\n", path, dlerror());
    if (!fault || fault->choose(path))
        return fault;
    fprintf(stderr, "isoheap: %s has no seeded fault of its name\n", path);
    return NULL;
}

const struct collector *load_fault_object(const char *path) {
    const struct fault_export *fault = load_fault(path);
    if (fault && !fault->collector)
        fprintf(stderr,
                "isoheap: %s is no collector but a fault of the on-the-fly model; `isoheap faults "
                "check` replays its schedule\n",
                path);
    return fault ? fault->collector : NULL;
}
