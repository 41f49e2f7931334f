/* SPDX-License-Identifier: MIT
 *
 * The standalone runner: a main() for a fuzz target where there is no fuzzing engine.  It needs C17
 * and POSIX only, so that every compiler can replay seeds, crashes and random inputs.
 *
 * Inputs run in child processes, so that a crash or a hang costs one input and not the run.  Files
 * get a child each.  Random inputs, and files where that is asked for, share one in batches: what a
 * target sets up in its first input is there for the others.  A child notes the input that it
 * starts on in a file shared with its parent, which thus knows where it ended and tries that input
 * alone.
 */
#define _POSIX_C_SOURCE 200809L

#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
/* Optional in a target; the second says why the last input could not be run, or NULL. */
__attribute__((weak)) int LLVMFuzzerInitialize(int *argc, char ***argv);
__attribute__((weak)) const char *target_refusal(void);

enum { EXIT_FAILED = 1, EXIT_USAGE = 2, EXIT_UNREADABLE = 3, EXIT_TROUBLE = 4 };
enum { DEEPEST_FOLDER = 32, LONGEST_RANDOM_INPUT = 512, BATCH = 4096 };

static const char help[] =
    "usage: %s [options] FILE|FOLDER...\n"
    "       %s [options] --random=N\n"
    "\n"
    "Replays inputs, each in a process of its own, and survives their crashes.  Folders are read\n"
    "with all that is in them, in sorted order.\n"
    "\n"
    "  --timeout=SECONDS   time limit of an input (default 10; 0: none)\n"
    "  --repeat=N          run each input N times in one process (default 1)\n"
    "  --together          files share a process until one fails, which is then run alone\n"
    "  --no-fork           run all in this process: for debuggers and coverage\n"
    "  --random=N          run N pseudo-random inputs\n"
    "  --seed=S            which ones (default 1); the same seed gives the same inputs\n"
    "  --findings=FOLDER   keep the random inputs that fail there\n"
    "  --help              print this\n"
    "\n"
    "The last line is `N passed, N failed`, and `, N not run` if some are programs that the "
    "target\n"
    "cannot be given.  Exit status: 0 none failed, 1 an input failed, 2 usage, 3 an input cannot "
    "be\n"
    "read, or none of them could be run, 4 the system refused a process or a file.\n";

static struct {
    unsigned timeout;
    uint64_t repeat, random, seed;
    const char *findings;
    bool no_fork, together;
} options = {.timeout = 10, .repeat = 1, .seed = 1};

static uint64_t passed, failed, not_run;
static bool unreadable;
static FILE *child_output;   /* what a child writes to its stderr */
static FILE *child_progress; /* a struct progress, which it writes */
struct progress {
    uint64_t number;  /* of the input that it is at */
    uint64_t not_run; /* inputs before it that the target could not be given */
    char why[256];    /* of the last of them */
};

static _Noreturn void trouble(const char *what) {
    fprintf(stderr, "%s: %s\n", what, strerror(errno));
    exit(EXIT_TROUBLE);
}

static void *must_allocate(void *memory) {
    if (!memory)
        trouble("no memory");
    return memory;
}

/* --- inputs ------------------------------------------------------------------------------- */

struct input {
    uint8_t *data; /* exactly size bytes, so that ASan sees a read beyond them; NULL if none */
    size_t size;
};

static bool read_file(const char *path, struct input *input) {
    size_t capacity = 1 << 16, n;
    FILE *file = fopen(path, "rb");
    *input = (struct input){NULL, 0};
    if (!file)
        return false;
    uint8_t *data = must_allocate(malloc(capacity));
    while ((n = fread(data + input->size, 1, capacity - input->size, file)) > 0) {
        input->size += n;
        if (input->size == capacity)
            data = must_allocate(realloc(data, capacity *= 2));
    }
    bool good = !ferror(file);
    fclose(file);
    if (good && input->size)
        input->data = memcpy(must_allocate(malloc(input->size)), data, input->size);
    free(data);
    return good;
}

/* splitmix64: any state is a good one, so that inputs can be numbered. */
static uint64_t next_random(uint64_t *state) {
    uint64_t z = *state += 0x9e3779b97f4a7c15;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9;
    z = (z ^ z >> 27) * 0x94d049bb133111eb;
    return z ^ z >> 31;
}

static struct input random_input(uint64_t number) {
    uint64_t state = options.seed;
    state = next_random(&state) ^ number * 0xd1342543de82ef95;
    struct input input = {NULL, next_random(&state) % (LONGEST_RANDOM_INPUT + 1)};
    if (input.size)
        input.data = must_allocate(malloc(input.size));
    for (size_t i = 0; i < input.size; i++)
        input.data[i] = (uint8_t)next_random(&state);
    return input;
}

static void run_target(struct input input) {
    for (uint64_t i = 0; i < options.repeat; i++)
        LLVMFuzzerTestOneInput(input.data, input.size);
}

/* Was the last input none that the target can be given?  Notes it. */
static bool note_refusal(struct progress *p) {
    const char *why = target_refusal ? target_refusal() : NULL;
    if (!why)
        return false;
    p->not_run++;
    snprintf(p->why, sizeof p->why, "%s", why);
    return true;
}

/* --- children ----------------------------------------------------------------------------- */

/* Starts a child whose stderr goes to child_output.  Returns true in the child. */
static bool start_child(pid_t *child) {
    fflush(NULL);
    if (ftruncate(fileno(child_output), 0) < 0)
        trouble("temporary file");
    rewind(child_output);
    *child = fork();
    if (*child < 0)
        trouble("fork");
    if (*child > 0)
        return false;
    if (dup2(fileno(child_output), STDERR_FILENO) < 0)
        _exit(EXIT_TROUBLE);
    signal(SIGALRM, SIG_DFL);
    return true;
}

static void write_progress(const struct progress *p) {
    if (pwrite(fileno(child_progress), p, sizeof *p, 0) != sizeof *p)
        _exit(EXIT_TROUBLE);
}

static struct progress read_progress(void) {
    struct progress p;
    if (pread(fileno(child_progress), &p, sizeof p, 0) != sizeof p)
        trouble("temporary file");
    p.why[sizeof p.why - 1] = '\0';
    return p;
}

static int wait_for(pid_t child) {
    int status;
    while (waitpid(child, &status, 0) < 0)
        if (errno != EINTR)
            trouble("waitpid");
    return status;
}

static void describe(int status, char *text, size_t size) {
    static const struct {
        int number;
        const char *name;
    } signals[] = {{SIGABRT, "SIGABRT"}, {SIGSEGV, "SIGSEGV"}, {SIGBUS, "SIGBUS"},
                   {SIGFPE, "SIGFPE"},   {SIGILL, "SIGILL"},   {SIGKILL, "SIGKILL"},
                   {SIGTRAP, "SIGTRAP"}, {SIGTERM, "SIGTERM"}, {SIGINT, "SIGINT"}};
    if (WIFEXITED(status)) {
        snprintf(text, size, "exit %d", WEXITSTATUS(status));
        return;
    }
    int number = WTERMSIG(status);
    if (number == SIGALRM) {
        snprintf(text, size, "timed out after %u s", options.timeout);
        return;
    }
    for (size_t i = 0; i < sizeof signals / sizeof *signals; i++)
        if (signals[i].number == number) {
            snprintf(text, size, "crashed: %s", signals[i].name);
            return;
        }
    snprintf(text, size, "crashed: signal %d", number);
}

static void report_failure(const char *name, int status, const char *remark) {
    char text[64], buffer[4096];
    size_t n;
    failed++;
    describe(status, text, sizeof text);
    printf("%s: %s%s\n", name, text, remark);
    fflush(stdout);
    rewind(child_output);
    while ((n = fread(buffer, 1, sizeof buffer, child_output)) > 0)
        fwrite(buffer, 1, n, stderr);
}

/* Runs one input in a child and returns how that ended; 0 is well, or it was not run. */
static int run_in_child(struct input input, struct progress *p) {
    pid_t child;
    *p = (struct progress){0};
    write_progress(p);
    if (start_child(&child)) {
        alarm(options.timeout);
        run_target(input);
        if (note_refusal(p))
            write_progress(p);
        _exit(0);
    }
    int status = wait_for(child);
    *p = read_progress();
    return status;
}

/* --- files -------------------------------------------------------------------------------- */

static char **paths;
static size_t n_paths;

static void add_path(const char *path) {
    paths = must_allocate(realloc(paths, (n_paths + 1) * sizeof *paths));
    paths[n_paths++] = must_allocate(strdup(path));
}

static void complain(const char *path, const char *why) {
    fprintf(stderr, "%s: %s\n", path, why);
    unreadable = true;
}

/* Adds the file, or every file in the folder and below; names with a leading dot are skipped. */
static void collect(const char *path, unsigned depth) {
    struct stat facts;
    DIR *folder;
    struct dirent *entry;
    if (stat(path, &facts) < 0) {
        complain(path, strerror(errno));
        return;
    }
    if (!S_ISDIR(facts.st_mode)) {
        add_path(path);
        return;
    }
    if (depth > DEEPEST_FOLDER || !(folder = opendir(path))) {
        complain(path,
                 depth > DEEPEST_FOLDER ? "too many folders within folders" : strerror(errno));
        return;
    }
    while ((entry = readdir(folder))) {
        size_t size = strlen(path) + strlen(entry->d_name) + 2;
        if (entry->d_name[0] == '.')
            continue;
        char *below = must_allocate(malloc(size));
        snprintf(below, size, "%s/%s", path, entry->d_name);
        collect(below, depth + 1);
        free(below);
    }
    closedir(folder);
}

static int by_name(const void *a, const void *b) {
    return strcmp(*(char *const *)a, *(char *const *)b);
}

static void say_refused(uint64_t number, const char *why) {
    printf("%s: not run: %s\n", paths[number], why);
}

static void replay_file(uint64_t number) {
    const char *path = paths[number];
    struct input input;
    if (!read_file(path, &input)) {
        complain(path, strerror(errno));
        return;
    }
    int status = 0;
    struct progress p = {0};
    if (options.no_fork) {
        run_target(input);
        note_refusal(&p);
    } else {
        status = run_in_child(input, &p);
    }
    if (status)
        report_failure(path, status, "");
    else if (p.not_run)
        say_refused(number, p.why);
    passed += !status && !p.not_run;
    not_run += !status && p.not_run;
    free(input.data);
}

/* --- inputs by number, in batches ---------------------------------------------------------- */

struct source {
    struct input (*get)(uint64_t number); /* the caller frees its data */
    void (*failed)(uint64_t number, int status_in_batch);
    void (*refused)(uint64_t number, const char *why); /* in the child; or NULL */
};

/* Runs inputs from, from + 1, ... to - 1 in a child; returns the first that failed, or to. */
static uint64_t run_batch(const struct source *source, uint64_t from, uint64_t to, int *status) {
    struct progress p = {.number = from};
    pid_t child;
    write_progress(&p);
    if (start_child(&child)) {
        for (; p.number < to; p.number++) {
            write_progress(&p);
            struct input input = source->get(p.number);
            alarm(options.timeout);
            run_target(input);
            if (note_refusal(&p) && source->refused)
                source->refused(p.number, p.why);
            fflush(stdout);
            free(input.data);
        }
        write_progress(&p);
        _exit(0);
    }
    *status = wait_for(child);
    p = read_progress();
    uint64_t reached = *status ? p.number : to;
    uint64_t refused = p.not_run < reached - from ? p.not_run : reached - from;
    not_run += refused;
    passed += reached - from - refused;
    return reached;
}

static void run_batches(const struct source *source, uint64_t n) {
    for (uint64_t from = 0; from < n;) {
        uint64_t to = from + (n - from < BATCH ? n - from : BATCH);
        int status;
        uint64_t reached = run_batch(source, from, to, &status);
        from = reached;
        if (reached < to) {
            source->failed(reached, status);
            from++;
        }
    }
}

/* What failed in a batch: as it ends alone, if it fails there too. */
static void report_alone(const char *name, struct input input, int status_in_batch) {
    struct progress p;
    int status = run_in_child(input, &p);
    if (status)
        report_failure(name, status, "");
    else
        report_failure(name, status_in_batch, " after the inputs before it, but not alone");
}

/* A child that cannot read one ends; file_failed complains. */
static struct input file_input(uint64_t number) {
    struct input input;
    if (!read_file(paths[number], &input))
        _exit(EXIT_TROUBLE);
    return input;
}

static void file_failed(uint64_t number, int status_in_batch) {
    struct input input;
    if (!read_file(paths[number], &input)) {
        complain(paths[number], strerror(errno));
        return;
    }
    report_alone(paths[number], input, status_in_batch);
    free(input.data);
}

static const struct source files = {file_input, file_failed, say_refused};

/* A folder without a file is complained about: a replay of nothing must not look like success. */
static void replay(const char *path) {
    n_paths = 0;
    collect(path, 0);
    if (n_paths == 0) {
        complain(path, "nothing to replay");
        return;
    }
    qsort(paths, n_paths, sizeof *paths, by_name);
    if (options.together && !options.no_fork)
        run_batches(&files, n_paths);
    else
        for (size_t i = 0; i < n_paths; i++)
            replay_file(i);
    for (size_t i = 0; i < n_paths; i++)
        free(paths[i]);
}

/* --- random inputs ------------------------------------------------------------------------ */

/* Either the whole file is there or none: others may watch the folder. */
static void keep_finding(struct input input) {
    char temporary[4096], final[4096];
    uint64_t hash = 0xcbf29ce484222325;
    if (!options.findings)
        return;
    for (size_t i = 0; i < input.size; i++)
        hash = (hash ^ input.data[i]) * 0x100000001b3;
    snprintf(temporary, sizeof temporary, "%s/.new-XXXXXX", options.findings);
    snprintf(final, sizeof final, "%s/crash-%016" PRIx64, options.findings, hash);
    if (mkdir(options.findings, 0777) < 0 && errno != EEXIST)
        trouble(options.findings);
    int descriptor = mkstemp(temporary);
    FILE *file = descriptor < 0 ? NULL : fdopen(descriptor, "wb");
    if (!file)
        trouble(options.findings);
    bool good = fwrite(input.data, 1, input.size, file) == input.size;
    if (fclose(file) != 0 || !good || rename(temporary, final) < 0)
        trouble(final);
    printf("%s: kept\n", final);
}

static void random_failed(uint64_t number, int status_in_batch) {
    char name[64];
    struct input input = random_input(number);
    snprintf(name, sizeof name, "random input %" PRIu64 " of seed %" PRIu64, number, options.seed);
    report_alone(name, input, status_in_batch);
    keep_finding(input);
    free(input.data);
}

static const struct source random_inputs = {random_input, random_failed, NULL};

static void run_random_here(void) {
    struct progress p = {0};
    for (; p.number < options.random; p.number++) {
        struct input input = random_input(p.number);
        run_target(input);
        note_refusal(&p);
        free(input.data);
    }
    not_run += p.not_run;
    passed += p.number - p.not_run;
}

/* --- command line ------------------------------------------------------------------------- */

static _Noreturn void usage(const char *program, const char *wrong) {
    if (wrong)
        fprintf(stderr, "%s: not understood: %s\n", program, wrong);
    fprintf(stderr, help, program, program);
    exit(EXIT_USAGE);
}

/* The number after `prefix` in `argument`, if both are there. */
static bool take_number(const char *argument, const char *prefix, uint64_t limit, uint64_t *value) {
    size_t n = strlen(prefix);
    char *end;
    if (strncmp(argument, prefix, n) != 0 || argument[n] < '0' || argument[n] > '9')
        return false;
    errno = 0;
    uint64_t number = strtoull(argument + n, &end, 10);
    if (*end || errno || number > limit)
        return false;
    *value = number;
    return true;
}

static bool take_option(const char *argument) {
    uint64_t timeout;
    if (take_number(argument, "--timeout=", 86400, &timeout)) {
        options.timeout = (unsigned)timeout;
        return true;
    }
    if (strncmp(argument, "--findings=", 11) == 0 && argument[11]) {
        options.findings = argument + 11;
        return true;
    }
    if (strcmp(argument, "--no-fork") == 0)
        return options.no_fork = true;
    if (strcmp(argument, "--together") == 0)
        return options.together = true;
    return take_number(argument, "--repeat=", UINT64_MAX, &options.repeat) ||
           take_number(argument, "--random=", UINT64_MAX, &options.random) ||
           take_number(argument, "--seed=", UINT64_MAX, &options.seed);
}

int main(int argc, char **argv) {
    int first = 1;
    for (; first < argc && argv[first][0] == '-' && argv[first][1]; first++) {
        if (strcmp(argv[first], "--help") == 0) {
            printf(help, argv[0], argv[0]);
            return 0;
        }
        if (strcmp(argv[first], "--") == 0) {
            first++;
            break;
        }
        if (!take_option(argv[first]))
            usage(argv[0], argv[first]);
    }
    if (first == argc && !options.random)
        usage(argv[0], NULL);
    if (!(child_output = tmpfile()) || !(child_progress = tmpfile()))
        trouble("temporary file");
    if (LLVMFuzzerInitialize)
        LLVMFuzzerInitialize(&argc, &argv);
    for (int i = first; i < argc; i++)
        replay(argv[i]);
    free(paths);
    if (options.no_fork)
        run_random_here();
    else
        run_batches(&random_inputs, options.random);
    printf("%" PRIu64 " passed, %" PRIu64 " failed", passed, failed);
    if (not_run)
        printf(", %" PRIu64 " not run", not_run);
    printf("\n");
    return failed ? EXIT_FAILED : unreadable || (not_run && !passed) ? EXIT_UNREADABLE : 0;
}
