/* SPDX-License-Identifier: MIT
 *
 * Nothing that a command starts outlives it (descendants.h).
 *
 * A killed process gives its children to us, so killing our own children again and again reaches
 * every generation.  A child's process group goes first: one signal to a group is one step for the
 * system, and none of its members can fork past it.
 */
#define _GNU_SOURCE
#include "cli/descendants.h"

#include <dirent.h>
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { NOTED_MAX = 1024, ROUNDS = 2500 /* of two milliseconds */ };

static pid_t noted[NOTED_MAX];
static unsigned n_noted;

void become_subreaper(void) {
    prctl(PR_SET_CHILD_SUBREAPER, 1);
}

void note_child(pid_t child) {
    if (n_noted < NOTED_MAX)
        noted[n_noted++] = child;
}

void forget_child(pid_t child) {
    for (unsigned i = 0; i < n_noted; i++)
        if (noted[i] == child)
            noted[i--] = noted[--n_noted];
}

static bool is_noted(pid_t child) {
    for (unsigned i = 0; i < n_noted; i++)
        if (noted[i] == child)
            return true;
    return false;
}

enum { STAT_SIZE = 512 };

/* /proc/N/stat is "N (NAME) STATE PARENT ...", and NAME may be anything: what stands behind it;
 * NULL if the process is no more. */
static const char *read_stat(pid_t process, char text[STAT_SIZE]) {
    snprintf(text, STAT_SIZE, "/proc/%ld/stat", (long)process);
    FILE *file = fopen(text, "r");
    size_t n = file ? fread(text, 1, STAT_SIZE - 1, file) : 0;
    if (file)
        fclose(file);
    text[n] = '\0';
    const char *end = strrchr(text, ')');
    return end ? end + 1 : NULL;
}

char proc_state(pid_t process) {
    char text[STAT_SIZE], state;
    const char *stat = read_stat(process, text);
    return stat && sscanf(stat, " %c", &state) == 1 ? state : 0;
}

static pid_t proc_parent(pid_t process) {
    char text[STAT_SIZE];
    int parent;
    const char *stat = read_stat(process, text);
    return stat && sscanf(stat, " %*c %d", &parent) == 1 ? (pid_t)parent : 0;
}

double proc_seconds(pid_t process) {
    clockid_t clock;
    struct timespec t = {0};
    if (clock_getcpuclockid(process, &clock) != 0 || clock_gettime(clock, &t) != 0)
        return 0;
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

/* The numbers of its direct children; NULL where the system does not list them. */
static FILE *open_children(pid_t process) {
    char path[64];
    snprintf(path, sizeof path, "/proc/%ld/task/%ld/children", (long)process, (long)process);
    return fopen(path, "r");
}

unsigned proc_children(pid_t process, unsigned most, pid_t *first) {
    unsigned n = 0;
    int child;
    FILE *file = open_children(process);
    if (first)
        *first = 0;
    while (file && n < most && fscanf(file, "%d", &child) == 1)
        if (n++ == 0 && first)
            *first = child;
    if (file)
        fclose(file);
    return n;
}

unsigned proc_descendants(pid_t process, unsigned most) {
    unsigned n = 0;
    int child;
    FILE *file = open_children(process);
    while (file && n < most && fscanf(file, "%d", &child) == 1)
        n += 1 + proc_descendants(child, most - n - 1);
    if (file)
        fclose(file);
    return n;
}

/* Of a process and those below it that it has waited for. */
static double stat_seconds(pid_t process) {
    char text[STAT_SIZE];
    unsigned long user, system;
    long of_children, system_of_children;
    const char *stat = read_stat(process, text);
    if (!stat || sscanf(stat, " %*c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %lu %lu %ld %ld", &user,
                        &system, &of_children, &system_of_children) != 4)
        return 0;
    return ((double)user + (double)system + (double)of_children + (double)system_of_children) /
           (double)sysconf(_SC_CLK_TCK);
}

/* Of all that live below it. */
static double seconds_below(pid_t process) {
    double sum = 0;
    int child;
    FILE *file = open_children(process);
    while (file && fscanf(file, "%d", &child) == 1)
        sum += stat_seconds(child) + seconds_below(child);
    if (file)
        fclose(file);
    return sum;
}

static double seconds_of(const struct timeval *t) {
    return (double)t->tv_sec + (double)t->tv_usec * 1e-6;
}

double family_seconds(void) {
    static const int whose[] = {RUSAGE_SELF, RUSAGE_CHILDREN};
    double sum = seconds_below(getpid());
    for (unsigned i = 0; i < sizeof whose / sizeof *whose; i++) {
        struct rusage used;
        if (getrusage(whose[i], &used) == 0)
            sum += seconds_of(&used.ru_utime) + seconds_of(&used.ru_stime);
    }
    return sum;
}

static void kill_child(pid_t child) {
    pid_t group = getpgid(child);
    if (group > 1 && group != getpgrp())
        kill(-group, SIGKILL);
    kill(child, SIGKILL);
}

/* Kills our children; but_noted: only those that nobody noted, and these are waited for. */
static unsigned kill_children(bool but_noted) {
    struct dirent *entry;
    unsigned n = 0;
    pid_t own = getpid();
    DIR *d = opendir("/proc");
    while (d && (entry = readdir(d))) {
        pid_t child = (pid_t)strtol(entry->d_name, NULL, 10);
        if (child <= 1 || proc_parent(child) != own || (but_noted && is_noted(child)))
            continue;
        n++;
        kill_child(child);
        if (but_noted)
            waitpid(child, NULL, WNOHANG);
    }
    if (d)
        closedir(d);
    return n;
}

static void take_a_nap(void) {
    static const struct timespec nap = {.tv_nsec = 2000000};
    nanosleep(&nap, NULL);
}

bool end_descendants(void) {
    for (unsigned round = 0; round < ROUNDS; round++) {
        pid_t ended;
        while ((ended = waitpid(-1, NULL, WNOHANG)) > 0)
            ;
        if (ended < 0 && errno == ECHILD)
            return true;
        kill_children(false);
        take_a_nap();
    }
    return false;
}

void end_orphans(void) {
    for (unsigned round = 0; round < ROUNDS && kill_children(true); round++)
        take_a_nap();
}
