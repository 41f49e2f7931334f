/* SPDX-License-Identifier: MIT
 *
 * Oracle minor: Definition 7, around every minor collection.
 *
 * The long OCaml paper, section 8.2: a minor collection is a copying collection of the young
 * generation whose roots r are the slots and what the remembered set names; keeping that set
 * complete is the mutator's (the barrier's) part.  After it: Definition
 * 7, with RG(h0, r) the young blocks that those roots reach: a one-to-one f leads from each of them
 * to its copy, with the same tag, size and data and with edges to the copies (also where only a
 * dead old block names it, which the isomorphism at the end of the operation does not look at);
 * there are no other young or new blocks; and nothing else in the old generation was written.
 */
#include "oracles/cycles/minor_record.h"
#include "oracles/describe.h"

#include <stdio.h>

/* f of Definition 7, for the young blocks of the record: 0: not known. */
struct copies {
    bool seen; /* a minor collection, in this run */
    uint32_t of[];
};

/* At word `at` of the heap; SIZE_MAX - n: at slot n. */
_Noreturn static void fail_minor(struct judge *j, enum violation v, size_t at, const char *detail) {
    size_t slot = SIZE_MAX - at, m = slot / GC_SLOTS;
    if (m == 0)
        snprintf(j->path, VERDICT_TEXT, "r%zu", slot);
    else if (m < GC_MUTATORS)
        snprintf(j->path, VERDICT_TEXT, "mutator %zu: r%zu", m, slot % GC_SLOTS);
    if (m < GC_MUTATORS)
        describe_heap(j, j->side->slots[0][slot], j->found, VERDICT_TEXT);
    else
        describe_at(j, (uint32_t)at, j->found, VERDICT_TEXT);
    judge_fail(j, v, detail);
}

/* Old blocks stay where they are, as they are; only remembered fields are redirected. */
static void check_untouched(struct judge *j, size_t id) {
    const struct side *s = j->side;
    const struct minor_record *m = j->record;
    const word *fields = graph_fields(&s->graph, (uint32_t)id), *before = m->words + id;
    if (!graph_starts(&s->graph, id))
        fail_minor(j, VIOLATION_lost_object, id - 1,
                   "a minor collection freed a block of the old generation");
    if (header_recolour(fields[-1], WHITE) != header_recolour(before[-1], WHITE))
        fail_minor(j, VIOLATION_field_written, id - 1,
                   "a minor collection changed a header of the old generation");
    size_t wosize = header_wosize(fields[-1]);
    word different = 0; /* most blocks are as they were */
    for (size_t f = 0; f < wosize; f++)
        different |= fields[f] ^ before[f];
    for (size_t f = 0; different && f < wosize; f++)
        if (fields[f] != before[f] && !bit_at(m->recorded, id + f))
            fail_minor(j, VIOLATION_field_written, id + f,
                       "a minor collection wrote a field that is not in the remembered set");
}

/* The young block that v led to before: its id, and how far v was behind its field 0; 0: none. */
static uint32_t young_before(const struct judge *j, word v, uint32_t *offset) {
    const struct side *s = j->side;
    const struct minor_record *m = j->record;
    word at = v - pointer_word(s->graph.base), id = at / sizeof(word);
    *offset = 0;
    if (is_immediate(v) || at >= s->graph.words * sizeof(word) || id == 0)
        return 0;
    if (bit_at(m->young_starts, id))
        return (uint32_t)id;
    word header = m->words[id - 1];
    if (bit_at(m->starts, id) || header_tag(header) != TAG_INFIX || header_wosize(header) >= id ||
        !bit_at(m->young_starts, id - header_wosize(header)))
        return 0;
    *offset = (uint32_t)header_wosize(header);
    return (uint32_t)(id - header_wosize(header));
}

/* A block and its copy, met for the first time: f grows. */
static void pair_up(struct judge *j, uint32_t id, uint32_t copy) {
    const struct side *s = j->side;
    const struct minor_record *m = j->record;
    struct copies *f = j->state;
    word before = m->words[id - 1], now = s->graph.base[copy - 1];
    if (header_tag(before) != header_tag(now))
        fail_minor(j, VIOLATION_tag_changed, copy - 1, "a copy has not the tag of its block");
    if (header_wosize(before) != header_wosize(now))
        fail_minor(j, VIOLATION_size_changed, copy - 1, "a copy has not the size of its block");
    if (s->graph.cells[copy].visit == j->iso->run)
        fail_minor(j, VIOLATION_sharing_changed, copy - 1, "two blocks have one copy");
    s->graph.cells[copy].visit = j->iso->run;
    f->of[id] = copy;
    j->iso->queue[j->iso->pairs++] = (struct pair){.a = id, .b = copy};
}

/* The word at `at` (as in fail_minor) was `before`, and is `now`: an edge of RG(h0, r) and its
 * image, or no edge. */
static void follow(struct judge *j, word before, word now, size_t at) {
    const struct side *s = j->side;
    const struct copies *f = j->state;
    uint32_t offset, id;
    if (is_immediate(before) && before == now)
        return;
    id = young_before(j, before, &offset);
    if (id == 0) {
        if (before != now)
            fail_minor(j, is_immediate(before) ? VIOLATION_data_changed : VIOLATION_edge_changed,
                       at, "a word that does not point at a young block is not what it was");
        return;
    }
    struct graph_ref ref = graph_resolve(&s->graph, now);
    if (ref.kind == GRAPH_LOST || ref.kind == GRAPH_DANGLING)
        fail_minor(j, ref.kind == GRAPH_LOST ? VIOLATION_lost_object : VIOLATION_dangling_pointer,
                   at, "a word that pointed at a young block leads to no block now");
    if (ref.kind == GRAPH_ATOM || ref.offset != offset || ref.id >= s->graph.words)
        fail_minor(j, VIOLATION_edge_changed, at,
                   "a word that pointed at a young block leads somewhere else now");
    if (f->of[id] == 0)
        pair_up(j, id, ref.id);
    else if (f->of[id] != ref.id)
        fail_minor(j, VIOLATION_sharing_changed, at, "a young block has two copies");
}

static void follow_fields(struct judge *j, struct pair p) {
    struct graph_block block = graph_block(&j->side->graph, p.b);
    const struct minor_record *m = j->record;
    const word *before = m->words + p.a;
    for (uint32_t f = 0; f < block.first_scanned; f++)
        if (isomorphism_comparable(before[f], block.tag) !=
            isomorphism_comparable(block.fields[f], block.tag))
            fail_minor(j, VIOLATION_data_changed, p.b + f, "a copy has other data");
    for (uint32_t f = block.first_scanned; f < block.wosize; f++)
        follow(j, before[f], block.fields[f], p.b + f);
}

/* G(h1) = f(RG(h0, r)), from the roots on. */
static void check_copies(struct judge *j) {
    const struct side *s = j->side;
    const struct minor_record *m = j->record;
    isomorphism_begin(j->iso, &s->graph, NULL);
    for (uint32_t i = 0; i < s->graph.mutators * GC_SLOTS; i++)
        follow(j, m->slots[0][i], s->slots[0][i], SIZE_MAX - i);
    for (size_t id = 0; (id = next_bit(m->recorded, id, s->graph.words)) < s->graph.words; id++)
        follow(j, m->words[id], s->graph.base[id], id);
    for (size_t q = 0; q < j->iso->pairs; q++)
        follow_fields(j, j->iso->queue[q]);
}

static void check_kept(struct judge *j) {
    const struct side *s = j->side;
    const struct minor_record *m = j->record;
    size_t expected = m->old + m->young;
    if (s->facts.live == expected || (s->facts.live > expected && !s->traits.exact_minor))
        return;
    snprintf(
        j->expected, VERDICT_TEXT,
        "%zu blocks: %zu old ones and the %zu young ones that slots and remembered fields reach",
        expected, m->old, m->young);
    snprintf(j->found, VERDICT_TEXT, "%zu blocks", s->facts.live);
    if (s->facts.live < expected)
        judge_fail(j, VIOLATION_lost_object,
                   "a minor collection lost a young block that it must keep");
    judge_fail(j, VIOLATION_garbage_retained,
               "a minor collection kept a young block that nothing reaches");
}

/* ---- around a collection ----------------------------------------------------------------------
 */

static void before_minor(struct judge *j) {
    const struct minor_record *m = j->record;
    struct copies *f = j->state;
    size_t words = j->side->graph.words;
    minor_record_young(j);
    for (size_t id = 0; (id = next_bit(m->young_starts, id, words)) < words; id++)
        f->of[id] = 0;
}

static bool reset(struct judge *j) {
    ((struct copies *)j->state)->seen = false;
    return false;
}

static bool minor(struct judge *j, bool before) {
    const struct minor_record *m = j->record;
    ((struct copies *)j->state)->seen = true;
    size_t words = j->side->graph.words;
    if (!m->known || (!before && j->side->facts.violation))
        return false;
    if (before) {
        before_minor(j);
        return false;
    }
    for (size_t id = 0; (id = next_bit(m->starts, id, words)) < words; id++)
        check_untouched(j, id);
    check_copies(j);
    check_kept(j);
    return true;
}

static bool has_young_roots(const struct side *s) {
    for (unsigned m = 0; m < s->graph.mutators; m++)
        for (unsigned i = 0; i < GC_SLOTS; i++)
            if (is_young(s, s->slots[m][i]))
                return true;
    return false;
}

/* A collector that tells of no minor collection would never be judged: one is asked for, if the run
 * had none. */
static bool ended(struct judge *j) {
    const struct copies *f = j->state;
    if (f->seen || !has_young_roots(j->side))
        return false;
    if (!j->services->collect_young(j))
        return false;
    if (!f->seen)
        judge_fail(j, VIOLATION_promise_broken,
                   "hooks->minor has not been called by a minor collection of young blocks");
    return true;
}

const struct oracle_module oracle_minor = {
    .meaning = "Definition 7: a minor collection keeps what it must and touches nothing else",
    .source = "the long OCaml paper, Definition 7 and section 8.2",
    .classes = {VIOLATION_lost_object, VIOLATION_dangling_pointer, VIOLATION_edge_changed,
                VIOLATION_sharing_changed, VIOLATION_tag_changed, VIOLATION_size_changed,
                VIOLATION_data_changed, VIOLATION_garbage_retained, VIOLATION_field_written,
                VIOLATION_promise_broken},
    .needs = 1u << NEED_walk | 1u << NEED_generations,
    .state = sizeof(struct copies),
    .each = sizeof(uint32_t),
    .record = RECORD_minor_record,
    .reset = reset,
    .minor = minor,
    .ended = ended,
};
