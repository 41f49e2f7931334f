/* SPDX-License-Identifier: MIT
 *
 * The symbols that a shared object needs and nobody defines: dlopen tells the first one alone.
 */
#define _GNU_SOURCE
#include "cli/plugins/undefined.h"

#include <dlfcn.h>
#include <elf.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

enum { LIBRARIES = 64, LISTED = 20 };

/* The file, in memory.  Nothing of it is believed: parts of it are asked for with their size. */
struct object {
    const char *bytes;
    size_t size;
};

static const void *part(const struct object *o, uint64_t at, uint64_t size, size_t alignment) {
    bool inside = at <= o->size && size <= o->size - at && at % alignment == 0;
    return inside ? o->bytes + at : NULL;
}

/* A section of that type, its content, and the strings that belong to it. */
struct section {
    const void *content;
    size_t size;
    const char *strings;
    size_t strings_size;
};

static struct section find_section(const struct object *o, uint32_t type) {
    struct section none = {.content = NULL};
    const Elf64_Ehdr *e = part(o, 0, sizeof *e, 1);
    if (!e || memcmp(e->e_ident, ELFMAG, SELFMAG) != 0 || e->e_ident[EI_CLASS] != ELFCLASS64 ||
        e->e_shentsize != sizeof(Elf64_Shdr))
        return none;
    const Elf64_Shdr *headers =
        part(o, e->e_shoff, (uint64_t)e->e_shnum * sizeof *headers, sizeof(uint64_t));
    for (unsigned i = 0; headers && i < e->e_shnum; i++) {
        const Elf64_Shdr *h = &headers[i];
        if (h->sh_type != type || h->sh_link >= e->e_shnum)
            continue;
        const Elf64_Shdr *names = &headers[h->sh_link];
        struct section s = {part(o, h->sh_offset, h->sh_size, sizeof(uint64_t)), h->sh_size,
                            part(o, names->sh_offset, names->sh_size, 1), names->sh_size};
        bool ends = s.strings && s.strings_size && !s.strings[s.strings_size - 1];
        return s.content && ends ? s : none;
    }
    return none;
}

static const char *string_at(const struct section *s, uint64_t at) {
    return at < s->strings_size ? s->strings + at : "";
}

/* ---- libraries --------------------------------------------------------------------------------
 */

struct libraries {
    void *handles[LIBRARIES];
    unsigned n;
};

/* False if one is not found, or there are too many. */
static bool open_libraries(const struct object *o, struct libraries *l) {
    struct section s = find_section(o, SHT_DYNAMIC);
    const Elf64_Dyn *entries = s.content;
    l->n = 0;
    for (size_t i = 0; entries && i < s.size / sizeof *entries; i++) {
        if (entries[i].d_tag != DT_NEEDED)
            continue;
        void *handle = l->n < LIBRARIES
                           ? dlopen(string_at(&s, entries[i].d_un.d_val), RTLD_LAZY | RTLD_LOCAL)
                           : NULL;
        if (!handle)
            return false;
        l->handles[l->n++] = handle;
    }
    return entries;
}

static void close_libraries(struct libraries *l) {
    while (l->n)
        dlclose(l->handles[--l->n]);
}

static bool is_defined(const struct libraries *l, const char *name) {
    bool found = dlsym(RTLD_DEFAULT, name);
    for (unsigned i = 0; !found && i < l->n; i++)
        found = dlsym(l->handles[i], name);
    return found;
}

/* ---- symbols ----------------------------------------------------------------------------------
 */

static unsigned list_symbols(FILE *out, const struct section *s, const struct libraries *l) {
    const Elf64_Sym *symbols = s->content;
    unsigned n = 0;
    for (size_t i = 0; i < s->size / sizeof *symbols; i++) {
        const char *name = string_at(s, symbols[i].st_name);
        if (symbols[i].st_shndx != SHN_UNDEF || ELF64_ST_BIND(symbols[i].st_info) != STB_GLOBAL ||
            !name[0] || is_defined(l, name))
            continue;
        if (n++ < LISTED)
            fprintf(out, "%s%s", n > 1 ? ", " : "", name);
    }
    if (n > LISTED)
        fprintf(out, " and %u more", n - LISTED);
    return n;
}

static char *sentence(const struct object *o, const struct libraries *l) {
    struct section s = find_section(o, SHT_DYNSYM);
    char *names = NULL, *text = NULL;
    size_t size;
    FILE *out = s.content ? open_memstream(&names, &size) : NULL;
    unsigned n = out ? list_symbols(out, &s, l) : 0;
    if (out)
        fclose(out);
    if (n &&
        asprintf(&text, "%u symbol%s defined nowhere: %s", n, n == 1 ? " is" : "s are", names) < 0)
        text = NULL;
    free(names);
    return text;
}

char *undefined_symbols(const char *path) {
    struct libraries libraries;
    struct stat status;
    char *text = NULL;
    int file = open(path, O_RDONLY | O_CLOEXEC);
    if (file < 0)
        return NULL;
    if (fstat(file, &status) == 0 && status.st_size > 0) {
        size_t size = (size_t)status.st_size;
        void *bytes = mmap(NULL, size, PROT_READ, MAP_PRIVATE, file, 0);
        struct object object = {bytes, size};
        if (bytes != MAP_FAILED) {
            if (open_libraries(&object, &libraries))
                text = sentence(&object, &libraries);
            close_libraries(&libraries);
            munmap(bytes, size);
        }
    }
    close(file);
    return text;
}
