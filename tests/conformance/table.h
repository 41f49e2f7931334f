/* SPDX-License-Identifier: MIT
 *
 * Plug-ins that break one promise of the interface each, and the step of `isoheap conformance` that
 * must say so.  The build makes tests/conformance/broken_<name>.so of every row.
 *
 * X(name, step, base, what is wrong); base is the collector that is right but for this.
 */
#ifndef ISOHEAP_CONFORMANCE_TABLE_H
#define ISOHEAP_CONFORMANCE_TABLE_H

/* clang-format off */
#define BROKEN_PROMISES(X) \
    X(reset_dirty, reset, cheney, "reset leaves a block in the heap") \
    X(reset_writes, reset, cheney, "reset writes into a slot") \
    X(alloc_two_slots, alloc, cheney, "alloc writes into a second slot") \
    X(alloc_no_content, alloc, cheney, "alloc forgets the content") \
    X(alloc_twice, apart, cheney, "alloc gives the same block out twice") \
    X(init_collects, init, cheney, "init collects") \
    X(store_neighbour, fields, cheney, "store writes into the field before") \
    X(blit_forward, blit, cheney, "blit copies upwards where the parts overlap") \
    X(raw_lost, write_raw, cheney, "write_raw writes nothing") \
    X(walk_gap, walk, cheney, "walk leaves the first block out") \
    X(walk_goes_back, walk, cheney, "walk visits the first block again behind the second") \
    X(walk_collects, walk, cheney, "walk collects") \
    X(refusal_clears, refusal, cheney, "a refused allocation clears its slot") \
    X(refusal_harms, full_heap, mark_sweep, "a refused allocation writes into a live block") \
    X(image_small, image, cheney, "image asks for less than is needed") \
    X(slot_stale, roots, cheney, "one slot is not updated") \
    X(one_mutator, roots, cheney, "the slots of other mutators are no roots") \
    X(check_complains, roots, cheney, "the collector's own check fails after a collection") \
    X(hangs, roots, cheney, "collect does not end") \
    X(crashes, roots, cheney, "collect crashes") \
    X(sharing_lost, sharing, cheney, "a shared block becomes two") \
    X(field_stale, list, cheney, "a field is not updated") \
    X(cycle_cut, cycle, cheney, "a cycle is cut open") \
    X(refuses_often, reuse, cheney, "now and then an allocation is refused for nothing") \
    X(uncounted, counted, cheney, "collections are not counted") \
    X(step_endless, step, cheney, "a cycle of slices never ends") \
    X(kind_loses, kinds, cheney, "a switch of the kind loses a block") \
    X(state_stays, repeats, cheney, "a counter outlives reset") \
    X(shares_state, beside, cheney, "two of it have one heap") \
    X(opens_once, reopen, cheney, "open works once in a process") \
    X(deletes_silently, barrier, incremental, "a store of an integer has no barrier") \
    X(unsets_silently, barrier, incremental, "what is taken out of an ephemeron has no barrier") \
    X(pends_white, barrier, incremental, "a block whose allocation was pending is white in a cycle") \
    X(inits_silently, recorded, generational, "an initialising store is not recorded") \
    X(fan_cut, overflow, mark_sweep, "with a mark stack of few entries the last field of a block is lost") \
    X(one_writes, mutators, cheney, "a store of another mutator than the first writes nothing") \
    X(attach_writes, attach, cheney, "attach writes into a slot of its mutator") \
    X(leaver_takes, attach, cheney, "a mutator that goes takes along what another holds") \
    X(never_settled, settled, cheney, "the heap is never to be looked at") \
    X(contradiction, traits, cheney, "a variant with a sorted free list and no free list") \
    X(claims_stays, stays, cheney, "moves, and does not say so") \
    X(claims_start_env, start_env, cheney, "a code word of a closure is rewritten") \
    X(claims_infix, infix, cheney, "an infix pointer becomes a pointer to its closure") \
    X(claims_raw, raw, cheney, "a raw word is rewritten as if it were a pointer") \
    X(claims_outside, outside, cheney, "a word that points outside the heap is cleared") \
    X(claims_statics, statics, cheney, "a pointer to a static block is cleared") \
    X(claims_any_word, any_word, cheney, "a null pointer becomes unit") \
    X(claims_atoms, atoms, cheney, "the header of a block without fields turns white") \
    X(claims_poisons, poisons, cheney, "dead memory is not poisoned") \
    X(claims_whitens, whitens, cheney, "a block stays black") \
    X(claims_free_list, free_list, mark_sweep, "the first free block is not on the list") \
    X(claims_exact, exact, cheney, "a full collection does nothing") \
    X(claims_acyclic, acyclic, cheney, "two full collections do nothing") \
    X(claims_retained, retained, cheney, "a full collection leaves everything") \
    X(claims_slices, slices, incremental, "a slice begins no cycle") \
    X(claims_kind, slices, generational, "a slice of the second kind begins no cycle") \
    X(claims_ticks, ticks, cheney, "a collection does not call gc_tick") \
    X(claims_shallow, shallow, cheney, "a collection calls itself for each block of a list") \
    X(hides_stack, tells_phases, mark_sweep, "mark_stack visits nothing while blocks are gray") \
    X(claims_tells, tells, cheney, "nothing is told of blocks that are swept") \
    X(claims_renews, renews, cheney, "large blocks are refused") \
    X(claims_exactly, refuses, cheney, "what fits exactly is refused") \
    X(claims_size, max_wosize, cheney, "the largest block is refused") \
    X(claims_always_merged, always_merged, mark_sweep, "a sweep merges nothing") \
    X(claims_solid_end, solid_end, mark_sweep, "the last word of a fresh heap is a fragment") \
    X(claims_black, black_young, generational, "young blocks are white") \
    X(claims_bits, word_bits, cheney, "integers lose their highest bits") \
    X(claims_growth, grows, mark_sweep, "the heap does not grow") \
    X(claims_old, young, generational, "young says that no block is young") \
    X(forgets, remembered, generational, "remembered visits nothing") \
    X(claims_once, remembered, generational, "remembered visits each field twice") \
    X(claims_nursery, nursery, generational, "the nursery is half of what nursery_words says") \
    X(claims_minor, exact_minor, generational, "a minor collection does nothing") \
    X(claims_compacts, compacts, mark_sweep, "a compaction compacts nothing") \
    X(claims_slides, slides, cheney, "a collection changes the order of the blocks") \
    X(claims_large, large, mark_sweep, "a collection of a heap of more than 65536 words cuts what slot 0 leads to") \
    X(claims_linear, linear, mark_sweep, "a collection looks at the heap again for each of its words") \
    X(claims_paced, paced, incremental, "a slice does a whole cycle, whatever its budget") \
    X(claims_waits, waits, mark_sweep, "each fifth allocation collects first") \
    X(claims_steady, steady, cheney, "a collection takes a step more than the one before") \
    X(claims_frugal, steady, cheney, "a reset leaves memory behind") \
    X(claims_maps, steady, cheney, "a reset maps memory that nobody unmaps") \
    X(claims_nurses, young_first, generational, "there is no small block by the config that it knows") \
    X(claims_ages, ages, generational, "a minor collection promotes everything") \
    X(claims_idle, phases, incremental, "cycle says idle in the middle of one") \
    X(claims_busy, phases, incremental, "a slice that ends a cycle says that one is under way") \
    X(strong_ephemerons, extras, cheney, "ephemerons hold their keys")
/* clang-format on */

#endif
