#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""kmemtrace-report --leaks: groups that grow without being a leak."""

import os
import sys
import unittest

from report_case import ReportCase, run

HEAD = """meta
  [capture]
  format=1
  abi_version=2
  record_size=64
  byte_order=little
  complete=true
  overruns=0
cpu 0 little size=64
"""
KALLSYMS = """ffffffff81000000 T _stext
ffffffff81000000 t allocate_slab.isra.0
ffffffff81000100 t alloc_vmap_area
ffffffff81000200 t driver_open
ffffffff81000300 T _etext
"""


class Leaks(ReportCase):
    """Leak candidates."""

    def test_allocator(self):
        """The memory of an allocator is no leak if its objects are recorded."""
        def record(i, kind, site):
            return (f"alloc {kind} t={i} site=0xffffffff81000{site} "
                    f"ptr={4096 * (i + 1) + int(site, 16)} req=64 alloc=64 "
                    "pid=0 cache=0 flags=0\n")

        def leaks(*kinds):
            path = self.compiled(HEAD + "".join(
                record(i, kind, site) for i in range(40) for kind, site in kinds))
            self.write(os.path.join(path, "kallsyms"), KALLSYMS)
            for by in ("callsite", "function"):
                found = [(leak.get("function", leak.get("symbol")).split("+")[0]
                          .split(".")[0], leak["keeps_objects_of"])
                         for leak in self.report("--leaks", "--by", by,
                                                 path)["leak_candidates"]]
                yield found, run("--leaks", "--by", by, path).stdout

        pages, area = ("pages", "010"), ("cache", "110")
        own, vmalloc = ("kmalloc", "210"), ("vmalloc", "220")
        for found, text in leaks(pages, area, own, vmalloc):
            self.assertEqual(sorted(found[:2]), [("driver_open", None)] * 2)
            self.assertEqual(sorted(found[2:]), [("alloc_vmap_area", "vmalloc"),
                                                 ("allocate_slab", "slab")])
            first, second = text.split("LEAK CANDIDATES\n")[1].split(
                "\n\nOTHER GROUPS THAT GREW (allocators keep objects of other "
                "groups in them)\n")
            self.assertEqual((first.count("driver_open"), first.count("alloc_")),
                             (2, 0))
            self.assertEqual((second.count("driver_open"),
                              second.count("alloc_vmap_area")), (0, 1))
        # Without the objects, the memory of the allocator is all that shows a leak.
        for found, _ in leaks(pages):
            self.assertEqual(found, [("allocate_slab", None)])
        for found, _ in leaks(pages, area):
            self.assertEqual(sorted(found), [("alloc_vmap_area", None),
                                             ("allocate_slab", "slab")])
        # A function of the same name that allocates another kind of memory.
        for found, _ in leaks(own, ("kmalloc", "010")):
            self.assertEqual(sorted(found), [("allocate_slab", None),
                                             ("driver_open", None)])

    def test_allocator_by_stack(self):
        """The innermost function of a stack is the one that allocates."""
        path = self.compiled(
            HEAD.replace("=64", "=72").replace("cpu 0", """stacks
  : # kmemtrace: stacks
  : # columns: stack addresses
  1 ffffffff81000010,ffffffff81000210
  2 ffffffff81000210,ffffffff81000010
cpu 0""") + "".join(
                f"alloc {kind} t={i} site=0xffffffff81000{site} req=64 alloc=64 "
                f"ptr={4096 * (i + 1) + stack} stack={stack} "
                "pid=0 cache=0 flags=0\n" for i in range(40)
                for kind, site, stack in (("pages", "010", 1),
                                          ("kmalloc", "210", 2))))
        self.write(os.path.join(path, "kallsyms"), KALLSYMS)
        leaks = self.report("--leaks", "--by", "stack", path)["leak_candidates"]
        self.assertEqual([(leak["kind"], leak["keeps_objects_of"])
                          for leak in leaks],
                         [("kmalloc", None), ("pages", "slab")])


if __name__ == "__main__":
    sys.exit(unittest.main())
