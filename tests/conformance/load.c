/* SPDX-License-Identifier: MIT
 *
 * Plug-ins that cannot be loaded, each in its way: LOAD is what is wrong.
 */
#include "collectors/plugin.h"

#include <stdlib.h>

enum { CRASHES = 1, HANGS, OTHER_INTERFACE, INCOMPLETE, HALF };

#if LOAD == 1 || LOAD == 2
__attribute__((constructor)) static void at_load(void) {
    if (LOAD == CRASHES)
        abort();
    for (volatile unsigned forever = 0;; forever++)
        ;
}
#endif

static struct gc *open_it(void) {
    return NULL;
}

static void reset_it(struct gc *gc, const struct gc_config *config) {
    (void)gc, (void)config;
}
static void close_it(struct gc *gc) {
    (void)gc;
}
static enum gc_result refuse(struct gc *gc, unsigned m, unsigned dst, size_t wosize, unsigned tag,
                             const word *raw) {
    (void)gc, (void)m, (void)dst, (void)wosize, (void)tag, (void)raw;
    return GC_OUT_OF_MEMORY;
}
static bool young_it(struct gc *gc, word v) {
    (void)gc, (void)v;
    return true;
}

static const struct collector loaded = {.name = "lacks_something",
                                        .summary = "lacks alloc, or remembered",
                                        .traits.max_mutators = 1,
                                        .open = open_it,
                                        .reset = reset_it,
                                        .close = close_it,
                                        .alloc = LOAD == INCOMPLETE ? NULL : refuse,
                                        .young = LOAD == HALF ? young_it : NULL};

const struct isoheap_plugin isoheap_plugin = {
    LOAD == OTHER_INTERFACE ? ISOHEAP_INTERFACE_HASH + 1 : ISOHEAP_INTERFACE_HASH,
    sizeof(struct collector), sizeof(struct gc_config), sizeof(struct gc_hooks), &loaded};
