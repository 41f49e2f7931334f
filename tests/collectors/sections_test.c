/* SPDX-License-Identifier: MIT
 *
 * Variables that are saved and put back: of ranges, of a shared object, and of nobody.
 */
#include "collectors/sections.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <dlfcn.h>

#include <cmocka.h>

/* All lengths and alignments, and what lies beside stays. */
static void ranges_come_back(void **state) {
    (void)state;
    char bytes[64], before[64];
    for (size_t start = 0; start < 9; start++)
        for (size_t length = 0; length < 40; length++) {
            struct sections s = {0};
            for (size_t i = 0; i < sizeof bytes; i++)
                bytes[i] = before[i] = (char)(7 * i + 3);
            assert_true(sections_add(&s, bytes + start, bytes + start + length));
            assert_int_equal(s.n, length > 0);
            memset(bytes, 'x', sizeof bytes);
            memset(before, 'x', start);
            memset(before + start + length, 'x', sizeof before - start - length);
            sections_put_back(&s);
            assert_memory_equal(bytes, before, sizeof bytes);
            sections_close(&s);
            assert_int_equal(s.n, 0);
        }
}

static void there_is_an_end_to_ranges(void **state) {
    (void)state;
    char byte = 1;
    struct sections s = {0};
    for (unsigned i = 0; i < SECTIONS; i++)
        assert_true(sections_add(&s, &byte, &byte + 1));
    assert_false(sections_add(&s, &byte, &byte + 1));
    sections_close(&s);
}

static unsigned (*function(void *object, const char *name))(void) {
    unsigned (*found)(void);
    void *symbol = dlsym(object, name);
    memcpy(&found, &symbol, sizeof found); /* C has no cast for it */
    return found;
}

static void a_shared_object_comes_back(void **state) {
    (void)state;
    struct sections s = {0};
    void *object = dlopen(HIDDEN, RTLD_NOW | RTLD_LOCAL);
    assert_non_null(object);
    unsigned (*count)(void) = function(object, "hidden_count");
    unsigned (*others)(void) = function(object, "hidden_others");
    assert_int_equal(count(), 42);
    assert_true(sections_add_object(&s, dlsym(object, "hidden_count")));
    assert_true(s.n > 0);
    for (unsigned i = 0; i < 3; i++) {
        assert_int_equal(count(), 44);
        assert_int_equal(count(), 46);
        assert_int_equal(others(), 4);
        sections_put_back(&s);
        assert_int_equal(others(), 2);
    }
    sections_close(&s);
    dlclose(object);
}

/* Its variables are those of everybody; and what is in no object has none. */
static void the_program_itself_is_refused(void **state) {
    (void)state;
    struct sections s = {0};
    static char here;
    char *heap = malloc(1);
    assert_false(sections_add_object(&s, &here));
    assert_false(sections_of_subject(&s));
    assert_false(sections_add_object(&s, heap));
    assert_int_equal(s.n, 0);
    free(heap);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ranges_come_back),
        cmocka_unit_test(there_is_an_end_to_ranges),
        cmocka_unit_test(a_shared_object_comes_back),
        cmocka_unit_test(the_program_itself_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
