/* SPDX-License-Identifier: MIT
 *
 * The conformance kit, first part: what single calls promise (conform.h).
 */
#include "conformance/internal.h"

#include <string.h>

/* ---- reset ------------------------------------------------------------------------------------
 */

static void check_reset(struct conform *c) {
    for (unsigned round = 0; round < 3; round++) {
        if (c->collector->walk) {
            walk(c, HEAP_TILES);
            if (c->facts.live)
                broken(c,
                       "after reset number %u the walk has %zu live blocks; the heap must be empty",
                       round + 1, c->facts.live);
        }
        make_list(c, 1 + c->scale); /* something to forget */
        fresh_heap(c, c->words, 1);
    }
}

/* ---- alloc ------------------------------------------------------------------------------------
 */

struct others {
    gc_slots slots[GC_MUTATORS]; /* those of config.mutators */
};

/* Slots other than dst hold immediates here, so nobody has a reason to write into them. */
static void expect_others(struct conform *c, const struct others *before, unsigned m, unsigned dst,
                          const char *call) {
    for (unsigned i = 0; i < c->config.mutators; i++)
        for (unsigned s = 0; s < GC_SLOTS; s++)
            if ((i != m || s != dst) && c->slots[i][s] != before->slots[i][s])
                broken(c,
                       "%s for slot %u of mutator %u changed slot %u of mutator %u, an immediate",
                       call, dst, m, s, i);
}

static void try_block(struct conform *c, size_t wosize, unsigned tag) {
    static word raw[WORDS_MOST], kept[WORDS_MOST];
    struct others before;
    unsigned dst = (unsigned)(wosize + tag) % SCRATCH;
    for (unsigned s = 0; s < GC_SLOTS; s++)
        c->slots[0][s] = immediate((int64_t)(s + wosize));
    memcpy(before.slots, c->slots, c->config.mutators * sizeof *before.slots);
    for (size_t i = 0; i < wosize; i++)
        raw[i] = kept[i] = immediate((int64_t)(i * 7 + wosize + tag));
    make(c, 0, dst, wosize, tag, raw);
    expect_others(c, &before, 0, dst, "alloc");
    if (memcmp(raw, kept, wosize * sizeof(word)) != 0)
        broken(c, "alloc changed the array raw, which is the caller's");
    word v = c->slots[0][dst];
    if (header_wosize(header_of(v)) != wosize || header_tag(header_of(v)) != tag)
        broken(c,
               "a block of %zu fields with tag %u was asked for; its header 0x%llx says otherwise",
               wosize, tag, (unsigned long long)header_of(v));
    if (memcmp(word_pointer(v), kept, wosize * sizeof(word)) != 0)
        broken(c, "a new block of %zu fields has not the content that was asked for (raw)", wosize);
}

static void check_alloc(struct conform *c) {
    static const unsigned tags[] = {0, 1, 17, 243};
    size_t most = as_long(c, c->words / 4);
    for (size_t wosize = 1; wosize <= most; wosize = wosize * 2 + 1)
        for (unsigned t = 0; t < sizeof tags / sizeof *tags; t++) {
            fresh_heap(c, c->words, 1);
            try_block(c, wosize, tags[t]);
        }
}

/* Blocks that live at the same time share no word, and the content of each is its own. */
static void check_apart(struct conform *c) {
    unsigned n = 2u << c->scale;
    if (n > SCRATCH)
        n = SCRATCH;
    for (unsigned s = 0; s < n; s++)
        make_node(c, 0, s, s);
    for (unsigned s = 0; s < n; s++)
        for (unsigned t = 0; t < s; t++)
            if (c->slots[0][s] - c->slots[0][t] + 2 * sizeof(word) < 5 * sizeof(word))
                broken(c, "the blocks in slots %u and %u share a word", t, s);
    for (unsigned s = 0; s < n; s++)
        expect_node(c, 0, s, s, "after more allocations");
}

/* ---- fields -----------------------------------------------------------------------------------
 */

static const char *has_init(const struct conform *c) {
    return c->collector->init ? NULL : "no function init: a plain write";
}

/* In a heap that is nearly full, where whoever likes to collect does. */
static void check_init(struct conform *c) {
    for (unsigned n = 0; n < c->words; n++) {
        const word raw[2] = {immediate(5), WORD_UNIT};
        if (ask(c, 0, 0, 2, node_tag(c), raw) != GC_OK)
            return;
        word block = c->slots[0][0];
        uint64_t before = c->hooks->collections;
        c->slots[0][1] = immediate(77);
        c->hooks->fuel = FUEL;
        c->collector->init(c->gc, 0, 0, 1, 1);
        if (c->hooks->collections != before)
            broken(c, "init collected; it never may");
        if (c->slots[0][0] != block || c->slots[0][1] != immediate(77))
            broken(c, "init changed a slot; it writes a field and nothing else");
        if (word_pointer(block)[1] != immediate(77) || word_pointer(block)[0] != immediate(5))
            broken(c, "init did not write its value into its field");
        c->slots[0][0] = WORD_UNIT;
    }
}

static void check_fields(struct conform *c) {
    size_t wosize = as_long(c, 2u << c->scale);
    make(c, 0, 0, wosize, node_tag(c), c->units);
    for (size_t i = 0; i < wosize; i++) {
        make_node(c, 0, 1, (unsigned)i);
        set_field(c, 0, 0, i, 1);
        expect_node(c, 0, 1, (unsigned)i, "after store the stored value in");
    }
    c->slots[0][1] = WORD_UNIT;
    for (size_t i = 0; i < wosize; i++) {
        get_field(c, 0, 2, 0, i);
        expect_node(c, 0, 2, (unsigned)i, "after load");
    }
    for (size_t i = 0; i < wosize; i++) { /* an immediate over a pointer */
        c->slots[0][1] = immediate((int64_t)i);
        set_field(c, 0, 0, i, 1);
        get_field(c, 0, 2, 0, i);
        if (c->slots[0][2] != immediate((int64_t)i))
            broken(c, "field %zu was stored as an immediate and is loaded as 0x%llx", i,
                   (unsigned long long)c->slots[0][2]);
    }
}

static const char *has_blit(const struct conform *c) {
    return c->collector->blit ? NULL : "no function blit: by load and store";
}

static void check_blit(struct conform *c) {
    size_t n = as_long(c, 4u << c->scale);
    for (unsigned down = 0; down < 2; down++) {
        make(c, 0, 0, n, node_tag(c), c->units);
        for (size_t i = 0; i < n; i++) {
            c->slots[0][1] = immediate((int64_t)i);
            set_field(c, 0, 0, i, 1);
        }
        blit_fields(c, 0, down ? 1 : 0, 0, down ? 0 : 1, n - 1);
        for (size_t i = 0; i + 1 < n; i++) {
            get_field(c, 0, 2, 0, down ? i : i + 1);
            if (c->slots[0][2] != immediate((int64_t)(down ? i + 1 : i)))
                broken(c, "blit within one block does not do what memmove does, at field %zu", i);
        }
    }
}

unsigned some_raw_tag(const struct conform *c) {
    static const unsigned tags[] = {TAG_STRING, TAG_ABSTRACT, TAG_DOUBLE_ARRAY, TAG_CUSTOM};
    for (unsigned t = 0; c->traits.raw && t < sizeof tags / sizeof *tags; t++) {
        bool there = !(c->traits.lacks_raw & 1u << (tags[t] - TAG_NO_SCAN));
        if (there && (!c->collector->writable || c->collector->writable(tags[t])))
            return tags[t];
    }
    return 0;
}

static const char *has_write_raw(const struct conform *c) {
    return !c->collector->write_raw ? "no function write_raw: a plain write"
           : !c->traits.raw         ? "trait raw is not set"
           : some_raw_tag(c)        ? NULL
                                    : "no block of raw words may be written";
}

static void check_write_raw(struct conform *c) {
    size_t n = 1u << c->scale;
    make(c, 0, 0, n, some_raw_tag(c), c->units);
    for (size_t i = 0; i < n; i++)
        c->collector->write_raw(c->gc, 0, 0, i, fitting(c, 0xabcdef00 + i));
    if (c->collector->walk)
        walk(c, HEAP_TILES); /* another layout may need it to show its words */
    for (size_t i = 0; i < n; i++)
        if (word_pointer(c->slots[0][0])[i] != fitting(c, 0xabcdef00 + i))
            broken(c, "write_raw did not write word %zu", i);
}

/* ---- walk -------------------------------------------------------------------------------------
 */

struct extents {
    size_t n;
    uint64_t digest;
};

static void visit(void *context, enum gc_extent kind, const word *header, size_t words) {
    struct extents *e = context;
    const uint64_t facts[] = {(uint64_t)kind, pointer_word(header), words};
    e->n++;
    for (unsigned i = 0; i < 3; i++)
        e->digest = (e->digest ^ facts[i]) * 0x100000001b3;
}

static struct extents look(struct conform *c) {
    struct extents e = {0, 0xcbf29ce484222325};
    c->collector->walk(c->gc, visit, &e);
    return e;
}

static const char *has_walk(const struct conform *c) {
    return c->collector->walk
               ? NULL
               : "no function walk: soundness by isomorphism alone, most oracles off";
}

/* Blocks of a tag other than 0, so long that a few words are left of what was free: of one word a
 * fragment, which is legal or is not. */
static void leave_rests(struct conform *c) {
    for (size_t rest = 0; rest < 4; rest++) {
        fresh_heap(c, c->words, 1);
        for (unsigned s = 0; s < GC_SLOTS; s++) {
            walk(c, HEAP_TILES);
            size_t room = c->facts.largest_free;
            size_t wosize = as_long(c, room > rest ? room - rest : 1);
            if (ask(c, 0, s, wosize, 17, c->units) != GC_OK)
                break;
        }
        walk(c, HEAP_TILES);
    }
}

static void check_walk(struct conform *c) {
    unsigned n = 1u << c->scale;
    leave_rests(c);
    fresh_heap(c, c->words, 1);
    for (unsigned round = 0; round < 3; round++) {
        make_list(c, n);
        walk(c, HEAP_TILES);
        if (c->facts.live < n)
            broken(c, "%u blocks were allocated, and the walk has %zu live ones", n, c->facts.live);
        struct extents once = look(c), twice = look(c);
        if (once.digest != twice.digest)
            broken(c, "two walks, one right behind the other, differ: %zu and %zu extents", once.n,
                   twice.n);
        expect_list(c, n, "after walks");
        collect(c, GC_FULL);
        walk(c, HEAP_TILES);
    }
}

/* ---- out of memory ----------------------------------------------------------------------------
 */

/* Of a size that one block may have and the heap, at its largest, cannot hold beside what is there:
 * until then such blocks are chained in slot 2.  Returns the size; 0: none was ever refused. */
static size_t fill_until_refused(struct conform *c) {
    size_t size = as_long(c, c->words), most = heap_most_words(&c->traits, &c->config);
    for (size_t n = 0; n <= most / size + 1; n++) {
        if (ask(c, 0, 3, size, node_tag(c), c->units) != GC_OK)
            return size;
        set_field(c, 0, 3, 0, 2);
        c->slots[0][2] = c->slots[0][3];
        c->slots[0][3] = WORD_UNIT;
    }
    return 0;
}

static void check_refusal(struct conform *c) {
    unsigned n = 1u << c->scale;
    make_list(c, n);
    size_t too_much = fill_until_refused(c);
    if (!too_much && c->traits.refusal == REFUSES_ANYTIME && c->traits.conservative) {
        remark(c, "more than config.heap_words was allocated");
        return;
    }
    if (!too_much)
        broken(c, "blocks of more than %zu words in all were allocated in a heap of %zu words",
               heap_most_words(&c->traits, &c->config), c->words);
    for (unsigned round = 0; round < 2; round++) {
        c->slots[0][1] = immediate(9);
        if (ask(c, 0, 1, too_much, 0, c->units) == GC_OK)
            broken(c, "a block of %zu fields was refused, and then allocated in the same heap",
                   too_much);
        if (c->slots[0][1] != immediate(9))
            broken(c, "an allocation that was refused wrote into its slot");
        expect_list(c, n, "after an allocation that was refused");
    }
}

/* Fills the heap to its end: nothing of what is alive may suffer. */
static void check_full(struct conform *c) {
    unsigned n = 0, most = (unsigned)heap_most_words(&c->traits, &c->config);
    while (n < most && ask(c, 0, 1, 2, node_tag(c), c->units) == GC_OK) {
        c->slots[0][2] = immediate((int64_t)n);
        set_field(c, 0, 1, 0, 2);
        set_field(c, 0, 1, 1, 0);
        c->slots[0][0] = c->slots[0][1];
        c->slots[0][1] = WORD_UNIT;
        n++;
    }
    if (n == most && !c->traits.conservative)
        broken(c, "%u blocks of 3 words were allocated in a heap of %u words", n, most);
    if (ask(c, 0, 1, 2, node_tag(c), c->units) == GC_OK)
        c->slots[0][1] = WORD_UNIT;
    c->slots[0][1] = c->slots[0][0];
    for (unsigned id = n; id-- > 0;) {
        expect_node(c, 0, 1, id, "in a full heap");
        get_field(c, 0, 2, 1, 1);
        c->slots[0][1] = c->slots[0][2];
    }
}

/* ---- the initial heap -------------------------------------------------------------------------
 */

static const char *has_image(const struct conform *c) {
    return c->collector->image ? NULL : "no functions image and adopt: built with alloc and store";
}

/* So many free words at the end of an image, which are no fragment where none may be: the heap is
 * a good deal longer than what it holds. */
static void fill_rest(word *at, size_t words) {
    if (words > 0)
        at[0] = header_make(words - 1, words == 1 ? WHITE : BLUE, 0);
    for (size_t i = 1; i < words; i++)
        at[i] = WORD_UNIT;
}

/* A live block with one in a static place behind it, a free one, a fragment, another live block. */
static void check_image(struct conform *c) {
    static const size_t used = 3 + 4 + 1 + 3;
    size_t words = used;
    word *base = c->collector->image(c->gc, &words);
    if (!base)
        broken(c, "image refuses %zu words of a heap of %zu", used, c->words);
    if (words < used || words > c->words)
        broken(
            c,
            "image corrects a heap of %zu words to %zu; it must hold what is needed, and at most "
            "config.heap_words",
            used, words);
    base[0] = header_make(2, WHITE, node_tag(c));
    base[1] = immediate(1);
    base[2] = pointer_word(base + 9);
    base[3] = header_make(3, BLUE, 0);
    base[4] = base[5] = base[6] = WORD_UNIT;
    base[7] = header_make(0, WHITE, 0);
    base[8] = header_make(2, WHITE, node_tag(c));
    base[9] = immediate(2);
    base[10] = WORD_UNIT;
    fill_rest(base + used, words - used);
    c->slots[0][0] = pointer_word(base + 1);
    c->collector->adopt(c->gc, words);
    if (!c->hooks->collections && c->slots[0][0] != pointer_word(base + 1))
        broken(c, "adopt changed a slot, and did not count a collection as if it had moved blocks");
    for (unsigned round = 0; round < 2; round++) {
        const char *when = round ? "after an image and a full collection" : "after adopt";
        if (c->collector->walk)
            walk(c, HEAP_TILES);
        expect_node(c, 0, 0, 1, when);
        get_field(c, 0, 1, 0, 1);
        expect_node(c, 0, 1, 2, when);
        collect(c, GC_FULL);
    }
}

const struct conform_step conform_calls[] = {
    {"reset", "reset makes an empty heap, collects nothing and writes into no slot", NULL,
     check_reset},
    {"alloc", "alloc puts a block with the header and content asked for into its slot alone", NULL,
     check_alloc},
    {"apart", "blocks that live at the same time share no word", NULL, check_apart},
    {"init", "init writes one field of a fresh block, and never collects", has_init, check_init},
    {"fields", "what store writes, load reads", NULL, check_fields},
    {"blit", "blit copies as memmove does", has_blit, check_blit},
    {"write_raw", "write_raw writes a word of a no-scan block", has_write_raw, check_write_raw},
    {"walk", "walk visits the whole heap without gaps in address order, and changes nothing",
     has_walk, check_walk},
    {"refusal", "an allocation that cannot be is refused and has no effect", NULL, check_refusal},
    {"full_heap", "a heap that is full to its end keeps all that is alive", NULL, check_full},
    {"image", "image and adopt take over a heap as it was written", has_image, check_image},
    {NULL, NULL, NULL, NULL}};
