#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Captures from pipes, and operands in different forms, give the same report, or a
message that names what is missing."""

import os
import shutil
import sys
import unittest

import mkcapture
from input_case import CHECK, META, REPORT, SECOND, InputCase, run, write


class Pipes(InputCase):
    """Input that cannot be seeked."""

    def test_named_pipes(self):
        """Tables beside the pipes are used. Writers may be slow."""
        path = self.directory("pipes", {k: v for k, v in self.files().items()
                                        if k[:3] != "cpu"})
        pipes = []
        for cpu in range(2):
            pipes.append(os.path.join(path, f"cpu{cpu}.out"))
            os.mkfifo(pipes[-1])
            self.feed(pipes[-1], self.files()[f"cpu{cpu}.out"], .003)
        self.assertEqual(self.report(*pipes), self.document)

    def test_cut_off(self):
        """A truncated capture is recognized before the end of the pipe, as with
        files."""
        files = self.files(complete="false")
        files["cpu1.out"] = files["cpu1.out"][:-5600]
        document = self.report(self.directory("cut", files),
                               warning="cut off")
        os.rename(self.path("cut"), self.path("whole"))
        path = self.directory("cut", {"kmemtrace.meta":
                                      files["kmemtrace.meta"],
                                      "kallsyms": files["kallsyms"]})
        pipes = [os.path.join(path, f"cpu{c}.out") for c in range(2)]
        for pipe in pipes:
            os.mkfifo(pipe)
            self.feed(pipe, files[os.path.basename(pipe)])
        self.assertEqual(self.report(*pipes, warning="cut off"), document)
        self.assertTrue(document["capture"]["not_exact"])

    def test_stdin(self):
        """Standard input, as - or by its name: a file, a file from its middle, or a
        pipe."""
        data = self.files()["cpu0.out"]
        path = write(self.path("cpu0.out"), data)
        plain = self.report(path, warning="no kallsyms")
        for name in ("-", "/dev/stdin"):
            with open(path, "rb") as f:
                self.assertEqual(self.report(name, stdin=f, warning=""),
                                 plain)
            read, write_end = os.pipe()
            self.feed(f"/proc/self/fd/{write_end}", data).wait()
            os.close(write_end)
            with open(read, "rb") as f:
                self.assertEqual(self.report(name, stdin=f, warning=""),
                                 plain)
        half = write(self.path("half"), data[56 * 700:])
        with open(path, "rb", buffering=0) as f:
            f.read(56 * 700)
            self.assertEqual(self.report("-", stdin=f, warning=""),
                             self.report(half, warning=""))

    def test_sizes_and_orders(self):
        """The format is detected from the first bytes; newer records are longer."""
        for order in ("little", "big"):
            for size in (56, 64, 73):
                data = b"".join(
                    mkcapture.event(order=order, event_size=size, **f) +
                    b"\xee" * (size - 56) for _, f in self.events)
                path = write(self.path("file"), data + b"\1\0")
                pipe = self.path(f"pipe-{order}{size}")
                os.mkfifo(pipe)
                self.feed(pipe, data + b"\1\0", .001)
                document = self.report(pipe, warning="")
                self.assertEqual(document, self.report(path, warning=""))
                self.assertEqual(document["capture"]["record_size"], size)
                self.assertEqual(document["capture"]["byte_order"], order)
                self.assertEqual(document["findings"]["truncated_bytes"], 2)

    def test_some_of_it(self):
        """A stream that ends early or arrives in parts has the same records as a
        file."""
        # Longer than one read.
        data = self.files()["cpu0.out"] + b"".join(
            mkcapture.alloc(100 * SECOND + i, 0x1000 * (i + 1))
            for i in range(9000))
        path = write(self.path("file"), data)
        for option in (["--time", "0,0.3"], ["--windows", "5"], ["--leaks"],
                       ["--time", "peak"], ["--histogram", "lifetime"]):
            pipe = self.path("pipe-" + "".join(option).replace(".", ""))
            os.mkfifo(pipe)
            self.feed(pipe, data)
            self.assertEqual(self.report(*option, pipe, warning=""),
                             self.report(*option, path, warning=""))

    def test_no_pipe(self):
        """An operand that is neither a file nor a pipe."""
        self.refused("/dev/null", message="/dev/null: neither a regular file")
        self.refused("-", message="neither a regular file nor a pipe")
        with open(os.devnull, "rb") as f:
            self.refused("-", stdin=f, message="neither")
        self.refused(self.path("none"), self.plain, message="cannot open")

    def test_twice(self):
        """A pipe that is named twice is read once."""
        pipe = self.path("pipe")
        os.mkfifo(pipe)
        self.feed(pipe, bytes(10 ** 7))
        self.refused(pipe, pipe, message="are the same file")


class Mixed(InputCase):
    """Files of different captures, and times that contradict each other."""

    def records(self, n, order):
        """Return n allocations in the given byte order."""
        return b"".join(mkcapture.event(
            order=order, event_id=mkcapture.ALLOC, t=i, type_id=0,
            ptr=4096 + 8 * i, site=0xffffffff81000000, req=8, alloc=8, gfp=0, node=-1)
                        for i in range(n))

    def test_beginning_of_another(self):
        """The beginning of a file, however long, does not determine the format of
        the rest."""
        other = self.records(1300, "little") + self.records(20000, "big")
        document = self.report(self.directory("one", {"cpu0.out": other}),
                               warning="")
        self.assertEqual(document["findings"]["skipped_records"], 1300)
        self.refused(self.directory("two", {
            "cpu0.out": other, "cpu1.out": self.records(9, "little")}),
                     message="56 bytes in big .*in little .*so they do not")

    def halves(self, one, other):
        """Write one CPU in each of two directories, with the given meta files."""
        files = self.files()
        paths = []
        for i, meta in enumerate((one, other)):
            part = {f"cpu{i}.out": files[f"cpu{i}.out"]}
            if meta is not None:
                part["kmemtrace.meta"] = meta.encode()
            path = self.directory(f"half{i}", part)
            paths.append(os.path.join(path, f"cpu{i}.out"))
        self.addCleanup(lambda: None)
        return paths

    def test_other_boot(self):
        for key, value in (("boot_id", "two"), ("kernel_release", "6.2"),):
            meta = META % "true"
            old = {"boot_id": "one", "kernel_release": "6.1.0"}[key]
            paths = self.halves(meta, meta.replace(f"{key}={old}",
                                                   f"{key}={value}"))
            self.refused(*paths, message=f"do not belong to one capture: {key} .*{old} "
                         f"and {value}")
            for i in range(2):
                shutil.rmtree(self.path(f"half{i}"))

    def test_same_boot(self):
        paths = self.halves(META % "true", META % "true")
        document = self.report(*paths, warning="no kallsyms")
        self.assertEqual(document["kinds"], self.document["kinds"])
        self.assertEqual(document["capture"]["complete"], True)

    def test_unknown_boot(self):
        paths = self.halves(META % "true", None)
        self.report(*paths, warning="it is unknown whether the files belong "
                    "to one capture")

    def test_apart(self):
        """Single files whose times do not overlap."""
        a = write(self.path("a"), mkcapture.alloc(1, 0x1000) +
                  mkcapture.alloc(2, 0x2000))
        b = write(self.path("b"), mkcapture.alloc(SECOND, 0x3000))
        self.report(a, b, warning="is before the first record of")
        done = run(REPORT, a, a)
        self.assertEqual(done.returncode, 1)

    def test_missing_cpu(self):
        record = mkcapture.alloc(1, 0x1000)
        path = self.directory("missing", {"cpu0.out": record,
                                          "cpu2.out": record})
        self.report(path, warning="CPU 1 has no file")
        self.assertIn("CPU 1 has no file", run(CHECK, path).stdout)

    def test_jumps(self):
        """A clock that jumps forwards by hours, or backwards."""
        hour = 3600 * SECOND
        times = [0, 1, 2, 3 * hour, 3 * hour + 1]
        path = self.directory("forward", {
            "cpu0.out": b"".join(mkcapture.alloc(t, 0x1000 + t)
                                 for t in times),
            "cpu1.out": mkcapture.alloc(5, 0x9000)})
        self.report(path, warning="the clock of CPU 0 jumped")
        self.assertIn("between 0 s and 10800 s", run(CHECK, path).stdout)
        for times in ([5, 4 * hour, 6, 7], [9 * hour, 0, 1, 2]):
            path = write(self.path("backward"), b"".join(
                mkcapture.alloc(t, 0x1000 + t) for t in times))
            document = self.report(path, warning="")
            self.assertEqual(
                document["findings"]["unordered_timestamps"], 1)
            done = run(CHECK, path)
            self.assertEqual(done.returncode, 2)
            self.assertRegex(done.stdout, r"time-backwards +1\b")

    def test_large_totals(self):
        """Integers are exact above the range of a double and of a signed integer."""
        for each, n in ((2 ** 53 + 1, 3), (2 ** 62 + 1, 3), (2 ** 64 - 1, 1)):
            path = write(self.path("large"), b"".join(
                mkcapture.alloc(i, 0x1000 * (i + 1), req=each, alloc=each)
                for i in range(n)))
            document = self.report(path, warning="")
            for totals in (document["kinds"]["kmalloc"],
                           document["callsites"][0]):
                for key in ("bytes_requested", "bytes_allocated",
                            "live_bytes_allocated", "peak_bytes_allocated"):
                    self.assertEqual(totals[key], each * n)
            self.assertFalse(document["findings"]["sums_overflowed"])
        path = write(self.path("more"), mkcapture.alloc(
            1, 0x1000, req=2 ** 63, alloc=2 ** 63) + mkcapture.alloc(
                2, 0x2000, req=2 ** 63, alloc=2 ** 63))
        self.assertTrue(self.report(path, warning="")["findings"]
                        ["sums_overflowed"])


if __name__ == "__main__":
    sys.exit(unittest.main())
