/* SPDX-License-Identifier: MIT
 *
 * What the files of `isoheap fuzz` share.
 *
 *   fuzz.c               options and the order of events
 *   targets.c   which targets there are, and what they fuzz
 *   engine.c    starts, watches and ends the engines of a target
 *   libfuzzer.c, afl.c
 *                        one engine each: its command line, its figures, where its findings lie
 *   workplace.c where an engine works: a folder in which everything has a plain name
 *   shares.c    how the time is shared out (shares.h)
 *   measure.c   what a folder of inputs reaches
 *   process.c   child processes that cannot outlive the campaign, nor hurt it
 *   current.c   what the processes of a target were doing when they ended
 *   intake.c    a finding of an engine becomes safe on disk; the queue
 *   queue.c     which finding of the queue is looked at next
 *   classify.c  the class and the guilty party of an input
 *   filing.c    reduces a finding and files it, once
 *   group.c     which file a finding belongs to
 *   shape.c     what a reduced program needs
 *   stack.c     where a sanitizer saw it, by names of functions
 *   sha1.c      libFuzzer's names of inputs
 *   progress.c  live lines, log lines, summary
 *   files.c     folders and durable files
 *
 * A target's work folder, <corpus>/.work/<target>:
 *   found/      where the engine writes inputs that fail
 *   queue/      inputs that are safe and wait for classification and reduction
 *   filed/      inputs whose reduced form is in the folder of crashes
 *   flaky/      inputs that failed once and then did not, NAME, and what was said, NAME.txt
 *   current/    the inputs that run now, a file a process; said/: what was said about them
 *   engine/     temporary files of the engine
 *   target, target.dict, target.options
 *               a copy of the binary and its companions
 *   corpus      a link to the folder that the engine reads
 */
#ifndef ISOHEAP_CAMPAIGN_H
#define ISOHEAP_CAMPAIGN_H

#include "cli/cli.h"

#include <signal.h>
#include <sys/types.h>

enum {
    JOBS_MAX = 256,
    TARGETS_MAX = 256,
    TALLIES_MAX = 64,
    NAME_SIZE = 96,
    LINE_SIZE = 512,
    TAIL_LINES = 20,
    TAKEN_MAX = 4096,
    BEGUN_MAX = 1024,
    WORDS_MAX = 320,
    PATH_SIZE = 4096 + 256,
    PROCESS_KILLED = 128 + SIGKILL /* struct process: status */
};

/* ---- process.c -----------------------------------------------------------------------
 */

/* A child in a session of its own.  When it ends, and when this process dies, even by SIGKILL, all
 * that it has started is ended: a warden, a process between the two, sees to it. */
struct process {
    pid_t warden; /* 0: none runs */
    int output;   /* read end of its stdout and stderr, not blocking; -1: none */
    int status;   /* after its end: exit status, or 128 + signal */
    char line[LINE_SIZE];
    size_t length;
    char tail[TAIL_LINES][LINE_SIZE]; /* its last lines, a ring */
    unsigned lines;
};

/* `folder`: where it runs, or NULL; environment: NAME=VALUE strings, NULL at the end, added to
 * ours. False: no process. */
bool process_start(struct process *, const char *folder, char *const argv[],
                   char *const environment[]);
/* Hands over the lines that have come, then sees whether it has ended; true while it runs. */
bool process_poll(struct process *, void (*line)(const char *, void *), void *context);
void process_signal(const struct process *, int number);
/* Kills it and all below it, and waits. */
void process_kill(struct process *);

/* Runs a command to its end or for that many seconds.  What it writes is malloc'ed (64 KiB from the
 * start are kept).  Status as above; -1: the time was over. */
int run_command_for(const char *folder, char *const argv[], char *const environment[],
                    double seconds, char **output);

/* The same with a limit of processor time in seconds; it may be idle for twice as long, where time
 * in which this process was stopped as well does not count.  Says which limit was hit; the command
 * was then ended. */
enum lateness { IN_TIME, LATE_PROCESSOR, LATE_IDLE };
enum { IDLE_FACTOR = 2 };
enum lateness run_command_within(const char *folder, char *const argv[], char *const environment[],
                                 unsigned seconds, int *status, char **output);

void take_a_nap(void); /* two milliseconds */

/* ---- files.c -------------------------------------------------------------------------
 */

/* As asprintf; ends the process if there is no memory. */
char *text_of(const char *format, ...);
/* The name has this end, and something before it. */
bool ends_in(const char *name, const char *end);
/* A path that is no option to whoever gets it, even if it begins with a dash. */
const char *path_argument(const char *);
/* As mkdir -p; false with errno. */
bool make_folder(const char *path);
/* Makes the folder and locks it against other processes until this one ends.  False after a
 * message: if another has it, that the campaign's folder `shown` needs the option. */
bool lock_folder(const char *path, const char *shown, const char *option);
/* Writes the file durably: beside it, fsync, rename, fsync of the folder.  False with errno, and
 * then nothing has changed. */
bool save_file(const char *path, const void *data, size_t size);
/* Moves a file within a file system, durably. */
bool move_file(const char *from, const char *to);
/* The whole file, malloc'ed, NUL behind it; NULL with errno (EFBIG: more than 16 MiB). */
char *load_file(const char *path, size_t *size);
/* The same of a file that may be longer: so many bytes. */
char *load_file_up_to(const char *path, size_t *size, size_t most);
/* A folder and all below it. */
void remove_folder(const char *path);
/* Files directly in a folder, hidden ones left out; 0 if there is no folder. */
unsigned count_files(const char *folder);
/* Calls visit with each of those, in the order of their names. */
void visit_folder(const char *folder, void (*visit)(const char *path, const char *name, void *),
                  void *context);
/* Names a file's content: 16 hexadecimal digits of a 64-bit FNV-1a. */
void name_content(const void *data, size_t size, char name[17]);
/* Names it as libFuzzer does: 40 hexadecimal digits of SHA-1. */
void name_by_sha1(const void *data, size_t size, char name[41]);
/* Writes data into a folder under the name of its content, unless it is there.  Returns 1 if it is
 * new there, 0 if not, -1 with errno. */
int add_to_folder(const char *folder, const void *data, size_t size);
/* Bytes that may still be written there; SIZE_MAX if nobody knows. */
size_t space_left(const char *folder);
/* Is there room for what an engine writes between two looks, bytes and files?  True if nobody
 * knows.
 */
bool has_space(const char *folder);

/* ---- the campaign -----------------------------------------------------------------------------
 */

/* What a folder of inputs reaches, in a replay by libFuzzer. */
struct reach {
    bool known;
    unsigned edges, features;
};

/* What an engine says about a target so far. */
struct figures {
    uint64_t executions;
    double rate; /* executions per second */
    unsigned edges, edges_at_start, corpus, corpus_at_start;
    bool started; /* the engine has read its corpus */
};

/* Findings of one class and guilty party. */
struct tally {
    char violation[NAME_SIZE], guilty[NAME_SIZE];
    unsigned fresh, known; /* fresh: filed by this campaign */
    unsigned more;         /* beyond --keep: counted, not reduced */
    unsigned flaky;        /* failed once and then did not */
};

/* What is known of a finding before it is looked at: hashes. */
struct sort {
    uint64_t class, place;
};

struct campaign;

/* A process of a target, to see whether it goes on. */
struct pulse {
    pid_t pid; /* 0: none */
    uint64_t runs;
    double still, seen; /* seconds with the same input; when that was looked at */
};

struct target {
    struct campaign *campaign;
    char *name, *binary;
    char *subject, *reference; /* collectors that this command knows too; NULL: none */
    char *corpus, *seeds, *work;
    struct process *engines; /* one for each job that there may be */
    unsigned n_engines, early_ends, restarts, restarts_told;
    bool watched; /* its processes are ours: who ends has failed */
    bool sampled; /* the engine gets a part of the corpus */
    struct figures figures;
    uint64_t executions_before; /* of engines that ended and were started again */
    uint64_t executions_at_restart;
    struct tally tallies[TALLIES_MAX];
    unsigned n_tallies;
    uint64_t taken[TAKEN_MAX]; /* contents that were taken in, a ring */
    unsigned n_taken;
    struct sort begun[BEGUN_MAX]; /* of findings that were looked at, a ring */
    unsigned n_begun;
    uint64_t judged[ORACLE_COUNT]; /* by processes that have ended, how often each oracle */
    uint64_t runs_seen;            /* of processes that have ended, by their own count */
    uint64_t not_run;              /* of those: programs that no collector can be given */
    char why_not[VERDICT_TEXT];    /* the first of them */
    uint64_t violations, kept;     /* runs that ended in one; of these, inputs that were kept */
    uint64_t executions_said;      /* the most that a process has written, if it does not count */
    struct pulse pulses[JOBS_MAX];
    time_t engine_died; /* the last time by a signal; 0: never */
    unsigned mutator_deaths;
    double share;            /* seconds that it gets */
    double started, seconds; /* when it began; how long it took, once it has ended */
    double asked_to_end;     /* when; 0: not yet */
    bool running, ended, trouble;
    const struct process *troubled; /* whose last words tell why */
};

/* Words of a command line or an environment; the last is NULL. */
struct words {
    char *word[WORDS_MAX + 1];
    unsigned n;
};

struct engine {
    const char *name;
    int end_signal;     /* to end it before its time; what it has found must survive that */
    const char *folder; /* of its binaries, if --bin-dir does not say */
    bool process_a_job; /* as many processes as jobs; else one that has the jobs as children */
    /* Before the first start of the campaign: what a killed engine left is saved.  False after a
     * message. */
    bool (*prepare)(struct target *);
    /* When the target's time begins.  False after a message; or NULL. */
    bool (*begin)(struct target *);
    /* The command line of process `number` for that many seconds: adds words, malloc'ed, to argv.
     */
    void (*command)(const struct target *, unsigned number, double seconds, struct words *argv);
    void (*environment)(const struct target *, struct words *);
    void (*line)(const char *line, void *target); /* a line that it wrote; or NULL */
    void (*poll)(struct target *);   /* now and then: figures; findings go into found/; or NULL */
    void (*finish)(struct target *); /* after the end: what is new goes into the corpus; or NULL */
};
extern const struct engine libfuzzer, afl;

struct campaign {
    /* options */
    const struct engine *engine;
    double time;
    double overhead; /* seconds beside its share that a target has taken at most */
    unsigned jobs, seed, keep, reduce_runs, reduce_seconds;
    uint64_t runs; /* 0: no limit */
    const char *corpus, *crashes, *bin_dir;
    const char *sync; /* a folder that several machines share, AFL++ alone; or NULL */
    const char *node; /* what this one is called there */
    char **names;     /* targets asked for */
    int n_names;
    char *commit; /* of the checkout that we are in; NULL: none */
    /* state */
    struct target *targets; /* TARGETS_MAX of them, from find_targets to forget_targets */
    unsigned n_targets, n_running;
    double started, end; /* of the campaign; --time is between the two */
    unsigned jobs_each;
    int pending; /* findings in queues */
    bool disk_full, trouble;
    bool filing_ended; /* a finding could not be filed; the queue waits for the next campaign */
};

/* Signals: 0 nothing, 1 end orderly, 2 and more: at once. */
extern volatile sig_atomic_t campaign_interrupts;
/* A handler: counts one more. */
void note_interrupt(int number);
/* SIGINT and SIGTERM are counted from now on. */
void count_interrupts(void);
/* How many jobs at once make use of the machine: at least 1, at most JOBS_MAX. */
unsigned jobs_of_machine(void);

/* ---- targets.c */
/* Fills in the targets.  False after a message. */
bool find_targets(struct campaign *);
void forget_targets(struct campaign *);
/* The target of the last plug-in, x.so, by its name, fuzz_x; malloc'ed. */
char *plugin_target(void);
/* The folder of the binaries, if no option says: the plug-in's, else the engine's. */
void choose_folder(struct campaign *);
/* Locks the folder of corpora against other campaigns until we end.  False after a message. */
bool lock_work(const struct campaign *);
/* The commit of the checkout that we are in, malloc'ed; NULL: none. */
char *find_commit(void);

/* ---- engine.c */
/* The folders of a target's corpus and work.  False after a message. */
bool make_target_folders(const struct target *);
/* Those, and what an earlier campaign left there.  False after a message.
 */
bool target_prepare(struct target *);
bool target_start(struct target *);
/* False when it has ended; engines that ended before their time are started again. */
bool target_poll(struct target *);
/* Asks the engines to end; force: kills them. */
void target_stop(struct target *, bool force);
void add_word(struct words *, const char *format, ...);
void free_words(struct words *);
/* Calls visit for each `key = value` of the target's .options file. */
void for_each_option(const struct target *,
                     void (*visit)(const char *key, const char *value, void *), void *context);
/* Copies what is new in a folder of inputs into another, named by content. */
void copy_inputs(const char *from, const char *to);
/* How many inputs an engine may read without losing the time that it gets. */
unsigned inputs_to_read(const struct target *);
/* Links `most` files of a folder, spread over it, into another on the same file system; returns how
 * many. */
unsigned link_inputs(const char *from, const char *to, unsigned most, unsigned seed);

/* ---- afl_mutator.c */
/* The path of the structured mutator, malloc'ed; NULL: there is none. */
char *afl_mutator(const struct campaign *);

/* ---- current.c */
/* Looks at what ended processes of the target leave: runs, what was said, inputs that nobody else
 * kept.  all: none runs any more. */
void take_current(struct target *, bool all);
/* The runs of processes that live.  One that stays with an input though it has stopped, or beyond
 * any limit of the engine's, is killed. */
uint64_t watch_current(struct target *);
/* What was said about the input of that content (16 digits) when it failed, malloc'ed; or NULL. */
char *what_was_said(const struct target *, const char *hash);
/* Did its process go on after a violation before?  Then it may owe its failure to that. */
bool said_later(const struct target *, const char *hash);
void forget_said(const struct target *, const char *hash);

/* ---- workplace.c */
/* Letters, digits and _ . , + - alone: means itself to every shell and engine. */
bool is_plain(const char *);
/* Lays out what an engine works with in the target's work folder; copy: a copy of the binary, else
 * a link.  False after a message. */
bool furnish(const struct target *, bool copy);
/* Removes it, but no input. */
void clear_away(const struct target *);
/* Makes a link of that name in the work folder.  False after a message. */
bool link_here(const struct target *, const char *name, const char *to);
bool has_here(const struct target *, const char *name);

/* ---- measure.c */
/* Adds the command of its work folder: the target and the options that go with it. */
void libfuzzer_target(const struct target *, struct words *argv);
/* libFuzzer's environment where it only reads. */
void libfuzzer_settings(struct words *);
/* Starts a process that reads the folders, names in the work folder, NULL at the end; `environment`
 * may be NULL.  measure_line takes its lines and a struct reach.  An input that fails ends it. */
bool measure_begin(struct process *, const struct target *, const char *const *folders,
                   const char *environment);
void measure_line(const char *line, void *reach);

/* ---- intake.c */
/* What lies in found/ becomes safe and is queued.  all: also what was written just now. */
void take_in(struct target *, bool all);
/* That, and what ended processes leave, when none runs. */
void take_all(struct target *);
/* Has this campaign taken in an input of that content (16 digits)? */
bool was_taken_in(const struct target *, const char *hash);
/* One input of the queue is classified, reduced and filed by a child at a time.  Returns false if
 * there is nothing to do. */
bool work_on_queue(struct campaign *);

/* ---- queue.c */
/* What a name in the queue says of an input of which its process has said that, a violation of that
 * class; malloc'ed. */
char *name_sort(const char *violation, const char *said);
/* The path of the input that is to be looked at next, malloc'ed, and whose it is; it counts as
 * looked at.  NULL: nothing waits. */
char *next_in_queue(struct campaign *, struct target **);

/* ---- classify.c */
struct finding {
    char violation[NAME_SIZE], guilty[NAME_SIZE]; /* guilty: a collector or the target */
    char message[NAME_SIZE]; /* what isoheap said if it named no class; or "none" */
    bool failed;             /* else it does no harm now */
};
/* Runs the target's binary on the input.  False: it could not be run. */
bool classify(const struct target *, const char *input, struct finding *);
/* The names of the functions in which a sanitizer sees it, "sweep<collect"; "" without them. */
void name_stack(const struct target *, const char *input, char *out, size_t size);
/* As classify, from what was said when it failed; false: that names no class. */
bool classify_said(const struct target *, const char *said, struct finding *);

/* The program in that file, text or bytes; false: it cannot be read. */
bool load_finding(const char *path, struct program *);

/* The tally of a finding's class and party, or NULL. */
const struct tally *find_tally(const struct target *, const struct finding *);

/* ---- filing.c */
struct filed {
    /* NOTHING: it was only running when something else ended it, or late on a busy machine */
    enum filing { FILED_NEW, FILED_KNOWN, FILED_MORE, FILED_FLAKY, FILED_NOTHING, FILED_NOT } how;
    struct finding finding;
    unsigned operations, blocks;
    char path[PATH_SIZE]; /* where it is, or why it could not be filed */
    bool full;            /* the disk is */
};
/* Classifies, reduces and files an input; the input is moved or removed at the end. */
void file_finding(const struct target *, const char *input, struct filed *);

/* A finding in the form in which it will be filed. */
struct form {
    char *text; /* the program, with its history; NULL: only the input itself fails */
    size_t size;
    struct program program;
};

/* ---- group.c */
/* Two findings are of one defect if what they come down to is the same. */
struct cause {
    uint64_t form;   /* key of the finding as it was reduced */
    uint64_t defect; /* key of what that comes down to */
    /* The same without what a sanitizer's stack says: those of a file that says nothing. */
    uint64_t plain_form, plain_defect;
};
/* The file below the folder of crashes that has a finding of that form, or of that defect: it says
 * so, or is of the class and shape.  False: none. */
bool find_form_file(const char *crashes, const struct finding *, const struct cause *,
                    char path[PATH_SIZE]);
bool find_defect_file(const char *crashes, const struct finding *, const struct cause *,
                      char path[PATH_SIZE]);
/* The file in the folder of its class that has the same message, for what is no program. */
bool find_message_file(const char *folder, const struct finding *, char path[PATH_SIZE]);
/* What a new file says of its group, as comments; malloc'ed. */
char *group_comments(const struct finding *, const struct cause *);
/* One finding more of the file's defect, in a form that it may not know yet; `input` is its name in
 * the queue.  A file without a count stays as it is.  False with errno. */
bool count_in_file(const char *path, const struct finding *, uint64_t form, const char *input);

/* ---- shape.c */
/* The digest of a program's shape; docs/campaign.md says what that is. */
uint64_t program_shape(const struct program *);
/* The key of a reduced program that raises that class: class, guilty party and shape. */
uint64_t finding_key(const char *violation, const char *guilty, const struct program *);

/* ---- stack.c */
/* The collector's last functions in the first stack of a sanitizer's report, the innermost first
 * with
 * `<` between them, three at most; "" if the report has no names. */
void sanitizer_stack(const char *report, char *out, size_t size);

/* ---- progress.c */
void say(const char *format, ...); /* a line of its own, above the live lines */
void show_progress(struct campaign *, bool last);
int print_summary(struct campaign *, double seconds); /* returns the exit status */

#endif
