/* SPDX-License-Identifier: MIT
 *
 * The total decoder: any byte string becomes a valid program.
 *
 * Decoding runs in two steps.  Reading appends what each record says, with references to blocks as
 * plain numbers, because a block may be named before it appears.  Then resolve() is the one place
 * where references meet the blocks that there are.  No record can change how another is read, so
 * one changed operand byte changes one operation, root, field, item or config value.
 */
#include "program/bytes/bytes.h"

#include "program/bytes/records.h"
#include "program/named.h"

#include <string.h>

struct decoder {
    struct program *p;
    unsigned version;
    /* prefixes of the next record */
    struct wide wide[RECORD_WIDES];
    unsigned n_wide, next_wide;
    bool is_static;
    uint8_t mutator;
    bool addresses; /* there may be some in raw blocks, too */
    /* what the items read so far take: in the heap, in static space */
    unsigned words[2];
    struct item *last;                /* NULL: FIELD records have nothing to apply to */
    uint32_t roots[PROGRAM_MUTATORS]; /* the slots that ROOT records have set */
};

/* ---- operands -------------------------------------------------------------------------------- */

static const struct wide *take_wide(struct decoder *d, uint8_t byte) {
    if (byte == WIDE_BYTE && d->next_wide < d->n_wide)
        return &d->wide[d->next_wide++];
    return NULL;
}

static uint16_t read_number(struct decoder *d, uint8_t byte, uint16_t max) {
    const struct wide *wide = take_wide(d, byte);
    if (wide)
        return (uint16_t)(wide->payload % (max + 1u));
    return byte <= max ? byte : (uint16_t)(byte % (max + 1u));
}

static uint16_t read_size(struct decoder *d, uint8_t byte, uint16_t min, uint16_t max) {
    const struct wide *wide = take_wide(d, byte);
    if (wide && wide->payload >= min && wide->payload <= max)
        return (uint16_t)wide->payload;
    if (wide)
        return (uint16_t)(min + wide->payload % (max - min + 1u));
    return (uint16_t)(min +
                      (byte < SIZE_BIASED ? byte % SIZE_BIAS : byte - SIZE_BIASED + SIZE_BIAS));
}

static uint8_t read_tag(uint8_t byte) {
    return tag_is_ordinary(byte) ? byte : byte % 8;
}

static uint8_t read_raw_tag(uint8_t byte) {
    return (uint8_t)(tag_is_raw(byte) ? byte : PROGRAM_TAG_ABSTRACT + byte % 5);
}

static struct value immediate(int64_t n) {
    return (struct value){.kind = VALUE_IMMEDIATE, .bits = immediate_bits((uint64_t)n)};
}

/* Payload: the block or slot, the field, the bits, 16 bits each.  A heap has addresses of blocks
 * alone. */
static struct value wide_address(const struct wide *wide, bool script) {
    struct value v = {.kind = VALUE_ADDRESS, .bits = wide->payload >> 32 & ADDRESS_BITS};
    if (!script)
        v.bits &= ~(uint64_t)(ADDRESS_PLACE_UNIT * (ADDRESS_PLACES - 1));
    if (address_place(&v) != ADDRESS_BLOCK)
        return v;
    v.block = wide->payload & (script ? PROGRAM_SLOTS - 1u : UINT16_MAX);
    v.offset = (wide->payload >> 16 & UINT16_MAX) % PROGRAM_WOSIZE;
    return v;
}
_Static_assert((PROGRAM_SLOTS & (PROGRAM_SLOTS - 1)) == 0, "slots are taken by a mask");

static struct value read_word(struct decoder *d, uint8_t byte, bool script) {
    const struct wide *wide = take_wide(d, byte);
    uint64_t bits = UINT64_MAX;
    if (wide && wide->kind == VALUE_ADDRESS)
        return wide_address(wide, script);
    if (wide)
        bits = wide->payload;
    else if (byte < WORD_BIT)
        bits = byte;
    else if (byte != WIDE_BYTE)
        bits = UINT64_C(1) << (byte - WORD_BIT);
    return (struct value){.kind = VALUE_RAW, .bits = bits};
}

/* The payload itself where that is legal; what is odd, or has a byte that it must not have, gives
 * that up, and what may be an address is a number. */
static struct value wide_outside(uint64_t payload, unsigned version) {
    uint64_t bits = payload;
    if (bits >= OUTSIDE_LEAST)
        bits &= ~UINT64_C(1);
    if (bits >= OUTSIDE_LEAST && !outside_is_legal(bits))
        bits &= UINT64_MAX >> 8;
    if (version < VERSION_ATOMS || !outside_is_legal(bits))
        bits = payload & UINT16_MAX;
    return (struct value){.kind = VALUE_OUTSIDE, .bits = bits};
}

/* A WIDE value of a kind that both sections have; others become an immediate. */
static struct value wide_atom(const struct decoder *d, const struct wide *wide, bool script) {
    uint8_t tag = wide->payload & UINT8_MAX;
    if (wide->kind == VALUE_ADDRESS)
        return wide_address(wide, script);
    if (wide->kind == VALUE_ATOM)
        return (struct value){.kind = VALUE_ATOM, .bits = tag_is_atom(tag) ? tag : tag % 8u};
    if (wide->kind == VALUE_OUTSIDE)
        return wide_outside(wide->payload, d->version);
    return (struct value){.kind = VALUE_IMMEDIATE, .bits = immediate_bits(wide->payload)};
}

static struct value read_script_value(struct decoder *d, uint8_t byte) {
    const struct wide *wide = take_wide(d, byte);
    if (wide && wide->kind != VALUE_SLOT)
        return wide_atom(d, wide, true);
    if (wide)
        return (struct value){.kind = VALUE_SLOT, .block = wide->payload % PROGRAM_SLOTS};
    if (byte < SCRIPT_IMMEDIATE)
        return (struct value){.kind = VALUE_SLOT, .block = byte};
    return immediate(byte == WIDE_BYTE ? -1 : byte - SCRIPT_IMMEDIATE);
}

/* References stay unresolved: an infix pointer has the entry of the closure as its offset. */
static struct value read_heap_value(struct decoder *d, uint8_t byte) {
    const struct wide *wide = take_wide(d, byte);
    if (wide && (wide->kind == VALUE_BLOCK || wide->kind == VALUE_INFIX))
        return (struct value){.kind = wide->kind,
                              .block = wide->payload & UINT16_MAX,
                              .offset = wide->payload >> 16 & UINT16_MAX};
    if (wide)
        return wide_atom(d, wide, false);
    if (byte < HEAP_IMMEDIATE)
        return (struct value){.kind = VALUE_BLOCK, .block = byte};
    if (byte < HEAP_INFIX)
        return immediate(byte - HEAP_IMMEDIATE);
    if (byte < HEAP_OUTSIDE)
        return (struct value){
            .kind = VALUE_INFIX, .block = (uint16_t)(byte - HEAP_INFIX), .offset = 1};
    if (byte < HEAP_NOTABLE)
        return (struct value){.kind = VALUE_OUTSIDE, .bits = byte - HEAP_OUTSIDE};
    return immediate(byte == WIDE_BYTE ? -1 : notable_immediates[byte - HEAP_NOTABLE]);
}

/* ---- script ---------------------------------------------------------------------------------- */

/* The operation that byte x says. */
static unsigned later_code(uint8_t byte, unsigned version) {
    if (byte < LATER_NEW || version == 1)
        return OP_LATER + byte % LATER_FIRST;
    unsigned code = OP_LATER + LATER_FIRST + byte % LATER_MOST;
    return code < ops_of_version(version) ? code : LATER_NONE;
}

static void read_operand(struct decoder *d, struct op *op, const struct record *r, char letter,
                         uint8_t byte) {
    const struct op_shape *shape = &op_shapes[op->code];
    if (r->id == RECORD_LATER && !(shape->operands & record_operand(letter)))
        return;
    switch (letter) {
    case 'x':
        op->code = (uint8_t)later_code(byte, d->version);
        break;
    case 'd':
        op->dst = byte % PROGRAM_SLOTS;
        break;
    case 's':
        op->src = byte % PROGRAM_SLOTS;
        break;
    case 't':
        op->tag = read_tag(byte);
        break;
    case 'T':
        op->tag = read_raw_tag(byte);
        break;
    case 'a':
        op->arity[op->functions++] = (int8_t)byte;
        break;
    case 'z':
        op->size = read_size(d, byte, record_min_size(r), record_max_size(r));
        break;
    case 'i':
        op->i = read_number(d, byte, shape->max_i);
        break;
    case 'j':
        op->j = read_number(d, byte, shape->max_j);
        break;
    case 'n':
        op->n = read_number(d, byte, shape->max_n);
        break;
    case 'v':
        op->values[op->n_values++] = read_script_value(d, byte);
        break;
    default:
        op->values[op->n_values++] = read_word(d, byte, true);
        break;
    }
}

/* Makes size and number of values agree; only allocations can disagree. */
static void settle_size(struct op *op) {
    if (!(op_shapes[op->code].operands & OPERAND_SIZE))
        return;
    if (op->tag == PROGRAM_TAG_DOUBLE)
        op_keep_one_field(op);
    if (op->size < op->n_values)
        op->size = op->n_values;
}

/* Eight bytes at a time, in line: AddressSanitizer's memset costs more than decoding an operation.
 */
static void op_clear(struct op *op) {
    _Static_assert(sizeof *op % 8 == 0, "an operation is eight-byte words");
    for (size_t at = 0; at < sizeof *op; at += 8) {
        memset((uint8_t *)op + at, 0, 8);
        __asm__ volatile(""); /* or the compiler makes the loop a memset */
    }
}

static void read_op(struct decoder *d, const struct record *r, const uint8_t *bytes) {
    struct program *p = d->p;
    if (p->n_ops == PROGRAM_OPS)
        return;
    struct op *op = &p->ops[p->n_ops++];
    op_clear(op);
    op->code = r->code;
    op->mutator = d->mutator;
    for (unsigned o = 0; o < r->length; o++)
        read_operand(d, op, r, r->operands[o], bytes[o]);
    settle_size(op);
}

/* Goes where it belongs, whatever the order of the records. */
static void read_switch(struct decoder *d, const uint8_t *bytes) {
    unsigned choice = read_number(d, bytes[0], SWITCH_CHOICES - 2) + 1u;
    unsigned at = (bytes[1] | (unsigned)bytes[2] << 8) % UINT16_MAX + 1;
    program_decide(d->p, at, choice);
}

/* ---- heap ------------------------------------------------------------------------------------ */

/* Appends the item unless it exceeds a limit. Its fields are set to the default. */
static struct item *append_item(struct decoder *d, const struct item *item) {
    struct program *p = d->p;
    unsigned words = item_words(item);
    if (p->n_items == PROGRAM_ITEMS || item->n_fields > PROGRAM_FIELDS - p->n_fields ||
        words > PROGRAM_HEAP_WORDS - d->words[item->is_static])
        return NULL;
    struct item *appended = &p->items[p->n_items++];
    *appended = *item;
    if (item_is_named(item))
        appended->first_field = p->n_fields;
    const struct value initial = {.kind = item->kind == ITEM_RAW ? VALUE_RAW : VALUE_IMMEDIATE};
    for (unsigned f = 0; f < item->n_fields; f++)
        p->fields[p->n_fields++] = initial;
    d->words[item->is_static] += words;
    return appended;
}

/* What follows from a record's size for each kind of item. */
static void settle_item(struct item *item, uint16_t size, unsigned n_values) {
    if (item->tag == PROGRAM_TAG_DOUBLE)
        size = 1;
    if (size < n_values)
        size = (uint16_t)n_values;
    item->wosize = item->kind == ITEM_FRAGMENT ? 0 : size;
    if (item->kind == ITEM_CLOSURE) {
        item->tag = PROGRAM_TAG_CLOSURE;
        item->wosize = (uint16_t)(size + closure_code_words(item->functions, item->arity));
    }
    if (item_is_named(item))
        item->n_fields = size;
}

static void read_item(struct decoder *d, const struct record *r, const uint8_t *bytes) {
    struct item item = {.kind = r->code};
    struct value values[PROGRAM_VALUES];
    unsigned n_values = 0;
    uint16_t size = 0;
    item.is_static = d->is_static && item_is_named(&item);
    for (unsigned o = 0; o < r->length; o++) {
        uint8_t byte = bytes[o];
        switch (r->operands[o]) {
        case 't':
            item.tag = read_tag(byte);
            break;
        case 'T':
            item.tag = read_raw_tag(byte);
            break;
        case 'a':
            item.arity[item.functions++] = (int8_t)byte;
            break;
        case 'z':
            size = read_size(d, byte, record_min_size(r), record_max_size(r));
            break;
        case 'v':
            values[n_values++] = read_heap_value(d, byte);
            break;
        default:
            values[n_values++] = read_word(d, byte, false);
            break;
        }
    }
    settle_item(&item, size, n_values);
    d->last = append_item(d, &item);
    if (d->last && n_values > 0)
        memcpy(d->p->fields + d->last->first_field, values, n_values * sizeof *values);
}

static void read_field(struct decoder *d, const uint8_t *bytes) {
    struct item *item = d->last;
    if (item && item->kind == ITEM_CLOSURE && d->is_static && d->version >= VERSION_ATOMS) {
        item->address_code = true;
        return;
    }
    if (!item || item->n_fields == 0)
        return;
    uint16_t index = read_number(d, bytes[0], item->n_fields - 1);
    d->p->fields[item->first_field + index] =
        item->kind == ITEM_RAW ? read_word(d, bytes[1], false) : read_heap_value(d, bytes[1]);
}

/* ---- roots, config, prefixes ----------------------------------------------------------------- */

static void read_root(struct decoder *d, const struct record *r, const uint8_t *bytes) {
    unsigned mutator = r->id == RECORD_ROOT_OF ? *bytes++ % PROGRAM_MUTATORS : 0;
    unsigned slot = bytes[0] % PROGRAM_SLOTS;
    d->p->roots[mutator][slot] = read_heap_value(d, bytes[1]);
    d->roots[mutator] |= UINT32_C(1) << slot;
}

/* Most high bytes stay near the default, where collectors meet their limits soonest. */
static void read_config(struct program *p, const uint8_t *bytes, unsigned version) {
    bool later = bytes[0] >= KEYS_LATER && version >= VERSION_SCHEDULES;
    unsigned key = later ? KEYS_FIRST + bytes[0] - KEYS_LATER : bytes[0] % KEYS_FIRST;
    unsigned low = bytes[1], high = bytes[2];
    const struct config_range *range = &config_ranges[key];
    unsigned soft = low % (range->soft_max - range->min + 1u);
    unsigned whole = ((high & 0x1f) << 8 | low) % (range->max - range->min + 1u);
    p->config[key] = (range->min + (high < CONFIG_WHOLE ? soft : whole));
}

static void read_wide(struct decoder *d, const uint8_t *bytes) {
    if (d->n_wide == RECORD_WIDES)
        return;
    struct wide *wide = &d->wide[d->n_wide++];
    bool atom = bytes[0] >= WIDE_ATOM && d->version >= VERSION_ATOMS;
    bool address = bytes[0] >= WIDE_ADDRESS && d->version >= VERSION_ADDRESSES && !atom;
    d->addresses |= address;
    wide->kind = atom ? VALUE_ATOM : address ? VALUE_ADDRESS : bytes[0] % (VALUE_SLOT + 1);
    wide->payload = 0;
    for (unsigned i = 0; i < 8; i++)
        wide->payload |= (uint64_t)bytes[1 + i] << 8 * i;
}

/* Prefixes gather; any other record uses them up, whether it has a use for them or not. */
static void read_record(struct decoder *d, const struct record *r, const uint8_t *bytes) {
    switch (r->section) {
    case SECTION_WIDE:
        read_wide(d, bytes);
        return;
    case SECTION_STATIC:
        d->is_static = true;
        return;
    case SECTION_MUTATOR:
        d->mutator = bytes[0] % PROGRAM_MUTATORS;
        return;
    case SECTION_SCRIPT:
        read_op(d, r, bytes);
        break;
    case SECTION_HEAP:
        read_item(d, r, bytes);
        break;
    case SECTION_FIELD:
        read_field(d, bytes);
        break;
    case SECTION_ROOT:
        read_root(d, r, bytes);
        break;
    default:
        if (d->is_static && d->version >= VERSION_SWITCHES)
            read_switch(d, bytes);
        else
            read_config(d->p, bytes, d->version);
        break;
    }
    if (d->n_wide || d->mutator || d->is_static) { /* rare */
        d->n_wide = d->next_wide = d->mutator = 0;
        d->is_static = false;
    }
}

static void read_records(struct decoder *d, const uint8_t *data, size_t size) {
    uint8_t padded[RECORD_OPERANDS];
    for (size_t at = 0; at < size;) {
        const struct record *r = &records[record_of_opcode[data[at++]]];
        const uint8_t *bytes = data + at;
        if (size - at < r->length) { /* truncated: missing operands read as 0 */
            memset(padded, 0, sizeof padded);
            memcpy(padded, data + at, size - at);
            bytes = padded;
        }
        read_record(d, r, bytes);
        at += r->length;
    }
}

/* ---- fix-up ---------------------------------------------------------------------------------- */

/* The only place where references meet blocks.  to_static: a static block points at others only. */
static void resolve(const struct named_blocks *named, struct value *v, bool to_static) {
    if (!value_names_block(v))
        return;
    if (v->block >= named->count)
        v->block = named->count ? (uint16_t)(v->block % named->count) : 0;
    const struct item *item = named->count ? named_block(named, v->block) : NULL;
    if (item && v->kind == VALUE_ADDRESS)
        return;
    if (!item || (to_static && !item->is_static)) {
        *v = (struct value){.kind = VALUE_IMMEDIATE};
    } else if (v->kind == VALUE_INFIX && item->functions > 1) {
        unsigned entry = 1 + (v->offset + item->functions - 2u) % (item->functions - 1u);
        v->offset = (uint16_t)closure_entry_offset(entry, item->arity);
    } else {
        v->kind = VALUE_BLOCK;
        v->offset = 0;
    }
}

static void resolve_all(struct decoder *d) {
    struct program *p = d->p;
    struct named_blocks named;
    named_blocks_find(&named, p);
    for (unsigned i = 0; i < p->n_items; i++) {
        const struct item *item = &p->items[i];
        if (item->kind > ITEM_CLOSURE && !(d->addresses && item->kind == ITEM_RAW))
            continue;
        for (unsigned f = 0; f < item->n_fields; f++)
            resolve(&named, &p->fields[item->first_field + f], item->is_static);
    }
    for (unsigned m = 0; m < PROGRAM_MUTATORS; m++)
        for (unsigned r = 0; d->roots[m] && r < PROGRAM_SLOTS; r++)
            if (d->roots[m] >> r & 1)
                resolve(&named, &p->roots[m][r], false);
}

/* Sets all but d->wide, most of which no input uses. */
static void start(struct decoder *d, struct program *p, unsigned version) {
    program_clear(p);
    d->p = p;
    d->version = version;
    d->n_wide = d->next_wide = d->mutator = 0;
    d->is_static = d->addresses = false;
    d->words[false] = d->words[true] = 0;
    d->last = NULL;
    for (unsigned m = 0; m < PROGRAM_MUTATORS; m++)
        d->roots[m] = 0;
}

void program_decode_version(struct program *p, const uint8_t *data, size_t size, unsigned version) {
    struct decoder d;
    start(&d, p, version);
    read_records(&d, data, size);
    resolve_all(&d);
    if (p->config[CONFIG_HEAP] < d.words[false])
        p->config[CONFIG_HEAP] = d.words[false];
}

void program_decode(struct program *p, const uint8_t *data, size_t size) {
    program_decode_version(p, data, size, PROGRAM_BYTES_VERSION);
}
