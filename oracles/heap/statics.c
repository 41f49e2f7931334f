/* SPDX-License-Identifier: MIT
 *
 * Oracle statics: blocks outside the heap are left alone, reachable or not, header and fields.
 *
 * They point at each other alone, so that no collection has anything to write there.  What the
 * graphs do not tell: a colour in a static header, and what nothing leads to any more.  So are the
 * headers of atoms, blocks without fields, of the harness or of a runtime.
 */
#include "oracles/judge.h"

#include <stdio.h>
#include <string.h>

struct statics {
    bool taken;
    word words[PROGRAM_HEAP_WORDS]; /* as the program has left them */
};

static bool reset(struct judge *j) {
    ((struct statics *)j->state)->taken = false;
    return false;
}

static bool built(struct judge *j) {
    struct statics *t = j->state;
    t->taken = true;
    memcpy(t->words, j->side->statics, j->side->static_words * sizeof(word));
    return false;
}

static bool static_writing(struct judge *j, word block, size_t i, word value) {
    struct statics *t = j->state;
    t->words[(block - pointer_word(j->side->statics)) / sizeof(word) + i] = value;
    return false;
}

_Noreturn static void fail_word(struct judge *j, size_t at) {
    const struct statics *t = j->state;
    size_t header = 0;
    while (header + header_wosize(t->words[header]) < at)
        header += header_wosize(t->words[header]) + 1;
    snprintf(j->expected, VERDICT_TEXT, "0x%llx", (unsigned long long)t->words[at]);
    snprintf(j->found, VERDICT_TEXT,
             "0x%llx at word %zu of the static blocks, in the one at word %zu",
             (unsigned long long)j->side->statics[at], at, header);
    judge_fail(j, VIOLATION_field_written,
               at == header ? "the collector changed the header of a static block"
                            : "the collector changed a field of a static block");
}

_Noreturn static void fail_atom(struct judge *j, word expected, word v) {
    snprintf(j->expected, VERDICT_TEXT, "0x%llx", (unsigned long long)expected);
    snprintf(j->found, VERDICT_TEXT, "0x%llx, the header of atom %u",
             (unsigned long long)header_of(v), header_tag(expected));
    judge_fail(j, VIOLATION_field_written,
               "the collector changed the header of a block without fields, outside the heap");
}

static void judge_atoms(struct judge *j) {
    const struct model *model = j->model;
    for (uint32_t a = 0; a < model->n_atoms; a++) {
        word v = model->addresses[model->atoms[a].address].words[j->side->party];
        if (header_of(v) != model->atoms[a].headers[j->side->party])
            fail_atom(j, model->atoms[a].headers[j->side->party], v);
    }
}

static bool compared(struct judge *j, enum occasion when) {
    const struct statics *t = j->state;
    const struct side *s = j->side;
    (void)when;
    if (!t->taken || !(s->static_words || j->model->n_atoms))
        return false;
    judge_atoms(j);
    for (size_t i = 0; i < s->static_words; i++)
        if (s->statics[i] != t->words[i])
            fail_word(j, i);
    return true;
}

const struct oracle_module oracle_statics = {
    .meaning = "no collection writes a static block, header or field, reachable or not",
    .source = "isoheap: collectors/collector.h, trait outside",
    .classes = {VIOLATION_field_written},
    .state = sizeof(struct statics),
    .reset = reset,
    .built = built,
    .static_writing = static_writing,
    .compared = compared,
};
