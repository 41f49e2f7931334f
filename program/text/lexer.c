/* SPDX-License-Identifier: MIT
 *
 * Tokens and errors of the text form (lexer.h).
 *
 * Character classes are spelled out, because those of <ctype.h> depend on the locale and are
 * undefined for bytes above 127.
 */
#include "program/text/lexer.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* ---- scanning -------------------------------------------------------------------------------- */

static bool is_digit(char c) {
    return c >= '0' && c <= '9';
}

static bool is_letter(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

/* The value of a hexadecimal digit, or 16. */
static unsigned hex_digit(char c) {
    if (is_digit(c))
        return (unsigned)(c - '0');
    if (c >= 'a' && c <= 'f')
        return (unsigned)(c - 'a') + 10;
    if (c >= 'A' && c <= 'F')
        return (unsigned)(c - 'A') + 10;
    return 16;
}

/* The byte `ahead` of the current one, or a newline, which continues no token. */
static char peek(const struct lexer *lexer, size_t ahead) {
    return (size_t)(lexer->end - lexer->at) > ahead ? lexer->at[ahead] : '\n';
}

static void skip_space(struct lexer *lexer) {
    while (lexer->at < lexer->end &&
           (*lexer->at == ' ' || *lexer->at == '\t' || *lexer->at == '\r'))
        lexer->at++;
    if (lexer->at < lexer->end && *lexer->at == '#')
        while (lexer->at < lexer->end && *lexer->at != '\n')
            lexer->at++;
}

static void scan_digits(struct lexer *lexer, unsigned base) {
    struct token *token = &lexer->token;
    for (unsigned digit; (digit = hex_digit(peek(lexer, 0))) < base; lexer->at++) {
        if (token->magnitude > (UINT64_MAX - digit) / base)
            token->too_large = true;
        else
            token->magnitude = token->magnitude * base + digit;
    }
}

static enum token_kind scan_number(struct lexer *lexer) {
    if (*lexer->at == '0' && peek(lexer, 1) == 'x' && hex_digit(peek(lexer, 2)) < 16) {
        lexer->at += 2;
        scan_digits(lexer, 16);
        return TOKEN_HEX;
    }
    if (*lexer->at == '-') {
        lexer->token.negative = true;
        lexer->at++;
    }
    scan_digits(lexer, 10);
    return TOKEN_NUMBER;
}

static enum token_kind scan_word(struct lexer *lexer) {
    do
        lexer->at++;
    while (is_letter(peek(lexer, 0)) || is_digit(peek(lexer, 0)) ||
           (peek(lexer, 0) == '-' && is_letter(peek(lexer, 1))));
    return TOKEN_WORD;
}

static enum token_kind scan(struct lexer *lexer) {
    if (lexer->at == lexer->end)
        return TOKEN_END;
    char c = *lexer->at;
    if (is_letter(c))
        return scan_word(lexer);
    if (is_digit(c) || (c == '-' && is_digit(peek(lexer, 1))))
        return scan_number(lexer);
    lexer->at++;
    if (c == '\n') {
        lexer->line++;
        lexer->line_start = lexer->at;
        return TOKEN_LINE;
    }
    if ((c == ':' && peek(lexer, 0) == '=') || (c == '-' && peek(lexer, 0) == '>') ||
        (c == '&' && peek(lexer, 0) == '&')) {
        lexer->at++;
        return TOKEN_SIGN;
    }
    return c != '\0' && strchr("=[],+.:&", c) ? TOKEN_SIGN : TOKEN_STRAY;
}

void lexer_next(struct lexer *lexer) {
    skip_space(lexer);
    struct token *token = &lexer->token;
    *token = (struct token){.text = lexer->at,
                            .line = lexer->line,
                            .column = (unsigned)(lexer->at - lexer->line_start) + 1};
    token->kind = scan(lexer);
    token->length = (size_t)(lexer->at - token->text);
}

void lexer_start(struct lexer *lexer, const char *text, size_t size, struct text_error *error) {
    if (size == 0)
        text = ""; /* which may have been NULL */
    *lexer = (struct lexer){
        .at = text, .end = text + size, .line_start = text, .line = 1, .error = error};
    lexer_next(lexer);
}

/* ---- errors ---------------------------------------------------------------------------------- */

bool lexer_fail(const struct lexer *lexer, const struct token *at, const char *format, ...) {
    va_list arguments;
    lexer->error->line = at->line;
    lexer->error->column = at->column;
    va_start(arguments, format);
    vsnprintf(lexer->error->message, sizeof lexer->error->message, format, arguments);
    va_end(arguments);
    return false;
}

bool lexer_expected(const struct lexer *lexer, const char *what) {
    const struct token *token = &lexer->token;
    enum { SHOWN = 30 };
    int length = token->length < SHOWN ? (int)token->length : SHOWN;
    const char *rest = token->length > SHOWN ? "..." : "";
    if (token->kind == TOKEN_END)
        return lexer_fail(lexer, token, "expected %s, found the end of the text", what);
    if (token->kind == TOKEN_LINE)
        return lexer_fail(lexer, token, "expected %s, found the end of the line", what);
    if (token->kind == TOKEN_STRAY && (token->text[0] < '!' || token->text[0] > '~'))
        return lexer_fail(lexer, token, "expected %s, found the byte 0x%02x", what,
                          (unsigned)(unsigned char)token->text[0]);
    return lexer_fail(lexer, token, "expected %s, found '%.*s%s'", what, length, token->text, rest);
}

/* ---- what the grammar asks for --------------------------------------------------------------- */

bool lexer_sees_text(const struct lexer *lexer, const char *text, size_t length) {
    const struct token *token = &lexer->token;
    return (token->kind == TOKEN_WORD || token->kind == TOKEN_SIGN) && length == token->length &&
           memcmp(text, token->text, length) == 0;
}

bool lexer_sees(const struct lexer *lexer, const char *text) {
    return lexer_sees_text(lexer, text, strlen(text));
}

bool lexer_accept(struct lexer *lexer, const char *text) {
    if (!lexer_sees(lexer, text))
        return false;
    lexer_next(lexer);
    return true;
}

bool lexer_expect(struct lexer *lexer, const char *text) {
    char quoted[32];
    if (lexer_accept(lexer, text))
        return true;
    snprintf(quoted, sizeof quoted, "'%s'", text);
    return lexer_expected(lexer, quoted);
}

bool lexer_expect_line_end(struct lexer *lexer) {
    if (lexer->token.kind == TOKEN_END)
        return true;
    if (lexer->token.kind != TOKEN_LINE)
        return lexer_expected(lexer, "the end of the line");
    lexer_next(lexer);
    return true;
}

void lexer_skip_blank_lines(struct lexer *lexer) {
    while (lexer->token.kind == TOKEN_LINE)
        lexer_next(lexer);
}

bool lexer_number(struct lexer *lexer, const char *what, unsigned min, unsigned max,
                  unsigned *number) {
    const struct token *token = &lexer->token;
    char range[64];
    if (token->kind != TOKEN_NUMBER || token->negative || token->too_large ||
        token->magnitude < min || token->magnitude > max) {
        snprintf(range, sizeof range, "%s from %u to %u", what, min, max);
        return lexer_expected(lexer, range);
    }
    *number = (unsigned)token->magnitude;
    lexer_next(lexer);
    return true;
}

bool lexer_sees_name(const struct lexer *lexer, char letter, unsigned *number) {
    const struct token *token = &lexer->token;
    if (token->kind != TOKEN_WORD || token->text[0] != letter || token->length < 2 ||
        token->length > 6 || (token->text[1] == '0' && token->length > 2))
        return false;
    *number = 0;
    for (size_t i = 1; i < token->length; i++) {
        if (!is_digit(token->text[i]))
            return false;
        *number = *number * 10 + (unsigned)(token->text[i] - '0');
    }
    return *number <= UINT16_MAX;
}
