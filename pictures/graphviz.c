/* SPDX-License-Identifier: MIT
 *
 * Pictures are laid out by Graphviz, a child process (graphviz.h).
 */
#define _GNU_SOURCE
#include "pictures/graphviz.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

enum { NOT_INSTALLED = 127, LAYOUT_SECONDS = 60 };

/* A child of its own feeds dot, so that no pipe can fill up. */
static pid_t start_writer(const int in[2], const int out[2], const char *dot, size_t size) {
    pid_t writer = fork();
    if (writer == 0) {
        close(in[0]);
        close(out[0]);
        close(out[1]);
        FILE *graph = fdopen(in[1], "w");
        bool good = graph && fwrite(dot, 1, size, graph) == size && fclose(graph) == 0;
        _exit(good ? 0 : 1);
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
