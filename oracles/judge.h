/* SPDX-License-Identifier: MIT
 *
 * How an oracle is written: what it sees, and the events of a run that it may listen to.
 *
 * An oracle sees one collector (struct side), the model and the witness of the last comparison.  It
 * has memory of its own for each collector that it judges.  What it says of itself and the
 * functions that it has for events stand in a struct oracle_module.  It never asks whether it has
 * been left out of the run, counts nothing and does not name itself: whoever calls it
 * (harness/events.c) does.
 */
#ifndef ISOHEAP_ORACLES_JUDGE_H
#define ISOHEAP_ORACLES_JUDGE_H

#include "oracles/oracle.h"
#include "program/program.h"
#include "views/heap.h"
#include "views/isomorphism.h"
#include "views/model.h"

#include <stdlib.h>

/* Scratch slots behind the program's 32: the harness's own registers, unit between operations. */
enum {
    SLOT_NEW = PROGRAM_SLOTS, /* a block that has just been allocated */
    SLOT_VALUE,               /* an operand that is no slot */
    SLOT_TO,                  /* the block that is written: never an infix pointer */
    SLOT_FROM                 /* the block that is read */
};
_Static_assert(SLOT_FROM + 1 == GC_SLOTS, "scratch slots");

/* Words of a side whose heap has so many: static space behind it, and two halves of the largest
 * nursery in between. */
static inline size_t side_words(size_t heap_words) {
    return heap_words + 3 * (size_t)PROGRAM_HEAP_WORDS;
}

enum { FINALISERS = 256 }; /* promised in one run */

/* One collector of a run. */
struct side {
    const struct collector *collector;
    struct gc *gc;
    enum party party;               /* which row of model_object.address is its own */
    struct collector_traits traits; /* for this run's config and the kind that it is now */
    struct collector_traits sound;  /* the last that were found within their bounds */
    const char *fault;              /* what is wrong with what it promises for this config */
    struct gc_config config;        /* the collector has a copy */
    struct gc_hooks *hooks;         /* lent to it, as slots and statics are (harness/lent.h) */
    gc_slots *slots;
    word *statics;
    word beside[2];           /* the first words before and behind its heap that are none of its
                                 own, as the hook fence was told; 0: it was not */
    uint64_t collections;     /* hooks->collections at the last walk */
    uint64_t compared;        /* hooks->collections at the last comparison with the model */
    unsigned walked;          /* HEAP_* checks of the last walk; 0: it is no longer true */
    struct gc_cycle cycle;    /* at the last walk */
    enum gc_result answer;    /* to the last call that may be refused */
    uint64_t calls;           /* in this run, and plain accesses in the place of one */
    uint64_t steps;           /* of all calls in this run */
    uint64_t fuel;            /* steps that one call may take */
    uint64_t took;            /* steps of the last call that may have collected */
    uint64_t collected;       /* hooks->collections before the last call but those that inspect */
    uint64_t poisonings;      /* calls of hooks->poison in this run */
    uint64_t poisoned_before; /* those of all collectors before the call that is under way */
    bool refused;             /* the last call that may be, and is no allocation */
    bool starved;             /* the program has taken memory away from it (extras.h) */
    struct {
        size_t asked,
            asked_words;    /* blocks, with headers: since the last walk, or the first call */
        size_t given_words; /* of those that were given */
    } new;
    struct {
        uint64_t calls, allocations; /* in this run, of which the event `worked` has not come */
    } quiet;
    bool allocating;      /* the call under way is an allocation with a request */
    bool collected_young; /* a minor collection has begun or ended since the last call */
    bool listened;        /* the event `told` comes */
    uint64_t look;        /* the event `ticked` comes after so many steps; 0: never */
    uint64_t fuel_aside;  /* in a call: what is left behind them of `fuel` */
    bool settling;        /* mutators are polled until the heap may be looked at */
    bool changes;         /* the operation under way does more than collect */
    bool in_cycle;        /* the last slice left work to do */
    struct {
        bool done;   /* the call that has just ended was a slice, and has not been refused */
        bool begins; /* a cycle has begun in it */
        size_t budget;
    } slice;
    oracle_set thorough; /* those that look at each in this run, instead of a sample */
    unsigned operations; /* of the script */
    bool paired;         /* the witness pairs this heap with the model */
    size_t young; /* blocks that may have been, before a call in which somebody has walked; 0 after
                     the next walk */
    size_t static_words;
    struct graph graph;
    struct heap_facts facts;
    /* For `room` words of this side, as many as the largest heap had so far (harness/room.c). */
    size_t room;
    struct graph_cell *cells; /* 16 more than that */
    uint64_t *in_use;
};

/* A block that was asked for, and which answer came. */
struct request {
    enum gc_result answer;
    word block; /* what slot SLOT_NEW holds, if the answer is GC_OK */
    size_t wosize;
    unsigned tag;
    const word *content;
    bool unasked;  /* the harness has refused it: more than the collector can represent */
    bool modelled; /* all collectors have served it: the model has the block */
    bool claimed;  /* its words were free before, as far as the last walk tells */
};

/* When two heaps are compared. */
enum occasion {
    AT_START,         /* the initial heap stands */
    IN_BETWEEN,       /* something may have been collected */
    AFTER_FULL,       /* a full collection has just ended, as often as the trait wants it */
    AFTER_COMPACTION, /* the same */
    AT_END            /* of the script */
};

struct judge;

/* What an oracle may ask of whoever runs the program. */
struct judge_services {
    void (*walk)(struct judge *, enum occasion);
    void (*walk_inside)(struct judge *);   /* in the middle of a call */
    bool (*collect_fully)(struct judge *); /* false: the collector has refused */
    bool (*collect_young)(struct judge *);
    /* True: a cycle is under way; side->refused: not a step has been made. */
    bool (*step)(struct judge *, size_t budget);
    enum gc_result (*allocate)(struct judge *, size_t wosize);
    const char *(*check)(struct judge *);
    struct gc_cycle (*cycle)(struct judge *);
    struct gc_own *(*own)(struct judge *); /* the collector's own heap, as it is now */
    /* In the event `phase`, which comes on the small stack of a call: there is room in `with`. */
    void (*with_room)(struct judge *, void (*with)(struct judge *));
    /* The event `ticked` is to come after so many steps of the collector, in this call or in later
     * ones; 0: never. */
    void (*look_after)(struct judge *, uint64_t steps);
    /* The event `told` is to come from now on in this run; it takes time. */
    void (*listen)(struct judge *);
    bool (*is_poisoned)(const word *); /* as dead memory is, if that is promised */
    /* Bytes that the process has now: from malloc, and mapped; 0: unknown. */
    size_t (*allocated)(void);
    size_t (*mapped)(void);
    /* The name of the block that v leads to in the side's heap or, if there is none, of what was
     * last seen there; "" if nobody looks that closely, or it is not known.  NULL: nobody ever. */
    void (*name)(struct judge *, word v, char out[NAME_TEXT]);
    void (*fail)(struct judge *, enum violation, const char *detail);
    void (*fault)(struct judge *, const char *detail);
};

struct judge {
    struct side *side;
    struct model *model;
    const struct graph *model_graph;
    struct isomorphism *iso; /* the witness, and scratch for traversals: see isomorphism_begin */
    void *state;             /* of the oracle that is asked */
    void *record;            /* of its module, or NULL */
    char *path, *expected, *found; /* VERDICT_TEXT characters each, for a verdict: fill in first */
    const struct judge_services *services;
    bool noted; /* an oracle sets it: what it has found in the middle waits for the event `noted` */
};

/* The word of a collector for a word of the model, as long as its blocks are where the model has
 * them noted: until the first collection, and for ever in a heap that does not move. */
static inline word side_word(const struct model *model, enum party party, word v) {
    if (!model_is_pointer(v))
        return model_data(model, party, v);
    return model->objects[model_object(v)].address[party] + model_offset(v) * sizeof(word);
}

static inline bool cycle_has_moved(struct gc_cycle before, struct gc_cycle now) {
    return now.begun != before.begun || now.phase != before.phase ||
           (now.phase == GC_PHASE_SWEEP && now.cursor != before.cursor);
}

/* Walks the heap into side->graph and facts, unless nothing has happened since the last walk;
 * what the walk itself finds is judged by the oracles that judge walks. */
static inline void judge_walk(struct judge *j) {
    j->services->walk(j, IN_BETWEEN);
}
/* Ends the run with a violation by this oracle: path, expected and found are filled in before. */
_Noreturn static inline void judge_fail(struct judge *j, enum violation v, const char *detail) {
    j->services->fail(j, v, detail);
    abort(); /* it does not return */
}
/* Ends the run because an assumption of the oracle's own does not hold. */
_Noreturn static inline void judge_fault(struct judge *j, const char *detail) {
    j->services->fault(j, detail);
    abort();
}

/* At the end of a run: who promises to show its states to hooks->refinement has done so in each
 * collection; without a look at one nothing is judged, and that must not pass for a proof.  What
 * adopt moves counts as a collection too, and shows nothing: before is the count behind it. */
static inline bool judge_shown(struct judge *j, uint64_t before, bool any) {
    if (!any && j->side->hooks->collections > before)
        judge_fail(j, VIOLATION_promise_broken,
                   "hooks->refinement has not been called by any collection");
    return false;
}

/* ---- events -----------------------------------------------------------------------------------
 *
 * X(name, parameters, arguments).  Each returns true if it has judged, and ends the run if it has
 * found something.
 *
 *   reset        a run begins: config and traits are known, the heap is not there yet
 *   emptied      of a share of the programs: the collector has been reset, and what it shows of the
 *                empty heap has been walked into side->graph and side->facts
 *   built        the initial heap stands in collector and model
 *   writing      field i of block is about to become value, by the mutator
 *   static_writing  the same, and it is a block outside the heap that the harness has made
 *   called       a call that may have collected has just ended; the model is as it was before it.
 *                request: what it allocated, or NULL; full: a full collection, and no more
 *   worked       the same, and it has collected, or was a slice, or has taken more steps than there
 *                are slots: what is bounded by that is not asked for after every call
 *   recounted    the same, and its collector has counted fewer collections than before it
 *   replied      a call has been answered otherwise than done (step: or idle, and no cycle is under
 *                way): its function
 *   answered     an allocation has been answered by all collectors: the model has the block, or all
 *                have dropped it
 *   placed       the same: it has given a block, and the map of words in use has been asked for it
 *   operated     an operation of the program has ended
 *   noted        the same, if an oracle has set `noted` since the run began
 *   minor        a minor collection is about to begin, or has just ended: in the middle of a call
 *   phase        a phase of a collection has just ended: in the middle of a call, on whose stack
 *                there is little room
 *   ticked       the collector has taken as many steps as look_after said: in the middle of a call
 *   told         what gc_tell says, if it is listened to (judge_services): in the middle of a call
 *   shown        hooks->refinement, in the middle of a call
 *   walked       the heap has been walked into side->graph and side->facts
 *   inspected    the collector may be asked now: all heaps have been walked
 *   compared     the same, and the model is marked: it is what the heap must be
 *   loaded       a field has been loaded that the model has as `expected`
 *   raw_read     the same of a raw word
 *   weak_read    the same of a field of an ephemeron; is_set: the collector says that there is one;
 *                may: what it may say; expected MODEL_NOTHING: not what is in it
 *   measured     the words that a block reaches have been counted
 *   promised     the finaliser of that number is to run when nothing reaches the object any more;
 *                MODEL_NONE: it may run, once, whenever it wants
 *   ordered      of those that die together, it runs before all that were so promised earlier in
 *                the same life of a mutator, of which each has a number
 *   finalised    it runs: in the middle of a call
 *   handed       it has run in the call that has just ended, one after the other, and the model is
 *                marked: it is what the program had then; elsewhere: not by the mutator that has
 *                asked for it, which is still there
 *   broken       the collector itself says that it cannot go on, in the middle of a call
 *   stuck        the same: no thread of it can go on; for_ever: its threads go on without an end
 *   exhausted    a call has used up its fuel, in the middle of it
 *   ended        the script has ended and all heaps have been compared
 */
#define ORACLE_EVENTS(X)                                                                           \
    X(reset, (struct judge * j), (j))                                                              \
    X(emptied, (struct judge * j), (j))                                                            \
    X(built, (struct judge * j), (j))                                                              \
    X(writing, (struct judge * j, word block, size_t i, word value), (j, block, i, value))         \
    X(static_writing, (struct judge * j, word block, size_t i, word value), (j, block, i, value))  \
    X(called, (struct judge * j, const struct request *request, bool full), (j, request, full))    \
    X(worked, (struct judge * j, const struct request *request, bool full), (j, request, full))    \
    X(recounted, (struct judge * j), (j))                                                          \
    X(replied, (struct judge * j, const char *function, enum gc_result result),                    \
      (j, function, result))                                                                       \
    X(answered, (struct judge * j, const struct request *request), (j, request))                   \
    X(placed, (struct judge * j, const struct request *request), (j, request))                     \
    X(operated, (struct judge * j), (j))                                                           \
    X(noted, (struct judge * j), (j))                                                              \
    X(minor, (struct judge * j, bool before), (j, before))                                         \
    X(phase, (struct judge * j, enum gc_stage ended), (j, ended))                                  \
    X(ticked, (struct judge * j), (j))                                                             \
    X(told, (struct judge * j, enum gc_event event, word block, const word *place, word to),       \
      (j, event, block, place, to))                                                                \
    X(shown, (struct judge * j, void *view), (j, view))                                            \
    X(walked, (struct judge * j), (j))                                                             \
    X(inspected, (struct judge * j), (j))                                                          \
    X(compared, (struct judge * j, enum occasion when), (j, when))                                 \
    X(loaded, (struct judge * j, word found, word expected), (j, found, expected))                 \
    X(raw_read, (struct judge * j, word found, word expected), (j, found, expected))               \
    X(weak_read, (struct judge * j, bool is_set, enum model_weak may, word found, word expected),  \
      (j, is_set, may, found, expected))                                                           \
    X(measured, (struct judge * j, size_t found, size_t expected), (j, found, expected))           \
    X(promised, (struct judge * j, uint64_t number, uint32_t object), (j, number, object))         \
    X(ordered, (struct judge * j, uint64_t number, unsigned life), (j, number, life))              \
    X(finalised, (struct judge * j, uint64_t number), (j, number))                                 \
    X(handed, (struct judge * j, uint64_t number, bool elsewhere), (j, number, elsewhere))         \
    X(broken, (struct judge * j, const char *sentence), (j, sentence))                             \
    X(stuck, (struct judge * j, bool for_ever, const char *sentence), (j, for_ever, sentence))     \
    X(exhausted, (struct judge * j), (j))                                                          \
    X(ended, (struct judge * j), (j))

/* What several oracles take down together is a module too: it hears of events before the oracles
 * do, judges nothing, and is in no list.  X(name) */
#define ORACLE_RECORDS(X)                                                                          \
    X(minor_record)                                                                                \
    X(cakeml_record)                                                                               \
    X(own_record)

enum {
    BEFORE_RECORDS = ORACLE_COUNT - 1,
#define X(name) RECORD_##name,
    ORACLE_RECORDS(X)
#undef X
        ORACLE_MODULES
};

enum oracle_event_code {
#define X(name, parameters, arguments) EVENT_##name,
    ORACLE_EVENTS(X)
#undef X
        ORACLE_EVENT_COUNT
};

struct oracle_module {
    const char *meaning, *source;
    enum violation classes[12]; /* VIOLATION_none behind the last */
    unsigned needs; /* bit set of 1u << NEED_x: it judges collectors that have them all */
    size_t state;   /* bytes of its own for each collector, j->state; zeroed once */
    size_t each; /* and behind them so many for each word of side.room, of which there are as many
                    as objects of the model at least; zeroed anew, with the
                    others, before the reset of a run for which they have grown */
    unsigned record; /* RECORD_x: j->record; 0: none */
    /* HEAP_* checks that a walk on this occasion is to make for it; NULL: none */
    unsigned (*checks)(const struct side *, enum occasion);
    /* Oracles that it judges in the place of, in comparisons: where both apply, those are not asked
     * but to mark the model, and if that finds something, this one is asked first. */
    oracle_set replaces;
    bool follows; /* what it finds may follow from a difference between the graphs: if there is one,
                     that is the verdict */
    bool marks;   /* a comparison by it that finds nothing has paired all that is reachable */
    bool samples; /* it looks at a sample, unless it is in side.thorough */
    /* Asked behind `built`: this program is not in its sample, and until the next reset it hears of
     * nothing more; NULL: of every program it hears all. */
    bool (*sits_out)(const struct judge *);
    bool each_quiet_call, each_quiet_allocation; /* the same of calls that have not `worked` */
    bool each_operation; /* it has judged each operation that has ended: counted, not told */
    bool fine; /* one wrong step breaks any of many statements: which defect it is, its class says
                  alone, and not its sentence */
#define X(name, parameters, arguments) bool(*name) parameters;
    ORACLE_EVENTS(X)
#undef X
};

#define X(name) extern const struct oracle_module oracle_##name;
ORACLES(X)
ORACLE_RECORDS(X)
#undef X
extern const struct oracle_module *const oracle_modules[ORACLE_MODULES];

#endif
