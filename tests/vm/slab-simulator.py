#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Compare the slabs that lib/slab simulates for a capture from boot with the
guest's /proc/slabinfo, which the capture contains.

    slab-simulator.py SIMULATE-SLABS CAPTURE

SIMULATE-SLABS is the program tests/slab/simulate-slabs. docs/testing.md states the
bounds and the reasons for the differences."""
import argparse
import subprocess
import sys
from typing import NamedTuple

import capture

# Largest difference of the pages of all caches, and of the slabs of a cache that has
# at least MANY_SLABS.
TOTAL_BOUND = 0.05
CACHE_BOUND = 0.15
MANY_SLABS = 20
# Caches whose sheaves the kernel fills in advance, without a record.
PREFILLED = {"maple_node"}
# A capture from boot has at least this number of pages in simulated caches.
LEAST_PAGES = 500


class Cache(NamedTuple):
    """A line of SIMULATE-SLABS."""
    name: str
    size: int
    live: int
    active: int
    slabs: int
    pages: int
    peak_pages: int
    real_objects: int
    real_active: int
    real_slabs: int
    real_pages: int


def parse(text):
    """Return the caches that have a row in slabinfo, and the names of the others."""
    caches, without = [], []
    for line in text.splitlines():
        if line.startswith("#"):
            continue
        name, *numbers = line.split(" ")
        if "-" in numbers:
            without.append(name)
        else:
            caches.append(Cache(name, *map(int, numbers)))
    return sorted(caches, key=lambda c: -c.real_pages), without


def difference(simulated, real):
    """Return the difference as a part of the real number."""
    return (simulated - real) / real


def has_sheaves(directory):
    """Return whether SLUB of this kernel has sheaves."""
    release = capture.meta(directory)["kernel_release"]
    return int(release.split(".")[0]) >= 7


def failures(caches, may_be_prefilled):
    """Yield a description of each bound that is exceeded."""
    pages = sum(c.real_pages for c in caches)
    total = difference(sum(c.pages for c in caches), pages)
    if pages < LEAST_PAGES:
        yield f"{pages} pages are too few for a capture from boot"
    if abs(total) > TOTAL_BOUND:
        yield f"all caches: pages differ by {total:+.1%}"
    for cache in caches:
        part = difference(cache.slabs, cache.real_slabs) if cache.real_slabs else 0
        is_prefilled = may_be_prefilled and cache.name in PREFILLED
        if (cache.real_slabs >= MANY_SLABS and abs(part) > CACHE_BOUND
                and not is_prefilled):
            yield f"{cache.name}: slabs differ by {part:+.1%}"
        # No slab can be simulated for an object that was not recorded, but the
        # objects that were must fit into those that slabinfo has.
        if cache.live > cache.real_objects:
            yield (f"{cache.name}: {cache.live} live objects, but slabinfo has "
                   f"{cache.real_objects}")


def show(caches, without):
    """Print the caches with the most pages."""
    print(f"{'cache':24} {'live':>7} {'slabs':>6} {'real':>6} {'pages':>6} "
          f"{'real':>6} {'active':>7} {'real':>7}")
    for c in caches[:25]:
        print(f"{c.name:24} {c.live:7} {c.slabs:6} {c.real_slabs:6} {c.pages:6} "
              f"{c.real_pages:6} {c.active:7} {c.real_active:7}")
    pages = sum(c.pages for c in caches)
    real = sum(c.real_pages for c in caches)
    exact = sum(c.slabs == c.real_slabs for c in caches)
    print(f"{len(caches)} caches: {pages} pages simulated, {real} in slabinfo "
          f"({difference(pages, real):+.2%}); {exact} caches have equal slabs; "
          f"{len(without)} caches are not in slabinfo")


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("program", metavar="SIMULATE-SLABS")
    parser.add_argument("capture", metavar="CAPTURE")
    arguments = parser.parse_args()
    done = subprocess.run([arguments.program, arguments.capture],
                          stdout=subprocess.PIPE, text=True, check=True)
    caches, without = parse(done.stdout)
    if not caches:
        sys.exit(f"{arguments.capture}: no cache has a row in slabinfo")
    show(caches, without)
    found = list(failures(caches, has_sheaves(arguments.capture)))
    for failure in found:
        print("FAIL:", failure)
    sys.exit(1 if found else 0)


if __name__ == "__main__":
    main()
