/* SPDX-License-Identifier: MIT
 *
 * A shared object with variables that nobody else sees, for sections_test.c.
 */
#include "collectors/layout.h"

unsigned hidden_count(void);
unsigned hidden_others(void);

static unsigned ever = 40;            /* .data */
static unsigned char others[3] = {1}; /* its neighbours: red zones lie between */
static uint64_t zeros[100];           /* .bss */
static unsigned *const last = &ever;  /* read-only once it is relocated */

unsigned hidden_count(void) {
    zeros[99]++;
    others[2]++;
    ++*last;
    return ever + (unsigned)zeros[99];
}

unsigned hidden_others(void) {
    return others[0] + others[2];
}
