/* SPDX-License-Identifier: MIT
 *
 * Known-bad collectors by name (known_bad.h, table.h).  The build compiles each source with all of
 * its defects once, as the collector known_bad_<source>.
 */
#include "collectors/known_bad/known_bad.h"

#include "collectors/known_bad/switch.h"

#include <stddef.h>

#define X(source, defect, violation, text)                                                         \
    extern const struct collector known_bad_##source;                                              \
    static struct gc *open_##defect(void) {                                                        \
        return switched_open(&known_bad_##source, FAULT_##defect);                                 \
    }                                                                                              \
    static void promise_##defect(const struct gc_config *c, struct collector_traits *t) {          \
        switched_promise(&known_bad_##source, FAULT_##defect, c, t);                               \
    }                                                                                              \
    static bool writable_##defect(unsigned tag) {                                                  \
        return switched_writable(&known_bad_##source, FAULT_##defect, tag);                        \
    }
KNOWN_BAD(X)
#undef X

static const struct {
    const struct collector *source;
    const char *name, *text;
    enum violation violation;
    struct switched_start start;
} rows[] = {
#define X(source, defect, violation, text)                                                         \
    {&known_bad_##source,                                                                          \
     "bad_" #defect,                                                                               \
     text,                                                                                         \
     VIOLATION_##violation,                                                                        \
     {open_##defect, promise_##defect, writable_##defect}},
    KNOWN_BAD(X)
#undef X
};
enum { ROWS = sizeof rows / sizeof *rows };

/* Made when they are first asked for. */
static struct collector collectors[ROWS];
static const struct collector *list[ROWS + 1];
static struct known_bad table[ROWS + 1];

static void make(void) {
    for (unsigned i = 0; i < ROWS; i++) {
        collectors[i] = switched_collector(rows[i].source, rows[i].name, &rows[i].start);
        list[i] = &collectors[i];
        table[i] = (struct known_bad){&collectors[i], rows[i].violation, rows[i].text};
    }
}

const struct known_bad *known_bad(void) {
    if (!table[0].collector)
        make();
    return table;
}

const struct collector *const *known_bad_collectors(void) {
    known_bad();
    return list;
}
