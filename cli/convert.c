/* SPDX-License-Identifier: MIT
 *
 * isoheap convert: programs from bytes to text and back.
 */
#define _GNU_SOURCE
#include "cli/cli.h"

#include "program/bytes.h"
#include "program/text.h"

#include <argp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct convert {
    enum { OTHER, BYTES, TEXT } to;
    const char *out, *dir;
    char **files;
    int n_files;
    int status;
};

static const struct argp_option options[] = {
    {"to", 't', "bytes|text", 0, "the form to write; without it, the other one", 0},
    {"output", 'o', "FILE", 0, "where to write (one input); - is standard output, the default", 0},
    {"directory", 'd', "DIR", 0, "write DIR/NAME.txt, or DIR/NAME for bytes, for every input", 0},
    {0}};

static error_t parse(int key, char *argument, struct argp_state *state) {
    struct convert *c = state->input;
    switch (key) {
    case 't':
        if (strcmp(argument, "bytes") != 0 && strcmp(argument, "text") != 0)
            argp_error(state, "--to takes bytes or text, not %s", argument);
        c->to = argument[0] == 'b' ? BYTES : TEXT;
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
    base = base ? base + 1 : path;
    size_t length = strlen(base);
    if (length > 4 && strcmp(base + length - 4, ".txt") == 0)
        length -= 4;
    char *name;
    return asprintf(&name, "%s/%.*s%s", dir, (int)length, base, text ? ".txt" : "") < 0 ? NULL
                                                                                        : name;
}

static void convert_file(const char *path, void *context) {
    static struct program program;
    struct convert *c = context;
    bool was_text;
    if (!read_program(path, &program, &was_text)) {
        c->status = EXIT_UNREADABLE;
        return;
    }
    bool text = c->to == TEXT || (c->to == OTHER && !was_text);
    size_t room = text ? program_print(&program, NULL, 0) + 1 : program_encode(&program, NULL, 0);
    char *data = malloc(room + 1);
    char *name = c->dir ? name_in(c->dir, path, text) : strdup(c->out ? c->out : "-");
    size_t size = 0;
    if (data)
        size = text ? program_print(&program, data, room)
                    : program_encode(&program, (uint8_t *)data, room);
    if (!data || !name || !write_file(name, data, size))
        c->status = c->status ? c->status : EXIT_HARNESS;
    free(name);
    free(data);
}

int command_convert(int argc, char **argv) {
    static const struct argp argp = {
        options,
        parse,
        "FILE...",
        "Convert programs between bytes, which engines mutate, and text, which people read.",
        NULL,
        NULL,
        NULL};
    struct convert c = {.status = EXIT_OK};
    argp_err_exit_status = EXIT_USAGE;
    if (argp_parse(&argp, argc, argv, 0, NULL, &c))
        return EXIT_USAGE;
    if (c.n_files > 1 && !c.dir) {
        fprintf(stderr, "isoheap: several inputs need --directory\n");
        return EXIT_USAGE;
    }
    for (int i = 0; i < c.n_files; i++)
        for_each_file(c.files[i], convert_file, &c);
    return c.status;
}
