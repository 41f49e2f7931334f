/* SPDX-License-Identifier: MIT
 *
 * Before all else in each file of the runtime that has several domains: its threads are fibers
 * (collectors/threads/rename.h), and none of its files is changed.
 *
 * Its thread-local variables are put into a section of their own, whose bounds the linker knows, so
 * that they can be exchanged between two fibers, static ones too.  Who waits in a busy loop lets
 * others go on.
 */
#ifndef ISOHEAP_OCAML5_SCHEDULED_H
#define ISOHEAP_OCAML5_SCHEDULED_H

#include "collectors/threads/rename.h"

#define ISOHEAP_OWN_(collector) #collector "_own"
#define ISOHEAP_OWN(collector)  ISOHEAP_OWN_(collector)
#define _Thread_local __attribute__((section(ISOHEAP_OWN(ISOHEAP_COLLECTOR))))

#include <caml/platform.h>
#include <sched.h>
#include <signal.h>

#define cpu_relax() ((void)sched_yield())
/* There is one thread of the system, whose signals are the engine's. */
#define pthread_sigmask(how, set, old) 0

#endif
