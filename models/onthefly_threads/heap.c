/* SPDX-License-Identifier: MIT
 *
 * The heap of the threaded on-the-fly collector: places of equal size, a free list, OCaml blocks
 * (threads.h).
 */
#include "models/onthefly_threads/state.h"

#include <assert.h>
#include <stdlib.h>

/* A free block's fields may not be touched. */
#if defined __has_feature
#if __has_feature(address_sanitizer)
#define OTF_ASAN 1
#endif
#elif defined __SANITIZE_ADDRESS__
#define OTF_ASAN 1
#endif
#ifdef OTF_ASAN
#include <sanitizer/asan_interface.h>
#define POISON(start, bytes)   __asan_poison_memory_region(start, bytes)
#define UNPOISON(start, bytes) __asan_unpoison_memory_region(start, bytes)
#else
#define POISON(start, bytes)   ((void)(start), (void)(bytes))
#define UNPOISON(start, bytes) ((void)(start), (void)(bytes))
#endif

enum { BLOCKS_MAX = 1 << 20 };

static void make_dead(const struct otf *g, word v) {
    if (g->hooks && g->hooks->dead)
        g->hooks->dead(g->hooks->context, otf_field(v, 0), OTF_WOSIZE);
    else
        POISON(otf_field(v, 0), OTF_WOSIZE * sizeof(word));
}

static void make_used(const struct otf *g, word v, size_t fields) {
    if (g->hooks && g->hooks->used)
        g->hooks->used(g->hooks->context, otf_field(v, 0), fields);
    else
        UNPOISON(otf_field(v, 0), fields * sizeof(word));
}

/* ---- life -------------------------------------------------------------------------------------
 */

static bool open_list(struct otf_list *list, size_t blocks) {
    list->block = calloc(blocks, sizeof *list->block);
    return list->block != NULL;
}

static void close_lists(struct otf *g) {
    free(g->free.block);
    free(g->W.block);
    for (unsigned i = 0; i < TSO_PROCESSES; i++)
        free(g->process[i].W.block);
}

static bool open_lists(struct otf *g) {
    bool good = open_list(&g->free, g->blocks) && open_list(&g->W, g->blocks);
    for (unsigned i = 0; i < TSO_PROCESSES && good; i++)
        good = open_list(&g->process[i].W, g->blocks);
    return good;
}

/* All free; the first block is the first to be allocated. */
static void empty_heap(struct otf *g) {
    for (size_t i = g->blocks; i-- > 0;) {
        word v = otf_block(g, (uint32_t)i);
        atomic_init(otf_header(v), header_make(OTF_WOSIZE, BLUE, 0));
        make_dead(g, v);
        otf_push(&g->free, (uint32_t)i);
    }
}

static bool has_heap(const struct otf *g) {
    return g->hooks && g->hooks->heap;
}

static void release(struct otf *g) {
    close_lists(g);
    if (!has_heap(g))
        free(g->heap);
    free(g);
}

struct otf *otf_open(unsigned mutators, size_t blocks, const struct otf_hooks *hooks) {
    assert(mutators >= 1 && mutators <= OTF_MUTATORS && blocks >= 1 && blocks <= BLOCKS_MAX);
    struct otf *g = calloc(1, sizeof *g);
    if (!g)
        return NULL;
    g->mutators = mutators;
    g->blocks = blocks;
    g->hooks = hooks;
    g->heap = has_heap(g) ? hooks->heap : calloc(blocks * OTF_STRIDE, sizeof *g->heap);
    if (!g->heap || !open_lists(g) || pthread_mutex_init(&g->mutex, NULL) != 0) {
        release(g);
        return NULL;
    }
    for (unsigned i = 0; i < TSO_PROCESSES; i++) {
        g->process[i].gc = g;
        g->process[i].number = i;
        g->process[i].roots = g->process[i].own;
        for (unsigned k = 0; k < OTF_ROOTS; k++)
            g->process[i].own[k] = WORD_UNIT;
    }
    atomic_init(&g->type, HS_ROOTS); /* as after a cycle */
    empty_heap(g);
    return g;
}

void otf_abandon(struct otf *g) {
    if (!has_heap(g))
        UNPOISON(g->heap, g->blocks * OTF_STRIDE * sizeof(word));
    release(g);
}

void otf_close(struct otf *g) {
    pthread_mutex_destroy(&g->mutex);
    otf_abandon(g);
}

bool otf_start(struct otf *g) {
    return pthread_create(&g->thread, NULL, otf_collect, g) == 0;
}

void otf_stop(struct otf *g) {
    atomic_store(&g->quit, true);
}

bool otf_stopped(const struct otf *g) {
    return atomic_load(&g->stopped);
}

void otf_join(struct otf *g) {
    pthread_join(g->thread, NULL);
}

uint64_t otf_cycles(const struct otf *g) {
    return atomic_load(&g->cycles);
}

const word *otf_heap(const struct otf *g, size_t *blocks) {
    *blocks = g->blocks;
    return (const word *)g->heap;
}

/* ---- blocks -----------------------------------------------------------------------------------
 */

/* Tag and size of a header, and an infix header, never change while the block is alive. */
word otf_resolve(word v) {
    word header = atomic_load_explicit(otf_header(v), memory_order_relaxed);
    return header_tag(header) == TAG_INFIX ? v - header_wosize(header) * sizeof(word) : v;
}

size_t otf_first_scanned(word header, word v) {
    size_t wosize = header_wosize(header), first = 0;
    if (header_tag(header) >= TAG_NO_SCAN)
        return wosize;
    if (header_tag(header) == TAG_CLOSURE)
        first = closinfo_start_env(atomic_load_explicit(otf_field(v, 1), memory_order_relaxed));
    return first < wosize ? first : wosize;
}

/* One step of the model: whoever looks at the header sees it free until all of it is there, and the
 * unlock drains the store buffer.  f_A cannot change its meaning on the way: the collector would
 * need an answer of this mutator. */
bool otf_alloc(struct otf *g, unsigned m, unsigned dst, size_t wosize, unsigned tag,
               const word *raw) {
    struct otf_process *p = &g->process[m];
    assert(wosize >= 1 && wosize <= OTF_WOSIZE && dst < OTF_ROOTS);
    pthread_mutex_lock(&g->mutex);
    if (!g->free.n) {
        pthread_mutex_unlock(&g->mutex);
        return false;
    }
    uint32_t number = otf_choose(p, g->free.block[g->free.n - 1]);
    size_t at = g->free.n - 1;
    while (g->free.block[at] != number)
        at--;
    g->free.block[at] = g->free.block[--g->free.n];
    word v = otf_block(g, number);
    make_used(g, v, wosize);
    for (size_t i = 0; i < wosize; i++)
        atomic_store_explicit(otf_field(v, i), raw[i], memory_order_relaxed);
    unsigned colour = otf_colour(atomic_load_explicit(&g->fA, memory_order_acquire));
    atomic_store_explicit(otf_header(v), header_make(wosize, colour, tag), memory_order_release);
    pthread_mutex_unlock(&g->mutex);
    p->roots[dst] = v;
    return true;
}

void otf_free_block(struct otf *g, uint32_t number) {
    word v = otf_block(g, number);
    pthread_mutex_lock(&g->mutex);
    make_dead(g, v);
    atomic_store_explicit(otf_header(v), header_make(OTF_WOSIZE, BLUE, 0), memory_order_release);
    otf_push(&g->free, number);
    pthread_mutex_unlock(&g->mutex);
}
