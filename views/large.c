/* SPDX-License-Identifier: MIT
 *
 * Memory that may be large (large.h).
 */
#define _DEFAULT_SOURCE 1 /* madvise */
#include "views/large.h"

#include "collectors/large_pages.h"

#include <stdlib.h>

enum { LARGE_BYTES = 8 * LARGE_PAGE };

/* A piece of that length is a mapping of its own that nobody has touched yet. */
void *large_calloc(size_t n, size_t size) {
    char *start = calloc(n, size);
    if (start && n * size >= LARGE_BYTES)
        use_large_pages(start, n * size);
    return start;
}
