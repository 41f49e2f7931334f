/* SPDX-License-Identifier: MIT
 *
 * The shared object for AFL++, called as afl-fuzz calls it: every result decodes, keeps the limit
 * and repeats; trimming ends, never grows an input and keeps what it was told to keep.
 */
#include "program/bytes/bytes.h"
#include "tests/support/program_support.h"

#include <dlfcn.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

struct library {
    void *handle, *data;
    void *(*init)(void *, unsigned);
    void (*deinit)(void *);
    size_t (*fuzz)(void *, unsigned char *, size_t, unsigned char **, unsigned char *, size_t,
                   size_t);
    const char *(*describe)(void *, size_t);
    int (*init_trim)(void *, unsigned char *, size_t);
    size_t (*trim)(void *, unsigned char **);
    int (*post_trim)(void *, unsigned char);
};

static struct program program, decoded;

/* ISO C has no conversion from an object pointer to a function pointer. */
static void find(void *handle, const char *name, void *function) {
    void *symbol = dlsym(handle, name);
    if (!symbol)
        fail_msg("%s is missing", name);
    memcpy(function, &symbol, sizeof symbol);
}

static struct library load(unsigned seed) {
    struct library l;
    l.handle = dlopen(AFL_MUTATOR, RTLD_NOW | RTLD_LOCAL);
    if (!l.handle)
        fail_msg("%s", dlerror());
    find(l.handle, "afl_custom_init", &l.init);
    find(l.handle, "afl_custom_deinit", &l.deinit);
    find(l.handle, "afl_custom_fuzz", &l.fuzz);
    find(l.handle, "afl_custom_describe", &l.describe);
    find(l.handle, "afl_custom_init_trim", &l.init_trim);
    find(l.handle, "afl_custom_trim", &l.trim);
    find(l.handle, "afl_custom_post_trim", &l.post_trim);
    l.data = l.init(NULL, seed);
    assert_non_null(l.data);
    return l;
}

static void unload(struct library *l) {
    l->deinit(l->data);
    dlclose(l->handle);
}

static void fuzzing_keeps_the_limit(void **state) {
    (void)state;
    struct library a = load(1), b = load(1);
    struct rng rng = {5};
    uint8_t in[600], other[600];
    for (unsigned round = 0; round < 5000; round++) {
        size_t size = 1 + rng_below(&rng, 500), max = size + rng_below(&rng, 100);
        size_t other_size = rng_below(&rng, 500);
        random_bytes(&rng, in, size);
        random_bytes(&rng, other, other_size);
        unsigned char *x, *y;
        size_t n = a.fuzz(a.data, in, size, &x, other, other_size, max);
        assert_true(n <= max && x);
        assert_int_equal(n, b.fuzz(b.data, in, size, &y, other, other_size, max));
        assert_memory_equal(x, y, n);
        program_decode(&decoded, x, n);
        assert_null(program_valid(&decoded));
        const char *text = a.describe(a.data, 12);
        assert_true(strlen(text) < 12 && !strchr(text, '/'));
    }
    unload(&a);
    unload(&b);
}

/* Keeps a trim if the program still has a full collection, as AFL++ does if the path is the same.
 */
static bool has_full(const uint8_t *data, size_t size) {
    program_decode(&decoded, data, size);
    for (unsigned i = 0; i < decoded.n_ops; i++)
        if (decoded.ops[i].code == OP_FULL)
            return true;
    return false;
}

static void trimming_ends_with_what_counts(void **state) {
    (void)state;
    static uint8_t in[1 << 16], kept[1 << 16];
    struct library l = load(2);
    for (unsigned seed = 0; seed < 50; seed++) {
        struct rng rng = {seed};
        unsigned items = 1 + rng_below(&rng, 20); /* one draw after the other */
        random_program(&rng, &program, items, 1 + rng_below(&rng, 60));
        program.n_ops += program.n_ops == 0;
        program.ops[program.n_ops / 2] = (struct op){.code = OP_FULL};
        size_t size = program_encode(&program, in, sizeof in), steps = 0;
        assert_true(size <= sizeof in);
        memcpy(kept, in, size);
        int end = l.init_trim(l.data, in, size);
        assert_true(end > 0);
        for (int at = 0; at < end; steps++) {
            unsigned char *out = NULL;
            size_t n = l.trim(l.data, &out);
            assert_true(out && n <= size);
            bool keep = n > 0 && has_full(out, n);
            if (keep) {
                size = n;
                memcpy(kept, out, n);
            }
            at = l.post_trim(l.data, keep);
            assert_true(steps < 500);
        }
        assert_true(has_full(kept, size));
        assert_true(decoded.n_ops <= 3 && decoded.n_items <= 2); /* the settings stay */
    }
    assert_int_equal(l.init_trim(l.data, in, 0), 0); /* nothing to leave out */
    unload(&l);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(fuzzing_keeps_the_limit),
        cmocka_unit_test(trimming_ends_with_what_counts),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
