/* SPDX-License-Identifier: MIT
 *
 * isoheap corpus: keep corpora small and share them across targets.
 */
#define _GNU_SOURCE
#include "cli/campaign/corpus_change.h"

#include "cli/plugin.h"
#include "program/bytes/bytes.h"
#include "program/text/text.h"

#include <argp.h>
#include <dirent.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { CORPUS = 1000, BIN_DIR, CRASHES, TARGET };
enum { FILING_SECONDS = 30 };

static const struct argp_option options[] = {
    {"corpus", CORPUS, "DIR", 0, "the corpora, DIR/TARGET (default: corpus)", 0},
    {"bin-dir", BIN_DIR, "DIR", 0,
     "the targets' libFuzzer binaries (default: the plug-in's folder, build/fuzz/bin)", 0},
    {"target", TARGET, "BIN", 0,
     "the one binary, as other commands take it; of a folder the same as --bin-dir", 0},
    {"crashes", CRASHES, "DIR", 0, "where inputs that fail are filed (default: crashes)", 0},
    {0}};

struct corpus {
    struct campaign campaign;
    char **words; /* verb, target, sources */
    int n_words;
    const char *binary; /* the name of the one that --target gave; or NULL */
    int status;
};

/* BIN is the target of that name in its folder. */
static void take_target(struct corpus *c, const char *path, struct argp_state *state) {
    const char *slash = strrchr(path, '/');
    struct stat info;
    if (stat(path, &info) != 0) {
        argp_error(state, "--target: there is no %s; each corpus is that of a target", path);
    } else if (S_ISDIR(info.st_mode)) {
        c->campaign.bin_dir = path;
    } else {
        c->binary = slash ? slash + 1 : path;
        c->campaign.bin_dir = slash ? text_of("%.*s/", (int)(slash - path), path) : ".";
    }
}

static error_t parse(int key, char *argument, struct argp_state *state) {
    struct corpus *c = state->input;
    switch (key) {
    case CORPUS:
        c->campaign.corpus = path_argument(argument);
        return 0;
    case BIN_DIR:
        c->campaign.bin_dir = path_argument(argument);
        return 0;
    case TARGET:
        take_target(c, path_argument(argument), state);
        return 0;
    case CRASHES:
        c->campaign.crashes = path_argument(argument);
        return 0;
    case ARGP_KEY_ARGS:
        c->words = state->argv + state->next;
        c->n_words = state->argc - state->next;
        return 0;
    case ARGP_KEY_NO_ARGS:
        argp_error(state, "merge, minimise or import?");
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

static void raise_status(struct corpus *c, int status) {
    c->status = status > c->status ? status : c->status;
}

static void report(const struct target *t, struct extent before) {
    struct extent after = extent_of(t->corpus);
    printf("%s: %u -> %u files, %" PRIu64 " -> %" PRIu64 " bytes\n", t->name, before.files,
           after.files, before.bytes, after.bytes);
}

/* A source: a target that has a corpus, else a path. */
static char *source_path(const struct corpus *c, const char *source) {
    char *path = text_of("%s/%s", c->campaign.corpus, source);
    if (!strchr(source, '/') && access(path, F_OK) == 0)
        return path;
    free(path);
    return text_of("%s", path_argument(source));
}

/* ---- inputs that fail -------------------------------------------------------------------------
 */

static void name_failing(const char *path, const char *name, void *context) {
    const struct target *t = context;
    (void)name;
    printf("%s: fails, and is no part of the corpus: %s\n", t->name, quoted_path(path));
}

/* They have left the corpus for the queue: each is named, then classified, reduced and filed. */
static void file_failing(struct corpus *c) {
    for (unsigned i = 0; i < c->campaign.n_targets; i++) {
        struct target *t = &c->campaign.targets[i];
        char *queue = text_of("%s/queue", t->work);
        visit_folder(queue, name_failing, t);
        free(queue);
    }
    c->campaign.end = seconds_now() + FILING_SECONDS;
    while (work_on_queue(&c->campaign))
        take_a_nap();
    if (c->campaign.pending > 0)
        printf("%d of them wait in the queue for the next campaign\n", c->campaign.pending);
    for (unsigned i = 0; i < c->campaign.n_targets; i++)
        if (c->campaign.targets[i].n_tallies || c->campaign.pending > 0)
            raise_status(c, EXIT_VIOLATION);
    if (c->campaign.trouble || c->campaign.disk_full)
        raise_status(c, EXIT_HARNESS);
}

/* ---- merge and minimise -----------------------------------------------------------------------
 */

/* The folders to merge: named ones, or the corpora of all other targets. */
static unsigned find_sources(const struct corpus *c, const struct target *t, char **sources) {
    unsigned n = 0;
    for (int i = 2; i < c->n_words && n < TARGETS_MAX; i++)
        sources[n++] = source_path(c, c->words[i]);
    if (n)
        return n;
    struct dirent **entries;
    int count = scandir(c->campaign.corpus, &entries, NULL, alphasort);
    for (int i = 0; i < count; i++) {
        const char *name = entries[i]->d_name;
        if (name[0] != '.' && strcmp(name, t->name) != 0 && n < TARGETS_MAX)
            sources[n++] = source_path(c, name);
        free(entries[i]);
    }
    if (count >= 0)
        free(entries);
    return n;
}

static bool are_folders(char *const *sources, unsigned n) {
    struct stat info;
    for (unsigned i = 0; i < n; i++)
        if (stat(sources[i], &info) != 0 || !S_ISDIR(info.st_mode)) {
            fprintf(stderr,
                    "isoheap: %s: no such folder, and no target has a corpus of that name\n",
                    sources[i]);
            return false;
        }
    return true;
}

struct lengths {
    unsigned most; /* max_len of the target; 0: none */
    unsigned files, longer;
};

static void note_length(const char *key, const char *value, void *context) {
    struct lengths *l = context;
    if (strcmp(key, "max_len") == 0)
        l->most = (unsigned)strtoul(value, NULL, 10);
}

static void add_length(const char *path, void *context) {
    struct lengths *l = context;
    struct stat info;
    l->files++;
    l->longer += l->most && stat(path, &info) == 0 && info.st_size > (off_t)l->most;
}

/* What the engine will not take as it is. */
static struct lengths measure_lengths(const struct target *t, char *const *folders, unsigned n) {
    struct lengths l = {0, 0, 0};
    for_each_option(t, note_length, &l);
    for (unsigned i = 0; i < n; i++)
        if (access(folders[i], R_OK) == 0)
            for_each_file(folders[i], add_length, &l);
    if (l.longer)
        printf("%s: %u of %u inputs are longer than %u bytes (max_len): of these the engine takes "
               "the beginning\n",
               t->name, l.longer, l.files, l.most);
    return l;
}

/* Links to the sources, which may be called anything; their names into words. */
static bool link_sources(const struct target *t, char *const *sources, unsigned n,
                         struct words *words) {
    bool good = true;
    for (unsigned i = 0; good && i < n; i++) {
        add_word(words, "source%u", i);
        good = link_here(t, words->word[i], sources[i]);
    }
    return good;
}

static void unlink_sources(const struct target *t, struct words *words) {
    for (unsigned i = 0; i < words->n; i++) {
        char *path = text_of("%s/%s", t->work, words->word[i]);
        unlink(path);
        free(path);
    }
    free_words(words);
}

static void complain_of_loss(const struct target *t, struct reach old, struct reach new) {
    fprintf(stderr,
            "isoheap: %s: what the engine has built reaches less (%u edges, %u features) than the "
            "corpus (%u, %u), which stays as it is\n",
            t->name, new.edges, new.features, old.edges, old.features);
}

static bool reaches_all(struct reach new, struct reach old) {
    return new.edges >= old.edges &&new.features >= old.features;
}

/* Does the new corpus reach what the old one does?  What a first reading has missed is added once.
 */
static bool keeps_reach(struct target *t, const char *change, struct reach old, bool fewest) {
    static const char *const corpus[] = {"corpus", NULL};
    struct reach new;
    bool good = change_is_whole(change) && reach_of(t, "new", &new);
    if (good && !reaches_all(new, old) && fewest)
        good =
            merge_into_new(t, corpus, false) && change_is_whole(change) && reach_of(t, "new", &new);
    if (good && !reaches_all(new, old)) {
        complain_of_loss(t, old, new);
        good = false;
    }
    return good;
}

static bool build_change(struct target *t, const char *change, char *const *sources, unsigned n,
                         bool fewest) {
    struct words names = {.n = 0};
    struct reach old = {.known = false};
    bool good = link_sources(t, sources, n, &names) &&
                merge_into_new(t, (const char *const *)names.word, fewest);
    take_all(t); /* an input that fails would end every reading */
    good = good && reach_of(t, "corpus", &old) && keeps_reach(t, change, old, fewest);
    unlink_sources(t, &names);
    return good;
}

static bool change_by_merge(struct corpus *c, struct target *t, char *const *sources, unsigned n,
                            bool fewest) {
    struct extent before = extent_of(t->corpus);
    struct lengths read = measure_lengths(t, sources, n);
    char *change = begin_change(c->campaign.corpus, t->name, !fewest);
    if (!change)
        return false;
    if (!build_change(t, change, sources, n, fewest)) {
        drop_change(change);
        return false;
    }
    if (!fewest)
        printf("%s: %u inputs read\n", t->name, read.files);
    if (!commit_change(c->campaign.corpus, t->name, change))
        return false;
    report(t, before);
    return true;
}

static void merge(struct corpus *c) {
    struct target *t = &c->campaign.targets[0];
    char *sources[TARGETS_MAX];
    unsigned n = find_sources(c, t, sources);
    if (!n) {
        fprintf(stderr, "isoheap: %s has no corpus of another target; name a folder\n",
                c->campaign.corpus);
        raise_status(c, EXIT_UNREADABLE);
    } else if (!are_folders(sources, n)) {
        raise_status(c, EXIT_UNREADABLE);
    } else if (!change_by_merge(c, t, sources, n, false)) {
        raise_status(c, EXIT_HARNESS);
    }
    for (unsigned i = 0; i < n; i++)
        free(sources[i]);
}

static void minimise(struct corpus *c) {
    for (unsigned i = 0; i < c->campaign.n_targets; i++) {
        struct target *t = &c->campaign.targets[i];
        if (count_files(t->corpus) == 0)
            printf("%s: no corpus\n", t->name);
        else if (!change_by_merge(c, t, &t->corpus, 1, true))
            raise_status(c, EXIT_HARNESS);
    }
}

/* ---- import -----------------------------------------------------------------------------------
 */

struct import {
    struct corpus *corpus;
    const char *change;
    bool as_text; /* the target's inputs are text */
    unsigned added, same;
    bool failed; /* to write one */
};

/* <build>/targets.txt, "NAME bytes" or "NAME text". */
static bool takes_text(const struct corpus *c, const char *target) {
    char *path = text_of("%s/../targets.txt", c->campaign.bin_dir), *wanted;
    size_t size;
    char *list = load_file(path, &size);
    wanted = text_of("%s text\n", target);
    bool takes = list && strstr(list, wanted);
    free(wanted);
    free(list);
    free(path);
    return takes;
}

static int add_program(const struct import *import, const struct program *p) {
    size_t size = program_encode(p, NULL, 0);
    uint8_t *bytes = malloc(size + 1);
    if (!bytes)
        return -1;
    program_encode(p, bytes, size);
    int added = add_to_folder(import->change, bytes, size);
    free(bytes);
    return added;
}

enum { ADDED = 1, KNOWN = 0, NOT_WRITTEN = -1, NOT_READ = -2 };

static int refuse_large(const char *path) {
    fprintf(stderr, "isoheap: %s: " NO_BYTES "\n", path);
    return NOT_READ;
}

static int import_input(const struct import *import, const char *path) {
    static struct program program;
    size_t size;
    char *data = load_file(path, &size);
    const char *mistaken =
        data && !import->as_text ? mistaken_text((const uint8_t *)data, size) : NULL;
    int result = NOT_READ;
    if (!data)
        perror(path);
    else if (mistaken)
        fprintf(stderr, "%s:1:1: %s\n", path, mistaken);
    else if (import->as_text || !program_looks_like_text(data, size))
        result = add_to_folder(import->change, data, size);
    else if (read_program(path, &program, NULL))
        result = program_is_large(&program) ? refuse_large(path) : add_program(import, &program);
    if (result == NOT_WRITTEN)
        perror(import->change);
    free(data);
    return result;
}

static void import_file(const char *path, void *context) {
    struct import *import = context;
    int result = import_input(import, path);
    import->added += result == ADDED;
    import->same += result == KNOWN;
    import->failed |= result == NOT_WRITTEN;
    if (result < 0)
        raise_status(import->corpus, result == NOT_READ ? EXIT_UNREADABLE : EXIT_HARNESS);
}

static void import(struct corpus *c) {
    struct target *t = &c->campaign.targets[0];
    struct extent before = extent_of(t->corpus);
    char *change = begin_change(c->campaign.corpus, t->name, true);
    if (!change) {
        raise_status(c, EXIT_HARNESS);
        return;
    }
    struct import import = {c, change, takes_text(c, t->name), 0, 0, false};
    for (int i = 2; i < c->n_words; i++) {
        char *source = source_path(c, c->words[i]);
        if (!for_each_file(source, import_file, &import))
            raise_status(c, EXIT_UNREADABLE);
        free(source);
    }
    if (import.failed || !change_is_whole(change)) {
        drop_change(change);
        raise_status(c, EXIT_HARNESS);
        return;
    }
    if (!commit_change(c->campaign.corpus, t->name, change)) {
        raise_status(c, EXIT_HARNESS);
        return;
    }
    printf("%s: %u new, %u known\n", t->name, import.added, import.same);
    report(t, before);
}

/* ---- the command ------------------------------------------------------------------------------
 */

static const char about[] =
    "Change the corpora of fuzz targets, each as a whole or not at all.\n\n"
    "  merge TARGET [SOURCE...]    add what reaches something new (default: of all other targets)\n"
    "  minimise [TARGET...]        keep the fewest inputs that reach the same (default: all)\n"
    "  import TARGET SOURCE...     add files, text as bytes, each content once\n"
    "\v"
    "A SOURCE is a folder, for import also a file, or another target, which stands for its "
    "corpus.\n\n"
    "A target's corpus is read, and what fails in it judged and reduced, in the target's own "
    "binary, sanitizers and all.  Inputs that fail are no part of a corpus: they are named, "
    "reduced and filed.  A corpus that "
    "would reach less than before is not taken.\n\n"
    "Exit status: 0 done, 1 an input fails, 2 usage, 3 unreadable input, 4 a missing or failing "
    "binary, or a corpus that could not be changed and is as before.";

struct verb {
    const char *name;
    void (*run)(struct corpus *);
    int least; /* words, itself included */
    bool one;  /* the second word alone is a target */
};

static const struct verb *find_verb(const struct corpus *c) {
    static const struct verb verbs[] = {
        {"merge", merge, 2, true}, {"minimise", minimise, 1, false}, {"import", import, 3, true}};
    for (unsigned i = 0; i < sizeof verbs / sizeof *verbs; i++)
        if (strcmp(verbs[i].name, c->words[0]) == 0) {
            if (c->n_words >= verbs[i].least)
                return &verbs[i];
            fprintf(stderr, "isoheap corpus %s: %s\n", verbs[i].name,
                    c->n_words < 2 ? "which TARGET?" : "which SOURCE?");
            return NULL;
        }
    fprintf(stderr, "isoheap corpus: merge, minimise or import, not %s\n", c->words[0]);
    return NULL;
}

/* Those of the words; else the binary that was named, or the plug-in's.  False after a message. */
static bool choose_names(struct corpus *c, const struct verb *verb) {
    static char *own[1];
    c->campaign.names = c->words + 1;
    c->campaign.n_names = verb->one ? 1 : c->n_words - 1;
    for (int i = 0; c->binary && i < c->campaign.n_names; i++)
        if (strcmp(c->campaign.names[i], c->binary) != 0) {
            fprintf(stderr, "isoheap corpus: --target names %s, and not %s\n", c->binary,
                    c->campaign.names[i]);
            return false;
        }
    if (c->campaign.n_names || (!c->binary && !last_plugin()))
        return true;
    own[0] = c->binary ? text_of("%s", c->binary) : plugin_target();
    c->campaign.names = own;
    c->campaign.n_names = 1;
    return true;
}

static bool prepare(struct corpus *c) {
    choose_folder(&c->campaign);
    if (!find_targets(&c->campaign) || !lock_work(&c->campaign))
        return false;
    for (unsigned i = 0; i < c->campaign.n_targets; i++) {
        struct target *t = &c->campaign.targets[i];
        if (!make_target_folders(t) || !furnish(t, false))
            return false;
        take_current(t, true); /* what an earlier campaign left */
        t->watched = true;
    }
    return true;
}

int command_corpus(int argc, char **argv) {
    static const struct argp argp = {
        options, parse, "merge|minimise|import [TARGET] [SOURCE...]", about, plugin_option,
        NULL,    NULL};
    static struct corpus c = {.campaign = {.engine = &libfuzzer,
                                           .corpus = "corpus",
                                           .crashes = "crashes",
                                           .seed = 1,
                                           .keep = 20,
                                           .reduce_runs = 2000,
                                           .reduce_seconds = 10}};
    argp_err_exit_status = EXIT_USAGE;
    if (argp_parse(&argp, argc, argv, 0, NULL, &c))
        return EXIT_USAGE;
    const struct verb *verb = find_verb(&c);
    if (!verb || !choose_names(&c, verb))
        return EXIT_USAGE;
    if (!prepare(&c))
        return EXIT_HARNESS;
    verb->run(&c);
    file_failing(&c);
    for (unsigned i = 0; i < c.campaign.n_targets; i++)
        clear_away(&c.campaign.targets[i]);
    forget_targets(&c.campaign);
    return c.status;
}
