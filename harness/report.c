/* SPDX-License-Identifier: MIT
 *
 * The report of a violation: complete enough for a bug report, understandable to somebody who has
 * never seen isoheap.
 */
#include "harness/internal.h"
#include "harness/writing.h"
#include "program/text/text.h"

#include <stdio.h>
#include <string.h>

/* The operation with what it comes to: its mutator, and its field. */
static struct op operation_shown(const struct runner *r, unsigned op) {
    struct op shown = r->program->ops[op];
    unsigned m = shown.mutator % r->mutators;
    shown.mutator = (uint8_t)m;
    unsigned written = slot_object(r, m, shown.dst), read = slot_object(r, m, shown.src);
    if (op_has(shown.code, WRITES_FIELD) && written != MODEL_NONE) {
        const struct model_object *o = &r->model.objects[written];
        size_t first = o->tag >= TAG_NO_SCAN ? 0 : o->first_scanned;
        if (o->wosize > first)
            shown.i = (uint16_t)(first + shown.i % (o->wosize - first));
    }
    if (op_has(shown.code, READS_FIELD) && read != MODEL_NONE) {
        const struct model_object *o = &r->model.objects[read];
        size_t first = shown.code == OP_READ || o->tag >= TAG_NO_SCAN ? 0 : o->first_scanned;
        if (o->wosize > first)
            shown.i = (uint16_t)(first + shown.i % (o->wosize - first));
    }
    return shown;
}

size_t runner_operation(const struct runner *r, unsigned op, char *out, size_t capacity) {
    if (op == OP_INITIAL)
        return (size_t)snprintf(out, capacity, "the initial heap");
    if (op >= r->program->n_ops)
        return (size_t)snprintf(out, capacity, "the checks after the script");
    struct op shown = operation_shown(r, op);
    return op_print(&shown, out, capacity);
}

unsigned runner_operation_apart(const struct runner *r, unsigned op, char *out, size_t capacity) {
    if (op >= r->program->n_ops) {
        runner_operation(r, op, out, capacity);
        return 0;
    }
    struct op shown = operation_shown(r, op);
    unsigned m = shown.mutator;
    shown.mutator = 0;
    op_print(&shown, out, capacity);
    return m;
}

static void put_heap(struct writing *t, struct runner *r, enum party party) {
    struct snapshot s;
    size_t room;
    if (party == PARTY_REFERENCE && r->n_sides == 1)
        return;
    if (!runner_snapshot(r, party, &s)) {
        if (r->heap_words > PROGRAM_HEAP_WORDS)
            write_text(t, "  %s: a heap of %zu words is not drawn\n", party_name(party),
                       r->heap_words);
        return;
    }
    write_text(t, "  %s", party_name(party));
    if (party == PARTY_MODEL)
        write_text(t, ", allocated blocks in order");
    else
        write_text(t, " (%s)", r->side[party].collector->name);
    if (s.young != SIZE_MAX)
        write_text(t, ", young from word %zu on", s.young);
    write_text(t, ":\n");
    char *out = writing_room(t, &room);
    t->length += snapshot_map(&s, out, room);
    for (size_t i = 0, shown = 0; i < s.n_blocks && shown < 40; i++) {
        const struct snapshot_block *b = &s.blocks[i];
        if (b->extent != GC_LIVE || !b->name[0])
            continue;
        if (b->offset == SIZE_MAX)
            write_text(t, "%s%s (tag %u, %zu fields)", shown++ ? ", " : "    ", b->name, b->tag,
                       b->wosize);
        else
            write_text(t, "%s%s at %zu (tag %u, %zu fields)", shown++ ? ", " : "    ", b->name,
                       b->offset, b->tag, b->wosize);
    }
    write_text(t, "\n");
}

static void put_where(struct writing *t, struct runner *r, const struct verdict *v) {
    size_t room;
    char *out = writing_room(t, &room);
    t->length += runner_where(r, v, v->guilty, out, room);
}

static void put_program(struct writing *t, const struct program *program) {
    size_t room, length;
    char *out = writing_room(t, &room);
    write_text(t, "\nprogram\n");
    out = writing_room(t, &room);
    length = program_print(program, out, room);
    t->length += length;
}

static void put_replay(struct writing *t, const struct runner *r) {
    const struct runner_options options = {.subject = r->side[PARTY_SUBJECT].collector,
                                           .reference = r->side[PARTY_REFERENCE].collector,
                                           .oracles = r->oracles,
                                           .unmask = r->unmask,
                                           .replay = r->replay,
                                           .subject_name = r->subject_name};
    size_t room;
    write_text(t, "\nreplay (save the program as crash.txt)\n  isoheap run ");
    char *out = writing_room(t, &room);
    t->length += runner_replay(&options, out, room);
    write_text(t, " crash.txt\n");
}

size_t runner_report(struct runner *r, const struct verdict *v, const struct program *program,
                     char *out, size_t capacity) {
    struct writing t = {out, capacity, 0};
    const char *name = v->harness_error ? "harness_error" : violation_name(v->violation);
    write_text(&t, "isoheap: violation %s\n", name);
    write_text(&t, "  meaning    %s\n",
               v->harness_error ? "an assertion of the harness itself failed; no verdict"
                                : violation_meaning(v->violation));
    if (!v->harness_error)
        write_text(&t, "  guilty     %s (%s)\n", party_name(v->guilty),
                   r->side[v->guilty == PARTY_REFERENCE].collector->name);
    if (!v->harness_error && v->violation != VIOLATION_sanitizer) /* that is no oracle's */
        write_text(&t, "  oracle     %s: %s\n", oracle_name(v->oracle), oracle_meaning(v->oracle));
    if (v->op == OP_INITIAL || v->op >= program->n_ops)
        write_text(&t, "  operation  %s\n", v->operation);
    else
        write_text(&t, "  operation  %u: %s\n", v->op, v->operation);
    write_text(&t, "  detail     %s\n", v->detail);
    if (v->path[0])
        write_text(&t, "  path       %s\n", v->path);
    if (v->expected[0])
        write_text(&t, "  expected   %s\n", v->expected);
    if (v->found[0])
        write_text(&t, "  found      %s\n", v->found);
    put_where(&t, r, v);
    write_text(&t, "\nheaps  (one character a word: Aa live block and its fields, x unreachable,"
                   " . free, ',' fragment, - unused)\n");
    for (unsigned p = 0; p < PARTIES; p++)
        put_heap(&t, r, (enum party)p);
    put_program(&t, program);
    put_replay(&t, r);
    return t.length;
}

size_t runner_silence(const struct collector *collector, const struct gc_config *config,
                      oracle_set judging, enum oracle oracle, char *out, size_t capacity) {
    struct collector_traits traits = promised_traits(collector, config);
    unsigned lacks = oracle_needs(oracle) & ~oracle_needs_met(collector, &traits), need = 0;
    if (judging && !(judging >> oracle & 1))
        return (size_t)snprintf(out, capacity, "left out");
    for (unsigned o = 0; !lacks && o < ORACLE_COUNT; o++)
        if (oracle_modules[o]->replaces >> oracle & 1 && (!judging || judging >> o & 1) &&
            !(oracle_needs((enum oracle)o) & ~oracle_needs_met(collector, &traits)))
            return (size_t)snprintf(out, capacity, "%s judges in its place",
                                    oracle_name((enum oracle)o));
    if (!lacks)
        return (size_t)snprintf(out, capacity, "never met an occasion");
    while (!(lacks >> need & 1))
        need++;
    return (size_t)snprintf(out, capacity, "lacks %s", oracle_need_words((enum oracle_need)need));
}

bool verdict_same_defect(const struct verdict *a, const struct verdict *b) {
    bool fine = oracle_modules[a->oracle]->fine;
    return a->violation == b->violation && a->guilty == b->guilty && a->oracle == b->oracle &&
           (fine || strcmp(a->detail, b->detail) == 0) &&
           (a->violation != VIOLATION_sanitizer || strcmp(a->found, b->found) == 0);
}

oracle_set verdict_sampled(const struct verdict *v) {
    const struct oracle_module *module = oracle_modules[v->oracle];
    bool sampled = v->violation && (module->samples || module->emptied);
    return sampled ? ORACLE_BIT(v->oracle) : 0;
}
