/* SPDX-License-Identifier: MIT
 *
 * The memory of the OCaml 5 runtime: what it is given depends on its requests since the start
 * alone.
 *
 * The runtime orders roots by address, and prunes its mark stack by address, so each program gets
 * the addresses anew that the first one got, at the same place in every process.  What the runtime
 * maps lies below, what it has from malloc above.
 */
#define _DEFAULT_SOURCE 1 /* MAP_ANONYMOUS, MAP_NORESERVE */
#include "collectors/ocaml5/region.h"

#include "collectors/ocaml5/internal.h"

#include <string.h>
#include <sys/mman.h>

enum {
    MALLOCED = 1 << 26, /* bytes; address space only until touched, as MAPPED */
    CLASSES = 27,       /* sizes are powers of 2 */
    SMALLEST = 5,
    UNIT = 1 << SMALLEST,
    RED = 16,      /* bytes behind a block that are poisoned, at least; before it lies another */
    KEPT = 1 << 24 /* touched bytes that the next program may have */
};

/* Far from what systems place by themselves; another is taken if it is not free. */
static char *const wish = (char *)0x10000000000;

/* Of a block of malloc, by its place: blocks themselves are poisoned, and may be overwritten. */
struct note {
    uint32_t bytes, size_class;
    uint32_t next; /* of one that is free; 0: it is the last */
    bool is_free;
};

static struct gc_hooks *hooks;
static char *region;
static size_t mapped, malloced; /* bytes in use, of both parts; the first unit of malloc is not */
static struct note *notes;
static uint32_t free_blocks[CLASSES]; /* 0: there is none */
enum { FREE_POOLS = 512 };
static void *free_pools[FREE_POOLS];
static unsigned n_free_pools;

bool region_open(void) {
    if (region)
        return true;
    size_t bytes = (size_t)MAPPED + MALLOCED + MALLOCED / UNIT * sizeof(struct note);
    void *map = mmap(wish, bytes + POOL_BYTES, PROT_READ | PROT_WRITE,
                     MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (map == MAP_FAILED)
        return false;
    region = (char *)(((word)map + POOL_BYTES - 1) / POOL_BYTES * POOL_BYTES);
    notes = (struct note *)(void *)(region + MAPPED + MALLOCED);
    return true;
}

static void give_back(char *start, size_t bytes) {
    if (bytes > KEPT)
        madvise(start, bytes, MADV_DONTNEED);
    hooks->poison_bytes(start, bytes);
}

void region_reset(struct gc_hooks *own_hooks) {
    hooks = own_hooks;
    give_back(region, mapped);
    give_back(region + MAPPED, malloced);
    mapped = 0;
    malloced = UNIT;
    n_free_pools = 0;
    memset(free_blocks, 0, sizeof free_blocks);
}

word region_mapped(void) {
    return (word)region;
}

size_t region_used(void) {
    return mapped;
}

/* ---- what the runtime maps ----------------------------------------------------------------------
 */

#if OCAML_VERSION < 50200
#define ALIGNED_AT , uintptr_t alignment /* a page, or a pool */
#else
#define ALIGNED_AT
#endif
void *caml_plat_mem_map(uintptr_t size ALIGNED_AT, int reserve_only);
void *caml_plat_mem_commit(void *start, uintptr_t size);
void caml_plat_mem_decommit(void *start, uintptr_t size);
void caml_plat_mem_unmap(void *start, uintptr_t size);

/* The runtime reads words that it has not written: the system gives them as 0. */
void *caml_plat_mem_commit(void *start, uintptr_t size) {
    hooks->unpoison_bytes(start, size);
    memset(start, 0, size);
    return start;
}

void *caml_plat_mem_map(uintptr_t size ALIGNED_AT, int reserve_only) {
#if OCAML_VERSION < 50200
    (void)alignment;
#endif
    char *start = NULL;
    if (size == POOL_BYTES && n_free_pools > 0)
        start = free_pools[--n_free_pools];
    size_t room = (size + POOL_BYTES - 1) / POOL_BYTES * POOL_BYTES;
    if (!start && room <= MAPPED - mapped) {
        start = region + mapped;
        mapped += room;
    }
    if (!start)
        return NULL;
    return reserve_only ? start : caml_plat_mem_commit(start, size);
}

void caml_plat_mem_decommit(void *start, uintptr_t size) {
    hooks->poison_bytes(start, size);
}

void caml_plat_mem_unmap(void *start, uintptr_t size) {
    hooks->poison_bytes(start, size);
    if (size == POOL_BYTES && n_free_pools < FREE_POOLS)
        free_pools[n_free_pools++] = start;
}

/* ---- malloc -------------------------------------------------------------------------------------
 */

static size_t class_of(size_t bytes) {
    size_t c = SMALLEST;
    while (((size_t)1 << c) < bytes)
        c++;
    return c;
}

static char *block_of(const struct note *n) {
    return region + MAPPED + (size_t)(n - notes) * UNIT;
}

static struct note *new_block(size_t c) {
    size_t size = (size_t)1 << c;
    struct note *n = &notes[free_blocks[c]];
    if (free_blocks[c]) {
        free_blocks[c] = n->next;
        return n;
    }
    if (size > MALLOCED - malloced)
        return NULL;
    n = &notes[malloced / UNIT];
    malloced += size;
    return n;
}

void *region_malloc(size_t bytes) {
    if (bytes > MALLOCED / 4)
        return NULL;
    size_t c = class_of(bytes + RED);
    struct note *n = new_block(c);
    if (!n)
        return NULL;
    *n = (struct note){.bytes = (uint32_t)bytes, .size_class = (uint32_t)c};
    char *start = block_of(n);
    hooks->poison_bytes(start, (size_t)1 << c);
    hooks->unpoison_bytes(start, bytes);
    memset(start, hooks->fill_byte, bytes);
    return start;
}

/* Of a block that the runtime has. */
static struct note *note_of(const void *start) {
    word at = (word)start - (word)(region + MAPPED);
    struct note *n = &notes[at / UNIT];
    if (at >= malloced || at % UNIT || n->is_free || n->size_class < SMALLEST)
        runtime_broken("the runtime frees what is no block of its memory");
    return n;
}

void region_free(void *start) {
    if (!start)
        return;
    struct note *n = note_of(start);
    n->is_free = true;
    n->next = free_blocks[n->size_class];
    free_blocks[n->size_class] = (uint32_t)(n - notes);
    hooks->poison_bytes(start, (size_t)1 << n->size_class);
}

void *region_calloc(size_t n, size_t size) {
    void *start = region_malloc(n * size);
    if (start)
        memset(start, 0, n * size);
    return start;
}

void *region_realloc(void *start, size_t bytes) {
    void *larger = region_malloc(bytes);
    if (!start || !larger)
        return larger;
    size_t before = note_of(start)->bytes;
    memcpy(larger, start, before < bytes ? before : bytes);
    region_free(start);
    return larger;
}
