/* SPDX-License-Identifier: MIT
 *
 * Which file a finding belongs to: one defect, one file (campaign.h).
 *
 * A defect shows itself in several classes and in many programs.  Each finding is reduced twice: to
 * the smallest program with the same violation, which is its form and what is filed; and from there
 * to whatever the same party breaks, which is what the defect comes down to.  Findings for which
 * that has the same class and the same shape (shape.c), and for a sanitizer the same stack
 * (stack.c), are of one defect.
 *
 * There is no index to be kept or lost: all is read from the comments of the files of
 * crashes/<class>/.  `defect` is the key of what it comes down to, `form` those of the forms in
 * which it was seen, `findings` how many there were, `also` which inputs the first ones after the
 * file's own were.  A file without them, put there by somebody,
 * has the keys of its own program and class.
 */
#define _GNU_SOURCE
#include "cli/campaign/campaign.h"

#include "views/violation.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* ---- files ------------------------------------------------------------------------------------
 */

struct search {
    const struct finding *finding;
    const char *violation; /* of the folder */
    const char *key;       /* "defect", "form" */
    uint64_t wanted, form; /* its value; of files that say nothing */
    char *found;           /* malloc'ed */
};

static bool says(const char *text, const char *key, const char *value) {
    char *line = text_of("\n# %s: %s", key, value), *found = strstr(text, line);
    size_t length = strlen(line);
    free(line);
    return found && (found[length] == '\n' || found[length] == ' ');
}

static bool names_guilty(const char *text, const char *name, const char *guilty) {
    size_t n = strlen(guilty);
    return (strncmp(name, guilty, n) == 0 && (name[n] == '.' || name[n] == '-')) ||
           says(text, "guilty", guilty);
}

/* Does the file's own program have that key in its folder's class? */
static bool is_of_form(const char *path, const struct search *s) {
    static struct program p;
    return load_finding(path, &p) && finding_key(s->violation, s->finding->guilty, &p) == s->form;
}

static void compare_program(const char *path, const char *name, void *context) {
    struct search *s = context;
    size_t size;
    char *text = s->found || !ends_in(name, ".txt") ? NULL : load_file(path, &size);
    char *value = text_of("%016" PRIx64, s->wanted);
    if (text && names_guilty(text, name, s->finding->guilty) &&
        (says(text, s->key, value) || (!strstr(text, "\n# defect: ") && is_of_form(path, s))))
        s->found = text_of("%s", path);
    free(value);
    free(text);
}

static bool take_path(struct search *s, char path[PATH_SIZE]) {
    bool found = s->found;
    if (found)
        snprintf(path, PATH_SIZE, "%s", s->found);
    free(s->found);
    return found;
}

/* In the folders of all classes: the first one that has it. */
static bool search_all(const char *crashes, struct search *s, char path[PATH_SIZE]) {
#define X(name, ...) #name,
    static const char *const classes[] = {VIOLATION_CLASSES(X) "harness_error"};
#undef X
    for (unsigned c = 0; c < sizeof classes / sizeof *classes && !s->found; c++) {
        char *folder = text_of("%s/%s", crashes, classes[c]);
        s->violation = classes[c];
        visit_folder(folder, compare_program, s);
        free(folder);
    }
    return take_path(s, path);
}

bool find_form_file(const char *crashes, const struct finding *f, const struct cause *cause,
                    char path[PATH_SIZE]) {
    struct search s = {
        .finding = f, .key = "form", .wanted = cause->form, .form = cause->plain_form};
    return search_all(crashes, &s, path);
}

bool find_defect_file(const char *crashes, const struct finding *f, const struct cause *cause,
                      char path[PATH_SIZE]) {
    struct search s = {
        .finding = f, .key = "defect", .wanted = cause->defect, .form = cause->plain_defect};
    return search_all(crashes, &s, path);
}

static void compare_message(const char *path, const char *name, void *context) {
    struct search *s = context;
    size_t size;
    char *text = s->found || !ends_in(name, ".history") ? NULL : load_file(path, &size);
    const char *message = s->finding->message;
    if (text && names_guilty(text, name, s->finding->guilty) &&
        (strcmp(message, "none") == 0 || says(text, "message", message)))
        s->found = text_of("%s", path);
    free(text);
}

bool find_message_file(const char *folder, const struct finding *f, char path[PATH_SIZE]) {
    struct search s = {.finding = f};
    visit_folder(folder, compare_message, &s);
    return take_path(&s, path);
}

/* ---- what a file says of its group ------------------------------------------------------------
 */

enum { FORMS_MOST = 64, ALSO_MOST = 64 };

static char *form_line(const struct finding *f, uint64_t form) {
    return text_of("# form: %016" PRIx64 " %s\n", form, f->violation);
}

char *group_comments(const struct finding *f, const struct cause *cause) {
    char *form = form_line(f, cause->form);
    char *text = text_of("# defect: %016" PRIx64 "\n# findings: 1\n%s", cause->defect, form);
    free(form);
    return text;
}

static unsigned count_lines(const char *text, const char *start) {
    unsigned n = 0;
    while ((text = strstr(text, start))) {
        text++;
        n++;
    }
    return n;
}

bool count_in_file(const char *path, const struct finding *f, uint64_t form, const char *input) {
    static const char count[] = "\n# findings: ";
    size_t size;
    char *text = load_file(path, &size), *at = text ? strstr(text, count) : NULL, *rest = NULL;
    unsigned long n = at ? strtoul(at + sizeof count - 1, &rest, 10) : 0;
    if (!at || *rest != '\n') {
        free(text);
        return true;
    }
    char *value = text_of("%016" PRIx64, form);
    bool fresh = !says(text, "form", value) && count_lines(text, "\n# form: ") < FORMS_MOST;
    char *line = fresh ? form_line(f, form) : text_of("%s", "");
    char *also = count_lines(text, "\n# also: ") < ALSO_MOST
                     ? text_of("# also: %.*s\n", (int)strcspn(input, ","), input)
                     : text_of("%s", "");
    char *changed =
        text_of("%.*s%s%lu\n%s%s%s", (int)(at - text), text, count, n + 1, line, also, rest + 1);
    bool good = save_file(path, changed, strlen(changed));
    int why = errno;
    free(changed);
    free(also);
    free(line);
    free(value);
    free(text);
    errno = why;
    return good;
}
