# SPDX-License-Identifier: GPL-2.0-or-later
"""A minimal reader of captures for the tests of guests. It shares no code with
lib/input, so that the two can be compared."""
import bisect
import collections
import glob
import os
import re
import struct

# Record layout by size: version 2 adds pid, cache, flags and optionally a stack.
RECORDS = {56: struct.Struct("<BBHiQQQQQq"),
           64: struct.Struct("<BBHiQQQQQqIHH"),
           72: struct.Struct("<BBHiQQQQQqIHHII")}
# Values of the fields that smaller records lack.
NOTHING = {56: (0, 0, 0, 0, 0), 64: (0, 0), 72: ()}
ALLOC, FREE, LOST, MARK, MORE, STOP, DEFER = range(1, 8)
HARDIRQ, SOFTIRQ, ACCOUNT = 1, 2, 4
TYPES = ("kmalloc", "cache", "pages", "percpu", "vmalloc")
# kmalloc and cache share one address namespace; each other type has its own.
SLAB = ("kmalloc", "cache")

Event = collections.namedtuple(
    "Event",
    "event_id type_id size node call_site ptr bytes_req bytes_alloc gfp time"
    " pid cache flags stack reserved cpu")


def version(directory):
    """Return the ABI version of the records."""
    return int(meta(directory)["abi_version"])


def record_size(directory):
    """Return the size of a record. Sessions recorded in the guest store no size."""
    return int(meta(directory).get("record_size",
                                   64 if version(directory) > 1 else 56))


def record_struct(directory):
    """Return the record's layout, in the byte order of the traced machine."""
    layout = RECORDS[record_size(directory)]
    if meta(directory).get("byte_order") == "big":
        return struct.Struct(">" + layout.format[1:])
    return layout


def read_all(directory, cpu):
    """Return a CPU's records without marks, and (index, events, since, time) of
    each loss."""
    with open(os.path.join(directory, f"cpu{cpu}.out"), "rb") as f:
        data = f.read()
    size = record_size(directory)
    record = record_struct(directory)
    assert len(data) % record.size == 0, f"cpu{cpu}.out: part of a record"
    events, lost = [], []
    for fields in record.iter_unpack(data):
        assert fields[2] == record.size, f"cpu{cpu}.out: {fields}"
        if fields[0] == LOST:
            lost.append((len(events), fields[6], fields[7], fields[9]))
            assert fields[1] == 0 and fields[3] == -1 and not any(
                fields[4:6] + fields[8:9] + fields[10:]), fields
        elif fields[0] not in (MARK, MORE):
            events.append(Event(*fields, *NOTHING[size], cpu))
    return events, lost


def read_cpu(directory, cpu):
    """Return a CPU's records without marks and losses."""
    return read_all(directory, cpu)[0]


def cpus(directory):
    return sorted(
        int(re.search(r"cpu(\d+)\.out$", path)[1])
        for path in glob.glob(os.path.join(directory, "cpu*.out")))


def read(directory):
    """Return all events in order of time; the order within a CPU is kept."""
    events = []
    for cpu in cpus(directory):
        events += read_cpu(directory, cpu)
    events.sort(key=lambda e: e.time)
    return events


class Symbols:
    """Function symbols of the captured kallsyms."""

    def __init__(self, directory):
        table = []
        self.address = {}
        with open(os.path.join(directory, "kallsyms")) as f:
            for line in f:
                address, kind, name = line.split()[:3]
                self.address.setdefault(name, int(address, 16))
                if kind in "tTwW" and not name.startswith(("$", ".L")):
                    table.append((int(address, 16), name))
        table.sort()
        self.addresses = [address for address, _ in table]
        self.names = [name for _, name in table]

    def function(self, call_site):
        """Return the function of a return address, without suffixes added by the
        compiler."""
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


def name(text):
    """Decode a name in a table, where \\ooo is a character."""
    return re.sub(r"\\([0-7]{3})", lambda m: chr(int(m[1], 8)), text)


def table(directory, which):
    """Return the split lines of a table and the properties in its header."""
    rows, about = [], {}
    with open(os.path.join(directory, which), encoding="latin-1",
              newline="\n") as f:
        for line in f:
            line = line.rstrip("\n")
            match = re.match(r"# (\w+): (.*)", line)
            if match:
                about[match[1]] = match[2]
            else:
                columns = about["columns"].count(" ")
                words = line.split(" ", columns)
                rows.append(words[:-1] + [name(words[-1])])
    assert about.pop("kmemtrace") == which
    return rows, about


def caches(directory):
    """Return {number: (object_size, size, created, destroyed or None, name)}."""
    found = {}
    for number, object_size, size, created, destroyed, text in table(
            directory, "caches")[0]:
        assert int(number) not in found, f"two caches {number}"
        found[int(number)] = (
            int(object_size), int(size), int(created),
            None if destroyed == "-" else int(destroyed), text)
    return found


class Tasks:
    """The names of tasks."""

    def __init__(self, directory):
        rows, about = table(directory, "tasks")
        self.dropped = int(about.get("dropped", 0))
        self.by_pid = collections.defaultdict(list)
        for pid, until, text in rows:
            self.by_pid[int(pid)].append(
                (float("inf") if until == "-" else int(until), text))
        for entries in self.by_pid.values():
            assert entries == sorted(entries, key=lambda e: e[0])

    def find(self, pid, time):
        """Return a task's name at a time, or None."""
        for until, text in self.by_pid.get(pid, ()):
            if time <= until:
                return text
        return self.by_pid[pid][-1][1] if pid in self.by_pid else None
