/* SPDX-License-Identifier: MIT
 *
 * The plug-in interface: what a collector offers to the harness.
 *
 * It is a register machine.  The harness owns the roots, one row of slots per mutator; operations
 * name slots, never addresses, so that every operation may be a safepoint at which blocks move and
 * slots are rewritten.  Every slot is a live root at all times; an empty one holds WORD_UNIT.
 * Copying, clearing and offsetting slots (infix pointers) is the harness's business between calls.
 * A collector is a `const struct collector`; a NULL function means "not supported", and for init,
 * load and store a plain memory access.  docs/collectors.md walks through writing one.
 */
#ifndef ISOHEAP_COLLECTOR_H
#define ISOHEAP_COLLECTOR_H

#include "collectors/extras.h"
#include "collectors/layout.h"
#include "collectors/own.h"
#include "collectors/traits.h"

enum { GC_SLOTS = 36, GC_MUTATORS = 4 }; /* the program's 32 slots, and scratch slots */
typedef word gc_slots[GC_SLOTS];

struct gc; /* a collector's own state, defined by each */

enum gc_collection { GC_MINOR, GC_FULL, GC_COMPACT };

/* The first word of the young generation; the first of the heap that no live block has. */
enum gc_place { GC_PLACE_YOUNG, GC_PLACE_FREE };

/* What a collector may tell about its work (gc_tell).  What it tells must be so; what it tells
 * without exception its trait `tells` says, which oracle told judges. */
enum gc_event {
    GC_MARKED,    /* found through the word at place for the first time */
    GC_SET_ASIDE, /* no room on the mark stack: to be found by a re-scan */
    GC_SCANNED,   /* everything that it points at has been looked at, or is about to be */
    GC_MOVED,     /* found through the word at place for the first time, and copied to `to` */
    GC_FORWARDED, /* found through the word at place again: that word now leads to `to` */
    GC_SWEPT      /* its words are free */
};
/* The bits of trait `tells`: an event is told of
 *
 *   GC_MARKED     each block that a full collection keeps; of one that moves GC_MOVED will do
 *   GC_SET_ASIDE  each block that the mark stack has no room for
 *   GC_SCANNED    each block that a full collection keeps; with trait `ticks` gc_tick is called for
 *                 each of them, once more for one that was set aside, and for each that is told as
 *                 swept, or as moved without a place
 *   GC_MOVED      each block that moves
 *   GC_FORWARDED  each word through which a block that has moved is found again
 *   GC_SWEPT      each block that goes, but for young ones
 *   GC_TELLS_FILL gc_note_fill: what it says of a mark stack and of a nursery is so to the word */
enum { GC_TELLS_FILL = GC_SWEPT + 1 };
#define GC_TELLS(event) (1u << (event))

/* The ends of the phases of a collection that marks and sweeps, in their order (gc_phase_ended). */
enum gc_stage {
    GC_DARKENED, /* what roots lead to is gray: the mark stack has it */
    GC_MARKED_ALL,
    GC_SWEPT_ALL,
    GC_STAGES
};

/* What a collector may tell of its stores that fill up. */
enum gc_fill { GC_FILL_MARK_STACK, GC_FILL_NURSERY, GC_FILLS };

/* Of a section in which all mutators that are there stop and do no work of their own. */
enum gc_section { GC_SECTION_ASKED, GC_SECTION_ENTERED, GC_SECTION_LEFT };

/* What the harness lends to a collector: the same from one reset to the next, or to close.  The
 * collector itself writes `collections` alone; the functions below do what else is to be noted.
 * What stands before `fuel` can only be read. */
struct gc_hooks {
    void (*poison)(void *start, size_t words);   /* dead memory: no access until unpoisoned */
    void (*unpoison)(void *start, size_t words); /* memory that is about to be used */
    /* The same in bytes, of a heap whose words are shorter. */
    void (*poison_bytes)(void *start, size_t bytes);
    void (*unpoison_bytes)(void *start, size_t bytes);
    /* Every byte of memory that a collector has not written since the reset, so that one which
     * reads it does the same whatever ran before; odd: such a word is an immediate. */
    unsigned char fill_byte;
    /* Pages after a heap must not be accessible, at the cost of a system call when its size
     * changes: poison stops only code that is compiled with AddressSanitizer. */
    bool tight;
    void (*out_of_fuel)(struct gc_hooks *); /* of gc_tick; returns if it was only to be told */
    /* NULL, or to be told after a reset of words just before or behind a heap, which nobody may
     * write: they get a content, and are looked at after the run (collectors/arena.h calls it). */
    void (*fence)(struct gc_hooks *, word *start, size_t words, bool behind);
    /* To be told what happens to a block as long as `listened` says so: gc_tell. */
    void (*event)(struct gc_hooks *, enum gc_event, word block, const word *place, word to);
    /* NULL, or to be shown the states that a collector with the trait `refines` goes through;
     * returns if all is well. */
    void (*refinement)(struct gc_hooks *, void *view);
    /* To be called just before and just after every minor collection, also one that is part of
     * something else, when slots and heap are as they would be between two operations.  Only for
     * collectors that say what is young. */
    void (*minor)(struct gc_hooks *, bool before);
    /* NULL, or to be told that a phase of a collection has ended, also one that is part of
     * something else: gc_phase_ended, with the trait `tells_phases`. */
    void (*phase)(struct gc_hooks *, enum gc_stage ended);
    /* An invariant of the collector's own is broken, and it cannot go on; does not return. */
    void (*broken)(struct gc_hooks *, const char *sentence);
    /* Of a collector with threads: none of them can go on (for_ever: they go on without an end),
     * and why in words; does not return.  collectors/threads/threads.h has threads that know. */
    void (*stuck)(struct gc_hooks *, bool for_ever, const char *sentence);
    /* Of a runtime whose memory is used up (extras, starve): it ends the process there, and says so
     * in words; does not return. */
    void (*ended)(struct gc_hooks *, const char *sentence);
    /* NULL, or to be told, between two threads of such a collector, that another one goes on: after
     * so many decisions of its schedule, and which one; returns.  collectors/threads/plug.h. */
    void (*switched)(struct gc_hooks *, uint64_t decision, uint64_t thread);
    /* NULL, or to be told in the same way that mutator m asks for a section in which all stop, and
     * enters it; that it enters one that another has asked for; or that it leaves one. */
    void (*section)(struct gc_hooks *, enum gc_section, unsigned m, uint64_t decision);
    /* The finaliser of that number runs.  May be called in the middle of a collection; returns. */
    void (*finalised)(struct gc_hooks *, uint64_t number);
    /* The same one, called after it by mutator m, whoever has asked for it: the value that it is
     * given stands in the slot of m that finalise_then has been told (collectors/extras.h). */
    void (*handed)(struct gc_hooks *, unsigned m, uint64_t number);

    uint64_t fuel;         /* gc_tick counts it down */
    uint64_t collections;  /* a collector adds one at the end of each collection */
    size_t fill[GC_FILLS]; /* the most since the harness cleared it: gc_note_fill */
    unsigned mutator;      /* who makes the call that is under way, also one that names no mutator:
                              collect, step, switch_kind; the harness writes it before each call */
    bool listened;         /* somebody wants to be told: isoheap run --trace=BLOCK, oracle told */
};
/* Optional, for the coverage of a fuzzer: the store now holds so many entries or words, or would
 * hold them if it had room. */
static inline void gc_note_fill(struct gc_hooks *hooks, enum gc_fill store, size_t amount) {
    if (hooks->fill[store] < amount)
        hooks->fill[store] = amount;
}
/* Called once per bounded step (a block, a field, a list entry): bounds the work, so that a
 * collector which makes no progress is a verdict instead of a hang. */
static inline void gc_tick(struct gc_hooks *hooks) {
    if (--hooks->fuel == 0)
        hooks->out_of_fuel(hooks);
}

/* Optional: tells what happens to the block (its value, never an infix pointer).  place: the slot
 * or the field where the pointer stands, or NULL; to: the new value, or 0. */
static inline void gc_tell(struct gc_hooks *hooks, enum gc_event event, word block,
                           const word *place, word to) {
    if (hooks->listened)
        hooks->event(hooks, event, block, place, to);
}

/* With the trait `tells_phases`: that phase has just ended.  From GC_DARKENED to GC_MARKED_ALL
 * every gc_tick, but for those of a minor collection, must find no block half done: it is gray, and
 * waits (struct collector, mark_stack), or black, and all that it points at has been found. */
static inline void gc_phase_ended(struct gc_hooks *hooks, enum gc_stage ended) {
    if (hooks->phase)
        hooks->phase(hooks, ended);
}

struct gc_config {
    size_t heap_words; /* all of the heap, headers included; of one semispace; at first, if it grows
                          (trait grows_to): walk then ends anywhere up to there */
    size_t nursery_words;
    size_t mark_stack; /* entries; 0: as many as heap words */
    size_t slice_words, large_words;
    unsigned promotion_age, variant, kind;
    unsigned schedule, preempt; /* of threads: seed and gap (struct threads_schedule), */
    const uint32_t *decisions;  /* and a list, as there */
    size_t n_decisions;
    unsigned mutators; /* rows of slots in use */
    unsigned masks;    /* bit set: known defects to steer around (struct gc_mask) */
    gc_slots *slots;   /* the roots; owned by the harness, rewritten by the collector */
    struct gc_hooks *hooks;
};

/* Where an incremental collector stands, between any two calls.  Blocks are white, gray or black in
 * their headers: while marking each block of the snapshot is black, gray, or reachable from a gray
 * one through white ones, and new blocks are not white; while sweeping blocks below the cursor are
 * white and those that survive above it black; else all are white. */
enum gc_phase { GC_PHASE_IDLE, GC_PHASE_MARK, GC_PHASE_SWEEP };
struct gc_cycle {
    enum gc_phase phase;
    uint64_t begun;     /* cycles since the reset, the one under way included */
    const word *cursor; /* GC_PHASE_SWEEP: header of the next block that is swept */
};

/* GC_LIVE: an allocated block, reachable or not.  GC_FREE: a blue block.  GC_FRAGMENT: a header
 * with wosize 0.  GC_UNUSED: words without a header.  words: all of the extent, header included. */
enum gc_extent { GC_LIVE, GC_FREE, GC_FRAGMENT, GC_UNUSED, GC_FREE_LIST_ENTRY };
typedef void gc_visit(void *context, enum gc_extent kind, const word *header, size_t words);

/* A gray block that waits on a mark stack: its header, and NULL.  Or gray blocks that are on none,
 * for want of room or because there is no stack: somewhere in [first, end), which is still to be
 * looked through, they may be.  What it has looked through it may have to begin with again. */
typedef void gc_visit_gray(void *context, const word *first, const word *end);

/* What a collector promises, a member for each row of collectors/traits.h. */
struct collector_traits {
#define X(type, name, judge, needs, words, meaning) type name;
    COLLECTOR_TRAITS(X)
#undef X
};

struct collector {
    const char *name, *summary;
    struct collector_traits traits;
    const char *const *variants; /* names of config variant 0, 1, ..., NULL at the end */
    const char *const *kinds;    /* the same for collector kinds; NULL: one kind */

    /* Adjusts the traits to a config (a variant may promise less).  NULL: they hold for all. */
    void (*promise)(const struct gc_config *, struct collector_traits *);

    /* Life.  open: once per process, the arena at an address that stays; NULL if that fails.
     * reset: an empty heap for config, at a cost proportional to what was used since the last
     * reset; afterwards nothing tells how the collector was used before. */
    struct gc *(*open)(void);
    void (*reset)(struct gc *, const struct gc_config *);
    void (*close)(struct gc *);

    /* Mutators.  NULL: all config.mutators of them are there from reset to close.  Else a mutator
     * is there from attach to detach, and may come again: all come before the image, behind reset,
     * and mutator 0 never goes.  Who is not there has only empty slots and makes no call, so nobody
     * may wait for him; at detach his slots are empty already.  Both may collect. */
    void (*attach)(struct gc *, unsigned m);
    void (*detach)(struct gc *, unsigned m);

    /* Image.  image says where the harness may write a heap of *words words at most and corrects
     * *words to what must be filled exactly; NULL: there is no room for it, and the program is not
     * run.  adopt takes it over: blocks (white), free blocks
     * (blue), fragments (wosize 0) in address order, slots already set.  Neither collects; if adopt
     * moves blocks (and rewrites slots), it adds one to hooks->collections.  The traits
     * always_merged, solid_end and lacks_raw say what an image never has.  Without them the
     * harness builds the same heap with alloc, init, load and store. */
    word *(*image)(struct gc *, size_t *words);
    void (*adopt)(struct gc *, size_t words);

    /* Mutator m.  alloc may collect before it allocates, and rewrites every slot it must; on GC_OK
     * slot dst points at a new block of wosize fields with the content raw[0..wosize) (immediates,
     * raw words, closinfo, infix headers; no pointers into the heap).
     * init writes a field of a block that has been allocated since the last safepoint; never
     * collects.  load sets slot dst to a field; store has the write barrier.  Both may collect.
     * obj never holds an infix pointer.  blit copies as memmove, or nothing if it is refused; NULL:
     * by load and store.  poll may be called at any time, and unless something is pending its
     * answer means nothing. */
    enum gc_result (*alloc)(struct gc *, unsigned m, unsigned dst, size_t wosize, unsigned tag,
                            const word *raw);
    void (*init)(struct gc *, unsigned m, unsigned obj, size_t i, unsigned value);
    enum gc_result (*load)(struct gc *, unsigned m, unsigned dst, unsigned obj, size_t i);
    enum gc_result (*store)(struct gc *, unsigned m, unsigned obj, size_t i, unsigned value);
    enum gc_result (*blit)(struct gc *, unsigned m, unsigned src, size_t i, unsigned dst, size_t j,
                           size_t n);
    enum gc_result (*poll)(struct gc *, unsigned m);
    /* Word i of a no-scan block := raw.  NULL: a plain memory access. */
    void (*write_raw)(struct gc *, unsigned m, unsigned obj, size_t i, word raw);

    /* Collector: may move blocks and rewrite slots.  step does budget words of work, and begins a
     * cycle if none is under way.  It answers GC_IDLE if none is when it is done, else GC_OK, also
     * where the next one has begun when one ended: who never pauses never says idle.  Who refuses a
     * full collection is not judged as if there had been one.  hooks->mutator asks. */
    enum gc_result (*collect)(struct gc *, enum gc_collection);
    enum gc_result (*step)(struct gc *, size_t budget);
    enum gc_result (*switch_kind)(struct gc *, unsigned kind);
    /* May fields of a block with this tag be written once it is initialised?  NULL: of every one.
     * Of others the fields come by init alone, right behind alloc, also in the initial heap. */
    bool (*writable)(unsigned tag);

    /* May the heap be looked at now?  Not in the middle of a handshake that has left it half done,
     * say: then poll is called for all mutators in turn, until it may.  NULL: between any two
     * calls.  Changes nothing. */
    bool (*settled)(struct gc *);

    /* Inspection: changes nothing.  walk visits every extent of the heap in address order, then
     * every free-list entry in list order.  check returns NULL or the invariant of the collector's
     * own that is broken. */
    void (*walk)(struct gc *, gc_visit *, void *context);
    const char *(*check)(struct gc *);
    /* NULL: no cycle is ever under way between two calls.  With generations it is one of the old
     * generation: its roots are the slots and the fields of young blocks, none of which is moved
     * between its beginning and the end of that call. */
    struct gc_cycle (*cycle)(struct gc *);
    /* With the trait `tells_phases`: what is gray, where a phase has ended and at every tick while
     * marking; in any order.  Needs no fuel. */
    void (*mark_stack)(struct gc *, gc_visit_gray *, void *context);

    /* Of a runtime that has blocks without fields of its own, the value of the one with this tag;
     * it stays where it is as long as the process lasts.  NULL: they are the harness's. */
    word (*atom)(struct gc *, unsigned tag);
    /* Of a collector that shows a copy of its heap: where a word lies in its own one, given the
     * address that is shown; 0: nowhere, or not yet.  Changes nothing.  NULL: there is no copy. */
    word (*shown_at)(struct gc *, word shown);
    /* Of such a collector: where a place lies in its own heap that the copy does not show; 0: there
     * is none.  Changes nothing.  NULL: that of the copy. */
    word (*own_place)(struct gc *, enum gc_place);
    /* Of such a collector: its own heap, as it is between two operations; the collector's memory,
     * until the next call.  Changes nothing.  NULL: it does not say. */
    struct gc_own *(*own)(struct gc *);

    /* Generations.  young: does v point at a block that the next minor collection may move or
     * free?  remembered visits the fields of old blocks that it will look at. */
    bool (*young)(struct gc *, word v);
    void (*remembered)(struct gc *, void (*visit)(void *context, word block, size_t i),
                       void *context);
    const struct gc_extras *extras; /* NULL: no more than a collector */
    const struct gc_mask *masks;    /* known defects, a NULL name at the end; NULL: none */
};

#endif
