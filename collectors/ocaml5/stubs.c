/* SPDX-License-Identifier: MIT
 *
 * What the collector's files want of the rest of the OCaml 5 runtime.  There is no OCaml code here:
 * a callback is a finaliser, whose closure is a number, or one of Gc.Memprof, and an exception that
 * is none of a finaliser's is the end of the run.
 */
#include "collectors/ocaml5/internal.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include <caml/alloc.h>
#include <caml/backtrace.h>
#include <caml/bigarray.h>
#include <caml/callback.h>
#include <caml/custom.h>
#include <caml/fail.h>
#include <caml/intext.h>
#include <caml/io.h>
#include <caml/md5.h>
#include <caml/misc.h>
#include <caml/osdeps.h>
#include <caml/runtime_events.h>
#include <caml/signals.h>
#include <caml/sync.h>

/* Their headers are not the collector's, or of some builds alone. */
void caml_failed_assert(char *, char_os *, int);
void caml_record_backtraces(int);
void caml_free_backtrace_buffer(backtrace_slot *);
void caml_free_locale(void);
void caml_free_shared_libs(void);

static _Noreturn void die_saying(const char *sentence) {
    runtime_broken(sentence);
    abort();
}

/* ---- callbacks ----------------------------------------------------------------------------------
 */

static uint64_t callbacks;
static bool is_called;

uint64_t runtime_callbacks(void) {
    return callbacks;
}

bool runtime_is_called(void) {
    return is_called;
}

caml_result caml_callback_res(value closure, value argument) {
    if (Long_val(closure) < 0)
        return Result_value(sampling_call(Long_val(closure), argument));
    callbacks++;
    is_called = true;
    bool raises = runtime_runs((uint64_t)Long_val(closure), (word)argument);
    is_called = false;
    return raises ? Result_exception(Val_unit) : Result_unit;
}

/* ---- exceptions ---------------------------------------------------------------------------------
 */

static char text[256];

#define EXCEPTION(name)                                                                            \
    void name(char const *message) {                                                               \
        snprintf(text, sizeof text, #name ": %s", message);                                        \
        die_saying(text);                                                                          \
    }
EXCEPTION(caml_failwith)
EXCEPTION(caml_invalid_argument)

#define RAISES(name, parameters, sentence)                                                         \
    void name parameters {                                                                         \
        die_saying(sentence);                                                                      \
    }
RAISES(caml_raise_end_of_file, (void), "the runtime raises End_of_file")
RAISES(caml_raise_out_of_memory, (void), "the runtime raises Out_of_memory")
RAISES(caml_raise_stack_overflow, (void), "the runtime raises Stack_overflow")
RAISES(caml_array_bound_error, (void), "caml_array_bound_error")

void caml_raise(value exception) {
    (void)exception;
    die_saying("the runtime raises an exception");
}
void caml_failwith_value(value message) {
    (void)message;
    die_saying("caml_failwith_value");
}
void caml_sys_error(value argument) {
    (void)argument;
    die_saying("caml_sys_error");
}

/* The assertions of the runtime's debugging build. */
void caml_failed_assert(char *expression, char_os *file, int line) {
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
    die_saying(text);
}

/* ---- what there is ------------------------------------------------------------------------------
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
char *caml_strerror(int number, char *buffer, size_t length) {
    snprintf(buffer, length, "error %d", number);
    return buffer;
}
size_t caml_get_callstack(size_t most, backtrace_slot **slots, size_t *room, ptrdiff_t index) {
    (void)most, (void)slots, (void)room, (void)index;
    return 0; /* no OCaml code is under way */
}
const value *caml_named_value(char const *name) {
    (void)name;
    return NULL;
}
void caml_init_signal_handling(void) {} /* makes a block for signals: none are driven */
void caml_record_backtraces(int on) {
    (void)on;
}
void caml_free_backtrace_buffer(backtrace_slot *buffer) {
    (void)buffer;
}
void caml_free_locale(void) {}
void caml_free_shared_libs(void) {}
value caml_copy_double(double d) { /* in what Gc.stat answers */
    value v = caml_alloc_small(Double_wosize, Double_tag);
    Store_double_val(v, d);
    return v;
}

/* Events are told to nobody. */
void caml_ev_begin(ev_runtime_phase phase) {
    (void)phase;
}
void caml_ev_end(ev_runtime_phase phase) {
    (void)phase;
}
void caml_ev_counter(ev_runtime_counter counter, uint64_t n) {
    (void)counter, (void)n;
}
void caml_ev_lifecycle(ev_lifecycle event, int64_t data) {
    (void)event, (void)data;
}

uintnat caml_debugger_in_use;

#define NO_CUSTOM                                                                                  \
    { "isoheap.absent", NULL, NULL, NULL, NULL, NULL, NULL, NULL }
CAMLexport const struct custom_operations caml_int32_ops = NO_CUSTOM, caml_int64_ops = NO_CUSTOM,
                                          caml_nativeint_ops = NO_CUSTOM, caml_ba_ops = NO_CUSTOM;

#pragma GCC diagnostic ignored "-Wunused-parameter"
#define ABSENT(type, name, parameters)                                                             \
    type name parameters {                                                                         \
        die_saying(#name " is no part of this build");                                             \
    }
ABSENT(value, caml_alloc_sprintf, (const char *format, ...))
ABSENT(value, caml_copy_nativeint, (intnat i))
ABSENT(void, caml_md5_block, (unsigned char digest[16], void *data, uintnat length))
ABSENT(void, caml_really_putblock, (struct channel * channel, char *data, intnat length))
ABSENT(void, caml_flush_if_unbuffered, (struct channel * channel))
ABSENT(intnat, caml_really_getblock, (struct channel * channel, char *data, intnat length))
ABSENT(int, caml_channel_binary_mode, (struct channel * channel))
ABSENT(void, caml_channel_lock, (struct channel * channel))
ABSENT(void, caml_channel_unlock, (struct channel * channel))
ABSENT(value, caml_ml_mutex_lock, (value wrapper))
ABSENT(value, caml_ml_condition_broadcast, (value wrapper))
ABSENT(int, caml_mutex_unlock, (sync_mutex mutex))
