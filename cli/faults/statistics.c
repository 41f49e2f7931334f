/* SPDX-License-Identifier: MIT
 *
 * Statistics of runs that may end before the event (faults.h).
 *
 * The estimate: E. L. Kaplan and P. Meier, Nonparametric estimation from incomplete observations,
 * JASA 53 (1958).  The effect size: A. Vargha and H. D. Delaney, A critique and improvement of the
 * CL common language effect size statistics, JEBS 25 (2000).
 */
#include "cli/faults/faults.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* What happened comes before what was given up at the same time. */
static int by_time(const void *a, const void *b) {
    const struct detection_event *x = a, *y = b;
    if (x->at < y->at || x->at > y->at)
        return x->at < y->at ? -1 : 1;
    return (int)y->happened - (int)x->happened;
}

unsigned kaplan_meier(struct detection_event *events, unsigned n, struct survival *steps) {
    unsigned n_steps = 0;
    double left = 1;
    qsort(events, n, sizeof *events, by_time);
    for (unsigned i = 0; i < n;) {
        unsigned at_risk = n - i, happened = 0;
        double at = events[i].at;
        while (i < n && !(events[i].at > at))
            happened += events[i++].happened;
        if (!happened)
            continue;
        left *= 1 - (double)happened / at_risk;
        steps[n_steps++] = (struct survival){at, left};
    }
    return n_steps;
}

double survival_quantile(const struct survival *steps, unsigned n, double left) {
    const double rounding = 1e-9;
    for (unsigned i = 0; i < n; i++)
        if (steps[i].left <= left + rounding)
            return steps[i].at;
    return INFINITY;
}

/* 1: x comes before y; 0: behind; 0.5: nobody can tell. */
static double before(const struct detection_event *x, const struct detection_event *y) {
    if (x->happened && (!y->happened || x->at < y->at))
        return 1;
    if (y->happened && (!x->happened || y->at < x->at))
        return 0;
    return 0.5;
}

double vargha_delaney(const struct detection_event *a, unsigned n_a,
                      const struct detection_event *b, unsigned n_b) {
    double score = 0;
    for (unsigned i = 0; i < n_a; i++)
        for (unsigned j = 0; j < n_b; j++)
            score += before(&a[i], &b[j]);
    return score / ((double)n_a * n_b);
}

static struct detection_event event_of(const struct fault_run *run, enum measure measure) {
    uint64_t when = measure == REACHED     ? run->reached
                    : measure == TRIGGERED ? run->triggered
                    : run_found(run)       ? run->detected
                                           : 0;
    /* a budget that was not used up is the end of the run all the same */
    double given_up = (double)(run->executions > run->budget ? run->budget : run->executions);
    if (measure == SECONDS)
        return (struct detection_event){run->seconds, run_found(run)};
    return when ? (struct detection_event){(double)when, true}
                : (struct detection_event){given_up, false};
}

/* Of the arm, of the fault or one of the catalogue, and the last of its seed. */
static bool is_wanted(const struct catalogue *c, const struct results *r, const char *fault,
                      const char *arm, const struct fault_run *run) {
    bool wanted = strcmp(run->arm, arm) == 0 && (!fault || strcmp(run->fault, fault) == 0) &&
                  results_find(r, run->fault, run->arm, run->seed) == run;
    bool there = fault;
    for (unsigned f = 0; wanted && !there && f < c->n; f++)
        there = strcmp(c->faults[f].name, run->fault) == 0;
    return wanted && there;
}

unsigned gather(const struct catalogue *c, const struct results *r, const char *fault,
                const char *arm, enum measure measure, struct detection_event *out, unsigned most) {
    unsigned n = 0;
    for (unsigned i = 0; i < r->n && n < most; i++)
        if (is_wanted(c, r, fault, arm, &r->runs[i]))
            out[n++] = event_of(&r->runs[i], measure);
    return n;
}

unsigned count_flaky(const struct catalogue *c, const struct results *r, const char *fault,
                     const char *arm) {
    unsigned n = 0;
    for (unsigned i = 0; i < r->n; i++)
        n += run_flaky(&r->runs[i]) && is_wanted(c, r, fault, arm, &r->runs[i]);
    return n;
}
