/* SPDX-License-Identifier: MIT
 *
 * Mutations of the script (mutation.h): runs of operations come, go, move and repeat; operands
 * change.
 */
#include "program/mutation/internal.h"

#include <string.h>

enum { LONGEST_RUN = 8 };

/* A run of operations that there are; count 0 if there is none. */
struct run {
    unsigned from, count;
};

static struct run random_run(struct mutation *m) {
    unsigned n = m->program.n_ops;
    if (n == 0)
        return (struct run){0, 0};
    struct run run = {.from = random_below(&m->random, n)};
    run.count = random_few(&m->random, LONGEST_RUN); /* after that: compilers differ in the order */
    if (random_chance(&m->random, 16))               /* now and then a large part */
        run.count = random_between(&m->random, 1, n);
    if (run.count > n - run.from)
        run.count = n - run.from;
    return run;
}

unsigned random_place(struct mutation *m) {
    unsigned n = m->program.n_ops;
    return random_chance(&m->random, 3) ? n : random_below(&m->random, n + 1);
}

bool mutate_insert(struct mutation *m) {
    unsigned at = random_place(m);
    unsigned count = edit_open_script(&m->program, at, random_few(&m->random, LONGEST_RUN));
    for (unsigned i = 0; i < count; i++)
        m->program.ops[at + i] = new_operation(m, at + i);
    return count > 0;
}

bool mutate_delete(struct mutation *m) {
    struct run run = random_run(m);
    edit_remove_ops(&m->program, run.from, run.count);
    return run.count > 0;
}

/* Copies of operations from .. of the script before place `at`. */
static bool insert_copies(struct program *p, struct run run, unsigned at) {
    unsigned count = edit_open_script(p, at, run.count);
    for (unsigned i = 0; i < count; i++) {
        unsigned from = run.from + i;
        p->ops[at + i] = p->ops[from < at ? from : from + count]; /* where the original is now */
    }
    return count > 0;
}

bool mutate_duplicate(struct mutation *m) {
    struct run run = random_run(m);
    if (run.count == 0)
        return false;
    return insert_copies(&m->program, run,
                         random_chance(&m->random, 2) ? run.from + run.count : random_place(m));
}

static void reverse(struct op *ops, unsigned n) {
    for (unsigned i = 0; i < n / 2; i++) {
        struct op op = ops[i];
        ops[i] = ops[n - 1 - i];
        ops[n - 1 - i] = op;
    }
}

/* The first k of n operations go behind the others. */
static void rotate(struct op *ops, unsigned n, unsigned k) {
    reverse(ops, k);
    reverse(ops + k, n - k);
    reverse(ops, n);
}

bool mutate_move(struct mutation *m) {
    struct run run = random_run(m);
    unsigned to = random_place(m); /* in the script as it is now */
    struct op *ops = m->program.ops;
    if (run.count == 0 || (to >= run.from && to <= run.from + run.count))
        return false;
    if (to < run.from)
        rotate(ops + to, run.from + run.count - to, run.from - to);
    else
        rotate(ops + run.from, to - run.from, run.count);
    return true;
}

bool mutate_swap(struct mutation *m) {
    struct op *ops = m->program.ops;
    if (m->program.n_ops < 2)
        return false;
    unsigned a = random_below(&m->random, m->program.n_ops);
    unsigned b = random_chance(&m->random, 2) ? (a + 1) % m->program.n_ops
                                              : random_below(&m->random, m->program.n_ops);
    if (op_equal(&ops[a], &ops[b]))
        return false;
    struct op op = ops[a];
    ops[a] = ops[b];
    ops[b] = op;
    return true;
}

bool mutate_splice(struct mutation *m) {
    struct run source = random_run(m), target = random_run(m);
    struct program *p = &m->program;
    bool same = source.from == target.from && source.count == target.count;
    if (source.count == 0 || same || !insert_copies(p, source, target.from + target.count))
        return false;
    edit_remove_ops(p, target.from, target.count);
    return true;
}

bool mutate_operand(struct mutation *m) {
    if (m->program.n_ops == 0)
        return false;
    return change_operand(m, random_below(&m->random, m->program.n_ops));
}
