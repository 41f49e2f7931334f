/* SPDX-License-Identifier: MIT
 *
 * The initial heap of a collector without an image: the same blocks by alloc, load and store.
 *
 * All blocks hang in a spine, one block with a field for each of them, until fields and roots are
 * tied; then it is garbage.  Every step may collect and move.  Free gaps become garbage blocks, and
 * there are no fragments: the allocator alone decides what lies where.
 */
#include "harness/internal.h"

#include <string.h>

/* Registers while building: the spine never leaves its slot. */
enum { SPINE = SLOT_FROM, BLOCK = SLOT_TO, VALUE = SLOT_VALUE };

static word *slots_of(struct side *s) {
    return s->slots[0];
}

static bool build_alloc(struct side *s, size_t wosize, unsigned tag, const word *raw) {
    return s->collector->alloc(s->gc, 0, SLOT_NEW, wosize, tag, raw) == GC_OK;
}

static void build_load(struct side *s, unsigned dst, unsigned obj, size_t i) {
    if (s->collector->load)
        s->collector->load(s->gc, 0, dst, obj, i);
    else
        slots_of(s)[dst] = word_pointer(slots_of(s)[obj])[i];
}

static void build_store(struct side *s, unsigned obj, size_t i, unsigned value) {
    if (s->collector->store)
        s->collector->store(s->gc, 0, obj, i, value);
    else
        word_pointer(slots_of(s)[obj])[i] = slots_of(s)[value];
}

/* dst := what the program says of a value; pointers into the heap come from the spine. */
static void build_value(struct runner *r, struct side *s, const struct value *v, unsigned dst) {
    bool pointer = v->kind == VALUE_BLOCK || v->kind == VALUE_INFIX;
    if (!pointer || r->program->items[r->named[v->block]].is_static) {
        slots_of(s)[dst] = value_word(r, s, NULL, v);
        return;
    }
    build_load(s, dst, SPINE, v->block);
    if (v->kind == VALUE_INFIX && r->takes_infix)
        slots_of(s)[dst] += v->offset * sizeof(word);
}

/* Allocates every item in order, without pointers; false if the heap is too small for it all. */
static bool build_blocks(struct runner *r, struct side *s, unsigned named) {
    const struct program *p = r->program;
    if (named > 0 && !build_alloc(s, named, 0, r->units))
        return false;
    slots_of(s)[SPINE] = slots_of(s)[SLOT_NEW];
    for (unsigned i = 0, b = 0; i < p->n_items; i++) {
        const struct item *item = &p->items[i];
        if (item->kind != ITEM_FRAGMENT && !item->is_static) {
            write_fields(r, NULL, NULL, i, r->image);
            for (size_t f = item->wosize - item->n_fields; f < item->wosize; f++)
                if (model_is_pointer(r->image[f]) && item->kind != ITEM_RAW)
                    r->image[f] = WORD_UNIT;
            if (!build_alloc(s, item->wosize, lowered_tag(r, item), r->image))
                return false;
            if (item_is_named(item))
                build_store(s, SPINE, b, SLOT_NEW);
        }
        b += item_is_named(item);
    }
    return true;
}

/* Writes the pointers into the blocks. */
static void build_edges(struct runner *r, struct side *s, unsigned named) {
    for (unsigned b = 0; b < named; b++) {
        const struct item *item = &r->program->items[r->named[b]];
        if (item->is_static || item->kind == ITEM_RAW)
            continue;
        for (unsigned f = 0; f < item->n_fields; f++) {
            const struct value *v = &r->program->fields[item->first_field + f];
            if (v->kind != VALUE_BLOCK && v->kind != VALUE_INFIX)
                continue;
            build_load(s, BLOCK, SPINE, b);
            build_value(r, s, v, VALUE);
            build_store(s, BLOCK, item->wosize - item->n_fields + f, VALUE);
        }
    }
}

bool build_by_allocation(struct runner *r, enum party party) {
    struct side *s = &r->side[party];
    unsigned named = program_named(r->program);
    enter(r, party);
    bool built = build_blocks(r, s, named);
    if (built) {
        build_edges(r, s, named);
        for (unsigned m = 0; m < r->mutators; m++)
            for (unsigned i = 0; i < PROGRAM_SLOTS; i++) {
                build_value(r, s, &r->program->roots[m][i], VALUE);
                s->slots[m][i] = slots_of(s)[VALUE];
            }
        for (uint32_t o = 0; o < r->model.n_objects; o++) {
            struct value v = {.kind = VALUE_BLOCK, .block = (uint16_t)o};
            build_value(r, s, &v, VALUE);
            r->model.objects[o].address[party] = slots_of(s)[VALUE];
        }
    }
    leave(r, party);
    for (unsigned i = PROGRAM_SLOTS; i < GC_SLOTS; i++)
        slots_of(s)[i] = WORD_UNIT;
    return built;
}
