/* SPDX-License-Identifier: MIT
 *
 * Programs as text: what the parser accepts, the exact place and words of its errors, what the
 * printer writes, and that no byte string makes either of them stumble.
 */
#include "program/bytes/bytes.h"
#include "program/text/text.h"
#include "tests/support/program_support.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static struct program program, other;
static char text[1 << 20];

#define LINE "isoheap program 1\n"

/* ---- what is accepted ------------------------------------------------------------------------ */

/* One of everything, in the printer's own form. */
static const char canonical[] = LINE "config heap=100 mark-stack=0 kind=2\n"
                                     "heap\n"
                                     "  b0 = block tag=0 [7, b1, b1+3, out 5]\n"
                                     "  b1 = closure arity=1,-2 env=[b0, 3]\n"
                                     "  b2 = string [0x123456789abcdef]\n"
                                     "  static b3 = block tag=1 [42]\n"
                                     "  b4 = block tag=250 size=9 [-1]\n"
                                     "  b5 = block tag=246 size=3\n"
                                     "  b6 = closure arity=0 env=[]\n"
                                     "  b7 = double_array size=4\n"
                                     "  b8 = closure arity=1 size=5\n"
                                     "  free 5\n"
                                     "  dead 3\n"
                                     "  fragment\n"
                                     "roots\n"
                                     "  r0 = b1+3\n"
                                     "  r1 = 42\n"
                                     "  mutator 1: r0 = b0\n"
                                     "script\n"
                                     "  r1 = alloc tag=3 [r0, 42]\n"
                                     "  r1 = alloc tag=0 size=4 [out 9]\n"
                                     "  r1 = alloc tag=0 size=2\n"
                                     "  r1 = closure arity=1,2 size=3 env=[r0]\n"
                                     "  r1 = closure arity=3 env=[]\n"
                                     "  r1 = string size=4 [0x1]\n"
                                     "  r1 = abstract [0x1]\n"
                                     "  r1 = double [0x2]\n"
                                     "  r1 = double_array size=2\n"
                                     "  r1 = custom [0xffffffffffffffff]\n"
                                     "  r2 = r1.0\n"
                                     "  r1.0 := 9\n"
                                     "  r1.4095 := out 65535\n"
                                     "  init r1.0 := r3\n"
                                     "  blit r1.0 -> r2.1, 3\n"
                                     "  fill r1.0, 3 := r2\n"
                                     "  r1 = r0\n"
                                     "  r1 = -4611686018427387904\n"
                                     "  r1 = 4611686018427387903\n"
                                     "  r1 = out 3\n"
                                     "  drop r1\n"
                                     "  r2 = infix r1 1\n"
                                     "  read r1.0\n"
                                     "  minor\n"
                                     "  slice\n"
                                     "  slice 4\n"
                                     "  full\n"
                                     "  compact\n"
                                     "  r3 = exhaust 2\n"
                                     "  kind 0\n"
                                     "  poll\n"
                                     "  mutator 3: r31 = alloc tag=0 [1]\n";

static void must_parse(struct program *p, const char *source, size_t size) {
    struct text_error error;
    if (!program_parse(p, source, size, &error))
        fail_msg("%u:%u: %s", error.line, error.column, error.message);
    assert_null(program_valid(p));
}

static void canonical_text_is_printed_back(void **state) {
    (void)state;
    must_parse(&program, canonical, sizeof canonical - 1);
    size_t length = program_print(&program, text, sizeof text);
    assert_string_equal(text, canonical);
    assert_int_equal(length, sizeof canonical - 1);
    check_bytes_round_trip(&program);
}

/* Pairs of a text and its canonical form. */
static void free_layout_is_accepted(void **state) {
    (void)state;
    static const char *const pairs[][2] = {
        {"isoheap program 1", LINE},
        {"\n # c\n\t isoheap\tprogram 1 # c\r\n\r\n", LINE},
        {LINE "config\theap = 16   age=0\nconfig kind=1\n", LINE "config heap=16 age=0 kind=1\n"},
        {LINE "config heap=256\nheap\nroots\nscript", LINE},
        {LINE "heap#\n\n\tb0=block tag=0[b0,b1 + 3]\n b1=closure arity=1 , 1 env=[]",
         LINE "heap\n  b0 = block tag=0 [b0, b1+3]\n  b1 = closure arity=1,1 env=[]\n"},
        {LINE "heap\nb0 = block tag=0 size=4 [0, 0, 0, 0]\nb1 = closure arity=1 size=0\n",
         LINE "heap\n  b0 = block tag=0 size=4\n  b1 = closure arity=1 env=[]\n"},
        {LINE "heap\nb0 = string size=1 []\nb1 = string size=2\n",
         LINE "heap\n  b0 = string [0x0]\n  b1 = string [0x0, 0x0]\n"},
        {LINE "roots\nmutator 0 : r3=-0\nmutator 1:r3=1\nr2=1",
         LINE "roots\n  r2 = 1\n  mutator 1: r3 = 1\n"},
        {LINE "script\nr0=r1 . 2\nr0.1:=-5\nblit r0.1->r2.3,4\nslice 0\nfull",
         LINE "script\n  r0 = r1.2\n  r0.1 := -5\n  blit r0.1 -> r2.3, 4\n  slice\n  full\n"},
        {LINE "script\r\nr0 = string [0xABCdef, 0x000000000000000000001]\r\n",
         LINE "script\n  r0 = string [0xabcdef, 0x1]\n"},
    };
    for (unsigned i = 0; i < sizeof pairs / sizeof *pairs; i++) {
        must_parse(&program, pairs[i][0], strlen(pairs[i][0]));
        program_print(&program, text, sizeof text);
        assert_string_equal(text, pairs[i][1]);
    }
}

/* ---- errors ---------------------------------------------------------------------------------- */

struct fault {
    const char *text;
    unsigned line, column;
    const char *message;
};

#define EXPECTED_OP                                                                                \
    "expected an operation (r0 = ..., r0.1 := ..., init, blit, fill, read, drop, minor, slice, "   \
    "full, compact, kind, poll, weak or another call), found "

static const struct fault faults[] = {
    /* frame */
    {"", 1, 1, "expected the first line 'isoheap program 1', found the end of the text"},
    {"\n\nheap", 3, 1, "expected the first line 'isoheap program 1', found 'heap'"},
    {"isoheap 1", 1, 9, "expected 'program', found '1'"},
    {"isoheap program x", 1, 17, "expected a version from 0 to 65535, found 'x'"},
    {"isoheap program 2", 1, 17, "version 2 is not supported, only version 1"},
    {"isoheap program 1 heap", 1, 19, "expected the end of the line, found 'heap'"},
    {LINE "haep", 2, 1,
     "expected config, heap, roots, script or the end of the text, found 'haep'"},
    {LINE "roots\nheap", 3, 1,
     "section heap stands twice or too late: the order is config, heap, roots, script"},
    {LINE "script\nconfig age=1", 3, 1,
     "section config stands twice or too late: the order is config, heap, roots, script"},
    /* config */
    {LINE "config", 2, 7,
     "expected a config key (heap, nursery, mark-stack, slice, large, age, stress, fail, variant, "
     "kind, schedule, preempt), found the end of the text"},
    {LINE "config age 1", 2, 12, "expected '=', found '1'"},
    {LINE "config age=16", 2, 12, "expected age from 0 to 15, found '16'"},
    {LINE "config age=-1", 2, 12, "expected age from 0 to 15, found '-1'"},
    {LINE "config heap=15", 2, 13, "expected heap from 16 to 134217728, found '15'"},
    {LINE "config heap=99999999999999999999999999", 2, 13,
     "expected heap from 16 to 134217728, found '99999999999999999999999999'"},
    {LINE "config age=1 slice=2\nconfig age=1", 3, 8, "age is given twice"},
    /* heap */
    {LINE "heap\n r0 = 1", 3, 2,
     "expected an item (b0 = ..., static b0 = ..., free 5, dead 3, fragment, 1000 of free 5), "
     "found 'r0'"},
    {LINE "heap\n static free 5", 3, 9, "expected a block such as b0, found 'free'"},
    {LINE "heap\n b1 = block tag=0 [1]", 3, 2,
     "expected b0, the next name, found b1: blocks are numbered in order"},
    {LINE "heap\n b00 = block tag=0 [1]", 3, 2,
     "expected an item (b0 = ..., static b0 = ..., free 5, dead 3, fragment, 1000 of free 5), "
     "found 'b00'"},
    {LINE "heap\n b0 = blok", 3, 7,
     "expected block, closure, abstract, string, double, double_array or custom, found 'blok'"},
    {LINE "heap\n b0 = block tag=247 [1]", 3, 17,
     "tag 247 belongs to no ordinary block: 0 to 246, 248 or 250"},
    {LINE "heap\n b0 = block tag=0 []", 3, 19, "a size of 0 words, expected 1 to 4096"},
    {LINE "heap\n b0 = block tag=0", 3, 18, "expected '[', found the end of the text"},
    {LINE "heap\n b0 = block tag=0 size=1 [1, 2]", 3, 24,
     "size=1 is less than the number of values, 2"},
    {LINE "heap\n b0 = block tag=0 [1 2]", 3, 22, "expected ',' or ']', found '2'"},
    {LINE "heap\n b0 = block tag=0 [1,]", 3, 22,
     "expected a value (an integer, a block such as b0, out 5), found ']'"},
    {LINE "heap\n b0 = block tag=0 [r1]", 3, 20,
     "expected a value (an integer, a block such as b0, out 5), found 'r1'"},
    {LINE "heap\n b0 = block tag=0 [4611686018427387904]", 3, 20,
     "expected an integer of 63 bits, found '4611686018427387904'"},
    {LINE "heap\n b0 = block tag=0 [-4611686018427387905]", 3, 20,
     "expected an integer of 63 bits, found '-4611686018427387905'"},
    {LINE "heap\n b0 = block tag=0 [out 65536]", 3, 24,
     "expected a number from 0 to 65535, found '65536'"},
    {LINE "heap\n b0 = block tag=0 [b7]", 3, 20, "there is no block b7; the heap section names 1"},
    {LINE "heap\n b0 = block tag=0 [b1+2]\n b1 = closure arity=1,2,3 env=[]", 3, 20,
     "no infix block of b1 starts there; its offsets: 3, 7"},
    {LINE "heap\n b0 = block tag=0 [b0+1]", 3, 20,
     "no infix block of b0 starts there; its offsets: none"},
    {LINE "heap\n b0 = block tag=0 [1]\n static b1 = block tag=0 [5, b0]", 4, 30,
     "a static block points at static blocks only, and b0 is none"},
    {LINE "heap\n b0 = string [5]", 3, 15, "expected a word of 64 bits such as 0x1f, found '5'"},
    {LINE "heap\n b0 = string [0x12345678123456789]", 3, 15,
     "expected a word of 64 bits such as 0x1f, found '0x12345678123456789'"},
    {LINE "heap\n b0 = double size=2", 3, 19, "a double of 2 words, expected exactly 1"},
    {LINE "heap\n b0 = double [0x1, 0x2]", 3, 14, "a double of 2 words, expected exactly 1"},
    {LINE "heap\n b0 = closure env=[]", 3, 15, "expected 'arity', found 'env'"},
    {LINE "heap\n b0 = closure arity=128 env=[]", 3, 21,
     "expected an arity from -128 to 127, found '128'"},
    {LINE "heap\n b0 = closure arity=1,1,1,1,1 env=[]", 3, 29, "a closure has at most 4 functions"},
    {LINE "heap\n b0 = closure arity=1", 3, 22, "expected 'env', found the end of the text"},
    {LINE "heap\n b0 = closure arity=1 size=4033", 3, 28,
     "a size of 4033 words, expected 0 to 4032"},
    {LINE "heap\n free 0", 3, 7, "expected a size from 1 to 4096, found '0'"},
    {LINE "heap\n fragment 1", 3, 11, "expected the end of the line, found '1'"},
    {LINE "config age=2 heap=16\nheap\n free 30\n free 8", 2, 19,
     "heap=16 is too small: the blocks and gaps need 40 words"},
    {LINE "heap\n free 200\n free 54\n free 10", 5, 2,
     "heap=256, the default, is too small: the blocks and gaps need 267 words"},
    {LINE "config heap=8192\nheap\n free 4096\n free 4096", 2, 13,
     "heap=8192 is too small: the blocks and gaps need 8194 words"},
    {LINE "heap\n 40000000 of dead 3", 3, 2,
     "40000000 items of 4 words: the largest heap has 134217728"},
    {LINE "heap\n 33554432 of dead 3\n fragment", 4, 2,
     "1 items of 1 words: the largest heap has 134217728"},
    {LINE "heap\n 1 of free 5", 3, 2, "expected a count from 2 to 134217728, found '1'"},
    {LINE "heap\n 7 free 5", 3, 4, "expected 'of', found 'free'"},
    {LINE "heap\n b0 = 5 block tag=0 [1]", 3, 9, "expected 'of', found 'block'"},
    {LINE "heap\n b0 = 5 of fragment", 3, 12,
     "expected block, closure, abstract, string, double, double_array or custom, found 'fragment'"},
    {LINE "heap\n b0 = block tag=0 [next]", 3, 20,
     "next and each stand in the fields of blocks by count, such as b0 = 1000 of block tag=0 "
     "[next]"},
    {LINE "heap\n b0 = 5 of block tag=0 [each b1]", 3, 30,
     "there is no block b1; the heap section names 1"},
    {LINE "heap\n b0 = 5 of block tag=0 [each 1]", 3, 30, "expected a block such as b0, found '1'"},
    {LINE "heap\n b0 = 5 of block tag=0 [&b0]", 3, 25,
     "blocks by count have no addresses, atoms or words beside the heap"},
    {LINE "heap\n b0 = 5 of block tag=0 [atom 0]", 3, 25,
     "blocks by count have no addresses, atoms or words beside the heap"},
    {LINE "heap\n b0 = 5 of closure address arity=1 env=[3]", 3, 2,
     "closures by count have no address for a code word"},
    {LINE "heap\n b0 = 5 of block tag=0 [next]\nroots\n r0 = next", 5, 7,
     "next and each stand in the fields of blocks by count, such as b0 = 1000 of block tag=0 "
     "[next]"},
    {LINE "config heap=134217729", 2, 13, "expected heap from 16 to 134217728, found '134217729'"},
    {LINE "heap\n static b0 = string size=4096\n static b1 = string size=4095\n", 4, 2,
     "the static blocks need more than 8192 words"},
    /* roots */
    {LINE "roots\n r32 = 1", 3, 2, "expected a slot r0 to r31, found 'r32'"},
    {LINE "roots\n r0 = b0", 3, 7, "there is no block b0; the heap section names 0"},
    {LINE "roots\n r0 = 1\n r0 = 2", 4, 2, "r0 of mutator 0 is given twice"},
    {LINE "roots\n mutator 1: r5 = 1\n mutator 1: r5 = 1", 4, 13, "r5 of mutator 1 is given twice"},
    {LINE "roots\n mutator 4: r0 = 1", 3, 10, "expected a mutator from 0 to 3, found '4'"},
    {LINE "roots\n mutator 1 r0 = 1", 3, 12, "expected ':', found 'r0'"},
    /* script */
    {LINE "script\n fulll", 3, 2, EXPECTED_OP "'fulll'"},
    {LINE "script\n b0 = 1", 3, 2, EXPECTED_OP "'b0'"},
    {LINE "script\n r0 := 1", 3, 5, "expected '=' or '.', found ':='"},
    {LINE "script\n r0 = b1", 3, 7,
     "expected alloc, closure, string or another raw block, infix, exhaust, list, ephemeron or "
     "another call, a field such as r0.1, or a value, found 'b1'"},
    {LINE "script\n r0 = alloc tag=3", 3, 18, "expected '[', found the end of the text"},
    {LINE "script\n r0 = alloc tag=3 [1, 2, 3, 4]", 3, 29,
     "too many values: at most 3 can stand here"},
    {LINE "script\n r0 = alloc tag=3 [r32]", 3, 20, "expected a slot r0 to r31, found 'r32'"},
    {LINE "script\n r0.4096 := 1", 3, 5, "expected a field from 0 to 4095, found '4096'"},
    {LINE "script\n r0.1 = 1", 3, 7, "expected ':=', found '='"},
    {LINE "script\n blit r0.1 r1.1, 3", 3, 12, "expected '->', found 'r1'"},
    {LINE "script\n blit r0.1 -> r1.1, 4097", 3, 21,
     "expected a count from 0 to 4096, found '4097'"},
    {LINE "script\n r0 = infix r1 4", 3, 16, "expected an entry from 0 to 3, found '4'"},
    {LINE "script\n r0 = exhaust 4", 3, 15, "expected a number of words from 0 to 3, found '4'"},
    {LINE "script\n r0 = ephemeron 64", 3, 17, "expected a count from 0 to 63, found '64'"},
    {LINE "script\n r0 = weak r1", 3, 14, "expected '.', found the end of the text"},
    {LINE "script\n r0 = list r1", 3, 12, "expected a number of blocks from 0 to 1024, found 'r1'"},
    {LINE "script\n r0 = marshal r1 2", 3, 18, "expected a choice from 0 to 1, found '2'"},
    {LINE "script\n weak r0.64 := 1", 3, 10, "expected a field from 0 to 63, found '64'"},
    {LINE "script\n truncate r0 1", 3, 14, "expected ',', found '1'"},
    {LINE "script\n finalise r0, 2", 3, 15, "expected a count from 0 to 1, found '2'"},
    {LINE "script\n kind", 3, 6,
     "expected a collector kind from 0 to 255, found the end of the text"},
    {LINE "script\n minor 3", 3, 8, "expected the end of the line, found '3'"},
    {LINE "script\n full \x01", 3, 7, "expected the end of the line, found the byte 0x01"},
    {LINE "script\n full \xff", 3, 7, "expected the end of the line, found the byte 0xff"},
    {LINE "script\n full ;", 3, 7, "expected the end of the line, found ';'"},
    {LINE "script\n aaaaaaaaaabbbbbbbbbbccccccccccd", 3, 2,
     EXPECTED_OP "'aaaaaaaaaabbbbbbbbbbcccccccccc...'"},
};

static void errors_name_place_and_remedy(void **state) {
    (void)state;
    for (unsigned i = 0; i < sizeof faults / sizeof *faults; i++) {
        struct text_error error = {0};
        if (program_parse(&program, faults[i].text, strlen(faults[i].text), &error))
            fail_msg("this should be no program: %s", faults[i].text);
        if (error.line != faults[i].line || error.column != faults[i].column ||
            strcmp(error.message, faults[i].message) != 0)
            fail_msg("%s\nexpected %u:%u: %s\nfound    %u:%u: %s", faults[i].text, faults[i].line,
                     faults[i].column, faults[i].message, error.line, error.column, error.message);
    }
}

static void a_nul_byte_is_no_end(void **state) {
    (void)state;
    static const char source[] = LINE "script\n full\n\0\n";
    struct text_error error;
    assert_false(program_parse(&program, source, sizeof source - 1, &error));
    assert_int_equal(error.line, 4);
    assert_int_equal(error.column, 1);
    assert_string_equal(error.message, EXPECTED_OP "the byte 0x00");
}

/* As many lines as fit after the head, and then one more, which is refused with the message. */
static void must_overflow(const char *head, const char *line, unsigned n, const char *message) {
    struct text_error error;
    size_t length = (size_t)snprintf(text, sizeof text, LINE "%s\n", head);
    unsigned before = 0;
    for (size_t i = 0; i < length; i++)
        before += text[i] == '\n';
    for (unsigned i = 0; i < n; i++)
        length += (size_t)snprintf(text + length, sizeof text - length, "%s\n", line);
    must_parse(&program, text, length);
    length += (size_t)snprintf(text + length, sizeof text - length, "%s\n", line);
    assert_false(program_parse(&program, text, length, &error));
    assert_int_equal(error.line, before + n + 1);
    assert_string_equal(error.message, message);
}

static void limits_are_exact(void **state) {
    (void)state;
    must_overflow("script", "full", PROGRAM_OPS, "too many operations: a script has at most 2048");
    must_overflow("config heap=8192\nheap", "fragment", PROGRAM_ITEMS,
                  "too many items: a heap has at most 1024");
}

static void field_limits_are_exact(void **state) {
    (void)state;
    struct text_error error;
    static const char fields[] = LINE "config heap=8192\nheap\n b0 = string size=4096\n"
                                      " static b1 = string size=4095\n b2 = string size=1\n";
    must_parse(&program, fields, sizeof fields - 1);
    static const char more[] = LINE "config heap=8192\nheap\n b0 = string size=4096\n"
                                    " static b1 = string size=4095\n b2 = string size=2\n";
    assert_false(program_parse(&program, more, sizeof more - 1, &error));
    assert_int_equal(error.line, 6);
    assert_string_equal(error.message, "too many fields: all blocks together have at most 8192");
}

/* ---- printing -------------------------------------------------------------------------------- */

static void printing_honours_capacity(void **state) {
    (void)state;
    must_parse(&program, canonical, sizeof canonical - 1);
    assert_int_equal(program_print(&program, NULL, 0), sizeof canonical - 1);
    for (size_t capacity = 1; capacity < sizeof canonical; capacity++) {
        memset(text, 'x', sizeof canonical + 1);
        assert_int_equal(program_print(&program, text, capacity), sizeof canonical - 1);
        assert_memory_equal(text, canonical, capacity - 1);
        assert_int_equal(text[capacity - 1], '\0');
        assert_int_equal(text[capacity], 'x');
    }
}

static void single_items_and_operations(void **state) {
    (void)state;
    char line[64];
    must_parse(&program, canonical, sizeof canonical - 1);
    assert_int_equal(op_print(&program.ops[12], line, sizeof line), strlen("r1.4095 := out 65535"));
    assert_string_equal(line, "r1.4095 := out 65535");
    op_print(&program.ops[program.n_ops - 1], line, sizeof line);
    assert_string_equal(line, "mutator 3: r31 = alloc tag=0 [1]");
    item_print(&program, 3, line, sizeof line);
    assert_string_equal(line, "static b3 = block tag=1 [42]");
    item_print(&program, 9, line, sizeof line);
    assert_string_equal(line, "free 5");
    item_print(&program, 0, line, 8);
    assert_string_equal(line, "b0 = bl");
}

static void text_is_recognised(void **state) {
    (void)state;
    assert_true(program_looks_like_text("isoheap", 7));
    assert_true(program_looks_like_text("# c\n\r\n  isoheap program 7\n", 26));
    assert_false(program_looks_like_text("isoheapx", 8));
    assert_false(program_looks_like_text("# isoheap", 9));
    assert_false(program_looks_like_text("\0isoheap", 8));
    assert_false(program_looks_like_text("isohea", 6));
    assert_false(program_looks_like_text(NULL, 0));
}

/* ---- hostile text ---------------------------------------------------------------------------- */

static void parse_anything(const char *source, size_t size) {
    struct text_error error = {0};
    if (program_parse(&other, source, size, &error)) {
        assert_null(program_valid(&other));
        check_text_round_trip(&other);
        check_bytes_round_trip(&other);
        return;
    }
    unsigned lines = 1;
    size_t longest = 0, start = 0;
    for (size_t i = 0; i < size; i++) {
        if (source[i] != '\n')
            continue;
        lines++;
        longest = i - start > longest ? i - start : longest;
        start = i + 1;
    }
    longest = size - start > longest ? size - start : longest;
    assert_true(error.line >= 1 && error.line <= lines);
    assert_true(error.column >= 1 && error.column <= longest + 1);
    assert_true(strlen(error.message) > 10 && strlen(error.message) < sizeof error.message - 1);
}

static void one_corrupted_byte(void **state) {
    (void)state;
    static const char nasty[] = "\0\r\n\t #=[],.:->+-0129xbrz\x7f\xff";
    struct rng rng = {21};
    for (unsigned n = 0; n < 400; n++) {
        random_program(&rng, &program, 6, 20);
        size_t length = program_print(&program, text, sizeof text);
        for (unsigned k = 0; k < 60; k++) {
            size_t at = rng_below(&rng, (unsigned)length);
            char saved = text[at];
            text[at] = nasty[rng_below(&rng, sizeof nasty)];
            parse_anything(text, length);
            text[at] = saved;
        }
        parse_anything(text, rng_below(&rng, (unsigned)length)); /* cut short */
    }
}

static void lines_without_end(void **state) {
    (void)state;
    static const char *const heads[] = {"", LINE,
                                        LINE "script\n r0 = ", LINE "heap\n b0 = string [0x"};
    static const char fills[] = {'a', '9', '0', ' ', '#', '\r', '[', '-', '\0', '\n', '\xff'};
    for (unsigned h = 0; h < sizeof heads / sizeof *heads; h++) {
        for (unsigned f = 0; f < sizeof fills; f++) {
            size_t length = (size_t)snprintf(text, sizeof text, "%s", heads[h]);
            memset(text + length, fills[f], 300000);
            parse_anything(text, length + 300000);
        }
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(canonical_text_is_printed_back),
        cmocka_unit_test(free_layout_is_accepted),
        cmocka_unit_test(errors_name_place_and_remedy),
        cmocka_unit_test(a_nul_byte_is_no_end),
        cmocka_unit_test(limits_are_exact),
        cmocka_unit_test(field_limits_are_exact),
        cmocka_unit_test(printing_honours_capacity),
        cmocka_unit_test(single_items_and_operations),
        cmocka_unit_test(text_is_recognised),
        cmocka_unit_test(one_corrupted_byte),
        cmocka_unit_test(lines_without_end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
