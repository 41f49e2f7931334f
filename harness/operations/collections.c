/* SPDX-License-Identifier: MIT
 *
 * Collections, and what takes a collector a step further (operations.h).
 */
#include "harness/operations/operations.h"

void collect_all(struct runner *r, unsigned m, enum gc_collection kind) {
    bool done = true;
    r->fresh = MODEL_NONE;
    FOR_SIDES (r, s)
        done &= call_collect(s, m, kind);
    r->verdict.counts.refusals += !done;
    check_heaps(r, !done                ? IN_BETWEEN
                   : kind == GC_FULL    ? AFTER_FULL
                   : kind == GC_COMPACT ? AFTER_COMPACTION
                                        : IN_BETWEEN);
}

bool op_minor(struct runner *r, const struct op *op, unsigned m) {
    (void)op;
    collect_all(r, m, GC_MINOR);
    return true;
}
bool op_full(struct runner *r, const struct op *op, unsigned m) {
    (void)op;
    collect_all(r, m, GC_FULL);
    return true;
}
bool op_compact(struct runner *r, const struct op *op, unsigned m) {
    (void)op;
    collect_all(r, m, GC_COMPACT);
    return true;
}

/* A slice, a switch and a poll are nothing to a collector that has none: false if no party has. */
bool op_slice(struct runner *r, const struct op *op, unsigned m) {
    bool any = false;
    FOR_SIDES (r, s)
        any |= call_step(s, m, op->budget ? op->budget : r->slice_words);
    if (any)
        check_heaps(r, IN_BETWEEN);
    return any;
}
bool op_kind(struct runner *r, const struct op *op, unsigned m) {
    bool any = false, refused = false;
    FOR_SIDES (r, s)
        if (call_switch_kind(s, m, op->kind)) {
            any = true;
            refused |= s->refused;
        }
    r->verdict.counts.refusals += refused;
    return any;
}
bool op_poll(struct runner *r, const struct op *op, unsigned m) {
    (void)op;
    bool any = false;
    FOR_SIDES (r, s)
        any |= call_poll(s, m);
    return any;
}
