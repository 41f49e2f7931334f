/* SPDX-License-Identifier: MIT
 *
 * The defects of the known-bad collectors (collectors/faults.def), and the switch that turns
 * them on.  A collector's source asks FAULTY(<defect>) where the defect is, and is compiled in
 * three ways:
 *
 *   as it is                         FAULTY() is the constant 0, and nothing of it is left in the
 *                                    object code
 *   -DISOHEAP_FAULT=FAULT_<defect>   the collector with that defect, as a collector by itself
 *   -DISOHEAP_FAULT=known_bad_fault  with all of its defects; a variable says which one it has
 *                                    (collectors/known_bad/switch.c)
 *
 * -DISOHEAP_COLLECTOR=<symbol> names the `const struct collector` of such a compilation.
 */
#ifndef ISOHEAP_FAULTS_H
#define ISOHEAP_FAULTS_H

#include "collectors/faults.def"

#define FAULT_ROW(source, defect, violation, text) FAULT_##defect,
enum isoheap_fault { FAULT_none, KNOWN_BAD(FAULT_ROW) };
#undef FAULT_ROW

/* The defect of the known-bad collector that runs. */
extern enum isoheap_fault known_bad_fault;

#ifndef ISOHEAP_FAULT
#define ISOHEAP_FAULT FAULT_none
#endif
#define FAULTY(name) (ISOHEAP_FAULT == FAULT_##name)

/* The name of the collector that this compilation makes: its symbol, ISOHEAP_COLLECTOR, as text. */
#define COLLECTOR_TEXT(symbol)  #symbol
#define COLLECTOR_TEXT_(symbol) COLLECTOR_TEXT(symbol)
#define COLLECTOR_NAME          COLLECTOR_TEXT_(ISOHEAP_COLLECTOR)

#endif
