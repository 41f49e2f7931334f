/* SPDX-License-Identifier: MIT
 *
 * The printer: a valid program as text that parses to the same program.
 *
 * It writes into the caller's buffer and goes on counting when that is full, as snprintf does; it
 * formats numbers itself, because the fuzz target prints every input.
 */
#include "program/text/text.h"

#include "program/named.h"
#include "program/text/form.h"

#include <string.h>

struct printer {
    char *out;
    size_t capacity, length;
};

/* ---- pieces ---------------------------------------------------------------------------------- */

static void put_char(struct printer *o, char c) {
    if (o->length + 1 < o->capacity)
        o->out[o->length] = c;
    o->length++;
}

static void put(struct printer *o, const char *text) {
    while (*text)
        put_char(o, *text++);
}

static void put_digits(struct printer *o, uint64_t n, unsigned base) {
    char digits[20];
    unsigned count = 0;
    do
        digits[count++] = "0123456789abcdef"[n % base];
    while ((n /= base) != 0);
    while (count > 0)
        put_char(o, digits[--count]);
}

static void put_unsigned(struct printer *o, uint64_t n) {
    put_digits(o, n, 10);
}

static void put_signed(struct printer *o, uint64_t bits) {
    if (bits >> 63) {
        put_char(o, '-');
        bits = ~bits + 1;
    }
    put_unsigned(o, bits);
}

/* `prefix` and a number: " size=" 4, "b" 12. */
static void put_numbered(struct printer *o, const char *prefix, uint64_t n) {
    put(o, prefix);
    put_unsigned(o, n);
}

/* The final NUL, within the capacity. */
static size_t finish(const struct printer *o) {
    if (o->capacity > 0)
        o->out[o->length < o->capacity ? o->length : o->capacity - 1] = '\0';
    return o->length;
}

/* &r0.2+1; where there are slots, there are no blocks. */
static void put_address(struct printer *o, const struct value *v, bool script) {
    put(o, address_doubled(v) ? "&&" : "&");
    if (address_place(v) == ADDRESS_BLOCK)
        put_numbered(o, script ? "r" : "b", v->block);
    else
        put(o, address_places[address_place(v)]);
    if (v->offset)
        put_numbered(o, ".", v->offset);
    if (address_plus(v) > 0)
        put_char(o, '+');
    if (address_plus(v))
        put_signed(o, (uint64_t)(int64_t)address_plus(v));
}

/* out 5, out 0x3ff0000000000000, out before-8, out behind+8 */
static void put_outside(struct printer *o, const struct value *v) {
    uint64_t n = outside_number(v);
    put(o, "out ");
    switch (outside_form(v)) {
    case OUTSIDE_NUMBER:
        put_unsigned(o, n);
        break;
    case OUTSIDE_BEFORE:
        put_numbered(o, "before-", n);
        break;
    case OUTSIDE_BEHIND:
        put(o, "behind");
        if (n)
            put_numbered(o, "+", n);
        break;
    default:
        put(o, "0x");
        put_digits(o, n, 16);
        break;
    }
}

static void put_value(struct printer *o, const struct value *v, bool script) {
    switch (v->kind) {
    case VALUE_RAW:
        put(o, "0x");
        put_digits(o, v->bits, 16);
        break;
    case VALUE_OUTSIDE:
        put_outside(o, v);
        break;
    case VALUE_ATOM:
        put_numbered(o, "atom ", v->bits);
        break;
    case VALUE_BLOCK:
        put_numbered(o, "b", v->block);
        break;
    case VALUE_INFIX:
        put_numbered(o, "b", v->block);
        put_numbered(o, "+", v->offset);
        break;
    case VALUE_SLOT:
        put_numbered(o, "r", v->block);
        break;
    case VALUE_ADDRESS:
        put_address(o, v, script);
        break;
    case VALUE_NEXT:
        put(o, "next");
        break;
    case VALUE_EACH:
        put_numbered(o, "each b", v->block);
        break;
    default:
        put_signed(o, v->bits);
        break;
    }
}

static void put_values(struct printer *o, const struct value *values, unsigned n, bool script) {
    put_char(o, '[');
    for (unsigned i = 0; i < n; i++) {
        if (i > 0)
            put(o, ", ");
        put_value(o, &values[i], script);
    }
    put_char(o, ']');
}

static void put_arity(struct printer *o, unsigned functions, const int8_t *arity) {
    put(o, "arity=");
    for (unsigned f = 0; f < functions; f++) {
        if (f > 0)
            put_char(o, ',');
        put_signed(o, (uint64_t)(int64_t)arity[f]);
    }
}

/* " size=N" where the list does not say it, then the list. */
static void put_size_and_values(struct printer *o, const char *list, unsigned size,
                                const struct value *values, unsigned n, bool script) {
    if (size != n)
        put_numbered(o, " size=", size);
    if (n == 0 && size != 0)
        return;
    put(o, list);
    put_values(o, values, n, script);
}

static const char *raw_name(unsigned tag) {
    static const char *const names[] = {"abstract", "string", "double", "double_array", "custom"};
    return names[tag - PROGRAM_TAG_ABSTRACT];
}

/* ---- heap ------------------------------------------------------------------------------------ */

/* Fields to print: up to two trailing default ones are shorter than a size. */
static unsigned printed_fields(const struct item *item, const struct value *fields) {
    const struct value initial = {.kind = item->kind == ITEM_RAW ? VALUE_RAW : VALUE_IMMEDIATE};
    unsigned n = item->n_fields;
    while (n > 0 && value_equal(&fields[n - 1], &initial))
        n--;
    return item->n_fields - n > 2 ? n : item->n_fields;
}

static void put_count(struct printer *o, const struct item *item) {
    if (!item->more)
        return;
    put_unsigned(o, item_count(item));
    put(o, " of ");
}

static void put_named(struct printer *o, const struct program *p, const struct item *item,
                      unsigned name) {
    const struct value *fields = p->fields + item->first_field;
    unsigned n = printed_fields(item, fields);
    put(o, item->is_static ? "static b" : "b");
    put_unsigned(o, name);
    put(o, " = ");
    put_count(o, item);
    if (item->kind == ITEM_BLOCK) {
        put_numbered(o, "block tag=", item->tag);
        put_size_and_values(o, " ", item->n_fields, fields, n, false);
    } else if (item->kind == ITEM_RAW) {
        put(o, raw_name(item->tag));
        put_size_and_values(o, " ", item->n_fields, fields, n, false);
    } else {
        put(o, item->address_code ? "closure address " : "closure ");
        put_arity(o, item->functions, item->arity);
        put_size_and_values(o, " env=", item->n_fields, fields, n, false);
    }
}

static void put_item(struct printer *o, const struct program *p, const struct item *item,
                     unsigned name) {
    if (!item_is_named(item))
        put_count(o, item);
    switch (item->kind) {
    case ITEM_FREE:
        put_numbered(o, "free ", item->wosize);
        break;
    case ITEM_DEAD:
        put_numbered(o, "dead ", item->wosize);
        break;
    case ITEM_FRAGMENT:
        put(o, "fragment");
        break;
    default:
        put_named(o, p, item, name);
        break;
    }
}

size_t item_print(const struct program *p, unsigned index, char *out, size_t capacity) {
    struct printer o = {.out = out, .capacity = capacity};
    unsigned name = 0;
    for (unsigned i = 0; i < index; i++)
        name += item_is_named(&p->items[i]);
    put_item(&o, p, &p->items[index], name);
    return finish(&o);
}

/* ---- script ---------------------------------------------------------------------------------- */

static void put_slot(struct printer *o, unsigned slot) {
    put_numbered(o, "r", slot);
}

/* An allocation from its tag or arities on. */
static void put_allocation(struct printer *o, const struct op *op, char letter) {
    const char *list = " ";
    if (letter == 't') {
        put_numbered(o, "tag=", op->tag);
    } else if (letter == 'T') {
        put(o, raw_name(op->tag));
    } else {
        put_arity(o, op->functions, op->arity);
        list = " env=";
    }
    put_size_and_values(o, list, op->size, op->values, op->n_values, true);
}

static const char *put_choice(struct printer *o, const char *at, unsigned choice) {
    size_t length;
    const char *word = form_choice(at, choice, &length);
    for (size_t i = 0; i < length; i++)
        put_char(o, word[i]);
    return strchr(word, '>') + 1;
}

/* Prints the operand that the form has at `at`; returns what follows it in the form. */
static const char *put_operand(struct printer *o, const struct op *op, const char *at) {
    switch (*at) {
    case 'd':
        put_slot(o, op->dst);
        break;
    case 's':
        put_slot(o, op->src);
        break;
    case 'i':
        if (at[1] == '<')
            return put_choice(o, at, op->i);
        put_unsigned(o, op->i);
        break;
    case 'j':
        put_unsigned(o, op->j);
        break;
    case 'n':
        put_unsigned(o, op->n);
        return at[1] == '?' ? at + 2 : at + 1;
    case 'v':
        put_value(o, &op->values[0], true);
        break;
    default:
        put_allocation(o, op, *at);
        return ""; /* with all that follows */
    }
    return at + 1;
}

static void put_op(struct printer *o, const struct op *op) {
    if (op->mutator > 0) {
        put_numbered(o, "mutator ", op->mutator);
        put(o, ": ");
    }
    for (const char *at = op_shapes[op->code].form; *at;) {
        if (form_is_operand(at)) {
            at = put_operand(o, op, at);
            continue;
        }
        if (*at == ' ' && op->n == 0 && at[1] == 'n' && at[2] == '?')
            return;
        put_char(o, *at);
        if (form_is_letter(*at++))
            while (form_is_letter(*at))
                put_char(o, *at++);
    }
}

size_t op_print(const struct op *op, char *out, size_t capacity) {
    struct printer o = {.out = out, .capacity = capacity};
    put_op(&o, op);
    return finish(&o);
}

size_t value_print(const struct value *v, bool script, char *out, size_t capacity) {
    struct printer o = {.out = out, .capacity = capacity};
    put_value(&o, v, script);
    return finish(&o);
}

/* ---- sections -------------------------------------------------------------------------------- */

static void put_config(struct printer *o, const struct program *p) {
    bool any = false;
    for (unsigned k = 0; k < CONFIG_KEYS; k++) {
        if (p->config[k] == config_ranges[k].initial)
            continue;
        put(o, any ? " " : "config ");
        put(o, config_ranges[k].name);
        put_numbered(o, "=", p->config[k]);
        any = true;
    }
    if (any)
        put_char(o, '\n');
}

static void put_switches(struct printer *o, const struct program *p) {
    for (unsigned s = 0; s < p->n_switches; s++) {
        put_numbered(o, "switch ", switch_at(p->switches[s]));
        put_numbered(o, " to ", switch_choice(p->switches[s]));
        put_char(o, '\n');
    }
}

static void put_heap(struct printer *o, const struct program *p) {
    unsigned name = 0;
    if (p->n_items > 0)
        put(o, "heap\n");
    for (unsigned i = 0; i < p->n_items; i++) {
        put(o, "  ");
        put_item(o, p, &p->items[i], name);
        put_char(o, '\n');
        name += item_is_named(&p->items[i]);
    }
}

static void put_roots(struct printer *o, const struct program *p) {
    bool any = false;
    for (unsigned m = 0; m < PROGRAM_MUTATORS; m++) {
        for (unsigned r = 0; r < PROGRAM_SLOTS; r++) {
            if (value_is_unit(&p->roots[m][r]))
                continue;
            put(o, any ? "  " : "roots\n  ");
            any = true;
            if (m > 0) {
                put_numbered(o, "mutator ", m);
                put(o, ": ");
            }
            put_slot(o, r);
            put(o, " = ");
            put_value(o, &p->roots[m][r], false);
            put_char(o, '\n');
        }
    }
}

size_t program_print(const struct program *p, char *out, size_t capacity) {
    struct printer o = {.out = out, .capacity = capacity};
    put_numbered(&o, "isoheap program ", PROGRAM_VERSION);
    put_char(&o, '\n');
    put_config(&o, p);
    put_switches(&o, p);
    put_heap(&o, p);
    put_roots(&o, p);
    if (p->n_ops > 0)
        put(&o, "script\n");
    for (unsigned i = 0; i < p->n_ops; i++) {
        put(&o, "  ");
        put_op(&o, &p->ops[i]);
        put_char(&o, '\n');
    }
    return finish(&o);
}
