/* SPDX-License-Identifier: MIT
 *
 * What the collector's files want of the rest of the runtime.  There is no OCaml code here: a
 * callback is a finaliser, whose closure is a number; exceptions.c has what the runtime raises.
 */
#include "collectors/ocaml/internal.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include <caml/alloc.h>
#include <caml/callback.h>
#include <caml/custom.h>
#include <caml/fail.h>
#include <caml/intext.h>
#include <caml/io.h>
#include <caml/md5.h>
#include <caml/misc.h>
#include <caml/osdeps.h>

/* Their headers are not the collector's, or of some builds alone. */
void caml_sys_error(value);
intnat caml_collect_current_callstack(value **, intnat *, intnat, int);
value caml_record_backtrace(value);

/* ---- callbacks ----------------------------------------------------------------------------------
 */

static uint64_t callbacks;

uint64_t runtime_callbacks(void) {
    return callbacks;
}

value caml_callback_exn(value closure, value argument) {
    if (Long_val(closure) < 0)
        return sampling_call(Long_val(closure), argument);
    callbacks++;
    return runtime_runs((uint64_t)Long_val(closure), (word)argument)
               ? Make_exception_result(Val_unit)
               : Val_unit;
}

/* ---- exceptions ---------------------------------------------------------------------------------
 */

void caml_failwith(char const *message) {
    runtime_raise("Failure", message);
}
void caml_invalid_argument(char const *message) {
    runtime_raise("Invalid_argument", message);
}
void caml_raise(value exception) {
    (void)exception;
    runtime_raise("an exception", NULL);
}
void caml_array_bound_error(void) {
    runtime_raise("Invalid_argument", "index out of bounds");
}
/* A finaliser's: caught where the program called. */
value caml_raise_if_exception(value v) {
    return Is_exception_result(v) ? Val_unit : v;
}
void caml_raise_end_of_file(void) {
    runtime_raise("End_of_file", NULL);
}
void caml_raise_out_of_memory(void) {
    runtime_raise("Out_of_memory", NULL);
}
void caml_raise_stack_overflow(void) {
    runtime_raise("Stack_overflow", NULL);
}
void caml_sys_error(value argument) {
    (void)argument;
    runtime_raise("Sys_error", NULL);
}

/* ---- the rest of the runtime --------------------------------------------------------------------
 */

struct custom_operations caml_int32_ops, caml_int64_ops, caml_nativeint_ops, caml_ba_ops;
int caml_parser_trace;

intnat caml_collect_current_callstack(value **buffer, intnat *length, intnat most, int index) {
    (void)buffer, (void)length, (void)most, (void)index;
    return 0; /* no OCaml code is under way */
}
value caml_record_backtrace(value on) { /* in 4.12 */
    return on;
}

#pragma GCC diagnostic ignored "-Wunused-parameter"
#define ABSENT(type, name, parameters)                                                             \
    type name parameters {                                                                         \
        runtime_die(#name " is no part of this build");                                            \
    }
ABSENT(value, caml_alloc_sprintf, (const char *format, ...))
ABSENT(value, caml_copy_nativeint, (intnat i))
ABSENT(void, caml_md5_block, (unsigned char digest[16], void *data, uintnat length))
ABSENT(void, caml_really_putblock, (struct channel * channel, char *data, intnat length))
ABSENT(void, caml_flush, (struct channel * channel)) /* from 4.14 on */
ABSENT(intnat, caml_really_getblock, (struct channel * channel, char *data, intnat length))
int caml_channel_binary_mode(struct channel *channel) {
    (void)channel;
    runtime_die("there are no channels here");
}
void (*caml_channel_mutex_lock)(struct channel *);
void (*caml_channel_mutex_unlock)(struct channel *);
