/* SPDX-License-Identifier: MIT
 *
 * The conformance kit: several mutators, who come and go, and a heap that is not always to be
 * looked at (conform.h).
 */
#include "conformance/internal.h"

enum { SHARE = 48, /* of the heap: the budget of a slice in between */ COMINGS = 6 };

static unsigned all_mutators(const struct conform *c) {
    return c->traits.max_mutators < GC_MUTATORS ? c->traits.max_mutators : GC_MUTATORS;
}

static const char *has_mutators(const struct conform *c) {
    return c->traits.max_mutators > 1 ? NULL : "max_mutators is 1";
}

/* What one has allocated is written by the next, and held by it alone. */
static void check_mutators(struct conform *c) {
    unsigned n = all_mutators(c);
    size_t rounds = c->words / (2 * 3 * (size_t)n); /* who never frees has half of the heap left */
    fresh_heap(c, c->words, n);
    for (unsigned round = 0; round < 6 && round < rounds; round++) {
        for (unsigned m = 0; m < n; m++)
            make_node(c, m, 0, 10 * round + m);
        if (c->collector->step && round % 2)
            slice(c, c->words / SHARE + 1);
        for (unsigned m = 0; m < n; m++) {
            c->slots[m][1] = c->slots[(m + 1) % n][0];
            set_field(c, m, 0, 1, 1);
        }
        for (unsigned m = 0; m < n; m++)
            c->slots[m][1] = WORD_UNIT;
        c->slots[0][0] = WORD_UNIT; /* mutator n - 1 holds it through a field */
        collect(c, conform_each[round % COLLECTIONS].kind);
        get_field(c, n - 1, 1, 0, 1);
        expect_node(c, n - 1, 1, 10 * round, "what a block of another mutator alone leads to:");
        for (unsigned m = 1; m < n; m++)
            expect_node(c, m, 0, 10 * round + m, conform_each[round % COLLECTIONS].when);
        c->slots[n - 1][1] = WORD_UNIT;
        set_field(c, n - 1, 0, 1, 1); /* the ring is cut: who counts references frees no cycle */
    }
}

/* ---- mutators that come and go ----------------------------------------------------------------
 */

static const char *has_attach(const struct conform *c) {
    return !c->collector->attach ? "no functions attach and detach: mutators are there all the time"
                                 : has_mutators(c);
}

static void expect_empty(struct conform *c, unsigned m, const char *call) {
    for (unsigned s = 0; s < GC_SLOTS; s++)
        if (c->slots[m][s] != WORD_UNIT)
            broken(c, "%s of mutator %u wrote into slot %u of that mutator", call, m, s);
}

static void go(struct conform *c, unsigned m) {
    for (unsigned s = 0; s < GC_SLOTS; s++)
        c->slots[m][s] = WORD_UNIT;
    c->hooks->fuel = FUEL;
    c->hooks->mutator = m;
    c->collector->detach(c->gc, m);
    c->hooks->mutator = 0;
    c->gone |= 1u << m;
    expect_empty(c, m, "detach");
}

static void come(struct conform *c, unsigned m) {
    c->hooks->fuel = FUEL;
    c->hooks->mutator = m;
    c->collector->attach(c->gc, m);
    c->hooks->mutator = 0;
    c->gone &= ~(1u << m);
    expect_empty(c, m, "attach");
}

/* What it has made lives on where another holds it, and nobody waits for it. */
static void check_attach(struct conform *c) {
    unsigned n = all_mutators(c), last = n - 1;
    fresh_heap(c, c->words, n);
    make_node(c, 0, 0, 1);
    for (unsigned round = 0; round < COMINGS; round++) {
        const struct conform_collection *each = &conform_each[round % COLLECTIONS];
        make_node(c, last, 0, 10 + round);
        c->slots[0][1] = c->slots[last][0];
        set_field(c, 0, 0, 1, 1);
        c->slots[0][1] = WORD_UNIT;
        if (c->collector->step && round % 2)
            slice(c, c->words / SHARE + 1);
        go(c, last);
        expect_node(c, 0, 0, 1, "after a mutator has gone");
        collect(c, each->kind);
        get_field(c, 0, 1, 0, 1);
        expect_node(c, 0, 1, 10 + round, "what a mutator has made that has gone since:");
        c->slots[0][1] = WORD_UNIT;
        come(c, last);
        expect_node(c, 0, 0, 1, "after a mutator has come again");
        collect(c, each->kind);
    }
}

/* ---- settled ----------------------------------------------------------------------------------
 */

static const char *has_settled(const struct conform *c) {
    return c->collector->settled ? NULL : "no function settled: always to be looked at";
}

static void check_settled(struct conform *c) {
    unsigned n = all_mutators(c);
    fresh_heap(c, c->words, n);
    for (unsigned i = 0; i < 2u << c->scale; i++) {
        make_node(c, i % n, 0, i);
        settle(c);
        expect_node(c, i % n, 0, i, "after the polls that settle the heap");
        collect(c, conform_each[i % COLLECTIONS].kind);
        settle(c);
        bool once = c->collector->settled(c->gc);
        if (!once || !c->collector->settled(c->gc))
            broken(c, "settled answers yes and then no, with no call in between");
    }
}

const struct conform_step conform_mutators[] = {
    {"mutators", "blocks that mutators hand to each other are kept", has_mutators, check_mutators},
    {"attach", "a mutator that goes takes nothing along and leaves nobody waiting", has_attach,
     check_attach},
    {"settled", "polls lead to where the heap may be looked at", has_settled, check_settled},
    {NULL, NULL, NULL, NULL}};
