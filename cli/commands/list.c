/* SPDX-License-Identifier: MIT
 *
 * isoheap list: what this build knows.
 */
#define _GNU_SOURCE
#include "cli/cli.h"

#include "cli/plugin.h"
#include "collectors/contract.h"
#include "collectors/known_bad/known_bad.h"
#include "collectors/registry/registry.h"
#include "fuzz/targets.def"
#include "program/bytes/bytes.h"

#include <argp.h>
#include <stdio.h>
#include <string.h>

static const struct {
    const char *name, *meaning;
} targets[] = {
#define X(name, meaning) {#name, meaning},
    FUZZ_TARGETS(X)
#undef X
};
enum { TARGETS = sizeof targets / sizeof *targets };

static const struct {
    const char *name, *meaning;
    unsigned value;
} limits[] = {
#define X(identifier, name, most, meaning) {#name, meaning, PROGRAM_##identifier},
    PROGRAM_LIMITS(X)
#undef X
};
enum { LIMITS = sizeof limits / sizeof *limits };

static const struct argp_option options[] = {
    {"json", 'j', NULL, 0, "for programs instead of people", 0}, {0}};

static error_t parse(int key, char *argument, struct argp_state *state) {
    (void)argument;
    if (key == 'j')
        *(bool *)state->input = true;
    else
        return ARGP_ERR_UNKNOWN;
    return 0;
}

/* ---- traits -----------------------------------------------------------------------------------
 */

/* "true", "4", "exactly". */
static void put_value(const struct collector_traits *t, enum trait_number n, const char *quote) {
    size_t value = trait_value(t, n);
    if (trait_table[n].type == TYPE_bool)
        printf("%s", value ? "true" : "false");
    else if (trait_table[n].type == TYPE_gc_refusal)
        printf("%s%s%s", quote, refusal_name((gc_refusal)value), quote);
    else
        printf("%zu", value);
}

/* ---- for people -------------------------------------------------------------------------------
 */

enum { INDENT = 25, WIDTH = 100 };

static void list_trait(const struct collector_traits *t, enum trait_number n, int *column) {
    enum { VALUE = 20 };
    bool flag = trait_table[n].type == TYPE_bool;
    int length = 1 + (int)strlen(trait_table[n].name) + (flag ? 0 : VALUE);
    if (*column + length > WIDTH) {
        printf("\n%*s", INDENT, "");
        *column = INDENT;
    }
    *column += length;
    printf(" %s", trait_table[n].name);
    if (flag)
        return;
    printf("=");
    put_value(t, n, "");
}

/* The traits that are set, wrapped. */
static void list_traits(const struct collector_traits *t) {
    int column = printf("%*straits:", INDENT, "");
    for (unsigned n = 0; n < TRAITS; n++)
        if (trait_value(t, (enum trait_number)n))
            list_trait(t, (enum trait_number)n, &column);
    printf("\n");
}

static void list_collector(const struct collector *c) {
    printf("  %-22s %s\n", c->name, c->summary);
    list_traits(&c->traits);
    for (unsigned v = 0; c->variants && c->variants[v]; v++)
        printf("%*svariant=%u: %s\n", INDENT, "", v, c->variants[v]);
    for (unsigned k = 0; c->kinds && c->kinds[k]; k++)
        printf("%*skind=%u: %s\n", INDENT, "", k, c->kinds[k]);
}

static void list_collectors(void) {
    printf("collectors\n");
    for (unsigned i = 0; registered_collectors[i]; i++)
        list_collector(registered_collectors[i]);
    for (unsigned i = 0; plugin_collectors()[i]; i++)
        list_collector(plugin_collectors()[i]);
    printf("\nknown-bad collectors, each with the class that it raises\n");
    for (const struct known_bad *bad = known_bad(); bad->collector; bad++)
        printf("  %-22s %-20s %s\n", bad->collector->name, violation_name(bad->violation),
               bad->defect);
}

static void list_people(void) {
    list_collectors();
    printf("\noracles\n");
    for (unsigned o = 0; o < ORACLE_COUNT; o++)
        printf("  %-22s %s\n", oracle_name((enum oracle)o), oracle_meaning((enum oracle)o));
    printf("\ntraits of collectors\n");
    for (unsigned t = 0; t < TRAITS; t++)
        printf("  %-22s %s\n", trait_table[t].name, trait_table[t].meaning);
    printf("\nviolation classes\n");
    for (unsigned v = 1; v < VIOLATION_classes; v++)
        printf("  %-22s %s\n", violation_name((enum violation)v),
               violation_meaning((enum violation)v));
    printf("\ntargets\n");
    for (unsigned t = 0; t < TARGETS; t++)
        printf("  %-22s %s\n", targets[t].name, targets[t].meaning);
    printf("\nconfig keys: smallest, largest, default\n");
    for (unsigned k = 0; k < CONFIG_KEYS; k++)
        printf("  %-22s %5u %5u %5u\n", config_ranges[k].name, config_ranges[k].min,
               config_ranges[k].max, config_ranges[k].initial);
    printf("\nlimits of a program\n");
    for (unsigned l = 0; l < LIMITS; l++)
        printf("  %-22s %5u  %s\n", limits[l].name, limits[l].value, limits[l].meaning);
    printf("\noperations: name, text (docs/program.md)\n");
    for (unsigned code = 0; code < OP_CODES; code++)
        printf("  %-22s %s\n", op_shapes[code].name, op_shapes[code].form);
    printf("\nforms of a program: newest version\n  %-22s %5d\n  %-22s %5d\n", "text",
           PROGRAM_VERSION, "bytes", PROGRAM_BYTES_VERSION);
}

/* ---- for programs -----------------------------------------------------------------------------
 */

static void json_string(const char *text) {
    putchar('"');
    for (; *text; text++) {
        if ((unsigned char)*text < ' ')
            printf("\\u%04x", (unsigned char)*text);
        else if (*text == '"' || *text == '\\')
            printf("\\%c", *text);
        else
            putchar(*text);
    }
    putchar('"');
}

/* "key": "text" */
static void json_member(const char *key, const char *text) {
    json_string(key);
    printf(": ");
    json_string(text);
}

static void json_names(const char *key, const char *const *names) {
    printf(", \"%s\": [", key);
    for (unsigned i = 0; names && names[i]; i++) {
        printf("%s", i ? ", " : "");
        json_string(names[i]);
    }
    printf("]");
}

static void json_traits(const struct collector_traits *t) {
    printf(",\n     \"traits\": {");
    for (unsigned n = 0; n < TRAITS; n++) {
        printf("%s\"%s\": ", n ? ", " : "", trait_table[n].name);
        put_value(t, (enum trait_number)n, "\"");
    }
    printf("}");
}

static void json_collector(unsigned number, const struct collector *c) {
    printf("%s\n    {", number ? "," : "");
    json_member("name", c->name);
    printf(", ");
    json_member("summary", c->summary);
    json_names("variants", c->variants);
    json_names("kinds", c->kinds);
    json_traits(&c->traits);
    printf("}");
}

static void json_collectors(void) {
    printf("  \"collectors\": [");
    for (unsigned i = 0; registered_collectors[i]; i++)
        json_collector(i, registered_collectors[i]);
    for (unsigned i = 0; plugin_collectors()[i]; i++)
        json_collector(1, plugin_collectors()[i]);
    printf("],\n  \"known_bad\": [");
    for (const struct known_bad *bad = known_bad(); bad->collector; bad++) {
        printf("%s\n    {", bad != known_bad() ? "," : "");
        json_member("name", bad->collector->name);
        printf(", ");
        json_member("class", violation_name(bad->violation));
        printf(", ");
        json_member("defect", bad->defect);
        printf("}");
    }
    printf("]");
}

/* One entry of an array of things with a name and a meaning. */
static void json_entry(unsigned number, const char *name, const char *meaning) {
    printf("%s\n    {", number ? "," : "");
    json_member("name", name);
    printf(", ");
    json_member("meaning", meaning);
    printf("}");
}

static void json_oracle(enum oracle o) {
    printf("%s\n    {\"name\": \"%s\", \"meaning\": ", o ? "," : "", oracle_name(o));
    json_string(oracle_meaning(o));
    printf(", \"source\": ");
    json_string(oracle_source(o));
    printf(", \"classes\": [");
    for (const enum violation *v = oracle_classes(o); *v; v++)
        printf("%s\"%s\"", v == oracle_classes(o) ? "" : ", ", violation_name(*v));
    printf("], \"needs\": [");
    const char *separator = "";
    for (unsigned n = 0; n < ORACLE_NEED_COUNT; n++) {
        if (!(oracle_needs(o) >> n & 1))
            continue;
        printf("%s\"%s\"", separator, oracle_need_words((enum oracle_need)n));
        separator = ", ";
    }
    printf("], \"events\": [");
    for (unsigned n = 0; oracle_event(o, n); n++)
        printf("%s\"%s\"", n ? ", " : "", oracle_event(o, n));
    printf("]}");
}

static void list_json(void) {
    printf("{\n  \"program_version\": %d,\n", PROGRAM_VERSION);
    json_collectors();
    printf(",\n  \"oracles\": [");
    for (unsigned o = 0; o < ORACLE_COUNT; o++)
        json_oracle((enum oracle)o);
    printf("],\n  \"traits\": [");
    for (unsigned t = 0; t < TRAITS; t++)
        json_entry(t, trait_table[t].name, trait_table[t].meaning);
    printf("],\n  \"classes\": [");
    for (unsigned v = 1; v < VIOLATION_classes; v++)
        json_entry(v - 1, violation_name((enum violation)v), violation_meaning((enum violation)v));
    printf("],\n  \"targets\": [");
    for (unsigned t = 0; t < TARGETS; t++)
        json_entry(t, targets[t].name, targets[t].meaning);
    printf("],\n  \"config\": {");
    for (unsigned k = 0; k < CONFIG_KEYS; k++)
        printf("%s\n    \"%s\": {\"min\": %u, \"max\": %u, \"default\": %u}", k ? "," : "",
               config_ranges[k].name, config_ranges[k].min, config_ranges[k].max,
               config_ranges[k].initial);
    printf("},\n  \"limits\": {");
    for (unsigned l = 0; l < LIMITS; l++)
        printf("%s\"%s\": %u", l ? ", " : "", limits[l].name, limits[l].value);
    printf("},\n  \"operations\": [");
    for (unsigned code = 0; code < OP_CODES; code++)
        printf("%s\n    {\"name\": \"%s\", \"text\": \"%s\"}", code ? "," : "",
               op_shapes[code].name, op_shapes[code].form);
    printf("],\n  \"forms\": {\"text\": %d, \"bytes\": %d}\n}\n", PROGRAM_VERSION,
           PROGRAM_BYTES_VERSION);
}

static const char about[] =
    "List collectors, oracles, violation classes, targets, limits and operations.";

int command_list(int argc, char **argv) {
    static const struct argp argp = {options, parse, NULL, about, plugin_option, NULL, NULL};
    bool json = false;
    argp_err_exit_status = EXIT_USAGE;
    if (argp_parse(&argp, argc, argv, 0, NULL, &json))
        return EXIT_USAGE;
    if (json)
        list_json();
    else
        list_people();
    return EXIT_OK;
}
