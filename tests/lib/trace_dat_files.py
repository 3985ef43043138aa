# SPDX-License-Identifier: GPL-2.0-or-later
"""trace.dat files of versions 6 and 7, with generated events."""

import struct
import zlib

from import_events import END, SITES, TRACEPOINTS, raw, tracing_data
from target import BYTE_ORDER, ORDER, pack

PAGE = 4096


def ring_page(events, tracepoints, missed=None):
    """Return a page of the ring buffer. missed: number of events lost before the
    page; -1: unknown number."""
    data = b""
    now = events[0].time
    for event in events:
        body = raw(event, tracepoints)
        words, delta = len(body) // 4, event.time - now
        data += pack("I", words | delta << 5 if BYTE_ORDER == "little" else
                     words << 27 | delta)
        data += body
        now = event.time
    commit = len(data)
    if missed:
        commit |= 1 << 31
    if missed and missed > 0:
        commit |= 1 << 30
        data += pack("Q", missed)
    return pack("QQ", events[0].time, commit) + \
        data.ljust(PAGE - 16, b"\0")


def cpu_tables(start, buffers):
    """Return the tables of pages of each CPU and buffer, and all pages."""
    tables, data = [], b""
    for cpus in buffers:
        table = b"flyrecord\0"
        for pages in cpus:
            size = len(pages) * PAGE
            table += pack("QQ", start + len(data), size)
            data += b"".join(pages)
        tables.append(table)
    return tables, data


def usual_kallsyms():
    """Return the kallsyms of the call sites."""
    return "".join(f"{address:016x} T {name}\n"
                   for name, address in (*SITES.items(), END)).encode()


def dat_option(number, data):
    """Return an option of trace.dat."""
    return pack("HI", number, len(data)) + data


def dat_stats(cpu, unread=0, read=0, overrun=0, commit=0, dropped=0):
    """Return the option CPUSTAT with the counters of a CPU."""
    return dat_option(2, (
        f"CPU: {cpu}\nentries: {unread}\noverrun: {overrun}\n"
        f"commit overrun: {commit}\nbytes: 0\noldest event ts:     1.000000\n"
        f"now ts:     2.000000\ndropped events: {dropped}\n"
        f"read events: {read}\n\0").encode())


def trace_dat(cpus, tracepoints=None, version=b"6", comms=b"7 a task\n",
              kallsyms=None, instance=None, options=b""):
    """Return a file of trace-cmd. cpus: pages of each CPU. instance: name and pages
    of another buffer. options: options before that of the instance."""
    if kallsyms is None:
        kallsyms = usual_kallsyms()
    head = tracing_data(tracepoints or TRACEPOINTS, version, kallsyms, comms)
    head += pack("I", len(cpus)) + b"options  \0" + options
    name, more = instance or ("", [])
    length = len(head) + 2 + (14 + len(name) + 1 if instance else 0)
    # Offsets of the tables of buffers and of the pages after them.
    second = length + 10 + 16 * len(cpus)
    start = (second + 10 + 16 * len(more) + PAGE - 1) & -PAGE
    tables, data = cpu_tables(start, [cpus, more])
    if instance:
        text = name.encode() + b"\0"
        head += pack("HIQ", 3, 8 + len(text), second) + text
    head += pack("H", 0) + tables[0]
    if instance:
        head += tables[1]
    return head.ljust(start, b"\0") + data


def zstd(data):
    """Return a zstd frame of raw blocks, without compression."""
    out = b"\x28\xb5\x2f\xfd\xa0" + struct.pack("<I", len(data))
    step = 1 << 16
    for at in range(0, len(data), step):
        block = data[at:at + step]
        last = at + step >= len(data)
        out += struct.pack("<I", len(block) << 3 | last)[:3] + block
    return out


PACKERS = {"none": None, "zstd": zstd, "zlib": zlib.compress}


class Dat7:
    """Write the sections of a file of version 7."""

    def __init__(self, packing):
        self.pack = PACKERS.get(packing)
        self.out = bytearray(
            b"\x17\x08\x44tracing7\0" +
            pack("BBI", BYTE_ORDER == "big", 8, PAGE) +
            packing.encode() + b"\0" + b"1.0\0" + bytes(8))
        self.first = len(self.out) - 8

    def section(self, number, data, compress=True):
        """Write a section; return its offset."""
        at = len(self.out)
        compress = compress and bool(self.pack)
        if compress:
            packed = self.pack(data)
            data = pack("II", len(packed), len(data)) + packed
        self.out += pack("HHIQ", number, compress, 0, len(data)) + data
        return at

    def cpu(self, pages, chunk_pages):
        """Write the pages of a CPU; return their offset and size."""
        if not self.pack:
            self.out += bytes(-len(self.out) % PAGE)
            at = len(self.out)
            self.out += b"".join(pages)
            return at, PAGE * len(pages)
        at = len(self.out)
        chunks = [b"".join(pages[i:i + chunk_pages])
                  for i in range(0, len(pages), chunk_pages)]
        self.out += pack("I", len(chunks))
        for chunk in chunks:
            packed = self.pack(chunk)
            self.out += pack("II", len(packed), len(chunk)) + packed
        # trace-cmd does not include the number of chunks in the size.
        return at, len(self.out) - at - 4 if chunks else 0

    def buffer(self, name, cpus, chunk_pages, clock):
        """Return the option of a buffer."""
        at = len(self.out)
        self.out += pack("HHIQ", 3, bool(self.pack), 0, 0)
        table = b"".join(
            pack("IQQ", number, *self.cpu(pages, chunk_pages))
            for number, pages in enumerate(cpus))
        struct.pack_into(ORDER + "Q", self.out, at + 8,
                         len(self.out) - at - 16)
        return dat_option(3, pack("Q", at) + name.encode() + b"\0" +
                          clock.encode() + b"\0" +
                          pack("II", PAGE, len(cpus)) + table)


def trace_dat7(buffers, packing="zstd", tracepoints=None, options=b"",
               kallsyms=None, comms=b"7 a task\n", chunk_pages=2,
               clock="local"):
    """Return a file of version 7. buffers: name, and pages of each CPU."""
    points = tracepoints or TRACEPOINTS
    # The same parts as in a file of version 6.
    whole = tracing_data(points, b"6", b"", b"")
    begin = whole.index(b"header_page\0")
    middle = whole.index(pack("I", 0), whole.index(
        b"header_event\0") + 21 + len(b"# compressed entry header\n"))
    file = Dat7(packing)
    kallsyms = usual_kallsyms() if kallsyms is None else kallsyms
    sections = (
        (16, whole[begin:middle]),
        (17, pack("I", 0)),
        (18, whole[middle + 4:-16]),
        (19, pack("I", len(kallsyms)) + kallsyms),
        (21, pack("Q", len(comms)) + comms))
    out = options
    for number, data in sections:
        out += dat_option(number, pack("Q", file.section(number, data)))
    out += dat_option(8, pack("I", len(buffers[0][1])))
    more = b"".join(file.buffer(name, cpus, chunk_pages, clock)
                    for name, cpus in buffers)
    second = file.section(0, more + dat_option(0, pack("Q", 0)))
    first = file.section(0, out + dat_option(0, pack("Q", second)),
                         compress=False)
    struct.pack_into(ORDER + "Q", file.out, file.first, first)
    return bytes(file.out)
