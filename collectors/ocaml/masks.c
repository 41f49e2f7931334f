/* SPDX-License-Identifier: MIT
 *
 * Known defects of the OCaml runtime, and in which versions they are (docs/ocaml.md).
 */
#include "collectors/ocaml/internal.h"

#include <string.h>

#include <caml/version.h>

/* X(mask, name, first version without the defect, meaning): there the mask does nothing.  The
 * tables of docs/ocaml.md and docs/ocaml5.md have the versions. */
/* clang-format off */
#if OCAML_VERSION < 50000
#define MASKS(X)                                                                                   \
    X(MASK_TRUNCATE, "truncate-marking", 41400,                                                    \
      "a cycle is finished before Obj.truncate of a block that waits on the mark stack, and what " \
      "leads from a white one to itself is erased before: it is scanned beyond its new end")       \
    X(MASK_INFIX_KEY, "infix-key", 41405,                                                          \
      "the closure stands in for a key that is an infix pointer: marking takes it for dead, and "  \
      "the data of a live ephemeron is freed")                                                     \
    X(MASK_EPHEMERON, "ephemeron-marking", 41400,                                                  \
      "a cycle is finished before an ephemeron is changed that marking has looked at: it is not "  \
      "looked at again")                                                          \
    X(MASK_MEASURE, "measure-unshared", 41400,                                                     \
      "Obj.reachable_words is not called after a marshalling without sharing: it uses the flags "  \
      "of that")                                                                                   \
    X(MASK_FRAGMENT, "truncate-fragment", 50000,                                                   \
      "a single word that Obj.truncate leaves is made a white header: the check of the heap in "   \
      "the debugging build takes a black one for an error")                                        \
    X(MASK_OVERHEAD, "infinite-overhead", 50000,                                                   \
      "the messages of a compaction are not put together: the overhead of a heap without a live "  \
      "block is infinite, and is converted to an integer")                                         \
    X(MASK_YOUNG_KEY, "young-key", 50000,                                                          \
      "the minor heap is emptied before a lazy block is forced to a young one, or set as a key, "  \
      "while a cycle marks: the key is led to it, and no minor collection knows")
#else
#define MASKS(X)                                                                                   \
    X(MASK_EPHEMERON, "ephemeron-marking", 50400,                                                  \
      "a cycle that has looked at ephemerons is finished before one is changed: it is not looked " \
      "at again")                                                                                  \
    X(MASK_COPY, "copy-custom", 50400,                                                             \
      "what Weak.get_copy gives is darkened: a custom block is given as it is, and may be freed")  \
    X(MASK_COPY_ABSTRACT, "copy-abstract", 50400,                                                  \
      "abstract blocks are copied by Obj.dup: Weak.get_copy takes their words for values")         \
    X(MASK_FORWARD_KEY, "forward-key", 50400,                                                      \
      "a full collection counts as refused while a key is a Forward block that marking takes for " \
      "alive: it keeps an ephemeron's data that alone leads to the key")                           \
    X(MASK_COPY_ROOT, "copy-root", 50400,                                                          \
      "what Weak.get_copy copies is darkened before: it stays in a local root, and may be freed")  \
    X(MASK_COMPACT_COUNTS, "compact-counts", 50400,                                                \
      "before a compaction all functions of Gc.finalise have run: what they make garbage in it, "  \
      "in a pool that is emptied, is counted as live for ever")                                    \
    X(MASK_BLIT_DATA, "blit-data", 50400,                                                          \
      "the data that Ephemeron.K1.blit_data copies is darkened before: it darkens data that is "   \
      "unmarked through a null pointer")                                                           \
    X(MASK_YOUNG_KEY, "young-key", 50400,                                                          \
      "the minor heap is emptied before a lazy block is forced to a young one, or set as a key, "  \
      "while a cycle marks: the key is led to it, and no minor collection knows")                  \
    X(MASK_KEY_COLOUR, "key-colour", 50400,                                                        \
      "the minor heap is emptied before a key is set, in one cycle of three: marking takes a "     \
      "young key for dead, since young blocks have the colour of unmarked ones, and frees the "    \
      "data")                                                                                      \
    X(MASK_ENDING, "ending-sweep", 50400,                                                          \
      "a cycle that sweeps ephemerons is finished before a domain ends: one that has swept some "  \
      "of its own is never counted as done, and the cycle never ends")                          \
    X(MASK_EMPTY_HEAP, "empty-heap", 50400,                                                        \
      "with several domains custom blocks claim no memory: one that another domain promotes is "   \
      "measured by the heap of its own, and 0 / 0 is converted to an integer")                    \
    X(MASK_INFIX_PROMOTED, "infix-promoted", 50500,                                                \
      "with several domains closures are never young: while one is promoted a pointer into it "    \
      "leads to a place without a header, and another domain may mark there")                      \
    X(MASK_LAST, "finalise-last", 50300,                                                           \
      "the minor heap is emptied before Gc.finalise_last is asked for: of young blocks that die, " \
      "and old ones, a minor collection counts others than it takes")                              \
    X(MASK_SAMPLED_DEATH, "sampled-death", 50400,                                                  \
      "with several domains the deaths that Gc.Memprof tells of are not counted: a domain tells "  \
      "of its young blocks before the others have promoted all of them")                           \
    X(MASK_YOUNG_TRIGGER, "young-trigger", 50400,                                                  \
      "in the debugging build Gc.Memprof samples no young block of the largest size: one is more " \
      "than half of the smallest minor heap, and lies below a trigger that an assertion has above")
#endif
/* clang-format on */

const struct gc_mask ocaml_masks[] = {
#define X(mask, name, repaired, meaning) {name, meaning},
    MASKS(X)
#undef X
        {NULL, NULL},
};

static const struct {
    enum mask mask;
    int repaired;
} defects[] = {
#define X(mask, name, repaired, meaning) {mask, repaired},
    MASKS(X)
#undef X
};

bool has_mask(const struct gc_config *config, enum mask mask) {
    for (unsigned n = 0; n < sizeof defects / sizeof *defects; n++)
        if (defects[n].mask == mask)
            return OCAML_VERSION < defects[n].repaired && (config->masks >> n & 1);
    return false;
}

bool is_masked(const struct gc *g, enum mask mask) {
    return has_mask(&g->config, mask);
}

void ocaml_promise(const struct gc_config *config, struct collector_traits *traits) {
    traits->closure_keys = has_mask(config, MASK_INFIX_KEY);
}

int evaluates_messages; /* messages.h: in OCaml 4 */

void extras_reset(struct gc *g) {
    g->unshared = g->unsampled = g->truncated = g->finalises = g->stale = g->starving = false;
    memset(g->hands, 0, sizeof g->hands);
    evaluates_messages = !is_masked(g, MASK_OVERHEAD);
}
