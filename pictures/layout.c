/* SPDX-License-Identifier: MIT
 *
 * One layout for all pictures of a page (layout.h).
 *
 * Every state of every party is drawn at the same places: what differs then stands out, and a block
 * stays where it is when the slider moves.  Graphviz gets the union of all blocks and edges once
 * and answers in its plain form; an edge is told by its colour, which is its number.
 */
#define _GNU_SOURCE
#include "pictures/layout.h"

#include "pictures/escape.h"
#include "pictures/graphviz.h"

#include <stdlib.h>
#include <string.h>

enum {
    MOST_NODES = 640, /* what Graphviz does in seconds */
    NEAR_NODES = 60,
    MOST_EDGES = 1000,
    CURVES = 120, /* nodes; with more of them edges are straight, which is much faster */
    CELL_HEIGHT = 36,
    ROOT_HEIGHT = 24
};

struct chosen {
    bool node[STATES_NODES], edge[STATES_EDGES];
    unsigned nodes, edges;
    unsigned most; /* nodes that may be chosen */
};

bool layout_is_large(const struct states *s) {
    return s->n_nodes > CURVES;
}

/* ---- what is drawn ----------------------------------------------------------------------------
 */

static void choose_node(struct chosen *c, const struct states *s, unsigned node, uint16_t *queue,
                        unsigned *end) {
    if (c->node[node] || c->nodes == c->most)
        return;
    if (layout_is_large(s) && !s->nodes[node].reached)
        return;
    c->node[node] = true;
    c->nodes++;
    queue[(*end)++] = (uint16_t)node;
}

static void choose_neighbours(struct chosen *c, const struct states *s, unsigned node,
                              uint16_t *queue, unsigned *end) {
    for (unsigned e = 0; e < s->n_edges; e++) {
        if (s->edges[e].from == node)
            choose_node(c, s, s->edges[e].to, queue, end);
        if (s->edges[e].to == node)
            choose_node(c, s, s->edges[e].from, queue, end);
    }
}

/* Garbage is in small graphs only.  Breadth first along edges in both directions: from the path,
 * and if all are wanted then from every node in turn. */
static void choose(struct chosen *c, const struct states *s, const char *start, bool near) {
    static uint16_t queue[STATES_NODES];
    unsigned end = 0, done = 0;
    for (unsigned i = 0; i < s->n_nodes; i++)
        if (s->nodes[i].on_path || strcmp(s->nodes[i].key, start) == 0)
            choose_node(c, s, i, queue, &end);
    for (unsigned on_path = end; done < on_path; done++)
        choose_neighbours(c, s, queue[done], queue, &end);
    for (unsigned next = 0; !near && next < s->n_nodes && c->nodes < c->most; next++) {
        for (; done < end; done++)
            choose_neighbours(c, s, queue[done], queue, &end);
        choose_node(c, s, next, queue, &end);
    }
    for (unsigned e = 0; e < s->n_edges; e++)
        if (c->node[s->edges[e].from] && c->node[s->edges[e].to]) {
            c->edge[e] = true;
            c->edges++;
        }
}

/* As many nodes as Graphviz can do with the edges between them. */
static void choose_enough(struct chosen *c, const struct states *s, const char *start, bool near) {
    unsigned most = near ? NEAR_NODES : MOST_NODES;
    do {
        *c = (struct chosen){.most = most};
        choose(c, s, start, near);
        most = most * 3 / 4;
    } while (c->edges > MOST_EDGES);
}

/* ---- to Graphviz ------------------------------------------------------------------------------
 */

static void put_cell(FILE *out, const char *port, unsigned number, unsigned width, bool is_root) {
    fprintf(out, "<td port=\"%s%u\" width=\"%u\" height=\"%d\" fixedsize=\"true\"></td>", port,
            number, width, is_root ? ROOT_HEIGHT : CELL_HEIGHT);
}

static void put_node(FILE *out, const struct states *s, unsigned number) {
    const struct states_node *n = &s->nodes[number];
    fprintf(out,
            "n%u [label=<<table border=\"0\" cellborder=\"0\" cellspacing=\"0\" cellpadding=\"0\">"
            "<tr>",
            number);
    put_cell(out, "h", 0, n->head, n->is_root);
    for (unsigned f = 0; f < n->cells && f < STATES_FIELDS; f++)
        put_cell(out, "f", f, n->width[f], false);
    fprintf(out, "</tr></table>>];\n");
}

static void put_edge(FILE *out, const struct states *s, unsigned number) {
    const struct states_edge *e = &s->edges[number];
    bool from_root = s->nodes[e->from].is_root;
    fprintf(out, "n%u:%s%u:s -> n%u:", e->from, from_root ? "h" : "f", from_root ? 0 : e->field,
            e->to);
    if (e->offset && e->offset < s->nodes[e->to].cells)
        fprintf(out, "f%u", e->offset);
    else
        fprintf(out, "h0");
    fprintf(out, ":n [color=\"#%06x\"];\n", number);
}

static char *as_dot(const struct states *s, const struct chosen *c, size_t *size) {
    char *dot = NULL;
    FILE *out = open_memstream(&dot, size);
    if (!out)
        return NULL;
    fprintf(out,
            "digraph isoheap {\nnodesep=0.3; ranksep=0.5; %s;\n"
            "node [shape=plaintext margin=0]; edge [arrowhead=none];\n",
            c->nodes > CURVES
                ? "nslimit=0.5; nslimit1=0.5; mclimit=0.01; searchsize=10; splines=line"
                : "splines=true");
    for (unsigned i = 0; i < s->n_nodes; i++)
        if (c->node[i])
            put_node(out, s, i);
    for (unsigned i = 0; i < s->n_edges; i++)
        if (c->edge[i])
            put_edge(out, s, i);
    fprintf(out, "}\n");
    return fclose(out) == 0 ? dot : NULL;
}

/* ---- and back ---------------------------------------------------------------------------------
 */

/* What Graphviz says, by number; pointers into its answer, NULL for what it did not say. */
struct plain {
    double width, height;
    double x[STATES_NODES], y[STATES_NODES];
    bool placed[STATES_NODES];
    const char *edge[STATES_EDGES]; /* behind the number of points */
    unsigned points[STATES_EDGES];
};

static double number(const char **at) {
    char *end;
    double value = strtod(*at, &end);
    *at = end;
    return value;
}

static void read_node(struct plain *p, const char *at, unsigned n_nodes) {
    unsigned long i = strtoul(at, (char **)&at, 10);
    if (i >= n_nodes)
        return;
    p->x[i] = number(&at);
    p->y[i] = number(&at);
    p->placed[i] = true;
}

/* "n0 n48 4 x y x y x y x y solid #000007" */
static void read_edge(struct plain *p, const char *line, const char *end, unsigned n_edges) {
    const char *colour = memrchr(line, ' ', (size_t)(end - line));
    const char *at = strchr(line, ' ');
    if (!colour || colour[1] != '#' || !at || !(at = strchr(at + 1, ' ')))
        return;
    unsigned long i = strtoul(colour + 2, NULL, 16);
    unsigned long points = strtoul(at, (char **)&at, 10);
    if (i >= n_edges || points > 1000)
        return;
    p->edge[i] = at;
    p->points[i] = (unsigned)points;
}

/* Graphviz breaks long lines with a backslash. */
static void join_lines(char *text) {
    for (char *at = text; (at = strstr(at, "\\\n"));)
        at[0] = at[1] = ' ';
}

static void read_plain(struct plain *p, const struct states *s, char *text) {
    join_lines(text);
    for (char *line = text, *end; *line && (end = strchr(line, '\n')); line = end + 1) {
        *end = 0;
        const char *at = line + 6;
        if (strncmp(line, "graph ", 6) == 0) {
            number(&at); /* scale */
            p->width = number(&at);
            p->height = number(&at);
        } else if (strncmp(line, "node n", 6) == 0) {
            read_node(p, at, s->n_nodes);
        } else if (strncmp(line, "edge n", 6) == 0) {
            read_edge(p, line + 5, end, s->n_edges);
        }
    }
}

static long points_of(double inches) {
    return (long)(inches * 72 + 0.5);
}

static void write_nodes(FILE *out, const struct states *s, const struct plain *p) {
    fprintf(out, ",\"nodes\":[");
    for (unsigned i = 0; i < s->n_nodes; i++) {
        const struct states_node *n = &s->nodes[i];
        fprintf(out, "%s[", i ? ",\n" : "");
        put_json(out, n->key);
        fprintf(out, ",%d", n->is_root);
        if (p->placed[i]) {
            fprintf(out, ",%ld,%ld,%u,[", points_of(p->x[i]), points_of(p->height - p->y[i]),
                    n->head);
            for (unsigned f = 0; f < n->cells && f < STATES_FIELDS; f++)
                fprintf(out, "%s%u", f ? "," : "", n->width[f]);
            fprintf(out, "]");
        }
        fprintf(out, "]");
    }
    fprintf(out, "]");
}

static void write_edges(FILE *out, const struct states *s, const struct plain *p) {
    bool any = false;
    fprintf(out, ",\"edges\":[");
    for (unsigned i = 0; i < s->n_edges; i++) {
        const struct states_edge *e = &s->edges[i];
        const char *at = p->edge[i];
        if (!at)
            continue;
        fprintf(out, "%s[%u,%u,%u,%u,[", any ? ",\n" : "", e->from, e->field, e->to, e->offset);
        for (unsigned k = 0; k < p->points[i]; k++) {
            double x = number(&at), y = number(&at);
            fprintf(out, "%s%ld,%ld", k ? "," : "", points_of(x), points_of(p->height - y));
        }
        fprintf(out, "]]");
        any = true;
    }
    fprintf(out, "]");
}

bool write_layout(FILE *out, const struct states *s, const char *start, bool near) {
    static struct chosen chosen;
    static struct plain plain;
    memset(&plain, 0, sizeof plain);
    size_t dot_size = 0, size = 0;
    choose_enough(&chosen, s, start, near);
    char *dot = as_dot(s, &chosen, &dot_size);
    char *text = dot ? lay_out(dot, dot_size, "-Tplain", &size) : NULL;
    free(dot);
    if (!text)
        return false;
    read_plain(&plain, s, text);
    fprintf(out, "{\"width\":%ld,\"height\":%ld,\"left_out\":%u", points_of(plain.width),
            points_of(plain.height), s->n_nodes - chosen.nodes);
    write_nodes(out, s, &plain);
    write_edges(out, s, &plain);
    fprintf(out, "}");
    free(text);
    return true;
}
