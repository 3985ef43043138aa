#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Captures of zstd frames are read as uncompressed ones, and a damaged frame costs
only its own records."""

import json
import os
import struct
import subprocess
import sys
import unittest

import mkcapture
import zstd_frames
from input_case import (BUILD, CHECK, HAS_ZSTD, N, NEEDS_ARCHIVES, REPORT,
                        InputCase, run, write)
from target import EMULATED

with open(os.path.join(BUILD, "config.h"), encoding="utf-8") as config:
    HAS_LIBZSTD = "#define HAVE_LIBZSTD 1" in config.read()
SIZE = mkcapture.BASE_SIZE
# Memory that a program may need for a small file of any content, without a sanitizer.
MEMORY = 100 << 20
USUAL = (("--jobs", "3", "--json"),)
REPORTS = USUAL + (
    ("--jobs", "1"), ("--leaks", "--json"), ("--windows", "7", "--json"),
    ("--time", "0.2,0.5"), ("--advise",), ("--cross-cpu", "--json"),
    ("--by", "stack", "--folded"))


def compressed(data):
    """Return one compressed frame with the content size in its header."""
    return subprocess.run(["zstd", "-q", "-c", f"--stream-size={len(data)}"],
                          input=data, stdout=subprocess.PIPE, check=True).stdout


def has_sanitizer():
    """Return whether AddressSanitizer is linked, which needs memory of its own."""
    with open(REPORT, "rb") as f:
        return b"__asan_init" in f.read()


@unittest.skipUnless(HAS_LIBZSTD, "built without libzstd")
class Frames(InputCase):
    """Files as kmemtraced and kmemtrace-import compress them."""

    def packed(self, name, pack, files=None):
        """Write a capture whose cpu files are pack(content)."""
        return self.directory(name, {
            k + ".zst" * (k[:3] == "cpu"): pack(v) if k[:3] == "cpu" else v
            for k, v in (files or self.files()).items()})

    def outputs(self, path, reports):
        """Return the outputs of the programs without the paths."""
        found = []
        for program, options in ([(REPORT, o) for o in reports] +
                                 [(CHECK, ()), (CHECK, ("--json",))]):
            done = run(program, *options, path)
            found.append([options, done.returncode] + [
                text.replace(".out.zst", ".out").replace(path, "")
                for text in (done.stdout, done.stderr)])
        return found

    def same(self, path, plain=None, reports=USUAL):
        """Expect the outputs of a capture that is not compressed."""
        for one, other in zip(self.outputs(path, reports),
                              self.outputs(plain or self.plain, reports)):
            self.assertEqual(one, other)

    def test_sizes_of_frames(self):
        """Any number of records in a frame, with and without skippable frames."""
        for records in (1, 17, 5000):
            self.same(self.packed(
                str(records), lambda data: zstd_frames.frames(
                    data, records * SIZE, padding=records > 1)),
                reports=REPORTS if records == 17 else USUAL)
        self.same(self.packed("bare", lambda data: zstd_frames.frames(
            data, 99 * SIZE, padding=False, table=False)))
        # Frames without content, and a frame that is skipped, at each position.
        other = zstd_frames.frame(b"") + zstd_frames.skippable(b"x" * 99, 7)
        self.same(self.packed("other", lambda data: other + other.join(
            zstd_frames.frame(data[i:i + 700 * SIZE])
            for i in range(0, len(data), 700 * SIZE)) + other))

    @unittest.skipUnless(HAS_ZSTD, "no zstd")
    def test_compressed(self):
        for checksum in ("--check", "--no-check"):
            self.same(self.packed("c" + checksum, lambda data: zstd_frames.frames(
                data, 300 * SIZE, compressed)))

    def test_any_order(self):
        """The capture is no stream: nothing is copied to a temporary file."""
        path = self.packed("frames", lambda data: zstd_frames.frames(
            data, 100 * SIZE))
        env = dict(os.environ, TMPDIR=self.path("nowhere"))
        for program, operands in ((CHECK, [path]), (REPORT, ["--advise", path]), (
                CHECK, [os.path.join(path, "cpu0.out.zst")])):
            done = run(program, *operands, env=env)
            self.assertLess(done.returncode, 3)
            self.assertEqual(done.stderr, "")
        # A capture that was cut off is read at its ends first.
        cut = self.packed("cut", lambda data: zstd_frames.frames(
            data, 100 * SIZE), self.files(complete="false"))
        self.same(cut, self.directory("cut-plain", self.files(complete="false")))
        self.assertEqual(run(REPORT, cut, env=env).returncode, 0)

    def test_formats(self):
        """The other byte order, records of version 2, odd records, LOST records."""
        self.same(self.packed("big", lambda data: zstd_frames.frames(
            data, 90 * SIZE), self.files(order="big")),
            self.directory("plain-big", self.files(order="big")))
        meta = self.files()["kmemtrace.meta"].replace(
            b"overruns=0\n", b"abi_version=3\n").replace(b"boot_id=one\n", b"")
        for order in ("little", "big"):
            for stack in (None, 0):
                files = {"kmemtrace.meta": meta, "tasks": b"", "caches": b""}
                for cpu in range(2):
                    records = [mkcapture.event_v2(7, 0, 0, stack, order, **fields)
                               for c, fields in self.events if c == cpu]
                    records.insert(700, mkcapture.lost(
                        self.events[1400][1]["t"], 5, self.events[1390][1]["t"],
                        order, len(records[0])).ljust(len(records[0]), b"\0"))
                    files[f"cpu{cpu}.out"] = b"".join(records)
                name = f"v2-{order}-{stack}"
                self.same(self.packed(name, lambda data, n=len(records[0]):
                                      zstd_frames.frames(data, 64 * n), files),
                          self.directory("plain-" + name, files))

    def test_no_records(self):
        """A CPU without events, and a recording that was killed before a frame."""
        for complete, packed in (("true", zstd_frames.frame(b"") +
                                  zstd_frames.seek_table([(13, 0)])),
                                 ("false", b"")):
            files = self.files(complete)
            files["cpu1.out"] = b""
            self.same(self.packed("none" + complete, lambda data: (
                zstd_frames.frames(data, 999 * SIZE) if data else packed), files),
                self.directory("plain-none" + complete, files))

    def test_parts_of_records(self):
        """An incomplete record at the end, and frames that end within records or,
        without the byte order in kmemtrace.meta, are smaller than a record."""
        files = self.files()
        files["cpu1.out"] += files["cpu0.out"][:30]
        plain = self.directory("rest", files)
        for i, size in enumerate((100 * SIZE, 100 * SIZE + 1, 99)):
            path = self.packed(f"rest{i}", lambda data: zstd_frames.frames(
                data, size), files)
            self.same(path, plain)
        files = self.files(order="big")
        del files["kmemtrace.meta"]
        self.same(self.packed("small", lambda data: zstd_frames.frames(
            data, 30), files), self.directory("small-plain", files))

    def test_older_layouts(self):
        for layout in "ACD":
            files = {}
            for i, (cpu, fields) in enumerate(self.events):
                name = f"cpu{0 if layout == 'D' else cpu}.out"
                files[name] = files.get(name, b"") + mkcapture.older(
                    layout, fields, cpu, i, 8)
            self.same(self.packed(layout, lambda data: zstd_frames.frames(
                data, 4096), files), self.directory("plain" + layout, files))

    @NEEDS_ARCHIVES
    def test_tars(self):
        files = {k + ".zst" * (k[:3] == "cpu"):
                 zstd_frames.frames(v, 999 * SIZE) if k[:3] == "cpu" else v
                 for k, v in self.files().items()}
        tar = self.tar("c.tar", files)
        self.assertEqual(self.report(tar), self.document)
        with open(tar, "rb") as f:
            data = f.read()
        for size in (len(data), 4096):
            path = write(self.path(f"c{size}.tar.zst"),
                         zstd_frames.frames(data, size))
            self.assertEqual(self.report(path), self.document)
        self.assertEqual(run(CHECK, tar).returncode,
                         run(CHECK, self.plain).returncode)

    # ---- damaged files ----

    def with_cpu1(self, name, packed):
        """Write the capture with the bytes of cpu1.out.zst."""
        files = self.files()
        del files["cpu1.out"]
        return self.directory(name, dict(files, **{"cpu1.out.zst": packed}))

    def pieces(self, size=100):
        """Return the packed frames of CPU 1 and their records, without tables."""
        data = self.files()["cpu1.out"]
        return [(zstd_frames.padded(zstd_frames.frame(part)), len(part) // SIZE)
                for part in (data[i:i + size * SIZE]
                             for i in range(0, len(data), size * SIZE))]

    def events_of(self, path, warning):
        """Return the numbers of usable and unusable records of a damaged capture."""
        done = run(REPORT, "--json", path)
        self.assertEqual(done.returncode, 0, done)
        self.assertRegex(done.stderr, warning)
        document = json.loads(done.stdout)
        self.assertTrue(document["capture"]["not_exact"])
        check = run(CHECK, path)
        self.assertEqual(check.returncode, 2, check)
        self.assertRegex(check.stdout, r"unreadable +1\n")
        text = run(REPORT, path)
        self.assertEqual(text.returncode, 0)
        self.assertIn("DAMAGED PARTS", text.stdout)
        skipped = document["findings"]["skipped_records"]
        return document["capture"]["events"] - skipped, skipped

    def test_cut(self):
        """A file that ends at a frame has the records before, and one that ends in
        a frame also has a defect."""
        pieces = self.pieces(500)
        here = sum(1 for cpu, _ in self.events if cpu == 0)
        packed, n = b"", 0
        for i, (piece, records) in enumerate(pieces):
            if i:
                path = self.with_cpu1(f"at{i}", packed)
                plain = self.files()
                plain["cpu1.out"] = plain["cpu1.out"][:n * SIZE]
                self.same(path, self.directory(f"plain{i}", plain))
                for keep in (1, len(piece) // 2, len(piece) - 1):
                    path = self.with_cpu1(f"in{i}-{keep}", packed + piece[:keep])
                    want = n + records * (keep == len(piece) - 1)
                    self.assertEqual(self.events_of(
                        path, f"no complete frame is in the .* from byte "), (
                            here + want, 0))
            packed += piece
            n += records

    def test_damaged_frame(self):
        """The other frames are read, also behind a part without a header."""
        pieces = self.pieces()
        starts = [sum(len(p) for p, _ in pieces[:i])
                  for i in range(len(pieces))]
        whole = b"".join(p for p, _ in pieces)
        here = sum(1 for cpu, _ in self.events if cpu == 0)
        total = sum(n for _, n in pieces)
        for i in (0, 1, len(pieces) - 1):
            at = starts[i] + 3000
            path = self.with_cpu1(f"content{i}", whole[:at] + bytes(
                [whole[at] ^ 1]) + whole[at + 1:])
            self.assertEqual(self.events_of(
                path, f"cpu1.out.zst cannot be read completely: the frame at byte "
                f"{starts[i]} is damaged.*; damaged frames: 1, with "
                f"{pieces[i][1] * SIZE} bytes of records; .*copy the file again"),
                (here + total - pieces[i][1], pieces[i][1]))
            if not i:
                continue
            for n in (8, 5000):
                path = self.with_cpu1(f"header{i}-{n}", (
                    whole[:starts[i]] + bytes(n) +
                    whole[starts[i] + n:])[:len(whole)])
                self.assertEqual(self.events_of(
                    path, "no complete frame is in the .* from byte "
                    f"{starts[i]} on"), (here + total - pieces[i][1], 0))
        both = bytearray(whole)
        both[starts[2] + 3000] ^= 1
        both[starts[5] + 3000] ^= 1
        self.assertEqual(self.events_of(
            self.with_cpu1("both", bytes(both)), "damaged frames: 2, with 11200"),
            (here + total - 200, 200))

    def test_flipped_bits(self):
        """No flipped bit changes a figure without a warning."""
        data = self.files()["cpu1.out"][:400 * SIZE]
        pack = compressed if HAS_ZSTD else zstd_frames.frame
        whole = zstd_frames.frames(data, 100 * SIZE, pack)
        files = self.files()
        files["cpu1.out"] = data
        good = self.report(self.directory("good", files))
        step = max(len(whole) // (20 if EMULATED else 70), 1)
        for at in [*range(0, 16), *range(16, len(whole), step)]:
            path = self.with_cpu1(f"bit{at}", whole[:at] + bytes(
                [whole[at] ^ 1 << at % 8]) + whole[at + 1:])
            done = run(REPORT, "--json", path)
            self.assertEqual(done.returncode, 0, done)
            document = json.loads(done.stdout)
            del document["capture"]["directory"]
            del document["capture"]["symbols"]
            if document != good:
                self.assertIn("cannot be read", done.stderr, at)
                self.assertEqual(run(CHECK, path).returncode, 2)

    def test_hostile_headers(self):
        """A header that claims much memory, and fields that are not supported."""
        data = self.files()["cpu1.out"]
        first = zstd_frames.frame(data[:100 * SIZE])
        frame = zstd_frames.frame(data[100 * SIZE:200 * SIZE])
        part = data[100 * SIZE:200 * SIZE]
        hostile = {
            "huge": zstd_frames.frame(part, 1 << 60),
            "more": zstd_frames.frame(part, 4 << 20),
            "less": zstd_frames.frame(part, 99 * SIZE),
            "nothing": zstd_frames.frame(part, 0),
            "dictionary": zstd_frames.frame(part, dictionary=77),
            "window": zstd_frames.frame(part, window=0xff),
            "reserved": frame[:4] + bytes([frame[4] | 8]) + frame[5:],
            "checksum": frame[:-1] + bytes([frame[-1] ^ 1]),
            "block": frame[:13] + b"\6" + frame[14:],
            "nested": zstd_frames.frame(frame * 28),
            "skip": struct.pack("<II", zstd_frames.SKIPPABLE, 0xffffffff) + frame,
            "empty": b"".join(zstd_frames.frame(b"") for _ in range(9999)),
            "magic": frame[:4] * 5000,
            "aligned": zstd_frames.padded(first) + b"".join(
                frame[:4].ljust(4096, b"\xff") for _ in range(500)),
            "zeros": zstd_frames.repeated(0, (4 << 20) // SIZE * SIZE) * 300,
        }
        for name, packed in hostile.items():
            for before in (b"", first)[name in ("skip", "empty", "zeros"):]:
                path = self.with_cpu1(f"{name}{len(before)}", before + packed +
                                      zstd_frames.frame(part))
                for program in (REPORT, CHECK):
                    with subprocess.Popen([program, path],
                                          stdout=subprocess.DEVNULL,
                                          stderr=subprocess.PIPE) as child:
                        messages = child.stderr.read()
                        _, status, usage = os.wait4(child.pid, 0)
                        child.returncode = os.waitstatus_to_exitcode(status)
                    self.assertIn(child.returncode, (0, 1, 2), (name, messages))
                    if program == CHECK and name != "empty":
                        self.assertEqual(child.returncode, 2, (name, before))
                    if not has_sanitizer() and not EMULATED:
                        self.assertLess(usage.ru_maxrss << 10, MEMORY, name)


if __name__ == "__main__":
    sys.exit(unittest.main())
