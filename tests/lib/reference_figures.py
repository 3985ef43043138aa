# SPDX-License-Identifier: GPL-2.0-or-later
"""Every figure of kmemtrace-report, computed in a simple way.

The figures follow docs/definitions.md and kmemtrace-report(1).  The program shares
no code with this module.  Figures takes a reference_capture.Capture;
reference_output.py derives the output of the program from the figures.
"""

import collections

from reference_capture import ALLOC, AT_THE_END, KINDS
from reference_totals import (SINGLE_KINDS, TABLE_KINDS, Filter, Group, Naming,
                              Totals, Window, at_most, layer_of, percentile)


class Figures:  # pylint: disable=too-many-instance-attributes
    """All figures that a set of options selects."""

    def __init__(self, capture, options, names):
        self.capture = capture
        self.options = options
        self.naming = Naming(names, capture.nodes, capture.tasks)
        self.filter = Filter(options, self.naming)
        self.kinds = {kind: Totals() for kind in TABLE_KINDS}
        self.groups = {}
        self.wanted = {}    # properties of an object -> its Group
        self.live = set()
        self.deferred = {}  # live object -> its first DEFER
        self.windows = []
        self.window_ends = []
        self.matrix = collections.defaultdict(lambda: [0, 0])
        self.pairs = collections.defaultdict(lambda: [0, 0])
        self.peak_act = {}  # kind -> number of the act after which the kind had its peak
        self.inside = False
        self.inside_since = -1
        self.ended = False
        self.start = self.stop = self.span = 0
        self.first = self.last = 0
        self.saturated = False  # whether a scaled figure exceeded 64 bits
        self.unordered = self.skipped = 0
        self.truncated = sum(f.truncated for f in capture.files)
        self.limit_span()
        self.read_files()
        if capture.records:
            self.run()
        else:
            self.findings = []
        self.scale(capture.sample)
        self.short = sum(r.alloc < r.req for r in capture.records
                         if r.event == ALLOC and r.now <= self.stop)

    # ---- time ----

    def limit_span(self):
        """Convert START and STOP to merged times."""
        o = self.options
        if not self.capture.records:
            return
        self.start = self.capture.origin + o.start
        self.stop = (AT_THE_END if o.stop is None
                     else self.capture.origin + o.stop)

    def read_files(self):
        """Collect the properties of the part of the files that has to be read: up
        to a record of each file that is later than STOP plus the tolerance."""
        times = []
        for file in self.capture.files:
            last = None
            n = 0
            for n, record in enumerate(file.records, 1):
                times.append(record.t)
                if record.now > self.stop + self.options.tolerance:
                    break
                self.unordered += last is not None and record.t < last
                last = record.t
            else:
                n += 1
            self.skipped += file.skipped_before[n - 1]
        if times:
            ends = self.capture.ends()
            self.first = min(min(times), ends[0])
            self.last = max(max(times), ends[1])

    def plan_windows(self):
        """Compute the ends of windows; without STOP the last one is open."""
        o = self.options
        stop = self.stop
        if o.stop is None:
            first, last = self.capture.ends()
            stop = max(self.start, self.capture.origin + last - first)
        self.window_ends = [
            self.start + (stop - self.start) * (i + 1) // o.windows
            for i in range(o.windows)]

    def begin_window(self):
        """Start the next window."""
        n = len(self.windows)
        start = self.window_ends[n - 1] if n else self.start
        self.windows.append(Window(start, self.kinds))

    def end_window(self):
        """End a window with the current live bytes."""
        for kind, totals in self.windows[-1].kinds.items():
            totals.live = self.kinds[kind].live
            totals.deferred.bytes = self.kinds[kind].deferred.bytes
        n = len(self.windows)
        for group in self.groups.values():
            group.live_at_ends += [0] * (n - 1 - len(group.live_at_ends))
            group.live_at_ends.append(group.in_use()[0])

    def begin_span(self, number):
        """Start the peaks at START."""
        self.inside = True
        self.inside_since = number
        for totals in self.kinds.values():
            totals.restart(self.start)
        for group in self.groups.values():
            group.totals.restart(self.start)
        if self.options.windows:
            self.begin_window()

    def reach(self, now, number):
        """Start and end windows up to the time now."""
        if not self.inside and now >= self.start:
            self.begin_span(number)
        while (self.inside and len(self.windows) < self.options.windows
               and now > self.window_ends[len(self.windows) - 1]):
            self.end_window()
            self.begin_window()

    # ---- objects ----

    def group_of(self, record):
        """Return the group of a record, None if the filter rejects it."""
        key = (record.site, record.type, record.cpu, record.node, record.gfp,
               record.req, record.alloc,
               *(self.naming.task(d, record) for d in ("comm", "cgroup")))
        if key not in self.wanted:
            group = None
            if self.filter.wants(record):
                group = self.find_group(record)
            self.wanted[key] = group
        return self.wanted[key]

    def find_group(self, record):
        """Return the group for all dimensions; some dimensions separate kmalloc
        from caches."""
        by = self.options.by
        kind = KINDS[record.type]
        if not any(d in SINGLE_KINDS for d in by):
            kind = layer_of(kind)
        values = tuple(self.naming.value(d, record) for d in by)
        return self.groups.setdefault((kind, values), Group(kind, values))

    def totals_of(self, record, group):
        """Return the totals that contain an object, without windows."""
        kind = KINDS[record.type]
        result = [group.totals, self.kinds[kind]]
        if layer_of(kind) != kind:
            result.append(self.kinds["slab"])
        return result

    @staticmethod
    def kinds_of(record):
        """Return the kinds that contain a record."""
        kind = KINDS[record.type]
        return [kind] if layer_of(kind) == kind else [kind, "slab"]

    def is_remote(self, record):
        """Return whether memory of another node was requested."""
        own = self.capture.nodes[record.cpu]
        return record.node >= 0 and own >= 0 and record.node != own

    def count(self, record, group):
        """Add an allocation to the sums."""
        for totals in self.totals_of(record, group):
            totals.count(record, self.is_remote(record))
        group.sizes.append(record.req)
        if self.windows:
            for kind in self.kinds_of(record):
                self.windows[-1].kinds[kind].count(record, False)

    def count_frees(self, record):
        """Add a free to the sums of its kind."""
        for kind in self.kinds_of(record):
            self.kinds[kind].frees += 1
            if self.windows:
                self.windows[-1].kinds[kind].frees += 1

    def alloc(self, record, group, number):
        """Add a live object."""
        self.live.add(record)
        if self.options.lifetime:
            return
        for totals in self.totals_of(record, group):
            totals.open(record)
        if not self.inside:
            return
        self.count(record, group)
        group.totals.look(record.now)
        for kind in self.kinds_of(record):
            if self.kinds[kind].look(record.now):
                self.peak_act[kind] = number
            if self.windows:
                window = self.windows[-1].kinds[kind]
                window.live = self.kinds[kind].live
                window.look(record.now)

    def defer(self, record, group, defer):
        """Make a live object a deferred one."""
        self.deferred[record] = defer
        if self.options.lifetime:
            return
        for totals in self.totals_of(record, group):
            totals.deferred.begin(record)

    def close(self, record, group):
        """Remove a live object."""
        self.live.remove(record)
        defer = self.deferred.pop(record, None)
        if self.options.lifetime:
            return
        for totals in self.totals_of(record, group):
            totals.close(record)
            if defer:
                totals.deferred.end(record)

    def free(self, record, group, act):
        """Add the free of an object. Code and CPU of the free are those of the
        DEFER."""
        free = act.free
        freer = act.hand or free
        lifetime = max(0, free.now - record.now)
        if not self.inside:
            return
        limits = self.options.lifetime
        if limits:
            if not limits[0] <= lifetime <= limits[1]:
                return
            self.count(record, group)
        cross = record.cpu != freer.cpu
        group.totals.frees += 1
        for totals in self.totals_of(record, group):
            totals.cross += cross
            if act.since:
                totals.deferred.frees += 1
                totals.deferred.times.append(max(0, free.now - act.since.now))
        if self.filter.is_set:
            self.count_frees(record)
        group.lifetimes.append(lifetime)
        self.cross(record, freer)

    def cross(self, record, free):
        """Count a free by allocating and freeing CPU and call site."""
        layer = layer_of(KINDS[record.type])
        sums = [self.matrix[layer, record.cpu, free.cpu]]
        if record.cpu != free.cpu:
            sums.append(self.pairs[record.site, KINDS[record.type],
                                   free.site])
        for pair in sums:
            pair[0] += 1
            pair[1] += record.alloc

    # ---- processing ----

    def book(self, number, act):
        """Process one act."""
        if act.op == "record":
            if self.inside and not self.filter.is_set:
                self.count_frees(act.free)
            return
        group = self.group_of(act.object)
        if not group:
            return
        if act.op == "alloc":
            self.alloc(act.object, group, number)
        if act.op == "defer":
            self.defer(act.object, group, act.free)
        if act.op in ("close", "free"):
            self.close(act.object, group)
        if act.op in ("free", "late"):
            self.free(act.object, group, act)

    def run(self):
        """Process all acts in order up to STOP."""
        if self.options.windows:
            self.plan_windows()
        matching = self.capture.match(self.options.tolerance)
        acts = matching.acts
        self.ended = self.capture.records[-1].now > self.stop
        booked = 0
        for number, act in enumerate(acts):
            if self.ended and act.time > self.stop:
                break
            if act.time != AT_THE_END:
                self.reach(act.time, number)
            self.book(number, act)
            booked += 1
        if not self.inside:
            self.begin_span(booked)
        if self.options.windows:
            self.end_window()
            while len(self.windows) < self.options.windows:
                self.begin_window()
                self.end_window()
        self.findings = [f for f in matching.findings
                         if f.second.now <= self.stop]
        self.at_stop()
        self.at_peaks(acts)

    def at_stop(self):
        """Compute the ages of the live objects at STOP."""
        end = min(self.stop, self.last)
        self.span = max(0, end - self.start)
        for record in self.live:
            group = self.group_of(record)
            age = max(0, end - record.now)
            limits = self.options.lifetime
            if limits:
                if not limits[0] <= age <= limits[1]:
                    continue
                self.count(record, group)
                for totals in self.totals_of(record, group):
                    totals.open(record)
            if record not in self.deferred:
                group.ages.append(age)
                continue
            for totals in self.totals_of(record, group):
                if limits:
                    totals.deferred.begin(record)
                totals.deferred.ages.append(
                    max(0, end - self.deferred[record].now))

    def at_peaks(self, acts):
        """Compute the live memory of each group at the peak of its kind, in a
        second pass up to that act."""
        if self.options.lifetime:
            return
        live = collections.Counter()
        deferred = collections.Counter()
        moments = collections.defaultdict(list)
        for kind in TABLE_KINDS:
            moments[self.peak_act.get(kind, self.inside_since - 1)].append(
                kind)

        def note(number):
            for kind in moments.pop(number, ()):
                self.kinds[kind].deferred.at_peak = deferred[kind]
                for group in self.groups.values():
                    if group.kind == kind:
                        group.at_peak = live[group]
                        group.totals.deferred.at_peak = deferred[group]

        note(-1)
        for number, act in enumerate(acts):
            if not moments:
                break
            group = act.object and self.group_of(act.object)
            if group and act.op in ("alloc", "close", "free"):
                bytes_alloc = act.object.alloc
                live[group] += (bytes_alloc if act.op == "alloc"
                                else -bytes_alloc)
            if group and (act.op == "defer" or
                          act.since and act.op in ("close", "free")):
                for key in [group, *self.kinds_of(act.object)]:
                    deferred[key] += act.object.alloc * (
                        1 if act.op == "defer" else -1)
            note(number)

    def scale(self, factor):
        """Multiply the figures of allocations and of live memory by the sampling
        factor. Frees are those of all records, unless a filter of the report
        selects objects; the frees of a group are those of its objects.
        Percentiles do not depend on the factor."""
        if factor == 1:
            return
        own = self.filter.is_set
        every = [(t, own) for t in self.kinds.values()]
        every += [(t, own) for w in self.windows for t in w.kinds.values()]
        every += [(g.totals, True) for g in self.groups.values()]
        for totals, has_own_frees in every:
            self.saturated |= totals.scale(factor, has_own_frees)
        for group in self.groups.values():
            group.at_peak = at_most(group.at_peak * factor)
            group.live_at_ends = [at_most(v * factor)
                                  for v in group.live_at_ends]
        for pair in [*self.matrix.values(), *self.pairs.values()]:
            pair[:] = [at_most(v * factor) for v in pair]

    def lines(self):
        """Return the groups of the table, unsorted."""
        o = self.options
        result = []
        for group in self.groups.values():
            t = group.totals
            if not (t.allocs or t.frees or t.objects or t.peak):
                continue
            if o.live and not t.objects:
                continue
            if o.slab != o.page and (layer_of(group.kind)
                                     != ("pages" if o.page else "slab")):
                continue
            result.append(group)
        return result

    def leaks(self):
        """Return (group, windows grown, growth) of each leak candidate."""
        result = []
        for group in self.lines():
            live = group.live_at_ends
            grown = sum(b > a for a, b in zip(live, live[1:]))
            growth = live[-1] - live[0]
            p99 = percentile(group.lifetimes, 99)
            if (growth > 0 and 4 * grown >= 3 * (len(live) - 1)
                    and group.in_use()[1] > 1
                    and (p99 is None or percentile(group.ages, 50) > p99)):
                result.append((group, grown, growth))
        return result
