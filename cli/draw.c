/* SPDX-License-Identifier: MIT
 *
 * Heaps as Graphviz graphs (draw.h).
 *
 * A block is a table: name, tag and size in the head, one cell a field.  What no root reaches is
 * gray and dashed; the differing path is red.
 */
#define _GNU_SOURCE
#include "cli/draw.h"

#include <stdlib.h>
#include <string.h>

enum { PATH_MAX_STEPS = 64, FIELDS_SHOWN = 24 };

/* The path as numbers: a slot, then fields. */
struct path {
    unsigned slot; /* mutator * GC_SLOTS + slot */
    unsigned steps[PATH_MAX_STEPS];
    unsigned n;
    bool given;
};

static struct path read_path(const char *text) {
    struct path path = {.given = false};
    unsigned mutator = 0;
    char *rest;
    if (strncmp(text, "mutator ", 8) == 0) {
        mutator = (unsigned)strtoul(text + 8, &rest, 10);
        text = strchr(rest, 'r') ? strchr(rest, 'r') : "";
    }
    if (text[0] != 'r')
        return path;
    path.slot = mutator * GC_SLOTS + (unsigned)strtoul(text + 1, &rest, 10);
    path.given = true;
    while (*rest == '.' && path.n < PATH_MAX_STEPS && rest[1] >= '0' && rest[1] <= '9')
        path.steps[path.n++] = (unsigned)strtoul(rest + 1, &rest, 10);
    return path;
}

/* The field of block `index` that the path goes through, or -1. */
static long step_at(const struct snapshot *s, const struct path *path, size_t index) {
    if (!path->given || path->slot >= s->mutators * GC_SLOTS)
        return -1;
    struct snapshot_edge edge = snapshot_resolve(s, s->slots[path->slot]);
    for (unsigned i = 0; i < path->n && edge.block != SIZE_MAX; i++) {
        const struct snapshot_block *b = &s->blocks[edge.block];
        if (edge.block == index)
            return (long)path->steps[i];
        if (path->steps[i] >= b->wosize || path->steps[i] < b->first_scanned)
            break;
        edge = snapshot_resolve(s, b->fields[path->steps[i]]);
    }
    return -1;
}

static void draw_word(FILE *out, const struct snapshot *s, const struct snapshot_block *b,
                      size_t field) {
    word v = b->fields[field];
    if (field < b->first_scanned && b->tag == TAG_CLOSURE && header_tag(v) == TAG_INFIX)
        fprintf(out, "infix");
    else if (field < b->first_scanned && b->tag == TAG_CLOSURE)
        fprintf(out, is_immediate(v) ? "info" : "code");
    else if (field < b->first_scanned)
        fprintf(out, "0x%llx", (unsigned long long)v);
    else if (snapshot_resolve(s, v).pointer)
        fprintf(out, "%s", snapshot_resolve(s, v).block == SIZE_MAX ? "lost" : "&bull;");
    else if (is_immediate(v))
        fprintf(out, "%lld", (long long)immediate_value(v));
    else
        fprintf(out, "out");
}

static void draw_block(FILE *out, const struct snapshot *s, size_t index, const char *prefix,
                       long red) {
    static const char *const colours[] = {"white", "gray", "blue", "black"};
    const struct snapshot_block *b = &s->blocks[index];
    const char *ink = b->reachable ? "black" : "gray60";
    fprintf(out,
            "    %sb%zu [color=%s fontcolor=%s%s label=<<table border=\"0\" cellborder=\"1\" "
            "cellspacing=\"0\" cellpadding=\"4\"><tr><td colspan=\"%zu\" bgcolor=\"%s\">"
            "<b>%s</b> tag %u, %s",
            prefix, index, ink, ink, b->reachable ? "" : " style=dashed",
            b->wosize < FIELDS_SHOWN ? b->wosize ? b->wosize : 1 : FIELDS_SHOWN + 1,
            b->reachable ? "lightyellow" : "gray95", b->name[0] ? b->name : "?", b->tag,
            b->offset == SIZE_MAX && s->party != PARTY_MODEL ? "static" : colours[b->colour & 3]);
    if (b->offset != SIZE_MAX)
        fprintf(out, ", at %zu", b->offset);
    fprintf(out, "</td></tr><tr>");
    for (size_t f = 0; f < b->wosize && f < FIELDS_SHOWN; f++) {
        fprintf(out, "<td port=\"f%zu\"%s>", f,
                red == (long)f ? " bgcolor=\"#ff9999\" color=\"red\"" : "");
        draw_word(out, s, b, f);
        fprintf(out, "</td>");
    }
    if (b->wosize > FIELDS_SHOWN)
        fprintf(out, "<td>... %zu more</td>", b->wosize - FIELDS_SHOWN);
    fprintf(out, "</tr></table>>];\n");
}

static void draw_edge(FILE *out, const char *prefix, const char *from, size_t port,
                      struct snapshot_edge edge, bool red) {
    if (edge.block == SIZE_MAX)
        return;
    fprintf(out, "    %s%s:f%zu -> %sb%zu:f%zu%s;\n", prefix, from, port, prefix, edge.block,
            edge.offset, red ? " [color=red penwidth=2]" : "");
}

static void draw_roots(FILE *out, const struct snapshot *s, const char *prefix,
                       const struct path *path) {
    bool any = false;
    for (unsigned i = 0; i < s->mutators * GC_SLOTS; i++)
        any |= s->slots[i] != WORD_UNIT;
    if (!any)
        return;
    fprintf(out,
            "    %sroots [label=<<table border=\"0\" cellborder=\"1\" cellspacing=\"0\" "
            "cellpadding=\"4\">",
            prefix);
    for (unsigned i = 0; i < s->mutators * GC_SLOTS; i++) {
        if (s->slots[i] == WORD_UNIT)
            continue;
        struct snapshot_edge edge = snapshot_resolve(s, s->slots[i]);
        bool red = path->given && path->slot == i;
        fprintf(out, "<tr><td port=\"f%u\"%s>", i, red ? " bgcolor=\"#ff9999\" color=\"red\"" : "");
        if (i >= GC_SLOTS)
            fprintf(out, "%u: ", i / GC_SLOTS);
        fprintf(out, "r%u", i % GC_SLOTS);
        if (!edge.pointer && is_immediate(s->slots[i]))
            fprintf(out, " = %lld", (long long)immediate_value(s->slots[i]));
        else if (edge.block == SIZE_MAX)
            fprintf(out, edge.pointer ? " (lost)" : " (outside)");
        fprintf(out, "</td></tr>");
    }
    fprintf(out, "</table>>];\n");
    for (unsigned i = 0; i < s->mutators * GC_SLOTS; i++)
        draw_edge(out, prefix, "roots", i, snapshot_resolve(s, s->slots[i]),
                  path->given && path->slot == i);
}

void draw_cluster(FILE *out, const struct snapshot *s, const char *prefix, const char *title,
                  const char *path_text) {
    struct path path = read_path(path_text);
    fprintf(out, "  subgraph cluster_%s {\n    label=\"%s\";\n", prefix, title);
    draw_roots(out, s, prefix, &path);
    for (size_t i = 0; i < s->n_blocks; i++) {
        const struct snapshot_block *b = &s->blocks[i];
        if (b->extent != GC_LIVE)
            continue;
        long red = step_at(s, &path, i);
        char from[32];
        draw_block(out, s, i, prefix, red);
        snprintf(from, sizeof from, "b%zu", i);
        for (size_t f = b->first_scanned; f < b->wosize && f < FIELDS_SHOWN; f++)
            draw_edge(out, prefix, from, f, snapshot_resolve(s, b->fields[f]), red == (long)f);
    }
    fprintf(out, "    %snone [shape=point style=invis];\n  }\n", prefix);
}

void draw_begin(FILE *out, const char *title) {
    fprintf(out,
            "digraph isoheap {\n  label=\"%s\";\n  labelloc=t;\n  rankdir=LR;\n"
            "  fontname=\"sans-serif\";\n  node [shape=plaintext fontname=\"sans-serif\" "
            "fontsize=11];\n  edge [arrowsize=0.7];\n",
            title);
}

void draw_end(FILE *out) {
    fprintf(out, "}\n");
}
