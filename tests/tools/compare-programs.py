#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Compare two builds of kmemtrace-report, kmemtrace-check and kmemtrace-import.

    compare-programs.py OLD NEW [--seeds N] [--first SEED] [CAPTURE...]

OLD and NEW are build directories.  On the same input and options both programs
must print the same output and the same messages, and exit with the same status;
kmemtrace-import must write the same files.  The input is each fixture, each
CAPTURE (a directory), and for each of N seeds (default: 300) from SEED on
(default: 1) a random capture and a random file of perf, trace-cmd or CTF.  Some
of them are damaged.  The same seed has the same input and options.

Messages that were reworded on purpose are listed in reworded.list, which is
beside this script; rewordings.py describes its format.  The list is applied to
what OLD prints: to its messages, to reports in text, to values of JSON and of
kmemtrace.meta that are messages.  No other byte may differ.  Of --help the names
of the options are compared: NEW must have those of OLD.

Each difference is printed with the first lines that differ; equal ones are
printed once and counted.  Their inputs are kept in compare-programs.out/, and
the seed is in the name.  In JSON that NEW prints no object may have a key twice.
At the end the use of each rewording is printed.

Exit status: 0 without a difference, 1 with one or if a run was not possible.
"""

import argparse
import collections
import concurrent.futures
import glob
import json
import os
import random
import re
import shlex
import shutil
import stat
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
SRCDIR = os.path.join(HERE, "..", "..")
# Run by hand, where no PYTHONPATH is set.
sys.path.insert(0, os.path.join(SRCDIR, "tests", "lib"))

# pylint: disable=wrong-import-position
import compare_captures as captures  # noqa: E402
import compare_imports as imports  # noqa: E402
import mkcapture  # noqa: E402
import rewordings  # noqa: E402

KEPT = "compare-programs.out"
RUNS = 6
SECONDS = 600
REPORT, CHECK, IMPORT = ("kmemtrace-report", "kmemtrace-check",
                         "kmemtrace-import")
PROGRAMS = (REPORT, CHECK, IMPORT)
OPTION = re.compile(rb"^ +(?:-\w, )?--[\w-]+(?:=| )", re.MULTILINE)
# Values of kmemtrace.meta that differ between two imports of one file.
TIMES = re.compile(rb"^(start_time|end_time)=.*$", re.MULTILINE)
# Addresses in libbabeltrace2's memory, which its messages have.
ADDRESS = re.compile(rb"(-addr=)0x[0-9a-f]+")
NAMES = "kallsyms-given"

Run = collections.namedtuple("Run", "program words stdin folders kept")


def unique(pairs):
    """Hook of json: refuse an object with a key that occurs twice."""
    if len(dict(pairs)) != len(pairs):
        raise ValueError("an object of JSON has a key twice: "
                         + " ".join(key for key, _ in pairs))
    return dict(pairs)


def first_difference(old, new):
    """Return the first lines, or bytes, that differ."""
    if not isinstance(old, bytes):
        return f"  old: {old}\n  new: {new}"
    if b"\0" in old + new:
        n = next((n for n, pair in enumerate(zip(old, new))
                  if pair[0] != pair[1]), min(len(old), len(new)))
        return (f"  old: {len(old)} bytes, from {n} on: "
                f"{old[n:n + 8].hex(' ')}\n"
                f"  new: {len(new)} bytes, from {n} on: "
                f"{new[n:n + 8].hex(' ')}")
    a, b = old.split(b"\n"), new.split(b"\n")
    n = next((n for n, pair in enumerate(zip(a, b)) if pair[0] != pair[1]),
             min(len(a), len(b)))
    lines = [some[n].decode(errors="replace")[:300] if n < len(some)
             else "(no line)" for some in (a, b)]
    return f"  old: {lines[0]}\n  new: {lines[1]}"


def shape(lines):
    """Return the lines without names of temporary files and without numbers, so
    that differences with the same cause are equal."""
    lines = re.sub(re.escape(tempfile.gettempdir()) + r"/\w+", "", lines)
    return re.sub(r"[0-9a-f]*\d[0-9a-f]*", "N", lines)


def tree(folder):
    """Return names, types, modes and contents of all files below a folder."""
    found = {}
    for directory, folders, names in os.walk(folder):
        for name in folders + names:
            path = os.path.join(directory, name)
            mode = os.lstat(path).st_mode
            data = b""
            if stat.S_ISREG(mode):
                with open(path, "rb") as f:
                    data = f.read()
            if name == "kmemtrace.meta":
                data = TIMES.sub(rb"\1=", data)
            found[os.path.relpath(path, folder)] = mode, data
    return found


class Comparison:
    """Runs of the programs of two builds, and the differences found."""

    def __init__(self, builds):
        self.builds = [os.path.abspath(build) for build in builds]
        self.rewordings = rewordings.Rewordings(f"{HERE}/reworded.list")
        self.pool = concurrent.futures.ThreadPoolExecutor(2)
        self.runs, self.statuses = collections.Counter(), collections.Counter()
        self.differences = collections.Counter()
        self.failed = 0
        wrappers = glob.glob(f"{SRCDIR}/**/symbols/wrappers.list",
                             recursive=True)
        self.environment = {
            key: value for key, value in os.environ.items()
            if key not in ("SUDO_UID", "SUDO_GID")}
        self.environment.update(
            KMEMTRACE_WRAPPERS=os.path.abspath(wrappers[0]),
            HOME="/nonexistent")
        for build in self.builds:
            for name in PROGRAMS:
                if not os.access(self.path(build, name), os.X_OK):
                    sys.exit(f"{self.path(build, name)} is missing: build it")

    @staticmethod
    def path(build, program):
        """Return the path of a program in a build folder."""
        return os.path.join(build, program.replace("kmemtrace-", ""), program)

    def execute(self, run):
        """Run the program of both builds, each in its folder, and return status,
        stderr and stdout of each."""
        def one(build, folder):
            with open(run.stdin or os.devnull, "rb") as stdin:
                try:
                    done = subprocess.run(
                        [self.path(build, run.program), *run.words],
                        cwd=folder, stdin=stdin, capture_output=True,
                        timeout=SECONDS, check=False, env=self.environment)
                except subprocess.TimeoutExpired:
                    return "timeout", b"", b""
            return (done.returncode, ADDRESS.sub(rb"\1", done.stderr),
                    done.stdout)
        return list(self.pool.map(one, self.builds, run.folders))

    def difference(self, run):
        """Return the kind of difference and both values, or None if the runs are
        equal."""
        old, new = self.execute(run)
        self.statuses[run.program, new[0]] += 1
        if old[0] != new[0]:
            return ("exit status", f"{old[0]} {old[1].decode(errors='replace')}",
                    f"{new[0]} {new[1].decode(errors='replace')}")
        if "--help" in run.words:
            # A new name of an option may be added beside the old one.
            names = OPTION.findall(old[2])
            found = set(OPTION.findall(new[2]))
            old, new = [(None, done[1], b"\n".join(some)) for done, some in
                        ((old, names), (new, [n for n in names
                                              if n in found]))]
        is_json = "--json" in run.words
        for what, n in (("stderr", 1), ("stdout", 2)):
            wanted = old[n]
            if wanted == new[n]:
                continue
            if n == 2 and is_json:
                wanted = self.rewordings.reworded_json(run.program, wanted)
            elif n == 1 or not {"--csv", "--folded"} & set(run.words):
                wanted = self.rewordings.reworded(run.program, wanted)
            if wanted != new[n]:
                return what, wanted, new[n]
        if is_json and new[2]:
            try:
                json.loads(new[2], object_pairs_hook=unique)
            except ValueError as e:
                return "JSON of the new program", "valid", str(e)
        return None

    def written_difference(self, run):
        """Return the difference of the files that kmemtrace-import wrote, in the
        form of difference()."""
        old, new = map(tree, run.folders)
        for path in sorted(set(old) | set(new)):
            a, b = old.get(path), new.get(path)
            if not a or not b or a[0] != b[0]:
                return (f"file {path}", f"mode {a[0]:o}" if a else "missing",
                        f"mode {b[0]:o}" if b else "missing")
            wanted = a[1]
            if wanted != b[1] and path.endswith("kmemtrace.meta"):
                wanted = self.rewordings.reworded_meta(run.program, wanted)
            if wanted != b[1]:
                return f"file {path}", wanted, b[1]
        return None

    def compare(self, name, run):
        """Compare a run; keep its input if the programs differ."""
        self.runs[run.program] += 1
        found = self.difference(run)
        if not found and run.program == IMPORT:
            found = self.written_difference(run)
        if not found:
            return
        self.failed += 1
        what, old, new = found
        lines = first_difference(old, new)
        key = run.program, what, shape(lines)
        self.differences[key] += 1
        if self.differences[key] == 1:
            print(f"{name}: {run.program} {shlex.join(run.words)}: another "
                  f"{what}\n{lines}", flush=True)
            self.keep(name, run)

    @staticmethod
    def keep(name, run):
        """Copy the input of a run, and its command line."""
        folder = os.path.join(KEPT, name)
        os.makedirs(folder, exist_ok=True)
        with open(os.path.join(folder, "commands"), "a",
                  encoding="utf-8") as f:
            f.write(f"{run.program} {shlex.join(run.words)}"
                    f"{' <' + run.stdin if run.stdin else ''}\n")
        for path in run.kept:
            to = os.path.join(folder, os.path.basename(path))
            if os.path.isdir(path):
                shutil.copytree(path, to, dirs_exist_ok=True)
            elif os.path.isfile(path):
                shutil.copy(path, to)

    def reading(self, name, program, words, kept, stdin=None):
        """Compare a run of a program that writes no files."""
        self.compare(name, Run(program, words, stdin, (".", "."), kept))

    def print_summary(self, seeds):
        """Print all counts.  Returns the exit status."""
        self.rewordings.print_use()
        for (program, what, _), n in self.differences.items():
            if n > 1:
                print(f"{program}: another {what}: {n} times, shown once")
        for (program, status), n in sorted(self.statuses.items(),
                                           key=str):
            print(f"{program}: exit status {status}: {n} runs")
        print(f"seeds {seeds.start} to {seeds.stop - 1}: "
              f"{sum(self.runs.values())} runs, {self.failed} differ")
        return 1 if self.failed else 0


def fixtures(directory):
    """Compile each fixture; yield its name and directory."""
    for path in sorted(glob.glob(f"{SRCDIR}/tests/**/fixtures/*.txt",
                                 recursive=True)):
        name = os.path.basename(path)[:-4]
        to = os.path.join(directory, name)
        try:
            mkcapture.compile_fixture(path, to)
        except mkcapture.FixtureError as e:
            print(f"{path} is left out: {e}")
            continue
        yield name, to


def compare_capture(comparison, name, path, lines=RUNS):
    """Compare report and check on a whole capture."""
    rng = random.Random(name)
    for line in ([], ["--json", "--jobs", "1"], ["--json", "--jobs", "2"],
                 ["--leaks"]):
        comparison.reading(name, REPORT, [*line, path], [path])
    for line in [], ["--json"], ["--json", "-n", "1000000"]:
        comparison.reading(name, CHECK, [*line, path], [path])
    for _ in range(lines):
        comparison.reading(name, REPORT,
                           [*captures.report_options(rng), path], [path])
    comparison.reading(name, CHECK, [*captures.check_options(rng), path],
                       [path])


def compare_random_capture(comparison, seed, directory):
    """Compare report and check on a random capture, in some form."""
    path = os.path.join(directory, f"seed{seed}")
    captures.random_capture(seed, path)
    compare_capture(comparison, f"seed{seed}", path, RUNS - 2)
    rng = random.Random(f"form of {seed}")
    for program, options in ((REPORT, captures.report_options),
                             (REPORT, captures.report_options),
                             (CHECK, captures.check_options)):
        words, stdin = captures.operands(rng, path)
        comparison.reading(f"seed{seed}", program, options(rng) + words,
                           [path], stdin)


def compare_import(comparison, seed, directory):
    """Compare kmemtrace-import on random input, into a new folder and into one
    that has a capture; then the readers on the capture."""
    path = os.path.join(directory, f"input{seed}")
    kind, words = imports.random_input(seed, path)
    name = f"seed{seed}-{kind}"
    rng = random.Random(name)
    folders = [os.path.join(directory, side) for side in ("old", "new")]
    for folder in folders:
        os.mkdir(folder)
    names = os.path.join(directory, NAMES)
    for line in [], imports.import_options(rng, names):
        comparison.compare(name, Run(IMPORT, [
            *line, "--proc", "/nonexistent", "--sys", "/nonexistent", *words,
            "out"], None, folders, words))
    out = os.path.join(folders[0], "out")
    if os.path.isdir(out):
        for program in REPORT, CHECK:
            for line in [], ["--json"]:
                comparison.reading(name, program, [*line, out], [out])


def compare_words(comparison, directory):
    """Compare help, version, and command lines without a capture."""
    folders = [os.path.join(directory, side) for side in ("old", "new")]
    for folder in folders:
        os.makedirs(os.path.join(folder, "empty"))
    for program in PROGRAMS:
        for words in (["--help"], ["--version"], [], ["--nothing"], ["empty"],
                      ["/nonexistent"], ["/dev/null"], ["-"], [""],
                      ["empty", "empty"], ["/nonexistent", "empty"], ["--", "-x"],
                      *([word, "empty"] for word in
                        captures.WRONG + imports.WRONG)):
            words = [part for word in words for part in word.split(" ")]
            comparison.compare("words", Run(program, words, None, folders,
                                            []))


def compare_all(comparison, arguments, seeds):
    """Compare all runs."""
    for path in arguments.captures:
        path = os.path.abspath(path)
        compare_capture(comparison, os.path.basename(path), path)
    with tempfile.TemporaryDirectory() as directory:
        compare_words(comparison, directory)
        for name, path in fixtures(directory):
            compare_capture(comparison, name, path)
    for seed in seeds:
        # Each seed has a directory of its own, because the outputs contain the
        # names.
        with tempfile.TemporaryDirectory() as directory:
            compare_random_capture(comparison, seed, directory)
        with tempfile.TemporaryDirectory() as directory:
            with open(os.path.join(directory, NAMES), "w",
                      encoding="ascii") as f:
                f.write(imports.NAMES)
            compare_import(comparison, seed, directory)


def main():
    """Compare two builds."""
    parser = argparse.ArgumentParser(
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seeds", type=int, default=300)
    parser.add_argument("--first", type=int, default=1)
    parser.add_argument("builds", nargs=2, metavar="BUILD")
    parser.add_argument("captures", nargs="*", metavar="CAPTURE")
    arguments = parser.parse_intermixed_args()
    seeds = range(arguments.first, arguments.first + arguments.seeds)
    try:
        comparison = Comparison(arguments.builds)
    except rewordings.ListError as e:
        sys.exit(str(e))
    compare_all(comparison, arguments, seeds)
    return comparison.print_summary(seeds)


if __name__ == "__main__":
    sys.exit(main())
