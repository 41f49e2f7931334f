/* SPDX-License-Identifier: MIT
 *
 * What holds for each build of a runtime that is a collector: lists of collectors end with NULL.
 */
#ifndef ISOHEAP_TESTS_RUNTIMES_H
#define ISOHEAP_TESTS_RUNTIMES_H

#include "collectors/collector.h"

/* Random programs have the same digest, which has the final graph and the number of collections,
 * whatever ran before: in order, in reverse order, and some of them once more. */
void runs_must_not_see_each_other(const struct collector *const *);

/* Such a collector shows a copy of its heap, which is written anew where slots have changed: random
 * programs pass while somebody looks between the operations. */
void who_looks_must_change_nothing(const struct collector *const *);

#endif
