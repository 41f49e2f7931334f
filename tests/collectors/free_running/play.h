/* SPDX-License-Identifier: MIT
 *
 * Programs on a runtime whose domains are threads of the system (player.h).
 */
#ifndef ISOHEAP_TESTS_PLAY_H
#define ISOHEAP_TESTS_PLAY_H

#include "collectors/ocaml5/threads/threads.h"
#include "program/program.h"

/* Once in a process, before all else.  change: an ephemeron that several domains have is changed,
 * which 5.3 does not publish (docs/ocaml5.md). */
void play_open(const struct parallel_runtime *, const struct gc_config *, bool change);
/* Each of so many domains plays its part, again and again; then all end, and nothing may be left.
 * Returns how many operations they have done.  What goes wrong ends the process. */
uint64_t play(const struct program *, unsigned mutators);

#endif
