/* SPDX-License-Identifier: MIT
 *
 * What of a collector belongs together (contract.h).
 */
#define _POSIX_C_SOURCE 200809L
#include "collectors/contract.h"

#include <ctype.h>
#include <string.h>

_Static_assert(sizeof(bool) == 1 && sizeof(gc_refusal) == sizeof(unsigned), "read as bytes");

/* ---- functions --------------------------------------------------------------------------------
 */

/* It stands in commands, file names and C. */
static bool is_plain(const char *name) {
    for (const char *s = name; *s; s++)
        if (!isalnum((unsigned char)*s) && *s != '_' && *s != '-')
            return false;
    return true;
}

static bool are_complete(const struct gc_extras *x) {
    return x->ephemeron && x->set && x->unset && x->get && x->blit && x->resource && x->forward &&
           x->finalise && x->marshal && x->measure;
}

static unsigned count(const char *const *names) {
    unsigned n = 0;
    while (names && n <= GC_NAMES && names[n])
        n++;
    return n;
}

static bool fit_the_config(const struct gc_mask *masks) {
    unsigned n = 0;
    while (n <= GC_MASKS && masks[n].name)
        n++;
    return n <= GC_MASKS;
}

/* X(what must hold of the collector c, what is wrong if it does not), in the order in which it is
 * looked at. */
#define CONTRACT(X)                                                                                \
    X(c->name && c->name[0] && c->summary, "the collector has no name or no summary")              \
    X(is_plain(c->name),                                                                           \
      "the collector's name has other characters than letters, digits, _ and -")                   \
    X(strnlen(c->name, GC_NAME_LENGTH + 1) <= GC_NAME_LENGTH,                                      \
      "the collector's name is longer than 64 characters (GC_NAME_LENGTH)")                        \
    X(c->open && c->reset && c->close && c->alloc,                                                 \
      "the collector lacks one of the functions that none can do without: open, reset, close, "    \
      "alloc")                                                                                     \
    X(!c->image == !c->adopt, "the collector has only one of image and adopt; they belong "        \
                              "together")                                                          \
    X(!c->attach == !c->detach, "the collector has only one of attach and detach; they belong "    \
                                "together")                                                        \
    X(!c->settled || c->poll, "the collector has the function settled, but no function poll that " \
                              "would lead there")                                                  \
    X(!c->young == !c->remembered, "the collector has only one of young and remembered; they "     \
                                   "belong together")                                              \
    X(!c->cycle || c->step, "the collector has the function cycle, but no function step whose "    \
                            "cycle it could be")                                                   \
    X(!c->switch_kind || c->kinds, "the collector has the function switch_kind, but no kinds")     \
    X(count(c->variants) <= GC_NAMES, "the collector has more than 256 variants (GC_NAMES)")       \
    X(count(c->kinds) <= GC_NAMES, "the collector has more than 256 kinds (GC_NAMES)")             \
    X(!c->extras || are_complete(c->extras),                                                       \
      "the collector's extras lack one of their functions; they belong together, all of them")     \
    X(!c->masks || fit_the_config(c->masks), "the collector has more than 32 masks (GC_MASKS)")    \
    X(c->traits.max_mutators >= 1, "the trait max_mutators is 0; it is 1 at least")

const char *contract_fault(const struct collector *c) {
#define X(holds, otherwise)                                                                        \
    if (!(holds))                                                                                  \
        return otherwise;
    CONTRACT(X)
#undef X
    return traits_fault(c, &c->traits);
}

/* ---- traits -----------------------------------------------------------------------------------
 */

/* Is that a value of its type?  Looked at as bytes: to load another one is undefined. */
static bool bool_is_legal(const void *value) {
    unsigned char byte;
    memcpy(&byte, value, sizeof byte);
    return byte <= 1;
}
static bool gc_refusal_is_legal(const void *value) {
    unsigned number;
    memcpy(&number, value, sizeof number);
    return number <= REFUSES_EXACTLY;
}
static bool unsigned_is_legal(const void *value) {
    return value;
}
static bool size_t_is_legal(const void *value) {
    return value;
}

const char *traits_fault(const struct collector *c, const struct collector_traits *t) {
#define X(type, name, judge, needs, words, meaning)                                                \
    if (!type##_is_legal(&t->name))                                                                \
        return "trait " #name " has a value that its type has not";
    COLLECTOR_TRAITS(X)
#undef X
#define X(type, name, judge, needs, words, meaning)                                                \
    if (t->name && !(needs))                                                                       \
        return "trait " #name " needs " words;
    COLLECTOR_TRAITS(X)
#undef X
    return NULL;
}

const char *promises_fault(const struct collector *c, const struct gc_config *config) {
    const char *fault = contract_fault(c);
    if (fault)
        return fault;
    unsigned n_variants = count(c->variants), n_kinds = count(c->kinds);
    unsigned variants = n_variants ? n_variants : 1, all = variants * (n_kinds ? n_kinds : 1);
    for (unsigned n = 0; !fault && c->promise && n < all; n++) {
        struct gc_config one = *config;
        struct collector_traits promised = c->traits;
        one.variant = n % variants;
        one.kind = n / variants;
        c->promise(&one, &promised);
        fault = traits_fault(c, &promised);
    }
    return fault;
}

const struct trait trait_table[TRAITS] = {
#define X(type, name, judge, needs, words, meaning) {#name, #judge, words, meaning, TYPE_##type},
    COLLECTOR_TRAITS(X)
#undef X
};

size_t trait_value(const struct collector_traits *t, enum trait_number number) {
    const size_t values[TRAITS] = {
#define X(type, name, judge, needs, words, meaning) (size_t) t->name,
        COLLECTOR_TRAITS(X)
#undef X
    };
    return values[number];
}

unsigned trait_full_collections(const struct collector_traits *t) {
    unsigned n =
        t->full_until_exact > t->acyclic_until_exact ? t->full_until_exact : t->acyclic_until_exact;
    return n > 1 ? n : 1;
}

const char *refusal_name(gc_refusal refusal) {
    static const char *const names[] = {[REFUSES_ANYTIME] = "anytime",
                                        [REFUSES_NO_FREE_BLOCK] = "no_free_block",
                                        [REFUSES_EXACTLY] = "exactly"};
    return names[refusal];
}
