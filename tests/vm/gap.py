#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Compare a capture with the work that vm/gap/kmt_gap_main.c reports.

Usage: gap.py CAPTURE LOG [NMI]...

LOG has the module's lines. CAPTURE must have each path through the allocators
with the reported number of events, bytes and flags. Each allocation must be
freed exactly once, by the reported function. Memory that was passed to
kfree_rcu() must have one record of the hand-over, before the free; with records
of version 1 or 2 there must be no such record. NMI has the records of a session in
which only events in NMI context were lost; since version 2, loss records must
count them."""
import collections
import os
import re
import sys

import capture


def expectations(log):
    lines = []
    done = False
    with open(log, errors="replace") as f:
        for line in f:
            match = re.search(r"kmt_gap: (.*?)\s*$", line)
            if not match:
                continue
            words = match[1].split()
            done |= words == ["done"]
            lines.append(words)
    if not done:
        sys.exit(f"gap.py: {log}: the module did not come to its end")
    return lines


# Functions that allocate the targets of migrated pages.
TARGETS = ("migrate_pages_batch", "migrate_pages", "alloc_migration_target")

# Functions that free the migrated pages. The first one frees them as its last
# action, for which the compiler may use a jump; the caller is then the second one.
SOURCES = ("migrate_folio_done", "migrate_folio_move")

# Two CPUs may read their clocks at the same time: a page that one of them frees and
# the other allocates may seem to be allocated twice.
CLOCK_NS = 100000

# All kernels under test have pages of this size, in bytes.
PAGE = 4096


# What the source bpf records in another way than relay. Each difference must occur on
# the patched Linux 6.12.
BPF_DIFFERENCES = (
    (r"freed as kmalloc by|handed over as another type",
     "the tracepoint of kfree() does not tell the cache"),
    (r"gap_free_pages_held", "the pages of a held block are freed one by one"),
    (r"gap_vrealloc vmalloc", "no program sees vrealloc() in place"),
    (r"gap_(folio_alloc|alloc_pages_nolock) pages: gfp",
     "the flags are those of the page allocator"),
    (r"gap_alloc_pages_exact pages", "a block is recorded, and then its split"),
    (r"pages were migrated", "the frees of sources have other callers"))


def explain_bpf(problems, is_patched):
    """Print how many problems the source bpf explains; return the others."""
    for pattern, reason in BPF_DIFFERENCES:
        explained = [p for p in problems if re.search(pattern, p)]
        print(f"gap.py: {len(explained)} differences: {reason}")
        problems = [p for p in problems if p not in explained]
        if is_patched and not explained:
            problems.append(f"this difference did not occur: {reason}")
    return problems


class Made:
    """Allocations of one type by one function, and the functions that freed them."""

    def __init__(self):
        self.count = 0
        self.bytes_req = 0
        self.gfp = collections.Counter()
        self.sizes = collections.Counter()
        self.freed_by = collections.Counter()
        self.bytes_freed_by = collections.Counter()
        self.deferred_by = collections.Counter()
        self.live = 0


def defer(event, function, place, live, deferred, cache_of):
    """Return what is wrong with a hand-over to kfree_rcu()."""
    what = f"{function}: {event.ptr:#x} ({capture.TYPES[event.type_id]})"
    if event.bytes_req or event.bytes_alloc or event.gfp or event.node != -1:
        return [f"{what}: a hand-over with fields of an allocation: {event}"]
    if place in deferred:
        return [f"{what}: handed over twice"]
    deferred.add(place)
    owner = live.get(place)
    if not owner:
        return [f"{what}: handed over, which was not allocated"] \
            if function.startswith("gap_") else []
    if owner[0].startswith("gap_") and (owner[1], cache_of[place]) \
            != (capture.TYPES[event.type_id], event.cache):
        return [f"{what}: handed over as another type or of cache"
                f" {event.cache}, but allocated as {owner} of cache"
                f" {cache_of[place]}"]
    return []


def module_caches(directory):
    """Return the numbers of the module's caches, whose objects only it frees."""
    if capture.version(directory) < 2:
        return set()
    return {number for number, cache in capture.caches(directory).items()
            if cache[4].startswith("kmt_gap")}


def collect(events, symbols, own_caches, from_boot):
    made = collections.defaultdict(Made)
    live, since, size, cache_of, deferred = {}, {}, {}, {}, set()
    pages = collections.defaultdict(list)
    problems = []
    for event in events:
        function = symbols.function(event.call_site)
        kind = capture.TYPES[event.type_id]
        space = "slab" if kind in capture.SLAB else kind
        if kind == "pages":
            pages[event.ptr].append(event.event_id)
        if event.event_id == capture.ALLOC:
            if event.bytes_alloc < event.bytes_req or not event.bytes_req:
                problems.append(f"{function}: impossible sizes {event}")
            entry = made[function, kind]
            entry.count += 1
            entry.bytes_req += event.bytes_req
            entry.gfp[event.gfp] += 1
            entry.sizes[event.bytes_req] += 1
            entry.live += 1
            former = live.get((space, event.ptr))
            if former and event.time - since[space, event.ptr] > CLOCK_NS:
                problems.append(f"{function}: allocated {event.ptr:#x} ({kind}),"
                                f" which {former[0]} allocated before")
            since[space, event.ptr] = event.time
            live[space, event.ptr] = (function, kind)
            size[space, event.ptr] = event.bytes_req
            cache_of[space, event.ptr] = event.cache
            deferred.discard((space, event.ptr))
        elif event.event_id == capture.DEFER:
            problems += defer(event, function, (space, event.ptr), live,
                              deferred, cache_of)
            owner = live.get((space, event.ptr))
            if owner:
                made[owner].deferred_by[function] += 1
        else:
            owner = live.pop((space, event.ptr), None)
            if owner:
                made[owner].live -= 1
                made[owner].freed_by[function] += 1
                made[owner].bytes_freed_by[function] += size[space, event.ptr]
                if owner[0].startswith("gap_") and owner[1] != kind:
                    problems.append(f"{owner}: freed as {kind} by {function}")
            elif (function.startswith("gap_") or event.cache in own_caches
                  or (kind == "vmalloc" and from_boot)):
                problems.append(f"{function}: freed {event.ptr:#x} ({kind}),"
                                " which was not allocated")
    return made, pages, problems


def splits(directory):
    """Return the number of folios that were split, and what is wrong with them.

    A split is a free of the whole, followed by allocations of all its parts with
    the same call site."""
    count, problems = 0, []
    events = capture.read(directory)
    size = {}
    whole = None
    for event in events:
        if capture.TYPES[event.type_id] != "pages":
            continue
        if event.event_id == capture.FREE:
            whole = event
            continue
        if whole and whole.cpu == event.cpu and event.ptr == whole.ptr \
                and event.call_site == whole.call_site and not event.gfp:
            count += 1
            left = size.get(event.ptr, 0)
            if left and left % event.bytes_req:
                problems.append(f"{event.ptr:#x}: {left} bytes are split into"
                                f" parts of {event.bytes_req}")
        whole = None
        size[event.ptr] = event.bytes_req
    return count, problems


def check_folios(words, directory, made):
    """Check a statement about huge, split, or migrated folios."""
    kind, *numbers = words
    if kind == "huge":
        size, count = map(int, numbers)
        # Until Linux 6.11 the pages of a gigantic page have a record each.
        found = [(function, entry) for (function, kind), entry in made.items()
                 if kind == "pages" and (
                     entry.sizes[size] == count
                     or (size > 1 << 22
                         and entry.sizes[PAGE] == size * count // PAGE))]
        if not found:
            return [f"{count} huge pages of {size} bytes have no records"]
        # vmalloc() may allocate as many blocks of this size, and still use some.
        if all(entry.live for _, entry in found):
            return [f"huge pages of {size} bytes by"
                    f" {[function for function, _ in found]} are not freed"]
        return []
    count = int(numbers[0])
    if kind == "split":
        n, problems = splits(directory)
        if n < count:
            problems.append(f"{count} folios were split, {n} splits are"
                            " recorded")
        return problems
    return check_migrated(count, made)


def check_migrated(count, made):
    """Compare the number of migrated pages with their records. A folio of several
    pages has one record. Pages from before the trace are not among the sources."""
    entries = [(function, entry) for (function, kind), entry in made.items()
               if kind == "pages"]
    targets = sum(entry.bytes_req for function, entry in entries
                  if function in TARGETS) // PAGE
    # A target that was not used is freed by another function, unless the compiler
    # inlined both frees into one.
    sources = sum(entry.bytes_freed_by[name]
                  for _, entry in entries for name in SOURCES) // PAGE
    unused = 0
    if not sources:
        sources = sum(entry.bytes_freed_by[name] for _, entry in entries
                      for name in TARGETS) // PAGE
        unused = targets - count
    if targets < count or sources != count + unused:
        return [f"{count} pages were migrated, {targets} targets and {sources}"
                " sources are recorded"]
    return []


def check_alloc(words, made):
    """Check the number, size, and flags of a function's allocations."""
    function, kind, count, bytes_req, gfp = words
    entry = made[function, kind]
    problems = []
    if (entry.count, entry.bytes_req) != (int(count), int(bytes_req)):
        problems.append(
            f"{function} {kind}: {count} allocations of {bytes_req}"
            f" bytes were made, {entry.count} of {entry.bytes_req}"
            " are recorded")
    if gfp != "-" and int(count) and set(entry.gfp) != {int(gfp, 0)}:
        problems.append(
            f"{function} {kind}: gfp should be {gfp}, is "
            + ", ".join(map(hex, entry.gfp)))
    if entry.live:
        problems.append(f"{function} {kind}: {entry.live} of its"
                        " allocations have no free")
    return problems


def check_freed(words, made):
    """Check which functions freed a function's allocations."""
    function, kind, count, by = words
    freed = made[function, kind].freed_by
    n = (sum(freed.values()) if by == "*"
         else sum(freed[name] for name in by.split("|")))
    if n == int(count):
        return []
    return [f"{function} {kind}: {count} should be freed by {by}, {n}"
            f" are (freed by: {dict(freed)})"]


def check_deferred(words, made, version):
    """Check the hand-overs to kfree_rcu(), which versions 1 and 2 do not record."""
    function, kind, count = words
    by = made[function, kind].deferred_by
    wanted = {function: int(count)} if version > 2 else {}
    if dict(by) == wanted:
        return []
    return [f"{function} {kind}: hand-overs should be {wanted}, are {dict(by)}"]


def check_pages(addresses, pages):
    """Check that each page was allocated and freed."""
    # Other code may have used the page before and after.
    return [f"page {address:#x}: not allocated and freed: {pages[address][-4:]}"
            for address in addresses
            if (capture.ALLOC, capture.FREE)
            not in zip(pages[address], pages[address][1:])]


def check_unexpected(lines, made):
    """Find records of the module's functions that no statement announces."""
    allocs = {(words[1], words[2]) for words in lines
              if words[0] in ("alloc", "maybe")}
    defers = {(words[1], words[2]) for words in lines if words[0] == "defer"}
    problems = []
    for (function, kind), entry in made.items():
        if not function.startswith("gap_"):
            continue
        # The pages of a large kmalloc belong to the slab allocator, not to the
        # function.
        if entry.count and (function, kind) not in allocs:
            problems.append(f"{function} {kind}: {entry.count} allocations"
                            " that it did not make")
        if entry.deferred_by and (function, kind) not in defers:
            problems.append(f"{function} {kind}: hand-overs that were not made:"
                            f" {dict(entry.deferred_by)}")
    return problems


def check(lines, made, pages, version, directory):
    problems = []
    checked = 0
    for kind, *words in lines:
        checked += 1
        if kind == "alloc":
            problems += check_alloc(words, made)
        elif kind == "freed":
            problems += check_freed(words, made)
        elif kind == "defer":
            problems += check_deferred(words, made, version)
        elif kind in ("huge", "split", "migrated"):
            problems += check_folios([kind, *words], directory, made)
        elif kind == "range":
            first, count = int(words[0], 16), int(words[1])
            problems += check_pages(range(first, first + PAGE * count, PAGE), pages)
        elif kind == "pages":
            problems += check_pages([int(word, 16) for word in words], pages)
        else:
            checked -= 1
    return checked, problems + check_unexpected(lines, made)


def check_nmi(directory):
    losses = []
    for cpu in capture.cpus(directory):
        losses += capture.read_all(directory, cpu)[1]
    n_lost = sum(n for _, n, _, _ in losses)
    overruns = int(capture.meta(directory)["overruns"])
    print(f"gap.py: {len(losses)} LOST records, {n_lost} events lost in NMI")
    if capture.version(directory) > 1 and n_lost != overruns:
        return [f"{n_lost} events in NMI context are reported, not {overruns}"]
    return []


def main():
    if len(sys.argv) < 3:
        sys.exit(__doc__)
    directory, log = sys.argv[1:3]
    lines = expectations(log)
    if int(capture.meta(directory).get("overruns", -1)):
        sys.exit(f"gap.py: {directory}: events were lost, nothing can be said")
    symbols = capture.Symbols(directory)
    is_bpf = capture.meta(directory).get("source") == "bpf"
    made, pages, problems = collect(capture.read(directory), symbols,
                                    module_caches(directory), not is_bpf)
    version = capture.version(directory)
    checked, more = check(lines, made, pages, version, directory)
    n_deferred = sum(sum(entry.deferred_by.values()) for entry in made.values())
    if version < 3 and n_deferred:
        more.append(f"{n_deferred} hand-overs in version {version}")
    for nmi in filter(os.path.isdir, sys.argv[3:]):
        more += check_nmi(nmi)
    for line in lines:
        if line[0] == "no":
            print("gap.py: note: " + " ".join(line))
    problems += more
    if is_bpf:
        problems = explain_bpf(problems, any(
            name.startswith("kmemtrace_") for name in symbols.address))
    for problem in problems:
        print("gap.py: " + problem)
    print(f"gap.py: {checked} statements of the module checked,"
          f" {len(problems)} problems")
    return 1 if problems or not checked else 0


if __name__ == "__main__":
    sys.exit(main())
