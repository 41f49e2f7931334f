/* SPDX-License-Identifier: MIT
 *
 * Allocation in all parties.
 */
#include "harness/call.h"
#include "harness/events.h"

#include <assert.h>

/* Has the heap been walked since the call that made the block, or is the block where nothing was in
 * use?  A sweep may have freed what was. */
static bool claim(struct side *s, unsigned m, struct request *q) {
    bool moved = s->hooks->collections != s->collections ||
                 (s->collector->cycle && cycle_has_moved(s->cycle, call_cycle(s)));
    if (moved) {
        walk_side(s, IN_BETWEEN);
        q->block = s->slots[m][SLOT_NEW]; /* who shows a copy of its heap may show it elsewhere */
    }
    if (is_immediate(q->block) || q->block % sizeof(word))
        return false;
    return s->walked || heap_claim(&s->graph, word_pointer(q->block) - 1, q->wosize + 1);
}

/* The address of a new block, for the order of blocks: unknown if it has been allocated after
 * blocks may have moved. */
static word new_address(const struct side *s, word v) {
    return s->traits.slides && s->compared != s->hooks->collections ? 0 : v;
}

static void place(struct side *s, unsigned m, struct request *q) {
    if (q->answer != GC_OK || !s->collector->walk)
        return;
    q->claimed = claim(s, m, q);
    event_placed(judge_of(s), q);
}

/* Asks a side; what it cannot represent, it need not be asked for. */
static struct request ask_side(struct side *s, unsigned m, size_t wosize, unsigned tag,
                               const word *raw) {
    struct request q = {.wosize = wosize, .tag = tag, .content = raw};
    if (s->traits.max_wosize && wosize > s->traits.max_wosize) {
        s->answer = GC_OUT_OF_MEMORY;
        q.unasked = true;
    } else {
        call_alloc(s, m, SLOT_NEW, wosize, tag, raw);
    }
    q.answer = s->answer;
    q.block = s->slots[m][SLOT_NEW];
    if (q.answer == GC_OUT_OF_MEMORY && s->starved) {
        q.unasked = true; /* it need not say why */
        if (s->collector->walk)
            walk_side(s, IN_BETWEEN); /* it may have collected */
    }
    return q;
}

/* What all of them have allocated, in the model. */
static unsigned add_object(struct runner *r, unsigned m, const struct request *q,
                           size_t first_scanned) {
    unsigned object = model_add(&r->model, q->wosize, q->tag, first_scanned, q->content);
    assert(object != MODEL_NONE); /* there was room before anybody was asked */
    r->model.slots[m][SLOT_NEW] = model_pointer(object, 0);
    struct model_object *o = &r->model.objects[object];
    o->origin = -1 - (int32_t)r->verdict.op;
    o->serial = r->serial++;
    FOR_SIDES (r, s)
        o->address[s->party] = new_address(s, s->slots[m][SLOT_NEW]);
    name_new(r, m, object);
    return object;
}

unsigned allocate(struct runner *r, unsigned m, size_t wosize, unsigned tag, size_t first_scanned,
                  const word *raw) {
    struct request requests[COLLECTING_PARTIES];
    if (!model_has_room(&r->model, 1, wosize)) { /* nobody is asked for what cannot be judged */
        FOR_SIDES (r, s)
            s->slots[m][SLOT_NEW] = WORD_UNIT;
        return r->fresh = MODEL_NONE;
    }
    FOR_SIDES (r, s)
        requests[s->party] = ask_side(s, m, wosize, tag, raw);
    bool all = all_served(r, m);
    r->fresh = all ? add_object(r, m, &requests[0], first_scanned) : MODEL_NONE;
    FOR_SIDES (r, s) {
        struct request *q = &requests[s->party];
        if (q->unasked)
            continue;
        q->modelled = all;
        event_answered(judge_of(s), q);
        if (!all) /* who shows a copy of its heap shows a block as long as a slot holds it */
            s->slots[m][SLOT_NEW] = q->block;
        place(s, m, q);
        if (!all)
            s->slots[m][SLOT_NEW] = WORD_UNIT;
    }
    return r->fresh;
}
