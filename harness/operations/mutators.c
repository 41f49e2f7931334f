/* SPDX-License-Identifier: MIT
 *
 * Mutators that come and go (operations.h).  Where a collector knows nothing of that, they do it
 * all the same: a row of slots is empty for a while, and nobody makes a call from it.
 */
#include "harness/operations/operations.h"

bool op_attach(struct runner *r, const struct op *op, unsigned m) {
    (void)op;
    if (r->attached >> m & 1)
        return false;
    FOR_SIDES (r, s)
        call_attach(s, m);
    r->attached |= 1u << m;
    r->life[m] = r->lives++;
    return true;
}

/* The first one stays: initial heaps are built by it, and oracles ask as it. */
bool op_detach(struct runner *r, const struct op *op, unsigned m) {
    (void)op;
    if (m == 0)
        return false;
    for (unsigned slot = 0; slot < PROGRAM_SLOTS; slot++)
        clear_slot(r, m, slot);
    FOR_SIDES (r, s)
        call_detach(s, m);
    r->attached &= ~(1u << m);
    return true;
}
