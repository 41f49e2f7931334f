/* SPDX-License-Identifier: MIT
 *
 * A file with all its mutants (mutants.h).  Where one is, the text asks for it by its number:
 *
 *   a < b        (isoheap_is(7) ? ((a) <= (b)) : (a < b))
 *   f(x);        { if (!isoheap_is(8)) f(x); }
 *
 * Lines stay where they were, so that what the compiler says of one can be understood.
 */
#define _GNU_SOURCE
#include "cli/mutants/mutants.h"

#include <stdlib.h>
#include <string.h>

struct rewriting {
    const struct mutants *mutants;
    const struct text_file *file;
    FILE *out;
};

static void write_range(struct rewriting *r, size_t from, size_t to, unsigned first, unsigned end);

static void write_text(struct rewriting *r, size_t from, size_t to) {
    fwrite(r->file->text + from, 1, to - from, r->out);
}

/* The mutants first..behind are of the same range; behind..end lie within it. */
static void write_place(struct rewriting *r, unsigned first, unsigned behind, unsigned end) {
    const struct mutant *all = r->mutants->all, *place = &all[first];
    fputs(place->whole ? "{ if (!(" : "(", r->out);
    for (unsigned k = first; k < behind; k++)
        if (!all[k].dropped && place->whole)
            fprintf(r->out, "isoheap_is(%u) | ", k + 1);
        else if (!all[k].dropped)
            fprintf(r->out, "isoheap_is(%u) ? (%s) : ", k + 1, all[k].code);
    fputs(place->whole ? "0)) " : "(", r->out);
    write_range(r, place->start, place->end, behind, end);
    fputs(place->whole ? " }" : "))", r->out);
}

static void write_range(struct rewriting *r, size_t from, size_t to, unsigned first, unsigned end) {
    const struct mutant *all = r->mutants->all;
    for (unsigned k = first; k < end;) {
        unsigned behind = k + 1, inner;
        if (all[k].dropped) {
            k++;
            continue;
        }
        while (behind < end && all[behind].start == all[k].start && all[behind].end == all[k].end)
            behind++;
        for (inner = behind; inner < end && all[inner].start < all[k].end;)
            inner++;
        write_text(r, from, all[k].start);
        write_place(r, k, behind, inner);
        from = all[k].end;
        k = inner;
    }
    write_text(r, from, to);
}

char *rewrite_file(const struct mutants *m, unsigned file) {
    char *text = NULL;
    size_t size;
    struct rewriting r = {m, &m->files[file], open_memstream(&text, &size)};
    unsigned first = 0, end;
    while (first < m->n && m->all[first].file < file)
        first++;
    for (end = first; end < m->n && m->all[end].file == file;)
        end++;
    if (!r.out)
        return NULL;
    write_range(&r, 0, r.file->size, first, end);
    return fclose(r.out) == 0 ? text : NULL;
}
