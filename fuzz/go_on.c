/* SPDX-License-Identifier: MIT
 *
 * Going on after a violation (go_on.h; harness/current_input.h has what the campaign reads).
 *
 * The next run begins with a reset, as every run does, so that nothing is to be mended.  The engine
 * must not take the input for one that reaches something new, or it would mutate what fails
 * already: with its counters at zero the run has reached nothing.  (From LLVM 15 on a target may
 * say so by -1.)
 */
#define _POSIX_C_SOURCE 200809L /* getpid, access */
#include "fuzz/go_on.h"

#include "fuzz/current.h"
#include "harness/current_input.h"

#include <inttypes.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* ---- kinds of violations, counted by all processes of a target --------------------------------
 */

static struct go_on_table *table; /* NULL: nobody wants the process to go on */
static char folder[2048];
static unsigned violations; /* of this process */

static struct go_on_table *open_table(void) {
    char path[sizeof folder + 64];
    const char *wanted = getenv(GO_ON_VARIABLE);
    if (!wanted || !wanted[0] ||
        snprintf(folder, sizeof folder, "%s", wanted) >= (int)sizeof folder)
        return NULL;
    snprintf(path, sizeof path, "%s/" GO_ON_TABLE, folder);
    return current_map(path, 0, sizeof *table);
}

/* The row of a kind; a full table has one for all the rest. */
static struct go_on_row *row_of(uint64_t kind) {
    for (unsigned i = 0; i < GO_ON_ROWS - 1; i++) {
        struct go_on_row *row = &table->rows[(kind + i) % (GO_ON_ROWS - 1)];
        uint64_t nobody = 0;
        if (atomic_compare_exchange_strong(&row->kind, &nobody, kind) || nobody == kind)
            return row;
    }
    return &table->rows[GO_ON_ROWS - 1];
}

/* The first ones, then fewer and fewer: a defect that comes with every other input must not fill
 * the disk, and behind it there may be another of its kind. */
static bool is_wanted(uint64_t number) {
    return number <= GO_ON_FIRST || (number & (number - 1)) == 0;
}

/* ---- the coverage of a run --------------------------------------------------------------------
 */

/* The compiler's counters and ours, where there are any, and the mark of the deepest stack, which
 * the engine has too. */
#ifdef __ELF__
#define SECTION(name)                                                                              \
    extern uint8_t __start_##name[] __attribute__((weak, visibility("hidden")));                   \
    extern uint8_t __stop_##name[] __attribute__((weak, visibility("hidden")));
SECTION(__sancov_cntrs)
SECTION(__libfuzzer_extra_counters)
#undef SECTION
extern _Thread_local uintptr_t __sancov_lowest_stack;
__attribute__((weak)) _Thread_local uintptr_t __sancov_lowest_stack;

static void clear(uint8_t *start, const uint8_t *stop) {
    if (start && stop > start)
        memset(start, 0, (size_t)(stop - start));
}

static uintptr_t stack_before; /* the run: the engine has set it */

void go_on_begin(void) {
    stack_before = __sancov_lowest_stack;
}

static void forget_run(void) {
    clear(__start___sancov_cntrs, __stop___sancov_cntrs);
    clear(__start___libfuzzer_extra_counters, __stop___libfuzzer_extra_counters);
    __sancov_lowest_stack = stack_before;
}
#else
static void forget_run(void) {}
#endif

/* ---- what the target calls --------------------------------------------------------------------
 */

enum going go_on_after(const char *kind) {
    static bool tried;
    if (!tried)
        table = open_table();
    tried = true;
    if (!table)
        return GOING_ENDS;
    struct go_on_row *row = row_of(content_hash(kind, strlen(kind)) | 1);
    if (is_wanted(atomic_fetch_add(&row->count, 1) + 1))
        return GOING_KEEPS;
    current_violated(++violations);
    forget_run();
    return GOING_ON;
}

/* As a whole or not at all: by way of a hidden file, which nobody looks at. */
static bool write_file(const char *into, const char *name, const void *data, size_t size) {
    char path[sizeof folder + 128], beside[sizeof folder + 128];
    snprintf(path, sizeof path, "%s/%s/%s", folder, into, name);
    snprintf(beside, sizeof beside, "%s/%s/.%s-%ld", folder, into, name, (long)getpid());
    FILE *file = fopen(beside, "wb");
    if (!file)
        return false;
    bool good = fwrite(data, 1, size, file) == size;
    good = fclose(file) == 0 && good && rename(beside, path) == 0;
    if (!good)
        unlink(beside);
    return good;
}

/* The first in its process is what counts. */
static bool is_kept(const char *content) {
    char path[sizeof folder + 128];
    snprintf(path, sizeof path, "%s/found/" GO_ON_FOUND "-%s", folder, content);
    return access(path, F_OK) == 0;
}

static bool keep(const uint8_t *data, size_t size, const char *said) {
    char content[17], name[64];
    size_t length = strlen(said);
    snprintf(content, sizeof content, "%016" PRIx64, content_hash(data, size));
    snprintf(name, sizeof name, "%s-%s", violations ? GO_ON_LATER : GO_ON_FOUND, content);
    if (is_kept(content))
        return true;
    if (!write_file("said", content, said, length < CURRENT_SAID ? length : CURRENT_SAID) ||
        !write_file("found", name, data, size))
        return false;
    atomic_fetch_add(&table->kept, 1);
    return true;
}

bool go_on_with(const uint8_t *data, size_t size, const char *said) {
    if (!keep(data, size, said))
        return false;
    current_violated(++violations);
    forget_run();
    return true;
}
