/* SPDX-License-Identifier: MIT
 *
 * isoheap explore: hands over to what explores a collector.  onthefly is a model with threads of
 * its own, explored state by state (schedules.c); every other one is a collector behind
 * collector.h, on which programs are run (programs.c).
 */
#include "cli/explore/explore.h"

#include <stdio.h>
#include <string.h>

/* A schedule that is replayed, or explored from, names no collector: its file does. */
static bool is_of_schedules(int argc, char **argv) {
    for (int i = 1; i < argc; i++)
        if (strcmp(argv[i], "onthefly") == 0 || strncmp(argv[i], "--replay", 8) == 0 ||
            strncmp(argv[i], "--from", 6) == 0)
            return true;
    return false;
}

static bool takes_plugin(int argc, char **argv) {
    for (int i = 1; i < argc; i++)
        if (strncmp(argv[i], "--plugin", 8) == 0)
            return true;
    return false;
}

int command_explore(int argc, char **argv) {
    if (is_of_schedules(argc, argv) && takes_plugin(argc, argv)) {
        fprintf(stderr, "isoheap: onthefly is a model with a collector of its own, and takes no "
                        "--plugin; `isoheap explore --plugin FILE` runs programs on a plug-in\n");
        return EXIT_USAGE;
    }
    return is_of_schedules(argc, argv) ? explore_schedules(argc, argv)
                                       : explore_programs(argc, argv);
}
