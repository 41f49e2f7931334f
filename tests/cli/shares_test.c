/* SPDX-License-Identifier: MIT
 *
 * Every target of a campaign gets its time, and together they keep to it.  Time is simulated: no
 * figure here depends on a clock.
 */
#include "cli/campaign/shares.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

enum { TARGETS_MOST = 64, JOBS_MOST = 8 };

struct outcome {
    double least, most, end; /* shares; when the last one is over */
    unsigned began;
};

/* Targets that take `over` seconds beyond their share, on so many jobs. */
static struct outcome campaign(unsigned targets, unsigned jobs, double seconds, double over) {
    double free_at[JOBS_MOST] = {0}, shares[JOBS_MOST] = {0}, overhead = FIRST_OVERHEAD;
    bool ran[JOBS_MOST] = {false};
    struct outcome o = {seconds, 0, 0, 0};
    for (unsigned i = 0; i < targets; i++) {
        unsigned job = 0;
        for (unsigned j = 1; j < jobs; j++)
            job = free_at[j] < free_at[job] ? j : job;
        double now = free_at[job];
        if (ran[job])
            overhead = overhead_after(overhead, shares[job], shares[job] + over);
        if (now >= seconds)
            break;
        shares[job] = share_of_next(targets - i, jobs, seconds - now, overhead);
        free_at[job] = now + shares[job] + over;
        ran[job] = true;
        o.began++;
        o.least = shares[job] < o.least ? shares[job] : o.least;
        o.most = shares[job] > o.most ? shares[job] : o.most;
        o.end = free_at[job] > o.end ? free_at[job] : o.end;
    }
    return o;
}

static void all_targets_get_their_time(void **state) {
    (void)state;
    for (unsigned jobs = 1; jobs <= JOBS_MOST; jobs++)
        for (unsigned targets = 1; targets <= TARGETS_MOST; targets++)
            for (int over = 0; over <= 8; over++) {
                double rounds = (targets + jobs - 1) / jobs, beyond = over / 4.0;
                double seconds = rounds * (LEAST_SHARE + FIRST_OVERHEAD + beyond) + 1;
                struct outcome o = campaign(targets, jobs, seconds, beyond);
                assert_int_equal(o.began, targets);
                assert_true(o.least >= LEAST_SHARE / 2);
                assert_true(o.end <= seconds + beyond + LEAST_SHARE);
            }
}

/* `make fuzz`: sixteen targets, two cores, a minute. */
static void the_minute_is_kept(void **state) {
    (void)state;
    struct outcome quick = campaign(16, 2, 60, 0.2), slow = campaign(16, 2, 60, 2);
    assert_int_equal(quick.began, 16);
    assert_true(quick.least > 6 && quick.end < 61);
    assert_int_equal(slow.began, 16);
    assert_true(slow.least > 4 && slow.end < 63);
}

/* What a target takes too long for once is not held against all that follow. */
static void an_accident_is_no_rule(void **state) {
    (void)state;
    assert_true(overhead_after(1, 5, 300) < 2);
    assert_true(overhead_after(1, 5, 8) > 2);
    assert_true(overhead_after(2, 5, 6) > 1.5);
}

static void shares_are_equal(void **state) {
    (void)state;
    assert_true(equal_share(1, 8, 60) > 59);
    assert_true(equal_share(8, 8, 60) > 59);
    assert_true(equal_share(9, 8, 60) < 31);
    assert_true(share_of_next(1, 1, -1, 1) < 1); /* the time is over */
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(all_targets_get_their_time), cmocka_unit_test(the_minute_is_kept),
        cmocka_unit_test(an_accident_is_no_rule), cmocka_unit_test(shares_are_equal)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
