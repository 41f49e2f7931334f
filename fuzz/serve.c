/* SPDX-License-Identifier: MIT
 *
 * A fuzz target that judges programs for the isoheap command (harness/judged/judged.h has what they
 * say to each other): the very binary that found something, with its sanitizers, reduces and draws
 * it.
 *
 * The target is started with an input as any engine takes it, and serves instead of running that.
 */
#include "fuzz/serve.h"

#include "harness/judged/judged.h"

#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct collector *choose(const struct collector *const *subjects, const char *name) {
    while (*subjects && strcmp((*subjects)->name, name) != 0)
        subjects++;
    return *subjects;
}

static _Noreturn void serve(const struct judged_request *request,
                            const struct collector *const *subjects,
                            const struct collector *reference) {
    static struct judged_request own; /* the texts last */
    memcpy(&own, request, offsetof(struct judged_request, program));
    const struct collector *subject = choose(subjects, own.subject);
    bool compares = own.reference[0];
    if (!subject || (compares && (!reference || strcmp(reference->name, own.reference) != 0)))
        judged_decline(JUDGED_UNKNOWN);
    judged_serve(
        &(struct runner_options){.subject = subject,
                                 .reference = compares ? reference : NULL,
                                 .oracles = own.oracles,
                                 .stack_kib = own.stack_kib,
                                 .ordinary_stack = own.ordinary_stack,
                                 .thorough = own.thorough,
                                 .unmask = own.unmasks ? own.unmask : NULL,
                                 .replay = own.replay,
                                 .subject_name = own.subject_name[0] ? own.subject_name : NULL});
}

void serve_if_asked(const struct collector *const *subjects, const struct collector *reference) {
    const char *asked = getenv(JUDGED_VARIABLE);
    int file, socket;
    size_t size;
    if (asked && sscanf(asked, "%d,%d,%zu", &file, &socket, &size) == 3)
        serve(judged_accept(file, socket, size), subjects, reference);
}
