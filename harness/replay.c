/* SPDX-License-Identifier: MIT
 *
 * What decides a verdict besides the program: collectors, oracles, masks; and the options of a
 * command that says the same again (harness.h).
 */
#include "harness/internal.h"
#include "harness/writing.h"

#include <stdio.h>
#include <string.h>

/* ---- masks ------------------------------------------------------------------------------------
 */

/* Is the word of that length in the list that begins there the mask, or all of them? */
static bool names_mask(const char *word_begin, size_t length, const struct gc_mask *mask) {
    return (length == strlen(mask->name) && memcmp(word_begin, mask->name, length) == 0) ||
           (length == 3 && memcmp(word_begin, "all", 3) == 0);
}

unsigned unmasked(const struct collector *collector, const char *names) {
    unsigned bits = 0;
    for (unsigned n = 0; names && collector->masks && collector->masks[n].name; n++)
        for (const char *at = names; *at; at += *at == ',') {
            size_t length = strcspn(at, ",");
            if (names_mask(at, length, &collector->masks[n]))
                bits |= 1u << n;
            at += length;
        }
    return bits;
}

/* ---- options ----------------------------------------------------------------------------------
 */

/* The shorter of "a,b" and "-c,-d". */
static void put_oracles(struct writing *l, oracle_set oracles) {
    unsigned chosen = 0;
    for (unsigned o = 0; o < ORACLE_COUNT; o++)
        chosen += oracles >> o & 1;
    bool drop = chosen > ORACLE_COUNT / 2;
    const char *separator = " --oracles=";
    for (unsigned o = 0; o < ORACLE_COUNT; o++) {
        if ((oracles >> o & 1) == drop)
            continue;
        write_text(l, "%s%s%s", separator, drop ? "-" : "", oracle_name((enum oracle)o));
        separator = ",";
    }
}

size_t runner_replay(const struct runner_options *o, char *out, size_t capacity) {
    struct writing l = {out, capacity, 0};
    const char *subject = o->subject_name ? o->subject_name : o->subject->name;
    write_text(&l, "%s--collector %s --reference %s", o->replay ? o->replay : "", subject,
               o->reference ? o->reference->name : "none");
    if (o->oracles && o->oracles != ORACLES_ALL)
        put_oracles(&l, o->oracles);
    if (unmasked(o->subject, o->unmask) || (o->reference && unmasked(o->reference, o->unmask)))
        write_text(&l, " --unmask=%s", o->unmask);
    if (o->stack_kib || o->ordinary_stack)
        write_text(&l, " --stack=%zu", o->stack_kib);
    return l.length;
}
