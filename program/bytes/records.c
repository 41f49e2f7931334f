/* SPDX-License-Identifier: MIT
 *
 * The tables of the byte form (records.h), expanded at compile time.
 */
#include "program/bytes/records.h"

const struct record records[RECORD_IDS] = {
#define X(name, weight, section, code, functions, values, operands)                                \
    {RECORD_##name, FIRST_##name, SECTION_##section,    code,                                      \
     functions,     values,       sizeof(operands) - 1, operands},
    RECORDS(X)
#undef X
};

/* clang-format off */
#define REPEAT_1(r) r,
#define REPEAT_2(r) r, r,
#define REPEAT_3(r) r, r, r,
#define REPEAT_4(r) r, r, r, r,
#define REPEAT_5(r) REPEAT_4(r) r,
#define REPEAT_6(r) REPEAT_4(r) REPEAT_2(r)
#define REPEAT_7(r) REPEAT_4(r) REPEAT_3(r)
#define REPEAT_8(r) REPEAT_4(r) REPEAT_4(r)
#define REPEAT_10(r) REPEAT_8(r) REPEAT_2(r)
#define REPEAT_12(r) REPEAT_8(r) REPEAT_4(r)
#define REPEAT_14(r) REPEAT_8(r) REPEAT_6(r)
#define REPEAT_16(r) REPEAT_8(r) REPEAT_8(r)
/* clang-format on */

const uint8_t record_of_opcode[256] = {
#define X(name, weight, section, code, functions, values, operands) REPEAT_##weight(RECORD_##name)
    RECORDS(X)
#undef X
};

/* The ends of the range, and integers whose word (2n + 1) looks like a header or an address. */
const int64_t notable_immediates[7] = {INT64_C(4611686018427387903),
                                       INT64_C(-4611686018427387904),
                                       -2,
                                       255,
                                       1024,
                                       INT64_C(1) << 31,
                                       INT64_C(1) << 53};
