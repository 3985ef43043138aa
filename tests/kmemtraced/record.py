#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""The contents of a capture by kmemtraced: records, tables, kmemtrace.meta, and the
summary. One unit: every case runs with both readers of the buffers."""

import os
import pty
import re
import shutil
import signal
import stat
import time

from kmemtraced_fake import (CHUNK, RECORD, TIMEOUT_S, Daemon, DaemonTest,
                             acting, main, records, records_v2, wait_for)
from target import BYTE_ORDER, MACHINE

# More records than the reader's memory holds, and not a multiple of any buffer
# size.
MANY = 40011


class Recording(DaemonTest):
    """A recording from its start to Ctrl+C."""

    def record(self, fed, *args, **settings):
        """Record the given records of each CPU; return stdout and stderr."""
        daemon = self.start(*args, **settings)
        for cpu, data in fed.items():
            self.kernel.feed(cpu, data)
        return self.end(daemon)

    def test_every_byte_is_saved(self):
        self.make_kernel(cpus=(0, 1, 2, 3))
        fed = {cpu: records(MANY // (cpu + 1), cpu=cpu) for cpu in range(4)}
        self.record(fed)
        capture = self.capture()
        for cpu, data in fed.items():
            self.assertEqual(capture.cpu(cpu), data)
        self.assertEqual(capture.files,
                         ["cpu0.out", "cpu1.out", "cpu2.out", "cpu3.out",
                          "kallsyms", "kmemtrace.meta", "modules"])

    def test_tables_are_copied(self):
        self.make_kernel()
        self.record({})
        capture = self.capture()
        self.assertEqual(capture.read("kallsyms").decode(), self.KALLSYMS)
        self.assertEqual(capture.read("modules").decode(), self.MODULES)

    def test_tables_beyond_the_buffer(self):
        self.make_kernel()
        big = "".join(f"{i:016x} t name_{i}\n" for i in range(60000))
        self.write(os.path.join(self.proc, "kallsyms"), big)
        self.record({})
        self.assertEqual(self.capture().read("kallsyms").decode(), big)

    def test_tables_with_modules_of_the_end(self):
        self.make_kernel()
        daemon = self.start()
        symbols = self.KALLSYMS + "ffffffffc0300000 t loaded_late [late]\n"
        self.write(os.path.join(self.proc, "kallsyms"), symbols)
        self.write(os.path.join(self.proc, "modules"), "late 1 0 - Live 0x0\n")
        self.end(daemon)
        capture = self.capture()
        self.assertEqual(capture.read("kallsyms").decode(), symbols)
        self.assertIn(b"late", capture.read("modules"))

    def test_kernel_without_modules(self):
        self.make_kernel()
        os.unlink(os.path.join(self.proc, "modules"))
        _, err = self.record({0: records(1)})
        self.assertNotIn("warning", err)
        self.assertNotIn("modules", self.capture().files)

    def test_hidden_addresses_are_told(self):
        self.make_kernel()
        self.write(os.path.join(self.proc, "kallsyms"),
                   "0000000000000000 T _text\n0000000000000000 t deadbeef\n")
        _, err = self.record({})
        self.assertIn("kernel.kptr_restrict", err)
        self.capture()

    def test_shown_addresses_after_zeros(self):
        self.make_kernel()
        self.write(os.path.join(self.proc, "kallsyms"),
                   "0000000000000000 A zero\nffffffff81000000 T _text\n")
        _, err = self.record({})
        self.assertNotIn("kptr_restrict", err)

    def test_meta(self):
        kernel = self.make_kernel(cpus=(0, 1, 7))
        kernel.set_overruns({0: 3, 1: 0, 7: 0})
        self.record({0: records(100), 1: records(7)})
        meta = self.capture().meta
        capture = dict(meta["capture"])
        for key in ("start_time", "end_time"):
            self.assertRegex(capture.pop(key),
                             r"^20\d\d-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z$")
        self.assertGreater(int(capture.pop("kmemtraced_pid")), 1)
        self.assertRegex(capture.pop("kmemtraced_version"), r"^\d+\.\d+")
        self.assertEqual(capture, {
            "format": "1", "abi_version": "1", "record_size": "56",
            "byte_order": BYTE_ORDER,
            "word_size": capture["word_size"],
            "page_size": str(os.sysconf("SC_PAGESIZE")),
            "machine": MACHINE,
            "kernel_release": os.uname().release,
            "build_id": "deadbeef01", "boot_id": self.BOOT_ID,
            "clock": "sched_clock", "mode": "discard",
            "source": "relay", "subbufs": "20", "subbuf_size": "458752",
            "continues": "false", "was_enabled": "false",
            "complete": "true", "cpus": "3",
            "files": "cpu0.out;cpu1.out;cpu7.out;kallsyms;modules;",
            "events": "107", "bytes": "5992", "overruns": "3"})
        self.assertIn(capture["word_size"], ("4", "8"))
        self.assertEqual(dict(meta["cpu0"]), {
            "node": "0", "events": "100", "bytes": "5600", "overruns": "3"})
        self.assertEqual(dict(meta["cpu1"]), {
            "node": "1", "events": "7", "bytes": "392", "overruns": "0"})
        self.assertEqual(dict(meta["cpu7"]), {
            "node": "-1", "events": "0", "bytes": "0", "overruns": "0"})

    def test_version_2(self):
        kernel = self.make_kernel(cpus=(0,), abi_version=2)
        kernel.put("caches", "caches of the start\n")
        kernel.put("tasks", "tasks of the start\n")
        kernel.put("cgroups", "cgroups of the start\n")
        kernel.put("marks", "marks of the start\n")
        daemon = self.start()
        fed = records_v2(MANY)
        kernel.feed(0, fed)
        kernel.put("caches", "caches of the end\n")
        kernel.put("tasks", "tasks of the end\n")
        kernel.put("cgroups", "cgroups of the end\n")
        kernel.put("marks", "marks of the end\n")
        out, _ = self.end(daemon)
        self.assertIn(f"{MANY} events, {MANY * 64} bytes", out)
        capture = self.capture()
        self.assertEqual(capture.cpu(0), fed)
        self.assertEqual(capture.files, ["caches", "cgroups", "cpu0.out",
                                         "kallsyms", "kmemtrace.meta", "marks",
                                         "modules", "tasks"])
        self.assertEqual(capture["cgroups"], "tracked")
        self.assertEqual(capture.read("cgroups"), b"cgroups of the end\n")
        self.assertEqual(capture.read("caches"), b"caches of the end\n")
        self.assertEqual(capture.read("tasks"), b"tasks of the end\n")
        self.assertEqual(capture.read("marks"), b"marks of the end\n")
        self.assertEqual(capture["abi_version"], "2")
        self.assertEqual(capture["record_size"], "64")
        self.assertEqual(capture["subbuf_size"], "524288")
        self.assertEqual(capture["events"], str(MANY))
        self.assertEqual(capture.meta["cpu0"]["events"], str(MANY))
        # Without -f, another recording does not replace these files.
        code, _, err = self.run_to_end()
        self.assertEqual(code, 1)
        self.assertIn("capture", err)
        self.end(self.start("-f"))
        self.assertEqual(self.capture().files, capture.files)

    def test_tags(self):
        kernel = self.make_kernel(cpus=(0,), abi_version=2)
        kernel.put("tags", "tags of the start\n")
        daemon = self.start()
        kernel.feed(0, records_v2(MANY))
        kernel.put("tags", "tags of the end\n")
        self.end(daemon)
        capture = self.capture()
        self.assertIn("tags", capture.files)
        self.assertEqual(capture.read("tags"), b"tags of the end\n")

    def test_slabinfo(self):
        """The table is read after tracing was switched off."""
        kernel = self.make_kernel(cpus=(0,))
        path = os.path.join(self.proc, "slabinfo")
        self.write(path, "slabinfo - version: 2.1\nstart\n")
        daemon = self.start()
        kernel.feed(0, records(MANY))
        self.write(path, "slabinfo - version: 2.1\nend\n")
        self.end(daemon)
        self.assertEqual(self.capture().read("slabinfo"),
                         b"slabinfo - version: 2.1\nend\n")

    def test_allocator(self):
        """/sys/kernel/slab distinguishes SLUB from SLAB."""
        kernel = self.make_kernel(cpus=(0,))
        slab = os.path.join(self.sys, "kernel", "slab")
        possible = os.path.join(self.sys, "devices/system/cpu/possible")
        self.write(os.path.join(self.proc, "slabinfo"), "slabinfo\n")
        for directory, cpus, allocator, n in (
                (True, "0-3,8\n", "slub", "5"), (False, "0\n", "slab", "1"),
                (False, "3-1\n", "slab", None)):
            shutil.rmtree(slab, ignore_errors=True)
            os.makedirs(slab if directory else os.path.dirname(slab),
                        exist_ok=True)
            os.makedirs(os.path.dirname(possible), exist_ok=True)
            self.write(possible, cpus)
            daemon = self.start("-f")
            kernel.feed(0, records(3))
            self.end(daemon)
            meta = self.capture().meta["capture"]
            self.assertEqual(meta["allocator"], allocator)
            self.assertEqual(meta.get("possible_cpus"), n)

    def test_stacks(self):
        kernel = self.make_kernel(cpus=(0, 1), abi_version=3, record=72)
        kernel.put("stacks", "stacks of the start\n")
        daemon = self.start()
        fed = records_v2(MANY, stack=9)
        kernel.feed(0, fed)
        # The file ends with a complete record, even if it does not end with a
        # complete chunk.
        kernel.feed(1, records_v2(3, MANY, stack=8))
        kernel.put("stacks", "stacks of the end\n")
        out, _ = self.end(daemon)
        self.assertIn(f"{MANY + 3} events, {(MANY + 3) * 72} bytes", out)
        capture = self.capture()
        self.assertEqual(capture.cpu(0), fed)
        self.assertEqual(capture.cpu(1), records_v2(3, MANY, stack=8))
        self.assertEqual(capture.read("stacks"), b"stacks of the end\n")
        self.assertEqual(capture["abi_version"], "3")
        self.assertEqual(capture["record_size"], "72")
        self.assertEqual(capture["events"], str(MANY + 3))
        code, _, err = self.run_to_end()
        self.assertEqual(code, 1)
        self.assertIn("capture", err)

    def test_notes_that_end_early(self):
        self.make_kernel()
        self.write(os.path.join(self.sys, "kernel/notes"),
                   b"\4\0\0\0\xff\xff\xff\xff\3\0\0\0GNU\0\1")
        self.record({})
        self.assertNotIn("build_id", self.capture().meta["capture"])

    def test_modes(self):
        self.make_kernel()
        old = os.umask(0o777)
        try:
            self.record({0: records(1)})
        finally:
            os.umask(old)
        self.assertEqual(stat.S_IMODE(os.stat(self.out).st_mode), 0o700)
        for name in self.capture().files:
            mode = os.stat(os.path.join(self.out, name)).st_mode
            self.assertEqual(stat.S_IMODE(mode), 0o600, name)

    def test_current_directory(self):
        self.make_kernel()
        os.mkdir(self.out)
        args = [a for a in self.args() if a not in ("-D", self.out)]
        daemon = Daemon(args, cwd=self.out)
        daemon.wait_line("recording")
        self.kernel.feed(0, records(5))
        out, _ = self.end(daemon)
        self.assertEqual(self.capture().cpu(0), records(5))
        self.assertTrue(out.endswith(
            "Next:\nkmemtrace_check cpu0.out cpu1.out\nkmemtrace-report\n"),
            out)

    def test_signals(self):
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            with self.subTest(number):
                self.setUp()
                self.make_kernel()
                # The signal has its default action, as in an interactive shell,
                # whatever runs this test.
                daemon = self.start(preexec_fn=acting([number]))
                self.kernel.feed(1, records(3))
                self.end(daemon, number=number)
                self.assertEqual(self.capture().cpu(1), records(3))
                self.assertEqual(self.capture()["complete"], "true")

    def test_signal_twice_at_once_is_one(self):
        """timeout(1) sends a signal twice, which counts as one stop request."""
        self.make_kernel()
        off, go = (os.path.join(self.root, name) for name in ("off", "go"))
        os.mkfifo(go)
        daemon = self.start(shim={"on_disable": f"touch {off}; read x <{go}",
                                  "clock": self.make_clock()})
        self.kernel.feed(0, records(9))
        self.kernel.wait_read()
        daemon.signal()
        wait_for(lambda: os.path.exists(off), "tracing is off")
        daemon.signal()
        self.write(go, "go\n")
        self.check_end(daemon)
        self.assertEqual(self.capture()["complete"], "true")

    def test_seconds(self):
        self.make_kernel()
        began = time.monotonic()
        out, _ = self.check_end(self.start("-w", "0.4"))
        self.assertGreaterEqual(time.monotonic() - began, 0.4)
        self.assertGreaterEqual(
            float(re.search(r", (\d+\.\d) seconds, ", out)[1]), 0.4)

    def test_last_records_come_after_switching_off(self):
        """The kernel releases a partial sub-buffer only when tracing is off."""
        self.make_kernel()
        last = {cpu: records(500, start=10, cpu=cpu) for cpu in (0, 1)}
        for cpu, data in last.items():
            self.write(os.path.join(self.root, f"last{cpu}"), data)
        daemon = self.start(shim={"on_disable": "".join(
            f"cat {self.root}/last{cpu} > {self.kernel.path}/cpu{cpu};"
            for cpu in last)})
        self.kernel.feed(0, records(10))
        self.end(daemon)
        self.assertEqual(self.capture().cpu(0), records(10) + last[0])
        self.assertEqual(self.capture().cpu(1), last[1])

    def test_tracing_off_while_the_disk_hangs(self):
        kernel = self.make_kernel()
        _, go, shim = self.hang_disk()
        daemon = self.start(shim=shim)
        data = records(2000)
        kernel.feed(0, data)
        kernel.wait_read()
        daemon.signal()
        wait_for(lambda: kernel.get("enabled") == "0", "tracing is off")
        self.assertIsNone(daemon.process.poll())
        daemon.wait_line("writing the buffered records")
        os.write(go, b"x" * 100)
        self.check_end(daemon)
        self.assertEqual(self.capture().cpu(0), data)

    def test_summary(self):
        self.make_kernel()
        out, err = self.record({0: records(3), 1: records(2)})
        self.assertRegex(out, r"^kmemtraced: 5 events, 280 bytes, "
                              r"\d+\.\d seconds, 0 events lost\n")
        self.assertTrue(out.endswith(
            "\n\nNext:\n"
            f"kmemtrace_check {self.out}/cpu0.out {self.out}/cpu1.out\n"
            f"kmemtrace-report {self.out}\n"), out)
        self.assertNotIn("warning", err)

    def test_loss_is_no_failure_but_told(self):
        kernel = self.make_kernel()
        daemon = self.start()
        kernel.feed(0, records(100))
        kernel.set_overruns({0: 10, 1: 20000})
        out, err = self.end(daemon)
        self.assertIn("20010 events lost", out)
        self.assertIn("20000 of them on CPU 1", err)
        self.assertIn("kmemtrace.subbufs=40 (now 20)", err)
        meta = self.capture().meta
        self.assertEqual(meta["capture"]["overruns"], "20010")
        self.assertEqual(meta["cpu1"]["overruns"], "20000")
        self.assertEqual(meta["capture"]["complete"], "true")

    def test_quiet(self):
        self.make_kernel()
        daemon = self.spawn("-q")
        wait_for(lambda: self.kernel.get("enabled") == "1", "tracing is on")
        self.kernel.feed(0, records(3))
        out, err = self.end(daemon)
        self.assertEqual((out, err), ("", ""))
        self.assertEqual(self.capture().cpu(0), records(3))

    def on_terminal(self, pattern, overruns=None, **settings):
        """Run until the terminal shows a match of the pattern; return everything
        that it showed."""
        ours, theirs = pty.openpty()
        daemon = self.spawn(stderr=theirs, **settings)
        self.addCleanup(daemon.process.kill)
        os.close(theirs)
        seen = b""
        fed = False
        deadline = time.monotonic() + TIMEOUT_S
        while not re.search(pattern, seen):
            self.assertLess(time.monotonic(), deadline, seen)
            seen += os.read(ours, 4096)
            if b"recording" in seen and not fed:
                self.kernel.set_overruns({0: 5, 1: 0})
                if overruns is not None:
                    self.kernel.put("total_overruns", overruns)
                self.kernel.feed(0, records(CHUNK // RECORD * 4))
                fed = True
        self.kernel.set_overruns({0: 5, 1: 0})
        daemon.signal()
        while True:
            try:
                block = os.read(ours, 4096)
            except OSError: # the other side is closed
                break
            seen += block
        self.check_end(daemon)
        os.close(ours)
        self.assertEqual(len(self.capture().cpu(0)), 4 * CHUNK)
        return seen.decode()

    def test_live_line(self):
        self.make_kernel()
        seen = self.on_terminal(
            rb"\d+ events/s, 0\.1 MB written, 5 lost")
        # The live line was erased before any other message was printed.
        self.assertNotIn("events/s", seen.split("\033[K")[-1])

    def test_live_line_without_losses(self):
        """If the kernel does not count lost events, the live line shows "unknown"."""
        self.make_kernel()
        self.on_terminal(rb"MB written, lost unknown", "many\n")

    def test_live_line_with_few_events(self):
        """The live line counts records in a sub-buffer that is not full, for which
        the kernel wakes no reader."""
        self.make_kernel()
        self.on_terminal(rb"[1-9]\d* events/s",
                         shim={"poll_file": "/kmemtrace/cpu0"})

    def test_no_live_line_elsewhere(self):
        self.make_kernel()
        _, err = self.check_end(self.start("-w", "1.3"))
        self.assertNotIn("events/s", err)

    def test_cpu_that_comes(self):
        kernel = self.make_kernel(cpus=(0,))
        daemon = self.start()
        kernel.feed(0, records(1))
        kernel.add_cpu(5)
        kernel.feed(5, records(MANY, cpu=5))
        self.end(daemon)
        capture = self.capture()
        self.assertEqual(capture.cpu(5), records(MANY, cpu=5))
        self.assertEqual(capture["cpus"], "2")
        self.assertEqual(capture.meta["cpu5"]["events"], str(MANY))

    def test_cpus_that_come_with_switching_on(self):
        """The buffers of a kernel appear when tracing is switched on for the first
        time."""
        kernel = self.make_kernel(cpus=())
        kernel.add_cpu(0, name="new0")
        kernel.add_cpu(1, name="new1")
        path = kernel.path
        daemon = self.start(shim={
            "on_enable": f"mv {path}/new0 {path}/cpu0;"
                         f"mv {path}/new1 {path}/cpu1"})
        kernel.feed(0, records(4))
        self.end(daemon)
        self.assertEqual(self.capture().cpu(0), records(4))
        self.assertEqual(self.capture().cpu(1), b"")

    def test_cpu_that_comes_in_the_last_moment(self):
        kernel = self.make_kernel(cpus=(0,))
        kernel.add_cpu(1, name="new1")
        kernel.feed(1, records(6))
        path = kernel.path
        daemon = self.start(shim={
            "on_disable": f"mv {path}/new1 {path}/cpu1"})
        daemon.signal()
        self.check_end(daemon)
        self.assertEqual(self.capture().cpu(1), records(6))

    def test_tracing_from_boot(self):
        kernel = self.make_kernel(enabled=1)
        kernel.feed(0, records(1000))
        # Switching tracing on again would discard the records.
        daemon = self.start(shim={"on_enable": "exit 1"})
        kernel.feed(0, records(20, start=1000))
        self.end(daemon)
        capture = self.capture()
        self.assertEqual(capture.cpu(0), records(1020))
        self.assertEqual(capture["was_enabled"], "true")
        self.assertEqual(capture["continues"], "false")

    def test_continued_trace(self):
        kernel = self.make_kernel(enabled=1)
        kernel.set_consumed({0: 0, 1: 458752})
        self.record({0: records(2)})
        self.assertEqual(self.capture()["continues"], "true")

    def test_new_trace_after_another(self):
        """The kernel keeps its count of consumed bytes until tracing is switched
        on."""
        kernel = self.make_kernel()
        kernel.set_consumed({0: 112, 1: 458752})
        daemon = self.start()
        self.assertEqual(self.capture()["continues"], "false")
        self.end(daemon)
        self.assertEqual(self.capture()["continues"], "false")

    def test_frozen_rest_of_a_trace(self):
        kernel = self.make_kernel()
        kernel.set_consumed({0: 112, 1: 0})
        kernel.feed(0, records(2))
        code, _, err = self.run_to_end()
        self.assertEqual(code, 0, err)
        self.assertEqual(self.capture()["continues"], "true")

    def test_kernel_that_does_not_tell_consumed(self):
        kernel = self.make_kernel(enabled=1)
        os.unlink(os.path.join(kernel.path, "consumed"))
        self.record({})
        self.assertEqual(self.capture()["continues"], "false")

    def test_frozen_trace(self):
        kernel = self.make_kernel(enabled=0)
        kernel.feed(0, records(3000))
        kernel.set_overruns({0: 0, 1: 9})
        code, out, err = self.run_to_end(shim={"on_enable": "exit 1"})
        self.assertEqual(code, 0, err)
        self.assertIn("tracing was already off", err)
        self.assertRegex(out, r"^kmemtraced: 3000 events, 168000 bytes, "
                              r"9 events lost\n")
        capture = self.capture()
        self.assertEqual(capture.cpu(0), records(3000))
        self.assertEqual(capture.cpu(1), b"")
        self.assertEqual(capture["complete"], "true")
        self.assertEqual(kernel.get("enabled"), "0")

    def test_somebody_else_switches_off(self):
        kernel = self.make_kernel()
        daemon = self.start()
        kernel.feed(0, records(30))
        kernel.wait_read()
        kernel.put("enabled", "0\n")
        _, err = self.check_end(daemon)
        self.assertIn("another program switched tracing off", err)
        self.assertEqual(self.capture().cpu(0), records(30))

    def test_signal_while_it_begins(self):
        """A signal during the start ends the recording."""
        self.make_kernel()
        daemon = self.spawn(shim={"on_enable": f"kill -INT $PPID"})
        self.check_end(daemon)
        self.assertEqual(self.capture()["complete"], "true")

    def test_frozen_trace_on_a_slow_disk(self):
        """A signal while the disk is slow discards no record."""
        kernel = self.make_kernel(cpus=(0,))
        _, go, shim = self.hang_disk()
        kernel.feed(0, records(2000))
        daemon = self.spawn(shim=shim)
        kernel.wait_read()
        self.check_hanging_end(daemon, go, 2000)

    def check_hanging_end(self, daemon, go, number):
        """Stop the recording while the disk hangs; all records are saved."""
        daemon.signal()
        daemon.wait_line("writing the buffered records")
        os.write(go, b"x" * 1000)
        self.check_end(daemon)
        self.assertEqual(self.capture().cpu(0), records(number))
        self.assertEqual(self.capture()["complete"], "true")

    def test_files_of_others_stay(self):
        self.make_kernel()
        os.mkdir(self.out)
        os.chmod(self.out, 0o755)
        for name in ("notes.txt", "cpu.out", "cpu00.out", "cpux.out",
                     "cpu123456.out", "cpu1.out.bak"):
            self.write(os.path.join(self.out, name), "mine")
        self.record({0: records(1)}, "-f")
        for name in ("notes.txt", "cpu.out", "cpu00.out", "cpux.out",
                     "cpu123456.out", "cpu1.out.bak"):
            self.assertEqual(Recording.read(self, name), "mine")
        self.assertEqual(stat.S_IMODE(os.stat(self.out).st_mode), 0o755)

    def read(self, name):
        """Return the content of a file in the capture directory."""
        with open(os.path.join(self.out, name)) as file:
            return file.read()


class MappedRecording(Recording):
    """The same cases with the mapped reader, the default on a real kernel."""
    mapped = True
    # The mapped reader leaves a sub-buffer that is not full to the kernel until the
    # end.
    test_live_line = None

    def test_frozen_trace_and_a_first_write_that_hangs(self):
        """The reader has taken records but has not counted them yet."""
        kernel = self.make_kernel(cpus=(0,))
        # One sub-buffer that is larger than the reader's memory.
        kernel.put("subbuf_size", f"{20000 * kernel.record}\n")
        _, go, shim = self.hang_disk()
        kernel.feed(0, records(18700))
        daemon = self.spawn(shim=shim)
        kernel.wait_read()
        daemon.wait_idle()
        self.check_hanging_end(daemon, go, 18700)


if __name__ == "__main__":
    main()
