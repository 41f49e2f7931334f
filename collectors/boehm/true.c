/* SPDX-License-Identifier: MIT
 *
 * libgc: allocation, roots, collections, and what it has kept (internal.h).
 *
 * Roots are explicit: registered data is cleared, threads' stacks are replaced by the true words of
 * the slots.  Registers and libgc's own frames are still scanned; what they hold is kept by
 * accident, as conservative collectors do.  Incremental collection finds changed objects through
 * GC_end_stubborn_change, the barrier of collectors/collector.h's store.
 */
#include "collectors/boehm/internal.h"

#define GC_THREADS /* for GC_set_markers_count */
#define GC_NO_THREAD_REDIRECTS
#include <gc/gc.h>
#include <gc/gc_mark.h>
#include <gc/gc_typed.h>

#include <limits.h>
#include <stdlib.h>
#include <string.h>

enum {
    INSTANCES = 4,
    TYPED_WORDS = 62, /* longer blocks are not typed */
    GROWTH = 1 << 20, /* bytes to begin with */
    NO_HURRY = 999998 /* milliseconds that marking may take: no clock decides (999999 is "all at
                         once") */
};

static struct gc *instances[INSTANCES]; /* NULL: free */
static GC_descr descriptors[TYPED_WORDS + 1][TYPED_WORDS + 1];

/* ---- roots and marks ---------------------------------------------------------------------------
 */

/* libgc has one place for each callback: a copy of these files that comes later calls the one
 * before. */
static GC_push_other_roots_proc next_push_roots;
static GC_on_collection_event_proc next_on_event;

static void push_roots(void) {
    if (next_push_roots)
        next_push_roots();
    for (unsigned i = 0; i < INSTANCES; i++) {
        struct gc *g = instances[i];
        unsigned rows = g ? g->config.mutators : 0;
        for (unsigned m = 0; m < rows; m++)
            GC_push_all(g->shadow.roots[m],
                        g->shadow.roots[m] + (FAULTY(boehm_few_roots) ? 8 : GC_SLOTS));
    }
}

/* What has no mark at the end of marking is gone: it may be used again from now on. */
static void on_event(GC_EventType event) {
    if (next_on_event)
        next_on_event(event);
    if (event != GC_EVENT_MARK_END)
        return;
    for (unsigned i = 0; i < INSTANCES; i++) {
        struct gc *g = instances[i];
        for (uint32_t o = 0; g && o < g->n_objects; o++)
            if (g->objects[o].alive)
                g->objects[o].alive = GC_is_marked(word_pointer(g->objects[o].value) - PREFIX);
        if (g)
            g->marked = true;
    }
}

static void initialise_libgc(void) {
    GC_set_no_dls(1);
    GC_set_all_interior_pointers(1);
    GC_set_manual_vdb_allowed(1);
    GC_set_markers_count(1); /* no threads of its own */
    GC_set_handle_fork(0);
    GC_set_warn_proc(GC_ignore_warn_proc);
    GC_INIT();
    GC_clear_roots();
    GC_enable_incremental();
    GC_disable(); /* but for true_collect and true_slice: the program says when, and no allocation
                   */
    GC_set_rate(1);
    GC_set_full_freq(INT_MAX); /* else a counter of former runs says which cycle is a full one */
    GC_set_time_limit(NO_HURRY);
    GC_expand_hp(GROWTH);
}

static void initialise(void) {
    static bool done;
    if (done)
        return;
    done = true;
    if (GC_is_init_called()) { /* by another copy */
        next_push_roots = GC_get_push_other_roots();
        next_on_event = GC_get_on_collection_event();
    } else {
        initialise_libgc();
    }
    GC_set_push_other_roots(push_roots);
    GC_set_on_collection_event(on_event);
}

bool true_open(struct gc *g) {
    initialise();
    for (unsigned i = 0; i < INSTANCES; i++)
        if (!instances[i] || instances[i] == g) {
            instances[i] = g;
            return true;
        }
    return false;
}

void true_close(struct gc *g) {
    for (unsigned i = 0; i < INSTANCES; i++)
        if (instances[i] == g)
            instances[i] = NULL;
}

/* ---- pages -------------------------------------------------------------------------------------
 */

/* Pages that have ever held an object: libgc forgets which memory was its own once it is empty, and
 * a pointer there must not look like a word that points nowhere. */
enum { PAGES = 1 << 14, PAGE_BITS = 12 };
static word pages[PAGES]; /* a hash table without deletions; 0: empty.  Full, it knows no more */

static word *page_entry(word page) {
    size_t at = (size_t)(page * 0x9e3779b97f4a7c15 >> 50);
    for (unsigned n = 0; n < PAGES; n++, at++)
        if (!pages[at % PAGES] || pages[at % PAGES] == page)
            return &pages[at % PAGES];
    return NULL;
}

static void note_pages(word value, size_t words) {
    for (word page = value >> PAGE_BITS; page <= (value + words * sizeof(word)) >> PAGE_BITS;
         page++) {
        word *entry = page_entry(page);
        if (entry)
            *entry = page;
    }
}

bool true_is_inside(word v) {
    const word *entry = is_pointer(v) ? page_entry(v >> PAGE_BITS) : NULL;
    return entry && *entry;
}

/* ---- objects -----------------------------------------------------------------------------------
 */

/* The words from the first scanned field on may be pointers, the others are none. */
static GC_descr descriptor(uint32_t wosize, uint32_t first_scanned) {
    GC_descr *known = &descriptors[wosize][first_scanned];
    if (!*known) {
        GC_word bitmap[GC_BITMAP_SIZE(struct { word w[TYPED_WORDS + PREFIX]; })] = {0};
        uint32_t end = FAULTY(boehm_short_type) ? wosize - 1 : wosize;
        for (uint32_t f = first_scanned; f < end; f++)
            GC_set_bit(bitmap, f + PREFIX);
        *known = GC_make_descriptor(bitmap, wosize + PREFIX);
    }
    return *known;
}

bool true_allocate(struct gc *g, struct object *object, uint32_t id, word header,
                   const word *fields) {
    uint32_t wosize = object->wosize, first = object->first_scanned;
    size_t bytes = (wosize + PREFIX) * sizeof(word);
    bool atomic = first >= wosize;
    if (FAULTY(boehm_atomic) && header_tag(header) == TAG_CLOSURE)
        atomic = true;
    word *base;
    if (atomic)
        base = GC_malloc_atomic(bytes);
    else if (g->typed && wosize <= TYPED_WORDS)
        base = GC_malloc_explicitly_typed(bytes, descriptor(wosize, first));
    else
        base = GC_malloc(bytes);
    if (!base)
        return false;
    base[1] = header;
    memcpy(base + PREFIX, fields, wosize * sizeof(word));
    object->value = pointer_word(base + PREFIX);
    true_renumber(object, id);
    object->alive = true;
    note_pages(object->value, wosize);
    true_written(object);
    return true;
}

void true_free(const struct object *object) {
    GC_free(word_pointer(object->value) - PREFIX);
}

void true_written(const struct object *object) {
    GC_end_stubborn_change(word_pointer(object->value) - PREFIX);
}

uint32_t true_number(word value) {
    return (uint32_t)(word_pointer(value)[-PREFIX] >> 1);
}

void true_renumber(const struct object *object, uint32_t id) {
    word_pointer(object->value)[-PREFIX] = (word)id << 1 | 1;
}

/* An object that libgc has freed may hold anything: it is known by the table alone. */
uint32_t true_object(const struct gc *g, word v, size_t *offset) {
    const word *base = is_pointer(v) ? GC_base(word_pointer(v)) : NULL;
    *offset = 0;
    if (!base)
        return NO_OBJECT;
    word id = base[0] >> 1;
    if (id >= g->n_objects || !g->objects[id].alive ||
        g->objects[id].value != pointer_word(base + PREFIX))
        return NO_OBJECT;
    *offset = (v - g->objects[id].value) / sizeof(word);
    return (uint32_t)id;
}

/* ---- collections -------------------------------------------------------------------------------
 */

void true_collect(struct gc *g) {
    GC_enable();
    GC_gcollect();
    GC_disable();
    g->in_cycle = false;
}

bool true_slice(struct gc *g) {
    GC_enable();
    if (!g->in_cycle) {
        GC_start_incremental_collection();
        g->in_cycle = true;
    } else {
        g->in_cycle = GC_collect_a_little() != 0;
    }
    GC_disable();
    return g->in_cycle;
}
