/* SPDX-License-Identifier: MIT
 *
 * The subject: the stop-the-world mark-and-sweep collector of the verified OCaml collector papers.
 */
#ifndef ISOHEAP_MARK_SWEEP_H
#define ISOHEAP_MARK_SWEEP_H

#include "collectors/collector.h"

extern const struct collector mark_sweep;

#endif
