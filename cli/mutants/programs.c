/* SPDX-License-Identifier: MIT
 *
 * The programs that all mutants run (mutants.h): first the seeds, then what a fuzzer makes of them
 * that looks at the collector as it is.  A program is the parent of others if it reached something
 * new: a feature of the harness (harness/coverage.h), or a place of the collector, or that more
 * often than any before it.
 *
 * A child does it, since the collector is somebody else's.  The same seed gives the same programs,
 * and a larger budget the same ones and more.
 */
#define _GNU_SOURCE
#include "cli/campaign/campaign.h"
#include "cli/mutants/mutants.h"
#include "harness/coverage.h"
#include "harness/judged/judged.h"
#include "program/bytes/bytes.h"
#include "program/mutation/mutate.h"
#include "program/random.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum {
    LENGTH_MOST = 4096, /* of a program in bytes */
    COMPARED = 64,      /* programs that the collector as it was compiled runs too */
    PROGRAM_MS = 10000, /* of processor time */
    RECENT = 64,        /* parents that are chosen more often */
    ROUNDS = 4,
    HEAD = 4 /* numbers at the head of the file of programs, behind the line of FORM */
};
#define FORM "%s programs 2"

/* What the child tells. */
struct making {
    _Atomic unsigned made;
    unsigned failing;         /* programs on which the collector itself fails */
    enum violation violation; /* of the first of them */
    bool differs, finished, no_runner;
    uint8_t current[LENGTH_MOST]; /* the program that runs, or the first that failed */
    size_t size;
    struct judged_place place;
};

struct maker {
    const struct program_plan *plan;
    const struct suspect *suspect;
    struct programs *programs;
    struct making *making;
    struct runner *runner, *plain;
    struct mutation *mutation;
    struct random random;
    unsigned *parents, n_parents;
    uint8_t features[COVERAGE_BYTES], seen[COVERAGE_BYTES];
    uint8_t *often; /* of each mutant: how often a program has reached it, a bit for each order */
    size_t room;    /* bytes */
    struct program program;
};

static bool open_runners(struct maker *k) {
    struct runner_options options = {.subject = k->suspect->collector,
                                     .reference = find_collector(DEFAULT_REFERENCE),
                                     .tight = true,
                                     .digest = k->plan->plain != NULL,
                                     .coverage = k->features};
    k->runner = runner_open(&options);
    if (k->plan->plain) {
        options.subject = k->plan->plain;
        options.coverage = NULL;
        k->plain = runner_open(&options);
    }
    return k->runner && (k->plain || !k->plan->plain);
}

/* Is there something that no program before has reached?  Notes it. */
static bool is_new(struct maker *k) {
    bool new = false;
    for (unsigned i = 0; i < COVERAGE_BYTES; i += sizeof(uint64_t)) {
        uint64_t now, before;
        memcpy(&now, k->features + i, sizeof now);
        memcpy(&before, k->seen + i, sizeof before);
        new |= (now & ~before) != 0;
        before |= now;
        memcpy(k->seen + i, &before, sizeof before);
    }
    for (unsigned m = 1; m <= k->suspect->export->n; m++) {
        unsigned times = k->suspect->export->reached[m], order = 0;
        if (!times)
            continue;
        while (order < 7 && times >> (order + 1))
            order++;
        new |= !(k->often[m] >> order & 1);
        k->often[m] |= (uint8_t)(1u << order);
    }
    return new;
}

/* Of the program that comes next; behind the last one, what is reached beside all programs. */
static void note_reached(struct maker *k) {
    const struct programs *p = k->programs;
    for (unsigned m = 1; m <= k->suspect->export->n; m++)
        if (k->suspect->export->reached[m])
            set_bit(p->reach + (size_t)p->n * p->words, m);
}

/* Keeps the program and what it has reached.  One that the collector cannot be given is there for
 * those mutants that promise to take it. */
static bool keep_program(struct maker *k, const uint8_t *data, size_t size, bool refused) {
    struct programs *p = k->programs;
    size_t end = p->start[p->n] + size;
    if (end > k->room) {
        k->room = 2 * end;
        uint8_t *more = realloc(p->bytes, k->room);
        if (!more)
            return false;
        p->bytes = more;
    }
    memcpy(p->bytes + p->start[p->n], data, size);
    note_reached(k);
    if (refused)
        set_bit(p->reach + (size_t)p->n * p->words, 0);
    p->start[++p->n] = end;
    k->making->made = p->n;
    return true;
}

static bool runs_as_plain(struct maker *k, const struct verdict *v) {
    static struct verdict plain;
    if (!k->plain || k->programs->n >= COMPARED)
        return true;
    runner_run(k->plain, &k->program, &plain);
    return plain.digest == v->digest;
}

/* False: there can be no more. */
static bool try_program(struct maker *k, const uint8_t *data, size_t size) {
    static struct verdict verdict;
    struct making *m = k->making;
    if (!m->failing) {
        memcpy(m->current, data, size);
        m->size = size;
    }
    program_decode(&k->program, data, size);
    memset(k->features, 0, sizeof k->features);
    memset(k->suspect->export->reached, 0, (k->suspect->export->n + 1) * sizeof(unsigned));
    judged_limit(PROGRAM_MS);
    runner_run(k->runner, &k->program, &verdict);
    if (!runs_as_plain(k, &verdict)) {
        m->differs = true;
        return false;
    }
    if (verdict.violation || verdict.harness_error) {
        if (m->failing++ == 0)
            m->violation = verdict.violation;
        return true;
    }
    k->programs->not_run += verdict.not_run;
    if (!verdict.not_run && is_new(k))
        k->parents[k->n_parents++] = k->programs->n;
    return keep_program(k, data, size, verdict.not_run);
}

/* ---- where they come from ---------------------------------------------------------------------
 */

static void try_seed(const char *path, void *context) {
    static uint8_t data[LENGTH_MOST];
    struct maker *k = context;
    bool was_text;
    if (k->making->differs || k->programs->n >= k->plan->budget ||
        !read_program(path, &k->program, &was_text))
        return;
    size_t size = program_encode(&k->program, data, sizeof data);
    if (size <= sizeof data)
        try_program(k, data, size);
}

static unsigned below(struct maker *k, unsigned n) {
    return (unsigned)((random_next(&k->random) >> 33) % n);
}

static unsigned choose_parent(struct maker *k) {
    unsigned n = k->n_parents, recent = n < RECENT ? n : RECENT;
    return k->parents[below(k, 2) ? n - 1 - below(k, recent) : below(k, n)];
}

static const uint8_t *parent_bytes(struct maker *k, size_t *size) {
    const struct programs *p = k->programs;
    unsigned parent = choose_parent(k);
    *size = p->start[parent + 1] - p->start[parent];
    return p->bytes + p->start[parent];
}

static size_t make_next(struct maker *k, uint8_t *data) {
    const uint8_t *first, *second;
    size_t size, other, most = k->plan->max_len;
    unsigned way = below(k, 8);
    if (way == 0 || k->n_parents == 0)
        return mutation_generate(k->mutation, data, most, random_next(&k->random));
    first = parent_bytes(k, &size);
    if (way == 1) {
        second = parent_bytes(k, &other);
        return mutation_cross(k->mutation, first, size, second, other, data, most,
                              random_next(&k->random));
    }
    size = size < most ? size : most;
    memcpy(data, first, size);
    for (unsigned round = 1 + below(k, ROUNDS); round > 0; round--)
        size = mutation_mutate(k->mutation, data, size, most, random_next(&k->random));
    return size;
}

/* ---- the child --------------------------------------------------------------------------------
 */

static bool begin_making(struct maker *k) {
    unsigned budget = k->plan->budget, n = k->suspect->export->n;
    struct programs *p = k->programs;
    p->words = n / 64 + 1;
    p->start = calloc(budget + 1, sizeof *p->start);
    p->reach = calloc((size_t)(budget + 1) * p->words, sizeof *p->reach);
    k->parents = calloc(budget, sizeof *k->parents);
    k->often = calloc(n + 1, 1);
    k->mutation = mutation_open(NULL, NULL);
    return p->start && p->reach && k->parents && k->often && k->mutation;
}

static bool write_programs(const struct maker *k, const char *path) {
    const struct programs *p = k->programs;
    FILE *out = fopen(path, "wb");
    uint64_t head[HEAD] = {p->n, p->words, p->start[p->n], p->not_run};
    if (!out)
        return false;
    bool good = fprintf(out, FORM "\n", k->plan->key) > 0 &&
                fwrite(head, sizeof head, 1, out) == 1 &&
                fwrite(p->start, sizeof *p->start, p->n + 1, out) == p->n + 1 &&
                fwrite(p->bytes, 1, head[2], out) == head[2] &&
                fwrite(p->reach, sizeof *p->reach * p->words, p->n + 1, out) == p->n + 1;
    return (fclose(out) == 0) & good;
}

static void make_all(struct maker *k) {
    static uint8_t data[LENGTH_MOST];
    unsigned tries = 0;
    struct random random = {k->plan->seed};
    k->random = random;
    memset(k->suspect->export->reached, 0, (k->suspect->export->n + 1) * sizeof(unsigned));
    for (unsigned s = 0; s < k->plan->n_seeds; s++)
        for_each_file(k->plan->seeds[s], try_seed, k);
    while (!k->making->differs && k->programs->n < k->plan->budget &&
           tries++ < 2 * k->plan->budget) {
        size_t size = make_next(k, data);
        if (!try_program(k, data, size))
            break;
    }
}

static _Noreturn void make_here(struct maker *k, const char *path) {
    unsigned *reached = k->suspect->export->reached, n = k->suspect->export->n;
    int null = open("/dev/null", O_WRONLY);
    be_a_child();
    dup2(null, STDERR_FILENO);
    judged_watch(&k->making->place);
    judged_as_trials();
    memset(reached, 0, (n + 1) * sizeof *reached);
    k->making->no_runner = !begin_making(k) || !open_runners(k);
    if (k->making->no_runner)
        _exit(0);
    unsigned *opening = calloc(n + 1, sizeof *opening);
    if (opening)
        memcpy(opening, reached, (n + 1) * sizeof *opening);
    make_all(k);
    memcpy(reached, opening ? opening : reached, (n + 1) * sizeof *reached);
    runner_close(k->runner);
    note_reached(k);
    k->making->finished = write_programs(k, path);
    _exit(0);
}

/* ---- the parent -------------------------------------------------------------------------------
 */

/* Those that are there, if they are enough. */
static bool load_programs(const struct program_plan *plan, const char *path, unsigned mutants,
                          struct programs *p) {
    FILE *in = fopen(path, "rb");
    char key[64] = "", wanted[64];
    uint64_t head[HEAD];
    if (!in)
        return false;
    snprintf(wanted, sizeof wanted, FORM "\n", plan->key);
    bool good = fgets(key, sizeof key, in) && strcmp(key, wanted) == 0 &&
                fread(head, sizeof head, 1, in) == 1 && head[0] >= plan->budget &&
                head[0] < UINT32_MAX && head[1] == mutants / 64 + 1 &&
                head[2] <= head[0] * LENGTH_MOST;
    if (good) {
        *p = (struct programs){
            .n = (unsigned)head[0], .words = (unsigned)head[1], .not_run = (unsigned)head[3]};
        p->start = calloc(head[0] + 1, sizeof *p->start);
        p->bytes = calloc(head[2] + 1, 1);
        p->reach = calloc((head[0] + 1) * head[1], sizeof *p->reach);
        good = p->start && p->bytes && p->reach &&
               fread(p->start, sizeof *p->start, p->n + 1, in) == p->n + 1 &&
               fread(p->bytes, 1, head[2], in) == head[2] &&
               fread(p->reach, sizeof *p->reach * p->words, p->n + 1, in) == p->n + 1;
        for (unsigned i = 0; good && i < p->n; i++)
            good = p->start[i] <= p->start[i + 1] && p->start[i + 1] <= head[2];
        if (!good)
            forget_programs(p);
    }
    fclose(in);
    return good;
}

void forget_programs(struct programs *p) {
    free(p->start);
    free(p->bytes);
    free(p->reach);
    *p = (struct programs){.n = 0};
}

static void save_failing(const struct program_plan *plan, const struct making *m,
                         const char *what) {
    char *path = text_of("%s/failing", plan->folder);
    if (write_file(path, m->current, m->size))
        fprintf(
            stderr,
            "isoheap: the collector as it is %s, with no mutant: see `isoheap run --bytes %s`\n",
            what, quoted_path(path));
    free(path);
}

static enum exit_status say_how_it_ended(const struct program_plan *plan, const struct making *m,
                                         int status) {
    if (campaign_interrupts)
        return EXIT_USAGE;
    if (m->no_runner) {
        fprintf(stderr, "isoheap: the collector with its mutants cannot be opened\n");
        return EXIT_HARNESS;
    }
    if (m->differs) {
        save_failing(plan, m, "does not run as the plug-in does");
        fprintf(stderr, "isoheap: the sources are not those of the plug-in: compile it again, or "
                        "name the right --source\n");
        return EXIT_USAGE;
    }
    if (!m->finished) {
        save_failing(plan, m, m->place.late || !WIFSIGNALED(status) ? "fails" : "crashes");
        return EXIT_VIOLATION;
    }
    if (m->failing) {
        char *what = text_of("raises %s on %u programs, which mutants do not run,",
                             violation_name(m->violation), m->failing);
        save_failing(plan, m, what);
        free(what);
    }
    return EXIT_OK;
}

enum exit_status make_programs(const struct program_plan *plan, const struct suspect *suspect,
                               struct programs *p) {
    char *path = text_of("%s/programs", plan->folder), *new = text_of("%s.new", path);
    enum exit_status status = EXIT_OK;
    *p = (struct programs){.n = 0};
    struct making *making = guard_share(sizeof *making);
    struct maker *maker = calloc(1, sizeof *maker);
    if (making && maker && !load_programs(plan, path, suspect->export->n, p)) {
        int ended = 0;
        *maker = (struct maker){.plan = plan, .suspect = suspect, .programs = p, .making = making};
        fflush(NULL);
        pid_t child = fork();
        if (child == 0)
            make_here(maker, new);
        while (child > 0 && waitpid(child, &ended, 0) < 0 && errno == EINTR)
            if (campaign_interrupts)
                kill(child, SIGKILL);
        status = say_how_it_ended(plan, making, ended);
        if (status == EXIT_OK &&
            (rename(new, path) != 0 || !load_programs(plan, path, suspect->export->n, p))) {
            fprintf(stderr,
                    "isoheap: %s: the programs cannot be kept there, or there are less "
                    "than %u\n",
                    path, plan->budget);
            status = EXIT_USAGE;
        }
    }
    guard_unshare(making, sizeof *making);
    free(maker);
    free(path);
    free(new);
    return status;
}
