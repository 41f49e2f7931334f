/* SPDX-License-Identifier: MIT
 *
 * What both runtimes want of the rest of OCaml, and what they say when they are broken: with
 * stubs.c of each all that the linker asks for.
 */
#include "collectors/ocaml/internal.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include <caml/alloc.h>
#include <caml/callback.h>
#include <caml/misc.h>
#include <caml/mlvalues.h>
#include <caml/osdeps.h>

/* Their headers are not the collector's, or of some builds alone. */
void caml_failed_assert(char *, char_os *, int);
void caml_record_backtraces(int);
void caml_free_locale(void);
void caml_free_shared_libs(void);

_Noreturn void runtime_die(const char *sentence) {
    runtime_broken(sentence);
    abort();
}

static char text[256];

/* The assertions of the runtime's debugging build. */
void caml_failed_assert(char *expression, char_os *file, int line) {
    const char *name = file, *slash = file;
    for (; *slash; slash++)
        name = *slash == '/' ? slash + 1 : name;
    snprintf(text, sizeof text, "%s, line %d: assertion failed: %s", name, line, expression);
    runtime_die(text);
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
    runtime_die(text);
}

/* ---- the rest of the runtime --------------------------------------------------------------------
 */

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
const value *caml_named_value(char const *name) {
    (void)name;
    return NULL;
}
void caml_record_backtraces(int on) {
    (void)on;
}
value caml_copy_double(double d) { /* in what Gc.stat answers */
    value v = caml_alloc_small(Double_wosize, Double_tag);
    Store_double_val(v, d);
    return v;
}
void caml_free_locale(void) {}
void caml_free_shared_libs(void) {}
