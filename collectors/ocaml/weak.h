/* SPDX-License-Identifier: MIT
 *
 * Functions for ephemerons and lazy blocks as the runtime of OCaml 4 has them for C, by the
 * primitives of the standard library: OCaml 5 has no others.
 */
#ifndef ISOHEAP_OCAML_WEAK_H
#define ISOHEAP_OCAML_WEAK_H

#include <stdbool.h>

#include <caml/domain.h>
#include <caml/major_gc.h>
#include <caml/memory.h>
#include <caml/mlvalues.h>
#include <caml/weak.h>

/* Those of the standard library's Ephemeron and CamlinternalLazy; in no header. */
extern value caml_ephe_create(value n);
extern value caml_ephe_set_key(value e, value i, value v), caml_ephe_set_data(value e, value v);
extern value caml_ephe_unset_key(value e, value i), caml_ephe_unset_data(value e);
extern value caml_ephe_get_key(value e, value i), caml_ephe_get_data(value e);
extern value caml_ephe_get_key_copy(value e, value i), caml_ephe_get_data_copy(value e);
extern value caml_ephe_check_key(value e, value i), caml_ephe_check_data(value e);
extern value caml_ephe_blit_key(value from, value i, value to, value j, value n);
extern value caml_ephe_blit_data(value from, value to);
extern value caml_lazy_update_to_forcing(value lazy), caml_lazy_update_to_forward(value lazy);

#define Is_in_heap(v) true /* there are no words outside but static blocks, which have headers */

static inline value caml_ephemeron_create(mlsize_t keys) {
    return caml_ephe_create(Val_long((intnat)keys));
}
static inline mlsize_t caml_ephemeron_num_keys(value e) {
    return Wosize_val(e) - CAML_EPHE_FIRST_KEY;
}
static inline void caml_ephemeron_set_key(value e, mlsize_t i, value v) {
    caml_ephe_set_key(e, Val_long((intnat)i), v);
}
static inline void caml_ephemeron_set_data(value e, value v) {
    caml_ephe_set_data(e, v);
}
static inline void caml_ephemeron_unset_key(value e, mlsize_t i) {
    caml_ephe_unset_key(e, Val_long((intnat)i));
}
static inline void caml_ephemeron_unset_data(value e) {
    caml_ephe_unset_data(e);
}
/* *v := what an option has; false: None. */
static inline bool option_has(value option, value *v) {
    if (Is_long(option))
        return false;
    *v = Field(option, 0);
    return true;
}
static inline bool caml_ephemeron_get_key(value e, mlsize_t i, value *v) {
    return option_has(caml_ephe_get_key(e, Val_long((intnat)i)), v);
}
static inline bool caml_ephemeron_get_data(value e, value *v) {
    return option_has(caml_ephe_get_data(e), v);
}
static inline bool caml_ephemeron_get_key_copy(value e, mlsize_t i, value *v) {
    return option_has(caml_ephe_get_key_copy(e, Val_long((intnat)i)), v);
}
static inline bool caml_ephemeron_get_data_copy(value e, value *v) {
    return option_has(caml_ephe_get_data_copy(e), v);
}
static inline bool caml_ephemeron_key_is_set(value e, mlsize_t i) {
    return Bool_val(caml_ephe_check_key(e, Val_long((intnat)i)));
}
static inline bool caml_ephemeron_data_is_set(value e) {
    return Bool_val(caml_ephe_check_data(e));
}
static inline void caml_ephemeron_blit_key(value from, mlsize_t i, value to, mlsize_t j,
                                           mlsize_t n) {
    caml_ephe_blit_key(from, Val_long((intnat)i), to, Val_long((intnat)j), Val_long((intnat)n));
}
static inline void caml_ephemeron_blit_data(value from, value to) {
    caml_ephe_blit_data(from, to);
}

/* As Weak.get does with what it gives. */
static inline void darken(value v) {
    caml_darken(Caml_state, v, NULL);
}

static inline void darken_data(value e) {
    caml_ephe_clean(e);
    darken(Ephe_data(e));
}

/* As Lazy.force does it. */
static inline void lazy_forced(value lazy, value v) {
    CAMLparam2(lazy, v);
    caml_lazy_update_to_forcing(lazy);
    caml_modify(&Field(lazy, 0), v);
    caml_lazy_update_to_forward(lazy);
    CAMLreturn0;
}

#endif
