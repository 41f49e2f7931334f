/* SPDX-License-Identifier: MIT
 *
 * isoheap export --ocaml: a finding as an OCaml program, which shows it with the runtime that
 * OCaml's users have.
 *
 * The program plays the script with Obj, Gc and, for several mutators, Domain, as often as it is
 * told to, prints what the slots reach at the end of a round and compares with what the model has
 * there.  Closures are shown as such and not looked into, since the compiler lays them out.
 */
#define _GNU_SOURCE
#include "cli/export/export_ocaml.h"

#include <stdlib.h>

static bool is_no_integer(const struct value *v, const struct op *op, const void *none) {
    (void)op;
    (void)none;
    return v->kind == VALUE_OUTSIDE || v->kind == VALUE_ADDRESS;
}

static bool has_op(const struct program *p, enum op_code code) {
    for (unsigned i = 0; i < p->n_ops; i++)
        if (p->ops[i].code == code)
            return true;
    return false;
}

/* The operation that no OCaml program has, or that has no domain here; or NULL. */
static const char *inexpressible_op(const struct program *p, bool domains) {
    for (unsigned i = 0; i < p->n_ops; i++) {
        enum op_code code = p->ops[i].code;
        if (!op_has(code, EXPORT_ML) && !(domains && (code == OP_ATTACH || code == OP_DETACH)))
            return op_shapes[code].name;
    }
    return NULL;
}

/* What stands in no OCaml program: raw words, and what a collector alone has.  A resource is a
 * Bigarray there, which can be marshalled and may not be copied as words are. */
static const char *inexpressible(const struct program *p, bool domains) {
    if (program_is_large(p))
        return "a heap of more than 8192 words, or blocks by count";
    for (unsigned i = 0; i < p->n_items; i++)
        if (p->items[i].kind == ITEM_RAW || p->items[i].is_static || p->items[i].address_code)
            return "a raw or static block, or a code word that is none";
    if (has_op(p, OP_RESOURCE) && (has_op(p, OP_MARSHAL) || has_op(p, OP_DUP)))
        return "a resource beside marshal or dup, which do something else to a Bigarray";
    const char *op = inexpressible_op(p, domains);
    return op ? op : program_any_value(p, is_no_integer, NULL) ? "a word that is no integer" : NULL;
}

/* The same speed of marking and free list as the run had.  The schedule within an operation is the
 * machine's, so that several domains need many rounds; the colours of OCaml 5 need a few. */
static void write_main(FILE *f, const struct ocaml_export *x) {
    static const unsigned overhead[] = {120, 1000, 20};
    static const char *const policy[] = {"; allocation_policy = 2", "; allocation_policy = 0",
                                         "; allocation_policy = 1"};
    const struct program *p = x->program;
    fprintf(
        f,
        "let () =\n  Gc.set { (Gc.get ()) with Gc.space_overhead = %u%s };\n"
        "  let rounds = if Array.length Sys.argv > 1 then int_of_string Sys.argv.(1) else %u in\n"
        "  for round = 1 to rounds do\n"
        "    if rounds > 1 then Printf.eprintf \"\\rround %%d%%!\" round;\n"
        "    life_0 round;\n    judge round expected\n  done;\n"
        "  finish rounds\n",
        overhead[p->config[CONFIG_VARIANT] % 3],
        x->own_tags ? "" : policy[p->config[CONFIG_KIND] % 3],
        x->mutators > 1 ? 1000
        : x->own_tags   ? 640
                        : 1);
}

static void write_head(FILE *f, const struct exported *e, const struct ocaml_export *x) {
    fprintf(
        f,
        "(* A violation of the garbage collector of OCaml %s: %s\n   %s\n\n"
        "   ocamlfind is not needed:\n     ocamlopt -w -3 -o finding finding.ml && ./finding\n"
        "   It crashes, or prints \"wrong result\", while the defect is there; then \"passed\".\n",
        x->own_tags ? "5" : "4", violation_name(e->violation), e->detail);
    if (x->own_tags)
        fprintf(f, "   Without end it may go on where the class is no_progress or deadlock.\n"
                   "   `./finding N` plays N rounds; the last one that it names is the one.\n");
    if (x->mutators > 1)
        fprintf(f, "   Each mutator is a domain.  Operations have the order of the script; what "
                   "domains do\n   at once within one is the machine's choice, another one in each "
                   "round.\n");
    fprintf(f, "   Written by `isoheap export --ocaml`. *)\n\n");
    fputs(export_prelude, f);
    fputs(x->own_tags ? export_runtime5 : export_runtime4, f);
    fputs(x->mutators > 1 ? export_domains : "", f);
}

/* As the runner has it: of the mutators of a program those that the collector has. */
static unsigned mutators_of(const struct exported *e, const struct collector_traits *traits) {
    unsigned n = program_mutators(e->program);
    return n < traits->max_mutators ? n : traits->max_mutators;
}

int export_ocaml(const struct exported *e, const char *file, char **text, size_t *size) {
    const struct gc_config config = program_gc_config(e->program);
    const struct collector_traits traits = promised_traits(e->subject, &config);
    const struct ocaml_export x = {e->program, mutators_of(e, &traits), traits.own_tags};
    const char *what = inexpressible(e->program, x.mutators > 1 && e->subject->detach);
    if (what || !e->subject->extras) {
        fprintf(stderr, "isoheap: %s is no OCaml program: %s; isoheap run replays it\n", file,
                what ? what : "the collector is not OCaml's");
        return EXIT_NOTHING;
    }
    FILE *f = open_memstream(text, size);
    if (!f)
        return EXIT_USAGE;
    write_head(f, e, &x);
    bool good = export_ocaml_expected(f, &x, e->subject);
    export_ocaml_heap(f, &x);
    export_ocaml_script(f, &x);
    write_main(f, &x);
    fclose(f);
    if (good)
        return EXIT_OK;
    fprintf(stderr, "isoheap: %s raises something else once known defects are steered around\n",
            file);
    free(*text);
    return EXIT_NOTHING;
}
