# SPDX-License-Identifier: MIT
"""The files of a checkout, without what a build or a campaign leaves in it; git is not needed."""
import os

LEFT_OUT = {"build", "findings", "corpus", "__pycache__"}


def files(root):
    found = []
    for folder, folders, names in os.walk(root):
        folders[:] = sorted(f for f in folders if f not in LEFT_OUT and not f.startswith("."))
        found += [os.path.relpath(os.path.join(folder, name), root) for name in sorted(names)]
    return found
