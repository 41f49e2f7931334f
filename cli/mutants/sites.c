/* SPDX-License-Identifier: MIT
 *
 * Where the operators apply (mutants.h): a walk over clang's tree of a source.
 *
 * Places in macros are seen where the macro is called, or where its argument is written; what a
 * macro's own text says is not ours to change.  Constants of the language have no mutants, since a
 * switch there would not compile.
 */
#define _GNU_SOURCE
#include "cli/mutants/sites.h"

#include "cli/campaign/campaign.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

/* ---- files ------------------------------------------------------------------------------------
 */

static bool is_below(const char *path, const char *folder) {
    size_t n = strlen(folder);
    return strncmp(path, folder, n) == 0 && path[n] == '/';
}

static int own_file(struct site_walk *w, const char *path) {
    struct mutants *m = w->mutants;
    for (unsigned f = 0; f < m->n_files; f++)
        if (strcmp(m->files[f].path, path) == 0)
            return (int)f;
    bool own = false;
    for (unsigned i = 0; i < w->own->n; i++)
        own |= is_below(path, w->own->folder[i]);
    if (!own || m->n_files == MUTANT_FILES)
        return -1;
    struct text_file *f = &m->files[m->n_files];
    if (!(f->text = load_file(path, &f->size)))
        return -1;
    f->path = text_of("%s", path);
    f->name = strrchr(f->path, '/') + 1;
    return (int)m->n_files++;
}

static int file_of(struct site_walk *w, struct ast_text path) {
    if (path.length == w->looked.length && path.start &&
        memcmp(path.start, w->looked.start, path.length) == 0)
        return w->found;
    char *name = strndup(path.start ? path.start : "", path.length);
    char *full = name ? realpath(name, NULL) : NULL;
    w->looked = path;
    w->found = full ? own_file(w, full) : -1;
    free(full);
    free(name);
    return w->found;
}

/* ---- views ------------------------------------------------------------------------------------
 */

static bool same_call(const struct ast_node *n) {
    return n->begin.macro && n->end.macro && n->begin.called.offset == n->end.called.offset;
}

static bool make_view(struct site_walk *w, struct ast_text from, struct ast_text to, size_t start,
                      size_t end, struct site_view *v) {
    int file =
        from.length == to.length && from.length && memcmp(from.start, to.start, from.length) == 0
            ? file_of(w, from)
            : -1;
    if (file < 0 || start >= end || end > w->mutants->files[file].size)
        return false;
    *v = (struct site_view){(unsigned)file, start, end};
    return true;
}

static size_t end_of(struct site_walk *w, const struct ast_place *p) {
    int file = file_of(w, p->called.file);
    return p->macro ? file < 0 ? 0 : invocation_end(&w->mutants->files[file], p->called.offset)
                    : p->written.offset + p->written.length;
}

bool view_of(struct site_walk *w, const struct ast_node *n, struct site_view *v) {
    const struct ast_place *b = &n->begin, *e = &n->end;
    if (same_call(n))
        return b->argument && e->argument &&
               make_view(w, b->written.file, e->written.file, b->written.offset,
                         e->written.offset + e->written.length, v);
    return make_view(w, b->macro ? b->called.file : b->written.file,
                     e->macro ? e->called.file : e->written.file,
                     b->macro ? b->called.offset : b->written.offset, end_of(w, e), v);
}

bool view_of_macro(struct site_walk *w, const struct ast_node *n, struct site_view *v) {
    return same_call(n) && !n->begin.argument &&
           make_view(w, n->begin.called.file, n->end.called.file, n->begin.called.offset,
                     end_of(w, &n->end), v);
}

bool is_ours(struct site_walk *w, const struct ast_node *n) {
    struct ast_text file = n->begin.macro ? n->begin.called.file : n->begin.written.file;
    return file.length && file_of(w, file) >= 0;
}

void add_site(struct site_walk *w, const struct site_view *v, enum mutant_operator o, size_t at,
              const char *code, const char *after) {
    struct mutants *m = w->mutants;
    if (m->n == MUTANTS_MOST)
        return;
    if (m->n == m->room) {
        m->room = m->room ? 2 * m->room : 256;
        struct mutant *more = realloc(m->all, m->room * sizeof *more);
        if (!more)
            return;
        m->all = more;
    }
    const struct text_file *f = &m->files[v->file];
    set_bit(m->sees[w->source], v->file);
    m->all[m->n++] =
        (struct mutant){.file = v->file,
                        .start = v->start,
                        .end = v->end,
                        .line = line_of(f, at),
                        .op = o,
                        .whole = !code,
                        .function = strndup(w->function.start, w->function.length),
                        .code = flat_text(code ? code : "", 0, code ? strlen(code) : 0, SIZE_MAX),
                        .before = flat_text(f->text, v->start, v->end, MUTANT_TEXT),
                        .after = flat_text(after, 0, strlen(after), MUTANT_TEXT)};
}

/* ---- the walk ---------------------------------------------------------------------------------
 */

static void walk_tree(struct site_walk *w, const struct ast_node *n);

static bool is_call(const struct ast_node *n) {
    while (n->first && (n->kind == AST_CStyleCastExpr || n->kind == AST_ParenExpr))
        n = n->first;
    return n->kind == AST_CallExpr;
}

/* A statement that can be left out. */
static bool can_go(const struct ast_node *n, enum mutant_operator *o) {
    *o = OPERATOR_statement;
    switch (n->kind) {
    case AST_BreakStmt:
    case AST_ContinueStmt:
    case AST_GotoStmt:
        return true;
    case AST_ReturnStmt:
        return !n->first;
    case AST_CompoundAssignOperator:
        *o = OPERATOR_assignment;
        return true;
    case AST_BinaryOperator:
        *o = OPERATOR_assignment;
        return ast_is(n->opcode, "=");
    case AST_UnaryOperator:
        *o = OPERATOR_assignment;
        return ast_is(n->opcode, "++") || ast_is(n->opcode, "--");
    default:
        *o = OPERATOR_call;
        return is_call(n);
    }
}

/* A node where a statement stands. */
static void walk_statement(struct site_walk *w, const struct ast_node *n) {
    enum mutant_operator o;
    struct site_view v;
    if (can_go(n, &o) && is_ours(w, n)) {
        bool seen = view_of(w, n, &v);
        const struct text_file *f = seen ? &w->mutants->files[v.file] : NULL;
        size_t end = seen ? skip_blank(f, v.end, f->size) : 0;
        if (seen && end < f->size && f->text[end] == ';') {
            v.end = end + 1;
            add_site(w, &v, o, v.start, NULL, ";");
        } else {
            w->mutants->left_out.macros++;
        }
    }
    walk_tree(w, n);
}

/* Children one after the other; bit i of `statements` and `conditions`: what child i is. */
static void walk_children(struct site_walk *w, const struct ast_node *n, unsigned statements,
                          unsigned conditions) {
    unsigned i = 0;
    for (const struct ast_node *c = n->first; c; c = c->next, i++) {
        if (i < 8 && conditions >> i & 1)
            mutate_condition(w, c);
        if (n->kind == AST_CompoundStmt || (i < 8 && statements >> i & 1))
            walk_statement(w, c);
        else
            walk_tree(w, c);
    }
}

/* The last child is a statement, those before it are constants. */
static void walk_last(struct site_walk *w, const struct ast_node *n) {
    for (const struct ast_node *c = n->first; c; c = c->next)
        if (!c->next)
            walk_statement(w, c);
        else
            w->mutants->left_out.constants++;
}

static void mutate_node(struct site_walk *w, const struct ast_node *n) {
    if (n->kind == AST_BinaryOperator || n->kind == AST_CompoundAssignOperator)
        mutate_binary(w, n);
    else if (n->kind == AST_UnaryOperator)
        mutate_unary(w, n);
    else if (n->kind == AST_ReturnStmt)
        mutate_result(w, n);
    else if (n->kind == AST_IntegerLiteral)
        mutate_number(w, n);
}

/* What the language wants to know when it compiles. */
static bool is_constant_place(const struct ast_node *n) {
    switch (n->kind) {
    case AST_ConstantExpr:
    case AST_EnumDecl:
    case AST_RecordDecl:
    case AST_StaticAssertDecl:
    case AST_UnaryExprOrTypeTraitExpr:
    case AST_OffsetOfExpr:
    case AST_StmtExpr:
    case AST_GenericSelectionExpr:
        return true;
    case AST_VarDecl:
        return n->fixed;
    case AST_ImplicitCastExpr:
    case AST_CStyleCastExpr:
        return ast_is(n->cast, "NullToPointer");
    default:
        return false;
    }
}

static void walk_tree(struct site_walk *w, const struct ast_node *n) {
    if (is_constant_place(n)) {
        w->mutants->left_out.constants += is_ours(w, n);
        return;
    }
    mutate_node(w, n);
    switch (n->kind) {
    case AST_IfStmt:
        walk_children(w, n, 1u << 1 | 1u << 2, 1u << 0);
        break;
    case AST_WhileStmt:
        walk_children(w, n, 1u << 1, 1u << 0);
        break;
    case AST_DoStmt:
        walk_children(w, n, 1u << 0, 1u << 1);
        break;
    case AST_ForStmt: /* beginning, variable, condition, step, body */
        walk_children(w, n, 1u << 4, 1u << 2);
        break;
    case AST_ConditionalOperator:
        walk_children(w, n, 0, 1u << 0);
        break;
    case AST_SwitchStmt:
        walk_children(w, n, 1u << 1, 0);
        break;
    case AST_CaseStmt:
    case AST_DefaultStmt:
    case AST_LabelStmt:
        walk_last(w, n);
        break;
    default:
        walk_children(w, n, 0, 0);
    }
}

static void walk_function(struct site_walk *w, const struct ast_node *n) {
    for (const struct ast_node *c = n->first; c; c = c->next)
        if (c->kind == AST_CompoundStmt && is_ours(w, c)) {
            w->function = n->name;
            walk_tree(w, c);
        }
}

static void note_variable(struct mutants *m, const struct ast_node *n) {
    if (!n->has_init)
        return;
    if (ast_is(n->name, "isoheap_plugin"))
        m->exports = true;
    if (!ast_is(n->type, "const struct collector"))
        return;
    free(m->symbol);
    m->symbol = strndup(n->name.start, n->name.length);
}

bool find_sites(struct mutants *m, const struct own_folders *own, const struct ast *ast,
                unsigned source) {
    struct site_walk w = {.mutants = m, .own = own, .source = source, .found = -1};
    for (const struct ast_node *n = ast_root(ast)->first; n; n = n->next)
        if (n->kind == AST_FunctionDecl)
            walk_function(&w, n);
        else if (n->kind == AST_VarDecl)
            note_variable(m, n);
    if (m->n == MUTANTS_MOST)
        fprintf(stderr, "isoheap: the collector has more than %d mutants; give fewer sources\n",
                MUTANTS_MOST);
    return m->n < MUTANTS_MOST;
}

/* ---- order ------------------------------------------------------------------------------------
 */

static int order_of_sites(const void *first, const void *second) {
    const struct mutant *a = first, *b = second;
    if (a->file != b->file)
        return a->file < b->file ? -1 : 1;
    if (a->start != b->start)
        return a->start < b->start ? -1 : 1;
    if (a->end != b->end)
        return a->end > b->end ? -1 : 1;
    if (a->op != b->op)
        return a->op < b->op ? -1 : 1;
    return strcmp(a->code, b->code);
}

static void free_mutant(struct mutant *k) {
    free(k->function);
    free(k->code);
    free(k->before);
    free(k->after);
}

static bool look_alike(const struct mutant *a, const struct mutant *b) {
    return a->op == b->op && strcmp(a->function, b->function) == 0 &&
           strcmp(a->before, b->before) == 0 && strcmp(a->after, b->after) == 0;
}

/* A place that begins within another ends within it: one that does not is a macro's doing. */
static void drop_crossing(struct mutants *m) {
    for (unsigned k = 0; k < m->n; k++)
        for (unsigned in = k + 1;
             in < m->n && m->all[in].file == m->all[k].file && m->all[in].start < m->all[k].end;
             in++)
            m->all[in].dropped |= m->all[in].end > m->all[k].end;
}

void order_sites(struct mutants *m) {
    unsigned kept = 0;
    if (m->n)
        qsort(m->all, m->n, sizeof *m->all, order_of_sites);
    for (unsigned k = 0; k < m->n; k++)
        if (kept && order_of_sites(&m->all[kept - 1], &m->all[k]) == 0)
            free_mutant(&m->all[k]); /* of a header that several sources include */
        else
            m->all[kept++] = m->all[k];
    m->n = kept;
    drop_crossing(m);
    for (unsigned k = 0; k < m->n; k++) {
        m->all[k].ordinal = 1;
        for (unsigned other = 0; other < k; other++)
            m->all[k].ordinal += look_alike(&m->all[k], &m->all[other]);
    }
}

void forget_mutants(struct mutants *m) {
    for (unsigned k = 0; k < m->n; k++)
        free_mutant(&m->all[k]);
    for (unsigned f = 0; f < m->n_files; f++) {
        free(m->files[f].path);
        free(m->files[f].text);
    }
    free(m->all);
    free(m->symbol);
}
