/* SPDX-License-Identifier: MIT
 *
 * What `isoheap mutants` says at its end (mutants.h).
 */
#define _GNU_SOURCE
#include "cli/mutants/mutants.h"

#include "pictures/escape.h"

#include <stdlib.h>
#include <string.h>

static void tally_survivor(struct tally_of_mutants *t, const struct mutant_report *r,
                           const struct mutant *k, const struct result *result) {
    const struct accepted_entry *e = accepted_find(r->accepted, r->mutants, k);
    t->accepted[e ? e->kind : ACCEPTED_none]++;
    t->open++;
    t->unreached += result->ran == 0;
    if (result->tried < t->tried_least)
        t->tried_least = result->tried;
}

struct tally_of_mutants tally_mutants(const struct mutant_report *r) {
    struct tally_of_mutants t = {.tried_least = UINT32_MAX};
    for (unsigned k = 1; k <= r->mutants->n; k++) {
        const struct mutant *mutant = &r->mutants->all[k - 1];
        const struct result *result = &r->results->result[k];
        t.aside += mutant->aside && !mutant->dropped;
        if (!is_chosen(mutant))
            continue;
        t.made++;
        t.same += result->fate == FATE_same;
        t.twins += result->fate == FATE_twin;
        t.killed += result->fate == FATE_killed;
        if (result->fate == FATE_killed)
            t.by_effect[violation_effect(result->violation)]++;
        if (result->fate == FATE_open)
            tally_survivor(&t, r, mutant, result);
    }
    for (unsigned i = 0; !r->chosen && i < r->accepted->n; i++)
        t.stale += !r->accepted->entry[i].used;
    return t;
}

static double percent(unsigned part, unsigned all) {
    return all ? 100.0 * part / all : 100.0;
}

double share_wrong(const struct tally_of_mutants *t) {
    return percent(t->killed,
                   t->killed + t->accepted[ACCEPTED_none] + t->accepted[ACCEPTED_beyond]);
}

double share_all(const struct tally_of_mutants *t) {
    return percent(t->killed, t->killed + t->open - t->accepted[ACCEPTED_equivalent]);
}

/* ---- text -------------------------------------------------------------------------------------
 */

static void put_place(FILE *out, const struct mutants *m, const struct mutant *k) {
    fprintf(out, "%s:%u: in %s: `%s` -> `%s` (%s)\n", m->files[k->file].path, k->line, k->function,
            k->before, k->after, operator_name(k->op));
}

static void put_survivor(FILE *out, const struct mutant_report *r, unsigned number) {
    const struct mutant *k = &r->mutants->all[number - 1];
    const struct result *result = &r->results->result[number];
    const struct accepted_entry *e = accepted_find(r->accepted, r->mutants, k);
    if (e)
        return;
    char *key = accept_key(r->mutants, k);
    put_place(out, r->mutants, k);
    if (result->ran)
        fprintf(
            out,
            "    survived %u programs, %u of which run this line: it could be wrong, and nobody "
            "would notice\n",
            result->tried, result->ran);
    else
        fprintf(out, "    never executed, by none of %u programs\n", result->tried);
    fprintf(out, "    accept: %s\n", key);
    free(key);
}

static void put_killed(FILE *out, const struct mutant_report *r, unsigned number) {
    const struct result *result = &r->results->result[number];
    put_place(out, r->mutants, &r->mutants->all[number - 1]);
    fprintf(out, "    killed by program %u: %s\n", result->tried,
            result->harness_error ? "it is not run, or an assertion of the harness fails"
            : result->hung        ? "it does not end"
                                  : violation_name(result->violation));
}

static void put_stale(FILE *out, const struct mutant_report *r) {
    for (unsigned i = 0; r->finished && !r->chosen && i < r->accepted->n; i++)
        if (!r->accepted->entry[i].used)
            fprintf(out, "accepted, but no survivor, line %u: %s\n", r->accepted->entry[i].line,
                    r->accepted->entry[i].key);
}

/* By operator: how many were made, and how many are left that nobody has accepted. */
static void put_operators(FILE *out, const struct mutant_report *r) {
    for (unsigned o = 0; o < OPERATORS; o++) {
        unsigned made = 0, killed = 0, open = 0;
        for (unsigned k = 1; k <= r->mutants->n; k++) {
            const struct mutant *m = &r->mutants->all[k - 1];
            if (m->op != o || !is_chosen(m))
                continue;
            made++;
            killed += r->results->result[k].fate == FATE_killed;
            open += r->results->result[k].fate == FATE_open &&
                    !accepted_find(r->accepted, r->mutants, m);
        }
        if (made)
            fprintf(out, "  %-11s %5u made, %5u killed, %4u survive    %s\n",
                    operator_name((enum mutant_operator)o), made, killed, open,
                    operator_meaning((enum mutant_operator)o));
    }
}

static void put_sums(FILE *out, const struct mutant_report *r, const struct tally_of_mutants *t) {
    const struct left_out *l = &r->mutants->left_out;
    fprintf(out,
            "%s: %u mutants, %u of them with the code of the original, %u with that of another "
            "survivor\n",
            r->collector, t->made, t->same, t->twins);
    fprintf(
        out,
        "  no mutants at %u places in macros, %u in constants, %u that a macro decides, %u that "
        "do not compile\n",
        l->macros, l->constants, l->switches, l->uncompiled);
    fprintf(out, "  killed %u: %u go wrong, %u waste, %u leak, %u lie\n", t->killed,
            t->by_effect[EFFECT_wrong], t->by_effect[EFFECT_waste], t->by_effect[EFFECT_leak],
            t->by_effect[EFFECT_lie]);
    fprintf(out, "  survive %u, of which %u are never executed; accepted:", t->open, t->unreached);
    for (unsigned kind = 1; kind < ACCEPTED_COUNT; kind++)
        fprintf(out, "%s %u %s", kind > 1 ? "," : "", t->accepted[kind],
                accepted_name((enum accepted_kind)kind));
    fprintf(out, "; left: %u\n", t->accepted[ACCEPTED_none]);
    fprintf(out,
            "  found: %.1f %% of those that make a program go wrong, %.1f %% of all that are not "
            "equivalent\n",
            share_wrong(t), share_all(t));
    if (r->chosen)
        fprintf(out, "  %u other mutants were left aside\n", t->aside);
    if (r->programs->not_run)
        fprintf(out,
                "  %u of the programs are for mutants that promise more: the collector cannot be "
                "given them\n",
                r->programs->not_run);
    if (!has_address_sanitizer())
        fputs("  this command has no AddressSanitizer: who uses poisoned memory is not seen\n",
              out);
    if (!r->finished)
        fprintf(out,
                "  it was cut short: survivors have run %u of %u programs at least; the same "
                "command goes on\n",
                t->open ? t->tried_least : 0, r->budget);
}

void print_mutants(FILE *out, const struct mutant_report *r) {
    struct tally_of_mutants t = tally_mutants(r);
    for (unsigned k = 1; k <= r->mutants->n; k++) {
        const struct mutant *m = &r->mutants->all[k - 1];
        if (!is_chosen(m))
            continue;
        if (r->results->result[k].fate == FATE_open)
            put_survivor(out, r, k);
        else if (r->killed_too && r->results->result[k].fate == FATE_killed)
            put_killed(out, r, k);
    }
    put_stale(out, r);
    put_operators(out, r);
    put_sums(out, r, &t);
}

/* ---- JSON -------------------------------------------------------------------------------------
 */

static void put_member(FILE *out, const char *name, const char *text) {
    fprintf(out, "\"%s\": ", name);
    put_json(out, text);
    fputs(", ", out);
}

static const char *fate_name(const struct mutant_report *r, unsigned k) {
    static const char *const names[] = {"survived", "killed", "equivalent code", "twin"};
    if (r->mutants->all[k - 1].dropped)
        return "does not compile";
    if (r->mutants->all[k - 1].aside)
        return "left aside";
    if (r->results->result[k].fate == FATE_open && r->results->result[k].ran == 0)
        return "never executed";
    return names[r->results->result[k].fate];
}

static void put_mutant_json(FILE *out, const struct mutant_report *r, unsigned k) {
    const struct mutant *m = &r->mutants->all[k - 1];
    const struct result *result = &r->results->result[k];
    const struct accepted_entry *e =
        result->fate == FATE_open && !m->aside ? accepted_find(r->accepted, r->mutants, m) : NULL;
    fputs(k > 1 ? ",\n    {" : "\n    {", out);
    put_member(out, "file", r->mutants->files[m->file].path);
    put_member(out, "function", m->function);
    put_member(out, "operator", operator_name(m->op));
    put_member(out, "before", m->before);
    put_member(out, "after", m->after);
    char *key = accept_key(r->mutants, m);
    put_member(out, "accept", key);
    free(key);
    put_member(out, "fate", fate_name(r, k));
    if (result->fate == FATE_killed && !m->aside) {
        put_member(out, "class",
                   result->harness_error ? "harness_error" : violation_name(result->violation));
        put_member(out, "effect", effect_name(violation_effect(result->violation)));
    }
    if (result->fate == FATE_twin && !m->aside)
        fprintf(out, "\"twin\": %u, ", result->twin);
    if (e) {
        put_member(out, "accepted", accepted_name(e->kind));
        put_member(out, "reason", e->reason);
    }
    fprintf(out, "\"line\": %u, \"programs\": %u, \"reached\": %u}", m->line, result->tried,
            result->ran);
}

void print_mutants_json(FILE *out, const struct mutant_report *r) {
    struct tally_of_mutants t = tally_mutants(r);
    const struct left_out *l = &r->mutants->left_out;
    fputs("{\n  \"collector\": ", out);
    put_json(out, r->collector);
    fprintf(out,
            ",\n  \"budget\": %u, \"not_run\": %u, \"finished\": %s, \"address_sanitizer\": %s, "
            "\"mutants\": %u, "
            "\"aside\": %u, \"equivalent_code\": %u, \"twins\": %u,\n",
            r->budget, r->programs->not_run, r->finished ? "true" : "false",
            has_address_sanitizer() ? "true" : "false", t.made, t.aside, t.same, t.twins);
    fprintf(out,
            "  \"left_out\": {\"macros\": %u, \"constants\": %u, \"switches\": %u, "
            "\"uncompiled\": %u},\n",
            l->macros, l->constants, l->switches, l->uncompiled);
    fprintf(out, "  \"killed\": {\"all\": %u", t.killed);
    for (unsigned e = 0; e < EFFECTS; e++)
        fprintf(out, ", \"%s\": %u", effect_name((enum violation_effect)e), t.by_effect[e]);
    fprintf(out, "},\n  \"survivors\": {\"all\": %u, \"never_executed\": %u, \"left\": %u", t.open,
            t.unreached, t.accepted[ACCEPTED_none]);
    for (unsigned kind = 1; kind < ACCEPTED_COUNT; kind++)
        fprintf(out, ", \"%s\": %u", accepted_name((enum accepted_kind)kind), t.accepted[kind]);
    fprintf(out, "},\n  \"found_wrong\": %.1f, \"found_all\": %.1f, \"stale\": %u,\n  \"all\": [",
            share_wrong(&t), share_all(&t), t.stale);
    for (unsigned k = 1; k <= r->mutants->n; k++)
        put_mutant_json(out, r, k);
    fputs("]\n}\n", out);
}
