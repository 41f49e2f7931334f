/* SPDX-License-Identifier: MIT
 *
 * UNCHECKED: a function without sanitizers and coverage counters, for the innermost loops over
 * words of a range that the caller has checked.
 */
#ifndef ISOHEAP_UNCHECKED_H
#define ISOHEAP_UNCHECKED_H

#if defined(__clang__)
#define UNCHECKED __attribute__((no_sanitize("address", "undefined", "coverage")))
#elif defined(__GNUC__)
#define UNCHECKED __attribute__((no_sanitize_address, no_sanitize_undefined))
#else
#define UNCHECKED
#endif

#endif
