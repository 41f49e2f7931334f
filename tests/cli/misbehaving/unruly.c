/* SPDX-License-Identifier: MIT
 *
 * `unruly` is mark_sweep until a block of three fields is allocated; then it does to the process,
 * or to those around it, what the environment variable UNRULY says.
 */
#define _GNU_SOURCE
#include "collectors/mark_sweep/mark_sweep.h"

#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { FIELDS = 3, OFTEN = 307, BLOCK = 64 << 20, NAP = 300000 };

static void promise(const struct gc_config *config, struct collector_traits *traits) {
    mark_sweep.promise(config, traits);
}
static struct gc *open_gc(void) {
    return mark_sweep.open();
}
static unsigned programs; /* since the process began: what no reset clears */

static void reset(struct gc *g, const struct gc_config *config) {
    programs++;
    mark_sweep.reset(g, config);
}
static void close_gc(struct gc *g) {
    mark_sweep.close(g);
}
static word *image(struct gc *g, size_t *words) {
    return mark_sweep.image(g, words);
}
static void adopt(struct gc *g, size_t words) {
    mark_sweep.adopt(g, words);
}
static enum gc_result collect(struct gc *g, enum gc_collection kind) {
    return mark_sweep.collect(g, kind);
}
static void walk(struct gc *g, gc_visit *visit, void *context) {
    mark_sweep.walk(g, visit, context);
}

static void leave_child(void) {
    if (fork() != 0)
        return;
    for (;;)
        pause();
}

static void leave_children(void) {
    for (;;)
        leave_child();
}

static void eat_memory(void) {
    for (;;) {
        char *block = malloc(BLOCK);
        if (block)
            memset(block, 1, BLOCK);
    }
}

static void kill_self(void) {
    raise(SIGKILL);
}
static void stop_self(void) {
    raise(SIGSTOP);
}
static void kill_parent(void) {
    kill(getppid(), SIGKILL);
}
static void stop_parent(void) {
    kill(getppid(), SIGSTOP);
}
static void kill_group(void) {
    kill(0, SIGKILL);
}
static void nap(void) {
    usleep(NAP);
}
static void end_quietly(void) {
    _exit(3);
}

static const struct {
    const char *name;
    void (*do_it)(void);
} deeds[] = {{"kill_self", kill_self},
             {"stop_self", stop_self},
             {"kill_parent", kill_parent},
             {"stop_parent", stop_parent},
             {"kill_group", kill_group},
             {"end_quietly", end_quietly},
             {"nap", nap},
             {"eat_memory", eat_memory},
             {"leave_child", leave_child},
             {"leave_children", leave_children}};

/* "counts": now and then, in a program that does not fail again, a block has a field less. */
static bool is_short(const char *deed, size_t wosize) {
    return strcmp(deed, "counts") == 0 && wosize > 1 && programs % OFTEN == 0;
}

static enum gc_result alloc(struct gc *g, unsigned m, unsigned dst, size_t wosize, unsigned tag,
                            const word *raw) {
    const char *deed = getenv("UNRULY");
    if (deed && is_short(deed, wosize))
        return mark_sweep.alloc(g, m, dst, wosize - 1, tag, raw);
    for (unsigned i = 0; deed && wosize == FIELDS && i < sizeof deeds / sizeof *deeds; i++)
        if (strcmp(deed, deeds[i].name) == 0)
            deeds[i].do_it();
    return mark_sweep.alloc(g, m, dst, wosize, tag, raw);
}

extern const struct collector unruly;
const struct collector unruly = {
    .name = "unruly",
    .summary = "mark_sweep that does what UNRULY says when a block of three fields is allocated",
    .traits = {.infix = true,
               .start_env = true,
               .raw = true,
               .outside = true,
               .full_until_exact = 1,
               .refusal = REFUSES_NO_FREE_BLOCK,
               .max_mutators = 1},
    .promise = promise,
    .open = open_gc,
    .reset = reset,
    .close = close_gc,
    .image = image,
    .adopt = adopt,
    .alloc = alloc,
    .collect = collect,
    .walk = walk,
};
