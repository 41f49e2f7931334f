#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""What a reduction in a fuzz target costs, sanitizers and all.

    target_cost.py ISOHEAP FOLDER IN_PROCESS PLAIN

Reduces random programs that fail on a known-bad collector, in the target of FOLDER that fuzzes it (preset known-bad:
fuzz_bad_raw_short), in the command's own children, and in the process that reduces (IN_PROCESS, the program
bench_in_process of the fuzz build, which has the same sanitizers, and PLAIN, that of the release build, which has
none), and prints ratios of processor times.  All must come to the same number of runs, the first two to the same
program.  Of a target and in process the least of several times counts: the start is most of it, and what one run adds
is their difference.

A target is started once for a reduction, and asked for the violation, its reason without the target and the
end result, whatever the reduction takes: reduce_target_start.  What it costs more with each run is compared with the
same in process: reduce_target_to_process, and reduce_target_to_plain_process, which has the sanitizers' own cost in it.
"""
import os
import random
import resource
import subprocess
import sys
import tempfile

COLLECTOR = "bad_raw_short"
FINDINGS, BYTES, TIMES = 10, 1024, 5


def processor_seconds():
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def findings(isoheap, work):
    """Files of programs that fail."""
    found, draw = [], random.Random(1)
    while len(found) < FINDINGS:
        path = os.path.join(work, "finding%d" % len(found))
        with open(path, "wb") as file:
            file.write(draw.randbytes(BYTES))
        subprocess.run([isoheap, "convert", "--bytes", "--to=text", "-o", path + ".txt", path], check=True)
        done = subprocess.run([isoheap, "run", "-q", "--target=none", "-c", COLLECTOR, path + ".txt"],
                              stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        if done.returncode == 1:
            found.append(path + ".txt")
    return found


def reduced(isoheap, target, finding, output, *options):
    """Processor seconds, runs and the program without its comments."""
    before = processor_seconds()
    done = subprocess.run([isoheap, "reduce", "--target", target, "-c", COLLECTOR, "-o", output, *options, finding],
                          check=True, text=True, stderr=subprocess.PIPE)
    seconds = processor_seconds() - before
    runs = int(done.stderr.split(" runs")[0].split()[-1])
    with open(output, encoding="ascii") as file:
        return seconds, runs, [line for line in file if not line.startswith("#")]


def reduced_here(program, files):
    """Processor seconds and runs of all of them in one process."""
    done = subprocess.run([program, "", COLLECTOR] + files,
                          check=True, text=True, stdout=subprocess.PIPE)
    figures = {line.split()[0]: float(line.split()[1]) for line in done.stdout.splitlines()}
    return figures["reduce_in_process_seconds_"], int(figures["reduce_in_process_runs_"])


def least(measure):
    """Of several measurements, which begin with the seconds."""
    return min((measure() for _ in range(TIMES)), key=lambda result: result[0])


def main():
    if len(sys.argv) != 5:
        sys.exit(__doc__)
    isoheap, folder, *programs = sys.argv[1:]
    if not os.access(os.path.join(folder, "fuzz_" + COLLECTOR), os.X_OK):
        print("target_cost.py: no fuzz_%s in %s" % (COLLECTOR, folder), file=sys.stderr)
        return
    inside = own = start = runs = 0
    with tempfile.TemporaryDirectory() as work:
        files, small = findings(isoheap, work), os.path.join(work, "small.txt")
        for finding in files:
            one = least(lambda: reduced(isoheap, folder, finding, small))
            other = reduced(isoheap, "none", finding, small)
            if one[2] != other[2]:
                sys.exit("target_cost.py: %s: the target comes to another program" % finding)
            start += least(lambda: reduced(isoheap, folder, finding, small, "--runs=0"))[0]
            inside, own, runs = inside + one[0], own + other[0], runs + one[1]
        (here, runs_here), (plain, runs_plain) = [least(lambda: reduced_here(program, files)) for program in programs]
    if runs_here != runs or runs_plain != runs:
        sys.exit("target_cost.py: %d and %d runs in this process, %d in the target" % (runs_here, runs_plain, runs))
    print("reduce_target_to_children %.3f ratio" % (inside / own))
    print("reduce_target_start %.0f ms" % (1000 * start / FINDINGS))
    print("reduce_target_run %.3f ms" % (1000 * (inside - start) / runs))
    print("reduce_process_run %.3f ms" % (1000 * here / runs))
    print("reduce_plain_process_run %.3f ms" % (1000 * plain / runs))
    print("reduce_target_to_process %.2f ratio" % ((inside - start) / here))
    print("reduce_target_to_plain_process %.2f ratio" % ((inside - start) / plain))


main()
