/* SPDX-License-Identifier: MIT
 *
 * The table of operations (program/operations.def) against itself, against what is made from it,
 * and against what the documentation says of it.
 */
#include "program/bytes/bytes.h"
#include "program/bytes/records.h"
#include "program/enumeration/enumerate.h"
#include "program/text/form.h"
#include "program/text/text.h"
#include "tests/support/program_support.h"
#include "tests/support/support.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { RENDERED = 256, ALTERNATIVES = 64 };

/* ---- rows -------------------------------------------------------------------------------------
 */

static unsigned operand_of(const char *at) {
    bool list = at[1] == '*';
    switch (*at) {
    case 'd':
        return OPERAND_DST;
    case 's':
        return OPERAND_SRC;
    case 't':
    case 'T':
        return OPERAND_TAG;
    case 'a':
        return OPERAND_FUNCTIONS;
    case 'z':
        return OPERAND_SIZE;
    case 'i':
        return OPERAND_I;
    case 'j':
        return OPERAND_J;
    case 'n':
        return OPERAND_N;
    case 'v':
    case 'w':
        return list ? OPERAND_VALUES : OPERAND_VALUE;
    default:
        return 0;
    }
}

static const char *after_word(const char *at) {
    while (form_is_letter(*at))
        at++;
    return at;
}

static unsigned operands_of(const char *form) {
    unsigned operands = 0;
    for (const char *at = form; *at;) {
        if (form_is_operand(at)) {
            unsigned operand = operand_of(at);
            if (!operand || operands & operand)
                fail_msg("the form \"%s\" has an operand of no kind, or twice: %c", form, *at);
            operands |= operand;
            at = at[1] == '<' ? strchr(at, '>') + 1 : at + 1;
        } else {
            at = form_is_letter(*at) ? after_word(at) : at + 1;
        }
    }
    return operands;
}

static void rows_agree_with_their_forms(void **state) {
    (void)state;
    for (unsigned code = 0; code < OP_CODES; code++) {
        const struct op_shape *s = &op_shapes[code];
        if (operands_of(s->form) != s->operands)
            fail_msg("%s: the operands are not those of its form \"%s\"", s->name, s->form);
        assert_int_equal(s->max_i > 0, (s->operands & OPERAND_I) != 0);
        assert_int_equal(s->max_j > 0, (s->operands & OPERAND_J) != 0);
        assert_int_equal(s->max_n > 0, (s->operands & OPERAND_N) != 0);
        assert_int_equal(s->i != NULL, (s->operands & OPERAND_I) != 0);
        assert_int_equal(s->n != NULL, (s->operands & OPERAND_N) != 0);
        assert_int_equal(s->max_size > 0, (s->operands & OPERAND_SIZE) != 0);
        assert_true(s->weight > 0);
        assert_int_equal(op_shapes[s->simpler].simpler, s->simpler); /* it ends there */
        for (unsigned other = 0; other < code; other++)
            assert_string_not_equal(s->name, op_shapes[other].name);
    }
}

/* What the record of the later ones cannot say, none of them has. */
static void later_operations_fit_their_record(void **state) {
    const unsigned possible =
        OPERAND_DST | OPERAND_SRC | OPERAND_I | OPERAND_J | OPERAND_N | OPERAND_VALUE;
    (void)state;
    for (unsigned code = OP_LATER; code < OP_CODES; code++)
        assert_int_equal(op_shapes[code].operands & ~possible, 0);
    assert_int_equal(ops_of_version(PROGRAM_BYTES_VERSION), OP_CODES);
}

static void numbers_have_the_names_of_the_row(void **state) {
    (void)state;
    const struct op op = {.code = OP_BUILD, .shape = BUILD_TREE, .blocks = 7};
    assert_int_equal(op.i, BUILD_TREE);
    assert_int_equal(op.n, 7);
    size_t length;
    const char *name = op_word(&op, &length);
    assert_int_equal(length, 4);
    assert_memory_equal(name, "tree", 4);
    assert_null(op_word(&(struct op){.code = OP_LOAD}, &length));
}

/* ---- text and bytes ---------------------------------------------------------------------------
 */

static void every_operation_comes_back(void **state) {
    static struct program p;
    struct rng rng = {1};
    (void)state;
    for (unsigned code = 0; code < OP_CODES; code++) {
        program_clear(&p);
        for (unsigned tries = 0; p.n_ops < 40; tries++) {
            struct op op = random_op(&rng);
            assert_true(tries < 100000);
            if (op.code == code)
                p.ops[p.n_ops++] = op;
        }
        check_text_round_trip(&p);
        check_bytes_round_trip(&p);
    }
}

/* A record of a later operation with byte x, decoded. */
static const struct op *later(uint8_t x, unsigned version) {
    static struct program p;
    const uint8_t bytes[] = {FIRST_LATER, x, 1, 2, 3, 4, 5, 6};
    program_decode_version(&p, bytes, sizeof bytes, version);
    assert_null(program_valid(&p));
    assert_int_equal(p.n_ops, 1);
    return &p.ops[0];
}

static void strings_keep_their_meaning(void **state) {
    (void)state;
    for (unsigned x = 0; x < 256; x++) {
        const struct op *op = later((uint8_t)x, 1);
        assert_int_equal(op->code, OP_EPHEMERON + x % 12);
        op = later((uint8_t)x, 2);
        if (x < 192)
            assert_int_equal(op->code, OP_EPHEMERON + x % 12);
        else
            assert_true(op_equal(op, &(struct op){.code = OP_POLL})); /* of those to come */
    }
    /* What comes later has bytes that were nobody's, in the order of the table. */
    for (unsigned code = OP_BUILD + 1; code < OP_CODES; code++) {
        uint8_t x = (uint8_t)(192 + code - (OP_BUILD + 1));
        assert_int_equal(later(x, PROGRAM_BYTES_VERSION)->code, code);
        for (unsigned version = 2; version < (code < OP_EPHE_COPY ? 6
                                              : code < OP_SUB     ? 8
                                              : code < OP_CLONE   ? 9
                                                                  : 10);
             version++)
            assert_int_equal(later(x, version)->code, OP_POLL);
    }
}

/* ---- enumeration ------------------------------------------------------------------------------
 */

static void menus_have_every_operation(void **state) {
    static struct op menu[SCOPE_MENU];
    struct scope s;
    unsigned seen[OP_CODES] = {0};
    (void)state;
    scope_initial(&s);
    assert_true(scope_parse_codes("all", &s.codes));
    assert_true(scope_missing(&s) == (UINT64_C(1) << OP_ATTACH | UINT64_C(1) << OP_DETACH));
    s.mutators = 2;
    assert_int_equal(scope_missing(&s), 0);
    assert_null(scope_valid(&s));
    unsigned n = scope_menu(&s, menu);
    static struct program p;
    program_clear(&p);
    for (unsigned i = 0; i < n; i++) {
        p.ops[0] = menu[i];
        p.n_ops = 1;
        assert_null(program_valid(&p));
        seen[menu[i].code]++;
    }
    for (unsigned code = 0; code < OP_CODES; code++)
        assert_int_equal(seen[code] > 0, op_has(code, ENUMERATE));
}

static void menus_say_what_they_lack(void **state) {
    struct scope s;
    (void)state;
    scope_initial(&s);
    s.slots = 1;
    assert_true(scope_parse_shapes("s1", s.allocs, &s.n_allocs));
    assert_true(scope_parse_codes("alloc,raw,set,full", &s.codes));
    assert_true(scope_missing(&s) == (UINT64_C(1) << OP_ALLOC | UINT64_C(1) << OP_SET));
    assert_true(scope_parse_codes("weak", &s.codes)); /* a word of two */
    assert_true(s.codes == (UINT64_C(1) << OP_EPHE_SET | UINT64_C(1) << OP_EPHE_GET));
    assert_true(scope_parse_codes("weak_get,load", &s.codes));
    assert_true(s.codes == (UINT64_C(1) << OP_EPHE_GET | UINT64_C(1) << OP_LOAD));
    assert_false(scope_parse_codes("d", &s.codes)); /* an operand is no word */
}

/* ---- what is made or written by hand ----------------------------------------------------------
 */

static char *read_text(const char *path) {
    enum { MOST = 1 << 20 };
    FILE *file = fopen(path, "r");
    char *text = calloc(1, MOST);
    if (!file || !text)
        fail_msg("cannot read %s", path);
    assert_in_range(fread(text, 1, MOST - 1, file), 1, MOST - 2);
    fclose(file);
    return text;
}

static void the_dictionary_has_every_word(void **state) {
    char *words = read_text(DICTIONARY), line[RENDERED];
    (void)state;
    for (unsigned code = 0; code < OP_CODES; code++)
        for (const char *at = op_shapes[code].form; *at;) {
            const char *end = after_word(at);
            if (end - at > 1) {
                snprintf(line, sizeof line, "%.*s", (int)(end - at), at);
                if (!strstr(words, line))
                    fail_msg("%s has no word \"%s\"", DICTIONARY, line);
            }
            at = end > at ? end : at + 1;
        }
    assert_non_null(strstr(words, "weak_get=\"r0 = weak r0.1\"\n"));
    assert_non_null(strstr(words, "build_array=\"r0 = array 1 r1\"\n"));
    free(words);
}

/* A form in the grammar of the documentation. */
static void render(const char *at, char out[RENDERED]) {
    size_t length = 0;
    out[0] = 0;
    while (*at) {
        const char *end = form_is_operand(at) ? at + 1 : after_word(at), *text = NULL;
        size_t choice;
        if (*at == ' ') {
            at++;
            continue;
        }
        if (length)
            length += (size_t)snprintf(out + length, RENDERED - length, ", ");
        if (at[1] == '<') {
            const char *separator = "( ";
            for (unsigned k = 0; (text = form_choice(at, k, &choice)); k++, separator = " | ")
                length += (size_t)snprintf(out + length, RENDERED - length, "%s\"%.*s\"", separator,
                                           (int)choice, text);
            text = " )";
            end = strchr(at, '>') + 1;
        } else if (form_is_operand(at) && *at == 't') {
            text = "\"tag\", \"=\", number, fields", end = "";
        } else if (form_is_operand(at) && *at == 'a') {
            text = "arities, environment", end = "";
        } else if (form_is_operand(at) && *at == 'T') {
            text = "raw, words", end = "";
        } else if (form_is_operand(at) && at[1] == '.') {
            text = "place", end = at + 3;
        } else if (form_is_operand(at)) {
            text = *at == 'd' || *at == 's' ? "slot" : *at == 'v' ? "operand" : "number";
            if (at[1] == '?')
                text = "[ number ]", end = at + 2;
        }
        if (!text) {
            end = end > at ? end : at + strcspn(at, " ");
            length +=
                (size_t)snprintf(out + length, RENDERED - length, "\"%.*s\"", (int)(end - at), at);
        } else {
            length += (size_t)snprintf(out + length, RENDERED - length, "%s", text);
        }
        at = end;
    }
}

/* The alternatives of a rule, comments and superfluous space left out. */
static unsigned alternatives(const char *text, const char *rule, char out[][RENDERED]) {
    char start[64];
    unsigned n = 0, depth = 0;
    size_t length = 0;
    bool quoted = false;
    snprintf(start, sizeof start, "\n%-9s = ", rule);
    const char *at = strstr(text, start);
    assert_non_null(at);
    for (at += strlen(start);; at++) {
        if (strncmp(at, "(*", 2) == 0)
            at = strstr(at, "*)") + 2;
        quoted ^= *at == '"';
        depth += (*at == '(') - (*at == ')');
        bool end = !quoted && depth == 0 && (*at == '|' || *at == ';');
        if (end) {
            while (length && out[n][length - 1] == ' ')
                length--;
            out[n++][length] = 0;
            length = 0;
            if (*at == ';')
                return n;
        } else if ((*at != ' ' && *at != '\n') || (length && out[n][length - 1] != ' ')) {
            out[n][length++] = *at == '\n' ? ' ' : *at;
        }
        assert_true(*at && n < ALTERNATIVES && length < RENDERED);
    }
}

static void check_rule(const char *text, const char *rule, bool assigned, unsigned others) {
    static char found[ALTERNATIVES][RENDERED];
    char wanted[RENDERED];
    unsigned n = alternatives(text, rule, found), rows = 0;
    for (unsigned code = 0; code < OP_CODES; code++) {
        const char *form = op_shapes[code].form;
        bool assigns = strncmp(form, "d = ", 4) == 0;
        if (assigns != assigned)
            continue;
        render(form + (assigns ? 4 : 0), wanted);
        unsigned i = 0;
        while (i < n && strcmp(found[i], wanted) != 0)
            i++;
        if (i == n)
            fail_msg("docs/program.md: the rule %s has no alternative %s", rule, wanted);
        rows++;
    }
    assert_int_equal(n, rows + others); /* and none that is no operation */
}

static void the_grammar_is_that_of_the_table(void **state) {
    char *text = read_text(SOURCE_DIR "/docs/program.md");
    (void)state;
    check_rule(text, "operation", false, 1); /* slot, "=", source */
    check_rule(text, "source", true, 0);
    free(text);
}

/* The operation that an example of the documentation is. */
static unsigned code_of(const char *example, size_t length) {
    static struct program p;
    struct text_error error;
    char text[RENDERED];
    for (unsigned assigned = 0; assigned < 2; assigned++) {
        snprintf(text, sizeof text, "isoheap program 1\nscript\n%s%.*s\n", assigned ? "r1 = " : "",
                 (int)length, example);
        if (program_parse(&p, text, strlen(text), &error) && p.n_ops == 1)
            return p.ops[0].code;
    }
    fail_msg("docs/program.md: no operation: %.*s", (int)length, example);
    return OP_CODES;
}

/* The examples in the first column of the tables from .. to. */
static void read_examples(const char *from, const char *to, bool seen[OP_CODES]) {
    for (const char *row = strstr(from, "\n| `"); row && row < to; row = strstr(row + 1, "\n| `")) {
        const char *end = strchr(row + 3, '|');
        for (const char *at = strchr(row, '`'); at && at < end; at = strchr(at + 1, '`')) {
            const char *close = strchr(at + 1, '`');
            size_t length = (size_t)(close - at - 1);
            char example[RENDERED];
            snprintf(example, sizeof example, "%.*s", (int)length, at + 1);
            if (!strstr(example, "..."))
                seen[code_of(at + 1, length)] = true;
            at = close;
        }
    }
}

static void the_tables_have_every_operation(void **state) {
    char *text = read_text(SOURCE_DIR "/docs/program.md");
    const char *plain = strstr(text, "\n### Operations"),
               *runtime = strstr(text, "\nOperations of a language runtime"),
               *end = strstr(text, "\n## The byte form");
    bool seen[2][OP_CODES] = {{false}};
    (void)state;
    read_examples(plain, runtime, seen[false]);
    read_examples(runtime, end, seen[true]);
    for (unsigned code = 0; code < OP_CODES; code++) {
        bool is_runtime = op_has(code, RUNTIME);
        if (!seen[is_runtime][code])
            fail_msg("docs/program.md has no example of %s", op_shapes[code].name);
        assert_false(seen[!is_runtime][code]);
    }
    free(text);
}

static void the_menu_is_that_of_the_documentation(void **state) {
    char *text = read_text(SOURCE_DIR "/docs/explore.md"), name[64];
    const char *from = strstr(text, "\n| name | operations |"), *to = strstr(from, "\n\n");
    unsigned names = 0, rows = 0;
    (void)state;
    for (const char *row = strstr(from, "\n| `"); row && row < to; row = strstr(row + 1, "\n| `"))
        for (const char *at = strchr(row, '`'); at < strchr(row + 3, '|');
             at = strchr(at + 1, '`')) {
            names++;
            at = strchr(at + 1, '`');
        }
    for (unsigned code = 0; code < OP_CODES; code++) {
        snprintf(name, sizeof name, "`%s`", op_shapes[code].name);
        const char *found = strstr(from, name);
        if (op_has(code, ENUMERATE) && (!found || found > to))
            fail_msg("docs/explore.md: the menu does not have %s", name);
        rows += op_has(code, ENUMERATE);
    }
    assert_int_equal(names, rows);
    free(text);
}

/* An operation that writes into the block of its slot reads it, and leaves it what it is. */
static void slots_are_read_or_written(void **state) {
    (void)state;
    const struct op load = {.code = OP_LOAD, .dst = 3, .src = 5};
    const struct op store = {
        .code = OP_STORE, .dst = 3, .n_values = 1, .values = {{.kind = VALUE_SLOT, .block = 7}}};
    assert_true(op_writes_slot(&load));
    assert_true(op_reads_slot(&load, 5));
    assert_false(op_reads_slot(&load, 3));
    assert_false(op_writes_slot(&store));
    assert_true(op_reads_slot(&store, 3));
    assert_true(op_reads_slot(&store, 7));
    assert_false(op_reads_slot(&store, 0)); /* its src, which it has not */
    assert_false(op_writes_slot(&(struct op){.code = OP_FULL}));
}

/* A collector without a runtime gets a valid operation that needs none, or there is no other. */
static void operations_of_a_runtime_are_lowered(void **state) {
    static struct program p;
    (void)state;
    for (unsigned code = 0; code < OP_CODES; code++) {
        const unsigned has = op_shapes[code].operands;
        struct op op = {.code = (uint8_t)code, .mutator = 1};
        op.dst = has & OPERAND_DST ? 3 : 0;
        op.src = has & OPERAND_SRC ? 5 : 0;
        op.i = has & OPERAND_I ? 2 : 0;
        op.n = has & OPERAND_N ? 1 : 0;
        op.n_values = has & OPERAND_VALUE ? 1 : 0;
        if (op.n_values)
            op.values[0] = (struct value){.kind = VALUE_SLOT, .block = 7};
        struct op plain = op;
        bool remains = code == OP_FORWARD || code == OP_TRUNCATE || code == OP_BUILD ||
                       code == OP_FINALISE || code == OP_FINALISE_THEN || code == OP_MEASURE ||
                       code == OP_STARVE;
        assert_int_equal(op_without_runtime(&op, &plain), op_has(code, RUNTIME) && !remains);
        assert_int_equal(op_equal(&op, &plain), !op_has(code, RUNTIME) || remains);
        if (plain.code == code)
            continue;
        assert_false(op_has(plain.code, RUNTIME));
        program_clear(&p);
        p.ops[p.n_ops++] = plain;
        if (program_valid(&p))
            fail_msg("%s becomes %s: %s", op_shapes[code].name, op_shapes[plain.code].name,
                     program_valid(&p));
    }
}

static bool is_seven(const struct value *v, const struct op *op, const void *code) {
    const unsigned *wanted = code;
    return v->kind == VALUE_IMMEDIATE && v->bits == 7 && (op ? op->code : OP_CODES) == *wanted;
}

static void any_value_is_looked_at(void **state) {
    static struct program p;
    const unsigned store = OP_STORE, none = OP_CODES;
    (void)state;
    parse_program(&p, "isoheap program 1\nheap\n  b0 = block tag=0 [1, 7]\n"
                      "script\n  r1.0 := 7\n");
    assert_true(program_any_value(&p, is_seven, &none));
    assert_true(program_any_value(&p, is_seven, &store));
    parse_program(&p, "isoheap program 1\nroots\n  mutator 1: r2 = 7\nscript\n  r1.0 := 8\n");
    assert_true(program_any_value(&p, is_seven, &none));
    assert_false(program_any_value(&p, is_seven, &store));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rows_agree_with_their_forms),
        cmocka_unit_test(later_operations_fit_their_record),
        cmocka_unit_test(numbers_have_the_names_of_the_row),
        cmocka_unit_test(every_operation_comes_back),
        cmocka_unit_test(strings_keep_their_meaning),
        cmocka_unit_test(menus_have_every_operation),
        cmocka_unit_test(menus_say_what_they_lack),
        cmocka_unit_test(the_dictionary_has_every_word),
        cmocka_unit_test(slots_are_read_or_written),
        cmocka_unit_test(operations_of_a_runtime_are_lowered),
        cmocka_unit_test(any_value_is_looked_at),
        cmocka_unit_test(the_grammar_is_that_of_the_table),
        cmocka_unit_test(the_tables_have_every_operation),
        cmocka_unit_test(the_menu_is_that_of_the_documentation),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
