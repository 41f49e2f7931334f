/* SPDX-License-Identifier: MIT
 *
 * What the mutators of onthefly_stress_test.c do, as operations on a heap that is either the
 * threads' or the model's, and the replay of their logs on the model.
 *
 * What a mutator changes is its own; what it shares are trees that nobody changes after they have
 * been published in a mailbox, where others find them.  So each log can be replayed alone, as long
 * as the trees are there that it received.
 */
#ifndef ISOHEAP_TESTS_ONTHEFLY_LOG_H
#define ISOHEAP_TESTS_ONTHEFLY_LOG_H

#include "models/onthefly_threads/threads.h"
#include "views/model.h"

enum {
    OPERATIONS = 3000, /* of a mutator in a round */
    SLOTS = 12,        /* and one more for what is on its way */
    HELD = SLOTS + 1,
    HELD_SLOTS = 8, /* keep what was taken for long */
    MAILBOX = 0,    /* the slot that leads to the mailboxes, in every mutator */
    EMPTY = OTF_ROOTS - 1,
    TAG_TREE = 100, /* and its height */
    HEIGHT_MAX = 6,
    TAG_MAILBOX = 120,
    BLOCKS_MAX = 1024,
    TREES_MAX = OPERATIONS
};

enum kind {
    PLAIN,
    CLOSURE,
    STRING,
    TREE,
    LOAD,
    STORE,
    TAKE, /* load, and clear the field: nothing but the slot holds it then */
    INFIX,
    COPY,
    CLEAR,
    PUBLISH,
    RECEIVE
};

struct operation {
    uint8_t kind, a, b, c;
    uint32_t number; /* content of a new block; or the tree received, 0: none */
};

/* In the order in which they were done. */
struct log {
    struct operation operation[OPERATIONS];
    unsigned n;
};

/* The operations' view of a heap. */
struct heap {
    bool (*alloc)(struct heap *, unsigned dst, size_t wosize, unsigned tag, const word *raw);
    void (*load)(struct heap *, unsigned dst, unsigned obj, size_t i);
    void (*store)(struct heap *, unsigned obj, size_t i, unsigned value);
    unsigned (*tag)(struct heap *, word v); /* 256: no pointer at the start of a block */
    size_t (*wosize)(struct heap *, word v);
    word (*offset)(word v, size_t fields);
    word *slots;
    void *owner; /* of the threads' heap: the mutator */
    struct model *model;
};

bool log_is_tree(unsigned tag);
/* Does an operation that is neither PUBLISH nor RECEIVE; false: it makes no sense now, or no block
 * is free, and nothing happens. */
bool log_operate(struct heap *, const struct operation *);

/* Replays so many logs, in slots 0 and on of each mutator of the model.  Returns the number of a
 * log that waits for a tree which nobody has made; n if there is none. */
unsigned log_replay(struct model *, const struct log *const *, unsigned n);
/* After that: a tree by its number, mutator << 24 | serial from 1; 0 if there is none. */
word log_tree(uint32_t number);

#endif
