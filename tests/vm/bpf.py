#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Check a capture of the source bpf, made by vm/scenarios/bpf.sh.

Usage: bpf.py CAPTURE
"""
import collections
import sys

import capture
from verdict import failed, holds

# Functions of the page allocator, which are never the caller.
ALLOCATOR = ("__alloc_pages", "__alloc_pages_noprof", "alloc_pages",
             "alloc_pages_noprof", "__alloc_frozen_pages_noprof", "folio_alloc",
             "folio_alloc_noprof", "__free_pages", "free_unref_page",
             "__free_frozen_pages", "free_unref_folios", "bpf_trace_run2",
             "bpf_trace_run4")


def main():
    directory = sys.argv[1]
    symbols = capture.Symbols(directory)
    caches = capture.caches(directory)
    pages = collections.Counter()
    by_cache = collections.Counter()
    n_by_id = collections.Counter()
    live = set()
    n_twice = 0
    for event in capture.read(directory):
        kind = capture.TYPES[event.type_id]
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
    # kmemtrace-check excuses what not_seen may explain. Since Linux 6.18, that
    # includes frees into sheaves.
    release = capture.meta(directory)["kernel_release"].split(".")
    if (int(release[0]), int(release[1])) < (6, 18):
        holds("objects allocated while they are live", n_twice, n_twice == 0)
    return failed()


if __name__ == "__main__":
    sys.exit(main())
