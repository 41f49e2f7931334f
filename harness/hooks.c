/* SPDX-License-Identifier: MIT
 *
 * What a collector says in the middle of a call (struct gc_hooks), as events.
 */
#include "harness/events.h"

static void tell(struct gc_hooks *hooks, enum gc_event event, word block, const word *place,
                 word to) {
    const struct side *s = side_of(hooks);
    struct runner *r = runner_of(s);
    r->listen(r->context, r, s->party, event, block, place, to);
}

/* It cannot go on: if nobody judges that, the run is over without a verdict. */
static void broken(struct gc_hooks *hooks, const char *sentence) {
    event_broken(judge_of(side_of(hooks)), sentence);
    skip_rest(runner_of(side_of(hooks)));
}
static void out_of_fuel(struct gc_hooks *hooks) {
    event_exhausted(judge_of(side_of(hooks)));
    skip_rest(runner_of(side_of(hooks)));
}

static void finalised(struct gc_hooks *hooks, uint64_t number) {
    event_finalised(judge_of(side_of(hooks)), number);
}

static void minor(struct gc_hooks *hooks, bool before) {
    event_minor(judge_of(side_of(hooks)), before);
}

static void shown(struct gc_hooks *hooks, void *view) {
    event_shown(judge_of(side_of(hooks)), view);
}

static void fence(struct gc_hooks *hooks, word *start, size_t words, bool behind) {
    lent_fence(lent_to(side_of(hooks)), start, words,
               behind ? "words behind a heap have been written"
                      : "words before a heap have been written");
}

void hooks_begin(struct side *s) {
    s->hooks->collections = 0;
    for (unsigned f = 0; f < GC_FILLS; f++)
        s->hooks->fill[f] = 0;
    runner_of(s)->said[s->party].refinement = event_is_heard(s, EVENT_shown) ? shown : NULL;
    lent_hooks(lent_to(s), &runner_of(s)->said[s->party]);
}

bool hooks_open(struct side *s, enum memory_fill fill, bool tight) {
    struct gc_hooks *said = &runner_of(s)->said[s->party];
    if (!lent_open(lent_to(s), s))
        return false;
    *said = (struct gc_hooks){.out_of_fuel = out_of_fuel,
                              .broken = broken,
                              .finalised = finalised,
                              .event = runner_of(s)->listen ? tell : NULL,
                              .fence = tight ? fence : NULL,
                              .minor = minor};
    dead_memory_hooks(said, fill, tight);
    s->hooks = lent_to(s)->hooks;
    lent_hooks(lent_to(s), said);
    return true;
}
