#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Check that the kernel records only selected events and counts omitted ones.

Usage: control.py OUT

OUT is the output of vm/scenarios/control.sh: captures with events disabled and
with filters, and copies of info."""
import collections
import json
import os
import re
import subprocess
import sys

import capture
from verdict import equal, failed, holds

SAMPLE, STORM = 10, 2000


def info(path):
    """Return the keys of info, and lists of its lines' words by first word."""
    keys, lines = {}, collections.defaultdict(list)
    with open(path) as f:
        for line in f:
            match = re.match(r"# (\w+): (.*)", line)
            if match:
                keys[match[1]] = match[2]
            else:
                lines[line.split()[0]].append(line.split()[1:])
    return keys, lines


def check(directory):
    """Return the findings of kmemtrace-check, which must not include errors."""
    run = subprocess.run(["kmemtrace-check", "--json", directory],
                         capture_output=True, text=True, check=False)
    equal(f"{os.path.basename(directory)}: exit of the check",
          run.returncode, 0)
    return json.loads(run.stdout)


class Judged:
    """A capture, checked by kmemtrace-check."""

    def __init__(self, out, name):
        self.name = name
        self.directory = os.path.join(out, name)
        self.meta = capture.meta(self.directory)
        self.events = capture.read(self.directory)
        self.symbols = capture.Symbols(self.directory)
        self.check = check(self.directory)
        equal(f"{name}: lost", self.meta["overruns"], "0")

    def allocs(self, kind=None):
        return [e for e in self.events if e.event_id == capture.ALLOC
                and kind in (None, capture.TYPES[e.type_id])]

    def frees(self, *kinds):
        return [e for e in self.events if e.event_id == capture.FREE
                and (not kinds or capture.TYPES[e.type_id] in kinds)]

    def storm(self, events):
        return sum(self.symbols.function(e.call_site) == "storm_write"
                   for e in events)

    def expect_meta(self, **keys):
        for key in ("events_off", "filter", "filter_changed", "filter_frees",
                    "sample"):
            equal(f"{self.name}: {key}", self.meta.get(key), keys.get(key))


def judge_info(out):
    """Check the contents of info."""
    keys, lines = info(os.path.join(out, "info-before"))
    equal("version and size of the records",
          (keys["abi_version"], keys["record_size"]), ("3", "64"))
    equal("records", [words[1] for words in lines["record"]],
          ["alloc", "free", "lost", "mark", "more", "stop", "defer"])
    equal("text", [words[1:] for words in lines["field"] if words[1] == "text"],
          [["text", "16", "32", "unsigned"]])
    # Recompute the size of each record from the fields alone.
    records, record = {}, None
    with open(os.path.join(out, "info-before")) as f:
        for words in map(str.split, f):
            if words[0] == "record":
                record = records.setdefault(words[2], [])
            elif words[0] == "field":
                record.append(words[1:])
    equal("bytes of the fields of an allocation",
          sum(int(field[3]) for field in records["alloc"]), 64)
    equal("place of pid", [f[1:] for f in records["alloc"] if f[0] == "pid"],
          [["u32", "56", "4", "unsigned"]])
    equal("place of node", [f[1:] for f in records["free"] if f[0] == "node"],
          [["s32", "4", "4", "signed"]])
    equal("types", [words[1] for words in lines["type"]],
          list(capture.TYPES))
    states = {words[0]: words[3:5] for words in lines["event"]}
    equal("all events are on", {tuple(s) for s in states.values()},
          {("on", "whole")})
    equal("events of memory", {"kmalloc", "kfree", "cache_alloc",
          "cache_free", "page_alloc", "page_free",
          "percpu_alloc", "percpu_free", "vmalloc",
          "vfree", "kfree_rcu", "vfree_rcu"} - set(states), set())
    states = {words[0]: words[3:5] for words in
              info(os.path.join(out, "info-off"))[1]["event"]}
    equal("kfree is off", states["kfree"], ["off", "missed"])
    keys, lines = info(os.path.join(out, "info-changes"))
    equal("a filter that was changed", (keys["filter"], keys["filtered"],
          keys["sample"], keys["frees"]),
("none", "changed", "0", "all"))
    states = {words[0]: words[3:5] for words in lines["event"]}
    equal("events that were off", {n for n, s in states.items()
          if s == ["on", "missed"]},
{"kmalloc", "kfree", "cache_alloc", "page_free"})
    keys, lines = info(os.path.join(out, "info-after"))
    equal("nothing is left of it", (keys["filtered"], keys["sample"],
          keys["frees"]), ("no", "1", "exact"))
    with open(os.path.join(out, "modes")) as f:
        equal("who may read and write", f.read().split(),
              ["-r--------", "--w-------", "-rw-------", "-rw-------"])


def judge_off(out):
    off = Judged(out, "off")
    off.expect_meta(events_off="kfree;")
    equal("off: frees by kfree", len(off.frees("kmalloc")), 0)
    equal("off: allocations of the storm", off.storm(off.allocs()), 1000)
    holds("off: other frees", len(off.frees()), off.frees())
    run = subprocess.run(["kmemtrace-report", "--leaks", "--windows", "4",
                          off.directory],
                         capture_output=True, text=True, check=True)
    holds("off: the report names it", "Switched off:", re.search(
        r"^Switched off: +kfree", run.stdout, re.M))


def storm_bytes(out):
    """Return the bytes that an object of the storm takes."""
    with open(os.path.join(out, "bytes")) as f:
        return int(f.read())


def judge_sizes(out):
    size, storm = Judged(out, "size"), storm_bytes(out)
    size.expect_meta(filter=f"size={storm}", filter_frees="all")
    equal("size: bytes", {e.bytes_alloc for e in size.allocs()}, {storm})
    equal("size: allocations of the storm", size.storm(size.allocs()), STORM)
    equal("size: frees of the storm", size.storm(size.frees()), STORM)
    holds("size: pages freed", len(size.frees("pages")),
          size.frees("pages"))
    # Only frees of slab objects of that size are recorded, because the filter on a
    # free is exact.
    caches = capture.caches(size.directory)
    equal("size: of other caches",
          {caches[e.cache][4] for e in size.frees("cache")
           if e.cache and caches[e.cache][1] != storm}, set())

    sizes = Judged(out, "range")
    equal("range: smallest", min(e.bytes_alloc for e in sizes.allocs()) > 8192,
          True)
    equal("range: the storm", sizes.storm(sizes.events), 0)


def judge_cache(out):
    cache = Judged(out, "cache")
    storm = storm_bytes(out)
    cache.expect_meta(
        filter=f"cache=dent??,kmalloc-64,fil* size={storm}-2000",
        filter_frees="exact")
    names = capture.caches(cache.directory)
    equal("cache: of pages, vmalloc and per CPU",
          {e.type_id for e in cache.events} - {0, 1}, set())
    equal("cache: others", {names[e.cache][4] for e in cache.events
          if e.type_id == 1 and
          not re.match("dent..$|fil.*$|kmalloc-64$",
                       names[e.cache][4])}, set())
    equal("cache: size of what is kmalloc's",
          {e.bytes_alloc for e in cache.allocs("kmalloc")}, {storm})
    equal("cache: the storm", (cache.storm(cache.allocs()),
          cache.storm(cache.frees())), (STORM, STORM))
    holds("cache: dentries", len(cache.allocs("cache")),
          cache.allocs("cache"))
    # The check was strict, because the filter passes all frees of the recorded
    # objects.
    equal("cache: frees that loss might explain",
          cache.check["findings"]["unmatched_frees"]["after_loss"], 0)


def judge_pids(out):
    pid = Judged(out, "pid")
    with open(os.path.join(out, "pid.pid")) as f:
        number = int(f.read())
    pid.expect_meta(filter=f"pid={number}", filter_frees="all")
    equal("pid: who allocated", {e.pid for e in pid.allocs()}, {number})
    equal("pid: the storm of another", pid.storm(pid.allocs()), 0)
    equal("pid: and its frees", pid.storm(pid.frees()), STORM)

    children = Judged(out, "children")
    with open(os.path.join(out, "children.pid")) as f:
        number = int(f.read())
    children.expect_meta(filter=f"pid={number} children", filter_frees="all")
    tasks = capture.Tasks(children.directory)
    pids = {e.pid for e in children.allocs()}
    holds("children: who allocated", len(pids),
          number in pids and len(pids) > 2)
    equal("children: their names",
          {tasks.find(e.pid, e.time) for e in children.allocs()} -
          {"sh", "ls", "busybox", "true"}, set())


def judge_sample(out):
    sample = Judged(out, "sample")
    sample.expect_meta(filter=f"sample={SAMPLE}", filter_frees="all",
                       sample=str(SAMPLE))
    n = sample.storm(sample.allocs())
    # One of ten events is recorded; other work on the CPU adds only a few events.
    holds(f"sample: of {STORM} allocations of the storm", n,
          STORM / SAMPLE * .93 <= n <= STORM / SAMPLE * 1.07)
    equal("sample: all frees", sample.storm(sample.frees()), STORM)
    run = subprocess.run(["kmemtrace-report", "--json", "--by", "function",
                          "--lines", "0", sample.directory],
                         capture_output=True, text=True, check=True)
    report = json.loads(run.stdout)
    equal("sample: in the report", report["capture"]["sample"], SAMPLE)
    equal("sample: scaled", sum(
        g["allocs"] for g in report["groups"]
        if g["function"].split()[0] == "storm_write"), n * SAMPLE)


def judge_deferred(out):
    """Check the switch and the filter of the hand-over to kfree_rcu()."""
    for name, allocs, defers, frees, meta in (
            ("rcu", 500, 500, 500, {}),
            ("rcu-size", 500, 500, 500,
             {"filter": f"size={storm_bytes(out)}", "filter_frees": "all"}),
            ("rcu-other", 0, 0, 0,
             {"filter": "size=8193-", "filter_frees": "all"}),
            ("rcu-pid", 0, 500, 500, {"filter": "pid=1", "filter_frees": "all"}),
            ("rcu-off", 500, 0, 500, {"events_off": "kfree_rcu;"})):
        rcu = Judged(out, name)
        rcu.expect_meta(**meta)
        function = [(e.ptr, e.event_id) for e in rcu.events
                    if rcu.symbols.function(e.call_site) == "storm_rcu_write"]
        equal(f"{name}: allocations", sum(
            event_id == capture.ALLOC for _, event_id in function), allocs)
        handed = [ptr for ptr, event_id in function
                  if event_id == capture.DEFER]
        equal(f"{name}: hand-overs", len(handed), defers)
        # Without records of the hand-over, the addresses are those of allocations.
        mine = collections.Counter(
            handed or [ptr for ptr, _ in function])
        freed = sum(e.event_id == capture.FREE and e.ptr in mine
                    for e in rcu.events)
        holds(f"{name}: frees", freed, frees <= freed <= 2 * frees)


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    out = sys.argv[1]
    judge_info(out)
    judge_off(out)
    judge_sizes(out)
    judge_cache(out)
    judge_pids(out)
    judge_sample(out)
    judge_deferred(out)
    reset = capture.meta(os.path.join(out, "reset"))
    equal("a session begun anew is complete", reset["complete"], "false")
    check(os.path.join(out, "reset"))
    changes = Judged(out, "changes")
    equal("changes: filter", changes.meta["filter_changed"], "true")
    equal("changes: sample", changes.meta["sample"], "0")
    everything = Judged(out, "all")
    everything.expect_meta()
    equal("all: the storm", (everything.storm(everything.allocs()),
          everything.storm(everything.frees())),
(1000, 1000))
    return failed()


if __name__ == "__main__":
    sys.exit(main())
