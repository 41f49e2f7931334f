/* SPDX-License-Identifier: MIT
 *
 * How much memory the process has (allocated.h).
 */
#define _POSIX_C_SOURCE 200809L
#include "harness/allocated/allocated.h"

#include <fcntl.h>
#include <stdlib.h> /* __GLIBC__ */
#include <unistd.h>

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

/* Without stdio, which would take memory of malloc. */
size_t memory_mapped(void) {
    char text[32];
    int file = open("/proc/self/statm", O_RDONLY | O_CLOEXEC);
    if (file < 0)
        return 0;
    ssize_t n = read(file, text, sizeof text - 1);
    close(file);
    if (n <= 0)
        return 0;
    text[n] = 0;
    return (size_t)strtoull(text, NULL, 10) * (size_t)sysconf(_SC_PAGESIZE);
}
