/* SPDX-License-Identifier: MIT
 *
 * The table of known-bad collectors: each is `source` with one defect, which raises the violation
 * class.  A row makes FAULT_<defect> (collectors/faults.h), the collector bad_<defect>, and its
 * fuzz target: a new one is a row, FAULTY(<defect>) in collectors/<source>/, and a program that
 * shows it, crashes/<class>/bad_<defect>.txt.
 *
 * X(source, defect, violation, what is wrong)
 */
#ifndef ISOHEAP_KNOWN_BAD_TABLE_H
#define ISOHEAP_KNOWN_BAD_TABLE_H

/* clang-format off */
#define KNOWN_BAD(X) \
    X(mark_sweep, infix_root, lost_object, "a root that is an infix pointer colours the infix header, never its closure") \
    X(mark_sweep, stale_next_fit, sanitizer, "the next-fit position goes stale when sweep merges its block") \
    X(mark_sweep, lost_fragments, heap_worn_out, "one-word fragments are never merged again") \
    X(mark_sweep, lost_overflow, lost_object, "blocks that a full mark stack drops are forgotten") \
    X(mark_sweep, small_retained, garbage_retained, "sweep keeps dead blocks of one field") \
    X(mark_sweep, raw_stays_black, wrong_colour, "sweep forgets to whiten no-scan blocks") \
    X(mark_sweep, mark_writes, field_written, "mark writes into the first field of a block") \
    X(mark_sweep, open_list, free_list_corrupt, "the last free block keeps a stale link") \
    X(mark_sweep, no_wrap, false_out_of_memory, "next-fit does not wrap around at the end of the list") \
    X(mark_sweep, short_split, ill_formed_heap, "the rest of a split block claims one word too many") \
    X(mark_sweep, no_fragment, ill_formed_heap, "the header of a one-word rest claims a field") \
    X(mark_sweep, endless_rescan, no_progress, "the re-scan after an overflow never ends") \
    X(mark_sweep, stack_not_empty, collector_assertion, "a cycle leaves an entry on the mark stack") \
    X(mark_sweep, follows_code, sanitizer, "mark follows the code pointers of a closure") \
    X(mark_sweep, short_range, lost_object, "the range to scan again after an overflow is not extended upwards") \
    X(mark_sweep, lost_chunk, lost_object, "a new chunk of the mark stack is not linked to the one below") \
    X(incremental, no_barrier, barrier_missed, "stores have no deletion barrier") \
    X(incremental, white_in_mark, wrong_colour, "blocks are allocated white while marking") \
    X(incremental, white_ahead, wrong_colour, "blocks are allocated white ahead of the sweep cursor") \
    X(incremental, black_behind, wrong_colour, "blocks are allocated black behind the sweep cursor") \
    X(incremental, half_snapshot, snapshot_lost, "half of the roots are darkened only when marking seems to be over") \
    X(incremental, stale_cursor, snapshot_lost, "sweep trusts the size that the next free block had before an allocation") \
    X(incremental, run_kept, snapshot_lost, "sweep goes on merging a free block that an allocation has cut") \
    X(incremental, endless_slice, no_progress, "a slice with budget 0 does not end") \
    X(incremental, overflow_in_slice, wrong_colour, "an overflow of the mark stack is forgotten between two slices") \
    X(incremental, half_full, garbage_retained, "a full collection only finishes the cycle that is under way") \
    X(incremental, barrier_severs, edge_changed, "the barrier clears a pointer in the block that it darkens") \
    X(incremental, barrier_rounds, data_changed, "the barrier clears an immediate in the block that it darkens") \
    X(generational, unrecorded_store, remembered_set_hole, "the write barrier records nothing") \
    X(generational, init_unrecorded, remembered_set_hole, "an initialising store into an old block is not recorded") \
    X(generational, promoted_unrecorded, remembered_set_hole, "a promoted block's young fields are not recorded") \
    X(generational, promoted_unscanned, lost_object, "the fields of promoted blocks are not looked at") \
    X(generational, young_infix_lost, edge_changed, "an infix pointer to a young closure becomes one to its start") \
    X(generational, stale_entry, sanitizer, "remembered fields of dead old blocks stay in the set") \
    X(generational, minor_keeps, garbage_retained, "a minor collection keeps the first young block in any case") \
    X(generational, minor_writes, field_written, "a minor collection clears a field of the first old block") \
    X(generational, young_no_roots, snapshot_lost, "a cycle begins without what young blocks point at") \
    X(generational, promoted_white, wrong_colour, "blocks are promoted white while marking") \
    X(generational, old_no_barrier, barrier_missed, "stores into old blocks have no deletion barrier") \
    X(compact, infix_left, edge_changed, "pointers that are inverted through an infix header stay so") \
    X(compact, infix_flat, edge_changed, "infix pointers lead to the closure after a compaction") \
    X(compact, negative_arity, data_changed, "a function with a negative arity is taken for a word shorter") \
    X(compact, late_environment, dangling_pointer, "the first word of an environment is not inverted") \
    X(compact, last_forgotten, lost_object, "the fields of the block at the end of the heap are not inverted") \
    X(compact, free_threaded, sanitizer, "the words of free blocks are inverted too") \
    X(compact, static_threaded, ill_formed_heap, "pointers to static blocks are inverted too") \
    X(compact, tag_squeezed, tag_changed, "an inverted header keeps seven bits of its tag") \
    X(compact, black_kept, wrong_colour, "a compaction leaves headers black") \
    X(compact, small_revived, garbage_retained, "a compaction takes free blocks of one field for live ones") \
    X(compact, fragment_kept, heap_not_dense, "a compaction takes fragments for blocks") \
    X(compact, fragment_stuck, no_progress, "the pass over the fields does not get over a fragment") \
    X(compact, same_place, sharing_changed, "the block behind one of one field goes to the same place") \
    X(compact, swapped, order_changed, "neighbours of one field change places") \
    X(compact, copied_down, data_changed, "the words of a block are moved from the last to the first") \
    X(compact, rest_appended, size_changed, "a rest of one word is added to the last block") \
    X(compact, end_too_long, ill_formed_heap, "the free block at the end claims one word too many") \
    X(compact, old_list, free_list_corrupt, "the free list keeps its first block, wherever that was") \
    X(compact, rover_kept, overlap, "the next-fit position is not reset by a compaction") \
    X(compact, rover_at_end, collector_assertion, "the next-fit position is the free block at the end, even if there is none") \
    X(compact, fragments_uncounted, heap_worn_out, "fragments are not counted when it is asked if a compaction helps") \
    X(compact, strict_compact, false_out_of_memory, "no compaction if the request would fit exactly") \
    X(compact, soft_compact, missed_out_of_memory, "after a compaction a request may exceed the heap") \
    X(cheney, last_field, dangling_pointer, "the last field of a block is not forwarded") \
    X(cheney, infix_lost, edge_changed, "an infix pointer becomes a pointer to its closure") \
    X(cheney, raw_short, data_changed, "the last word of a no-scan block is not copied") \
    X(cheney, object_tag, tag_changed, "Object_tag becomes 0 when a block is moved") \
    X(cheney, even_size, size_changed, "sizes are rounded up to even when a block is moved") \
    X(cheney, no_forward, sharing_changed, "no-scan blocks are copied once a pointer") \
    X(cheney, strict_limit, false_out_of_memory, "an allocation that fits exactly is refused") \
    X(cheney, soft_limit, missed_out_of_memory, "an allocation may exceed the semispace") \
    X(cheney, overwrites, overlap, "allocation after a collection starts one word too early") \
    X(tower, l1_one_way, refinement_broken, "L1: the function of rename is not its own inverse") \
    X(tower, l1_keeps_garbage, refinement_broken, "L1: filter keeps what is not reachable") \
    X(tower, l2_keeps_source, refinement_broken, "L2: rule 1 leaves the block at its old address too") \
    X(tower, l2_forgets_pointers, refinement_broken, "L2: rule 1 does not add a block's pointers to z") \
    X(tower, l2_one_way, refinement_broken, "L2: rule 1 records the swap in one direction only") \
    X(tower, l2_occupied, refinement_broken, "L2: rule 1 moves to an address that is in use") \
    X(tower, l2_changes_data, refinement_broken, "L2: rule 3 changes the data of a block") \
    X(tower, l2_finishes_early, refinement_broken, "L2: rule 3 does not wait for all pointers of a block") \
    X(tower, l2_drops_unmoved, refinement_broken, "L2: rule 2 takes an address that has not been moved") \
    X(tower, l2_never_done, no_progress, "L2: the last blocks are never finished") \
    X(tower, l3_changes_tag, refinement_broken, "L3: move copies a block with another tag") \
    X(tower, l3_leaves_block, refinement_broken, "L3: move leaves no reference in a data block's place") \
    X(tower, l3_leaves_gap, refinement_broken, "L3: move leaves an empty place behind a block") \
    X(tower, l3_stale_ref, refinement_broken, "L3: move answers a reference with the old address") \
    X(tower, l3_last_field, refinement_broken, "L3: loop does not move the last address of a block") \
    X(tower, l3_no_cut, refinement_broken, "L3: a part of from-space is not emptied") \
    X(tower, l4_header_tag, refinement_broken, "L4: a header loses its tag") \
    X(tower, l4_short_copy, refinement_broken, "L4: one payload word too few is copied") \
    X(tower, l4_scans_data, refinement_broken, "L4: the bit b of a header is not looked at") \
    X(tower, tower_strict_limit, false_out_of_memory, "has_space refuses what fits exactly") \
    X(cakeml, ck_refs_no_roots, refinement_broken, "a partial collection does not take references as roots") \
    X(cakeml, ck_lazy_full, garbage_retained, "a full collection that is asked for is a partial one") \
    X(cakeml, ck_eager_full, refinement_broken, "a full collection where a partial one will do") \
    X(cakeml, ck_strict_limit, false_out_of_memory, "NotEnoughSpace where the request fits exactly") \
    X(cakeml, ck_stores_beside, dangling_pointer, "a store writes the address behind the one that it is given") \
    X(cakeml, ck_refs_at_bottom, layout_broken, "references of one word are allocated among the data") \
    X(cakeml, ck_trigger_too_near, layout_broken, "the trigger pointer does not move for a large request") \
    X(cakeml, ck_trigger_beyond, layout_broken, "one word too many behind the trigger pointer") \
    X(cakeml, ck_keeps_trigger, layout_broken, "other kinds keep the generational trigger pointer") \
    X(cakeml, ck_switch_without_full, layout_broken, "a switch to generational without a full collection") \
    X(cakeml, ck_youngest_stays, generation_order_broken, "the youngest generation keeps its start") \
    X(cakeml, ck_ages_the_unborn, generation_order_broken, "the youngest generation starts behind the data") \
    X(cakeml, ck_never_done, no_progress, "the last references of a full collection are looked at for ever") \
    X(cakeml, ck_one_batch, refinement_broken, "references that references lead to are not looked at") \
    X(cakeml, ck_short_copy, refinement_broken, "memcpy copies one word too few") \
    X(cakeml, ck_unbounded, refinement_broken, "a partial collection copies references too") \
    X(cakeml, ck_bare_pointer, refinement_broken, "a forwarded pointer loses its tag and length bits") \
    X(cakeml, ck_absolute_forward, refinement_broken, "a forwarding pointer counts from the start of memory") \
    X(boehm, boehm_atomic, lost_object, "closures are allocated as if they held no pointers") \
    X(boehm, boehm_short_type, lost_object, "a type descriptor leaves the last field out") \
    X(boehm, boehm_few_roots, lost_object, "only the first eight slots of a mutator are roots")
/* clang-format on */

#endif
