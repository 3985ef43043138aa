#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""kmemtrace-report --by pid, comm, context and cache: whom an allocation was
for, as version 2 of the record and its tables say."""

import csv
import io
import os
import subprocess
import sys
import tempfile
import unittest

import mkcapture

BUILD = os.environ.get("top_builddir", ".")
SOURCE = os.environ.get("top_srcdir", ".")
REPORT = os.path.join(BUILD, "report", "kmemtrace-report")

# What tests/fixtures/clean-version2.txt says.
EXPECTED = {
    ("cache", "idle", "0", "hardirq", "seven"): ("1", "0", "128"),
    ("kmalloc", "ls", "12", "task", "kmalloc-128"): ("1", "0", "128"),
    ("cache", "ls", "12", "task", "ten  with\\ odd?name"): ("1", "1", "0"),
    ("cache", "sh", "12", "task", "seven"): ("1", "1", "0"),
}


class Owners(unittest.TestCase):
    """Captures made of fixtures."""

    def setUp(self):
        holder = tempfile.TemporaryDirectory()
        self.addCleanup(holder.cleanup)
        self.dir = os.path.join(holder.name, "capture")

    def fixture(self, name):
        """Makes the capture."""
        path = os.path.join(SOURCE, "tests", "fixtures", name + ".txt")
        mkcapture.compile_fixture(path, self.dir)

    def rows(self, *by):
        """The table, by its words: allocs, frees, live; and what was told."""
        done = subprocess.run(
            [REPORT, "--csv", "--by", ",".join(by), "--fields",
             "allocs,frees,live", self.dir], check=True, text=True,
            capture_output=True)
        table = list(csv.DictReader(io.StringIO(done.stdout)))
        words = ("kind",) + by
        return {tuple(row[w] for w in words):
                (row["allocs"], row["frees"], row["live"])
                for row in table}, done.stderr

    def test_either_byte_order(self):
        """Each combination once."""
        for name in ("clean-version2", "clean-version2-big"):
            with self.subTest(name):
                self.fixture(name)
                rows, _ = self.rows("comm", "pid", "context", "cache")
                self.assertEqual(rows, EXPECTED)

    def test_one_at_a_time(self):
        """What nobody asks for does not split lines."""
        self.fixture("clean-version2")
        rows, _ = self.rows("pid")
        self.assertEqual(rows, {("slab", "0"): ("1", "0", "128"),
                                ("slab", "12"): ("3", "2", "128")})
        rows, _ = self.rows("context")
        self.assertEqual(rows, {("slab", "hardirq"): ("1", "0", "128"),
                                ("slab", "task"): ("3", "2", "128")})

    def test_names_that_are_missing(self):
        """Numbers stay, names are unknown, and it is told."""
        self.fixture("clean-version2")
        for table in ("caches", "tasks"):
            os.unlink(os.path.join(self.dir, table))
        rows, told = self.rows("comm", "pid", "context", "cache")
        self.assertEqual(
            {key[1:3] + key[4:] for key in rows},
            {("idle", "0", "(objects of 128 bytes)"),
             ("(unknown)", "12", "kmalloc-128"),
             ("(unknown)", "12", "(objects of 48 bytes)"),
             ("(unknown)", "12", "(objects of 128 bytes)")})
        self.assertIn("file tasks of the capture is missing", told)
        self.assertIn("file caches of the capture is missing", told)

    def test_version_1(self):
        """It has none, which is told; caches are shown by their size."""
        self.fixture("clean-little")
        rows, told = self.rows("pid", "comm", "context")
        self.assertEqual({key[1:] for key in rows},
                         {("(not recorded)",) * 3})
        self.assertIn("needs version 2", told)
        rows, told = self.rows("cache")
        self.assertNotIn("needs version 2", told)
        self.assertTrue(rows)


if __name__ == "__main__":
    sys.exit(unittest.main())
