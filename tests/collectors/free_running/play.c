/* SPDX-License-Identifier: MIT
 *
 * One program played by all domains at once, from its initial heap to an empty one (play.h).
 */
#define _DEFAULT_SOURCE 1 /* usleep */
#include "tests/collectors/free_running/play.h"

#include "tests/collectors/free_running/player.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

/* Operations that a domain is to play of each program, and how often its own graph is compared. */
enum { OPERATIONS = 600, PASSES = 40, COMPARED = 128 };

static struct player players[GC_MUTATORS];
static size_t empty; /* blocks of the runtime itself */

static void open_player(const struct parallel_runtime *runtime, unsigned m) {
    struct player *p = &players[m];
    p->runtime = runtime;
    p->m = m;
    p->words = calloc(MODEL_OBJECTS, sizeof *p->words);
    p->objects = calloc(PLAYER_TABLE, sizeof *p->objects);
    if (!p->words || !p->objects || !model_room(&p->model, MODEL_OBJECTS, MODEL_WORDS))
        player_fail(p, "no memory");
}

void play_open(const struct parallel_runtime *runtime, const struct gc_config *config,
               bool change) {
    shared_ephemerons_change = change;
    runtime->start(config);
    for (unsigned m = 0; m < GC_MUTATORS; m++)
        open_player(runtime, m);
    runtime->collect(GC_FULL);
    empty = runtime->blocks();
}

/* ---- one domain ---------------------------------------------------------------------------------
 */

static void sleep_a_little(void) {
    usleep(50);
}

/* False: the domain ends. */
static bool operate(struct player *p, const struct op *op) {
    unsigned n = program_mutators(p->program);
    if (op->mutator % n != p->m % n)
        return true;
    if (op->code == OP_DETACH)
        return p->m == 0;
    if (op->code == OP_ATTACH)
        p->runtime->rest(sleep_a_little);
    own_operate(p, op);
    shared_operate(p, op);
    p->runtime->poll();
    if (++p->operations % COMPARED == 0)
        own_compare(p);
    return true;
}

static bool play_once(struct player *p) {
    model_reset(&p->model, 1);
    own_begin(p);
    own_compare(p);
    shared_join(p);
    for (unsigned i = 0; i < p->program->n_ops; i++)
        if (!operate(p, &p->program->ops[i]))
            return false;
    own_compare(p);
    shared_check(p);
    return true;
}

static word play_all(unsigned m) {
    struct player *p = &players[m];
    uint64_t least_operations = p->operations + OPERATIONS;
    for (unsigned pass = 0; pass < PASSES && p->operations < least_operations; pass++)
        if (!play_once(p))
            break;
    p->runtime->drop();
    return shared_result(p);
}

/* ---- all ----------------------------------------------------------------------------------------
 */

/* Nothing is left, but that the thread of a domain that has been joined may still be about to give
 * up what it was joined by. */
static void must_be_empty(struct player *p) {
    enum { TRIES = 200 };
    p->runtime->drop();
    p->runtime->row(OWN);
    p->runtime->publish(0);
    for (unsigned n = 0; n < TRIES; n++) {
        p->runtime->collect(GC_FULL);
        if (counted_waiting() == 0 && p->runtime->blocks() == empty) {
            counted_reset();
            return;
        }
        if (n > 1)
            usleep(1000);
    }
    fprintf(stderr, "free-running: %zu blocks are left of %zu, and %llu finalisers wait\n",
            p->runtime->blocks(), empty, (unsigned long long)counted_waiting());
    player_fail(p, "the heap is not empty");
}

uint64_t play(const struct program *program, unsigned mutators) {
    uint64_t operations = 0;
    struct player *first = &players[0];
    for (unsigned m = 0; m < GC_MUTATORS; m++)
        players[m].program = program, players[m].operations = 0;
    shared_begin(first);
    for (unsigned m = 1; m < mutators; m++)
        first->runtime->spawn(m, play_all);
    play_all(0);
    for (unsigned m = 1; m < mutators; m++) {
        first->runtime->row(SHARED);
        first->runtime->join(m, m);
    }
    shared_check(first);
    must_be_empty(first);
    for (unsigned m = 0; m < mutators; m++)
        operations += players[m].operations;
    return operations;
}
