/* SPDX-License-Identifier: MIT
 *
 * The stages of a seeded fault (Hazimeh, Herrera and Payer, Magma, SIGMETRICS 2021): the patches in
 * faults/ carry the macro, the build puts this header in front of every file of a faulty collector,
 * and the sources themselves know nothing of it.
 *
 *   CANARY(condition)   the wrong line has been reached; where the condition holds, the state now
 *                       differs from that of the clean collector: the fault is triggered
 *
 * A canary must teach a fuzzer nothing: it has no branch of its own, and conditions join their
 * parts by & and | instead of && and ||.
 */
#ifndef ISOHEAP_CANARY_H
#define ISOHEAP_CANARY_H

/* Nothing is included here, since a source may define feature macros of the C library before it
 * includes anything. */

struct canary {
    unsigned long long reached, triggered; /* 0 or 1 */
};

/* Where the stages are noted: whoever loads the collector says where. */
extern struct canary *fault_canary;

#define CANARY(condition)                                                                          \
    ((void)(fault_canary->reached = 1, fault_canary->triggered |= (unsigned)((condition) != 0)))

struct collector;
struct fault_schedules; /* faults/schedules.h */
/* What the shared object of a fault exports, as `isoheap_fault`: either a collector, or the model
 * of the on-the-fly one, whose programs are schedules. */
struct fault_export {
    const struct collector *collector;
    const struct fault_schedules *schedules;
    struct canary **canary;
    /* Before anything else: the fault of that shared object's name, with folder and `.so`.  Several
     * are links to one object, and a process has one of them at a time; or those of a link
     * `a+b.so`, which must not change the same function.  0: there is none. */
    int (*choose)(const char *path);
};

#endif
