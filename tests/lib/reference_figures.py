# SPDX-License-Identifier: GPL-2.0-or-later
"""Every figure of kmemtrace-report, computed the plain way.

It follows docs/definitions.md and kmemtrace-report(1), shares nothing with the
program, and is not made fast.  Figures takes what reference_capture.Capture
read; reference_output.py makes of it what the program must print.
"""

import collections
import dataclasses
import re

from reference_capture import ALLOC, AT_THE_END, KINDS

TABLE_KINDS = KINDS + ["slab"]
# What is summed for what a table leaves out.
LAYERS = ["slab"] + KINDS[2:]


def layer_of(kind):
    """The kind that its figures are summed for."""
    return "slab" if kind in ("kmalloc", "cache") else kind

# Sums and products are this at most.
LARGEST = 2 ** 64 - 1


def at_most(value):
    """Saturated."""
    return min(value, LARGEST)


# What keeps kmalloc and caches apart.
SINGLE_KINDS = ("callsite", "kind", "cache")


@dataclasses.dataclass
class Options:  # pylint: disable=too-many-instance-attributes
    """What the command line asks for; None: nothing."""

    by: tuple = ("callsite",)
    start: int = 0          # ns from the first record
    stop: int = None
    windows: int = 0
    shows_windows: bool = False
    leaks: bool = False
    cross_cpu: bool = False
    churn: int = 10 ** 6    # ns
    kinds: set = None
    cpus: set = None
    nodes: set = None
    size: tuple = None      # the smallest and the largest
    lifetime: tuple = None  # likewise, ns
    callsite: str = None
    module: str = None
    slab: bool = False
    page: bool = False
    live: bool = False
    sort: tuple = (("wasted", False),)  # key, upwards
    lines: int = 0
    fields: tuple = ()
    details: bool = False   # lifetimes, sizes, ages
    tolerance: int = 10 ** 6


class Totals:
    """The sums that a kind and a group have."""

    def __init__(self):
        self.allocs = self.frees = self.req = self.alloc = 0
        self.cross = self.remote = 0
        self.objects = self.live_req = self.live = 0
        self.peak = self.peak_at = 0

    def open(self, record):
        """An object is live."""
        self.objects += 1
        self.live_req += record.req
        self.live += record.alloc

    def close(self, record):
        """It is live no more."""
        self.objects -= 1
        self.live_req -= record.req
        self.live -= record.alloc

    def count(self, record, remote):
        """It was allocated."""
        self.allocs += 1
        self.req += record.req
        self.alloc += record.alloc
        self.remote += remote

    def restart(self, now):
        """Peaks begin with what is live."""
        self.peak = self.live
        self.peak_at = now if self.live else 0

    def look(self, now):
        """Is it a new peak?"""
        if self.live <= self.peak:
            return False
        self.peak = self.live
        self.peak_at = now
        return True

    def wasted(self):
        """Bytes allocated that nobody requested."""
        return self.alloc - self.req

    def add(self, other):
        """For what a table leaves out: all that has a sum."""
        for name, value in vars(other).items():
            if not name.startswith("peak"):
                setattr(self, name, at_most(getattr(self, name) + value))

    def scale(self, factor, has_own_frees):
        """Estimate what a sample stands for.  Returns whether a product is
        larger than the program can print."""
        names = ["allocs", "req", "alloc", "cross", "remote", "objects",
                 "live_req", "live", "peak"] + ["frees"] * has_own_frees
        products = {name: getattr(self, name) * factor for name in names}
        for name, product in products.items():
            setattr(self, name, at_most(product))
        return any(product > LARGEST for product in products.values())


class Group:
    """A line of the table."""

    def __init__(self, kind, values):
        self.kind = kind
        self.values = values
        self.totals = Totals()
        self.at_peak = 0
        self.lifetimes = []
        self.sizes = []
        self.ages = []
        self.live_at_ends = []  # of windows


def floor(value):
    """What is known of it: eight steps for each power of two."""
    if value < 16:
        return value
    step = 1 << (value.bit_length() - 4)
    return value // step * step


def percentile(values, percent):
    """None if there is no value."""
    if not values:
        return None
    rank = max(1, -(-len(values) * percent // 100))
    return floor(sorted(values)[rank - 1])


def powers(values):
    """How many are of which power of two; 0 goes with 1."""
    counts = collections.Counter(
        1 << (v.bit_length() - 1) if v > 1 else 0 for v in values)
    return sorted(counts.items())


def ratio(part, whole):
    """From 0 to 1."""
    return float(part) / float(whole) if part > 0 and whole else 0.0


def glob(pattern):
    """Only * and ? are special."""
    return re.compile("".join(
        {"*": ".*", "?": "."}.get(c, re.escape(c)) for c in pattern), re.S)


class Naming:
    """What a record is called in each dimension."""

    def __init__(self, names, nodes):
        self.names = names  # has symbol(address) -> name, module, offset
        self.nodes = nodes
        self.cache = {}

    def symbol(self, address):
        """(name, module or None, offset) or None."""
        if address not in self.cache:
            self.cache[address] = (self.names.symbol(address)
                                   if self.names else None)
        return self.cache[address]

    def describe(self, address):
        """function+0xoffset [module]; None without a name."""
        symbol = self.symbol(address)
        if not symbol:
            return None
        name, module, offset = symbol
        return f"{name}+{offset:#x}" + (f" [{module}]" if module else "")

    def function(self, address):
        """function [module]"""
        symbol = self.symbol(address)
        if not symbol:
            return f"0x{address:016x}"
        return symbol[0] + (f" [{symbol[1]}]" if symbol[1] else "")

    def module(self, address):
        """The kernel itself is vmlinux."""
        symbol = self.symbol(address)
        return (symbol[1] or "vmlinux") if symbol else "(unknown)"

    @staticmethod
    def cache_of(record):
        """As far as a record tells."""
        if record.type == 0:
            return f"kmalloc-{record.alloc}"
        if record.type == 1:
            return f"(objects of {record.alloc} bytes)"
        if record.type > 2:
            return ("(per-CPU memory)", "(vmalloc)")[record.type - 3]
        order = 0
        while order < 32 and 4096 << order < record.alloc:
            order += 1
        return f"(pages of order {order})"

    def value(self, dimension, record):
        """A number or a text, by which lines are sorted, too."""
        return {"callsite": lambda: record.site,
                "function": lambda: self.function(record.site),
                "module": lambda: self.module(record.site),
                "directory": lambda: "(unknown)",
                "kind": lambda: record.type,
                "cache": lambda: self.cache_of(record),
                "size": lambda: record.alloc,
                "cpu": lambda: record.cpu,
                "node": lambda: max(record.node, -1),
                "gfp": lambda: record.gfp}[dimension]()


class Filter:
    """Which objects count, but for their lifetimes."""

    def __init__(self, options, naming):
        self.options = options
        self.naming = naming
        self.callsite = options.callsite and glob(options.callsite)
        self.module = options.module and glob(options.module)
        self.is_set = any(getattr(options, name) is not None for name in (
            "kinds", "cpus", "nodes", "size", "lifetime", "callsite",
            "module"))

    def wants(self, record):
        """All conditions hold."""
        o = self.options
        if o.kinds is not None and KINDS[record.type] not in o.kinds:
            return False
        if o.cpus is not None and record.cpu not in o.cpus:
            return False
        if o.nodes is not None and record.node not in o.nodes:
            return False
        if o.size and not o.size[0] <= record.req <= o.size[1]:
            return False
        symbol = self.naming.symbol(record.site)
        names = ([symbol[0], f"{symbol[0]}+{symbol[2]:#x}"] if symbol
                 else [f"0x{record.site:016x}"])
        if self.callsite and not any(self.callsite.fullmatch(name)
                                     for name in names):
            return False
        if self.module:
            return bool(symbol and self.module.fullmatch(symbol[1]
                                                         or "vmlinux"))
        return True


class Window:
    """A part of the time: sums and peaks in it, live at its end."""

    def __init__(self, start, before):
        self.start = start
        self.kinds = {kind: Totals() for kind in TABLE_KINDS}
        for kind, totals in self.kinds.items():
            totals.live = before[kind].live
            totals.restart(start)


class Figures:  # pylint: disable=too-many-instance-attributes
    """All that the options ask for."""

    def __init__(self, capture, options, names):
        self.capture = capture
        self.options = options
        self.naming = Naming(names, capture.nodes)
        self.filter = Filter(options, self.naming)
        self.kinds = {kind: Totals() for kind in TABLE_KINDS}
        self.groups = {}
        self.wanted = {}    # what an object is to be known by -> its Group
        self.live = set()
        self.windows = []
        self.window_ends = []
        self.matrix = collections.defaultdict(lambda: [0, 0])
        self.pairs = collections.defaultdict(lambda: [0, 0])
        self.peak_act = {}  # kind -> number of the act after which it was
        self.inside = False
        self.inside_since = -1
        self.ended = False
        self.start = self.stop = self.span = 0
        self.first = self.last = 0
        self.saturated = False  # scaled figures
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
        """START and STOP as merged times."""
        o = self.options
        if not self.capture.records:
            return
        self.start = self.capture.origin + o.start
        self.stop = (AT_THE_END if o.stop is None
                     else self.capture.origin + o.stop)

    def read_files(self):
        """What is told of the files: of what has to be read of them, which is
        up to a record of each that is later than STOP and the tolerance."""
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
        """The last one takes what comes, if there is no STOP."""
        o = self.options
        stop = self.stop
        if o.stop is None:
            first, last = self.capture.ends()
            stop = max(self.start, self.capture.origin + last - first)
        self.window_ends = [
            self.start + (stop - self.start) * (i + 1) // o.windows
            for i in range(o.windows)]

    def begin_window(self):
        """Also when the time of the first one begins."""
        n = len(self.windows)
        start = self.window_ends[n - 1] if n else self.start
        self.windows.append(Window(start, self.kinds))

    def end_window(self):
        """Its live bytes are what they are now."""
        for kind, totals in self.windows[-1].kinds.items():
            totals.live = self.kinds[kind].live
        n = len(self.windows)
        for group in self.groups.values():
            group.live_at_ends += [0] * (n - 1 - len(group.live_at_ends))
            group.live_at_ends.append(group.totals.live)

    def begin_span(self, number):
        """Time has come to START."""
        self.inside = True
        self.inside_since = number
        for totals in self.kinds.values():
            totals.restart(self.start)
        for group in self.groups.values():
            group.totals.restart(self.start)
        if self.options.windows:
            self.begin_window()

    def reach(self, now, number):
        """Time has come to now."""
        if not self.inside and now >= self.start:
            self.begin_span(number)
        while (self.inside and len(self.windows) < self.options.windows
               and now > self.window_ends[len(self.windows) - 1]):
            self.end_window()
            self.begin_window()

    # ---- objects ----

    def group_of(self, record):
        """None: the filter does not want it."""
        key = (record.site, record.type, record.cpu, record.node, record.gfp,
               record.req, record.alloc)
        if key not in self.wanted:
            group = None
            if self.filter.wants(record):
                group = self.find_group(record)
            self.wanted[key] = group
        return self.wanted[key]

    def find_group(self, record):
        """By all dimensions, and kmalloc apart from caches by some."""
        by = self.options.by
        kind = KINDS[record.type]
        if not any(d in SINGLE_KINDS for d in by):
            kind = layer_of(kind)
        values = tuple(self.naming.value(d, record) for d in by)
        return self.groups.setdefault((kind, values), Group(kind, values))

    def totals_of(self, record, group):
        """All that an object is a part of, but windows."""
        kind = KINDS[record.type]
        result = [group.totals, self.kinds[kind]]
        if layer_of(kind) != kind:
            result.append(self.kinds["slab"])
        return result

    @staticmethod
    def kinds_of(record):
        """The kinds that a record is of."""
        kind = KINDS[record.type]
        return [kind] if layer_of(kind) == kind else [kind, "slab"]

    def is_remote(self, record):
        """Asked of another node than that of its CPU."""
        own = self.capture.nodes[record.cpu]
        return record.node >= 0 and own >= 0 and record.node != own

    def count(self, record, group):
        """An allocation is one of the sums."""
        for totals in self.totals_of(record, group):
            totals.count(record, self.is_remote(record))
        group.sizes.append(record.req)
        if self.windows:
            for kind in self.kinds_of(record):
                self.windows[-1].kinds[kind].count(record, False)

    def count_frees(self, record):
        """A free is one of its kind."""
        for kind in self.kinds_of(record):
            self.kinds[kind].frees += 1
            if self.windows:
                self.windows[-1].kinds[kind].frees += 1

    def alloc(self, record, group, number):
        """An object is live."""
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

    def close(self, record, group):
        """It is live no more."""
        self.live.remove(record)
        if self.options.lifetime:
            return
        for totals in self.totals_of(record, group):
            totals.close(record)

    def free(self, record, group, free):
        """It was freed."""
        lifetime = max(0, free.now - record.now)
        if not self.inside:
            return
        limits = self.options.lifetime
        if limits:
            if not limits[0] <= lifetime <= limits[1]:
                return
            self.count(record, group)
        cross = record.cpu != free.cpu
        group.totals.frees += 1
        for totals in self.totals_of(record, group):
            totals.cross += cross
        if self.filter.is_set:
            self.count_frees(record)
        group.lifetimes.append(lifetime)
        self.cross(record, free)

    def cross(self, record, free):
        """Who freed whose memory."""
        layer = layer_of(KINDS[record.type])
        sums = [self.matrix[layer, record.cpu, free.cpu]]
        if record.cpu != free.cpu:
            sums.append(self.pairs[record.site, KINDS[record.type],
                                   free.site])
        for pair in sums:
            pair[0] += 1
            pair[1] += record.alloc

    # ---- all of it ----

    def book(self, number, act):
        """What happened."""
        if act.op == "record":
            if self.inside and not self.filter.is_set:
                self.count_frees(act.free)
            return
        group = self.group_of(act.object)
        if not group:
            return
        if act.op == "alloc":
            self.alloc(act.object, group, number)
        if act.op in ("close", "free"):
            self.close(act.object, group)
        if act.op in ("free", "late"):
            self.free(act.object, group, act.free)

    def run(self):
        """In order, up to STOP."""
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
        """What is live, and for how long."""
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
            group.ages.append(age)

    def at_peaks(self, acts):
        """Who held memory when that of the kind was at its peak: once more,
        up to that act."""
        if self.options.lifetime:
            return
        live = collections.Counter()
        moments = collections.defaultdict(list)
        for kind in TABLE_KINDS:
            moments[self.peak_act.get(kind, self.inside_since - 1)].append(
                kind)

        def note(number):
            for kind in moments.pop(number, ()):
                for group in self.groups.values():
                    if group.kind == kind:
                        group.at_peak = live[group]

        note(-1)
        for number, act in enumerate(acts):
            if not moments:
                break
            if act.op in ("alloc", "close", "free"):
                group = self.group_of(act.object)
                if group:
                    bytes_alloc = act.object.alloc
                    live[group] += (bytes_alloc if act.op == "alloc"
                                    else -bytes_alloc)
            note(number)

    def scale(self, factor):
        """All figures of allocations and of what they hold, where one of so
        many was recorded.  Frees are of all records, unless a filter of the
        report chose objects; those of a group are of its objects.  Percentiles
        do not depend on the factor."""
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
        """The groups of the table, in no order."""
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
        """(group, windows grown, growth): who may be leaking."""
        result = []
        for group in self.lines():
            live = group.live_at_ends
            grown = sum(b > a for a, b in zip(live, live[1:]))
            growth = live[-1] - live[0]
            p99 = percentile(group.lifetimes, 99)
            if (growth > 0 and 4 * grown >= 3 * (len(live) - 1)
                    and group.totals.objects > 1
                    and (p99 is None or percentile(group.ages, 50) > p99)):
                result.append((group, grown, growth))
        return result
