# SPDX-License-Identifier: GPL-2.0-or-later
"""The output of kmemtrace-report for reference_figures.Figures: the members of the
JSON document, CSV, folded stacks, and the cells of the text table.  One unit: all
forms share the fields."""

import collections

from reference_capture import KINDS
from reference_totals import (LARGEST, LAYERS, TABLE_KINDS, Totals, at_most,
                              layer_of, percentile, powers, ratio)

TITLES = {"callsite": ("call site", "call sites"),
          "function": ("function", "functions"),
          "module": ("module", "modules"),
          "directory": ("directory", "directories"),
          "kind": ("kind", "kinds"), "cache": ("cache", "caches"),
          "size": ("size", "sizes"), "cpu": ("CPU", "CPUs"),
          "node": ("node", "nodes"), "gfp": ("gfp flags", "gfp flags"),
          "comm": ("command", "commands"), "cgroup": ("cgroup", "cgroups")}
# Memory in which an allocator keeps objects: its kind, the function that allocates
# the memory, and the kind of the objects.
ALLOCATORS = {("slab", "alloc_vmap_area"): "vmalloc",
              **{("pages", name): "slab" for name in (
                  "alloc_slab_page", "allocate_slab", "new_slab", "cache_grow_begin",
                  "kmem_getpages", "slob_new_pages")}}
ALIASES = {"bytes": "allocated", "hit": "allocs", "pingpong": "cross-cpu"}


def live_waste(t):
    """Return the wasted bytes of live objects."""
    return t.live - t.live_req


# Fields that have a sum over groups: format, and function of Totals.
SUMS = {
    "wasted": ("count", Totals.wasted),
    "frag": ("ratio", lambda t: ratio(t.wasted(), t.alloc)),
    "requested": ("count", lambda t: t.req),
    "allocated": ("count", lambda t: t.alloc),
    "allocs": ("count", lambda t: t.allocs),
    "frees": ("count", lambda t: t.frees),
    "live": ("count", lambda t: t.live),
    "live-objects": ("count", lambda t: t.objects),
    "live-requested": ("count", lambda t: t.live_req),
    "live-wasted": ("count", live_waste),
    "live-frag": ("ratio", lambda t: ratio(live_waste(t), t.live)),
    "cross-cpu": ("count", lambda t: t.cross),
    "remote-node": ("count", lambda t: t.remote),
    "deferred": ("count", lambda t: t.deferred.bytes),
    "deferred-objects": ("count", lambda t: t.deferred.objects),
    "deferred-frees": ("count", lambda t: t.deferred.frees)}
# Fields of deferred memory without a sum: format, and function of Deferred.
DEFERRED = {
    "deferred-peak": ("count", lambda d: d.peak),
    "deferred-at-peak": ("count", lambda d: d.at_peak),
    "deferred-median": ("length", lambda d: percentile(d.times, 50)),
    "deferred-p99": ("length", lambda d: percentile(d.times, 99)),
    "deferred-max": ("length", lambda d: max(d.times, default=None)),
    "deferred-age-median": ("length", lambda d: percentile(d.ages, 50)),
    "deferred-age-max": ("length", lambda d: max(d.ages, default=None))}
# Their keys in JSON.
DEFERRED_KEYS = {
    "deferred_bytes_allocated": "deferred",
    "deferred_objects": "deferred-objects",
    "deferred_frees": "deferred-frees",
    "deferred_peak_bytes_allocated": "deferred-peak",
    "deferred_bytes_at_peak": "deferred-at-peak",
    "deferred_time_median": "deferred-median",
    "deferred_time_p99": "deferred-p99",
    "deferred_time_max": "deferred-max",
    "deferred_age_median": "deferred-age-median",
    "deferred_age_max": "deferred-age-max"}
# Other fields: format. Output.figure() computes them.
OTHERS = {"reused": "count", "peak": "count", "peak-time": "time",
          "at-peak": "count", "lifetime-median": "length",
          "lifetime-p99": "length", "age-median": "length", "churn": "rate",
          **{name: form for name, (form, _) in DEFERRED.items()}}
FIELDS = list(SUMS) + list(OTHERS)
# Those of OTHERS that need lifetimes.
DETAILS = ("lifetime-median", "lifetime-p99", "age-median", "churn")


def seconds(time):
    """Return nanoseconds from the first record in the form of the tables."""
    sign = "-" if time < 0 else ""
    return f"{sign}{abs(time) // 10**9}.{abs(time) % 10**9:09}"


def duration(time):
    """Return a duration with three digits, or in whole seconds."""
    digits = min(max(0, len(str(time)) - 3), 9)
    step = 10 ** digits
    time = (time + step // 2) // step * step
    for unit, factor in (("s", 10**9), ("ms", 10**6), ("us", 10**3)):
        if time >= factor:
            whole, rest = divmod(time, factor)
            return f"{whole}.{rest:0{len(str(factor)) - 1}}".rstrip(
                "0").rstrip(".") + unit if rest else f"{whole}{unit}"
    return f"{time}ns"


def reused(t, options):
    """Return the objects that are neither freed nor live; None if objects that were
    live at START are included."""
    known = t.frees + t.objects
    if options.start or known > min(t.allocs, LARGEST):
        return None
    return t.allocs - known


def fragment(value):
    """Return a frame of a folded stack."""
    return "".join("_" if c in "; \n" else c for c in value)


def quoted(value):
    """Return a quoted field of CSV."""
    if any(c in value for c in ",\"\r\n"):
        return '"' + value.replace('"', '""') + '"'
    return value


class Output:
    """The output of one report."""

    def __init__(self, figures):
        self.figures = figures
        self.options = figures.options
        self.naming = figures.naming
        self.rows = self.sorted_lines()
        shown = self.options.lines or len(self.rows)
        self.shown, self.rest = self.rows[:shown], self.rows[shown:]

    # ---- figures ----

    def figure(self, name, group):
        """Return the value of a field, None if it is undefined."""
        name = ALIASES.get(name, name)
        if name in SUMS:
            return SUMS[name][1](group.totals)
        options = self.options
        if name in DEFERRED:
            return self.deferred_figure(name, group.totals)
        if name == "reused":
            return reused(group.totals, options)
        if options.lifetime and name in ("peak", "peak-time", "at-peak"):
            return None
        if name == "peak":
            return group.totals.peak
        if name == "peak-time":
            return group.totals.peak_at if group.totals.peak else None
        if name == "at-peak":
            return group.at_peak
        if name == "age-median":
            return percentile(group.ages, 50)
        if name == "churn":
            if not self.figures.span:
                return None
            short = sum(life < options.churn for life in group.lifetimes)
            short = at_most(short * self.figures.capture.sample)
            return float(short) * 1e9 / float(self.figures.span)
        return percentile(group.lifetimes, {"lifetime-median": 50,
                                            "lifetime-p99": 99}[name])

    def deferred_figure(self, name, totals):
        """Return a figure of deferred memory without a sum."""
        if self.options.lifetime and name.endswith("peak"):
            return None
        return DEFERRED[name][1](totals.deferred)

    # ---- order ----

    def name_order(self, group):
        """Return the sort key of the names: call sites by name, module and offset,
        with nameless ones last; other dimensions by value."""
        order = []
        for dimension, value in zip(self.options.by, group.values):
            symbol = self.naming.symbol(value) \
                if dimension == "callsite" else None
            if dimension != "callsite":
                order.append(value)
            elif symbol:
                order.append((0, symbol[0], symbol[1] or "", symbol[2]))
            else:
                order.append((1, value))
        return order

    def sort_value(self, key, group):
        """Return the value that a sort key compares."""
        if key == "callsite":
            return self.name_order(group)
        if key == "ptr":
            return group.values
        value = self.figure(key, group)
        return (value is not None, value or 0)

    def sorted_lines(self):
        """Return the sorted lines of the table."""
        rows = self.figures.lines()
        rows.sort(key=lambda g: (g.values, TABLE_KINDS.index(g.kind)))
        for key, upwards in reversed(self.options.sort):
            rows.sort(key=lambda g, key=key: self.sort_value(key, g),
                      reverse=not upwards)
        return rows

    def sums_of_rest(self):
        """Return {kind: (lines, totals)} of the lines beyond --lines."""
        rest = {}
        for group in self.rest:
            kind = layer_of(group.kind)
            n, totals = rest.get(kind, (0, Totals()))
            totals.add(group.totals)
            rest[kind] = (n + 1, totals)
        return rest

    # ---- text ----

    def text_of(self, dimension, value):
        """Return the text of a value."""
        if dimension == "callsite":
            return self.naming.describe(value) or f"0x{value:016x}"
        if dimension == "kind":
            return KINDS[value]
        if dimension == "node":
            return str(value) if value >= 0 else "any"
        if dimension == "gfp":
            return f"0x{value:x}" if value else "none"
        return str(value)

    def texts(self, group, but=()):
        """Return the texts of all dimensions."""
        return [self.text_of(d, v)
                for d, v in zip(self.options.by, group.values)
                if d not in but]

    @staticmethod
    def plural(dimension):
        """Return the plural name of a dimension."""
        return TITLES[dimension][1]

    def cell(self, name, value):
        """Return the text of a figure in a table."""
        form = SUMS[name][0] if name in SUMS else OTHERS[name]
        if value is None:
            return "-"
        return {"count": str, "ratio": lambda v: f"{v * 100:.1f}",
                "rate": lambda v: f"{v:.1f}",
                "time": lambda v: seconds(v - self.figures.capture.origin),
                "length": duration}[form](value)

    def table(self):
        """Return the lines of the text table as lists of cells."""
        names = [ALIASES.get(n, n) for n in self.options.fields]
        for key, _ in self.options.sort:
            key = ALIASES.get(key, key)
            if key in FIELDS and key not in names:
                names.append(key)
        has_kind = "kind" not in self.options.by
        lines = []
        for group in self.shown:
            cells = [self.cell(n, self.figure(n, group)) for n in names]
            cells += [group.kind] * has_kind + self.texts(group)
            lines.append(cells)
        for kind in LAYERS:
            n, totals = self.sums_of_rest().get(kind, (0, None))
            if not n:
                continue
            cells = [self.cell(f, SUMS[f][1](totals) if f in SUMS else
                               reused(totals, self.options)
                               if f == "reused" else None)
                     for f in names]
            what = (TITLES[self.options.by[0]] if len(self.options.by) == 1
                    else ("line", "lines"))
            cells += [kind] * has_kind + [f"({n} more {what[n != 1]})"]
            lines.append(cells)
        return lines

    def csv(self):
        """Return the CSV output."""
        by = [d for d in self.options.by if d != "kind"]
        names = [ALIASES.get(n, n) for n in self.options.fields]
        lines = [["kind"] + by + names]
        for group in self.shown:
            cells = [self.figure(n, group) for n in names]
            lines.append([group.kind] + [quoted(t) for t in
                                         self.texts(group, ("kind",))] +
                         ["" if c is None else f"{c:.17g}"
                          if isinstance(c, float) else str(c) for c in cells])
        return "".join(",".join(line) + "\r\n" for line in lines)

    def folded(self):
        """Return the folded stacks."""
        text = ""
        for group in self.shown:
            weight = self.figure(self.options.fields[0], group)
            if weight is None or weight <= 0:
                continue
            frames = [group.kind] + [fragment(t) for t in
                                     self.texts(group, ("kind",))]
            text += f"{';'.join(frames)} {weight}\n"
        for kind in TABLE_KINDS:
            weights = [self.figure(self.options.fields[0], group) or 0
                       for group in self.rest if group.kind == kind]
            others = at_most(sum(w for w in weights if w > 0))
            if others:
                text += f"{kind};(others) {others}\n"
        return text

    # ---- JSON ----

    def site(self, address, kind):
        """Return the JSON object of a call site."""
        symbol = self.naming.symbol(address)
        return {"address": f"0x{address:016x}",
                "symbol": self.naming.describe(address), "kind": kind,
                "module": symbol[1] if symbol else None, "directory": None,
                "source": None, "inlined": []}

    @staticmethod
    def sums(t):
        """Return the JSON members of totals without the peak."""
        return {"allocs": t.allocs, "frees": t.frees, "bytes_requested": t.req,
                "bytes_allocated": t.alloc, "bytes_wasted": t.wasted(),
                "fragmentation": ratio(t.wasted(), t.alloc),
                "cross_cpu_frees": t.cross, "remote_node_allocs": t.remote,
                "live_objects": t.objects, "live_bytes_requested": t.live_req,
                "live_bytes_allocated": t.live}

    def peak(self, t):
        """Return the JSON members of the peak, unknown with --lifetime."""
        known = not self.options.lifetime
        return {"peak_bytes_allocated": t.peak if known else None,
                "peak_timestamp": t.peak_at if known else None}

    def deferred(self, t, sums_only=False):
        """Return the JSON members of deferred memory."""
        if not self.figures.capture.may_defer():
            return {}
        return {key: SUMS[name][1](t) if name in SUMS
                else self.deferred_figure(name, t)
                for key, name in DEFERRED_KEYS.items()
                if name in SUMS or not sums_only}

    def name_of(self, group):
        """Return the JSON members that name a line."""
        by = self.options.by
        if "callsite" in by:
            result = self.site(group.values[by.index("callsite")], group.kind)
        else:
            result = {"kind": group.kind}
        for dimension, value in zip(by, group.values):
            if dimension not in ("callsite", "kind"):
                result[dimension] = self.text_of(dimension, value)
        return result

    def row(self, group):
        """Return a line of the table as JSON."""
        result = {**self.name_of(group), **self.sums(group.totals),
                  **self.peak(group.totals), **self.deferred(group.totals),
                  "live_bytes_at_peak": self.figure("at-peak", group),
                  "reused": self.figure("reused", group)}
        if self.options.details:
            for key, field in zip(("lifetime_median", "lifetime_p99",
                                   "age_median", "churn_per_second"), DETAILS):
                result[key] = self.figure(field, group)
            for key, values in (("lifetimes", group.lifetimes),
                                ("sizes", group.sizes)):
                sample = self.figures.capture.sample
                result[key] = [{"from": low, "count": at_most(n * sample)}
                               for low, n in powers(values)]
        return result

    def window(self, window):
        """Return a window as JSON."""
        return {"start": window.start - self.figures.capture.origin,
                **{kind: {"allocs": t.allocs, "frees": t.frees,
                          "bytes_requested": t.req, "bytes_allocated": t.alloc,
                          "live_bytes_allocated": t.live, **self.peak(t),
                          **({"deferred_bytes_allocated": t.deferred.bytes}
                             if self.figures.capture.may_defer() else {})}
                   for kind, t in window.kinds.items()
                   if self.may_have(kind)}}

    def may_have(self, kind):
        """Return whether records of this size can have a kind."""
        return (self.figures.capture.size >= 64
                or kind not in ("percpu", "vmalloc"))

    def is_unfreed(self, group):
        """Return whether most frees of a group are not recorded."""
        return (self.figure("reused", group) or 0) > group.totals.frees

    def keeps_objects_of(self, group):
        """Return the kind of the objects that an allocator keeps in a group."""
        functions = [self.text_of("function", value) if dimension == "function"
                     else (self.naming.symbol(value) or [""])[0]
                     for dimension, value in zip(self.options.by, group.values)
                     if dimension in ("callsite", "function")]
        objects = ALLOCATORS.get((layer_of(group.kind),
                                  "".join(functions[:1]).split(".")[0]))
        if (not objects or self.is_unfreed(group)
                or not self.figures.kinds[objects].allocs):
            return None
        return objects

    def leaks(self):
        """Return leak candidates by growth; doubtful groups come last."""
        rows = sorted(self.figures.leaks(), key=lambda leak: (
            self.is_unfreed(leak[0]),
            self.keeps_objects_of(leak[0]) is not None, -leak[2], leak[0].values,
            TABLE_KINDS.index(leak[0].kind)))
        return [{**self.name_of(group), "windows_grown": grown,
                 "windows": len(group.live_at_ends) - 1,
                 "growth_bytes": growth, "live_objects": group.totals.objects,
                 **({"deferred_objects": group.totals.deferred.objects}
                    if self.figures.capture.may_defer() else {}),
                 "frees": group.totals.frees,
                 "reused": self.figure("reused", group),
                 "frees_not_seen": self.is_unfreed(group),
                 "keeps_objects_of": self.keeps_objects_of(group),
                 "age_median": self.figure("age-median", group),
                 "lifetime_p99": self.figure("lifetime-p99", group)}
                for group, grown, growth in rows]

    def cross(self):
        """Return the CPU matrix, and the pairs of call sites by bytes."""
        cells = sorted(self.figures.matrix.items(), key=lambda c: (
            LAYERS.index(c[0][0]), c[0][1:]))
        matrix = [{"kind": layer, "allocating_cpu": a, "freeing_cpu": b,
                   "frees": n, "bytes_allocated": size}
                  for (layer, a, b), (n, size) in cells]
        pairs = sorted(self.figures.pairs.items(), key=lambda p: (
            -p[1][1], -p[1][0], p[0][0], p[0][2], KINDS.index(p[0][1])))
        return matrix, [{"allocated": self.site(a, kind),
                         "freed": self.site(b, kind), "frees": n,
                         "bytes_allocated": size}
                        for (a, kind, b), (n, size) in pairs]

    def tally(self, what, why):
        """Return the findings of a class by call sites, by frequency."""
        counts = collections.Counter()
        for finding in self.figures.findings:
            if (finding.what, finding.why) == (what, why):
                counts[tuple((r.site, r.type) for r in (finding.first,
                                                        finding.second))] += 1
        return sorted(counts.items(), key=lambda c: (-c[1], c[0]))

    def tally_pairs(self, what, why, first, second):
        """Return the findings that name two call sites."""
        return [{first: self.site(a, KINDS[s]), second: self.site(b, KINDS[t]),
                 "count": n}
                for ((a, s), (b, t)), n in self.tally(what, why)]

    def findings(self):
        """Return the JSON object of the findings."""
        f = self.figures
        counts = collections.Counter((x.what, x.why) for x in f.findings)
        result = {
            "unmatched_frees": {why: counts["unmatched", why] for why in (
                "before_trace", "after_loss", "unexplained")},
            "double_allocations": {why: counts["double", why] for why in (
                "after_loss", "race", "unexplained")},
            "type_mismatches": counts["mismatch", "mismatch"],
            "type_mismatches_after_loss": counts["mismatch", "after_loss"],
            "unordered_timestamps": f.unordered,
            "skipped_records": f.skipped, "truncated_bytes": f.truncated,
            "short_allocations": f.short, "sums_overflowed": f.saturated,
            "double_allocation_pairs": self.tally_pairs(
                "double", "unexplained", "older", "newer"),
            "type_mismatch_pairs": self.tally_pairs(
                "mismatch", "mismatch", "allocated", "freed")}
        if f.capture.may_defer():
            result |= self.defer_findings(counts)
        for why in ("before_trace", "after_loss", "unexplained"):
            result[f"{why}_sites"] = [
                {**self.site(a, KINDS[kind]), "frees": n}
                for ((a, kind), _), n in self.tally("unmatched", why)]
        return result

    def defer_findings(self, counts):
        """Return the JSON members of the findings about DEFER records."""
        return {
            "unmatched_defers": {
                why: counts["unmatched_defer", why]
                for why in ("before_trace", "after_loss", "unexplained")},
            "double_defers": {why: counts["double_defer", why]
                              for why in ("after_loss", "unexplained")},
            "unexplained_defer_sites": [
                {**self.site(a, KINDS[kind]), "defers": n}
                for ((a, kind), _), n in self.tally("unmatched_defer",
                                                    "unexplained")],
            "double_defer_pairs": self.tally_pairs(
                "double_defer", "unexplained", "allocated", "deferred")}

    # ---- losses ----

    def time(self):
        """Return the first and the last time of the figures, and whether they are a
        part of the capture."""
        o, f = self.options, self.figures
        origin = f.capture.origin or 0
        first = max(f.first, origin + o.start) if o.start else f.first
        last = f.last if o.stop is None else min(f.last, origin + o.stop)
        return first, max(first, last), bool(o.start) or o.stop is not None

    def losses(self):
        """Return (cpu, since, until, events) of all losses; None if the records do
        not report losses."""
        f, result = self.figures, []
        if not f.capture.overruns or not f.capture.has_owners:
            return None
        for file in f.capture.files:
            result += [(file.cpu, *loss) for loss in file.losses]
            rest = file.overruns - sum(loss[2] for loss in file.losses)
            since = max([file.records[-1].t if file.records else f.first]
                        + [until for _, until, _ in file.losses])
            if rest > 0:
                result.append((file.cpu, since, max(since, f.last), rest))
        return sorted(result)

    def loss(self):
        """Return the JSON members about lost events."""
        c = self.figures.capture
        first, last, is_part = self.time()
        losses = self.losses()
        holes = losses
        lost = c.overruns
        later_only = False
        if c.overruns and is_part:
            lost = None
            if losses is not None:
                holes = [h for h in losses if h[2] >= first and h[1] <= last]
                lost = at_most(sum(h[3] for h in holes))
                later_only = all(h[1] > last for h in losses)
        loss = ("events" if c.overruns and not later_only
                else "cut_off" if c.cut_off
                else "unknown" if c.overruns is None else "none")
        exact = self.not_exact(first, last, loss == "events")
        return {"loss": loss, "lost_in_time": lost,
                "holes": holes and [dict(zip(
                    ("cpu", "from", "until", "events"), h)) for h in holes],
                "not_exact": [{"from": a, "until": b} for a, b in exact],
                "blind": self.blind(first, last, exact, holes)}

    def lost_in_report(self):
        """Return the number of lost events; losses without a time count fully."""
        lost = self.loss()["lost_in_time"]
        return self.figures.capture.overruns if lost is None else lost

    def lost_in_window(self, number):
        """Return the number of lost events that a report of one window prints."""
        overruns = self.figures.capture.overruns
        losses = self.losses()
        if not overruns or losses is None:
            return overruns if overruns == 0 else None
        windows = self.figures.windows
        last = windows[number + 1].start if number + 1 < len(windows) \
            else max(windows[number].start, self.time()[1])
        return at_most(sum(events for _, since, until, events in losses
                           if until >= windows[number].start
                           and since <= last))

    def not_exact(self, first, last, lost):
        """Return the intervals in which events may be missing."""
        c = self.figures.capture
        if lost or c.lacks_records:
            return [(first, last)]
        if not c.cut_off and not c.continues:
            return []
        if not all(f.records for f in c.files):
            return [(first, last)]
        begin = max(f.records[0].t for f in c.files)
        end = min(f.records[-1].t for f in c.files)
        result = []
        if c.continues and begin >= first:
            result.append((first, min(begin, last)))
        if c.cut_off and end <= last:
            result.append((max(end, first), last))
        return result

    @staticmethod
    def blind(first, last, exact, holes):
        """Return the share of the time in which events may be missing."""
        if not exact:
            return 0.0
        if first == last:
            return 1.0
        if holes is None:
            return min(1.0, sum(max(0, b - a) for a, b in exact)
                       / (last - first))
        cuts = sorted({first, last, *(min(max(t, first), last)
                                      for h in holes for t in h[1:3])})
        return sum(b - a for a, b in zip(cuts, cuts[1:])
                   if any(h[1] <= a and b <= h[2] for h in holes)
                   ) / (last - first)

    def capture(self):
        """Return the JSON members about the capture, without its kernel."""
        c = self.figures.capture
        return {"byte_order": "big" if c.big else "little",
                "record_size": c.size, "cpus": len(c.files),
                "events": c.events, "first_timestamp": self.figures.first,
                "last_timestamp": self.figures.last,
                "overruns": self.lost_in_report(),
                "continues": c.continues, **self.loss()}

    def document(self):
        """Return the JSON members that depend on options."""
        o = self.options
        sites = o.by == ("callsite",)
        word = "callsites" if sites else "groups"
        result = {
            "kinds": {kind: {**self.sums(t), **self.peak(t),
                             **self.deferred(t)}
                      for kind, t in self.figures.kinds.items()
                      if self.may_have(kind)},
            word: [self.row(group) for group in self.shown],
            f"{word}_left_out": {
                kind: {word: n, **self.sums(t), **self.deferred(t, True)}
                for kind, (n, t) in self.sums_of_rest().items()},
            "findings": self.findings()}
        if o.shows_windows:
            result["windows"] = [
                {**self.window(w), "lost": self.lost_in_window(i)}
                for i, w in enumerate(self.figures.windows)]
        if o.leaks:
            result["leak_candidates"] = self.leaks()
        if o.cross_cpu:
            matrix, pairs = self.cross()
            result["frees_by_cpu"] = matrix
            result["cross_cpu_pairs"] = pairs
        return result
