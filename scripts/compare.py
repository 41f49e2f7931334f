#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""How soon are the known-bad collectors found, with and without?

Fuzzes every known-bad collector from an empty corpus until the first violation, in several ways
(arms) and with several seeds each, and prints for each the median of the executions that this took,
as libFuzzer counts them, and the Vargha-Delaney measure A12 against the first arm: the probability
that a run of the arm needs fewer executions than a run of the first one, ties by half.  0.5 is no
difference; by convention 0.56, 0.64 and 0.71 are a small, a medium and a large one.

Executions and not time, so that nothing depends on the machine or its load.  A run that finds
nothing within --runs executions counts as that many (shown as >).

Needs the build `known-bad`: make known-bad, or scripts/build.sh known-bad.
"""
import argparse
import concurrent.futures
import os
import re
import statistics
import subprocess
import sys
import tempfile

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
BIN = os.path.join(ROOT, "build", "known-bad", "bin")

# +semantic is the default of semantic coverage, +all has every part of it (docs/mutation.md).
# len_control is libFuzzer's default for byte mutation, which it drops where it sees a custom
# mutator, switched off or not.
ARMS = {
    "bytes": ({"ISOHEAP_MUTATION": "off", "ISOHEAP_SEMANTIC": "off"}, ["-len_control=100"]),
    "bytes+semantic": ({"ISOHEAP_MUTATION": "off"}, ["-len_control=100"]),
    "structured": ({"ISOHEAP_SEMANTIC": "off"}, []),
    "structured+semantic": ({}, []),
    "structured+all": ({"ISOHEAP_SEMANTIC": "all"}, []),
    "bytes+all": ({"ISOHEAP_MUTATION": "off", "ISOHEAP_SEMANTIC": "all"}, ["-len_control=100"]),
}


def profile_arm(name):
    """An arm `profile:overflow` is structured mutation with that profile."""
    return {"ISOHEAP_SEMANTIC": "off", "ISOHEAP_MUTATION": name.split(":", 1)[1]}, []


def arm_of(name):
    return profile_arm(name) if name.startswith("profile:") else ARMS[name]


def known_bad():
    with open(os.path.join(ROOT, "collectors", "known_bad", "table.h"), encoding="utf-8") as table:
        return re.findall(r"^ *X\([a-z_0-9]+, *([a-z_0-9]+), *([a-z_]+),", table.read(), re.M)


def run_once(defect, arm, seed, runs, max_len):
    """(executions, found) of one campaign."""
    environment, options = arm_of(arm)
    with tempfile.TemporaryDirectory() as work:
        corpus = os.path.join(work, "corpus")
        os.mkdir(corpus)
        env = dict(os.environ, ASAN_OPTIONS="detect_leaks=0:symbolize=0", **environment)
        command = [os.path.join(BIN, f"fuzz_bad_{defect}"), f"-seed={seed}", f"-runs={runs}",
                   f"-max_len={max_len}", "-print_final_stats=1", "-timeout=20",
                   f"-artifact_prefix={work}/", *options, corpus]
        done = subprocess.run(command, env=env, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, check=False)
    log = done.stdout.decode(errors="replace")
    # a collector that has destroyed the sanitizer's own memory ends without the last line
    executed = re.findall(r"^(?:stat::number_of_executed_units: *|#)(\d+)", log, re.M)
    if not executed:
        sys.exit(f"fuzz_bad_{defect} did not run:\n{log[-2000:]}")
    return (int(executed[-1]), True) if done.returncode else (runs, False)


def a12(arm, base):
    """P(a run of arm needs fewer executions than a run of base) + half P(as many)."""
    score = sum(1.0 if a < b else 0.5 if a == b else 0.0 for a in arm for b in base)
    return score / (len(arm) * len(base))


def median_text(results):
    executions = [n for n, _ in results]
    text = f"{statistics.median(executions):.0f}"
    missed = sum(1 for _, found in results if not found)
    return f"{'>' if 2 * missed > len(results) else ''}{text}{f' ({missed} missed)' if missed else ''}"


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("arms", nargs="*", default=["bytes", "structured", "structured+semantic"],
                        help="of " + ", ".join(ARMS) + ", profile:NAME; the first is compared with")
    parser.add_argument("--seeds", type=int, default=10, help="runs of each arm (10)")
    parser.add_argument("--first-seed", type=int, default=1)
    parser.add_argument("--runs", type=int, default=300000, help="executions after which a run gives up")
    parser.add_argument("--max-len", type=int, default=256)
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    parser.add_argument("--defects", default="", help="only these, separated by spaces")
    return parser.parse_args()


def main():
    arguments = parse_arguments()
    for arm in arguments.arms:
        if arm not in ARMS and not arm.startswith("profile:"):
            sys.exit(f"compare.py: there is no arm {arm}; see --help")
    defects = [d for d, _ in known_bad() if not arguments.defects or d in arguments.defects.split()]
    seeds = range(arguments.first_seed, arguments.first_seed + arguments.seeds)
    base = arguments.arms[0]
    columns = [f"{base:>18}"] + [f"{arm:>20} {'A12':>5}" for arm in arguments.arms[1:]]
    print(f"{'defect':18}" + " ".join(columns), flush=True)
    scores = {arm: [] for arm in arguments.arms}
    with concurrent.futures.ThreadPoolExecutor(arguments.jobs) as pool:
        for defect in defects:
            jobs = {arm: [pool.submit(run_once, defect, arm, seed, arguments.runs, arguments.max_len)
                          for seed in seeds] for arm in arguments.arms}
            results = {arm: [job.result() for job in jobs[arm]] for arm in arguments.arms}
            counts = {arm: [n for n, _ in results[arm]] for arm in arguments.arms}
            line = f"{defect:18}{median_text(results[base]):>18}"
            for arm in arguments.arms[1:]:
                scores[arm].append(a12(counts[arm], counts[base]))
                line += f" {median_text(results[arm]):>20} {scores[arm][-1]:5.2f}"
            print(line, flush=True)
    for arm in arguments.arms[1:]:
        name = re.sub(r"[^a-z]+", "_", f"{arm}_against_{base}")
        print(f"{name}_a12_mean {statistics.mean(scores[arm]):.3f} ratio")
        print(f"{name}_a12_least {min(scores[arm]):.3f} ratio")
        print(f"{name}_worse {sum(1 for s in scores[arm] if s < 0.5)} of {len(defects)} fixtures")


if __name__ == "__main__":
    main()
