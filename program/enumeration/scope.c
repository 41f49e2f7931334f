/* SPDX-License-Identifier: MIT
 *
 * The scope of an enumeration: what it is at first, as text, and its menu of operations
 * (enumerate.h).
 */
#define _POSIX_C_SOURCE 200809L
#include "program/enumeration/enumerate.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- text -------------------------------------------------------------------------------------
 */

static const struct {
    char letter;
    struct scope_shape shape;
} letters[] = {
    {'b', {ITEM_BLOCK, 0, 0, 0}},
    {'s', {ITEM_RAW, PROGRAM_TAG_STRING, 0, 0}},
    {'c', {ITEM_CLOSURE, PROGRAM_TAG_CLOSURE, 2, 0}},
    {'f', {ITEM_CLOSURE, PROGRAM_TAG_CLOSURE, 1, 0}},
};
enum { LETTERS = sizeof letters / sizeof *letters };

static const struct {
    const char *name;
    unsigned kind;
} gap_names[] = {{"free", GAP_FREE}, {"dead", GAP_DEAD}, {"fragment", GAP_FRAGMENT}};
enum { GAP_NAMES = sizeof gap_names / sizeof *gap_names };

/* "b2", "b2:248"; shape has the letter's tag. */
static bool parse_tag(const char *text, size_t length, struct scope_shape *shape) {
    char *end;
    if (length == 2)
        return true;
    if (text[2] != ':' || text[3] < '0' || text[3] > '9')
        return false;
    unsigned long tag = strtoul(text + 3, &end, 10);
    shape->tag = (uint8_t)tag;
    return end == text + length && tag <= UINT8_MAX &&
           (shape->kind == ITEM_BLOCK ? tag_is_ordinary((unsigned)tag)
            : shape->kind == ITEM_RAW ? tag_is_raw((unsigned)tag)
                                      : tag == PROGRAM_TAG_CLOSURE);
}

static bool parse_shape(const char *text, size_t length, struct scope_shape *shape) {
    unsigned i = 0;
    while (i < LETTERS && text[0] != letters[i].letter)
        i++;
    if (i == LETTERS || length < 2 || text[1] < '0' || text[1] > '0' + SCOPE_FIELDS)
        return false;
    *shape = letters[i].shape;
    shape->fields = (uint8_t)(text[1] - '0');
    return parse_tag(text, length, shape) && (shape->fields > 0 || shape->kind == ITEM_CLOSURE) &&
           (shape->tag != PROGRAM_TAG_DOUBLE || shape->fields == 1);
}

bool scope_parse_shapes(const char *list, struct scope_shape *shapes, unsigned *n) {
    for (*n = 0; *n < SCOPE_SHAPES; list++) {
        size_t length = strcspn(list, ",");
        if (!parse_shape(list, length, &shapes[*n]))
            return false;
        ++*n;
        list += length;
        if (!*list)
            return true;
    }
    return false;
}

static bool is_word(const char *text, size_t length, const char *wanted) {
    return strlen(wanted) == length && strncmp(text, wanted, length) == 0;
}

/* Its name, or the word that leads its text. */
static bool is_called(unsigned code, const char *text, size_t length) {
    const char *form = op_shapes[code].form;
    form += strncmp(form, "d = ", 4) == 0 ? 4 : 0;
    size_t leading = strcspn(form, " ");
    return is_word(text, length, op_shapes[code].name) ||
           (leading > 1 && leading == length && memcmp(form, text, length) == 0);
}

bool scope_parse_codes(const char *list, op_bits *codes) {
    *codes = 0;
    for (;; list++) {
        size_t length = strcspn(list, ",");
        op_bits found = 0;
        for (unsigned code = 0; code < OP_CODES; code++)
            if (op_has(code, ENUMERATE) &&
                (is_word(list, length, "all") || is_called(code, list, length)))
                found |= UINT64_C(1) << code;
        *codes |= found;
        list += length;
        if (!found || !*list)
            return found != 0;
    }
}

bool scope_parse_gaps(const char *list, unsigned *kinds) {
    *kinds = 0;
    for (;; list++) {
        size_t length = strcspn(list, ",");
        bool known = is_word(list, length, "none");
        for (unsigned i = 0; i < GAP_NAMES; i++)
            if (is_word(list, length, gap_names[i].name)) {
                *kinds |= gap_names[i].kind;
                known = true;
            }
        list += length;
        if (!known || !*list)
            return known;
    }
}

static void print_shapes(FILE *out, const char *key, const struct scope_shape *shapes, unsigned n) {
    fprintf(out, " %s=", key);
    for (unsigned s = 0; s < n; s++) {
        unsigned i = 0;
        while (letters[i].shape.kind != shapes[s].kind ||
               letters[i].shape.functions != shapes[s].functions)
            i++;
        fprintf(out, "%s%c%u", s ? "," : "", letters[i].letter, shapes[s].fields);
        if (letters[i].shape.tag != shapes[s].tag)
            fprintf(out, ":%u", shapes[s].tag);
    }
}

static void print_codes(FILE *out, op_bits codes) {
    const char *separator = " menu=";
    for (unsigned code = 0; code < OP_CODES; code++)
        if (op_bits_have(codes, code)) {
            fprintf(out, "%s%s", separator, op_shapes[code].name);
            separator = ",";
        }
}

static void print_gaps(FILE *out, const struct scope *s) {
    const char *separator = " gap-kinds=";
    for (unsigned i = 0; i < GAP_NAMES; i++)
        if (s->gap_kinds & gap_names[i].kind) {
            fprintf(out, "%s%s", separator, gap_names[i].name);
            separator = ",";
        }
}

size_t scope_print(const struct scope *s, char *text, size_t capacity) {
    FILE *out = capacity ? fmemopen(text, capacity, "w") : NULL;
    if (!out)
        return 0;
    fprintf(out, "blocks=%u slots=%u operations=%u gaps=%u", s->blocks, s->slots, s->ops, s->gaps);
    if (s->mutators > 1)
        fprintf(out, " mutators=%u", s->mutators);
    print_gaps(out, s);
    print_shapes(out, "shapes", s->shapes, s->n_shapes);
    print_shapes(out, "allocs", s->allocs, s->n_allocs);
    print_codes(out, s->codes);
    fprintf(out, " kinds=%u%s%s%s%s", s->kinds, s->outside ? " outside" : "",
            s->atoms ? " atoms" : "", s->addresses ? " addresses" : "", s->orders ? " orders" : "");
    for (unsigned key = 0; key < CONFIG_KEYS; key++)
        for (unsigned v = 0; v < s->n_values[key]; v++) {
            if (v == 0)
                fprintf(out, " %s=", config_ranges[key].name);
            fprintf(out, "%s%u", v ? "," : "", s->values[key][v]);
        }
    long length = ftell(out);
    fclose(out);
    return length > 0 ? (size_t)length : 0;
}

/* ---- the scope --------------------------------------------------------------------------------
 */

void scope_initial(struct scope *s) {
    static const uint16_t tiny[CONFIG_KEYS] = {
        [CONFIG_HEAP] = 16, [CONFIG_NURSERY] = 8, [CONFIG_MARK_STACK] = 1, [CONFIG_SLICE] = 1};
    *s = (struct scope){.blocks = 2,
                        .slots = 2,
                        .mutators = 1,
                        .ops = 2,
                        .gaps = 1,
                        .gap_kinds = GAPS_ALL,
                        .kinds = 1};
    scope_parse_codes("alloc,closure,raw,load,store,drop,minor,slice,full,compact", &s->codes);
    scope_parse_shapes("b2,s1,c1", s->shapes, &s->n_shapes);
    scope_parse_shapes("b2,s1,c1", s->allocs, &s->n_allocs);
    for (unsigned key = 0; key < CONFIG_KEYS; key++) {
        s->n_values[key] = 1;
        s->values[key][0] = tiny[key] ? tiny[key] : config_ranges[key].initial;
    }
}

uint32_t scope_largest(unsigned key) {
    return key == CONFIG_HEAP ? SCOPE_HEAP_WORDS : config_ranges[key].max;
}

static const char *values_valid(const struct scope *s) {
    for (unsigned key = 0; key < CONFIG_KEYS; key++) {
        if (s->n_values[key] < 1 || s->n_values[key] > SCOPE_VALUES)
            return "a config key needs 1 to 64 values";
        for (unsigned v = 0; v < s->n_values[key]; v++) {
            if (s->values[key][v] < config_ranges[key].min ||
                s->values[key][v] > scope_largest(key))
                return "a config value is out of its range";
            for (unsigned w = 0; w < v; w++)
                if (s->values[key][v] == s->values[key][w])
                    return "a config value is given twice";
        }
    }
    return NULL;
}

static bool shapes_differ(const struct scope_shape *shapes, unsigned n) {
    for (unsigned i = 0; i < n; i++)
        for (unsigned j = 0; j < i; j++)
            if (memcmp(&shapes[i], &shapes[j], sizeof *shapes) == 0)
                return false;
    return true;
}

const char *scope_valid(const struct scope *s) {
    if (s->blocks > SCOPE_BLOCKS)
        return "there are too many blocks";
    if (s->slots < 1 || s->slots > SCOPE_SLOTS)
        return "there are no slots, or too many";
    if (s->mutators < 1 || s->mutators > PROGRAM_MUTATORS)
        return "there are no mutators, or too many";
    if (s->ops > SCOPE_OPS)
        return "there are too many operations";
    if (s->gaps > s->blocks + 1)
        return "there are more gaps than places for them, which is one more than blocks";
    if (s->kinds < 1 || s->kinds > SCOPE_KINDS)
        return "there are no collector kinds, or too many";
    if (s->n_shapes > SCOPE_SHAPES || s->n_allocs > SCOPE_SHAPES ||
        (s->blocks && s->n_shapes < 1) || !shapes_differ(s->shapes, s->n_shapes) ||
        !shapes_differ(s->allocs, s->n_allocs))
        return "there are no shapes, too many, or one is given twice";
    if (scope_menu(s, NULL) > SCOPE_MENU)
        return "the menu of operations is too long";
    return values_valid(s);
}

/* ---- the menu ---------------------------------------------------------------------------------
 */

struct menu {
    const struct scope *scope;
    struct op *ops; /* NULL: count only */
    unsigned n, fields;
};

static void add(struct menu *m, struct op op) {
    if (m->ops && m->n < SCOPE_MENU)
        m->ops[m->n] = op;
    m->n++;
}

/* Operations come in the order of their operands: mutator, dst, src, shape, i, j, n, value.  Each
 * function goes through the choices for one and hands on to the next. */

/* With the value, or the first of them: the address of what each slot points at. */
static void add_addresses(struct menu *m, struct op op) {
    for (uint16_t s = 0; s < m->scope->slots && m->scope->addresses; s++) {
        op.values[0] = (struct value){.kind = VALUE_ADDRESS, .block = s};
        add(m, op);
    }
}

/* Unit, and every slot.  What sets a slot has another slot alone: unit is what drop leaves. */
static void add_values(struct menu *m, struct op op) {
    if (!(op_shapes[op.code].operands & OPERAND_VALUE)) {
        add(m, op);
        return;
    }
    op.n_values = 1;
    if (op.code != OP_SET)
        add(m, op);
    for (uint16_t s = 0; s < m->scope->slots; s++) {
        op.values[0] = (struct value){.kind = VALUE_SLOT, .block = s};
        if (op.code != OP_SET || s != op.dst)
            add(m, op);
    }
    add_addresses(m, op);
}

struct numbers {
    unsigned first, n;
};

static struct numbers numbers_of(const struct menu *m, enum menu_numbers choice) {
    switch (choice) {
    case MENU_ONE:
        return (struct numbers){1, 1};
    case MENU_TWO:
        return (struct numbers){2, 1};
    case MENU_ZERO_AND_ONE:
        return (struct numbers){0, 2};
    case MENU_EACH_FIELD:
        return (struct numbers){0, m->fields};
    case MENU_ALL_FIELDS:
        return (struct numbers){m->fields, 1};
    case MENU_EACH_KIND:
        return (struct numbers){0, m->scope->kinds};
    case MENU_EACH_SHAPE:
        return (struct numbers){0, BUILD_SHAPES};
    case MENU_EACH_ACT:
        return (struct numbers){0, FINALISER_ACTS};
    case MENU_EACH_DAMAGE:
        return (struct numbers){0, DAMAGES};
    case MENU_ZERO:
        break;
    }
    return (struct numbers){0, 1};
}

static void add_numbers(struct menu *m, struct op op) {
    const struct op_shape *shape = &op_shapes[op.code];
    struct numbers i = numbers_of(m, shape->menu_i), j = numbers_of(m, shape->menu_j),
                   n = numbers_of(m, shape->menu_n);
    for (unsigned at = 0; at < i.n * j.n * n.n; at++) {
        op.i = (uint16_t)(i.first + at / (j.n * n.n));
        op.j = (uint16_t)(j.first + at / n.n % j.n);
        op.n = (uint16_t)(n.first + at % n.n);
        add_values(m, op);
    }
}

static bool allocates(const struct scope_shape *shape, unsigned code) {
    return code == (shape->kind == ITEM_BLOCK     ? OP_ALLOC
                    : shape->kind == ITEM_CLOSURE ? OP_ALLOC_CLOSURE
                                                  : OP_ALLOC_RAW);
}

/* All fields unit, and with every slot in the first field. */
static void add_allocation(struct menu *m, struct op op, const struct scope_shape *shape) {
    op.tag = shape->kind == ITEM_CLOSURE ? 0 : shape->tag;
    op.functions = shape->functions;
    op.size = shape->fields;
    for (unsigned f = 0; f < shape->functions; f++)
        op.arity[f] = 1;
    add(m, op);
    op.n_values = 1;
    for (uint16_t s = 0; s < m->scope->slots && shape->kind != ITEM_RAW && op.size; s++) {
        op.values[0] = (struct value){.kind = VALUE_SLOT, .block = s};
        add(m, op);
    }
    if (op.size)
        add_addresses(m, op);
}

static void add_shapes(struct menu *m, struct op op) {
    if (!(op_shapes[op.code].operands & OPERAND_SIZE)) {
        add_numbers(m, op);
        return;
    }
    for (unsigned i = 0; i < m->scope->n_allocs; i++)
        if (allocates(&m->scope->allocs[i], op.code))
            add_allocation(m, op, &m->scope->allocs[i]);
}

static void add_sources(struct menu *m, struct op op) {
    unsigned n = op_shapes[op.code].operands & OPERAND_SRC ? m->scope->slots : 1;
    for (op.src = 0; op.src < n; op.src++)
        add_shapes(m, op);
}

/* The first mutator neither comes nor goes. */
static void add_operations(struct menu *m, unsigned code) {
    struct op op = {.code = (uint8_t)code};
    unsigned n = op_shapes[code].operands & OPERAND_DST ? m->scope->slots : 1;
    op.mutator = code == OP_ATTACH || code == OP_DETACH;
    for (; op.mutator < m->scope->mutators; op.mutator++)
        for (op.dst = 0; op.dst < n; op.dst++)
            add_sources(m, op);
}

static struct menu menu_of(const struct scope *s, struct op *out) {
    struct menu m = {.scope = s, .ops = out, .fields = 1};
    for (unsigned i = 0; i < s->n_shapes; i++)
        m.fields = s->shapes[i].fields > m.fields ? s->shapes[i].fields : m.fields;
    for (unsigned i = 0; i < s->n_allocs; i++)
        m.fields = s->allocs[i].fields > m.fields ? s->allocs[i].fields : m.fields;
    return m;
}

unsigned scope_menu(const struct scope *s, struct op *out) {
    struct menu m = menu_of(s, out);
    for (unsigned code = 0; code < OP_CODES; code++)
        if (op_bits_have(s->codes, code))
            add_operations(&m, code);
    return m.n;
}

op_bits scope_missing(const struct scope *s) {
    op_bits missing = 0;
    for (unsigned code = 0; code < OP_CODES; code++) {
        struct menu m = menu_of(s, NULL);
        if (!op_bits_have(s->codes, code))
            continue;
        add_operations(&m, code);
        missing |= (op_bits)(m.n == 0) << code;
    }
    return missing;
}
