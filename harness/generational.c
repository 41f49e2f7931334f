/* SPDX-License-Identifier: MIT
 *
 * The oracles of generational collectors: around every minor collection.
 *
 * The long OCaml paper, section 8.2: a minor collection is a copying collection of the young
 * generation whose roots r are the slots and what the remembered set names; keeping that set
 * complete is the mutator's (the barrier's) part.  Before: the set is complete.  After: Definition
 * 7, with RG(h0, r) the young blocks that those roots reach: a one-to-one f leads from each of them
 * to its copy, with the same tag, size and data and with edges to the copies (also where only a
 * dead old block names it, which the isomorphism at the end of the operation does not look at);
 * there are no other young or new blocks; and nothing else in the old generation was written.
 */
#include "collectors/words_copy.h"
#include "harness/call.h"

#include <stdio.h>
#include <string.h>

static bool bit(const uint64_t *bits, size_t at) {
    return bits[at / 64] >> at % 64 & 1;
}
static void set_bit(uint64_t *bits, size_t at) {
    bits[at / 64] |= (uint64_t)1 << at % 64;
}
/* The first set bit at `at` or behind it and before end; else end. */
static size_t next_bit(const uint64_t *bits, size_t at, size_t end) {
    while (at < end && !(bits[at / 64] >> at % 64))
        at = (at / 64 + 1) * 64;
    if (at >= end)
        return end;
    uint64_t rest = bits[at / 64] >> at % 64;
    for (; !(rest & 255); rest >>= 8)
        at += 8;
    for (; !(rest & 1); rest >>= 1)
        at++;
    return at < end ? at : end;
}

static bool young(const struct side *s, word v) {
    return is_pointer(v) && s->collector->young(s->gc, v);
}
static bool young_block(const struct side *s, uint32_t id) {
    return young(s, graph_word(&s->graph, id));
}

/* One for each word of the heap. */
static void clear_bits(uint64_t *bits, const struct side *s) {
    memset(bits, 0, (s->graph.words / 64 + 1) * sizeof *bits);
}

/* ---- the remembered set -----------------------------------------------------------------------
 */

/* Of a field that is no longer part of an old block nothing can be said. */
static void take_down_field(void *context, word block, size_t i) {
    struct side *s = context;
    size_t at = (block - pointer_word(s->graph.base)) / sizeof(word) + i;
    if (at < s->graph.words && graph_in_use(&s->graph, at) && !young(s, block))
        set_bit(s->minor.recorded, at);
}

/* Place q of the witness is an old block: are its edges to young ones recorded? */
static void check_edges(struct runner *r, struct side *s, uint32_t q) {
    struct graph_block block = graph_block(&s->graph, r->iso.queue[q].a);
    FOR_POINTERS (i, block.fields, block.first_scanned, block.wosize) {
        word v = block.fields[i];
        if (!young(s, v) || bit(s->minor.recorded, r->iso.queue[q].a + i))
            continue;
        r->iso.parent = q;
        r->iso.field = (uint32_t)i;
        isomorphism_path(&r->iso, r->verdict.path, VERDICT_TEXT);
        describe_heap(&s->graph, v, r->verdict.found, VERDICT_TEXT);
        snprintf(r->verdict.expected, VERDICT_TEXT, "this field in the remembered set");
        fail(r, VIOLATION_remembered_set_hole, ORACLE_remembered, s->party,
             "a field of an old block points at a young one and is not recorded");
    }
}

/* Every old-to-young edge of a reachable block is in the set; others may be. */
static void check_reachable(struct runner *r, struct side *s) {
    for (uint32_t q = 0; q < r->iso.pairs; q++) {
        uint32_t id = r->iso.queue[q].a;
        if (id < s->graph.words && !young_block(s, id))
            check_edges(r, s, q);
    }
}

/* ---- h0 ---------------------------------------------------------------------------------------
 */

static void copy_block(struct side *s, uint64_t *starts, uint32_t id) {
    const word *header = graph_fields(&s->graph, id) - 1;
    word *copy = s->minor.words + id - 1;
    words_copy(copy, header, header_wosize(*header) + 1);
    set_bit(starts, id);
}

static bool has_unrecorded(const struct side *s, uint32_t id) {
    struct graph_block block = graph_block(&s->graph, id);
    FOR_POINTERS (i, block.fields, block.first_scanned, block.wosize)
        if (young(s, block.fields[i]) && !bit(s->minor.recorded, id + i))
            return true;
    return false;
}

/* True if some old block, reachable or not, has an edge to a young one that is not recorded. */
static bool take_down_old(struct side *s) {
    struct minor_record *m = &s->minor;
    size_t words = s->graph.words;
    bool unrecorded = false;
    clear_bits(m->starts, s);
    m->old = 0;
    /* The first word in use behind a block is the header of the next. */
    for (size_t at = 0; (at = next_bit(s->graph.in_use, at, words)) < words;) {
        uint32_t id = (uint32_t)at + 1;
        if (!young_block(s, id)) {
            copy_block(s, m->starts, id);
            m->old++;
            unrecorded = unrecorded || has_unrecorded(s, id);
        }
        at += header_wosize(s->graph.base[at]) + 1;
    }
    return unrecorded;
}

/* A young block that the collection must keep goes into the cells and into the queue. */
static void must_keep(struct runner *r, struct side *s, word v) {
    struct graph_ref ref = graph_resolve(&s->graph, v);
    if (ref.kind != GRAPH_BLOCK || !young_block(s, ref.id) ||
        s->graph.cells[ref.id].visit == r->iso.run)
        return;
    s->graph.cells[ref.id].visit = r->iso.run;
    s->minor.copy[ref.id] = 0;
    copy_block(s, s->minor.young_starts, ref.id);
    r->iso.queue[s->minor.young++].a = ref.id;
}

/* V of the reachable subgraph of the young generation: from slots and remembered fields. */
static void take_down_young(struct runner *r, struct side *s) {
    struct minor_record *m = &s->minor;
    clear_bits(m->young_starts, s);
    m->young = 0;
    isomorphism_begin(&r->iso, &s->graph, NULL);
    const word *slots = s->slots[0];
    size_t n = r->mutators * (size_t)GC_SLOTS;
    FOR_POINTERS (i, slots, 0, n)
        must_keep(r, s, slots[i]);
    for (size_t id = 0; (id = next_bit(m->recorded, id, s->graph.words)) < s->graph.words; id++)
        must_keep(r, s, s->graph.base[id]);
    for (size_t q = 0; q < m->young; q++) {
        struct graph_block block = graph_block(&s->graph, r->iso.queue[q].a);
        FOR_POINTERS (f, block.fields, block.first_scanned, block.wosize)
            must_keep(r, s, block.fields[f]);
    }
    words_copy(m->slots[0], slots, n);
}

/* ---- Definition 7 -----------------------------------------------------------------------------
 */

_Noreturn static void fail_minor(struct runner *r, struct side *s, enum violation v, size_t at,
                                 const char *detail) {
    if (at == SIZE_MAX)
        snprintf(r->verdict.found, VERDICT_TEXT, "a slot");
    else
        snprintf(r->verdict.found, VERDICT_TEXT, "word %zu of the heap", at);
    fail(r, v, ORACLE_minor, s->party, detail);
}

/* Old blocks stay where they are, as they are; only remembered fields are redirected. */
static void check_untouched(struct runner *r, struct side *s, size_t id) {
    const struct minor_record *m = &s->minor;
    const word *fields = graph_fields(&s->graph, (uint32_t)id), *before = m->words + id;
    if (!graph_starts(&s->graph, id))
        fail_minor(r, s, VIOLATION_lost_object, id - 1,
                   "a minor collection freed a block of the old generation");
    if (header_recolour(fields[-1], WHITE) != header_recolour(before[-1], WHITE))
        fail_minor(r, s, VIOLATION_field_written, id - 1,
                   "a minor collection changed a header of the old generation");
    size_t wosize = header_wosize(fields[-1]);
    word different = 0; /* most blocks are as they were */
    for (size_t f = 0; f < wosize; f++)
        different |= fields[f] ^ before[f];
    for (size_t f = 0; different && f < wosize; f++)
        if (fields[f] != before[f] && !bit(m->recorded, id + f))
            fail_minor(r, s, VIOLATION_field_written, id + f,
                       "a minor collection wrote a field that is not in the remembered set");
}

/* The young block that v led to before: its id, and how far v was behind its field 0; 0: none. */
static uint32_t young_before(const struct side *s, word v, uint32_t *offset) {
    const struct minor_record *m = &s->minor;
    word at = v - pointer_word(s->graph.base), id = at / sizeof(word);
    *offset = 0;
    if (is_immediate(v) || at >= s->graph.words * sizeof(word) || id == 0)
        return 0;
    if (bit(m->young_starts, id))
        return (uint32_t)id;
    word header = m->words[id - 1];
    if (bit(m->starts, id) || header_tag(header) != TAG_INFIX || header_wosize(header) >= id ||
        !bit(m->young_starts, id - header_wosize(header)))
        return 0;
    *offset = (uint32_t)header_wosize(header);
    return (uint32_t)(id - header_wosize(header));
}

/* A block and its copy, met for the first time: f grows. */
static void pair_up(struct runner *r, struct side *s, uint32_t id, uint32_t copy) {
    struct minor_record *m = &s->minor;
    word before = m->words[id - 1], now = s->graph.base[copy - 1];
    if (header_tag(before) != header_tag(now))
        fail_minor(r, s, VIOLATION_tag_changed, copy - 1, "a copy has not the tag of its block");
    if (header_wosize(before) != header_wosize(now))
        fail_minor(r, s, VIOLATION_size_changed, copy - 1, "a copy has not the size of its block");
    if (s->graph.cells[copy].visit == r->iso.run)
        fail_minor(r, s, VIOLATION_sharing_changed, copy - 1, "two blocks have one copy");
    s->graph.cells[copy].visit = r->iso.run;
    m->copy[id] = copy;
    r->iso.queue[r->iso.pairs++] = (struct pair){.a = id, .b = copy};
}

/* The word at `at` (SIZE_MAX: a slot) was `before`, and is `now`: an edge of RG(h0, r) and its
 * image, or no edge. */
static void follow(struct runner *r, struct side *s, word before, word now, size_t at) {
    uint32_t offset, id;
    if (is_immediate(before) && before == now)
        return;
    id = young_before(s, before, &offset);
    if (id == 0) {
        if (before != now)
            fail_minor(r, s, is_immediate(before) ? VIOLATION_data_changed : VIOLATION_edge_changed,
                       at, "a word that does not point at a young block is not what it was");
        return;
    }
    struct graph_ref ref = graph_resolve(&s->graph, now);
    if (ref.kind == GRAPH_LOST || ref.kind == GRAPH_DANGLING)
        fail_minor(r, s,
                   ref.kind == GRAPH_LOST ? VIOLATION_lost_object : VIOLATION_dangling_pointer, at,
                   "a word that pointed at a young block leads to no block now");
    if (ref.kind == GRAPH_ATOM || ref.offset != offset || ref.id >= s->graph.words)
        fail_minor(r, s, VIOLATION_edge_changed, at,
                   "a word that pointed at a young block leads somewhere else now");
    if (s->minor.copy[id] == 0)
        pair_up(r, s, id, ref.id);
    else if (s->minor.copy[id] != ref.id)
        fail_minor(r, s, VIOLATION_sharing_changed, at, "a young block has two copies");
}

static void follow_fields(struct runner *r, struct side *s, struct pair p) {
    struct graph_block block = graph_block(&s->graph, p.b);
    const word *before = s->minor.words + p.a;
    for (uint32_t f = 0; f < block.first_scanned; f++)
        if (isomorphism_comparable(before[f], block.tag) !=
            isomorphism_comparable(block.fields[f], block.tag))
            fail_minor(r, s, VIOLATION_data_changed, p.b + f, "a copy has other data");
    for (uint32_t f = block.first_scanned; f < block.wosize; f++)
        follow(r, s, before[f], block.fields[f], p.b + f);
}

/* G(h1) = f(RG(h0, r)), from the roots on. */
static void check_copies(struct runner *r, struct side *s) {
    const struct minor_record *m = &s->minor;
    isomorphism_begin(&r->iso, &s->graph, NULL);
    for (uint32_t i = 0; i < r->mutators * GC_SLOTS; i++)
        follow(r, s, m->slots[0][i], s->slots[0][i], SIZE_MAX);
    for (size_t id = 0; (id = next_bit(m->recorded, id, s->graph.words)) < s->graph.words; id++)
        follow(r, s, m->words[id], s->graph.base[id], id);
    for (size_t q = 0; q < r->iso.pairs; q++)
        follow_fields(r, s, r->iso.queue[q]);
}

static void check_kept(struct runner *r, struct side *s) {
    size_t expected = s->minor.old + s->minor.young;
    if (s->facts.live == expected || (s->facts.live > expected && !s->traits.exact_minor))
        return;
    snprintf(
        r->verdict.expected, VERDICT_TEXT,
        "%zu blocks: %zu old ones and the %zu young ones that slots and remembered fields reach",
        expected, s->minor.old, s->minor.young);
    snprintf(r->verdict.found, VERDICT_TEXT, "%zu blocks", s->facts.live);
    if (s->facts.live < expected)
        fail(r, VIOLATION_lost_object, ORACLE_minor, s->party,
             "a minor collection lost a young block that it must keep");
    fail(r, VIOLATION_garbage_retained, ORACLE_minor, s->party,
         "a minor collection kept a young block that nothing reaches");
}

/* ---- around a collection ----------------------------------------------------------------------
 */

/* There is an edge that is not recorded; of a dead block it would be no hole.  False if the heap is
 * already not what it should be: the checks after the operation will say so. */
static bool check_remembered(struct runner *r, struct side *s) {
    if (isomorphism_compare(&r->iso, &s->graph, &r->model_graph))
        return false;
    if (judges(r, ORACLE_remembered))
        check_reachable(r, s);
    return true;
}

static void before_minor(struct runner *r, struct side *s) {
    s->minor.known = false;
    call_walk_inside(s, HEAP_TILES);
    if (s->facts.violation)
        return;
    clear_bits(s->minor.recorded, s);
    s->collector->remembered(s->gc, take_down_field, s);
    r->verdict.counts.oracles[ORACLE_remembered] += judges(r, ORACLE_remembered);
    if (take_down_old(s) && !check_remembered(r, s))
        return;
    if (!judges(r, ORACLE_minor) && !s->watched)
        return;
    take_down_young(r, s);
    s->minor.known = true;
}

static void after_minor(struct runner *r, struct side *s) {
    if (s->minor.known)
        call_walk_inside(s, HEAP_TILES);
    if (s->minor.known && !s->facts.violation && judges(r, ORACLE_minor)) {
        size_t words = s->graph.words;
        r->verdict.counts.oracles[ORACLE_minor]++;
        for (size_t id = 0; (id = next_bit(s->minor.starts, id, words)) < words; id++)
            check_untouched(r, s, id);
        check_copies(r, s);
        check_kept(r, s);
    }
    if (s->watched)
        cycle_note_minor(s);
}

void around_minor(struct gc_hooks *hooks, bool before) {
    struct side *s = side_of(hooks);
    struct runner *r = runner_of(s);
    if (!s->collector->young || !s->collector->remembered || !s->collector->walk ||
        r->verdict.op == OP_INITIAL)
        return; /* while the heap is being built the model is ahead of it */
    if (before)
        before_minor(r, s);
    else
        after_minor(r, s);
}
