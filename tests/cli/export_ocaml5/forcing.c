/* SPDX-License-Identifier: MIT
 *
 * Two primitives of OCaml 5 on lazy blocks for an older runtime, without its atomicity.
 */
#include <caml/mlvalues.h>

value caml_lazy_update_to_forcing(value v);
value caml_lazy_update_to_forward(value v);

value caml_lazy_update_to_forcing(value v) {
    return Val_int(Tag_val(v) != Lazy_tag);
}

value caml_lazy_update_to_forward(value v) {
    Tag_val(v) = Forward_tag;
    return Val_unit;
}
