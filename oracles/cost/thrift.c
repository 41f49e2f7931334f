/* SPDX-License-Identifier: MIT
 *
 * Oracle thrift: an allocation collects only if there is no room for it.
 *
 * Room is a free block that is large enough; of a collector that moves blocks and has no free list
 * it is unused words.  Of a block that is young by the config it is that part of the nursery where
 * no block is.  Since the last walk so many words have been allocated, wherever that was: of the
 * largest free block at least the rest is still there.
 */
#include "oracles/judge.h"

#include <stdio.h>

struct thrift {
    size_t largest; /* words of the largest free block at the last walk */
    bool minor;     /* a minor collection has begun: */
    uint64_t call;  /* side->collected then: none has been counted since the call began */
    size_t young;   /* the nursery had so much room before the first of the call */
};

static size_t room_in_nursery(const struct side *s) {
    size_t words = s->graph.words, half = s->config.nursery_words;
    size_t used = heap_in_use(&s->graph, words - s->graph.nursery_words, words);
    return used < half ? half - used : 0;
}

/* Nothing is known to be free until there is a walk. */
static bool reset(struct judge *j) {
    *(struct thrift *)j->state = (struct thrift){.largest = 0};
    return false;
}

static bool walked(struct judge *j) {
    struct thrift *t = j->state;
    const struct heap_facts *facts = &j->side->facts;
    bool bumps = j->side->traits.moves && !j->side->traits.free_list;
    t->largest = 1 + (bumps ? facts->largest_unused : facts->largest_free);
    return false;
}

/* Before the block was there. */
static size_t room_in_heap(const struct judge *j, const struct request *q) {
    const struct thrift *t = j->state;
    size_t others = j->side->new.given_words;
    if (q->answer == GC_OK)
        others -= q->wosize + 1;
    return t->largest > others ? t->largest - others : 0;
}

static bool minor(struct judge *j, bool before) {
    struct thrift *t = j->state;
    if (!before || !j->side->allocating || (t->minor && t->call == j->side->collected))
        return false;
    t->minor = true;
    t->call = j->side->collected;
    t->young = room_in_nursery(j->side);
    return false;
}

static bool is_young_by_config(const struct side *s, size_t wosize) {
    return s->collector->young && wosize + 1 < s->config.large_words &&
           wosize < s->config.nursery_words;
}

_Noreturn static void fail_eager(struct judge *j, size_t room, const struct request *q) {
    bool young = is_young_by_config(j->side, q->wosize);
    snprintf(j->expected, VERDICT_TEXT, "no collection: %zu words are free in %s", room,
             young ? "the nursery" : "one piece");
    snprintf(j->found, VERDICT_TEXT, "%llu, for a block of %zu words",
             (unsigned long long)(j->side->hooks->collections - j->side->collected), q->wosize + 1);
    judge_fail(j, VIOLATION_too_many_collections,
               "an allocation has collected although there was room for the block");
}

/* One that has not collected is thrifty. */
static bool worked(struct judge *j, const struct request *request, bool full) {
    const struct side *s = j->side;
    const struct thrift *t = j->state;
    (void)full;
    if (!request)
        return false;
    if (s->hooks->collections == s->collected)
        return true;
    bool young = is_young_by_config(s, request->wosize);
    bool minor = t->minor && t->call == s->collected;
    size_t room = !young ? room_in_heap(j, request) : minor ? t->young : room_in_nursery(s);
    if (room > request->wosize)
        fail_eager(j, room, request);
    return true;
}

const struct oracle_module oracle_thrift = {
    .meaning = "an allocation collects only if there is no room for the block",
    .source = "isoheap: what a program that allocates fast relies on",
    .classes = {VIOLATION_too_many_collections},
    .needs = 1u << NEED_waits,
    .state = sizeof(struct thrift),
    .reset = reset,
    .walked = walked,
    .minor = minor,
    .each_quiet_allocation = true,
    .worked = worked,
};
