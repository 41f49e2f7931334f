/* SPDX-License-Identifier: MIT
 *
 * A whole mark-and-sweep collection in one go: mark_and_sweep_GC of the long OCaml paper, Figure 7.
 */
#ifndef ISOHEAP_MARK_SWEEP_COLLECT_H
#define ISOHEAP_MARK_SWEEP_COLLECT_H

#include "collectors/space/mark.h"
#include "collectors/space/sweep.h"

#include <stdlib.h>

/* FAULT_nearly_poisoned: as if it had never been freed. */
static inline void use_last_word(struct space *g, word *last) {
    g->config.hooks->unpoison(last, 1);
    *last = WORD_UNIT;
}

/* FAULT_history_read, FAULT_history_kept: each collection is taken down, and looked through with
 * all before it; or taken down in memory of its own. */
static inline void note_collection(struct space *g) {
    g->history.entries++;
    for (size_t i = 0; FAULTY(history_read) && i < g->history.entries; i++)
        gc_tick(g->config.hooks);
    word **entry = FAULTY(history_kept) ? malloc(8 * sizeof(word)) : NULL;
    if (!entry)
        return;
    *entry = g->history.last;
    g->history.last = (word *)entry;
}

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
    if (FAULTY(nearly_poisoned) && g->sweep.run && g->sweep.run_words > 2)
        use_last_word(g, g->sweep.run + g->sweep.run_words - 1);
    if (FAULTY(history_read) || FAULTY(history_kept))
        note_collection(g);
    g->config.hooks->collections++;
}

#endif
