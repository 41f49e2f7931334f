/* SPDX-License-Identifier: MIT
 *
 * isoheap corpus.
 */
#include "cli/cli.h"

int command_corpus(int argc, char **argv) {
    (void)argc;
    (void)argv;
    return EXIT_OK;
}
