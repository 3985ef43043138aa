#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""tests/vm/allocators.py counts the slabs of a capture and compares each figure that has
two sources, and bench/allocatorsdoc.py writes the document of the figures."""

import copy
import json
import os
import re
import subprocess
import sys
import tempfile
import unittest

import mkcapture
from mkcapture import FREE, KMALLOC, PAGES

TOP = os.environ.get("top_srcdir", ".")
BUILD = os.path.abspath(os.environ.get("top_builddir", "."))
JUDGE = os.path.join(TOP, "tests", "vm", "allocators.py")
sys.path.insert(0, os.path.join(TOP, "bench"))
sys.dont_write_bytecode = True
import allocatorsdoc  # noqa: E402  pylint: disable=wrong-import-position

SLAB_SITE = 0xffffffff81000104
OTHER_SITE = 0xffffffff81001104
MODULE_SITE = 0xffffffffa0000104
SYMBOLS = """\
ffffffff81000000 T _stext
ffffffff81000100 t {slab_function}
ffffffff81001100 t get_page
ffffffffa0000100 t mixture_alloc\t[kmt_mixture]
ffffffffa0000200 t mixture_free\t[kmt_mixture]
"""
META = """\
[capture]
format=1
abi_version=3
record_size=64
byte_order=little
page_size=4096
complete=true
cpus=2
overruns=0
"""
MARKS = """\
# kmemtrace: marks
# columns: number appeared went module types name format
# unnumbered: 0
1 0 - - s marker %s
"""
SLABINFO = """\
slabinfo - version: 2.1
# name <active_objs> <num_objs> <objsize> <objperslab> <pagesperslab>
kmalloc-2k 2 2 2048 2 1 : tunables 0 0 0 : slabdata {n} {n} 0
"""
BASE = 0xffff888000100000
TIMES = {"begin": 100, "full": 200, "end": 300}
# Slabs in which the two sources of the recording agree.
SLABS = {"begin": 1, "full": 4, "end": 4}


class Recording:
    """A folder of the scenario. Slab 0 is older than the work; slabs 1 and 2 get
    three objects, of which CPU 1 frees one; slab 3 remains empty."""

    def __init__(self, folder, allocator="SLUB"):
        self.folder = folder
        self.capture = mkcapture.Capture()
        self.capture.texts = {
            "kmemtrace.meta": META, "marks": MARKS,
            "kallsyms": SYMBOLS.format(slab_function="slob_alloc" if allocator == "SLOB"
                                       else "allocate_slab")}
        self.capture.add(1, b"")
        self.page(10, 0, SLAB_SITE)
        self.alloc(20, 0, OTHER_SITE)
        # Pages that are no slabs.
        self.page(30, 9, OTHER_SITE)
        for i in range(1, 4):
            self.page(110 + i, i, SLAB_SITE)
        for i, t in ((2, 120), (3, 121), (4, 122)):
            self.alloc(t, i, MODULE_SITE)
        self.event(250, 1, event_id=FREE, type_id=KMALLOC, ptr=BASE + 2 * 2048,
                   site=MODULE_SITE + 0x100, req=0, alloc=0, gfp=0)
        for text, t in TIMES.items():
            for data in mkcapture.mark(t, 1, [text]):
                self.capture.add(0, data)
        self.files = {"allocator": allocator, "release": "6.1.0-kmemtrace",
                      "sheaves": "", "total_overruns": "0"}
        none = " ".join("0" * 7)
        for moment, counts in (("begin", none), ("full", "3 6000 6144 0 0 0 0"),
                               ("end", "3 6000 6144 1 2000 2048 1")):
            self.files[f"{moment}.counts"] = f"kmalloc {counts}\ncache {none}"
            self.files[f"{moment}.meminfo"] = \
                f"MemFree: 1 kB\nSlab: {SLABS[moment] * 4} kB"
            if allocator != "SLOB":
                self.files[f"{moment}.slabinfo"] = SLABINFO.format(n=SLABS[moment])

    def event(self, t, cpu, **fields):
        """Add a record."""
        self.capture.add(cpu, mkcapture.event_v2(t=t, **fields))

    def page(self, t, number, site):
        """Allocate a page."""
        self.event(t, 0, type_id=PAGES, ptr=BASE + number * 4096, site=site, req=4096,
                   alloc=4096)

    def alloc(self, t, number, site):
        """Allocate an object, of which a slab has two."""
        self.event(t, 0, type_id=KMALLOC, ptr=BASE + number * 2048, site=site, req=2000,
                   alloc=2048)

    def write(self):
        """Write the folder."""
        # The records of a CPU are in order of time.
        size = mkcapture.V2_SIZE
        for cpu, data in self.capture.cpus.items():
            parts = [bytes(data[i:i + size]) for i in range(0, len(data), size)]
            self.capture.cpus[cpu] = b"".join(sorted(parts, key=lambda r: r[48:56][::-1]))
        self.capture.write(os.path.join(self.folder, "capture"))
        for name, text in self.files.items():
            with open(os.path.join(self.folder, name), "w", encoding="ascii") as f:
                f.write(text.rstrip("\n") + "\n" if text else "")


class Judge(unittest.TestCase):
    """tests/vm/allocators.py."""

    def setUp(self):
        # pylint: disable=consider-using-with
        temporary = tempfile.TemporaryDirectory()
        self.addCleanup(temporary.cleanup)
        self.folder = temporary.name
        self.recording = Recording(self.folder)

    def judge(self):
        """Return the status, the lines that are wrong, and the figures."""
        self.recording.write()
        path = os.path.join(self.folder, "figures.json")
        env = dict(os.environ)
        env["PATH"] = os.path.join(BUILD, "report") + ":" + env["PATH"]
        result = subprocess.run([sys.executable, JUDGE, "--json", path, self.folder],
                                capture_output=True, text=True, env=env, check=False)
        self.assertEqual(result.stderr, "")
        wrong = [line for line in result.stdout.splitlines() if "WRONG" in line]
        if result.returncode:
            self.assertFalse(os.path.exists(path))
            return result.returncode, wrong, None
        with open(path, encoding="utf-8") as f:
            return result.returncode, wrong, json.load(f)

    def refused(self, pattern):
        """Expect one wrong line, which matches a pattern."""
        status, wrong, _ = self.judge()
        self.assertEqual(status, 1)
        self.assertTrue(any(re.search(pattern, line) for line in wrong), wrong)

    def test_figures(self):
        """Slabs and objects are those at each moment."""
        status, wrong, figures = self.judge()
        self.assertEqual((status, wrong), (0, []))
        found = figures["moments"]
        self.assertEqual([(found[m]["slabs"], found[m]["full_slabs"],
                           found[m]["partial_slabs"], found[m]["empty_slabs"],
                           found[m]["used_bytes"], found[m]["live_objects"])
                          for m in ("begin", "full", "end")],
                         [(1, 0, 1, 0, 2048, 1), (4, 1, 2, 1, 8192, 4),
                          (4, 0, 3, 1, 6144, 3)])
        self.assertEqual(figures["work"]["bytes_wasted"], 3 * 48)
        self.assertEqual(figures["module"]["cross_cpu_frees"], 1)
        self.assertEqual((figures["allocator"], figures["has_sheaves"]), ("SLUB", False))

    def test_slob(self):
        """A page of SLOB is full if no byte is free, and SLOB has no slabinfo."""
        self.recording = Recording(self.folder, "SLOB")
        status, _, figures = self.judge()
        self.assertEqual(status, 0)
        self.assertEqual(figures["moments"]["full"]["full_slabs"], 1)

    def test_sheaves(self):
        """A kernel has sheaves if the capacity of each cache is not 0."""
        for text, expected in (("a 32\nb 60", True), ("a 32\nb 0", False), ("", False)):
            self.recording.files["sheaves"] = text
            self.assertEqual(self.judge()[2]["has_sheaves"], expected)

    def test_counts_differ(self):
        """Each count of the module is compared."""
        good = self.recording.files["end.counts"]
        for i, name in enumerate(("allocs", "bytes_requested", "bytes_allocated",
                                  "frees", "live_bytes_requested", None,
                                  "cross_cpu_frees")):
            if not name:
                continue
            kmalloc, cache = good.splitlines()
            words = kmalloc.split()
            words[1 + i] = str(int(words[1 + i]) + 1)
            self.recording.files["end.counts"] = " ".join(words) + "\n" + cache
            with self.subTest(name):
                self.refused(f"end: kmalloc, {name}")

    def test_slabs_differ(self):
        """The slabs of the records are compared with the kernel's figures."""
        good = self.recording.files["end.slabinfo"]
        self.recording.files["end.slabinfo"] = SLABINFO.format(n=101)
        self.refused("end: slabinfo: 101 pages, the records have 4")
        self.recording.files["end.slabinfo"] = good
        self.recording.files["full.meminfo"] = "Slab: 1000 kB"
        self.refused("full: growth in meminfo: 249 pages")

    def test_lost(self):
        """Lost events are refused."""
        self.recording.files["total_overruns"] = "3"
        self.refused("lost events: 3")


MOMENT = {"slabs": 0, "slab_bytes": 0, "used_bytes": 0, "large_bytes": 0,
          "full_slabs": 0, "partial_slabs": 0, "empty_slabs": 0, "live_objects": 0,
          "live_bytes_requested": 0, "live_bytes_allocated": 0}
TOTALS = {"allocs": 100, "frees": 50, "bytes_requested": 600, "bytes_allocated": 1000,
          "bytes_wasted": 400, "cross_cpu_frees": 25}
FOUND = {"allocator": "SLUB", "release": "6.1.7-kmemtrace", "has_sheaves": False,
         "work": TOTALS, "module": TOTALS,
         "moments": {"begin": MOMENT,
                     "full": MOMENT | {"slab_bytes": 8 << 20, "used_bytes": 6 << 20,
                                       "live_bytes_requested": 4 << 20},
                     "end": MOMENT | {"slab_bytes": 4 << 20, "used_bytes": 1 << 20,
                                      "live_bytes_requested": 1 << 20}},
         "instructions": {"pair": {"kmalloc": 90.4, "cache": 80},
                          "free-many": {"kmalloc": 50, "cache": 50},
                          "free-other-cpu": {"kmalloc": 60, "cache": 60}}}


class Document(unittest.TestCase):
    """bench/allocatorsdoc.py."""

    def test_tables(self):
        """Each table has a line for each kernel, and a dash where a figure is missing."""
        other = copy.deepcopy(FOUND)
        other["instructions"] = {}
        text = allocatorsdoc.document({"one": FOUND, "two": other})
        n_tables = len(re.findall(r"^\| --- \|", text, re.M))
        self.assertGreater(n_tables, 5)
        self.assertEqual(len(re.findall(r"^\| one \|", text, re.M)), n_tables - 1)
        self.assertEqual(len(re.findall(r"^\| two \|", text, re.M)), n_tables - 1)
        self.assertIn("| one | 90 | - |", text)
        self.assertIn("| two | - | - |", text)
        self.assertIn("| one | 6.1.7 | SLUB | no |", text)
        # Unused: 2 of 8 MiB, and 3 of 4 MiB.
        self.assertIn("| 2.10 (25.0 %) |", text)
        self.assertIn("| 3.15 (75.0 %) |", text)

    def test_conclusions(self):
        """A conclusion lists the kernels in the order of their figures."""
        better = copy.deepcopy(FOUND)
        better["instructions"]["free-other-cpu"]["kmalloc"] = 55
        better["instructions"]["alloc-many"] = {"cache": 40}
        text = allocatorsdoc.conclusions({"one": FOUND, "two": better})
        self.assertIn(": two 1.10, one 1.20.", text)
        self.assertIn(": one 50.0 %, two 50.0 %.", text)
        # The allocation was not measured for one of them.
        self.assertIn(": two 90.", text)
        self.assertNotIn("Bulk", text)


if __name__ == "__main__":
    unittest.main()
