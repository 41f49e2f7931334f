/* SPDX-License-Identifier: MIT
 *
 * What the collector's files want of the rest of the runtime.  There is no OCaml code here: a
 * callback is a finaliser, whose closure is a number; exceptions.c has what the runtime raises.
 */
#include "collectors/ocaml/internal.h"

#include <math.h>
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
void caml_failed_assert(char *, char *, int);
intnat caml_collect_current_callstack(value **, intnat *, intnat, int);
void caml_record_backtraces(int);
value caml_record_backtrace(value);
void caml_free_locale(void);
void caml_free_shared_libs(void);

static _Noreturn void die_saying(const char *sentence) {
    runtime_broken(sentence);
    abort();
}

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

static char text[256];

/* The assertions of the runtime's debugging build. */
void caml_failed_assert(char *expression, char *file, int line) {
    const char *name = file, *slash = file;
    for (; *slash; slash++)
        name = *slash == '/' ? slash + 1 : name;
    snprintf(text, sizeof text, "%s, line %d: assertion failed: %s", name, line, expression);
    die_saying(text);
}

void runtime_fatal_error(char *format, va_list arguments) {
    char message[128];
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
    vsnprintf(message, sizeof message, format, arguments);
#pragma GCC diagnostic pop
    snprintf(text, sizeof text, "fatal error: %s", message);
    if (region_has_refused())
        runtime_ended(text);
    die_saying(text);
}

/* ---- the rest of the runtime --------------------------------------------------------------------
 */

struct custom_operations caml_int32_ops, caml_int64_ops, caml_nativeint_ops, caml_ba_ops;
int caml_parser_trace;

mlsize_t caml_string_length(value s) {
    mlsize_t last = Bosize_val(s) - 1;
    return last - Byte_u(s, last);
}
char *caml_secure_getenv(char const *name) {
    (void)name; /* the environment says nothing: a run depends on the program alone */
    return NULL;
}
double caml_log1p(double x) {
    return log1p(x);
}
intnat caml_collect_current_callstack(value **buffer, intnat *length, intnat most, int index) {
    (void)buffer, (void)length, (void)most, (void)index;
    return 0; /* no OCaml code is under way */
}
const value *caml_named_value(char const *name) {
    (void)name;
    return NULL;
}
void caml_record_backtraces(int on) {
    (void)on;
}
value caml_record_backtrace(value on) { /* in 4.12 */
    return on;
}
value caml_copy_double(double d) { /* in what Gc.stat answers */
    value v = caml_alloc_small(Double_wosize, Double_tag);
    Store_double_val(v, d);
    return v;
}
void caml_free_locale(void) {}
void caml_free_shared_libs(void) {}

#pragma GCC diagnostic ignored "-Wunused-parameter"
#define ABSENT(type, name, parameters)                                                             \
    type name parameters {                                                                         \
        die_saying(#name " is no part of this build");                                             \
    }
ABSENT(value, caml_alloc_sprintf, (const char *format, ...))
ABSENT(value, caml_copy_nativeint, (intnat i))
ABSENT(void, caml_md5_block, (unsigned char digest[16], void *data, uintnat length))
ABSENT(void, caml_really_putblock, (struct channel * channel, char *data, intnat length))
ABSENT(void, caml_flush, (struct channel * channel)) /* from 4.14 on */
ABSENT(intnat, caml_really_getblock, (struct channel * channel, char *data, intnat length))
int caml_channel_binary_mode(struct channel *channel) {
    (void)channel;
    die_saying("there are no channels here");
}
void (*caml_channel_mutex_lock)(struct channel *);
void (*caml_channel_mutex_unlock)(struct channel *);
