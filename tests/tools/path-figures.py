#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""tests/vm/sources.py counts the events of each path in texts of perf and memleak, and
scripts/sources writes the table of these figures."""

import json
import os
import subprocess
import sys
import tempfile
import unittest

TOP = os.environ.get("top_srcdir", ".")
COUNT = os.path.join(TOP, "tests", "vm", "sources.py")
TABLE = os.path.join(TOP, "scripts", "sources")
BASE = 0xffff888000000000
MARKS = [BASE + 0x1000000 + i * 0x2000 for i in range(3)]
N = 100


class Recording:
    """The same work as gap.log, as perf script prints it, and as memleak does."""

    def __init__(self, folder):
        self.folder = folder
        self.log = [f"kmt_gap: base {BASE:#x}"]
        self.perf, self.memleak = [], []

    def event(self, function, name, ptr, size=None):
        """Add an event that each tool sees. ptr is a frame number for pages."""
        n = len(self.perf)
        if name.startswith("mm_page"):
            fields = f"page=(nil) pfn={ptr:#x} order=0 gfp_flags=GFP_KERNEL"
        else:
            fields = f"call_site={function}+0x3c ptr={ptr:#x}"
            if size:
                fields += f" bytes_req={size - 1} bytes_alloc={size}"
        self.perf.append(f"  150 [001]    12.{n:06d}:  kmem:{name}: {fields}")
        text = f"alloc exited, size = {size}, result = {ptr:x}" if size else \
            f"free entered, address = {ptr:x}, size = 1"
        head = f"          insmod-150     [001] d..31    12.{n:06d}: "
        self.memleak += [head + "bpf_trace_printk: " + text,
                         head + "<stack trace>", " => bpf_trace_printk",
                         " => __kmalloc", f" => {function}", " => do_init_module"]

    def mark(self):
        """Add the mark between two paths."""
        for ptr in MARKS:
            self.event("mark_path", "kmalloc", ptr, 8192)
        for ptr in MARKS:
            self.event("mark_path", "kfree", ptr)
        self.log.append("kmt_gap: path " + " ".join(map(hex, MARKS)))

    def path(self, function, kind, n_allocs=N, n_frees=N):
        """Add a path that makes N allocations, of which each tool sees some."""
        names, first, step, size = {
            "kmalloc": (("kmalloc", "kfree"), BASE + 0x2000000, 128, 128),
            "cache": (("kmem_cache_alloc", "kmem_cache_free"), BASE + 0x3000000, 256, 256),
            "pages": (("mm_page_alloc", "mm_page_free"), 0x5000, 1, 4096)}[kind]
        for i in range(n_allocs):
            self.event(function, names[0], first + i * step, size)
        for i in range(n_frees):
            self.event(function, names[1], first + i * step)
        self.log += [f"kmt_gap: alloc {function} {kind} {N} {N * size} 0xcc0",
                     f"kmt_gap: freed {function} {kind} {N} {function}"]

    def write(self):
        """Write the files of the scenario, and return the folder."""
        for name, lines in (("gap.log", [*self.log, "kmt_gap: done"]),
                            ("script", self.perf), ("trace", self.memleak),
                            ("kallsyms", ["ffffffff81000000 T _stext"]),
                            ("release", ["6.1.0"]), ("command", ["memleak -t"]),
                            ("stats", ["overrun: 0"])):
            with open(os.path.join(self.folder, name), "w", encoding="ascii") as f:
                f.write("\n".join(lines) + "\n")
        return self.folder


def run(*argv):
    """Run a script; return its status, output and messages."""
    result = subprocess.run([sys.executable, *argv], capture_output=True, text=True,
                            check=False)
    return result.returncode, result.stdout, result.stderr


class PathFigures(unittest.TestCase):
    """Each event is counted for its path."""

    def setUp(self):
        # pylint: disable=consider-using-with
        temporary = tempfile.TemporaryDirectory()
        self.addCleanup(temporary.cleanup)
        self.folder = temporary.name
        self.recording = Recording(self.folder)
        for function, kind in (("gap_kmalloc_constant", "kmalloc"),
                               ("gap_cache_alloc", "cache"),
                               ("gap_alloc_page", "pages")):
            self.recording.mark()
            self.recording.path(function, kind)

    def figures(self, source):
        """Return the recorded allocations and frees of each function."""
        self.recording.mark()
        status, output, messages = run(COUNT, source, self.recording.write())
        self.assertEqual(status, 0, messages)
        return {path["function"]: path["recorded"][:2]
                for path in json.loads(output)["paths"]}

    def test_all(self):
        """A path that is recorded completely has all of its events."""
        for source in ("perf", "memleak"):
            for found in self.figures(source).values():
                self.assertEqual(found, [N, N])

    def test_frees_alone(self):
        """A free without a recorded allocation counts too."""
        self.recording.mark()
        self.recording.path("gap_alloc_pages_bulk_array", "pages", n_allocs=1)
        self.assertEqual(self.figures("perf")["gap_alloc_pages_bulk_array"], [1, N])

    def test_nothing(self):
        """A path without events has zeros."""
        self.recording.mark()
        self.recording.path("gap_cache_bulk", "cache", 0, 0)
        for source in ("perf", "memleak"):
            self.assertEqual(self.figures(source)["gap_cache_bulk"], [0, 0])

    def test_later_free(self):
        """A free by other code belongs to the path of the allocation."""
        self.recording.mark()
        self.recording.path("gap_kfree_rcu", "kmalloc", n_frees=0)
        self.recording.mark()
        for i in range(7):
            self.recording.event("kfree_rcu_work", "kfree", BASE + 0x2000000 + i * 128)
        for source in ("perf", "memleak"):
            self.assertEqual(self.figures(source)["gap_kfree_rcu"], [N, 7])

    def test_other_caller(self):
        """An allocation by another function between the marks is none of the path."""
        self.recording.mark()
        self.recording.path("gap_cache_bulk", "cache", 0, 0)
        self.recording.event("vfs_read", "kmem_cache_alloc", BASE + 0x4000000, 256)
        for source in ("perf", "memleak"):
            self.assertEqual(self.figures(source)["gap_cache_bulk"], [0, 0])

    def fails(self, source, message):
        """The recording must be refused with this message."""
        status, output, messages = run(COUNT, source, self.recording.write())
        self.assertEqual((status, output), (1, ""))
        self.assertIn(message, messages)

    def test_missing_mark(self):
        """Without a mark, no event has a path."""
        self.recording.mark()
        del self.recording.perf[:6]
        self.fails("perf", "of 4 marks are recorded")

    def test_lost(self):
        """A recording that lost events is refused."""
        self.recording.mark()
        self.recording.perf.append("  0 [000] 13.0: PERF_RECORD_LOST lost 5")
        self.fails("perf", "LOST")

    def test_plain_path(self):
        """A recording that lacks the plainest path was misread."""
        self.recording.perf = [line for line in self.recording.perf
                               if "mm_page_alloc" not in line]
        self.recording.mark()
        self.fails("perf", "gap_alloc_page")

    def test_table(self):
        """The table has a cell for each kernel, path and source."""
        self.recording.mark()
        self.recording.path("gap_cache_bulk", "cache", 0, 0)
        self.recording.mark()
        self.recording.path("gap_alloc_pages_bulk_array", "pages", n_allocs=1)
        self.recording.mark()
        logs = os.path.join(self.folder, "logs")
        status, output, messages = run(COUNT, "perf", self.recording.write())
        self.assertEqual(status, 0, messages)
        os.makedirs(os.path.join(logs, "sources-6.1", "perf"))
        with open(os.path.join(logs, "sources-6.1", "perf", "figures-perf.json"), "w",
                  encoding="ascii") as f:
            f.write(output)
        status, output, messages = run(TABLE, logs)
        self.assertEqual(status, 0, messages)
        rest = " | not run |"
        for line in (
                f"| `kmalloc_constant` | kmalloc | 100 |{' not run |' * 3} seen: 100{rest}",
                f"| `cache_bulk` | cache | 100 |{' not run |' * 3} not seen: 0{rest}",
                "| `alloc_pages_bulk_array` | pages | 100 |"
                f"{' not run |' * 3} partly: 1, 100{rest}",
                f"| 6.1 | not run | 6.1.0 |{' not run |' * 3} 3 of 5{rest}"):
            self.assertIn(line, output)

    def test_no_figures(self):
        """Without figures there is no table."""
        status, output, messages = run(TABLE, self.folder)
        self.assertEqual((status, output), (1, ""))
        self.assertIn("has no figures", messages)


if __name__ == "__main__":
    unittest.main()
