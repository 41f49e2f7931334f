/* SPDX-License-Identifier: MIT
 *
 * The command that compiles an exported finding, and the proof that the file shows it: compiled
 * with the collector it fails, and with the healthy one of which that is a variant it passes
 * (export.h).
 */
#define _GNU_SOURCE
#include "cli/export/export.h"

#include "cli/campaign/campaign.h"
#include "cli/plugin.h"
#include "collectors/faults.def"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { COMPILE_SECONDS = 120, RUN_SECONDS_MOST = 60 };

/* ---- the command ------------------------------------------------------------------------------
 */

/* The sources of a collector, and what makes a known-bad one of them. */
static const struct {
    const char *name, *source, *defect;
} bad_sources[] = {
#define X(source, defect, violation, what) {"bad_" #defect, #source, #defect},
    KNOWN_BAD(X)
#undef X
};

static const char *source_of(const struct exported *e, const char **defect) {
    *defect = NULL;
    for (unsigned i = 0; i < sizeof bad_sources / sizeof *bad_sources; i++)
        if (strcmp(bad_sources[i].name, e->subject->name) == 0) {
            *defect = bad_sources[i].defect;
            return bad_sources[i].source;
        }
    return e->subject->name;
}

static const char *sanitizers(const struct exported *e) {
    if (e->violation != VIOLATION_sanitizer)
        return "";
    return e->undefined ? " -fsanitize=address,undefined -fno-sanitize-recover=all"
                        : " -fsanitize=address";
}

/* What the sources of a collector need besides. */
static const char *besides(const char *source) {
    return strcmp(source, "boehm") == 0 ? " collectors/shadow.c -lgc"
           : strcmp(source, "concurrent") == 0
               ? " collectors/threads/[a-z]*.c collectors/switch/switch.c"
               : "";
}

/* A collector of the tree, at the top of the sources; healthy: without its defect. */
static char *tree_command(const struct exported *e, const char *compiler, const char *file,
                          const char *out, bool healthy) {
    const char *defect, *source = source_of(e, &defect);
    char *what = text_of("%s", "");
    if (healthy || defect) {
        free(what);
        what = healthy
                   ? text_of(" -DCOLLECTOR=%s", source)
                   : text_of(" -DISOHEAP_FAULT=FAULT_%s -DISOHEAP_COLLECTOR=%s", defect, e->symbol);
    }
    char *command = text_of("%s -std=c17 -g -I.%s%s -o %s %s collectors/%s/[a-z]*.c "
                            "collectors/arena.c collectors/literals.c%s",
                            compiler, sanitizers(e), what, quoted(out), quoted_path(file), source,
                            besides(source));
    free(what);
    return command;
}

/* One of a plug-in: the shared object is linked, or, since a sanitizer must see it compiled, its
 * sources. */
static char *plugin_command(const struct exported *e, const char *compiler, const char *file,
                            const char *out) {
    static const char installed[] = "/include/isoheap";
    const char *headers = plugin_headers(), *plugin = plugin_path(e->subject);
    const char *slash = strrchr(plugin, '/');
    char *start = text_of("%s -std=c17 -g -I%s%s", compiler, quoted(headers), sanitizers(e));
    char *folder = text_of("%.*s", (int)(slash - plugin), plugin), *library;
    if (ends_in(headers, installed)) {
        char *lib = text_of("%.*s/lib", (int)(strlen(headers) - strlen(installed)), headers);
        library = text_of("-L%s -lisoheap", quoted(lib));
        free(lib);
    } else {
        char *from = text_of("%s/collectors", quoted(headers));
        library =
            text_of("%s/arena.c %s/literals.c %s/sections.c %s/shadow.c", from, from, from, from);
        free(from);
    }
    char *command;
    if (!e->sources && e->violation != VIOLATION_sanitizer)
        command = text_of("%s -DPLUGIN -o %s %s %s -Wl,-rpath,%s", start, quoted(out),
                          quoted_path(file), quoted(plugin), quoted(folder));
    else
        command = text_of("%s -o %s %s %s %s", start, quoted(out), quoted_path(file),
                          e->sources ? e->sources : "$SOURCES", library);
    free(library);
    free(folder);
    free(start);
    return command;
}

char *export_command(const struct exported *e, const char *compiler, const char *file,
                     const char *out) {
    return plugin_path(e->subject) ? plugin_command(e, compiler, file, out)
                                   : tree_command(e, compiler, file, out, false);
}

/* ---- what is there ----------------------------------------------------------------------------
 */

static char *find_compiler(void) {
    static const char *const names[] = {"cc", "gcc", "clang"};
    const char *wanted = getenv("CC");
    if (wanted && *wanted)
        return text_of("%s", wanted);
    for (unsigned i = 0; i < sizeof names / sizeof *names; i++) {
        char *line = text_of("command -v %s", names[i]), *said;
        char *argv[] = {"sh", "-c", line, NULL};
        bool found = run_command_for(NULL, argv, NULL, COMPILE_SECONDS, &said) == 0;
        free(said);
        free(line);
        if (found)
            return text_of("%s", names[i]);
    }
    return NULL;
}

/* The top of isoheap's sources: here, or above this command. */
static char *find_top(const char *source) {
    static const char *const above[] = {"", "/../..", "/../../.."};
    const char *own = own_folder();
    for (unsigned i = 0; i < sizeof above / sizeof *above; i++) {
        char *top = text_of("%s%s", i ? own : ".", above[i]);
        char *folder = text_of("%s/collectors/%s", top, source);
        char *header = text_of("%s/collectors/collector.h", top);
        bool here = access(folder, X_OK) == 0 && access(header, R_OK) == 0;
        free(header);
        free(folder);
        if (here)
            return top;
        free(top);
    }
    return NULL;
}

/* ---- the proof --------------------------------------------------------------------------------
 */

struct proof {
    const struct exported *e;
    char *folder, *file, *binary, *compiler, *top; /* top NULL: anywhere */
};

enum outcome { FAILS, PASSES, NOT_RUN };
static const char *const outcome_words[] = {"fails", "passes", "is not run"};

/* Compiles and runs it.  False after a message: it does not compile. */
static bool try(const struct proof *p, bool healthy, enum outcome *outcome) {
    char *line = healthy  ? tree_command(p->e, p->compiler, p->file, p->binary, true)
                 : p->top ? tree_command(p->e, p->compiler, p->file, p->binary, false)
                          : export_command(p->e, p->compiler, p->file, p->binary);
    char *compile[] = {"sh", "-c", line, NULL}, *run[] = {p->binary, NULL}, *said;
    char *environment[] = {"ASAN_OPTIONS=detect_leaks=0", NULL};
    bool good = run_command_for(p->top, compile, NULL, COMPILE_SECONDS, &said) == 0;
    if (!good)
        fprintf(stderr, "isoheap: not checked: it does not compile: %s\n%s", line,
                said ? said : "");
    free(said);
    free(line);
    if (!good)
        return false;
    int status = run_command_for(p->folder, run, environment, RUN_SECONDS_MOST, &said);
    *outcome = status == 0 && said && strstr(said, "passed\n")     ? PASSES
               : status == 77 && said && strstr(said, "not run: ") ? NOT_RUN
                                                                   : FAILS;
    free(said);
    return true;
}

static int judge(const struct proof *p) {
    const char *defect, *source = source_of(p->e, &defect);
    enum outcome outcome, healthy = PASSES;
    if (!try(p, false, &outcome))
        return EXIT_OK;
    if (outcome != FAILS) {
        fprintf(stderr,
                "isoheap: compiled with %s and run, it %s with %s: the C file does not show "
                "the violation; isoheap run does\n",
                p->compiler, outcome_words[outcome], p->e->subject->name);
        return EXIT_VIOLATION;
    }
    if (!defect || !p->top || !try(p, true, &healthy)) {
        fprintf(stderr, "isoheap: compiled with %s and run: it fails with %s\n", p->compiler,
                p->e->subject->name);
        return EXIT_OK;
    }
    fprintf(stderr, "isoheap: compiled with %s and run: it fails with %s, and %s with %s\n",
            p->compiler, p->e->subject->name, outcome_words[healthy], source);
    return healthy == PASSES ? EXIT_OK : EXIT_VIOLATION;
}

/* Why the file cannot be compiled here; NULL: it can. */
static const char *obstacle(struct proof *p) {
    const struct exported *e = p->e;
    const char *defect, *source = source_of(e, &defect);
    bool of_plugin = plugin_path(e->subject) != NULL;
    if (!p->compiler)
        return "there is no C compiler (CC, cc, gcc, clang)";
    if (e->seeded)
        return "the collector is a seeded fault, whose source is a patch: apply it, then compile";
    if (e->subject->extras)
        return "the collector is a runtime, whose sources are not isoheap's";
    if (of_plugin && !plugin_headers()[0])
        return "isoheap's headers are not found: neither installed nor above this command";
    if (of_plugin && e->violation == VIOLATION_sanitizer && !e->sources)
        return "a sanitizer must see the collector compiled: --sources says from which files";
    if (!of_plugin && !(p->top = find_top(source)))
        return "the collector's sources are not here; go to the top of isoheap's";
    return NULL;
}

int export_prove(const struct exported *e, const char *text, size_t size) {
    struct proof p = {.e = e, .compiler = find_compiler()};
    const char *why = obstacle(&p), *tmp = getenv("TMPDIR");
    int status = EXIT_OK;
    p.folder = text_of("%s/isoheap-XXXXXX", tmp && *tmp ? tmp : "/tmp");
    if (!why && !mkdtemp(p.folder))
        why = "there is no folder for temporary files";
    if (why) {
        fprintf(stderr, "isoheap: not checked: %s\n", why);
    } else {
        p.file = text_of("%s/finding.c", p.folder);
        p.binary = text_of("%s/finding", p.folder);
        if (write_file(p.file, text, size))
            status = judge(&p);
        remove_folder(p.folder);
    }
    free(p.file);
    free(p.binary);
    free(p.folder);
    free(p.top);
    free(p.compiler);
    return status;
}
