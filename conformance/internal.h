/* SPDX-License-Identifier: MIT
 *
 * What the files of the conformance kit share.  Not for other folders.
 */
#ifndef ISOHEAP_CONFORM_INTERNAL_H
#define ISOHEAP_CONFORM_INTERNAL_H

#include "conformance/conform.h"
#include "harness/dead_memory.h"
#include "harness/lent.h"
#include "harness/stack/stack.h"
#include "views/heap.h"

#include <setjmp.h>

enum {
    SCALES = 5,        /* heaps of 64, 128, ... words */
    WORDS_LEAST = 64,  /* words of the smallest heap */
    WORDS_MOST = 4096, /* and of the largest */
    FUEL = 1 << 26,    /* steps that one call may take */
    SCRATCH = 32,      /* slots from here on are the kit's own registers */
    TOLD = 8,          /* numbers of deaths */
    STATIC_WORDS = 5   /* of two static blocks */
};

struct conform {
    const struct collector *collector;
    struct gc *gc;
    struct collector_traits traits;
    struct gc_config config; /* the collector has a copy */
    struct lent *lent;
    struct stack *stack;    /* on which collections run; NULL: the ordinary one */
    struct gc_hooks *hooks; /* lent, as slots and statics are */
    gc_slots *slots;        /* of config.mutators */
    word *statics;          /* STATIC_WORDS */
    word beside[2]; /* the words before and behind the heap, as the hook fence was told; or 0 */
    struct conform_answer *answer;
    jmp_buf end;
    unsigned gone;  /* a bit for each mutator that is not there */
    size_t words;   /* of the heap */
    unsigned scale; /* 0 .. SCALES - 1 */
    unsigned kind;  /* of the next fresh heap */
    word units[2 * WORDS_MOST];
    void (*phase_ended)(struct conform *, enum gc_stage); /* NULL: nobody looks */
    unsigned phases; /* of a cycle that have ended, as told to it: the next one, cyclically */
    unsigned ends;   /* that were told to it */
    bool amid;       /* a cycle was under way when it began to listen */
    unsigned events[GC_SWEPT + 1]; /* as long as hooks->listened */
    unsigned told[TOLD]; /* how often hooks->finalised told of each number, since fresh_heap */
    /* the last walk */
    struct graph graph;
    struct heap_facts facts;
    struct graph_cell cells[16 * WORDS_MOST];
    uint64_t in_use[16 * WORDS_MOST / 64 + 1];
};

/* Ends the step with the answer that its promise is broken, and how. */
_Noreturn void broken(struct conform *, const char *format, ...);
/* Adds a remark to the answer, whatever that is. */
void remark(struct conform *, const char *text);

/* A second one of the same collector and variant, open beside c; what it breaks is c's answer.
 * Close other.gc. */
void open_beside(struct conform *other, const struct conform *c);

/* ---- calls of the collector, with the checks that every call must pass -------------------------
 */

/* Resets the collector to an empty heap of that many words; every slot is unit. */
void fresh_heap(struct conform *, size_t words, unsigned mutators);
/* The same for one mutator, with a mark stack of so many entries; 0: the usual one. */
void fresh_heap_with(struct conform *, size_t words, size_t mark_stack);
/* Calls alloc, then poll as long as the answer is GC_PENDING. */
enum gc_result ask(struct conform *, unsigned m, unsigned dst, size_t wosize, unsigned tag,
                   const word *raw);
/* The same where a refusal is a broken promise. */
void make(struct conform *, unsigned m, unsigned dst, size_t wosize, unsigned tag, const word *raw);
/* The first tag of blocks that may be written. */
unsigned node_tag(const struct conform *);
/* Of no-scan blocks of any size that may be written; 0: there are none. */
unsigned some_raw_tag(const struct conform *);
/* A block [id, unit] with that tag in slot dst. */
void make_node(struct conform *, unsigned m, unsigned dst, unsigned id);
/* Must the call be made again that has this answer, the n-th?  Who has the trait may_refuse gets a
 * full collection in between, and most of the heap is free: so often that it ends. */
bool must_ask_again(struct conform *, const char *function, enum gc_result answer, unsigned n);
/* The low bits of a raw word, as many as the collector's words have. */
word fitting(const struct conform *, word);
/* Of a block that has just been made, and nothing has been called since. */
void init_field(struct conform *, unsigned m, unsigned obj, size_t i, unsigned value);
void set_field(struct conform *, unsigned m, unsigned obj, size_t i, unsigned value);
/* Slot dst := field i of the block in slot obj, which is no infix pointer. */
void get_field(struct conform *, unsigned m, unsigned dst, unsigned obj, size_t i);
/* Copies n fields from field i on of the block in src to field j on of that in dst, by the function
 * blit, which is there. */
void blit_fields(struct conform *, unsigned src, size_t i, unsigned dst, size_t j, size_t n);
void collect(struct conform *, enum gc_collection);
/* The same on a stack of so many KiB. */
void collect_on_stack(struct conform *, enum gc_collection, size_t kib);
/* As many full collections as the traits speak of, one at least. */
void collect_fully(struct conform *);
/* Cycles since fresh_heap; 0 if nobody shows them.  Where one begins as soon as the last has ended
 * nobody ever answers idle: another has begun then. */
uint64_t cycles_begun(const struct conform *);
/* Is one under way?  False if nobody shows them. */
bool is_in_cycle(const struct conform *);
/* Slices until no cycle is under way, or one has come to its end and the next begun.  Returns how
 * many came before the last, or CYCLE_SLICES if those were not enough. */
enum gc_result slice(struct conform *, size_t budget);
enum { CYCLE_SLICES = 4096 };
unsigned slices_of_a_cycle(struct conform *);
/* So many fields, or max_wosize if those are fewer. */
size_t as_long(const struct conform *, size_t wosize);
/* How many kinds it has, one at least: for c->kind of the next fresh heap. */
unsigned kinds_of(const struct conform *);
/* NULL, or that there is no such function. */
const char *has_step(const struct conform *);
const char *has_collect(const struct conform *);
/* Polls the mutators in turn until the heap may be looked at. */
void settle(struct conform *);
/* Settles and walks the heap with these HEAP_* checks; broken() if it does not pass. */
void walk(struct conform *, unsigned checks);
/* What memory holds that nobody wrote, from the next reset on. */
void fill_memory(struct conform *, enum memory_fill);

/* Every kind of collection, and the words for it in an answer. */
enum { COLLECTIONS = 3 };
struct conform_collection {
    enum gc_collection kind;
    const char *when;
};
extern const struct conform_collection conform_each[COLLECTIONS];

/* ---- structures -------------------------------------------------------------------------------
 */

/* Makes a list of nodes with the ids 0 .. n - 1, which begins in slot 0. */
void make_list(struct conform *, unsigned n);
/* broken() unless such a list is there; when: "after a full collection". */
void expect_list(struct conform *, unsigned n, const char *when);
/* broken() unless the slot holds a block with this id. */
void expect_node(struct conform *, unsigned m, unsigned slot, unsigned id, const char *when);

/* A closure of two functions, the second one's infix block at field 3, with a node in its
 * environment. */
void make_closure(struct conform *, unsigned slot);
/* broken() unless it is there. */
void expect_closure(struct conform *, unsigned slot, const char *when);

/* ---- the steps --------------------------------------------------------------------------------
 */

struct conform_step {
    const char *name, *promise;
    const char *(*not_promised)(const struct conform *); /* NULL, or why it does not apply; no
                                                            function: it applies always */
    void (*check)(struct conform *);                     /* called for every scale */
};
/* claims_NAME, the function not_promised of a step that needs the trait. */
#define CLAIMED(name)                                                                              \
    static const char *claims_##name(const struct conform *c) {                                    \
        return c->traits.name ? NULL : "trait " #name " is not set";                               \
    }
/* Steps of conform_traits. */
void check_raw(struct conform *);
void check_outside(struct conform *);
void check_statics(struct conform *);
void check_any_word(struct conform *);
void check_atoms(struct conform *);
extern const struct conform_step conform_larges[], conform_calls[], conform_collections[],
    conform_traits[], conform_pieces[], conform_barriers[], conform_mutators[], conform_marking[],
    conform_telling[], conform_generations[], conform_cost[], conform_order[], conform_extras[],
    conform_legal[];

#endif
