# SPDX-License-Identifier: GPL-2.0-or-later
"""Write one capture in all forms that the programs accept."""

import io
import json
import os
import shutil
import subprocess
import tarfile
import tempfile
import threading
import time
import unittest

import mkcapture
import seeds

BUILD = os.path.abspath(os.environ.get("top_builddir", "."))
CHECK = os.path.join(BUILD, "check", "kmemtrace-check")
REPORT = os.path.join(BUILD, "report", "kmemtrace-report")
with open(os.path.join(BUILD, "config.h"), encoding="utf-8") as config:
    HAS_ARCHIVES = "#define HAVE_LIBARCHIVE 1" in config.read()
NEEDS_ARCHIVES = unittest.skipUnless(HAS_ARCHIVES, "built without libarchive")
HAS_ZSTD = shutil.which("zstd") is not None
META = ("[capture]\nformat=1\ncomplete=%s\noverruns=0\nkernel_release=6.1.0\n"
        "boot_id=one\n[cpu0]\nnode=0\n[cpu1]\nnode=1\n")
KALLSYMS = "".join(f"ffffffff8100{i:x}000 T function_{i}\n" for i in range(8))
SECOND = 10 ** 9
N = 3000


def run(program, *args, **kwargs):
    """Run a program; return its result as text.  A hang is an error."""
    kwargs.setdefault("stdin", subprocess.DEVNULL)
    return subprocess.run([program, *args], stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, encoding="utf-8",
                          check=False, timeout=60, **kwargs)


def make_events(narrow=False):
    """Return (cpu, fields) in order of time, with every kind of finding."""
    rng = seeds.generator("make_events()")
    base = 0xc0000000 if narrow else 0xffff888000000000
    sites = 0xc1000000 if narrow else 0xffffffff81000000
    live, events, t = {}, [], 0
    for _ in range(N):
        t += rng.randint(2, 10 ** 6)
        cpu = rng.randrange(2)
        ptr = base + 0x1000 * rng.randrange(300)
        site = sites + 0x1000 * rng.randrange(8) + 5
        if ptr in live or rng.random() < .02:
            events.append((cpu, {"event_id": mkcapture.FREE, "t": t,
                                 "type_id": live.pop(ptr, 0), "ptr": ptr,
                                 "site": site, "req": 0, "alloc": 0, "gfp": 0}))
        else:
            live[ptr] = rng.choice([0, 0, 1, 2])
            req = rng.randint(1, 3000)
            events.append((cpu, {
                "event_id": mkcapture.ALLOC, "t": t, "type_id": live[ptr],
                "ptr": ptr, "site": site, "req": req, "gfp": 0xcc0,
                "alloc": req + rng.randint(0, 99),
                "node": rng.choice([-1, -1, 0, 1])}))
    return events


def write(path, data):
    """Write a file."""
    with open(path, "wb") as f:
        f.write(data)
    return path


def zstd(data):
    """Return the data compressed, in frames of several blocks."""
    return b"".join(
        subprocess.run(["zstd", "-q", "-c"], input=data[i:i + 20000],
                       stdout=subprocess.PIPE, check=True).stdout
        for i in range(0, max(len(data), 1), 20000))


class InputCase(unittest.TestCase):
    """A capture in a temporary directory."""

    maxDiff = None

    def setUp(self):
        holder = tempfile.TemporaryDirectory()
        self.addCleanup(holder.cleanup)
        self.dir = holder.name
        self.events = make_events()
        self.plain = self.directory("plain", self.files())
        self.document = self.report(self.plain)

    def files(self, complete="true", order="little"):
        """Return {name: contents} of the files of a capture."""
        files = {"kmemtrace.meta": (META % complete).encode(),
                 "kallsyms": KALLSYMS.encode()}
        for cpu in range(2):
            files[f"cpu{cpu}.out"] = b"".join(
                mkcapture.event(order=order, **fields)
                for c, fields in self.events if c == cpu)
        return files

    def directory(self, name, files):
        """Write a capture; return its path."""
        path = os.path.join(self.dir, name)
        os.mkdir(path)
        for key, data in files.items():
            write(os.path.join(path, key), data)
        return path

    def path(self, name):
        """Return a path in the temporary directory."""
        return os.path.join(self.dir, name)

    def report(self, *args, warning=None, **kwargs):
        """Return the JSON document without the members that contain paths."""
        done = run(REPORT, "--json", *args, **kwargs)
        self.assertEqual(done.returncode, 0, done.stderr)
        if warning is not None:
            self.assertIn(warning, done.stderr)
        else:
            self.assertEqual(done.stderr, "")
        document = json.loads(done.stdout)
        del document["capture"]["directory"], document["capture"]["symbols"]
        return document

    def refused(self, *args, message, program=REPORT, **kwargs):
        """Check that a run fails with a message of one line, or of two if an
        option is wrong."""
        done = run(program, *args, **kwargs)
        self.assertEqual((done.returncode, done.stdout), (1, ""), done)
        self.assertRegex(done.stderr, message)
        self.assertLessEqual(done.stderr.count("\n"), 2)

    def feed(self, path, data, pause=0):
        """Start a thread that writes to a pipe, in steps that are not multiples of
        a record. Return an event that is set once the pipe is open."""
        def feed_it():
            try:
                with open(path, "wb", buffering=0) as f:
                    opened.set()
                    for i in range(0, len(data), 10007):
                        f.write(data[i:i + 10007])
                        time.sleep(pause)
            except BrokenPipeError:  # the program refused the input
                pass
        opened = threading.Event()
        thread = threading.Thread(target=feed_it)
        thread.start()
        self.addCleanup(thread.join)
        return opened

    def tar(self, name, files, mode="w", folder="capture/"):
        """Write a tar; return its path."""
        path = self.path(name)
        with tarfile.open(path, mode) as tar:
            for key, data in files.items():
                info = tarfile.TarInfo(folder + key)
                info.size = len(data)
                tar.addfile(info, io.BytesIO(data))
        return path
