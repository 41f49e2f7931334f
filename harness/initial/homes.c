/* SPDX-License-Identifier: MIT
 *
 * Slots instead of a spine, where the initial heap of a runtime is as good as full (build.c).
 *
 * The spine is no block of the program's, and takes a word for each of them.  A few blocks can wait
 * in the slots of mutator 0 instead: each has a home there until roots are tied.  A block that a
 * root of that mutator leads to is at home in the slot of the first such root, so that no other
 * block that a root needs is in the way when that slot is tied.
 */
#include "harness/internal.h"

/* The object that a slot's root leads to, if it lies in the heap; else MODEL_NONE. */
static uint32_t rooted_object(const struct runner *r, unsigned m, unsigned slot) {
    word v = r->model.slots[m][slot];
    return is_heap_pointer(r, v) ? model_object(v) : MODEL_NONE;
}

unsigned home_of(const struct runner *r, uint32_t object) {
    unsigned slot = 0;
    while (slot < PROGRAM_SLOTS && r->at_home[slot] != object)
        slot++;
    return slot;
}

static void give_home(struct runner *r, uint32_t object) {
    unsigned slot = home_of(r, MODEL_NONE);
    if (home_of(r, object) == PROGRAM_SLOTS)
        r->at_home[slot] = object;
}

/* Of the longest garbage block that stands for a gap: it is alive until the next one is there. */
static size_t gap_words(const struct runner *r) {
    size_t most = 0;
    for (unsigned i = 0; i < r->program->n_items; i++) {
        const struct item *item = &r->program->items[i];
        if (!item_is_named(item) && item->wosize + 1u > most)
            most = item->wosize + 1u;
    }
    return most;
}

/* What a spine and all blocks may take; *blocks: how many they are. */
static size_t words_with_spine(const struct runner *r, unsigned *blocks) {
    size_t words = r->model.n_objects + 1 + gap_words(r);
    *blocks = 0;
    for (uint32_t o = 0; o < r->model.n_objects; o++)
        if (!r->model.objects[o].is_static) {
            words += r->model.objects[o].wosize + 1;
            ++*blocks;
        }
    return words;
}

/* Only for a runtime: what `isoheap export` writes for others has a spine. */
bool homes_suffice(struct runner *r, const struct side *s) {
    unsigned blocks;
    size_t words = words_with_spine(r, &blocks);
    if (!s->collector->extras || r->immutables || blocks > PROGRAM_SLOTS ||
        words <= s->config.heap_words)
        return false;
    for (unsigned slot = 0; slot < PROGRAM_SLOTS; slot++)
        r->at_home[slot] = MODEL_NONE;
    for (unsigned slot = 0; slot < PROGRAM_SLOTS; slot++) {
        uint32_t object = rooted_object(r, 0, slot);
        if (object != MODEL_NONE && home_of(r, object) == PROGRAM_SLOTS)
            r->at_home[slot] = object;
    }
    for (uint32_t o = 0; o < r->model.n_objects; o++)
        if (!r->model.objects[o].is_static)
            give_home(r, o);
    return true;
}

/* Nothing is called meanwhile, and so nothing moves.  Offsets come last: several roots may lead
 * into one block. */
void homes_leave(struct runner *r, struct side *s) {
    for (unsigned m = r->mutators; m-- > 0;)
        for (unsigned slot = 0; slot < PROGRAM_SLOTS; slot++) {
            uint32_t object = rooted_object(r, m, slot);
            s->slots[m][slot] = object == MODEL_NONE
                                    ? side_word(&r->model, s->party, r->model.slots[m][slot])
                                    : s->slots[0][home_of(r, object)];
        }
    for (unsigned m = 0; m < r->mutators; m++)
        for (unsigned slot = 0; slot < PROGRAM_SLOTS; slot++)
            if (rooted_object(r, m, slot) != MODEL_NONE)
                s->slots[m][slot] += model_offset(r->model.slots[m][slot]) * sizeof(word);
}
