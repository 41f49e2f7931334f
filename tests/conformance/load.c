/* SPDX-License-Identifier: MIT
 *
 * Plug-ins that cannot be loaded, each in its way: LOAD is what is wrong.
 */
#include "collectors/plugin.h"

#include <stdlib.h>

enum { CRASHES = 1, HANGS, OTHER_VERSION, INCOMPLETE };

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

static const struct collector no_functions = {
    .name = "no_functions", .summary = "lacks alloc", .traits.max_mutators = 1, .open = open_it};

const struct isoheap_plugin isoheap_plugin = {
    LOAD == OTHER_VERSION ? ISOHEAP_PLUGIN_VERSION + 1 : ISOHEAP_PLUGIN_VERSION,
    sizeof(struct collector), sizeof(struct gc_config), sizeof(struct gc_hooks), &no_functions};
