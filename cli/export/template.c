/* SPDX-License-Identifier: MIT
 *
 * The parts of an exported finding that are the same for every program (export.h): those of the
 * files in export/ that its operations and its class need, and the oracles of levels.
 */
#include "cli/export/export.h"

#include <string.h>

/* What a class asserts; NULL: nothing but that the script ends, or what an oracle of its own says.
 */
static const char *assertions(enum violation v) {
    switch (v) {
    case VIOLATION_ill_formed_heap:
    case VIOLATION_wrong_colour:
    case VIOLATION_free_list_corrupt:
    case VIOLATION_sanitizer: /* all that makes the collector run, or look at its heap */
        return "walk";
    case VIOLATION_garbage_retained:
        return "garbage";
    case VIOLATION_heap_not_dense:
        return "dense";
    case VIOLATION_overlap:
        return "overlap";
    case VIOLATION_false_out_of_memory:
    case VIOLATION_missed_out_of_memory:
        return "memory";
    case VIOLATION_heap_worn_out:
        return "wear";
    case VIOLATION_collector_assertion:
        return "own";
    case VIOLATION_too_many_steps:
        return "steps";
    case VIOLATION_too_many_collections:
        return "thrift";
    case VIOLATION_nursery_unused:
        return "nursery";
    case VIOLATION_age_ignored:
        return "ages";
    case VIOLATION_work_grows:
    case VIOLATION_memory_grows:
        return "growth";
    case VIOLATION_contract_broken:
    case VIOLATION_stack_broken:
    case VIOLATION_tricolour_broken:
    case VIOLATION_no_progress:
    case VIOLATION_deadlock:
    case VIOLATION_promise_broken:
    case VIOLATION_told_wrong:
    case VIOLATION_refinement_broken:
    case VIOLATION_layout_broken:
    case VIOLATION_generation_order_broken:
        return NULL;
    default:
        return "graph";
    }
}

/* An operation with one of the flags, or one of these? */
static bool has_op(const struct program *p, unsigned flags, op_bits codes) {
    for (unsigned i = 0; i < p->n_ops; i++)
        if (op_shapes[p->ops[i].code].flags & flags || op_bits_have(codes, p->ops[i].code))
            return true;
    return false;
}

static bool builds(const struct program *p, bool arrays) {
    for (unsigned i = 0; i < p->n_ops; i++)
        if (p->ops[i].code == OP_BUILD && (p->ops[i].shape == BUILD_ARRAY) == arrays)
            return true;
    return false;
}

static bool allocates(const struct program *p) {
    return has_op(p, FLAG_ALLOCATES, 0);
}

static bool collects(const struct program *p) {
    return has_op(p, FLAG_COLLECTS, 0);
}

static bool is_address_of(const struct value *v, const struct op *op, const void *codes) {
    return v->kind == VALUE_ADDRESS && op && op_bits_have(*(const op_bits *)codes, op->code);
}

/* Does an operation of one of these have an address? */
static bool ops_have_addresses(const struct program *p, op_bits codes) {
    return program_any_value(p, is_address_of, &codes);
}

/* Does a store write something else? */
static bool has_plain_store(const struct program *p) {
    for (unsigned i = 0; i < p->n_ops; i++)
        if (p->ops[i].code == OP_STORE && p->ops[i].values[0].kind != VALUE_ADDRESS)
            return true;
    return false;
}

static bool is_address(const struct value *v, const struct op *op, const void *none) {
    (void)op;
    (void)none;
    return v->kind == VALUE_ADDRESS;
}

static bool has_code_addresses(const struct program *p) {
    bool any = false;
    for (unsigned i = 0; i < p->n_items; i++)
        any |= p->items[i].address_code;
    return any;
}

static bool is_outsider(const struct value *v, const struct op *op, const void *none) {
    (void)op;
    (void)none;
    return v->kind == VALUE_ATOM ||
           (v->kind == VALUE_OUTSIDE &&
            (outside_form(v) == OUTSIDE_BEFORE || outside_form(v) == OUTSIDE_BEHIND));
}

bool export_has_outsiders(const struct program *p) {
    return program_any_value(p, is_outsider, NULL);
}

static bool asserts(const struct exported *e, const char *what) {
    const char *class = assertions(e->violation);
    return class && strcmp(class, what) == 0;
}

/* The oracle of a collector whose states are related to levels above; NULL: another class. */
static const char *oracle_text(const struct exported *e) {
    bool levels = e->of_levels || e->violation == VIOLATION_refinement_broken ||
                  e->violation == VIOLATION_layout_broken ||
                  e->violation == VIOLATION_generation_order_broken;
    if (!levels)
        return NULL;
    return e->subject->traits.refines         ? export_tower
           : e->subject->traits.refines_words ? export_cakeml
                                              : NULL;
}

/* Definition 6 is of collectors that do not move, and of cycles. */
static bool has_cycles(const struct exported *e) {
    return e->subject->cycle && !e->subject->young && !e->subject->traits.moves;
}

/* Of generations it is the old one that a cycle is about, and that stays. */
static bool has_snapshots(const struct exported *e) {
    return e->subject->cycle && (e->subject->young || !e->subject->traits.moves);
}

/* Slices that no mutator follows: of a collector that may have the trait `slices`. */
static bool has_slices(const struct exported *e) {
    const struct collector *c = e->subject;
    return c->step && c->cycle && c->walk && (c->traits.slices || c->promise);
}

static bool is_of_snapshot(enum violation v) {
    return v == VIOLATION_snapshot_lost || v == VIOLATION_barrier_missed;
}

static bool is_of_phases(enum violation v) {
    return v == VIOLATION_contract_broken || v == VIOLATION_stack_broken ||
           v == VIOLATION_tricolour_broken;
}

static bool has_counts(const struct program *p) {
    bool any = false;
    for (unsigned i = 0; i < p->n_items; i++)
        any |= p->items[i].more != 0;
    return any;
}

static bool is_needed(const struct exported *e, const char *what, size_t length) {
    const uint32_t *config = e->program->config;
    const char *class = assertions(e->violation);
    const op_bits stores = UINT64_C(1) << OP_STORE;
    const bool calls_collect =
        config[CONFIG_STRESS] > 0 || has_op(e->program, FLAG_COLLECTS, UINT64_C(1) << OP_EXHAUST);
    const bool has_addresses =
        program_any_value(e->program, is_address, NULL) || has_code_addresses(e->program);
    const struct {
        const char *name;
        bool needed;
    } others[] = {
        {"always", true},
        {class ? class : "always", true},
        {"minors", asserts(e, "garbage") && e->subject->young != NULL},
        {"answers", asserts(e, "memory") && allocates(e->program)},
        {"newblocks", asserts(e, "overlap") && allocates(e->program)},
        {"newcolours", asserts(e, "walk") && allocates(e->program)},
        {"promoted", asserts(e, "walk") && allocates(e->program) && e->subject->young},
        {"unreached", asserts(e, "graph") && has_cycles(e)},
        {"shares", asserts(e, "graph") && e->subject->traits.shares_values},
        {"statics",
         e->violation == VIOLATION_field_written && program_static_words(e->program) > 0},
        {"empty", e->violation == VIOLATION_ill_formed_heap && e->subject->walk},
        {"shallow", e->violation == VIOLATION_sanitizer && e->subject->traits.shallow},
        {"written", e->violation == VIOLATION_field_written && e->subject->young},
        {"protection", is_of_snapshot(e->violation) && has_snapshots(e)},
        {"slices", has_slices(e) && (e->violation == VIOLATION_no_progress ||
                                     e->violation == VIOLATION_sanitizer || asserts(e, "garbage"))},
        {"lastminor",
         e->subject->young && (asserts(e, "graph") || asserts(e, "garbage") || asserts(e, "walk"))},
        {"counted", e->violation == VIOLATION_promise_broken && e->subject->cycle},
        {"phases", is_of_phases(e->violation)},
        {"told", e->violation == VIOLATION_promise_broken},
        {"once", e->violation == VIOLATION_promise_broken && e->subject->traits.remembered_once},
        {"telling", e->violation == VIOLATION_told_wrong},
        {"left", e->violation == VIOLATION_promise_broken && e->subject->traits.tells},
        {"poisoned", e->violation == VIOLATION_promise_broken},
        {"calls", e->violation == VIOLATION_promise_broken && calls_collect},
        {"tower", oracle_text(e) == export_tower},
        {"cakeml", oracle_text(e) == export_cakeml},
        {"order", e->violation == VIOLATION_order_changed && collects(e->program)},
        {"operations", e->program->n_ops > 0},
        {"unpriced", !asserts(e, "steps")},
        {"paced", asserts(e, "steps") && has_op(e->program, 0, UINT64_C(1) << OP_SLICE)},
        {"lists", builds(e->program, false)},
        {"arrays", builds(e->program, true)},
        {"conservative", e->subject->traits.conservative},
        {"image", e->subject->image != NULL},
        {"byalloc", e->subject->image == NULL},
        {"addresses", has_addresses},
        {"outsiders", export_has_outsiders(e->program)},
        {"bycount", has_counts(e->program)},
        {"plainstore", has_plain_store(e->program)},
        {"addressops", ops_have_addresses(e->program, OP_BITS_ALL)},
        {"addresscode", ops_have_addresses(e->program, stores | UINT64_C(1) << OP_INIT)},
        {"addressstore", ops_have_addresses(e->program, stores)},
        {"addressbuild", has_addresses && !e->subject->image},
        {"stress", config[CONFIG_STRESS] > 0},
        {"fail", config[CONFIG_FAIL] > 0}};
    for (unsigned i = 0; i < sizeof others / sizeof *others; i++)
        if (others[i].needed && strlen(others[i].name) == length &&
            strncmp(others[i].name, what, length) == 0)
            return true;
    for (unsigned i = 0; i < e->program->n_ops; i++) {
        const char *name = op_shapes[e->program->ops[i].code].name;
        if (strlen(name) == length && strncmp(name, what, length) == 0)
            return true;
    }
    return false;
}

/* Is one of the words of a marker line needed? */
static bool any_needed(const struct exported *e, const char *line, const char *end) {
    for (const char *c = line; c < end;) {
        size_t length = 0;
        while (c + length < end && c[length] >= 'a' && c[length] <= 'z')
            length++;
        if (length > 0 && is_needed(e, c, length))
            return true;
        c += length + 1;
    }
    return false;
}

/* A mark at the beginning of a line is for what follows up to the next such; an indented one for
 * what follows within that. */
void export_mirror(FILE *f, const struct exported *e) {
    static const char mark[] = "/*@ ";
    bool outer = true, inner = true;
    for (const char *line = export_template; *line;) {
        const char *end = strchr(line, '\n'), *text = line + strspn(line, " ");
        bool marked = strncmp(text, mark, sizeof mark - 1) == 0;
        if (marked && text > line) {
            inner = any_needed(e, text, end);
        } else if (marked) {
            outer = any_needed(e, text, end);
            inner = true;
        } else if (outer && inner) {
            fwrite(line, 1, (size_t)(end - line) + 1, f);
        }
        line = end + 1;
    }
}

/* The sources of an oracle, without the includes of what stands here itself. */
void export_oracle(FILE *f, const struct exported *e) {
    static const char oracles[] = "#include \"oracles/", views[] = "#include \"views/";
    const char *line = oracle_text(e);
    for (; line && *line; line = strchr(line, '\n') + 1)
        if (strncmp(line, oracles, sizeof oracles - 1) != 0 &&
            strncmp(line, views, sizeof views - 1) != 0)
            fwrite(line, 1, (size_t)(strchr(line, '\n') - line) + 1, f);
}
