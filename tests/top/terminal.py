#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""The screen of kmemtrace-top: losses, raw captures, sizes of the terminal, signals,
and errors, after each of which the terminal must be restored."""

import os
import re
import signal
import struct
import subprocess
import unittest

import mkstream
import stream_parser
import tmux_case
from target import BYTE_ORDER, EMULATED, ORDER
from tmux_case import TmuxCase
from top_case import CHECK, TIMEOUT_S, report, rows_of_report, top

META = f"""meta
    [capture]
    format=1
    abi_version=3
    record_size=64
    byte_order={BYTE_ORDER}
    complete=true
    source=bpf
    kernel_release=6.18.0
"""
# A name that would change the title of the terminal and clear the screen, and one
# whose characters take two columns.
HOSTILE = "evil\x1b]0;title\x07\x1b[2Jname"
FRAME_BYTES = struct.calcsize("<" + stream_parser.FRAME)
WIDE = "\u4e00\u4e8c\u4e09"


def make_text(n, functions=("make_thing", "make_other")):
    """Return a fixture: n objects of 100 bytes of each function, of which every
    second one is freed."""
    lines = [META.rstrip(), "kallsyms"]
    for i, name in enumerate(functions):
        lines.append(f"    {0xffffffff81000000 + i * 256:016x} T {name}")
    lines.append(f"    {0xffffffff81010000:016x} T _etext")
    lines.append(f"cpu 0 {BYTE_ORDER} size=64")
    for i in range(n * len(functions)):
        site = 0xffffffff81000010 + i % len(functions) * 256
        ptr = 0xffff888000000000 + i * 128
        fields = "pid=0 cache=0 flags=0"
        lines.append(f"alloc kmalloc t={i * 10**6} site={site} ptr={ptr} "
                     f"req=100 alloc=128 {fields}")
        if i // len(functions) % 2:
            lines.append(f"free kmalloc t={i * 10**6 + 1} site={site} "
                         f"ptr={ptr} {fields}")
    return "\n".join(lines) + "\n"


def cut(data, n):
    """Cut the rest of a stream after n ticks."""
    at = 0
    while n:
        kind, _, length, _, _ = struct.unpack_from(
            ORDER + stream_parser.FRAME, data, at)
        at += FRAME_BYTES + length + -length % stream_parser.ALIGN
        n -= kind == stream_parser.TICK
    return data[:at], data[at:]


def parts(data, n):
    """Cut a stream after the first n ticks."""
    head = struct.calcsize("<" + stream_parser.HEADER)
    first, rest = cut(data[head:], n)
    return data[:head] + first, rest


class Screens(TmuxCase):
    """What the screen shows."""

    def test_losses(self):
        """The header has the number of lost events."""
        text = make_text(10).replace(
            "free kmalloc", f"lost t={10**6} n=12 since=0\nfree kmalloc", 1)
        for width in (200, 80, 40):
            terminal = self.show_file(self.stream(self.capture(
                text, f"capture{width}")), width=width, height=24)
            terminal.wait_text("LOST: 12")
            self.quit(terminal)

    def test_limit(self):
        """The header names the limit and the allocations beyond it."""
        terminal = self.show_file(self.stream(self.capture(make_text(10))),
                                  "--max-objects=4")
        terminal.wait(lambda lines: re.search(
            r"LIMIT of 4 objects reached: \d+ allocations not tracked",
            "\n".join(lines)), "limit")
        self.quit(terminal)

    def commands(self, *names):
        """Return a stream in which commands have these names."""
        text = make_text(10).replace("_etext\n", "_etext\n" "cpu 1 " +
                                     f"{BYTE_ORDER} size=64\n" + "".join(
            f"record event=1 type=0 size=64 t={i + 5} site=0xffffffff81000010 "
            f"ptr={0xffff888010000000 + i * 64} req=8 alloc=8 pid={i + 7} "
            "cache=0 flags=0\n" for i in range(len(names))))
        directory = self.capture(text)
        with open(os.path.join(directory, "tasks"), "wb") as file:
            file.write(b"# kmemtrace tasks 1\n" + b"".join(
                f"{i + 7} 99 {name}\n".encode()
                for i, name in enumerate(names)))
        return self.stream(directory)

    def test_names(self):
        """A name can neither control the terminal nor shift the columns."""
        terminal = self.show_file(self.commands(HOSTILE, WIDE), "-g", "comm")
        lines = terminal.wait_text(WIDE)
        self.assertNotIn("title", terminal.variable("pane_title"))
        self.assertTrue(any("evil?" in line for line in lines), lines)
        starts = {line.index(name) for line in lines
                  for name in ("COMMAND", "evil", WIDE) if name in line}
        self.assertEqual(len(starts), 1, lines)
        terminal.resize(44, 24)
        terminal.wait(lambda lines: any(
            WIDE in line and len(line) <= 44 for line in lines), "44 columns")
        terminal.keys("Right")
        terminal.wait_no_text(WIDE)
        self.quit(terminal)

    def test_ascii(self):
        """A locale without UTF-8 gets '?' for other characters."""
        terminal = self.show_file(self.commands(WIDE), "-g", "comm",
                                  env={"LC_ALL": "C"})
        terminal.wait_text("???")
        terminal.wait_no_text(WIDE)
        self.quit(terminal)

    def test_sizes(self):
        """Every size of the terminal is usable, or shows a message if it is tiny."""
        terminal = self.show_file(self.stream(self.capture(make_text(10))))
        for width, height in ((40, 24), (40, 10), (20, 5), (80, 24),
                              (300, 50), (25, 8), (60, 20)):
            terminal.resize(width, height)
            terminal.wait(
                lambda lines, height=height: len(lines) == height and
                all(text in "\n".join(lines) for text in
                    ("make_", "lost 0", "CALL SITE", "h help")),
                f"{width}x{height}")
            terminal.keys("k")
            terminal.wait_text("all kinds"[:width - 4])
            terminal.keys("Escape", "Enter")
            terminal.wait_text("Call site")
            terminal.keys("q")
        terminal.resize(12, 3)
        terminal.wait_text("needs 20x5")
        terminal.keys("Down", "Enter", "q")
        terminal.resize(80, 24)
        self.quit(terminal)


class Live(TmuxCase):
    """A stream that continues while the screen is shown."""

    def setUp(self):
        super().setUp()
        self.directory = self.capture(make_text(200))
        self.data = mkstream.convert(self.directory, tick_ns=10**7)
        self.fifo = os.path.join(self.dir, "fifo")
        os.mkfifo(self.fifo)
        self.pipe = None

    def send(self, data):
        """Write a part of the stream to the FIFO."""
        if self.pipe is None:
            self.pipe = open(self.fifo, "wb", buffering=0)
            self.addCleanup(self.close)
        self.pipe.write(data)

    def close(self):
        """End the stream."""
        if self.pipe:
            self.pipe.close()
            self.pipe = None

    def begin(self, *args):
        """Show the first ticks of the stream. Return the terminal and the rest."""
        first, rest = parts(self.data, 5)
        terminal = self.show(f"--read={self.fifo}", "-d", "0.1", *args)
        self.send(first)
        terminal.wait_text("make_thing")
        return terminal, rest

    def test_capture(self):
        """c starts and stops a raw capture, which is correct."""
        terminal, rest = self.begin()
        terminal.keys("c")
        terminal.wait_text("Raw capture in directory: kmemtrace-")
        terminal.keys("C-u")
        terminal.text("raw")
        terminal.keys("Enter")
        terminal.wait_text("c stops it")
        head, rest = cut(rest, 3)
        self.send(head)
        terminal.wait_text("raw: recording")
        head, rest = cut(rest, 3)
        self.send(head)
        terminal.keys("c")
        terminal.wait_text("Raw capture stops")
        head, rest = cut(rest, 3)
        self.send(head)
        terminal.wait_text("raw: complete")
        self.send(rest)
        self.close()
        terminal.wait_text("ENDED")
        terminal.keys("c")
        terminal.wait_text("Cannot record: the trace has ended")
        self.quit(terminal)
        raw = os.path.join(self.dir, "raw")
        run = subprocess.run([CHECK, raw], capture_output=True, text=True,
                             check=False, timeout=TIMEOUT_S)
        self.assertEqual(run.returncode, 0, run.stdout + run.stderr)
        self.assertGreater(report(raw)["kinds"]["kmalloc"]["allocs"], 0)

    def test_capture_fails(self):
        """A directory that cannot be created is reported in the header."""
        terminal, rest = self.begin()
        terminal.keys("c", "C-u")
        terminal.text("/proc/none/raw")
        terminal.keys("Enter")
        head, rest = cut(rest, 3)
        self.send(head)
        terminal.wait_text("raw capture /proc/none/raw failed")
        terminal.keys("c")
        terminal.wait_text("Raw capture in directory")
        terminal.keys("Escape")
        self.quit(terminal)

    def test_pause(self):
        """While paused the figures stay; afterwards they are the newest."""
        terminal, rest = self.begin()
        terminal.keys("u", "Space")
        before = self.table(terminal.wait_text("PAUSED"))
        self.send(rest)
        self.close()
        terminal.keys("d")
        lines = terminal.wait_text("Seconds between updates: 0.1")
        self.assertEqual(self.table(lines), before)
        terminal.keys("Escape", "Space")
        terminal.wait_text("ENDED")
        want = rows_of_report(report(self.directory), "callsite")
        got = self.figures(terminal.screen())
        self.assertEqual({key: row["live_bytes"] for key, row in got.items()},
                         {key: row["live_bytes"] for key, row in want.items()})
        self.quit(terminal)

    def test_signals(self):
        """Each signal that ends the program restores the terminal."""
        for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP,
                       signal.SIGQUIT, signal.SIGSEGV, signal.SIGABRT):
            with self.subTest(number=number):
                self.check_signal(number)

    def check_signal(self, number):
        """Send a signal to the program while its screen is shown."""
        path = self.stream(self.directory, f"stream{int(number)}")
        terminal = self.show(
            f"--read={path}", before="ulimit -c 0; stty -g >before; echo $$ "
            # The handler of the address sanitizer does not end the program.
            ">shell; export ASAN_OPTIONS=${ASAN_OPTIONS-}:handle_segv=0;",
            after="stty -g >after;")
        terminal.wait_text("ENDED")
        self.assertEqual(terminal.variable("alternate_on"), "1")
        os.kill(self.pid(), number)
        terminal.wait_text(f"status {128 + number}.")
        self.check_restored(terminal)
        terminal.close()

    def pid(self):
        """Return the process of kmemtrace-top, a child of the shell."""
        with open(os.path.join(self.dir, "shell"), encoding="ascii") as file:
            shell = file.read().strip()
        path = f"/proc/{shell}/task/{shell}/children"
        with open(path, encoding="ascii") as file:
            pid, = file.read().split()
        return int(pid)

    def check_restored(self, terminal):
        """Check the modes of the terminal, and that the cursor is visible."""
        self.assertEqual(terminal.variable("alternate_on"), "0")
        self.assertEqual(terminal.variable("cursor_flag"), "1")
        self.assertEqual(terminal.variable("keypad_cursor_flag"), "0")
        terminal.wait(lambda _: os.path.exists(os.path.join(self.dir,
                                                            "after")), "after")
        modes = []
        for name in ("before", "after"):
            with open(os.path.join(self.dir, name), encoding="ascii") as file:
                modes.append(file.read())
        self.assertEqual(*modes)
        os.unlink(os.path.join(self.dir, "after"))

    def test_damaged(self):
        """The reason of a failure is printed on the restored terminal."""
        terminal = self.show(f"--read={self.fifo}", "-d", "0.1",
                             before="stty -g >before;",
                             after="stty -g >after;")
        first, rest = parts(self.data, 5)
        self.send(first + rest[:50])
        self.close()
        terminal.wait_text("ENDED")
        self.quit(terminal, 1)
        terminal.wait_text("kmemtrace-top: ")
        self.check_restored(terminal)


class Errors(TmuxCase):
    """Terminals that cannot show a screen."""

    def test_types(self):
        """The message names TERM and -b."""
        path = self.stream(self.capture(make_text(3)))
        for name, message in (("dumb", "cannot move the cursor"),
                              ("no-such-terminal", "is unknown"),
                              ("", "TERM is not set")):
            terminal = self.show(f"--read={path}", height=20,
                                 before=f"export TERM={name};")
            terminal.wait_text("status 1.")
            text = "".join(terminal.screen())
            self.assertIn(message, text)
            self.assertIn("use -b", text)

    def test_no_terminal(self):
        """A pipe needs the batch mode."""
        path = self.stream(self.capture(make_text(3)))
        run = top(f"--read={path}")
        self.assertEqual(run.returncode, 1)
        self.assertIn("standard output is not a terminal: use -b", run.stderr)

    def test_stdin(self):
        """Keys come from the terminal if standard input is the stream."""
        path = self.stream(self.capture(make_text(3)))
        terminal = self.show("--read=-", before=f"cat {path} |")
        terminal.wait_text("ENDED")
        self.quit(terminal)

    def test_suspend(self):
        """ctrl-Z stops the program, and the shell continues it."""
        path = self.stream(self.capture(make_text(3)))
        terminal = self.terminal("exec bash --norc --noprofile -i",
                                 width=100, height=24,
                                 env={"HISTFILE": ""})
        terminal.wait(lambda lines: re.match("bash.*[$#]", lines[0]),
                      "prompt")
        terminal.text(f"{tmux_case.TOP} --read={path}; echo status $?.")
        terminal.keys("Enter")
        terminal.wait_text("ENDED")
        terminal.keys("C-z")
        terminal.wait_text("Stopped")
        self.assertEqual(terminal.variable("alternate_on"), "0")
        terminal.keys("C-l")
        terminal.text("fg")
        terminal.keys("Enter")
        terminal.wait_text("ENDED")
        terminal.keys("q")
        terminal.wait(lambda _: terminal.variable("alternate_on") == "0",
                      "end")


if __name__ == "__main__":
    tmux_case.skip_without_tmux()
    if EMULATED:
        print("the emulator has no signals of terminals")
        raise SystemExit(77)
    unittest.main()
