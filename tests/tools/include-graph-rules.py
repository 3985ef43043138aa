#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Each rule of include-graph.py finds a violation in a small source tree."""

import os
import subprocess
import sys
import tempfile
import unittest

SCRIPT = os.path.join(os.environ.get("top_srcdir", "."), "tests", "tools",
                      "include-graph.py")
CLEAN = {
    "abi/abi.h": "struct abi_record {\n\tint size;\n};\n",
    "lib/base/hash.h": "typedef struct KmtHash KmtHash;\n",
    "lib/base/hash.c": '#include "lib/base/hash.h"\n'
                       "struct KmtHash {\n\tint seed;\n};\n",
    "lib/input/input.h": '#include "lib/base/hash.h"\n#include "abi.h"\n'
                         "typedef struct KmtHash KmtHash;\n",
    "lib/input/input-private.h": "typedef unsigned int KmtInputId;\n",
    "lib/input/input.c": '#include "input-private.h"\n',
    "lib/match/match.h": '#include "lib/input/input.h"\n',
    "report/main.c": '#include "lib/match/match.h"\n',
    "check/main.c": '#include "lib/input/input.h"\n'
                    '/* #include "report/report.h" */\n',
    "kernel-patches/core/mm/trace.c": "struct abi_record {\n};\n",
}


class Rules(unittest.TestCase):
    """The output of the script for a tree and a list of exceptions."""

    errors = ""

    def check(self, changes, exceptions=""):
        """Return the exit status and the lines for CLEAN with changed files."""
        with tempfile.TemporaryDirectory() as top:
            for name, text in {**CLEAN, **changes}.items():
                path = os.path.join(top, name)
                os.makedirs(os.path.dirname(path), exist_ok=True)
                with open(path, "w", encoding="ascii") as f:
                    f.write(text)
            accepted = os.path.join(top, "list")
            with open(accepted, "w", encoding="ascii") as f:
                f.write("# comment\n" + exceptions)
            done = subprocess.run(
                [sys.executable, SCRIPT, "--top", top, "--exceptions", accepted],
                capture_output=True, text=True, check=False)
        self.errors = done.stderr.replace(top + "/", "")
        return done.returncode, done.stdout.replace(top + "/", "").splitlines()

    def violations(self, *expected, **changes):
        """The changed tree has these violations and no other; a list that accepts
        them silences them."""
        files = {k.replace("__", "/").replace("_c", ".c").replace("_h", ".h"): v
                 for k, v in changes.items()}
        status, lines = self.check(files)
        self.assertEqual(status, 1, lines)
        self.assertEqual([line.split(": ")[:2] for line in lines[:-1]],
                         [e.split(" ")[:2] for e in expected])
        accepted = "".join(f"{' '.join(e.split(' ')[1:])} a reason\n"
                           for e in expected)
        self.assertEqual(self.check(files, accepted)[0], 0)
        self.assertEqual(self.errors, "")

    def test_clean(self):
        """No rule reports what is allowed."""
        self.assertEqual(self.check({}),
                         (0, ["9 files, 1 of the kernel, 0 failures, "
                              "0 exceptions"]))

    def test_direction(self):
        """A library includes a library above it."""
        self.violations(
            "lib/base/hash.h:2 direction lib/base->lib/cli",
            lib__base__hash_h='\n#include "lib/cli/cli.h"\n',
            lib__cli__cli_h="\n")

    def test_program_includes_program(self):
        """A program includes a header of another one."""
        self.violations(
            "check/main.c:1 direction check->report",
            check__main_c='#include "report/report.h"\n',
            report__report_h="\n")

    def test_unknown_folder(self):
        """A folder that the table of allowed includes lacks."""
        self.violations("lib/other/other.c:1 direction lib/other",
                      lib__other__other_c="\n")

    def test_cycle(self):
        """Two folders include each other; one of the two is also a wrong
        direction."""
        self.violations(
            "lib/input/input.h:1 cycle lib/input->lib/match",
            "lib/match/match.h:1 cycle lib/match->lib/input",
            "lib/input/input.h:1 direction lib/input->lib/match",
            lib__input__input_h='#include "lib/match/match.h"\n')

    def test_long_cycle(self):
        """Three folders include each other in a circle."""
        self.violations(
            "lib/capture/meta.h:1 cycle lib/capture->lib/match",
            "lib/input/input.h:1 cycle lib/input->lib/capture",
            "lib/match/match.h:1 cycle lib/match->lib/input",
            "lib/capture/meta.h:1 direction lib/capture->lib/match",
            lib__input__input_h='#include "lib/capture/meta.h"\n',
            lib__capture__meta_h='#include "lib/match/match.h"\n')

    def test_private(self):
        """Another folder includes a private header."""
        self.violations(
            "lib/match/match.h:2 private "
            "lib/match/match.h->lib/input/input-private.h",
            lib__match__match_h='\n#include "lib/input/input-private.h"\n')

    def test_types(self):
        """Two tags, two typedefs, and a tag and a typedef of one name."""
        self.violations("report/main.c:2 type abi_record",
                      report__main_c="\nstruct abi_record {\n};\n")
        self.violations("report/main.c:1 type KmtInputId",
                      report__main_c="typedef char KmtInputId[4];\n")
        self.violations("report/main.c:1 type KmtHash",
                      report__main_c="typedef struct {\n\tint a;\n} KmtHash;\n")
        self.violations("report/main.c:1 type KmtInputId",
                      report__main_c="typedef int (*KmtInputId)(int a);\n")

    def test_files(self):
        """Two files of one name, also in the kernel."""
        self.violations("report/hash.c:1 file hash.c", report__hash_c="\n")
        self.violations("kernel-patches/core/mm/trace.c:1 file trace.c",
                      report__trace_c="\n")

    def test_bad_exceptions(self):
        """An exception that matches no violation is an error, and so is one
        without a reason."""
        status, lines = self.check({}, "type KmtHash a reason\n")
        self.assertEqual((status, lines[0]),
                         (1, "list:2: no violation type KmtHash"))
        self.assertEqual(self.check({}, "type KmtHash\n"), (1, []))
        self.assertEqual(self.errors, "list:2: expected RULE NAME REASON\n")


if __name__ == "__main__":
    unittest.main()
