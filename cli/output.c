/* SPDX-License-Identifier: MIT
 *
 * Writing files, pictures and colour (cli.h).
 */
#define _GNU_SOURCE
#include "cli/cli.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
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

/* ---- Graphviz ---------------------------------------------------------------------------------
 */

enum { NOT_INSTALLED = 127, LAYOUT_SECONDS = 60 };

/* A child of its own feeds dot, so that no pipe can fill up. */
static pid_t start_writer(const int in[2], const int out[2], const char *dot, size_t size) {
    pid_t writer = fork();
    if (writer == 0) {
        close(in[0]);
        close(out[0]);
        close(out[1]);
        _exit(write_all(in[1], dot, size) ? 0 : 1);
    }
    close(in[1]);
    return writer;
}

static pid_t start_graphviz(const int in[2], const int out[2], const char *form) {
    pid_t child = fork();
    if (child == 0) {
        dup2(in[0], STDIN_FILENO);
        dup2(out[1], STDOUT_FILENO);
        close(in[0]);
        close(out[0]);
        close(out[1]);
        setrlimit(RLIMIT_CPU, &(struct rlimit){LAYOUT_SECONDS, LAYOUT_SECONDS});
        execlp("dot", "dot", form, (char *)NULL);
        _exit(NOT_INSTALLED);
    }
    close(in[0]);
    close(out[1]);
    return child;
}

static char *read_to_end(int fd, size_t *size) {
    char *data = NULL, buffer[1 << 14];
    FILE *collected = open_memstream(&data, size);
    ssize_t n;
    while ((n = read(fd, buffer, sizeof buffer)) > 0 || (n < 0 && errno == EINTR))
        if (collected && n > 0)
            fwrite(buffer, 1, (size_t)n, collected);
    close(fd);
    if (collected)
        fclose(collected);
    return data;
}

static int wait_for(pid_t child) {
    int status = -1;
    if (child > 0)
        while (waitpid(child, &status, 0) < 0 && errno == EINTR)
            ;
    return status;
}

char *lay_out(const char *dot, size_t dot_size, const char *form, size_t *size) {
    int in[2], out[2];
    if (pipe(in) != 0 || pipe(out) != 0) {
        fprintf(stderr, "isoheap: no pipe to Graphviz: %s\n", strerror(errno));
        return NULL;
    }
    fflush(NULL);
    pid_t writer = start_writer(in, out, dot, dot_size);
    pid_t graphviz = start_graphviz(in, out, form);
    char *picture = read_to_end(out[0], size);
    wait_for(writer);
    int status = wait_for(graphviz);
    if (picture && *size && status == 0)
        return picture;
    if (WIFEXITED(status) && WEXITSTATUS(status) == NOT_INSTALLED)
        fprintf(stderr, "isoheap: pictures need Graphviz, and there is no program dot; install it "
                        "(apt-get install graphviz), or take --dot\n");
    else
        fprintf(stderr, "isoheap: Graphviz could not lay the graph out; --dot writes the graph\n");
    free(picture);
    return NULL;
}
