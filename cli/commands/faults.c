/* SPDX-License-Identifier: MIT
 *
 * isoheap faults: the benchmark of seeded faults (faults.h; docs/evaluation.md).
 */
#define _GNU_SOURCE
#include "cli/faults/faults.h"

#include "cli/campaign/campaign.h"

#include <argp.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
    FOLDER = 1000,
    BUILD_DIR,
    RESULTS,
    ARMS,
    SEEDS,
    FIRST_SEED,
    RUNS,
    TIME,
    MAX_LEN,
    BUILD,
    PAGE
};
enum { SEEDS_MOST = 10000, RUNS_MOST = 1000000000, LENGTH_MOST = FAULT_INPUT_MAX };

static const struct argp_option options[] = {
    {"faults", FOLDER, "DIR", 0, "the patches, DIR/COLLECTOR/NAME.patch (default: faults)", 0},
    {"build-dir", BUILD_DIR, "DIR", 0,
     "the build that has their objects and fuzz_fault (default: build/fuzz)", 0},
    {"build", BUILD, NULL, 0, "run: build first what is to run", 0},
    {"results", RESULTS, "DIR", 0, "where results are kept (default: build/faults)", 0},
    {"arms", ARMS, "NAME,NAME", 0, "ways to fuzz, of `isoheap faults arms` (default: default)", 0},
    {"seeds", SEEDS, "N", 0, "runs of each fault and arm (default: 3)", 0},
    {"first-seed", FIRST_SEED, "N", 0, "the seed of the first of them (default: 1)", 0},
    {"runs", RUNS, "N", 0, "executions that a run may take (default: 2000000)", 0},
    {"max-len", MAX_LEN, "N", 0, "bytes that an input may have (default: 256)", 0},
    {"time", TIME, "SECONDS", 0, "start no run after that; the next `run` goes on", 0},
    {"jobs", 'j', "N", 0, "processor cores to use (default: all)", 0},
    {"page", PAGE, "FILE", 0,
     "report: write the page there (default: RESULTS/index.html); FILE.svg: the curves, as a "
     "picture",
     0},
    {0}};

struct request {
    struct plan plan;
    struct catalogue catalogue;
    char **words; /* verb, names */
    int n_words;
    const char *arms, *page;
};

static error_t parse(int key, char *argument, struct argp_state *state) {
    struct request *r = state->input;
    struct plan *p = &r->plan;
    switch (key) {
    case FOLDER:
        r->catalogue.folder = path_argument(argument);
        return 0;
    case BUILD_DIR:
        r->catalogue.build = path_argument(argument);
        return 0;
    case BUILD:
        p->build = true;
        return 0;
    case RESULTS:
        p->folder = path_argument(argument);
        return 0;
    case ARMS:
        r->arms = argument;
        return 0;
    case SEEDS:
        p->seeds = choose_number("--seeds", argument, 1, SEEDS_MOST);
        return 0;
    case FIRST_SEED:
        p->first_seed = choose_number("--first-seed", argument, 1, RUNS_MOST);
        return 0;
    case RUNS:
        p->budget = choose_number("--runs", argument, 1, RUNS_MOST);
        return 0;
    case MAX_LEN:
        p->max_len = choose_number("--max-len", argument, 16, LENGTH_MOST);
        return 0;
    case TIME:
        p->time = choose_number("--time", argument, 1, RUNS_MOST);
        return 0;
    case 'j':
        p->jobs = choose_number("--jobs", argument, 1, JOBS_MAX);
        return 0;
    case PAGE:
        r->page = argument;
        return 0;
    case ARGP_KEY_ARGS:
        r->words = state->argv + state->next;
        r->n_words = state->argc - state->next;
        return 0;
    case ARGP_KEY_NO_ARGS:
        argp_error(state, "list, arms, check, run or report?");
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

static bool choose_arms(struct plan *p, const char *list) {
    char *copy = text_of("%s", list), *rest = copy;
    bool good = true;
    for (char *name; good && (name = strsep(&rest, ","));) {
        const struct arm *arm = arm_find(name);
        good = arm && p->n_arms < ARMS_MAX;
        if (good)
            p->arms[p->n_arms++] = arm;
        else
            fprintf(stderr, "isoheap: no arm is called \"%s\"; see `isoheap faults arms`\n", name);
    }
    free(copy);
    return good;
}

/* ---- verbs ------------------------------------------------------------------------------------
 */

static int list_arms(void) {
    for (unsigned a = 0; arm_at(a); a++)
        printf("%-22s %s\n", arm_at(a)->name, arm_at(a)->meaning);
    return EXIT_OK;
}

static int list_faults(const struct catalogue *c) {
    for (unsigned i = 0; i < c->n; i++) {
        const struct fault *f = &c->faults[i];
        printf("%-34s %-4s %-22s %s%s\n", f->name, f->family, f->violation,
               f->hard ? "(hard) " : "", f->wrong);
    }
    printf("%u faults\n", c->n);
    return EXIT_OK;
}

static int report(struct request *r) {
    struct results results;
    char *page = r->page ? text_of("%s", r->page) : text_of("%s/index.html", r->plan.folder);
    bool good = results_read(&results, r->plan.folder);
    if (good && !results.n) {
        fprintf(stderr, "isoheap: no results in %s; `isoheap faults run` makes them\n",
                r->plan.folder);
        good = false;
    }
    if (good)
        print_tables(stdout, &r->catalogue, &results);
    good = good && write_page(page, &r->catalogue, &results);
    if (good && strcmp(page, "-") != 0)
        printf("\n%s\n", page);
    free(page);
    results_free(&results);
    return good ? EXIT_OK : EXIT_USAGE;
}

static int run(struct request *r) {
    struct results results;
    count_interrupts();
    r->plan.catalogue = &r->catalogue;
    if (!choose_arms(&r->plan, r->arms))
        return EXIT_USAGE;
    if (!make_folder(r->plan.folder) || !results_read(&results, r->plan.folder))
        return EXIT_UNREADABLE;
    int status = faults_run(&r->plan, &results);
    results_free(&results);
    return status ? status : report(r);
}

static int dispatch(struct request *r) {
    const char *verb = r->words[0];
    if (strcmp(verb, "arms") == 0)
        return list_arms();
    if (strcmp(verb, "list") != 0 && strcmp(verb, "check") != 0 && strcmp(verb, "run") != 0 &&
        strcmp(verb, "report") != 0) {
        fprintf(stderr, "isoheap: faults takes list, arms, check, run or report, not \"%s\"\n",
                verb);
        return EXIT_USAGE;
    }
    if (!catalogue_read(&r->catalogue, r->words + 1, r->n_words - 1))
        return EXIT_UNREADABLE;
    return verb[0] == 'l'   ? list_faults(&r->catalogue)
           : verb[0] == 'c' ? faults_check(&r->catalogue)
           : verb[1] == 'u' ? run(r)
                            : report(r);
}

int command_faults(int argc, char **argv) {
    struct request r = {.plan = {.seeds = 3,
                                 .first_seed = 1,
                                 .max_len = 256,
                                 .budget = 2000000,
                                 .folder = "build/faults"},
                        .catalogue = {.folder = "faults", .build = "build/fuzz"},
                        .arms = "default"};
    static const struct argp argp = {
        options,
        parse,
        "list|arms|check|run|report [FAULT...]",
        "The benchmark of seeded faults: does the fuzzer find what is known to be wrong, how soon, "
        "and which oracle does?\v"
        "FAULT is a name (COLLECTOR/NAME), a collector, a family or a violation class; without it, "
        "all.\n\n"
        "list says what there is; check proves that the program beside each patch raises the class "
        "that the patch names, and nothing on the clean collector; run fuzzes, and goes on where "
        "an "
        "earlier run with the same binaries stopped; report writes the tables and a page.",
        NULL,
        NULL,
        NULL};
    r.plan.jobs = jobs_of_machine();
    if (argp_parse(&argp, argc, argv, 0, NULL, &r) != 0)
        return EXIT_USAGE;
    int status = dispatch(&r);
    catalogue_free(&r.catalogue);
    return status;
}
