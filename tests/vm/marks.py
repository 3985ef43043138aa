#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Check the contents of marks.

Usage: marks.py OUT

OUT is the output of vm/scenarios/marks.sh. The script parses the mark records
itself and compares them with the known output of the sample module.
kmemtrace-report must show the same marks and divide the run by them."""
import json
import os
import re
import struct
import subprocess
import sys

import capture
from verdict import equal, failed

LOST, MARK, MORE, CUT = 3, 4, 5, 1 << 63
RECORD = struct.Struct("<BBHI40sqIHH")
WIDTHS = {"b": 8, "h": 16, "i": 32, "q": 64}
MODULE = "kmemtrace_sample"


def values_of(payload, types):
    """Return the arguments of a mark."""
    words = struct.unpack(f"<{len(types)}Q", payload[:8 * len(types)])
    at, values = 8 * len(types), []
    for word, kind in zip(words, types):
        bits = WIDTHS.get(kind.lower())
        if bits:
            word %= 1 << bits
            if kind.islower() and word >> (bits - 1):
                word -= 1 << bits
        elif kind == "s":
            length = word & ~CUT
            text = payload[at:at + length].decode()
            at += (length + 7) & ~7
            word = text + ("..." if word & CUT else "")
        values.append(word)
    assert at == len(payload), (payload, types)
    return values


def read_cpu(directory, cpu, kinds):
    """Return (time, name, number, values, pid, flags) of each mark."""
    size = int(capture.meta(directory)["record_size"])
    with open(os.path.join(directory, f"cpu{cpu}.out"), "rb") as f:
        data = f.read()
    marks, at = [], 0
    while at < len(data):
        head = RECORD.unpack_from(data, at)
        at += size
        assert head[0] != MORE, "more of no mark"
        if head[0] != MARK:
            continue
        _, parts, _, number, payload, time, pid, length, flags = head
        for part in range(1, parts + 1):
            more = RECORD.unpack_from(data, at)
            assert more[:2] == (MORE, part), more
            assert more[3] == number and more[5:] == head[5:], more
            payload += more[4]
            at += size
        assert len(payload) == 40 * (1 + parts) and (
            not parts or len(payload) - 40 < length <= len(payload)), head
        assert not any(payload[length:])
        kind = kinds[number]
        marks.append((time, kind["name"], number,
                      values_of(payload[:length], kind["types"]), pid, flags))
    return marks


def read_kinds(path):
    """Return {number: properties in the table}."""
    kinds = {}
    directory, which = os.path.split(path)
    rows, about = capture.table(directory, which) if which == "marks" else (
        None, None)
    assert about["columns"] == "number appeared went module types name format"
    assert about["unnumbered"] == "0"
    for number, appeared, went, module, types, name, text in rows:
        assert int(number) not in kinds
        kinds[int(number)] = {
            "appeared": int(appeared), "module": module, "name": name,
            "went": float("inf") if went == "-" else int(went),
            "types": "" if types == "-" else types, "format": text}
    return kinds


def of_module(out, when):
    """Return the module's names in a copy of the table."""
    with open(os.path.join(out, f"marks.{when}")) as f:
        table = {line.split()[5] for line in f
                 if not line.startswith("#") and line.split()[3] == MODULE
                 and line.split()[2] == "-"}
    with open(os.path.join(out, f"info.{when}")) as f:
        info = {line.split()[4] for line in f
                if line.startswith("mark ") and line.split()[2] == MODULE}
    equal(f"info and table agree {when}", table, info)
    return table


NAMES = {"sample_begin", "sample_signed", "sample_unsigned", "sample_others",
         "sample_strings", "sample_interrupt", "sample_loaded", "sample_step",
         "sample_end"}


def check_sample(marks):
    """Check the marks that the module emits when it is first loaded."""
    def first(name):
        return next(m for m in marks if m[1] == name)

    equal("no arguments", first("sample_begin")[3], [])
    equal("signed", first("sample_signed")[3],
          [-2 ** 7, -2 ** 15, -2 ** 31, -2 ** 63, -2 ** 63])
    equal("unsigned", first("sample_unsigned")[3],
          [2 ** 8 - 1, 2 ** 16 - 1, 2 ** 32 - 1, 2 ** 64 - 1, 2 ** 64 - 1])
    others = first("sample_others")[3]
    equal("others", others[:1] + others[2:6],
          [ord("k"), -1, 1, 0xbeef, 0o755])
    equal("addresses in a module", [a >> 40 for a in others[6:]],
          [0xffffff] * 2)
    equal("strings", first("sample_strings")[3],
          ["an array", "(null)", "", "x" * 256 + "...", "ACME", -1])
    interrupt = first("sample_interrupt")
    equal("in an interrupt", interrupt[5], capture.HARDIRQ)
    second = [m[3][3] for m in marks if m[1] == "sample_strings"]
    equal("long strings of the others", second[1:], ["x" * 256] + [""] * 5)


def check_lines(marks):
    """Check the lines that user space wrote."""
    lines = [m[3][0] for m in marks if m[1] == "marker"]
    many = [line for line in lines if line.endswith(" of many")]
    equal("many lines", many, [f"line {i} of many" for i in range(1000)])
    equal("the other lines", [line for line in lines if line not in many],
          ["first phase", "one", "two\t2", "three, without an end",
           "0" * 256, "last phase"] + ["while a module comes"] * 5)


def check_report(directory, marks):
    """Check that the report shows the same marks."""
    run = subprocess.run(
        ["kmemtrace-report", "--json", "--marks", "--by", "mark", directory],
        capture_output=True, text=True, check=True)
    report = json.loads(run.stdout)
    equal("marks in the report",
          [(m["timestamp"], m["name"], m["number"]) for m in report["marks"]],
          [m[:3] for m in marks])
    texts = {m["name"]: m["text"] for m in reversed(report["marks"])}
    equal("text of signed", texts["sample_signed"],
          f"{-2**7} {-2**15} {-2**31} {-2**63} {-2**63}")
    equal("text of no arguments", texts["sample_begin"],
          "no arguments, 100%")
    equal("text of others", re.sub(r"0xffff\w+", "ADDRESS",
          texts["sample_others"]).split(", ")[3:7],
["bool 1", "hex 0xbeef", "octal 0755",
"ADDRESS and ADDRESS"])
    by_phase = {g["mark"]: g for g in report["groups"] if g["kind"] == "slab"}
    steps = [m for m in marks if m[1] == "sample_step"]
    # An event between two steps belongs to the phase of the first step.
    some = [by_phase.get(f"sample_step:{i}") for i in range(2, 90)]
    equal("phases of single steps with an allocation of 64 bytes",
          sum(g is not None and g["bytes_requested"] >= 64 for g in some), 88)
    equal("phases", {"(start)", "marker:first phase",
          "sample_loaded"} <= set(by_phase), True)
    run = subprocess.run(
        ["kmemtrace-report", "--json", "--time",
         "marker:first phase,marker:last phase", directory],
        capture_output=True, text=True, check=True)
    inside = json.loads(run.stdout)["kinds"]["kmalloc"]["allocs"]
    equal("allocations between two lines", inside >= len(steps), True)


def read_lines(path, size):
    """Return the numbers of the lines, (index, events) of losses, and the number of
    MORE records at the beginning."""
    with open(path, "rb") as f:
        data = f.read()
    records = [RECORD.unpack_from(data, at)
               for at in range(0, len(data), size)]
    lines, lost, cut, at = [], [], 0, 0
    while at < len(records):
        kind, parts, _, number, payload = records[at][:5]
        at += 1
        if kind == LOST:
            lost.append((len(lines), struct.unpack_from("<Q", payload, 16)[0]))
            continue
        if kind == MORE:
            assert not lines, "more of no mark"
            cut += 1
            continue
        assert (kind, number) == (MARK, 1), records[at - 1]
        for part in range(1, parts + 1):
            assert records[at][:2] == (MORE, part), "a mark has a hole"
            payload += records[at][4]
            at += 1
        text = values_of(payload[:records[at - 1][7]], "s")[0]
        number = int(text.split()[0])
        assert text == (f"{number} {'0' * 250}" if number % 2
                        else str(number)), text
        lines.append(number)
    return lines, lost, cut


def records_of(lines, size=1 + 6):
    """Return the number of records that the lines take."""
    return sum(size if n % 2 else 1 for n in lines)


def check_room(out):
    """Check that a mark without enough room is complete or counted as lost."""
    def read(name):
        with open(os.path.join(out, f"{name}.taken")) as f:
            taken = [int(n) for n in f.read().split()]
        with open(os.path.join(out, f"{name}.overruns")) as f:
            return taken, int(f.read()), *read_lines(
                os.path.join(out, f"{name}.cpu0"), size)

    with open(os.path.join(out, "record_size")) as f:
        size = int(f.read())
    taken, overruns, lines, lost, cut = read("full")
    equal("full: what was taken is there", (lines, cut), (taken, 0))
    equal("full: what was not is lost", overruns, 310 - len(taken))
    equal("full: where", (sum(n for _, n in lost), lines[lost[-1][0]:]),
          (overruns, list(range(300, 310))))
    # The buffer has 4 sub-buffers of 8192 bytes; the end of each may be too small
    # for a line.
    room = 4 * (8192 // size)
    used = records_of(lines[:lost[-1][0]]) + len(lost) - 1
    equal("full: to the end", room - 7 < used <= room, True)

    taken, overruns, lines, lost, cut = read("overwrite")
    equal("overwrite: all are taken", taken, list(range(300)))
    equal("overwrite: the newest are there", (lines, cut < 7),
          (list(range(300 - len(lines), 300)), True))
    equal("overwrite: what was overwritten is lost", (
        [place for place, _ in lost], sum(n for _, n in lost)),
        ([0], overruns))
    equal("overwrite: records that are missing", overruns,
          records_of(range(300)) - records_of(lines) - cut)

    taken, overruns, lines, lost, cut = read("snapshot")
    equal("after a snapshot all have room", (taken, lines, cut),
          (list(range(200, 300)), list(range(200, 300)), 0))


def main():
    """Check all captures."""
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    out = sys.argv[1]
    directory = os.path.join(out, "capture")
    kinds = read_kinds(os.path.join(directory, "marks"))
    with open(os.path.join(out, "total_overruns")) as f:
        equal("events lost", int(f.read()), 0)

    for when, names in (("before", set()), ("during", NAMES), ("after", set())):
        equal(f"annotations {when}", of_module(out, when), names)
    equal("the file marker", (kinds[1]["name"], kinds[1]["types"],
          kinds[1]["appeared"]), ("marker", "s", 0))
    lives = [k for k in kinds.values() if k["module"] == MODULE]
    equal("lives of the module's annotations",
          (len(lives), all(0 < k["appeared"] < k["went"] < float("inf")
                           for k in lives)), (7 * len(NAMES), True))

    by_cpu = [read_cpu(directory, cpu, kinds)
              for cpu in capture.cpus(directory)]
    for marks in by_cpu:
        equal("in the order of time", marks,
              sorted(marks, key=lambda m: m[0]))
    marks = [(*m[:3], m[3], *m[4:]) for cpu in by_cpu for m in cpu]
    marks.sort(key=lambda m: m[0])
    equal("while their module was there",
          all(kinds[m[2]]["appeared"] <= m[0] <= kinds[m[2]]["went"]
              for m in marks), True)
    check_sample(marks)
    check_lines(marks)
    with open(os.path.join(out, "evaluated")) as f:
        equal("records of what was evaluated",
              sum(m[1] == "sample_step" for m in marks), int(f.read()))
    tasks = capture.Tasks(directory)
    equal("tasks that loaded the module", {
        tasks.find(m[4], m[0]) for m in marks if m[1] == "sample_begin"},
        {"insmod"})
    check_report(directory, marks)
    with open(os.path.join(out, "complaints")) as f:
        equal("messages about refused writes to marker", int(f.read()), 5)
    check_room(out)
    return failed()


if __name__ == "__main__":
    sys.exit(main())
