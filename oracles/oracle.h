/* SPDX-License-Identifier: MIT
 *
 * The table of oracles, for everybody; how one is written: judge.h.
 *
 * An oracle is one file, oracles/<subject>/<name>.c, which defines `const struct oracle_module
 * oracle_<name>`, and one row here.
 */
#ifndef ISOHEAP_ORACLES_ORACLE_H
#define ISOHEAP_ORACLES_ORACLE_H

#include "collectors/collector.h"
#include "views/violation.h"

#include <assert.h>

enum party { PARTY_SUBJECT, PARTY_REFERENCE, PARTY_MODEL, PARTIES };

/* X(name).  At an event of a run those that listen to it judge in this order. */
#define ORACLES(X)                                                                                 \
    X(isomorphism)                                                                                 \
    X(fields)                                                                                      \
    X(well_formed)                                                                                 \
    X(overlap)                                                                                     \
    X(colours)                                                                                     \
    X(free_list)                                                                                   \
    X(memory)                                                                                      \
    X(completeness)                                                                                \
    X(compaction)                                                                                  \
    X(remembered)                                                                                  \
    X(minor)                                                                                       \
    X(work)                                                                                        \
    X(thrift)                                                                                      \
    X(snapshot)                                                                                    \
    X(liveness)                                                                                    \
    X(refinement)                                                                                  \
    X(refinement_words)                                                                            \
    X(layout)                                                                                      \
    X(finalisers)                                                                                  \
    X(weak_reads)                                                                                  \
    X(measure)                                                                                     \
    X(progress)                                                                                    \
    X(wear)                                                                                        \
    X(ageing)                                                                                      \
    X(growth)                                                                                      \
    X(hooks)                                                                                       \
    X(answers)                                                                                     \
    X(statics)                                                                                     \
    X(phases)                                                                                      \
    X(told)                                                                                        \
    X(assertion)                                                                                   \
    X(own_remembered)                                                                              \
    X(own_colours)                                                                                 \
    X(own_free_list)                                                                               \
    X(own_counts)

enum oracle {
#define X(name) ORACLE_##name,
    ORACLES(X)
#undef X
        ORACLE_COUNT
};

/* A set of oracles: bit 1 << ORACLE_x. */
typedef uint64_t oracle_set;
#define ORACLE_BIT(oracle) ((oracle_set)1 << (oracle))
#define ORACLES_ALL        (ORACLE_BIT(ORACLE_COUNT) - 1)
static_assert(ORACLE_COUNT < 64, "a set of oracles has 64 bits: widen oracle_set");

/* What an oracle may need of a collector.  X(name, in words, condition on its functions c and its
 * traits t) */
#define ORACLE_NEEDS(X)                                                                            \
    X(walk, "walk", c->walk)                                                                       \
    X(whitens, "trait whitens", t->whitens)                                                        \
    X(stays, "blocks that do not move", !t->moves)                                                 \
    X(free_list, "trait free_list", t->free_list)                                                  \
    X(refusal, "trait refusal", t->refusal != REFUSES_ANYTIME)                                     \
    X(extras, "extras", c->extras)                                                                 \
    X(exact, "trait full_until_exact", t->full_until_exact && !t->conservative)                    \
    X(complete, "trait full_until_exact, acyclic_until_exact or most_retained",                    \
      (t->full_until_exact && !t->conservative) || t->acyclic_until_exact || t->most_retained)     \
    X(compacts, "trait compacts or slides", t->compacts || t->slides)                              \
    X(generations, "young and remembered", c->young && c->remembered)                              \
    X(cycle, "cycle", c->cycle)                                                                    \
    X(slices, "trait slices", t->slices)                                                           \
    X(old_stays, "old blocks that do not move", !t->moves || (c->young && c->remembered))          \
    X(refines, "trait refines", t->refines)                                                        \
    X(refines_words, "trait refines_words", t->refines_words)                                      \
    X(renews, "trait renews", t->renews && t->full_until_exact)                                    \
    X(linear, "trait linear", t->linear)                                                           \
    X(waits, "trait waits", t->waits)                                                              \
    X(nurses, "trait young_first or ages", t->young_first || t->ages)                              \
    X(steady, "trait steady", t->steady)                                                           \
    X(called, "trait poisons or ticks", c->collect && (t->poisons || t->ticks))                    \
    X(tells_phases, "trait tells_phases", t->tells_phases)                                         \
    X(tells, "trait tells", t->tells)                                                              \
    X(own, "own", c->own)

enum oracle_need {
#define X(name, words, condition) NEED_##name,
    ORACLE_NEEDS(X)
#undef X
        ORACLE_NEED_COUNT
};
const char *oracle_need_words(enum oracle_need);
/* Bit set of what a collector with these traits has. */
unsigned oracle_needs_met(const struct collector *, const struct collector_traits *);

const char *oracle_name(enum oracle);
const char *oracle_meaning(enum oracle); /* one sentence */
const char *oracle_source(enum oracle);  /* where the statement comes from */
unsigned oracle_needs(enum oracle);      /* bit set of enum oracle_need */
/* The classes that it can raise, VIOLATION_none at the end. */
const enum violation *oracle_classes(enum oracle);
/* The name of event number n that it listens to; NULL: there are no more. */
const char *oracle_event(enum oracle, unsigned n);
enum oracle oracle_named(const char *name); /* ORACLE_COUNT if there is none */

enum { VERDICT_TEXT = 512 }; /* characters of each text of a verdict */
enum { NAME_TEXT = 16 };     /* of the name of a block: "b3", "n7:2" */

#endif
