/* SPDX-License-Identifier: MIT
 *
 * isoheap export --ocaml: the heap and the script as OCaml.
 *
 * Each mutator is a function for each of its lives, from the beginning or from an `attach` to a
 * `detach` or the end.  Its slots are local variables, which are roots without a barrier, as they
 * are in the run.  With several mutators each function is a domain, and the operations are turns:
 * that of an operation is TURN_SCRIPT + its number.
 */
#include "cli/export/export_ocaml.h"

#include "harness/initial/lowering.h"
#include "program/text/text.h"

#include <inttypes.h>
#include <limits.h>

static bool is_unit(const struct value *v) {
    return v->kind == VALUE_IMMEDIATE && v->bits == 0;
}

static void write_value(FILE *f, const struct program *p, const struct value *v) {
    const struct item *item;
    switch (v->kind) {
    case VALUE_SLOT:
        fprintf(f, "!r%u", v->block);
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
void export_ocaml_heap(FILE *f, const struct ocaml_export *x) {
    const struct program *p = x->program;
    unsigned b = 0;
    fprintf(f, "let heap () =\n");
    for (unsigned i = 0; i < p->n_items; i++) {
        const struct item *item = &p->items[i];
        if (!item_is_named(item))
            continue;
        if (item->kind == ITEM_CLOSURE)
            fprintf(f, "  let env%u = Obj.new_block 0 %u in\n  let b%u = closure %u [ env%u ] in\n",
                    b, item->n_fields ? item->n_fields : 1, b, item->functions, b);
        else
            fprintf(f, "  let b%u = Obj.new_block %u %u in\n", b,
                    lowered_own_tag(item->tag, x->own_tags), item->wosize);
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
    for (unsigned m = 0; m < x->mutators; m++)
        for (unsigned s = 0; s < PROGRAM_SLOTS; s++) {
            if (is_unit(&p->roots[m][s]))
                continue;
            fprintf(f, "  given.(%u).(%u) <- ", m, s);
            write_value(f, p, &p->roots[m][s]);
            fprintf(f, ";\n");
        }
    fprintf(f, "  ()\n\n");
}

static void write_assigned(FILE *f, const struct ocaml_export *x, const struct op *op) {
    const struct program *p = x->program;
    size_t length;
    const char *name;
    fprintf(f, "r%u := replace !r%u (", op->dst, op->dst);
    switch (op->code) {
    case OP_ALLOC:
        fprintf(f, "block %u %u ", lowered_own_tag(op->tag, x->own_tags), op->size);
        write_values(f, p, op->values, op->n_values);
        break;
    case OP_ALLOC_CLOSURE:
        fprintf(f, "closure %u ", op->functions);
        write_values(f, p, op->values, op->n_values);
        break;
    case OP_LOAD:
        fprintf(f, "get !r%u %u", op->src, op->i);
        break;
    case OP_SET:
        write_value(f, p, &op->values[0]);
        break;
    case OP_INFIX:
        fprintf(f, "infix !r%u %u", op->src, op->i);
        break;
    case OP_EPHEMERON:
        fprintf(f, "Obj.repr (E.create %u)", op->n);
        break;
    case OP_EPHE_GET:
        fprintf(f, "weak_get !r%u %u", op->src, op->i);
        break;
    case OP_EPHE_COPY:
        fprintf(f, "weak_copy !r%u %u", op->src, op->i);
        break;
    case OP_MARSHAL:
        fprintf(f, "marshal !r%u %s", op->src, op->unshared ? "true" : "false");
        break;
    case OP_SUB:
        fprintf(f, "sub !r%u %u %u", op->src, op->i, op->n);
        break;
    case OP_APPEND:
        fprintf(f, "append !r%u %s ", op->src, op->thrice ? "true" : "false");
        write_value(f, p, &op->values[0]);
        break;
    case OP_DUP:
        fprintf(f, "dup !r%u %u", op->src,
                op->retagged ? 1 + lowered_own_tag(op->retagged - 1u, x->own_tags) : 0);
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
    case OP_RESOURCE:
        fprintf(f, "resource %u", op->n);
        break;
    case OP_DROP:
        fputs("unit", f);
        break;
    default: /* does not compile */
        fputs("no_ocaml_for_this_operation", f);
    }
    fputc(')', f);
}

/* Calls that return unit. */
static bool write_called(FILE *f, const struct program *p, const struct op *op) {
    switch (op->code) {
    case OP_STORE:
        fprintf(f, "set !r%u %u ", op->dst, op->i);
        write_value(f, p, &op->values[0]);
        return true;
    case OP_FILL:
        fprintf(f, "fill !r%u %u %u ", op->dst, op->i, op->n);
        write_value(f, p, &op->values[0]);
        return true;
    case OP_UPDATE:
        fprintf(f, "update !r%u ", op->dst);
        write_value(f, p, &op->values[0]);
        return true;
    case OP_EPHE_SET:
        fprintf(f, "weak_set !r%u %u ", op->dst, op->i);
        write_value(f, p, &op->values[0]);
        return true;
    case OP_EPHE_UNSET:
        fprintf(f, "weak_unset !r%u %u", op->dst, op->i);
        return true;
    case OP_EPHE_BLIT:
        fprintf(f, "weak_blit !r%u %u !r%u %u %u", op->src, op->i, op->dst, op->j, op->n);
        return true;
    case OP_EPHE_CHECK:
        fprintf(f, "weak_check !r%u %u", op->src, op->i);
        return true;
    case OP_FORWARD:
        fprintf(f, "forward !r%u ", op->dst);
        write_value(f, p, &op->values[0]);
        return true;
    case OP_TRUNCATE:
        fprintf(f, "truncate !r%u %u", op->dst, op->n);
        return true;
    case OP_FINALISE:
        fprintf(f, "finalise !r%u %s", op->dst, op->last ? "true" : "false");
        return true;
    case OP_MEASURE:
        fprintf(f, "ignore (Obj.reachable_words !r%u)", op->src);
        return true;
    case OP_READ:
        fprintf(f, "ignore (Sys.opaque_identity (get !r%u %u))", op->src, op->i);
        return true;
    case OP_MINOR:
        fprintf(f, "Gc.minor ()");
        return true;
    case OP_SLICE:
        fprintf(f, "slice %u", op->n ? op->n : p->config[CONFIG_SLICE]);
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

/* ---- lives ------------------------------------------------------------------------------------
 */

/* An operation is that of the mutator that the collector has for its number. */
static unsigned mutator_of(const struct ocaml_export *x, const struct op *op) {
    return op->mutator % x->mutators;
}

static bool uses_slot(const struct ocaml_export *x, unsigned m, unsigned slot) {
    const struct program *p = x->program;
    bool used = !is_unit(&p->roots[m][slot]);
    for (unsigned i = 0; i < p->n_ops && !used; i++)
        used = mutator_of(x, &p->ops[i]) == m &&
               (op_reads_slot(&p->ops[i], slot) ||
                (op_writes_slot(&p->ops[i]) && p->ops[i].dst == slot));
    return used;
}

#define EACH_SLOT(x, m, slot)                                                                      \
    for (unsigned slot = 0; slot < PROGRAM_SLOTS; slot++)                                          \
        if (uses_slot(x, m, slot))

static void write_wait(FILE *f, const struct ocaml_export *x, unsigned m, unsigned turn) {
    if (x->mutators > 1)
        fprintf(f, "  %s %u;\n", m % 2 ? "await_blocked" : "await_polling", turn);
}

static void write_next(FILE *f, const struct ocaml_export *x) {
    if (x->mutators > 1)
        fprintf(f, "  next ();\n");
}

/* The turns: each mutator takes its roots, the first one settles, the script, and each leaves what
 * its slots have. */
static unsigned turn_of(const struct ocaml_export *x, unsigned op) {
    return x->mutators + 1 + op;
}
static unsigned turn_left(const struct ocaml_export *x, unsigned m) {
    return turn_of(x, x->program->n_ops) + m;
}

struct life {
    unsigned m, first, last; /* operations first .. last - 1; last is a detach, or the end */
};

/* A bit for each mutator that is there before an operation. */
static unsigned there_before(const struct ocaml_export *x, unsigned last) {
    unsigned there = (1u << x->mutators) - 1;
    for (unsigned i = 0; i < last; i++) {
        unsigned bit = 1u << mutator_of(x, &x->program->ops[i]);
        if (x->program->ops[i].code == OP_ATTACH)
            there |= bit;
        else if (x->program->ops[i].code == OP_DETACH && bit != 1)
            there &= ~bit;
    }
    return there;
}

static bool comes(const struct ocaml_export *x, unsigned i) {
    const struct op *op = &x->program->ops[i];
    return op->code == OP_ATTACH && !(there_before(x, i) >> mutator_of(x, op) & 1);
}

static bool goes(const struct ocaml_export *x, unsigned i) {
    const struct op *op = &x->program->ops[i];
    unsigned m = mutator_of(x, op);
    return op->code == OP_DETACH && m && there_before(x, i) >> m & 1;
}

/* Who makes domains and waits for their end is the first; it also has the turns of nobody, which
 * are those of mutators that are away. */
static bool is_of_first(const struct ocaml_export *x, unsigned i) {
    const struct op *op = &x->program->ops[i];
    return op->code == OP_ATTACH || op->code == OP_DETACH ||
           !(there_before(x, i) >> mutator_of(x, op) & 1);
}

static void write_beginning(FILE *f, const struct ocaml_export *x, const struct life *l) {
    bool initial = l->first == 0;
    if (l->m == 0)
        fprintf(f, "let life_0 round =\n%s  heap ();\n",
                x->mutators > 1 ? "  Atomic.set turn 0;\n" : "");
    else
        fprintf(f, "let life_%u_%u () =\n", l->m, l->first);
    for (unsigned m = 1; l->m == 0 && m < x->mutators; m++)
        fprintf(f, "  start %u life_%u_0;\n", m, m);
    if (initial)
        write_wait(f, x, l->m, l->m);
    EACH_SLOT(x, l->m, slot) {
        if (initial)
            fprintf(f, "  let r%u = ref (take %u %u) in\n", slot, l->m, slot);
        else
            fprintf(f, "  let r%u = ref unit in\n", slot);
    }
    if (initial)
        write_next(f, x);
    if (l->m == 0) {
        write_wait(f, x, 0, x->mutators);
        fprintf(f, "  settle round;\n");
        write_next(f, x);
    }
}

static void write_operation(FILE *f, const struct ocaml_export *x, const struct life *l,
                            unsigned i) {
    const struct op *op = &x->program->ops[i];
    unsigned m = mutator_of(x, op);
    bool of_first = is_of_first(x, i);
    char text[256];
    if (l->m != (of_first ? 0 : m))
        return;
    op_print(op, text, sizeof text);
    fprintf(f, "  (* %u: %s *)\n", i, text);
    write_wait(f, x, l->m, turn_of(x, i));
    if (comes(x, i))
        fprintf(f, "  start %u life_%u_%u;\n", m, m, i + 1);
    else if (goes(x, i))
        fprintf(f, "  join %u;\n", m);
    else if (!of_first) {
        fprintf(f, "  ");
        if (!write_called(f, x->program, op))
            write_assigned(f, x, op);
        fprintf(f, ";\n");
    }
    write_next(f, x);
}

/* Of a domain that ends before: its slots hold what they hold until then. */
static void write_detached(FILE *f, const struct ocaml_export *x, const struct life *l) {
    write_wait(f, x, l->m, turn_of(x, l->last));
    EACH_SLOT(x, l->m, slot)
    fprintf(f, "  keep !r%u;\n", slot);
    fprintf(f, "  ()\n\n");
}

static void write_end(FILE *f, const struct ocaml_export *x, const struct life *l) {
    write_wait(f, x, l->m, turn_left(x, l->m));
    fprintf(f, "  left.(%u) <- [", l->m);
    EACH_SLOT(x, l->m, slot)
    fprintf(f, " (%u, !r%u);", slot, slot);
    fprintf(f, " ];\n");
    write_next(f, x);
    for (unsigned m = 1; l->m == 0 && m < x->mutators; m++)
        if (!(there_before(x, x->program->n_ops) >> m & 1)) {
            write_wait(f, x, 0, turn_left(x, m));
            write_next(f, x);
        }
    write_wait(f, x, l->m, turn_left(x, x->mutators));
    for (unsigned m = 1; l->m == 0 && m < x->mutators; m++)
        fprintf(f, "  join %u;\n", m);
    fprintf(f, "  ()\n\n");
}

/* From an operation on; returns where the mutator comes again, or the length of the script. */
static unsigned write_life(FILE *f, const struct ocaml_export *x, unsigned m, unsigned first) {
    unsigned n = x->program->n_ops, last = first;
    while (last < n && !(goes(x, last) && mutator_of(x, &x->program->ops[last]) == m))
        last++;
    struct life l = {m, first, last};
    write_beginning(f, x, &l);
    for (unsigned i = first; i < last; i++)
        write_operation(f, x, &l, i);
    if (last == n)
        write_end(f, x, &l);
    else
        write_detached(f, x, &l);
    while (last < n && !(comes(x, last) && mutator_of(x, &x->program->ops[last]) == m))
        last++;
    return last < n ? last + 1 : UINT_MAX;
}

void export_ocaml_script(FILE *f, const struct ocaml_export *x) {
    for (unsigned m = x->mutators; m-- > 0;)
        for (unsigned first = 0; first != UINT_MAX;)
            first = write_life(f, x, m, first);
}
