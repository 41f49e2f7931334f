/* SPDX-License-Identifier: MIT
 *
 * A finding as a file: the program under a header that says what it shows (cli.h).
 */
#define _GNU_SOURCE
#include "cli/cli.h"

#include "cli/plugin.h"
#include "program/text/text.h"

#include <libgen.h>
#include <stdlib.h>
#include <string.h>

const char *guilty_name(const struct job *job, const struct verdict *v) {
    const struct collector *c = v->guilty == PARTY_REFERENCE ? job->reference : job->subject;
    return c ? c->name : "none";
}

/* The name under which the command of the header finds the program. */
static void replay_name(const char *output, char *name, size_t capacity) {
    char *copy = strdup(output);
    const char *base = copy ? basename(copy) : "-";
    bool plain = base[0] && base[0] != '-';
    for (const char *c = base; *c; c++)
        plain &= (*c >= 'a' && *c <= 'z') || (*c >= 'A' && *c <= 'Z') || (*c >= '0' && *c <= '9') ||
                 strchr("._-+,", *c) != NULL;
    snprintf(name, capacity, "%s", plain ? base : "crash.txt");
    free(copy);
}

char *write_up(const struct job *job, const char *oracles, const struct verdict *v,
               const struct program *p, const char *output, size_t *size) {
    size_t length = program_print(p, NULL, 0);
    char *text = malloc(length + 1), *out = NULL, name[256];
    FILE *f = text ? open_memstream(&out, size) : NULL;
    if (!f) {
        free(text);
        return NULL;
    }
    program_print(p, text, length + 1);
    replay_name(output, name, sizeof name);
    size_t version = strcspn(text, "\n") + 1;
    fwrite(text, 1, version, f);
    bool named = v->violation == VIOLATION_sanitizer && v->found[0];
    fprintf(f, "# violation %s: %s%s%s%s\n", violation_name(v->violation), v->detail,
            named ? " (" : "", named ? v->found : "", named ? ")" : "");
    fprintf(f, "# guilty: %s (%s)\n", party_name(v->guilty), guilty_name(job, v));
    fprintf(f, "# replay: isoheap run %s--collector %s --reference %s%s%s %s\n", plugin_options(),
            job->subject->name, job->reference ? job->reference->name : "none",
            oracles ? " --oracles=" : "", oracles ? oracles : "", name);
    fputs(text + version, f);
    free(text);
    if (fclose(f) == 0)
        return out;
    free(out);
    return NULL;
}
