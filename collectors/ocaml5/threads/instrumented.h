/* SPDX-License-Identifier: MIT
 *
 * Before all else in each file of the runtime whose domains are threads of the system, instead of
 * its own caml/tsan.h: no function is left out of ThreadSanitizer's sight.
 *
 * The runtime leaves functions out that OCaml code calls, so that a race of OCaml code is told as
 * one; here their stores are what they are, with the order that they have.  What stays is that a
 * block's header is published by the order of dependent loads, which ThreadSanitizer does not know:
 * the runtime says so itself where it matters, and is believed.
 */
#ifndef CAML_TSAN_H
#define CAML_TSAN_H

#define CAMLno_tsan
#define CAMLno_tsan_for_perf

#if defined(__SANITIZE_THREAD__)
#define ISOHEAP_THREAD_SANITIZER 1
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define ISOHEAP_THREAD_SANITIZER 1
#endif
#endif

#ifdef ISOHEAP_THREAD_SANITIZER
void AnnotateHappensBefore(const char *file, int line, void *address);
void AnnotateHappensAfter(const char *file, int line, void *address);
#define CAML_TSAN_ANNOTATE_HAPPENS_BEFORE(at)                                                      \
    AnnotateHappensBefore(__FILE__, __LINE__, (void *)(at))
#define CAML_TSAN_ANNOTATE_HAPPENS_AFTER(at) AnnotateHappensAfter(__FILE__, __LINE__, (void *)(at))
#else
#define CAML_TSAN_ANNOTATE_HAPPENS_BEFORE(at)
#define CAML_TSAN_ANNOTATE_HAPPENS_AFTER(at)
#endif

#endif
