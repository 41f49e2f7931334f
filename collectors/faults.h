/* SPDX-License-Identifier: MIT
 *
 * The switch behind the known-bad collectors: a collector's source compiled with
 *   -DISOHEAP_FAULT=FAULT_<name> -DISOHEAP_COLLECTOR=<symbol>
 * is that collector with one defect.  Without it FAULTY() is the constant 0 and nothing is left of
 * it in the object code.  tests/known_bad/ says of each which violation class it must raise.
 */
#ifndef ISOHEAP_FAULTS_H
#define ISOHEAP_FAULTS_H

enum isoheap_fault {
    FAULT_none,
    /* mark_sweep: three defects of published glue around the verified collector */
    FAULT_infix_root,     /* an infix root colours the infix header, never its closure */
    FAULT_stale_next_fit, /* sweep merges the block of the next-fit position and leaves it there */
    FAULT_lost_fragments, /* sweep passes over headers of size zero: never merged again */
    /* mark_sweep */
    FAULT_lost_overflow,   /* gray blocks that the full mark stack dropped are forgotten */
    FAULT_small_retained,  /* sweep keeps dead blocks of one field */
    FAULT_raw_stays_black, /* sweep forgets to whiten no-scan blocks */
    FAULT_mark_writes,     /* mark leaves its mark in the first field of a block */
    FAULT_open_list,       /* sweep leaves a stale link in the last free block */
    FAULT_no_wrap,         /* next-fit does not wrap around at the end of the free list */
    FAULT_short_split,     /* the rest of a split block claims one word too many */
    FAULT_no_fragment,     /* the header of a one-word rest claims a field */
    FAULT_endless_rescan,  /* an overflow re-scan never ends */
    FAULT_stack_not_empty, /* a cycle leaves an entry on the mark stack */
    FAULT_follows_code,    /* mark scans closures from field 0 and trusts every even word */
    /* cheney */
    FAULT_last_field,   /* the last field of a block is not forwarded */
    FAULT_infix_lost,   /* an infix pointer becomes a pointer to its closure */
    FAULT_raw_short,    /* the last word of a no-scan block is not copied */
    FAULT_object_tag,   /* Object_tag becomes 0 when a block is moved */
    FAULT_even_size,    /* block sizes are rounded up to even when a block is moved */
    FAULT_no_forward,   /* no-scan blocks get no forwarding pointer: copied once a pointer */
    FAULT_strict_limit, /* an allocation that fits exactly is refused */
    FAULT_soft_limit,   /* an allocation may exceed the semispace by up to seven words */
    FAULT_overwrites    /* an allocation after a collection starts one word too early */
};

#ifndef ISOHEAP_FAULT
#define ISOHEAP_FAULT FAULT_none
#endif
#define FAULTY(name) (ISOHEAP_FAULT == FAULT_##name)

#endif
