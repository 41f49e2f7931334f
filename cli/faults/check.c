/* SPDX-License-Identifier: MIT
 *
 * isoheap faults check: the ground truth.  The program beside each patch raises the class that the
 * head names on the faulty collector, with both canaries, and nothing on the clean one.
 */
#define _GNU_SOURCE
#include "cli/faults/faults.h"
#include "cli/faults/schedule.h"

#include <stdlib.h>
#include <sys/mman.h>

enum { SECONDS_EACH = 20 };

static struct program program;

static enum violation judge(const struct collector *subject, const char *reference) {
    struct job job = {.subject = subject, .seconds = SECONDS_EACH};
    char *report;
    if (!choose_reference(reference, &job.reference))
        return VIOLATION_classes;
    struct verdict v = run_job(&job, &program, &report);
    free(report);
    return v.harness_error ? VIOLATION_classes : v.violation;
}

static bool complain(const struct fault *f, const char *what, const char *found) {
    printf("%s: %s%s\n", f->name, what, found);
    return false;
}

static const char *class_name(enum violation v) {
    return v == VIOLATION_classes ? "a harness fault" : violation_name(v);
}

/* What the trigger raises; faulty NULL: on what has no fault. */
static enum violation judge_trigger(const struct fault *f, const struct fault_export *faulty,
                                    bool schedule) {
    if (schedule)
        return judge_schedule(faulty ? faulty->schedules : NULL, f->trigger);
    return judge(faulty ? faulty->collector : choose_collector(f->collector), DEFAULT_REFERENCE);
}

/* stages: memory that the children share with us. */
static bool check_one(const struct fault *f, struct canary *stages) {
    bool was_text;
    const struct fault_export *faulty = load_fault(f->object);
    if (!faulty)
        return complain(f, "is not built: cmake --build BUILD --target faults", "");
    bool schedule = !faulty->collector;
    if (schedule != is_schedule_trigger(f->trigger))
        return complain(f, "its trigger must be ", schedule ? "a schedule" : "a program");
    if (!schedule &&
        (!choose_collector(f->collector) || !read_program(f->trigger, &program, &was_text)))
        return complain(f, "no collector or no trigger program", "");
    *stages = (struct canary){0, 0};
    *faulty->canary = stages;
    enum violation v = judge_trigger(f, faulty, schedule);
    if (v != violation_named(f->violation))
        return complain(f, "the faulty collector raises ", class_name(v));
    if (!stages->reached || !stages->triggered)
        return complain(f,
                        stages->reached ? "not triggered, though it was detected"
                                        : "not reached, though it was detected",
                        "");
    v = judge_trigger(f, NULL, schedule);
    if (v != VIOLATION_none)
        return complain(f, "the clean collector raises ", class_name(v));
    return true;
}

int faults_check(const struct catalogue *c) {
    unsigned failed = 0;
    struct canary *stages =
        mmap(NULL, sizeof *stages, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (stages == MAP_FAILED)
        return EXIT_HARNESS;
    for (unsigned i = 0; i < c->n; i++)
        failed += !check_one(&c->faults[i], stages);
    printf("%u faults: %u as their patches say, %u not\n", c->n, c->n - failed, failed);
    return failed ? EXIT_VIOLATION : EXIT_OK;
}
