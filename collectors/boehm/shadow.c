/* SPDX-License-Identifier: MIT
 *
 * What the shadow shows of libgc's heap (internal.h, collectors/shadow.h).
 *
 * What the slots reach is found by the adapter itself, exactly, through the true words of the true
 * blocks.  A pointer to an object that libgc has freed is shown as one that leads to no block: the
 * oracles then say that it is lost.
 */
#include "collectors/boehm/boehm.h"
#include "collectors/boehm/internal.h"

#include <string.h>

static enum shadow_kind look(struct gc *g, word v, word *block, size_t *fields) {
    uint32_t id = true_object(g, v, fields);
    if (id == NO_OBJECT)
        return v == LOST || true_is_inside(v) ? SHADOW_LOST : SHADOW_DATA;
    *block = g->objects[id].value;
    return SHADOW_BLOCK;
}

static word shown_header(struct gc *g, word block) {
    (void)g;
    return header_of(block);
}

/* Raw words and the code of closures as they are, fields translated.  What is lost stays so when
 * its memory is used again. */
static void copy(struct gc *g, word block, word *to, size_t wosize) {
    word *from = word_pointer(block);
    size_t first = g->objects[true_number(block)].first_scanned, offset;
    memcpy(to, from, first * sizeof(word));
    for (size_t f = first; f < wosize; f++) {
        if (true_is_inside(from[f]) && true_object(g, from[f], &offset) == NO_OBJECT)
            from[f] = LOST;
        to[f] = shadow_of(&g->shadow, from[f]);
    }
}

const struct shadow_subject boehm_subject = {
    .lost = LOST, .look = look, .header = shown_header, .copy = copy};

static struct boehm_statistics statistics;

struct boehm_statistics OWN(statistics)(void);
struct boehm_statistics OWN(statistics)(void) {
    return statistics;
}

/* What libgc keeps by accident is no property of the program: no fuzzer may count it as an edge, or
 * two runs of one seed would differ. */
#if defined(__clang__)
#define NOT_COVERED __attribute__((no_sanitize("coverage")))
#else
#define NOT_COVERED
#endif

/* Forgets what is not reached: nothing can lead to it again.  What libgc kept of it is freed now,
 * so that a run does not depend on the runs before. */
NOT_COVERED void forget_unreached(struct gc *g) {
    uint32_t kept = 0;
    statistics.collections++;
    for (uint32_t id = 0; id < g->n_objects; id++) {
        const struct object *o = &g->objects[id];
        if (shadow_has(&g->shadow, o->value)) {
            true_renumber(o, kept);
            g->objects[kept++] = *o;
            continue;
        }
        statistics.garbage_words += o->wosize + 1;
        statistics.kept_words += o->alive ? o->wosize + 1 : 0;
        if (o->alive)
            true_free(o);
    }
    g->n_objects = kept;
}
