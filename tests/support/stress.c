/* SPDX-License-Identifier: MIT
 *
 * How long a stress test runs (stress.h).
 */
#define _POSIX_C_SOURCE 200809L
#include "tests/support/stress.h"

#include <stdlib.h>
#include <time.h>

double seconds(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

double stress_seconds(double otherwise) {
    const char *text = getenv("ISOHEAP_STRESS_SECONDS");
    double t = text ? strtod(text, NULL) : 0;
    return t > 0 ? t : otherwise;
}
