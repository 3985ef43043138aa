#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""kmemtrace-report's questions at their edges: wrong values, captures of next
to nothing, numbers that few programs hold exactly."""

import csv
import io
import json
import os
import subprocess
import sys
import tempfile
import unittest

import mkcapture

PROGRAM = os.path.join(os.environ.get("top_builddir", "."), "report",
                       "kmemtrace-report")
EMPTY = "cpu 0 little\n"
ONE = EMPTY + "alloc kmalloc t=5000 site=0x10 ptr=0x1000 req=100 alloc=128\n"
AT_ONCE = ONE + """
alloc pages t=5000 site=0x20 ptr=0x2000 req=4096 alloc=4096
alloc kmalloc t=5000 site=0x10 ptr=0x3000 req=100 alloc=128
free kmalloc t=5000 site=0x30 ptr=0x1000
"""
# Beyond what a double holds, and beyond a signed integer.
LARGE = [2 ** 53 + 1, 2 ** 62 + 3, 2 ** 63 + 5]

# Option and value; what the message must have besides, which is what is
# expected.
WRONG = [
    ("--by", "", "callsite, function, module"),
    ("--by", "site", "callsite, function, module"),
    ("--by", "cpu,", "several with commas"),
    ("--fields", "", "the fields are wasted"),
    ("--fields", "live,x", "the fields are wasted"),
    ("--time", "", "START,STOP"), ("--time", "1", "START,STOP"),
    ("--time", "2,1", "START,STOP"), ("--time", "1,2,3", "START,STOP"),
    ("--time", "-1,", "START,STOP"), ("--time", "x,1", "START,STOP"),
    ("--time", "1e-3,", "START,STOP"), ("--time", "0x1,", "START,STOP"),
    ("--time", "nan,", "START,STOP"), ("--time", "1 ,2", "START,STOP"),
    ("--time", "0.0000000001,", "START,STOP"),
    ("--time", "9000000000,", "START,STOP"), ("--time", "Peak", "'peak'"),
    ("--windows", "0", "1 to 100000"), ("--windows", "-1", "100000"),
    ("--windows", "x", "100000"), ("--windows", "100001", "100000"),
    ("--windows", "", "100000"),
    ("--histogram", "", "lifetime or size"),
    ("--histogram", "ages", "lifetime or size"),
    ("--churn", "", "100us"), ("--churn", "5", "100us"),
    ("--churn", "1ms-", "100us"), ("--churn", "1ms-2ms", "100us"),
    ("--churn", "1h", "100us"),
    ("--kind", "", "kmalloc, cache, slab or pages"),
    ("--kind", "kmalloc,page", "kmalloc, cache, slab or pages"),
    ("--cpu", "", "0-3,7"), ("--cpu", "3-1", "0-3,7"),
    ("--cpu", "1,", "0-3,7"), ("--cpu", "-1", "0-3,7"),
    ("--cpu", "99999999999999999999", "0-3,7"),
    ("--node", "any", "0-3,7"), ("--node", "0-", "0-3,7"),
    ("--size", "", "64-4k"), ("--size", "-", "64-4k"),
    ("--size", "4k-64", "64-4k"), ("--size", "4K", "64-4k"),
    ("--size", "1-2-3", "64-4k"), ("--size", "18446744073709551616", "64-4k"),
    ("--size", "17179869184G", "64-4k"),
    ("--lifetime", "", "1ms-"), ("--lifetime", "5-7", "1ms-"),
    ("--lifetime", "2s-1ms", "1ms-"), ("--lifetime", "1min-", "1ms-"),
    ("--callsite", "", "* and ?"), ("--module", "", "* and ?"),
]
# What does not go together.
TOGETHER = [
    (["--json", "--csv"], "only one"), (["--csv", "--folded"], "only one"),
    (["--leaks", "--windows", "3"], "4 at least"),
    (["--lifetime", "1ms-", "--windows", "4"], "--lifetime: not with"),
    (["--lifetime", "1ms-", "--leaks"], "--lifetime: not with"),
    (["--lifetime", "1ms-", "--time", "peak"], "--lifetime: not with"),
    (["--module", "x", "--raw-ip"], "--module"),
    (["--folded", "--fields", "frag"], "--fields 'frag'"),
    (["--folded", "--fields", "lifetime-p99,live"], "--folded"),
]


class Options(unittest.TestCase):
    """Each test has a folder of its own."""

    def setUp(self):
        scratch = tempfile.TemporaryDirectory()
        self.addCleanup(scratch.cleanup)
        self.dir = scratch.name

    def capture(self, text):
        """A compiled capture."""
        path = os.path.join(self.dir, "capture")
        mkcapture.compile_text(text).write(path)
        return path

    @staticmethod
    def run_with(*args):
        """Exit status and outputs, with the ends of lines as they are."""
        done = subprocess.run([PROGRAM, *args], capture_output=True,
                              check=False)
        done.stdout = done.stdout.decode()
        done.stderr = done.stderr.decode()
        return done

    def output(self, *args):
        """Of a run that must succeed."""
        done = self.run_with("-q", *args)
        self.assertEqual((done.returncode, done.stderr), (0, ""), args)
        return done.stdout

    def report(self, *args):
        """The JSON document."""
        return json.loads(self.output("--json", *args))

    def check_refused(self, args, *words):
        """One line that says what is wrong, and where help is."""
        done = self.run_with(*args, self.dir)
        self.assertEqual((done.returncode, done.stdout), (1, ""), args)
        message, hint = done.stderr.splitlines()
        for word in words:
            self.assertIn(word, message, args)
        self.assertEqual(hint, "Try 'kmemtrace-report --help' for more "
                         "information.")

    def test_wrong_values(self):
        for option, value, expected in WRONG:
            self.check_refused([f"{option}={value}"], f"{option} '", expected)
        for args, words in TOGETHER:
            self.check_refused(args, words)

    def test_nothing(self):
        """Questions to a capture without a record."""
        capture = self.capture(EMPTY)
        text = self.output("--windows", "5", "--leaks", "--cross-cpu",
                           "--histogram", "size", capture)
        for title in ("OVER TIME (bytes)\nnone\n", "LEAK CANDIDATES\nnone\n",
                      "CALL SITES (bytes)\nnone\n", "(bytes)\nnobody\n",
                      "SIZES requested, bytes\nnone\n"):
            self.assertIn(title, text)
        for time in ("peak", "0,0", "5,", ",5", "5,6"):
            self.assertIn("CALL SITES (bytes)\nnone\n",
                          self.output("--time", time, "--live", capture))
        report = self.report("--windows", "5", "--leaks", "--cross-cpu",
                             "--time", "3,", capture)
        for key in ("callsites", "windows", "leak_candidates", "frees_by_cpu",
                    "cross_cpu_pairs"):
            self.assertEqual(report[key], [], key)
        self.assertEqual(self.output("--folded", capture), "")
        self.assertEqual(self.output("--csv", "--fields", "churn", capture),
                         "kind,callsite,churn\r\n")

    def check_windows(self, args, want):
        """Allocations and live bytes of slab in each window."""
        windows = self.report(*args)["windows"]
        self.assertEqual([(w["start"], w["slab"]["allocs"],
                           w["slab"]["live_bytes_allocated"])
                          for w in windows], want)

    def test_no_time(self):
        """One record; several at the same time."""
        for text, allocs, live in ((ONE, 1, 128), (AT_ONCE, 2, 128)):
            capture = self.capture(text)
            self.check_windows(["--windows", "3", capture],
                               [(0, allocs, live), (0, 0, live),
                                (0, 0, live)])
            report = self.report("--leaks", "--fields", "churn", capture)
            self.assertEqual(report["leak_candidates"], [])
            self.assertIsNone(report["callsites"][0]["churn_per_second"])
            whole = self.report(capture)["kinds"]
            for time in ("0,0", "0,", ",5", "0,5"):
                self.assertEqual(
                    self.report("--time", time, capture)["kinds"], whole)
        self.assertIn("LEAK CANDIDATES\nnone\n", self.output("--leaks",
                                                             capture))

    def test_more_windows_than_time(self):
        """Some have no time at all."""
        capture = self.capture(ONE + "free kmalloc t=5002 ptr=0x1000\n")
        self.check_windows(["--windows", "5", capture],
                           [(0, 1, 128), (0, 0, 128), (0, 0, 128),
                            (1, 0, 128), (1, 0, 0)])

    def test_beyond_the_end(self):
        """What is live then is all that there is."""
        capture = self.capture(AT_ONCE)
        report = self.report("--time", "7,", "--windows", "4",
                             "--fields", "age-median,churn", capture)
        slab = report["kinds"]["slab"]
        self.assertEqual((slab["allocs"], slab["frees"],
                          slab["live_bytes_allocated"],
                          slab["peak_bytes_allocated"],
                          slab["peak_timestamp"]),
                         (0, 0, 128, 128, 7 * 10 ** 9 + 5000))
        self.assertEqual({w["start"] for w in report["windows"]},
                         {7 * 10 ** 9})
        self.assertEqual([(r["address"][-2:], r["live_objects"],
                           r["live_bytes_at_peak"])
                          for r in report["callsites"]],
                         [("10", 1, 128), ("20", 1, 4096)])

    def test_nothing_fits(self):
        """Filters that no object passes."""
        capture = self.capture(AT_ONCE)
        for args in (["--cpu", "7"], ["--node", "3"], ["--size", "1-2"],
                     ["--lifetime", "5s-"], ["--callsite", "x"],
                     ["--module", "x"], ["--kind", "cache"]):
            self.assertIn("CALL SITES (bytes)\nnone\n",
                          self.output(*args, capture))
            self.assertEqual(self.report(*args, capture)["callsites"], [])
            self.assertEqual(self.output("--folded", *args, capture), "")

    def large(self):
        """Objects whose sizes few programs hold exactly."""
        text = "cpu 0 little\n"
        for i, size in enumerate(LARGE):
            text += (f"alloc kmalloc t={i} site={16 + i} ptr={4096 * (i + 1)} "
                     f"req={size - 1} alloc={size}\n")
        text += "cpu 1 little\n" + "".join(
            f"free kmalloc t={9 + i} site=0x99 ptr={4096 * (i + 1)}\n"
            for i in range(len(LARGE)))
        return self.capture(text)

    def test_large_numbers(self):
        """In all members, and in CSV."""
        capture = self.large()
        report = self.report("--cross-cpu", "--windows", "1", "--sort", "ptr",
                             "--histogram", "size", capture)
        rows = report["callsites"]
        self.assertEqual([r["live_bytes_at_peak"] for r in rows], LARGE)
        self.assertEqual([r["sizes"][0]["from"] for r in rows],
                         [2 ** 53, 2 ** 62, 2 ** 63])
        total = report["windows"][0]["slab"]
        for key in ("bytes_allocated", "peak_bytes_allocated"):
            self.assertEqual(total[key], sum(LARGE))
        self.assertEqual(total["bytes_requested"], sum(LARGE) - len(LARGE))
        self.assertEqual(report["frees_by_cpu"][0]["bytes_allocated"],
                         sum(LARGE))
        self.assertEqual([p["bytes_allocated"]
                          for p in report["cross_cpu_pairs"]], LARGE[::-1])
        table = list(csv.reader(io.StringIO(self.output(
            "--csv", "--sort", "ptr", "--fields", "at-peak,peak",
            capture))))[1:]
        self.assertEqual([int(row[2]) for row in table], LARGE)
        self.assertEqual([int(row[3]) for row in table], LARGE)

    def test_large_growth(self):
        """Of a leak."""
        text = "cpu 0 little\n" + "".join(
            f"alloc kmalloc t={i} site=16 ptr={4096 * (i + 1)} "
            f"req={2 ** 59} alloc={2 ** 59 + 1}\n" for i in range(21))
        leak, = self.report("--leaks", self.capture(text))["leak_candidates"]
        self.assertEqual((leak["growth_bytes"], leak["live_objects"]),
                         (18 * (2 ** 59 + 1), 21))

    def test_large_times(self):
        """The longest capture that there can be."""
        capture = self.capture(
            f"cpu 0 little\nalloc kmalloc t={-2 ** 63} site=16 ptr=4096\n"
            f"alloc kmalloc t={-2 ** 63} site=32 ptr=8192\n"
            f"free kmalloc t={2 ** 63 - 1} ptr=4096\n")
        report = self.report("--windows", "3", "--sort", "ptr",
                             "--histogram", "lifetime", capture)
        longest = (2 ** 64 - 1) // 3
        self.assertEqual([w["start"] for w in report["windows"]],
                         [0, longest, 2 * longest])
        first, second = report["callsites"]
        for value in (first["lifetime_median"], second["age_median"]):
            self.assertEqual(value, 15 << 60)
        self.assertEqual(first["lifetimes"], [{"from": 2 ** 63, "count": 1}])
        args = ["--sort", "ptr", "--fields", "lifetime-p99", capture]
        self.assertIn(f",{15 << 60}\r\n", self.output("--csv", *args))
        self.assertIn("17293822569.102704640  ", self.output(*args))

    def test_exact_moments(self):
        """Nine decimals count, also where a double has none left."""
        first = 4 * 10 ** 18 + 1
        capture = self.capture(
            "cpu 0 little\nalloc kmalloc t=0 site=16 ptr=4096\n"
            f"alloc kmalloc t={first} site=16 ptr=8192\n"
            f"alloc kmalloc t={first + 1} site=16 ptr=12288\n")
        for start, stop, allocs in ((1, 1, 1), (1, 2, 2), (2, 2, 1),
                                    (3, 9, 0)):
            time = ",".join(f"4000000000.00000000{n}" for n in (start, stop))
            kinds = self.report("--time", time, capture)["kinds"]
            self.assertEqual(kinds["slab"]["allocs"], allocs, time)


if __name__ == "__main__":
    sys.exit(unittest.main())
