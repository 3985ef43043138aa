#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Compare the records of kmemtrace with an independent count of the same events.

Usage: coverage.py [--drop N] EXCEPTIONS VERSION CAPTURE

CAPTURE is from a kernel with vm/coverage: beside the records it has an annotation for
each range of pages that the page allocator prepares for use or for its free lists, and
for each object that the slab allocator hands out or takes back. From each preparation
for use to the next free, each page and each object must have exactly one record of an
allocation and one of a free. Each difference must match a line of the file EXCEPTIONS
for VERSION, and each line must match a difference. --drop ignores the Nth record,
as if its hook were missing; the script must then find a difference."""
import collections
import heapq
import os
import struct
import sys

import capture

ALLOC, FREE, CHANGE = range(3)
PAGE_SHIFT = 12
RECORD_SIZE = 64

# What can be wrong with a page or an object.
NO_RECORD = "no-record"
NO_ALLOC = "no-alloc-record"
NO_FREE = "no-free-record"
TWO_ALLOCS = "second-alloc-record"
TWO_FREES = "second-free-record"
ALLOC_OF_FREE = "alloc-record-of-free-memory"
FREE_OF_FREE = "free-record-of-free-memory"
NOT_FREED = "free-record-of-used-memory"
SPLITS = "split"
SIZE = "size"


class Unit:
    """A page or a slab object. None: not known, because it is older than the trace."""

    __slots__ = ("used", "live", "records", "changes", "size", "count", "site")

    def __init__(self):
        self.used = None        # prepared for use
        self.live = None        # recorded as allocated
        self.records = 0        # allocation records since the preparation
        self.changes = 0        # splits without records
        self.size = 0           # bytes of the object
        self.count = ()         # callers of the preparation
        self.site = 0           # call site of the last record


class Coverage:
    """The state of all pages and objects, and the differences that were found."""

    def __init__(self):
        self.pages = collections.defaultdict(Unit)
        self.objects = collections.defaultdict(Unit)
        # Number of pages of each recorded allocation, by its first page.
        self.blocks = {}
        # Free records of pages whose number is known when the pages are prepared.
        self.waiting = {}
        self.found = collections.Counter()
        self.counted = collections.Counter()
        self.broken = collections.Counter()

    def differs(self, kind, what, *causes):
        self.found[kind, what, causes] += 1

    # --- The independent count ---

    def count_pages(self, operation, first, n, callers):
        units = self.pages
        self.counted["pages", operation] += n
        site = self.waiting.pop(first, None)
        if site is not None:
            if operation == FREE:
                for page in range(first + 1, first + n):
                    self.unit_free("pages", units[page], site)
            else:
                self.differs("pages", FREE_OF_FREE, site, callers)
        for page in range(first, first + n):
            self.count_unit("pages", units[page], operation, callers)

    def count_object(self, operation, address, size, callers):
        self.counted["slab", operation] += 1
        unit = self.objects[address]
        self.count_unit("slab", unit, operation, callers)
        if operation == ALLOC:
            unit.size = size

    def count_unit(self, kind, unit, operation, callers):
        if operation == CHANGE:
            # A split of pages that no caller has received is not recorded.
            if unit.live is not False:
                unit.changes += 1
        elif operation == ALLOC:
            if unit.used:
                self.broken[kind, "prepared for use twice", callers] += 1
            unit.used = True
            unit.live = False
            unit.records = unit.changes = 0
            unit.count = callers
            unit.site = 0
        else:
            if unit.used is False:
                self.broken[kind, "freed twice", callers] += 1
            self.complete(kind, unit, callers)
            unit.used = False
            unit.live = False

    def complete(self, kind, unit, callers):
        """Compare the records of a unit between its preparation and its free."""
        if unit.used and not unit.records:
            what = NO_ALLOC if unit.site else NO_RECORD
            self.differs(kind, what, unit.count, callers)
        elif unit.live is not False:
            self.differs(kind, NO_FREE, unit.site, callers)
        elif unit.changes:
            self.differs(kind, SPLITS, unit.site, unit.count, callers)

    # --- The records ---

    def record_pages(self, is_alloc, first, size, site):
        if is_alloc:
            n = (size + (1 << PAGE_SHIFT) - 1) >> PAGE_SHIFT
            self.blocks[first] = n
            if self.pages[first].used is not False:
                # The parts of a split; the split pages are older than the trace.
                self.waiting.pop(first, None)
            for page in range(first, first + n):
                self.unit_alloc("pages", self.pages[page], site)
            return
        n = self.blocks.pop(first, 0)
        if not n and self.pages[first].live is not False:
            self.waiting[first] = site
        for page in range(first, first + (n or 1)):
            self.unit_free("pages", self.pages[page], site)

    def record_object(self, is_alloc, address, size, site):
        unit = self.objects[address]
        if not is_alloc:
            self.unit_free("slab", unit, site)
            return
        if unit.used and unit.size and unit.size != size:
            self.differs("slab", SIZE, site, unit.count)
        self.unit_alloc("slab", unit, site)

    def unit_alloc(self, kind, unit, site):
        if unit.used is False:
            self.differs(kind, ALLOC_OF_FREE, site)
        elif unit.live:
            self.differs(kind, TWO_ALLOCS, site, unit.site)
        elif unit.records or unit.used is None:
            # The free and the allocation of a split or of krealloc().
            unit.changes -= 1
        unit.live = True
        unit.records += 1
        unit.site = site

    def unit_free(self, kind, unit, site):
        if unit.used is False:
            self.differs(kind, FREE_OF_FREE, site)
        elif unit.live is False and unit.records:
            self.differs(kind, TWO_FREES, site, unit.site)
        unit.live = False
        unit.site = site

    def end(self):
        """Compare the records of the memory that is in use at the end."""
        for kind, units in (("pages", self.pages), ("slab", self.objects)):
            for unit in units.values():
                if unit.used is False or unit.live:
                    continue
                if unit.used and not unit.records:
                    what = NO_ALLOC if unit.site else NO_RECORD
                    self.differs(kind, what, unit.count)
                elif unit.site:
                    self.differs(kind, NOT_FREED, unit.site)


def read(directory, cpu, mark):
    """Generate (time, 0, CPU, fields) of each record, and with 1 of each count."""
    size = capture.record_size(directory)
    if size != RECORD_SIZE:
        sys.exit(f"coverage.py: {directory}: records of {size} bytes, not 64")
    with open(os.path.join(directory, f"cpu{cpu}.out"), "rb") as f:
        data = f.read()
    for fields in capture.record_struct(directory).iter_unpack(data):
        event = fields[0]
        if event in (capture.ALLOC, capture.FREE):
            yield fields[9], 0, cpu, fields
        elif event == capture.MARK and fields[3] == mark:
            yield fields[9], 1, cpu, fields
        elif event == capture.LOST:
            sys.exit(f"coverage.py: {directory}: events were lost")


class Callers:
    """Translate the words of an annotation into a tuple of addresses."""

    def __init__(self, stext):
        self.stext = stext
        self.known = {}

    def find(self, words):
        callers = self.known.get(words)
        if callers is None:
            distances = struct.unpack("<6i", struct.pack("<3Q", *words))
            callers = tuple(self.stext + d for d in distances if d)
            self.known[words] = callers
        return callers


def compare(directory, symbols, n_dropped):
    marks = [int(row[0]) for row in capture.table(directory, "marks")[0]
             if row[-2] == "coverage"]
    if len(marks) != 1:
        sys.exit(f"coverage.py: {directory}: not from a kernel with vm/coverage")
    callers = Callers(symbols.address["_stext"])
    coverage = Coverage()
    n_records = collections.Counter()
    streams = [read(directory, cpu, marks[0]) for cpu in capture.cpus(directory)]
    for _, is_count, _, f in heapq.merge(*streams, key=lambda e: e[0]):
        if is_count:
            operation, size = f[4] & 15, f[4] >> 8
            found = callers.find(f[6:9])
            if f[4] & 16:
                coverage.count_pages(operation, f[5] >> PAGE_SHIFT,
                                     size >> PAGE_SHIFT, found)
            else:
                coverage.count_object(operation, f[5], size, found)
            continue
        kind = capture.TYPES[f[1]]
        if kind in ("percpu", "vmalloc"):
            continue
        is_alloc = f[0] == capture.ALLOC
        n_records["all"] += 1
        if n_records["all"] == n_dropped:
            print(f"coverage.py: dropped: {kind} {'alloc' if is_alloc else 'free'}"
                  f" by {symbols.function(f[4])}")
            continue
        n_records[kind, is_alloc] += 1
        if kind == "pages":
            coverage.record_pages(is_alloc, f[5] >> PAGE_SHIFT, f[7], f[4])
        else:
            coverage.record_object(is_alloc, f[5], f[7], f[4])
    coverage.end()
    return coverage, n_records


def read_exceptions(path, version):
    """Return (kind, difference, functions by cause, may be absent, text) of each
    line."""
    exceptions = []
    with open(path, encoding="utf-8") as f:
        for line in f:
            words = line.split(None, 4)
            if not words or line.startswith("#"):
                continue
            kind, what, functions, versions, _ = words
            for name in versions.split(","):
                if name.rstrip("?") == version:
                    causes = [set(cause.split("+"))
                              for cause in functions.split(">")]
                    exceptions.append((kind, what, causes, name.endswith("?"),
                                       line.strip()))
    return exceptions


def names(cause, symbols):
    """Return the functions of a call site or of callers, innermost first."""
    return [symbols.function(address).removesuffix("_noprof")
            for address in (cause if isinstance(cause, tuple) else (cause,))]


def describe(causes, symbols):
    return " | ".join(" < ".join(names(cause, symbols)) for cause in causes)


def matches(exception, kind, what, causes, symbols):
    return (exception[:2] == (kind, what) and len(exception[2]) == len(causes)
            and all(wanted <= set(names(cause, symbols))
                    for wanted, cause in zip(exception[2], causes)))


def judge(coverage, symbols, exceptions):
    """Print the differences by exception; return the number of problems."""
    explained = collections.Counter()
    unexplained = collections.Counter()
    for (kind, what, causes), n in coverage.found.items():
        for exception in exceptions:
            if matches(exception, kind, what, causes, symbols):
                explained[exception[4]] += n
                break
        else:
            unexplained[kind, what, describe(causes, symbols)] += n
    problems = 0
    for exception in exceptions:
        n = explained[exception[4]]
        absent = not n and not exception[3]
        problems += absent
        print(f"coverage.py: {n} {exception[4]}"
              + ("   <-- NEVER OCCURRED" if absent else ""))
    for (kind, what, causes), n in coverage.broken.most_common(20):
        problems += 1
        print(f"coverage.py: COUNT {n} {kind} {what}: "
              + describe((causes,), symbols))
    for (kind, what, causes), n in unexplained.most_common(40):
        print(f"coverage.py: UNEXPLAINED {n} {kind} {what}: {causes}")
    n_explained = sum(explained.values())
    n_unexplained = sum(unexplained.values())
    print(f"coverage.py: {n_explained} differences explained,"
          f" {n_unexplained} not explained")
    return problems + n_unexplained


def main():
    args = sys.argv[1:]
    n_dropped = None
    if args[:1] == ["--drop"]:
        n_dropped = int(args[1])
        args = args[2:]
    if len(args) != 3:
        sys.exit(__doc__)
    exceptions = read_exceptions(args[0], args[1])
    symbols = capture.Symbols(args[2])
    coverage, n_records = compare(args[2], symbols, n_dropped)
    for kind in "pages", "slab":
        c = coverage.counted
        print(f"coverage.py: {kind}: {c[kind, ALLOC]} counted allocations,"
              f" {c[kind, FREE]} frees, {c[kind, CHANGE]} changes")
    for kind in "pages", "kmalloc", "cache":
        print(f"coverage.py: {kind}: {n_records[kind, True]} records of allocations,"
              f" {n_records[kind, False]} of frees")
    return 1 if judge(coverage, symbols, exceptions) else 0


if __name__ == "__main__":
    sys.exit(main())
