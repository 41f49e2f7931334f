/* SPDX-License-Identifier: MIT
 *
 * Objects and words in words (describe.h).
 */
#include "oracles/describe.h"

#include "program/text/text.h"

#include <stdio.h>

size_t origin_name(int origin, unsigned serial, char *out, size_t capacity) {
    const char *letter = origin >= 0 ? "b" : "n";
    int number = origin >= 0 ? origin : -1 - origin;
    if (!serial)
        return (size_t)snprintf(out, capacity, "%s%d", letter, number);
    return (size_t)snprintf(out, capacity, "%s%d:%u", letter, number, serial + 1);
}

size_t object_name(const struct model *model, unsigned object, char *out, size_t capacity) {
    const struct model_object *o = &model->objects[object];
    return origin_name(o->origin, o->serial, out, capacity);
}

static size_t describe_atom(word v, char *out, size_t capacity) {
    if (is_immediate(v))
        return (size_t)snprintf(out, capacity, "the immediate %lld", (long long)immediate_value(v));
    return (size_t)snprintf(out, capacity, "the word 0x%llx, which points at no block",
                            (unsigned long long)v);
}

/* The address that the program has written, by its text. */
static size_t describe_address(const struct model *model, word v, char *out, size_t capacity) {
    const struct model_address *address = &model->addresses[model_address_number(v)];
    char text[32];
    value_print(&address->value, address->script, text, sizeof text);
    if (address->value.kind != VALUE_ADDRESS)
        return (size_t)snprintf(out, capacity, "%s, which leads outside the heap", text);
    return (size_t)snprintf(out, capacity, "the %s %s, an address when it was written",
                            is_immediate(v) ? "immediate" : "word", text);
}

size_t describe_word(const struct model *model, word v, char *out, size_t capacity) {
    if (model_is_address(model, v))
        return describe_address(model, v, out, capacity);
    return (size_t)snprintf(out, capacity, "the word 0x%llx", (unsigned long long)v);
}

size_t describe_model(const struct model *model, word v, char *out, size_t capacity) {
    char name[NAME_TEXT];
    if (model_is_address(model, v))
        return describe_address(model, v, out, capacity);
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

/* ---- a heap -----------------------------------------------------------------------------------
 */

void describe_name(struct judge *j, word v, char name[NAME_TEXT]) {
    name[0] = 0;
    if (j->services->name)
        j->services->name(j, v, name);
}

/* "word 5": a header's, of the heap or of the static blocks. */
static void word_text(const struct graph *g, uint32_t id, char out[32]) {
    if (id > g->words)
        snprintf(out, 32, "static word %u", (unsigned)(id - 1 - g->words));
    else
        snprintf(out, 32, "word %d", (int)id - 1);
}

/* "b3 (at word 5", "the block at word 5 (": what is known of it goes on from there. */
static void begin_block(struct judge *j, uint32_t id, char out[64]) {
    char at[32], name[NAME_TEXT];
    word_text(&j->side->graph, id, at);
    describe_name(j, graph_word(&j->side->graph, id), name);
    if (name[0])
        snprintf(out, 64, "%s (at %s, ", name, at);
    else
        snprintf(out, 64, "the block at %s (", at);
}

size_t describe_block(struct judge *j, uint32_t id, char *out, size_t capacity) {
    char begin[64];
    word header = graph_fields(&j->side->graph, id)[-1];
    begin_block(j, id, begin);
    return (size_t)snprintf(out, capacity, "%stag %u, %llu fields)", begin, header_tag(header),
                            (unsigned long long)header_wosize(header));
}

/* The block that the word with this id belongs to, by the last walk; 0: none.  The id of a header
 * is that of the word before field 0. */
static uint32_t owner(const struct graph *g, uint32_t id) {
    if (!graph_in_use(g, id))
        return 0;
    if (id + 1 < g->universe && graph_starts(g, id + 1))
        return id + 1;
    while (id > 0 && !graph_starts(g, id))
        id--;
    return id;
}

size_t describe_at(struct judge *j, uint32_t at, char *out, size_t capacity) {
    const struct graph *g = &j->side->graph;
    char block[VERDICT_TEXT];
    uint32_t id = owner(g, at);
    if (!id)
        return (size_t)snprintf(out, capacity, "word %u, in no block", (unsigned)at);
    describe_block(j, id, block, sizeof block);
    if (at < id)
        return (size_t)snprintf(out, capacity, "the header of %s", block);
    return (size_t)snprintf(out, capacity, "field %u of %s", (unsigned)(at - id), block);
}

static size_t describe_nothing(struct judge *j, word v, uint32_t id, char *out, size_t capacity) {
    char at[32], name[NAME_TEXT];
    if (id == 0)
        return (size_t)snprintf(out, capacity,
                                "a pointer to the first word of the heap, where no block can be");
    word_text(&j->side->graph, id, at);
    describe_name(j, v, name);
    return (size_t)snprintf(out, capacity, "a pointer to %s, where no live block is%s%s%s", at,
                            name[0] ? "; " : "", name, name[0] ? " was there" : "");
}

size_t describe_heap(struct judge *j, word v, char *out, size_t capacity) {
    const struct graph *g = &j->side->graph;
    struct graph_ref ref = graph_resolve(g, v);
    char block[VERDICT_TEXT];
    if (ref.kind == GRAPH_ATOM)
        return describe_atom(v, out, capacity);
    if (ref.kind == GRAPH_LOST)
        return describe_nothing(j, v, ref.id, out, capacity);
    if (ref.kind == GRAPH_DANGLING) {
        describe_at(j, ref.id, block, sizeof block);
        return (size_t)snprintf(out, capacity, "a pointer to %s", block);
    }
    describe_block(j, ref.id, block, sizeof block);
    if (ref.offset)
        return (size_t)snprintf(out, capacity, "an infix pointer to field %u of %s",
                                (unsigned)ref.offset, block);
    return (size_t)snprintf(out, capacity, "a pointer to %s", block);
}
