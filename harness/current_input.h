/* SPDX-License-Identifier: MIT
 *
 * The file in which a fuzz target keeps the input that it runs, so that nothing that ends the
 * process can take it along: the target writes (fuzz/current.c), the campaign reads
 * (cli/campaign/current.c).
 *
 * Each process of a target has one, named by its number, in the folder that the environment
 * variable ISOHEAP_CURRENT names; without it there is none.  The file is mapped: what stands in it
 * is there after SIGKILL, and after a power cut as far as the system had written it.
 *
 * A violation that an oracle sees ends no process of a campaign (fuzz/go_on.c).  The environment
 * variable ISOHEAP_GO_ON names the target's work folder, where the input goes into found/, what was
 * said about it into said/, and the kinds of violations are counted in a table that all processes
 * map.
 */
#ifndef ISOHEAP_CURRENT_INPUT_H
#define ISOHEAP_CURRENT_INPUT_H

#include "oracles/oracle.h"

#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

#define CURRENT_VARIABLE "ISOHEAP_CURRENT"

enum { CURRENT_MAGIC = 0x63697368, CURRENT_SAID = 8 << 10, CURRENT_INPUT = 64 << 10 };

enum current_state { CURRENT_IDLE, CURRENT_RUNNING, CURRENT_MUTATING };

struct current_input {
    uint32_t magic, state;
    uint64_t runs;       /* inputs that have begun to run */
    uint32_t size;       /* of the input; more than CURRENT_INPUT: only its beginning is here */
    uint32_t seed;       /* while it is mutated: the mutation's */
    uint32_t said_size;  /* of what isoheap or a sanitizer said about it */
    uint32_t violations; /* of earlier inputs, after which the process went on */
    uint64_t judged[ORACLE_COUNT]; /* how often each oracle judged the subject, in all runs */
    uint64_t not_run;              /* inputs that no collector can be given, of those runs */
    char why_not[VERDICT_TEXT];    /* of the first of them */
    char said[CURRENT_SAID];
    uint8_t input[CURRENT_INPUT];
};

/* By which an input is named, the same on both sides: FNV-1a of 64 bits. */
static inline uint64_t content_hash(const void *data, size_t size) {
    const unsigned char *bytes = data;
    uint64_t hash = 0xcbf29ce484222325;
    for (size_t i = 0; i < size; i++)
        hash = (hash ^ bytes[i]) * 0x100000001b3;
    return hash;
}

#define GO_ON_VARIABLE "ISOHEAP_GO_ON"
#define GO_ON_TABLE    "engine/violations" /* in that folder */
/* How inputs are named in found/: the first of a process, and later ones, which an earlier one may
 * have had its part in. */
#define GO_ON_FOUND "violation"
#define GO_ON_LATER "later"

/* Of a kind of violations so many are kept, and then the 8th, the 16th, and so on. */
enum { GO_ON_FIRST = 4, GO_ON_ROWS = 1024 };

struct go_on_table {
    _Atomic uint64_t kept;
    struct go_on_row {
        _Atomic uint64_t kind; /* a hash; 0: free */
        _Atomic uint64_t count;
    } rows[GO_ON_ROWS];
};

#endif
