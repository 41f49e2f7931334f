/* SPDX-License-Identifier: MIT
 *
 * The on-the-fly collector of TSO (models/onthefly_threads/) as a collector that programs are run
 * on: a thread that collects all the time, beside up to four mutators that are never stopped
 * together, on deterministic threads.
 */
#ifndef ISOHEAP_CONCURRENT_H
#define ISOHEAP_CONCURRENT_H

#include "collectors/collector.h"

extern const struct collector concurrent;

#endif
