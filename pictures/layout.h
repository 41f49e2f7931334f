/* SPDX-License-Identifier: MIT
 *
 * One layout for all pictures of a page: where Graphviz puts nodes and edges.
 */
#ifndef ISOHEAP_CLI_LAYOUT_H
#define ISOHEAP_CLI_LAYOUT_H

#include "pictures/states.h"

#include <stdio.h>

/* Lays out the union graph and writes it as JSON:
 *   {"width": w, "height": h, "left_out": how many nodes have no place,
 *    "nodes": [[key, is root, x, y, width of the head, [widths of the fields]], ...],
 *    "edges": [[from, field, to, field of the target, [x, y, ...]], ...]}
 * Coordinates are in points, y goes downwards, and the place of a node is its middle; a node
 * without a place has the first two entries alone.  If the graph is too large, the nodes nearest to
 * the differing path and to its root `start` (a key, or "") are kept; near: the path and its
 * neighbours alone. False after a message if Graphviz does not work. */
bool write_layout(FILE *out, const struct states *, const char *start, bool near);
/* Is the graph so large that a second layout, of the path and its neighbours alone, helps? */
bool layout_is_large(const struct states *);

#endif
