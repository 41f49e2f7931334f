/* SPDX-License-Identifier: MIT
 *
 * Collectors and oracles by name (cli.h).
 */
#define _GNU_SOURCE
#include "cli/cli.h"

#include "cli/fault_object.h"
#include "cli/nearest.h"
#include "cli/plugin.h"
#include "collectors/known_bad/known_bad.h"
#include "collectors/registry/registry.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool is_object(const char *name) {
    size_t length = strlen(name);
    return strchr(name, '/') && length > 3 && strcmp(name + length - 3, ".so") == 0;
}

const struct collector *find_collector(const char *name) {
    if (is_object(name))
        return load_fault_object(name);
    const struct collector *c = collector_find(plugin_collectors(), name);
    c = c ? c : collector_find(registered_collectors, name);
    return c ? c : collector_find(known_bad_collectors(), name);
}

const struct collector *choose_collector(const char *name) {
    name = name ? name : default_collector();
    const struct collector *c = find_collector(name);
    if (c || is_object(name))
        return c; /* of an object it has been said what is wrong */
    const char *meant = did_you_mean(name, collector_names);
    if (meant[0]) {
        fprintf(stderr,
                "isoheap: no collector is called %s%s (`isoheap list collectors` names them)\n",
                name, meant);
        return NULL;
    }
    fprintf(stderr, "isoheap: no collector is called %s; there are:", name);
    for (unsigned i = 0; plugin_collectors()[i]; i++)
        fprintf(stderr, " %s", plugin_collectors()[i]->name);
    for (unsigned i = 0; registered_collectors[i]; i++)
        fprintf(stderr, " %s", registered_collectors[i]->name);
    fprintf(stderr, ", and the known-bad ones of `isoheap list`\n");
    return NULL;
}

bool choose_reference(const char *name, const struct collector **reference) {
    bool alone = strcmp(name, "none") == 0;
    *reference = alone ? NULL : choose_collector(name);
    return alone || *reference;
}

oracle_set choose_oracles(const char *list) {
    oracle_set chosen = list[0] == '-' ? ORACLES_ALL : 0;
    char *copy = strdup(list), *rest = copy;
    for (char *name; copy && (name = strsep(&rest, ","));) {
        bool drop = name[0] == '-';
        enum oracle o = oracle_named(name + drop);
        if (o == ORACLE_COUNT) {
            fprintf(stderr,
                    "isoheap: no oracle is called \"%s\"%s (`isoheap list oracles` names them)\n",
                    name + drop, did_you_mean(name + drop, oracle_names));
            free(copy);
            return 0;
        }
        chosen = drop ? chosen & ~ORACLE_BIT(o) : chosen | ORACLE_BIT(o);
    }
    free(copy);
    if (!chosen)
        fprintf(stderr, "isoheap: no oracle is left\n");
    return chosen;
}

unsigned choose_number(const char *option, const char *argument, unsigned least, unsigned most) {
    char *end;
    unsigned long n = strtoul(argument, &end, 10);
    if (argument[0] >= '0' && argument[0] <= '9' && !*end && n >= least && n <= most)
        return (unsigned)n;
    fprintf(stderr, "isoheap: %s takes a number from %u to %u, not \"%s\"\n", option, least, most,
            argument);
    exit(EXIT_USAGE);
}
