/* SPDX-License-Identifier: MIT
 *
 * The OCaml runtime with defects in what it does for ephemerons and finalisers
 * (ocaml_defects.h): each raises its
 * class on crashes/<class>/bad_ocaml_<defect>.txt, which passes without it.
 *
 * `ocaml_bad_test hunt N` says for each defect how many of N programs made from nothing it took to
 * find it, and prints the first one reduced: for who writes such a file, and for docs/ocaml.md.
 */
#include "collectors/ocaml/ocaml.h"
#include "program/bytes/bytes.h"
#include "program/mutation/mutate.h"
#include "program/text/text.h"
#include "tests/collectors/ocaml_defects.h"
#include "tests/support/support.h"
#include "tests/support/trial.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#ifdef ISOHEAP_HAS_OCAML_BAD

extern const struct collector ocaml_bad;
int ocaml_defect;

static const struct {
    const char *name;
    enum violation violation;
} defects[] = {{"none", VIOLATION_none},
#define X(name, class, meaning) {#name, VIOLATION_##class},
               OCAML_DEFECTS(X)
#undef X
};
enum { DEFECTS = sizeof defects / sizeof *defects };
static struct program program;

static void each_raises_its_class(void **state) {
    (void)state;
    for (int d = 1; d < DEFECTS; d++) {
        char path[512];
        snprintf(path, sizeof path, "%s/%s/bad_ocaml_%s.txt", CRASHES_DIR,
                 violation_name(defects[d].violation), defects[d].name);
        load_program(&program, path);
        ocaml_defect = d;
        enum violation found = run_thoroughly(&ocaml_bad, &program);
        if (found != defects[d].violation)
            fail_msg("%s: %s", path, violation_name(found));
        ocaml_defect = DEFECT_none;
        assert_int_equal(run_thoroughly(&ocaml_bad, &program), VIOLATION_none);
    }
}

/* ---- hunt -------------------------------------------------------------------------------------
 */

enum { SIZE = 512 };

static void show(struct trial *trial) {
    static char text[1 << 16];
    struct reduction reduction = {.max_runs = 20000};
    trial_reduce(trial, &reduction, &program);
    program_print(&program, text, sizeof text);
    printf("%s", text);
}

/* How many it took; 0: all of them, and none was one. */
static unsigned hunt(int defect, unsigned most, uint64_t from) {
    uint8_t bytes[SIZE];
    struct trial trial;
    struct mutation *mutation = mutation_open(mutation_profile_find("runtime"), NULL);
    unsigned n = 0;
    ocaml_defect = defect;
    trial_open(&trial, &ocaml_bad, NULL);
    while (n < most) {
        size_t size = mutation_generate(mutation, bytes, sizeof bytes, from + n++);
        program_decode(&program, bytes, size);
        trial.wanted = trial_judge(&trial, &program);
        if (!trial.wanted.violation)
            continue;
        printf("%s: %u programs: %s: %s\n", defects[defect].name, n,
               violation_name(trial.wanted.violation), trial.wanted.detail);
        show(&trial);
        break;
    }
    if (!trial.wanted.violation)
        printf("%s: none of %u programs\n", defects[defect].name, n);
    trial_close(&trial);
    mutation_close(mutation);
    return n;
}

int main(int argc, char **argv) {
    if (argc > 2 && !strcmp(argv[1], "hunt")) {
        uint64_t from = argc > 3 ? strtoull(argv[3], NULL, 10) : 0;
        for (int d = 0; d < DEFECTS; d++)
            if (argc < 5 || !strcmp(argv[4], defects[d].name))
                hunt(d, (unsigned)strtoul(argv[2], NULL, 10), from);
        return 0;
    }
    const struct CMUnitTest tests[] = {cmocka_unit_test(each_raises_its_class)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}

#else

int main(void) {
    puts("this build has no OCaml runtime 4.13");
    return 0;
}
#endif
