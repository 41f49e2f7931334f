/* SPDX-License-Identifier: MIT
 *
 * The heaps of all parties as maps, one character a word (cli.h).
 */
#include "cli/cli.h"

/* A snapshot can be taken of every party that takes part. */
static bool takes_part(const struct job *job, enum party party) {
    return party != PARTY_REFERENCE || job->reference;
}

void write_where(FILE *out, struct runner *runner) {
    static char text[32 << 10];
    runner_where(runner, runner_current(runner, NULL), PARTY_SUBJECT, text, sizeof text);
    fputs(text, out);
}

void write_maps(FILE *out, struct runner *runner, const struct job *job) {
    static char map[4 * PROGRAM_HEAP_WORDS]; /* two semispaces, and line ends */
    for (unsigned p = 0; p < PARTIES; p++) {
        struct snapshot s;
        if (!takes_part(job, (enum party)p))
            continue;
        fprintf(out, "  %s", party_name((enum party)p));
        if (p == PARTY_MODEL)
            fprintf(out, ", allocated blocks in order");
        else
            fprintf(out, " (%s)", (p == PARTY_SUBJECT ? job->subject : job->reference)->name);
        if (!runner_snapshot(runner, (enum party)p, &s)) {
            fprintf(out, "\n(%s)\n",
                    s.heap_words > PROGRAM_HEAP_WORDS ? NO_PICTURE : "the heap cannot be walked");
            continue;
        }
        if (s.young != SIZE_MAX)
            fprintf(out, ", young from word %zu on", s.young);
        fprintf(out, "\n");
        snapshot_map(&s, map, sizeof map);
        fputs(map, out);
    }
}
