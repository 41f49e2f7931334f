/* SPDX-License-Identifier: MIT
 *
 * Reduces a finding and files it, once (campaign.h).
 *
 * Runs in a child of the campaign, one finding at a time.  One defect has one file: what is the
 * same defect is told in group.c.  The input goes away only when its reduced form is on the disk,
 * so a campaign that is killed at any moment does the work again and finds it done.
 */
#define _GNU_SOURCE
#include "cli/campaign/campaign.h"

#include "program/text/text.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { TEXT_MAX = 1 << 20 };

/* The collector that a finding is about: the target's, or of one with several the guilty one. */
static const char *subject_of(const struct target *t, const struct finding *f) {
    if (t->subject)
        return t->subject;
    return find_collector(f->guilty) ? f->guilty : NULL;
}

/* ---- reduction --------------------------------------------------------------------------------
 */

/* The reducer is our own subcommand, and its runs are the target's.  `option` is one more option,
 * or NULL.  True if it has written `output`. */
static bool reduce(const struct target *t, const char *subject, const char *input,
                   const char *output, const char *option) {
    const struct campaign *c = t->campaign;
    char *said, *runs = text_of("%u", c->reduce_runs), *time = text_of("%u", c->reduce_seconds);
    char *target = text_of("%s/target", t->work);
    char *argv[] = {"/proc/self/exe",
                    "reduce",
                    "--collector",
                    (char *)(uintptr_t)subject,
                    "--reference",
                    t->reference ? t->reference : "none",
                    "--target",
                    target,
                    "--runs",
                    runs,
                    "--time",
                    time,
                    "--output",
                    (char *)(uintptr_t)output,
                    (char *)(uintptr_t)input,
                    (char *)(uintptr_t)option, /* the last, for it may be none */
                    NULL};
    unlink(output);
    double patience = (double)c->reduce_seconds * REDUCE_WALL_FACTOR + 30;
    int status = run_command_for(NULL, argv, NULL, patience, &said);
    free(said);
    free(runs);
    free(time);
    free(target);
    return status == 0 && access(output, R_OK) == 0;
}

/* ---- what is written --------------------------------------------------------------------------
 */

/* The history of a finding as comments: the class, and what the name in the queue tells
 * (intake.c), "hash,key:value,key:value...", but for what was only for the order there. */
static char *history(const struct target *t, const char *name, const struct finding *f) {
    char *text = NULL;
    size_t size;
    FILE *out = open_memstream(&text, &size);
    if (!out)
        return text_of("");
    fprintf(out, "# violation: %s\n# guilty: %s\n# target: %s\n", f->violation, f->guilty, t->name);
    if (strcmp(f->message, "none") != 0)
        fprintf(out, "# message: %s\n", f->message);
    if (t->campaign->commit)
        fprintf(out, "# commit: %s\n", t->campaign->commit);
    fprintf(out, "# input: %.*s\n", (int)strcspn(name, ","), name);
    for (const char *at = strchr(name, ','); at; at = strchr(at, ',')) {
        size_t key = strcspn(++at, ":,"), value = strcspn(at, ",");
        bool order = strncmp(at, "class:", 6) == 0 || strncmp(at, "at:", 3) == 0;
        if (key < value && !order)
            fprintf(out, "# %.*s: %.*s\n", (int)key, at, (int)(value - key - 1), at + key + 1);
    }
    fclose(out);
    return text;
}

/* The program as text, its history behind the version line. */
static char *print_with(const struct program *p, const char *comments, size_t *size) {
    char *program = malloc(TEXT_MAX), *text = NULL;
    if (!program)
        return NULL;
    program_print(p, program, TEXT_MAX);
    size_t version = strcspn(program, "\n") + 1;
    text = text_of("%.*s%s%s", (int)version, program, comments, program + version);
    *size = strlen(text);
    free(program);
    return text;
}

static bool same_finding(const struct target *t, const char *path, const struct finding *f) {
    struct finding again;
    return classify(t, path, &again) && again.failed &&
           strcmp(again.violation, f->violation) == 0 && strcmp(again.guilty, f->guilty) == 0;
}

/* Takes the program of that file if it fails, as text, in the same way on the target's binary. */
static bool take_form(const struct target *t, const char *path, const struct finding *f,
                      const char *comments, struct form *form) {
    char *candidate = text_of("%s/engine/candidate.txt", t->work);
    bool good = load_finding(path, &form->program);
    if (good)
        form->text = print_with(&form->program, comments, &form->size);
    good = good && form->text && save_file(candidate, form->text, form->size) &&
           same_finding(t, candidate, f);
    unlink(candidate);
    free(candidate);
    if (good)
        return true;
    free(form->text);
    form->text = NULL;
    return false;
}

/* The smallest form at hand: the reduced program, the program, or the input as it is. */
static void find_form(const struct target *t, const char *input, const char *comments,
                      const struct finding *f, struct form *form) {
    char *reduced = text_of("%s/engine/reduced.txt", t->work);
    form->text = NULL;
    const char *subject = subject_of(t, f);
    if (!(subject && reduce(t, subject, input, reduced, NULL) &&
          take_form(t, reduced, f, comments, form)))
        take_form(t, input, f, comments, form);
    unlink(reduced);
    free(reduced);
}

/* The stack of a program that a sanitizer ends, in the file `path`: a symbolizer takes its time, so
 * it is asked once if what a finding comes down to is the finding. */
static const char *stack_of(const struct target *t, const struct program *p, const char *path) {
    static char stack[LINE_SIZE];
    static struct program last;
    static bool known;
    if (!known || !program_equal(&last, p))
        name_stack(t, path, stack, sizeof stack);
    last = *p;
    known = true;
    return stack;
}

/* The key of a program that raises the violation, and, of what a sanitizer sees, the functions in
 * which it does: `path` has the program. */
static uint64_t key_with_stack(const struct target *t, const struct finding *f,
                               const char *violation, const struct program *p, const char *path) {
    char text[2 * LINE_SIZE];
    bool crash = strncmp(violation, "sanitizer", 9) == 0;
    snprintf(text, sizeof text, "%s%s", crash ? stack_of(t, p, path) : "", violation);
    return finding_key(text, f->guilty, p);
}

/* "lost_object" of "# violation lost_object: ...", as the reducer writes it; of a crash all of the
 * line, in which the sanitizer's name for it stands. */
static bool read_violation(const char *path, char violation[LINE_SIZE]) {
    static const char before[] = "\n# violation ";
    size_t size;
    char *text = load_file(path, &size), *found = text ? strstr(text, before) : NULL;
    if (found) {
        found += sizeof before - 1;
        const char *end = strncmp(found, "sanitizer:", 10) == 0 ? "\n" : ":\n";
        snprintf(violation, LINE_SIZE, "%.*s", (int)strcspn(found, end), found);
    }
    free(text);
    return found != NULL;
}

/* The form's file in the work folder, and its keys. */
static bool save_candidate(const struct target *t, const struct finding *f, const struct form *form,
                           const char *path, struct cause *cause) {
    bool good = save_file(path, form->text, form->size);
    cause->plain_form = cause->plain_defect = finding_key(f->violation, f->guilty, &form->program);
    cause->form = cause->defect =
        good ? key_with_stack(t, f, f->violation, &form->program, path) : cause->plain_form;
    return good;
}

/* What the defect comes down to: the form, in the file `from`, once more reduced, to whatever the
 * same party breaks. */
static void find_cause(const struct target *t, const struct finding *f, const char *from,
                       struct cause *cause) {
    static struct program program;
    const char *subject = subject_of(t, f);
    if (!subject || strcmp(f->violation, "no_progress") == 0) /* each run would take its time */
        return;
    char *to = text_of("%s/engine/cause.txt", t->work), violation[LINE_SIZE];
    if (reduce(t, subject, from, to, "--any-violation") && load_finding(to, &program) &&
        read_violation(to, violation)) {
        cause->plain_defect = finding_key(violation, f->guilty, &program);
        cause->defect = key_with_stack(t, f, violation, &program, to);
    }
    unlink(to);
    free(to);
}

/* ---- filing -----------------------------------------------------------------------------------
 */

/* The command that replays the finding, as a comment, and that it needs the target's binary if it
 * does; "" where the target alone runs such an input. */
static char *replay_comment(const struct target *t, const struct finding *f, struct program *p,
                            const char *file) {
    const char *subject = subject_of(t, f);
    struct job job = {.subject = subject ? find_collector(subject) : NULL,
                      .subject_name = subject,
                      .reference = t->reference ? find_collector(t->reference) : NULL,
                      .seconds = RUN_SECONDS,
                      .trial_ms = 1000 * RUN_SECONDS,
                      .unmask = getenv("ISOHEAP_UNMASK")};
    struct verdict v;
    char *report;
    if (!job.subject)
        return text_of("");
    v = run_job(&job, p, &report);
    bool same = strcmp(violation_name(v.violation), f->violation) == 0 &&
                strcmp(guilty_name(&job, &v), f->guilty) == 0;
    if (!same) {
        choose_target(&job, NULL);
        job.target_implied = job.target && strcmp(job.target, t->binary) == 0;
        job.target = t->binary;
    }
    char *command = replay_command(&job, file);
    char *comment = text_of("# replay: %s\n%s", command ? command : "",
                            same ? "" : "# only in the target, with its sanitizers\n");
    free(command);
    return comment;
}

/* The text of the form, with that and its group behind its version line. */
static bool save_form(const struct target *t, const struct filed *filed, struct form *form,
                      const struct cause *cause) {
    const char *path = filed->path;
    char *comment = replay_comment(t, &filed->finding, &form->program, strrchr(path, '/') + 1);
    char *group = group_comments(&filed->finding, cause);
    size_t version = strcspn(form->text, "\n") + 1;
    char *text =
        text_of("%.*s%s%s%s", (int)version, form->text, comment, group, form->text + version);
    bool good = save_file(path, text, strlen(text));
    int why = errno;
    free(text);
    free(comment);
    free(group);
    errno = why;
    return good;
}

/* FOLDER/guilty-defect.txt; or, for what is no program, FOLDER/guilty-content and its .history. */
static bool write_form(const struct target *t, const char *folder, const char *input,
                       const char *comments, struct form *form, const struct cause *cause,
                       struct filed *filed) {
    size_t size;
    if (!make_folder(folder))
        return false;
    if (form->text) {
        snprintf(filed->path, PATH_SIZE, "%s/%s-%016" PRIx64 ".txt", folder, filed->finding.guilty,
                 cause->defect);
        return save_form(t, filed, form, cause);
    }
    char *data = load_file(input, &size), name[17];
    if (!data)
        return false;
    name_content(data, size, name);
    snprintf(filed->path, PATH_SIZE, "%s/%s-%s", folder, t->name, name);
    char *beside = text_of("%s.history", filed->path);
    bool good = save_file(filed->path, data, size) && save_file(beside, comments, strlen(comments));
    int why = errno;
    free(beside);
    free(data);
    errno = why;
    return good;
}

/* Files it as new, or counts it where its defect has a file. */
static bool file_program(const struct target *t, const char *folder, const char *input,
                         const char *comments, struct form *form, struct filed *filed) {
    const char *crashes = t->campaign->crashes;
    struct cause cause;
    char *from = text_of("%s/engine/form.txt", t->work);
    bool saved = save_candidate(t, &filed->finding, form, from, &cause);
    bool known = find_form_file(crashes, &filed->finding, &cause, filed->path);
    if (!known) {
        if (saved)
            find_cause(t, &filed->finding, from, &cause);
        known = find_defect_file(crashes, &filed->finding, &cause, filed->path);
    }
    unlink(from);
    free(from);
    filed->how = known ? FILED_KNOWN : FILED_NEW;
    return known ? count_in_file(filed->path, &filed->finding, cause.form, strrchr(input, '/') + 1)
                 : write_form(t, folder, input, comments, form, &cause, filed);
}

/* The input itself, which is no program. */
static bool file_input(const struct target *t, const char *folder, const char *input,
                       const char *comments, struct form *form, struct filed *filed) {
    bool known = find_message_file(folder, &filed->finding, filed->path);
    filed->how = known ? FILED_KNOWN : FILED_NEW;
    return known || write_form(t, folder, input, comments, form, NULL, filed);
}

static void file_form(const struct target *t, const char *input, const char *name,
                      struct filed *filed) {
    static struct form form;
    char *comments = history(t, name, &filed->finding);
    char *folder = text_of("%s/%s", t->campaign->crashes, filed->finding.violation);
    find_form(t, input, comments, &filed->finding, &form);
    bool good = form.text ? file_program(t, folder, input, comments, &form, filed)
                          : file_input(t, folder, input, comments, &form, filed);
    if (!good) {
        filed->how = FILED_NOT;
        filed->full = errno == ENOSPC || errno == EDQUOT || errno == EFBIG;
        snprintf(filed->path, PATH_SIZE, "%s: %s", folder, strerror(errno));
    }
    filed->operations = form.text ? form.program.n_ops : 0;
    filed->blocks = form.text ? program_named(&form.program) : 0;
    free(folder);
    free(form.text);
    free(comments);
}

/* Beyond --keep findings of one class and party the next ones cost more than they tell. */
static bool is_enough(const struct target *t, const struct finding *f) {
    const struct tally *tally = find_tally(t, f);
    return tally && tally->fresh + tally->known >= t->campaign->keep;
}

/* What was filed stays as the program's origin; what is known or more of the same goes. */
static void put_away(const struct target *t, const char *input, const char *name,
                     const struct filed *filed) {
    if (filed->how == FILED_NOT)
        return;
    if (filed->how == FILED_FLAKY) {
        rename(input, filed->path); /* if not, it waits in the queue */
        return;
    }
    char *to = text_of("%s/filed/%s", t->work, name);
    if (filed->how != FILED_NEW || !move_file(input, to))
        unlink(input); /* it is filed, or it did nothing */
    forget_said(t, name);
    free(to);
}

/* ---- what did not fail again ------------------------------------------------------------------
 */

/* On a busy machine a healthy input may be late, and who is ended while it runs has not failed;
 * what fails after another one in its process, and not alone, tells of that one.  A late one goes
 * back to where it came from. */
static bool is_nothing(const struct target *t, const char *input, const char *name,
                       const char *said) {
    bool later = strstr(name, ",how:later") || said_later(t, name);
    bool late = !later && strstr(name, ",how:late"), interrupted = strstr(name, ",how:interrupted");
    size_t size;
    char *data = late ? load_file(input, &size) : NULL;
    if (data)
        add_to_folder(t->corpus, data, size);
    free(data);
    return late || later || (interrupted && !said);
}

/* The class is that of what was said then; it is kept beside the input. */
static void file_flaky(const struct target *t, const char *input, const char *name,
                       struct filed *filed) {
    char *said = what_was_said(t, name);
    filed->how = is_nothing(t, input, name, said) ? FILED_NOTHING : FILED_FLAKY;
    if (filed->how == FILED_FLAKY) {
        snprintf(filed->path, PATH_SIZE, "%s/flaky/%s", t->work, name);
        if (!said || !classify_said(t, said, &filed->finding)) {
            snprintf(filed->finding.violation, NAME_SIZE, "unknown");
            snprintf(filed->finding.guilty, NAME_SIZE, "%s", t->subject ? t->subject : t->name);
        }
        char *beside = text_of("%s.txt", filed->path);
        if (said)
            save_file(beside, said, strlen(said));
        free(beside);
    }
    free(said);
}

void file_finding(const struct target *t, const char *input, struct filed *filed) {
    const char *name = strrchr(input, '/') + 1;
    *filed = (struct filed){.how = FILED_NOT};
    if (!classify(t, input, &filed->finding)) {
        snprintf(filed->path, PATH_SIZE, "%s cannot be run", t->binary);
        return;
    }
    if (!filed->finding.failed)
        file_flaky(t, input, name, filed);
    else if (is_enough(t, &filed->finding))
        filed->how = FILED_MORE;
    else
        file_form(t, input, name, filed);
    put_away(t, input, name, filed);
}
