/* SPDX-License-Identifier: MIT
 *
 * The adapter of the OCaml runtime: what its files share.
 *
 * Files here that know of no version beyond what the runtime's own headers say are part of the
 * adapter of OCaml 5 too, with those of collectors/ocaml5: shadow.c, life.c, mutator.c, extras.c,
 * masks.c, finalisers.c, sampling.c, settings.c, process.c and roots.c.
 *
 * The runtime's heap lies in chunks and in a minor heap, and blocks move between them.  Slots and
 * oracles see a *shadow* instead: the reachable blocks, one after the other in the order of a
 * breadth-first search from the slots, written anew after every collection.  The shadow is also
 * what a program may observe: pointers to Forward blocks are as the runtime left them, and a field
 * of an ephemeron is shown only while its keys are reachable.
 */
#ifndef ISOHEAP_OCAML_INTERNAL_H
#define ISOHEAP_OCAML_INTERNAL_H

#include "collectors/shadow.h"

#include <caml/version.h>
#include <setjmp.h>
#include <stdarg.h>

enum {
    CAPACITY = 1 << 14, /* words of the shadow: of the largest heap that a program configures */
    MOST_FINALISERS = 256
};

/* Allocation policies, as Gc.control numbers them: the names in the runtime's headers differ with
 * the version. */
enum { POLICY_NEXT_FIT, POLICY_FIRST_FIT, POLICY_BEST_FIT };

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
    bool unshared;                                   /* the last marshalling was without sharing */
    bool truncated;     /* a block of the major heap, since the last full collection */
    bool starving;      /* requests for memory may be refused */
    size_t making;      /* words of the block that the operation under way makes, and no slot has */
    bool unsampled;     /* Gc.Memprof is suspended: mask young-trigger */
    bool clean;         /* nothing has happened since the shadow was written */
    const char *broken; /* what the last look at the heap found wrong */
    struct gc_own own;
};

/* ---- process.c ----------------------------------------------------------------------------------
 */

bool runtime_save(void);            /* once, before anything runs; false: no memory */
void runtime_put_back(struct gc *); /* variables and memory as they were then; g has the runtime */
struct gc *runtime_of_process(void);
/* The runtime says that it is broken; does not return. */
void runtime_broken(const char *sentence);
_Noreturn void runtime_die(const char *sentence); /* the same */
/* It ends the process, for want of memory; does not return. */
void runtime_ended(const char *sentence);
void runtime_finalised(uint64_t number); /* a finaliser runs */
/* Per cent of garbage that the major heap may have. */
unsigned runtime_space_overhead(unsigned variant);
extern const char *const runtime_variants[];

/* ---- roots.c ------------------------------------------------------------------------------------
 */

#ifdef ISOHEAP_THREADS /* domains are threads of the system, each with several rows */
#define OF_A_THREAD _Thread_local
enum { ROOT_ROWS = 2 * GC_MUTATORS };
#else
#define OF_A_THREAD
enum { ROOT_ROWS = GC_MUTATORS };
#endif
/* whose slots an operation names: 0 where there is one mutator */
extern OF_A_THREAD unsigned root_row;
void roots_clear(void);  /* those of that row, as they are in a fresh runtime */
void roots_remove(void); /* the runtime forgets those of that row: its mutator ends */
word root_get(unsigned slot);
void root_set(unsigned slot, word v);
const word *root_at(unsigned slot);
word root_of(unsigned m, unsigned slot);
void root_set_of(unsigned m, unsigned slot, word v);
static inline word *runtime_slots(const struct gc *g) {
    return g->config.slots[root_row];
}
/* Of root_row: a minor collection looks at it only if it is remembered. */
bool root_is_old(unsigned slot);

/* ---- frames.c: what native code has instead of the bytecode stack
 * -------------------------------------------------------------------------------------------------
 */

#ifdef NATIVE_CODE
enum { FRAMES_PLACES = 9 };
void frames_begin(void); /* of a fresh runtime, which has its memory */
word *
frames_place(unsigned n); /* a root: a word of a frame, a register, a field of a module's data */
bool frames_is_data(unsigned n); /* the last of these */
/* Visits the data of the modules. */
void frames_data(struct gc *, void visit(struct gc *, const word *first, const word *end));
#endif

/* ---- runtime.c: life of the runtime -------------------------------------------------------------
 */

void runtime_boot(struct gc *); /* a fresh runtime, for g->config */
/* The end where the bytecode stack of a mutator begins: it grows downwards.  NULL: it has none, as
 * long as it is not there. */
word *runtime_stack(unsigned m);
void runtime_push(unsigned n);      /* so many units onto it */
uint64_t runtime_collections(void); /* grows with everything that may move or free a block */
/* Makes the calls that the runtime has put off: finalisers. */
void runtime_actions(void);
/* The same between two steps, without finalisers if there may be some: they wait for act. */
void runtime_urgent(struct gc *);
/* The function of Gc.finalise runs; true: it raises an exception.  finalisers.c */
bool runtime_runs(uint64_t number, word v);
uint64_t runtime_callbacks(void); /* how many functions of Gc.finalise have run */
void runtime_fatal_error(char *format, va_list arguments);

/* ---- exceptions.c -------------------------------------------------------------------------------
 */

/* Runs body; false if the runtime has raised an exception in it: what it had under way is given up,
 * as in OCaml code that catches one. */
#if OCAML_VERSION < 50000
bool runtime_try(void (*body)(void *context), void *context);
/* In a function that allocates, before the runtime is called: where that is refused memory, and
 * raises Out_of_memory, the function returns from here.  runtime_unguard ends it. */
#define RUNTIME_GUARD(g, dst)                                                                      \
    if ((g)->starving && sigsetjmp(*runtime_guard(), 0) != 0)                                      \
    return runtime_refused(g, dst)
/* The same in a function that gives no block. */
#define RUNTIME_GUARD_CALL(g)                                                                      \
    if ((g)->starving && sigsetjmp(*runtime_guard(), 0) != 0)                                      \
    return runtime_refused_call(g)
sigjmp_buf *runtime_guard(void);
void runtime_unguard(void);
enum gc_result runtime_refused(struct gc *, unsigned dst); /* out of memory, and no effect */
enum gc_result runtime_refused_call(struct gc *);
/* The runtime raises an exception, with a message or NULL; does not return. */
_Noreturn void runtime_raise(const char *name, const char *message);
void exceptions_begin(void); /* of a run: none is waited for */
#else                        /* no request of its is refused */
#define RUNTIME_GUARD(g, dst) ((void)0)
#define RUNTIME_GUARD_CALL(g) ((void)0)
static inline void runtime_unguard(void) {}
#endif

/* ---- settings.c: the collector's kinds ----------------------------------------------------------
 */

extern const char *const runtime_kinds[];
unsigned runtime_policy(unsigned kind);        /* the allocation policy of a kind */
void runtime_set(struct gc *g, unsigned kind); /* by Gc.set; may collect */

/* ---- sampling.c: Gc.Memprof ------------------------------------------------------------------
 */

#if OCAML_VERSION < 50000 || OCAML_VERSION >= 50200
enum { VARIANT_SAMPLED = 3, VARIANTS };
#else /* which has no Gc.Memprof */
enum { VARIANTS = 3, VARIANT_SAMPLED };
#endif
void sampling_begin(void); /* in a fresh runtime; allocates nothing in its heap */
/* Blocks whose allocation has been told, and whose death has not; SIZE_MAX: some are not counted.
 */
size_t sampling_alive(void);
intptr_t sampling_call(intptr_t closure,
                       intptr_t argument); /* of a function of the tracker: a value, values */
/* Mask young-trigger: an operation is about to make a young block of `least` to `most` words, its
 * header among them.  Nothing is sampled until sampling_resume, if that may be one of the size
 * after which the runtime fails its own assertion. */
#if defined(DEBUG) && OCAML_VERSION >= 50200
void sampling_leave_out(struct gc *, size_t least, size_t most);
void sampling_resume(struct gc *); /* all that it has made is in roots; may collect */
#else
static inline void sampling_leave_out(const struct gc *g, size_t least, size_t most) {
    (void)g, (void)least, (void)most;
}
static inline void sampling_resume(const struct gc *g) {
    (void)g;
}
#endif

/* ---- region.c: the runtime's memory -------------------------------------------------------------
 */

bool region_open(void);               /* once; false if the system refuses */
void region_reset(struct gc_hooks *); /* frees everything */
void *region_malloc(size_t bytes);
void region_free(void *);
void *region_realloc(void *, size_t bytes);
#if OCAML_VERSION < 50000
/* The n-th large request from now on is refused, and all that follow, in calls that may be refused;
 * 0: none. */
void region_starve(unsigned n);
void region_may_refuse(bool may);
bool region_has_refused(void); /* since region_starve */
#else
static inline void region_may_refuse(bool may) {
    (void)may;
}
static inline bool region_has_refused(void) {
    return false;
}
#endif

/* ---- heap_map.c: where the runtime's blocks are -------------------------------------------------
 */

bool heap_open(void);         /* once; false if the system has no memory */
void heap_close(struct gc *); /* what g alone has of it */
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
/* The first word of the first free block, in the order of the chunks; 0: there is none. */
word heap_first_free(void);
/* Is there a block with tag 250 in the major heap? */
bool heap_has_forward(void);
bool heap_has_ephemerons(void);
/* Visits the allocated blocks of the major heap, in the order of their addresses in each chunk. */
void heap_each(struct gc *, void visit(struct gc *, word block));

/* ---- freelist_view.c ----------------------------------------------------------------------------
 */

/* Calls visit for each small block of the best-fit free list and its remnant: some are white. */
void freelist_small(struct gc *, void visit(struct gc *, word block));

/* Visits the header of everything that is on the free list, in its order, until that says no; what
 * is wrong with the order, or with the sizes by which it is kept. */
const char *freelist_each(struct gc *, bool visit(struct gc *, word block));
/* Is it one list in the order of addresses? */
bool freelist_is_sorted(void);

/* ---- major_view.c -------------------------------------------------------------------------------
 */

/* Visits the words that marking has still to look at. */
bool major_has_seen(word ephemeron), major_waits(word block); /* while a cycle marks */
void major_gray(struct gc *, void visit(struct gc *, const word *first, const word *end));

/* ---- own.c --------------------------------------------------------------------------------------
 */

struct gc_own *runtime_own(struct gc *); /* collectors/own.h */

/* ---- own_lists.c: the parts of it
 * -------------------------------------------------------------------------------------------------
 */

void runtime_own_close(struct gc *);
/* An array with room for one more than n elements of that size; the old one is freed. */
void *own_room(void *array, size_t n, size_t *room, size_t size);
void own_put(struct gc *, enum gc_own_list, const word *place);
void own_sort(struct gc *, enum gc_own_list); /* by addresses */
/* The block at the header; they are added by their addresses. */
void own_add(struct gc *, const word *header, bool young, bool is_free);
struct gc_own_extent *own_extent_at(struct gc *, const word *header); /* NULL: there is none */
void own_list_roots(struct gc *);                                     /* those of root_row */

/* ---- shadow.c -----------------------------------------------------------------------------------
 */

extern const struct shadow_subject ocaml_subject;
/* Slots and shadow are written anew from the runtime's heap. */
void runtime_show(struct gc *);
/* Does the shadow show the block that the word leads to, or does it lead to none? */
bool runtime_is_shown(struct gc *, word v);
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

void runtime_begin(struct gc *); /* of an operation: the slots are roots */
/* Memory may be refused until runtime_unguard, in what the runtime has no exception for: it goes on
 * without, or ends the process. */
void runtime_may_lack(const struct gc *);
void runtime_end(struct gc *);     /* what it has put off comes, and the shadow keeps up */
void runtime_renew(struct gc *);   /* writes the shadow anew */
void runtime_keep_up(struct gc *); /* the same, if anything may have moved or died since */
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
/* The end of an operation after which the shadow may lead to others than before. */
void runtime_end_anew(struct gc *);
extern const struct gc_extras ocaml_extras;
/* Sets a key, from 1 on, or the data of an ephemeron, with known defects steered around. */
void ephemeron_set(struct gc *, word ephemeron, size_t i, word v);
/* Closures may not be young, by a mask. */
bool runtime_closures_are_old(const struct gc *);
/* A pointer into a closure may not be a key, by a mask. */
bool keys_are_closures(const struct gc *);

/* ---- masks.c: known defects --------------------------------------------------------------------
 */

enum mask {
    MASK_TRUNCATE,
    MASK_INFIX_KEY,
    MASK_EPHEMERON,
    MASK_MEASURE,
    MASK_FRAGMENT,
    MASK_OVERHEAD,
    MASK_YOUNG_KEY,
    MASK_KEY_COLOUR,
    MASK_COPY,
    MASK_COPY_ABSTRACT,
    MASK_COPY_ROOT,
    MASK_COMPACT_COUNTS,
    MASK_BLIT_DATA,
    MASK_FORWARD_KEY,
    MASK_ENDING,
    MASK_EMPTY_HEAP,
    MASK_INFIX_PROMOTED,
    MASK_SAMPLED_DEATH,
    MASK_LAST,
    MASK_YOUNG_TRIGGER
};
extern const struct gc_mask ocaml_masks[];
/* Is it on, and does this version have the defect? */
bool has_mask(const struct gc_config *, enum mask);
bool is_masked(const struct gc *, enum mask);

/* ---- ocaml.c: the major collector ---------------------------------------------------------------
 */

void runtime_full_major(void);         /* Gc.full_major */
void runtime_compact(struct gc *);     /* Gc.compact */
bool runtime_has_seen(word ephemeron); /* marking has looked at it, and may not again */
bool runtime_waits(word block);        /* marking has begun or will begin with it: OCaml 4 */
bool runtime_leads_keys(void);         /* marking may lead a key past a Forward block */
bool runtime_mistakes_young(void); /* marking takes a young key for one that it has not reached */
void runtime_empty_minor_heap(void);
void runtime_finish_cycle(void); /* the one under way, or a whole one */
/* Is there what a known defect, which is steered around, keeps though it is garbage?  Then a full
 * collection counts as refused. */
bool runtime_keeps_garbage(const struct gc *);

/* ---- marshalling.c ------------------------------------------------------------------------------
 */

void marshalling_begin(void); /* in a fresh runtime */
/* Custom blocks of a program's own, which have no finaliser. */
extern struct custom_operations custom_plain;
enum gc_result runtime_marshal(struct gc *, unsigned dst, unsigned src, bool unshared,
                               size_t words);
enum gc_result runtime_clone(struct gc *, unsigned dst, unsigned src, bool unshared, size_t words);
enum gc_result runtime_damage(struct gc *, unsigned dst, unsigned src, enum gc_damage, size_t n);

/* What the collectors of both runtimes have in common in their tables. */
#ifdef ISOHEAP_DOMAINS
#define RUNTIME_MUTATORS GC_MUTATORS
#else
#define RUNTIME_MUTATORS 1
#endif
#define RUNTIME_TRAITS                                                                             \
    .moves = true, .infix = true, .start_env = true, .raw = true, .full_until_exact = 1,           \
    .refusal = REFUSES_NO_FREE_BLOCK, .shallow = true, .single = true,                             \
    .max_heap_words = CAPACITY / 2, .max_mutators = RUNTIME_MUTATORS, .forwards = true
#define RUNTIME_TABLE(full_too)                                                                    \
    .variants = runtime_variants, .kinds = runtime_kinds, .open = runtime_open,                    \
    .reset = runtime_reset, .close = runtime_close, .alloc = runtime_alloc, .init = runtime_init,  \
    .load = runtime_load, .store = runtime_store, .blit = runtime_blit,                            \
    .write_raw = runtime_write_raw, .collect = (full_too), .switch_kind = runtime_switch_kind,     \
    .walk = runtime_walk, .check = runtime_check, .extras = &ocaml_extras, .masks = ocaml_masks,   \
    .shown_at = runtime_shown_at

/* ---- finalisers.c -------------------------------------------------------------------------------
 */

/* then: NULL: the function does nothing. */
void runtime_finalise(struct gc *, word block, uint64_t number, bool last,
                      const struct gc_finaliser *then);
void runtime_act(struct gc *);
/* Runs the finalisers that a collection has begun to run, and one that raises has left. */
void runtime_finish(struct gc *);
void extras_reset(struct gc *); /* for a new config */
void ocaml_promise(const struct gc_config *, struct collector_traits *);

/* ---- custom blocks: the words after the first two are the program's
 * ------------------------------
 */

enum { CUSTOM_HIDDEN = 2 }; /* operations, number of the finaliser */

#endif
