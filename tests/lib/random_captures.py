# SPDX-License-Identifier: GPL-2.0-or-later
"""Make random captures with defects, and damage the bytes of a capture."""

import random
import struct

ALLOC, FREE, LOST, DEFER = 1, 2, 3, 7
NAMES = ["event_id", "type_id", "event_size", "node", "call_site", "ptr",
         "bytes_req", "bytes_alloc", "gfp_flags", "timestamp"]

CODE = 0xffffffff81000000
MODULE = 0xffffffffa0000000


def pack(record, big):
    """Return the bytes of a record, a dict with the members NAMES."""
    layout = struct.Struct((">" if big else "<") + "BBHiQQQQQq")
    return layout.pack(*(record[n] for n in NAMES))


def n_kinds(size):
    """Return how many kinds of memory records of a size can have."""
    return 5 if size >= 64 else 3


def make_symbols(rng):
    """Return kallsyms, modules and ranges of addresses, with every special
    case."""
    lines = [f"{CODE:016x} T _text", f"{CODE:016x} T _stext"]
    address = CODE
    for i in range(60):
        under = "_" * rng.choice([0, 0, 0, 2])
        lines.append(f"{address:016x} {rng.choice('tTwW')} {under}fn{i}")
        if rng.random() < 0.2:
            lines.append(f"{address:016x} t __alias{i}")
        if rng.random() < 0.1:
            lines.append(f"{address + 5:016x} A absolute{i}")
        address += rng.randrange(16, 400)
    lines.append(f"{address:016x} T _etext")
    etext = address
    for i in range(10):
        lines.append(f"{address + 64:016x} {rng.choice('dDbBrRV')} data{i}")
        address += 200
    init = address = (address + 0x1000) & ~0xfff
    lines.append(f"{address:016x} T _sinittext")
    for i in range(5):
        lines.append(f"{address:016x} t init{i}")
        address += 100
    lines.append(f"{address:016x} T _einittext")
    rng.shuffle(lines)
    modules = ""
    for m in range(3):
        base = MODULE + m * 0x200000
        address = base
        for i in range(5):
            lines.append(f"{address:016x} t mod{m}fn{i}\t[mod{m}]")
            address += rng.randrange(16, 400)
        lines.append(f"{address:016x} d mod{m}data\t[mod{m}]")
        address += 64
        lines.append(f"{address:016x} t mod{m}last\t[mod{m}]")
        if m != 1:
            modules += (f"mod{m} {address + 100 - base} 1 - Live "
                        f"0x{base:016x}\n")
    places = [(CODE - 8, etext + 40), (init - 40, init + 600)]
    places += [(MODULE + m * 0x200000 - 8, MODULE + m * 0x200000 + 3000)
               for m in range(3)]
    return "\n".join(lines) + "\n", modules, places


class Maker:
    """One random capture."""

    pace = 10 ** 4  # largest distance of two records in ns

    def __init__(self, seed):
        rng = self.rng = random.Random(seed)
        self.big = rng.random() < 0.4
        self.size = rng.choice([56, 56, 64, 72])
        self.n_kinds = n_kinds(self.size)
        self.n_cpus = rng.choice([1, 2, 3, 4, 8])
        self.has_meta = rng.random() < 0.8
        self.overruns = rng.choice([0, 0, 7]) if self.has_meta else 0
        self.nodes = {c: rng.choice([-1, 0, 1]) for c in range(self.n_cpus)}
        self.unit = rng.choice([1, 1, 1 << 40, 1 << 49])
        self.kallsyms, self.modules, places = make_symbols(rng)
        self.site_list = [rng.randrange(*rng.choice(places))
                          for _ in range(rng.choice([3, 40]))]
        self.cpus = {c: [] for c in range(self.n_cpus)}
        self.live = []
        # A separate generator, so that the other values of a seed do not change.
        other = random.Random(seed + 0.125)
        self.abi = 1
        # The share of frees that are deferred.
        self.deferring = 0
        self.release = None
        if self.size >= 64 and other.random() < .6:
            self.abi = 3
            self.deferring = other.choice([.1, .5, 1])
            self.release = other.choice([None, "6.5.3", "6.3.9-amd64"])
        self.deferred = set()
        self.other = other
        self.ties = 0
        self.time = rng.choice([-5000, 0, 10 ** 9])

    def record(self, event, kind, ptr):
        """Return a record; undefined fields of a FREE are random."""
        rng = self.rng
        req = rng.randrange(1, 5000) * self.unit
        alloc = req + rng.choice([0, 0, rng.randrange(500)]) * self.unit
        if rng.random() < 0.01:
            alloc = max(req - self.unit, 0)
        return {"event_id": event, "type_id": kind, "event_size": self.size,
                "node": rng.choice([-1, -1, 0, 1]),
                "call_site": rng.choice(self.site_list), "ptr": ptr,
                "bytes_req": req, "bytes_alloc": alloc,
                "gfp_flags": rng.getrandbits(32), "timestamp": self.time}

    def some_ptr(self):
        """Return one of few addresses, so that addresses are reused."""
        return 0xffff888000000000 + self.rng.randrange(1, 300) * 4096

    def put(self, cpu, event, kind, ptr):
        """Append a record to the file of a CPU."""
        self.cpus[cpu].append(self.record(event, kind, ptr))

    def step(self):
        """Add one random event."""
        rng = self.rng
        cpu = rng.randrange(self.n_cpus)
        self.time += rng.randrange(1, self.pace)
        what = rng.random()
        if what < 0.55 or not self.live:
            kind, ptr = rng.randrange(self.n_kinds), self.some_ptr()
            self.put(cpu, ALLOC, kind, ptr)
            self.live.append((kind, ptr))
        elif what < 0.93:
            kind, ptr = self.live.pop(rng.randrange(len(self.live)))
            if self.defers(cpu, kind, ptr):
                return
            if kind < 2 and rng.random() < 0.03:
                kind = 1 - kind
            self.put(cpu, FREE, kind, ptr)
        elif what < 0.96:
            kind, ptr = rng.randrange(self.n_kinds), self.some_ptr()
            if kind in (0, 1, 4) and self.other.random() < self.deferring:
                self.put(cpu, DEFER, kind, ptr)
            else:
                self.put(cpu, FREE, kind, ptr)
        elif what < 0.98:
            self.tie()
        else:
            self.damage(cpu)

    def defers(self, cpu, kind, ptr):
        """Add a DEFER, perhaps to a deferred object. Return FALSE if the object
        must be freed now."""
        other = self.other
        if (kind not in (0, 1, 4) or other.random() >= self.deferring
                or ((kind, ptr) in self.deferred and other.random() < .9)):
            self.deferred.discard((kind, ptr))
            return False
        if kind < 2 and other.random() < .1:
            kind = 1 - kind
        self.put(cpu, DEFER, kind, ptr)
        if other.random() < .9:
            self.live.append((kind, ptr))
            self.deferred.add((kind, ptr))
        return True

    def tie(self):
        """Add events of all CPUs at the same time, each at its own address: the
        peak depends on the order."""
        self.ties += self.n_cpus > 1
        base = 0xffff999000000000 + self.rng.getrandbits(20) * 4096 * 64
        for cpu in range(self.n_cpus):
            ptr = base + cpu * 4096
            for event in self.rng.choice([(1,), (1, 2), (1, 2, 1)]):
                self.put(cpu, event, cpu % self.n_kinds, ptr)
        self.time += 1

    def damage(self, cpu):
        """Add a record that the programs skip, or one whose time decreases."""
        rng = self.rng
        record = self.record(rng.choice([1, 2]), rng.randrange(self.n_kinds),
                             0xffffaaa000000000 + rng.getrandbits(30) * 8)
        what = rng.randrange(5)
        if what == 0:
            record["event_id"] = rng.choice([0, 3, 255])
            if self.other.random() < .3:
                record["event_id"] = DEFER  # unknown in version 1
                record["type_id"] = self.other.choice([2, 3])
        elif what == 1:
            record["type_id"] = rng.choice([self.n_kinds, 255])
        elif what == 2:
            record["event_size"] = self.size + 8
        elif what == 3:
            record["ptr"] = 0
        else:
            record["timestamp"] -= rng.randrange(1, 10 ** 6)
        # The format of a file is detected from its first records.
        if len(self.cpus[cpu]) > 16:
            self.cpus[cpu].append(record)

    def extra(self, _record):
        """Return the bytes of a record after those of version 1."""
        return b"\x5a" * (self.size - 56)

    def write(self, directory):
        """Write the files; return the number of truncated bytes."""
        truncated = 0
        for cpu, records in self.cpus.items():
            with open(f"{directory}/cpu{cpu}.out", "wb") as f:
                for record in records:
                    f.write(pack(record, self.big) +
                            self.extra(record))
                if self.rng.random() < 0.3:
                    n = self.rng.randrange(1, self.size)
                    f.write(b"\x01" * n)
                    truncated += n
        if self.has_meta:
            with open(f"{directory}/kmemtrace.meta", "w",
                      encoding="ascii") as f:
                f.write(f"[capture]\nabi_version={self.abi}\n"
                        "complete=true\n"
                        + (f"kernel_release={self.release}\n"
                           if self.release else "") +
                        f"record_size={self.size}\n"
                        f"byte_order={'big' if self.big else 'little'}\n"
                        f"overruns={self.overruns}\n")
                for cpu, node in self.nodes.items():
                    f.write(f"[cpu{cpu}]\nnode={node}\n")
        for name in ("kallsyms", "modules"):
            with open(f"{directory}/{name}", "w", encoding="ascii") as f:
                f.write(getattr(self, name))
        return truncated


def damage_bytes(rng, data):
    """Flip, cut, zero and insert random bytes."""
    for _ in range(rng.randint(0, 8)):
        if not data:
            break
        kind = rng.random()
        at = rng.randrange(len(data))
        if kind < .6:
            data[at] ^= 1 << rng.randrange(8)
        elif kind < .75:
            data[at] = rng.choice([0, 0xff, 0x80, 0x7f])
        elif kind < .85:
            del data[at:at + rng.randint(1, 60)]
        elif kind < .95:
            data[at:at + 56] = bytes(56)
        else:
            data[at:at] = rng.randbytes(rng.randint(1, 100))
