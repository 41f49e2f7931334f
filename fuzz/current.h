/* SPDX-License-Identifier: MIT
 *
 * The input that runs now, in a file that outlives the process (current.c).  Without a campaign
 * that asks for it these cost nothing.
 */
#ifndef ISOHEAP_FUZZ_CURRENT_H
#define ISOHEAP_FUZZ_CURRENT_H

#include <stddef.h>
#include <stdint.h>

/* Maps so many bytes of a file that is shared with the campaign, and made if it is not there;
 * flags: further ones of open.  NULL without room for all of it. */
void *current_map(const char *path, int flags, size_t size);

/* Around the run of an input. */
void current_begin(const uint8_t *data, size_t size);
void current_end(void);
/* What is wrong with it; added to what has been said. */
void current_say(const char *text);
/* So many inputs of this process have violated something, and it goes on. */
void current_violated(unsigned number);
/* How often each oracle judged the subject in the run that has ended; ORACLE_COUNT of them. */
void current_judged(const uint64_t *counts);
/* It was not run, and why. */
void current_not_run(const char *why);
/* Around a mutation of an input; current_end ends it too. */
void current_mutate(const uint8_t *data, size_t size, unsigned seed);

#endif
