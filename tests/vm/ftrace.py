#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Compare the recordings of the same work by relay and by ftrace.

    ftrace.py RELAY FTRACE

Only events between the first and the last kmalloc of the storm module on each
CPU are compared, because both recordings have these two events. Slab: for each
call site that ftrace records, relay must record the same number of events and
bytes. A call site that only relay records must be a gap that kmemtrace.meta
names. Pages: tracepoints report neither the caller nor a later split. Each page
allocation that ftrace records must be one that relay records, except those that
relay records in smaller parts."""
import collections
import os
import sys

import capture

# Functions that only relay records, and the gap that causes the difference.
GAPS = {
    "bulk": ("bulk", "mt_alloc", "mt_destroy", "mas_", "napi_", "__alloc_skb", "build_skb",
             "skb_", "kfree_skb", "io_", "xdp", "fq_"),
    "kfree_rcu": ("kfree_rcu", "kvfree_rcu", "rcu_"),
    "krealloc": ("krealloc",),
    "early": ("early_kmem_cache",),
}
# Functions whose pages are allocated in bulk.
PAGE_GAPS = ("__vmalloc_node_range", "__vmalloc_area_node", "page_pool_alloc")


def fail(*what):
    print("FAILED:", *what)
    sys.exit(1)


def marked(directory, symbols):
    """Return the events between the first and the last storm event, of all CPUs."""
    events = []
    for cpu in capture.cpus(directory):
        # Tracepoints have no event for the hand-over to kfree_rcu().
        mine = [e for e in capture.read_cpu(directory, cpu)
                if e.event_id != capture.DEFER]
        marks = [i for i, e in enumerate(mine)
                 if e.event_id == capture.ALLOC and e.type_id == 0
                 and symbols.function(e.call_site).startswith("storm_write")]
        if len(marks) < 3:
            fail(f"{directory}: {len(marks)} marks on CPU {cpu}")
        events.append(mine[marks[0]:marks[-1]])
    return events


def slab_sites(events):
    """Return {(event, type, call site): [count, requested bytes, allocated bytes]}."""
    found = collections.defaultdict(lambda: [0, 0, 0])
    for e in events:
        if capture.TYPES[e.type_id] not in capture.SLAB:
            continue
        entry = found[e.event_id, e.type_id, e.call_site]
        entry[0] += 1
        if e.event_id == capture.ALLOC:
            entry[1] += e.bytes_req
            entry[2] += e.bytes_alloc
    return found


def gap_of(name):
    for gap, parts in GAPS.items():
        if any(part in name for part in parts):
            return gap
    return None


def compare_slab(relay, ftrace, symbols):
    """Check that the counts are equal or the difference is a gap."""
    ours, theirs = slab_sites(relay), slab_sites(ftrace)
    unequal, gaps = [], collections.Counter()
    for key in sorted(set(ours) | set(theirs)):
        event, kind, site = key
        name = symbols.function(site)
        a, b = ours.get(key), theirs.get(key)
        if a == b:
            continue
        what = (f"{'alloc' if event == capture.ALLOC else 'free'} "
                f"{capture.TYPES[kind]} {name}: relay {a}, ftrace {b}")
        gap = gap_of(name)
        if b is None and gap:
            gaps[gap] += a[0]
            print("gap:", gap, what)
        else:
            unequal.append(what)
    equal = sum(ours.get(key) == value for key, value in theirs.items())
    total = sum(value[0] for value in theirs.values())
    print(f"slab: {equal} call sites with {total} events are equal; seen by "
          f"relay alone: {dict(gaps)}")
    if unequal:
        fail("not equal:", *("\n  " + line for line in unequal))
    if equal < 50 or total < 10000:
        fail("too little to tell anything")


def pages_of(events, event_id, physical):
    """Count the allocations or frees by page number and bytes."""
    found = collections.Counter()
    for e in events:
        if capture.TYPES[e.type_id] != "pages" or e.event_id != event_id:
            continue
        size = e.bytes_req if event_id == capture.ALLOC else 0
        found[(e.ptr & (1 << 46) - 1 if physical else e.ptr) >> 12, size] += 1
    return found


def compare_pages(relay, ftrace, symbols):
    """Compare pages. Relay has addresses in the linear mapping, ftrace physical
    addresses."""
    linear = min(page for page, _ in
                 pages_of(relay, capture.ALLOC, False)) >> 18 << 18
    for event, what in ((capture.ALLOC, "allocations"), (capture.FREE, "frees")):
        ours = collections.Counter(
            {(page - linear, size): n for (page, size), n in
             pages_of(relay, event, False).items()})
        theirs = pages_of(ftrace, event, True)
        n_only_ours = sum((ours - theirs).values())
        gaps = collections.Counter(
            symbols.function(e.call_site) for e in relay
            if e.event_id == event and capture.TYPES[e.type_id] == "pages")
        gaps = {name: n for name, n in gaps.items() if name in PAGE_GAPS}
        print(f"pages: {sum((ours & theirs).values())} {what} are in both, "
              f"{sum((theirs - ours).values())} in ftrace alone, {n_only_ours} in "
              f"relay alone; of gaps: {gaps}")
        if not theirs:
            fail("no pages")
        if theirs - ours:
            fail("ftrace sees what relay does not")
        # Functions in the gaps may also free single pages, which ftrace records.
        if event == capture.ALLOC and n_only_ours != sum(gaps.values()):
            fail("the difference is not that of the gaps")


def percpu_of(events):
    """Count allocated bytes on all CPUs; the tracepoint rounds the requested bytes."""
    return collections.Counter(
        (e.event_id, e.ptr, e.bytes_alloc if e.event_id == capture.ALLOC else 0)
        for e in events if capture.TYPES[e.type_id] == "percpu")


def compare_percpu(relay, ftrace):
    """Check that both recordings are equal."""
    ours, theirs = percpu_of(relay), percpu_of(ftrace)
    print(f"percpu: {sum((ours & theirs).values())} events are in both")
    if ours != theirs:
        fail("per-CPU memory is not equal: relay alone", ours - theirs,
             "ftrace alone", theirs - ours)
    if not theirs:
        fail("no per-CPU memory")


def main():
    relay, ftrace = sys.argv[1:]
    symbols = capture.Symbols(relay)
    ours, theirs = marked(relay, symbols), marked(ftrace, symbols)
    with open(os.path.join(ftrace, "kmemtrace.meta")) as f:
        meta = f.read()
    for gap in ("kmem_cache_alloc_bulk", "kfree_rcu", "krealloc"):
        if gap not in meta:
            fail(f"kmemtrace.meta does not name the gap {gap}")
    compare_slab(sum(ours, []), sum(theirs, []), symbols)
    compare_pages(sum(ours, []), sum(theirs, []), symbols)
    compare_percpu(sum(ours, []), sum(theirs, []))


main()
