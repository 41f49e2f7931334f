/* SPDX-License-Identifier: MIT
 *
 * A corpus changes as a whole or not at all (corpus_change.h).
 *
 * The new corpus is built in a folder beside the old one; then the two change places, which is one
 * step for the file system, and the old one goes.  Whatever kills the command, there is a corpus.
 */
#define _GNU_SOURCE
#include "cli/campaign/corpus_change.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
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

static void complain_of(const char *path) {
    fprintf(stderr, "isoheap: %s: %s\n", path, strerror(errno));
}

/* Engines name files in their own ways; named by content none is there twice.  What cannot be read
 * keeps its name. */
static void link_file(const char *path, const char *old_name, void *context) {
    const char **change = context;
    char name[17];
    size_t size;
    char *data = *change ? load_file(path, &size) : NULL;
    if (!*change)
        return;
    if (data)
        name_content(data, size, name);
    char *to = text_of("%s/%s", *change, data ? name : old_name);
    if (link(path, to) != 0 && errno != EEXIST) {
        complain_of(to);
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
        complain_of(change);
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

/* What is no input, a .gitignore say, stays. */
static bool keep_hidden(const char *corpus, const char *change) {
    struct dirent *entry;
    bool good = true;
    DIR *d = opendir(corpus);
    while (d && good && (entry = readdir(d))) {
        if (entry->d_name[0] != '.' || strcmp(entry->d_name, ".") == 0 ||
            strcmp(entry->d_name, "..") == 0 || entry->d_type == DT_DIR)
            continue;
        char *from = text_of("%s/%s", corpus, entry->d_name);
        char *to = text_of("%s/%s", change, entry->d_name);
        good = link(from, to) == 0 || errno == EEXIST;
        free(from);
        free(to);
    }
    if (d)
        closedir(d);
    return good;
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
    bool good = keep_hidden(corpus, change) && sync_files(change) &&
                renameat2(AT_FDCWD, change, AT_FDCWD, corpus, RENAME_EXCHANGE) == 0;
    if (!good)
        complain_of(corpus);
    drop_change(change); /* it is the old corpus now */
    free(corpus);
    return good;
}

/* ---- is what was built good? ------------------------------------------------------------------
 */

struct check {
    const char *bad; /* the first file whose content is not what its name says, malloc'ed */
};

static void check_file(const char *path, const char *name, void *context) {
    struct check *check = context;
    char ours[17] = "", theirs[41] = "";
    size_t size;
    char *data = check->bad ? NULL : load_file(path, &size);
    if (check->bad)
        return;
    if (data) {
        name_content(data, size, ours);
        name_by_sha1(data, size, theirs);
    }
    if (strcmp(name, ours) != 0 && strcmp(name, theirs) != 0)
        check->bad = text_of("%s", path);
    free(data);
}

bool change_is_whole(const char *change) {
    struct check check = {NULL};
    visit_folder(change, check_file, &check);
    if (check.bad)
        fprintf(stderr,
                "isoheap: %s has not been written to its end (%" PRIu64 " bytes are left "
                "on that disk)\n",
                check.bad, (uint64_t)space_left(change));
    free((char *)(uintptr_t)check.bad);
    return !check.bad;
}

/* ---- libFuzzer's work -------------------------------------------------------------------------
 */

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

static void tell_trouble(const struct target *t, const char *what, const struct process *p) {
    unsigned first = p->lines > 5 ? p->lines - 5 : 0;
    fprintf(stderr, "isoheap: %s could not %s (status %d):\n", t->name, what, p->status);
    for (unsigned i = first; i < p->lines; i++)
        fprintf(stderr, "  %s\n", p->tail[i % TAIL_LINES]);
}

bool merge_into_new(const struct target *t, const char *const *sources, bool fewest) {
    static struct process p;
    struct words argv = {.n = 0}, settings = {.n = 0};
    libfuzzer_target(t, &argv);
    add_word(&argv, fewest ? "-set_cover_merge=1" : "-merge=1");
    add_word(&argv, "-artifact_prefix=found/");
    add_word(&argv, "new");
    for (; *sources; sources++)
        add_word(&argv, "%s", *sources);
    libfuzzer_settings(&settings);
    bool good = process_start(&p, t->work, argv.word, settings.word);
    while (good && process_poll(&p, show_merge, NULL))
        take_a_nap();
    end_merge();
    good = good && p.status == 0;
    if (!good)
        tell_trouble(t, "merge", &p);
    free_words(&argv);
    free_words(&settings);
    return good;
}

bool reach_of(struct target *t, const char *folder, struct reach *reach) {
    static struct process p;
    const char *const folders[] = {folder, NULL};
    *reach = (struct reach){.known = false};
    int before;
    do {
        before = t->campaign->pending;
        if (measure_begin(&p, t, folders, NULL))
            while (process_poll(&p, measure_line, reach))
                take_a_nap();
        take_all(t);
    } while (!reach->known && t->campaign->pending > before);
    if (!reach->known)
        tell_trouble(t, "read its inputs", &p);
    return reach->known;
}
