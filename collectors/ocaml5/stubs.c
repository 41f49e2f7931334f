/* SPDX-License-Identifier: MIT
 *
 * What the collector's files want of the rest of the OCaml 5 runtime.  There is no OCaml code here:
 * a callback is a finaliser, whose closure is a number, or one of Gc.Memprof, and an exception that
 * is none of a finaliser's is the end of the run.
 */
#include "collectors/ocaml5/internal.h"

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
void caml_free_backtrace_buffer(backtrace_slot *);

/* ---- callbacks ----------------------------------------------------------------------------------
 */

static OF_A_THREAD uint64_t callbacks;
static OF_A_THREAD bool is_called;

uint64_t runtime_callbacks(void) {
    return callbacks;
}

void runtime_calls_begin(void) {
    is_called = false; /* the last run may have ended in the middle of one */
}

bool runtime_is_called(void) {
    return is_called;
}

#if OCAML_VERSION < 50200
#define caml_result         value
#define caml_callback_res   caml_callback_exn
#define Result_value(v)     (v)
#define Result_unit         Val_unit
#define Result_exception(v) Make_exception_result(v)
#endif
caml_result caml_callback_res(value closure, value argument) {
#if defined(ISOHEAP_DOMAINS) || defined(ISOHEAP_THREADS)
    if (Long_val(closure) >= DOMAIN_BODY)
        return Result_value(
            (value)runtime_domain_body((unsigned)(Long_val(closure) - DOMAIN_BODY)));
#endif
    if (Long_val(closure) < 0)
        return Result_value(sampling_call(Long_val(closure), argument));
    callbacks++;
    runtime_progressed();
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
        runtime_die(text);                                                                         \
    }
EXCEPTION(caml_failwith)
EXCEPTION(caml_invalid_argument)

#define RAISES(name, parameters, sentence)                                                         \
    void name parameters {                                                                         \
        runtime_die(sentence);                                                                     \
    }
RAISES(caml_raise_end_of_file, (void), "the runtime raises End_of_file")
RAISES(caml_raise_out_of_memory, (void), "the runtime raises Out_of_memory")
RAISES(caml_raise_stack_overflow, (void), "the runtime raises Stack_overflow")
RAISES(caml_array_bound_error, (void), "caml_array_bound_error")

void caml_raise(value exception) {
    (void)exception;
    runtime_die("the runtime raises an exception");
}
#if OCAML_VERSION < 50200
value caml_raise_if_exception(value result) {
    if (Is_exception_result(result))
        caml_raise(Extract_exception(result));
    return result;
}
#endif
void caml_failwith_value(value message) {
    (void)message;
    runtime_die("caml_failwith_value");
}
void caml_sys_error(value argument) {
    (void)argument;
    runtime_die("caml_sys_error");
}

/* ---- what there is ------------------------------------------------------------------------------
 */

char *caml_strerror(int number, char *buffer, size_t length) {
    snprintf(buffer, length, "error %d", number);
    return buffer;
}
#if OCAML_VERSION >= 50200
size_t caml_get_callstack(size_t most, backtrace_slot **slots, size_t *room, ptrdiff_t index) {
    (void)most, (void)slots, (void)room, (void)index;
    return 0; /* no OCaml code is under way */
}
#endif
void caml_init_signal_handling(void) {} /* makes a block for signals: none are driven */
void caml_free_backtrace_buffer(backtrace_slot *buffer) {
    (void)buffer;
}

/* Events are told to nobody, but for sections in which all domains stop. */
void caml_ev_begin(ev_runtime_phase phase) {
#ifdef ISOHEAP_DOMAINS
    if (phase == EV_STW_LEADER)
        runtime_section(GC_SECTION_ASKED);
    if (phase == EV_STW_HANDLER)
        runtime_section(GC_SECTION_ENTERED);
#endif
    (void)phase;
}
void caml_ev_end(ev_runtime_phase phase) {
#ifdef ISOHEAP_DOMAINS
    if (phase == EV_STW_LEADER || phase == EV_STW_HANDLER)
        runtime_section(GC_SECTION_LEFT);
#endif
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
        runtime_die(#name " is no part of this build");                                            \
    }
ABSENT(value, caml_alloc_sprintf, (const char *format, ...))
ABSENT(value, caml_copy_nativeint, (intnat i))
ABSENT(void, caml_md5_block, (unsigned char digest[16], void *data, uintnat length))
ABSENT(void, caml_really_putblock, (struct channel * channel, char *data, intnat length))
ABSENT(intnat, caml_really_getblock, (struct channel * channel, char *data, intnat length))
ABSENT(int, caml_channel_binary_mode, (struct channel * channel))
#if !defined(ISOHEAP_DOMAINS) && !defined(ISOHEAP_THREADS) /* domains/mutators.c, the runtime */
ABSENT(int, caml_mutex_unlock, (sync_mutex mutex))
ABSENT(void *, caml_init_signal_stack, (void))
ABSENT(void, caml_free_signal_stack, (void *stack))
#if OCAML_VERSION >= 50200
ABSENT(value, caml_ml_mutex_lock, (value wrapper))
ABSENT(value, caml_ml_condition_broadcast, (value wrapper))
#endif
#endif
#if OCAML_VERSION >= 50200
ABSENT(void, caml_flush_if_unbuffered, (struct channel * channel))
ABSENT(void, caml_channel_lock, (struct channel * channel))
ABSENT(void, caml_channel_unlock, (struct channel * channel))
#else
void (*caml_channel_mutex_lock)(struct channel *), (*caml_channel_mutex_unlock)(struct channel *);
ABSENT(void, caml_flush, (struct channel * channel))
ABSENT(value, caml_callback, (value closure, value argument))
#endif
