/* SPDX-License-Identifier: MIT
 *
 * A finding of an engine becomes safe on disk; the queue (campaign.h).
 *
 * An input's name in the queue is its content's, followed by what would be forgotten if the
 * campaign were killed: hash,engine:NAME,seed:N,corpus:HASH,parent:ID,class:CLASS,at:WORD,how:WORD.
 * The queue is the folder, so the next campaign goes on with whatever lies there.
 */
#define _GNU_SOURCE
#include "cli/campaign/campaign.h"

#include "cli/descendants.h"
#include "harness/current_input.h"

#include <dirent.h>
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

/* Behind --time a finding may still be begun for two seconds, and has four; after an interrupt the
 * one at hand has one. */
enum { SETTLED_SECONDS = 1, BEGUN_WITHIN = 2, FILED_WITHIN = 4, AFTER_INTERRUPT = 1 };

/* ---- from found/ to queue/ --------------------------------------------------------------------
 */

/* Corpus files are named by their content, so their names are the corpus; in any order, since to
 * sort a hundred thousand names takes longer than to read them. */
static uint64_t corpus_digest(const struct target *t) {
    struct dirent *entry;
    uint64_t sum = 0;
    DIR *d = opendir(t->corpus);
    while (d && (entry = readdir(d)))
        if (entry->d_name[0] != '.')
            sum += content_hash(entry->d_name, strlen(entry->d_name));
    if (d)
        closedir(d);
    return sum;
}

/* AFL++ names the parent, as in id:000001,sig:06,src:000002,... */
static char *parent_of(const char *name) {
    const char *source = strstr(name, "src:");
    return source ? text_of(",parent:%.*s", (int)strcspn(source + 4, ","), source + 4)
                  : text_of("%s", "");
}

/* How sure it is that the input has failed, for the queue: ",how:late", ",how:interrupted" and
 * ",how:later", after another one in the same process, may be no failure at all. */
static const char *how_of(const char *name) {
    if (strncmp(name, "timeout-", 8) == 0 || strncmp(name, "slow-unit-", 10) == 0)
        return ",how:late";
    if (strncmp(name, "interrupted-", 12) == 0)
        return ",how:interrupted";
    if (strncmp(name, GO_ON_LATER "-", sizeof GO_ON_LATER) == 0)
        return ",how:later";
    return strncmp(name, "killed-", 7) == 0 ? ",how:killed" : "";
}

/* What its process said of it, for the order of the queue. */
static char *sort_said(const struct target *t, const char *hash) {
    struct finding f;
    char *said = what_was_said(t, hash);
    bool known = said && classify_said(t, said, &f);
    char *sort = known ? name_sort(f.violation, said) : text_of("%s", "");
    free(said);
    return sort;
}

bool was_taken_in(const struct target *t, const char *hash) {
    uint64_t content = strtoull(hash, NULL, 16);
    for (unsigned i = 0; i < TAKEN_MAX && i < t->n_taken; i++)
        if (t->taken[i] == content)
            return true;
    return false;
}

struct intake {
    struct target *target;
    bool all;
};

/* Is the content what libFuzzer's name for it says? */
static bool is_complete(const char *path, const char *name) {
    const char *dash = strrchr(name, '-');
    char content[41];
    size_t size;
    char *data = dash && strlen(dash + 1) == 40 ? load_file(path, &size) : NULL;
    if (data)
        name_by_sha1(data, size, content);
    bool complete = data && strcmp(content, dash + 1) == 0;
    free(data);
    return complete;
}

/* Engines write in place; what has just been touched may not be complete.  What we have put there
 * is (current.c, fuzz/go_on.c). */
static bool is_settled(const char *path, const char *name) {
    static const char *const ours[] = {"killed-", "interrupted-", GO_ON_FOUND "-", GO_ON_LATER "-"};
    struct stat info;
    for (unsigned i = 0; i < sizeof ours / sizeof *ours; i++)
        if (strncmp(name, ours[i], strlen(ours[i])) == 0)
            return true;
    return is_complete(path, name) ||
           (stat(path, &info) == 0 && time(NULL) - info.st_mtime > SETTLED_SECONDS);
}

struct content {
    const char *data;
    size_t size;
};

static void drop_same(const char *path, const char *name, void *context) {
    const struct content *c = context;
    struct stat info;
    size_t size;
    (void)name;
    if (stat(path, &info) != 0 || (size_t)info.st_size != c->size)
        return;
    char *data = load_file(path, &size);
    if (data && size == c->size && memcmp(data, c->data, size) == 0)
        unlink(path);
    free(data);
}

/* An input of the corpus that fails would end every reading of it.  libFuzzer names inputs by their
 * SHA-1; others are named by our own digest, or by somebody. */
static void drop_from_corpus(const struct intake *intake, const char *hash,
                             struct content content) {
    const struct target *t = intake->target;
    static const char *const folders[] = {"corpus", "engine/seeds", "engine/part", "engine/grown",
                                          "new"};
    char sha1[41];
    name_by_sha1(content.data, content.size, sha1);
    for (unsigned i = 0; i < sizeof folders / sizeof *folders; i++) {
        char *folder = text_of("%s/%s", t->work, folders[i]);
        char *theirs = text_of("%s/%s", folder, sha1);
        char *ours = text_of("%s/%s", folder, hash);
        if (unlink(theirs) != 0 && unlink(ours) != 0 && intake->all)
            visit_folder(folder, drop_same, &content);
        free(theirs);
        free(ours);
        free(folder);
    }
}

static void queue_file(const char *path, const char *name, void *context) {
    struct intake *intake = context;
    struct target *t = intake->target;
    char hash[17];
    size_t size;
    if (!intake->all && !is_settled(path, name))
        return;
    char *data = load_file(path, &size);
    if (!data)
        return;
    name_content(data, size, hash);
    if (strncmp(name, "interrupted-", 12) != 0)
        drop_from_corpus(intake, hash, (struct content){data, size});
    if (was_taken_in(t, hash)) { /* from another process, or again from a folder of inputs */
        unlink(path);
        free(data);
        return;
    }
    char *parent = parent_of(name), *sort = sort_said(t, hash);
    char *to = text_of("%s/queue/%s,engine:%s,seed:%u,corpus:%016llx%s%s%s", t->work, hash,
                       t->campaign->engine->name, t->campaign->seed,
                       (unsigned long long)corpus_digest(t), parent, sort, how_of(name));
    if (move_file(path, to)) {
        t->campaign->pending++;
        t->taken[t->n_taken++ % TAKEN_MAX] = strtoull(hash, NULL, 16);
    } else if (errno == ENOSPC || errno == EDQUOT) {
        t->campaign->disk_full = true;
    }
    free(to);
    free(sort);
    free(parent);
    free(data);
}

void take_in(struct target *t, bool all) {
    struct intake intake = {t, all};
    char *found = text_of("%s/found", t->work);
    visit_folder(found, queue_file, &intake);
    free(found);
}

void take_all(struct target *t) {
    take_in(t, true);
    take_current(t, true);
    take_in(t, true);
}

/* ---- from queue/ to the files -----------------------------------------------------------------
 */

static struct {
    pid_t child; /* 0: nobody works */
    int result;  /* read end of its pipe */
    struct target *target;
} worker;

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
        signal(SIGTERM, SIG_DFL);
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
    note_child(worker.child);
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
        filed->finding.violation, filed->finding.guilty, filed->path, quoted_path(t->work));
}

/* What did not fail again, with what was said of it the first time. */
static void note_flaky(struct target *t, const struct filed *filed) {
    struct tally *tally = tally_of(t, &filed->finding);
    tally->flaky++;
    say("%s: flaky violation %s (%s), which did not come again: %s", t->name, tally->violation,
        tally->guilty, quoted_path(filed->path));
    if (tally->flaky == 1 && t->subject)
        say("%s: does the collector keep something from one program to the next?  `isoheap "
            "conformance --only=repeats` looks for that",
            t->name);
}

static void note_filed(struct target *t, const struct filed *filed) {
    struct tally *tally = filed->finding.failed ? tally_of(t, &filed->finding) : NULL;
    switch (filed->how) {
    case FILED_NEW:
        tally->fresh++;
        say("%s: %snew violation %s%s (%s), %u operation%s, %u block%s: %s", t->name,
            wants_colour() ? "\033[1;31m" : "", tally->violation, wants_colour() ? "\033[0m" : "",
            tally->guilty, filed->operations, filed->operations == 1 ? "" : "s", filed->blocks,
            filed->blocks == 1 ? "" : "s", quoted_path(filed->path));
        break;
    case FILED_KNOWN:
        if (!tally->known++)
            say("%s: known violation %s (%s): %s", t->name, tally->violation, tally->guilty,
                quoted_path(filed->path));
        break;
    case FILED_MORE:
        tally->more++;
        break;
    case FILED_FLAKY:
        note_flaky(t, filed);
        break;
    case FILED_NOTHING:
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
    forget_child(worker.child);
    worker.child = 0;
    if (n == sizeof filed) {
        c->pending -= filed.how != FILED_NOT;
        note_filed(worker.target, &filed);
    } else {
        c->trouble = c->filing_ended = true;
        say("isoheap: a finding of %s could not be looked at; it stays in %s/queue",
            worker.target->name, quoted_path(worker.target->work));
    }
    return true;
}

static bool start_next(struct campaign *c) {
    struct target *t;
    char *input = next_in_queue(c, &t);
    bool started = input && start_worker(t, input);
    free(input);
    return started;
}

/* What it has not filed is in the queue still. */
static void end_worker(void) {
    kill(worker.child, SIGKILL);
    waitpid(worker.child, NULL, 0);
    forget_child(worker.child);
    end_orphans();
    close(worker.result);
    worker.child = 0;
}

bool work_on_queue(struct campaign *c) {
    static double interrupted;
    double now = seconds_now();
    if (campaign_interrupts && !(interrupted > 0))
        interrupted = now;
    bool late = c->end > 0 && now > c->end + FILED_WITHIN;
    bool unwanted =
        campaign_interrupts && (campaign_interrupts > 1 || now > interrupted + AFTER_INTERRUPT);
    if (worker.child && (unwanted || late))
        end_worker();
    if (worker.child && !worker_is_done(c))
        return true;
    /* the queue waits for the next campaign */
    if (c->filing_ended || campaign_interrupts || (c->end > 0 && now > c->end + BEGUN_WITHIN))
        return false;
    return start_next(c);
}
