/* SPDX-License-Identifier: MIT
 *
 * What a shared object lacks (undefined.c).
 */
#ifndef ISOHEAP_CLI_UNDEFINED_H
#define ISOHEAP_CLI_UNDEFINED_H

/* The symbols that the shared object at this path needs, and that neither this process nor the
 * libraries that it names define: "2 symbols are defined nowhere: a, b", to be freed.  NULL if it
 * cannot be said: the file is no such object, lacks its section headers, or names a library that is
 * not found. */
char *undefined_symbols(const char *path);

#endif
