#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""How many executions does it take to find each known defect of OCaml's runtime?

    bench/ocaml_defects.py run FOLDER [--runtime=ocaml|ocaml5] [--seeds=10] [--runs=100000] [--max-len=512] [--defects=MASK,MASK]
    bench/ocaml_defects.py report FOLDER

Each run fuzzes one target from an empty corpus with all masks on but one (docs/ocaml.md, docs/ocaml5.md) until something
is found, with libFuzzer's seeds 1, 2, ...; what is found must be gone with the mask on.  A line of
FOLDER/runs.jsonl is a run; those that are there are not made again, so that a command which has been
interrupted goes on.  Executions, as libFuzzer counts them, do not depend on the machine.  A run that
finds nothing within --runs counts as that many, and makes the median a lower bound (>).

Needs the targets: scripts/build.sh fuzz.  One process at a time, at the lowest priority.
"""
import argparse
import glob
import json
import os
import re
import statistics
import subprocess
import sys
import tempfile

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
BIN = os.path.join(ROOT, "build", "fuzz", "bin")


def defects(runtime):
    """{mask: the collector whose crash file comes first}, those of the runtime without its own assertions before others."""
    found = {}
    for path in sorted(glob.glob(os.path.join(ROOT, "crashes", "*", f"{runtime}*-*.txt")),
                       key=lambda p: ("_debug-" in p, p)):
        collector, mask = os.path.basename(path).split(".")[0].split("-", 1)
        if collector.split("_")[0] == runtime:
            found.setdefault(mask, collector)
    return found


def environment(mask):
    return dict(os.environ, ASAN_OPTIONS="detect_leaks=0:symbolize=0", ISOHEAP_UNMASK=mask, ISOHEAP_MUTATION="runtime")


def fuzz(collector, mask, seed, options):
    """One run as a record."""
    with tempfile.TemporaryDirectory() as work:
        corpus = os.path.join(work, "corpus")
        os.mkdir(corpus)
        target = os.path.join(BIN, f"fuzz_{collector}")
        command = ["nice", "-n", "19", target, f"-seed={seed}", f"-runs={options.runs}", f"-max_len={options.max_len}",
                   "-print_final_stats=1", "-timeout=20", f"-artifact_prefix={work}/found-", corpus]
        done = subprocess.run(command, env=environment(mask), stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, check=False)
        log = done.stdout.decode(errors="replace")
        executed = re.findall(r"^(?:stat::number_of_executed_units: *|#)(\d+)", log, re.M)
        if not executed:
            sys.exit(f"{target} did not run:\n{log[-2000:]}")
        record = {"mask": mask, "collector": collector, "seed": seed, "runs": options.runs, "found": None,
                  "executions": int(executed[-1]) if done.returncode else options.runs}
        if done.returncode:
            record["found"], record["masked"] = judge(collector, mask, glob.glob(os.path.join(work, "found-*")))
    return record


def judge(collector, mask, inputs):
    """(the class of what was found, is it gone with the mask on?)"""
    if not inputs:
        return "no input", False
    command = [os.path.join(BIN, "isoheap"), "run", "--quiet", "--collector", collector]
    shown = subprocess.run([*command, f"--unmask={mask}", inputs[0]], env=environment(mask), stdout=subprocess.PIPE,
                           stderr=subprocess.STDOUT, check=False).stdout.decode(errors="replace")
    masked = subprocess.run([*command, inputs[0]], env=dict(environment(mask), ISOHEAP_UNMASK=""), stdout=subprocess.DEVNULL,
                            stderr=subprocess.DEVNULL, check=False).returncode == 0
    found = re.search(r"violation ([a-z_]+)", shown)
    return found.group(1) if found else "other", masked


def records(folder):
    path = os.path.join(folder, "runs.jsonl")
    if not os.path.exists(path):
        return []
    with open(path, encoding="utf-8") as lines:
        return [json.loads(line) for line in lines]


def run(options):
    os.makedirs(options.folder, exist_ok=True)
    done = {(r["mask"], r["seed"]) for r in records(options.folder)}
    known = defects(options.runtime)
    wanted = options.defects.split(",") if options.defects else list(known)
    for seed in range(1, options.seeds + 1):
        for mask in wanted:
            if (mask, seed) in done:
                continue
            record = fuzz(known[mask], mask, seed, options)
            with open(os.path.join(options.folder, "runs.jsonl"), "a", encoding="utf-8") as lines:
                lines.write(json.dumps(record) + "\n")
            print(json.dumps(record), flush=True)


def report(options):
    by_mask = {}
    for record in records(options.folder):
        by_mask.setdefault(record["mask"], []).append(record)
    for mask, runs in by_mask.items():
        executions = sorted(r["executions"] for r in runs)
        missed = sum(1 for r in runs if not r["found"])
        others = sum(1 for r in runs if r["found"] and not r["masked"])
        classes = sorted({r["found"] for r in runs if r["found"]})
        bound = ">" if 2 * missed >= len(runs) else ""
        print(f"{mask:18} {runs[0]['collector']:12} {len(runs):2} runs, median {bound}{statistics.median(executions):.0f}, "
              f"{executions[0]} to {executions[-1]}, {missed} missed, {others} with the mask on too: {', '.join(classes)}")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=["run", "report"])
    parser.add_argument("folder")
    parser.add_argument("--runtime", choices=["ocaml", "ocaml5"], default="ocaml")
    parser.add_argument("--seeds", type=int, default=10)
    parser.add_argument("--runs", type=int, default=100000, help="executions after which a run gives up")
    parser.add_argument("--max-len", type=int, default=512)
    parser.add_argument("--defects", default="", help="only these masks, with commas between them")
    options = parser.parse_args()
    {"run": run, "report": report}[options.what](options)


if __name__ == "__main__":
    main()
