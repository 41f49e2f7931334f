/* SPDX-License-Identifier: MIT
 *
 * What a collector without a runtime does for the operations of one.
 */
#include "program/program.h"

bool op_without_runtime(const struct op *op, struct op *plain) {
    struct op o = {.mutator = op->mutator, .dst = op->dst};
    switch (op->code) {
    case OP_EPHEMERON:
        o.code = OP_ALLOC;
        o.size = (uint16_t)(op->keys + 1);
        break;
    case OP_EPHE_SET:
    case OP_EPHE_UNSET: /* what is not set is unit */
        o.code = OP_STORE;
        o.i = op->i;
        o.n_values = 1;
        o.values[0] = op->values[0];
        break;
    case OP_EPHE_GET:
    case OP_EPHE_COPY:
    case OP_EPHE_CHECK:
    case OP_EPHE_BLIT:
        o.code = op->code == OP_EPHE_BLIT ? OP_BLIT : op->code == OP_EPHE_CHECK ? OP_READ : OP_LOAD;
        o.src = op->src;
        o.i = op->i;
        o.j = op->j;
        o.n = op->n;
        break;
    case OP_RESOURCE:
        o.code = OP_ALLOC_RAW;
        o.tag = PROGRAM_TAG_CUSTOM;
        o.size = (uint16_t)(op->words + 1);
        break;
    case OP_FORWARDING: /* of a lazy value, where nobody looks through it */
        o.code = OP_ALLOC;
        o.tag = PROGRAM_TAG_LAZY + 4;
        o.size = 1;
        o.n_values = 1;
        o.values[0] = op->values[0];
        break;
    case OP_UPDATE: /* the fields alone, or a field becomes the value */
        o.code = op->values[0].kind == VALUE_SLOT ? OP_BLIT : OP_STORE;
        o.src = o.code == OP_BLIT ? op->values[0].block : 0;
        o.n = o.code == OP_BLIT ? op_shapes[OP_BLIT].max_n : 0;
        o.n_values = o.code == OP_STORE;
        if (o.n_values)
            o.values[0] = op->values[0];
        break;
    case OP_SUB:
    case OP_APPEND:
    case OP_DUP:
    case OP_MARSHAL: /* no copy, but the same */
    case OP_CLONE:
        o.code = OP_SET;
        o.n_values = 1;
        o.values[0] = (struct value){.kind = VALUE_SLOT, .block = op->src};
        break;
    case OP_DAMAGE: /* nothing can be read */
        o.code = OP_DROP;
        break;
    default:
        return false;
    }
    *plain = o;
    return true;
}
