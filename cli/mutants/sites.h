/* SPDX-License-Identifier: MIT
 *
 * Between the walk over a tree (sites.c) and what it does at a node (operators.c).
 */
#ifndef ISOHEAP_MUTANT_SITES_H
#define ISOHEAP_MUTANT_SITES_H

#include "cli/mutants/mutants.h"

struct site_walk {
    struct mutants *mutants;
    const struct own_folders *own;
    unsigned source;
    struct ast_text function; /* in which it is */
    struct ast_text looked;   /* the last file that was looked for, and which it is */
    int found;                /* -1: none of ours */
};
/* A range of a file. */
struct site_view {
    unsigned file;
    size_t start, end;
};

/* ---- sites.c ---- */
/* Where a node is written; false: it comes out of a macro, or is not in a file of ours. */
bool view_of(struct site_walk *, const struct ast_node *, struct site_view *);
/* The call of the macro, if all of the node comes out of it. */
bool view_of_macro(struct site_walk *, const struct ast_node *, struct site_view *);
/* Is it in a file of ours, macros or not? */
bool is_ours(struct site_walk *, const struct ast_node *);
/* A mutant: `code` in the place of the view; `after` is the same for people; at: its operator. */
void add_site(struct site_walk *, const struct site_view *, enum mutant_operator, size_t at,
              const char *code, const char *after);

/* ---- operators.c ---- */
void mutate_binary(struct site_walk *, const struct ast_node *);
void mutate_unary(struct site_walk *, const struct ast_node *);
void mutate_number(struct site_walk *, const struct ast_node *);
/* A condition, or a result that is true or false. */
void mutate_condition(struct site_walk *, const struct ast_node *);
void mutate_result(struct site_walk *, const struct ast_node *);

#endif
