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
#include "program/program.h"

/* Of a heap that the fuzzer's limits allow; larger ones have a model that has grown (model_room).
 */
enum {
    MODEL_OBJECTS = 1 << 15, /* more than the live ones, the static ones and one operation need */
    MODEL_WORDS = 1 << 16,
    MODEL_ADDRESSES = 1 << 14,
    MODEL_ATOMS = 256,
    MODEL_NONE = 0xfffffff /* more than the blocks of the largest heap */
};
_Static_assert((int)MODEL_NONE > (int)PROGRAM_LARGE_WORDS, "every block of a program has a number");

/* A field or slot of the model is a word.  Immediates, raw words, code pointers and outside words
 * are the same as in a heap; a pointer is an even word of a range of its own, which has the
 * object's number and the offset in it. */
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

/* A word that the program has written as an address (VALUE_ADDRESS) has a number in the model,
 * since it is another word in each heap: MODEL_ADDRESS | number << 1, and the lowest bit if it is
 * an immediate.  So have atoms, and words just beside a heap.  It is data: a word of the program
 * that happens to look the same is, in every heap, what the address is.  No closinfo, header or
 * code pointer looks so. */
#define MODEL_ADDRESS ((word)0x02addad000000000)
struct model_atom {
    uint32_t address; /* its number among the addresses: the words of the heaps are there */
    word headers[2];  /* as they were when it was first asked for */
};
struct model_address {
    word words[2]; /* in the heaps of subject and reference */
    struct value value;
    bool script; /* the value is one of the script's */
    bool code;   /* it is a code word */
};

struct model_object {
    uint32_t first_field; /* in fields */
    uint32_t wosize;
    uint32_t first_scanned; /* the fields before this one are raw */
    uint32_t mark;          /* == model.epoch: reachable */
    word address[2]; /* where the block is in the heaps of subject and reference; 0: unknown */
    int32_t origin;  /* n >= 0: named block n of the program; -1 - n: operation n */
    uint32_t serial; /* of the blocks of the same origin, from 0 */
    uint8_t tag;
    bool is_static;
    bool in_use;
    bool ephemeron; /* its fields keep nothing alive but by the rule for ephemerons; behind them
                       come as many that are what it was given (model_kept) */
    bool seen;      /* an ephemeron: its data was there when a collector last showed it, or since;
                       asked for only where a key may be passed */
    bool shaky;     /* an ephemeron whose data may be gone, for all that is known of its keys */
    bool pinned;    /* its number stays its own, and its content, reachable or not */
    uint32_t held;  /* == model.epoch: its content must stay */
};

/* Which of the data that may be gone a traversal takes to be there. */
enum model_data {
    DATA_SEEN,    /* what a collector has last shown */
    DATA_SURE,    /* none with a key that may be passed */
    DATA_FOLLOWS, /* all whose keys are reached, or what they may be passed to */
    DATA_ALL
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
    bool revived; /* something that nothing reached has come back in this operation */
    enum model_data data;
    bool statics_alike; /* a collector takes static blocks for its own (trait statics) */
    bool outlives;      /* what nothing reaches may be read from an ephemeron, until it is gone */
    size_t bound_words; /* no less than the live words: those at the last model_mark, and since */
    /* Filled by model_mark: what is reachable; words include headers, static ones not counted. */
    uint32_t live_objects, live_words;
    uint32_t
        n_reached; /* in work: every reachable object, static ones too, in order of discovery */
    size_t most_objects, most_words; /* that it may hold */
    /* Of room_objects each, and room_words: owned by the model, NULL before model_room. */
    size_t room_objects, room_words;
    struct model_object *objects;
    uint32_t *order, *free, *work;
    word *fields;
    uint32_t n_atoms;
    struct model_atom atoms[MODEL_ATOMS]; /* blocks without fields that the program has named */
    uint32_t n_addresses;
    struct model_address addresses[MODEL_ADDRESSES];
};

/* It may hold so many objects with so many fields together, and has the memory; of a model that is
 * zeroed or has been in use.  What it holds is lost if it has to grow: model_reset comes after it.
 * False if there is no memory, and then there is room for nothing. */
bool model_room(struct model *, size_t objects, size_t words);
void model_close(struct model *);

void model_reset(struct model *, unsigned mutators);

/* Is there room for so many objects more with so many fields together, once unreachable ones have
 * been reclaimed? */
bool model_has_room(struct model *, size_t objects, size_t words);

/* Adds an object with the content raw[0..wosize), to which no slot points yet, and returns its
 * number.  If room is short, unreachable objects are reclaimed first; MODEL_NONE if there is no
 * room even then. */
unsigned model_add(struct model *, size_t wosize, unsigned tag, size_t first_scanned,
                   const word *raw);

/* ---- ephemerons -------------------------------------------------------------------------------
 *
 * Field 0 is the data, from 1 on the keys.  What a program may rely on stands in the fields, as of
 * the last model_mark: a key that nothing else reaches reads as unit, and so does data with such a
 * key.  Behind it stands what the ephemeron was given, which a collector may still have; the model
 * takes over what a collector is seen to have (model.outlives), or forgets it at once.
 */

/* Not set; and: a pointer to what the model had no room for, which is unreachable. */
#define MODEL_NOTHING   ((word)0x0200000000000010)
#define MODEL_FORGOTTEN ((word)0x0200000000000020)

/* As model_add: so many keys, none of them set, and no data. */
unsigned model_add_ephemeron(struct model *, size_t keys);
/* What the ephemeron was given: as many words as it has fields. */
static inline word *model_kept(struct model *model, unsigned ephemeron) {
    const struct model_object *o = &model->objects[ephemeron];
    return model->fields + o->first_field + o->wosize;
}
/* Field i was given the word v, or MODEL_NOTHING; unsure: or nothing, nobody can tell.  To be
 * called on a model that is marked; the fields are right after the next model_mark. */
void model_put_weak(struct model *, unsigned ephemeron, size_t i, word v, bool unsure);

/* A key may be passed: it leads to a Forward block, and a collector that may lead pointers past
 * those may lead any of them, so that the block dies although the model reaches it, or the key
 * becomes what the block leads to.  Until that is seen, neither key nor data is certain; the data
 * keeps alive what it reaches if it was there when the ephemeron was last looked at. */
/* Where a chain of Forward blocks ends that begins at the word; the word itself if it stays. */
word model_passed_to(const struct model *, word v);
bool model_may_be_passed(const struct model *, word key);
bool model_has_passed(const struct model *, unsigned ephemeron);

/* What a collector may answer of a field, on a model that is marked. */
enum model_weak {
    WEAK_NOTHING, /* it is not set, or is known to be dead */
    WEAK_EITHER,
    WEAK_SET
};
enum model_weak model_weak_field(struct model *, unsigned ephemeron, size_t i);

/* Has model_mark reached all keys of the ephemeron? */
bool model_keys_reached(const struct model *, unsigned ephemeron);

/* The live words, if a slot held v and all data that may be gone were there: marks the model anew.
 */
size_t model_most_live(struct model *, word v);

/* A collector has been seen to have lost the object: it is no key any more, and data whose key it
 * was is gone. */
void model_died(struct model *, unsigned object);
/* A key of this ephemeron that may be passed has been seen to be gone: of its data nobody knows. */
void model_passed_is_gone(struct model *, unsigned ephemeron, size_t i);
/* A collector has been seen to have lost that data, or to have it still: keys that nothing reaches
 * were dead before it was put there. */
void model_data_is(struct model *, unsigned ephemeron, bool there);
/* The fields of all reachable ephemerons have been seen in a collector: data that could be shown
 * there, and is not, is gone. */
void model_data_seen(struct model *);
/* All that nothing reaches has died, whichever data of keys that may be passed is there.  Marks the
 * model anew. */
void model_all_died(struct model *);

/* Adds an address, whose words in the heaps are still to be filled in, and returns its word in the
 * model; 0 if there is no room for more. */
word model_add_address(struct model *, const struct value *, bool script, bool immediate);
static inline bool model_is_address(const struct model *model, word v) {
    return v - MODEL_ADDRESS < 2 * (word)model->n_addresses;
}
static inline unsigned model_address_number(word v) {
    return (unsigned)(v - MODEL_ADDRESS) >> 1;
}
/* Does the word lead to a block without fields? */
static inline bool model_is_atom(const struct model *model, word v) {
    return model_is_address(model, v) &&
           model->addresses[model_address_number(v)].value.kind == VALUE_ATOM;
}
/* A static block that no collector takes for its own. */
static inline bool model_is_foreign(const struct model *model, const struct model_object *o) {
    return o->is_static && !model->statics_alike;
}
/* The word of a heap for a word of the model that is no pointer. */
static inline word model_data(const struct model *model, unsigned heap, word v) {
    return model_is_address(model, v) ? model->addresses[model_address_number(v)].words[heap] : v;
}

static inline word *model_fields(struct model *model, unsigned object) {
    return model->fields + model->objects[object].first_field;
}

/* Does what model_mark does, without a traversal, for a caller who knows the reachable objects from
 * a comparison: they are the n objects ids[0], ids[stride], ids[2 * stride], ... */
void model_reached(struct model *, const uint32_t *ids, size_t stride, size_t n);

/* reach(h, roots): marks and counts the reachable objects.  Linear in their fields if there are no
 * ephemerons.  The data of an ephemeron is reachable if the ephemeron and all its keys are; this is
 * repeated until nothing more becomes reachable.  A key that is unreachable then reads as unit, and
 * so does the data. */
void model_mark(struct model *);

/* Does the program reach the object for certain, whatever has become of keys that may be passed?
 * Marks the model anew. */
bool model_certainly_reached(struct model *, unsigned object);

/* *words := the words, headers included, of all objects that `object` reaches, of itself too.
 * Static objects are neither counted nor followed, but for a collector that takes them for its own,
 * which counts atoms too: those are not measured.  False then, and if `may` refuses one of the
 * others.  What model_mark has marked is forgotten. */
bool model_measure(struct model *, unsigned object, bool may(const struct model_object *),
                   size_t *words);

#endif
