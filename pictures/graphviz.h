/* SPDX-License-Identifier: MIT
 *
 * Graphviz, which lays out every picture.
 */
#ifndef ISOHEAP_PICTURES_GRAPHVIZ_H
#define ISOHEAP_PICTURES_GRAPHVIZ_H

#include <stddef.h>

/* What Graphviz makes of a graph, malloc'ed, with its size.  form: the option of `dot` for the form
 * of its output, "-Tsvg" or "-Tplain".  NULL after a message if Graphviz does not work. */
char *lay_out(const char *dot, size_t dot_size, const char *form, size_t *size);

#endif
