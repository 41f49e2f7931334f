/* SPDX-License-Identifier: MIT
 *
 * To go on at another place, on another stack (switch.h).
 */
#define _GNU_SOURCE /* ucontext */
#include "collectors/switch/switch.h"

#include <stdint.h>

#if defined(__x86_64__) && defined(__LP64__)

/* System V's rules: a function may change all registers but rbx, rbp, r12 to r15 and rsp.  The
 * control words of floating point are the same on all stacks. */
void switch_stacks(void **from, void *to);
void switch_first(void);

__asm__(".text\n"
        ".hidden switch_stacks\n"
        ".globl switch_stacks\n"
        ".type switch_stacks, @function\n"
        "switch_stacks:\n"
        "    .cfi_startproc\n"
        "    pushq %rbp\n"
        "    pushq %rbx\n"
        "    pushq %r12\n"
        "    pushq %r13\n"
        "    pushq %r14\n"
        "    pushq %r15\n"
        "    movq %rsp, (%rdi)\n"
        "    movq %rsi, %rsp\n"
        "    popq %r15\n"
        "    popq %r14\n"
        "    popq %r13\n"
        "    popq %r12\n"
        "    popq %rbx\n"
        "    popq %rbp\n"
        "    retq\n"
        "    .cfi_endproc\n"
        ".size switch_stacks, . - switch_stacks\n"
        /* Where a new place begins: body in r12, argument in r13.  Nobody has called it, and a
         * trace of the stack ends here. */
        ".hidden switch_first\n"
        ".globl switch_first\n"
        ".type switch_first, @function\n"
        "switch_first:\n"
        "    .cfi_startproc\n"
        "    .cfi_undefined %rip\n"
        "    movq %r13, %rdi\n"
        "    callq *%r12\n"
        "    ud2\n"
        "    .cfi_endproc\n"
        ".size switch_first, . - switch_first\n");

/* What switch_stacks takes from a stack, lowest address first. */
struct saved {
    uint64_t r15, r14, r13, r12, rbx, rbp, rip;
    uint64_t end[2]; /* nobody's return address */
};
_Static_assert(offsetof(struct saved, end) % 16 == 8 && sizeof(struct saved) % 16 == 8,
               "the top of a stack is a multiple of 16, and so is rsp before a call");

void place_make(struct place *p, void *bottom, size_t bytes, void (*body)(void *), void *argument) {
    struct saved *s = (struct saved *)(void *)((char *)bottom + bytes) - 1;
    *s = (struct saved){.r12 = (uint64_t)(uintptr_t)body,
                        .r13 = (uint64_t)(uintptr_t)argument,
                        .rip = (uint64_t)(uintptr_t)switch_first};
    p->sp = s;
}

void place_switch(struct place *from, struct place *to) {
    switch_stacks(&from->sp, to->sp);
}

#else

/* makecontext hands over numbers of 32 bits. */
static void first(unsigned body_high, unsigned body_low, unsigned high, unsigned low) {
    uintptr_t body = (uintptr_t)body_high << 32 | body_low;
    ((void (*)(void *))body)((void *)((uintptr_t)high << 32 | low));
}

void place_make(struct place *p, void *bottom, size_t bytes, void (*body)(void *), void *argument) {
    uintptr_t b = (uintptr_t)body, a = (uintptr_t)argument;
    getcontext(&p->context);
    p->context.uc_stack.ss_sp = bottom;
    p->context.uc_stack.ss_size = bytes;
    p->context.uc_link = NULL;
    makecontext(&p->context, (void (*)(void))first, 4, (unsigned)(b >> 32), (unsigned)b,
                (unsigned)(a >> 32), (unsigned)a);
}

void place_switch(struct place *from, struct place *to) {
    swapcontext(&from->context, &to->context);
}

#endif
