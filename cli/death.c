/* SPDX-License-Identifier: MIT
 *
 * The verdict on a run that did not come to its end, and its report (cli.h).
 */
#define _GNU_SOURCE
#include "cli/cli.h"

#include "program/text/text.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

static const char *collector_name(const struct job *job, enum party party) {
    const struct collector *c = party == PARTY_REFERENCE ? job->reference : job->subject;
    return c ? c->name : "none";
}

static void describe(const struct job *job, const struct death *d, const char *who, char *out) {
    char limit[VERDICT_TEXT / 2];
    guard_describe(d->limit, d->seconds, d->mib, limit, sizeof limit);
    if (d->late && job->trial_ms)
        snprintf(out, VERDICT_TEXT, NEVER_ENDS);
    else if (limit[0])
        snprintf(out, VERDICT_TEXT, "the run %s%s", limit,
                 d->noted && d->running == PARTY_MODEL ? "; no collector was running at the end"
                                                       : "");
    else if (d->garbled)
        snprintf(out, VERDICT_TEXT, "the collector has overwritten what the run knows");
    else if (d->put_to_the_test)
        snprintf(out, VERDICT_TEXT,
                 "the process died of what the collector has written or handed over: %s",
                 WIFSIGNALED(d->status) ? strsignal(WTERMSIG(d->status)) : "a sanitizer's report");
    else if (d->used_up && d->used_up[0])
        snprintf(out, VERDICT_TEXT, "%.*s", VERDICT_TEXT - 1, d->used_up);
    else if (WIFSIGNALED(d->status))
        snprintf(out, VERDICT_TEXT, "%s crashed: %s", who, strsignal(WTERMSIG(d->status)));
    else
        snprintf(out, VERDICT_TEXT, "%s ended the process with status %d", who,
                 WEXITSTATUS(d->status));
}

/* A collector that aborts has looked at something itself. */
static bool has_aborted(const struct death *d) {
    return !d->late && !d->garbled && !d->put_to_the_test && d->limit == GUARD_NONE &&
           WIFSIGNALED(d->status) && WTERMSIG(d->status) == SIGABRT;
}

void judge_death(const struct job *job, const struct death *d, struct verdict *v) {
    /* A run that is late in the harness is no fault of a collector's; a trial is late by a signal
     * that may hit anywhere. */
    bool ours = d->noted && d->running == PARTY_MODEL && !(d->late && job->trial_ms) &&
                !d->garbled && !d->put_to_the_test;
    v->guilty = d->noted && d->running == PARTY_REFERENCE ? PARTY_REFERENCE : PARTY_SUBJECT;
    v->harness_error = ours;
    v->violation = ours ? VIOLATION_none : d->late ? VIOLATION_no_progress : VIOLATION_sanitizer;
    v->oracle = ORACLE_progress;
    if (v->violation == VIOLATION_sanitizer && has_aborted(d)) {
        v->violation = VIOLATION_collector_assertion;
        v->oracle = ORACLE_assertion;
    }
    describe(job, d, ours ? "the harness, outside every collector," : "the collector", v->detail);
}

size_t report_death(const struct job *job, const struct death *d, const struct verdict *v,
                    const struct program *p, const char *maps, char *out, size_t capacity) {
    FILE *f = fmemopen(out, capacity, "w");
    if (!f)
        return 0;
    fprintf(f, "isoheap: violation %s\n",
            v->harness_error ? "harness_error" : violation_name(v->violation));
    fprintf(f, "  meaning    %s\n",
            v->harness_error ? "the harness itself failed; no verdict"
                             : violation_meaning(v->violation));
    if (!v->harness_error)
        fprintf(f, "  guilty     %s (%s)\n", party_name(v->guilty), collector_name(job, v->guilty));
    if (v->op < p->n_ops)
        fprintf(f, "  operation  %u: %s\n", v->op, v->operation);
    else
        fprintf(f, "  operation  %s\n", v->operation);
    fprintf(f, "  detail     %s\n", v->detail);
    if (d->said_length)
        fprintf(f, "\nthe process said\n%.*s", (int)d->said_length, d->said);
    if (maps[0])
        fprintf(f, "\nheaps before the operation  (" MAP_LEGEND ")\n%s", maps);
    fprintf(f, "\nprogram\n");
    char *text = NULL;
    size_t length = program_print(p, NULL, 0);
    if ((text = malloc(length + 1))) {
        program_print(p, text, length + 1);
        fputs(text, f);
    }
    free(text);
    char *replay = replay_command(job, "crash.txt");
    fprintf(f, "\nreplay (save the program as crash.txt)\n  %s\n", replay ? replay : "");
    free(replay);
    long end = ftell(f);
    fclose(f);
    return end > 0 ? (size_t)end : 0;
}
