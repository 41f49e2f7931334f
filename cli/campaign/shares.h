/* SPDX-License-Identifier: MIT
 *
 * How a campaign's time is shared out among its targets (shares.c).
 */
#ifndef ISOHEAP_SHARES_H
#define ISOHEAP_SHARES_H

/* As many targets run side by side as there are jobs.  Seconds that each of so many targets gets of
 * `seconds`, if all get the same. */
double equal_share(unsigned targets, unsigned jobs, double seconds);
/* Seconds for a target that begins now, when so many wait, itself included, and `left` are left:
 * its share, less what starting and ending a target takes (`overhead`, seconds) if others come
 * after it. */
double share_of_next(unsigned waiting, unsigned jobs, double left, double overhead);
/* The overhead that is reckoned with after a target that got `share` took `took`. */
double overhead_after(double overhead, double share, double took);

/* Seconds: what is reckoned with before any target has ended; what each one gets at least. */
#define FIRST_OVERHEAD 0.5
#define LEAST_SHARE    1.0

#endif
