/* SPDX-License-Identifier: MIT
 *
 * Known-bad collectors that share one compilation of their source: which defect it has is said by a
 * variable, known_bad_fault, and each function here sets it for as long as the function of the
 * source runs.  Two of them may take turns, as subject and reference do, and one may be called
 * while another runs, by a hook; a call that a hook never returns from leaves the variable as it
 * is, and the next call sets it anew.
 */
#include "collectors/known_bad/switch.h"

#include <stdlib.h>

enum isoheap_fault known_bad_fault;

struct gc {
    const struct collector *source;
    enum isoheap_fault fault;
    struct gc *inner; /* the source's own, whose struct gc is another */
};

/* ---- the functions of a struct gc -------------------------------------------------------------
 */

/* F(type of the result, name, parameters, arguments for the source); P: nothing is returned. */
#define FUNCTIONS(F, P)                                                                            \
    P(reset, (struct gc * g, const struct gc_config *config), (g->inner, config))                  \
    P(attach, (struct gc * g, unsigned m), (g->inner, m))                                          \
    P(detach, (struct gc * g, unsigned m), (g->inner, m))                                          \
    F(word *, image, (struct gc * g, size_t * words), (g->inner, words))                           \
    P(adopt, (struct gc * g, size_t words), (g->inner, words))                                     \
    F(enum gc_result, alloc,                                                                       \
      (struct gc * g, unsigned m, unsigned dst, size_t wosize, unsigned tag, const word *raw),     \
      (g->inner, m, dst, wosize, tag, raw))                                                        \
    P(init, (struct gc * g, unsigned m, unsigned obj, size_t i, unsigned value),                   \
      (g->inner, m, obj, i, value))                                                                \
    F(enum gc_result, load, (struct gc * g, unsigned m, unsigned dst, unsigned obj, size_t i),     \
      (g->inner, m, dst, obj, i))                                                                  \
    F(enum gc_result, store, (struct gc * g, unsigned m, unsigned obj, size_t i, unsigned value),  \
      (g->inner, m, obj, i, value))                                                                \
    F(enum gc_result, blit,                                                                        \
      (struct gc * g, unsigned m, unsigned src, size_t i, unsigned dst, size_t j, size_t n),       \
      (g->inner, m, src, i, dst, j, n))                                                            \
    F(enum gc_result, poll, (struct gc * g, unsigned m), (g->inner, m))                            \
    P(write_raw, (struct gc * g, unsigned m, unsigned obj, size_t i, word raw),                    \
      (g->inner, m, obj, i, raw))                                                                  \
    F(enum gc_result, collect, (struct gc * g, enum gc_collection kind), (g->inner, kind))         \
    F(enum gc_result, step, (struct gc * g, size_t budget), (g->inner, budget))                    \
    F(enum gc_result, switch_kind, (struct gc * g, unsigned kind), (g->inner, kind))               \
    F(bool, settled, (struct gc * g), (g->inner))                                                  \
    P(walk, (struct gc * g, gc_visit * visit, void *context), (g->inner, visit, context))          \
    F(const char *, check, (struct gc * g), (g->inner))                                            \
    F(struct gc_cycle, cycle, (struct gc * g), (g->inner))                                         \
    P(mark_stack, (struct gc * g, gc_visit_gray * visit, void *context),                           \
      (g->inner, visit, context))                                                                  \
    F(word, atom, (struct gc * g, unsigned tag), (g->inner, tag))                                  \
    F(word, shown_at, (struct gc * g, word shown), (g->inner, shown))                              \
    F(word, own_place, (struct gc * g, enum gc_place place), (g->inner, place))                    \
    F(struct gc_own *, own, (struct gc * g), (g->inner))                                           \
    F(bool, young, (struct gc * g, word v), (g->inner, v))                                         \
    P(remembered,                                                                                  \
      (struct gc * g, void (*visit)(void *context, word block, size_t i), void *context),          \
      (g->inner, visit, context))

#define FUNCTION(type, name, parameters, arguments)                                                \
    static type switched_##name parameters {                                                       \
        enum isoheap_fault before = known_bad_fault;                                               \
        known_bad_fault = g->fault;                                                                \
        type result = g->source->name arguments;                                                   \
        known_bad_fault = before;                                                                  \
        return result;                                                                             \
    }
#define PROCEDURE(name, parameters, arguments)                                                     \
    static void switched_##name parameters {                                                       \
        enum isoheap_fault before = known_bad_fault;                                               \
        known_bad_fault = g->fault;                                                                \
        g->source->name arguments;                                                                 \
        known_bad_fault = before;                                                                  \
    }
FUNCTIONS(FUNCTION, PROCEDURE)

/* ---- life -------------------------------------------------------------------------------------
 */

struct gc *switched_open(const struct collector *source, enum isoheap_fault fault) {
    struct gc *g = malloc(sizeof *g);
    if (!g)
        return NULL;
    enum isoheap_fault before = known_bad_fault;
    known_bad_fault = fault;
    *g = (struct gc){source, fault, source->open()};
    known_bad_fault = before;
    if (g->inner)
        return g;
    free(g);
    return NULL;
}

static void switched_close(struct gc *g) {
    enum isoheap_fault before = known_bad_fault;
    known_bad_fault = g->fault;
    g->source->close(g->inner);
    known_bad_fault = before;
    free(g);
}

void switched_promise(const struct collector *source, enum isoheap_fault fault,
                      const struct gc_config *config, struct collector_traits *traits) {
    enum isoheap_fault before = known_bad_fault;
    known_bad_fault = fault;
    source->promise(config, traits);
    known_bad_fault = before;
}

bool switched_writable(const struct collector *source, enum isoheap_fault fault, unsigned tag) {
    enum isoheap_fault before = known_bad_fault;
    known_bad_fault = fault;
    bool writable = source->writable(tag);
    known_bad_fault = before;
    return writable;
}

struct collector switched_collector(const struct collector *source, const char *name,
                                    const struct switched_start *start) {
    struct collector c = {.name = name,
                          .summary = source->summary,
                          .traits = source->traits,
                          .variants = source->variants,
                          .kinds = source->kinds,
                          .masks = source->masks,
                          .open = start->open,
                          .close = switched_close};
    if (source->promise)
        c.promise = start->promise;
    if (source->writable)
        c.writable = start->writable;
#define OFFER(type, name, parameters, arguments)                                                   \
    if (source->name)                                                                              \
        c.name = switched_##name;
#define OFFER_PROCEDURE(name, parameters, arguments) OFFER(void, name, parameters, arguments)
    FUNCTIONS(OFFER, OFFER_PROCEDURE)
    return c;
}
