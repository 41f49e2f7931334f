/* SPDX-License-Identifier: MIT
 *
 * The program of an exported finding as C: tables of the heap, calls of the script (export.h).
 *
 * It is lowered as the runner does: to what subject and reference both take, under this config.
 */
#include "cli/export/export.h"

#include "harness/initial/lowering.h"
#include "program/text/text.h"
#include "views/heap.h"

#include <inttypes.h>

struct lowering {
    FILE *f;
    const struct program *p;
    bool infix, closures, raw, outside, statics, any_word, atoms;
    unsigned mutators, word_bits, lacks_raw, own_tags;
};

/* ---- what the collectors take -----------------------------------------------------------------
 */

static void lower_to(struct lowering *l, const struct collector *c) {
    struct gc_config config = program_gc_config(l->p);
    struct collector_traits traits = promised_traits(c, &config);
    l->infix &= traits.infix;
    l->closures &= traits.start_env;
    l->raw &= traits.raw;
    l->lacks_raw |= traits.lacks_raw;
    if (traits.own_tags && (!l->own_tags || traits.own_tags < l->own_tags))
        l->own_tags = traits.own_tags;
    if (traits.word_bits && traits.word_bits < l->word_bits)
        l->word_bits = traits.word_bits;
    l->outside &= traits.outside;
    l->statics &= traits.outside || traits.statics;
    l->any_word &= traits.any_word;
    l->atoms &= traits.atoms;
    if (traits.max_mutators < l->mutators)
        l->mutators = traits.max_mutators;
}

static bool is_unit(const struct value *v) {
    return v->kind == VALUE_IMMEDIATE && v->bits == 0;
}

static struct lowering lower(FILE *f, const struct exported *e) {
    struct lowering l = {.f = f, .p = e->program, .infix = true, .closures = true, .raw = true};
    l.outside = l.statics = l.any_word = l.atoms = true;
    l.word_bits = 64;
    l.mutators = program_mutators(e->program);
    lower_to(&l, e->subject);
    if (e->reference)
        lower_to(&l, e->reference);
    return l;
}

static unsigned lowered_tag(const struct lowering *l, unsigned tag) {
    if (tag >= TAG_NO_SCAN)
        return l->raw ? lowered_raw_tag(tag, l->lacks_raw) : 0;
    return tag != TAG_CLOSURE || l->closures ? lowered_own_tag(tag, l->own_tags) : 0;
}

/* ---- words ------------------------------------------------------------------------------------
 */

static void write_immediate(const struct lowering *l, uint64_t bits) {
    fprintf(l->f, "IMMEDIATE(%" PRId64 ")", lowered_integer((int64_t)bits, l->word_bits));
}

/* The item of a named block, and the number of the object that it is the first of. */
static unsigned item_of(const struct program *p, unsigned block) {
    unsigned i = 0;
    while (!item_is_named(&p->items[i]) || block-- > 0)
        i++;
    return i;
}
static unsigned first_object(const struct program *p, unsigned block) {
    unsigned first = 0, item = item_of(p, block);
    for (unsigned i = 0; i < item; i++)
        first += item_is_named(&p->items[i]) ? item_count(&p->items[i]) : 0;
    return first;
}

static void write_reference(const struct lowering *l, const struct value *v) {
    if (program_named_item(l->p, v->block)->is_static && !l->statics)
        write_immediate(l, 0);
    else if (v->kind == VALUE_EACH)
        fprintf(l->f, "EACH(%u)", item_of(l->p, v->block));
    else
        fprintf(l->f, "REFERENCE(%u, %u)", first_object(l->p, v->block),
                v->kind == VALUE_INFIX && l->infix ? v->offset : 0u);
}

/* Of this collector alone: what lies just beside its heap. */
static void write_outside(const struct lowering *l, const struct value *v) {
    enum outside_form form = outside_form(v);
    uint64_t n = outside_number(v);
    if (form == OUTSIDE_NUMBER || !l->any_word)
        fprintf(l->f, "0x%" PRIx64, outside_pointer((unsigned)(v->bits & UINT16_MAX)));
    else if (form == OUTSIDE_BEFORE || form == OUTSIDE_BEHIND)
        fprintf(l->f, "BESIDE(%d, %u)", form == OUTSIDE_BEHIND, (unsigned)n);
    else
        fprintf(l->f, "0x%" PRIx64, n);
}

static void write_value(const struct lowering *l, const struct value *v) {
    if (v->kind == VALUE_RAW)
        fprintf(l->f, "0x%" PRIx64, lowered_raw(l->raw ? v->bits : v->bits | 1, l->word_bits));
    else if (v->kind == VALUE_OUTSIDE && l->outside)
        write_outside(l, v);
    else if (v->kind == VALUE_ATOM && l->atoms)
        fprintf(l->f, "ATOM(%u)", (unsigned)v->bits);
    else if (v->kind == VALUE_SLOT)
        fprintf(l->f, "SLOT(%u)", v->block);
    else if (v->kind == VALUE_ADDRESS && l->word_bits < 64)
        write_immediate(l, 0);
    else if (v->kind == VALUE_ADDRESS)
        fprintf(l->f, "ADDRESS(%u, %u, %u)", v->block, v->offset, (unsigned)v->bits);
    else if (v->kind == VALUE_NEXT)
        fprintf(l->f, "NEXT");
    else if (value_is_reference(v))
        write_reference(l, v);
    else
        write_immediate(l, v->bits);
}

static const char *separator(unsigned n) {
    return n % 8 ? ", " : ",\n    ";
}

/* The address of what the first field of the environment leads to, or of the closure itself. */
static void write_code_address(const struct lowering *l, const struct item *item, unsigned block) {
    const struct value *first = &l->p->fields[item->first_field];
    bool leads = item->n_fields && value_is_reference(first);
    fprintf(l->f, "ADDRESS(%u, %u, 0)", leads ? first->block : block, leads ? first->offset : 0u);
}

/* Code words of a closure, or as many units.  coded: of this item the first is an address. */
static unsigned write_code(const struct lowering *l, unsigned functions, const int8_t *arity,
                           unsigned number, const struct item *coded, unsigned block) {
    word words[16];
    unsigned n = (unsigned)closure_words(words, functions, arity, number);
    for (unsigned i = 0; i < n; i++) {
        fprintf(l->f, "%s", i ? separator(i) : "");
        if (i == 0 && coded && l->closures)
            write_code_address(l, coded, block);
        else
            fprintf(l->f, "0x%" PRIx64, l->closures ? words[i] : WORD_UNIT);
    }
    return n;
}

/* ---- heap and roots ---------------------------------------------------------------------------
 */

static void write_fields(const struct lowering *l, unsigned index, unsigned block) {
    const struct item *item = &l->p->items[index];
    unsigned n = 0;
    fprintf(l->f, "static %sword b%u[] = {\n    ", export_has_outsiders(l->p) ? "" : "const ",
            block);
    if (item->kind == ITEM_CLOSURE)
        n = write_code(l, item->functions, item->arity, index, item->address_code ? item : NULL,
                       block);
    for (unsigned i = 0; i < item->n_fields; i++, n++) {
        fprintf(l->f, "%s", n ? separator(n) : "");
        write_value(l, &l->p->fields[item->first_field + i]);
    }
    fprintf(l->f, "};\n");
}

static void write_item(const struct lowering *l, const struct item *item, unsigned block) {
    unsigned tag = lowered_tag(l, item->tag);
    unsigned start = tag == TAG_CLOSURE   ? closure_code_words(item->functions, item->arity)
                     : tag >= TAG_NO_SCAN ? item->wosize
                                          : 0;
    fprintf(l->f, "    {%u, %u, %u, %s, %s, ", item->wosize, start, tag,
            item->kind == ITEM_FREE ? "BLUE" : "WHITE", item->is_static ? "true" : "false");
    if (item_is_named(item))
        fprintf(l->f, "true, b%u, %u, %u},\n", block, item_count(item), first_object(l->p, block));
    else
        fprintf(l->f, "false, NULL, %u, 0},\n", item_count(item));
}

static void write_heap(const struct lowering *l) {
    unsigned block = 0;
    for (unsigned i = 0; i < l->p->n_items; i++)
        if (item_is_named(&l->p->items[i]))
            write_fields(l, i, block++);
    block = 0;
    fprintf(l->f,
            "struct item {\n"
            "    size_t wosize, first_scanned; /* fields before first_scanned are raw */\n"
            "    unsigned tag, colour;\n"
            "    bool is_static, named; /* what has no name is a gap */\n"
            "    const word *words;\n"
            "    size_t count, first; /* so many alike; the number of the first with a name */\n"
            "};\n"
            "static const struct item items[] = {\n");
    for (unsigned i = 0; i < l->p->n_items; i++) {
        write_item(l, &l->p->items[i], block);
        block += item_is_named(&l->p->items[i]);
    }
    fprintf(l->f,
            "    {0, 0, 0, 0, false, false, NULL, 0, 0}};\nstatic const size_t n_items = %u;\n",
            l->p->n_items);
}

static void write_roots(const struct lowering *l) {
    unsigned n = 0;
    fprintf(l->f,
            "struct root {\n    unsigned mutator, slot;\n    word value;\n};\n"
            "static %sstruct root roots[] = {\n",
            export_has_outsiders(l->p) ? "" : "const ");
    for (unsigned m = 0; m < l->mutators; m++)
        for (unsigned s = 0; s < PROGRAM_SLOTS; s++) {
            if (is_unit(&l->p->roots[m][s]))
                continue;
            fprintf(l->f, "    {%u, %u, ", m, s);
            write_value(l, &l->p->roots[m][s]);
            fprintf(l->f, "},\n");
            n++;
        }
    fprintf(l->f, "    {0, 0, 0}};\nstatic const size_t n_roots = %u;\n", n);
}

static void write_switches(const struct lowering *l) {
    fprintf(l->f, "static const uint32_t decisions[] = {");
    for (unsigned s = 0; s < l->p->n_switches; s++)
        fprintf(l->f, "%u << 16 | %u, ", switch_at(l->p->switches[s]),
                switch_choice(l->p->switches[s]));
    fprintf(l->f, "0};\n");
}

void export_tables(FILE *f, const struct exported *e) {
    const struct lowering l = lower(f, e);
    const uint32_t *config = l.p->config;
    fprintf(f, "/* ---- the program ---- */\n\nenum {\n");
    fprintf(f, "    HEAP = %u, NURSERY = %u, MARK_STACK = %u, SLICE = %u, LARGE = %u,\n",
            config[CONFIG_HEAP], config[CONFIG_NURSERY], config[CONFIG_MARK_STACK],
            config[CONFIG_SLICE], config[CONFIG_LARGE]);
    struct gc_config gc_config = program_gc_config(l.p);
    struct collector_traits traits = promised_traits(e->subject, &gc_config);
    fprintf(f, "    MOST = %zu, /* words that the heap may grow to */\n",
            heap_most_words(&traits, &gc_config));
    fprintf(f, "    AGE = %u, STRESS = %u, FAIL = %u, VARIANT = %u, KIND = %u, MUTATORS = %u,\n",
            config[CONFIG_AGE], config[CONFIG_STRESS], config[CONFIG_FAIL], config[CONFIG_VARIANT],
            config[CONFIG_KIND], l.mutators);
    fprintf(f, "    SCHEDULE = %u, PREEMPT = %u, N_DECISIONS = %u,\n", config[CONFIG_SCHEDULE],
            config[CONFIG_PREEMPT], l.p->n_switches);
    fprintf(f, "    HEAP_USED = %u, STATIC_WORDS = %u, LARGEST = %u, CLOSURE_FUNCTIONS = %u,\n",
            program_heap_words(l.p), program_static_words(l.p), PROGRAM_WOSIZE, PROGRAM_FUNCTIONS);
    fprintf(f, "    TAKES_INFIX = %d\n};\n", l.infix);
    fprintf(
        f,
        "#define IMMEDIATE(n) ((word)(n) << 1 | 1)\n"
        "/* field `offset` of named block `block` (an infix pointer, or 0) */\n"
        "#define REFERENCE(block, offset) \\\n"
        "    ((word)0x0111 << 48 | (word)(block) << 16 | (word)(offset) << 1)\n"
        "/* in an item by count: its next block; the block of the same number of another one */\n"
        "#define NEXT ((word)0x0166 << 48)\n"
        "#define EACH(item) ((word)0x0177 << 48 | (word)(item) << 1)\n"
        "/* what a slot holds when the operation runs */\n"
        "#define SLOT(n) ((word)0x0222 << 48 | (word)(n) << 1)\n"
        "/* the address of a field of what a block or slot is, as data; what says how */\n"
        "#define ADDRESS(of, field, how) \\\n"
        "    ((word)0x0233 << 48 | (word)(of) << 32 | (word)(field) << 16 | (word)(how) << 1)\n"
        "/* the block without fields that has this tag; bytes before or behind the heap */\n"
        "#define ATOM(tag) ((word)0x0144 << 48 | (word)(tag) << 1)\n"
        "#define BESIDE(behind, bytes) \\\n"
        "    ((word)0x0155 << 48 | (word)(behind) << 16 | (word)(bytes) << 1)\n"
        "\n");
    write_heap(&l);
    write_roots(&l);
    write_switches(&l);
}

/* ---- script -----------------------------------------------------------------------------------
 */

static void write_values(const struct lowering *l, const struct op *op) {
    fprintf(l->f, "%u, ", op->n_values);
    if (op->n_values == 0) {
        fprintf(l->f, "NULL");
        return;
    }
    fprintf(l->f, "(const word[]){");
    for (unsigned i = 0; i < op->n_values; i++) {
        fprintf(l->f, "%s", i ? ", " : "");
        write_value(l, &op->values[i]);
    }
    fprintf(l->f, "}");
}

static void write_allocation(const struct lowering *l, const struct op *op, unsigned m,
                             unsigned number) {
    if (op->code == OP_ALLOC_RAW) {
        fprintf(l->f, "alloc_raw(%u, %u, %u, %u, %s, ", m, op->dst, lowered_tag(l, op->tag),
                op->size, l->raw ? "0" : "WORD_UNIT");
    } else if (op->code == OP_ALLOC) {
        fprintf(l->f, "alloc(%u, %u, %u, %u, 0, NULL, ", m, op->dst, op->tag, op->size);
    } else {
        unsigned start = closure_code_words(op->functions, op->arity);
        fprintf(l->f, "alloc(%u, %u, %u, %u, %u, (const word[]){", m, op->dst,
                lowered_tag(l, TAG_CLOSURE), start + op->size, start);
        write_code(l, op->functions, op->arity, PROGRAM_ITEMS + number, NULL, 0);
        fprintf(l->f, "}, ");
    }
    write_values(l, op);
}

static void write_store(const struct lowering *l, const struct op *op, unsigned m) {
    if (op->code == OP_SET)
        fprintf(l->f, "copy(%u, %u, ", m, op->dst);
    else if (op->code == OP_FORWARD)
        fprintf(l->f, "forward(%u, %u, ", m, op->dst);
    else if (op->code == OP_BUILD && op->shape == BUILD_ARRAY)
        fprintf(l->f, "build_array(%u, %u, %u, ", m, op->dst, op->blocks);
    else if (op->code == OP_BUILD)
        fprintf(l->f, "build_list(%u, %u, %u, %u, ", m, op->dst, op->shape == BUILD_TREE ? 3 : 2,
                op->blocks);
    else if (op->code == OP_INIT)
        fprintf(l->f, "init(%u, %u, %u, ", m, op->dst, op->i);
    else if (op->code == OP_STORE && op->values[0].kind == VALUE_ADDRESS)
        fprintf(l->f, "store_address(%u, %u, %u, ", m, op->dst, op->i);
    else
        fprintf(l->f, "store(%u, %u, %u, %u, ", m, op->dst, op->i, op->code == OP_FILL ? op->n : 1);
    write_value(l, &op->values[0]);
}

/* Operations without values. */
static void write_plain(FILE *f, const struct op *op, unsigned m) {
    switch (op->code) {
    case OP_LOAD:
        fprintf(f, "load(%u, %u, %u, %u", m, op->dst, op->src, op->i);
        break;
    case OP_BLIT:
        fprintf(f, "blit(%u, %u, %u, %u, %u, %u", m, op->src, op->i, op->dst, op->j, op->n);
        break;
    case OP_DROP:
        fprintf(f, "drop(%u, %u", m, op->dst);
        break;
    case OP_INFIX:
        fprintf(f, "infix(%u, %u, %u, %u", m, op->dst, op->src, op->i);
        break;
    case OP_READ:
        fprintf(f, "read_back(%u, %u, %u", m, op->src, op->i);
        break;
    case OP_SLICE:
        fprintf(f, "slice(%u, %u", m, op->n);
        break;
    case OP_EXHAUST:
        fprintf(f, "exhaust(%u, %u, %u", m, op->dst, op->n);
        break;
    case OP_KIND:
        fprintf(f, "switch_kind(%u, %u", m, op->n);
        break;
    case OP_POLL:
        fprintf(f, "poll(%u", m);
        break;
    case OP_ATTACH:
        fprintf(f, "attach(%u", m);
        break;
    case OP_DETACH:
        fprintf(f, "detach(%u", m);
        break;
    case OP_TRUNCATE:
        fprintf(f, "truncate_block(%u, %u, %u", m, op->dst, op->kept);
        break;
    case OP_FINALISE:
    case OP_MEASURE:
        fprintf(f, "nothing(%u", m);
        break;
    case OP_MINOR:
        fprintf(f, "collection(%u, GC_MINOR", m);
        break;
    case OP_FULL:
        fprintf(f, "collection(%u, GC_FULL", m);
        break;
    case OP_COMPACT:
        fprintf(f, "collection(%u, GC_COMPACT", m);
        break;
    default: /* does not compile */
        fprintf(f, "no_c_for_this_operation(");
    }
}

/* What uses up a stack does so in a thread that has no more. */
static void write_main(FILE *f, size_t stack_kib) {
    static const char play[] = "    begin();\n    script();\n    end();\n    puts(\"passed\");\n";
    if (!stack_kib) {
        fprintf(f, "int main(void) {\n%s    return 0;\n}\n", play);
        return;
    }
    fprintf(f,
            "static void *play(void *none) {\n%s    return none;\n}\n\n"
            "int main(void) {\n"
            "    pthread_attr_t attributes;\n    pthread_t thread;\n"
            "    pthread_attr_init(&attributes);\n"
            "    if (pthread_attr_setstacksize(&attributes, %zu << 10) ||\n"
            "        pthread_create(&thread, &attributes, play, NULL))\n        exit(99);\n"
            "    pthread_join(thread, NULL);\n    return 0;\n}\n",
            play, stack_kib);
}

/* Has the operation a meaning, while those mutators are there?  It may be one less or more then. */
static bool is_done_by(unsigned *there, const struct op *op, unsigned m) {
    bool is_there = *there >> m & 1;
    if (op->code == OP_ATTACH)
        *there |= 1u << m;
    else if (op->code == OP_DETACH && m > 0)
        *there &= ~(1u << m);
    return op->code == OP_ATTACH ? !is_there : is_there && (op->code != OP_DETACH || m > 0);
}

void export_script(FILE *f, const struct exported *e) {
    const struct lowering l = lower(f, e);
    char text[256];
    unsigned there = ~0u, last = 0;
    bool has_init = false;
    for (unsigned i = 0; i < l.p->n_ops; i++)
        has_init |= l.p->ops[i].code == OP_INIT;
    fprintf(f, "\n/* ---- the script ---- */\n\nstatic void script(void) {\n");
    for (unsigned i = 0; i < l.p->n_ops; i++) {
        const struct op *op = &l.p->ops[i], *original = &e->original->ops[i];
        unsigned operands = op_shapes[op->code].operands, m = op->mutator % l.mutators;
        op_print(original, text, sizeof text);
        fprintf(f, "    /* %u: %s */\n", i, text);
        if (!is_done_by(&there, op, m))
            continue;
        if (m != last)
            fprintf(f, "    hooks.mutator = %u;\n", m);
        last = m;
        fprintf(f, "    ");
        if (operands & OPERAND_SIZE)
            write_allocation(&l, op, m, i);
        else if (operands & OPERAND_VALUE)
            write_store(&l, op, m);
        else
            write_plain(f, op, m);
        fprintf(f, ");\n");
        if (has_init && op_has(op->code, KEEPS_FRESH) && !op_has(original->code, KEEPS_FRESH))
            fprintf(f, "    fresh = WORD_UNIT;\n");
    }
    fprintf(f, "}\n\n");
    write_main(f, e->stack_kib);
}
