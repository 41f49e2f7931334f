/* SPDX-License-Identifier: MIT
 *
 * The system's large pages, for memory that is large: to touch it in small ones would take most of
 * the time that is spent on it.
 */
#ifndef ISOHEAP_LARGE_PAGES_H
#define ISOHEAP_LARGE_PAGES_H

#include <stddef.h>
#include <stdint.h>
#include <sys/mman.h> /* behind _DEFAULT_SOURCE */

enum { LARGE_PAGE = 1 << 21 }; /* bytes */

/* Of a mapping, as much as lies in whole large pages; bytes: as many as one, at least.  The advice
 * may be refused: nothing depends on it. */
static inline void use_large_pages(char *start, size_t bytes) {
#ifdef MADV_HUGEPAGE
    size_t skip = LARGE_PAGE - (uintptr_t)start % LARGE_PAGE;
    madvise(start + skip, (bytes - skip) / LARGE_PAGE * LARGE_PAGE, MADV_HUGEPAGE);
#else
    (void)start, (void)bytes;
#endif
}

#endif
