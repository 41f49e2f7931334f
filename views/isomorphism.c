/* SPDX-License-Identifier: MIT
 *
 * Rooted graph isomorphism (isomorphism.h).
 */
#include "views/isomorphism.h"

#include <stdio.h>

/* A hint for large heaps, where every block is a cache miss; nothing depends on it. */
#if defined(__GNUC__)
#define PREFETCH(address) __builtin_prefetch(address)
#else
#define PREFETCH(address) ((void)(address))
#endif
enum { NEAR = 6, FAR = 16 }; /* pairs ahead: whose fields are there, whose block is on its way */
enum { CACHED_WORDS = 1 << 14 }; /* a heap that stays in the cache needs no hints */

/* The blocks of pairs that come soon, and the cells of their children. */
static inline void look_ahead(const struct isomorphism *iso, const struct graph *a, size_t q) {
    if (q + FAR < iso->pairs)
        PREFETCH(graph_fields(a, iso->queue[q + FAR].a) - 1);
    if (q + NEAR < iso->pairs) {
        const word *fields = graph_fields(a, iso->queue[q + NEAR].a);
        word wosize = header_wosize(fields[-1]);
        for (word i = 0; i < wosize && i < NEAR; i++) {
            word at = fields[i] - pointer_word(a->base);
            if (at < a->words * sizeof(word))
                PREFETCH(&a->cells[at / sizeof(word)]);
        }
    }
}

static bool visited(const struct isomorphism *iso, const struct graph *g, uint32_t id) {
    return g->cells[id].visit == iso->run;
}

/* Is the word of a, a heap, the address that b, the model, has by number? */
static bool same_address(const struct graph *a, const struct graph *b, word left, word right) {
    return b->model && model_is_address(b->model, right) &&
           left == model_data(b->model, a->heap, right);
}

static enum violation differ(struct isomorphism *iso, enum violation v, uint32_t parent,
                             uint32_t field, word left, word right) {
    iso->parent = parent;
    iso->field = field;
    iso->left = left;
    iso->right = right;
    return v;
}

/* Two words where not both are blocks. */
static enum violation compare_atoms(struct graph_ref a, struct graph_ref b, word left, word right) {
    if (a.kind == GRAPH_LOST)
        return VIOLATION_lost_object;
    if (a.kind == GRAPH_DANGLING)
        return VIOLATION_dangling_pointer;
    if (b.kind == GRAPH_ATOM && a.kind == GRAPH_ATOM)
        return left == right ? VIOLATION_none : VIOLATION_data_changed;
    /* a block is expected and an even word found that leads nowhere */
    if (b.kind == GRAPH_BLOCK && is_pointer(left))
        return VIOLATION_dangling_pointer;
    return VIOLATION_edge_changed;
}

/* A block without fields is where any other one might be led to. */
static bool is_atom(const struct graph *b, word v) {
    return b->model && model_is_atom(b->model, v);
}

/* Where a chain of Forward blocks from this word on ends, if pointers may be led to there; else the
 * word itself. */
static word chain_end(const struct graph *b, word v) {
    enum { LONGEST = 64 }; /* a chain may be a cycle */
    word end = v;
    for (unsigned n = 0; n < LONGEST; n++) {
        struct graph_ref ref = graph_resolve(b, end);
        if (ref.kind != GRAPH_BLOCK)
            return is_immediate(end) || is_atom(b, end) ? end : v;
        unsigned tag = graph_block(b, ref.id).tag;
        if (tag != TAG_FORWARD || graph_block(b, ref.id).wosize != 1)
            return tag == TAG_LAZY || tag == TAG_DOUBLE ||
                           (b->model && model_is_foreign(b->model, &b->model->objects[ref.id]))
                       ? v
                       : end;
        end = graph_block(b, ref.id).fields[0];
    }
    return v;
}

word isomorphism_forwarded(const struct graph *a, const struct graph *b, word left, word right) {
    struct graph_ref rb = graph_resolve(b, right);
    if (rb.kind != GRAPH_BLOCK || graph_block(b, rb.id).tag != TAG_FORWARD)
        return right;
    struct graph_ref ra = graph_resolve(a, left);
    bool still_there = ra.kind == GRAPH_BLOCK && graph_block(a, ra.id).tag == TAG_FORWARD;
    return still_there ? right : chain_end(b, right);
}

/* ---- blocks without identity ------------------------------------------------------------------
 *
 * Where equal blocks may be one, f is a relation: each of its pairs must agree, and it is an
 * equivalence, so that of the pairs between two sets of equal blocks one for each block is enough
 * (Hopcroft and Karp's test of automata).  Blocks that may be written are in one pair each.
 */

void isomorphism_allow(struct isomorphism *iso, const struct collector *c,
                       const struct collector_traits *t) {
    iso->gaps = false;
    iso->forwards = t->forwards;
    iso->writable = t->shares_values ? c->writable : NULL;
}

static bool has_identity(const struct isomorphism *iso, const struct graph *g, uint32_t id) {
    bool is_static = g->model ? g->model->objects[id].is_static : id >= g->words;
    return is_static || iso->writable(graph_block(g, id).tag);
}

/* The block that stands for all that are equal to this one. */
static uint32_t representative(uint32_t *links, uint32_t at) {
    while (links[at] != at)
        at = links[at] = links[links[at]];
    return at;
}

/* Links are those of this comparison once their block is visited. */
static void begin_to_visit(struct isomorphism *iso, const struct graph *g, uint32_t id,
                           uint32_t link, uint32_t partner) {
    if (visited(iso, g, id))
        return;
    iso->links[link] = link;
    g->cells[id].visit = iso->run;
    g->cells[id].partner = partner;
}

static enum violation compare_values(struct isomorphism *iso, const struct graph *a,
                                     const struct graph *b, struct pair pair) {
    uint32_t link_a = pair.a, link_b = (uint32_t)iso->links_b + pair.b;
    begin_to_visit(iso, a, pair.a, link_a, pair.b);
    begin_to_visit(iso, b, pair.b, link_b, pair.a);
    link_a = representative(iso->links, link_a);
    link_b = representative(iso->links, link_b);
    if (link_a == link_b)
        return VIOLATION_none;
    if (iso->pairs == 2 * iso->capacity)
        return VIOLATION_edge_changed;
    iso->links[link_a] = link_b;
    iso->queue[iso->pairs++] = pair;
    return VIOLATION_none;
}

/* Not the common case: a difference, or a pair of infix pointers, statics or atoms. */
static enum violation compare_odd_refs(struct isomorphism *iso, const struct graph *a,
                                       const struct graph *b, word left, word right,
                                       uint32_t parent, uint32_t field) {
    if (iso->forwards)
        right = isomorphism_forwarded(a, b, left, right);
    if (same_address(a, b, left, right))
        return VIOLATION_none;
    struct graph_ref ra = graph_resolve(a, left);
    struct graph_ref rb = graph_resolve(b, right);
    if (ra.kind != GRAPH_BLOCK || rb.kind != GRAPH_BLOCK) {
        if (ra.kind == GRAPH_ATOM && rb.kind == GRAPH_ATOM && left == right)
            return VIOLATION_none;
        return differ(iso, compare_atoms(ra, rb, left, right), parent, field, left, right);
    }
    if (iso->writable && ra.offset == rb.offset && !has_identity(iso, a, ra.id) &&
        !has_identity(iso, b, rb.id)) {
        enum violation v = compare_values(iso, a, b, (struct pair){ra.id, rb.id, parent, field});
        return v ? differ(iso, v, parent, field, left, right) : v;
    }
    struct graph_cell *ca = &a->cells[ra.id], *cb = &b->cells[rb.id];
    bool old_a = visited(iso, a, ra.id), old_b = visited(iso, b, rb.id);
    /* One of them is new and the other is not: two blocks became one, or one became two. */
    if (old_a != old_b)
        return differ(iso, VIOLATION_sharing_changed, parent, field, left, right);
    if (ra.offset != rb.offset || (old_a && ca->partner != rb.id) || iso->pairs == iso->capacity)
        return differ(iso, VIOLATION_edge_changed, parent, field, left, right);
    if (old_a)
        return VIOLATION_none;
    ca->visit = cb->visit = iso->run;
    ca->partner = rb.id;
    cb->partner = ra.id;
    iso->queue[iso->pairs++] = (struct pair){ra.id, rb.id, parent, field};
    return VIOLATION_none;
}

/* The first place from i on where not the same immediate is on both sides, n if there is none: most
 * words are not worth a call, and four are passed over at a time. */
static inline uint32_t next_word(const word *left, const word *right, uint32_t i, uint32_t n) {
    for (; i + 4 <= n; i += 4) {
        const word *l = left + i, *r = right + i;
        word differ = (l[0] ^ r[0]) | (l[1] ^ r[1]) | (l[2] ^ r[2]) | (l[3] ^ r[3]);
        if (differ != 0 || !is_immediate(l[0] & l[1] & l[2] & l[3]))
            break;
    }
    while (i < n && left[i] == right[i] && is_immediate(left[i]))
        i++;
    return i;
}

/* Extends f by the blocks that two words point at, or checks that f has them. */
static enum violation compare_refs(struct isomorphism *iso, const struct graph *a,
                                   const struct graph *b, word left, word right, uint32_t parent,
                                   uint32_t field) {
    /* A pair that f has, by address: nothing of b need be touched. */
    word at = left - pointer_word(a->base);
    if (at < a->words * sizeof(word) && at % sizeof(word) == 0) {
        const struct graph_cell *cell = &a->cells[at / sizeof(word)];
        if (cell->visit == iso->run && right == graph_word(b, cell->partner))
            return VIOLATION_none;
    }
    return compare_odd_refs(iso, a, b, left, right, parent, field);
}

static bool is_gap(const struct isomorphism *iso, const struct graph *b, uint32_t q, word left,
                   word right) {
    return (left == WORD_UNIT || right == WORD_UNIT) && b->model &&
           b->model->objects[iso->queue[q].b].ephemeron;
}

/* Is it the key of an ephemeron that may be passed?  *right: what was given; it may be there or
 * not.
 */
static bool is_passed(const struct isomorphism *iso, const struct graph *b, uint32_t q, uint32_t i,
                      word *right) {
    uint32_t object = iso->queue[q].b;
    if (!b->model || i == 0 || !b->model->outlives || !b->model->objects[object].ephemeron)
        return false;
    const struct model_object *o = &b->model->objects[object];
    word kept = b->model->fields[o->first_field + o->wosize + i];
    if (!model_may_be_passed(b->model, kept))
        return false;
    *right = kept;
    return true;
}

static enum violation compare_blocks(struct isomorphism *iso, const struct graph *a,
                                     const struct graph *b, uint32_t q) {
    struct graph_block ba = graph_block(a, iso->queue[q].a), bb = graph_block(b, iso->queue[q].b);
    if (ba.tag != bb.tag || ba.wosize != bb.wosize || ba.first_scanned != bb.first_scanned) {
        iso->in_block = true;
        if (ba.tag != bb.tag)
            return differ(iso, VIOLATION_tag_changed, q, NO_PARENT, ba.tag, bb.tag);
        if (ba.wosize != bb.wosize)
            return differ(iso, VIOLATION_size_changed, q, NO_PARENT, ba.wosize, bb.wosize);
        return differ(iso, VIOLATION_data_changed, q, 1, ba.fields[1], bb.fields[1]);
    }
    for (uint32_t i = 0; i < ba.first_scanned; i++)
        if (isomorphism_comparable(ba.fields[i], ba.tag) !=
                isomorphism_comparable(bb.fields[i], ba.tag) &&
            !same_address(a, b, ba.fields[i], bb.fields[i])) {
            iso->in_block = true;
            return differ(iso, VIOLATION_data_changed, q, i, ba.fields[i], bb.fields[i]);
        }
    uint32_t n = ba.wosize, i = next_word(ba.fields, bb.fields, ba.first_scanned, n);
    for (; i < n; i = next_word(ba.fields, bb.fields, i + 1, n)) {
        if (iso->gaps && is_gap(iso, b, q, ba.fields[i], bb.fields[i]))
            continue;
        word right = bb.fields[i];
        if (iso->forwards && is_passed(iso, b, q, i, &right) && ba.fields[i] == WORD_UNIT)
            continue;
        enum violation v = compare_refs(iso, a, b, ba.fields[i], right, q, i);
        if (v)
            return v;
    }
    return VIOLATION_none;
}

void isomorphism_begin(struct isomorphism *iso, const struct graph *a, const struct graph *b) {
    if (++iso->run == 0) { /* once in 2^32 comparisons: what the cells remember is void */
        graph_forget(a);
        if (b)
            graph_forget(b);
        iso->run = 1;
    }
    iso->pairs = 0;
    iso->in_block = false;
}

enum violation isomorphism_compare(struct isomorphism *iso, const struct graph *a,
                                   const struct graph *b) {
    unsigned mutators = a->mutators < b->mutators ? a->mutators : b->mutators;
    isomorphism_begin(iso, a, b);
    uint32_t n = mutators * GC_SLOTS, s = next_word(a->slots, b->slots, 0, n);
    for (; s < n; s = next_word(a->slots, b->slots, s + 1, n)) {
        enum violation v = compare_refs(iso, a, b, a->slots[s], b->slots[s], NO_PARENT, s);
        if (v)
            return v;
    }
    bool large = a->words > CACHED_WORDS;
    for (uint32_t q = 0; q < iso->pairs; q++) {
        if (large)
            look_ahead(iso, a, q);
        enum violation v = compare_blocks(iso, a, b, q);
        if (v)
            return v;
    }
    return VIOLATION_none;
}

enum { LONGEST_PATH = 24 }; /* steps printed; the middle of a longer one is left out */

size_t isomorphism_path(const struct isomorphism *iso, char *out, size_t capacity) {
    uint32_t steps[LONGEST_PATH];
    size_t n = 0, skipped = 0, length = 0;
    uint32_t field = iso->field, q = iso->parent;
    if (field == NO_PARENT) { /* the block itself: its own path */
        field = iso->queue[q].field;
        q = iso->queue[q].parent;
    }
    while (q != NO_PARENT) {
        if (n < LONGEST_PATH)
            steps[n++] = field;
        else
            skipped++;
        field = iso->queue[q].field;
        q = iso->queue[q].parent;
    }
#define PUT(...)                                                                                   \
    length += (size_t)snprintf(length < capacity ? out + length : NULL,                            \
                               length < capacity ? capacity - length : 0, __VA_ARGS__)
    if (field / GC_SLOTS)
        PUT("mutator %u: ", (unsigned)(field / GC_SLOTS));
    PUT("r%u", (unsigned)(field % GC_SLOTS));
    if (skipped)
        PUT("...(%zu fields)", skipped);
    while (n)
        PUT(".%u", (unsigned)steps[--n]);
#undef PUT
    return length;
}

static uint64_t mix(uint64_t digest, uint64_t value) {
    digest ^= value;
    digest *= 0x9e3779b97f4a7c15;
    return digest ^ digest >> 29;
}

static uint64_t digest_ref(const struct isomorphism *iso, const struct graph *a,
                           const struct graph *b, uint64_t digest, word left, word right) {
    struct graph_ref ref = graph_resolve(a, left);
    if (ref.kind == GRAPH_BLOCK && visited(iso, a, ref.id))
        return mix(mix(digest, a->cells[ref.id].partner), ref.offset);
    if (iso->forwards)
        right = isomorphism_forwarded(a, b, left, right);
    return mix(digest, same_address(a, b, left, right) ? right : left);
}

static uint64_t digest_raw(const struct graph *a, const struct graph *b, uint64_t digest, word left,
                           word right, unsigned tag) {
    if (same_address(a, b, left, right))
        return mix(digest, right);
    return mix(digest, isomorphism_comparable(left, tag));
}

uint64_t isomorphism_digest(const struct isomorphism *iso, const struct graph *a,
                            const struct graph *b) {
    uint64_t digest = 0xcbf29ce484222325;
    for (size_t q = 0; q < iso->pairs; q++) /* a name without an address: its place in the queue */
        a->cells[iso->queue[q].a].partner = (uint32_t)q;
    for (uint32_t s = 0; s < a->mutators * GC_SLOTS; s++)
        digest = digest_ref(iso, a, b, digest, a->slots[s], b->slots[s]);
    for (size_t q = 0; q < iso->pairs; q++) {
        struct graph_block block = graph_block(a, iso->queue[q].a);
        const word *right = graph_block(b, iso->queue[q].b).fields;
        digest = mix(digest, (uint64_t)block.wosize << 8 | block.tag);
        for (uint32_t i = 0; i < block.wosize; i++)
            digest = i < block.first_scanned
                         ? digest_raw(a, b, digest, block.fields[i], right[i], block.tag)
                         : digest_ref(iso, a, b, digest, block.fields[i], right[i]);
    }
    return digest;
}
