#!/bin/bash -eu
# SPDX-License-Identifier: MIT
# Called in the containers of ClusterFuzzLite and OSS-Fuzz (oss-fuzz/ has the same file): every
# registered target, with the compilers and flags of the environment.
"$SRC/isoheap/scripts/oss-fuzz-build.sh"
