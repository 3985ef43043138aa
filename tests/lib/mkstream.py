#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Turn the directory of a capture into the stream of kmemtraced --stream.

    mkstream.py [--tick-ns=N] [--records=N] [--ahead=N] CAPTURE OUT

OUT may be '-'.  The stream has a tick for each --tick-ns nanoseconds of the clock of
the records; before a tick with the watermark t, records are sent up to the time t +
ahead * tick-ns.  A records frame has at most --records records.

In Python: Writer makes any stream, frame by frame, and convert() converts a capture.
"""

import argparse
import configparser
import os
import re
import struct
import sys

from stream_parser import (ALIGN, BYTE_ORDER_MARK, COUNTER, COUNTERS, END,
                           END_HEAD, FRAME, HEADER, MAGIC, META, NO_CPU,
                           PAYLOAD_MAX, RECORDS, STOPPED, TABLE, TABLE_HEAD,
                           TICK, TICK_BODY, TIMESTAMP_OFFSET, VERSION,
                           WATERMARK_END)

TABLES = ("kallsyms", "modules", "info", "caches", "tasks", "cgroups", "marks",
          "stacks", "tags", "slabinfo")
# Bytes of a table in one frame.
PART_BYTES = 256 * 1024
TICK_NS = 200_000_000
RECORDS_PER_FRAME = 2000
LOST = 3
LOST_EVENTS_OFFSET = 24
# Time of day at the time 0 of the records: 2026-01-01.
EPOCH_NS = 1_767_225_600 * 10**9


class Writer:
    """Appends to the bytes of a stream, in data."""

    def __init__(self, order="<", abi_version=3, record_bytes=64, n_cpus=2,
                 pid=1, tick_ms=200):
        self.order = order
        self.record_bytes = record_bytes
        self.sequence = self.n_ticks = 0
        self.data = bytearray(struct.pack(
            order + HEADER, MAGIC, BYTE_ORDER_MARK, VERSION,
            struct.calcsize("<" + HEADER), struct.calcsize("<" + FRAME),
            abi_version, record_bytes, n_cpus, PAYLOAD_MAX, pid, tick_ms))
        self.n_records = {}

    def frame(self, kind, payload, cpu=NO_CPU):
        """Append any frame."""
        self.data += struct.pack(self.order + FRAME, kind, cpu, len(payload), 0,
                                 self.sequence)
        self.data += payload + b"\0" * (-len(payload) % ALIGN)
        self.sequence += 1

    def records(self, cpu, data):
        """Append the records of a CPU."""
        self.frame(RECORDS, data, cpu)
        self.n_records[cpu] = (self.n_records.get(cpu, 0) +
                               len(data) // self.record_bytes)

    def table(self, name, text, n_kept=0):
        """Append a table, whose first n_kept bytes the reader has."""
        at = n_kept
        while True:
            part = text[at:at + PART_BYTES]
            self.frame(TABLE, struct.pack(self.order + TABLE_HEAD,
                                          name.encode(), n_kept, at,
                                          len(text)) + part)
            at += len(part)
            if at >= len(text):
                return

    def meta(self, text):
        """Append the text of kmemtrace.meta."""
        self.frame(META, text)

    def counters(self, lost, unsent=0):
        """Append the counters; lost: events of each CPU, None if unknown."""
        self.frame(COUNTERS, b"".join(
            struct.pack(self.order + COUNTER, cpu, n is not None, n or 0,
                        self.n_records.get(cpu, 0), unsent)
            for cpu, n in sorted(lost.items())))

    def tick(self, watermark, monotonic_ns, cpu_ns=0):
        """Append a tick."""
        self.n_ticks += 1
        self.frame(TICK, struct.pack(self.order + TICK_BODY, self.n_ticks,
                                     watermark, monotonic_ns,
                                     EPOCH_NS + monotonic_ns, cpu_ns))

    def end(self, reason=STOPPED, complete=True, lost=0, text=""):
        """Append the end."""
        self.frame(END, struct.pack(
            self.order + END_HEAD, reason, complete,
            sum(self.n_records.values()), lost or 0, lost is not None, 0) +
            text.encode())


class Source:
    """The files of a capture directory."""

    def __init__(self, directory):
        self.directory = directory
        self.cpus = {}
        for name in os.listdir(directory):
            match = re.fullmatch(r"cpu(\d+)\.out", name)
            if match:
                self.cpus[int(match[1])] = self.read(name)
        self.order, self.record_bytes = "<", 64
        for data in self.cpus.values():
            if len(data) >= 4:
                self.order = "<" if data[2] else ">"
                size, = struct.unpack_from(self.order + "H", data, 2)
                if size >= 56 and size % ALIGN == 0:
                    self.record_bytes = size
                break
        self.meta = configparser.ConfigParser(interpolation=None)
        self.meta_text = self.read("kmemtrace.meta")
        self.meta.read_string(self.meta_text.decode())

    def read(self, name):
        """Return the bytes of a file; b"" if it does not exist."""
        try:
            with open(os.path.join(self.directory, name), "rb") as file:
                return file.read()
        except FileNotFoundError:
            return b""

    def split(self, cpu):
        """Return pairs of time and record."""
        data, size = self.cpus[cpu], self.record_bytes
        return [(struct.unpack_from(self.order + "q", data,
                                    at + TIMESTAMP_OFFSET)[0],
                 data[at:at + size])
                for at in range(0, len(data) - size + 1, size)]

    def lost(self, cpu):
        """Return the lost events of a CPU at the end; None if unknown."""
        text = self.meta.get(f"cpu{cpu}", "overruns", fallback=None)
        return int(text) if text else None

    def lost_in(self, records):
        """Return the sum of the LOST records; see kmemtrace_abi.h."""
        return sum(struct.unpack_from(self.order + "Q", record, LOST_EVENTS_OFFSET)[0]
                   for _, record in records if record[0] == LOST)


def ends_of_windows(times, tick_ns):
    """Return the watermarks of the ticks; windows without records have none."""
    if not times:
        return []
    first = min(times)
    return sorted({first + (t - first) // tick_ns * tick_ns + tick_ns - 1
                   for t in times})


def convert(directory, tick_ns=TICK_NS, records=RECORDS_PER_FRAME, ahead=1,
            end=True):
    """Return the stream of a capture; end: with the end frame."""
    source = Source(directory)
    abi = int(source.meta.get(
        "capture", "abi_version",
        fallback="1" if source.record_bytes == 56 else "3"))
    writer = Writer(source.order, abi, source.record_bytes,
                    max(source.cpus, default=0) + 1)
    writer.meta(source.meta_text)
    for name in TABLES:
        text = source.read(name)
        if text:
            writer.table(name, text)
    queues = {cpu: source.split(cpu) for cpu in sorted(source.cpus)}
    sent = dict.fromkeys(queues, 0)
    lost = dict.fromkeys(queues, 0)
    start, now_ns = None, tick_ns
    for watermark in ends_of_windows(
            [t for queue in queues.values() for t, _ in queue], tick_ns):
        for cpu, queue in queues.items():
            n = sent[cpu]
            while n < len(queue) and queue[n][0] <= watermark + ahead * tick_ns:
                n += 1
            for at in range(sent[cpu], n, records):
                writer.records(cpu, b"".join(
                    record for _, record in queue[at:min(n, at + records)]))
            lost[cpu] += source.lost_in(queue[sent[cpu]:n])
            sent[cpu] = n
        start = watermark if start is None else start
        now_ns = watermark - start + tick_ns
        writer.counters(lost)
        writer.tick(min(watermark, WATERMARK_END - 1), now_ns)
    # Records that are out of order within their CPU.
    for cpu, queue in queues.items():
        for at in range(sent[cpu], len(queue), records):
            writer.records(cpu, b"".join(
                record for _, record in queue[at:at + records]))
    for cpu in queues:
        lost[cpu] = source.lost(cpu) if source.lost(cpu) is not None \
            else lost[cpu]
    writer.counters(lost)
    writer.tick(WATERMARK_END, now_ns + tick_ns)
    if end:
        writer.end(lost=sum(lost.values()))
    return bytes(writer.data)


def main():
    """Parse the arguments and convert."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--tick-ns", type=int, default=TICK_NS)
    parser.add_argument("--records", type=int, default=RECORDS_PER_FRAME)
    parser.add_argument("--ahead", type=int, default=1)
    parser.add_argument("capture")
    parser.add_argument("out")
    args = parser.parse_args()
    data = convert(args.capture, args.tick_ns, args.records, args.ahead)
    if args.out == "-":
        sys.stdout.buffer.write(data)
    else:
        with open(args.out, "wb") as file:
            file.write(data)


if __name__ == "__main__":
    main()
