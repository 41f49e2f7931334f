/* SPDX-License-Identifier: MIT
 *
 * What every program must survive, however it came about.
 */
#ifndef ISOHEAP_ROUND_TRIP_H
#define ISOHEAP_ROUND_TRIP_H

#include "program/program.h"

/* Writes to stderr which property does not hold, and aborts. */
void require(bool holds, const char *what);

/* Aborts unless the program is valid, decode(encode(p)) = p, and parse(print(p)) = p. */
void require_round_trip(const struct program *);

#endif
