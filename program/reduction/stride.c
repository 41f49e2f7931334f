/* SPDX-License-Identifier: MIT
 *
 * Numbers that become smaller together (steps.h): the pattern move of Hooke and Jeeves (1961).
 *
 * Where two numbers hold each other, as the words of a heap and those of a slice, each step takes
 * one from either, and a round of all steps little from both.  What a round has taken is taken once
 * more then, and twice, and four times.
 */
#include "program/reduction/steps.h"

/* May only the numbers of the one differ from those of the other? */
static bool is_alike(const struct program *p, const struct program *q) {
    if (p->n_ops != q->n_ops || p->n_items != q->n_items || p->n_fields != q->n_fields)
        return false;
    for (unsigned i = 0; i < p->n_ops; i++)
        if (p->ops[i].code != q->ops[i].code)
            return false;
    for (unsigned i = 0; i < p->n_items; i++)
        if (p->items[i].kind != q->items[i].kind || p->items[i].n_fields != q->items[i].n_fields)
            return false;
    return true;
}

/* What a walk over the numbers of programs has found. */
struct walk {
    unsigned times; /* what a number has lost is taken so often */
    bool any, grows;
};

static unsigned take(struct walk *w, unsigned from, unsigned to, unsigned number) {
    w->grows |= to > from;
    w->any |= to < from;
    uint64_t lost = to < from ? (uint64_t)w->times * (from - to) : 0;
    return lost < number ? number - (unsigned)lost : lost ? 0 : number;
}

static void take_of_op(struct walk *w, const struct op *from, const struct op *to, struct op *op) {
    op->size = (uint16_t)take(w, from->size, to->size, op->size);
    op->i = (uint16_t)take(w, from->i, to->i, op->i);
    op->j = (uint16_t)take(w, from->j, to->j, op->j);
    op->n = (uint16_t)take(w, from->n, to->n, op->n);
}

bool stride(struct program *p, const struct program *from, const struct program *to,
            unsigned times) {
    struct walk w = {.times = times};
    if (!is_alike(from, to))
        return false;
    for (unsigned k = 0; k < CONFIG_KEYS; k++)
        p->config[k] = take(&w, from->config[k], to->config[k], p->config[k]);
    for (unsigned i = 0; i < p->n_ops; i++)
        take_of_op(&w, &from->ops[i], &to->ops[i], &p->ops[i]);
    for (unsigned i = 0; i < p->n_items; i++)
        if (p->items[i].n_fields == 0) /* a gap */
            p->items[i].wosize =
                (uint16_t)take(&w, from->items[i].wosize, to->items[i].wosize, p->items[i].wosize);
    return w.any && !w.grows;
}
