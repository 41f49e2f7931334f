/* SPDX-License-Identifier: MIT
 *
 * The on-the-fly collector of TSO (figures 2, 5 and 6) as a model whose schedule is input: a state,
 * the steps that every process can take in it, and what a step does.
 *
 * A step is one atomic action of the paper's CIMP processes, or the commit of a pending store.
 * Everything that the paper leaves to chance (which process, which operation, which reference) is
 * in struct action.  The model knows nothing of invariants (invariants.h) or search (explore.h).
 */
#ifndef ISOHEAP_ONTHEFLY_MODEL_H
#define ISOHEAP_ONTHEFLY_MODEL_H

#include "models/onthefly/labels.h"
#include "models/onthefly/tso.h"

#include <stddef.h>

/* Process numbers: mutators 0..3 and the collector. */
enum { MUTATORS_MAX = 4, GC = 4, REFS_MAX = 8, FIELDS_MAX = 4, BUFFER_MAX = TSO_DEPTH };

typedef uint8_t refset; /* bit r */
typedef uint8_t oref;   /* 0 is NULL, r + 1 is reference r */

/* Memory cells: the control variables, a mark for each reference, its fields. */
enum { CELL_FA, CELL_FM, CELL_PHASE, CELL_TYPE, CELL_PENDING /* these two: tso_handshake */ };
enum { CELL_MARK = CELL_PENDING + MUTATORS_MAX, CELL_FIELD = CELL_MARK + REFS_MAX };
static inline bool cell_is_pending(unsigned cell) {
    return cell >= CELL_PENDING && cell < CELL_MARK;
}
static inline unsigned cell_mark(unsigned r) {
    return CELL_MARK + r;
}
static inline unsigned cell_field(unsigned r, unsigned f) {
    return CELL_FIELD + r * FIELDS_MAX + f;
}
static inline bool cell_is_mark(unsigned cell) {
    return cell >= CELL_MARK && cell < CELL_FIELD;
}
static inline unsigned cell_ref(unsigned cell) { /* the reference that a mark or a field is of */
    return cell < CELL_FIELD ? cell - CELL_MARK : (cell - CELL_FIELD) / FIELDS_MAX;
}

enum phase { PHASE_IDLE, PHASE_INIT, PHASE_MARK, PHASE_SWEEP };
enum handshake_type { HS_NOOP, HS_ROOTS, HS_WORK, HS_RESCAN /* rescan_roots: roots, then work */ };
static inline bool type_asks_for_roots(unsigned type) {
    return type == HS_ROOTS || type == HS_RESCAN;
}
/* Figure 3, bottom: the handshake that was begun (collector) or answered (mutator) last. */
enum handshake_phase { HP_IDLE, HP_IDLE_INIT, HP_INIT_MARK, HP_MARK, HP_IDLE_MARK_SWEEP };
enum { NO_OBJECT = 2 }; /* in place of a mark: there is no object */

/* ---- state ------------------------------------------------------------------------------------
 */

/* A mutator or the collector.  A register that will not be read before it is set again is 0. */
struct agent {
    uint8_t pc;      /* enum mutator_label or enum gc_label */
    uint8_t mark_pc; /* enum mark_label; mo_out unless pc is one that says "mark" */
    refset roots;    /* mutator only */
    refset W;
    refset refs; /* still to do: roots, references to sweep, fields of src, mutators to await */
    oref src;    /* the object whose field is accessed; the reference being swept */
    oref dst;    /* what Store stores */
    oref ref;    /* the parameter of mark */
    uint8_t field;
    uint8_t mark; /* mark's first look at flag(ref); NO_OBJECT possible */
    uint8_t cas;  /* mark's second look */
    uint8_t fM, phase;
    refset grey; /* ghost_honorary_grey */
    refset root; /* ghost: the deletion barrier's reference */
    /* Of a mutator in the variants with pools: */
    refset pool;   /* references that it has gathered for itself */
    refset unborn; /* those that it has taken out, while their flag is not in memory */
    oref fresh;    /* one of these, while something of it is not even stored (broken variants) */
    uint8_t sense; /* f_A as it was when the pool was filled (pools_early_flag) */
    uint8_t hp;    /* ghost, mutator only: enum handshake_phase */
};

/* All bytes count, as in struct tso. */
struct state {
    struct tso tso;
    struct agent agent[TSO_PROCESSES];
    refset alloc; /* the domain of the heap */
    uint8_t type; /* enum handshake_type; like pending and W not subject to TSO (3.1); in
                     tso_handshake the first two are what memory has in their cells */
    uint8_t pending;
    refset W;
    uint8_t sync;  /* ghost: mutators that have answered the handshake */
    uint8_t hp;    /* ghost: enum handshake_phase */
    refset doomed; /* ghost: garbage when the cycle began, not freed yet; only if tracked */
};

/* X(name, what is wrong).  Variants of the collector; each may be combined with others. */
#define VARIANTS(X)                                                                                \
    X(no_deletion_barrier, "Store does not mark what it overwrites")                               \
    X(no_insertion_barrier, "Store does not mark what it stores")                                  \
    X(plain_mark, "mark stores the flag without lock and second look")                             \
    X(no_gc_fence, "the collector begins handshakes without mfence")                               \
    X(no_mutator_fence, "mutators answer handshakes without mfence")                               \
    X(early_fA, "f_A is set together with f_M")                                                    \
    X(no_roots_handshake, "the collector reads the roots itself instead of asking for them")       \
    X(alloc_white, "f_A is set after sweeping: allocation is white while marking")                 \
    X(no_last_round, "marking ends when the collector's own work-list is empty")                   \
    X(old_sense, "sweep takes marked for unmarked")                                                \
    X(store_first, "Store stores before its barriers")                                             \
    X(skip_idle, "without the handshake gc_idle")                                                  \
    X(skip_idle_flip, "without the handshake gc_idle_flip")                                        \
    X(skip_init, "without the handshake gc_init")                                                  \
    X(skip_mark, "without the handshake gc_mark")                                                  \
    X(insertion_off, "no insertion barrier between the root marking and the next cycle")           \
    X(figure_5_order, "mark loads f_M before flag(ref), as figure 5 has it")                       \
    X(one_by_one,                                                                                  \
      "mutators operate one after the other and see each other's stores, as in programs")          \
    X(no_fence_idle, "the handshake gc_idle without its mfence")                                   \
    X(no_fence_idle_flip, "the handshake gc_idle_flip without its mfence")                         \
    X(no_fence_init, "the handshake gc_init without its mfence")                                   \
    X(no_fence_mark, "the handshake gc_mark without its mfence")                                   \
    X(fence_only_idle, "of the handshake gc_idle the mfence alone")                                \
    X(fence_only_idle_flip, "of the handshake gc_idle_flip the mfence alone")                      \
    X(fence_only_init, "of the handshake gc_init the mfence alone")                                \
    X(fence_only_mark, "of the handshake gc_mark the mfence alone")                                \
    X(insertion_until_mark, "no insertion barrier from hp_Mark to the next cycle")                 \
    X(deletion_after_roots, "the deletion barrier only after the mutator has marked its roots")    \
    X(early_answer, "mutators answer gc_roots before they have marked their roots")                \
    X(fA_before_init, "f_A is set after gc_idle_flip, before phase := Init")                       \
    X(fA_after_init, "f_A is set after phase := Init, before gc_init")                             \
    X(fA_before_mark, "f_A is set after gc_init, before phase := Mark")                            \
    X(fA_after_mark, "f_A is set after gc_mark, before gc_roots")                                  \
    X(fA_after_roots, "f_A is set after gc_roots, before marking")                                 \
    X(free_barriers, "Store runs its two barriers in any order")                                   \
    X(sweep_blind, "the sweep frees every object, whatever its flag")                              \
    X(stale_src, "a safepoint between the barriers and the store, where src is no root")           \
    X(gc_writes, "the collector writes each field back when it has loaded it")                     \
    X(mutator_sets_phase, "a mutator that has marked its roots stores phase := Mark")              \
    X(lost_grey, "who wins the CAS does not put the reference on its work-list")                   \
    X(early_unlock, "unlock does not wait until the buffer is empty")                              \
    X(no_phase_test, "mark does not look at phase")                                                \
    X(no_second_look, "mark stores the flag under the lock without a second look")                 \
    X(skip_field, "the collector does not scan the last field")                                    \
    X(stale_roots, "mutators mark every object for a root")                                        \
    X(no_wait, "the collector may go on while one mutator has not answered")                       \
    X(rescan_roots, "no deletion barrier: roots are marked again until none of them is white")     \
    X(read_barrier, "Load marks what it loads; Store does not mark what it overwrites")            \
    X(blocks, "mutators may block; the collector answers for who does")                            \
    X(blocks_unfenced, "the same, and who blocks leaves stores in its buffer")                     \
    X(blocks_rootless, "the same, and the roots of who blocks are not marked")                     \
    X(blocks_unanswered, "mutators may block, and nobody answers for them")                        \
    X(come_and_go, "mutators go, and hand their work over; others make new ones")                  \
    X(go_unfenced, "the same, and who goes leaves stores in its buffer")                           \
    X(go_with_work, "the same, and who goes takes its work-list along")                            \
    X(come_answered, "the same, and who comes counts as having answered")                          \
    X(pools, "mutators allocate from pools of their own; nothing is fenced or locked")             \
    X(pools_late_fields, "the same, and fields are stored behind the reference")                   \
    X(pools_late_flag, "the same, and the flag is stored behind the reference")                    \
    X(pools_early_flag, "the same, and the flag is f_A as it was when the pool was filled")        \
    X(deaf, "mutators never see that they are asked")                                              \
    X(endless_rounds, "the collector asks for work again and again, though there is none")         \
    X(tso_handshake, "type and pending bits are stored like anything else, work handed over "      \
                     "locked")
enum variant {
#define X(name, meaning) VARIANT_BIT_##name,
    VARIANTS(X)
#undef X
        VARIANT_COUNT
};
#define VARIANT(name) ((uint64_t)1 << VARIANT_BIT_##name)
const char *variant_name(unsigned bit);
const char *variant_meaning(unsigned bit);
_Static_assert(VARIANT_COUNT <= 64, "a variant is a bit");

struct model {
    unsigned mutators, refs, fields; /* 1..4, 1..8, 1..4 */
    unsigned buffer, gc_buffer;      /* pending stores of a mutator and of the collector, 1..8 */
    uint64_t variant;                /* a sum of VARIANT(name); 0: the paper's collector */
    bool sequential;                 /* sequential consistency in place of TSO */
    bool track_garbage;              /* keep state.doomed */
};

/* NULL for a legal model, else what is wrong with it.  All functions below want a legal one. */
const char *model_wrong(const struct model *);

static inline uint8_t model_all_mutators(const struct model *m) {
    return (uint8_t)((1U << m->mutators) - 1);
}

/* Fills in an initial state: the collector idle, the objects `alloc` black, field f of object r
 * from fields[r * FIELDS_MAX + f], the roots of each mutator from roots[].  All of these must lead
 * to objects of `alloc`. */
void model_start(const struct model *, struct state *, refset alloc, const oref *fields,
                 const refset *roots);

/* ---- steps ------------------------------------------------------------------------------------
 */

enum step_kind {
    DO_STEP,    /* the only step that there is at the label */
    DO_COMMIT,  /* the oldest pending store of the process reaches memory */
    DO_ALLOC,   /* a: reference */
    DO_DISCARD, /* a: root */
    DO_LOAD,    /* a: root, b: field */
    DO_STORE,   /* a: root, b: field, c: oref to store */
    DO_FENCE,
    DO_HANDSHAKE, /* see that one is pending */
    DO_PICK,      /* a: reference */
    DO_FIELD,     /* a: field */
    DO_MUTATOR,   /* a: mutator to ask or to await */
    DO_BLOCK,     /* blocks: a mutator takes no steps */
    DO_WAKE,      /* until now */
    DO_ANSWER,    /* a: mutator that the collector answers for */
    DO_GO,        /* come_and_go: a mutator is no more */
    DO_COME,      /* a: mutator that is there from now on, b: the root that it is given */
    DO_GATHER,    /* pools, a: reference */
    DO_COUNT
};

struct action {
    uint8_t process, op, a, b, c;
};

/* More than any process has at a time: 8 roots, 4 fields, 9 values, and the others. */
enum { ACTIONS_MAX = REFS_MAX * FIELDS_MAX * (REFS_MAX + 1) + 64 };

/* The steps that a process can take, without commits; returns their number, none if it is blocked.
 */
unsigned model_actions(const struct model *, const struct state *, unsigned process,
                       struct action *out);
bool model_can_commit(const struct state *, unsigned process);
/* Whether an action (from a file, say) is a step that can be taken. */
bool model_enabled(const struct model *, const struct state *, const struct action *);

/* Whether the sweep frees an object with this flag (NO_OBJECT: there is none), given its f_M. */
bool model_frees(const struct model *, unsigned mark, unsigned fM);
/* Whether a mutator may be in a handshake in the middle of its Store. */
static inline bool model_polls_in_store(const struct model *m) {
    return (m->variant & VARIANT(stale_src)) != 0;
}

/* Whether mutators may block. */
static inline bool model_blocks(const struct model *m) {
    return (m->variant & (VARIANT(blocks) | VARIANT(blocks_unfenced) | VARIANT(blocks_rootless) |
                          VARIANT(blocks_unanswered))) != 0;
}
/* Whether mutators allocate from pools. */
static inline bool model_pools(const struct model *m) {
    return (m->variant & (VARIANT(pools) | VARIANT(pools_late_fields) | VARIANT(pools_late_flag) |
                          VARIANT(pools_early_flag))) != 0;
}
/* Whether handshakes are in memory. */
static inline bool model_tso_handshake(const struct model *m) {
    return (m->variant & VARIANT(tso_handshake)) != 0;
}
/* Whether mutators may go, and others come. */
static inline bool model_comes_and_goes(const struct model *m) {
    return (m->variant & (VARIANT(come_and_go) | VARIANT(go_unfenced) | VARIANT(go_with_work) |
                          VARIANT(come_answered))) != 0;
}
/* The mutator whose roots the collector marks while it is blocked; TSO_NOBODY: none. */
static inline unsigned state_answered(const struct state *s) {
    for (unsigned p = 0; p < MUTATORS_MAX; p++)
        if (s->agent[p].pc == mut_answered)
            return p;
    return TSO_NOBODY;
}

/* What a step did that no state shows. */
enum event {
    EVENT_NONE,
    EVENT_LOST_STORE = 1, /* a store reached an object that had been freed */
    EVENT_GC_FIELD = 2    /* the collector wrote a field */
};
/* Takes a step, which must be enabled; returns a sum of events. */
unsigned model_apply(const struct model *, struct state *, const struct action *);

/* The label that a process is at; of mark if it is in mark. */
const char *model_label(const struct state *, unsigned process);
const char *model_label_meaning(const struct state *, unsigned process);

/* Reading memory as it is, without buffers. */
static inline uint8_t state_field(const struct state *s, unsigned r, unsigned f) {
    return s->tso.memory[cell_field(r, f)];
}
static inline uint8_t state_fM(const struct state *s) {
    return s->tso.memory[CELL_FM];
}
/* Marked on the heap: there is an object and its flag is f_M. */
refset state_marked(const struct model *, const struct state *);
/* Everything that a path through the heap leads to from a set, which belongs to it. */
refset state_closure(const struct model *, const struct state *, refset from);
/* The references that count as roots of a mutator: its roots, the deletion barrier's reference, and
 * both ends of each of its pending stores (3.2, coarse TSO invariants). */
refset state_roots(const struct state *, unsigned mutator);

#endif
