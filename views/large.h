/* SPDX-License-Identifier: MIT
 *
 * Memory that may be large: zeroed, and in the system's large pages where it has them, since most
 * of the time of a run with a large heap would go into the first touch of small ones.
 */
#ifndef ISOHEAP_LARGE_H
#define ISOHEAP_LARGE_H

#include <stddef.h>

/* As calloc, and nothing is touched yet; behind the end is a page that nobody can access.  NULL: no
 * room.  For large_free. */
void *large_calloc(size_t n, size_t size);
void large_free(void *); /* NULL is fine */

#endif
