/* SPDX-License-Identifier: MIT
 *
 * What a domain has for itself beside its model (player.h): the two graphs are the same, with
 * sharing in both directions.
 *
 * Nothing here is a safepoint, so no block moves and none is freed while it is looked at, whatever
 * the other domains do.
 */
#include "tests/collectors/free_running/player.h"

#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { CUSTOM_HIDDEN = 2 };

_Noreturn void player_fail(const struct player *p, const char *sentence) {
    fprintf(stderr, "free-running: domain %u: %s\n", p->m, sentence);
    abort();
}

word header_now(word v) {
    return atomic_load_explicit((_Atomic word *)(uintptr_t)v - 1, memory_order_relaxed);
}

/* No other object has that word. */
static void enter(struct player *p, unsigned object, word v) {
    size_t at = place_of(v, PLAYER_TABLE_BITS);
    for (; p->objects[at]; at = (at + 1) % PLAYER_TABLE)
        if (p->words[p->objects[at] - 1] == v)
            player_fail(p, "two blocks have become one");
    p->objects[at] = object + 1;
    p->words[object] = v;
}

struct queue {
    unsigned *object;
    size_t n;
};

/* The model's word, and the runtime's. */
static void pair(struct player *p, struct queue *q, word expected, word found) {
    if (!model_is_pointer(expected)) {
        if (found != expected)
            player_fail(p, "a word is another one");
        return;
    }
    if (is_immediate(found))
        player_fail(p, "a pointer has become an immediate");
    unsigned object = model_object(expected);
    word block = found - model_offset(expected) * sizeof(word);
    if (p->words[object]) {
        if (p->words[object] != block)
            player_fail(p, "one block has become two");
        return;
    }
    enter(p, object, block);
    q->object[q->n++] = object;
}

static void compare_weak(struct player *p, struct queue *q, unsigned object, const word *found) {
    enum { OFFSET = 1 }; /* before it the runtime's own link; data, then keys */
    for (size_t i = 0; i < p->model.objects[object].wosize; i++)
        if (model_weak_field(&p->model, object, i) == WEAK_SET)
            pair(p, q, model_kept(&p->model, object)[i], found[OFFSET + i]);
}

static void compare_block(struct player *p, struct queue *q, unsigned object) {
    const struct model_object *o = &p->model.objects[object];
    word v = p->words[object], header = header_now(v);
    const word *found = word_pointer(v), *expected = model_fields(&p->model, object);
    if (o->ephemeron) {
        compare_weak(p, q, object, found);
        return;
    }
    size_t hidden = o->tag == TAG_CUSTOM ? CUSTOM_HIDDEN : 0;
    if (header_tag(header) != o->tag)
        player_fail(p, header ? "a block has another tag" : "a pointer leads to a free block");
    if (header_wosize(header) != o->wosize + hidden)
        player_fail(p, "a block has another size");
    for (size_t i = 0; i < o->wosize; i++) {
        word w = found[hidden + i];
        if (i >= o->first_scanned)
            pair(p, q, expected[i], w);
        else if (o->tag == TAG_CLOSURE && header_tag(expected[i]) == TAG_INFIX &&
                 header_tag(w) == TAG_INFIX)
            w = header_recolour(w, header_colour(expected[i]));
        if (i < o->first_scanned && w != expected[i])
            player_fail(p, "a raw word is another one");
    }
}

void own_compare(struct player *p) {
    static _Thread_local unsigned room[MODEL_OBJECTS];
    struct queue q = {.object = room};
    memset(p->words, 0, MODEL_OBJECTS * sizeof *p->words);
    memset(p->objects, 0, PLAYER_TABLE * sizeof *p->objects);
    model_mark(&p->model);
    p->runtime->row(OWN);
    for (unsigned s = 0; s < GC_SLOTS; s++)
        pair(p, &q, p->model.slots[0][s], p->runtime->get(s));
    for (size_t i = 0; i < q.n; i++)
        compare_block(p, &q, q.object[i]);
}
