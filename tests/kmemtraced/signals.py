#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Send every signal to every process of kmemtraced at many moments.  One unit: the
cases share the attacks and both kinds of fake kernels.

After all processes have ended, the kernel is in its previous state: tracefs has no
instance of kmemtraced, tracing is off, and the filter is restored.

    signals.py [TEST...]     KMT_SEED selects the moments
"""

import concurrent.futures
import errno
import fcntl
import os
import pty
import signal
import subprocess
import termios
import time
import unittest

import seeds
from kmemtraced_fake import (CHECK, CHUNK, PROGRAM, RECORD, TIMEOUT_S,
                             TOP_BUILDDIR, Daemon, DaemonTest, acting, main,
                             records, wait_for)
from kmemtraced_tracefs import SOURCE_READY, TracefsTest
from target import EMULATED

REPORT = os.path.join(TOP_BUILDDIR, "report", "kmemtrace-report")
IMPORT = os.path.join(TOP_BUILDDIR, "import", "kmemtrace-import")
# The C library reserves signals 32 and 33.
SIGNALS = [*range(1, 32), signal.SIGRTMIN, signal.SIGRTMIN + 7,
           signal.SIGRTMAX]
if EMULATED:
    # QEMU cannot block the signals of faults, and ends the cleanup process. It
    # delivers SIGRTMIN as signal 32, which the C library reserves.
    LEFT_OUT = (signal.SIGILL, signal.SIGTRAP, signal.SIGBUS, signal.SIGFPE,
                signal.SIGSEGV, signal.SIGRTMIN)
    print(f"emulated: no attacks by signals {[int(n) for n in LEFT_OUT]}")
    SIGNALS = [number for number in SIGNALS if number not in LEFT_OUT]
STOPS = (signal.SIGSTOP, signal.SIGTSTP, signal.SIGTTIN, signal.SIGTTOU)
GUARD = "kmemtrace-guard"
# Steps of the start of kmemtraced, in order.
STEPS = ("its start", "the lock of the directory", "the note",
         "the cleanup process", "the instance", "kmemtrace.meta",
         "it began to record")


def children(pid):
    """Return the child processes of a process: name to pid."""
    found = {}
    try:
        with open(f"/proc/{pid}/task/{pid}/children") as file:
            pids = [int(word) for word in file.read().split()]
        for child in pids:
            with open(f"/proc/{child}/comm") as file:
                found[file.read().strip()] = child
    except OSError:
        pass
    return found


def has_ended(pid):
    """Return whether a process has closed all its files."""
    try:
        with open(f"/proc/{pid}/stat") as file:
            return file.read().rsplit(")", 1)[1].split()[0] in "ZX"
    except OSError:
        return True


def differences(before, after):
    """Return the settings that differ: name to both values."""
    return {name: (before.get(name), after.get(name))
            for name in {*before, *after}
            if before.get(name) != after.get(name)}


def send(pid, number):
    """Send a signal to a process that may have ended."""
    try:
        os.kill(pid, number)
    except ProcessLookupError:
        pass


class Relay(DaemonTest):
    """A kernel with kmemtrace, where tracing is off."""

    def prepare(self):
        """Make the fake kernel; return options of kmemtraced."""
        kernel = self.make_kernel()
        kernel.put("filter", "none\n")
        return ["-F", "size=8"]

    def lock_path(self):
        """Return the file that kmemtraced locks while it works."""
        return os.path.join(self.kernel.path, "enabled")

    def state(self):
        """Return all settings that kmemtraced may change."""
        return {name: self.kernel.get(name) for name in ("enabled", "filter")}


class Ftrace(TracefsTest):
    """A kernel without kmemtrace."""

    def prepare(self):
        """Make the fake kernel; return options of kmemtraced."""
        self.make_tracefs()
        return []

    def lock_path(self):
        """Return the directory that kmemtraced locks while it works."""
        return self.instances

    def state(self):
        """Return all files that kmemtraced may change."""
        found = {}
        for path, _, names in os.walk(self.tracefs):
            found[path] = None
            for name in names:
                with open(os.path.join(path, name)) as file:
                    found[os.path.join(path, name)] = file.read()
        return found


class Attack:
    """A signal that is sent to one kmemtraced at one step."""

    def __init__(self, place, number, target, step):
        self.place = place
        self.number, self.target, self.step = number, target, step
        self.command = target == "command"
        self.killed = []
        self.place.setUp()

    def __str__(self):
        return (f"{type(self.place).__name__}: signal {self.number} to "
                f"{self.target} after {self.step}")

    def wait_step(self, daemon):
        """Wait until kmemtraced has reached the step, by what other processes can
        observe."""
        place = self.place
        if self.step == STEPS[-1]:
            daemon.wait_line("recording")
            return
        notes = place.notes()["KMEMTRACE_RUNDIR"]
        instances = getattr(place, "instances", None)
        reached = {
            STEPS[0]: lambda: True,
            STEPS[1]: lambda: os.path.exists(
                os.path.join(place.out, "kmemtrace.lock")),
            STEPS[2]: lambda: os.path.isdir(notes) and os.listdir(notes),
            STEPS[3]: lambda: GUARD in children(daemon.process.pid),
            # A kernel with kmemtrace has no instance.
            STEPS[4]: lambda: not instances or os.listdir(instances),
            STEPS[5]: lambda: os.path.exists(
                os.path.join(place.out, "kmemtrace.meta"))}[self.step]
        deadline = time.monotonic() + TIMEOUT_S
        while not reached():
            assert time.monotonic() < deadline, f"{self}: not reached"
            assert daemon.process.poll() is None, f"{self}: ended before"
            os.sched_yield()

    def hit(self, daemon):
        """Send the signal; then continue a process that the signal stopped."""
        main_pid = daemon.process.pid
        mine = children(main_pid)
        if self.target == "guard":
            assert GUARD in mine, f"no {GUARD} among {mine}"
        commands = [pid for name, pid in mine.items() if name != GUARD]
        if self.target == "command":
            assert commands, f"no command among {mine}"
        pids = {"main": [main_pid],
                "guard": [mine.get(GUARD)],
                "command": commands,
                "all": [main_pid, *mine.values()]}.get(self.target)
        self.killed = pids if self.number == signal.SIGKILL and pids else []
        if self.target == "group":
            os.killpg(main_pid, self.number)
        for pid in pids or ():
            send(pid, self.number)
        if self.number in STOPS:
            # Continue the shim's child processes too, which are in the same group.
            for pid in (-main_pid, main_pid, *mine.values()):
                send(pid, signal.SIGCONT)

    def settle(self):
        """Wait until the cleanup process, if it exists, has ended.

        A killed process closes its files one by one, so the recovery note can still
        be locked when the kernel's file is not.
        """
        fd = os.open(self.place.lock_path(), os.O_RDONLY)

        def free():
            try:
                fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                return False
            return True
        wait_for(free, f"the cleanup after {self}")
        wait_for(lambda: all(map(has_ended, self.killed)),
                 f"the end of the processes after {self}")
        # Closing does not suffice, because another thread of this test may have
        # forked a child that has not yet executed its program.
        fcntl.flock(fd, fcntl.LOCK_UN)
        os.close(fd)

    def run(self):
        """Return a description of the failure, or None."""
        args = self.place.prepare()
        before = self.place.state()
        command = ["--", "sleep", "1000"] if self.command else []
        daemon = self.place.spawn(*args, *command, shim={},
                                  start_new_session=True)
        try:
            self.wait_step(daemon)
            self.hit(daemon)
            # Most signals end kmemtraced; SIGTERM ends it in any case.
            send(daemon.process.pid, signal.SIGTERM)
            daemon.process.wait(TIMEOUT_S)
            self.settle()
            if self.number == signal.SIGKILL and self.target == "all":
                # No process is left to restore the state, so the next start of any
                # program does.
                Replaced.run_program(self.place, [CHECK, "/nonexistent"])
            after = self.place.state()
        except (AssertionError, subprocess.TimeoutExpired) as error:
            return f"{self}: {error}"
        finally:
            try:
                os.killpg(daemon.process.pid, signal.SIGKILL)
            except ProcessLookupError:
                pass
            daemon.finish()
            self.place.doCleanups()
        if before == after:
            return None
        return f"{self}: {differences(before, after)}"[:600]


class Signals(DaemonTest):
    """Signals to one process, and to all processes at once."""

    def attacks(self, make):
        """Yield attacks with each signal to each process, at once and at a later
        step."""
        rng = seeds.generator(f"the signals to {make.__name__}")
        for number in SIGNALS:
            for target in ("main", "group", "guard", "command", "all"):
                early = (target not in ("guard", "command") and
                         rng.random() < .5)
                yield Attack(make("setUp"), number, target,
                             rng.choice(STEPS[:-1]) if early else STEPS[-1])
        for number in (9, 10, 14, 3):
            for step in STEPS[:-1]:
                yield Attack(make("setUp"), number,
                             rng.choice(("main", "all")), step)

    def check(self, make):
        """Run all attacks, a few at a time."""
        wrong = []
        with concurrent.futures.ThreadPoolExecutor(12) as pool:
            for result in pool.map(Attack.run, self.attacks(make)):
                if result:
                    wrong.append(result)
        self.assertEqual(wrong, [], f"{len(wrong)} attacks left something:\n"
                         + "\n".join(wrong[:20]))

    def test_relay(self):
        self.check(Relay)

    def test_ftrace(self):
        if not SOURCE_READY:
            self.skipTest("built without libtraceevent")
        self.check(Ftrace)


class Ignored(DaemonTest):
    """Signals that were ignored when kmemtraced was started."""

    def start_ignoring(self, *numbers):
        """Start a kmemtraced with ignored signals, as nohup(1) or a shell in the
        background does."""
        self.make_kernel()
        daemon = self.start(preexec_fn=acting(numbers, signal.SIG_IGN))
        self.kernel.feed(0, records(5))
        self.kernel.wait_read()
        return daemon

    def status(self, daemon, field):
        """Return a set of signals from /proc/PID/status."""
        with open(f"/proc/{daemon.process.pid}/status") as file:
            for line in file:
                if line.startswith(field + ":"):
                    return int(line.split()[1], 16)
        raise AssertionError(field)

    def stays_ignored(self, number, daemon):
        """Expect that the signal is neither queued for kmemtraced nor ends it."""
        daemon.signal(number)
        # A signal to another process is delivered before kill() returns.
        bit = 1 << number - 1
        self.assertFalse(self.status(daemon, "ShdPnd") & bit)
        self.assertTrue(self.status(daemon, "SigIgn") & bit)
        self.assertFalse(self.status(daemon, "SigBlk") & bit)
        self.kernel.feed(0, records(5, start=5))
        self.kernel.wait_read()
        self.assertEqual(self.kernel.get("enabled"), "1")
        self.end(daemon)
        self.assertEqual(self.capture().cpu(0), records(10))

    @unittest.skipIf(EMULATED, "/proc/PID/status shows the handlers of QEMU")
    def test_stay_ignored(self):
        for number in (signal.SIGHUP, signal.SIGTERM, signal.SIGQUIT):
            with self.subTest(number):
                self.setUp()
                self.stays_ignored(number, self.start_ignoring(number))

    @unittest.skipIf(EMULATED, "/proc/PID/status shows the handlers of QEMU")
    def test_nohup(self):
        """nohup(1) itself starts kmemtraced."""
        self.make_kernel()
        daemon = Daemon([PROGRAM, *self.args()], program="nohup",
                        stdin=subprocess.DEVNULL)
        self.addCleanup(daemon.process.kill)
        daemon.wait_line("recording")
        self.kernel.feed(0, records(5))
        self.stays_ignored(signal.SIGHUP, daemon)

    def test_interrupt_by_hand(self):
        """A script's 'kmemtraced &' ignores SIGINT from the terminal; kill -INT
        ends the recording."""
        daemon = self.start_ignoring(signal.SIGINT, signal.SIGQUIT)
        self.end(daemon, number=signal.SIGINT)
        self.assertEqual(self.capture()["complete"], "true")

    def test_interrupt_of_the_terminal(self):
        """Ctrl+C does not end a process in the background."""
        self.make_kernel()
        main_fd, other_fd = pty.openpty()
        self.addCleanup(os.close, main_fd)

        def take_terminal():
            os.setsid()
            fcntl.ioctl(other_fd, termios.TIOCSCTTY, 0)
            acting([signal.SIGINT], signal.SIG_IGN)()
        log, lines = self.make_log()
        daemon = self.start(stdin=other_fd,
                            shim={"log": log}, preexec_fn=take_terminal)
        os.close(other_fd)
        os.write(main_fd, b"\x03")
        bit = 1 << signal.SIGINT - 1
        wait_for(lambda: "signal 2" in lines(), "the signal is read")
        self.assertFalse(self.status(daemon, "ShdPnd") & bit)
        self.kernel.feed(0, records(5))
        self.kernel.wait_read()
        self.assertEqual(self.kernel.get("enabled"), "1")
        self.end(daemon, number=signal.SIGTERM)
        self.assertEqual(self.capture().cpu(0), records(5))


class Stopped(DaemonTest):
    """Stop requests that come early or together with other events."""

    def test_while_buffers_are_drained(self):
        """A stop request before tracing is on takes effect."""
        kernel = self.make_kernel(cpus=(0,))
        _, go, shim = self.hang_disk()
        fed = records(2 * CHUNK // RECORD)
        kernel.feed(0, fed)
        daemon = self.spawn(shim=shim)
        self.addCleanup(daemon.process.kill)
        kernel.wait_read()
        # No record is left that an earlier tracing session wrote.
        daemon.signal(signal.SIGTERM)
        daemon.wait_line("writing the buffered records")
        os.write(go, b"x" * 100)
        self.check_end(daemon)

    def test_guard_that_is_stopped(self):
        """kmemtraced does not wait for a stopped cleanup process."""
        self.make_kernel()
        daemon = self.start()
        guard = children(daemon.process.pid)[GUARD]
        os.kill(guard, signal.SIGSTOP)
        self.end(daemon)
        self.assertFalse(os.path.exists(f"/proc/{guard}"))

    def test_guard_has_its_own_session(self):
        self.make_kernel()
        daemon = self.start()
        guard = children(daemon.process.pid)[GUARD]
        self.assertEqual(os.getsid(guard), guard)
        self.assertEqual(os.getpgid(guard), guard)
        self.end(daemon)

    def test_command_that_is_stopped_before_it_begins(self):
        """kmemtraced handles signals while the command has not started."""
        self.make_kernel()
        fifo = os.path.join(self.root, "enable")
        os.mkfifo(fifo)
        daemon = self.spawn("--", "sleep", "1000", start_new_session=True,
                            shim={"on_enable": f"read go <{fifo}"})
        self.addCleanup(daemon.process.kill)
        wait_for(lambda: GUARD in children(daemon.process.pid), "the guard")
        command = [pid for name, pid in children(daemon.process.pid).items()
                   if name != GUARD]
        self.assertEqual(len(command), 1)
        os.kill(command[0], signal.SIGSTOP)
        with open(fifo, "w") as file:
            file.write("go\n")
        daemon.wait_line("recording")
        daemon.signal(signal.SIGTERM)
        os.kill(command[0], signal.SIGCONT)
        self.check_end(daemon, 128 + signal.SIGTERM)


class Replaced:
    """The cleanup process is killed during a recording."""

    def start_and_kill_guard(self, count=1, **shim):
        """Kill the cleanup process count times; return kmemtraced, the new cleanup
        process, and the state before."""
        before = self.state()
        daemon = self.spawn(*self.options, shim=shim)
        self.addCleanup(daemon.process.kill)
        daemon.wait_line("recording")
        for _ in range(count):
            old = children(daemon.process.pid)[GUARD]
            os.kill(old, signal.SIGKILL)
            wait_for(lambda: children(daemon.process.pid).get(GUARD, old)
                     != old, "another cleanup process")
        return daemon, children(daemon.process.pid)[GUARD], before

    @staticmethod
    def kill_both(daemon, guard):
        """Stop both processes first, so that neither acts on the end of the other."""
        for number in (signal.SIGSTOP, signal.SIGKILL):
            for pid in (daemon.process.pid, guard):
                os.kill(pid, number)
        daemon.finish()
        wait_for(lambda: not os.path.exists(f"/proc/{guard}"),
                 "the end of the cleanup process")

    def test_the_next_one_restores(self):
        daemon, guard, before = self.start_and_kill_guard(count=3)
        self.assertNotEqual(self.state(), before)
        daemon.process.kill()
        daemon.finish()
        wait_for(lambda: not os.path.exists(f"/proc/{guard}"), "the cleanup")
        self.assertEqual(self.state(), before)
        self.assertEqual(os.listdir(os.path.join(self.root, "run")), [])

    @unittest.skipIf(EMULATED, "QEMU ignores MADV_DONTFORK")
    def test_inherits_no_buffer(self):
        """An inherited buffer would prevent kmemtraced from removing the instance."""
        daemon, guard, before = self.start_and_kill_guard()
        folder = f"/proc/{guard}/fd"
        paths = {os.readlink(os.path.join(folder, fd))
                 for fd in os.listdir(folder)}
        with open(f"/proc/{guard}/maps") as file:
            paths |= {line.split()[-1] for line in file}
        self.assertEqual([path for path in paths if self.buffer in path], [])
        daemon.signal()
        code, _, err = daemon.finish()
        self.assertEqual(code, 0, err)
        self.assertEqual(self.state(), before)

    def test_both_then_any_program(self):
        """A recovery note lets every program restore the kernel's state."""
        for program in ([REPORT, "/nonexistent"], [CHECK, "/nonexistent"],
                        [IMPORT, "/nonexistent", self.out + "2"],
                        [PROGRAM, "-s", "none", "-D", self.out + "2"]):
            with self.subTest(program[0]):
                daemon, guard, before = self.start_and_kill_guard()
                running = self.state()
                other = self.run_program(program)
                self.assertNotIn("was killed", other)
                self.assertEqual(self.state(), running)
                self.kill_both(daemon, guard)
                self.assertEqual(self.state(), running)
                self.assertIn("warning: " + self.message,
                              self.run_program(program))
                self.assertEqual(self.state(), before)
                # The state is restored only once.
                self.assertNotIn("was killed", self.run_program(program))

    def run_program(self, command):
        """Run a program; return its messages."""
        daemon = Daemon(command[1:], program=command[0], env=self.notes(),
                        shim={"instance": getattr(self, "template", "none")})
        return daemon.finish()[2]


class ReplacedRelay(Replaced, Relay):
    """The cleanup process of a kernel with kmemtrace."""

    buffer = "cpu"
    message = "set "
    mapped = True

    def setUp(self):
        super().setUp()
        self.options = ["-f", *self.prepare()]
        self.buffer = self.kernel.path + "/"

    def test_inherits_no_buffer(self):
        for self.buffer in (".ring-", self.kernel.path + "/cpu"):
            with self.subTest(self.buffer):
                super().test_inherits_no_buffer()

    def test_other_session(self):
        """A session that another program has started since then stays on."""
        self.kernel.put("info", "# session: 7\n")
        daemon, guard, _ = self.start_and_kill_guard()
        self.kill_both(daemon, guard)
        self.kernel.put("info", "# session: 8\n")
        self.assertNotIn("was killed",
                         self.run_program([CHECK, "/nonexistent"]))
        self.assertEqual(self.kernel.get("enabled"), "1")

    def test_other_files(self):
        """Files of other names in the directory of notes are neither read nor
        removed."""
        run = os.path.join(self.root, "run")
        os.makedirs(run, 0o700)
        for name, text in (("passwd", "root:x:0:0"), ("1.2", ""),
                           ("3.4", "[other]\npid=1\n"), ("5.6", "\0" * 99)):
            self.write(os.path.join(run, name), text)
        os.mkfifo(os.path.join(run, "7.8"))
        os.symlink("passwd", os.path.join(run, "9.9"))
        before = sorted(os.listdir(run))
        self.run_program([CHECK, "/nonexistent"])
        self.assertEqual(sorted(os.listdir(run)), before)

    def test_unsafe_place(self):
        """Notes in a directory that others can write to are not read."""
        daemon, guard, _ = self.start_and_kill_guard()
        self.kill_both(daemon, guard)
        run = os.path.join(self.root, "run")
        running = self.state()
        os.chmod(run, 0o777)
        self.run_program([CHECK, "/nonexistent"])
        self.assertEqual(self.state(), running)
        os.chmod(run, 0o700)
        os.rename(run, run + "2")
        os.symlink(run + "2", run)
        self.run_program([CHECK, "/nonexistent"])
        self.assertEqual(self.state(), running)


@unittest.skipUnless(SOURCE_READY, "built without libtraceevent")
class ReplacedFtrace(Replaced, Ftrace):
    """The cleanup process of a kernel without kmemtrace."""

    buffer = "trace_pipe_raw"
    message = "removed the tracefs instance of a killed kmemtraced"

    def setUp(self):
        super().setUp()
        self.options = ["-f", *self.prepare()]

    def test_keeps_no_process_open(self):
        """After kmemtraced has read the task names, it has no directory of /proc
        open."""
        daemon = self.spawn(*self.options)
        self.addCleanup(daemon.process.kill)
        daemon.wait_line("recording")
        folder = f"/proc/{daemon.process.pid}/fd"
        paths = [os.readlink(os.path.join(folder, fd))
                 for fd in os.listdir(folder)]
        self.assertTrue(any(self.tracefs in path for path in paths), paths)
        self.assertEqual([path for path in paths
                          if path.startswith(self.proc)], [])
        daemon.signal()
        self.check_end(daemon)


@unittest.skipUnless(SOURCE_READY, "built without libtraceevent")
class Stale(TracefsTest):
    """kmemtraced and its cleanup process are killed at the same time."""

    def leave(self):
        """Leave an instance whose processes have ended."""
        daemon = self.spawn("-f")
        daemon.wait_line("recording")
        guard = children(daemon.process.pid)[GUARD]
        # A running kmemtraced would start another cleanup process.
        daemon.signal(signal.SIGSTOP)
        for pid in (guard, daemon.process.pid):
            os.kill(pid, signal.SIGKILL)
        daemon.finish()
        self.assertEqual(os.listdir(self.instances), ["kmemtrace"])

    def test_removed_by_the_next(self):
        self.make_tracefs()
        self.leave()
        _, err = self.check_end(self.spawn("-f", "-w", "0.1"))
        self.assertIn("removed the tracefs instance of a killed kmemtraced", err)

    def test_said_when_quiet(self):
        """-q does not suppress messages about changes of the machine's state."""
        self.make_tracefs()
        self.make_kernel()
        self.leave()
        _, _, err = self.run_to_end("-q", "-f", "-s", "relay", "-w", "0.1",
                                    "-r", os.path.join(self.root, "debug"))
        self.assertIn("removed the tracefs instance of a killed kmemtraced", err)

    def test_cannot_be_removed(self):
        """The failure is reported, and the relay source records nevertheless."""
        self.make_tracefs()
        self.make_kernel()
        self.leave()
        code, _, err = self.run_to_end(
            "-q", "-f", "-s", "relay", "-w", "0.1",
            "-r", os.path.join(self.root, "debug"),
            shim={"rmdir_errno": errno.EBUSY})
        self.assertEqual(code, 0, err)
        self.assertIn("cannot remove " + self.instances + "/kmemtrace", err)

    def test_removed_by_any_mode(self):
        """A stale instance is removed even if the relay source records or an error
        occurs."""
        self.make_kernel()
        self.make_tracefs()
        for args in (["-s", "relay", "-w", "0.1"],
                     ["-p", "2147483647"]):
            with self.subTest(args):
                self.leave()
                _, _, err = self.run_to_end(
                    "-f", "-r", os.path.join(self.root, "debug"), *args)
                self.assertIn("removed the tracefs instance of a killed "
                              "kmemtraced", err)
                self.assertEqual(os.listdir(self.instances), [])

    def test_live_one_is_not_stale(self):
        """While one of the two processes exists, running or stopped, it has the
        lock."""
        self.make_tracefs()
        self.make_kernel()
        other = os.path.join(self.root, "other")
        for stopped in ("main", "guard", "both"):
            daemon = self.spawn("-f")
            self.addCleanup(daemon.process.kill)
            daemon.wait_line("recording")
            guard = children(daemon.process.pid)[GUARD]
            if stopped != "main":
                os.kill(guard, signal.SIGSTOP)
            if stopped != "guard":
                daemon.signal(signal.SIGSTOP)
            for args in (["-s", "relay", "-w", "0.1"], ["-w", "0.1"]):
                code, _, err = self.run_to_end(
                    "-f", "-r", os.path.join(self.root, "debug"), *args,
                    *([] if "relay" in args else ["-s", "ftrace"]), out=other)
                self.assertNotIn("removed", err)
                self.assertEqual(code, 0 if "relay" in args else 1, err)
                self.assertEqual(os.listdir(self.instances), ["kmemtrace"])
            for pid in (guard, daemon.process.pid):
                os.kill(pid, signal.SIGCONT)
            daemon.signal()
            self.check_end(daemon)


if __name__ == "__main__":
    main()
