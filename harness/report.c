/* SPDX-License-Identifier: MIT
 *
 * The report of a violation: complete enough for a bug report, understandable to somebody who has
 * never seen isoheap.
 */
#include "harness/internal.h"
#include "program/text/text.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Text that is cut at the capacity but counted to its end, as snprintf. */
struct text {
    char *out;
    size_t capacity, length;
};

__attribute__((format(printf, 2, 3))) static void put(struct text *t, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    int n = vsnprintf(t->length < t->capacity ? t->out + t->length : NULL,
                      t->length < t->capacity ? t->capacity - t->length : 0, format, arguments);
    va_end(arguments);
    t->length += n > 0 ? (size_t)n : 0;
}

static char *rest(struct text *t, size_t *room) {
    *room = t->length < t->capacity ? t->capacity - t->length : 0;
    return *room ? t->out + t->length : NULL;
}

size_t runner_operation(const struct runner *r, unsigned op, char *out, size_t capacity) {
    if (op == OP_INITIAL)
        return (size_t)snprintf(out, capacity, "the initial heap");
    if (op >= r->program->n_ops)
        return (size_t)snprintf(out, capacity, "the checks after the script");
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
    return op_print(&shown, out, capacity);
}

static void put_heap(struct text *t, struct runner *r, enum party party) {
    struct snapshot s;
    size_t room;
    if ((party == PARTY_REFERENCE && r->n_sides == 1) || !runner_snapshot(r, party, &s))
        return;
    put(t, "  %s%s%s%s\n", party_name(party), party == PARTY_MODEL ? "" : " (",
        party == PARTY_MODEL ? "" : r->side[party].collector->name,
        party == PARTY_MODEL ? ", allocated blocks in order:" : "):");
    char *out = rest(t, &room);
    t->length += snapshot_map(&s, out, room);
    for (size_t i = 0, shown = 0; i < s.n_blocks && shown < 40; i++) {
        const struct snapshot_block *b = &s.blocks[i];
        if (b->extent != GC_LIVE || !b->name[0])
            continue;
        if (b->offset == SIZE_MAX)
            put(t, "%s%s (tag %u, %zu fields)", shown++ ? ", " : "    ", b->name, b->tag,
                b->wosize);
        else
            put(t, "%s%s at %zu (tag %u, %zu fields)", shown++ ? ", " : "    ", b->name, b->offset,
                b->tag, b->wosize);
    }
    put(t, "\n");
}

static void put_program(struct text *t, const struct program *program) {
    size_t room, length;
    char *out = rest(t, &room);
    put(t, "\nprogram\n");
    out = rest(t, &room);
    length = program_print(program, out, room);
    t->length += length;
}

static void put_replay(struct text *t, const struct runner *r) {
    const struct runner_options options = {.subject = r->side[PARTY_SUBJECT].collector,
                                           .reference = r->side[PARTY_REFERENCE].collector,
                                           .oracles = r->oracles,
                                           .unmask = r->unmask,
                                           .replay = r->replay,
                                           .subject_name = r->subject_name};
    size_t room;
    put(t, "\nreplay (save the program as crash.txt)\n  isoheap run ");
    char *out = rest(t, &room);
    t->length += runner_replay(&options, out, room);
    put(t, " crash.txt\n");
}

size_t runner_report(struct runner *r, const struct verdict *v, const struct program *program,
                     char *out, size_t capacity) {
    struct text t = {out, capacity, 0};
    const char *name = v->harness_error ? "harness_error" : violation_name(v->violation);
    put(&t, "isoheap: violation %s\n", name);
    put(&t, "  meaning    %s\n",
        v->harness_error ? "an assertion of the harness itself failed; no verdict"
                         : violation_meaning(v->violation));
    if (!v->harness_error)
        put(&t, "  guilty     %s (%s)\n", party_name(v->guilty),
            r->side[v->guilty == PARTY_REFERENCE].collector->name);
    if (!v->harness_error && v->violation != VIOLATION_sanitizer) /* that is no oracle's */
        put(&t, "  oracle     %s: %s\n", oracle_name(v->oracle), oracle_meaning(v->oracle));
    if (v->op == OP_INITIAL || v->op >= program->n_ops)
        put(&t, "  operation  %s\n", v->operation);
    else
        put(&t, "  operation  %u: %s\n", v->op, v->operation);
    put(&t, "  detail     %s\n", v->detail);
    if (v->path[0])
        put(&t, "  path       %s\n", v->path);
    if (v->expected[0])
        put(&t, "  expected   %s\n", v->expected);
    if (v->found[0])
        put(&t, "  found      %s\n", v->found);
    put(&t, "\nheaps  (one character a word: Aa live block and its fields, x unreachable,"
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
