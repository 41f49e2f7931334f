/* SPDX-License-Identifier: MIT
 *
 * The same work on many files, in processes side by side (beside.c).
 */
#ifndef ISOHEAP_CLI_BESIDE_H
#define ISOHEAP_CLI_BESIDE_H

#include <stdbool.h>
#include <stddef.h>

enum { BESIDE_MOST = 256 }; /* processes at once */

struct beside {
    unsigned jobs; /* processes at once */
    /* In another process, which does it for a few files: does the work, prints what there is to
     * print, and leaves in *result what the caller is to know. */
    void (*work)(const char *path, void *context, void *result);
    /* In the caller, one file after the other in their order, when what it printed has been printed
     * again; result is NULL if the process has died before its end. */
    void (*done)(const char *path, void *context, const void *result);
    void *context;
    size_t result_size; /* bytes, zeroed before the work */
};

struct paths {
    char **names;
    size_t n, capacity;
};
/* Adds a copy of the path; to be given to for_each_file.  Ends the process if memory is short. */
void paths_add(const char *path, void *paths);
void paths_free(struct paths *);

/* Works on all files.  What is printed is the same, to the letter, whatever `jobs` is; on a
 * terminal a line on stderr says how far it is.  False, after a message, if the system gives no
 * process or no memory. */
bool work_beside(const struct beside *, const struct paths *);

#endif
