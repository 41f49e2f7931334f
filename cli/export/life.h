/*@ never */
/* SPDX-License-Identifier: MIT
 *
 * Part of an exported finding (mirror.h): the initial heap, and what is done at the end.
 */
/*@ always */

/* ---- beginning and end ---- */

static word statics[STATIC_WORDS + 1];

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
    /*@ tower */
    if (traits.refines)
        hooks.refinement = judge;
    /*@ cakeml */
    if (traits.refines_words)
        hooks.refinement = judge;
    /*@ always */
    for (size_t i = 0; i < n_items; i++)
        if (traits.max_wosize && items[i].wosize > traits.max_wosize) {
            puts("passed"); /* the program means nothing to this collector */
            exit(0);
        }
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
    /*@ minors promoted */
    hooks.minor = around_minor;
    /*@ always */
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
