/* SPDX-License-Identifier: MIT
 *
 * Graph views, the model and isomorphism, function by function, on heaps that are written out here.
 */
#include "views/bits.h"
#include "views/heap.h"
#include "views/isomorphism.h"
#include "views/large.h"
#include "views/violation.h"

#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

/* ---- a heap -----------------------------------------------------------------------------------
 *
 * word 0   block tag 3 of 2 fields: an immediate, an infix pointer to the closure's second function
 * word 3   free, of 1 field
 * word 5   closure of 6 fields: two functions of arity 1, and one word of environment
 */

enum { WORDS = 12, FIRST = 1, FREE = 4, CLOSURE = 6, INFIX = 3 };

struct gc {
    word words[WORDS], statics[2];
    gc_slots slots[1];
    struct graph graph;
    struct graph_cell cells[WORDS + 2];
    uint64_t in_use[1];
    struct heap_facts facts;
};
static struct gc heap;

static word at(size_t place) {
    return pointer_word(&heap.words[place]);
}

static void walk(struct gc *g, gc_visit *visit, void *context) {
    for (size_t i = 0, words; i < WORDS; i += words) {
        words = header_wosize(g->words[i]) + 1;
        visit(context, header_colour(g->words[i]) == BLUE ? GC_FREE : GC_LIVE, &g->words[i], words);
    }
}
static const struct collector by_hand = {.walk = walk};

static int write_heap(void **state) {
    (void)state;
    const word words[WORDS] = {header_make(2, WHITE, 3),
                               immediate(7),
                               at(CLOSURE + INFIX),
                               header_make(1, BLUE, 0),
                               0,
                               header_make(6, WHITE, TAG_CLOSURE),
                               code_pointer(1),
                               closinfo_make(1, 5),
                               header_make(INFIX, WHITE, TAG_INFIX),
                               code_pointer(2),
                               closinfo_make(1, 2),
                               at(FIRST)};
    memset(&heap, 0, sizeof heap);
    memcpy(heap.words, words, sizeof words);
    heap.statics[0] = header_make(1, BLACK, TAG_STRING);
    heap.statics[1] = 42;
    for (unsigned s = 0; s < GC_SLOTS; s++)
        heap.slots[0][s] = WORD_UNIT;
    heap.slots[0][0] = at(FIRST);
    graph_of_heap(&heap.graph, heap.words, WORDS, heap.statics, 2, heap.slots[0], 1, heap.cells,
                  WORDS + 2, heap.in_use);
    heap_walk(&heap.graph, &by_hand, &heap, HEAP_TILES, &heap.facts);
    assert_int_equal(heap.facts.violation, VIOLATION_none);
    return 0;
}

static void must_resolve(word v, enum graph_kind kind, uint32_t id, uint32_t offset) {
    struct graph_ref ref = graph_resolve(&heap.graph, v);
    assert_int_equal(ref.kind, kind);
    if (kind == GRAPH_BLOCK) {
        assert_int_equal(ref.id, id);
        assert_int_equal(ref.offset, offset);
    }
}

static void words_are_resolved(void **state) {
    (void)state;
    must_resolve(immediate(-3), GRAPH_ATOM, 0, 0);
    must_resolve(outside_pointer(1), GRAPH_ATOM, 0, 0);
    must_resolve(code_pointer(1), GRAPH_ATOM, 0, 0);
    must_resolve(at(FIRST), GRAPH_BLOCK, FIRST, 0);
    must_resolve(at(CLOSURE), GRAPH_BLOCK, CLOSURE, 0);
    must_resolve(at(CLOSURE + INFIX), GRAPH_BLOCK, CLOSURE, INFIX);
    must_resolve(pointer_word(&heap.statics[1]), GRAPH_BLOCK, WORDS + 1, 0);
    must_resolve(at(FREE), GRAPH_LOST, 0, 0);
    must_resolve(at(CLOSURE + 1), GRAPH_DANGLING, 0, 0);
    must_resolve(at(FIRST) + 2, GRAPH_DANGLING, 0, 0); /* no address of a word */
    assert_int_equal(graph_resolve_inside(&heap.graph, FIRST + 1, at(FIRST + 1)).kind,
                     GRAPH_DANGLING);
    assert_int_equal(graph_resolve_inside(&heap.graph, CLOSURE + INFIX, at(CLOSURE + INFIX)).offset,
                     INFIX);
}

static void blocks_are_seen(void **state) {
    (void)state;
    const struct graph *g = &heap.graph;
    struct graph_block closure = graph_block(g, CLOSURE);
    assert_int_equal(closure.tag, TAG_CLOSURE);
    assert_int_equal(closure.wosize, 6);
    assert_int_equal(closure.first_scanned, 5);
    assert_ptr_equal(closure.fields, &heap.words[CLOSURE]);
    struct graph_block string = graph_block(g, WORDS + 1); /* static: nothing in it is scanned */
    assert_int_equal(string.first_scanned, string.wosize);
    assert_ptr_equal(graph_fields(g, WORDS + 1), &heap.statics[1]);
    assert_int_equal(graph_word(g, CLOSURE), at(CLOSURE));
    for (size_t i = 0; i < WORDS; i++) {
        assert_int_equal(graph_starts(g, i), i == FIRST || i == CLOSURE);
        assert_int_equal(graph_in_use(g, i), i < 3 || i >= 5);
    }
}

static void forgetting_clears_every_cell(void **state) {
    (void)state;
    heap.cells[WORDS + 1].visit = 9;
    graph_forget(&heap.graph);
    for (size_t i = 0; i < WORDS + 2; i++) {
        assert_int_equal(heap.cells[i].stamp, 0);
        assert_int_equal(heap.cells[i].visit, 0);
    }
}

/* ---- the model --------------------------------------------------------------------------------
 */

static struct model model;
static struct graph model_graph;
static struct graph_cell model_cells[MODEL_OBJECTS];
static struct pair queue[16];
static struct isomorphism iso = {.queue = queue, .capacity = 16};

/* The same graph as the heap's; returns the closure. */
static unsigned write_model(void) {
    const word code[] = {code_pointer(1), closinfo_make(1, 5), header_make(INFIX, WHITE, TAG_INFIX),
                         code_pointer(2), closinfo_make(1, 2), WORD_UNIT};
    const word units[] = {WORD_UNIT, WORD_UNIT};
    assert_true(model_room(&model, MODEL_OBJECTS, MODEL_WORDS));
    model_reset(&model, 1);
    unsigned first = model_add(&model, 2, 3, 0, units);
    unsigned closure = model_add(&model, 6, TAG_CLOSURE, 5, code);
    model_fields(&model, first)[0] = immediate(7);
    model_fields(&model, first)[1] = model_pointer(closure, INFIX);
    model_fields(&model, closure)[5] = model_pointer(first, 0);
    model.slots[0][0] = model_pointer(first, 0);
    graph_of_model(&model_graph, &model, model_cells);
    return closure;
}

static void marking_counts_what_is_reached(void **state) {
    (void)state;
    const word nothing[] = {WORD_UNIT};
    unsigned closure = write_model();
    unsigned garbage = model_add(&model, 1, 0, 0, nothing);
    model_mark(&model);
    assert_int_equal(model.n_reached, 2);
    assert_int_equal(model.live_objects, 2);
    assert_int_equal(model.live_words, 3 + 7);
    assert_int_equal(model.work[1], closure); /* breadth first */
    assert_int_not_equal(model.objects[garbage].mark, model.epoch);
    model.objects[closure].is_static = true; /* reached, but of no heap */
    assert_true(model_is_foreign(&model, &model.objects[closure]));
    model.statics_alike = true;
    assert_false(model_is_foreign(&model, &model.objects[closure]));
    model.statics_alike = false;
    model_mark(&model);
    assert_int_equal(model.n_reached, 2);
    assert_int_equal(model.live_words, 3);
}

static bool is_no_closure(const struct model_object *o) {
    return o->tag != TAG_CLOSURE;
}
static bool is_anything(const struct model_object *o) {
    return o->in_use;
}

/* What nothing reaches is in the way of nothing. */
static void room_is_what_unreachable_objects_leave(void **state) {
    (void)state;
    enum { FIELDS = 4096, ALL = MODEL_WORDS / FIELDS };
    static word units[FIELDS];
    for (unsigned i = 0; i < FIELDS; i++)
        units[i] = WORD_UNIT;
    assert_true(model_room(&model, MODEL_OBJECTS, MODEL_WORDS));
    model_reset(&model, 1);
    assert_true(model_has_room(&model, 1, MODEL_WORDS));
    assert_false(model_has_room(&model, 1, MODEL_WORDS + 1));
    for (unsigned i = 0; i < ALL; i++)
        model.slots[0][i % GC_SLOTS] = model_pointer(model_add(&model, FIELDS, 0, 0, units), 0);
    assert_false(model_has_room(&model, 1, 1)); /* a root holds each of them */
    model.slots[0][3] = WORD_UNIT;
    assert_true(model_has_room(&model, 1, FIELDS));
    assert_false(model_has_room(&model, 1, FIELDS + 1));
}

/* What a model may hold is what was asked for last, whatever memory it has from before. */
static void a_model_that_has_grown_has_the_limits_that_it_is_given(void **state) {
    (void)state;
    static struct model grown;
    assert_true(model_room(&grown, 4, 8));
    model_reset(&grown, 1);
    assert_true(model_has_room(&grown, 4, 8));
    assert_false(model_has_room(&grown, 5, 8));
    assert_true(model_room(&grown, 100, 1000));
    model_reset(&grown, 1);
    assert_true(model_has_room(&grown, 100, 1000));
    assert_true(model_room(&grown, 4, 8));
    model_reset(&grown, 1);
    assert_false(model_has_room(&grown, 5, 8));
    assert_int_equal(grown.room_objects, 100);
    model_close(&grown);
    assert_null(grown.objects);
}

/* Does a process that writes there end? */
static bool is_guarded(volatile char *place) {
    int status = 0;
    pid_t child = fork();
    if (child == 0) {
        signal(SIGSEGV, SIG_DFL);
        *place = 1;
        _exit(0);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    return status != 0;
}

static void large_memory_is_zero_and_ends_at_a_guard(void **state) {
    static const size_t sizes[] = {16, 1, 100, 4096, 4080, 1 << 23, 3 << 24};
    (void)state;
    for (unsigned i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        char *large = large_calloc(sizes[i], 1);
        assert_non_null(large);
        assert_int_equal((uintptr_t)large % 16, 0);
        assert_true(large[0] == 0 && large[sizes[i] - 1] == 0);
        large[0] = large[sizes[i] - 1] = 1;
        assert_true(is_guarded(large + (sizes[i] + 15) / 16 * 16));
        large_free(large);
    }
    assert_null(large_calloc(SIZE_MAX / 8, 16));
    large_free(NULL);
}

static void measuring_adds_the_words(void **state) {
    (void)state;
    size_t words = 0;
    unsigned closure = write_model();
    assert_true(model_measure(&model, closure, is_anything, &words));
    assert_int_equal(words, 10);
    assert_false(model_measure(&model, closure, is_no_closure, &words));
}

static void a_comparison_is_as_good_as_marking(void **state) {
    (void)state;
    write_model();
    assert_int_equal(isomorphism_compare(&iso, &heap.graph, &model_graph), VIOLATION_none);
    assert_int_equal(iso.pairs, 2);
    uint32_t epoch = model.epoch;
    model_reached(&model, &queue[0].b, sizeof *queue / sizeof(uint32_t), iso.pairs);
    assert_true(model.epoch != epoch);
    assert_int_equal(model.live_objects, 2);
    assert_int_equal(model.live_words, 10);
    assert_int_equal(model.objects[queue[1].b].mark, model.epoch);
}

/* ---- isomorphism ------------------------------------------------------------------------------
 */

static uint64_t digest_of_heap(void) {
    heap_walk(&heap.graph, &by_hand, &heap, HEAP_TILES, &heap.facts);
    assert_int_equal(isomorphism_compare(&iso, &heap.graph, &heap.graph), VIOLATION_none);
    return isomorphism_digest(&iso, &heap.graph, &heap.graph);
}

/* Not of addresses or colours, but of everything else. */
static void the_digest_is_of_the_graph(void **state) {
    (void)state;
    uint64_t digest = digest_of_heap();
    assert_int_equal(digest_of_heap(), digest);
    heap.words[0] = header_recolour(heap.words[0], BLACK);
    heap.words[CLOSURE + INFIX - 1] = header_recolour(heap.words[CLOSURE + INFIX - 1], BLACK);
    assert_int_equal(digest_of_heap(), digest);
    heap.words[FIRST] = immediate(8);
    assert_int_not_equal(digest_of_heap(), digest);
    heap.words[FIRST] = immediate(7);
    heap.words[FIRST + 1] = at(CLOSURE);
    assert_int_not_equal(digest_of_heap(), digest);
    heap.words[FIRST + 1] = at(CLOSURE + INFIX);
    assert_int_equal(digest_of_heap(), digest);
}

static void beginning_starts_empty(void **state) {
    (void)state;
    digest_of_heap();
    uint32_t run = iso.run;
    isomorphism_begin(&iso, &heap.graph, NULL);
    assert_int_equal(iso.pairs, 0);
    assert_int_equal(iso.run, run + 1);
    iso.run = UINT32_MAX; /* numbers begin again, and no cell may know the new one */
    heap.cells[FIRST].visit = 1;
    isomorphism_begin(&iso, &heap.graph, NULL);
    assert_int_equal(iso.run, 1);
    assert_int_equal(heap.cells[FIRST].visit, 0);
}

static void colours_of_infix_headers_do_not_count(void **state) {
    (void)state;
    word black = header_make(INFIX, BLACK, TAG_INFIX), white = header_make(INFIX, WHITE, TAG_INFIX);
    assert_int_equal(isomorphism_comparable(black, TAG_CLOSURE), white);
    assert_int_equal(isomorphism_comparable(black, TAG_STRING), black);
    assert_int_equal(isomorphism_comparable(immediate(5), TAG_CLOSURE), immediate(5));
}

/* A Forward block of an integer, of a block, and of a block that whoever forces must see. */
static void pointers_are_led_past_forward_blocks(void **state) {
    (void)state;
    const word five[] = {immediate(5)};
    write_model();
    unsigned forward = model_add(&model, 1, TAG_FORWARD, 0, five);
    word right = model_pointer(forward, 0);
    assert_int_equal(isomorphism_forwarded(&heap.graph, &model_graph, immediate(5), right),
                     immediate(5));
    assert_int_equal(isomorphism_forwarded(&heap.graph, &model_graph, immediate(5), immediate(6)),
                     immediate(6));
    model_fields(&model, forward)[0] = model_pointer(0, 0);
    assert_int_equal(isomorphism_forwarded(&heap.graph, &model_graph, at(FIRST), right),
                     model_pointer(0, 0));
    model.objects[0].tag = TAG_LAZY;
    assert_int_equal(isomorphism_forwarded(&heap.graph, &model_graph, at(FIRST), right), right);
}

/* The model has an address by number, each heap the word itself; the digest is of the number. */
static void addresses_are_words_of_their_heap(void **state) {
    (void)state;
    const struct value value = {.kind = VALUE_ADDRESS};
    write_model();
    word right = model_add_address(&model, &value, true, true);
    word raw = model_add_address(&model, &value, true, false);
    assert_true(is_immediate(right) && is_pointer(raw));
    assert_true(model_is_address(&model, right) && model_is_address(&model, raw));
    assert_false(model_is_address(&model, immediate(5)));
    assert_int_equal(model_address_number(raw), 1);
    assert_int_equal(model_data(&model, 0, right), WORD_UNIT); /* not filled in yet */
    assert_int_equal(model_data(&model, 0, immediate(5)), immediate(5));
    model_fields(&model, 0)[0] = right;
    heap.words[FIRST] = at(FIRST) | 1;
    assert_int_equal(isomorphism_compare(&iso, &heap.graph, &model_graph), VIOLATION_data_changed);
    model.addresses[0].words[1] = at(FIRST) | 1; /* of the other heap */
    assert_int_equal(isomorphism_compare(&iso, &heap.graph, &model_graph), VIOLATION_data_changed);
    model.addresses[0].words[0] = at(FIRST) | 1;
    assert_int_equal(isomorphism_compare(&iso, &heap.graph, &model_graph), VIOLATION_none);
    uint64_t digest = isomorphism_digest(&iso, &heap.graph, &model_graph);
    heap.words[FIRST] = model.addresses[0].words[0] = at(CLOSURE) | 1;
    assert_int_equal(isomorphism_compare(&iso, &heap.graph, &model_graph), VIOLATION_none);
    assert_int_equal(isomorphism_digest(&iso, &heap.graph, &model_graph), digest);
    const struct value atom = {.kind = VALUE_ATOM, .bits = 5};
    assert_true(model_is_atom(&model, model_add_address(&model, &atom, false, false)));
    assert_false(model_is_atom(&model, raw));
    assert_false(model_is_atom(&model, immediate(5)));
    model.n_addresses = MODEL_ADDRESSES;
    assert_int_equal(model_add_address(&model, &value, true, true), 0);
}

/* ---- classes ----------------------------------------------------------------------------------
 */

static void members_of_a_set_follow_each_other(void **state) {
    (void)state;
    static const unsigned members[] = {0, 5, 63, 64, 200};
    uint64_t set[4] = {0};
    size_t at = 0;
    assert_int_equal(next_bit(set, 0, 256), 256);
    for (unsigned i = 0; i < 5; i++)
        set_bit(set, members[i]);
    for (unsigned i = 0; i < 5; i++) {
        at = next_bit(set, at, 256);
        assert_int_equal(at, members[i]);
        assert_true(bit_at(set, at++));
    }
    assert_int_equal(next_bit(set, at, 256), 256);
    assert_int_equal(next_bit(set, 65, 100), 100); /* what is behind the end is not seen */
    assert_false(bit_at(set, 4));
}

static void every_class_has_a_name_and_a_meaning(void **state) {
    (void)state;
    for (unsigned v = 0; v < VIOLATION_classes; v++) {
        assert_int_equal(violation_named(violation_name((enum violation)v)), v);
        for (unsigned w = 1; v && w < v; w++)
            assert_string_not_equal(violation_meaning((enum violation)v),
                                    violation_meaning((enum violation)w));
    }
    assert_string_equal(violation_meaning(VIOLATION_overlap), "two blocks share a word");
    assert_int_equal(violation_named("no_such_class"), VIOLATION_classes);
}

static void every_class_says_what_it_means_to_a_program(void **state) {
    (void)state;
    unsigned classes[EFFECTS] = {0};
    for (unsigned v = 1; v < VIOLATION_classes; v++)
        classes[violation_effect((enum violation)v)]++;
    for (unsigned e = 0; e < EFFECTS; e++) {
        assert_true(classes[e] > 0);
        for (unsigned f = 0; f < e; f++)
            assert_string_not_equal(effect_name((enum violation_effect)e),
                                    effect_name((enum violation_effect)f));
    }
    assert_int_equal(violation_effect(VIOLATION_nursery_unused), EFFECT_waste);
    assert_int_equal(violation_effect(VIOLATION_memory_grows), EFFECT_leak);
    assert_string_equal(effect_name(violation_effect(VIOLATION_promise_broken)), "lie");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(room_is_what_unreachable_objects_leave),
        cmocka_unit_test(a_model_that_has_grown_has_the_limits_that_it_is_given),
        cmocka_unit_test(large_memory_is_zero_and_ends_at_a_guard),
        cmocka_unit_test_setup(words_are_resolved, write_heap),
        cmocka_unit_test_setup(blocks_are_seen, write_heap),
        cmocka_unit_test_setup(forgetting_clears_every_cell, write_heap),
        cmocka_unit_test(marking_counts_what_is_reached),
        cmocka_unit_test(measuring_adds_the_words),
        cmocka_unit_test_setup(a_comparison_is_as_good_as_marking, write_heap),
        cmocka_unit_test_setup(the_digest_is_of_the_graph, write_heap),
        cmocka_unit_test_setup(beginning_starts_empty, write_heap),
        cmocka_unit_test(colours_of_infix_headers_do_not_count),
        cmocka_unit_test_setup(pointers_are_led_past_forward_blocks, write_heap),
        cmocka_unit_test_setup(addresses_are_words_of_their_heap, write_heap),
        cmocka_unit_test(members_of_a_set_follow_each_other),
        cmocka_unit_test(every_class_has_a_name_and_a_meaning),
        cmocka_unit_test(every_class_says_what_it_means_to_a_program),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
