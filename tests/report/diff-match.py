#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Lines of a comparison match across builds."""

import unittest

import report_case
from diff_case import DiffCase, fixture, site


class Matching(DiffCase):
    """Each call site has a size or number of its own, so that a list shows which
    ones matched."""

    def test_same_build(self):
        """Within a build, offsets decide: a call site never matches another."""
        base = self.capture(site("f", 0x10, 1), site("f", 0x20, 2))
        new = self.capture(site("f", 0x20, 4), site("f", 0x30, 8))
        self.assertEqual(self.live(base, new), [
            "0 1024 +1024 - added kmalloc f+0x30",
            "256 512 +256 2.000 kmalloc f+0x20",
            "128 0 -128 0.000 removed kmalloc f+0x10"])

    def test_kaslr(self):
        """All addresses of a boot may differ from those of another boot."""
        base = self.capture(site("f", 0x10, 1))
        new = self.capture(site("f", 0x10, 2), kaslr=0x1000000)
        self.assertEqual(self.live(base, new),
                         ["128 256 +128 2.000 kmalloc f+0x10"])

    def test_shifted_offsets(self):
        """In another build, the call sites have the same order."""
        base = self.capture(site("f", 0x10, 1, 8), site("f", 0x20, 2, 16),
                            site("f", 0x30, 4, 32))
        new = self.capture(site("f", 0x24, 1, 8), site("f", 0x30, 2, 16),
                           site("f", 0x48, 8, 32), build="bbbb")
        self.assertEqual(self.live(base, new), [
            "512 1024 +512 2.000 aligned kmalloc f+0x48",
            "128 128 0 1.000 aligned kmalloc f+0x24",
            "256 256 0 1.000 aligned kmalloc f+0x30"])

    def test_missing_in_the_middle(self):
        """A capture that lacks a call site does not shift the others."""
        base = self.capture(site("f", 0x10, 1, 8), site("f", 0x20, 1, 500, 512),
                            site("f", 0x30, 1, 100))
        new = self.capture(site("f", 0x18, 1, 8), site("f", 0x38, 1, 100),
                           build="bbbb")
        self.assertEqual(self.live(base, new), [
            "512 0 -512 0.000 removed kmalloc f+0x20",
            "128 128 0 1.000 aligned kmalloc f+0x18",
            "128 128 0 1.000 aligned kmalloc f+0x38"])

    def test_added_at_the_beginning(self):
        """A new call site before the others does not shift them."""
        base = self.capture(site("f", 0x10, 3, 24, 32), site("f", 0x20, 1, 100))
        new = self.capture(site("f", 0x10, 1, 900, 1024),
                           site("f", 0x20, 3, 24, 32), site("f", 0x30, 1, 100),
                           build="bbbb")
        self.assertEqual(self.live(base, new), [
            "0 1024 +1024 - added kmalloc f+0x10",
            "96 96 0 1.000 aligned kmalloc f+0x20",
            "128 128 0 1.000 aligned kmalloc f+0x30"])

    def test_exchanged(self):
        """The compiler exchanged two blocks of the function."""
        base = self.capture(site("f", 0x10, 5, 184, 192), site("f", 0x40, 5, 13, 16),
                            site("f", 0x60, 1, 32, 32), site("f", 0x80, 3, 1376, 2048),
                            site("f", 0x90, 3, 1376, 2048))
        new = self.capture(site("f", 0x18, 5, 200, 256), site("f", 0x42, 3, 1376, 2048),
                           site("f", 0x52, 3, 1376, 2048), site("f", 0x70, 5, 13, 16),
                           site("f", 0x8a, 2, 32, 32), build="bbbb")
        self.assertEqual(self.live(base, new), [
            "960 1280 +320 1.333 aligned kmalloc f+0x18",
            "32 64 +32 2.000 aligned kmalloc f+0x8a",
            "6144 6144 0 1.000 aligned kmalloc f+0x42",
            "6144 6144 0 1.000 aligned kmalloc f+0x52",
            "80 80 0 1.000 aligned kmalloc f+0x70"])

    def test_other_kind_between(self):
        """Call sites of two kinds may have another order."""
        base = self.capture(site("f", 0x10, 3, 500, 512),
                            site("f", 0x20, 3, 208, 208, "cache"))
        new = self.capture(site("f", 0x10, 3, 208, 208, "cache"),
                           site("f", 0x20, 1, 2000, 2048), build="bbbb")
        self.assertEqual(self.live(base, new), [
            "1536 2048 +512 1.333 aligned kmalloc f+0x20",
            "624 624 0 1.000 aligned cache f+0x10"])

    def test_changed_size(self):
        """The only call site of a function matches even if its size changed."""
        base = self.capture(site("f", 0x10, 1, 100))
        new = self.capture(site("f", 0x90, 50, 2000, 2048), build="bbbb")
        self.assertEqual(self.live(base, new),
                         ["128 102400 +102272 800.000 aligned kmalloc f+0x90"])

    def test_kinds_do_not_match(self):
        """A call site of kmalloc() never matches one of the page allocator."""
        base = self.capture(site("f", 0x10, 1, 4096, 4096))
        new = self.capture(site("f", 0x10, 1, 4096, 4096, "pages"), build="bbbb")
        self.assertEqual(self.live(base, new), [
            "4096 0 -4096 0.000 removed kmalloc f+0x10",
            "0 4096 +4096 - added pages f+0x10"])

    def test_suffixes(self):
        """Suffixes of the compiler are ignored."""
        base = self.capture(site("f.isra.0", 0x10, 1), site("g", 0x10, 2))
        new = self.capture(site("f.constprop.0", 0x14, 3),
                           site("g.part.0", 0x10, 4), build="bbbb")
        self.assertEqual(self.live(base, new), [
            "128 384 +256 3.000 aligned kmalloc f.constprop.0+0x14",
            "256 512 +256 2.000 aligned kmalloc g.part.0+0x10"])

    def test_modules(self):
        """Functions match by the name of their module, too."""
        base = self.capture(site("init [a]", 0x10, 1), site("init [b]", 0x10, 2))
        new = self.capture(site("init [b]", 0x18, 4), site("init [a]", 0x18, 1),
                           build="bbbb")
        self.assertEqual(self.live(base, new), [
            "256 512 +256 2.000 aligned kmalloc init+0x18 [b]",
            "128 128 0 1.000 aligned kmalloc init+0x18 [a]"])

    def test_functions(self):
        """Functions match without the suffix; other names only if equal."""
        base = self.capture(site("f.isra.0", 0x10, 1), site("g", 0x10, 1))
        new = self.capture(site("f", 0x10, 2), site("g", 0x40, 1), build="bbbb")
        text = self.diff(base, new, "--by", "function", "--fields", "live",
                         "--lines", "0")
        self.assertEqual(self.rows(text, "LIVE BY FUNCTION")[1:], [
            "128 256 +128 2.000 aligned slab f",
            "128 128 0 1.000 slab g"])

    def test_dimensions(self):
        """A call site is the same one in each line of another dimension."""
        base = self.capture(site("f", 0x10, 1, 8, 8), site("f", 0x20, 1, 16, 16))
        new = self.capture(site("f", 0x14, 2, 8, 8), site("f", 0x28, 3, 16, 16),
                           build="bbbb")
        text = self.diff(base, new, "--by", "callsite,size", "--fields", "live")
        self.assertEqual(self.rows(text, "LIVE BY CALL SITE AND SIZE")[1:], [
            "16 48 +32 3.000 aligned kmalloc f+0x28 16",
            "8 16 +8 2.000 aligned kmalloc f+0x14 8"])

    def test_equal_names(self):
        """Two functions of one name and equal offsets are two lines."""
        text = self.fixture_of_equal_names(1)
        base = self.compiled(text, "base")
        new = self.compiled(self.fixture_of_equal_names(3), "new")
        self.assertEqual(self.live(base, new), [
            "128 384 +256 3.000 kmalloc f+0x10",
            "64 192 +128 3.000 kmalloc f+0x10"])

    def fixture_of_equal_names(self, count):
        """Return a capture with two functions f."""
        text = fixture([site("f", 0x10, count, 8, 64),
                                  site("g", 0x10, count)])
        return text.replace(" t g\n", " t f\n")

    def test_three_builds(self):
        """Captures of three builds have common lines."""
        base = [self.capture(site("f", 0x10, 1, 8), site("f", 0x20, 1, 64)),
                self.capture(site("f", 0x14, 1, 8), site("f", 0x28, 1, 64),
                             build="bbbb")]
        new = [self.capture(site("f", 0x18, 2, 8), site("f", 0x38, 1, 64),
                            build="cccc")]
        text = self.diff(base, new, "--fields", "live", "--lines", "0")
        self.assertEqual(self.rows(text, "LIVE BY CALL SITE")[1:], [
            "128 256 +128 2.000 0 0 unknown aligned kmalloc f+0x18",
            "128 128 0 1.000 0 0 unknown aligned kmalloc f+0x38"])

    def test_unknown_functions(self):
        """Without names, call sites match only within a build, and a warning says
        so."""
        base = self.capture(site("f", 0x10, 1), names=False)
        same = self.capture(site("f", 0x10, 2), names=False)
        other = self.capture(site("f", 0x10, 2), names=False, build="bbbb")
        self.assertEqual(len(self.live(base, same)), 1)
        lines = self.live(base, other)
        self.assertEqual([line.split()[4] for line in lines],
                         ["added", "removed"])
        done = report_case.run(f"--diff={base}", other)
        self.assertIn("a group has a function without a name", done.stderr)


class Guesses(DiffCase):
    """Removed and added lines that may be the same code."""

    def guess(self, base, new):
        """Return the possible matches in the list of live bytes."""
        return [line for line in self.live(base, new)
                if line.startswith("possible match: ")]

    def test_renamed(self):
        """A function with another prefix."""
        base = self.capture(site("load_table", 0x10, 2, 100))
        new = self.capture(site("__load_table", 0x10, 3, 100), build="bbbb")
        self.assertEqual(self.live(base, new), [
            "0 384 +384 - added kmalloc __load_table+0x10",
            "possible match: load_table+0x10 (a similar name and equal sizes)",
            "256 0 -256 0.000 removed kmalloc load_table+0x10",
            "possible match: __load_table+0x10 (a similar name and equal sizes)"])

    def test_moved(self):
        """A function in another module."""
        base = self.capture(site("probe", 0x10, 2, 100))
        new = self.capture(site("probe [driver]", 0x10, 2, 100), build="bbbb")
        self.assertEqual(self.guess(base, new)[0],
                         "possible match: probe+0x10 [driver] (the function is in "
                         "another module)")

    def test_figures(self):
        """Another function with equal sizes and similar counts."""
        base = self.capture(site("first", 0x10, 20, 100))
        new = self.capture(site("second", 0x10, 21, 100), build="bbbb")
        self.assertEqual(len(self.guess(base, new)), 2)

    def test_no_evidence(self):
        """A few objects of a common size are no evidence."""
        base = self.capture(site("first", 0x10, 2, 100))
        new = self.capture(site("second", 0x10, 2, 100), build="bbbb")
        self.assertEqual(self.guess(base, new), [])


if __name__ == "__main__":
    unittest.main()
