/* SPDX-License-Identifier: MIT
 *
 * A schedule as a picture: time runs down, every process has a column, and the last one has the
 * memory where it changed (schedule.h).
 */
#include "models/onthefly/schedules/schedule.h"

#include <string.h>

enum { COLUMN = 42, CELL_TEXT = 128 };

struct columns {
    FILE *out;
    const struct model *m;
    unsigned row;
    char memory[160]; /* as it was shown last */
};

/* ---- texts ------------------------------------------------------------------------------------
 */

static const char *const phase_names[] = {"Idle", "Init", "Mark", "Sweep"};

static void append(char *text, size_t size, const char *more) {
    size_t length = strlen(text);
    snprintf(text + length, size - length, "%s", more);
}

static void name_ref(oref r, char *out, size_t size) {
    if (r)
        snprintf(out, size, "r%u", r - 1U);
    else
        snprintf(out, size, "null");
}

static void entry_text(struct tso_entry e, char *out, size_t size) {
    char value[8];
    if (e.cell == CELL_FA || e.cell == CELL_FM)
        snprintf(out, size, "%s:=%u", e.cell == CELL_FA ? "f_A" : "f_M", e.value);
    else if (e.cell == CELL_PHASE)
        snprintf(out, size, "phase:=%s", phase_names[e.value & 3]);
    else if (e.cell == CELL_TYPE)
        snprintf(out, size, "type:=%u", e.value);
    else if (cell_is_pending(e.cell))
        snprintf(out, size, "pending(m%u):=%u", (unsigned)e.cell - CELL_PENDING, e.value);
    else if (cell_is_mark(e.cell))
        snprintf(out, size, "flag(r%u):=%u", cell_ref(e.cell), e.value);
    else {
        name_ref(e.value, value, sizeof value);
        snprintf(out, size, "r%u.%u:=%s", cell_ref(e.cell),
                 (unsigned)(e.cell - CELL_FIELD) % FIELDS_MAX, value);
    }
}

static void buffer_text(const struct state *s, unsigned p, char *out, size_t size) {
    char entry[24];
    for (unsigned i = 0; i < s->tso.count[p]; i++) {
        entry_text(s->tso.buffer[p][i], entry, sizeof entry);
        append(out, size, i ? ", " : " <");
        append(out, size, entry);
    }
    if (s->tso.count[p])
        append(out, size, ">");
}

static char colour(const struct model *m, const struct state *s, unsigned r) {
    unsigned grey = s->W;
    for (unsigned p = 0; p < TSO_PROCESSES; p++)
        grey |= s->agent[p].W | s->agent[p].grey;
    if (grey >> r & 1)
        return 'g';
    return state_marked(m, s) >> r & 1 ? 'b' : 'w';
}

static void memory_text(const struct model *m, const struct state *s, char *out, size_t size) {
    char part[48], name[8];
    snprintf(out, size, "f_M=%u f_A=%u %s", state_fM(s), s->tso.memory[CELL_FA],
             phase_names[s->tso.memory[CELL_PHASE]]);
    for (unsigned r = 0; r < m->refs; r++) {
        if (!(s->alloc >> r & 1))
            continue;
        snprintf(part, sizeof part, "  r%u%c[", r, colour(m, s, r));
        append(out, size, part);
        for (unsigned f = 0; f < m->fields; f++) {
            name_ref(state_field(s, r, f), name, sizeof name);
            append(out, size, f ? " " : "");
            append(out, size, name);
        }
        append(out, size, "]");
    }
}

/* ---- rows -------------------------------------------------------------------------------------
 */

static void step_text(const struct action *x, const struct state *before, char *out, size_t size) {
    char step[48];
    if (x->op == DO_COMMIT) {
        entry_text(before->tso.buffer[x->process][0], step, sizeof step);
        snprintf(out, size, "commit %s", step);
        return;
    }
    schedule_step_text(x, step, sizeof step);
    const char *own = strchr(step, ' ') + 1; /* without the process, which the column says */
    if (x->op == DO_STEP)
        snprintf(out, size, "%s", model_label(before, x->process));
    else
        snprintf(out, size, "%s", own);
}

static void print_row(void *context, const struct action *x, const struct state *before,
                      const struct state *after) {
    struct columns *c = context;
    char cell[CELL_TEXT], memory[sizeof c->memory];
    fprintf(c->out, "%4u ", ++c->row);
    for (unsigned p = 0; p < TSO_PROCESSES; p++) {
        if (p >= c->m->mutators && p != GC)
            continue;
        cell[0] = '\0';
        if (p == x->process) {
            step_text(x, before, cell, sizeof cell);
            buffer_text(after, p, cell, sizeof cell);
        }
        fprintf(c->out, "| %-*s", COLUMN, cell);
    }
    memory_text(c->m, after, memory, sizeof memory);
    fprintf(c->out, "| %s\n", strcmp(memory, c->memory) ? memory : "");
    memcpy(c->memory, memory, sizeof memory);
}

void schedule_columns(const struct schedule *s, FILE *out) {
    struct columns c = {out, &s->model, 0, ""};
    struct state start;
    schedule_start(s, &start);
    memory_text(&s->model, &start, c.memory, sizeof c.memory);
    fprintf(out, "step ");
    for (unsigned p = 0; p < s->model.mutators; p++)
        fprintf(out, "| m%-*u", COLUMN - 1, p);
    fprintf(out, "| %-*s| memory: %s\n", COLUMN, "gc", c.memory);
    schedule_run(s, print_row, &c);
}
