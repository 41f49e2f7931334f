/* SPDX-License-Identifier: MIT
 *
 * Oracle own_remembered: what the next minor collection must look at is on its lists.
 *
 * Oracle remembered asks when a minor collection begins; of a collector that shows a copy this is
 * asked of its own heap after each operation.  More may be on the lists: twice, or no longer young.
 */
#include "oracles/own/own_record.h"

#include <stdio.h>

static bool is_listed(const struct gc_own *own, enum gc_own_list list, const word *place) {
    const struct gc_own_places *p = &own->lists[list];
    size_t low = 0, high = p->n;
    while (low < high) {
        size_t middle = (low + high) / 2;
        if (p->places[middle] < place)
            low = middle + 1;
        else
            high = middle;
    }
    return low < p->n && p->places[low] == place;
}

static bool is_young(const struct gc_own *own, word v) {
    const struct gc_own_extent *e = own_find(own, v);
    return e && e->young;
}

_Noreturn static void fail_edge(struct judge *j, const struct gc_own_extent *old, size_t i,
                                word v) {
    const struct own_record *r = j->record;
    char from[VERDICT_TEXT / 2], to[VERDICT_TEXT / 2];
    own_describe(j, old, from, sizeof from);
    own_describe(j, own_find(r->own, v), to, sizeof to);
    snprintf(j->expected, VERDICT_TEXT, "field %zu on the list of the minor collection, of %s", i,
             from);
    snprintf(j->found, VERDICT_TEXT, "it is not there, and leads to %s", to);
    judge_fail(j, VIOLATION_remembered_set_hole,
               old->weak ? "a field of an old ephemeron holds a young block and is not remembered"
                         : "a field of an old block points at a young one and is not remembered");
}

static void judge_fields(struct judge *j, const struct gc_own_extent *e) {
    const struct gc_own *own = ((const struct own_record *)j->record)->own;
    enum gc_own_list list = e->weak ? GC_OWN_WEAK : GC_OWN_FIELDS;
    const word *fields = e->header + 1;
    FOR_POINTERS (i, fields, e->weak ? 0 : own_first_field(e), (size_t)e->words - 1)
        if (is_young(own, fields[i]) && !is_listed(own, list, fields + i))
            fail_edge(j, e, i, fields[i]);
}

static void judge_death(struct judge *j, const struct gc_own_extent *e) {
    const struct gc_own *own = ((const struct own_record *)j->record)->own;
    if (is_listed(own, GC_OWN_DEATHS, e->header))
        return;
    snprintf(j->expected, VERDICT_TEXT, "it on the list of those whose death is noticed");
    own_describe(j, e, j->found, VERDICT_TEXT);
    judge_fail(j, VIOLATION_remembered_set_hole,
               "a young block has something to be done when it dies, and is not remembered");
}

static void judge_roots(struct judge *j) {
    const struct gc_own *own = ((const struct own_record *)j->record)->own;
    const struct gc_own_places *roots = &own->lists[GC_OWN_OLD_ROOTS];
    for (size_t i = 0; i < roots->n; i++) {
        if (!is_young(own, *roots->places[i]) || is_listed(own, GC_OWN_FIELDS, roots->places[i]))
            continue;
        snprintf(j->expected, VERDICT_TEXT, "it on the list of young roots");
        own_describe(j, own_find(own, *roots->places[i]), j->found, VERDICT_TEXT);
        judge_fail(j, VIOLATION_remembered_set_hole,
                   "a generational root leads to a young block and is not remembered");
    }
}

/* Ephemerons are looked at as long as they are there, reachable or not. */
static bool operated(struct judge *j) {
    const struct gc_own *own = ((const struct own_record *)j->record)->own;
    if (!own)
        return false;
    for (size_t n = 0; n < own->n; n++) {
        const struct gc_own_extent *e = &own->extents[n];
        if (e->dies)
            judge_death(j, e);
        if (!e->young && own_is_block(e) && (e->weak || e->seen & SEEN_REACHED))
            judge_fields(j, e);
    }
    judge_roots(j);
    return true;
}

const struct oracle_module oracle_own_remembered = {
    .meaning = "what the next minor collection must look at is on its lists, after each operation",
    .source = "the long OCaml paper, section 8.2",
    .classes = {VIOLATION_remembered_set_hole},
    .needs = 1u << NEED_own,
    .record = RECORD_own_record,
    .samples = true,
    .operated = operated,
};
