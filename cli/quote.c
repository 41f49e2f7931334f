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

static bool has_control(const char *text) {
    for (; *text; text++)
        if ((unsigned char)*text < ' ' || *text == 0x7f)
            return true;
    return false;
}

/* Between single quotes all but these means itself; between $' and ' also what has no sign. */
static void put_quoted(FILE *out, const char *text) {
    bool control = has_control(text);
    fputs(control ? "$'" : "'", out);
    for (; *text; text++)
        if ((unsigned char)*text < ' ' || *text == 0x7f)
            fprintf(out, "\\%03o", (unsigned char)*text);
        else if (control && (*text == '\'' || *text == '\\'))
            fprintf(out, "\\%c", *text);
        else if (*text == '\'')
            fputs("'\\''", out);
        else
            putc(*text, out);
    putc('\'', out);
}

const char *quoted(const char *text) {
    static char *ring[RING];
    static unsigned next;
    char **place = &ring[next++ % RING];
    size_t size;
    free(*place);
    *place = NULL;
    FILE *out = open_memstream(place, &size);
    if (!out)
        return "''";
    if (text[0] && !text[strspn(text, plain)])
        fputs(text, out);
    else
        put_quoted(out, text);
    fclose(out);
    return *place ? *place : "''";
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
