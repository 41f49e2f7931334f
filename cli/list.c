/* SPDX-License-Identifier: MIT
 *
 * isoheap list: what this build knows.
 *
 * The JSON is printed by hand: every string in it is a constant of ours without a character that
 * needs escaping.
 */
#define _GNU_SOURCE
#include "cli/cli.h"

#include "collectors/registry.h"
#include "tests/known_bad/known_bad.h"

#include <argp.h>
#include <stdio.h>

static const char *const targets[] = {"fuzz_mark_sweep", "fuzz_reference", "fuzz_text",
                                      "fuzz_bytes"};
enum { TARGETS = sizeof targets / sizeof *targets };

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

static void list_people(void) {
    printf("collectors\n");
    for (unsigned i = 0; registered_collectors[i]; i++) {
        const struct collector *c = registered_collectors[i];
        printf("  %-20s %s\n", c->name, c->summary);
        for (unsigned v = 0; c->variants && c->variants[v]; v++)
            printf("  %-20s   variant=%u: %s\n", "", v, c->variants[v]);
    }
    printf("\nknown-bad collectors, each with the class that it raises\n");
    for (unsigned i = 0; known_bad[i].collector; i++)
        printf("  %-20s %-22s %s\n", known_bad[i].collector->name,
               violation_name(known_bad[i].violation), known_bad[i].defect);
    printf("\noracles\n");
    for (unsigned o = 0; o < ORACLE_COUNT; o++)
        printf("  %-20s %s\n", oracle_name((enum oracle)o), oracle_meaning((enum oracle)o));
    printf("\nviolation classes\n");
    for (unsigned v = 1; v < VIOLATION_classes; v++)
        printf("  %-20s %s\n", violation_name((enum violation)v),
               violation_meaning((enum violation)v));
    printf("\ntargets\n");
    for (unsigned t = 0; t < TARGETS; t++)
        printf("  %s\n", targets[t]);
    printf("\nconfig keys: smallest, largest, default\n");
    for (unsigned k = 0; k < CONFIG_KEYS; k++)
        printf("  %-20s %5u %5u %5u\n", config_ranges[k].name, config_ranges[k].min,
               config_ranges[k].max, config_ranges[k].initial);
    printf("\nlimits\n  %d items, %d fields, %d operations, %d slots for each of %d mutators,\n"
           "  blocks of %d words, heaps of %d words\n",
           PROGRAM_ITEMS, PROGRAM_FIELDS, PROGRAM_OPS, PROGRAM_SLOTS, PROGRAM_MUTATORS,
           PROGRAM_WOSIZE, PROGRAM_HEAP_WORDS);
}

static void json_collector(const struct collector *c, bool first) {
    printf("%s\n    {\"name\": \"%s\", \"summary\": \"%s\", \"moves\": %s, \"variants\": [",
           first ? "" : ",", c->name, c->summary, c->traits.moves ? "true" : "false");
    for (unsigned v = 0; c->variants && c->variants[v]; v++)
        printf("%s\"%s\"", v ? ", " : "", c->variants[v]);
    printf("]}");
}

static void list_json(void) {
    printf("{\n  \"collectors\": [");
    for (unsigned i = 0; registered_collectors[i]; i++)
        json_collector(registered_collectors[i], i == 0);
    printf("],\n  \"known_bad\": [");
    for (unsigned i = 0; known_bad[i].collector; i++)
        printf("%s\n    {\"name\": \"%s\", \"class\": \"%s\", \"defect\": \"%s\"}", i ? "," : "",
               known_bad[i].collector->name, violation_name(known_bad[i].violation),
               known_bad[i].defect);
    printf("],\n  \"oracles\": [");
    for (unsigned o = 0; o < ORACLE_COUNT; o++)
        printf("%s\"%s\"", o ? ", " : "", oracle_name((enum oracle)o));
    printf("],\n  \"classes\": [");
    for (unsigned v = 1; v < VIOLATION_classes; v++)
        printf("%s\"%s\"", v > 1 ? ", " : "", violation_name((enum violation)v));
    printf("],\n  \"targets\": [");
    for (unsigned t = 0; t < TARGETS; t++)
        printf("%s\"%s\"", t ? ", " : "", targets[t]);
    printf("],\n  \"config\": {");
    for (unsigned k = 0; k < CONFIG_KEYS; k++)
        printf("%s\"%s\": {\"min\": %u, \"max\": %u, \"default\": %u}", k ? ", " : "",
               config_ranges[k].name, config_ranges[k].min, config_ranges[k].max,
               config_ranges[k].initial);
    printf("},\n  \"limits\": {\"items\": %d, \"fields\": %d, \"operations\": %d, \"slots\": %d, "
           "\"mutators\": %d, \"wosize\": %d, \"heap_words\": %d}\n}\n",
           PROGRAM_ITEMS, PROGRAM_FIELDS, PROGRAM_OPS, PROGRAM_SLOTS, PROGRAM_MUTATORS,
           PROGRAM_WOSIZE, PROGRAM_HEAP_WORDS);
}

int command_list(int argc, char **argv) {
    static const struct argp argp = {
        options, parse, NULL, "List collectors, oracles, violation classes, targets and limits.",
        NULL,    NULL,  NULL};
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
