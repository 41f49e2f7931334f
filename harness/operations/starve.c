/* SPDX-License-Identifier: MIT
 *
 * The system refuses a runtime memory, or gives it again (operations.h).  Allocations may then be
 * refused for no reason that the heap has, and a runtime may end the run (hooks.c).
 */
#include "harness/operations/operations.h"

bool op_starve(struct runner *r, const struct op *op, unsigned m) {
    (void)m;
    bool all = r->extras;
    FOR_SIDES (r, s)
        all = all && s->collector->extras->starve;
    if (!all)
        return skip(r, SKIP_UNFIT);
    FOR_SIDES (r, s)
        call_starve(s, op->requests);
    return true;
}
