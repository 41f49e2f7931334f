/* SPDX-License-Identifier: MIT
 *
 * The OCaml 5 runtime with several domains: what the files of its adapter share.
 */
#ifndef ISOHEAP_OCAML5_DOMAINS_H
#define ISOHEAP_OCAML5_DOMAINS_H

#include "collectors/ocaml5/internal.h"

/* ---- domain_view.c ------------------------------------------------------------------------------
 */

/* Is no stop-the-world section under way or asked for, and no backup thread in one?  From outside
 * of all threads; changes nothing. */
bool domains_stand_still(void);

/* ---- mutators.c ---------------------------------------------------------------------------------
 */

/* What the thread of mutator m shall do; what it needs, and its answer. */
struct order {
    struct gc *gc;
    void (*body)(struct order *);
    unsigned m, dst, src, obj, value, tag;
    size_t i, j, n;
    uint64_t number;
    bool flag, *found;
    const word *raw;
    const struct gc_finaliser *then;
    enum gc_collection kind;
    enum gc_result result;
};

/* The thread does it, and all others go on beside it until all stand. */
enum gc_result domains_perform(struct order *);

/* A function of the interface by such an order: do_NAME is what its thread does. */
#define ORDER(name, ...) domains_perform(&(struct order){.gc = g, .body = do_##name, __VA_ARGS__})

/* The functions of Gc.finalise that wait run, one domain after the other: what they change is what
 * the program has then. */
void domains_act(struct gc *);

/* ---- extras.c -----------------------------------------------------------------------------------
 */

extern const struct gc_extras domains_extras;

#endif
