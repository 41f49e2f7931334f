#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""What a reduction in a fuzz target costs, sanitizers and all.

    target_cost.py ISOHEAP FOLDER

Reduces seeds that fail on a known-bad collector, in the target of FOLDER that fuzzes it (preset known-bad:
fuzz_bad_raw_short) and in the command's own children, and prints the ratio of the processor times, start
and end of everything included, and that for one run of a program.  Both must come to the same program.
"""
import os
import resource
import subprocess
import sys
import tempfile

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
COLLECTOR = "bad_raw_short"
SEEDS = ("list", "variant_2", "variant_5")


def processor_seconds():
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def reduced(isoheap, target, seed, output):
    """Processor seconds, runs and the program without its comments."""
    before = processor_seconds()
    done = subprocess.run([isoheap, "reduce", "--target", target, "-c", COLLECTOR, "-o", output,
                           os.path.join(ROOT, "seeds", "mark_sweep", seed + ".txt")],
                          check=True, text=True, stderr=subprocess.PIPE)
    seconds = processor_seconds() - before
    runs = int(done.stderr.split(" runs")[0].split()[-1])
    with open(output, encoding="ascii") as file:
        return seconds, runs, [line for line in file if not line.startswith("#")]


def main():
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    isoheap, folder = sys.argv[1:]
    if not os.access(os.path.join(folder, "fuzz_" + COLLECTOR), os.X_OK):
        print("target_cost.py: no fuzz_%s in %s" % (COLLECTOR, folder), file=sys.stderr)
        return
    inside = own = runs = 0
    with tempfile.TemporaryDirectory() as work:
        for seed in SEEDS:
            one = reduced(isoheap, folder, seed, os.path.join(work, "small.txt"))
            other = reduced(isoheap, "none", seed, os.path.join(work, "small.txt"))
            if one[2] != other[2]:
                sys.exit("target_cost.py: %s: the target comes to another program" % seed)
            inside, own, runs = inside + one[0], own + other[0], runs + one[1]
    print("reduce_target_to_children %.3f ratio" % (inside / own))
    print("reduce_target_run %.2f ms" % (1000 * inside / runs))


main()
