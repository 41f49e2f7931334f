/* SPDX-License-Identifier: MIT
 *
 * A finding of an engine becomes safe on disk; the queue (campaign.h).
 *
 * An input's name in the queue is its content's, followed by what would be forgotten if the
 * campaign were killed: hash,engine:NAME,seed:N,corpus:HASH,parent:ID.  The queue is the folder, so
 * the next campaign goes on with whatever lies there.
 */
#define _GNU_SOURCE
#include "cli/campaign/campaign.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { SETTLED_SECONDS = 1 };

/* ---- from found/ to queue/ --------------------------------------------------------------------
 */

static void add_name(const char *path, const char *name, void *context) {
    uint64_t *hash = context;
    (void)path;
    for (const char *c = name; *c; c++)
        *hash = (*hash ^ (unsigned char)*c) * 0x100000001b3;
}

/* Corpus files are named by their content, so their names are the corpus. */
static uint64_t corpus_digest(const struct target *t) {
    uint64_t hash = 0xcbf29ce484222325;
    visit_folder(t->corpus, add_name, &hash);
    return hash;
}

/* AFL++ names the parent, as in id:000001,sig:06,src:000002,... */
static char *parent_of(const char *name) {
    const char *source = strstr(name, "src:");
    return source ? text_of(",parent:%.*s", (int)strcspn(source + 4, ","), source + 4)
                  : text_of("%s", "");
}

struct intake {
    struct target *target;
    bool all;
};

/* Engines write in place; what has just been touched may not be complete. */
static bool is_settled(const char *path) {
    struct stat info;
    return stat(path, &info) == 0 && time(NULL) - info.st_mtime > SETTLED_SECONDS;
}

/* An input of the corpus that fails would end every reading of it.  libFuzzer names inputs by their
 * SHA-1, in the corpus as in crash-SHA1; others are named by our own digest. */
static void drop_from_corpus(const struct target *t, const char *name, const char *hash) {
    const char *dash = strrchr(name, '-');
    char *theirs = text_of("%s/%s", t->corpus, dash ? dash + 1 : name);
    char *ours = text_of("%s/%s", t->corpus, hash);
    unlink(theirs);
    unlink(ours);
    free(theirs);
    free(ours);
}

static void queue_file(const char *path, const char *name, void *context) {
    struct intake *intake = context;
    struct target *t = intake->target;
    char hash[17];
    size_t size;
    if (!intake->all && !is_settled(path))
        return;
    char *data = load_file(path, &size);
    if (!data)
        return;
    name_content(data, size, hash);
    char *parent = parent_of(name);
    char *to = text_of("%s/queue/%s,engine:%s,seed:%u,corpus:%016llx%s", t->work, hash,
                       t->campaign->engine->name, t->campaign->seed,
                       (unsigned long long)corpus_digest(t), parent);
    if (move_file(path, to)) {
        t->campaign->pending++;
        drop_from_corpus(t, name, hash);
    } else if (errno == ENOSPC || errno == EDQUOT) {
        t->campaign->disk_full = true;
    }
    free(to);
    free(parent);
    free(data);
}

void take_in(struct target *t, bool all) {
    struct intake intake = {t, all};
    char *found = text_of("%s/found", t->work);
    visit_folder(found, queue_file, &intake);
    free(found);
}

/* ---- from queue/ to the files -----------------------------------------------------------------
 */

static struct {
    pid_t child; /* 0: nobody works */
    int result;  /* read end of its pipe */
    struct target *target;
} worker;

struct first {
    char *path;
};

static void take_first(const char *path, const char *name, void *context) {
    struct first *first = context;
    (void)name;
    if (!first->path)
        first->path = text_of("%s", path);
}

static char *first_in_queue(const struct target *t) {
    struct first first = {NULL};
    char *queue = text_of("%s/queue", t->work);
    visit_folder(queue, take_first, &first);
    free(queue);
    return first.path;
}

static bool start_worker(struct target *t, const char *input) {
    static struct filed filed;
    int result[2];
    pid_t campaign = getpid();
    fflush(NULL);
    if (pipe(result) != 0)
        return false;
    worker.child = fork();
    if (worker.child == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        signal(SIGINT, SIG_IGN); /* the campaign decides */
        if (getppid() != campaign)
            _exit(1);
        close(result[0]);
        file_finding(t, input, &filed);
        _exit(write(result[1], &filed, sizeof filed) == sizeof filed ? 0 : 1);
    }
    close(result[1]);
    if (worker.child < 0) {
        close(result[0]);
        worker.child = 0;
        return false;
    }
    worker.result = result[0];
    worker.target = t;
    return true;
}

const struct tally *find_tally(const struct target *t, const struct finding *f) {
    for (unsigned i = 0; i < t->n_tallies; i++)
        if (strcmp(t->tallies[i].violation, f->violation) == 0 &&
            strcmp(t->tallies[i].guilty, f->guilty) == 0)
            return &t->tallies[i];
    return NULL;
}

static struct tally *tally_of(struct target *t, const struct finding *f) {
    const struct tally *found = find_tally(t, f);
    if (found)
        return &t->tallies[found - t->tallies];
    struct tally *tally =
        &t->tallies[t->n_tallies < TALLIES_MAX ? t->n_tallies++ : TALLIES_MAX - 1];
    *tally = (struct tally){.fresh = 0};
    memcpy(tally->violation, f->violation, NAME_SIZE);
    memcpy(tally->guilty, f->guilty, NAME_SIZE);
    return tally;
}

static void could_not_file(struct target *t, const struct filed *filed) {
    struct campaign *c = t->campaign;
    if (filed->full)
        c->disk_full = true;
    else
        c->trouble = true;
    c->filing_ended = true;
    say("%s: violation %s (%s) could not be filed: %s; its input stays in %s/queue", t->name,
        filed->finding.violation, filed->finding.guilty, filed->path, t->work);
}

static void note_filed(struct target *t, const struct filed *filed) {
    struct tally *tally = filed->finding.failed ? tally_of(t, &filed->finding) : NULL;
    switch (filed->how) {
    case FILED_NEW:
        tally->fresh++;
        say("%s: %snew violation %s%s (%s), %u operation%s, %u block%s: %s", t->name,
            wants_colour() ? "\033[1;31m" : "", tally->violation, wants_colour() ? "\033[0m" : "",
            tally->guilty, filed->operations, filed->operations == 1 ? "" : "s", filed->blocks,
            filed->blocks == 1 ? "" : "s", filed->path);
        break;
    case FILED_KNOWN:
        if (!tally->known++)
            say("%s: known violation %s (%s): %s", t->name, tally->violation, tally->guilty,
                filed->path);
        break;
    case FILED_MORE:
        tally->more++;
        break;
    case FILED_FLAKY:
        t->flaky++;
        say("%s: an input failed once and then did not; it is in %s/flaky", t->name, t->work);
        break;
    case FILED_NOT:
        could_not_file(t, filed);
        break;
    }
}

/* True when it is done; its result is then noted. */
static bool worker_is_done(struct campaign *c) {
    static struct filed filed;
    int status;
    if (waitpid(worker.child, &status, WNOHANG) != worker.child)
        return false;
    ssize_t n = read(worker.result, &filed, sizeof filed);
    close(worker.result);
    worker.child = 0;
    if (n == sizeof filed) {
        c->pending -= filed.how != FILED_NOT;
        note_filed(worker.target, &filed);
    } else {
        c->trouble = c->filing_ended = true;
        say("isoheap: a finding of %s could not be looked at; it stays in %s/queue",
            worker.target->name, worker.target->work);
    }
    return true;
}

/* The next input, the targets taking turns by the order of their names. */
static bool start_next(struct campaign *c) {
    for (unsigned i = 0; i < c->n_targets; i++) {
        char *input = first_in_queue(&c->targets[i]);
        bool started = input && start_worker(&c->targets[i], input);
        free(input);
        if (started)
            return true;
    }
    return false;
}

bool work_on_queue(struct campaign *c) {
    if (worker.child && campaign_interrupts > 1) {
        kill(worker.child, SIGKILL);
        waitpid(worker.child, NULL, 0);
        close(worker.result);
        worker.child = 0;
    }
    if (worker.child && !worker_is_done(c))
        return true;
    if (c->filing_ended || campaign_interrupts) /* the queue waits for the next campaign */
        return false;
    return start_next(c);
}
