#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Captures in both byte orders and in older record layouts give the same report."""

import json
import os
import shutil
import sys
import unittest

import mkcapture
from input_case import CHECK, N, REPORT, InputCase, make_events, run, write


class Layouts(InputCase):
    """Record layouts of older kernels."""

    def layout(self, layout, order="little", word=8, start=0):
        """Return the files of the capture in an older layout."""
        files = {}
        for i, (cpu, fields) in enumerate(self.events):
            name = "trace" if layout == "D" else f"cpu{cpu}.out"
            files[name] = files.get(name, b"") + mkcapture.older(
                layout, dict(fields, order=order), cpu, i + start, word)
        return files

    def alone(self, narrow=False):
        """Return the cpu files alone, in layout B."""
        self.events = make_events(narrow)
        files = {k: v for k, v in self.files().items() if k[:3] == "cpu"}
        return self.report(self.directory("alone", files), warning="")

    def same(self, document, plain, layout, order="little"):
        """Expect equal reports, except for the name of the layout."""
        self.assertEqual(document["capture"]["layout"], layout)
        self.assertEqual(document["capture"]["byte_order"], order)
        for d in (document, plain):
            for key in ("layout", "byte_order", "record_size"):
                d["capture"].pop(key, None)
        self.assertEqual(document, plain)

    def operands(self, name, files):
        """Write files and return their paths as operands."""
        path = self.directory(name, files)
        return [os.path.join(path, f) for f in files]

    def test_a(self):
        plain = self.alone()
        for order in ("little", "big"):
            path = self.directory(order, self.layout("A", order))
            self.same(self.report(path, warning=""), plain, "A", order)
            self.same(self.report("--layout", "a", path, warning=""), plain,
                      "A", order)
            done = run(CHECK, path)
            self.assertIn("Converted from layout A", done.stdout)
            self.assertEqual(done.returncode,
                             run(CHECK, self.path("alone")).returncode)

    def test_d(self):
        """Layout D has one file for all CPUs and the word size of the machine."""
        for order in ("little", "big"):
            for word in (8, 4):
                plain = self.alone(word == 4)
                shutil.rmtree(self.path("alone"))
                path, = self.operands(f"{order}{word}",
                                      self.layout("D", order, word))
                self.same(self.report(path, warning=""), plain, "D", order)
                self.same(self.report("--layout=D", path, warning=""), plain,
                          "D", order)
                pipe = path + "-pipe"
                os.mkfifo(pipe)
                with open(path, "rb") as f:
                    self.feed(pipe, f.read())
                self.same(self.report(pipe, warning=""), plain, "D", order)

    def test_c(self):
        """Layout C has sequence numbers and no times."""
        plain = self.alone()
        for order in ("little", "big"):
            for start in (0, 2 ** 32 - N // 2):
                path = self.directory(f"{order}{start}",
                                      self.layout("C", order, start=start))
                done = self.report(path, warning="")
                expected = json.loads(json.dumps(plain))
                expected["capture"]["first_timestamp"] = None
                expected["capture"]["last_timestamp"] = None
                for totals in [*expected["kinds"].values(),
                               *expected["callsites"]]:
                    totals["peak_timestamp"] = None
                self.same(done, expected, "C", order)
                for option in (["--time", "0,1"], ["--windows", "3"],
                               ["--leaks"], ["--lifetime", "1ms-2ms"],
                               ["--fields", "lifetime-median"]):
                    self.refused(*option, path, message="have no time")
                text = run(REPORT, path).stdout
                self.assertIn("the records have no time", text)
                self.assertNotIn("peak at", text)
                done = run(CHECK, path)
                self.assertEqual(done.returncode, run(
                    CHECK, self.path("alone")).returncode, done)

    def test_broken(self):
        """After a damaged record, the start of the next record is unknown."""
        for layout in ("C", "D"):
            files = self.layout(layout)
            name, data = files.popitem()
            part = data[:24 * 900]
            path = write(self.path(layout), part + bytes(100) + data)
            done = run(REPORT, "--json", "--layout", layout, path)
            self.assertEqual(done.returncode, 0, done)
            self.assertIn(f"no record of layout {layout} at offset",
                          done.stderr, name)
            self.assertEqual(run(CHECK, "--layout", layout,
                                 path).returncode, 2)

    def test_truncated(self):
        for layout, rest in (("A", 17), ("C", 17), ("D", 0)):
            files = self.layout(layout)
            path, = self.operands("cut" + layout, {
                "x": list(files.values())[0] + b"\0\0\x30\0" * 4 + b"\0"
                if layout == "C" else
                list(files.values())[0] + b"\0\0\x38\0" * 4 + b"\0"})
            document = self.report(path, warning="")
            self.assertEqual(document["findings"]["truncated_bytes"], rest)
            self.assertEqual(bool(rest), "within a record" not in
                             str(document["warnings"]))
            self.assertEqual(run(CHECK, path).returncode, 2)

    def test_damaged_beginning(self):
        """A damaged beginning is accepted only if the layout is given as an option."""
        for order in ("little", "big"):
            files = self.layout("A", order)
            size = len(mkcapture.older("A", {}))
            for number in (0, 3):
                data = bytearray(files["cpu0.out"])
                data[size * number:size * (number + 1)] = b"\xee" * size
                path = write(self.path(f"{order}{number}"), bytes(data))
                done = run(REPORT, "--json", "--layout", "A", path)
                self.assertEqual(done.returncode, 0, done.stderr)
                capture = json.loads(done.stdout)["capture"]
                self.assertEqual((capture["layout"], capture["byte_order"]),
                                 ("A", order))
                done = run(REPORT, "--json", path)
                self.assertTrue(done.returncode or json.loads(
                    done.stdout)["capture"]["layout"] != "A", done)

    def test_wrong(self):
        for program in (REPORT, CHECK):
            self.refused("--layout", "E", self.plain, program=program,
                         message="--layout 'E'.*A, B, C and D")
            for layout in "ACD":
                self.refused("--layout", layout, self.plain, program=program,
                             message=f"not begin with records of .*{layout}")
        self.assertEqual(self.report("--layout", "B", self.plain),
                         self.document)
        self.refused("--layout", "C", self.directory("a", self.layout("A")),
                     message="not begin with records of layout C")

    def test_mixed(self):
        a, b = self.layout("A"), self.files()
        path = self.directory("mixed", {"cpu0.out": a["cpu0.out"],
                                        "cpu1.out": b["cpu1.out"]})
        self.refused(path, message="of layout A .* of 56 bytes .* one capture at a time")


class Narrow(InputCase):
    """A 32-bit machine, whose pointers are zero-extended."""

    def test_symbols(self):
        self.events = make_events(True)
        files = self.files(order="big")
        files["kallsyms"] = "".join(
            f"c100{i:x}000 T narrow_{i}\n" for i in range(8)).encode()
        document = self.report(self.directory("narrow", files))
        names = {site["symbol"] for site in document["callsites"]}
        self.assertEqual(names, {f"narrow_{i}+0x5" for i in range(8)})


if __name__ == "__main__":
    sys.exit(unittest.main())
