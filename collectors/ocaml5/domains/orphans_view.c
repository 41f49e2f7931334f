/* SPDX-License-Identifier: MIT
 *
 * What the domains of the OCaml 5 runtime that have ended have left behind, which is known to its
 * own file alone: this one contains it.
 */
#include "major_gc.c"

#include "collectors/ocaml5/internal.h"

word runtime_orphans(void) {
    return (word)orph_structs.ephe_list_live;
}
