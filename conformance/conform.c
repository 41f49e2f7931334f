/* SPDX-License-Identifier: MIT
 *
 * The conformance kit: steps, and the calls that they are made of (conform.h).
 */
#include "conformance/internal.h"

#include "collectors/contract.h"
#include "harness/harness.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { POLLS = 1 << 16, REFUSALS = 64 };

void broken(struct conform *c, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(c->answer->text, CONFORM_TEXT, format, arguments);
    va_end(arguments);
    c->answer->result = CONFORM_BROKEN;
    c->answer->words = (unsigned)c->words;
    c->answer->variant = c->config.variant;
    longjmp(c->end, 1);
}

void remark(struct conform *c, const char *text) {
    snprintf(c->answer->remark, CONFORM_TEXT, "%s", text);
}

/* ---- hooks ------------------------------------------------------------------------------------
 */

/* What a hook was told, and whom it breaks off for. */
struct told {
    struct conform *c;
    const char *sentence;
    uint64_t number;
};

/* On the stack of the kit, wherever the collector runs. */
static void deal(struct gc_hooks *hooks, void (*with)(void *), struct told *told) {
    told->c = lent_owner(hooks);
    if (told->c->stack)
        stack_back(told->c->stack, with, told);
    else
        with(told);
}

static void break_endless(void *context) {
    const struct told *told = context;
    broken(told->c, "one call took more than %d steps (gc_tick): a loop that does not end", FUEL);
}
static void out_of_fuel(struct gc_hooks *hooks) {
    deal(hooks, break_endless, &(struct told){.c = NULL});
}

static void break_invariant(void *context) {
    const struct told *told = context;
    broken(told->c, "an invariant of the collector's own: %s", told->sentence);
}
static void note_broken(struct gc_hooks *hooks, const char *sentence) {
    deal(hooks, break_invariant, &(struct told){.sentence = sentence});
}

static void count_death(void *context) {
    const struct told *told = context;
    if (told->number >= TOLD)
        broken(told->c, "the death of a block was told that was never asked for: number %llu",
               (unsigned long long)told->number);
    told->c->told[told->number]++;
}
static void note_death(struct gc_hooks *hooks, uint64_t number) {
    deal(hooks, count_death, &(struct told){.number = number});
}

/* On the stack of the collection, which is the kit's where somebody looks. */
static void note_phase(struct gc_hooks *hooks, enum gc_stage ended) {
    struct conform *c = lent_owner(hooks);
    if (c->phase_ended)
        c->phase_ended(c, ended);
}

static void note_event(struct gc_hooks *hooks, enum gc_event event, word block, const word *place,
                       word to) {
    struct conform *c = lent_owner(hooks);
    (void)block, (void)place, (void)to;
    c->events[event]++;
}

static void fence(struct gc_hooks *hooks, word *start, size_t words, bool behind) {
    struct conform *c = lent_owner(hooks);
    if (!c->beside[behind])
        c->beside[behind] = pointer_word(behind ? start : start + words);
    lent_fence(c->lent, start, words,
               behind ? "words behind a heap have been written"
                      : "words before a heap have been written");
}

static void note_stuck(struct gc_hooks *hooks, bool for_ever, const char *sentence) {
    (void)for_ever; /* the sentence says so */
    note_broken(hooks, sentence);
}

void fill_memory(struct conform *c, enum memory_fill fill) {
    struct gc_hooks hooks;
    memset(&hooks, 0, sizeof hooks);
    hooks.out_of_fuel = out_of_fuel;
    hooks.broken = note_broken;
    hooks.stuck = note_stuck;
    hooks.finalised = note_death;
    hooks.fence = fence;
    hooks.event = note_event;
    hooks.phase = note_phase;
    dead_memory_hooks(&hooks, fill, true);
    lent_hooks(c->lent, &hooks);
}

/* ---- calls ------------------------------------------------------------------------------------
 */

static void expect_sound(struct conform *c, const char *call) {
    const char *damage = lent_damage(c->lent);
    if (damage)
        broken(c, "after %s: %s", call, damage);
    const char *wrong = c->collector->check ? c->collector->check(c->gc) : NULL;
    if (wrong)
        broken(c, "after %s the collector's own check says: %s", call, wrong);
}

/* Slots, static words and the config for a heap. */
static void lend(struct conform *c) {
    lent_begin(c->lent, c->config.mutators, STATIC_WORDS);
    c->config.slots = c->slots = c->lent->slots;
    c->statics = c->lent->statics;
    *c->lent->config = c->config;
}

static void new_heap(struct conform *c, size_t words, unsigned mutators, size_t mark_stack) {
    static struct program defaults;
    program_clear(&defaults);
    unsigned variant = c->config.variant;
    c->words = words;
    c->config = program_gc_config(&defaults);
    c->config.heap_words = words;
    if (mark_stack)
        c->config.mark_stack = mark_stack;
    c->config.variant = variant;
    c->config.kind = c->kind;
    c->config.hooks = c->hooks;
    c->config.mutators = mutators;
    c->config.masks = ~0u; /* as in a run: what is known shall not hide the rest */
    memset(c->told, 0, sizeof c->told);
    c->phase_ended = NULL;
    c->hooks->listened = false;
    c->traits = promised_traits(c->collector, &c->config);
    const char *fault = traits_fault(c->collector, &c->traits);
    if (fault)
        broken(c, "%s", fault);
    lend(c);
    c->hooks->collections = 0;
    c->hooks->fuel = FUEL;
    c->beside[0] = c->beside[1] = 0;
    c->hooks->mutator = c->gone = 0;
    c->collector->reset(c->gc, c->lent->config);
    if (c->hooks->collections)
        broken(c, "reset counted a collection; an empty heap has nothing to collect");
    for (unsigned m = 0; m < mutators && c->collector->attach; m++)
        c->collector->attach(c->gc, m); /* which may collect */
    for (unsigned m = 0; m < mutators; m++)
        for (unsigned s = 0; s < GC_SLOTS; s++)
            if (c->slots[m][s] != WORD_UNIT)
                broken(c, "reset%s wrote into slot %u of mutator %u",
                       c->collector->attach ? " or attach" : "", s, m);
    expect_sound(c, "reset");
}

void fresh_heap(struct conform *c, size_t words, unsigned mutators) {
    new_heap(c, words, mutators, 0);
}
void fresh_heap_with(struct conform *c, size_t words, size_t mark_stack) {
    new_heap(c, words, 1, mark_stack);
}

enum gc_result ask(struct conform *c, unsigned m, unsigned dst, size_t wosize, unsigned tag,
                   const word *raw) {
    c->hooks->fuel = FUEL;
    enum gc_result result = c->collector->alloc(c->gc, m, dst, wosize, tag, raw);
    for (unsigned n = 0; result == GC_PENDING; n++) {
        if (!c->collector->poll)
            broken(c, "alloc says pending, but the collector has no function poll");
        if (n == POLLS)
            broken(c, "an allocation is still pending after %d polls", POLLS);
        c->hooks->fuel = FUEL;
        result = c->collector->poll(c->gc, m);
    }
    if (result != GC_OK && result != GC_OUT_OF_MEMORY)
        broken(c, "alloc answers neither ok nor out of memory nor pending");
    expect_sound(c, "an allocation");
    return result;
}

void make(struct conform *c, unsigned m, unsigned dst, size_t wosize, unsigned tag,
          const word *raw) {
    if (ask(c, m, dst, wosize, tag, raw) != GC_OK)
        broken(c,
               "a block of %zu fields was refused, although most of the heap of %zu words is free",
               wosize, c->words);
    word v = c->slots[m][dst];
    if (is_immediate(v) || v % sizeof(word))
        broken(c, "alloc said ok, but slot %u of mutator %u has no address: 0x%llx", dst, m,
               (unsigned long long)v);
}

word fitting(const struct conform *c, word w) {
    return c->traits.word_bits ? w & (((word)1 << c->traits.word_bits) - 1) : w;
}

unsigned node_tag(const struct conform *c) {
    return c->collector->writable && !c->collector->writable(0) ? 1 : 0;
}

void make_node(struct conform *c, unsigned m, unsigned dst, unsigned id) {
    const word raw[2] = {immediate(id), WORD_UNIT};
    make(c, m, dst, 2, node_tag(c), raw);
}

bool must_ask_again(struct conform *c, const char *function, enum gc_result answer, unsigned n) {
    if (answer == GC_OK)
        return false;
    if (answer != GC_OUT_OF_MEMORY || !c->traits.may_refuse)
        broken(c, "%s does not answer ok%s", function,
               answer == GC_OUT_OF_MEMORY ? ", and trait may_refuse is not set" : "");
    if (n == REFUSALS)
        broken(c, "%s was refused %d times, although most of the heap of %zu words is free",
               function, REFUSALS, c->words);
    c->hooks->fuel = FUEL;
    if (c->collector->collect)
        c->collector->collect(c->gc, GC_FULL);
    c->hooks->fuel = FUEL;
    return true;
}

void init_field(struct conform *c, unsigned m, unsigned obj, size_t i, unsigned value) {
    c->hooks->fuel = FUEL;
    if (c->collector->init)
        c->collector->init(c->gc, m, obj, i, value);
    else
        word_pointer(c->slots[m][obj])[i] = c->slots[m][value];
}

void set_field(struct conform *c, unsigned m, unsigned obj, size_t i, unsigned value) {
    unsigned n = 0;
    c->hooks->fuel = FUEL;
    if (!c->collector->store)
        word_pointer(c->slots[m][obj])[i] = c->slots[m][value];
    else
        while (must_ask_again(c, "store", c->collector->store(c->gc, m, obj, i, value), n))
            n++;
}

void get_field(struct conform *c, unsigned m, unsigned dst, unsigned obj, size_t i) {
    unsigned n = 0;
    c->hooks->fuel = FUEL;
    if (!c->collector->load)
        c->slots[m][dst] = word_pointer(c->slots[m][obj])[i];
    else
        while (must_ask_again(c, "load", c->collector->load(c->gc, m, dst, obj, i), n))
            n++;
}

/* A large heap takes more steps than any other. */
void collect(struct conform *c, enum gc_collection kind) {
    unsigned n = 0;
    c->hooks->fuel = FUEL + (c->words > WORDS_MOST ? 64 * (uint64_t)c->words : 0);
    while (c->collector->collect &&
           must_ask_again(c, "collect", c->collector->collect(c->gc, kind), n))
        n++;
    expect_sound(c, "a collection");
}

struct collection {
    struct conform *c;
    enum gc_collection kind;
};

static void collect_there(void *context) {
    const struct collection *x = context;
    x->c->collector->collect(x->c->gc, x->kind);
}

void collect_on_stack(struct conform *c, enum gc_collection kind, size_t kib) {
    struct collection x = {c, kind};
    c->hooks->fuel = FUEL;
    c->stack = stack_open(kib);
    if (!c->stack)
        broken(c, "the system has no room for a stack of %zu KiB", kib);
    stack_call(c->stack, collect_there, &x);
    stack_close(c->stack);
    c->stack = NULL;
    expect_sound(c, "a collection");
}

void collect_fully(struct conform *c) {
    for (unsigned n = trait_full_collections(&c->traits); n > 0; n--)
        collect(c, GC_FULL);
}

void settle(struct conform *c) {
    for (unsigned n = 0; c->collector->settled && !c->collector->settled(c->gc); n++) {
        if (n == POLLS)
            broken(c, "settled still says no after %d polls of all mutators in turn", POLLS);
        unsigned m = n % c->config.mutators;
        if (c->gone >> m & 1)
            continue;
        c->hooks->fuel = FUEL;
        c->hooks->mutator = m;
        c->collector->poll(c->gc, m);
        c->hooks->mutator = 0;
    }
}

void walk(struct conform *c, unsigned checks) {
    uint32_t epoch = c->graph.epoch;
    settle(c);
    c->hooks->fuel = FUEL;
    size_t most = heap_most_words(&c->traits, &c->config),
           cells = sizeof c->cells / sizeof *c->cells;
    if (most + c->traits.nursery_words >= cells)
        broken(c, "grows_to is %zu for a heap of %zu words: more than this test has a table for",
               c->traits.grows_to, c->words);
    graph_of_heap(&c->graph, NULL, most + c->traits.nursery_words, c->statics, 0, c->slots[0],
                  c->config.mutators, c->cells, cells, c->in_use);
    c->graph.growth = most - c->words;
    c->graph.epoch = epoch;
    c->graph.nursery_words = c->traits.nursery_words;
    heap_walk(&c->graph, c->collector, c->gc, checks | heap_legal(&c->traits), &c->facts);
    if (c->facts.violation && c->facts.due)
        broken(c, "%s: to word %td of the heap (%p), where word %td (%p) has to come",
               c->facts.detail, c->facts.where - c->graph.base, (const void *)c->facts.where,
               c->facts.due - c->graph.base, (const void *)c->facts.due);
    if (c->facts.violation)
        broken(c, "%s", c->facts.detail);
}

void blit_fields(struct conform *c, unsigned src, size_t i, unsigned dst, size_t j, size_t n) {
    unsigned times = 0;
    c->hooks->fuel = FUEL;
    while (must_ask_again(c, "blit", c->collector->blit(c->gc, 0, src, i, dst, j, n), times))
        times++;
}

uint64_t cycles_begun(const struct conform *c) {
    return c->collector->cycle ? c->collector->cycle(c->gc).begun : 0;
}

bool is_in_cycle(const struct conform *c) {
    return c->collector->cycle && c->collector->cycle(c->gc).phase != GC_PHASE_IDLE;
}

unsigned slices_of_a_cycle(struct conform *c) {
    uint64_t before = cycles_begun(c);
    for (unsigned n = 0; n < CYCLE_SLICES; n++) {
        c->hooks->fuel = FUEL;
        if (c->collector->step(c->gc, c->words / 4 + 1) == GC_IDLE || cycles_begun(c) > before + 1)
            return n;
    }
    return CYCLE_SLICES;
}

size_t as_long(const struct conform *c, size_t wosize) {
    size_t most = c->traits.max_wosize;
    return most && wosize > most ? most : wosize;
}

const char *has_step(const struct conform *c) {
    return c->collector->step ? NULL : "no function step: not incremental";
}

const char *has_collect(const struct conform *c) {
    return c->collector->collect ? NULL : "no function collect";
}

unsigned kinds_of(const struct conform *c) {
    unsigned n = 0;
    while (c->collector->kinds && c->collector->kinds[n])
        n++;
    return n ? n : 1;
}

/* ---- structures -------------------------------------------------------------------------------
 */

void expect_node(struct conform *c, unsigned m, unsigned slot, unsigned id, const char *when) {
    word v = c->slots[m][slot];
    if (is_immediate(v) || v % sizeof(word))
        broken(c, "%s slot %u of mutator %u has no address: 0x%llx", when, slot, m,
               (unsigned long long)v);
    if (c->collector->walk) {
        walk(c, HEAP_TILES);
        v = c->slots[m][slot]; /* a heap of copies may have been made anew */
        if (graph_resolve(&c->graph, v).kind != GRAPH_BLOCK)
            broken(
                c,
                "%s slot %u of mutator %u points where the walk has no live block: the block was "
                "freed, or moved and the slot was not updated",
                when, slot, m);
    }
    word header = header_of(v), found = word_pointer(v)[0];
    if (header_wosize(header) != 2 || header_tag(header) != node_tag(c))
        broken(
            c,
            "%s the block in slot %u of mutator %u has the header 0x%llx, not 2 fields and tag %u",
            when, slot, m, (unsigned long long)header, node_tag(c));
    if (found != immediate(id))
        broken(
            c,
            "%s slot %u of mutator %u does not lead to the block that it held: field 0 is 0x%llx, "
            "not 0x%llx",
            when, slot, m, (unsigned long long)found, (unsigned long long)immediate(id));
}

void make_list(struct conform *c, unsigned n) {
    c->slots[0][0] = WORD_UNIT;
    for (unsigned id = n; id-- > 0;) {
        make_node(c, 0, SCRATCH, id);
        set_field(c, 0, SCRATCH, 1, 0);
        c->slots[0][0] = c->slots[0][SCRATCH];
        c->slots[0][SCRATCH] = WORD_UNIT;
    }
}

void expect_list(struct conform *c, unsigned n, const char *when) {
    char text[128];
    c->slots[0][SCRATCH] = c->slots[0][0];
    for (unsigned id = 0; id < n; id++) {
        snprintf(text, sizeof text, "%s, %u steps along a list,", when, id);
        expect_node(c, 0, SCRATCH, id, text);
        get_field(c, 0, SCRATCH + 1, SCRATCH, 1);
        c->slots[0][SCRATCH] = c->slots[0][SCRATCH + 1];
    }
    if (c->slots[0][SCRATCH] != WORD_UNIT)
        broken(c, "%s a list of %u blocks does not end where it ended", when, n);
    c->slots[0][SCRATCH + 1] = WORD_UNIT;
}

/* ---- running ----------------------------------------------------------------------------------
 */

static const struct conform_step *const groups[] = {
    conform_calls,  conform_collections, conform_barriers, conform_mutators, conform_traits,
    conform_pieces, conform_marking,     conform_telling,  conform_legal,    conform_generations,
    conform_cost,   conform_order,       conform_extras,   conform_larges};

static const struct conform_step *step_of(unsigned number) {
    for (unsigned g = 0; g < sizeof groups / sizeof *groups; g++)
        for (const struct conform_step *s = groups[g]; s->name; s++)
            if (number-- == 0)
                return s;
    return NULL;
}

unsigned conform_steps(void) {
    unsigned n = 0;
    while (step_of(n))
        n++;
    return n;
}
const char *conform_name(unsigned step) {
    return step_of(step)->name;
}
const char *conform_promise(unsigned step) {
    return step_of(step)->promise;
}

static unsigned variants_of(const struct collector *collector) {
    unsigned n = 0;
    while (collector->variants && collector->variants[n])
        n++;
    return n ? n : 1;
}

/* Every scale of one variant. */
static void run_variant(struct conform *c, const struct conform_step *step, unsigned variant) {
    static const size_t first_words = WORDS_LEAST;
    c->config.variant = variant;
    fresh_heap(c, first_words, 1);
    const char *why = step->not_promised ? step->not_promised(c) : NULL;
    if (why) {
        if (variant == 0) {
            c->answer->result = CONFORM_NOT_PROMISED;
            snprintf(c->answer->text, CONFORM_TEXT, "%s", why);
        }
        return;
    }
    c->answer->result = CONFORM_KEPT;
    for (c->scale = 0; c->scale < SCALES; c->scale++) {
        fresh_heap(c, first_words << c->scale, 1);
        step->check(c);
    }
}

/* Everything but the collector itself. */
static bool prepare(struct conform *c, const struct collector *collector, struct lent *lent,
                    struct conform_answer *answer) {
    memset(c, 0, sizeof *c);
    c->collector = collector;
    c->answer = answer;
    c->lent = lent;
    if (!lent->map && !lent_open(lent, c)) {
        snprintf(answer->text, CONFORM_TEXT, "the system has no address space for slots and hooks");
        answer->result = CONFORM_BROKEN;
        return false;
    }
    c->hooks = lent->hooks;
    fill_memory(c, FILL_USUAL);
    for (size_t i = 0; i < sizeof c->units / sizeof *c->units; i++)
        c->units[i] = WORD_UNIT;
    return true;
}

void open_beside(struct conform *other, const struct conform *c) {
    static struct lent lent;
    bool good = prepare(other, c->collector, &lent, c->answer);
    memcpy(&other->end, &c->end, sizeof c->end);
    if (!good)
        longjmp(other->end, 1);
    other->config.variant = c->config.variant;
    other->scale = c->scale;
    other->gc = c->collector->open();
    if (!other->gc)
        broken(other,
               "open while another one is open returns NULL; a collector with one state in a "
               "process says so with the trait single");
}

void conform_run(const struct collector *collector, unsigned number,
                 struct conform_answer *answer) {
    static struct conform c;
    static struct lent lent; /* collectors that were not closed know its hooks for ever */
    memset(answer, 0, sizeof *answer);
    if (!prepare(&c, collector, &lent, answer) || setjmp(c.end))
        return;
    c.gc = collector->open();
    if (!c.gc)
        broken(&c, "open returns NULL");
    for (unsigned v = 0; v < variants_of(collector); v++)
        run_variant(&c, step_of(number), v);
    collector->close(c.gc);
}
