/* SPDX-License-Identifier: MIT
 *
 * What differs between the versions of the OCaml 5 runtime that there is an adapter for: names and
 * parameters of 5.3 for 5.1, which has no compaction and no Gc.Memprof.
 */
#ifndef ISOHEAP_OCAML5_VERSIONS_H
#define ISOHEAP_OCAML5_VERSIONS_H

#include <caml/domain.h>
#include <caml/major_gc.h>
#include <caml/memprof.h>
#include <caml/mlvalues.h>
#include <caml/shared_heap.h>
#include <caml/signals.h>
#include <caml/version.h>

#if OCAML_VERSION < 50200
#define IF_COMPACTING(text)

static inline void runtime_cycle(int compacts) {
    (void)compacts;
    caml_finish_major_cycle();
}
static inline void runtime_pending(void) {
    (void)caml_process_pending_actions_exn();
}
static inline uint64_t runtime_compactions(void) {
    return 0;
}
static inline void runtime_scan_sampled(scanning_action visit, caml_domain_state *d) {
    (void)visit, (void)d;
}
#else
#define IF_COMPACTING(text) text

static inline void runtime_cycle(int compacts) {
    caml_finish_major_cycle(compacts);
}
static inline void runtime_pending(void) {
    (void)caml_process_pending_actions_res();
}
static inline uint64_t runtime_compactions(void) {
    return (uint64_t)atomic_load(&caml_compactions_count);
}
static inline void runtime_scan_sampled(scanning_action visit, caml_domain_state *d) {
    caml_memprof_scan_roots(visit, 0, NULL, d, false);
}
#endif

#endif
