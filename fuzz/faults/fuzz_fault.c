/* SPDX-License-Identifier: MIT
 *
 * Target fuzz_fault: any seeded fault (faults/), chosen when it starts.  `isoheap faults` runs it;
 * it is told what to do by its environment:
 *
 *   ISOHEAP_FAULT          the shared object of the fault
 *   ISOHEAP_FAULT_RECORD   a file of the size of struct fault_record, where the stages are noted
 *   ISOHEAP_FAULT_INPUT    a file that gets the input that was detected
 *   ISOHEAP_FAULT_ORACLES  the oracles that judge, as a bit set
 *   ISOHEAP_FAULT_RANDOM   "seed,executions": no engine, programs generated at random
 *   ISOHEAP_FAULT_JUDGE    a file: which oracles see it alone, which nobody else can replace
 *
 * A fault of the on-the-fly model has schedules in place of programs: inputs are bytes as in
 * fuzz_onthefly, and all invariants judge, whatever is said of oracles.  Without a record the
 * schedule that shows the fault is printed, reduced: it is the trigger.
 */
#define _POSIX_C_SOURCE 200809L
#include "collectors/cheney/cheney.h"
#include "faults/record.h"
#include "faults/schedules.h"
#include "fuzz/collector_target.h"
#include "fuzz/mutation_choice.h"
#include "fuzz/schedule_coverage.h"
#include "program/bytes/bytes.h"
#include "program/random.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum {
    USAGE = 2,
    DETECTED = 77,      /* exit status, as the engine's */
    LONGEST = 256,      /* of a random program; as the campaign's max_len */
    CLOCK_EVERY = 1024, /* executions */
    RANDOM_TIMEOUT = 10,
    RANDOM_SCHEDULE = 16, /* bytes: the driver draws the rest from a generator that they seed */
    JUDGED = 100          /* exit status of a child that saw a violation, plus the oracle */
};

int LLVMFuzzerInitialize(int *argc, char ***argv);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static struct fault_record unwatched, *record = &unwatched;
static const struct collector *subject;
static const struct fault_schedules *schedules; /* NULL: the subject is a collector */
static struct driver_options schedule_options = {.invariants = INVARIANTS_ALL,
                                                 .seen = schedule_seen};
static struct {
    const uint8_t *data;
    size_t size;
} input;

static _Noreturn void refuse(const char *what, const char *why) {
    fprintf(stderr, "isoheap: %s: %s\n", what, why);
    _Exit(USAGE);
}

static double processor_seconds(void) {
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

/* ---- the stages -------------------------------------------------------------------------------
 */

static void note_stages(void) {
    if (!record->reached && record->canary.reached)
        record->reached = record->executions;
    if (!record->triggered && record->canary.triggered)
        record->triggered = record->executions;
}

static void note_input(void) {
    record->input_size = (uint32_t)(input.size < FAULT_INPUT_MAX ? input.size : FAULT_INPUT_MAX);
    if (record->input_size)
        memcpy(record->input, input.data, record->input_size);
}

static void keep_input(void) {
    const char *path = getenv("ISOHEAP_FAULT_INPUT");
    int file = path ? open(path, O_WRONLY | O_CREAT | O_TRUNC, 0666) : -1;
    if (file < 0)
        return;
    if (write(file, input.data, input.size) != (ssize_t)input.size)
        unlink(path);
    close(file);
}

static void note_detection(enum violation violation, unsigned reporter) {
    note_stages();
    record->seconds = processor_seconds();
    record->violation = violation;
    record->oracle = reporter;
    record->detected = record->executions;
    keep_input();
    if (record != &unwatched)
        _Exit(DETECTED); /* whoever watches wants no report, which takes half a second */
}

static void found(const struct verdict *v) {
    if (v->violation)
        note_detection(v->violation, v->oracle);
    else
        note_detection(VIOLATION_sanitizer, BY_SANITIZER);
}

/* ---- schedules --------------------------------------------------------------------------------
 */

static _Noreturn void report_schedule(const struct driver_options *o,
                                      const struct driver_result *r) {
    struct schedule s = {.n = 0};
    note_detection(
        violation_named(r->broken ? invariant_class(invariant_first(r->broken)) : "no_progress"),
        BY_INVARIANTS);
    if (driver_schedule(o, r, &s)) {
        if (r->broken)
            schedules->reduce(&s);
        schedule_print(&s, stdout);
        fflush(stdout);
    }
    abort();
}

static void run_schedule(const uint8_t *data, size_t size) {
    static struct driver_result result;
    schedules->drive(&schedule_options, data, size, &result);
    if (result.broken || result.unfair)
        report_schedule(&schedule_options, &result);
}

/* ---- the target -------------------------------------------------------------------------------
 */

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    input.data = data;
    input.size = size;
    note_input();
    if (++record->executions % CLOCK_EVERY == 0)
        record->seconds = processor_seconds();
    if (schedules)
        run_schedule(data, size);
    else
        collector_target(subject, &cheney, data, size);
    note_stages();
    return 0;
}

/* ---- random generation ------------------------------------------------------------------------
 */

static size_t random_schedule(uint8_t *data, struct random *random) {
    for (unsigned i = 0; i < RANDOM_SCHEDULE; i++)
        data[i] = (uint8_t)(random_next(random) >> 56);
    return RANDOM_SCHEDULE;
}

/* What a generator does that learns nothing: each program on its own. */
static _Noreturn void run_random(const char *what) {
    static uint8_t data[LONGEST];
    char *end;
    struct random random = {strtoull(what, &end, 10)};
    uint64_t executions = *end == ',' ? strtoull(end + 1, NULL, 10) : 0;
    struct mutation *mutation = mutation_open(mutation_profile_at(0), NULL);
    if (!mutation)
        refuse("ISOHEAP_FAULT_RANDOM", "no memory");
    for (uint64_t n = 0; n < executions; n++) {
        if (n % CLOCK_EVERY == 0)
            alarm(RANDOM_TIMEOUT);
        size_t size = schedules ? random_schedule(data, &random)
                                : mutation_generate(mutation, data, LONGEST, random_next(&random));
        LLVMFuzzerTestOneInput(data, size);
    }
    record->seconds = processor_seconds();
    _Exit(0);
}

/* ---- judging ----------------------------------------------------------------------------------
 */

static struct program program;

static _Noreturn void judge_here(oracle_set oracles) {
    static struct verdict verdict;
    struct runner_options options = {.subject = subject, .reference = &cheney, .oracles = oracles};
    struct runner *runner = runner_open(&options);
    alarm(RANDOM_TIMEOUT);
    if (!runner)
        _Exit(USAGE);
    runner_run(runner, &program, &verdict);
    _Exit(verdict.violation ? JUDGED + (int)verdict.oracle : 0);
}

/* 0: nothing seen; JUDGED + oracle; or another number, the process died. */
static int judge_with(oracle_set oracles) {
    int status = 0;
    pid_t child = fork();
    if (child == 0) {
        int null = open("/dev/null", O_WRONLY);
        dup2(null, STDERR_FILENO);
        judge_here(oracles);
    }
    if (child < 0 || waitpid(child, &status, 0) < 0)
        refuse("judging", "no child process");
    return WIFEXITED(status) ? WEXITSTATUS(status) : 1;
}

static _Noreturn void judge(const char *path) {
    static uint8_t data[1 << 16];
    FILE *file = fopen(path, "rb");
    if (!file)
        refuse(path, "cannot be read");
    program_decode(&program, data, fread(data, 1, sizeof data, file));
    fclose(file);
    record->alone = record->without = 0;
    if (schedules) /* oracles have no say in them */
        _Exit(0);
    for (unsigned o = 0; o < ORACLE_COUNT; o++) {
        if (judge_with(ORACLE_BIT(o)) == JUDGED + (int)o)
            record->alone |= ORACLE_BIT(o);
        if (judge_with(ORACLES_ALL & ~ORACLE_BIT(o)) == 0)
            record->without |= ORACLE_BIT(o);
    }
    _Exit(0);
}

/* ---- the start --------------------------------------------------------------------------------
 */

static void map_record(const char *path) {
    int file = open(path, O_RDWR);
    void *map = file < 0 ? MAP_FAILED
                         : mmap(NULL, sizeof *record, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    if (map == MAP_FAILED)
        refuse(path, "cannot be mapped");
    close(file);
    record = map;
}

static void load_fault(const char *path) {
    void *handle = path ? dlopen(path, RTLD_NOW | RTLD_LOCAL) : NULL;
    const struct fault_export *fault = handle ? dlsym(handle, "isoheap_fault") : NULL;
    if (!fault)
        refuse("ISOHEAP_FAULT", path ? dlerror() : "is not set; `isoheap faults` sets it");
    if (!fault->choose(path))
        refuse(path, "has no fault of its name");
    subject = fault->collector;
    schedules = fault->schedules;
    if (schedules) /* bytes are no program that could be mutated as one */
        setenv("ISOHEAP_MUTATION", "off", 1);
    const char *semantic = getenv("ISOHEAP_SEMANTIC");
    if (semantic && strcmp(semantic, "off") == 0)
        schedule_options.seen = NULL;
    *fault->canary = &record->canary;
}

int LLVMFuzzerInitialize(int *argc, char ***argv) {
    (void)argc;
    (void)argv;
    const char *path = getenv("ISOHEAP_FAULT_RECORD"), *value;
    if (path)
        map_record(path);
    load_fault(getenv("ISOHEAP_FAULT"));
    target_found = found;
    if ((value = getenv("ISOHEAP_FAULT_ORACLES")))
        target_oracles = strtoull(value, NULL, 0);
    if ((value = getenv("ISOHEAP_FAULT_JUDGE")))
        judge(value);
    if ((value = getenv("ISOHEAP_FAULT_RANDOM")))
        run_random(value);
    return 0;
}
