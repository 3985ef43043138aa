#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Run the other programs and the scripts of bench/ on small input."""

import collections
import contextlib
import importlib.machinery
import importlib.util
import io
import json
import os
import subprocess
import sys
import tarfile
import tempfile
import unittest
import unittest.mock

SRC = os.environ.get("top_srcdir", ".")
TOP = os.environ.get("top_builddir", ".")
BENCH = os.path.join(TOP, "bench")

def run(*argv):
    """Run a program and return the result with its output."""
    return subprocess.run(argv, capture_output=True, text=True, check=False)


class Scripts(unittest.TestCase):
    """Each script of bench/ with small input."""

    def setUp(self):
        scratch = tempfile.TemporaryDirectory()
        self.addCleanup(scratch.cleanup)
        self.scratch = scratch.name

    def path(self, name):
        """Return a path in the temporary folder."""
        return os.path.join(self.scratch, name)

    def test_measure(self):
        """bench/measure reports the cost and the exit status of a command."""
        result = run(os.path.join(BENCH, "measure"), self.path("cost"),
                     sys.executable, "-c",
                     "import os; x = b'x' * 50000000; os._exit(7)")
        self.assertEqual((result.returncode, result.stderr), (7, ""))
        with open(self.path("cost"), encoding="utf-8") as f:
            cost = json.load(f)
        self.assertEqual(cost["status"], 7)
        self.assertGreater(cost["max_anon"], 50000000)
        self.assertGreaterEqual(cost["max_rss"], cost["max_anon"])
        self.assertGreater(cost["seconds"], 0)

    def test_readall(self):
        """bench/readall reads every record."""
        capture = self.path("a")
        run(os.path.join(BENCH, "generate"), "-o", capture, "-n", "3k")
        result = run(os.path.join(BENCH, "readall"),
                     os.path.join(capture, "cpu0.out"),
                     os.path.join(capture, "cpu1.out"))
        self.assertRegex(result.stdout, "^3000 events, [1-9]")

    def test_scripts(self):
        """The scripts succeed and leave no files."""
        for script, options in (
                ("analysis", ("--generate", "--events", "2k,3k")),
                ("html", ("--sizes", "1k,2k")),
                ("scaling", ("--sizes", "1k,2k", "--cpus", "1,3",
                             "--cpu-events", "2k", "--live", "20k"))):
            with self.subTest(script=script):
                result = run(sys.executable, os.path.join(SRC, "bench", script),
                             "--builddir", TOP, "--tmp", self.scratch, "--runs",
                             "1", "--json", self.path("figures"), *options)
                self.assertEqual((result.returncode, result.stderr), (0, ""))
                self.assertIn("measured", result.stdout)
                with open(self.path("figures"), encoding="utf-8") as f:
                    self.assertIn("goals", json.load(f))
                self.assertEqual(os.listdir(self.scratch), ["figures"])

    def test_ftrace_that_cannot(self):
        """Without permission or programs bench/ftrace prints the reason and the
        remedy. Success depends on the machine and is not tested."""
        result = run(sys.executable, os.path.join(SRC, "bench", "ftrace"),
                     "--builddir", "/nonexistent", "--tmp", self.scratch)
        self.assertEqual(result.returncode, 1)
        self.assertRegex(result.stderr,
                         "run make, and name the build directory|requires root")
        self.assertEqual(os.listdir(self.scratch), [])


class InstructionCost(unittest.TestCase):
    """The parts of bench/analysis --instructions, without valgrind."""

    def setUp(self):
        bench = os.path.join(SRC, "bench")
        sys.path.insert(0, bench)
        self.addCleanup(sys.path.remove, bench)
        sys.dont_write_bytecode = True
        self.cost = importlib.import_module("instructioncost")
        scratch = tempfile.TemporaryDirectory()
        self.addCleanup(scratch.cleanup)
        self.scratch = scratch.name

    def path(self, name):
        """Return a path in the temporary folder."""
        return os.path.join(self.scratch, name)

    def generate(self):
        """Return a generated capture of 3000 events."""
        result = run(os.path.join(BENCH, "generate"), "-o", self.path("a"),
                     "-n", "3k")
        self.assertEqual(result.returncode, 0)
        return self.path("a")

    def test_stages(self):
        """The instructions of each source file belong to a stage."""
        with open(self.path("counts"), "w", encoding="ascii") as file:
            file.write("desc: x\nevents: Ir\n"
                       "fl=/src/b/../lib/match/merge.c\nfn=a\n1 5\n2 6\n"
                       "fl=/src/b/../lib/match/keys.h\nfn=a\n1 7\n"
                       "fl=/src/b/../report/basic-stats.c\nfn=b\n1 8\n"
                       "fl=./string/memset.S\nfn=c\n1 9\nsummary: 35\n")
        sums = {"merge": 100}
        self.cost.add_cachegrind(sums, self.path("counts"))
        self.assertEqual(sums, {"merge": 111, "classes": 7, "statistics": 8,
                                "libraries": 9})

    def test_compare(self):
        """A figure that exceeds the recorded one by more than 5 % is reported, if the
        same compiler built the programs."""
        cost = self.cost.Cost(None, self.cost.SIZES)
        compiler = self.cost.compiler(TOP)
        patch = unittest.mock.patch.object(self.cost, "RECORDED",
                                           self.path("recorded"))
        patch.start()
        self.addCleanup(patch.stop)
        for built, expected in ((compiler, ["check"]), ("cc 1, x", [])):
            with open(self.path("recorded"), "w", encoding="ascii") as file:
                json.dump({"compiler": built,
                           "instructions": {"report": 100, "check": 200}}, file)
            cost.figures = {"report": 105, "check": 210.1}
            with contextlib.redirect_stdout(io.StringIO()):
                found = self.cost.compare(cost, TOP, False)
            self.assertEqual([line.split(":")[0] for line in found], expected)

    def test_owned_capture(self):
        """A capture with owners and stacks breaks no rule of the check."""
        owned = importlib.import_module("ownedcapture").extend(
            self.generate(), self.path("owned"))
        result = run(os.path.join(TOP, "check", "kmemtrace-check"), owned)
        self.assertEqual(result.returncode, 0, result.stdout)
        self.assertIn("No errors", result.stdout)

    def test_import_files(self):
        """The files of other tracers give the events of the capture."""
        files = importlib.import_module("importfiles")
        cpus = files.events_of(self.generate())
        self.assertEqual(sum(map(len, cpus)), 3000)
        for name, write in files.WRITERS.items():
            with self.subTest(name=name):
                write(cpus, self.path(name))
                out = self.path("imported." + name)
                result = run(os.path.join(TOP, "import", "kmemtrace-import"),
                             "-q", self.path(name), out)
                if "built without" in result.stderr:
                    continue
                self.assertEqual((result.returncode, result.stderr), (0, ""))
                self.assertEqual(
                    sum(os.path.getsize(os.path.join(out, f"cpu{cpu}.out"))
                        for cpu in (0, 1)), 3000 * 64)


class Guest(unittest.TestCase):
    """A script of bench/ with simulated console output instead of guests."""

    SCRIPT = None

    def setUp(self):
        bench = os.path.join(SRC, "bench")
        sys.path.insert(0, bench)
        self.addCleanup(sys.path.remove, bench)
        sys.dont_write_bytecode = True
        loader = importlib.machinery.SourceFileLoader(
            f"bench_{self.SCRIPT}", os.path.join(bench, self.SCRIPT))
        self.script = importlib.util.module_from_spec(
            importlib.util.spec_from_loader(loader.name, loader))
        loader.exec_module(self.script)
        self.boots = []
        self.consoles = []
        for name in ("boot", "build", "release"):
            patch = unittest.mock.patch.object(self.script.guestlib, name,
                                               getattr(self, name))
            patch.start()
            self.addCleanup(patch.stop)

    def boot(self, kernel, _scenario, append="", **_):
        """Stand in for guestlib.boot()."""
        self.boots.append((kernel, append))
        return self.consoles.pop(0)

    @staticmethod
    def build(linux, arch, *fragments, **_):
        """Stand in for guestlib.build()."""
        return " ".join((linux, arch) + fragments)

    @staticmethod
    def release(kernel, **_):
        """Stand in for guestlib.release()."""
        return kernel.split()[0] + ".100"

    def run_it(self, *options):
        """Run the script; return its exit status and output."""
        out = io.StringIO()
        with unittest.mock.patch.object(sys, "argv", [self.SCRIPT, *options]), \
                contextlib.redirect_stdout(out):
            return self.script.run(), out.getvalue()


class Kernel(Guest):
    """bench/kernel."""

    SCRIPT = "kernel"
    ONE = ("--kernel", "with", "--without", "none", "--orc", "orc")

    # A kernel with kmemtrace disabled costs 2 ticks more than one without
    # kmemtrace.
    WITHOUT = ("cost: off kmalloc 900 50\r\n"
               "cost: off pages 1800 100\r\n")

    @staticmethod
    def console(record, cost):
        """Return the console output of a guest with the given cost of an event."""
        text = f"[ 1.0] noise\r\ncost: record {record}\r\n"
        for tracer, ticks, events in (("off", 1000, 50), ("kmemtrace",
                                      1000 + 50 * cost, 50),
                                      ("ftrace", 1000 + 50 * 600, 50),
                                      ("ftrace_stacks", 1000 + 50 * 3000,
                                       50)):
            if tracer == "ftrace_stacks" and record != 72:
                continue
            text += f"cost: {tracer} kmalloc {ticks} {events}\r\n"
            text += f"cost: {tracer} pages {2 * ticks} {2 * events}\r\n"
        return text

    def test_goals(self):
        """The script prints all figures and compares the goals."""
        self.consoles = (2 * [self.WITHOUT] + 2 * [self.console(56, 80)] +
                         2 * [self.console(64, 99)] +
                         4 * [self.console(72, 1500)])
        with tempfile.NamedTemporaryFile() as figures:
            status, text = self.run_it(*self.ONE, "--strict", "--json", figures.name)
            found = json.load(figures)
        self.assertEqual(status, 0, text)
        self.assertEqual(self.boots, 2 * [("none", "")] +
                         2 * [("with", "kmemtrace.abi=1")] +
                         2 * [("with", "")] +
                         2 * [("with", self.script.STACKS)] +
                         2 * [("orc", self.script.STACKS)])
        self.assertRegex(text, r"kmalloc +50 +2\.0 +80\.0 +99\.0 +1500\.0 +1500\.0 "
                         r"+600\.0 +3000\.0")
        self.assertRegex(text, r"mean +2\.0 +80\.0 +99\.0 +1500\.0 +1500\.0 +600\.0 "
                         r"+3000\.0")
        self.assertRegex(text, r"both with stacks +2\.0 x")
        self.assertEqual(found["v2"]["record"], 64)
        self.assertEqual(found["kernels"][0]["v2_mean"], 99)
        self.assertEqual(found["kernels"][0]["off_mean"], 2)
        self.assertTrue(all(g["met"] is not False for g in found["goals"]))

    def test_too_many(self):
        """A cost of one instruction above the goal is a failure."""
        self.consoles = [self.WITHOUT, self.console(56, 80),
                         self.console(64, 101), self.console(72, 1500),
                         self.console(72, 1501)]
        status, text = self.run_it(*self.ONE, "--strict", "--once")
        self.assertEqual(status, 3)
        self.assertRegex(text, r"101\.0 +<= 100 +MISSED")
        self.assertRegex(text, r"ORC +1501\.0 +<= 1500 +MISSED")

    def test_unequal(self):
        """Runs with different figures are an error."""
        self.consoles = (2 * [self.WITHOUT] + 3 * [self.console(56, 80)] +
                         [self.console(64, 80)] +
                         4 * [self.console(72, 1500)])
        status, text = self.run_it(*self.ONE, "--strict")
        self.assertEqual(status, 3)
        self.assertRegex(text, r"two runs print the same figures +no +yes +MISSED")

    def test_versions(self):
        """Several kernels are compared with the cost of Linux 6.1."""
        self.consoles = [self.console(64, 90), self.WITHOUT,
                         self.console(64, 98), self.WITHOUT]
        status, text = self.run_it("--strict", "--once", "--linux", "6.1,7.2")
        self.assertEqual(status, 3)
        fragments = "x86_64 slub ftrace cost debuginfo"
        self.assertEqual([kernel for kernel, _ in self.boots],
                         [f"6.1 {fragments}", f"6.1 {fragments} off",
                          f"7.2 {fragments}", f"7.2 {fragments} off"])
        self.assertRegex(text, r"6\.1: off +v2 +ftrace +7\.2: off +v2 +ftrace")
        self.assertRegex(text, r"mean +2\.0 +90\.0 +600\.0 +2\.0 +98\.0 +600\.0")
        self.assertRegex(text, r"6\.1, version 2, mean +90\.0 +<= 97 +met")
        self.assertRegex(text, r"7\.2, version 2, mean +98\.0 +<= 97 +MISSED")

    def test_no_figures(self):
        """A guest without figures is an error."""
        self.consoles = ["nothing"]
        with self.assertRaisesRegex(Exception, "printed no figures"):
            self.run_it(*self.ONE)


class Workloads(Guest):
    """bench/workloads."""

    SCRIPT = "workloads"

    def setUp(self):
        super().setUp()
        self.script.make_files = lambda *_: "tar"

    @staticmethod
    def console(percent, *, events=0):
        """Return the console output of a guest with an overhead in percent."""
        text = "[ 1.0] noise\r\n"
        for workload in ("dbench", "tbench", "build"):
            text += (f"workloads: time {workload} "
                     f"{2_000_000 + round(20_000 * percent)}\r\n")
            if events:
                text += f"workloads: events {workload} {events}\r\n"
        return text

    def test_goals(self):
        """The overheads are relative to the run without a tracer."""
        self.consoles = [self.console(-1), self.console(0), self.console(0.9),
                         self.console(9), self.console(1.5, events=500),
                         self.console(1.25), self.console(5, events=510)]
        with tempfile.NamedTemporaryFile() as figures:
            status, text = self.run_it(
                "--strict", "--without", "old", "--kernel", "6.1", "--json",
                figures.name, "--tracers",
                "kmemtrace-ring,ftrace-ring,kmemtrace,perf,lttng")
            found = json.load(figures)
        self.assertEqual(status, 3)
        self.assertEqual(self.boots, [
            (kernel, f"kmt_tracer={tracer} kmt_workloads=dbench,tbench,build")
            for kernel, tracer in (
                ("old", "none"), ("6.1", "none"), ("6.1", "kmemtrace-ring"),
                ("6.1", "ftrace-ring"), ("6.1", "kmemtrace"), ("6.1", "perf"),
                ("6.1", "lttng"))])
        self.assertRegex(text, r"without kmemtrace +(-1\.00 % *){3}")
        self.assertRegex(text, r"no tracer +(2 M *){3}")
        self.assertRegex(text, r"ftrace, overwriting +(\+9\.00 % *){3}")
        self.assertRegex(text, r"build, kmemtrace, overwriting +0\.90 % +<= 1 % +met")
        self.assertRegex(text, r"build, kmemtraced +1\.50 % +<= 1 % +MISSED")
        self.assertRegex(text, r"dbench, kmemtraced +1\.50 % +<= 4 % +met")
        self.assertRegex(text, r"build, kmemtrace, overwriting, relative to the next "
                         r"tracer +0\.10 x +< 1 x +met")
        self.assertRegex(text, r"build, kmemtraced, relative to the next tracer +"
                         r"1\.20 x +< 1 x +MISSED")
        self.assertRegex(text, r"LTTng, to a file +(510 *){3}")
        self.assertRegex(text, r"events per 1 M instructions +250")
        self.assertEqual(found["instructions"]["none"]["build"], 2000000)
        self.assertEqual(found["events"]["lttng"]["build"], 510)

    def test_missing_events(self):
        """A tracer that recorded much less than kmemtrace is an error."""
        self.consoles = [self.console(0), self.console(3, events=500),
                         self.console(2, events=290)]
        with self.assertRaisesRegex(Exception, "LTTng.* recorded 290 events of "
                                    "dbench, kmemtraced 500"):
            self.run_it("--kernel", "6.1", "--tracers", "kmemtrace,lttng")

    def test_lttng_without_kprobes(self):
        """A kernel that the modules of LTTng cannot use is refused."""
        with tempfile.TemporaryDirectory() as kernel:
            with open(os.path.join(kernel, ".config"), "w", encoding="utf-8") as f:
                f.write("# CONFIG_KPROBES is not set\n")
            with self.assertRaisesRegex(Exception, "lacks CONFIG_KPROBES"):
                self.script.lttnglib.build(kernel)

    def test_files(self):
        """A tar contains a file once, and a program with its libraries."""
        with tempfile.TemporaryDirectory() as scratch:
            path = os.path.join(scratch, "tar")
            files = self.script.Files(path)
            files.add_program("/bin/sh", "bin/shell")
            files.add("/bin/sh", "/bin/shell")
            files.tar.close()
            with tarfile.open(path) as tar:
                names = tar.getnames()
        self.assertEqual(names.count("bin/shell"), 1)
        self.assertTrue(any("libc" in name for name in names), names)

    def test_no_figures(self):
        """A guest that does not finish all workloads is an error."""
        self.consoles = ["workloads: time dbench 5\r\n"]
        with self.assertRaisesRegex(Exception, "no figures of none"):
            self.run_it("--kernel", "6.1", "--tracers", "none")


class Instructions(Guest):
    """bench/instructions."""

    SCRIPT = "instructions"

    def test_purposes(self):
        """An instruction belongs to the innermost function of the table."""
        source = unittest.mock.Mock(spec=self.script.Source)
        source.symbol = {1: "kmalloc", 2: "__traceiter_kmalloc", 3: "probe_kmalloc",
                         4: "probe_kmalloc", 5: "probe_kmalloc", 6: "probe_kmalloc",
                         7: "native_sched_clock", 8: "kmemtrace_make_room",
                         9: "kmalloc", 10: "get_partial_node"}.get
        source.chains = {
            3: [("probe_kmalloc", "slab.c:1")],
            4: [("kmemtrace_fill", "record.h:2"), ("kmemtrace_write", "record.h:3"),
                ("kmemtrace_record", "record.h:4")],
            5: [("kmemtrace_record", "record.h:5")],
            6: [("kmemtrace_record", "record.h:6")]}
        source.text = {"record.h:5": "buf = raw_cpu_read(kmemtrace_cpus.buf);",
                       "record.h:6": "raw_cpu_write(kmemtrace_cpus.buf, buf);"}.get
        off = collections.Counter({1: 10, 9: 10})
        on = collections.Counter({1: 10, 2: 10, 3: 20, 4: 30, 5: 40, 6: 50, 7: 60,
                                  8: 1, 9: 12, 10: 5})
        self.assertEqual(self.script.split(source, off, on), {
            2: ("tracepoint", 10), 3: ("probe", 20), 4: ("store", 30),
            5: ("reservation", 40), 6: ("commit", 50), 7: ("clock", 60),
            8: ("sub-buffer change", 1), 9: ("tracepoint", 2), 10: ("other", 5)})


if __name__ == "__main__":
    sys.exit(unittest.main())
