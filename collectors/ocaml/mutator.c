/* SPDX-License-Identifier: MIT
 *
 * What a program does with the blocks of the OCaml runtime, by the functions that C code linked
 * with it would call (internal.h).
 *
 * Every operation reads the slots into the runtime's roots, and writes the shadow anew if the
 * runtime has collected meanwhile.
 */
#include "collectors/ocaml/internal.h"

#include <string.h>

#include <caml/alloc.h>
#include <caml/custom.h>
#include <caml/memory.h>
#include <caml/mlvalues.h>

extern value caml_array_blit(value from, value i, value to, value j, value n); /* in no header */

/* ---- between operations -------------------------------------------------------------------------
 */

void runtime_begin(struct gc *g) {
#if !defined(ISOHEAP_DOMAINS) && !defined(ISOHEAP_THREADS) /* there others may have */
    if (runtime_collections() != g->seen)
        runtime_broken("an operation has collected, and the shadow is that of before");
#endif
    shadow_read_slots(&g->shadow);
    g->clean = g->exact = false;
    g->making = 0;
}

void runtime_renew(struct gc *g) {
    g->seen = runtime_collections();
    g->stale = false;
    runtime_show(g);
    g->config.hooks->collections++;
}

void runtime_keep_up(struct gc *g) {
    if (g->stale || runtime_collections() != g->seen)
        runtime_renew(g);
}

/* What the runtime has put off comes as it would between two steps of an OCaml program. */
void runtime_end(struct gc *g) {
    g->making = 0;
    runtime_unguard();
    runtime_urgent(g);
    runtime_keep_up(g);
}

static value root_value(unsigned slot) {
    return (value)root_get(slot);
}

/* Is the block the runtime's, or one that lies outside its heap? */
static bool is_inside(struct gc *g, unsigned slot) {
    return root_get(slot) != runtime_slots(g)[slot];
}

/* ---- the mutator --------------------------------------------------------------------------------
 */

bool runtime_fits(const struct gc *g, size_t words) {
    return !g->shadow.overflow && g->shadow.used + g->shadow.hidden + words <= g->config.heap_words;
}

/* Marks to the end, again and again: pointers are led past Forward blocks, which then go, and the
 * data that a key which is one hides is shown, or gone. */
static void make_room(struct gc *g, size_t words) {
    enum { CYCLES = 4 }; /* the one under way, two that see each pointer and block from the start */
    for (unsigned n = 0; n < CYCLES && !runtime_fits(g, words); n++) {
        runtime_empty_minor_heap();
        runtime_finish_cycle();
        runtime_renew(g);
    }
}

bool runtime_has_room(struct gc *g, size_t wosize) {
    g->making = wosize + 1;
    if (!runtime_fits(g, wosize + 1)) {
        runtime_renew(g); /* what has died since makes room */
        if (g->shadow.hidden || heap_has_forward())
            make_room(g, wosize + 1);
        if (!runtime_fits(g, wosize + 1))
            return false;
    }
    sampling_leave_out(g, wosize + 1, wosize + 1 + CUSTOM_HIDDEN);
    return true;
}

static value allocate(struct gc *g, size_t wosize, unsigned tag) {
    if (tag == Custom_tag)
        return caml_alloc_custom(&custom_plain, (wosize + CUSTOM_HIDDEN - 1) * sizeof(value), 0, 1);
    bool old = tag == Closure_tag && runtime_closures_are_old(g);
    if (!old && wosize <= Max_young_wosize && wosize < g->config.large_words)
        return caml_alloc_small((mlsize_t)wosize, (tag_t)tag);
    return caml_alloc_shr((mlsize_t)wosize, (tag_t)tag);
}

enum gc_result runtime_alloc(struct gc *g, unsigned m, unsigned dst, size_t wosize, unsigned tag,
                             const word *raw) {
    (void)m;
    runtime_begin(g);
    if (!runtime_has_room(g, wosize))
        return GC_OUT_OF_MEMORY;
    RUNTIME_GUARD(g, dst);
    value v = allocate(g, wosize, tag);
    word *fields = word_pointer((word)v);
    if (tag == Custom_tag) {
        fields[1] = WORD_UNIT;
        fields += CUSTOM_HIDDEN;
    }
    for (size_t i = 0; i < wosize; i++)
        fields[i] = runtime_word(tag, raw[i]);
    root_set(dst, (word)v);
    runtime_slots(g)[dst] = g->shadow.synced[root_row][dst] = WORD_UNIT;
    uint64_t seen = g->seen;
    runtime_end(g);
    if (g->seen == seen)
        runtime_slots(g)[dst] = g->shadow.synced[root_row][dst] = runtime_show_new(g, (word)v);
    return GC_OK;
}

static word *shadow_field(struct gc *g, unsigned obj, size_t i) {
    return word_pointer(runtime_slots(g)[obj]) + i;
}

void runtime_may_lack(const struct gc *g) {
    if (g->starving)
        region_may_refuse(true);
}

/* As into a block that has just been allocated, also where a field has been initialised before. */
void runtime_init(struct gc *g, unsigned m, unsigned obj, size_t i, unsigned v) {
    (void)m;
    runtime_begin(g);
    *shadow_field(g, obj, i) = runtime_slots(g)[v];
    if (!is_inside(g, obj))
        return;
    Field(root_value(obj), i) = Val_unit;
    runtime_may_lack(g);
    caml_initialize(&Field(root_value(obj), i), root_value(v));
    runtime_unguard();
}

enum gc_result runtime_store(struct gc *g, unsigned m, unsigned obj, size_t i, unsigned v) {
    (void)m;
    runtime_begin(g);
    *shadow_field(g, obj, i) = runtime_slots(g)[v];
    if (!is_inside(g, obj))
        return GC_OK;
    runtime_may_lack(g);
    caml_modify(&Field(root_value(obj), i), root_value(v));
    runtime_unguard();
    return GC_OK;
}

enum gc_result runtime_load(struct gc *g, unsigned m, unsigned dst, unsigned obj, size_t i) {
    (void)m;
    runtime_begin(g);
    word *slots = runtime_slots(g);
    slots[dst] = is_inside(g, obj) ? shadow_show(&g->shadow, (word)Field(root_value(obj), i))
                                   : *shadow_field(g, obj, i);
    return GC_OK;
}

void runtime_write_raw(struct gc *g, unsigned m, unsigned obj, size_t i, word raw) {
    (void)m;
    runtime_begin(g);
    *shadow_field(g, obj, i) = raw;
    if (!is_inside(g, obj))
        return;
    value v = root_value(obj);
    size_t place = i + (Tag_val(v) == Custom_tag ? CUSTOM_HIDDEN : 0);
    word_pointer((word)v)[place] = runtime_word(Tag_val(v), raw);
}

/* Array.blit, for any block with values.  It may make the collection that it has caused. */
enum gc_result runtime_blit(struct gc *g, unsigned m, unsigned src, size_t i, unsigned dst,
                            size_t j, size_t n) {
    (void)m;
    runtime_begin(g);
    memmove(shadow_field(g, dst, j), shadow_field(g, src, i), n * sizeof(word));
    runtime_may_lack(g);
    if (is_inside(g, dst))
        caml_array_blit(root_value(src), Val_long((intnat)i), root_value(dst), Val_long((intnat)j),
                        Val_long((intnat)n));
    runtime_end(g);
    return GC_OK;
}

word runtime_shown_at(struct gc *g, word shown) {
    word v = shadow_original(&g->shadow, shown);
    return v == WORD_UNIT ? 0 : v;
}
