#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""kmemtrace-import -f: the old capture stays until the new one is complete."""

import os
import signal
import subprocess
import sys
import time
from resource import RLIMIT_CORE, RLIMIT_FSIZE, setrlimit

from files import contents
from import_case import PROGRAM, ImportTest, lacks, main
from import_events import Event
from perf_files import perf_data, perf_sample


def kfree(n):
    """Return n samples of kfree."""
    return b"".join(perf_sample(Event("kfree", 0, t, {
        "call_site": 0xffffffff81000000, "ptr": t << 8}))
        for t in range(1, n + 1))


class Force(ImportTest):
    """Import into a directory that has a capture."""

    def setUp(self):
        super().setUp()
        self.imported(self.write("old.data", perf_data(kfree(5))))
        self.old = contents(self.out)
        self.new = self.write("new.data", perf_data(kfree(3000)))

    def fails(self, path, words, **settings):
        """Expect a failure that leaves the old capture and no other file."""
        result = self.run_import(path, "-f", **settings)
        self.assertEqual(result.returncode, 1, result.stdout)
        self.assertIn(words, result.stderr)
        self.assertEqual(contents(self.out), self.old)

    def test_replaced(self):
        self.imported(self.new, "-f")
        self.assertEqual(len(self.records(0)), 3000)
        self.assertEqual(contents(self.out).keys(), self.old.keys())

    def test_into_the_current_directory(self):
        subprocess.run([os.path.abspath(PROGRAM), "-fq", self.new, "."],
                       cwd=self.out, check=True)
        self.assertEqual(len(self.records(0)), 3000)

    def test_bad_input(self):
        self.fails(self.path("missing"), "No such file")
        self.fails(self.write("empty", b""), "it is empty")
        with open(self.new, "rb") as file:
            data = file.read()
        self.fails(self.write("cut", data[:len(data) // 2]), "cannot import")
        other = perf_sample(Event("mm_page_free_batched", 0, 1, {"pfn": 1}))
        self.fails(self.write("other", perf_data(other)), "no memory event")

    def test_full_disk(self):
        self.fails(self.new, "File too large", preexec_fn=lambda: setrlimit(
            RLIMIT_FSIZE, (65536, 65536)))

    def test_stdout_that_is_full(self):
        with open("/dev/full", "w", encoding="ascii") as full:
            done = subprocess.run([PROGRAM, "-f", self.new, self.out],
                                  stdout=full, stderr=subprocess.PIPE,
                                  check=False)
        self.assertEqual(done.returncode, 1)
        self.assertEqual(contents(self.out), self.old)

    def start_waiting(self, **settings):
        """Start an import that has locked the directory and waits for its input."""
        pipe = self.path("pipe")
        if not os.path.exists(pipe):
            os.mkfifo(pipe)
        process = subprocess.Popen([PROGRAM, "-f", pipe, self.out],
                                   stderr=subprocess.PIPE, **settings)
        self.addCleanup(process.kill)
        self.addCleanup(process.stderr.close)
        lock = os.path.join(self.out, "kmemtrace.lock")
        deadline = time.monotonic() + 60
        while not self.is_waiting(process.pid) or not os.path.exists(lock):
            self.assertLess(time.monotonic(), deadline)
            time.sleep(0.005)
        return process

    @staticmethod
    def is_waiting(pid):
        """Return whether the import has a worker process that sleeps."""
        with open(f"/proc/{pid}/task/{pid}/children",
                  encoding="ascii") as file:
            children = file.read().split()
        if not children:
            return False
        with open(f"/proc/{children[0]}/stat", encoding="ascii") as file:
            return file.read().rsplit(")", 1)[1].split()[0] == "S"

    def test_signals(self):
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP,
                       signal.SIGQUIT):
            with self.subTest(signal=number):
                process = self.start_waiting(preexec_fn=lambda: setrlimit(
                    RLIMIT_CORE, (0, 0)))
                process.send_signal(number)
                self.assertEqual(process.wait(60), -number)
                self.assertEqual(contents(self.out), self.old)

    def test_ignored_signals(self):
        """A signal that is ignored on entry stays ignored."""
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP,
                       signal.SIGQUIT):
            with self.subTest(signal=number):
                # pylint: disable-next=cell-var-from-loop
                process = self.start_waiting(preexec_fn=lambda: signal.signal(
                    number, signal.SIG_IGN))
                process.send_signal(number)
                # The input has no known format, so the import fails.
                pipe = os.open(self.path("pipe"), os.O_WRONLY | os.O_NONBLOCK)
                os.write(pipe, b"no input of any kind")
                os.close(pipe)
                self.assertEqual(process.wait(60), 1)
                self.assertEqual(contents(self.out), self.old)

    def test_ignored_sigchld(self):
        """The exit status of the reader is available nevertheless."""
        result = self.run_import(self.new, "-f", preexec_fn=lambda: (
            signal.signal(signal.SIGCHLD, signal.SIG_IGN)))
        self.assertEqual((result.returncode, result.stderr), (0, ""))
        self.assertEqual(len(self.records(0)), 3000)

    def test_killed(self):
        """The next run removes the incomplete capture, even if that run fails."""
        process = self.start_waiting()
        process.kill()
        process.wait(60)
        found = sorted(os.listdir(self.out))
        self.assertEqual(found, sorted([*self.old, "kmemtrace.lock",
                                        "kmemtrace.new-1"]))
        deadline = time.monotonic() + 60
        while "kmemtrace.new-1" in os.listdir(self.out):
            self.run_import(self.path("missing"), "-f")
            self.assertLess(time.monotonic(), deadline)
        self.assertEqual(contents(self.out), self.old)

    def test_two_at_once(self):
        process = self.start_waiting()
        result = self.run_import(self.new, "-f")
        self.assertEqual(result.returncode, 1)
        self.assertIn(f"process {process.pid} writes to the directory",
                      result.stderr)
        process.send_signal(signal.SIGTERM)
        process.wait(60)
        self.assertEqual(contents(self.out), self.old)

    def test_files_of_the_user(self):
        for name in self.old:
            os.unlink(os.path.join(self.out, name))
        with open(os.path.join(self.out, "tasks"), "wb") as file:
            file.write(b"mine")
        self.old = {"tasks": b"mine"}
        self.fails(self.new, "tasks exists and does not belong to a capture")


if __name__ == "__main__":
    if lacks("libtraceevent", b"PERFILE2" + bytes(200)):
        sys.exit(77)
    main()
