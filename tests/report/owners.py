#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""kmemtrace-report on records of version 2: the tasks that allocations belong to,
--by pid, comm, context and cache, and the times of losses."""

import csv
import io
import json
import os
import re
import subprocess
import sys
import tempfile
import unicodedata
import unittest

import mkcapture

BUILD = os.environ.get("top_builddir", ".")
SOURCE = os.environ.get("top_srcdir", ".")
REPORT = os.path.join(BUILD, "report", "kmemtrace-report")

# The content of tests/check/fixtures/clean-version2.txt.
EXPECTED = {
    ("cache", "idle", "0", "hardirq", "seven"): ("1", "0", "128"),
    ("kmalloc", "ls", "12", "task", "kmalloc-128"): ("1", "0", "128"),
    ("cache", "ls", "12", "task", "ten  with\\ odd?name"): ("1", "1", "0"),
    ("cache", "sh", "12", "task", "seven"): ("1", "1", "0"),
}


def width(text):
    """Return the number of columns that a terminal uses for a text."""
    return sum(0 if unicodedata.combining(c) else
               2 if unicodedata.east_asian_width(c) in "WF" else 1
               for c in text)


class Owners(unittest.TestCase):
    """Captures from fixtures."""

    def setUp(self):
        holder = tempfile.TemporaryDirectory()
        self.addCleanup(holder.cleanup)
        self.dir = os.path.join(holder.name, "capture")

    def fixture(self, name):
        """Make the capture of a fixture."""
        path = os.path.join(SOURCE, "tests", "check", "fixtures", name + ".txt")
        mkcapture.compile_fixture(path, self.dir)

    def change_meta(self, old, new):
        """Replace text in kmemtrace.meta."""
        path = os.path.join(self.dir, "kmemtrace.meta")
        with open(path, encoding="ascii") as f:
            meta = f.read()
        self.assertIn(old, meta)
        with open(path, "w", encoding="ascii") as f:
            f.write(meta.replace(old, new))

    def rows(self, *by):
        """Return the rows of the table as words (allocs, frees, live), and the
        messages."""
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
        """Each combination of keys, in both byte orders."""
        for name in ("clean-version2", "clean-version2-big"):
            with self.subTest(name):
                self.fixture(name)
                rows, _ = self.rows("comm", "pid", "context", "cache")
                self.assertEqual(rows, EXPECTED)

    def test_one_at_a_time(self):
        """Records are not split by keys that were not requested."""
        self.fixture("clean-version2")
        rows, _ = self.rows("pid")
        self.assertEqual(rows, {("slab", "0"): ("1", "0", "128"),
                                ("slab", "12"): ("3", "2", "128")})
        rows, _ = self.rows("context")
        self.assertEqual(rows, {("slab", "hardirq"): ("1", "0", "128"),
                                ("slab", "task"): ("3", "2", "128")})

    def test_names_that_are_missing(self):
        """Without tables, numbers remain, names are unknown, and a warning is
        printed."""
        self.fixture("clean-version2")
        for table in ("caches", "tasks"):
            os.unlink(os.path.join(self.dir, table))
        rows, messages = self.rows("comm", "pid", "context", "cache")
        self.assertEqual(
            {key[1:3] + key[4:] for key in rows},
            {("idle", "0", "(objects of 128 bytes)"),
             ("(unknown)", "12", "kmalloc-128"),
             ("(unknown)", "12", "(objects of 48 bytes)"),
             ("(unknown)", "12", "(objects of 128 bytes)")})
        self.assertIn("file tasks of the capture is missing", messages)
        self.assertIn("file caches of the capture is missing", messages)

    def test_tables_that_cannot_be(self):
        """The message names a source that has no such tables, and reports no
        damage."""
        self.fixture("clean-version2")
        for table in ("caches", "tasks", "marks"):
            if os.path.exists(os.path.join(self.dir, table)):
                os.unlink(os.path.join(self.dir, table))
        before = "[capture]"
        for source, lacks in (("ftrace", {"caches", "tasks", "marks"}),
                              ("import", {"marks"})):
            self.change_meta(before, f"[capture]\nsource={source}")
            before = f"[capture]\nsource={source}"
            _, messages = self.rows("comm", "cache", "mark")
            for table in ("caches", "tasks", "marks"):
                self.assertIn(
                    f"a capture of the source {source} has no file {table}: "
                    if table in lacks else
                    f"the file {table} of the capture is missing", messages)

    def test_tasks_of_tracepoints(self):
        """A capture that claims to have task names from tracepoints, some of which
        are missing."""
        self.fixture("clean-version2")
        self.change_meta("[capture]",
                         "[capture]\nsource=ftrace\ntask_names=proc")
        with open(os.path.join(self.dir, "tasks"), "w", encoding="ascii") as f:
            f.write("# kmemtrace: tasks\n# columns: pid until name\n"
                    "# dropped: 2\n# exact_after: 5\n12 - cat\n")
        rows, messages = self.rows("comm")
        self.assertIn("cat", {key[1] for key in rows})
        self.assertIn("2 names of tasks are missing\n", messages)
        self.change_meta("source=ftrace", "source=bpf")
        self.assertIn("2 names of tasks are missing\n", self.rows("comm")[1])
        os.unlink(os.path.join(self.dir, "tasks"))
        _, messages = self.rows("comm")
        self.assertIn("the file tasks of the capture is missing", messages)

    def document(self):
        """Return the JSON document of a report."""
        done = subprocess.run([REPORT, "-q", "--json", self.dir], check=True,
                              capture_output=True)
        return json.loads(done.stdout)["capture"]

    def test_holes(self):
        """LOST records are no events; they give the time of the loss."""
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
        """A loss without a record happened after the last record."""
        self.fixture("clean-version2")
        self.change_meta("overruns=7", "overruns=10")
        capture = self.document()
        self.assertEqual(capture["holes"][1:], [
            {"cpu": 0, "from": 6000000, "until": 6000009, "events": 2},
            {"cpu": 0, "from": 6000009, "until": 9000000, "events": 3}])
        self.assertAlmostEqual(capture["blind"], 3001000 / 8999000)

    def test_hole_before_the_beginning(self):
        """Overwritten events are not part of the capture's time."""
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

    def timed(self, time, *args, form="--json"):
        """Return the output for a part of the time, and the warnings."""
        done = subprocess.run([REPORT, form, "--time", time, *args, self.dir],
                              check=True, capture_output=True, text=True)
        return done.stdout, done.stderr

    def losing_capture(self):
        """Make 20 allocations at intervals of 1 ms, with losses from 4 ms and from
        15 ms on."""
        capture = mkcapture.Capture()
        for i in range(20):
            if i in (5, 16):
                capture.add(0, mkcapture.lost(i * 10 ** 6, i,
                                              (i - 1) * 10 ** 6))
            capture.add(0, mkcapture.event_v2(t=i * 10 ** 6, ptr=8 * i + 8))
        capture.texts["kmemtrace.meta"] = (
            "[capture]\nabi_version=2\nrecord_size=64\nbyte_order=little\n"
            "complete=true\noverruns=21\n[cpu0]\noverruns=21\n")
        capture.write(self.dir)

    def test_losses_of_other_times(self):
        """A loss counts only in its own time."""
        self.losing_capture()
        for time, loss, within, lost, blind in (
                ("0,0.001", "none", 0, "0 in this time", 0),
                ("0,0.0045", "events", 5,
                 "5 EVENTS WERE LOST in this time", .5 / 4.5),
                ("0.01,0.012", "events", 0,
                 "0 in this time", 0),
                ("0.0155,", "events", 16, "16 EVENTS WERE LOST in this time", .5 / 3.5),
                (",0.02", "events", 21, "21 EVENTS WERE LOST in this time",
                 2 / 19)):
            for args in ((), ("--windows", "3"), ("--cpu", "0"),
                         ("--kind", "cache"), ("--jobs", "1")):
                with self.subTest(time=time, args=args):
                    text, messages = self.timed(time, *args)
                    got = json.loads(text)["capture"]
                    self.assertEqual(
                        (got["events"], got["overruns"], got["loss"],
                         got["lost_in_time"],
                         sum(h["events"] for h in got["holes"])),
                        (20, within, loss, within, within))
                    self.assertAlmostEqual(got["blind"], blind)
                    self.assertEqual("were lost" in messages, loss == "events")
                    self.assertEqual(len(got["not_exact"]), loss == "events")
                    text, _ = self.timed(time, *args, form="--slab")
                    self.assertIn(f"Events lost:   {lost}\n", text)
                    # Losses outside of the time are not printed.
                    for other in {5, 16, 21} if within < 21 else ():
                        about = text.partition("Events lost:")[2]
                        self.assertEqual(
                            re.search(rf"\b{other} (EVENTS|events|before|after)",
                                      about) is not None, other == within)
                    self.assertEqual(text.count("\nLost:"), within > 0)
                    self.assertEqual("allocs~" in text or "wasted~" in text,
                                     loss == "events" and "none\n" not in text
                                     and not args[:1] == ("--windows",))
            _, messages = self.timed(time, form="--csv")
            self.assertEqual("were lost" in messages, loss == "events")

    def test_losses_of_windows(self):
        """Each window has the losses that a report of the same time has."""
        self.losing_capture()
        text, _ = self.timed("0,0.019", "--windows", "19")
        windows = json.loads(text)["windows"]
        lost = [w["lost"] for w in windows]
        for i, window in enumerate(windows):
            end = window["start"] + 10 ** 6
            part, _ = self.timed(f"{window['start']}ns,{end}ns")
            self.assertEqual(json.loads(part)["capture"]["overruns"], lost[i])
        self.assertEqual(set(lost), {0, 5, 16})
        text, _ = self.timed("0,0.019", "--windows", "19", form="--slab")
        rows = [line.split() for line in text.splitlines()
                if line[-1:].isdigit() and line.lstrip()[:1].isdigit()]
        self.assertIn("events lost\n", text)
        shown = [int(row[-1]) for row in rows if len(row) == 8]
        self.assertEqual(shown, lost)

    def test_losses_that_only_records_tell_of(self):
        """The warning counts the losses up to STOP."""
        capture = mkcapture.Capture()
        for i in range(4):
            capture.add(0, mkcapture.event_v2(t=i * 10 ** 9, ptr=8 * i + 8) +
                        mkcapture.lost(i * 10 ** 9 + 7, 10 ** i,
                                       i * 10 ** 9 + 5))
        capture.texts["kmemtrace.meta"] = (
            "[capture]\nabi_version=2\nrecord_size=64\nbyte_order=little\n"
            "complete=true\noverruns=0\n")
        capture.write(self.dir)
        for time, events in ((",1.5", 11), (",", 1111), (",0", None)):
            _, messages = self.timed(time)
            self.assertEqual("records report" in messages, events is not None)
            if events:
                self.assertIn(f"report {events} lost", messages)

    def test_columns_of_any_script(self):
        """Columns with names in UTF-8 are aligned by the width on a terminal."""
        names = ["cat", "gr\u00f6\u00dfe", "\u65e5\u672c\u8a9e", "e\u0301a\u0308",
                 "\u041f\u0440\u0438\u0432\u0435\u0442", "\U0001f600"]
        self.fixture("clean-version2")
        with open(os.path.join(self.dir, "tasks"), "w", encoding="utf-8") as f:
            f.write("# kmemtrace: tasks\n# columns: pid until name\n"
                    "# dropped: 0\n")
            f.writelines(f"{i} - {name}\n" for i, name in enumerate(names, 1))
        with open(os.path.join(self.dir, "cpu0.out"), "wb") as f:
            for pid in range(1, len(names) + 1):
                f.write(mkcapture.event_v2(t=5000 * pid, ptr=8 * pid, pid=pid))
        text = subprocess.run(
            [REPORT, "-q", "--by", "comm,pid", "--fields", "allocs", self.dir],
            check=True, text=True, capture_output=True).stdout
        lines = [line for line in text.split("\n")
                 if any(f"  {name} " in line for name in names)]
        self.assertEqual(len(lines), len(names))
        self.assertEqual(len({width(line[:line.rindex(" ")])
                              for line in lines}), 1, text)

    def write_v2(self, text, size=64, files=""):
        """Write a capture of two CPUs with the given statements."""
        mkcapture.compile_text(
            "meta\n  [capture]\n  format=1\n  abi_version=2\n"
            f"  record_size={size}\n  byte_order=little\n  complete=true\n"
            f"  overruns=0\n{files}cpu 0 little size={size}\n{text}"
            ).write(self.dir)

    def test_first_stop(self):
        """If there are several STOP records, the first one gives the reason."""
        self.write_v2("alloc kmalloc t=1000 ptr=0x1000 pid=0 cache=0 flags=0\n"
                      "stop t=2000000000 pid=7 why=first\n"
                      "stop t=3000000000 pid=7 why=second\n")
        done = subprocess.run([REPORT, self.dir], capture_output=True,
                              text=True, check=True)
        self.assertIn("(first)", done.stderr + done.stdout)
        self.assertNotIn("second", done.stderr + done.stdout)

    def test_stacks_by_address(self):
        """Stacks with equal figures are sorted by the innermost address, then by
        the next."""
        chains = ("20", "10,30", "10", "10,20", "20,10", "10,20,5")
        self.write_v2(
            "".join(f"alloc kmalloc t={n} ptr={n:#x}000 site=0x99 req=8 alloc=8"
                    f" pid=0 cache=0 flags=0 stack={n}\n"
                    for n in range(1, len(chains) + 1)), 72,
            "stacks\n  : # kmemtrace: stacks\n"
            "  : # columns: number addresses\n  : # dropped: 0\n" +
            "".join(f"  {n} {chain}\n" for n, chain in enumerate(chains, 1)))
        done = subprocess.run([REPORT, "--json", "--by", "stack", self.dir],
                              capture_output=True, text=True, check=True)
        found = [",".join(frame["address"].removeprefix("0x").lstrip("0")
                          for frame in group["stack"])
                 for group in json.loads(done.stdout)["groups"]]
        self.assertEqual(found, ["10", "10,20", "10,20,5", "10,30", "20",
                                 "20,10"])

    def test_pairs_beyond_the_last_line(self):
        """One line has the sums of the omitted pairs."""
        sizes = (800, 400, 200, 200)
        self.write_v2(
            "".join(f"alloc kmalloc t={n} ptr={n:#x}000 site={n:#x}00 req=1 "
                    f"alloc={size} pid=0 cache=0 flags=0\n"
                    for n, size in enumerate(sizes, 1)) +
            "cpu 1 little size=64\n" +
            "".join(f"free kmalloc t={n}0 ptr={n:#x}000 site=0x{n}f pid=0 "
                    "cache=0 flags=0\n" for n in range(1, len(sizes) + 1)))
        done = subprocess.run([REPORT, "--cross-cpu", "-l", "2", self.dir],
                              capture_output=True, text=True, check=True)
        lines = done.stdout.split(
            "CROSS-CPU FREES BY CALL SITE")[1].splitlines()
        self.assertEqual(
            [line.split(None, 3)[:3] for line in lines[2:5]],
            [["800", "1", "kmalloc"], ["400", "1", "kmalloc"],
             ["400", "2", "all"]])
        self.assertIn("(2 more pairs)", lines[4])

    def test_leaks_without_frees(self):
        """Leaks depend on whether frees of their kind are recorded; for slab, on
        both kinds."""
        for off, unseen in (("kfree", {"kmalloc": True, "cache": False}),
                            ("cache_free", {"kmalloc": False, "cache": True})):
            self.write_v2("".join(
                f"alloc {kind} t={t * 1000 + n} ptr={n + 1}{t:03}000 "
                f"site={n + 1}00 req=8 alloc=8 pid=0 cache=0 flags=0\n"
                for t in range(1, 60) for n, kind in enumerate(unseen)))
            self.change_meta("overruns=0", f"overruns=0\nevents_off={off};")
            done = subprocess.run([REPORT, "--json", "--leaks", self.dir],
                                  capture_output=True, text=True, check=True)
            self.assertEqual(
                {leak["kind"]: leak["frees_not_seen"]
                 for leak in json.loads(done.stdout)["leak_candidates"]}, unseen)

    def test_version_1(self):
        """Version 1 has no owners: a message says that, and caches are shown by
        their size."""
        self.fixture("clean-little")
        rows, messages = self.rows("pid", "comm", "context")
        self.assertEqual({key[1:] for key in rows},
                         {("(not recorded)",) * 3})
        self.assertIn("records of version 2 and later", messages)
        rows, messages = self.rows("cache")
        self.assertNotIn("records of version 2 and later", messages)
        self.assertTrue(rows)


if __name__ == "__main__":
    sys.exit(unittest.main())
