/* SPDX-License-Identifier: MIT
 *
 * A few programs, to see who judges them (judgements.h).
 */
#include "cli/judgements/judgements.h"

#include "cli/cli.h"
#include "program/bytes/bytes.h"
#include "program/mutation/mutate.h"

#include <stdio.h>
#include <stdlib.h>

enum { SAMPLE_BYTES = 2048, SAMPLE_SEED = 1 };

bool sample_run(struct judged_sample *s, const struct collector *subject, unsigned programs,
                unsigned seconds) {
    static struct program program;
    static uint8_t bytes[SAMPLE_BYTES];
    const struct job job = {
        .subject = subject, .reference = find_collector(DEFAULT_REFERENCE), .seconds = seconds};
    struct mutation *mutation = mutation_open(NULL, NULL);
    *s = (struct judged_sample){.programs = 0};
    if (!mutation)
        return false;
    mutation_limit(mutation, subject->traits.max_wosize);
    while (s->programs < programs && !s->verdict.violation && !s->verdict.harness_error) {
        char *report = NULL;
        size_t size = mutation_generate(mutation, bytes, sizeof bytes, SAMPLE_SEED + s->programs);
        program_decode(&program, bytes, size);
        s->verdict = run_job(&job, &program, &report);
        free(report);
        if (s->verdict.not_run && s->not_run++ == 0)
            snprintf(s->why_not, sizeof s->why_not, "%s", s->verdict.detail);
        for (unsigned o = 0; o < ORACLE_COUNT; o++)
            s->judged[o] += s->verdict.counts.subject[o];
        s->programs++;
    }
    mutation_close(mutation);
    return true;
}
