/* SPDX-License-Identifier: MIT
 *
 * Private to the mutation files of program/: the state of a round, the kinds of mutation and the
 * edits that they are made of.
 *
 * Every function here keeps the program valid (program_valid), so that mutations can follow one
 * another without a check in between.
 */
#ifndef ISOHEAP_PROGRAM_MUTATION_H
#define ISOHEAP_PROGRAM_MUTATION_H

#include "program/mutation/mutate.h"
#include "program/named.h"
#include "program/random.h"

/* The tags that mutation chooses among: the first TAG_RAW_CHOICE are those of ordinary blocks. */
enum tag_choice {
    TAG_CHOICE_ZERO,
    TAG_CHOICE_SMALL, /* 1..245 */
    TAG_CHOICE_LAZY,
    TAG_CHOICE_OBJECT,
    TAG_CHOICE_FORWARD,
    TAG_RAW_CHOICE,
    TAG_CHOICE_ABSTRACT = TAG_RAW_CHOICE,
    TAG_CHOICE_STRING,
    TAG_CHOICE_DOUBLE,
    TAG_CHOICE_DOUBLE_ARRAY,
    TAG_CHOICE_CUSTOM,
    TAG_CHOICES
};

/* A profile has factors on the weights of profiles.c; 0 stands for 1. */
struct mutation_profile {
    const char *name, *meaning;
    uint8_t kinds[MUTATION_KIND_COUNT], ops[OP_CODES], tags[TAG_CHOICES], keys[CONFIG_KEYS];
    uint8_t closures; /* of 16 blocks that are added to the heap; 0 stands for 2 */
    uint8_t infix;    /* of 16 pointers at a closure with infix blocks; 0 stands for 6 */
    uint8_t stars;    /* of 16 groups of new blocks, those around one that points at all; 0: 4 */
};

struct mutation_weights {
    uint16_t kinds[MUTATION_KIND_COUNT], ops[OP_CODES], tags[TAG_CHOICES], keys[CONFIG_KEYS];
    unsigned closures, infix, stars;
};
void mutation_weights_set(struct mutation_weights *, const struct mutation_profile *);

struct mutation {
    struct program program; /* that is changed */
    struct program second;  /* crossover: the other parent */
    struct mutation_weights weights;
    mutate_bytes *bytes;
    struct random random;
    size_t longest; /* fields of a block of the initial heap; 0: as many as there may be */
    struct {
        op_bits ops; /* bit sets: what this round uses */
        uint32_t kinds, tags;
    } swarm;
    uint32_t done;    /* bit set of kinds: what the last round did */
    bool bytes_round; /* the last round was the engine's */
    bool crossed;     /* the last round was a crossover */
    uint64_t counts[MUTATION_KIND_COUNT];
};

/* An index below n whose bit in enabled is set, with probability proportional to its weight; all
 * count as enabled if none that has a weight is. */
unsigned pick_weighted(struct random *, const uint16_t *weights, unsigned n, uint64_t enabled);

/* ---- kinds: each changes m->program, or returns false ------------------------------------------
 */

#define X(name, meaning) bool mutate_##name(struct mutation *m);
MUTATION_KINDS(X)
#undef X

/* ---- values and operations (values.c) ---------------------------------------------------
 */

struct value random_immediate(struct random *);
struct value random_word(struct random *);
/* For a raw block of the heap: such a word, or an address. */
struct value random_heap_word(struct mutation *, const struct named_blocks *);
/* For a field or root; from_static: only static blocks may be pointed at. */
struct value random_heap_value(struct mutation *, const struct named_blocks *, bool from_static);
/* A tag of the round, for ordinary or for raw blocks. */
uint8_t random_tag(struct mutation *, bool raw);
/* Sizes are mostly small, sometimes what is left of the heap. */
uint16_t random_size(struct mutation *, unsigned min, unsigned max);
/* Functions and arities, others 0; returns how many functions. */
uint8_t random_functions(struct mutation *, int8_t arity[PROGRAM_FUNCTIONS]);

/* Where operations are put: anywhere, but often at the end, where what was built is there. */
unsigned random_place(struct mutation *);
/* The mutator of the operation before, or at times another one. */
uint8_t choose_mutator(struct mutation *, unsigned at);
/* A whole operation for place `at` of the script; the second: of this code. */
struct op new_operation(struct mutation *, unsigned at);
struct op new_operation_of(struct mutation *, unsigned at, uint8_t code, uint8_t mutator);
/* Changes one operand of operation `at`; false if it has none. */
bool change_operand(struct mutation *, unsigned at);

/* Crossover: decisions of m->second go into m->program (decisions.c); false if it has none. */
bool cross_decisions(struct mutation *);

/* ---- edits (edit.c) ---------------------------------------------------------------------
 */

/* Makes room for an item at place `at`, fields at their default; raises the configured heap.  False
 * and no change if a limit is in the way. */
bool edit_insert_item(struct program *, unsigned at, const struct item *);
/* References to the items that go become unit. */
void edit_remove_items(struct program *, unsigned from, unsigned count);
/* Another number of fields (gap: words) for an item; new ones have their default. */
bool edit_resize_item(struct program *, unsigned at, unsigned size);
/* Other functions for a closure; infix pointers follow. */
bool edit_functions(struct program *, unsigned at, unsigned functions, const int8_t *arity);
/* Another tag, ordinary or raw, for a block that is no closure; fields are converted. */
bool edit_tag(struct program *, unsigned at, uint8_t tag);
/* The closure's first code word becomes an address, or is none any more. */
bool edit_code(struct program *, unsigned at);
/* Makes room for count operations at place `at`, content undefined; returns how many it has. */
unsigned edit_open_script(struct program *, unsigned at, unsigned count);
void edit_remove_ops(struct program *, unsigned from, unsigned count);
/* What one more item of so many words needs: is there room in the heap or static space? */
bool edit_has_room(const struct program *, unsigned words, bool is_static);
/* The named number of the item at `at`, or of the next named one. */
unsigned edit_named_before(const struct program *, unsigned at);

/* ---- rounds (mutate.c) -------------------------------------------------------------------------
 */

/* Seeds the generator, chooses what the round uses. */
void start_round(struct mutation *m, uint64_t seed);
/* Encodes m->program and leaves parts of it out until it fits into max_size. */
size_t encode_within(struct mutation *m, uint8_t *out, size_t max_size);
/* A program from bytes, or from text if it looks like it. */
void mutation_load(struct program *, const uint8_t *data, size_t size);

#endif
