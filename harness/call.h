/* SPDX-License-Identifier: MIT
 *
 * The one layer that calls a collector.
 *
 * Around every call: who is running (a crash is then blamed on it), the steps that it may take and
 * those that it took, and what has to be looked at again afterwards: the last walk of the heap is
 * no longer true, a cycle may have gone on.  Where a collector has no function of its own for init,
 * load, store, blit or write_raw, the call is the plain memory access that stands for it.  Nobody
 * else in harness/ calls a function of struct collector, except oracles that inspect the heap in
 * the middle of a call (young, remembered).
 *
 * Arguments are those of the functions in collectors/collector.h and collectors/extras.h.
 */
#ifndef ISOHEAP_HARNESS_CALL_H
#define ISOHEAP_HARNESS_CALL_H

#include "harness/internal.h"

#define FOR_SIDES(r, s)                                                                            \
    for (struct side *s = (r)->side, *s##_end = s + (r)->n_sides; s < s##_end; s++)

/* ---- life ---- */

void call_reset(struct side *);
/* Nothing, for a collector whose mutators do not come and go. */
void call_attach(struct side *, unsigned m);
void call_detach(struct side *, unsigned m);
word *call_image(struct side *, size_t *words);
void call_adopt(struct side *, size_t words);

/* ---- allocation: each keeps its answer in side.answer too, and polls while one is pending ---- */

enum gc_result call_alloc(struct side *, unsigned m, unsigned dst, size_t wosize, unsigned tag,
                          const word *raw);
enum gc_result call_ephemeron(struct side *, unsigned dst, size_t keys);
enum gc_result call_resource(struct side *, unsigned dst, size_t words, uint64_t number);
enum gc_result call_marshal(struct side *, unsigned dst, unsigned src, bool unshared, size_t words);
enum gc_result call_clone(struct side *, unsigned dst, unsigned src, bool unshared, size_t words);
enum gc_result call_damage(struct side *, unsigned dst, unsigned src, enum gc_damage, size_t n);
/* To be called after one of these on all sides: have all collectors given a block (SLOT_NEW)?  If
 * one has refused, the blocks of the others are dropped.  Counts a refusal of the subject. */
bool all_served(struct runner *, unsigned m);

/* ---- fields ---- */

void call_init(struct side *, unsigned m, unsigned obj, size_t i, unsigned value);
/* False: the collector has refused, and field or slot are as they were. */
bool call_store(struct side *, unsigned m, unsigned obj, size_t i, unsigned value);
bool call_load(struct side *, unsigned m, unsigned dst, unsigned obj, size_t i);
bool call_blit(struct side *, unsigned m, unsigned src, size_t i, unsigned dst, size_t j, size_t n);
void call_write_raw(struct side *, unsigned m, unsigned obj, size_t i, word raw);

/* ---- collections ---- */

/* GC_FULL: as many full collections as the trait full_until_exact says.  False: the collector has
 * refused one. */
bool call_collect(struct side *, unsigned m, enum gc_collection);
/* False: the collector has no such function, and nothing happened. */
bool call_step(struct side *, unsigned m, size_t budget);
/* The same, and takes over what that kind promises. */
bool call_switch_kind(struct side *, unsigned m, unsigned kind);
bool call_poll(struct side *, unsigned m);

/* ---- inspection: changes nothing ---- */

/* May the heap be looked at now? */
bool call_settled(const struct side *);
/* Polls the mutators until it may; that does change something. */
void call_settle(struct side *);

/* heap_walk into the side's graph and facts. */
void call_walk(struct side *, unsigned checks);
/* The same of the heap that a reset has left, before anything is laid out there; its steps are not
 * counted. */
void call_walk_empty(struct side *, unsigned checks);
/* The same in the middle of another call; its steps are not counted. */
void call_walk_inside(struct side *, unsigned checks);
/* Visits the heap for a picture; nothing is counted.  One that may not be looked at is empty. */
void call_visit(struct side *, gc_visit *, void *context);
const char *call_check(struct side *);
struct gc_cycle call_cycle(const struct side *);
struct gc_own *call_own(struct side *);
/* The value of the block without fields that has this tag: the collector's, or the harness's. */
word call_atom(struct side *, unsigned tag);
/* Where what the collector shows at an address lies in its own heap; the address itself where it
 * shows that, or says nothing. */
word call_shown_at(struct side *, word shown);
/* 0: none, or the collector does not tell. */
word call_own_place(struct side *, enum gc_place);

/* ---- a look in the middle of a call ---- */

/* hooks->out_of_fuel comes after so many steps of the calls from now on, the one that is under way
 * among them; 0: when the fuel is used up. */
void call_look_after(struct side *, uint64_t steps);
/* It has come: true, and the call may go on, if it was for a look. */
bool call_refuel(struct side *);

/* ---- what a runtime has besides ---- */

void call_ephemeron_set(struct side *, unsigned obj, size_t i, unsigned value);
void call_ephemeron_unset(struct side *, unsigned obj, size_t i);
bool call_ephemeron_get(struct side *, unsigned dst, unsigned obj, size_t i);
/* is_set of the field; and a copy of it, whose answer is in side.answer: false if it is refused. */
bool call_ephemeron_check(struct side *, unsigned obj, size_t i);
bool call_ephemeron_copy(struct side *, unsigned dst, unsigned obj, size_t i, size_t words);
/* Only where the collector has the function. */
void call_fill(struct side *, unsigned m, unsigned obj, size_t i, size_t n, unsigned value);
void call_update(struct side *, unsigned m, unsigned obj, unsigned value, size_t n);
enum gc_result call_sub(struct side *, unsigned dst, unsigned src, size_t i, size_t n);
enum gc_result call_append(struct side *, unsigned dst, unsigned src, unsigned other, bool thrice,
                           size_t words);
enum gc_result call_dup(struct side *, unsigned dst, unsigned src, unsigned tag, size_t words);
enum gc_result call_forwarding(struct side *, unsigned dst, unsigned value);
void call_ephemeron_blit(struct side *, unsigned src, size_t i, unsigned dst, size_t j, size_t n);
void call_forward(struct side *, unsigned obj, unsigned value);
void call_truncate(struct side *, unsigned obj, size_t n);
enum gc_result call_finalise(struct side *, unsigned obj, uint64_t number, bool last);
enum gc_result call_finalise_then(struct side *, unsigned obj, uint64_t number, bool last,
                                  const struct gc_finaliser *);
void call_act(struct side *);
void call_starve(struct side *, unsigned n);
size_t call_measure(struct side *, unsigned obj);

#endif
