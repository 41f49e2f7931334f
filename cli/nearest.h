/* SPDX-License-Identifier: MIT
 *
 * What a mistyped name most likely means.
 */
#ifndef ISOHEAP_NEAREST_H
#define ISOHEAP_NEAREST_H

/* The names that there are: number n of them, NULL behind the last. */
typedef const char *name_list(unsigned n);

name_list command_names, collector_names, oracle_names, class_names, list_section_names;

/* The name that is at most two slips away from what was typed: letters too many, too few or wrong.
 * NULL if there is none. */
const char *nearest_name(const char *typed, name_list *);

/* "; did you mean NAME?", or "" if none is near.  For one message: the next call overwrites it. */
const char *did_you_mean(const char *typed, name_list *);

#endif
