/* SPDX-License-Identifier: MIT
 *
 * The model: an abstract heap without addresses, colours or free list.
 *
 * The executable form of level L1 of Myreen's "Reusable verification of a copying collector": a
 * finite map from object numbers to (tag, fields), where collection is `filter` by reachability and
 * renaming is invisible.  Mutator operations act on it directly; memory that no longer matters is
 * reclaimed behind the scenes.
 */
#ifndef ISOHEAP_MODEL_H
#define ISOHEAP_MODEL_H

#include "collectors/collector.h"

enum {
    MODEL_OBJECTS = 1 << 15, /* more than live + static ones and one operation can need */
    MODEL_WORDS = 1 << 16,
    MODEL_NONE = 0xfffff
};

/* A field or slot of the model is a word: immediates, raw, code and outside words as they are;
 * a pointer is an even word of a range of its own that names object and offset. */
#define MODEL_POINTER ((word)0x0100000000000000)
static inline word model_pointer(unsigned object, unsigned offset) {
    return MODEL_POINTER | (word)object << 20 | (word)offset << 4;
}
static inline bool model_is_pointer(word v) {
    return v >> 56 == 1 && !(v & 15);
}
static inline unsigned model_object(word v) {
    return (unsigned)(v >> 20) & MODEL_NONE;
}
static inline unsigned model_offset(word v) {
    return (unsigned)(v >> 4) & 0xffff;
}

struct model_object {
    uint32_t first_field; /* in fields */
    uint32_t wosize;
    uint32_t first_scanned; /* fields before it are raw */
    uint32_t mark;          /* == model.epoch: reachable */
    word address[2];        /* of the block in the heaps of subject and reference, if known */
    int32_t origin;         /* n >= 0: named block n of the program; -1 - n: operation n */
    uint16_t serial;        /* of the blocks that the same operation allocated, from 0 */
    uint8_t tag;
    bool is_static;
    bool in_use;
    bool ephemeron; /* its fields keep nothing alive but by the rule for ephemerons */
    bool pinned;    /* its number stays its own, reachable or not */
};

struct model {
    gc_slots slots[GC_MUTATORS];
    unsigned mutators; /* rows of slots in use; the others hold unit */
    uint32_t epoch;
    uint32_t n_objects; /* numbers in use are below */
    uint32_t n_order;   /* objects that own field storage, in its order */
    uint32_t n_words;
    uint32_t n_free;
    bool has_ephemerons;
    /* Filled by model_mark: what is reachable; words include headers, static ones not counted. */
    uint32_t live_objects, live_words;
    uint32_t
        n_reached; /* in work: every reachable object, static ones too, in order of discovery */
    struct model_object objects[MODEL_OBJECTS];
    uint32_t order[MODEL_OBJECTS], free[MODEL_OBJECTS], work[MODEL_OBJECTS];
    word fields[MODEL_WORDS];
};

void model_reset(struct model *, unsigned mutators);

/* A new object with the content raw[0..wosize) and no name yet in any slot; reclaims what is
 * unreachable if room is short.  MODEL_NONE if there is none even then. */
unsigned model_add(struct model *, size_t wosize, unsigned tag, size_t first_scanned,
                   const word *raw);

static inline word *model_fields(struct model *model, unsigned object) {
    return model->fields + model->objects[object].first_field;
}

/* The same result from a comparison that has found every reachable object: ids[0], ids[stride], ...
 */
void model_reached(struct model *, const uint32_t *ids, size_t stride, size_t n);

/* reach(h, roots): marks the reachable objects, counts them.  Linear in their fields, but for
 * ephemerons: the data is reachable if the ephemeron and all its keys are, until nothing more is.
 * A key that is not reachable then has died, and the data with it: both become unit. */
void model_mark(struct model *);

/* Words with headers of what the object reaches, itself too; static ones count nothing and lead
 * nowhere.  False if something there may not be counted.  Forgets what model_mark has marked. */
bool model_measure(struct model *, unsigned object, bool may(const struct model_object *),
                   size_t *words);

#endif
