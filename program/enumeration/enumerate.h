/* SPDX-License-Identifier: MIT
 *
 * Exhaustive small scope: every program of a bounded set, once each up to renaming.
 *
 * A *scope* says how many blocks of which shapes, how many root slots, which operations and how
 * many of them, which gaps and which config values.  enumerate visits one program of every class of
 * programs that differ by names alone; scope_count says by a formula, without enumerating, how many
 * there are.  Nothing here knows of collectors.
 *
 * Names are those of blocks and of root slots.  Renaming blocks permutes the blocks of the initial
 * heap among their places and leaves gaps where they are; renaming slots permutes them in the roots
 * and in the script, those of all mutators alike.  Of each class the visitor sees the program that
 * is least in the order: shapes, fields, roots, script.  docs/explore.md describes the scope.
 */
#ifndef ISOHEAP_PROGRAM_ENUMERATE_H
#define ISOHEAP_PROGRAM_ENUMERATE_H

#include "program/program.h"

enum {
    SCOPE_BLOCKS = 4,
    SCOPE_SLOTS = 4,
    SCOPE_OPS = 16,
    SCOPE_SHAPES = 8,
    SCOPE_FIELDS = 8,           /* of a shape: scanned fields or raw words */
    SCOPE_VALUES = 64,          /* of one config key */
    SCOPE_HEAP_WORDS = 1 << 20, /* of the largest heap */
    SCOPE_KINDS = 16,           /* collector kinds that `kind` switches to */
    SCOPE_MENU = 1024,          /* operations with their operands */
    SCOPE_TEXT = 2048           /* enough for scope_print */
};

/* The kinds of gaps, as a set; their sizes are 1 field, or none. */
enum { GAP_FREE = 1u << 0, GAP_DEAD = 1u << 1, GAP_FRAGMENT = 1u << 2, GAPS_ALL = 7 };

/* A block as the initial heap and allocations have it.  Scanned fields hold any value of the scope;
 * all raw words are the same even word or, if the scope has addresses, one of those; a closure has
 * one or two functions of arity 1, so with two it has one infix block. */
struct scope_shape {
    uint8_t kind; /* ITEM_BLOCK, ITEM_CLOSURE, ITEM_RAW */
    uint8_t tag, functions;
    uint8_t fields; /* of a closure: its environment */
};

struct scope {
    unsigned blocks;   /* named blocks of the initial heap, at most */
    unsigned slots;    /* root slots of each mutator in use: 1 .. SCOPE_SLOTS */
    unsigned mutators; /* who does an operation; the roots of all but the first are unit */
    unsigned ops;      /* operations of the script, at most */
    unsigned gaps;     /* at most so many, at most one before each block and after the last one */
    unsigned gap_kinds;
    unsigned n_shapes, n_allocs;
    struct scope_shape shapes[SCOPE_SHAPES]; /* of the initial heap */
    struct scope_shape allocs[SCOPE_SHAPES]; /* of allocations */
    op_bits codes;                           /* the operations */
    unsigned kinds;                          /* OP_KIND switches to 0 .. kinds - 1 */
    bool outside;                            /* fields and roots may hold a word `out 0` */
    bool atoms;                              /* and `atom 0` */
    bool addresses; /* they and raw words may hold the address of a block, and scripts write that of
                       what a slot points at wherever they write a slot, and into raw blocks */
    bool orders;    /* address orders are told apart: slots alone rename */
    unsigned n_values[CONFIG_KEYS]; /* of every key: at least one */
    uint32_t values[CONFIG_KEYS][SCOPE_VALUES];
};

/* Two blocks, two slots, two operations, heaps of 16 words: what `isoheap explore` begins with. */
void scope_initial(struct scope *);
/* The largest value of a config key in a scope: the heap may be larger than the fuzzer's. */
uint32_t scope_largest(unsigned key);
/* NULL, or a sentence that says what is wrong. */
const char *scope_valid(const struct scope *);
/* Writes the scope as one line of `word=value` pairs, the same for equal scopes only; cuts it and
 * returns its length as snprintf does. */
size_t scope_print(const struct scope *, char *out, size_t capacity);
/* "b2,s1,c1,b1:248": bN an ordinary block of N fields, sN a string of N words, cN and fN a closure
 * with N words of environment and two functions or one; :TAG for another tag than 0 or String.
 * False if the list is none. */
bool scope_parse_shapes(const char *list, struct scope_shape *shapes, unsigned *n);
/* "load,store": names of operations as in op_shapes, or the words of their text, which several may
 * share ("weak"); "all".  False if the list is none, or if one of them cannot be enumerated. */
bool scope_parse_codes(const char *list, op_bits *codes);
/* "free,dead,fragment"; "none". */
bool scope_parse_gaps(const char *list, unsigned *kinds);

/* Every operation of the scope's scripts, in the order of the enumeration; out has room for
 * SCOPE_MENU.  Returns their number, which may be larger. */
unsigned scope_menu(const struct scope *, struct op *out);
/* Those of the scope's operations that its menu has none of: an allocation without a shape for it,
 * a copy between slots where there is one. */
op_bits scope_missing(const struct scope *);

/* ---- enumeration ------------------------------------------------------------------------------
 *
 * Programs come in *units*, numbered from 0 in the order of the enumeration: those of one script
 * length, one heap, one root set and one first operation.  Shorter scripts come first, then fewer
 * blocks.
 */

struct enumeration {
    const struct scope *scope;
    struct program *program; /* the caller's: holds the program that is visited */
    /* Asked at a unit: the number of the next one that is wanted, this or a later one; UINT64_MAX
     * ends the enumeration.  Asked again at the unit after that one, though there may be none. */
    uint64_t (*next)(void *context, uint64_t unit);
    /* A program of a unit that is wanted; false ends the enumeration. */
    bool (*visit)(void *context, const struct program *);
    void *context;
};

enum enumerated { ENUMERATED, ENUMERATION_ENDED, ENUMERATION_NO_MEMORY };

/* Runs through the scope, which must be valid, from its first program to its last, or until `next`
 * or `visit` ends it. */
enum enumerated enumerate(const struct enumeration *);

/* ---- counting ---------------------------------------------------------------------------------
 */

struct scope_count {
    uint64_t units, programs;
};
/* By the lemma of Cauchy and Frobenius (Burnside): the classes are the mean, over all renamings, of
 * the number of programs that a renaming leaves as they are.  UINT64_MAX: more than fit. */
struct scope_count scope_count(const struct scope *);
/* The programs without regard to renaming. */
uint64_t scope_count_named(const struct scope *);

#endif
