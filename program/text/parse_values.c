/* SPDX-License-Identifier: MIT
 *
 * The parser's pieces: values, lists, and the shape (tag or arities, size, values) that blocks of
 * the heap section and allocations of the script share.
 */
#include "program/text/parser.h"

#include <stdio.h>

/* ---- single values --------------------------------------------------------------------------- */

static bool parse_immediate(struct parser *ps, struct value *value) {
    const struct token *token = &ps->lexer.token;
    const uint64_t largest = (UINT64_C(1) << 62) - 1 + token->negative;
    if (token->too_large || token->magnitude > largest)
        return lexer_expected(&ps->lexer, "an integer of 63 bits");
    uint64_t bits = token->negative ? ~token->magnitude + 1 : token->magnitude;
    *value = (struct value){.kind = VALUE_IMMEDIATE, .bits = bits};
    lexer_next(&ps->lexer);
    return true;
}

static bool parse_raw_word(struct parser *ps, struct value *value) {
    const struct token *token = &ps->lexer.token;
    if (token->kind != TOKEN_HEX || token->too_large)
        return lexer_expected(&ps->lexer, "a word of 64 bits such as 0x1f");
    *value = (struct value){.kind = VALUE_RAW, .bits = token->magnitude};
    lexer_next(&ps->lexer);
    return true;
}

/* Says which infix blocks the closure has. */
static bool fail_infix(struct parser *ps, const struct token *at, unsigned block,
                       const struct item *item) {
    char offsets[40] = "none";
    int length = 0;
    for (unsigned k = 1; k < item->functions; k++)
        length += snprintf(offsets + length, sizeof offsets - (size_t)length, "%s%u",
                           k > 1 ? ", " : "", closure_entry_offset(k, item->arity));
    return lexer_fail(&ps->lexer, at, "no infix block of b%u starts there; its offsets: %s", block,
                      offsets);
}

/* On the first pass through the heap section any name will do. */
static bool check_block(struct parser *ps, const struct token *at, unsigned block) {
    if (ps->resolving && block >= ps->named.count)
        return lexer_fail(&ps->lexer, at, "there is no block b%u; the heap section names %u", block,
                          ps->named.count);
    return true;
}

static bool check_reference(struct parser *ps, const struct token *at, const struct value *value) {
    if (!check_block(ps, at, value->block))
        return false;
    if (!ps->resolving)
        return true;
    const struct item *item = named_block(&ps->named, value->block);
    if (value->kind == VALUE_INFIX && closure_entry_at(item, value->offset) == 0)
        return fail_infix(ps, at, value->block, item);
    if (ps->in_static && !item->is_static)
        return lexer_fail(&ps->lexer, at,
                          "a static block points at static blocks only, and b%u is none",
                          (unsigned)value->block);
    return true;
}

/* Fields of items by count: the word is `next` or `each`. */
static bool parse_by_count(struct parser *ps, struct value *value) {
    struct token at = ps->lexer.token;
    unsigned block = 0;
    if (!ps->by_count)
        return lexer_fail(&ps->lexer, &at,
                          "next and each stand in the fields of blocks by count, such as "
                          "b0 = 1000 of block tag=0 [next]");
    *value = (struct value){.kind = VALUE_NEXT};
    if (lexer_accept(&ps->lexer, "next"))
        return true;
    lexer_next(&ps->lexer);
    at = ps->lexer.token;
    if (!lexer_sees_name(&ps->lexer, 'b', &block))
        return lexer_expected(&ps->lexer, "a block such as b0");
    lexer_next(&ps->lexer);
    *value = (struct value){.kind = VALUE_EACH, .block = (uint16_t)block};
    return check_reference(ps, &at, value);
}

static bool parse_reference(struct parser *ps, unsigned block, struct value *value) {
    struct token at = ps->lexer.token;
    unsigned offset = 0;
    lexer_next(&ps->lexer);
    *value = (struct value){.kind = VALUE_BLOCK, .block = (uint16_t)block};
    if (lexer_accept(&ps->lexer, "+")) {
        value->kind = VALUE_INFIX;
        if (!lexer_number(&ps->lexer, "an offset", 1, PROGRAM_WOSIZE, &offset))
            return false;
        value->offset = (uint16_t)offset;
    }
    return check_reference(ps, &at, value);
}

/* Behind & or &&: which place it is. */
static bool parse_place(struct parser *ps, bool script, bool doubled, struct value *value) {
    unsigned number;
    uint8_t slot = 0;
    for (unsigned place = ADDRESS_BLOCK + 1; script && place < ADDRESS_PLACES; place++)
        if (lexer_accept(&ps->lexer, address_places[place])) {
            value->bits = address_bits((enum address_place)place, doubled, 0);
            return true;
        }
    value->bits = address_bits(ADDRESS_BLOCK, doubled, 0);
    if (script) {
        if (!lexer_sees_name(&ps->lexer, 'r', &number))
            return lexer_expected(&ps->lexer, "a slot such as r0, nursery, free or from");
        if (!parse_slot(ps, &slot))
            return false;
        value->block = slot;
        return true;
    }
    struct token at = ps->lexer.token;
    if (!lexer_sees_name(&ps->lexer, 'b', &number))
        return lexer_expected(&ps->lexer, "a block such as b0");
    lexer_next(&ps->lexer);
    value->block = (uint16_t)number;
    return check_block(ps, &at, number);
}

/* A field of a block or slot, and how many bytes beside it: .2+1 */
static bool parse_beside(struct parser *ps, struct value *value) {
    const struct token *token = &ps->lexer.token;
    unsigned field = 0;
    if (address_place(value) == ADDRESS_BLOCK && lexer_accept(&ps->lexer, ".")) {
        if (!lexer_number(&ps->lexer, "a field", 0, PROGRAM_WOSIZE - 1, &field))
            return false;
        value->offset = (uint16_t)field;
    }
    bool plus = lexer_accept(&ps->lexer, "+");
    if (!plus && !(token->kind == TOKEN_NUMBER && token->negative))
        return true;
    if (token->kind != TOKEN_NUMBER || token->too_large || (plus && token->negative) ||
        token->magnitude > 127u + token->negative)
        return lexer_expected(&ps->lexer, "a number of bytes from -128 to +127");
    int bytes = token->negative ? -(int)token->magnitude : (int)token->magnitude;
    value->bits |= (uint8_t)bytes;
    lexer_next(&ps->lexer);
    return true;
}

/* &r0.2+1, &&b3, &free-8 */
static bool parse_address(struct parser *ps, enum value_context context, struct value *value) {
    bool script = context == CONTEXT_SCRIPT || context == CONTEXT_SCRIPT_RAW;
    bool doubled = lexer_sees(&ps->lexer, "&&");
    lexer_next(&ps->lexer);
    *value = (struct value){.kind = VALUE_ADDRESS};
    return parse_place(ps, script, doubled, value) && parse_beside(ps, value);
}

bool parse_slot(struct parser *ps, uint8_t *slot) {
    unsigned number;
    if (!lexer_sees_name(&ps->lexer, 'r', &number) || number >= PROGRAM_SLOTS)
        return lexer_expected(&ps->lexer, "a slot r0 to r31");
    lexer_next(&ps->lexer);
    *slot = (uint8_t)number;
    return true;
}

/* How many bytes beside the heap: -8 before it, +8 behind it; none behind it need not be said. */
static bool parse_bytes_beside(struct parser *ps, enum outside_form form, struct value *value) {
    const struct token *token = &ps->lexer.token;
    bool before = form == OUTSIDE_BEFORE;
    if (!before && !lexer_accept(&ps->lexer, "+")) {
        value->bits = outside_bits(form, 0);
        return true;
    }
    if (token->kind != TOKEN_NUMBER || token->negative != before ||
        token->magnitude > OUTSIDE_BYTES || !outside_is_legal(outside_bits(form, token->magnitude)))
        return lexer_expected(&ps->lexer, before ? "an even number of bytes from -126 to -2"
                                                 : "an even number of bytes from 0 to 126");
    value->bits = outside_bits(form, token->magnitude);
    lexer_next(&ps->lexer);
    return true;
}

/* Behind out: 5, 0x3ff0000000000000, before-8, behind+8 */
static bool parse_outside(struct parser *ps, struct value *value) {
    const struct token *token = &ps->lexer.token;
    unsigned number;
    *value = (struct value){.kind = VALUE_OUTSIDE};
    if (lexer_accept(&ps->lexer, "before"))
        return parse_bytes_beside(ps, OUTSIDE_BEFORE, value);
    if (lexer_accept(&ps->lexer, "behind"))
        return parse_bytes_beside(ps, OUTSIDE_BEHIND, value);
    if (token->kind == TOKEN_HEX && !token->too_large) {
        bool small = token->magnitude < OUTSIDE_UNIT;
        value->bits = outside_bits(small ? OUTSIDE_SMALL : OUTSIDE_WORD, token->magnitude);
        if ((!small && token->magnitude < OUTSIDE_LEAST) || !outside_is_legal(value->bits))
            return lexer_fail(&ps->lexer, token,
                              "a word outside every heap is even, below 0x10000 or from "
                              "0x10000000000000 on, and its highest byte is not 1 or 2");
        lexer_next(&ps->lexer);
        return true;
    }
    if (!lexer_number(&ps->lexer, "a number", 0, UINT16_MAX, &number))
        return false;
    value->bits = number;
    return true;
}

static bool parse_atom(struct parser *ps, struct value *value) {
    const struct token at = ps->lexer.token;
    unsigned tag;
    if (!lexer_number(&ps->lexer, "a tag", 0, UINT8_MAX, &tag))
        return false;
    if (!tag_is_atom(tag))
        return lexer_fail(&ps->lexer, &at, "no atom has the tag %u: 0 to 245, 251 or 254", tag);
    *value = (struct value){.kind = VALUE_ATOM, .bits = tag};
    return true;
}

static bool parse_any_value(struct parser *ps, enum value_context context, struct value *value) {
    unsigned number;
    uint8_t slot = 0;
    if (lexer_sees(&ps->lexer, "&") || lexer_sees(&ps->lexer, "&&"))
        return parse_address(ps, context, value);
    if (context == CONTEXT_RAW || context == CONTEXT_SCRIPT_RAW)
        return parse_raw_word(ps, value);
    if (ps->lexer.token.kind == TOKEN_NUMBER)
        return parse_immediate(ps, value);
    if (lexer_accept(&ps->lexer, "out"))
        return parse_outside(ps, value);
    if (lexer_accept(&ps->lexer, "atom"))
        return parse_atom(ps, value);
    if (context == CONTEXT_HEAP) {
        if (lexer_sees(&ps->lexer, "next") || lexer_sees(&ps->lexer, "each"))
            return parse_by_count(ps, value);
        if (lexer_sees_name(&ps->lexer, 'b', &number))
            return parse_reference(ps, number, value);
        return lexer_expected(&ps->lexer, "a value (an integer, a block such as b0, out 5)");
    }
    if (!lexer_sees_name(&ps->lexer, 'r', &number))
        return lexer_expected(&ps->lexer, "a value (an integer, a slot such as r0, out 5)");
    if (!parse_slot(ps, &slot))
        return false;
    *value = (struct value){.kind = VALUE_SLOT, .block = slot};
    return true;
}

bool parse_value(struct parser *ps, enum value_context context, struct value *value) {
    const struct token at = ps->lexer.token;
    if (!parse_any_value(ps, context, value))
        return false;
    return !ps->by_count || !value_is_numbered(value) ||
           lexer_fail(&ps->lexer, &at,
                      "blocks by count have no addresses, atoms or words beside the heap");
}

bool parse_mutator(struct parser *ps, unsigned *mutator) {
    *mutator = 0;
    if (!lexer_accept(&ps->lexer, "mutator"))
        return true;
    return lexer_number(&ps->lexer, "a mutator", 0, PROGRAM_MUTATORS - 1, mutator) &&
           lexer_expect(&ps->lexer, ":");
}

/* ---- lists ----------------------------------------------------------------------------------- */

bool parse_list(struct parser *ps, enum value_context context, bool optional, struct value *values,
                unsigned max, unsigned *n) {
    struct lexer *lexer = &ps->lexer;
    *n = 0;
    if (optional && !lexer_sees(lexer, "["))
        return true;
    if (!lexer_expect(lexer, "["))
        return false;
    if (lexer_accept(lexer, "]"))
        return true;
    for (;;) {
        if (*n == max)
            return lexer_fail(lexer, &lexer->token, "too many values: at most %u can stand here",
                              max);
        if (!parse_value(ps, context, &values[(*n)++]))
            return false;
        if (lexer_accept(lexer, "]"))
            return true;
        if (!lexer_accept(lexer, ","))
            return lexer_expected(lexer, "',' or ']'");
    }
}

static bool parse_arities(struct parser *ps, struct shape *shape) {
    struct lexer *lexer = &ps->lexer;
    if (!lexer_expect(lexer, "arity") || !lexer_expect(lexer, "="))
        return false;
    do {
        const struct token *token = &lexer->token;
        if (shape->functions == PROGRAM_FUNCTIONS)
            return lexer_fail(lexer, token, "a closure has at most %d functions",
                              PROGRAM_FUNCTIONS);
        if (token->kind != TOKEN_NUMBER || token->too_large ||
            token->magnitude > 127u + token->negative)
            return lexer_expected(lexer, "an arity from -128 to 127");
        int arity = (int)token->magnitude;
        shape->arity[shape->functions++] = (int8_t)(token->negative ? -arity : arity);
        lexer_next(lexer);
    } while (lexer_accept(lexer, ","));
    return true;
}

/* ---- shapes ---------------------------------------------------------------------------------- */

unsigned raw_tag_seen(const struct lexer *lexer) {
    static const char *const names[] = {"abstract", "string", "double", "double_array", "custom"};
    for (unsigned i = 0; i < sizeof names / sizeof *names; i++)
        if (lexer_sees(lexer, names[i]))
            return PROGRAM_TAG_ABSTRACT + i;
    return 0;
}

static bool parse_tag(struct parser *ps, struct shape *shape) {
    struct lexer *lexer = &ps->lexer;
    unsigned tag;
    if (!lexer_expect(lexer, "tag") || !lexer_expect(lexer, "="))
        return false;
    struct token at = lexer->token;
    if (!lexer_number(lexer, "a tag", 0, 255, &tag))
        return false;
    if (!tag_is_ordinary(tag))
        return lexer_fail(lexer, &at, "tag %u belongs to no ordinary block: 0 to 246, 248 or 250",
                          tag);
    shape->tag = (uint8_t)tag;
    return true;
}

static bool parse_kind(struct parser *ps, enum shape_kind kind, struct shape *shape) {
    if (kind == SHAPE_CLOSURE)
        return parse_arities(ps, shape);
    if (kind == SHAPE_ORDINARY)
        return parse_tag(ps, shape);
    shape->tag = (uint8_t)raw_tag_seen(&ps->lexer);
    lexer_next(&ps->lexer);
    return true;
}

static bool parse_shape_values(struct parser *ps, enum shape_kind kind, bool script, bool optional,
                               struct shape *shape, struct value *values, unsigned max) {
    enum value_context context = script ? CONTEXT_SCRIPT : CONTEXT_HEAP;
    if (kind == SHAPE_RAW)
        context = script ? CONTEXT_SCRIPT_RAW : CONTEXT_RAW;
    if (kind == SHAPE_CLOSURE) {
        if (optional && !lexer_sees(&ps->lexer, "env"))
            return true;
        if (!lexer_expect(&ps->lexer, "env") || !lexer_expect(&ps->lexer, "="))
            return false;
        optional = false;
    }
    return parse_list(ps, context, optional, values, max, &shape->n_values);
}

static bool check_size(struct parser *ps, const struct token *at, enum shape_kind kind,
                       const struct shape *shape) {
    unsigned min = op_shapes[kind == SHAPE_CLOSURE ? OP_ALLOC_CLOSURE : OP_ALLOC].min_size;
    unsigned max = op_shapes[kind == SHAPE_CLOSURE ? OP_ALLOC_CLOSURE : OP_ALLOC].max_size;
    if (shape->size < shape->n_values)
        return lexer_fail(&ps->lexer, at, "size=%u is less than the number of values, %u",
                          shape->size, shape->n_values);
    if (shape->size < min || shape->size > max)
        return lexer_fail(&ps->lexer, at, "a size of %u words, expected %u to %u", shape->size, min,
                          max);
    if (shape->tag == PROGRAM_TAG_DOUBLE && shape->size != 1)
        return lexer_fail(&ps->lexer, at, "a double of %u words, expected exactly 1", shape->size);
    return true;
}

bool parse_shape(struct parser *ps, enum shape_kind kind, bool script, struct shape *shape,
                 struct value *values, unsigned max_values) {
    struct lexer *lexer = &ps->lexer;
    *shape = (struct shape){0};
    shape->address_code = kind == SHAPE_CLOSURE && !script && lexer_accept(lexer, "address");
    if (!parse_kind(ps, kind, shape))
        return false;
    struct token at = lexer->token;
    bool sized = lexer_accept(lexer, "size");
    if (sized) {
        if (!lexer_expect(lexer, "="))
            return false;
        at = lexer->token;
        if (!lexer_number(lexer, "a size", 0, PROGRAM_WOSIZE, &shape->size))
            return false;
    }
    if (!parse_shape_values(ps, kind, script, sized, shape, values, max_values))
        return false;
    if (!sized)
        shape->size = shape->n_values;
    return check_size(ps, &at, kind, shape);
}
