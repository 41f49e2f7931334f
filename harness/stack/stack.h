/* SPDX-License-Identifier: MIT
 *
 * A small stack of its own for the calls of a collector, with guards that nobody can access at both
 * ends: who needs more of it than there is, by recursion on what the program has made long, faults.
 *
 * What runs on it can have something done on the stack of whoever called it, so that what a
 * collector calls back needs none of its own.  A longjmp out of that is allowed: stack_abandon must
 * then be called before the next call.  AddressSanitizer is told of every switch.
 */
#ifndef ISOHEAP_HARNESS_STACK_H
#define ISOHEAP_HARNESS_STACK_H

#include <stdbool.h>
#include <stddef.h>

enum {
    STACK_KIB = 64,       /* for collectors with the trait shallow, if nobody says otherwise */
    STACK_KIB_LEAST = 16, /* a system's signals need some of it */
    STACK_KIB_MOST = 1 << 20
};

struct stack;

/* A stack of so many KiB.  NULL if the system refuses. */
struct stack *stack_open(size_t kib);
void stack_close(struct stack *); /* NULL: nothing */

/* body(argument) on that stack; in a call from within stack_back on the stack that it is called on.
 */
void stack_call(struct stack *, void (*body)(void *), void *argument);
/* body(argument) on the stack of whoever called stack_call, if one is under way, else on this one.
 */
void stack_back(struct stack *, void (*body)(void *), void *argument);
/* If a call has been left by longjmp, it will never be gone on with. */
void stack_abandon(struct stack *);

/* Does what was called run right now, and not what it has called back? */
bool stack_is_on(const struct stack *);
/* Does the address lie behind the end of the stack, where nobody can access it? */
bool stack_is_behind(const struct stack *, const void *address);
size_t stack_kib(const struct stack *);

#endif
