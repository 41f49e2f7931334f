/* SPDX-License-Identifier: MIT
 *
 * The comparison of all parties: after every collection, and at the end of a script.
 */
#include "harness/call.h"
#include "harness/events.h"
#include "harness/history.h"

#include <stdio.h>

bool collected(const struct runner *r) {
    for (unsigned p = 0; p < r->n_sides; p++)
        if (r->side[p].hooks->collections != r->side[p].compared)
            return true;
    return false;
}

/* Is the last walk still true?  What can be seen of an ephemeron also depends on the slots. */
static bool is_walked(const struct runner *r, const struct side *s, unsigned checks) {
    return s->walked && !(checks & ~s->walked) && s->collections == s->hooks->collections &&
           !r->model.has_ephemerons;
}

void walk_side(struct side *s, enum occasion when) {
    call_settle(s);
    unsigned checks = checks_wanted(s, when);
    if (!s->collector->walk || is_walked(runner_of(s), s, checks))
        return;
    call_walk(s, checks);
    s->collections = s->hooks->collections;
    s->walked = checks;
    if (s->collector->cycle)
        s->cycle = call_cycle(s);
    s->new.asked = s->new.asked_words = s->new.given_words = 0;
    event_walked(judge_of(s));
}

/* What was found by the last walk is still so; where it was is not. */
void heaps_were_shown(struct runner *r) {
    FOR_SIDES (r, s) {
        struct heap_facts facts = s->facts;
        uint64_t steps = s->steps;
        if (!s->collector->shown_at || !call_settled(s))
            continue;
        call_walk(s, s->walked ? s->walked : heap_legal(&s->traits));
        s->facts = facts;
        s->steps = steps;
    }
}

void check_heaps(struct runner *r, enum occasion when) {
    r->verdict.counts.checks++;
    FOR_SIDES (r, s)
        walk_side(s, when);
    compare_all(r, when);
    FOR_SIDES (r, s)
        s->compared = s->hooks->collections;
    if (r->covers)
        coverage_graph(r);
    if (r->close)
        history_agreement(r);
    r->changed = false;
}
