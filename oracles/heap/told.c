/* SPDX-License-Identifier: MIT
 *
 * Oracle told: what a collector tells of its work, by gc_tell and gc_note_fill, is so, and what it
 * promises to tell without exception (trait tells) it tells.
 *
 * Traces, pictures and the coverage of a fuzzer believe it.  So each event is held against where
 * the blocks are, as far as the last walk and what has been told since say; and after a collection
 * the heap is walked, and must have come to what was told (told_places.c).  Who counts its steps
 * and tells of all blocks has counted one for each: between the first and the last of a row of
 * blocks that are scanned, or swept, or moved one after the other.
 *
 * What is found is the verdict of the operation in which it was found only if no other oracle has
 * found more by its end.
 *
 * Listening takes time, and what is listened to costs a call for each block: one program in so many
 * is, small ones as reductions come to in any case; and only as long as the words that are
 * walked for it are not too many.
 */
#include "oracles/heap/told.h"

#include <stdio.h>
#include <string.h>

enum { TOLD_SHARE = 64, TOLD_WORDS = 4096, TOLD_THOROUGH = 64 };
/* Small are so many operations in a heap that is none too small for them, or with an initial heap
 * any number of them. */
enum { TOLD_SMALL = 4, TOLD_HEAP = 256, TOLD_ROOM = 64, TOLD_OPS = 4 };

static bool is_asked_for_all(const struct judge *j) {
    return j->side->thorough & ORACLE_BIT(ORACLE_told);
}

static bool reset(struct judge *j) {
    struct told *t = j->state;
    t->listens = false;
    t->violation = VIOLATION_none;
    return false;
}

/* The program says which, and not what ran before: it has the same verdict each time.  Who has
 * `settled` works between calls too, and what is told there belongs to none of them. */
static bool is_in_sample(const struct judge *j) {
    if (j->side->collector->settled)
        return false;
    const struct model *m = j->model;
    const struct gc_config *c = &j->side->config;
    size_t sum = m->n_objects + 3 * m->n_words + 5 * c->heap_words + 7 * c->variant +
                 11 * c->nursery_words + 13 * c->mark_stack;
    bool plain = m->n_objects && c->variant == 0 && c->kind == 0;
    bool few = j->side->operations <= TOLD_OPS && c->heap_words >= TOLD_ROOM;
    bool small = m->n_words <= TOLD_SMALL && c->heap_words <= TOLD_HEAP && (plain || few);
    return is_asked_for_all(j) || small || sum % TOLD_SHARE == 0;
}

static bool built(struct judge *j) {
    struct told *t = j->state;
    t->budget = (size_t)TOLD_WORDS * (is_asked_for_all(j) ? TOLD_THOROUGH : 1);
    t->listens = is_in_sample(j) && j->side->graph.words <= t->budget;
    if (!t->listens)
        return false;
    memset(t->row_of, 0, sizeof t->row_of);
    t->n = 0;
    t->aside = false;
    t->young = t->found = 0;
    t->row = ROW_NONE;
    t->collection = j->side->hooks->collections;
    t->filled = 0;
    judge_walk(j);
    told_compare(j, NULL, false);
    j->services->listen(j);
    return false;
}

static bool sits_out(const struct judge *j) {
    const struct told *t = j->state;
    return !t->listens && !t->violation;
}

/* ---- what is noted ----------------------------------------------------------------------------
 */

void told_note(struct judge *j, enum violation v, const char *detail, const char *expected,
               const char *found, word value) {
    struct told *t = j->state;
    const struct graph *g = &j->side->graph;
    if (t->violation)
        return;
    j->noted = true;
    t->violation = v;
    t->detail = detail;
    word at = value - pointer_word(g->base);
    char where[64] = "outside the heap as it was last walked";
    if (at < g->words * sizeof(word) && at % sizeof(word) == 0)
        snprintf(where, sizeof where, "at word %zu of the heap", (size_t)(at / sizeof(word)));
    snprintf(t->expected, VERDICT_TEXT, "%s", expected);
    if (value)
        snprintf(t->found_text, VERDICT_TEXT, "%s, %s", found, where);
    else
        snprintf(t->found_text, VERDICT_TEXT, "%s", found);
}

static bool is_listening(const struct told *t) {
    return t->listens && !t->violation;
}

/* ---- steps ------------------------------------------------------------------------------------
 */

static uint64_t steps_now(const struct side *s) {
    return s->steps + (s->fuel - s->fuel_aside - s->hooks->fuel);
}

/* The step of the first block of a row may have been counted before it was told. */
static void end_row(struct judge *j, uint64_t now) {
    struct told *t = j->state;
    uint64_t steps = now - t->row_began + 1;
    enum told_row row = t->row;
    t->row = ROW_NONE;
    if (row == ROW_NONE || steps >= t->row_steps)
        return;
    char expected[VERDICT_TEXT / 4], found[VERDICT_TEXT / 4];
    snprintf(expected, sizeof expected, "%llu calls of gc_tick at least, one for each of a row",
             (unsigned long long)t->row_steps - 1);
    snprintf(found, sizeof found, "%llu", (unsigned long long)steps - 1);
    told_note(j, VIOLATION_told_wrong, "fewer steps have been counted than blocks were told of",
              expected, found, 0);
}

static void step_of_row(struct judge *j, enum told_row row, uint64_t steps) {
    struct told *t = j->state;
    uint64_t now = steps_now(j->side);
    if (!j->side->traits.ticks)
        return;
    if (row != t->row) {
        end_row(j, now);
        t->row = row;
        t->row_began = now;
        t->row_steps = 0;
    }
    t->row_steps += steps;
}

static bool phase(struct judge *j, enum gc_stage ended) {
    struct told *t = j->state;
    (void)ended;
    if (is_listening(t))
        end_row(j, steps_now(j->side));
    return false;
}

/* ---- events -----------------------------------------------------------------------------------
 */

static bool leads_into(word v, word block, word header) {
    return is_pointer(v) && v - block <= header_wosize(header) * sizeof(word);
}

/* The word at the place leads to the block, or already to where it has moved. */
static void expect_place(struct judge *j, const struct told_place *b, const word *place, word to) {
    if (place && !leads_into(*place, b->value, b->header) &&
        !(to && leads_into(*place, to, b->header)))
        told_note(j, VIOLATION_told_wrong,
                  "a block has been told as found through a word that does not lead to it",
                  "a slot or a field that leads to the block, or NULL", "another word", b->value);
}

static void expect_nothing_else(struct judge *j, const struct told_place *b, const word *place,
                                word to) {
    if (place || to)
        told_note(j, VIOLATION_told_wrong, "an event has been told with a word that it has not",
                  "no place and no new value", "one of them", b->value);
}

static void found_through(struct judge *j) {
    struct told *t = j->state;
    uint64_t collections = j->side->hooks->collections;
    if (t->collection != collections)
        t->found = 0;
    t->collection = collections;
    t->found++;
}

/* A cycle may have begun while the initial heap was built by calls, and nobody has listened. */
static bool is_known_from_the_start(const struct judge *j) {
    return j->side->collector->image;
}

static void marked(struct judge *j, struct told_place *b, const word *place, word to) {
    expect_place(j, b, place, 0);
    expect_nothing_else(j, b, NULL, to);
    if (b->waits && is_known_from_the_start(j) && told_without_exception(j, GC_SCANNED))
        told_note(
            j, VIOLATION_told_wrong,
            "a block has been told as found for the first time, and was not scanned before it "
            "was again",
            "once before it is scanned", "a block that is found twice", b->value);
    b->found = j->side->calls;
    b->waits = true;
}

static void set_aside(struct judge *j, struct told_place *b, const word *place, word to) {
    struct told *t = j->state;
    const struct side *s = j->side;
    size_t entries = s->config.mark_stack ? s->config.mark_stack : s->config.heap_words;
    expect_nothing_else(j, b, place, to);
    if (!b->waits && is_known_from_the_start(j) && told_without_exception(j, GC_MARKED))
        told_note(j, VIOLATION_told_wrong, "a block that waits for nothing has been set aside",
                  "one that has been found, and not scanned since", "another one", b->value);
    if (told_without_exception(j, GC_TELLS_FILL) && s->hooks->fill[GC_FILL_MARK_STACK] <= entries)
        told_note(j, VIOLATION_told_wrong,
                  "a block has been set aside while the mark stack has room",
                  "more entries than the mark stack has, by gc_note_fill", "no more", b->value);
    t->aside = b->aside = true;
}

static void scanned(struct judge *j, struct told_place *b, const word *place, word to) {
    const struct side *s = j->side;
    bool arrived = b->arrived == s->hooks->collections + 1;
    expect_nothing_else(j, b, place, to);
    if (!b->waits && !arrived && is_known_from_the_start(j) && told_without_exception(j, GC_MARKED))
        told_note(j, VIOLATION_told_wrong,
                  "a block has been told as scanned, and not as found before",
                  "found, then scanned",
                  "a block that has not been found since it was scanned last", b->value);
    if (told_without_exception(j, GC_SCANNED))
        step_of_row(j, ROW_SCANNED, b->aside ? 2 : 1);
    b->scanned = s->calls;
    b->waits = b->aside = false;
}

static void moved(struct judge *j, struct told_place *b, const word *place, word to) {
    struct told *t = j->state;
    uint64_t now = j->side->hooks->collections + 1;
    expect_place(j, b, place, to);
    if (place)
        found_through(j);
    else if (told_without_exception(j, GC_MOVED))
        step_of_row(j, ROW_SLID, 1);
    struct told_place *n = is_pointer(to) && to % sizeof(word) == 0 ? told_place(t, to) : NULL;
    if (!n) {
        t->listens = false; /* too many; a wild one is found where no walk shows it */
        if (t->n < TOLD_PLACES)
            told_note(j, VIOLATION_told_wrong, "a block has been told as moved to no address",
                      "the value that it has now", "a word that is none", b->value);
        return;
    }
    *n = (struct told_place){.value = to,
                             .header = b->header,
                             .arrived = now,
                             .found = j->side->calls,
                             .scanned = b->scanned,
                             .waits = b->waits,
                             .aside = b->aside,
                             .here = true};
    if (n == b) /* it has moved to where it is */
        return;
    b->here = b->waits = false;
    b->left = now;
    b->to = to;
}

static void forwarded(struct judge *j, const struct told_place *b, const word *place, word to) {
    bool was_moved = b->left == j->side->hooks->collections + 1 && b->to == to;
    found_through(j);
    expect_place(j, b, place, to);
    if (!was_moved)
        told_note(j, VIOLATION_told_wrong,
                  "a block has been told as found again, and not as moved there before",
                  "moved, then found again in the same collection", "another block, or value",
                  b->value);
}

static void swept(struct judge *j, struct told_place *b, const word *place, word to) {
    expect_nothing_else(j, b, place, to);
    if (told_without_exception(j, GC_SWEPT))
        step_of_row(j, ROW_SWEPT, 1);
    b->here = b->waits = b->aside = false;
    b->swept = j->side->calls;
}

static bool told(struct judge *j, enum gc_event event, word block, const word *place, word to) {
    struct told *t = j->state;
    if (!is_listening(t))
        return false;
    struct told_place *b = told_find(t, block);
    if (!b || (!b->here && event != GC_FORWARDED)) {
        told_note(j, VIOLATION_told_wrong, "something has been told of a block that is not there",
                  "the value of a block that has not been told as moved or swept",
                  b ? "a block that has" : "no such value", block);
        return false;
    }
    switch (event) {
    case GC_MARKED:
        marked(j, b, place, to);
        break;
    case GC_SET_ASIDE:
        set_aside(j, b, place, to);
        break;
    case GC_SCANNED:
        scanned(j, b, place, to);
        break;
    case GC_MOVED:
        moved(j, b, place, to);
        break;
    case GC_FORWARDED:
        forwarded(j, b, place, to);
        break;
    case GC_SWEPT:
        swept(j, b, place, to);
        break;
    }
    return false;
}

/* ---- after a call -----------------------------------------------------------------------------
 */

/* A young block that has come without a collection lies behind all others in the nursery.  What is
 * noted is the most for some time. */
static void compare_fill(struct judge *j, const struct request *request) {
    struct told *t = j->state;
    struct side *s = j->side;
    size_t entries = s->config.mark_stack ? s->config.mark_stack : s->config.heap_words;
    char expected[VERDICT_TEXT / 4], found[VERDICT_TEXT / 4];
    if (s->traits.rescans && told_without_exception(j, GC_SET_ASIDE) && !t->aside &&
        s->hooks->fill[GC_FILL_MARK_STACK] > entries)
        told_note(
            j, VIOLATION_told_wrong,
            "the mark stack was too small by gc_note_fill, and no block was told as set aside",
            "no more entries than it has", "more", 0);
    bool young = request && request->answer == GC_OK && s->hooks->collections == s->collected &&
                 s->collector->young && s->collector->young(s->gc, request->block);
    size_t noted = s->hooks->fill[GC_FILL_NURSERY];
    bool larger_before = noted == t->filled && noted > t->young;
    if (!young || larger_before || noted == t->young)
        return;
    snprintf(expected, sizeof expected, "%zu words in the nursery, by gc_note_fill", t->young);
    snprintf(found, sizeof found, "%zu", noted);
    told_note(j, VIOLATION_told_wrong,
              "gc_note_fill does not say how many words the nursery has in use", expected, found,
              0);
}

static void add_block(struct judge *j, const struct request *request) {
    struct told *t = j->state;
    word v = request->block;
    struct told_place *b = is_pointer(v) && v % sizeof v == 0 ? told_place(t, v) : NULL;
    if (!b) {
        t->listens = false;
        return;
    }
    bool young = j->side->collector->young && j->side->collector->young(j->side->gc, v);
    *b = (struct told_place){.value = v,
                             .here = true,
                             .young = young,
                             .header = header_make(request->wosize, WHITE, request->tag)};
    t->young += young ? request->wosize + 1 : 0;
}

/* Has anything been freed or moved since the last comparison?  Others may have walked since. */
static bool is_changed(struct judge *j) {
    const struct told *t = j->state;
    const struct side *s = j->side;
    return s->hooks->collections != t->compared ||
           (s->collector->cycle && cycle_has_moved(t->cycle, j->services->cycle(j)));
}

static bool called(struct judge *j, const struct request *request, bool full) {
    struct told *t = j->state;
    if (!is_listening(t))
        return false;
    end_row(j, j->side->steps);
    bool changed = is_changed(j);
    if (changed) {
        if (t->budget < j->side->graph.words) {
            t->listens = false;
            return false;
        }
        t->budget -= j->side->graph.words;
        judge_walk(j);
        told_compare(j, request, full);
    } else if (request && request->answer == GC_OK) {
        add_block(j, request);
    }
    if (t->listens && told_without_exception(j, GC_TELLS_FILL))
        compare_fill(j, request);
    t->filled = j->side->hooks->fill[GC_FILL_NURSERY];
    return changed;
}

static void raise_noted(struct judge *j) {
    const struct told *t = j->state;
    memcpy(j->expected, t->expected, VERDICT_TEXT);
    memcpy(j->found, t->found_text, VERDICT_TEXT);
    judge_fail(j, t->violation, t->detail);
}

/* If the heaps are still to be compared, what that finds comes first. */
static bool noted(struct judge *j) {
    const struct told *t = j->state;
    if (t->violation && j->side->hooks->collections == j->side->compared)
        raise_noted(j);
    return false;
}

static bool compared(struct judge *j, enum occasion when) {
    (void)when;
    const struct told *t = j->state;
    if (t->violation)
        raise_noted(j);
    return false;
}

static bool ended(struct judge *j) {
    return compared(j, AT_END);
}

const struct oracle_module oracle_told = {
    .meaning = "what gc_tell and gc_note_fill say is so, and is all that is promised",
    .source = "isoheap: collectors/collector.h, enum gc_event; trait tells",
    .classes = {VIOLATION_told_wrong, VIOLATION_promise_broken},
    .needs = 1u << NEED_walk | 1u << NEED_tells,
    .state = sizeof(struct told),
    .samples = true,
    .sits_out = sits_out,
    .reset = reset,
    .built = built,
    .told = told,
    .phase = phase,
    .called = called,
    .noted = noted,
    .compared = compared,
    .ended = ended,
};
