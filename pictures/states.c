/* SPDX-License-Identifier: MIT
 *
 * Recording the states of a run (states.h).
 *
 * A state is a list of records, in address order; a record is one block without its place, so that
 * the many blocks that an operation leaves alone are one number each.  Pointers are numbers of
 * nodes, and a node is a name, so that a block that moves keeps its record.  Of a list only the
 * stretch is written that differs from the state before.
 */
#define _GNU_SOURCE
#include "pictures/states.h"

#include "harness/path.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

enum {
    HASH = 1 << 18, /* a power of two, twice what is looked up at the least */
    NO_NODE = 0xffff,
    BLOCKS = 2 * PROGRAM_HEAP_WORDS + 16,
    SLOTS_TEXT = 1 << 13,
    REMEMBERED_TEXT = 1 << 13,
    RUN = 4, /* equal fields in a row are written once from here on */
    CELL_LEAST = 26,
    CELL_MOST = 84
};

/* The list of one party as it was written last. */
struct list {
    uint32_t n, records[BLOCKS];
    char slots[SLOTS_TEXT], remembered[REMEMBERED_TEXT];
};

struct recorder {
    struct states *shared;
    bool has_reference;
    unsigned first;
    /* the child's own */
    unsigned op; /* that is under way; PROGRAM_OPS: the initial heap is being built */
    uint32_t n_records, n_known;
    struct {
        uint32_t at, length, number;
    } records[HASH];
    struct {
        uint64_t key; /* 0: nothing */
        uint32_t number;
    } known[HASH];                     /* records by what their blocks have */
    uint32_t nodes[HASH], edges[HASH]; /* number + 1 */
    uint32_t seen[STATES_NODES];       /* last snapshot that had the node */
    uint32_t snapshot;
    struct list last[PARTIES];
    uint16_t node_of[BLOCKS]; /* of each block of the snapshot */
    uint32_t now[BLOCKS];
};

struct recorder *recorder_open(const struct collector *reference, unsigned first) {
    struct recorder *r = calloc(1, sizeof *r);
    if (!r)
        return NULL;
    r->shared = mmap(NULL, sizeof *r->shared, PROT_READ | PROT_WRITE,
                     MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (r->shared == MAP_FAILED) {
        free(r);
        return NULL;
    }
    r->shared->reached = -2;
    r->has_reference = reference;
    r->first = first;
    return r;
}

void recorder_close(struct recorder *r) {
    if (!r)
        return;
    munmap(r->shared, sizeof *r->shared);
    free(r);
}

const struct states *recorder_states(const struct recorder *r) {
    return r->shared;
}

/* ---- switches of threads ----------------------------------------------------------------------
 */

void states_note_switch(struct states_switches *s, uint64_t decision, uint64_t thread) {
    if (s->n < STATES_SWITCHES) {
        s->at[s->n].decision = decision;
        s->at[s->n].thread = thread;
    }
    s->n++;
}

void states_print_switches(const struct states_switches *s, FILE *out) {
    if (!s->n)
        return;
    fprintf(out, "%u switch%s: thread", s->n, s->n == 1 ? "" : "es");
    for (unsigned i = 0; i < s->n && i < STATES_SWITCHES; i++)
        fprintf(out, " %" PRIu64 " at %" PRIu64 "%s", s->at[i].thread, s->at[i].decision,
                i + 1 < s->n ? "," : "");
    if (s->n > STATES_SWITCHES)
        fprintf(out, " ...");
}

void record_switch(void *context, uint64_t decision, uint64_t thread) {
    struct recorder *r = context;
    states_note_switch(&r->shared->switches[r->op], decision, thread);
}

/* ---- interning --------------------------------------------------------------------------------
 */

static uint32_t hash(const void *data, size_t size) {
    uint64_t h = 0xcbf29ce484222325;
    for (size_t i = 0; i < size; i++)
        h = (h ^ ((const unsigned char *)data)[i]) * 0x100000001b3;
    return (uint32_t)(h ^ h >> 32) & (HASH - 1);
}

/* False, and the recording ends, if there is no room. */
static bool append(struct recorder *r, struct states_text *t, const char *text, size_t length) {
    if (length > STATES_TEXT - t->length)
        r->shared->full = true;
    if (r->shared->full)
        return false;
    memcpy(t->text + t->length, text, length);
    t->length += length;
    return true;
}

/* The number of a record, given as JSON. */
static uint32_t intern_record(struct recorder *r, const char *text, size_t length) {
    struct states_text *t = &r->shared->records;
    uint32_t i = hash(text, length);
    for (; r->records[i].length; i = (i + 1) & (HASH - 1))
        if (r->records[i].length == length && memcmp(t->text + r->records[i].at, text, length) == 0)
            return r->records[i].number;
    if (r->n_records == STATES_RECORDS) {
        r->shared->full = true;
        return 0;
    }
    if (r->n_records)
        append(r, t, ",\n", 2);
    r->records[i].at = (uint32_t)t->length;
    if (!append(r, t, text, length))
        return 0;
    r->records[i].length = (uint32_t)length;
    r->records[i].number = r->n_records;
    return r->n_records++;
}

static unsigned intern_node(struct recorder *r, const char *key, bool is_root) {
    struct states *s = r->shared;
    uint32_t i = hash(key, strlen(key));
    for (; r->nodes[i]; i = (i + 1) & (HASH - 1))
        if (strcmp(s->nodes[r->nodes[i] - 1].key, key) == 0)
            return r->nodes[i] - 1;
    if (s->n_nodes == STATES_NODES) {
        s->full = true;
        return NO_NODE;
    }
    struct states_node *n = &s->nodes[s->n_nodes];
    snprintf(n->key, sizeof n->key, "%s", key);
    n->is_root = n->reached = is_root;
    n->head = (uint8_t)(is_root ? 7 * strlen(key) + 16 : 8 * strlen(key) + 34);
    r->nodes[i] = ++s->n_nodes;
    return s->n_nodes - 1;
}

static void intern_edge(struct recorder *r, unsigned from, size_t field, unsigned to,
                        size_t offset) {
    struct states *s = r->shared;
    if (field >= STATES_FIELDS)
        field = STATES_FIELDS - 1;
    struct states_edge e = {(uint16_t)from, (uint16_t)to, (uint16_t)field, (uint16_t)offset};
    uint32_t i = hash(&e, sizeof e);
    for (; r->edges[i]; i = (i + 1) & (HASH - 1))
        if (memcmp(&s->edges[r->edges[i] - 1], &e, sizeof e) == 0)
            return;
    if (s->n_edges == STATES_EDGES)
        return; /* the picture lacks an arrow; the cell still says where it leads */
    s->edges[s->n_edges] = e;
    r->edges[i] = ++s->n_edges;
}

/* ---- blocks -----------------------------------------------------------------------------------
 */

/* The node of a block of the snapshot.  Two blocks of one name are what sharing_changed is about.
 */
static unsigned find_node(struct recorder *r, const struct snapshot *s, size_t index) {
    const struct snapshot_block *b = &s->blocks[index];
    char key[STATES_KEY];
    if (b->extent != GC_LIVE || (!b->name[0] && !b->reachable))
        return NO_NODE;
    if (b->name[0])
        snprintf(key, sizeof key, "%s", b->name);
    else
        snprintf(key, sizeof key, "?%c%zu", party_name(s->party)[0], b->offset);
    unsigned node = intern_node(r, key, false);
    for (unsigned copy = 2; node != NO_NODE && r->seen[node] == r->snapshot; copy++) {
        snprintf(key, sizeof key, "%.15s#%u", b->name, copy);
        node = intern_node(r, key, false);
    }
    if (node != NO_NODE) {
        r->seen[node] = r->snapshot;
        r->shared->nodes[node].reached |= b->reachable;
    }
    return node;
}

/* A word as JSON: a node, [node, field], {"at": word} for a pointer to no block, as if its header
 * were at that word, else what it says;
 * of that a cell shows what stands before the first blank. */
static unsigned word_json(const struct recorder *r, const struct snapshot *s, word v, bool scanned,
                          char *out, size_t room) {
    struct snapshot_edge edge = {.pointer = false};
    char address[32];
    if (scanned)
        edge = snapshot_resolve(s, v);
    if (!edge.pointer && snapshot_address(s, v, address, sizeof address))
        return (unsigned)snprintf(out, room, "\"%s\"", address);
    if (!scanned)
        return (unsigned)snprintf(out, room, "\"0x%" PRIx64 "\"", v);
    if (is_immediate(v))
        return (unsigned)snprintf(out, room, "\"%" PRId64 "\"", immediate_value(v));
    if (!edge.pointer)
        return (unsigned)snprintf(out, room, "\"out 0x%" PRIx64 "\"", v);
    if (edge.block == SIZE_MAX)
        return (unsigned)snprintf(out, room, "{\"at\":%td}", (ptrdiff_t)edge.at - 1);
    if (r->node_of[edge.block] == NO_NODE)
        return (unsigned)snprintf(out, room, "\"dead\"");
    if (edge.offset)
        return (unsigned)snprintf(out, room, "[%u,%zu]", r->node_of[edge.block], edge.offset);
    return (unsigned)snprintf(out, room, "%u", r->node_of[edge.block]);
}

static unsigned field_json(const struct recorder *r, const struct snapshot *s,
                           const struct snapshot_block *b, size_t f, char *out, size_t room) {
    word v = b->fields[f];
    if (f >= b->first_scanned || b->tag != TAG_CLOSURE)
        return word_json(r, s, v, f >= b->first_scanned, out, room);
    if (header_tag(v) == TAG_INFIX) /* whatever its colour */
        return (unsigned)snprintf(out, room, "\"infix\"");
    return (unsigned)snprintf(out, room, "\"%s 0x%" PRIx64 "\"", is_immediate(v) ? "info" : "code",
                              v);
}

static void widen(struct states_node *n, size_t f, const char *json) {
    size_t width = json[0] == '"' ? 7 * strcspn(json + 1, " \"") + 12 : CELL_LEAST;
    if (f >= STATES_FIELDS)
        return;
    if (f == STATES_FIELDS - 1)
        width = 60; /* "123 more" */
    width = width < CELL_LEAST ? CELL_LEAST : width > CELL_MOST ? CELL_MOST : width;
    n->width[f] = width > n->width[f] ? (uint8_t)width : n->width[f];
    n->cells = f >= n->cells ? (uint8_t)(f + 1) : n->cells;
}

/* The fields as a JSON list; many equal ones in a row as {"n":how many,"v":word}. */
static void fields_json(FILE *out, struct recorder *r, const struct snapshot *s, size_t index) {
    const struct snapshot_block *b = &s->blocks[index];
    unsigned node = r->node_of[index];
    char json[48];
    for (size_t f = 0; f < b->wosize;) {
        size_t run = 1;
        while (f + run < b->wosize && b->fields[f + run] == b->fields[f] &&
               (f >= b->first_scanned || f + run < b->first_scanned))
            run++;
        field_json(r, s, b, f, json, sizeof json);
        if (run < RUN)
            run = 1;
        fputs(f ? "," : "", out);
        if (run > 1)
            fprintf(out, "{\"n\":%zu,\"v\":%s}", run, json);
        else
            fputs(json, out);
        for (size_t end = f + run; f < end; f++) {
            if (node == NO_NODE)
                continue;
            widen(&r->shared->nodes[node], f, json);
            struct snapshot_edge e = {.block = SIZE_MAX};
            if (f >= b->first_scanned)
                e = snapshot_resolve(s, b->fields[f]);
            if (e.block != SIZE_MAX && r->node_of[e.block] != NO_NODE)
                intern_edge(r, node, f, r->node_of[e.block], e.offset);
        }
    }
}

/* [node or -1, extent, size, tag, colour, flags, [fields]]; of gaps the first five. */
static uint32_t write_record(struct recorder *r, const struct snapshot *s, size_t index) {
    const struct snapshot_block *b = &s->blocks[index];
    char *text = NULL;
    size_t length;
    FILE *out = open_memstream(&text, &length);
    if (!out) {
        r->shared->full = true;
        return 0;
    }
    int node = r->node_of[index] == NO_NODE ? -1 : r->node_of[index];
    fprintf(out, "[%d,%u,%zu,%u,%u", node, (unsigned)b->extent, b->wosize, b->tag, b->colour);
    if (b->extent == GC_LIVE) {
        bool is_static = s->party != PARTY_MODEL && b->offset == SIZE_MAX;
        fprintf(out, ",%u,[", (unsigned)b->reachable | (unsigned)is_static << 1);
        fields_json(out, r, s, index);
        fprintf(out, "]");
    }
    fprintf(out, "]");
    fclose(out);
    uint32_t number = intern_record(r, text, length);
    free(text);
    return number;
}

void states_root_key(unsigned m, unsigned slot, char out[STATES_KEY]) {
    if (m)
        snprintf(out, STATES_KEY, "%u:r%u", m, slot);
    else
        snprintf(out, STATES_KEY, "r%u", slot);
}

static uint64_t mix(uint64_t key, uint64_t value) {
    key = (key ^ value) * 0x9e3779b97f4a7c15;
    return key ^ key >> 29;
}

/* 64 bits that are the same for blocks with the same record: most are as in the state before, and
 * to write them all again would take most of the time. */
static uint64_t key_of(const struct recorder *r, const struct snapshot *s, size_t index) {
    const struct snapshot_block *b = &s->blocks[index];
    uint64_t key = mix(b->extent, r->node_of[index]);
    key = mix(mix(mix(key, b->wosize), b->tag), b->colour);
    if (b->extent != GC_LIVE)
        return key | 1;
    key = mix(key, b->reachable | (s->party != PARTY_MODEL && b->offset == SIZE_MAX) << 1);
    key = mix(key, b->first_scanned);
    for (size_t f = 0; f < b->wosize; f++) {
        struct snapshot_edge e = {.pointer = false};
        if (f >= b->first_scanned)
            e = snapshot_resolve(s, b->fields[f]);
        if (!e.pointer)
            key = mix(key, b->fields[f]);
        else if (e.block == SIZE_MAX)
            key = mix(mix(key, 1), e.at);
        else
            key = mix(mix(mix(key, 2), r->node_of[e.block]), e.offset);
    }
    return key | 1;
}

static uint32_t record_of(struct recorder *r, const struct snapshot *s, size_t index) {
    uint64_t key = key_of(r, s, index);
    uint32_t i = (uint32_t)(key >> 32) & (HASH - 1);
    for (; r->known[i].key; i = (i + 1) & (HASH - 1))
        if (r->known[i].key == key)
            return r->known[i].number;
    uint32_t number = write_record(r, s, index);
    if (!r->shared->full && ++r->n_known < HASH / 2) {
        r->known[i].key = key;
        r->known[i].number = number;
    }
    return number;
}

/* ---- roots ------------------------------------------------------------------------------------
 */

/* A list of [mutator, slot, word], without the empty ones. */
static void slots_json(struct recorder *r, const struct snapshot *s, char *text) {
    size_t length = 0;
    char key[STATES_KEY], json[48];
    text[0] = 0;
    for (unsigned i = 0; i < s->mutators * GC_SLOTS; i++) {
        unsigned m = i / GC_SLOTS, slot = i % GC_SLOTS;
        if (s->slots[i] == WORD_UNIT || slot >= PROGRAM_SLOTS)
            continue;
        word_json(r, s, s->slots[i], true, json, sizeof json);
        if (!is_immediate(s->slots[i])) {
            states_root_key(m, slot, key);
            unsigned node = intern_node(r, key, true);
            struct snapshot_edge e = snapshot_resolve(s, s->slots[i]);
            if (node != NO_NODE && e.block != SIZE_MAX && r->node_of[e.block] != NO_NODE)
                intern_edge(r, node, 0, r->node_of[e.block], e.offset);
        }
        length += (size_t)snprintf(text + length, SLOTS_TEXT - length, "%s[%u,%u,%s]",
                                   length ? "," : "", m, slot, json);
    }
}

/* ---- the remembered set -----------------------------------------------------------------------
 */

struct remembering {
    struct recorder *recorder;
    const struct snapshot *snapshot;
    char *text;
    size_t length;
};

/* A field of a block that has no node is not shown, nor what the text has no room for. */
static void remember_field(void *context, word block, size_t i) {
    struct remembering *m = context;
    struct snapshot_edge e = snapshot_resolve(m->snapshot, block);
    unsigned node = e.block == SIZE_MAX ? NO_NODE : m->recorder->node_of[e.block];
    if (node == NO_NODE || m->length > REMEMBERED_TEXT - 48)
        return;
    m->length += (size_t)snprintf(m->text + m->length, REMEMBERED_TEXT - m->length, "%s[%u,%zu]",
                                  m->length ? "," : "", node, i);
}

/* A list of [node, field]. */
static void remembered_json(struct recorder *r, struct runner *runner, const struct snapshot *s,
                            char *text) {
    struct remembering m = {r, s, text, 0};
    text[0] = 0;
    runner_remembered(runner, s->party, remember_field, &m);
}

/* ---- states -----------------------------------------------------------------------------------
 */

/* [party, operation, first, how many go, [what comes], slots, remembered]: the change of the list
 * of records; slots and remembered are 0 if they are as before. */
static void put_state(struct recorder *r, enum party party, long op, uint32_t n, const char *slots,
                      const char *remembered) {
    struct list *last = &r->last[party];
    uint32_t head = 0, tail = 0;
    while (head < n && head < last->n && r->now[head] == last->records[head])
        head++;
    while (tail < n - head && tail < last->n - head &&
           r->now[n - 1 - tail] == last->records[last->n - 1 - tail])
        tail++;
    char *text = NULL;
    size_t length;
    FILE *out = open_memstream(&text, &length);
    if (!out) {
        r->shared->full = true;
        return;
    }
    fprintf(out, "%s[%u,%ld,%u,%u,[", r->shared->states.length ? ",\n" : "", (unsigned)party, op,
            head, last->n - head - tail);
    for (uint32_t i = head; i < n - tail; i++)
        fprintf(out, "%s%u", i > head ? "," : "", r->now[i]);
    if (strcmp(slots, last->slots) == 0)
        fprintf(out, "],0");
    else
        fprintf(out, "],[%s]", slots);
    if (strcmp(remembered, last->remembered) == 0)
        fprintf(out, ",0]");
    else
        fprintf(out, ",[%s]]", remembered);
    fclose(out);
    append(r, &r->shared->states, text, length);
    free(text);
    last->n = n;
    memcpy(last->records, r->now, n * sizeof *r->now);
    snprintf(last->slots, sizeof last->slots, "%s", slots);
    snprintf(last->remembered, sizeof last->remembered, "%s", remembered);
}

/* The run has failed: this is the state of which the verdict speaks. */
static void mark_path(struct recorder *r, const struct runner *runner, const struct snapshot *s) {
    const struct verdict *v = runner_current(runner, NULL);
    struct path path = path_read(v->path);
    if (!v->violation || !path.given)
        return;
    for (size_t i = 0; i < s->n_blocks; i++) {
        struct mark mark = path_mark(s, &path, i);
        if (r->node_of[i] != NO_NODE && (mark.end || mark.field >= 0))
            r->shared->nodes[r->node_of[i]].on_path = true;
    }
}

static void record_party(struct recorder *r, struct runner *runner, enum party party, long op) {
    static char slots[SLOTS_TEXT], remembered[REMEMBERED_TEXT];
    struct snapshot s;
    if (!runner_snapshot(runner, party, &s) || s.n_blocks > BLOCKS) {
        char text[48];
        int n = snprintf(text, sizeof text, "%s[%u,%ld]", r->shared->states.length ? ",\n" : "",
                         (unsigned)party, op);
        append(r, &r->shared->states, text, (size_t)n);
        return;
    }
    r->snapshot++;
    for (size_t i = 0; i < s.n_blocks; i++)
        r->node_of[i] = (uint16_t)find_node(r, &s, i);
    for (size_t i = 0; i < s.n_blocks; i++)
        r->now[i] = record_of(r, &s, i);
    slots_json(r, &s, slots);
    remembered_json(r, runner, &s, remembered);
    mark_path(r, runner, &s);
    if (!r->shared->full)
        put_state(r, party, op, (uint32_t)s.n_blocks, slots, remembered);
}

void record_state(void *context, struct runner *runner, unsigned op, bool before) {
    struct recorder *r = context;
    long number = op == OP_INITIAL ? -1 : (long)op;
    r->op = op < PROGRAM_OPS ? op : PROGRAM_OPS;
    if (before || r->shared->full || number < (long)r->first - 1)
        return;
    for (unsigned p = 0; p < PARTIES; p++)
        if (p != PARTY_REFERENCE || r->has_reference)
            record_party(r, runner, (enum party)p, number);
    if (!r->shared->full)
        r->shared->reached = number;
}
