/* SPDX-License-Identifier: MIT
 *
 * The names of a sanitizer's stack that tell one defect from another.
 */
#include "cli/campaign/campaign.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

static void check_stack(const char *text, const char *wanted) {
    char out[64];
    sanitizer_stack(text, out, sizeof out);
    assert_string_equal(out, wanted);
}

static void the_collector_s_frames_are_taken(void **state) {
    (void)state;
    check_stack("==1==ERROR: AddressSanitizer: heap-use-after-free on address 0x60\n"
                "READ of size 8 at 0x602 thread T0\n"
                "    #0 0x55d0 in __asan_memcpy (/tmp/fuzz_x+0x1a2b)\n"
                "    #1 0x55d1 in sweep.part.0 collectors/x/x.c:80:5\n"
                "    #2 0x55d2 in x_collect collectors/x/x.c:120:9\n"
                "    #3 0x55d3 in call_of_collect harness/call.c:210:12\n"
                "    #4 0x55d4 in op_full harness/operations/collection.c:20:5\n"
                "\n"
                "0x602 is located 0 bytes inside of 16-byte region\n"
                "freed by thread T0 here:\n"
                "    #0 0x55d0 in free (/tmp/fuzz_x+0x1)\n"
                "    #1 0x55d9 in somebody collectors/x/x.c:10:5\n",
                "sweep<x_collect");
}

static void no_more_than_the_last_three(void **state) {
    (void)state;
    check_stack("ERROR: AddressSanitizer: SEGV\n"
                "    #0 0x1 in mark x.c:1\n"
                "    #1 0x1 in mark x.c:2\n"
                "    #2 0x1 in mark_roots x.c:3\n"
                "    #3 0x1 in collect x.c:4\n",
                "mark<mark<mark_roots");
}

static void without_names_there_is_none(void **state) {
    (void)state;
    check_stack("ERROR: AddressSanitizer: SEGV\n"
                "    #0 0x55d0  (/tmp/fuzz_x+0x1a2b)\n"
                "    #1 0x55d1  (/tmp/fuzz_x+0x1a2c)\n",
                "");
    check_stack("isoheap: violation sanitizer\n", "");
    check_stack("", "");
}

static void names_that_do_not_fit_are_left_out(void **state) {
    (void)state;
    char out[8];
    sanitizer_stack("\n    #0 0x1 in a_name_that_is_long x.c:1\n    #1 0x1 in short x.c:2\n", out,
                    sizeof out);
    assert_string_equal(out, "short");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_collector_s_frames_are_taken),
        cmocka_unit_test(no_more_than_the_last_three),
        cmocka_unit_test(without_names_there_is_none),
        cmocka_unit_test(names_that_do_not_fit_are_left_out),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
