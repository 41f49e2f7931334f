/* SPDX-License-Identifier: MIT
 *
 * Oracle work: a call takes steps in proportion to the blocks and gaps that the heap has.
 *
 * What may be more than that is said by other traits and functions.  A mark stack that is full
 * drops blocks, and the heap is looked at once more for each mark stack of blocks (trait rescans);
 * and a block that is promoted looks for its place among the free ones.  Of a slice its budget says
 * how many there may be (trait paced).
 */
#include "oracles/judge.h"

#include <stdio.h>

struct work {
    bool known;            /* there was a walk: */
    struct heap_size size; /* at the last one */
};

static bool reset(struct judge *j) {
    ((struct work *)j->state)->known = false;
    return false;
}

static bool walked(struct judge *j) {
    *(struct work *)j->state =
        (struct work){.known = true, .size = heap_size(&j->side->graph, &j->side->facts)};
    return false;
}

/* With what has been asked for since then: blocks, and a fragment behind each. */
static struct heap_size size_now(const struct judge *j) {
    const struct side *s = j->side;
    struct heap_size size = ((const struct work *)j->state)->size;
    size.blocks += s->new.asked;
    size.words += s->new.asked_words;
    size.gaps += s->new.asked;
    size.young += s->new.asked;
    return size;
}

static void judge_slice(struct judge *j, const struct heap_size *size) {
    const struct side *s = j->side;
    if (!s->slice.done || !s->traits.paced)
        return;
    uint64_t most = heap_slice_steps(s->collector, &s->traits, &s->config, size, s->slice.budget,
                                     s->slice.begins);
    if (s->took <= most)
        return;
    snprintf(j->expected, VERDICT_TEXT, "%llu steps at most, with a budget of %zu words%s",
             (unsigned long long)most, s->slice.budget, s->slice.begins ? " and a new cycle" : "");
    snprintf(j->found, VERDICT_TEXT, "%llu steps", (unsigned long long)s->took);
    judge_fail(j, VIOLATION_too_many_steps,
               "a slice took more steps than trait paced promises for its budget");
}

/* A call that takes no more steps than there are slots is within every bound. */
static bool worked(struct judge *j, const struct request *request, bool full) {
    const struct side *s = j->side;
    unsigned times = full && s->traits.full_until_exact > 1 ? s->traits.full_until_exact : 1;
    (void)request;
    if (!((struct work *)j->state)->known)
        return false;
    struct heap_size size = size_now(j);
    judge_slice(j, &size);
    if (s->took <= GC_SLOTS)
        return true;
    uint64_t most = times * heap_most_steps(s->collector, &s->traits, &s->config, &size);
    if (s->took <= most)
        return true;
    snprintf(j->expected, VERDICT_TEXT,
             "%llu steps at most: %zu blocks of %zu words in all, and %zu gaps",
             (unsigned long long)most, size.blocks, size.words, size.gaps);
    snprintf(j->found, VERDICT_TEXT, "%llu steps", (unsigned long long)s->took);
    judge_fail(j, VIOLATION_too_many_steps,
               "a call took more steps than trait linear promises for such a heap");
}

const struct oracle_module oracle_work = {
    .meaning = "the steps of a call are bounded by the blocks and gaps of the heap",
    .source = "isoheap: a collector that is right and takes for ever is of no use",
    .classes = {VIOLATION_too_many_steps},
    .needs = 1u << NEED_linear,
    .state = sizeof(struct work),
    .reset = reset,
    .walked = walked,
    .each_quiet_call = true,
    .worked = worked,
};
