/* SPDX-License-Identifier: MIT
 *
 * Isomorphism and heap walk on heaps made by hand: what must be found, and legal odd states that
 * must pass.
 */
#include "views/heap.h"
#include "views/isomorphism.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

enum { WORDS = 64 };

/* A heap in an array; its collector walks it by headers and a list of free blocks. */
struct gc {
    word words[WORDS];
    word statics[8];
    size_t static_words;
    word free_list[8]; /* values, ended by 0 */
    gc_slots slots[1];
    struct graph graph;
    struct graph_cell cells[WORDS + 16];
    uint64_t in_use[WORDS / 64 + 1];
    struct heap_facts facts;
};
static struct gc left, right;
static struct pair queue[WORDS];
static struct isomorphism iso;

static void walk(struct gc *g, gc_visit *visit, void *context) {
    size_t words;
    for (size_t at = 0; at < WORDS; at += words) {
        words = header_wosize(g->words[at]) + 1;
        visit(context,
              words == 1                            ? GC_FRAGMENT
              : header_colour(g->words[at]) == BLUE ? GC_FREE
                                                    : GC_LIVE,
              &g->words[at], words);
    }
    for (size_t i = 0; g->free_list[i]; i++)
        visit(context, GC_FREE_LIST_ENTRY, word_pointer(g->free_list[i]) - 1, 0);
}
static const struct collector by_hand = {.walk = walk};

/* Block at a place: header and fields; the rest of the heap is one free block (finish). */
static word block(struct gc *g, size_t at, unsigned tag, size_t wosize, const word *fields) {
    g->words[at] = header_make(wosize, WHITE, tag);
    memcpy(&g->words[at + 1], fields, wosize * sizeof(word));
    return pointer_word(&g->words[at + 1]);
}
static void free_block(struct gc *g, size_t at, size_t words) {
    g->words[at] = header_make(words - 1, BLUE, 0);
    size_t i = 0;
    while (g->free_list[i])
        i++;
    g->free_list[i] = pointer_word(&g->words[at + 1]);
}
static enum violation walk_heap(struct gc *g, unsigned checks) {
    heap_walk(&g->graph, &by_hand, g, checks, &g->facts);
    return g->facts.violation;
}
static enum violation compare(void) {
    assert_int_equal(walk_heap(&left, HEAP_TILES), VIOLATION_none);
    assert_int_equal(walk_heap(&right, HEAP_TILES), VIOLATION_none);
    return isomorphism_compare(&iso, &left.graph, &right.graph);
}

static int empty_heaps(void **state) {
    (void)state;
    struct gc *both[] = {&left, &right};
    for (unsigned i = 0; i < 2; i++) {
        struct gc *g = both[i];
        memset(g, 0, sizeof *g);
        for (unsigned s = 0; s < GC_SLOTS; s++)
            g->slots[0][s] = WORD_UNIT;
        graph_of_heap(&g->graph, g->words, WORDS, g->statics, 0, g->slots[0], 1, g->cells,
                      sizeof g->cells / sizeof *g->cells, g->in_use);
    }
    iso.queue = queue;
    iso.capacity = WORDS;
    return 0;
}

#define FIELDS(...)                                                                                \
    (const word[]) {                                                                               \
        __VA_ARGS__                                                                                \
    }

/* The same two blocks, b0 = [7, b1] and b1 = [b0], at different places. */
static void fill_pair(struct gc *g, size_t at0, size_t at1, size_t rest) {
    word b1 = pointer_word(&g->words[at1 + 1]);
    word b0 = block(g, at0, 3, 2, FIELDS(immediate(7), b1));
    block(g, at1, 4, 1, FIELDS(b0));
    g->slots[0][5] = b0;
    free_block(g, rest, WORDS - rest);
}

static void addresses_do_not_matter(void **state) {
    (void)state;
    fill_pair(&left, 0, 3, 5);
    fill_pair(&right, 2, 0, 5);
    assert_int_equal(compare(), VIOLATION_none);
    assert_int_equal(iso.pairs, 2);
}

/* Behind two blocks that are reached a cycle of garbage with one that hangs on it, and one more
 * that leads there. */
static void garbage_is_told_from_what_cycles_keep(void **state) {
    (void)state;
    fill_pair(&right, 0, 3, 5);
    word kept = pointer_word(&left.words[10]), cycle = pointer_word(&left.words[6]);
    fill_pair(&left, 0, 3, 15);
    block(&left, 5, 0, 3, FIELDS(cycle, kept, WORD_UNIT));
    block(&left, 9, 0, 1, FIELDS(WORD_UNIT));
    block(&left, 11, 0, 3, FIELDS(kept, cycle, WORD_UNIT));
    assert_int_equal(compare(), VIOLATION_none);
    assert_ptr_equal(heap_unreached(&left.graph, &iso), &left.words[5]);
    assert_int_equal(heap_unreached_words(&left.graph, &iso), 10);
    assert_ptr_equal(heap_unkept(&left.graph, &iso), &left.words[11]);
    left.words[11] = header_make(3, WHITE, TAG_STRING); /* which leads nowhere */
    left.words[6] = WORD_UNIT;
    assert_int_equal(compare(), VIOLATION_none);
    assert_ptr_equal(heap_unkept(&left.graph, &iso), &left.words[5]);
}

static bool may_be_written(unsigned tag) {
    return tag == 4;
}

/* Of two equal blocks without identity one is there twice on the other side. */
static void equal_blocks_may_be_one_where_it_is_said(void **state) {
    (void)state;
    static uint32_t links[2 * (WORDS + 16)];
    struct collector sharing = {.writable = may_be_written, .traits.shares_values = true};
    block(&left, 0, 3, 1, FIELDS(immediate(7)));
    free_block(&left, 2, WORDS - 2);
    block(&right, 0, 3, 1, FIELDS(immediate(7)));
    block(&right, 2, 3, 1, FIELDS(immediate(7)));
    free_block(&right, 4, WORDS - 4);
    left.slots[0][0] = left.slots[0][1] = pointer_word(&left.words[1]);
    right.slots[0][0] = pointer_word(&right.words[1]);
    right.slots[0][1] = pointer_word(&right.words[3]);
    assert_int_equal(compare(), VIOLATION_sharing_changed);
    isomorphism_allow(&iso, &sharing, &sharing.traits);
    iso.links = links;
    iso.links_b = WORDS + 16;
    assert_int_equal(compare(), VIOLATION_none);
    right.words[3] = immediate(8);
    assert_int_equal(compare(), VIOLATION_data_changed);
    right.words[3] = immediate(7);
    left.words[0] = right.words[0] = right.words[2] = header_make(1, WHITE, 4);
    assert_int_equal(compare(), VIOLATION_sharing_changed);
    isomorphism_allow(&iso, &by_hand, &by_hand.traits);
    assert_null(iso.writable);
}

static void differences_have_a_path(void **state) {
    (void)state;
    char path[40];
    fill_pair(&left, 0, 3, 5);
    fill_pair(&right, 2, 0, 5);
    left.words[1] = immediate(8);
    assert_int_equal(compare(), VIOLATION_data_changed);
    isomorphism_path(&iso, path, sizeof path);
    assert_string_equal(path, "r5.0");
    left.words[1] = immediate(7);
    left.words[3] = header_make(1, WHITE, 9);
    assert_int_equal(compare(), VIOLATION_tag_changed);
    isomorphism_path(&iso, path, sizeof path);
    assert_string_equal(path, "r5.1");
}

static void a_pointer_into_free_memory_is_lost(void **state) {
    (void)state;
    fill_pair(&left, 0, 3, 5);
    fill_pair(&right, 0, 3, 5);
    left.words[2] = pointer_word(&left.words[20]);
    assert_int_equal(compare(), VIOLATION_lost_object);
}

static void a_pointer_into_a_block_dangles(void **state) {
    (void)state;
    fill_pair(&left, 0, 3, 5);
    fill_pair(&right, 0, 3, 5);
    left.words[4] = pointer_word(&left.words[2]);
    assert_int_equal(compare(), VIOLATION_dangling_pointer);
    left.words[4] = outside_pointer(1); /* and so does one that leads nowhere */
    assert_int_equal(compare(), VIOLATION_dangling_pointer);
    left.words[4] = WORD_UNIT;
    assert_int_equal(compare(), VIOLATION_edge_changed);
}

/* Two equal strings are not one string, in either direction. */
static void sharing_counts_both_ways(void **state) {
    (void)state;
    struct gc *sides[] = {&left, &right};
    for (unsigned i = 0; i < 2; i++) {
        struct gc *g = sides[i];
        word a = block(g, 0, TAG_STRING, 1, FIELDS(42)), b = block(g, 2, TAG_STRING, 1, FIELDS(42));
        g->slots[0][0] = a;
        g->slots[0][1] = b;
        free_block(g, 4, WORDS - 4);
    }
    assert_int_equal(compare(), VIOLATION_none);
    left.slots[0][1] = left.slots[0][0];
    assert_int_equal(compare(), VIOLATION_sharing_changed);
    assert_int_equal(isomorphism_compare(&iso, &right.graph, &left.graph),
                     VIOLATION_sharing_changed);
}

/* Odd but legal: raw words that look like pointers, other colours in an infix header, code
 * pointers, an infix pointer as the only way to a closure, words outside every heap, the largest
 * immediates. */
static void odd_legal_states_pass(void **state) {
    (void)state;
    struct gc *sides[] = {&left, &right};
    for (unsigned i = 0; i < 2; i++) {
        struct gc *g = sides[i];
        size_t at = 8 * i; /* at other places in the two */
        word inside = pointer_word(&left.words[2]);
        word s = block(g, at, TAG_STRING, 2, FIELDS(inside, 0));
        word c = block(g, at + 3, TAG_CLOSURE, 7,
                       FIELDS(code_pointer(1), closinfo_make(1, 5),
                              header_make(3, i ? BLACK : WHITE, TAG_INFIX), code_pointer(2),
                              closinfo_make(1, 2), s, outside_pointer(9)));
        g->slots[0][31] = c + 3 * sizeof(word);
        g->slots[0][1] = immediate(INT64_MAX >> 1);
        g->slots[0][2] = immediate(INT64_MIN >> 1);
        if (at)
            free_block(g, 0, at);
        free_block(g, at + 11, WORDS - at - 11);
    }
    assert_int_equal(compare(), VIOLATION_none);
    assert_int_equal(iso.pairs, 2);
    left.slots[0][31] -= 3 * sizeof(word); /* but the offset counts */
    assert_int_equal(compare(), VIOLATION_edge_changed);
}

static void static_blocks_are_part_of_the_graph(void **state) {
    (void)state;
    struct gc *sides[] = {&left, &right};
    for (unsigned i = 0; i < 2; i++) {
        struct gc *g = sides[i];
        g->statics[0] = header_make(2, BLACK, 5);
        g->statics[1] = immediate(1);
        g->statics[2] = pointer_word(&g->statics[1]);
        g->graph.static_words = 3;
        g->graph.universe += 3;
        g->slots[0][0] = pointer_word(&g->statics[1]);
        free_block(g, 0, WORDS);
    }
    assert_int_equal(compare(), VIOLATION_none);
    left.statics[1] = immediate(2);
    assert_int_equal(compare(), VIOLATION_data_changed);
}

/* A list as long as the heap: the comparison is no recursion. */
static void long_lists_and_cycles(void **state) {
    (void)state;
    struct gc *sides[] = {&left, &right};
    for (unsigned i = 0; i < 2; i++) {
        struct gc *g = sides[i];
        for (size_t at = 0; at < WORDS; at += 2)
            block(g, at, 0, 1, FIELDS(pointer_word(&g->words[(at + 2) % WORDS + 1])));
        g->slots[0][0] = pointer_word(&g->words[1]);
    }
    assert_int_equal(compare(), VIOLATION_none);
    assert_int_equal(iso.pairs, WORDS / 2);
}

/* ---- the walk ----------------------------------------------------------------------------------
 */

static void legal_heaps_tile(void **state) {
    (void)state;
    unsigned all = HEAP_TILES | HEAP_COLOURS | HEAP_FREE_LIST | HEAP_SORTED | HEAP_MERGED;
    block(&left, 0, 0, 1, FIELDS(WORD_UNIT));
    left.words[2] = header_make(0, WHITE, 0); /* a fragment between two blocks */
    block(&left, 3, 0, 1, FIELDS(WORD_UNIT));
    free_block(&left, 5, WORDS - 5);
    assert_int_equal(walk_heap(&left, all), VIOLATION_none);
    assert_int_equal(left.facts.live, 2);
    assert_int_equal(left.facts.largest_free, WORDS - 6);
}

static void broken_walks_are_seen(void **state) {
    (void)state;
    fill_pair(&left, 0, 3, 5);
    left.words[3] = header_make(WORDS, WHITE, 0);
    assert_int_equal(walk_heap(&left, HEAP_TILES), VIOLATION_ill_formed_heap);
    left.words[3] = header_make(1, WHITE, TAG_INFIX);
    assert_int_equal(walk_heap(&left, HEAP_TILES), VIOLATION_ill_formed_heap);
    left.words[3] = header_make(1, BLACK, 0);
    assert_int_equal(walk_heap(&left, HEAP_TILES), VIOLATION_none);
    assert_int_equal(walk_heap(&left, HEAP_TILES | HEAP_COLOURS), VIOLATION_wrong_colour);
}

static void broken_free_lists_are_seen(void **state) {
    (void)state;
    unsigned list = HEAP_TILES | HEAP_FREE_LIST;
    free_block(&left, 0, 4);
    block(&left, 4, 0, 3, FIELDS(WORD_UNIT, WORD_UNIT, WORD_UNIT));
    free_block(&left, 8, 6);
    free_block(&left, 14, WORDS - 14);
    assert_int_equal(walk_heap(&left, list | HEAP_SORTED), VIOLATION_none);
    assert_int_equal(walk_heap(&left, list | HEAP_MERGED), VIOLATION_free_list_corrupt);
    word second = left.free_list[1], third = left.free_list[2];
    left.free_list[2] = 0; /* one is missing */
    assert_int_equal(walk_heap(&left, list), VIOLATION_free_list_corrupt);
    left.free_list[1] = third;
    left.free_list[2] = second; /* out of order: legal unless sorted is promised */
    assert_int_equal(walk_heap(&left, list), VIOLATION_none);
    assert_int_equal(walk_heap(&left, list | HEAP_SORTED), VIOLATION_free_list_corrupt);
    left.free_list[2] = pointer_word(&left.words[5]); /* a live block */
    assert_int_equal(walk_heap(&left, list), VIOLATION_free_list_corrupt);
    left.free_list[2] = outside_pointer(3);
    assert_int_equal(walk_heap(&left, list), VIOLATION_free_list_corrupt);
    left.free_list[2] = second;
    left.free_list[3] = second; /* a cycle, cut short by the walk */
    assert_int_equal(walk_heap(&left, list), VIOLATION_free_list_corrupt);
}

static void new_blocks_must_not_overlap(void **state) {
    (void)state;
    fill_pair(&left, 0, 3, 5);
    assert_int_equal(walk_heap(&left, HEAP_TILES), VIOLATION_none);
    assert_true(heap_claim(&left.graph, &left.words[10], 4));
    assert_false(heap_claim(&left.graph, &left.words[13], 2)); /* allocated since the walk */
    assert_false(heap_claim(&left.graph, &left.words[2], 3));
    assert_false(heap_claim(&left.graph, &left.words[WORDS - 1], 2)); /* beyond the end */
    assert_true(heap_claim(&left.graph, &left.words[14], 2));
}

#define TEST(f) cmocka_unit_test_setup(f, empty_heaps)

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(addresses_do_not_matter),
        TEST(garbage_is_told_from_what_cycles_keep),
        TEST(equal_blocks_may_be_one_where_it_is_said),
        TEST(differences_have_a_path),
        TEST(a_pointer_into_free_memory_is_lost),
        TEST(a_pointer_into_a_block_dangles),
        TEST(sharing_counts_both_ways),
        TEST(odd_legal_states_pass),
        TEST(static_blocks_are_part_of_the_graph),
        TEST(long_lists_and_cycles),
        TEST(legal_heaps_tile),
        TEST(broken_walks_are_seen),
        TEST(broken_free_lists_are_seen),
        TEST(new_blocks_must_not_overlap),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
