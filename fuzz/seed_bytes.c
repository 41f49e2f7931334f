/* SPDX-License-Identifier: MIT
 *
 * seed_bytes FOLDER FILE...: writes programs that people write as text to FOLDER as bytes, which
 * engines mutate, as `isoheap convert --to=bytes -d FOLDER FILE...` does; for the build alone,
 * which would have to make the whole command for it.
 */
#include "program/bytes/bytes.h"
#include "program/text/text.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ROOM = 1 << 20, PATH = 4096 };

static struct program program;
static char text[ROOM];
static uint8_t bytes[ROOM];

_Noreturn static void give_up(const char *path, const char *why) {
    fprintf(stderr, "seed_bytes: %s: %s\n", path, why);
    exit(1);
}

static void parse(const char *path) {
    struct text_error error;
    FILE *file = fopen(path, "rb");
    if (!file)
        give_up(path, strerror(errno));
    size_t size = fread(text, 1, sizeof text, file);
    fclose(file);
    if (size == sizeof text)
        give_up(path, "it is too long");
    if (program_parse(&program, text, size, &error))
        return;
    fprintf(stderr, "%s:%u:%u: %s\n", path, error.line, error.column, error.message);
    exit(1);
}

/* FOLDER/NAME for a/b/NAME.txt. */
static void write_bytes(const char *folder, const char *path) {
    char name[PATH];
    const char *base = strrchr(path, '/');
    base = base ? base + 1 : path;
    int length = (int)strcspn(base, ".");
    if (snprintf(name, sizeof name, "%s/%.*s", folder, length, base) >= PATH)
        give_up(path, "its name is too long");
    if (program_is_large(&program))
        return; /* it is for those who run the text */
    size_t size = program_encode(&program, bytes, sizeof bytes);
    FILE *file = size <= sizeof bytes ? fopen(name, "wbx") : NULL; /* no seed replaces another */
    if (!file)
        give_up(name, strerror(errno));
    if (fwrite(bytes, 1, size, file) != size || fclose(file) != 0)
        give_up(name, strerror(errno));
}

int main(int argc, char **argv) {
    if (argc < 3)
        give_up("usage", "seed_bytes FOLDER FILE...");
    for (int i = 2; i < argc; i++) {
        parse(argv[i]);
        write_bytes(argv[1], argv[i]);
    }
    return 0;
}
