/* SPDX-License-Identifier: MIT
 *
 * Who judged: how often each oracle has judged a collector, and which cannot, and why.
 */
#ifndef ISOHEAP_CLI_JUDGEMENTS_H
#define ISOHEAP_CLI_JUDGEMENTS_H

#include "harness/harness.h"

/* ---- judgements.c */
/* Prints two paragraphs, "judged" and "silent", each line indented: the oracles that have judged
 * the collector with their counts, then those that have not with the reason.  config: of the
 * programs; oracles: a set, 0 means all. */
void print_judgements(const struct collector *, const struct gc_config *, oracle_set oracles,
                      const uint64_t judged[ORACLE_COUNT]);

/* ---- sample.c */
/* What a few programs have come to. */
struct judged_sample {
    unsigned programs;
    uint64_t judged[ORACLE_COUNT]; /* of the subject */
    unsigned not_run;              /* of the programs: the collector cannot be given them */
    char why_not[VERDICT_TEXT];    /* the first of those */
    struct verdict verdict; /* the first that is a violation or a harness error, or of the last */
};
/* Makes so many programs from nothing, the same in every call, and runs each on the collector and
 * the reference in a process of its own with a limit of seconds, until one is a violation.  False:
 * there is no memory. */
bool sample_run(struct judged_sample *, const struct collector *, unsigned programs,
                unsigned seconds);

#endif
