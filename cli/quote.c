/* SPDX-License-Identifier: MIT
 *
 * Words for a shell (cli.h).
 */
#define _POSIX_C_SOURCE 200809L
#include "cli/cli.h"

#include <stdlib.h>
#include <string.h>

enum { RING = 8 };

static const char plain[] =
    "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_./,:=+@%-";

static bool has_control(const char *word) {
    for (; *word; word++)
        if ((unsigned char)*word < ' ' || *word == 0x7f)
            return true;
    return false;
}

/* Between single quotes all but these means itself; between $' and ' also what has no sign. */
static void put_quoted(FILE *out, const char *word) {
    bool control = has_control(word);
    fputs(control ? "$'" : "'", out);
    for (; *word; word++)
        if ((unsigned char)*word < ' ' || *word == 0x7f)
            fprintf(out, "\\%03o", (unsigned char)*word);
        else if (control && (*word == '\'' || *word == '\\'))
            fprintf(out, "\\%c", *word);
        else if (*word == '\'')
            fputs("'\\''", out);
        else
            putc(*word, out);
    putc('\'', out);
}

const char *quoted(const char *word) {
    static char *ring[RING];
    static unsigned next;
    char **text = &ring[next++ % RING];
    size_t size;
    free(*text);
    *text = NULL;
    FILE *out = open_memstream(text, &size);
    if (!out)
        return "''";
    if (word[0] && !word[strspn(word, plain)])
        fputs(word, out);
    else
        put_quoted(out, word);
    fclose(out);
    return *text ? *text : "''";
}

const char *quoted_path(const char *path) {
    static char *safe;
    if (path[0] != '-' || !path[1])
        return quoted(path);
    free(safe);
    safe = malloc(strlen(path) + 3);
    if (!safe)
        return "''";
    sprintf(safe, "./%s", path);
    return quoted(safe);
}
