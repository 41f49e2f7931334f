/* SPDX-License-Identifier: MIT
 *
 * clang at work for `isoheap mutants` (mutants.h).
 *
 * The sources stay where they are: an overlay of the file system shows clang the texts with mutants
 * in their place, so that what they include is found as ever.
 */
#define _GNU_SOURCE
#include "cli/mutants/mutants.h"

#include "cli/campaign/campaign.h"
#include "cli/plugin.h"
#include "collectors/plugin.h"
#include "pictures/escape.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum {
    NO_PROGRAM = 127,
    SAID_LINES = 20,
    REPAIRS = 20,
    WRITTEN_MOST = 1 << 30 /* bytes of a tree, or of code: some hundred of a small source's */
};

__attribute__((weak)) void __asan_init(void);

bool has_address_sanitizer(void) {
    return __asan_init != NULL;
}

/* ---- running it -------------------------------------------------------------------------------
 */

static _Noreturn void become_clang(char **words, const char *out, const char *said) {
    int to = open(out, O_WRONLY | O_CREAT | O_TRUNC, 0666);
    int err = open(said, O_WRONLY | O_CREAT | O_TRUNC, 0666);
    signal(SIGINT, SIG_DFL);
    if (to < 0 || err < 0 || dup2(to, STDOUT_FILENO) < 0 || dup2(err, STDERR_FILENO) < 0)
        _exit(NO_PROGRAM - 1);
    execvp(words[0], words);
    _exit(NO_PROGRAM);
}

/* Frees the words.  What it says is in `said`. */
static bool run_clang(struct words *words, const char *out, const char *said) {
    int status = -1;
    fflush(NULL);
    pid_t child = fork();
    if (child == 0)
        become_clang(words->word, out, said);
    while (child > 0 && waitpid(child, &status, 0) < 0 && errno == EINTR)
        ;
    if (WIFEXITED(status) && WEXITSTATUS(status) == NO_PROGRAM)
        fprintf(stderr,
                "isoheap: %s: there is no such program; mutants are made by clang: install it, or "
                "name it with --clang\n",
                words->word[0]);
    free_words(words);
    return child > 0 && status == 0;
}

static void show_said(const char *said) {
    size_t size;
    char *text = load_file(said, &size), *at = text;
    for (unsigned line = 0; at && *at && line < SAID_LINES; line++) {
        size_t n = strcspn(at, "\n");
        fprintf(stderr, "  %.*s\n", (int)n, at);
        at += n + (at[n] == '\n');
    }
    free(text);
}

static void begin_words(const struct compile_plan *p, struct words *w) {
    const char *headers = plugin_headers();
    w->n = 0;
    add_word(w, "%s", p->clang);
    add_word(w, "-I%s", p->folder);
    if (headers[0])
        add_word(w, "-I%s", headers);
}

static void end_words(const struct compile_plan *p, struct words *w, const char *file) {
    for (unsigned i = 0; i < p->n_flags; i++)
        add_word(w, "%s", p->flags[i]);
    add_word(w, "-w");
    add_word(w, "-g0");
    if (file)
        add_word(w, "%s", file);
}

static void mutant_words(const struct compile_plan *p, struct words *w) {
    add_word(w, "-ivfsoverlay");
    add_word(w, "%s/overlay.yaml", p->folder);
    add_word(w, "-include");
    add_word(w, "%s/prelude.h", p->folder);
}

static void object_words(struct words *w) {
    add_word(w, "-O1");
    add_word(w, "-fPIC");
    add_word(w, "-fsanitize=undefined");
    add_word(w, "-fsanitize-trap=undefined");
    add_word(w, "-fno-sanitize-recover=all");
    if (has_address_sanitizer())
        add_word(w, "-fsanitize=address");
}

/* ---- the trees --------------------------------------------------------------------------------
 */

static bool read_tree(const struct compile_plan *p, struct mutants *m, unsigned source) {
    char *out = text_of("%s/tree.json", p->folder), *said = text_of("%s/said", p->folder);
    struct words w;
    size_t size = 0;
    const char *why = "it cannot be read";
    begin_words(p, &w);
    add_word(&w, "-fsyntax-only");
    add_word(&w, "-Xclang");
    add_word(&w, "-ast-dump=json");
    end_words(p, &w, p->sources[source]);
    bool good = run_clang(&w, out, said);
    if (!good) {
        fprintf(stderr,
                "isoheap: %s: clang does not compile it; options behind -- are handed to it\n",
                p->sources[source]);
        show_said(said);
    }
    char *json = good ? load_file_up_to(out, &size, WRITTEN_MOST) : NULL;
    struct ast *ast = json ? ast_read(json, size, &why) : NULL;
    if (good && !ast)
        fprintf(stderr, "isoheap: %s: clang's tree of it makes no sense: %s\n", p->sources[source],
                why);
    good = ast && find_sites(m, &p->own, ast, source);
    ast_free(ast);
    free(json);
    unlink(out);
    free(out);
    free(said);
    return good;
}

static bool add_sources(struct compile_plan *p, struct mutants *m) {
    for (unsigned s = 0; s < p->n_sources; s++) {
        char *path = realpath(p->sources[s], NULL);
        struct text_file *f = &m->files[m->n_files++];
        f->text = path ? load_file(path, &f->size) : NULL;
        if (!f->text) {
            fprintf(stderr, "isoheap: %s: %s\n", p->sources[s], strerror(errno));
            free(path);
            m->n_files--;
            return false;
        }
        f->path = path;
        f->name = strrchr(path, '/') + 1;
        f->source = true;
        free(p->sources[s]);
        p->sources[s] = text_of("%s", path);
    }
    return true;
}

/* ---- the texts --------------------------------------------------------------------------------
 */

static bool put_text(const struct compile_plan *p, const char *name, const char *text) {
    char *path = text_of("%s/%s", p->folder, name);
    bool good = text && write_file(path, text, strlen(text));
    free(path);
    return good;
}

#define LIVE_MARK "isoheap_mutant_is_live_"
static const char prelude[] =
    "#ifdef ISOHEAP_MUTANT\n"
    "#define isoheap_is(k) ((k) == ISOHEAP_MUTANT)\n"
    "#elif defined ISOHEAP_MARKS\n"
    "extern unsigned isoheap_mutant_now;\n"
    "#define isoheap_is(k) __extension__({ \\\n"
    "    __asm__ volatile(\"# " LIVE_MARK "%c0\" : : \"i\"(k)); isoheap_mutant_now == (k); })\n"
    "#else\n"
    "__attribute__((visibility(\"hidden\"))) extern unsigned isoheap_mutant_now;\n"
    "__attribute__((visibility(\"hidden\"))) extern unsigned isoheap_mutant_reached[];\n"
    "#define isoheap_is(k) (isoheap_mutant_reached[k]++, isoheap_mutant_now == (k))\n"
    "#endif\n";

static bool write_support(const struct compile_plan *p, const struct mutants *m) {
    char *text = text_of(
        "unsigned isoheap_mutant_now, isoheap_mutant_reached[%u];\n"
        "const struct { unsigned *mutant, *reached; unsigned n; } isoheap_mutants =\n"
        "    {&isoheap_mutant_now, isoheap_mutant_reached, %u};\n"
        "%s%s%s",
        m->n + 1, m->n, m->exports ? "" : "#include \"collectors/plugin.h\"\nISOHEAP_PLUGIN(",
        m->exports ? "" : m->symbol, m->exports ? "" : ")\n");
    char *hash = text_of("#define ISOHEAP_INTERFACE_HASH 0x%llxu\n",
                         (unsigned long long)ISOHEAP_INTERFACE_HASH);
    char *folder = text_of("%s/collectors", p->folder);
    bool good = make_folder(folder) && put_text(p, "support.c", text) &&
                put_text(p, "collectors/interface_hash.h", hash) &&
                put_text(p, "prelude.h", prelude);
    free(folder);
    free(hash);
    free(text);
    return good;
}

static bool write_texts(const struct compile_plan *p, const struct mutants *m) {
    char *overlay = NULL;
    size_t size;
    FILE *out = open_memstream(&overlay, &size);
    bool good = out != NULL;
    if (out)
        fputs("{\"version\": 0, \"use-external-names\": false, \"roots\": [", out);
    for (unsigned f = 0; good && f < m->n_files; f++) {
        char *name = text_of("text%u", f), *text = rewrite_file(m, f);
        char *path = text_of("%s/%s", p->folder, name);
        good = put_text(p, name, text);
        fprintf(out, "%s{\"type\": \"file\", \"name\": ", f ? ", " : "");
        put_json(out, m->files[f].path);
        fputs(", \"external-contents\": ", out);
        put_json(out, path);
        fputs("}", out);
        free(path);
        free(text);
        free(name);
    }
    if (out) {
        fputs("]}\n", out);
        good = fclose(out) == 0 && good && put_text(p, "overlay.yaml", overlay);
    }
    free(overlay);
    return good && write_support(p, m);
}

/* ---- the object -------------------------------------------------------------------------------
 */

/* The mutants of a line of which clang has said that it is wrong.  Returns how many. */
static unsigned drop_line(struct mutants *m, const char *path, unsigned line) {
    unsigned dropped = 0;
    char *full = realpath(path, NULL);
    for (unsigned pass = 0; full && pass < 2 && dropped == 0; pass++)
        for (unsigned k = 0; k < m->n; k++) {
            const struct text_file *f = &m->files[m->all[k].file];
            if (m->all[k].dropped || strcmp(f->path, full) != 0)
                continue;
            unsigned first = line_of(f, m->all[k].start), last = line_of(f, m->all[k].end - 1);
            bool in = pass ? first <= line && line <= last : first == line && last == line;
            m->all[k].dropped |= in;
            dropped += in;
        }
    free(full);
    return dropped;
}

static unsigned drop_wrong(struct mutants *m, const char *said) {
    size_t size;
    char *text = load_file(said, &size), *rest = text;
    unsigned dropped = 0;
    for (char *line; rest && (line = strsep(&rest, "\n"));) {
        char *error = strstr(line, ": error:"), *colon = error;
        for (unsigned n = 0; colon && n < 2; n++) /* PATH:LINE:COLUMN: error: */
            while (colon > line && *--colon != ':')
                ;
        if (!error || colon <= line)
            continue;
        *colon = '\0';
        dropped += drop_line(m, line, (unsigned)strtoul(colon + 1, NULL, 10));
    }
    free(text);
    return dropped;
}

static bool compile_source(const struct compile_plan *p, unsigned source, const char *said) {
    struct words w;
    begin_words(p, &w);
    object_words(&w);
    mutant_words(p, &w);
    add_word(&w, "-ferror-limit=0");
    add_word(&w, "-c");
    add_word(&w, "-o");
    add_word(&w, "%s/source%u.o", p->folder, source);
    end_words(p, &w, p->sources[source]);
    return run_clang(&w, "/dev/null", said);
}

/* What does not compile with a mutant in it is left without. */
static bool compile_sources(const struct compile_plan *p, struct mutants *m, const char *said) {
    for (unsigned s = 0, repairs = 0; s < p->n_sources;) {
        if (compile_source(p, s, said)) {
            s++;
            continue;
        }
        if (repairs++ == REPAIRS || drop_wrong(m, said) == 0) {
            fprintf(stderr, "isoheap: %s does not compile with mutants in it:\n", p->sources[s]);
            show_said(said);
            return false;
        }
        if (!write_texts(p, m))
            return false;
        s = 0; /* of a header that others have compiled with */
    }
    return true;
}

static bool is_source(const struct compile_plan *p, const char *path) {
    char *full = realpath(path, NULL);
    bool is = false;
    for (unsigned s = 0; full && s < p->n_sources; s++)
        is |= strcmp(p->sources[s], full) == 0;
    free(full);
    return is;
}

static bool link_object(const struct compile_plan *p, const char *object, const char *said) {
    struct words w;
    begin_words(p, &w);
    object_words(&w);
    add_word(&w, "-shared");
    add_word(&w, "-o");
    add_word(&w, "%s", object);
    for (unsigned s = 0; s < p->n_sources; s++)
        add_word(&w, "%s/source%u.o", p->folder, s);
    add_word(&w, "%s/support.c", p->folder);
    for (unsigned i = 0; i < p->n_links; i++)
        if (!is_source(p, p->links[i]))
            add_word(&w, "%s", p->links[i]);
    if (!has_address_sanitizer())
        add_word(&w, "-Wl,-z,defs");
    end_words(p, &w, NULL);
    bool good = run_clang(&w, "/dev/null", said);
    if (!good) {
        fprintf(stderr, "isoheap: the sources do not link; more sources are given with --source, "
                        "what has no mutants with --link:\n");
        show_said(said);
    }
    return good;
}

static void count_dropped(struct mutants *m) {
    for (unsigned k = 0; k < m->n; k++)
        m->left_out.uncompiled += m->all[k].dropped;
}

bool build_mutants(struct compile_plan *p, struct mutants *m, char **object) {
    char *said = text_of("%s/said", p->folder);
    bool good = add_sources(p, m);
    for (unsigned s = 0; good && s < p->n_sources; s++)
        good = read_tree(p, m, s);
    order_sites(m);
    if (good && !m->exports && !m->symbol) {
        fprintf(stderr, "isoheap: no source defines a `const struct collector`; name the file that "
                        "does with --source\n");
        good = false;
    }
    *object = text_of("%s/mutants.so", p->folder);
    good =
        good && write_texts(p, m) && compile_sources(p, m, said) && link_object(p, *object, said);
    count_dropped(m);
    free(said);
    return good;
}

/* ---- the code of one --------------------------------------------------------------------------
 */

static uint64_t add_to_hash(uint64_t hash, const char *text, size_t size) {
    for (size_t i = 0; i < size; i++)
        hash = (hash ^ (unsigned char)text[i]) * 0x100000001b3u;
    return hash;
}

/* The code of a source, with one option more; NULL: it cannot be compiled. */
static char *code_of_source(const struct compile_plan *p, unsigned source, const char *option,
                            size_t *size) {
    char *out = text_of("%s/code%d", p->folder, (int)getpid()), *said = text_of("%s.said", out);
    struct words w;
    begin_words(p, &w);
    mutant_words(p, &w);
    add_word(&w, "%s", option);
    add_word(&w, "-S");
    end_words(p, &w, NULL);
    add_word(&w, "-O2");
    add_word(&w, "-o");
    add_word(&w, "-");
    add_word(&w, "%s", p->sources[source]);
    char *code = run_clang(&w, out, said) ? load_file_up_to(out, size, WRITTEN_MOST) : NULL;
    unlink(out);
    unlink(said);
    free(out);
    free(said);
    return code;
}

uint64_t code_of_mutant(const struct compile_plan *p, const struct mutants *m, unsigned mutant,
                        unsigned seen_by) {
    char *option = text_of("-DISOHEAP_MUTANT=%u", mutant);
    unsigned file = m->all[seen_by - 1].file;
    uint64_t hash = 0xcbf29ce484222325u;
    for (unsigned s = 0; hash && s < p->n_sources; s++) {
        size_t size = 0;
        if (!bit_at(m->sees[s], file))
            continue;
        char *code = code_of_source(p, s, option, &size);
        hash = code ? add_to_hash(hash, code, size) : 0;
        free(code);
    }
    free(option);
    return hash;
}

bool find_live(const struct compile_plan *p, const struct mutants *m, bool *live) {
    bool good = true;
    for (unsigned s = 0; good && s < p->n_sources; s++) {
        size_t size = 0;
        char *code = code_of_source(p, s, "-DISOHEAP_MARKS", &size);
        for (char *at = code; at && (at = strstr(at, LIVE_MARK));) {
            unsigned long k = strtoul(at += strlen(LIVE_MARK), NULL, 10);
            if (k <= m->n)
                live[k] = true;
        }
        good = code != NULL;
        free(code);
    }
    return good;
}
