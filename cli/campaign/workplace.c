/* SPDX-License-Identifier: MIT
 *
 * Where an engine works (campaign.h).
 *
 * libFuzzer hands its words to a shell, unquoted, and AFL++ has opinions about paths.  So an engine
 * runs in the target's work folder and sees names of ours alone: the binary, its companions and all
 * folders that it is to read are there, as copies or as links, and no word on its command line has
 * a path of the user's in it.
 */
#define _GNU_SOURCE
#include "cli/campaign/campaign.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

bool is_plain(const char *text) {
    return text[0] && text[strspn(text, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
                                        "0123456789_.,+-")] == '\0';
}

static bool complain(const char *path) {
    fprintf(stderr, "isoheap: %s: %s\n", path, strerror(errno));
    return false;
}

bool link_here(const struct target *t, const char *name, const char *to) {
    char *link = text_of("%s/%s", t->work, name), *full = realpath(to, NULL);
    bool good = full && (unlink(link) == 0 || errno == ENOENT) && symlink(full, link) == 0;
    if (!good)
        complain(full ? link : to);
    free(full);
    free(link);
    return good;
}

/* ---- copies -----------------------------------------------------------------------------------
 */

static bool copy_content(int from, int to) {
    char block[1 << 16];
    ssize_t n;
    while ((n = read(from, block, sizeof block)) > 0)
        for (ssize_t done = 0, m; done < n; done += m)
            if ((m = write(to, block + done, (size_t)(n - done))) <= 0)
                return false;
    return n == 0;
}

/* By way of a file beside it: an older copy may be running. */
static bool copy_file(const char *from, const char *to, mode_t mode) {
    char *beside = text_of("%s.new", to);
    unlink(beside);
    int in = open(from, O_RDONLY | O_CLOEXEC);
    int out = in < 0 ? -1 : open(beside, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, mode);
    bool good = out >= 0 && copy_content(in, out);
    if (in >= 0)
        close(in);
    if (out >= 0)
        good = close(out) == 0 && good;
    good = good && rename(beside, to) == 0;
    if (!good)
        unlink(beside);
    free(beside);
    return good;
}

/* A build may replace or remove the binary while the campaign runs.  Where there is no room for a
 * copy, or where no file may be run, the binary itself has to do. */
static bool place_binary(const struct target *t, bool copy) {
    char *to = text_of("%s/target", t->work);
    bool good = copy && copy_file(t->binary, to, 0755) && access(to, X_OK) == 0;
    free(to);
    return good || link_here(t, "target", t->binary);
}

static bool place_companion(const struct target *t, const char *end) {
    char *from = text_of("%s%s", t->binary, end), *to = text_of("%s/target%s", t->work, end);
    unlink(to);
    bool good = access(from, R_OK) != 0 || copy_file(from, to, 0644) || complain(to);
    free(from);
    free(to);
    return good;
}

bool furnish(const struct target *t, bool copy) {
    return place_binary(t, copy) && place_companion(t, ".dict") && place_companion(t, ".options") &&
           link_here(t, "corpus", t->corpus);
}

void clear_away(const struct target *t) {
    static const char *const names[] = {"target", "target.dict", "target.options",
                                        "corpus", "mutator.so",  "sync"};
    for (unsigned i = 0; i < sizeof names / sizeof *names; i++) {
        char *path = text_of("%s/%s", t->work, names[i]);
        unlink(path);
        free(path);
    }
}

bool has_here(const struct target *t, const char *name) {
    char *path = text_of("%s/%s", t->work, name);
    bool has = access(path, R_OK) == 0;
    free(path);
    return has;
}
