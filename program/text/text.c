/* SPDX-License-Identifier: MIT
 *
 * The printer: a valid program as text that parses to the same program.
 *
 * It writes into the caller's buffer and goes on counting when that is full, as snprintf does; it
 * formats numbers itself, because the fuzz target prints every input.
 */
#include "program/text/text.h"

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

static void put_value(struct printer *o, const struct value *v) {
    switch (v->kind) {
    case VALUE_RAW:
        put(o, "0x");
        put_digits(o, v->bits, 16);
        break;
    case VALUE_OUTSIDE:
        put_numbered(o, "out ", v->bits);
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
    default:
        put_signed(o, v->bits);
        break;
    }
}

static void put_values(struct printer *o, const struct value *values, unsigned n) {
    put_char(o, '[');
    for (unsigned i = 0; i < n; i++) {
        if (i > 0)
            put(o, ", ");
        put_value(o, &values[i]);
    }
    put_char(o, ']');
}

static void put_arity(struct printer *o, unsigned functions, const int8_t *arity) {
    put(o, " arity=");
    for (unsigned f = 0; f < functions; f++) {
        if (f > 0)
            put_char(o, ',');
        put_signed(o, (uint64_t)(int64_t)arity[f]);
    }
}

/* " size=N" where the list does not say it, then the list. */
static void put_size_and_values(struct printer *o, const char *list, unsigned size,
                                const struct value *values, unsigned n) {
    if (size != n)
        put_numbered(o, " size=", size);
    if (n == 0 && size != 0)
        return;
    put(o, list);
    put_values(o, values, n);
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

static void put_named(struct printer *o, const struct program *p, const struct item *item,
                      unsigned name) {
    const struct value *fields = p->fields + item->first_field;
    unsigned n = printed_fields(item, fields);
    put(o, item->is_static ? "static b" : "b");
    put_unsigned(o, name);
    put(o, " = ");
    if (item->kind == ITEM_BLOCK) {
        put_numbered(o, "block tag=", item->tag);
        put_size_and_values(o, " ", item->n_fields, fields, n);
    } else if (item->kind == ITEM_RAW) {
        put(o, raw_name(item->tag));
        put_size_and_values(o, " ", item->n_fields, fields, n);
    } else {
        put(o, "closure");
        put_arity(o, item->functions, item->arity);
        put_size_and_values(o, " env=", item->n_fields, fields, n);
    }
}

static void put_item(struct printer *o, const struct program *p, const struct item *item,
                     unsigned name) {
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

/* rN.I */
static void put_place(struct printer *o, unsigned slot, unsigned index) {
    put_slot(o, slot);
    put_numbered(o, ".", index);
}

static void put_allocation(struct printer *o, const struct op *op) {
    const char *list = " ";
    if (op->code == OP_ALLOC) {
        put_numbered(o, "alloc tag=", op->tag);
    } else if (op->code == OP_ALLOC_RAW) {
        put(o, raw_name(op->tag));
    } else {
        put(o, "closure");
        put_arity(o, op->functions, op->arity);
        list = " env=";
    }
    put_size_and_values(o, list, op->size, op->values, op->n_values);
}

/* Operations of the form `rN = ...`. */
static void put_assignment(struct printer *o, const struct op *op) {
    put_slot(o, op->dst);
    put(o, " = ");
    switch (op->code) {
    case OP_LOAD:
        put_place(o, op->src, op->i);
        break;
    case OP_SET:
        put_value(o, &op->values[0]);
        break;
    case OP_INFIX:
        put(o, "infix ");
        put_slot(o, op->src);
        put_numbered(o, " ", op->i);
        break;
    case OP_EXHAUST:
        put_numbered(o, "exhaust ", op->n);
        break;
    case OP_EPHEMERON:
    case OP_RESOURCE:
        put(o, op_shapes[op->code].name);
        put_numbered(o, " ", op->n);
        break;
    case OP_EPHE_GET:
        put(o, "weak ");
        put_place(o, op->src, op->i);
        break;
    case OP_MARSHAL:
        put(o, "marshal ");
        put_slot(o, op->src);
        if (op->n > 0)
            put_numbered(o, " ", op->n);
        break;
    case OP_BUILD:
        put(o, build_names[op->i]);
        put_numbered(o, " ", op->n);
        put_char(o, ' ');
        put_value(o, &op->values[0]);
        break;
    default:
        put_allocation(o, op);
        break;
    }
}

/* Operations that write fields. */
static void put_write(struct printer *o, const struct op *op) {
    if (op->code == OP_INIT)
        put(o, "init ");
    if (op->code == OP_FILL)
        put(o, "fill ");
    if (op->code == OP_EPHE_SET)
        put(o, "weak ");
    if (op->code == OP_BLIT || op->code == OP_EPHE_BLIT) {
        put(o, op_shapes[op->code].name);
        put_char(o, ' ');
        put_place(o, op->src, op->i);
        put(o, " -> ");
        put_place(o, op->dst, op->j);
    } else {
        put_place(o, op->dst, op->i);
    }
    bool blit = op->code == OP_BLIT || op->code == OP_EPHE_BLIT;
    if (blit || op->code == OP_FILL)
        put_numbered(o, ", ", op->n);
    if (!blit) {
        put(o, " := ");
        put_value(o, &op->values[0]);
    }
}

static void put_op(struct printer *o, const struct op *op) {
    if (op->mutator > 0) {
        put_numbered(o, "mutator ", op->mutator);
        put(o, ": ");
    }
    switch (op->code) {
    case OP_STORE:
    case OP_INIT:
    case OP_BLIT:
    case OP_FILL:
    case OP_EPHE_SET:
    case OP_EPHE_BLIT:
        put_write(o, op);
        break;
    case OP_EPHE_UNSET:
        put(o, "unset ");
        put_place(o, op->dst, op->i);
        break;
    case OP_FORWARD:
        put_numbered(o, "forward r", op->dst);
        put(o, " := ");
        put_value(o, &op->values[0]);
        break;
    case OP_TRUNCATE:
    case OP_FINALISE:
        put(o, op_shapes[op->code].name);
        put_numbered(o, " r", op->dst);
        put_numbered(o, ", ", op->n);
        break;
    case OP_MEASURE:
        put_numbered(o, "measure r", op->src);
        break;
    case OP_DROP:
        put_numbered(o, "drop r", op->dst);
        break;
    case OP_READ:
        put(o, "read ");
        put_place(o, op->src, op->i);
        break;
    case OP_MINOR:
    case OP_SLICE:
    case OP_FULL:
    case OP_COMPACT:
    case OP_KIND:
    case OP_POLL:
        put(o, op_shapes[op->code].name);
        if (op->code == OP_KIND || op->n > 0)
            put_numbered(o, " ", op->n);
        break;
    default:
        put_assignment(o, op);
        break;
    }
}

size_t op_print(const struct op *op, char *out, size_t capacity) {
    struct printer o = {.out = out, .capacity = capacity};
    put_op(&o, op);
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
    static const struct value unit = {.kind = VALUE_IMMEDIATE};
    bool any = false;
    for (unsigned m = 0; m < PROGRAM_MUTATORS; m++) {
        for (unsigned r = 0; r < PROGRAM_SLOTS; r++) {
            if (value_equal(&p->roots[m][r], &unit))
                continue;
            put(o, any ? "  " : "roots\n  ");
            any = true;
            if (m > 0) {
                put_numbered(o, "mutator ", m);
                put(o, ": ");
            }
            put_slot(o, r);
            put(o, " = ");
            put_value(o, &p->roots[m][r]);
            put_char(o, '\n');
        }
    }
}

size_t program_print(const struct program *p, char *out, size_t capacity) {
    struct printer o = {.out = out, .capacity = capacity};
    put_numbered(&o, "isoheap program ", PROGRAM_VERSION);
    put_char(&o, '\n');
    put_config(&o, p);
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
