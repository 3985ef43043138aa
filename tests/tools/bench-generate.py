#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""bench/generate writes clean captures that agree with its own totals."""

import hashlib
import json
import os
import stat
import subprocess
import sys
import tempfile
import threading
import unittest

TOP = os.environ.get("top_builddir", ".")
GENERATE = os.path.join(TOP, "bench", "generate")
CHECK = os.path.join(TOP, "check", "kmemtrace-check")
REPORT = os.path.join(TOP, "report", "kmemtrace-report")


def run(*argv, **kwargs):
    """Run a program and return the result with its output."""
    return subprocess.run(argv, capture_output=True, check=False, **kwargs)


class Generate(unittest.TestCase):
    """Generated captures in a temporary directory."""

    def setUp(self):
        scratch = tempfile.TemporaryDirectory()
        self.addCleanup(scratch.cleanup)
        self.scratch = scratch.name

    def generate(self, name, *options):
        """Generate a capture; return its path and the generator's summary."""
        path = os.path.join(self.scratch, name)
        result = run(GENERATE, "-o", path, "--summary", *options)
        self.assertEqual((result.returncode, result.stderr), (0, b""))
        return path, json.loads(result.stdout)

    def hold(self, path, summary):
        """Check that kmemtrace-check finds no error and that the report has the
        summary's totals."""
        check = run(CHECK, path)
        self.assertEqual(check.returncode, 0, check.stdout)
        result = run(REPORT, "--json", path)
        self.assertEqual((result.returncode, result.stderr), (0, b""))
        report = json.loads(result.stdout)
        self.assertEqual(report["capture"]["events"], summary["events"])
        for kind, totals in summary["kinds"].items():
            found = {key: report["kinds"][kind][key] for key in totals}
            self.assertEqual(found, totals, kind)
        findings = report["findings"]
        self.assertEqual(set(findings["unmatched_frees"].values()), {0})
        self.assertEqual(set(findings["double_allocations"].values()), {0})

    def test_totals(self):
        """The report finds the totals of events on three CPUs."""
        path, summary = self.generate("a", "-n", "10k", "-c", "3", "-l", "701")
        self.hold(path, summary)
        kinds = summary["kinds"]
        # 10000 - 701 is odd, so one more object is live.
        self.assertEqual(sum(kinds[kind]["live_objects"]
                             for kind in ("slab", "pages")), 702)
        self.assertGreater(kinds["slab"]["cross_cpu_frees"], 0)
        self.assertGreater(kinds["pages"]["frees"], 0)

    def test_corners(self):
        """Extreme parameters work: no events, only lasting objects, no lasting
        objects, many CPUs."""
        for number, options in enumerate((
                ("-n0",), ("-n1",), ("-n2", "-l0"), ("-n500", "-l500"),
                ("-n5000", "-l0", "-p0"), ("-n5000", "-p100", "-x100"),
                ("-n9000", "-l4500", "-c77", "-x50"))):
            with self.subTest(options=options):
                self.hold(*self.generate(f"c{number}", *options))

    def test_seed(self):
        """The same seed generates the same bytes, also on stdout."""
        hashes = []
        for name, seed in (("s1", "7"), ("s2", "7"), ("s3", "8")):
            path, _ = self.generate(name, "-c1", "-n3k", "-s", seed)
            with open(os.path.join(path, "cpu0.out"), "rb") as f:
                hashes.append(hashlib.sha256(f.read()).digest())
        streamed = run(GENERATE, "-o-", "-n3k", "-s7")
        self.assertEqual(hashes[0], hashes[1])
        self.assertNotEqual(hashes[0], hashes[2])
        self.assertEqual(hashes[0], hashlib.sha256(streamed.stdout).digest())

    def test_pipes(self):
        """The generator writes to existing named pipes."""
        path = os.path.join(self.scratch, "pipes")
        os.mkdir(path)
        sizes = {}

        def drain(name):
            with open(name, "rb") as f:
                sizes[name] = len(f.read())

        threads = []
        for cpu in range(2):
            name = os.path.join(path, f"cpu{cpu}.out")
            os.mkfifo(name)
            threads.append(threading.Thread(target=drain, args=(name,)))
            threads[-1].start()
        result = run(GENERATE, "-o", path, "-n20k")
        for thread in threads:
            thread.join()
        self.assertEqual((result.returncode, result.stderr), (0, b""))
        self.assertEqual(sum(sizes.values()), 20000 * 56)
        for name in sizes:
            self.assertTrue(stat.S_ISFIFO(os.stat(name).st_mode))

    def test_refused(self):
        """Impossible requests are refused with a message."""
        path, _ = self.generate("old", "-n10")
        for options, words in (
                (("-o", path), "not empty"),
                (("-o-", "-c2"), "one CPU only"),
                ((), "no --output"),
                (("-o", path, "extra"), "'extra'"),
                (("-o", path, "-n", "1X"), "--events '1X'"),
                (("-o", path, "-c0"), "--cpus 0"),
                (("-o", path, "-n5", "-l6"), "--live '6'")):
            with self.subTest(options=options):
                result = run(GENERATE, *options)
                self.assertEqual(result.returncode, 1)
                self.assertIn(words, result.stderr.decode())


if __name__ == "__main__":
    sys.exit(unittest.main())
