# SPDX-License-Identifier: GPL-2.0-or-later
"""What kmemtrace-report must print, computed the plain way.

Records are dicts with the names of the binary format.  Nothing here is shared
with the program or made fast; each figure is written as docs/definitions.md
words it.  Races of the clocks are left out: captures that are held against
this must not use an address on two CPUs at the same time.
"""

import bisect
import struct

ALLOC, FREE, LOST = 1, 2, 3
KINDS = ["kmalloc", "cache", "pages", "percpu", "vmalloc"]
RECORD = struct.Struct("<BBHiQQQQQq")
RECORD_BIG = struct.Struct(">BBHiQQQQQq")
NAMES = ["event_id", "type_id", "event_size", "node", "call_site", "ptr",
         "bytes_req", "bytes_alloc", "gfp_flags", "timestamp"]


def pack(record, big):
    """The bytes of one record."""
    return (RECORD_BIG if big else RECORD).pack(*(record[n] for n in NAMES))


def totals():
    """A T in which nothing has happened."""
    return {"allocs": 0, "frees": 0, "bytes_requested": 0,
            "bytes_allocated": 0, "bytes_wasted": 0, "fragmentation": 0.0,
            "cross_cpu_frees": 0, "remote_node_allocs": 0, "live_objects": 0,
            "live_bytes_requested": 0, "live_bytes_allocated": 0,
            "peak_bytes_allocated": 0, "peak_timestamp": 0}


def merge(cpus):
    """{cpu: [record]} -> [(cpu, record)] by time, CPU, position, with the
    merged time in "now"."""
    keyed = []
    for cpu, records in cpus.items():
        key = None
        for position, record in enumerate(records):
            time = record["timestamp"]
            key = time if key is None or time > key else key
            keyed.append((key, cpu, position, record))
    keyed.sort(key=lambda k: k[:3])
    return [(k[1], {**k[3], "now": k[0]}) for k in keyed]


def n_kinds(size):
    """Version 1 has fewer."""
    return len(KINDS) if size >= 64 else 3


def is_usable(record, size):
    """Records that mean something."""
    return (record["event_id"] in (ALLOC, FREE) and record["event_size"] == size and record["ptr"] != 0 and
            record["type_id"] < n_kinds(size))


class Reference:
    """Feed it {cpu: [record]}; then look at its members."""

    def __init__(self, cpus, nodes=None, lossy=False, size=56):
        self.nodes = nodes or {}
        self.lossy = lossy
        self.kinds = {k: totals() for k in KINDS[:n_kinds(size)] + ["slab"]}
        self.sites = {}
        self.unmatched = {"before_trace": 0, "after_loss": 0, "unexplained": 0}
        self.doubles = {"after_loss": 0, "race": 0, "unexplained": 0}
        self.mismatches = {}
        self.mismatches_after_loss = 0
        self.unmatched_sites = {c: {} for c in self.unmatched}
        self.double_pairs = {}
        self.short = 0
        self.live = {}
        self.seen = set()
        usable = {cpu: [r for r in records if is_usable(r, size)]
                  for cpu, records in cpus.items()}
        self.events = sum(len(r) for r in cpus.values())
        # Of version 2, some tell that events were lost.
        self.events -= sum(
            r["event_id"] == LOST and size >= 64 and r["event_size"] == size
            for records in cpus.values() for r in records)
        self.skipped = self.events - sum(len(r) for r in usable.values())
        self.unordered = sum(
            b["timestamp"] < a["timestamp"] for r in usable.values()
            for a, b in zip(r, r[1:]))
        times = [r["timestamp"] for rs in usable.values() for r in rs]
        self.first = min(times, default=0)
        self.last = max(times, default=0)
        for cpu, record in merge(usable):
            if record["event_id"] == ALLOC:
                self.alloc(cpu, record)
            else:
                self.free(cpu, record)
        self.finish()

    def of(self, kind, site=None):
        """The totals that a record of that kind and site is a part of."""
        result = [self.kinds[kind]]
        if kind in ("kmalloc", "cache"):
            result.append(self.kinds["slab"])
        if site is not None:
            result.append(self.sites.setdefault((site, kind), totals()))
        return result

    def close(self, obj):
        """The object is live no more."""
        for t in self.of(obj["kind"], obj["site"]):
            t["live_objects"] -= 1
            t["live_bytes_requested"] -= obj["req"]
            t["live_bytes_allocated"] -= obj["alloc"]

    def alloc(self, cpu, record):
        """An ALLOC record."""
        kind = KINDS[record["type_id"]]
        place = (max(record["type_id"], 1), record["ptr"])
        site = record["call_site"]
        req, given = record["bytes_req"], record["bytes_alloc"]
        if place in self.live:
            older = self.live.pop(place)
            self.close(older)
            self.doubles["after_loss" if self.lossy else "unexplained"] += 1
            if not self.lossy:
                pair = ((older["site"], older["kind"]), (site, kind))
                self.double_pairs[pair] = self.double_pairs.get(pair, 0) + 1
        self.seen.add(place)
        self.live[place] = {"kind": kind, "site": site, "cpu": cpu,
                            "req": req, "alloc": given}
        self.short += given < req
        own = self.nodes.get(cpu, -1)
        for t in self.of(kind, site):
            t["allocs"] += 1
            t["bytes_requested"] += req
            t["bytes_allocated"] += given
            t["live_objects"] += 1
            t["live_bytes_requested"] += req
            t["live_bytes_allocated"] += given
            if own >= 0 and record["node"] >= 0 and record["node"] != own:
                t["remote_node_allocs"] += 1
            if t["live_bytes_allocated"] > t["peak_bytes_allocated"]:
                t["peak_bytes_allocated"] = t["live_bytes_allocated"]
                t["peak_timestamp"] = record["now"]

    def free(self, cpu, record):
        """A FREE record."""
        kind = KINDS[record["type_id"]]
        place = (max(record["type_id"], 1), record["ptr"])
        for t in self.of(kind):
            t["frees"] += 1
        if place not in self.live:
            if place not in self.seen:
                why = "before_trace"
            else:
                why = "after_loss" if self.lossy else "unexplained"
            self.seen.add(place)
            self.unmatched[why] += 1
            sites = self.unmatched_sites[why]
            key = (record["call_site"], kind)
            sites[key] = sites.get(key, 0) + 1
            return
        obj = self.live.pop(place)
        self.close(obj)
        self.sites[obj["site"], obj["kind"]]["frees"] += 1
        if obj["cpu"] != cpu:
            for t in self.of(obj["kind"], obj["site"]):
                t["cross_cpu_frees"] += 1
        if obj["kind"] != kind and self.lossy:
            self.mismatches_after_loss += 1
        elif obj["kind"] != kind:
            pair = ((obj["site"], obj["kind"]), (record["call_site"], kind))
            self.mismatches[pair] = self.mismatches.get(pair, 0) + 1

    def finish(self):
        """What follows from the sums."""
        for t in list(self.kinds.values()) + list(self.sites.values()):
            wasted = t["bytes_allocated"] - t["bytes_requested"]
            t["bytes_wasted"] = wasted
            if t["bytes_allocated"] and wasted > 0:
                t["fragmentation"] = wasted / t["bytes_allocated"]


class Symbols:
    """Names by looking at all symbols that begin where the last one does that
    begins at or before an address."""

    def __init__(self, kallsyms, modules=""):
        self.symbols = {}  # by where they begin
        self.labels = {}
        self.modules = {}
        for line in kallsyms.splitlines():
            words = line.split()
            address, kind, name = int(words[0], 16), words[1], words[2]
            module = words[3] if len(words) > 3 else None
            if not module:
                self.labels[name] = address
            if kind not in "aA":  # a number, no place
                self.symbols.setdefault(address, []).append(
                    (address, kind, name, module))
        self.starts = sorted(self.symbols)
        for line in modules.splitlines():
            words = line.split()
            base = int(words[5], 16)
            self.modules[f"[{words[0]}]"] = (base, base + int(words[1]))

    def below(self, address):
        """The function that the byte at address is in."""
        place = bisect.bisect_right(self.starts, address)
        start = self.starts[place - 1] if place else None
        if start is None or address - start >= 1 << 20:
            return None
        code = [s for s in self.symbols[start] if s[1] in "tTwW" and
                s[2] not in ("_etext", "_einittext")]
        if not code:
            return None
        best = min(code, key=lambda s: (s[1] in "wW",
                                        len(s[2]) - len(s[2].lstrip("_"))))
        if best[3]:
            base, end = self.modules.get(best[3], (0, 0))
            if base <= start < end <= address:
                return None
        elif "_etext" in self.labels:
            ranges = [("_stext", "_etext"), ("_sinittext", "_einittext")]
            if not any(self.labels[a] <= address < self.labels[b]
                       for a, b in ranges if a in self.labels):
                return None
        return best

    def symbol(self, address):
        """(function, module or None, offset), or None."""
        symbol = self.below(address - 1) or self.below(address)
        if not symbol:
            return None
        return (symbol[2], symbol[3].strip("[]") if symbol[3] else None,
                address - symbol[0])

    def name(self, address):
        """function+0xoffset [module], or None."""
        symbol = self.symbol(address)
        if not symbol:
            return None
        text = f"{symbol[0]}+{symbol[2]:#x}"
        return f"{text} [{symbol[1]}]" if symbol[1] else text
