/* SPDX-License-Identifier: MIT
 *
 * The table of oracles (oracle.h, judge.h).
 */
#include "oracles/oracle.h"

#include "oracles/judge.h"

#include <string.h>

const struct oracle_module *const oracle_modules[ORACLE_MODULES] = {
#define X(name) [ORACLE_##name] = &oracle_##name,
    ORACLES(X)
#undef X
#define X(name) [RECORD_##name] = &oracle_##name,
        ORACLE_RECORDS(X)
#undef X
};

const char *oracle_need_words(enum oracle_need need) {
    static const char *const words[] = {
#define X(name, words, condition) words,
        ORACLE_NEEDS(X)
#undef X
    };
    return words[need];
}

unsigned oracle_needs_met(const struct collector *c, const struct collector_traits *t) {
    unsigned met = 0;
#define X(name, words, condition) met |= (condition) ? 1u << NEED_##name : 0;
    ORACLE_NEEDS(X)
#undef X
    return met;
}

const char *oracle_name(enum oracle oracle) {
    static const char *const names[ORACLE_COUNT] = {
#define X(name) [ORACLE_##name] = #name,
        ORACLES(X)
#undef X
    };
    return names[oracle];
}
const char *oracle_meaning(enum oracle oracle) {
    return oracle_modules[oracle]->meaning;
}
const char *oracle_source(enum oracle oracle) {
    return oracle_modules[oracle]->source;
}
unsigned oracle_needs(enum oracle oracle) {
    return oracle_modules[oracle]->needs;
}
const enum violation *oracle_classes(enum oracle oracle) {
    return oracle_modules[oracle]->classes;
}

const char *oracle_event(enum oracle oracle, unsigned n) {
    const struct oracle_module *module = oracle_modules[oracle];
#define X(event, parameters, arguments)                                                            \
    if (module->event && n-- == 0)                                                                 \
        return #event;
    ORACLE_EVENTS(X)
#undef X
    return NULL;
}

enum oracle oracle_named(const char *name) {
    unsigned o = 0;
    while (o < ORACLE_COUNT && strcmp(oracle_name(o), name) != 0)
        o++;
    return (enum oracle)o;
}
