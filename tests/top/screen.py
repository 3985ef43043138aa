#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""The screen of kmemtrace-top: each key, and the figures against the report."""

import json
import os
import unittest

import tmux_case
from random_captures import Maker
from target import BYTE_ORDER
from tmux_case import COLUMNS, TmuxCase
from top_case import report, rows_of_report

# A seed of random_captures with all kinds and many call sites.
SEED = 11
GROUPINGS = {"callsite": "1", "cache": "2", "comm": "3", "module": "4"}
KINDS = {"slab": "2", "kmalloc": "3", "cache": "4", "pages": "5"}
ORDERS = {"LIVE": "2", "WASTED": "3"}


class Keys(TmuxCase):
    """A capture with many call sites."""

    def setUp(self):
        super().setUp()
        maker = Maker(SEED)
        maker.big = BYTE_ORDER == "big"
        maker.has_meta = True
        maker.unit = 1
        maker.n_kinds = min(maker.n_kinds, 5 if maker.abi > 1 else 3)
        for _ in range(1500):
            maker.step()
        self.directory = os.path.join(self.dir, "capture")
        os.mkdir(self.directory)
        maker.write(self.directory)
        self.path = self.stream(self.directory)

    def of_report(self, by):
        """Return the figures of the columns on the screen."""
        rows = rows_of_report(report(self.directory, "--by", by), by)
        return {key: {name: row[name] for name in COLUMNS.values()}
                for key, row in rows.items()}

    def show_exact(self, *args, **kwargs):
        """Show the stream with exact numbers."""
        terminal = self.show_file(self.path, *args, **kwargs)
        self.exact(terminal)
        return terminal

    def test_figures(self):
        """The rows of each grouping have the figures of the report."""
        terminal = self.show_exact()
        for by, key in GROUPINGS.items():
            with self.subTest(by=by):
                want = self.of_report(by)
                self.assertGreater(len(want), 1)
                terminal.keys("g", key)
                lines = terminal.wait(
                    lambda lines, want=want: self.figures(lines) == want,
                    f"figures of {by}: {want}")
                self.assertIn(f"rows {len(want)} of {len(want)}",
                              "\n".join(lines))
        self.quit(terminal)

    def test_kinds(self):
        """k selects the rows of a kind."""
        terminal = self.show_exact()
        rows = self.of_report("callsite")
        for kind, key in KINDS.items():
            with self.subTest(kind=kind):
                kinds = ("kmalloc", "cache") if kind == "slab" else (kind,)
                want = {row: figures for row, figures in rows.items()
                        if row[1] in kinds}
                terminal.keys("k", key)
                terminal.wait(
                    lambda lines, want=want: self.figures(lines) == want,
                    f"rows of {kind}: {want}")
        self.quit(terminal)

    def test_order(self):
        """o, <, >, and R change the order."""
        terminal = self.show_exact()
        for title, key in ORDERS.items():
            terminal.keys("o", key)
            terminal.wait(lambda lines, title=title: self.is_sorted(
                lines, title, True), f"order by {title}")
        terminal.keys("R")
        terminal.wait(lambda lines: self.is_sorted(lines, "WASTED", False),
                      "reverse order")
        terminal.keys("R", "<")
        terminal.wait_text("order live bytes")
        terminal.keys("<", "<")
        terminal.wait_text("order name")
        lines = terminal.wait_no_text("reversed")
        names = [name for name, _ in self.table(lines)]
        self.assertEqual(names, sorted(names))
        terminal.keys(">")
        terminal.wait_text("order allocated bytes/s")
        self.quit(terminal)

    def is_sorted(self, lines, title, falling):
        """Return whether the rows are sorted by a column."""
        values = [int(row[title]) for _, row in self.table(lines)]
        return len(values) > 1 and values == sorted(values, reverse=falling)

    def test_filter(self):
        """/ selects rows by their names; an empty filter selects all."""
        terminal = self.show_exact("-g", "cache")
        want = self.of_report("cache")
        name = max((name for name, _ in want if "(" not in name), key=len)
        terminal.keys("/")
        terminal.wait_text("Filter:")
        terminal.text(name.upper() + "x")
        terminal.keys("BSpace", "Enter")
        lines = terminal.wait_text(f"filter {name.upper()}")
        part = {key: row for key, row in want.items() if name in key[0]}
        self.assertEqual(self.figures(lines), part)
        terminal.keys("/", "C-u", "Enter")
        terminal.wait(lambda lines: self.figures(lines) == want, "all rows")
        terminal.keys("/")
        terminal.text("nothing")
        terminal.keys("Escape")
        terminal.wait_no_text("Filter:")
        self.assertEqual(self.figures(terminal.screen()), want)
        self.quit(terminal)

    def test_scroll(self):
        """Arrows and page keys move the selection through all rows."""
        terminal = self.show_exact("-o", "name", "-g", "cache", height=24)
        names = sorted(name for name, _ in self.of_report("cache"))
        seen = [name for name, _ in self.table(terminal.screen())]
        self.assertLess(len(seen), len(names))
        terminal.keys("End")
        terminal.wait(lambda lines: [name for name, _ in self.table(lines)]
                      == names[-len(seen):], "last rows")
        terminal.keys(*["PPage"] * len(names))
        terminal.wait(lambda lines: [name for name, _ in self.table(lines)]
                      == names[:len(seen)], "first rows")
        for _ in range(len(seen)):
            terminal.keys("Down")
        terminal.wait(lambda lines: [name for name, _ in self.table(lines)]
                      == names[1:len(seen) + 1], "scroll by one row")
        terminal.keys("Home", "Right")
        terminal.wait(lambda lines: names[0] not in "\n".join(lines)
                      and names[0][8:] in "\n".join(lines), "scrolled names")
        self.quit(terminal)

    def test_details(self):
        """Enter shows the selected call site."""
        terminal = self.show_exact("-o", "live")
        (name, row), *_ = self.table(terminal.screen())
        terminal.keys("Enter")
        lines = terminal.wait(
            lambda lines: self.sums_of_sizes(lines)
            == (int(row["ALLOCS"]), int(row["LIVE"])), "complete table of sizes")
        self.assertEqual(lines[0].split()[-1], name.split()[-1])
        text = "\n".join(lines)
        self.assertIn(f"Live       {row['LIVE']} bytes in {row['OBJECTS']} "
                      f"objects, {row['WASTED']} bytes wasted", text)
        self.assertIn(f"All        {row['ALLOCS']} allocations, "
                      f"{row['FREES']} frees", text)
        terminal.keys("W")
        terminal.wait_text("Save as JSON")
        terminal.keys("C-u")
        terminal.text("details.json")
        terminal.keys("Enter")
        terminal.wait_text("Saved to details.json")
        with open(os.path.join(self.dir, "details.json"),
                  encoding="utf-8") as file:
            document = json.load(file)
        self.assertEqual((document["name"], str(document["live_bytes"]),
                          str(document["allocs"])),
                         (name, row["LIVE"], row["ALLOCS"]))
        for key in ("sizes", "commands", "caches"):
            self.assertEqual(sum(part["allocs"] for part in document[key]),
                             document["allocs"], key)
        self.assertEqual(sum(part["frees"] for part in document["lifetimes"]),
                         document["frees"])
        terminal.keys("q")
        terminal.wait_text("by call site")
        self.quit(terminal)

    @staticmethod
    def sums_of_sizes(lines):
        """Return the allocations and the live bytes in the table of sizes."""
        sizes = []
        start = next((i for i, line in enumerate(lines) if "REQUESTED" in line),
                     len(lines))
        for line in lines[start + 1:]:
            if not line.strip():
                break
            sizes.append([int(cell) for cell in line.split()])
        return (sum(size[4] for size in sizes if len(size) > 4),
                sum(size[3] for size in sizes if len(size) > 4))

    def test_save(self):
        """w and W save what the screen shows, and do not replace a file."""
        terminal = self.show_exact("-o", "live", "-k", "slab")
        want = self.figures(terminal.screen())
        terminal.keys("w")
        terminal.wait_text("Save to file: kmemtrace-top.txt")
        terminal.keys("Enter")
        terminal.wait_text("Saved to kmemtrace-top.txt")
        terminal.keys("W")
        terminal.wait_text("kmemtrace-top.json")
        terminal.keys("Enter")
        terminal.wait_text("Saved to kmemtrace-top.json")
        text, document = self.saved()
        self.assertEqual({(row["name"], row["kind"]):
                          {name: row[name] for name in COLUMNS.values()}
                          for row in document["rows"]}, want)
        self.assertEqual(document["query"]["order"], "live")
        for (name, kind), row in want.items():
            self.assertTrue(any(
                line.endswith(f"{kind:7} {name}") and
                {str(row["live_bytes"]), str(row["live_objects"]),
                 str(row["wasted_bytes"])} <= set(line.split())
                for line in text.split("\n")), name)
        terminal.keys("g", "4", "w", "Enter")
        terminal.wait_text("kmemtrace-top.txt exists")
        terminal.text("no")
        terminal.keys("Enter")
        terminal.wait_text("Not saved")
        self.assertEqual(self.saved()[0], text)
        terminal.keys("w", "Enter")
        terminal.wait_text("kmemtrace-top.txt exists")
        terminal.text("yes")
        terminal.keys("Enter")
        terminal.wait_text("Saved to")
        self.assertNotEqual(self.saved()[0], text)
        terminal.keys("w", "C-u")
        terminal.text("/nonexistent/file")
        terminal.keys("Enter")
        terminal.wait_text("cannot save to /nonexistent/file: No such file")
        self.quit(terminal)

    def saved(self):
        """Return the saved text and the saved document."""
        with open(os.path.join(self.dir, "kmemtrace-top.txt"),
                  encoding="utf-8") as file:
            text = file.read()
        with open(os.path.join(self.dir, "kmemtrace-top.json"),
                  encoding="utf-8") as file:
            return text, json.load(file)

    def test_help(self):
        """h and ? show all keys."""
        terminal = self.show_exact()
        for key in "h?":
            terminal.keys(key)
            terminal.wait_text("start or stop a raw capture")
            terminal.keys("Escape")
            terminal.wait_text("by call site")
        self.quit(terminal)

    def test_interval(self):
        """d accepts a number of seconds."""
        terminal = self.show_exact()
        terminal.keys("d")
        terminal.wait_text("Seconds between updates: 2")
        terminal.keys("C-u")
        terminal.text("nan")
        terminal.keys("Enter")
        terminal.wait_text("'nan' is no number of seconds")
        terminal.keys("d", "C-u")
        terminal.text("0.5")
        terminal.keys("Enter", "d")
        terminal.wait_text("Seconds between updates: 0.5")
        terminal.keys("Escape")
        terminal.wait_no_text("Seconds")
        self.quit(terminal)


if __name__ == "__main__":
    tmux_case.skip_without_tmux()
    unittest.main()
