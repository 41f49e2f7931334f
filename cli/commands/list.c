/* SPDX-License-Identifier: MIT
 *
 * isoheap list: what this build knows.
 */
#define _GNU_SOURCE
#include "cli/cli.h"

#include "cli/nearest.h"
#include "cli/plugin.h"
#include "collectors/contract.h"
#include "collectors/known_bad/known_bad.h"
#include "collectors/registry/registry.h"
#include "fuzz/targets.def"
#include "program/bytes/bytes.h"

#include <argp.h>
#include <stdio.h>
#include <stdlib.h>
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
    for (unsigned i = 0; registered_collectors[i]; i++)
        list_collector(registered_collectors[i]);
    for (unsigned i = 0; plugin_collectors()[i]; i++)
        list_collector(plugin_collectors()[i]);
}
static void list_known_bad(void) {
    for (const struct known_bad *bad = known_bad(); bad->collector; bad++)
        printf("  %-22s %-20s %s\n", bad->collector->name, violation_name(bad->violation),
               bad->defect);
}
static void list_oracles(void) {
    for (unsigned o = 0; o < ORACLE_COUNT; o++)
        printf("  %-22s %s\n", oracle_name((enum oracle)o), oracle_meaning((enum oracle)o));
}
static void list_trait_meanings(void) {
    for (unsigned t = 0; t < TRAITS; t++)
        printf("  %-22s %s\n", trait_table[t].name, trait_table[t].meaning);
}
static void list_classes(void) {
    for (unsigned v = 1; v < VIOLATION_classes; v++)
        printf("  %-22s %s\n", violation_name((enum violation)v),
               violation_meaning((enum violation)v));
}
static void list_targets(void) {
    for (unsigned t = 0; t < TARGETS; t++)
        printf("  %-22s %s\n", targets[t].name, targets[t].meaning);
}
static void list_config(void) {
    for (unsigned k = 0; k < CONFIG_KEYS; k++)
        printf("  %-22s %5u %5u %5u\n", config_ranges[k].name, config_ranges[k].min,
               config_ranges[k].max, config_ranges[k].initial);
}
static void list_limits(void) {
    for (unsigned l = 0; l < LIMITS; l++)
        printf("  %-22s %5u  %s\n", limits[l].name, limits[l].value, limits[l].meaning);
}
static void list_operations(void) {
    for (unsigned code = 0; code < OP_CODES; code++)
        printf("  %-22s %s\n", op_shapes[code].name, op_shapes[code].form);
}
static void list_forms(void) {
    printf("  %-22s %5d\n  %-22s %5d\n", "text", PROGRAM_VERSION, "bytes", PROGRAM_BYTES_VERSION);
}

static const struct {
    const char *name, *title;
    void (*list)(void);
} sections[] = {
    {"collectors", "collectors", list_collectors},
    {"known-bad", "known-bad collectors, each with the class that it raises", list_known_bad},
    {"oracles", "oracles", list_oracles},
    {"traits", "traits of collectors", list_trait_meanings},
    {"classes", "violation classes", list_classes},
    {"targets", "targets", list_targets},
    {"config", "config keys: smallest, largest, default", list_config},
    {"limits", "limits of a program", list_limits},
    {"operations", "operations: name, text (docs/program.md)", list_operations},
    {"forms", "forms of a program: newest version", list_forms},
};
enum { SECTIONS = sizeof sections / sizeof *sections };

const char *list_section_names(unsigned n) {
    return n < SECTIONS ? sections[n].name : NULL;
}

/* ---- what is asked for ------------------------------------------------------------------------
 */

struct wanted {
    bool json;
    uint32_t sections; /* a bit each; 0: all */
    const char *search;
};

static const struct argp_option options[] = {
    {"json", 'j', NULL, 0, "for programs instead of people", 0},
    {"search", 's', "TEXT", 0, "only entries that have TEXT in them, in small letters or large", 0},
    {0}};

static void want_section(struct argp_state *state, struct wanted *w, const char *name) {
    for (unsigned n = 0; n < SECTIONS; n++)
        if (strcmp(sections[n].name, name) == 0) {
            w->sections |= 1u << n;
            return;
        }
    argp_error(state, "there is no list of %s%s", name, did_you_mean(name, list_section_names));
}

static error_t parse(int key, char *argument, struct argp_state *state) {
    struct wanted *w = state->input;
    switch (key) {
    case 'j':
        w->json = true;
        return 0;
    case 's':
        w->search = argument;
        return 0;
    case ARGP_KEY_ARG:
        want_section(state, w, argument);
        return 0;
    case ARGP_KEY_END:
        if (w->json && (w->sections || w->search))
            argp_error(state, "--json has everything; choose from it");
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

/* An entry is a line and those behind it that are indented further. */
static const char *entry_end(const char *entry) {
    const char *end = entry;
    do
        end = strchr(end, '\n') + 1;
    while (strncmp(end, "   ", 3) == 0);
    return end;
}

/* Prints the entries of a section that have the text; false if none has. */
static bool print_found(const char *title, const char *entries, const char *text) {
    bool found = false;
    for (const char *entry = entries, *end; *entry; entry = end) {
        end = entry_end(entry);
        char *copy = strndup(entry, (size_t)(end - entry));
        if (copy && strcasestr(copy, text)) {
            printf("%s%s%s", found ? "" : title, found ? "" : "\n", copy);
            found = true;
        }
        free(copy);
    }
    return found;
}

/* What a section prints, malloc'ed; NULL: no memory. */
static char *text_of(void (*list)(void)) {
    char *text = NULL;
    size_t size;
    FILE *kept = stdout, *memory = open_memstream(&text, &size);
    if (!memory)
        return NULL;
    stdout = memory;
    list();
    stdout = kept;
    fclose(memory);
    return text;
}

static int list_people(const struct wanted *w) {
    bool any = false;
    for (unsigned n = 0; n < SECTIONS; n++) {
        if (w->sections && !(w->sections >> n & 1))
            continue;
        char *entries = text_of(sections[n].list);
        if (!entries) {
            fprintf(stderr, "isoheap list: no memory\n");
            return EXIT_HARNESS;
        }
        const char *text = w->search ? w->search : "";
        if (any && (!w->search || strcasestr(entries, text)))
            printf("\n");
        any |= print_found(sections[n].title, entries, text);
        free(entries);
    }
    if (!any)
        fprintf(stderr, "isoheap list: nothing has \"%s\" in it\n", w->search ? w->search : "");
    return any ? EXIT_OK : EXIT_USAGE;
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
        printf("%s\n    \"%s\": {\"min\": %u, \"max\": %u, \"largest\": %u, \"default\": %u}",
               k ? "," : "", config_ranges[k].name, config_ranges[k].min, config_ranges[k].max,
               config_ranges[k].largest, config_ranges[k].initial);
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
    "List what this build knows: all of it, or the SECTIONs named.\vSections:";

/* The text after the options ends in the names of the sections.  What is returned is freed. */
static char *help_filter(int key, const char *text, void *input) {
    char *names = NULL;
    size_t size;
    FILE *f = key == ARGP_KEY_HELP_POST_DOC ? open_memstream(&names, &size) : NULL;
    (void)input;
    if (!f)
        return (char *)(uintptr_t)text;
    fputs(text, f);
    for (unsigned n = 0; n < SECTIONS; n++)
        fprintf(f, "%s %s", n ? "," : "", sections[n].name);
    fputs(".", f);
    fclose(f);
    return names;
}

int command_list(int argc, char **argv) {
    static const struct argp argp = {options,     parse, "[SECTION...]", about, plugin_option,
                                     help_filter, NULL};
    struct wanted wanted = {.json = false};
    argp_err_exit_status = EXIT_USAGE;
    if (argp_parse(&argp, argc, argv, 0, NULL, &wanted))
        return EXIT_USAGE;
    if (!wanted.json)
        return list_people(&wanted);
    list_json();
    return EXIT_OK;
}
