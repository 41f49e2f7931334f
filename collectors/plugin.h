/* SPDX-License-Identifier: MIT
 *
 * A collector as a shared object that the isoheap command loads at run time (isoheap --plugin).
 *
 *   #include "collectors/plugin.h"
 *   ISOHEAP_PLUGIN(my_collector)
 *
 * in one file of it, beside the definition of `const struct collector my_collector`; compiled with
 * -fPIC -shared.  isoheap_add_target does that by itself.
 */
#ifndef ISOHEAP_PLUGIN_H
#define ISOHEAP_PLUGIN_H

#include "collectors/collector.h"

/* Grows when a function or a field of collector.h changes its meaning; the sizes tell whether both
 * sides were compiled with the same header. */
enum { ISOHEAP_PLUGIN_VERSION = 1 };

struct isoheap_plugin {
    size_t version, collector_size, config_size, hooks_size;
    const struct collector *collector;
};

/* The one symbol that is looked up. */
extern const struct isoheap_plugin isoheap_plugin;

#define ISOHEAP_PLUGIN(symbol)                                                                     \
    extern const struct collector symbol;                                                          \
    const struct isoheap_plugin isoheap_plugin = {                                                 \
        ISOHEAP_PLUGIN_VERSION, sizeof(struct collector), sizeof(struct gc_config),                \
        sizeof(struct gc_hooks), &symbol};

#endif
