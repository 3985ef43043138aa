#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""A second implementation of the matcher, from docs/definitions.md: simple and slow.

lib/input and lib/match share no code with this module.  reference(files,
tolerance, ...) takes {cpu: [Record]} and returns the sorted lines that
tests/match/match-dump prints for the same capture.
"""

import collections
import struct

ALLOC, FREE, DEFER = 1, 2, 7
# Types of DEFER records: kmalloc, cache, and vmalloc.
DEFER_TYPES = (0, 1, 4)


def last_type(size):
    """Return the last type of a record size: version 2 adds percpu and
    vmalloc."""
    return 2 if size < 64 else 4


def space(type_id):
    """Return the address namespace of a type; kmalloc and cache share one."""
    return max(type_id, 1)


Record = collections.namedtuple("Record", "event type t ptr cpu index now")


def read(data, order="<", size=56):
    """Return the records of a cpu file as (event, type, event_size, ptr, t)."""
    for offset in range(0, len(data) - size + 1, size):
        event, type_id, event_size, _, _, ptr, _, _, _, t = struct.unpack(
            order + "BBHiQQQQQq", data[offset:offset + 56])
        yield event, type_id, event_size, ptr, t


def is_usable(event, type_id, event_size, ptr, size, may_defer):
    """Return whether the fields of a record are those of an ALLOC, FREE, or
    DEFER."""
    if event_size != size or ptr == 0:
        return False
    if event == DEFER:
        return may_defer and type_id in DEFER_TYPES
    return event in (ALLOC, FREE) and type_id <= last_type(size)


def merge(files, size=56, may_defer=False):
    """Return all usable records in merge order, with their merged times."""
    rows = []
    for cpu in sorted(files):
        latest = None
        for index, (event, type_id, event_size, ptr, t) in enumerate(
                files[cpu]):
            if not is_usable(event, type_id, event_size, ptr, size, may_defer):
                continue
            latest = t if latest is None else max(latest, t)
            rows.append((latest, cpu, index, event, type_id, t, ptr))
    rows.sort(key=lambda row: row[:3])
    return [Record(event, type_id, t, ptr, cpu, index, now)
            for now, cpu, index, event, type_id, t, ptr in rows]


class Surplus:
    """A pending record, which has no counterpart yet."""

    def __init__(self, record, replaced, last, mismatch):
        self.record = record
        self.replaced = replaced  # ALLOC: the object that was live
        self.last = last          # time of the last earlier record of the address
        self.mismatch = mismatch  # FREE: the live object of another type
        self.again = None         # DEFER: the earlier DEFER of the live object
        # ALLOC: a FREE that explained a race may belong to the replaced object.
        self.after_loss = False
        self.settled = False


class Address:
    """The history of one address in one address namespace."""

    def __init__(self, tolerance, missing, out, one_slab=False):
        self.tolerance = tolerance
        self.missing = missing
        self.out = out
        self.one_slab = one_slab  # kfree() frees objects of any cache
        self.defers = {}    # object -> its first DEFER
        self.handed = {}    # object -> its last DEFER
        self.doubtful = set()  # DEFERs that may belong to an earlier object
        self.early = []     # pending DEFERs, oldest first
        self.history = []   # all ALLOCs and FREEs so far
        self.order = []     # the DEFERs, too
        self.live = None
        self.waiting = []   # pending records, oldest first
        self.maybe = None   # "live" or "free": the opposite of the guessed state
        self.unconfirmed = None  # records since another CPU used the address
        # A live object that a FREE may have freed although the FREE explained a
        # race.
        self.maybe_freed = None

    def report(self, *words):
        """Append a line of output."""
        self.out.append(" ".join(str(w) for w in words))

    @staticmethod
    def name(record):
        """Return CPU:INDEX of a record."""
        return f"{record.cpu}:{record.index}"

    def contended(self, record):
        """Return whether another CPU used the address within the tolerance."""
        for old in reversed(self.history):
            if record.now - old.now > self.tolerance:
                return False
            if old.cpu != record.cpu:
                return True
        return False

    def since_last(self, record):
        """Return the time since the last record of the address."""
        return record.now - self.history[-1].now

    def fits(self, one, other):
        """Return whether a FREE of one type frees an object of the other."""
        return one == other or self.one_slab

    def pair(self, alloc, free):
        """Match a free with its allocation."""
        mismatch = (not self.fits(alloc.type, free.type)
                    and not self.missing(alloc.now, free.now))
        self.report("free", self.name(alloc), self.name(free),
                 *(["mismatch"] if mismatch else []))

    def opposite_holds(self, record):
        """Return whether the opposite guess is still consistent with a record."""
        if self.since_last(record) > self.tolerance:
            return False
        if not self.contended(record) and self.unconfirmed is None:
            self.unconfirmed = 0
        return True

    def drop_guess(self):
        """Discard the opposite guess."""
        self.maybe = None

    def review_guess(self, record):
        """Accept or discard the opposite guess if it can be decided."""
        if self.unconfirmed is None:
            return
        if self.contended(record):
            self.unconfirmed = None
        elif (self.since_last(record) > self.tolerance
              or self.unconfirmed >= 8):
            self.drop_guess()
            self.unconfirmed = None
        else:
            self.unconfirmed += 1

    def first_of(self, event, type_id):
        """Return the oldest pending record of an event and type among eight."""
        kind = [w for w in self.waiting if w.record.event == event][:8]
        for w in kind:
            subject = w.record if event == FREE else w.replaced
            if self.fits(subject.type, type_id):
                return w
        return None

    def settle(self, ambiguous):
        """Remove a record from the pending records."""
        ambiguous.settled = True
        (self.early if ambiguous.record.event == DEFER
         else self.waiting).remove(ambiguous)

    def hand_over(self, record, defer):
        """Make a DEFER that of an object."""
        self.defers[record] = self.handed[record] = defer
        self.report("defer", self.name(record), self.name(defer), "first")

    def may_be_early(self, ambiguous, alloc):
        """Return whether a DEFER, or the first DEFER of the object that is deferred
        twice, is of another CPU than the ALLOC and close to it."""
        if ambiguous.record.cpu != alloc.cpu:
            return True
        first = ambiguous.again
        return (first is not None and first.cpu != alloc.cpu
                and alloc.now - ambiguous.last <= self.tolerance)

    def take_early(self, alloc, before=None):
        """Give the oldest of eight pending DEFERs to a new object; before:
        the FREE of the object."""
        for ambiguous in self.early[:8]:
            defer = ambiguous.record
            if not self.may_be_early(ambiguous, alloc):
                continue
            if before is None or defer in self.order[
                    :self.order.index(before)]:
                self.hand_over(alloc, defer)
                self.doubtful.add(defer)
                self.settle(ambiguous)
            return

    def give_up_defer(self, ambiguous):
        """Report a DEFER that belongs to no object."""
        record = ambiguous.record
        verdict = ("after_loss" if self.missing(ambiguous.last, record.now)
                   else "unexplained")
        if (not ambiguous.again and self.maybe == "live"
                and self.unconfirmed is None):
            verdict = "before_trace"
        if ambiguous.again:
            self.report("double_defer", self.name(ambiguous.replaced),
                        self.name(record), verdict)
        else:
            self.report("unmatched_defer", self.name(record), verdict)

    def may_be_lost(self, ambiguous):
        """Return whether the FREE of a replaced object may be lost."""
        return (ambiguous.after_loss or
                self.missing(ambiguous.replaced.now, ambiguous.record.now))

    def give_up(self, ambiguous):
        """Report a pending record that no other record explained."""
        self.settle(ambiguous)
        record = ambiguous.record
        sure = self.unconfirmed is None
        if record.event == DEFER:
            self.give_up_defer(ambiguous)
            return
        if record.event == FREE:
            if ambiguous.mismatch and self.live is ambiguous.mismatch:
                self.pair(self.live, record)
                self.live = None
                self.drop_guess()
                self.unconfirmed = None
                return
            verdict = "unexplained"
            if sure and self.maybe == "live":
                verdict = "before_trace"
                self.drop_guess()
            elif self.missing(ambiguous.last, record.now):
                verdict = "after_loss"
            self.report("unmatched", self.name(record), verdict)
            return
        verdict = "unexplained"
        if sure and self.maybe == "free":
            verdict = "race"
            self.drop_guess()
        elif self.may_be_lost(ambiguous):
            verdict = "after_loss"
        self.report("double", self.name(ambiguous.replaced), self.name(record),
                 verdict)

    def new(self, record):
        """Called for each new object, before its DEFER."""

    def on_alloc(self, record):
        """Process an ALLOC; return the record that becomes pending."""
        found = None
        if not self.history:
            self.maybe = "live"
        elif not self.live and not self.waiting:
            self.review_guess(record)
            if self.maybe == "free" and not self.opposite_holds(record):
                self.drop_guess()
        else:
            self.review_guess(record)
            if self.contended(record):
                found = self.first_of(FREE, record.type)
        if found:
            self.new(record)
            self.take_early(record, found.record)
            self.pair(record, found.record)
            self.settle(found)
            return None
        while self.live:
            frees = [w for w in self.waiting if w.record.event == FREE]
            if not frees or not frees[0].mismatch:
                break
            self.give_up(frees[0])
        ambiguous = None
        if self.live:
            self.report("replaced", self.name(self.live), self.name(record))
            ambiguous = Surplus(record, self.live, None, None)
            ambiguous.after_loss = self.live is self.maybe_freed
        self.live = record
        self.new(record)
        self.take_early(record)
        return ambiguous

    def on_free(self, record):
        """Process a FREE; return the record that becomes pending."""
        if not self.history:
            self.maybe = "free"
            self.report("unmatched", self.name(record), "before_trace")
            return None
        found = None
        self.review_guess(record)
        if (self.maybe == "free" and not self.live
                and self.since_last(record) > self.tolerance):
            self.drop_guess()
        same = self.live and self.fits(self.live.type, record.type)
        if self.contended(record):
            found = self.first_of(ALLOC, record.type)
        if found:
            self.report("double", self.name(found.replaced),
                     self.name(found.record), "race", record.t)
            # The FREE may also belong to the new object, and the FREE of the old
            # object may be lost.
            if self.live and self.may_be_lost(found):
                self.maybe_freed = self.live
            self.settle(found)
            return None
        if same:
            self.pair(self.live, record)
            self.live = None
            frees = [w for w in self.waiting if w.record.event == FREE]
            if (self.maybe == "live" and not frees
                    and not self.opposite_holds(record)):
                self.drop_guess()
            return None
        return Surplus(record, None, self.history[-1].now, self.live)

    def on_defer(self, record):
        """Process a DEFER; return it if it becomes pending."""
        if not self.history:
            self.report("unmatched_defer", self.name(record), "before_trace")
            return None
        contended = self.contended(record)
        if contended:
            self.doubtful.add(record)
        defer = self.handed.get(self.live) if self.live else None
        ambiguous = Surplus(record, self.live, self.history[-1].now, None)
        if self.live and not defer:
            self.hand_over(self.live, record)
        elif defer in self.doubtful:
            self.handed[self.live] = record
            self.report("defer", self.name(self.live), self.name(record),
                        "again")
        elif contended:
            self.report("defer", "none", self.name(record), "late")
        else:
            if defer:
                ambiguous.again = defer
                ambiguous.last = self.defers[self.live].now
            self.early.append(ambiguous)
            return ambiguous
        return None

    def feed(self, record):
        """Process the next record of this address."""
        self.order.append(record)
        if record.event == DEFER:
            return self.on_defer(record)
        step = self.on_alloc if record.event == ALLOC else self.on_free
        ambiguous = step(record)
        if ambiguous:
            self.waiting.append(ambiguous)
        self.history.append(record)
        return ambiguous


class Addresses:
    """All addresses; their events are appended to out."""

    def __init__(self, tolerance, missing, out, make=Address, one_slab=False):
        self.tolerance = tolerance
        self.make = lambda: make(tolerance, missing, out, one_slab)
        self.by_key = {}
        self.queue = collections.deque()

    def expire(self, now):
        """Advance the merged time to now, None to the end."""
        while self.queue and (now is None or now - self.queue[0][1].record.now
                              > self.tolerance):
            address, ambiguous = self.queue.popleft()
            if not ambiguous.settled:
                address.give_up(ambiguous)

    def feed(self, record):
        """Process the next record, after expire()."""
        key = (record.ptr, space(record.type))
        if key not in self.by_key:
            self.by_key[key] = self.make()
        ambiguous = self.by_key[key].feed(record)
        if ambiguous:
            self.queue.append((self.by_key[key], ambiguous))


def reference(files, tolerance, lossy=False, size=56):
    """Return the expected decisions of the matcher as sorted lines, for a capture
    without kmemtrace.meta."""
    out = []
    may_defer = size >= 64
    one_slab = any(
        event == DEFER
        and is_usable(event, type_id, event_size, ptr, size, may_defer)
        for rows in files.values() for event, type_id, event_size, ptr, _ in rows)
    addresses = Addresses(tolerance, lambda _begin, _end: lossy, out,
                          one_slab=one_slab)
    for record in merge(files, size, may_defer):
        addresses.expire(record.now)
        addresses.feed(record)
    addresses.expire(None)
    for a in addresses.by_key.values():
        if a.live:
            defer = a.defers.get(a.live)
            out.append(f"live {Address.name(a.live)}"
                       + (f" deferred {defer.now}" if defer else ""))
    return sorted(out)
