# SPDX-License-Identifier: GPL-2.0-or-later
"""Write the events of a capture as the files of other tracers."""

import os
import struct
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)),
                                os.pardir, "tests", "lib"))

# pylint: disable=wrong-import-position
from ctf_files import ctf_metadata, ctf_packet  # noqa: E402
from import_events import Event, TRACEPOINTS  # noqa: E402
from perf_files import perf_data, perf_sample  # noqa: E402
from trace_dat_files import PAGE, ring_page, trace_dat  # noqa: E402

# A record of version 1 in the byte order of this machine.
RECORD = struct.Struct("=BBHiQQQQQq")
ALLOC = 1
KMALLOC, CACHE, PAGES = 0, 1, 2
PAGE_SIZE = 4096
# The head of a page of the ring buffer, and the largest event on it.
PAGE_ROOM = PAGE - 16 - 128
PACKET_EVENTS = 4096


def event_of(record, cpu):
    """Return the event of the tracepoint that makes this record, or None."""
    kind, memory, _, node, site, ptr, req, alloc, gfp, when = record
    sizes = {"call_site": site, "ptr": ptr, "bytes_req": req,
             "bytes_alloc": alloc, "gfp_flags": gfp, "node": node}
    if memory == PAGES:
        order = max(0, (req // PAGE_SIZE - 1).bit_length())
        values = {"pfn": ptr // PAGE_SIZE & (1 << 36) - 1, "order": order}
        name = "mm_page_alloc" if kind == ALLOC else "mm_page_free"
        return Event(name, cpu, when, values | {"gfp_flags": gfp})
    names = {KMALLOC: ("kmalloc", "kfree"),
             CACHE: ("kmem_cache_alloc", "kmem_cache_free")}.get(memory)
    if not names:
        return None
    if kind == ALLOC:
        return Event(names[0], cpu, when, sizes)
    return Event(names[1], cpu, when, {"call_site": site, "ptr": ptr})


def events_of(capture):
    """Return the events of each CPU of a generated capture."""
    cpus = []
    names = [name for name in os.listdir(capture)
             if name.startswith("cpu") and name.endswith(".out")]
    for cpu in range(len(names)):
        with open(os.path.join(capture, f"cpu{cpu}.out"), "rb") as file:
            events = (event_of(record, cpu)
                      for record in RECORD.iter_unpack(file.read()))
            cpus.append([event for event in events if event])
    return cpus


def write_perf(cpus, path):
    """Write perf.data."""
    merged = sorted((event for events in cpus for event in events),
                    key=lambda event: event.time)
    with open(path, "wb") as file:
        file.write(perf_data(b"".join(map(perf_sample, merged))))


def pages_of(events):
    """Divide the events of a CPU into pages of the ring buffer."""
    pages, page, room = [], [], 0
    for event in events:
        size = 4 + (max(field.offset + field.size
                        for field in TRACEPOINTS[event.name][2]) + 7 & ~7) + 8
        if page and (size > room or event.time - page[-1].time >= 1 << 27):
            pages.append(ring_page(page, TRACEPOINTS))
            page = []
        if not page:
            room = PAGE_ROOM
        page.append(event)
        room -= size
    if page:
        pages.append(ring_page(page, TRACEPOINTS))
    return pages


def write_trace_dat(cpus, path):
    """Write a file of trace-cmd."""
    with open(path, "wb") as file:
        file.write(trace_dat([pages_of(events) for events in cpus]))


def write_ctf(cpus, path):
    """Write a directory of CTF with a stream for each CPU."""
    os.mkdir(path)
    with open(os.path.join(path, "metadata"), "w", encoding="ascii") as file:
        file.write(ctf_metadata(TRACEPOINTS))
    for cpu, events in enumerate(cpus):
        with open(os.path.join(path, f"stream{cpu}"), "wb") as file:
            for at in range(0, len(events), PACKET_EVENTS):
                file.write(ctf_packet(events[at:at + PACKET_EVENTS],
                                      TRACEPOINTS, cpu))


WRITERS = {"perf.data": write_perf, "trace.dat": write_trace_dat,
           "CTF": write_ctf}
