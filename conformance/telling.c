/* SPDX-License-Identifier: MIT
 *
 * The conformance kit: what a collector tells of its work (conform.h).
 */
#include "conformance/internal.h"

#include <string.h>

CLAIMED(tells)

static bool must_tell(const struct conform *c, enum gc_event event) {
    return c->traits.tells & GC_TELLS(event);
}

static void expect_events(struct conform *c, enum gc_event event, unsigned least,
                          const char *what) {
    if (must_tell(c, event) && c->events[event] < least)
        broken(c, "a full collection has told gc_tell of %u blocks %s, of %u at least",
               c->events[event], what, least);
}

static void collect_and_listen(struct conform *c) {
    memset(c->events, 0, sizeof c->events);
    c->hooks->listened = true;
    collect_fully(c);
    c->hooks->listened = false;
}

/* A list that lives, and is old by the second collection; then it is garbage. */
static void check_tells(struct conform *c) {
    unsigned n = 2u << c->scale;
    make_list(c, n);
    collect_and_listen(c);
    if (!must_tell(c, GC_MOVED) || c->events[GC_MOVED] == 0)
        expect_events(c, GC_MARKED, n, "as marked");
    expect_events(c, GC_SCANNED, n, "as scanned");
    expect_list(c, n, "after a collection that was listened to");
    collect_fully(c);
    for (unsigned s = 0; s < GC_SLOTS; s++)
        c->slots[0][s] = WORD_UNIT;
    bool snapshot = is_in_cycle(c); /* may hold what has been garbage since it began */
    collect_and_listen(c);
    expect_events(c, GC_SWEPT, n, "as swept");
    if (!snapshot && c->events[GC_MARKED] + c->events[GC_MOVED] > 0)
        broken(c, "a full collection of garbage alone has told gc_tell of %u blocks as found",
               c->events[GC_MARKED] + c->events[GC_MOVED]);
}

const struct conform_step conform_telling[] = {
    {"tells", "a full collection tells of each block what it promises to tell", claims_tells,
     check_tells},
    {NULL, NULL, NULL, NULL}};
