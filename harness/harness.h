/* SPDX-License-Identifier: MIT
 *
 * The runner: a program on model, reference and subject, and the verdict.
 *
 * A struct runner is opened once per process and pair of collectors and runs any number of
 * programs; nothing of one run is seen by the next.  It is not reentrant and belongs to one thread.
 */
#ifndef ISOHEAP_HARNESS_H
#define ISOHEAP_HARNESS_H

#include "harness/dead_memory.h"
#include "harness/stack/stack.h"
#include "oracles/oracle.h"
#include "program/program.h"
#include "views/violation.h"

const char *party_name(enum party); /* "subject", "reference", "model" */

/* Why an operation had no effect. */
#define SKIPS(X)                                                                                   \
    X(NOTHING, "nothing there that it could act on")                                               \
    X(UNFIT, "a block of another kind than it needs")                                              \
    X(LAZY_KEY, "a lazy key")                                                                      \
    X(ROOM, "no room for it")                                                                      \
    X(AWAY, "its mutator is away")                                                                 \
    X(ENDED, "the run ended before it")
enum skip {
#define X(id, meaning) SKIP_##id,
    SKIPS(X)
#undef X
        SKIP_COUNT
};
/* "a lazy key" */
const char *skip_meaning(enum skip);

/* What a run counts; tests prove with it that nothing passes by never being run. */
struct run_counts {
    uint64_t ops[OP_CODES];               /* operations that had an effect */
    uint64_t skipped;                     /* operations without a legal meaning at that point */
    uint64_t skips[SKIP_COUNT][OP_CODES]; /* the same, by reason and operation */
    uint64_t oracles[ORACLE_COUNT];       /* times that each oracle judged a collector */
    uint64_t subject[ORACLE_COUNT];       /* of those: the subject */
    uint64_t checks;                      /* full comparisons of the heaps */
    uint64_t closure_keys;                /* keys that are closures, for infix pointers to them */
    uint64_t refusals; /* what the subject refused, allocations for the most part */
};

struct verdict {
    enum violation violation;     /* VIOLATION_none: all is well */
    bool harness_error;           /* an assertion of our own failed: no verdict on anybody */
    bool not_run;                 /* a collector cannot be given the program, detail says why */
    enum party guilty;            /* PARTY_SUBJECT or PARTY_REFERENCE */
    enum oracle oracle;           /* which judged */
    unsigned op;                  /* number of the operation; n_ops: the checks after the script;
                                     OP_INITIAL: the initial heap */
    char operation[VERDICT_TEXT]; /* the operation as it was executed */
    char path[VERDICT_TEXT];      /* from a root to the place, "r0.1.0"; empty if there is none */
    char expected[VERDICT_TEXT], found[VERDICT_TEXT];
    char detail[VERDICT_TEXT]; /* one sentence for people */
    uint64_t digest;           /* of verdict, final graph and step counts */
    uint64_t steps[2];         /* of subject and reference */
    struct run_counts counts;
};
#define OP_INITIAL (~0u)

/* Do two verdicts tell of the same defect?  Yes if class, guilty party, oracle and detail are the
 * same, and for a sanitizer's report what was found.  Details are not compared for oracles on the
 * levels of the papers, since one wrong step breaks any of two dozen statements, and which one
 * depends on the words in its way. */
bool verdict_same_defect(const struct verdict *, const struct verdict *);
/* The oracle that it is of, if that looks at a sample; else none. */
oracle_set verdict_sampled(const struct verdict *);

struct runner;

/* Called around every operation; `op` as in the verdict.  before == true: about to run. */
typedef void runner_observer(void *context, struct runner *, unsigned op, bool before);

/* Called when a collector tells what it does (gc_tell).  block and to are values, place is the slot
 * or field where the pointer stands, or NULL. */
typedef void runner_listener(void *context, struct runner *, enum party, enum gc_event, word block,
                             const word *place, word to);

/* Called when another thread of the subject goes on (hooks->switched). */
typedef void runner_switches(void *context, uint64_t decision, uint64_t thread);
/* The same of a section in which its mutators stand (hooks->section). */
typedef void runner_sections(void *context, enum gc_section, unsigned m, uint64_t decision);

struct runner_options {
    const struct collector *subject;
    const struct collector *reference; /* NULL: the model alone */
    oracle_set oracles;                /* that judge; 0 means all */
    bool digest;                       /* fill in verdict.digest: costs one more traversal a run */
    runner_observer *observe;
    runner_listener *listen;
    runner_switches *switches;
    runner_sections *sections;
    void *context;     /* of all four */
    uint8_t *coverage; /* COVERAGE_BYTES of them, set to 1 where a run has a feature (coverage.h);
                          NULL: not wanted.  The runner never clears them. */
    unsigned coverage_parts; /* bit set of COVER_* (coverage.h); 0: COVER_DEFAULT */
    bool explain; /* every run is looked at closely, for the report of it: it takes longer */
    /* Oracles that look at each program, or each of its collections, where they usually look at a
     * sample: for the reduction of what was found in one (verdict_sampled), whose smaller programs
     * would fall out of the sample. */
    oracle_set thorough;
    bool tight; /* an access beyond a heap faults, however far from it and without sanitizers too;
                   costs a system call where its size changes */
    /* The stack of the subject's calls in KiB, STACK_KIB_LEAST to STACK_KIB_MOST: who recurses
     * deeper crashes.  0: STACK_KIB for subjects with the trait shallow, and the ordinary one for
     * others. */
    size_t stack_kib;
    bool ordinary_stack;   /* for all of them: stack_kib is 0 */
    enum memory_fill fill; /* what memory holds that nobody wrote; changes no verdict */
    /* Known defects of the collectors that are not steered around: names of masks, "a,b", or "all";
     * NULL: none.  The text lasts as long as the runner. */
    const char *unmask;
    /* For the command that a report ends with: options that it needs first, "--plugin x.so ", or
     * NULL; and how the subject is called there, if not by its name. */
    const char *replay, *subject_name;
};
/* Whole pages: engines look at all of them after every run.  The second is there once there are
 * operations enough to need it. */
enum { COVERAGE_BYTES = OP_CODES <= 34 ? 4096 : 8192 };

/* Why runner_open would refuse these options: a collector of which something is missing, as a
 * sentence that lasts (collectors/contract.h); NULL if nothing is. */
const char *runner_fault(const struct runner_options *);
/* NULL if runner_fault has a reason, or if there is no memory. */
struct runner *runner_open(const struct runner_options *);
/* Memory that a run of the program may need, in MiB: what a machine must have for a large heap. */
unsigned runner_mib(const struct program *);
void runner_close(struct runner *);

/* Runs a valid program.  The verdict is complete when it returns.  While it runs (and after a
 * crash in a signal or sanitizer callback) runner_current says where it is. */
void runner_run(struct runner *, const struct program *, struct verdict *);

/* After a violation, before its report: runs the program once more, unobserved, and looks closely.
 * Path, expected and found then have the names of blocks, and runner_report tells who wrote what.
 * If the run ends in another way this time, the verdict stays as it is, and the report says so. */
void runner_explain(struct runner *, const struct program *, struct verdict *);

/* The verdict in progress: op, operation and the party that is running are filled in. */
const struct verdict *runner_current(const struct runner *, enum party *running);

/* Has the subject's call that is under way used up its stack?  fault: the address that it could not
 * access; NULL: not known, but somebody else has said so.  Writes "the stack of 64 KiB is used up
 * in collect" into out, of VERDICT_TEXT bytes, if so. */
bool runner_used_up(const struct runner *, const void *fault, char *out);

/* Writes the report of a violation: class, operation, guilty party, path, expected and found, where
 * (if the run has been looked at closely), heap maps, program, the command that replays it.  Cuts
 * it and returns its length as snprintf does. */
size_t runner_report(struct runner *, const struct verdict *, const struct program *, char *out,
                     size_t capacity);

/* Writes where the run stands, in lines: who wrote last to the field that the path of the verdict
 * ends in, or to any; after which operation the heaps were last as they must be; of the heap of
 * that party the cycle, the generations and the remembered set.  Nothing, if the run has not been
 * looked at closely.  Cuts it and returns its length as snprintf does. */
size_t runner_where(struct runner *, const struct verdict *, enum party, char *out,
                    size_t capacity);

/* Writes the options with which `isoheap run` judges as a runner with these options does, in the
 * manner of snprintf: "--collector mark_sweep --reference cheney --oracles=-fields". */
size_t runner_replay(const struct runner_options *, char *out, size_t capacity);

/* Writes why an oracle has judged nothing of a collector that ran with this config: "left out",
 * "lacks trait whitens", "fields judges in its place", "never met an occasion"; as snprintf does.
 */
size_t runner_silence(const struct collector *, const struct gc_config *, oracle_set judging,
                      enum oracle, char *out, size_t capacity);

/* One line for an operation as it runs on the current state: indexes reduced, names resolved. */
size_t runner_operation(const struct runner *, unsigned op, char *out, size_t capacity);
/* The same without the words that say whose it is; returns whose, mutator 0 for what is nobody's.
 */
unsigned runner_operation_apart(const struct runner *, unsigned op, char *out, size_t capacity);

/* What a collector gets of a program's config: slots, mutators and hooks are the run's own. */
struct gc_config program_gc_config(const struct program *);
/* The traits of a collector under that config. */
struct collector_traits promised_traits(const struct collector *, const struct gc_config *);
/* Code, closinfo and infix words of a closure, as every run lays them out; `code` numbers the block
 * (an item, or PROGRAM_ITEMS + operation).  Returns the start of its environment in words. */
size_t closure_words(word *out, unsigned functions, const int8_t *arity, unsigned code);

/* ---- pictures: the state of one party, valid until the runner goes on ---------------------------
 */

struct snapshot_block {
    size_t offset; /* header, in words from the start of the heap; static or model: SIZE_MAX */
    size_t wosize;
    unsigned tag, colour;
    enum gc_extent extent;
    bool reachable;       /* from the party's own roots */
    char name[NAME_TEXT]; /* "b3": block of the program; "n7": allocated by operation 7, "n7:2" its
                           second; "" unknown.  What is unreachable has one only if it was seen at
                           the initial heap or in a snapshot after it was allocated. */
    const word *fields;   /* wosize words, NULL for what is not GC_LIVE */
    size_t first_scanned;
};
struct snapshot_edge {
    bool pointer;  /* else the word is an immediate, raw or outside word */
    size_t block;  /* index of the target in blocks; SIZE_MAX: points at no block */
    size_t offset; /* infix: field of the target */
    size_t at;     /* of a pointer into a heap: the word, counted from its start */
};
struct snapshot {
    enum party party;
    size_t n_blocks, heap_words;
    size_t young; /* the young generation begins at this word; SIZE_MAX: nobody says */
    struct snapshot_block *blocks; /* in address order; static blocks last */
    const word *slots;             /* slot s of mutator m: slots[m * GC_SLOTS + s] */
    unsigned mutators;
    bool unsettled;              /* it may not be looked at now, and shows no block */
    const struct runner *runner; /* for snapshot_resolve */
};
/* Fills *s; storage belongs to the runner.  False if the party's heap cannot be walked, or is
 * large: heap_words, which is filled in all the same, above PROGRAM_HEAP_WORDS; or there is no such
 * party. */
bool runner_snapshot(struct runner *, enum party, struct snapshot *s);
/* Visits the fields of old blocks that a collector with generations will look at in its next minor
 * collection.  False if the party has nothing to say of that. */
bool runner_remembered(struct runner *, enum party,
                       void (*visit)(void *context, word block, size_t i), void *context);
/* What a scanned field or slot of the snapshot holds. */
struct snapshot_edge snapshot_resolve(const struct snapshot *, word value);
/* Is the word, which is no pointer, one that the program has written as an address?  Writes its
 * text, "&r0.2+1", into out, or cuts it. */
bool snapshot_address(const struct snapshot *, word value, char *out, size_t capacity);
/* One character per word: '.' free, ',' fragment, 'x' unreachable, letters for reachable blocks
 * (upper case header, lower case fields), '-' unused; as snprintf, lines of 64. */
size_t snapshot_map(const struct snapshot *, char *out, size_t capacity);

#endif
