/* SPDX-License-Identifier: MIT
 *
 * The differing path (path.h).
 */
#include "harness/path.h"

#include <stdlib.h>
#include <string.h>

struct path path_read(const char *text) {
    struct path path = {.given = false};
    unsigned mutator = 0;
    char *rest;
    if (strncmp(text, "mutator ", 8) == 0) {
        mutator = (unsigned)strtoul(text + 8, &rest, 10);
        text = strchr(rest, 'r') ? strchr(rest, 'r') : "";
    }
    if (text[0] != 'r')
        return path;
    path.slot = mutator * GC_SLOTS + (unsigned)strtoul(text + 1, &rest, 10);
    path.given = true;
    while (*rest == '.' && path.n < PATH_STEPS && rest[1] >= '0' && rest[1] <= '9')
        path.steps[path.n++] = (unsigned)strtoul(rest + 1, &rest, 10);
    return path;
}

struct mark path_mark(const struct snapshot *s, const struct path *path, size_t index) {
    struct mark mark = {-1, false};
    if (!path->given || path->slot >= s->mutators * GC_SLOTS)
        return mark;
    struct snapshot_edge edge = snapshot_resolve(s, s->slots[path->slot]);
    for (unsigned i = 0; i < path->n && edge.block != SIZE_MAX; i++) {
        const struct snapshot_block *b = &s->blocks[edge.block];
        if (edge.block == index)
            mark.field = (long)path->steps[i];
        if (path->steps[i] >= b->wosize || path->steps[i] < b->first_scanned)
            return mark; /* a raw word is the end */
        edge = snapshot_resolve(s, b->fields[path->steps[i]]);
    }
    mark.end = edge.block == index;
    return mark;
}
