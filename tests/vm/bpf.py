#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Check the captures of the source bpf that vm/scenarios/bpf.sh makes.

Usage: bpf.py DIR

DIR has the folders capture, and size, cache, sample, pid, comm, cgroup, and counted,
which were made with a filter or an option, NAME.pids, the tasks in each cgroup, and
refused.log, the messages about wrong filters. The program stacks.py checks the capture
stacks."""
import collections
import os
import sys

import capture
from verdict import failed, holds

# Functions of the page allocator, which are never the caller.
ALLOCATOR = ("__alloc_pages", "__alloc_pages_noprof", "alloc_pages",
             "alloc_pages_noprof", "__alloc_frozen_pages_noprof", "folio_alloc",
             "folio_alloc_noprof", "__free_pages", "free_unref_page",
             "__free_frozen_pages", "free_unref_folios", "bpf_trace_run2",
             "bpf_trace_run4")


def allocations(directory):
    return [event for event in capture.read(directory)
            if event.event_id == capture.ALLOC]


def read_text(top, name):
    with open(os.path.join(top, name)) as f:
        return f.read()


def judge_cgroups(top):
    """Check the recordings with the option --cgroup."""
    n_by_pid = collections.Counter(event.pid for event in
                                   allocations(os.path.join(top, "cgroup")))
    n_selected = 0
    for name in ("early", "late"):
        n = n_by_pid[int(read_text(top, name + ".pids"))]
        holds(f"allocations of the task in the cgroup {name}", n, n > 50)
        n_selected += n
    n = n_by_pid[int(read_text(top, "other.pids"))]
    holds("allocations of the task in a cgroup that is left out", n, n == 0)
    n = sum(n_by_pid.values()) - n_selected
    holds("allocations of all other tasks", n, n == 0)
    n = len(allocations(os.path.join(top, "no-cgroup")))
    text = read_text(top, "no-cgroup.log")
    holds("allocations if no cgroup matches", n, n == 0 and
          "warning: the filter matches no existing cgroup" in text)
    text = read_text(top, "unmounted.log")
    holds("the message without cgroup v2", text,
          "cannot select cgroups: cgroup v2 is not mounted; mount it with" in text)


def judge_filters(top, n_all):
    """Check the captures with filters. n_all: allocations of a similar recording
    without a filter."""
    found = allocations(os.path.join(top, "size"))
    wrong = [e for e in found if not 4096 <= e.bytes_alloc <= 8192]
    holds("allocations with the filter size=4096-8192", len(found), found)
    holds("of these of another size", len(wrong), not wrong)

    directory = os.path.join(top, "cache")
    caches = capture.caches(directory)
    names = collections.Counter(
        caches[event.cache][4] if event.cache else
        f"{capture.TYPES[event.type_id]} of {event.bytes_alloc}"
        for event in allocations(directory))
    holds("allocations with the filter cache=dentry,filp,kmalloc-64", dict(names),
          set(names) == {"dentry", "filp", "kmalloc of 64"})

    n_sample = len(allocations(os.path.join(top, "sample")))
    holds("allocations with the filter sample=10", (n_sample, n_all),
          n_all / 20 < n_sample < n_all / 5)

    directory = os.path.join(top, "pid")
    tasks = capture.Tasks(directory)
    names = collections.Counter(tasks.find(event.pid, event.time)
                                for event in allocations(directory))
    others = [name for name in names
              if not name or name.startswith(("kworker", "swapper"))]
    holds("tasks with the options -p and -c", names.most_common(5), names)
    holds("of these not children of the shell", others, not others)

    directory = os.path.join(top, "comm")
    tasks = capture.Tasks(directory)
    names = collections.Counter(tasks.find(event.pid, event.time)
                                for event in allocations(directory))
    holds("tasks with the filter comm=dd,task*", dict(names),
          set(names) == {"dd", "taskset"})
    judge_cgroups(top)

    n_counted = len(allocations(os.path.join(top, "counted")))
    holds("allocations with --no-recover", n_counted, n_counted > n_all / 2)
    with open(os.path.join(top, "refused.log")) as f:
        lines = f.read().splitlines()
    good = [line for line in lines if "the filter has the word '" in line
            and line.endswith("the syntax of filters is in kmemtraced(8)")]
    holds("messages about wrong filters", len(good), len(good) == len(lines) == 15)


def main():
    top = sys.argv[1]
    directory = os.path.join(top, "capture")
    symbols = capture.Symbols(directory)
    caches = capture.caches(directory)
    pages = collections.Counter()
    by_cache = collections.Counter()
    n_by_id = collections.Counter()
    live = set()
    n_twice = 0
    kinds = collections.Counter()
    for event in capture.read(directory):
        kind = capture.TYPES[event.type_id]
        kinds[kind, event.event_id] += 1
        n_by_id[event.event_id] += 1
        if kind == "pages":
            pages[symbols.function(event.call_site) if event.call_site
                  else None] += 1
        if kind in capture.SLAB:
            if event.event_id == capture.ALLOC:
                n_twice += event.ptr in live
                live.add(event.ptr)
            elif event.event_id == capture.FREE:
                live.discard(event.ptr)
        if kind == "cache":
            by_cache[caches[event.cache][4] if event.cache else None] += 1
    n_pages = sum(pages.values())
    holds("records of pages", n_pages, n_pages > 500)
    holds("records of pages without a caller", pages[None],
          pages[None] * 100 <= n_pages)
    inner = {name: pages[name] for name in ALLOCATOR if pages[name]}
    holds("records of pages whose caller is in the allocator", inner, not inner)
    holds("pages of pgd_alloc()", pages["pgd_alloc"], pages["pgd_alloc"] > 0)
    holds("callers of pages", len(pages), len(pages) > 20)
    holds("records of objects of unknown caches", by_cache[None],
          by_cache[None] == 0)
    for name in ("dentry", "filp", "vm_area_struct"):
        holds(f"objects of {name}", by_cache[name], by_cache[name] > 0)
    holds("hand-overs to kfree_rcu()", n_by_id[capture.DEFER],
          n_by_id[capture.DEFER] > 0)
    holds("objects allocated while they are live", n_twice, n_twice == 0)
    for kind in ("vmalloc", "percpu"):
        for event_id in (capture.ALLOC, capture.FREE):
            holds(f"records of {kind} {event_id}", kinds[kind, event_id],
                  kinds[kind, event_id] > 0)
    not_seen = capture.meta(directory)["not_seen"]
    holds("kinds of memory that are not seen", not_seen,
          not_seen in ("", "vrealloc() within the allocated memory;"))
    judge_filters(top, n_by_id[capture.ALLOC])
    return failed()


if __name__ == "__main__":
    sys.exit(main())
