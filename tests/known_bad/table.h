/* SPDX-License-Identifier: MIT
 *
 * The table of known-bad collectors.  The build compiles `source` once for every row, with
 * ISOHEAP_FAULT=FAULT_<defect> and ISOHEAP_COLLECTOR=bad_<defect>; tests/CMakeLists.txt reads the
 * rows from this file, so a row is all that a new one needs.
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
    X(cheney, last_field, dangling_pointer, "the last field of a block is not forwarded") \
    X(cheney, infix_lost, edge_changed, "an infix pointer becomes a pointer to its closure") \
    X(cheney, raw_short, data_changed, "the last word of a no-scan block is not copied") \
    X(cheney, object_tag, tag_changed, "Object_tag becomes 0 when a block is moved") \
    X(cheney, even_size, size_changed, "sizes are rounded up to even when a block is moved") \
    X(cheney, no_forward, sharing_changed, "no-scan blocks are copied once a pointer") \
    X(cheney, strict_limit, false_out_of_memory, "an allocation that fits exactly is refused") \
    X(cheney, soft_limit, missed_out_of_memory, "an allocation may exceed the semispace") \
    X(cheney, overwrites, overlap, "allocation after a collection starts one word too early")
/* clang-format on */

#endif
