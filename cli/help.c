/* SPDX-License-Identifier: MIT
 *
 * isoheap help.
 */
#include "cli/cli.h"

int command_help(int argc, char **argv) {
    (void)argc;
    (void)argv;
    print_overview(stdout);
    return EXIT_OK;
}
