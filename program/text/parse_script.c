/* SPDX-License-Identifier: MIT
 *
 * The parser's script section: one operation a line.
 */
#include "program/text/parser.h"

#include <string.h>

/* ---- operands -------------------------------------------------------------------------------- */

static bool parse_count(struct parser *ps, const struct op *op, const char *what, uint16_t *count) {
    unsigned number;
    if (!lexer_number(&ps->lexer, what, 0, op_shapes[op->code].max_n, &number))
        return false;
    *count = (uint16_t)number;
    return true;
}

static bool parse_index(struct parser *ps, const char *what, uint16_t max, uint16_t *index) {
    unsigned number;
    if (!lexer_number(&ps->lexer, what, 0, max, &number))
        return false;
    *index = (uint16_t)number;
    return true;
}

/* rN.I */
static bool parse_place(struct parser *ps, uint16_t max, uint8_t *slot, uint16_t *index) {
    return parse_slot(ps, slot) && lexer_expect(&ps->lexer, ".") &&
           parse_index(ps, "a field", max, index);
}

static bool parse_assigned_value(struct parser *ps, struct op *op) {
    op->n_values = 1;
    return lexer_expect(&ps->lexer, ":=") && parse_value(ps, CONTEXT_SCRIPT, &op->values[0]);
}

/* ---- operations that begin with a word ------------------------------------------------------- */

static bool parse_write(struct parser *ps, struct op *op) {
    const struct op_shape *shape = &op_shapes[op->code];
    if (!parse_place(ps, shape->max_i, &op->dst, &op->i))
        return false;
    if (op->code == OP_EPHE_UNSET)
        return true;
    if (op->code == OP_FILL &&
        !(lexer_expect(&ps->lexer, ",") && parse_count(ps, op, "a count", &op->n)))
        return false;
    return parse_assigned_value(ps, op);
}

static bool parse_blit(struct parser *ps, struct op *op) {
    const struct op_shape *shape = &op_shapes[op->code];
    return parse_place(ps, shape->max_i, &op->src, &op->i) && lexer_expect(&ps->lexer, "->") &&
           parse_place(ps, shape->max_j, &op->dst, &op->j) && lexer_expect(&ps->lexer, ",") &&
           parse_count(ps, op, "a count", &op->n);
}

static bool parse_read(struct parser *ps, struct op *op) {
    return parse_place(ps, op_shapes[OP_READ].max_i, &op->src, &op->i);
}

static bool parse_drop(struct parser *ps, struct op *op) {
    return parse_slot(ps, &op->dst);
}

/* rN, COUNT */
static bool parse_slot_and_count(struct parser *ps, struct op *op) {
    return parse_slot(ps, &op->dst) && lexer_expect(&ps->lexer, ",") &&
           parse_count(ps, op, "a count", &op->n);
}

static bool parse_forward(struct parser *ps, struct op *op) {
    return parse_slot(ps, &op->dst) && parse_assigned_value(ps, op);
}

static bool parse_measure(struct parser *ps, struct op *op) {
    return parse_slot(ps, &op->src);
}

static bool parse_slice(struct parser *ps, struct op *op) {
    if (ps->lexer.token.kind == TOKEN_LINE || ps->lexer.token.kind == TOKEN_END)
        return true;
    return parse_count(ps, op, "a budget", &op->n);
}

static bool parse_kind_number(struct parser *ps, struct op *op) {
    return parse_count(ps, op, "a collector kind", &op->n);
}

static bool parse_nothing(struct parser *ps, struct op *op) {
    (void)ps;
    (void)op;
    return true;
}

/* Their words are the names in op_shapes. */
static const struct {
    uint8_t code;
    bool (*parse)(struct parser *, struct op *);
} statements[] = {
    {OP_INIT, parse_write},
    {OP_FILL, parse_write},
    {OP_BLIT, parse_blit},
    {OP_READ, parse_read},
    {OP_DROP, parse_drop},
    {OP_MINOR, parse_nothing},
    {OP_SLICE, parse_slice},
    {OP_FULL, parse_nothing},
    {OP_COMPACT, parse_nothing},
    {OP_KIND, parse_kind_number},
    {OP_POLL, parse_nothing},
    {OP_EPHE_SET, parse_write},
    {OP_EPHE_UNSET, parse_write},
    {OP_EPHE_BLIT, parse_blit},
    {OP_FORWARD, parse_forward},
    {OP_TRUNCATE, parse_slot_and_count},
    {OP_FINALISE, parse_slot_and_count},
    {OP_MEASURE, parse_measure},
};

/* ---- operations that begin with a slot ------------------------------------------------------- */

static bool parse_allocation(struct parser *ps, struct op *op, enum op_code code,
                             enum shape_kind kind) {
    struct shape shape;
    op->code = (uint8_t)code;
    if (!parse_shape(ps, kind, true, &shape, op->values, PROGRAM_VALUES))
        return false;
    op->tag = shape.tag;
    op->functions = shape.functions;
    memcpy(op->arity, shape.arity, sizeof op->arity);
    op->size = (uint16_t)shape.size;
    op->n_values = (uint8_t)shape.n_values;
    return true;
}

static bool parse_infix(struct parser *ps, struct op *op) {
    op->code = OP_INFIX;
    return parse_slot(ps, &op->src) &&
           parse_index(ps, "an entry", op_shapes[OP_INFIX].max_i, &op->i);
}

/* rN or rN.I */
static bool parse_copy_or_load(struct parser *ps, struct op *op) {
    uint8_t slot;
    if (!parse_slot(ps, &slot))
        return false;
    if (lexer_accept(&ps->lexer, ".")) {
        op->code = OP_LOAD;
        op->src = slot;
        return parse_index(ps, "a field", op_shapes[OP_LOAD].max_i, &op->i);
    }
    op->code = OP_SET;
    op->n_values = 1;
    op->values[0] = (struct value){.kind = VALUE_SLOT, .block = slot};
    return true;
}

static bool parse_marshal(struct parser *ps, struct op *op) {
    op->code = OP_MARSHAL;
    if (!parse_slot(ps, &op->src))
        return false;
    return ps->lexer.token.kind != TOKEN_NUMBER || parse_count(ps, op, "a choice", &op->n);
}

static bool parse_build(struct parser *ps, struct op *op, unsigned shape) {
    op->code = OP_BUILD;
    op->i = (uint16_t)shape;
    op->n_values = 1;
    return parse_count(ps, op, "a number of blocks", &op->n) &&
           parse_value(ps, CONTEXT_SCRIPT, &op->values[0]);
}

/* What a runtime has; *seen: the right side is one of these. */
static bool parse_runtime(struct parser *ps, struct op *op, bool *seen) {
    struct lexer *lexer = &ps->lexer;
    *seen = true;
    for (unsigned shape = 0; shape < BUILD_SHAPES; shape++)
        if (lexer_accept(lexer, build_names[shape]))
            return parse_build(ps, op, shape);
    if (lexer_accept(lexer, "marshal"))
        return parse_marshal(ps, op);
    if (lexer_accept(lexer, "weak")) {
        op->code = OP_EPHE_GET;
        return parse_place(ps, op_shapes[OP_EPHE_GET].max_i, &op->src, &op->i);
    }
    *seen = lexer_sees(lexer, "ephemeron") || lexer_sees(lexer, "resource");
    if (!*seen)
        return false;
    op->code = lexer_accept(lexer, "ephemeron") ? OP_EPHEMERON : OP_RESOURCE;
    if (op->code == OP_RESOURCE)
        lexer_next(lexer);
    return parse_count(ps, op, "a count", &op->n);
}

/* After "rN =". */
static bool parse_right_side(struct parser *ps, struct op *op) {
    struct lexer *lexer = &ps->lexer;
    unsigned number;
    bool seen;
    bool parsed = parse_runtime(ps, op, &seen);
    if (seen)
        return parsed;
    if (lexer_accept(lexer, "alloc"))
        return parse_allocation(ps, op, OP_ALLOC, SHAPE_ORDINARY);
    if (lexer_accept(lexer, "closure"))
        return parse_allocation(ps, op, OP_ALLOC_CLOSURE, SHAPE_CLOSURE);
    if (raw_tag_seen(lexer))
        return parse_allocation(ps, op, OP_ALLOC_RAW, SHAPE_RAW);
    if (lexer_accept(lexer, "infix"))
        return parse_infix(ps, op);
    if (lexer_accept(lexer, "exhaust")) {
        op->code = OP_EXHAUST;
        return parse_count(ps, op, "a number of words", &op->n);
    }
    if (lexer_sees_name(lexer, 'r', &number))
        return parse_copy_or_load(ps, op);
    if (lexer->token.kind == TOKEN_NUMBER || lexer_sees(lexer, "out")) {
        op->code = OP_SET;
        op->n_values = 1;
        return parse_value(ps, CONTEXT_SCRIPT, &op->values[0]);
    }
    return lexer_expected(lexer, "alloc, closure, string or another raw block, infix, exhaust, "
                                 "list, ephemeron or another call, a field such as r0.1, or a "
                                 "value");
}

static bool parse_slot_statement(struct parser *ps, struct op *op) {
    if (!parse_slot(ps, &op->dst))
        return false;
    if (lexer_accept(&ps->lexer, "="))
        return parse_right_side(ps, op);
    if (!lexer_accept(&ps->lexer, "."))
        return lexer_expected(&ps->lexer, "'=' or '.'");
    op->code = OP_STORE;
    return parse_index(ps, "a field", op_shapes[OP_STORE].max_i, &op->i) &&
           parse_assigned_value(ps, op);
}

/* ---- the section ----------------------------------------------------------------------------- */

static bool parse_statement(struct parser *ps, struct op *op) {
    unsigned number;
    for (unsigned s = 0; s < sizeof statements / sizeof *statements; s++) {
        if (!lexer_accept(&ps->lexer, op_shapes[statements[s].code].name))
            continue;
        op->code = statements[s].code;
        return statements[s].parse(ps, op);
    }
    if (lexer_sees_name(&ps->lexer, 'r', &number))
        return parse_slot_statement(ps, op);
    return lexer_expected(&ps->lexer, "an operation (r0 = ..., r0.1 := ..., init, blit, fill, "
                                      "read, drop, minor, slice, full, compact, kind, poll, weak "
                                      "or another call)");
}

static bool parse_op(struct parser *ps) {
    struct program *p = ps->p;
    unsigned mutator;
    if (p->n_ops == PROGRAM_OPS)
        return lexer_fail(&ps->lexer, &ps->lexer.token,
                          "too many operations: a script has at most %d", PROGRAM_OPS);
    struct op *op = &p->ops[p->n_ops];
    *op = (struct op){0};
    if (!parse_mutator(ps, &mutator))
        return false;
    op->mutator = (uint8_t)mutator;
    if (!parse_statement(ps, op) || !lexer_expect_line_end(&ps->lexer))
        return false;
    p->n_ops++;
    return true;
}

bool parse_script(struct parser *ps) {
    while (!at_section_end(ps))
        if (!parse_op(ps))
            return false;
    return true;
}
