/* SPDX-License-Identifier: MIT
 *
 * clang's syntax tree, from its JSON (mutants.h).
 *
 * It is read from clang's dump, and not through libclang's C interface: that of clang 14 tells
 * neither which operator an expression has nor what is cast implicitly, and has the tree of its own
 * version instead of --clang's.
 *
 * A place's file is written only where it differs from the one before it in the text, so all places
 * are read in their order.  Nodes come from blocks that are freed together.
 */
#include "cli/mutants/mutants.h"

#include <stdlib.h>
#include <string.h>

enum { AST_DEPTH = 3000, AST_BLOCK = 4096 };

struct node_block {
    struct node_block *before;
    unsigned used;
    struct ast_node nodes[AST_BLOCK];
};

struct ast {
    const char *at, *end;
    const char *why;      /* what is wrong; NULL: nothing */
    struct ast_text file; /* of the last place */
    unsigned depth;
    struct node_block *blocks;
    struct ast_node *root;
};

bool ast_is(struct ast_text t, const char *text) {
    return strlen(text) == t.length && memcmp(t.start, text, t.length) == 0;
}

bool ast_has(struct ast_text t, const char *part) {
    size_t n = strlen(part);
    for (size_t i = 0; i + n <= t.length; i++)
        if (memcmp(t.start + i, part, n) == 0)
            return true;
    return false;
}

/* ---- JSON -------------------------------------------------------------------------------------
 */

static void ast_blank(struct ast *a) {
    while (a->at < a->end && (*a->at == ' ' || *a->at == '\n' || *a->at == '\t' || *a->at == '\r'))
        a->at++;
}

static bool ast_fail(struct ast *a, const char *why) {
    if (!a->why)
        a->why = why;
    a->at = a->end;
    return false;
}

static bool ast_take(struct ast *a, char c) {
    ast_blank(a);
    if (a->at < a->end && *a->at == c) {
        a->at++;
        return true;
    }
    return false;
}

static bool ast_want(struct ast *a, char c) {
    return ast_take(a, c) || ast_fail(a, "it is no JSON");
}

/* Escapes stay as they are: what we look for has none. */
static struct ast_text ast_string(struct ast *a) {
    struct ast_text t = {"", 0};
    if (!ast_want(a, '"'))
        return t;
    t.start = a->at;
    while (a->at < a->end && *a->at != '"')
        a->at += *a->at == '\\' && a->at + 1 < a->end ? 2 : 1;
    if (a->at >= a->end) {
        ast_fail(a, "it ends within a string");
        return (struct ast_text){"", 0};
    }
    t.length = (size_t)(a->at - t.start);
    a->at++;
    return t;
}

/* A number, true, false, null. */
static struct ast_text ast_word(struct ast *a) {
    ast_blank(a);
    struct ast_text t = {a->at, 0};
    while (a->at < a->end && !strchr(",]} \n\t\r", *a->at))
        a->at++;
    t.length = (size_t)(a->at - t.start);
    if (t.length == 0)
        ast_fail(a, "it is no JSON");
    return t;
}

static size_t ast_number(struct ast *a) {
    struct ast_text t = ast_word(a);
    size_t number = 0;
    for (size_t i = 0; i < t.length && t.start[i] >= '0' && t.start[i] <= '9'; i++)
        number = number * 10 + (size_t)(t.start[i] - '0');
    return number;
}

static bool ast_deeper(struct ast *a) {
    return ++a->depth < AST_DEPTH || ast_fail(a, "it is nested too deeply");
}

typedef void ast_member(struct ast *, struct ast_text key, void *context);

/* Calls member for each key of an object; it takes the value. */
static void ast_object(struct ast *a, ast_member *member, void *context) {
    if (!ast_want(a, '{') || !ast_deeper(a))
        return;
    while (!a->why && !ast_take(a, '}')) {
        struct ast_text key = ast_string(a);
        if (ast_want(a, ':'))
            member(a, key, context);
        ast_take(a, ',');
    }
    a->depth--;
}

static void ast_skip(struct ast *a);
static void skip_member(struct ast *a, struct ast_text key, void *context) {
    (void)key;
    (void)context;
    ast_skip(a);
}

static void ast_skip(struct ast *a) {
    ast_blank(a);
    char c = a->at < a->end ? *a->at : '\0';
    if (c == '{') {
        ast_object(a, skip_member, NULL);
    } else if (c == '[') {
        a->at++;
        if (!ast_deeper(a))
            return;
        while (!a->why && !ast_take(a, ']')) {
            ast_skip(a);
            ast_take(a, ',');
        }
        a->depth--;
    } else if (c == '"') {
        ast_string(a);
    } else {
        ast_word(a);
    }
}

/* ---- places -----------------------------------------------------------------------------------
 */

struct place_reader {
    struct ast_place *place;
    struct ast_spot *spot; /* of the object that is being read */
};

static void read_place_member(struct ast *a, struct ast_text key, void *context) {
    struct place_reader *r = context;
    struct place_reader inner = {r->place, &r->place->called};
    if (ast_is(key, "offset")) {
        r->spot->offset = ast_number(a);
        r->spot->file = a->file;
    } else if (ast_is(key, "file")) {
        r->spot->file = a->file = ast_string(a);
    } else if (ast_is(key, "tokLen")) {
        r->spot->length = ast_number(a);
    } else if (ast_is(key, "spellingLoc")) {
        inner.spot = &r->place->written;
        ast_object(a, read_place_member, &inner);
    } else if (ast_is(key, "expansionLoc")) {
        r->place->macro = true;
        ast_object(a, read_place_member, &inner);
    } else if (ast_is(key, "isMacroArgExpansion")) {
        r->place->argument = true;
        ast_skip(a);
    } else {
        ast_skip(a);
    }
}

static void read_place(struct ast *a, struct ast_place *place) {
    struct place_reader r = {place, &place->written};
    ast_object(a, read_place_member, &r);
}

static void read_range_member(struct ast *a, struct ast_text key, void *context) {
    struct ast_node *n = context;
    if (ast_is(key, "begin"))
        read_place(a, &n->begin);
    else if (ast_is(key, "end"))
        read_place(a, &n->end);
    else
        ast_skip(a);
}

/* ---- nodes ------------------------------------------------------------------------------------
 */

static enum ast_kind kind_named(struct ast_text t) {
    static const char *const names[] = {
#define X(kind) #kind,
        AST_KINDS(X)
#undef X
    };
    for (unsigned k = 0; k < sizeof names / sizeof *names; k++)
        if (ast_is(t, names[k]))
            return (enum ast_kind)(k + 1);
    return AST_other;
}

static struct ast_node *new_node(struct ast *a) {
    if (!a->blocks || a->blocks->used == AST_BLOCK) {
        struct node_block *b = malloc(sizeof *b);
        if (!b) {
            ast_fail(a, "there is no memory for it");
            return NULL;
        }
        b->before = a->blocks;
        b->used = 0;
        a->blocks = b;
    }
    struct ast_node *n = &a->blocks->nodes[a->blocks->used++];
    memset(n, 0, sizeof *n);
    return n;
}

static void read_type_member(struct ast *a, struct ast_text key, void *context) {
    struct ast_node *n = context;
    if (ast_is(key, "qualType"))
        n->type = ast_string(a);
    else if (ast_is(key, "desugaredQualType"))
        n->true_type = ast_string(a);
    else
        ast_skip(a);
}

static void read_reference_member(struct ast *a, struct ast_text key, void *context) {
    struct ast_node *n = context;
    if (ast_is(key, "kind"))
        n->refers = ast_string(a);
    else
        ast_skip(a);
}

static struct ast_node *read_node(struct ast *a);
static void read_children(struct ast *a, struct ast_node *n) {
    struct ast_node **last = &n->first;
    if (!ast_want(a, '['))
        return;
    while (!a->why && !ast_take(a, ']')) {
        if ((*last = read_node(a)))
            last = &(*last)->next;
        ast_take(a, ',');
    }
}

static void read_node_member(struct ast *a, struct ast_text key, void *context) {
    struct ast_node *n = context;
    if (ast_is(key, "kind"))
        n->kind = kind_named(ast_string(a));
    else if (ast_is(key, "range"))
        ast_object(a, read_range_member, n);
    else if (ast_is(key, "loc"))
        read_place(a, &n->at);
    else if (ast_is(key, "type"))
        ast_object(a, read_type_member, n);
    else if (ast_is(key, "name"))
        n->name = ast_string(a);
    else if (ast_is(key, "opcode"))
        n->opcode = ast_string(a);
    else if (ast_is(key, "castKind"))
        n->cast = ast_string(a);
    else if (ast_is(key, "isPostfix"))
        n->postfix = ast_is(ast_word(a), "true");
    else if (ast_is(key, "storageClass"))
        n->fixed = !ast_is(ast_string(a), "register");
    else if (ast_is(key, "init"))
        n->has_init = ast_string(a).length > 0;
    else if (ast_is(key, "referencedDecl"))
        ast_object(a, read_reference_member, n);
    else if (ast_is(key, "inner"))
        read_children(a, n);
    else
        ast_skip(a);
}

static struct ast_node *read_node(struct ast *a) {
    struct ast_node *n = new_node(a);
    if (n)
        ast_object(a, read_node_member, n);
    return n;
}

struct ast *ast_read(const char *json, size_t size, const char **why) {
    struct ast *a = calloc(1, sizeof *a);
    *why = "there is no memory for it";
    if (!a)
        return NULL;
    a->at = json;
    a->end = json + size;
    a->root = read_node(a);
    if (!a->why && !a->root->first)
        a->why = "it has no declarations";
    if (!a->why)
        return a;
    *why = a->why;
    ast_free(a);
    return NULL;
}

const struct ast_node *ast_root(const struct ast *a) {
    return a->root;
}

void ast_free(struct ast *a) {
    while (a && a->blocks) {
        struct node_block *b = a->blocks;
        a->blocks = b->before;
        free(b);
    }
    free(a);
}
