/* SPDX-License-Identifier: MIT
 *
 * What a domain in a thread of the system does with blocks (threads.h), by the functions that C
 * code linked with the runtime would call.
 */
#include "collectors/ocaml5/threads/threads.h"

#include "collectors/ocaml5/threads/internal.h"
#include "collectors/ocaml5/versions.h"

#include <stdatomic.h>

#include <caml/alloc.h>
#include <caml/custom.h>
#include <caml/gc_ctrl.h>
#include <caml/major_gc.h>
#include <caml/memory.h>
#include <caml/minor_gc.h>
#include <caml/mlvalues.h>
#include <caml/signals.h>

/* In no header. */
extern value caml_array_blit(value from, value i, value to, value j, value n);
extern value caml_lazy_update_to_forcing(value lazy), caml_lazy_update_to_forward(value lazy);

static value in_slot(unsigned slot) {
    return (value)root_get(slot);
}

static void pending(void) {
    runtime_urgent(parallel_mine());
}

static value allocate(size_t wosize, unsigned tag) {
    if (tag == Custom_tag)
        return caml_alloc_custom(&custom_plain, (wosize + CUSTOM_HIDDEN - 1) * sizeof(value), 0, 1);
    if (wosize <= Max_young_wosize && wosize < parallel_mine()->config.large_words)
        return caml_alloc_small((mlsize_t)wosize, (tag_t)tag);
    return caml_alloc_shr((mlsize_t)wosize, (tag_t)tag);
}

/* Fields are written as OCaml code initialises a block, by plain stores. */
static void alloc(unsigned dst, size_t wosize, unsigned tag, const word *raw) {
    value v = allocate(wosize, tag);
    word *fields = word_pointer((word)v);
    if (tag == Custom_tag) {
        fields[1] = WORD_UNIT;
        fields += CUSTOM_HIDDEN;
    }
    for (size_t i = 0; i < wosize; i++)
        fields[i] = raw[i];
    root_set(dst, (word)v);
    pending();
}

/* The block may be another domain's, which has just published the pointer. */
static void load(unsigned dst, unsigned obj, size_t i) {
    root_set(dst,
             (word)atomic_load_explicit(&Op_atomic_val(in_slot(obj))[i], memory_order_acquire));
}

static void store(unsigned obj, size_t i, unsigned v) {
    caml_modify(&Field(in_slot(obj), i), in_slot(v));
}

static void blit(unsigned src, size_t i, unsigned dst, size_t j, size_t n) {
    caml_array_blit(in_slot(src), Val_long((intnat)i), in_slot(dst), Val_long((intnat)j),
                    Val_long((intnat)n));
    pending();
}

/* As the standard library's CamlinternalLazy does it: who comes second may not go on. */
static void force(unsigned obj, unsigned v) {
    if (caml_lazy_update_to_forcing(in_slot(obj)) != Val_int(0))
        return;
    caml_modify(&Field(in_slot(obj), 0), in_slot(v));
    caml_lazy_update_to_forward(in_slot(obj));
}

static void collect(enum gc_collection kind) {
    if (kind == GC_MINOR)
        runtime_empty_minor_heap();
    else if (kind == GC_COMPACT)
        runtime_compact(parallel_mine());
    else
        runtime_full_major();
    pending();
}

static void slice(size_t budget) {
    runtime_step(parallel_mine(), budget);
}

static void kind(unsigned k) {
    runtime_set(parallel_mine(), k);
    pending();
}

static void poll(void) {
    if (Caml_check_gc_interrupt(Caml_state))
        caml_handle_gc_interrupt();
}

static void rest(void (*body)(void)) {
    caml_enter_blocking_section();
    body();
    caml_leave_blocking_section();
}

/* ---- when domain 0 is alone ---------------------------------------------------------------------
 */

static size_t n_blocks;

static void count_pool(const struct heap_pool *p) {
    for (const word *at = p->first; at + p->each <= p->end; at += p->each)
        n_blocks += *at != 0;
}

static void count_large(word *header) {
    (void)header;
    n_blocks++;
}

static size_t blocks(void) {
    n_blocks = 0;
    heap_pools(count_pool);
    heap_large(count_large);
    return n_blocks;
}

static void count(struct parallel_counts *c) {
    c->minor = (uint64_t)atomic_load(&caml_minor_collections_count);
    c->major = (uint64_t)caml_major_cycles_completed;
    c->compactions = runtime_compactions();
}

const struct parallel_runtime ISOHEAP_COLLECTOR = {
    .start = parallel_start,
    .spawn = parallel_spawn,
    .join = parallel_join,
    .drop = parallel_drop,
    .publish = parallel_publish,
    .receive = parallel_receive,
    .row = parallel_row,
    .get = root_get,
    .set = root_set,
    .alloc = alloc,
    .load = load,
    .store = store,
    .blit = blit,
    .force = force,
    .collect = collect,
    .slice = slice,
    .kind = kind,
    .poll = poll,
    .rest = rest,
    .mine = parallel_mine,
    .extras = &ocaml_extras,
    .blocks = blocks,
    .count = count,
};
