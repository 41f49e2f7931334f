/* SPDX-License-Identifier: MIT
 *
 * The operators (mutants.h) at one node of the tree: what may stand there instead.
 *
 * A condition that is a comparison is not negated as well, since another comparison of the table
 * does that; nor is anything done with what a macro decides when the collector is compiled.
 */
#define _GNU_SOURCE
#include "cli/mutants/sites.h"

#include <stdlib.h>
#include <string.h>

/* ---- tables -----------------------------------------------------------------------------------
 */

const char *operator_name(enum mutant_operator o) {
    static const char *const names[] = {
#define X(name, meaning) #name,
        MUTANT_OPERATORS(X)
#undef X
    };
    return names[o];
}

const char *operator_meaning(enum mutant_operator o) {
    static const char *const meanings[] = {
#define X(name, meaning) meaning,
        MUTANT_OPERATORS(X)
#undef X
    };
    return meanings[o];
}

/* An operator between two operands, and one that may stand in its place. */
static const struct {
    const char *from, *to;
    enum mutant_operator op;
} swaps[] = {
    {"<", "<=", OPERATOR_relational},  {"<", ">=", OPERATOR_relational},
    {"<=", "<", OPERATOR_relational},  {"<=", ">", OPERATOR_relational},
    {">", ">=", OPERATOR_relational},  {">", "<=", OPERATOR_relational},
    {">=", ">", OPERATOR_relational},  {">=", "<", OPERATOR_relational},
    {"==", "!=", OPERATOR_relational}, {"!=", "==", OPERATOR_relational},
    {"+", "-", OPERATOR_arithmetic},   {"-", "+", OPERATOR_arithmetic},
    {"*", "/", OPERATOR_arithmetic},   {"/", "*", OPERATOR_arithmetic},
    {"%", "/", OPERATOR_arithmetic},   {"+=", "-=", OPERATOR_arithmetic},
    {"-=", "+=", OPERATOR_arithmetic}, {"*=", "/=", OPERATOR_arithmetic},
    {"/=", "*=", OPERATOR_arithmetic}, {"&", "|", OPERATOR_bitwise},
    {"|", "&", OPERATOR_bitwise},      {"^", "|", OPERATOR_bitwise},
    {"<<", ">>", OPERATOR_bitwise},    {">>", "<<", OPERATOR_bitwise},
    {"&=", "|=", OPERATOR_bitwise},    {"|=", "&=", OPERATOR_bitwise},
    {"^=", "|=", OPERATOR_bitwise},    {"<<=", ">>=", OPERATOR_bitwise},
    {">>=", "<<=", OPERATOR_bitwise},  {"&&", "||", OPERATOR_logical},
    {"||", "&&", OPERATOR_logical},
};
enum { SWAPS = sizeof swaps / sizeof *swaps };

/* ---- what a node is ---------------------------------------------------------------------------
 */

static const struct ast_node *bare(const struct ast_node *n) {
    while (n->first && (n->kind == AST_ParenExpr || n->kind == AST_ImplicitCastExpr))
        n = n->first;
    return n;
}

static bool is_fixed(const struct ast_node *n) {
    if (n->kind == AST_DeclRefExpr)
        return ast_is(n->refers, "EnumConstantDecl");
    for (const struct ast_node *c = n->first; c; c = c->next)
        if (!is_fixed(c))
            return false;
    return n->first || n->kind == AST_IntegerLiteral || n->kind == AST_UnaryExprOrTypeTraitExpr;
}

/* Its value is known when the collector is compiled; or that of one side of an && or || is. */
static bool is_decided(const struct ast_node *n) {
    n = bare(n);
    if (is_fixed(n))
        return true;
    if (n->kind == AST_BinaryOperator && (ast_is(n->opcode, "&&") || ast_is(n->opcode, "||")))
        return is_decided(n->first) || is_decided(n->first->next);
    return n->kind == AST_UnaryOperator && ast_is(n->opcode, "!") && is_decided(n->first);
}

static bool is_comparison(const struct ast_node *n) {
    n = bare(n);
    if (n->kind == AST_UnaryOperator)
        return ast_is(n->opcode, "!");
    for (unsigned i = 0; n->kind == AST_BinaryOperator && i < SWAPS; i++)
        if (swaps[i].op == OPERATOR_relational && ast_is(n->opcode, swaps[i].from))
            return true;
    return false;
}

static struct ast_text type_of(const struct ast_node *n) {
    return n->true_type.length ? n->true_type : n->type;
}

static bool is_pointer_type(const struct ast_node *n) {
    return ast_has(type_of(n), "*") || ast_has(type_of(n), "[");
}

static bool is_truth(const struct ast_node *n) {
    return ast_is(type_of(n), "_Bool") || ast_is(type_of(n), "bool") ||
           ast_is(type_of(n), "const _Bool");
}

static bool is_number(const struct ast_node *n) {
    static const char *const words[] = {"int", "long", "short", "char", "enum "};
    bool one = false;
    for (unsigned i = 0; i < sizeof words / sizeof *words; i++)
        one |= ast_has(type_of(n), words[i]);
    return one && !is_pointer_type(n) && !ast_has(type_of(n), "struct ") &&
           !ast_has(type_of(n), "union ");
}

/* ---- one node ---------------------------------------------------------------------------------
 */

static char *cut(const struct text_file *f, size_t from, size_t to) {
    return strndup(f->text + from, to - from);
}

/* A mutant that has the text `left middle right` in the place of the view; left and right are
 * ranges of the file, in brackets, or empty. */
struct pieces {
    size_t left, left_end, right, right_end;
};
static void replace(struct site_walk *w, const struct site_view *v, enum mutant_operator o,
                    size_t at, const struct pieces *p, const char *middle) {
    const struct text_file *f = &w->mutants->files[v->file];
    char *left = cut(f, p->left, p->left_end), *right = cut(f, p->right, p->right_end);
    char *code = NULL, *after = NULL;
    bool one = p->left == p->left_end || p->right == p->right_end;
    if (left && right &&
        asprintf(&code, one ? "%s%s%s" : "(%s) %s (%s)", left, middle, right) > 0 &&
        asprintf(&after, one ? "%s%s%s" : "%s %s %s", left, middle, right) > 0)
        add_site(w, v, o, at, code, after);
    free(left);
    free(right);
    free(code);
    free(after);
}

static void only(struct site_walk *w, const struct site_view *v, size_t at,
                 const struct site_view *side) {
    struct pieces p = {side->start, side->end, side->end, side->end};
    replace(w, v, OPERATOR_logical, at, &p, "");
}

/* Where the operator stands between two operands; 0: it is not to be seen. */
static size_t operator_between(struct site_walk *w, const struct ast_node *n, struct site_view *l,
                               struct site_view *r) {
    const struct ast_node *a = n->first, *b = a ? a->next : NULL;
    if (!a || !b || !view_of(w, a, l) || !view_of(w, b, r) || l->file != r->file)
        return 0;
    const struct text_file *f = &w->mutants->files[l->file];
    size_t at = skip_blank(f, l->end, r->start);
    bool there = at + n->opcode.length <= r->start &&
                 memcmp(f->text + at, n->opcode.start, n->opcode.length) == 0;
    return there && skip_blank(f, at + n->opcode.length, r->start) == r->start ? at : 0;
}

/* p + n may be p - n, but not n + p, nor p - q. */
static bool suits(const struct ast_node *n, const char *to) {
    bool sum = to[0] == '-' || to[0] == '+';
    return !sum || !is_pointer_type(n->first->next);
}

void mutate_binary(struct site_walk *w, const struct ast_node *n) {
    struct site_view v, l, r;
    bool logical = ast_is(n->opcode, "&&") || ast_is(n->opcode, "||");
    if (ast_is(n->opcode, "=") || ast_is(n->opcode, ",") || !is_ours(w, n))
        return;
    if (logical && (is_decided(n->first) || is_decided(n->first->next))) {
        w->mutants->left_out.switches++;
        return;
    }
    size_t at = operator_between(w, n, &l, &r);
    if (!at || !view_of(w, n, &v) || v.start != l.start || v.end != r.end) {
        w->mutants->left_out.macros++;
        return;
    }
    struct pieces sides = {l.start, l.end, r.start, r.end};
    for (unsigned i = 0; i < SWAPS; i++)
        if (ast_is(n->opcode, swaps[i].from) && suits(n, swaps[i].to))
            replace(w, &v, swaps[i].op, at, &sides, swaps[i].to);
    if (logical) {
        only(w, &v, at, &l);
        only(w, &v, at, &r);
    }
}

/* An operator with one operand becomes `to`. */
static void mutate_prefix(struct site_walk *w, const struct ast_node *n, enum mutant_operator o,
                          const char *to) {
    struct site_view v, operand;
    if (!view_of(w, n, &v) || !view_of(w, n->first, &operand)) {
        w->mutants->left_out.macros++;
        return;
    }
    struct pieces rest = {v.start, v.start, operand.start, operand.end};
    struct pieces front = {operand.start, operand.end, v.end, v.end};
    replace(w, &v, o, n->postfix ? operand.end : v.start, n->postfix ? &front : &rest, to);
}

void mutate_unary(struct site_walk *w, const struct ast_node *n) {
    if (!is_ours(w, n))
        return;
    if (ast_is(n->opcode, "!") && is_decided(n->first))
        w->mutants->left_out.switches++;
    else if (ast_is(n->opcode, "!"))
        mutate_prefix(w, n, OPERATOR_condition, "");
    else if (ast_is(n->opcode, "~"))
        mutate_prefix(w, n, OPERATOR_bitwise, "");
    else if (ast_is(n->opcode, "-") && bare(n->first)->kind != AST_IntegerLiteral)
        mutate_prefix(w, n, OPERATOR_arithmetic, "");
    else if (ast_is(n->opcode, "++"))
        mutate_prefix(w, n, OPERATOR_arithmetic, "--");
    else if (ast_is(n->opcode, "--"))
        mutate_prefix(w, n, OPERATOR_arithmetic, "++");
}

void mutate_number(struct site_walk *w, const struct ast_node *n) {
    struct site_view v;
    if (!is_ours(w, n))
        return;
    if (view_of_macro(w, n, &v)) {
        const char *text = w->mutants->files[v.file].text + v.start;
        bool yes = v.end - v.start == 4 && memcmp(text, "true", 4) == 0;
        bool no = v.end - v.start == 5 && memcmp(text, "false", 5) == 0;
        if (yes || no)
            add_site(w, &v, OPERATOR_constant, v.start, yes ? "0" : "1", yes ? "false" : "true");
        else
            w->mutants->left_out.macros++;
        return;
    }
    if (!view_of(w, n, &v)) {
        w->mutants->left_out.macros++;
        return;
    }
    struct pieces number = {v.start, v.end, v.end, v.end};
    replace(w, &v, OPERATOR_constant, v.start, &number, " + 1");
    replace(w, &v, OPERATOR_constant, v.start, &number, " - 1");
}

void mutate_condition(struct site_walk *w, const struct ast_node *n) {
    struct site_view v;
    if (!is_ours(w, n) || is_comparison(n))
        return;
    if (is_decided(n)) {
        w->mutants->left_out.switches++;
    } else if (!view_of(w, n, &v)) {
        w->mutants->left_out.macros++;
    } else {
        char *text = cut(&w->mutants->files[v.file], v.start, v.end), *code = NULL;
        if (text && asprintf(&code, "!(%s)", text) > 0)
            add_site(w, &v, OPERATOR_condition, v.start, code, code);
        free(text);
        free(code);
    }
}

/* true and false are numbers, and comparisons have others in their place. */
void mutate_result(struct site_walk *w, const struct ast_node *n) {
    const struct ast_node *value = n->first;
    struct site_view v;
    if (!value || !is_ours(w, n) || ast_is(value->cast, "NullToPointer") ||
        bare(value)->kind == AST_IntegerLiteral)
        return;
    bool truth = is_truth(value);
    if (truth) {
        mutate_condition(w, value);
        return;
    }
    if (!is_pointer_type(value) && !is_number(value))
        return;
    if (!view_of(w, value, &v))
        w->mutants->left_out.macros++;
    else
        add_site(w, &v, OPERATOR_result, v.start, "0", is_pointer_type(value) ? "NULL" : "0");
}
