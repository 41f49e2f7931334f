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

/* Is each file's content what its name says?  Else false, after a message. */
bool change_is_whole(const char *change);

/* Runs libFuzzer's merge into the new folder: of the sources, names in the work folder with NULL at
 * the end, what reaches something new; fewest: the fewest inputs that reach what all do.  Inputs
 * that fail go to the campaign's findings.  False after a message. */
bool merge_into_new(const struct target *, const char *const *sources, bool fewest);
/* What a folder, a name in the work folder, reaches.  Inputs that fail go from the corpus into the
 * queue.  False after a message. */
bool reach_of(struct target *, const char *folder, struct reach *);

#endif
