/* SPDX-License-Identifier: MIT
 *
 * Which binary judges (cli.h).
 */
#define _GNU_SOURCE
#include "cli/cli.h"
#include "cli/plugin.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define PREFIX "fuzz_"
enum { HEADER = 4096 };

static const char *base_of(const char *path) {
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

static bool is_binary(const char *path) {
    struct stat info;
    return stat(path, &info) == 0 && S_ISREG(info.st_mode) && access(path, X_OK) == 0;
}

const char *target_collector(const char *path) {
    const char *name = base_of(path);
    if (strncmp(name, PREFIX, sizeof PREFIX - 1) != 0)
        return NULL;
    name += sizeof PREFIX - 1;
    if (strcmp(name, "reference") == 0)
        return DEFAULT_REFERENCE;
    return find_collector(name) ? name : NULL;
}

/* FOLDER/fuzz_NAME; of a plug-in NAME is that of its file.  malloc'ed; NULL: there is none. */
static char *target_in(const char *folder, size_t length, const struct collector *subject) {
    const char *plugin = plugin_path(subject), *name = plugin ? base_of(plugin) : subject->name;
    size_t n = strlen(name);
    char *path = NULL;
    if (plugin && n > 3 && strcmp(name + n - 3, ".so") == 0)
        n -= 3;
    if (asprintf(&path, "%.*s/" PREFIX "%.*s", (int)length, folder, (int)n, name) < 0)
        return NULL;
    if (is_binary(path))
        return path;
    free(path);
    return NULL;
}

/* ---- what was asked for -----------------------------------------------------------------------
 */

static bool take(struct job *job, const char *asked) {
    struct stat info;
    bool folder = stat(asked, &info) == 0 && S_ISDIR(info.st_mode);
    char *path = folder             ? target_in(asked, strlen(asked), job->subject)
                 : is_binary(asked) ? strdup(asked)
                                    : NULL;
    job->target = path ? realpath(path, NULL) : NULL; /* a replay line is for any folder */
    free(path);
    if (job->target)
        return true;
    fprintf(stderr, "isoheap: --target: %s\n",
            folder ? "there is no binary of the collector's fuzz target in that folder"
                   : "there is no such binary of a fuzz target");
    return false;
}

bool choose_target(struct job *job, const char *asked) {
    job->target_asked = asked != NULL;
    if (asked && strcmp(asked, "none") == 0)
        return true;
    if (asked && job->seconds == 0) {
        fprintf(stderr, "isoheap: --target and --in-process exclude each other\n");
        return false;
    }
    if (asked)
        return take(job, asked);
    const char *plugin = plugin_path(job->subject), *slash = plugin ? strrchr(plugin, '/') : NULL;
    if (slash)
        job->target = target_in(plugin, (size_t)(slash - plugin), job->subject);
    job->target_implied = job->target != NULL;
    return true;
}

/* ---- what a finding needs ---------------------------------------------------------------------
 */

/* "# violation sanitizer: ..." or "# violation: sanitizer", as reductions and campaigns write it.
 */
static bool names_sanitizer(const char *path) {
    char text[HEADER];
    FILE *file = strcmp(path, "-") == 0 ? NULL : fopen(path, "r");
    size_t n = file ? fread(text, 1, sizeof text - 1, file) : 0;
    if (file)
        fclose(file);
    text[n] = '\0';
    return strstr(text, "\n# violation sanitizer") || strstr(text, "\n# violation: sanitizer\n");
}

/* Beside this command, or where the builds of a checkout put them. */
static char *built_target(const struct collector *subject) {
    static const char *const folders[] = {"build/fuzz/bin", "build/known-bad/bin"};
    const char *own = own_folder();
    char *path = own[0] ? target_in(own, strlen(own), subject) : NULL;
    for (unsigned i = 0; !path && i < sizeof folders / sizeof *folders; i++)
        path = target_in(folders[i], strlen(folders[i]), subject);
    return path;
}

void choose_target_for(struct job *job, const char *file) {
    if (job->target_asked || job->target_implied || !job->subject || job->seconds == 0)
        return;
    free(job->target);
    job->target = names_sanitizer(file) ? built_target(job->subject) : NULL;
}

/* ---- with and without it ----------------------------------------------------------------------
 */

bool same_without_target(const struct job *job, const struct program *p, const struct verdict *v,
                         struct verdict *plain) {
    struct job own = job_unwatched(job);
    char *report;
    own.trial_ms = 1000 * job->seconds;
    *plain = run_job(&own, p, &report);
    free(report);
    return plain->harness_error == v->harness_error && plain->violation == v->violation &&
           plain->guilty == v->guilty;
}

void describe_without_target(const struct job *job, const struct program *p,
                             const struct verdict *v, char *out, size_t capacity) {
    struct verdict plain;
    out[0] = '\0';
    if (!job->target || !v->violation || program_is_large(p) ||
        same_without_target(job, p, v, &plain))
        return;
    snprintf(out, capacity, "only in the target %s: without it there is %s%s%s",
             quoted_path(job->target),
             plain.harness_error ? "a harness error"
             : plain.violation   ? "a violation "
                                 : "none",
             plain.violation ? violation_name(plain.violation) : "",
             plain.violation && plain.guilty != v->guilty ? " of the other party" : "");
}
