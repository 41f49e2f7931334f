/* SPDX-License-Identifier: MIT
 *
 * The texts of a collector (mutants.h): as much of C's tokens as is needed to find an operator
 * between its operands and the semicolon behind a statement.
 */
#define _GNU_SOURCE
#include "cli/mutants/mutants.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

unsigned line_of(const struct text_file *f, size_t offset) {
    unsigned line = 1;
    for (size_t i = 0; i < offset && i < f->size; i++)
        line += f->text[i] == '\n';
    return line;
}

/* The end of a comment that begins there, or the place itself. */
static size_t comment_end(const char *text, size_t i, size_t end) {
    if (i + 1 >= end || text[i] != '/' || (text[i + 1] != '*' && text[i + 1] != '/'))
        return i;
    bool line = text[i + 1] == '/';
    for (i += 2; i < end; i++) {
        if (line && text[i] == '\n')
            return i;
        if (!line && i + 1 < end && text[i] == '*' && text[i + 1] == '/')
            return i + 2;
    }
    return end;
}

static size_t blank_end(const char *text, size_t i, size_t end) {
    for (size_t before = SIZE_MAX; i != before && i < end;) {
        before = i;
        while (i < end && (isspace((unsigned char)text[i]) ||
                           (text[i] == '\\' && i + 1 < end && text[i + 1] == '\n')))
            i++;
        i = comment_end(text, i, end);
    }
    return i;
}

size_t skip_blank(const struct text_file *f, size_t offset, size_t end) {
    return blank_end(f->text, offset, end);
}

/* A string or character behind its first quote. */
static size_t literal_end(const char *text, size_t i, size_t end) {
    char quote = text[i++];
    while (i < end && text[i] != quote)
        i += text[i] == '\\' && i + 1 < end ? 2 : 1;
    return i < end ? i + 1 : end;
}

size_t invocation_end(const struct text_file *f, size_t i) {
    const char *text = f->text;
    while (i < f->size && (isalnum((unsigned char)text[i]) || text[i] == '_'))
        i++;
    size_t open = skip_blank(f, i, f->size), depth = 0;
    if (open >= f->size || text[open] != '(')
        return i;
    for (size_t at = open; at < f->size;) {
        if (text[at] == '"' || text[at] == '\'') {
            at = literal_end(text, at, f->size);
            continue;
        }
        size_t behind = comment_end(text, at, f->size);
        if (behind != at) {
            at = behind;
            continue;
        }
        depth += text[at] == '(';
        depth -= text[at] == ')';
        at++;
        if (depth == 0)
            return at;
    }
    return i;
}

char *flat_text(const char *text, size_t from, size_t to, size_t most) {
    char *out = NULL;
    size_t size, n = 0;
    FILE *f = open_memstream(&out, &size);
    bool blank = false;
    for (size_t i = from; f && i < to;) {
        size_t next = blank_end(text, i, to);
        blank |= next != i;
        if ((i = next) >= to)
            break;
        if (n >= most) {
            fputs(" ...", f);
            break;
        }
        if (blank && n)
            n += fputc(' ', f) != EOF;
        blank = false;
        next = text[i] == '"' || text[i] == '\'' ? literal_end(text, i, to) : i + 1;
        n += fwrite(text + i, 1, next - i, f);
        i = next;
    }
    return f && fclose(f) == 0 ? out : NULL;
}
