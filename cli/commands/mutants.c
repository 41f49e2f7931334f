/* SPDX-License-Identifier: MIT
 *
 * isoheap mutants: which lines of a collector could be wrong, and nobody would notice
 * (cli/mutants/).
 */
#define _GNU_SOURCE
#include "cli/mutants/mutants.h"

#include "cli/campaign/campaign.h"
#include "cli/plugin.h"
#include "collectors/registry/registry.h"

#include <argp.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
    SOURCE = 1000,
    LINK,
    OWN,
    CLANG,
    BUDGET,
    MAX_LEN,
    SEED,
    SEEDS,
    ONLY,
    LEFT,
    RESULTS,
    ACCEPTED,
    TIME,
    JSON,
    KILLED
};
enum { MUTANT_BUDGET = 100000000, MUTANT_LENGTH = 4096, MUTANT_NUMBERS = 1000000000 };

static const struct argp_option options[] = {
    {"collector", 'c', "NAME", 0, "a collector of this checkout, in the place of sources", 0},
    {"source", SOURCE, "FILE", 0, "a source of the collector, again and again for more", 0},
    {"link", LINK, "FILE", 0,
     "a source, object or library that is linked as it is (default: isoheap's own library)", 0},
    {"own", OWN, "DIR", 0,
     "headers below it have mutants too, beside those in the folders of the sources", 0},
    {"clang", CLANG, "PROGRAM", 0, "the compiler (default: clang)", 0},
    {"budget", BUDGET, "N", 0, "programs that a mutant has to survive (default: 20000)", 0},
    {"max-len", MAX_LEN, "N", 0, "bytes that a program may have (default: 256)", 0},
    {"seed", SEED, "N", 0, "of the programs (default: 1)", 0},
    {"seeds", SEEDS, "PATH", 0, "programs that come first, a file or folder, again and again", 0},
    {"only", ONLY, "TEXT", 0,
     "mutants with TEXT in their name, which is what the report says behind \"accept:\"; @FILE: "
     "those with which a line of the file ends, an earlier report's; again and again for more",
     0},
    {"left", LEFT, NULL, 0, "only mutants that nobody has accepted", 0},
    {"results", RESULTS, "DIR", 0,
     "where results are kept, with which the next run goes on (default: build/mutants/NAME)", 0},
    {"accepted", ACCEPTED, "FILE", 0,
     "survivors that somebody has looked at, with reasons (default: faults/accepted/NAME.txt of "
     "the checkout)",
     0},
    {"time", TIME, "SECONDS", 0, "begin no mutant after that; the next run goes on", 0},
    {"jobs", 'j', "N", 0, "processor cores to use (default: all)", 0},
    {"json", JSON, NULL, 0, "the report as JSON, with all mutants", 0},
    {"killed", KILLED, NULL, 0, "the report has the killed ones too", 0},
    {0}};

struct mutants_request {
    struct compile_plan compile;
    struct program_plan programs;
    struct hunt_plan hunt;
    struct accepted accepted;
    struct choice_of_mutants choice;
    char *seeds[MUTANT_SOURCES];
    const char *collector, *results, *accepted_path;
    unsigned time, jobs;
    bool json, killed;
    char *folder;
};

/* text: malloc'ed. */
static bool add_text(char **texts, unsigned *n, char *text) {
    if (*n == MUTANT_SOURCES) {
        fprintf(stderr, "isoheap: more than %d of one kind\n", MUTANT_SOURCES);
        free(text);
        return false;
    }
    texts[(*n)++] = text;
    return true;
}

static bool add_path(char **paths, unsigned *n, const char *argument) {
    return add_text(paths, n, text_of("%s", path_argument(argument)));
}

static error_t parse_number(int key, char *argument, struct mutants_request *r) {
    switch (key) {
    case BUDGET:
        r->programs.budget = choose_number("--budget", argument, 1, MUTANT_BUDGET);
        return 0;
    case MAX_LEN:
        r->programs.max_len = choose_number("--max-len", argument, 16, MUTANT_LENGTH);
        return 0;
    case SEED:
        r->programs.seed = choose_number("--seed", argument, 0, MUTANT_NUMBERS);
        return 0;
    case TIME:
        r->time = choose_number("--time", argument, 1, MUTANT_NUMBERS);
        return 0;
    case 'j':
        r->jobs = choose_number("--jobs", argument, 1, JOBS_MAX);
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

static error_t parse(int key, char *argument, struct argp_state *state) {
    struct mutants_request *r = state->input;
    struct compile_plan *c = &r->compile;
    switch (key) {
    case 'c':
        r->collector = argument;
        return 0;
    case SOURCE:
        return add_path(c->sources, &c->n_sources, argument) ? 0 : EINVAL;
    case LINK:
        return add_path(c->links, &c->n_links, argument) ? 0 : EINVAL;
    case OWN:
        return add_path(c->own.folder, &c->own.n, argument) ? 0 : EINVAL;
    case SEEDS:
        return add_path(r->seeds, &r->programs.n_seeds, argument) ? 0 : EINVAL;
    case ONLY:
        return add_text(r->choice.texts, &r->choice.n_texts, text_of("%s", argument)) ? 0 : EINVAL;
    case LEFT:
        r->choice.left = true;
        return 0;
    case CLANG:
        c->clang = argument;
        return 0;
    case RESULTS:
        r->results = path_argument(argument);
        return 0;
    case ACCEPTED:
        r->accepted_path = path_argument(argument);
        return 0;
    case JSON:
        r->json = true;
        return 0;
    case KILLED:
        r->killed = true;
        return 0;
    case ARGP_KEY_ARG:
        if (c->n_flags == MUTANT_WORDS)
            argp_error(state, "more than %d options of the compiler", MUTANT_WORDS);
        c->flags[c->n_flags++] = text_of("%s", argument);
        return 0;
    default:
        return parse_number(key, argument, r);
    }
}

/* ---- what there is ----------------------------------------------------------------------------
 */

static void add_source_file(const char *path, const char *name, void *request) {
    struct mutants_request *r = request;
    if (ends_in(name, ".c"))
        add_path(r->compile.sources, &r->compile.n_sources, path);
}

static void add_linked_file(const char *path, const char *name, void *request) {
    struct mutants_request *r = request;
    if (ends_in(name, ".c"))
        add_path(r->compile.links, &r->compile.n_links, path);
}

/* Each folder in one; files beside them are the interface, and no collector's own. */
static void own_all_below(struct own_folders *own, const char *path) {
    struct dirent *entry;
    DIR *folder = opendir(path);
    while (folder && (entry = readdir(folder))) {
        if (entry->d_type != DT_DIR || entry->d_name[0] == '.')
            continue;
        char *below = text_of("%s/%s", path, entry->d_name);
        add_path(own->folder, &own->n, below);
        free(below);
    }
    if (folder)
        closedir(folder);
}

/* A collector of the checkout: the sources are in its folder. */
static bool take_collector(struct mutants_request *r) {
    const char *top = plugin_headers();
    char *folder = text_of("%s/collectors/%s", top, r->collector);
    char *seeds = text_of("%s/seeds/%s", top, r->collector);
    if (is_plain(r->collector))
        visit_folder(folder, add_source_file, r);
    if (!r->compile.n_sources)
        fprintf(stderr,
                "isoheap: %s: there are no sources of a collector \"%s\"; --collector takes those "
                "of isoheap's own checkout, --source others\n",
                folder, r->collector);
    if (access(seeds, R_OK) == 0)
        add_path(r->seeds, &r->programs.n_seeds, seeds);
    char *all = text_of("%s/collectors", top);
    own_all_below(&r->compile.own, all);
    char *accepted = text_of("%s/faults/accepted/%s.txt", top, r->collector);
    if (!r->accepted_path && access(accepted, R_OK) == 0)
        r->accepted_path = text_of("%s", accepted);
    free(accepted);
    free(all);
    free(seeds);
    free(folder);
    return r->compile.n_sources > 0;
}

/* The folders of the sources are the collector's own, and all are absolute. */
static bool find_own(struct compile_plan *c) {
    for (unsigned i = 0; i < c->own.n; i++) {
        char *full = realpath(c->own.folder[i], NULL);
        if (!full) {
            fprintf(stderr, "isoheap: %s: %s\n", c->own.folder[i], strerror(errno));
            return false;
        }
        free(c->own.folder[i]);
        c->own.folder[i] = full;
    }
    for (unsigned s = 0; s < c->n_sources; s++) {
        char *full = realpath(c->sources[s], NULL);
        if (!full) {
            fprintf(stderr, "isoheap: %s: %s\n", c->sources[s], strerror(errno));
            return false;
        }
        *strrchr(full, '/') = '\0';
        bool known = false;
        for (unsigned i = 0; i < c->own.n; i++)
            known |= strcmp(c->own.folder[i], full) == 0;
        if (known)
            free(full);
        else if (c->own.n < sizeof c->own.folder / sizeof *c->own.folder)
            c->own.folder[c->own.n++] = full;
    }
    return true;
}

/* isoheap's own library: installed, or its sources. */
static void find_links(struct mutants_request *r) {
    char *library = text_of("%s/../lib/libisoheap.a", own_folder());
    char *sources = text_of("%s/collectors", plugin_headers());
    if (r->compile.n_links == 0 && access(library, R_OK) == 0)
        add_path(r->compile.links, &r->compile.n_links, library);
    else if (r->compile.n_links == 0)
        visit_folder(sources, add_linked_file, r);
    free(sources);
    free(library);
}

/* ---- the object -------------------------------------------------------------------------------
 */

static bool load_suspect(const char *object, const struct mutants *m, struct suspect *s) {
    const void *export;
    s->collector = load_copy(object, "isoheap_mutants", &export);
    s->export = export;
    bool good = s->collector && s->export && s->export->n == m->n;
    if (s->collector && !good)
        fprintf(stderr, "isoheap: %s: it is not what was built\n", object);
    return good;
}

/* Which collector the plug-in has; must the sources have the same?  NULL: there is no plug-in. */
static const struct collector *plain_collector(const struct mutants_request *r) {
    const char *path = last_plugin();
    return path && !r->collector ? find_collector(default_collector()) : NULL;
}

static bool is_of_plugin(const struct collector *plain, const struct suspect *s) {
    if (!plain || strcmp(plain->name, s->collector->name) == 0)
        return true;
    fprintf(stderr, "isoheap: the plug-in has the collector %s, and the sources have %s\n",
            plain->name, s->collector->name);
    return false;
}

/* All that a result depends on, as a name. */
struct key_text {
    FILE *out;
    bool good;
};

/* Of any length: a command with sanitizers is longer than any program. */
static void add_content(const char *path, void *into) {
    struct key_text *key = (struct key_text *)into;
    char digest[17];
    struct stat s;
    int file = open(path, O_RDONLY | O_CLOEXEC);
    void *content = MAP_FAILED;
    if (file >= 0 && fstat(file, &s) == 0 && s.st_size)
        content = mmap(NULL, (size_t)s.st_size, PROT_READ, MAP_PRIVATE, file, 0);
    if (content != MAP_FAILED) {
        name_content(content, (size_t)s.st_size, digest);
        fprintf(key->out, "%s %s\n", path, digest);
        munmap(content, (size_t)s.st_size);
    } else if (file < 0 || s.st_size) {
        fprintf(stderr, "isoheap: %s: %s\n", path, strerror(errno));
        key->good = false;
    }
    if (file >= 0)
        close(file);
}

static bool make_key(const struct mutants_request *r, const char *object, char key[17]) {
    char *all = NULL;
    size_t size;
    struct key_text text = {.out = open_memstream(&all, &size), .good = true};
    if (!text.out)
        return false;
    fprintf(text.out, "%u %u\n", r->programs.seed, r->programs.max_len);
    add_content("/proc/self/exe", &text);
    add_content(object, &text);
    for (unsigned i = 0; i < r->programs.n_seeds; i++)
        for_each_file(r->seeds[i], add_content, &text);
    bool good = fclose(text.out) == 0 && text.good;
    if (good)
        name_content(all, size, key);
    free(all);
    return good;
}

static enum exit_status report(struct mutants_request *r, const struct mutants *m,
                               const struct suspect *s, const struct programs *p,
                               const struct results_file *results, bool finished) {
    struct mutant_report report = {.collector = s->collector->name,
                                   .mutants = m,
                                   .results = results,
                                   .programs = p,
                                   .accepted = &r->accepted,
                                   .budget = r->programs.budget,
                                   .finished = finished,
                                   .chosen = is_choice(&r->choice),
                                   .killed_too = r->killed};
    struct tally_of_mutants t = tally_mutants(&report);
    if (r->json)
        print_mutants_json(stdout, &report);
    else
        print_mutants(stdout, &report);
    if (!finished)
        return EXIT_USAGE;
    return t.accepted[ACCEPTED_none] || t.stale ? EXIT_VIOLATION : EXIT_OK;
}

/* All mutants run a few programs, then those that are left more; before the most, those that are
 * none are left out. */
static bool hunt_all(const struct mutants_request *r, const struct hunt_plan *plan,
                     struct results_file *results) {
    static const struct {
        unsigned programs;
        bool anew, same_next;
    } passes[] = {{64, false, false}, {2048, true, true}, {UINT32_MAX, true, false}};
    bool good = find_dead(&r->compile, plan->mutants, results);
    for (unsigned pass = 0; good && pass < sizeof passes / sizeof *passes; pass++) {
        unsigned most = r->programs.budget;
        most = pass == 0 ? most / 2 : most;
        most = passes[pass].programs < most ? passes[pass].programs : most;
        good = hunt_mutants(plan, results, most, passes[pass].anew) &&
               (!passes[pass].same_next ||
                find_same(&r->compile, plan->mutants, results, r->jobs, plan->progress));
    }
    return good;
}

static enum exit_status hunt(struct mutants_request *r, const struct mutants *m,
                             const struct suspect *s, const char *object) {
    struct programs programs = {.n = 0};
    struct results_file results = {.n = 0};
    char key[17];
    double begin = seconds_now();
    bool progress = isatty(STDERR_FILENO);
    if (!make_key(r, object, key))
        return EXIT_USAGE;
    r->programs.key = key;
    enum exit_status status = make_programs(&r->programs, s, &programs);
    if (status == EXIT_OK && !mutant_results_open(&results, r->folder, key, m->n))
        status = EXIT_USAGE;
    if (status == EXIT_OK) {
        struct hunt_plan plan = {.mutants = m,
                                 .suspect = s,
                                 .programs = &programs,
                                 .jobs = r->jobs,
                                 .end = r->time ? begin + r->time : 0,
                                 .progress = progress};
        bool finished = hunt_all(r, &plan, &results);
        status = report(r, m, s, &programs, &results, finished);
    }
    mutant_results_close(&results);
    forget_programs(&programs);
    return status;
}

/* ---- all --------------------------------------------------------------------------------------
 */

static bool make_results_folder(struct mutants_request *r) {
    const char *source = r->compile.sources[0], *slash = strrchr(source, '/');
    const char *name = slash ? slash + 1 : source;
    char *folder = r->results     ? text_of("%s", r->results)
                   : r->collector ? text_of("build/mutants/%s", r->collector)
                                  : text_of("build/mutants/%.*s", (int)strcspn(name, "."), name);
    bool good = make_folder(folder);
    r->folder = good ? realpath(folder, NULL) : NULL;
    if (!r->folder)
        fprintf(stderr, "isoheap: %s: %s\n", folder, strerror(errno));
    free(folder);
    return r->folder && lock_folder(r->folder, r->folder, "--results");
}

static enum exit_status make_and_hunt(struct mutants_request *r) {
    static struct mutants mutants;
    struct suspect suspect = {.collector = NULL};
    char *object = NULL;
    enum exit_status status = EXIT_UNREADABLE;
    r->programs.folder = r->compile.folder = r->folder;
    r->programs.seeds = r->seeds;
    if (build_mutants(&r->compile, &mutants, &object) && load_suspect(object, &mutants, &suspect) &&
        choose_mutants(&mutants, &r->choice, &r->accepted)) {
        r->programs.plain = plain_collector(r);
        status = is_of_plugin(r->programs.plain, &suspect) ? hunt(r, &mutants, &suspect, object)
                                                           : EXIT_USAGE;
    }
    forget_mutants(&mutants);
    free(object);
    return status;
}

static const char about[] =
    "Which lines of a collector could be wrong, and nobody would notice?  Writes every classical "
    "mistake into its sources, one at a time, fuzzes each, and reports those that survive.\v"
    "Options of the compiler come behind --.  All mutants are in one object, with a switch.  With "
    "--plugin the sources are compared with it: what they do, program by program.\n\n"
    "A file of accepted survivors has a line for each, KIND and what the report says behind "
    "\"accept:\", and below it the reason, indented.  KIND is equivalent, waste, leak, lie or "
    "beyond.\n\n"
    "Exit status: 0 no survivor that is not accepted, 1 survivors, or accepted ones that are none, "
    "2 usage, or it was cut short (the same command goes on), 3 the sources do not compile.";

int command_mutants(int argc, char **argv) {
    static const struct argp argp = {
        options, parse, "[-- COMPILER OPTION...]", about, plugin_option, NULL, NULL};
    static struct mutants_request r = {.compile = {.clang = "clang"},
                                       .programs = {.budget = 20000, .max_len = 256, .seed = 1}};
    r.jobs = jobs_of_machine();
    argp_err_exit_status = EXIT_USAGE;
    if (argp_parse(&argp, argc, argv, 0, NULL, &r) != 0)
        return EXIT_USAGE;
    if (r.collector && !take_collector(&r))
        return EXIT_USAGE;
    if (!r.compile.n_sources) {
        fprintf(stderr, "isoheap: whose mutants?  --source names the collector's files\n");
        return EXIT_USAGE;
    }
    find_links(&r);
    if (r.accepted_path && !accepted_read(&r.accepted, r.accepted_path))
        return EXIT_UNREADABLE;
    if (!find_own(&r.compile))
        return EXIT_UNREADABLE;
    if (!make_results_folder(&r))
        return EXIT_USAGE;
    count_interrupts();
    enum exit_status status = make_and_hunt(&r);
    accepted_free(&r.accepted);
    free(r.folder);
    return (int)status;
}
