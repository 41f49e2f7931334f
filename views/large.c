/* SPDX-License-Identifier: MIT
 *
 * Memory that may be large (large.h).
 *
 * From the system and not from malloc: AddressSanitizer's marks all of it, an eighth of its size,
 * when it is given out and when it is freed, and keeps it for a while, which took half of the time
 * of a run that is alone in its process.  What it would have seen beyond the end, the guard page
 * sees.
 */
#define _DEFAULT_SOURCE 1 /* madvise, MAP_ANONYMOUS */
#include "views/large.h"

#include "collectors/large_pages.h"

#include <string.h>
#include <unistd.h>

enum { LARGE_BYTES = 8 * LARGE_PAGE, ALIGNMENT = 16 };

/* Before what the caller gets. */
struct mapping {
    char *start;
    size_t bytes;
};
_Static_assert(sizeof(struct mapping) <= ALIGNMENT, "room before the memory");

/* The end lies at the guard, or less than ALIGNMENT before it. */
void *large_calloc(size_t n, size_t size) {
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    if (n > SIZE_MAX / 4 / (size ? size : 1))
        return NULL;
    size_t bytes = (n * size + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
    size_t usable = (bytes + ALIGNMENT + page - 1) / page * page;
    char *start = mmap(NULL, usable + page, PROT_READ | PROT_WRITE,
                       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (start == MAP_FAILED)
        return NULL;
    mprotect(start + usable, page, PROT_NONE);
    if (n * size >= LARGE_BYTES)
        use_large_pages(start, usable);
    char *memory = start + usable - bytes;
    memcpy(memory - ALIGNMENT, &(struct mapping){start, usable + page}, sizeof(struct mapping));
    return memory;
}

void large_free(void *memory) {
    struct mapping m;
    if (!memory)
        return;
    memcpy(&m, (char *)memory - ALIGNMENT, sizeof m);
    munmap(m.start, m.bytes);
}
