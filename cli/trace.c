/* SPDX-License-Identifier: MIT
 *
 * The trace: every operation as it runs, and what it changed (cli.h).
 *
 * Slots are shown as the subject has them, blocks by the names that reports use: b3 of the program,
 * n7 allocated by operation 7.
 */
#include "cli/cli.h"

#include "pictures/states.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

enum {
    SLOTS = GC_MUTATORS * GC_SLOTS,
    SLOT_TEXT = 40,
    COLUMN = 34 /* characters of a mutator's */
};

static struct {
    char slots[SLOTS][SLOT_TEXT];
    size_t live, reachable;
    uint64_t skipped, refusals;
    unsigned mutators;
} last;

static struct states_switches switches; /* since the operation began */

/* Sections in which all mutators stand, in their order, since the operation began. */
enum { SECTIONS = 8 };
static struct {
    unsigned n; /* also those that are not kept */
    struct section {
        bool told[GC_MUTATORS], asked[GC_MUTATORS], left[GC_MUTATORS];
        uint64_t begun[GC_MUTATORS], ended[GC_MUTATORS];
    } at[SECTIONS];
} sections;

static void slot_text(const struct snapshot *s, unsigned slot, char *out) {
    word v = s->slots[slot];
    struct snapshot_edge edge = snapshot_resolve(s, v);
    const char *name = edge.block == SIZE_MAX ? "" : s->blocks[edge.block].name;
    if (!edge.pointer && snapshot_address(s, v, out, SLOT_TEXT))
        return; /* another number in each process */
    if (is_immediate(v))
        snprintf(out, SLOT_TEXT, "%" PRId64, immediate_value(v));
    else if (!edge.pointer)
        snprintf(out, SLOT_TEXT, "0x%" PRIx64 " (outside)", v);
    else if (edge.block == SIZE_MAX)
        snprintf(out, SLOT_TEXT, "a pointer to no block");
    else if (edge.offset)
        snprintf(out, SLOT_TEXT, "%s+%zu", name[0] ? name : "?", edge.offset);
    else
        snprintf(out, SLOT_TEXT, "%s", name[0] ? name : "?");
}

/* What stands between two changes on a line. */
static const char *separator(bool *any) {
    const char *s = *any ? ", " : "      ";
    *any = true;
    return s;
}

static void print_slots(const struct snapshot *s, bool *any) {
    char text[SLOT_TEXT];
    for (unsigned i = 0; i < s->mutators * GC_SLOTS; i++) {
        if (i % GC_SLOTS >= PROGRAM_SLOTS)
            continue; /* the harness's own */
        slot_text(s, i, text);
        if (strcmp(text, last.slots[i]) == 0)
            continue;
        printf("%s", separator(any));
        if (i >= GC_SLOTS)
            printf("mutator %u: ", i / GC_SLOTS);
        printf("r%u = %s", i % GC_SLOTS, text);
        memcpy(last.slots[i], text, sizeof text);
    }
}

static void print_blocks(const struct snapshot *s, bool *any) {
    size_t live = 0, reachable = 0;
    for (size_t i = 0; i < s->n_blocks; i++)
        if (s->blocks[i].extent == GC_LIVE) {
            live++;
            reachable += s->blocks[i].reachable;
        }
    if (live == last.live && reachable == last.reachable)
        return;
    printf("%s%zu block%s", separator(any), live, live == 1 ? "" : "s");
    if (reachable != live)
        printf(", %zu of them unreachable", live - reachable);
    last.live = live;
    last.reachable = reachable;
}

/* Who went on, and where: a schedule's decisions are numbered from the reset on. */
static void print_switches(bool *any) {
    if (switches.n)
        printf("%s", separator(any));
    states_print_switches(&switches, stdout);
}

/* Who asked for it, and between which decisions each stood. */
static void section_text(const struct section *s, unsigned m, char *out, size_t capacity) {
    const char *what = s->asked[m] ? "stops all" : "stands";
    out[0] = '\0';
    if (s->left[m])
        snprintf(out, capacity, "%s %" PRIu64 " to %" PRIu64, what, s->begun[m], s->ended[m]);
    else if (s->told[m])
        snprintf(out, capacity, "%s from %" PRIu64 " on", what, s->begun[m]);
}

/* A line for each, with a cell in the column of each mutator. */
static void print_sections(unsigned mutators) {
    char text[GC_MUTATORS * COLUMN];
    for (unsigned i = 0; i < sections.n && i < SECTIONS; i++) {
        int gap = 6; /* to the column */
        for (unsigned m = 0; m < mutators; m++, gap += COLUMN) {
            section_text(&sections.at[i], m, text, sizeof text);
            if (text[0])
                gap -= printf("%*s%s", gap, "", text);
        }
        printf("\n");
    }
    if (sections.n > SECTIONS)
        printf("      all stop %u times more\n", sections.n - SECTIONS);
}

static void print_columns(unsigned mutators) {
    last.mutators = mutators;
    printf("      ");
    for (unsigned m = 0; m < mutators; m++)
        printf("mutator %-*u", m + 1 < mutators ? COLUMN - 8 : 1, m);
    printf("\n");
}

static void print_before(const struct runner *runner, unsigned op) {
    char line[VERDICT_TEXT];
    unsigned column = 0; /* of its mutator, if there are several */
    if (last.mutators > 1)
        column = runner_operation_apart(runner, op, line, sizeof line);
    else
        runner_operation(runner, op, line, sizeof line);
    switches.n = 0;
    memset(&sections, 0, sizeof sections);
    if (op == OP_INITIAL) {
        memset(&last, 0, sizeof last);
        for (unsigned i = 0; i < SLOTS; i++)
            last.slots[i][0] = '0'; /* unit */
    }
    if (op < PROGRAM_OPS && runner_current(runner, NULL)->op == op)
        printf("%4u  ", op);
    else
        printf("   -  ");
    printf("%*s%s\n", (int)(column * COLUMN), "", line);
}

static void print_after(struct runner *runner) {
    const struct run_counts *counts = &runner_current(runner, NULL)->counts;
    struct snapshot s = {.mutators = 1};
    bool any = false;
    if (counts->skipped != last.skipped)
        printf("%sno effect: it has no meaning here", separator(&any));
    if (counts->refusals != last.refusals)
        printf("%sout of memory", separator(&any));
    last.skipped = counts->skipped;
    last.refusals = counts->refusals;
    bool seen = runner_snapshot(runner, PARTY_SUBJECT, &s);
    if (seen && s.unsettled)
        printf("%snot settled", separator(&any));
    else if (seen) {
        print_slots(&s, &any);
        print_blocks(&s, &any);
    }
    print_switches(&any);
    if (any)
        printf("\n");
    if (last.mutators)
        print_sections(last.mutators);
    if (s.mutators > 1 && !last.mutators)
        print_columns(s.mutators);
}

void trace_switch(void *context, uint64_t decision, uint64_t thread) {
    (void)context;
    states_note_switch(&switches, decision, thread);
}

/* The end may be told when the next one has begun, and is of the first that has none. */
static void leave_section(unsigned m, uint64_t decision) {
    for (unsigned i = 0; i < sections.n && i < SECTIONS; i++) {
        struct section *s = &sections.at[i];
        if (s->told[m] && !s->left[m]) {
            s->left[m] = true;
            s->ended[m] = decision;
            return;
        }
    }
}

void trace_section(void *context, enum gc_section what, unsigned m, uint64_t decision) {
    (void)context;
    if (what == GC_SECTION_LEFT) {
        leave_section(m, decision);
        return;
    }
    sections.n += what == GC_SECTION_ASKED;
    if (!sections.n || sections.n > SECTIONS)
        return;
    struct section *s = &sections.at[sections.n - 1];
    s->told[m] = true;
    s->asked[m] = what == GC_SECTION_ASKED;
    s->begun[m] = decision;
}

void trace(void *context, struct runner *runner, unsigned op, bool before) {
    (void)context;
    if (before)
        print_before(runner, op);
    else
        print_after(runner);
    fflush(stdout); /* the next operation may end the process */
}
