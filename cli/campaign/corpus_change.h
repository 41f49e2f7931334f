/* SPDX-License-Identifier: MIT
 *
 * A corpus changes as a whole or not at all (corpus_change.c).
 */
#ifndef ISOHEAP_CORPUS_CHANGE_H
#define ISOHEAP_CORPUS_CHANGE_H

#include "cli/campaign/campaign.h"

/* Files and bytes of a folder. */
struct extent {
    unsigned files;
    uint64_t bytes;
};
struct extent extent_of(const char *folder);

/* A new folder for the corpus `folder`/`target`, malloc'ed; with the files that the corpus has, if
 * keep says so.  NULL after a message. */
char *begin_change(const char *folder, const char *target, bool keep);
/* Puts the new folder in the corpus's place, in one step, and frees its name.  False after a
 * message; the corpus is then what it was. */
bool commit_change(const char *folder, const char *target, char *change);
/* Leaves the corpus as it is. */
void drop_change(char *change);

/* Runs libFuzzer's merge into `change`: of the sources, what reaches something new; all: the
 * fewest inputs that reach what all do.  Inputs that fail go to the campaign's findings.  False
 * after a message. */
bool merge_into(const char *change, const struct target *, char *const *sources, unsigned n,
                bool fewest);

#endif
