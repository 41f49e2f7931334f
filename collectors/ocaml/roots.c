/* SPDX-License-Identifier: MIT
 *
 * The roots of the OCaml runtime: the slots of the program.
 */
#include "collectors/ocaml/internal.h"

#include <caml/memory.h>
#include <caml/mlvalues.h>

/* Slots take turns in being every kind of root that C code can have, and of one that other code
 * has: words of its stack; of native code, registers and the data of modules too. */
enum root_kind { ROOT_GENERATIONAL, ROOT_GLOBAL, ROOT_LOCAL, ROOT_STACK, ROOT_KINDS };
static value roots[GC_SLOTS], local_roots[GC_SLOTS];
static bool registered[GC_SLOTS];
static struct caml__roots_block local_block;

#ifdef NATIVE_CODE
_Static_assert((int)FRAMES_PLACES == (int)GC_SLOTS / ROOT_KINDS, "a place for each such slot");

static value *stack_place(unsigned n) {
    return (value *)frames_place(n);
}
static bool is_module_data(unsigned slot) {
    return slot % ROOT_KINDS == ROOT_STACK && frames_is_data(slot / ROOT_KINDS);
}
#else
static value *stack_place(unsigned n) {
    return (value *)runtime_stack() - 1 - n;
}
static bool is_module_data(unsigned slot) {
    (void)slot;
    return false;
}
#endif

static value *root_place(unsigned slot) {
    switch ((enum root_kind)(slot % ROOT_KINDS)) {
    case ROOT_LOCAL:
        return &local_roots[slot];
    case ROOT_STACK:
        return stack_place(slot / ROOT_KINDS);
    default:
        return &roots[slot];
    }
}

word root_get(unsigned slot) {
    return (word)*root_place(slot);
}

const word *root_at(unsigned slot) {
    return (const word *)root_place(slot);
}

bool root_is_old(unsigned slot) {
    return (slot % ROOT_KINDS == ROOT_GENERATIONAL && registered[slot]) || is_module_data(slot);
}

void root_set(unsigned slot, word v) {
    value *place = root_place(slot);
    switch ((enum root_kind)(slot % ROOT_KINDS)) {
    case ROOT_GENERATIONAL:
        if (!registered[slot])
            caml_register_generational_global_root(place);
        caml_modify_generational_global_root(place, (value)v);
        registered[slot] = true;
        break;
    case ROOT_GLOBAL:
        if (!registered[slot])
            caml_register_global_root(place);
        registered[slot] = true;
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

void roots_clear(void) {
    for (unsigned s = 0; s < GC_SLOTS; s++) {
        roots[s] = local_roots[s] = Val_unit;
        registered[s] = false;
    }
#ifndef NATIVE_CODE
    runtime_push(GC_SLOTS / ROOT_KINDS);
#endif
    local_block =
        (struct caml__roots_block){.ntables = 1, .nitems = GC_SLOTS, .tables = {local_roots}};
    Caml_state->local_roots = &local_block;
}
