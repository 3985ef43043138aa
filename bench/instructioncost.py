# SPDX-License-Identifier: GPL-2.0-or-later
"""Instructions per event of the analysis programs, counted by cachegrind."""

import glob
import json
import os
import re
import subprocess

import benchlib
import importfiles
import ownedcapture
from benchlib import BenchError, short

TOP_SRCDIR = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
RECORDED = os.path.join(TOP_SRCDIR, "bench", "instructions-recorded.json")
# A figure may exceed the recorded one by this fraction.
TOLERANCE = 0.05
# Numbers of events with few and with many live objects.
SIZES = [2 * 10**6, 20 * 10**6]
MAX_IMPORTED = 2 * 10**5
# Bytes of a record of version 2.
IMPORTED_BYTES = 64
FEW_LIVE, MANY_LIVE = 20000, 10**6
CPUS = 2
REPORT, CHECK = "report/kmemtrace-report", "check/kmemtrace-check"
IMPORT = "import/kmemtrace-import"

# Goals in instructions per event, by the name of a measurement.
GOALS = {"report": 110, "report, many live": 140, "report --leaks": 220,
         "check": 200}

# Stage of each source file; the first pattern that matches applies.
STAGES = (
    ("merge", r"lib/match/(merge|shard-queue|branch-free)|"
     "lib/input/(namespace|record-head)"),
    ("classes", r"lib/match/(keys|intern|class)"),
    ("match", r"lib/match/"),
    ("statistics", r"report/(basic|class-stats|detailed|counters|accounting|aggregate|"
     r"histogram|totals|cross-cpu|history|groups|index)"),
    ("rules of check", r"check/"),
    ("input", r"lib/input/"),
    ("symbols", r"lib/symbols/"),
    ("import", r"import/|lib/tracepoints/"),
    ("output", r"report/|lib/(cli|output)/"),
)


def stage_of(path):
    """Return the stage to which a source file belongs."""
    for name, pattern in STAGES:
        if re.search(pattern, path):
            return name
    return "libraries"


def add_cachegrind(sums, path):
    """Add the instructions in a file of cachegrind to the sums by stage."""
    stage = "libraries"
    with open(path, encoding="utf-8", errors="replace") as file:
        for line in file:
            if line.startswith("fl="):
                stage = stage_of(line[3:].strip())
            elif line[:1].isdigit():
                sums[stage] = sums.get(stage, 0) + int(line.split()[1])


def use_one_processor():
    """Let the calling process use one processor. Each program then runs one thread;
    waiting threads would execute instructions whose number depends on chance."""
    os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})


class Cost:
    """Measures programs, and collects the figures."""

    def __init__(self, bench, sizes):
        self.bench = bench
        self.few, self.many = sizes
        # The programs are not installed.
        self.environment = {"KMEMTRACE_WRAPPERS": os.path.join(
            TOP_SRCDIR, "lib", "symbols", "wrappers.list"), **os.environ}
        self.figures = {}
        self.rows = []
        self.stages = {}

    def count(self, name, events, live, program, *arguments):
        """Count the instructions of one run, with those of its child processes."""
        out = self.bench.scratch.join("cachegrind")
        argv = ["valgrind", "--tool=cachegrind", "--cache-sim=no",
                f"--cachegrind-out-file={out}.%p",
                self.bench.program(program), *arguments]
        try:
            done = subprocess.run(argv, stdin=subprocess.DEVNULL,
                                  capture_output=True, text=True, check=False,
                                  env=self.environment,
                                  preexec_fn=use_one_processor)
        except OSError as error:
            raise BenchError(f"cannot run valgrind: {error.strerror}; install it "
                             "by scripts/install-deps lint") from error
        if done.returncode:
            raise BenchError(f"{' '.join(argv)} ended with status "
                             f"{done.returncode}: {done.stderr[-500:]}")
        stages = {}
        for path in glob.glob(out + ".*"):
            add_cachegrind(stages, path)
            os.unlink(path)
        if not stages:
            raise BenchError(f"{out} of cachegrind has no counts")
        figure = sum(stages.values()) / events
        self.figures[name] = round(figure, 1)
        self.stages[name] = {stage: n / events for stage, n in stages.items()}
        self.rows.append([name, short(events), short(live) if live else "",
                          f"{figure:.0f}"])

    def report(self, name, capture, *options, events=None, live=FEW_LIVE):
        """Count the instructions of a report with one thread."""
        self.count(name, events or self.few, live, REPORT, "--jobs", "1", "-q",
                   "--no-pager", *options, capture)

    def measure_few(self):
        """Measure all programs and large options on few live objects."""
        scratch, bench = self.bench.scratch, self.bench
        few = bench.generate(scratch.join("few"), self.few, CPUS, FEW_LIVE)
        self.report("report", few)
        self.report("report --leaks", few, "--leaks")
        self.count("check", self.few, FEW_LIVE, CHECK,
                   *benchlib.cpu_files(few))
        for option in ("--json", "--windows=10", "--cross-cpu",
                       "--histogram=lifetime", "--advise"):
            self.report(f"report {option}", few, option)
        owned = ownedcapture.extend(few, scratch.join("owned"))
        self.count("check, version 2", self.few, FEW_LIVE, CHECK,
                   *benchlib.cpu_files(owned))
        for option in ("--by=callsite", "--by=comm,cache", "--by=stack"):
            self.report(f"report {option}, version 2", owned, option)
        self.report("report --html", few, f"--html={scratch.join('few.html')}")
        self.report("report --diff", few, f"--diff={few}", events=2 * self.few)

    def measure_many(self):
        """Measure the report on many live objects. The smallest of three figures
        counts, because the random seed of the large hash tables changes the figure by
        up to 4 %."""
        scratch = self.bench.scratch
        many = self.bench.generate(scratch.join("many"), self.many, CPUS, MANY_LIVE)
        name = "report, many live"
        figures = []
        for _ in range(3):
            self.report(name, many, events=self.many, live=MANY_LIVE)
            figures.append((self.figures[name], self.rows.pop(),
                            self.stages[name]))
        self.figures[name], row, self.stages[name] = min(
            figures, key=lambda figure: figure[0])
        self.rows.append(row)

    def measure_import(self):
        """Measure the import of each format."""
        scratch = self.bench.scratch
        capture = self.bench.generate(scratch.join("traced"),
                                      min(self.few, MAX_IMPORTED), CPUS,
                                      FEW_LIVE)
        cpus = importfiles.events_of(capture)
        events = sum(map(len, cpus))
        for name, write in importfiles.WRITERS.items():
            path = scratch.join(name)
            write(cpus, path)
            to = scratch.join(f"{name}.capture")
            self.count(f"import of {name}", events, 0, IMPORT, "-q", path, to)
            imported = sum(os.path.getsize(path)
                           for path in benchlib.cpu_files(to))
            if imported != events * IMPORTED_BYTES:
                raise BenchError(f"the import of {name} wrote {imported} bytes "
                                 f"for {events} events")

    def print_stages(self):
        """Print the instructions per event by stage."""
        used = {stage for stages in self.stages.values() for stage in stages}
        names = [name for name, _ in STAGES if name in used] + ["libraries"]
        benchlib.print_table(
            ["instructions per event"] + names,
            [[name] + [f"{stages.get(stage, 0):.0f}" for stage in names]
             for name, stages in self.stages.items()])


def compiler(builddir):
    """Return the version of the compiler that built the programs, and the machine."""
    with open(os.path.join(builddir, REPORT), "rb") as file:
        found = re.search(rb"GCC: \(.{0,40}\) (\d+)\.|clang version (\d+)\.",
                          file.read())
    if not found:
        return "unknown"
    name = f"gcc {found[1].decode()}" if found[1] else \
        f"clang {found[2].decode()}"
    return f"{name}, {os.uname().machine}"


def judge(cost, goals):
    """Compare the figures with the goals."""
    for name, limit in GOALS.items():
        goals.add(f"{name}: instructions per event", f"{cost.figures[name]:.0f}",
                  f"<= {limit}", cost.figures[name] <= limit)


def compare(cost, builddir, record):
    """Return a line for each figure that exceeds the recorded one. record: write the
    figures to the file of recorded ones instead."""
    built = compiler(builddir)
    if record:
        with open(RECORDED, "w", encoding="utf-8") as file:
            json.dump({"compiler": built, "instructions": cost.figures}, file,
                      indent=1)
            file.write("\n")
        print(f"Wrote the figures to {RECORDED}.")
        return []
    with open(RECORDED, encoding="utf-8") as file:
        recorded = json.load(file)
    if recorded["compiler"] != built:
        print(f"The recorded figures are of {recorded['compiler']}, these programs "
              f"of {built}: not compared.\n")
        return []
    return [f"{name}: {cost.figures[name]:.1f} instructions per event exceed the "
            f"recorded {limit:.1f} by more than {TOLERANCE:.0%}"
            for name, limit in recorded["instructions"].items()
            if cost.figures[name] > limit * (1 + TOLERANCE)]


def run(args, goals):
    """Count and print the instructions; return the figures, and a line for each
    that exceeds the recorded one."""
    with benchlib.Scratch(args.tmp) as scratch:
        bench = benchlib.Bench(args.builddir, scratch)
        cost = Cost(bench, args.events)
        cost.measure_few()
        cost.measure_many()
        cost.measure_import()
        benchlib.print_table(["program", "events", "live", "instr./event"],
                             cost.rows)
        cost.print_stages()
        exceeded = []
        # Goals and recorded figures apply to the default sizes.
        if args.events == SIZES:
            judge(cost, goals)
            exceeded = compare(cost, bench.builddir, args.record)
        return {"instructions": cost.figures, "stages": cost.stages}, exceeded
