/* SPDX-License-Identifier: MIT
 *
 * Violation classes: what a verdict can say.  docs/oracles.md explains each.
 */
#ifndef ISOHEAP_VIOLATION_H
#define ISOHEAP_VIOLATION_H

/* X(name, meaning).  The order is part of no contract; the names are. */
#define VIOLATION_CLASSES(X)                                                                       \
    X(lost_object, "a reachable block is gone: freed, or never copied")                            \
    X(dangling_pointer, "a reachable word points at no block")                                     \
    X(edge_changed, "a reachable pointer leads somewhere else")                                    \
    X(data_changed, "an immediate or a raw word of a reachable block differs")                     \
    X(tag_changed, "the tag of a reachable block differs")                                         \
    X(size_changed, "the size of a reachable block differs")                                       \
    X(sharing_changed, "two blocks became one, or one became two")                                 \
    X(ill_formed_heap, "the walk does not tile the heap, or a header is illegal")                  \
    X(overlap, "two blocks share a word")                                                          \
    X(garbage_retained, "an unreachable block survived the promised number of full collections")   \
    X(wrong_colour, "a block is neither white nor blue after a cycle")                             \
    X(field_written, "a non-moving collector changed a field of a live block")                     \
    X(free_list_corrupt, "the free list is cyclic, leaves the heap, or breaks its promises")       \
    X(false_out_of_memory, "refused an allocation although the promise says that it must fit")     \
    X(heap_worn_out, "a heap that has become empty does not serve what a fresh heap serves")       \
    X(missed_out_of_memory, "allocated although live + request exceeds the heap")                  \
    X(snapshot_lost, "a block of the snapshot, or allocated since, did not survive the cycle")     \
    X(barrier_missed, "a store left a block of the snapshot without protection")                   \
    X(refinement_broken, "a concrete step disagrees with its abstract counterpart")                \
    X(remembered_set_hole, "an old-to-young edge is not recorded at a minor collection")           \
    X(tricolour_broken, "a black block points to a white one that nothing grey protects")          \
    X(handshake_broken, "collector and mutators disagree on phase, flags or work-lists")           \
    X(mark_lost, "a mark or a grey block got lost between the marker and the work-list")           \
    X(layout_broken, "the heap's segments are not as its collector kind wants them")               \
    X(generation_order_broken,                                                                     \
      "old data leads to new data, or a generation's start is no boundary")                        \
    X(heap_not_dense, "after a compaction the free words are not one block at the end")            \
    X(order_changed, "a sliding collector changed the order of two blocks")                        \
    X(too_many_steps, "a call takes more steps than its collector promises for such a heap")       \
    X(too_many_collections, "an allocation collects although there is room for it")                \
    X(nursery_unused, "a block that has room in the young generation is old from the start")       \
    X(age_ignored, "a minor collection promotes a block before its age, or not at it")             \
    X(work_grows, "the same calls take more steps each time")                                      \
    X(memory_grows, "the same calls leave more memory of malloc in use each time")                 \
    X(no_progress, "more steps than the bound that the heap size allows")                          \
    X(contract_broken, "where a phase of a collection ends, the heap is not as its contract says") \
    X(stack_broken, "the mark stack has not each gray block, or not once, or another one")         \
    X(promise_broken, "a hook that is promised is not called, a count of events goes wrong, or a " \
                      "call has an answer that is none to it")                                     \
    X(collector_assertion, "the collector's own check failed")                                     \
    X(sanitizer, "a sanitizer report or a crash inside the collector")

enum violation {
    VIOLATION_none,
#define X(name, meaning) VIOLATION_##name,
    VIOLATION_CLASSES(X)
#undef X
        VIOLATION_classes
};

/* "lost_object"; "none" for VIOLATION_none. */
const char *violation_name(enum violation);
const char *violation_meaning(enum violation);
/* The class of that name, VIOLATION_none for "none"; VIOLATION_classes if there is none. */
enum violation violation_named(const char *name);

#endif
