/* SPDX-License-Identifier: MIT
 *
 * The runtime's malloc: what it is given depends on its requests since the start alone.
 *
 * The runtime keeps its chunks in the order of their addresses, and sweeps and allocates in that
 * order.  The addresses of the system's malloc depend on what ran before, so the same program would
 * take another course.  This one begins anew with every program.  Large blocks, the chunks among
 * them, lie by turns above and below all others, so that both orders occur.
 */
#define _DEFAULT_SOURCE 1 /* MAP_ANONYMOUS, MAP_NORESERVE */
#include "collectors/ocaml/internal.h"

#include <string.h>
#include <sys/mman.h>

enum {
    BYTES = 1 << 30,     /* address space only until touched */
    KEPT = 1 << 26,      /* touched bytes that the next program may have */
    BLOCKS = 1 << 14,    /* as many at a time, free ones included */
    UNIT = 64,           /* of sizes */
    LARGE = 1 << 10,     /* bytes from which a block may lie below */
    RED_ZONE_MOST = 2048 /* bytes behind a block that are poisoned */
};

/* MemorySanitizer, if the program has it: what is handed out has not been written. */
__attribute__((weak)) void __msan_allocated_memory(const volatile void *, size_t);

static struct gc_hooks *hooks;
static char *region, *low, *high; /* what is in use: [low, high) */
static struct block {
    char *start;
    size_t bytes, size; /* asked for; rounded up, without the red zone */
    bool is_free;
} blocks[BLOCKS];
static unsigned n_blocks, n_free, n_large;
static struct {
    bool limited, asks; /* the program has said so; the call under way may be refused memory */
    bool refused;
    unsigned left; /* requests that are served */
} hunger;

static size_t red_zone(size_t size) {
    size_t eighth = size / 8 / UNIT * UNIT;
    return eighth < UNIT ? UNIT : eighth > RED_ZONE_MOST ? RED_ZONE_MOST : eighth;
}

static size_t words_of(size_t bytes) {
    return (bytes + sizeof(word) - 1) / sizeof(word);
}

static void poison(char *start, const char *end) {
    hooks->poison(start, (size_t)(end - start) / sizeof(word));
}

bool region_open(void) {
    if (region)
        return true;
    void *map = mmap(NULL, BYTES, PROT_READ | PROT_WRITE,
                     MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (map == MAP_FAILED)
        return false;
    region = map;
    low = high = region + BYTES / 2;
    return true;
}

void region_reset(struct gc_hooks *own_hooks) {
    hooks = own_hooks;
    if (high - low > KEPT)
        madvise(low, (size_t)(high - low), MADV_DONTNEED);
    else
        poison(low, high);
    low = high = region + BYTES / 2;
    n_blocks = n_free = n_large = 0;
    memset(&hunger, 0, sizeof hunger);
}

static struct block *reuse(size_t size) {
    for (unsigned i = 0; i < n_blocks && n_free > 0; i++)
        if (blocks[i].is_free && blocks[i].size == size) {
            n_free--;
            return &blocks[i];
        }
    return NULL;
}

static struct block *extend(size_t size) {
    size_t room = size + red_zone(size);
    bool below = size >= LARGE && n_large++ % 2 == 1;
    if (n_blocks == BLOCKS || room > (size_t)(below ? low - region : region + BYTES - high))
        return NULL;
    char *start = below ? low - room : high;
    if (below)
        low = start;
    else
        high += room;
    poison(start + size, start + room);
    blocks[n_blocks] = (struct block){.start = start, .size = size};
    return &blocks[n_blocks++];
}

void region_starve(unsigned first) {
    hunger.limited = first > 0;
    hunger.left = first ? first - 1 : 0;
    hunger.refused = false;
}

void region_may_refuse(bool may) {
    hunger.asks = may;
}

bool region_has_refused(void) {
    return hunger.refused;
}

/* Small blocks come from what a process has got already. */
static bool is_refused(size_t bytes) {
    if (!hunger.limited || !hunger.asks || bytes < LARGE)
        return false;
    hunger.refused |= hunger.left == 0;
    hunger.left -= hunger.left > 0;
    return hunger.refused;
}

void *region_malloc(size_t bytes) {
    if (bytes > BYTES / 4 || is_refused(bytes))
        return NULL;
    size_t size = (bytes + UNIT) / UNIT * UNIT; /* at least one unit */
    struct block *b = reuse(size);
    if (!b)
        b = extend(size);
    if (!b)
        return NULL;
    b->is_free = false;
    b->bytes = bytes;
    hooks->unpoison(b->start, words_of(bytes));
    if (__msan_allocated_memory)
        __msan_allocated_memory(b->start, bytes);
    poison(b->start + words_of(bytes) * sizeof(word), b->start + size);
    return b->start;
}

static struct block *block_at(const void *start) {
    for (unsigned i = 0; i < n_blocks; i++)
        if (blocks[i].start == start && !blocks[i].is_free)
            return &blocks[i];
    runtime_broken("the runtime frees what is no block of its memory");
    return NULL; /* not reached */
}

void region_free(void *start) {
    if (!start)
        return;
    struct block *b = block_at(start);
    b->is_free = true;
    n_free++;
    poison(b->start, b->start + b->size);
}

void *region_realloc(void *start, size_t bytes) {
    void *larger = region_malloc(bytes);
    if (!start || !larger)
        return larger;
    size_t before = block_at(start)->bytes;
    memcpy(larger, start, before < bytes ? before : bytes);
    region_free(start);
    return larger;
}
