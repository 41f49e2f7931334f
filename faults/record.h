/* SPDX-License-Identifier: MIT
 *
 * What a run of fuzz_fault notes, in memory that it shares with `isoheap faults`, so that the notes
 * survive a crash of the process.
 */
#ifndef ISOHEAP_FAULT_RECORD_H
#define ISOHEAP_FAULT_RECORD_H

#include "faults/canary.h"
#include "harness/harness.h"

#include <stdint.h>

/* Who reports: an oracle, or one of these. */
enum { BY_SANITIZER = ORACLE_COUNT, BY_INVARIANTS /* of the on-the-fly model */, REPORTERS };

enum { FAULT_INPUT_MAX = 4096 }; /* bytes */

struct fault_record {
    struct canary canary;
    uint64_t executions; /* begun */
    /* The execution at which each stage was first seen, counted from 1; 0: it was not. */
    uint64_t reached, triggered, detected;
    double seconds;             /* of processor time, at the detection or at the end */
    uint32_t violation, oracle; /* enum violation and who reports, of the detection */
    uint64_t alone, without;    /* judging: the oracles that see it when they judge alone; those
                                   without which no other sees it */
    /* The input of the execution that was begun last: of the detection, however the process ended.
     */
    uint32_t input_size;
    uint8_t input[FAULT_INPUT_MAX];
};

#endif
