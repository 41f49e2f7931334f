/* SPDX-License-Identifier: MIT
 *
 * isoheap init: the skeleton of an adapter for somebody's collector, which builds and runs as it
 * is.
 *
 * The files are templates in cli/init/, embedded by the build; @NAME@ in them becomes the name.
 */
#define _GNU_SOURCE
#include "cli/cli.h"

#include <argp.h>
#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

extern const char init_adapter[], init_build[], init_seed[];

static const struct {
    const char *path, *text;
} files[] = {
    {"@NAME@.c", init_adapter},
    {"CMakeLists.txt", init_build},
    {"seeds/@NAME@/first.txt", init_seed},
};
enum { FILES = sizeof files / sizeof *files, NAME_MOST = 40, PATH_MOST = 4096 };

struct init {
    const char *folder, *name;
};

static const struct argp_option options[] = {
    {"name", 'n', "NAME", 0, "of the collector, a name in C (default: that of the folder)", 0},
    {0}};

static error_t parse(int key, char *argument, struct argp_state *state) {
    struct init *i = state->input;
    switch (key) {
    case 'n':
        i->name = argument;
        return 0;
    case ARGP_KEY_ARG:
        if (i->folder)
            argp_error(state, "one DIR at a time");
        i->folder = argument;
        return 0;
    case ARGP_KEY_END:
        if (!i->folder)
            argp_error(state, "no DIR");
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

/* The name becomes a C identifier, a file and a target; the reference's is taken. */
static const char *unfit(const char *name) {
    static const char *const taken[] = {
        "cheney", "auto", "break",  "case",    "char",   "const",  "continue", "do",     "double",
        "else",   "enum", "extern", "float",   "for",    "goto",   "if",       "inline", "int",
        "long",   "gc",   "return", "short",   "signed", "sizeof", "static",   "union",  "struct",
        "switch", "void", "while",  "default", "word",   "arena",  "main"};
    if (!islower((unsigned char)name[0]) || strlen(name) > NAME_MOST)
        return "begins with a small letter and has 40 characters at most";
    for (const char *s = name; *s; s++)
        if (!islower((unsigned char)*s) && !isdigit((unsigned char)*s) && *s != '_')
            return "has small letters, digits and _ only";
    for (unsigned i = 0; i < sizeof taken / sizeof *taken; i++)
        if (strcmp(name, taken[i]) == 0)
            return "must not be a word of C, or a name that the headers use";
    return NULL;
}

/* The template with the name in place of @NAME@, malloc'ed. */
static char *fill_in(const char *template, const char *name) {
    char *text = NULL;
    size_t size;
    FILE *out = open_memstream(&text, &size);
    if (!out)
        return NULL;
    for (const char *at; (at = strstr(template, "@NAME@")); template = at + strlen("@NAME@")) {
        fwrite(template, 1, (size_t)(at - template), out);
        fputs(name, out);
    }
    fputs(template, out);
    return fclose(out) == 0 ? text : NULL;
}

/* As mkdir -p for the folder of a file. */
static bool make_folders(char *path) {
    for (char *slash = strchr(path + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
        *slash = '\0';
        bool good = mkdir(path, 0777) == 0 || errno == EEXIST;
        if (!good)
            fprintf(stderr, "isoheap: %s: %s\n", path, strerror(errno));
        *slash = '/';
        if (!good)
            return false;
    }
    return true;
}

static bool path_of(const struct init *i, unsigned file, char *path) {
    char *below = fill_in(files[file].path, i->name);
    int n = below ? snprintf(path, PATH_MOST, "%s/%s", i->folder, below) : -1;
    free(below);
    if (n < 0 || n >= PATH_MOST)
        fprintf(stderr, "isoheap: %s: the name is too long\n", i->folder);
    return n >= 0 && n < PATH_MOST;
}

static bool write_all(const struct init *i) {
    char path[PATH_MOST];
    for (unsigned f = 0; f < FILES; f++) { /* nothing is written if anything is there */
        if (!path_of(i, f, path))
            return false;
        if (access(path, F_OK) == 0) {
            fprintf(stderr, "isoheap: %s exists; nothing is overwritten\n", path);
            return false;
        }
    }
    for (unsigned f = 0; f < FILES; f++) {
        char *text = fill_in(files[f].text, i->name);
        bool good = text && path_of(i, f, path) && make_folders(path) &&
                    write_file(path, text, strlen(text));
        free(text);
        if (!good)
            return false;
        printf("%s\n", path);
    }
    return true;
}

static const char about[] =
    "Write the skeleton of an adapter for a garbage collector into DIR: a commented C file, a "
    "CMakeLists.txt and a first seed.  It builds and passes as it is; then fill it in."
    "\v"
    "Exit status: 0 written, 2 usage, or a file is in the way.";

int command_init(int argc, char **argv) {
    static const struct argp argp = {options, parse, "DIR", about, NULL, NULL, NULL};
    struct init i = {.folder = NULL};
    argp_err_exit_status = EXIT_USAGE;
    if (argp_parse(&argp, argc, argv, 0, NULL, &i))
        return EXIT_USAGE;
    char *copy = strdup(i.folder);
    for (size_t n = copy ? strlen(copy) : 0; n > 1 && copy[n - 1] == '/'; n--)
        copy[n - 1] = '\0';
    if (!i.name)
        i.name = copy ? basename(copy) : "";
    const char *wrong = unfit(i.name);
    if (wrong)
        fprintf(stderr, "isoheap: the name of a collector, \"%s\", %s; --name gives another one\n",
                i.name, wrong);
    bool good = !wrong && write_all(&i);
    if (good)
        printf("\nnext:  cd %s && cmake -B build && cmake --build build && ctest --test-dir "
               "build\n",
               i.folder);
    free(copy);
    return good ? EXIT_OK : EXIT_USAGE;
}
