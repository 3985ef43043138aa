#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Compile an annotated text into the directory of a capture.

    mkcapture.py FIXTURE OUTDIR

Each line is one of the statements below.  '#' starts a comment, 'a=1 b=2' are
fields, and numbers are decimal or hexadecimal (0x):

    meta                    the indented lines that follow are kmemtrace.meta
    kallsyms                the indented lines that follow are kallsyms; as well as
                            modules, caches, tasks, cgroups, marks, stacks and
                            tags, where ': ' before a line is removed
    cpu N little|big [size=N]
                            the records that follow belong to cpuN.out; size: bytes
                            of a record, 56 by default; longer records end in 0xee
    file NAME               the records that follow belong to the file NAME
    alloc kmalloc|cache|pages|percpu|vmalloc t=.. site=.. ptr=.. req=.. alloc=.. gfp=.. node=..
    free  kmalloc|cache|pages|percpu|vmalloc t=.. site=.. ptr=..
    defer kmalloc|cache|pages|percpu|vmalloc t=.. site=.. ptr=..
    record event=.. type=.. size=.. and the fields above, extra=HEX
                            any record; size is its event_size field;
                            pid=.. cache=.. flags=.. with size=64 or more: the
                            fields of version 2 in place of 0xee;
                            stack=.. with size=72: the stack number
    lost t=.. n=.. since=.. a LOST record
    stop t=.. why=..        a STOP record; also site= and pid=
    mark t=.. number=.. [pid=.. flags=..] [part=.. payload_size=.. drop=N] VALUE...
                            the records of a mark; VALUE: a number, s:"a string"
                            or cut:"a truncated string"; part and payload_size
                            replace the correct values; drop: omit the last N
    more t=.. number=.. part=.. payload_size=..
                            a continuation record of a mark
    bytes 00 01 02          these bytes
    repeat N STATEMENT      the statement N times
    end                     ignore the following lines

In Python: event() returns the bytes of one record, older() those of a record in an
older layout, Capture writes a directory, and compile_fixture() compiles a fixture.
"""

import os
import shlex
import struct
import sys

ALLOC, FREE, LOST, MARK, MORE, STOP, DEFER = range(1, 8)
KMALLOC, CACHE, PAGES, PERCPU, VMALLOC = range(5)
# Statements with a method do_VERB.
VERBS = ("cpu", "record", "lost", "stop", "mark", "more")
EVENTS = {"alloc": ALLOC, "free": FREE, "defer": DEFER}
TYPES = {"kmalloc": KMALLOC, "cache": CACHE, "pages": PAGES,
         "percpu": PERCPU, "vmalloc": VMALLOC}
BASE_SIZE = 56
V2_SIZE = 64
V2S_SIZE = 72
ORDERS = {"little": "<", "big": ">"}
TEXTS = {"meta": "kmemtrace.meta", "kallsyms": "kallsyms", "modules": "modules",
         "caches": "caches", "tasks": "tasks", "cgroups": "cgroups",
         "marks": "marks", "stacks": "stacks", "tags": "tags",
         "slabinfo": "slabinfo"}
# Bytes of the payload in a record of a mark; and the bit in the word of a truncated
# string.
MARK_PAYLOAD = 40
MARK_CUT = 1 << 63
# Names of the fields in a fixture -> argument of event().
FIELDS = {"event": "event_id", "type": "type_id", "size": "event_size",
          "node": "node", "site": "site", "ptr": "ptr", "req": "req",
          "alloc": "alloc", "gfp": "gfp", "t": "t"}
# Fields of version 2.
FIELDS_V2 = ("pid", "cache", "flags", "stack")


class FixtureError(Exception):
    """A fixture with an invalid statement."""


def event(event_id=ALLOC, type_id=KMALLOC, t=0, site=0xffffffff81000000,
          ptr=0xffff888000001000, req=100, alloc=128, gfp=0xcc0, node=-1,
          event_size=BASE_SIZE, order="little"):
    """Return the bytes of one record of version 1."""
    return struct.pack(ORDERS[order] + "BBHiQQQQQq", event_id, type_id,
                       event_size, node, site, ptr, req, alloc, gfp, t)


def event_v2(pid=0, cache=0, flags=0, stack=None, order="little", **fields):
    """Return the bytes of one record of version 2, with a stack number if given."""
    fields.setdefault("event_size", V2_SIZE if stack is None else V2S_SIZE)
    return event(order=order, **fields) + struct.pack(
        ORDERS[order] + "IHH", pid, cache, flags) + (
            b"" if stack is None else struct.pack(ORDERS[order] + "II",
                                                  stack, 0))


def lost(t, n, since, order="little", event_size=V2_SIZE):
    """Return a LOST record of version 2 with n lost events."""
    return event_v2(event_id=LOST, t=t, site=0, ptr=0, req=n, alloc=since,
                    gfp=0, order=order, event_size=event_size)


def mark_payload(values, order="little"):
    """Return the payload of a mark. A value is a number, a string, or a tuple with
    a truncated string."""
    words, strings = b"", b""
    for value in values:
        cut = isinstance(value, tuple)
        if cut:
            value, = value
        if isinstance(value, str):
            data = value.encode()
            strings += data + bytes(-len(data) % 8)
            value = len(data) | (MARK_CUT if cut else 0)
        words += struct.pack(ORDERS[order] + "Q", value % 2 ** 64)
    return words + strings


def mark_record(t, number, payload, part, payload_size, event_id=MARK, pid=0,
                flags=0, order="little", event_size=V2_SIZE):
    """Return one record of a mark with its part of the payload."""
    data = payload.ljust(MARK_PAYLOAD, b"\0")
    return struct.pack(ORDERS[order] + "BBHI40sqIHH", event_id, part,
                       event_size, number, data, t, pid, payload_size, flags)


def mark(t, number, values, drop=0, part=None, payload_size=None, **fields):
    """Return the records of a mark as a list. drop: omit this many records at the
    end."""
    payload = mark_payload(values, fields.get("order", "little"))
    size = len(payload) if payload_size is None else payload_size
    pieces = [payload[i:i + MARK_PAYLOAD]
              for i in range(0, len(payload), MARK_PAYLOAD)] or [b""]
    first = len(pieces) - 1 if part is None else part
    records = [mark_record(t, number, pieces[0], first, size, **fields)]
    for i, piece in enumerate(pieces[1:], 1):
        records.append(mark_record(t, number, piece, i, size, event_id=MORE,
                                   **fields))
    return records[:len(records) - drop]


def older(layout, fields, cpu=0, sequence=0, word=8):
    """Return a record in layout A, C or D; fields are arguments of event()."""
    f = {"event_id": ALLOC, "type_id": KMALLOC, "t": 0, "node": -1,
         "site": 0xffffffff81000000, "ptr": 0xffff888000001000, "req": 100,
         "alloc": 128, "gfp": 0xcc0, "order": "little"}
    f.update(fields)
    order = ORDERS[f["order"]]
    is_alloc = f["event_id"] == ALLOC
    what = (f["site"], f["ptr"])
    sizes = (f["req"], f["alloc"])
    if layout == "A":
        return struct.pack(order + "HHiQQQQQq", f["event_id"], f["type_id"],
                           f["node"], *what, *sizes, f["gfp"], f["t"])
    if layout == "C":
        data = struct.pack(order + "BBHIQQ", 1 - is_alloc, f["type_id"],
                           48 if is_alloc else 24, sequence % 2 ** 32, *what)
        sizes = struct.pack(order + "QQ", *sizes)
    else:
        long = "Q" if word == 8 else "I"
        size = 16 + 2 * word + is_alloc * (2 * word + 8)
        data = struct.pack(order + "BBHIQ" + 2 * long, 1 - is_alloc,
                           f["type_id"], size, cpu, f["t"], *what)
        sizes = struct.pack(order + 2 * long, *sizes)
    if is_alloc:
        data += sizes + struct.pack(order + "Ii", f["gfp"], f["node"])
    return data


def alloc(t, ptr, type_id=KMALLOC, **fields):
    """Return an ALLOC record."""
    return event(ALLOC, type_id, t, ptr=ptr, **fields)


def free(t, ptr, type_id=KMALLOC, **fields):
    """Return a FREE record; the other fields are as the kernel writes them."""
    return event(FREE, type_id, t, ptr=ptr, req=0, alloc=0, gfp=0, **fields)


def defer(t, ptr, type_id=KMALLOC, **fields):
    """Return a DEFER record; the other fields are as the kernel writes them."""
    return event(DEFER, type_id, t, ptr=ptr, req=0, alloc=0, gfp=0, **fields)


class Capture:
    """Collects records and texts, and writes them as a capture."""

    def __init__(self):
        self.cpus = {}
        self.texts = {}

    def add(self, cpu, data):
        """Append bytes to the file of a CPU, or of the given name; b'' makes an
        empty file."""
        self.cpus.setdefault(cpu, bytearray()).extend(data)

    def write(self, directory):
        """Write the directory, which may exist."""
        os.makedirs(directory, exist_ok=True)
        for cpu, data in self.cpus.items():
            name = cpu if isinstance(cpu, str) else f"cpu{cpu}.out"
            with open(os.path.join(directory, name), "wb") as f:
                f.write(data)
        for name, text in self.texts.items():
            with open(os.path.join(directory, name), "w",
                      encoding="utf-8") as f:
                f.write(text)


def parse_fields(words):
    """Convert a=1 b=2 to {"a": "1", "b": "2"}."""
    fields = {}
    for word in words:
        name, sep, value = word.partition("=")
        if not sep:
            raise FixtureError(f"'{word}' is not name=value")
        fields[name] = value
    return fields


class Compiler:
    """Compiles the lines of a fixture."""

    def __init__(self):
        self.capture = Capture()
        self.cpu = None
        self.order = "little"
        self.size = BASE_SIZE
        self.text = None

    def do_cpu(self, words):
        """Process "cpu N little|big [size=N]"."""
        self.cpu = int(words[0])
        self.order = words[1] if len(words) > 1 else "little"
        if self.order not in ORDERS:
            raise FixtureError(f"byte order '{self.order}'")
        fields = parse_fields(words[2:])
        self.size = int(fields.pop("size", str(BASE_SIZE)), 0)
        if fields:
            raise FixtureError(f"unknown: {', '.join(fields)}")
        self.capture.add(self.cpu, b"")

    def emit(self, data):
        """Append bytes to the current file."""
        if self.cpu is None:
            raise FixtureError("a record before any 'cpu'")
        self.capture.add(self.cpu, data)

    def do_record(self, words, **given):
        """Process "alloc", "free" and "record"."""
        fields = parse_fields(words)
        extra = fields.pop("extra", None)
        args = {"event_size": self.size}
        args.update(given)
        newer = {name: int(fields.pop(name), 0) for name in FIELDS_V2
                 if name in fields}
        for name, value in fields.items():
            if name not in FIELDS:
                raise FixtureError(f"unknown field '{name}'")
            args[FIELDS[name]] = int(value, 0)
        if args.get("event_id") in (FREE, DEFER):
            for name in ("req", "alloc", "gfp"):
                args.setdefault(name, 0)
        if newer:
            data = event_v2(order=self.order, **newer, **args)
        else:
            data = event(order=self.order, **args)
        if extra is None:
            data += b"\xee" * (self.size - len(data))
        else:
            data += bytes.fromhex(extra)
        self.emit(data)

    def do_lost(self, words):
        """Process "lost t= n= since="."""
        fields = {name: int(value, 0)
                  for name, value in parse_fields(words).items()}
        data = lost(order=self.order, event_size=self.size, **fields)
        self.emit(data + b"\xee" * (self.size - len(data)))

    def do_stop(self, words):
        """Process "stop t= site= pid= why="."""
        fields = dict(word.split("=", 1) for word in words)
        data = struct.pack(
            ORDERS[self.order] + "BBHiQ32sqII", STOP, 0, self.size, -1,
            int(fields.get("site", "1"), 0), fields["why"].encode(),
            int(fields["t"], 0), int(fields.get("pid", "0"), 0), 0)
        self.emit(data + b"\xee" * (self.size - len(data)))

    def do_mark(self, words):
        """Process "mark t= number= VALUE..."."""
        values, fields = [], {}
        for word in words:
            name, _, value = word.partition(":")
            if name in ("s", "cut") and word != name:
                values.append(value if name == "s" else (value,))
            elif "=" in word:
                fields.update(parse_fields([word]))
            else:
                values.append(int(word, 0))
        fields = {name: int(value, 0) for name, value in fields.items()}
        for data in mark(values=values, order=self.order,
                         event_size=self.size, **fields):
            self.emit(data + b"\xee" * (self.size - len(data)))

    def do_more(self, words):
        """Process "more t= number= part= payload_size="."""
        fields = {name: int(value, 0)
                  for name, value in parse_fields(words).items()}
        data = mark_record(payload=b"", event_id=MORE, order=self.order,
                           event_size=self.size, **fields)
        self.emit(data + b"\xee" * (self.size - len(data)))

    def statement(self, words):
        """Process a line that is not part of a text."""
        verb, rest = words[0], words[1:]
        if verb in TEXTS:
            self.text = TEXTS[verb]
            self.capture.texts[self.text] = ""
        elif verb in VERBS:
            getattr(self, f"do_{verb}")(rest)
        elif verb == "file":
            self.cpu, = rest
            self.capture.add(self.cpu, b"")
        elif verb in EVENTS:
            if not rest or rest[0] not in TYPES:
                raise FixtureError(f"{verb} of what?")
            self.do_record(rest[1:], type_id=TYPES[rest[0]],
                           event_id=EVENTS[verb])
        elif verb == "bytes":
            self.emit(bytes.fromhex("".join(rest)))
        elif verb == "repeat":
            for _ in range(int(rest[0], 0)):
                self.statement(rest[1:])
        else:
            raise FixtureError(f"unknown statement '{verb}'")

    def line(self, line):
        """Process a line. Returns False after the last line."""
        if self.text and (line[:1] in (" ", "\t") or not line.strip()):
            if line.strip():
                self.capture.texts[self.text] += \
                    line.strip().removeprefix(": ") + "\n"
            return True
        line = line.split("#")[0]
        words = shlex.split(line) if line.startswith("mark ") else line.split()
        if not words:
            return True
        self.text = None
        if words == ["end"]:
            return False
        self.statement(words)
        return True


def compile_text(text):
    """Return the Capture of a fixture's text."""
    compiler = Compiler()
    for number, line in enumerate(text.splitlines(), 1):
        try:
            if not compiler.line(line):
                break
        except (FixtureError, ValueError, IndexError, struct.error) as e:
            raise FixtureError(f"line {number}: {e}") from e
    return compiler.capture


def compile_fixture(path, directory):
    """Compile the fixture at path into a directory."""
    with open(path, encoding="utf-8") as f:
        text = f.read()
    try:
        compile_text(text).write(directory)
    except FixtureError as e:
        raise FixtureError(f"{path}: {e}") from e


def main():
    """Run the command line."""
    if len(sys.argv) != 3:
        print(__doc__, file=sys.stderr)
        return 1
    try:
        compile_fixture(sys.argv[1], sys.argv[2])
    except (FixtureError, OSError) as e:
        print(f"mkcapture.py: {e}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
