/* SPDX-License-Identifier: MIT
 *
 * isoheap list: what this build knows.
 */
#define _GNU_SOURCE
#include "cli/cli.h"

#include "cli/plugin.h"
#include "collectors/known_bad/known_bad.h"
#include "collectors/registry/registry.h"
#include "program/bytes/bytes.h"

#include <argp.h>
#include <stdio.h>
#include <string.h>

static const struct {
    const char *name, *meaning;
} targets[] = {
    {"fuzz_mark_sweep", "mark_sweep against cheney and the model"},
    {"fuzz_reference", "cheney against the model"},
    {"fuzz_incremental",
     "incremental against cheney and the model, its cycles against Definition 6"},
    {"fuzz_generational",
     "generational against cheney and the model, its minor collections against Definition 7"},
    {"fuzz_tower", "tower against cheney and the model, its levels against each other"},
    {"fuzz_cakeml", "cakeml against cheney and the model, words against lists of elements"},
    {"fuzz_boehm", "boehm, the system's libgc, against cheney and the model: soundness"},
    {"fuzz_compact", "compact against cheney and the model"},
    {"fuzz_all", "every registered collector against the model"},
    {"fuzz_text", "the text parser and printer"},
    {"fuzz_bytes", "the decoder and encoder"},
};
enum { TARGETS = sizeof targets / sizeof *targets };

static const struct {
    const char *name;
    unsigned value;
} limits[] = {
    {"mutators", PROGRAM_MUTATORS},     {"slots", PROGRAM_SLOTS},
    {"items", PROGRAM_ITEMS},           {"fields", PROGRAM_FIELDS},
    {"operations", PROGRAM_OPS},        {"wosize", PROGRAM_WOSIZE},
    {"heap_words", PROGRAM_HEAP_WORDS}, {"functions", PROGRAM_FUNCTIONS},
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

struct flag {
    const char *name;
    bool set;
};
enum { FLAGS = 16 };

static void read_flags(const struct collector_traits *t, struct flag flags[FLAGS]) {
    const struct flag all[FLAGS] = {{"moves", t->moves},
                                    {"infix", t->infix},
                                    {"start_env", t->start_env},
                                    {"raw", t->raw},
                                    {"outside", t->outside},
                                    {"fatal_out_of_memory", t->fatal_out_of_memory},
                                    {"poisons", t->poisons},
                                    {"conservative", t->conservative},
                                    {"whitens", t->whitens},
                                    {"free_list", t->free_list},
                                    {"sorted_free_list", t->sorted_free_list},
                                    {"merged_free_list", t->merged_free_list},
                                    {"renews", t->renews},
                                    {"exact_minor", t->exact_minor},
                                    {"compacts", t->compacts},
                                    {"slides", t->slides}};
    memcpy(flags, all, sizeof all);
}

static const char *refusal_name(enum gc_refusal refusal) {
    switch (refusal) {
    case REFUSES_NO_FREE_BLOCK:
        return "no_free_block";
    case REFUSES_EXACTLY:
        return "exactly";
    default:
        return "anytime";
    }
}

/* ---- for people -------------------------------------------------------------------------------
 */

enum { INDENT = 25, WIDTH = 100 };

/* The traits that are set, wrapped. */
static void list_traits(const struct collector_traits *t) {
    struct flag flags[FLAGS];
    int column = printf("%*straits:", INDENT, "");
    read_flags(t, flags);
    for (unsigned i = 0; i < FLAGS; i++) {
        if (!flags[i].set)
            continue;
        if (column + 1 + (int)strlen(flags[i].name) > WIDTH)
            column = printf("\n%*s", INDENT, "");
        column += printf(" %s", flags[i].name);
    }
    printf("\n%*srefuses %s; exact after %u full collections; %u mutators", INDENT, "",
           refusal_name(t->refusal), t->full_until_exact, t->max_mutators);
    if (t->max_wosize)
        printf("; blocks of %zu words at most", t->max_wosize);
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
        printf("  %-22s %5u\n", limits[l].name, limits[l].value);
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
    struct flag flags[FLAGS];
    printf(",\n     \"traits\": {");
    read_flags(t, flags);
    for (unsigned i = 0; i < FLAGS; i++)
        printf("\"%s\": %s, ", flags[i].name, flags[i].set ? "true" : "false");
    printf("\"full_until_exact\": %u, \"refuses\": \"%s\", \"max_wosize\": %zu, "
           "\"max_mutators\": %u}",
           t->full_until_exact, refusal_name(t->refusal), t->max_wosize, t->max_mutators);
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

static void list_json(void) {
    printf("{\n  \"program_version\": %d,\n", PROGRAM_VERSION);
    json_collectors();
    printf(",\n  \"oracles\": [");
    for (unsigned o = 0; o < ORACLE_COUNT; o++)
        json_entry(o, oracle_name((enum oracle)o), oracle_meaning((enum oracle)o));
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
