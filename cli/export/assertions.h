/*@ never */
/* SPDX-License-Identifier: MIT
 *
 * Part of an exported finding (mirror.h): what must hold, for each kind of violation.
 */
/*@ tower */

/* ---- what must hold ---- */

/* Every state of the levels; the oracle stands above. */
static void judge(struct gc_hooks *h, void *view) {
    static struct tower_oracle oracle;
    bool holds = tower_holds(&oracle, view);
    (void)h;
    if (!holds)
        fprintf(stderr, "%s\n", oracle.broken);
    assert(holds && "a level does not refine the one above");
}
/*@ cakeml */

/* ---- what must hold ---- */

/* Every state of the levels; the oracle stands above. */
static void judge(struct gc_hooks *h, void *view) {
    static struct cakeml_oracle oracle;
    bool holds = !((struct cakeml_view *)view)->lists || cakeml_holds(&oracle, view);
    (void)h;
    if (!holds)
        fprintf(stderr, "%s\n", oracle.broken);
    assert(holds && "words and heap elements disagree, or the layout is not that of the kind");
}
/*@ graph overlap memory wear garbage own walk */

/* ---- what must hold ---- */

static uint64_t checked; /* collections at the last check */
/*@ garbage answers exhaust protection */

/* Marks what the slots reach in the mirror; returns the words that it takes. */
static size_t live_objects;
static size_t reach_from(word w) {
    if (!is_reference(w) || object_of(w)->reached)
        return 0;
    struct object *o = object_of(w);
    size_t words = o->is_static ? 0 : o->wosize + 1;
    o->reached = true;
    live_objects += !o->is_static;
    for (size_t f = o->first_scanned; f < o->wosize; f++)
        words += reach_from(o->fields[f]);
    return words;
}
static size_t live_words(void) {
    size_t words = 0;
    live_objects = 0;
    for (size_t i = 0; i < n_objects; i++)
        objects[i].reached = false;
    for (unsigned m = 0; m < MUTATORS; m++)
        for (unsigned s = 0; s < GC_SLOTS; s++)
            words += reach_from(mirror[m][s]);
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
/*@ unreached */

/* Blocks do not move: garbage, too, is as the mutator left it until it is swept. */
static void check_unreached(void) {
    for (size_t i = 0; i < n_objects; i++) {
        struct object *o = &objects[i];
        o->gone |= !o->is_static && !is_block(word_pointer(o->at) - 1);
        for (size_t f = o->first_scanned; f < o->wosize && !o->gone; f++)
            assert(word_pointer(o->at)[f] == resolve(o->fields[f]) &&
                   "a block, reachable or not, is not as the mutator left it");
    }
}
/*@ walk newblocks protection */

static struct gc_cycle cycle_now(void) {
    return COLLECTOR.cycle ? COLLECTOR.cycle(gc) : (struct gc_cycle){.phase = GC_PHASE_IDLE};
}
/*@ protection */

/* What could be reached when a cycle began stays protected while it marks: it is marked, or a gray
 * block leads to it through white ones.  A cycle may begin in any call, with the slots before it.
 */
static uint64_t next_cycle;
static void before_call(void) {
    struct gc_cycle cycle = {.phase = GC_PHASE_IDLE};
    if (n_objects > 0) /* there is a heap */
        cycle = cycle_now();
    if (cycle.phase != GC_PHASE_IDLE)
        return;
    next_cycle = cycle.begun + 1;
    live_words();
    for (size_t i = 0; i < n_objects; i++)
        objects[i].snapshot = objects[i].reached && !objects[i].is_static;
}
static bool has_colour(const struct object *o, unsigned colour) {
    return !o->is_static && header_colour(header_of(o->at)) == colour;
}
static void protect(const struct object *o) {
    for (size_t f = o->first_scanned; f < o->wosize; f++) {
        struct object *to = is_reference(o->fields[f]) ? object_of(o->fields[f]) : NULL;
        if (!to || to->safe || !has_colour(to, WHITE))
            continue;
        to->safe = true;
        protect(to);
    }
}
static void check_protection(void) {
    struct gc_cycle cycle = cycle_now();
    if (cycle.phase != GC_PHASE_MARK || cycle.begun != next_cycle)
        return;
    for (size_t i = 0; i < n_objects; i++)
        objects[i].safe = false;
    for (size_t i = 0; i < n_objects; i++)
        if (objects[i].snapshot && has_colour(&objects[i], GRAY))
            protect(&objects[i]);
    for (size_t i = 0; i < n_objects; i++)
        assert(!(objects[i].snapshot && !objects[i].safe && has_colour(&objects[i], WHITE)) &&
               "a block was reachable when the cycle began, and nothing protects it");
}
/*@ walk */
static bool is_legal_colour(const word *header) {
    struct gc_cycle cycle = cycle_now();
    if (header_colour(*header) == WHITE || cycle.phase == GC_PHASE_MARK)
        return header_colour(*header) != BLUE;
    return cycle.phase == GC_PHASE_SWEEP && header >= cycle.cursor &&
           header_colour(*header) == BLACK;
}
/*@ newcolours */
/* A block that is allocated during a cycle must survive it. */
static void check_new_colour(const word *header) {
    struct gc_cycle cycle = cycle_now();
    if (COLLECTOR.young && COLLECTOR.young(gc, pointer_word(header + 1)))
        return; /* a cycle is of the old generation */
    assert((cycle.phase != GC_PHASE_MARK || header_colour(*header) != WHITE) &&
           "a block allocated while marking is white");
    assert((cycle.phase != GC_PHASE_SWEEP ||
            header_colour(*header) == (header < cycle.cursor ? WHITE : BLACK)) &&
           "a new block has a colour that its side of the sweep cursor does not allow");
}
/*@ promoted */
/* So must one that a minor collection has promoted. */
static const word *first;
static bool was_old[HEAP];
static void look_at_old(void *context, enum gc_extent kind, const word *header, size_t words) {
    (void)words;
    if (!first)
        first = header;
    if (kind != GC_LIVE || COLLECTOR.young(gc, pointer_word(header + 1)))
        return;
    if (!context && !was_old[header - first])
        check_new_colour(header);
    was_old[header - first] = true;
}
static void around_minor(struct gc_hooks *h, bool before) {
    if (!COLLECTOR.walk || !COLLECTOR.young || !traits.whitens)
        return;
    if (before)
        memset(was_old, 0, sizeof was_old);
    COLLECTOR.walk(gc, look_at_old, before ? h : NULL);
}
/*@ walk */

/* The walk must tile the heap; then come the entries of the free list. */
struct walk {
    const word *start, *next, *end, *last_entry;
    size_t free, entries;
    bool after_free, after_full;
};
static void visit_entry(struct walk *w, const word *header) {
    assert(header >= w->start && header < w->end && "a free-list entry is outside the heap");
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
        w->start = w->next = header;
        w->end = header + HEAP + traits.nursery_words;
    }
    assert(header == w->next && "the walk has a gap or goes back");
    assert(words > 0 && words <= (size_t)(w->end - header) && "a block exceeds the heap");
    w->next += words;
    if (kind == GC_LIVE) {
        assert(header_wosize(*header) + 1 == words && "a header disagrees with the walk");
        assert(header_tag(*header) != TAG_INFIX && "an infix header where a block must start");
        assert((!traits.whitens || is_legal_colour(header)) && "a live block has a wrong colour");
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
    for (size_t i = 0; i < n_objects; i++)
        assert(
            (!objects[i].is_static ||
             header_of(objects[i].at) == header_make(objects[i].wosize, BLACK, objects[i].tag)) &&
            "the header of a static block has changed");
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
/*@ dense */

/* After a compaction the blocks come first, without a gap, and then one free block. */
struct dense {
    bool after_free;
    size_t free;
};
static void look_for_gap(void *context, enum gc_extent kind, const word *header, size_t words) {
    struct dense *d = context;
    (void)header;
    (void)words;
    if (kind == GC_FREE_LIST_ENTRY)
        return;
    assert(!(kind == GC_LIVE && d->after_free) && "free words are below a block");
    d->after_free |= kind != GC_LIVE;
    d->free += kind != GC_LIVE;
}
static void check_dense(void) {
    struct dense d = {false, 0};
    if (COLLECTOR.walk)
        COLLECTOR.walk(enter(), look_for_gap, &d);
    assert(d.free <= 1 && "the free words are not one block");
}
/*@ order */

/* Blocks that are met again must be in the order in which they were. */
static word *places;
static size_t n_places;
static void note_places(void) {
    n_places = n_objects;
    places = realloc(places, (n_places + 1) * sizeof *places);
    assert(places && "no memory");
    for (size_t i = 0; i < n_objects; i++)
        places[i] = objects[i].at;
}
static void check_order(void) {
    for (size_t i = 0; i < n_places; i++)
        for (size_t j = 0; j < n_places; j++)
            if (objects[i].reached && objects[j].reached && !objects[i].is_static &&
                !objects[j].is_static && places[i] < places[j])
                assert(objects[i].at < objects[j].at && "two blocks have changed their order");
}
/*@ overlap */

/* Which words are in use: what the last walk found, and what was allocated since. */
static const word *heap;
static bool in_use[HEAP + 2 * NURSERY];
static void take_down(void *context, enum gc_extent kind, const word *header, size_t words) {
    (void)context;
    if (kind == GC_FREE_LIST_ENTRY)
        return;
    if (!heap)
        heap = header;
    assert(header >= heap && words <= (size_t)(heap + HEAP + 2 * NURSERY - header) &&
           "a block exceeds the heap");
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
    if (checked != hooks.collections || cycle_now().phase == GC_PHASE_SWEEP) {
        checked = hooks.collections;
        check_use();
        return;
    }
    assert(header >= heap && header + wosize < heap + HEAP + traits.nursery_words &&
           "a new block is outside the heap");
    for (size_t i = 0; i <= wosize; i++) {
        assert(!in_use[header - heap + (ptrdiff_t)i] && "a new block overlaps a live one");
        in_use[header - heap + (ptrdiff_t)i] = true;
    }
}
/*@ memory */

/* Out of memory exactly when promised.  What a block needs is room outside the nursery. */
struct room {
    const word *start;
    size_t largest;
};
static void look_for_room(void *context, enum gc_extent kind, const word *header, size_t words) {
    struct room *r = context;
    if (!r->start)
        r->start = header;
    if ((kind == GC_FREE || (kind == GC_UNUSED && header < r->start + HEAP)) &&
        words - 1 > r->largest)
        r->largest = words - 1;
}
static size_t largest_free(void) {
    struct room room = {NULL, 0};
    if (COLLECTOR.walk)
        COLLECTOR.walk(enter(), look_for_room, &room);
    return room.largest;
}
/*@ answers */
static void check_answer(enum gc_result result, size_t wosize) {
    if (traits.refusal == REFUSES_ANYTIME)
        return;
    if (result == GC_OK)
        assert(live_words() + wosize + 1 <= HEAP + (traits.nursery_words ? NURSERY : 0) &&
               "allocated although it does not fit");
    else if (traits.refusal == REFUSES_EXACTLY)
        assert(live_words() + wosize + 1 > HEAP && "refused although live + request fits");
    else
        assert(largest_free() < wosize && "refused although a free block is large enough");
}
/*@ minors */

/* A minor collection keeps the young blocks that slots and remembered fields reach, and no other:
 * so many live blocks must be left. */
static size_t must_be_left;
static word kept[2 * NURSERY];
static size_t n_kept;
static void keep(word v) {
    if (is_immediate(v) || !COLLECTOR.young(gc, v))
        return;
    if (header_tag(header_of(v)) == TAG_INFIX)
        v = infix_parent(v);
    for (size_t i = 0; i < n_kept; i++)
        if (kept[i] == v)
            return;
    kept[n_kept++] = v;
    for (size_t i = first_scanned(v); i < header_wosize(header_of(v)); i++)
        keep(word_pointer(v)[i]);
}
static void keep_field(void *context, word block, size_t i) {
    (void)context;
    keep(word_pointer(block)[i]);
}
static void count_old(void *context, enum gc_extent kind, const word *header, size_t words) {
    (void)words;
    *(size_t *)context += kind == GC_LIVE && !COLLECTOR.young(gc, pointer_word(header + 1));
}
static void around_minor(struct gc_hooks *h, bool before) {
    size_t live = 0;
    (void)h;
    if (!COLLECTOR.walk || !COLLECTOR.young || !COLLECTOR.remembered || !traits.exact_minor)
        return;
    COLLECTOR.walk(gc, before ? count_old : count_live, &live);
    assert((before || live == must_be_left) &&
           "a minor collection has kept a young block that nothing reaches");
    if (!before)
        return;
    n_kept = 0;
    for (unsigned m = 0; m < MUTATORS; m++)
        for (unsigned s = 0; s < GC_SLOTS; s++)
            keep(slots[m][s]);
    COLLECTOR.remembered(gc, keep_field, NULL);
    must_be_left = live + n_kept;
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
    /*@ unreached */
    check_unreached();
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
