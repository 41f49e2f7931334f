/* SPDX-License-Identifier: MIT
 *
 * The collectors that this build knows by name (registry.h).
 */
#include "collectors/registry/registry.h"

#include "collectors/boehm/boehm.h"
#include "collectors/cakeml/cakeml.h"
#include "collectors/cheney/cheney.h"
#include "collectors/compact/compact.h"
#include "collectors/concurrent/concurrent.h"
#include "collectors/generational/generational.h"
#include "collectors/incremental/incremental.h"
#include "collectors/mark_sweep/mark_sweep.h"
#include "collectors/ocaml/ocaml.h"
#include "collectors/ocaml5/ocaml5.h"
#include "collectors/tower/tower.h"

#include <string.h>

/* One a line. */
/* clang-format off */
const struct collector *const registered_collectors[] = {
    &mark_sweep,
    &cheney,
    &incremental,
    &generational,
    &tower,
    &compact,
    &cakeml,
    &concurrent,
#ifndef ISOHEAP_NO_BOEHM
    &boehm,
#endif
#ifdef ISOHEAP_HAS_OCAML
    &ocaml,
#endif
#ifdef ISOHEAP_HAS_OCAML_DEBUG
    &ocaml_debug,
#endif
#ifdef ISOHEAP_HAS_OCAML_TINY
    &ocaml_tiny,
#endif
#ifdef ISOHEAP_HAS_OCAML_NNP
    &ocaml_nnp,
#endif
#ifdef ISOHEAP_HAS_OCAML_NATIVE
    &ocaml_native,
#endif
#ifdef ISOHEAP_HAS_OCAML5
    &ocaml5,
#endif
#ifdef ISOHEAP_HAS_OCAML5_DEBUG
    &ocaml5_debug,
#endif
#ifdef ISOHEAP_HAS_OCAML5_TINY
    &ocaml5_tiny,
#endif
#ifdef ISOHEAP_HAS_OCAML5_DOMAINS
    &ocaml5_domains,
#endif
#ifdef ISOHEAP_HAS_OCAML5_DOMAINS_DEBUG
    &ocaml5_domains_debug,
#endif
    NULL,
};
/* clang-format on */

const struct collector *collector_find(const struct collector *const *list, const char *name) {
    for (; *list; list++)
        if (strcmp((*list)->name, name) == 0)
            return *list;
    return NULL;
}
