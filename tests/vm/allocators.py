#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Count what vm/scenarios/allocators.sh did with a slab allocator, and compare each
figure that two sources have: the report with the counts of the module, and the slabs of
the records with /proc/slabinfo and /proc/meminfo. docs/testing.md explains the bounds."""
import argparse
import collections
import heapq
import json
import os
import subprocess
import sys

import capture
import verdict

PAGE = 4096
MOMENTS = ("begin", "full", "end")
# Functions that allocate the pages of a slab, with all kernels and inlining decisions.
SLAB_FUNCTIONS = {"allocate_slab", "new_slab", "kmem_getpages", "cache_grow_begin",
                  "cache_alloc_refill", "____cache_alloc_node", "slob_new_pages",
                  "slob_alloc"}
# Columns of a line of /proc/kmt_mixture.
COUNTS = ("allocs", "bytes", "usable", "frees", "freed_bytes", "freed_usable",
          "cross_cpu_frees")
# Bounds in pages: slabs that are older than the first record, and the change between a
# mark and the moment at which the kernel's own figures are read.
OLD_PAGES = 96
LATE_PAGES = 24


# --- Files of the guest -------------------------------------------------------------

def read_text(folder, name):
    """Return a file of the guest, None if it does not exist."""
    try:
        with open(os.path.join(folder, name), encoding="ascii") as f:
            return f.read()
    except FileNotFoundError:
        return None


def module_counts(folder, moment):
    """Return the counts of the module by kind."""
    return {words[0]: dict(zip(COUNTS, map(int, words[1:])))
            for words in map(str.split,
                             read_text(folder, f"{moment}.counts").splitlines())}


def slab_memory(folder, moment):
    """Return the bytes of Slab in meminfo."""
    for line in read_text(folder, f"{moment}.meminfo").splitlines():
        if line.startswith("Slab:"):
            return int(line.split()[1]) * 1024
    raise SystemExit(f"allocators: {moment}.meminfo of {folder} has no line Slab")


def slabinfo(folder, moment):
    """Return (object size, objects per slab, pages per slab, slabs) of each cache, None
    with SLOB, which has no slabinfo."""
    text = read_text(folder, f"{moment}.slabinfo")
    if text is None:
        return None
    caches = []
    for line in text.splitlines()[2:]:
        words = line.split()
        caches.append((int(words[3]), int(words[4]), int(words[5]),
                       int(words[words.index("slabdata") + 2])))
    return caches


def report(folder, *options):
    """Return the document of kmemtrace-report."""
    out = subprocess.run(["kmemtrace-report", "--json", *options,
                          os.path.join(folder, "capture")],
                         check=True, stdout=subprocess.PIPE).stdout
    return json.loads(out)


# --- Slabs of the records -----------------------------------------------------------

def records(directory, cpu):
    """Yield (time, event, type, call site, address, allocated bytes) of a CPU."""
    size = capture.record_size(directory)
    with open(os.path.join(directory, f"cpu{cpu}.out"), "rb") as f:
        data = f.read()
    for fields in capture.record_struct(directory).iter_unpack(
            data[:len(data) // size * size]):
        if fields[0] in (capture.ALLOC, capture.FREE):
            yield (fields[9], fields[0], fields[1], fields[4], fields[5], fields[7])


class Live:
    """The slabs and the slab objects that are live at a moment."""

    def __init__(self, directory):
        self.symbols = capture.Symbols(directory)
        self.is_slab_site = {}
        self.slabs = {}     # bytes by address
        self.objects = {}   # allocated bytes by address

    def step(self, record):
        """Process the next record."""
        _, event, kind, site, address, size = record
        if capture.TYPES[kind] in capture.SLAB:
            live = self.objects
        elif capture.TYPES[kind] == "pages":
            live = self.slabs
        else:
            return
        if event == capture.FREE:
            live.pop(address, None)
        elif live is self.objects or self.makes_slabs(site):
            live[address] = size

    def makes_slabs(self, site):
        """Return whether a call site allocates the pages of slabs."""
        if site not in self.is_slab_site:
            self.is_slab_site[site] = self.symbols.function(site) in SLAB_FUNCTIONS
        return self.is_slab_site[site]


def room(caches, size, slab_bytes):
    """Return how many objects of a size fit into a slab. SLUB and SLAB have caches of
    equal size with slabs of different size."""
    found = [per_slab for object_size, per_slab, pages, _ in caches
             if object_size == size and pages * PAGE == slab_bytes]
    return max(found, default=slab_bytes // size)


def slab_figures(live, caches):
    """Return the figures of the slabs at a moment."""
    slab_of_page = {address + offset: address for address, size in live.slabs.items()
                    for offset in range(0, size, PAGE)}
    counts = collections.Counter()
    used = collections.Counter()
    size_of = {}
    large = 0
    for address, size in live.objects.items():
        slab = slab_of_page.get(address // PAGE * PAGE)
        if slab is None:
            # kmalloc() of a large size: pages, but no slab.
            large += size if size >= PAGE else 0
            continue
        counts[slab] += 1
        used[slab] += size
        size_of[slab] = size
    full = 0
    for slab, n in counts.items():
        total = live.slabs[slab]
        # A page of SLOB has objects of many sizes.
        full += used[slab] >= total if caches is None else \
            n >= room(caches, size_of[slab], total)
    return {"slabs": len(live.slabs), "slab_bytes": sum(live.slabs.values()),
            "used_bytes": sum(used.values()), "large_bytes": large,
            "full_slabs": full, "partial_slabs": len(counts) - full,
            "empty_slabs": len(live.slabs) - len(counts)}


def slabs_at(folder, times):
    """Return the figures of the slabs at each moment."""
    directory = os.path.join(folder, "capture")
    live = Live(directory)
    left = [m for m in MOMENTS]
    found = {}
    for record in heapq.merge(*(records(directory, cpu)
                                for cpu in capture.cpus(directory)),
                              key=lambda r: r[0]):
        while left and record[0] > times[left[0]]:
            found[left[0]] = slab_figures(live, slabinfo(folder, left[0]))
            left.pop(0)
        live.step(record)
    for moment in left:
        found[moment] = slab_figures(live, slabinfo(folder, moment))
    return found


# --- Comparisons --------------------------------------------------------------------

def compare_counts(allocator, moment, kinds, counts):
    """Compare the figures of the report with the counts of the module."""
    for kind, mine in counts.items():
        reported = kinds[kind]
        pairs = [("allocs", "allocs"), ("frees", "frees"), ("bytes", "bytes_requested"),
                 ("cross_cpu_frees", "cross_cpu_frees")]
        # ksize() leaves out the bytes before an object of SLOB, and those that align
        # an object of SLAB. The module cannot call it for objects of a cache.
        if kind == "kmalloc" and allocator == "SLUB":
            pairs.append(("usable", "bytes_allocated"))
        for ours, theirs in pairs:
            verdict.equal(f"{moment}: {kind}, {theirs}", reported[theirs], mine[ours])
        verdict.equal(f"{moment}: {kind}, live_bytes_requested",
                      reported["live_bytes_requested"],
                      mine["bytes"] - mine["freed_bytes"])


def near(what, pages, wanted, bound):
    """Expect a number of pages that differs by at most @bound."""
    verdict.holds(f"{what}: {pages} pages, the records have {wanted}", pages - wanted,
                  abs(pages - wanted) <= bound)


def compare_slabs(folder, slabs):
    """Compare the slabs of the records with the figures of the kernel."""
    begin = slabs["begin"]
    memory = {m: slab_memory(folder, m) // PAGE for m in MOMENTS}
    for moment in MOMENTS:
        mine = slabs[moment]
        caches = slabinfo(folder, moment)
        pages = mine["slab_bytes"] // PAGE
        if caches is not None:
            near(f"{moment}: slabinfo", sum(n * size for *_, size, n in caches), pages,
                 OLD_PAGES)
        with_large = (mine["slab_bytes"] + mine["large_bytes"]) // PAGE
        # Large objects that are older than the first record are in meminfo alone.
        near(f"{moment}: growth in meminfo", memory[moment] - memory["begin"],
             with_large - (begin["slab_bytes"] + begin["large_bytes"]) // PAGE,
             LATE_PAGES)


# --- Figures ------------------------------------------------------------------------

def name_of(folder):
    """Return the name of the allocator."""
    return read_text(folder, "allocator").strip()


def sums(totals):
    """Return the sums of a T of the report."""
    return {key: totals[key] for key in
            ("allocs", "frees", "bytes_requested", "bytes_allocated", "bytes_wasted",
             "cross_cpu_frees")}


def figures(folder):
    """Compare all figures, and return them."""
    allocator = name_of(folder)
    marks = report(folder, "--marks")["marks"]
    times = {m["text"]: m["timestamp"] for m in marks if m["name"] == "marker"}
    verdict.equal("moments", sorted(times), sorted(MOMENTS))
    verdict.equal("lost events", int(read_text(folder, "total_overruns")), 0)
    if verdict.failed():
        return None
    slabs = slabs_at(folder, times)
    compare_slabs(folder, slabs)
    for moment in MOMENTS:
        kinds = report(folder, "--time", f",marker:{moment}")["kinds"]
        slabs[moment] |= {key: kinds["slab"][key] for key in
                          ("live_objects", "live_bytes_requested",
                           "live_bytes_allocated")}
    for moment in MOMENTS[1:]:
        span = ("--time", f"marker:begin,marker:{moment}")
        module = report(folder, *span, "--callsite", "mixture_*")["kinds"]
        compare_counts(allocator, moment, module, module_counts(folder, moment))
    sheaves = [int(line.split()[1])
               for line in read_text(folder, "sheaves").splitlines()]
    return {"allocator": allocator, "release": read_text(folder, "release").strip(),
            "has_sheaves": bool(sheaves) and all(sheaves),
            "work": sums(report(folder, *span)["kinds"]["slab"]),
            "module": sums(module["slab"]), "moments": slabs}


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--json", metavar="FILE", help="write the figures to FILE")
    parser.add_argument("folder", help="what the guest left in /out")
    args = parser.parse_args()
    found = figures(args.folder)
    if args.json and not verdict.failed():
        with open(args.json, "w", encoding="utf-8") as f:
            json.dump(found, f, indent=1)
            f.write("\n")
    sys.exit(1 if verdict.failed() else 0)


if __name__ == "__main__":
    main()
