/* SPDX-License-Identifier: MIT
 *
 * Memory that may be large (large.h).
 */
#define _DEFAULT_SOURCE 1 /* madvise */
#include "views/large.h"

#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>

enum { LARGE_PAGE = 1 << 21, LARGE_BYTES = 8 * LARGE_PAGE };

/* A piece of that length is a mapping of its own that nobody has touched yet.  The advice may be
 * refused: nothing depends on it. */
void *large_calloc(size_t n, size_t size) {
    char *start = calloc(n, size);
#ifdef MADV_HUGEPAGE
    size_t bytes = n * size;
    if (start && bytes >= LARGE_BYTES) {
        size_t skip = LARGE_PAGE - (uintptr_t)start % LARGE_PAGE;
        madvise(start + skip, (bytes - skip) / LARGE_PAGE * LARGE_PAGE, MADV_HUGEPAGE);
    }
#endif
    return start;
}
