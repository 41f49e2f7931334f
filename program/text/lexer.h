/* SPDX-License-Identifier: MIT
 *
 * Private to program/: the tokens of the text form, with positions, and the errors of the parser.
 *
 * A lexer holds one token of lookahead.  It reads bytes, not characters of an encoding, and every
 * byte that starts no token becomes a token of its own that no rule of the grammar accepts.
 */
#ifndef ISOHEAP_PROGRAM_LEXER_H
#define ISOHEAP_PROGRAM_LEXER_H

#include "program/text/text.h"

enum token_kind {
    TOKEN_END,    /* of the text */
    TOKEN_LINE,   /* the end of a line that is not the last */
    TOKEN_WORD,   /* letter or _, then letters, digits and _; a - only before a letter */
    TOKEN_NUMBER, /* decimal digits, perhaps with a - in front */
    TOKEN_HEX,    /* 0x and hexadecimal digits */
    TOKEN_SIGN,   /* = [ ] , + . : := -> & && */
    TOKEN_STRAY   /* a byte that starts nothing */
};

struct token {
    enum token_kind kind;
    const char *text;
    size_t length;
    unsigned line, column;
    /* numbers */
    bool negative, too_large; /* too_large: the magnitude needs more than 64 bits */
    uint64_t magnitude;
};

struct lexer {
    const char *at, *end, *line_start;
    unsigned line;
    struct token token; /* the next one */
    struct text_error *error;
};

void lexer_start(struct lexer *lexer, const char *text, size_t size, struct text_error *error);
void lexer_next(struct lexer *lexer);

/* Is the next token this word or sign? */
bool lexer_sees(const struct lexer *lexer, const char *text);
/* The same for a part of a text. */
bool lexer_sees_text(const struct lexer *lexer, const char *text, size_t length);
/* The same; if it is, goes on to the token after it. */
bool lexer_accept(struct lexer *lexer, const char *text);
/* Goes on to the token after this word or sign; fails if another one is next. */
bool lexer_expect(struct lexer *lexer, const char *text);
/* The same for the end of a line, or of the text. */
bool lexer_expect_line_end(struct lexer *lexer);
void lexer_skip_blank_lines(struct lexer *lexer);

/* The same for a number from min to max; `what` names it in the error: "a size". */
bool lexer_number(struct lexer *lexer, const char *what, unsigned min, unsigned max,
                  unsigned *number);

/* Is the next token a name such as b12, of this letter and a number below 65536 without leading
 * zeros? */
bool lexer_sees_name(const struct lexer *lexer, char letter, unsigned *number);

/* Fills in the error, at a token; the format is printf's.  Always false. */
bool lexer_fail(const struct lexer *lexer, const struct token *at, const char *format, ...);
/* "expected ..., found ...", at the next token.  Always false. */
bool lexer_expected(const struct lexer *lexer, const char *what);

#endif
