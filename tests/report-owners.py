#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""kmemtrace-report of version 2 of the record: whom an allocation was for, --by
pid, comm, context and cache, and where events were lost."""

import csv
import io
import json
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

    def change_meta(self, old, new):
        """In what kmemtrace.meta says."""
        path = os.path.join(self.dir, "kmemtrace.meta")
        with open(path, encoding="ascii") as f:
            meta = f.read()
        self.assertIn(old, meta)
        with open(path, "w", encoding="ascii") as f:
            f.write(meta.replace(old, new))

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

    def test_tables_that_cannot_be(self):
        """A source that has none is named; nothing is called damaged."""
        self.fixture("clean-version2")
        for table in ("caches", "tasks", "marks"):
            if os.path.exists(os.path.join(self.dir, table)):
                os.unlink(os.path.join(self.dir, table))
        before = "[capture]"
        for source, lacks in (("ftrace", {"caches", "tasks", "marks"}),
                              ("import", {"marks"})):
            self.change_meta(before, f"[capture]\nsource={source}")
            before = f"[capture]\nsource={source}"
            _, told = self.rows("comm", "cache", "mark")
            for table in ("caches", "tasks", "marks"):
                self.assertIn(
                    f"a capture of the source {source} has no file {table}: "
                    if table in lacks else
                    f"the file {table} of the capture is missing", told)

    def test_tasks_of_tracepoints(self):
        """A capture that says that it had them; and some that are missing."""
        self.fixture("clean-version2")
        self.change_meta("[capture]",
                         "[capture]\nsource=ftrace\ntask_names=proc")
        with open(os.path.join(self.dir, "tasks"), "w", encoding="ascii") as f:
            f.write("# kmemtrace: tasks\n# columns: pid until name\n"
                    "# dropped: 2\n# exact_after: 5\n12 - cat\n")
        rows, told = self.rows("comm")
        self.assertIn("cat", {key[1] for key in rows})
        self.assertIn("2 names of tasks are missing\n", told)
        os.unlink(os.path.join(self.dir, "tasks"))
        _, told = self.rows("comm")
        self.assertIn("the file tasks of the capture is missing", told)

    def document(self):
        """Its JSON."""
        done = subprocess.run([REPORT, "-q", "--json", self.dir], check=True,
                              capture_output=True)
        return json.loads(done.stdout)["capture"]

    def test_holes(self):
        """Records of a loss are no events, and say where it was."""
        known = [{"cpu": 0, "from": 5000, "until": 6000, "events": 5},
                 {"cpu": 0, "from": 6000000, "until": 6000009, "events": 2}]
        for name in ("clean-version2", "clean-version2-big"):
            with self.subTest(name):
                self.fixture(name)
                capture = self.document()
                self.assertEqual(capture["holes"], known)
                self.assertEqual(capture["events"], 6)
                self.assertAlmostEqual(capture["blind"], 1009 / 8999000)
        text = subprocess.run([REPORT, "-q", self.dir], check=True, text=True,
                              capture_output=True).stdout
        self.assertIn("Lost:          cpu0 from 0.000004000 s to 0.000005000 s"
                      ": 5 events\n", text)

    def test_hole_at_the_end(self):
        """What no record tells was lost after the last one."""
        self.fixture("clean-version2")
        self.change_meta("overruns=7", "overruns=10")
        capture = self.document()
        self.assertEqual(capture["holes"][1:], [
            {"cpu": 0, "from": 6000000, "until": 6000009, "events": 2},
            {"cpu": 0, "from": 6000009, "until": 9000000, "events": 3}])
        self.assertAlmostEqual(capture["blind"], 3001000 / 8999000)

    def test_hole_before_the_beginning(self):
        """What was overwritten is no part of the capture's time."""
        self.fixture("clean-snapshot")
        path = os.path.join(self.dir, "cpu1.out")
        with open(path, "r+b") as f:
            lost = bytearray(f.read(64))
            lost[32:40] = (200).to_bytes(8, "little")
            lost[48:56] = (900).to_bytes(8, "little")
            f.seek(0)
            f.write(lost)
        capture = self.document()
        self.assertEqual(capture["holes"], [
            {"cpu": 1, "from": 200, "until": 900, "events": 3}])
        self.assertEqual(capture["blind"], 0)

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
