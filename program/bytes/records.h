/* SPDX-License-Identifier: MIT
 *
 * The records of the byte form, shared by the decoder (bytes.c) and the encoder (encode.c).
 *
 * A record is an opcode byte and as many operand bytes as the opcode asks for, so that a changed
 * operand never moves what follows it.  The table below is the only place that knows which records
 * there are, how many of the 256 opcodes each one owns (its weight: how often random bytes hit it)
 * and which operands it has; decoder and encoder walk the same operand letters:
 *
 *   d destination slot   t tag of an ordinary block   i j n  indexes and counts of op_shapes
 *   s source slot        T tag of a raw block         v value of the section
 *   m mutator            z size                       w raw word
 *   a arity, next one    k config key                 b plain byte of a config value or prefix
 *   x one of the later operations: the letters behind it are read if that operation has them
 *
 * z i j n v w are wide operands: byte 255 takes the next queued WIDE value, if there is one.  The
 * other letters reach all their values with one byte.
 */
#ifndef ISOHEAP_PROGRAM_RECORDS_H
#define ISOHEAP_PROGRAM_RECORDS_H

#include "program/program.h"

enum record_section {
    SECTION_SCRIPT, /* appends an operation; code is its op_code */
    SECTION_HEAP,   /* appends an item; code is its item_kind */
    SECTION_FIELD,  /* sets a field of the last item */
    SECTION_ROOT,
    SECTION_CONFIG,
    SECTION_WIDE, /* the last three are prefixes of the next record that is none */
    SECTION_STATIC,
    SECTION_MUTATOR
};

/* The operations from here on have one record together.  Its byte x has the LATER_FIRST of the
 * first byte form by remainder, as ever, below LATER_NEW; each that came afterwards has bytes of
 * its own above, in the order of operations.def, so that it takes no string another meaning that
 * this encoder has written, or that names one of the others.  A byte that is not yet given to an
 * operation means one that needs no operand. */
enum {
    OP_LATER = OP_EPHEMERON,
    LATER_FIRST = 12,
    LATER_NEW = 192,
    LATER_MOST = 32,
    LATER_NONE = OP_POLL
};
_Static_assert(LATER_NEW % LATER_FIRST == 0 && (256 - LATER_NEW) % LATER_MOST == 0,
               "as many bytes for each");
_Static_assert(
    (int)OP_CODES <= (int)OP_LATER + (int)LATER_FIRST + (int)LATER_MOST,
    "the byte x of the record LATER has no room for another operation: it needs a second "
    "record like it");
/* Versions of the byte form: 1 had no byte above for new ones; 2 has no new operation; 3 has
 * addresses; 4 atoms, all outside words, and addresses as code words: a FIELD record of a closure
 * behind the prefix STATIC; 5 schedules; 6 mutators that come and go; 7
 * decisions of a schedule: a CONFIG record behind the prefix STATIC; 8 copies of what an ephemeron
 * holds, and finalisers that do something; 9 copies of arrays and of any block; 10 copies with
 * closures, damaged texts, and memory that is refused.  Operations that come make another version.
 */
enum {
    VERSION_ADDRESSES = 3,
    VERSION_ATOMS = 4,
    VERSION_SCHEDULES = 5,
    VERSION_MUTATORS = 6,
    VERSION_SWITCHES = 7,
    VERSION_COPIES = 8,
    VERSION_ARRAYS = 9,
    VERSION_CLONES = 10
};

/* The first keys of a config record have their bytes by remainder; later ones each one byte, from
 * here on. */
enum { KEYS_FIRST = CONFIG_SCHEDULE, KEYS_LATER = 254 };
_Static_assert(KEYS_LATER + CONFIG_KEYS - KEYS_FIRST == 256, "the last bytes are those of keys");

_Static_assert((int)OP_ATTACH == (int)OP_LATER + (int)LATER_FIRST,
               "the first with a byte of its own");
static inline unsigned ops_of_version(unsigned version) {
    return version < VERSION_MUTATORS ? OP_ATTACH
           : version < VERSION_COPIES ? OP_EPHE_COPY
           : version < VERSION_ARRAYS ? OP_SUB
           : version < VERSION_CLONES ? OP_CLONE
                                      : OP_CODES;
}

/* X(name, weight, section, code, functions, values, operands) */
#define SCRIPT_RECORDS(X)                                                                          \
    X(ALLOC_0, 5, SCRIPT, OP_ALLOC, 0, 0, "dtz")                                                   \
    X(ALLOC_1, 8, SCRIPT, OP_ALLOC, 0, 1, "dtzv")                                                  \
    X(ALLOC_2, 8, SCRIPT, OP_ALLOC, 0, 2, "dtzvv")                                                 \
    X(ALLOC_3, 6, SCRIPT, OP_ALLOC, 0, 3, "dtzvvv")                                                \
    X(CLOSURE_1_0, 1, SCRIPT, OP_ALLOC_CLOSURE, 1, 0, "daz")                                       \
    X(CLOSURE_1_1, 1, SCRIPT, OP_ALLOC_CLOSURE, 1, 1, "dazv")                                      \
    X(CLOSURE_1_2, 1, SCRIPT, OP_ALLOC_CLOSURE, 1, 2, "dazvv")                                     \
    X(CLOSURE_1_3, 1, SCRIPT, OP_ALLOC_CLOSURE, 1, 3, "dazvvv")                                    \
    X(CLOSURE_2_0, 1, SCRIPT, OP_ALLOC_CLOSURE, 2, 0, "daaz")                                      \
    X(CLOSURE_2_1, 1, SCRIPT, OP_ALLOC_CLOSURE, 2, 1, "daazv")                                     \
    X(CLOSURE_2_2, 1, SCRIPT, OP_ALLOC_CLOSURE, 2, 2, "daazvv")                                    \
    X(CLOSURE_2_3, 1, SCRIPT, OP_ALLOC_CLOSURE, 2, 3, "daazvvv")                                   \
    X(CLOSURE_3_0, 1, SCRIPT, OP_ALLOC_CLOSURE, 3, 0, "daaaz")                                     \
    X(CLOSURE_3_1, 1, SCRIPT, OP_ALLOC_CLOSURE, 3, 1, "daaazv")                                    \
    X(CLOSURE_3_2, 1, SCRIPT, OP_ALLOC_CLOSURE, 3, 2, "daaazvv")                                   \
    X(CLOSURE_3_3, 1, SCRIPT, OP_ALLOC_CLOSURE, 3, 3, "daaazvvv")                                  \
    X(CLOSURE_4_0, 1, SCRIPT, OP_ALLOC_CLOSURE, 4, 0, "daaaaz")                                    \
    X(CLOSURE_4_1, 1, SCRIPT, OP_ALLOC_CLOSURE, 4, 1, "daaaazv")                                   \
    X(CLOSURE_4_2, 1, SCRIPT, OP_ALLOC_CLOSURE, 4, 2, "daaaazvv")                                  \
    X(CLOSURE_4_3, 1, SCRIPT, OP_ALLOC_CLOSURE, 4, 3, "daaaazvvv")                                 \
    X(RAW_0, 2, SCRIPT, OP_ALLOC_RAW, 0, 0, "dTz")                                                 \
    X(RAW_1, 3, SCRIPT, OP_ALLOC_RAW, 0, 1, "dTzw")                                                \
    X(RAW_2, 2, SCRIPT, OP_ALLOC_RAW, 0, 2, "dTzww")                                               \
    X(RAW_3, 2, SCRIPT, OP_ALLOC_RAW, 0, 3, "dTzwww")                                              \
    X(LOAD, 12, SCRIPT, OP_LOAD, 0, 0, "dsi")                                                      \
    X(STORE, 14, SCRIPT, OP_STORE, 0, 1, "div")                                                    \
    X(INIT, 6, SCRIPT, OP_INIT, 0, 1, "div")                                                       \
    X(BLIT, 6, SCRIPT, OP_BLIT, 0, 0, "sidjn")                                                     \
    X(FILL, 4, SCRIPT, OP_FILL, 0, 1, "dinv")                                                      \
    X(SET, 6, SCRIPT, OP_SET, 0, 1, "dv")                                                          \
    X(DROP, 5, SCRIPT, OP_DROP, 0, 0, "d")                                                         \
    X(INFIX, 4, SCRIPT, OP_INFIX, 0, 0, "dsi")                                                     \
    X(READ, 6, SCRIPT, OP_READ, 0, 0, "si")                                                        \
    X(MINOR, 5, SCRIPT, OP_MINOR, 0, 0, "")                                                        \
    X(SLICE, 2, SCRIPT, OP_SLICE, 0, 0, "")                                                        \
    X(SLICE_N, 2, SCRIPT, OP_SLICE, 0, 0, "n")                                                     \
    X(FULL, 8, SCRIPT, OP_FULL, 0, 0, "")                                                          \
    X(COMPACT, 2, SCRIPT, OP_COMPACT, 0, 0, "")                                                    \
    X(EXHAUST, 2, SCRIPT, OP_EXHAUST, 0, 0, "dn")                                                  \
    X(KIND, 1, SCRIPT, OP_KIND, 0, 0, "n")                                                         \
    X(POLL, 3, SCRIPT, OP_POLL, 0, 0, "")

#define HEAP_RECORDS(X)                                                                            \
    X(BLOCK_1, 5, HEAP, ITEM_BLOCK, 0, 1, "tv")                                                    \
    X(BLOCK_2, 8, HEAP, ITEM_BLOCK, 0, 2, "tvv")                                                   \
    X(BLOCK_3, 6, HEAP, ITEM_BLOCK, 0, 3, "tvvv")                                                  \
    X(BLOCK, 4, HEAP, ITEM_BLOCK, 0, 0, "tz")                                                      \
    X(FUNCTIONS_1_0, 1, HEAP, ITEM_CLOSURE, 1, 0, "az")                                            \
    X(FUNCTIONS_1_1, 1, HEAP, ITEM_CLOSURE, 1, 1, "azv")                                           \
    X(FUNCTIONS_1_2, 1, HEAP, ITEM_CLOSURE, 1, 2, "azvv")                                          \
    X(FUNCTIONS_2_0, 1, HEAP, ITEM_CLOSURE, 2, 0, "aaz")                                           \
    X(FUNCTIONS_2_1, 1, HEAP, ITEM_CLOSURE, 2, 1, "aazv")                                          \
    X(FUNCTIONS_2_2, 1, HEAP, ITEM_CLOSURE, 2, 2, "aazvv")                                         \
    X(FUNCTIONS_3_0, 1, HEAP, ITEM_CLOSURE, 3, 0, "aaaz")                                          \
    X(FUNCTIONS_3_1, 1, HEAP, ITEM_CLOSURE, 3, 1, "aaazv")                                         \
    X(FUNCTIONS_3_2, 1, HEAP, ITEM_CLOSURE, 3, 2, "aaazvv")                                        \
    X(FUNCTIONS_4_0, 1, HEAP, ITEM_CLOSURE, 4, 0, "aaaaz")                                         \
    X(FUNCTIONS_4_1, 1, HEAP, ITEM_CLOSURE, 4, 1, "aaaazv")                                        \
    X(FUNCTIONS_4_2, 1, HEAP, ITEM_CLOSURE, 4, 2, "aaaazvv")                                       \
    X(WORDS, 6, HEAP, ITEM_RAW, 0, 1, "Tzw")                                                       \
    X(FREE, 6, HEAP, ITEM_FREE, 0, 0, "z")                                                         \
    X(DEAD, 4, HEAP, ITEM_DEAD, 0, 0, "z")                                                         \
    X(FRAGMENT, 3, HEAP, ITEM_FRAGMENT, 0, 0, "")                                                  \
    X(FIELD, 10, FIELD, 0, 0, 1, "iv")

#define OTHER_RECORDS(X)                                                                           \
    X(ROOT, 16, ROOT, 0, 0, 1, "dv")                                                               \
    X(ROOT_OF, 4, ROOT, 0, 0, 1, "mdv")                                                            \
    X(CONFIG, 16, CONFIG, 0, 0, 0, "kbb")                                                          \
    X(STATIC, 4, STATIC, 0, 0, 0, "")                                                              \
    X(MUTATOR, 5, MUTATOR, 0, 0, 0, "m")                                                           \
    X(WIDE, 2, WIDE, 0, 0, 0, "bbbbbbbbb")                                                         \
    X(LATER, 5, SCRIPT, OP_LATER, 0, 0, "xdsijnv")

#define RECORDS(X) SCRIPT_RECORDS(X) HEAP_RECORDS(X) OTHER_RECORDS(X)

enum record_id {
#define X(name, weight, section, code, functions, values, operands) RECORD_##name,
    RECORDS(X)
#undef X
        RECORD_IDS
};

/* The opcodes of a record are FIRST_name .. LAST_name. */
enum record_opcode {
#define X(name, weight, section, code, functions, values, operands)                                \
    FIRST_##name, LAST_##name = FIRST_##name + (weight)-1,
    RECORDS(X)
#undef X
        RECORD_OPCODES
};
_Static_assert(RECORD_OPCODES == 256, "the weights of the records must use all opcodes");

struct record {
    uint8_t id, first; /* its number and its first opcode */
    uint8_t section, code, functions, values, length;
    const char *operands; /* one letter for each of the `length` operand bytes */
};
extern const struct record records[RECORD_IDS];
extern const uint8_t record_of_opcode[256]; /* enum record_id */

enum {
    RECORD_OPERANDS = 9,   /* operand bytes of the longest record */
    RECORD_WIDES = 4,      /* WIDE values that one record can use */
    RECORD_WIDE_BYTES = 10 /* a whole WIDE record */
};

/* A WIDE value: what it means depends on the operand that takes it. */
struct wide {
    uint8_t kind; /* enum value_kind; counts only where a value is wanted */
    uint64_t payload;
};
/* The byte of its kind: modulo those up to VALUE_SLOT below, an address or an atom from here on. */
enum { WIDE_ADDRESS = 192, WIDE_ATOM = 224 };

/* Sizes: one byte reaches min .. min + SIZE_SHORT_MAX, small ones twelve times as often. */
enum { SIZE_BIASED = 192, SIZE_BIAS = 16, SIZE_SHORT_MAX = 78 };

/* Ranges of the one-byte heap values; what is above the last one is a notable immediate. */
enum {
    HEAP_IMMEDIATE = 128, /* below: pointers to blocks 0..127 */
    HEAP_INFIX = 192,     /* the first infix block of blocks 0..47 */
    HEAP_OUTSIDE = 240,
    HEAP_NOTABLE = 248
};
extern const int64_t notable_immediates[7];

/* One-byte script values: below, slots; from here on, immediates. */
enum { SCRIPT_IMMEDIATE = PROGRAM_SLOTS };

/* One-byte raw words: below, themselves; from here on, single bits. */
enum { WORD_BIT = 192 };

/* The byte that takes a WIDE value. */
enum { WIDE_BYTE = 255 };

/* The high byte of a config value from which on the whole range is reached. */
enum { CONFIG_WHOLE = 0xe0 };

/* The operand (OPERAND_*) that a letter of LATER stands for; x is always read. */
static inline unsigned record_operand(char letter) {
    switch (letter) {
    case 'd':
        return OPERAND_DST;
    case 's':
        return OPERAND_SRC;
    case 'i':
        return OPERAND_I;
    case 'j':
        return OPERAND_J;
    case 'n':
        return OPERAND_N;
    case 'v':
        return OPERAND_VALUE;
    default:
        return ~0u;
    }
}

/* Smallest and largest size operand of a record of the script or heap section. */
static inline uint16_t record_min_size(const struct record *r) {
    return r->section == SECTION_SCRIPT ? op_shapes[r->code].min_size : r->code != ITEM_CLOSURE;
}
static inline uint16_t record_max_size(const struct record *r) {
    if (r->section == SECTION_SCRIPT)
        return op_shapes[r->code].max_size;
    return r->code == ITEM_CLOSURE ? op_shapes[OP_ALLOC_CLOSURE].max_size : PROGRAM_WOSIZE;
}

#endif
