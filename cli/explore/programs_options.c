/* SPDX-License-Identifier: MIT
 *
 * The options that describe a scope (programs.h, docs/explore.md).
 */
#define _GNU_SOURCE
#include "cli/explore/programs.h"

#include <stdlib.h>
#include <string.h>

enum { ALLOCS = 2000, GAP_KINDS, MENU, MUTATORS, KINDS, OUTSIDE, ATOMS, ADDRESSES, ORDERS };
static const struct argp_option options[] = {
    {NULL, 0, NULL, 0, "The scope:", 1},
    {"blocks", 'b', "K", 0, "blocks of the initial heap, at most (default: 2)", 1},
    {"slots", 's', "N", 0, "root slots (default: 2)", 1},
    {"operations", 'n', "N", 0, "operations of the script, at most (default: 2)", 1},
    {"shapes", 'S', "LIST", 0,
     "blocks of the heap, of b1, b2.. (ordinary, so many fields), s1.. (string), c0.. (closure "
     "with an infix block), f0.. (closure without); b1:248 has tag 248 (default: b2,s1,c1)",
     1},
    {"allocs", ALLOCS, "LIST", 0, "blocks that the script allocates (default: as --shapes)", 1},
    {"gaps", 'g', "N", 0, "gaps between the blocks, at most (default: 1)", 1},
    {"gap-kinds", GAP_KINDS, "LIST", 0, "of: free, dead, fragment; none (default: all three)", 1},
    {"menu", MENU, "LIST", 0,
     "operations of the script, named as in docs/explore.md; all (default: alloc, closure, raw, "
     "load, store, drop, minor, full, compact, and slice and kind where the collector has them)",
     1},
    {"config", 'C', "KEY=LIST", 0,
     "values of a config key (default: heap=16 nursery=8 mark-stack=1 slice=1, all variants and "
     "kinds of the collector)",
     1},
    {"mutators", MUTATORS, "N", 0,
     "mutators of the script, which come and go with attach and detach in the menu (default: 1)",
     1},
    {"kinds", KINDS, "N", 0, "collector kinds that `kind` switches to (default: all)", 1},
    {"outside", OUTSIDE, NULL, 0, "fields and roots may point outside the heap too", 1},
    {"atoms", ATOMS, NULL, 0, "fields and roots may hold a block without fields too", 1},
    {"addresses", ADDRESSES, NULL, 0,
     "integers and raw words may be the address of a block, in the heap and in the script", 1},
    {"orders", ORDERS, NULL, 0,
     "tell programs apart that differ by the order of the blocks in the heap", 1},
    {0}};

static void parse_config(struct exploration *x, const char *argument, struct argp_state *state) {
    const char *equals = strchr(argument, '=');
    unsigned key = 0;
    while (equals && key < CONFIG_KEYS &&
           (strlen(config_ranges[key].name) != (size_t)(equals - argument) ||
            strncmp(config_ranges[key].name, argument, (size_t)(equals - argument)) != 0))
        key++;
    if (!equals || key == CONFIG_KEYS)
        argp_error(state, "--config takes KEY=VALUE,VALUE.. with a key of `isoheap list`, not %s",
                   argument);
    unsigned *n = &x->asked.n_values[key];
    char *list = strdup(equals + 1), *rest = list;
    *n = 0;
    for (char *number; list && (number = strsep(&rest, ","));) {
        unsigned value =
            choose_number("--config", number, config_ranges[key].min, scope_largest(key));
        if (*n == SCOPE_VALUES)
            argp_error(state, "--config takes at most %d values", SCOPE_VALUES);
        x->asked.values[key][(*n)++] = value;
    }
    free(list);
    x->own_variants |= key == CONFIG_VARIANT;
    x->own_kinds |= key == CONFIG_KIND;
}

static error_t parse_lists(int key, const char *argument, struct exploration *x,
                           struct argp_state *state) {
    struct scope *s = &x->asked;
    bool good = true;
    switch (key) {
    case 'S':
        good = scope_parse_shapes(argument, s->shapes, &s->n_shapes);
        break;
    case ALLOCS:
        good = scope_parse_shapes(argument, s->allocs, &s->n_allocs);
        break;
    case GAP_KINDS:
        good = scope_parse_gaps(argument, &s->gap_kinds);
        break;
    case MENU:
        good = scope_parse_codes(argument, &s->codes);
        x->own_menu = true;
        x->whole_menu = strcmp(argument, "all") == 0;
        break;
    case 'C':
        parse_config(x, argument, state);
        break;
    default:
        return ARGP_ERR_UNKNOWN;
    }
    if (!good)
        argp_error(state, "%s is not such a list; see `isoheap explore --help`", argument);
    return 0;
}

static error_t parse(int key, char *argument, struct argp_state *state) {
    struct exploration *x = state->input;
    struct scope *s = &x->asked;
    switch (key) {
    case ARGP_KEY_INIT:
        scope_initial(s);
        s->n_allocs = 0;
        s->kinds = 0;
        return 0;
    case 'b':
        s->blocks = choose_number("--blocks", argument, 0, SCOPE_BLOCKS);
        return 0;
    case 's':
        s->slots = choose_number("--slots", argument, 1, SCOPE_SLOTS);
        return 0;
    case 'n':
        s->ops = choose_number("--operations", argument, 0, SCOPE_OPS);
        return 0;
    case 'g':
        s->gaps = choose_number("--gaps", argument, 0, SCOPE_BLOCKS + 1);
        return 0;
    case MUTATORS:
        s->mutators = choose_number("--mutators", argument, 1, PROGRAM_MUTATORS);
        return 0;
    case KINDS:
        s->kinds = choose_number("--kinds", argument, 1, SCOPE_KINDS);
        return 0;
    case OUTSIDE:
        s->outside = true;
        return 0;
    case ATOMS:
        s->atoms = true;
        return 0;
    case ADDRESSES:
        s->addresses = true;
        return 0;
    case ORDERS:
        s->orders = true;
        return 0;
    default:
        return parse_lists(key, argument, x, state);
    }
}

const struct argp explore_scope_argp = {options, parse, NULL, NULL, NULL, NULL, NULL};

/* ---- what a collector has ---------------------------------------------------------------------
 */

static unsigned names(const char *const *list, unsigned most) {
    unsigned n = 0;
    while (list && n < most && list[n])
        n++;
    return n ? n : 1;
}

static void all_values(struct scope *s, enum config_key key, unsigned n) {
    s->n_values[key] = n;
    for (unsigned v = 0; v < n; v++)
        s->values[key][v] = (uint16_t)v;
}

void explore_scope_for(struct exploration *x, const struct collector *c) {
    struct scope *s = &x->scope;
    *s = x->asked;
    if (!s->n_allocs) {
        memcpy(s->allocs, s->shapes, sizeof s->allocs);
        s->n_allocs = s->n_shapes;
    }
    if (!x->own_variants)
        all_values(s, CONFIG_VARIANT, names(c->variants, SCOPE_VALUES));
    if (!x->own_kinds)
        all_values(s, CONFIG_KIND, names(c->kinds, SCOPE_VALUES));
    if (!s->kinds)
        s->kinds = names(c->kinds, SCOPE_KINDS);
    if (!x->own_menu && !c->step)
        s->codes &= ~(UINT64_C(1) << OP_SLICE);
    if (!x->own_menu && c->kinds && c->switch_kind)
        s->codes |= UINT64_C(1) << OP_KIND;
    if (!x->own_menu || x->whole_menu) /* what the scope says is what is in it */
        s->codes &= ~scope_missing(s);
}
