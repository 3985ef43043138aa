#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Manage the inputs of the fuzz targets.  fuzz/corpus/TARGET.list stores them
as text: each line is one input, compressed by zlib and encoded in base64.

    corpus.py seeds TARGET DIR     write inputs made from the fixtures of tests/
    corpus.py unpack TARGET DIR    write the inputs of fuzz/corpus/TARGET.list
    corpus.py pack TARGET DIR      replace the list by the inputs in DIR
    corpus.py add TARGET FILE...   add inputs to the list, for example crashes
"""

import base64
import glob
import gzip
import hashlib
import os
import random
import struct
import sys
import zlib

TOP = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..")
sys.path.insert(0, os.path.join(TOP, "tests", "lib"))
sys.dont_write_bytecode = True

import ctf_files as ctf  # noqa: E402  # pylint: disable=wrong-import-position
import import_events as ev  # noqa: E402  # pylint: disable=wrong-import-position
import mkcapture  # noqa: E402  # pylint: disable=wrong-import-position
import perf_files as perf  # noqa: E402  # pylint: disable=wrong-import-position
import trace_dat_files as dat  # noqa: E402  # pylint: disable=wrong-import-position
import zstd_frames  # noqa: E402  # pylint: disable=wrong-import-position

HEAD = "# SPDX-License-Identifier: GPL-2.0-or-later\n"
# Limits and texts of a container: see fuzz/container.h.
MAX_FILES = 8
MAX_SIZE = 8192
TEXTS = ("kmemtrace.meta", "kallsyms", "modules")
# Texts after the words of the command line.
TABLES = ("caches", "tasks", "stacks", "marks", "tags", "cgroups",
          "slabinfo")
WORDS = ("", "--json", "--csv", "--folded",
         "--json --by kind,cpu,node,gfp --windows 7 --cross-cpu",
         "--by function,size --live --leaks --histogram lifetime",
         "--fields churn,lifetime-p99,at-peak --time peak --before-trace",
         "--stacks --folded", "--by pid,comm,cache", "--json --stacks",
         "--csv --by cache --time 0.000001, --size 8-4k --sort -live,+ptr")
# Command lines for captures that have the table.
TABLE_WORDS = {
    "marks": ("--marks --json", "--marks --lines 0", "--by mark,kind --csv",
              "--marks --by mark,stack --windows 3 --json --time phase:2,",
              "--marks --time begin,marker", "--by mark --folded"),
    "cgroups": ("--by cgroup", "--by pid,cgroup,stack --json --leaks",
                "--by cgroup --cgroup /*,/a? --csv"),
    "stacks": ("--by owner", "--by owner,callsite --skip f*,*alloc* --json",
               "--by stack,owner --csv --time peak", "--stacks --lines 1",
               "--by owner,kind --folded --lines 1 --live")}


def list_path(target):
    """Return the path of the list of a target's inputs."""
    return os.path.join(TOP, "fuzz", "corpus", target + ".list")


def read_list(target):
    """Return the inputs in the list of a target, as a set of bytes."""
    with open(list_path(target), encoding="ascii") as f:
        return {zlib.decompress(base64.b64decode(line))
                for line in f if not line.startswith("#")}


def write_list(target, inputs):
    """Write the inputs to the list of a target, the shortest first."""
    with open(list_path(target), "w", encoding="ascii") as f:
        f.write(HEAD)
        for data in sorted(inputs, key=lambda data: (len(data), data)):
            packed = base64.b64encode(zlib.compress(data, 9))
            f.write(packed.decode("ascii") + "\n")


def write_files(inputs, directory):
    """Write the inputs into a directory, with file names as libFuzzer uses."""
    os.makedirs(directory, exist_ok=True)
    for data in inputs:
        name = hashlib.sha1(data).hexdigest()
        with open(os.path.join(directory, name), "wb") as f:
            f.write(data)


def read_files(directory):
    """Return the contents of all files in a directory, as a set of bytes."""
    inputs = set()
    for name in os.listdir(directory):
        with open(os.path.join(directory, name), "rb") as f:
            inputs.add(f.read())
    return inputs


def fixtures():
    """Yield the captures of the fixtures."""
    for path in sorted(glob.glob(os.path.join(TOP, "tests", "*", "fixtures",
                                              "*.txt"))):
        with open(path, encoding="utf-8") as f:
            yield mkcapture.compile_text(f.read())


def container(capture, options=0, words=""):
    """Return a capture as one input in the format of fuzz/container.h."""
    cpus = sorted(cpu for cpu in capture.cpus
                  if isinstance(cpu, int))[:MAX_FILES]
    data = bytes([options, len(cpus)])
    for cpu in cpus:
        records = bytes(capture.cpus[cpu])
        data += struct.pack("<BH", cpu % 256, len(records)) + records
    texts = [capture.texts.get(name, "") for name in TEXTS]
    texts.append(words.replace(" ", "\n"))
    texts += [capture.texts.get(name, "") for name in TABLES]
    return data + "\0".join(texts).rstrip("\0").encode()


def seeds_trace():
    """Yield each fixture with two clock tolerances."""
    for number, capture in enumerate(fixtures()):
        yield container(capture, 0)
        yield container(capture, number * 17 % 256)


def older_events():
    """Yield a capture with records of each older layout."""
    for layout, word, order in (("A", 8, "little"), ("A", 8, "big"),
                                ("C", 8, "little"), ("C", 8, "big"),
                                ("D", 8, "little"), ("D", 4, "big")):
        capture = mkcapture.Capture()
        for i in range(12):
            fields = {"event_id": mkcapture.ALLOC if i % 3 else mkcapture.FREE,
                      "t": i * 500, "ptr": 0x1000 * (1 + i % 4),
                      "site": 0xc1000000, "order": order, "type_id": i % 2}
            if i % 3 == 0:
                fields.update(req=0, alloc=0, gfp=0)
            cpu = 0 if layout == "D" else i % 2
            capture.add(cpu, mkcapture.older(layout, fields, i % 2, i, word))
        yield capture


def zstd(data):
    """Return a zstd frame with one uncompressed block of less than 256 bytes."""
    return (b"\x28\xb5\x2f\xfd\x20" + bytes([len(data)]) +
            struct.pack("<I", len(data) << 3 | 1)[:3] + data)


def seeds_input():
    """Yield each fixture in one form, and older layouts in all forms."""
    for number, capture in enumerate(fixtures()):
        yield container(capture, number % 8 << 3)
    for capture in older_events():
        for form in range(8):
            yield container(capture, form << 3)
    capture = next(older_events())
    for offset in (3, 40, 300):
        for form in (3, 4, 5):
            capture.cpus[128 + form] = struct.pack("<HB", offset, offset % 2)
            yield container(capture, form << 3)
            del capture.cpus[128 + form]
    records = b"".join(mkcapture.alloc(t, 64 * t) for t in range(1, 20))
    for packed in (gzip.compress(records, mtime=0), zstd(records[:224]),
                   zstd(records[:100]) + zstd(records[100:224])):
        for options in (6 << 3, 7 << 3):
            capture = mkcapture.Capture()
            capture.add(0, packed)
            yield container(capture, options)


def seeds_frames():
    """Yield files of frames, with other frames between them, cut and damaged."""
    records = b"".join(mkcapture.alloc(t, 64 * t) for t in range(1, 20))
    whole = zstd_frames.frames(records, 224, padding=False)
    for packed in (whole, zstd_frames.frames(records, 504, padding=False),
                   zstd_frames.frames(records, 99, padding=False),
                   zstd_frames.frame(b"") + zstd_frames.skippable(b"x", 3) + whole,
                   zstd_frames.repeated(1, 560) + zstd_frames.frame(records)):
        for choice in (0, 0x55, 0xff):
            yield bytes([choice]) + packed
    yield b"\3" + whole[:-60]
    yield b"\3" + whole[:700] + bytes(20) + whole[720:]
    yield b"\3" + whole[:700] + b"\0" + whole[701:]


def seeds_report():
    """Yield each fixture with several command lines."""
    for number, capture in enumerate(fixtures()):
        for i in (number, number // 2 + 3):
            yield container(capture, 0, WORDS[i % len(WORDS)])
        for table, lines in TABLE_WORDS.items():
            if table in capture.texts:
                for words in lines:
                    yield container(capture, 0, words)


def seeds_match():
    """Yield random bytes: any bytes are a valid history."""
    draw = random.Random(1)
    for n in range(40):
        head = bytes([n % 16, draw.choice([0, 0, n % 16]),
                      draw.choice([0, n]), draw.choice([0, 0, 1, 127, 128])])
        yield head + b"".join(
            bytes([draw.randrange(256), draw.randrange(draw.choice([2, 8])),
                   draw.choice([0, 1, 4, 0x47, draw.randrange(256)]),
                   draw.choice([0, 0, 1, 9, draw.randrange(256)])])
            for _ in range(draw.randrange(2, 60)))


def seeds_kallsyms():
    """Yield the symbols of the fixtures, and some lines of each kind."""
    for capture in fixtures():
        if "kallsyms" in capture.texts:
            yield (capture.texts["kallsyms"] + "--modules--\n" +
                   capture.texts.get("modules", "")).encode()
    yield (b"0000000000000000 A fixed\nffffffff81000000 T _text\n"
           b"ffffffff81000000 T _stext\nffffffff81000010 t a\r\n"
           b"ffffffff81000010 W b\nffffffff81000010 t __start_c\n"
           b"FFFFFFFF81000020 t  d \nffffffff81000f00 T _etext\n"
           b"ffffffff82000000 T _sinittext\nffffffff82000100 T _einittext\n"
           b"ffffffffa0001000 t f\t[mod]\nffffffffa0000000 t e\t[mod]\n"
           b"ffffffffa0000800 d g\t[mod]\nffffffffb0000000 t h [other]\n"
           b"--modules--\nmod 4096 0 - Live 0xffffffffa0000000\n"
           b"other 100 1 mod, Live 0xffffffffb0000000 (OE)\n")
    yield b"c0100000 T _stext\nc0100000 T start_kernel\nc0200000 T _etext\n"
    yield b"0000000000000000 T a\n0000000000000000 T b\n"
    yield b"0 t a\n1 t b\nffffffffffffffff t c\n00000000000000001 t d\n"
    yield b"1234567g t a\n12345678:t b\nx\n\n 1 t\n1 tt c\n1 t \xff\n2 t d\x00"


# Command lines with several options of the report, with typical values.
OPTIONS = ("--leaks --by=module --windows=4", "--cross-cpu --json",
           "--cross-cpu --lines=1", "--leaks --by=kind,module --json",
           "--histogram=lifetime --by=module", "--histogram=size --json",
           "--folded --by=cpu --lines=1 --fields=reused",
           "--csv --fields=live-wasted,at-peak,churn --by=module",
           "--windows=3 --time=0.0005,0.003 --cpu=0", "--time=peak --live",
           "--lifetime=1us-2ms --fields=peak,age-median --json",
           "--advise --json", "--advise --churn=2us --kind=slab",
           "--kind=slab --node=0-1 --size=8-1k --callsite=f*,s* --module=*")


def words_of_options(line):
    """Return steps that append the words of a line to the command line."""
    return b"".join(bytes([7, len(word)]) + word.encode()
                    for word in line.split())


def seeds_options():
    """Yield each option, each key of kmemtrace.meta and each field of a record
    alone, with some values: see apply_step() in fuzz/fuzz-options.c."""
    for option in range(48):
        for value in range(0, 48, 3):
            yield bytes([0, option, value])
    for key in range(32):
        for value in range(0, 48, 3):
            yield bytes([3, key % 5 if value % 2 else 0, key, value, 0, value % 15])
    for field in range(13):
        for value in range(0, 40, 3):
            yield bytes([5, value, field, value, 0, 0])
    for column in range(8):
        yield bytes([6, column, 36, 0, 15, 2 + column % 5])
    for line in OPTIONS:
        for sample in (2, 20, 28, 32, 36):
            yield bytes([3, 0, 0, sample]) + words_of_options(line)
        yield (bytes([3, 0, 1, 9, 3, 1, 1, 9]) +  # overruns
               words_of_options(line + " --time=0,0.002"))


def seeds_perfdata():
    """Yield files with each kind of record, with few formats."""
    points = {name: ev.TRACEPOINTS[name]
              for name in ("kfree", "kmem_cache_free")}
    events = [e for e in ev.USUAL if e.name in points]
    samples = b"".join(perf.perf_sample(e) for e in events)
    others = (perf.perf_comm(7, "a task", 5) +
              perf.perf_lost(3, 1, 6) +
              perf.perf_kernel(1 << 63) +
              perf.perf_record(perf.ROUND, b"") +
              perf.perf_other(perf.LOST_SAMPLES, bytes(8)) +
              perf.perf_record(71, bytes(16)))
    features = {2: perf.perf_build_id(bytes(20)),
                4: perf.perf_text("6.1"),
                7: struct.pack("<II", 2, 2)}
    plain = perf.LAYOUT & ~(1 << 16)
    chain = [(1 << 64) - 128, 1, 0xffffffff81000010, 0xffffffff81000110]
    stacked = b"".join(perf.perf_sample(e, chain=chain, counters=(
        1, 2)) for e in events)
    layouts = ((2, perf.LAYOUT | 1 << 4 | 1 << 5,
                (perf.EVENT_ID,), {"read_format": 12}),)
    command = {11: perf.perf_command(
        "perf", "record", "-e", "kmem:*", "--filter", "x", "-aC", "0",
        "--pid=3", "-D1-2", "cmd")}
    yield perf.perf_data(stacked, points, layouts, command)
    yield perf.perf_pipe(samples + others, points,
                                features=command)
    yield perf.perf_pipe(perf.perf_compressed(samples, 3),
                                points)
    yield perf.perf_data(perf.perf_compressed(
        others + samples, 2, True), points)
    yield perf.perf_data(perf.perf_tasks(3) + samples, points)
    yield perf.perf_data(b"", points)
    yield perf.perf_data(samples, points)
    yield perf.perf_data(others + samples + others, points,
                                 features=features)
    yield perf.perf_data(samples, points, layouts=(
        (2, perf.LAYOUT, (perf.EVENT_ID,)),
        (1, 1 << 16, (1, 2))))
    yield perf.perf_data(samples, points,
                                 layouts=((2, plain | 1 << 5, ()),))


def small_pages(build):
    """Return a trace.dat with pages of 512 bytes, so that it has several pages."""
    before, dat.PAGE = dat.PAGE, 512
    try:
        return build().replace(struct.pack("<I", before),
                               struct.pack("<I", 512), 1)
    finally:
        dat.PAGE = before


def seeds_tracedat():
    """Yield trace.dat files of versions 6 and 7 with all compressions, one or two
    buffers, and counters; and CTF metadata."""
    points = {"kfree": ev.TRACEPOINTS["kfree"]}
    events = [ev.Event("kfree", 0, 10 * t, {"call_site": ev.A,
                                               "ptr": 4096 * t})
              for t in range(1, 13)]
    options = (dat.dat_stats(0, read=12, overrun=3) +
               dat.dat_option(2, b"\nBuffer: b\n\n\0") +
               dat.dat_option(4, b"[local]\0") +
               dat.dat_option(5, b"Linux h 6.1 x\0") +
               dat.dat_option(14, struct.pack("<IIQ", 3, 1, 0)) +
               dat.dat_stats(0, unread=4))
    settings = {"tracepoints": points, "options": options,
                "kallsyms": b"ffffffff81000000 t f\n", "comms": b"7 t\n"}

    def pages():
        return [dat.ring_page(events[at:at + 4], points, missed)
                for at, missed in ((0, None), (4, -1), (8, 5))]
    yield small_pages(lambda: dat.trace_dat([pages()], **settings))
    yield small_pages(lambda: dat.trace_dat(
        [pages(), []], instance=("b", [pages(), []]), **settings))
    for packing in dat.PACKERS:
        yield small_pages(lambda: dat.trace_dat7(
            [("", [pages()]), ("b", [pages()[1:]])],  # noqa: B023
            packing=packing, **settings))  # pylint: disable=W0640
    text = ctf.ctf_metadata(points)
    for order in "<>":
        yield ctf.ctf_metadata_packets(text, order=order)


SEEDS = {"trace": seeds_trace, "input": seeds_input, "report": seeds_report,
         "match": seeds_match, "options": seeds_options,
         "kallsyms": seeds_kallsyms, "perfdata": seeds_perfdata,
         "tracedat": seeds_tracedat, "frames": seeds_frames}


def main(args):
    """Run the command in args; return the exit status."""
    if len(args) < 3 or args[1] not in SEEDS:
        print(__doc__, file=sys.stderr)
        return 1
    command, target, directory = args[:3]
    if command == "seeds":
        write_files({data for data in SEEDS[target]()
                     if len(data) <= MAX_SIZE}, directory)
    elif command == "unpack":
        write_files(read_list(target), directory)
    elif command == "pack":
        write_list(target, read_files(directory))
    elif command == "add":
        inputs = read_list(target)
        for path in args[2:]:
            with open(path, "rb") as f:
                inputs.add(f.read())
        write_list(target, inputs)
    else:
        print(__doc__, file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
