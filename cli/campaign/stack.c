/* SPDX-License-Identifier: MIT
 *
 * Where a sanitizer saw a collector fail, by the names of functions (campaign.h).
 *
 * A sanitizer's report lists the calls that led to what it saw, the last one first:
 *
 *     #0 0x55d0 in __asan_memcpy (fuzz_x+0x1a2b)
 *     #1 0x55d1 in sweep collectors/x/x.c:80:5
 *     #2 0x55d2 in x_collect collectors/x/x.c:120:9
 *     #3 0x55d3 in call_of_collect harness/call.c:210:12
 *
 * What is below call_... is ours, and what is above the first function that has a source is the
 * sanitizer's or the C library's.  Addresses, lines and what the compiler adds to a name change
 * from build to build.  Without a symbolizer there are no names.
 */
#include "cli/campaign/campaign.h"

#include <string.h>

enum { STACK_FRAMES = 3 };

/* The name in a line of a stack, its length, and whether a source is known; NULL: no such line. */
static const char *frame_name(const char *line, size_t *length, bool *has_source) {
    line += strspn(line, " ");
    const char *end = line + strcspn(line, "\n"), *in = strstr(line, " in ");
    if (line[0] != '#' || line[1] < '0' || line[1] > '9' || !in || in > end)
        return NULL;
    in += 4;
    *length = strspn(in, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_0123456789");
    const char *place = in + strcspn(in, " \n");
    *has_source = *place == ' ' && place[1] != '(';
    return in;
}

/* Of the C library and the sanitizers, with a source or without. */
static bool is_of_runtime(const char *name) {
    static const char *const starts[] = {"__asan_", "__interceptor_", "__sanitizer_", "__ubsan_",
                                         "mem",     "raise",          "abort",        "__"};
    for (unsigned i = 0; i < sizeof starts / sizeof *starts; i++)
        if (strncmp(name, starts[i], strlen(starts[i])) == 0)
            return true;
    return false;
}

void sanitizer_stack(const char *text, char *out, size_t size) {
    const char *line = strstr(text, "\n    #0 ");
    size_t used = 0, length;
    bool has_source;
    out[0] = '\0';
    for (unsigned n = 0; line && n < STACK_FRAMES; line = strchr(line + 1, '\n')) {
        const char *name = frame_name(line + 1, &length, &has_source);
        if (!name || strncmp(name, "call_", 5) == 0)
            return;
        if (!has_source || is_of_runtime(name) || used + length + 2 > size)
            continue;
        used +=
            (size_t)snprintf(out + used, size - used, "%s%.*s", n++ ? "<" : "", (int)length, name);
    }
}
