/* SPDX-License-Identifier: MIT
 *
 * The pools and large blocks of a runtime whose memory is the system's: heap_view.c is compiled
 * here without what that has instead.
 */
#include "collectors/ocaml5/heap_view.c"
