/* SPDX-License-Identifier: MIT
 *
 * Idioms (mutation.h): operations that mean something together and nothing each alone, as a program
 * in OCaml would have them.
 *
 * An engine keeps an operation if it is news.  The key of an ephemeron without data, or its data
 * without a key, is none, so that chains of such operations hardly come about one by one.  Here
 * they come at once, with what varies at random: slots, sizes, tags, a step that is left out, a
 * collection in between.
 */
#include "program/mutation/internal.h"

enum { A, B, C, D, SLOT_ROLES, NO_ROLE = SLOT_ROLES, EVERY_SLOT };
enum { GROWN_HEAP = 2048 }; /* words: more than the smallest piece of one */
enum { AT_RANDOM = 0, LONGEST_IDIOM = 14, SMALL_TAG = 1 /* of a block with one field */ };

/* Operands that are not named, as of any new operation. */
struct step {
    uint8_t code;
    uint8_t dst, src, value; /* which of the idiom's slots */
    uint8_t field;           /* i, or j if there is no other, + 1; AT_RANDOM */
    uint8_t n;               /* at least so many */
    uint8_t tag;             /* of one field; 0: at random */
    bool address;            /* the value is the address of what is in the slot */
};
struct idiom {
    unsigned length;
    struct step steps[LONGEST_IDIOM];
};

#define MAKE(code, slot)                                                                           \
    { code, slot, NO_ROLE, NO_ROLE, AT_RANDOM, 0, 0, false }
#define MAKE_KEYS(slot, keys)                                                                      \
    { OP_EPHEMERON, slot, NO_ROLE, NO_ROLE, AT_RANDOM, keys, 0, false }
#define MAKE_SMALL(slot)                                                                           \
    { OP_ALLOC, slot, NO_ROLE, NO_ROLE, AT_RANDOM, 0, SMALL_TAG, false }
#define MAKE_LAZY(slot)                                                                            \
    { OP_ALLOC, slot, NO_ROLE, NO_ROLE, AT_RANDOM, 0, PROGRAM_TAG_LAZY, false }
#define PUT(code, to, field, what)                                                                 \
    { code, to, NO_ROLE, what, (field) + 1, 0, 0, false }
#define GET(code, to, from, field)                                                                 \
    { code, to, from, NO_ROLE, (field) + 1, 0, 0, false }
#define JOIN(to, first, other)                                                                     \
    { OP_APPEND, to, first, other, AT_RANDOM, 0, 0, false }
#define PUT_ADDRESS(to, field, what)                                                               \
    { OP_STORE, to, NO_ROLE, what, (field) + 1, 0, 0, true }
#define MAKE_MANY(slot, blocks)                                                                    \
    { OP_BUILD, slot, NO_ROLE, NO_ROLE, AT_RANDOM, blocks, 0, false }
#define SLICE_OF(budget)                                                                           \
    { OP_SLICE, NO_ROLE, NO_ROLE, NO_ROLE, AT_RANDOM, budget, 0, false }
#define CYCLE /* a slice that may be all of one */ SLICE_OF(UINT8_MAX)
#define COLLECT(code)                                                                              \
    { code, NO_ROLE, NO_ROLE, NO_ROLE, AT_RANDOM, 0, 0, false }

static const struct idiom idioms[] = {
    /* an ephemeron whose data nothing else holds */
    {6,
     {MAKE(OP_ALLOC, A), MAKE_KEYS(C, 1), PUT(OP_EPHE_SET, C, 1, A), MAKE(OP_ALLOC, B),
      PUT(OP_EPHE_SET, C, 0, B), MAKE(OP_DROP, B)}},
    /* the same with a key inside a closure */
    {7,
     {MAKE(OP_ALLOC_CLOSURE, A), GET(OP_INFIX, A, A, 1), MAKE_KEYS(C, 1), PUT(OP_EPHE_SET, C, 1, A),
      MAKE(OP_ALLOC, B), PUT(OP_EPHE_SET, C, 0, B), MAKE(OP_DROP, B)}},
    /* data moves from one ephemeron to another while a cycle is under way that looks at each once,
     * the last one first: one slice begins it, the other ends where what the ephemeron between the
     * two has is being marked, which takes long */
    {14,
     {MAKE(OP_EPHEMERON, C), MAKE(OP_ALLOC, B), PUT(OP_EPHE_SET, C, 0, B), MAKE_MANY(B, 40),
      MAKE(OP_EPHEMERON, A), PUT(OP_EPHE_SET, A, 0, B), MAKE(OP_DROP, B), MAKE(OP_EPHEMERON, D),
      COLLECT(OP_FULL), SLICE_OF(20), SLICE_OF(20), GET(OP_EPHE_BLIT, D, C, 0),
      PUT(OP_EPHE_UNSET, C, 0, NO_ROLE), COLLECT(OP_FULL)}},
    /* what only an ephemeron has is taken out of it, at whatever moment of a cycle */
    {8,
     {MAKE_KEYS(C, 1), MAKE(OP_ALLOC, A), PUT(OP_EPHE_SET, C, 1, A), COLLECT(OP_MINOR),
      MAKE(OP_DROP, A), COLLECT(OP_SLICE), GET(OP_EPHE_GET, B, C, 1), COLLECT(OP_SLICE)}},
    /* the same of a copy, which leads to another block */
    {10,
     {MAKE(OP_ALLOC, B), MAKE(OP_ALLOC, A), PUT(OP_STORE, A, 0, B), MAKE_KEYS(C, 1),
      PUT(OP_EPHE_SET, C, 1, A), MAKE(OP_DROP, A), MAKE(OP_DROP, B), COLLECT(OP_MINOR),
      COLLECT(OP_SLICE), GET(OP_EPHE_COPY, D, C, 1)}},
    /* a custom block, which is given away itself */
    {8,
     {MAKE_KEYS(C, 1), MAKE(OP_RESOURCE, A), PUT(OP_EPHE_SET, C, 1, A), COLLECT(OP_MINOR),
      MAKE(OP_DROP, A), COLLECT(OP_SLICE), GET(OP_EPHE_COPY, B, C, 1), COLLECT(OP_SLICE)}},
    /* data is asked for, or another key set, when the key has died */
    {10,
     {MAKE_KEYS(C, 1), MAKE(OP_ALLOC, A), MAKE(OP_ALLOC, B), PUT(OP_EPHE_SET, C, 1, A),
      PUT(OP_EPHE_SET, C, 0, B), COLLECT(OP_MINOR), MAKE(OP_DROP, A), MAKE(OP_DROP, B),
      COLLECT(OP_SLICE), GET(OP_EPHE_GET, D, C, 0)}},
    {10,
     {MAKE_KEYS(C, 1), MAKE(OP_ALLOC, A), MAKE(OP_ALLOC, B), PUT(OP_EPHE_SET, C, 1, A),
      PUT(OP_EPHE_SET, C, 0, B), MAKE(OP_DROP, A), MAKE(OP_DROP, B), COLLECT(OP_SLICE),
      PUT(OP_EPHE_SET, C, 1, D), GET(OP_EPHE_GET, B, C, 0)}},
    /* a finaliser brings its value back, with what that leads to */
    {7,
     {MAKE(OP_ALLOC, B), MAKE(OP_ALLOC, A), PUT(OP_STORE, A, 0, B), GET(OP_FINALISE_THEN, A, D, 0),
      MAKE(OP_DROP, A), MAKE(OP_DROP, B), COLLECT(OP_SLICE)}},
    /* two finalisers, of which the later one comes first */
    {7,
     {MAKE(OP_ALLOC, A), MAKE(OP_ALLOC, B), MAKE(OP_FINALISE, A), GET(OP_FINALISE_THEN, B, A, 0),
      MAKE(OP_DROP, A), MAKE(OP_DROP, B), COLLECT(OP_SLICE)}},
    /* a lazy block that is a key is forced to a young one while a cycle is under way */
    {12,
     {MAKE_LAZY(A), MAKE_KEYS(C, 1), PUT(OP_EPHE_SET, C, 1, A), MAKE(OP_ALLOC, D),
      PUT(OP_EPHE_SET, C, 0, D), MAKE(OP_DROP, D), COLLECT(OP_SLICE), MAKE(OP_ALLOC, B),
      PUT(OP_FORWARD, A, 0, B), COLLECT(OP_SLICE), COLLECT(OP_MINOR), GET(OP_EPHE_GET, D, C, 0)}},
    /* a lazy block is forced */
    {4, {MAKE_LAZY(A), MAKE(OP_ALLOC, B), PUT(OP_FORWARD, A, 0, B), MAKE(OP_DROP, B)}},
    /* the only pointer to a block moves from a field to a slot while a cycle is under way */
    {7,
     {MAKE(OP_ALLOC, A), MAKE(OP_ALLOC, B), PUT(OP_STORE, A, 0, B), MAKE(OP_DROP, B),
      COLLECT(OP_SLICE), GET(OP_LOAD, B, A, 0), PUT(OP_STORE, A, 0, NO_ROLE)}},
    /* an old block has the only pointer to a young one */
    {6,
     {MAKE(OP_ALLOC, A), COLLECT(OP_MINOR), MAKE(OP_ALLOC, B), PUT(OP_STORE, A, 0, B),
      MAKE(OP_DROP, B), COLLECT(OP_MINOR)}},
    /* the same, and it leads into a closure */
    {7,
     {MAKE(OP_ALLOC, A), COLLECT(OP_MINOR), MAKE(OP_ALLOC_CLOSURE, B), GET(OP_INFIX, B, B, 1),
      PUT(OP_STORE, A, 0, B), MAKE(OP_DROP, B), COLLECT(OP_MINOR)}},
    /* an old block has the address of a young one, as an integer */
    {5,
     {MAKE(OP_ALLOC, A), COLLECT(OP_MINOR), MAKE(OP_ALLOC, B), PUT_ADDRESS(A, 0, B),
      COLLECT(OP_MINOR)}},
    /* a raw block has the address of one that dies, or moves */
    {5,
     {MAKE(OP_ALLOC, B), MAKE(OP_ALLOC_RAW, A), PUT_ADDRESS(A, 0, B), MAKE(OP_DROP, B),
      COLLECT(OP_MINOR)}},
    /* a mutator goes in the middle of a cycle, with all that it holds, and comes again */
    {6,
     {MAKE(OP_ALLOC, A), COLLECT(OP_SLICE), COLLECT(OP_DETACH), COLLECT(OP_SLICE),
      COLLECT(OP_ATTACH), MAKE(OP_ALLOC, A)}},
    /* a block loses its end while it waits to be marked */
    {3, {MAKE(OP_ALLOC, A), COLLECT(OP_SLICE), MAKE(OP_TRUNCATE, A)}},
    /* a heap that has grown becomes empty */
    {5, {MAKE(OP_EXHAUST, A), MAKE(OP_DROP, EVERY_SLOT), CYCLE, CYCLE, CYCLE}},
    /* a new block is made of an old one that has the only pointer to a young one */
    {8,
     {MAKE(OP_ALLOC, A), COLLECT(OP_MINOR), MAKE(OP_ALLOC, B), PUT(OP_STORE, A, 0, B),
      MAKE(OP_DROP, B), JOIN(D, A, A), GET(OP_DUP, C, D, 0), COLLECT(OP_MINOR)}},
    /* an old block becomes like a young one, which leads to another */
    {9,
     {MAKE_SMALL(A), COLLECT(OP_MINOR), MAKE(OP_ALLOC, B), MAKE_SMALL(D), PUT(OP_STORE, D, 0, B),
      PUT(OP_UPDATE, A, 0, D), MAKE(OP_DROP, B), MAKE(OP_DROP, D), COLLECT(OP_MINOR)}},
    /* the only pointer to a block is in a Forward block, and moves while a cycle is under way */
    {7,
     {MAKE(OP_ALLOC, B), PUT(OP_FORWARDING, A, 0, B), MAKE(OP_DROP, B), COLLECT(OP_SLICE),
      GET(OP_SUB, D, A, 0), MAKE(OP_DROP, A), COLLECT(OP_SLICE)}},
};
enum { IDIOMS = sizeof idioms / sizeof *idioms };

/* The idiom's slots are few of the low ones, so that idioms meet. */
static void choose_slots(struct random *r, uint8_t slots[SLOT_ROLES]) {
    unsigned first = random_below(r, random_chance(r, 4) ? PROGRAM_SLOTS : 8);
    for (unsigned role = 0; role < SLOT_ROLES; role++)
        slots[role] = (uint8_t)((first + role) % PROGRAM_SLOTS);
}

static void set_field(struct op *op, uint8_t field) {
    const struct op_shape *shape = &op_shapes[op->code];
    if (shape->operands & OPERAND_I)
        op->i = (uint16_t)(field - 1);
    if (shape->operands & OPERAND_J)
        op->j = (uint16_t)(field - 1);
}

static struct op operation_of(struct mutation *m, unsigned at, const struct step *step,
                              const uint8_t slots[SLOT_ROLES], uint8_t mutator) {
    struct op op = new_operation_of(m, at, step->code, mutator);
    unsigned operands = op_shapes[op.code].operands;
    if (step->dst != NO_ROLE && operands & OPERAND_DST)
        op.dst = slots[step->dst];
    if (step->src != NO_ROLE && operands & OPERAND_SRC)
        op.src = slots[step->src];
    if (step->value != NO_ROLE && operands & OPERAND_VALUE)
        op.values[0] = (struct value){.kind = step->address ? VALUE_ADDRESS : VALUE_SLOT,
                                      .block = slots[step->value]};
    if (step->field != AT_RANDOM)
        set_field(&op, step->field);
    if (op.n < step->n)
        op.n = step->n;
    if (step->tag) {
        op.tag = step->tag;
        op_keep_one_field(&op);
    }
    return op;
}

/* By which mutator: not by the first, which stays, where one goes. */
static uint8_t choose_performer(struct mutation *m, const struct idiom *idiom, unsigned at) {
    uint8_t mutator = choose_mutator(m, at);
    for (unsigned s = 0; s < idiom->length && mutator == 0; s++)
        if (idiom->steps[s].code == OP_DETACH)
            mutator = (uint8_t)random_between(&m->random, 1, PROGRAM_MUTATORS - 1);
    return mutator;
}

static uint8_t some_collection(struct random *r) {
    static const uint8_t codes[] = {OP_SLICE, OP_SLICE, OP_MINOR, OP_FULL};
    return codes[random_below(r, sizeof codes)];
}

/* Behind the first ones of ops: drops every slot that is a root or that an operation writes, of a
 * heap that may have grown.  Of how many there are then. */
static unsigned drop_all(struct mutation *m, uint8_t mutator, struct op *ops, unsigned count) {
    struct program *p = &m->program;
    bool used[PROGRAM_SLOTS] = {false};
    for (unsigned i = 0; i < p->n_ops; i++)
        used[p->ops[i].dst] = true;
    for (unsigned i = 0; i < count; i++)
        used[ops[i].dst] = true;
    for (unsigned s = 0; s < PROGRAM_SLOTS; s++)
        if (used[s] || p->roots[0][s].kind != VALUE_IMMEDIATE)
            ops[count++] = (struct op){.code = OP_DROP, .mutator = mutator, .dst = (uint8_t)s};
    if (p->config[CONFIG_HEAP] < GROWN_HEAP)
        p->config[CONFIG_HEAP] = GROWN_HEAP;
    return count;
}

bool mutate_idiom(struct mutation *m) {
    const struct idiom *idiom = &idioms[random_below(&m->random, IDIOMS)];
    struct op ops[2 * LONGEST_IDIOM + PROGRAM_SLOTS + 1];
    uint8_t slots[SLOT_ROLES];
    unsigned at = random_place(m), count = 0;
    uint8_t mutator = choose_performer(m, idiom, at);
    choose_slots(&m->random, slots);
    for (unsigned s = 0; s < idiom->length; s++) {
        if (idiom->steps[s].dst == EVERY_SLOT)
            count = drop_all(m, mutator, ops, count);
        else if (!random_chance(&m->random, 16))
            ops[count++] = operation_of(m, at, &idiom->steps[s], slots, mutator);
        if (random_chance(&m->random, 8))
            ops[count++] = new_operation_of(m, at, some_collection(&m->random), mutator);
    }
    if (random_chance(&m->random, 2))
        ops[count++] = new_operation_of(m, at, OP_FULL, mutator);
    count = edit_open_script(&m->program, at, count);
    for (unsigned i = 0; i < count; i++)
        m->program.ops[at + i] = ops[i];
    return count > 0;
}
