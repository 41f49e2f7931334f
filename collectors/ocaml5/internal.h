/* SPDX-License-Identifier: MIT
 *
 * The adapter of the OCaml 5 runtime: what its own files share.  It is that of OCaml 4
 * (collectors/ocaml/internal.h) but for what is here: memory, life of the runtime, its heap.
 */
#ifndef ISOHEAP_OCAML5_INTERNAL_H
#define ISOHEAP_OCAML5_INTERNAL_H

#include "collectors/ocaml/internal.h"

#include <caml/domain.h>

enum { OWN_TAGS = 244 }; /* lazy blocks that are being forced, and continuations */

/* ---- heap_map.c ---------------------------------------------------------------------------------
 */

/* Is a key a block with tag 250 that marking takes for alive?  A defect. */
bool heap_has_forward_key(void);

/* ---- stubs.c ------------------------------------------------------------------------------------
 */

void runtime_calls_begin(void); /* of a run: none is running */
bool runtime_is_called(void);   /* a function of Gc.finalise is running */

/* ---- ocaml5.c, runtime.c -----------------------------------------------------------------------
 */

enum gc_result runtime_step(struct gc *, size_t budget);
void runtime_promise(const struct gc_config *, struct collector_traits *);
void runtime_begin_domain(void); /* by the thread of a new domain, for the row of its mutator */
/* After a full collection: has Gc.Memprof told of the death of no block that is alive? */
void runtime_judge_samples(struct gc *);
/* The domain that calls is about to end (caml_domain_stop_hook): mask ending-sweep. */
void runtime_before_end(const struct gc *);

/* ---- domains/ -----------------------------------------------------------------------------------
 */

#ifdef ISOHEAP_DOMAINS
/* The domain of a mutator; NULL: it is not there. */
caml_domain_state *runtime_domain(unsigned m);
/* The heap is about to be looked at: until no domain is in a stop-the-world section, or does
 * anything at all but for the one that calls. */
void runtime_settle(void);
/* Calls it as nobody's work: what it runs of the runtime's files is no part of a schedule. */
void runtime_beside(void body(void *), void *argument);
word runtime_domain_body(unsigned m); /* of Domain.spawn, and its result, a value; */
/* The domain whose thread calls asks for a section in which all stop, enters or leaves it. */
void runtime_section(enum gc_section);
/* A finaliser runs, which may collect: an operation may run many. */
void runtime_progressed(void);
word runtime_orphans(void); /* the ephemerons of domains that have ended; domains/orphans_view.c */
enum { DOMAIN_BODY = 1 << 24 }; /* whose function is that number + m */
#else
#ifdef ISOHEAP_THREADS /* who calls, whichever row of its slots it is about */
enum { DOMAIN_BODY = 1 << 24 };
word runtime_domain_body(unsigned m);
static inline caml_domain_state *runtime_domain(unsigned m) {
    (void)m;
    return Caml_state;
}
#else
static inline caml_domain_state *runtime_domain(unsigned m) {
    return m == 0 ? Caml_state : NULL;
}
#endif
static inline void runtime_settle(void) {}
static inline void runtime_progressed(void) {}
static inline void runtime_beside(void body(void *), void *argument) {
    body(argument);
}
static inline word runtime_orphans(void) {
    return 0;
}
#endif

/* ---- heap_view.c --------------------------------------------------------------------------------
 */

/* Blocks of `each` words, one behind the other, that begin with their headers: 0 if it is free. */
struct heap_pool {
    word *start, *first, *end;
    size_t each;
    const word *free; /* the first of its free slots; the second word of one leads to the next */
};
/* Of all domains and of those that have ended, in words with headers; what the runtime itself has
 * counted.  Of large blocks without what it has before them. */
struct heap_counted {
    size_t pool_words, pool_live_words, pool_live_blocks, pool_frag_words, large_words,
        large_blocks;
};

void heap_pools(void visit(const struct heap_pool *));
void heap_large(void visit(word *header));
void heap_counts(struct heap_counted *);

#endif
