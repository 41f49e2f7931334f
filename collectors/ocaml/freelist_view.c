/* SPDX-License-Identifier: MIT
 *
 * A look into the runtime's free list: its file, compiled as it is, and a function that sees its
 * variables.
 *
 * Best-fit keeps the rest of a split small block as a white block, which a walk of the heap cannot
 * tell from an allocated one.
 */
#if defined(__clang__) || defined(__GNUC__)
#pragma GCC diagnostic ignored "-Wall"
#pragma GCC diagnostic ignored "-Wextra"
#pragma GCC diagnostic ignored "-Wpedantic"
#pragma GCC diagnostic ignored "-Wshadow"
#pragma GCC diagnostic ignored "-Wundef"
#pragma GCC diagnostic ignored "-Wstrict-prototypes"
#pragma GCC diagnostic ignored "-Wmissing-prototypes"
#endif
#include "freelist.c"

#include <stdint.h>

struct gc;
void freelist_small(struct gc *, void visit(struct gc *, uint64_t block));

void freelist_small(struct gc *g, void visit(struct gc *, uint64_t block)) {
    if (caml_allocation_policy != 2) /* POLICY_BEST_FIT of internal.h */
        return;
    for (int size = 1; size <= BF_NUM_SMALL; size++)
        for (value v = bf_small_fl[size].free; v != Val_NULL; v = Next_small(v))
            visit(g, (uint64_t)v);
}
