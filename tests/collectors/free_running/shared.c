/* SPDX-License-Identifier: MIT
 *
 * What a domain does with blocks that all domains have (player.h), at once with them: what it finds
 * is not known, but that it is whole.
 *
 * Field 0 of most blocks is a stamp, by which tag and size are known once more.  It is read as
 * OCaml code reads an immutable field, by a plain load, so that ThreadSanitizer tells of a block
 * which has been published without its content.
 */
#include "harness/harness.h"
#include "tests/collectors/free_running/player.h"

#include <stdatomic.h>

/* What a word leads to: blocks that keep their stamp, and others by their tags. */
enum kind_of_block { NO_BLOCK, STAMPED, CLOSURE, LAZY, FORWARD, EPHEMERON, OTHER };

static word stamp(unsigned tag, size_t wosize) {
    return immediate((int64_t)(wosize * 4099 + tag));
}

static enum kind_of_block look(const struct player *p, word v) {
    if (is_immediate(v))
        return NO_BLOCK;
    word header = header_now(v);
    switch (header_tag(header)) {
    case TAG_INFIX:
    case TAG_CUSTOM:
        return OTHER;
    case TAG_CLOSURE:
        return CLOSURE;
    case TAG_FORWARD:
        return FORWARD;
    case 244: /* it is being forced */
    case TAG_LAZY:
        return LAZY;
    case TAG_ABSTRACT:
        return EPHEMERON;
    default:
        break;
    }
    if (header == 0)
        player_fail(p, "a pointer leads to a free block");
    if (*word_pointer(v) != stamp(header_tag(header), header_wosize(header)))
        player_fail(p, "a shared block has lost its stamp");
    return STAMPED;
}

static enum kind_of_block in_slot(const struct player *p, unsigned slot) {
    return look(p, p->runtime->get(slot));
}

static size_t wosize_of(const struct player *p, unsigned slot) {
    return header_wosize(header_now(p->runtime->get(slot)));
}

static bool is_array(const struct player *p, unsigned slot) {
    return in_slot(p, slot) == STAMPED && wosize_of(p, slot) > 1 &&
           header_tag(header_now(p->runtime->get(slot))) < TAG_NO_SCAN;
}

/* Of a block with a stamp, or a closure; 0: there is none that may be written. */
static size_t field(const struct player *p, unsigned slot, size_t i) {
    size_t first = 1, n = wosize_of(p, slot);
    if (in_slot(p, slot) == CLOSURE)
        first = closinfo_start_env(word_pointer(p->runtime->get(slot))[1]);
    return first < n ? first + i % (n - first) : 0;
}

static void copy(struct player *p, unsigned dst, unsigned src) {
    p->runtime->set(dst, p->runtime->get(src));
}

static void value(struct player *p, unsigned dst, const struct value *v) {
    if (v->kind == VALUE_SLOT)
        copy(p, dst, v->block);
    else
        p->runtime->set(dst, plain_word(v));
}

/* ---- fields -------------------------------------------------------------------------------------
 */

static bool is_written(const struct player *p, unsigned slot) {
    return is_array(p, slot) || (in_slot(p, slot) == CLOSURE && field(p, slot, 0));
}

static void operate_on_fields(struct player *p, const struct op *op) {
    bool dst = is_written(p, op->dst), src = is_written(p, op->src);
    if ((op->code == OP_LOAD || op->code == OP_READ) && src)
        p->runtime->load(op->dst, op->src, field(p, op->src, op->i));
    else if (op->code == OP_LOAD && in_slot(p, op->src) == FORWARD)
        p->runtime->load(op->dst, op->src, 0);
    if ((op->code == OP_STORE || op->code == OP_INIT) && dst) {
        value(p, SLOT_VALUE, &op->values[0]);
        p->runtime->store(op->dst, field(p, op->dst, op->i), SLOT_VALUE);
    }
    if (op->code == OP_FILL && is_array(p, op->dst)) {
        size_t i = field(p, op->dst, op->i);
        value(p, SLOT_VALUE, &op->values[0]);
        p->runtime->extras->fill(p->runtime->mine(), op->dst, i,
                                 least(op->n, wosize_of(p, op->dst) - i), SLOT_VALUE);
    }
    if (op->code == OP_BLIT && is_array(p, op->dst) && is_array(p, op->src)) {
        size_t i = field(p, op->src, op->i), j = field(p, op->dst, op->j);
        p->runtime->blit(op->src, i, op->dst, j,
                         least(op->n, least(wosize_of(p, op->src) - i, wosize_of(p, op->dst) - j)));
    }
}

/* ---- blocks -------------------------------------------------------------------------------------
 */

static void new_block(struct player *p, unsigned dst, size_t wosize, unsigned tag) {
    word raw[PROGRAM_ITEMS + 1];
    for (size_t i = 0; i < wosize; i++)
        raw[i] = tag < TAG_NO_SCAN ? WORD_UNIT : 0;
    raw[0] = stamp(tag, wosize);
    p->runtime->alloc(dst, wosize, tag, raw);
}

/* Its values are there before anybody else can see it. */
static void finish(struct player *p, const struct op *op, size_t first, size_t wosize) {
    for (size_t i = 0; i < op->n_values && first + i < wosize; i++) {
        value(p, SLOT_VALUE, &op->values[i]);
        p->runtime->store(SLOT_NEW, first + i, SLOT_VALUE);
    }
    copy(p, op->dst, SLOT_NEW);
}

static void make(struct player *p, const struct op *op) {
    size_t n = size_of(op) + 1;
    if (op->tag == TAG_LAZY || op->tag == TAG_FORWARD) {
        p->runtime->alloc(SLOT_NEW, 1, TAG_LAZY, (word[]){WORD_UNIT});
        finish(p, op, 0, 1);
        return;
    }
    new_block(p, SLOT_NEW, n, plain_tag(op->tag));
    finish(p, op, 1, n);
}

static void make_closure(struct player *p, const struct op *op) {
    word raw[PROGRAM_FUNCTIONS * 4 + LONGEST];
    size_t code = closure_words(raw, op->functions, op->arity, 0), n = code + size_of(op);
    units(raw + code, n - code);
    p->runtime->alloc(SLOT_NEW, n, TAG_CLOSURE, raw);
    finish(p, op, code, n);
}

static void make_list(struct player *p, const struct op *op) {
    value(p, SLOT_ALL, &op->values[0]);
    for (unsigned k = 0; k < op->blocks % 32; k++) {
        new_block(p, SLOT_NEW, 3, 0);
        p->runtime->store(SLOT_NEW, 1, SLOT_ALL);
        p->runtime->store(SLOT_NEW, 2, op->dst);
        copy(p, op->dst, SLOT_NEW);
    }
    p->runtime->set(SLOT_ALL, WORD_UNIT);
}

/* It has its key and its data before others see it, and keeps them: one that has been marked may
 * not be changed (docs/ocaml5.md, known defects), and whose cycle has got how far with it, one
 * domain does not know of another. */
static void make_ephemeron(struct player *p, const struct op *op) {
    const struct gc_extras *extras = p->runtime->extras;
    unsigned key = (op->dst + 1u) % PROGRAM_SLOTS, data = (op->dst + 2u) % PROGRAM_SLOTS;
    extras->ephemeron(p->runtime->mine(), SLOT_NEW, 1 + op->keys % 3);
    extras->set(p->runtime->mine(), SLOT_NEW, 0, data);
    if (in_slot(p, key) == STAMPED)
        extras->set(p->runtime->mine(), SLOT_NEW, 1, key);
    copy(p, op->dst, SLOT_NEW);
}

static void operate_new(struct player *p, const struct op *op) {
    switch (op->code) {
    case OP_ALLOC:
        make(p, op);
        break;
    case OP_ALLOC_CLOSURE:
        make_closure(p, op);
        break;
    case OP_ALLOC_RAW:
        new_block(p, op->dst, size_of(op), TAG_STRING);
        break;
    case OP_BUILD:
        make_list(p, op);
        break;
    case OP_EPHEMERON:
        make_ephemeron(p, op);
        break;
    case OP_RESOURCE:
        p->runtime->extras->resource(p->runtime->mine(), op->dst, 1 + op->n % 7, counted_new());
        break;
    case OP_DUP:
        if (in_slot(p, op->src) == STAMPED)
            p->runtime->extras->dup(p->runtime->mine(), op->dst, op->src,
                                    header_tag(header_now(p->runtime->get(op->src))), 0);
        break;
    default:
        break;
    }
}

/* ---- what the runtime has besides ---------------------------------------------------------------
 */

static void operate_weak(struct player *p, const struct op *op) {
    const struct gc_extras *extras = p->runtime->extras;
    struct gc *g = p->runtime->mine();
    bool found;
    if (in_slot(p, op->src) != EPHEMERON)
        return;
    size_t i = op->i % (wosize_of(p, op->src) - 1); /* before it the runtime's own link */
    if (op->code == OP_EPHE_CHECK)
        extras->is_set(g, op->src, i);
    else if (op->code == OP_EPHE_GET)
        extras->get(g, op->dst, op->src, i);
    else
        extras->copy(g, op->dst, op->src, i, 0, &found);
    in_slot(p, op->dst);
}

bool shared_ephemerons_change;

/* Another block becomes the data of the ephemeron that all have.  What another domain has put there
 * is read by a load that acquires what has been released with it. */
static void change_ephemeron(struct player *p, const struct op *op) {
    enum { DATA = 1 };
    if (!shared_ephemerons_change)
        return;
    p->runtime->receive(SLOT_ALL);
    p->runtime->load(SLOT_SHARED, SLOT_ALL, wosize_of(p, SLOT_ALL) - 1);
    _Atomic word *data = (_Atomic word *)word_pointer(p->runtime->get(SLOT_SHARED)) + DATA;
    look(p, atomic_load_explicit(data, memory_order_acquire));
    new_block(p, SLOT_NEW, size_of(op), 0);
    p->runtime->extras->set(p->runtime->mine(), SLOT_SHARED, 0, SLOT_NEW);
    p->runtime->set(SLOT_ALL, WORD_UNIT);
    p->runtime->set(SLOT_SHARED, WORD_UNIT);
}

void shared_operate(struct player *p, const struct op *op) {
    p->runtime->row(SHARED);
    switch (op->code) {
    case OP_SET:
        value(p, op->dst, &op->values[0]);
        break;
    case OP_DROP:
        p->runtime->set(op->dst, WORD_UNIT);
        break;
    case OP_EPHE_GET:
    case OP_EPHE_COPY:
    case OP_EPHE_CHECK:
        operate_weak(p, op);
        break;
    case OP_EPHE_SET:
        change_ephemeron(p, op);
        break;
    case OP_FORWARD:
        value(p, SLOT_VALUE, &op->values[0]);
        if (in_slot(p, op->dst) == LAZY)
            p->runtime->force(op->dst, SLOT_VALUE);
        break;
    case OP_FINALISE:
        if (in_slot(p, op->dst) == STAMPED)
            p->runtime->extras->finalise(p->runtime->mine(), op->dst, counted_new(), op->last & 1);
        break;
    default:
        operate_on_fields(p, op);
        operate_new(p, op);
        break;
    }
    p->runtime->set(SLOT_NEW, WORD_UNIT);
    p->runtime->set(SLOT_VALUE, WORD_UNIT);
}

word shared_result(struct player *p) {
    p->runtime->row(SHARED);
    new_block(p, SLOT_NEW, 3, 0);
    return p->runtime->get(SLOT_NEW);
}

/* ---- the initial heap ---------------------------------------------------------------------------
 */

/* An array of the named blocks, without their edges but to the one before: operations make others.
 * The last one is an ephemeron. */
void shared_begin(struct player *p) {
    const struct program *x = p->program;
    size_t n = program_named(x), b = 0;
    p->runtime->row(SHARED);
    new_block(p, SLOT_ALL, n + 2, 0);
    for (size_t i = 0; i < x->n_items; i++) {
        const struct item *it = &x->items[i];
        if (!item_is_named(it))
            continue;
        new_block(p, SLOT_NEW, least(it->wosize, LONGEST) + 2, plain_tag(it->tag) % TAG_LAZY);
        p->runtime->load(SLOT_VALUE, SLOT_ALL, b + 1);
        p->runtime->store(SLOT_NEW, 1, SLOT_VALUE);
        p->runtime->store(SLOT_ALL, ++b, SLOT_NEW);
    }
    p->runtime->extras->ephemeron(p->runtime->mine(), SLOT_NEW, 1);
    p->runtime->store(SLOT_ALL, n + 1, SLOT_NEW);
    p->runtime->publish(SLOT_ALL);
    p->runtime->set(SLOT_NEW, WORD_UNIT);
}

void shared_join(struct player *p) {
    const struct program *x = p->program;
    p->runtime->row(SHARED);
    p->runtime->receive(SLOT_ALL);
    for (unsigned s = 0; s < PROGRAM_SLOTS; s++) {
        const struct value *v = &x->roots[p->m % program_mutators(x)][s];
        copy(p, s, SLOT_ALL); /* what all domains have */
        if (value_is_reference(v))
            p->runtime->load(s, SLOT_ALL, (size_t)v->block + 1);
        else if (v->kind == VALUE_IMMEDIATE && s > 0)
            p->runtime->set(s, WORD_UNIT);
    }
    p->runtime->set(SLOT_ALL, WORD_UNIT);
}

/* ---- check --------------------------------------------------------------------------------------
 */

enum { SEEN_BITS = 12, SEEN = 1 << SEEN_BITS };
struct seen {
    word table[SEEN], queue[SEEN / 2];
    size_t n;
};

static void see(struct seen *s, const struct player *p, word v) {
    if (look(p, v) == NO_BLOCK || look(p, v) == OTHER || s->n == SEEN / 2)
        return;
    size_t at = place_of(v, SEEN_BITS);
    for (; s->table[at]; at = (at + 1) % SEEN)
        if (s->table[at] == v)
            return;
    s->table[at] = v;
    s->queue[s->n++] = v;
}

/* Others may store into the block meanwhile. */
static void see_fields(struct seen *s, const struct player *p, word v) {
    enum kind_of_block k = look(p, v);
    size_t n = header_wosize(header_now(v));
    size_t i = k == CLOSURE ? closinfo_start_env(word_pointer(v)[1]) : k == STAMPED;
    if (k == EPHEMERON || header_tag(header_now(v)) >= TAG_NO_SCAN || k == LAZY)
        return;
    for (; i < n; i++)
        see(s, p, atomic_load_explicit((_Atomic word *)word_pointer(v) + i, memory_order_acquire));
}

void shared_check(struct player *p) {
    struct seen s = {.n = 0};
    p->runtime->row(SHARED);
    for (unsigned slot = 0; slot < GC_SLOTS; slot++)
        see(&s, p, p->runtime->get(slot));
    for (size_t i = 0; i < s.n; i++)
        see_fields(&s, p, s.queue[i]);
}
