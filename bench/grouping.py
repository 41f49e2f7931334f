#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""One defect, one file?  Campaigns against collectors of which we know what is wrong.

    grouping.py run ISOHEAP BUILD RESULTS [--seconds N] [--runs N] [--sample N] [--only TEXT] [--time N]
    grouping.py report RESULTS

ISOHEAP is the command of the build that has the faults, BUILD/bin/isoheap.  `run` fuzzes each seeded fault of a
collector (`cmake --build BUILD --target faults`) from nothing until that many processor seconds are spent, engine,
judgement and reduction together, or all findings of so many executions are filed, and appends a line to
RESULTS/results.tsv (fault, seconds, new and known findings): what is there already is not run again.  The reports
stay in RESULTS/<collector>-<fault>/.  --sample takes so many faults, the same ones each time; --time begins no other
one after that many seconds.  Faults of the on-the-fly model have schedules, which are not reduced to a program, and
are left out.

`report` prints how many report files a fault has got, and of how many pairs of faults of one collector a report of
one would have been taken for one of the other: they say the same defect or form.
"""
import argparse
import collections
import glob
import os
import random
import re
import shutil
import signal
import statistics
import subprocess
import sys
import tempfile
import time

LONGEST = 600  # seconds of one campaign, by the clock


def faults(build):
    found = {os.path.relpath(p, build + "/faults")[:-3] for p in glob.glob(build + "/faults/*/*.so")}
    return sorted(f for f in found if not f.startswith("onthefly/") and not f.endswith("/merged"))


def known(results):
    path = results + "/results.tsv"
    with open(path) if os.path.exists(path) else open(os.devnull) as lines:
        return [line.rstrip("\n").split("\t") for line in lines]


def processor_seconds(root):
    """Of a process and all below it, those that it has waited for included."""
    children, times = collections.defaultdict(list), {}
    for path in glob.glob("/proc/[0-9]*/stat"):
        try:
            with open(path) as f:
                fields = f.read().rsplit(")", 1)[1].split()
        except OSError:
            continue
        pid = int(path.split("/")[2])
        children[int(fields[1])].append(pid)
        times[pid] = sum(map(int, fields[11:15])) / os.sysconf("SC_CLK_TCK")
    total, queue = 0.0, [root]
    while queue:
        pid = queue.pop()
        total += times.get(pid, 0)
        queue += children[pid]
    return total


def campaign(isoheap, build, fault, folder, crashes, options):
    """A campaign until the processor time is spent; returns how much it was, and the end of its output."""
    binaries = folder + "/bin"
    os.makedirs(binaries)
    os.symlink(build + "/faults/fuzz_fault", binaries + "/fuzz_fault")
    os.symlink(isoheap, binaries + "/isoheap")
    environment = dict(os.environ, ISOHEAP_FAULT=f"{build}/faults/{fault}.so")
    with open(folder + "/said", "w+") as said:
        process = subprocess.Popen(
            [isoheap, "fuzz", f"--time={LONGEST}", "--jobs=1", "--seed=1", f"--runs={options.runs}",
             f"--keep={options.keep}", "--bin-dir=" + binaries, "--corpus=" + folder + "/corpora",
             "--crashes=" + crashes, "fuzz_fault"], env=environment, stdin=subprocess.DEVNULL, stdout=said, stderr=said)
        spent = 0.0
        while spent < options.seconds and process.poll() is None:
            time.sleep(0.2)
            spent = max(spent, processor_seconds(process.pid))
        if process.poll() is None:
            process.send_signal(signal.SIGINT)
        process.wait()
        said.seek(0)
        return spent, said.read()


def reports(folder):
    """The report files of a folder of crashes: class/name."""
    return sorted(os.path.relpath(p, folder) for p in glob.glob(folder + "/*/*") if not p.endswith(".history"))


def keys(path):
    """What a report says of its group: defect, and forms."""
    with open(path, errors="replace") as f:
        return set(re.findall(r"^# (?:defect|form): ([0-9a-f]{16})", f.read(), re.M))


def run(options):
    isoheap, build, results = (os.path.abspath(p) for p in (options.isoheap, options.build, options.results))
    os.makedirs(results, exist_ok=True)
    os.environ["ASAN_OPTIONS"] = "detect_leaks=0"
    todo = [f for f in faults(build) if options.only in f]
    random.Random(1).shuffle(todo)
    todo = todo[:options.sample or len(todo)]
    done = {line[0] for line in known(results)}
    end = time.monotonic() + options.time if options.time else None
    for fault in todo:
        if fault in done:
            continue
        if end and time.monotonic() > end:
            break
        crashes = results + "/" + fault.replace("/", "-")
        shutil.rmtree(crashes, ignore_errors=True)
        with tempfile.TemporaryDirectory() as corpus:
            spent, said = campaign(isoheap, build, fault, corpus, crashes, options)
        fresh, again = (int(n) for n in re.search(r"(\d+) new violations?, (\d+) known", said).groups())
        if fresh + again == 0:
            print(f"grouping.py: {fault}:", said, file=sys.stderr)
        with open(results + "/results.tsv", "a") as out:
            print(fault, f"{spent:.1f}", fresh, again, sep="\t", file=out)


def percentile(values, share):
    values = sorted(values)
    return values[min(len(values) - 1, int(share * len(values)))]


def report(options):
    lines = known(options.results)
    files = {line[0]: reports(options.results + "/" + line[0].replace("/", "-")) for line in lines}
    counts = [len(names) for names in files.values() if names]
    print(f"faults {len(files)}, without a report {sum(not names for names in files.values())}")
    if not counts:
        return
    print(f"processor seconds of each: median {statistics.median(float(line[1]) for line in lines):.0f}")
    print(f"files_per_defect_median {statistics.median(counts):g} files")
    print(f"files_per_defect_95 {percentile(counts, 0.95)} files")
    print(f"files_per_defect_worst {max(counts)} files")
    by_collector = collections.defaultdict(list)
    for fault, names in files.items():
        if names:
            folder = options.results + "/" + fault.replace("/", "-") + "/"
            by_collector[fault.split("/")[0]].append((fault, set().union(*(keys(folder + n) for n in names))))
    pairs = merged = 0
    for members in by_collector.values():
        for i, (one, names) in enumerate(members):
            for other, others in members[i + 1:]:
                pairs += 1
                if names & others:
                    merged += 1
                    if options.verbose:
                        print("same:", one, other, *sorted(names & others))
    print(f"defect_pairs_merged {100 * merged / max(1, pairs):.2f} % of {pairs}")
    if options.verbose:
        for fault, names in sorted(files.items(), key=lambda entry: -len(entry[1])):
            print(len(names), fault, *names)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(required=True)
    runs = commands.add_parser("run")
    for name in ("isoheap", "build", "results"):
        runs.add_argument(name)
    runs.add_argument("--seconds", type=float, default=20)
    runs.add_argument("--runs", type=int, default=4000)
    runs.add_argument("--keep", type=int, default=20)
    runs.add_argument("--sample", type=int, default=0)
    runs.add_argument("--only", default="")
    runs.add_argument("--time", type=float, default=0)
    runs.set_defaults(do=run)
    reporting = commands.add_parser("report")
    reporting.add_argument("results")
    reporting.add_argument("--verbose", action="store_true")
    reporting.set_defaults(do=report)
    options = parser.parse_args()
    options.do(options)


if __name__ == "__main__":
    main()
