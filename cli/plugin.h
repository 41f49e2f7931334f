/* SPDX-License-Identifier: MIT
 *
 * Collectors from shared objects (plugin.c).
 */
#ifndef ISOHEAP_CLI_PLUGIN_H
#define ISOHEAP_CLI_PLUGIN_H

#include "cli/cli.h"

#include <argp.h>

/* --plugin=FILE, to be given to argp as children.  Ends the process with a message if a file is no
 * plug-in. */
extern const struct argp_child plugin_option[];
extern const struct argp plugin_argp; /* the same as a member of other children */
/* --bytes, the same (recognise.c). */
extern const struct argp_child bytes_option[];
extern const struct argp bytes_argp;

/* What has been loaded, NULL at the end. */
const struct collector *const *plugin_collectors(void);
/* The path of the last plug-in, or NULL. */
const char *last_plugin(void);
/* The path of the plug-in that has this collector, or NULL. */
const char *plugin_path(const struct collector *);
/* Loads a plug-in, by its absolute path, whose collector may have the name of another that is
 * there: it is not in the list.  *data is what it has under that symbol, or NULL.  NULL after a
 * message. */
const struct collector *load_copy(const char *path, const char *symbol, const void **data);
/* The folder of this command's binary; "": it is not known.  Valid until the next call. */
const char *own_folder(void);
/* The folder of the headers that a collector includes from, those that were installed with this
 * command or those of its checkout; "": they are not found. */
const char *plugin_headers(void);
/* What a subcommand tests if nobody says what: the last plug-in, else mark_sweep. */
const char *default_collector(void);
/* "--plugin FILE " for every plug-in, for commands that replay; "" without one. */
const char *plugin_options(void);

#endif
