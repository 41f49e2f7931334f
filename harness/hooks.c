/* SPDX-License-Identifier: MIT
 *
 * What a collector says in the middle of a call (struct gc_hooks), as events.
 */
#include "harness/call.h"
#include "harness/events.h"

/* What has been said. */
struct said {
    struct side *side;
    enum gc_event event;
    bool before, for_ever;
    word block, to;
    const word *place;
    uint64_t number, thread;
    enum gc_section section;
    unsigned m;
    const char *sentence;
    void *view;
};

/* It is dealt with on the harness's stack, of which there is enough. */
static void deal(struct gc_hooks *hooks, void (*with)(void *), struct said *said) {
    said->side = side_of(hooks);
    struct stack *stack = stack_of(said->side);
    if (stack)
        stack_back(stack, with, said);
    else
        with(said);
}

static void deal_with_event(void *context) {
    const struct said *w = context;
    struct runner *r = runner_of(w->side);
    if (r->listen)
        r->listen(r->context, r, w->side->party, w->event, w->block, w->place, w->to);
    if (w->side->listened && !r->over)
        event_told(judge_of(w->side), w->event, w->block, w->place, w->to);
}
static void tell(struct gc_hooks *hooks, enum gc_event event, word block, const word *place,
                 word to) {
    deal(hooks, deal_with_event,
         &(struct said){.event = event, .block = block, .place = place, .to = to});
}

/* It cannot go on: if nobody judges that, the run is over without a verdict. */
static void deal_with_broken(void *context) {
    const struct said *w = context;
    event_broken(judge_of(w->side), w->sentence);
    skip_rest(runner_of(w->side));
}
static void broken(struct gc_hooks *hooks, const char *sentence) {
    deal(hooks, deal_with_broken, &(struct said){.sentence = sentence});
}

/* Legal where the program has taken the memory away, and nowhere else. */
static void deal_with_ended(void *context) {
    const struct said *w = context;
    if (!w->side->starved)
        event_broken(judge_of(w->side), w->sentence);
    skip_rest(runner_of(w->side));
}
static void ended(struct gc_hooks *hooks, const char *sentence) {
    deal(hooks, deal_with_ended, &(struct said){.sentence = sentence});
}

static void deal_with_stuck(void *context) {
    const struct said *w = context;
    event_stuck(judge_of(w->side), w->for_ever, w->sentence);
    skip_rest(runner_of(w->side));
}
static void stuck(struct gc_hooks *hooks, bool for_ever, const char *sentence) {
    deal(hooks, deal_with_stuck, &(struct said){.for_ever = for_ever, .sentence = sentence});
}

/* What was put aside of the fuel is there again, if there is any: it was time for a look. */
static void deal_with_exhaustion(void *context) {
    const struct said *w = context;
    if (call_refuel(w->side)) {
        event_ticked(judge_of(w->side));
        return;
    }
    event_exhausted(judge_of(w->side));
    skip_rest(runner_of(w->side));
}
static void out_of_fuel(struct gc_hooks *hooks) {
    deal(hooks, deal_with_exhaustion, &(struct said){0});
}

static void deal_with_switch(void *context) {
    const struct said *w = context;
    struct runner *r = runner_of(w->side);
    if (r->switches)
        r->switches(r->context, w->number, w->thread);
}
static void switched(struct gc_hooks *hooks, uint64_t decision, uint64_t thread) {
    deal(hooks, deal_with_switch, &(struct said){.number = decision, .thread = thread});
}

static void deal_with_section(void *context) {
    const struct said *w = context;
    struct runner *r = runner_of(w->side);
    if (r->sections)
        r->sections(r->context, w->section, w->m, w->number);
}
static void section(struct gc_hooks *hooks, enum gc_section what, unsigned m, uint64_t decision) {
    deal(hooks, deal_with_section, &(struct said){.section = what, .m = m, .number = decision});
}

static void deal_with_finaliser(void *context) {
    const struct said *w = context;
    event_finalised(judge_of(w->side), w->number);
}
static void finalised(struct gc_hooks *hooks, uint64_t number) {
    deal(hooks, deal_with_finaliser, &(struct said){.number = number});
}

/* It is taken over when the call has ended. */
static void deal_with_handed(void *context) {
    const struct said *w = context;
    struct runner *r = runner_of(w->side);
    if (r->n_handed < FINALISERS && w->m < r->mutators)
        r->handed[r->n_handed++] = (struct handed){.number = w->number, .m = w->m};
}
static void handed(struct gc_hooks *hooks, unsigned m, uint64_t number) {
    deal(hooks, deal_with_handed, &(struct said){.m = m, .number = number});
}

static void deal_with_minor(void *context) {
    const struct said *w = context;
    w->side->collected_young = true;
    event_minor(judge_of(w->side), w->before);
}
static void minor(struct gc_hooks *hooks, bool before) {
    deal(hooks, deal_with_minor, &(struct said){.before = before});
}

/* Most ends of phases are only counted: it is the oracle that asks for another stack. */
static void phase_ended(struct gc_hooks *hooks, enum gc_stage ended) {
    event_phase(judge_of(side_of(hooks)), ended);
}

static void deal_with_state(void *context) {
    const struct said *w = context;
    event_shown(judge_of(w->side), w->view);
}
static void shown(struct gc_hooks *hooks, void *view) {
    deal(hooks, deal_with_state, &(struct said){.view = view});
}

static void fence(struct gc_hooks *hooks, word *start, size_t words, bool behind) {
    struct side *s = side_of(hooks);
    if (!s->beside[behind])
        s->beside[behind] = pointer_word(behind ? start : start + words);
    lent_fence(lent_to(s), start, words,
               behind ? "words behind a heap have been written"
                      : "words before a heap have been written");
}

void hooks_begin(struct side *s) {
    s->hooks->collections = 0;
    s->beside[0] = s->beside[1] = 0;
    for (unsigned f = 0; f < GC_FILLS; f++)
        s->hooks->fill[f] = 0;
    runner_of(s)->said[s->party].refinement = event_is_heard(s, EVENT_shown) ? shown : NULL;
    s->listened = false;
    s->hooks->listened = runner_of(s)->listen;
    runner_of(s)->said[s->party].phase = event_is_heard(s, EVENT_phase) ? phase_ended : NULL;
    lent_hooks(lent_to(s), &runner_of(s)->said[s->party]);
}

void hooks_listen(struct side *s) {
    s->listened = s->hooks->listened = true;
}

/* Who wants to see its threads change? */
static bool is_followed(const struct side *s) {
    return s->party == PARTY_SUBJECT && runner_of(s)->switches;
}

bool hooks_open(struct side *s, enum memory_fill fill, bool tight) {
    struct gc_hooks *said = &runner_of(s)->said[s->party];
    if (!lent_open(lent_to(s), s))
        return false;
    *said = (struct gc_hooks){.out_of_fuel = out_of_fuel,
                              .broken = broken,
                              .stuck = stuck,
                              .ended = ended,
                              .finalised = finalised,
                              .handed = handed,
                              .event = tell,
                              .switched = is_followed(s) ? switched : NULL,
                              .section = is_followed(s) ? section : NULL,
                              .fence = fence,
                              .minor = minor};
    dead_memory_hooks(said, fill, tight);
    s->hooks = lent_to(s)->hooks;
    lent_hooks(lent_to(s), said);
    return true;
}
