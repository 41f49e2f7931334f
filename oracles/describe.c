/* SPDX-License-Identifier: MIT
 *
 * Objects and words in words (describe.h).
 */
#include "oracles/describe.h"

#include <stdio.h>

size_t object_name(const struct model *model, unsigned object, char *out, size_t capacity) {
    const struct model_object *o = &model->objects[object];
    if (o->origin >= 0)
        return (size_t)snprintf(out, capacity, "b%d", (int)o->origin);
    if (!o->serial)
        return (size_t)snprintf(out, capacity, "n%d", (int)(-1 - o->origin));
    return (size_t)snprintf(out, capacity, "n%d:%u", (int)(-1 - o->origin), o->serial + 1u);
}

static size_t describe_atom(word v, char *out, size_t capacity) {
    if (is_immediate(v))
        return (size_t)snprintf(out, capacity, "the immediate %lld", (long long)immediate_value(v));
    return (size_t)snprintf(out, capacity, "the word 0x%llx, which points at no block",
                            (unsigned long long)v);
}

size_t describe_model(const struct model *model, word v, char *out, size_t capacity) {
    char name[16];
    if (!model_is_pointer(v))
        return describe_atom(v, out, capacity);
    const struct model_object *o = &model->objects[model_object(v)];
    object_name(model, model_object(v), name, sizeof name);
    if (model_offset(v))
        return (size_t)snprintf(out, capacity,
                                "an infix pointer to field %u of %s (tag %u, %u fields)",
                                model_offset(v), name, o->tag, (unsigned)o->wosize);
    return (size_t)snprintf(out, capacity, "a pointer to %s (tag %u, %u fields)", name, o->tag,
                            (unsigned)o->wosize);
}

size_t describe_heap(const struct graph *g, word v, char *out, size_t capacity) {
    struct graph_ref ref = graph_resolve(g, v);
    const char *where = ref.id >= g->words ? "static word" : "word";
    size_t at = ref.id >= g->words ? ref.id - g->words : ref.id;
    if (ref.kind == GRAPH_ATOM)
        return describe_atom(v, out, capacity);
    if (ref.kind == GRAPH_LOST)
        return (size_t)snprintf(out, capacity, "a pointer to %s %zu, where no live block is", where,
                                at);
    if (ref.kind == GRAPH_DANGLING)
        return (size_t)snprintf(out, capacity, "a pointer to %s %zu, inside a block", where, at);
    struct graph_block block = graph_block(g, ref.id);
    if (ref.offset)
        return (size_t)snprintf(
            out, capacity,
            "an infix pointer to field %u of the block at %s %zu (tag %u, %u fields)",
            (unsigned)ref.offset, where, at, block.tag, (unsigned)block.wosize);
    return (size_t)snprintf(out, capacity, "a pointer to the block at %s %zu (tag %u, %u fields)",
                            where, at, block.tag, (unsigned)block.wosize);
}
