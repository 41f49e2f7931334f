/* SPDX-License-Identifier: MIT
 *
 * Private to program/: what the parser's files share.
 *
 * Every parse_ function reads its piece of the text, up to the token after it, and returns true; or
 * it fills in the error and returns false, and parsing ends.
 *
 *   parse.c         the version line, config, and the order of the sections
 *   parse_values.c  values, lists, sizes, tags, arities: the pieces of both halves
 *   parse_heap.c    heap and roots
 *   parse_script.c  the script
 */
#ifndef ISOHEAP_PROGRAM_PARSER_H
#define ISOHEAP_PROGRAM_PARSER_H

#include "program/named.h"
#include "program/text/lexer.h"

struct parser {
    struct lexer lexer;
    struct program *p;
    /* config */
    bool given[CONFIG_KEYS];
    struct token heap_size; /* the value of heap=, if given */
    /* heap: read twice, since a block may be named before it stands there; the second time, all
     * blocks are known and references are checked */
    bool resolving;
    struct named_blocks named;
    unsigned names;        /* named blocks so far */
    bool in_static;        /* the item being read is static */
    bool by_count;         /* and one by count */
    unsigned words[2];     /* of the items so far: in the heap, in static space */
    struct token overflow; /* the first item that does not fit into the configured heap */
    /* roots */
    uint32_t roots[PROGRAM_MUTATORS]; /* slots given so far */
};

/* ---- pieces ---------------------------------------------------------------------------------- */

enum value_context { CONTEXT_HEAP, CONTEXT_RAW, CONTEXT_SCRIPT, CONTEXT_SCRIPT_RAW };

bool parse_value(struct parser *ps, enum value_context context, struct value *value);

/* "[" values "]", or nothing if `optional` and no "[" follows. */
bool parse_list(struct parser *ps, enum value_context context, bool optional, struct value *values,
                unsigned max, unsigned *n);

/* What an allocation and an item have in common, in the order of the text. */
struct shape {
    uint8_t tag, functions;
    bool address_code; /* of an item */
    int8_t arity[PROGRAM_FUNCTIONS];
    unsigned size, n_values;
};
enum shape_kind { SHAPE_ORDINARY, SHAPE_CLOSURE, SHAPE_RAW };

/* The raw tag that the next word names, or 0. */
unsigned raw_tag_seen(const struct lexer *lexer);

/* After the word that names the kind (for a raw one, at it): tag or arity, size, values. */
bool parse_shape(struct parser *ps, enum shape_kind kind, bool script, struct shape *shape,
                 struct value *values, unsigned max_values);

bool parse_slot(struct parser *ps, uint8_t *slot);

/* "mutator" number ":", or nothing: mutator 0. */
bool parse_mutator(struct parser *ps, unsigned *mutator);

/* ---- sections -------------------------------------------------------------------------------- */

/* Does a section begin here, or the text end? */
bool at_section_end(struct parser *ps);

bool parse_heap(struct parser *ps);
bool parse_roots(struct parser *ps);
bool parse_script(struct parser *ps);

#endif
