/* SPDX-License-Identifier: MIT
 *
 * Marshalling in the OCaml 5 runtime, and custom blocks of a program's own.
 */
#include "collectors/ocaml5/internal.h"

#include <caml/alloc.h>
#include <caml/custom.h>
#include <caml/intext.h>
#include <caml/memory.h>

struct custom_operations custom_plain = {"isoheap",
                                         custom_finalize_default,
                                         custom_compare_default,
                                         custom_hash_default,
                                         custom_serialize_default,
                                         custom_deserialize_default,
                                         custom_compare_ext_default,
                                         custom_fixed_length_default};

/* Marshal.from_string (Marshal.to_string v flags) 0 */
enum gc_result runtime_marshal(struct gc *g, unsigned dst, unsigned src, bool unshared,
                               size_t words) {
    runtime_begin(g);
    if (!runtime_has_room(g, words - 1))
        return GC_OUT_OF_MEMORY;
    char *bytes;
    intnat length;
    value flags = Val_emptylist;
    if (unshared) { /* [No_sharing], the first constructor of Marshal.extern_flags */
        flags = caml_alloc_small(2, 0);
        Field(flags, 0) = Val_int(0);
        Field(flags, 1) = Val_emptylist;
    }
    caml_output_value_to_malloc((value)root_get(src), flags, &bytes, &length);
    root_set(dst, (word)caml_input_value_from_malloc(bytes, 0));
    runtime_end_anew(g);
    return GC_OK;
}
