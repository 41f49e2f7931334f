/* SPDX-License-Identifier: MIT
 *
 * That each statement of the CakeML paper that the oracles check can fail: a healthy collection is
 * stopped at a state, the state is spoilt, and the statement that speaks of it must be named.
 */
#include "collectors/cakeml/cakeml.h"
#include "oracles/statements/cakeml.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

/* ---- a collector driven by hand ---------------------------------------------------------------
 */

enum { HEAP = 64 };
/* Addresses of make_heap's elements. */
enum { D1 = 0, S = 3, OLD = 5, D2 = 5, D3 = 8, DATA_END = 11, R2 = 58, R1 = 61 };

static struct cakeml_oracle oracle, spoilt;
static gc_slots slots[1];
static void no_poison(void *start, size_t words) {
    (void)start;
    (void)words;
}
static struct gc_hooks hooks = {.poison = no_poison, .unpoison = no_poison, .fuel = UINT64_MAX};

static void allocate(struct gc *gc, unsigned dst, unsigned tag, size_t wosize, unsigned a,
                     unsigned b) {
    static const word units[] = {WORD_UNIT, WORD_UNIT};
    assert_int_equal(cakeml.alloc(gc, 0, dst, wosize, tag, units), GC_OK);
    if (wosize == 2) {
        cakeml.init(gc, 0, dst, 0, a);
        cakeml.init(gc, 0, dst, 1, b);
    }
}

/* Old data D1 = (unit, R1) and S; new data D2 = (D1, S) and garbage D3; references R1 = (D2, unit)
 * and R2 = (R1, D2); the roots are R2 and D2. */
static struct gc *make_heap(unsigned variant) {
    struct gc_config config = {.heap_words = HEAP,
                               .nursery_words = 16,
                               .promotion_age = 1,
                               .variant = variant,
                               .mutators = 1,
                               .slots = slots,
                               .hooks = &hooks};
    struct gc *gc = cakeml.open();
    assert_non_null(gc);
    for (unsigned s = 0; s < GC_SLOTS; s++)
        slots[0][s] = WORD_UNIT;
    cakeml.reset(gc, &config);
    allocate(gc, 0, 1, 2, 9, 9);
    allocate(gc, 1, 0, 2, 9, 0);
    allocate(gc, 2, TAG_STRING, 1, 0, 0);
    cakeml.collect(gc, GC_MINOR);
    allocate(gc, 3, 2, 2, 1, 2);
    allocate(gc, 4, 4, 2, 3, 1);
    cakeml.store(gc, 0, 0, 0, 3);
    allocate(gc, 5, 3, 2, 0, 3);
    slots[0][0] = slots[0][1] = slots[0][2] = slots[0][4] = WORD_UNIT;
    return gc;
}

/* ---- spoiling a state -------------------------------------------------------------------------
 */

/* The tests' copy of all that a view leads to. */
static struct copies {
    struct cakeml_heap heap, old, to, sim_heap, sim_to;
    struct cakeml_words w;
    struct cakeml_state s, sim;
    uint64_t m[2 * HEAP], word_roots[CAKEML_ROOTS];
    cakeml_value roots[CAKEML_ROOTS], sim_roots[CAKEML_ROOTS];
    uint16_t f[HEAP + 1];
} c;

static struct cakeml_view copy_view(const struct cakeml_view *v) {
    struct cakeml_view copy = *v;
    c.heap = *v->heap;
    c.w = *v->w;
    c.s = *v->s;
    memcpy(c.m, v->w->m, sizeof c.m);
    memcpy(c.word_roots, v->w->roots, sizeof c.word_roots);
    memcpy(c.roots, v->roots, sizeof c.roots);
    if (v->s->heap) {
        c.old = *v->s->heap;
        c.to = *v->s->to;
        memcpy(c.f, v->s->f, sizeof c.f);
    }
    copy.heap = &c.heap;
    copy.w = &c.w;
    copy.s = &c.s;
    copy.roots = c.s.roots = c.roots;
    c.w.m = c.m;
    c.w.roots = c.word_roots;
    c.s.heap = &c.old;
    c.s.to = &c.to;
    c.s.f = c.f;
    if (v->sim) {
        c.sim = *v->sim;
        c.sim_heap = *v->sim->heap;
        c.sim_to = *v->sim->to;
        memcpy(c.sim_roots, v->sim->roots, v->sim->n_roots * sizeof *c.sim_roots);
        copy.sim = &c.sim;
        c.sim.heap = &c.sim_heap;
        c.sim.to = &c.sim_to;
        c.sim.roots = c.sim_roots;
    }
    return copy;
}

struct spoiling {
    const char *named;
    enum violation violation;
    enum cakeml_stage stage;
    unsigned state; /* number of it among those of its stage */
    void (*spoil)(struct cakeml_view *);
};
static const struct spoiling *wanted; /* NULL: none, or done */
static unsigned states_left;

/* Judges every state; spoils a copy of the one that is wanted. */
static void judge(struct gc_hooks *h, void *view) {
    struct cakeml_view *v = view;
    (void)h;
    if (wanted)
        spoilt = oracle;
    if (!cakeml_holds(&oracle, v))
        fail_msg("a healthy state: %s at %u", oracle.broken, (unsigned)oracle.where);
    if (!wanted || v->stage != wanted->stage || states_left-- > 0)
        return;
    struct cakeml_view copy = copy_view(v);
    wanted->spoil(&copy);
    if (cakeml_holds(&spoilt, &copy))
        fail_msg("not seen: %s", wanted->named);
    if (strcmp(spoilt.broken, wanted->named) != 0)
        fail_msg("expected: %s; found: %s", wanted->named, spoilt.broken);
    assert_int_equal(spoilt.violation, wanted->violation);
    wanted = NULL;
}

static void spoil_one(const struct spoiling *s, enum gc_collection kind) {
    hooks.refinement = judge;
    wanted = NULL;
    struct gc *gc = make_heap(60);
    wanted = s;
    states_left = s->state;
    cakeml.collect(gc, kind);
    if (s->stage == CAKEML_CHANGED)
        allocate(gc, 7, 1, 2, 9, 9);
    if (s->stage == CAKEML_REFUSED) {
        static const word units[HEAP];
        assert_int_equal(cakeml.alloc(gc, 0, 7, HEAP, 0, units), GC_OUT_OF_MEMORY);
    }
    cakeml.close(gc);
    if (wanted)
        fail_msg("there is no such state: %s", s->named);
}

static void spoil_all(const struct spoiling *table, size_t n, enum gc_collection kind) {
    for (size_t k = 0; k < n; k++)
        spoil_one(&table[k], kind);
}
#define SPOIL_ALL(table, kind) spoil_all(table, sizeof(table) / sizeof *(table), kind)

/* ---- the invariants of Figures 4 and 5 ---------------------------------------------------------
 */

static void data_unused(struct cakeml_view *v) {
    v->heap->el[D1].kind = CAKEML_UNUSED;
}
static void data_long(struct cakeml_view *v) {
    v->heap->el[D3].length++;
}
static void sp_more(struct cakeml_view *v) {
    v->sp++;
}
static void sp_far(struct cakeml_view *v) {
    v->sp1 = HEAP;
}
static void forwarded(struct cakeml_view *v) {
    v->heap->el[R2].kind = CAKEML_FORWARD;
}
static void end_short(struct cakeml_view *v) {
    v->heap->el[R1].length = 9;
}
static void simple_trigger(struct cakeml_view *v) {
    v->kind = CAKEML_SIMPLE;
}
static void ref_in_data(struct cakeml_view *v) {
    v->heap->el[D2].ref = true;
}
static void data_in_refs(struct cakeml_view *v) {
    v->heap->el[R1].ref = false;
}
static void root_dangles(struct cakeml_view *v) {
    v->roots[0] += (cakeml_value)1 << 32;
}
static void field_dangles(struct cakeml_view *v) {
    v->heap->words[R2 + 1] = cakeml_pointer(HEAP, 0);
}
static void bits_lost(struct cakeml_view *v) {
    v->heap->words[D2 + 1] = cakeml_pointer(D1, 0);
}
static void start_beyond(struct cakeml_view *v) {
    v->starts[0] = v->a + 1;
}
static void start_inside(struct cakeml_view *v) {
    v->starts[0] = OLD + 1;
}
static void old_to_new(struct cakeml_view *v) {
    v->heap->words[D1 + 1] = v->heap->words[R2 + 2];
}
static void too_eager(struct cakeml_view *v) {
    v->request = v->sp + 1;
    v->partial = false;
    v->s->apart = true;
}
static void too_early(struct cakeml_view *v) {
    v->request = v->sp;
}
static void refs_apart(struct cakeml_view *v) {
    v->s->apart = true;
}
static void not_ripe(struct cakeml_view *v) {
    v->request = v->sp + 1;
    v->s->gen_start = v->starts[1];
}
static void left_over(struct cakeml_view *v) {
    v->heap->el[D2 + 1].kind = CAKEML_DATA;
}
static void begun_twice(struct cakeml_view *v) {
    (void)v;
    spoilt.shown = CAKEML_STEP + 1;
}
static void not_begun(struct cakeml_view *v) {
    (void)v;
    spoilt.shown = CAKEML_CHANGED + 1;
}
static void no_lists(struct cakeml_view *v) {
    v->lists = false;
}
static void too_lazy(struct cakeml_view *v) {
    v->request = HEAP;
}
static void memory_header(struct cakeml_view *v) {
    v->w->m[v->w->curr + R1] += 4;
}
static void memory_field(struct cakeml_view *v) {
    v->w->m[v->w->curr + D2 + 2] += 4;
}

static void no_split(struct cakeml_view *v) {
    v->heap->el[cakeml_refs_start(v)].kind = CAKEML_NOTHING;
}

static void invariants_can_fail(void **state) {
    (void)state;
    static const struct spoiling table[] = {
        {"data_up_to: below the unused space is something else", VIOLATION_layout_broken,
         CAKEML_START, 0, data_unused},
        {"data_up_to: an element reaches into the unused space", VIOLATION_layout_broken,
         CAKEML_START, 0, data_long},
        {"unused_space_inv: no Unused of sp + sp1 words at a", VIOLATION_layout_broken,
         CAKEML_START, 0, sp_more},
        {"unused_space_inv: a + sp + sp1 exceeds the heap", VIOLATION_layout_broken, CAKEML_START,
         0, sp_far},
        {"heap_ok: neither data nor unused", VIOLATION_layout_broken, CAKEML_START, 0, forwarded},
        {"heap_ok: the heap's length is not its limit", VIOLATION_layout_broken, CAKEML_START, 0,
         end_short},
        {"gc_kind_inv: sp1 is not 0", VIOLATION_layout_broken, CAKEML_START, 0, simple_trigger},
        {"gc_kind_inv: a reference among the data", VIOLATION_layout_broken, CAKEML_START, 0,
         ref_in_data},
        {"gc_kind_inv: among the references is something else", VIOLATION_layout_broken,
         CAKEML_START, 0, data_in_refs},
        {"roots_ok: a root leads to no element", VIOLATION_dangling_pointer, CAKEML_START, 0,
         root_dangles},
        {"heap_ok: a pointer leads to no element", VIOLATION_dangling_pointer, CAKEML_START, 0,
         field_dangles},
        {"v_inv: a pointer has not the ptr_bits of its block", VIOLATION_refinement_broken,
         CAKEML_START, 0, bits_lost},
        {"gen_state_ok: a generation starts beyond the data", VIOLATION_generation_order_broken,
         CAKEML_START, 0, start_beyond},
        {"gen_start_ok: the heap does not split at a generation's start",
         VIOLATION_generation_order_broken, CAKEML_START, 0, start_inside},
        {"gen_start_ok: old data has a pointer to new data", VIOLATION_generation_order_broken,
         CAKEML_START, 0, old_to_new},
        {"3.2: a full collection where a partial one will do", VIOLATION_refinement_broken,
         CAKEML_START, 0, too_eager},
        {"3.2: a partial collection that may not free enough", VIOLATION_refinement_broken,
         CAKEML_START, 0, too_lazy},
        {"word_heap: an element is not in memory as it must be", VIOLATION_refinement_broken,
         CAKEML_START, 0, memory_header},
        {"word_heap: an element is not in memory as it must be", VIOLATION_refinement_broken,
         CAKEML_START, 0, memory_field},
        {"gc_kind_inv: the heap does not split at a + sp + sp1", VIOLATION_layout_broken,
         CAKEML_START, 0, no_split},
        {"heap_lookup: an element starts within another", VIOLATION_layout_broken, CAKEML_START, 0,
         left_over},
        {"conf.isRef is for the generational kind's full collection", VIOLATION_refinement_broken,
         CAKEML_START, 0, refs_apart},
        {"3.2: a collection before the GC trigger pointer is reached", VIOLATION_refinement_broken,
         CAKEML_START, 0, too_early},
        {"another generation than the oldest that is ripe is collected",
         VIOLATION_refinement_broken, CAKEML_START, 0, not_ripe},
    };
    SPOIL_ALL(table, GC_MINOR);
}

/* ---- one move ---------------------------------------------------------------------------------
 */

static void other_word(struct cakeml_view *v) {
    v->word += 2;
}
static void other_result(struct cakeml_view *v) {
    v->word1 += 2;
}
static void other_space(struct cakeml_view *v) {
    v->w->i++;
}
static void no_forward(struct cakeml_view *v) {
    v->w->m[v->w->curr + v->from] += 4;
}
static void copy_differs(struct cakeml_view *v) {
    v->w->m[v->w->other + 1] += 2;
}
static void bad_move(struct cakeml_view *v) {
    v->s->ok = false;
}
static void bad_access(struct cakeml_view *v) {
    v->w->ok = false;
}

static void moves_can_differ(void **state) {
    (void)state;
    static const struct spoiling table[] = {
        {"the levels move different addresses", VIOLATION_refinement_broken, CAKEML_STEP, 0,
         other_word},
        {"w = word_addr x1 does not hold after a move", VIOLATION_refinement_broken, CAKEML_STEP, 1,
         other_result},
        {"the levels have different space left after a move", VIOLATION_refinement_broken,
         CAKEML_STEP, 2, other_space},
        {"word_el: no ForwardPointer where an element was copied from", VIOLATION_refinement_broken,
         CAKEML_STEP, 0, no_forward},
        {"word_heap: a copied element is not in memory as it must be", VIOLATION_refinement_broken,
         CAKEML_STEP, 0, copy_differs},
        {"ok: a move of what is no element, or has no space", VIOLATION_refinement_broken,
         CAKEML_STEP, 3, bad_move},
        {"word level: an access outside of memory", VIOLATION_refinement_broken, CAKEML_STEP, 4,
         bad_access},
    };
    SPOIL_ALL(table, GC_MINOR);
}

/* ---- the simulation ---------------------------------------------------------------------------
 */

static void sim_state(struct cakeml_view *v) {
    v->sim->a++;
}
static void sim_element(struct cakeml_view *v) {
    v->sim->to->el[0].tag++;
}
static void sim_address(struct cakeml_view *v) {
    v->sim->to->words[1] ^= 2; /* no longer protected */
}
static void sim_forward(struct cakeml_view *v) {
    v->sim->heap->el[0].to++;
}
static void sim_root(struct cakeml_view *v) {
    v->sim->roots[0] ^= 4;
}
static void sim_reference(struct cakeml_view *v) {
    v->sim->roots[3] ^= 4;
}

static void the_simulation_can_fail(void **state) {
    (void)state;
    static const struct spoiling table[] = {
        {"simulation: gen_gc_full ends in another state", VIOLATION_refinement_broken,
         CAKEML_SIMULATED, 0, sim_state},
        {"simulation: gen_gc_full has another element there", VIOLATION_refinement_broken,
         CAKEML_SIMULATED, 0, sim_element},
        {"simulation: gen_gc_full has another address in an element", VIOLATION_refinement_broken,
         CAKEML_SIMULATED, 0, sim_address},
        {"simulation: gen_gc_full leaves another element behind", VIOLATION_refinement_broken,
         CAKEML_SIMULATED, 0, sim_forward},
        {"simulation: gen_gc_full has another root", VIOLATION_refinement_broken, CAKEML_SIMULATED,
         0, sim_root},
        {"simulation: gen_gc_full has another address in a reference", VIOLATION_refinement_broken,
         CAKEML_SIMULATED, 0, sim_reference},
    };
    SPOIL_ALL(table, GC_MINOR);
}

/* ---- gc_related and completeness --------------------------------------------------------------
 */

static void ends_elsewhere(struct cakeml_view *v) {
    v->s->a++;
}
static void word_root(struct cakeml_view *v) {
    v->w->roots[0] += 2;
}
static void root_out(struct cakeml_view *v) {
    v->s->f[cakeml_address(spoilt.roots[0])] = 0;
}
static void pointer_out(struct cakeml_view *v) {
    v->s->f[D1] = 0;
}
static void not_mapped(struct cakeml_view *v) {
    cakeml_value x = v->roots[0];
    v->roots[0] = cakeml_pointer(cakeml_address(x) + 1, cakeml_information(x));
    v->w->roots[0] = cakeml_word_addr(&v->rep, v->roots[0]);
}
static void was_nothing(struct cakeml_view *v) {
    (void)v;
    spoilt.before.el[D1].kind = CAKEML_UNUSED;
}
static void to_nothing(struct cakeml_view *v) {
    v->s->f[S] = DATA_END + 2;
}
static void not_injective(struct cakeml_view *v) {
    v->s->f[S] = v->s->f[D1];
}
static void other_tag(struct cakeml_view *v) {
    v->heap->el[v->s->f[S] - 1].tag--;
}
static void other_field(struct cakeml_view *v) {
    v->heap->words[v->s->f[D1]] += 4;
}
static void one_more(struct cakeml_view *v) {
    (void)v;
    spoilt.n_reached--;
}
static void one_longer(struct cakeml_view *v) {
    (void)v;
    spoilt.reached_words--;
}
static void trigger_moved(struct cakeml_view *v) {
    v->sp--;
    v->sp1++;
}

static void what_was_done_can_be_wrong(void **state) {
    (void)state;
    static const struct spoiling table[] = {
        {"the state after the collection is not ok, or ends elsewhere", VIOLATION_refinement_broken,
         CAKEML_DONE, 0, ends_elsewhere},
        {"a root of the word level is not word_addr of the root", VIOLATION_refinement_broken,
         CAKEML_DONE, 0, word_root},
        {"a root is not in the domain of f", VIOLATION_refinement_broken, CAKEML_DONE, 0, root_out},
        {"gc_related: a pointer leads out of the domain of f", VIOLATION_refinement_broken,
         CAKEML_DONE, 0, pointer_out},
        {"the new roots are not addr_map f roots", VIOLATION_refinement_broken, CAKEML_DONE, 0,
         not_mapped},
        {"gc_related: f is defined where there was no data element", VIOLATION_refinement_broken,
         CAKEML_DONE, 0, was_nothing},
        {"gc_related: f leads to no data element", VIOLATION_refinement_broken, CAKEML_DONE, 0,
         to_nothing},
        {"gc_related: f is not injective", VIOLATION_refinement_broken, CAKEML_DONE, 0,
         not_injective},
        {"gc_related: an element has another length or tag", VIOLATION_refinement_broken,
         CAKEML_DONE, 0, other_tag},
        {"gc_related: an element is not what it was, mapped by f", VIOLATION_refinement_broken,
         CAKEML_DONE, 0, other_field},
        {"completeness: a full collection kept more than is reachable", VIOLATION_garbage_retained,
         CAKEML_DONE, 0, one_more},
        {"completeness: a full collection kept more than is reachable", VIOLATION_garbage_retained,
         CAKEML_DONE, 0, one_longer},
        {"3.2: the GC trigger pointer is elsewhere", VIOLATION_layout_broken, CAKEML_DONE, 0,
         trigger_moved},
    };
    SPOIL_ALL(table, GC_FULL);
}

/* ---- between collections ----------------------------------------------------------------------
 */

static void no_ref_at_end(struct cakeml_view *v) {
    v->heap->el[cakeml_refs_start(v)].ref = false;
}
static void not_generational(struct cakeml_view *v) {
    v->kind = CAKEML_NO_GC;
}
static void enough(struct cakeml_view *v) {
    v->sp = v->request;
}

static void allocations_can_be_wrong(void **state) {
    (void)state;
    static const struct spoiling table[] = {
        {"gc_kind_inv: no reference where the unused space ends", VIOLATION_layout_broken,
         CAKEML_CHANGED, 0, no_ref_at_end},
        {"unused_space_inv: no Unused of sp + sp1 words at a", VIOLATION_layout_broken,
         CAKEML_CHANGED, 0, sp_more},
        {"gc_kind_inv: sp1 is not 0", VIOLATION_layout_broken, CAKEML_CHANGED, 0, not_generational},
        {"NotEnoughSpace, with space for the request", VIOLATION_false_out_of_memory,
         CAKEML_REFUSED, 0, enough},
    };
    SPOIL_ALL(table, GC_MINOR);
}

/* ---- what is not shown ------------------------------------------------------------------------
 */

static void move_unseen(struct cakeml_view *v) {
    (void)v;
    spoilt.copied--;
}
static void end_unseen(struct cakeml_view *v) {
    (void)v;
    spoilt.over = false;
}
static void not_simulated(struct cakeml_view *v) {
    (void)v;
    spoilt.simulated = false;
}
static void too_dear(struct cakeml_view *v) {
    spoilt.budget = v->limit - v->s->gen_start - 1;
}
static void budget_lost(struct cakeml_view *v) {
    v->budget--;
}
static void stays_young(struct cakeml_view *v) {
    v->starts[0] = OLD;
}
static void older_too(struct cakeml_view *v) {
    v->starts[1] = OLD;
}

static void states_can_be_left_out(void **state) {
    (void)state;
    static const struct spoiling table[] = {
        {"a collection has begun, and its end is not shown", VIOLATION_promise_broken, CAKEML_START,
         0, begun_twice},
        {"the beginning of a collection is not shown", VIOLATION_promise_broken, CAKEML_STEP, 0,
         not_begun},
        {"words alone show what only lists can", VIOLATION_promise_broken, CAKEML_STEP, 0,
         no_lists},
        {"not all moves of a collection are shown", VIOLATION_promise_broken, CAKEML_DONE, 0,
         move_unseen},
        {"not all moves of a collection are shown", VIOLATION_promise_broken, CAKEML_DONE, 0,
         end_unseen},
        {"a simulation that can be paid for is not shown", VIOLATION_promise_broken, CAKEML_DONE, 0,
         not_simulated},
        {"a simulation is shown that was not to be paid for", VIOLATION_promise_broken, CAKEML_DONE,
         0, too_dear},
        {"the budget of simulations is not what they have left of it", VIOLATION_promise_broken,
         CAKEML_DONE, 0, budget_lost},
    };
    SPOIL_ALL(table, GC_MINOR);
}

static void generations_can_stay(void **state) {
    (void)state;
    static const struct spoiling table[] = {
        {"a generation that was collected starts before the data's end",
         VIOLATION_generation_order_broken, CAKEML_DONE, 0, stays_young},
        {"a generation that was not collected starts elsewhere", VIOLATION_generation_order_broken,
         CAKEML_DONE, 0, older_too},
    };
    SPOIL_ALL(table, GC_MINOR);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(invariants_can_fail),      cmocka_unit_test(moves_can_differ),
        cmocka_unit_test(the_simulation_can_fail),  cmocka_unit_test(what_was_done_can_be_wrong),
        cmocka_unit_test(allocations_can_be_wrong), cmocka_unit_test(states_can_be_left_out),
        cmocka_unit_test(generations_can_stay),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
