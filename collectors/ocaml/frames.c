/* SPDX-License-Identifier: MIT
 *
 * Roots of native code: a stack of frames with their table, saved registers, and the data of two
 * modules, as roots_nat.c of the runtime finds them.
 *
 * No native code is needed for that: a frame is words between two return addresses, and the table
 * says which of them are values.  The bytecode variants have none of it, and this file nothing.
 *
 *   chunk 1, the lowest word first:  point, caller, allocates, caller, end
 *   chunk 2, whose code called chunk 1's from a finaliser:  point, end
 *
 * A frame ends with the return address into the next one; at an end two words follow, and then
 * where the next chunk is.
 */
#include "collectors/ocaml/internal.h"

#ifdef NATIVE_CODE

#include <string.h>

#include <caml/memory.h>
#include <caml/mlvalues.h>
#include <caml/stack.h>

/* ---- the table ----------------------------------------------------------------------------------
 */

/* As frame_descr, with room for three places, or for what follows one: 24 bytes, so that the next
 * one begins where next_frame_descr looks for it. */
struct descriptor {
    uintnat address;
    unsigned short size, n;
    unsigned short live[6];
};
_Static_assert(sizeof(struct descriptor) == 24, "next_frame_descr skips 17 to 24 bytes");

enum { ALLOCATES = 2, DEBUG_INFO = 1, END = 0xffff, REGISTER = 1, CELL = sizeof(word) };
enum { AT_POINT = 0x10000, AT_CALLER = 0x10040, AT_ALLOCATION = 0x10080, AT_END = 0x10008 };

/* The first three have the same hash.  A register is a root at a safepoint alone: whoever calls has
 * saved his own. */
static struct {
    intnat n;
    struct descriptor frames[3];
} module_frames = {3,
                   {{AT_POINT, 2 * CELL, 3, {0 << 1 | REGISTER, 2 << 1 | REGISTER, 0}},
                    {AT_ALLOCATION, 2 * CELL | ALLOCATES | DEBUG_INFO, 1, {0, 1}},
                    {AT_CALLER, 5 * CELL, 3, {0, 2 * CELL, 3 * CELL}}}};
static struct {
    intnat n;
    struct descriptor frames[1];
} system_frames = {1, {{AT_END, END, 0, {0}}}};

intnat *caml_frametable[] = {&module_frames.n, &system_frames.n, NULL};

/* ---- the stack ----------------------------------------------------------------------------------
 */

enum { REGISTERS = 4, END_WORDS = 2 + sizeof(struct caml_context) / sizeof(word) };
enum {
    POINT = 0,               /* a value, a return address */
    CALLER = POINT + 2,      /* a value, a word that is none, two values, a return address */
    ALLOCATION = CALLER + 5, /* a value, a return address */
    CALLER_AGAIN = ALLOCATION + 2,
    CHUNK_END = CALLER_AGAIN + 5,
    OUTER_POINT = CHUNK_END + END_WORDS,
    STACK_END = OUTER_POINT + 2,
    STACK_WORDS = STACK_END + END_WORDS
};
static word stack[STACK_WORDS], registers[2][REGISTERS];

/* What is no value leads nowhere: nobody may follow it. */
static const word junk = 0x6a6e6b0000000010;

static void make_end(unsigned at, unsigned next, word *registers_of_next) {
    struct caml_context context = {NULL, 0, NULL};
    if (registers_of_next)
        context = (struct caml_context){(char *)&stack[next], AT_POINT, (value *)registers_of_next};
    memcpy(&stack[at + 2], &context, sizeof context);
}

static void make_stack(void) {
    for (unsigned i = 0; i < STACK_WORDS; i++)
        stack[i] = junk;
    stack[POINT + 1] = AT_CALLER;
    stack[CALLER + 4] = AT_ALLOCATION;
    stack[ALLOCATION + 1] = AT_CALLER;
    stack[CALLER_AGAIN + 4] = stack[OUTER_POINT + 1] = AT_END;
    make_end(CHUNK_END, OUTER_POINT, registers[1]);
    make_end(STACK_END, 0, NULL);
    static const uint8_t values[] = {POINT,      CALLER,       CALLER + 2,       CALLER + 3,
                                     ALLOCATION, CALLER_AGAIN, CALLER_AGAIN + 2, CALLER_AGAIN + 3,
                                     OUTER_POINT};
    for (unsigned i = 0; i < sizeof values; i++)
        stack[values[i]] = WORD_UNIT;
    for (unsigned chunk = 0; chunk < 2; chunk++)
        for (unsigned i = 0; i < REGISTERS; i++)
            registers[chunk][i] = i % 2 ? junk : WORD_UNIT;
}

/* ---- the data of modules ------------------------------------------------------------------------
 */

enum { MODULES = 2, MODULE_FIELDS = 2 };
static word modules[MODULES][1 + MODULE_FIELDS];
static value tables[MODULES][2]; /* of each module: its blocks, and 0 */
value *caml_globals[MODULES + 1];

static void make_modules(void) {
    for (unsigned n = 0; n < MODULES; n++) {
        modules[n][0] = header_make(MODULE_FIELDS, BLACK, 0);
        modules[n][1] = modules[n][2] = WORD_UNIT;
        tables[n][0] = (value)&modules[n][1];
        caml_globals[n] = tables[n];
    }
    caml_globals_inited = MODULES;
}

/* ---- the slots ----------------------------------------------------------------------------------
 */

static word *const places[] = {&registers[0][0],         &stack[POINT],      &modules[0][1],
                               &stack[CALLER],           &stack[ALLOCATION], &modules[1][2],
                               &stack[CALLER_AGAIN + 2], &registers[1][2],   &stack[OUTER_POINT]};

word *frames_place(unsigned n) {
    return places[n];
}

bool frames_is_data(unsigned n) {
    return (word)places[n] - (word)modules < sizeof modules;
}

void frames_begin(void) {
    make_stack();
    make_modules();
    caml_init_frame_descriptors();
    Caml_state->bottom_of_stack = (char *)stack;
    Caml_state->top_of_stack = (char *)(stack + STACK_WORDS);
    Caml_state->last_return_address = AT_POINT;
    Caml_state->gc_regs = (value *)registers[0];
}

void frames_data(struct gc *g, void visit(struct gc *, const word *first, const word *end)) {
    for (unsigned n = 0; n < MODULES; n++)
        visit(g, &modules[n][1], &modules[n][1] + MODULE_FIELDS);
}

#endif
