/* SPDX-License-Identifier: MIT
 *
 * The comparison of all parties: after every collection, and at the end of a script.
 */
#include "harness/call.h"
#include "harness/events.h"

#include <stdio.h>

/* ---- one heap ---------------------------------------------------------------------------------
 */

bool collected(const struct runner *r) {
    for (unsigned p = 0; p < r->n_sides; p++)
        if (r->side[p].hooks.collections != r->side[p].collections)
            return true;
    return false;
}

/* Is the last walk still true?  What can be seen of an ephemeron also depends on the slots. */
static bool is_walked(const struct runner *r, const struct side *s, unsigned checks) {
    return s->walked && !(checks & ~s->walked) && s->collections == s->hooks.collections &&
           !r->model.has_ephemerons;
}

void walk_side(struct side *s, enum occasion when) {
    unsigned checks = checks_wanted(s, when);
    if (!s->collector->walk || is_walked(runner_of(s), s, checks))
        return;
    call_walk(s, checks);
    s->collections = s->hooks.collections;
    s->walked = checks;
    event_walked(judge_of(s));
}

/* ---- graphs -----------------------------------------------------------------------------------
 */

static const char *const graph_detail[VIOLATION_classes] = {
    [VIOLATION_lost_object] = "a block that the program can still reach has been freed",
    [VIOLATION_dangling_pointer] = "a word that must be a pointer points at no block",
    [VIOLATION_edge_changed] = "a pointer leads to another place than before",
    [VIOLATION_data_changed] = "data of a reachable block is not what it was",
    [VIOLATION_tag_changed] = "the tag of a reachable block is not what it was",
    [VIOLATION_size_changed] = "the size of a reachable block is not what it was",
    [VIOLATION_sharing_changed] = "blocks that were one are two now, or the other way round",
};

/* Compares a heap with the model; on a difference fills path, expected and found. */
static enum violation compare_with_model(struct runner *r, enum party party) {
    struct isomorphism *iso = &r->iso;
    struct side *s = &r->side[party];
    iso->forwards = s->traits.forwards;
    enum violation v = isomorphism_compare(iso, &s->graph, &r->model_graph);
    if (!v)
        return v;
    isomorphism_path(iso, r->verdict.path, VERDICT_TEXT);
    if (!iso->in_block) {
        describe_heap(&r->side[party].graph, iso->left, r->verdict.found, VERDICT_TEXT);
        describe_model(&r->model, iso->right, r->verdict.expected, VERDICT_TEXT);
    } else {
        const char *what = v == VIOLATION_tag_changed    ? "tag %llu"
                           : v == VIOLATION_size_changed ? "%llu fields"
                                                         : "the word 0x%llx";
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
        snprintf(r->verdict.found, VERDICT_TEXT, what, (unsigned long long)iso->left);
        snprintf(r->verdict.expected, VERDICT_TEXT, what, (unsigned long long)iso->right);
#pragma GCC diagnostic pop
    }
    return v;
}

/* ---- theorem property 5 -----------------------------------------------------------------------
 */

_Noreturn static void fail_fields(struct runner *r, enum party party, enum violation v,
                                  unsigned object, const char *detail) {
    char name[16];
    if (!compare_with_model(r, party)) { /* then there is no path to show */
        object_name(&r->model, object, name, sizeof name);
        snprintf(r->verdict.found, VERDICT_TEXT, "in block %s", name);
    }
    fail(r, v, ORACLE_fields, party, detail);
}

static void check_object(struct runner *r, enum party party, unsigned object) {
    const struct graph *g = &r->side[party].graph;
    const struct model_object *o = &r->model.objects[object];
    struct graph_ref ref = graph_resolve(g, o->address[party]);
    if (ref.kind != GRAPH_BLOCK)
        fail_fields(r, party, VIOLATION_lost_object, object,
                    "a block that the program can still reach has been freed");
    const word *found = word_pointer(o->address[party]),
               *expected = model_fields(&r->model, object);
    if (header_wosize(found[-1]) != o->wosize || header_tag(found[-1]) != o->tag)
        fail_fields(r, party, VIOLATION_field_written, object,
                    "the collector changed the header of a live block");
    bool same = true;
    for (uint32_t f = 0; f < o->first_scanned; f++)
        same &= isomorphism_comparable(found[f], o->tag) == expected[f];
    for (uint32_t f = o->first_scanned; f < o->wosize; f++)
        same &= found[f] == side_word(r, party, expected[f]);
    if (!same)
        fail_fields(r, party, VIOLATION_field_written, object,
                    "the collector changed a field of a live block");
}

/* field_reads_equal (long paper, Figure 28, property 5): no field of a live block was changed,
 * pointer or not; with addresses that stay this is stronger than isomorphism. */
static void check_fields(struct runner *r, enum party party) {
    r->verdict.counts.oracles[ORACLE_fields]++;
    for (uint32_t i = 0; i < r->model.n_reached; i++)
        check_object(r, party, r->model.work[i]);
}

/* ---- completeness -----------------------------------------------------------------------------
 */

/* Definition 5(2): the graph after a full collection has the reachable blocks and no other. */
void check_completeness(struct runner *r, enum party party) {
    struct side *s = &r->side[party];
    if (!s->traits.full_until_exact || s->traits.conservative || !s->collector->walk ||
        !judges(r, ORACLE_completeness))
        return;
    r->verdict.counts.oracles[ORACLE_completeness]++;
    if (s->facts.live == r->model.live_objects)
        return;
    if (compare_with_model(r, party))
        return; /* the other oracles will say so */
    if (s->traits.forwards && !heap_unreached(&s->graph, &r->iso))
        return; /* Forward blocks that pointers were led past */
    const word *garbage = heap_unreached(&s->graph, &r->iso);
    snprintf(r->verdict.expected, VERDICT_TEXT, "%u live blocks", (unsigned)r->model.live_objects);
    snprintf(r->verdict.found, VERDICT_TEXT,
             "%zu; the first that nothing reaches is at word %td (tag %u, %llu fields)",
             s->facts.live, garbage ? garbage - s->graph.base : 0,
             garbage ? header_tag(*garbage) : 0,
             garbage ? (unsigned long long)header_wosize(*garbage) : 0ULL);
    fail(r, VIOLATION_garbage_retained, ORACLE_completeness, party,
         "an unreachable block survived a full collection");
}

/* ---- all together -----------------------------------------------------------------------------
 */

/* Property 5 says all that isomorphism says of a collector that does not move. */
static bool fields_apply(const struct runner *r, enum party party) {
    const struct side *s = &r->side[party];
    return !s->traits.moves && s->collector->walk && judges(r, ORACLE_fields);
}

static void check_isomorphism(struct runner *r, enum party party) {
    r->verdict.counts.oracles[ORACLE_isomorphism]++;
    enum violation v = compare_with_model(r, party);
    if (!v) {
        if (r->side[party].traits.slides)
            check_order(r, party);
        return;
    }
    if (fields_apply(r, party)) { /* the class is then property 5's, whoever looked first */
        model_mark(&r->model);
        check_fields(r, party);
    }
    fail(r, v, ORACLE_isomorphism, party, graph_detail[v]);
}

/* Every collector is compared with the model, and so with every other: a difference between subject
 * and reference is found, who of them is wrong is known at once, and an error that both share is
 * found too.  The first comparison also tells what the program can reach. */
static void check_graphs(struct runner *r) {
    enum party last = (enum party)(r->n_sides - 1);
    if (r->model.has_ephemerons)
        model_mark(&r->model); /* keys that have died */
    if (judges(r, ORACLE_isomorphism)) {
        check_isomorphism(r, last);
        model_reached(&r->model, &r->iso.queue[0].b, sizeof *r->iso.queue / sizeof(uint32_t),
                      r->iso.pairs);
    } else {
        model_mark(&r->model);
    }
    r->bound_words = r->model.live_words;
    for (unsigned p = 0; p < r->n_sides; p++)
        if (fields_apply(r, (enum party)p))
            check_fields(r, (enum party)p);
        else if (p != last && judges(r, ORACLE_isomorphism))
            check_isomorphism(r, (enum party)p);
    if (r->coverage)
        coverage_graph(r);
}

void check_heaps(struct runner *r, bool after_full) {
    r->verdict.counts.checks++;
    for (unsigned p = 0; p < r->n_sides; p++) {
        walk_side(&r->side[p], after_full ? AFTER_FULL : IN_BETWEEN);
        event_inspected(judge_of(&r->side[p]));
    }
    check_graphs(r);
    r->changed = false;
    if (r->extras)
        judge_finalisers(r, after_full);
    if (after_full)
        for (unsigned p = 0; p < r->n_sides; p++)
            check_completeness(r, (enum party)p);
}

static bool same_block(const struct runner *r, enum party party, word found, word expected) {
    const struct side *s = &r->side[party];
    struct graph_ref ref = graph_resolve(&s->graph, found);
    if (s->traits.forwards)
        expected = isomorphism_forwarded(&s->graph, &r->model_graph, found, expected);
    if (!model_is_pointer(expected))
        return ref.kind == GRAPH_ATOM && found == expected;
    if (ref.kind != GRAPH_BLOCK || ref.offset != model_offset(expected))
        return false;
    if (!s->traits.moves)
        return found == side_word(r, party, expected);
    const struct model_object *o = &r->model.objects[model_object(expected)];
    struct graph_block block = graph_block(&s->graph, ref.id);
    return block.tag == o->tag && block.wosize == o->wosize;
}

void check_raw(struct runner *r, enum party party, word found, word expected) {
    if (found == expected || !judges(r, ORACLE_isomorphism))
        return;
    snprintf(r->verdict.expected, VERDICT_TEXT, "the word 0x%llx", (unsigned long long)expected);
    snprintf(r->verdict.found, VERDICT_TEXT, "0x%llx", (unsigned long long)found);
    fail(r, VIOLATION_data_changed, ORACLE_isomorphism, party,
         "a raw word reads back as something else than was written");
}

void check_word(struct runner *r, enum party party, word found, word expected) {
    if (!judges(r, ORACLE_isomorphism) ||
        r->side[party].hooks.collections != r->side[party].collections)
        return; /* a collection in the barrier: the comparison after this operation will see */
    if (same_block(r, party, found, expected))
        return;
    describe_model(&r->model, expected, r->verdict.expected, VERDICT_TEXT);
    describe_heap(&r->side[party].graph, found, r->verdict.found, VERDICT_TEXT);
    enum violation v = is_immediate(found) && is_immediate(expected) ? VIOLATION_data_changed
                                                                     : VIOLATION_edge_changed;
    fail(r, v, ORACLE_isomorphism, party, "a field reads back as something else than was written");
}
