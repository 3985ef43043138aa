#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Check the fields that version 2 adds to the records of version 1, in a capture
of version 2 or later.

The cache number of each record must name a cache that has the record's sizes and
existed at that time. Each pid must belong to a task with a known name. The known
work of the guest must appear among the caches, the tasks and the interrupts.
"""
import argparse
import collections
import sys

import capture
from verdict import failed, holds


def find_work(flags, by_cache, by_task):
    """Check that caches, tasks and interrupts of the known work appear."""
    for flag, text in ((capture.HARDIRQ, "hard"), (capture.SOFTIRQ, "soft")):
        n = sum(n for value, n in flags.items() if value & flag)
        holds(f"in {text} interrupts", n, n > 0)
    for text in ("dentry", "inode_cache", "vm_area_struct", "radix_tree_node",
                 "skbuff_head_cache", "names_cache"):
        holds(f"objects of {text}", by_cache[text], by_cache[text] > 0)
    for text in ("swapper/0", "scenario", "kmemtraced", "dd", "nc", "find",
                 "kthreadd"):
        holds(f"records of {text}", by_task[text], by_task[text] > 0)


def find_sites(directory, caches):
    """Check the caches of two functions that are known to allocate from them."""
    symbols = capture.Symbols(directory)
    sites = {symbols.function(e.call_site): e for e in
             capture.read(directory) if e.cache and e.event_id == 1}
    for function, text in (("__d_alloc", "dentry"),
                           ("vm_area_alloc", "vm_area_struct")):
        found = caches[sites[function].cache][4]
        holds(f"the cache that {function}() allocates from", found,
              found == text)


class Counts:
    """The records of a capture, counted by the fields of version 2."""

    def __init__(self, directory):
        self.caches = capture.caches(directory)
        self.tasks = capture.Tasks(directory)
        self.by_cache = collections.Counter()
        self.by_task = collections.Counter()
        self.wrong_caches = collections.Counter()
        self.live = {}
        self.other_caches = 0
        self.nameless = collections.Counter()
        self.flags = collections.Counter()
        self.strange_flags = 0
        self.charged = collections.Counter()
        for e in capture.read(directory):
            self.add_flags(e)
            self.add_task(e)
            self.add_cache(e)

    def add_flags(self, e):
        """Count the flags of a record."""
        self.flags[e.flags] += 1
        if e.flags & ~7 or (e.flags & capture.ACCOUNT
                            and e.event_id != capture.ALLOC):
            self.strange_flags += 1

    def add_task(self, e):
        """Count the task of a record."""
        if e.pid:
            comm = self.tasks.find(e.pid, e.time)
            if comm is None:
                self.nameless[e.pid] += 1
            self.by_task[comm] += 1

    def add_cache(self, e):
        """Count the cache of a record."""
        kind = capture.TYPES[e.type_id]
        if kind != "cache":
            self.wrong_caches["of another type"] += e.cache != 0
            return
        if e.cache not in self.caches:
            self.wrong_caches[e.cache] += 1
            return
        object_size, size, created, destroyed, text = self.caches[e.cache]
        self.by_cache[text] += 1
        if e.event_id == capture.ALLOC:
            self.charged[text] += bool(e.flags & capture.ACCOUNT)
            self.live[e.ptr] = e.cache
            # The table has the largest object size of merged caches.
            if e.bytes_req > object_size or e.bytes_alloc != size:
                self.wrong_caches[text] += 1
        elif e.event_id == capture.DEFER:
            self.other_caches += self.live.get(e.ptr, e.cache) != e.cache
        elif self.live.pop(e.ptr, e.cache) != e.cache:
            self.other_caches += 1
        if e.time < created or (destroyed and e.time > destroyed):
            self.wrong_caches[text + " when it was not there"] += 1

    def judge(self, accounted):
        """Check the counts; accounted: the kernel charges memory cgroups."""
        wrong_caches = +self.wrong_caches
        holds("caches", len(self.caches), len(self.caches) > 5)
        holds("objects with a wrong number of a cache", dict(wrong_caches),
              not wrong_caches)
        holds("objects freed to another cache", self.other_caches,
              self.other_caches == 0)
        holds("names of tasks dropped", self.tasks.dropped,
              self.tasks.dropped == 0)
        holds("tasks without a name", dict(self.nameless), not self.nameless)
        holds("records with strange flags", self.strange_flags,
              self.strange_flags == 0)
        holds("accounted", sum(self.charged.values()),
              any(self.charged.values()) == accounted)

    def print(self):
        """Print the most frequent values."""
        print("version2.py: most by cache:", self.by_cache.most_common(5))
        print("version2.py: most by task:", self.by_task.most_common(8))
        print("version2.py: flags:", dict(self.flags),
              "accounted:", (+self.charged).most_common(5))


def parse_arguments():
    """Parse the command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--work", action="store_true",
                        help="require the work of boot-capture.sh")
    parser.add_argument("--task", metavar="NAME",
                        help="require records of a task of that name; a space "
                        "stands for any white space")
    parser.add_argument("--accounted", action="store_true",
                        help="the kernel charges memory cgroups")
    parser.add_argument("--abi", type=int, default=3, metavar="N",
                        help="version of the records (default: 3)")
    parser.add_argument("directory", metavar="CAPTURE")
    return parser.parse_args()


def main():
    """Check the capture and return the exit status."""
    args = parse_arguments()
    version = capture.version(args.directory)
    holds("version", version, version == args.abi)
    counts = Counts(args.directory)
    counts.judge(args.accounted)
    if args.task:
        n = sum(n for text, n in counts.by_task.items()
                if text and " ".join(text.split()) == args.task)
        holds(f"records of {args.task}", n, n > 100)
    if args.work:
        find_work(counts.flags, counts.by_cache, counts.by_task)
        find_sites(args.directory, counts.caches)
    counts.print()
    return failed()


if __name__ == "__main__":
    sys.exit(main())
