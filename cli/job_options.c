/* SPDX-License-Identifier: MIT
 *
 * The options of all subcommands that judge programs (job_options.h).
 */
#define _GNU_SOURCE
#include "cli/job_options.h"

#include "cli/plugin.h"

#include <stdlib.h>
#include <string.h>

enum { UNMASK = 3000, TARGET, STACK, SECONDS_MAX = 100000 };

static const struct argp_option subject_options[] = {
    {"collector", 'c', "NAME", 0, "the collector under test (default: mark_sweep, or the plug-in)",
     0},
    {0}};
static const struct argp_option judge_options[] = {
    {"reference", 'r', "NAME", 0,
     "the reference (default: " DEFAULT_REFERENCE "); none: the model alone", 0},
    {"oracles", 'O', "LIST", 0, "only these, a,b,c; or all but these, -a,-b", 0},
    {"unmask", UNMASK, "LIST", 0,
     "known defects of the collectors that are not steered around; all (default: ISOHEAP_UNMASK in "
     "the environment, else none)",
     0},
    {"target", TARGET, "BIN", 0,
     "judge in this binary of a fuzz target, sanitizers and all, or in the collector's in this "
     "folder; none (default: the one beside the plug-in)",
     0},
    {"stack", STACK, "KIB", 0,
     "the collector's functions run on a stack of so many KiB, at least 16: recursion that goes "
     "deeper is a crash; 0: on the ordinary one (default: 64 for collectors with the trait "
     "shallow, 0 "
     "for others)",
     0},
    {"timeout", 'T', "SECONDS", 0, "processor time for each run of a program (default: 10)", 0},
    {0}};

static error_t parse_subject(int key, char *argument, struct argp_state *state) {
    if (key != 'c')
        return ARGP_ERR_UNKNOWN;
    ((struct job_options *)state->input)->collector = argument;
    return 0;
}

static error_t parse_judge(int key, char *argument, struct argp_state *state) {
    struct job_options *o = state->input;
    switch (key) {
    case ARGP_KEY_INIT:
        o->job.unmask = getenv("ISOHEAP_UNMASK");
        return 0;
    case 'r':
        o->reference = argument;
        return 0;
    case 'O':
        o->job.oracles = choose_oracles(argument);
        if (!o->job.oracles)
            exit(EXIT_USAGE);
        return 0;
    case UNMASK:
        o->job.unmask = argument;
        o->job.unmask_asked = true;
        return 0;
    case TARGET:
        o->target = argument;
        return 0;
    case STACK:
        o->job.stack_kib = choose_number("--stack", argument, 0, STACK_KIB_MOST);
        o->job.ordinary_stack = o->job.stack_kib == 0;
        if (o->job.stack_kib && o->job.stack_kib < STACK_KIB_LEAST) {
            fprintf(stderr, "isoheap: --stack: at least %d, or 0 for the ordinary stack\n",
                    STACK_KIB_LEAST);
            exit(EXIT_USAGE);
        }
        return 0;
    case 'T':
        o->job.seconds = choose_number("--timeout", argument, 1, SECONDS_MAX);
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

static const struct argp subject_argp = {
    subject_options, parse_subject, NULL, NULL, NULL, NULL, NULL};
const struct argp judge_argp = {judge_options, parse_judge, NULL, NULL, NULL, NULL, NULL};
const struct argp_child job_children[] = {{&judge_argp, 0, NULL, 0},
                                          {&subject_argp, 0, NULL, 0},
                                          {&plugin_argp, 0, NULL, 0},
                                          {&bytes_argp, 0, NULL, 0},
                                          {0}};

void take_job_options(struct argp_state *state, const struct argp_child *children,
                      struct job_options *o) {
    for (unsigned i = 0; children[i].argp; i++)
        if (children[i].argp == &judge_argp || children[i].argp == &subject_argp)
            state->child_inputs[i] = o;
}

/* ---- what they mean ---------------------------------------------------------------------------
 */

static bool has_mask(const struct collector *c, const char *name, size_t length) {
    for (const struct gc_mask *m = c ? c->masks : NULL; m && m->name; m++)
        if (strlen(m->name) == length && strncmp(m->name, name, length) == 0)
            return true;
    return false;
}

static void list_masks(const struct collector *c) {
    for (const struct gc_mask *m = c ? c->masks : NULL; m && m->name; m++)
        fprintf(stderr, " %s", m->name);
}

/* The environment speaks of all commands and collectors, so nothing in it is wrong. */
bool knows_masks(const struct job *job) {
    for (const char *at = job->unmask_asked ? job->unmask : ""; *at; at += *at == ',') {
        size_t length = strcspn(at, ",");
        if (!(length == 3 && strncmp(at, "all", 3) == 0) && !has_mask(job->subject, at, length) &&
            !has_mask(job->reference, at, length)) {
            bool any = job->subject->masks || (job->reference && job->reference->masks);
            fprintf(stderr, "isoheap: --unmask: %s has no mask \"%.*s\"%s", job->subject->name,
                    (int)length, at, any ? "; there are:" : ", nor any other one");
            list_masks(job->subject);
            list_masks(job->reference);
            fprintf(stderr, "\n");
            return false;
        }
        at += length;
    }
    return true;
}

bool complete_judge(struct job_options *o) {
    return choose_reference(o->reference, &o->job.reference);
}

bool complete_job(struct job_options *o) {
    static char *name; /* the last one */
    if (!o->collector && o->target && !last_plugin())
        o->collector = target_collector(o->target);
    o->job.subject = choose_collector(o->collector);
    if (o->collector &&
        strchr(o->collector, '/')) { /* a seeded fault has the name of what it was */
        free(name);
        o->job.subject_name = name = strdup(quoted_path(o->collector));
    }
    return o->job.subject && complete_judge(o) && knows_masks(&o->job) &&
           choose_target(&o->job, o->target);
}
