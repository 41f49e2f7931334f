/* SPDX-License-Identifier: MIT
 *
 * The collector's kinds: what a program tells the OCaml runtime by Gc.set.  Each sets all
 * parameters anew; what it does not name is as at the start.
 */
#include "collectors/ocaml/internal.h"

#include <caml/alloc.h>
#include <caml/config.h>
#include <caml/gc_ctrl.h>
#include <caml/mlvalues.h>
#include <caml/version.h>

extern value caml_gc_set(value control); /* in no header */

/* Fields of Gc.control, in their order. */
enum {
    MINOR_HEAP_SIZE,
    MAJOR_HEAP_INCREMENT,
    SPACE_OVERHEAD,
    VERBOSE,
    MAX_OVERHEAD,
    STACK_LIMIT,
    ALLOCATION_POLICY,
    WINDOW_SIZE,
    CUSTOM_MAJOR_RATIO,
    CUSTOM_MINOR_RATIO,
    CUSTOM_MINOR_MAX_SIZE,
    FIELDS
};

/* The first ones are allocation policies (runtime_policy).  OCaml 5 has none to choose,
 * and fewer settings. */
#if OCAML_VERSION < 50000
enum { N_POLICIES = 3 };
#define SETTINGS(X)                                                                                \
    X("best-fit", ALLOCATION_POLICY, POLICY_BEST_FIT)                                              \
    X("next-fit", ALLOCATION_POLICY, POLICY_NEXT_FIT)                                              \
    X("first-fit", ALLOCATION_POLICY, POLICY_FIRST_FIT)                                            \
    X("smallest minor heap", MINOR_HEAP_SIZE, Minor_heap_min)                                      \
    X("larger minor heap", MINOR_HEAP_SIZE, 3 * (intnat)Minor_heap_min)                            \
    X("large increments", MAJOR_HEAP_INCREMENT, 3 * (intnat)Heap_chunk_min)                        \
    X("little garbage", SPACE_OVERHEAD, 1)                                                         \
    X("much garbage", SPACE_OVERHEAD, 10000)                                                       \
    X("always compacts", MAX_OVERHEAD, 0)                                                          \
    X("never compacts", MAX_OVERHEAD, 1000000)                                                     \
    X("small stack", STACK_LIMIT, 4 * 1024)                                                        \
    X("smooth slices", WINDOW_SIZE, Max_major_window)                                              \
    X("hurries for custom blocks", CUSTOM_MAJOR_RATIO, 1)                                          \
    X("hurries for young custom blocks", CUSTOM_MINOR_RATIO, 1)                                    \
    X("custom blocks are old", CUSTOM_MINOR_MAX_SIZE, 0)
#else
enum { N_POLICIES = 1 };
#define SETTINGS(X)                                                                                \
    X("default", ALLOCATION_POLICY, POLICY_BEST_FIT)                                               \
    X("smallest minor heap", MINOR_HEAP_SIZE, Minor_heap_min)                                      \
    X("larger minor heap", MINOR_HEAP_SIZE, 3 * (intnat)Minor_heap_min)                            \
    X("little garbage", SPACE_OVERHEAD, 1)                                                         \
    X("much garbage", SPACE_OVERHEAD, 10000)                                                       \
    X("small stack", STACK_LIMIT, 4 * 1024)                                                        \
    X("hurries for custom blocks", CUSTOM_MAJOR_RATIO, 1)                                          \
    X("hurries for young custom blocks", CUSTOM_MINOR_RATIO, 1)                                    \
    X("custom blocks are old", CUSTOM_MINOR_MAX_SIZE, 0)
#define Heap_chunk_def       0 /* what OCaml 5 does not look at */
#define Max_percent_free_def 0
#endif

static const struct setting {
    unsigned field;
    intnat v;
} settings[] = {
#define X(name, field, v) {field, v},
    SETTINGS(X)
#undef X
};
enum { N_SETTINGS = sizeof settings / sizeof *settings };

const char *const runtime_kinds[] = {
#define X(name, field, v) name,
    SETTINGS(X)
#undef X
        NULL};

/* The policy of a kind: of those that name none, the first one's. */
unsigned runtime_policy(unsigned kind) {
    kind %= N_SETTINGS;
    return (unsigned)settings[kind < N_POLICIES ? kind : 0].v;
}

void runtime_set(struct gc *g, unsigned kind) {
    const struct setting *chosen = &settings[kind % N_SETTINGS];
    const intnat start[FIELDS] = {
        [MINOR_HEAP_SIZE] = (intnat)g->config.nursery_words,
        [MAJOR_HEAP_INCREMENT] = Heap_chunk_def,
        [SPACE_OVERHEAD] = runtime_space_overhead(g->config.variant),
        [MAX_OVERHEAD] = Max_percent_free_def,
        [STACK_LIMIT] = Max_stack_def,
        [ALLOCATION_POLICY] = runtime_policy(kind),
        [WINDOW_SIZE] = Major_window_def,
        [CUSTOM_MAJOR_RATIO] = Custom_major_ratio_def,
        [CUSTOM_MINOR_RATIO] = Custom_minor_ratio_def,
        [CUSTOM_MINOR_MAX_SIZE] = Custom_minor_max_bsz_def,
    };
    value control = caml_alloc_small(FIELDS, 0);
    for (unsigned f = 0; f < FIELDS; f++)
        Field(control, f) = Val_long(f == chosen->field ? chosen->v : start[f]);
    caml_gc_set(control);
}
