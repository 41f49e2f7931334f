/* SPDX-License-Identifier: MIT
 *
 * Gc.Memprof in the variant `sampled`: every word that is allocated is a sample, and each block is
 * tracked until it dies.  The runtime calls back when a block is allocated, promoted and freed, in
 * that order, and each once.  Several domains share a profile and the numbers.
 */
#include "collectors/ocaml/internal.h"

#include <caml/alloc.h>
#include <caml/mlvalues.h>

extern value caml_memprof_start(value rate, value stack_size, value tracker); /* in no header */

/* In the order of the fields of Gc.Memprof.tracker. */
enum event { ALLOCATED_YOUNG, ALLOCATED_OLD, PROMOTED, FREED_YOUNG, FREED_OLD, EVENTS };

/* What is known of a tracked block, whose number the runtime keeps for us. */
enum state { YOUNG, OLD, FREED };
enum { TRACKED = 1 << 14 };
static unsigned char states[TRACKED];
static unsigned n_tracked, n_alive;
static bool left_out; /* there are blocks that nobody was told of: mask young-trigger */

/* Blocks that lie outside the heap: there is no OCaml code here that could have made them. */
static word tracker[EVENTS + 1];
static struct {
    word header;
    double v;
} rate;

void sampling_begin(void) {
    n_tracked = n_alive = 0;
    left_out = false;
    tracker[0] = header_make(EVENTS, BLACK, 0);
    for (int e = 0; e < EVENTS; e++)
        tracker[e + 1] = (word)Val_long(-1 - e); /* a closure is a number (stubs.c) */
    rate.header = header_make(1, BLACK, TAG_DOUBLE);
    rate.v = 1;
    caml_memprof_start((value)&rate.v, Val_long(0), (value)&tracker[1]);
}

/* Some number, for the runtime to keep; None if there are too many. */
static value track(enum state state) {
    if (n_tracked == TRACKED)
        return Val_unit;
    unsigned number = n_tracked++; /* before another domain may go on */
    states[number] = (unsigned char)state;
    n_alive++;
    value some = caml_alloc_small(1, 0);
    Field(some, 0) = Val_long(number);
    return some;
}

static value change(intnat number, enum state from, enum state to, const char *what) {
    if (number < 0 || number >= n_tracked || states[number] != from)
        runtime_broken(what);
    states[number] = (unsigned char)to;
    n_alive -= to == FREED;
    return Val_unit;
}

size_t sampling_alive(void) {
    return left_out || n_tracked == TRACKED ? SIZE_MAX : n_alive;
}

intptr_t sampling_call(intptr_t closure, intptr_t argument) {
    switch ((enum event)(-1 - closure)) {
    case ALLOCATED_YOUNG:
        return track(YOUNG);
    case ALLOCATED_OLD:
        return track(OLD);
    case PROMOTED:
        return change(Long_val(argument), YOUNG, OLD, "memprof: what is promoted was not young");
    case FREED_YOUNG:
        return change(Long_val(argument), YOUNG, FREED, "memprof: what is freed was not young");
    case FREED_OLD:
        return change(Long_val(argument), OLD, FREED, "memprof: what is freed was not old");
    default:
        runtime_broken("memprof calls no function of its tracker");
        return Val_unit;
    }
}

#if defined(DEBUG) && OCAML_VERSION >= 50200
#include <caml/domain.h>
#include <caml/memprof.h>

/* The largest young block is larger than half of the smallest minor heap.  Where the minor heap is
 * emptied to make room for one, it ends below young_trigger, and the trigger of samples is set anew
 * there.  While sampling is suspended it is not. */
void sampling_leave_out(struct gc *g, size_t least, size_t most) {
    bool samples = g->config.variant % VARIANTS == VARIANT_SAMPLED;
    if (!samples || g->unsampled || !is_masked(g, MASK_YOUNG_TRIGGER))
        return;
    g->unsampled = least <= Max_young_whsize && Max_young_whsize <= most;
    if (!g->unsampled)
        return;
    left_out = true;
    caml_memprof_update_suspended(true);
}

void sampling_resume(struct gc *g) {
    if (!g->unsampled)
        return;
    if (Caml_state->young_ptr < Caml_state->young_trigger)
        caml_poll_gc_work(); /* which looks after the trigger, as between any two steps */
    g->unsampled = false;
    caml_memprof_update_suspended(false);
}
#endif
