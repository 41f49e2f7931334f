/* SPDX-License-Identifier: MIT
 *
 * Exceptions of the runtime's C code: they end the call that the adapter has made, and the harness
 * goes on.
 *
 * As where OCaml code has called: the exception and its message are allocated while the functions
 * that are left are still under way, what waits to be done is done, and the local roots are put
 * back.  An exception that nobody waits for is the end of the run.
 */
#include "collectors/ocaml/internal.h"

#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>

#include <caml/alloc.h>
#include <caml/memory.h>
#include <caml/mlvalues.h>

static sigjmp_buf *catcher; /* who waits for an exception; NULL: nobody does */
static bool catches_all;    /* or Out_of_memory alone, for want of it */

void exceptions_begin(void) {
    catcher = NULL; /* a run may have ended in the middle of a call */
}

bool runtime_try(void (*body)(void *context), void *context) {
    sigjmp_buf here;
    struct caml__roots_block *roots = Caml_state->local_roots;
    bool raised = sigsetjmp(here, 0) != 0;
    if (!raised) {
        catcher = &here;
        catches_all = true;
        body(context);
    }
    catcher = NULL;
    Caml_state->local_roots = roots;
    return !raised;
}

/* ---- out of memory ----------------------------------------------------------------------------
 */

static sigjmp_buf guard;
static struct caml__roots_block *guarded_roots;

sigjmp_buf *runtime_guard(void) {
    guarded_roots = Caml_state->local_roots;
    catches_all = false;
    region_may_refuse(true);
    return catcher = &guard;
}

void runtime_unguard(void) {
    region_may_refuse(false);
    catcher = NULL;
}

enum gc_result runtime_refused_call(struct gc *g) {
    runtime_unguard();
    Caml_state->local_roots = guarded_roots;
    runtime_end_anew(g);
    return GC_OUT_OF_MEMORY;
}

enum gc_result runtime_refused(struct gc *g, unsigned dst) {
    root_set(dst, runtime_slots(g)[dst] = WORD_UNIT);
    return runtime_refused_call(g);
}

/* ---- raising ------------------------------------------------------------------------------------
 */

/* The bucket of an exception with an argument, which nobody looks at. */
static void allocate_exception(const char *message) {
    CAMLparam0();
    CAMLlocal1(argument);
    argument = caml_copy_string(message);
    value bucket = caml_alloc_small(2, 0);
    Field(bucket, 0) = Val_unit;
    Field(bucket, 1) = argument;
    CAMLreturn0;
}

void runtime_raise(const char *name, const char *message) {
    static char text[256];
    bool expected = catches_all || (!message && region_has_refused());
    if (!catcher || !expected) {
        snprintf(text, sizeof text, "%s%s%s", name, message ? ": " : "", message ? message : "");
        runtime_broken(text);
        abort();
    }
    region_may_refuse(false);
    if (message)
        allocate_exception(message);
    runtime_urgent(runtime_of_process());
    siglongjmp(*catcher, 1);
}
