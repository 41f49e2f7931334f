/* SPDX-License-Identifier: MIT
 *
 * The steps of reduction on the schedule of threads (steps.h): one decision after the other is
 * taken away, until few are left.
 */
#include "program/cut.h"
#include "program/reduction/steps.h"

static unsigned count_switches(const struct program *p) {
    return p->n_switches;
}

static bool remove_switches(struct program *p, unsigned at, unsigned n) {
    cut_switches(p, at, n);
    return true;
}

enum { CHOICES = 6 }; /* small ones, that are tried */
static unsigned count_choices(const struct program *p) {
    return p->n_switches * CHOICES;
}

static bool lower_choice(struct program *p, unsigned at, unsigned n) {
    (void)n;
    uint32_t *s = &p->switches[at / CHOICES];
    unsigned choice = 1 + at % CHOICES;
    if (choice >= switch_choice(*s))
        return false;
    *s = switch_make(switch_at(*s), choice);
    return true;
}

const struct step_family schedule_steps[] = {
    {"take a decision away", true, count_switches, remove_switches},
    {"lower a choice", false, count_choices, lower_choice},
    {0}};
