#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""kmemtrace-gate on random captures and rules, against a reference that judges the
figures of kmemtrace-report --json in exact arithmetic."""

import collections
import html
import json
import os
import random
import re
import statistics
import subprocess
import unittest
import xml.etree.ElementTree as ElementTree
from fractions import Fraction

import seeds
from gate_case import BUILD, FUNCTIONS, Alloc, GateCase, run

REPORT = os.path.join(BUILD, "report", "kmemtrace-report")
N_TRIES = 25
# Fields of rules, and their keys in JSON.
FIELDS = {"live": "live_bytes_allocated", "wasted": "bytes_wasted",
          "peak": "peak_bytes_allocated", "allocs": "allocs",
          "requested": "bytes_requested", "live-objects": "live_objects"}
LAYERS = ("slab", "pages", "percpu", "vmalloc")
LINE = re.compile(r"(\S+)( .*?)?(?: \(added\))?: \S+(?: B)? -> ")


def figures(path, by):
    """Return {(kind, name): {key of JSON: figure}} of a capture."""
    done = subprocess.run([REPORT, "-q", "--json", "--by", by or "function", path],
                          capture_output=True, text=True, check=True)
    document = json.loads(done.stdout)
    if not by:
        return {(kind, ""): document["kinds"][kind] for kind in LAYERS}
    return {(group["kind"], group[by]): group for group in document["groups"]}


class Rule:
    """A random rule with its own arithmetic."""

    def __init__(self, rng):
        self.field = rng.choice(sorted(FIELDS))
        self.by = rng.choice([None, "function", "module", "kind"])
        self.percent = rng.choice([None, "0.5", "1", "12.5", "33", "100"])
        self.amount = rng.choice([None, 0, 1, 100, 2048])
        if self.percent is None and self.amount is None:
            self.amount = 7
        self.bound = rng.choice([None, None, "below", "at most"])
        if self.bound:
            self.amount = rng.choice([1, 100, 5000])

    def text(self):
        """Return the rule as text."""
        by = f", by {self.by}," if self.by else ""
        if self.bound:
            return f"{self.field}{by} {self.bound} {self.amount}"
        limits = [f"{self.percent} %"] * (self.percent is not None)
        limits += [str(self.amount)] * (self.amount is not None)
        return f"{self.field}{by} grows by at most {' or '.join(limits)}"

    def allowed(self, base):
        """Return the growth that the rule allows from a value."""
        limits = [] if self.amount is None else [Fraction(self.amount)]
        if self.percent is not None:
            limits.append(Fraction(self.percent) / 100 * max(base, 0))
        return max(limits)

    def is_beyond(self, base, new):
        """Return whether medians are beyond the limit."""
        if self.bound == "below":
            return new >= self.amount
        if self.bound:
            return new > self.amount
        return new - base > self.allowed(base)


class RandomRules(GateCase):
    """Verdicts."""

    def recording(self, rng, name, leaning):
        """Write a random capture; return its path."""
        allocs = []
        t = 1
        for function in (*FUNCTIONS, "mod_alloc"):
            if rng.random() < 0.1:
                continue
            for _ in range(rng.randrange(1, 4) + leaning):
                size = rng.choice([64, 128, 1024])
                kind = rng.choice(["kmalloc", "kmalloc", "pages", "cache"])
                allocs.append(Alloc(function, size, size - rng.randrange(64),
                                    kind, t, rng.choice([None, t + 400])))
                t += rng.randrange(1, 9)
        return self.record(name, *allocs)

    def judge(self, rule, sides):
        """Return the values of the lines beyond the limit: {line: (base, new)}."""
        captures = [[figures(path, rule.by) for path in side] for side in sides]
        key = FIELDS[rule.field]
        beyond = {}
        for line in {line for side in captures for c in side for line in c}:
            values = [[Fraction(c[line][key]) if line in c else Fraction(0)
                       for c in side] for side in captures]
            if rule.is_beyond(*map(statistics.median, values)):
                beyond[line] = values
        return beyond

    def compare(self, rule, sides):
        """Compare the gate with the reference."""
        path = self.write("rules", rule.text() + "\n")
        done = run("--junit=-", "-l0", path, *sides[0], "--", *sides[1])
        case = ElementTree.fromstring(done.stdout).find(".//testcase")
        output = case.find("system-out").text
        beyond = self.judge(rule, sides)
        noise = re.search(r"(\d+) beyond the limit within noise", output)
        noise = int(noise.group(1)) if noise else 0
        failure = case.find("failure")
        lines = failure.text.strip().splitlines() if failure is not None else []
        found = {(match.group(1), (match.group(2) or "").strip())
                 for match in map(LINE.match, map(html.unescape, lines))}
        shown = {(kind, re.sub(r" \[\w+\]$", "", name))
                 for kind, name in beyond}
        found = {(kind, re.sub(r" \[\w+\]$", "", name)) for kind, name in found}
        self.tried[len(sides[0]), rule.bound, bool(found), noise > 0] += 1
        self.assertEqual(len(found), len(lines))
        self.assertEqual(len(found) + noise, len(beyond), done.stdout)
        self.assertLessEqual(found, shown)
        self.assertEqual(done.returncode, 2 if found else 0)
        if len(sides[0]) == 1 or rule.bound:
            self.assertEqual(found, shown)
            return
        # Three captures on a side: a line needs new values that are all larger.
        for (kind, name), (base, new) in beyond.items():
            if (kind, re.sub(r" \[\w+\]$", "", name)) in found:
                allowed = rule.allowed(statistics.mean(base))
                self.assertGreater(min(new) - allowed, max(base), rule.text())

    def test_random(self):
        self.tried = collections.Counter()
        for seed in seeds.several(N_TRIES):
            rng = random.Random(seed)
            n = rng.choice([1, 3])
            leaning = rng.choice([0, 0, 1, 4])
            sides = [[self.recording(rng, f"{side}{i}", leaning * (side == "new"))
                      for i in range(n)] for side in ("base", "new")]
            for _ in range(4):
                rule = Rule(rng)
                with self.subTest(seed=seed, rule=rule.text()):
                    self.compare(rule, sides)
        if not seeds.IS_DEFAULT:
            return
        for n in (1, 3):
            for bound in (None, "below", "at most"):
                for found in (False, True):
                    self.assertGreater(sum(
                        count for key, count in self.tried.items()
                        if key[:3] == (n, bound, found)), 0, self.tried)
        self.assertGreater(sum(count for key, count in self.tried.items()
                               if key[3]), 5, self.tried)


if __name__ == "__main__":
    unittest.main()
