/* SPDX-License-Identifier: MIT
 *
 * The switch behind the known-bad collectors: a collector's source compiled with
 *   -DISOHEAP_FAULT=FAULT_<name> -DISOHEAP_COLLECTOR=<symbol>
 * is that collector with one defect.  Without it FAULTY() is the constant 0 and nothing is left of
 * it in the object code.  collectors/known_bad/ says of each which violation class it must raise.
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
    FAULT_short_range,     /* the range to scan again is not extended upwards */
    FAULT_lost_chunk,      /* a new chunk of the mark stack is not linked to the one below */
    /* incremental */
    FAULT_no_barrier,        /* stores have no deletion barrier */
    FAULT_white_in_mark,     /* allocates white while marking */
    FAULT_white_ahead,       /* allocates white ahead of the sweep cursor */
    FAULT_black_behind,      /* allocates black behind the sweep cursor */
    FAULT_half_snapshot,     /* the other half of the roots is darkened only when marking ends */
    FAULT_stale_cursor,      /* sweep remembers the size of the next free block across slices */
    FAULT_run_kept,          /* sweep is not told that an allocation has shortened its run */
    FAULT_endless_slice,     /* a slice with budget 0 does not end */
    FAULT_overflow_in_slice, /* an overflow is forgotten at the end of a slice */
    FAULT_half_full,         /* a full collection only finishes the cycle that is under way */
    FAULT_barrier_severs,    /* the barrier clears the first pointer of the block it darkens */
    FAULT_barrier_rounds,    /* the barrier clears the first immediate of the block it darkens */
    /* generational */
    FAULT_unrecorded_store,    /* the write barrier records nothing */
    FAULT_init_unrecorded,     /* an initialising store into an old block is not recorded */
    FAULT_promoted_unrecorded, /* a promoted block's fields that stay young are not recorded */
    FAULT_promoted_unscanned,  /* the fields of promoted blocks are not looked at */
    FAULT_young_infix_lost,    /* an infix pointer to a young closure becomes one to its start */
    FAULT_stale_entry,         /* remembered fields of dead old blocks stay in the set */
    FAULT_minor_keeps,         /* a minor collection keeps the first young block in any case */
    FAULT_minor_writes,        /* a minor collection clears a field of the first old block */
    FAULT_young_no_roots,      /* a cycle begins without what young blocks point at */
    FAULT_promoted_white,      /* blocks are promoted white in any phase */
    FAULT_old_no_barrier,      /* stores into old blocks have no deletion barrier */
    /* compact */
    FAULT_infix_left,          /* pointers that are inverted through an infix header stay so */
    FAULT_infix_flat,          /* infix pointers lead to the closure afterwards */
    FAULT_negative_arity,      /* a function with a negative arity has one word too few */
    FAULT_late_environment,    /* the first word of an environment is not inverted */
    FAULT_last_forgotten,      /* the block at the end of the heap is not inverted */
    FAULT_free_threaded,       /* the words of free blocks are inverted too */
    FAULT_static_threaded,     /* pointers to static blocks are inverted too */
    FAULT_tag_squeezed,        /* an inverted header keeps seven bits of its tag */
    FAULT_black_kept,          /* headers turn black again */
    FAULT_small_revived,       /* free blocks of one field are kept */
    FAULT_fragment_kept,       /* fragments are kept, and move */
    FAULT_fragment_stuck,      /* the pass over the fields does not get over a fragment */
    FAULT_same_place,          /* the block behind one of one field goes to the same place */
    FAULT_swapped,             /* neighbours of one field change places */
    FAULT_copied_down,         /* words are copied from the last to the first */
    FAULT_rest_appended,       /* a rest of one word is added to the last block */
    FAULT_end_too_long,        /* the free block at the end claims one word too many */
    FAULT_old_list,            /* the free list keeps its first block */
    FAULT_rover_kept,          /* the next-fit position is not reset */
    FAULT_rover_at_end,        /* it is what would be the free block, even if there is none */
    FAULT_fragments_uncounted, /* fragments are not counted when it is asked if compaction helps */
    FAULT_strict_compact,      /* no compaction if the request would fit exactly */
    FAULT_soft_compact,        /* after one the request may exceed the heap by seven words */
    /* cheney */
    FAULT_last_field,   /* the last field of a block is not forwarded */
    FAULT_infix_lost,   /* an infix pointer becomes a pointer to its closure */
    FAULT_raw_short,    /* the last word of a no-scan block is not copied */
    FAULT_object_tag,   /* Object_tag becomes 0 when a block is moved */
    FAULT_even_size,    /* block sizes are rounded up to even when a block is moved */
    FAULT_no_forward,   /* no-scan blocks get no forwarding pointer: copied once a pointer */
    FAULT_strict_limit, /* an allocation that fits exactly is refused */
    FAULT_soft_limit,   /* an allocation may exceed the semispace by up to seven words */
    FAULT_overwrites,   /* an allocation after a collection starts one word too early */
    /* tower, L1 */
    FAULT_l1_one_way,       /* f is not its own inverse */
    FAULT_l1_keeps_garbage, /* filter keeps what is not reachable */
    /* tower, L2 */
    FAULT_l2_keeps_source,     /* rule 1 leaves the block at its old address too */
    FAULT_l2_forgets_pointers, /* rule 1 does not add the pointers of a block to z */
    FAULT_l2_one_way,          /* rule 1 records where a block went, not where it came from */
    FAULT_l2_occupied,         /* rule 1 moves to an address that is in use */
    FAULT_l2_changes_data,     /* rule 3 changes the data of a block */
    FAULT_l2_finishes_early,   /* rule 3 does not wait for all pointers */
    FAULT_l2_drops_unmoved,    /* rule 2 takes what has not been moved */
    FAULT_l2_never_done,       /* the last blocks are never finished */
    /* tower, L3 */
    FAULT_l3_changes_tag,  /* move copies a block with another tag */
    FAULT_l3_leaves_block, /* move leaves no reference to a data block */
    FAULT_l3_leaves_gap,   /* move leaves an empty place behind a block */
    FAULT_l3_stale_ref,    /* move answers a reference with the old address */
    FAULT_l3_last_field,   /* loop does not move the last address of a block */
    FAULT_l3_no_cut,       /* a part of from-space is not emptied */
    /* tower, L4 */
    FAULT_l4_header_tag, /* a header loses its tag */
    FAULT_l4_short_copy, /* mc_move_loop copies one word too few */
    FAULT_l4_scans_data, /* the bit b of a header is not looked at */
    /* tower, section 4 */
    FAULT_tower_strict_limit, /* has_space refuses what fits exactly */
    /* cakeml: both levels, or the decisions that they share */
    FAULT_ck_refs_no_roots,       /* a partial collection does not take references as roots */
    FAULT_ck_lazy_full,           /* a full collection that is asked for is a partial one */
    FAULT_ck_eager_full,          /* a full collection where a partial one will do */
    FAULT_ck_strict_limit,        /* NotEnoughSpace where the request fits exactly */
    FAULT_ck_stores_beside,       /* a store writes the address behind the one it is given */
    FAULT_ck_refs_at_bottom,      /* small references are allocated among the data */
    FAULT_ck_trigger_too_near,    /* the trigger does not move for a large request */
    FAULT_ck_trigger_beyond,      /* one word too many behind the trigger */
    FAULT_ck_keeps_trigger,       /* a non-generational kind keeps the trigger where it is */
    FAULT_ck_switch_without_full, /* to generational without its full collection */
    FAULT_ck_youngest_stays,      /* the youngest generation keeps its start */
    FAULT_ck_ages_the_unborn,     /* the youngest generation starts behind the data */
    FAULT_ck_never_done,          /* the last references of a full collection are never done */
    /* cakeml, algorithm level */
    FAULT_ck_one_batch, /* references that references lead to are not looked at */
    /* cakeml, word level */
    FAULT_ck_short_copy,       /* memcpy copies one word too few */
    FAULT_ck_unbounded,        /* a partial collection copies references too */
    FAULT_ck_bare_pointer,     /* a forwarded pointer loses its tag and length bits */
    FAULT_ck_absolute_forward, /* a forwarding pointer counts from the start of memory */
    /* boehm: defects of the adapter, as clients of libgc have them */
    FAULT_boehm_atomic,     /* closures are allocated as if they held no pointers */
    FAULT_boehm_short_type, /* a type descriptor leaves the last field out */
    FAULT_boehm_few_roots   /* only the first eight slots of a mutator are roots */
};

#ifndef ISOHEAP_FAULT
#define ISOHEAP_FAULT FAULT_none
#endif
#define FAULTY(name) (ISOHEAP_FAULT == FAULT_##name)

/* The name of the collector that this compilation makes: its symbol, ISOHEAP_COLLECTOR, as text. */
#define COLLECTOR_TEXT(symbol)  #symbol
#define COLLECTOR_TEXT_(symbol) COLLECTOR_TEXT(symbol)
#define COLLECTOR_NAME          COLLECTOR_TEXT_(ISOHEAP_COLLECTOR)

#endif
