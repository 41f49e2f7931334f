/* SPDX-License-Identifier: MIT
 *
 * The order in which a campaign looks at what waits (cli/campaign/queue.c): first one of each sort.
 */
#define _GNU_SOURCE
#include "cli/campaign/campaign.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

static struct target targets[2];
static struct campaign campaign = {.targets = targets};
static char folder[] = "/tmp/isoheap-queue-XXXXXX";

static int set_up(void **state) {
    (void)state;
    campaign.n_targets = 2;
    for (unsigned i = 0; i < 2; i++) {
        targets[i] = (struct target){.work = text_of("%s/%u", folder, i)};
        char *queue = text_of("%s/queue", targets[i].work);
        bool good = make_folder(queue);
        free(queue);
        if (!good)
            return -1;
    }
    return 0;
}

static int tear_down(void **state) {
    (void)state;
    for (unsigned i = 0; i < 2; i++) {
        remove_folder(targets[i].work);
        free(targets[i].work);
    }
    return 0;
}

/* An input of that name, of which that was said; NULL: nothing. */
static void wait_in(unsigned target, const char *name, const char *class, const char *said) {
    char *sort = said ? name_sort(class, said) : text_of("%s", "");
    char *path = text_of("%s/queue/%.1s%s%s", targets[target].work, name, sort, name + 1);
    assert_true(save_file(path, "x", 1));
    free(path);
    free(sort);
}

/* Looks at all that waits; the first letters of the names in that order. */
static void looked_at_as(const char *order) {
    char got[64] = "";
    struct target *t;
    char *path;
    while ((path = next_in_queue(&campaign, &t))) {
        assert_int_equal(strncmp(path, t->work, strlen(t->work)), 0);
        strncat(got, strrchr(path, '/') + 1, 1);
        assert_int_equal(unlink(path), 0);
        free(path);
    }
    assert_string_equal(got, order);
}

#define FULL  "isoheap: violation lost_object\n  operation  7: full\n"
#define ALLOC "isoheap: violation lost_object\n  operation  0: r11 = alloc tag=3 [r0]\n"

/* Many of one class at one place, one at another place, and the only one of another class. */
static void first_one_of_each_sort(void **state) {
    (void)state;
    wait_in(0, "a", "lost_object", FULL);
    wait_in(0, "b", "lost_object", FULL);
    wait_in(0, "c", "lost_object", FULL);
    wait_in(0, "d", "lost_object", ALLOC);
    wait_in(0, "e", "overlap", ALLOC);
    looked_at_as("aedbc");
}

/* It is a class of its own how those came that nobody has said anything of; among those of one
 * place one that may be no failure waits. */
static void unsure_ones_wait(void **state) {
    (void)state;
    wait_in(0, "a,how:later", "lost_object", FULL);
    wait_in(0, "b", "lost_object", FULL);
    wait_in(0, "c,how:killed", "lost_object", FULL);
    wait_in(0, "d", NULL, NULL);
    wait_in(0, "e", NULL, NULL);
    wait_in(0, "f,how:killed", NULL, NULL);
    wait_in(0, "g,how:late", NULL, NULL);
    looked_at_as("bdfgcea");
}

/* No target waits for the end of another one's queue; what one has found is no news of the other.
 */
static void targets_take_turns(void **state) {
    (void)state;
    wait_in(0, "a", "lost_object", FULL);
    wait_in(0, "b", "lost_object", FULL);
    wait_in(0, "c", "lost_object", FULL);
    wait_in(1, "d", "lost_object", FULL);
    wait_in(1, "e", "lost_object", FULL);
    looked_at_as("adbec");
}

static void is_named(const char *want, const char *violation, const char *said) {
    char *name = name_sort(violation, said);
    assert_string_equal(name, want);
    free(name);
}

/* Letters alone: it is a part of the name of a file. */
static void sorts_have_names(void **state) {
    (void)state;
    is_named(",class:lost_object,at:full", "lost_object", FULL);
    is_named(",class:lost_object,at:alloc", "lost_object", ALLOC);
    is_named(",class:sanitizer,at:use-after-poison", "sanitizer",
             "SUMMARY: AddressSanitizer: use-after-poison /a/b.c:3:1 in sweep\n");
    is_named(",class:sanitizer,at:signed", "sanitizer",
             "a.c:1:2: runtime error: signed integer overflow: 1 + 2\n");
    is_named(",class:no_progress,at:", "no_progress", "  operation  7: r0 = 3\n");
    is_named(",class:overlap,at:", "overlap", "");
    is_named(",class:overlap,at:xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx", "overlap",
             "  operation  0: xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(first_one_of_each_sort, set_up, tear_down),
        cmocka_unit_test_setup_teardown(unsure_ones_wait, set_up, tear_down),
        cmocka_unit_test_setup_teardown(targets_take_turns, set_up, tear_down),
        cmocka_unit_test(sorts_have_names),
    };
    if (!mkdtemp(folder))
        return 1;
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    rmdir(folder);
    return failed;
}
