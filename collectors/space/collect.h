/* SPDX-License-Identifier: MIT
 *
 * A whole mark-and-sweep collection in one go: mark_and_sweep_GC of the long OCaml paper, Figure 7.
 */
#ifndef ISOHEAP_MARK_SWEEP_COLLECT_H
#define ISOHEAP_MARK_SWEEP_COLLECT_H

#include "collectors/space/mark.h"
#include "collectors/space/sweep.h"

/* Afterwards every block that is left is white, and can be reached. */
static inline void collect_garbage(struct space *g) {
    mark_begin(g);
    darken_roots(g);
    bool marked = !stack_is_empty(&g->stack);
    while (mark_step(g))
        ;
    if (FAULTY(stack_not_empty) && g->stack.size > 2 && marked)
        g->stack.top = 1;
    sweep_begin(g);
    sweep_to_end(g);
    sweep_poison(g);
    g->config.hooks->collections++;
}

#endif
