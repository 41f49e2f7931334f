/* SPDX-License-Identifier: MIT
 *
 * Graphviz, which lays out every picture.
 */
#ifndef ISOHEAP_PICTURES_GRAPHVIZ_H
#define ISOHEAP_PICTURES_GRAPHVIZ_H

#include <stddef.h>

/* Lets Graphviz lay a graph out, in the form of its options "-Tsvg" or "-Tplain", malloc'ed; NULL
 * after a message. */
char *lay_out(const char *dot, size_t dot_size, const char *form, size_t *size);

#endif
