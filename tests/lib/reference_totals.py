# SPDX-License-Identifier: GPL-2.0-or-later
"""The parts of reference_figures.py: options, sums, groups, names and filters."""

import collections
import dataclasses
import re

from reference_capture import KINDS

TABLE_KINDS = KINDS + ["slab"]
# Kinds whose sums are printed for omitted lines.
LAYERS = ["slab"] + KINDS[2:]


def layer_of(kind):
    """Return the kind that the figures of a kind are added to."""
    return "slab" if kind in ("kmalloc", "cache") else kind


# Largest value of sums and products.
LARGEST = 2 ** 64 - 1


def at_most(value):
    """Return the value, limited to 64 bits."""
    return min(value, LARGEST)


# Dimensions that separate kmalloc from caches.
SINGLE_KINDS = ("callsite", "kind", "cache")


@dataclasses.dataclass
class Options:  # pylint: disable=too-many-instance-attributes
    """Options of the command line; None means that an option is not given."""

    by: tuple = ("callsite",)
    start: int = 0          # ns after the first record
    stop: int = None
    windows: int = 0
    shows_windows: bool = False
    leaks: bool = False
    cross_cpu: bool = False
    churn: int = 10 ** 6    # ns
    kinds: set = None
    cpus: set = None
    nodes: set = None
    size: tuple = None      # smallest and largest size in bytes
    lifetime: tuple = None  # shortest and longest lifetime in ns
    callsite: str = None
    module: str = None
    cgroup: str = None
    slab: bool = False
    page: bool = False
    live: bool = False
    sort: tuple = (("wasted", False),)  # key, whether ascending
    lines: int = 0
    fields: tuple = ()
    details: bool = False   # lifetimes, sizes, ages
    tolerance: int = 10 ** 6


class Deferred:
    """The figures of deferred memory of a kind or of a group."""

    def __init__(self):
        self.bytes = self.objects = self.frees = 0
        self.peak = self.at_peak = 0
        self.times = []   # from DEFER to FREE
        self.ages = []    # from DEFER to the end

    def begin(self, record):
        """Add a deferred object."""
        self.bytes += record.alloc
        self.objects += 1
        self.peak = max(self.peak, self.bytes)

    def end(self, record):
        """Remove a deferred object."""
        self.bytes -= record.alloc
        self.objects -= 1

    def add(self, other):
        """Add the sums of other figures."""
        for name in ("bytes", "objects", "frees"):
            setattr(self, name, at_most(getattr(self, name)
                                        + getattr(other, name)))

    def scale(self, factor):
        """Multiply by the sampling factor. Returns whether a product exceeds 64
        bits."""
        too_large = False
        for name in ("bytes", "objects", "frees", "peak", "at_peak"):
            product = getattr(self, name) * factor
            too_large |= product > LARGEST
            setattr(self, name, at_most(product))
        return too_large


class Totals:
    """The sums of a kind or of a group."""

    def __init__(self):
        self.allocs = self.frees = self.req = self.alloc = 0
        self.cross = self.remote = 0
        self.objects = self.live_req = self.live = 0
        self.peak = self.peak_at = 0
        self.deferred = Deferred()

    def open(self, record):
        """Add a live object."""
        self.objects += 1
        self.live_req += record.req
        self.live += record.alloc

    def close(self, record):
        """Remove a live object."""
        self.objects -= 1
        self.live_req -= record.req
        self.live -= record.alloc

    def count(self, record, remote):
        """Add an allocation."""
        self.allocs += 1
        self.req += record.req
        self.alloc += record.alloc
        self.remote += remote

    def restart(self, now):
        """Restart the peak at the live bytes."""
        self.peak = self.live
        self.peak_at = now if self.live else 0
        self.deferred.peak = self.deferred.bytes

    def look(self, now):
        """Update the peak; return whether it is a new one."""
        if self.live <= self.peak:
            return False
        self.peak = self.live
        self.peak_at = now
        return True

    def wasted(self):
        """Return the allocated bytes that were not requested."""
        return self.alloc - self.req

    def add(self, other):
        """Add other totals, except peaks."""
        for name, value in vars(other).items():
            if not name.startswith(("peak", "deferred")):
                setattr(self, name, at_most(getattr(self, name) + value))
        self.deferred.add(other.deferred)

    def scale(self, factor, has_own_frees):
        """Multiply by the sampling factor. Returns whether a product exceeds 64
        bits."""
        names = ["allocs", "req", "alloc", "cross", "remote", "objects",
                 "live_req", "live", "peak"] + ["frees"] * has_own_frees
        products = {name: getattr(self, name) * factor for name in names}
        for name, product in products.items():
            setattr(self, name, at_most(product))
        return self.deferred.scale(factor) | any(
            product > LARGEST for product in products.values())


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
        self.live_at_ends = []  # bytes in use at the end of each window

    def in_use(self):
        """Return the live bytes and objects that are not deferred."""
        t = self.totals
        return t.live - t.deferred.bytes, t.objects - t.deferred.objects


def floor(value):
    """Return the lower bound of a value's bucket, eight for each power of two."""
    if value < 16:
        return value
    step = 1 << (value.bit_length() - 4)
    return value // step * step


def percentile(values, percent):
    """Return a percentile, None without values."""
    if not values:
        return None
    rank = max(1, -(-len(values) * percent // 100))
    return floor(sorted(values)[rank - 1])


def powers(values):
    """Count the values by power of two; 0 counts as 1."""
    counts = collections.Counter(
        1 << (v.bit_length() - 1) if v > 1 else 0 for v in values)
    return sorted(counts.items())


def ratio(part, whole):
    """Return a ratio from 0 to 1."""
    return float(part) / float(whole) if part > 0 and whole else 0.0


def glob(pattern):
    """Return a regular expression for a pattern with * and ?."""
    return re.compile("".join(
        {"*": ".*", "?": "."}.get(c, re.escape(c)) for c in pattern), re.S)


class Naming:
    """The name of a record in each dimension."""

    def __init__(self, names, nodes, tasks):
        self.names = names  # symbol(address) returns name, module, offset
        self.nodes = nodes
        self.tasks = tasks  # dimension -> TaskNames; empty without owners
        self.cache = {}

    def symbol(self, address):
        """Return (name, module or None, offset), or None."""
        if address not in self.cache:
            self.cache[address] = (self.names.symbol(address)
                                   if self.names else None)
        return self.cache[address]

    def describe(self, address):
        """Return function+0xoffset [module], None without a name."""
        symbol = self.symbol(address)
        if not symbol:
            return None
        name, module, offset = symbol
        return f"{name}+{offset:#x}" + (f" [{module}]" if module else "")

    def function(self, address):
        """Return function [module], or the address."""
        symbol = self.symbol(address)
        if not symbol:
            return f"0x{address:016x}"
        return symbol[0] + (f" [{symbol[1]}]" if symbol[1] else "")

    def module(self, address):
        """Return the module of an address; vmlinux is the kernel itself."""
        symbol = self.symbol(address)
        return (symbol[1] or "vmlinux") if symbol else "(unknown)"

    @staticmethod
    def cache_of(record):
        """Return the name of the cache that a record implies."""
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

    def task(self, dimension, record):
        """Return the name or the cgroup of the task of a record, None if it is
        unknown."""
        if dimension not in self.tasks:
            return None
        return self.tasks[dimension].find(record.pid, record.t)

    def task_text(self, dimension, record):
        """Return the text of a dimension of tasks."""
        if not self.tasks:
            return "(not recorded)"
        name = self.task(dimension, record)
        return "(unknown)" if name is None else name

    def value(self, dimension, record):
        """Return the value of a dimension, which also is a sort key."""
        return {"callsite": lambda: record.site,
                "function": lambda: self.function(record.site),
                "module": lambda: self.module(record.site),
                "directory": lambda: "(unknown)",
                "kind": lambda: record.type,
                "cache": lambda: self.cache_of(record),
                "size": lambda: record.alloc,
                "cpu": lambda: record.cpu,
                "node": lambda: max(record.node, -1),
                "gfp": lambda: record.gfp,
                "comm": lambda: self.task_text("comm", record),
                "cgroup": lambda: self.task_text("cgroup", record)}[dimension]()


class Filter:
    """Select objects by all conditions except their lifetime."""

    def __init__(self, options, naming):
        self.options = options
        self.naming = naming
        self.callsite = options.callsite and glob(options.callsite)
        self.module = options.module and glob(options.module)
        self.cgroup = options.cgroup and glob(options.cgroup)
        self.is_set = any(getattr(options, name) is not None for name in (
            "kinds", "cpus", "nodes", "size", "lifetime", "callsite",
            "module", "cgroup"))

    def wants(self, record):
        """Return whether a record meets all conditions."""
        o = self.options
        if o.kinds is not None and KINDS[record.type] not in o.kinds:
            return False
        if o.cpus is not None and record.cpu not in o.cpus:
            return False
        if o.nodes is not None and record.node not in o.nodes:
            return False
        if o.size and not o.size[0] <= record.req <= o.size[1]:
            return False
        if self.cgroup:
            path = self.naming.task("cgroup", record)
            if path is None or not self.cgroup.fullmatch(path):
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
    """An interval of time: its sums and peaks, and live bytes at its end."""

    def __init__(self, start, before):
        self.start = start
        self.kinds = {kind: Totals() for kind in TABLE_KINDS}
        for kind, totals in self.kinds.items():
            totals.live = before[kind].live
            totals.restart(start)
