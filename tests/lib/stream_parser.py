# SPDX-License-Identifier: GPL-2.0-or-later
"""An independent parser of the stream that kmemtraced --stream writes.

lib/capture/stream-format.h describes the format. parse() checks everything that the
format promises, apart from the promise of the watermarks, which check_watermarks()
checks, and raises StreamError for the first violation.
"""

import collections
import io
import struct

MAGIC = b"KMTSTRM\0"
VERSION = 1
RECORDS, TABLE, META, COUNTERS, TICK, END = range(1, 7)
NAMES = {RECORDS: "records", TABLE: "table", META: "meta",
         COUNTERS: "counters", TICK: "tick", END: "end"}
NO_CPU = 0xffffffff
WATERMARK_END = (1 << 63) - 1
STOPPED, TIME, COMMAND, SWITCHED, FROZEN, FAILED = range(1, 7)
PAYLOAD_MAX = 1 << 20
ALIGN = 8
BYTE_ORDER_MARK = 0x01020304
TIMESTAMP_OFFSET = 48

HEADER = "8sIIIIIIIIiI16x"
FRAME = "IIIIQ"
TABLE_HEAD = "16sQQQ"
COUNTER = "IIQQQ"
TICK_BODY = "Qqqqq"
END_HEAD = "IIQQII"

Header = collections.namedtuple(
    "Header", "magic byte_order version header_bytes frame_bytes abi_version "
    "record_bytes n_cpus payload_max pid tick_ms")
Frame = collections.namedtuple("Frame", "type cpu payload sequence")
Counter = collections.namedtuple("Counter",
                                 "cpu is_lost_known lost records unsent")
Tick = collections.namedtuple("Tick",
                              "number watermark monotonic_ns realtime_ns cpu_ns")
End = collections.namedtuple("End",
                              "reason complete records lost is_lost_known "
                 "reserved")


class StreamError(Exception):
    """The stream violates its format."""


class Truncated(StreamError):
    """The stream ends early."""


def check(condition, text):
    """Raise an error unless the condition is true."""
    if not condition:
        raise StreamError(text)


class Reader:
    """Reads the header, and then frame by frame, from a file object."""

    def __init__(self, file):
        self.file = file
        self.sequence = 0
        head = self.read(struct.calcsize("<" + HEADER))
        check(head[:8] == MAGIC, "no stream: the magic is wrong")
        for self.order in "<>":
            mark, = struct.unpack_from(self.order + "I", head, 8)
            if mark == BYTE_ORDER_MARK:
                break
        else:
            raise StreamError("the byte order is neither little nor big")
        self.header = Header(*struct.unpack(self.order + HEADER, head))
        check(self.header.version == VERSION, "unknown version")
        check(self.header.header_bytes == len(head), "size of the header")
        check(self.header.frame_bytes == struct.calcsize("<" + FRAME),
              "size of the head of a frame")
        check(self.header.record_bytes % ALIGN == 0, "size of a record")
        check(self.header.payload_max == PAYLOAD_MAX, "maximum of a payload")
        check(not any(head[48:]), "reserved bytes of the header")

    def read(self, n):
        """Read n bytes."""
        data = bytearray()
        while len(data) < n:
            part = self.file.read(n - len(data))
            if not part:
                raise Truncated(f"{len(data)} of {n} bytes")
            data += part
        return bytes(data)

    def unpack(self, layout, data):
        """Unpack the bytes at the beginning of the data."""
        try:
            return struct.unpack_from(self.order + layout, data)
        except struct.error as e:
            raise StreamError(f"short payload: {e}") from e

    def frame(self):
        """Return the next frame."""
        kind, cpu, length, reserved, sequence = self.unpack(
            FRAME, self.read(self.header.frame_bytes))
        check(sequence == self.sequence,
              f"frame {self.sequence} has the sequence {sequence}")
        check(length <= PAYLOAD_MAX, f"frame {sequence}: {length} bytes")
        check(reserved == 0, f"frame {sequence}: reserved field")
        payload = self.read(length + -length % ALIGN)
        check(not any(payload[length:]), f"frame {sequence}: padding")
        self.sequence += 1
        return Frame(kind, cpu, payload[:length], sequence)


class Stream:
    """The content of a stream.

    records: bytes of each CPU; tables: the final text of each table; versions: all
    texts of each table; metas: the texts of kmemtrace.meta; counters: the last ones
    of each CPU; ticks: pairs of a Tick and the number of records of each CPU before
    the tick.
    """

    def __init__(self, file):
        self.reader = Reader(file)
        self.header = self.reader.header
        self.frames = []
        self.records, self.tables, self.versions = {}, {}, {}
        self.metas, self.ticks, self.counters = [], [], {}
        self.counter_frames = []
        self.partial = None
        self.end = self.reason = None

    def feed(self):
        """Read one frame; return FALSE after the end frame."""
        frame = self.reader.frame()
        self.frames.append((frame.type, frame.cpu, len(frame.payload)))
        check((frame.cpu == NO_CPU) == (frame.type != RECORDS),
              f"{NAMES.get(frame.type)} frame with CPU {frame.cpu}")
        check(self.partial is None or frame.type in (TABLE, RECORDS),
              "a table is incomplete")
        getattr(self, "add_" + NAMES[frame.type])(frame)
        return frame.type != END

    def add_records(self, frame):
        """Add a records frame."""
        check(frame.payload, "empty records frame")
        check(len(frame.payload) % self.header.record_bytes == 0,
              "incomplete record")
        for at in range(2, len(frame.payload), self.header.record_bytes):
            size, = self.reader.unpack("H", frame.payload[at:at + 2])
            check(size == self.header.record_bytes, "size in a record")
        self.records.setdefault(frame.cpu, bytearray()).extend(frame.payload)

    def add_table(self, frame):
        """Add a part of a table."""
        name, n_kept, offset, total = self.reader.unpack(TABLE_HEAD,
                                                         frame.payload)
        name = name.rstrip(b"\0").decode("ascii")
        part = frame.payload[struct.calcsize("<" + TABLE_HEAD):]
        if self.partial is None:
            old = self.tables.get(name, b"")
            check(n_kept <= len(old), f"{name}: keeps too much")
            check(offset == n_kept, f"{name}: the first part is missing")
            self.partial = (name, n_kept, total, bytearray(old[:n_kept]))
        check((name, n_kept, total) == self.partial[:3],
              f"{name}: the parts differ")
        check(offset == len(self.partial[3]), f"{name}: a part is missing")
        self.partial[3].extend(part)
        check(len(self.partial[3]) <= total, f"{name}: too many bytes")
        if len(self.partial[3]) == total:
            text = bytes(self.partial[3])
            self.tables[name] = text
            self.versions.setdefault(name, []).append(text)
            self.partial = None
        else:
            check(part, f"{name}: an empty part")

    def add_meta(self, frame):
        """Add a text of kmemtrace.meta."""
        self.metas.append(frame.payload.decode())

    def add_counters(self, frame):
        """Add counters."""
        size = struct.calcsize("<" + COUNTER)
        check(len(frame.payload) % size == 0, "incomplete counters")
        for at in range(0, len(frame.payload), size):
            counter = Counter(*self.reader.unpack(COUNTER, frame.payload[at:]))
            old = self.counters.get(counter.cpu)
            check(not old or counter.records >= old.records,
                  "the number of records decreases")
            check(counter.records <= self.n_records(counter.cpu),
                  "the counters are ahead of the records")
            self.counters[counter.cpu] = counter
        self.counter_frames.append(dict(self.counters))

    def n_records(self, cpu):
        """Return the number of records of a CPU so far."""
        return len(self.records.get(cpu, b"")) // self.header.record_bytes

    def add_tick(self, frame):
        """Add a tick."""
        tick = Tick(*self.reader.unpack(TICK_BODY, frame.payload))
        check(tick.number == len(self.ticks) + 1, "number of the tick")
        if self.ticks:
            check(tick.watermark >= self.ticks[-1][0].watermark,
                  "the watermark decreases")
            check(tick.monotonic_ns >= self.ticks[-1][0].monotonic_ns,
                  "the time of the tick decreases")
        self.ticks.append((tick, {cpu: self.n_records(cpu)
                                  for cpu in self.records}))

    def add_end(self, frame):
        """Add the end."""
        self.end = End(*self.reader.unpack(END_HEAD, frame.payload))
        self.reason = frame.payload[struct.calcsize("<" + END_HEAD):].decode()
        check(STOPPED <= self.end.reason <= FAILED, "reason of the end")
        if not self.end.complete:
            return
        check(self.end.records == sum(map(self.n_records, self.records)),
              "the end counts other records")
        check(self.ticks and self.ticks[-1][0].watermark == WATERMARK_END,
              "the last tick has no final watermark")

    def timestamps(self, cpu):
        """Return the times of the CPU's records."""
        return [self.reader.unpack("q", self.records[cpu][at:at + 8])[0]
                for at in range(TIMESTAMP_OFFSET, len(self.records[cpu]),
                                self.header.record_bytes)]

    def check_watermarks(self):
        """Check that no record after a tick is as early as its watermark."""
        for cpu in self.records:
            times = self.timestamps(cpu)
            for tick, before in self.ticks:
                late = [t for t in times[before.get(cpu, 0):]
                        if t <= tick.watermark]
                check(not late, f"CPU {cpu}: records {late[:3]} follow the "
                      f"watermark {tick.watermark}")


def parse(data):
    """Parse a complete stream, given as bytes or a file object."""
    file = io.BytesIO(data) if isinstance(data, (bytes, bytearray)) else data
    stream = Stream(file)
    while stream.feed():
        pass
    check(not file.read(1), "bytes after the end")
    return stream
