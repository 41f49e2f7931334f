/* SPDX-License-Identifier: MIT
 *
 * mark(ref, W) of the threaded on-the-fly collector (figure 5 of TSO), the same for the collector
 * and for the barriers of mutators.
 */
#include "models/onthefly_threads/state.h"

/* Lines 5 to 14.  One locked instruction is mo_co_lock, mo_co_cmark, mo_co_ctest, mo_co_mark and
 * mo_co_unlock: it takes the lock, compares, stores, drains the store buffer and gives the lock up.
 * A flag is all that can change in the header of a block that is alive, so comparing headers is
 * comparing flags. */
static void cas(struct otf_process *p, word v, word header, word fM) {
    word seen = header;
    if (otf_varies(VARIANT(plain_mark))) {
        otf_mark_at(p, mo_co_mark);
        otf_put(p, otf_header(v), header_recolour(header, otf_colour(fM)));
        otf_mark_at(p, mo_co_W);
        otf_push(&p->W, otf_number(p->gc, v));
        return;
    }
    otf_mark_at(p, mo_co_lock);
    bool won = atomic_compare_exchange_strong_explicit(otf_header(v), &seen,
                                                       header_recolour(header, otf_colour(fM)),
                                                       memory_order_seq_cst, memory_order_seq_cst);
    otf_mark_at(p, mo_co_won);
    if (!won)
        return;
    otf_mark_at(p, mo_co_W);
    otf_push(&p->W, otf_number(p->gc, v));
}

void otf_mark(struct otf_process *p, word v) {
    struct otf *g = p->gc;
    otf_mark_at(p, mo_null);
    if (is_immediate(v))
        return;
    v = otf_resolve(v);
    otf_mark_at(p, mo_mark); /* line 3 */
    word header = otf_get(p, otf_header(v));
    otf_mark_at(p, mo_fM); /* line 2 */
    word fM = otf_get(p, &g->fM);
    otf_mark_at(p, mo_mtest);
    if (header_colour(header) == otf_colour(fM))
        return;
    otf_mark_at(p, mo_phase); /* line 4 */
    word phase = otf_get(p, &g->phase);
    otf_mark_at(p, mo_ptest);
    if (phase == PHASE_IDLE)
        return;
    otf_expect(p, header_colour(header) != BLUE, "a free block is about to be marked");
    cas(p, v, header, fM);
}
