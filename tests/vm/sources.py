#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Count what a recording has of the work that vm/gap reports, for each path.

Usage: sources.py FORMAT FOLDER...

FOLDER has a recording and gap.log, the lines of the module. FORMAT is

  capture  a capture in FOLDER/capture, of any source
  perf     the output of 'perf script' for the events kmem, in FOLDER/script
  memleak  the lines that memleak-bpfcc -t prints, with their stacks, in FOLDER/trace.
           A second FOLDER has the lines of memleak-bpfcc --percpu, or only the
           message with which the program failed, in FOLDER/failed.

The figures are printed as JSON: for each function of the module and type of memory,
the allocations, frees, and hand-overs to kfree_rcu() that the module made, and those
that the recording has. The module's lines are the only source of the former.

An event belongs to a path if its call site is in the path's function. An event
without a call site belongs to the path between whose marks it occurs, if the task
that takes the paths caused it. A free belongs to the path whose recorded allocation it
ends; if there is none, to the path whose function or marks it has.

Exit status 1: events were lost, a mark is missing, or the recording lacks the plainest
paths, so that nothing can be said."""
import bisect
import collections
import functools
import json
import os
import re
import sys

import capture
import gap

# Of an allocation or a free. function is None if the source does not report a call
# site; kind is None if it does not tell kmalloc() from caches; size is None if unknown.
Event = collections.namedtuple("Event", "op space kind ptr size pid function")
ALLOC, FREE, DEFER = "alloc", "free", "defer"
OPERATIONS = {capture.ALLOC: ALLOC, capture.FREE: FREE, capture.DEFER: DEFER}

# Functions of the module that run in interrupts or in another task than the one
# that loads the module.
ELSEWHERE = ("gap_hardirq_allocates", "gap_softirq_allocates",
             "gap_other_cpu_frees", "gap_sheaf_offline")
MARK_FUNCTION, MARK_BYTES = "mark_path", 8192

# An event without a call site is no part of a path if its memory is this many times
# larger than the mean of the path: contig_candidates() allocates blocks of 4 MB before
# gap_alloc_contig_range() allocates single pages.
MUCH_LARGER = 16

# Each source reports these paths. A recording that has less than nine tenths of one was
# misread. memleak loses an event now and then.
PLAIN = (("gap_kmalloc_constant", "kmalloc"), ("gap_cache_alloc", "cache"),
         ("gap_alloc_page", "pages"))

# The two highest bits of the address of a page whose frame number alone is known
# (KMEMTRACE_PTR_PHYSICAL); those of a virtual address of a 64-bit kernel are both set.
PHYSICAL = 2

# Above all page frame numbers, and below all addresses of memory.
LAST_FRAME = 1 << 40
NO_FRAME = (1 << 64) - 1


class Problem(Exception):
    """The recording cannot be judged."""


def space_of(kind):
    """Return the namespace of the addresses of a type of memory."""
    return "slab" if kind in capture.SLAB else kind


# --- Recordings -----------------------------------------------------------------


def read_capture(folder, base):
    """Return the events of a capture."""
    directory = os.path.join(folder, "capture")
    n_lost = int(capture.meta(directory)["overruns"])
    if n_lost:
        raise Problem(f"{directory}: {n_lost} events were lost")
    symbols = capture.Symbols(directory)
    # Without a call site, only the task tells the path of an event; an interrupt has
    # none.
    in_interrupt = capture.HARDIRQ | capture.SOFTIRQ
    for event in capture.read(directory):
        kind = capture.TYPES[event.type_id]
        ptr = event.ptr
        if kind == "pages" and ptr >> 62 == PHYSICAL:
            ptr = base + (ptr & ~(PHYSICAL << 62))
        yield Event(OPERATIONS[event.event_id], space_of(kind), kind, ptr,
                    event.bytes_alloc or event.bytes_req or None,
                    0 if event.flags & in_interrupt else event.pid,
                    symbols.function(event.call_site) if event.call_site else None)


def number(text):
    """Return a number that perf printed; addresses may lack the prefix 0x."""
    return int(text, 16) if re.fullmatch(r"[0-9a-f]{16}", text) else int(text, 0)


class PerfScript:
    """The output of perf script for the events kmem."""

    LINE = re.compile(r"\s*(\d+) +\[\d+\] +[\d.]+: +(?:kmem:)?(\w+): +(.*)")
    ALLOCS = {"kmalloc": "kmalloc", "kmalloc_node": "kmalloc",
              "kmem_cache_alloc": "cache", "kmem_cache_alloc_node": "cache"}
    FREES = {"kfree": "kmalloc", "kmem_cache_free": "cache"}

    def __init__(self, folder, base):
        self.path = os.path.join(folder, "script")
        self.symbols = capture.Symbols(folder)
        self.base = base
        # Addresses of the symbols that perf knows: when it starts, the module is not
        # loaded.
        self.known = collections.defaultdict(list)
        with open(os.path.join(folder, "kallsyms"), encoding="utf-8") as file:
            for line in file:
                words = line.split()
                if words[3:] != ["[kmt_gap]"]:
                    self.known[words[2]].append(int(words[0], 16))

    @functools.lru_cache(maxsize=None)
    def function(self, site):
        """Return the function of a call site, which may be a number or a symbol. perf
        names an address in the module by the last symbol of another module."""
        match = re.match(r"(0x)?([0-9a-f]+)s?$", site)
        if match:
            return self.symbols.function(int(match[2], 16))
        name, _, offset = site.partition("+")
        for address in self.known[name]:
            function = self.symbols.function(
                address + int(offset.split("/")[0] or "0", 16))
            if function.startswith("gap_") or function == MARK_FUNCTION:
                return function
        return re.sub(r"\.(part|constprop|isra|cold)\b.*", "", name)

    def event(self, pid, name, fields):
        """Return the event of a line, or None."""
        if name in ("mm_page_alloc", "mm_page_free"):
            frame = number(fields["pfn"])
            if frame in (0, NO_FRAME, -1):
                return None
            return Event(ALLOC if name == "mm_page_alloc" else FREE, "pages", "pages",
                         self.base + frame * gap.PAGE,
                         gap.PAGE << int(fields["order"], 0), pid, None)
        if name not in self.ALLOCS and name not in self.FREES:
            return None
        ptr = 0 if fields["ptr"] in ("(nil)", "0") else number(fields["ptr"])
        if not ptr:
            return None
        function = self.function(fields["call_site"])
        if name in self.FREES:
            return Event(FREE, "slab", self.FREES[name], ptr, None, pid, function)
        return Event(ALLOC, "slab", self.ALLOCS[name], ptr,
                     int(fields["bytes_alloc"], 0), pid, function)

    def events(self):
        """Return all events."""
        with open(self.path, encoding="utf-8", errors="replace") as file:
            for line in file:
                if "LOST" in line:
                    raise Problem(f"{self.path}: {line.strip()}")
                match = self.LINE.match(line)
                if not match:
                    continue
                event = self.event(int(match[1]), match[2],
                                   dict(re.findall(r"(\w+)=(\S+)", match[3])))
                if event:
                    yield event


class MemleakTrace:
    """The lines of memleak-bpfcc -t in the ring buffer, with stacks."""

    LINE = re.compile(r"\s*\S.*-(\d+) +(?:\(.*\) +)?\[(\d+)\] +\S+ +[\d.]+: (.*)")
    ALLOC = re.compile(r"alloc exited, size = (\d+), result = ([0-9a-f]+)")
    FREE = re.compile(r"free entered, address = ([0-9a-f]+)")
    # The functions of an interrupt lie above those of the interrupted task.
    INTERRUPT = re.compile(r"asm_(sysvec|common_interrupt|exc)")
    # vmap() and vmalloc() allocate descriptions of their areas, and caches their sheaves.
    # kmem_cache_alloc_from_sheaf() allocates for its caller.
    OWN_MEMORY = re.compile(r"(^|_)v(map|malloc)|_pcs_|(prefill|return|kfree_rcu)_sheaf")

    def __init__(self, folder, base):
        self.path = os.path.join(folder, "trace")
        with open(os.path.join(folder, "command"), encoding="utf-8") as file:
            self.space = "percpu" if "--percpu" in file.read() else None
        with open(os.path.join(folder, "stats"), encoding="utf-8") as file:
            lost = re.findall(r"^(?:(?:commit )?overrun|dropped events): ([1-9]\d*)",
                              file.read(), re.M)
        if lost:
            raise Problem(f"{self.path}: the ring buffer lost {lost} lines")
        self.base = base

    def function(self, stack):
        """Return the function of the module that called the allocator."""
        for name in stack:
            if self.INTERRUPT.match(name):
                break
            if name.startswith("gap_") or name == MARK_FUNCTION:
                return name
            if self.OWN_MEMORY.search(name):
                break
        return "-"

    def event(self, pid, text, stack):
        """Return the event of a line, or None."""
        match = self.ALLOC.search(text)
        op, size, ptr = (ALLOC, int(match[1]), int(match[2], 16)) if match \
            else (FREE, None, None)
        if not match:
            match = self.FREE.search(text)
            if not match:
                return None
            ptr = int(match[1], 16)
        space = self.space or ("pages" if ptr < LAST_FRAME else "slab")
        if not ptr:
            return None
        if space == "pages":
            ptr = self.base + ptr * gap.PAGE
        return Event(op, space, None if space == "slab" else space, ptr, size, pid,
                     self.function(stack))

    def events(self):
        """Return all events. The lines of a stack follow the line of its event, but
        another CPU's lines may lie between."""
        lines, last, stack = [], {}, None
        with open(self.path, encoding="utf-8", errors="replace") as file:
            for line in file:
                match = self.LINE.match(line)
                if match and match[3].startswith("<stack trace>"):
                    stack = last.get(match[2])
                elif match:
                    stack = []
                    last[match[2]] = stack
                    lines.append((int(match[1]), match[3], stack))
                elif stack is not None and line.startswith(" => "):
                    stack.append(re.sub(r"[+.].*", "", line[4:].split()[0]))
        for pid, text, stack in lines:
            event = self.event(pid, text, stack)
            if event:
                yield event


READERS = {"capture": read_capture,
           "perf": lambda folder, base: PerfScript(folder, base).events(),
           "memleak": lambda folder, base: MemleakTrace(folder, base).events()}


# --- Paths ----------------------------------------------------------------------


class Row:
    """What the module did by one function with one type of memory."""

    def __init__(self, function, kind, window):
        self.function = function
        self.kind = kind
        self.window = window
        self.count = 0
        self.bytes = 0
        # Single pages that functions of the kernel allocate and free.
        self.addresses = set()
        # All pages of the path lie here; None: anywhere.
        self.within = None
        self.n_deferred = 0
        self.seen = collections.Counter()
        self.seen_addresses = set()

    def made(self):
        """Return the allocations, frees, and hand-overs that the module made. Each
        allocation is freed."""
        return [self.count, self.count, self.n_deferred]

    def see(self, op, ptr):
        """Count an event. Other code may use the same pages before and after, so each
        of those whose address is known counts once."""
        if self.addresses or self.within:
            if (op, ptr) in self.seen_addresses:
                return
            self.seen_addresses.add((op, ptr))
        self.seen[op] += 1

    def takes(self, event, pid):
        """Return whether an event between the marks of the path belongs to it."""
        return (event.space == space_of(self.kind)
                and event.kind in (None, self.kind)
                and not self.addresses
                # The kernel frees single pages of a range before it is allocated.
                and (not self.within or event.size in (None, self.bytes / self.count))
                and (event.pid == pid or self.function in ELSEWHERE)
                and (event.size is None
                     or event.size <= MUCH_LARGER * self.bytes / self.count))


def rows_of(lines):
    """Return the rows, and the addresses of the marks."""
    rows, marks, limits = {}, [], []
    for what, *words in lines:
        if what == "path":
            marks.append([int(word, 16) for word in words])
            continue
        window = len(marks) - 1
        if what == "alloc" and int(words[2]):
            row = rows.setdefault((words[0], words[1]), Row(words[0], words[1], window))
            row.count += int(words[2])
            row.bytes += int(words[3])
        elif what == "defer":
            rows[words[0], words[1]].n_deferred += int(words[2])
        elif what == "within":
            limits.append((window, int(words[0], 16), int(words[1]) * gap.PAGE))
        elif what in ("pages", "range"):
            first = int(words[0], 16)
            found = set(range(first, first + int(words[1]) * gap.PAGE, gap.PAGE)) \
                if what == "range" else {int(word, 16) for word in words}
            row = rows.setdefault((what, window), Row(None, "pages", window))
            row.addresses |= found
            row.count = len(row.addresses)
            row.bytes = row.count * gap.PAGE
    for row in rows.values():
        row.within = next((range(first, first + size) for window, first, size in limits
                           if window == row.window and row.kind == "pages"), None)
    return list(rows.values()), marks


def name_rows(rows):
    """Name the rows of single pages after the path, whose other row has a function."""
    for row in rows:
        if row.function is None:
            row.function = next((other.function + " (its pages)" for other in rows
                                 if other.window == row.window and other.function),
                                "gap_cma")


def find_marks(events, marks):
    """Return the position of each mark, and the task that takes the paths. A mark is
    three allocations of one task in a row, by addresses that the module printed."""
    size = len(marks[0])
    recent = collections.defaultdict(lambda: collections.deque(maxlen=size))
    found, pid = [], None
    for i, event in enumerate(events):
        if event.op != ALLOC or event.space != "slab" or event.size != MARK_BYTES:
            continue
        if event.function not in (None, MARK_FUNCTION) or pid not in (None, event.pid):
            continue
        recent[event.pid].append(event.ptr)
        if len(found) < len(marks) and list(recent[event.pid]) == marks[len(found)]:
            found.append(i)
            pid = event.pid
            recent.clear()
    if len(found) != len(marks):
        raise Problem(f"{len(found)} of {len(marks)} marks are recorded")
    return found, pid


class Judge:
    """Attributes events to rows, in the order of time."""

    def __init__(self, rows, starts, pid):
        self.starts = starts
        self.pid = pid
        self.by_name = {(row.function, row.kind): row for row in rows}
        self.by_window = collections.defaultdict(list)
        self.by_address = {}
        for row in rows:
            self.by_window[row.window].append(row)
            for address in row.addresses:
                self.by_address[row.window, address] = row
        # Row of the recorded allocation of each live object; None: of no path.
        self.owners = {}

    def row(self, i, event):
        """Return the row of an event, or None."""
        window = bisect.bisect_right(self.starts, i) - 1
        if event.space == "pages" and (window, event.ptr) in self.by_address:
            return self.by_address[window, event.ptr]
        row = self.row_of_caller(event) if event.function is not None else next(
            (row for row in self.by_window.get(window, ())
             if row.takes(event, self.pid)), None)
        return None if row and row.within and event.ptr not in row.within else row

    def row_of_caller(self, event):
        """Return the row of the function that called the allocator, or None."""
        kinds = (event.kind,) if event.kind else capture.SLAB
        # Neither kfree() and its tracepoint nor kfree_rcu() tell the cache.
        if event.op != ALLOC and event.space == "slab":
            kinds = capture.SLAB
        return next((self.by_name[event.function, kind] for kind in kinds
                     if (event.function, kind) in self.by_name), None)

    def count(self, i, event):
        """Count an event."""
        key = event.space, event.ptr
        if event.op == FREE:
            row = self.owners.pop(key, False)
            if row is False:
                row = self.row(i, event)
            if row:
                row.see(FREE, event.ptr)
            return
        row = self.row(i, event)
        if event.op == DEFER:
            if row:
                row.see(DEFER, event.ptr)
            return
        # Without a call site, two reports of one allocation look the same.
        is_repeated = row and row is self.owners.get(key) and \
            (event.function is None or event.kind is None)
        self.owners[key] = row
        if row and not is_repeated:
            row.see(ALLOC, event.ptr)


def judge(read, folder):
    """Return the rows of a recording with what it has of each."""
    log = os.path.join(folder, "gap.log")
    lines = gap.expectations(log)
    base = next((int(line[1], 16) for line in lines if line[0] == "base"), None)
    rows, marks = rows_of(lines)
    if base is None or not marks:
        raise Problem(f"{log}: the module printed no marks")
    name_rows(rows)
    events = list(read(folder, base))
    # A recording of per-CPU memory alone has no marks; each event has a call site.
    starts, pid = [], None
    if any(event.space != "percpu" for event in events):
        starts, pid = find_marks(events, marks)
    state = Judge(rows, starts, pid)
    for i, event in enumerate(events):
        state.count(i, event)
    return rows


def release(folder):
    """Return the release of the recorded kernel."""
    path = os.path.join(folder, "release")
    if os.path.exists(path):
        with open(path, encoding="ascii") as file:
            return file.read().strip()
    return capture.meta(os.path.join(folder, "capture"))["kernel_release"]


def main():
    if len(sys.argv) < 3 or sys.argv[1] not in READERS:
        sys.exit(__doc__)
    folders = sys.argv[2:]
    try:
        paths, failures = {}, []
        for folder in folders:
            failure = os.path.join(folder, "failed")
            if os.path.exists(failure):
                with open(failure, encoding="utf-8", errors="replace") as file:
                    failures.append(file.read().strip())
                continue
            for row in judge(READERS[sys.argv[1]], folder):
                seen = [row.seen[op] for op in (ALLOC, FREE, DEFER)]
                entry = paths.setdefault((row.function, row.kind), {
                    "function": row.function, "type": row.kind, "made": row.made(),
                    "recorded": [0, 0, 0]})
                # The recordings of memleak have different types of memory.
                entry["recorded"] = [sum(pair)
                                     for pair in zip(entry["recorded"], seen)]
        for function, kind in PLAIN:
            entry = paths.get((function, kind))
            if not entry:
                raise Problem("; ".join(failures) or f"there is no path {function}")
            if any(10 * n < 9 * made for n, made in
                   zip(entry["recorded"], entry["made"])):
                raise Problem(f"{folders[0]}: of {function}, {entry['made']}"
                              f" were made, {entry['recorded']} are recorded")
    except Problem as problem:
        sys.exit(f"sources.py: {problem}")
    json.dump({"release": release(folders[0]), "failures": failures,
               "paths": list(paths.values())}, sys.stdout, indent=1)
    print()
    return 0


if __name__ == "__main__":
    sys.exit(main())
