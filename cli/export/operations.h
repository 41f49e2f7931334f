/*@ never */
/* SPDX-License-Identifier: MIT
 *
 * Part of an exported finding (mirror.h): the operations of a script, as the runner plays them.
 */
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
    /*@ protection */
    check_protection();
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
    if (!may_hold(o, mirror[m][SLOT_VALUE]) ||
        (!initialise && COLLECTOR.writable && !COLLECTOR.writable(o->tag)))
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
    if (COLLECTOR.write_raw)
        COLLECTOR.write_raw(enter(), m, SLOT_TO, i, w);
    else
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
    if (traits.whitens)
        check_new_colour(word_pointer(v) - 1);
    /*@ overlap */
    check_new_block(v, wosize);
    /*@ unreached */
    for (size_t i = 0; i < n_objects; i++)
        objects[i].gone |= objects[i].at == v;
    /*@ alloc closure raw exhaust */
    struct object o = {
        .wosize = wosize, .first_scanned = first_scanned, .tag = tag, .at = v, .fields = NULL};
    /*@ protection */
    o.snapshot = true;
    /*@ alloc closure raw exhaust */
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
    /*@ order */
    note_places();
    /*@ full minor compact exhaust stress */
    for (unsigned n = 0; n < times && COLLECTOR.collect; n++)
        COLLECTOR.collect(enter(), kind);
    /*@ graph overlap memory wear garbage own walk */
    check(kind == GC_FULL || (kind == GC_COMPACT && traits.compacts));
    /*@ dense */
    if (kind == GC_COMPACT && traits.compacts)
        check_dense();
    /*@ order */
    if (traits.slides)
        check_order();
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
    words -= live_words() < words ? live_words() : words;
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
        if (COLLECTOR.blit && !to.raw && !to.object->is_static) {
            COLLECTOR.blit(enter(), m, SLOT_FROM, i, SLOT_TO, j, n);
            memmove(to.object->fields + j, from.object->fields + i, n * sizeof(word));
            n = 0;
        }
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
