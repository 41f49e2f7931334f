/* SPDX-License-Identifier: MIT
 *
 * The life of one block, in the terms of the script (isoheap run --trace=BLOCK; cli.h).
 *
 * Two sources: what collectors tell while they work (who marked it, from where, where it moved),
 * and the snapshots before and after every operation (allocated, gone, unreachable, pointed at by
 * whom, its words reused).  Lines are printed as they come, so that a crash loses none.  Between
 * two snapshots a collector moves blocks: `places` then follows what it tells.
 */
#define _GNU_SOURCE
#include "cli/cli.h"

#include "program/text/text.h"

#include <ctype.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

enum { NAME = 16, REFERRERS = 512, PLACES = 4 * PROGRAM_HEAP_WORDS };

/* A block that was somewhere: value is the address of its field 0. */
struct place {
    word value;
    size_t wosize;
    char name[NAME];
};

/* The block in the heap of one party. */
struct body {
    bool here, reachable;
    word value; /* subject, reference */
    size_t offset, wosize;
    unsigned tag, colour;
};

struct watched {
    struct body body;
    const word *slots; /* of the party, to tell a slot from a field */
    unsigned mutators;
    struct place *places; /* in the order of their discovery: the last one is right */
    size_t n_places;
    word grave; /* where it was when it went; 0: it has not */
    size_t grave_wosize;
    char reused_by[NAME];
};

static struct {
    char name[NAME];
    unsigned op;
    char operation[VERDICT_TEXT];
    unsigned n_ops;
    bool printed; /* the operation's line */
    bool born;
    struct watched of[2];
    struct body model;
    char referrers[REFERRERS];
} life;

/* ---- the name ---------------------------------------------------------------------------------
 */

/* The digits behind a character of a name; false: there are none. */
static bool take_number(const char **rest, char before) {
    if (**rest != before || !isdigit((unsigned char)(*rest)[1]))
        return false;
    *rest += 1 + strspn(*rest + 1, "0123456789");
    return true;
}

bool life_is_name(const char *name) {
    const char *rest = name;
    if (!take_number(&rest, 'b') && !take_number(&rest, 'n'))
        return false;
    if (name[0] == 'n')
        take_number(&rest, ':');
    take_number(&rest, '#');
    take_number(&rest, '+'); /* an infix pointer leads to the closure */
    return !*rest && rest - name < NAME;
}

/* The name that a block has in pictures: n7:1 is n7, b3+3 leads into b3. */
static void take_name(const char *name) {
    size_t length = strcspn(name, "+");
    snprintf(life.name, sizeof life.name, "%.*s", (int)length, name);
    char *first = strstr(life.name, ":1");
    if (first && !isdigit((unsigned char)first[2]))
        memmove(first, first + 2, strlen(first + 2) + 1);
}

static bool begin_named(unsigned long number, const struct program *p, const char *file) {
    char text[VERDICT_TEXT];
    unsigned named = program_named(p);
    if (number >= named) {
        fprintf(stderr, "isoheap: %s: no block %s; the program has %u, counted from b0\n", file,
                life.name, named);
        return false;
    }
    item_print(p, (unsigned)(program_named_item(p, (unsigned)number) - p->items), text,
               sizeof text);
    printf("%s\n", text + strspn(text, " "));
    return true;
}

static bool begin_allocated(unsigned long number, const struct program *p, const char *file) {
    char text[VERDICT_TEXT];
    if (number >= p->n_ops || !op_has(p->ops[number].code, ALLOCATES)) {
        fprintf(stderr, "isoheap: %s: no block %s: operation %lu %s\n", file, life.name, number,
                number >= p->n_ops ? "does not exist" : "allocates nothing");
        return false;
    }
    op_print(&p->ops[number], text, sizeof text);
    printf("%s, allocated by operation %lu: %s\n", life.name, number, text + strspn(text, " "));
    return true;
}

bool life_begin(const char *name, const struct program *p, const char *file) {
    for (unsigned i = 0; i < 2; i++)
        free(life.of[i].places);
    memset(&life, 0, sizeof life);
    take_name(name);
    life.n_ops = p->n_ops;
    unsigned long number = strtoul(name + 1, NULL, 10);
    if (!(name[0] == 'b' ? begin_named(number, p, file) : begin_allocated(number, p, file)))
        return false;
    if (strchr(life.name, '#'))
        printf("%s, another block in the place of that one\n", life.name);
    return true;
}

/* ---- lines ------------------------------------------------------------------------------------
 */

__attribute__((format(printf, 2, 3))) static void say(const char *who, const char *format, ...) {
    va_list arguments;
    if (!life.printed && life.op < life.n_ops)
        printf("%4u  %s\n", life.op, life.operation);
    else if (!life.printed)
        printf("   -  %s\n", life.operation);
    life.printed = true;
    printf("      %-9s  ", who);
    va_start(arguments, format);
    vprintf(format, arguments);
    va_end(arguments);
    printf("\n");
    fflush(stdout); /* the next step may end the process */
}

static void words_text(size_t offset, size_t wosize, char out[48]) {
    if (offset == SIZE_MAX)
        snprintf(out, 48, "outside the heap");
    else
        snprintf(out, 48, "words %zu to %zu", offset, offset + wosize);
}

/* ---- while a collector works ------------------------------------------------------------------
 */

static void add_place(struct watched *w, word value, size_t wosize, const char *name) {
    if (!w->places)
        w->places = calloc(PLACES, sizeof *w->places);
    if (!w->places || w->n_places == PLACES)
        return;
    struct place *p = &w->places[w->n_places++];
    p->value = value;
    p->wosize = wosize;
    snprintf(p->name, sizeof p->name, "%s", name);
}

static const struct place *find_place(const struct watched *w, word address) {
    for (size_t i = w->n_places; i-- > 0;)
        if (address - w->places[i].value < w->places[i].wosize * sizeof(word))
            return &w->places[i];
    return NULL;
}

/* "r3" or "b1 field 2" */
static void place_text(const struct watched *w, const word *place, char out[64]) {
    word address = pointer_word(place), slot = address - pointer_word(w->slots);
    const struct place *p = find_place(w, address);
    slot /= sizeof(word);
    if (!place)
        snprintf(out, 64, "somewhere");
    else if (slot < w->mutators * (word)GC_SLOTS && slot % GC_SLOTS >= PROGRAM_SLOTS)
        snprintf(out, 64, "the operation itself");
    else if (slot < GC_SLOTS)
        snprintf(out, 64, "r%u", (unsigned)slot);
    else if (slot < w->mutators * (word)GC_SLOTS)
        snprintf(out, 64, "mutator %u: r%u", (unsigned)(slot / GC_SLOTS),
                 (unsigned)(slot % GC_SLOTS));
    else if (p)
        snprintf(out, 64, "%s field %zu", p->name[0] ? p->name : "a block without a name",
                 (size_t)(address - p->value) / sizeof(word));
    else
        snprintf(out, 64, "a block without a name");
}

static void say_event(const char *who, enum gc_event event, const word *place, const char *from) {
    if (event == GC_MARKED)
        say(who, "marked from %s", from);
    else if (event == GC_SET_ASIDE)
        say(who, "the mark stack is full: it stays gray until a re-scan finds it");
    else if (event == GC_SCANNED)
        say(who, "scanned: what it points at is looked at");
    else if (event == GC_MOVED && !place)
        say(who, "moved");
    else if (event == GC_MOVED)
        say(who, "found from %s and copied", from);
    else if (event == GC_FORWARDED)
        say(who, "found again from %s, which is forwarded to the copy", from);
    else
        say(who, "swept: no mark reached it; its words are free");
}

/* The last check empties the heaps: that is no part of the block's life. */
static bool over(void) {
    return life.op != OP_INITIAL && life.op >= life.n_ops;
}

void life_listen(void *context, struct runner *runner, enum party party, enum gc_event event,
                 word block, const word *place, word to) {
    char from[64];
    struct watched *w = &life.of[party];
    (void)context;
    (void)runner;
    if (over())
        return;
    if (w->body.here && block == w->body.value) {
        place_text(w, place, from);
        say_event(party_name(party), event, place, from);
        if (event == GC_MOVED)
            w->body.value = to;
        if (event == GC_SWEPT)
            w->body.here = false;
    } else if (w->body.here && event == GC_FORWARDED && to == w->body.value) {
        place_text(w, place, from);
        say_event(party_name(party), event, place, from);
    }
    if (event == GC_MOVED) {
        const struct place *p = find_place(w, block);
        add_place(w, to, p ? p->wosize : header_wosize(header_of(to)), p ? p->name : "");
    }
}

/* ---- between operations -----------------------------------------------------------------------
 */

static struct body find_body(const struct snapshot *s) {
    struct body body = {.here = false};
    for (size_t i = 0; i < s->n_blocks && !body.here; i++) {
        const struct snapshot_block *b = &s->blocks[i];
        if (b->extent == GC_LIVE && strcmp(b->name, life.name) == 0)
            body = (struct body){.here = true,
                                 .reachable = b->reachable,
                                 .value = pointer_word(b->fields),
                                 .offset = b->offset,
                                 .wosize = b->wosize,
                                 .tag = b->tag,
                                 .colour = b->colour};
    }
    return body;
}

/* Who points at the block: "r0, b1 field 2". */
static void find_referrers(const struct snapshot *s, char out[REFERRERS]) {
    size_t length = 0;
    out[0] = 0;
    for (unsigned i = 0; i < s->mutators * GC_SLOTS; i++) {
        struct snapshot_edge e = snapshot_resolve(s, s->slots[i]);
        if (e.block == SIZE_MAX || strcmp(s->blocks[e.block].name, life.name) != 0 ||
            i % GC_SLOTS >= PROGRAM_SLOTS || length > REFERRERS - 64)
            continue;
        length += (size_t)snprintf(out + length, REFERRERS - length, "%s", length ? ", " : "");
        if (i >= GC_SLOTS)
            length +=
                (size_t)snprintf(out + length, REFERRERS - length, "mutator %u: ", i / GC_SLOTS);
        length += (size_t)snprintf(out + length, REFERRERS - length, "r%u", i % GC_SLOTS);
    }
    for (size_t i = 0; i < s->n_blocks; i++) {
        const struct snapshot_block *b = &s->blocks[i];
        for (size_t f = b->first_scanned; b->extent == GC_LIVE && b->reachable && f < b->wosize;
             f++) {
            struct snapshot_edge e = snapshot_resolve(s, b->fields[f]);
            if (e.block == SIZE_MAX || strcmp(s->blocks[e.block].name, life.name) != 0 ||
                length > REFERRERS - 64)
                continue;
            length += (size_t)snprintf(out + length, REFERRERS - length, "%s%s field %zu",
                                       length ? ", " : "", b->name, f);
        }
    }
}

static void note_places(struct watched *w, const struct snapshot *s) {
    w->slots = s->slots;
    w->mutators = s->mutators;
    w->n_places = 0;
    for (size_t i = 0; i < s->n_blocks; i++)
        if (s->blocks[i].extent == GC_LIVE)
            add_place(w, pointer_word(s->blocks[i].fields), s->blocks[i].wosize, s->blocks[i].name);
}

static void say_birth(const char *who, const struct body *b) {
    char words[48];
    words_text(b->offset, b->wosize, words);
    say(who, "%s %s, tag %u, %zu field%s%s",
        life.op == OP_INITIAL    ? "in the initial heap:"
        : strchr(life.name, '#') ? "appears:"
                                 : "allocated:",
        words, b->tag, b->wosize, b->wosize == 1 ? "" : "s",
        b->reachable ? "" : ", and no root reaches it");
}

static void say_death(struct watched *w, const char *who, const struct body *old) {
    char words[48];
    words_text(old->offset, old->wosize, words);
    if (life.model.reachable)
        say(who, "gone from %s, though the program still reaches it", words);
    else
        say(who, "gone from %s", words);
    w->grave = old->value;
    w->grave_wosize = old->wosize;
    w->reused_by[0] = 0;
}

static void say_change(const char *who, const struct body *old, const struct body *new) {
    char from[48], to[48];
    words_text(old->offset, old->wosize, from);
    words_text(new->offset, new->wosize, to);
    if (old->offset != new->offset)
        say(who, "moved from %s to %s", from, to);
    if (old->tag != new->tag || old->wosize != new->wosize)
        say(who, "its header has become tag %u, %zu fields", new->tag, new->wosize);
    if (old->reachable != new->reachable)
        say(who, new->reachable ? "a root reaches it again" : "no root reaches it any more");
}

/* The first block that lies where the dead one was, each time that it is another one. */
static void look_at_grave(struct watched *w, const char *who, const struct snapshot *s) {
    for (size_t i = 0; w->grave && i < s->n_blocks; i++) {
        const struct snapshot_block *b = &s->blocks[i];
        char words[48];
        if (b->extent != GC_LIVE)
            continue;
        word start = pointer_word(b->fields) - sizeof(word);
        word end = start + (b->wosize + 1) * sizeof(word);
        if (end <= w->grave - sizeof(word) || start >= w->grave + w->grave_wosize * sizeof(word))
            continue;
        if (!b->name[0] || strcmp(b->name, w->reused_by) == 0)
            return;
        words_text(b->offset, b->wosize, words);
        say(who, "its words are used again, by %s at %s", b->name, words);
        snprintf(w->reused_by, sizeof w->reused_by, "%s", b->name);
        return;
    }
}

static void look_at_party(struct runner *runner, enum party party, const struct body *old) {
    struct watched *w = &life.of[party];
    struct snapshot s;
    if (!runner_snapshot(runner, party, &s))
        return;
    w->body = find_body(&s);
    if (!old->here && w->body.here) {
        say_birth(party_name(party), &w->body);
        life.born = true;
        w->grave = 0;
    } else if (old->here && !w->body.here) {
        say_death(w, party_name(party), old);
    } else if (old->here) {
        say_change(party_name(party), old, &w->body);
    }
    look_at_grave(w, party_name(party), &s);
    note_places(w, &s);
}

/* The program's own view: who points at the block. */
static void look_at_model(struct runner *runner) {
    char referrers[REFERRERS];
    struct snapshot s;
    bool known = life.model.here;
    if (!runner_snapshot(runner, PARTY_MODEL, &s))
        return;
    life.model = find_body(&s);
    life.born |= life.model.here;
    find_referrers(&s, referrers);
    if (!life.model.here || (known && strcmp(referrers, life.referrers) == 0))
        return;
    snprintf(life.referrers, sizeof life.referrers, "%s", referrers);
    if (referrers[0])
        say("program", "pointed at by %s", referrers);
    else if (known)
        say("program", "nothing reachable points at it any more");
}

void life_observe(void *context, struct runner *runner, unsigned op, bool before) {
    static struct body old[2];
    (void)context;
    life.op = op;
    if (before) {
        life.printed = false;
        runner_operation(runner, op, life.operation, sizeof life.operation);
        for (unsigned p = 0; p < 2; p++)
            old[p] = life.of[p].body;
        return;
    }
    if (over()) {
        if (!life.born)
            say("program", "%s was never allocated", life.name);
        life.born = true;
        return;
    }
    look_at_model(runner);
    for (unsigned p = 0; p < 2; p++)
        look_at_party(runner, (enum party)p, &old[p]);
}
