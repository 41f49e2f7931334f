/* SPDX-License-Identifier: MIT
 *
 * Blocks that nobody may write once they are initialised (struct collector, writable), in the
 * initial heap of a collector without an image.
 *
 * Such a block gets its fields right behind its allocation, from slots: all that it leads to must
 * be there.  So they are built in an order, and what no order can make is taken out of the model
 * before anybody builds: a pointer that closes a cycle of them, and those for which there is no
 * slot.
 */
#include "harness/call.h"

bool is_immutable(const struct runner *r, unsigned tag) {
    for (unsigned p = 0; r->immutables && p < r->n_sides; p++) {
        const struct collector *c = r->side[p].collector;
        if (!c->image && c->writable && !c->writable(tag))
            return true;
    }
    return false;
}

bool waits_for_fields(const struct runner *r, uint32_t object) {
    const struct model_object *o = &r->model.objects[object];
    return !o->is_static && o->first_scanned < o->wosize && is_immutable(r, o->tag);
}

bool is_heap_pointer(const struct runner *r, word v) {
    return model_is_pointer(v) && !r->model.objects[model_object(v)].is_static;
}

/* ---- the order --------------------------------------------------------------------------------
 *
 * Depth first, with the queue of the isomorphism for memory, which nobody needs before heaps are
 * compared: of entry d a and b are block and field at depth d, parent is block d of the order, and
 * field what has become of block d.
 */

enum { NEW, OPEN, DONE };

/* Looks at the next field of the block at the depth; returns the depth where to go on. */
static size_t look_at_field(struct runner *r, size_t depth) {
    struct pair *q = r->queue;
    word *field = &model_fields(&r->model, q[depth].a)[q[depth].b++];
    if (!is_heap_pointer(r, *field) || !waits_for_fields(r, model_object(*field)))
        return depth;
    uint32_t child = model_object(*field);
    if (q[child].field == OPEN)
        *field = WORD_UNIT;
    if (q[child].field != NEW)
        return depth;
    q[child].field = OPEN;
    q[depth + 1].a = child;
    q[depth + 1].b = r->model.objects[child].first_scanned;
    return depth + 1;
}

/* What the block leads to, then the block itself; returns the new number of blocks in the order. */
static uint32_t add_to_order(struct runner *r, uint32_t object, uint32_t n) {
    struct pair *q = r->queue;
    q[object].field = OPEN;
    q[0].a = object;
    q[0].b = r->model.objects[object].first_scanned;
    for (size_t depth = 0;;) {
        if (q[depth].b < r->model.objects[q[depth].a].wosize) {
            depth = look_at_field(r, depth);
            continue;
        }
        q[q[depth].a].field = DONE;
        q[n++].parent = q[depth].a;
        if (depth-- == 0)
            return n;
    }
}

uint32_t order_immutables(struct runner *r) {
    uint32_t n = 0;
    for (uint32_t o = 0; o < r->model.n_objects; o++)
        r->queue[o].field = NEW;
    for (uint32_t o = 0; o < r->model.n_objects; o++)
        if (waits_for_fields(r, o) && r->queue[o].field == NEW)
            n = add_to_order(r, o, n);
    return n;
}

/* ---- what cannot be built ---------------------------------------------------------------------
 */

static void cut_pointers(struct runner *r, uint32_t object) {
    const struct model_object *o = &r->model.objects[object];
    word *fields = model_fields(&r->model, object);
    unsigned slots = 0;
    for (uint32_t f = o->first_scanned; f < o->wosize; f++)
        if (is_heap_pointer(r, fields[f]) && ++slots > PROGRAM_SLOTS)
            fields[f] = WORD_UNIT;
}

void cut_immutables(struct runner *r) {
    if (!r->immutables)
        return;
    for (uint32_t o = 0; o < r->model.n_objects; o++)
        if (waits_for_fields(r, o))
            cut_pointers(r, o);
    order_immutables(r);
}
