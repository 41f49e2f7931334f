/* SPDX-License-Identifier: MIT
 *
 * Signals that ask a long command to end with what it has (cli.h).
 */
#define _GNU_SOURCE
#include "cli/cli.h"

volatile sig_atomic_t signal_caught;

static void on_signal(int number) {
    signal_caught = number;
}

void note_signals(void) {
    static const int ends[] = {SIGINT, SIGTERM, SIGHUP};
    struct sigaction action = {.sa_handler = on_signal}, before;
    for (unsigned i = 0; i < sizeof ends / sizeof *ends; i++)
        if (sigaction(ends[i], NULL, &before) == 0 && before.sa_handler != SIG_IGN)
            sigaction(ends[i], &action, NULL);
}

void pass_signal_on(void) {
    if (!signal_caught)
        return;
    fflush(NULL);
    signal(signal_caught, SIG_DFL);
    raise(signal_caught);
}
