/* SPDX-License-Identifier: MIT
 *
 * The report of `isoheap faults` as text (faults.h): the faults, the arms, the oracles.
 */
#include "cli/faults/faults.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static struct detection_event events[EVENTS_MAX], base[EVENTS_MAX];
static struct survival steps[EVENTS_MAX];

void put_quantile(char *out, size_t size, double value, uint64_t budget) {
    if (isfinite(value))
        snprintf(out, size, "%.0f", value);
    else
        snprintf(out, size, ">%" PRIu64, budget);
}

unsigned arms_with_results(const struct results *r, const struct arm *arms[ARMS_MAX]) {
    unsigned n = 0;
    for (unsigned a = 0; arm_at(a); a++) {
        unsigned i = 0;
        while (i < r->n && strcmp(r->runs[i].arm, arm_at(a)->name) != 0)
            i++;
        if (i < r->n)
            arms[n++] = arm_at(a);
    }
    return n;
}

const char *oracle_label(unsigned oracle) {
    return oracle < ORACLE_COUNT    ? oracle_name((enum oracle)oracle)
           : oracle == BY_SANITIZER ? "sanitizer"
                                    : "invariants";
}

/* ---- the oracles ------------------------------------------------------------------------------
 */

/* One fault in the default arm: true if it was detected at all. */
static bool value_fault(const struct results *r, const char *fault,
                        struct oracle_value values[REPORTERS]) {
    unsigned reports[REPORTERS] = {0}, detected = 0, most = 0;
    uint64_t alone = 0, irreplaceable = ~UINT64_C(0);
    for (unsigned i = 0; i < r->n; i++) {
        const struct fault_run *run = &r->runs[i];
        if (!run_found(run) || strcmp(run->fault, fault) != 0 ||
            strcmp(run->arm, arm_at(0)->name) != 0)
            continue;
        detected++;
        alone |= run->alone;
        irreplaceable &= run->without;
        for (unsigned o = 0; o < REPORTERS; o++)
            reports[o] += strcmp(run->oracle, oracle_label(o)) == 0;
    }
    for (unsigned o = 0; o < REPORTERS; o++) {
        most = reports[o] > reports[most] ? o : most;
        values[o].alone += alone >> o & 1;
        values[o].replaced += detected && (irreplaceable >> o & 1) && o < ORACLE_COUNT;
    }
    values[most].faults += detected > 0;
    return detected > 0;
}

unsigned oracle_values(const struct catalogue *c, const struct results *r,
                       struct oracle_value values[REPORTERS]) {
    unsigned detected = 0;
    memset(values, 0, REPORTERS * sizeof *values);
    for (unsigned f = 0; f < c->n; f++)
        detected += value_fault(r, c->faults[f].name, values);
    return detected;
}

static void print_oracles(FILE *out, const struct catalogue *c, const struct results *r) {
    struct oracle_value values[REPORTERS];
    unsigned detected = oracle_values(c, r, values);
    fprintf(out, "\n%-14s %8s %8s %8s   of %u faults detected\n", "oracle", "reports", "alone",
            "missed", detected);
    for (unsigned o = 0; o < REPORTERS; o++)
        if (o < ORACLE_COUNT)
            fprintf(out, "%-14s %8u %8u %8u\n", oracle_label(o), values[o].faults, values[o].alone,
                    values[o].replaced);
        else
            fprintf(out, "%-14s %8u %8s %8s\n", oracle_label(o), values[o].faults, "", "");
    fputs("reports: it is the one that reports most of the fault's runs; alone: sees it with no "
          "other oracle;\nmissed: no other oracle sees it on any of the programs that were found\n",
          out);
}

/* ---- the faults -------------------------------------------------------------------------------
 */

static void column(FILE *out, const struct catalogue *c, const struct results *r, const char *fault,
                   enum measure measure, double left, uint64_t budget) {
    char text[32];
    unsigned n = gather(c, r, fault, arm_at(0)->name, measure, events, EVENTS_MAX);
    double value = survival_quantile(steps, kaplan_meier(events, n, steps), left);
    if (measure == SECONDS && isfinite(value))
        snprintf(text, sizeof text, "%.2f", value);
    else if (n)
        put_quantile(text, sizeof text, value, budget);
    else
        snprintf(text, sizeof text, "-");
    fprintf(out, " %10s", text);
}

static void print_fault(FILE *out, const struct catalogue *c, const struct results *r,
                        const struct fault *f) {
    unsigned found = 0, runs = 0;
    uint64_t budget = 0;
    const char *oracle = "-";
    for (unsigned i = 0; i < r->n; i++) {
        const struct fault_run *run = &r->runs[i];
        if (strcmp(run->fault, f->name) != 0 || strcmp(run->arm, arm_at(0)->name) != 0 ||
            results_find(r, run->fault, run->arm, run->seed) != run)
            continue;
        runs++;
        found += run_found(run);
        budget = run->budget > budget ? run->budget : budget;
        oracle = run_found(run) ? run->oracle : oracle;
    }
    fprintf(out, "%-34s %3u/%-3u %5u", f->name, found, runs,
            count_flaky(c, r, f->name, arm_at(0)->name));
    column(out, c, r, f->name, REACHED, 0.5, budget);
    column(out, c, r, f->name, TRIGGERED, 0.5, budget);
    column(out, c, r, f->name, DETECTED, 0.5, budget);
    column(out, c, r, f->name, DETECTED, 0.05, budget);
    column(out, c, r, f->name, SECONDS, 0.5, budget);
    column(out, c, r, f->name, SECONDS, 0.05, budget);
    fprintf(out, "  %s\n", oracle);
}

/* ---- the arms ---------------------------------------------------------------------------------
 */

struct comparison {
    double sum;
    unsigned compared, sooner, later;
};

static struct comparison compare_arm(const struct catalogue *c, const struct results *r,
                                     const struct arm *arm) {
    struct comparison k = {.compared = 0};
    for (unsigned f = 0; f < c->n; f++) {
        const char *fault = c->faults[f].name;
        unsigned n = gather(c, r, fault, arm->name, DETECTED, events, EVENTS_MAX);
        unsigned m = gather(c, r, fault, arm_at(0)->name, DETECTED, base, EVENTS_MAX);
        if (!n || !m)
            continue;
        double a = vargha_delaney(events, n, base, m);
        k.sum += a;
        k.compared++;
        k.sooner += a > 0.5;
        k.later += a < 0.5;
    }
    return k;
}

static void print_arm(FILE *out, const struct catalogue *c, const struct results *r,
                      const struct arm *arm) {
    char median[32], late[32];
    unsigned n = gather(c, r, NULL, arm->name, DETECTED, events, EVENTS_MAX), found = 0;
    uint64_t budget = 0;
    for (unsigned i = 0; i < n; i++)
        found += events[i].happened;
    for (unsigned i = 0; i < r->n; i++)
        if (strcmp(r->runs[i].arm, arm->name) == 0 && r->runs[i].budget > budget)
            budget = r->runs[i].budget;
    unsigned n_steps = kaplan_meier(events, n, steps);
    put_quantile(median, sizeof median, survival_quantile(steps, n_steps, 0.5), budget);
    put_quantile(late, sizeof late, survival_quantile(steps, n_steps, 0.05), budget);
    fprintf(out, "%-20s %5u %6.1f%% %5u %10s %10s", arm->name, n, n ? 100.0 * found / n : 0.0,
            count_flaky(c, r, NULL, arm->name), median, late);
    struct comparison k = compare_arm(c, r, arm);
    if (arm != arm_at(0) && k.compared)
        fprintf(out, " %6.3f %6u %6u %6u", k.sum / k.compared, k.compared, k.sooner, k.later);
    fputc('\n', out);
}

void print_tables(FILE *out, const struct catalogue *c, const struct results *r) {
    const struct arm *arms[ARMS_MAX];
    unsigned n_arms = arms_with_results(r, arms);
    fprintf(out, "%-34s %7s %5s %10s %10s %10s %10s %10s %10s  %s\n", "fault", "found", "flaky",
            "reached", "triggered", "detected", "95 %", "seconds", "95 %", "oracle");
    for (unsigned f = 0; f < c->n; f++)
        if (gather(c, r, c->faults[f].name, arm_at(0)->name, DETECTED, events, EVENTS_MAX))
            print_fault(out, c, r, &c->faults[f]);
    fprintf(out, "\n%-20s %5s %7s %5s %10s %10s %6s %6s %6s %6s\n", "arm", "runs", "found", "flaky",
            "median", "95 %", "A12", "faults", "sooner", "later");
    for (unsigned a = 0; a < n_arms; a++)
        print_arm(out, c, r, arms[a]);
    fputs("A12: a run of the arm needs fewer executions than one of the default, mean over the "
          "faults\nflaky: runs whose finding, alone in a process of its own, does not fail in the "
          "same way; they are not found\n",
          out);
    print_oracles(out, c, r);
}
