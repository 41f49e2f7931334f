/* SPDX-License-Identifier: MIT
 *
 * The conformance kit: what a collector tells of the phases of a collection, and shows of its mark
 * stack (conform.h).
 */
#include "conformance/internal.h"

CLAIMED(tells_phases)

/* One look, where a phase has ended. */
struct marking {
    struct conform *c;
    enum gc_stage ended;
    unsigned gray, entries; /* blocks, and those of them that the mark stack has */
    bool others;            /* gray blocks may be elsewhere */
};

static void visit_entry(void *context, const word *first, const word *end) {
    struct marking *m = context;
    m->others |= end != NULL;
    m->entries += !end;
    if (!end && header_colour(*first) != GRAY)
        broken(m->c, "mark_stack visits a block that is not gray");
}

static void visit_colour(void *context, enum gc_extent kind, const word *header, size_t words) {
    struct marking *m = context;
    (void)words;
    if (kind != GC_LIVE)
        return; /* an unused extent has no header */
    unsigned colour = header_colour(*header);
    m->gray += colour == GRAY;
    if (m->ended == GC_MARKED_ALL && colour == GRAY)
        broken(m->c, "hooks->phase is told that all is marked, and a block is gray");
    if (m->ended == GC_SWEPT_ALL && colour != WHITE)
        broken(m->c, "hooks->phase is told that all is swept, and a block is not white");
}

static void expect_dark_root(struct conform *c, enum gc_stage ended) {
    word v = c->slots[0][0];
    if (is_pointer(v) && ended != GC_SWEPT_ALL && header_colour(header_of(v)) == WHITE)
        broken(c, "hooks->phase is told that roots are darkened, and the block in slot 0 is white");
}

static void look_at_phase(struct conform *c, enum gc_stage ended) {
    struct marking m = {c, ended, 0, 0, false};
    if (c->ends++ == 0 && c->amid)
        c->phases = ended; /* whichever that cycle was in */
    if ((unsigned)ended != c->phases % GC_STAGES)
        broken(c, "hooks->phase is told of the end of a phase that is not under way: %u after %u",
               (unsigned)ended, (c->phases + GC_STAGES - 1) % GC_STAGES);
    c->phases++;
    c->collector->walk(c->gc, visit_colour,
                       &m); /* a heap of copies is made anew with its colours */
    c->collector->mark_stack(c->gc, visit_entry, &m);
    expect_dark_root(c, ended);
    if (m.gray > m.entries && !m.others)
        broken(c, "%u blocks are gray, and mark_stack visits %u, and nothing to look through",
               m.gray, m.entries);
    if (m.gray < m.entries)
        broken(c, "%u blocks are gray, and mark_stack visits %u", m.gray, m.entries);
}

/* One after the other, and all of them; the last one ends a cycle, unless the next has begun. */
static void collect_and_look(struct conform *c) {
    c->phases = c->ends = 0;
    c->amid = is_in_cycle(c);
    c->phase_ended = look_at_phase;
    collect(c, GC_FULL);
    c->phase_ended = NULL;
    if (c->ends < GC_STAGES || (c->phases % GC_STAGES != 0 && !is_in_cycle(c)))
        broken(c, "a full collection has told hooks->phase of the ends of %u phases", c->ends);
}

/* Young blocks first, which a collection may move; old ones when it comes again. */
static void check_tells_phases(struct conform *c) {
    unsigned n = 2u << c->scale;
    for (unsigned round = 0; round < 3; round++) {
        make_list(c, n);
        make_node(c, 0, 1, n); /* garbage */
        c->slots[0][1] = WORD_UNIT;
        collect(c, GC_MINOR);
        collect_fully(c); /* ends what is under way */
        collect_and_look(c);
        expect_list(c, n, "after a collection that was looked at");
    }
}

const struct conform_step conform_marking[] = {
    {"tells_phases", "a full collection tells of its phases, and shows what is gray in between",
     claims_tells_phases, check_tells_phases},
    {NULL, NULL, NULL, NULL}};
