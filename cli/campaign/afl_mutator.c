/* SPDX-License-Identifier: MIT
 *
 * Where the structured mutator for AFL++ lies (campaign.h).
 */
#define _GNU_SOURCE
#include "cli/campaign/campaign.h"

#include "cli/plugin.h"

#include <dirent.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define MUTATOR "isoheap_afl_mutator.so"

static char *in_folder(const char *folder, const char *below) {
    char *path = text_of("%s/%s%s", folder, below, MUTATOR);
    if (access(path, R_OK) == 0)
        return path;
    free(path);
    return NULL;
}

/* PREFIX/lib/isoheap, or PREFIX/lib/x86_64-linux-gnu/isoheap, as distributions have it. */
static char *in_library(const char *library) {
    struct dirent *entry;
    char *found = in_folder(library, "isoheap/");
    DIR *d = found ? NULL : opendir(library);
    while (d && !found && (entry = readdir(d)))
        if (strstr(entry->d_name, "-linux-")) {
            char *folder = text_of("%s/%s", library, entry->d_name);
            found = in_folder(folder, "isoheap/");
            free(folder);
        }
    if (d)
        closedir(d);
    return found;
}

char *afl_mutator(const struct campaign *c) {
    const char *named = getenv("AFL_CUSTOM_MUTATOR_LIBRARY");
    const char *own = own_folder();
    char *found;
    if (named && named[0])
        found = text_of("%s", named);
    else
        found = in_folder(c->bin_dir, "");
    if (own[0] && !found) {
        char *library = text_of("%s/../lib", own), *library64 = text_of("%s/../lib64", own);
        found = in_folder(own, "");
        found = found ? found : in_library(library);
        found = found ? found : in_folder(library64, "isoheap/");
        free(library);
        free(library64);
    }
    return found;
}
