/* SPDX-License-Identifier: MIT
 *
 * Which mutation the user wants, for every engine: the environment variable ISOHEAP_MUTATION.
 */
#ifndef ISOHEAP_MUTATION_CHOICE_H
#define ISOHEAP_MUTATION_CHOICE_H

#include "program/mutation/mutate.h"

/* ISOHEAP_MUTATION unset or empty: the default profile; the name of a profile: that one; "off":
 * NULL, no structured mutation.  Ends the process with status 2 and a list of what there is if the
 * name is unknown. */
const struct mutation_profile *mutation_choice(void);

#endif
