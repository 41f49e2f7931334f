/* SPDX-License-Identifier: MIT
 *
 * What the runtime has besides its collector, for each mutator on the thread of its domain: as
 * collectors/ocaml/extras.c has it.
 */
#include "collectors/ocaml5/domains/domains.h"

#define DO(name, call)                                                                             \
    static void do_##name(struct order *o) {                                                       \
        call;                                                                                      \
    }
DO(ephemeron, o->result = ocaml_extras.ephemeron(o->gc, o->dst, o->n))
DO(set, ocaml_extras.set(o->gc, o->obj, o->i, o->value))
DO(unset, ocaml_extras.unset(o->gc, o->obj, o->i))
DO(get, *o->found = ocaml_extras.get(o->gc, o->dst, o->obj, o->i))
DO(is_set, *o->found = ocaml_extras.is_set(o->gc, o->obj, o->i))
DO(copy, o->result = ocaml_extras.copy(o->gc, o->dst, o->obj, o->i, o->n, o->found))
DO(blit, ocaml_extras.blit(o->gc, o->src, o->i, o->dst, o->j, o->n))
DO(resource, o->result = ocaml_extras.resource(o->gc, o->dst, o->n, o->number))
DO(forward, ocaml_extras.forward(o->gc, o->obj, o->value))
DO(fill, ocaml_extras.fill(o->gc, o->obj, o->i, o->n, o->value))
DO(finalise, o->result = ocaml_extras.finalise(o->gc, o->obj, o->number, o->flag))
DO(finalise_then,
   o->result = ocaml_extras.finalise_then(o->gc, o->obj, o->number, o->flag, o->then))
DO(marshal, o->result = ocaml_extras.marshal(o->gc, o->dst, o->src, o->flag, o->n))
DO(measure, o->n = ocaml_extras.measure(o->gc, o->obj))
DO(sub, o->result = ocaml_extras.sub(o->gc, o->dst, o->src, o->i, o->n))
DO(append, o->result = ocaml_extras.append(o->gc, o->dst, o->src, o->value, o->flag, o->n))
DO(dup, o->result = ocaml_extras.dup(o->gc, o->dst, o->src, o->tag, o->n))
DO(update, ocaml_extras.update(o->gc, o->obj, o->value))
DO(forwarding, o->result = ocaml_extras.forwarding(o->gc, o->dst, o->value))

#define MINE(name, ...) ORDER(name, .m = g->config.hooks->mutator, __VA_ARGS__)

static enum gc_result ephemeron(struct gc *g, unsigned dst, size_t keys) {
    return MINE(ephemeron, .dst = dst, .n = keys);
}

static void set(struct gc *g, unsigned obj, size_t i, unsigned v) {
    MINE(set, .obj = obj, .i = i, .value = v);
}

static void unset(struct gc *g, unsigned obj, size_t i) {
    MINE(unset, .obj = obj, .i = i);
}

static bool get(struct gc *g, unsigned dst, unsigned obj, size_t i) {
    bool found = false;
    MINE(get, .dst = dst, .obj = obj, .i = i, .found = &found);
    return found;
}

static bool is_set(struct gc *g, unsigned obj, size_t i) {
    bool found = false;
    MINE(is_set, .obj = obj, .i = i, .found = &found);
    return found;
}

static enum gc_result copy(struct gc *g, unsigned dst, unsigned obj, size_t i, size_t words,
                           bool *found) {
    return MINE(copy, .dst = dst, .obj = obj, .i = i, .n = words, .found = found);
}

static void blit(struct gc *g, unsigned src, size_t i, unsigned dst, size_t j, size_t n) {
    MINE(blit, .src = src, .i = i, .dst = dst, .j = j, .n = n);
}

static enum gc_result resource(struct gc *g, unsigned dst, size_t words, uint64_t number) {
    return MINE(resource, .dst = dst, .n = words, .number = number);
}

static void forward(struct gc *g, unsigned obj, unsigned v) {
    MINE(forward, .obj = obj, .value = v);
}

static void fill(struct gc *g, unsigned obj, size_t i, size_t n, unsigned v) {
    MINE(fill, .obj = obj, .i = i, .n = n, .value = v);
}

static enum gc_result finalise(struct gc *g, unsigned obj, uint64_t number, bool last) {
    return MINE(finalise, .obj = obj, .number = number, .flag = last);
}

static enum gc_result finalise_then(struct gc *g, unsigned obj, uint64_t number, bool last,
                                    const struct gc_finaliser *then) {
    return MINE(finalise_then, .obj = obj, .number = number, .flag = last, .then = then);
}

static enum gc_result marshal(struct gc *g, unsigned dst, unsigned src, bool unshared,
                              size_t words) {
    return MINE(marshal, .dst = dst, .src = src, .flag = unshared, .n = words);
}

static size_t measure(struct gc *g, unsigned obj) {
    struct order o = {.gc = g, .body = do_measure, .m = g->config.hooks->mutator, .obj = obj};
    domains_perform(&o);
    return o.n;
}

static enum gc_result sub(struct gc *g, unsigned dst, unsigned src, size_t i, size_t n) {
    return MINE(sub, .dst = dst, .src = src, .i = i, .n = n);
}

static enum gc_result append(struct gc *g, unsigned dst, unsigned src, unsigned other, bool thrice,
                             size_t words) {
    return MINE(append, .dst = dst, .src = src, .value = other, .flag = thrice, .n = words);
}

static enum gc_result dup(struct gc *g, unsigned dst, unsigned src, unsigned tag, size_t words) {
    return MINE(dup, .dst = dst, .src = src, .tag = tag, .n = words);
}

static void update(struct gc *g, unsigned obj, unsigned v) {
    MINE(update, .obj = obj, .value = v);
}

static enum gc_result forwarding(struct gc *g, unsigned dst, unsigned v) {
    return MINE(forwarding, .dst = dst, .value = v);
}

const struct gc_extras domains_extras = {.ephemeron = ephemeron,
                                         .set = set,
                                         .unset = unset,
                                         .get = get,
                                         .blit = blit,
                                         .resource = resource,
                                         .forward = forward,
                                         .fill = fill,
                                         .finalise = finalise,
                                         .marshal = marshal,
                                         .measure = measure,
                                         .is_set = is_set,
                                         .copy = copy,
                                         .sub = sub,
                                         .append = append,
                                         .dup = dup,
                                         .update = update,
                                         .forwarding = forwarding,
                                         .finalise_then = finalise_then,
                                         .act = domains_act};
