/* SPDX-License-Identifier: MIT
 *
 * Where a run stands (harness.h): the lines of a report that say who wrote what, how far the
 * collector's cycle is, and what it takes for young and for remembered.
 */
#include "harness/history.h"
#include "harness/path.h"
#include "harness/writing.h"
#include "program/text/text.h"

#include <inttypes.h>
#include <string.h>

enum { LISTED = 24 }; /* blocks, fields or stretches on a line */

/* ---- who wrote, and when ----------------------------------------------------------------------
 */

/* "operation 3 (r0.0 := r1)", "the script" behind the last */
static void write_operation(struct writing *w, const struct program *p, unsigned op) {
    char text[VERDICT_TEXT];
    if (op >= p->n_ops) {
        write_text(w, "the script");
    } else {
        op_print(&p->ops[op], text, sizeof text);
        write_text(w, "operation %u (%s)", op, text + strspn(text, " "));
    }
}

/* Where a path ends in the model: a slot, or a field of an object. */
struct place {
    uint32_t object; /* MODEL_NONE: a slot */
    unsigned slot;   /* as in struct path */
    size_t field;
};

static bool find_place(const struct runner *r, const char *text, struct place *place) {
    struct path path = path_read(text);
    if (!path.given || path.slot >= r->mutators * GC_SLOTS)
        return false;
    word v = r->model.slots[path.slot / GC_SLOTS][path.slot % GC_SLOTS];
    *place = (struct place){.object = MODEL_NONE, .slot = path.slot};
    for (unsigned i = 0; i < path.n; i++) {
        if (!model_is_pointer(v))
            return false;
        place->object = model_object(v);
        place->field = path.steps[i];
        const struct model_object *o = &r->model.objects[place->object];
        if (place->field >= o->wosize)
            return false;
        v = r->model.fields[o->first_field + place->field];
    }
    return true;
}

static void write_maker(struct writing *w, const struct runner *r, const struct model_object *o) {
    if (o->origin >= 0) {
        write_text(w, "nobody since the initial heap\n");
        return;
    }
    write_operation(w, r->program, (unsigned)(-1 - o->origin));
    write_text(w, ", which allocated the block\n");
}

/* Returns the operation that wrote it. */
static unsigned write_field(struct writing *w, const struct runner *r, const struct place *place) {
    const struct model_object *o = &r->model.objects[place->object];
    const struct written *last = history_of(r->history, o, place->field);
    char name[NAME_TEXT];
    origin_name(o->origin, o->serial, name, sizeof name);
    write_text(w, "  written    field %zu of %s, by ", place->field, name);
    if (!last) {
        write_maker(w, r, o);
        return o->origin >= 0 ? OP_INITIAL : (unsigned)(-1 - o->origin);
    }
    write_operation(w, r->program, last->op);
    write_text(w, "\n");
    return last->op;
}

static unsigned write_slot(struct writing *w, const struct runner *r, unsigned at) {
    unsigned m = at / GC_SLOTS, slot = at % GC_SLOTS;
    unsigned op = slot < PROGRAM_SLOTS ? r->history->set_by[m][slot] : OP_INITIAL;
    write_text(w, "  written    ");
    if (m)
        write_text(w, "mutator %u: ", m);
    write_text(w, "r%u, by ", slot);
    if (op == OP_INITIAL)
        write_text(w, "nobody since the initial heap");
    else
        write_operation(w, r->program, op);
    write_text(w, "\n");
    return op;
}

/* A verdict without a path: the last that the mutator did to any block. */
static void write_last(struct writing *w, const struct runner *r) {
    const struct history *h = r->history;
    char name[NAME_TEXT];
    if (!h->n)
        return;
    const struct written *last = &h->writes[h->n - 1];
    origin_name(last->origin, last->serial, name, sizeof name);
    write_text(w, "  written    last of all: ");
    if (last->n == 1)
        write_text(w, "field %zu of %s, by ", last->field, name);
    else
        write_text(w, "fields %zu to %zu of %s, by ", last->field, last->field + last->n - 1, name);
    write_operation(w, r->program, last->op);
    write_text(w, "\n");
}

/* Is the violation that the word itself is another one? */
static bool has_changed(enum violation v) {
    return v == VIOLATION_data_changed || v == VIOLATION_edge_changed ||
           v == VIOLATION_dangling_pointer || v == VIOLATION_sharing_changed ||
           v == VIOLATION_field_written;
}

/* op + 1, so that the initial heap comes first */
static bool is_before(unsigned op, unsigned other) {
    return op + 1 <= other + 1;
}

static void write_history(struct writing *w, const struct runner *r, const struct verdict *v) {
    const struct history *h = r->history;
    struct place place;
    bool found = find_place(r, v->path, &place);
    unsigned op = OP_INITIAL;
    if (found && place.object == MODEL_NONE)
        op = write_slot(w, r, place.slot);
    else if (found)
        op = write_field(w, r, &place);
    else
        write_last(w, r);
    if (!h->has_agreed)
        return;
    write_text(w, "  correct    ");
    write_text(w, h->agreed == OP_INITIAL ? "at the start" : "after ");
    if (h->agreed != OP_INITIAL)
        write_operation(w, r->program, h->agreed);
    write_text(w, ", when the heaps were last compared");
    if (found && is_before(op, h->agreed) && has_changed(v->violation))
        write_text(w, "; since then the collector alone can have written it");
    write_text(w, "\n");
}

/* ---- the heap ---------------------------------------------------------------------------------
 */

/* "n3 (at word 5)", "the block at word 5", "the end of the heap" */
static void write_block(struct writing *w, const struct snapshot *s, size_t offset) {
    for (size_t i = 0; i < s->n_blocks; i++) {
        const struct snapshot_block *b = &s->blocks[i];
        if (b->offset != offset)
            continue;
        if (b->name[0])
            write_text(w, "%s (at word %zu)", b->name, offset);
        else
            write_text(w, "the %sblock at word %zu", b->extent == GC_FREE ? "free " : "", offset);
        return;
    }
    write_text(w, "word %zu", offset);
}

static void write_cycle(struct writing *w, const struct side *s, const struct snapshot *picture) {
    static const char *const names[] = {"none under way", "marking", "sweeping"};
    struct gc_cycle cycle = call_cycle(s);
    if ((unsigned)cycle.phase > GC_PHASE_SWEEP)
        return;
    if (cycle.phase == GC_PHASE_IDLE) {
        write_text(w, "  cycle      %s; %" PRIu64 " so far\n", names[cycle.phase], cycle.begun);
        return;
    }
    write_text(w, "  cycle      %s, in cycle %" PRIu64, names[cycle.phase], cycle.begun);
    if (cycle.phase == GC_PHASE_SWEEP) {
        word at = pointer_word(cycle.cursor) - pointer_word(s->graph.base);
        size_t words = s->graph.words - s->graph.nursery_words;
        write_text(w, "; next is ");
        if (at / sizeof(word) < words)
            write_block(w, picture, at / sizeof(word));
        else
            write_text(w, "the end");
    }
    write_text(w, "\n");
}

/* What is unused of the heap below `end`, from word `first` on, as a list behind `lead`. */
static size_t list_unused(struct writing *w, const struct snapshot *picture, size_t first,
                          size_t end, const char *lead) {
    size_t shown = 0;
    for (size_t i = 0; i < picture->n_blocks; i++) {
        const struct snapshot_block *b = &picture->blocks[i];
        if (b->extent == GC_UNUSED && b->offset >= first && b->offset < end && shown++ < LISTED)
            write_text(w, "%s%zu to %zu", shown == 1 ? lead : ", ", b->offset,
                       b->offset + b->wosize - 1);
    }
    return shown;
}

/* Where one that copies or compacts allocates next: its free pointer, which no block shows. */
static void write_unused(struct writing *w, const struct side *s, const struct snapshot *picture) {
    size_t end = s->graph.words - s->graph.nursery_words;
    if (list_unused(w, picture, 0, end, "  unused     words "))
        write_text(w, "\n");
}

static bool is_young_block(const struct side *s, const struct snapshot_block *b) {
    return b->extent == GC_LIVE && b->offset != SIZE_MAX &&
           s->collector->young(s->gc, pointer_word(b->fields));
}

static void write_young(struct writing *w, const struct side *s, const struct snapshot *picture) {
    size_t first = s->graph.words - s->graph.nursery_words, n = 0, words = 0;
    for (size_t i = 0; i < picture->n_blocks; i++)
        if (is_young_block(s, &picture->blocks[i])) {
            n++;
            words += picture->blocks[i].wosize + 1;
        }
    write_text(w, "  young      ");
    if (s->graph.nursery_words)
        write_text(w, "words %zu to %zu, ", first, s->graph.words - 1);
    write_text(w, "%zu of them used by %zu block%s", words, n, n == 1 ? "" : "s");
    for (size_t i = 0, shown = 0; i < picture->n_blocks; i++) {
        const struct snapshot_block *b = &picture->blocks[i];
        if (!is_young_block(s, b) || shown > LISTED)
            continue;
        if (shown++ == LISTED)
            write_text(w, ", ...");
        else if (b->name[0])
            write_text(w, "%s%s", shown == 1 ? ": " : ", ", b->name);
        else
            write_text(w, "%sone at word %zu", shown == 1 ? ": " : ", ", b->offset);
    }
    if (s->graph.nursery_words)
        list_unused(w, picture, first, s->graph.words, "; unused ");
    write_text(w, "\n");
}

struct listing {
    struct writing *w;
    const struct snapshot *picture;
    size_t n;
};

static void list_field(void *context, word block, size_t i) {
    struct listing *l = context;
    struct snapshot_edge edge = snapshot_resolve(l->picture, block);
    if (l->n++ >= LISTED)
        return;
    const char *name = edge.block == SIZE_MAX ? "" : l->picture->blocks[edge.block].name;
    write_text(l->w, "%sfield %zu of ", l->n == 1 ? "" : ", ", i);
    if (name[0])
        write_text(l->w, "%s", name);
    else if (edge.pointer)
        write_text(l->w, "%s at word %td", edge.block == SIZE_MAX ? "no block," : "the block",
                   (ptrdiff_t)edge.at - 1);
    else
        write_text(l->w, "no block of the heap");
}

static void write_remembered(struct writing *w, struct runner *r, const struct snapshot *picture) {
    struct listing l = {w, picture, 0};
    write_text(w, "  remembered ");
    runner_remembered(r, picture->party, list_field, &l);
    if (l.n > LISTED)
        write_text(w, " and %zu more", l.n - LISTED);
    write_text(w, l.n ? "\n" : "no field\n");
}

size_t runner_where(struct runner *r, const struct verdict *v, enum party party, char *out,
                    size_t capacity) {
    struct writing w = {out, capacity, 0};
    struct snapshot picture;
    if (out && capacity)
        out[0] = 0;
    if (!r->close || (unsigned)party >= r->n_sides)
        return 0;
    const struct side *s = &r->side[party];
    if (r->strange)
        write_text(&w, "  repeated   it did not come again: what follows, and the heaps, are of "
                       "another run of the program\n");
    write_history(&w, r, v);
    if (!runner_snapshot(r, party, &picture))
        return w.length;
    if (s->collector->cycle)
        write_cycle(&w, s, &picture);
    write_unused(&w, s, &picture);
    if (s->collector->young && s->collector->remembered) {
        write_young(&w, s, &picture);
        write_remembered(&w, r, &picture);
    }
    return w.length;
}
