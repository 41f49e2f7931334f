/* SPDX-License-Identifier: MIT
 *
 * Known defects of the OCaml 5 runtime, and in which versions they are (docs/ocaml5.md).
 */
#include "collectors/ocaml5/internal.h"

#include <caml/version.h>

/* X(mask, name, first version without the defect, meaning): there the mask does nothing.  The table
 * of docs/ocaml5.md has the versions. */
/* clang-format off */
#define MASKS(X)                                                                                   \
    X(MASK_EPHEMERON, "ephemeron-marking", 50400,                                                  \
      "a cycle that has looked at ephemerons is finished before one is changed: it is not looked " \
      "at again")                                                                                  \
    X(MASK_COPY, "copy-custom", 50400,                                                             \
      "what Weak.get_copy gives is darkened: a custom block is given as it is, and may be freed")  \
    X(MASK_COPY_ABSTRACT, "copy-abstract", 50400,                                                  \
      "abstract blocks are copied by Obj.dup: Weak.get_copy takes their words for values")         \
    X(MASK_FORWARD_KEY, "forward-key", 50400,                                                      \
      "a key that is a Forward block and that nothing else reaches is unset before a collection " \
      "or slice, with the data: marking takes it for alive")                                                 \
    X(MASK_BLIT_DATA, "blit-data", 50400,                                                          \
      "the data that Ephemeron.K1.blit_data copies is darkened before: it darkens data that is "   \
      "unmarked through a null pointer")                                                           \
    X(MASK_YOUNG_KEY, "young-key", 50400,                                                          \
      "the minor heap is emptied before a lazy block is forced to a young one, or set as a key, "  \
      "while a cycle marks: the key is led to it, and no minor collection knows")
/* clang-format on */

const struct gc_mask ocaml_masks[] = {
#define X(mask, name, repaired, meaning) [mask] = {name, meaning},
    MASKS(X)
#undef X
        {NULL, NULL},
};

static const int repaired_in[] = {
#define X(mask, name, repaired, meaning) [mask] = repaired,
    MASKS(X)
#undef X
};

bool is_masked(const struct gc *g, enum mask mask) {
    return OCAML_VERSION < repaired_in[mask] && (g->config.masks >> mask & 1);
}
