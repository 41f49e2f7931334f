/* SPDX-License-Identifier: MIT
 *
 * How a campaign's time is shared out among its targets (shares.h).
 *
 * A target takes longer than its share, since engines are started and ended and their corpus is
 * read.  What the first ones take beyond theirs, the last ones would lack.
 */
#include "cli/campaign/shares.h"

/* Seconds; more than that is an accident, a machine that was suspended, say, and no rule. */
static const double most_overhead = 10;

double equal_share(unsigned targets, unsigned jobs, double seconds) {
    unsigned rounds = targets ? (targets + jobs - 1) / jobs : 1;
    return seconds / rounds;
}

double share_of_next(unsigned waiting, unsigned jobs, double left, double overhead) {
    double share = equal_share(waiting, jobs, left > 0 ? left : 0);
    if (waiting <= jobs)
        return share;
    return share > overhead + LEAST_SHARE ? share - overhead : LEAST_SHARE;
}

double overhead_after(double overhead, double share, double took) {
    double over = took - share;
    return over > overhead && over < most_overhead ? over : overhead;
}
