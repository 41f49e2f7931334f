#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""What a campaign costs: executions in the same processor time, of `isoheap fuzz` and of the bare target.

    campaign.py ISOHEAP BIN_DIR [TARGET [OPTION...]]

Both begin with nothing and with the same seed, so that they do the same runs, and as many as the bare target
makes in ten seconds, or four times as many; and at the same time, so that the machine and its load are the same for
both.  Processor time is that of all processes of each.  Lines `name value unit`, medians: where others use the machine,
the processor time of the same runs differs by a third.  Takes less than four minutes on two cores.

For a plug-in: campaign.py ISOHEAP FOLDER fuzz_x --plugin FOLDER/x.so
"""
import os
import re
import shutil
import statistics
import subprocess
import sys
import tempfile

SECONDS, TIMES = 10, 4
LONG_PAIRS, SHORT_PAIRS = 3, 7


def options(binary):
    """What the campaign passes to the engine too."""
    with open(binary + ".options") as f:
        return ["-" + re.sub(r"\s*=\s*", "=", line.strip()) for line in f if re.match(r"[a-z_]+ *=", line)]


def start(command, folder):
    """Starts it in a child of its own, which is waited for with what it has used."""
    output = tempfile.TemporaryFile("w+")
    return subprocess.Popen(command, cwd=folder, stdin=subprocess.DEVNULL, stdout=output, stderr=output), output


def end(started):
    """What it wrote, and its processor seconds, children included."""
    process, output = started
    _, _, usage = os.wait4(process.pid, 0)
    output.seek(0)
    return output.read(), usage.ru_utime + usage.ru_stime


def bare(binary, limit, seed, folder):
    os.mkdir(folder + "/bare")
    return start([binary, limit, f"-seed={seed}", "-artifact_prefix=" + folder + "/",
                  "-dict=" + binary + ".dict", *options(binary), folder + "/bare"], folder)


def campaign(isoheap, binary, more, runs, seed, folder):
    return start([isoheap, "fuzz", "--time=1000", f"--runs={runs}", f"--seed={seed}", "--jobs=1",
                  "--bin-dir=" + os.path.dirname(binary), "--corpus=" + folder + "/corpora",
                  "--crashes=" + folder + "/crashes", *more, os.path.basename(binary)], folder)


def executions(text):
    found = re.search(r"^Done (\d+) runs|^fuzz_\w+ +(\d+) +\d+ +\d+ ->", text, re.M)
    if not found:
        sys.exit("campaign.py: no executions in\n" + text)
    return int(found.group(1) or found.group(2))


def runs_within(binary, seconds):
    with tempfile.TemporaryDirectory() as folder:
        return executions(end(bare(binary, f"-max_total_time={seconds}", 1, folder))[0])


def ratio(isoheap, binary, more, runs, pairs):
    """The median of so many pairs, each of so many runs; a campaign makes a few more before it ends."""
    ratios = []
    for seed in range(1, pairs + 1):
        with tempfile.TemporaryDirectory() as folder:
            both = [bare(binary, f"-runs={runs}", seed, folder), campaign(isoheap, binary, more, runs, seed, folder)]
            rates = []
            for started in both:
                text, seconds = end(started)
                rates.append(executions(text) / seconds)
            ratios.append(rates[1] / rates[0])
    return statistics.median(ratios)


def without_seeds(bin_dir, target, folder):
    """Which lie beside the folder of the binaries."""
    os.mkdir(folder + "/bin")
    for end_of_name in ("", ".dict", ".options"):
        shutil.copy(os.path.join(bin_dir, target + end_of_name), folder + "/bin")
    return os.path.join(folder, "bin", target)


def main():
    isoheap, bin_dir = (os.path.abspath(a) for a in sys.argv[1:3])
    target, more = (sys.argv[3:4] or ["fuzz_mark_sweep"])[0], sys.argv[4:]
    os.environ["ASAN_OPTIONS"] = "detect_leaks=0"
    with tempfile.TemporaryDirectory() as work:
        binary = without_seeds(bin_dir, target, work)
        runs = runs_within(binary, SECONDS)
        for name, times, pairs in (("campaign_ratio", TIMES, LONG_PAIRS), ("campaign_ratio_first_10s", 1, SHORT_PAIRS)):
            value = ratio(isoheap, binary, more, times * runs, pairs)
            print(f"{name} {value:.3f} ratio", flush=True)


if __name__ == "__main__":
    main()
