#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""The other programs of bench/ and its scripts, on next to nothing."""

import contextlib
import importlib.machinery
import importlib.util
import io
import json
import os
import struct
import subprocess
import sys
import tempfile
import unittest

SRC = os.environ.get("top_srcdir", ".")
TOP = os.environ.get("top_builddir", ".")
BENCH = os.path.join(TOP, "bench")

# What is in perf.data.
TRACEPOINT, SAMPLE, LOST = 2, 9, 2
LAYOUT = 1 << 0 | 1 << 1 | 1 << 2 | 1 << 7 | 1 << 8 | 1 << 10 | 1 << 16
FORMATS = {
    "kmalloc": (658, (("call_site", 8, 8), ("ptr", 16, 8), ("bytes_req", 24, 8),
                      ("bytes_alloc", 32, 8), ("gfp_flags", 40, 8),
                      ("node", 48, 4))),
    "kfree": (657, (("call_site", 8, 8), ("ptr", 16, 8))),
    "mm_page_alloc": (653, (("pfn", 8, 8), ("order", 16, 4),
                            ("gfp_flags", 24, 8))),
    "other": (1, (("ptr", 8, 8),)),
}


def formats():
    """The section with the formats of tracepoints, as far as it is read."""
    text = b"\x17\x08\x44tracing0.6\0\0"
    for name, (number, fields) in FORMATS.items():
        text += f"name: {name}\nID: {number}\nformat:\n".encode()
        for field, offset, size in fields:
            text += (f"\tfield:unsigned long {field};\toffset:{offset};"
                     f"\tsize:{size};\tsigned:0;\n").encode()
        text += b"\nprint fmt: \"\"\n\0"
    return text


def sample(event, cpu, time, **values):
    """A record of perf."""
    number, fields = FORMATS[event]
    raw = bytearray(60)
    struct.pack_into("<H", raw, 0, number)
    for field, offset, size in fields:
        value = values.get(field, 0) & (1 << size * 8) - 1
        raw[offset:offset + size] = value.to_bytes(size, "little")
    # id, ip, pid and tid, time, cpu, period
    body = struct.pack("<QQQQQQ", 5, 0xffffffff81000123, 7, time, cpu, 1)
    body += struct.pack("<I", len(raw)) + raw
    return struct.pack("<IHH", SAMPLE, 0, 8 + len(body)) + body


def lost(number):
    """The record that says so."""
    return struct.pack("<IHHQQ", LOST, 0, 24, 5, number)


def perf_data(records):
    """A file of perf."""
    attr = struct.pack("<IIQQQ", TRACEPOINT, 128, 658, 1, LAYOUT)
    attr = attr.ljust(128, b"\0") + struct.pack("<QQ", 0, 0)
    data_at = 104 + len(attr)
    text = formats()
    table_at = data_at + len(records)
    header = b"PERFILE2" + struct.pack(
        "<QQQQQQQQQQQQ", 104, len(attr), 104, len(attr), data_at, len(records),
        0, 0, 1 << 1, 0, 0, 0)
    return (header + attr + records +
            struct.pack("<QQ", table_at + 16, len(text)) + text)


def run(*argv):
    """Output and exit status of a program."""
    return subprocess.run(argv, capture_output=True, text=True, check=False)


class Scripts(unittest.TestCase):
    """Each test has a folder of its own."""

    def setUp(self):
        scratch = tempfile.TemporaryDirectory()
        self.addCleanup(scratch.cleanup)
        self.scratch = scratch.name

    def path(self, name):
        """A path in that folder."""
        return os.path.join(self.scratch, name)

    def convert(self, data, *options):
        """perf2cpu on the bytes of a perf.data."""
        with open(self.path("perf.data"), "wb") as f:
            f.write(data)
        return run(os.path.join(BENCH, "perf2cpu"), self.path("perf.data"),
                   self.path("capture"), *options)

    def records(self, cpu):
        """Those of a cpu file."""
        with open(self.path(f"capture/cpu{cpu}.out"), "rb") as f:
            return list(struct.iter_unpack("<BBHiQQQQQq", f.read()))

    def test_perf2cpu(self):
        """Each kind, out of order, lost, of no memory."""
        result = self.convert(perf_data(
            sample("kmalloc", 0, 20, call_site=3, ptr=0x1000, bytes_req=30,
                   bytes_alloc=32, gfp_flags=0xcc0, node=-1) +
            sample("kfree", 1, 40, call_site=4, ptr=0x1000) +
            lost(9) +
            sample("mm_page_alloc", 0, 10, pfn=5, order=2, gfp_flags=1) +
            sample("kfree", 1, 41) +
            sample("mm_page_alloc", 1, 42, pfn=-1) +
            sample("other", 1, 43, ptr=1)), "3")
        self.assertEqual((result.returncode, result.stderr), (0, ""))
        self.assertEqual(json.loads(result.stdout),
                         {"records": 3, "other_events": 1, "of_no_memory": 2,
                          "unordered": 0, "lost": 9})
        self.assertEqual(self.records(0), [
            (1, 2, 56, -1, 0xffffffff81000123, 0xffff888000005000, 16384, 16384,
             1, 10),
            (1, 0, 56, -1, 3, 0x1000, 30, 32, 0xcc0, 20)])
        self.assertEqual(self.records(1),
                         [(2, 0, 56, -1, 4, 0x1000, 0, 0, 0, 40)])
        self.assertEqual(self.records(2), [])
        with open(self.path("capture/kmemtrace.meta"), encoding="utf-8") as f:
            self.assertIn("overruns=9\n", f.read())

    def test_perf2cpu_bad(self):
        """What is not to be read, it says."""
        good = perf_data(sample("kfree", 3, 1, ptr=1))
        for number, (data, words) in enumerate((
                (b"", "too short"),
                (b"x" * 200, "no perf.data"),
                (good[:230], "no samples, or is cut off"),
                (good[:-9], "cut off"),
                (perf_data(b""), "no samples"),
                (perf_data(struct.pack("<IHHQ", SAMPLE, 0, 16, 0)),
                 "too short"),
                (good.replace(b"name:", b"nome:"), "no event of kmem"),
                (good, "CPU 3, but there are 2"))):
            with self.subTest(words=words):
                capture = self.path("capture")
                if os.path.exists(capture):
                    os.rename(capture, self.path(f"old{number}"))
                result = self.convert(data, "2")
                self.assertEqual(result.returncode, 1)
                self.assertIn(words, result.stderr)

    def test_measure(self):
        """What a command costs, and how it ended."""
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
        """It reads each record."""
        capture = self.path("a")
        run(os.path.join(BENCH, "generate"), "-o", capture, "-n", "3k")
        result = run(os.path.join(BENCH, "readall"),
                     os.path.join(capture, "cpu0.out"),
                     os.path.join(capture, "cpu1.out"))
        self.assertRegex(result.stdout, "^3000 events, [1-9]")

    def test_scripts(self):
        """They run, and leave nothing."""
        for script, options in (
                ("analysis", ("--generate", "--events", "2k,3k")),
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
        """Why not, and what to do.  That it can is for the machine to say."""
        result = run(sys.executable, os.path.join(SRC, "bench", "ftrace"),
                     "--builddir", "/nonexistent", "--tmp", self.scratch)
        self.assertEqual(result.returncode, 1)
        self.assertRegex(result.stderr,
                         "run make, and name its folder|tracepoints need root")
        self.assertEqual(os.listdir(self.scratch), [])


class Kernel(unittest.TestCase):
    """bench/kernel, with consoles instead of guests."""

    def setUp(self):
        bench = os.path.join(SRC, "bench")
        sys.path.insert(0, bench)
        self.addCleanup(sys.path.remove, bench)
        sys.dont_write_bytecode = True
        loader = importlib.machinery.SourceFileLoader(
            "bench_kernel", os.path.join(bench, "kernel"))
        self.kernel = importlib.util.module_from_spec(
            importlib.util.spec_from_loader(loader.name, loader))
        loader.exec_module(self.kernel)
        self.boots = []

    @staticmethod
    def console(record, cost):
        """What a guest prints; an event costs so much."""
        text = f"[ 1.0] noise\r\ncost: record {record}\r\n"
        for tracer, ticks, events in (("off", 1000, 50), ("kmemtrace",
                                      1000 + 50 * cost, 50),
                                      ("ftrace", 1000 + 50 * 600, 50)):
            text += f"cost: {tracer} kmalloc {ticks} {events}\r\n"
            text += f"cost: {tracer} pages {2 * ticks} {2 * events}\r\n"
        return text

    def run_it(self, *options):
        """Exit status and output."""
        def boot(_, append):
            self.boots.append(append)
            return self.kernel.parse(self.consoles.pop(0))
        self.kernel.boot = boot
        argv, sys.argv = sys.argv, ["kernel", "--kernel", "none", *options]
        out = io.StringIO()
        try:
            with contextlib.redirect_stdout(out):
                return self.kernel.run(), out.getvalue()
        finally:
            sys.argv = argv

    def test_goals(self):
        """The figures, and what of them is a goal."""
        self.consoles = 2 * [self.console(56, 80)] + 2 * [self.console(64, 99)]
        with tempfile.NamedTemporaryFile() as figures:
            status, text = self.run_it("--strict", "--json", figures.name)
            found = json.load(figures)
        self.assertEqual(status, 0, text)
        self.assertEqual(self.boots, 2 * ["kmemtrace.abi=1"] + 2 * [""])
        self.assertRegex(text, r"kmalloc +50 +80\.0 +99\.0 +600\.0")
        self.assertRegex(text, r"mean +80\.0 +99\.0 +600\.0")
        self.assertEqual(found["v2"]["record"], 64)
        self.assertTrue(all(g["met"] is not False for g in found["goals"]))

    def test_too_many(self):
        """One more than the goal."""
        self.consoles = [self.console(56, 80), self.console(64, 101)]
        status, text = self.run_it("--strict", "--once")
        self.assertEqual(status, 3)
        self.assertRegex(text, r"101\.0 +<= 100 +MISSED")

    def test_unequal(self):
        """A run that printed something else."""
        self.consoles = 3 * [self.console(56, 80)] + [self.console(64, 80)]
        status, text = self.run_it("--strict")
        self.assertEqual(status, 3)
        self.assertRegex(text, r"two runs print the same +no +yes +MISSED")

    def test_no_figures(self):
        """A guest that printed none."""
        self.consoles = ["nothing"]
        with self.assertRaisesRegex(Exception, "printed no figures"):
            self.run_it()


if __name__ == "__main__":
    sys.exit(unittest.main())
