/* SPDX-License-Identifier: MIT
 *
 * Executed edges as fuel (collectors/edges.h).
 *
 * The compiler calls __sanitizer_cov_trace_pc at every edge.  Engines and sanitizers define it too,
 * for purposes of their own: the linker's --wrap leads the calls here.
 */
#include "collectors/edges.h"

#if defined(__clang__)
#define NOT_COUNTED __attribute__((no_sanitize("coverage")))
#else
#define NOT_COUNTED __attribute__((no_sanitize_coverage))
#endif

void __wrap___sanitizer_cov_trace_pc(void);

static struct gc_hooks *hooks; /* whose fuel; NULL: nobody's */
static unsigned a_step, left;  /* edges of a step, and of this one */

NOT_COUNTED void edges_count(struct gc_hooks *whose, unsigned edges_a_step) {
    hooks = whose;
    a_step = left = edges_a_step;
}

/* Hidden: each plug-in has its own.  What the last step calls may not come back. */
__attribute__((visibility("hidden"))) NOT_COUNTED void __wrap___sanitizer_cov_trace_pc(void) {
    if (!hooks || --left > 0)
        return;
    left = a_step;
    gc_tick(hooks);
}
