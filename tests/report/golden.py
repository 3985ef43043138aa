#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Compare the output of kmemtrace-report for each fixture with the .out file beside
the fixture, byte by byte.

Each line '# options: ...' of a fixture is one run.  KMT_UPDATE_GOLDEN=1 writes the
.out files again; review the difference before you commit it.
"""

import glob
import os
import shlex
import subprocess
import sys
import tempfile

import golden_files
import mkcapture

SRCDIR = os.environ.get("top_srcdir", ".")
PROGRAM = os.path.abspath(os.path.join(os.environ.get("top_builddir", "."),
                                       "report", "kmemtrace-report"))


def option_lines(path):
    """Return the option lines of a fixture."""
    with open(path, encoding="utf-8") as f:
        return [line.split(":", 1)[1].strip() for line in f
                if line.startswith("# options:")]


def run_all(path, name):
    """Return the output of all runs of a fixture as one text."""
    text = ""
    with tempfile.TemporaryDirectory() as directory:
        mkcapture.compile_fixture(path, os.path.join(directory, name))
        for options in option_lines(path):
            run = subprocess.run([PROGRAM, *shlex.split(options), name],
                                 cwd=directory, text=True, check=False,
                                 stdout=subprocess.PIPE,
                                 stderr=subprocess.STDOUT)
            text += f"$ kmemtrace-report {options} {name}\n".replace("  ", " ")
            text += run.stdout
            text += f"[exit status {run.returncode}]\n\n"
    return text.rstrip("\n") + "\n"


def main():
    """Compare every fixture."""
    failed = 0
    paths = sorted(glob.glob(f"{SRCDIR}/tests/report/fixtures/report-*.txt"))
    for path in paths:
        expected_path = path[:-len(".txt")] + ".out"
        got = run_all(path, os.path.basename(path)[:-len(".txt")])
        difference = golden_files.difference(expected_path, got)
        if difference:
            failed += 1
            print(difference, end="")
    print(f"{len(paths)} fixtures, {failed} differ")
    return 1 if failed or not paths else 0


if __name__ == "__main__":
    sys.exit(main())
