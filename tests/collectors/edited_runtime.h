/* SPDX-License-Identifier: MIT
 *
 * Edits of a runtime's source (tests/CMakeLists.txt), one in force at a time, and what each test of
 * them asks: a program finds the edit, and passes without it.
 */
#ifndef ISOHEAP_EDITED_RUNTIME_H
#define ISOHEAP_EDITED_RUNTIME_H

#include "tests/support/passing.h"
#include "tests/support/support.h"

struct edit {
    const char *what, *program;
    enum violation violation;
};

extern int isoheap_edit; /* the runtime's */
int isoheap_edit;        /* 0: the runtime as it is */

static struct program program;

static inline void must_find(const struct collector *edited, const struct edit *edit, int number) {
    isoheap_edit = 0;
    parse_program(&program, edit->program);
    struct runner *runner = open_pair(edited, NULL);
    must_pass(runner, &program, edit->what, NULL);
    runner_close(runner);
    isoheap_edit = number;
    enum violation found = run_thoroughly(edited, &program);
    if (found != edit->violation)
        fail_msg("%s: %s", edit->what, violation_name(found));
}

/* For for_each_program; context: the collector. */
static inline void passes_unedited(const char *path, void *context) {
    isoheap_edit = 0;
    load_program(&program, path);
    enum violation found = run_thoroughly((const struct collector *)context, &program);
    if (found)
        fail_msg("%s: %s", path, violation_name(found));
}

#endif
