/* SPDX-License-Identifier: MIT
 *
 * Traits: what a collector promises, and so which oracles apply to it.
 *
 * A row is all that a trait is: the member of struct collector_traits, its lines in `isoheap list`,
 * the check that a collector has what the trait needs (collectors/contract.h), and its row in
 * docs/collectors.md, which a test compares.
 */
#ifndef ISOHEAP_TRAITS_H
#define ISOHEAP_TRAITS_H

#include <stdbool.h>
#include <stddef.h>

/* The most that two of them may say: what a walk covers has a place in the harness, and full
 * collections are called one after the other. */
enum { GC_NURSERY_WORDS = 8192, GC_FULL_COLLECTIONS = 16 };

/* When may an allocation be refused? */
typedef enum gc_refusal {
    REFUSES_ANYTIME,       /* no promise */
    REFUSES_NO_FREE_BLOCK, /* only if after a full collection no free block is large enough */
    REFUSES_EXACTLY        /* if and only if live + request exceeds the heap */
} gc_refusal;

/* X(type, name, judge, needs, words, meaning)
 *
 * judge    the step of `isoheap conformance` that finds the promise broken; where there can be
 *          none, the oracle; for a trait that promises less, the one that it holds back
 * needs    what must hold where the trait is set: c is the collector, t its traits
 * words    the same for people, behind "trait NAME needs"; "" if it needs nothing
 * meaning  one sentence */
/* clang-format off */
#define COLLECTOR_TRAITS(X)                                                                        \
    X(bool, moves, stays, true, "",                                                                \
      "blocks may move: addresses mean nothing after a safepoint")                                 \
    X(bool, slides, slides, t->moves, "moves",                                                     \
      "blocks that move keep the order of their addresses")                                        \
    X(bool, compacts, compacts, c->collect && c->walk, "the functions collect and walk",           \
      "GC_COMPACT leaves the reachable blocks without a gap, then one free block")                 \
    X(bool, infix, infix, t->start_env, "start_env",                                               \
      "takes infix pointers: closures with several functions")                                     \
    X(bool, start_env, start_env, true, "",                                                        \
      "skips the words of a closure before the start of its environment")                          \
    X(bool, raw, raw, true, "",                                                                    \
      "skips blocks with a tag of 251 (TAG_NO_SCAN) or more")                                      \
    X(unsigned, lacks_raw, raw, t->raw && t->lacks_raw < 32 && (t->lacks_raw | 4) != 31 &&         \
      !(c->extras && t->lacks_raw & 16),                                                           \
      "raw, and one of the tags 251, 252, 254, 255 to be left: 255 where there are extras",        \
      "no-scan tags that it has not: the sum of 1 for 251 (TAG_ABSTRACT), 2 for 252, 4, 8, 16 for 255") \
    X(unsigned, own_tags, isomorphism, t->own_tags < TAG_LAZY, "to be 245 at most",                       \
      "tags from this one to 245 are its own: programs have blocks with tag 0 instead; 0: none")   \
    X(bool, outside, outside, true, "",                                                            \
      "tolerates even words that point outside the heap, and static blocks")                       \
    X(bool, statics, statics, !t->outside, "outside, which has them too, to be off",               \
      "tolerates static blocks, which have a black header, and takes them for its own; no other word outside") \
    X(bool, any_word, any_word, t->outside, "outside",                                             \
      "those words may have any even bits: null, ends other than 000, doubles, just beside the heap") \
    X(bool, atoms, atoms, t->outside || t->statics, "outside or statics",                          \
      "an even word may lead to a block outside the heap that has a header and no field")          \
    X(bool, poisons, poisons, true, "",                                                            \
      "dead memory is poisoned through the hooks")                                                 \
    X(bool, ticks, ticks, c->collect, "the function collect",                                      \
      "a collection calls gc_tick for every block that it looks at, at least")                     \
    X(unsigned, linear, linear, t->ticks && c->walk, "ticks and the function walk",                 \
      "a call takes at most so many steps for each word in use, gap and slot; 0: no promise") \
    X(bool, rescans, linear, t->linear, "linear",                                                  \
      "the heap may be looked at once more for each `mark-stack` blocks")                          \
    X(unsigned, paced, paced, t->linear && t->slices, "linear and slices",                          \
      "a slice takes at most so many steps for each word of its budget and for two more and, if it" \
      " begins a cycle, each slot; 0: no promise")                                                 \
    X(bool, waits, waits, c->walk, "the function walk",                                            \
      "an allocation collects only if there is no room for it: in a free block, or in the nursery") \
    X(bool, steady, steady, c->collect && t->full_until_exact, "collect and full_until_exact",      \
      "the same calls, again and again, take no more steps and no more memory each time")          \
    X(bool, tells_phases, tells_phases, c->mark_stack && c->collect && c->walk,                    \
      "the functions mark_stack, collect and walk",                                                \
      "hooks->phase is told of the ends of phases, and mark_stack shows what is gray in between")  \
    X(unsigned, tells, tells, c->walk && c->collect && t->tells < 2u << GC_TELLS_FILL,             \
      "the functions walk and collect, and to be 127 at most",                                     \
      "what gc_tell is told of without exception: the sum of 1 for blocks that are marked, 2 set aside,"  \
      " 4 scanned, 8 moved, 16 forwarded, 32 swept, and 64 for how full stores are")               \
    X(bool, conservative, reuse, !t->full_until_exact, "full_until_exact to be 0",                 \
      "may keep more than the reachable blocks: soundness alone is promised")                      \
    X(bool, shallow, shallow, !t->conservative, "conservative to be off: it scans the stack",       \
      "a call needs no more than 64 KiB of stack, whatever the program has made long or deep")     \
    X(bool, whitens, whitens, c->walk, "the function walk",                                        \
      "after a cycle every block is white or blue")                                                \
    X(bool, free_list, free_list, c->walk, "the function walk",                                    \
      "walk visits a free list, and every free block is on it")                                    \
    X(bool, sorted_free_list, free_list, t->free_list, "free_list",                                \
      "the free list is in address order")                                                         \
    X(bool, merged_free_list, free_list, t->free_list, "free_list",                                \
      "after a full collection no two free extents are neighbours")                                \
    X(bool, always_merged, always_merged, c->walk, "the function walk",                            \
      "no two free blocks are ever neighbours, and none may be in an initial heap")                \
    X(bool, solid_end, solid_end, c->walk, "the function walk",                                    \
      "the heap never ends with a fragment, and no initial heap may")                              \
    X(bool, fragment_tags, walk, c->walk, "the function walk",                                     \
      "a fragment may have any tag: that of a block which was there")                              \
    X(unsigned, full_until_exact, exact,                                                           \
      c->collect && c->walk && t->full_until_exact <= GC_FULL_COLLECTIONS,                         \
      "the functions collect and walk, and to be 16 (GC_FULL_COLLECTIONS) at most",                \
      "so many full collections leave exactly the reachable blocks; 0: no promise")                \
    X(unsigned, acyclic_until_exact, acyclic,                                                      \
      c->collect && c->walk && t->acyclic_until_exact <= GC_FULL_COLLECTIONS,                      \
      "the functions collect and walk, and to be 16 (GC_FULL_COLLECTIONS) at most",                \
      "so many full collections leave no garbage but cycles and what hangs on them; 0: no promise") \
    X(size_t, most_retained, retained, c->collect && c->walk && t->conservative,                   \
      "conservative, and the functions collect and walk",                                          \
      "a full collection leaves unreachable blocks of so many words at most; 0: no promise")       \
    X(bool, shares_values, isomorphism,                                                            \
      c->writable && t->moves && !c->young && !c->extras && !t->compacts && !t->slides &&          \
      t->refusal != REFUSES_EXACTLY,                                                               \
      "the function writable, moves, refusal to be another than exactly, and none of generations,"  \
      " extras, compacts, slides",                                                                 \
      "equal blocks that may not be written may become one in a collection, and one several")      \
    X(bool, slices, slices, c->step && c->cycle && c->walk, "the functions step, cycle and walk",  \
      "slices alone, without a mutator in between, begin and end cycles until no garbage is left") \
    X(bool, renews, renews, t->full_until_exact, "full_until_exact",                               \
      "a heap that has become empty serves what a fresh heap serves")                              \
    X(gc_refusal, refusal, refuses, t->refusal != REFUSES_NO_FREE_BLOCK || c->walk,                \
      "the function walk",                                                                         \
      "when an allocation may be refused: anytime; no_free_block: only if after a full collection" \
      " no free block is large enough; exactly: if and only if live + request exceeds the heap")   \
    X(bool, may_refuse, answers, true, "",                                                         \
      "load, store, blit, collect, step and switch_kind may be refused for want of memory too, and" \
      " have then done nothing but perhaps collected")                                             \
    X(size_t, max_wosize, max_wosize, t->max_wosize <= header_wosize(~(word)0),                     \
      "to be 2^54 - 1 at most, which a header has room for",                                       \
      "the largest block, in fields; 0: as much as the heap holds")                                \
    X(unsigned, word_bits, word_bits,                                                              \
      t->word_bits >= 8 && t->word_bits < 64 && !t->outside && !t->start_env,                      \
      "to be 8 to 63, and outside and start_env to be off",                                        \
      "bits of its own words: raw ones have as many, immediates one less; 0: 64")                  \
    X(size_t, grows_to, grows, c->walk && !t->nursery_words,                                       \
      "the function walk, and nursery_words to be 0",                                              \
      "words that the heap may grow to, behind those of the config; 0: it does not grow")          \
    X(size_t, max_heap_words, large, true, "",                                                     \
      "the largest heap, in words; 0: as large as a program says, 2^27 at most")                   \
    X(bool, single, beside, true, "",                                                              \
      "one state in a process: it is not compared with itself")                                    \
    X(unsigned, max_mutators, roots, t->max_mutators <= GC_MUTATORS, "to be 4 (GC_MUTATORS) at most", \
      "how many mutators there may be, at least 1")                                                \
    X(size_t, nursery_words, nursery, c->walk && t->nursery_words <= GC_NURSERY_WORDS,             \
      "the function walk, and to be 8192 (GC_NURSERY_WORDS) at most",                              \
      "words of the young generation, which walk covers too, behind those of the heap")            \
    X(bool, black_young, black_young, c->young && c->walk && !t->tells_phases,                     \
      "the functions young and walk, and tells_phases to be off",                                  \
      "young blocks are black, whatever the old generation does")                                  \
    X(bool, exact_minor, exact_minor, c->young && c->walk, "the functions young and walk",         \
      "a minor collection keeps no young block that it need not keep")                             \
    X(bool, remembered_once, remembered, c->young && c->remembered,                                \
      "the functions young and remembered",                                                        \
      "remembered visits no field twice")                                                          \
    X(bool, young_first, young_first, c->young && c->walk, "the functions young and walk",         \
      "a block of fewer than `large` words that has room in the nursery is young")                 \
    X(bool, ages, ages, c->young && c->walk, "the functions young and walk",                       \
      "a block is promoted by the minor collection behind as many as `age` says, and by none before") \
    X(bool, closure_keys, extras, c->extras, "extras",                                             \
      "the key of an ephemeron is a whole block: the closure of an infix pointer")                 \
    X(bool, forwards, extras, c->extras, "extras",                                                 \
      "a pointer to a block with tag 250 (TAG_FORWARD) may become its field at any time")          \
    X(bool, refines, refinement, !t->refines_words, "refines_words to be off: there is one hook",  \
      "shows hooks->refinement its states, as collectors/tower/levels.h has them")                 \
    X(bool, refines_words, refinement, !t->refines, "refines to be off: there is one hook",        \
      "shows hooks->refinement its states, as collectors/cakeml/levels.h has them")
/* clang-format on */

#endif
