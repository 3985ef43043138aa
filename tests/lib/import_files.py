# SPDX-License-Identifier: GPL-2.0-or-later
"""Files as perf, trace-cmd and writers of CTF leave them, of made-up events.

An event is Event(name, cpu, time, {field: value}); of all three kinds of files
with the same events the same capture has to come out.
"""

import collections
import os
import signal
import struct
import subprocess
import tempfile
import unittest
import zlib

# Captures are then those of root.
for variable in "SUDO_UID", "SUDO_GID":
    os.environ.pop(variable, None)
# nohup and a shell's "&" leave signals ignored, and the programs keep that.
for number in signal.SIGHUP, signal.SIGINT, signal.SIGQUIT, signal.SIGTERM:
    signal.signal(number, signal.SIG_DFL)
TOP_SRCDIR = os.environ.get("top_srcdir", ".")
TOP = os.environ.get("top_builddir", ".")
PROGRAM = os.path.join(TOP, "import", "kmemtrace-import")
CHECK = os.path.join(TOP, "check", "kmemtrace-check")
REPORT = os.path.join(TOP, "report", "kmemtrace-report")
RECORD = struct.Struct("<BBHiQQQQQqIHH")

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
    """Those of an allocation."""
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
    """A format file."""
    _, number, fields = tracepoints[name]

    def lines(some):
        return "".join(f"\tfield:{f.type} {f.name};\toffset:{f.offset};\t"
                       f"size:{f.size};\tsigned:{f.signed};\n" for f in some)
    return (f"name: {name}\nID: {number}\nformat:\n{lines(COMMON)}\n"
            f"{lines(fields)}\nprint fmt: \"\"\n").encode()


def raw(event, tracepoints):
    """The data of an event, as the kernel lays it out."""
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
            value & (1 << field.size * 8) - 1).to_bytes(field.size, "little")
    return bytes(data) + tail.ljust((len(tail) + 7) & ~7, b"\0")


def tracing_data(tracepoints, version=b"0.6", kallsyms=b"", comms=b"",
                 header_event=b"# compressed entry header\n"):
    """What perf.data has within, and trace.dat begins with."""
    header_page = (b"\tfield: u64 timestamp;\toffset:0;\tsize:8;\tsigned:0;\n"
                   b"\tfield: local_t commit;\toffset:8;\tsize:8;\tsigned:1;\n"
                   b"\tfield: int overwrite;\toffset:8;\tsize:1;\tsigned:1;\n"
                   b"\tfield: char data;\toffset:16;\tsize:4080;\tsigned:0;\n")
    out = b"\x17\x08\x44tracing" + version + b"\0" + b"\0\x08"
    out += struct.pack("<I", 4096)
    out += b"header_page\0" + struct.pack("<Q", len(header_page)) + header_page
    out += (b"header_event\0" + struct.pack("<Q", len(header_event)) +
            header_event)
    out += struct.pack("<I", 0)
    systems = sorted({system for system, _, _ in tracepoints.values()})
    out += struct.pack("<I", len(systems))
    for system in systems:
        names = [n for n, (s, _, _) in tracepoints.items() if s == system]
        out += system.encode() + b"\0" + struct.pack("<I", len(names))
        for name in names:
            text = format_text(name, tracepoints)
            out += struct.pack("<Q", len(text)) + text
    out += struct.pack("<I", len(kallsyms)) + kallsyms
    out += struct.pack("<I", 0)
    return out + struct.pack("<Q", len(comms)) + comms


# ---- perf.data ----

SAMPLE, LOST, COMM, MMAP, LOST_SAMPLES, ROUND = 9, 2, 3, 1, 13, 68
LAYOUT = 1 << 0 | 1 << 1 | 1 << 2 | 1 << 7 | 1 << 8 | 1 << 10 | 1 << 16
EVENT_ID = 55


def perf_record(kind, body, misc=0):
    """A record with its header."""
    body = body.ljust((len(body) + 7) & ~7, b"\0")
    return struct.pack("<IHH", kind, misc, 8 + len(body)) + body


def perf_sample(event, tracepoints=None, chain=None, counters=None):
    """id, ip, pid and tid, time, cpu, period, data; counters: those of a
    group, which are before the callchain."""
    data = raw(event, tracepoints or TRACEPOINTS)
    middle = b"" if counters is None else struct.pack(
        f"<Q{2 * len(counters)}Q", len(counters),
        *(word for value in counters for word in (value, EVENT_ID)))
    if chain is not None:
        middle += struct.pack(f"<Q{len(chain)}Q", len(chain), *chain)
    return perf_record(SAMPLE, struct.pack(
        "<QQIIQIIQ", EVENT_ID, 0xffffffff81234567, 7, 7, event.time,
        event.cpu, 0, 1) + middle + struct.pack("<I", len(data)) + data)


def perf_other(kind, body, cpu=0, time=0, event_id=EVENT_ID):
    """A record that ends with pid and tid, time, cpu, id."""
    body = body.ljust((len(body) + 7) & ~7, b"\0")
    return perf_record(kind, body + struct.pack("<IIQIIQ", 7, 7, time, cpu, 0,
                                                event_id))


def perf_lost(number, cpu, time):
    """Events that one CPU lost."""
    return perf_other(LOST, struct.pack("<QQ", EVENT_ID, number), cpu, time)


def perf_comm(pid, name, time=0):
    """A task gets a name."""
    return perf_other(COMM, struct.pack("<II", pid, pid) + name.encode() +
                      b"\0", 0, time)


def perf_kernel(address, symbol="_text"):
    """Where the kernel is."""
    return perf_other(MMAP, struct.pack("<IIQQQ", 0xffffffff, 0, address,
                                        1 << 20, address) +
                      f"[kernel.kallsyms]{symbol}".encode() + b"\0")


def perf_text(text):
    """A text among the features."""
    data = text.encode() + b"\0"
    return struct.pack("<I", len(data)) + data


def perf_build_id(build_id):
    """That of the kernel."""
    name = b"[kernel.kallsyms]\0".ljust(24, b"\0")
    return struct.pack("<IHHi", 0, 0, 8 + 4 + 24 + len(name), -1) + \
        build_id.ljust(24, b"\0") + name


def perf_command(*words):
    """The command line of perf, as a feature."""
    return struct.pack("<I", len(words)) + b"".join(map(perf_text, words))


def perf_tasks(*pids):
    """The map of the tasks that were recorded; none: all tasks."""
    return perf_record(73, struct.pack("<Q", len(pids) or 1) + b"".join(
        struct.pack("<Q16s", pid & (1 << 64) - 1, b"")
        for pid in pids or (-1,)))


def perf_attr(kind, sample_type, config=700, period=1, flags=0, read_format=0):
    """What the kernel was asked for; all other records have a trailer."""
    return struct.pack("<IIQQQQQ", kind, 128, config, period, sample_type,
                       read_format, 1 << 18 | flags).ljust(128, b"\0")


def perf_layout(layout):
    """type, sample_type, ids and what perf_attr() has more, as bytes."""
    kind, sample_type, ids, *more = layout
    return (perf_attr(kind, sample_type, **(more[0] if more else {})),
            b"".join(struct.pack("<Q", i) for i in ids))


def perf_data(records, tracepoints=None, layouts=((2, LAYOUT, (EVENT_ID,)),),
              features=None):
    """A file of perf; layouts: see perf_layout(), one for each event."""
    attrs, ids, ids_at = b"", b"", 104
    for attr, some in map(perf_layout, layouts):
        attrs += attr + struct.pack("<QQ", ids_at, len(some))
        ids += some
        ids_at += len(some)
    found = {1: tracing_data(tracepoints or TRACEPOINTS),
             **(features or {})}
    data_at = 104 + len(ids) + len(attrs)
    at = data_at + len(records) + 16 * len(found)
    table = body = b""
    for number in sorted(found):
        table += struct.pack("<QQ", at, len(found[number]))
        body += found[number]
        at += len(found[number])
    header = b"PERFILE2" + struct.pack(
        "<QQQQQQQQQQQQ", 104, 144, 104 + len(ids), len(attrs), data_at,
        len(records), 0, 0, sum(1 << n for n in found), 0, 0, 0)
    return header + ids + attrs + records + table + body


def perf_pipe(records, tracepoints=None, layouts=((2, LAYOUT, (EVENT_ID,)),),
              features=None):
    """What perf record -o - writes."""
    formats = tracing_data(tracepoints or TRACEPOINTS)
    head = b"PERFILE2" + struct.pack("<Q", 16)
    for attr, ids in map(perf_layout, layouts):
        head += perf_record(64, attr + ids)
    for number, data in (features or {}).items():
        head += perf_record(80, struct.pack("<Q", number) + data)
    head += perf_record(66, struct.pack("<II", len(formats), 0)) + formats
    return head + records


def zstd_block(data, first=False):
    """A block of a zstd stream, not compressed; first: with the head of its
    frame, which has a window of 128 KB."""
    head = b"\x28\xb5\x2f\xfd\x00\x38" if first else b""
    return head + (len(data) << 3).to_bytes(3, "little") + data


def perf_compressed(data, pieces, newer=False):
    """The same records as perf record -z writes them, in so many pieces."""
    size, out = -(-len(data) // pieces), b""
    for at in range(0, len(data), size):
        block = zstd_block(data[at:at + size], at == 0)
        if newer:
            block = struct.pack("<Q", len(block)) + block
        body = block if not newer else block.ljust(-(-len(block) // 8) * 8,
                                                   b"\0")
        out += struct.pack("<IHH", 83 if newer else 81, 0,
                           8 + len(body)) + body
    return out


# ---- trace.dat, of version 6 ----

PAGE = 4096


def ring_page(events, tracepoints, missed=None):
    """A page of the ring buffer; missed: events lost before it, -1: some."""
    data = b""
    now = events[0].time
    for event in events:
        body = raw(event, tracepoints)
        data += struct.pack("<I", len(body) // 4 | event.time - now << 5)
        data += body
        now = event.time
    commit = len(data)
    if missed:
        commit |= 1 << 31
    if missed and missed > 0:
        commit |= 1 << 30
        data += struct.pack("<Q", missed)
    return struct.pack("<QQ", events[0].time, commit) + \
        data.ljust(PAGE - 16, b"\0")


def cpu_tables(start, buffers):
    """Where each CPU's pages of each buffer are, and all these pages."""
    tables, data = [], b""
    for cpus in buffers:
        table = b"flyrecord\0"
        for pages in cpus:
            size = len(pages) * PAGE
            table += struct.pack("<QQ", start + len(data), size)
            data += b"".join(pages)
        tables.append(table)
    return tables, data


def usual_kallsyms():
    """The functions of the call sites, and where they end."""
    return "".join(f"{address:016x} T {name}\n"
                   for name, address in (*SITES.items(), END)).encode()


def dat_option(number, data):
    """An option of trace.dat."""
    return struct.pack("<HI", number, len(data)) + data


def dat_stats(cpu, unread=0, read=0, overrun=0, commit=0, dropped=0):
    """The option CPUSTAT: the kernel's counters of a CPU."""
    return dat_option(2, (
        f"CPU: {cpu}\nentries: {unread}\noverrun: {overrun}\n"
        f"commit overrun: {commit}\nbytes: 0\noldest event ts:     1.000000\n"
        f"now ts:     2.000000\ndropped events: {dropped}\n"
        f"read events: {read}\n\0").encode())


def trace_dat(cpus, tracepoints=None, version=b"6", comms=b"7 a task\n",
              kallsyms=None, instance=None, options=b""):
    """A file of trace-cmd; cpus: for each its pages; instance: a name, and the
    same of another buffer; options: those before that of the instance."""
    if kallsyms is None:
        kallsyms = usual_kallsyms()
    head = tracing_data(tracepoints or TRACEPOINTS, version, kallsyms, comms)
    head += struct.pack("<I", len(cpus)) + b"options  \0" + options
    name, more = instance or ("", [])
    length = len(head) + 2 + (14 + len(name) + 1 if instance else 0)
    # Where the tables of buffers are, and the pages behind them.
    second = length + 10 + 16 * len(cpus)
    start = (second + 10 + 16 * len(more) + PAGE - 1) & -PAGE
    tables, data = cpu_tables(start, [cpus, more])
    if instance:
        text = name.encode() + b"\0"
        head += struct.pack("<HIQ", 3, 8 + len(text), second) + text
    head += struct.pack("<H", 0) + tables[0]
    if instance:
        head += tables[1]
    return head.ljust(start, b"\0") + data


# ---- trace.dat, of version 7 ----


def zstd(data):
    """A frame of raw blocks: zstd without compression."""
    out = b"\x28\xb5\x2f\xfd\xa0" + struct.pack("<I", len(data))
    step = 1 << 16
    for at in range(0, len(data), step):
        block = data[at:at + step]
        last = at + step >= len(data)
        out += struct.pack("<I", len(block) << 3 | last)[:3] + block
    return out


PACKERS = {"none": None, "zstd": zstd, "zlib": zlib.compress}


class Dat7:
    """A file of version 7 in the making."""

    def __init__(self, packing):
        self.pack = PACKERS.get(packing)
        self.out = bytearray(
            b"\x17\x08\x44tracing7\0\0\x08" + struct.pack("<I", PAGE) +
            packing.encode() + b"\0" + b"1.0\0" + bytes(8))
        self.first = len(self.out) - 8

    def section(self, number, data, pack=True):
        """Its offset."""
        at = len(self.out)
        if self.pack and pack:
            packed = self.pack(data)
            data = struct.pack("<II", len(packed), len(data)) + packed
        self.out += struct.pack("<HHIQ", number,
                                int(bool(self.pack and pack)), 0,
                                len(data)) + data
        return at

    def cpu(self, pages, chunk_pages):
        """Offset and size of a CPU's pages."""
        if not self.pack:
            self.out += bytes(-len(self.out) % PAGE)
            at = len(self.out)
            self.out += b"".join(pages)
            return at, PAGE * len(pages)
        at = len(self.out)
        chunks = [b"".join(pages[i:i + chunk_pages])
                  for i in range(0, len(pages), chunk_pages)]
        self.out += struct.pack("<I", len(chunks))
        for chunk in chunks:
            packed = self.pack(chunk)
            self.out += struct.pack("<II", len(packed), len(chunk)) + packed
        # As trace-cmd counts: without the number of chunks.
        return at, len(self.out) - at - 4 if chunks else 0

    def buffer(self, name, cpus, chunk_pages, clock):
        """The option of a buffer."""
        at = len(self.out)
        self.out += struct.pack("<HHIQ", 3, int(bool(self.pack)), 0, 0)
        table = b"".join(
            struct.pack("<IQQ", number, *self.cpu(pages, chunk_pages))
            for number, pages in enumerate(cpus))
        struct.pack_into("<Q", self.out, at + 8, len(self.out) - at - 16)
        return dat_option(3, struct.pack("<Q", at) + name.encode() + b"\0" +
                          clock.encode() + b"\0" +
                          struct.pack("<II", PAGE, len(cpus)) + table)


def trace_dat7(buffers, packing="zstd", tracepoints=None, options=b"",
               kallsyms=None, comms=b"7 a task\n", chunk_pages=2,
               clock="local"):
    """A file of version 7; buffers: name and, for each CPU, pages."""
    points = tracepoints or TRACEPOINTS
    # The same parts as in a file of version 6.
    whole = tracing_data(points, b"6", b"", b"")
    begin = whole.index(b"header_page\0")
    middle = whole.index(struct.pack("<I", 0), whole.index(
        b"header_event\0") + 21 + len(b"# compressed entry header\n"))
    file = Dat7(packing)
    kallsyms = usual_kallsyms() if kallsyms is None else kallsyms
    sections = (
        (16, whole[begin:middle]),
        (17, struct.pack("<I", 0)),
        (18, whole[middle + 4:-16]),
        (19, struct.pack("<I", len(kallsyms)) + kallsyms),
        (21, struct.pack("<Q", len(comms)) + comms))
    out = options
    for number, data in sections:
        out += dat_option(number, struct.pack("<Q", file.section(number,
                                                                 data)))
    out += dat_option(8, struct.pack("<I", len(buffers[0][1])))
    more = b"".join(file.buffer(name, cpus, chunk_pages, clock)
                    for name, cpus in buffers)
    second = file.section(0, more + dat_option(0, struct.pack("<Q", 0)))
    first = file.section(0, out + dat_option(0, struct.pack("<Q", second)),
                         pack=False)
    struct.pack_into("<Q", file.out, file.first, first)
    return bytes(file.out)


# ---- CTF ----

CTF_TYPES = {(1, 0): "u8", (2, 0): "u16", (4, 0): "u32", (8, 0): "u64",
             (4, 1): "s32"}
CTF_HEAD = """/* CTF 1.8 */
typealias integer {{ size = 8; align = 8; signed = false; }} := u8;
typealias integer {{ size = 16; align = 8; signed = false; }} := u16;
typealias integer {{ size = 32; align = 8; signed = false; }} := u32;
typealias integer {{ size = 64; align = 8; signed = false; }} := u64;
typealias integer {{ size = 32; align = 8; signed = true; }} := s32;
trace {{ major = 1; minor = 8; byte_order = le;
  packet.header := struct {{ u32 magic; u32 stream_id; }}; }};
clock {{ name = c; freq = 1000000000; }};
typealias integer {{ size = 64; align = 8; map = clock.c.value; }} := ts;
stream {{ id = 0;
  packet.context := struct {{ ts timestamp_begin; ts timestamp_end;
    u64 content_size; u64 packet_size; u64 events_discarded;{cpu} }};
  event.header := struct {{ u16 id; ts timestamp; }};{context} }};
"""


def ctf_metadata(tracepoints, prefix="{system}:", cpu=" u32 cpu_id;",
                 context="", without=(), env=None):
    """In words."""
    text = CTF_HEAD.format(cpu=cpu, context=context)
    if env:
        text += "env {" + "".join(f' {key} = "{value}";' for key, value
                                  in env.items()) + " };\n"
    for name, (system, number, fields) in tracepoints.items():
        text += f'event {{ name = "{prefix.format(system=system)}{name}"; ' \
                f"id = {number}; stream_id = 0; fields := struct {{\n"
        for field in COMMON + tuple(fields):
            if field.name in without:
                continue
            kind = "string" if "data_loc" in field.type else \
                CTF_TYPES[field.size, field.signed]
            # A leading _ does not count.
            text += f"  {kind} _{field.name};\n"
        text += "}; };\n"
    return text


def ctf_metadata_packets(text, step=400, order="<"):
    """The same in packets, as LTTng writes it."""
    out, data = b"", text.encode()
    for at in range(0, len(data), step):
        part = data[at:at + step]
        size = 8 * (37 + len(part))
        # Some bytes behind the text of a packet are not used.
        out += struct.pack(order + "I16sIIIBBBBB", 0x75d11d57, bytes(16), 0,
                           size, size + 8 * 16, 0, 0, 0, 1, 8)
        out += part + bytes(16)
    return out


def ctf_packet(events, tracepoints, cpu=0, discarded=0, without=(),
               context=b"", has_cpu=True):
    """A packet of one CPU."""
    body = b""
    for event in events:
        _, number, fields = tracepoints[event.name]
        values = {"common_type": number, "common_pid": 7, "node": -1,
                  **event.values}
        body += struct.pack("<HQ", number, event.time) + context
        for field in COMMON + tuple(fields):
            if field.name in without:
                continue
            value = values.get(field.name, 0)
            if "data_loc" in field.type:
                body += str(value or "").encode() + b"\0"
            else:
                body += (value & (1 << field.size * 8) - 1).to_bytes(
                    field.size, "little")
    size = 8 + 40 + (4 if has_cpu else 0) + len(body)
    head = struct.pack("<IIQQQQQ", 0xc1fc1fc1, 0, events[0].time,
                       events[-1].time, size * 8, size * 8, discarded)
    return head + (struct.pack("<I", cpu) if has_cpu else b"") + body


# ---- tests ----

# Of types that only some kernels have; the last one failed.
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
    """What comes of them."""
    site, area = SITES["a_function"] + 16, 0xffffc90000001000
    return [(1, 3, 64, -1, site, 0x12340, percpu_bytes, percpu_bytes, 0, 3000,
             7, 0, 0),
            (2, 3, 64, -1, 0, 0x12340, 0, 0, 0, 3100, 7, 0, 0),
            (1, 4, 64, -1, 0, area, 0x3000, 0x3000, 0, 3200, 7, 0, 0),
            (2, 4, 64, -1, 0, area, 0, 0, 0, 3300, 7, 0, 0)]


# One of each kind; the last are of no memory, or of nobody's interest.
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


def lacks(library, content):
    """Whether the program was built without it, and says so; None: a folder."""
    with tempfile.TemporaryDirectory() as scratch:
        path = os.path.join(scratch, "x")
        if content is None:
            os.mkdir(path)
        else:
            with open(path, "wb") as f:
                f.write(content)
        said = subprocess.run(
            [PROGRAM, path, os.path.join(scratch, "out")],
            capture_output=True, text=True, check=False).stderr
    missing = f"built without {library}: install" in said
    if missing:
        print(said, end="")
    return missing


def has_address_sanitizer():
    """Whether the program was built with AddressSanitizer."""
    with open(PROGRAM, "rb") as file:
        return b"__asan_init" in file.read()


def sanitizer_environment():
    """For the program: memory that is not there, and signals, end it as they
    do without a sanitizer.  libbabeltrace2 asks for as much memory as a damaged
    file says, and crashes on some."""
    return {**os.environ, "ASAN_OPTIONS": os.environ.get("ASAN_OPTIONS", "") +
            ":allocator_may_return_null=1"
            ":handle_segv=0:handle_sigbus=0:handle_abort=0"}


def of_cpu(events, cpu):
    """Those of it."""
    return [e for e in events if e.cpu == cpu]


class ImportTest(unittest.TestCase):
    """Each test has a folder of its own."""

    def setUp(self):
        scratch = tempfile.TemporaryDirectory()
        self.addCleanup(scratch.cleanup)
        self.scratch = scratch.name
        self.out = self.path("out")
        # A machine that runs some other kernel.
        self.proc = self.path("proc")
        self.sys = self.path("sys")
        os.mkdir(self.proc)
        os.makedirs(os.path.join(self.sys, "kernel"))

    def path(self, *names):
        """A path in that folder."""
        return os.path.join(self.scratch, *names)

    def write(self, name, data):
        """A file there."""
        os.makedirs(os.path.dirname(self.path(name)), exist_ok=True)
        with open(self.path(name), "wb") as f:
            f.write(data if isinstance(data, bytes) else data.encode())
        return self.path(name)

    def run_import(self, path, *options, out=None, **settings):
        """The program."""
        return subprocess.run(
            [PROGRAM, "--proc", self.proc, "--sys", self.sys, *options, path,
             out or self.out], capture_output=True, text=True, check=False,
            env=sanitizer_environment(), **settings)

    def imported(self, path, *options):
        """What it says of a file that is good."""
        result = self.run_import(path, *options)
        self.assertEqual((result.returncode, result.stderr), (0, ""))
        checked = subprocess.run([CHECK, self.out], capture_output=True,
                                 text=True, check=False)
        self.assertEqual(checked.returncode, 0, checked.stdout)
        return result.stdout

    def refused(self, path, *words, options=(), **settings):
        """It says why, and leaves nothing."""
        result = self.run_import(path, *options, **settings)
        self.assertEqual(result.returncode, 1, result.stdout)
        self.assertEqual(result.stdout, "")
        self.assertEqual(result.stderr.count("\n"), 1, result.stderr)
        self.assertTrue(result.stderr.startswith(
            f"kmemtrace-import: cannot import {path}: "), result.stderr)
        for word in words:
            self.assertIn(word, result.stderr)
        self.assertFalse(os.path.exists(self.out), "something is left")

    def partial(self, path, *options, status=2):
        """Import a damaged file: a warning, status 2."""
        result = self.run_import(path, "-f", *options)
        self.assertEqual(result.returncode, status, result.stderr)
        self.assertEqual(result.stderr.count("\n"), 1, result.stderr)
        self.assertIn(f"kmemtrace-import: warning: {path} is damaged",
                      result.stderr)
        self.assertEqual(self.meta()["complete"], "false")
        return result.stdout

    def checked(self):
        """kmemtrace-check finds nothing but the damage."""
        result = subprocess.run([CHECK, self.out], capture_output=True,
                                text=True, check=False)
        self.assertEqual(result.returncode, 0, result.stdout)
        self.assertIn("WARNING: the file that was imported is damaged",
                      result.stdout)

    def records(self, cpu):
        """Those of a CPU."""
        with open(os.path.join(self.out, f"cpu{cpu}.out"), "rb") as f:
            return list(RECORD.iter_unpack(f.read()))

    def text(self, name):
        """A file of the capture; empty: there is none."""
        try:
            with open(os.path.join(self.out, name), encoding="ascii") as f:
                return f.read()
        except FileNotFoundError:
            return ""

    def meta(self):
        """Keys and values of all groups, as a dict."""
        found, group = {}, None
        for line in self.text("kmemtrace.meta").splitlines():
            if line.startswith("["):
                group = line[1:-1]
            elif line:
                key, value = line.split("=", 1)
                found[key if group == "capture" else f"{group}.{key}"] = value
        return found

    def assert_usual(self):
        """The capture of USUAL."""
        self.assertEqual(self.records(0), USUAL_RECORDS[0])
        self.assertEqual(self.records(1), USUAL_RECORDS[1])
        meta = self.meta()
        self.assertEqual(
            {key: meta[key] for key in (
                "source", "complete", "events", "overruns", "no_memory",
                "other_events", "cpus", "abi_version", "record_size",
                "page_size", "cpu0.overruns")},
            {"source": "import", "complete": "true", "events": "7",
             "overruns": "0", "no_memory": "2", "other_events": "2",
             "cpus": "2", "abi_version": "2", "record_size": "64",
             "page_size": "4096", "cpu0.overruns": "0"})
        self.assertEqual(set(meta["tracepoints"].strip(";").split(";")), {
            "kmalloc", "kmalloc_node", "kfree", "kmem_cache_alloc",
            "kmem_cache_free", "mm_page_alloc", "mm_page_free"})
        self.assertNotIn("has no event", meta["not_seen"])
        self.assertIn("1 192 192 0 - dentry\n", self.text("caches"))
        self.assertFalse(any(name.endswith(".tmp")
                             for name in os.listdir(self.out)))


def main():
    """As the other tests."""
    unittest.main()
