# SPDX-License-Identifier: GPL-2.0-or-later
"""Captures in which objects have a pattern, for the tests of the advice."""

import mkcapture
from report_case import ReportCase

META = """[capture]
format=1
abi_version=3
record_size=64
byte_order=little
page_size=4096
word_size=8
machine=x86_64
kernel_release={release}
{allocator}complete=true
cpus=2
overruns={lost}
[cpu0]
overruns={lost}
[cpu1]
overruns=0
"""
# Each function has 0x100 bytes.
FUNCTIONS = ("_stext", "first", "second", "third", "kmemdup", "kvmalloc_node",
             "_etext")
TEXT = 0xffffffff81000000
KERNEL, ATOMIC = 0xcc0, 0xa20
HARDIRQ = 1


def site(function, offset=0x10):
    """Return a return address in a function."""
    return TEXT + 0x100 * FUNCTIONS.index(function) + offset


class Trace:
    """Events in the order of time, on two CPUs."""

    def __init__(self):
        self.capture = mkcapture.Capture()
        self.time = 0
        self.next = 0xffff888000000000
        self.lost = 0
        self.release = "6.1.0"
        self.allocator = "allocator=slub\n"
        for cpu in range(2):
            self.capture.add(cpu, b"")

    def wait(self, ns):
        """Let time pass."""
        self.time += ns

    def event(self, event_id, kind, where, ptr, sizes=(0, 0), cpu=0, pid=7,
              flags=0, cache=0, gfp=KERNEL):
        """Add a record, 100 ns after the last one."""
        self.time += 100
        self.capture.add(cpu, mkcapture.event_v2(
            event_id=event_id, type_id=mkcapture.TYPES[kind], t=self.time,
            site=where, ptr=ptr, req=sizes[0], alloc=sizes[1], gfp=gfp,
            pid=pid, cache=cache, flags=flags))

    def alloc(self, where, req, alloc, kind="kmalloc", **fields):
        """Allocate an object; return it."""
        self.next += 1 << 20
        self.event(mkcapture.ALLOC, kind, where, self.next, (req, alloc),
                   **fields)
        return self.next, kind

    def free(self, what, where, **fields):
        """Free an object."""
        self.event(mkcapture.FREE, what[1], where, what[0], **fields)

    def write(self, path):
        """Write the capture."""
        self.capture.texts["kmemtrace.meta"] = META.format(
            release=self.release, allocator=self.allocator, lost=self.lost)
        self.capture.texts["kallsyms"] = "".join(
            f"{TEXT + 0x100 * i:016x} T {name}\n"
            for i, name in enumerate(FUNCTIONS))
        self.capture.write(path)
        return path


class AdviceCase(ReportCase):
    """The advice about a trace."""

    def setUp(self):
        super().setUp()
        self.trace = Trace()

    def advice(self, *args):
        """Return the member "advice" for the trace."""
        path = self.trace.write(self.dir + "/capture")
        return self.report("--advise", *args, path)["advice"]

    def findings(self, *args):
        """Return the findings about the trace."""
        return self.advice(*args)["findings"]

    def only(self, topic, *args):
        """Return the only finding, which must have a topic."""
        found = self.findings(*args)
        self.assertEqual([f["topic"] for f in found], [topic])
        return found[0]

    def savings(self, finding):
        """Return the savings of each change, at the peak and at the end."""
        return {c["action"]: (c["saving_at_peak"], c["saving_live"])
                for c in finding["changes"]}
