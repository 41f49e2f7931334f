/* SPDX-License-Identifier: MIT
 *
 * Tandem: a collector that marks in a thread of its own beside two mutators, as somebody writes it
 * who has never heard of isoheap.  Pthreads, one mutex, one condition; adapter.c plugs it in.
 *
 * A cycle: all mutators stop at a safepoint, the collector shades what their roots lead to, and
 * they go on.  It marks beside them, block after block; a mutator that overwrites a pointer shades
 * what stood there (the snapshot), and new blocks are black.  Then it sweeps, under the mutex.
 */
#ifndef TANDEM_H
#define TANDEM_H

#include "collectors/layout.h"

#include <pthread.h>

enum { TANDEM_MUTATORS = 2 };
enum tandem_phase { TANDEM_RESTS, TANDEM_STOPS, TANDEM_MARKS };

struct tandem {
    word *heap, *end; /* blocks in address order: blue ones are free */
    word *roots[TANDEM_MUTATORS];
    size_t n_roots;                          /* of each mutator */
    void (*dead)(word *start, size_t words); /* told of memory that nobody may touch, */
    void (*used)(word *start, size_t words); /* and of what is about to be used */
    uint64_t *ended;                         /* counts cycles that have ended */

    pthread_mutex_t mutex; /* of all below, of colours and of free blocks */
    pthread_cond_t changed;
    pthread_t thread;
    _Atomic enum tandem_phase phase; /* written under the mutex, read by barriers without */
    bool wanted, quits;              /* a cycle; the end of the thread */
    unsigned mutators;               /* that are there */
    unsigned stopped;                /* mutators at a safepoint, or waiting for a cycle */
    uint64_t cycles;
};

/* A mutator comes, or goes; its roots are there before, and all unit when it goes. */
void tandem_join(struct tandem *);
void tandem_leave(struct tandem *);
/* Begins its thread; what stands above the mutex is set.  False: there is no thread left. */
bool tandem_begin(struct tandem *);
/* Makes [heap, end) one free block, or, before the first mutator runs, what the caller has written
 * there. */
void tandem_make_free(struct tandem *, word *hp, size_t words);

/* What mutator m does, in a thread of its own.  A block of wosize fields with that content, in a
 * root; NULL: there is no room even after a cycle. */
bool tandem_alloc(struct tandem *, unsigned m, unsigned root, size_t wosize, unsigned tag,
                  const word *content);
void tandem_store(struct tandem *, word block, size_t i, word value);
void tandem_collect(struct tandem *); /* all that is garbage now is free afterwards */
void tandem_want(struct tandem *);    /* a cycle shall begin, if none is under way */
void tandem_safepoint(struct tandem *);

#endif
