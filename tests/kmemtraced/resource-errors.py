#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""kmemtraced when the disk is full, when memory is exhausted, and when kmemtraced
is killed."""

import errno
import fcntl
import os
import resource
import shutil
import signal
import unittest

import seeds
from kmemtraced_fake import (CHUNK, PROGRAM, TOP_BUILDDIR, RECORD, RECORD_V2,
                             Capture, DaemonTest, main, records, records_v2,
                             wait_for)

ALLOCATOR = os.path.join(TOP_BUILDDIR, "tests", "lib", "preload-malloc.so")


def has_sanitizer():
    """Return whether the program was built with AddressSanitizer, which replaces
    the allocator."""
    with open(PROGRAM, "rb") as file:
        return b"__asan_init" in file.read()


class Disk(DaemonTest):
    """The disk fails during the recording."""

    def fail(self, shim, fed, *texts, **settings):
        """Record while CPU 1 cannot write its records and CPU 0 can."""
        kernel = self.make_kernel()
        daemon = self.start(shim={"write_file": "cpu1.out", **shim},
                            **settings)
        kernel.feed(0, records(700))
        kernel.feed(1, fed)
        out, err = self.check_end(daemon, status=1)
        for text in texts:
            self.assertIn(text, err)
        capture = self.capture()
        self.assertEqual(capture["complete"], "false")
        self.assertEqual(capture["overruns"], "0")
        self.assertEqual(capture.cpu(0), records(700)[:len(capture.cpu(0))])
        self.assertEqual(capture.cpu(1), fed[:len(capture.cpu(1))])
        self.assertEqual(capture.meta["cpu1"]["bytes"],
                         str(len(capture.cpu(1))))
        self.assertIn(f"kmemtrace-report {self.out}", out)
        return capture, err

    def test_full(self):
        """kmemtraced ends by itself, and the message names the missing bytes."""
        limit = CHUNK + 1000
        fed = records(3 * CHUNK // RECORD)
        capture, err = self.fail(
            {"write_limit": limit}, fed,
            f"cannot write {self.out}/cpu1.out (",
            "No space left on device; make room there")
        whole = limit - limit % RECORD
        self.assertEqual(len(capture.cpu(1)), whole)
        self.assertIn(f"({len(fed) - whole} bytes of trace were not saved)",
                      err)

    def test_full_at_each_place(self):
        """The disk becomes full at each offset within a record or a block."""
        for limit in (0, 1, 55, 56, 57, 4095, 4096, 4097, CHUNK - 1, CHUNK,
                      CHUNK + 1, 2 * CHUNK - 4096):
            with self.subTest(limit):
                self.setUp()
                fed = records(2 * CHUNK // RECORD)
                capture, _ = self.fail({"write_limit": limit}, fed,
                                       "No space left")
                self.assertEqual(len(capture.cpu(1)), limit - limit % RECORD)

    def test_full_for_the_rest(self):
        """The disk has no room for the last write only."""
        kernel = self.make_kernel()
        daemon = self.start(shim={"write_file": "cpu1.out",
                                  "write_limit": CHUNK + 60})
        kernel.feed(1, records(CHUNK // RECORD + 10))
        _, err = self.end(daemon, status=1)
        self.assertIn(f"({9 * RECORD} bytes of trace were not saved)", err)
        self.assertEqual(self.capture().cpu(1), records(CHUNK // RECORD + 1))

    def test_full_and_much_more_to_come(self):
        """kmemtraced drains the kernel's buffers; otherwise the next run would
        treat the records as a trace that was left for it."""
        kernel = self.make_kernel()
        more = records(MANY_MORE)
        self.write(os.path.join(self.root, "more"), more)
        daemon = self.start(shim={
            "write_file": "cpu1.out", "write_limit": 0,
            "on_disable": f"cat {self.root}/more > {kernel.path}/cpu1"})
        kernel.feed(1, records(2 * CHUNK // RECORD))
        _, err = self.check_end(daemon, status=1)
        self.assertEqual(kernel.unread(1), 0)
        self.assertIn(f"({2 * CHUNK + len(more)} bytes", err)

    def test_quota_and_limits(self):
        for number in (errno.EDQUOT, errno.EFBIG):
            with self.subTest(number):
                self.setUp()
                self.fail({"write_limit": 0, "write_errno": number},
                          records(2 * CHUNK // RECORD),
                          os.strerror(number), "room")

    def test_size_limit_of_the_shell(self):
        """ulimit -f sends SIGXFSZ as well."""
        kernel = self.make_kernel(cpus=(0,))
        limit = 3 * 4096
        daemon = self.start(preexec_fn=lambda: resource.setrlimit(
            resource.RLIMIT_FSIZE, (limit, limit)))
        kernel.feed(0, records(2 * CHUNK // RECORD))
        _, err = self.check_end(daemon, status=1)
        self.assertIn("File too large", err)
        self.assertEqual(self.capture().cpu(0),
                         records(limit // RECORD))

    def test_io_error(self):
        self.fail({"write_limit": 100, "write_errno": errno.EIO},
                  records(2 * CHUNK // RECORD),
                  "Input/output error; choose a directory on another file")

    def test_sync_error(self):
        kernel = self.make_kernel()
        os.unlink(os.path.join(self.proc, "kallsyms"))
        os.unlink(os.path.join(self.proc, "modules"))
        daemon = self.start(shim={"fsync_file": ".out",
                                  "fsync_errno": errno.EIO})
        kernel.feed(0, records(3))
        _, err = self.end(daemon, status=1)
        self.assertIn("cpu0.out", err)
        self.assertEqual(self.capture()["complete"], "false")

    def test_meta_on_a_full_disk(self):
        """The old kmemtrace.meta remains and says that the capture is incomplete."""
        kernel = self.make_kernel()
        go = os.path.join(self.root, "go")
        daemon = self.start(shim={"write_file": "kmemtrace.meta.tmp",
                                  "write_limit": 10, "write_if": go})
        kernel.feed(0, records(3))
        self.write(go, "")
        _, err = self.end(daemon, status=1)
        self.assertIn("kmemtrace.meta: No space left on device", err)
        capture = self.capture()
        self.assertEqual(capture["complete"], "false")
        self.assertEqual(capture["record_size"], "56")
        self.assertNotIn("overruns", capture.meta["capture"])
        self.assertNotIn("kmemtrace.meta.tmp", capture.files)
        self.assertEqual(capture.cpu(0), records(3))

    def test_table_that_cannot_be_renewed(self):
        """A capture with an outdated table is marked as incomplete."""
        kernel = self.make_kernel()
        kernel.put("info", "# kmemtrace: info\nmode discard\n")
        go = os.path.join(self.root, "go")
        daemon = self.start(shim={"write_file": "info.tmp", "write_limit": 0,
                                  "write_if": go})
        kernel.feed(0, records(3))
        kernel.wait_read()
        self.write(go, "")
        _, err = self.end(daemon, status=1)
        self.assertIn("info: No space left on device", err)
        self.assertEqual(Capture(self.out)["complete"], "false")

    def test_room_for_meta_is_set_aside(self):
        self.make_kernel()
        daemon = self.start()
        path = os.path.join(self.out, "kmemtrace.meta.tmp")
        self.assertGreaterEqual(os.stat(path).st_blocks * 512, 4096)
        self.end(daemon)
        self.assertNotIn("kmemtrace.meta.tmp", self.capture().files)

    def test_second_signal_does_not_wait_for_the_disk(self):
        kernel = self.make_kernel()
        fifo, go, shim = self.hang_disk()
        daemon = self.start(shim=shim)
        more = records(3000, start=1100)
        kernel.feed(0, records(1100))
        wait_for(lambda: os.path.exists(fifo + ".waits"), "a write")
        kernel.feed(0, more)
        daemon.signal()
        daemon.wait_line("writing the buffered records")
        daemon.signal()
        daemon.wait_line("no longer waiting for the disk")
        os.write(go, b"x") # permits a single write
        _, err = self.check_end(daemon, status=1)
        self.assertIn("ended before all records were written", err)
        capture = self.capture()
        self.assertEqual(capture.cpu(0), records(2 * CHUNK // RECORD))
        self.assertEqual(capture["complete"], "false")
        self.assertEqual(kernel.unread(0), 0)

    def start_on_slow_disk(self, **more):
        """Read all records, which then wait for the disk; return kmemtraced and the
        FIFO that permits writes."""
        _, go, shim = self.hang_disk()
        kernel = self.make_kernel()
        daemon = self.start(shim={**shim, **more})
        kernel.feed(0, records(1100))
        kernel.wait_read()
        return daemon, go

    def test_first_signal_after_the_end_gives_nothing_up(self):
        """If another program has ended tracing, the first signal discards no
        record, because the user may not have seen the end yet."""
        daemon, go = self.start_on_slow_disk()
        self.kernel.put("enabled", "0\n")
        daemon.wait_line("another program switched tracing off")
        daemon.signal()
        daemon.wait_line("writing the buffered records")
        os.write(go, b"x" * 100)
        _, err = self.check_end(daemon)
        self.assertNotIn("not waiting", err)
        self.assertEqual(self.capture().cpu(0), records(1100))

    def test_third_signal_ends_it(self):
        clock = self.make_clock()
        daemon, _ = self.start_on_slow_disk(clock=clock)
        daemon.signal()

        def later():
            clock.pass_by(2)
            daemon.signal(signal.SIGCHLD) # wakes kmemtraced, has no other effect
        daemon.wait_line("writing the buffered records", later)
        daemon.signal()
        daemon.wait_line("no longer waiting for the disk")
        clock.pass_by(2)
        daemon.signal()
        self.check_end(daemon, status=1)
        self.assertEqual(self.capture()["complete"], "false")


MANY_MORE = 15000


class Killed(DaemonTest):
    """SIGKILL at different moments."""

    def wait_guard(self):
        """Wait until no process has the directory locked."""
        fd = os.open(self.out, os.O_RDONLY)
        fcntl.flock(fd, fcntl.LOCK_EX)
        os.close(fd)

    def killed(self, daemon):
        """Wait for the end by SIGKILL; return the capture."""
        code, _, _ = daemon.finish()
        self.assertEqual(code, -signal.SIGKILL)
        self.wait_guard()
        capture = self.capture()
        self.assertEqual(capture["complete"], "false")
        self.assertNotIn("overruns", capture.meta["capture"])
        return capture

    def test_within_a_write(self):
        for at in (1, 56, 4096, CHUNK + 4096, 3 * CHUNK + 57):
            with self.subTest(at):
                self.setUp()
                kernel = self.make_kernel(cpus=(0,))
                daemon = self.start(shim={"write_file": "cpu0.out",
                                          "write_kill": at})
                fed = records(5 * CHUNK // RECORD)
                kernel.feed(0, fed)
                capture = self.killed(daemon)
                self.assertEqual(capture.cpu(0), fed[:at - at % RECORD])
                self.assertEqual(capture.read("kallsyms").decode(),
                                 self.KALLSYMS)
                # The kernel's state is restored; the next run reads the remaining
                # records.
                self.assertEqual(kernel.get("enabled"), "0")

    def test_within_a_write_of_version_2(self):
        kernel = self.make_kernel(cpus=(0,), abi_version=2)
        kernel.put("caches", "of the start\n")
        daemon = self.start(shim={"write_file": "cpu0.out",
                                  "write_kill": 4096 + 56})
        wait_for(lambda: os.path.exists(f"{self.out}/caches"),
                 "the tables are copied")
        fed = records_v2(5 * CHUNK // RECORD_V2)
        kernel.feed(0, fed)
        capture = self.killed(daemon)
        self.assertEqual(capture.cpu(0), fed[:4096])
        self.assertEqual(capture.read("caches"), b"of the start\n")

    def test_at_any_time(self):
        """No write bypasses the page cache, where SIGKILL could truncate it."""
        kernel = self.make_kernel()
        rng = seeds.generator("test_at_any_time")
        fed = {0: b"", 1: b""}
        for _ in range(10):
            # Without an existing capture, kmemtraced writes directly into the
            # directory.
            shutil.rmtree(self.out, ignore_errors=True)
            daemon = self.start("-f", shim={"direct": "refuse"})
            for cpu in (0, 1):
                fed[cpu] = records(rng.randrange(20000), cpu=cpu)
                kernel.feed(cpu, fed[cpu][:1 << 19])
            # SIGKILL arrives after a write that is chosen at random.
            whole = min(len(fed[0]), 1 << 19) // CHUNK
            size = rng.randint(0, max(whole - 1, 0)) * CHUNK
            path = os.path.join(self.out, "cpu0.out")
            wait_for(lambda: os.path.getsize(path) >= size,
                     f"{size} bytes are written")
            daemon.signal(signal.SIGKILL)
            capture = self.killed(daemon)
            for cpu in (0, 1):
                self.assertTrue(fed[cpu].startswith(capture.cpu(cpu)))
                # Discard the unread records, which belong to the killed run.
                if kernel.unread(cpu):
                    os.read(kernel.fifos[cpu], 1 << 20)

    def test_started_again(self):
        """The next run continues the session and reports that."""
        kernel = self.make_kernel(enabled=1)
        daemon = self.start()
        kernel.feed(0, records(1024))
        kernel.wait_read()
        wait_for(lambda: os.stat(f"{self.out}/cpu0.out").st_size == 2 * CHUNK,
                 "chunks are written")
        daemon.signal(signal.SIGKILL)
        self.assertEqual(self.killed(daemon).cpu(0), records(1024))
        kernel.set_consumed({0: 2 * CHUNK, 1: 0})
        kernel.feed(0, records(100, start=1024))
        self.out = os.path.join(self.root, "second")
        self.end(self.start())
        capture = self.capture()
        self.assertEqual(capture.cpu(0), records(100, start=1024))
        self.assertEqual(capture["continues"], "true")
        self.assertEqual(capture["complete"], "true")

    def test_guard_is_not_killed_by_name(self):
        self.make_kernel()
        daemon = self.start()
        pid = daemon.process.pid
        with open(f"/proc/{pid}/task/{pid}/children") as file:
            children = file.read().split()
        self.assertEqual(len(children), 1)
        with open(f"/proc/{children[0]}/comm") as file:
            self.assertEqual(file.read(), "kmemtrace-guard\n")
        self.end(daemon)
        self.assertFalse(os.path.exists(f"/proc/{children[0]}"))


@unittest.skipIf(has_sanitizer(), "built with a sanitizer")
class Memory(DaemonTest):
    """Memory is exhausted during the recording."""

    def run_out(self, *more, status):
        """The records before the lack of memory are saved, and tracing is off."""
        self.make_kernel()
        flag = os.path.join(self.root, "no-memory")
        daemon = self.start(*more, env={"LD_PRELOAD": ALLOCATOR,
                                        "PRELOAD_FAIL_IF": flag})
        fed = records(2 * CHUNK // RECORD)
        self.kernel.feed(0, fed)
        wait_for(lambda: os.path.getsize(os.path.join(self.out, "cpu0.out"))
                 == len(fed), "the records are written")
        self.write(flag, "")
        code, _, err = daemon.finish()
        self.assertEqual(code, status, err)
        self.assertIn("kmemtraced: out of memory: ", err)
        wait_for(lambda: self.kernel.get("enabled") == "0",
                 "the cleanup process switches tracing off")
        os.unlink(flag)
        capture = self.capture()
        self.assertEqual(capture.cpu(0), fed)
        self.assertEqual(capture["complete"], "false")

    def test_runs_out(self):
        self.run_out(status=1)

    def test_runs_out_beside_a_command(self):
        fifo = os.path.join(self.root, "go")
        os.mkfifo(fifo)
        self.run_out("--", "sh", "-c", f"exec >/dev/null 2>&1; read x <{fifo}",
                     status=125)
        # The command may have run out of memory, too, so do not wait for a reader.
        end = os.open(fifo, os.O_RDWR)
        self.addCleanup(os.close, end)
        os.write(end, b"\n")


if __name__ == "__main__":
    main()
