/* SPDX-License-Identifier: MIT
 *
 * Target fuzz_onthefly: schedules of the on-the-fly collector on x86-TSO, every invariant of the
 * paper after every step; at the end a fair schedule must complete the handshake.
 *
 * ONTHEFLY_VARIANT makes a target of a known-bad variant; ONTHEFLY_INVARIANTS chooses what is
 * checked, for safety alone.
 */
#define _POSIX_C_SOURCE 200809L /* open_memstream */
#include "fuzz/current.h"
#include "fuzz/go_on.h"
#include "fuzz/schedule_coverage.h"
#include "fuzz/violate.h"
#include "models/onthefly/schedules/driver.h"

#include <stdio.h>
#include <stdlib.h>

#ifndef ONTHEFLY_VARIANT
#define ONTHEFLY_VARIANT 0
#endif
#ifndef ONTHEFLY_INVARIANTS
#define ONTHEFLY_INVARIANTS INVARIANTS_ALL
#endif

static uint64_t steps;

static void print_report(const char *class, const struct driver_options *o,
                         const struct driver_result *r, FILE *out) {
    struct schedule s = {.n = 0};
    fprintf(out, "isoheap: violation %s (%s) after %u steps, %llu in all\n", class,
            r->broken ? invariant_name(invariant_first(r->broken)) : "fair", r->n,
            (unsigned long long)(steps + r->n));
    if (driver_schedule(o, r, &s)) {
        if (r->broken)
            schedule_reduce(&s);
        schedule_print(&s, out);
        schedule_columns(&s, out);
        schedule_free(&s);
    }
}

static bool keep(const char *class, const struct driver_options *o, const struct driver_result *r,
                 const uint8_t *data, size_t size) {
    char *text = NULL;
    size_t length;
    FILE *out = open_memstream(&text, &length);
    if (!out)
        return false;
    print_report(class, o, r, out);
    bool kept = fclose(out) == 0 && go_on_with(data, size, text);
    free(text);
    return kept;
}

/* Returns where a campaign wants to go on. */
static void report(const struct driver_options *o, const struct driver_result *r,
                   const uint8_t *data, size_t size) {
    const char *class = r->broken ? invariant_class(invariant_first(r->broken)) : "no_progress";
    enum going next =
        go_on_after(r->broken ? invariant_name(invariant_first(r->broken)) : "no_progress");
    if (next == GOING_ON || (next == GOING_KEEPS && keep(class, o, r, data, size)))
        return;
    print_report(class, o, r, stderr);
    violate(violation_named(class));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    static const struct driver_options options = {ONTHEFLY_VARIANT, ONTHEFLY_INVARIANTS, 0,
                                                  schedule_seen};
    static struct driver_result result;
    go_on_begin();
    current_begin(data, size);
    driver_run(&options, data, size, &result);
    if (result.broken || result.unfair)
        report(&options, &result, data, size);
    steps += result.n;
    current_end();
    return 0;
}
