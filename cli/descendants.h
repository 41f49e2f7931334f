/* SPDX-License-Identifier: MIT
 *
 * Nothing that a command starts outlives it (descendants.c).
 *
 * Subjects fork, engines give their targets sessions of their own, and whoever is killed leaves its
 * children behind.  A process that is a subreaper gets all of them, and can end them.
 */
#ifndef ISOHEAP_CLI_DESCENDANTS_H
#define ISOHEAP_CLI_DESCENDANTS_H

#include <stdbool.h>
#include <sys/types.h>

/* From now on orphans among our descendants become our children. */
void become_subreaper(void);
/* Kills all descendants, stopped ones too, and waits for them; for a subreaper.  Costs one system
 * call if there are none.  False if some are there still after five seconds. */
bool end_descendants(void);

/* Children that we want: told by their number when they start and when they have been waited for.
 */
void note_child(pid_t);
void forget_child(pid_t);
/* As end_descendants, of children that nobody noted: orphans that have come to us.  The statuses of
 * noted ones are left for who waits for them. */
void end_orphans(void);

/* ---- /proc ------------------------------------------------------------------------------------
 */

/* 'R' for one that runs or waits for a processor, 'S', 'T' and so on; 0: nobody knows. */
char proc_state(pid_t);
/* Seconds of processor time that it has used, without its children; 0 if it is no more. */
double proc_seconds(pid_t);
/* Of this process and all below it, those that were waited for included. */
double family_seconds(void);
/* Its direct children, where the system lists them: how many there are, `most` at most, and the
 * first, 0 without one; first may be NULL. */
unsigned proc_children(pid_t, unsigned most, pid_t *first);
/* All below it that live, likewise; it may be some more than `most`. */
unsigned proc_descendants(pid_t, unsigned most);

#endif
