/* SPDX-License-Identifier: MIT
 *
 * The conformance kit, third part: does the collector hold what its traits claim (conform.h)?
 */
#include "conformance/internal.h"

#include "collectors/contract.h"
#include "harness/harness.h"

#include <string.h>

/* The steps are only called where the trait is claimed. */
CLAIMED(infix)
CLAIMED(start_env)
CLAIMED(raw)
CLAIMED(outside)
CLAIMED(statics)
CLAIMED(any_word)
CLAIMED(atoms)
CLAIMED(poisons)
CLAIMED(whitens)
CLAIMED(renews)
CLAIMED(free_list)

/* ---- the traits among themselves --------------------------------------------------------------
 */

static void check_sense(struct conform *c) {
    const char *fault = contract_fault(c->collector);
    if (!fault)
        fault = traits_fault(c->collector, &c->traits);
    if (fault)
        broken(c, "%s", fault);
}

/* ---- moves ------------------------------------------------------------------------------------
 */

static const char *stays(const struct conform *c) {
    return c->traits.moves ? "trait moves is set: addresses mean nothing" : NULL;
}

static void check_stays(struct conform *c) {
    unsigned n = 1u << c->scale;
    if (n > SCRATCH)
        n = SCRATCH;
    word before[GC_SLOTS];
    for (unsigned s = 0; s < n; s++) {
        make_node(c, 0, 31, 100);
        make_node(c, 0, s, s);
    }
    c->slots[0][31] = n > 31 ? c->slots[0][31] : WORD_UNIT;
    memcpy(before, c->slots[0], sizeof before);
    for (enum gc_collection kind = GC_MINOR; kind <= GC_COMPACT; kind++) {
        collect(c, kind);
        for (unsigned s = 0; s < n; s++)
            if (c->slots[0][s] != before[s])
                broken(c, "the block in slot %u has moved, and the trait moves is not set", s);
    }
}

/* ---- closures ---------------------------------------------------------------------------------
 */

enum { CODE = 5, CLOSURE = 7 }; /* two functions of arity 1, two fields of environment */

static void closure_content(word *out) {
    out[0] = code_pointer(1);
    out[1] = closinfo_make(1, 5);
    out[2] = header_make(3, WHITE, TAG_INFIX);
    out[3] = code_pointer(2);
    out[4] = closinfo_make(1, 2);
    for (unsigned i = CODE; i < CLOSURE; i++)
        out[i] = immediate(i);
}

void make_closure(struct conform *c, unsigned slot) {
    word raw[CLOSURE];
    closure_content(raw);
    make_node(c, 0, SCRATCH + 2, 55);
    make(c, 0, slot, CLOSURE, TAG_CLOSURE, raw);
    init_field(c, 0, slot, CODE, SCRATCH + 2); /* which may not be written later */
    c->slots[0][SCRATCH + 2] = WORD_UNIT;
}

void expect_closure(struct conform *c, unsigned slot, const char *when) {
    word v = c->slots[0][slot], raw[CLOSURE];
    if (c->collector->walk) {
        walk(c, HEAP_TILES);
        if (graph_resolve(&c->graph, v).kind != GRAPH_BLOCK)
            broken(c, "%s the closure is gone, or its slot was not updated", when);
    }
    closure_content(raw);
    for (unsigned i = 0; i < CODE; i++)
        if (isomorphism_comparable(word_pointer(v)[i], TAG_CLOSURE) != raw[i])
            broken(c, "%s word %u of a closure, before its environment, is 0x%llx, not 0x%llx",
                   when, i, (unsigned long long)word_pointer(v)[i], (unsigned long long)raw[i]);
    get_field(c, 0, SCRATCH + 2, slot, CODE);
    expect_node(c, 0, SCRATCH + 2, 55, when);
}

static void check_start_env(struct conform *c) {
    make_list(c, 1u << c->scale);
    make_closure(c, 1);
    for (unsigned round = 0; round < 3; round++) {
        collect(c, GC_FULL);
        expect_closure(c, 1, "after a full collection");
    }
}

static void check_infix(struct conform *c) {
    for (unsigned round = 0; round < 3; round++) {
        make_list(c, 1u << c->scale); /* garbage of the last round lies before it */
        make_closure(c, 1);
        c->slots[0][2] = c->slots[0][1] + 3 * sizeof(word);
        c->slots[0][1] = WORD_UNIT; /* nothing else reaches the closure */
        collect(c, GC_FULL);
        word v = c->slots[0][2];
        if (c->collector->walk) {
            walk(c, HEAP_TILES);
            struct graph_ref ref = graph_resolve(&c->graph, v);
            if (ref.kind != GRAPH_BLOCK || ref.offset != 3)
                broken(c,
                       "after a full collection an infix pointer, alone in its slot, leads to no "
                       "infix block of a live closure");
        }
        if (header_tag(header_of(v)) != TAG_INFIX || header_wosize(header_of(v)) != 3)
            broken(
                c,
                "after a full collection an infix pointer does not point behind an infix header");
        c->slots[0][1] = infix_parent(v);
        expect_closure(c, 1, "after a full collection");
        c->slots[0][1] = c->slots[0][2] = WORD_UNIT;
    }
}

/* ---- dead memory ------------------------------------------------------------------------------
 */

/* A free block keeps a header and one link; the words behind are nobody's. */
static void visit_dead(void *context, enum gc_extent kind, const word *header, size_t words) {
    struct conform *c = context;
    if (kind == GC_LIVE)
        for (size_t i = 0; i < words; i++)
            if (dead_memory_is_poisoned(header + i))
                broken(c, "word %zu of a live block is poisoned", i);
    if (kind == GC_FREE || kind == GC_UNUSED)
        for (size_t i = 2; i < words; i++)
            if (!dead_memory_is_poisoned(header + i))
                broken(
                    c,
                    "word %zu of %s of %zu words is not poisoned: an access to freed memory would "
                    "not be seen",
                    i, kind == GC_FREE ? "a free block" : "unused memory", words);
}

static void check_poisons(struct conform *c) {
    if (!c->collector->walk)
        return;
    for (unsigned round = 0; round < 3; round++) {
        make_list(c, 2u << c->scale);
        c->slots[0][0] = WORD_UNIT;
        make_list(c, 1u << c->scale);
        collect_fully(c);
        c->collector->walk(c->gc, visit_dead, c);
    }
}

/* ---- after a collection -----------------------------------------------------------------------
 */

static void half_garbage(struct conform *c) {
    for (unsigned s = 0; s < 8; s++)
        make_node(c, 0, s % 2, s);
    make_list(c, 1u << c->scale);
    collect_fully(c);
}

static void check_whitens(struct conform *c) {
    half_garbage(c);
    walk(c, HEAP_TILES | HEAP_COLOURS);
}

static void check_free_list(struct conform *c) {
    unsigned checks = HEAP_TILES | HEAP_FREE_LIST | (c->traits.sorted_free_list ? HEAP_SORTED : 0) |
                      (c->traits.merged_free_list ? HEAP_MERGED : 0);
    for (unsigned round = 0; round < 4; round++) {
        half_garbage(c);
        walk(c, checks);
    }
}

static const char *claims_exact(const struct conform *c) {
    return c->traits.full_until_exact ? NULL : "full_until_exact is 0: garbage may stay for ever";
}

/* Garbage of all sorts: a list, a cycle, big and small blocks. */
static void check_exact(struct conform *c) {
    unsigned n = 1u << c->scale;
    for (unsigned round = 0; round < 3; round++) {
        make_list(c, n);
        make_node(c, 0, 1, 1);
        make_node(c, 0, 2, 2);
        set_field(c, 0, 1, 1, 2);
        set_field(c, 0, 2, 1, 1);
        c->slots[0][0] = c->slots[0][1] = c->slots[0][2] = WORD_UNIT;
        for (unsigned i = 1; i < 6; i++)
            make(c, 0, 3, i, 0, c->units);
        c->slots[0][3] = WORD_UNIT;
        make_list(c, n);
        collect_fully(c);
        walk(c, HEAP_TILES);
        if (c->facts.live != n)
            broken(c,
                   "%u blocks are reachable, and after %u full collections the walk has %zu live "
                   "ones",
                   n, c->traits.full_until_exact, c->facts.live);
        expect_list(c, n, "after full collections");
    }
}

/* ---- less than that ---------------------------------------------------------------------------
 */

static const char *claims_acyclic(const struct conform *c) {
    return c->traits.acyclic_until_exact ? NULL
                                         : "acyclic_until_exact is 0: garbage may stay for ever";
}

/* Lists, blocks that are shared, and large ones, all without a cycle. */
static void check_acyclic(struct conform *c) {
    unsigned n = 1u << c->scale;
    for (unsigned round = 0; round < 3; round++) {
        make_list(c, n);
        for (unsigned i = 0; i < 4; i++) {
            make_node(c, 0, 1, i);
            set_field(c, 0, 1, 0, 0);
            set_field(c, 0, 1, 1, 0);
            c->slots[0][0] = c->slots[0][1];
        }
        make(c, 0, 1, 5, node_tag(c), c->units);
        set_field(c, 0, 1, 4, 0);
        c->slots[0][1] = WORD_UNIT;
        make_list(c, n);
        collect_fully(c);
        walk(c, HEAP_TILES);
        if (c->facts.live != n)
            broken(c,
                   "%u blocks are reachable and there was no cycle, and after %u full collections "
                   "the walk has %zu live ones",
                   n, trait_full_collections(&c->traits), c->facts.live);
        expect_list(c, n, "after full collections");
    }
}

static const char *claims_retained(const struct conform *c) {
    return c->traits.most_retained ? NULL : "most_retained is 0: anything may stay for ever";
}

/* Dead blocks of raw words, as many and as long as there is ample room for. */
static void drop_raw(struct conform *c) {
    unsigned tag = some_raw_tag(c);
    for (unsigned i = 0; tag && i < 4; i++)
        make(c, 0, 1, as_long(c, c->words / 12), tag, c->units);
    c->slots[0][1] = WORD_UNIT;
}

static void check_retained(struct conform *c) {
    enum { NODE_WORDS = 3 };
    unsigned n = 1u << c->scale;
    for (unsigned round = 0; round < 3; round++) {
        make_list(c, n);
        drop_raw(c);
        make_list(c, n);
        collect_fully(c);
        walk(c, HEAP_TILES);
        if (c->facts.live_words > NODE_WORDS * n + c->traits.most_retained)
            broken(c,
                   "%u words are reachable, most_retained is %zu, and after a full collection "
                   "the walk has %zu live words",
                   NODE_WORDS * n, c->traits.most_retained, c->facts.live_words);
        expect_list(c, n, "after a full collection");
    }
}

/* ---- an empty heap ----------------------------------------------------------------------------
 */

static void check_renews(struct conform *c) {
    size_t most = as_long(c, c->words - 1);
    for (unsigned round = 0; round < 3; round++) {
        for (unsigned s = 0; s < 16; s++)
            if (ask(c, 0, s % 5, 1 + s % 3, 0, c->units) != GC_OK)
                break;
        for (unsigned s = 0; s < GC_SLOTS; s++)
            c->slots[0][s] = WORD_UNIT;
        collect_fully(c);
        if (ask(c, 0, 0, most, 0, c->units) != GC_OK)
            broken(
                c,
                "an emptied heap of %zu words has no room for a block of %zu fields; a fresh one "
                "has",
                c->words, most);
        c->slots[0][0] = WORD_UNIT;
        collect_fully(c);
    }
}

/* ---- refusal ----------------------------------------------------------------------------------
 */

static const char *promises_refusal(const struct conform *c) {
    return c->traits.refusal == REFUSES_ANYTIME ? "refusal is REFUSES_ANYTIME" : NULL;
}

/* A refused allocation of this size was right. */
static void expect_rightly_refused(struct conform *c, size_t wosize, size_t live) {
    if (c->traits.refusal == REFUSES_EXACTLY) {
        if (live + wosize + 1 <= most_alive(&c->traits, &c->config))
            broken(c, "refused %zu fields with %zu words alive in a heap of %zu: it fits", wosize,
                   live, c->words);
        return;
    }
    walk(c, HEAP_TILES);
    if (c->facts.largest_free >= wosize)
        broken(c, "refused %zu fields although a free block has room for %zu", wosize,
               c->facts.largest_free);
}

/* Blocks of three sizes, kept or dropped by turns, until nothing fits. */
static void check_refuses(struct conform *c) {
    size_t live = 0;
    for (unsigned i = 0; live < most_alive(&c->traits, &c->config); i++) {
        size_t wosize = 2 + i % 3;
        c->slots[0][1] = WORD_UNIT;
        if (ask(c, 0, 1, wosize, node_tag(c), c->units) != GC_OK) {
            expect_rightly_refused(c, wosize, live);
            break;
        }
        if (i % 2) {
            set_field(c, 0, 1, 1, 0);
            c->slots[0][0] = c->slots[0][1];
            live += wosize + 1;
        }
        if (live > most_alive(&c->traits, &c->config))
            broken(c, "%zu words are alive in a heap of %zu", live,
                   most_alive(&c->traits, &c->config));
    }
    c->slots[0][1] = WORD_UNIT;
    size_t rest = c->words - live;
    if (c->traits.refusal == REFUSES_EXACTLY && rest > 1 &&
        (!c->traits.max_wosize || rest - 1 <= c->traits.max_wosize)) {
        if (ask(c, 0, 1, rest, 0, c->units) == GC_OK)
            broken(c, "with %zu words alive %zu fields were allocated in a heap of %zu words", live,
                   rest, c->words);
        if (ask(c, 0, 1, rest - 1, 0, c->units) != GC_OK)
            broken(c, "refused %zu fields with %zu words alive in a heap of %zu: it fits exactly",
                   rest - 1, live, c->words);
    }
}

static const char *has_limit(const struct conform *c) {
    return c->traits.max_wosize ? NULL : "max_wosize is 0: no limit but the heap";
}

static void check_limit(struct conform *c) {
    size_t wosize = c->traits.max_wosize;
    if (wosize + 1 > c->words / 2)
        return;
    if (ask(c, 0, 0, wosize, 0, c->units) != GC_OK)
        broken(
            c,
            "max_wosize is %zu, and a block of that size is refused by a fresh heap of %zu words",
            wosize, c->words);
    collect(c, GC_FULL);
    if (header_wosize(header_of(c->slots[0][0])) != wosize)
        broken(c, "after a full collection the largest block has another size");
}

const struct conform_step conform_traits[] = {
    {"traits", "the traits do not contradict each other or lack a function", NULL, check_sense},
    {"stays", "without the trait moves no block moves", stays, check_stays},
    {"start_env", "the words of a closure before its environment are not followed",
     claims_start_env, check_start_env},
    {"infix", "an infix pointer keeps its closure, and is updated with it", claims_infix,
     check_infix},
    {"raw", "raw words of no-scan blocks are neither followed nor changed", claims_raw, check_raw},
    {"outside", "words and blocks outside the heap are left alone", claims_outside, check_outside},
    {"statics", "static blocks are left alone", claims_statics, check_statics},
    {"any_word", "words outside the heap are left alone whatever their bits are", claims_any_word,
     check_any_word},
    {"atoms", "blocks without fields, outside the heap, are left alone", claims_atoms, check_atoms},
    {"poisons", "dead memory is poisoned through the hooks, and live memory is not", claims_poisons,
     check_poisons},
    {"whitens", "after a cycle every block is white or blue", claims_whitens, check_whitens},
    {"free_list", "the free list has every free block, in the order promised", claims_free_list,
     check_free_list},
    {"exact", "after full_until_exact full collections exactly the reachable blocks are left",
     claims_exact, check_exact},
    {"acyclic", "after acyclic_until_exact full collections no garbage is left but by cycles",
     claims_acyclic, check_acyclic},
    {"retained", "a full collection leaves no more than most_retained words of garbage",
     claims_retained, check_retained},
    {"renews", "an emptied heap serves what a fresh heap serves", claims_renews, check_renews},
    {"refuses", "an allocation is refused only when the trait refusal allows it", promises_refusal,
     check_refuses},
    {"max_wosize", "a block of max_wosize fields can be had", has_limit, check_limit},
    {NULL, NULL, NULL, NULL}};
