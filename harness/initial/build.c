/* SPDX-License-Identifier: MIT
 *
 * The initial heap of a collector without an image: the same blocks by alloc, load and store.
 *
 * All blocks hang in a spine until fields and roots are tied; then it is garbage.  It is one block
 * with a field for each of them, or a tree of such blocks where the collector has none of that
 * length; or they wait in slots, where a runtime's heap has no room for a spine (homes.c).  Every
 * step may collect and move.  Free gaps become garbage blocks, and
 * there are no fragments: the allocator alone decides what lies where.
 */
#include "collectors/words_copy.h"
#include "harness/call.h"

/* Registers while building: the spine never leaves its slot. */
enum { SPINE = SLOT_FROM, BLOCK = SLOT_TO, VALUE = SLOT_VALUE };

static word *slots_of(struct side *s) {
    return s->slots[0];
}

static bool build_alloc(struct side *s, size_t wosize, unsigned tag, const word *raw) {
    return call_alloc(s, 0, SLOT_NEW, wosize, tag, raw) == GC_OK;
}
static void build_load(struct side *s, unsigned dst, unsigned obj, size_t i) {
    if (!call_load(s, 0, dst, obj, i))
        leave_unrun(s, "refuses a load from a block of the initial heap");
}
static void build_store(struct side *s, unsigned obj, size_t i, unsigned value) {
    if (!call_store(s, 0, obj, i, value))
        leave_unrun(s, "refuses a store into a block of the initial heap");
}

/* ---- the spine --------------------------------------------------------------------------------
 */

/* Fields of a block of the spine. */
static size_t spine_fan(const struct side *s) {
    size_t n = runner_of(s)->model.n_objects, most = s->traits.max_wosize;
    if (n > PROGRAM_HEAP_WORDS && (!most || most > PROGRAM_HEAP_WORDS))
        most =
            PROGRAM_HEAP_WORDS; /* beside a large heap nobody has room for a block of that length */
    return most && most < n ? most : n;
}

/* How many objects hang below a field of the spine's root: 1 if that holds them all. */
static size_t spine_span(const struct side *s) {
    size_t fan = spine_fan(s), span = 1;
    while (span * fan < runner_of(s)->model.n_objects)
        span *= fan;
    return span;
}

/* The slot of the block of the spine in which a field leads to so many objects, the given one among
 * them: below the root it is dst. */
static unsigned spine_block(struct side *s, unsigned object, size_t below, unsigned dst) {
    unsigned block = SPINE;
    for (size_t span = spine_span(s); span > below; span /= spine_fan(s)) {
        build_load(s, dst, block, object / span % spine_fan(s));
        block = dst;
    }
    return block;
}

static void spine_load(struct side *s, unsigned dst, unsigned object) {
    if (runner_of(s)->held) {
        slots_of(s)[dst] = slots_of(s)[home_of(runner_of(s), object)];
        return;
    }
    build_load(s, dst, spine_block(s, object, 1, dst), object % spine_fan(s));
}

/* Uses slot BLOCK. */
static void spine_store(struct side *s, unsigned object, unsigned value) {
    if (runner_of(s)->held) {
        slots_of(s)[home_of(runner_of(s), object)] = slots_of(s)[value];
        return;
    }
    build_store(s, spine_block(s, object, 1, BLOCK), object % spine_fan(s), value);
}

/* The first tag of blocks that may be written. */
static unsigned spine_tag(struct side *s) {
    unsigned tag = 0;
    while (s->collector->writable && tag < TAG_LAZY && !s->collector->writable(tag))
        tag++;
    if (tag == TAG_LAZY)
        leave_unrun(s, "has no image and no block that may be written (writable): its initial heap "
                       "can hang in nothing");
    return tag;
}

/* A block of the spine that leads to the objects from that one on, `span` by each field. */
static bool spine_alloc(struct side *s, unsigned object, size_t span) {
    struct runner *r = runner_of(s);
    size_t fields = (r->model.n_objects - object + span - 1) / span, fan = spine_fan(s);
    return build_alloc(s, fields < fan ? fields : fan, spine_tag(s), r->units);
}

/* From the root down. */
static bool build_spine(struct side *s) {
    unsigned n = runner_of(s)->model.n_objects;
    if (n == 0)
        return true;
    if (n > 1 && spine_fan(s) == 1)
        return false;
    size_t span = spine_span(s);
    if (!spine_alloc(s, 0, span))
        return false;
    slots_of(s)[SPINE] = slots_of(s)[SLOT_NEW];
    for (; span > 1; span /= spine_fan(s))
        for (unsigned object = 0; object < n; object += span) {
            if (!spine_alloc(s, object, span / spine_fan(s)))
                return false;
            build_store(s, spine_block(s, object, span, BLOCK), object / span % spine_fan(s),
                        SLOT_NEW);
        }
    return true;
}

/* ---- blocks, fields, roots --------------------------------------------------------------------
 */

/* dst := the collector's word for a word of the model; pointers into the heap come from the spine.
 */
static void build_value(struct runner *r, enum party party, word v, unsigned dst) {
    struct side *s = &r->side[party];
    if (!model_is_pointer(v) || r->model.objects[model_object(v)].is_static) {
        slots_of(s)[dst] = side_word(&r->model, party, v);
        return;
    }
    spine_load(s, dst, model_object(v));
    slots_of(s)[dst] += model_offset(v) * sizeof(word);
}

/* The content of a block without its pointers. */
static const word *without_pointers(struct runner *r, unsigned object) {
    const struct model_object *o = &r->model.objects[object];
    words_copy(r->image, model_fields(&r->model, object), o->wosize);
    for (uint32_t f = o->first_scanned; f < o->wosize; f++)
        if (model_is_pointer(r->image[f]))
            r->image[f] = WORD_UNIT;
    return r->image;
}

/* Forward blocks are lazy ones until all is tied: a collector leads pointers past them. */
static unsigned build_tag(const struct runner *r, unsigned object) {
    unsigned tag = r->model.objects[object].tag;
    return tag == TAG_FORWARD && r->forwards ? TAG_LAZY : tag;
}

/* Slot k := what pointer k of the object leads to, which is there; returns how many there are. */
static unsigned load_children(struct runner *r, struct side *s, uint32_t object) {
    const struct model_object *o = &r->model.objects[object];
    unsigned n = 0;
    for (uint32_t f = o->first_scanned; f < o->wosize; f++)
        if (is_heap_pointer(r, model_fields(&r->model, object)[f]))
            build_value(r, s->party, model_fields(&r->model, object)[f], n++);
    return n;
}

/* A block that may not be written later: what it leads to waits in slots. */
static bool build_immutable(struct runner *r, struct side *s, uint32_t object) {
    const struct model_object *o = &r->model.objects[object];
    unsigned children = load_children(r, s, object), n = 0;
    if (!build_alloc(s, o->wosize, build_tag(r, object), without_pointers(r, object)))
        return false;
    slots_of(s)[BLOCK] = slots_of(s)[SLOT_NEW];
    for (uint32_t f = o->first_scanned; f < o->wosize; f++) {
        word v = model_fields(&r->model, object)[f];
        if (!model_is_pointer(v) && !model_is_address(&r->model, v))
            continue;
        if (!is_heap_pointer(r, v)) /* a static block, or what lies just beside the heap */
            slots_of(s)[VALUE] = side_word(&r->model, s->party, v);
        call_init(s, 0, BLOCK, f, is_heap_pointer(r, v) ? n++ : (unsigned)VALUE);
    }
    while (children > 0)
        slots_of(s)[--children] = WORD_UNIT;
    spine_store(s, object, SLOT_NEW);
    return true;
}

static bool build_immutables(struct runner *r, struct side *s) {
    uint32_t n = r->immutables ? order_immutables(r) : 0;
    for (uint32_t k = 0; k < n; k++)
        if (!build_immutable(r, s, r->queue[k].parent))
            return false;
    return true;
}

/* Allocates every item in order, without pointers but those of what may not be written; false if
 * the heap is too small for it all. */
static bool build_blocks(struct runner *r, struct side *s) {
    const struct program *p = r->program;
    if (!r->held && !build_spine(s))
        return false;
    for (unsigned i = 0, object = 0; i < p->n_items; i++) {
        const struct item *item = &p->items[i];
        bool named = item_is_named(item), built = item->kind != ITEM_FRAGMENT && !item->is_static;
        for (uint32_t k = 0; built && k < item_count(item); k++) {
            if (named && waits_for_fields(r, object + k))
                continue;
            const word *content = named ? without_pointers(r, object + k) : r->units;
            bool is_there =
                build_alloc(s, item->wosize, named ? build_tag(r, object + k) : 0, content);
            if (!is_there && (named || !s->collector->extras))
                return false; /* a runtime can do without a gap that its heap has no room for */
            if (!named && r->held)
                slots_of(s)[SLOT_NEW] = WORD_UNIT;
            if (named)
                spine_store(s, object + k, SLOT_NEW);
        }
        object += named ? item_count(item) : 0;
    }
    return build_immutables(r, s);
}

/* Writes the pointers into the blocks. */
static void build_edges(struct runner *r, enum party party) {
    struct side *s = &r->side[party];
    for (uint32_t o = 0; o < r->model.n_objects; o++) {
        const struct model_object *object = &r->model.objects[o];
        for (uint32_t f = object->first_scanned; f < object->wosize && !object->is_static; f++) {
            word v = model_fields(&r->model, o)[f];
            if (!model_is_pointer(v) || waits_for_fields(r, o))
                continue;
            spine_load(s, BLOCK, o);
            build_value(r, party, v, VALUE);
            build_store(s, BLOCK, f, VALUE);
        }
    }
}

static void build_roots(struct runner *r, enum party party) {
    struct side *s = &r->side[party];
    for (unsigned m = 0; m < r->mutators; m++)
        for (unsigned i = 0; i < PROGRAM_SLOTS; i++) {
            build_value(r, party, r->model.slots[m][i], VALUE);
            s->slots[m][i] = slots_of(s)[VALUE];
        }
}

/* Takes down where the blocks are. */
static void build_places(struct runner *r, enum party party) {
    struct side *s = &r->side[party];
    for (uint32_t o = 0; o < r->model.n_objects; o++) {
        build_value(r, party, model_pointer(o, 0), VALUE);
        r->model.objects[o].address[party] = slots_of(s)[VALUE];
    }
}

/* An address in a block: known when all blocks are there, and written then. */
static void build_address(struct runner *r, enum party party, uint32_t o, uint32_t f) {
    struct side *s = &r->side[party];
    word w = model_data(&r->model, party, model_fields(&r->model, o)[f]);
    if (r->model.objects[o].is_static) {
        word_pointer(r->model.objects[o].address[party])[f] = w;
        return;
    }
    spine_load(s, BLOCK, o);
    if (f < r->model.objects[o].first_scanned) {
        call_write_raw(s, 0, BLOCK, f, w);
        return;
    }
    slots_of(s)[VALUE] = w;
    build_store(s, BLOCK, f, VALUE);
}

static void build_addresses(struct runner *r, enum party party) {
    const struct model *model = &r->model;
    if (!model->n_addresses)
        return;
    resolve_addresses(r, party);
    for (uint32_t o = 0; o < model->n_objects; o++)
        for (uint32_t f = 0; f < model->objects[o].wosize && !waits_for_fields(r, o); f++)
            if (model_is_address(model, model_fields(&r->model, o)[f]))
                build_address(r, party, o, f);
}

static void build_root_addresses(struct runner *r, enum party party) {
    const struct model *model = &r->model;
    for (unsigned m = 0; m < r->mutators && model->n_addresses; m++)
        for (unsigned i = 0; i < PROGRAM_SLOTS; i++)
            if (model_is_address(model, model->slots[m][i]))
                r->side[party].slots[m][i] = model_data(model, party, model->slots[m][i]);
}

static void build_forwards(struct runner *r, struct side *s) {
    for (uint32_t o = 0; s->collector->extras && o < r->model.n_objects; o++) {
        if (build_tag(r, o) == r->model.objects[o].tag || r->model.objects[o].is_static)
            continue;
        spine_load(s, BLOCK, o);
        build_load(s, VALUE, BLOCK, 0);
        call_forward(s, BLOCK, VALUE);
    }
}

bool build_by_allocation(struct runner *r, enum party party) {
    struct side *s = &r->side[party];
    r->held = homes_suffice(r, s);
    bool built = build_blocks(r, s);
    if (built) {
        build_edges(r, party);
        if (!r->held)
            build_roots(r, party);
        build_places(r, party);
        build_addresses(r, party);
        build_forwards(r, s);
        if (r->held)
            homes_leave(r, s);
        build_root_addresses(r, party);
    }
    for (unsigned i = PROGRAM_SLOTS; i < GC_SLOTS; i++)
        slots_of(s)[i] = WORD_UNIT;
    return built;
}
