#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""kmemtrace-report --advise: the sets of sizes of kmalloc(), whose figures are
computed here from the events."""

import bisect
import collections
import os
import random
import unittest

from advice_case import AdviceCase, site
from report_case import run, table

PAGE = 4096
LIMIT = 8192
KERNEL = [8, 16, 32, 64, 96, 128, 192, 256, 512, 1024, 2048, 4096, 8192]
UNIT = 256

# A change of the live objects: the requested and the allocated bytes, and 1 or -1.
Change = collections.namedtuple("Change", "time req alloc sign")


def smallest(sizes, request):
    """Return the size of a sorted list that serves a request."""
    return sizes[bisect.bisect_left(sizes, request)]


def fitting_order(size, objects, fraction):
    """Return the smallest order whose slab loses at most a fraction."""
    order = 0
    while PAGE << order < objects * size:
        order += 1
    while order <= 3 and (PAGE << order) % size > (PAGE << order) // fraction:
        order += 1
    return order


def slab_order(size, cpus=2):
    """Return the order of a slab, by the rules of calculate_order() in SLUB."""
    objects = min(4 * (cpus.bit_length() + 1), (PAGE << 3) // size)
    while objects > 1:
        for fraction in (16, 8, 4):
            order = fitting_order(size, objects, fraction)
            if order <= 3:
                return order
        objects -= 1
    return fitting_order(size, 1, 1)


def bytes_of(sizes, objects):
    """Return the bytes of objects with their share of the slabs' unused bytes."""
    units = 0
    for request, n in objects.items():
        size = smallest(sizes, request)
        slab = PAGE << slab_order(size)
        units += n * (slab * UNIT // (slab // size))
    return units // UNIT


def least_slabs(sizes, objects):
    """Return the bytes of the slabs that objects need at least."""
    held = collections.Counter()
    for request, n in objects.items():
        held[smallest(sizes, request)] += n
    return sum(-(-n // ((PAGE << slab_order(size)) // size)) *
               (PAGE << slab_order(size)) for size, n in held.items())


def waste(sizes, objects):
    """Return the allocated bytes that were not requested."""
    return sum(n * (smallest(sizes, request) - request)
               for request, n in objects.items())


def is_aligned(sizes, divisors):
    """Serve each request, and compare the alignment with the guarantee."""
    for request in range(8, LIMIT + 1):
        need = request & -request
        size = smallest(sizes, request)
        if (divisors or need == request) and size & -size < need:
            return False
    return True


class History:
    """The live objects after each event in a time."""

    def __init__(self, changes, start=None, stop=None):
        self.start = changes[0].time if start is None else start
        self.stop = changes[-1].time if stop is None else stop
        self.changes = [c for c in changes if c.time <= self.stop]
        self.all = collections.Counter()
        live, now, most = collections.Counter(), 0, 0
        self.peak = collections.Counter()
        begun = False
        for change in self.changes:
            if change.time >= self.start and not begun:
                # What was live before the time is the first peak.
                begun, most, self.peak = True, now, live.copy()
            now += change.sign * change.alloc
            if change.alloc <= LIMIT:
                live[change.req] += change.sign
                self.all[change.req] += begun and change.sign > 0
            if begun and now > most:
                most, self.peak = now, live.copy()
        self.end = live

    def wastes(self, sizes):
        """Return the largest waste and the mean over the time."""
        table = {c.req: smallest(sizes, c.req) - c.req
                 for c in self.changes if c.alloc <= LIMIT}
        now = largest = area = 0
        last = self.start
        for change in self.changes:
            if change.time > last:
                largest = max(largest, now)
                area += now * (change.time - last)
                last = change.time
            if change.alloc <= LIMIT:
                now += change.sign * table[change.req]
        largest = max(largest, now)
        area += now * (self.stop - last)
        return largest, area / (self.stop - self.start)


class SizeClasses(AdviceCase):
    """The member "size_classes"."""

    def setUp(self):
        super().setUp()
        self.changes = []

    def alloc(self, request, cpu=0):
        """Allocate an object; return it with its sizes."""
        size = (smallest(KERNEL, request) if request <= LIMIT else
                PAGE << ((request - 1) // PAGE).bit_length())
        what = self.trace.alloc(site("first"), request, size, cpu=cpu)
        self.changes.append(Change(self.trace.time, request, size, 1))
        return what, request, size

    def free(self, what, cpu=0):
        """Free an object."""
        self.trace.free(what[0], site("second"), cpu=cpu)
        self.changes.append(Change(self.trace.time, *what[1:], -1))

    def compared(self, *args):
        """Return the member."""
        return self.advice(*args)["size_classes"]

    def check(self, found, divisors=False, time=(None, None)):
        """Compare all figures that do not need the simulator."""
        history = History(self.changes, *time)
        sets = {s["name"]: s for s in found["sets"]}
        self.assertEqual(sets["kernel"]["sizes"], KERNEL)
        for one in found["sets"]:
            sizes = one["sizes"]
            with self.subTest(name=one["name"], sizes=sizes):
                self.assertEqual(sizes, sorted(set(sizes)))
                self.assertEqual(sizes[-1], LIMIT)
                self.assertEqual(one["aligned"], is_aligned(sizes, divisors))
                self.assertEqual(one["waste_at_peak"],
                                 waste(sizes, history.peak))
                self.assertEqual(one["waste_at_end"],
                                 waste(sizes, history.end))
                largest, mean = history.wastes(sizes)
                self.assertEqual(one["waste_largest"], largest)
                self.assertAlmostEqual(one["waste_average"], mean, places=3)
                for when, objects in (("peak", history.peak),
                                      ("end", history.end)):
                    self.assertGreaterEqual(one["slabs_at_" + when],
                                            least_slabs(sizes, objects))
        for when in ("best", "best-plus-1"):
            if when in sets:
                self.assertTrue(sets[when]["aligned"])
        for when, objects in (("peak", history.peak), ("end", history.end),
                              ("allocations", history.all)):
            with self.subTest(when=when):
                self.check_moment(found[when], sets, objects, divisors)
        return sets

    def check_moment(self, moment, sets, objects, divisors):
        """Compare the figures of a moment."""
        self.assertEqual(moment["objects"], sum(objects.values()))
        self.assertEqual(moment["requested"],
                         sum(s * n for s, n in objects.items()))
        self.assertEqual(moment["allocated"],
                         sum(smallest(KERNEL, s) * n
                             for s, n in objects.items()))
        self.assertEqual(moment["bytes"],
                         {name: bytes_of(one["sizes"], objects)
                          for name, one in sets.items()})
        self.check_addition(moment, objects, divisors)
        for best in moment["best"]:
            self.assertEqual(best["bytes"], bytes_of(best["sizes"], objects))
            self.assertTrue(is_aligned(best["sizes"], divisors))
            for one in sets.values():
                if one["aligned"] and len(one["sizes"]) == len(best["sizes"]):
                    self.assertLessEqual(best["bytes"],
                                         bytes_of(one["sizes"], objects))
        totals = [best["bytes"] for best in moment["best"]]
        if divisors:
            self.assertEqual(totals, sorted(totals, reverse=True))

    def check_addition(self, moment, objects, divisors):
        """Try each size as an additional one, the best first."""
        before = bytes_of(KERNEL, objects)
        savings = sorted(((before - bytes_of(sorted(KERNEL + [size]), objects),
                           size)
                          for size in range(8, LIMIT, 8)), reverse=True)
        most = next(saved for saved, size in savings
                    if is_aligned(sorted(KERNEL + [size]), divisors))
        if most > 0:
            # The program may round the sum of the units.
            self.assertAlmostEqual(moment["additional_size_saves"], most,
                                   delta=1)
            size = moment["additional_size"]
            self.assertAlmostEqual(
                before - bytes_of(sorted(set(KERNEL) | {size}), objects), most,
                delta=1)
        else:
            self.assertIsNone(moment["additional_size"])

    def test_held(self):
        """One CPU and no free: each class has one partly empty slab."""
        for _ in range(500):
            self.alloc(640)
        for _ in range(300):
            self.alloc(72)
        found = self.compared()
        sets = self.check(found)
        peak = History(self.changes).peak
        for one in found["sets"]:
            for figure in ("slabs_at_peak", "slabs_at_end", "slabs_largest"):
                self.assertEqual(one[figure],
                                 least_slabs(one["sizes"], peak), one)
        self.assertEqual(found["peak"]["additional_size"], 640)
        self.assertEqual(sets["kernel-plus-1"]["sizes"],
                         sorted(KERNEL + [640]))
        self.assertEqual(sets["kernel"]["waste_at_peak"],
                         500 * 384 + 300 * 24)

    def make_random(self):
        """Make a random history on two CPUs, with sizes above the limit."""
        seed = int(os.environ.get("KMT_SEED", random.randrange(1 << 32)))
        print(f"KMT_SEED={seed}")
        rng = random.Random(seed)
        requests = [rng.randint(1, rng.choice((64, 300, 9000)))
                    for _ in range(25)]
        live = []
        for _ in range(1500):
            self.trace.wait(rng.choice((0, 0, 5000)))
            if live and rng.random() < 0.4:
                self.free(live.pop(rng.randrange(len(live))), rng.randrange(2))
            else:
                live.append(self.alloc(rng.choice(requests), rng.randrange(2)))

    def test_random(self):
        """A random history."""
        self.make_random()
        self.check(self.compared("--clock-tolerance=0"))

    def test_time(self):
        """A part of a random history: objects from before it are live in it."""
        self.make_random()
        # Events are 100 ns or more apart.
        first = self.changes[0].time
        start, stop = (self.changes[i].time + 50 for i in (500, 1200))
        self.check(self.compared(
            "--clock-tolerance=0",
            f"--time={(start - first) / 1e9:.9f},{(stop - first) / 1e9:.9f}"),
                   time=(start, stop))

    def test_text(self):
        """The text has the figures of JSON, which are doubtful after a loss."""
        self.trace.lost = 3
        for request in (72, 640, 5000):
            for _ in range(100):
                self.alloc(request)
        found = self.compared()
        self.assertTrue(found["doubtful"])
        text = run("-q", "--advise", self.dir + "/capture").stdout
        lines = table(text, "SIZES OF KMALLOC")
        # A sentence and the headings are before the sets.
        for one, line in zip(found["sets"], lines[1:]):
            self.assertEqual(
                line[:7],
                [f"{round(one[key])}~" for key in
                 ("waste_at_peak", "waste_at_end", "waste_average",
                  "slabs_at_peak", "slabs_at_end")] +
                ["yes" if one["aligned"] else "no", str(len(one["sizes"]))])
        self.assertIn(f"One more size of the kernel, "
                      f"{found['peak']['additional_size']}:", text)
        for best in found["peak"]["best"]:
            if len(best["sizes"]) == len(KERNEL) + 1:
                self.assertIn(" ".join(map(str, best["sizes"])), text)
        self.assertRegex(text, r"(?m)^  13 sizes, \d+~ bytes:\n      8 ")
        self.assertRegex(text, r"(?m)^  14 sizes, \d+~ bytes, \d+~ less:\n      8 ")

    def test_alignment(self):
        """Since Linux 6.11, a request is aligned to its largest divisor."""
        for request in (72, 80, 96, 200, 640, 1344, 1360):
            for _ in range(50):
                self.alloc(request)
        for self.trace.release in ("6.10.9", "6.11.0", "7.2.0"):
            found = self.compared()
            divisors = self.trace.release != "6.10.9"
            self.assertEqual(found["guarantee"],
                             "divisors" if divisors else "powers")
            self.check(found, divisors)

    def test_distant_times(self):
        """Damaged records are further apart than 2^63 ns: the mean is that of the
        objects, and SLAB needs no time for the years between the records."""
        self.trace.time = -2 ** 63
        self.alloc(700)
        self.trace.time = 2 ** 63 - 101
        self.alloc(700)
        for allocator in ("slub", "slab"):
            path = self.trace.write(self.dir + "/capture")
            meta = os.path.join(path, "kmemtrace.meta")
            with open(meta, encoding="utf-8") as f:
                text = f.read()
            with open(meta, "w", encoding="utf-8") as f:
                f.write(text.replace("allocator=slub", "allocator=" + allocator))
            found = self.report("--advise", path)["advice"]["size_classes"]
            for each in found["sets"]:
                self.assertLess(0, each["waste_average"], each)
                self.assertLessEqual(each["waste_average"],
                                     each["waste_largest"], each)

    def test_omitted(self):
        """A part of the objects does not show what the sizes serve."""
        self.alloc(100)
        self.alloc(700, cpu=1)
        found = self.compared("--cpu=1")
        self.assertIn("filter", found["not_compared"])
        self.assertNotIn("sets", found)
        self.trace.release = "5.10.0"
        advice = self.advice()
        self.assertNotIn("size_classes", advice)
        self.assertTrue(any(text.startswith("sizes of kmalloc: ")
                            for text in advice["not_examined"]), advice)


if __name__ == "__main__":
    unittest.main()
