/* SPDX-License-Identifier: MIT
 *
 * What ThreadSanitizer is to know of the OCaml 5 runtime (docs/ocaml5.md).
 */
#include <stdatomic.h>
#include <stdint.h>

#ifdef __has_feature
#if __has_feature(thread_sanitizer)

/* The compiler calls these for each volatile access (-tsan-distinguish-volatile).  The runtime's
 * sources mean by a volatile access of a word an atomic one without order: that is what is told. */
#define VOLATILE(bytes, type)                                                                      \
    void __tsan_volatile_read##bytes(type *at);                                                    \
    void __tsan_volatile_write##bytes(type *at);                                                   \
    void __tsan_volatile_read##bytes(type *at) {                                                   \
        (void)atomic_load_explicit((_Atomic type *)at, memory_order_relaxed);                      \
    }                                                                                              \
    void __tsan_volatile_write##bytes(type *at) {                                                  \
        atomic_fetch_add_explicit((_Atomic type *)at, 0, memory_order_relaxed);                    \
    }
VOLATILE(1, uint8_t)
VOLATILE(2, uint16_t)
VOLATILE(4, uint32_t)
VOLATILE(8, uint64_t)

/* A report ends the process, which is how a test knows of it. */
const char *__tsan_default_options(void);
const char *__tsan_default_options(void) {
    return "halt_on_error=1";
}

/* The one order of locks that is two: whoever makes a domain has all_domains_lock and takes the
 * lock of that domain; a domain has its own lock, as long as it runs, and takes all_domains_lock.
 * They are never about one domain at once: what is made is none that runs. */
const char *__tsan_default_suppressions(void);
const char *__tsan_default_suppressions(void) {
    return "deadlock:domain_create\n";
}

#endif
#endif
