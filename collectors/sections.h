/* SPDX-License-Identifier: MIT
 *
 * The variables of a subject, saved once and put back for every program, so that a finding does not
 * depend on the programs before.
 *
 * For collectors that somebody else has written, with static variables that no reset knows.  In
 * `open`, before anything of the subject has run:
 *
 *     if (!sections_of_subject(&g->sections)) ...
 *
 * and in `reset` sections_put_back(&g->sections).  What stands in .data and .bss is put back, also
 * between the red zones of AddressSanitizer.  Not what the subject has from malloc (free it, or
 * give it an arena), thread-local variables, nor what libraries keep.  The struct itself must not
 * lie in variables that are put back: a `struct gc` from calloc is right, and `static struct gc *`
 * in one of those files is not.
 *
 * Which variables?  With the word SECTIONS in isoheap_add_target those of its SOURCES, in a plug-in
 * as in a fuzz target.  Without it those of the whole shared object, and in a program that is
 * linked as one there is no telling whose they are: sections_of_subject is false.
 */
#ifndef ISOHEAP_SECTIONS_H
#define ISOHEAP_SECTIONS_H

#include <stdbool.h>
#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

enum { SECTIONS = 8 };
struct sections {
    unsigned n;
    struct {
        char *start, *saved; /* saved NULL: all zero */
        size_t bytes;
    } of[SECTIONS];
};

/* Saves what stands there; false if there is no memory, or no room for one more. */
bool sections_add(struct sections *, void *start, void *stop);
/* Saves the variables of the shared object that has this address; false of the program itself. */
bool sections_add_object(struct sections *, const void *inside);
void sections_put_back(const struct sections *);
/* Frees what is saved. */
void sections_close(struct sections *);

/* The linker's; nowhere without SECTIONS. */
extern char __start_isoheap_data[] __attribute__((weak, visibility("hidden")));
extern char __stop_isoheap_data[] __attribute__((weak, visibility("hidden")));
extern char __start_isoheap_bss[] __attribute__((weak, visibility("hidden")));
extern char __stop_isoheap_bss[] __attribute__((weak, visibility("hidden")));

/* Those of the subject, as said above; *s is overwritten. */
static inline bool sections_of_subject(struct sections *s) {
    static char here; /* of this shared object */
    s->n = 0;
    if (!__start_isoheap_data && !__start_isoheap_bss)
        return sections_add_object(s, &here);
    return sections_add(s, __start_isoheap_data, __stop_isoheap_data) &&
           sections_add(s, __start_isoheap_bss, __stop_isoheap_bss);
}

#ifdef __cplusplus
}
#endif

#endif
