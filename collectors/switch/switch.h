/* SPDX-License-Identifier: MIT
 *
 * To go on at another place, on another stack: what setjmp and longjmp would be, were they allowed
 * to do that.
 *
 * On x86-64 a dozen instructions: swapcontext asks the system for the mask of signals each time,
 * which takes ten times as long as the call of a collector.  Elsewhere it is swapcontext.
 */
#ifndef ISOHEAP_SWITCH_H
#define ISOHEAP_SWITCH_H

#include <stddef.h>

#if defined(__x86_64__) && defined(__LP64__)

/* Where somebody stands who does not run: his registers lie on his stack. */
struct place {
    void *sp;
};

#else
#include <ucontext.h>

struct place {
    ucontext_t context;
};

#endif

/* Makes a place at which body(argument) begins, on that stack.  body must not return. */
void place_make(struct place *, void *bottom, size_t bytes, void (*body)(void *), void *argument);
/* Notes this place in *from and goes on at *to; returns when somebody goes on at *from. */
void place_switch(struct place *from, struct place *to);

#endif
