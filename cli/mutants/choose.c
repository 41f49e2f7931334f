/* SPDX-License-Identifier: MIT
 *
 * Which mutants a run is for (mutants.h): those that somebody wants to look at again.  The programs
 * and what is known of the others are the same as without a choice.
 */
#define _GNU_SOURCE
#include "cli/campaign/campaign.h"
#include "cli/mutants/mutants.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* Does a line of the text end in the name, as those of reports and of accepted survivors do? */
static bool has_line(const char *text, const char *name) {
    size_t length = strlen(name);
    for (const char *at = text; (at = strstr(at, name)); at++)
        if ((at == text || strchr(" \t\n", at[-1])) &&
            strspn(at + length, " \t\r") == strcspn(at + length, "\n"))
            return true;
    return false;
}

/* The files that are named, in the place of their names.  False after a message. */
static bool load_texts(const struct choice_of_mutants *c, char **texts) {
    for (unsigned i = 0; i < c->n_texts; i++) {
        size_t size;
        const char *path = c->texts[i] + 1;
        if (c->texts[i][0] != '@')
            continue;
        texts[i] = load_file(path, &size);
        if (!texts[i]) {
            fprintf(stderr, "isoheap: %s: %s\n", path, strerror(errno));
            return false;
        }
    }
    return true;
}

static bool is_named(const struct choice_of_mutants *c, char *const *texts, const char *name) {
    for (unsigned i = 0; i < c->n_texts; i++)
        if (texts[i] ? has_line(texts[i], name) : strstr(name, c->texts[i]) != NULL)
            return true;
    return c->n_texts == 0;
}

static unsigned set_aside(struct mutants *m, const struct choice_of_mutants *c, char *const *texts,
                          struct accepted *accepted) {
    unsigned chosen = 0;
    for (unsigned k = 0; k < m->n; k++) {
        char *name = accept_key(m, &m->all[k]);
        m->all[k].aside = !is_named(c, texts, name) ||
                          (c->left && accepted_find(accepted, m, &m->all[k]) != NULL);
        chosen += is_chosen(&m->all[k]);
        free(name);
    }
    return chosen;
}

bool choose_mutants(struct mutants *m, const struct choice_of_mutants *c,
                    struct accepted *accepted) {
    char *texts[MUTANT_SOURCES] = {NULL};
    bool good = load_texts(c, texts);
    if (good && set_aside(m, c, texts, accepted) == 0 && is_choice(c)) {
        fprintf(stderr, "isoheap: no mutant of %u is chosen by --only and --left\n", m->n);
        good = false;
    }
    for (unsigned i = 0; i < c->n_texts; i++)
        free(texts[i]);
    return good;
}
