# SPDX-License-Identifier: GPL-2.0-or-later
"""Read the directory of a capture in a simple way, and assign each free to its
allocation with reference_match.py.  The programs share no code with this module.
"""

import collections
import copy
import glob
import os
import re
import struct

import reference_match
from reference_names import TaskNames

ALLOC, FREE, LOST, DEFER = 1, 2, 3, 7
KINDS = ["kmalloc", "cache", "pages", "percpu", "vmalloc"]
# Time of the decisions that are still pending after the last record.
AT_THE_END = float("inf")


class Record:
    """A usable record; now is its merged time."""

    __slots__ = ("event", "type", "t", "ptr", "cpu", "index", "now", "site",
                 "req", "alloc", "gfp", "node", "pid")

    def __init__(self, fields, cpu, index, now):
        (self.event, self.type, _, self.node, self.site, self.ptr, self.req,
         self.alloc, self.gfp, self.t, *owner) = fields
        self.pid = owner[0] if owner else None
        self.cpu, self.index, self.now = cpu, index, now


# A change of an object at a time. op: alloc; defer (free is the DEFER); close (the
# address was allocated again); free (also closes the object); late (free of a closed
# object). op record: a FREE was read. since: the first DEFER of the object; hand: the
# last one, to whose code and CPU the free belongs.
Act = collections.namedtuple("Act", "time op object free since hand",
                             defaults=(None, None))

# A contradiction. what: unmatched, double, mismatch, unmatched_defer, or
# double_defer; why: the class, as in JSON.
Finding = collections.namedtuple("Finding", "what why first second")


def read_meta(path):
    """Return kmemtrace.meta as {group: {key: value}}, None without the file."""
    if not os.path.exists(path):
        return None
    groups = collections.defaultdict(dict)
    with open(path, encoding="utf-8") as f:
        group = ""
        for line in f:
            line = line.strip()
            if line.startswith("["):
                group = line.strip("[]")
                groups[group].update({})
            elif "=" in line and not line.startswith("#"):
                key, value = line.split("=", 1)
                groups[group][key.strip()] = value.strip()
    return groups


def sample_of(text):
    """Return the sampling factor, 1 if it is unknown."""
    number = int(text) if re.fullmatch("[0-9]+", text) else 1
    return number if 0 < number < 1 << 64 else 1


class File:
    """The file cpu<n>.out."""

    def __init__(self, path, cpu, size, big, may_defer):
        with open(path, "rb") as f:
            data = f.read()
        self.has_defer = False
        self.cpu = cpu
        self.bytes = len(data)
        self.events = len(data) // size
        self.truncated = len(data) % size
        self.records = []   # usable records
        # Number of skipped records before each record, and after the last one.
        self.skipped_before = []
        self.losses = []    # (since, until, events) of the LOST records
        self.overruns = 0   # lost events by kmemtrace.meta
        skipped = lost = 0
        now = None
        layout = struct.Struct((">" if big else "<") + "BBHiQQQQQq"
                               + (f"I{size - 60}x" if size >= 64 else
                                  f"{size - 56}x"))
        data = data[:self.events * size]
        for index, fields in enumerate(layout.iter_unpack(data)):
            event, kind, event_size = fields[:3]
            is_usable = reference_match.is_usable(event, kind, event_size,
                                                  fields[5], size, may_defer)
            self.has_defer |= is_usable and event == DEFER
            if not is_usable:
                # A LOST record of version 2.
                is_lost = (event == LOST and size >= 64
                           and event_size == size)
                lost += is_lost
                if is_lost:
                    since = (fields[7] + (1 << 63)) % (1 << 64) - (1 << 63)
                    self.losses.append((min(since, fields[9]), fields[9],
                                        fields[6]))
                skipped += not is_lost
                continue
            time = fields[9]
            now = time if now is None or time > now else now
            self.skipped_before.append(skipped)
            self.records.append(Record(fields, cpu, index, now))
        self.skipped_before.append(skipped)
        self.events -= lost


class Capture:
    """A directory; size and big describe the records if kmemtrace.meta does not."""

    def __init__(self, directory, size=56, big=False):
        meta = read_meta(os.path.join(directory, "kmemtrace.meta"))
        self.meta = meta or collections.defaultdict(dict)
        head = self.meta["capture"]
        self.size = int(head.get("record_size", size))
        self.big = head.get("byte_order", "big" if big else "little") == "big"
        self.directory = directory
        paths = {int(re.search(r"cpu(\d+)\.out$", path)[1]): path
                 for path in glob.glob(os.path.join(directory, "cpu*.out"))}
        self.version = int(head.get("abi_version", 0))
        may_defer = self.size >= 64 and (not self.version or self.version >= 3)
        self.files = [File(paths[cpu], cpu, self.size, self.big, may_defer)
                      for cpu in sorted(paths)]
        self.one_slab = self.frees_any_slab(head, meta is not None)
        self.nodes = {cpu: int(self.meta.get(f"cpu{cpu}", {}).get("node", -1))
                      for cpu in paths}
        for file in self.files:
            file.overruns = int(self.meta.get(f"cpu{file.cpu}", {}).get(
                "overruns", 0))
        # Without owners, records do not report losses.
        self.has_owners = (self.size >= 64
                           and int(head.get("abi_version", 0)) >= 2)
        self.tasks = self.read_tasks() if self.has_owners else {}
        self.complete = head.get("complete") == "true"
        self.cut_off = meta is not None and not self.complete
        self.continues = head.get("continues") == "true"
        self.overruns = int(head["overruns"]) if "overruns" in head else None
        self.sample = sample_of(head.get("sample", "1"))
        # Without a number of lost events, the LOST records decide.
        self.lacks_records = self.files_are_missing(paths) or (
            self.overruns is None and any(
                loss[2] for f in self.files for loss in f.losses))
        self.lossy = bool(self.overruns or self.lacks_records)
        self.events = sum(f.events for f in self.files)
        self.records = sorted((r for f in self.files for r in f.records),
                              key=lambda r: (r.now, r.cpu, r.index))
        self.origin = self.records[0].now if self.records else None
        self.matched = {}

    def frees_any_slab(self, head, has_meta):
        """Return whether kfree() of the kernel frees objects of any cache."""
        release = re.match(r"([0-9]+)\.([0-9]+)", head.get("kernel_release", ""))
        if release:
            return (int(release[1]), int(release[2])) >= (6, 4)
        if has_meta:
            return self.version >= 3
        return any(file.has_defer for file in self.files)

    def read_tasks(self):
        """Return the tables of tasks by dimension. A missing table is empty."""
        tables = {}
        for dimension, table, idle in (("comm", "tasks", "idle"),
                                       ("cgroup", "cgroups", "/")):
            path = os.path.join(self.directory, table)
            text = ""
            if os.path.exists(path):
                with open(path, encoding="ascii") as f:
                    text = f.read()
            tables[dimension] = TaskNames(text, idle)
        return tables

    def may_defer(self):
        """Return whether the report has the figures of deferred memory."""
        return self.version >= 3 or any(r.event == DEFER for r in self.records)

    def files_are_missing(self, paths):
        """Return whether files, or parts of files, are missing."""
        for group, values in self.meta.items():
            cpu = re.fullmatch(r"cpu(\d+)", group)
            if not cpu:
                continue
            cpu = int(cpu[1])
            if cpu not in paths:
                if int(values.get("events", 1)):
                    return True
            elif self.complete and "bytes" in values:
                if os.path.getsize(paths[cpu]) < int(values["bytes"]):
                    return True
        return False

    def ends(self):
        """Return the earliest first and the latest last time of the files."""
        files = [f.records for f in self.files if f.records]
        return (min((r[0].t for r in files), default=0),
                max((r[-1].t for r in files), default=0))

    def may_miss(self, tolerance):
        """Return a function that returns whether records between two times may be
        missing."""
        lossy = self.lossy
        whole_from, whole_until = float("-inf"), float("inf")
        if self.cut_off or self.continues:
            lossy |= not all(f.records for f in self.files)
        if lossy:
            return lambda begin, end: True
        if self.continues:
            whole_from = max(f.records[0].t for f in self.files) + tolerance
        if self.cut_off:
            whole_until = min(f.records[-1].t for f in self.files) - tolerance
        return lambda begin, end: begin < whole_from or end > whole_until

    def match(self, tolerance):
        """Return the acts and the findings."""
        if tolerance not in self.matched:
            self.matched[tolerance] = Matching(self, tolerance)
        return self.matched[tolerance]


class Decision(tuple):
    """The words of a decision; since and hand: the first and the last DEFER of the
    object."""

    since = hand = None


class Address(reference_match.Address):
    """Return records instead of lines of text."""

    @staticmethod
    def name(record):
        """Return what say() receives for a record."""
        return record

    def report(self, *words):
        """Append the arguments of Matching.apply()."""
        decision = Decision(words)
        if words[0] in ("free", "replaced", "double"):
            decision.since = self.defers.get(words[1])
            decision.hand = self.handed.get(words[1])
        self.out.append(decision)


class Matching:
    """The effects and findings of all records of a capture, in merge order."""

    def __init__(self, capture, tolerance):
        self.acts = []
        self.findings = []
        self.one_slab = capture.one_slab
        decisions = []
        addresses = reference_match.Addresses(
            tolerance, capture.may_miss(tolerance), decisions, Address,
            capture.one_slab)
        for record in capture.records:
            addresses.expire(record.now)
            self.apply_pending(record.now, decisions)
            addresses.feed(record)
            self.apply_record(record, decisions)
            decisions.clear()
        addresses.expire(None)
        self.apply_pending(AT_THE_END, decisions)

    def apply_pending(self, when, decisions):
        """Process the decisions that were pending."""
        for words in decisions:
            self.apply(when, words, None)
        decisions.clear()

    def apply_record(self, record, decisions):
        """Process the immediate effects of a record: an object exists before its
        free, and a replaced object is closed first."""
        if record.event != ALLOC:
            counted = copy.copy(record)
            for words in decisions:
                # A FREE counts for the kind of its object.
                if words[0] == "free":
                    counted.type = words[1].type
                self.apply(record.now, words, record)
            if record.event == FREE:
                self.acts.append(Act(record.now, "record", None, counted))
            return
        own = [w for w in decisions if w[0] in ("free", "defer")
               and w[1] is record]
        for words in decisions:
            if words not in own:
                self.apply(record.now, words, record)
        self.acts.append(Act(record.now, "alloc", record, None))
        for words in own:
            self.apply(record.now, words, record)

    def apply(self, when, words, record):
        """Process one decision; record is the current record."""
        what, first = words[:2]
        defers = (words.since, words.hand)
        if what == "free":
            free = words[2]
            self.acts.append(Act(when, "free", first, free, *defers))
            if first.type != free.type and not self.one_slab:
                why = "mismatch" if len(words) > 3 else "after_loss"
                free = copy.copy(free)
                free.site = words.hand.site if words.hand else free.site
                self.findings.append(Finding("mismatch", why, first, free))
        elif what == "replaced":
            self.acts.append(Act(when, "close", first, None, *defers))
        elif what == "defer":
            if words[3] == "first":
                self.acts.append(Act(when, "defer", first, words[2]))
        elif what == "double":
            if len(words) > 4:
                self.acts.append(Act(when, "late", first, record, *defers))
            self.findings.append(Finding("double", words[3], first, words[2]))
        elif what == "double_defer":
            self.findings.append(Finding(what, words[3], first, words[2]))
        else:
            self.findings.append(Finding(what, words[2], first, first))
