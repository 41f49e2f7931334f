/* SPDX-License-Identifier: MIT
 *
 * isoheap convert: programs from bytes to text and back.
 */
#define _GNU_SOURCE
#include "cli/cli.h"

#include "cli/plugin.h"

#include "program/bytes/bytes.h"
#include "program/text/text.h"

#include <argp.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

struct convert {
    enum { OTHER, BYTES, TEXT } to;
    unsigned version; /* of the byte form that bytes are read as */
    const char *out, *dir;
    char **files;
    int n_files;
    char **written; /* names under dir: no output takes the place of another */
    size_t n_written;
    int status;
};

static const struct argp_option options[] = {
    {"to", 't', "bytes|text", 0, "the form to write; without it, the other one", 0},
    {"from", 'f', "bytes-N", 0,
     "read bytes as an isoheap wrote them whose byte form had version N; with --to=bytes, its "
     "corpus "
     "becomes one of today, whose version `isoheap list` names",
     0},
    {"output", 'o', "FILE", 0, "where to write (one input); - is standard output, the default", 0},
    {"directory", 'd', "DIR", 0, "write DIR/NAME.txt, or DIR/NAME for bytes, for every input", 0},
    {0}};

static const char versions[] = "bytes-"; /* and a number */

static error_t parse(int key, char *argument, struct argp_state *state) {
    struct convert *c = state->input;
    switch (key) {
    case 't':
        if (strcmp(argument, "bytes") != 0 && strcmp(argument, "text") != 0)
            argp_error(state, "--to takes bytes or text, not %s", argument);
        c->to = argument[0] == 'b' ? BYTES : TEXT;
        return 0;
    case 'f':
        if (strncmp(argument, versions, sizeof versions - 1) != 0)
            argp_error(state, "--from takes bytes-1 to bytes-%d, not %s", PROGRAM_BYTES_VERSION,
                       argument);
        c->version = choose_number("--from=bytes-N", argument + sizeof versions - 1, 1,
                                   PROGRAM_BYTES_VERSION);
        return 0;
    case 'o':
        c->out = argument;
        return 0;
    case 'd':
        c->dir = argument;
        return 0;
    case ARGP_KEY_ARGS:
        c->files = state->argv + state->next;
        c->n_files = state->argc - state->next;
        return 0;
    case ARGP_KEY_NO_ARGS:
        argp_error(state, "no FILE; - is standard input");
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

/* DIR/NAME without the input's folder and .txt; malloc'ed. */
static char *name_in(const char *dir, const char *path, bool text) {
    const char *base = strrchr(path, '/');
    base = strcmp(path, "-") == 0 ? "stdin" : base ? base + 1 : path;
    size_t length = strlen(base), folder = strlen(dir);
    if (length > 4 && strcmp(base + length - 4, ".txt") == 0)
        length -= 4;
    char *name;
    return asprintf(&name, "%s%s%.*s%s", dir, folder && dir[folder - 1] == '/' ? "" : "/",
                    (int)length, base, text ? ".txt" : "") < 0
               ? NULL
               : name;
}

/* Notes an output under dir; false if there has been one of that name. */
static bool is_new(struct convert *c, const char *name) {
    for (size_t i = 0; i < c->n_written; i++)
        if (strcmp(c->written[i], name) == 0)
            return false;
    char **more = realloc(c->written, (c->n_written + 1) * sizeof *more);
    if (!more)
        return false;
    c->written = more;
    more[c->n_written] = strdup(name);
    c->n_written += more[c->n_written] != NULL;
    return true;
}

static void raise_status(struct convert *c, int status) {
    if (status > c->status)
        c->status = status;
}

static bool write_program(const struct program *p, bool text, const char *name) {
    size_t size = text ? program_print(p, NULL, 0) : program_encode(p, NULL, 0);
    char *data = malloc(size + 1);
    bool good = data != NULL;
    if (good && text)
        program_print(p, data, size + 1);
    else if (good)
        program_encode(p, (uint8_t *)data, size);
    good = good && write_file(name, data, size);
    free(data);
    return good;
}

static void convert_file(const char *path, void *context) {
    static struct program program;
    struct convert *c = context;
    bool was_text;
    if (!read_program_version(path, &program, &was_text, c->version)) {
        raise_status(c, EXIT_UNREADABLE);
        return;
    }
    bool text = c->to == TEXT || (c->to == OTHER && !was_text);
    if (!text && program_is_large(&program)) {
        fprintf(stderr, "isoheap: %s: " NO_BYTES "\n", path);
        raise_status(c, EXIT_UNREADABLE);
        return;
    }
    char *name = c->dir ? name_in(c->dir, path, text) : strdup(c->out ? c->out : "-");
    if (!name) {
        raise_status(c, EXIT_HARNESS);
        return;
    }
    if (c->dir && !is_new(c, name)) {
        fprintf(stderr, "isoheap: %s: another input has become %s already\n", path, name);
        raise_status(c, EXIT_USAGE);
    } else if (!write_program(&program, text, name)) {
        raise_status(c, EXIT_USAGE);
    }
    free(name);
}

/* Without a folder to write to there is one input, and it is a file. */
static bool usable(const struct convert *c) {
    struct stat info;
    if (c->dir && c->out)
        fprintf(stderr, "isoheap: --output and --directory exclude each other\n");
    else if (!c->dir && c->n_files > 1)
        fprintf(stderr, "isoheap: several inputs need --directory\n");
    else if (!c->dir && stat(c->files[0], &info) == 0 && S_ISDIR(info.st_mode))
        fprintf(stderr, "isoheap: %s: a folder needs --directory\n", c->files[0]);
    else if (c->dir && (stat(c->dir, &info) != 0 || !S_ISDIR(info.st_mode)))
        fprintf(stderr, "isoheap: --directory %s: no such folder\n", c->dir);
    else
        return true;
    return false;
}

static const char about[] =
    "Convert programs between bytes, which engines mutate, and text, which people read.  A FILE "
    "may be a folder.  Comments are lost."
    "\v"
    "Exit status: 0 converted, 2 usage or an output that cannot be written, 3 unreadable input.";

int command_convert(int argc, char **argv) {
    static const struct argp argp = {options, parse, "FILE...", about, bytes_option, NULL, NULL};
    struct convert c = {.status = EXIT_OK, .version = PROGRAM_BYTES_VERSION};
    argp_err_exit_status = EXIT_USAGE;
    if (argp_parse(&argp, argc, argv, 0, NULL, &c) || !usable(&c))
        return EXIT_USAGE;
    for (int i = 0; i < c.n_files; i++)
        if (!for_each_file(c.files[i], convert_file, &c))
            raise_status(&c, EXIT_UNREADABLE);
    for (size_t i = 0; i < c.n_written; i++)
        free(c.written[i]);
    free(c.written);
    return c.status;
}
