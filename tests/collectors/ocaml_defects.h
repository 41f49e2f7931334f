/* SPDX-License-Identifier: MIT
 *
 * Defects for the OCaml runtime, of which one is switched on at a time: what its functions for
 * ephemerons and finalisers call is left out, or done otherwise (ocaml_bad_test.c).  Compiled in
 * front of its weak.c, and of its finalise.c with OCAML_FINALISE, which stay as they are.
 */
#ifndef ISOHEAP_OCAML_DEFECTS_H
#define ISOHEAP_OCAML_DEFECTS_H

/* X(name, class, what is wrong) */
#define OCAML_DEFECTS(X)                                                                           \
    X(get, barrier_missed, "what get gives away is not darkened while a cycle marks")              \
    X(copy, barrier_missed,                                                                        \
      "what the fields of a copy lead to is not darkened while a cycle marks")                     \
    X(given, barrier_missed, "a custom block that get_copy gives away itself is not darkened")     \
    X(unclean, wrong_colour, "get of data does not clean the ephemeron between mark and sweep")    \
    X(untold, remembered_set_hole,                                                                 \
      "a young block set in an ephemeron is not noted for the next minor "                         \
      "collection")                                                                                \
    X(argument, edge_changed, "each finaliser is given the value of the one before")               \
    X(order, collector_assertion, "of two finalisers the earlier one runs first")                  \
    X(undarkened, lost_object, "what a finaliser is to be given is not darkened")

enum ocaml_defect {
    DEFECT_none,
#define X(name, class, meaning) DEFECT_##name,
    OCAML_DEFECTS(X)
#undef X
};
extern int ocaml_defect; /* the one that is on */

#if defined(OCAML_FINALISE)
#include <caml/callback.h>
#include <caml/major_gc.h>

/* The call of a finaliser, or of another one. */
static inline value ocaml_defect_call(value closure, value v) {
    static value before = Val_unit, held = Val_unit, held_value = Val_unit;
    value given = v;
    if (ocaml_defect == DEFECT_argument) {
        given = before;
        before = v;
    }
    if (ocaml_defect != DEFECT_order)
        return caml_callback_exn(closure, given);
    if (held == Val_unit) { /* it waits for the next one */
        held = closure;
        held_value = v;
        return Val_unit;
    }
    caml_callback_exn(closure, v);
    closure = held;
    held = Val_unit;
    return caml_callback_exn(closure, held_value);
}
#define caml_callback_exn ocaml_defect_call
#define caml_darken(v, place)                                                                      \
    (ocaml_defect == DEFECT_undarkened ? (void)0 : (caml_darken)(v, place))

#elif defined(CAML_INTERNALS)
#include <caml/major_gc.h>
#include <caml/minor_gc.h>
#include <caml/weak.h>

/* By the name that the variable has there. */
enum { DARKENS_elt = DEFECT_get, DARKENS_f = DEFECT_copy, DARKENS_v = DEFECT_given };
#define caml_darken(v, place) (ocaml_defect == DARKENS_##v ? (void)0 : (caml_darken)(v, place))
#define caml_ephe_clean(v)    (ocaml_defect == DEFECT_unclean ? (void)0 : (caml_ephe_clean)(v))
#define add_to_ephe_ref_table(table, ar, offset)                                                   \
    (ocaml_defect == DEFECT_untold ? (void)0 : (add_to_ephe_ref_table)(table, ar, offset))
#endif

#endif
