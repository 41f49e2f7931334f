/* SPDX-License-Identifier: MIT
 *
 * Words that look like pointers and are none (VALUE_ADDRESS): each collector gets the address in
 * its own heap, and the model remembers which.
 *
 * A collector that takes such a word for a pointer keeps alive, moves or overwrites what lies
 * there.  One that leaves data alone never looks at it.
 */
#include "harness/operations/operations.h"

/* ---- words outside the heap -------------------------------------------------------------------
 */

static unsigned outsider_number(const struct value *v) {
    if (v->kind == VALUE_ATOM)
        return (unsigned)v->bits;
    return (outside_form(v) == OUTSIDE_BEFORE ? OUTSIDERS_BEFORE : OUTSIDERS_BEHIND) +
           (unsigned)outside_number(v) / 2;
}

/* Where a collector has not told what lies beside its heap, a word that leads nowhere. */
static word outsider_of(struct side *s, const struct value *v) {
    if (v->kind == VALUE_ATOM)
        return call_atom(s, (unsigned)v->bits);
    bool behind = outside_form(v) == OUTSIDE_BEHIND;
    word n = outside_number(v);
    if (!s->beside[behind])
        return outside_pointer((unsigned)n);
    return behind ? s->beside[behind] + n : s->beside[behind] - n;
}

static void note_atom(struct runner *r, word address) {
    struct model_atom *atom = &r->model.atoms[r->model.n_atoms++];
    atom->address = model_address_number(address);
    FOR_SIDES (r, s)
        atom->headers[s->party] = header_of(model_data(&r->model, s->party, address));
}

word outsider(struct runner *r, const struct value *v) {
    word *known = &r->outsiders[outsider_number(v)];
    if (*known)
        return *known;
    word address = model_add_address(&r->model, v, false, false);
    if (!address)
        return WORD_UNIT;
    FOR_SIDES (r, s)
        r->model.addresses[model_address_number(address)].words[s->party] = outsider_of(s, v);
    if (v->kind == VALUE_ATOM)
        note_atom(r, address);
    r->has_outsiders = true;
    return *known = address;
}

/* ---- places -----------------------------------------------------------------------------------
 */

/* The first word that no live block has, as the last walk and the blocks since tell; the end of the
 * heap if there is none.  A walk of its own might change what a collector shows. */
static word free_place(struct side *s, bool shown) {
    word own = shown ? 0 : call_own_place(s, GC_PLACE_FREE);
    if (own)
        return own;
    const struct graph *g = &s->graph;
    size_t id = 0;
    while (id < g->words && graph_in_use(g, id))
        id++;
    return g->base ? pointer_word(g->base + id) : 0;
}

static word nursery_place(struct side *s, bool shown) {
    word own = shown ? 0 : call_own_place(s, GC_PLACE_YOUNG);
    if (own)
        return own;
    const struct graph *g = &s->graph;
    return g->base ? pointer_word(g->base + (g->words - g->nursery_words)) : 0;
}

/* The field that the value names, counted from its block, modulo what there is from `from` on. */
static word field_at(const struct model_object *o, const struct value *v, unsigned from) {
    return (from + (o->wosize > from ? v->offset % (o->wosize - from) : 0)) * sizeof(word);
}

/* Code words are where OCaml's runtime has code pointers, which lead into no heap: its minor
 * collection takes the first word of a closure for a value.  They get an address of what is shown.
 */
static word place_in(struct runner *r, struct side *s, unsigned m, const struct value *v,
                     enum address_form form) {
    word slot = r->model.slots[m][v->block], block;
    bool shown = form == ADDRESS_CODE && s->collector->shown_at;
    switch (shown && address_place(v) == ADDRESS_FROM ? ADDRESS_FREE : address_place(v)) {
    case ADDRESS_NURSERY:
        return nursery_place(s, shown);
    case ADDRESS_FREE:
        return free_place(s, shown);
    case ADDRESS_FROM:
        return r->moved_from[s->party] ? r->moved_from[s->party] : r->address_before[s->party];
    default:
        block = s->slots[m][v->block] - model_offset(slot) * sizeof(word);
        return (shown ? block : call_shown_at(s, block)) +
               field_at(&r->model.objects[model_object(slot)], v, model_offset(slot));
    }
}

/* An integer that is not unit, which a field of an ephemeron would pass for one that is not set. */
static word no_unit(word w) {
    return (w | 1) == WORD_UNIT ? WORD_UNIT | 2 : w | 1;
}

static word word_at(word place, const struct value *v, enum address_form form) {
    word w = place + (word)(int64_t)address_plus(v);
    if (address_doubled(v))
        w <<= 1;
    return form == ADDRESS_IMMEDIATE ? no_unit(w) : form == ADDRESS_CODE ? w & ~(word)1 : w;
}

/* ---- of the script ----------------------------------------------------------------------------
 */

/* What is written where there is no such address, or no word has the bits for one. */
static word no_address(enum address_form form) {
    return form == ADDRESS_IMMEDIATE ? WORD_UNIT : 0;
}

word script_address(struct runner *r, unsigned m, const struct value *v, enum address_form form) {
    if (r->word_bits < 64 || (value_reads_slot(v) && slot_object(r, m, v->block) == MODEL_NONE))
        return no_address(form);
    word address = model_add_address(&r->model, v, true, form == ADDRESS_IMMEDIATE);
    if (!address)
        return no_address(form);
    FOR_SIDES (r, s) {
        /* a collector may have led the slot past a Forward block, to what is none */
        bool none = value_reads_slot(v) && is_immediate(s->slots[m][v->block]);
        word place = none ? 0 : place_in(r, s, m, v, form);
        r->address_before[s->party] = place;
        word nothing = form == ADDRESS_IMMEDIATE ? no_unit(0) : no_address(form);
        r->model.addresses[model_address_number(address)].words[s->party] =
            none ? nothing : word_at(place, v, form);
    }
    return address;
}

/* ---- of the initial heap ----------------------------------------------------------------------
 */

word heap_address(struct runner *r, const struct value *v, enum address_form form) {
    word address =
        r->word_bits < 64 ? 0 : model_add_address(&r->model, v, false, form == ADDRESS_IMMEDIATE);
    if (!address)
        return no_address(form);
    r->model.addresses[model_address_number(address)].code = form == ADDRESS_CODE;
    return address;
}

void resolve_addresses(struct runner *r, enum party party) {
    for (uint32_t n = 0; n < r->model.n_addresses; n++) {
        struct model_address *a = &r->model.addresses[n];
        if (a->value.kind != VALUE_ADDRESS)
            continue;
        const struct model_object *o = &r->model.objects[r->first[a->value.block]];
        word place = o->address[party];
        if (!a->code)
            place = call_shown_at(&r->side[party], place);
        place += field_at(o, &a->value, 0);
        bool immediate = is_immediate(a->words[party]);
        r->address_before[party] = place;
        a->words[party] = word_at(place, &a->value, immediate ? ADDRESS_IMMEDIATE : ADDRESS_RAW);
    }
}
