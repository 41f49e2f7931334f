#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Many seeded faults of a collector in one copy of its sources (cmake/IsoheapFaults.cmake).

  merge_faults.py plan SOURCE                          a line for each patch that cannot be merged: collector/name
  merge_faults.py merge SOURCE OUT COLLECTOR NAME...   the merged files, below OUT as below SOURCE

A patch that changes nothing but the insides of functions is merged: beside each function that it
changes stands a copy, as the patch leaves it, and the function itself calls the copy of the fault
that was chosen.  That cannot be done with a type, a macro or a parameter: those patches get an object
of their own.  OUT/fault_names.h lists the faults, with the number of each and the variables of the
functions that it changes, which say whose copy is called (fuzz/faults/choose.h): so several faults
can be chosen that change different functions.  OUT/../NAME.so is a link to the object that has them
all.
"""
import pathlib
import re
import subprocess
import sys
import tempfile

FUNCTION = re.compile(r"([A-Za-z_]\w*)\(")


class Function:
    def __init__(self, head, body):
        self.head, self.body = head, body
        self.name = FUNCTION.search(head).group(1)


def parse(text):
    """Functions, and the lines between them as strings; the layout is clang-format's."""
    parts, between, lines, at = [], [], text.split("\n"), 0
    while at < len(lines):
        end = at
        if re.match(r"[A-Za-z_]", lines[at]):
            while not lines[end].rstrip().endswith(("{", ";")) and end + 1 < len(lines):
                end += 1
        head = "\n".join(lines[at:end + 1])
        if re.match(r"[A-Za-z_]", head) and head.endswith("{") and FUNCTION.search(head) and "=" not in head:
            close = lines.index("}", end)
            parts += ["\n".join(between), Function(head[:-1].rstrip(), "\n".join(lines[end + 1:close]))]
            between, at = [], close + 1
        else:
            between += lines[at:end + 1]
            at = end + 1
    return parts + ["\n".join(between)]


def functions(parts):
    return [part for part in parts if isinstance(part, Function)]


def plain(text):
    return " ".join(re.sub(r"/\*.*?\*/", " ", text, flags=re.S).split())


def patched(source, patch):
    """What the patch changes: {path: (parts before, parts after)}."""
    files = re.findall(r"^\+\+\+ b/(\S+)", patch.read_text(), re.M)
    with tempfile.TemporaryDirectory() as work:
        for name in files:
            copy = pathlib.Path(work, name)
            copy.parent.mkdir(parents=True, exist_ok=True)
            copy.write_text((source / name).read_text())
        said = subprocess.run(["patch", "--batch", "--forward", "--no-backup-if-mismatch", "--fuzz=2", "-p1", "-d", work,
                               "-i", patch.resolve()], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        if said.returncode != 0:
            sys.exit(f"{patch} does not apply to the collectors' sources:\n{said.stdout}\n"
                     "The sources have changed where the fault sits: bring the patch up to date (docs/evaluation.md).")
        return {name: (parse((source / name).read_text()), parse(pathlib.Path(work, name).read_text()))
                for name in files}


def can_be_merged(changes):
    for before, after in changes.values():
        if plain(" ".join(p for p in before if isinstance(p, str))) != plain(
                " ".join(p for p in after if isinstance(p, str))):
            return False
        if [plain(f.head) for f in functions(before)] != [plain(f.head) for f in functions(after)]:
            return False
        if any(f.head.endswith("...)") and f.body != g.body for f, g in zip(functions(before), functions(after))):
            return False
    return True


def arguments(head):
    """The names of a function's parameters."""
    inside, depth, names, one = head[head.index("(") + 1:head.rindex(")")], 0, [], ""
    for letter in inside + ",":
        depth += (letter == "(") - (letter == ")")
        if letter == "," and depth == 0:
            called = re.search(r"\(\*(\w+)\)|(\w+)\(", one) # a function, or a pointer to one
            names.append(called.group(1) or called.group(2) if called
                         else re.search(r"(\w+)\s*(\[[^]]*\])*\s*$", one).group(1))
            one = ""
        else:
            one += letter
    return [] if names == ["void"] else names


def renamed(function, suffix):
    return re.sub(rf"\b{function.name}\(", f"{function.name}{suffix}(", function.head, count=1)


def variable(path, name):
    """Whose copy of a function is called."""
    return "fault_in_" + re.sub(r"\W", "_", path) + "_" + name


def merged(function, variants, chosen):
    """The function with its variants {number: (fault, body)}.  A table chooses, not a branch: a fuzzer
    counts branches, and shall learn nothing from this one.  A header's function is in several objects: its
    variable is weak."""
    if not variants:
        return f"{function.head} {{\n{function.body}\n}}"
    kind = re.sub(r"\b(static|inline|_Noreturn)\b", "", function.head[:FUNCTION.search(function.head).start()])
    text = [f"__attribute__((weak)) unsigned {chosen};", function.head + ";"] # a variant may call it
    for fault, body in [("clean", function.body)] + [variants[n] for n in sorted(variants)]:
        text.append(f"{renamed(function, '__' + fault)} {{\n{body}\n}}")
    rows = "".join(f", [{number}] = {function.name}__{variants[number][0]}" for number in sorted(variants))
    text.append(f"{function.head} {{\n"
                f"    static const __typeof__(&{function.name}__clean) {function.name}__all[] = {{[0 ... FAULT_NUMBERS] = {function.name}__clean{rows}}};\n"
                f"    {'' if kind.split() == ['void'] else 'return '}"
                f"{function.name}__all[{chosen}]({', '.join(arguments(function.head))});\n}}")
    return "\n".join(text)


def write(path, text):
    """A file that is as it was keeps its time."""
    if not path.exists() or path.read_text() != text:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)


def merge(source, out, collector, names):
    before, variants = {}, {}
    for number, name in enumerate(names, 1):
        changes = patched(source, source / "faults" / collector / f"{name}.patch")
        if not can_be_merged(changes):
            sys.exit(f"{collector}/{name}: cannot be merged; configure again")
        for path, (old, new) in changes.items():
            before[path] = old
            for one, other in zip(functions(old), functions(new)):
                if one.body != other.body:
                    variants.setdefault((path, one.name), {})[number] = (name, other.body)
    for path, parts in before.items():
        write(out / path, "\n".join(
            part if isinstance(part, str) else merged(part, variants.get((path, part.name)), variable(path, part.name))
            for part in parts))
    chosen = {number: [variable(*function) for function in variants if number in variants[function]]
              for number in range(1, len(names) + 1)}
    write(out / "fault_names.h", "".join(
        [f"extern unsigned {name};\n" for name in sorted({name for some in chosen.values() for name in some})] +
        ["static const struct fault_row fault_rows[] = {\n"] +
        ["    {\"%s\", %u, {%s, NULL}},\n" % (name, number, ", ".join("&" + one for one in chosen[number]))
         for number, name in enumerate(names, 1)] + ["};\n"]))
    for name in names:
        link = out.parent / f"{name}.so"
        link.unlink(missing_ok=True)
        link.symlink_to("merged.so")


def main(command, source, *rest):
    source = pathlib.Path(source)
    if command == "plan":
        for patch in sorted(source.glob("faults/*/*.patch")):
            if not can_be_merged(patched(source, patch)):
                print(f"{patch.parent.name}/{patch.stem}")
    else:
        merge(source, pathlib.Path(rest[0]), rest[1], rest[2:])


main(*sys.argv[1:])
