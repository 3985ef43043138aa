#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""kmemtraced(8) and kmemtrace(5) agree with the program and the header."""

import os
import re
import subprocess

import mkcapture
from compress_case import has_zstd
from kmemtraced_fake import (PROGRAM, TOP_BUILDDIR, Capture, DaemonTest, main,
                             records)

REPORT = os.path.join(TOP_BUILDDIR, "report", "kmemtrace-report")

TOP_SRCDIR = os.environ.get("top_srcdir", ".")
TYPES = {"__u8": "u8", "__u16": "u16", "__s32": "s32", "__u32": "u32",
         "__u64": "u64", "__s64": "s64"}


def source(*path):
    """Return the text of a file of the source tree."""
    with open(os.path.join(TOP_SRCDIR, *path)) as file:
        return file.read()


class Manual(DaemonTest):
    """Options, keys and record fields in the manual pages."""

    def test_options(self):
        text = subprocess.run([PROGRAM, "--help"], check=True,
                              capture_output=True, text=True).stdout
        shown = set(re.findall(r"^  (?:-(\w), )?--([\w-]+)", text, re.M))
        page = source("man", "kmemtraced.8")
        described = re.findall(
            r"^\.It (?:Fl (\w)(?: Ar \w+)? , )?Fl -([\w-]+)", page, re.M)
        self.assertGreater(len(shown), 5)
        self.assertEqual(set(described), shown)
        for hidden in ("proc", "sys"):
            self.assertNotIn(f"--{hidden}", text)
            self.assertIn(f".Fl -{hidden} Ns = Ns Ar DIR", page)

    def test_keys_of_meta(self):
        """Every key that kmemtraced writes is described, and no other key."""
        self.make_kernel()
        os.makedirs(os.path.join(self.sys, "kernel/slab"))
        self.write(os.path.join(self.sys, "devices/system/cpu/possible"), b"0-3\n")
        daemon = self.start()
        self.kernel.feed(0, records(1))
        self.end(daemon)
        meta = self.capture().meta
        section = source("man", "kmemtrace.5").split(
            ".Ss kmemtrace.meta")[1].split(".Ss")[0]
        capture, cpu = section.split("for each CPU:")

        def keys(text):
            return {key for line in re.findall(r"^\.It Va (.*)$", text, re.M)
                    for key in line.split(" , ")}

        self.assertEqual(keys(capture), set(meta["capture"]))
        self.assertEqual(keys(cpu), set(meta["cpu0"]))
        if not has_zstd():
            return
        self.assertEqual(self.run_to_end("--compress", "-f", "-w", "0.1")[0], 0)
        section = source("man", "kmemtrace.5").split(
            ".Ss cpu Ns Ar n Ns .out.zst")[1].split(".Ss")[0]
        compressed = Capture(self.out).meta
        self.assertEqual(keys(section),
                         {*compressed["capture"], *compressed["cpu0"]} -
                         {*meta["capture"], *meta["cpu0"]})

    def test_events(self):
        """kmemtrace-report(1) describes what "Events" counts."""
        manual = " ".join(source("man", "kmemtrace-report.1").split())
        self.assertIn(
            '.Dq Events counts the records of allocations, frees and '
            'deferred frees, and records of unknown events; it does not count LOST records, annotations, '
            'STOP records and incomplete records.', manual)
        os.mkdir(self.out)
        at = {"pid": 0}
        self.write(os.path.join(self.out, "cpu0.out"), b"".join((
            mkcapture.event_v2(t=1, ptr=64, **at),
            mkcapture.event_v2(event_id=7, t=1, ptr=64, **at),
            mkcapture.event_v2(event_id=2, t=2, ptr=64, **at),
            mkcapture.lost(3, 5, 2),
            *mkcapture.mark(4, 1, ["a string of two records" * 3]),
            mkcapture.event_v2(event_id=99, t=5, ptr=128, **at),
            b"part")))
        report = subprocess.run([REPORT, self.out], capture_output=True,
                                text=True, check=True).stdout
        self.assertRegex(report, r"\nEvents: +4 in ")

    def test_record(self):
        """The tables in kmemtrace(5) agree with the header."""
        header = source("abi", "kmemtrace_abi.h")

        def fields_of(*structs):
            fields = {}
            for struct in structs:
                body = header.split(f"struct {struct} {{")[1].split("\n}")[0]
                fields.update((name, TYPES[kind]) for kind, name in
                              re.findall(r"^\t(__\w+)\t(\w+);", body, re.M))
            return fields

        fields = fields_of("kmemtrace_event", "kmemtrace_event_v2",
                           "kmemtrace_event_v2s")
        offsets = dict(re.findall(
            r"^KMEMTRACE_ASSERT_OFFSET(?:_OF\(kmemtrace_event_v2s?, |\()"
            r"(\w+), (\d+)\)", header, re.M))
        table = re.findall(r"^\.It (\d+) Ta (\w+) Ta (\w+) Ta ",
                           source("man", "kmemtrace.5"), re.M)
        self.assertEqual(
            table[:15],
            [(offsets[name], fields[name], name) for name in fields])
        # Compare the fields of annotations that differ from those of other records;
        # payload is an array.
        fields = fields_of("kmemtrace_event_mark")
        offsets = dict(re.findall(
            r"^KMEMTRACE_ASSERT_OFFSET_OF\(kmemtrace_event_mark, (\w+), (\d+)\)",
            header, re.M))
        self.assertEqual(
            table[15:],
            [(offsets[name], fields[name], name) for name in fields
             if name not in ("event_id", "event_size")])


if __name__ == "__main__":
    main()
