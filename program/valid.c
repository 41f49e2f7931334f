/* SPDX-License-Identifier: MIT
 *
 * program_valid: does a program keep every rule of program.h?
 *
 * Each check returns NULL or the sentence that names the broken rule.  The decoder and the parser
 * never need it, since what they yield is valid; tests, targets and hand-written generators do.
 */
#include "program/named.h"
#include "program/program.h"

/* ---- values ---------------------------------------------------------------------------------- */

static const char *atom_valid(const struct value *v) {
    if (v->block != 0 || v->offset != 0)
        return "an integer, word or outside value has a block or an offset";
    if (v->kind == VALUE_IMMEDIATE && v->bits != immediate_bits(v->bits))
        return "an immediate does not fit into 63 bits";
    if (v->kind == VALUE_OUTSIDE && !outside_is_legal(v->bits))
        return "an outside value is odd, or may be an address, or lies too far beside the heap";
    if (v->kind == VALUE_ATOM && (v->bits > UINT8_MAX || !tag_is_atom((unsigned)v->bits)))
        return "no block without fields has the tag of an atom";
    return NULL;
}

static const char *pointer_valid(const struct named_blocks *named, const struct value *v) {
    if (v->bits != 0)
        return "a pointer has bits";
    if (v->block >= named->count)
        return "a pointer names a block that does not exist";
    if (v->kind == VALUE_BLOCK)
        return v->offset == 0 ? NULL : "a block pointer has an offset";
    if (v->kind == VALUE_EACH)
        return v->offset == 0 ? NULL : "a pointer to each block of an item has an offset";
    if (closure_entry_at(named_block(named, v->block), v->offset) == 0)
        return "an infix pointer's offset is no infix block of its closure";
    return NULL;
}

static const char *address_valid(const struct value *v, bool script, unsigned blocks) {
    if (v->bits > ADDRESS_BITS || v->offset >= PROGRAM_WOSIZE)
        return "an address has bits that mean nothing, or a field beyond the largest block";
    if (address_place(v) == ADDRESS_BLOCK)
        return v->block < blocks ? NULL
                                 : "an address is one of a block or slot that does not exist";
    if (v->block != 0 || v->offset != 0)
        return "an address that is not one of a block has a block or a field";
    return script ? NULL : "an address of the heap section is not one of a block";
}

/* A value of the heap section or a root. */
static const char *heap_value_valid(const struct named_blocks *named, const struct value *v) {
    switch (v->kind) {
    case VALUE_IMMEDIATE:
    case VALUE_OUTSIDE:
    case VALUE_ATOM:
        return atom_valid(v);
    case VALUE_BLOCK:
    case VALUE_INFIX:
        return pointer_valid(named, v);
    case VALUE_ADDRESS:
        return address_valid(v, false, named->count);
    default:
        return "a field or root is no immediate, outside value, atom, address, block or infix "
               "pointer";
    }
}

static const char *word_valid(const struct value *v, bool script, unsigned blocks) {
    if (v->kind == VALUE_ADDRESS)
        return address_valid(v, script, blocks);
    return v->kind == VALUE_RAW ? atom_valid(v) : "a raw block has a value that is no raw word";
}

static const char *script_value_valid(const struct value *v) {
    switch (v->kind) {
    case VALUE_IMMEDIATE:
    case VALUE_OUTSIDE:
    case VALUE_ATOM:
        return atom_valid(v);
    case VALUE_SLOT:
        if (v->block >= PROGRAM_SLOTS)
            return "a value names a slot that does not exist";
        return v->offset == 0 && v->bits == 0 ? NULL : "a slot has an offset or bits";
    case VALUE_ADDRESS:
        return address_valid(v, true, PROGRAM_SLOTS);
    default:
        return "a script value is no immediate, outside value, atom, address or slot";
    }
}

/* ---- heap ------------------------------------------------------------------------------------ */

static const char *functions_valid(unsigned functions, const int8_t *arity) {
    if (functions < 1 || functions > PROGRAM_FUNCTIONS)
        return "a closure has no function or too many";
    for (unsigned f = functions; f < PROGRAM_FUNCTIONS; f++)
        if (arity[f] != 0)
            return "an unused arity is not 0";
    return NULL;
}

static const char *no_functions(unsigned functions, const int8_t *arity) {
    if (functions != 0)
        return "functions without a closure";
    return functions_valid(1, arity) || arity[0] != 0 ? "an unused arity is not 0" : NULL;
}

static const char *closure_valid(const struct item *item) {
    const char *fault = functions_valid(item->functions, item->arity);
    if (fault)
        return fault;
    if (item->tag != PROGRAM_TAG_CLOSURE)
        return "a closure has another tag than 247";
    if (item->wosize != closure_code_words(item->functions, item->arity) + item->n_fields)
        return "a closure's wosize is not its code and environment words";
    return NULL;
}

static const char *gap_valid(const struct item *item) {
    if (item->is_static)
        return "a gap is static";
    if (item->tag != 0 || item->first_field != 0 || item->n_fields != 0)
        return "a gap has a tag or fields";
    if ((item->kind == ITEM_FRAGMENT) != (item->wosize == 0))
        return "a fragment has words or a gap has none";
    return no_functions(item->functions, item->arity);
}

static const char *item_shape_valid(const struct item *item) {
    if (item->wosize > PROGRAM_WOSIZE)
        return "an item is larger than the largest block";
    if (item->address_code && item->more)
        return "closures by count have a code word that is an address";
    if (item->more >= PROGRAM_LARGE_WORDS / (item->wosize + 1u))
        return "an item by count is larger than the largest heap";
    if (item->kind > ITEM_FRAGMENT)
        return "an item has no legal kind";
    if (item->address_code && item->kind != ITEM_CLOSURE)
        return "what is no closure has a code word that is an address";
    if (!item_is_named(item))
        return gap_valid(item);
    if (item->kind == ITEM_CLOSURE)
        return closure_valid(item);
    if (item->wosize == 0 || item->n_fields != item->wosize)
        return "a block has no fields, or not as many as its wosize";
    if (item->kind == ITEM_BLOCK ? !tag_is_ordinary(item->tag) : !tag_is_raw(item->tag))
        return "a block's tag is not legal for its kind";
    if (item->tag == PROGRAM_TAG_DOUBLE && item->wosize != 1)
        return "a double has another size than 1";
    return no_functions(item->functions, item->arity);
}

/* What items by count have alone, and what they alone have not: an address has a number in the
 * model. */
static const char *by_count_valid(const struct item *item, const struct value *v) {
    if (value_is_numbered(v) && item->more)
        return "an item by count has an address, an atom or a word beside the heap";
    if ((v->kind == VALUE_NEXT || v->kind == VALUE_EACH) && !item->more)
        return "a field is the next or each block of items by count, but its own item is one block";
    return NULL;
}

static const char *field_valid(const struct named_blocks *named, const struct item *item,
                               const struct value *v) {
    const char *fault = by_count_valid(item, v);
    if (fault || item->kind == ITEM_RAW)
        return fault ? fault : word_valid(v, false, named->count);
    if (v->kind == VALUE_NEXT)
        return v->block == 0 && v->offset == 0 && v->bits == 0 ? NULL : "a next block has a number";
    return v->kind == VALUE_EACH ? pointer_valid(named, v) : heap_value_valid(named, v);
}

static const char *fields_valid(const struct named_blocks *named, const struct item *item) {
    const struct value *fields = named->program->fields + item->first_field;
    for (unsigned f = 0; f < item->n_fields; f++) {
        const struct value *v = &fields[f];
        const char *fault = field_valid(named, item, v);
        if (fault)
            return fault;
        if (item->is_static && value_is_reference(v) && !named_block(named, v->block)->is_static)
            return "a static block points into the heap";
    }
    return NULL;
}

static const char *heap_valid(const struct program *p) {
    unsigned words[2] = {0, 0}, fields = 0;
    for (unsigned i = 0; i < p->n_items; i++) {
        const struct item *item = &p->items[i];
        const char *fault = item_shape_valid(item);
        if (fault)
            return fault;
        if (item_is_named(item) && item->first_field != fields)
            return "the items' fields do not follow one another in the order of the items";
        fields += item->n_fields;
        words[item->is_static] += item_words(item);
        if (words[item->is_static] > PROGRAM_LARGE_WORDS)
            break;
    }
    if (words[false] > p->config[CONFIG_HEAP])
        return "the items do not fit into the configured heap";
    if (words[true] > PROGRAM_HEAP_WORDS)
        return "the static blocks have too many words";
    if (fields != p->n_fields)
        return "n_fields is not the number of the items' fields";
    return NULL;
}

static const char *references_valid(const struct program *p) {
    static const struct value unit = {.kind = VALUE_IMMEDIATE};
    struct named_blocks named;
    const char *fault = NULL;
    named_blocks_find(&named, p);
    for (unsigned i = 0; i < p->n_items && !fault; i++)
        fault = fields_valid(&named, &p->items[i]);
    for (unsigned m = 0; m < PROGRAM_MUTATORS; m++)
        for (unsigned r = 0; r < PROGRAM_SLOTS && !fault; r++)
            if (!value_equal(&p->roots[m][r], &unit))
                fault = heap_value_valid(&named, &p->roots[m][r]);
    return fault;
}

/* ---- script ---------------------------------------------------------------------------------- */

static const char *op_values_valid(const struct op *op, unsigned operands) {
    if (operands & OPERAND_VALUE ? op->n_values != 1
                                 : op->n_values > (operands & OPERAND_VALUES ? PROGRAM_VALUES : 0))
        return "an operation has the wrong number of values";
    for (unsigned v = 0; v < op->n_values; v++) {
        bool raw = op->code == OP_ALLOC_RAW;
        const char *fault = raw ? word_valid(&op->values[v], true, PROGRAM_SLOTS)
                                : script_value_valid(&op->values[v]);
        if (fault)
            return fault;
    }
    for (unsigned v = op->n_values; v < PROGRAM_VALUES; v++) {
        static const struct value none;
        if (!value_equal(&op->values[v], &none))
            return "an unused value of an operation is not 0";
    }
    return NULL;
}

static const char *op_size_valid(const struct op *op, const struct op_shape *shape) {
    if (!(shape->operands & OPERAND_SIZE))
        return op->size == 0 ? NULL : "an operation without a size has one";
    if (op->size < shape->min_size || op->size > shape->max_size || op->size < op->n_values)
        return "an allocation's size is out of range or below its number of values";
    if (op->tag == PROGRAM_TAG_DOUBLE && op->size != 1)
        return "a double has another size than 1";
    return NULL;
}

static const char *op_tag_valid(const struct op *op, unsigned operands) {
    if (!(operands & OPERAND_TAG))
        return op->tag == 0 ? NULL : "an operation without a tag has one";
    if (op->code == OP_ALLOC_RAW ? tag_is_raw(op->tag) : tag_is_ordinary(op->tag))
        return NULL;
    return "an allocation's tag is not legal for its kind";
}

static const char *op_valid(const struct op *op) {
    if (op->code >= OP_CODES)
        return "an operation has no legal code";
    const struct op_shape *shape = &op_shapes[op->code];
    unsigned operands = shape->operands;
    if (op->mutator >= PROGRAM_MUTATORS)
        return "an operation's mutator does not exist";
    if (op->dst >= (operands & OPERAND_DST ? PROGRAM_SLOTS : 1) ||
        op->src >= (operands & OPERAND_SRC ? PROGRAM_SLOTS : 1))
        return "an operation names a slot that does not exist or that it does not use";
    /* The bounds of operands that an operation does not have are 0 in its shape. */
    if (op->i > shape->max_i || op->j > shape->max_j || op->n > shape->max_n)
        return "an operation's index or count is out of range";
    const char *fault = operands & OPERAND_FUNCTIONS ? functions_valid(op->functions, op->arity)
                                                     : no_functions(op->functions, op->arity);
    if (!fault)
        fault = op_values_valid(op, operands);
    if (!fault)
        fault = op_tag_valid(op, operands);
    return fault ? fault : op_size_valid(op, shape);
}

/* ---- the program ----------------------------------------------------------------------------- */

static const char *switches_valid(const struct program *p) {
    unsigned last = 0;
    if (p->n_switches > PROGRAM_SWITCHES)
        return "there are too many decisions of the schedule";
    for (unsigned i = 0; i < p->n_switches; i++) {
        unsigned at = switch_at(p->switches[i]), choice = switch_choice(p->switches[i]);
        if (at <= last || choice < 1 || choice >= SWITCH_CHOICES)
            return "decisions of the schedule are not in order, or one is the first choice";
        last = at;
    }
    return NULL;
}

const char *program_valid(const struct program *p) {
    for (unsigned k = 0; k < CONFIG_KEYS; k++)
        if (p->config[k] < config_ranges[k].min || p->config[k] > config_ranges[k].largest)
            return "a config value is out of range";
    const char *switches = switches_valid(p);
    if (switches)
        return switches;
    if (p->n_items > PROGRAM_ITEMS || p->n_fields > PROGRAM_FIELDS || p->n_ops > PROGRAM_OPS)
        return "there are too many items, fields or operations";
    const char *fault = heap_valid(p);
    if (!fault)
        fault = references_valid(p);
    for (unsigned i = 0; i < p->n_ops && !fault; i++)
        fault = op_valid(&p->ops[i]);
    return fault;
}
