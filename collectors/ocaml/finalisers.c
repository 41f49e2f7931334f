/* SPDX-License-Identifier: MIT
 *
 * Functions of Gc.finalise and Gc.finalise_last, and what they do (collectors/extras.h).
 *
 * They run where the runtime calls them in a collection, or when all else of an operation is done:
 * what they change is then what the program has between two operations.
 */
#include "collectors/ocaml/internal.h"

#include <caml/alloc.h>
#include <caml/finalise.h>
#include <caml/memory.h>
#include <caml/mlvalues.h>
#include <caml/signals.h>
#include <caml/version.h>
#if OCAML_VERSION < 50000
#include <caml/weak.h>
#else
#include "collectors/ocaml/weak.h"
#endif

/* In no header. */
extern value caml_final_register(value closure, value block);
extern value caml_final_register_called_without_value(value closure, value block);

enum { PAIR = 3 }; /* words of a block with two fields */

void runtime_finalise(struct gc *g, word block, uint64_t number, bool last,
                      const struct gc_finaliser *then) {
    value closure = Val_long((intnat)number); /* stubs.c */
    g->finalises = true;
    if (number < MOST_FINALISERS) {
        g->hands[number] = then != NULL;
        if (then)
            g->finalisers[number] = *then;
    }
    if (!last) {
        caml_final_register(closure, (value)block);
        return;
    }
    CAMLparam0();
    CAMLlocal1(held);
    held = (value)block;
    if (is_masked(g, MASK_LAST))
        runtime_empty_minor_heap();
    caml_final_register_called_without_value(closure, held);
    CAMLreturn0;
}

/* Can the shadow show what the value reaches, data of ephemerons too, so many words more, and what
 * is being made?  It is tried with the value in a slot that holds no block, since an operation may
 * be under way, whose own slots count as well.  Where there are other domains it may move. */
static bool has_room(struct gc *g, word v, size_t more) {
    unsigned slot = 0;
    while (slot < GC_SLOTS && is_pointer(root_get(slot)))
        slot++;
    if (slot == GC_SLOTS)
        return false;
    word before = root_get(slot);
    root_set(slot, v);
    runtime_renew(g);
    bool room = runtime_fits(g, more + g->making);
    root_set(slot, before);
    runtime_renew(g);
    return room;
}

static void hand(word v, unsigned slot) {
    CAMLparam0();
    CAMLlocal1(handed);
    handed = (value)v;
    value pair = caml_alloc_small(2, 0);
    Field(pair, 0) = handed;
    Field(pair, 1) = (value)root_get(slot);
    root_set(slot, (word)pair);
    CAMLreturn0;
}

static void weaken(struct gc *g, unsigned slot, word v) {
    CAMLparam0();
    CAMLlocal1(key);
    key = (value)v;
    runtime_renew(g); /* other domains may collect meanwhile */
    word e =
        runtime_past_forwards(g, root_get(slot)); /* the collector may have led it there, or not */
    if (!is_pointer(e) || !heap_is_inside(e) || !heap_is_ephemeron(e))
        CAMLreturn0;
    size_t i = caml_ephemeron_num_keys((value)e) > 0;
    v = (word)key;
    if (i && is_pointer(v) && keys_are_closures(g) && header_tag(header_of(v)) == TAG_INFIX)
        v = infix_parent(v);
    ephemeron_set(g, e, i, v);
    CAMLreturn0;
}

static void do_it(struct gc *g, const struct gc_finaliser *f, word v) {
    CAMLparam0();
    CAMLlocal1(given);
    given = (value)v;
    if (f->act == GC_ACT_WEAKEN)
        weaken(g, f->slot, v);
    else if (f->act != GC_ACT_NONE)
        root_set(f->slot, v);
    if (f->act == GC_ACT_COLLECT)
        runtime_full_major();
    const struct gc_finaliser again = {.given = f->given, .act = GC_ACT_NONE};
    if (f->act == GC_ACT_AGAIN && Is_block(given))
        runtime_finalise(g, (word)given, f->again, false, &again);
    CAMLreturn0;
}

bool runtime_runs(uint64_t number, word v) {
    struct gc *g = runtime_of_process();
    CAMLparam0();
    CAMLlocal1(given);
    bool raises = false;
    given = (value)v;
    runtime_finalised(number);
    if (number < MOST_FINALISERS && g->hands[number] && has_room(g, v, PAIR)) {
        const struct gc_finaliser f = g->finalisers[number];
        hand((word)given, f.given);
        g->config.hooks->handed(g->config.hooks, root_row, number);
        do_it(g, &f, (word)given);
        g->stale = true;
        raises = f.act == GC_ACT_RAISE;
    }
    CAMLreturnT(bool, raises);
}

void runtime_act(struct gc *g) {
    runtime_begin(g);
    runtime_finish(g);
    runtime_keep_up(g);
}
