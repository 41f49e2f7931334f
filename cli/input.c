/* SPDX-License-Identifier: MIT
 *
 * Reading programs and writing files (cli.h).
 */
#define _GNU_SOURCE
#include "cli/cli.h"

#include "program/bytes.h"
#include "program/text.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { INPUT_MAX = 16 << 20 }; /* no program is longer, in either form */

/* The whole of a file, or NULL after a message. */
static uint8_t *read_all(const char *path, size_t *size) {
    FILE *file = strcmp(path, "-") == 0 ? stdin : fopen(path, "rb");
    if (!file) {
        fprintf(stderr, "isoheap: %s: %s\n", path, strerror(errno));
        return NULL;
    }
    uint8_t *data = malloc(INPUT_MAX + 1);
    *size = data ? fread(data, 1, INPUT_MAX + 1, file) : 0;
    bool failed = !data || ferror(file) || *size > INPUT_MAX;
    if (failed)
        fprintf(stderr, "isoheap: %s: %s\n", path,
                data && *size > INPUT_MAX ? "longer than any program (16 MiB)" : strerror(errno));
    if (file != stdin)
        fclose(file);
    if (!failed)
        return data;
    free(data);
    return NULL;
}

bool read_program(const char *path, struct program *p, bool *was_text) {
    size_t size;
    struct text_error error;
    uint8_t *data = read_all(path, &size);
    if (!data)
        return false;
    bool text = program_looks_like_text(data, size), good = true;
    if (was_text)
        *was_text = text;
    if (text)
        good = program_parse(p, (const char *)data, size, &error);
    else
        program_decode(p, data, size);
    if (!good)
        fprintf(stderr, "%s:%u:%u: %s\n", path, error.line, error.column, error.message);
    free(data);
    return good;
}

void for_each_file(const char *path, void (*visit)(const char *path, void *), void *context) {
    struct stat info;
    struct dirent **entries;
    if (strcmp(path, "-") == 0 || stat(path, &info) != 0 || !S_ISDIR(info.st_mode)) {
        visit(path, context); /* what cannot be read is said there */
        return;
    }
    int n = scandir(path, &entries, NULL, alphasort);
    for (int i = 0; i < n; i++) {
        char *inner;
        if (entries[i]->d_name[0] != '.' &&
            asprintf(&inner, "%s/%s", path, entries[i]->d_name) >= 0) {
            for_each_file(inner, visit, context);
            free(inner);
        }
        free(entries[i]);
    }
    if (n >= 0)
        free(entries);
}

bool write_file(const char *path, const void *data, size_t size) {
    if (strcmp(path, "-") == 0)
        return fwrite(data, 1, size, stdout) == size && fflush(stdout) == 0;
    char *temporary;
    if (asprintf(&temporary, "%s.XXXXXX", path) < 0)
        return false;
    int fd = mkstemp(temporary);
    bool good = fd >= 0 && fchmod(fd, 0644) == 0;
    for (size_t done = 0; good && done < size;) {
        ssize_t n = write(fd, (const char *)data + done, size - done);
        good = n > 0;
        done += good ? (size_t)n : 0;
    }
    if (fd >= 0)
        good = close(fd) == 0 && good;
    good = good && rename(temporary, path) == 0;
    if (!good) {
        fprintf(stderr, "isoheap: %s: %s\n", path, strerror(errno));
        if (fd >= 0)
            unlink(temporary);
    }
    free(temporary);
    return good;
}
