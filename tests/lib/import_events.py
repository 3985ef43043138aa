# SPDX-License-Identifier: GPL-2.0-or-later
"""Made-up tracepoint events, and the records that kmemtrace-import makes of them.

An event is Event(name, cpu, time, {field: value}).  Files of perf, trace-cmd and
CTF with the same events give the same capture.
"""

import collections

from target import BYTE_ORDER, pack

Event = collections.namedtuple("Event", "name cpu time values",
                               defaults=({},))
Field = collections.namedtuple("Field", "type name offset size signed")
COMMON = (Field("unsigned short", "common_type", 0, 2, 0),
          Field("unsigned char", "common_flags", 2, 1, 0),
          Field("unsigned char", "common_preempt_count", 3, 1, 0),
          Field("int", "common_pid", 4, 4, 1))
SITE = Field("unsigned long", "call_site", 8, 8, 0)
PTR = Field("const void *", "ptr", 16, 8, 0)
NAME = Field("__data_loc char[]", "name", 24, 4, 0)


def sizes(at):
    """Return the fields of an allocation from the offset at."""
    return (Field("size_t", "bytes_req", at, 8, 0),
            Field("size_t", "bytes_alloc", at + 8, 8, 0),
            Field("unsigned long", "gfp_flags", at + 16, 8, 0),
            Field("int", "node", at + 24, 4, 1))


PFN = (Field("unsigned long", "pfn", 8, 8, 0),
       Field("unsigned int", "order", 16, 4, 0))
# system, id, fields
TRACEPOINTS = {
    "kmalloc": ("kmem", 700, (SITE, PTR, *sizes(24))),
    "kmalloc_node": ("kmem", 701, (SITE, PTR, *sizes(24))),
    "kfree": ("kmem", 702, (SITE, PTR)),
    "kmem_cache_alloc": ("kmem", 703, (SITE, PTR, NAME, *sizes(32))),
    "kmem_cache_free": ("kmem", 704, (SITE, PTR, NAME)),
    "mm_page_alloc": ("kmem", 705,
                      (*PFN, Field("unsigned long", "gfp_flags", 24, 8, 0))),
    "mm_page_free": ("kmem", 706, PFN),
    "mm_page_free_batched": ("kmem", 707, PFN[:1]),
    "percpu_alloc_percpu": (
        "percpu", 710, (SITE, Field("void *", "ptr", 16, 8, 0),
                        Field("size_t", "size", 24, 8, 0),
                        Field("size_t", "bytes_alloc", 32, 8, 0))),
    "percpu_free_percpu": ("percpu", 711, (
        Field("void *", "base_addr", 8, 8, 0),
        Field("void *", "ptr", 16, 8, 0))),
    "alloc_vmap_area": (
        "vmalloc", 720, (Field("unsigned long", "addr", 8, 8, 0),
                         Field("unsigned long", "size", 16, 8, 0),
                         Field("int", "failed", 24, 4, 1))),
    "free_vmap_area_noflush": (
        "vmalloc", 721, (Field("unsigned long", "va_start", 8, 8, 0),)),
    "sched_switch": ("sched", 300, (Field("int", "prev_prio", 8, 4, 1),)),
}
END = ("the_end", 0xffffffff81002000)
SITES = {"a_function": 0xffffffff81000000, "b_function": 0xffffffff81001000}


def format_text(name, tracepoints):
    """Return the format file of an event."""
    _, number, fields = tracepoints[name]

    def lines(some):
        return "".join(f"\tfield:{f.type} {f.name};\toffset:{f.offset};\t"
                       f"size:{f.size};\tsigned:{f.signed};\n" for f in some)
    return (f"name: {name}\nID: {number}\nformat:\n{lines(COMMON)}\n"
            f"{lines(fields)}\nprint fmt: \"\"\n").encode()


def raw(event, tracepoints):
    """Return the data of an event in the layout of the kernel."""
    _, number, fields = tracepoints[event.name]
    values = {"common_type": number, "common_pid": 7, "node": -1,
              **event.values}
    end = max((f.offset + f.size for f in fields), default=8)
    data = bytearray((end + 7) & ~7)
    tail = b""
    for field in COMMON + tuple(fields):
        value = values.get(field.name, 0)
        if field.type.startswith("__data_loc"):
            text = value if isinstance(value, bytes) else \
                str(value or "").encode() + b"\0"
            value = len(text) << 16 | len(data) + len(tail)
            tail += text
        data[field.offset:field.offset + field.size] = (
            value & (1 << field.size * 8) - 1).to_bytes(field.size, BYTE_ORDER)
    return bytes(data) + tail.ljust((len(tail) + 7) & ~7, b"\0")


def tracing_data(tracepoints, version=b"0.6", kallsyms=b"", comms=b"",
                 header_event=b"# compressed entry header\n"):
    """Return the headers and formats that perf.data and trace.dat contain."""
    header_page = (b"\tfield: u64 timestamp;\toffset:0;\tsize:8;\tsigned:0;\n"
                   b"\tfield: local_t commit;\toffset:8;\tsize:8;\tsigned:1;\n"
                   b"\tfield: int overwrite;\toffset:8;\tsize:1;\tsigned:1;\n"
                   b"\tfield: char data;\toffset:16;\tsize:4080;\tsigned:0;\n")
    out = b"\x17\x08\x44tracing" + version + b"\0"
    out += pack("BBI", BYTE_ORDER == "big", 8, 4096)
    out += b"header_page\0" + pack("Q", len(header_page)) + header_page
    out += b"header_event\0" + pack("Q", len(header_event)) + header_event
    out += pack("I", 0)
    systems = sorted({system for system, _, _ in tracepoints.values()})
    out += pack("I", len(systems))
    for system in systems:
        names = [n for n, (s, _, _) in tracepoints.items() if s == system]
        out += system.encode() + b"\0" + pack("I", len(names))
        for name in names:
            text = format_text(name, tracepoints)
            out += pack("Q", len(text)) + text
    out += pack("I", len(kallsyms)) + kallsyms
    out += pack("I", 0)
    return out + pack("Q", len(comms)) + comms


# Events of kinds that only some kernels have; the last allocation failed.
MORE = (
    Event("percpu_alloc_percpu", 0, 3000, {
        "call_site": SITES["a_function"] + 16, "ptr": 0x12340, "size": 24,
        "bytes_alloc": 100}),
    Event("percpu_free_percpu", 0, 3100, {"ptr": 0x12340}),
    Event("alloc_vmap_area", 0, 3200, {"addr": 0xffffc90000001000,
                                       "size": 0x3000}),
    Event("free_vmap_area_noflush", 0, 3300,
          {"va_start": 0xffffc90000001000}),
    Event("alloc_vmap_area", 0, 3400, {"addr": 0xffffc90000001000,
                                       "size": 0x3000, "failed": 1}),
)


def more_records(percpu_bytes):
    """Return the records that are made of MORE."""
    site, area = SITES["a_function"] + 16, 0xffffc90000001000
    return [(1, 3, 64, -1, site, 0x12340, percpu_bytes, percpu_bytes, 0, 3000,
             7, 0, 0),
            (2, 3, 64, -1, 0, 0x12340, 0, 0, 0, 3100, 7, 0, 0),
            (1, 4, 64, -1, 0, area, 0x3000, 0x3000, 0, 3200, 7, 0, 0),
            (2, 4, 64, -1, 0, area, 0, 0, 0, 3300, 7, 0, 0)]


# One event of each kind; the last ones have no address or an unneeded type.
USUAL = (
    Event("kmalloc", 0, 1000, {"call_site": SITES["a_function"] + 16,
                               "ptr": 0xffff888000001000, "bytes_req": 100,
                               "bytes_alloc": 128, "gfp_flags": 0xcc0}),
    Event("kmem_cache_alloc", 1, 1100, {
        "call_site": SITES["b_function"] + 16, "ptr": 0xffff888000002000,
        "name": "dentry", "bytes_req": 192, "bytes_alloc": 192,
        "gfp_flags": 0xcd0, "node": 1, "common_flags": 0x10}),
    Event("kmalloc_node", 0, 1200, {
        "call_site": SITES["a_function"] + 32, "ptr": 0xffff888000003000,
        "bytes_req": 8, "bytes_alloc": 8, "gfp_flags": 0xcc0, "node": 0}),
    Event("mm_page_alloc", 1, 1300, {"pfn": 0x1234, "order": 2,
                                     "gfp_flags": 0x1}),
    Event("kfree", 0, 1400, {"call_site": SITES["b_function"] + 32,
                             "ptr": 0xffff888000001000, "common_flags": 8}),
    Event("mm_page_free", 0, 1500, {"pfn": 0x1234, "order": 2}),
    Event("kmem_cache_free", 1, 1600, {
        "call_site": SITES["b_function"] + 48, "ptr": 0xffff888000002000,
        "name": "dentry", "common_pid": 0}),
    Event("kfree", 1, 1700),
    Event("mm_page_alloc", 0, 1800, {"pfn": -1}),
    Event("mm_page_free_batched", 0, 1900, {"pfn": 0x1234}),
    Event("sched_switch", 0, 2000),
)
A = SITES["a_function"]
B = SITES["b_function"]
PAGE_PTR = 0x1234 << 12 | 1 << 63
USUAL_RECORDS = {
    0: [(1, 0, 64, -1, A + 16, 0xffff888000001000, 100, 128, 0xcc0, 1000, 7,
         0, 0),
        (1, 0, 64, 0, A + 32, 0xffff888000003000, 8, 8, 0xcc0, 1200, 7, 0, 0),
        (2, 0, 64, -1, B + 32, 0xffff888000001000, 0, 0, 0, 1400, 7, 0, 1),
        (2, 2, 64, -1, 0, PAGE_PTR, 0, 0, 0, 1500, 7, 0, 0)],
    1: [(1, 1, 64, 1, B + 16, 0xffff888000002000, 192, 192, 0xcd0, 1100, 7, 1,
         2),
        (1, 2, 64, -1, 0, PAGE_PTR, 16384, 16384, 1, 1300, 7, 0, 0),
        (2, 1, 64, -1, B + 48, 0xffff888000002000, 0, 0, 0, 1600, 0, 1, 0)],
}


def of_cpu(events, cpu):
    """Return the events of one CPU."""
    return [e for e in events if e.cpu == cpu]
