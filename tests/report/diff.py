#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Figures, options and messages of a comparison."""

import unittest

from diff_case import DiffCase, fixture, site
from report_case import run

MARKER = (1, 's:"booted"')


class Figures(DiffCase):
    """The columns of the lists."""

    def test_default_fields(self):
        """A list for each of live, wasted, peak and allocs."""
        base = self.capture(site("f", 0x10, 4, 100, 128, freed=1))
        new = self.capture(site("f", 0x10, 2, 100, 128, freed=2))
        text = self.diff(base, new)
        self.assertIn("LIVE BY CALL SITE", text)
        for title, line in (
                ("LIVE", "384 0 -384 0.000 kmalloc f+0x10"),
                ("WASTED", "112 56 -56 0.500 kmalloc f+0x10"),
                ("PEAK", "512 256 -256 0.500 kmalloc f+0x10"),
                ("ALLOCS", "4 2 -2 0.500 kmalloc f+0x10")):
            rows = self.rows(text, f"{title} BY CALL SITE")
            self.assertEqual(
                rows, ["base new difference ratio kind call site", line])

    def test_kinds(self):
        """The figures of each kind, which are not added."""
        base = self.capture(site("f", 0x10, 1, 100, 128),
                            site("g", 0x10, 1, 4096, 4096, "pages"))
        new = self.capture(site("f", 0x10, 3, 100, 128),
                           site("g", 0x10, 1, 4096, 4096, "pages"))
        rows = self.rows(self.diff(base, new, "--fields", "live"), "KINDS")
        self.assertIn("128 384 +256 3.000 slab live", rows)
        self.assertIn("4096 4096 0 1.000 pages live", rows)

    def test_units(self):
        """Shares, durations and rates have their units."""
        base = self.capture(site("f", 0x10, 2, 64, 128, freed=2))
        new = self.capture(site("f", 0x10, 2, 96, 128, freed=2), step=2000000)
        text = self.diff(base, new, "--fields", "frag,lifetime-median,churn")
        self.assertEqual(self.rows(text, "FRAG% BY CALL SITE")[1],
                         "50.0 25.0 -25.0 0.500 kmalloc f+0x10")
        line = self.rows(text, "MEDIAN LIFE BY CALL SITE")[1]
        self.assertRegex(line, r"^\S+ms \S+ms \+\S+ms \d\.\d+ kmalloc f\+0x10$")

    def test_lines(self):
        """--lines sums the other lines of each kind; the sum of peaks is none."""
        base = self.capture(*(site(f"f{i}", 0x10, i + 1) for i in range(5)))
        new = self.capture(*(site(f"f{i}", 0x10, 2 * (i + 1)) for i in range(5)))
        text = self.diff(base, new, "--fields", "live,peak", "--lines", "2")
        self.assertEqual(self.rows(text, "LIVE BY CALL SITE")[1:], [
            "640 1280 +640 2.000 kmalloc f4+0x10",
            "512 1024 +512 2.000 kmalloc f3+0x10",
            "768 1536 +768 2.000 slab (3 more call sites)"])
        self.assertEqual(self.rows(text, "PEAK BY CALL SITE")[-1],
                         "- - - - slab (3 more call sites)")

    def test_no_difference(self):
        """Lines without a difference are shown with --lines 0."""
        base = self.capture(site("f", 0x10, 1))
        text = self.diff(base, base, "--fields", "live")
        self.assertEqual(self.rows(text, "LIVE BY CALL SITE"),
                         ["no difference in 1 line"])
        self.assertEqual(self.live(base, base),
                         ["128 128 0 1.000 kmalloc f+0x10"])

    def test_losses(self):
        """A figure that losses may have changed has a ~, on the side of the loss."""
        base = self.capture(site("f", 0x10, 1))
        new = self.capture(site("f", 0x10, 2), lost=7)
        text = self.diff(base, new, "--fields", "live")
        self.assertEqual(self.rows(text, "LIVE BY CALL SITE")[1],
                         "128 256~ +128~ 2.000 kmalloc f+0x10")
        self.assertIn("~ missing events could have changed this figure", text)
        self.assertRegex(text, r"\nnew +0\.\d+ +7 ")
        self.assertNotIn("~", self.diff(base, base))

    def test_allocator(self):
        """The pages of the slab allocator sort by what its objects do not
        explain."""
        base = self.capture(site("leak", 0x10, 1, 4096, 4096),
                            site("allocate_slab", 0x10, 1, 32768, 32768, "pages"))
        new = self.capture(site("leak", 0x10, 6, 4096, 4096),
                           site("allocate_slab", 0x10, 2, 32768, 32768, "pages"))
        self.assertEqual(self.live(base, new), [
            "4096 24576 +20480 6.000 kmalloc leak+0x10",
            "32768 65536 +32768 2.000 pages allocate_slab+0x10",
            "holds objects of slab"])

    def test_filters(self):
        """Filters, kinds and dimensions apply to both sides."""
        base = self.capture(site("f", 0x10, 1), site("g", 0x10, 1, kind="cache"))
        new = self.capture(site("f", 0x10, 2), site("g", 0x10, 2, kind="cache"))
        text = self.diff(base, new, "--kind", "cache", "--by", "function",
                         "--fields", "allocs")
        self.assertEqual(self.rows(text, "ALLOCS BY FUNCTION")[1:],
                         ["1 2 +1 2.000 slab g"])


class Normalised(DiffCase):
    """--time and --per."""

    def test_marks(self):
        """--time with a mark compares the same phase of captures of different
        length."""
        base = self.capture(site("f", 0x10, 4, 100), marks=[MARKER])
        new = self.capture(site("f", 0x10, 6, 100), marks=[MARKER, MARKER],
                           step=3000000)
        text = self.diff(base, new, "--time", ",marker:booted", "--fields",
                         "live")
        self.assertEqual(self.rows(text, "LIVE BY CALL SITE")[1],
                         "512 768 +256 1.500 kmalloc f+0x10")

    def test_per_second(self):
        """Sums are divided by the seconds, and states are not."""
        base = self.capture(site("f", 0x10, 11), step=100000000)
        new = self.capture(site("f", 0x10, 11), step=200000000)
        text = self.diff(base, new, "--per", "second", "--fields", "allocs,live",
                         "--lines", "0")
        self.assertEqual(self.rows(text, "ALLOCS PER SECOND BY CALL SITE")[1],
                         "11.0 5.5 -5.5 0.500 kmalloc f+0x10")
        self.assertEqual(self.rows(text, "LIVE BY CALL SITE")[1],
                         "1408 1408 0 1.000 kmalloc f+0x10")

    def test_per_mark(self):
        """Sums are divided by the number of marks in the time of the figures."""
        rounds = [(2, str(i)) for i in range(4)]
        base = self.capture(site("f", 0x10, 8), marks=rounds[:2])
        new = self.capture(site("f", 0x10, 8), marks=rounds)
        text = self.diff(base, new, "--per", "mark:round", "--fields", "allocs")
        self.assertEqual(
            self.rows(text, "ALLOCS PER MARK ROUND BY CALL SITE")[1],
            "4.0 2.0 -2.0 0.500 kmalloc f+0x10")
        # The mark at STOP begins the next round.
        text = self.diff(base, new, "--per", "mark:round", "--fields", "allocs",
                         "--time", ",round:2")
        self.assertEqual(
            self.rows(text, "ALLOCS PER MARK ROUND BY CALL SITE"),
            ["no difference in 1 line"])

    def test_per_line(self):
        """A name that no mark has stands for a line of user space."""
        base = self.capture(site("f", 0x10, 8), marks=[MARKER] * 2)
        new = self.capture(site("f", 0x10, 8), marks=[MARKER] * 4)
        for name in ("booted", "marker:booted", "marker"):
            text = self.diff(base, new, "--per", f"mark:{name}", "--fields",
                             "allocs")
            self.assertEqual(
                self.rows(text, f"ALLOCS PER MARK {name.upper()} BY CALL SITE")[1],
                "4.0 2.0 -2.0 0.500 kmalloc f+0x10")

    def test_missing_mark(self):
        """An error names the capture without the mark."""
        base = self.capture(site("f", 0x10, 8), marks=[(2, "1")])
        new = self.capture(site("f", 0x10, 8), marks=[MARKER])
        self.refused(f"--diff={base}", new, "--per", "mark:round",
                     message=f"{new}: --per mark: there is no mark 'round'")
        self.refused(f"--diff={base}", new, "--time", ",round",
                     message=f"{new}: --time: there is no mark 'round'")


class Noise(DiffCase):
    """Several captures of each side."""

    def captures(self, *counts):
        """Return captures with these numbers of objects."""
        return [self.capture(site("f", 0x10, n, 1, 1), site("g", 0x10, 40, 1, 1))
                for n in counts]

    def test_exceeds(self):
        """Medians, spreads and the p-value."""
        text = self.diff(self.captures(10, 12, 14), self.captures(20, 22, 27),
                         "--fields", "live")
        self.assertEqual(self.rows(text, "LIVE BY CALL SITE"), [
            "base new difference ratio base +- new +- noise kind call site",
            "12 22 +10 1.833 2 4 exceeds p=0.100 kmalloc f+0x10",
            "40 40 0 1.000 0 0 within p=1.000 slab (1 more call site)",
            "1 of 1 line that varies exceeds noise; by chance, 0.1 or fewer are "
            "expected"])

    def test_within(self):
        """Sides that overlap are within noise."""
        text = self.diff(self.captures(10, 12, 30), self.captures(11, 13, 29),
                         "--fields", "live")
        self.assertIn(" within p=", self.rows(text, "LIVE BY CALL SITE")[1])

    def test_few_captures(self):
        """Two captures on each side cannot exceed noise at the default rate."""
        bases, news = self.captures(10, 12), self.captures(90, 92)
        text = self.diff(bases, news, "--fields", "live")
        self.assertIn("no difference can exceed noise: record 3 captures or "
                      "more of each side for the error rate 0.1, or raise "
                      "--error-rate\n", text)
        self.assertIn(" unknown ", self.rows(text, "LIVE BY CALL SITE")[1])
        text = self.diff(bases, news, "--fields", "live", "--error-rate", "0.4")
        self.assertIn(" exceeds p=0.333 ",
                      self.rows(text, "LIVE BY CALL SITE")[1])

    def test_no_figure(self):
        """The sum of peaks is no figure, so its noise is none, either."""
        text = self.diff(self.captures(10, 12, 14), self.captures(20, 22, 27),
                         "--fields", "peak", "--lines", "1")
        self.assertEqual(self.rows(text, "PEAK BY CALL SITE")[2],
                         "- - - - - - - slab (1 more call site)")

    def test_one_capture(self):
        """With one capture on a side, noise is unknown."""
        bases, news = self.captures(1), self.captures(2)
        for rate, remedy in (
                ("0.4", "record 2 captures or more of each side"),
                ("0.1", "record 3 captures or more of each side"),
                ("0.02", "record 5 captures or more of each side"),
                ("0.0001", "record 9 captures or more of each side"),
                ("0.00002", "no number of captures reaches")):
            text = self.diff(bases, news, "--error-rate", rate)
            self.assertRegex(text, rf"(?m)^Noise:   unknown: {remedy}.* "
                             "error rate \\S+$")

    def test_median_of_two(self):
        """The median of two captures may be a fraction."""
        text = self.diff(self.captures(1, 2), self.captures(4, 8), "--fields",
                         "live")
        self.assertTrue(self.rows(text, "LIVE BY CALL SITE")[1].startswith(
            "1.5 6 +4.5 4.000 0.5 2 unknown "), text)

    def test_order(self):
        """Lines that exceed noise are before larger differences that do not."""
        def capture(large, small):
            return self.capture(site("f", 0x10, large), site("g", 0x10, small))
        bases = [capture(n, 2) for n in (10, 50, 90)]
        news = [capture(n, 3) for n in (30, 70, 110)]
        text = self.diff(bases, news, "--fields", "live")
        rows = self.rows(text, "LIVE BY CALL SITE")
        self.assertTrue(rows[1].endswith("g+0x10"), rows)
        self.assertTrue(rows[2].endswith("f+0x10"), rows)


class Leaks(DiffCase):
    """--leaks counts the captures in which a line is a leak candidate."""

    def leaks(self, base, new):
        """Return the lines of the list."""
        text = self.diff(base, new, "--leaks", "--windows", "4")
        return self.rows(text, "CAPTURES WITH LEAK CANDIDATES")

    def test_candidates(self):
        """A line that leaks in one side, in both, or in none."""
        freed = self.capture(site("f", 0x10, 40, freed=40))
        leaked = self.capture(site("f", 0x10, 40))
        for base, new, counts in ((freed, leaked, "0 of 1 1 of 1"),
                                  (leaked, freed, "1 of 1 0 of 1"),
                                  (leaked, leaked, "1 of 1 1 of 1")):
            self.assertEqual(self.leaks(base, new),
                             ["base new kind call site",
                              f"{counts} kmalloc f+0x10"])
        self.assertEqual(self.leaks(freed, freed), ["none"])


class Refused(DiffCase):
    """Options that make no sense with --diff, and captures that cannot be read."""

    def test_options(self):
        """The message names the option and the reason."""
        base = self.capture(site("f", 0x10, 1))
        for option in ("--pprof=x", "--perfetto=x", "--sort=live", "--windows=3",
                       "--histogram=size", "--cross-cpu", "--marks",
                       "--advise", "--before-trace", "--raw-ip"):
            self.refused(f"--diff={base}", base, option, usage=True,
                         message=f"{option.split('=')[0]}: not with --diff, wh")
        for option in ("--per=second", "--error-rate=0.1", "--base-vmlinux=x",
                       "--base-debug-dir=x", "--base-source=x"):
            self.refused(base, option, usage=True,
                         message=f"{option.split('=')[0]}: only with --diff")
        for value in ("minute", "mark:", "marks"):
            self.refused(f"--diff={base}", base, f"--per={value}", usage=True,
                         message=f"--per '{value}': not 'second' or 'mark:NAME'")
        for value in ("0", "1", "-0.1", "x", "0.1x", "nan", ""):
            self.refused(f"--diff={base}", base, f"--error-rate={value}",
                         usage=True, message="not a number between 0 and 1")

    def test_captures(self):
        """An error names the capture."""
        base = self.capture(site("f", 0x10, 1))
        missing = self.dir + "/missing"
        self.refused(f"--diff={missing}", base, message=missing)
        self.refused(f"--diff={base}", missing, message=missing)
        self.refused(f"--diff={base}", base, "--time", "5,",
                     message=f"{base}: --time: START is beyond the end")

    def test_no_operand(self):
        """A comparison needs a capture that can be opened on each side."""
        base = self.capture(site("f", 0x10, 1))
        self.refused(f"--diff={base}", cwd=self.dir,
                     message="no operand, so the current directory is the new "
                             "side of --diff: no cpu<n>.out in .: ")

    def test_current_directory(self):
        """Without an operand, the new side is the current directory."""
        base = self.capture(site("f", 0x10, 1))
        done = run(f"--diff={base}", cwd=base)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertRegex(done.stdout, r"\nnew .* \.\n")

    def test_warnings(self):
        """A warning names its capture."""
        base = self.capture(site("f", 0x10, 1))
        new = self.capture(site("f", 0x10, 1), names=False)
        done = run(f"--diff={base}", new)
        self.assertIn(f"warning: {new}: the capture has no kallsyms", done.stderr)

    def test_properties(self):
        """A warning names a property that differs from the first capture."""
        base = self.compiled(fixture([site("f")]).replace(
            "  complete=true", "  complete=true\n  machine=x86_64"), "base")
        new = self.compiled(fixture([site("f")]).replace(
            "  complete=true", "  complete=true\n  machine=s390x\n  sample=4"),
            "new")
        done = run(f"--diff={base}", new)
        self.assertIn(f"{new}: the architecture is s390x, and that of {base} is "
                      "x86_64", done.stderr)
        self.assertIn(f"{new}: the factor of the sample is 4, and that of {base} "
                      "is 1", done.stderr)


if __name__ == "__main__":
    unittest.main()
