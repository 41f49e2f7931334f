/* SPDX-License-Identifier: MIT
 *
 * A look into the runtime's free list: its file, compiled as it is, and functions that see its
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

#include <stdbool.h>
#include <stdint.h>

struct gc;
void freelist_small(struct gc *, void visit(struct gc *, uint64_t block));
const char *freelist_each(struct gc *, bool visit(struct gc *, uint64_t block));
bool freelist_is_sorted(void);

void freelist_small(struct gc *g, void visit(struct gc *, uint64_t block)) {
    if (caml_allocation_policy != 2) /* POLICY_BEST_FIT of internal.h */
        return;
    for (int size = 1; size <= BF_NUM_SMALL; size++)
        for (value v = bf_small_fl[size].free; v != Val_NULL; v = Next_small(v))
            visit(g, (uint64_t)v);
}

static const char *out_of_order; /* what has been found wrong with the free list */

static void must(int holds, const char *otherwise) {
    if (!holds && !out_of_order)
        out_of_order = otherwise;
}

/* One list; table: first-fit's places before each block that is larger than all before. */
static void each_of_list(struct gc *g, bool visit(struct gc *, uint64_t), value head, bool table) {
    mlsize_t largest = 0;
    int n = 0, found = head == nf_prev;
    for (value v = head; (v = Next_small(v)) != Val_NULL;) {
        if (!visit(g, (uint64_t)v))
            return;
        found |= v == nf_prev;
        if (Wosize_val(v) <= largest)
            continue;
        largest = Wosize_val(v);
        must(!table || n >= flp_size || Next_small(flp[n]) == v,
             "first-fit's table does not lead to the first block of its size");
        n++;
    }
    must(table || found, "next-fit's search would begin at a block that is not on the free list");
    must(!table || flp_size <= n, "first-fit's table has more places than the free list");
}

static bool each_small(struct gc *g, bool visit(struct gc *, uint64_t), mlsize_t size) {
    bool blue = false;
    must((bf_small_map >> (size - 1) & 1) == (bf_small_fl[size].free != Val_NULL),
         "best-fit's map of small sizes is not that of its lists");
    for (value v = bf_small_fl[size].free; v != Val_NULL; v = Next_small(v)) {
        if (!visit(g, (uint64_t)v))
            return false;
        must(Wosize_val(v) == size, "a small free block is on the list of another size");
        must(!blue || Color_val(v) == Caml_blue, "a remnant is behind a free block");
        blue = Color_val(v) == Caml_blue;
        must(!blue || Next_small(v) == Val_NULL || Next_small(v) > v,
             "small free blocks are not in the order of their addresses");
    }
    return true;
}

/* The list of a node, whose blocks are of one size. */
static bool each_of_node(struct gc *g, bool visit(struct gc *, uint64_t), large_free_block *node) {
    for (large_free_block *b = node;;) {
        if (!visit(g, (uint64_t)b))
            return false;
        must(bf_large_wosize(b) == bf_large_wosize(node), "a node has blocks of several sizes");
        must(b->isnode == (b == node), "a large free block is a node, or none, and says otherwise");
        must(b->next->prev == b, "the list of a node does not lead back");
        b = b->next;
        if (b == node)
            return true;
    }
}

/* The tree from its smallest size on, with no stack: each time the next larger one is searched. */
static void each_large(struct gc *g, bool visit(struct gc *, uint64_t)) {
    large_free_block *first = NULL;
    for (mlsize_t size = BF_NUM_SMALL;;) {
        large_free_block *next = NULL;
        for (large_free_block *b = bf_large_tree; b;) {
            bool larger = bf_large_wosize(b) > size;
            next = larger ? b : next;
            b = larger ? b->left : b->right;
        }
        if (!next || !each_of_node(g, visit, next))
            break;
        first = first ? first : next;
        size = bf_large_wosize(next);
    }
    must(!bf_large_least || (bf_large_least == first && first->next == first),
         "best-fit takes a block for its smallest large one that is not, or not alone");
}

bool freelist_is_sorted(void) {
    return caml_allocation_policy != 2; /* POLICY_BEST_FIT of internal.h */
}

const char *freelist_each(struct gc *g, bool visit(struct gc *, uint64_t)) {
    out_of_order = NULL;
    if (caml_allocation_policy != 2) {
        bool first_fit = caml_allocation_policy == 1;
        each_of_list(g, visit, first_fit ? Ff_head : Nf_head, first_fit);
        return out_of_order;
    }
    for (mlsize_t size = 1; size <= BF_NUM_SMALL; size++)
        if (!each_small(g, visit, size))
            return out_of_order;
    each_large(g, visit);
    return out_of_order;
}
