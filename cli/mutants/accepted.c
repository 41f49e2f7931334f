/* SPDX-License-Identifier: MIT
 *
 * Survivors that somebody has looked at (mutants.h).  An entry is a line that says what the mutant
 * is and which one, and indented lines with the reason:
 *
 *   equivalent mark.h mark_step condition `!more` -> `more`
 *       nobody asks while there is no more
 *
 * It names no line of the source, so that it stays with its mutant when others come and go.
 */
#define _GNU_SOURCE
#include "cli/mutants/mutants.h"

#include "cli/campaign/campaign.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

const char *accepted_name(enum accepted_kind kind) {
    static const char *const names[] = {"none",
#define X(name, meaning) #name,
                                        ACCEPTED_KINDS(X)
#undef X
    };
    return names[kind];
}

char *accept_key(const struct mutants *m, const struct mutant *k) {
    const char *file = m->files[k->file].name;
    if (k->ordinal == 1)
        return text_of("%s %s %s `%s` -> `%s`", file, k->function, operator_name(k->op), k->before,
                       k->after);
    return text_of("%s %s %s #%u `%s` -> `%s`", file, k->function, operator_name(k->op), k->ordinal,
                   k->before, k->after);
}

static enum accepted_kind kind_of_entry(const char *line, size_t length) {
    for (unsigned kind = 1; kind < ACCEPTED_COUNT; kind++)
        if (strlen(accepted_name((enum accepted_kind)kind)) == length &&
            strncmp(line, accepted_name((enum accepted_kind)kind), length) == 0)
            return (enum accepted_kind)kind;
    return ACCEPTED_none;
}

static bool refuse_line(const char *path, unsigned line, const char *why) {
    fprintf(stderr, "isoheap: %s:%u: %s\n", path, line, why);
    return false;
}

static bool begin_entry(struct accepted *a, const char *path, unsigned number, const char *line) {
    size_t length = strcspn(line, " ");
    enum accepted_kind kind = kind_of_entry(line, length);
    if (!kind || !line[length])
        return refuse_line(path, number,
                           "an entry begins with equivalent, waste, leak, lie or beyond, and what "
                           "the report says behind \"accept:\"; its reason is indented");
    struct accepted_entry *more = realloc(a->entry, (a->n + 1) * sizeof *more);
    if (!more)
        return refuse_line(path, number, "no memory");
    a->entry = more;
    a->entry[a->n++] = (struct accepted_entry){.kind = kind,
                                               .key = text_of("%s", line + length + 1),
                                               .reason = text_of("%s", ""),
                                               .line = number};
    return true;
}

static bool add_reason(struct accepted *a, const char *path, unsigned number, const char *line) {
    if (a->n == 0)
        return refuse_line(path, number, "a reason without an entry before it");
    struct accepted_entry *e = &a->entry[a->n - 1];
    char *both = text_of("%s%s%s", e->reason, e->reason[0] ? " " : "", line + strspn(line, " \t"));
    free(e->reason);
    e->reason = both;
    return true;
}

static bool has_reasons(const struct accepted *a, const char *path) {
    for (unsigned i = 0; i < a->n; i++)
        if (!a->entry[i].reason[0])
            return refuse_line(path, a->entry[i].line,
                               "no reason: write it below, in lines that begin with blanks");
    return true;
}

bool accepted_read(struct accepted *a, const char *path) {
    size_t size;
    bool good = true;
    *a = (struct accepted){.n = 0};
    char *text = load_file(path, &size), *rest = text;
    if (!text) {
        fprintf(stderr, "isoheap: %s: %s\n", path, strerror(errno));
        return false;
    }
    unsigned number = 0;
    for (char *line; good && (line = strsep(&rest, "\n"));) {
        number++;
        size_t length = strlen(line);
        while (length && strchr(" \t\r", line[length - 1]))
            line[--length] = '\0';
        if (length == 0 || line[0] == '#')
            continue;
        good = line[0] == ' ' || line[0] == '\t' ? add_reason(a, path, number, line)
                                                 : begin_entry(a, path, number, line);
    }
    free(text);
    return good && has_reasons(a, path);
}

void accepted_free(struct accepted *a) {
    for (unsigned i = 0; i < a->n; i++) {
        free(a->entry[i].key);
        free(a->entry[i].reason);
    }
    free(a->entry);
}

const struct accepted_entry *accepted_find(struct accepted *a, const struct mutants *m,
                                           const struct mutant *k) {
    char *key = accept_key(m, k);
    const struct accepted_entry *found = NULL;
    for (unsigned i = 0; i < a->n && !found; i++)
        if (strcmp(a->entry[i].key, key) == 0) {
            a->entry[i].used = true;
            found = &a->entry[i];
        }
    free(key);
    return found;
}
