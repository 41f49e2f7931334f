/* SPDX-License-Identifier: MIT
 *
 * How often each oracle has judged (judgements.h).
 */
#include "cli/judgements/judgements.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

enum { JUDGEMENTS_WIDTH = 100, JUDGEMENTS_ENTRY = 128 };

/* Adds an entry to a paragraph that is wrapped between entries. */
static void put_entry(int *column, const char *title, const char *entry) {
    if (*column == 0)
        *column = printf("  %-7s %s", title, entry);
    else if (*column + 2 + (int)strlen(entry) <= JUDGEMENTS_WIDTH)
        *column += printf(", %s", entry);
    else
        *column = printf(",\n  %-7s %s", "", entry) - 2;
}

void print_judgements(const struct collector *collector, const struct gc_config *config,
                      oracle_set oracles, const uint64_t judged[ORACLE_COUNT]) {
    char entry[JUDGEMENTS_ENTRY], why[64];
    for (int silent = 0, column = 0; silent < 2; silent++, column = 0) {
        for (unsigned o = 0; o < ORACLE_COUNT; o++) {
            if ((judged[o] == 0) != (silent != 0))
                continue;
            if (silent) {
                runner_silence(collector, config, oracles, (enum oracle)o, why, sizeof why);
                snprintf(entry, sizeof entry, "%s (%s)", oracle_name((enum oracle)o), why);
            } else {
                snprintf(entry, sizeof entry, "%s %" PRIu64, oracle_name((enum oracle)o),
                         judged[o]);
            }
            put_entry(&column, silent ? "silent" : "judged", entry);
        }
        if (column)
            printf("\n");
    }
}
