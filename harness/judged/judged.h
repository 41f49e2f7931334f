/* SPDX-License-Identifier: MIT
 *
 * A run whose process may die of it, in memory that it shares with whoever judges: where it is, and
 * what it has found out (judged.c).  Of a process of its own that runs one program (cli/child.c),
 * and of one that is asked for verdicts and gets its programs through that memory too (server.c): a
 * fuzz target (fuzz/serve.c), or a copy of the command (cli/target/session.c).
 */
#ifndef ISOHEAP_HARNESS_JUDGED_H
#define ISOHEAP_HARNESS_JUDGED_H

#include "harness/harness.h"

/* ---- what is shared ---------------------------------------------------------------------------
 */

enum { JUDGED_REPORT = 1 << 20, JUDGED_MAPS = 256 << 10, JUDGED_DONE = 0x600d };

/* Where the run is. */
struct judged_place {
    bool noted;
    bool late;                  /* a trial used up its processor time */
    bool told;                  /* it was told that its time is over */
    char sanitizer[64];         /* a trial: what AddressSanitizer calls it, or "" */
    char used_up[VERDICT_TEXT]; /* what runner_used_up says, or "" */
    enum party running;         /* if noted */
    unsigned op;
    char operation[VERDICT_TEXT];
};

/* What it has found out.  It lies on pages of its own, which nobody in the process can access as
 * long as the program runs. */
struct judged_result {
    unsigned finished; /* JUDGED_DONE: it has come to its end */
    unsigned judged;   /* JUDGED_DONE: the verdict is there; the report may still be on its way */
    struct verdict verdict;
    char maps[JUDGED_MAPS];
    char report[JUDGED_REPORT];
    unsigned explaining, explained; /* JUDGED_DONE: the report that follows is taken in its place */
    char closer[JUDGED_REPORT];
};

/* ---- how a run ends that does not come to its end ---------------------------------------------
 */

/* From now on whatever ends this process notes first which party was running: crashes, sanitizers,
 * and SIGUSR1, by which it is told that its time is over. */
void judged_watch(struct judged_place *);
/* The runner whose parties those are; NULL: none. */
void judged_runner(struct runner *);
/* The runs are trials: a sanitizer's report is not written, its name noted. */
void judged_as_trials(void);
/* A trial begins, and has that many milliseconds of processor time; 0: one has ended. */
void judged_limit(unsigned milliseconds);

/* The report is there; one more run may tell more, or end the process. */
void judged_explain(struct judged_result *, struct runner *, const struct program *,
                    const struct verdict *);
/* The one to be read, malloc'ed. */
char *judged_report(const struct judged_result *);

/* ---- programs for a server --------------------------------------------------------------------
 *
 * The environment variable names three descriptors, "file,socket,size": a file with a struct
 * judged_request, at whole pages behind it the place, and behind that the result; a stream socket
 * with which both sides take turns; and the size of the file, by which who was built otherwise is
 * told.  The target says JUDGED_READY first.  A byte JUDGED_RUN asks it to run the program of the
 * request, JUDGED_END to end.
 */

#define JUDGED_VARIABLE "ISOHEAP_SERVE"
enum { JUDGED_NAME = 128, JUDGED_WORDS = 16 << 10 };
enum { JUDGED_RUN = 'r', JUDGED_END = 'e' };

struct judged_request {
    uint64_t layout; /* judged_layout of who asks */
    /* What does not change as long as the target serves. */
    char subject[JUDGED_NAME], reference[JUDGED_NAME]; /* reference "": the model alone */
    oracle_set oracles;
    size_t stack_kib;
    bool ordinary_stack;
    bool trials;                                     /* no reports */
    oracle_set thorough;                             /* as in struct runner_options */
    bool unmasks;                                    /* unmask is given */
    char unmask[JUDGED_WORDS], replay[JUDGED_WORDS]; /* as in struct runner_options */
    char subject_name[JUDGED_WORDS];                 /* the same; "": none */
    /* What does. */
    unsigned trial_ms;
    bool alone; /* in a copy of the process that has run nothing before */
    struct program program;
};

enum judged_word {
    JUDGED_READY = 1,
    JUDGED_OTHER,   /* built from other sources than who asks */
    JUDGED_UNKNOWN, /* it has no such subject, or another reference */
    JUDGED_REFUSED, /* there is no runner for them (runner_open) */
    JUDGED_RAN,     /* the result is there */
    JUDGED_DIED     /* the process has, with that status, as from waitpid */
};
struct judged_answer {
    uint32_t word;
    int32_t status;
};

/* A number that differs where the structs above mean something else. */
uint64_t judged_layout(void);
/* Where place and result begin in the file, and its size. */
struct judged_offsets {
    size_t place, result, size;
};
struct judged_offsets judged_offsets(void);

/* ---- who is asked -----------------------------------------------------------------------------
 */

/* Takes what is shared, and returns the request, of which the texts and numbers that do not change
 * are there; ends the process if it comes from another build. */
const struct judged_request *judged_accept(int file, int socket, size_t size);
/* Says so and ends the process. */
_Noreturn void judged_decline(enum judged_word);
/* Judges programs by a runner with these options (digest and observe are the server's own), until
 * it is asked to end. */
_Noreturn void judged_serve(const struct runner_options *);

#endif
