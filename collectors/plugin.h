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
#include "collectors/interface_hash.h" /* made by the build, and installed */

/* interface: the hash of the headers that the plug-in was compiled with.  It is looked at first,
 * and stays first, since an isoheap with other headers knows nothing else of this struct.  The
 * sizes tell whether compilers and their options agree about the same headers. */
struct isoheap_plugin {
    uint64_t interface;
    size_t collector_size, config_size, hooks_size;
    const struct collector *collector;
};

/* The one symbol that is looked up. */
extern const struct isoheap_plugin isoheap_plugin;

#define ISOHEAP_PLUGIN(symbol)                                                                     \
    extern const struct collector symbol;                                                          \
    const struct isoheap_plugin isoheap_plugin = {                                                 \
        ISOHEAP_INTERFACE_HASH, sizeof(struct collector), sizeof(struct gc_config),                \
        sizeof(struct gc_hooks), &symbol};

#endif
