/* SPDX-License-Identifier: MIT
 *
 * Oracle compaction.
 */
#include "oracles/judge.h"

const struct oracle_module oracle_compaction = {
    .meaning = "dense and, where promised, in the old order after a compaction",
    .source = "docs/compaction.md",
    .classes = {VIOLATION_heap_not_dense, VIOLATION_order_changed},
    .needs = 1u << NEED_walk | 1u << NEED_compacts,
};
