#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Compare the live memory of each call site in a capture with /proc/allocinfo.

The records between two marks are those during which allocinfo was read. The live
memory of a call site takes several values in that time, and the value in allocinfo
must be one of them or lie between them; without a record in that time, the two are
equal. Each other difference must have one of the reasons of explain()."""
import argparse
import collections
import json
import pathlib
import re
import subprocess
import sys

import capture

Site = collections.namedtuple("Site", "file line module function")
Amount = collections.namedtuple("Amount", "calls bytes")

# Larger kmalloc() requests allocate pages, which allocinfo counts as pages.
KMALLOC_CACHE_MAX = 8192

# Caches whose objects allocinfo does not count (SLAB_NO_OBJ_EXT).
UNCOUNTED_CACHES = ("kmem_cache", "kmem_cache_node")

NOTHING = Amount(0, 0)

# Functions that allocated memory before the first event: the page extensions, the
# page tables and areas of vmalloc, the caches, and what kmemtrace needs to begin.
BEFORE = {
    "mm/page_ext.c": ("alloc_page_ext",),
    "mm/memory.c": ("__pte_alloc_kernel", "__pmd_alloc", "__pud_alloc",
                    "__p4d_alloc"),
    "mm/slub.c": ("alloc_slab_page", "bootstrap_cache_sheaves",
                  "init_kmem_cache_nodes"),
    "mm/shrinker.c": ("shrinker_alloc",),
    "mm/vmalloc.c": ("preload_this_cpu_lock", "alloc_vmap_area",
                     "__get_vm_area_node", "vmap_init_free_space"),
    "kernel/tracepoint.c": ("allocate_probes",),
    "kernel/relay.c": ("relay_alloc_page_array", "relay_alloc_page",
                       "relay_create_buf", "__relay_open"),
    "mm/kmemtrace/caches.c": ("kmemtrace_number_cache",),
    "mm/kmemtrace/marks.c": ("kmemtrace_new_row", "kmemtrace_add_name"),
    "mm/kmemtrace/memory.c": ("kmemtrace_buffers_open",),
    "mm/kmemtrace/tags.c": ("kmemtrace_tags_attach",),
    "mm/kmemtrace/tasks.c": ("kmemtrace_alloc_tasks",),
    "mm/kmemtrace/unwind.c": ("kmemtrace_alloc_cache",),
    "lib/stackdepot.c": ("stack_depot_init", "stack_depot_reserve"),
}
# Functions whose memory lies partly in caches without extensions, where the
# allocator avoids recursion.
NO_EXTENSIONS = ("alloc_slab_obj_exts", "__alloc_empty_sheaf")


def read_tags(directory):
    """Return {address: Site} of the table tags."""
    tags = {}
    rows, about = capture.table(directory, "tags")
    assert about["dropped"] == "0", about
    for address, went, module, line, function, file in rows:
        assert went == "-", "no module was unloaded"
        assert int(address, 16) not in tags, f"two lines of {address}"
        tags[int(address, 16)] = Site(file, int(line),
                                      "" if module == "-" else module, function)
    return tags


def read_allocinfo(path):
    """Return {Site: Amount}. A function in a header has a tag in each source file
    that includes it, so several lines may have the same text."""
    sites = collections.defaultdict(lambda: Amount(0, 0))
    pattern = re.compile(r"\s*(-?\d+)\s+(\d+) (\S+):(\d+)(?: \[(\S+)\])? "
                         r"func:(\S+)")
    for line in path.read_text().splitlines():
        match = pattern.match(line)
        if match:
            site = Site(match[3], int(match[4]), match[5] or "", match[6])
            old = sites[site]
            sites[site] = Amount(old.calls + int(match[2]),
                                 old.bytes + int(match[1]))
    return dict(sites)


def report(directory, *options):
    """Return the JSON report of a capture."""
    run = subprocess.run(["kmemtrace-report", "--json", *options, directory],
                         check=True, stdout=subprocess.PIPE)
    return json.loads(run.stdout)


class Memory:
    """The live memory of each call site, as allocinfo counts it."""

    def __init__(self, directory, cpus):
        self.tags = read_tags(directory)
        self.caches = {number: cache[4] for number, cache
                       in capture.caches(directory).items()}
        self.cpus = cpus
        self.objects = {}
        # All live memory: {(namespace, address): (call site, kind, bytes)}.
        self.live = {}
        # The call site of the page that was split last, by the CPU that splits.
        self.split = {}
        self.now = collections.defaultdict(lambda: Amount(0, 0))
        # The kinds of memory that a call site allocated.
        self.kinds = collections.defaultdict(set)
        # Untagged allocations that were made outside of interrupts.
        self.in_task = set()
        # Values of each call site since begin().
        self.values = collections.defaultdict(set)
        self.first_value = None

    def counted(self, event):
        """Return the bytes of an allocation in allocinfo; None: it is not counted, or
        only its pages are."""
        name = capture.TYPES[event.type_id]
        if name == "vmalloc" or (name == "kmalloc" and
                                 event.bytes_alloc > KMALLOC_CACHE_MAX):
            return None
        if name == "cache" and (self.caches.get(event.cache)
                                in UNCOUNTED_CACHES):
            return None
        if name == "percpu":
            return event.bytes_alloc // self.cpus
        return event.bytes_alloc

    def add(self, site, sign, size):
        """Add an object of a call site, or with sign -1 remove one."""
        old = self.now[site]
        self.now[site] = Amount(old.calls + sign, old.bytes + sign * size)
        if self.first_value is not None:
            self.values[site].add(self.now[site])

    def site(self, event):
        """Return the call site of an allocation. The parts of a split page keep the
        tag of the page in allocinfo, so they have the call site of the page."""
        tag = self.tags.get(event.call_site)
        if tag:
            return tag
        if capture.TYPES[event.type_id] == "pages" and not event.gfp:
            return self.split.get(event.cpu, event.call_site)
        if not event.flags & (capture.HARDIRQ | capture.SOFTIRQ):
            self.in_task.add(event.call_site)
        return event.call_site

    def take(self, event):
        """Account an event. allocinfo counts deferred memory until its release."""
        if event.event_id == capture.DEFER:
            return
        name = capture.TYPES[event.type_id]
        key = "slab" if name in capture.SLAB else name, event.ptr
        old = self.objects.pop(key, None)
        self.live.pop(key, None)
        if old:
            self.add(old[0], -1, old[1])
        if event.event_id != capture.ALLOC:
            if name == "pages":
                self.split[event.cpu] = old[0] if old else event.call_site
            return
        self.live[key] = event.call_site, name, event.bytes_alloc
        size = self.counted(event)
        if size is not None:
            site = self.site(event)
            self.objects[key] = site, size
            self.kinds[site].add(name)
            self.add(site, 1, size)

    def begin(self):
        """Begin the time in which allocinfo is read."""
        self.first_value = dict(self.now)

    def values_of(self, site):
        """Return the amounts of a call site since begin()."""
        return self.values[site] | {self.first_value.get(site, NOTHING)}

    def untagged(self):
        """Return {call site without a tag: Amount} of the live memory."""
        return {site: amount for site, amount in self.now.items()
                if not isinstance(site, Site) and amount.calls}

    def sums(self):
        """Return {(call site, kind): Amount} of all live memory."""
        sums = collections.defaultdict(lambda: Amount(0, 0))
        for site, name, size in self.live.values():
            old = sums[site, name]
            sums[site, name] = Amount(old.calls + 1, old.bytes + size)
        return dict(sums)


def compare_report(memory, directory):
    """Compare the live memory at the first mark with the report, and the source
    lines in the report with the table. Return the number of differences."""
    sums = memory.sums()
    wrong = 0
    for group in report(directory, "--lines", "0", "--time",
                        "0,marker:allocinfo_begin")["callsites"]:
        address = int(group["address"], 16)
        amount = Amount(group["live_objects"], group["live_bytes_allocated"])
        source = group["source"] or {"file": None, "line": None}
        tag = memory.tags.get(address) or Site(None, None, None, None)
        if (amount != sums.pop((address, group["kind"]), NOTHING) or
                (source["file"], source["line"]) != (tag.file, tag.line)):
            print(f"the report differs: {group}")
            wrong += 1
    for key, amount in sums.items():
        print(f"the report lacks {key}: {amount}")
    return wrong + len(sums)


def explain(memory, untagged, site, has):
    """Return the reason why allocinfo differs from the capture, or None."""
    values = memory.values_of(site)
    low = Amount(*(min(v[i] for v in values) for i in (0, 1)))
    high = Amount(*(max(v[i] for v in values) for i in (0, 1)))
    if all(low[i] <= has[i] <= high[i] for i in (0, 1)):
        return "changed while allocinfo was read"
    if memory.kinds[site] == {"percpu"} and has == NOTHING:
        return "per-CPU memory of the first chunk, which has no tags"
    if site.function in NO_EXTENSIONS and all(
            has[i] <= low[i] for i in (0, 1)):
        return "memory of caches without extensions, which have no tags"
    if site.function in BEFORE.get(site.file, ()) and all(
            has[i] >= high[i] for i in (0, 1)):
        return "memory from before the trace"
    for address, amount in untagged.items():
        if address not in memory.in_task and all(
                low[i] <= has[i] - amount[i] <= high[i] for i in (0, 1)):
            del untagged[address]
            return "allocated in an interrupt, where the tag is uncertain"
    return None


def compare_allocinfo(memory, info):
    """Compare each call site. Return the number of unexplained differences."""
    reasons = collections.Counter()
    untagged = memory.untagged()
    wrong = 0
    for site in sorted(set(info) | {s for s in memory.now
                                    if isinstance(s, Site)}):
        has = info.get(site, NOTHING)
        if memory.values_of(site) == {has}:
            reasons["equal, live" if has.calls else "equal, nothing live"] += 1
            continue
        reason = explain(memory, untagged, site, has)
        reasons[reason] += 1
        if reason and "changed" in reason:
            continue
        print(f"{site.file}:{site.line} {site.function}: allocinfo has {has}, "
              f"the capture {memory.first_value.get(site, NOTHING)}: "
              f"{reason or 'NOT EXPLAINED'}")
        wrong += not reason
    for address, amount in untagged.items():
        print(f"0x{address:x}: no tag, {amount}: NOT EXPLAINED")
    for reason, n in reasons.most_common():
        print(f"{n:5d}  {reason or 'not explained'}")
    if reasons["equal, live"] < 200:
        print("fewer than 200 call sites with live memory are equal")
        wrong += 1
    return wrong + len(untagged)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("directory", type=pathlib.Path,
                        help="with capture/, allocinfo, nproc, total_overruns")
    args = parser.parse_args()
    directory = args.directory / "capture"
    lost = int((args.directory / "total_overruns").read_text())
    info = read_allocinfo(args.directory / "allocinfo")
    marks = {m["text"]: m["timestamp"]
             for m in report(directory, "--marks")["marks"]}
    begin, end = marks["allocinfo_begin"], marks["allocinfo_end"]
    memory = Memory(directory, int((args.directory / "nproc").read_text()))
    wrong = lost
    if lost:
        print(f"{lost} events were lost")
    for event in capture.read(directory):
        if event.time > begin and memory.first_value is None:
            wrong += compare_report(memory, directory)
            memory.begin()
        if event.time > end:
            break
        memory.take(event)
    wrong += compare_allocinfo(memory, info)
    sys.exit(1 if wrong else 0)


if __name__ == "__main__":
    main()
