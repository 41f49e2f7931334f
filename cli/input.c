/* SPDX-License-Identifier: MIT
 *
 * Finding and reading programs (cli.h).
 */
#define _GNU_SOURCE
#include "cli/cli.h"

#include "models/onthefly/schedules/schedule.h"
#include "program/bytes/bytes.h"
#include "program/text/text.h"

#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* No program is longer, in either form; most fit into the first piece. */
enum { INPUT_MAX = 16 << 20, INPUT_FIRST = 1 << 12 };

/* Reads a file to its end into *data, malloc'ed and freed by the caller whatever comes of it.  Says
 * why that could not be done, or NULL. */
static const char *read_stream(FILE *file, uint8_t **data, size_t *size) {
    size_t room = INPUT_FIRST;
    for (;;) {
        uint8_t *more = realloc(*data, room);
        if (!more)
            return strerror(ENOMEM);
        *data = more;
        errno = 0;
        *size += fread(*data + *size, 1, room - *size, file);
        if (ferror(file))
            return strerror(errno);
        if (*size < room)
            return NULL;
        if (room > INPUT_MAX)
            return "longer than any program (16 MiB)";
        room = room < INPUT_MAX ? 2 * room : INPUT_MAX + 1;
    }
}

uint8_t *read_input(const char *path, size_t *size) {
    bool standard = strcmp(path, "-") == 0;
    uint8_t *data = NULL;
    if (standard && feof(stdin)) {
        fprintf(stderr, "isoheap: standard input can be read once only\n");
        return NULL;
    }
    FILE *file = standard ? stdin : fopen(path, "rb");
    *size = 0;
    const char *wrong = file ? read_stream(file, &data, size) : strerror(errno);
    if (file && !standard)
        fclose(file);
    if (!wrong)
        return data;
    fprintf(stderr, "isoheap: %s: %s\n", path, wrong);
    free(data);
    return NULL;
}

bool read_program(const char *path, struct program *p, bool *was_text) {
    return read_program_version(path, p, was_text, PROGRAM_BYTES_VERSION);
}

bool read_program_version(const char *path, struct program *p, bool *was_text, unsigned version) {
    size_t size = 0;
    struct text_error error;
    uint8_t *data = read_input(path, &size);
    if (!data)
        return false;
    bool text = !takes_as_bytes() && program_looks_like_text(data, size), good = true;
    const char *mistaken = mistaken_text(data, size);
    bool schedule = schedule_looks_like_text(data, size);
    if (was_text)
        *was_text = text;
    if (mistaken && !schedule) {
        fprintf(stderr, "%s:1:1: %s; --bytes takes it as bytes\n", path, mistaken);
        free(data);
        return false;
    }
    if (text)
        good = program_parse(p, (const char *)data, size, &error);
    else
        program_decode_version(p, data, size, version);
    if (!good && schedule)
        fprintf(stderr,
                "%s: a schedule of the on-the-fly model, and no program; isoheap run, show and "
                "reduce take the name of such a file\n",
                path);
    else if (!good)
        fprintf(stderr, "%s:%u:%u: %s\n", path, error.line, error.column, error.message);
    free(data);
    return good;
}

/* ---- folders ----------------------------------------------------------------------------------
 */

struct search {
    void (*visit)(const char *path, void *);
    void *context;
    unsigned found;
    bool failed;
};

static int visible(const struct dirent *entry) {
    return entry->d_name[0] != '.';
}

static void search_folder(struct search *, const char *folder);

/* What stands in a folder: a file, a folder, or something that is neither (a pipe, a link to a
 * folder, which could lead in a circle). */
static void search_entry(struct search *s, const char *path) {
    struct stat info;
    bool folder = lstat(path, &info) == 0 && S_ISDIR(info.st_mode);
    if (folder) {
        search_folder(s, path);
    } else if (stat(path, &info) != 0 || S_ISREG(info.st_mode)) {
        s->found++;
        s->visit(path, s->context); /* what cannot be read is said there */
    }
}

static void search_folder(struct search *s, const char *folder) {
    struct dirent **entries;
    int n = scandir(folder, &entries, visible, alphasort);
    if (n < 0) {
        fprintf(stderr, "isoheap: %s: %s\n", folder, strerror(errno));
        s->failed = true;
        return;
    }
    size_t length = strlen(folder);
    const char *slash = length && folder[length - 1] == '/' ? "" : "/";
    for (int i = 0; i < n; i++) {
        char *path;
        if (asprintf(&path, "%s%s%s", folder, slash, entries[i]->d_name) >= 0) {
            search_entry(s, path);
            free(path);
        }
        free(entries[i]);
    }
    free(entries);
}

bool for_each_file(const char *path, void (*visit)(const char *path, void *), void *context) {
    struct stat info;
    if (strcmp(path, "-") == 0 || stat(path, &info) != 0 || !S_ISDIR(info.st_mode)) {
        visit(path, context);
        return true;
    }
    struct search s = {visit, context, 0, false};
    search_folder(&s, path);
    if (!s.found && !s.failed)
        fprintf(stderr, "isoheap: %s: no file in this folder\n", path);
    return s.found && !s.failed;
}
