/* SPDX-License-Identifier: MIT
 *
 * The seeded faults that there are (faults.h): what the heads of the patches say.
 *
 * A head is a run of `Key: value` lines before the first line of the diff; a line that starts with
 * a space goes on with the value before it.
 */
#define _GNU_SOURCE
#include "cli/campaign/campaign.h"
#include "cli/faults/faults.h"

#include <errno.h>
#include <glob.h>
#include <stdlib.h>
#include <string.h>

/* ---- a head -----------------------------------------------------------------------------------
 */

static char **place_of(struct fault *f, const char *key) {
    const struct {
        const char *key;
        char **place;
    } places[] = {{"Wrong", &f->wrong},
                  {"Model", &f->model},
                  {"Family", &f->family},
                  {"Class", &f->violation},
                  {"Needs", &f->needs}};
    for (size_t i = 0; i < sizeof places / sizeof *places; i++)
        if (strcmp(places[i].key, key) == 0)
            return places[i].place;
    return NULL;
}

static void extend(char **value, const char *text) {
    char *longer = *value ? text_of("%s %s", *value, text) : text_of("%s", text);
    free(*value);
    *value = longer;
}

static bool bad_head(const struct fault *f, const char *what, const char *which) {
    fprintf(stderr, "isoheap: %s: %s%s\n", f->patch, what, which);
    return false;
}

static bool read_head(struct fault *f, char *text) {
    char **value = NULL, *rest = text;
    for (char *line; (line = strsep(&rest, "\n")) && strncmp(line, "--- ", 4) != 0;) {
        if (*line == ' ' && value) {
            extend(value, line + strspn(line, " "));
            continue;
        }
        char *colon = strchr(line, ':');
        if (!*line || !colon)
            continue;
        *colon++ = 0;
        colon += strspn(colon, " ");
        value = place_of(f, line);
        if (value)
            extend(value, colon);
        else if (strcmp(line, "Hard") == 0)
            f->hard = strcmp(colon, "yes") == 0;
        else
            return bad_head(f, "the head has an unknown key: ", line);
    }
    return true;
}

static bool head_is_complete(const struct fault *f) {
    if (!f->wrong || !f->model || !f->family || !f->violation || !f->needs)
        return bad_head(f, "the head needs Wrong, Model, Family, Class and Needs", "");
    if (violation_named(f->violation) == VIOLATION_classes ||
        violation_named(f->violation) == VIOLATION_none)
        return bad_head(f, "no violation class is called ", f->violation);
    return true;
}

/* ---- all of them ------------------------------------------------------------------------------
 */

static bool name_is_plain(const char *name) {
    static const char letters[] =
        "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_/";
    return strspn(name, letters) == strlen(name);
}

static bool read_fault(const struct catalogue *c, const char *path, struct fault *f) {
    size_t size, from = strlen(c->folder) + 1, length = strlen(path) - from - strlen(".patch");
    char *text = load_file(path, &size);
    memset(f, 0, sizeof *f);
    f->patch = text_of("%s", path);
    f->name = text_of("%.*s", (int)length, path + from);
    f->collector = text_of("%.*s", (int)strcspn(f->name, "/"), f->name);
    f->trigger = text_of("%s/%s.txt", c->folder, f->name);
    f->object = text_of("%s/faults/%s.so", c->build, f->name);
    if (!text)
        return bad_head(f, strerror(errno), "");
    if (!name_is_plain(f->name)) { /* it is a field of a line, and a target of the build */
        free(text);
        return bad_head(f, "COLLECTOR/NAME must be made of letters, digits and _", "");
    }
    bool good = read_head(f, text) && head_is_complete(f);
    free(text);
    return good;
}

static void free_fault(struct fault *f) {
    char *parts[] = {f->name,  f->collector, f->patch,  f->trigger,   f->object,
                     f->wrong, f->model,     f->family, f->violation, f->needs};
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
        free(parts[i]);
}

static bool means(const char *wanted, const struct fault *f) {
    return strcmp(wanted, f->name) == 0 || strcmp(wanted, f->collector) == 0 ||
           strcmp(wanted, f->family) == 0 || strcmp(wanted, f->violation) == 0;
}

/* Drops what nobody asked for; false if a word means nothing. */
static bool narrow(struct catalogue *c, char **names, int n_names) {
    for (int w = 0; w < n_names; w++) {
        unsigned i = 0;
        while (i < c->n && !means(names[w], &c->faults[i]))
            i++;
        if (i == c->n) {
            fprintf(stderr,
                    "isoheap: no fault, collector, family or class in %s is called %s; see "
                    "`isoheap faults list`\n",
                    c->folder, names[w]);
            return false;
        }
    }
    unsigned kept = 0;
    for (unsigned i = 0; i < c->n; i++) {
        bool wanted = n_names == 0;
        for (int w = 0; w < n_names; w++)
            wanted |= means(names[w], &c->faults[i]);
        if (wanted)
            c->faults[kept++] = c->faults[i];
        else
            free_fault(&c->faults[i]);
    }
    c->n = kept;
    return true;
}

/* A path as a pattern that means it alone; malloc'ed. */
static char *literal(const char *path) {
    char *pattern = malloc(2 * strlen(path) + 1), *to = pattern;
    while (pattern && *path) {
        if (strchr("*?[\\", *path))
            *to++ = '\\';
        *to++ = *path++;
    }
    if (pattern)
        *to = 0;
    return pattern ? pattern : text_of("%s", path);
}

bool catalogue_read(struct catalogue *c, char **names, int n_names) {
    glob_t found;
    bool good = true;
    char *folder = literal(c->folder), *pattern = text_of("%s/*/*.patch", folder);
    free(folder);
    c->n = 0;
    c->faults = calloc(FAULTS_MAX, sizeof *c->faults);
    if (!c->faults || glob(pattern, 0, NULL, &found) != 0) {
        fprintf(stderr, "isoheap: no %s: run it at the top of a checkout, or say --faults=DIR\n",
                pattern);
        free(pattern);
        return false;
    }
    free(pattern);
    for (size_t i = 0; good && i < found.gl_pathc && c->n < FAULTS_MAX; i++)
        good = read_fault(c, found.gl_pathv[i], &c->faults[c->n++]);
    globfree(&found);
    return good && narrow(c, names, n_names);
}

void catalogue_free(struct catalogue *c) {
    for (unsigned i = 0; c->faults && i < c->n; i++)
        free_fault(&c->faults[i]);
    free(c->faults);
}
