/* SPDX-License-Identifier: MIT
 *
 * The parser's frame: the version line, the config lines and the order of the sections.
 *
 * Recursive descent over the grammar of docs/program.md, without backtracking and without memory
 * of its own beyond struct parser.
 */
#include "program/text/parser.h"

#include <string.h>

static bool parse_version(struct parser *ps) {
    struct lexer *lexer = &ps->lexer;
    lexer_skip_blank_lines(lexer);
    if (!lexer_sees(lexer, "isoheap"))
        return lexer_expected(lexer, "the first line 'isoheap program 1'");
    lexer_next(lexer);
    if (!lexer_expect(lexer, "program"))
        return false;
    struct token version = lexer->token;
    unsigned number;
    if (!lexer_number(lexer, "a version", 0, UINT16_MAX, &number))
        return false;
    if (number != PROGRAM_VERSION)
        return lexer_fail(lexer, &version, "version %u is not supported, only version %d", number,
                          PROGRAM_VERSION);
    return lexer_expect_line_end(lexer);
}

/* ---- config ---------------------------------------------------------------------------------- */

static bool parse_key(struct parser *ps, unsigned *key) {
    for (unsigned k = 0; k < CONFIG_KEYS; k++) {
        if (!lexer_sees(&ps->lexer, config_ranges[k].name))
            continue;
        if (ps->given[k])
            return lexer_fail(&ps->lexer, &ps->lexer.token, "%s is given twice",
                              config_ranges[k].name);
        lexer_next(&ps->lexer);
        *key = k;
        return true;
    }
    return lexer_expected(&ps->lexer, "a config key (heap, nursery, mark-stack, slice, large, age, "
                                      "stress, fail, variant, kind, schedule, preempt)");
}

static bool parse_config_line(struct parser *ps) {
    struct lexer *lexer = &ps->lexer;
    do {
        unsigned key = 0, value = 0;
        if (!parse_key(ps, &key) || !lexer_expect(lexer, "="))
            return false;
        const struct config_range *range = &config_ranges[key];
        if (key == CONFIG_HEAP)
            ps->heap_size = lexer->token;
        if (!lexer_number(lexer, range->name, range->min, range->largest, &value))
            return false;
        ps->p->config[key] = value;
        ps->given[key] = true;
    } while (lexer->token.kind == TOKEN_WORD);
    return lexer_expect_line_end(lexer);
}

static bool parse_config(struct parser *ps) {
    lexer_skip_blank_lines(&ps->lexer);
    while (lexer_accept(&ps->lexer, "config")) {
        if (!parse_config_line(ps))
            return false;
        lexer_skip_blank_lines(&ps->lexer);
    }
    return true;
}

static bool parse_switch(struct parser *ps) {
    struct lexer *lexer = &ps->lexer;
    struct program *p = ps->p;
    struct token first = lexer->token;
    unsigned at, choice, last = p->n_switches ? switch_at(p->switches[p->n_switches - 1]) : 0;
    if (!lexer_number(lexer, "a decision", 1, UINT16_MAX, &at) || !lexer_expect(lexer, "to") ||
        !lexer_number(lexer, "a choice", 1, SWITCH_CHOICES - 1, &choice))
        return false;
    if (at <= last)
        return lexer_fail(lexer, &first, "decision %u stands behind decision %u", at, last);
    if (p->n_switches == PROGRAM_SWITCHES)
        return lexer_fail(lexer, &first, "more than %d decisions", PROGRAM_SWITCHES);
    p->switches[p->n_switches++] = switch_make(at, choice);
    return lexer_expect_line_end(lexer);
}

static bool parse_switches(struct parser *ps) {
    while (lexer_accept(&ps->lexer, "switch")) {
        if (!parse_switch(ps))
            return false;
        lexer_skip_blank_lines(&ps->lexer);
    }
    return true;
}

/* ---- sections -------------------------------------------------------------------------------- */

static const char *const section_names[] = {"config", "heap", "roots", "script"};
enum { SECTION_NAMES = sizeof section_names / sizeof *section_names };

static bool sees_section(const struct lexer *lexer) {
    for (unsigned s = 0; s < SECTION_NAMES; s++)
        if (lexer_sees(lexer, section_names[s]))
            return true;
    return false;
}

bool at_section_end(struct parser *ps) {
    lexer_skip_blank_lines(&ps->lexer);
    return ps->lexer.token.kind == TOKEN_END || sees_section(&ps->lexer);
}

static bool parse_section(struct parser *ps, const char *name, bool (*body)(struct parser *)) {
    if (!lexer_accept(&ps->lexer, name))
        return true;
    return lexer_expect_line_end(&ps->lexer) && body(ps);
}

static bool parse_text_end(struct parser *ps) {
    if (ps->lexer.token.kind == TOKEN_END)
        return true;
    if (sees_section(&ps->lexer))
        return lexer_fail(&ps->lexer, &ps->lexer.token,
                          "section %.*s stands twice or too late: the order is config, heap, "
                          "roots, script",
                          (int)ps->lexer.token.length, ps->lexer.token.text);
    return lexer_expected(&ps->lexer, "config, heap, roots, script or the end of the text");
}

bool program_parse(struct program *p, const char *text, size_t size, struct text_error *error) {
    struct parser ps = {.p = p};
    program_clear(p);
    lexer_start(&ps.lexer, text, size, error);
    return parse_version(&ps) && parse_config(&ps) && parse_switches(&ps) &&
           parse_section(&ps, "heap", parse_heap) && parse_section(&ps, "roots", parse_roots) &&
           parse_section(&ps, "script", parse_script) && parse_text_end(&ps);
}

bool program_looks_like_text(const void *data, size_t size) {
    struct text_error ignored;
    struct lexer lexer;
    lexer_start(&lexer, data, size, &ignored);
    lexer_skip_blank_lines(&lexer);
    return lexer_sees(&lexer, "isoheap");
}
