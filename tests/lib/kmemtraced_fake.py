# SPDX-License-Identifier: GPL-2.0-or-later
"""A fake kernel for kmemtraced: a directory with the files of its debugfs.

A cpu file is a FIFO that the test keeps open.  It can be polled, returns the
records that the test wrote, and then EAGAIN.  tests/kmemtraced/shim.c simulates
the reaction of the kernel to control files, where a test needs it.
"""

import configparser
import fcntl
import os
import re
import select
import shutil
import signal
import struct
import subprocess
import tempfile
import termios
import time
import unittest

import mkcapture
from target import BYTE_ORDER, ORDER, pack

TOP_BUILDDIR = os.path.abspath(os.environ.get("top_builddir", "."))
PROGRAM = os.path.join(TOP_BUILDDIR, "kmemtraced", "kmemtraced")
CHECK = os.path.join(TOP_BUILDDIR, "check", "kmemtrace-check")
SHIM = os.path.join(TOP_BUILDDIR, "tests", "kmemtraced", "shim.so")
RECORD = 56
RECORD_V2 = 64
CHUNK = 28672
PIPE_BYTES = 1 << 20
# Limit in seconds for a program that hangs.
TIMEOUT_S = 60

# The tests expect captures of root.
for variable in "SUDO_UID", "SUDO_GID":
    os.environ.pop(variable, None)

def acting(numbers, action=signal.SIG_DFL):
    """Return a preexec_fn that sets the action of signals."""
    def act():
        for number in numbers:
            signal.signal(number, action)
    return act


def records(n, start=0, cpu=0):
    """Return n different records of version 1."""
    return b"".join(
        mkcapture.alloc(1000 + start + i,
                        0xffff888000000000 + (cpu << 32) + (start + i) * 64,
                        order=BYTE_ORDER)
        for i in range(n))


def records_v2(n, start=0, **fields):
    """Return n different records of version 2."""
    return b"".join(
        mkcapture.event_v2(t=1000 + i, ptr=0xffff888000000000 + i * 64, pid=i,
                           cache=7, type_id=mkcapture.CACHE, order=BYTE_ORDER,
                           **fields)
        for i in range(start, start + n))


def wait_for(condition, what):
    """Poll until condition() is true."""
    deadline = time.monotonic() + TIMEOUT_S
    while not condition():
        if time.monotonic() > deadline:
            raise AssertionError(f"waited in vain: {what}")
        time.sleep(0.005)


class FakeDebugfs:
    """The files of debugfs; cpus: the CPUs with a file from the start."""

    def __init__(self, root, cpus=(0, 1), enabled=0, abi_version=1,
                 record=None):
        self.mount = os.path.join(root, "debug")
        self.path = os.path.join(self.mount, "kmemtrace")
        self.fifos = {}
        self.consumed = {}
        self.overruns = {}
        os.makedirs(self.path)
        self.record = record or (RECORD if abi_version == 1 else RECORD_V2)
        if record:
            self.put("record_size", f"{record}\n")
        self.put("abi_version", f"{abi_version}\n")
        self.put("enabled", f"{enabled}\n")
        self.put("subbufs", "20\n")
        self.put("mode", "discard\n")
        self.put("subbuf_size", f"{8192 * self.record}\n")
        self.put("total_overruns", "0\n")
        self.put("consumed", "")
        self.put("overruns", "")
        for cpu in cpus:
            self.add_cpu(cpu)

    def put(self, name, text):
        """Write the text of a file."""
        with open(os.path.join(self.path, name), "w") as file:
            file.write(text)

    def remove(self, name):
        """Remove a file that older kernels lack."""
        os.unlink(os.path.join(self.path, name))

    def get(self, name):
        """Return the text of a file."""
        with open(os.path.join(self.path, name)) as file:
            return file.read().strip()

    def add_cpu(self, cpu, name=None):
        """Add the file of a CPU that comes online for the first time."""
        hidden = os.path.join(self.path, f".cpu{cpu}")
        os.mkfifo(hidden)
        self.fifos[cpu] = os.open(hidden, os.O_RDWR)
        fcntl.fcntl(self.fifos[cpu], fcntl.F_SETPIPE_SZ, PIPE_BYTES)
        os.rename(hidden, os.path.join(self.path, name or f"cpu{cpu}"))
        self.set_overruns({**self.overruns, cpu: 0})
        self.set_consumed({**self.consumed, cpu: 0})

    def set_overruns(self, overruns):
        """Set the number of lost events of each CPU."""
        self.overruns = overruns
        self.put("total_overruns", f"{sum(overruns.values())}\n")
        self.put("overruns", self.lines(overruns))

    def set_consumed(self, consumed):
        """Set the number of bytes that readers consumed, for each CPU."""
        self.consumed = consumed
        self.put("consumed", self.lines(consumed))

    @staticmethod
    def lines(table):
        """Return the text of a file with a line for each CPU."""
        return "".join(f"cpu{cpu} {n}\n" for cpu, n in table.items())

    def feed(self, cpu, data):
        """Write records of a CPU; block while the FIFO is full."""
        view = memoryview(data)
        while view:
            view = view[os.write(self.fifos[cpu], view):]

    def unread(self, cpu):
        """Return the number of bytes that no reader has consumed."""
        n = fcntl.ioctl(self.fifos[cpu], termios.FIONREAD, b"\0" * 4)
        return struct.unpack("i", n)[0]

    def wait_read(self):
        """Wait until kmemtraced has consumed all records."""
        wait_for(lambda: not any(map(self.unread, self.fifos)),
                 "all that was fed is read")

    def hang_up(self, cpu):
        """Remove the file of a CPU while it is read."""
        os.close(self.fifos.pop(cpu))

    def replace_buffer(self, cpu):
        """Start a new generation of a buffer, as after a change of its size."""
        with open(os.path.join(self.path, f".ring-cpu{cpu}"), "r+b") as file:
            generation, = struct.unpack(ORDER + "Q", file.read(8))
            file.seek(0)
            file.write(pack("Q", generation + 1))

    def lose(self, cpu, events, since, timestamp):
        """Report overwritten records before the next ones."""
        self.put(f".lost-cpu{cpu}", f"{events} {since} {timestamp}\n")

    def ring(self, cpu):
        """Return the released and the written bytes of the mapped buffer."""
        with open(os.path.join(self.path, f".ring-cpu{cpu}"), "rb") as file:
            return struct.unpack(ORDER + "8xQQ", file.read(24))

    def close(self):
        """Close the FIFOs."""
        for cpu in list(self.fifos):
            self.hang_up(cpu)


class Capture:
    """The directory that kmemtraced wrote."""

    def __init__(self, path):
        self.path = path
        self.files = sorted(os.listdir(path))
        self.meta = configparser.ConfigParser(interpolation=None)
        self.meta.read(os.path.join(path, "kmemtrace.meta"))

    def read(self, name):
        """Return the bytes of a file."""
        with open(os.path.join(self.path, name), "rb") as file:
            return file.read()

    def cpu(self, cpu):
        """Return the bytes of cpu<n>.out."""
        return self.read(f"cpu{cpu}.out")

    def __getitem__(self, key):
        return self.meta["capture"][key]


class Clock:
    """The clock of a kmemtraced, which only pass_by() advances."""

    def __init__(self, path):
        self.path = path
        self.seconds = 0
        self.pass_by(0)

    def pass_by(self, seconds):
        """Advance the clock."""
        self.seconds += seconds
        with open(self.path + ".new", "w") as file:
            file.write(f"{self.seconds}\n")
        os.rename(self.path + ".new", self.path)

    def __str__(self):
        return self.path


class Daemon:
    """A running kmemtraced."""

    def __init__(self, args, shim=None, program=PROGRAM, env=None, **popen):
        env = dict(os.environ, LC_ALL="C.UTF-8", **(env or {}))
        if shim is not None:
            env.update({f"SHIM_{key.upper()}": str(value)
                        for key, value in shim.items()})
            # The dynamic linker ignores a library that does not exist.
            assert os.path.exists(SHIM), SHIM
            env["LD_PRELOAD"] = SHIM
            # AddressSanitizer expects to be the first library; a preloaded shim is
            # permitted.
            env["ASAN_OPTIONS"] = env.get("ASAN_OPTIONS", "") + \
                ":verify_asan_link_order=0"
        popen.setdefault("stdout", subprocess.PIPE)
        popen.setdefault("stderr", subprocess.PIPE)
        self.process = subprocess.Popen([program, *args], env=env, **popen)
        self.early = b""

    def wait_line(self, pattern, meanwhile=None):
        """Read stderr until it matches; return the text that was read. meanwhile is
        called from time to time."""
        stream = self.process.stderr
        deadline = time.monotonic() + TIMEOUT_S
        while not re.search(pattern, self.early.decode()):
            if time.monotonic() > deadline:
                raise AssertionError(f"no {pattern!r} in {self.early!r}")
            if not select.select([stream], [], [], 0.05)[0]:
                if meanwhile:
                    meanwhile()
                continue
            block = os.read(stream.fileno(), 4096)
            if not block:
                raise AssertionError(f"no {pattern!r} in {self.early!r}")
            self.early += block
        return self.early.decode()

    def wait_idle(self):
        """Wait until all threads sleep.

        A thread becomes runnable as soon as its event occurs, such as data in a
        FIFO. When all threads sleep, they have handled all events so far."""
        folder = f"/proc/{self.process.pid}/task"

        def sleep():
            for thread in os.listdir(folder):
                with open(f"{folder}/{thread}/stat") as file:
                    if file.read().rsplit(")", 1)[1].split()[0] != "S":
                        return False
            return True
        wait_for(sleep, "all threads sleep")

    def signal(self, number=signal.SIGINT):
        """Send a signal, SIGINT by default."""
        self.process.send_signal(number)

    def finish(self):
        """Wait for the end; return exit status, stdout and stderr."""
        try:
            out, err = self.process.communicate(timeout=TIMEOUT_S)
        except subprocess.TimeoutExpired:
            self.process.kill()
            raise
        return (self.process.returncode, (out or b"").decode(),
                (self.early + (err or b"")).decode())


class DaemonTest(unittest.TestCase):
    """A fake kernel, a fake /proc, and a temporary directory."""

    KALLSYMS = ("ffffffff81000000 T _text\n"
                "ffffffff81000040 t start_here\n")
    BOOT_ID = "01234567-89ab-cdef-0123-456789abcdef"
    MODULES = "ext4 983040 1 - Live 0xffffffffc0200000\n"
    # Whether the cpu files can be mapped, as on a real kernel.
    mapped = False

    def setUp(self):
        self.root = tempfile.mkdtemp(prefix="kmemtraced-")
        self.addCleanup(shutil.rmtree, self.root, ignore_errors=True)
        self.out = os.path.join(self.root, "capture")
        self.proc = os.path.join(self.root, "proc")
        self.sys = os.path.join(self.root, "sys")
        os.makedirs(self.proc)
        self.write(os.path.join(self.proc, "kallsyms"), self.KALLSYMS)
        self.write(os.path.join(self.proc, "modules"), self.MODULES)
        self.write(os.path.join(self.proc, "meminfo"),
                   "MemTotal:  4096 kB\nSlab:       1234 kB\nPercpu: 5 kB\n")
        os.makedirs(os.path.join(self.proc, "sys/kernel/random"))
        self.write(os.path.join(self.proc, "sys/kernel/random/boot_id"),
                   self.BOOT_ID + "\n")
        for cpu, node in ((0, 0), (1, 1)):
            os.makedirs(os.path.join(self.sys, "devices/system/cpu",
                                     f"cpu{cpu}", f"node{node}"))
        os.makedirs(os.path.join(self.sys, "kernel"))
        self.write(os.path.join(self.sys, "kernel/notes"),
                   pack("III4s4s", 4, 4, 7, b"XYZ\0", b"\1\2\3\4") +
                   pack("III4s5sxxx", 4, 5, 3, b"GNU\0",
                        b"\xde\xad\xbe\xef\x01"))
        self.kernel = None

    @staticmethod
    def write(path, content):
        """Write a file."""
        mode = "wb" if isinstance(content, bytes) else "w"
        with open(path, mode) as file:
            file.write(content)

    @classmethod
    def replace(cls, path, content):
        """Write a file so that no reader sees it empty or incomplete."""
        cls.write(path + ".new", content)
        os.replace(path + ".new", path)

    def make_kernel(self, **settings):
        """Make the fake debugfs of this test."""
        self.kernel = FakeDebugfs(self.root, **settings)
        self.addCleanup(self.kernel.close)
        return self.kernel

    def args(self, *more, out=None):
        """Return the options that select the fake kernel."""
        return ["-r", os.path.join(self.root, "debug"), "-D", out or self.out,
                "--proc", self.proc, "--sys", self.sys, *more]

    def spawn(self, *more, out=None, **settings):
        """Start a kmemtraced; it may fail to record."""
        if self.mapped:
            settings["shim"] = {"map": 1, **(settings.get("shim") or {})}
        settings["env"] = {**self.notes(), **(settings.get("env") or {})}
        daemon = Daemon(self.args(*more, out=out), **settings)
        # A failed test must not leave kmemtraced running.
        self.addCleanup(daemon.process.kill)
        return daemon

    def notes(self):
        """Return an environment that selects this test's directory of recovery
        notes."""
        return {"KMEMTRACE_RUNDIR": os.path.join(self.root, "run")}

    def start(self, *more, out=None, **settings):
        """Start a kmemtraced and wait until it records."""
        daemon = self.spawn(*more, out=out, **settings)
        daemon.wait_line("recording")
        return daemon

    def make_clock(self):
        """Return a clock for the shim."""
        return Clock(os.path.join(self.root, "clock"))

    def make_log(self):
        """Make a log for the shim; return its path and a function that reads
        it."""
        path = os.path.join(self.root, "log")
        self.write(path, "")

        def lines():
            with open(path) as file:
                return file.read().splitlines()
        return path, lines

    def hang_disk(self):
        """Make each write to cpu0.out wait for a byte. Return the FIFO, a
        descriptor to write to it, and the settings of the shim."""
        fifo = os.path.join(self.root, "go")
        os.mkfifo(fifo)
        go = os.open(fifo, os.O_RDWR)
        self.addCleanup(os.close, go)
        return fifo, go, {"write_file": "cpu0.out", "write_wait": fifo}

    def run_to_end(self, *more, **settings):
        """Run a kmemtraced that exits without a signal."""
        return self.spawn(*more, **settings).finish()

    def end(self, daemon, status=0, number=signal.SIGINT):
        """Stop a kmemtraced after it read all; return stdout and stderr."""
        self.kernel.wait_read()
        daemon.signal(number)
        return self.check_end(daemon, status)

    def check_end(self, daemon, status=0):
        """Wait for the end of a kmemtraced; return stdout and stderr."""
        code, out, err = daemon.finish()
        self.assertEqual(code, status, err)
        if daemon.process.returncode >= 0:
            self.assertEqual(self.kernel.get("enabled"), "0")
        return out, err

    def capture(self):
        """Return the capture, which kmemtrace-check must find consistent."""
        capture = Capture(self.out)
        checked = subprocess.run([CHECK, self.out], capture_output=True,
                                 text=True)
        self.assertEqual(checked.returncode, 0,
                         checked.stdout + checked.stderr)
        for name in capture.files:
            if name.endswith(".out"):
                record = self.kernel.record if self.kernel else 64
                self.assertEqual(len(capture.read(name)) % record, 0, name)
        return capture


def main():
    """Run the tests of a file."""
    unittest.main(verbosity=2)
