/* SPDX-License-Identifier: MIT
 *
 * Subjects for tests of the command that no fixture can be; they take the place of the known-bad
 * collectors in a command of its own.  `misbehaves` is mark_sweep until a block with one of the
 * tags below is allocated, and then does what the tests of the fixtures could not survive.
 * Two of the tags ask the schedule of threads, as if there were some.
 * `without_image` is mark_sweep that lets nobody lay out its heap, and promises never to refuse
 * what would fit if the heap were not in pieces.
 */
#define _POSIX_C_SOURCE 200809L
#include "collectors/decisions.h"
#include "collectors/known_bad/known_bad.h"
#include "collectors/mark_sweep/mark_sweep.h"

#include "program/program.h"

#include <stdlib.h>
#include <unistd.h>

enum { TAG_SPINS = 1, TAG_SLEEPS, TAG_ABORTS, TAG_EXITS, TAG_SLOW, TAG_LATE, TAG_PREEMPTED };

static struct gc *open_gc(void) {
    return mark_sweep.open();
}
static struct gc_config given; /* by the last reset */

/* Is the n-th decision of the schedule another than the first of the choices? */
static bool is_switched(unsigned n) {
    uint64_t state = decisions_begin(given.schedule), choice = 0;
    for (size_t i = 0; i < given.n_decisions; i++)
        if (switch_at(given.decisions[i]) == n)
            return true;
    for (unsigned i = 0; i < n && given.schedule && !given.n_decisions; i++)
        choice = decisions_next(&state) % SWITCH_CHOICES;
    return choice != 0;
}

static void reset(struct gc *g, const struct gc_config *config) {
    given = *config;
    mark_sweep.reset(g, config);
}
static void close_gc(struct gc *g) {
    mark_sweep.close(g);
}
static word *image(struct gc *g, size_t *words) {
    return mark_sweep.image(g, words);
}
static void adopt(struct gc *g, size_t words) {
    mark_sweep.adopt(g, words);
}
static enum gc_result collect(struct gc *g, enum gc_collection kind) {
    return mark_sweep.collect(g, kind);
}
static void walk(struct gc *g, gc_visit *visit, void *context) {
    mark_sweep.walk(g, visit, context);
}

/* Work without gc_tick: the harness cannot see it. */
static void spin(unsigned long times) {
    for (volatile unsigned long i = 0; times == 0 || i < times;)
        i = i + 1;
}

static enum gc_result alloc(struct gc *g, unsigned m, unsigned dst, size_t wosize, unsigned tag,
                            const word *raw) {
    switch (tag) {
    case TAG_SPINS:
        spin(0);
        break;
    case TAG_SLEEPS:
        for (;;)
            pause();
    case TAG_ABORTS:
        abort();
    case TAG_EXITS:
        _exit(3);
    case TAG_LATE: /* no program lists it */
        if (is_switched(PROGRAM_SWITCHES + 1))
            given.hooks->broken(given.hooks, "a late decision");
        break;
    case TAG_PREEMPTED:
        if (given.preempt && is_switched(5))
            given.hooks->broken(given.hooks, "an early decision");
        break;
    case TAG_SLOW:
        spin(100000000);
        break;
    default:
        break;
    }
    return mark_sweep.alloc(g, m, dst, wosize, tag, raw);
}

static const struct collector misbehaves = {
    .name = "misbehaves",
    .summary = "spins, sleeps, aborts or exits when asked for tag 1, 2, 3 or 4; slow for tag 5; "
               "complains for tag 6 and 7 if a decision of the schedule is so",
    .traits = {.infix = true,
               .start_env = true,
               .raw = true,
               .outside = true,
               .full_until_exact = 1,
               .refusal = REFUSES_NO_FREE_BLOCK,
               .max_mutators = GC_MUTATORS},
    .open = open_gc,
    .reset = reset,
    .close = close_gc,
    .image = image,
    .adopt = adopt,
    .alloc = alloc,
    .collect = collect,
    .walk = walk,
};

static enum gc_result plain_alloc(struct gc *g, unsigned m, unsigned dst, size_t wosize,
                                  unsigned tag, const word *raw) {
    return mark_sweep.alloc(g, m, dst, wosize, tag, raw);
}

extern const struct collector without_image;
const struct collector without_image = {
    .name = "without_image",
    .summary = "mark_sweep without image; false promise of exact refusals",
    .traits = {.infix = true,
               .start_env = true,
               .raw = true,
               .outside = true,
               .full_until_exact = 1,
               .refusal = REFUSES_EXACTLY,
               .max_mutators = GC_MUTATORS},
    .open = open_gc,
    .reset = reset,
    .close = close_gc,
    .alloc = plain_alloc,
    .collect = collect,
    .walk = walk,
};

extern const struct collector unruly; /* unruly.c */

const struct known_bad *known_bad(void) {
    static const struct known_bad table[] = {
        {&misbehaves, VIOLATION_no_progress, "never returns from an allocation"},
        {NULL, VIOLATION_none, NULL}};
    return table;
}

const struct collector *const *known_bad_collectors(void) {
    static const struct collector *const list[] = {&misbehaves, &without_image, &unruly, NULL};
    return list;
}
