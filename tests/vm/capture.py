# SPDX-License-Identifier: GPL-2.0-or-later
"""Reads a capture in the plainest way, for the tests of what guests recorded.

Shares nothing with trace/, so that both can be held against each other.
"""
import bisect
import collections
import glob
import os
import re
import struct

RECORD = struct.Struct("<BBHiQQQQQq")
ALLOC, FREE = 1, 2
TYPES = ("kmalloc", "cache", "pages")

Event = collections.namedtuple(
    "Event",
    "event_id type_id size node call_site ptr bytes_req bytes_alloc gfp time"
    " cpu")


def read_cpu(directory, cpu):
    with open(os.path.join(directory, f"cpu{cpu}.out"), "rb") as f:
        data = f.read()
    assert len(data) % RECORD.size == 0, f"cpu{cpu}.out: part of a record"
    return [Event(*fields, cpu) for fields in RECORD.iter_unpack(data)]


def cpus(directory):
    return sorted(
        int(re.search(r"cpu(\d+)\.out$", path)[1])
        for path in glob.glob(os.path.join(directory, "cpu*.out")))


def read(directory):
    """All events in the order of time; a CPU's own order is kept."""
    events = []
    for cpu in cpus(directory):
        events += read_cpu(directory, cpu)
    events.sort(key=lambda e: e.time)
    return events


class Symbols:
    """The functions of the captured kallsyms."""

    def __init__(self, directory):
        table = []
        self.address = {}
        with open(os.path.join(directory, "kallsyms")) as f:
            for line in f:
                address, kind, name = line.split()[:3]
                self.address.setdefault(name, int(address, 16))
                if kind in "tTwW":
                    table.append((int(address, 16), name))
        table.sort()
        self.addresses = [address for address, _ in table]
        self.names = [name for _, name in table]

    def function(self, call_site):
        """Of a return address, without what a compiler adds to a name."""
        i = bisect.bisect_right(self.addresses, call_site - 1) - 1
        if i < 0:
            return hex(call_site)
        return re.sub(r"\.(part|constprop|isra|cold)\b.*", "", self.names[i])


def meta(directory):
    values = {}
    with open(os.path.join(directory, "kmemtrace.meta")) as f:
        for line in f:
            if "=" in line:
                key, value = line.rstrip("\n").split("=", 1)
                values.setdefault(key, value)
    return values
