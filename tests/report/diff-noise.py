#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Compare the statistics of a comparison with an enumeration in exact arithmetic,
and measure how often the tests report a change where there is none."""

import math
import os
import statistics
import subprocess
import unittest

import seeds
from reference_noise import Fraction, judge, smallest, step_down, two_sided

BUILD = os.path.abspath(os.environ.get("top_builddir", "."))
DUMP = os.path.join(BUILD, "tests", "report", "noise-dump")


def dump(lines):
    """Return the words of each line of output."""
    text = "".join(" ".join(str(word) for word in line) + "\n" for line in lines)
    done = subprocess.run([DUMP], input=text, check=True, capture_output=True,
                          text=True, timeout=600)
    return [line.split() for line in done.stdout.splitlines()]


class Values(unittest.TestCase):
    """The statistics of one figure."""

    def test_random(self):
        """Spreads and p-values equal those of the enumeration."""
        rng = seeds.generator("values")
        cases, lines = [], []
        for _ in range(300):
            n_base, n_new = rng.randint(1, 4), rng.randint(1, 4)
            high = rng.choice([1, 5, 1000, 10 ** 15])
            values = [rng.randint(-high, high) for _ in range(n_base + n_new)]
            rate = rng.choice([.05, .1, .3, .4])
            cases.append((n_base, n_new, rate, values))
            lines.append(["values", n_base, n_new, rate] + values)
        judged = set()
        for case, words in zip(cases, dump(lines)):
            n_base, n_new, rate, values = case
            base, new = values[:n_base], values[n_base:]
            p = two_sided(values, n_base)
            with self.subTest(case=case):
                self.assertEqual(words[0], str(math.comb(n_base + n_new, n_base)))
                self.assertEqual(words[1], "1")
                self.assertEqual([float(word) for word in words[2:7]], [
                    float(smallest(n_base, n_new)), 1 / math.comb(n_base + n_new, n_base),
                    (max(base) - min(base)) / 2, (max(new) - min(new)) / 2, float(p)])
                noise = judge(values, n_base, rate)
                self.assertEqual(words[7], noise)
                judged.add(noise)
        if seeds.IS_DEFAULT:
            self.assertEqual(judged, {"unknown", "within", "exceeds"})

    def test_three(self):
        """Three captures a side allow a p-value of 0.1 and no smaller one."""
        answer = dump([["values", 3, 3, .1, 10, 11, 12, 13, 14, 15],
                       ["values", 3, 3, .05, 10, 11, 12, 13, 14, 15],
                       ["values", 3, 3, .1, 7, 7, 7, 7, 7, 7]])
        self.assertEqual([words[2] for words in answer], ["0.10000000000000001"] * 3)
        self.assertEqual([float(words[6]) for words in answer], [.1, .1, 1])
        self.assertEqual([words[7] for words in answer],
                         ["exceeds", "unknown", "within"])

    def test_limit_of_splits(self):
        """All splits up to 100000, and 9999 random ones above."""
        values = list(range(20))
        exact, drawn = dump([["values", 9, 9, .1] + values[:18],
                             ["values", 10, 10, .1] + values])
        self.assertEqual(exact[:2], [str(math.comb(18, 9)), "1"])
        self.assertEqual(float(exact[6]), 2 / math.comb(18, 9))
        self.assertEqual(drawn[:2], ["10000", "0"])
        self.assertEqual([float(word) for word in drawn[2:4]], [1e-4, 1e-4])
        self.assertLessEqual(float(drawn[6]), 4e-4)

    def test_random_splits(self):
        """Random splits give nearly the exact p-value."""
        rng = seeds.generator("random splits")
        base = [rng.gauss(0, 1) for _ in range(9)]
        new = [rng.gauss(.5, 1) for _ in range(9)]
        # A capture of the median on each side changes the figure little.
        exact, drawn = dump([
            ["values", 9, 9, .1] + base + new,
            ["values", 10, 10, .1] + base + [statistics.median(base)]
            + new + [statistics.median(new)]])
        self.assertAlmostEqual(float(exact[6]), float(drawn[6]), delta=.1)
        # Values 0 and 1, 7 of 20 are 1, all on one side: the hypergeometric
        # distribution has the exact p-value.
        words, = dump([["values", 10, 10, .1] + [0] * 8 + [1] * 2 + [1] * 5 + [0] * 5])
        tail = sum(math.comb(7, k) * math.comb(13, 10 - k) for k in (0, 1, 2))
        self.assertAlmostEqual(float(words[6]), 2 * tail / math.comb(20, 10),
                               delta=.02)


class Lines(unittest.TestCase):
    """The joint test of all lines of a rule."""

    def test_random(self):
        """The p-values equal those of the definition."""
        rng = seeds.generator("lines")
        cases, text = [], []
        for _ in range(80):
            n_base, n_new = rng.randint(1, 3), rng.randint(1, 3)
            high = rng.choice([3, 100, 10 ** 12])
            absolute = rng.choice([0, 0, 1, high // 2])
            fraction = rng.choice([0, .25, .5])
            lines = [[rng.randint(0, high) + (rng.random() < .3 and i >= n_base) * high
                      for i in range(n_base + n_new)]
                     for _ in range(rng.randint(1, 6))]
            cases.append((n_base, absolute, fraction, lines))
            text.append(["lines", n_base, n_new, absolute, fraction] + sum(lines, []))
        smaller = 0
        for case, words in zip(cases, dump(text)):
            n_base, absolute, fraction, lines = case
            wanted = step_down(lines, n_base, absolute, fraction)
            with self.subTest(case=case):
                self.assertEqual([float(word) for word in words],
                                 [float(p) for p in wanted])
            smaller += sum(p < 1 for p in wanted)
        self.assertGreater(smaller, 0)

    def test_regression(self):
        """A regression of one line is found beside lines with noise."""
        rng = seeds.generator("regression")
        lines = [[1000 + rng.randint(-3, 3) for _ in range(6)] for _ in range(50)]
        lines[7] = [1000, 1001, 999, 1021, 1020, 1022]
        words, = dump([["lines", 3, 3, 0, .01] + sum(lines, [])])
        self.assertEqual([i for i, p in enumerate(words) if float(p) <= .05], [7])
        # A larger regression does not hide it, nor does one in each line.
        lines[8] = [1000, 1001, 999, 9000, 9100, 9200]
        words, = dump([["lines", 3, 3, 0, .01] + sum(lines, [])])
        self.assertEqual([i for i, p in enumerate(words) if float(p) <= .05], [7, 8])
        lines = [[v + 30 * (i >= 3) for i, v in enumerate(line)] for line in lines]
        words, = dump([["lines", 3, 3, 0, .01] + sum(lines, [])])
        self.assertEqual({float(p) for p in words}, {.05})

    def test_within_limit(self):
        """A line that grew clearly, but by less than its limit, is no regression."""
        words, = dump([["lines", 3, 3, 64, .01, 1000, 1001, 999, 1040, 1041, 1042,
                        1, 1, 1, 60, 70, 67]])
        self.assertEqual([float(p) for p in words][0], 1)
        self.assertGreater(float(words[1]), .05)

    def test_false_alarms(self):
        """Without a change, a rule over 30 lines fails in at most the stated rate."""
        rng = seeds.generator("false alarms")
        text, n = [], 1500
        for _ in range(n):
            limit = rng.choice([0, 5, 10])
            lines = []
            for _ in range(30):
                noise = rng.choice([1, 10, 100])
                lines.append([1000 + rng.gauss(0, noise) for _ in range(6)])
            text.append(["lines", 3, 3, limit, 0] + sum(lines, []))
        alarms = sum(min(float(p) for p in words) <= .05 for words in dump(text))
        print(f"{alarms} alarms in {n} unchanged rules with an error rate of 5 %")
        # 75 are expected at most; more than 110 have a probability of 1 in 20000.
        self.assertLessEqual(alarms, 110)


if __name__ == "__main__":
    unittest.main()
