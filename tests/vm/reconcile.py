#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Compare the live objects of a capture with the guest's /proc/slabinfo.

Both are counted by object size, because a record has the size of an object but
not its cache. docs/testing.md explains the bounds."""
import argparse
import collections
import json
import pathlib
import subprocess
import sys

import capture

# Larger kmalloc() requests allocate pages instead of cache objects.
KMALLOC_CACHE_MAX = 8192

# Number of objects of a size that may be allocated or freed between the end of the
# trace and the reading of slabinfo.
NOISE = 4

# Objects from before the trace: the descriptors of the caches created until then.
# SLAB allocates the node descriptors with kmalloc.
EARLY = {"kmem_cache": 40, "kmem_cache_node": 40}
EARLY_SLAB = {"kmem_cache": 40, "kmalloc-96": 40}


# Bytes that the table of caches allocates for each cache, just before the first
# event: a struct and a name.
TABLE_ENTRY = 57


def table_entries(directory, caches):
    """Return the number of table objects by size for the caches of slabinfo. The
    objects of SLAB may be larger than the cache's name states."""
    kmalloc = {int(name[8:]): size for name, _, size, _ in caches
               if name.startswith("kmalloc-") and name[8:].isdigit()}
    return collections.Counter(
        kmalloc[min(n for n in kmalloc if n >= TABLE_ENTRY + len(name))]
        for _, _, created, _, name in capture.caches(directory).values()
        if not created)


def live_objects(events):
    """Return {ptr: bytes} of the objects live at the end.

    The balance of allocations and frees of an address is counted, so that the
    order of two records of different CPUs with close times does not matter."""
    balance = collections.Counter()
    size = {}
    for event in events:
        ptr = event.ptr
        # Deferred objects still count as active in slabinfo.
        if (capture.TYPES[event.type_id] not in capture.SLAB
                or event.event_id == capture.DEFER):
            continue
        if event.event_id == capture.ALLOC:
            balance[ptr] += 1
            size[ptr] = event.bytes_alloc
        else:
            if ptr not in balance:
                balance[ptr] = 1    # allocated before the trace
            balance[ptr] -= 1
    wrong = {p: n for p, n in balance.items() if n not in (0, 1)}
    return {p: size[p] for p, n in balance.items() if n == 1}, wrong


def slab_caches(path):
    """Return the caches as (name, active objects, object size, objects per slab)."""
    caches = []
    for line in path.read_text().splitlines()[2:]:
        word = line.split()
        caches.append((word[0], int(word[1]), int(word[3]), int(word[4])))
    return caches


def reported_live(directory):
    """Return the number of live slab objects that kmemtrace-report prints."""
    out = subprocess.run(["kmemtrace-report", "--json", directory], check=True,
                         stdout=subprocess.PIPE).stdout
    return json.loads(out)["kinds"]["slab"]["live_objects"]


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--kept", type=int, required=True, metavar="N",
                        help="free objects that a CPU may keep of a cache and "
                        "that count as active; -1: as many as a slab has")
    parser.add_argument("directory", type=pathlib.Path,
                        help="with capture/, slabinfo and nproc")
    args = parser.parse_args()

    directory = args.directory / "capture"
    cpus = int((args.directory / "nproc").read_text())
    live, wrong = live_objects(capture.read(directory))
    traced = collections.Counter(live.values())
    active = collections.Counter()
    caches = slab_caches(args.directory / "slabinfo")
    kept = table_entries(directory, caches)
    early = (EARLY if any(c[0] == "kmem_cache_node" for c in caches)
             else EARLY_SLAB)
    names = collections.defaultdict(list)
    for name, objects, size, per_slab in caches:
        active[size] += objects
        if objects:
            kept[size] += cpus * (per_slab if args.kept < 0 else args.kept)
            kept[size] += early.get(name, 0)
            names[size].append(name)

    failed = bool(wrong)
    if wrong:
        print(f"{len(wrong)} addresses do not balance")
    print("  size   traced   active     diff   bound  caches")
    for size in sorted(set(traced) | set(active)):
        if size > KMALLOC_CACHE_MAX and not active[size]:
            continue
        diff = active[size] - traced[size]
        high = kept[size] + NOISE
        good = -NOISE <= diff <= high
        failed |= not good
        if diff or traced[size]:
            print(f"{size:6d} {traced[size]:8d} {active[size]:8d} {diff:+8d} "
                  f"{high:7d}  {','.join(names[size])}"
                  f"{'' if good else '   <-- OUT OF BOUND'}")
    total = sum(n for size, n in traced.items() if active[size])
    print(f"in all {total} traced, {sum(active.values())} active")
    reported = reported_live(directory)
    print(f"kmemtrace-report has {reported} live, counted here: {len(live)}")
    failed |= reported != len(live)
    sys.exit(1 if failed else 0)


main()
