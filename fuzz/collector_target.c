/* SPDX-License-Identifier: MIT
 *
 * The body of every target that fuzzes a collector (collector_target.h).
 *
 * When a sanitizer is about to end the process, its callback adds what isoheap knows: the class,
 * the operation that was running and the program as text.
 */
#define _POSIX_C_SOURCE 200809L /* getpid */
#include "fuzz/collector_target.h"

#include "fuzz/current.h"
#include "fuzz/go_on.h"
#include "fuzz/serve.h"
#include "fuzz/violate.h"
#include "harness/coverage.h"
#include "program/bytes/bytes.h"
#include "program/text/text.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { REPORT_SIZE = 1 << 20 };

static struct program program;
static struct runner *runner;
static char refusal[VERDICT_TEXT]; /* of the last input; empty: it has been run */

oracle_set target_oracles;
void (*target_found)(const struct verdict *);

/* Semantic coverage (harness/coverage.h) goes where libFuzzer reads counters besides those of the
 * compiler.  It is off without such an engine, by the build option ISOHEAP_SEMANTIC_COVERAGE, and
 * by ISOHEAP_SEMANTIC=off in the environment, which may also name the parts that are wanted. */
#if ISOHEAP_SEMANTIC_COVERAGE && defined(__ELF__)
__attribute__((section("__libfuzzer_extra_counters"),
               used)) static uint8_t extra_counters[COVERAGE_BYTES];
__attribute__((weak)) size_t LLVMFuzzerMutate(uint8_t *, size_t, size_t);

static void choose_coverage(struct runner_options *options) {
    const char *wanted = getenv("ISOHEAP_SEMANTIC");
    if (!LLVMFuzzerMutate || (wanted && strcmp(wanted, "off") == 0))
        return;
    options->coverage = extra_counters;
    options->coverage_parts = wanted && wanted[0] ? coverage_parts(wanted) : COVER_DEFAULT;
    if (options->coverage_parts)
        return;
    fprintf(stderr,
            "isoheap: ISOHEAP_SEMANTIC=%s is not known; there are: off, default, all, or some of "
            "cycles,pairs,blocks,fill,deaths\n",
            wanted);
    _Exit(2); /* exit would be a finding to libFuzzer */
}
#else
static void choose_coverage(struct runner_options *options) {
    (void)options;
}
#endif
static char report[REPORT_SIZE];

/* Sanitizers call it with the last line of a report, before they end the process.  (Their death
 * callback is libFuzzer's, which keeps the input there.) */
void __sanitizer_report_error_summary(const char *summary);

/* The collectors' arenas are no malloc blocks: a large quarantine of freed memory finds nothing in
 * them and only fills the machine. */
const char *__asan_default_options(void);
const char *__asan_default_options(void) {
    return "quarantine_size_mb=8:malloc_context_size=5";
}

void __sanitizer_report_error_summary(const char *summary) {
    enum party running;
    fprintf(stderr, "%s\n", summary);
    current_say(summary);
    current_say("\n");
    if (!runner)
        return;
    const struct verdict *v = runner_current(runner, &running);
    if (v->violation || v->harness_error)
        return; /* already reported */
    if (target_found)
        target_found(v);
    snprintf(report, sizeof report, "isoheap: violation sanitizer\n  guilty     %s\n",
             party_name(running));
    fputs(report, stderr);
    current_say(report);
    if (strstr(summary, "stack-overflow") && runner_used_up(runner, NULL, report))
        fprintf(stderr, "  detail     %s\n", report);
    if (v->op < program.n_ops) {
        op_print(&program.ops[v->op], report, sizeof report);
        fprintf(stderr, "  operation  %u: %s\n", v->op, report);
    }
    program_print(&program, report, sizeof report);
    fprintf(stderr, "\nprogram\n%s", report);
}

static struct runner *open_runner(const struct collector *subject,
                                  const struct collector *reference) {
    struct runner_options options = {.subject = subject,
                                     .reference = reference,
                                     .oracles = target_oracles,
                                     .unmask = getenv("ISOHEAP_UNMASK")};
    choose_coverage(&options);
    struct runner *opened = runner_open(&options);
    if (!opened) {
        const char *fault = runner_fault(&options);
        fprintf(stderr, "isoheap: %s\n", fault ? fault : "no memory for the collectors' arenas");
        abort();
    }
    return opened;
}

static void load(const uint8_t *data, size_t size) {
    struct text_error error;
    if (program_looks_like_text(data, size) &&
        program_parse(&program, (const char *)data, size, &error))
        return;
    program_decode(&program, data, size);
}

/* Verdicts of one kind may well be of one defect: same class, party and oracle, and the same
 * operation. */
static enum going going(const struct collector *subject, const struct verdict *v) {
    char kind[3 * VERDICT_TEXT];
    if (v->harness_error)
        return GOING_ENDS;
    snprintf(kind, sizeof kind, "%s %s %s %d %d", subject->name, party_name(v->guilty),
             violation_name(v->violation), (int)v->oracle,
             v->op < program.n_ops ? (int)program.ops[v->op].code : -1);
    return go_on_after(kind);
}

/* ---- programs that cannot be run --------------------------------------------------------------
 *
 * They are no programs that passed: a process that ends in order says how many there were.
 */

static struct tally {
    const char *subject;
    uint64_t programs, not_run;
    char why[VERDICT_TEXT]; /* of the first that was not run */
} tallies[ALL_COLLECTORS_MOST];
static pid_t tallied_by;

static void tell_not_run(void) {
    for (unsigned t = 0; tallied_by == getpid() && t < ALL_COLLECTORS_MOST; t++)
        if (tallies[t].not_run)
            fprintf(stderr,
                    "isoheap: %s: %" PRIu64 " of %" PRIu64
                    " programs were not run; the first: %s\n",
                    tallies[t].subject, tallies[t].not_run, tallies[t].programs, tallies[t].why);
}

static void count_run(const struct collector *subject, const struct verdict *v, unsigned number) {
    struct tally *t = &tallies[number];
    t->subject = subject->name;
    t->programs++;
    if (!v->not_run)
        return;
    if (!tallied_by) {
        tallied_by = getpid();
        atexit(tell_not_run);
    }
    if (t->not_run++ == 0)
        snprintf(t->why, sizeof t->why, "%s", v->detail);
}

const char *target_refusal(void) {
    return refusal[0] ? refusal : NULL;
}

/* ---- runs -------------------------------------------------------------------------------------
 */

/* The program on `runner`, that of the collector with this number.  If that is a violation it
 * returns false where a campaign wants to go on, and else not at all. */
static bool run(const struct collector *subject, unsigned number, const uint8_t *data,
                size_t size) {
    struct verdict verdict;
    pid_t self = getpid();
    runner_run(runner, &program, &verdict);
    if (getpid() != self)
        _Exit(1); /* a copy of the process, which the collector has made, has nothing to say */
    current_judged(verdict.counts.subject);
    count_run(subject, &verdict, number);
    if (!verdict.not_run)
        refusal[0] = '\0';
    else if (number == 0)
        snprintf(refusal, sizeof refusal, "%s", verdict.detail);
    if (!verdict.violation && !verdict.harness_error)
        return true;
    if (target_found)
        target_found(&verdict);
    enum going next = going(subject, &verdict);
    if (next == GOING_ON)
        return false;
    runner_explain(runner, &program, &verdict);
    if (getpid() != self)
        _Exit(1);
    runner_report(runner, &verdict, &program, report, sizeof report);
    if (next == GOING_KEEPS && go_on_with(data, size, report))
        return false;
    fputs(report, stderr);
    current_say(report);
    if (verdict.harness_error)
        harness_error();
    violate(verdict.violation);
}

static void end_input(void) {
    if (refusal[0])
        current_not_run(refusal);
    current_end();
}

int collector_target(const struct collector *subject, const struct collector *reference,
                     const uint8_t *data, size_t size) {
    if (!runner) {
        serve_if_asked((const struct collector *const[]){subject, NULL}, reference);
        runner = open_runner(subject, reference);
    }
    go_on_begin();
    current_begin(data, size);
    load(data, size);
    run(subject, 0, data, size);
    end_input();
    return 0;
}

int all_collectors_target(const struct collector *const *collectors, const uint8_t *data,
                          size_t size) {
    static struct runner *runners[ALL_COLLECTORS_MOST];
    if (!runner)
        serve_if_asked(collectors, NULL);
    go_on_begin();
    current_begin(data, size);
    load(data, size);
    bool good = true;
    for (unsigned c = 0; good && collectors[c] && c < ALL_COLLECTORS_MOST; c++) {
        if (!runners[c])
            runners[c] = open_runner(collectors[c], NULL);
        runner = runners[c]; /* whom a sanitizer's report is about */
        good = run(collectors[c], c, data, size);
    }
    end_input();
    return 0;
}
