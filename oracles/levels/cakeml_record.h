/* SPDX-License-Identifier: MIT
 *
 * The states of CakeML's collectors as they come: the statements of cakeml.h are judged once, for
 * the oracles refinement_words and layout.
 */
#ifndef ISOHEAP_ORACLE_CAKEML_RECORD_H
#define ISOHEAP_ORACLE_CAKEML_RECORD_H

#include "oracles/judge.h"
#include "oracles/statements/cakeml.h"

struct cakeml_record {
    struct cakeml_oracle oracle;
    bool holds;            /* the last state that was shown */
    bool comes_last;       /* it ends a collection */
    bool seen;             /* a state, since the initial heap stood */
    bool lists;            /* that state has some */
    enum cakeml_kind kind; /* after the last state that changes it */
    uint64_t before;       /* collections then */
};

/* An oracle's part in a state that has been shown: fails if the statement that does not hold is of
 * one of its module's classes. */
bool cakeml_judge(struct judge *, const struct oracle_module *, const struct cakeml_view *);

#endif
