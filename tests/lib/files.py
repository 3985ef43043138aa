# SPDX-License-Identifier: GPL-2.0-or-later
"""Read the files of a directory."""

import os


def contents(path):
    """Return {name: bytes} of the regular files of a directory."""
    found = {}
    for entry in os.scandir(path):
        if entry.is_file(follow_symlinks=False):
            with open(entry.path, "rb") as file:
                found[entry.name] = file.read()
    return found
