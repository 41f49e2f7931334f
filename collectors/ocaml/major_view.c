/* SPDX-License-Identifier: MIT
 *
 * A look at the runtime's marking: its file, compiled as it is, and a function that sees its types.
 */
#if defined(__clang__) || defined(__GNUC__)
#pragma GCC diagnostic ignored "-Wall"
#pragma GCC diagnostic ignored "-Wextra"
#pragma GCC diagnostic ignored "-Wpedantic"
#pragma GCC diagnostic ignored "-Wshadow"
#pragma GCC diagnostic ignored "-Wundef"
#pragma GCC diagnostic ignored "-Wstrict-prototypes"
#pragma GCC diagnostic ignored "-Wmissing-prototypes"
#endif
#include "major_gc.c"

#include <stdbool.h>
#include <stdint.h>

#include <caml/version.h>

struct gc;
typedef void gc_visit_words(struct gc *, const uint64_t *first, const uint64_t *end);
void major_gray(struct gc *, gc_visit_words *visit);
bool major_has_seen(uint64_t ephemeron), major_waits(uint64_t block);

/* The ephemerons that are to be looked at stand behind those that have been. */
bool major_has_seen(uint64_t ephemeron) {
    value *e = &caml_ephe_list_head;
    while (e != ephes_to_check && *e != (value)NULL && *e != (value)ephemeron)
        e = &Field(*e, CAML_EPHE_LINK_OFFSET);
    return e != ephes_to_check && *e == (value)ephemeron;
}

static void gray_block(struct gc *g, gc_visit_words *visit, const uint64_t *hp) {
    if (Is_black_hd(*hp) && Tag_hd(*hp) < No_scan_tag)
        visit(g, hp + 1, hp + 1 + Wosize_hd(*hp));
}

#if OCAML_VERSION < 41400
static bool is_of(const mark_entry *e, value block) {
    return e->block == block;
}

static void gray_entry(struct gc *g, gc_visit_words *visit, const mark_entry *e) {
    const uint64_t *fields = (const uint64_t *)e->block;
    visit(g, fields + e->offset, fields + Wosize_val(e->block));
}

/* From block to block, the last one included. */
static void gray_chunk(struct gc *g, gc_visit_words *visit, char *chunk) {
    const uint64_t *p = (const uint64_t *)Chunk_redarken_start(chunk);
    for (; p <= (const uint64_t *)Chunk_redarken_end(chunk); p += Wosize_hd(p[-1]) + 1)
        gray_block(g, visit, p - 1);
}
#else
static bool is_of(const mark_entry *e, value block) {
    return e->start >= &Field(block, 0) && e->start < &Field(block, Wosize_val(block));
}

static void gray_entry(struct gc *g, gc_visit_words *visit, const mark_entry *e) {
    visit(g, (const uint64_t *)e->start, (const uint64_t *)e->end);
}

/* The rest of a block, and all that are behind it. */
static void gray_chunk(struct gc *g, gc_visit_words *visit, char *chunk) {
    const heap_chunk_head *head = Chunk_head(chunk);
    const uint64_t *end = (const uint64_t *)head->redarken_end;
    if (end <= (const uint64_t *)head->redarken_first.start)
        return;
    gray_entry(g, visit, &head->redarken_first);
    const uint64_t *hp = (const uint64_t *)head->redarken_first.end;
    for (; hp < end; hp += Wosize_hd(*hp) + 1)
        gray_block(g, visit, hp);
}
#endif

void major_gray(struct gc *g, gc_visit_words *visit) {
    const struct mark_stack *stack = Caml_state->mark_stack;
    for (uintnat i = 0; i < stack->count; i++)
        gray_entry(g, visit, &stack->stack[i]);
    for (char *chunk = caml_heap_start; chunk; chunk = Chunk_next(chunk))
        gray_chunk(g, visit, chunk);
}

bool major_waits(uint64_t block) {
    const struct mark_stack *stack = Caml_state->mark_stack;
    for (uintnat i = 0; i < stack->count; i++)
        if (is_of(&stack->stack[i], (value)block))
            return true;
    return false;
}
