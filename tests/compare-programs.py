#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Compare two builds of kmemtrace-report, kmemtrace-check and kmemtrace-import.

    compare-programs.py [--seeds N] [--first SEED] OLD NEW [CAPTURE...]

OLD and NEW are build directories.  On the same input and options both programs
must print the same output and messages, exit with the same status, and, for
kmemtrace-import, write the same files.  The input is each fixture, each CAPTURE
(a directory), N random captures (default: 300) from SEED on (default: 1), some
of them damaged, and as many random files of perf, trace-cmd and CTF.

Messages that were reworded on purpose are listed in tests/reworded.list, one
per line: the old text, a tab, the new text.  "*" stands for any text within a
line; both sides have equally many.  The list is applied to the output of OLD.

A difference is printed with its seed, and its input is kept in
compare-programs.out/.  No object of JSON that NEW prints may have a key twice.
Exit status: 0 without a difference, 1 with one.
"""

import argparse
import concurrent.futures
import glob
import importlib
import json
import os
import random
import re
import shutil
import struct
import subprocess
import sys
import tempfile

import import_files as files
import mkcapture

SRCDIR = os.environ.get("top_srcdir") or os.path.join(
    os.path.dirname(os.path.abspath(__file__)), "..")
KEPT = "compare-programs.out"
RUNS = 6
REPORT = "report/kmemtrace-report"
CHECK = "check/kmemtrace-check"
IMPORT = "import/kmemtrace-import"
# Keys of kmemtrace.meta that hold the time of the import.
TIMES = re.compile(rb"^(start_time|end_time)=.*$", re.MULTILINE)
DIMENSIONS = ["callsite", "function", "module", "directory", "kind", "cache",
              "size", "cpu", "node", "gfp", "pid", "comm", "context", "owner",
              "stack"]
FIELDS = ["wasted", "frag", "requested", "allocated", "allocs", "frees", "live",
          "live-objects", "live-requested", "live-wasted", "live-frag",
          "reused", "peak", "peak-time", "at-peak", "cross-cpu", "remote-node",
          "lifetime-median", "lifetime-p99", "age-median", "churn"]
SITE = 0xffffffff81000000
rr = importlib.import_module("report-random")
robust = importlib.import_module("check-robust")


class Maker(rr.Maker):
    """A random capture of version 1 or 2, with all tables."""

    def __init__(self, seed):
        super().__init__(seed)
        rng = self.rng
        self.version = 1 if self.size == 56 else rng.choice([1, 2, 2, 2])
        self.has_meta |= self.version == 2
        self.sample = rng.choice([1] * 6 + [7, 1 << 40])
        self.stacks = rng.randrange(1, 40)

    def owner(self):
        """What version 2 has behind a record."""
        rng = self.rng
        extra = struct.pack((">" if self.big else "<") + "IHH",
                            rng.randrange(12), rng.randrange(9),
                            rng.choice([0, 0, 1, 2, 3, 4, 8]))
        if self.size >= 72:
            extra += struct.pack((">" if self.big else "<") + "II",
                                 rng.randrange(self.stacks + 2), 0)
        return extra

    def tables(self):
        """caches, tasks and stacks, as text."""
        rng = self.rng
        yield "caches", "# kmemtrace: caches\n" + "".join(
            f"{n} {64 * n} {64 * n} 0 - cache\\040{n}\n" for n in range(1, 8))
        yield "tasks", "# kmemtrace: tasks\n" + "".join(
            f"{rng.randrange(11)} {rng.choice(['-', rng.randrange(10 ** 9)])} "
            f"task{rng.randrange(6)}\n" for _ in range(30))
        lines = []
        for n in range(1, self.stacks + 1):
            depth = rng.choice([1, 2, 5, 30])
            lines.append(f"{n} " + ",".join(
                f"{rng.choice(self.site_list):x}" for _ in range(depth)))
        yield "stacks", "# kmemtrace: stacks\n" + "\n".join(lines) + "\n"

    def write(self, directory):
        super().write(directory)
        path = os.path.join(directory, "kmemtrace.meta")
        if self.has_meta:
            with open(path, encoding="ascii") as f:
                meta = f.read()
            meta = meta.replace("abi_version=1", f"abi_version={self.version}"
                                f"\nsample={self.sample}")
            with open(path, "w", encoding="ascii") as f:
                f.write(meta)
        if self.version < 2:
            return
        for cpu, records in self.cpus.items():
            with open(f"{directory}/cpu{cpu}.out", "wb") as f:
                for record in records:
                    f.write(rr.ref.pack(record, self.big) + self.owner())
        for name, text in self.tables():
            with open(f"{directory}/{name}", "w", encoding="ascii") as f:
                f.write(text)


def some(rng, words, most=4):
    """A few of them, with commas between."""
    return ",".join(rng.sample(words, rng.randrange(1, most + 1)))


def options(rng):
    """A random command line."""
    line = ["--clock-tolerance", "0"] if rng.random() < 0.5 else []
    form = rng.choice(["", "", "--json", "--json", "--csv", "--folded"])
    if form:
        line.append(form)
    if rng.random() < 0.6:
        line += ["--by", some(rng, DIMENSIONS, 3)]
    if rng.random() < 0.2:
        line.append("--stacks")
    if rng.random() < 0.4:
        line += ["--fields", some(rng, FIELDS, 6)]
    if rng.random() < 0.4:
        line += ["--sort", some(rng, FIELDS + ["callsite", "ptr"])]
    if rng.random() < 0.4:
        line += ["--lines", rng.choice(["0", "1", "3", "50"])]
    if form in ("", "--json"):
        if rng.random() < 0.3:
            line.append("--leaks")
        if rng.random() < 0.3:
            line += ["--windows", rng.choice(["4", "7", "50", "1000"])]
        if rng.random() < 0.2:
            line.append("--cross-cpu")
        if rng.random() < 0.3:
            line += ["--histogram", rng.choice(["lifetime", "size"])]
    for choice, likely in (("--live", 0.2), ("--slab", 0.1), ("--page", 0.1),
                           ("--before-trace", 0.2), ("--raw-ip", 0.1),
                           ("--quiet", 0.3), ("--time=0,0.001", 0.1),
                           ("--time=0.000001,", 0.1), ("--time=peak", 0.1),
                           ("--lifetime=1us-", 0.1), ("--kind=slab", 0.1),
                           ("--cpu=0-1", 0.1), ("--node=0", 0.05),
                           ("--size=64-4k", 0.1), ("--callsite=fn*", 0.1),
                           ("--churn=10us", 0.1)):
        if rng.random() < likely:
            line.append(choice)
    return line + ["--jobs", rng.choice(["1", "2", "3", "5"])]


def check_options(rng):
    """A random command line of kmemtrace-check."""
    line = [rng.choice(["", "--json", "--json"])]
    if rng.random() < 0.5:
        line += ["--clock-tolerance", rng.choice(["0", "100", "1000000"])]
    if rng.random() < 0.3:
        line += ["-n", rng.choice(["0", "1", "100"])]
    return [word for word in line if word]


def unique(pairs):
    """Hook of json: refuse an object with a key that occurs twice."""
    if len(dict(pairs)) != len(pairs):
        raise ValueError("an object has a key twice: "
                         + " ".join(key for key, _ in pairs))
    return dict(pairs)


class Rewordings:
    """The list of messages that were reworded on purpose."""

    def __init__(self, path):
        self.rules = []
        if not os.path.exists(path):
            return
        with open(path, "rb") as f:
            lines = [line.rstrip(b"\n") for line in f]
        for number, line in enumerate(lines, 1):
            if not line or line.startswith(b"#"):
                continue
            old, tab, new = line.partition(b"\t")
            if not tab or old.count(b"*") != new.count(b"*"):
                sys.exit(f"{path}:{number}: not two texts with a tab between "
                         "and equally many '*'")
            self.rules.append([self.pattern(old), new.split(b"*"), 0, old])

    @staticmethod
    def pattern(text):
        """A regular expression for the old text."""
        parts = [re.escape(part) for part in text.split(b"*")]
        return re.compile(rb"([^\n]*?)".join(parts))

    def apply(self, output):
        """Replace each old message in output by the new one."""
        for rule in self.rules:
            def replace(match, new=rule[1]):
                groups = [*match.groups(), b""]
                return b"".join(part + group
                                for part, group in zip(new, groups))
            output, n = rule[0].subn(replace, output)
            rule[2] += n
        return output

    def print_use(self):
        """Print how often each rewording was applied."""
        for _, _, n, old in self.rules:
            print(f"reworded {n:6} times: {old.decode()}")


class Comparison:
    """Runs of the programs of two builds, and the differences found."""

    def __init__(self, builds):
        self.builds = [os.path.abspath(build) for build in builds]
        self.rewordings = Rewordings(f"{SRCDIR}/tests/reworded.list")
        self.pool = concurrent.futures.ThreadPoolExecutor(2)
        self.wrappers = os.path.abspath(glob.glob(
            f"{SRCDIR}/**/symbols/wrappers.list", recursive=True)[0])
        self.runs = self.failed = 0

    def execute(self, program, line, folders):
        """Run the program of both builds, each in its folder."""
        def one(build, folder):
            return subprocess.run(
                [os.path.join(build, program), *line], cwd=folder,
                capture_output=True, timeout=600, check=False,
                env={"KMEMTRACE_WRAPPERS": self.wrappers, **os.environ})
        return list(self.pool.map(one, self.builds, folders))

    def difference(self, program, line, folders):
        """Why the two runs differ; None if they are equal."""
        old, new = self.execute(program, line, folders)
        for name in "returncode", "stderr", "stdout":
            a, b = getattr(old, name), getattr(new, name)
            if a != b and (name == "returncode"
                           or self.rewordings.apply(a) != b):
                return f"another {name}"
        if "--json" in line and not new.returncode:
            try:
                json.loads(new.stdout, object_pairs_hook=unique)
            except ValueError as e:
                return str(e)
        return None

    def compare(self, name, program, line, kept, folders=(".", ".")):
        """Compare a run; keep the path `kept` if the runs differ."""
        self.runs += 1
        why = self.difference(program, line, folders)
        if not why and program == IMPORT:
            why = self.tree_difference(*folders)
        if not why:
            return
        self.failed += 1
        print(f"{name}: {program} {' '.join(line)}: {why}", flush=True)
        if os.path.isdir(kept):
            shutil.copytree(kept, os.path.join(KEPT, name), dirs_exist_ok=True)
        else:
            os.makedirs(KEPT, exist_ok=True)
            shutil.copy(kept, os.path.join(KEPT, name))

    def tree_difference(self, old, new):
        """Compare the files of two directories."""
        a, b = tree(old), tree(new)
        for path in sorted(set(a) | set(b)):
            if path not in a or path not in b:
                return f"only one program wrote {path}"
            if a[path] != b[path] and self.rewordings.apply(a[path]) != b[path]:
                return f"another {path}"
        return None


def tree(folder):
    """The contents of all files below a folder, without times."""
    found = {}
    for directory, _, names in os.walk(folder):
        for name in names:
            path = os.path.join(directory, name)
            with open(path, "rb") as f:
                found[os.path.relpath(path, folder)] = TIMES.sub(b"", f.read())
    return found


def fixtures(directory):
    """Compile each fixture; yield its name and directory."""
    for path in sorted(glob.glob(f"{SRCDIR}/tests/**/fixtures/*.txt",
                                 recursive=True)):
        name = os.path.basename(path)[:-4]
        try:
            mkcapture.compile_fixture(path, os.path.join(directory, name))
        except mkcapture.FixtureError:
            continue
        yield name, os.path.join(directory, name)


def damage(rng, path):
    """Damage some files of a capture."""
    for name in os.listdir(path):
        full = os.path.join(path, name)
        if rng.random() < 0.7 or not os.path.isfile(full):
            continue
        with open(full, "rb") as f:
            data = bytearray(f.read())
        if data:
            for _ in range(rng.choice([1, 3, 20])):
                data[rng.randrange(len(data))] = rng.randrange(256)
        if rng.random() < 0.3:
            del data[rng.randrange(len(data) + 1):]
        with open(full, "wb") as f:
            f.write(data)


def random_captures(directory, seeds):
    """Write a random capture for each seed; yield its name and directory."""
    for seed in seeds:
        maker = Maker(seed)
        maker.pace = maker.rng.choice([100, 10 ** 4])
        for _ in range(maker.rng.choice([30, 300, 1500])):
            maker.step()
        path = os.path.join(directory, f"seed{seed}")
        os.mkdir(path)
        maker.write(path)
        if seed % 3 == 0:
            damage(maker.rng, path)
        yield f"seed{seed}", path


def compare_capture(comparison, name, path):
    """Compare report and check on a capture."""
    rng = random.Random(name)
    path = os.path.abspath(path)
    lines = [[], ["--json"], ["--leaks"]]
    for line in lines + [options(rng) for _ in range(RUNS)]:
        comparison.compare(name, REPORT, [*line, path], path)
    for line in [[], ["--json"], check_options(rng)]:
        comparison.compare(name, CHECK, [*line, path], path)


def random_events(rng):
    """Events of some kinds, in the order of time."""
    time, found = 1000, []
    for _ in range(rng.choice([1, 10, 200])):
        event = rng.choice(files.USUAL + files.MORE)
        time += rng.randrange(500)
        values = dict(event.values)
        if "ptr" in values:
            values["ptr"] = 0xffff888000001000 + 64 * rng.randrange(40)
        found.append(files.Event(event.name, rng.randrange(2), time, values))
    return found


def ctf(rng, path, events):
    """Write a directory of CTF."""
    os.mkdir(path)
    with open(f"{path}/metadata", "wb") as f:
        f.write(files.ctf_metadata(files.TRACEPOINTS).encode())
    for cpu in (0, 1):
        some = files.of_cpu(events, cpu)
        if not some:
            continue
        with open(f"{path}/stream{cpu}", "wb") as f:
            f.write(files.ctf_packet(some, files.TRACEPOINTS, cpu,
                                     discarded=rng.choice([0, 0, 3])))


def dat(rng, events):
    """A trace.dat of version 6."""
    pages = [[files.ring_page(some, files.TRACEPOINTS,
                              missed=rng.choice([None, None, 5]))]
             if (some := files.of_cpu(events, cpu)[:60]) else []
             for cpu in (0, 1)]
    return files.trace_dat(pages)


def random_inputs(directory, seeds):
    """Write a random input of kmemtrace-import for each seed."""
    for seed in seeds:
        rng = random.Random(seed)
        events = random_events(rng)
        path = os.path.join(directory, f"input{seed}")
        kind = rng.choice(["perf", "perf", "dat", "ctf"])
        if kind == "ctf":
            ctf(rng, path, events)
        else:
            data = dat(rng, events) if kind == "dat" else files.perf_data(
                b"".join(files.perf_sample(event) for event in events))
            if rng.random() < 0.6:
                data = bytearray(data)
                robust.damage(rng, data)
            with open(path, "wb") as f:
                f.write(data)
        yield f"input{seed}-{kind}", path


def compare_import(comparison, name, path, directory):
    """Compare kmemtrace-import on a file, in empty folders."""
    rng = random.Random(name)
    for line in [[], ["-f"] + rng.choice([[], ["--cpus", "2"]])]:
        folders = [os.path.join(directory, side) for side in ("old", "new")]
        for folder in folders:
            os.mkdir(folder)
        comparison.compare(name, IMPORT, [*line, "--proc", "/nonexistent",
                                          "--sys", "/nonexistent",
                                          os.path.abspath(path), "out"],
                           path, folders)
        for folder in folders:
            shutil.rmtree(folder)


def main():
    """Compare all runs."""
    parser = argparse.ArgumentParser(
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seeds", type=int, default=300)
    parser.add_argument("--first", type=int, default=1)
    parser.add_argument("builds", nargs=2, metavar="BUILD")
    parser.add_argument("captures", nargs="*", metavar="CAPTURE")
    arguments = parser.parse_args()
    seeds = range(arguments.first, arguments.first + arguments.seeds)
    comparison = Comparison(arguments.builds)
    for path in arguments.captures:
        compare_capture(comparison, os.path.basename(path.rstrip("/")), path)
    with tempfile.TemporaryDirectory() as directory:
        for name, path in fixtures(directory):
            compare_capture(comparison, name, path)
        for name, path in random_captures(directory, seeds):
            compare_capture(comparison, name, path)
            shutil.rmtree(path)
        for name, path in random_inputs(directory, seeds):
            compare_import(comparison, name, path, directory)
    comparison.rewordings.print_use()
    print(f"{comparison.runs} runs, {comparison.failed} differ")
    return 1 if comparison.failed else 0


if __name__ == "__main__":
    sys.exit(main())
