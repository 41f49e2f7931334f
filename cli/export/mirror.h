/*@ never */
/* SPDX-License-Identifier: MIT
 *
 * What `isoheap export` writes behind the header and the tables of a finding (export.c) is the text
 * of this file, assertions.h, operations.h and life.h: it plays the script on the collector and on
 * a mirror of it in plain C, and asserts what must hold.  They are no headers to include.
 *
 * A line with the mark above says for what the lines behind it are needed: operations, assertions
 * (graph, walk, garbage, overlap, memory, wear, own), what export_template.c names besides, or
 * always; an
 * indented one says it within the one before.  Others are left out, so that the exported file has
 * nothing that it does not use.
 *
 * This part: the mirror, and the collector with its hooks.
 */
/*@ always */

/* ---- the mirror: what the program has built, independent of the collector ---- */

struct object {
    size_t wosize, first_scanned; /* fields before first_scanned are raw */
    unsigned tag;
    bool is_static, reached;
    /*@ unreached */
    bool gone; /* swept, or its words are those of a later block */
    /*@ protection */
    bool snapshot, safe; /* of the cycle under way; protected by a gray block */
    /*@ always */
    word at; /* address in the collector, as far as it is known */
    word *fields;
};
static struct object *objects;
static size_t n_objects;
static word mirror[MUTATORS][GC_SLOTS]; /* what each slot must hold */

/* In the mirror a pointer is the number of an object and an offset in words. */
static bool is_reference(word w) {
    return w >> 48 == 0x0111 && is_pointer(w);
}
static struct object *object_of(word reference) {
    return &objects[reference >> 16 & 0xffffffff];
}
static word offset_of(word reference) {
    return (reference & 0xffff) >> 1;
}

/* A word of the mirror as the collector must have it, where addresses are known. */
static word resolve(word w) {
    return is_reference(w) ? object_of(w)->at + offset_of(w) * sizeof(word) : w;
}

static word new_object(struct object o, const word *content) {
    void *larger = realloc(objects, (n_objects + 1) * sizeof *objects);
    word *fields = malloc((o.wosize + 1) * sizeof *fields);
    if (!larger || !fields)
        exit(99);
    objects = larger;
    o.fields = memcpy(fields, content, o.wosize * sizeof *fields);
    objects[n_objects++] = o;
    return REFERENCE(n_objects - 1, 0);
}

/* ---- the collector ---- */

static struct gc *gc;
static gc_slots slots[GC_MUTATORS];

#if defined(__SANITIZE_ADDRESS__)
#define ADDRESS_SANITIZER
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define ADDRESS_SANITIZER
#endif
#endif
#ifdef ADDRESS_SANITIZER
#include <sanitizer/asan_interface.h>
#endif

/* No access to dead memory: a sanitizer report, or a word that points nowhere. */
static void poison(void *start, size_t words) {
#ifdef ADDRESS_SANITIZER
    __asan_poison_memory_region(start, words * sizeof(word));
#else
    for (size_t i = 0; i < words; i++)
        ((word *)start)[i] = (word)0x00dead0000000000;
#endif
}
static void unpoison(void *start, size_t words) {
#ifdef ADDRESS_SANITIZER
    __asan_unpoison_memory_region(start, words * sizeof(word));
#else
    (void)start;
    (void)words;
#endif
}
static void out_of_fuel(struct gc_hooks *hooks) {
    (void)hooks;
    assert(!"the collector took more steps than its heap has work for");
    abort();
}

static struct gc_hooks hooks = {.poison = poison, .unpoison = unpoison, .out_of_fuel = out_of_fuel};
static struct gc_config config = {.heap_words = HEAP,
                                  .nursery_words = NURSERY,
                                  .mark_stack = MARK_STACK,
                                  .slice_words = SLICE,
                                  .large_words = LARGE,
                                  .promotion_age = AGE,
                                  .variant = VARIANT,
                                  .kind = KIND,
                                  .mutators = MUTATORS,
                                  .slots = slots,
                                  .hooks = &hooks};
static struct collector_traits traits;

/*@ protection */
static void before_call(void);
/*@ always */

/* Before every call: as many steps as any collector needs for it. */
static struct gc *enter(void) {
    const uint64_t words = HEAP + 2 * NURSERY;
    /*@ protection */
    before_call();
    /*@ always */
    hooks.fuel = 4096 + 64 * words + words * words;
    return gc;
}
