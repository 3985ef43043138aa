#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""kmemtraced -- COMMAND: the lifetime, exit status and signals of the command."""

import errno
import fcntl
import os
import pty
import re
import signal
import subprocess
import termios
import unittest

from kmemtraced_fake import (PROGRAM, Capture, Daemon, DaemonTest, acting,
                             main, records, wait_for)
from target import EMULATED

# Says that it has begun, then what a test wants.
LOOP = "while :; do sleep 0.05; done"


class Command(DaemonTest):
    """A command that runs while a fake kernel is recorded."""

    def setUp(self):
        super().setUp()
        self.make_kernel()
        self.flag = os.path.join(self.root, "flag")

    def shell(self, script, *args, **settings):
        """Start a kmemtraced that records a shell script."""
        daemon = self.spawn(*args, "--", "sh", "-c", script, **settings)
        self.addCleanup(daemon.process.kill)
        return daemon

    def wait_flag(self):
        """Wait until the script has created the flag file."""
        wait_for(lambda: os.path.exists(self.flag), "the command")

    def ended(self, daemon, status):
        """Wait for the end and return the output; tracing is off and the capture
        complete."""
        out, err = self.check_end(daemon, status)
        self.assertEqual(self.capture()["complete"], "true")
        return out, err

    def test_exit_status(self):
        for status in (0, 1, 7, 125, 255):
            self.ended(self.shell(f"exit {status}", "-f"), status)

    def test_killed_command(self):
        self.ended(self.shell("kill -9 $$"), 128 + signal.SIGKILL)

    def test_recorded(self):
        """Tracing is on when the command starts, and its events are saved."""
        daemon = self.shell(f"cat {self.kernel.path}/enabled; touch {self.flag};"
                            f" while test -e {self.flag}; do sleep 0.05; done")
        self.wait_flag()
        self.kernel.feed(1, records(1000))
        self.kernel.wait_read()
        os.unlink(self.flag)
        out, err = self.ended(daemon, 0)
        self.assertEqual(out, "1\n")
        self.assertIn("the command's end ends it", err)
        self.assertIn("1000 events", err)
        self.assertIn("kmemtrace-report", err)
        self.assertEqual(self.capture().cpu(1), records(1000))

    def test_options_after_it(self):
        """Options after the command belong to the command."""
        daemon = self.spawn("-q", "--", "echo", "-w", "--", "--help")
        out, _ = self.ended(daemon, 0)
        self.assertEqual(out, "-w -- --help\n")

    def not_started(self, argv, status, text):
        """If the command cannot be started, no capture remains."""
        code, out, err = self.run_to_end("-q", "--", *argv)
        self.assertEqual((code, out), (status, ""))
        self.assertIn(text, err)
        self.assertIn("nothing was recorded", err)
        self.assertFalse(os.path.exists(self.out))
        self.assertEqual(self.kernel.get("enabled"), "0")

    def test_cannot_be_started(self):
        self.not_started(["/nonexistent/program"], 127,
                         "cannot start '/nonexistent/program': No such file")
        self.not_started(["kmemtrace-no-such-program"], 127, "No such file")
        self.write(self.flag, "no program")
        self.not_started([self.flag], 126, "Permission denied")
        self.not_started([self.root], 126, "Permission denied")

    def test_cannot_be_started_while_tracing_is_on(self):
        """The records of a trace from boot are saved."""
        self.kernel.put("enabled", "1\n")
        self.kernel.feed(0, records(9))
        code, _, err = self.run_to_end("-q", "--", "/nonexistent/program")
        self.assertEqual(code, 127)
        self.assertIn("the records of the trace that was on already are saved",
                      err)
        capture = Capture(self.out)
        self.assertEqual(capture.cpu(0), records(9))
        self.assertEqual(capture["complete"], "false")
        self.assertIn("kallsyms", capture.files)
        self.assertEqual(self.kernel.get("enabled"), "0")

    def test_kmemtraced_fails(self):
        """If kmemtraced fails first, the command never runs."""
        self.write(os.path.join(self.root, "cpu0.out"), "old")
        for args, shim in ((["-D", self.root], None),
                           ([], {"enable_errno": errno.ENOMEM}),
                           (["-c", "-s", "relay"], None),
                           (["-w", "x"], None),
                           (["-s", "none"], None)):
            code, out, err = self.run_to_end(*args, "--", "touch", self.flag,
                                             shim=shim)
            self.assertEqual((code, out), (125, ""), err)
            self.assertFalse(os.path.exists(self.flag))
        code, _, err = Daemon(["--"]).finish()
        self.assertEqual(code, 125)
        self.assertIn("no command after '--'", err)

    def test_full_disk(self):
        """A full disk ends the recording but not the command; the exit status
        reports the failure."""
        daemon = self.shell(f"touch {self.flag}; while test -e {self.flag}; do "
                            f"sleep 0.05; done; echo well; exit 3",
                            shim={"write_file": "cpu0.out",
                                  "write_limit": 56 * 512})
        self.wait_flag()
        self.kernel.feed(0, records(5000))
        daemon.wait_line("waiting for the command")
        self.assertEqual(self.kernel.get("enabled"), "0")
        os.unlink(self.flag)
        out, err = self.check_end(daemon, 125)
        self.assertEqual(out, "well\n")
        self.assertIn("No space left on device", err)

    def test_time_that_is_up(self):
        daemon = self.shell(f"touch {self.flag}; while test -e {self.flag}; do "
                            f"sleep 0.05; done; exit 6", "-w", "0.2")
        daemon.wait_line("recording has ended")
        self.wait_flag()
        self.assertEqual(self.kernel.get("enabled"), "0")
        self.assertIsNone(daemon.process.poll())
        os.unlink(self.flag)
        self.ended(daemon, 6)

    def test_signal_is_passed_on(self):
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            daemon = self.shell(
                f"trap 'echo got; exit 9' {number}; touch {self.flag}; {LOOP}",
                "-f", preexec_fn=acting([number]))
            self.wait_flag()
            os.unlink(self.flag)
            daemon.signal(number)
            out, _ = self.ended(daemon, 9)
            self.assertEqual(out, "got\n")

    def test_second_signal(self):
        """A command that ignores the signal continues; the second signal ends the
        recording without it."""
        log, lines = self.make_log()
        clock = self.make_clock()
        daemon = self.shell(f"trap '' TERM; touch {self.flag}; while test -e "
                            f"{self.flag}; do sleep 0.05; done; exit 8",
                            shim={"log": log, "clock": clock})
        self.wait_flag()
        daemon.signal(signal.SIGTERM)
        wait_for(lambda: "kill 15" in lines(), "the signal is passed on")
        daemon.wait_idle()
        self.assertEqual(self.kernel.get("enabled"), "1")
        clock.pass_by(2)
        daemon.signal(signal.SIGTERM)
        daemon.wait_line("waiting for the command")
        self.assertEqual(self.kernel.get("enabled"), "0")
        self.assertEqual(self.capture()["complete"], "true")
        os.unlink(self.flag)
        self.ended(daemon, 8)

    def test_terminal(self):
        """Ctrl+C reaches both processes; the command receives the signal once."""
        main_fd, other_fd = pty.openpty()
        attributes = termios.tcgetattr(other_fd)
        attributes[3] |= termios.ISIG
        termios.tcsetattr(other_fd, termios.TCSANOW, attributes)
        script = (f"trap 'echo got >>{self.flag}.log' INT; touch {self.flag}; "
                  f"while test -e {self.flag}; do sleep 0.05; done; exit 5")
        log, lines = self.make_log()

        def take_terminal():
            acting([signal.SIGINT])()
            os.setsid()
            fcntl.ioctl(other_fd, termios.TIOCSCTTY, 0)

        # pylint: disable=subprocess-popen-preexec-fn
        daemon = self.spawn("-q", "--", "sh", "-c", script, stdin=other_fd,
                            shim={"log": log}, preexec_fn=take_terminal)
        self.addCleanup(daemon.process.kill)
        self.wait_flag()
        os.write(main_fd, b"\x03")
        wait_for(lambda: os.path.exists(self.flag + ".log"), "the command's")
        wait_for(lambda: "signal 2" in lines(), "kmemtraced's")
        os.unlink(self.flag)
        self.ended(daemon, 5)
        with open(self.flag + ".log", encoding="ascii") as file:
            self.assertEqual(file.read(), "got\n")
        self.assertNotIn("kill 2", lines())
        os.close(main_fd)
        os.close(other_fd)

    def test_children_that_stay(self):
        """The recording ends with the command, even if processes that it started
        still run."""
        daemon = self.shell(f"{LOOP} >/dev/null 2>&1 & echo $!; exit 4")
        out, _ = self.ended(daemon, 4)
        # The child process still runs, so kmemtraced has not waited for it.
        os.kill(int(out), signal.SIGKILL)

    def test_killed_kmemtraced(self):
        """The command continues if kmemtraced is killed."""
        daemon = self.shell(f"touch {self.flag}; while test -e {self.flag}; do "
                            f"sleep 0.05; done; touch {self.flag}.after")
        self.wait_flag()
        daemon.signal(signal.SIGKILL)
        daemon.process.wait()
        os.unlink(self.flag)
        wait_for(lambda: os.path.exists(self.flag + ".after"), "the command")

    @unittest.skipIf(EMULATED, "QEMU handles two real-time signals itself")
    def test_inherits(self):
        """The command does not inherit the settings that kmemtraced makes for
        itself."""
        script = ("grep -E '^Sig(Ign|Blk)|^Cpus_allowed:' /proc/self/status; "
                  "ulimit -n; nice; ls /proc/self/fd | wc -l")
        alone = subprocess.run(["sh", "-c", script], capture_output=True,
                               text=True, check=True,
                               restore_signals=True).stdout
        out, _ = self.ended(self.shell(script), 0)
        self.assertEqual(out, alone)

    @unittest.skipIf(EMULATED, "QEMU handles signals that end a process")
    def test_inherits_what_is_ignored(self):
        """The command inherits the signal dispositions that kmemtraced had at its
        start."""
        numbers = (signal.SIGCHLD, signal.SIGPIPE, signal.SIGXFSZ,
                   signal.SIGHUP, signal.SIGUSR1)
        script = "grep -E '^Sig(Ign|Blk):' /proc/self/status"
        ignoring = {"preexec_fn": acting(numbers, signal.SIG_IGN)}
        alone = subprocess.run(["sh", "-c", script], capture_output=True,
                               text=True, check=True, restore_signals=False,
                               **ignoring).stdout
        out, _ = self.ended(self.shell(script, restore_signals=False,
                                       **ignoring), 0)
        self.assertEqual(out, alone)

    def test_child_signal_that_is_ignored(self):
        """With SIGCHLD ignored at the start, kmemtraced still returns the status of
        the command."""
        daemon = self.shell("exit 7", preexec_fn=acting([signal.SIGCHLD],
                                                       signal.SIG_IGN))
        self.ended(daemon, 7)

    def test_third_signal(self):
        """The disk hangs forever: the exit status reports kmemtraced's failure, not
        the command's status."""
        _, _, shim = self.hang_disk()
        clock = self.make_clock()
        daemon = self.shell(f"touch {self.flag}; exec sleep 1000",
                            shim={**shim, "clock": clock})
        self.wait_flag()
        self.kernel.feed(0, records(1100))
        self.kernel.wait_read()
        daemon.signal(signal.SIGTERM)

        def later():
            clock.pass_by(2)
            daemon.signal(signal.SIGCHLD) # wakes kmemtraced, has no other effect
        daemon.wait_line("writing the buffered records", later)
        daemon.signal(signal.SIGTERM)
        daemon.wait_line("no longer waiting for the disk")
        clock.pass_by(2)
        daemon.signal(signal.SIGTERM)
        self.check_end(daemon, 125)

    def test_frozen(self):
        """Records from before the recording are drained first and do not belong to
        the command."""
        self.kernel.feed(0, records(5))
        daemon = self.shell(f"touch {self.flag}")
        _, err = self.check_end(daemon, 125)
        self.assertIn("the command was not started; run it again", err)
        self.assertTrue(re.search("already off: saved", err))
        self.assertFalse(os.path.exists(self.flag))
        self.assertEqual(self.capture().cpu(0), records(5))


if __name__ == "__main__":
    main()
