/* SPDX-License-Identifier: MIT
 *
 * isoheap export --ocaml: a finding as an OCaml program, which shows it with the runtime that
 * OCaml's users have.
 *
 * The program plays the script with Obj and Gc, prints what the slots reach at its end and compares
 * with what the model has there.  Closures are shown as such and not looked into, since the
 * compiler lays them out.
 */
#define _GNU_SOURCE
#include "cli/export/export.h"

#include "program/text/text.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

static bool is_no_integer(const struct value *v, const struct op *op, const void *none) {
    (void)op;
    (void)none;
    return v->kind == VALUE_OUTSIDE || v->kind == VALUE_ADDRESS;
}

/* What stands in no OCaml program: raw words, and what a collector alone has. */
static const char *inexpressible(const struct program *p) {
    if (program_is_large(p))
        return "a heap of more than 8192 words, or blocks by count";
    for (unsigned i = 0; i < p->n_items; i++)
        if (p->items[i].kind == ITEM_RAW || p->items[i].is_static || p->items[i].address_code)
            return "a raw or static block, or a code word that is none";
    for (unsigned i = 0; i < p->n_ops; i++)
        if (!op_has(p->ops[i].code, EXPORT_ML))
            return op_shapes[p->ops[i].code].name;
    return program_any_value(p, is_no_integer, NULL) ? "a word that is no integer" : NULL;
}

/* ---- heap and script ----------------------------------------------------------------------------
 */

static void write_value(FILE *f, const struct program *p, const struct value *v) {
    const struct item *item;
    switch (v->kind) {
    case VALUE_SLOT:
        fprintf(f, "r.(%u)", v->block);
        break;
    case VALUE_BLOCK:
        fprintf(f, "b%u", v->block);
        break;
    case VALUE_INFIX:
        item = program_named_item(p, v->block);
        for (unsigned k = 1; k < item->functions; k++)
            if (closure_entry_offset(k, item->arity) == v->offset)
                fprintf(f, "(infix b%u %u)", v->block, k);
        break;
    case VALUE_ATOM:
        fprintf(f, "(Obj.new_block %u 0)", (unsigned)v->bits);
        break;
    default:
        fprintf(f, "(Obj.repr (%" PRId64 "))", (int64_t)v->bits);
        break;
    }
}

static void write_values(FILE *f, const struct program *p, const struct value *values, unsigned n) {
    fputs("[ ", f);
    for (unsigned v = 0; v < n; v++) {
        fputs(v ? "; " : "", f);
        write_value(f, p, &values[v]);
    }
    fputs(" ]", f);
}

/* Blocks first, then what they point at; closures cannot be written later, so they get their
 * environment as one block. */
static void write_heap(FILE *f, const struct program *p) {
    unsigned b = 0;
    fprintf(f, "let play () =\n");
    for (unsigned i = 0; i < p->n_items; i++) {
        const struct item *item = &p->items[i];
        if (!item_is_named(item))
            continue;
        if (item->kind == ITEM_CLOSURE)
            fprintf(f, "  let env%u = Obj.new_block 0 %u in\n  let b%u = closure %u [ env%u ] in\n",
                    b, item->n_fields ? item->n_fields : 1, b, item->functions, b);
        else
            fprintf(f, "  let b%u = Obj.new_block %u %u in\n", b, item->tag, item->wosize);
        b++;
    }
    b = 0;
    for (unsigned i = 0; i < p->n_items; i++) {
        const struct item *item = &p->items[i];
        for (unsigned v = 0; item_is_named(item) && v < item->n_fields; v++) {
            fprintf(f, "  Obj.set_field %s%u %u ", item->kind == ITEM_CLOSURE ? "env" : "b", b, v);
            write_value(f, p, &p->fields[item->first_field + v]);
            fprintf(f, ";\n");
        }
        b += item_is_named(item);
    }
    for (unsigned s = 0; s < PROGRAM_SLOTS; s++) {
        if (p->roots[0][s].kind == VALUE_IMMEDIATE && p->roots[0][s].bits == 0)
            continue;
        fprintf(f, "  r.(%u) <- ", s);
        write_value(f, p, &p->roots[0][s]);
        fprintf(f, ";\n");
    }
}

static void write_assigned(FILE *f, const struct program *p, const struct op *op) {
    size_t length;
    const char *name;
    fprintf(f, "r.(%u) <- ", op->dst);
    switch (op->code) {
    case OP_ALLOC:
        fprintf(f, "block %u %u ", op->tag, op->size);
        write_values(f, p, op->values, op->n_values);
        break;
    case OP_ALLOC_CLOSURE:
        fprintf(f, "closure %u ", op->functions);
        write_values(f, p, op->values, op->n_values);
        break;
    case OP_LOAD:
        fprintf(f, "get r.(%u) %u", op->src, op->i);
        break;
    case OP_SET:
        write_value(f, p, &op->values[0]);
        break;
    case OP_INFIX:
        fprintf(f, "infix r.(%u) %u", op->src, op->i);
        break;
    case OP_EPHEMERON:
        fprintf(f, "Obj.repr (E.create %u)", op->n);
        break;
    case OP_EPHE_GET:
        fprintf(f, "weak_get r.(%u) %u", op->src, op->i);
        break;
    case OP_EPHE_COPY:
        fprintf(f, "weak_copy r.(%u) %u", op->src, op->i);
        break;
    case OP_MARSHAL:
        fprintf(f, "marshal r.(%u) %s", op->src, op->unshared ? "true" : "false");
        break;
    case OP_SUB:
        fprintf(f, "sub r.(%u) %u %u", op->src, op->i, op->n);
        break;
    case OP_APPEND:
        fprintf(f, "append r.(%u) %s ", op->src, op->thrice ? "true" : "false");
        write_value(f, p, &op->values[0]);
        break;
    case OP_DUP:
        fprintf(f, "dup r.(%u) %u", op->src, op->retagged);
        break;
    case OP_FORWARDING:
        fprintf(f, "make_forward ");
        write_value(f, p, &op->values[0]);
        break;
    case OP_BUILD:
        name = op_word(op, &length);
        fprintf(f, "%.*s %u ", (int)length, name, op->blocks);
        write_value(f, p, &op->values[0]);
        break;
    case OP_DROP:
        fputs("unit", f);
        break;
    default: /* does not compile */
        fputs("no_ocaml_for_this_operation", f);
    }
}

/* Calls that return unit. */
static bool write_called(FILE *f, const struct program *p, const struct op *op) {
    switch (op->code) {
    case OP_STORE:
        fprintf(f, "set r.(%u) %u ", op->dst, op->i);
        write_value(f, p, &op->values[0]);
        return true;
    case OP_FILL:
        fprintf(f, "fill r.(%u) %u %u ", op->dst, op->i, op->n);
        write_value(f, p, &op->values[0]);
        return true;
    case OP_UPDATE:
        fprintf(f, "update r.(%u) ", op->dst);
        write_value(f, p, &op->values[0]);
        return true;
    case OP_EPHE_SET:
        fprintf(f, "weak_set r.(%u) %u ", op->dst, op->i);
        write_value(f, p, &op->values[0]);
        return true;
    case OP_EPHE_UNSET:
        fprintf(f, "weak_unset r.(%u) %u", op->dst, op->i);
        return true;
    case OP_EPHE_BLIT:
        fprintf(f, "weak_blit r.(%u) %u r.(%u) %u %u", op->src, op->i, op->dst, op->j, op->n);
        return true;
    case OP_EPHE_CHECK:
        fprintf(f, "weak_check r.(%u) %u", op->src, op->i);
        return true;
    case OP_FORWARD:
        fprintf(f, "forward r.(%u) ", op->dst);
        write_value(f, p, &op->values[0]);
        return true;
    case OP_TRUNCATE:
        fprintf(f, "truncate r.(%u) %u", op->dst, op->n);
        return true;
    case OP_FINALISE:
        fprintf(f, "finalise r.(%u) %s", op->dst, op->last ? "true" : "false");
        return true;
    case OP_MEASURE:
        fprintf(f, "ignore (Obj.reachable_words r.(%u))", op->src);
        return true;
    case OP_READ:
        fprintf(f, "ignore (Sys.opaque_identity (get r.(%u) %u))", op->src, op->i);
        return true;
    case OP_MINOR:
        fprintf(f, "Gc.minor ()");
        return true;
    case OP_SLICE:
        fprintf(f, "ignore (Gc.major_slice %u)", op->n ? op->n : p->config[CONFIG_SLICE]);
        return true;
    case OP_FULL:
        fprintf(f, "Gc.full_major ()");
        return true;
    case OP_COMPACT:
        fprintf(f, "Gc.compact ()");
        return true;
    case OP_KIND:
    case OP_POLL:
        fprintf(f, "()");
        return true;
    default:
        return false;
    }
}

static void write_script(FILE *f, const struct program *p) {
    char text[256];
    for (unsigned i = 0; i < p->n_ops; i++) {
        op_print(&p->ops[i], text, sizeof text);
        fprintf(f, "  (* %u: %s *)\n  ", i, text);
        if (!write_called(f, p, &p->ops[i]))
            write_assigned(f, p, &p->ops[i]);
        fprintf(f, ";\n");
    }
    fprintf(f, "  ()\n\n");
}

/* ---- what the model has at the end --------------------------------------------------------------
 */

struct expected {
    const struct program *program;
    FILE *f;
    unsigned numbered;
    unsigned *number; /* of a block that has been shown, from 1 */
};

/* Made by an operation that makes ephemerons: named "n7". */
static bool is_ephemeron(const struct expected *e, const struct snapshot_block *block) {
    unsigned op = 0;
    return sscanf(block->name, "n%u", &op) == 1 && op < e->program->n_ops &&
           e->program->ops[op].code == OP_EPHEMERON;
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
    if (block->tag == TAG_CLOSURE) {
        fputs("closure", e->f);
        return;
    }
    if (is_ephemeron(e, block))
        fputs("ephemeron(", e->f);
    else
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

static void show_model(void *context, struct runner *runner, unsigned op, bool before) {
    struct expected *e = context;
    struct snapshot s;
    if (before || op != e->program->n_ops || !runner_snapshot(runner, PARTY_MODEL, &s))
        return;
    e->number = calloc(s.n_blocks + 1, sizeof *e->number);
    for (unsigned slot = 0; e->number && slot < PROGRAM_SLOTS; slot++) {
        if (s.slots[slot] == WORD_UNIT)
            continue;
        fprintf(e->f, "r%u = ", slot);
        show_word(e, &s, s.slots[slot]);
        fputs("\\n\\\n  ", e->f);
    }
    free(e->number);
}

/* On the collector with its known defects steered around: the model is all that is wanted. */
static bool write_expected(FILE *f, const struct exported *e) {
    struct expected expected = {.program = e->program, .f = f};
    struct runner_options options = {
        .subject = e->subject, .observe = show_model, .context = &expected};
    struct runner *runner = runner_open(&options);
    static struct verdict verdict;
    fprintf(f, "let expected = \"\\\n  ");
    if (runner)
        runner_run(runner, e->program, &verdict);
    fprintf(f, "\"\n\n");
    runner_close(runner);
    return runner && !verdict.violation;
}

/* ---- all of it ----------------------------------------------------------------------------------
 */

/* The same speed of marking and free list as the run had. */
static void write_main(FILE *f, const struct program *p) {
    static const unsigned overhead[] = {120, 1000, 20}, policy[] = {2, 0, 1};
    fprintf(
        f,
        "let () =\n  Gc.set { (Gc.get ()) with Gc.space_overhead = %u; allocation_policy = %u };\n"
        "  play ();\n  judge expected\n",
        overhead[p->config[CONFIG_VARIANT] % 3], policy[p->config[CONFIG_KIND] % 3]);
}

int export_ocaml(const struct exported *e, const char *file, char **text, size_t *size) {
    const char *what = inexpressible(e->program);
    if (what || !e->subject->extras) {
        fprintf(stderr, "isoheap: %s is no OCaml program: %s; isoheap run replays it\n", file,
                what ? what : "the collector is not OCaml's");
        return EXIT_NOTHING;
    }
    FILE *f = open_memstream(text, size);
    if (!f)
        return EXIT_USAGE;
    fprintf(
        f,
        "(* A violation of the garbage collector of OCaml 4: %s\n   %s\n\n"
        "   ocamlfind is not needed:\n     ocamlopt -w -3 -o finding finding.ml && ./finding\n"
        "   It crashes, or prints \"wrong result\", while the defect is there; then \"passed\".\n"
        "   Written by `isoheap export --ocaml`. *)\n\n",
        violation_name(e->violation), e->detail);
    fputs(export_prelude, f);
    bool good = write_expected(f, e);
    write_heap(f, e->program);
    write_script(f, e->program);
    write_main(f, e->program);
    fclose(f);
    if (good)
        return EXIT_OK;
    fprintf(stderr, "isoheap: %s raises something else once known defects are steered around\n",
            file);
    free(*text);
    return EXIT_NOTHING;
}
