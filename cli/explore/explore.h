/* SPDX-License-Identifier: MIT
 *
 * The two explorations: of all programs of a scope on a collector, and of all states of the model
 * of the on-the-fly collector.
 */
#ifndef ISOHEAP_EXPLORE_H
#define ISOHEAP_EXPLORE_H

#include "cli/cli.h"

/* argc and argv as for the subcommand. */
int explore_programs(int argc, char **argv);
int explore_schedules(int argc, char **argv);

#endif
