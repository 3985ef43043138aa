#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Output on a terminal: colours, bars, the pager, and the progress."""

import os
import re
import shutil
import signal
import stat
import subprocess
import tempfile
import unittest

import mkcapture
import terminal
from import_events import A, Event
from perf_files import perf_data, perf_sample
from report_case import PROGRAM, SRCDIR, ReportCase
from target import EMULATED

BUILD = os.path.abspath(os.environ.get("top_builddir", "."))
CHECK = os.path.join(BUILD, "check", "kmemtrace-check")
IMPORT = os.path.join(BUILD, "import", "kmemtrace-import")
DAEMON = os.path.join(BUILD, "kmemtraced", "kmemtraced")
GENERATE = os.path.join(BUILD, "bench", "generate")
CLOCK = os.path.join(BUILD, "tests", "lib", "preload-clock.so")
ESCAPE = "\033["
BLOCK = "\u2588"


def piped(*argv, **env):
    """Run a program with its output in pipes."""
    return subprocess.run(argv, capture_output=True, text=True, check=False,
                          env={**os.environ, "TERM": "xterm", **env})


def plain(text):
    """Return the text without colours."""
    return re.sub(r"\033\[[0-9;]*m", "", text)


class Case(ReportCase):
    """Captures, and a pager that marks its lines."""

    def pager(self, body, name="pager"):
        """Write a script; return its path."""
        path = self.write(name, "#!/bin/sh\n" + body)
        os.chmod(path, stat.S_IRWXU)
        return path

    def check_fixture(self, name):
        """Compile a fixture of kmemtrace-check; return its directory."""
        path = os.path.join(self.dir, name)
        mkcapture.compile_fixture(os.path.join(
            SRCDIR, "tests", "check", "fixtures", name + ".txt"), path)
        return path


class Color(Case):
    """--color, NO_COLOR, and TERM."""

    def test_terminal_only(self):
        capture = self.fixture("report-lost")
        status, text = terminal.run([PROGRAM, "--no-pager", capture])
        self.assertEqual(status, 0)
        self.assertIn(ESCAPE, text)
        for extra in ({"NO_COLOR": "1"}, {"TERM": "dumb"}, {"TERM": None}):
            _, text = terminal.run([PROGRAM, "--no-pager", capture], **extra)
            self.assertNotIn(ESCAPE, text, extra)
        _, text = terminal.run([PROGRAM, "--no-pager", "--color=never",
                                capture])
        self.assertNotIn(ESCAPE, text)
        _, text = terminal.run([PROGRAM, "--no-pager", capture], NO_COLOR="")
        self.assertIn(ESCAPE, text)

    def test_always(self):
        """The layout is the same with colours, which have no width."""
        for name in ("report-lost", "report-findings", "report-cgroups"):
            for args in ([], ["--cross-cpu"], ["--histogram", "size"],
                         ["--leaks", "--windows", "4"]):
                capture = self.fixture(name)
                never = piped(PROGRAM, *args, capture)
                always = piped(PROGRAM, "--color=always", *args, capture,
                               NO_COLOR="1")
                self.assertEqual(never.returncode, 0, never)
                self.assertNotIn(ESCAPE, never.stdout)
                self.assertIn(ESCAPE, always.stdout)
                self.assertEqual(plain(always.stdout), never.stdout)
                self.assertEqual(plain(always.stderr), never.stderr)
                shutil.rmtree(capture)

    def test_other_formats(self):
        """JSON, CSV and folded stacks have no colours."""
        capture = self.fixture("report-findings")
        for form in "--json", "--csv", "--folded":
            done = piped(PROGRAM, "--color=always", form, capture)
            self.assertEqual(done.stdout,
                             piped(PROGRAM, form, capture).stdout)

    def test_check(self):
        for name, status in ("clean-64", 0), ("check-many", 2):
            capture = self.check_fixture(name)
            never = piped(CHECK, capture)
            always = piped(CHECK, "--color=always", capture)
            self.assertEqual(never.returncode, status)
            self.assertEqual(always.returncode, status)
            self.assertNotIn(ESCAPE, never.stdout)
            self.assertEqual(plain(always.stdout), never.stdout)
            verdict = always.stdout.splitlines()[-1]
            self.assertTrue(verdict.startswith(
                ESCAPE + ("32m" if status == 0 else "1;31m")), verdict)

    def test_messages(self):
        """Each program prints its errors in colour on a terminal."""
        none = os.path.join(self.dir, "none")
        for program, *args in ((PROGRAM, none), (CHECK, none),
                               (IMPORT, none, self.dir + "/out"),
                               (DAEMON, "-r", none, "-D", self.dir + "/out")):
            name = os.path.basename(program)
            status, text = terminal.run([program, *args])
            self.assertEqual(status, 1)
            self.assertTrue(text.startswith(f"{ESCAPE}1;31m{name}:"), text)
            done = piped(program, "--color=sometimes")
            self.assertEqual(done.returncode, 1)
            self.assertIn("'sometimes' is none of auto, always and never",
                          done.stderr)


class Bars(Case):
    """Bars beside shares."""

    def report(self, *args, **env):
        """Return the report on a terminal, without colours."""
        return plain(terminal.run([PROGRAM, "-q", "--no-pager", *args],
                                  **env)[1])

    @unittest.skipIf(EMULATED, "the emulated system has no UTF-8 locale")
    def test_styles(self):
        capture = self.fixture("report-findings")
        blocks = self.report(capture, LC_ALL="C.UTF-8")
        line = next(x for x in blocks.splitlines() if " 21.9" in x)
        # 21.9 % of 8 columns are 14 eighths.
        self.assertIn(f" 21.9 {BLOCK}\u258a       ", line)
        ascii_bars = self.report(capture, LC_ALL="C")
        self.assertTrue(ascii_bars.isascii())
        self.assertIn(" 21.9 ##        ", ascii_bars)
        self.assertNotIn("##", piped(PROGRAM, capture).stdout)

    @unittest.skipIf(EMULATED, "the emulated system has no UTF-8 locale")
    def test_histogram(self):
        """A histogram has the bars of '#' in a pipe, too."""
        capture = self.fixture("report-summary")
        args = "--histogram", "size", capture
        self.assertIn("##", piped(PROGRAM, *args, LC_ALL="C.UTF-8").stdout)
        self.assertIn(BLOCK, self.report(*args, LC_ALL="C.UTF-8"))

    def test_alignment(self):
        """The bars do not move the columns beside them."""
        capture = self.fixture("report-findings")
        for locale in "C", "C.UTF-8":
            text = self.report(capture, LC_ALL=locale)
            table = text.split("CALL SITES", 1)[1].split("\n\n")[0].split("\n")
            ends = {line.index(" kmalloc ") for line in table
                    if " kmalloc " in line}
            self.assertEqual(len(ends), 1, text)


class Pager(Case):
    """The pager shows the output on a terminal."""

    def test_choice(self):
        capture = self.fixture("report-summary")
        one = self.pager("sed 's/^/ONE /'\n", "one")
        two = self.pager("sed 's/^/TWO /'\n", "two")
        for env, mark in (({"KMEMTRACE_PAGER": one, "PAGER": two}, "ONE "),
                          ({"PAGER": two}, "TWO "),
                          ({"KMEMTRACE_PAGER": "", "PAGER": two}, ""),
                          ({"KMEMTRACE_PAGER": "cat", "PAGER": two}, ""),
                          ({"KMEMTRACE_PAGER": "  ", "PAGER": two}, ""),
                          ({"PAGER": f"A=b {two} | sed 's/^/X /'"}, "X TWO "),
                          ({"PAGER": f" {two}  "}, "TWO "),
                          ({"PAGER": two, "TERM": "dumb"}, "")):
            status, text = terminal.run([PROGRAM, "-q", capture], **env)
            self.assertEqual(status, 0)
            self.assertIn("\n" + mark + "Events: ", "\n" + plain(text), env)
        _, text = terminal.run([PROGRAM, "-q", "--no-pager", capture],
                               PAGER=two)
        self.assertNotIn("TWO", text)
        self.assertNotIn("TWO", piped(PROGRAM, capture, PAGER=two).stdout)

    def test_environment(self):
        """LESS is set for less, unless the user has set it."""
        capture = self.fixture("report-summary")
        pager = self.pager("cat >/dev/null\necho \"LESS=$LESS.\"\n")
        for less, want in (None, "FRX"), ("-S", "-S"):
            _, text = terminal.run([PROGRAM, capture], PAGER=pager, LESS=less)
            self.assertEqual(text.splitlines()[-1], f"LESS={want}.")

    def test_missing(self):
        """A pager that is missing is replaced by plain output."""
        capture = self.fixture("report-summary")
        for name in os.path.join(self.dir, "none"), "A=b none-such -x":
            status, text = terminal.run([PROGRAM, capture], PAGER=name)
            self.assertEqual(status, 0)
            self.assertIn(f"cannot run the pager '{name}'", text)
            self.assertIn("variable PAGER", text)
            self.assertIn("Events: ", text)
        empty = os.path.join(self.dir, "empty")
        os.mkdir(empty)
        status, text = terminal.run([PROGRAM, "-q", capture], PATH=empty)
        self.assertEqual(status, 0)
        self.assertTrue(plain(text).startswith("Capture: "), text)

    def test_quit(self):
        """The user may quit the pager before the end of the output."""
        pager = self.pager("head -n 1\n")
        lines = "".join(f"alloc kmalloc t={i * 1000} site=0x{i:x} "
                        f"ptr=0xffff8880{i:08x} req=8 alloc=8 gfp=0 node=-1\n"
                        for i in range(1, 20000))
        big = self.compiled("cpu 0\n" + lines)
        for args in ["-l0", big], ["--json", big]:
            status, text = terminal.run([PROGRAM, "-q", *args], PAGER=pager)
            self.assertEqual(status, 0, text[-300:])
            self.assertNotIn("cannot write", text)

    def test_status(self):
        """The exit status is that of the program, not of the pager."""
        pager = self.pager("cat\nexit 7\n")
        for name, want in ("check-many", 2), ("clean-64", 0):
            status, text = terminal.run([CHECK, self.check_fixture(name)],
                                        PAGER=pager)
            self.assertEqual(status, want, text)
        status, text = terminal.run([CHECK, "-q",
                                     self.check_fixture("check-tie")],
                                    PAGER=self.pager("echo STARTED", "echo"))
        self.assertEqual((status, text), (0, ""))

    def test_waits(self):
        """The program ends after the pager, which writes slowly."""
        pager = self.pager("cat >/dev/null\nsleep 1\necho LATE\n")
        status, text = terminal.run([PROGRAM, self.fixture("report-summary")],
                                    PAGER=pager)
        self.assertEqual((status, text), (0, "LATE\n"))

    def test_warnings(self):
        """Warnings are part of the pager's text, before the report."""
        capture = self.compiled("cpu 0\nalloc kmalloc t=1 site=0x1 "
                                "ptr=0xffff888000001000 req=8 alloc=8 gfp=0 "
                                "node=-1\n")
        pager = self.pager("sed 's/^/P: /'\n")
        _, text = terminal.run([PROGRAM, capture], PAGER=pager)
        first = plain(text).splitlines()[0]
        self.assertTrue(first.startswith("P: kmemtrace-report: warning: "),
                        text)
        self.assertIn("P: Capture: ", plain(text))
        with tempfile.TemporaryFile("w+") as errors:
            _, text = terminal.run([PROGRAM, capture], PAGER=pager,
                                   files={2: errors})
            errors.seek(0)
            self.assertIn("warning: ", errors.read())
        self.assertNotIn("warning", text)

    def test_error(self):
        """An error message is not shown by the pager."""
        status, text = terminal.run([PROGRAM, os.path.join(self.dir, "none")],
                                    PAGER=self.pager("sed 's/^/P: /'\n"))
        self.assertEqual(status, 1)
        self.assertNotIn("P: ", text)
        self.assertIn("kmemtrace-report:", text)

    def test_signal(self):
        """A program that is interrupted waits for its pager."""
        pager = self.pager("trap '' INT\necho STARTED\ncat >/dev/null\n"
                           "sleep 1\necho LATE\n")
        session = terminal.Session([PROGRAM, self.fixture("report-summary")],
                                   PAGER=pager)
        session.wait_for("STARTED")
        os.kill(session.pid, signal.SIGINT)
        self.assertEqual(session.end(), -signal.SIGINT)
        self.assertIn("LATE", session.text())

    @unittest.skipUnless(shutil.which("less"), "less is not installed")
    def test_less(self):
        """less prints a short text and ends; a long text waits for q."""
        status, text = terminal.run([CHECK, self.check_fixture("clean-64")],
                                    size=(100, 80))
        self.assertEqual(status, 0)
        self.assertIn("No errors.", text)
        session = terminal.Session(
            [CHECK, self.check_fixture("clean-little")], size=(5, 80))
        session.wait_for("Rule")
        self.assertNotIn("No errors.", session.text())
        session.send("q")
        self.assertEqual(session.end(), 0)
        self.assertNotIn("No errors.", session.text())


@unittest.skipIf(EMULATED, "a library cannot be preloaded")
class Progress(Case):
    """The progress of long operations, by a clock that runs faster."""

    def slow(self, program, *args):
        """Run a program on a terminal and with pipes; return both outputs."""
        env = {"LD_PRELOAD": CLOCK, "ASAN_OPTIONS": os.environ.get(
            "ASAN_OPTIONS", "") + ":verify_asan_link_order=0"}
        status, text = terminal.run([program, *args], PAGER="cat", **env)
        self.assertIn(status, (0, 2), text)
        done = piped(program, *args, **env)
        return text, done.stdout + done.stderr

    def check_line(self, text, program, words):
        """The line was drawn, and erased before the other output."""
        line = f"\r{os.path.basename(program)}: "
        self.assertIn(line, text)
        drawn, rest = text.rsplit(line, 1)
        self.assertIn(words, rest[:60])
        self.assertNotIn("\n", drawn)
        self.assertIn(f"events/s{ESCAPE}K\r{ESCAPE}K", rest[:80])

    def test_report_and_check(self):
        capture = os.path.join(self.dir, "big")
        subprocess.run([GENERATE, "-o", capture, "-n", "300k"], check=True,
                       stdout=subprocess.DEVNULL)
        for program, words, *args in ((PROGRAM, "% read, ", "-j1"),
                                      (CHECK, "% checked, ")):
            text, plain_text = self.slow(program, *args, capture)
            self.check_line(text, program, words)
            self.assertNotIn(words, plain_text)
            for text in self.slow(program, *args, "-q", capture):
                self.assertNotIn(words, text)

    def test_unknown_length(self):
        """A pipe has no length."""
        big = os.path.join(self.dir, "big")
        subprocess.run([GENERATE, "-o", big, "-n", "300k"], check=True,
                       stdout=subprocess.DEVNULL)
        text, _ = self.slow("/bin/sh", "-c",
                            f"cat {big}/cpu0.out | exec {PROGRAM} -j1 -")
        self.check_line(text, PROGRAM, " M events read, ")

    def test_import(self):
        data = os.path.join(self.dir, "perf.data")
        with open(data, "wb") as f:
            f.write(perf_data(b"".join(perf_sample(Event("kfree", 0, i, {
                "call_site": A, "ptr": 0xffff888000009000}))
                                       for i in range(1, 20000))))
        out = os.path.join(self.dir, "out")
        _, said = terminal.run([IMPORT, data, out])
        if "built without" in said:
            self.skipTest(said)
        text, plain_text = self.slow(IMPORT, "-f", data, out)
        self.check_line(text, IMPORT, " M events imported, ")
        self.assertNotIn(" M events ", plain_text)
        self.assertIn("kmemtrace-import: 19999 events of 1 CPU", plain_text)
        for text in self.slow(IMPORT, "-f", "-q", data, out):
            self.assertNotIn("imported", text)


if __name__ == "__main__":
    unittest.main()
