#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""kmemtrace-report --advise: the text, the options that are refused, and captures
with losses or damage."""

import json
import os
import resource
import subprocess
import sys
import unittest

import mkcapture
from advice_case import AdviceCase, site
from report_case import FIXTURES, PROGRAM

BUILD = os.path.abspath(os.environ.get("top_builddir", "."))
SMALL = os.path.join(BUILD, "tests", "report", "report-small")
PAGE = 4096

class Output(AdviceCase):
    """The text, and the options that are refused."""

    def setUp(self):
        super().setUp()
        for _ in range(600):
            self.trace.alloc(site("first"), 200, 256)
        self.trace.alloc(site("second"), 5 * PAGE, 8 * PAGE)

    def text(self, *args, program=PROGRAM):
        """Return the section of the advice without its sizes of kmalloc()."""
        path = self.trace.write(self.dir + "/capture")
        done = subprocess.run([program, "--advise", "-q", *args, path],
                              capture_output=True, text=True, check=True)
        return done.stdout.split("\nADVICE, by saving\n")[1].split(
            "\n\nSIZES OF KMALLOC")[0]

    def test_text(self):
        """All lines of a finding."""
        lost = self.text("--lines", "1").split("\n")
        self.assertEqual(lost[0], "1. first+0x10 (kmalloc): size that kmalloc "
                                  "rounds up")
        self.assertEqual([line[4:17].strip() for line in lost[1:]
                          if line.startswith("    ") and line[4] != " "],
                         ["change", "saving", "computed", "cost",
                          "or", "saving", "computed", "cost", "certainty"])
        self.assertIn("    saving       36572 bytes at the peak (19.6 % of the "
                      "peak of kmalloc), 36572", lost)
        self.assertEqual(lost[-5:], [
            "(1 more)", "No finding: half-empty caches.",
            "No finding: frees on other CPUs.", "No finding: short-lived objects.",
            "No finding: objects that are allocated together."])
        self.assertLessEqual(max(map(len, lost)), 80)

    def test_marks(self):
        """Figures that losses may have changed have a mark."""
        self.trace.lost = 3
        text = self.text()
        self.assertIn("36572~ bytes at the peak", text)
        self.assertIn("600~ objects of 200 bytes", text)

    def test_order(self):
        """The output depends neither on the threads nor on the blocks."""
        one = self.text("--jobs", "1")
        self.assertEqual(self.text("--jobs", "3"), one)
        self.assertEqual(self.text(program=SMALL), one)

    def test_nothing(self):
        """No finding."""
        text = self.text("--kind", "pages").split("\n")
        self.assertEqual(text[0], "none")
        self.assertEqual([line.split(":")[0] for line in text[1:]],
                         ["No finding"] * 6)
        # A topic that needs a known kernel is not examined.
        self.trace.release = "5.10.0"
        text = self.text("--kind", "pages")
        self.assertNotIn("No finding: sizes that kmalloc rounds up", text)
        self.assertIn("Not examined: sizes that kmalloc rounds up: ", text)

    def test_refused(self):
        """Options that do not fit."""
        path = self.trace.write(self.dir + "/capture")
        for args, message in (
                (["--lifetime", "1ms-"], "--lifetime: not with --advise"),
                (["--csv"], "--advise: not with --csv"),
                (["--folded"], "--advise: not with --folded"),
                (["--html", "x"], "--advise: not with --html"),
                (["--perfetto", "x"], "--advise: not with --perfetto")):
            self.refused("--advise", *args, path, message=message, usage=True)

    def test_no_times(self):
        """Layout C has no times."""
        path = os.path.join(self.dir, "cpu0.out")
        with open(path, "wb") as f:
            f.write(mkcapture.older("C", {"t": 1}, sequence=1))
        self.refused("--advise", "--layout", "C", path,
                     message="records have no time")

    def test_pipe(self):
        """A pipe can be read only once, and is copied."""
        path = self.trace.write(self.dir + "/capture")
        with open(path + "/cpu0.out", "rb") as f:
            done = subprocess.run([PROGRAM, "--advise", "--json", "-q", "-"],
                                  stdin=f, capture_output=True, check=True)
        self.assertEqual([f["topic"] for f in
                          json.loads(done.stdout)["advice"]["findings"]],
                         ["large"])


class Doubts(AdviceCase):
    """Missing events."""

    def setUp(self):
        super().setUp()
        for _ in range(400):
            self.trace.alloc(site("first"), 200, 256)

    def test_losses(self):
        """Lost events lower the certainty and mark the figures."""
        for lost, certainty in ((2, "medium"), (400, "low")):
            self.trace.lost = lost
            advice = self.advice()
            self.assertEqual(advice["findings"][0]["certainty"], certainty)
            self.assertIn("of the events were lost",
                          advice["findings"][0]["certainty_reason"])
            self.assertTrue(advice["doubtful"])

    def test_sample(self):
        """The figures of a sample are scaled."""
        path = self.fixture("report-sample")
        advice = self.report("--advise", path)["advice"]
        self.assertIn("half-empty caches: the capture is a sample, which does "
                      "not have the objects around an object",
                      advice["not_examined"])

    def test_fixtures(self):
        """Damaged and unusual captures give a document."""
        for name in sorted(os.listdir(FIXTURES)):
            if name.endswith(".txt"):
                with self.subTest(name):
                    path = self.fixture(name[:-len(".txt")])
                    self.assertIn("findings",
                                  self.report("--advise", path)["advice"])

    def test_no_meta(self):
        """Without kmemtrace.meta, nothing is known about losses and the kernel."""
        path = self.compiled("cpu 0 little\n" + "".join(
            f"alloc kmalloc t={i} ptr={i + 1}0000 req=20480 alloc=32768\n"
            for i in range(5)))
        found, = self.report("--advise", path)["advice"]["findings"]
        self.assertEqual((found["topic"], found["certainty"]), ("large", "low"))


class Damage(AdviceCase):
    """Records that no kernel writes."""

    def test_many_sizes(self):
        """A kmalloc() cache of each size takes no time for each pair of them."""
        for size in range(1, 100001):
            self.trace.alloc(site("first"), size, size)
        path = self.trace.write(self.dir + "/capture")
        meta = path + "/kmemtrace.meta"
        with open(meta, encoding="utf-8") as f:
            text = f.read()
        with open(meta, "w", encoding="utf-8") as f:
            f.write(text.replace("page_size=4096", "page_size=65536")
                    .replace("x86_64", "aarch64"))
        before = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime
        self.report("--advise", path)
        used = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime - before
        self.assertLess(used, 12)


if __name__ == "__main__":
    sys.exit(unittest.main())
