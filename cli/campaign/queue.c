/* SPDX-License-Identifier: MIT
 *
 * Which of the inputs that wait is looked at next (campaign.h).
 *
 * A campaign may end before it has looked at all of them, and a defect that comes with every other
 * input has most of the queue to itself.  So what has been looked at least goes first: by the class
 * of the violation, as its process told it, of one class by where that was, and of one place who
 * has surely failed.  Of inputs that nothing was said of, how they came is the class.
 *
 * Class and place stand in an input's name in the queue, so that the next campaign knows them too.
 */
#define _GNU_SOURCE
#include "cli/campaign/campaign.h"

#include "harness/current_input.h"

#include <stdlib.h>
#include <string.h>

enum { WORD_MOST = 32 }; /* a name of a file has room for 255 characters */

/* ---- what is said in a name -------------------------------------------------------------------
 */

/* The first word of a line that is no register or number: "r1 = alloc tag=0 [3]" is an alloc. */
static const char *first_word(const char *line, size_t *length) {
    static const char letters[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ-_";
    for (*length = 0; *line && *line != '\n'; line += *length ? *length : 1) {
        *length = strspn(line, letters);
        if (*length > 1)
            return line;
    }
    *length = 0;
    return line;
}

char *name_sort(const char *violation, const char *said) {
    static const char *const before[] = {"Sanitizer: ", "runtime error: ", "  operation  "};
    size_t length = 0;
    const char *place = NULL, *found = "";
    for (unsigned i = 0; !place && i < sizeof before / sizeof *before; i++)
        if ((place = strstr(said, before[i])))
            found = first_word(place + strlen(before[i]), &length);
    return text_of(",class:%s,at:%.*s", violation, (int)(length < WORD_MOST ? length : WORD_MOST),
                   found);
}

/* The part of a name from the key on, to the end of its value or that of the next key's. */
static uint64_t hash_from(const char *name, const char *key, const char *last) {
    const char *start = strstr(name, key), *end = start ? strstr(start, last) : NULL;
    if (!start)
        return content_hash("", 0);
    end = end ? end + strlen(last) : start;
    return content_hash(start, (size_t)(end - start) + strcspn(end, ","));
}

static struct sort sort_of(const char *name) {
    if (strstr(name, ",class:"))
        return (struct sort){hash_from(name, ",class:", ",class:"),
                             hash_from(name, ",class:", ",at:")};
    uint64_t how = hash_from(name, ",how:", ",how:");
    return (struct sort){how, how};
}

/* ---- the order --------------------------------------------------------------------------------
 */

struct rank {
    unsigned of_class, of_place; /* how many of those have been looked at */
    bool unsure;
};

static struct rank rank_of(const struct target *t, const char *name) {
    struct rank rank = {.unsure = strstr(name, ",how:") && !strstr(name, ",how:killed")};
    struct sort sort = sort_of(name);
    for (unsigned i = 0; i < t->n_begun && i < BEGUN_MAX; i++) {
        rank.of_class += t->begun[i].class == sort.class;
        rank.of_place += t->begun[i].class == sort.class && t->begun[i].place == sort.place;
    }
    return rank;
}

static bool is_before(struct rank a, struct rank b) {
    if (a.of_class != b.of_class)
        return a.of_class < b.of_class;
    if (a.of_place != b.of_place)
        return a.of_place < b.of_place;
    return a.unsure < b.unsure;
}

struct choice {
    struct target *at; /* whose queue is looked through */
    struct target *target;
    struct rank rank;
    char *path; /* NULL: none yet */
};

static void consider(const char *path, const char *name, void *context) {
    struct choice *c = context;
    struct rank rank = rank_of(c->at, name);
    if (c->path && !is_before(rank, c->rank))
        return;
    free(c->path);
    *c = (struct choice){c->at, c->at, rank, text_of("%s", path)};
}

char *next_in_queue(struct campaign *c, struct target **target) {
    struct choice choice = {.path = NULL};
    for (unsigned i = 0; i < c->n_targets; i++) {
        choice.at = &c->targets[i];
        char *queue = text_of("%s/queue", choice.at->work);
        visit_folder(queue, consider, &choice);
        free(queue);
    }
    *target = choice.target;
    if (choice.path)
        choice.target->begun[choice.target->n_begun++ % BEGUN_MAX] =
            sort_of(strrchr(choice.path, '/') + 1);
    return choice.path;
}
