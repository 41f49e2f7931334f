/* SPDX-License-Identifier: MIT
 *
 * Heaps as Graphviz graphs.
 */
#ifndef ISOHEAP_DRAW_H
#define ISOHEAP_DRAW_H

#include "harness/harness.h"

#include <stdio.h>

void draw_begin(FILE *out, const char *title);
/* Writes one cluster: the roots and blocks of a snapshot.  prefix keeps the node names of several
 * clusters apart; path ("r0.1.0", or "") is drawn in red. */
void draw_cluster(FILE *out, const struct snapshot *, const char *prefix, const char *title,
                  const char *path);
/* A cluster that only says why there is nothing to see. */
void draw_absence(FILE *out, const char *prefix, const char *title, const char *why);
void draw_end(FILE *out);

#endif
