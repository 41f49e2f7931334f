/* SPDX-License-Identifier: MIT
 *
 * What the collectors that work on a space (space.h) answer alike of the plug-in interface.
 *
 * Each includes this behind its struct gc and the function space_of, which says where in it the
 * space is.
 */
#ifndef ISOHEAP_MARK_SWEEP_INTERFACE_H
#define ISOHEAP_MARK_SWEEP_INTERFACE_H

#include "collectors/mark_sweep/space.h"

#include <stdlib.h>

static inline struct gc *on_space_open(void) {
    struct gc *gc = calloc(1, sizeof *gc);
    if (gc && !space_open(space_of(gc))) {
        free(gc);
        return NULL;
    }
    return gc;
}

static inline void on_space_close(struct gc *gc) {
    space_close(space_of(gc));
    free(gc);
}

/* Of a collector without a state of its own beside the space, and without cycles between calls. */
static inline void on_space_reset(struct gc *gc, const struct gc_config *config) {
    space_reset(space_of(gc), config);
}
static inline const char *on_space_check(struct gc *gc) {
    return space_check(space_of(gc), false);
}

static inline word *on_space_image(struct gc *gc, size_t *words) {
    return space_image(space_of(gc), words);
}

static inline void on_space_adopt(struct gc *gc, size_t words) {
    space_adopt(space_of(gc), words);
}

static inline void on_space_walk(struct gc *gc, gc_visit *visit, void *context) {
    space_walk(space_of(gc), visit, context);
}

#endif
