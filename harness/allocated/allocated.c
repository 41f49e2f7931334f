/* SPDX-License-Identifier: MIT
 *
 * How much memory of malloc the process has (allocated.h).
 */
#include "harness/allocated/allocated.h"

#include <stdlib.h> /* __GLIBC__ */

#ifdef __GLIBC__
#include <malloc.h>
#endif

__attribute__((weak)) size_t __sanitizer_get_current_allocated_bytes(void);

size_t memory_allocated(void) {
    if (__sanitizer_get_current_allocated_bytes)
        return __sanitizer_get_current_allocated_bytes();
#if defined(__GLIBC__) && (__GLIBC__ > 2 || __GLIBC_MINOR__ >= 33)
    struct mallinfo2 info = mallinfo2();
    return info.uordblks + info.hblkhd;
#else
    return 0;
#endif
}
