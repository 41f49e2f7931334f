/* SPDX-License-Identifier: MIT
 *
 * Violation classes: what a verdict can say.  docs/oracles.md explains each.
 */
#ifndef ISOHEAP_VIOLATION_H
#define ISOHEAP_VIOLATION_H

/* What it means to the program: it goes wrong, or memory or time is wasted, or garbage stays, or
 * the collector says what is not so. */
enum violation_effect { EFFECT_wrong, EFFECT_waste, EFFECT_leak, EFFECT_lie, EFFECTS };

/* X(name, effect, meaning).  The order is part of no contract; the names are. */
#define VIOLATION_CLASSES(X)                                                                       \
    X(lost_object, wrong, "a reachable block is gone: freed, or never copied")                     \
    X(dangling_pointer, wrong, "a reachable word points at no block")                              \
    X(edge_changed, wrong, "a reachable pointer leads somewhere else")                             \
    X(data_changed, wrong, "an immediate or a raw word of a reachable block differs")              \
    X(tag_changed, wrong, "the tag of a reachable block differs")                                  \
    X(size_changed, wrong, "the size of a reachable block differs")                                \
    X(sharing_changed, wrong, "two blocks became one, or one became two")                          \
    X(ill_formed_heap, wrong, "the walk does not tile the heap, or a header is illegal")           \
    X(overlap, wrong, "two blocks share a word")                                                   \
    X(garbage_retained, leak,                                                                      \
      "an unreachable block survived the promised number of full collections")                     \
    X(wrong_colour, wrong, "a block is neither white nor blue after a cycle")                      \
    X(field_written, wrong, "a non-moving collector changed a field of a live block")              \
    X(free_list_corrupt, wrong,                                                                    \
      "the free list is cyclic, leaves the heap, or breaks its promises")                          \
    X(false_out_of_memory, waste,                                                                  \
      "refused an allocation although the promise says that it must fit")                          \
    X(heap_worn_out, leak, "a heap that has become empty does not serve what a fresh heap serves") \
    X(missed_out_of_memory, wrong, "allocated although live + request exceeds the heap")           \
    X(snapshot_lost, wrong,                                                                        \
      "a block of the snapshot, or allocated since, did not survive the cycle")                    \
    X(barrier_missed, wrong, "a store left a block of the snapshot without protection")            \
    X(refinement_broken, wrong, "a concrete step disagrees with its abstract counterpart")         \
    X(remembered_set_hole, wrong, "an old-to-young edge is not recorded at a minor collection")    \
    X(tricolour_broken, wrong, "a black block points to a white one that nothing grey protects")   \
    X(handshake_broken, wrong, "collector and mutators disagree on phase, flags or work-lists")    \
    X(mark_lost, wrong, "a mark or a grey block got lost between the marker and the work-list")    \
    X(layout_broken, wrong, "the heap's segments are not as its collector kind wants them")        \
    X(generation_order_broken, wrong,                                                              \
      "old data leads to new data, or a generation's start is no boundary")                        \
    X(heap_not_dense, waste, "after a compaction the free words are not one block at the end")     \
    X(order_changed, wrong, "a sliding collector changed the order of two blocks")                 \
    X(too_many_steps, waste,                                                                       \
      "a call takes more steps than its collector promises for such a heap")                       \
    X(too_many_collections, waste, "an allocation collects although there is room for it")         \
    X(nursery_unused, waste,                                                                       \
      "a block that has room in the young generation is old from the start")                       \
    X(age_ignored, waste, "a minor collection promotes a block before its age, or not at it")      \
    X(work_grows, waste, "the same calls take more steps each time")                               \
    X(memory_grows, leak, "the same calls leave more memory of malloc in use each time")           \
    X(no_progress, wrong, "more steps than the bound that the heap size allows")                   \
    X(deadlock, wrong, "no thread of the collector can go on, and a call waits for one")           \
    X(contract_broken, wrong,                                                                      \
      "where a phase of a collection ends, the heap is not as its contract says")                  \
    X(stack_broken, wrong, "the mark stack has not each gray block, or not once, or another one")  \
    X(promise_broken, lie,                                                                         \
      "a hook that is promised is not called, a count of events goes wrong, or a call has an "     \
      "answer that is none to it")                                                                 \
    X(told_wrong, lie, "what the collector tells of its work is not what it has done")             \
    X(collector_assertion, wrong, "the collector's own check failed")                              \
    X(sanitizer, wrong, "a sanitizer report or a crash inside the collector")

enum violation {
    VIOLATION_none,
#define X(name, effect, meaning) VIOLATION_##name,
    VIOLATION_CLASSES(X)
#undef X
        VIOLATION_classes
};

/* "lost_object"; "none" for VIOLATION_none. */
const char *violation_name(enum violation);
const char *violation_meaning(enum violation);
/* EFFECT_wrong for VIOLATION_none, which has none. */
enum violation_effect violation_effect(enum violation);
/* "wrong", "waste", "leak" or "lie". */
const char *effect_name(enum violation_effect);
/* The class of that name, VIOLATION_none for "none"; VIOLATION_classes if there is none. */
enum violation violation_named(const char *name);

#endif
