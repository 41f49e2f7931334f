/* SPDX-License-Identifier: MIT
 *
 * What the files of the runner share.  Not for other folders.
 */
#ifndef ISOHEAP_HARNESS_INTERNAL_H
#define ISOHEAP_HARNESS_INTERNAL_H

#include "harness/harness.h"
#include "harness/lent.h"
#include "harness/stack/stack.h"
#include "oracles/describe.h"
#include "oracles/judge.h"
#include "views/heap.h"
#include "views/isomorphism.h"
#include "views/model.h"

#include <setjmp.h>

_Static_assert((int)PROGRAM_TAG_CLOSURE == TAG_CLOSURE && (int)PROGRAM_TAG_CUSTOM == TAG_CUSTOM,
               "the language's tags are OCaml's");

_Static_assert((int)LENT_STATICS >= (int)PROGRAM_HEAP_WORDS, "all static blocks of a program");

enum { COLLECTING_PARTIES = 2 }; /* PARTY_SUBJECT, PARTY_REFERENCE */

/* Who is asked, as a function of who is there.  Programs of other traits, and of other samples,
 * follow each other: so the last few are kept. */
enum { SEATINGS = 4 };
struct seating {
    oracle_set seated;                  /* those that judge, and the records that they read */
    oracle_set out;                     /* of those: sit this run out */
    uint64_t heard;                     /* a bit for each event that a seated one hears */
    uint8_t checking[ORACLE_COUNT + 1]; /* have checks for a walk; ended by ORACLE_COUNT */
    uint8_t hears[ORACLE_EVENT_COUNT][ORACLE_MODULES + 1]; /* in order, ended by ORACLE_MODULES */
};

/* The oracles of one side (events.h). */
struct panel {
    struct judge judge; /* what they see */
    struct run_counts *counts;
    unsigned of_subject; /* 1: it judges the subject */
    bool chosen;         /* the rest is filled in */
    bool built;          /* the initial heap stands */
    bool comparing;
    unsigned asked;                 /* the oracle, or record, that is running */
    struct collector_traits traits; /* by which they were chosen */
    oracle_set judging;             /* they have what they need, and are not left out */
    oracle_set replaced;            /* of those: another one judges in their place */
    uint64_t operations;            /* that have ended in this run */
    void *states[ORACLE_MODULES];   /* NULL: never needed, or it has none */
    void *records[ORACLE_MODULES];  /* states of those that a module reads besides */
    const struct seating *seating;  /* of nobody before they are chosen */
    struct seating seatings[SEATINGS];
    unsigned taken; /* so often one was filled in: in turns */
};

/* Atoms by tag, then so many bytes, two by two, before and behind a heap. */
enum {
    OUTSIDERS_BEFORE = LENT_ATOMS,
    OUTSIDERS_BEHIND = OUTSIDERS_BEFORE + OUTSIDE_BYTES / 2 + 1,
    OUTSIDERS = OUTSIDERS_BEHIND + OUTSIDE_BYTES / 2 + 1
};

struct runner {
    const struct program *program;
    struct side side[COLLECTING_PARTIES];
    struct lent lent[COLLECTING_PARTIES];
    struct gc_hooks said[COLLECTING_PARTIES]; /* what the hooks say, but for the counters */
    struct panel panel[COLLECTING_PARTIES];
    struct stack *stack; /* of the subject's calls; NULL: nobody wants one */
    bool stack_asked;    /* it is for every subject, and not for those that promise it alone */
    bool stack_used;     /* in this run */
    const char *call;    /* the last function of a collector that was called */
    unsigned n_sides;    /* 1: no reference, the subject is compared with the model */
    struct model model;
    struct graph model_graph;
    struct graph_cell *model_cells;
    struct isomorphism iso;
    struct pair *queue;
    size_t room; /* words of the largest heap that there is room for */

    oracle_set oracles;
    bool digest;
    const char *unmask, *replay, *subject_name;
    runner_observer *observe;
    runner_listener *listen;
    runner_switches *switches;
    runner_sections *sections;
    void *context;

    struct coverage *coverage; /* NULL: nobody wants it */
    bool covers;               /* this run is noted there */

    struct verdict verdict;
    enum party running;
    jmp_buf end; /* taken on a violation */

    /* what both collectors can take: operations are lowered to it */
    bool takes_infix, takes_closures, takes_raw, takes_outside, takes_statics, takes_any_word,
        takes_atoms;
    unsigned word_bits;    /* of the shortest word that one of them has (traits.h) */
    unsigned lacks_raw;    /* no-scan tags that one of them has not (traits.h) */
    unsigned own_tags;     /* the first tag that is one collector's own; 0: none (traits.h) */
    bool immutables;       /* one of them has blocks that must not be written */
    bool forwards;         /* a collector may lead pointers past Forward blocks */
    bool infix_keys;       /* the key of an ephemeron may be an infix pointer */
    bool extras;           /* all collectors have what a runtime has (collectors/extras.h) */
    enum skip skip;        /* why the operation that runs has no effect, if it has none */
    unsigned mutator;      /* whose operation is under way; the first one lays out the heap */
    unsigned n_finalisers; /* numbers given away */
    int64_t n_ids;         /* numbers given to objects that have been read, from 0 on */
    struct finaliser {
        word value; /* that it is given: of the model */
        bool last;
        uint8_t act, slot;    /* enum gc_act */
        uint8_t m;            /* who has asked for it, */
        unsigned life;        /* in which of its lives */
    } finalisers[FINALISERS]; /* by number, of those that do something */
    unsigned n_handed;        /* of those: have run in the call under way */
    struct handed {
        uint64_t number;
        unsigned m;       /* who has run it */
    } handed[FINALISERS]; /* in order */
    unsigned acted;       /* a bit for each mutator that has run one in this operation */
    unsigned mutators;
    unsigned attached;          /* a bit for each mutator that is there */
    unsigned lives;             /* that mutators have begun */
    unsigned life[GC_MUTATORS]; /* which of these is that of the one that is there */
    size_t heap_words;          /* the most that a collector's heap may have */
    size_t slice_words;

    bool over;           /* all but wear has been judged: calls are no longer watched */
    bool changed;        /* something ran since the last comparison */
    bool doubts;         /* this run repeats one that failed: compare the initial heaps too */
    oracle_set thorough; /* as in the options */
    bool explain;        /* wanted of every run: */
    bool close;     /* this run is looked at closely: history, and names of blocks in the verdict */
    bool strange;   /* it was to repeat one that failed, and has ended in another way */
    unsigned fresh; /* object that may be initialised, or MODEL_NONE */
    uint64_t run;   /* the number of this run */
    unsigned serial;         /* blocks that this operation has allocated */
    uint64_t allocations;    /* asked for by the program, for stress and fail */
    uint64_t stressed_words; /* of the heap, counted once for each collection for stress */

    struct memory *memories[COLLECTING_PARTIES]; /* naming.c; NULL until there is a snapshot */
    struct history *history; /* history.h; NULL: no run has been looked at closely */

    /* model addresses of atoms and of words beside a heap, by outside_place; 0: not asked for yet
     */
    word outsiders[OUTSIDERS];
    bool has_outsiders;
    /* ADDRESS_FROM of each heap: where a block lay that the last call which moved one has moved, if
     * the program asks for it; where the last address led to, as long as none has moved */
    bool follows_moves;
    word moved_from[COLLECTING_PARTIES], address_before[COLLECTING_PARTIES];
    word places_before[COLLECTING_PARTIES][GC_MUTATORS][PROGRAM_SLOTS]; /* of the call under way */

    bool held; /* the blocks of the initial heap that is being built wait in slots (homes.c) */
    uint32_t at_home[PROGRAM_SLOTS]; /* which of them, in those of mutator 0; or MODEL_NONE */

    uint32_t offset[PROGRAM_ITEMS]; /* header of each item in heap or statics */
    uint32_t named[PROGRAM_ITEMS];  /* item of each named block */
    uint32_t first[PROGRAM_ITEMS]; /* the model's object for each named block: the first by count */
    word image[PROGRAM_WOSIZE + 8]; /* content of a block on its way into the heaps */
    word own[PROGRAM_WOSIZE + 8];   /* the same for one collector, if there are addresses in it */
    word *units, *units_end;        /* the content of a block of unit fields, as long as the heap */
    void *units_map;                /* of so many bytes, and a guard */
    size_t units_bytes;
};

/* ---- room.c -----------------------------------------------------------------------------------
 */

/* Bytes that a run may need for each word of the heap, on all sides together: as measured with
 * blocks of one field (docs/benchmarks.md), and some. */
enum { ROOM_EACH = 160 };

/* Memory for a heap of so many words, and for all that the fuzzer makes; it grows only.  What was
 * in it is lost then, states of oracles too.  False: the system has none, and there is room for
 * nothing. */
bool room_make(struct runner *, size_t heap_words);
void room_close(struct runner *);
/* True, and why in words for leave_unrun: neither machine nor process has what a run may need. */
bool room_is_short(size_t heap_words, char *out, size_t capacity);

/* ---- replay.c --------------------------------------------------------------------------------
 */

/* A bit for each of the collector's masks that the names switch off; NULL: none. */
unsigned unmasked(const struct collector *, const char *names);

/* ---- runner.c ---------------------------------------------------------------------------------
 */

/* A side is one of its runner's. */
static inline struct runner *runner_of(const struct side *s) {
    return (struct runner *)(void *)((char *)(s - s->party) - offsetof(struct runner, side));
}
static inline struct side *side_of(const struct gc_hooks *hooks) {
    return lent_owner(hooks);
}
static inline struct lent *lent_to(const struct side *s) {
    return &runner_of(s)->lent[s->party];
}

/* On which its calls run; NULL: the harness's own. */
static inline struct stack *stack_of(const struct side *s) {
    const struct runner *r = runner_of(s);
    return s->party == PARTY_SUBJECT && r->stack_used ? r->stack : NULL;
}

/* What the collector promises for the config that it has now.  A promise outside the bounds of
 * collectors/traits.h is noted in side.fault instead; judge_promises ends the run with it. */
void take_promises(struct side *);
void judge_promises(struct side *);

/* Ends the run with a violation; path, expected and found are filled in before. */
_Noreturn void fail(struct runner *, enum violation, enum oracle, enum party guilty,
                    const char *detail);
_Noreturn void harness_fault(struct runner *, const char *detail); /* the same without a verdict */
/* Ends the run without a verdict, since the rest of the program has no meaning here. */
_Noreturn void skip_rest(struct runner *);
/* An operation of that code has no effect. */
void count_skipped(struct runner *, unsigned code, enum skip why);
/* The same before the first operation: that side cannot be given the program, and why. */
_Noreturn void leave_unrun(struct side *, const char *why);

/* ---- initial/image.c ---------------------------------------------------------------------------
 */

/* Lays out heap and roots of the program in both collectors and in the model. */
void build_heap(struct runner *);
/* The side's graph from now on is that of its heap from base on, with so many words of static
 * blocks; base NULL: where the first walk says. */
void begin_graph(struct side *, const word *base, size_t static_words);
/* The tag of a block of raw words that the program wants to have this one; 0 if nobody takes any.
 */
unsigned raw_tag(const struct runner *, unsigned tag);
/* A word of a no-scan block, of as many bits as all collectors have for one. */
word raw_word(const struct runner *, word);
/* The word for a value of the program that is no pointer and no address. */
word atom_word(struct runner *, const struct value *);

/* ---- initial/immutables.c ----------------------------------------------------------------------
 */

/* Has a collector that gets its heap by alloc blocks of that tag, which may not be written? */
bool is_immutable(const struct runner *, unsigned tag);
/* Is the object such a block, with fields that are initialised? */
bool waits_for_fields(const struct runner *, uint32_t object);
/* A word of the model that leads to a block which is not static. */
bool is_heap_pointer(const struct runner *, word);
/* Takes out of the model what no order of allocations can make: to be called before it is built. */
void cut_immutables(struct runner *);
/* How many objects wait for fields; queue[0 .. ].parent are those, what they lead to before them.
 */
uint32_t order_immutables(struct runner *);
/* homes.c: may the blocks of the initial heap wait in slots while it is built, and must they? */
bool homes_suffice(struct runner *, const struct side *);
unsigned home_of(const struct runner *, uint32_t object); /* its slot */
/* Ties the roots: the slots are the program's. */
void homes_leave(struct runner *, struct side *);

/* ---- initial/build.c ---------------------------------------------------------------------------
 */

/* The program's heap in a collector without an image; false if it does not fit there. */
bool build_by_allocation(struct runner *, enum party);

/* ---- operations/ ------------------------------------------------------------------------------
 */

/* False: the operation has no legal meaning here, and nothing has happened. */
bool run_operation(struct runner *, const struct op *);
/* A call has ended in which finalisers may have run: the model does what they did. */
void take_over_finalisers(struct side *);
/* Lets those run that wait, after an operation. */
void run_finalisers(struct runner *);
/* The object in a model slot, or MODEL_NONE. */
unsigned slot_object(const struct runner *, unsigned m, unsigned slot);

/* What an address is written as: an immediate, any word, or an even one. */
enum address_form { ADDRESS_IMMEDIATE, ADDRESS_RAW, ADDRESS_CODE };
/* The model's word for an address of the script; each collector's is known then. */
word script_address(struct runner *, unsigned m, const struct value *, enum address_form);
/* The same for one of the initial heap: what it is for a collector, resolve_addresses says when it
 * is known where the blocks lie there. */
word heap_address(struct runner *, const struct value *, enum address_form);
void resolve_addresses(struct runner *, enum party);
/* The model's word for an atom, or for one just beside a heap: another one in each, known at once.
 */
word outsider(struct runner *, const struct value *);

/* ---- allocate.c -------------------------------------------------------------------------------
 */

/* Allocates a block with the content raw in SLOT_NEW of every party and judges the answers.
 * MODEL_NONE if a collector refused and may. */
unsigned allocate(struct runner *, unsigned m, size_t wosize, unsigned tag, size_t first_scanned,
                  const word *raw);

/* ---- coverage.c (coverage.h): only if r->covers -----------------------------------------------
 */

struct coverage *coverage_open(uint8_t *table, unsigned parts);
void coverage_start(struct runner *);
/* After an operation that had an effect, and the comparison that it asked for. */
void coverage_operation(struct runner *, const struct op *);
/* After a comparison: model.work has what is reachable. */
void coverage_graph(struct runner *);
/* ---- check.c ----------------------------------------------------------------------------------
 */

/* Walks all heaps and compares them with the model. */
void check_heaps(struct runner *, enum occasion);
/* Somebody else has walked the heaps: a collector that shows a copy has written it anew for that,
 * and blocks lie elsewhere, without a collection. */
void heaps_were_shown(struct runner *);
/* Has a collector collected since it was last compared? */
bool collected(const struct runner *);
/* Walks one heap, unless the last walk is still true. */
void walk_side(struct side *, enum occasion);

/* ---- naming.c ---------------------------------------------------------------------------------
 */

/* Names the blocks of a snapshot of a collector's heap. */
void name_blocks(struct runner *, const struct snapshot *);
/* A block is in SLOT_NEW of all parties.  If pictures are taken, its places are noted. */
void name_new(struct runner *, unsigned m, unsigned object);
/* The name of the block that the word v leads to in a collector's heap or, if there is none, of
 * what was last seen there; "" if it is not known. */
void name_of_word(struct runner *, enum party, word v, char out[NAME_TEXT]);

#endif
