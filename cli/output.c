/* SPDX-License-Identifier: MIT
 *
 * Writing files, and colour (cli.h).
 */
#define _GNU_SOURCE
#include "cli/cli.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

bool wants_colour(void) {
    const char *refused = getenv("NO_COLOR");
    return isatty(STDOUT_FILENO) && !(refused && refused[0]);
}

/* ---- files ------------------------------------------------------------------------------------
 */

static bool write_all(int fd, const char *data, size_t size) {
    for (size_t done = 0; done < size;) {
        ssize_t n = write(fd, data + done, size - done);
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            return false;
        done += (size_t)n;
    }
    return true;
}

/* A device or a pipe: nothing that another file could take the place of. */
static bool write_through(const char *path, const char *data, size_t size) {
    int fd = open(path, O_WRONLY | O_CLOEXEC);
    bool good = fd >= 0 && write_all(fd, data, size);
    return fd >= 0 ? close(fd) == 0 && good : false;
}

static mode_t usual_mode(void) {
    mode_t mask = umask(0);
    umask(mask);
    return 0666 & ~mask;
}

bool replace_file(const char *path, unsigned mode, bool durable, const void *data, size_t size) {
    const char *slash = strrchr(path, '/');
    int folder = slash ? (int)(slash - path + 1) : 0;
    char *temporary;
    if (asprintf(&temporary, "%.*s.new-XXXXXX", folder, path) < 0)
        return false;
    int fd = mkostemp(temporary, O_CLOEXEC);
    bool good = fd >= 0 && fchmod(fd, mode) == 0 && write_all(fd, data, size) &&
                (!durable || fsync(fd) == 0);
    int why = errno;
    if (fd >= 0 && close(fd) != 0 && good) {
        good = false;
        why = errno;
    }
    if (good && rename(temporary, path) != 0) {
        good = false;
        why = errno;
    }
    if (!good && fd >= 0)
        unlink(temporary);
    free(temporary);
    errno = why;
    return good;
}

static bool write_output(const char *path, bool durable, const void *data, size_t size) {
    struct stat info;
    bool good;
    if (strcmp(path, "-") == 0)
        return fwrite(data, 1, size, stdout) == size; /* main looks at stdout at the end */
    if (stat(path, &info) != 0) {
        good = replace_file(path, usual_mode(), durable, data, size);
    } else if (S_ISREG(info.st_mode)) {
        char *target = realpath(path, NULL); /* a link stays one */
        good = target && replace_file(target, info.st_mode & 0777, durable, data, size);
        free(target);
    } else {
        good = write_through(path, data, size);
    }
    if (!good)
        fprintf(stderr, "isoheap: cannot write %s: %s\n", path, strerror(errno));
    return good;
}

bool write_file(const char *path, const void *data, size_t size) {
    return write_output(path, false, data, size);
}

bool write_finding(const char *path, const void *data, size_t size) {
    return write_output(path, true, data, size);
}
