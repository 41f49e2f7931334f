/* SPDX-License-Identifier: MIT
 *
 * A source tree of OCaml that somebody has edited (tests/CMakeLists.txt): without the call in
 * caml_modify that darkens what is overwritten while the collector marks.  A seed finds that, and
 * with the call it passes.
 */
#include "collectors/ocaml/ocaml.h"
#include "tests/support/passing.h"
#include "tests/support/support.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#ifdef ISOHEAP_HAS_OCAML

extern const struct collector ocaml_edited;

static const char seed[] = SEEDS_DIR "/ocaml/slices.txt";

static void an_edit_is_found(void **state) {
    (void)state;
    static struct program program;
    load_program(&program, seed);
    struct runner *runner = open_pair(&ocaml, NULL);
    must_pass(runner, &program, seed, NULL);
    runner_close(runner);
    struct verdict verdict = run_here(&ocaml_edited, NULL, &program);
    assert_string_equal(violation_name(verdict.violation), "lost_object");
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(an_edit_is_found)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}

#else

int main(void) {
    return 0; /* this build has no OCaml runtime */
}

#endif
