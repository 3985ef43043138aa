# SPDX-License-Identifier: GPL-2.0-or-later
"""Common code of the benchmark scripts."""

import configparser
import json
import os
import platform
import shutil
import statistics
import subprocess
import sys
import tempfile

RECORD_BYTES = 56
PROGRAMS = ("bench/generate", "bench/load", "bench/measure",
            "bench/readall", "check/kmemtrace-check", "import/kmemtrace-import",
            "kmemtraced/kmemtraced", "report/kmemtrace-report")
SUFFIXES = {"k": 10**3, "M": 10**6, "G": 10**9}


class BenchError(Exception):
    """The benchmark cannot continue; the message gives the reason and the remedy."""


def count(text):
    """Convert '20M' to 20000000, for argparse."""
    factor = SUFFIXES.get(text[-1:], 1)
    value = int(text[:-1] if factor > 1 else text) * factor
    if value < 1:
        raise ValueError(text)
    return value


def counts(text):
    """Convert '2M,20M' to a list of numbers, for argparse."""
    return [count(word) for word in text.split(",")]


def short(number):
    """Convert 20000000 to '20M'."""
    for suffix, factor in reversed(SUFFIXES.items()):
        if number >= factor and number % (factor // 10) == 0:
            return f"{number / factor:g}{suffix}"
    return f"{number / 1e6:.2f}M" if number >= 10**6 else str(number)


def add_common_options(parser):
    """Add the options of all scripts that time programs."""
    top = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
    parser.add_argument("--runs", type=int, default=5, metavar="N",
                        help="measure each program N times (default: 5)")
    parser.add_argument("--builddir", metavar="DIR", default=find_builddir(top),
                        help="build directory (default: the current folder, "
                        "the tree's b/, or the tree)")
    parser.add_argument("--tmp", metavar="DIR",
                        default=os.environ.get("TMPDIR", "/var/tmp"),
                        help="folder for temporary files (default: $TMPDIR "
                        "or /var/tmp)")
    parser.add_argument("--json", metavar="FILE",
                        help="also write all figures to FILE")
    parser.add_argument("--strict", action="store_true",
                        help="exit with status 3 if a goal is missed")


def find_builddir(top):
    """Return the first folder that contains the built programs, or None."""
    for path in (os.environ.get("top_builddir"), ".", os.path.join(top, "b"),
                 top):
        if path and all(os.access(os.path.join(path, program), os.X_OK)
                        for program in PROGRAMS):
            return os.path.abspath(path)
    return None


def check_builddir(builddir):
    """Raise BenchError with the remedy if a program is not built."""
    for program in PROGRAMS:
        if not builddir or not os.access(os.path.join(builddir, program),
                                         os.X_OK):
            raise BenchError(
                f"{program} is not built in {builddir or 'any known folder'}: "
                "run make, and name the build directory with --builddir")


def machine():
    """Return one line that describes the measured machine."""
    model = platform.processor() or platform.machine()
    try:
        with open("/proc/cpuinfo", encoding="utf-8") as f:
            for line in f:
                if line.startswith("model name"):
                    model = line.partition(":")[2].strip()
                    break
    except OSError:
        pass
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    return (f"Linux {platform.release()}, {os.cpu_count()} x {model}, "
            f"{memory / 2**30:.0f} GiB")


class Scratch:
    """A temporary folder, removed at the end."""

    def __init__(self, parent):
        try:
            self.path = tempfile.mkdtemp(prefix="kmemtrace-bench.", dir=parent)
        except OSError as e:
            raise BenchError(f"cannot create a folder in {parent}: {e.strerror}: "
                             "name another folder with --tmp") from e

    def __enter__(self):
        return self

    def __exit__(self, *exc):
        shutil.rmtree(self.path, ignore_errors=True)

    def join(self, *names):
        """Return a path in the folder."""
        return os.path.join(self.path, *names)

    def need(self, size, what):
        """Raise BenchError unless the disk has room for size bytes and a tenth
        more."""
        free = shutil.disk_usage(self.path).free
        if size * 1.1 > free:
            raise BenchError(
                f"{what} needs {size / 1e9:.1f} GB, {self.path} has "
                f"{free / 1e9:.1f} GB: make room, or name another folder "
                "with --tmp")

    def has_room(self, size):
        """Return whether the disk has room for size bytes and a tenth more."""
        return size * 1.1 <= shutil.disk_usage(self.path).free


class Bench:
    """Run and measure the programs of a build folder."""

    def __init__(self, builddir, scratch):
        check_builddir(builddir)
        self.builddir = builddir
        self.scratch = scratch
        self.report = self.program("report/kmemtrace-report")
        usage = subprocess.run([self.report, "--help"], capture_output=True,
                               text=True, check=False).stdout
        self.has_jobs = "--jobs" in usage
        self._stdin = False

    def program(self, name):
        """Return the path of a program."""
        return os.path.join(self.builddir, name)

    def run(self, argv, **kwargs):
        """Run a program, which must succeed, and return its output."""
        result = subprocess.run(argv, capture_output=True, text=True,
                                check=False, **kwargs)
        if result.returncode:
            raise BenchError(f"{' '.join(argv)} ended with status "
                             f"{result.returncode}: {result.stderr.strip()}")
        return result.stdout

    def measure(self, argv, stdin=None, output=None):
        """Run a program and return its cost."""
        result = self.scratch.join("measured.json")
        output = output or os.devnull
        with open(output, "wb") as out:
            status = subprocess.run(
                [self.program("bench/measure"), result] + argv, stdin=stdin,
                stdout=out, stderr=subprocess.PIPE, check=False,
                env=dict(os.environ, LC_ALL="C"))
        if status.returncode:
            raise BenchError(
                f"{' '.join(argv)} ended with status {status.returncode}: "
                f"{status.stderr.decode(errors='replace').strip()[-500:]}")
        with open(result, encoding="utf-8") as f:
            cost = json.load(f)
        cost["cpu"] = cost["user"] + cost["system"]
        return cost

    def generate(self, path, events, cpus, live, *options):
        """Write a generated capture into a new folder."""
        self.scratch.need(events * RECORD_BYTES, f"{short(events)} events")
        self.run([self.program("bench/generate"), "-o", path, "-n",
                  str(events), "-c", str(cpus), "-l",
                  str(min(live, events // 2)), *options])
        return path

    def convert(self, data, capture):
        """Convert perf.data to a capture with records of the size that
        bench/generate writes."""
        self.run([self.program("import/kmemtrace-import"), "-q", "--abi", "1",
                  data, capture])
        meta = configparser.ConfigParser()
        meta.read(os.path.join(capture, "kmemtrace.meta"))
        found = meta["capture"]
        return {"records": int(found["events"]),
                "of_no_memory": int(found["no_memory"]),
                "duplicates": int(found["kmalloc_duplicates"]),
                "other_events": int(found["other_events"]),
                "lost": int(found["overruns"])}

    def generator_pipe(self, events, live):
        """Start a process that writes the events of one CPU to its stdout."""
        # pylint: disable=consider-using-with
        return subprocess.Popen(
            [self.program("bench/generate"), "-o", "-", "-n", str(events),
             "-l", str(live)], stdout=subprocess.PIPE)

    def stdin_operand(self):
        """Return the operand with which kmemtrace-report reads stdin, or None if
        the program cannot read stdin."""
        if self._stdin is not False:
            return self._stdin
        self._stdin = None
        for operand in ("/dev/stdin", "-"):
            with self.generator_pipe(1000, 10) as pipe:
                result = subprocess.run([self.report, "--json", operand],
                                        stdin=pipe.stdout, capture_output=True,
                                        check=False)
                pipe.stdout.close()
            try:
                events = json.loads(result.stdout)["capture"]["events"]
            except (ValueError, KeyError):
                continue
            if result.returncode == 0 and events == 1000:
                self._stdin = operand
                break
        return self._stdin


def cpu_files(directory):
    """Return the paths of the cpu<n>.out files of a capture."""
    return [os.path.join(directory, name)
            for name in sorted(os.listdir(directory))
            if name.startswith("cpu") and name.endswith(".out")]


def median(costs, key):
    """Return the median over all runs, or None if a run lacks the figure."""
    values = [cost[key] for cost in costs]
    return None if None in values else statistics.median(values)


def spread(costs, key):
    """Return the range of all runs as a fraction of their median."""
    values = [cost[key] for cost in costs]
    return (max(values) - min(values)) / statistics.median(values)


def megabytes(size):
    """Format a number of bytes as MB for a table."""
    return f"{size / 1e6:.1f}"


def print_table(header, rows):
    """Print a table with the first column left-aligned and all others
    right-aligned."""
    lines = [header] + rows
    widths = [max(len(line[i]) for line in lines) for i in range(len(header))]
    for line in lines:
        cells = [line[0].ljust(widths[0])]
        cells += [cell.rjust(width)
                  for cell, width in zip(line[1:], widths[1:])]
        print("  ".join(cells).rstrip())
    print()


class Goals:
    """The goals of a benchmark and the measured figures."""

    def __init__(self):
        self.all = []

    def add(self, what, found, goal, is_met):
        """Add a figure. is_met is None for a figure without a goal."""
        self.all.append({"what": what, "found": found, "goal": goal,
                         "met": is_met})

    def print(self):
        """Print all figures as a table."""
        words = {True: "met", False: "MISSED", None: ""}
        print_table(["", "measured", "goal", ""],
                    [[g["what"], g["found"], g["goal"], words[g["met"]]]
                     for g in self.all])

    def missed(self):
        """Return the number of missed goals."""
        return sum(g["met"] is False for g in self.all)


def finish(args, figures, goals):
    """Write the figures, print the goals, and return the exit status."""
    if args.json:
        try:
            with open(args.json, "w", encoding="utf-8") as f:
                json.dump(dict(figures, machine=machine(), goals=goals.all), f,
                          indent=1)
        except OSError as e:
            raise BenchError(f"cannot write {args.json}: {e.strerror}") from e
    return 3 if args.strict and goals.missed() else 0


def main(function):
    """Run a benchmark's main function and print its errors to stderr."""
    try:
        return function()
    except BenchError as e:
        print(f"{os.path.basename(sys.argv[0])}: {e}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        return 130
