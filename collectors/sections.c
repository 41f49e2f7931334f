/* SPDX-License-Identifier: MIT
 *
 * The variables of a subject, saved and put back (sections.h).
 */
#define _GNU_SOURCE /* dl_iterate_phdr */
#include "collectors/sections.h"

#include <link.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* Red zones are between the variables; volatile keeps the loops from becoming calls that check. */
#define UNCHECKED __attribute__((no_sanitize("address"))) static

/* Four words at a time: this is done for every program. */
UNCHECKED void copy_words(volatile uint64_t *to, const volatile uint64_t *from, size_t n) {
    size_t i = 0;
    for (; i + 4 <= n; i += 4) {
        to[i] = from[i];
        to[i + 1] = from[i + 1];
        to[i + 2] = from[i + 2];
        to[i + 3] = from[i + 3];
    }
    for (; i < n; i++)
        to[i] = from[i];
}

UNCHECKED void clear_words(volatile uint64_t *to, size_t n) {
    size_t i = 0;
    for (; i + 4 <= n; i += 4)
        to[i] = to[i + 1] = to[i + 2] = to[i + 3] = 0;
    for (; i < n; i++)
        to[i] = 0;
}

/* from: NULL for zeros. */
UNCHECKED void write_bytes(volatile char *to, const volatile char *from, size_t bytes) {
    bool aligned = ((uintptr_t)to | (uintptr_t)from) % sizeof(uint64_t) == 0;
    size_t words = aligned ? bytes / sizeof(uint64_t) : 0, at = words * sizeof(uint64_t);
    if (from)
        copy_words((volatile void *)to, (const volatile void *)from, words);
    else
        clear_words((volatile void *)to, words);
    for (; at < bytes; at++)
        to[at] = from ? from[at] : 0;
}

static bool is_zero(const char *bytes, size_t n) {
    return n == 0 || (bytes[0] == 0 && memcmp(bytes, bytes + 1, n - 1) == 0);
}

bool sections_add(struct sections *s, void *start, void *stop) {
    size_t bytes = (size_t)((uintptr_t)stop - (uintptr_t)start);
    if (bytes == 0)
        return true;
    char *saved = s->n < SECTIONS ? malloc(bytes) : NULL;
    if (!saved)
        return false;
    write_bytes(saved, start, bytes);
    if (is_zero(saved, bytes)) {
        free(saved);
        saved = NULL;
    }
    s->of[s->n].start = start;
    s->of[s->n].saved = saved;
    s->of[s->n++].bytes = bytes;
    return true;
}

void sections_put_back(const struct sections *s) {
    for (unsigned i = 0; i < s->n; i++)
        write_bytes(s->of[i].start, s->of[i].saved, s->of[i].bytes);
}

void sections_close(struct sections *s) {
    for (unsigned i = 0; i < s->n; i++)
        free(s->of[i].saved);
    s->n = 0;
}

/* ---- the segments of a shared object ----------------------------------------------------------
 */

struct search {
    struct sections *sections;
    uintptr_t inside;
    bool found, added;
};

/* Does a segment of the object have the address? */
static bool has(const struct dl_phdr_info *object, uintptr_t inside) {
    for (unsigned i = 0; i < object->dlpi_phnum; i++) {
        const ElfW(Phdr) *p = &object->dlpi_phdr[i];
        if (p->p_type == PT_LOAD && inside - object->dlpi_addr - p->p_vaddr < p->p_memsz)
            return true;
    }
    return false;
}

/* Where what is read-only after relocation ends: it is the beginning of a segment. */
static uintptr_t relocated_end(const struct dl_phdr_info *object, uintptr_t start, uintptr_t end) {
    for (unsigned i = 0; i < object->dlpi_phnum; i++) {
        const ElfW(Phdr) *p = &object->dlpi_phdr[i];
        uintptr_t from = object->dlpi_addr + p->p_vaddr, to = from + p->p_memsz;
        if (p->p_type == PT_GNU_RELRO && from >= start && from < end)
            return to < end ? to : end;
    }
    return start;
}

/* dl_iterate_phdr visits the program first; it has no name. */
static int add_segments(struct dl_phdr_info *object, size_t size, void *context) {
    struct search *search = context;
    (void)size;
    if (!has(object, search->inside))
        return 0;
    search->found = true;
    search->added = object->dlpi_name && object->dlpi_name[0];
    for (unsigned i = 0; search->added && i < object->dlpi_phnum; i++) {
        const ElfW(Phdr) *p = &object->dlpi_phdr[i];
        uintptr_t start = object->dlpi_addr + p->p_vaddr, end = start + p->p_memsz;
        if (p->p_type == PT_LOAD && p->p_flags & PF_W)
            search->added = sections_add(search->sections,
                                         (void *)relocated_end(object, start, end), (void *)end);
    }
    return 1;
}

bool sections_add_object(struct sections *s, const void *inside) {
    struct search search = {.sections = s, .inside = (uintptr_t)inside};
    dl_iterate_phdr(add_segments, &search);
    return search.found && search.added;
}
