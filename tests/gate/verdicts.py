#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""kmemtrace-gate: the verdict of each form of a rule, one capture on each side."""

import os
import unittest

from gate_case import TEXT, Alloc, GateCase, Recording

PASSED, EXCEEDED, UNDECIDED = "PASSED", "EXCEEDED", "CANNOT BE DECIDED"


class Growth(GateCase):
    """Rules that compare both sides."""

    def test_limits(self):
        """A figure at the limit passes; a larger one does not."""
        base = self.live("base", alpha=10000, beta=500)
        for size, limit, word in (
                (10100, "1 %", PASSED), (10101, "1 %", EXCEEDED),
                (10290, "2.9%", PASSED), (10291, "2.9%", EXCEEDED),
                (10064, "64 B", PASSED), (10065, "64", EXCEEDED),
                (12048, "2KiB", PASSED), (12049, "2 KiB", EXCEEDED),
                (10100, "1 % or 64 B", PASSED), (10100, "64 or 1%", PASSED),
                (10101, "1 % or 64 B", EXCEEDED),
                (10064, "0.1 % or 64 B", PASSED),
                (10065, "0.1 % or 64 B", EXCEEDED),
                (9000, "0", PASSED), (10000, "0", PASSED), (10001, "0", EXCEEDED)):
            new = self.live("new", alpha=size, beta=500)
            for rule in ("live by function", "live of slab by callsite",
                         "live for callsite alpha"):
                self.judged(f"{rule} grows by at most {limit}\n", base, new,
                            0 if word == PASSED else 2, word)

    def test_percent_is_of_the_line(self):
        base = self.live("base", alpha=10000, beta=500)
        new = self.live("new", alpha=10000, beta=520)
        self.judged("live grows by at most 1 %\n", base, new, 0, PASSED)
        text = self.judged("live by function, grows by at most 1 %\n", base,
                           new, 2, EXCEEDED)
        self.assertIn("slab beta: 500 B -> 520 B (+20 B, +4.00 %), "
                      "limit 505 B", text)
        self.assertIn("1 of 2 lines exceeds", text)

    def test_does_not_grow(self):
        base = self.live("base", alpha=100)
        for size, word in ((100, PASSED), (101, EXCEEDED), (10, PASSED)):
            self.judged("live does not grow", base,
                        self.live("new", alpha=size),
                        0 if word == PASSED else 2, word)

    def test_new_and_removed_lines(self):
        """A line that the base lacks grows from 0, whatever the percentage."""
        base = self.live("base", alpha=100)
        new = self.live("new", beta=100)
        text = self.judged("live by function, grows by at most 50 %\n", base,
                           new, 2, EXCEEDED, text="slab beta (added")
        self.assertNotIn("alpha:", text)
        self.judged("live by function, grows by at most 50 % or 100 B", base,
                    new, 0, PASSED)
        self.judged("live grows by at most 1 %", base, new, 0, PASSED)

    def test_kinds_are_apart(self):
        base = self.record("base", Alloc("alpha", 4096, kind="pages"),
                           Alloc("alpha", 4096))
        new = self.record("new", Alloc("alpha", 8192, kind="pages"),
                          Alloc("alpha", 1024))
        text = self.judged("live by function, grows by at most 4095", base,
                           new, 2, EXCEEDED, text="pages alpha: 4096 B")
        self.assertNotIn("slab alpha", text)
        self.judged("live of slab grows by at most 1 B", base, new, 0, PASSED)
        self.judged("live of slab and pages, does not grow", base, new, 2,
                    EXCEEDED)
        self.judged("live of kmalloc by callsite does not grow", base, new, 0,
                    PASSED)

    def test_fields(self):
        """Each unit of figures. Durations are those of a histogram."""
        base = self.record("base", Alloc("alpha", 128, req=100, free=11, t=1))
        new = self.record("new", Alloc("alpha", 128, req=90, free=14, t=1),
                          Alloc("alpha", 128, req=90))
        for rule, word in (
                ("wasted does not grow", EXCEEDED),
                ("wasted grows by at most 48 B", PASSED),
                ("allocs grows by at most 1", PASSED),
                ("allocs does not grow", EXCEEDED),
                ("allocs grows by at most 100 %", PASSED),
                ("frag grows by at most 7.9 points", PASSED),
                ("frag grows by at most 7.8 points", EXCEEDED),
                ("frag grows by at most 30 %", EXCEEDED),
                ("frag grows by at most 40 %", PASSED),
                ("frag by function, is below 29.7 %", PASSED),
                ("frag by function, is below 29.6 %", EXCEEDED),
                ("lifetime-p99 by callsite grows by at most 4us", PASSED),
                ("lifetime-p99 by callsite grows by at most 1us", EXCEEDED),
                ("lifetime-p99 by callsite at most 20us", PASSED),
                ("lifetime-p99 by callsite below 9us", EXCEEDED)):
            self.judged(rule, base, new, 0 if word == PASSED else 2, word)

    def test_no_value(self):
        """A duration that a capture lacks is not judged."""
        base = self.record("base", Alloc("alpha", 128))
        new = self.record("new", Alloc("alpha", 128, t=1, free=9))
        self.judged("lifetime-p99 by function does not grow", base, new, 3,
                    UNDECIDED, text="no line has the figure in all captures")
        self.judged("lifetime-p99 by function below 1us", base, new, 2,
                    EXCEEDED)
        self.judged("lifetime-p99 below 1us", base, new, 3, UNDECIDED,
                    text="unknown for the sum of a kind; add \"by\"")


class Bounds(GateCase):
    """Rules about the new side alone."""

    def test_bounds(self):
        base = self.live("base", alpha=1)
        new = self.record("new", Alloc("mod_alloc", 1024, req=524),
                          Alloc("other_alloc", 1024, req=24))
        for rule, word in (
                ("wasted by module mod below 501 B", PASSED),
                ("wasted by module mod below 500 B", EXCEEDED),
                ("wasted by module mod at most 500 B", PASSED),
                ("wasted by module mod at most 499 B", EXCEEDED),
                ("wasted by module mod* is below 1 KiB", PASSED),
                ("wasted by module * stays below 1 KiB", PASSED),
                ("wasted by module * stays below 1000", EXCEEDED),
                ("live below 2049", PASSED), ("live below 2048", EXCEEDED)):
            self.judged(rule, base, new, 0 if word == PASSED else 2, word)

    def test_several_dimensions(self):
        base = self.live("base", alpha=1)
        new = self.record("new", Alloc("alpha", 100), Alloc("beta", 200),
                          Alloc("mod_alloc", 300))
        self.judged("live by module vmlinux and function below 201", base, new,
                    0, PASSED, text="2 lines judged")
        self.judged("live by function,module below 300", base, new, 2, EXCEEDED,
                    text="slab mod_alloc [mod], mod")

    def test_names_of_functions(self):
        names = ["alpha.constprop.0", "beta"]
        base = self.record("base", Alloc("mod_alloc", 1), functions=names)
        new = self.record("new", *(Alloc(name, 10)
                                   for name in (*names, "mod_alloc")),
                          functions=names)
        for dimension in ("function", "callsite"):
            for glob, n in (("alpha", 1), ("alpha*", 1), ("mod_alloc", 1),
                            ("mod", 0), ("*a*", 3), ("[mod]", 0),
                            ("\"*[[]mod]\"", 0), ("*mod]", 1), ("?eta", 1)):
                self.judged(f"live by {dimension} {glob}, below 99", base, new,
                            0 if n else 3, PASSED if n else UNDECIDED,
                            text=f"{n} line{'s' * (n > 1)} judged" if n else "")

    def test_nothing_selected(self):
        base = self.live("base", alpha=1)
        self.judged("live by module typo below 1 KiB", base, base, 3, UNDECIDED,
                    text="the rule selects no line of any capture")

    def test_filters(self):
        base = self.live("base", alpha=64, beta=512)
        new = self.live("new", alpha=128, beta=512)
        self.judged("live for callsite beta does not grow\n"
                    "live for size 512- and kind kmalloc does not grow\n"
                    "live for callsite alpha, does not grow\n",
                    base, new, 2, PASSED, PASSED, EXCEEDED)


class Directories(GateCase):
    """Rules by directory, with the source lines of allocation tags."""

    def capture(self, name, *allocs):
        """Write a capture with tags; return its path."""
        path = self.record(name, *allocs, abi_version="3")
        with open(os.path.join(path, "tags"), "w", encoding="ascii") as file:
            file.write("# kmemtrace: tags\n"
                       "# columns: address went module line function file\n"
                       "# dropped: 0\n"
                       f"{TEXT + 0x10:x} - - 20 alpha fs/ext4/a.c\n"
                       f"{TEXT + 0x110:x} - - 30 beta mm/b.c\n")
        return path

    def test_directories(self):
        base = self.capture("base", Alloc("alpha", 1000), Alloc("beta", 1000))
        new = self.capture("new", Alloc("alpha", 1000), Alloc("beta", 1030))
        text = self.judged("live by directory, grows by at most 1 % or 29 B\n"
                           "live by directory, grows by at most 1 % or 30 B\n"
                           "live by directory fs/* does not grow\n",
                           base, new, 2, EXCEEDED, PASSED, PASSED)
        self.assertIn("slab mm: 1000 B -> 1030 B (+30 B, +3.00 %), limit 1029 B",
                      text)


class Time(GateCase):
    """Rules about a part of the time."""

    def recording(self, name, late, begin=100, end=200, rate=10):
        """Write a capture with marks, and with some allocations between them."""
        recording = Recording()
        recording.add(Alloc("alpha", 1000, t=10))
        recording.mark(begin, 2, 1)
        recording.mark(begin + 5, 1, "boot done")
        for i in range(rate):
            recording.add(Alloc("beta", 64, t=begin + 10 + i, free=end - 1))
        recording.mark(end, 3, 1)
        recording.add(Alloc("gamma", late, t=end + 10))
        recording.write(self.path(name))
        return self.path(name)

    def test_moments(self):
        base = self.recording("base", 100)
        new = self.recording("new", 5000, begin=300, end=900)
        self.judged("live at mark:begin does not grow\n"
                    "live at mark:end does not grow\n"
                    "live does not grow\n"
                    "live at \"mark:boot done\" is at most 1000 B\n"
                    "live at \"mark:marker:boot done\" is at most 1000 B\n"
                    "live from mark:begin to mark:end at most 1000\n"
                    "live at 30us is at most 1000\n",
                    base, new, 2, PASSED, PASSED, EXCEEDED, *[PASSED] * 4)

    def test_rates(self):
        base = self.recording("base", 1, end=200)
        new = self.recording("new", 1, begin=100, end=300, rate=20)
        self.judged("allocs from mark:begin to mark:end does not grow\n"
                    "allocs from mark:begin to mark:end per second does not "
                    "grow\n"
                    "allocs from mark:begin to mark:end per second of slab "
                    "by function is below 100001\n"
                    "allocs from mark:begin to mark:end per second of slab "
                    "by function is below 100000\n"
                    "allocs per mark:begin does not grow\n",
                    base, new, 2, EXCEEDED, PASSED, PASSED, EXCEEDED, EXCEEDED)

    def test_missing_marks(self):
        base = self.recording("base", 1)
        new = self.live("new", alpha=1000)
        text = self.judged("live at mark:begin does not grow\n"
                           "live at mark:nothing does not grow\n"
                           "allocs per mark:begin does not grow\n"
                           "live by function alpha at most 1000 B\n"
                           "live from 1s below 3\n", base, new, 3,
                           UNDECIDED, UNDECIDED, UNDECIDED, PASSED, UNDECIDED)
        for part in ("no mark 'begin'", "no mark 'nothing'", "begin, ",
                     new + ": --per mark: there is no mark 'begin' in the time",
                     "START is beyond the end"):
            self.assertIn(part, text)


class Leaks(GateCase):
    """Leak candidates."""

    def leaking(self, name, *functions, **options):
        """Write a capture in which these functions leak."""
        recording = Recording(**options)
        for i in range(100):
            recording.add(Alloc("alpha", 64, t=10 * i + 1, free=10 * i + 5))
            for function in functions:
                recording.add(Alloc(function, 128, t=10 * i + 2))
        recording.write(self.path(name))
        return self.path(name)

    def test_new_candidates(self):
        base = self.leaking("base", "beta")
        new = self.leaking("new", "beta", "gamma", shift=0x1000, build_id="bb",
                           kernel_release="6.1.1")
        text = self.judged("no new leak candidate\n"
                           "no new leak candidate by function b*\n"
                           "no leak candidate\n"
                           "no leak candidates of pages\n", base, new, 2,
                           EXCEEDED, PASSED, EXCEEDED, UNDECIDED)
        self.assertIn("leak candidate in 1 of 1 new captures, 0 of 1 base "
                      "captures", text)
        self.assertIn("kmalloc gamma+0x10", text)
        self.judged("no new leak candidate", new, base, 0, PASSED)

    def test_frees_missing(self):
        base = self.leaking("base")
        new = self.leaking("new", "gamma", events_off="kfree;")
        self.judged("no new leak candidate", base, new, 3, UNDECIDED)
        self.judged("no new leak candidate", new, new, 3, UNDECIDED,
                    text="the recording lacks frees")


class Order(GateCase):
    """Several rules."""

    def test_exit_status(self):
        base = self.live("base", alpha=100)
        new = self.live("new", alpha=200)
        passed, exceeded = "live below 1 KiB\n", "live does not grow\n"
        undecided = "live by module typo below 1 KiB\n"
        for rules, status in ((passed, 0), (exceeded, 2), (undecided, 3)):
            self.assertEqual(self.gate(rules, base, new).returncode, status)
        text = self.judged(undecided + exceeded + passed, base, new, 2,
                           UNDECIDED, EXCEEDED, PASSED)
        self.assertTrue(text.endswith(
            "3 rules: 1 passed, 1 exceeded, 1 cannot be decided\n"), text)
        self.judged(undecided + passed, base, new, 3, UNDECIDED, PASSED)

    def test_names(self):
        base = self.live("base", alpha=100)
        text = self.judged("# rules\n\nsmall: live below 1 KiB # enough\n", base,
                           base, 0, PASSED)
        self.assertIn("PASSED  small\n  live below 1 KiB\n", text)

    def test_large_time(self):
        """The text of a limit beyond any time is not that of 0."""
        paths = [self.record(name, Alloc("alpha", 64, t=1, free=free))
                 for name, free in (("base", 10), ("new", 20))]
        text = self.judged("lifetime-p99 by function grows by at most "
                           "999999999999999 s\n", *paths, 0, PASSED)
        self.assertRegex(text, r"limit [1-9]\d+ ?s\n")


if __name__ == "__main__":
    unittest.main()
