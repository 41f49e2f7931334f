/* SPDX-License-Identifier: MIT
 *
 * The names of inputs are FNV-1a of 64 bits, on the target's side and on the campaign's.
 */
#include "harness/current_input.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

/* The values that the authors of FNV publish. */
static void the_hash_is_fnv_1a(void **state) {
    (void)state;
    assert_true(content_hash("", 0) == UINT64_C(0xcbf29ce484222325));
    assert_true(content_hash("a", 1) == UINT64_C(0xaf63dc4c8601ec8c));
    assert_true(content_hash("foobar", 6) == UINT64_C(0x85944171f73967e8));
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(the_hash_is_fnv_1a)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
