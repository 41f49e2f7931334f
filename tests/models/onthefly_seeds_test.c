/* SPDX-License-Identifier: MIT
 *
 * The seeds of fuzz_onthefly: every one is there for a reason, which its name gives and this test
 * holds it to: a moment that its run must come to.
 *
 * ISOHEAP_FIND_SEEDS=DIR writes a seed for every reason that has none in DIR: random bytes are
 * tried until a run does what is asked.  That is how they were made, and how they are made again
 * when driver.c reads bytes another way.
 */
#define _DEFAULT_SOURCE /* scandir */
#include "models/onthefly/schedules/driver.h"
#include "tests/support/figures.h"
#include "tests/support/passing.h"

#include <dirent.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* A step of a run, and what came before it. */
struct moment {
    const struct model *m;
    const struct action *x;
    const struct state *before, *after;
    unsigned strategy, cycles; /* cycles that have ended, with this step */
    refset freed;              /* references that were freed before this step */
};

/* A reason: a predicate and its parameters. */
struct reason {
    const char *name;
    bool (*is)(const struct moment *, unsigned a, unsigned b);
    unsigned a, b;
};

/* ---- moments ----------------------------------------------------------------------------------
 */

static const struct agent *agent(const struct moment *t) {
    return &t->before->agent[t->x->process];
}

static bool by_mutator(const struct moment *t) {
    return t->x->process != GC && t->x->op != DO_COMMIT;
}

/* A step of a process at a label of its own, or of mark. */
static bool at(const struct moment *t, bool collector, unsigned pc) {
    return t->x->op != DO_COMMIT && (t->x->process == GC) == collector && agent(t)->pc == pc &&
           agent(t)->mark_pc == mo_out;
}
static bool at_mark(const struct moment *t, unsigned mark_pc) {
    return t->x->op != DO_COMMIT && agent(t)->mark_pc == mark_pc;
}

/* a: operation, b: the handshake phase that its mutator is in. */
static bool operation_in(const struct moment *t, unsigned a, unsigned b) {
    return by_mutator(t) && at(t, false, mut_top) && t->x->op == a && agent(t)->hp == b;
}

/* A mutator answers handshake a while another is inside a Store. */
static bool answers(const struct moment *t, unsigned a, unsigned b) {
    unsigned p = t->x->process, storing = 0;
    (void)b;
    for (unsigned i = 0; i < t->m->mutators; i++) {
        unsigned pc = t->before->agent[i].pc;
        storing += i != p && pc >= mut_deref_del && pc <= mut_store;
    }
    return by_mutator(t) && storing && (t->before->pending & ~t->after->pending) &&
           gc_handshake(t->before->agent[GC].pc) == a;
}

/* A cycle ends; a mutators, memory is sequentially consistent or not. */
static bool cycle_of_mutators(const struct moment *t, unsigned a, unsigned b) {
    return t->cycles && t->m->mutators == a && t->m->sequential == b;
}
static bool cycle_of_refs(const struct moment *t, unsigned a, unsigned b) {
    (void)b;
    return t->cycles && t->m->refs == a;
}
static bool cycle_of_fields(const struct moment *t, unsigned a, unsigned b) {
    (void)b;
    return t->cycles && t->m->fields == a;
}
static bool cycle_of_strategy(const struct moment *t, unsigned a, unsigned b) {
    return t->cycles && t->strategy == a && t->m->mutators == b;
}
static bool cycles(const struct moment *t, unsigned a, unsigned b) {
    return t->cycles == a && t->m->mutators == b;
}

/* A mutator's buffer of a entries is full of field stores. */
static bool buffer_full(const struct moment *t, unsigned a, unsigned b) {
    const struct tso *tso = &t->after->tso;
    unsigned p = t->x->process, fields = 0;
    (void)b;
    for (unsigned i = 0; i < tso->count[p]; i++)
        fields += tso->buffer[p][i].cell >= CELL_FIELD;
    return by_mutator(t) && t->m->buffer == a && fields == a;
}
/* Two stores of the collector wait: phase := Mark and f_A, or phase := Sweep and := Idle. */
static bool collector_stores_two(const struct moment *t, unsigned a, unsigned b) {
    return t->x->process == GC && t->after->tso.count[GC] == 2 && t->m->gc_buffer == a &&
           t->before->agent[GC].pc == b;
}

/* A load at label a of what the process has stored itself and memory has not yet. */
static bool forwarded(const struct moment *t, unsigned a, unsigned b) {
    unsigned p = t->x->process;
    (void)b;
    if (!at(t, false, a))
        return false;
    unsigned cell = cell_field(agent(t)->src - 1U, agent(t)->field);
    return tso_load(&t->before->tso, p, cell) != t->before->tso.memory[cell];
}

/* While another holds the lock: blocked at label a, of mark if b. */
static bool blocked_at(const struct moment *t, unsigned a, unsigned b) {
    const struct state *s = t->after;
    for (unsigned p = 0; p < t->m->mutators; p++) {
        const struct agent *m = &s->agent[p];
        bool there = b ? m->mark_pc == a : m->mark_pc == mo_out && m->pc == a;
        if (there && !tso_free(&s->tso, p))
            return true;
    }
    return false;
}
static bool collector_blocked(const struct moment *t, unsigned a, unsigned b) {
    (void)b;
    return t->after->agent[GC].pc == a && !tso_free(&t->after->tso, GC);
}
static bool commit_blocked(const struct moment *t, unsigned a, unsigned b) {
    const struct tso *tso = &t->after->tso;
    (void)a, (void)b;
    for (unsigned p = 0; p < t->m->mutators; p++)
        if (tso->count[p] && tso->lock != TSO_NOBODY && tso->lock != p)
            return true;
    return false;
}
static bool stores_under_lock(const struct moment *t, unsigned a, unsigned b) {
    (void)a, (void)b;
    return at(t, false, mut_store) && !tso_free(&t->before->tso, t->x->process);
}
static bool allocates_under_lock(const struct moment *t, unsigned a, unsigned b) {
    (void)a, (void)b;
    return t->x->op == DO_ALLOC && !tso_free(&t->before->tso, t->x->process);
}
/* unlock waits for a store that was pending when the lock was taken */
static bool lock_with_stores(const struct moment *t, unsigned a, unsigned b) {
    (void)a, (void)b;
    return at_mark(t, mo_co_lock) && t->before->tso.count[t->x->process] > 0;
}

static bool cas_lost(const struct moment *t, unsigned a, unsigned b) {
    (void)b;
    return at_mark(t, mo_co_won) && agent(t)->cas != agent(t)->mark &&
           (t->x->process == GC) == (a != 0);
}
/* mark ends at a test: nothing to do. */
static bool mark_ends_at(const struct moment *t, unsigned a, unsigned b) {
    return at_mark(t, a) && by_mutator(t) && agent(t)->pc == b &&
           t->after->agent[t->x->process].mark_pc == mo_out;
}
/* A flag is stored for the sake of a: a barrier, a root, a field; in phase b or later. */
static bool marks_for(const struct moment *t, unsigned a, unsigned b) {
    return at_mark(t, mo_co_mark) && by_mutator(t) && agent(t)->pc == a && agent(t)->hp == b;
}
static bool field_marked(const struct moment *t, unsigned a, unsigned b) {
    (void)a, (void)b;
    return at_mark(t, mo_co_mark) && t->x->process == GC;
}

static refset all_refs(const struct moment *t) {
    return (refset)((1U << t->m->refs) - 1);
}
/* The heap is full when the collector sweeps, and nothing is free for a mutator. */
static bool full_heap(const struct moment *t, unsigned a, unsigned b) {
    (void)b;
    return t->x->process == GC && t->after->agent[GC].pc == a && t->before->alloc == all_refs(t);
}
static bool frees_all(const struct moment *t, unsigned a, unsigned b) {
    (void)b;
    return at(t, true, gc_free) && !t->after->alloc && t->m->refs >= a;
}
static bool reuses(const struct moment *t, unsigned a, unsigned b) {
    (void)a, (void)b;
    return t->x->op == DO_ALLOC && (t->freed >> t->x->a & 1);
}
/* An object goes that leads to itself, in a or more steps. */
static bool frees_cycle(const struct moment *t, unsigned a, unsigned b) {
    (void)b;
    if (!at(t, true, gc_free) || t->before->alloc == t->after->alloc)
        return false;
    unsigned gone = t->before->alloc & ~(unsigned)t->after->alloc, r = 0;
    while (!(gone >> r & 1))
        r++;
    unsigned next = 0;
    for (unsigned f = 0; f < t->m->fields; f++)
        next |= 1U << state_field(t->before, r, f) >> 1;
    if (a == 1)
        return next & gone;
    return !(next & gone) && (state_closure(t->m, t->before, (refset)next) & gone);
}

/* The sweep is past the new object, or not. */
static bool allocates_in_sweep(const struct moment *t, unsigned a, unsigned b) {
    const struct agent *gc = &t->before->agent[GC];
    (void)b;
    return t->x->op == DO_ALLOC && (gc->pc == gc_sweep || gc->pc == gc_free) &&
           (gc->refs >> t->x->a & 1U) == a;
}
/* The collector saw no object there, and now there is one. */
static bool born_under_sweep(const struct moment *t, unsigned a, unsigned b) {
    (void)a, (void)b;
    return at(t, true, gc_free) && agent(t)->mark == NO_OBJECT &&
           (t->before->alloc >> (agent(t)->src - 1) & 1);
}
static bool allocates_at(const struct moment *t, unsigned a, unsigned b) {
    (void)b;
    return t->x->op == DO_ALLOC && t->before->agent[GC].pc == a;
}

/* Termination: work comes back, and is not empty. */
static bool work_comes_back(const struct moment *t, unsigned a, unsigned b) {
    (void)a, (void)b;
    return at(t, true, gc_work_load_W) && t->before->W;
}
/* Who answers has work, and another has too. */
static bool two_have_work(const struct moment *t, unsigned a, unsigned b) {
    const struct state *s = t->before;
    unsigned p = t->x->process;
    (void)a, (void)b;
    for (unsigned q = 0; q < t->m->mutators; q++)
        if (by_mutator(t) && at(t, false, mut_hs_done) && s->type == HS_WORK && s->agent[p].W &&
            q != p && s->agent[q].W)
            return true;
    return false;
}
/* A mutator is a handshake behind the others, with a store in its buffer. */
static bool behind(const struct moment *t, unsigned a, unsigned b) {
    unsigned p = t->x->process;
    (void)b;
    return at(t, false, mut_store) && t->after->tso.count[p] && t->after->sync &&
           !(t->after->sync >> p & 1) && t->after->hp == a;
}
/* Two mutators have stores to one field in their buffers. */
static bool same_field(const struct moment *t, unsigned a, unsigned b) {
    const struct tso *tso = &t->after->tso;
    (void)a, (void)b;
    for (unsigned p = 0; p < t->m->mutators; p++)
        for (unsigned q = 0; q < p; q++)
            if (tso->count[p] && tso->count[q] && tso->buffer[p][0].cell >= CELL_FIELD &&
                tso->buffer[p][0].cell == tso->buffer[q][0].cell &&
                tso->buffer[p][0].value != tso->buffer[q][0].value)
                return true;
    return false;
}
/* The only way to an object is the deletion barrier's reference, a pending store, or a grey. */
static bool held_by_barrier(const struct moment *t, unsigned a, unsigned b) {
    const struct state *s = t->after;
    unsigned held = s->W, roots = 0;
    (void)b;
    for (unsigned p = 0; p < TSO_PROCESSES; p++) {
        held |= s->agent[p].root;
        roots |= s->agent[p].roots;
    }
    held &= ~(unsigned)state_closure(t->m, s, (refset)roots);
    return held && s->hp == a;
}

/* ---- reasons ----------------------------------------------------------------------------------
 */

#define IN_EVERY_PHASE(name, op)                                                                   \
    {name "_in_hp_Idle", operation_in, op, HP_IDLE},                                               \
        {name "_in_hp_IdleInit", operation_in, op, HP_IDLE_INIT},                                  \
        {name "_in_hp_InitMark", operation_in, op, HP_INIT_MARK},                                  \
        {name "_in_hp_Mark", operation_in, op, HP_MARK}, {                                         \
        name "_in_hp_IdleMarkSweep", operation_in, op, HP_IDLE_MARK_SWEEP                          \
    }

static const struct reason reasons[] = {
    IN_EVERY_PHASE("alloc", DO_ALLOC),
    IN_EVERY_PHASE("discard", DO_DISCARD),
    IN_EVERY_PHASE("load", DO_LOAD),
    IN_EVERY_PHASE("store", DO_STORE),
    {"answer_idle_beside_store", answers, H_IDLE, 0},
    {"answer_idle_flip_beside_store", answers, H_IDLE_FLIP, 0},
    {"answer_init_beside_store", answers, H_INIT, 0},
    {"answer_mark_beside_store", answers, H_MARK, 0},
    {"answer_roots_beside_store", answers, H_ROOTS, 0},
    {"answer_work_beside_store", answers, H_WORK, 0},
    {"mutators_1_tso", cycle_of_mutators, 1, false},
    {"mutators_2_tso", cycle_of_mutators, 2, false},
    {"mutators_3_tso", cycle_of_mutators, 3, false},
    {"mutators_4_tso", cycle_of_mutators, 4, false},
    {"mutators_1_sc", cycle_of_mutators, 1, true},
    {"mutators_2_sc", cycle_of_mutators, 2, true},
    {"mutators_3_sc", cycle_of_mutators, 3, true},
    {"mutators_4_sc", cycle_of_mutators, 4, true},
    {"refs_2", cycle_of_refs, 2, 0},
    {"refs_3", cycle_of_refs, 3, 0},
    {"refs_4", cycle_of_refs, 4, 0},
    {"refs_6", cycle_of_refs, 6, 0},
    {"refs_8", cycle_of_refs, 8, 0},
    {"fields_2", cycle_of_fields, 2, 0},
    {"fields_3", cycle_of_fields, 3, 0},
    {"fields_4", cycle_of_fields, 4, 0},
    {"buffer_of_1_full", buffer_full, 1, 0},
    {"buffer_of_2_full", buffer_full, 2, 0},
    {"buffer_of_3_full", buffer_full, 3, 0},
    {"buffer_of_4_full", buffer_full, 4, 0},
    {"gc_buffer_2_mark_and_fA", collector_stores_two, 2, gc_store_fA},
    {"gc_buffer_3_mark_and_fA", collector_stores_two, 3, gc_store_fA},
    {"gc_buffer_4_sweep_and_idle", collector_stores_two, 4, gc_phase_idle},
    {"gc_buffer_5_sweep_and_idle", collector_stores_two, 5, gc_phase_idle},
    {"strategy_free", cycle_of_strategy, 0, 2},
    {"strategy_bursts", cycle_of_strategy, 1, 2},
    {"strategy_priorities", cycle_of_strategy, 2, 2},
    {"strategy_few_operations", cycle_of_strategy, 3, 2},
    {"strategy_few_preemptions", cycle_of_strategy, 4, 2},
    {"cycles_2", cycles, 2, 1},
    {"cycles_2_two_mutators", cycles, 2, 2},
    {"cycles_3", cycles, 3, 1},
    {"forwarded_load", forwarded, mut_load, 0},
    {"forwarded_to_deletion_barrier", forwarded, mut_deref_del, 0},
    {"blocked_load", blocked_at, mut_load, false},
    {"blocked_deletion_barrier", blocked_at, mut_deref_del, false},
    {"blocked_load_of_flag", blocked_at, mo_mark, true},
    {"blocked_load_of_fM", blocked_at, mo_fM, true},
    {"blocked_load_of_phase", blocked_at, mo_phase, true},
    {"blocked_lock", blocked_at, mo_co_lock, true},
    {"blocked_commit", commit_blocked, 0, 0},
    {"blocked_collector_deref", collector_blocked, gc_deref, 0},
    {"store_under_lock", stores_under_lock, 0, 0},
    {"alloc_under_lock", allocates_under_lock, 0, 0},
    {"lock_with_pending_store", lock_with_stores, 0, 0},
    {"cas_lost_by_mutator", cas_lost, false, 0},
    {"cas_lost_by_collector", cas_lost, true, 0},
    {"mark_of_null", mark_ends_at, mo_null, mut_store_del},
    {"mark_of_marked", mark_ends_at, mo_mtest, mut_store_ins},
    {"mark_while_idle", mark_ends_at, mo_ptest, mut_store_del},
    {"root_already_marked", mark_ends_at, mo_mtest, mut_hs_roots_mark},
    {"deletion_marks_in_hp_Mark", marks_for, mut_store_del, HP_MARK},
    {"deletion_marks_in_hp_IdleMarkSweep", marks_for, mut_store_del, HP_IDLE_MARK_SWEEP},
    {"insertion_marks_in_hp_InitMark", marks_for, mut_store_ins, HP_INIT_MARK},
    {"insertion_marks_in_hp_Mark", marks_for, mut_store_ins, HP_MARK},
    {"root_marked", marks_for, mut_hs_roots_mark, HP_MARK},
    {"field_marked", field_marked, 0, 0},
    {"full_heap_marked", full_heap, gc_phase_sweep, 0},
    {"full_heap_swept", full_heap, gc_phase_idle, 0},
    {"everything_freed", frees_all, 3, 0},
    {"reference_reused", reuses, 0, 0},
    {"garbage_self_loop", frees_cycle, 1, 0},
    {"garbage_cycle", frees_cycle, 2, 0},
    {"alloc_before_sweep", allocates_in_sweep, 1, 0},
    {"alloc_behind_sweep", allocates_in_sweep, 0, 0},
    {"alloc_under_sweep", born_under_sweep, 0, 0},
    {"alloc_between_fM_and_fA", allocates_at, gc_idle_flip_wait, 0},
    {"alloc_while_fA_waits", allocates_at, gc_mark_fence, 0},
    {"alloc_while_scanning", allocates_at, gc_field, 0},
    {"work_comes_back", work_comes_back, 0, 0},
    {"work_of_two", two_have_work, 0, 0},
    {"behind_in_hp_IdleInit", behind, HP_IDLE_INIT, 0},
    {"behind_in_hp_InitMark", behind, HP_INIT_MARK, 0},
    {"behind_in_hp_Mark", behind, HP_MARK, 0},
    {"behind_in_hp_IdleMarkSweep", behind, HP_IDLE_MARK_SWEEP, 0},
    {"same_field_in_two_buffers", same_field, 0, 0},
    {"held_by_barrier_alone", held_by_barrier, HP_MARK, 0},
    {"held_by_barrier_or_grey_alone", held_by_barrier, HP_IDLE_MARK_SWEEP, 0},
};
enum { REASONS = sizeof reasons / sizeof *reasons, SEED_MAX = 64 };

/* ---- runs -------------------------------------------------------------------------------------
 */

static bool ends_cycle(const struct moment *t) {
    return at(t, true, gc_phase_idle);
}

/* Takes the steps again; hit[i]: the run comes to reasons[i].  False: the run is bad. */
static bool come_to(const uint8_t *data, size_t size, bool *hit) {
    static struct driver_result r;
    const struct driver_options o = {0, INVARIANTS_ALL, 0, NULL};
    driver_run(&o, data, size, &r);
    struct state before, after = r.start;
    struct moment t = {&r.model, NULL, &before, &after, 0, 0, 0};
    t.strategy = size > DRIVER_HEAD ? driver_strategy(data[DRIVER_HEAD]) : 0;
    memset(hit, 0, REASONS * sizeof *hit);
    for (unsigned k = 0; k < r.n; k++) {
        before = after;
        t.x = &r.steps[k];
        model_apply(&r.model, &after, t.x);
        t.cycles += ends_cycle(&t);
        for (unsigned i = 0; i < REASONS; i++)
            hit[i] = hit[i] || reasons[i].is(&t, reasons[i].a, reasons[i].b);
        t.freed |= (refset)(before.alloc & ~after.alloc);
    }
    return !r.broken && !r.unfair;
}

static size_t read_seed(const char *dir, const char *name, uint8_t *data) {
    char path[1024];
    snprintf(path, sizeof path, "%s/%s", dir, name);
    FILE *file = fopen(path, "rb");
    size_t size = file ? fread(data, 1, SEED_MAX, file) : 0;
    if (file)
        fclose(file);
    return size;
}

/* hits[i][j]: the seed of reasons[i] comes to reasons[j]. */
static bool hits[REASONS][REASONS];

static void every_seed_does_what_it_is_for(void **state) {
    uint8_t data[SEED_MAX];
    (void)state;
    for (unsigned i = 0; i < REASONS; i++) {
        size_t size = read_seed(SEEDS_DIR "/onthefly", reasons[i].name, data);
        if (!size)
            fail_msg("there is no seed %s", reasons[i].name);
        if (!come_to(data, size, hits[i]))
            fail_msg("seed %s breaks an invariant", reasons[i].name);
        if (!hits[i][i])
            fail_msg("seed %s does not do what it is named after", reasons[i].name);
    }
}

/* A predicate that holds of anything would prove nothing of its seed. */
static void no_reason_is_every_seeds(void **state) {
    (void)state;
    for (unsigned j = 0; j < REASONS; j++) {
        unsigned seeds = 0;
        char what[64];
        for (unsigned i = 0; i < REASONS; i++)
            seeds += hits[i][j];
        if (seeds == REASONS)
            fail_msg("every seed comes to %s", reasons[j].name);
        snprintf(what, sizeof what, "seeds that come to %s", reasons[j].name);
        figure(what, seeds);
    }
}

static int is_file(const struct dirent *entry) {
    return entry->d_name[0] != '.';
}

static void every_file_is_a_seed_with_a_reason(void **state) {
    struct dirent **entries;
    (void)state;
    int n = scandir(SEEDS_DIR "/onthefly", &entries, is_file, alphasort);
    for (int k = 0; k < n; k++) {
        unsigned i = 0;
        while (i < REASONS && strcmp(reasons[i].name, entries[k]->d_name) != 0)
            i++;
        if (i == REASONS)
            fail_msg("seed %s is there for no reason", entries[k]->d_name);
        free(entries[k]);
    }
    free(entries);
    assert_int_equal(n, REASONS);
}

/* ---- finding seeds ----------------------------------------------------------------------------
 */

static bool write_seed(const char *dir, const char *name, const uint8_t *data, size_t size) {
    char path[1024];
    snprintf(path, sizeof path, "%s/%s", dir, name);
    FILE *file = fopen(path, "wb");
    bool good = file && fwrite(data, 1, size, file) == size;
    return file && fclose(file) == 0 && good;
}

static int find_seeds(const char *dir) {
    enum { TRIES = 400000, SIZE = 28 };
    static bool found[REASONS], hit[REASONS];
    uint8_t data[SEED_MAX];
    uint64_t seed = 1;
    unsigned left = 0;
    for (unsigned i = 0; i < REASONS; i++)
        left += !(found[i] = read_seed(dir, reasons[i].name, data) > 0);
    for (unsigned n = 0; n < TRIES && left; n++) {
        seed = next_bytes(seed, data, SIZE);
        if (!come_to(data, SIZE, hit))
            return EXIT_FAILURE;
        for (unsigned i = 0; i < REASONS; i++) /* one file for each reason */
            if (hit[i] && !found[i]) {
                if (!write_seed(dir, reasons[i].name, data, SIZE))
                    return EXIT_FAILURE;
                found[i] = true;
                left--;
                break;
            }
    }
    for (unsigned i = 0; i < REASONS; i++)
        if (!found[i])
            printf("none found: %s\n", reasons[i].name);
    return left ? EXIT_FAILURE : EXIT_SUCCESS;
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_seed_does_what_it_is_for),
        cmocka_unit_test(no_reason_is_every_seeds),
        cmocka_unit_test(every_file_is_a_seed_with_a_reason),
    };
    const char *dir = getenv("ISOHEAP_FIND_SEEDS");
    return dir ? find_seeds(dir) : cmocka_run_group_tests(tests, NULL, NULL);
}
