/* SPDX-License-Identifier: MIT
 *
 * Target fuzz_onthefly_text: schedules of the on-the-fly model as text.  The parser on any bytes;
 * what it takes survives being printed, runs, and shows its columns.  On the paper's collector no
 * invariant breaks, whatever the schedule, and neither in the first states that an exploration and
 * a directed search see from where it ends.  On a variant something may break; then the reduced
 * schedule breaks it too.
 */
#include "collectors/onthefly/schedule.h"
#include "fuzz/violate.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { INPUT_MAX = 1 << 16, STATES = 40, MEMORY = 8 << 20, STEPS_REDUCED = 300 };

static void require(bool good, const char *what) {
    if (good)
        return;
    fprintf(stderr, "isoheap: %s\n", what);
    abort();
}

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

/* A few states on, from the initial ones and from here. */
static void search(const struct schedule *s, const struct state *from, unsigned how) {
    struct explore_options o = {.model = s->model,
                                .reduction = (enum reduction)(how % 3),
                                .symmetry = how & 4,
                                .between = how & 8,
                                .fair = how & 16,
                                .invariants = s->invariants & ~(unsigned)INVARIANT(garbage),
                                .jobs = 1 + (how & 1),
                                .memory = MEMORY,
                                .states = STATES};
    if (o.model.mutators > 2 || o.model.refs > 3 || o.model.fields > 2)
        return;
    struct explore_result breadth = explore(&o), directed = explore_directed(&o, from);
    if (!s->model.variant && (breadth.broken | directed.broken))
        report(s, breadth.broken | directed.broken);
    require(s->model.variant || (breadth.end != EXPLORE_UNFAIR && directed.end != EXPLORE_UNFAIR),
            "a handshake does not complete");
    free(breadth.trace);
    free(directed.trace);
}

static void run(struct schedule *s, unsigned how) {
    size_t size;
    struct schedule_result r = schedule_run(s, NULL, NULL);
    if (r.end == SCHEDULE_VIOLATION && !s->model.variant)
        report(s, r.broken);
    if (r.end != SCHEDULE_STUCK)
        free(print(schedule_columns, s, &size));
    if (r.end == SCHEDULE_DONE)
        search(s, &r.state, how);
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
    struct schedule s = {.n = 0};
    struct schedule_error error = {0};
    unsigned how = 0;
    if (size > INPUT_MAX)
        return 0;
    for (size_t i = 0; i < size; i++)
        how = how * 31 + data[i];
    if (schedule_parse(&s, (const char *)data, size, &error)) {
        round_trip(&s);
        run(&s, how >> 3);
    } else {
        require(error.line > 0 && error.column > 0 && error.message[0], "an error without a place");
    }
    schedule_free(&s);
    return 0;
}
