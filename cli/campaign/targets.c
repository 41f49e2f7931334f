/* SPDX-License-Identifier: MIT
 *
 * The targets of a campaign: which binaries there are, and what is known of each (campaign.h).
 */
#define _GNU_SOURCE
#include "cli/campaign/campaign.h"

#include "cli/plugin.h"
#include "fuzz/targets.def"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* A binary fuzz_NAME; its companions have a dot in their names. */
static bool is_target(const char *path, const char *name) {
    const char *end = strrchr(name, '_');
    return strncmp(name, "fuzz_", 5) == 0 && !strchr(name, '.') && is_plain(name) &&
           strcmp(end, "_standalone") != 0 && access(path, X_OK) == 0;
}

char *plugin_target(void) {
    const char *plugin = last_plugin(), *slash = strrchr(plugin, '/');
    const char *base = slash ? slash + 1 : plugin;
    return text_of("fuzz_%.*s", (int)(ends_in(base, ".so") ? strlen(base) - 3 : strlen(base)),
                   base);
}

void choose_folder(struct campaign *c) {
    const char *plugin = last_plugin(), *slash = plugin ? strrchr(plugin, '/') : NULL;
    if (!c->bin_dir)
        c->bin_dir = slash ? text_of("%.*s", (int)(slash - plugin), plugin) : c->engine->folder;
}

/* fuzz_NAME fuzzes the collector NAME against cheney; fuzz_reference fuzzes that one, and
 * fuzz_fault the seeded fault that its environment names. */
static void find_collectors(struct target *t) {
    const char *name = t->name + strlen("fuzz_"), *fault = getenv("ISOHEAP_FAULT");
    bool reference = strcmp(name, "reference") == 0;
    if (fault && strcmp(name, "fault") == 0)
        name = fault;
    char *of_plugin = last_plugin() ? plugin_target() : NULL;
    if (of_plugin && strcmp(of_plugin, t->name) == 0)
        name = default_collector();
    free(of_plugin);
    if (!reference && !find_collector(name))
        return;
    t->subject = text_of("%s", reference ? DEFAULT_REFERENCE : name);
    t->reference = reference ? NULL : text_of(DEFAULT_REFERENCE);
}

/* calloc; ends the process if there is no memory. */
static void *allot(size_t n, size_t size) {
    void *p = calloc(n, size);
    if (!p) {
        fprintf(stderr, "isoheap: no memory\n");
        exit(EXIT_HARNESS);
    }
    return p;
}

static void add_target(struct campaign *c, const char *path, const char *name) {
    struct target *t = &c->targets[c->n_targets];
    if (c->n_targets == TARGETS_MAX)
        return;
    c->n_targets++;
    t->campaign = c;
    t->engines = allot(c->jobs ? c->jobs : 1, sizeof *t->engines);
    t->name = text_of("%s", name);
    t->binary = realpath(path, NULL);
    t->corpus = text_of("%s/%s", c->corpus, name);
    t->work = text_of("%s/.work/%s", c->corpus, name);
    t->seeds = text_of("%s/../seeds/%s", c->bin_dir, name);
    find_collectors(t);
}

/* The place of a target in the order of registration, in which the main ones come first; then come
 * all others. */
static unsigned place_of(const char *name) {
#define X(target, meaning) #target,
    static const char *const names[] = {FUZZ_TARGETS(X)};
#undef X
    unsigned i = 0, n = sizeof names / sizeof *names;
    while (i < n && strcmp(names[i], name) != 0)
        i++;
    return i;
}

static int by_place(const void *a, const void *b) {
    const struct target *one = a, *other = b;
    unsigned place = place_of(one->name), another = place_of(other->name);
    return place != another ? (place > another) - (place < another)
                            : strcmp(one->name, other->name);
}

static void visit(const char *path, const char *name, void *context) {
    if (is_target(path, name))
        add_target(context, path, name);
}

static bool is_listed(const struct campaign *c, const char *name) {
    for (unsigned i = 0; i < c->n_targets; i++)
        if (strcmp(c->targets[i].name, name) == 0)
            return true;
    return false;
}

static void no_target(const struct campaign *c, const char *name) {
    bool is_afl = c->engine == &afl;
    if (name)
        fprintf(stderr, "isoheap: there is no binary %s in %s", name, c->bin_dir);
    else
        fprintf(stderr, "isoheap: there is no binary of a fuzz target in %s", c->bin_dir);
    fprintf(stderr,
            "; build it (cmake --preset %s && cmake --build --preset %s%s), or name its "
            "folder with --bin-dir\n",
            is_afl ? "afl" : "fuzz", is_afl ? "afl" : "fuzz", is_afl ? "" : "; or: make");
}

bool find_targets(struct campaign *c) {
    bool good = true;
    c->targets = allot(TARGETS_MAX, sizeof *c->targets);
    if (!c->n_names) {
        visit_folder(c->bin_dir, visit, c);
        qsort(c->targets, c->n_targets, sizeof *c->targets, by_place);
        good = c->n_targets > 0;
        if (!good)
            no_target(c, NULL);
    }
    for (int i = 0; i < c->n_names; i++) {
        char *path = text_of("%s/%s", c->bin_dir, c->names[i]);
        if (!is_target(path, c->names[i])) {
            no_target(c, c->names[i]);
            good = false;
        } else if (!is_listed(c, c->names[i])) {
            add_target(c, path, c->names[i]);
        }
        free(path);
    }
    return good;
}

/* Two campaigns would take each other's queue for left-overs. */
bool lock_work(const struct campaign *c) {
    char *folder = text_of("%s/.work", c->corpus);
    bool good = lock_folder(folder, c->corpus, "a --corpus");
    free(folder);
    return good;
}

/* Of the checkout that the campaign runs in. */
char *find_commit(void) {
    char *argv[] = {"git", "rev-parse", "HEAD", NULL}, *said;
    int status = run_command_for(NULL, argv, NULL, 10, &said);
    size_t length = status == 0 && said ? strcspn(said, "\n") : 0;
    char *commit = length >= 40 ? text_of("%.*s", (int)length, said) : NULL;
    free(said);
    return commit;
}

void forget_targets(struct campaign *c) {
    for (unsigned i = 0; i < c->n_targets; i++) {
        struct target *t = &c->targets[i];
        char *owned[] = {t->name,   t->binary, t->subject, t->reference,
                         t->corpus, t->seeds,  t->work};
        for (unsigned k = 0; k < sizeof owned / sizeof *owned; k++)
            free(owned[k]);
        free(t->engines);
    }
    free(c->targets);
    free(c->commit);
}
