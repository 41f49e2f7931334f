/* SPDX-License-Identifier: MIT
 *
 * A heap against the model, for more than one oracle.
 */
#ifndef ISOHEAP_ORACLE_COMPARE_H
#define ISOHEAP_ORACLE_COMPARE_H

#include "oracles/judge.h"

/* VIOLATION_none: the graphs are isomorphic, and the witness is in j->iso.  Else path, expected and
 * found say where they differ (isomorphism.c). */
enum violation compare_with_model(struct judge *);

/* Compares a word that has been loaded with its counterpart in the model, one step deep; fails if
 * they differ.  False: nobody can tell (isomorphism.c). */
bool judge_word(struct judge *, word found, word expected);

/* Has the last marking of the model reached the object? */
static inline bool is_marked(const struct model *model, uint32_t object) {
    return model->objects[object].mark == model->epoch;
}

#endif
