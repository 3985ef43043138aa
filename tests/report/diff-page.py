#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""The comparison in the page of kmemtrace-report --html, against the JSON document of
the comparison.  tests/web/page-comparison.mjs tests what a browser shows of it."""

import json
import os
import unittest
from unittest import mock

import large_captures
from reference_html import data_of, printable
from report_case import ReportCase, run

FIELDS = ["live", "wasted", "peak", "allocs", "frees", "allocated", "requested", "frag",
          "live-objects", "cross-cpu"]
NOISE = ["unknown", "within", "exceeds"]
MATCH = ["same", "aligned", "removed", "added"]


class Page(ReportCase):
    """Pages with a small template."""

    def setUp(self):
        super().setUp()
        template = self.write("template.html", "<!doctype html><!--KMT-DATA-->\n")
        patch = mock.patch.dict(os.environ, KMEMTRACE_HTML_TEMPLATE=template)
        patch.start()
        self.addCleanup(patch.stop)
        self.page = os.path.join(self.dir, "page.html")

    def make(self, name, n, what="windows"):
        """Write a capture; return its directory."""
        path = os.path.join(self.dir, name)
        large_captures.make(what, path, n)
        return path

    def html(self, *args):
        """Return the data of a page."""
        done = run("-q", f"--html={self.page}", *args)
        self.assertEqual((done.returncode, done.stdout, done.stderr), (0, "", ""))
        self.assertLessEqual(os.path.getsize(self.page), 5_000_000)
        with open(self.page, encoding="utf-8") as f:
            return data_of(f.read())

    def document(self, *args):
        """Return the JSON document of the comparison."""
        return self.report("--fields", ",".join(FIELDS), *args)

    def check(self, *args):
        """Compare a page with the document of the same comparison."""
        data, document = self.html(*args), self.document(*args)
        comparison, names = data["comparison"], data["names"]
        for side in ("base", "new"):
            self.assertEqual([c["name"] for c in comparison[side]],
                             [c["path"] for c in document[side]])
            self.assertEqual([c["duration_ns"] for c in comparison[side]],
                             [c["span_ns"] for c in document[side]])
        self.assertEqual(comparison["smallest_p"] is None,
                         document["noise"]["smallest_p"] is None)
        self.assertAlmostEqual(comparison["error_rate"],
                               document["noise"]["error_rate"])
        self.assertEqual([field["name"] for field in comparison["fields"]], FIELDS)
        for field, entry in zip(comparison["fields"], document["fields"]):
            self.assertEqual((field["name"], field["varying"], field["exceeding"]),
                             (entry["field"], entry["varying"], entry["exceeding"]))
        ranks = [{line: rank + 1 for rank, line in enumerate(entry["order"])}
                 for entry in document["fields"]]
        wanted = {}
        for number, line in enumerate(document["callsites"]):
            cells = [self.cell(line["figures"][field], rank.get(number))
                     for field, rank in zip(FIELDS, ranks)]
            guess = line["possible_match"]
            if any(cells):
                wanted.setdefault(
                    (line["kind"], printable(line["callsite"])), []).append(
                        [line["match"], guess and printable(guess["callsite"]), cells])
        for kind, name, match, guess, cells in comparison["lines"]:
            cells = [cell and [*map(self.rounded, cell)] for cell in cells]
            line = [MATCH[match], names[guess] if guess >= 0 else None, cells]
            self.assertIn(line, wanted[names[kind], names[name]])
            wanted[names[kind], names[name]].remove(line)
        self.assertGreater(len(comparison["lines"]), 0)
        if not any(cut.startswith("The comparison has ") for cut in data["cuts"]):
            self.assertEqual([line for lines in wanted.values() for line in lines], [])
        return data

    @staticmethod
    def rounded(value):
        """Return a number with the digits that a page has."""
        return round(value, 6) if isinstance(value, float) else value

    def cell(self, cell, rank):
        """Return the cell of the document in the form of the page."""
        if rank is None:
            return None
        return [*(self.rounded(cell[key]) for key in ("base", "new", "difference")),
                NOISE.index(cell["noise"]),
                (not cell["base_exact"]) + 2 * (not cell["new_exact"]),
                self.rounded(cell["p"]), rank]

    def test_figures(self):
        """One capture on each side, and several."""
        a, b, c, d = [self.make(f"capture{n}", n) for n in (4000, 5000, 6000, 7000)]
        data = self.check(f"--diff={a}", b)
        self.assertIsNone(data["comparison"]["per"])
        self.assertEqual(data["capture"]["name"], b)
        self.check(f"--diff={a}", f"--diff={b}", "--error-rate", "0.4", c, d)
        data = self.check(f"--diff={a}", "--per", "second", "--kind", "slab", b)
        self.assertEqual(data["comparison"]["per"], "per second")

    def test_limit(self):
        """The most relevant lines of each field remain, and the page states how many
        lines it lacks."""
        base, new = self.make("base", 6000, "sites"), self.make("new", 6500, "sites")
        data = self.check(f"--diff={base}", new)
        lines = data["comparison"]["lines"]
        self.assertTrue(any(cut.startswith(f"The comparison has {len(lines)} of ")
                            for cut in data["cuts"]), data["cuts"])
        self.assertGreater(len(lines), 1000)
        for i in range(len(FIELDS)):
            ranks = {line[4][i][6] for line in lines if line[4][i]}
            self.assertTrue(ranks.issuperset(range(1, min(100, len(ranks)))))

    def test_options(self):
        """A page without a comparison, and options that do not fit."""
        capture = self.make("capture", 1000)
        self.assertNotIn("comparison", self.html(capture))
        for option in ("--by=module", "--fields=live"):
            self.refused(f"--html={self.page}", f"--diff={capture}", option, capture,
                         message="not with --html", usage=True)
        with open(self.page, encoding="utf-8") as f:
            before = f.read()
        self.refused(f"--html={self.page}", "--diff=/nonexistent", capture,
                     message="/nonexistent")
        with open(self.page, encoding="utf-8") as f:
            self.assertEqual(f.read(), before)
        self.assertEqual(json.loads(run("--json", "-q", capture).stdout)["format"],
                         "kmemtrace-report")


if __name__ == "__main__":
    unittest.main()
