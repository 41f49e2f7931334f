#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Runs the commands that a page or a golden file shows, and compares what they print.

    transcripts.py [--renew] FILE...

A command is a line that begins with `$ `; the lines down to the next command are what it must print,
standard output and error together.  In a page (FILE.md) only fenced blocks count, and there

  * a line `...` stands for any number of lines, and ` ...` at the end of a line for the rest of it;
  * a block that is opened by ```output shows lines of the last command's output, in their order;
  * a line that begins with `isoheap`, `build/bin/isoheap`, `cp` or `mkdir` is run as well, and must not
    end as a usage error, an unreadable input or a harness fault, unless it names what only a reader
    has (`…`) or is a campaign;
  * a block that is opened by ```sh is for reading alone.

A golden file is one transcript and has no `...`; --renew writes what the commands print now into it.
All commands of a file run one after the other in the same new folder, in which the checkout's folders
can be reached by their names.  ISOHEAP is the path of the command (default: build/bin/isoheap), SOURCE_DIR the checkout.
"""
import os
import shutil
import subprocess
import sys
import tempfile

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
ISOHEAP = os.environ.get("ISOHEAP", os.path.join(ROOT, "build", "bin", "isoheap"))
SOURCE = os.path.abspath(os.environ.get("SOURCE_DIR", ROOT))
CAMPAIGNS = ("fuzz", "corpus", "faults", "mutants")
NOT_ITS_FAULT = (0, 1)  # exit statuses of a command that did what it was asked for
SECONDS = 300


def furnish(folder):
    """What a reader in the checkout finds: its folders, and the command where `make` puts it.  What a
    command may write into is a copy."""
    for name in os.listdir(SOURCE):
        path, here = os.path.join(SOURCE, name), os.path.join(folder, name)
        if name in ("crashes", "seeds"):
            shutil.copytree(path, here)
        elif name not in ("build", "findings", "corpus", ".git"):
            os.symlink(path, here)
    os.makedirs(os.path.join(folder, "build", "bin"))
    os.symlink(os.path.abspath(ISOHEAP), os.path.join(folder, "build", "bin", "isoheap"))


def run(command, folder):
    """(status, lines) of a command of the shell."""
    environment = dict(os.environ, ASAN_OPTIONS="detect_leaks=0", NO_COLOR="1",
                       PATH=os.path.join(folder, "build", "bin") + os.pathsep + os.environ["PATH"])
    done = subprocess.run(["bash", "-c", command], cwd=folder, env=environment, text=True,
                          errors="replace", stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, timeout=SECONDS, check=False)
    return done.returncode, done.stdout.splitlines()


def same_line(expected, line):
    if expected.endswith(" ..."):
        return line.startswith(expected[:-3].rstrip())
    return expected.rstrip() == line.rstrip()


def matches(expected, lines):
    """Does `...` in the expected lines make them the lines?"""
    if not expected:
        return not lines
    if expected[0].strip() == "...":
        return any(matches(expected[1:], lines[n:]) for n in range(len(lines) + 1))
    return bool(lines) and same_line(expected[0], lines[0]) and matches(expected[1:], lines[1:])


def difference(expected, lines):
    """The first expected line that is not there, and what is there instead."""
    for n, line in enumerate(expected):
        if line.strip() == "...":
            return "a difference behind `...`"
        if n >= len(lines) or not same_line(line, lines[n]):
            return "expected: %s\n  printed:  %s" % (line, lines[n] if n < len(lines) else "(nothing)")
    return "more is printed: %s" % lines[len(expected)]


def fences(text):
    """(line number, info string, lines) of each fenced block."""
    start, info, block = 0, "", []
    for number, line in enumerate(text.splitlines(), 1):
        if line.startswith("```") and not start:
            start, info, block = number, line[3:].strip(), []
        elif line.startswith("```"):
            yield start, info, block
            start = 0
        elif start:
            block.append(line)


def split(lines, first):
    """(line number, command, expected lines) of each `$ ` of a block."""
    steps = []
    for number, line in enumerate(lines, first):
        if line.startswith("$ "):
            steps.append((number, line[2:], []))
        elif steps:
            steps[-1][2].append(line)
    return steps


def is_shown_command(line):
    """Is it to be run, though no output is shown?"""
    words = line.split() + ["", ""]
    if words[0] in ("isoheap", "build/bin/isoheap"):
        return "…" not in line and words[1] not in ("program", "schedule") + CAMPAIGNS
    return words[0] in ("cp", "mkdir")


class Page:
    def __init__(self, path, folder):
        self.path, self.folder = path, folder
        self.last, self.commands, self.wrong = [], 0, 0

    def complain(self, line, what):
        print("%s:%d: %s" % (os.path.relpath(self.path, SOURCE), line, what))
        self.wrong += 1

    def step(self, number, command, expected):
        status, self.last = run(command, self.folder)
        self.commands += 1
        if not matches(expected, self.last):
            self.complain(number, "%s\n  %s" % (command, difference(expected, self.last)))
        elif status not in NOT_ITS_FAULT and command.startswith("isoheap"):
            self.complain(number, "status %d: %s" % (status, command))

    def quoted(self, number, block):
        """Lines of the last output, in their order."""
        if not matches(["..."] + block + ["..."], self.last):
            self.complain(number, "these lines are not in what the last command prints")

    def shown(self, number, line):
        status, self.last = run(line, self.folder)
        self.commands += 1
        if status not in NOT_ITS_FAULT:
            self.complain(number, "status %d: %s\n  %s" % (status, line, "\n  ".join(self.last[:3])))

    def check(self):
        with open(self.path, encoding="utf-8") as file:
            text = file.read()
        for start, info, block in fences(text):
            if info == "sh":
                continue
            if info == "output":
                self.quoted(start, block)
                continue
            steps = split(block, start + 1)
            for step in steps:
                self.step(*step)
            for number, line in enumerate(block if not steps else [], start + 1):
                if is_shown_command(line):
                    self.shown(number, line)


def golden(path, folder, renew):
    """(commands, wrong) of a golden file."""
    with open(path, encoding="utf-8") as file:
        text = file.read()
    if not renew:
        page = Page(path, folder)
        for step in split(text.splitlines(), 1):
            page.step(*step)
        return page.commands, page.wrong
    steps = split(text.splitlines(), 1)
    with open(path, "w", encoding="utf-8") as file:
        for _, command, _ in steps:
            file.write("\n".join(["$ " + command] + run(command, folder)[1]) + "\n")
    return len(steps), 0


def main():
    renew = "--renew" in sys.argv
    paths = [os.path.abspath(path) for path in sys.argv[1:] if path != "--renew"]
    total = wrong = 0
    for path in paths:
        with tempfile.TemporaryDirectory() as folder:
            furnish(folder)
            if path.endswith(".md"):
                page = Page(path, folder)
                page.check()
                commands, bad = page.commands, page.wrong
            else:
                commands, bad = golden(path, folder, renew)
        if not commands:
            print("%s: no command" % os.path.relpath(path, SOURCE))
            wrong += 1
        total, wrong = total + commands, wrong + bad
    print("%d commands, %d wrong" % (total, wrong))
    return wrong != 0


if __name__ == "__main__":
    sys.exit(main())
