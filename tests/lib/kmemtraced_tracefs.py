# SPDX-License-Identifier: GPL-2.0-or-later
"""A fake kernel with tracepoints: a directory with the files of its tracefs.

tests/kmemtraced/shim.c fills the instance that kmemtraced makes with a copy of
the template that this module writes.  trace_pipe_raw is a regular file of pages,
which can be read once.
"""

import os
import struct
import subprocess

from kmemtraced_fake import PROGRAM, DaemonTest
from target import BYTE_ORDER, ORDER, pack

COMMON = (("unsigned short", "common_type", 0, 2, 0),
          ("unsigned char", "common_flags", 2, 1, 0),
          ("unsigned char", "common_preempt_count", 3, 1, 0),
          ("int", "common_pid", 4, 4, 1))
ADDRESSES = [("unsigned long", "call_site", 8, 8, 0),
             ("const void *", "ptr", 16, 8, 0)]
SIZES = [("size_t", "bytes_req", 24, 8, 0),
         ("size_t", "bytes_alloc", 32, 8, 0),
         ("unsigned long", "gfp_flags", 40, 8, 0), ("int", "node", 48, 4, 1)]
PFN = [("unsigned long", "pfn", 8, 8, 0), ("unsigned int", "order", 16, 4, 0)]
TRACEPOINTS = {
    "kmalloc": (400, ADDRESSES + SIZES),
    "kfree": (401, ADDRESSES),
    "kmem_cache_alloc": (402, ADDRESSES + SIZES),
    "kmem_cache_free": (403, ADDRESSES),
    "mm_page_alloc": (404, PFN + [("unsigned long", "gfp_flags", 24, 8, 0)]),
    "mm_page_free": (405, PFN),
}
TASK_POINTS = {
    "task_newtask": (410, [
        ("pid_t", "pid", 8, 4, 1), ("char", "comm[16]", 12, 16, 0),
        ("unsigned long", "clone_flags", 32, 8, 0),
        ("short", "oom_score_adj", 40, 2, 1)]),
    "task_rename": (411, [
        ("pid_t", "pid", 8, 4, 1), ("char", "oldcomm[16]", 12, 16, 0),
        ("char", "newcomm[16]", 28, 16, 0),
        ("short", "oom_score_adj", 44, 2, 1)]),
}
PAGE = 4096
HEADER_PAGE = """\tfield: u64 timestamp;\toffset:0;\tsize:8;\tsigned:0;
\tfield: local_t commit;\toffset:8;\tsize:8;\tsigned:1;
\tfield: int overwrite;\toffset:8;\tsize:1;\tsigned:1;
\tfield: char data;\toffset:16;\tsize:4080;\tsigned:0;
"""
STATS = """entries: 0
overrun: {}
commit overrun: {}
bytes: 0
oldest event ts:     0.000000
now ts:     0.000000
dropped events: {}
read events: {}
"""
SOURCE_READY = "libtraceevent" not in subprocess.run(
    [PROGRAM, "-t", "/nonexistent"], capture_output=True, text=True,
    check=False).stderr


def format_text(name, number, fields):
    """Return the format file of an event."""
    def lines(some):
        return "".join(f"\tfield:{kind} {field};\toffset:{offset};\t"
                       f"size:{size};\tsigned:{signed};\n"
                       for kind, field, offset, size, signed in some)
    return (f"name: {name}\nID: {number}\nformat:\n{lines(COMMON)}\n"
            f"{lines(fields)}\nprint fmt: \"\"\n")


def with_head(data, delta):
    """Return an event of the ring buffer."""
    words = len(data) // 4
    head = words | delta << 5 if BYTE_ORDER == "little" else \
        words << 27 | delta
    return pack("I", head) + data


def newtask(delta, pid, comm, parent=1):
    """Return the event of a new task."""
    return with_head(pack(
        "HBBii16s4xQhxx", TASK_POINTS["task_newtask"][0], 0, 0, parent, pid,
        comm.encode(), 0, 0), delta)


def rename(delta, pid, old, new, by=None):
    """Return the event of a task that is renamed."""
    return with_head(pack(
        "HBBii16s16shxx", TASK_POINTS["task_rename"][0], 0, 0, by or pid, pid,
        old.encode(), new.encode(), 0), delta)


def event(name, delta, ptr, pid=1, flags=0, site=0xffffffff81000010,
          sizes=(100, 128)):
    """Return a slab event with its common fields."""
    number = TRACEPOINTS[name][0]
    data = pack("HBBiQQ", number, flags, 0, pid, site, ptr)
    if "alloc" in name:
        data += pack("QQQii", *sizes, 0xcc0, -1, 0)
    return with_head(data, delta)


def page_event(name, delta, pfn, order, pid=1, flags=0):
    """Return an event of the page allocator."""
    data = pack("HBBiQii", TRACEPOINTS[name][0], flags, 0, pid, pfn,
                       order, 0)
    if "alloc" in name:
        data += pack("Q", 0xcc0)
    return with_head(data, delta)


def page(time_ns, *events, missed=False):
    """Return a page of the ring buffer."""
    data = b"".join(events)
    commit = len(data) | (1 << 31 if missed else 0)
    return pack("QQ", time_ns, commit) + data.ljust(PAGE - 16, b"\0")


def count(raw):
    """Count the events of pages, as the kernel counts consumed events."""
    n = 0
    for start in range(0, len(raw), PAGE):
        commit = struct.unpack_from(ORDER + "Q", raw, start + 8)[0] & 0xfffff
        at, end = start + 16, start + 16 + min(commit, PAGE - 16)
        while at < end:
            head, = struct.unpack_from(ORDER + "I", raw, at)
            words = head & 31 if BYTE_ORDER == "little" else head >> 27
            n += 1
            at += 4 + words * 4
    return n


class TracefsTest(DaemonTest):
    """A test with a fake tracefs."""

    def setUp(self):
        super().setUp()
        self.tracefs = os.path.join(self.root, "tracing")
        self.instances = os.path.join(self.tracefs, "instances")
        self.template = os.path.join(self.root, "template")

    def put(self, path, content):
        """Write a file, and make the directories above it."""
        os.makedirs(os.path.dirname(path), exist_ok=True)
        self.write(path, content)

    def make_tracefs(self, clock="[local] global mono", pages=(b"", b""),
                     lost=((0, 0, 0), (0, 0, 0)), without=(),
                     percent=True):
        """Make the fake tracefs; pages and lost have an item for each CPU."""
        os.makedirs(self.instances)
        self.put(os.path.join(self.tracefs, "trace_clock"), clock + "\n")
        for top in (self.tracefs, self.template):
            self.put(os.path.join(top, "events/header_page"), HEADER_PAGE)
            for name, (number, fields) in (TRACEPOINTS | TASK_POINTS).items():
                if name in without:
                    continue
                directory = os.path.join(
                    top, "events", "task" if name in TASK_POINTS else "kmem",
                    name)
                self.put(os.path.join(directory, "format"), format_text(
                    name, number, fields))
                self.put(os.path.join(directory, "enable"), "0\n")
                self.put(os.path.join(directory, "filter"), "none\n")
        for name in ("tracing_on", "trace_clock", "buffer_size_kb",
                     "set_event_pid", "set_event", "tracing_cpumask", "trace",
                     "trace_marker", "events/enable", "options/overwrite",
                     "options/event-fork", "options/stacktrace"):
            self.put(os.path.join(self.template, name), "")
        if percent:
            self.put(os.path.join(self.template, "buffer_percent"), "50\n")
        for cpu, (raw, counts) in enumerate(zip(pages, lost)):
            directory = os.path.join(self.template, "per_cpu", f"cpu{cpu}")
            self.put(os.path.join(directory, "trace_pipe_raw"), raw)
            self.put(os.path.join(directory, "stats"),
                     STATS.format(*counts, count(raw)))
        self.put(os.path.join(self.sys, "devices/system/cpu/online"),
                 f"0-{len(pages) - 1}\n")

    def args(self, *more, out=None):
        return ["-t", self.tracefs, "-D", out or self.out, "--proc", self.proc,
                "--sys", self.sys, *more]

    def spawn(self, *more, out=None, shim=None, **settings):
        return super().spawn(*more, out=out,
                             shim=dict({"instance": self.template},
                                       **(shim or {})), **settings)

    def check_end(self, daemon, status=0):
        code, out, err = daemon.finish()
        self.assertEqual(code, status, err)
        self.assertEqual(os.listdir(self.instances), [])
        return out, err
