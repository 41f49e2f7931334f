/* SPDX-License-Identifier: MIT
 *
 * What the files of `isoheap faults` share.
 *
 *   (cli/commands/faults.c has options, list and the order of events)
 *   catalogue.c   the faults: heads of faults/<collector>/<name>.patch
 *   check.c       triggers raise their classes on faulty collectors, and none on clean ones
 *   schedule.h    the same for triggers that are schedules
 *   arms.c        ways to fuzz
 *   run.c         the campaign: a process of fuzz_fault for each fault, arm and seed
 *   results.c     what is known, a line a run; a campaign goes on where it was
 *   statistics.c  Kaplan and Meier, quantiles, Vargha and Delaney
 *   tables.c      the report as text
 *   page.c, curves.c  the report as a page
 */
#ifndef ISOHEAP_CLI_FAULTS_H
#define ISOHEAP_CLI_FAULTS_H

#include "cli/cli.h"
#include "cli/fault_object.h"

enum {
    FAULTS_MAX = 1024,
    ARMS_MAX = 48,
    FAULT_KEY = 17, /* 16 hexadecimal digits and NUL */
    FAULT_NAME = 96
};

/* ---- catalogue.c -----------------------------------------------------------------------
 */

struct fault {
    char *name;                     /* "collector/name" */
    char *collector;                /* its registered name */
    char *patch, *trigger, *object; /* paths */
    /* the head of the patch, each on one line */
    char *wrong, *model, *family, *violation, *needs;
    bool hard; /* the head says Hard: yes */
};
struct catalogue {
    const char *folder, *build; /* faults/, and the build folder that has the objects */
    struct fault *faults;       /* by name */
    unsigned n;
};
/* Reads the faults that the words of `names` select, each a name, a collector, a family or a class;
 * without a word all.  False after a message. */
bool catalogue_read(struct catalogue *, char **names, int n_names);
void catalogue_free(struct catalogue *);

/* ---- check.c ---------------------------------------------------------------------------
 */

int faults_check(const struct catalogue *);

/* ---- arms.c ----------------------------------------------------------------------------
 */

struct arm {
    const char *name, *meaning;
    const char *environment[4]; /* NULL at the end */
    const char *option;         /* one more word for the engine, or NULL */
    oracle_set oracles;         /* 0: all */
    bool seeds, random;
};
/* Arm number n, NULL after the last one.  Arm 0 is the one with which the others are compared. */
const struct arm *arm_at(unsigned n);
const struct arm *arm_find(const char *name);

/* ---- results.c -------------------------------------------------------------------------
 */

/* One run: a fault, an arm, a seed. */
struct fault_run {
    char fault[FAULT_NAME], arm[FAULT_NAME];
    unsigned seed;
    char key[FAULT_KEY];                               /* of the binaries that ran */
    uint64_t budget;                                   /* executions that it had */
    uint64_t executions, reached, triggered, detected; /* 0: not */
    double seconds;
    char violation[FAULT_NAME], oracle[FAULT_NAME]; /* "-": not detected */
    uint64_t alone, without;
    unsigned repeats; /* 1: the input alone, in a process of its own, gave the same verdict */
};
/* What counts as found: a detection that repeats. */
bool run_found(const struct fault_run *);
/* What failed once, and then did not. */
bool run_flaky(const struct fault_run *);
struct results {
    char *path;
    struct fault_run *runs;
    unsigned n, room;
};
/* Reads <folder>/results.tsv; no file: no results.  False after a message. */
bool results_read(struct results *, const char *folder);
/* Appends to the file, then to the runs.  False after a message. */
bool results_add(struct results *, const struct fault_run *);
/* The last one of a fault, arm and seed, or NULL. */
const struct fault_run *results_find(const struct results *, const char *fault, const char *arm,
                                     unsigned seed);
void results_free(struct results *);

/* ---- run.c -----------------------------------------------------------------------------
 */

struct plan {
    const struct catalogue *catalogue;
    const struct arm *arms[ARMS_MAX];
    unsigned n_arms, seeds, first_seed, jobs, max_len;
    uint64_t budget;
    double time;        /* no new runs after so many seconds; 0: to the end */
    bool build;         /* build first what is to run */
    const char *folder; /* of results */
};
int faults_run(const struct plan *, struct results *);

/* ---- statistics.c ----------------------------------------------------------------------
 */

/* The runs of an arm, of a fault or (NULL) of all in the catalogue, whose detections do not repeat.
 */
unsigned count_flaky(const struct catalogue *, const struct results *, const char *fault,
                     const char *arm);

/* When something happened to one of many: at `at`, or not before it. */
struct detection_event {
    double at;
    bool happened;
};
/* Probability that it has not happened by then: a step of the curve. */
struct survival {
    double at, left;
};
/* The estimate of Kaplan and Meier; events are sorted in place, at most n steps. */
unsigned kaplan_meier(struct detection_event *, unsigned n, struct survival *steps);
/* The first time at which at most `left` are left; INFINITY if the curve ends above. */
double survival_quantile(const struct survival *, unsigned n, double left);
/* Probability that one of a comes before one of b, ties by half; what has not happened comes last.
 */
double vargha_delaney(const struct detection_event *a, unsigned n_a,
                      const struct detection_event *b, unsigned n_b);

/* What a column of the report measures. */
enum measure { REACHED, TRIGGERED, DETECTED, SECONDS };
/* Events of a fault (NULL: of all in the catalogue) in an arm; at most `most`.  Returns how many.
 */
unsigned gather(const struct catalogue *, const struct results *, const char *fault,
                const char *arm, enum measure, struct detection_event *out, unsigned most);

/* ---- tables.c, page.c, curves.c ------------------------------------------
 */

/* The arms that there are results of, in the order of arm_at. */
unsigned arms_with_results(const struct results *, const struct arm *arms[ARMS_MAX]);
enum { EVENTS_MAX = 1 << 16 };
void print_tables(FILE *, const struct catalogue *, const struct results *);

/* What an oracle was worth in the default arm. */
struct oracle_value {
    unsigned faults;   /* it was the one that reported, in most of the fault's runs */
    unsigned alone;    /* faults that it sees with no other oracle, on a program that was found */
    unsigned replaced; /* faults that nobody else sees on any of the programs that were found */
};
/* Returns the number of faults detected at all. */
unsigned oracle_values(const struct catalogue *, const struct results *,
                       struct oracle_value values[REPORTERS]);
const char *oracle_label(unsigned reporter);
/* "1234", ">2000000", "-" (no runs) */
void put_quantile(char *out, size_t size, double value, uint64_t budget);

struct curve {
    const char *label;
    const struct survival *steps;
    unsigned n;
};
/* An SVG of survival curves over a logarithmic axis from 1 to `last`. */
void put_curves(FILE *, const char *title, const struct curve *, unsigned n, double last,
                unsigned width, unsigned height);
/* Writes the report as a page or, if the path ends in .svg, its curves as a picture.  False after a
 * message. */
bool write_page(const char *path, const struct catalogue *, const struct results *);

#endif
