# SPDX-License-Identifier: GPL-2.0-or-later
"""Run kmemtrace-gate on small captures."""

import os
import subprocess
import tempfile
import unittest

import mkcapture

BUILD = os.path.abspath(os.environ.get("top_builddir", "."))
SRCDIR = os.path.abspath(os.environ.get("top_srcdir", "."))
PROGRAM = os.path.join(BUILD, "gate", "kmemtrace-gate")
TEXT = 0xffffffff81000000
MODULE = 0xffffffffa0000000
# Functions of the kernel and of modules, in the order of their addresses.
FUNCTIONS = ("alpha", "beta", "gamma", "delta")
MODULE_FUNCTIONS = {"mod_alloc": "mod", "other_alloc": "other"}
META = {"format": "1", "abi_version": "2", "record_size": "64",
        "byte_order": "little", "machine": "x86_64", "page_size": "4096",
        "kernel_release": "6.1.0", "build_id": "aa", "source": "relay",
        "complete": "true", "overruns": "0"}
MARKS = """# kmemtrace: marks
# columns: number appeared went module types name format
# unnumbered: 0
1 0 - - s marker %s
2 0 - - i begin begin %d
3 0 - - i end end %d
"""


def run(*args, **kwargs):
    """Run kmemtrace-gate; return its result as text."""
    return subprocess.run([PROGRAM, *args], text=True, check=False,
                          capture_output=True, **kwargs)


class Alloc:
    """An allocation: requested and allocated bytes, and times in us."""

    def __init__(self, function, alloc, req=None, kind="kmalloc", t=None,
                 free=None):
        self.function = function
        self.alloc = alloc
        self.req = alloc if req is None else req
        self.kind = kind
        self.t = t
        self.free = free


class Recording:
    """Writes a capture of one CPU from allocations and marks."""

    def __init__(self, shift=0, functions=FUNCTIONS, **meta):
        """shift: offset of all addresses of functions, as in another build."""
        self.meta = dict(META)
        for key, value in meta.items():
            if value is None:
                self.meta.pop(key, None)
            else:
                self.meta[key] = value
        self.sites = {name: TEXT + 0x100 * i + shift
                      for i, name in enumerate(functions)}
        self.modules = {name: MODULE + 0x1000 * i + shift
                        for i, name in enumerate(MODULE_FUNCTIONS)}
        self.events = []
        self.cpus = 1
        self.next = 1

    def add(self, *allocs):
        """Add allocations; those without a time follow each other."""
        for a in allocs:
            t = self.next if a.t is None else a.t
            self.next = max(self.next, t) + 1
            ptr = 0xffff888000000000 + 0x100000 * len(self.events)
            site = {**self.sites, **self.modules}[a.function] + 0x10
            fields = {"type_id": mkcapture.TYPES[a.kind], "site": site,
                      "ptr": ptr}
            self.events.append((t, mkcapture.event_v2(
                t=t * 1000, req=a.req, alloc=a.alloc, **fields)))
            if a.free is not None:
                self.events.append((a.free, mkcapture.event_v2(
                    event_id=mkcapture.FREE, t=a.free * 1000, req=0, alloc=0,
                    gfp=0, **fields)))
        return self

    def mark(self, t, number, value):
        """Add an annotation: number 1 is a line of user space."""
        for record in mkcapture.mark(t * 1000, number, [value]):
            self.events.append((t, record))
        return self

    def lose(self, t, n):
        """Add lost events at a time."""
        self.events.append((t, mkcapture.lost(t * 1000, n, t * 1000 - 500)))
        self.meta["overruns"] = str(int(self.meta.get("overruns", "0")) + n)
        return self

    def write(self, path):
        """Write the directory of the capture."""
        capture = mkcapture.Capture()
        for cpu in range(self.cpus):
            capture.add(cpu, b"")
        for _, data in sorted(self.events, key=lambda event: event[0]):
            capture.add(0, data)
        meta = "[capture]\n" + "".join(f"{key}={value}\n" for key, value in
                                       self.meta.items())
        for cpu in range(self.cpus):
            lost = self.meta.get("overruns", "0") if cpu == 0 else "0"
            meta += f"[cpu{cpu}]\noverruns={lost}\n"
        capture.texts["kmemtrace.meta"] = meta
        symbols = [(TEXT, "_stext", "")]
        symbols += [(a, name, "") for name, a in self.sites.items()]
        symbols += [(TEXT + 0x100000, "_etext", "")]
        symbols += [(a, name, f"\t[{MODULE_FUNCTIONS[name]}]")
                    for name, a in self.modules.items()]
        capture.texts["kallsyms"] = "".join(
            f"{a:016x} t {name}{module}\n" for a, name, module in symbols)
        capture.texts["modules"] = "".join(
            f"{MODULE_FUNCTIONS[name]} 4096 0 - Live {a:#x}\n"
            for name, a in self.modules.items())
        capture.texts["marks"] = MARKS
        capture.write(path)


class GateCase(unittest.TestCase):
    """Captures and rules in a temporary directory."""

    def setUp(self):
        holder = tempfile.TemporaryDirectory()
        self.addCleanup(holder.cleanup)
        self.dir = holder.name

    def path(self, name):
        """Return the path of a file in the temporary directory."""
        return os.path.join(self.dir, name)

    def write(self, name, text):
        """Write a file; return its path."""
        path = self.path(name)
        with open(path, "w", encoding="utf-8") as f:
            f.write(text)
        return path

    def record(self, name, *allocs, **options):
        """Write a capture of these allocations; return its path."""
        Recording(**options).add(*allocs).write(self.path(name))
        return self.path(name)

    def live(self, name, **functions):
        """Write a capture in which each function holds so many bytes."""
        return self.record(name, *(Alloc(function, size)
                                   for function, size in functions.items()))

    def gate(self, rules, base, new, *options):
        """Run the gate with rules as text; return the result."""
        base = [base] if isinstance(base, str) else base
        new = [new] if isinstance(new, str) else new
        return run(*options, self.write("rules", rules), *base, "--", *new)

    def verdicts(self, rules, base, new, *options):
        """Return the exit status and the first word of each verdict."""
        done = self.gate(rules, base, new, *options)
        words = [line.split("  ")[0] for line in done.stdout.splitlines()
                 if line[:1].isupper()]
        return done.returncode, words, done.stdout + done.stderr

    def judged(self, rules, base, new, status, *words, text=None, options=()):
        """Check the exit status and the verdicts, and that the output has a
        text."""
        got = self.verdicts(rules, base, new, *options)
        self.assertEqual(got[:2], (status, list(words)), got[2])
        for part in [text] if isinstance(text, str) else text or []:
            self.assertIn(part, got[2])
        return got[2]
