# SPDX-License-Identifier: GPL-2.0-or-later
"""Captures for the pages of the HTML report: one with everything that a capture can
have, and the same with losses or with hostile names."""

import random

import mkcapture
from mkcapture import (ALLOC, CACHE, FREE, KMALLOC, PAGES, PERCPU, VMALLOC,
                       V2_SIZE, V2S_SIZE)

CPUS = 4
DURATION = 2_000_000_000
SIZES = (8, 16, 32, 64, 96, 128, 192, 256, 512, 1024, 2048, 4096, 8192)
STACK = 1 << 31

# Each call site: name of the function, source file, module, kind, cache, requested
# bytes, weight, lifetime in ns (None: never freed), probability that another CPU
# frees, and the callers from the inside.
SITES = [
    ("kstrdup", "mm/util.c", None, KMALLOC, 0, 30, 30, 4_000_000, .1,
     ("do_mount", "sys_mount", "do_syscall_64")),
    ("getname_flags", "fs/namei.c", None, CACHE, 3, 4096, 40, 90_000, .02,
     ("do_filp_open", "do_sys_open", "do_syscall_64")),
    ("alloc_inode", "fs/inode.c", None, CACHE, 4, 600, 25, 700_000_000, .3,
     ("iget_locked", "do_filp_open", "do_sys_open", "do_syscall_64")),
    ("__alloc_skb", "net/core/skbuff.c", None, CACHE, 5, 232, 60, 300_000, .7,
     ("tcp_sendmsg", "sock_sendmsg", "sys_sendto", "do_syscall_64")),
    ("pskb_expand_head", "net/core/skbuff.c", None, KMALLOC, 0, 700, 20,
     2_000_000, .5, ("tcp_sendmsg", "sock_sendmsg", "sys_sendto",
                     "do_syscall_64")),
    ("filemap_alloc_folio", "mm/filemap.c", None, PAGES, 0, 4096, 50,
     900_000_000, .4, ("page_cache_ra_unbounded", "sys_read",
                       "do_syscall_64")),
    ("alloc_percpu_gfp", "mm/percpu.c", None, PERCPU, 0, 32, 3, 50_000_000, 0,
     ("init_net", "sys_unshare", "do_syscall_64")),
    ("vzalloc_node", "mm/vmalloc.c", None, VMALLOC, 0, 9000, 3, 200_000_000, 0,
     ("bpf_prog_alloc", "sys_bpf", "do_syscall_64")),
    ("card_leak", "drivers/card/leak.c", "card", KMALLOC, 0, 128, 15, None, 0,
     ("card_ioctl", "sys_ioctl", "do_syscall_64")),
    ("card_waste", "drivers/card/ring.c", "card", KMALLOC, 0, 1100, 12,
     600_000_000, .1, ("card_ioctl", "sys_ioctl", "do_syscall_64")),
    ("card_cross", "drivers/card/irq.c", "card", KMALLOC, 0, 64, 45, 1_000_000,
     1, ("card_poll", "net_rx_action", "do_softirq")),
]
CACHES = {3: ("names_cache", 4096), 4: ("inode_cache", 600),
          5: ("skbuff_head_cache", 256)}
TASKS = {1: "init", 200: "postgres", 201: "nginx", 202: "rsync", 203: "kworker/2:1"}

# Text that must never become an element, an attribute, or a script.
ATTACKS = [
    "<img/src=x/onerror=attack()>", "<script>attack()</script>",
    "</script><script>attack()</script>", "\"onmouseover=\"attack()",
    "'-attack()-'", "<!--", "]]>", "&lt;b&gt;", "javascript:attack()",
    "${attack()}", "{{attack()}}", "\\u003cscript\\u003eattack()",
    "\u2028attack()\u2029", "\u202eattack\u202c", "__proto__", "constructor",
    "=cmd|attack", "<svg/onload=attack()>", "\x01\x1b[31mred\x7f",
    "<style>*{display:none}</style>", "-->", "<!--<script>",
    "url(javascript:attack())", "toString",
]



def escape(text):
    """Return a name as the tables of a capture write it."""
    return "".join(f"\\{ord(c):03o}" if c in " \t\n\\#" else c for c in text)


def indent(lines):
    """Return the lines as one text."""
    return "".join(line + "\n" for line in lines)


def size_class(requested):
    """Return the bytes of the kmalloc object that holds a request."""
    return next((s for s in SIZES if s >= requested), (requested + 4095) & ~4095)


class PageCapture:
    """A capture of two seconds of an imaginary kernel."""

    def __init__(self, events=12000, stacks=True, name=lambda name: name):
        """name: replaces each name of the kernel by another."""
        self.rng = random.Random(1)
        self.stacks = stacks
        self.name = name
        self.size = V2S_SIZE if stacks else V2_SIZE
        self.records = {cpu: [] for cpu in range(CPUS)}
        self.events = events
        self.capture = mkcapture.Capture()
        self.losses = {cpu: 0 for cpu in range(CPUS)}
        self.functions = sorted({site[0] for site in SITES} |
                                {f for site in SITES for f in site[9]})
        self.modules = {site[0]: site[2] for site in SITES if site[2]}

    def address(self, function):
        """Return the address of a function."""
        index = self.functions.index(function) * 0x1000
        module = function.startswith("card_")
        return (0xffffffffa0000000 if module else 0xffffffff81000000) + index

    def site(self, index):
        """Return the address of a call site."""
        return self.address(SITES[index][0]) + 0x10

    def emit(self, cpu, t, data):
        """Add a record of a CPU."""
        self.records[cpu].append((t, len(self.records[cpu]), data))

    def record(self, cpu, t, index, event, ptr):
        """Add an allocation or a free of a call site."""
        _, _, _, kind, cache, requested, _, _, _, callers = SITES[index]
        is_alloc = event == ALLOC
        site = self.site(index) if is_alloc else self.address(callers[0]) + 0x40
        allocated = size_class(requested) if kind == KMALLOC else (
            CACHES[cache][1] if cache else (requested + 7) & ~7)
        if kind in (PAGES, VMALLOC):
            allocated = (requested + 4095) & ~4095
        self.emit(cpu, t, mkcapture.event_v2(
            event_id=event, type_id=kind, t=t, site=site, ptr=ptr,
            req=requested * is_alloc, alloc=allocated * is_alloc,
            gfp=0xcc0 * is_alloc, node=cpu // 2 if is_alloc else -1,
            event_size=self.size, pid=self.rng.choice(list(TASKS)),
            cache=cache, flags=0,
            stack=STACK + index + 1 if self.stacks else None))

    def objects(self):
        """Allocate objects, and free those that do not live forever."""
        weights = [site[6] for site in SITES]
        for n in range(self.events // 2):
            index, = self.rng.choices(range(len(SITES)), weights)
            lifetime, cross = SITES[index][7], SITES[index][8]
            t = 1_000 + n * DURATION // (self.events // 2)
            cpu = self.rng.randrange(CPUS)
            ptr = 0xffff888000000000 + n * 0x10000
            self.record(cpu, t, index, ALLOC, ptr)
            if lifetime is None:
                continue
            freed = t + 1 + int(self.rng.expovariate(1 / lifetime))
            if freed < DURATION:
                if self.rng.random() < cross:
                    cpu = (cpu + 1 + self.rng.randrange(CPUS - 1)) % CPUS
                self.record(cpu, freed, index, FREE, ptr)

    def marks(self):
        """Record two marks."""
        for number, t in ((1, DURATION // 4), (2, DURATION // 2)):
            for data in mkcapture.mark(t=t, number=number, values=[
                    self.name("phase")], pid=1, event_size=self.size):
                self.emit(0, t, data + bytes(self.size - len(data)))

    def lose(self, cpu, start, stop):
        """Remove the records of a CPU in a span, and record their loss."""
        kept = [r for r in self.records[cpu] if not start <= r[0] < stop]
        n = len(self.records[cpu]) - len(kept)
        self.records[cpu] = kept
        self.losses[cpu] += n
        data = mkcapture.lost(stop, n, start, event_size=self.size)
        self.emit(cpu, stop, data + bytes(self.size - len(data)))

    def tables(self):
        """Set the texts of the capture."""
        texts = self.capture.texts
        meta = ["[capture]", "format=1", "abi_version=3",
                f"record_size={self.size}", "byte_order=little",
                "complete=true", f"overruns={sum(self.losses.values())}",
                "kernel_release=" + self.name("6.12.0-page"), "machine=x86_64",
                f"cpus={CPUS}"]
        for cpu in range(CPUS):
            meta += [f"[cpu{cpu}]", f"node={cpu // 2}",
                     f"overruns={self.losses[cpu]}"]
        texts["kmemtrace.meta"] = indent(
            line.replace("\\", "\\\\").replace("\n", "\\n") for line in meta)
        symbol = lambda f: (self.name(f).replace(" ", "_").replace("\n", "_")
                            .replace("\t", "_"))
        texts["kallsyms"] = indent(
            f"{self.address(f):016x} t {symbol(f)}" +
            ("\t[card]" if f.startswith("card_") else "")
            for f in sorted(self.functions, key=self.address))
        texts["modules"] = "card 262144 0 - Live 0xffffffffa0000000\n"
        texts["caches"] = indent(
            ["# kmemtrace: caches",
             "# columns: number object_size size created destroyed name",
             "# unnumbered: 0"] +
            [f"{n} {size} {size} 0 - {escape(self.name(name))}"
             for n, (name, size) in CACHES.items()])
        texts["tasks"] = indent(
            ["# kmemtrace: tasks", "# columns: pid until name", "# dropped: 0"] +
            [f"{pid} - {escape(self.name(name))}"
             for pid, name in sorted(TASKS.items())])
        texts["marks"] = indent(
            ["# kmemtrace: marks",
             "# columns: number appeared went module types name format",
             "# unnumbered: 0"] +
            [f"{n} 0 - - s {name} begin %s"
             for n, name in ((1, "mount"), (2, "load"))])
        texts["tags"] = indent(
            ["# kmemtrace: tags",
             "# columns: address went module line function file",
             "# dropped: 0"] +
            [f"{self.site(i):x} - {s[2] or '-'} {10 + i} "
             f"{s[0]} {escape(self.name(s[1]))}"
             # The other call sites have names of kallsyms.
             for i, s in sorted(enumerate(SITES),
                                key=lambda pair: self.site(pair[0])) if i % 2])
        if self.stacks:
            texts["stacks"] = indent(
                ["# kmemtrace: stacks", "# columns: stack addresses",
                 "# lost: 0"] +
                [f"{STACK + i + 1} " + ",".join(
                    [f"{self.site(i):x}"] +
                    [f"{self.address(f) + 0x40:x}" for f in s[9]])
                 for i, s in enumerate(SITES)])

    def write(self, directory):
        """Write the capture."""
        self.tables()
        for cpu, records in self.records.items():
            self.capture.add(cpu, b"".join(
                data for _, _, data in sorted(records, key=lambda r: r[:2])))
        self.capture.write(directory)


def write_normal(directory, **options):
    """Write a capture with everything that a capture can have."""
    made = PageCapture(**options)
    made.objects()
    made.marks()
    made.write(directory)


def write_lossy(directory):
    """Write a capture with three losses."""
    made = PageCapture()
    made.objects()
    made.marks()
    made.lose(0, DURATION // 10, DURATION // 5)
    made.lose(1, DURATION // 10, DURATION // 8)
    made.lose(3, DURATION // 2, DURATION * 6 // 10)
    made.write(directory)


def write_hostile(directory, length=10_000_000):
    """Write a capture whose names are attacks; two have this many characters."""
    names = {}

    def replace(name):
        if name not in names:
            attack = ATTACKS[len(names) % len(ATTACKS)]
            names[name] = f"{attack}{len(names)}"
            if name in ("card_leak", "drivers/card/ring.c"):
                names[name] += "<b>" * (length // 3)
        return names[name]

    made = PageCapture(name=replace)
    made.objects()
    made.marks()
    made.write(directory)
    return sorted(names.values())


def write_empty(directory):
    """Write a capture without a record."""
    PageCapture().write(directory)
