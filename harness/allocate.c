/* SPDX-License-Identifier: MIT
 *
 * Allocation in all parties, and the oracles that judge the answers: memory, overlap, wear.
 */
#include "harness/call.h"

#include <stdio.h>

/* The live words, exactly: what "live + request exceeds the heap" speaks of. */
static size_t live_words(struct runner *r) {
    model_mark(&r->model);
    r->bound_words = r->model.live_words;
    return r->bound_words;
}

static void expect_sizes(struct runner *r, const char *answer, size_t wosize, size_t limit) {
    snprintf(r->verdict.expected, VERDICT_TEXT,
             "%zu live words + %zu for the request, in a heap of %zu", r->bound_words, wosize + 1,
             limit);
    snprintf(r->verdict.found, VERDICT_TEXT, "%s", answer);
}

/* The largest wosize that a full collection would have room for in one piece: gaps between the
 * blocks that are reachable now. */
static size_t largest_gap(const struct graph *g, uint32_t run) {
    size_t gap = 0, largest = 0, end = g->words - g->nursery_words, words = 1;
    for (size_t at = 0; at < end; at += words) {
        words = graph_in_use(g, at) ? header_wosize(g->base[at]) + 1 : 1;
        gap = graph_in_use(g, at) && g->cells[at + 1].visit == run ? 0 : gap + words;
        largest = gap > largest ? gap : largest;
    }
    return largest ? largest - 1 : 0;
}

/* Is there a free block that is large enough, or would there be one after the full collection that
 * is promised?  Only for a collector that then merges what is free, in a heap that is as it should
 * be; with generations young blocks may have taken the room. */
static bool free_block_fits(struct runner *r, enum party party, size_t wosize,
                            const char **detail) {
    struct side *s = &r->side[party];
    walk_side(&r->side[party], IN_BETWEEN);
    *detail = "an allocation was refused although a free block is large enough";
    if (s->facts.largest_free >= wosize)
        return true;
    if (!s->collector->walk || !s->traits.merged_free_list || s->traits.full_until_exact != 1 ||
        s->collector->young || live_words(r) + wosize + 1 > r->heap_words ||
        isomorphism_compare(&r->iso, &s->graph, &r->model_graph))
        return false;
    *detail = "an allocation was refused although a full collection would have made room";
    return largest_gap(&s->graph, r->iso.run) >= wosize;
}

/* Myreen, section 4: refused if and only if live + request exceeds the heap; weaker promises refuse
 * only what no free block can hold after a full collection. */
static void judge_refusal(struct runner *r, enum party party, size_t wosize) {
    struct side *s = &r->side[party];
    if (!judges(r, ORACLE_memory) || s->traits.refusal == REFUSES_ANYTIME)
        return;
    r->verdict.counts.oracles[ORACLE_memory]++;
    bool fits;
    const char *detail;
    if (s->traits.refusal == REFUSES_NO_FREE_BLOCK) {
        fits = free_block_fits(r, party, wosize, &detail);
    } else {
        fits = live_words(r) + wosize + 1 <= r->heap_words;
        detail = "an allocation was refused although live + request fits the heap";
    }
    if (fits) {
        live_words(r); /* for the report */
        expect_sizes(r, "out of memory", wosize, r->heap_words);
        fail(r, VIOLATION_false_out_of_memory, ORACLE_memory, party, detail);
    }
}

static void judge_success(struct runner *r, enum party party, size_t wosize) {
    const struct side *s = &r->side[party];
    if (!judges(r, ORACLE_memory) || s->traits.refusal == REFUSES_ANYTIME)
        return;
    if (r->bound_words + wosize + 1 <= r->heap_words)
        return; /* no need to know exactly */
    if (r->side[party].traits.forwards)
        return; /* Forward blocks that pointers were led past are live to the model alone */
    r->verdict.counts.oracles[ORACLE_memory]++;
    size_t most = most_alive(&s->traits, &s->config);
    if (live_words(r) + wosize + 1 > most) {
        expect_sizes(r, "a block", wosize, most);
        fail(r, VIOLATION_missed_out_of_memory, ORACLE_memory, party,
             "an allocation succeeded although live + request exceeds the heap");
    }
}

_Noreturn static void fail_block(struct runner *r, enum party party, size_t wosize, unsigned tag,
                                 word v, const char *detail) {
    snprintf(r->verdict.expected, VERDICT_TEXT, "a new block with tag %u and %zu fields", tag,
             wosize);
    snprintf(r->verdict.found, VERDICT_TEXT, "the word 0x%llx in the slot", (unsigned long long)v);
    fail(r, VIOLATION_ill_formed_heap, ORACLE_well_formed, party, detail);
}

/* The overlap oracle, and that the slot really has a block as asked for. */
static void judge_block(struct runner *r, enum party party, unsigned m, size_t wosize,
                        unsigned tag) {
    struct side *s = &r->side[party];
    word v = s->slots[m][SLOT_NEW];
    bool fresh_walk =
        s->hooks.collections != s->collections || (s->collector->cycle && cycle_moved(s));
    if (!s->collector->walk)
        return;
    if (fresh_walk)
        walk_side(&r->side[party], IN_BETWEEN);
    if (is_immediate(v) || v % sizeof(word))
        fail_block(r, party, wosize, tag, v, "an allocation left no block in its slot");
    word *hp = word_pointer(v) - 1;
    if (!fresh_walk && !heap_claim(&s->graph, hp, wosize + 1)) {
        if (!judges(r, ORACLE_overlap))
            return; /* what the block is cannot be told then */
        size_t at = (size_t)(hp - s->graph.base);
        snprintf(r->verdict.found, VERDICT_TEXT, "words %zu to %zu of the heap, in use", at,
                 at + wosize);
        fail(r, VIOLATION_overlap, ORACLE_overlap, party,
             "a new block shares a word with a block that is live, or lies outside the heap");
    }
    r->verdict.counts.oracles[ORACLE_overlap] += judges(r, ORACLE_overlap);
    if (!judges(r, ORACLE_well_formed))
        return;
    struct graph_ref ref = graph_resolve(&s->graph, v);
    if (ref.kind != GRAPH_BLOCK || ref.offset != 0 || header_wosize(*hp) != wosize ||
        header_tag(*hp) != tag)
        fail_block(r, party, wosize, tag, v, "a new block has not the header that was asked for");
}

static void allocate_side(struct runner *r, enum party party, unsigned m, size_t wosize,
                          unsigned tag, const word *raw) {
    struct side *s = &r->side[party];
    if (s->traits.max_wosize && wosize > s->traits.max_wosize) {
        s->answer = GC_OUT_OF_MEMORY; /* for the harness to say: that much it cannot represent */
        return;
    }
    if (call_alloc(s, m, SLOT_NEW, wosize, tag, raw) != GC_OK) {
        cycle_watch(r, party, NULL);
        judge_refusal(r, party, wosize);
        return;
    }
    judge_success(r, party, wosize);
    judge_block(r, party, m, wosize, tag);
    struct new_block block = {s->slots[m][SLOT_NEW], wosize, tag, raw};
    cycle_watch(r, party, &block);
}

/* The address of a new block, for the order of blocks: unknown if it has been allocated after
 * blocks may have moved. */
static word new_address(const struct side *s, word v) {
    return s->traits.slides && s->compared != s->hooks.collections ? 0 : v;
}

unsigned allocate(struct runner *r, unsigned m, size_t wosize, unsigned tag, size_t first_scanned,
                  const word *raw) {
    for (unsigned p = 0; p < r->n_sides; p++)
        allocate_side(r, (enum party)p, m, wosize, tag, raw);
    unsigned object = MODEL_NONE;
    if (all_served(r, m)) {
        object = model_add(&r->model, wosize, tag, first_scanned, raw);
        if (object == MODEL_NONE)
            harness_fault(r, "the model has no room left");
        r->model.slots[m][SLOT_NEW] = model_pointer(object, 0);
        r->model.objects[object].origin = -1 - (int32_t)r->verdict.op;
        r->model.objects[object].serial = (uint16_t)r->serial++;
    }
    for (unsigned p = 0; object != MODEL_NONE && p < r->n_sides; p++)
        r->model.objects[object].address[p] =
            new_address(&r->side[p], r->side[p].slots[m][SLOT_NEW]);
    r->bound_words += wosize + 1;
    r->fresh = object;
    return object;
}

/* Empties the heap of one collector and asks it for the largest block of a fresh heap. */
static enum gc_result renew(struct runner *r, enum party party, size_t wosize) {
    struct side *s = &r->side[party];
    for (unsigned m = 0; m < r->mutators; m++)
        for (unsigned i = 0; i < GC_SLOTS; i++)
            s->slots[m][i] = WORD_UNIT;
    call_collect(s, GC_FULL);
    return call_alloc(s, 0, SLOT_NEW, wosize, 0, r->units);
}

void check_wear(struct runner *r) {
    r->over = true;
    for (unsigned p = 0; p < r->n_sides; p++) {
        struct side *s = &r->side[p];
        size_t largest = r->heap_words - 1;
        if (!s->traits.renews || !s->traits.full_until_exact)
            continue;
        if (s->traits.max_wosize && s->traits.max_wosize < largest)
            largest = s->traits.max_wosize;
        r->verdict.counts.oracles[ORACLE_wear]++;
        if (renew(r, (enum party)p, largest) == GC_OK)
            continue;
        walk_side(&r->side[p], AFTER_FULL);
        snprintf(r->verdict.expected, VERDICT_TEXT, "a block of %zu fields, as in a fresh heap",
                 largest);
        snprintf(r->verdict.found, VERDICT_TEXT, "out of memory, with %zu blocks in %zu words left",
                 s->facts.live, s->facts.live_words);
        if (s->facts.live && judges(r, ORACLE_completeness))
            fail(r, VIOLATION_garbage_retained, ORACLE_completeness, (enum party)p,
                 "blocks survive in a heap that has no roots");
        if (s->facts.largest_free >= largest && judges(r, ORACLE_memory))
            fail(r, VIOLATION_false_out_of_memory, ORACLE_memory, (enum party)p,
                 "an allocation was refused although a free block is large enough");
        fail(r, VIOLATION_heap_worn_out, ORACLE_wear, (enum party)p,
             "the heap has become empty, but does not serve what a fresh heap serves");
    }
}
