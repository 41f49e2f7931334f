/* SPDX-License-Identifier: MIT
 *
 * How long a stress test runs: as long as it is told to, since what it finds is a matter of luck.
 */
#ifndef ISOHEAP_TESTS_STRESS_H
#define ISOHEAP_TESTS_STRESS_H

/* Of a clock that never goes back. */
double seconds(void);
/* What ISOHEAP_STRESS_SECONDS says; `otherwise` if it says nothing, or no time. */
double stress_seconds(double otherwise);

#endif
