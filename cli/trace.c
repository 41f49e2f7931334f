/* SPDX-License-Identifier: MIT
 *
 * The trace: every operation as it runs, and what it changed (cli.h).
 *
 * Slots are shown as the subject has them, blocks by the names that reports use: b3 of the program,
 * n7 allocated by operation 7.
 */
#include "cli/cli.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

enum { SLOTS = GC_MUTATORS * GC_SLOTS, SLOT_TEXT = 40 };

static struct {
    char slots[SLOTS][SLOT_TEXT];
    size_t live, reachable;
    uint64_t skipped, refusals;
} last;

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

static void print_before(const struct runner *runner, unsigned op) {
    char line[VERDICT_TEXT];
    runner_operation(runner, op, line, sizeof line);
    if (op == OP_INITIAL) {
        memset(&last, 0, sizeof last);
        for (unsigned i = 0; i < SLOTS; i++)
            last.slots[i][0] = '0'; /* unit */
    }
    if (op < PROGRAM_OPS && runner_current(runner, NULL)->op == op)
        printf("%4u  %s\n", op, line);
    else
        printf("   -  %s\n", line);
}

static void print_after(struct runner *runner) {
    const struct run_counts *counts = &runner_current(runner, NULL)->counts;
    struct snapshot s;
    bool any = false;
    if (counts->skipped != last.skipped)
        printf("%sno effect: it has no meaning here", separator(&any));
    if (counts->refusals != last.refusals)
        printf("%sout of memory", separator(&any));
    last.skipped = counts->skipped;
    last.refusals = counts->refusals;
    if (runner_snapshot(runner, PARTY_SUBJECT, &s)) {
        print_slots(&s, &any);
        print_blocks(&s, &any);
    }
    if (any)
        printf("\n");
}

void trace(void *context, struct runner *runner, unsigned op, bool before) {
    (void)context;
    if (before)
        print_before(runner, op);
    else
        print_after(runner);
    fflush(stdout); /* the next operation may end the process */
}
