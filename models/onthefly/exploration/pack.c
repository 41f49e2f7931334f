/* SPDX-License-Identifier: MIT
 *
 * Packing states of the on-the-fly model (pack.h).
 */
#include "models/onthefly/exploration/pack.h"

#include <assert.h>
#include <string.h>

/* A string of bits, being written or read. */
struct bits {
    uint64_t word;
    unsigned used;
    uint8_t *out;
    const uint8_t *in;
};

static void put(struct bits *b, unsigned value, unsigned width) {
    assert(value >> width == 0); /* else the packed state would be another one */
    b->word |= (uint64_t)value << b->used;
    b->used += width;
    while (b->used >= 8) {
        *b->out++ = (uint8_t)b->word;
        b->word >>= 8;
        b->used -= 8;
    }
}

static unsigned get(struct bits *b, unsigned width) {
    while (b->used < width) {
        b->word |= (uint64_t)*b->in++ << b->used;
        b->used += 8;
    }
    unsigned value = (unsigned)b->word & ((1U << width) - 1);
    b->word >>= width;
    b->used -= width;
    return value;
}

static unsigned width_of(unsigned largest) {
    unsigned width = 0;
    while (largest >> width)
        width++;
    return width;
}

/* ---- names ------------------------------------------------------------------------------------
 */

/* How a state is renamed while it is packed. */
struct renaming {
    const struct packing *k;
    const uint8_t *mutators;  /* mutators[i]: who is i-th */
    const uint8_t *refs;      /* refs[i]: which reference is i-th */
    const refset *set;        /* NULL: as it is */
    uint8_t to[REFS_MAX + 1]; /* for orefs */
    bool flip;
};

static unsigned rename_set(const struct renaming *n, refset set) {
    return n->set ? n->set[set] : set;
}

static unsigned live_sense(const struct renaming *n, bool live, unsigned value) {
    return live && value != NO_OBJECT ? value ^ n->flip : value;
}

/* ---- entries ----------------------------------------------------------------------------------
 *
 * A pending store as a number from 1; 0 is none.  Marks come first, for everybody; then what the
 * process stores in the paper, fields of a mutator and control variables of the collector; and last
 * what it only stores in a variant, which has room for it.
 */

enum { CONTROL_ENTRIES = 8, TYPES = 4 };

/* With the types, and who is asked or answers. */
static unsigned control_entries(const struct model *m) {
    return CONTROL_ENTRIES + (model_tso_handshake(m) ? TYPES + m->mutators : 0);
}

static unsigned field_values(const struct model *m) {
    return m->refs + 1;
}

static unsigned field_entries(const struct model *m) {
    return m->refs * m->fields * field_values(m);
}

/* The largest number of an entry of a mutator or of the collector. */
static unsigned entries(const struct model *m, bool gc) {
    bool fields = !gc || m->variant & VARIANT(gc_writes);
    bool control = gc || m->variant & (VARIANT(mutator_sets_phase) | VARIANT(tso_handshake));
    return 2 * m->refs + (fields ? field_entries(m) : 0) + (control ? control_entries(m) : 0);
}

static unsigned field_code(const struct renaming *n, struct tso_entry e) {
    const struct model *m = &n->k->model;
    unsigned r = n->to[cell_ref(e.cell) + 1] - 1U, f = (e.cell - CELL_FIELD) % FIELDS_MAX;
    return (r * m->fields + f) * field_values(m) + n->to[e.value];
}

static unsigned control_code(const struct renaming *n, struct tso_entry e) {
    unsigned i = 0;
    if (e.cell == CELL_TYPE)
        return CONTROL_ENTRIES + (unsigned)e.value;
    while (cell_is_pending(e.cell) && n->mutators[i] != e.cell - CELL_PENDING)
        i++;
    if (cell_is_pending(e.cell))
        return CONTROL_ENTRIES + TYPES + i;
    if (e.cell == CELL_PHASE)
        return 4 + (unsigned)e.value;
    return 2U * (e.cell == CELL_FM) + (e.value ^ n->flip);
}

static unsigned entry_code(const struct renaming *n, bool gc, struct tso_entry e) {
    const struct model *m = &n->k->model;
    unsigned code = 1;
    if (cell_is_mark(e.cell))
        code += 2 * (n->to[cell_ref(e.cell) + 1] - 1U) + (e.value ^ n->flip);
    else if (e.cell >= CELL_FIELD)
        code += 2 * m->refs + (gc ? control_entries(m) : 0) + field_code(n, e);
    else
        code += 2 * m->refs + (gc ? 0 : field_entries(m)) + control_code(n, e);
    assert(code <= n->k->entries[gc]); /* no variant that pack.c knows stores that */
    return code;
}

static struct tso_entry field_of(const struct model *m, unsigned code) {
    unsigned at = code / field_values(m);
    return (struct tso_entry){(uint8_t)cell_field(at / m->fields, at % m->fields),
                              (uint8_t)(code % field_values(m))};
}

/* The collector asks, and a mutator answers. */
static struct tso_entry control_of(unsigned code, bool gc) {
    if (code >= CONTROL_ENTRIES + TYPES)
        return (struct tso_entry){(uint8_t)(CELL_PENDING + code - CONTROL_ENTRIES - TYPES), gc};
    if (code >= CONTROL_ENTRIES)
        return (struct tso_entry){CELL_TYPE, (uint8_t)(code - CONTROL_ENTRIES)};
    if (code >= 4)
        return (struct tso_entry){CELL_PHASE, (uint8_t)(code - 4)};
    return (struct tso_entry){code >= 2 ? CELL_FM : CELL_FA, code % 2};
}

static struct tso_entry entry_of(const struct model *m, bool gc, unsigned code) {
    unsigned marks = 2 * m->refs, rest = code - 1;
    unsigned own = gc ? control_entries(m) : field_entries(m);
    if (rest < marks)
        return (struct tso_entry){(uint8_t)cell_mark(rest / 2), rest % 2};
    rest -= marks;
    bool other = rest >= own;
    rest -= other ? own : 0;
    return gc == other ? field_of(m, rest) : control_of(rest, gc);
}

static void put_buffer(struct bits *b, const struct renaming *n, const struct state *s,
                       unsigned p) {
    const struct packing *k = n->k;
    bool gc = p == GC;
    unsigned bound = gc ? k->model.gc_buffer : k->model.buffer;
    assert(s->tso.count[p] <= (k->model.sequential ? 0 : bound));
    for (unsigned i = 0; i < bound && !k->model.sequential; i++)
        put(b, i < s->tso.count[p] ? entry_code(n, gc, s->tso.buffer[p][i]) : 0, k->entry_bits[gc]);
}

static void get_buffer(struct bits *b, const struct packing *k, struct state *s, unsigned p) {
    bool gc = p == GC;
    unsigned bound = gc ? k->model.gc_buffer : k->model.buffer;
    for (unsigned i = 0; i < bound && !k->model.sequential; i++) {
        unsigned code = get(b, k->entry_bits[gc]);
        if (code)
            s->tso.buffer[p][s->tso.count[p]++] = entry_of(&k->model, gc, code);
    }
}

/* ---- agents -----------------------------------------------------------------------------------
 */

/* Registers that hold a sense of the mark, where they are alive (model.h: dead ones are 0). */
static bool mark_alive(const struct model *m, const struct agent *a) {
    bool fM_first = m->variant & VARIANT(figure_5_order);
    return a->mark_pc >= mo_mtest || (a->mark_pc == mo_fM && !fM_first);
}

static bool fM_alive(const struct model *m, const struct agent *a) {
    bool fM_first = m->variant & VARIANT(figure_5_order);
    return a->mark_pc >= mo_mtest || (a->mark_pc == mo_mark && fM_first);
}

/* plain_mark has no second look. */
static bool cas_alive(const struct model *m, const struct agent *a) {
    return a->mark_pc >= mo_co_ctest && !(m->variant & VARIANT(plain_mark));
}

enum { MARK_PC_BITS = 4, MUTATOR_PC_BITS = 4, MORE_PC_BITS = 5, GC_PC_BITS = 6 };
_Static_assert(MARK_LABEL_COUNT <= 1 << MARK_PC_BITS, "labels of mark");
_Static_assert(mut_blocked <= 1 << MUTATOR_PC_BITS, "labels of mutators that neither block nor go");
_Static_assert(MUTATOR_LABEL_COUNT <= 1 << MORE_PC_BITS, "labels of mutators");
_Static_assert(GC_LABEL_COUNT <= 1 << GC_PC_BITS, "labels of the collector");

static unsigned pc_bits(const struct packing *k, bool gc) {
    if (gc)
        return GC_PC_BITS;
    const struct model *m = &k->model;
    bool more =
        model_blocks(m) || model_comes_and_goes(m) || model_pools(m) || model_tso_handshake(m);
    return more ? MORE_PC_BITS : MUTATOR_PC_BITS;
}

static void put_agent(struct bits *b, const struct renaming *n, const struct agent *a, bool gc) {
    const struct packing *k = n->k;
    const struct model *m = &k->model;
    put(b, a->pc, pc_bits(k, gc));
    put(b, a->mark_pc, MARK_PC_BITS);
    put(b, rename_set(n, a->W), k->set_bits);
    put(b, n->to[a->src], k->ref_bits);
    put(b, n->to[a->ref], k->ref_bits);
    put(b, a->field, k->field_bits);
    put(b, live_sense(n, mark_alive(m, a) || (gc && a->pc == gc_free), a->mark), 2);
    put(b, live_sense(n, cas_alive(m, a), a->cas), 2);
    put(b, live_sense(n, gc || fM_alive(m, a), a->fM), 1);
    put(b, a->phase, 2);
    put(b, rename_set(n, a->grey), k->set_bits);
}

static void get_agent(struct bits *b, const struct packing *k, struct agent *a, bool gc) {
    a->pc = (uint8_t)get(b, pc_bits(k, gc));
    a->mark_pc = (uint8_t)get(b, MARK_PC_BITS);
    a->W = (refset)get(b, k->set_bits);
    a->src = (oref)get(b, k->ref_bits);
    a->ref = (oref)get(b, k->ref_bits);
    a->field = (uint8_t)get(b, k->field_bits);
    a->mark = (uint8_t)get(b, 2);
    a->cas = (uint8_t)get(b, 2);
    a->fM = (uint8_t)get(b, 1);
    a->phase = (uint8_t)get(b, 2);
    a->grey = (refset)get(b, k->set_bits);
}

static void put_pool(struct bits *b, const struct renaming *n, const struct agent *a) {
    const struct packing *k = n->k;
    bool making = a->pc == mut_init_field || a->pc == mut_init_flag;
    bool early = k->model.variant & VARIANT(pools_early_flag);
    put(b, rename_set(n, a->pool), k->set_bits);
    put(b, rename_set(n, a->unborn), k->set_bits);
    put(b, n->to[a->fresh], k->ref_bits);
    put(b, live_sense(n, early && (a->pool || making || a->fresh), a->sense), 1);
}

static void get_pool(struct bits *b, const struct packing *k, struct agent *a) {
    a->pool = (refset)get(b, k->set_bits);
    a->unborn = (refset)get(b, k->set_bits);
    a->fresh = (oref)get(b, k->ref_bits);
    a->sense = (uint8_t)get(b, 1);
}

static void put_mutator(struct bits *b, const struct renaming *n, const struct state *s,
                        unsigned p) {
    const struct agent *a = &s->agent[p];
    const struct packing *k = n->k;
    put_agent(b, n, a, false);
    put(b, rename_set(n, a->roots), k->set_bits);
    put(b, rename_set(n, a->refs), k->set_bits);
    put(b, rename_set(n, a->root), k->set_bits);
    put(b, n->to[a->dst], k->ref_bits);
    put(b, a->hp, 3);
    if (model_pools(&k->model))
        put_pool(b, n, a);
    put(b, (s->pending >> p & 1U) | (s->sync >> p & 1U) << 1, 2);
    put_buffer(b, n, s, p);
}

static void get_mutator(struct bits *b, const struct packing *k, struct state *s, unsigned p) {
    struct agent *a = &s->agent[p];
    get_agent(b, k, a, false);
    a->roots = (refset)get(b, k->set_bits);
    a->refs = (refset)get(b, k->set_bits);
    a->root = (refset)get(b, k->set_bits);
    a->dst = (oref)get(b, k->ref_bits);
    a->hp = (uint8_t)get(b, 3);
    if (model_pools(&k->model))
        get_pool(b, k, a);
    unsigned hs = get(b, 2);
    s->pending |= (uint8_t)((hs & 1) << p);
    s->sync |= (uint8_t)((hs >> 1) << p);
    get_buffer(b, k, s, p);
}

/* What the collector's refs are: references, or else fields or mutators, which do not change
 * places: the search never stops while it asks or awaits single mutators, unless it takes every
 * step, and then mutators keep their places. */
static bool refs_of_heap(const struct agent *gc) {
    return gc->pc == gc_sweep || gc->pc == gc_free || gc->pc == gc_steal_pick ||
           gc->pc == gc_steal_mark;
}

static unsigned rename_mutators(const struct renaming *n, unsigned set) {
    unsigned renamed = 0;
    for (unsigned i = 0; i < n->k->model.mutators; i++)
        renamed |= (set >> n->mutators[i] & 1U) << i;
    return renamed;
}

static unsigned gc_refs(const struct renaming *n, const struct agent *gc) {
    if (refs_of_heap(gc))
        return rename_set(n, gc->refs);
    bool waits =
        gc_handshake(gc->pc) < HANDSHAKES || gc->pc == gc_answer || gc->pc == gc_answer_mark;
    return waits ? rename_mutators(n, gc->refs) : gc->refs;
}

/* ---- states -----------------------------------------------------------------------------------
 */

static void put_heap(struct bits *b, const struct renaming *n, const struct state *s) {
    const struct packing *k = n->k;
    const struct model *m = &k->model;
    put(b, rename_set(n, s->alloc), k->set_bits);
    for (unsigned i = 0; i < m->refs; i++) {
        unsigned r = n->refs[i];
        put(b, live_sense(n, s->alloc >> r & 1, s->tso.memory[cell_mark(r)]), 1);
        for (unsigned f = 0; f < m->fields; f++)
            put(b, n->to[state_field(s, r, f)], k->ref_bits);
    }
}

static unsigned rename_lock(const struct renaming *n, unsigned lock) {
    for (unsigned i = 0; i < n->k->model.mutators; i++)
        if (n->mutators[i] == lock)
            return i;
    return lock == TSO_NOBODY ? 5 : lock;
}

static void put_state(struct bits *b, const struct renaming *n, const struct state *s) {
    const struct packing *k = n->k;
    put_heap(b, n, s);
    put(b, s->tso.memory[CELL_FA] ^ n->flip, 1);
    if (!k->symmetry)
        put(b, state_fM(s), 1);
    put(b, s->tso.memory[CELL_PHASE], 2);
    put(b, rename_lock(n, s->tso.lock), 3);
    put(b, s->type, 2);
    put(b, rename_set(n, s->W), k->set_bits);
    put(b, s->hp, 3);
    if (k->model.track_garbage)
        put(b, rename_set(n, s->doomed), k->set_bits);
    for (unsigned i = 0; i < k->model.mutators; i++)
        put_mutator(b, n, s, n->mutators[i]);
    put_agent(b, n, &s->agent[GC], true);
    put(b, gc_refs(n, &s->agent[GC]), k->work_bits);
    put_buffer(b, n, s, GC);
    if (b->used)
        put(b, 0, 8 - b->used);
}

void unpack(const struct packing *k, const uint8_t *in, struct state *s) {
    const struct model *m = &k->model;
    struct bits b = {0, 0, NULL, in};
    memset(s, 0, sizeof *s);
    s->alloc = (refset)get(&b, k->set_bits);
    for (unsigned r = 0; r < m->refs; r++) {
        s->tso.memory[cell_mark(r)] = (uint8_t)get(&b, 1);
        for (unsigned f = 0; f < m->fields; f++)
            s->tso.memory[cell_field(r, f)] = (uint8_t)get(&b, k->ref_bits);
    }
    s->tso.memory[CELL_FA] = (uint8_t)get(&b, 1);
    if (!k->symmetry)
        s->tso.memory[CELL_FM] = (uint8_t)get(&b, 1);
    s->tso.memory[CELL_PHASE] = (uint8_t)get(&b, 2);
    unsigned lock = get(&b, 3);
    s->tso.lock = lock == 5 ? TSO_NOBODY : (uint8_t)lock;
    s->type = (uint8_t)get(&b, 2);
    s->W = (refset)get(&b, k->set_bits);
    s->hp = (uint8_t)get(&b, 3);
    if (m->track_garbage)
        s->doomed = (refset)get(&b, k->set_bits);
    for (unsigned i = 0; i < m->mutators; i++)
        get_mutator(&b, k, s, i);
    get_agent(&b, k, &s->agent[GC], true);
    s->agent[GC].refs = (uint8_t)get(&b, k->work_bits);
    get_buffer(&b, k, s, GC);
}

/* ---- orders -----------------------------------------------------------------------------------
 */

/* All orders of 0..n-1 in rows; returns their number. */
static unsigned list_orders(uint8_t *rows, unsigned row, unsigned n) {
    unsigned count = 0, total = 1;
    for (unsigned i = 2; i <= n; i++)
        total *= i;
    for (unsigned code = 0; code < total; code++, count++) {
        unsigned left = code, used = 0;
        for (unsigned i = 0; i < n; i++) {
            unsigned skip = left % (n - i), pick = 0;
            left /= n - i;
            for (;; pick++)
                if (!(used >> pick & 1) && skip-- == 0)
                    break;
            used |= 1U << pick;
            rows[code * row + i] = (uint8_t)pick;
        }
    }
    return count;
}

void pack_open(struct packing *k, const struct model *m, bool symmetry) {
    memset(k, 0, sizeof *k);
    k->model = *m;
    k->symmetry = symmetry;
    k->ref_bits = width_of(m->refs);
    k->set_bits = m->refs;
    k->field_bits = width_of(m->fields - 1);
    k->work_bits = m->refs;
    k->work_bits = k->work_bits > m->mutators ? k->work_bits : m->mutators;
    k->work_bits = k->work_bits > m->fields ? k->work_bits : m->fields;
    for (unsigned gc = 0; gc < 2; gc++) {
        k->entries[gc] = entries(m, gc);
        k->entry_bits[gc] = width_of(k->entries[gc]);
    }
    k->n_mutator_orders = list_orders(&k->mutator_order[0][0], MUTATORS_MAX, m->mutators);
    k->n_ref_orders = 1;
    for (uint8_t r = 0; r < m->refs; r++)
        k->ref_order[0][r] = r;
    if (m->refs <= PACK_REFS_MAX)
        k->n_ref_orders = list_orders(&k->ref_order[0][0], REFS_MAX, m->refs);
    for (unsigned o = 0; o < k->n_ref_orders && m->refs <= PACK_REFS_MAX; o++)
        for (unsigned set = 0; set < 1U << m->refs; set++)
            for (unsigned i = 0; i < m->refs; i++)
                k->ref_set[o][set] |= (refset)((set >> k->ref_order[o][i] & 1U) << i);
    struct state s;
    oref fields[REFS_MAX * FIELDS_MAX] = {0};
    refset roots[MUTATORS_MAX] = {0};
    uint8_t packed[PACK_BYTES_MAX];
    model_start(m, &s, 0, fields, roots);
    struct renaming n = {k, k->mutator_order[0], k->ref_order[0], NULL, {0}, false};
    struct bits b = {0, 0, packed, NULL};
    put_state(&b, &n, &s);
    k->bytes = (unsigned)(b.out - packed);
    assert(k->bytes <= PACK_BYTES_MAX);
}

/* What no renaming changes; an order that does not sort by it need not be tried. */
static unsigned mutator_key(const struct state *s, unsigned p) {
    const struct agent *a = &s->agent[p];
    return (unsigned)a->pc << 16 | (unsigned)a->mark_pc << 12 | (unsigned)a->hp << 8 |
           (unsigned)s->tso.count[p] << 4 | (s->pending >> p & 1U) << 1 | (s->sync >> p & 1U);
}

static unsigned ref_key(const struct packing *k, const struct state *s, const uint8_t *mutators,
                        unsigned r, bool flip) {
    unsigned bit = s->alloc >> r & 1U;
    unsigned key = bit << 1 | (bit && s->tso.memory[cell_mark(r)] != flip);
    key = key << 1 | (s->agent[GC].W >> r & 1U);
    for (unsigned i = 0; i < k->model.mutators; i++) {
        const struct agent *a = &s->agent[mutators[i]];
        key = key << 1 | (a->roots >> r & 1U);
        key = key << 1 | (a->W >> r & 1U);
        key = key << 1 | (a->ref == r + 1);
        key = key << 1 | (a->src == r + 1);
    }
    return key;
}

static bool sorted(const unsigned *keys, const uint8_t *order, unsigned n) {
    for (unsigned i = 1; i < n; i++)
        if (keys[order[i - 1]] > keys[order[i]])
            return false;
    return true;
}

static void pack_in_order(const struct packing *k, const struct state *s, unsigned mutators,
                          unsigned refs, uint8_t *out) {
    bool many = k->model.refs > PACK_REFS_MAX;
    struct renaming n = {
        k,   k->mutator_order[mutators], k->ref_order[refs], many ? NULL : k->ref_set[refs],
        {0}, k->symmetry && state_fM(s)};
    for (unsigned i = 0; i < k->model.refs; i++)
        n.to[k->ref_order[refs][i] + 1] = (uint8_t)(i + 1);
    struct bits b = {0, 0, out, NULL};
    put_state(&b, &n, s);
}

void pack_canonical(const struct packing *k, const struct state *s, uint8_t *out) {
    unsigned mutator_keys[MUTATORS_MAX] = {0}, ref_keys[REFS_MAX] = {0};
    uint8_t packed[PACK_BYTES_MAX];
    bool first = true;
    if (!k->symmetry) {
        pack_in_order(k, s, 0, 0, out);
        return;
    }
    for (unsigned p = 0; p < k->model.mutators; p++)
        mutator_keys[p] = mutator_key(s, p);
    for (unsigned i = 0; i < k->n_mutator_orders; i++) {
        const uint8_t *mutators = k->mutator_order[i];
        if (!sorted(mutator_keys, mutators, k->model.mutators))
            continue;
        for (unsigned r = 0; r < k->model.refs; r++)
            ref_keys[r] = ref_key(k, s, mutators, r, state_fM(s) != 0);
        for (unsigned j = 0; j < k->n_ref_orders; j++) {
            if (k->n_ref_orders > 1 && !sorted(ref_keys, k->ref_order[j], k->model.refs))
                continue;
            pack_in_order(k, s, i, j, first ? out : packed);
            if (!first && memcmp(packed, out, k->bytes) < 0)
                memcpy(out, packed, k->bytes);
            first = false;
        }
    }
}
