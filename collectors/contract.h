/* SPDX-License-Identifier: MIT
 *
 * What of a collector belongs together: functions that mean nothing without each other, and traits
 * that need a function or another trait.  Checked wherever a collector is opened: by the runner, by
 * `isoheap --plugin`, by `isoheap conformance`.
 */
#ifndef ISOHEAP_CONTRACT_H
#define ISOHEAP_CONTRACT_H

#include "collectors/collector.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The most masks that a collector may list: config.masks has a bit for each. */
enum { GC_MASKS = 32 };
/* The most variants and kinds: a program's config has a byte for each.  And of its name, which
 * stands in the names of files. */
enum { GC_NAMES = 256, GC_NAME_LENGTH = 64 };

/* What is missing, as a sentence that lasts: "the collector has only one of image and adopt".  NULL
 * if all is there.  Calls none of its functions. */
const char *contract_fault(const struct collector *);
/* The same of the traits alone, which may be those of one config: "trait infix needs start_env". */
const char *traits_fault(const struct collector *, const struct collector_traits *);
/* The same of a collector and of what it promises for each of its variants and kinds, under this
 * config.  Calls `promise`. */
const char *promises_fault(const struct collector *, const struct gc_config *);

/* ---- the table of collectors/traits.h ---------------------------------------------------------
 */

enum trait_number {
#define X(type, name, judge, needs, words, meaning) TRAIT_##name,
    COLLECTOR_TRAITS(X)
#undef X
        TRAITS
};
enum trait_type { TYPE_bool, TYPE_unsigned, TYPE_size_t, TYPE_gc_refusal };
struct trait {
    const char *name, *judge, *needs, *meaning; /* needs: in words, or "" */
    enum trait_type type;
};
extern const struct trait trait_table[TRAITS];
/* The member of that number, whatever its type. */
size_t trait_value(const struct collector_traits *, enum trait_number);
/* How many full collections these traits speak of: 1 at least. */
unsigned trait_full_collections(const struct collector_traits *);
/* "anytime", "no_free_block", "exactly". */
const char *refusal_name(gc_refusal);

#ifdef __cplusplus
}
#endif

#endif
