#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Do the records of version 2 say what they should beyond version 1?

Every cache number must be of a cache that has the record's sizes and was there
at that time, every pid of a task whose name is known, and what is known of the
guest's work must be found: by caches, tasks and interrupts.
"""
import argparse
import collections
import sys

import capture
from verdict import failed, holds


def find_work(flags, by_cache, by_task):
    for flag, text in ((capture.HARDIRQ, "hard"), (capture.SOFTIRQ, "soft")):
        n = sum(n for value, n in flags.items() if value & flag)
        holds(f"in {text} interrupts", n, n > 0)
    for text in ("dentry", "inode_cache", "vm_area_struct", "radix_tree_node",
                 "skbuff_head_cache", "names_cache"):
        holds(f"objects of {text}", by_cache[text], by_cache[text] > 0)
    for text in ("swapper/0", "scenario", "kmemtraced", "dd", "nc", "find",
                 "kthreadd"):
        holds(f"records of {text}", by_task[text], by_task[text] > 0)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--work", action="store_true",
                        help="what boot-capture.sh does must be found")
    parser.add_argument("--task", metavar="NAME",
                        help="records of a task of that name must be there; a "
                        "space stands for any white space")
    parser.add_argument("--accounted", action="store_true",
                        help="the kernel charges memory cgroups")
    parser.add_argument("directory", metavar="CAPTURE")
    args = parser.parse_args()
    directory = args.directory
    holds("version", capture.version(directory),
          capture.version(directory) == 2)
    caches = capture.caches(directory)
    tasks = capture.Tasks(directory)
    symbols = capture.Symbols(directory)
    by_cache = collections.Counter()
    by_task = collections.Counter()
    wrong_caches = collections.Counter()
    live = {}
    other_caches = 0
    nameless = collections.Counter()
    flags = collections.Counter()
    strange_flags = 0
    charged = collections.Counter()
    for e in capture.read(directory):
        flags[e.flags] += 1
        if e.flags & ~7 or (e.flags & capture.ACCOUNT
                            and e.event_id == capture.FREE):
            strange_flags += 1
        if e.pid:
            comm = tasks.find(e.pid, e.time)
            if comm is None:
                nameless[e.pid] += 1
            by_task[comm] += 1
        kind = capture.TYPES[e.type_id]
        if kind != "cache":
            wrong_caches["of another type"] += e.cache != 0
            continue
        if e.cache not in caches:
            wrong_caches[e.cache] += 1
            continue
        object_size, size, created, destroyed, text = caches[e.cache]
        by_cache[text] += 1
        if e.event_id == capture.ALLOC:
            charged[text] += bool(e.flags & capture.ACCOUNT)
            live[e.ptr] = e.cache
            # Of merged caches the largest object is told.
            if e.bytes_req > object_size or e.bytes_alloc != size:
                wrong_caches[text] += 1
        elif live.pop(e.ptr, e.cache) != e.cache:
            other_caches += 1
        if e.time < created or (destroyed and e.time > destroyed):
            wrong_caches[text + " when it was not there"] += 1
    wrong_caches = +wrong_caches
    holds("caches", len(caches), len(caches) > 5)
    holds("objects with a wrong number of a cache", dict(wrong_caches),
          not wrong_caches)
    holds("objects freed to another cache", other_caches, other_caches == 0)
    holds("names of tasks dropped", tasks.dropped, tasks.dropped == 0)
    holds("tasks without a name", dict(nameless), not nameless)
    holds("records with strange flags", strange_flags, strange_flags == 0)
    holds("accounted", sum(charged.values()),
          any(charged.values()) == args.accounted)
    if args.task:
        n = sum(n for text, n in by_task.items()
                if text and " ".join(text.split()) == args.task)
        holds(f"records of {args.task}", n, n > 100)
    if args.work:
        find_work(flags, by_cache, by_task)
        sites = {symbols.function(e.call_site): e for e in
                 capture.read(directory) if e.cache and e.event_id == 1}
        for function, text in (("__d_alloc", "dentry"),
                               ("vm_area_alloc", "vm_area_struct")):
            found = caches[sites[function].cache][4]
            holds(f"the cache that {function}() allocates from", found,
                  found == text)
    print("version2.py: most by cache:", by_cache.most_common(5))
    print("version2.py: most by task:", by_task.most_common(8))
    print("version2.py: flags:", dict(flags),
          "accounted:", (+charged).most_common(5))
    return failed()


if __name__ == "__main__":
    sys.exit(main())
