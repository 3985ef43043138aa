#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""kmemtrace-gate: options, operands, files of rules, and messages."""

import os
import re
import subprocess
import unittest

from gate_case import PROGRAM, SRCDIR, GateCase, run


class Options(GateCase):
    """Options and operands."""

    def refused(self, *args, message, usage=False, **kwargs):
        """Check that a run fails with a message of one line."""
        done = run(*args, **kwargs)
        self.assertEqual((done.returncode, done.stdout), (1, ""), done)
        self.assertTrue(done.stderr.startswith("kmemtrace-gate: "), done)
        self.assertIn(message, done.stderr)
        self.assertEqual("Try 'kmemtrace-gate --help'" in done.stderr, usage)
        self.assertEqual(done.stderr.count("\n"), 2 if usage else 1)

    def test_help_and_manual_agree(self):
        done = run("--help")
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        in_help = set(re.findall(r"(?<![\w-])--([a-z][a-z-]+)", done.stdout))
        path = os.path.join(SRCDIR, "man", "kmemtrace-gate.1")
        with open(path, encoding="utf-8") as f:
            manual = f.read()
        items = re.findall(r"^\.It (Fl .*)$", manual, re.M)
        self.assertEqual(in_help, set(re.findall(r" -([a-z][a-z-]+)",
                                                 "\n".join(items))))
        shorts = set(re.findall(r"^  -(\w),", done.stdout, re.M))
        self.assertEqual(shorts, set(re.findall(r"Fl (\w) ,", manual)))

    def test_many_commas(self):
        """The time for a word grows with its length, not with the square."""
        rules = self.write("rules", "live of " + "," * 400000 +
                           "x does not grow\n")
        self.refused("--check", rules, message="x': expected a kind",
                     timeout=30)

    def test_control_characters(self):
        """Rules do not control the terminal."""
        path = self.live("capture", alpha=64)
        done = self.gate("name\x1b[31m: live by function \"\x1b]0;x\x07\" "
                         "does not grow\n", path, path)
        self.assertEqual(done.returncode, 3, done)
        self.assertNotRegex(done.stdout + done.stderr, "[\x07\x1b]")
        self.assertIn("name?[31m\n", done.stdout)

    def test_pipes(self):
        """A pipe is refused if it would be read a second time, as empty."""
        path = self.live("capture", alpha=64)
        tar = subprocess.run(["tar", "cf", "-", "-C", path, "."], check=True,
                             capture_output=True).stdout
        for text, operands, status in (
                ("live does not grow\n", ("-", "--", path), 0),
                ("live does not grow\n", ("-", "--", "-"), 1),
                ("live does not grow\nallocs for cpu 0 does not grow\n",
                 ("-", "--", path), 1)):
            done = subprocess.run([PROGRAM, self.write("rules", text),
                                   *operands], input=tar, check=False,
                                  capture_output=True)
            self.assertEqual(done.returncode, status, done)
            self.assertEqual(b"a pipe can be read only once" in done.stderr,
                             status == 1, done)

    def test_version(self):
        done = run("-V")
        self.assertEqual(done.returncode, 0)
        self.assertRegex(done.stdout, r"^kmemtrace-gate \d+\.\d+\S*\n$")

    def test_examples_of_the_manual(self):
        path = os.path.join(SRCDIR, "man", "kmemtrace-gate.1")
        with open(path, encoding="utf-8") as f:
            text = f.read().split(".Sh RULES")[1]
        examples = text.split(".Bd -literal -offset indent\n")[1].split(
            ".Ed")[0]
        done = run("--check", self.write("rules", examples))
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertEqual(done.stdout.count("\n"), examples.count("\n"))
        self.assertIn("line 1: live at mark:booted, by directory, grows by at "
                      "most 1 % or 64 KiB: --by directory, --time ,booted: "
                      "live grows by at most 1 % of the base or 65536 B\n",
                      done.stdout)

    def test_meaning(self):
        """--check prints all parts of a rule."""
        for rule, meaning in (
                ("live of kmalloc and pages for module a*,b and cpu 0-3 at 2s "
                 "is below 1.5 KiB",
                 "--by (sums of the kinds), --time ,2s, --cpu 0-3, --module a*,b, "
                 "only kmalloc and pages: live is below 1536 B"),
                ("allocs by function x* and cpu per mark:m does not grow",
                 "--by function,cpu, --time (all), --per mark:m, only function "
                 "x*: allocs grows by at most 0"),
                ("frees from 1 to 2 per second at most 10",
                 "--by (sums of the kinds), --time 1,2, --per second: frees is at "
                 "most 10"),
                ("frag grows by at most 2.5 % or 0.5 points",
                 "--by (sums of the kinds), --time (all): frag grows by at most "
                 "2.5 % of the base or 0.5 points"),
                ("live-frag below 7 %",
                 "--by (sums of the kinds), --time (all): live-frag is below 7 %"),
                ("lifetime-p99 by cache stays at most 20 ms",
                 "--by cache, --time (all): lifetime-p99 is at most 20ms"),
                ("no leak candidate by module m",
                 "--by module, --time (all), only module m: no leak candidate")):
            done = run("--check", self.write("rules", rule))
            self.assertEqual((done.stdout, done.stderr),
                             (f"line 1: {rule}: {meaning}\n", ""))

    def test_rules_of_the_recipe(self):
        """docs/continuous-integration.md has a valid file of rules."""
        path = os.path.join(SRCDIR, "docs", "continuous-integration.md")
        with open(path, encoding="utf-8") as f:
            rules = f.read().split("`memory.rules`:\n\n```\n")[1].split("```")[0]
        done = run("--check", self.write("rules", rules))
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertEqual(done.stdout.count("\n"), 6)

    def test_operands(self):
        base = self.live("base", alpha=1)
        rules = self.write("rules", "live does not grow")
        self.refused(message="the file of rules is missing", usage=True)
        self.refused(rules, base, message="-- is missing", usage=True)
        self.refused(rules, "--", base, message="no BASE capture", usage=True)
        self.refused(rules, base, "--", message="no NEW capture", usage=True)
        self.refused("--check", rules, base, "--", base, usage=True,
                     message="--check: not with captures")
        self.refused("--error-rate", "2", rules, base, "--", base, usage=True,
                     message="--error-rate '2': not a number between 0 and 1")
        self.refused("--error-rate=0", rules, base, "--", base, usage=True,
                     message="--error-rate '0'")
        self.refused("--error-rate=nan", rules, base, "--", base, usage=True,
                     message="--error-rate 'nan'")
        self.refused("-lx", rules, base, "--", base, usage=True,
                     message="--lines 'x'")
        self.refused("--nonsense", rules, base, "--", base, usage=True,
                     message="--nonsense")
        self.refused("--jobs", "0x", rules, base, "--", base,
                     message="--jobs '0x'")
        done = run("-q", "--", rules, base, "--", base)
        self.assertEqual(done.returncode, 0, done)

    def test_captures(self):
        base = self.live("base", alpha=1)
        rules = self.write("rules", "live does not grow")
        missing = self.path("missing")
        self.refused(rules, base, "--", missing, message=missing)
        self.refused(rules, missing, "--", base, message=missing)
        self.refused(rules, base, "--", rules, message=rules)

    def test_tar(self):
        base = self.live("base", alpha=1)
        tar = self.path("new.tar")
        self.assertEqual(os.system(f"tar -C {self.dir} -cf {tar} base"), 0)
        done = run(self.write("rules", "live does not grow"), base, "--", tar)
        if "libarchive" not in done.stderr:
            self.assertEqual(done.returncode, 0, done)

    def test_rules(self):
        base = self.live("base", alpha=1)
        missing = self.path("no-rules")
        self.refused(missing, base, "--", base, message=missing)
        for text, message in (
                ("", "the file has no rule"), ("# live\n", "has no rule"),
                ("live does not grow\n\nlive by folder below 3\n",
                 "rules:3: 'folder': expected a dimension"),
                ("a: live below 3\na: live below 4\n",
                 "rules:2: 'a': an earlier rule has the same name"),
                ("live \x1b[2J below 3\n", "rules:1: '?[2J': expected"),
                ("\ufeff\n", "expected")):
            self.refused(self.write("rules", text), base, "--", base,
                         message=message)
        with open(self.path("rules"), "wb") as file:
            file.write(b"live below 3 \xff\n")
        self.refused(self.path("rules"), base, "--", base,
                     message="not text in UTF-8")


class Passes(GateCase):
    """Warnings and rules that share a pass."""

    def test_warnings_once(self):
        base = self.live("base", alpha=1)
        new = self.live("new", alpha=1)
        done = self.gate("live by directory does not grow\n"
                         "live by directory at 5us does not grow\n", base, new)
        self.assertEqual(done.stderr.count("no directory is known"), 2, done)
        self.assertEqual(done.stderr.count(f"warning: {new}: --by"), 1)


if __name__ == "__main__":
    unittest.main()
