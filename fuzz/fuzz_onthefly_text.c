/* SPDX-License-Identifier: MIT
 *
 * Target fuzz_onthefly_text: schedules of the on-the-fly model as text.  The parser on any bytes;
 * what it takes survives being printed, runs, and shows its columns.  On the paper's collector no
 * invariant breaks, whatever the schedule.  On a variant something may break; then the reduced
 * schedule breaks it too.  A comment `# search` has both searches look around where it ends.
 */
#define _POSIX_C_SOURCE 200809L /* open_memstream */
#include "fuzz/current.h"
#include "fuzz/round_trip.h"
#include "fuzz/violate.h"
#include "models/onthefly/schedules/schedule.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { INPUT_MAX = 1 << 16, STATES_MAX = 5001, MEMORY = 8 << 20, STEPS_REDUCED = 120 };

static char *print(void (*how)(const struct schedule *, FILE *), const struct schedule *s,
                   size_t *size) {
    char *text = NULL;
    FILE *out = open_memstream(&text, size);
    require(out != NULL, "no memory");
    how(s, out);
    require(fclose(out) == 0, "no memory");
    return text;
}

static _Noreturn void report(const struct schedule *s, unsigned broken) {
    const char *class = invariant_class(invariant_first(broken));
    fprintf(stderr, "isoheap: violation %s (%s)\n", class, invariant_name(invariant_first(broken)));
    schedule_print(s, stderr);
    violate(violation_named(class));
}

/* parse takes back what print gives, and that is the same schedule. */
static void round_trip(const struct schedule *s) {
    struct schedule back = {.n = 0};
    struct schedule_error error;
    size_t size, again;
    char *text = print(schedule_print, s, &size);
    require(schedule_parse(&back, text, size, &error), "what print gives is not parsed");
    char *same = print(schedule_print, &back, &again);
    require(size == again && memcmp(text, same, size) == 0, "print, parse, print differ");
    schedule_free(&back);
    free(text);
    free(same);
}

/* What a search found breaks when it is replayed. */
static void replay(const struct explore_options *o, const struct explore_result *r,
                   const struct state *from) {
    struct state s = from ? *from : r->start;
    unsigned broken = invariants_broken(&o->model, &s, EVENT_NONE, o->invariants);
    for (size_t i = 0; i < r->trace_length; i++) {
        require(model_enabled(&o->model, &s, &r->trace[i]), "a trace takes a step that is none");
        unsigned events = model_apply(&o->model, &s, &r->trace[i]);
        broken = invariants_broken(&o->model, &s, events, o->invariants);
    }
    require(r->end != EXPLORE_VIOLATION || (broken & r->broken), "a trace leads to no violation");
}

/* An engine counts edges without locks: in a process of one no search has threads, so that an input
 * covers the same each time. */
__attribute__((weak)) int LLVMFuzzerRunDriver(int *, char ***, int (*)(const uint8_t *, size_t));

/* A comment `# search STATES HOW` asks for it: so many states, breadth first from the initial ones
 * and directed from here; the bits of HOW are those of an exploration's options. */
static void search(const struct schedule *s, const struct state *here, const char *order) {
    unsigned states = 0, how = 0;
    if (sscanf(order, "# search %4u %3u", &states, &how) < 1 || s->model.refs > 4)
        return;
    struct state from = *here;
    from.doomed = 0; /* garbage is not tracked here */
    struct explore_options o = {.model = s->model,
                                .reduction = (enum reduction)(how % 4 % 3),
                                .symmetry = !(how & 4),
                                .between = how & 8,
                                .fair = how & 16,
                                .invariants = s->invariants & ~(unsigned)INVARIANT(garbage),
                                .jobs = how & 32 && !LLVMFuzzerRunDriver ? 2 : 1,
                                .memory = how & 64 ? MEMORY / 8 : MEMORY,
                                .states = 1 + states % STATES_MAX}; /* 0 would be no bound */
    struct explore_result found[2] = {explore(&o), explore_directed(&o, how & 128 ? NULL : &from)};
    for (unsigned i = 0; i < 2; i++) {
        if (found[i].broken && !s->model.variant)
            report(s, found[i].broken);
        require(s->model.variant || found[i].end != EXPLORE_UNFAIR, "a handshake does not end");
        require(s->model.variant || found[i].end != EXPLORE_UNSOUND, "a reduction does not hold");
        replay(&o, &found[i], i && !(how & 128) ? &from : NULL);
        free(found[i].trace);
    }
}

static void run(struct schedule *s, const char *order) {
    size_t size;
    struct schedule_result r = schedule_run(s, NULL, NULL);
    if (r.end == SCHEDULE_VIOLATION && !s->model.variant)
        report(s, r.broken);
    if (r.end != SCHEDULE_STUCK)
        free(print(schedule_columns, s, &size));
    if (r.end == SCHEDULE_DONE && order)
        search(s, &r.state, order);
    if (r.end != SCHEDULE_VIOLATION || r.steps > STEPS_REDUCED)
        return;
    schedule_reduce(s);
    struct schedule_result again = schedule_run(s, NULL, NULL);
    require(again.end == SCHEDULE_VIOLATION && (again.broken & r.broken) && s->n <= r.steps,
            "reduction loses the violation");
    round_trip(s);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    static char text[INPUT_MAX + 1]; /* ends by a zero, which sscanf wants */
    struct schedule s = {.n = 0};
    struct schedule_error error = {0};
    if (size > INPUT_MAX)
        return 0;
    current_begin(data, size);
    if (size) /* data may be NULL */
        memcpy(text, data, size);
    text[size] = '\0';
    if (schedule_parse(&s, text, size, &error)) {
        round_trip(&s);
        run(&s, strstr(text, "# search "));
    } else {
        require(error.line > 0 && error.column > 0 && error.message[0], "an error without a place");
    }
    schedule_free(&s);
    current_end();
    return 0;
}
