#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Annotations in the report: their text, as moments, and as limits of phases."""

import json
import os
import re
import subprocess
import tempfile
from unittest import TestCase, main

import mkcapture

BUILD = os.path.abspath(os.environ.get("top_builddir", "."))
PROGRAM = os.path.join(BUILD, "report", "kmemtrace-report")
CHECK = os.path.join(BUILD, "check", "kmemtrace-check")

HEAD = """meta
  [capture]
  format=1
  abi_version=2
  record_size={size}
  byte_order={order}
  complete=true
  overruns=0
  [cpu0]
  overruns=0
  [cpu1]
  overruns=0
kallsyms
  ffffffff81000000 T first
  ffffffff81000100 T second
tasks
  : # kmemtrace: tasks
  : # columns: pid until name
  : # dropped: 0
  7 - make
marks
  : # kmemtrace: marks
  : # columns: number appeared went module types name format
  : # unnumbered: 0
  1 0 - - s marker %s
  2 0 - - i begin begin %d
  3 0 - some - end end\\012of it
"""

PHASES = """
alloc kmalloc t=1000 ptr=0x1000 req=10 alloc=16 pid=7 cache=0 flags=0
mark t=2000 number=2 -1 pid=7
alloc kmalloc t=3000 ptr=0x2000 req=20 alloc=32 pid=7 cache=0 flags=0
mark t=5000 number=1 s:"boot done" pid=7
mark t=5000 number=1 s:"boot done" pid=7
alloc kmalloc t=6000 ptr=0x3000 req=40 alloc=64 pid=7 cache=0 flags=0
free kmalloc t=6500 ptr=0x1000 pid=7 cache=0 flags=0
mark t=7000 number=3 pid=7 flags=2
mark t=8000 number=2 2 pid=7
alloc kmalloc t=9000 ptr=0x4000 req=80 alloc=96 pid=7 cache=0 flags=0
"""

# Types and format of an annotation, its values, and the expected text.
FORMATS = (
    ("i", "%d", [-5], "-5"), ("i", "%5d|", [-5], "   -5|"),
    ("i", "%-5d|", [-5], "-5   |"), ("i", "%05d", [-5], "-0005"),
    ("i", "%+d", [5], "+5"), ("i", "% d", [5], " 5"),
    ("i", "%.3d", [-5], "-005"), ("i", "%6.3d", [5], "   005"),
    ("b", "%hhd", [0xff], "-1"), ("B", "%hhu", [-1], "255"),
    ("h", "%hd", [0x8000], "-32768"), ("H", "%hx", [-1], "ffff"),
    ("I", "%#x", [0xbeef], "0xbeef"), ("I", "%#010X", [0xbeef], "0X0000BEEF"),
    ("I", "%#o", [8], "010"), ("I", "%u", [2 ** 40 + 3], "3"),
    ("q", "%lld", [-2 ** 63], str(-2 ** 63)),
    ("Q", "%lu", [2 ** 64 - 1], str(2 ** 64 - 1)),
    ("c", "<%c>", [0x141], "<A>"), ("c", "<%3c>", [65], "<  A>"),
    ("s", "<%s>", ["text"], "<text>"), ("s", "<%6s>", ["text"], "<  text>"),
    ("s", "<%-6s>", ["text"], "<text  >"), ("s", "<%.1s>", ["text"], "<t>"),
    ("s", "<%s>", [("longer",)], "<longer...>"), ("s", "<%s>", [""], "<>"),
    ("s", "%s", ["\x1b[2J\n"], "?[2J?"),
    ("p", "%p", [0xffffffff81000010], "0xffffffff81000010"),
    ("p", "%pS", [0xffffffff81000010], "first+0x10"),
    ("p", "%pI4", [0x1234], "0x0000000000001234"),
    ("", "100%%", [], "100%"), ("", "%", [], "?"), ("", "% ", [], "?"),
    ("", "%d", [], "?"), ("i", "%d %d", [1], "1 ?"), ("i", "no", [1], "no"),
    ("", "%n%99999999999d%s", [], "???"),
    ("i", "%2147483648d", [1], "1".rjust(1024)),
    ("I", "%*u", [1], "1u"), ("isi", "%d %s %d", [1, "a", -1], "1 a -1"),
    ("ss", "%s, %s", ["one", "and nine"], "one, and nine"),
    ("iiiiiiii", "%d%d%d%d%d%d%d%d", list(range(8)), "01234567"),
)


class Marks(TestCase):
    """Captures with annotations in a temporary directory."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.capture = os.path.join(folder.name, "capture")

    def make(self, body, order="little", size=64, **fields):
        """Write a capture."""
        mkcapture.compile_text(
            HEAD.format(order=order, size=size) + fields.get("table", "") +
            f"cpu 0 {order} size={size}\n" + body).write(self.capture)

    def run_with(self, *args, **more):
        """Run a program and return its result."""
        return subprocess.run([PROGRAM, *args], capture_output=True,
                              timeout=60, check=False, **more)

    def report(self, *args):
        """Return the JSON document of a report."""
        done = self.run_with("--json", *args, self.capture)
        self.assertEqual(done.returncode, 0, done.stderr)
        return json.loads(done.stdout)

    def phases(self, *args):
        """Return the requested bytes of each phase."""
        return {g["mark"]: g["bytes_requested"] for g in
                self.report("--by", "mark", *args)["groups"]}

    def places(self):
        """Return the record and rule of each defect that kmemtrace-check finds."""
        done = subprocess.run([CHECK, self.capture], capture_output=True,
                              timeout=60, check=False, text=True)
        self.assertEqual(done.returncode, 2, done.stderr)
        return [(int(number), rule) for number, rule in
                re.findall(r": record (\d+), .*?: ([a-z-]+):", done.stdout)]

    def test_place_among_events(self):
        """An error names its record, even if other records are merged before it."""
        some = "alloc kmalloc t={t} ptr={t:#x}000 pid=7 cache=0 flags=0\n"
        self.make(some.format(t=1) + some.format(t=3) + some.format(t=5) +
                  "mark t=6 number=1 0xffffffffffffffff\n" +
                  some.format(t=7) + some.format(t=8) +
                  "mark t=9 number=99\ncpu 1 little size=64\n" +
                  some.format(t=2) + some.format(t=4) + "mark t=10 number=98\n")
        self.assertEqual(self.places(), [(3, "mark-values"), (6, "unknown-mark"),
                                         (2, "unknown-mark")])

    def test_events_of_two_cpus(self):
        """Two CPUs alternate; among their events are marks, NULL addresses, and
        times that go backwards."""
        def cpu(n, *others):
            lines = [f"alloc kmalloc t={t}000 ptr={t + 1:#x}000 req=1 alloc=8 "
                     "pid=7 cache=0 flags=0\n" for t in range(10 + n, 50, 2)]
            for at, other in others:
                lines.insert(at, other + "\n")
            return "".join(lines)
        no_event = "pid=7 cache=0 flags=0"
        for other, events, marks in (
                ("mark t=20500 number=2 5", 40, 1),
                ("mark t=20500 number=3", 40, 1),
                ("lost t=20500 n=3 since=20000", 40, 0),
                (f"record event=1 type=0 t=20500 ptr=0 {no_event}", 40, 0),
                (f"record event=9 type=0 t=20500 ptr=0x99000 {no_event}", 40, 0),
                (f"record event=1 type=9 t=20500 ptr=0x99000 {no_event}", 40, 0),
                (f"record event=1 type=0 t=15000 ptr=0x99000 {no_event}", 41,
                 0)):
            for at in (0, 1), (1, 0):
                texts = [cpu(0, (6, other)), cpu(1)]
                self.make(texts[at[0]] + "cpu 1 little size=64\n" +
                          texts[at[1]])
                document = self.report("--marks")
                self.assertEqual(
                    (document["kinds"]["kmalloc"]["allocs"],
                     len(document["marks"])), (events, marks), other)

    def test_phases(self):
        for order in ("little", "big"):
            for size in (64, 72):
                self.make(PHASES, order, size)
                self.assertEqual(self.phases(), {
                    "(start)": 10, "begin": 20, "marker:boot done:2": 40,
                    "begin:2": 80})

    def test_phases_and_others(self):
        self.make(PHASES)
        groups = self.report("--by", "mark,pid", "-s", "callsite")["groups"]
        self.assertEqual([(g["mark"], g["pid"]) for g in groups],
                         [("(start)", "7"), ("begin", "7"),
                          ("marker:boot done:2", "7"), ("begin:2", "7")])

    def test_moments(self):
        self.make(PHASES)
        for time, bytes_requested in (
                ("begin,", 140), (",begin", 10), ("begin,begin", 60),
                ("begin:2,", 80), ("begin,end", 60), ("end,begin", 0),
                ("marker:boot done,", 120), ("marker,end", 40),
                ("boot done,", 120), ("marker:2,boot done:2", 0),
                ("marker:2,marker:boot done:2", 0), ("2us,end", 60),
                ("begin,@6000ns", 60)):
            kinds = self.report("--time", time)["kinds"]
            self.assertEqual(kinds["kmalloc"]["bytes_requested"],
                             bytes_requested, time)

    def test_moments_that_are_not_there(self):
        self.make(PHASES)
        for time, text in (
                ("nowhere,", "no mark 'nowhere'; there is: begin, "
                 "marker:boot done, end"),
                ("begin:3,", "no mark 'begin:3'"),
                ("end,end", "no mark 'end' after START"),
                ("begin:2,begin:1", "STOP is before START"),
                ("begin:2,begin:1", "--time"), ("a\x1bb,", "'a?b'")):
            done = self.run_with("--time", time, self.capture, text=True)
            self.assertEqual((done.returncode, done.stdout), (1, ""), time)
            self.assertIn(text, done.stderr)
        self.make("alloc kmalloc t=1 ptr=0x1000 req=10 alloc=16 pid=7 cache=0 "
                  "flags=0\n")
        done = self.run_with("--time", "x,", self.capture, text=True)
        self.assertIn("the capture has none", done.stderr)

    def test_many_names(self):
        """A message lists a limited number of names."""
        table = "".join(f"  {i} 0 - - - m{i} m{i}\n" for i in range(10, 35))
        for n in (20, 21, 25):
            capture = mkcapture.compile_text(
                HEAD.format(order="little", size=64) + table)
            for i in [*range(10, 10 + n), 10]:
                for data in mkcapture.mark(t=i, number=i, values=[]):
                    capture.add(0, data)
            capture.write(self.capture)
            done = self.run_with("--time", "x,", self.capture, text=True)
            names = ", ".join(f"m{i}" for i in range(10, 30))
            self.assertIn(f"there is: {names}" +
                          (", ...\n" if n > 20 else "\n"), done.stderr)

    def test_list(self):
        self.make(PHASES)
        marks = self.report("--marks")["marks"]
        self.assertEqual(
            [(m["timestamp"], m["name"], m["text"], m["phase"], m["values"])
             for m in marks],
            [(2000, "begin", "begin -1", "begin", [-1]),
             (5000, "marker", "boot done", "marker:boot done", ["boot done"]),
             (5000, "marker", "boot done", "marker:boot done:2",
              ["boot done"]),
             (7000, "end", "end?of it", "end", []),
             (8000, "begin", "begin 2", "begin:2", [2])])
        self.assertEqual([m["context"] for m in marks],
                         ["task"] * 3 + ["softirq", "task"])
        self.assertEqual({(m["cpu"], m["pid"], m["comm"], m["whole"])
                          for m in marks}, {(0, 7, "make", True)})
        self.assertEqual([m["module"] for m in marks],
                         [None, None, None, "some", None])
        inside = self.report("--marks", "--time", "marker,end")["marks"]
        self.assertEqual([m["timestamp"] for m in inside], [5000, 5000, 7000])

    def test_list_as_text(self):
        self.make(PHASES)
        done = self.run_with("--marks", "-l", "2", self.capture, text=True)
        self.assertNotIn("damaged", done.stderr)
        text = done.stdout
        lines = text.split("MARKS\n")[1].splitlines()
        self.assertEqual(lines[1].split(None, 6),
                         ["0.000001000", "0", "7", "make", "task", "begin",
                          "begin -1"])
        self.assertEqual(lines[3], "(3 more marks)")
        self.assertIn("Events:        5 in", text)

    def test_list_without_marks(self):
        self.make(PHASES)
        text = self.run_with("--marks", "--time", "0,0.5us", self.capture,
                             text=True).stdout
        self.assertEqual(text.split("MARKS\n")[1], "none\n")

    def test_contexts(self):
        """Group by the context of the record."""
        self.make("".join(
            f"alloc kmalloc t={i} ptr={i}000 req={1 << i} alloc=256 pid=7 "
            f"cache=0 flags={flags}\n"
            for i, flags in enumerate((0, 1, 2, 3), 1)))
        groups = self.report("--by", "context")["groups"]
        self.assertEqual(
            {g["context"]: g["bytes_requested"] for g in groups},
            {"task": 2, "hardirq": 4 + 16, "softirq": 8})

    def test_streams(self):
        """Marks in a stream that can be read only once."""
        self.make(PHASES)
        with open(os.path.join(self.capture, "cpu0.out"), "rb") as f:
            data = f.read()
        # Without kmemtrace.meta, no record is known to be of version 2.
        done = self.run_with("--json", "--by", "mark", "-", input=data)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn(b"no marks", done.stderr)

    def test_formats(self):
        table = "".join(
            f"  {i} 0 - - {types or '-'} m{i} {text}\n"
            for i, (types, text, _, _) in enumerate(FORMATS, 4))
        for order in ("little", "big"):
            capture = mkcapture.compile_text(
                HEAD.format(order=order, size=64) + table)
            for i, (_, _, values, _) in enumerate(FORMATS, 4):
                for data in mkcapture.mark(t=i, number=i, values=values,
                                           order=order):
                    capture.add(0, data)
            capture.write(self.capture)
            for mark, (_, text, _, says) in zip(
                    self.report("--marks")["marks"], FORMATS):
                self.assertEqual(mark["text"], says, (order, text))

    def test_damage(self):
        """No damage to marks makes the report fail."""
        self.make('mark t=1 number=2 1 payload_size=48\n'
                  'mark t=2 number=99\nmark t=3 number=1 0xffffffffffffffff\n'
                  'more t=4 number=1 part=9 payload_size=65535\n'
                  'mark t=5 number=1 s:"a string in more than one record, '
                  'which is not there" drop=1\n')
        marks = self.report("--marks")["marks"]
        self.assertEqual([(m["name"], m["text"], m["whole"]) for m in marks],
                         [("begin", "begin ?", False),
                          ("mark 99", "", True), ("marker", "?", True),
                          ("marker", "?", False)])
        done = self.run_with("--marks", self.capture, text=True)
        self.assertIn("3 records of marks are damaged", done.stderr)
        self.assertEqual(self.places()[:3], [
            (0, "mark-size"), (1, "unknown-mark"), (2, "mark-values")])
        os.unlink(os.path.join(self.capture, "marks"))
        self.assertEqual(self.report("--marks")["marks"][0]["name"], "mark 2")
        done = self.run_with("--by", "mark", self.capture, text=True)
        self.assertIn("the file marks of the capture", done.stderr)


if __name__ == "__main__":
    main()
