/* SPDX-License-Identifier: MIT
 *
 * `unruly` is mark_sweep until a block of three fields is allocated; then it does to the process,
 * or to those around it, what the environment variable UNRULY says: the name of a deed, or as
 * slots+100 so many words that it writes behind a region (-100: before it).  With ",short" at the
 * end it also gives a field less than was asked for, so that there is something to be found if the
 * deed alone is no harm; with ",again" it does the deed from the second program of a process on.
 */
#define _GNU_SOURCE
#include "collectors/mark_sweep/mark_sweep.h"

#include <setjmp.h>
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { FIELDS = 3, OFTEN = 307, BLOCK = 64 << 20, PAGE = 4096, NAP = 300000 };

static void promise(const struct gc_config *config, struct collector_traits *traits) {
    mark_sweep.promise(config, traits);
}
static struct gc *open_gc(void) {
    return mark_sweep.open();
}
static unsigned programs; /* since the process began: what no reset clears */

static const struct gc_config *lent;
static struct gc *self;
static struct {
    const word *raw;
    size_t words;
} content; /* of the block that is asked for */

static void reset(struct gc *g, const struct gc_config *config) {
    programs++;
    lent = config;
    self = g;
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

/* volatile: a compiler leaves out what nobody looks at */
static void eat_memory(void) {
    static char *volatile block;
    for (;;) {
        block = malloc(BLOCK);
        for (size_t i = 0; block && i < BLOCK; i += PAGE)
            ((volatile char *)block)[i] = 1;
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

static void end_well(void) {
    exit(0);
}
static void write_through_null(void) {
    word *volatile nowhere = NULL;
    *nowhere = 1;
}
static void close_files(void) {
    for (int fd = 0; fd < 1024; fd++)
        close(fd);
}
/* Nothing is to end this process any more, it thinks. */
static void change_handlers(void) {
    for (int number = 1; number < NSIG; number++)
        signal(number, SIG_IGN);
}
/* No limit that says so before it kills is to end it. */
static void spin_on(void) {
    static volatile unsigned turns;
    signal(SIGXCPU, SIG_IGN);
    for (;;)
        turns++;
}
/* The copy goes on, and would tell what it finds. */
static void leave_it_to_a_copy(void) {
    if (fork() != 0)
        _exit(0);
}
static void fork_on(void) {
    fork();
}

static volatile unsigned depth;
__attribute__((noinline)) static unsigned recurse_on(volatile char *above) {
    volatile char frame[4096];
    frame[0] = *above;
    if (++depth == 0)
        return 0;
    return recurse_on(frame) + (unsigned)frame[0];
}
static void recurse(void) {
    volatile char first = 1;
    recurse_on(&first);
}

static jmp_buf gone;
static bool has_been; /* gone is a frame that is no more */

static void jump(void) {
    if (has_been)
        longjmp(gone, 1);
    has_been = true;
    if (setjmp(gone))
        raise(SIGTRAP); /* back in a frame that is no more: whatever comes */
}

/* ---- words beyond a region ---------------------------------------------------------------------
 */

struct region {
    const char *name;
    word *start, *end;
};

static void measure(void *context, enum gc_extent kind, const word *header, size_t words) {
    struct region *heap = context;
    word *at = (word *)(uintptr_t)header;
    if (kind == GC_FREE_LIST_ENTRY)
        return;
    heap->start = heap->start ? heap->start : at;
    heap->end = at + words;
}

/* The static block in slot 1 is all that there is of them. */
static struct region statics(void) {
    word v = lent->slots[0][1];
    word *first = is_immediate(v) ? NULL : word_pointer(v);
    return (struct region){"statics", first ? first - 1 : NULL,
                           first ? first + header_wosize(first[-1]) : NULL};
}

/* As code does that nobody has instrumented. */
__attribute__((no_sanitize("address", "undefined"))) static void
scribble(word *from, ptrdiff_t step, size_t words) {
    for (volatile word *w = from; words; words--, w += step)
        *w = UINT64_C(0x9f9f9f9f9f9f9f9f);
}

/* True if UNRULY names a region; which begins where it does with few words less on its stack. */
static bool write_beyond(const char *deed) {
    if (!strpbrk(deed, "+-"))
        return false; /* a program's slot 1 may hold any word: nobody looks behind it without need
                       */
    word here[2] = {0, 0};
    struct region heap = {"heap", NULL, NULL};
    mark_sweep.walk(self, measure, &heap);
    word *slots = lent->slots[0], *config = (word *)(uintptr_t)lent;
    word *hooks = (word *)(void *)lent->hooks, *raw = (word *)(uintptr_t)content.raw;
    const struct region regions[] = {heap,
                                     statics(),
                                     {"slots", slots, slots + (size_t)GC_SLOTS * lent->mutators},
                                     {"config", config, config + sizeof *lent / sizeof(word)},
                                     {"hooks", hooks, hooks + sizeof *lent->hooks / sizeof(word)},
                                     {"content", raw, raw + content.words},
                                     {"stack", here, here + 2}};
    for (unsigned i = 0; i < sizeof regions / sizeof *regions; i++) {
        const struct region *r = &regions[i];
        size_t length = strlen(r->name);
        if (strncmp(deed, r->name, length) != 0 || !strchr("+-", deed[length]) || !r->start)
            continue;
        bool behind = deed[length] == '+';
        scribble(behind ? r->end : r->start - 1, behind ? 1 : -1,
                 strtoul(deed + length + 1, NULL, 10));
        return true;
    }
    return false;
}

static const struct {
    const char *name;
    void (*do_it)(void);
} deeds[] = {{"end_well", end_well},
             {"null", write_through_null},
             {"close_files", close_files},
             {"change_handlers", change_handlers},
             {"leave_it_to_a_copy", leave_it_to_a_copy},
             {"fork_on", fork_on},
             {"spin_on", spin_on},
             {"recurse", recurse},
             {"jump", jump},
             {"kill_self", kill_self},
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

static void misbehave(const char *deed) {
    size_t length = strcspn(deed, ",");
    if (write_beyond(deed))
        return;
    for (unsigned i = 0; i < sizeof deeds / sizeof *deeds; i++)
        if (strlen(deeds[i].name) == length && strncmp(deed, deeds[i].name, length) == 0)
            deeds[i].do_it();
}

static enum gc_result alloc(struct gc *g, unsigned m, unsigned dst, size_t wosize, unsigned tag,
                            const word *raw) {
    const char *deed = getenv("UNRULY");
    if (deed && is_short(deed, wosize))
        return mark_sweep.alloc(g, m, dst, wosize - 1, tag, raw);
    if (deed && wosize == FIELDS) {
        content.raw = raw;
        content.words = wosize;
        if (programs > 1 || !strstr(deed, ",again"))
            misbehave(deed);
        wosize -= strstr(deed, ",short") != NULL;
    }
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
