/* SPDX-License-Identifier: MIT
 *
 * The file in which a fuzz target keeps the input that it runs, so that nothing that ends the
 * process can take it along: the target writes (fuzz/current.c), the campaign reads
 * (cli/campaign/current.c).
 *
 * Each process of a target has one, named by its number, in the folder that the environment
 * variable ISOHEAP_CURRENT names; without it there is none.  The file is mapped: what stands in it
 * is there after SIGKILL, and after a power cut as far as the system had written it.
 */
#ifndef ISOHEAP_CURRENT_INPUT_H
#define ISOHEAP_CURRENT_INPUT_H

#include <stdint.h>

#define CURRENT_VARIABLE "ISOHEAP_CURRENT"

enum { CURRENT_MAGIC = 0x63697368, CURRENT_SAID = 8 << 10, CURRENT_INPUT = 64 << 10 };

enum current_state { CURRENT_IDLE, CURRENT_RUNNING, CURRENT_MUTATING };

struct current_input {
    uint32_t magic, state;
    uint64_t runs;      /* inputs that have begun to run */
    uint32_t size;      /* of the input; more than CURRENT_INPUT: only its beginning is here */
    uint32_t seed;      /* while it is mutated: the mutation's */
    uint32_t said_size; /* of what isoheap or a sanitizer said about it */
    char said[CURRENT_SAID];
    uint8_t input[CURRENT_INPUT];
};

#endif
