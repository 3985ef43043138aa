# SPDX-License-Identifier: GPL-2.0-or-later
"""Files of perf record with generated events."""

from import_events import TRACEPOINTS, raw, tracing_data
from target import BYTE_ORDER, pack

SAMPLE, LOST, COMM, MMAP, LOST_SAMPLES, ROUND = 9, 2, 3, 1, 13, 68
LAYOUT = 1 << 0 | 1 << 1 | 1 << 2 | 1 << 7 | 1 << 8 | 1 << 10 | 1 << 16
EVENT_ID = 55
# The first word of a file.
MAGIC = pack("Q", 0x32454c4946524550)


def perf_record(kind, body, misc=0):
    """Return a record with its header."""
    body = body.ljust((len(body) + 7) & ~7, b"\0")
    return pack("IHH", kind, misc, 8 + len(body)) + body


def perf_sample(event, tracepoints=None, chain=None, counters=None):
    """Return a sample: id, ip, pid and tid, time, cpu, period, data. counters: the
    counters of a group, which precede the callchain."""
    data = raw(event, tracepoints or TRACEPOINTS)
    middle = b"" if counters is None else pack(
        f"Q{2 * len(counters)}Q", len(counters),
        *(word for value in counters for word in (value, EVENT_ID)))
    if chain is not None:
        middle += pack(f"Q{len(chain)}Q", len(chain), *chain)
    return perf_record(SAMPLE, pack(
        "QQIIQIIQ", EVENT_ID, 0xffffffff81234567, 7, 7, event.time, event.cpu,
        0, 1) + middle + pack("I", len(data)) + data)


def perf_other(kind, body, cpu=0, time=0, event_id=EVENT_ID):
    """Return a record with the trailer pid, tid, time, cpu and id."""
    body = body.ljust((len(body) + 7) & ~7, b"\0")
    return perf_record(kind, body + pack("IIQIIQ", 7, 7, time, cpu, 0,
                                         event_id))


def perf_lost(number, cpu, time):
    """Return the record of events that one CPU lost."""
    return perf_other(LOST, pack("QQ", EVENT_ID, number), cpu, time)


def perf_comm(pid, name, time=0):
    """Return the record of the name of a task."""
    return perf_other(COMM, pack("II", pid, pid) + name.encode() +
                      b"\0", 0, time)


def perf_kernel(address, symbol="_text"):
    """Return the record of the address of the kernel."""
    return perf_other(MMAP, pack("IIQQQ", 0xffffffff, 0, address, 1 << 20,
                                 address) +
                      f"[kernel.kallsyms]{symbol}".encode() + b"\0")


def perf_text(text):
    """Return a feature that is a text."""
    data = text.encode() + b"\0"
    return pack("I", len(data)) + data


def perf_build_id(build_id):
    """Return the feature with the build ID of the kernel."""
    name = b"[kernel.kallsyms]\0".ljust(24, b"\0")
    return pack("IHHi", 0, 0, 8 + 4 + 24 + len(name), -1) + \
        build_id.ljust(24, b"\0") + name


def perf_command(*words):
    """Return the feature with the command line of perf."""
    return pack("I", len(words)) + b"".join(map(perf_text, words))


def perf_tasks(*pids):
    """Return the map of the recorded tasks; without pids, all tasks."""
    return perf_record(73, pack("Q", len(pids) or 1) + b"".join(
        pack("Q16s", pid & (1 << 64) - 1, b"")
        for pid in pids or (-1,)))


def perf_attr(kind, sample_type, config=700, period=1, flags=0, read_format=0):
    """Return the attributes of an event; all other records have a trailer."""
    flags |= 1 << 18
    if BYTE_ORDER == "big":
        # The first bit field is then at the top of the word.
        flags = int(f"{flags:064b}"[::-1], 2)
    return pack("IIQQQQQ", kind, 128, config, period, sample_type, read_format,
                flags).ljust(128, b"\0")


def perf_layout(layout):
    """Return (attributes, ids) of a layout: type, sample_type, ids and further
    arguments of perf_attr()."""
    kind, sample_type, ids, *more = layout
    return (perf_attr(kind, sample_type, **(more[0] if more else {})),
            b"".join(pack("Q", i) for i in ids))


def perf_data(records, tracepoints=None, layouts=((2, LAYOUT, (EVENT_ID,)),),
              features=None):
    """Return a perf.data file. layouts: see perf_layout(), one for each event."""
    attrs, ids, ids_at = b"", b"", 104
    for attr, some in map(perf_layout, layouts):
        attrs += attr + pack("QQ", ids_at, len(some))
        ids += some
        ids_at += len(some)
    found = {1: tracing_data(tracepoints or TRACEPOINTS),
             **(features or {})}
    data_at = 104 + len(ids) + len(attrs)
    at = data_at + len(records) + 16 * len(found)
    table = body = b""
    for number in sorted(found):
        table += pack("QQ", at, len(found[number]))
        body += found[number]
        at += len(found[number])
    header = MAGIC + pack(
        "QQQQQQQQQQQQ", 104, 144, 104 + len(ids), len(attrs), data_at,
        len(records), 0, 0, sum(1 << n for n in found), 0, 0, 0)
    return header + ids + attrs + records + table + body


def perf_pipe(records, tracepoints=None, layouts=((2, LAYOUT, (EVENT_ID,)),),
              features=None):
    """Return the output of perf record -o -."""
    formats = tracing_data(tracepoints or TRACEPOINTS)
    head = MAGIC + pack("Q", 16)
    for attr, ids in map(perf_layout, layouts):
        head += perf_record(64, attr + ids)
    for number, data in (features or {}).items():
        head += perf_record(80, pack("Q", number) + data)
    head += perf_record(66, pack("II", len(formats), 0)) + formats
    return head + records


def zstd_block(data, first=False):
    """Return an uncompressed block of a zstd stream. first: add the header of a
    frame with a window of 128 KB."""
    head = b"\x28\xb5\x2f\xfd\x00\x38" if first else b""
    return head + (len(data) << 3).to_bytes(3, "little") + data


def perf_compressed(data, pieces, newer=False):
    """Return the records as perf record -z writes them, in the given number of
    blocks."""
    size, out = -(-len(data) // pieces), b""
    for at in range(0, len(data), size):
        block = zstd_block(data[at:at + size], at == 0)
        if newer:
            block = pack("Q", len(block)) + block
        body = block if not newer else block.ljust(-(-len(block) // 8) * 8,
                                                   b"\0")
        out += pack("IHH", 83 if newer else 81, 0,
                           8 + len(body)) + body
    return out
