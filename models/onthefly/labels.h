/* SPDX-License-Identifier: MIT
 *
 * The labels of the on-the-fly collector's steps, shared by the model (model.h) and by the threads
 * that take the same steps (models/onthefly_threads/).
 *
 * X(label, what the step does).  docs/on-the-fly.md explains each beside the paper's line.
 */
#ifndef ISOHEAP_ONTHEFLY_LABELS_H
#define ISOHEAP_ONTHEFLY_LABELS_H

#include <stdbool.h>

/* Figure 5, mark(ref, w): of the collector and of the mutators. */
#define MARK_LABELS(X)                                                                             \
    X(mo_out, "not in mark")                                                                       \
    X(mo_null, "test ref = NULL")                                                                  \
    X(mo_mark, "load flag(ref)")                                                                   \
    X(mo_fM, "load f_M")                                                                           \
    X(mo_mtest, "test flag(ref) = f_M")                                                            \
    X(mo_phase, "load phase")                                                                      \
    X(mo_ptest, "test phase = Idle")                                                               \
    X(mo_co_lock, "lock")                                                                          \
    X(mo_co_cmark, "load flag(ref) under the lock")                                                \
    X(mo_co_ctest, "test that the flag has not changed")                                           \
    X(mo_co_mark, "store flag(ref) := f_M; ghost_honorary_grey := ref")                            \
    X(mo_co_unlock, "unlock")                                                                      \
    X(mo_co_won, "test that the CAS was won")                                                      \
    X(mo_co_W, "W := W + ref; ghost_honorary_grey := none")

/* Figure 6, and the mutator's side of figure 4. */
#define MUTATOR_LABELS(X)                                                                          \
    X(mut_top, "choose an operation")                                                              \
    X(mut_load, "load src.fld into the roots")                                                     \
    X(mut_deref_del, "load src.fld, the reference that the store will delete")                     \
    X(mut_store_del, "mark: deletion barrier")                                                     \
    X(mut_lop_store_ins, "ref := dst")                                                             \
    X(mut_store_ins, "mark: insertion barrier")                                                    \
    X(mut_store, "store src.fld := dst")                                                           \
    X(mut_hs_fence, "mfence")                                                                      \
    X(mut_hs_type, "load the type of the handshake")                                               \
    X(mut_hs_done, "answer the handshake")                                                         \
    X(mut_hs_roots, "choose a root to mark, or hand the work-list over")                           \
    X(mut_hs_roots_mark, "mark: root")                                                             \
    X(mut_first_ins, "mark: insertion barrier (variant free_barriers)")                            \
    X(mut_late_deref, "load src.fld (variant free_barriers)")                                      \
    X(mut_late_del, "mark: deletion barrier (variant free_barriers)")                              \
    X(mut_load_mark, "mark: read barrier (variant read_barrier)")                                  \
    X(mut_blocked, "blocked (variant blocks)")                                                     \
    X(mut_answered, "blocked, while the collector marks the roots (variant blocks)")               \
    X(mut_gone, "not there (variant come_and_go)")                                                 \
    X(mut_init_field, "store a field of what is allocated (variant pools)")                        \
    X(mut_init_flag, "load f_A; store the flag of what is allocated (variant pools)")              \
    X(mut_hs_answer, "store pending := no (variant tso_handshake)")                                \
    X(mut_hs_hand, "hand the work-list over (variants tso_handshake and early_answer)")

/* Figure 2.  Each of the six handshakes has the five labels of figure 4. */
#define HANDSHAKE_LABELS(X, h)                                                                     \
    X(h##_fence, "mfence")                                                                         \
    X(h##_type, "set the type of the handshake")                                                   \
    X(h##_ask, "set the pending bit of a mutator")                                                 \
    X(h##_wait, "wait for a mutator")                                                              \
    X(h##_load_W, "take the work-list over")
#define GC_LABELS(X)                                                                               \
    HANDSHAKE_LABELS(X, gc_idle)                                                                   \
    HANDSHAKE_LABELS(X, gc_idle_flip)                                                              \
    HANDSHAKE_LABELS(X, gc_init)                                                                   \
    HANDSHAKE_LABELS(X, gc_mark)                                                                   \
    HANDSHAKE_LABELS(X, gc_roots)                                                                  \
    HANDSHAKE_LABELS(X, gc_work)                                                                   \
    X(gc_load_fM, "load f_M")                                                                      \
    X(gc_invert_fM, "invert it")                                                                   \
    X(gc_store_fM, "store f_M")                                                                    \
    X(gc_phase_init, "store phase := Init")                                                        \
    X(gc_phase_mark, "store phase := Mark")                                                        \
    X(gc_mark_load_fM, "load f_M")                                                                 \
    X(gc_store_fA, "store f_A := f_M")                                                             \
    X(gc_mark_loop, "test W empty: is marking over?")                                              \
    X(gc_pick, "choose a grey object to scan")                                                     \
    X(gc_field, "choose a field; after the last blacken the object")                               \
    X(gc_deref, "load the field")                                                                  \
    X(gc_mark_field, "mark: field")                                                                \
    X(gc_mark_inner, "test W empty: ask for more work?")                                           \
    X(gc_phase_sweep, "store phase := Sweep")                                                      \
    X(gc_sweep_load_fM, "load f_M")                                                                \
    X(gc_sweep, "choose a reference and load its flag")                                            \
    X(gc_free, "free it, if it is white")                                                          \
    X(gc_phase_idle, "store phase := Idle")                                                        \
    X(gc_late_fA, "store f_A := f_M (variant alloc_white)")                                        \
    X(gc_steal, "read the roots of all mutators (variant no_roots_handshake)")                     \
    X(gc_steal_pick, "choose a root to mark (variant no_roots_handshake)")                         \
    X(gc_steal_mark, "mark: root (variant no_roots_handshake)")                                    \
    X(gc_answer, "choose a root of the mutator that is answered for (variant blocks)")             \
    X(gc_answer_mark, "mark: its root (variant blocks)")

#define X(label, meaning) label,
enum mark_label { MARK_LABELS(X) MARK_LABEL_COUNT };
enum mutator_label { MUTATOR_LABELS(X) MUTATOR_LABEL_COUNT };
enum gc_label { GC_LABELS(X) GC_LABEL_COUNT };
#undef X

enum handshake { H_IDLE, H_IDLE_FLIP, H_INIT, H_MARK, H_ROOTS, H_WORK, HANDSHAKES };
enum handshake_part { PART_FENCE, PART_TYPE, PART_ASK, PART_WAIT, PART_LOAD_W, PARTS };

/* Does the collector put a store into its buffer there? */
static inline bool is_gc_store(unsigned pc) {
    switch (pc) {
    case gc_store_fM:
    case gc_phase_init:
    case gc_phase_mark:
    case gc_store_fA:
    case gc_late_fA:
    case gc_phase_sweep:
    case gc_phase_idle:
        return true;
    default:
        return false;
    }
}

/* In which handshake the collector is at this label; HANDSHAKES: in none. */
static inline unsigned gc_handshake(unsigned pc) {
    return pc < HANDSHAKES * PARTS ? pc / PARTS : HANDSHAKES;
}
static inline unsigned gc_part(unsigned pc) {
    return pc % PARTS;
}

#endif
