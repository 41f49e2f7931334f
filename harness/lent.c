/* SPDX-License-Identifier: MIT
 *
 * What a collector gets pointers to, in pages of its own (lent.h).
 */
#define _DEFAULT_SOURCE 1 /* MAP_ANONYMOUS, MAP_NORESERVE */
#include "harness/lent.h"

#include "views/bits.h"

#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

__attribute__((weak)) void __asan_poison_memory_region(void const volatile *, size_t);
__attribute__((weak)) void __asan_unpoison_memory_region(void const volatile *, size_t);

enum { GUARD_BYTES = 1 << 20, FENCE_WORDS = 8 };
#define FENCE_WORD UINT64_C(0xdededededededede) /* even: no address of any machine */

/* Fences of the parts, which are always there; those of the arenas follow. */
enum { FENCE_SLOTS, FENCE_STATICS, FENCE_CONFIG, FENCE_HOOKS, FENCES_OWN };

enum { ATOM_BYTES = 2 * LENT_ATOMS * sizeof(word) };

static const size_t head = offsetof(struct gc_hooks, fuel); /* bytes of the hooks that are read */

static size_t page_bytes(void) {
    return (size_t)sysconf(_SC_PAGESIZE);
}
static size_t whole_pages(size_t bytes) {
    size_t page = page_bytes();
    return (bytes + page - 1) / page * page;
}

/* ---- fences -----------------------------------------------------------------------------------
 */

/* They are poisoned: neither instrumented, nor made a call of memset or memcmp. */
__attribute__((no_sanitize("address"))) static void raise_fence(const struct fence *f) {
    volatile word *w = f->start;
    for (size_t i = 0; i < f->words; i++)
        w[i] = FENCE_WORD;
    if (__asan_poison_memory_region)
        __asan_poison_memory_region(f->start, f->words * sizeof(word));
}

__attribute__((no_sanitize("address"))) static bool is_whole(const struct fence *f) {
    word differs = 0;
    for (size_t i = 0; i < f->words; i++)
        differs |= f->start[i] ^ FENCE_WORD;
    return !differs;
}

static void lower_fence(struct fence *f) {
    if (__asan_unpoison_memory_region && f->start)
        __asan_unpoison_memory_region(f->start, f->words * sizeof(word));
}

/* Puts a fence of the parts where it belongs now, whole again. */
static void set_fence(struct lent *l, unsigned number, void *start, const char *detail) {
    struct fence *f = &l->fences[number];
    if (f->start == start && !l->renew)
        return;
    lower_fence(f);
    *f = (struct fence){start, FENCE_WORDS, detail};
    raise_fence(f);
}

void lent_fence(struct lent *l, word *start, size_t words, const char *detail) {
    if (l->n_fences == LENT_FENCES)
        return;
    struct fence *f = &l->fences[l->n_fences++];
    *f = (struct fence){start, words, detail};
    raise_fence(f);
}

/* ---- life -------------------------------------------------------------------------------------
 */

/* Makes the next part of the map accessible: so many bytes in whole pages, with a guard before.
 * Returns its end; NULL if the system refuses. */
static char *open_part(const struct lent *l, size_t *at, size_t bytes) {
    char *start = l->map + *at + GUARD_BYTES;
    *at += GUARD_BYTES + whole_pages(bytes);
    return mprotect(start, whole_pages(bytes), PROT_READ | PROT_WRITE) == 0 ? l->map + *at : NULL;
}

static void *owner_place(const struct gc_hooks *hooks) {
    return (char *)(uintptr_t)hooks - sizeof(void *);
}

/* The functions at the end of a page, the counters at the beginning of the next one. */
static bool place_hooks(struct lent *l, char *end, void *owner) {
    char *counters = end - page_bytes();
    l->hooks = (struct gc_hooks *)(void *)(counters - head);
    memcpy(owner_place(l->hooks), &owner, sizeof owner);
    return mprotect(counters - page_bytes(), page_bytes(), PROT_READ) == 0;
}

/* Two words for each tag, of which the second is nobody's: the end of the part. */
static void place_atoms(struct lent *l, char *end) {
    l->atoms = (word *)(void *)(end - whole_pages(ATOM_BYTES));
    for (unsigned tag = 0; tag < LENT_ATOMS; tag++) {
        l->atoms[2 * tag + 1] = FENCE_WORD;
        if (__asan_poison_memory_region)
            __asan_poison_memory_region(&l->atoms[2 * tag + 1], sizeof(word));
    }
}

/* What an earlier run has left there is none of this one's business. */
__attribute__((no_sanitize("address"))) static void mend_atom(const struct lent *l, unsigned tag) {
    *(volatile word *)&l->atoms[2 * tag + 1] = FENCE_WORD;
}

word lent_atom(struct lent *l, unsigned tag) {
    l->atoms[2 * tag] = header_make(0, BLACK, tag);
    mend_atom(l, tag);
    set_bit(l->atoms_lent, tag);
    return pointer_word(&l->atoms[2 * tag + 1]);
}

/* Has a field been written that none of those has? */
__attribute__((no_sanitize("address"))) static bool atoms_are_whole(const struct lent *l) {
    bool whole = true;
    for (unsigned tag = 0; tag < LENT_ATOMS; tag++)
        if (bit_at(l->atoms_lent, tag))
            whole &= l->atoms[2 * tag + 1] == FENCE_WORD;
    return whole;
}

const char *lent_damage(struct lent *l) {
    bool atoms = false;
    for (unsigned i = 0; i < l->n_fences; i++)
        if (!is_whole(&l->fences[i])) {
            l->renew = true;
            return l->fences[i].detail;
        }
    for (unsigned i = 0; i < LENT_ATOMS / 64; i++)
        atoms |= l->atoms_lent[i] != 0;
    return atoms && !atoms_are_whole(l) ? "a field of a block without fields has been written"
                                        : NULL;
}

/* Units that can only be read, to the end of the part. */
static bool fill_units(struct lent *l, char *end) {
    size_t bytes = whole_pages(LENT_UNITS * sizeof(word));
    word *start = (word *)(void *)(end - bytes);
    for (size_t i = 0; i < bytes / sizeof(word); i++)
        start[i] = WORD_UNIT;
    l->units_end = (word *)(void *)end;
    return mprotect(start, bytes, PROT_READ) == 0;
}

bool lent_open(struct lent *l, void *owner) {
    size_t slots = sizeof(gc_slots) * GC_MUTATORS + FENCE_WORDS * sizeof(word), at = 0;
    size_t statics = (LENT_STATICS + FENCE_WORDS) * sizeof(word), page = page_bytes();
    *l = (struct lent){.n_fences = FENCES_OWN};
    size_t content = LENT_CONTENT * sizeof(word), units = LENT_UNITS * sizeof(word);
    l->size = 8 * GUARD_BYTES + whole_pages(ATOM_BYTES) + whole_pages(slots) +
              whole_pages(statics) + whole_pages(content) + whole_pages(units) + 3 * page;
    void *map = mmap(NULL, l->size, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (map == MAP_FAILED)
        return false;
    l->map = map;
    char *atoms_end = open_part(l, &at, ATOM_BYTES);
    l->slots_end = open_part(l, &at, slots);
    l->statics_end = open_part(l, &at, statics);
    l->content_end = (word *)(void *)open_part(l, &at, content);
    char *units_end = open_part(l, &at, units);
    char *config_end = open_part(l, &at, page), *hooks_end = open_part(l, &at, 2 * page);
    if (!atoms_end || !l->slots_end || !l->statics_end || !l->content_end || !units_end ||
        !config_end || !hooks_end || !fill_units(l, units_end) ||
        !place_hooks(l, hooks_end, owner)) {
        lent_close(l);
        return false;
    }
    place_atoms(l, atoms_end);
    l->config = (struct gc_config *)(void *)config_end - 1;
    lent_begin(l, 1, 0);
    return true;
}

void lent_close(struct lent *l) {
    if (!l->map)
        return;
    for (unsigned i = 0; i < FENCES_OWN; i++)
        lower_fence(&l->fences[i]);
    if (__asan_unpoison_memory_region && l->atoms)
        __asan_unpoison_memory_region(l->atoms, ATOM_BYTES);
    munmap(l->map, l->size);
    l->map = NULL;
}

void *lent_owner(const struct gc_hooks *hooks) {
    void *owner;
    memcpy(&owner, owner_place(hooks), sizeof owner);
    return owner;
}

/* ---- in use -----------------------------------------------------------------------------------
 */

void lent_hooks(struct lent *l, const struct gc_hooks *hooks) {
    char *start = (char *)l->hooks + head - page_bytes();
    if (memcmp(l->hooks, hooks, head) == 0)
        return;
    if (mprotect(start, page_bytes(), PROT_READ | PROT_WRITE) == 0)
        memcpy(l->hooks, hooks, head);
    mprotect(start, page_bytes(), PROT_READ);
}

void lent_begin(struct lent *l, unsigned rows, size_t static_words) {
    l->slots = (gc_slots *)(void *)l->slots_end - rows;
    l->statics = (word *)(void *)l->statics_end - static_words;
    l->n_fences = FENCES_OWN;
    memset(l->atoms_lent, 0, sizeof l->atoms_lent);
    set_fence(l, FENCE_SLOTS, (word *)(void *)l->slots - FENCE_WORDS,
              "words before the slots have been written");
    set_fence(l, FENCE_STATICS, l->statics - FENCE_WORDS,
              "words before the static blocks have been written");
    set_fence(l, FENCE_CONFIG, (word *)(void *)l->config - FENCE_WORDS,
              "words before the config that the collector was lent have been written");
    set_fence(l, FENCE_HOOKS, l->hooks + 1,
              "words behind the hooks that the collector was lent have been written");
    l->renew = false;
    for (unsigned m = 0; m < rows; m++)
        for (unsigned i = 0; i < GC_SLOTS; i++)
            l->slots[m][i] = WORD_UNIT;
}

const word *lent_content(struct lent *l, const word *content, size_t words) {
    return words ? memcpy(l->content_end - words, content, words * sizeof(word)) : l->content_end;
}

const word *lent_units(const struct lent *l, size_t words) {
    return l->units_end - words;
}
