/* SPDX-License-Identifier: MIT
 *
 * The page of isoheap show --html.
 */
#ifndef ISOHEAP_CLI_PAGE_H
#define ISOHEAP_CLI_PAGE_H

#include "cli/cli.h"

/* Runs the program, which came from `file`, and makes the page: malloc'ed, *size bytes; NULL after
 * a message.  *status is EXIT_OK, EXIT_USAGE (no Graphviz) or EXIT_HARNESS. */
char *make_page(struct job, const struct program *, const char *file, size_t *size, int *status);

/* The files of pictures/html, put into the command by the build. */
extern const char page_html[], page_css[], data_js[], draw_js[], page_js[];

#endif
