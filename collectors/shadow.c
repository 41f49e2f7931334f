/* SPDX-License-Identifier: MIT
 *
 * A heap of OCaml's layout, written anew by a search from the roots (shadow.h).
 *
 * The search is Cheney's: what has a place and no fields yet is the queue.
 */
#include "collectors/shadow.h"

#include <stdlib.h>
#include <string.h>

/* ---- life -------------------------------------------------------------------------------------
 */

/* Of a table that is never more than half full: a block takes a word, and most take two and more.
 */
static unsigned bits_for(size_t words) {
    unsigned bits = 1;
    while ((size_t)1 << bits < 2 * words)
        bits++;
    return bits;
}

bool shadow_open(struct shadow *s, struct gc *gc, const struct shadow_subject *subject,
                 size_t capacity) {
    *s = (struct shadow){.gc = gc, .subject = subject};
    s->blocks = calloc(capacity + 1, sizeof *s->blocks);
    s->table = calloc((size_t)1 << bits_for(capacity), sizeof *s->table);
    if (s->blocks && s->table && arena_open(&s->arena, capacity))
        return true;
    free(s->blocks);
    free(s->table);
    return false;
}

void shadow_close(struct shadow *s) {
    arena_close(&s->arena);
    free(s->blocks);
    free(s->table);
}

/* No block has a place. */
static void forget_places(struct shadow *s) {
    memset(s->blocks, 0, (s->used + 1) * sizeof *s->blocks);
    s->used = s->copied = 0;
    s->overflow = false;
    if (++s->epoch == 0) { /* entries of 2^32 searches ago would come back */
        memset(s->table, 0, ((size_t)1 << bits_for(s->arena.capacity)) * sizeof *s->table);
        s->epoch = 1;
    }
}

void shadow_reset(struct shadow *s, const struct gc_config *config) {
    s->config = *config;
    s->hidden = 0;
    s->table_bits = bits_for(config->heap_words);
    forget_places(s);
    for (unsigned m = 0; m < GC_MUTATORS; m++)
        for (unsigned i = 0; i < GC_SLOTS; i++)
            s->roots[m][i] = s->synced[m][i] = WORD_UNIT;
    arena_reset(&s->arena, config->hooks, config->heap_words);
    config->hooks->unpoison(s->arena.base, config->heap_words);
}

/* ---- places -----------------------------------------------------------------------------------
 */

/* The entry of a block, or the empty one where it would be: less than half of the table is full. */
static struct shadow_entry *entry(const struct shadow *s, word block) {
    size_t at = (size_t)(block * 0x9e3779b97f4a7c15 >> (64 - s->table_bits));
    while (s->table[at].epoch == s->epoch && s->table[at].block != block)
        at = (at + 1) & (((size_t)1 << s->table_bits) - 1);
    return &s->table[at];
}

bool shadow_has(const struct shadow *s, word block) {
    return entry(s, block)->epoch == s->epoch;
}

/* Room for the block at the end; 0: there is none. */
static uint32_t place_block(struct shadow *s, struct shadow_entry *e, word block) {
    word header = s->subject->header(s->gc, block), wosize = header_wosize(header);
    if (wosize >= s->config.heap_words - s->used) {
        s->overflow = true;
        return 0;
    }
    uint32_t place = (uint32_t)s->used + 1;
    s->arena.base[s->used] = header_make(wosize, WHITE, header_tag(header));
    s->used += wosize + 1;
    s->blocks[place] = block;
    *e = (struct shadow_entry){block, s->epoch, place};
    return place;
}

/* A word that leads to no block: the last one, which a block takes only if nothing is free; the
 * header of the first one then. */
static word lost_word(const struct shadow *s) {
    size_t last = s->config.heap_words - 1;
    return pointer_word(s->arena.base + (s->used <= last ? last : 0));
}

word shadow_of_pointer(struct shadow *s, word own) {
    word block;
    size_t fields;
    enum shadow_kind kind = s->subject->look(s->gc, own, &block, &fields);
    if (kind == SHADOW_DATA)
        return own;
    if (kind == SHADOW_LOST)
        return lost_word(s);
    struct shadow_entry *e = entry(s, block);
    uint32_t place = e->epoch == s->epoch ? e->place : place_block(s, e, block);
    return place ? pointer_word(s->arena.base + place + fields) : lost_word(s);
}

bool shadow_is_inside(const struct shadow *s, word shown) {
    return is_pointer(shown) &&
           shown - pointer_word(s->arena.base) < s->config.heap_words * sizeof(word);
}

word shadow_original(const struct shadow *s, word shown) {
    if (!shadow_is_inside(s, shown))
        return shown;
    size_t place = (shown - pointer_word(s->arena.base)) / sizeof(word);
    if (place > s->used)
        return s->subject->lost;
    if (s->blocks[place])
        return s->blocks[place];
    word header = place ? header_of(shown) : 0; /* an infix pointer: as far into the block */
    size_t back = header_wosize(header);
    if (header_tag(header) != TAG_INFIX || back >= place || !s->blocks[place - back])
        return s->subject->lost;
    size_t bytes = s->subject->field_bytes ? s->subject->field_bytes : sizeof(word);
    return s->blocks[place - back] + back * bytes;
}

/* ---- the search -------------------------------------------------------------------------------
 */

static size_t copy_at(struct shadow *s, size_t at) {
    word *hp = s->arena.base + at;
    size_t wosize = header_wosize(*hp);
    s->subject->copy(s->gc, s->blocks[at + 1], hp + 1, wosize);
    return at + wosize + 1;
}

void shadow_spread(struct shadow *s) {
    while (s->copied < s->used)
        s->copied = copy_at(s, s->copied);
}

void shadow_refresh(struct shadow *s) {
    for (size_t at = 0; at < s->copied;)
        at = copy_at(s, at);
    shadow_spread(s);
}

word shadow_show(struct shadow *s, word own) {
    word shown = shadow_of(s, own);
    shadow_spread(s);
    return shown;
}

void shadow_read_slots_of(struct shadow *s, unsigned m) {
    for (unsigned i = 0; i < GC_SLOTS; i++) {
        word v = s->config.slots[m][i];
        if (v == s->synced[m][i])
            continue;
        word own = shadow_original(s, v);
        s->synced[m][i] = v;
        if (s->subject->set_root)
            s->subject->set_root(s->gc, m, i, own);
        else
            s->roots[m][i] = own;
    }
}

void shadow_read_slots(struct shadow *s) {
    for (unsigned m = 0; m < s->config.mutators; m++)
        shadow_read_slots_of(s, m);
}

void shadow_write(struct shadow *s) {
    forget_places(s);
    for (unsigned m = 0; m < s->config.mutators; m++)
        for (unsigned i = 0; i < GC_SLOTS; i++) {
            word own = s->subject->root ? s->subject->root(s->gc, m, i) : s->roots[m][i];
            s->config.slots[m][i] = s->synced[m][i] = shadow_of(s, own);
        }
    shadow_spread(s);
}

/* ---- the walk ---------------------------------------------------------------------------------
 */

struct garbage {
    struct shadow *shadow;
    gc_visit *visit;
    void *context;
    size_t end;
};

/* As much of it as there is room for. */
static void show_garbage(void *context, word block) {
    struct garbage *garbage = context;
    struct shadow *s = garbage->shadow;
    if (shadow_has(s, block))
        return;
    size_t words = header_wosize(s->subject->header(s->gc, block)) + 1;
    if (words > s->config.heap_words - garbage->end)
        return;
    word *hp = s->arena.base + garbage->end;
    hp[0] = header_make(words - 1, WHITE, 0);
    for (size_t i = 1; i < words; i++)
        hp[i] = WORD_UNIT;
    garbage->end += words;
    garbage->visit(garbage->context, GC_LIVE, hp, words);
}

void shadow_walk(struct shadow *s, gc_visit *visit, void *context,
                 void (*each)(struct gc *, void (*)(void *, word), void *)) {
    struct garbage garbage = {s, visit, context, s->used};
    for (size_t at = 0; at < s->used;) {
        word *hp = s->arena.base + at;
        size_t words = header_wosize(*hp) + 1;
        visit(context, GC_LIVE, hp, words);
        at += words;
    }
    if (each)
        each(s->gc, show_garbage, &garbage);
    size_t unused = s->config.heap_words - garbage.end;
    size_t hidden = s->hidden < unused ? s->hidden : unused;
    if (unused > hidden)
        visit(context, GC_UNUSED, s->arena.base + garbage.end, unused - hidden);
    for (; hidden > 0; hidden--) /* word by word, so that they hold no block */
        visit(context, GC_UNUSED, s->arena.base + s->config.heap_words - hidden, 1);
}

const char *shadow_check(const struct shadow *s) {
    return s->overflow ? "the blocks that can be reached are more than the program has made" : NULL;
}
