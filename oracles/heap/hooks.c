/* SPDX-License-Identifier: MIT
 *
 * Oracle hooks: who promises to poison dead memory, and to count its steps, does so.
 *
 * Use after free is seen only where memory is poisoned, and a loop without end only where steps are
 * counted: a collector that forgets to call the hook would never be judged by either.  After the
 * script a full collection of one block that lives and one that has died is asked for.  It is no
 * part of the run: what is counted of that is as it was before.  Who forgets it does so in every
 * run, so one run in four is enough; with generations all of them would cost a tenth of the time.
 */
#include "oracles/judge.h"

#include <stdio.h>

/* Fields of those blocks: a header and a link of a free block need not be poisoned. */
enum { HOOKS_FIELDS = 6, HOOKS_RUNS = 4 };

/* One block in SLOT_VALUE, and no other; false: there is no room for them. */
static bool make_blocks(struct judge *j) {
    word *slots = j->side->slots[0];
    for (unsigned n = 0; n < 2; n++) {
        slots[SLOT_NEW] = WORD_UNIT; /* what an oracle before has asked for, too */
        if (j->services->allocate(j, HOOKS_FIELDS) != GC_OK)
            return false;
        slots[SLOT_VALUE] = n ? slots[SLOT_VALUE] : slots[SLOT_NEW];
    }
    slots[SLOT_NEW] = WORD_UNIT;
    return true;
}

_Noreturn static void fail_uncalled(struct judge *j, const char *detail) {
    snprintf(j->expected, VERDICT_TEXT, "at least one call in a full collection");
    snprintf(j->found, VERDICT_TEXT, "none");
    judge_fail(j, VIOLATION_promise_broken, detail);
}

/* A dead block is freed by who promises that, too. */
static bool is_judged(struct judge *j) {
    const struct side *s = j->side;
    bool frees = s->traits.poisons && s->traits.full_until_exact;
    if ((!frees && !s->traits.ticks) || j->model->n_objects % HOOKS_RUNS != 1 ||
        (s->traits.max_wosize && s->traits.max_wosize < HOOKS_FIELDS) || !make_blocks(j))
        return false;
    uint64_t poisonings = j->services->poisonings(j), steps = s->steps;
    j->services->collect_fully(j);
    if (frees && j->services->poisonings(j) == poisonings)
        fail_uncalled(j, "a full collection has freed a block and not called hooks->poison");
    if (s->traits.ticks && s->steps == steps)
        fail_uncalled(j, "a full collection has looked at a block and not called gc_tick");
    return true;
}

static bool ended(struct judge *j) {
    struct side *s = j->side;
    uint64_t steps = s->steps, collections = s->hooks->collections;
    bool judged = is_judged(j);
    s->slots[0][SLOT_NEW] = s->slots[0][SLOT_VALUE] = WORD_UNIT;
    s->steps = steps;
    s->hooks->collections = collections;
    return judged;
}

const struct oracle_module oracle_hooks = {
    .meaning = "poison and gc_tick are called by collections, if that is promised",
    .source = "isoheap: what the class sanitizer and oracle progress rely on",
    .classes = {VIOLATION_promise_broken},
    .needs = 1u << NEED_called,
    .ended = ended,
};
