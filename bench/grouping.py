#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""One defect, one file?  Campaigns against collectors of which we know what is wrong.

    grouping.py run ISOHEAP BUILD RESULTS [--seconds N] [--runs N] [--sample N] [--only TEXT] [--time N] [--together N]
    grouping.py report RESULTS
    grouping.py report-together RESULTS

ISOHEAP is the command of the build that has the faults, BUILD/bin/isoheap.  `run` fuzzes each seeded fault of a
collector (`cmake --build BUILD --target faults`) from nothing until that many processor seconds are spent, engine,
judgement and reduction together, or all findings of so many executions are filed, and appends a line to
RESULTS/results.tsv (fault, seconds, new and known findings): what is there already is not run again.  The reports
stay in RESULTS/<collector>-<fault>/.  --sample takes so many faults, the same ones each time; --time begins no other
one after that many seconds.  Faults of the on-the-fly model have schedules, which are not reduced to a program, and
are left out.

--together=2 takes pairs of faults of one collector that have both at once, --together=3 triples: faults that are
merged into one object and change different functions (cmake/merge_faults.py).  Each input that the campaign files is
kept in RESULTS/<collector>-<faults>.inputs/, and judged with each of the faults alone, as is the program of each file: so
it is known whose finding it is, if it is of one fault alone.

`report` prints how many report files a fault has got, and of how many pairs of faults of one collector a report of
one would have been taken for one of the other: they say the same defect or form.  `report-together` prints for
campaigns with several faults how many files a fault has got, and how many files have findings of two faults.
"""
import argparse
import collections
import glob
import itertools
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


def keep_inputs(folder, to):
    """Copies what waits to be filed: it is gone once it was counted."""
    for path in glob.glob(folder + "/corpora/.work/fuzz_fault/queue/*"):
        kept = to + "/" + os.path.basename(path).split(",")[0]
        if not os.path.exists(kept):
            try:
                shutil.copy(path, kept)
            except OSError:
                pass # just filed


def campaign(isoheap, path, build, folder, crashes, inputs, options):
    """A campaign until the processor time is spent; returns how much it was, and the end of its output."""
    binaries = folder + "/bin"
    os.makedirs(binaries)
    os.symlink(build + "/faults/fuzz_fault", binaries + "/fuzz_fault")
    os.symlink(isoheap, binaries + "/isoheap")
    environment = dict(os.environ, ISOHEAP_FAULT=path)
    with open(folder + "/said", "w+") as said:
        process = subprocess.Popen(
            [isoheap, "fuzz", f"--time={LONGEST}", "--jobs=1", "--seed=1", f"--runs={options.runs}",
             f"--keep={options.keep}", "--bin-dir=" + binaries, "--corpus=" + folder + "/corpora",
             "--crashes=" + crashes, "fuzz_fault"], env=environment, stdin=subprocess.DEVNULL, stdout=said, stderr=said)
        spent = 0.0
        while spent < options.seconds and process.poll() is None:
            time.sleep(0.1)
            if inputs:
                keep_inputs(folder, inputs)
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


def together(isoheap, build, names, work, options):
    """Faults of one collector as one object, COLLECTOR/NAME+NAME: those that can be had at once, in a seeded order."""
    by_collector = collections.defaultdict(list)
    for name in names:
        if os.path.islink(f"{build}/faults/{name}.so"):
            by_collector[name.split("/")[0]].append(name.split("/")[1])
    sets = [(collector, some) for collector, members in sorted(by_collector.items())
            for some in itertools.combinations(members, options.together)]
    random.Random(1).shuffle(sets)
    empty = work + "/empty.txt"
    with open(empty, "w") as file:
        file.write("isoheap program 1\n")
    found = []
    for collector, some in sets:
        if len(found) == options.sample:
            break
        path = f"{work}/{collector}/{'+'.join(some)}.so"
        os.makedirs(os.path.dirname(path), exist_ok=True)
        os.symlink(f"{build}/faults/{collector}/merged.so", path)
        if subprocess.run([isoheap, "run", "-q", "--collector", path, empty], stdout=subprocess.DEVNULL,
                          stderr=subprocess.DEVNULL).returncode == 0:
            found.append(f"{collector}/{'+'.join(some)}")
    return found


def failing(isoheap, build, fault, files):
    """Those of the files that fail with that fault alone."""
    if not files:
        return set()
    done = subprocess.run([isoheap, "run", "-q", "--target=none", "--collector", f"{build}/faults/{fault}.so"] + files,
                          stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, errors="replace")
    return set(re.findall(r"^(.*): violation ", done.stdout, re.M))


def attribute(isoheap, build, fault, crashes, inputs):
    """Writes whose each file and input is, a line each: the path and the faults with which it fails alone."""
    collector, names = fault.split("/")
    files = sorted(glob.glob(crashes + "/*/*.txt")) + sorted(glob.glob(inputs + "/*"))
    owners = {name: failing(isoheap, build, f"{collector}/{name}", files) for name in names.split("+")}
    with open(inputs + ".tsv", "w") as out:
        for path in files:
            print(os.path.basename(path), ",".join(n for n in owners if path in owners[n]), sep="\t", file=out)


def run(options):
    isoheap, build, results = (os.path.abspath(p) for p in (options.isoheap, options.build, options.results))
    os.makedirs(results, exist_ok=True)
    os.environ["ASAN_OPTIONS"] = "detect_leaks=0"
    todo = [f for f in faults(build) if options.only in f]
    with tempfile.TemporaryDirectory() as objects:
        if options.together > 1:
            todo = together(isoheap, build, todo, objects, options)
        else:
            random.Random(1).shuffle(todo)
            todo = todo[:options.sample or len(todo)]
        run_all(isoheap, build, results, objects if options.together > 1 else build + "/faults", todo, options)


def run_all(isoheap, build, results, objects, todo, options):
    done = {line[0] for line in known(results)}
    end = time.monotonic() + options.time if options.time else None
    for fault in todo:
        if fault in done:
            continue
        if end and time.monotonic() > end:
            break
        crashes = results + "/" + fault.replace("/", "-")
        inputs = crashes + ".inputs" if options.together > 1 else ""
        for folder in filter(None, (crashes, inputs)):
            shutil.rmtree(folder, ignore_errors=True)
        if inputs:
            os.makedirs(inputs)
        with tempfile.TemporaryDirectory() as corpus:
            spent, said = campaign(isoheap, f"{objects}/{fault}.so", build, corpus, crashes, inputs, options)
        fresh, again = (int(n) for n in re.search(r"(\d+) new violations?, (\d+) known", said).groups())
        if fresh + again == 0:
            print(f"grouping.py: {fault}:", said, file=sys.stderr)
        if inputs:
            attribute(isoheap, build, fault, crashes, inputs)
        with open(results + "/results.tsv", "a") as out:
            print(fault, f"{spent:.1f}", fresh, again, sep="\t", file=out)


def percentile(values, share):
    values = sorted(values)
    return values[min(len(values) - 1, int(share * len(values)))]


def print_files(of_what, counts):
    print(f"files_per_{of_what}_median {statistics.median(counts):g} files")
    print(f"files_per_{of_what}_95 {percentile(counts, 0.95)} files")
    print(f"files_per_{of_what}_worst {max(counts)} files")


def report(options):
    lines = known(options.results)
    files = {line[0]: reports(options.results + "/" + line[0].replace("/", "-")) for line in lines}
    counts = [len(names) for names in files.values() if names]
    print(f"faults {len(files)}, without a report {sum(not names for names in files.values())}")
    if not counts:
        return
    print(f"processor seconds of each: median {statistics.median(float(line[1]) for line in lines):.0f}")
    print_files("defect", counts)
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


def members(path):
    """The inputs that a file says were counted in it, its own first."""
    with open(path, errors="replace") as file:
        return re.findall(r"^# (?:input|also): ([0-9a-f]+)", file.read(), re.M)


def report_together(options):
    lines = known(options.results)
    of_fault, files, mixed, hidden, campaigns = [], 0, 0, 0, 0
    for line in lines:
        crashes = options.results + "/" + line[0].replace("/", "-")
        with open(crashes + ".inputs.tsv") as rows:
            owner = dict(row.rstrip("\n").split("\t") for row in rows)
        paths = [crashes + "/" + name for name in reports(crashes)]
        whose = [{owner.get(name, "") for name in [os.path.basename(path)] + members(path)} for path in paths]
        whose = [{name for name in names if name and "," not in name} for names in whose]
        faults_here = line[0].split("/")[1].split("+")
        counts = {name: sum(name in names for names in whose) for name in faults_here}
        of_fault += [n for n in counts.values() if n]
        files += len(paths)
        mixed += sum(len(names) > 1 for names in whose)
        campaigns += 1
        hidden += sum(not counts[name] and name in owner.values() for name in faults_here)
        if options.verbose:
            print(line[0], counts, [sorted(names) for names in whose if len(names) > 1])
    print(f"campaigns {campaigns}, files {files}")
    if not of_fault:
        return
    print(f"faults with a file {len(of_fault)}, none of whose inputs was looked at in the time {hidden}")
    print_files("fault", of_fault)
    print(f"files_of_two_faults {mixed} of {files}")


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
    runs.add_argument("--together", type=int, default=1)
    runs.set_defaults(do=run)
    reporting = commands.add_parser("report")
    reporting.add_argument("results")
    reporting.add_argument("--verbose", action="store_true")
    reporting.set_defaults(do=report)
    reporting = commands.add_parser("report-together")
    reporting.add_argument("results")
    reporting.add_argument("--verbose", action="store_true")
    reporting.set_defaults(do=report_together)
    options = parser.parse_args()
    options.do(options)


if __name__ == "__main__":
    main()
