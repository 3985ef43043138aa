#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""kmemtrace-gate: captures without a verdict, and several captures on a side."""

import os
import unittest

from gate_case import Alloc, GateCase, Recording

PASSED, EXCEEDED, UNDECIDED = "PASSED", "EXCEEDED", "CANNOT BE DECIDED"


class Losses(GateCase):
    """Captures that lack events."""

    def test_losses(self):
        base = self.live("base", alpha=100)
        Recording().add(Alloc("alpha", 100)).lose(50, 7).write(self.path("new"))
        new = self.path("new")
        self.judged("live does not grow\nallocs does not grow\n", base, new, 3,
                    UNDECIDED, UNDECIDED, text=f"{new}: 7 events were lost")
        self.judged("live does not grow", new, base, 3, UNDECIDED,
                    text=f"{new}: 7 events were lost")

    def test_later_losses(self):
        """Losses after the time of a rule do not matter."""
        paths = []
        for name in ("base", "new"):
            recording = Recording().add(Alloc("alpha", 100))
            recording.mark(30, 2, 1).add(Alloc("alpha", 5, t=100))
            if name == "new":
                recording.lose(200, 7)
            recording.write(self.path(name))
            paths.append(self.path(name))
        self.judged("live at mark:begin does not grow\nlive does not grow\n",
                    *paths, 3, PASSED, UNDECIDED)

    def test_other_defects(self):
        base = self.live("base", alpha=100)
        for options, text in (
                ({"complete": "false"}, "the capture was cut off"),
                ({"overruns": None}, "whether events were lost is unknown"),
                ({"incomplete": "sampling period;"},
                 "only a part of the events was recorded"),
                ({"continues": "true"},
                 "another reader consumed the beginning"),
                ({"filter": "cpu 0", "filter_changed": "true"},
                 "the filter changed during"),
                ({"sample": "0"}, "the sample changed during")):
            new = self.record("new", Alloc("alpha", 100), **options)
            self.judged("live does not grow", base, new, 3, UNDECIDED,
                        text=f"{new}: {text}")
            self.judged("live does not grow", new, new, 3, UNDECIDED)
        new = self.record("no-meta", Alloc("alpha", 100))
        os.remove(os.path.join(new, "kmemtrace.meta"))
        self.judged("live does not grow", base, new, 3, UNDECIDED)

    def test_missing_files(self):
        base = self.live("base", alpha=100)
        recording = Recording().add(Alloc("alpha", 100))
        recording.cpus = 2
        recording.write(self.path("new"))
        new = self.path("new")
        meta = os.path.join(new, "kmemtrace.meta")
        with open(meta, "a", encoding="utf-8") as file:
            file.write("[cpu2]\nevents=3\noverruns=0\n")
        self.judged("live does not grow", base, new, 3, UNDECIDED,
                    text="files of the capture are missing or damaged")

    def test_blind_spots(self):
        """What a source never records is the same on both sides."""
        names = {"source": "bpf", "not_seen": "splits of pages;"}
        base = self.record("base", Alloc("alpha", 100), **names)
        new = self.record("new", Alloc("alpha", 101), **names)
        other = self.record("other", Alloc("alpha", 100), source="bpf")
        self.judged("live does not grow", base, base, 0, PASSED)
        self.judged("live does not grow", base, new, 2, EXCEEDED)
        self.judged("live does not grow", base, other, 3, UNDECIDED,
                    text="differ in the events that the source does not record")


class Configurations(GateCase):
    """Captures that were recorded differently."""

    def test_keys(self):
        base = self.live("base", alpha=100)
        for key, value, title in (
                ("machine", "aarch64", "the architecture"),
                ("page_size", "65536", "the page size"),
                ("word_size", "4", "the word size"),
                ("source", "bpf", "the source"),
                ("filter", "cpu 0", "the filter"),
                ("sample", "8", "the sample"),
                ("events_off", "kmalloc;", "the events that were switched off"),
                ("pids", "7;", "the recorded processes")):
            new = self.record("new", Alloc("alpha", 100), **{key: value})
            text = self.judged("live does not grow", base, new, 3, UNDECIDED)
            self.assertIn(f"the captures differ in {title}: {base} has ", text)
            self.assertIn(f", {new} has {value}\n", text)

    def test_cpus(self):
        base = self.live("base", alpha=100)
        recording = Recording().add(Alloc("alpha", 100))
        recording.cpus = 2
        recording.write(self.path("new"))
        self.judged("live does not grow", base, self.path("new"), 3, UNDECIDED,
                    text=f"the number of CPUs: {base} has 1, "
                         f"{self.path('new')} has 2")

    def test_same_filter(self):
        base = self.record("base", Alloc("alpha", 100), filter="size > 3")
        new = self.record("new", Alloc("alpha", 101), filter="size > 3")
        self.judged("live does not grow", base, base, 0, PASSED)
        self.judged("live does not grow", base, new, 2, EXCEEDED)

    def test_other_build(self):
        """Another kernel is no other configuration."""
        base = self.live("base", alpha=100, beta=50)
        new = self.record("new", Alloc("alpha", 100), Alloc("beta", 51),
                          shift=0x2340, build_id="bb", kernel_release="6.12.1")
        text = self.judged("live by callsite does not grow", base, new, 2,
                           EXCEEDED, text="beta+0x10")
        self.assertNotIn("alpha+0x10", text)
        self.assertIn("base: 1 capture of Linux 6.1.0: ", text)
        self.assertIn("new:  1 capture of Linux 6.12.1: ", text)

    def test_unknown_function(self):
        """The address of a function without a name differs in each build."""
        base = self.live("base", alpha=100)
        new = self.record("new", Alloc("alpha", 100), shift=0x2340,
                          build_id="bb")
        for path in (base, new):
            os.remove(os.path.join(path, "kallsyms"))
        self.judged("live by callsite does not grow", base, new, 3, UNDECIDED,
                    text="the function is unknown")
        self.judged("live by callsite does not grow", base, base, 0, PASSED)

    def test_unknown_dimension(self):
        base = self.live("base", alpha=100)
        self.judged("live by directory does not grow", base, base, 3, UNDECIDED,
                    text="  all captures: no directory is known: specify "
                         "--vmlinux")
        new = self.live("new", alpha=100)
        os.remove(os.path.join(base, "kallsyms"))
        self.judged("live by module does not grow", base, base, 3, UNDECIDED,
                    text="  all captures: no module is known")
        self.judged("live by module does not grow", base, new, 3, UNDECIDED,
                    text=f"  {base}: no module is known")


class SeveralCaptures(GateCase):
    """Noise."""

    def side(self, name, *sizes):
        """Write a capture for each size; return their paths."""
        return [self.live(f"{name}{i}", alpha=size, beta=100)
                for i, size in enumerate(sizes)]

    def test_three(self):
        base = self.side("base", 1000, 1010, 990)
        for new, word in (((1100, 1090, 1110), EXCEEDED),
                          # One new capture is as small as a base capture.
                          ((1100, 1090, 1005), PASSED),
                          ((1005, 1011, 995), PASSED)):
            text = self.judged("live does not grow", base,
                               self.side("new", *new),
                               0 if word == PASSED else 2, word)
            self.assertIn("noise: 3 against 3 captures; noise alone exceeds a "
                          "rule with a probability of at most 0.05\n", text)
            self.assertEqual("1 beyond the limit within noise" in text,
                             word == PASSED)
        new = self.side("new", 1100, 1090, 1110)
        text = self.judged("live by function grows by at most 5 %", base, new,
                           2, EXCEEDED)
        self.assertIn("slab alpha: 1000 B -> 1100 B (+100 B, +10.00 %), "
                      "limit 1050 B, p=0.05", text)
        self.judged("live grows by at most 10 %", base, new, 0, PASSED)
        self.judged("live grows by at most 80 B", base, new, 0, PASSED,
                    text="1 beyond the limit within noise")
        self.judged("live grows by at most 79 B", base, new, 2, EXCEEDED)

    def test_bound_has_no_noise(self):
        base = self.side("base", 1000, 1000, 1000)
        new = self.side("new", 100, 1000, 1001)
        self.judged("live by function alpha at most 1000\n"
                    "live by function alpha below 1000\n", base, new, 2,
                    PASSED, EXCEEDED)

    def test_two(self):
        base = self.side("base", 1000, 1000)
        new = self.side("new", 2000, 2000)
        self.judged("live grows by at most 1 %", base, new, 3, UNDECIDED,
                    text="2 against 2 captures reach an error rate of 0.167 at "
                         "best; record 3 captures of each side, or raise "
                         "--error-rate")
        self.judged("live grows by at most 1 %", base, new, 3, UNDECIDED,
                    text="record 5 captures of each side",
                    options=["--error-rate", "0.01"])
        self.judged("live grows by at most 1 %", base, base, 0, PASSED)
        self.judged("live grows by at most 1 %", base, new, 2, EXCEEDED,
                    options=["--error-rate", "0.17"])

    def test_one(self):
        base = self.side("base", 1000)
        new = self.side("new", 1001, 1001, 999)
        text = ("noise: unknown, because a side has one capture: each value "
                "beyond a limit counts; for a test, record 3 captures of each side\n")
        self.judged("live does not grow", base, new, 2, EXCEEDED, text=text)
        self.judged("live does not grow", new, base, 0, PASSED, text=text)

    def test_leaks(self):
        def captures(name, *numbers):
            for i, leaks in enumerate(numbers):
                recording = Recording()
                for n in range(50):
                    recording.add(Alloc("alpha", 64, t=10 * n + 1,
                                        free=10 * n + 5))
                    if leaks:
                        recording.add(Alloc("beta", 64, t=10 * n + 2))
                recording.write(self.path(f"{name}{i}"))
            return [self.path(f"{name}{i}") for i in range(len(numbers))]

        base = captures("base", 0, 0, 0)
        self.judged("no new leak candidate", base, captures("new", 1, 1, 1), 2,
                    EXCEEDED, text="in 3 of 3 new captures, 0 of 3 base")
        self.judged("no new leak candidate", base, captures("new", 1, 1, 0), 0,
                    PASSED, text="1 beyond the limit within noise")
        self.judged("no leak candidate", base, captures("new", 1, 1, 0), 2,
                    EXCEEDED)
        self.judged("no leak candidate", base, captures("new", 1, 0, 0), 0,
                    PASSED)


if __name__ == "__main__":
    unittest.main()
