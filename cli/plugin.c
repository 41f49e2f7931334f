/* SPDX-License-Identifier: MIT
 *
 * Collectors from shared objects: the option --plugin of every subcommand that takes a collector
 * (collectors/plugin.h is the other side).
 *
 * What is loaded is somebody else's code: a child process loads it first, so that one which crashes
 * or hangs while it is loaded ends in a message.  Plug-ins are also taken from ISOHEAP_PLUGIN in
 * the environment, a list with colons, and handed on there to the processes that a campaign starts.
 */
#define _GNU_SOURCE
#include "cli/plugin.h"

#include "cli/plugins/undefined.h"
#include "collectors/contract.h"
#include "collectors/known_bad/known_bad.h"
#include "collectors/plugin.h"
#include "collectors/registry/registry.h"

#include <dlfcn.h>
#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { PLUGINS_MAX = 16, LOAD_SECONDS = 5 };
#define VARIABLE "ISOHEAP_PLUGIN"
#define HEADERS  "/include/isoheap"

static const struct collector *loaded[PLUGINS_MAX + 1]; /* NULL at the end */
static char *paths[PLUGINS_MAX];
static unsigned n_loaded;

/* ---- what may be wrong with one ---------------------------------------------------------------
 */

const char *own_folder(void) {
    static char path[PATH_MAX - 64]; /* room for what is appended */
    ssize_t n = readlink("/proc/self/exe", path, sizeof path - 1);
    path[n > 0 ? n : 0] = '\0';
    char *slash = strrchr(path, '/');
    if (slash)
        *slash = '\0';
    return path;
}

/* The folder of the headers that were installed with this command, or "". */
static const char *installed_headers(void) {
    static char path[PATH_MAX];
    const char *own = own_folder(), *slash = strrchr(own, '/');
    if (!slash)
        return "";
    snprintf(path, sizeof path, "%.*s" HEADERS, (int)(slash - own), own);
    return access(path, R_OK) == 0 ? path : "";
}

const char *plugin_headers(void) {
    static char path[PATH_MAX];
    static const char *const above[] = {"/../..", "/../../.."};
    const char *installed = installed_headers();
    if (installed[0])
        return installed;
    const char *own = own_folder();
    for (unsigned i = 0; i < sizeof above / sizeof *above; i++) {
        char header[PATH_MAX];
        snprintf(header, sizeof header, "%s%s/collectors/collector.h", own, above[i]);
        snprintf(path, sizeof path, "%s%s", own, above[i]);
        if (access(header, R_OK) == 0)
            return path;
    }
    return "";
}

static const char *other_interface(uint64_t theirs) {
    static char text[PATH_MAX + 256];
    const char *headers = installed_headers();
    snprintf(
        text, sizeof text,
        "it was compiled with the headers of another isoheap (interface %016llx, and here it is "
        "%016llx); compile it again with this one's%s%s",
        (unsigned long long)theirs, (unsigned long long)ISOHEAP_INTERFACE_HASH,
        headers[0] ? ": -I " : "", headers[0] ? quoted_path(headers) : "");
    return text;
}

static const char *misfit(const struct isoheap_plugin *p) {
    if (!p)
        return "it defines no symbol isoheap_plugin; write ISOHEAP_PLUGIN(my_collector) of "
               "collectors/plugin.h into one of its files";
    if (p->interface != ISOHEAP_INTERFACE_HASH)
        return other_interface(p->interface);
    if (p->collector_size != sizeof(struct collector) ||
        p->config_size != sizeof(struct gc_config) || p->hooks_size != sizeof(struct gc_hooks))
        return "its compiler lays out the structs of collectors/collector.h in another way; "
               "compile "
               "it again without options that change that (-fpack-struct, -fshort-enums)";
    return p->collector ? contract_fault(p->collector) : "isoheap_plugin points at no collector";
}

/* A name must mean one collector: replay lines, targets and findings go by it. */
static const char *taken(const char *name) {
    if (collector_find(loaded, name))
        return "another plug-in has a collector of that name; give this one a name of its own";
    if (collector_find(registered_collectors, name) || collector_find(known_bad_collectors(), name))
        return "isoheap has a collector of that name itself (isoheap list); give this one another";
    return NULL;
}

static bool needs_sanitizer(const char *error) {
    return strstr(error, "__asan_") || strstr(error, "__ubsan_") || strstr(error, "__msan_") ||
           strstr(error, "__sanitizer_") || strstr(error, "AddressSanitizer");
}

/* dlopen stops at the first symbol that it does not find.  Its error does not outlast other calls
 * of its family. */
static void explain(const char *path, const char *error) {
    bool sanitizer = needs_sanitizer(error), lacks = strstr(error, "undefined symbol");
    char *own = strdup(error), *undefined = lacks ? undefined_symbols(path) : NULL;
    fprintf(stderr, "isoheap: %s: %s\n", path, undefined ? undefined : own ? own : "no memory");
    if (sanitizer)
        fprintf(stderr, "isoheap: it was compiled with a sanitizer that this isoheap has not: "
                        "compile it without -fsanitize, or use an isoheap with the same\n");
    else if (undefined)
        fprintf(stderr,
                "isoheap: link it with what defines them: isoheap's own with `pkg-config "
                "--libs isoheap` behind the sources, others with the rest of the collector; "
                "with -Wl,-z,defs the linker itself says what is missing\n");
    free(undefined);
    free(own);
}

/* ---- loading ----------------------------------------------------------------------------------
 */

static _Noreturn void probe(const char *path, int out) {
    signal(SIGINT, SIG_DFL);
    char good = dlopen(path, RTLD_NOW | RTLD_LOCAL) || true;
    _exit(write(out, &good, 1) != 1);
}

/* Can it be loaded without harm?  What dlopen itself refuses is told later. */
static bool survives(const char *path) {
    int out[2], status = 0;
    char byte;
    if (pipe(out) != 0)
        return true;
    fflush(NULL);
    pid_t child = fork();
    if (child == 0)
        probe(path, out[1]);
    close(out[1]);
    struct pollfd wait = {.fd = out[0], .events = POLLIN};
    int ready;
    while ((ready = poll(&wait, 1, LOAD_SECONDS * 1000)) < 0 && errno == EINTR)
        ;
    bool good = ready > 0 && read(out[0], &byte, 1) == 1;
    close(out[0]);
    if (child > 0 && !good)
        kill(child, SIGKILL);
    while (child > 0 && waitpid(child, &status, 0) < 0 && errno == EINTR)
        ;
    if (ready == 0)
        fprintf(stderr, "isoheap: %s: loading it takes more than %d s\n", path, LOAD_SECONDS);
    else if (!good)
        fprintf(stderr, "isoheap: %s: loading it crashes (status %d)\n", path, status);
    return good;
}

/* Hands it on to child processes. */
static void hand_on(const char *path) {
    const char *before = getenv(VARIABLE);
    char *list = NULL;
    if (asprintf(&list, "%s%s%s", before ? before : "", before && *before ? ":" : "", path) < 0)
        return;
    setenv(VARIABLE, list, 1);
    free(list);
}

/* The collector of the file `full`, which messages call `path`; NULL after a message. */
static const struct collector *open_plugin(const char *path, const char *full, bool named,
                                           void **object) {
    *object = survives(full) ? dlopen(full, RTLD_NOW | RTLD_LOCAL) : NULL;
    const char *error = *object ? NULL : dlerror();
    const struct isoheap_plugin *plugin = *object ? dlsym(*object, "isoheap_plugin") : NULL;
    if (*object)
        error = misfit(plugin);
    if (*object && !error && named)
        error = taken(plugin->collector->name);
    if (error)
        explain(path, error);
    return error || !*object ? NULL : plugin->collector;
}

const struct collector *load_copy(const char *path, const char *symbol, const void **data) {
    void *object;
    const struct collector *collector = open_plugin(path, path, false, &object);
    *data = collector ? dlsym(object, symbol) : NULL;
    return collector;
}

static bool load(const char *path) {
    char *full = realpath(path, NULL);
    if (!full) {
        fprintf(stderr, "isoheap: %s: %s\n", path, strerror(errno));
        return false;
    }
    for (unsigned i = 0; i < n_loaded; i++)
        if (strcmp(paths[i], full) == 0) {
            free(full);
            return true;
        }
    if (n_loaded == PLUGINS_MAX) {
        fprintf(stderr, "isoheap: more than %d plug-ins\n", PLUGINS_MAX);
        free(full);
        return false;
    }
    void *object;
    const struct collector *collector = open_plugin(path, full, true, &object);
    if (!collector) {
        free(full);
        return false;
    }
    paths[n_loaded] = full;
    loaded[n_loaded++] = collector;
    return true;
}

static void load_environment(void) {
    static bool done;
    const char *list = getenv(VARIABLE);
    if (done || !list)
        return;
    done = true;
    char *copy = strdup(list), *rest = copy;
    for (char *path; copy && (path = strsep(&rest, ":"));)
        if (*path && !load(path))
            exit(EXIT_USAGE);
    free(copy);
}

const char *last_plugin(void) {
    load_environment();
    return n_loaded ? paths[n_loaded - 1] : NULL;
}

const struct collector *const *plugin_collectors(void) {
    load_environment();
    return loaded;
}

const char *plugin_path(const struct collector *c) {
    load_environment();
    for (unsigned i = 0; i < n_loaded; i++)
        if (loaded[i] == c)
            return paths[i];
    return NULL;
}

const char *default_collector(void) {
    load_environment();
    return n_loaded ? loaded[n_loaded - 1]->name : "mark_sweep";
}

const char *plugin_options(void) {
    static char *text;
    free(text);
    text = NULL;
    size_t size;
    FILE *out = n_loaded ? open_memstream(&text, &size) : NULL;
    for (unsigned i = 0; out && i < n_loaded; i++)
        fprintf(out, "--plugin %s ", quoted_path(paths[i]));
    if (out)
        fclose(out);
    return text ? text : "";
}

/* ---- the option -------------------------------------------------------------------------------
 */

enum { PLUGIN = 2000 };

static error_t parse(int key, char *argument, struct argp_state *state) {
    (void)state;
    if (key != PLUGIN)
        return ARGP_ERR_UNKNOWN;
    load_environment();
    unsigned before = n_loaded;
    if (!load(argument))
        exit(EXIT_USAGE);
    if (n_loaded > before)
        hand_on(paths[n_loaded - 1]);
    return 0;
}

static const struct argp_option options[] = {
    {"plugin", PLUGIN, "FILE", 0, "load a collector from a shared object, and use it", 0}, {0}};
const struct argp plugin_argp = {options, parse, NULL, NULL, NULL, NULL, NULL};
const struct argp_child plugin_option[] = {{&plugin_argp, 0, NULL, 0}, {NULL, 0, NULL, 0}};
