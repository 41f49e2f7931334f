/* SPDX-License-Identifier: MIT
 *
 * What the model says of ephemerons whose keys may be dead (model.h).
 */
#include "views/model.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

static struct model model;
enum { KEY, DATA, OTHER }; /* slots, and objects in the order in which they are made */
static unsigned object[3], ephemeron;

/* Slot 31: an ephemeron with two keys, of which the first is KEY, and DATA for data. */
static void begin(bool outlives) {
    static const word content[2] = {WORD_UNIT, WORD_UNIT};
    assert_true(model_room(&model, 64, 256));
    model_reset(&model, 1);
    model.outlives = outlives;
    for (unsigned n = 0; n < 3; n++) {
        object[n] = model_add(&model, 2, 0, 0, content);
        model.slots[0][n] = model_pointer(object[n], 0);
    }
    ephemeron = model_add_ephemeron(&model, 2);
    model.slots[0][31] = model_pointer(ephemeron, 0);
    model_mark(&model);
    assert_int_equal(model_weak_field(&model, ephemeron, 0), WEAK_NOTHING);
    model_put_weak(&model, ephemeron, 1, model.slots[0][KEY], false);
    model_put_weak(&model, ephemeron, 0, model.slots[0][DATA], false);
    model_mark(&model);
}

static void drop(unsigned slot) {
    model.slots[0][slot] = WORD_UNIT;
    model_mark(&model);
}

static void fields_are(enum model_weak data, enum model_weak key, enum model_weak other) {
    const enum model_weak expected[] = {data, key, other};
    model_mark(&model);
    for (unsigned i = 0; i < 3; i++) {
        assert_int_equal(model_weak_field(&model, ephemeron, i), expected[i]);
        word shown = model_fields(&model, ephemeron)[i];
        assert_true((shown != WORD_UNIT) == (expected[i] == WEAK_SET));
    }
}

static void what_is_reached_must_be_there(void **state) {
    (void)state;
    begin(true);
    drop(DATA);
    fields_are(WEAK_SET, WEAK_SET, WEAK_NOTHING);
    assert_int_equal(model.live_objects, 4); /* the data too */
    assert_true(model_keys_reached(&model, ephemeron));
    drop(KEY);
    assert_false(model_keys_reached(&model, ephemeron));
    fields_are(WEAK_EITHER, WEAK_EITHER, WEAK_NOTHING);
    assert_int_equal(model.live_objects, 2);
}

static void who_is_given_away_lives_on(void **state) {
    (void)state;
    begin(true);
    drop(KEY);
    drop(DATA);
    model.slots[0][KEY] = model_kept(&model, ephemeron)[1];
    fields_are(WEAK_SET, WEAK_SET, WEAK_NOTHING);
    assert_true(model_fields(&model, ephemeron)[1] == model_pointer(object[KEY], 0));
}

static void a_dead_key_takes_its_data_along(void **state) {
    (void)state;
    begin(true);
    drop(KEY);
    model_died(&model, object[KEY]);
    fields_are(WEAK_NOTHING, WEAK_NOTHING, WEAK_NOTHING);
}

/* The key may have been dead when the data was put there, and the data stays then. */
static void data_set_later_may_stay(void **state) {
    (void)state;
    for (unsigned there = 0; there < 2; there++) {
        begin(true);
        drop(KEY);
        model_put_weak(&model, ephemeron, 0, model.slots[0][OTHER], false);
        model_died(&model, object[KEY]);
        fields_are(WEAK_EITHER, WEAK_NOTHING, WEAK_NOTHING);
        model_data_is(&model, ephemeron, there);
        fields_are(there ? WEAK_SET : WEAK_NOTHING, WEAK_NOTHING, WEAK_NOTHING);
    }
}

/* Another key in the place of one that may have taken the data along. */
static void a_key_that_may_be_dead_is_replaced(void **state) {
    (void)state;
    begin(true);
    drop(KEY);
    model_put_weak(&model, ephemeron, 1, model.slots[0][OTHER], false);
    fields_are(WEAK_EITHER, WEAK_SET, WEAK_NOTHING);
    model_data_seen(&model);
    fields_are(WEAK_NOTHING, WEAK_SET, WEAK_NOTHING);
    model_put_weak(&model, ephemeron, 0, model.slots[0][DATA], false);
    fields_are(WEAK_SET, WEAK_SET, WEAK_NOTHING);
    model_put_weak(&model, ephemeron, 0, model.slots[0][DATA], true);
    fields_are(WEAK_EITHER, WEAK_SET, WEAK_NOTHING);
}

/* What may come back counts, once it is asked for. */
static void what_may_be_there_counts(void **state) {
    (void)state;
    begin(true);
    drop(KEY);
    drop(DATA);
    assert_int_equal(model_most_live(&model, WORD_UNIT), 4 + 3); /* the ephemeron, OTHER */
    assert_int_equal(model_most_live(&model, model_pointer(object[KEY], 0)), 4 + 9);
    model_put_weak(&model, ephemeron, 1, MODEL_NOTHING, false);
    assert_int_equal(model_most_live(&model, WORD_UNIT), 4 + 6);
    assert_int_equal(model.live_words, 4 + 3);
}

static void all_is_over_after_a_full_collection(void **state) {
    (void)state;
    begin(true);
    model_put_weak(&model, ephemeron, 2, model.slots[0][OTHER], false);
    drop(KEY);
    model_all_died(&model);
    fields_are(WEAK_NOTHING, WEAK_NOTHING, WEAK_SET);
}

/* The key becomes a Forward block to OTHER. */
static void force_key(void) {
    model.objects[object[KEY]].tag = TAG_FORWARD;
    model.objects[object[KEY]].wosize = 1;
    model_fields(&model, object[KEY])[0] = model_pointer(object[OTHER], 0);
    model_mark(&model);
}

static void a_key_may_be_passed(void **state) {
    (void)state;
    begin(true);
    word key = model_pointer(object[KEY], 0), other = model_pointer(object[OTHER], 0);
    assert_false(model_has_passed(&model, ephemeron));
    force_key();
    assert_true(model_has_passed(&model, ephemeron));
    assert_true(model_may_be_passed(&model, key));
    assert_false(model_may_be_passed(&model, other));
    assert_true(model_passed_to(&model, key) == other);
    assert_int_equal(model_weak_field(&model, ephemeron, 0), WEAK_EITHER);
    assert_int_equal(model_weak_field(&model, ephemeron, 1), WEAK_EITHER);
    drop(DATA);
    assert_int_equal(model.live_objects, 4); /* the data, as long as nobody has seen it gone */
    assert_false(model_certainly_reached(&model, object[DATA]));
    assert_true(model_certainly_reached(&model, object[KEY]));
    assert_int_equal(model.live_objects, 4);
    model.objects[ephemeron].seen = false;
    model_mark(&model);
    assert_int_equal(model.live_objects, 3);
    assert_int_equal(model_most_live(&model, WORD_UNIT), 3 + 4 + 3 + 2);
}

/* With what it leads to, that is; where it stays a block of its own, it is a key as any other. */
static void a_lazy_block_stays(void **state) {
    (void)state;
    begin(true);
    model.objects[object[OTHER]].tag = TAG_LAZY;
    force_key();
    assert_false(model_has_passed(&model, ephemeron));
    fields_are(WEAK_SET, WEAK_SET, WEAK_NOTHING);
    begin(false);
    force_key();
    assert_false(model_has_passed(&model, ephemeron)); /* where two are compared */
}

static void of_the_data_of_a_passed_key_nobody_knows(void **state) {
    (void)state;
    begin(true);
    force_key();
    model_passed_is_gone(&model, ephemeron, 1);
    model_mark(&model);
    fields_are(WEAK_EITHER, WEAK_NOTHING, WEAK_NOTHING);
    begin(true);
    force_key();
    drop(KEY);
    model_all_died(&model); /* the key may have become what it leads to */
    assert_int_equal(model_weak_field(&model, ephemeron, 1), WEAK_EITHER);
    drop(OTHER);
    model_all_died(&model);
    fields_are(WEAK_NOTHING, WEAK_NOTHING, WEAK_NOTHING);
}

/* The key of one is reached by the data of the other alone, whose key may become what it leads to,
 * so that the data is there at the end, though it was not to be seen before. */
static void data_of_a_passed_key_keeps_keys(void **state) {
    (void)state;
    begin(true);
    force_key();
    unsigned second = model_add_ephemeron(&model, 1);
    model.slots[0][6] = model_pointer(second, 0);
    model_mark(&model);
    model_put_weak(&model, second, 1, model_pointer(object[DATA], 0), false);
    drop(KEY);
    drop(DATA);
    model.objects[ephemeron].seen = false;
    model_mark(&model);
    assert_int_equal(model_weak_field(&model, second, 1), WEAK_EITHER);
    model_all_died(&model);
    assert_int_equal(model_weak_field(&model, second, 1), WEAK_EITHER);
    drop(OTHER);
    model_all_died(&model);
    assert_int_equal(model_weak_field(&model, second, 1), WEAK_NOTHING);
}

static void where_two_are_compared_nothing_outlives(void **state) {
    (void)state;
    begin(false);
    drop(KEY);
    fields_are(WEAK_NOTHING, WEAK_NOTHING, WEAK_NOTHING);
}

/* What only an ephemeron has keeps its content; if there is no room for that, it is forgotten. */
static void room_is_made(void **state) {
    static const word content[2] = {WORD_UNIT, WORD_UNIT};
    (void)state;
    begin(true);
    model_fields(&model, object[KEY])[1] = immediate(7);
    drop(KEY);
    for (unsigned n = 0; n < 300; n++)
        assert_true(model_add(&model, 2, 0, 0, content) != MODEL_NONE);
    word key = model_kept(&model, ephemeron)[1];
    assert_true(model_fields(&model, model_object(key))[1] == immediate(7));
    fields_are(WEAK_EITHER, WEAK_EITHER, WEAK_NOTHING);
    assert_true(model_has_room(&model, 1, 256 - 4 - 6));
    assert_true(model_kept(&model, ephemeron)[1] == MODEL_FORGOTTEN);
    fields_are(WEAK_EITHER, WEAK_EITHER, WEAK_NOTHING);
    model_all_died(&model);
    fields_are(WEAK_NOTHING, WEAK_NOTHING, WEAK_NOTHING);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_reached_must_be_there),
        cmocka_unit_test(who_is_given_away_lives_on),
        cmocka_unit_test(a_dead_key_takes_its_data_along),
        cmocka_unit_test(data_set_later_may_stay),
        cmocka_unit_test(a_key_that_may_be_dead_is_replaced),
        cmocka_unit_test(what_may_be_there_counts),
        cmocka_unit_test(all_is_over_after_a_full_collection),
        cmocka_unit_test(a_key_may_be_passed),
        cmocka_unit_test(a_lazy_block_stays),
        cmocka_unit_test(of_the_data_of_a_passed_key_nobody_knows),
        cmocka_unit_test(data_of_a_passed_key_keeps_keys),
        cmocka_unit_test(where_two_are_compared_nothing_outlives),
        cmocka_unit_test(room_is_made),
    };
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    model_close(&model);
    return failed;
}
