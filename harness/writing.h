/* SPDX-License-Identifier: MIT
 *
 * Text for a buffer of the caller's: cut at its end, but counted to the end of the text, as
 * snprintf counts.  Not for other folders.
 */
#ifndef ISOHEAP_HARNESS_WRITING_H
#define ISOHEAP_HARNESS_WRITING_H

#include <stdarg.h>
#include <stdio.h>

struct writing {
    char *out;
    size_t capacity, length; /* length: also of what did not fit */
};

/* The rest of the buffer, *room characters, for somebody who writes there himself and adds to
 * length; NULL if nothing is left. */
static inline char *writing_room(const struct writing *w, size_t *room) {
    *room = w->length < w->capacity ? w->capacity - w->length : 0;
    return *room ? w->out + w->length : NULL;
}

__attribute__((format(printf, 2, 3))) static inline void write_text(struct writing *w,
                                                                    const char *format, ...) {
    va_list arguments;
    size_t room;
    char *out = writing_room(w, &room);
    va_start(arguments, format);
    int n = vsnprintf(out, room, format, arguments);
    va_end(arguments);
    w->length += n > 0 ? (size_t)n : 0;
}

#endif
