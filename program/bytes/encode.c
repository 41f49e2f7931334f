/* SPDX-License-Identifier: MIT
 *
 * The encoder: a valid program as bytes that decode to the same program.
 *
 * It walks the same operand letters as the decoder (records.h).  An operand that one byte cannot
 * say becomes byte 255 and a WIDE record in front.  The ordinary meaning of 255 is never written,
 * since it would take the WIDE value of a later operand.
 */
#include "program/bytes/bytes.h"
#include "program/bytes/records.h"
#include "program/named.h"

struct encoder {
    uint8_t *out;
    size_t capacity, length;
    struct named_blocks named;
    /* the record in the making */
    struct wide wide[RECORD_WIDES];
    unsigned n_wide, n_bytes;
    uint8_t bytes[RECORD_OPERANDS];
};

/* ---- records --------------------------------------------------------------------------------- */

static void emit(struct encoder *e, uint8_t byte) {
    if (e->length < e->capacity)
        e->out[e->length] = byte;
    e->length++;
}

static void put(struct encoder *e, uint8_t byte) {
    e->bytes[e->n_bytes++] = byte;
}

static void put_wide(struct encoder *e, uint8_t kind, uint64_t payload) {
    e->wide[e->n_wide++] = (struct wide){.kind = kind, .payload = payload};
    put(e, WIDE_BYTE);
}

static void emit_record(struct encoder *e, enum record_id id) {
    for (unsigned w = 0; w < e->n_wide; w++) {
        emit(e, FIRST_WIDE);
        emit(e, e->wide[w].kind);
        for (unsigned i = 0; i < 8; i++)
            emit(e, e->wide[w].payload >> 8 * i & 0xff);
    }
    emit(e, records[id].first);
    for (unsigned i = 0; i < e->n_bytes; i++)
        emit(e, e->bytes[i]);
    e->n_wide = e->n_bytes = 0;
}

/* ---- operands -------------------------------------------------------------------------------- */

static void put_number(struct encoder *e, uint16_t n) {
    if (n < WIDE_BYTE)
        put(e, (uint8_t)n);
    else
        put_wide(e, VALUE_IMMEDIATE, n);
}

static void put_size(struct encoder *e, uint16_t size, uint16_t min) {
    unsigned above = size - (unsigned)min;
    if (above < SIZE_BIAS)
        put(e, (uint8_t)above);
    else if (above <= SIZE_SHORT_MAX)
        put(e, (uint8_t)(above - SIZE_BIAS + SIZE_BIASED));
    else
        put_wide(e, VALUE_IMMEDIATE, size);
}

static void put_address(struct encoder *e, const struct value *v) {
    put_wide(e, WIDE_ADDRESS, v->bits << 32 | (uint64_t)v->offset << 16 | v->block);
}

static void put_word(struct encoder *e, uint64_t bits) {
    if (bits < WORD_BIT) {
        put(e, (uint8_t)bits);
        return;
    }
    for (unsigned bit = 0; bit < WIDE_BYTE - WORD_BIT; bit++) {
        if (bits == UINT64_C(1) << bit) {
            put(e, (uint8_t)(WORD_BIT + bit));
            return;
        }
    }
    put_wide(e, VALUE_RAW, bits);
}

static void put_script_value(struct encoder *e, const struct value *v) {
    if (v->kind == VALUE_SLOT)
        put(e, (uint8_t)v->block);
    else if (v->kind == VALUE_IMMEDIATE && v->bits < WIDE_BYTE - SCRIPT_IMMEDIATE)
        put(e, (uint8_t)(SCRIPT_IMMEDIATE + v->bits));
    else if (v->kind == VALUE_ADDRESS)
        put_address(e, v);
    else
        put_wide(e, v->kind == VALUE_ATOM ? WIDE_ATOM : v->kind, v->bits);
}

static void put_heap_immediate(struct encoder *e, uint64_t bits) {
    if (bits < HEAP_INFIX - HEAP_IMMEDIATE) {
        put(e, (uint8_t)(HEAP_IMMEDIATE + bits));
        return;
    }
    for (unsigned n = 0; n < WIDE_BYTE - HEAP_NOTABLE; n++) {
        if (bits == (uint64_t)notable_immediates[n]) {
            put(e, (uint8_t)(HEAP_NOTABLE + n));
            return;
        }
    }
    put_wide(e, VALUE_IMMEDIATE, bits);
}

static void put_infix(struct encoder *e, const struct value *v) {
    unsigned entry = closure_entry_at(named_block(&e->named, v->block), v->offset);
    if (entry == 1 && v->block < HEAP_OUTSIDE - HEAP_INFIX)
        put(e, (uint8_t)(HEAP_INFIX + v->block));
    else
        put_wide(e, VALUE_INFIX, (uint64_t)entry << 16 | v->block);
}

static void put_heap_value(struct encoder *e, const struct value *v) {
    switch (v->kind) {
    case VALUE_RAW:
        put_word(e, v->bits);
        break;
    case VALUE_BLOCK:
        if (v->block < HEAP_IMMEDIATE)
            put(e, (uint8_t)v->block);
        else
            put_wide(e, VALUE_BLOCK, v->block);
        break;
    case VALUE_INFIX:
        put_infix(e, v);
        break;
    case VALUE_ADDRESS:
        put_address(e, v);
        break;
    case VALUE_OUTSIDE:
        if (v->bits < HEAP_NOTABLE - HEAP_OUTSIDE)
            put(e, (uint8_t)(HEAP_OUTSIDE + v->bits));
        else
            put_wide(e, VALUE_OUTSIDE, v->bits);
        break;
    case VALUE_ATOM:
        put_wide(e, WIDE_ATOM, v->bits);
        break;
    default:
        put_heap_immediate(e, v->bits);
        break;
    }
}

/* Tag 255 would be read as itself too; its low form keeps 255 out of the bytes. */
static uint8_t raw_tag_byte(uint8_t tag) {
    return (uint8_t)(tag - PROGRAM_TAG_ABSTRACT);
}

/* ---- config and heap ------------------------------------------------------------------------- */

static void encode_config(struct encoder *e, const struct program *p) {
    for (unsigned k = 0; k < CONFIG_KEYS; k++) {
        const struct config_range *range = &config_ranges[k];
        unsigned above = p->config[k] - (unsigned)range->min;
        if (p->config[k] == range->initial)
            continue;
        put(e, (uint8_t)(k < KEYS_FIRST ? k : KEYS_LATER + k - KEYS_FIRST));
        put(e, above & 0xff);
        if (p->config[k] <= range->soft_max)
            put(e, 0);
        else
            put(e, (uint8_t)(CONFIG_WHOLE | above >> 8));
        emit_record(e, RECORD_CONFIG);
    }
}

/* A config record whose key is the choice. */
static void encode_switches(struct encoder *e, const struct program *p) {
    for (unsigned s = 0; s < p->n_switches; s++) {
        unsigned at = switch_at(p->switches[s]) - 1;
        put_number(e, (uint16_t)(switch_choice(p->switches[s]) - 1));
        put(e, at & 0xff);
        put(e, (uint8_t)(at >> 8));
        emit(e, FIRST_STATIC);
        emit_record(e, RECORD_CONFIG);
    }
}

static enum record_id item_record(const struct item *item) {
    switch (item->kind) {
    case ITEM_BLOCK:
        return item->n_fields <= PROGRAM_VALUES ? RECORD_BLOCK_1 + item->n_fields - 1u
                                                : RECORD_BLOCK;
    case ITEM_CLOSURE:
        return RECORD_FUNCTIONS_1_0 + 3u * (item->functions - 1u) +
               (item->n_fields < 2 ? item->n_fields : 2u);
    case ITEM_RAW:
        return RECORD_WORDS;
    case ITEM_FREE:
        return RECORD_FREE;
    case ITEM_DEAD:
        return RECORD_DEAD;
    default:
        return RECORD_FRAGMENT;
    }
}

/* The fields that the item's own record does not set and that are not as it leaves them. */
static void encode_fields(struct encoder *e, const struct item *item, const struct value *fields,
                          unsigned from) {
    const struct value initial = {.kind = item->kind == ITEM_RAW ? VALUE_RAW : VALUE_IMMEDIATE};
    for (unsigned f = from; f < item->n_fields; f++) {
        if (value_equal(&fields[f], &initial))
            continue;
        put_number(e, (uint16_t)f);
        put_heap_value(e, &fields[f]);
        emit_record(e, RECORD_FIELD);
    }
}

static void encode_item(struct encoder *e, const struct item *item, const struct value *fields) {
    const struct record *r = &records[item_record(item)];
    uint16_t size = item_is_named(item) ? item->n_fields : item->wosize;
    unsigned n_arity = 0, n_values = 0;
    for (const char *o = r->operands; *o; o++) {
        if (*o == 't')
            put(e, item->tag);
        else if (*o == 'T')
            put(e, raw_tag_byte(item->tag));
        else if (*o == 'a')
            put(e, (uint8_t)item->arity[n_arity++]);
        else if (*o == 'z')
            put_size(e, size, record_min_size(r));
        else
            put_heap_value(e, &fields[n_values++]);
    }
    if (item->is_static)
        emit(e, FIRST_STATIC);
    emit_record(e, r->id);
    if (item->address_code) {
        emit(e, FIRST_STATIC);
        put(e, 0);
        put(e, HEAP_IMMEDIATE);
        emit_record(e, RECORD_FIELD);
    }
    encode_fields(e, item, fields, n_values);
}

static void encode_roots(struct encoder *e, const struct program *p) {
    for (unsigned m = 0; m < PROGRAM_MUTATORS; m++) {
        for (unsigned r = 0; r < PROGRAM_SLOTS; r++) {
            if (value_is_unit(&p->roots[m][r]))
                continue;
            if (m > 0)
                put(e, (uint8_t)m);
            put(e, (uint8_t)r);
            put_heap_value(e, &p->roots[m][r]);
            emit_record(e, m > 0 ? RECORD_ROOT_OF : RECORD_ROOT);
        }
    }
}

/* ---- script ---------------------------------------------------------------------------------- */

static enum record_id op_record(const struct op *op) {
    if (op->code == OP_ALLOC)
        return RECORD_ALLOC_0 + (unsigned)op->n_values;
    if (op->code == OP_ALLOC_CLOSURE)
        return RECORD_CLOSURE_1_0 + 4u * (op->functions - 1u) + op->n_values;
    if (op->code == OP_ALLOC_RAW)
        return RECORD_RAW_0 + (unsigned)op->n_values;
    if (op->code <= OP_MINOR)
        return RECORD_LOAD + (unsigned)(op->code - OP_LOAD);
    if (op->code >= OP_LATER)
        return RECORD_LATER;
    if (op->code == OP_SLICE)
        return op->n == 0 ? RECORD_SLICE : RECORD_SLICE_N;
    return RECORD_FULL + (unsigned)(op->code - OP_FULL);
}
_Static_assert(RECORD_MINOR - RECORD_LOAD == OP_MINOR - OP_LOAD, "records in the order of ops");
_Static_assert(RECORD_POLL - RECORD_FULL == OP_POLL - OP_FULL, "records in the order of ops");

static uint8_t later_byte(unsigned code) {
    unsigned number = code - OP_LATER;
    return (uint8_t)(number < LATER_FIRST ? number : LATER_NEW + number - LATER_FIRST);
}

static void put_op_number(struct encoder *e, const struct op *op, char letter) {
    put_number(e, letter == 'i' ? op->i : letter == 'j' ? op->j : op->n);
}

static void encode_op(struct encoder *e, const struct op *op) {
    const struct record *r = &records[op_record(op)];
    unsigned n_arity = 0, n_values = 0;
    for (const char *o = r->operands; *o; o++) {
        if (*o == 'x')
            put(e, later_byte(op->code));
        else if (r->id == RECORD_LATER && !(op_shapes[op->code].operands & record_operand(*o)))
            put(e, 0);
        else if (*o == 'd')
            put(e, op->dst);
        else if (*o == 's')
            put(e, op->src);
        else if (*o == 't')
            put(e, op->tag);
        else if (*o == 'T')
            put(e, raw_tag_byte(op->tag));
        else if (*o == 'a')
            put(e, (uint8_t)op->arity[n_arity++]);
        else if (*o == 'z')
            put_size(e, op->size, record_min_size(r));
        else if (*o == 'v')
            put_script_value(e, &op->values[n_values++]);
        else if (*o == 'w')
            put_heap_value(e, &op->values[n_values++]);
        else
            put_op_number(e, op, *o);
    }
    if (op->mutator > 0) {
        emit(e, FIRST_MUTATOR);
        emit(e, op->mutator);
    }
    emit_record(e, r->id);
}

/* ---- the program ----------------------------------------------------------------------------- */

enum {
    /* opcode and operands, a prefix of at most two bytes, and the WIDE records of z i j n */
    RECORD_BOUND = 1 + RECORD_OPERANDS + 2,
    OP_BOUND = RECORD_BOUND + RECORD_WIDES * RECORD_WIDE_BYTES,
    ITEM_BOUND = RECORD_BOUND + RECORD_WIDE_BYTES + 4, /* and that its code word is an address */
    /* a FIELD record; an inline field needs less */
    FIELD_BOUND = 3 + 2 * RECORD_WIDE_BYTES,
    ROOT_BOUND = 4 + RECORD_WIDE_BYTES,
    CONFIG_BOUND = 4
};
const size_t program_encode_bound = CONFIG_KEYS * CONFIG_BOUND + PROGRAM_SWITCHES * OP_BOUND +
                                    PROGRAM_ITEMS * ITEM_BOUND + PROGRAM_FIELDS * FIELD_BOUND +
                                    PROGRAM_MUTATORS * PROGRAM_SLOTS * ROOT_BOUND +
                                    PROGRAM_OPS * OP_BOUND;

size_t program_encode(const struct program *p, uint8_t *out, size_t capacity) {
    if (program_is_large(p))
        return 0;
    struct encoder e = {.out = out, .capacity = capacity};
    named_blocks_find(&e.named, p);
    encode_config(&e, p);
    encode_switches(&e, p);
    for (unsigned i = 0; i < p->n_items; i++)
        encode_item(&e, &p->items[i], p->fields + p->items[i].first_field);
    encode_roots(&e, p);
    for (unsigned i = 0; i < p->n_ops; i++)
        encode_op(&e, &p->ops[i]);
    return e.length;
}
