#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""kmemtrace-report --advise: each finding with its saving, computed here from the
events, and for each one captures that are similar and must have no finding."""

import subprocess
import sys
import unittest

from advice_case import (ATOMIC, DMA, HARDIRQ, RECLAIMABLE, AdviceCase,
                         site)
from report_case import PROGRAM

PAGE = 4096
SLABINFO = """slabinfo - version: 2.1
# name            <active_objs> <num_objs> <objsize> <objperslab> <pagesperslab> : \
tunables <limit> <batchcount> <sharedfactor> : slabdata <active_slabs> <num_slabs> \
<sharedavail>
"""


def shared(n, objects, slab=PAGE):
    """Return the bytes of n objects in slabs that other objects share."""
    return n // objects * slab + n % objects * slab // objects


class Sizes(AdviceCase):
    """Sizes that kmalloc() rounds up."""

    def hold(self, n, req, alloc, where=site("first")):
        """Allocate objects that stay live; return them."""
        return [self.trace.alloc(where, req, alloc) for _ in range(n)]

    def test_shrink(self):
        """An object of 200 bytes fits kmalloc-192 without its last 8 bytes."""
        for what in self.hold(600, 200, 256)[:100]:
            self.trace.free(what, site("second"))
        found = self.only("size")
        self.assertEqual(found["sites"][0]["symbol"], "first+0x10")
        inputs = found["inputs"]
        self.assertEqual((inputs["objects_at_peak"], inputs["objects_live"]),
                         (600, 500))
        # A page has 16 objects of 256, 21 of 192, and 20 of 200 bytes.
        self.assertEqual(
            self.savings(found)["shrink"],
            tuple(shared(n, 16) - shared(n, 21) for n in (600, 500)))
        self.assertEqual(
            self.savings(found)["kmem_cache"],
            tuple(shared(n, 16) - -(-n // 20) * PAGE - inputs["cache_bytes"]
                  for n in (600, 500)))
        self.assertLess(inputs["cache_bytes"], 2 * PAGE)
        self.assertEqual([c["action"] for c in found["changes"]],
                         ["shrink", "kmem_cache"])
        self.assertEqual(found["certainty"], "high")

    def test_recorded(self):
        """The slabs of a kernel with slub_min_order=1 are those of slabinfo."""
        self.hold(600, 200, 256)
        self.trace.capture.texts["slabinfo"] = SLABINFO + "".join(
            f"kmalloc-{n} 0 0 {n} {8192 // n} 2 : tunables 0 0 0 : "
            "slabdata 0 0 0\n" for n in (8, 192, 256))
        found = self.only("size")
        self.assertEqual(self.savings(found)["shrink"],
                         (shared(600, 32, 8192) - shared(600, 42, 8192),) * 2)
        self.assertIn("a slab of kmalloc-256 has 32 objects in 8192 bytes",
                      found["changes"][0]["computation"])

    def test_cache(self):
        """An object of 640 bytes is not near 512, and gets a cache."""
        self.hold(400, 640, 1024)
        self.assertEqual([c["action"] for c in self.only("size")["changes"]],
                         ["kmem_cache"])

    def test_smallest(self):
        """Some machines have no kmalloc-96, as slabinfo shows."""
        self.hold(600, 72, 128)
        self.assertEqual(self.findings(), [])
        self.trace.capture.texts["slabinfo"] = SLABINFO + "".join(
            f"kmalloc-{n} 0 0 {n} {PAGE // n} 1 : tunables 0 0 0 : slabdata 0 0 0\n"
            for n in (128, 64))
        self.assertEqual(list(self.savings(self.only("size"))),
                         ["shrink", "kmem_cache"])

    def test_dma(self):
        """A plain cache is not in the memory for DMA."""
        for _ in range(400):
            self.trace.alloc(site("first"), 640, 1024, gfp=DMA)
        self.assertEqual(self.findings(), [])

    def test_reclaimable(self):
        """The new cache needs the flag of reclaimable memory."""
        for _ in range(400):
            self.trace.alloc(site("first"), 640, 1024, gfp=RECLAIMABLE)
        self.assertIn("SLAB_RECLAIM_ACCOUNT",
                      self.only("size")["changes"][0]["cost"])

    def test_name(self):
        """Caches of kmalloc() have the names that the kernel shows."""
        self.hold(200, 1100, 2048)
        self.assertEqual(
            [c["change"] for c in self.only("size")["changes"]][0],
            "Make the object 76 bytes smaller, from 1100 to 1024 bytes, which "
            "fit kmalloc-1k")

    def test_none(self):
        """Sizes that fit, few objects, and sizes that differ."""
        self.hold(400, 256, 256)
        self.hold(400, 250, 256)
        self.hold(15, 1100, 2048, site("second"))
        for i in range(200):
            self.hold(1, 200 + i % 2 * 40, 256, site("third"))
        # The function allocates for its callers.
        self.hold(400, 200, 256, site("kmemdup"))
        self.assertEqual(self.findings(), [])

    def test_allocator(self):
        """Without a recorded allocator, that of the kernel is a guess."""
        self.hold(400, 200, 256)
        self.trace.allocator = ""
        found = self.only("size")
        self.assertEqual(found["certainty"], "medium")
        self.assertIn("; the capture does not name its slab allocator, so SLUB is "
                      "assumed", found["certainty_reason"])

    def test_release(self):
        """Without a known kernel, the sizes of kmalloc() are unknown."""
        self.hold(400, 200, 256)
        self.trace.release = "5.10.0"
        advice = self.advice()
        self.assertEqual(advice["findings"], [])
        self.assertIsNone(advice["slab_layout"])
        self.assertIn("sizes that kmalloc rounds up: the sizes of kmalloc are "
                      "unknown for this kernel", advice["not_examined"])

    def test_slob(self):
        """A recorder that finds neither SLUB nor SLAB saves no allocator."""
        self.hold(400, 200, 256)
        self.trace.allocator = ""
        self.assertEqual(self.only("size")["certainty"], "medium")
        self.trace.allocator = "possible_cpus=2\n"
        advice = self.advice()
        self.assertEqual(advice["findings"], [])
        self.assertIsNone(advice["slab_layout"])

    def test_options(self):
        """A filter, a time, and a limit of lines apply."""
        self.hold(400, 200, 256)
        self.trace.wait(1000000)
        self.hold(400, 200, 256, site("second"))
        self.assertEqual(len(self.findings()), 2)
        self.assertEqual(self.only("size", "--callsite", "second")["sites"][0]
                         ["symbol"], "second+0x10")
        self.assertEqual(self.findings("--kind", "cache"), [])
        self.assertEqual(self.findings("--size", "-100"), [])
        self.assertEqual(self.only("size", "--time", ",500us")["sites"][0]
                         ["symbol"], "first+0x10")
        advice = self.advice("--lines", "1")
        self.assertEqual((len(advice["findings"]),
                          advice["findings_left_out"]), (1, 1))


class Caches(AdviceCase):
    """Caches whose slabs are half empty."""

    SLABINFO = SLABINFO + """\
kmalloc-2k {active} 160 2048 16 8 : tunables 0 0 0 : slabdata 10 10 0
"""

    def scatter(self, freed):
        """Allocate 10 slabs of 16 objects, and free some objects of each slab."""
        objects = [self.trace.alloc(site("first"), 2048, 2048)
                   for _ in range(160)]
        for i, what in enumerate(objects):
            if i % 16 < freed:
                self.trace.free(what, site("second"))

    def test_scattered(self):
        """One object keeps a slab of eight pages."""
        self.scatter(15)
        # Without slabinfo, there may be other objects.
        self.assertEqual(self.only("cache")["certainty"], "medium")
        self.trace.capture.texts["slabinfo"] = self.SLABINFO.format(active=11)
        found = self.only("cache")
        self.assertEqual((found["cache"], found["kind"]),
                         ("kmalloc-2k", "kmalloc"))
        self.assertEqual(found["inputs"], {
            "objects_live": 10, "slabs": 10, "pages": 80,
            "slabinfo_objects": 11, "slabinfo_slabs": 10})
        # Each object keeps one page, and the kernel keeps a few empty slabs.
        (at_peak, live), = self.savings(found).values()
        self.assertGreaterEqual(live, (80 - 10 - 20) * PAGE)
        self.assertLessEqual(live, (80 - 10) * PAGE)
        # Full slabs have no unused space.
        self.assertEqual(at_peak, 0)
        self.assertEqual(found["certainty"], "high")
        self.trace.capture.texts["slabinfo"] = self.SLABINFO.format(active=15)
        self.assertEqual(self.only("cache")["certainty"], "medium")
        # Most objects are from before the trace.
        self.trace.capture.texts["slabinfo"] = self.SLABINFO.format(active=60)
        self.assertEqual(self.findings(), [])

    def test_small_slabs(self):
        """With slub_max_order=0, the slabs are as small as possible."""
        self.scatter(15)
        self.trace.capture.texts["slabinfo"] = self.SLABINFO.format(
            active=11).replace("16 8 :", "2 1 :")
        self.assertEqual(self.findings(), [])

    def test_variants(self):
        """Objects of memory cgroups are in another cache of the same size."""
        self.scatter(15)
        self.trace.capture.texts["slabinfo"] = (
            self.SLABINFO.format(active=4)
            + self.SLABINFO.format(active=7).splitlines()[-1].replace(
                "kmalloc-", "kmalloc-cg-") + "\n"
            # Reclaimable memory is simulated separately.
            + self.SLABINFO.format(active=60).splitlines()[-1].replace(
                "kmalloc-", "kmalloc-rcl-") + "\n")
        found = self.only("cache")
        self.assertEqual((found["inputs"]["slabinfo_objects"],
                          found["inputs"]["slabinfo_slabs"]), (11, 20))
        self.trace.capture.texts["slabinfo"] = (
            self.SLABINFO.format(active=4)
            + self.SLABINFO.format(active=60).splitlines()[-1].replace(
                "kmalloc-", "kmalloc-cg-") + "\n")
        self.assertEqual(self.findings(), [])

    def test_snapshot(self):
        """The slabinfo of a snapshot is from the time when it was saved."""
        self.scatter(15)
        self.trace.capture.texts["slabinfo"] = self.SLABINFO.format(active=60)
        self.trace.more_meta = "[snapshot]\nwhy=trigger\n"
        found = self.only("cache")
        self.assertEqual(found["certainty"], "medium")
        self.assertNotIn("slabinfo_objects", found["inputs"])

    def pad(self, size):
        """Allocate objects of 72 bytes with padding."""
        self.trace.capture.texts["caches"] = (
            "# kmemtrace: caches\n"
            "# columns: number object_size size created went name\n"
            f"1 72 {size} 0 - padded\n")
        for _ in range(640):
            self.trace.alloc(site("first"), 72, size, kind="cache", cache=1)

    def test_debug(self):
        """Red zones and tracks of a debug kernel are no alignment."""
        self.pad(200)
        self.assertEqual(self.findings(), [])

    def test_padding(self):
        """Objects of 72 bytes in 256 waste most of each slab."""
        self.pad(256)
        found = self.only("cache")
        self.assertEqual(found["cache"], "padded")
        # 16 objects of 256 bytes or 51 of 80 bytes in a page.
        self.assertEqual(self.savings(found),
                         {"padding": ((40 - 13) * PAGE, (40 - 13) * PAGE)})

    def test_none(self):
        """Full slabs, and slabs of one page."""
        self.scatter(4)
        objects = [self.trace.alloc(site("first"), 256, 256)
                   for _ in range(320)]
        for i, what in enumerate(objects):
            if i % 16:
                self.trace.free(what, site("second"))
        self.assertEqual(self.findings(), [])

    def test_damaged_slabinfo(self):
        """A line that cannot be parsed is reported, and other lines are used."""
        self.scatter(15)
        self.trace.capture.texts["slabinfo"] = (
            self.SLABINFO.format(active=11) + "kmalloc-4k 1 x\n")
        found = self.only("cache")
        self.assertEqual(found["inputs"]["slabinfo_objects"], 11)
        result = subprocess.run([PROGRAM, "--advise", self.dir + "/capture"],
                                capture_output=True, text=True, check=True)
        self.assertIn("slabinfo: 1 invalid line is ignored; the first is line 4",
                      result.stderr)


class Large(AdviceCase):
    """Allocations of kmalloc() of more than two pages."""

    def test_pages(self):
        """Five pages are rounded up to eight."""
        objects = [self.trace.alloc(site("first"), 4 * PAGE + 100, 8 * PAGE)
                   for _ in range(5)]
        self.trace.free(objects[0], site("first", 0x20))
        found = self.only("large")
        overhead = 136 + 16 * 5
        self.assertEqual(self.savings(found), {
            "exact_pages": (5 * 3 * PAGE, 4 * 3 * PAGE),
            "vmalloc": (5 * (3 * PAGE - overhead), 4 * (3 * PAGE - overhead))})
        self.assertEqual(found["certainty"], "high")

    def test_atomic(self):
        """vmalloc() may sleep."""
        self.trace.alloc(site("first"), 5 * PAGE, 8 * PAGE, gfp=ATOMIC)
        self.assertEqual(list(self.savings(self.only("large"))),
                         ["exact_pages"])

    def test_kvmalloc(self):
        """kvfree() cannot free exact pages."""
        self.trace.alloc(site("kvmalloc_node"), 5 * PAGE, 8 * PAGE)
        found = self.only("large")
        self.assertEqual(list(self.savings(found)), ["vmalloc"])
        self.assertEqual(found["certainty"], "medium")

    def test_none(self):
        """Powers of two, small sizes, pages, and objects that are freed."""
        self.trace.alloc(site("first"), 8 * PAGE, 8 * PAGE)
        self.trace.alloc(site("first"), 7 * PAGE + 1, 8 * PAGE)
        self.trace.alloc(site("first"), 5000, 8192)
        self.trace.alloc(site("first"), 5 * PAGE, 8 * PAGE, kind="pages")
        self.assertEqual(self.findings(), [])


class Remote(AdviceCase):
    """Objects that another CPU frees."""

    def pass_on(self, n, remote, where=site("first")):
        """Free some of the objects on the other CPU, for longer than a second."""
        for i in range(n):
            what = self.trace.alloc(where, 64, 64)
            self.trace.wait(1000000)
            self.trace.free(what, site("second"), cpu=i < remote, pid=8)

    def test_remote(self):
        """Nine of ten frees are on the other CPU."""
        self.pass_on(2000, 1800)
        found = self.only("remote")
        seconds = self.advice()["duration"] / 1e9
        self.assertAlmostEqual(found["rate"], 1800 / seconds)
        self.assertEqual(found["rate_unit"], "remote frees per second")
        self.assertEqual(self.savings(found), {"batch": (0, 0)})
        self.assertIn("100 % of these by second+0x10",
                      found["changes"][0]["computation"])
        self.assertEqual(found["certainty"], "high")

    def test_none(self):
        """Too many on the same CPU, and too few."""
        self.pass_on(2000, 1700)
        self.pass_on(900, 900, site("third"))
        self.assertEqual(self.findings(), [])


class Short(AdviceCase):
    """Objects that their task frees at once."""

    def churn(self, n, size=64, where=site("first"), free=site("first", 0x40),
              pid=7, lifetime=1000, **fields):
        """Allocate and free objects."""
        for _ in range(n):
            what = self.trace.alloc(where, size, size, **fields)
            self.trace.wait(lifetime)
            self.trace.free(what, free, pid=pid, **fields)

    def test_stack(self):
        """A small object that its function frees could be on the stack."""
        self.churn(1500)
        found = self.only("short")
        self.assertEqual([c["action"] for c in found["changes"]], ["stack"])
        self.assertAlmostEqual(
            found["rate"], 1500 * 64 / (self.advice()["duration"] / 1e9))
        # The capture lasts some milliseconds.
        self.assertEqual(found["certainty"], "medium")

    def test_dma(self):
        """The stack is no memory for DMA."""
        self.churn(1500, gfp=DMA)
        self.assertEqual([c["action"] for c in self.only("short")["changes"]],
                         ["reuse"])

    def test_reuse(self):
        """Large objects, and objects that another function frees, are reused."""
        self.churn(1500, size=512)
        self.churn(1500, where=site("second"), free=site("third"))
        self.assertEqual([[c["action"] for c in f["changes"]]
                          for f in self.findings()], [["reuse"], ["reuse"]])
        cost = "The largest number of live objects was {}. "
        for found in self.findings():
            self.assertIn(cost.format(1), found["changes"][0]["cost"])

    def test_list(self):
        """One kept object is not enough if several are live at once."""
        where = site("first")
        for _ in range(500):
            several = [self.trace.alloc(where, 512, 512) for _ in range(3)]
            for what in several:
                self.trace.free(what, site("third"), pid=7)
        self.assertIn("The largest number of live objects was 3; a task that uses "
                      "several at once needs a list of them.",
                      self.only("short")["changes"][0]["cost"])

    def test_none(self):
        """Another task, an interrupt, a long life, large objects, live objects,
        and several functions that free."""
        self.churn(1500, pid=8)
        self.churn(1500, where=site("second"), flags=HARDIRQ)
        self.churn(1500, where=site("second", 0x20), lifetime=1100000)
        self.churn(1500, where=site("second", 0x30), size=8192)
        self.churn(1500, where=site("third"))
        for _ in range(200):
            self.trace.alloc(site("third"), 64, 64)
        for i in range(6):
            self.churn(300, where=site("third", 0x20),
                       free=site(("first", "second")[i % 2]))
        self.assertEqual(self.findings(), [])
        self.assertEqual([f["sites"][0]["symbol"] for f in
                          self.findings("--churn", "2ms")], ["second+0x20"])

    def test_records(self):
        """Records of version 1 have no task."""
        path = self.compiled("cpu 0 little\n" + "".join(
            f"alloc kmalloc t={2 * i} ptr=0x1000 req=64 alloc=64\n"
            f"free kmalloc t={2 * i + 1} ptr=0x1000\n" for i in range(1500)))
        advice = self.report("--advise", path)["advice"]
        self.assertEqual(advice["findings"], [])
        self.assertIn("short-lived objects: the records have no task",
                      advice["not_examined"])


class Together(AdviceCase):
    """Objects that are allocated and freed one after the other."""

    def pair(self, between=()):
        """Allocate two objects; return them."""
        first = self.trace.alloc(site("first"), 40, 64)
        for where in between:
            self.trace.alloc(where, 8, 8)
        return first, self.trace.alloc(site("second"), 20, 32)

    def test_merge(self):
        """40 and 20 bytes fit into 64."""
        pairs = [self.pair() for _ in range(400)]
        for first, second in pairs[:150]:
            self.trace.free(second, site("third"), pid=8)
            self.trace.free(first, site("third"), pid=8)
        found = self.only("together")
        self.assertEqual([s["symbol"] for s in found["sites"]],
                         ["first+0x10", "second+0x10"])
        saving = 64 + 32 - 64
        # One pair is not complete at the peak: the second object made the peak.
        self.assertEqual(self.savings(found),
                         {"merge": (400 * saving, 250 * saving)})
        self.assertEqual(found["certainty"], "high")
        for word in ("DMA", "constructor", "SLAB_TYPESAFE_BY_RCU"):
            self.assertIn(word, found["changes"][0]["cost"])

    def test_deferred(self):
        """kfree_rcu() of both counts as their free."""
        pairs = [self.pair() for _ in range(400)]
        for pair in pairs[:150]:
            for what, kind in pair:
                self.trace.event(7, kind, site("third"), what)
        for pair in pairs[:150]:
            for what in reversed(pair):
                self.trace.free(what, site("kmemdup"), flags=HARDIRQ)
        self.assertEqual(self.only("together")["inputs"]
                         ["pairs_freed_together"], 150)

    def check_none(self, pairs):
        """Free the first 150 pairs, and check that there is no finding."""
        for pair in pairs[:150]:
            for what in pair:
                self.trace.free(what, site("third"))
        self.assertEqual(self.findings(), [])

    def test_apart(self):
        """Another allocation is between the two."""
        self.check_none([self.pair([site("third")]) for _ in range(400)])

    def test_late(self):
        """A long time is between the two."""
        def late():
            first = self.trace.alloc(site("first"), 40, 64)
            self.trace.wait(2000000)
            second = self.trace.alloc(site("second"), 20, 32)
            self.trace.wait(2000000)
            return first, second
        self.check_none([late() for _ in range(400)])

    def test_alone(self):
        """One site also allocates alone."""
        pairs = [self.pair() for _ in range(400)]
        for _ in range(40):
            self.trace.alloc(site("first"), 40, 64)
            self.trace.alloc(site("third"), 8, 8)
        self.check_none(pairs)

    def test_tasks(self):
        """Two tasks allocate the two objects."""
        self.check_none([
            (self.trace.alloc(site("first"), 40, 64, pid=8),
             self.trace.alloc(site("second"), 20, 32)) for _ in range(400)])

    def test_frees(self):
        """The two are not freed together."""
        pairs = [self.pair() for _ in range(400)]
        for i in (0, 1):
            for pair in pairs[:150]:
                self.trace.free(pair[i], site("third"))
        self.assertEqual(self.findings(), [])

    def test_aligned(self):
        """Objects of caches that are aligned to cache lines stay aligned."""
        self.trace.capture.texts["caches"] = (
            "# kmemtrace: caches\n"
            "# columns: number object_size size created went name\n"
            "1 160 192 0 - x\n2 160 168 0 - y\n")

        def pair(second):
            return (self.trace.alloc(site("first"), 160, 192, "cache", cache=1),
                    self.trace.alloc(site("second"), 160, second, "cache",
                                     cache=1 if second == 192 else 2))
        pairs = [pair(192) for _ in range(400)]
        self.check_none(pairs)

    def test_no_saving(self):
        """The sum is rounded up to more than the two."""
        self.check_none([
            (self.trace.alloc(site("first"), 64, 64),
             self.trace.alloc(site("second"), 32, 32)) for _ in range(400)])


if __name__ == "__main__":
    sys.exit(unittest.main())
