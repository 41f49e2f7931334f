/* SPDX-License-Identifier: MIT
 *
 * The OCaml 5 runtime with a thread of the system for each domain: nothing is scheduled, nothing
 * repeats, and all run at full speed.  It is no collector of the registry: what it does depends on
 * the machine, so that only what every interleaving must fulfil can be asked of it
 * (tests/collectors/ocaml5_threads_test.c).
 *
 * Every function acts for the domain whose thread calls it.  A domain has two rows of GC_SLOTS
 * slots, which are its roots, of every kind that there is; `row` chooses the one that is meant.
 * What stands in a slot is the runtime's own word, and may be another one after each function that
 * allocates, collects or waits.
 */
#ifndef ISOHEAP_OCAML5_THREADS_H
#define ISOHEAP_OCAML5_THREADS_H

#include "collectors/collector.h"

enum { PARALLEL_ROWS = 2 };

struct parallel_counts {
    uint64_t minor, major, compactions;
};

struct parallel_runtime {
    /* The runtime, with the calling thread as domain 0: once in a process.  hooks->broken and
     * hooks->finalised are called by any thread. */
    void (*start)(const struct gc_config *);

    /* Domain.spawn: body(m) runs as a domain of its own, 0 < m < GC_MUTATORS, whose result is a
     * value.  Domain.join: waits for its end; dst := that value.  By domain 0. */
    void (*spawn)(unsigned m, word (*body)(unsigned m));
    void (*join)(unsigned m, unsigned dst);
    /* All slots of both rows become unit. */
    void (*drop)(void);
    /* A value that all domains can read. */
    void (*publish)(unsigned slot);
    void (*receive)(unsigned dst);

    void (*row)(unsigned row);
    word (*get)(unsigned slot);
    void (*set)(unsigned slot, word v);

    void (*alloc)(unsigned dst, size_t wosize, unsigned tag, const word *raw);
    void (*load)(unsigned dst, unsigned obj, size_t i);
    void (*store)(unsigned obj, size_t i, unsigned value);
    void (*blit)(unsigned src, size_t i, unsigned dst, size_t j, size_t n);
    /* A lazy block is forced to the value, unless another domain has begun to. */
    void (*force)(unsigned obj, unsigned value);
    void (*collect)(enum gc_collection);
    void (*slice)(size_t budget);
    void (*kind)(unsigned kind);
    void (*poll)(void);
    void (*rest)(void (*body)(void)); /* in a blocking section, where the backup thread answers */
    struct gc *(*mine)(void);         /* for these, whose slots are those of the row */
    const struct gc_extras *extras;

    /* By domain 0, when it is alone: allocated blocks; those that ended cycles have had. */
    size_t (*blocks)(void);
    void (*count)(struct parallel_counts *);
};

extern const struct parallel_runtime ocaml5_threads, ocaml5_threads_edited;

#endif
