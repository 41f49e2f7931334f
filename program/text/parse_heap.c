/* SPDX-License-Identifier: MIT
 *
 * The parser's heap and roots sections.
 *
 * A field may name a block that stands further down, so the heap section is read twice: first to
 * learn which blocks there are, then to check every reference where it stands.
 */
#include "program/text/parser.h"

#include <string.h>

/* ---- items ----------------------------------------------------------------------------------- */

/* Appends the item, which begins at `at`, with n_given fields already in place. */
static bool append_item(struct parser *ps, const struct token *at, struct item item,
                        unsigned n_given) {
    struct program *p = ps->p;
    if (p->n_items == PROGRAM_ITEMS)
        return lexer_fail(&ps->lexer, at, "too many items: a heap has at most %d", PROGRAM_ITEMS);
    if (item.n_fields > PROGRAM_FIELDS - p->n_fields)
        return lexer_fail(&ps->lexer, at, "too many fields: all blocks together have at most %d",
                          PROGRAM_FIELDS);
    const struct value initial = {.kind = item.kind == ITEM_RAW ? VALUE_RAW : VALUE_IMMEDIATE};
    for (unsigned f = n_given; f < item.n_fields; f++)
        p->fields[p->n_fields + f] = initial;
    if (item_is_named(&item))
        item.first_field = p->n_fields;
    if (item.more >= PROGRAM_LARGE_WORDS / (item.wosize + 1u) ||
        item_words(&item) > PROGRAM_LARGE_WORDS - ps->words[item.is_static])
        return lexer_fail(&ps->lexer, at, "%u items of %u words: the largest heap has %d",
                          item_count(&item), item.wosize + 1u, PROGRAM_LARGE_WORDS);
    p->n_fields = (uint16_t)(p->n_fields + item.n_fields);
    p->items[p->n_items++] = item;
    ps->words[item.is_static] += item_words(&item);
    if (ps->words[true] > PROGRAM_HEAP_WORDS)
        return lexer_fail(&ps->lexer, at, "the static blocks need more than %d words",
                          PROGRAM_HEAP_WORDS);
    if (ps->words[false] > p->config[CONFIG_HEAP] && ps->overflow.line == 0)
        ps->overflow = *at;
    return true;
}

/* How many further ones like it, if that is given: "1000 of". */
static bool parse_count(struct parser *ps, uint32_t *more) {
    unsigned count = 1;
    *more = 0;
    ps->by_count = ps->lexer.token.kind == TOKEN_NUMBER;
    if (!ps->by_count)
        return true;
    if (!lexer_number(&ps->lexer, "a count", 2, PROGRAM_LARGE_WORDS, &count))
        return false;
    *more = count - 1;
    return lexer_expect(&ps->lexer, "of");
}

static bool parse_gap(struct parser *ps, const struct token *at) {
    struct item item = {.kind = ITEM_FRAGMENT};
    unsigned wosize = 0;
    if (!parse_count(ps, &item.more))
        return false;
    if (!lexer_accept(&ps->lexer, "fragment")) {
        item.kind = lexer_accept(&ps->lexer, "free") ? ITEM_FREE : ITEM_DEAD;
        if (item.kind == ITEM_DEAD && !lexer_accept(&ps->lexer, "dead"))
            return lexer_expected(&ps->lexer, "an item (b0 = ..., static b0 = ..., free 5, dead 3, "
                                              "fragment, 1000 of free 5)");
        if (!lexer_number(&ps->lexer, "a size", 1, PROGRAM_WOSIZE, &wosize))
            return false;
    }
    item.wosize = (uint16_t)wosize;
    return append_item(ps, at, item, 0);
}

static bool parse_block_kind(struct parser *ps, enum shape_kind *kind) {
    *kind = SHAPE_RAW;
    if (raw_tag_seen(&ps->lexer))
        return true;
    *kind = SHAPE_ORDINARY;
    if (lexer_accept(&ps->lexer, "block"))
        return true;
    *kind = SHAPE_CLOSURE;
    if (lexer_accept(&ps->lexer, "closure"))
        return true;
    return lexer_expected(&ps->lexer, "block, closure, abstract, string, double, double_array or "
                                      "custom");
}

/* After "bN =". */
static bool parse_block(struct parser *ps, const struct token *at) {
    static const uint8_t item_kinds[] = {
        [SHAPE_ORDINARY] = ITEM_BLOCK, [SHAPE_CLOSURE] = ITEM_CLOSURE, [SHAPE_RAW] = ITEM_RAW};
    struct program *p = ps->p;
    enum shape_kind kind;
    struct shape shape;
    unsigned max = PROGRAM_FIELDS - (unsigned)p->n_fields;
    if (max > PROGRAM_WOSIZE)
        max = PROGRAM_WOSIZE;
    uint32_t more;
    if (!parse_count(ps, &more) || !parse_block_kind(ps, &kind) ||
        !parse_shape(ps, kind, false, &shape, p->fields + p->n_fields, max))
        return false;
    if (more && shape.address_code)
        return lexer_fail(&ps->lexer, at, "closures by count have no address for a code word");
    struct item item = {.kind = item_kinds[kind],
                        .tag = shape.tag,
                        .is_static = ps->in_static,
                        .more = more,
                        .functions = shape.functions,
                        .wosize = (uint16_t)shape.size,
                        .n_fields = (uint16_t)shape.size};
    if (kind == SHAPE_CLOSURE) {
        memcpy(item.arity, shape.arity, sizeof item.arity);
        item.tag = PROGRAM_TAG_CLOSURE;
        item.address_code = shape.address_code;
        item.wosize = (uint16_t)(shape.size + closure_code_words(shape.functions, shape.arity));
    }
    return append_item(ps, at, item, shape.n_values);
}

static bool parse_item(struct parser *ps) {
    struct lexer *lexer = &ps->lexer;
    struct token at = lexer->token;
    unsigned name;
    ps->in_static = lexer_accept(lexer, "static");
    if (!lexer_sees_name(lexer, 'b', &name)) {
        if (ps->in_static)
            return lexer_expected(lexer, "a block such as b0");
        return parse_gap(ps, &at) && lexer_expect_line_end(lexer);
    }
    if (name != ps->names)
        return lexer_fail(lexer, &lexer->token,
                          "expected b%u, the next name, found b%u: blocks are numbered in order",
                          ps->names, name);
    ps->names++;
    lexer_next(lexer);
    return lexer_expect(lexer, "=") && parse_block(ps, &at) && lexer_expect_line_end(lexer);
}

/* ---- the section ----------------------------------------------------------------------------- */

static bool parse_items(struct parser *ps) {
    ps->p->n_items = ps->p->n_fields = 0;
    ps->names = ps->words[false] = ps->words[true] = 0;
    while (!at_section_end(ps))
        if (!parse_item(ps))
            return false;
    ps->in_static = ps->by_count = false;
    return true;
}

static bool check_heap_size(struct parser *ps) {
    unsigned heap = ps->p->config[CONFIG_HEAP], words = ps->words[false];
    if (words <= heap)
        return true;
    if (ps->given[CONFIG_HEAP])
        return lexer_fail(&ps->lexer, &ps->heap_size,
                          "heap=%u is too small: the blocks and gaps need %u words", heap, words);
    return lexer_fail(&ps->lexer, &ps->overflow,
                      "heap=%u, the default, is too small: the blocks and gaps need %u words", heap,
                      words);
}

bool parse_heap(struct parser *ps) {
    struct lexer start = ps->lexer;
    if (!parse_items(ps) || !check_heap_size(ps))
        return false;
    /* The second pass writes the same items over themselves. */
    named_blocks_find(&ps->named, ps->p);
    ps->resolving = true;
    ps->lexer = start;
    return parse_items(ps);
}

/* ---- roots ----------------------------------------------------------------------------------- */

static bool parse_root(struct parser *ps) {
    struct lexer *lexer = &ps->lexer;
    unsigned mutator;
    uint8_t slot;
    if (!parse_mutator(ps, &mutator))
        return false;
    struct token at = lexer->token;
    if (!parse_slot(ps, &slot))
        return false;
    if (ps->roots[mutator] >> slot & 1)
        return lexer_fail(lexer, &at, "r%u of mutator %u is given twice", (unsigned)slot, mutator);
    ps->roots[mutator] |= UINT32_C(1) << slot;
    return lexer_expect(lexer, "=") &&
           parse_value(ps, CONTEXT_HEAP, &ps->p->roots[mutator][slot]) &&
           lexer_expect_line_end(lexer);
}

bool parse_roots(struct parser *ps) {
    ps->resolving = true; /* also without a heap section: there is no block to name */
    while (!at_section_end(ps))
        if (!parse_root(ps))
            return false;
    return true;
}
