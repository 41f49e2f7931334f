/* SPDX-License-Identifier: MIT
 *
 * A finding as a file: the program under a header that says what it shows (cli.h).
 */
#define _GNU_SOURCE
#include "cli/cli.h"

#include "cli/plugin.h"
#include "program/text/text.h"

#include <stdlib.h>
#include <string.h>

const char *guilty_name(const struct job *job, const struct verdict *v) {
    const struct collector *c = v->guilty == PARTY_REFERENCE ? job->reference : job->subject;
    return c ? c->name : "none";
}

/* The name under which the command of the header finds the program. */
static void replay_name(const char *output, char *name, size_t capacity) {
    const char *slash = strrchr(output, '/'), *base = slash ? slash + 1 : output;
    bool named = base[0] && strcmp(output, "-") != 0;
    snprintf(name, capacity, "%s", named ? base : "crash.txt");
}

/* "--plugin x.so --timeout=20 " */
static const char *first_options(const struct job *job) {
    static char text[8192];
    int n = snprintf(text, sizeof text, "%s", plugin_options());
    bool usual = job->seconds == 0 || job->seconds == RUN_SECONDS;
    if (!usual && n >= 0 && n < (int)sizeof text)
        n += snprintf(text + n, sizeof text - (size_t)n, "--timeout=%u ", job->seconds);
    if (job->target && !job->target_implied && n >= 0 && n < (int)sizeof text)
        snprintf(text + n, sizeof text - (size_t)n, "--target=%s ", quoted_path(job->target));
    return text;
}

struct runner_options job_runner(const struct job *job) {
    return (struct runner_options){.tight = true,
                                   .subject = job->subject,
                                   .reference = job->reference,
                                   .oracles = job->oracles,
                                   .unmask = job->unmask,
                                   .stack_kib = job->stack_kib,
                                   .ordinary_stack = job->ordinary_stack,
                                   .thorough = job->thorough,
                                   .replay = first_options(job),
                                   .subject_name = job->subject_name};
}

char *replay_command(const struct job *job, const char *file) {
    struct runner_options options = job_runner(job);
    size_t length = runner_replay(&options, NULL, 0);
    char *words = malloc(length + 1), *command = NULL;
    if (words && runner_replay(&options, words, length + 1) &&
        asprintf(&command, "isoheap run %s %s", words, quoted_path(file)) < 0)
        command = NULL;
    free(words);
    return command;
}

char *write_up(const struct job *job, const struct verdict *v, const struct program *p,
               const char *output, size_t *size) {
    size_t length = program_print(p, NULL, 0);
    char *text = malloc(length + 1), *out = NULL, *replay = NULL, name[256];
    FILE *f = NULL;
    replay_name(output, name, sizeof name);
    if (text && (replay = replay_command(job, name)))
        f = open_memstream(&out, size);
    if (f) {
        program_print(p, text, length + 1);
        size_t version = strcspn(text, "\n") + 1;
        fwrite(text, 1, version, f);
        bool named = v->violation == VIOLATION_sanitizer && v->found[0];
        fprintf(f, "# violation %s: %s%s%s%s\n", violation_name(v->violation), v->detail,
                named ? " (" : "", named ? v->found : "", named ? ")" : "");
        fprintf(f, "# guilty: %s (%s)\n", party_name(v->guilty), guilty_name(job, v));
        fprintf(f, "# replay: %s\n", replay);
        fputs(text + version, f);
    }
    free(text);
    free(replay);
    if (f && fclose(f) == 0)
        return out;
    free(out);
    return NULL;
}
