/* SPDX-License-Identifier: MIT
 *
 * isoheap export --ocaml: what the slots reach at the end, as the model has it, in the words of
 * `show` in templates/prelude.ml.
 */
#include "cli/export/export_ocaml.h"

#include <stdlib.h>

struct expected {
    const struct ocaml_export *x;
    FILE *f;
    bool shown, read[PROGRAM_OPS]; /* by operation: it has found something in an ephemeron */
    unsigned numbered;
    unsigned *number; /* of a block that has been shown, from 1 */
    unsigned n_ephemerons;
    size_t *ephemerons; /* blocks that were met, in this order */
};

/* Made by an operation that makes ephemerons: named "n7". */
static bool is_ephemeron(const struct expected *e, const struct snapshot_block *block) {
    unsigned op = 0;
    return sscanf(block->name, "n%u", &op) == 1 && op < e->x->program->n_ops &&
           e->x->program->ops[op].code == OP_EPHEMERON;
}

/* Of an object: one that is read gets the next of the process, and a program has others too. */
static bool is_number(const struct snapshot_block *block, size_t i) {
    return block->tag == TAG_OBJECT && i == 1 && is_immediate(block->fields[i]) &&
           immediate_value(block->fields[i]) >= 0;
}

static void show_word(struct expected *e, const struct snapshot *s, word v) {
    struct snapshot_edge edge = snapshot_resolve(s, v);
    char text[32];
    unsigned atom;
    if (!is_immediate(v) && snapshot_address(s, v, text, sizeof text) &&
        sscanf(text, "atom %u", &atom) == 1) {
        fprintf(e->f, "%u()", atom);
        return;
    }
    if (!edge.pointer || edge.block == SIZE_MAX) {
        fprintf(e->f, "%lld", (long long)immediate_value(v));
        return;
    }
    const struct snapshot_block *block = &s->blocks[edge.block];
    if (block->tag == TAG_FORWARD && block->wosize == 1) {
        show_word(e, s, block->fields[0]);
        return;
    }
    if (e->number[edge.block]) {
        fprintf(e->f, "#%u", e->number[edge.block] - 1);
        return;
    }
    e->number[edge.block] = ++e->numbered;
    if (block->tag == TAG_CLOSURE || block->tag == TAG_CUSTOM) {
        fputs(block->tag == TAG_CLOSURE ? "closure" : "resource", e->f);
        return;
    }
    if (is_ephemeron(e, block)) {
        fprintf(e->f, "ephemeron %u", e->numbered - 1);
        e->ephemerons[e->n_ephemerons++] = edge.block;
        return;
    }
    fprintf(e->f, "%u(", block->tag);
    for (size_t i = 0; i < block->wosize; i++) {
        fputs(i ? " " : "", e->f);
        if (is_number(block, i))
            fputs("number", e->f);
        else
            show_word(e, s, block->fields[i]);
    }
    fputc(')', e->f);
}

/* Those that are met in one come behind it. */
static void show_ephemerons(struct expected *e, const struct snapshot *s) {
    for (unsigned k = 0; k < e->n_ephemerons; k++) {
        const struct snapshot_block *block = &s->blocks[e->ephemerons[k]];
        fprintf(e->f, "ephemeron %u =", e->number[e->ephemerons[k]] - 1);
        for (size_t i = 0; i < block->wosize; i++) {
            fputc(' ', e->f);
            show_word(e, s, block->fields[i]);
        }
        fputs("\\n\\\n  ", e->f);
    }
}

static void show_slots(struct expected *e, const struct snapshot *s, unsigned m) {
    for (unsigned slot = 0; slot < PROGRAM_SLOTS; slot++) {
        word v = s->slots[m * GC_SLOTS + slot];
        if (v == WORD_UNIT)
            continue;
        if (m)
            fprintf(e->f, "mutator %u: ", m);
        fprintf(e->f, "r%u = ", slot);
        show_word(e, s, v);
        fputs("\\n\\\n  ", e->f);
    }
}

static bool is_read(const struct op *op) {
    return op->code == OP_EPHE_GET || op->code == OP_EPHE_COPY;
}

static void show_reads(const struct expected *e) {
    fputs("([", e->f);
    for (unsigned i = 0; i < e->x->program->n_ops; i++)
        if (is_read(&e->x->program->ops[i]))
            fprintf(e->f, " %s;", e->read[i] ? "true" : "false");
    fputs(" ],\n \"\\\n  ", e->f);
}

static void show_model(void *context, struct runner *runner, unsigned op, bool before) {
    struct expected *e = context;
    const struct program *p = e->x->program;
    struct snapshot s;
    bool end = op == p->n_ops;
    if (before || op > p->n_ops || (!end && !is_read(&p->ops[op])) ||
        !runner_snapshot(runner, PARTY_MODEL, &s))
        return;
    if (!end) {
        unsigned m = p->ops[op].mutator % e->x->mutators;
        e->read[op] = s.slots[m * GC_SLOTS + p->ops[op].dst] != WORD_UNIT;
        return;
    }
    show_reads(e);
    e->number = calloc(s.n_blocks + 1, sizeof *e->number);
    e->ephemerons = calloc(s.n_blocks + 1, sizeof *e->ephemerons);
    if (e->number && e->ephemerons) {
        for (unsigned m = 0; m < s.mutators; m++)
            show_slots(e, &s, m);
        fputs("\",\n \"\\\n  ", e->f);
        show_ephemerons(e, &s);
        e->shown = true;
    }
    free(e->number);
    free(e->ephemerons);
}

bool export_ocaml_expected(FILE *f, const struct ocaml_export *x, const struct collector *subject) {
    struct expected expected = {.x = x, .f = f};
    struct runner_options options = {
        .subject = subject, .observe = show_model, .context = &expected};
    struct runner *runner = runner_open(&options);
    static struct verdict verdict;
    fprintf(f, "let expected =\n ");
    if (runner)
        runner_run(runner, x->program, &verdict);
    fprintf(f, "\")\n\n");
    runner_close(runner);
    return expected.shown && !verdict.violation;
}
