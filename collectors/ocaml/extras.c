/* SPDX-License-Identifier: MIT
 *
 * What the OCaml runtime has besides its collector (collectors/extras.h), by the functions that the
 * standard library's Ephemeron, Gc, Lazy, Obj and Marshal call.
 */
#include "collectors/ocaml/internal.h"

#include <string.h>

#include <caml/alloc.h>
#include <caml/custom.h>
#include <caml/finalise.h>
#include <caml/major_gc.h>
#include <caml/memory.h>
#include <caml/minor_gc.h>
#include <caml/mlvalues.h>
#include <caml/version.h>

#if OCAML_VERSION < 50000
#include <caml/weak.h>
static void lazy_forced(value lazy, value v) {
    caml_modify(&Field(lazy, 0), v);
    Tag_val(lazy) = Forward_tag;
}
static void darken_data(value e) {
    (void)e;
}
#else
#include "collectors/ocaml/weak.h"
#endif

/* In no header. */
extern value caml_obj_truncate(value block, value size), caml_obj_reachable_words(value block);
extern value caml_array_fill(value block, value i, value n, value v);
extern value caml_array_sub(value block, value i, value n), caml_array_append(value, value);
extern value caml_array_concat(value list), caml_obj_dup(value), caml_obj_with_tag(value, value);
extern value caml_update_dummy(value dummy, value like), caml_lazy_make_forward(value);

static value in_slot(unsigned slot) {
    return (value)root_get(slot);
}

static void finish_cycle(void) {
    runtime_empty_minor_heap();
    runtime_finish_cycle();
}

/* An ephemeron is about to change. */
static void look_anew(struct gc *g, word ephemeron) {
    if (is_masked(g, MASK_EPHEMERON) && runtime_has_seen(ephemeron))
        finish_cycle();
}

/* An old Forward block, which may be a key, is about to lead to v: nothing on the way may be young
 * while a cycle marks. */
static void leave_young(struct gc *g, value forward, value v) {
    enum { LONGEST = 64 };
    if (!is_masked(g, MASK_YOUNG_KEY) || !runtime_leads_keys() || Is_young(forward))
        return;
    for (unsigned n = 0; n < LONGEST && Is_block(v); n++) {
        if (Is_young(v))
            runtime_empty_minor_heap();
        if (!Is_in_heap(v) || Tag_val(v) != Forward_tag)
            return;
        v = Forward_val(v);
    }
}

void runtime_end_anew(struct gc *g) {
    g->making = 0;
    runtime_unguard();
    runtime_urgent(g);
    runtime_renew(g);
}

bool runtime_closures_are_old(const struct gc *g) {
    return g->config.mutators > 1 && is_masked(g, MASK_INFIX_PROMOTED);
}

/* A new closure, which nothing leads into yet, is promoted. */
static void leave_closure(const struct gc *g, value v) {
    if (Is_block(v) && Is_young(v) && Tag_val(v) == Closure_tag && runtime_closures_are_old(g))
        runtime_empty_minor_heap();
}

/* ---- ephemerons ---------------------------------------------------------------------------------
 */

static enum gc_result ephemeron(struct gc *g, unsigned dst, size_t keys) {
    runtime_begin(g);
    if (!runtime_has_room(g, keys + 1))
        return GC_OUT_OF_MEMORY;
    RUNTIME_GUARD(g, dst);
    root_set(dst, (word)caml_ephemeron_create((mlsize_t)keys));
    runtime_end_anew(g);
    return GC_OK;
}

bool keys_are_closures(const struct gc *g) {
    return is_masked(g, MASK_INFIX_KEY);
}

void ephemeron_set(struct gc *g, word ephemeron, size_t i, word v) {
    CAMLparam0();
    CAMLlocal2(to, what);
    to = (value)ephemeron;
    what = (value)v;
    look_anew(g, (word)to);
    if (i > 0 && Is_block(what) && Is_in_heap(what) && Tag_val(what) == Forward_tag)
        leave_young(g, what, Forward_val(what));
    if (i > 0 && is_masked(g, MASK_KEY_COLOUR) && runtime_mistakes_young())
        runtime_empty_minor_heap(); /* the key may be young; each cycle begins without young blocks
                                     */
    if (i == 0)
        caml_ephemeron_set_data(to, what);
    else
        caml_ephemeron_set_key(to, (mlsize_t)i - 1, what);
    CAMLreturn0;
}

static void set(struct gc *g, unsigned obj, size_t i, unsigned v) {
    runtime_begin(g);
    runtime_may_lack(g);
    ephemeron_set(g, root_get(obj), i, root_get(v));
    runtime_end_anew(g);
}

static void unset(struct gc *g, unsigned obj, size_t i) {
    runtime_begin(g);
    look_anew(g, root_get(obj));
    runtime_may_lack(g);
    if (i == 0)
        caml_ephemeron_unset_data(in_slot(obj));
    else
        caml_ephemeron_unset_key(in_slot(obj), (mlsize_t)i - 1);
    runtime_end_anew(g);
}

/* dst := a word of the runtime's, which may lead to what no root has reached. */
static void give(struct gc *g, unsigned dst, value v) {
    if (runtime_collections() == g->seen && runtime_is_shown(g, (word)v)) {
        runtime_slots(g)[dst] = shadow_show(&g->shadow, (word)v);
        return;
    }
    root_set(dst, (word)v);
    runtime_renew(g);
}

static bool get_field(value e, size_t i, value *v) {
    return i == 0 ? caml_ephemeron_get_data(e, v) : caml_ephemeron_get_key(e, (mlsize_t)i - 1, v);
}

static bool get(struct gc *g, unsigned dst, unsigned obj, size_t i) {
    value v = Val_unit;
    runtime_begin(g);
    runtime_may_lack(g);
    bool found = get_field(in_slot(obj), i, &v);
    runtime_unguard();
    if (found)
        give(g, dst, v);
    else
        runtime_keep_up(g); /* the runtime does what it has put off all the same */
    return found;
}

static bool is_set(struct gc *g, unsigned obj, size_t i) {
    runtime_begin(g);
    return i == 0 ? caml_ephemeron_data_is_set(in_slot(obj))
                  : caml_ephemeron_key_is_set(in_slot(obj), (mlsize_t)i - 1);
}

/* Is a block with the tag set there, dead or not? */
static bool holds(value e, size_t i, tag_t tag) {
    value v = Field(e, CAML_EPHE_DATA_OFFSET + i);
    return v != caml_ephe_none && Is_block(v) && Tag_val(v) == tag;
}

/* Darkens what is there, before an allocation may end the cycle: a custom block is given as it is,
 * another one is copied. */
static void darken_copied(struct gc *g, value e, size_t i) {
    value v;
    if (holds(e, i, Custom_tag) ? is_masked(g, MASK_COPY) : is_masked(g, MASK_COPY_ROOT))
        get_field(e, i, &v);
}

static bool copy_by_hand(value e, size_t i, value *v) {
    if (!get_field(e, i, v))
        return false;
    *v = caml_obj_dup(*v);
    return true;
}

static enum gc_result copy(struct gc *g, unsigned dst, unsigned obj, size_t i, size_t words,
                           bool *found) {
    value v = Val_unit;
    runtime_begin(g);
    if (!runtime_has_room(g, words))
        return GC_OUT_OF_MEMORY;
    RUNTIME_GUARD(g, dst);
    darken_copied(g, in_slot(obj), i);
    if (is_masked(g, MASK_COPY_ABSTRACT) && holds(in_slot(obj), i, Abstract_tag))
        *found = copy_by_hand(in_slot(obj), i, &v);
    else
        *found = i == 0 ? caml_ephemeron_get_data_copy(in_slot(obj), &v)
                        : caml_ephemeron_get_key_copy(in_slot(obj), (mlsize_t)i - 1, &v);
    if (*found) {
        root_set(dst, (word)v);
        leave_closure(g, v);
    }
    runtime_end_anew(g);
    return GC_OK;
}

static void blit(struct gc *g, unsigned src, size_t i, unsigned dst, size_t j, size_t n) {
    runtime_begin(g);
    look_anew(g, root_get(dst));
    if (i == 0 && is_masked(g, MASK_BLIT_DATA))
        darken_data(in_slot(src));
    runtime_may_lack(g);
    if (i == 0)
        caml_ephemeron_blit_data(in_slot(src), in_slot(dst));
    else
        caml_ephemeron_blit_key(in_slot(src), (mlsize_t)i - 1, in_slot(dst), (mlsize_t)j - 1,
                                (mlsize_t)n);
    runtime_end_anew(g);
}

/* ---- blocks that tell of their death
 * --------------------------------------------------------------
 */

static void finalise_custom(value v) {
    runtime_finalised((uint64_t)Long_val(Field(v, 1)));
}

static struct custom_operations resource_operations = {
    "isoheap.resource",         finalise_custom,
    custom_compare_default,     custom_hash_default,
    custom_serialize_default,   custom_deserialize_default,
    custom_compare_ext_default, custom_fixed_length_default};

/* Memory outside the heap that each claims to hold, as a bigarray does: it drives the collector's
 * speed. */
enum { RESOURCE_BYTES = 64 };

static value new_resource(struct gc *g, size_t words) {
    uintnat bytes = (words + CUSTOM_HIDDEN - 1) * sizeof(value);
    if (g->config.mutators > 1 && is_masked(g, MASK_EMPTY_HEAP))
        return caml_alloc_custom(&resource_operations, bytes, 0, 1);
    return caml_alloc_custom_mem(&resource_operations, bytes, RESOURCE_BYTES);
}

static enum gc_result resource(struct gc *g, unsigned dst, size_t words, uint64_t number) {
    runtime_begin(g);
    if (!runtime_has_room(g, words))
        return GC_OUT_OF_MEMORY;
    RUNTIME_GUARD(g, dst);
    value v = new_resource(g, words);
    word *fields = word_pointer((word)v);
    fields[1] = (word)Val_long((intnat)number);
    for (size_t i = 0; i < words; i++)
        fields[CUSTOM_HIDDEN + i] = 0;
    root_set(dst, (word)v);
    runtime_end_anew(g);
    return GC_OK;
}

static enum gc_result finalise_then(struct gc *g, unsigned obj, uint64_t number, bool last,
                                    const struct gc_finaliser *then) {
    runtime_begin(g);
    RUNTIME_GUARD_CALL(g);
    runtime_finalise(g, root_get(obj), number, last, then);
    runtime_end_anew(g);
    return GC_OK;
}

static enum gc_result finalise(struct gc *g, unsigned obj, uint64_t number, bool last) {
    return finalise_then(g, obj, number, last, NULL);
}

/* ---- blocks that change
 * ---------------------------------------------------------------------------
 */

/* As Lazy.force leaves it. */
static void forward(struct gc *g, unsigned obj, unsigned v) {
    runtime_begin(g);
    if (heap_has_ephemerons())
        leave_young(g, in_slot(obj), in_slot(v));
    runtime_may_lack(g);
    lazy_forced(in_slot(obj), in_slot(v));
    runtime_end_anew(g);
}

#if OCAML_VERSION < 50000 /* which has Obj.truncate */
/* Erases what leads to the block itself, also into its middle, behind its first n fields.  No
 * barrier: such a field keeps nothing alive that the block is not needed for. */
static void forget_itself(value v, size_t n) {
    uintnat bytes = Wosize_val(v) * sizeof(value);
    for (size_t i = n; i < Wosize_val(v); i++)
        if (Is_block(Field(v, i)) && (uintnat)Field(v, i) - (uintnat)v < bytes)
            Field(v, i) = Val_unit;
}

/* The block must not wait on the mark stack, neither before it is cut off nor since what is erased
 * has been darkened, as a white block that leads to itself is. */
static void stop_waiting(value v, size_t n) {
    if (runtime_waits((word)v))
        finish_cycle();
    else if (caml_gc_phase == Phase_mark && !Is_young(v) && Is_white_val(v) &&
             Tag_val(v) < No_scan_tag)
        forget_itself(v, n);
}

static void truncate_block(struct gc *g, unsigned obj, size_t n) {
    runtime_begin(g);
    if (is_masked(g, MASK_TRUNCATE))
        stop_waiting(in_slot(obj), n);
    bool fragment = Wosize_val(in_slot(obj)) == n + 1 && !Is_young(in_slot(obj));
    g->truncated |= !Is_young(in_slot(obj));
    caml_obj_truncate(in_slot(obj), Val_long((intnat)n));
    /* White as on the free list; and odd, since marking may read it as a value. */
    if (fragment && is_masked(g, MASK_FRAGMENT))
        word_pointer((word)in_slot(obj))[n] = header_make(0, WHITE, TAG_ABSTRACT);
    runtime_end_anew(g);
}
#endif

/* Array.fill, for any block with values. */
static void fill(struct gc *g, unsigned obj, size_t i, size_t n, unsigned v) {
    runtime_begin(g);
    runtime_may_lack(g);
    caml_array_fill(in_slot(obj), Val_long((intnat)i), Val_long((intnat)n), in_slot(v));
    runtime_end_anew(g);
}

/* ---- blocks made of others
 * ------------------------------------------------------------------------
 */

static enum gc_result made(struct gc *g, unsigned dst, value v) {
    root_set(dst, (word)v);
    leave_closure(g, v);
    runtime_end_anew(g);
    return GC_OK;
}

static enum gc_result sub(struct gc *g, unsigned dst, unsigned src, size_t i, size_t n) {
    runtime_begin(g);
    if (!runtime_has_room(g, n))
        return GC_OUT_OF_MEMORY;
    RUNTIME_GUARD(g, dst);
    return made(g, dst, caml_array_sub(in_slot(src), Val_long((intnat)i), Val_long((intnat)n)));
}

static value cons(value head, value tail) {
    CAMLparam2(head, tail);
    value cell = caml_alloc_small(2, 0);
    Field(cell, 0) = head;
    Field(cell, 1) = tail;
    CAMLreturn(cell);
}

/* Array.append, or Array.concat of three. */
static enum gc_result append(struct gc *g, unsigned dst, unsigned src, unsigned other, bool thrice,
                             size_t words) {
    runtime_begin(g);
    if (!runtime_has_room(g, words))
        return GC_OUT_OF_MEMORY;
    RUNTIME_GUARD(g, dst);
    if (!thrice)
        return made(g, dst, caml_array_append(in_slot(src), in_slot(other)));
    root_set(dst, (word)cons(in_slot(src), Val_emptylist));
    root_set(dst, (word)cons(in_slot(other), (value)root_get(dst)));
    root_set(dst, (word)cons(in_slot(src), (value)root_get(dst)));
    return made(g, dst, caml_array_concat((value)root_get(dst)));
}

static enum gc_result duplicate(struct gc *g, unsigned dst, unsigned src, unsigned tag,
                                size_t words) {
    runtime_begin(g);
    if (!runtime_has_room(g, words))
        return GC_OUT_OF_MEMORY;
    RUNTIME_GUARD(g, dst);
    bool same = tag == Tag_val(in_slot(src)); /* marking may be changing the header */
    return made(g, dst,
                same ? caml_obj_dup(in_slot(src))
                     : caml_obj_with_tag(Val_long((intnat)tag), in_slot(src)));
}

static void update(struct gc *g, unsigned obj, unsigned v) {
    runtime_begin(g);
    runtime_may_lack(g);
    caml_update_dummy(in_slot(obj), in_slot(v));
    runtime_end_anew(g);
}

static enum gc_result forwarding(struct gc *g, unsigned dst, unsigned v) {
    runtime_begin(g);
    if (!runtime_has_room(g, 1))
        return GC_OUT_OF_MEMORY;
    RUNTIME_GUARD(g, dst);
    return made(g, dst, caml_lazy_make_forward(in_slot(v)));
}

/* ---- memory
 * ---------------------------------------------------------------------------------------
 */

#if OCAML_VERSION < 50000
static void starve(struct gc *g, unsigned n) {
    runtime_begin(g);
    g->starving = n > 0;
    region_starve(n);
}
#endif

/* ---- counts
 * ---------------------------------------------------------------------------------------
 */

static size_t measure(struct gc *g, unsigned obj) {
    runtime_begin(g);
    if (g->unshared && is_masked(g, MASK_MEASURE))
        return SIZE_MAX;
    return (size_t)Long_val(caml_obj_reachable_words(in_slot(obj)));
}

const struct gc_extras ocaml_extras = {.ephemeron = ephemeron,
                                       .set = set,
                                       .unset = unset,
                                       .get = get,
                                       .blit = blit,
                                       .resource = resource,
                                       .forward = forward,
#if OCAML_VERSION < 50000
                                       .truncate = truncate_block,
                                       .clone = runtime_clone,
                                       .damage = runtime_damage,
                                       .starve = starve,
#endif
                                       .fill = fill,
                                       .finalise = finalise,
                                       .marshal = runtime_marshal,
                                       .measure = measure,
                                       .is_set = is_set,
                                       .copy = copy,
                                       .sub = sub,
                                       .append = append,
                                       .dup = duplicate,
                                       .update = update,
                                       .forwarding = forwarding,
                                       .finalise_then = finalise_then,
                                       .act = runtime_act};
