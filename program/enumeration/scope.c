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

bool scope_parse_codes(const char *list, uint32_t *codes) {
    *codes = 0;
    for (;; list++) {
        size_t length = strcspn(list, ",");
        uint32_t found = is_word(list, length, "all") ? (UINT32_C(1) << OP_CODES) - 1 : 0;
        for (unsigned code = 0; code < OP_CODES; code++)
            if (is_word(list, length, op_shapes[code].name))
                found = UINT32_C(1) << code;
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

static void print_codes(FILE *out, uint32_t codes) {
    const char *separator = " menu=";
    for (unsigned code = 0; code < OP_CODES; code++)
        if (codes >> code & 1) {
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
    print_gaps(out, s);
    print_shapes(out, "shapes", s->shapes, s->n_shapes);
    print_shapes(out, "allocs", s->allocs, s->n_allocs);
    print_codes(out, s->codes);
    fprintf(out, " kinds=%u%s%s", s->kinds, s->outside ? " outside" : "",
            s->orders ? " orders" : "");
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
                        .ops = 2,
                        .gaps = 1,
                        .gap_kinds = GAPS_ALL,
                        .kinds = 1,
                        .codes = 1u << OP_ALLOC | 1u << OP_ALLOC_CLOSURE | 1u << OP_ALLOC_RAW |
                                 1u << OP_LOAD | 1u << OP_STORE | 1u << OP_DROP | 1u << OP_MINOR |
                                 1u << OP_SLICE | 1u << OP_FULL | 1u << OP_COMPACT};
    scope_parse_shapes("b2,s1,c1", s->shapes, &s->n_shapes);
    scope_parse_shapes("b2,s1,c1", s->allocs, &s->n_allocs);
    for (unsigned key = 0; key < CONFIG_KEYS; key++) {
        s->n_values[key] = 1;
        s->values[key][0] = tiny[key] ? tiny[key] : config_ranges[key].initial;
    }
}

static const char *values_valid(const struct scope *s) {
    for (unsigned key = 0; key < CONFIG_KEYS; key++) {
        if (s->n_values[key] < 1 || s->n_values[key] > SCOPE_VALUES)
            return "a config key needs 1 to 64 values";
        for (unsigned v = 0; v < s->n_values[key]; v++) {
            if (s->values[key][v] < config_ranges[key].min ||
                s->values[key][v] > config_ranges[key].max)
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

/* The operation with unit as its value, and with every slot. */
static void add_with_values(struct menu *m, struct op op) {
    op.n_values = 1;
    add(m, op);
    for (uint16_t s = 0; s < m->scope->slots; s++) {
        op.values[0] = (struct value){.kind = VALUE_SLOT, .block = s};
        add(m, op);
    }
}

static bool allocates(const struct scope_shape *shape, unsigned code) {
    return code == (shape->kind == ITEM_BLOCK     ? OP_ALLOC
                    : shape->kind == ITEM_CLOSURE ? OP_ALLOC_CLOSURE
                                                  : OP_ALLOC_RAW);
}

/* Every shape, all fields unit, and with every slot in the first field. */
static void add_allocations(struct menu *m, unsigned code, uint8_t dst) {
    for (unsigned i = 0; i < m->scope->n_allocs; i++) {
        const struct scope_shape *shape = &m->scope->allocs[i];
        struct op op = {.code = (uint8_t)code,
                        .dst = dst,
                        .tag = shape->kind == ITEM_CLOSURE ? 0 : shape->tag,
                        .functions = shape->functions,
                        .size = shape->fields};
        for (unsigned f = 0; f < shape->functions; f++)
            op.arity[f] = 1;
        if (!allocates(shape, code))
            continue;
        add(m, op);
        op.n_values = 1;
        for (uint16_t s = 0; s < m->scope->slots && shape->kind != ITEM_RAW && op.size; s++) {
            op.values[0] = (struct value){.kind = VALUE_SLOT, .block = s};
            add(m, op);
        }
    }
}

/* Operations that read one slot and write another, or the same. */
static void add_transfers(struct menu *m, unsigned code, uint8_t dst) {
    for (uint8_t src = 0; src < m->scope->slots; src++) {
        struct op op = {.code = (uint8_t)code, .dst = dst, .src = src};
        if (code == OP_INFIX)
            op.i = 1;
        if (code == OP_SET && src != dst) {
            op.src = 0;
            op.n_values = 1;
            op.values[0] = (struct value){.kind = VALUE_SLOT, .block = src};
        }
        if (code == OP_INFIX || (code == OP_SET && src != dst))
            add(m, op);
        for (uint16_t i = 0; i < m->fields && code == OP_LOAD; i++) {
            op.i = i;
            add(m, op);
        }
        for (unsigned at = 0; at < m->fields * m->fields && code == OP_BLIT; at++) {
            op.i = (uint16_t)(at / m->fields);
            op.j = (uint16_t)(at % m->fields);
            op.n = (uint16_t)m->fields;
            add(m, op);
        }
    }
}

/* Operations with a slot that they write, or write to. */
static void add_to_slot(struct menu *m, unsigned code, uint8_t dst) {
    struct op op = {.code = (uint8_t)code, .dst = dst};
    add_allocations(m, code, dst);
    add_transfers(m, code, dst);
    if (code == OP_FILL) {
        op.n = (uint16_t)m->fields;
        add_with_values(m, op);
    }
    for (uint16_t i = 0; i < m->fields && (code == OP_STORE || code == OP_INIT); i++) {
        op.i = i;
        add_with_values(m, op);
    }
    for (uint16_t i = 0; i < m->fields && code == OP_READ; i++)
        add(m, (struct op){.code = OP_READ, .src = dst, .i = i});
    for (uint16_t n = 0; n < 2 && code == OP_EXHAUST; n++) {
        op.n = n;
        add(m, op);
    }
    if (code == OP_DROP)
        add(m, op);
}

static void add_without_slot(struct menu *m, unsigned code) {
    unsigned choices = code == OP_KIND ? m->scope->kinds : code == OP_SLICE ? 2 : 1;
    for (uint16_t n = 0; n < choices; n++) /* slice 0: the configured budget */
        add(m, (struct op){.code = (uint8_t)code, .n = n});
}

unsigned scope_menu(const struct scope *s, struct op *out) {
    struct menu m = {.scope = s, .ops = out, .fields = 1};
    for (unsigned i = 0; i < s->n_shapes; i++)
        m.fields = s->shapes[i].fields > m.fields ? s->shapes[i].fields : m.fields;
    for (unsigned i = 0; i < s->n_allocs; i++)
        m.fields = s->allocs[i].fields > m.fields ? s->allocs[i].fields : m.fields;
    for (unsigned code = 0; code < OP_CODES; code++) {
        bool slotless = !(op_shapes[code].operands & (OPERAND_DST | OPERAND_SRC));
        if (!(s->codes >> code & 1))
            continue;
        if (slotless)
            add_without_slot(&m, code);
        for (uint8_t dst = 0; dst < s->slots && !slotless; dst++)
            add_to_slot(&m, code, dst);
    }
    return m.n;
}
