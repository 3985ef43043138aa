#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""kmemtraced --compress is killed, or its disk becomes full, at random points.

KMEMTRACE_RUNS is the number of runs of each kind.  With KMEMTRACE_TMPFS, the test
mounts the disk that becomes full, so the test must run by unshare -m."""

import os
import re
import resource
import signal
import subprocess
import threading
import time

import seeds
from compress_case import CompressTest
from kmemtraced_fake import CHECK, Capture, main, records, wait_for

RUNS = int(os.environ.get("KMEMTRACE_RUNS", "4"))
HAS_TMPFS = "KMEMTRACE_TMPFS" in os.environ
# More than the buffers hold, so that some records are written meanwhile.
TOTAL = 150000
CPUS = (0, 1)


class Feeder(threading.Thread):
    """Feeds the records of all CPUs in pieces of random size."""

    def __init__(self, kernel, fed, generator):
        super().__init__(daemon=True)
        self.kernel = kernel
        self.fed = fed
        self.random = generator
        self.n_bytes = 0
        self.must_end = False

    def run(self):
        n = 0
        while n < TOTAL and not self.must_end:
            piece = min(self.random.randrange(1, 9000), TOTAL - n)
            for cpu in CPUS:
                self.feed(cpu, self.fed[cpu][n * self.kernel.record:
                                             (n + piece) * self.kernel.record])
            n += piece

    def feed(self, cpu, data):
        """Write as much as fits, until there is no reader any more."""
        view = memoryview(data)
        while view and not self.must_end:
            try:
                n = os.write(self.kernel.fifos[cpu], view)
                self.n_bytes += n
                view = view[n:]
            except BlockingIOError:
                time.sleep(0.001)


class Random(CompressTest):
    """Both kinds of accident."""

    @classmethod
    def setUpClass(cls):
        cls.fed = {cpu: records(TOTAL, cpu=cpu) for cpu in CPUS}

    def begin(self, generator, **settings):
        """Start kmemtraced and a feeder."""
        kernel = self.make_kernel(cpus=CPUS)
        daemon = self.start("--compress", **settings)
        for fifo in kernel.fifos.values():
            os.set_blocking(fifo, False)
        feeder = Feeder(kernel, self.fed, generator)
        feeder.start()
        return daemon, feeder

    def saved(self, cpu):
        """Expect that the complete frames have the first records of a CPU; return
        the frames."""
        frames = self.frames(cpu)
        self.assertEqual(frames.records, self.fed[cpu][:len(frames.records)])
        return frames

    def incomplete(self):
        """Expect that the capture is incomplete, and that kmemtrace-check says so;
        return its output."""
        self.assertEqual(Capture(self.out)["complete"], "false")
        checked = subprocess.run([CHECK, self.out], capture_output=True,
                                 text=True, check=False)
        self.assertIn("cut off", checked.stdout + checked.stderr)
        self.assertGreaterEqual(checked.returncode, 0)
        return checked.stdout + checked.stderr

    def kill(self, seed):
        """Kill kmemtraced after a random time, or at a random byte of a file; return
        the bytes of an incomplete frame."""
        super().setUp()
        generator = seeds.random.Random(seed)
        shim = None
        if generator.random() < 0.5:
            shim = {"write_file": "cpu1.out.zst",
                    "write_kill": generator.randrange(150000)}
        daemon, feeder = self.begin(generator, shim=shim)
        feeder.join(generator.random() / 2)
        daemon.signal(signal.SIGKILL)
        feeder.must_end = True
        self.assertEqual(daemon.finish()[0], -signal.SIGKILL)
        feeder.join()
        wait_for(lambda: self.kernel.get("enabled") == "0", "it is cleaned up")
        found = [self.saved(cpu) for cpu in CPUS]
        self.assertFalse(any(frames.table for frames in found))
        self.incomplete()
        return max(frames.rest for frames in found)

    def test_kill(self):
        """All complete frames are readable, and the loss is reported."""
        rests = []
        for seed in seeds.several(RUNS):
            with self.subTest(seed):
                rests.append(self.kill(seed))
            # Close the pipes, whose total size is limited.
            self.doCleanups()
        if seeds.IS_DEFAULT:
            self.assertTrue(any(rests))

    def begin_on_disk(self, generator, limit):
        """Start kmemtraced and a feeder; the disk, or each file, has room for this
        many bytes."""
        if not HAS_TMPFS:
            return self.begin(generator, preexec_fn=lambda: resource.setrlimit(
                resource.RLIMIT_FSIZE, (limit, limit)))
        disk = os.path.join(self.root, "disk")
        os.mkdir(disk)
        subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={2 * limit}",
                        "none", disk], check=True)
        self.addCleanup(subprocess.run, ["umount", disk], check=True)
        self.out = os.path.join(disk, "capture")
        return self.begin(generator)

    def fill(self, seed):
        """Let the disk be full after a random number of bytes; return whether it
        became full."""
        super().setUp()
        generator = seeds.random.Random(seed)
        limit = generator.randrange(40000, 700000)
        daemon, feeder = self.begin_on_disk(generator, limit)
        while feeder.is_alive() and daemon.process.poll() is None:
            time.sleep(0.01)
        feeder.must_end = True
        feeder.join()
        daemon.signal()
        code, _, err = daemon.finish()
        found = [self.saved(cpu) for cpu in CPUS]
        self.assertEqual([frames.rest for frames in found], [0, 0])
        capture = Capture(self.out)
        for cpu, frames in zip(CPUS, found):
            self.assertEqual(int(capture.meta[f"cpu{cpu}"]["bytes"]),
                             len(frames.records))
        if code == 0:
            self.assertTrue(all(frames.table for frames in found))
            return False
        self.assertIn("No space left" if HAS_TMPFS else "File too large", err)
        unsaved, = re.findall(r"\((\d+) bytes of trace were not saved", err)
        self.assertEqual(
            sum(len(frames.records) for frames in found) + int(unsaved),
            feeder.n_bytes - sum(map(self.kernel.unread, CPUS)))
        self.assertFalse(all(frames.table for frames in found))
        self.incomplete()
        return True

    def test_full_disk(self):
        """What fits is saved, and the rest is reported."""
        full = []
        for seed in seeds.several(RUNS):
            with self.subTest(seed):
                full.append(self.fill(seed))
            self.doCleanups()
        if seeds.IS_DEFAULT:
            self.assertTrue(any(full))


if __name__ == "__main__":
    main()
