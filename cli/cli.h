/* SPDX-License-Identifier: MIT
 *
 * What the subcommands of isoheap share.
 */
#ifndef ISOHEAP_CLI_H
#define ISOHEAP_CLI_H

#include "cli/guard.h"
#include "harness/harness.h"

#include <signal.h>
#include <stdio.h>

enum exit_status {
    EXIT_OK = 0,
    EXIT_VIOLATION = 1,
    EXIT_USAGE = 2, /* also: an output that cannot be written, a program that is not installed */
    EXIT_UNREADABLE = 3,
    EXIT_HARNESS = 4,
    EXIT_NOTHING = 5 /* reduce, export: the program raises no violation */
};

int command_list(int argc, char **argv);
int command_run(int argc, char **argv);
int command_show(int argc, char **argv);
int command_convert(int argc, char **argv);
int command_reduce(int argc, char **argv);
int command_export(int argc, char **argv);
int command_fuzz(int argc, char **argv);
int command_corpus(int argc, char **argv);
int command_faults(int argc, char **argv);
int command_mutants(int argc, char **argv);
int command_explore(int argc, char **argv);
int command_init(int argc, char **argv);
int command_conformance(int argc, char **argv);
int command_help(int argc, char **argv);

/* ---- main.c -----------------------------------------------------------------------------------
 */

struct command {
    const char *name, *summary;
    int (*run)(int argc, char **argv);
};
/* All subcommands, the last one with name NULL: help, manual page and completion follow it. */
extern const struct command commands[];

/* The overview that `isoheap --help` prints. */
void print_overview(FILE *);

/* ---- input.c ----------------------------------------------------------------------------------
 */

/* The whole of a file, malloc'ed; "-" is standard input.  NULL after a message on stderr. */
uint8_t *read_input(const char *path, size_t *size);
/* Reads a program, text or bytes; "-" is standard input.  On failure says why on stderr. */
bool read_program(const char *path, struct program *, bool *was_text);
/* The same for bytes of this version of the byte form (bytes.h). */
bool read_program_version(const char *path, struct program *, bool *was_text, unsigned version);
/* What is wrong with a file that somebody must have meant as the text of a program; NULL: it is
 * one, or bytes, or --bytes says so (recognise.c). */
const char *mistaken_text(const uint8_t *data, size_t size);
bool takes_as_bytes(void); /* --bytes was given */
/* Calls visit for a file, or for every file below a directory in the order of their names.  False,
 * after a message, if a directory cannot be read or there is no file at all below path. */
bool for_each_file(const char *path, void (*visit)(const char *path, void *), void *context);

/* ---- output.c ---------------------------------------------------------------------------------
 */

/* Puts a file in its place as a whole or not at all, by way of a hidden one beside it; durable: its
 * content is on the disk first.  False with errno. */
bool replace_file(const char *path, unsigned mode, bool durable, const void *data, size_t size);
/* Writes a file as a whole or not at all; "-" is standard output.  On failure says why on stderr.
 */
bool write_file(const char *path, const void *data, size_t size);
/* The same, and on the disk when it returns: for findings. */
bool write_finding(const char *path, const void *data, size_t size);
/* Standard output is a terminal, and nobody asked for no colour. */
bool wants_colour(void);

/* ---- quote.c ----------------------------------------------------------------------------------
 */

/* A word as a shell takes it, in quotes if it needs them; whatever is printed to be copied goes
 * through here.  Valid until eight more have been asked for. */
const char *quoted(const char *text);
/* The same of a path, which stays one if it begins with a dash; "-" alone is standard input. */
const char *quoted_path(const char *path);

/* ---- choose.c ---------------------------------------------------------------------------------
 */

/* A collector by name, registered, known-bad or from a plug-in, or the path of a seeded fault's
 * shared object (x/y.so); NULL: the last plug-in, or mark_sweep.  Prints the names and returns NULL
 * if there is none. */
const struct collector *choose_collector(const char *name);
/* The same without a word. */
const struct collector *find_collector(const char *name);
/* The same for the reference, which may be "none": *reference is NULL then.  False: no such one. */
bool choose_reference(const char *name, const struct collector **reference);
/* "a,b" only these, "-a" all but; 0 and a message for an unknown name. */
oracle_set choose_oracles(const char *list);
/* The number in an option's argument; ends the program with a usage message if it is none between
 * least and most. */
unsigned choose_number(const char *option, const char *argument, unsigned least, unsigned most);

/* ---- child.c ----------------------------------------------------------------------------------
 */

enum { RUN_SECONDS = 10 }; /* that a run may take, unless somebody says otherwise */
/* Seconds by the clock for each one of processor time that a reduction may take: a subject may
 * sleep, and the machine be busy with other things. */
enum { REDUCE_WALL_FACTOR = 5 };
#define DEFAULT_REFERENCE "cheney"

struct judged_place; /* harness/judged/judged.h */
struct judged_result;

struct job {
    const struct collector *subject, *reference; /* reference NULL: the model alone */
    const char *subject_name; /* what the user called it, if that is not its name; or NULL */
    oracle_set oracles;       /* 0: all */
    const char *unmask;       /* names of masks, or NULL (runner_options) */
    bool unmask_asked;        /* by --unmask, and not by the environment */
    size_t stack_kib;         /* of the subject's calls, and whether they run on the ordinary one */
    bool ordinary_stack;      /* (runner_options) */
    unsigned seconds;         /* of processor time; 0: run in this process */
    oracle_set thorough;      /* (runner_options) */
    unsigned trial_ms;        /* > 0: verdict alone, no report; milliseconds of processor time */
    /* The binary of a fuzz target that judges instead of this process's copy of the collector
     * (--target), malloc'ed, or NULL.  What observes and listens does that here all the
     * same, up to the operation at which the target's run ended. */
    char *target;
    bool alone;        /* a trial that sees nothing of the trials before it */
    bool in_turns;     /* one program after the other, by this process and one that is kept */
    bool target_asked; /* somebody has said which, or none */
    bool
        target_implied; /* it is the one beside the plug-in, of which no replay line needs to say */
    runner_observer *observe;
    runner_listener *listen;
    runner_switches *switches;
    runner_sections *sections;
    void *context;
};
/* The same job in the command itself, without a target, and nobody watches it. */
static inline struct job job_unwatched(const struct job *job) {
    struct job own = *job;
    own.target = NULL;
    own.observe = NULL;
    own.listen = NULL;
    own.switches = NULL;
    own.sections = NULL;
    return own;
}
double seconds_now(void); /* of a monotonic clock */
/* Runs a program in a child process.  Returns the verdict; a crash is class sanitizer, the end of
 * the time no_progress, with the operation that was running.  *report is malloc'ed: the runner's
 * report, or for a crash what the child wrote to stderr, the heaps before and the program; NULL for
 * a trial.  In a trial `found` of a crash is AddressSanitizer's name for it. */
struct verdict run_job(const struct job *, const struct program *, char **report);
/* Can this be a verdict on that program?  One that comes from another process may be anything. */
bool verdict_is_sound(const struct verdict *, const struct program *);

/* ---- death.c ----------------------------------------------------------------------------------
 */

/* How a run ended that did not come to its end. */
struct death {
    bool late; /* its time was over */
    enum guard_limit limit;
    int status;         /* as from waitpid, if it was not late */
    bool noted;         /* running is known */
    enum party running; /* PARTY_MODEL: no collector */
    const char *said;   /* what the child wrote to stderr */
    size_t said_length;
    const char *used_up;   /* what of its stack is used up, as a sentence; or "" or NULL */
    bool garbled;          /* it came to its end, with a verdict that means nothing */
    bool put_to_the_test;  /* it died in the harness, and does not without the subject */
    unsigned seconds, mib; /* its limits; mib as in struct guard_task */
};
/* Why a large program stays a text (program_is_large). */
#define NO_BYTES                                                                                   \
    "bytes have no heap of more than 8192 words and no blocks by count: it stays a text, which "   \
    "run, "                                                                                        \
    "reduce, show and export take"
/* And why nobody draws it. */
#define NO_PICTURE "a heap of more than 8192 words is not drawn, block by block"
_Static_assert(PROGRAM_HEAP_WORDS == 8192, "as these two say");
/* The detail of a trial that used up its time. */
#define NEVER_ENDS "the run does not end"
/* Fills in the verdict, of which op and operation are known. */
void judge_death(const struct job *, const struct death *, struct verdict *);
/* The report, as snprintf.  maps: the heaps before the operation, or "". */
size_t report_death(const struct job *, const struct death *, const struct verdict *,
                    const struct program *, const char *maps, char *out, size_t capacity);

/* ---- target/: runs in the binary of a fuzz target, sanitizers and all; session.c keeps such a
 * binary and sends it programs, choose.c finds it (--target).
 */

/* ---- target/session.c
 * --------------------------------------------------------------------------------
 */

/* Sees to it that the job's target waits for programs.  What it shares with us stays its own, and
 * is overwritten by the next run.  False: it does not serve, and `why` (VERDICT_TEXT bytes) says
 * why not. */
bool target_begin(const struct job *, struct judged_place **, struct judged_result **, char *why);
/* Runs a program there, after target_begin: death and result are as after a run in a child.  What
 * the target says goes into `said`, up to death->said_length bytes. */
void target_run(const struct job *, const struct program *, struct death *, char *said);

/* ---- target/choose.c
 * ---------------------------------------------------------------------------------
 */

/* The collector that the target of that path fuzzes by its name; NULL: none that we know. */
const char *target_collector(const char *path);
/* The job's target: the one that was asked for, a binary or the folder that has it; "none"; NULL:
 * the one beside the subject's plug-in, if there is one.  False after a message. */
bool choose_target(struct job *, const char *asked);
/* A finding whose header names a sanitizer needs one: the job gets the fuzz build's target of its
 * subject if nobody has said otherwise and there is one. */
void choose_target_for(struct job *, const char *file);

/* Would the job have the same verdict without its target?  Else what it has. */
bool same_without_target(const struct job *, const struct program *, const struct verdict *,
                         struct verdict *plain);
/* "only in the target x/fuzz_y: without it there is no violation", or "" if it is the same without
 * it. */
void describe_without_target(const struct job *, const struct program *, const struct verdict *,
                             char *out, size_t capacity);

/* ---- write_up.c -------------------------------------------------------------------------------
 */

/* The collector that a verdict finds guilty, by name. */
const char *guilty_name(const struct job *, const struct verdict *);
/* The runner that judges as the job says; what observes and listens is left open. */
struct runner_options job_runner(const struct job *);
/* The command that judges the program in that file in the same way, as the reports have it: all
 * that has a say in the verdict stands in it.  malloc'ed; NULL without memory. */
char *replay_command(const struct job *, const char *file);
/* A finding as text: the program under a header of comments with class, guilty party and the
 * command that replays it.  output: the file that it will be.  malloc'ed; NULL without memory. */
char *write_up(const struct job *, const struct verdict *, const struct program *,
               const char *output, size_t *size);

/* ---- interrupt.c ------------------------------------------------------------------------------
 */

/* The number of a signal that asks to end, since note_signals, or 0. */
extern volatile sig_atomic_t signal_caught;
/* SIGINT, SIGTERM and SIGHUP are noted from now on, those that were ignored stay so. */
void note_signals(void);
/* Ends as if the signal had not been caught, so that who waits for us knows; returns without one.
 */
void pass_signal_on(void);

/* ---- maps.c, trace.c ---------------------------------------------------------------------------
 */

#define MAP_LEGEND "Aa live block and its fields, x unreachable, . free, ',' fragment, - unused"

/* Writes where a run stands that is looked at closely (runner_where): of the subject. */
void write_where(FILE *, struct runner *);
/* Writes the heap maps of all parties, as they are now. */
void write_maps(FILE *, struct runner *, const struct job *);

/* An observer that prints every operation before it runs, and afterwards what it changed. */
runner_observer trace;
runner_switches trace_switch;
runner_sections trace_section;

/* ---- life.c -----------------------------------------------------------------------------------
 */

/* Is it the name of a block, like b3, n7, n7:2 or b3#2, or of a pointer into one, like b3+3? */
bool life_is_name(const char *name);
/* Prepares to print the life of a block: what it is, first.  False, after a message that names the
 * file, if the program has no such block. */
bool life_begin(const char *name, const struct program *, const char *file);
/* What happens to it; no context. */
runner_observer life_observe;
runner_listener life_listen;

#endif
