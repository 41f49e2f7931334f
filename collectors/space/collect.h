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

static inline void tell_phase(const struct space *g, enum gc_stage ended) {
    if (!FAULTY(phase_untold))
        gc_phase_ended(g->config.hooks, ended);
}

/* FAULT_late_root and FAULT_late_field: what has been left out, when marking seems to be over. True
 * if that made a block gray. */
static inline bool darken_late(struct space *g) {
    for (unsigned m = 0; FAULTY(late_root) && m < g->config.mutators; m++)
        if (is_pointer(g->config.slots[m][0]))
            darken_word(g, &g->config.slots[m][0]);
    for (word *hp = g->heap.base; FAULTY(late_field) && hp < g->end; hp += header_wosize(*hp) + 1) {
        size_t last = header_wosize(*hp);
        if (header_colour(*hp) == BLACK && last > scan_start(g, pointer_word(hp + 1)) &&
            is_pointer(hp[last]))
            darken_word(g, hp + last);
    }
    return !stack_is_empty(&g->stack) || g->stack.overflow;
}

static inline void darken_all_but_late(struct space *g) {
    word *r0 = &g->config.slots[0][0], late = *r0;
    if (FAULTY(late_root))
        *r0 = WORD_UNIT;
    darken_roots(g);
    if (FAULTY(late_root))
        *r0 = late;
}

/* FAULT_early_sweep: no-scan blocks that are left on the stack may stay gray. */
static inline bool is_as_good_as_marked(const struct space *g) {
    const struct mark_stack *s = &g->stack;
    return FAULTY(early_sweep) && s->policy != OVERFLOW_CHUNKS && s->top == 1 && !s->overflow &&
           g->rescan >= g->rescan_end && header_tag(header_of(s->entries[0])) >= TAG_NO_SCAN;
}

static inline void mark_to_end(struct space *g) {
    do {
        while (!is_as_good_as_marked(g) && mark_step(g))
            ;
    } while ((FAULTY(late_root) || FAULTY(late_field)) && darken_late(g));
}

/* FAULT_raw_unpushed and FAULT_early_sweep: what has stayed gray is kept all the same.
 * FAULT_strings_kept: so are no-scan blocks that have stayed white. */
static inline bool has_stayed(word header) {
    return header_colour(header) == GRAY ||
           (FAULTY(strings_kept) && header_colour(header) == WHITE && header_wosize(header) > 0 &&
            header_tag(header) >= TAG_NO_SCAN);
}
static inline void blacken_gray(struct space *g) {
    for (word *hp = g->heap.base; hp < g->end; hp += header_wosize(*hp) + 1)
        if (has_stayed(*hp))
            *hp = header_recolour(*hp, BLACK);
    stack_clear(&g->stack);
}

/* FAULT_garbage_blackened and FAULT_garbage_threaded: the first block that is not marked; 0: there
 * is none. */
static inline word first_garbage(const struct space *g) {
    for (word *hp = g->heap.base; hp < g->end; hp += header_wosize(*hp) + 1)
        if (header_colour(*hp) == WHITE && header_wosize(*hp) > 1 && header_tag(*hp) < TAG_LAZY)
            return pointer_word(hp + 1);
    return 0;
}

static inline void sweep_all(struct space *g) {
    if (g->sweep_whole) {
        g->sweep_whole(g);
        return;
    }
    sweep_begin(g);
    sweep_to_end(g);
    sweep_poison(g);
}

/* Afterwards every block that is left is white, and can be reached. */
static inline void collect_garbage(struct space *g) {
    mark_begin(g);
    darken_all_but_late(g);
    tell_phase(g, GC_DARKENED);
    bool marked = !stack_is_empty(&g->stack);
    mark_to_end(g);
    word garbage = FAULTY(garbage_blackened) || FAULTY(garbage_threaded) ? first_garbage(g) : 0;
    if (FAULTY(garbage_blackened) && garbage)
        set_colour(garbage, BLACK);
    if (FAULTY(garbage_threaded) && garbage)
        *word_pointer(garbage) = garbage + sizeof(word);
    if (FAULTY(stack_not_empty) && g->stack.size > 2 && marked)
        g->stack.top = 1;
    tell_phase(g, GC_MARKED_ALL);
    if (FAULTY(garbage_blackened) && garbage)
        set_colour(garbage, WHITE);
    if (FAULTY(early_sweep) || FAULTY(raw_unpushed) || FAULTY(strings_kept))
        blacken_gray(g);
    sweep_all(g);
    if (FAULTY(nearly_poisoned) && g->sweep.run && g->sweep.run_words > 2)
        use_last_word(g, g->sweep.run + g->sweep.run_words - 1);
    if (FAULTY(history_read) || FAULTY(history_kept))
        note_collection(g);
    tell_phase(g, GC_SWEPT_ALL);
    if (FAULTY(counts_down))
        g->config.hooks->collections -= 2;
    g->config.hooks->collections++;
}

#endif
