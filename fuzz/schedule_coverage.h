/* SPDX-License-Identifier: MIT
 *
 * Coverage of a fuzzer that drives the on-the-fly model: what the processes do at the same time is
 * what a schedule is about, and no edge of the code shows it.  For one file of a target.
 */
#ifndef ISOHEAP_SCHEDULE_COVERAGE_H
#define ISOHEAP_SCHEDULE_COVERAGE_H

#include "models/onthefly/model.h"

enum { SCHEDULE_COUNTERS = 1 << 14 };
/* libFuzzer takes these for counters of edges. */
#ifdef __linux__
__attribute__((section("__libfuzzer_extra_counters")))
#endif
static uint8_t schedule_counters[SCHEDULE_COUNTERS];

static void schedule_seen(const struct model *m, const struct state *s) {
    uint32_t hash = s->agent[GC].pc * 0x9e3779b1U + s->agent[GC].mark_pc;
    for (unsigned p = 0; p < m->mutators && p < 2; p++) {
        const struct agent *a = &s->agent[p];
        hash = (hash ^ (uint32_t)(a->pc << 12 | a->mark_pc << 8 | a->hp << 4 | a->phase << 1 |
                                  (s->tso.count[p] > 0))) *
               0x85ebca6bU;
        hash ^= hash >> 15;
    }
    schedule_counters[hash % SCHEDULE_COUNTERS] = 1;
}

#endif
