# SPDX-License-Identifier: GPL-2.0-or-later
"""The data of kmemtrace-report --html, computed in a simple way from
reference_figures.py, and the data that a page has."""

import collections
import dataclasses
import json
import re

from reference_capture import AT_THE_END, KINDS
from reference_figures import Figures
from reference_output import Output
from reference_totals import at_most, powers

MAX_WINDOWS = 240
GROWTH_WINDOWS = 10
MAX_PARTS = 10
# Title, class, whether the finding names two call sites.
FINDINGS = [
    ("TYPE MISMATCHES", "mismatch", "mismatch", True),
    ("UNEXPLAINED FREES", "unmatched", "unexplained", False),
    ("UNEXPLAINED DOUBLE ALLOCATIONS", "double", "unexplained", True),
    ("UNEXPLAINED DEFERRED FREES", "unmatched_defer", "unexplained", False),
    ("FREES DEFERRED TWICE", "double_defer", "unexplained", True),
]
SCRIPT = re.compile('<script type="application/json" id="kmt-data">(.*?)</script>',
                    re.S)


def data_of(page):
    """Return the data of a page."""
    return json.loads(SCRIPT.search(page)[1])


def printable(text):
    """Return a text as the page has it."""
    return "".join(c if c.isprintable() else "?" for c in text)


class History(Figures):
    """Figures with the time of each event of the span."""

    def __init__(self, *args):
        self.now = None
        self.events = []    # time, group or kind, what, bytes or record
        self.before = {}    # group -> live bytes, deferred bytes at START
        super().__init__(*args)

    def reach(self, now, number):
        super().reach(now, number)
        self.now = now if self.now is None else max(self.now, now)

    def begin_span(self, number):
        super().begin_span(number)
        self.before = {group: (group.totals.live, group.totals.deferred.bytes)
                       for group in self.groups.values()}

    def note(self, group, what, value):
        """Note an event."""
        if self.inside:
            self.events.append((self.now, group, what, value))

    def book(self, number, act):
        if act.op == "record":
            self.note(KINDS[act.free.type], "record", 1)
        else:
            group = self.group_of(act.object)
            was_deferred = act.object in self.deferred
            if group and act.op in ("close", "free"):
                self.note(group, "live", -act.object.alloc)
                if was_deferred:
                    self.note(group, "deferred", -act.object.alloc)
            if group and act.op in ("free", "late"):
                self.note(group, "free", (act.hand or act.free).site)
            if group and act.op == "alloc":
                self.note(group, "live", act.object.alloc)
                self.note(group, "alloc", act.object)
            if group and act.op == "defer":
                self.note(group, "deferred", act.object.alloc)
        super().book(number, act)


class Windows:
    """The figures of a group or kind by window."""

    def __init__(self, live, deferred, n):
        self.before = live
        self.live = [live] * n
        self.deferred = [deferred] * n
        self.sums = [[0, 0, 0, 0] for _ in range(n)]    # allocs, frees, req, alloc
        self.used = set()

    def add(self, window, what, value):
        """Add an event."""
        if what in ("live", "deferred"):
            values = getattr(self, what)
            values[window:] = [v + value for v in values[window:]]
        elif what == "alloc":
            self.sums[window][0] += 1
            self.sums[window][2] += value.req
            self.sums[window][3] += value.alloc
        else:
            self.sums[window][1] += 1
        self.used.add(window)


class Expected:
    """The data that a page must have; capture and options as in Figures."""

    def __init__(self, capture, options, names):
        self.capture = capture
        self.options = dataclasses.replace(options, by=("callsite",),
                                           details=True)
        self.names = names
        self.factor = capture.sample
        self.figures = History(capture, self.options, names)
        self.groups = list(self.figures.groups.values())
        self.shift = self.n_windows = 0
        self.limit_windows()
        self.series = self.by_window()
        self.kinds = KINDS if capture.size >= 64 else KINDS[:3]

    def scaled(self, value):
        """Return a value times the factor of the sample."""
        return at_most(value * self.factor)

    def limit_windows(self):
        """Set the number of windows and log2 of their width."""
        f = self.figures
        if not self.capture.records:
            return
        last = min(f.stop, f.last)
        if f.now is not None and f.now != AT_THE_END:
            last = max(last, f.now)
        length = max(0, last - f.start)
        while length >> self.shift >= MAX_WINDOWS:
            self.shift += 1
        self.n_windows = (length >> self.shift) + 1

    def by_window(self):
        """Return the Windows of each group, and of each kind its frees."""
        f = self.figures
        result = {g: Windows(*f.before.get(g, (0, 0)), self.n_windows)
                  for g in self.groups}
        result.update((kind, Windows(0, 0, self.n_windows)) for kind in KINDS)
        for time, group, what, value in f.events:
            window = max(0, time - f.start) >> self.shift
            result[group].add(window, what, value)
        return result

    def windows(self):
        """Return the member windows."""
        return {"n": self.n_windows, "width_ns": 1 << self.shift,
                "start_ns": self.options.start}

    def kind_series(self, kind):
        """Return the series of a kind."""
        own = [self.series[g] for g in self.groups if g.kind == kind]

        def column(values):
            return [self.scaled(sum(column)) for column in
                    zip(*values)] if values else [0] * self.n_windows

        sums = [column([[row[i] for row in s.sums] for s in own])
                for i in range(4)]
        if not self.figures.filter.is_set:
            sums[1] = [row[1] for row in self.series[kind].sums]
        return {"live": column([s.live for s in own]), "allocs": sums[0],
                "frees": sums[1], "requested": sums[2], "allocated": sums[3]}

    def site_series(self, group):
        """Return the sparse series of a group."""
        s = self.series[group]
        result = [self.scaled(s.before)]
        for window in sorted(s.used):
            result.append(window)
            result += [self.scaled(v) for v in (s.live[window],
                                                *s.sums[window])]
        return result

    def name(self, address):
        """Return the name of a call site."""
        return (self.figures.naming.describe(address)
                or (f"0x{address:016x}" if address
                    else "(caller not recorded)"))

    def directory(self, address):
        """Return the directory of a call site: its module."""
        symbol = self.figures.naming.symbol(address)
        if not symbol:
            return "(unknown)"
        return f"[{symbol[1]}]" if symbol[1] else "vmlinux"

    @staticmethod
    def totals(t):
        """Return the members of sums."""
        return {"allocs": t.allocs, "frees": t.frees, "requested": t.req,
                "allocated": t.alloc, "wasted": t.alloc - t.req,
                "live_objects": t.objects, "live": t.live,
                "live_requested": t.live_req, "cross_frees": t.cross}

    def kind(self, kind):
        """Return a member of kinds."""
        t = self.figures.kinds[kind]
        origin = self.capture.origin
        return {"kind": kind, **self.totals(t), "peak": t.peak,
                "peak_at_ns": t.peak_at - origin if t.peak else None}

    def histogram(self, values):
        """Return a histogram."""
        return [[low, self.scaled(n)] for low, n in powers(values)]

    def selected(self):
        """Return the groups of the page."""
        return [g for g in self.groups
                if g.totals.allocs or g.totals.frees or g.totals.objects
                or g.totals.peak]

    def finer(self, *by):
        """Return the groups of a run by other dimensions."""
        return Figures(self.capture, dataclasses.replace(self.options, by=by),
                       self.names).groups.values()

    def parts(self, dimension):
        """Return {site and kind: sorted parts} by a dimension."""
        parts = collections.defaultdict(collections.Counter)
        sums = {}
        for g in self.finer("callsite", dimension):
            key = g.kind, g.values[0], printable(g.values[1])
            t = g.totals
            old = sums.get(key, (0, 0, 0))
            sums[key] = (old[0] + t.allocs, old[1] + t.alloc, old[2] + t.live)
        for (kind, site, name), (allocs, size, live) in sums.items():
            parts[kind, site][name] = (-size, -live, name, allocs)
        return {key: [[name, allocs, -size, -live]
                      for size, live, name, allocs in sorted(values.values())[:MAX_PARTS]]
                for key, values in parts.items()}

    def freed_by(self):
        """Return {group: sorted freeing call sites}."""
        counts = collections.defaultdict(collections.Counter)
        for _, group, what, value in self.figures.events:
            if what == "free":
                counts[group][value] += 1
        return {group: [[self.name(site), self.scaled(n)] for site, n in sorted(
            sites.items(), key=lambda c: (-c[1], c[0]))[:MAX_PARTS]]
                for group, sites in counts.items()}

    def sites(self):
        """Return the call sites by kind and address."""
        caches, tasks = self.parts("cache"), self.parts("comm")
        freed_by = self.freed_by()
        result = {}
        for g in self.selected():
            site = g.values[0]
            symbol = self.figures.naming.symbol(site)
            result[g.kind, f"0x{site:016x}"] = {
                "site": self.name(site), "module": symbol and symbol[1],
                "dir": self.directory(site), "source": None,
                **self.totals(g.totals), "peak": g.totals.peak,
                "short_lived": self.scaled(sum(
                    t < self.options.churn for t in g.lifetimes)),
                "deferred": g.totals.deferred.bytes,
                "lifetimes": self.histogram(g.lifetimes),
                "sizes": self.histogram(g.sizes),
                "ages": self.histogram(g.ages),
                "caches": caches[g.kind, site], "tasks": tasks[g.kind, site],
                "freed_by": freed_by.get(g, []),
                "series": self.site_series(g)}
        return result

    def tree(self):
        """Return {path: figures} of the tree by function."""
        result = {}
        for g in self.finer("kind", "module", "function", "size"):
            _, module, function, size = g.values
            if module not in ("vmlinux", "(unknown)"):
                module = f"[{module}]"
            if function == f"0x{0:016x}":
                function = "(caller not recorded)"
            t = g.totals
            result[g.kind, module, function, f"{size} B"] = [
                t.live, t.alloc, t.alloc - t.req, g.at_peak, t.allocs]
        return {path: figures for path, figures in result.items()
                if any(figures)}

    def caches(self):
        """Return {kind and cache: figures}."""
        result = {}
        for g in self.finer("cache"):
            t = g.totals
            result[g.kind, g.values[0]] = {
                "allocs": t.allocs, "requested": t.req, "allocated": t.alloc,
                "live_objects": t.objects, "live": t.live,
                "live_requested": t.live_req}
        return result

    def heat(self):
        """Return {pair of CPUs: frees}."""
        result = collections.Counter()
        for (_, alloc, free), (n, _) in self.figures.matrix.items():
            result[alloc, free] += n
        return {cpus: n for cpus, n in result.items() if n}

    def leaks(self):
        """Return the leak candidates in the order of the page."""
        parts = min(self.n_windows, GROWTH_WINDOWS)
        ends = [self.n_windows * (i + 1) // parts - 1 for i in range(parts)]
        for group in self.groups:
            s = self.series[group]
            group.live_at_ends = [self.scaled(s.live[e] - s.deferred[e])
                                  for e in ends]
        if parts < 4:
            return []
        return Output(self.figures).leaks()

    def findings(self):
        """Return {title: [count, first name, second name]} of the findings that
        name call sites."""
        output = Output(self.figures)
        return {title: [[n, self.name(a), self.name(b) if second else None]
                        for ((a, _), (b, _)), n in output.tally(what, why)]
                for title, what, why, second in FINDINGS}
