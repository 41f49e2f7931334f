/* SPDX-License-Identifier: MIT
 *
 * The parser's script section: one operation a line.
 *
 * A word leads to the operation whose form (operations.def) begins with it; the rest of the line is
 * read along the form.  Three have no word: `r0 = r1`, `r0 = r1.2` and `r0.1 := 2`.
 */
#include "program/text/form.h"
#include "program/text/parser.h"

#include <string.h>

/* ---- operands -------------------------------------------------------------------------------- */

static bool parse_number(struct parser *ps, const char *what, uint16_t max, uint16_t *number) {
    unsigned read;
    if (!lexer_number(&ps->lexer, what, 0, max, &read))
        return false;
    *number = (uint16_t)read;
    return true;
}

static bool parse_assigned_value(struct parser *ps, struct op *op) {
    op->n_values = 1;
    return parse_value(ps, CONTEXT_SCRIPT, &op->values[0]);
}

static bool parse_choice(struct parser *ps, struct op *op, const char *form) {
    size_t length;
    const char *word;
    for (uint16_t choice = 0; (word = form_choice(form, choice, &length)); choice++) {
        if (!lexer_sees_text(&ps->lexer, word, length))
            continue;
        op->i = choice;
        lexer_next(&ps->lexer);
        return true;
    }
    return lexer_expected(&ps->lexer, "another word"); /* the first one led here */
}

static bool at_line_end(const struct parser *ps) {
    return ps->lexer.token.kind == TOKEN_LINE || ps->lexer.token.kind == TOKEN_END;
}

static bool parse_allocation(struct parser *ps, struct op *op, enum shape_kind kind) {
    struct shape shape;
    if (!parse_shape(ps, kind, true, &shape, op->values, PROGRAM_VALUES))
        return false;
    op->tag = shape.tag;
    op->functions = shape.functions;
    memcpy(op->arity, shape.arity, sizeof op->arity);
    op->size = (uint16_t)shape.size;
    op->n_values = (uint8_t)shape.n_values;
    return true;
}

/* The operand that the form has at `at`.  Tag and arities take the rest of the form with them. */
static bool parse_operand(struct parser *ps, struct op *op, const char *at) {
    const struct op_shape *shape = &op_shapes[op->code];
    switch (*at) {
    case 'd':
        return parse_slot(ps, &op->dst);
    case 's':
        return parse_slot(ps, &op->src);
    case 'i':
        return at[1] == '<' ? parse_choice(ps, op, at)
                            : parse_number(ps, shape->i, shape->max_i, &op->i);
    case 'j':
        return parse_number(ps, shape->i, shape->max_j, &op->j);
    case 'n':
        return (at[1] == '?' && at_line_end(ps)) ||
               parse_number(ps, shape->n, shape->max_n, &op->n);
    case 'v':
        return parse_assigned_value(ps, op);
    case 't':
        return parse_allocation(ps, op, SHAPE_ORDINARY);
    case 'a':
        return parse_allocation(ps, op, SHAPE_CLOSURE);
    default:
        return parse_allocation(ps, op, SHAPE_RAW);
    }
}

static const char *after_operand(const char *at) {
    if (strchr("taT", *at))
        return "";
    if (at[1] == '<')
        return strchr(at, '>') + 1;
    return at[1] == '?' ? at + 2 : at + 1;
}

/* The operation's text from `at` on in its form. */
static bool parse_form(struct parser *ps, struct op *op, const char *at) {
    while (*at) {
        if (*at == ' ') {
            at++;
        } else if (form_is_operand(at)) {
            if (!parse_operand(ps, op, at))
                return false;
            at = after_operand(at);
        } else { /* a sign; a word leads a form and has been passed */
            char sign[4] = "";
            size_t length = strcspn(at, " dsijnv");
            memcpy(sign, at, length);
            if (!lexer_expect(&ps->lexer, sign))
                return false;
            at += length;
        }
    }
    return true;
}

/* ---- which operation --------------------------------------------------------------------------
 */

/* Does the next token lead this form, as a word or as one of a choice of words? */
static bool leads(const struct lexer *lexer, const char *form) {
    size_t length;
    if (form[1] != '<')
        return form[0] == lexer->token.text[0] && !form_is_operand(form) &&
               lexer_sees_text(lexer, form, strcspn(form, " "));
    for (unsigned choice = 0;; choice++) {
        const char *word = form_choice(form, choice, &length);
        if (!word || lexer_sees_text(lexer, word, length))
            return word;
    }
}

static const char assignment[] = "d = ";
enum { ASSIGNMENT = sizeof assignment - 1 };

/* Finds the operation that the next token leads, behind "rN =" or at the beginning of a line; *rest
 * is what follows that word in its form.  False: none. */
static bool find_operation(struct parser *ps, bool assigned, struct op *op, const char **rest) {
    if (ps->lexer.token.kind != TOKEN_WORD)
        return false;
    for (unsigned code = 0; code < OP_CODES; code++) {
        const char *form = op_shapes[code].form;
        bool assigns = form[0] == assignment[0] && form[2] == assignment[2];
        if (assigns != assigned)
            continue;
        form += assigned ? ASSIGNMENT : 0;
        if (!leads(&ps->lexer, form))
            continue;
        op->code = (uint8_t)code;
        *rest = form;
        if (form[1] != '<') {
            lexer_next(&ps->lexer);
            *rest = form + strcspn(form, " ");
        }
        return true;
    }
    return false;
}

/* rN or rN.I */
static bool parse_copy_or_load(struct parser *ps, struct op *op) {
    uint8_t slot;
    if (!parse_slot(ps, &slot))
        return false;
    if (lexer_sees(&ps->lexer, ".")) {
        op->code = OP_LOAD;
        op->src = slot;
        return parse_form(ps, op, strchr(op_shapes[OP_LOAD].form, '.'));
    }
    op->code = OP_SET;
    op->n_values = 1;
    op->values[0] = (struct value){.kind = VALUE_SLOT, .block = slot};
    return true;
}

/* After "rN =". */
static bool parse_right_side(struct parser *ps, struct op *op) {
    struct lexer *lexer = &ps->lexer;
    const char *rest;
    unsigned number;
    if (lexer_sees_name(lexer, 'r', &number))
        return parse_copy_or_load(ps, op);
    if (find_operation(ps, true, op, &rest))
        return parse_form(ps, op, rest);
    if (raw_tag_seen(lexer)) {
        op->code = OP_ALLOC_RAW;
        return parse_allocation(ps, op, SHAPE_RAW);
    }
    if (lexer->token.kind == TOKEN_NUMBER || lexer_sees(lexer, "out") ||
        lexer_sees(lexer, "atom") || lexer_sees(lexer, "&") || lexer_sees(lexer, "&&")) {
        op->code = OP_SET;
        return parse_assigned_value(ps, op);
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
    if (!lexer_sees(&ps->lexer, "."))
        return lexer_expected(&ps->lexer, "'=' or '.'");
    op->code = OP_STORE;
    return parse_form(ps, op, strchr(op_shapes[OP_STORE].form, '.'));
}

/* ---- the section ----------------------------------------------------------------------------- */

static bool parse_statement(struct parser *ps, struct op *op) {
    const char *rest;
    unsigned number;
    if (lexer_sees_name(&ps->lexer, 'r', &number))
        return parse_slot_statement(ps, op);
    if (find_operation(ps, false, op, &rest))
        return parse_form(ps, op, rest);
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
