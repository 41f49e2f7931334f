/* SPDX-License-Identifier: MIT
 *
 * The enumeration of a scope against two other ways to know what it must visit: the formula, and a
 * second enumeration that is naive.
 *
 * The second one makes every program by nested choices on the struct itself, renames it in every
 * way, and keeps the digests of the least of each class; it shares no code with the first.
 */
#include "program/enumeration/enumerate.h"
#include "program/text/text.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* ---- sets of digests --------------------------------------------------------------------------
 */

struct digests {
    size_t n, capacity;
    uint64_t *at;
};

static void add(struct digests *d, uint64_t digest) {
    if (d->n == d->capacity) {
        d->capacity = d->capacity ? 2 * d->capacity : 1024;
        d->at = realloc(d->at, d->capacity * sizeof *d->at);
        assert_non_null(d->at);
    }
    d->at[d->n++] = digest;
}

static int compare(const void *a, const void *b) {
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

/* Sorts, drops what is there twice; returns how many were dropped. */
static size_t normalise(struct digests *d) {
    size_t kept = 0, all = d->n;
    qsort(d->at, d->n, sizeof *d->at, compare);
    for (size_t i = 0; i < d->n; i++)
        if (i == 0 || d->at[i] != d->at[i - 1])
            d->at[kept++] = d->at[i];
    d->n = kept;
    return all - kept;
}

/* ---- renaming, on a program -------------------------------------------------------------------
 */

static void next_permutation(unsigned n, unsigned *to, unsigned index) {
    unsigned left[4] = {0, 1, 2, 3}, count = n;
    for (unsigned i = 0; i < n; i++) {
        unsigned at = index % count;
        index /= count--;
        to[i] = left[at];
        memmove(left + at, left + at + 1, (count - at) * sizeof *left);
    }
}

static struct value rename_value(struct value v, const unsigned *blocks, const unsigned *slots) {
    if (value_is_reference(&v))
        v.block = (uint16_t)blocks[v.block];
    if (v.kind == VALUE_SLOT)
        v.block = (uint16_t)slots[v.block];
    if (v.kind == VALUE_ADDRESS)
        v.block = (uint16_t)(blocks ? blocks : slots)[v.block];
    return v;
}

static struct program original, renamed;

/* Named block b of the original becomes named block blocks[b] of renamed; gaps stay. */
static void rename_heap(const unsigned *blocks, unsigned named) {
    unsigned place = 0;
    renamed.n_fields = 0;
    for (unsigned i = 0; i < original.n_items; i++) {
        renamed.items[i] = original.items[i];
        if (!item_is_named(&original.items[i]))
            continue;
        unsigned from = 0;
        while (blocks[from] != place)
            from++;
        assert_true(from < named);
        const struct item *item = program_named_item(&original, from);
        renamed.items[i] = *item;
        renamed.items[i].first_field = renamed.n_fields;
        for (unsigned f = 0; f < item->n_fields; f++)
            renamed.fields[renamed.n_fields++] =
                rename_value(original.fields[item->first_field + f], blocks, NULL);
        place++;
    }
}

static void rename_program(const unsigned *blocks, unsigned named, const unsigned *slots,
                           unsigned n_slots) {
    memcpy(renamed.config, original.config, sizeof renamed.config);
    renamed.n_items = original.n_items;
    renamed.n_ops = original.n_ops;
    rename_heap(blocks, named);
    for (unsigned s = 0; s < n_slots; s++)
        renamed.roots[0][slots[s]] = rename_value(original.roots[0][s], blocks, NULL);
    for (unsigned o = 0; o < original.n_ops; o++) {
        struct op *op = &renamed.ops[o];
        *op = original.ops[o];
        if (op_shapes[op->code].operands & OPERAND_DST)
            op->dst = (uint8_t)slots[op->dst];
        if (op_shapes[op->code].operands & OPERAND_SRC)
            op->src = (uint8_t)slots[op->src];
        for (unsigned v = 0; v < op->n_values; v++)
            op->values[v] = rename_value(op->values[v], NULL, slots);
    }
}

/* The least digest of the class of the original. */
static uint64_t class_of(const struct scope *s) {
    static const unsigned factorial[] = {1, 1, 2, 6, 24};
    unsigned named = program_named(&original);
    uint64_t least = UINT64_MAX;
    for (unsigned b = 0; b < (s->orders ? 1 : factorial[named]); b++)
        for (unsigned t = 0; t < factorial[s->slots]; t++) {
            unsigned blocks[4], slots[4];
            next_permutation(named, blocks, b);
            next_permutation(s->slots, slots, t);
            rename_program(blocks, named, slots, s->slots);
            uint64_t digest = program_digest(&renamed);
            least = digest < least ? digest : least;
        }
    return least;
}

/* ---- the second enumeration -------------------------------------------------------------------
 */

struct naive {
    const struct scope *scope;
    struct digests classes;
    uint64_t programs;
    struct op menu[SCOPE_MENU];
    unsigned n_menu, blocks;
};
static struct naive naive;

/* At most so many. */
static unsigned all_values(void) {
    return 3 + 3 * naive.blocks;
}

static struct value nth_value(unsigned n) {
    static const uint8_t kinds[] = {VALUE_BLOCK, VALUE_INFIX, VALUE_ADDRESS};
    static const uint8_t atoms[] = {VALUE_IMMEDIATE, VALUE_OUTSIDE, VALUE_ATOM};
    if (n < 3)
        return (struct value){.kind = atoms[n]};
    n -= 3;
    struct value v = {.kind = kinds[n % 3], .block = (uint16_t)(n / 3)};
    v.offset = v.kind == VALUE_INFIX ? 3 : 0;
    return v;
}

/* Does a value make sense: is it in the scope, is the block there, and does the closure have an
 * infix block? */
static bool makes_sense(struct value v) {
    const struct scope *s = naive.scope;
    switch (v.kind) {
    case VALUE_IMMEDIATE:
        return true;
    case VALUE_OUTSIDE:
        return s->outside;
    case VALUE_ATOM:
        return s->atoms;
    case VALUE_INFIX:
        return program_named_item(&original, v.block)->functions == 2;
    default:
        return v.kind == VALUE_BLOCK || s->addresses;
    }
}

static void naive_script(unsigned length) {
    if (program_valid(&original) == NULL) { /* it fits */
        add(&naive.classes, class_of(naive.scope));
        naive.programs++;
    }
    for (unsigned i = 0; length < naive.scope->ops && i < naive.n_menu; i++) {
        original.ops[original.n_ops++] = naive.menu[i];
        naive_script(length + 1);
        original.n_ops--;
    }
}

static void naive_roots(unsigned slot) {
    if (slot == naive.scope->slots) {
        naive_script(0);
        return;
    }
    for (unsigned n = 0; n < all_values(); n++) {
        original.roots[0][slot] = nth_value(n);
        if (makes_sense(original.roots[0][slot]))
            naive_roots(slot + 1);
    }
}

static void naive_fields(unsigned field) {
    if (field == original.n_fields) {
        naive_roots(0);
        return;
    }
    if (original.fields[field].kind == VALUE_RAW) {
        const struct value raw = original.fields[field];
        naive_fields(field + 1);
        for (uint16_t b = 0; b < naive.blocks && naive.scope->addresses; b++) {
            original.fields[field] = (struct value){.kind = VALUE_ADDRESS, .block = b};
            naive_fields(field + 1);
        }
        original.fields[field] = raw;
        return;
    }
    for (unsigned n = 0; n < all_values(); n++) {
        original.fields[field] = nth_value(n);
        if (makes_sense(original.fields[field]))
            naive_fields(field + 1);
    }
    original.fields[field] = nth_value(0);
}

static void append_block(const struct scope_shape *shape) {
    struct item *item = &original.items[original.n_items++];
    *item = (struct item){.kind = shape->kind,
                          .tag = shape->tag,
                          .functions = shape->functions,
                          .first_field = original.n_fields,
                          .n_fields = shape->fields,
                          .wosize = (uint16_t)(shape->fields + (shape->functions == 2   ? 5
                                                                : shape->functions == 1 ? 2
                                                                                        : 0))};
    for (unsigned f = 0; f < shape->functions; f++)
        item->arity[f] = 1;
    for (unsigned f = 0; f < shape->fields; f++)
        original.fields[original.n_fields++] = shape->kind == ITEM_RAW
                                                   ? (struct value){.kind = VALUE_RAW, .bits = 0x2a}
                                                   : (struct value){.kind = VALUE_IMMEDIATE};
}

static void naive_items(unsigned blocks, unsigned gaps) {
    static const struct item gap[] = {{.kind = ITEM_FREE, .wosize = 1},
                                      {.kind = ITEM_DEAD, .wosize = 1},
                                      {.kind = ITEM_FRAGMENT}};
    unsigned items = original.n_items, fields = original.n_fields;
    bool after_gap = items && !item_is_named(&original.items[items - 1]);
    if (blocks == naive.blocks)
        naive_fields(0);
    for (unsigned k = 0; k < 3 && gaps < naive.scope->gaps && !after_gap; k++)
        if (naive.scope->gap_kinds >> k & 1) {
            original.items[original.n_items++] = gap[k];
            naive_items(blocks, gaps + 1);
            original.n_items = (uint16_t)items;
        }
    for (unsigned s = 0; s < naive.scope->n_shapes && blocks < naive.blocks; s++) {
        append_block(&naive.scope->shapes[s]);
        naive_items(blocks + 1, gaps);
        original.n_items = (uint16_t)items;
        original.n_fields = (uint16_t)fields;
    }
}

static void naive_config(unsigned key) {
    if (key == CONFIG_KEYS) {
        for (naive.blocks = 0; naive.blocks <= naive.scope->blocks; naive.blocks++)
            naive_items(0, 0);
        return;
    }
    for (unsigned v = 0; v < naive.scope->n_values[key]; v++) {
        original.config[key] = naive.scope->values[key][v];
        naive_config(key + 1);
    }
}

/* ---- the enumeration under test ---------------------------------------------------------------
 */

struct visited {
    const struct scope *scope;
    struct digests programs, classes;
    uint64_t units, first, step; /* every step-th unit from first on */
};

static uint64_t next_unit(void *context, uint64_t unit) {
    struct visited *v = context;
    while (unit % v->step != v->first)
        unit++;
    v->units++;
    return unit;
}

static bool visit(void *context, const struct program *p) {
    struct visited *v = context;
    assert_null(program_valid(p));
    original = *p;
    add(&v->programs, program_digest(p));
    if (v->scope)
        add(&v->classes, class_of(v->scope));
    return true;
}

static struct program current;

static void run_part(const struct scope *s, struct visited *v) {
    struct enumeration e = {
        .scope = s, .program = &current, .next = next_unit, .visit = visit, .context = v};
    assert_int_equal(enumerate(&e), ENUMERATED);
    v->units--; /* the question after the last one */
}

static void release(struct visited *v) {
    free(v->programs.at);
    free(v->classes.at);
}

/* All three ways know the same classes. */
static void check_scope(const struct scope *s) {
    struct visited v = {.scope = s, .step = 1};
    assert_null(scope_valid(s));
    struct scope_count count = scope_count(s);
    program_clear(&original);
    program_clear(&renamed);
    run_part(s, &v);
    assert_int_equal(v.programs.n, count.programs);
    assert_int_equal(v.units, count.units);
    assert_int_equal(normalise(&v.programs), 0); /* no program twice */
    assert_int_equal(normalise(&v.classes), 0);  /* no class twice */

    memset(&naive, 0, sizeof naive);
    naive.scope = s;
    naive.n_menu = scope_menu(s, naive.menu);
    program_clear(&original);
    program_clear(&renamed);
    naive_config(0);
    normalise(&naive.classes);
    assert_int_equal(naive.programs, scope_count_named(s));
    assert_int_equal(naive.classes.n, count.programs);
    assert_memory_equal(naive.classes.at, v.classes.at, count.programs * sizeof(uint64_t));
    printf("%llu programs, %llu classes, %llu units\n", (unsigned long long)naive.programs,
           (unsigned long long)count.programs, (unsigned long long)count.units);
    free(naive.classes.at);
    release(&v);
}

static void tiny(struct scope *s, unsigned blocks, unsigned slots, unsigned ops, unsigned gaps,
                 const char *shapes, const char *codes) {
    scope_initial(s);
    s->blocks = blocks;
    s->slots = slots;
    s->ops = ops;
    s->gaps = gaps;
    assert_true(scope_parse_shapes(shapes, s->shapes, &s->n_shapes));
    assert_true(scope_parse_shapes(shapes, s->allocs, &s->n_allocs));
    assert_true(scope_parse_codes(codes, &s->codes));
}

/* ---- tests ------------------------------------------------------------------------------------
 */

static void counts_agree_on_heaps(void **state) {
    struct scope s;
    (void)state;
    tiny(&s, 3, 1, 0, 0, "b1,s1", "full");
    check_scope(&s);
    tiny(&s, 3, 2, 0, 0, "b2", "full");
    s.values[CONFIG_HEAP][0] = 24;
    check_scope(&s);
    tiny(&s, 4, 1, 0, 0, "b1", "full");
    check_scope(&s);
    tiny(&s, 4, 4, 0, 1, "b1:248", "full");
    s.values[CONFIG_HEAP][0] = 24;
    s.gap_kinds = GAP_DEAD;
    s.blocks = 2;
    check_scope(&s);
}

/* Closures of seven words: three do not fit, two and two gaps do. */
static void counts_agree_on_closures_and_gaps(void **state) {
    struct scope s;
    (void)state;
    tiny(&s, 3, 1, 0, 2, "c0,b1", "full");
    check_scope(&s);
    tiny(&s, 2, 1, 1, 2, "c1,s1", "full,infix");
    s.outside = true;
    s.n_values[CONFIG_HEAP] = 2;
    s.values[CONFIG_HEAP][1] = 17;
    check_scope(&s);
}

static void counts_agree_on_scripts(void **state) {
    struct scope s;
    (void)state;
    tiny(&s, 1, 2, 1, 1, "b1", "all");
    check_scope(&s);
    tiny(&s, 1, 2, 2, 1, "b1", "alloc,load,store,init,blit,fill,set,infix,read,exhaust,kind,poll");
    check_scope(&s);
    tiny(&s, 1, 3, 2, 0, "b1", "alloc,load,store,set,drop,full");
    check_scope(&s);
    tiny(&s, 1, 2, 2, 0, "b1", "alloc,set,full,attach,detach");
    s.mutators = 3;
    check_scope(&s);
    tiny(&s, 1, 1, 4, 0, "b1", "alloc,store,full");
    s.n_values[CONFIG_STRESS] = 2;
    s.values[CONFIG_STRESS][1] = 1;
    check_scope(&s);
}

static void counts_agree_on_addresses_and_atoms(void **state) {
    struct scope s;
    (void)state;
    tiny(&s, 2, 2, 1, 0, "b1,s1", "raw,store,set,full");
    s.addresses = true;
    check_scope(&s);
    s.orders = s.outside = s.atoms = true;
    check_scope(&s);
    tiny(&s, 2, 1, 1, 1, "c1,s2", "alloc,full");
    s.addresses = s.atoms = true;
    check_scope(&s);
}

static void counts_agree_where_orders_differ(void **state) {
    struct scope s;
    (void)state;
    tiny(&s, 3, 2, 0, 1, "b1,c0", "full");
    s.orders = true;
    check_scope(&s);
}

/* Spread over any number of parts, every unit comes once. */
static void parts_make_the_whole(void **state) {
    struct scope s;
    struct visited whole = {.step = 1}, parts = {.step = 7};
    (void)state;
    tiny(&s, 2, 2, 2, 1, "b1,s1", "alloc,load,drop,full");
    run_part(&s, &whole);
    for (parts.first = 0; parts.first < parts.step; parts.first++)
        run_part(&s, &parts);
    assert_int_equal(parts.programs.n, whole.programs.n);
    normalise(&whole.programs);
    assert_int_equal(normalise(&parts.programs), 0);
    assert_memory_equal(parts.programs.at, whole.programs.at, whole.programs.n * sizeof(uint64_t));
    assert_int_equal(parts.units, whole.units);
    release(&whole);
    release(&parts);
}

static bool end_soon(void *context, const struct program *p) {
    unsigned *left = context;
    (void)p;
    return --*left > 0;
}
static uint64_t every_unit(void *context, uint64_t unit) {
    (void)context;
    return unit;
}

static void a_visitor_ends_it(void **state) {
    struct scope s;
    unsigned left = 10;
    (void)state;
    scope_initial(&s);
    struct enumeration e = {&s, &current, every_unit, end_soon, &left};
    assert_int_equal(enumerate(&e), ENUMERATION_ENDED);
    assert_int_equal(left, 0);
}

static void a_count_that_is_too_large_says_so(void **state) {
    struct scope s;
    (void)state;
    scope_initial(&s);
    s.ops = SCOPE_OPS;
    assert_true(scope_count(&s).programs == UINT64_MAX);
}

static void the_text_of_a_scope(void **state) {
    struct scope s;
    char text[SCOPE_TEXT];
    (void)state;
    scope_initial(&s);
    assert_true(scope_parse_shapes("b2:248,b2,s1:253,f0,c3,b2:1", s.shapes, &s.n_shapes));
    s.outside = s.atoms = s.addresses = s.orders = true;
    s.gap_kinds = 0;
    scope_print(&s, text, sizeof text);
    assert_non_null(strstr(text, "gaps=1 shapes=b2:248,b2,s1:253,f0,c3,b2:1 allocs="));
    assert_non_null(strstr(text, "kinds=1 outside atoms addresses orders heap="));
    scope_initial(&s);
    scope_print(&s, text, sizeof text);
    assert_string_equal(text, "blocks=2 slots=2 operations=2 gaps=1 gap-kinds=free,dead,fragment "
                              "shapes=b2,s1,c1 allocs=b2,s1,c1 "
                              "menu=alloc,closure,raw,load,store,drop,minor,slice,full,compact "
                              "kinds=1 heap=16 nursery=8 mark-stack=1 slice=1 large=16 age=1 "
                              "stress=0 fail=0 variant=0 kind=0 schedule=0 preempt=0");
}

static void lists_that_are_none(void **state) {
    struct scope s;
    unsigned n;
    static const char *const shapes[] = {
        "", "b", "b0", "x1", "b1,", "b1;b2", "b9", "b11", "b1,b2,b3,b4,b5,b6,b7,b8,s1"};
    (void)state;
    for (unsigned i = 0; i < sizeof shapes / sizeof *shapes; i++)
        assert_false(scope_parse_shapes(shapes[i], s.shapes, &n));
    assert_false(scope_parse_codes("", &s.codes));
    assert_false(scope_parse_codes("alloc,", &s.codes));
    assert_false(scope_parse_codes("allo", &s.codes));
    assert_false(scope_parse_gaps("none,hole", &n));
    assert_true(scope_parse_gaps("none", &n) && n == 0);
    assert_true(scope_parse_gaps("dead,free", &n) && n == (GAP_DEAD | GAP_FREE));
}

static void scopes_that_are_none(void **state) {
    struct scope s;
    (void)state;
    scope_initial(&s);
    s.slots = 0;
    assert_non_null(scope_valid(&s));
    scope_initial(&s);
    s.blocks = SCOPE_BLOCKS + 1;
    assert_non_null(scope_valid(&s));
    scope_initial(&s);
    s.values[CONFIG_HEAP][0] = 15;
    assert_non_null(scope_valid(&s));
    scope_initial(&s);
    s.shapes[1] = s.shapes[0];
    assert_non_null(scope_valid(&s));
    scope_initial(&s);
    s.gaps = 4;
    assert_non_null(scope_valid(&s));
    scope_initial(&s);
    s.slots = 4;
    scope_parse_shapes("b8", s.shapes, &s.n_shapes);
    scope_parse_codes("all", &s.codes);
    assert_non_null(scope_valid(&s)); /* too long a menu: 1024 blits alone */
}

/* A scope may have a larger heap than the fuzzer, and no other value beyond its limits. */
static void heaps_of_a_scope_may_be_large(void **state) {
    (void)state;
    struct scope s;
    scope_initial(&s);
    s.values[CONFIG_HEAP][0] = scope_largest(CONFIG_HEAP);
    assert_null(scope_valid(&s));
    assert_int_equal(scope_largest(CONFIG_NURSERY), config_ranges[CONFIG_NURSERY].max);
    s.values[CONFIG_HEAP][0]++;
    assert_non_null(scope_valid(&s));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(heaps_of_a_scope_may_be_large),
        cmocka_unit_test(counts_agree_on_heaps),
        cmocka_unit_test(counts_agree_on_closures_and_gaps),
        cmocka_unit_test(counts_agree_on_scripts),
        cmocka_unit_test(counts_agree_on_addresses_and_atoms),
        cmocka_unit_test(counts_agree_where_orders_differ),
        cmocka_unit_test(parts_make_the_whole),
        cmocka_unit_test(a_visitor_ends_it),
        cmocka_unit_test(a_count_that_is_too_large_says_so),
        cmocka_unit_test(the_text_of_a_scope),
        cmocka_unit_test(lists_that_are_none),
        cmocka_unit_test(scopes_that_are_none),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
