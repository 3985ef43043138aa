#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""kmemtrace-report: names of call sites."""

import os
import re
import sys
import unittest

from report_case import ReportCase, run, table

ADDRESS = re.compile(r"^0x[0-9a-f]{16}$")


class Names(ReportCase):
    """Functions, modules and addresses."""

    SITES = (0x81000010, 0x81000100, 0x81000101, 0x81000fff, 0x81001000,
             0x81001001, 0x81005010, 0x81006001, 0xa0000020, 0xa0001800,
             0xa0002001, 0xa0004010)
    KALLSYMS = """
0000000000000100 A percpu_thing
ffffffff81000000 T _stext
ffffffff81000000 W weak_alias
ffffffff81000000 t __start_of_it
ffffffff81000000 T _under
ffffffff81000000 T first
ffffffff81000100 T second
ffffffff81001000 T _etext
ffffffff81002000 D some_data
ffffffff81005000 T _sinittext
ffffffff81005000 t init_thing
ffffffff81006000 T _einittext
ffffffffa0000000 t mod_a\t[mod]
ffffffffa0000800 d mod_data\t[mod]
ffffffffa0001000 t mod_b\t[mod]
ffffffffa0004000 t mod_c\t[other]
"""
    MODULES = "mod 8192 0 - Live 0xffffffffa0000000\nbroken line\n"

    def capture(self, kallsyms, modules=MODULES):
        """Make a capture with a call site at each address of SITES."""
        records = "".join(
            f"alloc kmalloc t={i} site=0xffffffff{site:08x} ptr={i * 64 + 64} "
            "req=8 alloc=8\n" for i, site in enumerate(self.SITES))
        path = self.compiled("cpu 0 little\n" + records)
        for name, text in (("kallsyms", kallsyms), ("modules", modules)):
            if text is not None:
                with open(os.path.join(path, name), "w",
                          encoding="utf-8") as f:
                    f.write(text)
        return path

    def names(self, *args):
        """Return the name of each call site."""
        return {int(r["address"], 16) & 0xffffffff: r["symbol"]
                for r in self.report(*args)["callsites"]}

    def test_lookup(self):
        got = self.names(self.capture(self.KALLSYMS))
        self.assertEqual(got, {
            0x81000010: "first+0x10",
            # The site is a return address: the call is the last instruction of
            # 'first'.
            0x81000100: "first+0x100",
            0x81000101: "second+0x1",
            0x81000fff: "second+0xeff",
            0x81001000: "second+0xf00",
            # After _etext, and between the sections: no function.
            0x81001001: None,
            0x81005010: "init_thing+0x10",
            0x81006001: None,
            0xa0000020: "mod_a+0x20 [mod]",
            0xa0001800: "mod_b+0x800 [mod]",
            # After the end of the module, which 'modules' has.
            0xa0002001: None,
            0xa0004010: "mod_c+0x10 [other]"})

    def test_first_symbol(self):
        """Before the first symbol there is no function that could end there."""
        capture = self.compiled("cpu 0 little\nalloc kmalloc t=1 "
                                "site=0xffffffff81000000\n")
        with open(os.path.join(capture, "kallsyms"), "w",
                  encoding="ascii") as f:
            f.write(self.KALLSYMS)
        self.assertEqual(self.names(capture), {0x81000000: "first+0x0"})

    def test_best_of_several_names(self):
        """Strong symbols precede weak ones, functions precede labels of the linker,
        few underscores precede many, and then the first symbol wins. Data
        symbols are ignored."""
        address = "ffffffff81000000"
        symbols = ["T _b", "T _a", "T ___c", "T __stop_xyz", "T __end_xyz",
                   "T __start_xyz", "T __xyz_start", "T __xyz_end",
                   "W weak"]
        for i, symbol in enumerate(symbols):
            # Each round removes the preferred symbol.
            left = symbols[i:]
            want = symbol.split()[1]
            for lines in (left, left[:1] + ["D data"] + left[1:]):
                if i < 3:
                    lines = lines[1:] + lines[:1] if i else lines
                text = "".join(f"{address} {line}\n" for line in lines)
                text += "ffffffff81001000 T end\n"
                got = self.names(self.capture(text))
                self.assertEqual(got[0x81000010], want + "+0x10", lines)

    def test_damaged_lines_are_left_out(self):
        text = self.KALLSYMS.replace(
            "ffffffff81002000 D some_data",
            "ffffffff81000105 T esc\x1b[2J\nffffffff81000105\n\n\0\0\n"
            "12345678901234567 T too_long\nzz T zz\nffffffff81000105 TT two\n"
            "ffffffff81002000 D some_data\r")
        self.assertEqual(self.names(self.capture(text)),
                         self.names(self.capture(self.KALLSYMS)))

    def test_no_modules_file(self):
        got = self.names(self.capture(self.KALLSYMS, modules=None))
        self.assertEqual(got[0xa0002001], "mod_b+0x1001 [mod]")

    def test_text_has_the_names(self):
        text = run("-q", self.capture(self.KALLSYMS)).stdout
        self.assertIn("kmalloc  mod_b+0x800 [mod]\n", text)
        self.assertIn("kmalloc  0xffffffff81001001\n", text)

    def test_raw_ip(self):
        capture = self.capture(self.KALLSYMS)
        self.assertEqual(set(self.names("--raw-ip", capture).values()), {None})
        done = run("--raw-ip", capture)
        self.assertEqual(done.stderr, "")
        for row in table(done.stdout, "CALL SITES"):
            self.assertRegex(row[10], ADDRESS)

    def warned(self, message, *args):
        """Expect success with one warning, which -q suppresses."""
        done = run(*args)
        self.assertEqual(done.returncode, 0)
        self.assertEqual(done.stderr.count("\n"), 1, done.stderr)
        self.assertTrue(done.stderr.startswith("kmemtrace-report: warning: "))
        self.assertIn(message, done.stderr)
        quiet = run("-q", *args)
        self.assertEqual((quiet.returncode, quiet.stderr), (0, ""))
        self.assertEqual(quiet.stdout, done.stdout)
        document = self.report(*args)
        self.assertEqual(len(document["warnings"]), 1)
        self.assertIn(message, document["warnings"][0])
        return done.stdout

    def test_warnings(self):
        zero = re.sub(r"^\w{16}", "0" * 16, self.KALLSYMS.strip(), flags=re.M)
        text = self.warned("kptr_restrict", self.capture(zero))
        for row in table(text, "CALL SITES"):
            self.assertRegex(row[10], ADDRESS)
        self.warned("the capture has no kallsyms that can be read",
                    self.compiled("cpu 0 little\nalloc kmalloc t=1\n", "bare"))
        self.warned("no symbols in", self.capture("nothing\n"))

    def test_kallsyms_option(self):
        capture = self.capture("ffffffff81000000 T captured\n")
        given = self.write("given", self.KALLSYMS)
        got = self.names("--kallsyms", given, capture)
        self.assertEqual(got[0x81000010], "first+0x10")
        # The captured 'modules' still has the end of each module.
        self.assertIsNone(got[0xa0002001])

    def test_system_map(self):
        fits = self.write("System.map", self.KALLSYMS.split(
            "ffffffffa0000000")[0])
        # In the order of nm: the symbols of one address are sorted by name.
        capture = self.capture(self.KALLSYMS)
        got = self.names("--system-map", fits, capture)
        self.assertEqual(got[0x81000010], "first+0x10")
        self.assertIsNone(got[0xa0000020])
        done = run("--system-map", fits, capture)
        self.assertEqual((done.returncode, done.stderr), (0, ""))

    def test_moved_kernel(self):
        moved = self.KALLSYMS.split("ffffffffa0000000")[0].replace(
            "ffffffff81", "ffffffff91")
        system_map = self.write("System.map", moved)
        capture = self.capture(self.KALLSYMS)
        done = run("--system-map", system_map, capture)
        self.assertEqual(done.returncode, 0)
        self.assertIn("_stext was 0xffffffff81000000, not "
                      "0xffffffff91000000", done.stderr)
        self.assertIn("12 of 12 call sites lie in no function", done.stderr)
        # Without a captured kallsyms, only the call sites show that the file does
        # not fit.
        self.warned("12 of 12 call sites lie in no function", "--system-map",
                    system_map, self.capture_without_kallsyms())

    def capture_without_kallsyms(self):
        """As capture(), but without symbol tables."""
        path = self.capture("")
        os.unlink(os.path.join(path, "kallsyms"))
        return path


if __name__ == "__main__":
    sys.exit(unittest.main())
