/* SPDX-License-Identifier: MIT
 *
 * Memory for the heap of a program: of the model, the graphs, the witness, and the words of a block
 * of units (internal.h).
 *
 * There is room for what the fuzzer makes from the start.  A larger heap, which only a text has,
 * makes everything grow, and that stays until the runner is closed.  What is never written costs
 * nothing: all parts are as large as they could need to be, without a look at what the program will
 * do.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE 1 /* memfd_create, MAP_NORESERVE */
#endif
#include "harness/events.h"
#include "views/large.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

/* ---- units ------------------------------------------------------------------------------------
 *
 * Nobody writes them, so that all pages of a long block are the same few.
 */

enum { UNITS_PAGE = 1 << 16, UNITS_LARGE_PAGE = 1 << 20 }; /* bytes */

static size_t units_page(size_t words) {
    return words <= PROGRAM_HEAP_WORDS ? UNITS_PAGE : UNITS_LARGE_PAGE;
}

/* The same pages of units at each of the addresses. */
static bool map_units(char *start, size_t bytes, size_t page, int file) {
    for (size_t at = 0; at < bytes; at += page)
        if (mmap(start + at, page, PROT_READ, MAP_SHARED | MAP_FIXED, file, 0) == MAP_FAILED)
            return false;
    return true;
}

static int open_units(size_t bytes) {
    int file = memfd_create("units", MFD_CLOEXEC);
    word *page = malloc(bytes);
    for (size_t i = 0; page && i < bytes / sizeof(word); i++)
        page[i] = WORD_UNIT;
    if (file >= 0 && (!page || write(file, page, bytes) != (ssize_t)bytes)) {
        close(file);
        file = -1;
    }
    free(page);
    return file;
}

static void close_units(struct runner *r) {
    if (r->units)
        munmap(r->units_map, r->units_bytes + UNITS_PAGE);
    r->units = r->units_end = NULL;
}

/* So many words at least; behind them, as behind all that a collector is lent, lies a guard. */
static bool make_units(struct runner *r, size_t words) {
    size_t page = units_page(words), bytes = (words * sizeof(word) + page - 1) / page * page;
    int file = open_units(page);
    void *map = file < 0 ? MAP_FAILED
                         : mmap(NULL, bytes + UNITS_PAGE, PROT_NONE,
                                MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    bool mapped = map != MAP_FAILED && map_units(map, bytes, page, file);
    if (file >= 0)
        close(file);
    if (map != MAP_FAILED && !mapped)
        munmap(map, bytes + UNITS_PAGE);
    if (!mapped)
        return false;
    r->units_map = map;
    r->units_bytes = bytes;
    r->units = map;
    r->units_end = r->units + bytes / sizeof(word);
    return true;
}

/* ---- all of it --------------------------------------------------------------------------------
 */

void room_close(struct runner *r) {
    model_close(&r->model);
    close_units(r);
    large_free(r->model_cells);
    large_free(r->queue);
    large_free(r->iso.links);
    r->iso.links = NULL;
    r->model_cells = NULL;
    r->queue = NULL;
    for (unsigned p = 0; p < COLLECTING_PARTIES; p++) {
        large_free(r->side[p].cells);
        large_free(r->side[p].in_use);
        r->side[p].cells = NULL;
        r->side[p].in_use = NULL;
        r->side[p].room = 0;
        panel_close(&r->panel[p]);
    }
    r->room = 0;
}

enum { MARGIN = 16 }; /* ids behind the last word */

/* What is alive, and garbage beside it, half as much: the model looks for it once for so many
 * allocations.  The same in each run of a program, whatever there is room for. */
_Static_assert((int)MODEL_OBJECTS == 4 * PROGRAM_HEAP_WORDS,
               "side_words of the fuzzer's largest heap");
static bool limit_model(struct runner *r, size_t words) {
    bool large = words > PROGRAM_HEAP_WORDS;
    size_t objects = side_words(words);
    r->iso.capacity = objects + 1;
    return model_room(&r->model, objects, MODEL_WORDS + (large ? words + words / 2 : 0));
}

static bool make_model(struct runner *r, size_t words) {
    if (!limit_model(r, words))
        return false;
    r->model_cells = large_calloc(r->model.room_objects, sizeof *r->model_cells);
    r->queue = large_calloc(2 * (r->model.room_objects + 1), sizeof *r->queue);
    r->iso.queue = r->queue;
    r->iso.links_b = side_words(words) + MARGIN;
    r->iso.links = large_calloc(r->iso.links_b + r->model.room_objects, sizeof *r->iso.links);
    return r->model_cells && r->queue && r->iso.links;
}

static bool make_side(struct side *s, size_t words) {
    s->room = side_words(words);
    s->cells = large_calloc(s->room + MARGIN, sizeof *s->cells);
    s->in_use = large_calloc(s->room / 64 + 1, sizeof *s->in_use);
    return s->cells && s->in_use;
}

bool room_make(struct runner *r, size_t heap_words) {
    size_t words = heap_words > PROGRAM_HEAP_WORDS ? heap_words : PROGRAM_HEAP_WORDS;
    if (words <= r->room)
        return limit_model(r, words);
    room_close(r);
    bool made = make_model(r, words) && make_units(r, words);
    for (unsigned p = 0; p < r->n_sides; p++)
        made = made && make_side(&r->side[p], words);
    if (!made) {
        room_close(r);
        return false;
    }
    r->room = words;
    return true;
}

/* Of the machine, or of the process if it may have less. */
static uint64_t memory_bytes(void) {
    struct rlimit limit;
    long pages = sysconf(_SC_PHYS_PAGES), page = sysconf(_SC_PAGESIZE);
    uint64_t bytes = pages > 0 && page > 0 ? (uint64_t)pages * (uint64_t)page : UINT64_MAX;
    if (getrlimit(RLIMIT_AS, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY &&
        limit.rlim_cur < bytes)
        bytes = limit.rlim_cur;
    return bytes;
}

enum { MIB = 1 << 20 };

unsigned runner_mib(const struct program *p) {
    return (unsigned)((uint64_t)p->config[CONFIG_HEAP] * ROOM_EACH / MIB);
}

bool room_is_short(size_t heap_words, char *out, size_t capacity) {
    if (heap_words <= PROGRAM_HEAP_WORDS)
        return false; /* most: the system is not asked */
    uint64_t needed = (uint64_t)heap_words * ROOM_EACH, there = memory_bytes();
    if (needed <= there)
        return false;
    snprintf(
        out, capacity,
        "is not given a heap of %zu words: a run may need %llu MiB, and there are %llu MiB: give "
        "the program a smaller heap",
        heap_words, (unsigned long long)(needed / MIB), (unsigned long long)(there / MIB));
    return true;
}
