/* SPDX-License-Identifier: MIT
 *
 * What a collector gets pointers to, in pages of its own: the slots, the static blocks, the content
 * of a block that it is asked for, the hooks and a copy of the config.
 *
 * Each part lies between guards that nobody can access, and ends where a guard begins, but for the
 * counters of the hooks, which have the hooks' functions in front of them on a page that can only
 * be read.  Before the others, behind the counters, and where a collector's arenas say so, a few
 * words are fenced: whoever writes one after the other beyond his own changes them, and with
 * AddressSanitizer they are poisoned.  What decides a verdict lies nowhere near.
 */
#ifndef ISOHEAP_HARNESS_LENT_H
#define ISOHEAP_HARNESS_LENT_H

#include "collectors/collector.h"

enum { LENT_ATOMS = 256 };
enum {
    LENT_STATICS = 8192 /* words */,
    LENT_UNITS = 8192,
    LENT_CONTENT = 4096 + 512,
    LENT_FENCES = 24
};

struct fence {
    word *start;
    size_t words;
    const char *detail; /* what it means that one is changed: a sentence that lasts */
};

struct lent {
    word *atoms; /* a header and a poisoned word for each tag: blocks without fields */
    uint64_t atoms_lent[LENT_ATOMS / 64]; /* a bit for each tag that somebody has asked for */
    gc_slots *slots;                      /* the rows in use; a guard begins behind the last */
    word *statics;                        /* the words in use, likewise */
    word *content_end;        /* of a block, LENT_CONTENT words before; a guard begins there */
    const word *units_end;    /* LENT_UNITS units before, which can only be read; likewise */
    struct gc_hooks *hooks;   /* all but the counters can only be read */
    struct gc_config *config; /* a copy: what the collector writes there is nobody's loss */
    char *map;                /* all of it; NULL: not open */
    size_t size;
    char *slots_end, *statics_end; /* where their guards begin */
    bool renew; /* a fence may not be whole: the next lent_begin raises all of them again */
    unsigned n_fences;
    struct fence fences[LENT_FENCES];
};

/* Nothing is in use yet.  owner: what lent_owner finds for the hooks.  False if the system refuses.
 */
bool lent_open(struct lent *, void *owner);
void lent_close(struct lent *);
/* Whom hooks belong to. */
void *lent_owner(const struct gc_hooks *);

/* What the hooks say from now on, but for the counters.  Costs system calls only if that changes.
 */
void lent_hooks(struct lent *, const struct gc_hooks *);

/* For a run: so many rows of slots, each slot unit, and so many static words are in use; no arena
 * has a fence. */
void lent_begin(struct lent *, unsigned rows, size_t static_words);
/* Copies of a block's content, and that of a block of units alone: so many words that end where a
 * guard begins, until the next call.  At most LENT_CONTENT and LENT_UNITS. */
const word *lent_content(struct lent *, const word *content, size_t words);
const word *lent_units(const struct lent *, size_t words);

/* The value of the block without fields that has this tag, which is black as it was at first. */
word lent_atom(struct lent *, unsigned tag);

/* A fence of the collector's own, until the next lent_begin; those too many are not watched. */
void lent_fence(struct lent *, word *start, size_t words, const char *detail);
/* The detail of a fence that is not as it was; NULL: all are.  Who lets a run end without asking
 * sets `renew`. */
const char *lent_damage(struct lent *);

#endif
