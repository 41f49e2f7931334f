/* SPDX-License-Identifier: MIT
 *
 * The adapter of the OCaml 5 runtime: what its files share.
 *
 * The runtime's heap lies in pools, in large blocks and in a minor heap, and blocks move between
 * them.  Slots and oracles see a *shadow* instead: the reachable blocks, one after the other in the
 * order of a breadth-first search from the slots, written anew after every collection.  The shadow
 * is also what a program may observe: pointers to Forward blocks are as the runtime left them, and
 * a field of an ephemeron is shown only while its keys are reachable.
 */
#ifndef ISOHEAP_OCAML5_INTERNAL_H
#define ISOHEAP_OCAML5_INTERNAL_H

#include "collectors/shadow.h"

#include <stdarg.h>

enum {
    CAPACITY = 1 << 14, /* words of the shadow: of the largest heap that a program configures */
    MOST_FINALISERS = 256
};

/* A raw word in the runtime's heap, or back.  The runtime reads strings by bytes, the last of which
 * tells the length; a program's word has its lowest byte first on every machine. */
static inline word runtime_word(unsigned tag, word raw) {
#ifdef ARCH_BIG_ENDIAN
    word turned = 0;
    for (unsigned byte = 0; tag == TAG_STRING && byte < sizeof raw; byte++)
        turned = turned << 8 | (raw >> 8 * byte & 255);
    return tag == TAG_STRING ? turned : raw;
#else
    (void)tag;
    return raw;
#endif
}

struct gc {
    struct gc_config config;
    struct shadow shadow;
    uint32_t ephemerons[CAPACITY / 2], n_ephemerons; /* their places in the shadow */
    uint64_t seen; /* collections of the runtime that the shadow knows of */
    struct gc_finaliser finalisers[MOST_FINALISERS]; /* by number */
    bool hands[MOST_FINALISERS];                     /* it is one of those */
    bool finalises;                                  /* there has been one of Gc.finalise */
    bool stale;                                      /* a finaliser has changed slots */
    bool exact;                                      /* a full collection has just ended */
    bool clean;         /* nothing has happened since the shadow was written */
    const char *broken; /* what the last look at the heap found wrong */
};

/* ---- process.c ----------------------------------------------------------------------------------
 */

bool runtime_save(void);            /* once, before anything runs; false: no memory */
void runtime_put_back(struct gc *); /* variables and memory as they were then; g has the runtime */
struct gc *runtime_of_process(void);
/* The runtime says that it is broken; does not return. */
void runtime_broken(const char *sentence);
void runtime_finalised(uint64_t number); /* a finaliser runs */
/* Per cent of garbage that the major heap may have. */
unsigned runtime_space_overhead(unsigned variant);

/* ---- roots.c ------------------------------------------------------------------------------------
 */

void roots_clear(void); /* of a fresh runtime */
word root_get(unsigned slot);
void root_set(unsigned slot, word v);
const word *root_at(unsigned slot);
bool root_is_old(unsigned slot); /* a minor collection looks at it only if it is remembered */

/* ---- runtime.c: life of the runtime -------------------------------------------------------------
 */

void runtime_boot(struct gc *); /* a fresh runtime, for g->config */
word *runtime_stack(void);      /* the end where the bytecode stack begins: it grows downwards */
void runtime_push(unsigned n);  /* so many units onto it */
uint64_t runtime_collections(void); /* grows with everything that may move or free a block */
/* Makes the calls that the runtime has put off: finalisers. */
void runtime_actions(void);
/* The same between two steps, without finalisers if there may be some: they wait for act. */
void runtime_urgent(struct gc *);
/* The function of Gc.finalise runs; true: it raises an exception.  finalisers.c */
bool runtime_runs(uint64_t number, word v);
uint64_t runtime_callbacks(void); /* how many functions of Gc.finalise have run */
void runtime_fatal_error(char *format, va_list arguments);

/* ---- settings.c: the collector's kinds ----------------------------------------------------------
 */

extern const char *const runtime_kinds[];
void runtime_set(struct gc *g, unsigned kind); /* by Gc.set; may collect */

/* ---- sampling.c: Gc.Memprof ------------------------------------------------------------------
 */

enum { VARIANT_SAMPLED = 3, VARIANTS };
void sampling_begin(void); /* in a fresh runtime; allocates nothing in its heap */
intptr_t sampling_call(intptr_t closure,
                       intptr_t argument); /* of a function of the tracker: a value, values */

/* ---- region.c: the runtime's memory -------------------------------------------------------------
 */

bool region_open(void);               /* once; false if the system refuses */
void region_reset(struct gc_hooks *); /* frees everything */
void *region_malloc(size_t bytes);
void region_free(void *);
void *region_realloc(void *, size_t bytes);

/* ---- heap_map.c: where the runtime's blocks are -------------------------------------------------
 */

bool heap_open(void); /* once; false if the system has no memory */
/* Enters every allocated block into the map. */
void heap_map(struct gc *);
/* The same for a block that has just been allocated. */
void heap_add(struct gc *, word block);
/* Does the pointer lead into the runtime's heap?  To field 0 of an allocated block?  Of an
 * ephemeron? */
bool heap_is_inside(word v);
bool heap_is_block(word v);
bool heap_is_ephemeron(word v);
/* Must whatever can be reached be marked by now, and is this block not? */
bool heap_lacks_mark(word block);
/* Is there a block with tag 250 in the major heap? */
bool heap_has_forward(void);
bool heap_has_ephemerons(void);
bool heap_has_forward_key(void); /* a key of one is so: */
bool heap_keeps_key(word key);   /* a block with tag 250 that marking takes for alive, a defect */
/* Visits the allocated blocks of the major heap, in the order of their addresses in each chunk. */
void heap_each(struct gc *, void visit(struct gc *, word block));

/* ---- shadow.c -----------------------------------------------------------------------------------
 */

extern const struct shadow_subject ocaml_subject;
/* Slots and shadow are written anew from the runtime's heap. */
void runtime_show(struct gc *);
/* Does the shadow show the block that the word leads to, or does it lead to none? */
bool runtime_is_shown(struct gc *, word v);
/* Keys of shown ephemerons that nothing else reaches, and that are so, go, as their death would
 * make them go. */
void runtime_clear_keys(struct gc *, bool is_so(word key));
/* What marking makes of a key: it leads it past Forward blocks, but not to an integer. */
word runtime_past_forwards(struct gc *, word key);
/* Blocks with tag 250 that are allocated, and those of them that are not shown. */
struct forwards {
    size_t all, unreached;
};
struct forwards runtime_forwards(struct gc *);
/* The shown word of a block that has just been allocated. */
word runtime_show_new(struct gc *, word block);
void runtime_walk(struct gc *, gc_visit *, void *context);

/* ---- life.c -------------------------------------------------------------------------------------
 */

struct gc *runtime_open(void);
void runtime_close(struct gc *);
void runtime_reset(struct gc *, const struct gc_config *);
enum gc_result runtime_collect(struct gc *, enum gc_collection);
enum gc_result runtime_switch_kind(struct gc *, unsigned kind);
const char *runtime_check(struct gc *);

/* ---- mutator.c, extras.c ------------------------------------------------------------------------
 */

void runtime_begin(struct gc *);            /* of an operation: the slots are roots */
void runtime_begin_to_collect(struct gc *); /* the same of a collection or slice */
void runtime_end(struct gc *);              /* what it has put off comes, and the shadow keeps up */
void runtime_renew(struct gc *);            /* writes the shadow anew */
void runtime_keep_up(struct gc *);          /* the same, if anything may have moved or died since */
/* Can the shadow show so many words more, as it was last written? */
bool runtime_fits(const struct gc *, size_t words);
/* The same for a block of so many fields, and as things are now. */
bool runtime_has_room(struct gc *, size_t wosize);
enum gc_result runtime_alloc(struct gc *, unsigned m, unsigned dst, size_t wosize, unsigned tag,
                             const word *raw);
void runtime_init(struct gc *, unsigned m, unsigned obj, size_t i, unsigned v);
enum gc_result runtime_store(struct gc *, unsigned m, unsigned obj, size_t i, unsigned v);
enum gc_result runtime_load(struct gc *, unsigned m, unsigned dst, unsigned obj, size_t i);
void runtime_write_raw(struct gc *, unsigned m, unsigned obj, size_t i, word raw);
enum gc_result runtime_blit(struct gc *, unsigned m, unsigned src, size_t i, unsigned dst, size_t j,
                            size_t n);
word runtime_shown_at(struct gc *, word shown);
extern const struct gc_extras ocaml_extras;
/* Sets a key, from 1 on, or the data of an ephemeron, with known defects steered around. */
void ephemeron_set(struct gc *, word ephemeron, size_t i, word v);
/* Key i, which is dead, and the data with it. */
void ephemeron_clear(word ephemeron, size_t i);

/* ---- masks.c: known defects --------------------------------------------------------------------
 */

enum mask {
    MASK_EPHEMERON,
    MASK_COPY,
    MASK_COPY_ABSTRACT,
    MASK_FORWARD_KEY,
    MASK_BLIT_DATA,
    MASK_YOUNG_KEY
};
extern const struct gc_mask ocaml_masks[];
/* Is it on, and does this version have the defect? */
bool is_masked(const struct gc *, enum mask);

/* ---- ocaml.c: the major collector ---------------------------------------------------------------
 */

void runtime_full_major(void); /* Gc.full_major */
void runtime_compact(void);    /* Gc.compact */
bool runtime_is_marking(void); /* what has been looked at may be changed behind marking's back */
bool runtime_leads_keys(void); /* marking may lead a key past a Forward block */
void runtime_empty_minor_heap(void);
void runtime_finish_cycle(void); /* the one under way, or a whole one */

/* ---- finalisers.c -------------------------------------------------------------------------------
 */

/* then: NULL: the function does nothing. */
void runtime_finalise(struct gc *, word block, uint64_t number, bool last,
                      const struct gc_finaliser *then);
void runtime_act(struct gc *);
/* Runs the finalisers that a collection has begun to run, and one that raises has left. */
void runtime_finish(struct gc *);
void extras_reset(struct gc *); /* for a new config */

/* ---- custom blocks: the words after the first two are the program's
 * ------------------------------
 */

enum { CUSTOM_HIDDEN = 2 }; /* operations, number of the finaliser */

/* ---- stubs.c ------------------------------------------------------------------------------------
 */

bool runtime_is_called(void); /* a function of Gc.finalise is running */

/* ---- heap_view.c --------------------------------------------------------------------------------
 */

/* Blocks of `each` words, one behind the other, that begin with their headers: 0 if it is free. */
struct heap_pool {
    word *start, *first, *end;
    size_t each;
};
/* In words with headers; what the runtime itself has counted. */
struct heap_counted {
    size_t pool_words, pool_live_words, pool_live_blocks, pool_frag_words, large_words,
        large_blocks;
};

void heap_pools(void visit(const struct heap_pool *));
void heap_large(void visit(word *header));
void heap_counts(struct heap_counted *);

#endif
