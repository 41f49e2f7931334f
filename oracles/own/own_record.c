/* SPDX-License-Identifier: MIT
 *
 * What can be reached in the own heap of a collector (own_record.h).
 */
#include "oracles/own/own_record.h"

#include "oracles/describe.h"

#include <stdio.h>

/* ---- blocks -----------------------------------------------------------------------------------
 */

/* The last extent that begins before v. */
static struct gc_own_extent *extent_before(const struct gc_own *own, word v) {
    size_t low = 0, high = own->n;
    while (low < high) {
        size_t middle = (low + high) / 2;
        if (pointer_word(own->extents[middle].header) < v)
            low = middle + 1;
        else
            high = middle;
    }
    return low ? &own->extents[low - 1] : NULL;
}

struct gc_own_extent *own_find(const struct gc_own *own, word v) {
    if (is_immediate(v) || v % sizeof(word))
        return NULL;
    struct gc_own_extent *e = extent_before(own, v);
    if (!e || !own_is_block(e) || v >= pointer_word(e->header + e->words))
        return NULL;
    bool infix = header_tag(header_of(v)) == TAG_INFIX && infix_parent(v) == own_value(e);
    return v == own_value(e) || infix ? e : NULL;
}

struct gc_own_extent *own_at(const struct gc_own *own, const word *header) {
    struct gc_own_extent *e = extent_before(own, pointer_word(header + 1));
    return e && e->header == header ? e : NULL;
}

bool own_holds(const struct gc_own *own, const word *first, const word *end) {
    word place = pointer_word(first);
    if (place > pointer_word(end) || place % sizeof(word))
        return false;
    const struct gc_own_extent *e = extent_before(own, place + 1), *behind = own->extents + own->n;
    for (; e && e < behind && !e->young && pointer_word(e->header) <= place; e++) {
        place = pointer_word(e->header + e->words);
        if (place >= pointer_word(end))
            return true;
    }
    return false;
}

size_t own_first_field(const struct gc_own_extent *e) {
    return e->weak ? e->words - 1 : first_scanned(own_value(e));
}

/* ---- the search -------------------------------------------------------------------------------
 */

static void begin(struct own_record *r) {
    r->queue = r->queue_end = UINT32_MAX;
}

static void reach(struct own_record *r, word v, uint8_t seen) {
    struct gc_own_extent *e = own_find(r->own, v);
    if (!e || e->seen & seen)
        return;
    if (seen == SEEN_GUARDED && (e->young || header_colour(*e->header) != WHITE))
        return;
    uint32_t number = (uint32_t)(e - r->own->extents);
    e->seen |= seen;
    e->next = UINT32_MAX;
    if (r->queue == UINT32_MAX)
        r->queue = number;
    else
        r->own->extents[r->queue_end].next = number;
    r->queue_end = number;
}

static void reach_words(struct own_record *r, const word *words, size_t first, size_t n,
                        uint8_t seen) {
    FOR_POINTERS (i, words, first, n)
        reach(r, words[i], seen);
}

static void spread(struct own_record *r, uint8_t seen) {
    for (; r->queue != UINT32_MAX; r->queue = r->own->extents[r->queue].next) {
        const struct gc_own_extent *e = &r->own->extents[r->queue];
        size_t first = seen == SEEN_REACHED && e->weak ? 0 : own_first_field(e);
        reach_words(r, e->header + 1, first, e->words - 1, seen);
    }
}

static bool has_weak(const struct gc_own *own) {
    for (size_t n = 0; n < own->n; n++)
        if (own->extents[n].weak)
            return true;
    return false;
}

static void reach_roots(struct own_record *r, uint8_t seen) {
    const struct gc_own_places *roots = &r->own->lists[GC_OWN_ROOTS];
    begin(r);
    for (size_t i = 0; i < roots->n; i++)
        reach(r, *roots->places[i], seen);
    spread(r, seen);
}

void own_guard(struct own_record *r) {
    begin(r);
    for (size_t i = 0; i < r->own->n_gray; i++) {
        const struct gc_own_gray *gray = &r->own->gray[i];
        reach_words(r, gray->first, 0, (size_t)(gray->end - gray->first), SEEN_GUARDED);
    }
    spread(r, SEEN_GUARDED);
}

/* ---- when -------------------------------------------------------------------------------------
 *
 * A look at the whole heap costs more than most operations do: every other program has a few of
 * them, the longer it is the further apart, and a short one has one after each operation.
 */

enum { LOOKS = 3, SHORT = 6 };

static bool is_thorough(const struct judge *j) {
    const oracle_set mine = ORACLE_BIT(ORACLE_own_remembered) | ORACLE_BIT(ORACLE_own_colours) |
                            ORACLE_BIT(ORACLE_own_free_list) | ORACLE_BIT(ORACLE_own_counts);
    return j->side->thorough & mine;
}

/* The program says where the first one is, and not what ran before. */
static bool built(struct judge *j) {
    struct own_record *r = j->state;
    unsigned n = j->side->operations, sum = n + j->model->n_objects + j->model->n_words;
    r->own = NULL;
    r->stride = n <= SHORT || is_thorough(j) ? 1 : sum % 2 ? n / LOOKS + 1 : 0;
    r->operation = sum / 2;
    return false;
}

static bool operated(struct judge *j) {
    struct own_record *r = j->state;
    r->own = NULL;
    if (!r->stride || ++r->operation % r->stride)
        return false;
    r->own = j->services->own(j);
    if (!has_weak(r->own)) {
        reach_roots(r, SEEN_STRONGLY | SEEN_REACHED);
        return false;
    }
    reach_roots(r, SEEN_STRONGLY);
    reach_roots(r, SEEN_REACHED);
    return false;
}

/* ---- words ------------------------------------------------------------------------------------
 */

void own_describe(struct judge *j, const struct gc_own_extent *e, char *out, size_t capacity) {
    static const char *const colours[] = {"white", "gray", "blue", "black"};
    static const char *const turns[] = {"colour 0", "colour 1", "colour 2", "not markable"};
    const struct own_record *r = j->record;
    snprintf(out, capacity,
             "a block %td words behind the first of the collector's own heap (%stag "
             "%u, %u fields, %s)",
             e->header - r->own->extents[0].header, e->young ? "young, " : "",
             header_tag(*e->header), e->words - 1,
             (r->own->turning ? turns : colours)[header_colour(*e->header)]);
}

const struct oracle_module oracle_own_record = {
    .meaning = "the own heap of a collector that shows a copy",
    .source = "collectors/own.h",
    .needs = 1u << NEED_own,
    .state = sizeof(struct own_record),
    .built = built,
    .operated = operated,
};
