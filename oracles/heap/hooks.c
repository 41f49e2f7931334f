/* SPDX-License-Identifier: MIT
 *
 * Oracle hooks: who promises to poison dead memory, and to count its steps, does so.
 *
 * Use after free is seen only where memory is poisoned, and a loop without end only where steps are
 * counted: a collector that forgets to call the hook would never be judged by either.  Judged where
 * a full collection of the script has ended: if a block that the script allocated has died by then,
 * and if one lives.
 *
 * Who poisons some of the dead words alone is found by a sample: after every such collection, and
 * every compaction, a few words of one dead extent must be poisoned, and in a heap that has just
 * been reset.  Not between: gaps of the initial heap are the harness's.
 */
#include "oracles/judge.h"

#include <stdio.h>

/* Fields of the dead block: a header and a link of a free block need not be poisoned. */
enum { HOOKS_FIELDS = 6 };

struct hooks {
    uint64_t poisonings, steps; /* when the initial heap stood */
    uint32_t allocated;         /* blocks of that many fields, by the script */
};

static bool built(struct judge *j) {
    *(struct hooks *)j->state =
        (struct hooks){.poisonings = j->side->poisonings, .steps = j->side->steps};
    return false;
}

static bool placed(struct judge *j, const struct request *request) {
    struct hooks *h = j->state;
    h->allocated += request->modelled && request->wosize >= HOOKS_FIELDS;
    return false;
}

_Noreturn static void fail_uncalled(struct judge *j, const char *detail) {
    snprintf(j->expected, VERDICT_TEXT, "at least one call up to now");
    snprintf(j->found, VERDICT_TEXT, "none");
    judge_fail(j, VIOLATION_promise_broken, detail);
}

/* Fewer such blocks live than were allocated; all are counted where one may have been truncated. */
static bool has_freed(const struct judge *j) {
    const struct hooks *h = j->state;
    const struct model *m = j->model;
    const struct gc_extras *extras = j->side->collector->extras;
    size_t least = extras && extras->truncate ? 0 : HOOKS_FIELDS;
    uint32_t live = 0;
    for (uint32_t i = 0; i < m->n_reached && live < h->allocated; i++)
        live += m->objects[m->work[i]].wosize >= least;
    return live < h->allocated;
}

/* The first words behind header and link, the last, and one between them. */
static bool sample_is_poisoned(struct judge *j) {
    const struct side *s = j->side;
    const struct heap_facts *facts = &s->facts;
    if (!s->traits.poisons || !s->collector->walk || !facts->dead)
        return false;
    size_t n = facts->dead_words - 2, at[] = {0, n - 1, facts->live_words % n};
    for (unsigned i = 0; i < sizeof at / sizeof *at; i++) {
        const word *place = facts->dead + 2 + at[i];
        if (j->services->is_poisoned(place))
            continue;
        snprintf(j->expected, VERDICT_TEXT, "a poisoned word");
        snprintf(j->found, VERDICT_TEXT,
                 "one that is not, at word %td of the heap, in a dead extent of "
                 "%zu words at word %td",
                 place - s->graph.base, facts->dead_words, facts->dead - s->graph.base);
        judge_fail(j, VIOLATION_promise_broken,
                   "a word of dead memory is not poisoned: who uses it would not be seen");
    }
    return true;
}

static bool compared(struct judge *j, enum occasion when) {
    const struct hooks *h = j->state;
    const struct side *s = j->side;
    bool all = when == AFTER_FULL || when == AFTER_COMPACTION;
    bool sampled = all && sample_is_poisoned(j);
    if (when != AFTER_FULL)
        return sampled;
    /* A dead block is freed by who promises that, too. */
    bool frees = s->traits.poisons && s->traits.full_until_exact && has_freed(j);
    if (frees && s->poisonings == h->poisonings)
        fail_uncalled(j, "a block has been freed and hooks->poison has not been called");
    bool looks = s->traits.ticks && j->model->live_objects > 0;
    if (looks && s->steps == h->steps)
        fail_uncalled(j, "a full collection has kept a block and not called gc_tick");
    return sampled || frees || looks;
}

const struct oracle_module oracle_hooks = {
    .meaning = "dead memory is poisoned and gc_tick called by collections, if that is promised",
    .source = "isoheap: what the class sanitizer and oracle progress rely on",
    .classes = {VIOLATION_promise_broken},
    .needs = 1u << NEED_called,
    .state = sizeof(struct hooks),
    .emptied = sample_is_poisoned,
    .built = built,
    .placed = placed,
    .compared = compared,
};
