/* SPDX-License-Identifier: MIT
 *
 * The input language: one program = config + heap + roots + script.
 *
 * A program is the only input anywhere in isoheap: what the fuzzer mutates, what a seed or a crash
 * file holds, what a report prints.  This header has the type and its limits; bytes.h has the total
 * decoder and the encoder, text.h the parser and the printer.  Nothing here knows of collectors.
 *
 * A struct program is a plain value of fixed size: it owns no memory, may be copied by assignment
 * (it is large: keep it static or on the heap, not on the stack), and only its used prefixes
 * (n_items, n_fields, n_ops) are meaningful.
 */
#ifndef ISOHEAP_PROGRAM_H
#define ISOHEAP_PROGRAM_H

#include <assert.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* ---- limits ---------------------------------------------------------------------------------- */

/* X(identifier, name, most, what there are at most that many of) */
/* clang-format off */
#define PROGRAM_LIMITS(X)                                                                          \
    X(MUTATORS, mutators, 4, "mutators")                                                           \
    X(SLOTS, slots, 32, "root slots of each mutator")                                              \
    X(ITEMS, items, 1024, "blocks and gaps of the initial heap")                                   \
    X(FIELDS, fields, 8192, "fields of all blocks of the initial heap together")                   \
    X(OPS, operations, 2048, "operations of the script")                                           \
    X(WOSIZE, wosize, 4096, "fields of a block, in the heap or allocated by the script")           \
    X(HEAP_WORDS, heap_words, 8192, "words of the heap; and of all static blocks")                 \
    X(LARGE_WORDS, large_heap_words, 134217728, "words of the heap of a text, which bytes have not") \
    X(FUNCTIONS, functions, 4, "functions of a closure: at most three infix blocks")               \
    X(VALUES, values, 3, "explicit initial values of an allocation")                               \
    X(SWITCHES, switches, 1024, "decisions of a schedule that a program gives itself")
/* clang-format on */
enum {
#define X(identifier, name, most, meaning) PROGRAM_##identifier = most,
    PROGRAM_LIMITS(X)
#undef X
        PROGRAM_VERSION = 1
};

/* Tags of the block kinds of the language: OCaml 4.14's numbers. */
enum {
    PROGRAM_TAG_LAZY = 246,
    PROGRAM_TAG_CLOSURE = 247,
    PROGRAM_TAG_OBJECT = 248,
    PROGRAM_TAG_INFIX = 249,
    PROGRAM_TAG_FORWARD = 250,
    PROGRAM_TAG_ABSTRACT = 251, /* first no-scan tag: from here on fields are raw words */
    PROGRAM_TAG_STRING = 252,
    PROGRAM_TAG_DOUBLE = 253, /* always one word */
    PROGRAM_TAG_DOUBLE_ARRAY = 254,
    PROGRAM_TAG_CUSTOM = 255
};

/* ---- config ---------------------------------------------------------------------------------- */

enum config_key {
    CONFIG_HEAP,       /* words of the heap (of one semispace); includes headers */
    CONFIG_NURSERY,    /* words of the minor heap */
    CONFIG_MARK_STACK, /* entries; 0: as many as the heap has words (the papers' choice) */
    CONFIG_SLICE,      /* words of work in a slice that gives no budget of its own */
    CONFIG_LARGE,      /* blocks of at least so many words are large objects */
    CONFIG_AGE,        /* minor collections that a block survives before promotion */
    CONFIG_STRESS,     /* n > 0: a full collection before every n-th allocation */
    CONFIG_FAIL,       /* n > 0: ask for more than the heap at the n-th allocation first */
    CONFIG_VARIANT,    /* chooses among the variants that the collector lists */
    CONFIG_KIND,       /* collector kind at the start, for collectors that have several */
    CONFIG_SCHEDULE,   /* who goes on, for collectors with threads; 0: each until it must wait */
    CONFIG_PREEMPT,    /* n > 0: and another may after up to n steps */
    CONFIG_KEYS
};

/* Range of one key.  soft_max bounds the values that a short byte encoding reaches (bytes.c);
 * largest is the bound of a text, max that of all that makes programs: bytes, mutation,
 * enumeration. */
struct config_range {
    const char *name; /* as in the text form */
    uint16_t min, max, initial, soft_max;
    uint32_t largest;
};
extern const struct config_range config_ranges[CONFIG_KEYS];

/* ---- values ---------------------------------------------------------------------------------- */

enum value_kind {
    VALUE_IMMEDIATE, /* bits: the integer, 63 bits signed, sign-extended to 64 */
    VALUE_RAW,       /* bits: the word; only in raw blocks, and only there */
    VALUE_OUTSIDE,   /* an even word that points outside every heap: see outside_form */
    VALUE_BLOCK,     /* heap section: pointer to named block `block` */
    VALUE_INFIX,     /* heap section: pointer to the infix block at field `offset` of `block` */
    VALUE_SLOT,      /* script: content of root slot `block` (of the operation's mutator) */
    VALUE_ADDRESS,   /* a word that looks like a pointer and is none: see address_bits */
    VALUE_ATOM,      /* bits: the tag of the block that has no fields, OCaml's Atom(tag) */
    VALUE_NEXT,      /* field of an item by count: pointer to the next block of that item; the last
                        has unit there */
    VALUE_EACH /* the same: pointer to the block with the same number of named block `block`, of
                  those that there are: modulo their number */
};

/* Where an address lies; what is not of a block is for scripts alone. */
enum address_place {
    ADDRESS_BLOCK,   /* at field `offset` of the named block `block` or, in a script, of what slot
                        `block` points at */
    ADDRESS_NURSERY, /* the first word of the young generation */
    ADDRESS_FREE,    /* the first word of the heap that no live block has */
    ADDRESS_FROM,    /* where a block that a slot leads to was before it moved the last time, in
                        from-space or the young generation; if none has moved, where the address
                        that was written before this one led to */
    ADDRESS_PLACES
};

struct value {
    uint8_t kind;    /* enum value_kind */
    uint16_t block;  /* VALUE_BLOCK, VALUE_INFIX: number among the named blocks; VALUE_SLOT: slot;
                        VALUE_ADDRESS: one of these */
    uint16_t offset; /* VALUE_INFIX: field of the closure where the infix block starts;
                        VALUE_ADDRESS: a field, taken modulo those that there are */
    uint64_t bits; /* VALUE_IMMEDIATE (two's complement), VALUE_RAW, VALUE_OUTSIDE; address_bits */
};

extern const char *const address_places[ADDRESS_PLACES]; /* as in the text form; the first: none */

/* The bits of a VALUE_ADDRESS: the place, and so many bytes beside it.  Doubled: the integer of
 * that value, instead of the word itself.  Each collector has the address in its own heap at the
 * time when the word is written; from then on it is data, which nobody updates and which keeps
 * nothing alive.  Where the program may have an immediate alone, the lowest bit is set. */
#define ADDRESS_BITS       2047u
#define ADDRESS_DOUBLED    1024u
#define ADDRESS_PLACE_UNIT 256u
static inline uint64_t address_bits(enum address_place place, bool doubled, int8_t plus) {
    return (doubled ? ADDRESS_DOUBLED : 0) | place * ADDRESS_PLACE_UNIT | (uint8_t)plus;
}
static inline enum address_place address_place(const struct value *v) {
    return (enum address_place)(v->bits / ADDRESS_PLACE_UNIT % ADDRESS_PLACES);
}
static inline bool address_doubled(const struct value *v) {
    return v->bits & ADDRESS_DOUBLED;
}
static inline int8_t address_plus(const struct value *v) {
    return (int8_t)(uint8_t)(v->bits & UINT8_MAX);
}

/* The bits of a VALUE_OUTSIDE.  A number: that of one of 65536 words that no machine has as an
 * address.  From OUTSIDE_UNIT on, what lies there besides: a small word itself; so many bytes
 * before the first word of the heap, or behind its last one, where each collector has its own (enum
 * outside_form).  From OUTSIDE_LEAST on: the word itself. */
enum outside_form { OUTSIDE_NUMBER, OUTSIDE_SMALL, OUTSIDE_BEFORE, OUTSIDE_BEHIND, OUTSIDE_WORD };
#define OUTSIDE_UNIT  ((uint64_t)1 << 16)
#define OUTSIDE_LEAST ((uint64_t)1 << 52) /* no heap of any machine lies so high */
enum { OUTSIDE_BYTES = 126 };             /* beside a heap, at most: collectors/arena.h */
static inline uint64_t outside_bits(enum outside_form form, uint64_t n) {
    return form == OUTSIDE_WORD ? n : form * OUTSIDE_UNIT + n;
}
static inline enum outside_form outside_form(const struct value *v) {
    return v->bits >= OUTSIDE_LEAST ? OUTSIDE_WORD : (enum outside_form)(v->bits / OUTSIDE_UNIT);
}
/* The number, word or bytes. */
static inline uint64_t outside_number(const struct value *v) {
    return v->bits >= OUTSIDE_LEAST ? v->bits : v->bits % OUTSIDE_UNIT;
}
/* Are these the bits of one?  Small words, bytes and words are even, no bytes before the heap are
 * inside it, and words whose highest byte is 1 or 2 are the model's own. */
bool outside_is_legal(uint64_t bits);

/* ---- heap ------------------------------------------------------------------------------------ */

enum item_kind {
    ITEM_BLOCK,   /* ordinary block, tag 0..246, 248 or 250; fields are scanned values */
    ITEM_CLOSURE, /* functions + environment; the fields of the item are the environment alone */
    ITEM_RAW,     /* tag >= 251; fields are VALUE_RAW, VALUE_ADDRESS */
    ITEM_FREE,    /* gap: a blue block on the free list, wosize >= 1 */
    ITEM_DEAD,    /* gap: allocated, unreachable, unnamed, tag 0, wosize >= 1, fields unit */
    ITEM_FRAGMENT /* gap: a header with wosize 0, one word */
};

struct item {
    uint8_t kind;      /* enum item_kind */
    uint8_t tag;       /* ITEM_BLOCK, ITEM_CLOSURE (247), ITEM_RAW; 0 for gaps */
    bool is_static;    /* named kinds only: lies outside the heap, never moved, never freed */
    bool address_code; /* ITEM_CLOSURE: its first code word is an address, that of the block which
                          the first field of the environment leads to, or its own */
    uint8_t functions; /* ITEM_CLOSURE: 1..PROGRAM_FUNCTIONS, else 0 */
    int8_t arity[PROGRAM_FUNCTIONS]; /* ITEM_CLOSURE; unused entries 0 */
    uint16_t wosize;      /* fields in words, code and infix words of a closure included */
    uint16_t first_field; /* index into program.fields; 0 for gaps */
    uint16_t n_fields;    /* block, raw: = wosize; closure: environment words; gap: 0 */
    uint32_t more; /* so many like it follow it at once: they have its fields, and no names */
};

/* ---- script ---------------------------------------------------------------------------------- */

/* OP_ALLOC, OP_ALLOC_CLOSURE, ... in the order of operations.def. */
enum op_code {
#define OP(id, ...) OP_##id,
#include "program/operations.def"
#undef OP
    OP_CODES
};

/* A set of operations, of bits UINT64_C(1) << OP_*. */
typedef uint64_t op_bits;
#define OP_BITS_ALL (UINT64_MAX >> (64 - OP_CODES))
static_assert((int)OP_CODES <= 64, "a set of operations is a word: more than 64 operations need an "
                                   "op_bits of several words");
static inline bool op_bits_have(op_bits set, unsigned code) {
    return set >> code & 1;
}

/* What an operation is like, for all who treat some of them alike: FLAG_ALLOCATES, ... */
#define OP_FLAGS(X)                                                                                \
    X(ALLOCATES)    /* makes blocks, which get names after it: n7, n7:2, ... */                    \
    X(RESULT)       /* what it leaves in dst is a pointer, if all goes well */                     \
    X(COLLECTS)     /* a collection of the whole heap or of the young blocks */                    \
    X(READS_DST)    /* it is about the block that dst holds */                                     \
    X(READS_VALUE)  /* and about the block that the value is */                                    \
    X(WRITES_FIELD) /* field i of dst, modulo its fields */                                        \
    X(READS_FIELD)  /* field i of src, modulo its fields */                                        \
    X(KEEPS_FRESH)  /* the block allocated last may still be initialised after it */               \
    X(RUNTIME)      /* of a language runtime */                                                    \
    X(ON_EPHEMERON) /* what it is about must be an ephemeron */                                    \
    X(ENUMERATE)    /* the menu of an enumeration can have it */                                   \
    X(EXPORT_ML)    /* an OCaml program can have it */
#define X(name) FLAG_NUMBER_##name,
enum { OP_FLAGS(X) };
#undef X
#define X(name) FLAG_##name = 1u << FLAG_NUMBER_##name,
enum { OP_FLAGS(X) };
#undef X
#define op_has(code, flag) ((op_shapes[code].flags & FLAG_##flag) != 0)

/* What the numbers i and n of an operation mean: X(name of the member in struct op, as an error
 * message calls it).  j is a field. */
#define OPERAND_I_MEANINGS(X)                                                                      \
    X(field, "a field")                                                                            \
    X(entry, "an entry")  /* of a closure; 0 is the closure itself */                              \
    X(shape, "a shape")   /* enum build_shape */                                                   \
    X(act, "an act")      /* enum finaliser_act */                                                 \
    X(damage, "a damage") /* enum text_damage */
#define OPERAND_N_MEANINGS(X)                                                                      \
    X(count, "a count")                                                                            \
    X(budget, "a budget") /* words of work; 0: the configured ones */                              \
    X(left, "a number of words")                                                                   \
    X(kind, "a collector kind")                                                                    \
    X(keys, "a count")                                                                             \
    X(words, "a count")     /* beyond the first */                                                 \
    X(kept, "a count")      /* fields beyond the first */                                          \
    X(last, "a count")      /* 1: Gc.finalise_last, 0: Gc.finalise */                              \
    X(unshared, "a choice") /* 1: without sharing */                                               \
    X(thrice, "a choice")   /* 1: three arrays, the first one again */                             \
    X(retagged, "a choice") /* 0: the same tag; else the tag, and one */                           \
    X(place, "a place")     /* of those that there are in the text */                              \
    X(requests, "a count")  /* the first that is refused; 0: none */                               \
    X(blocks, "a number of blocks")
/* What a finaliser does with the value that it is given, which goes into a slot first but for
 * ACT_WEAKEN.  The numbers are those of collectors/extras.h. */
enum finaliser_act {
    ACT_KEEP,    /* nothing more */
    ACT_COLLECT, /* a full collection */
    ACT_AGAIN,   /* asks for another finaliser of the value */
    ACT_WEAKEN,  /* makes it the first key of an ephemeron in that slot, or its data */
    ACT_RAISE,   /* raises an exception */
    FINALISER_ACTS
};
/* Of a marshalled text.  The numbers are those of collectors/extras.h. */
enum text_damage {
    DAMAGE_CUT,    /* its end is missing */
    DAMAGE_MAGIC,  /* it does not begin as one does */
    DAMAGE_LENGTH, /* it says that it is longer than it is */
    DAMAGE_SIZE,   /* it says that the value has more words than there is memory */
    DAMAGE_COUNT,  /* the same of its blocks */
    DAMAGE_CODE,   /* it says of a value what means nothing */
    DAMAGE_NAME,   /* it names code or a kind of custom block that nobody has */
    DAMAGES
};
enum build_shape { BUILD_LIST, BUILD_ARRAY, BUILD_TREE, BUILD_SHAPES };

/* One operation.  Operands that an operation does not use are zero (program_valid). */
struct op {
    uint8_t code;     /* enum op_code */
    uint8_t mutator;  /* < PROGRAM_MUTATORS; taken modulo what the collector has */
    uint8_t dst, src; /* slots */
    uint8_t tag;
    uint8_t functions;
    int8_t arity[PROGRAM_FUNCTIONS];
    uint8_t n_values;
    uint16_t size; /* words */
    /* Numbers, under the name that the operation's row gives them too.  Indexes are taken modulo
     * what exists. */
#define X(name, text) uint16_t name;
    union {
        uint16_t i;
        OPERAND_I_MEANINGS(X)
    };
    uint16_t j;
    union {
        uint16_t n;
        OPERAND_N_MEANINGS(X)
    };
#undef X
    /* VALUE_SLOT, VALUE_IMMEDIATE, VALUE_OUTSIDE, VALUE_ATOM; or VALUE_RAW; and VALUE_ADDRESS */
    struct value values[PROGRAM_VALUES];
};

/* Which operands an operation has: OPERAND_DST, ... */
#define OPERANDS(X)                                                                                \
    X(DST)                                                                                         \
    X(SRC)                                                                                         \
    X(TAG)                                                                                         \
    X(FUNCTIONS)                                                                                   \
    X(SIZE)                                                                                        \
    X(I)                                                                                           \
    X(J)                                                                                           \
    X(N)                                                                                           \
    X(VALUES) /* 0..PROGRAM_VALUES of them */                                                      \
    X(VALUE)  /* exactly one */
#define X(name) OPERAND_NUMBER_##name,
enum { OPERANDS(X) };
#undef X
#define X(name) OPERAND_##name = 1u << OPERAND_NUMBER_##name,
enum { OPERANDS(X) };
#undef X

/* The numbers that an enumeration gives to an operand (program/enumeration/enumerate.h). */
enum menu_numbers {
    MENU_ZERO,
    MENU_ONE,
    MENU_TWO,
    MENU_ZERO_AND_ONE,
    MENU_EACH_FIELD, /* of the longest shape, from 0 on */
    MENU_ALL_FIELDS, /* as many as that shape has */
    MENU_EACH_KIND,  /* that the scope has */
    MENU_EACH_SHAPE,
    MENU_EACH_ACT,
    MENU_EACH_DAMAGE
};

/* A row of operations.def, which says what is what: bytes, text, validity, mutation, reduction and
 * enumeration are driven by it. */
struct op_shape {
    const char *name, *form;
    const char *i, *n; /* what they mean, as an error message calls it; NULL: not there */
    unsigned operands; /* OPERAND_* */
    unsigned flags;    /* FLAG_* */
    uint16_t max_i, max_j, max_n; /* largest legal operand */
    uint16_t min_size, max_size;
    uint8_t menu_i, menu_j, menu_n;
    uint8_t simpler, weight;
};
extern const struct op_shape op_shapes[OP_CODES];

/* ---- the program ----------------------------------------------------------------------------- */

/* A decision of the schedule of threads, where it is not the first of the choices: which decision,
 * 1 to UINT16_MAX, and the how-manieth of those who can go on in turn, 1 to SWITCH_CHOICES - 1,
 * modulo how many they are. */
enum { SWITCH_CHOICES = 840 /* a multiple of all numbers up to 8 */ };
static inline uint32_t switch_make(unsigned at, unsigned choice) {
    return (uint32_t)at << 16 | choice;
}
static inline unsigned switch_at(uint32_t s) {
    return s >> 16;
}
static inline unsigned switch_choice(uint32_t s) {
    return s & UINT16_MAX;
}

struct program {
    uint32_t config[CONFIG_KEYS];
    uint16_t n_items, n_fields, n_ops, n_switches;
    uint32_t switches[PROGRAM_SWITCHES]; /* ascending; if there is one, config schedule decides
                                            nothing but preemptions */
    struct value roots[PROGRAM_MUTATORS][PROGRAM_SLOTS]; /* none RAW, none SLOT */
    struct item items[PROGRAM_ITEMS];
    struct value fields[PROGRAM_FIELDS];
    struct op ops[PROGRAM_OPS];
};

/* The empty program: default config, no items, every root the immediate 0 (unit), no script. */
void program_clear(struct program *p);
/* Copies the meaningful content alone: an assignment would move 295 KB. */
void program_copy(struct program *to, const struct program *from);
/* Decision `at` of the schedule is that choice, whatever it was; false and no change if the program
 * lists as many as it can. */
bool program_decide(struct program *p, unsigned at, unsigned choice);

/* NULL if p keeps every rule of this header, else a static sentence that says which it breaks.
 * Every program that decode or parse yields is valid; every valid program can be printed, encoded
 * and run.  The rules beyond the ranges above:
 *  - named blocks are the items of kind BLOCK, CLOSURE and RAW, numbered in order;
 *  - a VALUE_INFIX offset is an infix block of that closure (closure_entry_offset, k >= 1);
 *  - a static block's fields point at static blocks alone;
 *  - the words of all items outside static space fit into config heap; static ones into
 *    PROGRAM_HEAP_WORDS;
 *  - VALUE_NEXT and VALUE_EACH stand in items by count, and VALUE_ADDRESS does not;
 *  - the items' fields stand in `fields` in the order of the items, without holes;
 *  - an operation with OPERAND_VALUE has n_values 1;
 *  - operands that are not used, and array entries beyond the counts inside an item or op, are 0;
 *  - tags are legal for the kind; PROGRAM_TAG_DOUBLE has size 1. */
const char *program_valid(const struct program *p);

/* Has it what bytes cannot say: a heap beyond PROGRAM_HEAP_WORDS, or items by count?  Such a
 * program comes from a text; it is run, reduced and printed, and neither encoded nor mutated. */
bool program_is_large(const struct program *p);

/* Same program?  Compares what is meaningful, ignores unused array tails. */
bool program_equal(const struct program *a, const struct program *b);
bool op_equal(const struct op *a, const struct op *b);

/* An allocation's block gets one field, as a double has: size 1, and the first value if any. */
void op_keep_one_field(struct op *);

/* Blocks that an operation makes where there is room, and the words of the first k of them with
 * their headers.  What depends on the heap (exhaust, marshal, clone, weak_copy, sub, append, dup)
 * counts as none. */
unsigned op_blocks(const struct op *);
unsigned op_words(const struct op *, unsigned k);

/* Does an operation give the slot `dst` a new value?  Does it read that slot, of its own mutator?
 */
bool op_writes_slot(const struct op *);
bool op_reads_slot(const struct op *, unsigned slot);

/* What a collector without a runtime does for this operation of one, if that is another operation;
 * else false, and *plain, which may be the same, is as it was.  Those whose meaning depends on the
 * block that they find, or that are many operations, are left: forward, truncate, build; finalise
 * and measure do nothing. */
bool op_without_runtime(const struct op *, struct op *plain);

/* Is any value of the program such a one?  Those of fields and roots come with NULL, operands with
 * their operation. */
bool program_any_value(const struct program *,
                       bool (*is)(const struct value *, const struct op *, const void *context),
                       const void *context);

/* A digest of the meaningful content (FNV-1a, 64 bits); equal programs have equal digests. */
uint64_t program_digest(const struct program *p);

/* ---- helpers shared by the printers, the harness and the mutators ---------------------------- */

bool value_equal(const struct value *a, const struct value *b);
/* Does it lead to a named block of the initial heap? */
static inline bool value_is_reference(const struct value *v) {
    return v->kind == VALUE_BLOCK || v->kind == VALUE_INFIX || v->kind == VALUE_EACH;
}
/* Of the heap section: does it name a block, as a pointer to it or by its address? */
static inline bool value_names_block(const struct value *v) {
    return value_is_reference(v) || v->kind == VALUE_ADDRESS;
}
/* Of the script: does it read the slot `block`? */
static inline bool value_reads_slot(const struct value *v) {
    return v->kind == VALUE_SLOT || (v->kind == VALUE_ADDRESS && address_place(v) == ADDRESS_BLOCK);
}

/* Is tag legal for an ordinary (scanned) block of the language: 0..246, 248, 250? */
bool tag_is_ordinary(unsigned tag);
/* 251..255 */
bool tag_is_raw(unsigned tag);
/* May a block without fields have it: 0..245, 251, 254?  Of the others code reads a field. */
bool tag_is_atom(unsigned tag);

/* Words that the functions of a closure take before its environment (= start of environment):
 * 2 for arity 0 or 1, else 3, and one infix header between two functions. */
unsigned closure_code_words(unsigned functions, const int8_t *arity);

/* Field at which entry k of a closure starts; 0 for k = 0, an infix block for k >= 1. */
unsigned closure_entry_offset(unsigned k, const int8_t *arity);

/* Words that an item takes in the heap, headers included, all blocks of an item by count. */
unsigned item_words(const struct item *item);
static inline unsigned item_count(const struct item *item) {
    return item->more + 1u;
}
static inline bool item_is_named(const struct item *item) {
    return item->kind <= ITEM_RAW;
}
/* Words of all items outside static space, headers included, and of those inside. */
unsigned program_heap_words(const struct program *p);
unsigned program_static_words(const struct program *p);
/* Rows of slots that it knows of: 1 .. PROGRAM_MUTATORS. */
unsigned program_mutators(const struct program *p);
/* Number of named blocks. */
unsigned program_named(const struct program *p);
/* The item of named block b, or NULL. Linear in the number of items. */
const struct item *program_named_item(const struct program *p, unsigned b);

#endif
