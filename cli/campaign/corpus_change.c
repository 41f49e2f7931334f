/* SPDX-License-Identifier: MIT
 *
 * A corpus changes as a whole or not at all (corpus_change.h).
 *
 * The new corpus is built in a folder beside the old one; then the two change places, which is one
 * step for the file system, and the old one goes.  Whatever kills the command, there is a corpus.
 */
#define _GNU_SOURCE
#include "cli/campaign/corpus_change.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static void add_extent(const char *path, const char *name, void *context) {
    struct extent *e = context;
    struct stat info;
    (void)name;
    if (stat(path, &info) != 0)
        return;
    e->files++;
    e->bytes += (uint64_t)info.st_size;
}

struct extent extent_of(const char *folder) {
    struct extent e = {0, 0};
    visit_folder(folder, add_extent, &e);
    return e;
}

static void complain(const char *path) {
    fprintf(stderr, "isoheap: %s: %s\n", path, strerror(errno));
}

/* Engines name files in their own ways; named by content none is there twice. */
static void link_file(const char *path, const char *old_name, void *context) {
    const char **change = context;
    char name[17];
    size_t size;
    char *data = load_file(path, &size);
    (void)old_name;
    if (!data || !*change) {
        free(data);
        return;
    }
    name_content(data, size, name);
    char *to = text_of("%s/%s", *change, name);
    if (link(path, to) != 0 && errno != EEXIST) {
        complain(to);
        *change = NULL;
    }
    free(to);
    free(data);
}

char *begin_change(const char *folder, const char *target, bool keep) {
    char *change = text_of("%s/.work/%s/new", folder, target);
    char *corpus = text_of("%s/%s", folder, target);
    const char *into = change;
    remove_folder(change);
    if (!make_folder(change) || !make_folder(corpus)) {
        complain(change);
        into = NULL;
    }
    if (into && keep)
        visit_folder(corpus, link_file, &into);
    free(corpus);
    if (into)
        return change;
    drop_change(change);
    return NULL;
}

void drop_change(char *change) {
    remove_folder(change);
    free(change);
}

static bool sync_files(const char *folder) {
    int fd = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    bool good = fd >= 0 && syncfs(fd) == 0;
    if (fd >= 0)
        close(fd);
    return good;
}

bool commit_change(const char *folder, const char *target, char *change) {
    char *corpus = text_of("%s/%s", folder, target);
    bool good =
        sync_files(change) && renameat2(AT_FDCWD, change, AT_FDCWD, corpus, RENAME_EXCHANGE) == 0;
    if (!good)
        complain(corpus);
    drop_change(change); /* it is the old corpus now */
    free(corpus);
    return good;
}

/* ---- libFuzzer's merge ------------------------------------------------------------------------
 */

static void add_option(const char *key, const char *value, void *context) {
    add_word(context, "-%s=%s", key, value);
}

/* On a terminal the number of inputs read so far, from "#1024\tpulse ...". */
static void show_merge(const char *text, void *context) {
    unsigned read;
    (void)context;
    if (isatty(STDOUT_FILENO) && sscanf(text, "#%u", &read) == 1) {
        printf("\r\033[Kmerging: %u inputs", read);
        fflush(stdout);
    }
}

static void end_merge(void) {
    if (isatty(STDOUT_FILENO))
        printf("\r\033[K");
}

static void tell_trouble(const struct target *t, const struct process *p) {
    unsigned first = p->lines > 5 ? p->lines - 5 : 0;
    fprintf(stderr, "isoheap: %s could not merge (status %d):\n", t->name, p->status);
    for (unsigned i = first; i < p->lines; i++)
        fprintf(stderr, "  %s\n", p->tail[i % TAIL_LINES]);
}

bool merge_into(const char *change, const struct target *t, char *const *sources, unsigned n,
                bool fewest) {
    static struct process p;
    struct words argv = {.n = 0}, settings = {.n = 0};
    add_word(&argv, "%s", t->binary);
    for_each_option(t, add_option, &argv);
    add_word(&argv, fewest ? "-set_cover_merge=1" : "-merge=1");
    add_word(&argv, "-artifact_prefix=%s/found/", t->work);
    add_word(&argv, "%s", change);
    for (unsigned i = 0; i < n; i++)
        add_word(&argv, "%s", sources[i]);
    add_word(&settings, "ASAN_OPTIONS=detect_leaks=0:print_legend=0:symbolize=0");
    add_word(&settings, "TMPDIR=%s/engine", t->work);
    bool good = process_start(&p, argv.word, settings.word);
    while (good && process_poll(&p, show_merge, NULL))
        take_a_nap();
    end_merge();
    good = good && p.status == 0;
    if (!good)
        tell_trouble(t, &p);
    free_words(&argv);
    free_words(&settings);
    return good;
}
