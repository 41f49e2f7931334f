/* SPDX-License-Identifier: MIT
 *
 * What a folder of inputs reaches: libFuzzer reads it and says so (campaign.h).
 */
#define _GNU_SOURCE
#include "cli/campaign/campaign.h"

#include <string.h>

bool measure_begin(struct process *p, const struct target *t, const char *const *folders,
                   const char *environment) {
    struct words argv = {.n = 0}, settings = {.n = 0};
    libfuzzer_target(t, &argv);
    add_word(&argv, "-runs=0");
    add_word(&argv, "-artifact_prefix=found/");
    for (; *folders; folders++)
        if (has_here(t, *folders))
            add_word(&argv, "%s", *folders);
    libfuzzer_settings(&settings);
    if (environment)
        add_word(&settings, "%s", environment);
    bool good = process_start(p, t->work, argv.word, settings.word);
    free_words(&argv);
    free_words(&settings);
    return good;
}

/* "#307\tINITED cov: 373 ft: 1264 corp: 295/1998b ..." */
void measure_line(const char *text, void *context) {
    struct reach *reach = context;
    unsigned edges, features;
    const char *said = strstr(text, "INITED cov: ");
    if (!said || sscanf(said, "INITED cov: %u ft: %u", &edges, &features) != 2)
        return;
    reach->known = true;
    reach->edges = edges;
    reach->features = features;
}
