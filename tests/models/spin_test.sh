#!/bin/sh
# SPDX-License-Identifier: MIT
# The model and its Promela twin reach the same states and agree on a variant (bench/spin.sh).
# SOURCE_DIR is the checkout, ISOHEAP_COMMAND (or ISOHEAP) the command.
set -u
isoheap=${ISOHEAP_COMMAND:-${ISOHEAP:?set ISOHEAP_COMMAND to the path of the command}}
SMALL=yes exec bash "${SOURCE_DIR:?set SOURCE_DIR to the checkout}/bench/spin.sh" "$isoheap"
