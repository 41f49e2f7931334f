/* SPDX-License-Identifier: MIT
 *
 * Executed edges as fuel: loops of code that does not call gc_tick end all the same.
 *
 * For collectors that somebody else has written.  Their files are compiled with
 * -fsanitize-coverage=trace-pc (clang: trace-pc,no-prune, or an empty loop has no edge), and the
 * program or plug-in is linked with fuzz/edges.c and -Wl,--wrap=__sanitizer_cov_trace_pc; the word
 * EDGES in isoheap_add_target does it, or pkg-config isoheap_edges.  Only files that are compiled
 * so are counted, and only a compiler that makes these calls will do: afl-clang-fast makes none.
 */
#ifndef ISOHEAP_EDGES_H
#define ISOHEAP_EDGES_H

#include "collectors/collector.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Few enough for a hang to be seen within a second, and so many that a collection of a small heap
 * may clear a table of 10,000 entries. */
enum { EDGES_A_STEP = 64 };

/* From now on so many executed edges take a step of the hooks' fuel, as gc_tick does: to be called
 * in reset.  NULL: none does, to be called in close.  Where several collectors of these files are
 * in a process, to be called at the beginning of each function. */
void edges_count(struct gc_hooks *, unsigned edges_a_step);

#ifdef __cplusplus
}
#endif

#endif
