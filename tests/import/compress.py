#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""kmemtrace-import --compress."""

import os
import subprocess
import unittest
from resource import RLIMIT_FSIZE, setrlimit

from compress_case import Frames, has_zstd
from import_case import CHECK, RECORD, ImportTest, lacks, main
from import_events import Event
from perf_files import perf_data, perf_sample

# More than a buffer of records of each CPU.
N = 40000


def kfrees(n, cpus):
    """Return samples of kfree on several CPUs."""
    return b"".join(perf_sample(Event("kfree", t % cpus, t, {
        "call_site": 0xffffffff81000000, "ptr": (t % 997 + 1) << 8}))
        for t in range(1, n + 1))


@unittest.skipUnless(has_zstd(), "no libzstd")
class Compress(ImportTest):
    """The content of compressed files."""

    @classmethod
    def setUpClass(cls):
        cls.data = perf_data(kfrees(N, 2))

    def setUp(self):
        super().setUp()
        self.file = self.write("perf.data", self.data)
        self.plain = self.path("plain")
        result = self.run_import(self.file, out=self.plain)
        self.assertEqual(result.returncode, 0, result.stderr)

    def compare(self):
        """Compare the compressed capture with the uncompressed one."""
        for cpu in 0, 1:
            with open(f"{self.plain}/cpu{cpu}.out", "rb") as file:
                expected = file.read()
            frames = Frames(f"{self.out}/cpu{cpu}.out.zst", RECORD.size)
            self.assertEqual(frames.records, expected)
            self.assertTrue(frames.table)
            self.assertEqual(frames.padding, 0)
            meta = self.meta()
            self.assertEqual(int(meta[f"cpu{cpu}.bytes"]), len(expected))
            self.assertEqual(int(meta[f"cpu{cpu}.frames"]), frames.frames)
            self.assertEqual(int(meta[f"cpu{cpu}.file_bytes"]),
                             os.stat(f"{self.out}/cpu{cpu}.out.zst").st_size)

    def test_same_records(self):
        self.imported(self.file, "--compress")
        self.compare()
        meta = self.meta()
        self.assertEqual((meta["compression"], meta["compression_level"]),
                         ("zstd", "1"))
        self.assertIn("cpu0.out.zst;cpu1.out.zst;", meta["files"])
        checked = subprocess.run([CHECK, self.out], capture_output=True,
                                 text=True, check=False)
        self.assertIn(f"2 files, {N} records", checked.stdout)

    def test_level(self):
        self.imported(self.file, "--compress=3", "-q")
        self.compare()
        self.assertEqual(self.meta()["compression_level"], "3")
        result = self.run_import(self.file, "--compress=20", "-f")
        self.assertEqual(result.returncode, 1)
        self.assertIn("--compress '20' is not a level from 1 to 19",
                      result.stderr)

    def test_replaced(self):
        """Each form replaces the other."""
        for options, name in ((["--compress"], "cpu0.out.zst"), ([], "cpu0.out"),
                              (["--compress"], "cpu0.out.zst")):
            self.imported(self.file, "-f", *options)
            self.assertEqual([file for file in os.listdir(self.out)
                              if file.startswith("cpu0")], [name])
        self.compare()

    def test_full_disk(self):
        """The old capture stays."""
        self.imported(self.file)
        result = self.run_import(
            self.file, "-f", "--compress",
            preexec_fn=lambda: setrlimit(RLIMIT_FSIZE, (20000, 20000)))
        self.assertEqual(result.returncode, 1)
        self.assertRegex(result.stderr, r"cannot write .*/cpu\d\.out\.zst: "
                                        "File too large")
        self.assertIn("cpu0.out", os.listdir(self.out))
        self.assertNotIn("cpu0.out.zst", os.listdir(self.out))

    def test_no_library(self):
        """Without libzstd, nothing is imported."""
        self.write("libzstd.so.1", "")
        os.environ["LD_LIBRARY_PATH"] = self.scratch
        self.addCleanup(os.environ.pop, "LD_LIBRARY_PATH")
        result = self.run_import(self.file, "--compress")
        self.assertEqual(result.returncode, 1)
        self.assertIn("cannot compress the capture: libzstd.so.1",
                      result.stderr)
        self.assertIn("or import without --compress", result.stderr)
        self.assertFalse(os.path.exists(self.out))


if __name__ == "__main__":
    if lacks("libtraceevent", perf_data(kfrees(1, 1))):
        raise SystemExit(77)
    main()
