#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Captures with metadata that is false or impossible: the report trusts no such
value silently, and needs no more time than the records justify."""

import json
import os
import re
import subprocess
import tarfile
import tempfile
from unittest import TestCase, main

import mkcapture
from mkcapture import event_v2

BUILD = os.path.abspath(os.environ.get("top_builddir", "."))
REPORT = os.path.join(BUILD, "report", "kmemtrace-report")
CHECK = os.path.join(BUILD, "check", "kmemtrace-check")
# Seconds. A program that exceeds this limit would need hours for few more records.
SOON = 120

HEAD = "# kmemtrace: {}\n# columns: {}\n"
MARKS = HEAD.format("marks", "number appeared went module types name format")
STACKS = HEAD.format("stacks", "stack addresses")
MANY = 100000
# Numbers whose multiples and sums are close to the limits of 64 bits.
BOUNDARIES = [0, 1, 2, 2 ** 31 - 1, 2 ** 31, 2 ** 32 - 1, 2 ** 32, 2 ** 53 + 1,
              2 ** 56, 2 ** 62, 2 ** 63 - 1, 2 ** 63, 2 ** 63 + 1,
              2 ** 64 - 2, 2 ** 64 - 1]


def meta(size=64, overruns="0", complete="true", more=""):
    """Return a kmemtrace.meta. overruns: None omits the number of lost events."""
    lost = "" if overruns is None else f"overruns={overruns}\n"
    return (f"[capture]\nformat=1\nabi_version=2\nrecord_size={size}\n"
            f"byte_order=little\ncomplete={complete}\n{lost}{more}[cpu0]\n"
            f"{lost}")


class Lies(TestCase):
    """One false or impossible value for each test."""

    def setUp(self):
        scratch = tempfile.TemporaryDirectory()
        self.addCleanup(scratch.cleanup)
        self.path = os.path.join(scratch.name, "c")
        self.capture = mkcapture.Capture()

    def run_program(self, program, *args):
        """Run a program with a time limit and return its result."""
        self.capture.write(self.path)
        return subprocess.run([program, *args], capture_output=True,
                              text=True, timeout=SOON, check=False)

    def report(self, *args, path=None):
        """Return the JSON document of a report."""
        done = self.run_program(REPORT, "--json", *args, path or self.path)
        self.assertEqual(done.returncode, 0, done.stderr)
        return json.loads(done.stdout)

    def add(self, *records):
        """Append records to cpu0.out."""
        for record in records:
            self.capture.add(0, record)

    def texts(self, **texts):
        """Set the content of files beside the records."""
        self.capture.texts.update(texts)
        self.capture.texts.setdefault("kmemtrace.meta", meta())

    def assert_warned(self, document, text):
        """Expect a warning with the text."""
        self.assertTrue(any(text in w for w in document["warnings"]),
                        document["warnings"])

    # ---- losses ----

    def lose(self, text, *losses):
        """Make a capture in which an address is allocated twice, with losses
        between."""
        self.capture = mkcapture.Capture()
        self.path += "x"
        if text:
            self.capture.texts["kmemtrace.meta"] = text
        self.add(event_v2(t=5), *losses, event_v2(t=60),
                 event_v2(t=10 ** 10, ptr=8))

    def test_losses_of_what_was_cut_off(self):
        """If kmemtrace.meta has no count, the LOST records alone report the losses."""
        for text, why in ((meta(overruns=None, complete="false"),
                           "has no number"),
                          (None, "is missing")):
            self.lose(text, mkcapture.lost(50, 1000, 6))
            document = self.report()
            doubles = document["findings"]["double_allocations"]
            self.assertEqual((doubles["after_loss"], doubles["unexplained"]),
                             (1, 0), why)
            self.assert_warned(document, "1000 lost events, but "
                               "kmemtrace.meta " + why)
            done = self.run_program(CHECK, self.path)
            self.assertEqual(done.returncode, 0, done.stdout)
            self.assertIn("but kmemtrace.meta " + why, done.stdout)
            # An invalid LOST record does not count as a loss.
            self.lose(text, mkcapture.lost(50, 0, 6))
            doubles = self.report()["findings"]["double_allocations"]
            self.assertEqual(doubles["unexplained"], 1)

    def test_losses_that_are_denied(self):
        self.lose(meta(), mkcapture.lost(50, 1000, 6))
        document = self.report()
        self.assert_warned(document, "reports none")
        self.assertEqual(
            document["findings"]["double_allocations"]["unexplained"], 1)
        self.lose(meta())
        self.assertEqual(
            [w for w in self.report()["warnings"] if "lost" in w], [])

    def test_losses_of_an_import(self):
        self.lose(meta(overruns=None, more="source=import\n"))
        document = self.report()
        self.assertEqual(
            document["findings"]["double_allocations"]["after_loss"], 1)
        self.assert_warned(document, "their number is unknown")

    def test_losses_beyond_all_numbers(self):
        """The sum of the losses saturates."""
        self.lose(meta(overruns="7"), mkcapture.lost(50, 2 ** 63, 6),
                  mkcapture.lost(51, 2 ** 63 + 1, 50))
        done = self.run_program(CHECK, self.path)
        self.assertEqual(done.returncode, 2, done.stdout)
        self.assertIn("lost-too-much                 1\n", done.stdout)
        self.lose(meta(), mkcapture.lost(50, 2 ** 63, 6),
                  mkcapture.lost(51, 2 ** 63 + 1, 50))
        self.assert_warned(self.report(), f"report {2 ** 64 - 1} lost")

    # ---- samples ----

    def test_samples(self):
        self.add(*(event_v2(t=i, ptr=4096 * i) for i in (1, 2, 3)))
        for text, times, warning in (
                ("5", 5, "the sample times 5"), ("0", 1, "changed the sampling"),
                ("-1", 1, "is not a number"), ("x", 1, "is not a number"),
                (str(2 ** 64), 1, "is not a number")):
            self.texts(**{"kmemtrace.meta": meta(
                more=f"filter=site=f\nsample={text}\n")})
            document = self.report()
            self.assertEqual(document["kinds"]["kmalloc"]["allocs"], 3 * times)
            self.assertFalse(document["findings"]["sums_overflowed"])
            self.assert_warned(document, warning)
        self.texts(**{"kmemtrace.meta": meta(
            more=f"filter=site=f\nsample={2 ** 63}\n")})
        self.assertTrue(self.report()["findings"]["sums_overflowed"])

    def test_samples_beyond_all_numbers(self):
        """Scaled figures saturate with any options."""
        self.add(*(event_v2(t=100 * i + i % 2 * (i % 5 - 90),
                            ptr=4096 * (i // 2), event_id=1 + i % 2,
                            req=100 + i, alloc=2 ** 60, site=i // 64)
                   for i in range(2, 512)))
        options = (["--json", "--lines", "1"], ["--leaks", "--windows", "4"],
                   ["--csv", "--by", "size"], ["--cross-cpu", "-l1"],
                   ["--folded", "-l1"], ["--histogram", "lifetime"],
                   ["--histogram", "size", "--json"], ["--live"],
                   ["--fields", "lifetime-p99,lifetime-median,age-median,"
                    "churn,reused,live-frag"], ["--time", "peak"])
        for sample in BOUNDARIES:
            self.texts(**{"kmemtrace.meta": meta(
                more=f"filter=site=f\nsample={sample}\n")})
            for args in options:
                with self.subTest(sample=sample, args=args):
                    done = self.run_program(REPORT, *args, self.path)
                    self.assertEqual(done.returncode, 0, done.stderr)
            kinds = self.report("-l1")["kinds"]["kmalloc"]
            self.assertEqual(kinds["allocs"],
                             min(255 * max(sample, 1), 2 ** 64 - 1))
            sites = self.report("--fields", "lifetime-p99")["callsites"]
            self.assertEqual({s["lifetime_p99"] for s in sites}, {14})
            left_out = self.report("-l1")["callsites_left_out"]["slab"]
            self.assertEqual(left_out["allocs"], min(
                (255 - sites[0]["allocs"] // max(sample, 1))
                * max(sample, 1), 2 ** 64 - 1))

    def test_numbers_of_buffers(self):
        """The recommended number of buffers saturates."""
        self.add(event_v2(t=5))
        for subbufs in BOUNDARIES + [-1]:
            for size in (64, 1, 0, -1, 2 ** 63, 2 ** 64 - 1):
                self.texts(**{"kmemtrace.meta": meta(
                    overruns=2 ** 64 - 1, more=f"subbufs={subbufs}\n"
                    f"subbuf_size={size}\n")})
                done = self.run_program(REPORT, self.path)
                self.assertEqual(done.returncode, 0, done.stderr)
                advice = re.search(r"kmemtrace.subbufs=(\d+) or more", done.stdout)
                if advice:
                    self.assertGreater(int(advice[1]), subbufs)
                    self.assertGreaterEqual(int(advice[1]),
                                            (2 ** 64 - 1) * 64 // size)

    # ---- marks ----

    def mark(self, t, number=2, values=(), **fields):
        """Append a mark."""
        self.add(*mkcapture.mark(t, number, values, **fields))

    def test_marks_before_all_else(self):
        """Many marks before all events need no search from the start for each."""
        self.texts(marks=MARKS + "2 0 - - - m m\n")
        self.add(b"".join(mkcapture.mark(1, 2, [])) * MANY)
        self.add(event_v2(t=1001))
        done = self.run_program(REPORT, "--marks", "-l", "0", self.path)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(done.stdout.count("-0.000001000    0"), MANY)

    def test_phases_in_any_order(self):
        """Records whose times jump between phases."""
        self.texts(marks=MARKS + "2 0 - - - m m\n")
        for i in range(MANY):
            self.capture.add(1, b"".join(mkcapture.mark(10 * i + 5, 2, [])))
        for i in range(1, MANY):
            self.add(event_v2(t=1 if i % 2 else 10 * MANY, ptr=8 * i))
        self.add(event_v2(t=15, ptr=8 * MANY), event_v2(t=4, ptr=9 * MANY),
                 event_v2(t=5, ptr=10 * MANY))
        groups = self.report("--by", "mark")["groups"]
        self.assertEqual({g["mark"]: g["allocs"] for g in groups},
                         {"(start)": MANY // 2 + 1, "m": 1, "m:2": 1,
                          f"m:{MANY}": MANY // 2 - 1})

    def test_payloads_that_no_kernel_writes(self):
        self.texts(marks=MARKS + "2 0 - - - m m\n3 0 - - ssssssss s %s%s\n")
        self.mark(1, 3, ["x" * 256] * 8)
        self.mark(2, 3, ["x" * 256] * 7 + ["y" * 257])
        self.add(event_v2(t=3))
        marks = self.report("--marks")["marks"]
        self.assertEqual([m["whole"] for m in marks], [True, False])
        done = self.run_program(CHECK, self.path)
        self.assertIn("mark-size                     1\n", done.stdout)

    def test_formats_that_no_kernel_has(self):
        """A format that no kernel writes would make each mark long; its text is
        limited."""
        self.texts(marks=MARKS + "1 0 - - s marker %s\n"
                   "2 0 - - - long " + "%" * 4096 + "\n"
                   "3 0 - - - longer " + "%" * 4097 + "\n")
        self.mark(1, 2)
        self.mark(2, 3)
        self.add(event_v2(t=3))
        document = self.report("--marks")
        self.assertEqual([m["text"] for m in document["marks"]],
                         ["%" * 2048, ""])
        self.assert_warned(document, "file marks of the capture is missing or")

    def test_labels(self):
        """The name of a phase is at most as long as a line that user space can
        write."""
        self.texts(marks=MARKS + "1 0 - - s marker %1000s" + "y" * 99 + "\n")
        self.mark(1, 1, ["é"])
        self.mark(2, 1, ["é"])
        self.add(event_v2(t=3))
        marks = self.report("--marks")["marks"]
        self.assertEqual([m["phase"] for m in marks],
                         ["marker:" + " " * 998 + "é" + "y" * 25,
                          "marker:" + " " * 998 + "é" + "y" * 25 + ":2"])

    def test_marks_in_a_tar(self):
        """A tar contains marks and their table."""
        self.texts(marks=MARKS + "2 0 - - i m is %d\n")
        self.mark(1, 2, [7])
        self.add(event_v2(t=3))
        self.capture.write(self.path)
        with tarfile.open(self.path + ".tar", "w") as tar:
            tar.add(self.path, "c")
        marks = self.report("--marks", path=self.path + ".tar")["marks"]
        self.assertEqual([m["text"] for m in marks], ["is 7"])

    # ---- tables ----

    def test_stacks_that_no_kernel_writes(self):
        """A stack deeper than any kernel writes is rejected, since each record
        could refer to it."""
        self.texts(**{"kmemtrace.meta": meta(72)}, stacks=STACKS +
                   "1 " + ",".join(["ff"] * 128) + "\n"
                   "2 " + ",".join(["ff"] * 129) + "\n3 ff,\n4 ,ff\n")
        self.add(*(event_v2(t=i, ptr=8 * i, stack=i) for i in range(1, 5)))
        document = self.report("--stacks")
        self.assertEqual(sorted(len(g["stack"]) for g in document["groups"]),
                         [1, 128])
        self.assert_warned(document, "3 invalid lines are ignored")

    def test_numbers_given_twice(self):
        """Many caches with one number: the first one is used, in linear time."""
        self.texts(caches=HEAD.format(
            "caches", "number object_size size created destroyed name") +
            "".join(f"1 8 8 0 - c{i}\n" for i in range(5 * MANY)))
        self.add(event_v2(type_id=1, cache=1, t=1))
        document = self.report("--by", "cache")
        self.assertEqual(document["groups"][0]["cache"], "c0")
        self.assert_warned(document, f"{5 * MANY - 1} numbers stand for "
                           "more than one cache")


if __name__ == "__main__":
    main()
