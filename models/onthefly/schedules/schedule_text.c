/* SPDX-License-Identifier: MIT
 *
 * The text form of schedules (schedule.h); docs/on-the-fly.md has the grammar.
 */
#include "models/onthefly/schedules/schedule.h"

#include <ctype.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

static const char version_line[] = "isoheap schedule 1";

static const char *const phases[] = {"hp_Idle", "hp_IdleInit", "hp_InitMark", "hp_Mark",
                                     "hp_IdleMarkSweep"};
enum { PHASES = sizeof phases / sizeof *phases };

bool schedule_looks_like_text(const void *data, size_t size) {
    size_t length = sizeof version_line - 2; /* any version; parse says which it takes */
    return size >= length && memcmp(data, version_line, length) == 0;
}

/* ---- print ------------------------------------------------------------------------------------
 */

static const char *process_name(unsigned p) {
    static const char names[TSO_PROCESSES][3] = {"m0", "m1", "m2", "m3", "gc"};
    return names[p];
}

int schedule_step_text(const struct action *x, char *out, size_t size) {
    const char *who = process_name(x->process);
    switch (x->op) {
    case DO_COMMIT:
        return snprintf(out, size, "commit %s", who);
    case DO_ALLOC:
        return snprintf(out, size, "%s alloc r%u", who, x->a);
    case DO_DISCARD:
        return snprintf(out, size, "%s discard r%u", who, x->a);
    case DO_LOAD:
        return snprintf(out, size, "%s load r%u.%u", who, x->a, x->b);
    case DO_STORE:
        if (!x->c)
            return snprintf(out, size, "%s store r%u.%u := null", who, x->a, x->b);
        return snprintf(out, size, "%s store r%u.%u := r%u", who, x->a, x->b, x->c - 1U);
    case DO_FENCE:
        return snprintf(out, size, "%s mfence", who);
    case DO_HANDSHAKE:
        return snprintf(out, size, "%s handshake", who);
    case DO_PICK:
        return snprintf(out, size, "%s pick r%u", who, x->a);
    case DO_FIELD:
        return snprintf(out, size, "%s field %u", who, x->a);
    case DO_MUTATOR:
        return snprintf(out, size, "%s mutator m%u", who, x->a);
    case DO_BLOCK:
        return snprintf(out, size, "%s block", who);
    case DO_WAKE:
        return snprintf(out, size, "%s wake", who);
    case DO_ANSWER:
        return snprintf(out, size, "%s answer m%u", who, x->a);
    case DO_GO:
        return snprintf(out, size, "%s go", who);
    case DO_COME:
        return snprintf(out, size, "%s come m%u r%u", who, x->a, x->b);
    case DO_GATHER:
        return snprintf(out, size, "%s gather r%u", who, x->a);
    case DO_RUN:
        return snprintf(out, size, "run %s until handshake", who);
    case DO_PARK:
        return snprintf(out, size, "park %s for %s", who, phases[x->a % PHASES]);
    case DO_CYCLE:
        return snprintf(out, size, "gc");
    default:
        return snprintf(out, size, "%s step", who);
    }
}

static void print_ref(oref r, FILE *out) {
    if (r)
        fprintf(out, "r%u", r - 1U);
    else
        fprintf(out, "null");
}

static void print_check(unsigned invariants, FILE *out) {
    if (invariants == INVARIANTS_ALL)
        return;
    if (invariants == INVARIANTS_SAFETY) {
        fprintf(out, "check safety\n");
        return;
    }
    for (unsigned i = 0; i < INVARIANT_COUNT; i++)
        if (invariants >> i & 1)
            fprintf(out, "check %s\n", invariant_name(i));
}

static void print_start(const struct schedule *s, FILE *out) {
    const struct model *m = &s->model;
    fprintf(out, "%s\nmodel mutators=%u refs=%u fields=%u buffer=%u gc-buffer=%u memory=%s\n",
            version_line, m->mutators, m->refs, m->fields, m->buffer, m->gc_buffer,
            m->sequential ? "sc" : "tso");
    for (unsigned i = 0; i < VARIANT_COUNT; i++)
        if (m->variant >> i & 1)
            fprintf(out, "variant %s\n", variant_name(i));
    print_check(s->invariants, out);
    fprintf(out, "heap\n");
    for (unsigned r = 0; r < m->refs; r++) {
        if (!(s->alloc >> r & 1))
            continue;
        fprintf(out, "  r%u = [", r);
        for (unsigned f = 0; f < m->fields; f++) {
            fprintf(out, f ? ", " : "");
            print_ref(s->fields[r * FIELDS_MAX + f], out);
        }
        fprintf(out, "]\n");
    }
    fprintf(out, "roots\n");
    for (unsigned p = 0; p < m->mutators; p++) {
        fprintf(out, "  m%u =", p);
        for (unsigned r = 0; r < m->refs; r++)
            if (s->roots[p] >> r & 1)
                fprintf(out, " r%u", r);
        fprintf(out, "\n");
    }
    fprintf(out, "steps\n");
}

struct printer {
    FILE *out;
    const struct schedule *s;
};

static void print_step(FILE *out, const struct action *x, const struct state *at) {
    char step[48];
    schedule_step_text(x, step, sizeof step);
    bool labelled = at && x->op != DO_COMMIT && x->op < DO_COUNT;
    if (labelled)
        fprintf(out, "  %-26s # %s: %s\n", step, model_label(at, x->process),
                model_label_meaning(at, x->process));
    else
        fprintf(out, "  %s\n", step);
}

void schedule_print(const struct schedule *s, FILE *out) {
    struct schedule one = *s; /* the steps so far, for the state that each is taken in */
    print_start(s, out);
    struct state at;
    bool known = true; /* until a directive or a step that is not possible */
    schedule_start(&one, &at);
    for (size_t i = 0; i < s->n; i++) {
        const struct action *x = &s->steps[i];
        known = known && x->op < DO_COUNT && model_enabled(&s->model, &at, x);
        print_step(out, x, known ? &at : NULL);
        if (known)
            model_apply(&s->model, &at, x);
    }
}

/* ---- parse ------------------------------------------------------------------------------------
 */

struct parser {
    struct schedule *s;
    const char *at, *end, *line_start;
    unsigned line;
    struct schedule_error *error;
    bool failed;
};

static bool fail(struct parser *p, const char *format, ...) {
    va_list arguments;
    if (p->failed)
        return false;
    p->failed = true;
    p->error->line = p->line;
    p->error->column = (unsigned)(p->at - p->line_start) + 1;
    va_start(arguments, format);
    vsnprintf(p->error->message, sizeof p->error->message, format, arguments);
    va_end(arguments);
    return false;
}

static void skip_blanks(struct parser *p) {
    while (p->at < p->end && (*p->at == ' ' || *p->at == '\t' || *p->at == '\r'))
        p->at++;
    if (p->at < p->end && *p->at == '#')
        while (p->at < p->end && *p->at != '\n')
            p->at++;
}

/* To the first word of the next line that has one; false at the end. */
static bool next_line(struct parser *p) {
    for (skip_blanks(p); p->at < p->end && *p->at == '\n'; skip_blanks(p)) {
        p->at++;
        p->line++;
        p->line_start = p->at;
    }
    return p->at < p->end;
}

static bool line_ends(struct parser *p) {
    skip_blanks(p);
    return p->at == p->end || *p->at == '\n';
}

/* Takes a word or a sign, if it is there; a word must end there. */
static bool accept(struct parser *p, const char *word) {
    size_t length = strlen(word);
    skip_blanks(p);
    if ((size_t)(p->end - p->at) < length || memcmp(p->at, word, length) != 0)
        return false;
    const char *after = p->at + length;
    if (isalpha((unsigned char)word[length - 1]) && after < p->end &&
        (isalnum((unsigned char)*after) || *after == '_' || *after == '-'))
        return false;
    p->at = after;
    return true;
}

static bool expect(struct parser *p, const char *word) {
    return accept(p, word) || fail(p, "expected `%s`", word);
}

/* A number after a prefix such as r, m or "refs=". */
static unsigned number(struct parser *p, const char *prefix, unsigned below) {
    unsigned value = 0, digits = 0;
    size_t length = strlen(prefix);
    skip_blanks(p);
    const char *from = p->at;
    if ((size_t)(p->end - from) >= length && memcmp(from, prefix, length) == 0)
        for (p->at += length; p->at < p->end && isdigit((unsigned char)*p->at) && digits < 4;
             digits++)
            value = value * 10 + (unsigned)(*p->at++ - '0');
    if (digits && value < below)
        return value;
    p->at = from;
    fail(p, "expected `%s` and a number below %u", prefix, below);
    return 0;
}

static bool end_line(struct parser *p) {
    return !p->failed && (line_ends(p) || fail(p, "expected the end of the line"));
}

static bool at_ref(struct parser *p) {
    skip_blanks(p);
    return p->at + 1 < p->end && p->at[0] == 'r' && isdigit((unsigned char)p->at[1]);
}

static oref parse_oref(struct parser *p) {
    return accept(p, "null") ? 0 : (oref)(number(p, "r", p->s->model.refs) + 1);
}

static void parse_model(struct parser *p) {
    struct model *m = &p->s->model;
    expect(p, "model");
    m->mutators = number(p, "mutators=", MUTATORS_MAX + 1);
    m->refs = number(p, "refs=", REFS_MAX + 1);
    m->fields = number(p, "fields=", FIELDS_MAX + 1);
    m->buffer = number(p, "buffer=", BUFFER_MAX + 1);
    m->gc_buffer = number(p, "gc-buffer=", BUFFER_MAX + 1);
    if (!p->failed) {
        m->sequential = accept(p, "memory=sc");
        if (!m->sequential)
            expect(p, "memory=tso");
    }
    if (!p->failed && model_wrong(m))
        fail(p, "%s", model_wrong(m));
}

static void parse_variant(struct parser *p) {
    for (unsigned i = 0; i < VARIANT_COUNT; i++)
        if (accept(p, variant_name(i))) {
            p->s->model.variant |= (uint64_t)1 << i;
            return;
        }
    fail(p, "there is no such variant; `isoheap explore --help` names them");
}

static void parse_check(struct parser *p) {
    if (accept(p, "safety")) {
        p->s->invariants |= INVARIANTS_SAFETY;
        return;
    }
    for (unsigned i = 0; i < INVARIANT_COUNT; i++)
        if (accept(p, invariant_name(i))) {
            p->s->invariants |= 1U << i;
            return;
        }
    fail(p, "there is no such invariant; `isoheap explore --help` names them");
}

/* The lines between model and heap. */
static void parse_settings(struct parser *p) {
    bool heap = false;
    while (!p->failed && !heap && next_line(p)) {
        heap = accept(p, "heap");
        if (!heap && accept(p, "check"))
            parse_check(p);
        else if (!heap && expect(p, "variant"))
            parse_variant(p);
        end_line(p);
    }
    if (!p->failed && !heap)
        fail(p, "expected `heap`");
    if (!p->s->invariants)
        p->s->invariants = INVARIANTS_ALL;
}

static void parse_object(struct parser *p) {
    unsigned r = number(p, "r", p->s->model.refs);
    p->s->alloc |= (refset)(1U << r);
    expect(p, "=");
    expect(p, "[");
    for (unsigned f = 0; f < p->s->model.fields && !p->failed; f++) {
        if (f)
            expect(p, ",");
        p->s->fields[r * FIELDS_MAX + f] = parse_oref(p);
    }
    expect(p, "]");
}

static void parse_roots(struct parser *p) {
    unsigned m = number(p, "m", p->s->model.mutators);
    expect(p, "=");
    while (!p->failed && at_ref(p))
        p->s->roots[m] |= (refset)(1U << number(p, "r", p->s->model.refs));
}

static unsigned parse_process(struct parser *p) {
    return accept(p, "gc") ? (unsigned)GC : number(p, "m", p->s->model.mutators);
}

static void parse_field_access(struct parser *p, struct action *x) {
    x->a = (uint8_t)number(p, "r", p->s->model.refs);
    x->b = (uint8_t)number(p, ".", p->s->model.fields);
}

/* Variants blocks, come_and_go and pools. */
static bool parse_blocking(struct parser *p, struct action *x) {
    if (accept(p, "block")) {
        x->op = DO_BLOCK;
    } else if (accept(p, "wake")) {
        x->op = DO_WAKE;
    } else if (accept(p, "answer")) {
        x->op = DO_ANSWER;
        x->a = (uint8_t)number(p, "m", p->s->model.mutators);
    } else if (accept(p, "go")) {
        x->op = DO_GO;
    } else if (accept(p, "come")) {
        x->op = DO_COME;
        x->a = (uint8_t)number(p, "m", p->s->model.mutators);
        x->b = (uint8_t)number(p, "r", p->s->model.refs);
    } else if (accept(p, "gather")) {
        x->op = DO_GATHER;
        x->a = (uint8_t)number(p, "r", p->s->model.refs);
    } else {
        return false;
    }
    return true;
}

/* What a process does; `gc` alone is a whole cycle. */
static void parse_own_step(struct parser *p, struct action *x) {
    unsigned refs = p->s->model.refs;
    x->process = (uint8_t)parse_process(p);
    if (x->process == GC && line_ends(p)) {
        x->op = DO_CYCLE;
    } else if (accept(p, "step")) {
        x->op = DO_STEP;
    } else if (accept(p, "alloc")) {
        x->op = DO_ALLOC;
        x->a = (uint8_t)number(p, "r", refs);
    } else if (accept(p, "discard")) {
        x->op = DO_DISCARD;
        x->a = (uint8_t)number(p, "r", refs);
    } else if (accept(p, "load")) {
        x->op = DO_LOAD;
        parse_field_access(p, x);
    } else if (accept(p, "store")) {
        x->op = DO_STORE;
        parse_field_access(p, x);
        expect(p, ":=");
        x->c = parse_oref(p);
    } else if (accept(p, "mfence")) {
        x->op = DO_FENCE;
    } else if (accept(p, "handshake")) {
        x->op = DO_HANDSHAKE;
    } else if (accept(p, "pick")) {
        x->op = DO_PICK;
        x->a = (uint8_t)number(p, "r", refs);
    } else if (accept(p, "field")) {
        x->op = DO_FIELD;
        x->a = (uint8_t)number(p, "", p->s->model.fields);
    } else if (accept(p, "mutator")) {
        x->op = DO_MUTATOR;
        x->a = (uint8_t)number(p, "m", p->s->model.mutators);
    } else if (!parse_blocking(p, x)) {
        fail(p, "expected step, alloc, discard, load, store, mfence, handshake, pick, field, "
                "mutator, block, wake, answer, go, come or gather");
    }
}

static void parse_step(struct parser *p) {
    struct action x = {0, DO_STEP, 0, 0, 0};
    if (accept(p, "commit")) {
        x.op = DO_COMMIT;
        x.process = (uint8_t)parse_process(p);
    } else if (accept(p, "step")) { /* as `m0 step` */
        x.process = (uint8_t)parse_process(p);
    } else if (accept(p, "run")) {
        x.op = DO_RUN;
        x.process = (uint8_t)parse_process(p);
        expect(p, "until");
        expect(p, "handshake");
    } else if (accept(p, "park")) {
        x.op = DO_PARK;
        x.process = (uint8_t)number(p, "m", p->s->model.mutators);
        expect(p, "for");
        while (x.a < PHASES && !accept(p, phases[x.a]))
            x.a++;
        if (x.a == PHASES)
            fail(p, "expected hp_Idle, hp_IdleInit, hp_InitMark, hp_Mark or hp_IdleMarkSweep");
    } else {
        parse_own_step(p, &x);
    }
    if (!p->failed && !schedule_append(p->s, &x))
        fail(p, "more than %d steps", SCHEDULE_STEPS_MAX);
}

/* The lines of a section up to the word that opens the next one. */
static void parse_section(struct parser *p, void (*line)(struct parser *), const char *next) {
    while (!p->failed && next_line(p)) {
        if (next && accept(p, next)) {
            end_line(p);
            return;
        }
        line(p);
        end_line(p);
    }
    if (next && !p->failed)
        fail(p, "expected `%s`", next);
}

/* Fields and roots must lead to objects. */
static void check_start(struct parser *p) {
    const struct schedule *s = p->s;
    unsigned led_to = 0;
    for (unsigned i = 0; i < REFS_MAX * FIELDS_MAX; i++)
        led_to |= 1U << s->fields[i] >> 1;
    for (unsigned m = 0; m < s->model.mutators; m++)
        led_to |= s->roots[m];
    for (unsigned r = 0; !p->failed && r < REFS_MAX; r++)
        if (led_to & ~(unsigned)s->alloc & 1U << r)
            fail(p, "a field or a root leads to r%u, which the heap has not", r);
}

bool schedule_parse(struct schedule *s, const char *text, size_t size,
                    struct schedule_error *error) {
    struct parser p = {s, text, text + size, text, 1, error, false};
    schedule_free(s);
    if (!next_line(&p) || !accept(&p, "isoheap") || !accept(&p, "schedule"))
        fail(&p, "expected `%s`", version_line);
    unsigned version = number(&p, "", 10000);
    if (!p.failed && version != SCHEDULE_VERSION)
        fail(&p, "this is version %u; only version %d is known", version, SCHEDULE_VERSION);
    end_line(&p);
    if (!p.failed && next_line(&p))
        parse_model(&p);
    end_line(&p);
    parse_settings(&p);
    parse_section(&p, parse_object, "roots");
    parse_section(&p, parse_roots, "steps");
    if (!p.failed)
        check_start(&p);
    parse_section(&p, parse_step, NULL);
    if (p.failed)
        schedule_free(s);
    return !p.failed;
}
