/* SPDX-License-Identifier: MIT
 *
 * The invariants of TSO section 3.2 as predicates on a state of the model (model.h).
 *
 * Each is named after the paper and holds in every state that the paper's collector can reach; a
 * condition under which one holds (a label, a handshake phase) is part of its predicate.
 */
#ifndef ISOHEAP_ONTHEFLY_INVARIANTS_H
#define ISOHEAP_ONTHEFLY_INVARIANTS_H

#include "models/onthefly/model.h"

/* X(name, violation class, statement).  The class is the name of one in views/violation.h.  The
 * order is that in which a state that breaks several is reported: safety first. */
#define INVARIANTS(X)                                                                              \
    X(valid_refs, lost_object,                                                                     \
      "every reference that is reachable from a root, a store buffer or a grey has an object")     \
    X(valid_stores, dangling_pointer, "no store reaches an object that has been freed")            \
    X(gc_fields, field_written, "the collector writes no field")                                   \
    X(strong_tricolour, tricolour_broken, "no black object points to a white one")                 \
    X(weak_tricolour, tricolour_broken,                                                            \
      "what a black object points to is marked or grey-protected")                                 \
    X(valid_W, mark_lost,                                                                          \
      "what is grey is marked, or being marked under the lock; work-lists are disjoint")           \
    X(tso_store, mark_lost, "each store buffer holds what its process may store")                  \
    X(tso_lock, mark_lost, "who holds the lock is inside a CAS, and nobody else is")               \
    X(handshake, handshake_broken, "type, phases and pending bits of a handshake fit each other")  \
    X(phase_rel, handshake_broken, "phase, its pending stores and the handshake fit each other")   \
    X(fM_rel, handshake_broken, "f_M, its pending stores and the handshake fit each other")        \
    X(fA_rel, handshake_broken, "f_A, its pending stores and the handshake fit each other")        \
    X(sys_phase, tricolour_broken, "colours are as the collector's handshake phase says")          \
    X(mutator_phase, tricolour_broken, "nothing is black for a mutator in hp_IdleInit")            \
    X(marked_insertions, tricolour_broken, "pending stores insert marked references only")         \
    X(marked_deletions, tricolour_broken, "pending stores delete marked references only")          \
    X(reachable_snapshot, tricolour_broken,                                                        \
      "what a black mutator reaches is black or grey-protected")                                   \
    X(gc_W_empty, handshake_broken, "greys cannot hide from the collector that asks for them")     \
    X(sweep, mark_lost, "what the sweep has passed is marked")                                     \
    X(obj_fields_marked, mark_lost, "the scanned fields of the object being scanned are marked")   \
    X(mark_local, mark_lost, "inside mark: the object exists, f_M is right, the CAS finds white")  \
    X(store_local, tricolour_broken, "before Store stores: both barriers have had their effect")   \
    X(roots_local, mark_lost, "while roots are marked: nothing is pending, those done are marked") \
    X(garbage, garbage_retained, "what was garbage when a cycle began is gone when it ends")

enum invariant {
#define X(name, class, statement) INVARIANT_##name,
    INVARIANTS(X)
#undef X
        INVARIANT_COUNT
};
#define INVARIANT(name) (1U << INVARIANT_##name)
#define INVARIANTS_ALL  ((1U << INVARIANT_COUNT) - 1)
/* The paper's main theorem alone, which can also be asked of a collector without ghost state. */
#define INVARIANTS_SAFETY (INVARIANT(valid_refs) | INVARIANT(valid_stores))

const char *invariant_name(unsigned bit);
/* The name of a violation class. */
const char *invariant_class(unsigned bit);
const char *invariant_statement(unsigned bit);

/* Those of a set that do not hold; events are those of the step that led to the state.  garbage
 * needs model.track_garbage. */
unsigned invariants_broken(const struct model *, const struct state *, unsigned events,
                           unsigned set);
/* Of a set of broken ones, the one to report. */
unsigned invariant_first(unsigned broken);

#endif
