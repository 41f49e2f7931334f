/* SPDX-License-Identifier: MIT
 *
 * The initial heap: the program's items laid out in both collectors and in the model.
 */
#include "harness/internal.h"

#include <string.h>

/* Figure 3 of the verified OCaml collector: code pointer, closinfo, for arities other than 0 and 1
 * a second code pointer; an infix header between two functions; every closinfo gives the start of
 * the environment from its own block. */
size_t closure_words(word *out, unsigned functions, const int8_t *arity, unsigned code) {
    size_t start = closure_code_words(functions, arity), at = 0;
    for (unsigned k = 0; k < functions; k++) {
        if (k > 0) {
            out[at] = header_make(at + 1, WHITE, TAG_INFIX);
            at++;
        }
        out[at] = code_pointer(code * PROGRAM_FUNCTIONS + k);
        out[at + 1] = closinfo_make(arity[k], start - at);
        at += 2;
        if (arity[k] != 0 && arity[k] != 1)
            out[at++] = code_pointer(code * PROGRAM_FUNCTIONS + k);
    }
    return start;
}

word atom_word(const struct runner *r, const struct value *v) {
    switch (v->kind) {
    case VALUE_IMMEDIATE:
        return immediate((int64_t)v->bits);
    case VALUE_RAW:
        return r->takes_raw ? v->bits : v->bits | 1;
    case VALUE_OUTSIDE:
        return r->takes_outside ? outside_pointer((unsigned)v->bits) : immediate((int64_t)v->bits);
    default:
        return WORD_UNIT;
    }
}

/* A value of the heap section as a word of one collector (s) or of the model (s == NULL). */
word value_word(const struct runner *r, const struct side *s, const word *base,
                const struct value *v) {
    if (v->kind != VALUE_BLOCK && v->kind != VALUE_INFIX)
        return atom_word(r, v);
    unsigned item = r->named[v->block];
    unsigned offset = v->kind == VALUE_INFIX && r->takes_infix ? v->offset : 0;
    bool is_static = r->program->items[item].is_static;
    if (is_static && !r->takes_outside)
        return WORD_UNIT;
    if (!s)
        return model_pointer(v->block, offset);
    return pointer_word((is_static ? s->statics : base) + r->offset[item] + 1 + offset);
}

/* Tag of an item after lowering to what both collectors take. */
unsigned lowered_tag(const struct runner *r, const struct item *item) {
    if (item->kind == ITEM_CLOSURE && !r->takes_closures)
        return 0;
    if (item->kind == ITEM_RAW && !r->takes_raw)
        return 0;
    return item->tag;
}

static size_t item_code_words(struct runner *r, unsigned index, word *out) {
    const struct item *item = &r->program->items[index];
    if (item->kind != ITEM_CLOSURE)
        return 0;
    size_t start = closure_words(out, item->functions, item->arity, index);
    if (!r->takes_closures)
        for (size_t i = 0; i < start; i++)
            out[i] = WORD_UNIT;
    return start;
}

void write_fields(struct runner *r, const struct side *s, const word *base, unsigned index,
                  word *out) {
    const struct item *item = &r->program->items[index];
    size_t start = item_code_words(r, index, out);
    for (unsigned f = 0; f < item->n_fields; f++)
        out[start + f] = value_word(r, s, base, &r->program->fields[item->first_field + f]);
    for (size_t f = start + item->n_fields; f < item->wosize; f++)
        out[f] = WORD_UNIT; /* dead gaps; free ones for the eye */
}

/* Numbers the named blocks and places every item; returns the words of the heap in use. */
static size_t place_items(struct runner *r) {
    const struct program *p = r->program;
    size_t heap = 0, statics = 0, named = 0;
    for (unsigned i = 0; i < p->n_items; i++) {
        size_t *at = p->items[i].is_static ? &statics : &heap;
        r->offset[i] = (uint32_t)*at;
        *at += item_words(&p->items[i]);
        if (item_is_named(&p->items[i]))
            r->named[named++] = i;
    }
    for (unsigned s = 0; s < r->n_sides; s++)
        r->side[s].static_words = statics;
    return heap;
}

/* Free words behind the last item: one free block, or a fragment. */
static void write_rest(word *at, size_t words) {
    if (words == 0)
        return;
    *at = words == 1 ? header_make(0, WHITE, 0) : header_make(words - 1, BLUE, 0);
    for (size_t i = 1; i < words; i++)
        at[i] = WORD_UNIT;
}

static void write_item(struct runner *r, struct side *s, word *base, unsigned index) {
    const struct item *item = &r->program->items[index];
    word *hp = (item->is_static ? s->statics : base) + r->offset[index];
    unsigned colour = item->is_static ? BLACK : item->kind == ITEM_FREE ? BLUE : WHITE;
    *hp = header_make(item->kind == ITEM_FRAGMENT ? 0 : item->wosize, colour, lowered_tag(r, item));
    if (item->kind != ITEM_FRAGMENT)
        write_fields(r, s, base, index, hp + 1);
}

static const word *build_image(struct runner *r, enum party party, size_t used) {
    struct side *s = &r->side[party];
    const struct program *p = r->program;
    size_t words = used;
    enter(r, party);
    word *base = s->collector->image(s->gc, &words);
    leave(r, party);
    if (words < used || words > r->heap_words)
        harness_fault(r, "image corrects the size to less than the program needs");
    for (unsigned i = 0; i < p->n_items; i++)
        write_item(r, s, base, i);
    write_rest(base + used, words - used);
    for (unsigned m = 0; m < r->mutators; m++)
        for (unsigned i = 0; i < PROGRAM_SLOTS; i++)
            s->slots[m][i] = value_word(r, s, base, &p->roots[m][i]);
    enter(r, party);
    s->collector->adopt(s->gc, words);
    leave(r, party);
    for (uint32_t o = 0; o < r->model.n_objects; o++) {
        struct value v = {.kind = VALUE_BLOCK, .block = (uint16_t)o};
        r->model.objects[o].address[party] = value_word(r, s, base, &v);
    }
    return base;
}

static void write_statics(struct runner *r, struct side *s) {
    for (unsigned i = 0; i < r->program->n_items; i++)
        if (r->program->items[i].is_static)
            write_item(r, s, NULL, i);
}

static void build_side(struct runner *r, enum party party, size_t used) {
    struct side *s = &r->side[party];
    const word *base = NULL; /* without an image: where the first walk says */
    if (s->collector->image) {
        base = build_image(r, party, used);
    } else {
        write_statics(r, s);
        if (!build_by_allocation(r, party))
            skip_program(r);
    }
    graph_of_heap(&s->graph, base, r->heap_words, s->statics, s->static_words, s->slots[0],
                  r->mutators, s->cells, sizeof s->cells / sizeof *s->cells, s->in_use);
}

/* Object n of the model is named block n of the program. */
static void build_model(struct runner *r) {
    const struct program *p = r->program;
    unsigned named = program_named(p);
    for (unsigned b = 0; b < named; b++) {
        const struct item *item = &p->items[r->named[b]];
        write_fields(r, NULL, NULL, r->named[b], r->image);
        unsigned tag = lowered_tag(r, item);
        size_t start = tag == TAG_CLOSURE   ? closure_code_words(item->functions, item->arity)
                       : tag >= TAG_NO_SCAN ? item->wosize
                                            : 0;
        unsigned object = model_add(&r->model, item->wosize, tag, start, r->image);
        r->model.objects[object].origin = (int32_t)b;
        r->model.objects[object].is_static = item->is_static;
    }
    for (unsigned m = 0; m < r->mutators; m++)
        for (unsigned i = 0; i < PROGRAM_SLOTS; i++)
            r->model.slots[m][i] = value_word(r, NULL, NULL, &p->roots[m][i]);
}

void build_heap(struct runner *r) {
    size_t used = place_items(r);
    build_model(r);
    for (unsigned p = 0; p < r->n_sides; p++)
        build_side(r, (enum party)p, used);
    r->bound_words = used;
}
