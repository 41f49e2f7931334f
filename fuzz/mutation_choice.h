/* SPDX-License-Identifier: MIT
 *
 * Which mutation the user wants, for every engine: the environment variable ISOHEAP_MUTATION.
 */
#ifndef ISOHEAP_MUTATION_CHOICE_H
#define ISOHEAP_MUTATION_CHOICE_H

#include "program/mutation/mutate.h"

/* The profile that ISOHEAP_MUTATION names; the default one if it is unset or empty; NULL, no
 * structured mutation, if it is "off".  An unknown name ends the process with status 2 and a list
 * of the names. */
const struct mutation_profile *mutation_choice(void);

#endif
