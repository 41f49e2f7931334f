/* SPDX-License-Identifier: MIT
 *
 * `stale` is pebble with a defect that AddressSanitizer alone sees: a table outside the heap is
 * freed by the second collection after a reset, and read by the third.  STALE in the environment
 * names another deed for that moment: abort, exit, kill, hang.
 */
#define pebble sound_pebble
#include "examples/pebble/pebble.c"
#undef pebble

#include <signal.h>
#include <stdlib.h>

extern const struct collector stale;

static char *volatile table;
static bool held;

static void misbehave(const char *deed) {
    volatile char read = 0;
    if (!deed)
        read = *(volatile char *)table;
    else if (strcmp(deed, "abort") == 0)
        abort();
    else if (strcmp(deed, "exit") == 0)
        exit(0);
    else if (strcmp(deed, "kill") == 0)
        raise(SIGKILL);
    else
        for (volatile unsigned spin = 1; spin;)
            ;
    (void)read;
}

static unsigned collections; /* that were asked for since the reset */

static void reset(struct gc *g, const struct gc_config *config) {
    collections = 0;
    pebble_reset(g, config);
}

static enum gc_result collect(struct gc *g, enum gc_collection kind) {
    unsigned before = collections++;
    if (before == 0 && !held)
        table = malloc(64);
    if (before == 1)
        free(table);
    if (before == 2)
        misbehave(getenv("STALE"));
    held = before == 0; /* the next program goes on with it: no leak */
    return pebble_collect(g, kind);
}

const struct collector stale = {
    .name = "stale",
    .summary = "pebble, which reads what it has freed",
    .traits = {.infix = true,
               .start_env = true,
               .raw = true,
               .outside = true,
               .poisons = true,
               .whitens = true,
               .renews = true,
               .full_until_exact = 1,
               .refusal = REFUSES_NO_FREE_BLOCK,
               .max_heap_words = 2048, /* not every program can be run: not_run_test.sh */
               .max_mutators = GC_MUTATORS},
    .open = pebble_open,
    .reset = reset,
    .close = pebble_close,
    .image = pebble_image,
    .adopt = pebble_adopt,
    .alloc = pebble_alloc,
    .collect = collect,
    .walk = pebble_walk,
};
