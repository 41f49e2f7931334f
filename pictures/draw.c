/* SPDX-License-Identifier: MIT
 *
 * Heaps as Graphviz graphs (draw.h).
 *
 * A block is a table: name, tag, size and colour in the head, one cell a field.  What no root
 * reaches is gray and dashed; the differing path is red, and so is the head of the block at its
 * end.
 */
#define _GNU_SOURCE
#include "pictures/draw.h"

#include "harness/path.h"
#include "views/heap.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum { FIELDS_SHOWN = 24 };

#define TABLE    "<table border=\"0\" cellborder=\"1\" cellspacing=\"0\" cellpadding=\"4\">"
#define RED_CELL " bgcolor=\"#ff9999\" color=\"red\""
#define RED_EDGE " [color=red penwidth=2]"

/* A string in double quotes. */
static void draw_string(FILE *out, const char *text) {
    putc('"', out);
    for (; *text; text++) {
        if (*text == '"' || *text == '\\')
            putc('\\', out);
        putc(*text, out);
    }
    putc('"', out);
}

/* ---- blocks -----------------------------------------------------------------------------------
 */

/* A word that the program has written as an address, by its text, which begins with one & or two.
 */
static bool draw_address(FILE *out, const struct snapshot *s, word v) {
    char text[32];
    if (!snapshot_address(s, v, text, sizeof text))
        return false;
    for (const char *c = text; *c; c++)
        if (*c == '&')
            fputs("&amp;", out);
        else
            putc(*c, out);
    return true;
}

static void draw_word(FILE *out, const struct snapshot *s, const struct snapshot_block *b,
                      size_t field) {
    word v = b->fields[field];
    struct snapshot_edge edge = {.pointer = false};
    if (field >= b->first_scanned)
        edge = snapshot_resolve(s, v);
    if (!edge.pointer && draw_address(out, s, v))
        return;
    if (field < b->first_scanned && b->tag == TAG_CLOSURE && header_tag(v) == TAG_INFIX)
        fprintf(out, "infix");
    else if (field < b->first_scanned && b->tag == TAG_CLOSURE)
        fprintf(out, is_immediate(v) ? "info" : "code");
    else if (field < b->first_scanned)
        fprintf(out, "0x%" PRIx64, v);
    else if (edge.pointer)
        fprintf(out, edge.block == SIZE_MAX ? "lost" : "&bull;");
    else if (is_immediate(v))
        fprintf(out, "%" PRId64, immediate_value(v));
    else
        fprintf(out, "outside");
}

static const char *block_name(const struct snapshot_block *b) {
    return b->name[0] ? b->name : b->reachable ? "?" : "garbage";
}

static void draw_head(FILE *out, const struct snapshot *s, const struct snapshot_block *b,
                      struct mark mark) {
    size_t cells = b->wosize > FIELDS_SHOWN ? FIELDS_SHOWN + 1 : b->wosize ? b->wosize : 1;
    const char *ground = b->reachable ? " bgcolor=\"lightyellow\"" : " bgcolor=\"gray95\"";
    fprintf(out, "<tr><td port=\"head\" colspan=\"%zu\"%s><b>%s</b> tag %u, size %zu", cells,
            mark.end ? RED_CELL : ground, block_name(b), b->tag, b->wosize);
    if (s->party != PARTY_MODEL)
        fprintf(out, ", %s", b->offset == SIZE_MAX ? "static" : heap_colour(b->colour));
    if (b->offset != SIZE_MAX)
        fprintf(out, ", at %zu", b->offset);
    fprintf(out, "</td></tr>");
}

static void draw_block(FILE *out, const struct snapshot *s, size_t index, const char *prefix,
                       struct mark mark) {
    const struct snapshot_block *b = &s->blocks[index];
    const char *ink = b->reachable ? "black" : "gray60";
    fprintf(out, "    %sb%zu [color=%s fontcolor=%s%s label=<" TABLE, prefix, index, ink, ink,
            b->reachable ? "" : " shape=box style=dashed");
    draw_head(out, s, b, mark);
    if (b->wosize)
        fprintf(out, "<tr>");
    for (size_t f = 0; f < b->wosize && f < FIELDS_SHOWN; f++) {
        fprintf(out, "<td port=\"f%zu\"%s>", f, mark.field == (long)f ? RED_CELL : "");
        draw_word(out, s, b, f);
        fprintf(out, "</td>");
    }
    if (b->wosize > FIELDS_SHOWN)
        fprintf(out, "<td port=\"more\"%s>%zu more</td>",
                mark.field >= FIELDS_SHOWN ? RED_CELL : "", b->wosize - FIELDS_SHOWN);
    if (b->wosize)
        fprintf(out, "</tr>");
    fprintf(out, "</table>>];\n");
}

/* A field's edge; those of fields that are not shown leave from the cell that stands for them. */
static void draw_edge(FILE *out, const char *prefix, const char *from, const char *port,
                      struct snapshot_edge edge, bool red) {
    if (edge.block == SIZE_MAX)
        return;
    fprintf(out, "    %s%s:%s -> %sb%zu", prefix, from, port, prefix, edge.block);
    if (edge.offset)
        fprintf(out, ":f%zu", edge.offset);
    else
        fprintf(out, ":head");
    fprintf(out, "%s;\n", red ? RED_EDGE : "");
}

static void draw_fields(FILE *out, const struct snapshot *s, size_t index, const char *prefix,
                        struct mark mark) {
    const struct snapshot_block *b = &s->blocks[index];
    char from[32], port[32];
    snprintf(from, sizeof from, "b%zu", index);
    for (size_t f = b->first_scanned; f < b->wosize; f++) {
        if (f < FIELDS_SHOWN)
            snprintf(port, sizeof port, "f%zu", f);
        else
            snprintf(port, sizeof port, "more");
        draw_edge(out, prefix, from, port, snapshot_resolve(s, b->fields[f]),
                  mark.field == (long)f);
    }
}

/* ---- roots ------------------------------------------------------------------------------------
 */

/* Empty slots are not shown, and neither are the harness's own, unless they are the path. */
static bool shows_slot(const struct snapshot *s, const struct path *path, unsigned slot) {
    return (path->given && path->slot == slot) ||
           (s->slots[slot] != WORD_UNIT && slot % GC_SLOTS < PROGRAM_SLOTS);
}

static void draw_root(FILE *out, const struct snapshot *s, unsigned slot, bool red) {
    word v = s->slots[slot];
    struct snapshot_edge edge = snapshot_resolve(s, v);
    fprintf(out, "<tr><td port=\"f%u\"%s>", slot, red ? RED_CELL : "");
    if (slot >= GC_SLOTS)
        fprintf(out, "%u: ", slot / GC_SLOTS);
    fprintf(out, "r%u", slot % GC_SLOTS);
    if (is_immediate(v)) {
        fprintf(out, " = ");
        if (!draw_address(out, s, v))
            fprintf(out, "%" PRId64, immediate_value(v));
    } else if (edge.block == SIZE_MAX)
        fprintf(out, edge.pointer ? " (lost)" : " (outside)");
    fprintf(out, "</td></tr>");
}

static void draw_roots(FILE *out, const struct snapshot *s, const char *prefix,
                       const struct path *path) {
    unsigned shown = 0, slots = s->mutators * GC_SLOTS;
    for (unsigned i = 0; i < slots; i++) {
        if (!shows_slot(s, path, i))
            continue;
        if (!shown++)
            fprintf(out, "    %sroots [label=<" TABLE, prefix);
        draw_root(out, s, i, path->given && path->slot == i);
    }
    if (!shown)
        return;
    fprintf(out, "</table>>];\n");
    for (unsigned i = 0; i < slots; i++) {
        char port[16];
        snprintf(port, sizeof port, "f%u", i);
        if (shows_slot(s, path, i))
            draw_edge(out, prefix, "roots", port, snapshot_resolve(s, s->slots[i]),
                      path->given && path->slot == i);
    }
}

/* ---- the graph --------------------------------------------------------------------------------
 */

static void begin_cluster(FILE *out, const char *prefix, const char *title) {
    fprintf(out, "  subgraph cluster_%s {\n    label=", prefix);
    draw_string(out, title);
    fprintf(out, ";\n    %snone [shape=point style=invis];\n", prefix);
}

void draw_cluster(FILE *out, const struct snapshot *s, const char *prefix, const char *title,
                  const char *path_text) {
    struct path path = path_read(path_text);
    begin_cluster(out, prefix, title);
    draw_roots(out, s, prefix, &path);
    for (size_t i = 0; i < s->n_blocks; i++) {
        if (s->blocks[i].extent != GC_LIVE)
            continue;
        struct mark mark = path_mark(s, &path, i);
        draw_block(out, s, i, prefix, mark);
        draw_fields(out, s, i, prefix, mark);
    }
    fprintf(out, "  }\n");
}

void draw_absence(FILE *out, const char *prefix, const char *title, const char *why) {
    begin_cluster(out, prefix, title);
    fprintf(out, "    %swhy [label=", prefix);
    draw_string(out, why);
    fprintf(out, "];\n  }\n");
}

void draw_begin(FILE *out, const char *title) {
    fprintf(out, "digraph isoheap {\n  label=");
    draw_string(out, title);
    fprintf(out, ";\n  labelloc=t;\n  rankdir=LR;\n  fontname=\"sans-serif\";\n"
                 "  node [shape=plaintext fontname=\"sans-serif\" fontsize=11];\n"
                 "  edge [arrowsize=0.7];\n");
}

void draw_end(FILE *out) {
    fprintf(out, "}\n");
}
