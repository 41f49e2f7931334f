/* SPDX-License-Identifier: MIT
 *
 * Reading and replaying schedules of the on-the-fly model (cli/schedule.h).
 */
#define _POSIX_C_SOURCE 200809L /* open_memstream */
#include "cli/schedule.h"

#include <stdlib.h>
#include <string.h>

bool is_schedule_file(const char *path) {
    char start[32];
    FILE *file = strcmp(path, "-") == 0 ? NULL : fopen(path, "rb");
    if (!file)
        return false;
    size_t size = fread(start, 1, sizeof start, file);
    fclose(file);
    return schedule_looks_like_text(start, size);
}

bool read_schedule(const char *path, struct schedule *s) {
    size_t size = 0;
    struct schedule_error error;
    uint8_t *data = read_input(path, &size);
    if (!data)
        return false;
    bool good = schedule_parse(s, (const char *)data, size, &error);
    if (!good)
        fprintf(stderr, "%s:%u:%u: %s\n", path, error.line, error.column, error.message);
    free(data);
    return good;
}

/* ---- names ------------------------------------------------------------------------------------
 */

enum violation broken_class(unsigned broken) {
    return broken ? violation_named(invariant_class(invariant_first(broken))) : VIOLATION_none;
}

/* A sum of bits for a list of names. */
static bool choose_bits(const char *list, const char *(*name)(unsigned), unsigned count,
                        uint64_t *bits) {
    for (*bits = 0; *list;) {
        size_t length = strcspn(list, ",");
        unsigned i = 0;
        while (i < count && (strlen(name(i)) != length || memcmp(name(i), list, length) != 0))
            i++;
        if (i == count) {
            fprintf(stderr, "isoheap: %.*s is not one of:", (int)length, list);
            for (i = 0; i < count; i++)
                fprintf(stderr, " %s", name(i));
            fprintf(stderr, "\n");
            return false;
        }
        *bits |= (uint64_t)1 << i;
        list += length + (list[length] == ',');
    }
    return true;
}

unsigned choose_invariants(const char *list) {
    uint64_t bits = 0;
    if (strcmp(list, "all") == 0)
        return INVARIANTS_ALL;
    if (strcmp(list, "safety") == 0)
        return INVARIANTS_SAFETY;
    bool safety = strncmp(list, "safety,", 7) == 0;
    if (!choose_bits(list + (safety ? 7 : 0), invariant_name, INVARIANT_COUNT, &bits))
        return 0;
    return (unsigned)bits | (safety ? INVARIANTS_SAFETY : 0);
}

bool choose_variants(const char *list, uint64_t *variants) {
    return choose_bits(list, variant_name, VARIANT_COUNT, variants);
}

/* ---- replay -----------------------------------------------------------------------------------
 */

static void print_broken(const struct schedule *s, const struct schedule_result *r) {
    for (unsigned i = 0; i < INVARIANT_COUNT; i++)
        if (r->broken >> i & 1)
            printf("  broken     %s: %s\n", invariant_name(i), invariant_statement(i));
    for (unsigned i = 0; i < VARIANT_COUNT; i++)
        if (s->model.variant >> i & 1)
            printf("  variant    %s: %s\n", variant_name(i), variant_meaning(i));
}

static void print_verdict(const char *path, const struct schedule *s,
                          const struct schedule_result *r) {
    char step[48];
    const char *on = wants_colour() ? "\033[1;31m" : "", *off = wants_colour() ? "\033[0m" : "";
    if (r->end == SCHEDULE_DONE) {
        printf("%s: ok, %llu steps\n", path, (unsigned long long)r->steps);
        return;
    }
    if (r->step < s->n)
        schedule_step_text(&s->steps[r->step], step, sizeof step);
    else
        snprintf(step, sizeof step, "the initial state");
    printf("%s: %sviolation %s%s at step %llu: %s\n", path, on,
           violation_name(broken_class(r->broken)), off, (unsigned long long)r->steps, step);
}

static int print_stuck(const char *path, const struct schedule *s,
                       const struct schedule_result *r) {
    char step[48];
    const struct action *x = &s->steps[r->step];
    schedule_step_text(x, step, sizeof step);
    fprintf(stderr, "isoheap: %s: step %llu, `%s`, cannot be taken: the process is at %s (%s)\n",
            path, (unsigned long long)r->step + 1, step, model_label(&r->state, x->process),
            model_label_meaning(&r->state, x->process));
    return EXIT_UNREADABLE;
}

bool schedule_leads_to(const char *path, const struct schedule *s, struct state *state) {
    struct schedule unchecked = *s; /* shares the steps */
    unchecked.invariants = 0;
    struct schedule_result r = schedule_run(&unchecked, NULL, NULL);
    *state = r.state;
    if (r.end == SCHEDULE_STUCK)
        print_stuck(path, s, &r);
    return r.end != SCHEDULE_STUCK;
}

static bool write_as(void (*print)(const struct schedule *, FILE *), const struct schedule *s,
                     const char *path) {
    char *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);
    if (!out)
        return false;
    print(s, out);
    bool good = fclose(out) == 0 && write_file(path, text, size);
    free(text);
    return good;
}

bool write_schedule(const struct schedule *s, const char *path) {
    return write_as(schedule_print, s, path);
}

int show_schedule(const char *path, bool columns, const char *out) {
    struct schedule s = {.n = 0};
    struct state end;
    if (!read_schedule(path, &s))
        return EXIT_UNREADABLE;
    int status = EXIT_UNREADABLE;
    if (!columns || schedule_leads_to(path, &s, &end))
        status =
            write_as(columns ? schedule_columns : schedule_print, &s, out) ? EXIT_OK : EXIT_USAGE;
    schedule_free(&s);
    return status;
}

int reduce_schedule(const char *path, const char *out) {
    struct schedule s = {.n = 0};
    if (!read_schedule(path, &s))
        return EXIT_UNREADABLE;
    struct schedule_result r = schedule_run(&s, NULL, NULL);
    int status = EXIT_OK;
    if (r.end == SCHEDULE_STUCK) {
        status = print_stuck(path, &s, &r);
    } else if (r.end == SCHEDULE_DONE) {
        fprintf(stderr, "isoheap: %s raises no violation: nothing to reduce\n", path);
        status = EXIT_NOTHING;
    } else {
        schedule_reduce(&s);
        fprintf(stderr, "isoheap: %s: %zu steps, from %llu\n",
                violation_name(broken_class(r.broken)), s.n, (unsigned long long)r.steps);
        status = write_schedule(&s, out) ? EXIT_OK : EXIT_USAGE;
    }
    schedule_free(&s);
    return status;
}

int replay_schedule(const char *path, unsigned invariants, enum violation expected, bool columns,
                    bool quiet) {
    struct schedule s = {.n = 0};
    if (!read_schedule(path, &s))
        return EXIT_UNREADABLE;
    if (invariants)
        s.invariants = invariants;
    struct schedule_result r = schedule_run(&s, NULL, NULL);
    int status = EXIT_OK;
    if (r.end == SCHEDULE_STUCK) {
        status = print_stuck(path, &s, &r);
    } else {
        print_verdict(path, &s, &r);
        bool good = broken_class(r.broken) == expected;
        status = good ? EXIT_OK : EXIT_VIOLATION;
        if (expected != VIOLATION_none && !good)
            printf("  expected %s\n", violation_name(expected));
        if (r.broken && !quiet && !good)
            print_broken(&s, &r);
        if (columns || (r.broken && !quiet && !good))
            schedule_columns(&s, stdout);
    }
    schedule_free(&s);
    return status;
}
