/* SPDX-License-Identifier: MIT
 *
 * The initial heap: the program's items laid out in both collectors and in the model.
 */
#include "collectors/words_copy.h"
#include "harness/call.h"
#include "harness/initial/lowering.h"

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

/* An immediate of as many bits as all collectors have for one. */
static word some_immediate(const struct runner *r, int64_t n) {
    return immediate(lowered_integer(n, r->word_bits));
}
word raw_word(const struct runner *r, word w) {
    return r->word_bits == 64 || model_is_address(&r->model, w) ? w : lowered_raw(w, r->word_bits);
}

/* The word of that number where a collector does not take every word. */
static word outside_word(struct runner *r, const struct value *v) {
    if (!r->takes_outside)
        return some_immediate(r, (int64_t)v->bits);
    if (outside_form(v) == OUTSIDE_NUMBER || !r->takes_any_word)
        return outside_pointer((unsigned)(v->bits & UINT16_MAX));
    if (outside_form(v) == OUTSIDE_BEFORE || outside_form(v) == OUTSIDE_BEHIND)
        return outsider(r, v);
    return outside_number(v);
}

word atom_word(struct runner *r, const struct value *v) {
    switch (v->kind) {
    case VALUE_IMMEDIATE:
        return some_immediate(r, (int64_t)v->bits);
    case VALUE_RAW:
        return r->takes_raw ? raw_word(r, v->bits) : some_immediate(r, (int64_t)(v->bits >> 1));
    case VALUE_OUTSIDE:
        return outside_word(r, v);
    case VALUE_ATOM:
        return r->takes_atoms ? outsider(r, v) : some_immediate(r, (int64_t)v->bits);
    default:
        return WORD_UNIT;
    }
}

/* The model's word for a value of the heap section that is of no item by count. */
static word value_word(struct runner *r, const struct value *v, bool raw) {
    if (v->kind == VALUE_ADDRESS)
        return heap_address(r, v, raw ? ADDRESS_RAW : ADDRESS_IMMEDIATE);
    if (!value_is_reference(v))
        return atom_word(r, v);
    if (r->program->items[r->named[v->block]].is_static && !r->takes_statics)
        return WORD_UNIT;
    return model_pointer(r->first[v->block],
                         v->kind == VALUE_INFIX && r->takes_infix ? v->offset : 0);
}

/* The same for block k of the named block b. */
static word counted_word(struct runner *r, unsigned b, uint32_t k, const struct value *v,
                         bool raw) {
    const struct item *item = &r->program->items[r->named[b]];
    if (v->kind == VALUE_NEXT)
        return k < item->more ? model_pointer(r->first[b] + k + 1, 0) : WORD_UNIT;
    word first = value_word(r, v, raw);
    if (v->kind != VALUE_EACH || !model_is_pointer(first))
        return first;
    return model_pointer(
        r->first[v->block] + k % item_count(&r->program->items[r->named[v->block]]), 0);
}

unsigned raw_tag(const struct runner *r, unsigned tag) {
    return r->takes_raw ? lowered_raw_tag(tag, r->lacks_raw) : 0;
}

/* Tag of an item after lowering to what both collectors take. */
static unsigned lowered_tag(const struct runner *r, const struct item *item) {
    if (item->kind == ITEM_CLOSURE && !r->takes_closures)
        return 0;
    if (item->kind == ITEM_RAW)
        return raw_tag(r, item->tag);
    if (item->tag == TAG_FORWARD && r->forwards && item->wosize != 1)
        return 0;
    return lowered_own_tag(item->tag, r->own_tags);
}

/* Of the block that the first field of the environment leads to, or of the closure's own. */
static word code_address(struct runner *r, const struct item *item, unsigned block) {
    const struct value *first = &r->program->fields[item->first_field];
    struct value v = {.kind = VALUE_ADDRESS, .block = (uint16_t)block};
    if (item->n_fields && value_is_reference(first)) {
        v.block = first->block;
        v.offset = first->offset;
    }
    return heap_address(r, &v, ADDRESS_CODE);
}

/* The fields of a named block, of the k-th by count, as words of the model.  Addresses are written
 * when all blocks have one: into what may be written. */
static void write_fields(struct runner *r, unsigned b, uint32_t k, word *out) {
    unsigned index = r->named[b];
    const struct item *item = &r->program->items[index];
    const struct value *fields = &r->program->fields[item->first_field];
    size_t start = item->wosize - item->n_fields; /* a closure's code */
    bool fixed = !item->is_static && is_immutable(r, lowered_tag(r, item));
    if (item->kind == ITEM_CLOSURE && r->takes_closures)
        closure_words(out, item->functions, item->arity, index);
    else if (item->kind == ITEM_CLOSURE)
        words_copy(out, r->units, start);
    if (item->address_code && r->takes_closures && !fixed)
        out[0] = code_address(r, item, b);
    bool raw = item->kind == ITEM_RAW && r->takes_raw;
    for (unsigned f = 0; f < item->n_fields; f++)
        out[start + f] = fixed && fields[f].kind == VALUE_ADDRESS
                             ? WORD_UNIT
                             : counted_word(r, b, k, &fields[f], raw);
}

/* Numbers the named blocks and places every item; returns the words of the heap in use. */
static size_t place_items(struct runner *r) {
    const struct program *p = r->program;
    size_t heap = 0, statics = 0, named = 0, objects = 0;
    for (unsigned i = 0; i < p->n_items; i++) {
        size_t *at = p->items[i].is_static ? &statics : &heap;
        r->offset[i] = (uint32_t)*at;
        *at += item_words(&p->items[i]);
        if (!item_is_named(&p->items[i]))
            continue;
        r->first[named] = (uint32_t)objects;
        r->named[named++] = i;
        objects += item_count(&p->items[i]);
    }
    return heap;
}

/* Free words behind the last item: one free block, as many as a header of few bits asks for, or a
 * fragment. */
static void write_rest(const struct side *s, word *at, size_t words) {
    size_t most = s->traits.max_wosize ? s->traits.max_wosize + 1 : words;
    while (words > 0) {
        size_t n =
            words > most ? most - (words == most + 1) : words; /* no fragment behind others */
        bool is_free = n > 1 && (n == words || !s->traits.always_merged);
        *at = header_make(n - 1, is_free ? BLUE : WHITE, 0);
        for (size_t i = 1; i < n; i++)
            at[i] = WORD_UNIT;
        at += n;
        words -= n;
    }
}

/* Fields as the model has them, pointers as the collector has them. */
static void copy_fields(struct runner *r, enum party party, unsigned object, word *out) {
    const struct model_object *o = &r->model.objects[object];
    const word *fields = model_fields(&r->model, object);
    for (uint32_t f = 0; f < o->first_scanned; f++)
        out[f] = model_data(&r->model, party, fields[f]);
    for (uint32_t f = o->first_scanned; f < o->wosize; f++)
        out[f] = side_word(&r->model, party, fields[f]);
}

/* Where an image lies: the items from base on, and behind them so many words. */
struct layout {
    word *base; /* NULL: only static blocks */
    size_t used, rest;
};

/* Is the extent free that begins behind the last one of item i? */
static bool is_free_behind(const struct runner *r, unsigned i, const struct layout *at) {
    const struct program *p = r->program;
    for (i++; i < p->n_items; i++)
        if (!p->items[i].is_static && r->offset[i] < at->used)
            return p->items[i].kind == ITEM_FREE;
    return at->rest > 1;
}

/* A gap: free for the collector, or never reached.  Where free blocks must not be neighbours, the
 * last of them is free, and the others are garbage. */
static void write_gap(struct side *s, unsigned i, uint32_t k, const struct layout *at, word *hp) {
    struct runner *r = runner_of(s);
    const struct item *item = &r->program->items[i];
    bool last = k + 1 == item_count(item);
    bool is_free = item->kind == ITEM_FREE &&
                   !(s->traits.always_merged && (!last || is_free_behind(r, i, at)));
    *hp = header_make(item->wosize, is_free ? BLUE : WHITE, 0);
    words_copy(hp + 1, r->units, item->wosize);
}

/* The items in the heap, or the static ones. */
static void write_items(struct runner *r, enum party party, const struct layout *at) {
    const struct program *p = r->program;
    for (unsigned i = 0, object = 0; i < p->n_items; i++) {
        const struct item *item = &p->items[i];
        word *hp = (at->base ? at->base : r->side[party].statics) + r->offset[i];
        unsigned colour = item->is_static ? BLACK : WHITE;
        bool named = item_is_named(item), wanted = item->is_static == !at->base;
        wanted &= item->is_static || r->offset[i] < at->used;
        for (uint32_t k = 0; wanted && k < item_count(item); k++, hp += item->wosize + 1) {
            if (!named) {
                write_gap(&r->side[party], i, k, at, hp);
                continue;
            }
            *hp = header_make(item->wosize, colour, r->model.objects[object + k].tag);
            copy_fields(r, party, object + k, hp + 1);
        }
        object += named ? item_count(item) : 0;
    }
}

/* Where the named blocks will lie; static ones only if base is NULL. */
static void note_addresses(struct runner *r, enum party party, const word *base) {
    for (uint32_t o = 0; o < r->model.n_objects; o++) {
        struct model_object *object = &r->model.objects[o];
        const word *heap = object->is_static ? r->side[party].statics : base;
        size_t at = r->offset[r->named[object->origin]] + object->serial * (object->wosize + 1u);
        if (heap)
            object->address[party] = pointer_word(heap + at + 1);
    }
}

/* The place that a collector gives for its image is one that can be written: whole words, as many
 * as are needed. */
static void judge_image(struct side *s, const word *base, size_t used, size_t words) {
    struct runner *r = runner_of(s);
    const char *detail =
        pointer_word(base) % sizeof(word) ? "image gives no address of words"
        : words < used                    ? "image gives fewer words than the program needs"
        : words > s->config.heap_words    ? "image gives more words than the heap has"
        : s->traits.solid_end && words == 1
            ? "image gives one word, which can be nothing but a fragment at the end (solid_end)"
            : NULL;
    if (detail)
        fail(r, VIOLATION_ill_formed_heap, ORACLE_well_formed, s->party, detail);
}

/* So many words without the fragments at the end. */
static size_t without_fragments(const struct runner *r, size_t used) {
    const struct program *p = r->program;
    for (unsigned i = p->n_items; i-- > 0;) {
        if (!p->items[i].is_static && p->items[i].kind != ITEM_FRAGMENT)
            break;
        if (!p->items[i].is_static)
            used = r->offset[i];
    }
    return used;
}

/* Writes the items into the image of so many words, and notes where they lie. */
static void write_image(struct side *s, word *image, size_t used, size_t words) {
    struct runner *r = runner_of(s);
    struct layout at = {image, used, words - used};
    if (s->traits.solid_end && at.rest == 1) { /* a fragment at the end is one in front instead */
        write_rest(s, at.base++, 1);
        at.rest = 0;
    }
    note_addresses(r, s->party, at.base);
    resolve_addresses(r, s->party);
    write_items(r, s->party, &(struct layout){NULL, 0, 0});
    write_items(r, s->party, &at);
    write_rest(s, at.base + used, at.rest);
}

static const word *build_image(struct runner *r, enum party party, size_t used) {
    struct side *s = &r->side[party];
    if (s->traits.solid_end)
        used = without_fragments(r, used);
    size_t words = used;
    word *base = call_image(s, &words);
    if (!base)
        leave_unrun(s, "has no room for the image of the initial heap");
    judge_image(s, base, used, words);
    write_image(s, base, used, words);
    for (unsigned m = 0; m < r->mutators; m++)
        for (unsigned i = 0; i < PROGRAM_SLOTS; i++)
            s->slots[m][i] = side_word(&r->model, party, r->model.slots[m][i]);
    call_adopt(s, words);
    for (uint32_t o = 0; s->hooks->collections && o < r->model.n_objects; o++)
        if (!r->model.objects[o].is_static)
            r->model.objects[o].address[party] = 0; /* it has moved them */
    return base;
}

void begin_graph(struct side *s, const word *base, size_t static_words) {
    const struct runner *r = runner_of(s);
    size_t most = heap_most_words(&s->traits, &s->config);
    graph_of_heap(&s->graph, base, most + s->traits.nursery_words, s->statics, static_words,
                  s->slots[0], r->mutators, s->cells, s->room, s->in_use);
    s->graph.heap = s->party;
    s->graph.growth = most - s->config.heap_words;
    s->graph.nursery_words = s->traits.nursery_words;
}

static void build_side(struct runner *r, enum party party, size_t used) {
    struct side *s = &r->side[party];
    const word *base = NULL; /* without an image: where the first walk says */
    note_addresses(r, party, NULL);
    if (s->collector->image) {
        base = build_image(r, party, used);
    } else {
        write_items(r, party, &(struct layout){NULL, 0, 0});
        if (!build_by_allocation(r, party))
            leave_unrun(s, "refuses a block of the initial heap");
    }
    begin_graph(s, base, s->static_words);
}

static void build_block(struct runner *r, unsigned b, uint32_t k) {
    const struct item *item = &r->program->items[r->named[b]];
    write_fields(r, b, k, r->image);
    unsigned tag = lowered_tag(r, item);
    size_t start = tag == TAG_CLOSURE   ? closure_code_words(item->functions, item->arity)
                   : tag >= TAG_NO_SCAN ? item->wosize
                                        : 0;
    struct model_object *object =
        &r->model.objects[model_add(&r->model, item->wosize, tag, start, r->image)];
    object->origin = (int32_t)b;
    object->serial = k;
    object->is_static = item->is_static;
}

/* The model's objects are the named blocks of the program, in order, of an item by count all. */
static void build_model(struct runner *r) {
    const struct program *p = r->program;
    unsigned named = program_named(p);
    for (unsigned b = 0; b < named; b++)
        for (uint32_t k = 0; k < item_count(&p->items[r->named[b]]); k++)
            build_block(r, b, k);
    for (unsigned m = 0; m < r->mutators; m++)
        for (unsigned i = 0; i < PROGRAM_SLOTS; i++)
            r->model.slots[m][i] = value_word(r, &p->roots[m][i], false);
}

/* Blocks longer than a collector can represent mean nothing to it. */
static void check_sizes(struct runner *r) {
    FOR_SIDES (r, s) {
        size_t most = s->traits.max_wosize;
        for (unsigned i = 0; most && i < r->program->n_items; i++)
            if (!r->program->items[i].is_static && r->program->items[i].wosize > most)
                leave_unrun(s, "has no block as long as one of the initial heap (max_wosize)");
    }
}

void build_heap(struct runner *r) {
    size_t used = place_items(r);
    check_sizes(r);
    build_model(r);
    cut_immutables(r);
    for (unsigned p = 0; p < r->n_sides; p++)
        build_side(r, (enum party)p, used);
    r->model.bound_words = used; /* gaps too */
}
