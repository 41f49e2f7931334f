/*@ never */
/* SPDX-License-Identifier: MIT
 *
 * What `isoheap export` writes behind the header and the tables of a finding (export.c): plays the
 * script on the collector and on a mirror of it in plain C, and asserts what must hold.
 *
 * A line that begins with the mark above says for what the lines behind it are needed: operations,
 * assertions (graph, walk, garbage, overlap, memory, wear, own), or always; the others are left
 * out, so that the exported file has nothing that it does not use.
 */
/*@ always */

/* ---- the mirror: what the program has built, independent of the collector ---- */

struct object {
    size_t wosize, first_scanned; /* fields before first_scanned are raw */
    unsigned tag;
    bool is_static, reached;
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

/* Before every call: as many steps as any collector needs for it. */
static struct gc *enter(void) {
    hooks.fuel = 4096 + 64 * (uint64_t)HEAP + (uint64_t)HEAP * HEAP;
    return gc;
}
/*@ graph overlap memory wear garbage own walk */

/* ---- what must hold ---- */

static uint64_t checked; /* collections at the last check */
/*@ garbage answers exhaust */

/* Marks what the slots reach in the mirror; returns the words that it takes. */
static size_t live_objects;
static size_t reach(word w) {
    if (!is_reference(w) || object_of(w)->reached)
        return 0;
    struct object *o = object_of(w);
    size_t words = o->is_static ? 0 : o->wosize + 1;
    o->reached = true;
    live_objects += !o->is_static;
    for (size_t f = o->first_scanned; f < o->wosize; f++)
        words += reach(o->fields[f]);
    return words;
}
static size_t live_words(void) {
    size_t words = 0;
    live_objects = 0;
    for (size_t i = 0; i < n_objects; i++)
        objects[i].reached = false;
    for (unsigned m = 0; m < MUTATORS; m++)
        for (unsigned s = 0; s < GC_SLOTS; s++)
            words += reach(mirror[m][s]);
    return words;
}
/*@ graph */

/* Is this the header of a block of the heap?  True if the collector has no walk to tell. */
struct search {
    const word *header;
    bool found;
};
static void look_at(void *context, enum gc_extent kind, const word *header, size_t words) {
    struct search *s = context;
    (void)words;
    s->found |= kind == GC_LIVE && header == s->header;
}
static bool is_block(const word *header) {
    struct search s = {header, false};
    if (COLLECTOR.walk)
        COLLECTOR.walk(gc, look_at, &s);
    return s.found || !COLLECTOR.walk;
}

/* A word of the collector against its counterpart.  Blocks that are met for the first time get
 * their address; from then on each must be itself, and no other. */
static void match(word found, word expected) {
    if (!is_reference(expected)) {
        assert(found == expected && "an immediate or a raw word has changed");
        return;
    }
    struct object *o = object_of(expected);
    assert(is_pointer(found) && "a pointer has become an immediate");
    word block = found - offset_of(expected) * sizeof(word);
    if (o->reached) {
        assert(block == o->at && "one block has become two, or a pointer leads somewhere else");
        return;
    }
    assert((o->is_static || is_block(word_pointer(block) - 1)) &&
           "a live block is gone, or a pointer leads somewhere else");
    for (size_t i = 0; i < n_objects; i++)
        assert(!(objects[i].reached && objects[i].at == block) && "two blocks have become one");
    assert((traits.moves || o->at == block) && "a block has moved, or a pointer has changed");
    assert(header_wosize(header_of(block)) == o->wosize && "the size of a block has changed");
    assert(header_tag(header_of(block)) == o->tag && "the tag of a block has changed");
    o->at = block;
    o->reached = true;
    for (size_t f = 0; f < o->first_scanned; f++) {
        word w = word_pointer(block)[f];
        if (o->tag == TAG_CLOSURE && header_tag(w) == TAG_INFIX)
            w = header_recolour(w, WHITE);
        assert(w == o->fields[f] && "a raw word has changed");
    }
    for (size_t f = o->first_scanned; f < o->wosize; f++)
        match(word_pointer(block)[f], o->fields[f]);
}

static void check_graph(void) {
    for (size_t i = 0; i < n_objects; i++)
        objects[i].reached = false;
    for (unsigned m = 0; m < MUTATORS; m++)
        for (unsigned s = 0; s < GC_SLOTS; s++)
            match(slots[m][s], mirror[m][s]);
}
/*@ walk */

/* The walk must tile the heap; then come the entries of the free list. */
struct walk {
    const word *next, *end, *last_entry;
    size_t free, entries;
    bool after_free, after_full;
};
static void visit_entry(struct walk *w, const word *header) {
    assert(header >= w->end - HEAP && header < w->end && "a free-list entry is outside the heap");
    assert(header_colour(*header) == BLUE && "a free-list entry is not blue");
    w->entries++;
    assert(w->entries <= w->free && "the free list is cyclic");
    assert((!traits.sorted_free_list || header > w->last_entry) && "the free list is unsorted");
    w->last_entry = header;
}
static void visit(void *context, enum gc_extent kind, const word *header, size_t words) {
    struct walk *w = context;
    if (kind == GC_FREE_LIST_ENTRY) {
        if (traits.free_list)
            visit_entry(w, header);
        return;
    }
    if (!w->next) {
        w->next = header;
        w->end = header + HEAP;
    }
    assert(header == w->next && "the walk has a gap or goes back");
    assert(words > 0 && words <= (size_t)(w->end - header) && "a block exceeds the heap");
    w->next += words;
    if (kind == GC_LIVE) {
        assert(header_wosize(*header) + 1 == words && "a header disagrees with the walk");
        assert(header_tag(*header) != TAG_INFIX && "an infix header where a block must start");
        assert((!traits.whitens || header_colour(*header) == WHITE) && "a live block is not white");
    }
    if (kind == GC_FRAGMENT)
        assert(words == 1 && header_tag(*header) == 0 && "a fragment with a size or a tag");
    if (kind == GC_FREE && w->after_full && traits.merged_free_list)
        assert(!w->after_free && "two free blocks are adjacent");
    w->free += kind == GC_FREE;
    w->after_free = kind == GC_FREE;
}
static void check_walk(bool after_full) {
    struct walk w = {.after_full = after_full};
    if (!COLLECTOR.walk)
        return;
    COLLECTOR.walk(enter(), visit, &w);
    assert(w.next == w.end && "the walk ends before the heap does");
    assert((!traits.free_list || w.entries == w.free) && "a free block is not on the free list");
}
/*@ garbage */

/* After a full collection there is what the slots reach, and no more. */
static void count_live(void *context, enum gc_extent kind, const word *header, size_t words) {
    (void)header;
    (void)words;
    *(size_t *)context += kind == GC_LIVE;
}
static void check_garbage(void) {
    size_t live = 0;
    if (!COLLECTOR.walk || !traits.full_until_exact || traits.conservative)
        return;
    live_words();
    COLLECTOR.walk(enter(), count_live, &live);
    assert(live == live_objects && "an unreachable block has survived a full collection");
}
/*@ overlap */

/* Which words are in use: what the last walk found, and what was allocated since. */
static const word *heap;
static bool in_use[HEAP];
static void take_down(void *context, enum gc_extent kind, const word *header, size_t words) {
    (void)context;
    if (kind == GC_FREE_LIST_ENTRY)
        return;
    if (!heap)
        heap = header;
    for (size_t i = 0; i < words && kind == GC_LIVE; i++)
        in_use[header - heap + (ptrdiff_t)i] = true;
}
static void check_use(void) {
    if (!COLLECTOR.walk)
        return;
    heap = NULL;
    memset(in_use, 0, sizeof in_use);
    COLLECTOR.walk(enter(), take_down, NULL);
}
/*@ newblocks */
static void check_new_block(word v, size_t wosize) {
    const word *header = word_pointer(v) - 1;
    if (!COLLECTOR.walk)
        return;
    if (checked != hooks.collections) {
        checked = hooks.collections;
        check_use();
        return;
    }
    assert(header >= heap && header + wosize < heap + HEAP && "a new block is outside the heap");
    for (size_t i = 0; i <= wosize; i++) {
        assert(!in_use[header - heap + (ptrdiff_t)i] && "a new block overlaps a live one");
        in_use[header - heap + (ptrdiff_t)i] = true;
    }
}
/*@ memory */

/* Out of memory exactly when promised. */
static void look_for_room(void *context, enum gc_extent kind, const word *header, size_t words) {
    size_t *largest = context;
    (void)header;
    if ((kind == GC_FREE || kind == GC_UNUSED) && words - 1 > *largest)
        *largest = words - 1;
}
static size_t largest_free(void) {
    size_t largest = 0;
    if (COLLECTOR.walk)
        COLLECTOR.walk(enter(), look_for_room, &largest);
    return largest;
}
/*@ answers */
static void check_answer(enum gc_result result, size_t wosize) {
    if (traits.refusal == REFUSES_ANYTIME)
        return;
    if (result == GC_OK)
        assert(live_words() + wosize + 1 <= HEAP && "allocated although it does not fit");
    else if (traits.refusal == REFUSES_EXACTLY)
        assert(live_words() + wosize + 1 > HEAP && "refused although live + request fits");
    else
        assert(largest_free() < wosize && "refused although a free block is large enough");
}
/*@ graph walk garbage overlap own */

static void check(bool after_full) {
    checked = hooks.collections;
    (void)after_full;
    /*@ walk */
    check_walk(after_full);
    /*@ overlap */
    check_use();
    /*@ own */
    if (COLLECTOR.check)
        assert(COLLECTOR.check(enter()) == NULL && "the collector's own check has failed");
    /*@ graph */
    check_graph();
    /*@ garbage */
    if (after_full)
        check_garbage();
    /*@ graph walk garbage overlap own */
}
/*@ memory wear */

static void check(bool after_full) {
    checked = hooks.collections;
    (void)after_full;
}
/*@ always */

/* ---- operations ---- */

enum { SLOT_NEW = GC_SLOTS - 4, SLOT_VALUE, SLOT_TO, SLOT_FROM }; /* our own registers */

static void set(unsigned m, unsigned slot, word found, word expected) {
    slots[m][slot] = found;
    mirror[m][slot] = expected;
}

/*@ init */
static word fresh = WORD_UNIT; /* the block that may be initialised */

/*@ operations */
/* At the end of every operation: our registers are empty, and a collection is checked. */
static void done(unsigned m) {
    /*@ graph overlap memory wear garbage own walk */
    if (hooks.collections != checked)
        check(false);
    /*@ always */
    for (unsigned s = SLOT_NEW; s < GC_SLOTS; s++)
        set(m, s, WORD_UNIT, WORD_UNIT);
}
/*@ drop */

static void drop(unsigned m, unsigned dst) {
    set(m, dst, WORD_UNIT, WORD_UNIT);
    /*@ init */
    fresh = WORD_UNIT;
    /*@ drop */
    done(m);
}
/*@ alloc closure store init fill set */

/* Puts a word of the script into a register: SLOT(n) is what slot n holds. */
static void take_value(unsigned m, unsigned dst, word w) {
    bool slot = w >> 48 == 0x0222 && is_pointer(w);
    set(m, dst, slot ? slots[m][(w & 0xffff) >> 1] : w, slot ? mirror[m][(w & 0xffff) >> 1] : w);
}
/*@ set */

static void copy(unsigned m, unsigned dst, word value) {
    take_value(m, dst, value);
    done(m);
}
/*@ alloc closure store init fill blit load read infix exhaust */

/* Puts the block that a slot points (perhaps by an infix pointer) at into a register. */
static void take_block(unsigned m, unsigned dst, unsigned slot) {
    word offset = offset_of(mirror[m][slot]);
    set(m, dst, slots[m][slot] - offset * sizeof(word), mirror[m][slot] - 2 * offset);
}
/*@ store init fill blit load */

/* The block in a slot and the fields that an operation may use; NULL if there is none. */
struct target {
    struct object *object;
    size_t first, count;
    bool raw;
};
static struct target target_of(unsigned m, unsigned slot) {
    struct target t = {NULL, 0, 0, false};
    if (!is_reference(mirror[m][slot]))
        return t;
    t.object = object_of(mirror[m][slot]);
    t.raw = t.object->tag >= TAG_NO_SCAN;
    t.first = t.raw ? 0 : t.object->first_scanned;
    t.count = t.object->wosize - t.first;
    return t;
}
/*@ alloc closure store init fill blit exhaust */

/* Static blocks hold no pointers into the heap. */
static bool may_hold(const struct object *o, word value) {
    return !is_reference(value) || !o->is_static || object_of(value)->is_static;
}

/* Field i of the block in SLOT_TO := SLOT_VALUE. */
static void store_field(unsigned m, size_t i, bool initialise) {
    struct object *o = object_of(mirror[m][SLOT_TO]);
    if (!may_hold(o, mirror[m][SLOT_VALUE]))
        return;
    if (initialise && COLLECTOR.init)
        COLLECTOR.init(enter(), m, SLOT_TO, i, SLOT_VALUE);
    else if (!initialise && COLLECTOR.store)
        COLLECTOR.store(enter(), m, SLOT_TO, i, SLOT_VALUE);
    else
        word_pointer(slots[m][SLOT_TO])[i] = slots[m][SLOT_VALUE];
    object_of(mirror[m][SLOT_TO])->fields[i] = mirror[m][SLOT_VALUE];
}
/*@ store init fill blit */

static void store_raw(unsigned m, size_t i, word w) {
    word_pointer(slots[m][SLOT_TO])[i] = w;
    object_of(mirror[m][SLOT_TO])->fields[i] = w;
}
/*@ blit load read */

/* SLOT_VALUE := field i of the block in SLOT_FROM. */
static void load_field(unsigned m, size_t i) {
    word expected = object_of(mirror[m][SLOT_FROM])->fields[i];
    if (COLLECTOR.load)
        COLLECTOR.load(enter(), m, SLOT_VALUE, SLOT_FROM, i);
    else
        slots[m][SLOT_VALUE] = word_pointer(slots[m][SLOT_FROM])[i];
    mirror[m][SLOT_VALUE] = expected;
    /*@ graph */
    if (hooks.collections == checked)
        assert((is_reference(expected) ? is_pointer(slots[m][SLOT_VALUE])
                                       : slots[m][SLOT_VALUE] == expected) &&
               "a field reads back as something else");
    /*@ blit load read */
}
/*@ alloc closure raw exhaust */

/* ---- allocation ---- */

static word image[HEAP + 8192]; /* the content of a new block */

/* A block with this content in SLOT_NEW; false if it was refused. */
static bool allocate(unsigned m, unsigned tag, size_t wosize, size_t first_scanned) {
    enum gc_result result = GC_OUT_OF_MEMORY;
    if (!traits.max_wosize || wosize <= traits.max_wosize) {
        result = COLLECTOR.alloc(enter(), m, SLOT_NEW, wosize, tag, image);
        while (result == GC_PENDING && COLLECTOR.poll)
            result = COLLECTOR.poll(enter(), m);
        /*@ memory */
        check_answer(result, wosize);
        /*@ alloc closure raw exhaust */
    }
    if (result != GC_OK) {
        set(m, SLOT_NEW, WORD_UNIT, WORD_UNIT);
        return false;
    }
    word v = slots[m][SLOT_NEW];
    /*@ walk */
    assert(is_pointer(v) && "an allocation left no block in its slot");
    assert(header_wosize(header_of(v)) == wosize && header_tag(header_of(v)) == tag &&
           "a new block has not the header that was asked for");
    /*@ overlap */
    check_new_block(v, wosize);
    /*@ alloc closure raw exhaust */
    struct object o = {
        .wosize = wosize, .first_scanned = first_scanned, .tag = tag, .at = v, .fields = NULL};
    set(m, SLOT_NEW, v, new_object(o, image));
    /*@ init */
    fresh = mirror[m][SLOT_NEW];
    /*@ alloc closure raw exhaust */
    return true;
}
/*@ alloc closure exhaust fail */

static void fill_image(size_t words) {
    for (size_t i = 0; i < words; i++)
        image[i] = WORD_UNIT;
}
/*@ full minor compact exhaust stress */

static void collect(enum gc_collection kind) {
    unsigned times = kind == GC_FULL && traits.full_until_exact > 1 ? traits.full_until_exact : 1;
    for (unsigned n = 0; n < times && COLLECTOR.collect; n++)
        COLLECTOR.collect(enter(), kind);
    /*@ graph overlap memory wear garbage own walk */
    check(kind == GC_FULL);
    /*@ full minor compact exhaust stress */
}
/*@ full minor compact */

static void collection(unsigned m, enum gc_collection kind) {
    collect(kind);
    /*@ init */
    fresh = WORD_UNIT;
    /*@ full minor compact */
    done(m);
}
/*@ alloc closure raw */

/* What the config asks for at this allocation: a collection, or a request that must fail. */
static void before_allocation(unsigned m) {
    (void)m;
    /*@ stress fail */
    static unsigned allocations;
    allocations++;
    /*@ stress */
    if (allocations % STRESS == 0)
        collect(GC_FULL);
    /*@ fail */
    if (allocations == FAIL) {
        fill_image(HEAP);
        allocate(m, 0, HEAP, 0);
        set(m, SLOT_NEW, WORD_UNIT, WORD_UNIT);
    }
    /*@ alloc closure raw */
}
/*@ alloc closure */

/* dst := a block of wosize fields, the first of which are n_code raw words (of a closure); then
 * come n values, and unit. */
static void alloc(unsigned m, unsigned dst, unsigned tag, size_t wosize, size_t n_code,
                  const word *code, size_t n, const word *values) {
    before_allocation(m);
    fill_image(wosize);
    for (size_t i = 0; i < n_code; i++)
        image[i] = code[i];
    if (allocate(m, tag, wosize, tag == TAG_CLOSURE ? n_code : 0)) {
        take_block(m, SLOT_TO, SLOT_NEW);
        for (size_t i = 0; i < n; i++) {
            take_value(m, SLOT_VALUE, values[i]);
            store_field(m, n_code + i, true);
        }
        set(m, dst, slots[m][SLOT_TO], mirror[m][SLOT_TO]);
    }
    done(m);
}
/*@ raw */

/* dst := a block of wosize words: n of them given, then `rest`. */
static void alloc_raw(unsigned m, unsigned dst, unsigned tag, size_t wosize, word rest, size_t n,
                      const word *words) {
    before_allocation(m);
    for (size_t i = 0; i < wosize; i++)
        image[i] = i < n ? words[i] : rest;
    if (allocate(m, tag, wosize, tag ? wosize : 0))
        set(m, dst, slots[m][SLOT_NEW], mirror[m][SLOT_NEW]);
    /*@ init */
    fresh = WORD_UNIT;
    /*@ raw */
    done(m);
}
/*@ exhaust */

/* Fills the heap with blocks that hang together in dst, until `left` words are free. */
static void exhaust(unsigned m, unsigned dst, size_t left) {
    size_t words = HEAP, want = LARGEST;
    set(m, dst, WORD_UNIT, WORD_UNIT);
    collect(GC_FULL);
    words -= live_words();
    while (words > left + 1 && want > 0) {
        if (want > words - left - 1)
            want = words - left - 1;
        fill_image(want);
        if (!allocate(m, 0, want, 0)) {
            want /= 2;
            continue;
        }
        words -= want + 1;
        take_block(m, SLOT_TO, SLOT_NEW);
        set(m, SLOT_VALUE, slots[m][dst], mirror[m][dst]);
        store_field(m, 0, true);
        set(m, dst, slots[m][SLOT_TO], mirror[m][SLOT_TO]);
        set(m, SLOT_NEW, WORD_UNIT, WORD_UNIT);
    }
    /*@ init */
    fresh = WORD_UNIT;
    /*@ exhaust */
    done(m);
}
/*@ load read store fill blit slice kind poll */

/* ---- fields; indexes are taken modulo the fields that exist ---- */

static void end_operation(unsigned m) {
    /*@ init */
    fresh = WORD_UNIT; /* loads and stores may collect */
                       /*@ load read store fill blit slice kind poll */
    done(m);
}
/*@ load read */

/* Any word: raw ones too. */
static void read_back(unsigned m, unsigned src, size_t i) {
    if (is_reference(mirror[m][src]) && object_of(mirror[m][src])->wosize > 0) {
        struct object *o = object_of(mirror[m][src]);
        i %= o->wosize;
        take_block(m, SLOT_FROM, src);
        if (i >= o->first_scanned)
            load_field(m, i);
        /*@ graph */
        word w = word_pointer(slots[m][SLOT_FROM])[i];
        if (o->tag == TAG_CLOSURE && header_tag(w) == TAG_INFIX && i < o->first_scanned)
            w = header_recolour(w, WHITE);
        if (i < o->first_scanned)
            assert(w == o->fields[i] && "a raw word reads back as something else");
        /*@ load read */
    }
    end_operation(m);
}
/*@ load */

static void load(unsigned m, unsigned dst, unsigned src, size_t i) {
    struct target t = target_of(m, src);
    if (!t.object || t.count == 0 || t.raw) {
        read_back(m, src, i);
        return;
    }
    take_block(m, SLOT_FROM, src);
    load_field(m, t.first + i % t.count);
    set(m, dst, slots[m][SLOT_VALUE], mirror[m][SLOT_VALUE]);
    end_operation(m);
}
/*@ store init fill */

/* n fields from i on := value. */
static void fill(unsigned m, unsigned dst, size_t i, size_t n, word value, bool initialise) {
    struct target t = target_of(m, dst);
    take_value(m, SLOT_VALUE, value);
    word expected = mirror[m][SLOT_VALUE];
    if (t.object && t.count > 0 && !(t.raw && is_reference(expected)) &&
        may_hold(t.object, expected)) {
        i %= t.count;
        n = n < t.count - i ? n : t.count - i;
        take_block(m, SLOT_TO, dst);
        for (size_t k = i; k < i + n; k++) {
            if (t.raw)
                store_raw(m, k, expected);
            else
                store_field(m, t.first + k, initialise);
        }
    }
}
/*@ store fill */

static void store(unsigned m, unsigned dst, size_t i, size_t n, word value) {
    fill(m, dst, i, n, value, false);
    end_operation(m);
}
/*@ init */

/* Initialising, if the block has been allocated since the last safepoint. */
static void init(unsigned m, unsigned dst, size_t i, word value) {
    bool is_fresh = is_reference(mirror[m][dst]) && is_reference(fresh) &&
                    object_of(mirror[m][dst]) == object_of(fresh);
    fill(m, dst, i, 1, value, is_fresh);
    done(m);
}
/*@ blit */

/* n fields from src.i to dst.j, as memmove. */
static void blit(unsigned m, unsigned src, size_t i, unsigned dst, size_t j, size_t n) {
    struct target from = target_of(m, src), to = target_of(m, dst);
    if (from.object && to.object && from.raw == to.raw && from.count > 0 && to.count > 0) {
        i %= from.count;
        j %= to.count;
        n = n < from.count - i ? n : from.count - i;
        n = n < to.count - j ? n : to.count - j;
        i += from.first;
        j += to.first;
        take_block(m, SLOT_FROM, src);
        take_block(m, SLOT_TO, dst);
        bool backwards = from.object == to.object && i < j;
        for (size_t k = 0; k < n; k++) {
            size_t at = backwards ? n - 1 - k : k;
            if (to.raw) {
                store_raw(m, j + at, object_of(mirror[m][SLOT_FROM])->fields[i + at]);
            } else {
                load_field(m, i + at);
                store_field(m, j + at, false);
            }
        }
    }
    end_operation(m);
}
/*@ infix */

/* dst := entry k of the closure in src; of another block itself. */
static void infix(unsigned m, unsigned dst, unsigned src, size_t k) {
    if (is_reference(mirror[m][src])) {
        const struct object *o = object_of(mirror[m][src]);
        size_t entry[CLOSURE_FUNCTIONS] = {0}, n = 1;
        for (size_t f = 2; o->tag == TAG_CLOSURE && f < o->first_scanned; f++)
            if (TAKES_INFIX && n < CLOSURE_FUNCTIONS && header_tag(o->fields[f]) == TAG_INFIX &&
                header_wosize(o->fields[f]) == f + 1)
                entry[n++] = f + 1;
        take_block(m, SLOT_FROM, src);
        word offset = entry[k % n];
        set(m, dst, slots[m][SLOT_FROM] + offset * sizeof(word), mirror[m][SLOT_FROM] + 2 * offset);
    }
    done(m);
}
/*@ slice */

static void slice(unsigned m, size_t budget) {
    if (COLLECTOR.step) {
        COLLECTOR.step(enter(), budget ? budget : SLICE);
        /*@ graph overlap memory wear garbage own walk */
        check(false);
        /*@ slice */
    }
    end_operation(m);
}
/*@ kind */

static void switch_kind(unsigned m, unsigned kind) {
    if (COLLECTOR.switch_kind)
        COLLECTOR.switch_kind(enter(), kind);
    end_operation(m);
}
/*@ poll */

static void poll(unsigned m) {
    if (COLLECTOR.poll)
        COLLECTOR.poll(enter(), m);
    end_operation(m);
}
/*@ always */

/* ---- beginning and end ---- */

static word statics[STATIC_WORDS + 1];

/* A word of the initial heap as the collector must see it. */
static word resolve(word w) {
    return is_reference(w) ? object_of(w)->at + offset_of(w) * sizeof(word) : w;
}

/*@ image */
/* Lays the heap out where the collector says. */
static void build(void) {
    size_t words = HEAP_USED, used[2] = {0, 0};
    word *base = COLLECTOR.image(enter(), &words), *start[2] = {NULL, statics};
    start[0] = base;
    for (size_t i = 0; i < n_items; i++) {
        const struct item *item = &items[i];
        word *header = start[item->is_static] + used[item->is_static];
        used[item->is_static] += item->wosize + 1;
        *header = header_make(item->wosize, item->is_static ? BLACK : item->colour, item->tag);
        if (item->named)
            new_object((struct object){.wosize = item->wosize,
                                       .first_scanned = item->first_scanned,
                                       .tag = item->tag,
                                       .is_static = item->is_static,
                                       .at = pointer_word(header + 1)},
                       item->words);
    }
    used[0] = used[1] = 0;
    for (size_t i = 0; i < n_items; i++) { /* again: now every block has its address */
        const struct item *item = &items[i];
        word *header = start[item->is_static] + used[item->is_static];
        used[item->is_static] += item->wosize + 1;
        for (size_t f = 0; f < item->wosize; f++)
            header[1 + f] = !item->named              ? WORD_UNIT
                            : f < item->first_scanned ? item->words[f]
                                                      : resolve(item->words[f]);
    }
    if (words > used[0]) {
        base[used[0]] = words - used[0] == 1 ? header_make(0, WHITE, 0)
                                             : header_make(words - used[0] - 1, BLUE, 0);
        for (size_t i = used[0] + 1; i < words; i++)
            base[i] = WORD_UNIT;
    }
    for (size_t i = 0; i < n_roots; i++)
        set(roots[i].mutator, roots[i].slot, resolve(roots[i].value), roots[i].value);
    COLLECTOR.adopt(enter(), words);
}
/*@ build */

/* A word of the initial heap into a register; block n is in field n of the spine. */
enum { SPINE = SLOT_FROM };
static void load_word(unsigned dst, unsigned obj, size_t i) {
    if (COLLECTOR.load)
        COLLECTOR.load(enter(), 0, dst, obj, i);
    else
        slots[0][dst] = word_pointer(slots[0][obj])[i];
}
static void store_word(unsigned obj, size_t i, unsigned value) {
    if (COLLECTOR.store)
        COLLECTOR.store(enter(), 0, obj, i, value);
    else
        word_pointer(slots[0][obj])[i] = slots[0][value];
}
static void take_word(unsigned dst, word w) {
    if (!is_reference(w)) {
        slots[0][dst] = w;
        return;
    }
    if (object_of(w)->is_static)
        slots[0][dst] = object_of(w)->at;
    else
        load_word(dst, SPINE, w >> 16 & 0xffffffff);
    slots[0][dst] += offset_of(w) * sizeof(word);
}
static void build_block(size_t wosize, unsigned tag, const word *words) {
    static word content[HEAP + 1];
    for (size_t i = 0; i < wosize; i++)
        content[i] = words && !is_reference(words[i]) ? words[i] : WORD_UNIT;
    if (COLLECTOR.alloc(enter(), 0, SLOT_NEW, wosize, tag, content) != GC_OK)
        exit(99);
}
static void build_static(const struct item *item) {
    static size_t used;
    word *header = statics + used;
    used += item->wosize + 1;
    *header = header_make(item->wosize, BLACK, item->tag);
    memcpy(header + 1, item->words, item->wosize * sizeof(word));
    objects[n_objects - 1].at = pointer_word(header + 1);
}

/* The collector offers no image: the same blocks by alloc and store. */
static void build(void) {
    size_t named = 0;
    for (size_t i = 0; i < n_items; i++)
        named += items[i].named;
    if (named)
        build_block(named, 0, NULL);
    slots[0][SPINE] = slots[0][SLOT_NEW];
    for (size_t i = 0; i < n_items; i++) {
        const struct item *item = &items[i];
        if (item->named)
            new_object((struct object){.wosize = item->wosize,
                                       .first_scanned = item->first_scanned,
                                       .tag = item->tag,
                                       .is_static = item->is_static},
                       item->words);
        if (item->is_static)
            build_static(item);
        else if (item->wosize > 0)
            build_block(item->wosize, item->tag, item->words);
        if (item->named && !item->is_static)
            store_word(SPINE, n_objects - 1, SLOT_NEW);
    }
    for (size_t o = 0; o < n_objects; o++)
        for (size_t f = objects[o].first_scanned; f < objects[o].wosize; f++) {
            if (objects[o].is_static)
                word_pointer(objects[o].at)[f] = resolve(objects[o].fields[f]);
            if (objects[o].is_static || !is_reference(objects[o].fields[f]))
                continue;
            take_word(SLOT_TO, REFERENCE(o, 0));
            take_word(SLOT_VALUE, objects[o].fields[f]);
            store_word(SLOT_TO, f, SLOT_VALUE);
        }
    for (size_t i = 0; i < n_roots; i++) {
        take_word(SLOT_VALUE, roots[i].value);
        set(roots[i].mutator, roots[i].slot, slots[0][SLOT_VALUE], roots[i].value);
    }
    for (size_t o = 0; o < n_objects; o++) {
        take_word(SLOT_VALUE, REFERENCE(o, 0));
        objects[o].at = slots[0][SLOT_VALUE];
    }
    for (unsigned s = SLOT_NEW; s < GC_SLOTS; s++)
        slots[0][s] = WORD_UNIT;
}
/*@ always */

static void begin(void) {
    traits = COLLECTOR.traits;
    if (COLLECTOR.promise)
        COLLECTOR.promise(&config, &traits);
    for (unsigned m = 0; m < GC_MUTATORS; m++)
        for (unsigned s = 0; s < GC_SLOTS; s++)
            slots[m][s] = WORD_UNIT;
    for (unsigned m = 0; m < MUTATORS; m++)
        for (unsigned s = 0; s < GC_SLOTS; s++)
            mirror[m][s] = WORD_UNIT;
    gc = COLLECTOR.open();
    if (!gc)
        exit(99);
    COLLECTOR.reset(enter(), &config);
    build();
    /*@ graph overlap memory wear garbage own walk */
    check(false);
    /*@ always */
}

static void end(void) {
    /*@ graph overlap memory wear garbage own walk */
    check(false);
    /*@ garbage memory wear */
    /* A heap that has become empty serves what a fresh one serves. */
    static word units[HEAP];
    size_t largest = HEAP - 1;
    enum gc_result result;
    for (unsigned m = 0; m < MUTATORS; m++)
        for (unsigned s = 0; s < GC_SLOTS; s++)
            set(m, s, WORD_UNIT, WORD_UNIT);
    for (size_t i = 0; i < HEAP; i++)
        units[i] = WORD_UNIT;
    for (unsigned n = 0; n < traits.full_until_exact; n++)
        COLLECTOR.collect(enter(), GC_FULL);
    if (traits.max_wosize && traits.max_wosize < largest)
        largest = traits.max_wosize;
    /*@ garbage */
    if (traits.renews)
        check_garbage();
    /*@ garbage memory wear */
    result = traits.renews && traits.full_until_exact
                 ? COLLECTOR.alloc(enter(), 0, SLOT_NEW, largest, 0, units)
                 : GC_OK;
    (void)result;
    /*@ memory */
    assert((result == GC_OK || largest_free() < largest) && "refused although it fits");
    /*@ wear */
    assert(result == GC_OK && "the empty heap does not serve what a fresh one serves");
    /*@ always */
    COLLECTOR.close(gc);
}
