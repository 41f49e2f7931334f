/* SPDX-License-Identifier: MIT
 *
 * The roots of the OCaml runtime: the slots of the program.
 */
#include "collectors/ocaml/internal.h"

#include <caml/memory.h>
#include <caml/mlvalues.h>
#include <caml/version.h>

/* Slots take turns in being every kind of root that C code can have, and of one that other code
 * has: words of its stack; of native code, registers and the data of modules too. */
enum root_kind { ROOT_GENERATIONAL, ROOT_GLOBAL, ROOT_LOCAL, ROOT_STACK, ROOT_KINDS };
static value roots[ROOT_ROWS][GC_SLOTS], local_roots[ROOT_ROWS][GC_SLOTS];
static bool registered[ROOT_ROWS][GC_SLOTS];
static struct caml__roots_block local_blocks[ROOT_ROWS];
OF_A_THREAD unsigned root_row;

#ifdef NATIVE_CODE
_Static_assert((int)FRAMES_PLACES == (int)GC_SLOTS / ROOT_KINDS, "a place for each such slot");

static value *stack_place(unsigned m, unsigned n) {
    (void)m; /* there is one */
    return (value *)frames_place(n);
}
static bool is_module_data(unsigned slot) {
    return slot % ROOT_KINDS == ROOT_STACK && frames_is_data(slot / ROOT_KINDS);
}
#else
static value *stack_place(unsigned m, unsigned n) {
    enum { A_ROW = GC_SLOTS / ROOT_KINDS }; /* of a mutator that has several */
    return (value *)runtime_stack(m) - 1 - n - m / GC_MUTATORS * A_ROW;
}
static bool is_module_data(unsigned slot) {
    (void)slot;
    return false;
}
#endif

/* Has the mutator a stack?  A domain may have ended. */
static bool is_there(unsigned m) {
#if OCAML_VERSION < 50000
    (void)m;
    return true;
#else
    return runtime_stack(m) != NULL;
#endif
}

static value *root_place(unsigned m, unsigned slot) {
    switch ((enum root_kind)(slot % ROOT_KINDS)) {
    case ROOT_LOCAL:
        return &local_roots[m][slot];
    case ROOT_STACK:
        return stack_place(m, slot / ROOT_KINDS);
    default:
        return &roots[m][slot];
    }
}

word root_of(unsigned m, unsigned slot) {
    return is_there(m) ? (word)*root_place(m, slot) : WORD_UNIT;
}

word root_get(unsigned slot) {
    return root_of(root_row, slot);
}

const word *root_at(unsigned slot) {
    return (const word *)root_place(root_row, slot);
}

bool root_is_old(unsigned slot) {
    return (slot % ROOT_KINDS == ROOT_GENERATIONAL && registered[root_row][slot]) ||
           is_module_data(slot);
}

void root_set_of(unsigned m, unsigned slot, word v) {
    if (!is_there(m))
        return;
    value *place = root_place(m, slot);
    bool known = registered[m][slot];
    switch ((enum root_kind)(slot % ROOT_KINDS)) {
    case ROOT_GENERATIONAL:
        if (!known)
            caml_register_generational_global_root(place);
        caml_modify_generational_global_root(place, (value)v);
        registered[m][slot] = true;
        break;
    case ROOT_GLOBAL:
        if (!known)
            caml_register_global_root(place);
        registered[m][slot] = true;
        *place = (value)v;
        break;
    default:
        if (is_module_data(slot))
            caml_modify(place, (value)v);
        else
            *place = (value)v;
        break;
    }
}

void root_set(unsigned slot, word v) {
    root_set_of(root_row, slot, v);
}

void roots_clear(void) {
    unsigned m = root_row;
    for (unsigned s = 0; s < GC_SLOTS; s++) {
        roots[m][s] = local_roots[m][s] = Val_unit;
        registered[m][s] = false;
    }
#ifndef NATIVE_CODE
    runtime_push(GC_SLOTS / ROOT_KINDS);
#endif
    local_blocks[m] = (struct caml__roots_block){.next = Caml_state->local_roots,
                                                 .ntables = 1,
                                                 .nitems = GC_SLOTS,
                                                 .tables = {local_roots[m]}};
    Caml_state->local_roots = &local_blocks[m];
}

void roots_remove(void) {
    unsigned m = root_row;
    for (unsigned s = 0; s < GC_SLOTS; s++) {
        if (!registered[m][s])
            continue;
        if (s % ROOT_KINDS == ROOT_GENERATIONAL)
            caml_remove_generational_global_root(&roots[m][s]);
        else
            caml_remove_global_root(&roots[m][s]);
        registered[m][s] = false;
    }
    Caml_state->local_roots = NULL;
}
