/* SPDX-License-Identifier: MIT
 *
 * What the files of `isoheap mutants` share.
 *
 *   source.c     the texts of the collector: places, lines, tokens
 *   ast.c        clang's syntax tree of a source
 *   sites.c      where the operators apply: a mutant for each way to get it wrong
 *   rewrite.c    the texts with a switch for every mutant
 *   compile.c    clang: trees, the object with all mutants, the code of one
 *   programs.c   the programs that all mutants run, made on the collector as it is
 *   choose.c     which mutants a run is for
 *   hunt.c       each mutant runs them, until one is a violation
 *   same.c       survivors whose code is the collector's own
 *   accepted.c   survivors that somebody has looked at, with reasons
 *   results.c    what is known, on disk
 *   report.c     tables, text and JSON
 *
 * A mutant is the collector with one operator applied at one place.  All of them are in one object:
 * the place asks which mutant runs, and counts that it was asked, so that a mutant needs to run
 * only the programs that reach it.
 */
#ifndef ISOHEAP_MUTANTS_H
#define ISOHEAP_MUTANTS_H

#include "cli/cli.h"
#include "views/bits.h"

#include <stdatomic.h>

/* X(name, what it does) */
#define MUTANT_OPERATORS(X)                                                                        \
    X(relational, "< for <=, == for !=, and the like")                                             \
    X(arithmetic, "+ for -, * for /, ++ for --")                                                   \
    X(constant, "a number one more or one less, true for false")                                   \
    X(logical, "&& for ||, or only one of the two sides")                                          \
    X(condition, "a condition negated: the other branch")                                          \
    X(bitwise, "& for |, << for >>, or a complement left out")                                     \
    X(assignment, "an assignment left out")                                                        \
    X(call, "a call left out")                                                                     \
    X(statement, "another statement left out")                                                     \
    X(result, "another result of a function")

enum mutant_operator {
#define X(name, meaning) OPERATOR_##name,
    MUTANT_OPERATORS(X)
#undef X
        OPERATORS
};
const char *operator_name(enum mutant_operator);
const char *operator_meaning(enum mutant_operator);

enum {
    MUTANT_FILES = 256,   /* sources and headers of a collector */
    MUTANT_SOURCES = 64,  /* --source */
    MUTANT_WORDS = 200,   /* options of the compiler */
    MUTANTS_MOST = 20000, /* of one collector */
    MUTANT_TEXT = 160     /* of a place's text, as reports show it */
};

/* In a child: it ends with its parent, and by the usual signals. */
void be_a_child(void);

/* ---- source.c ---------------------------------------------------------------------------------
 */

/* A file of the collector.  Its places are offsets. */
struct text_file {
    char *path;       /* absolute, without links */
    const char *name; /* the same as reports say it; within path */
    char *text;       /* NUL at the end */
    size_t size;
    bool source; /* given with --source; else it is included */
};
/* The line of a place, from 1 on. */
unsigned line_of(const struct text_file *, size_t offset);
/* The next place that is neither blank nor comment; at most `end`. */
size_t skip_blank(const struct text_file *, size_t offset, size_t end);
/* The end of the token that begins there, and of a macro's arguments if they follow. */
size_t invocation_end(const struct text_file *, size_t offset);
/* text[from..to) in a line with single blanks and without comments, cut behind `most` characters or
 * so; malloc'ed. */
char *flat_text(const char *text, size_t from, size_t to, size_t most);

/* ---- ast.c ------------------------------------------------------------------------------------
 */

/* X(kind): the nodes that mean something here, by clang's names. */
/* clang-format off */
#define AST_KINDS(X) \
    X(FunctionDecl) X(VarDecl) X(EnumDecl) X(RecordDecl) X(StaticAssertDecl) X(ParmVarDecl) \
    X(CompoundStmt) X(DeclStmt) X(IfStmt) X(WhileStmt) X(DoStmt) X(ForStmt) X(SwitchStmt) \
    X(CaseStmt) X(DefaultStmt) X(LabelStmt) X(ReturnStmt) X(BreakStmt) X(ContinueStmt) \
    X(GotoStmt) X(BinaryOperator) X(CompoundAssignOperator) X(UnaryOperator) X(CallExpr) \
    X(ConditionalOperator) X(ParenExpr) X(ImplicitCastExpr) X(CStyleCastExpr) X(IntegerLiteral) \
    X(CharacterLiteral) X(ConstantExpr) X(DeclRefExpr) X(UnaryExprOrTypeTraitExpr) \
    X(OffsetOfExpr) X(StmtExpr) X(GenericSelectionExpr)
/* clang-format on */

enum ast_kind {
    AST_other,
#define X(kind) AST_##kind,
    AST_KINDS(X)
#undef X
        AST_KIND_COUNT
};

/* A piece of the tree's text, without its quotes. */
struct ast_text {
    const char *start;
    size_t length;
};
bool ast_is(struct ast_text, const char *);
bool ast_has(struct ast_text, const char *part);

/* Where clang saw a token: where it is written, and where the macro is called that it comes from.
 */
struct ast_spot {
    struct ast_text file; /* empty: nowhere */
    size_t offset, length;
};
struct ast_place {
    struct ast_spot written, called;
    bool macro, argument; /* it comes from a macro, from one's argument */
};

struct ast_node {
    enum ast_kind kind;
    struct ast_place begin, end;                                 /* first and last token */
    struct ast_place at;                                         /* of a declaration: its name */
    struct ast_text name, type, true_type, opcode, cast, refers; /* refers: kind of what it names */
    bool fixed;                                                  /* a variable: static or extern */
    bool has_init;
    bool postfix;
    struct ast_node *first, *next; /* children; one that is not there has kind AST_other */
};

/* The tree in clang's JSON; keeps pieces of the text, of which it changes nothing.  NULL and *why
 * (a sentence that lasts) if that is no such tree. */
struct ast;
struct ast *ast_read(const char *json, size_t size, const char **why);
const struct ast_node *ast_root(const struct ast *);
void ast_free(struct ast *);

/* ---- sites.c ----------------------------------------------------------------------------------
 */

struct mutant {
    unsigned file;     /* in which it is */
    size_t start, end; /* what is replaced */
    unsigned line;     /* of its operator or start */
    enum mutant_operator op;
    bool whole;           /* a statement that is left out */
    bool dropped;         /* it does not compile: there is no such mutant */
    bool aside;           /* there is, and this run leaves it alone (choose.c) */
    char *function;       /* in which it is */
    char *code;           /* what stands there instead */
    char *before, *after; /* the same for people */
    unsigned ordinal;     /* of those with the same function, operator, before and after, 1.. */
};

/* Why a place has no mutant. */
struct left_out {
    unsigned macros;    /* it comes out of a macro */
    unsigned constants; /* the language wants a constant there */
    unsigned switches;  /* a macro decides it when the collector is compiled */
    unsigned uncompiled;
};

struct mutants {
    struct text_file files[MUTANT_FILES];
    unsigned n_files;
    uint64_t sees[MUTANT_SOURCES][MUTANT_FILES / 64]; /* files that a source has code of */
    struct mutant *all;                               /* mutant k of the object is all[k - 1] */
    unsigned n, room;
    struct left_out left_out;
    char *symbol; /* `const struct collector` of the sources, the last one; NULL: none */
    bool exports; /* a source says ISOHEAP_PLUGIN itself */
};

/* Which files beside the sources have mutants: those below these folders (absolute). */
struct own_folders {
    char *folder[MUTANT_SOURCES + 1];
    unsigned n;
};

/* Adds the mutants of a source's tree: in it, and in what it includes of the own folders.  False
 * after a message. */
bool find_sites(struct mutants *, const struct own_folders *, const struct ast *, unsigned source);
/* Puts them in the order of their places, each once, and numbers those that look alike. */
void order_sites(struct mutants *);
void forget_mutants(struct mutants *);

/* ---- rewrite.c --------------------------------------------------------------------------------
 */

/* The file with all its mutants, malloc'ed; lines are as before. */
char *rewrite_file(const struct mutants *, unsigned file);

/* ---- compile.c --------------------------------------------------------------------------------
 */

struct compile_plan {
    const char *clang;  /* the program */
    const char *folder; /* where it may write */
    char *sources[MUTANT_SOURCES];
    unsigned n_sources;
    char *flags[MUTANT_WORDS]; /* of the user's */
    unsigned n_flags;
    char *links[MUTANT_SOURCES]; /* linked as they are */
    unsigned n_links;
    struct own_folders own;
};
/* Reads the trees, finds all mutants and builds the object that has them; *object is its path,
 * malloc'ed.  False after a message. */
bool build_mutants(struct compile_plan *, struct mutants *, char **object);
/* A hash of the code that clang makes of the collector with that mutant alone, 0: as it is; of the
 * sources that see the mutant `seen_by`.  0: it cannot be compiled. */
uint64_t code_of_mutant(const struct compile_plan *, const struct mutants *, unsigned mutant,
                        unsigned seen_by);
/* Sets live[k] for each mutant of which clang leaves something in its code: where it does not,
 * nobody gets there, or nobody uses what comes of it.  False: a source cannot be compiled. */
bool find_live(const struct compile_plan *, const struct mutants *, bool *live);
/* The sanitizer that the object is compiled with besides UndefinedBehaviorSanitizer: this
 * command's. */
bool has_address_sanitizer(void);

/* ---- programs.c -------------------------------------------------------------------------------
 */

/* The one symbol of the object that is ours. */
struct mutants_export {
    unsigned *mutant;  /* which one runs; 0: none */
    unsigned *reached; /* how often each was asked for */
    unsigned n;
};

/* A collector with mutants in it. */
struct suspect {
    const struct collector *collector;
    const struct mutants_export *export;
};

/* Programs as bytes; for each of them which mutants it reaches, a bit each.  Bit 0, which is no
 * mutant's: the collector as it is cannot be given it. */
struct programs {
    uint8_t *bytes;
    size_t *start;     /* of each, n + 1 */
    uint64_t *reach;   /* n + 1 times; the last are reached when a collector is opened or closed */
    unsigned n, words; /* words of a program's bits */
    unsigned not_run;  /* of them: those that the collector as it is cannot be given */
};
static inline bool program_reaches(const struct programs *p, unsigned program, unsigned mutant) {
    return bit_at(p->reach + (size_t)program * p->words, mutant);
}
static inline bool program_reaches_always(const struct programs *p, unsigned mutant) {
    return program_reaches(p, p->n, mutant);
}

static inline bool program_is_refused(const struct programs *p, unsigned program) {
    return program_reaches(p, program, 0);
}

struct program_plan {
    const char *folder, *key; /* where they are kept; of what they depend on */
    char **seeds;             /* files and folders of programs that come first */
    unsigned n_seeds, budget, max_len, seed;
    const struct collector *plain; /* the collector as the user compiled it, or NULL */
};
/* Makes them, or finds them in the folder.  Status, after a message if it is not EXIT_OK;
 * EXIT_VIOLATION: the collector itself fails. */
enum exit_status make_programs(const struct program_plan *, const struct suspect *,
                               struct programs *);
void forget_programs(struct programs *);

/* ---- results.c --------------------------------------------------------------------------------
 */

enum fate {
    FATE_open, /* it has survived what it ran */
    FATE_killed,
    FATE_same, /* its code is the collector's */
    FATE_twin  /* its code is that of another survivor, `twin` */
};
struct result {
    enum fate fate;
    unsigned tried; /* programs of the list that are behind it */
    unsigned ran;   /* of those: that reached it */
    enum violation violation;
    bool harness_error; /* it ended with an assertion of the harness */
    bool hung;          /* in no_progress: by its time, and not by its steps */
    unsigned twin;
    uint64_t code; /* a hash of its code; 0: it has not been compiled alone */
};
struct results_file {
    char *path;
    struct result *result; /* of mutant k: result[k] */
    unsigned n;
};
/* Reads what an earlier run with the same key left.  False after a message. */
bool mutant_results_open(struct results_file *, const char *folder, const char *key, unsigned n);
/* Notes on disk what result[k] is now.  False after a message. */
bool mutant_results_note(const struct results_file *, unsigned k);
void mutant_results_close(struct results_file *);

/* ---- hunt.c -----------------------------------------------------------------------------------
 */

struct hunt_plan {
    const struct mutants *mutants;
    const struct suspect *suspect;
    const struct programs *programs;
    unsigned jobs;
    double end; /* by seconds_now; 0: none */
    bool progress;
};
/* Runs what is open on the first `limit` programs; anew: each with a runner of its own.  False: it
 * was interrupted, or its time is over; or after a message. */
bool hunt_mutants(const struct hunt_plan *, struct results_file *, unsigned limit, bool anew);

/* ---- same.c -----------------------------------------------------------------------------------
 */

/* Finds mutants in code that clang leaves out.  False: it cannot be compiled, or noted. */
bool find_dead(const struct compile_plan *, const struct mutants *, struct results_file *);
/* Compiles survivors alone, and finds those that are no mutants.  False: interrupted. */
bool find_same(const struct compile_plan *, const struct mutants *, struct results_file *,
               unsigned jobs, bool progress);

/* ---- accepted.c -------------------------------------------------------------------------------
 */

/* X(name, what): what a survivor is, in the opinion of who accepted it. */
#define ACCEPTED_KINDS(X)                                                                          \
    X(equivalent, "nobody can tell it from the original")                                          \
    X(waste, "it only wastes time or memory")                                                      \
    X(leak, "it only keeps what it should free")                                                   \
    X(lie, "it only tells the harness something else")                                             \
    X(beyond, "programs that this tool runs cannot show it")

enum accepted_kind {
    ACCEPTED_none,
#define X(name, meaning) ACCEPTED_##name,
    ACCEPTED_KINDS(X)
#undef X
        ACCEPTED_COUNT
};
const char *accepted_name(enum accepted_kind);

struct accepted_entry {
    enum accepted_kind kind;
    char *key; /* accept_key */
    char *reason;
    unsigned line;
    bool used;
};
struct accepted {
    struct accepted_entry *entry;
    unsigned n;
};
/* Reads a file of accepted survivors.  False after a message. */
bool accepted_read(struct accepted *, const char *path);
void accepted_free(struct accepted *);
/* What names a mutant in such a file, wherever its line is; malloc'ed. */
char *accept_key(const struct mutants *, const struct mutant *);
/* The entry of a mutant, which is used then, or NULL. */
const struct accepted_entry *accepted_find(struct accepted *, const struct mutants *,
                                           const struct mutant *);

/* ---- choose.c ---------------------------------------------------------------------------------
 */

/* There is such a mutant, and the run is for it. */
static inline bool is_chosen(const struct mutant *m) {
    return !m->dropped && !m->aside;
}

/* Which mutants a run is for: none of them names any, all. */
struct choice_of_mutants {
    char *texts[MUTANT_SOURCES]; /* part of a mutant's name (accept_key) each, or @FILE: a line of
                                    the file ends in it */
    unsigned n_texts;
    bool left; /* those alone that nobody has accepted */
};
static inline bool is_choice(const struct choice_of_mutants *c) {
    return c->n_texts > 0 || c->left;
}
/* Sets the others aside.  False after a message: a file cannot be read, or nothing is named. */
bool choose_mutants(struct mutants *, const struct choice_of_mutants *, struct accepted *);

/* ---- report.c ---------------------------------------------------------------------------------
 */

struct tally_of_mutants {
    unsigned made, same, twins, killed, by_effect[EFFECTS], open, unreached;
    unsigned accepted[ACCEPTED_COUNT]; /* survivors; [0]: those that nobody has accepted */
    unsigned tried_least;              /* programs that each survivor has behind it */
    unsigned stale;                    /* accepted, and no survivor */
    unsigned aside;                    /* mutants that the run was not for */
};
struct mutant_report {
    const char *collector;
    const struct mutants *mutants;
    const struct results_file *results;
    const struct programs *programs;
    struct accepted *accepted;
    unsigned budget;
    bool finished, killed_too;
    bool chosen; /* it is for some of the mutants: nothing is said of the others */
};
struct tally_of_mutants tally_mutants(const struct mutant_report *);
/* Shares in percent: of the mutants that make a program go wrong, and of all that are not
 * equivalent. */
double share_wrong(const struct tally_of_mutants *);
double share_all(const struct tally_of_mutants *);
void print_mutants(FILE *, const struct mutant_report *);
void print_mutants_json(FILE *, const struct mutant_report *);

#endif
