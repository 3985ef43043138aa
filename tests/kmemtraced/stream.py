#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""kmemtraced --stream: every frame, with all sources that can be simulated, slow and
dying readers, and options that exclude a stream."""

import io
import os
import re
import signal
import socket
import subprocess
import sys
import threading
import time
import unittest

import stream_parser
from kmemtraced_fake import (PROGRAM, TIMEOUT_S, DaemonTest, main, records,
                             records_v2, wait_for)
from kmemtraced_tracefs import SOURCE_READY, TracefsTest, event, page
from target import BYTE_ORDER

# More records than all buffers of a stream hold.
MANY = 60011


class Collector(threading.Thread):
    """Reads a descriptor to its end, and parses what has arrived so far."""

    def __init__(self, fd, pause_s=0):
        super().__init__(daemon=True)
        self.fd = fd
        self.pause_s = pause_s
        self.data = bytearray()
        self.start()

    def run(self):
        while True:
            part = os.read(self.fd, 1 << 20)
            if not part:
                break
            self.data += part
            time.sleep(self.pause_s)
        os.close(self.fd)

    def so_far(self):
        """Return the stream so far, without its last frame if that is incomplete;
        None without a header."""
        try:
            stream = stream_parser.Stream(io.BytesIO(bytes(self.data)))
        except stream_parser.Truncated:
            return None
        try:
            while stream.feed():
                pass
        except stream_parser.Truncated:
            pass
        return stream

    def bytes(self):
        """Return all bytes after the end of the writer."""
        self.join(TIMEOUT_S)
        assert not self.is_alive(), "the stream is open"
        return bytes(self.data)


class StreamMixin:
    """Starts kmemtraced with a stream instead of a directory."""

    def args(self, *more, out=None):
        words = super().args(*more, out=out)
        if any(word.startswith("--stream") for word in more):
            at = words.index("-D")
            del words[at:at + 2]
        return words

    def pair(self):
        """Return a socket for the reader, and one for kmemtraced."""
        ours, theirs = socket.socketpair()
        self.addCleanup(ours.close)
        self.addCleanup(theirs.close)
        return ours, theirs

    def start_stream(self, *more, **settings):
        """Start a recording to a socket. Return the daemon and a Collector."""
        ours, theirs = self.pair()
        daemon = self.start(f"--stream={theirs.fileno()}", *more,
                            pass_fds=(theirs.fileno(),), **settings)
        theirs.close()
        return daemon, Collector(ours.detach())

    def parsed(self, collector):
        """Return the complete stream."""
        stream = stream_parser.parse(collector.bytes())
        stream.check_watermarks()
        return stream

    def wait_stream(self, collector, condition, what):
        """Wait until the stream so far fulfils the condition."""
        def is_true():
            stream = collector.so_far()
            return stream is not None and condition(stream)
        wait_for(is_true, what)


class Frames(StreamMixin, DaemonTest):
    """The frames of a stream from relay."""

    def record(self, fed, *more, **settings):
        """Return the stream of the given records."""
        daemon, collector = self.start_stream(*more, **settings)
        for cpu, data in fed.items():
            self.kernel.feed(cpu, data)
        _, errors = self.end(daemon)
        self.assertNotIn("current directory", errors)
        return self.parsed(collector)

    def test_records_equal_those_of_a_capture(self):
        self.make_kernel(cpus=(0, 1, 2, 3))
        fed = {cpu: records(MANY // (cpu + 1), cpu=cpu) for cpu in range(3)}
        stream = self.record(fed)
        self.assertEqual({cpu: bytes(data) for cpu, data
                          in stream.records.items()}, fed)
        header = stream.header
        self.assertEqual(header.abi_version, 1)
        self.assertEqual(header.record_bytes, 56)
        self.assertEqual(header.tick_ms, 200)
        self.assertEqual(stream.reader.order,
                         {"little": "<", "big": ">"}[BYTE_ORDER])
        self.assertEqual(stream.end.reason, stream_parser.STOPPED)
        self.assertEqual(stream.end.complete, 1)
        self.assertEqual(stream.reason, "")
        self.assertEqual(set(stream.counters), {0, 1, 2, 3})
        self.assertEqual(stream.counters[1].records, MANY // 2)
        # The same records in a directory.
        daemon = self.start()
        for cpu, data in fed.items():
            self.kernel.feed(cpu, data)
        self.end(daemon)
        capture = self.capture()
        for cpu, data in fed.items():
            self.assertEqual(capture.cpu(cpu), data)
        # The meta differs in the times, the process, and the list of files.
        def comparable(text):
            return [line for line in text.splitlines() if not re.match(
                r"(start_time|end_time|kmemtraced_pid|files)=", line)]
        self.assertEqual(comparable(stream.metas[-1]),
                         comparable(capture.read("kmemtrace.meta").decode()))
        self.assertNotIn("complete=true", stream.metas[0])
        for name in ("kallsyms", "modules"):
            self.assertEqual(stream.tables[name], capture.read(name))

    def test_no_file_is_written(self):
        self.make_kernel()
        directory = os.path.join(self.root, "cwd")
        os.mkdir(directory)
        self.record({0: records(3)}, cwd=directory)
        self.assertEqual(os.listdir(directory), [])

    def test_version_2_with_stacks(self):
        kernel = self.make_kernel(cpus=(0,), abi_version=3, record=72)
        kernel.put("stacks", "stacks of the start\n")
        kernel.put("tags", "tags\n")
        stream = self.record({0: records_v2(MANY, stack=9)})
        self.assertEqual(stream.header.record_bytes, 72)
        self.assertEqual(stream.header.abi_version, 3)
        self.assertEqual(stream.records[0], records_v2(MANY, stack=9))
        self.assertEqual(stream.tables["stacks"], b"stacks of the start\n")
        self.assertEqual(stream.tables["tags"], b"tags\n")

    def test_tables_are_sent_when_they_change(self):
        kernel = self.make_kernel(cpus=(0,), abi_version=2)
        kernel.put("tasks", "tasks\n1\n")
        kernel.put("caches", "the same\n")
        kernel.put("marks", "")
        daemon, collector = self.start_stream()
        for text in ("tasks\n1\n2\n", "tasks\n0\n1\n", "tasks\n"):
            self.replace(os.path.join(kernel.path, "tasks"), text)
            self.wait_stream(collector, lambda s, text=text: s.versions.get(
                "tasks", [b""])[-1] == text.encode(), "new table")
        self.end(daemon)
        stream = self.parsed(collector)
        self.assertEqual(stream.versions["tasks"], [
            b"tasks\n1\n", b"tasks\n1\n2\n", b"tasks\n0\n1\n", b"tasks\n"])
        self.assertEqual(stream.versions["caches"], [b"the same\n"])
        self.assertEqual(stream.versions["marks"], [b""])
        self.assertEqual(len(stream.versions["kallsyms"]), 1)

    def test_large_table_and_late_module(self):
        self.make_kernel()
        big = "".join(f"{i:016x} t name_{i}\n" for i in range(60000))
        self.write(os.path.join(self.proc, "kallsyms"), big)
        daemon, collector = self.start_stream()
        self.wait_stream(collector, lambda s: s.ticks, "tick")
        big += "ffffffffc0300000 t loaded_late [late]\n"
        self.replace(os.path.join(self.proc, "kallsyms"), big)
        self.replace(os.path.join(self.proc, "modules"),
                     "late 1 0 - Live 0x0\n")
        self.wait_stream(collector, lambda s: len(
            s.versions["kallsyms"]) == 2, "new kallsyms")
        self.end(daemon)
        stream = self.parsed(collector)
        self.assertEqual(stream.tables["kallsyms"].decode(), big)
        self.assertEqual(len(stream.versions["kallsyms"]), 2)
        self.assertEqual(stream.tables["modules"], b"late 1 0 - Live 0x0\n")

    def test_hidden_addresses_are_reported(self):
        self.make_kernel()
        self.write(os.path.join(self.proc, "kallsyms"), "0000 T _text\n")
        daemon, collector = self.start_stream()
        _, err = self.end(daemon)
        self.assertIn("kernel.kptr_restrict", err)
        self.parsed(collector)

    def test_few_records_arrive_while_recording(self):
        self.make_kernel()
        daemon, collector = self.start_stream()
        for n in range(1, 4):
            self.kernel.feed(0, records(1, start=n))
            self.wait_stream(collector, lambda s, n=n: s.n_records(0) == n,
                             "record")
        # Two more rounds of ticks pass the last record.
        self.wait_stream(collector, lambda s:
                         s.ticks[-1][0].watermark == 1003, "watermark")
        self.end(daemon)
        stream = self.parsed(collector)
        times = [tick.monotonic_ns for tick, _ in stream.ticks]
        self.assertEqual(times, sorted(times))
        self.assertGreater(stream.ticks[0][0].cpu_ns, 0)
        self.assertGreater(stream.ticks[0][0].realtime_ns, 1 << 60)

    def test_idle_cpu_does_not_hold_the_watermark(self):
        self.make_kernel(cpus=(0, 1))
        daemon, collector = self.start_stream()
        self.kernel.feed(0, records(5))
        self.wait_stream(collector, lambda s: s.ticks and
                         s.ticks[-1][0].watermark == 1004, "watermark")
        self.end(daemon)
        self.parsed(collector)

    def test_losses(self):
        kernel = self.make_kernel()
        daemon, collector = self.start_stream()
        kernel.feed(0, records(10))
        kernel.set_overruns({0: 3, 1: 4})
        self.wait_stream(collector, lambda s: s.counters and
                         s.counters[1].lost == 4, "counters")
        kernel.set_overruns({0: 5, 1: 4})
        _, err = self.end(daemon)
        self.assertIn("9 events were lost", err)
        stream = self.parsed(collector)
        self.assertEqual((stream.counters[0].lost, stream.counters[0].records),
                         (5, 10))
        self.assertEqual(stream.end.lost, 9)
        self.assertEqual(stream.end.is_lost_known, 1)

    def test_cpu_that_comes_online(self):
        kernel = self.make_kernel(cpus=(0,))
        daemon, collector = self.start_stream()
        kernel.add_cpu(5)
        kernel.feed(5, records(2, cpu=5))
        self.wait_stream(collector, lambda s: s.n_records(5) == 2, "CPU 5")
        self.end(daemon)
        stream = self.parsed(collector)
        self.assertEqual(stream.counters[5].records, 2)
        self.assertIn("[cpu5]", stream.metas[-1])

    def test_ticks_after_the_end_of_a_reader(self):
        kernel = self.make_kernel(cpus=(0, 1))
        daemon, collector = self.start_stream()
        kernel.feed(1, records(2, cpu=1))
        self.wait_stream(collector, lambda s: s.n_records(1) == 2, "CPU 1")
        kernel.hang_up(1)
        daemon.wait_line("CPU 1: its file cpu1")
        first = len(collector.so_far().ticks) + 2
        self.wait_stream(collector, lambda s: len(s.ticks) > first + 8, "ticks")
        self.end(daemon, 1)
        stream = stream_parser.parse(collector.bytes())
        times = [tick.monotonic_ns for tick, _ in stream.ticks[first:first + 9]]
        gaps = sorted(b - a for a, b in zip(times, times[1:]))
        # Most gaps are longer only on a machine with a high load.
        self.assertLess(gaps[1], 500_000_000)

    def test_pipe_and_file(self):
        self.make_kernel()
        ours, theirs = os.pipe()
        daemon = self.start(f"--stream={theirs}", pass_fds=(theirs,))
        os.close(theirs)
        collector = Collector(ours)
        self.kernel.feed(0, records(MANY))
        self.end(daemon)
        self.assertEqual(self.parsed(collector).records[0], records(MANY))
        path = os.path.join(self.root, "file")
        with open(path, "wb") as file:
            file.write(b"before")
            file.flush()
            daemon = self.start(f"--stream={file.fileno()}",
                                pass_fds=(file.fileno(),))
            self.kernel.feed(0, records(MANY))
            self.end(daemon)
        with open(path, "rb") as file:
            self.assertEqual(file.read(6), b"before")
            stream = stream_parser.parse(file)
        self.assertEqual(stream.records[0], records(MANY))

    def test_standard_output(self):
        self.make_kernel()
        daemon = self.start("--stream=1")
        self.kernel.feed(1, records(7))
        self.kernel.wait_read()
        daemon.signal()
        out, err = daemon.process.communicate(timeout=TIMEOUT_S)
        self.assertEqual(daemon.process.returncode, 0, err)
        self.assertEqual(stream_parser.parse(out).records[1], records(7))
        self.assertIn(b"7 events", err)
        self.assertNotIn(b"Next:", err)

    def test_messages(self):
        self.make_kernel()
        daemon, collector = self.start_stream()
        out, err = self.end(daemon)
        self.assertEqual(out, "")
        self.assertRegex(err, r"recording 2 CPUs to descriptor \d+, from")
        self.assertIn("0 events", err)
        self.parsed(collector)


class Mapped(Frames):
    """The same with mapped buffers."""

    mapped = True

    def test_overwritten_records(self):
        self.make_kernel(cpus=(0,), abi_version=2)
        daemon, collector = self.start_stream()
        self.kernel.lose(0, 5, 900, 999)
        self.kernel.feed(0, records_v2(3))
        self.end(daemon)
        stream = self.parsed(collector)
        self.assertEqual(stream.n_records(0), 4)
        self.assertEqual(stream.records[0][0], 3)
        self.assertEqual(stream.records[0][64:], records_v2(3))


class Ends(StreamMixin, DaemonTest):
    """Why a stream ends."""

    def test_time(self):
        self.make_kernel()
        daemon, collector = self.start_stream("-w", "0.3")
        self.check_end(daemon)
        self.assertEqual(self.parsed(collector).end.reason, stream_parser.TIME)

    def test_command(self):
        self.make_kernel()
        ours, theirs = self.pair()
        listed = os.path.join(self.root, "listed")
        daemon = self.spawn(f"--stream={theirs.fileno()}", "--", "sh", "-c",
                            f"ls -l /proc/self/fd > {listed}; exit 3",
                            pass_fds=(theirs.fileno(),))
        theirs.close()
        collector = Collector(ours.detach())
        self.check_end(daemon, 3)
        self.assertEqual(self.parsed(collector).end.reason,
                         stream_parser.COMMAND)
        with open(listed) as file:
            self.assertNotIn("socket:", file.read())

    def test_switched_off(self):
        kernel = self.make_kernel()
        daemon, collector = self.start_stream()
        kernel.put("enabled", "0\n")
        _, err = self.check_end(daemon)
        self.assertIn("switched tracing off", err)
        self.assertEqual(self.parsed(collector).end.reason,
                         stream_parser.SWITCHED)

    def test_trace_that_was_on(self):
        self.make_kernel(enabled=1)
        self.kernel.feed(0, records(4))
        daemon, collector = self.start_stream()
        self.end(daemon)
        stream = self.parsed(collector)
        self.assertEqual(stream.records[0], records(4))
        self.assertIn("was_enabled=true", stream.metas[-1])
        self.assertIn("kallsyms", stream.tables)

    def test_earlier_trace(self):
        self.make_kernel()
        self.kernel.feed(0, records(4))
        ours, theirs = self.pair()
        daemon = self.spawn(f"--stream={theirs.fileno()}",
                            pass_fds=(theirs.fileno(),))
        theirs.close()
        collector = Collector(ours.detach())
        self.check_end(daemon)
        stream = self.parsed(collector)
        self.assertEqual(stream.records[0], records(4))
        self.assertEqual(stream.end.reason, stream_parser.FROZEN)

    def test_error_while_recording(self):
        kernel = self.make_kernel()
        daemon, collector = self.start_stream()
        kernel.feed(0, records(4) + b"x")
        _, err = self.end(daemon, 1)
        self.assertIn("incomplete record", err)
        stream = stream_parser.parse(collector.bytes())
        self.assertEqual(stream.records[0], records(4))
        self.assertEqual(stream.end.reason, stream_parser.FAILED)
        self.assertEqual(stream.end.complete, 0)
        self.assertIn("incomplete record", stream.reason)

    def test_command_that_does_not_exist(self):
        self.make_kernel()
        ours, theirs = self.pair()
        daemon = self.spawn(f"--stream={theirs.fileno()}", "--",
                            "/nonexistent", pass_fds=(theirs.fileno(),))
        theirs.close()
        collector = Collector(ours.detach())
        self.check_end(daemon, 127)
        stream = stream_parser.parse(collector.bytes())
        self.assertEqual(stream.end.reason, stream_parser.FAILED)
        self.assertIn("nonexistent", stream.reason)

    def test_killed(self):
        self.make_kernel()
        daemon, collector = self.start_stream()
        self.kernel.feed(0, records(9))
        self.wait_stream(collector, lambda s: s.n_records(0) == 9, "records")
        daemon.signal(signal.SIGKILL)
        daemon.finish()
        # The stream ends when the cleanup process has restored the kernel.
        with self.assertRaises(stream_parser.Truncated):
            stream_parser.parse(collector.bytes())
        self.assertEqual(self.kernel.get("enabled"), "0")


class Readers(StreamMixin, DaemonTest):
    """Readers that end, are killed, or are slow."""

    def test_reader_that_closes(self):
        for quiet in (), ("-q",):
            with self.subTest(quiet=quiet):
                self.make_kernel() if not self.kernel else None
                ours, theirs = self.pair()
                daemon = self.spawn(f"--stream={theirs.fileno()}", *quiet,
                                    pass_fds=(theirs.fileno(),))
                theirs.close()
                self.assertTrue(ours.recv(64))
                wait_for(lambda: self.kernel.get("enabled") == "1", "on")
                ours.close()
                _, err = self.check_end(daemon)
                self.assertEqual("the reader closed the stream" in err,
                                 not quiet)
                self.assertNotIn("cannot write", err)

    def test_reader_of_a_pipe_that_is_killed(self):
        self.make_kernel()
        ours, theirs = os.pipe()
        with subprocess.Popen([sys.executable, "-c",
                               "import sys; sys.stdin.buffer.read()"],
                              stdin=ours) as reader:
            os.close(ours)
            daemon = self.start(f"--stream={theirs}", pass_fds=(theirs,))
            os.close(theirs)
            self.kernel.feed(0, records(100))
            self.kernel.wait_read()
            reader.kill()
        _, err = self.check_end(daemon)
        self.assertIn("the reader closed the stream", err)

    def test_ticks_for_a_reader_that_never_catches_up(self):
        self.make_kernel(cpus=(0, 1))
        ours, theirs = self.pair()
        daemon = self.start(f"--stream={theirs.fileno()}",
                            pass_fds=(theirs.fileno(),))
        theirs.close()
        collector = Collector(ours.detach(), pause_s=0.02)
        done = threading.Event()

        def feed():
            start = 0
            while not done.is_set():
                self.kernel.feed(0, records(2000, start))
                start += 2000

        feeder = threading.Thread(target=feed, daemon=True)
        feeder.start()
        try:
            self.wait_stream(collector, lambda s: len(s.ticks) >= 8 and
                             s.ticks[-1][0].watermark > 1000, "ticks")
            wait_for(lambda: self.kernel.unread(0) > 0, "unread records")
        finally:
            done.set()
            collector.pause_s = 0
            feeder.join()
        self.end(daemon)
        self.parsed(collector)

    def stuck(self):
        """Start a recording whose reader reads nothing, and wait until a thread of
        kmemtraced waits for it while records are in the kernel."""
        self.make_kernel(cpus=(0,))
        ours, theirs = self.pair()
        daemon = self.start(f"--stream={theirs.fileno()}",
                            pass_fds=(theirs.fileno(),))
        theirs.close()
        # More than the socket holds; then as much as the FIFO holds.
        self.kernel.feed(0, records(15000))
        wait_for(lambda: self.kernel.unread(0) < 400000, "the first are read")
        self.kernel.feed(0, records(10000, 15000))
        daemon.wait_idle()
        self.assertGreater(self.kernel.unread(0), 0)
        return daemon, ours

    def test_slow_reader_gets_everything(self):
        daemon, ours = self.stuck()
        daemon.signal()
        daemon.wait_line("Ctrl\\+C discards them")
        self.assertEqual(self.kernel.get("enabled"), "0")
        collector = Collector(ours.detach())
        self.check_end(daemon)
        stream = self.parsed(collector)
        self.assertEqual(stream.records[0], records(25000))

    def test_reader_that_never_reads_can_be_abandoned(self):
        daemon, ours = self.stuck()
        daemon.signal()
        daemon.wait_line("Ctrl\\+C discards them")
        daemon.signal()
        _, err = self.check_end(daemon, 1)
        self.assertIn("no longer waiting for the reader", err)
        self.assertIn("ended before all records were written", err)
        collector = Collector(ours.detach())
        with self.assertRaises(stream_parser.Truncated):
            stream_parser.parse(collector.bytes())

    def test_reader_that_closes_while_kmemtraced_waits(self):
        daemon, ours = self.stuck()
        ours.close()
        _, err = self.check_end(daemon)
        self.assertIn("the reader closed the stream", err)


class Refused(StreamMixin, DaemonTest):
    """Descriptors and options that are refused."""

    def refuse(self, *args, pattern, status=1, **settings):
        """Check that kmemtraced changes nothing and prints an error."""
        if not self.kernel:
            self.make_kernel()
        code, _, err = self.run_to_end(*args, **settings)
        self.assertEqual(code, status, err)
        self.assertRegex(err, pattern)
        self.assertEqual(self.kernel.get("enabled"), "0")

    def test_descriptors(self):
        for text in "", "x", "-1", "1x", "99999999999", "3.0":
            with self.subTest(text=text):
                self.refuse("--stream=" + text,
                            pattern="is not the number of a descriptor")
        self.refuse("--stream=2", pattern="descriptor of the messages")
        self.refuse("--stream=77", pattern="descriptor 77: Bad file")
        for fd in "01":
            self.refuse("--stream=" + fd, "--", "true", status=125,
                        pattern="descriptor of the command")
        with open(os.devnull, "rb") as file:
            self.refuse(f"--stream={file.fileno()}",
                        pass_fds=(file.fileno(),),
                        pattern="not open for writing")
        first, second = os.openpty()
        self.refuse(f"--stream={second}", pass_fds=(second,),
                    pattern="a terminal")
        os.close(first)
        os.close(second)

    def test_options(self):
        for option in ["-D", self.out], ["-f"], ["-S"], \
                ["--initramfs", os.path.join(self.root, "pid")]:
            with self.subTest(option=option):
                self.make_kernel() if not self.kernel else None
                process = subprocess.run(
                    [PROGRAM, "-r", os.path.join(self.root, "debug"),
                     "--stream=1", *option], capture_output=True, text=True,
                    timeout=TIMEOUT_S)
                self.assertEqual(process.returncode, 1)
                self.assertIn("--stream writes no capture", process.stderr)

    def test_full_device(self):
        with open("/dev/full", "wb") as file:
            self.refuse(f"--stream={file.fileno()}", pass_fds=(file.fileno(),),
                        pattern="cannot write the stream to descriptor.*"
                                "No space left")


@unittest.skipUnless(SOURCE_READY, "built without libtraceevent")
class Ftrace(StreamMixin, TracefsTest):
    """The source ftrace."""

    def test_records_equal_those_of_a_capture(self):
        pages = [b"".join(page(5000 * (i + 1) + cpu, *(
            event("kmalloc", 10, 0xffff888000000000 + 64 * (100 * i + j))
            for j in range(50))) for i in range(20)) for cpu in (0, 1)]
        self.make_tracefs(pages=pages)
        daemon, collector = self.start_stream("--keep-own", "-b", "64")
        self.wait_stream(collector, lambda s: s.n_records(0) == 1000 and
                         s.n_records(1) == 1000, "all records")
        daemon.signal()
        self.check_end(daemon)
        stream = self.parsed(collector)
        self.assertEqual(stream.header.record_bytes, 64)
        daemon = self.start("--keep-own", "-b", "64")
        daemon.signal()
        self.check_end(daemon)
        capture = self.capture()
        for cpu in (0, 1):
            self.assertEqual(stream.records[cpu], capture.cpu(cpu))

    def test_held_record_of_an_idle_cpu(self):
        self.make_tracefs(pages=(
            page(5000, event("kmalloc", 10, 0xffff888000000000),
                 event("kmalloc", 10, 0xffff888000100000,
                       sizes=(100000, 131072))), b""))
        daemon, collector = self.start_stream("--keep-own")
        self.wait_stream(collector, lambda s: s.n_records(0) == 2,
                         "held record")
        daemon.signal()
        self.check_end(daemon)
        self.parsed(collector)


if __name__ == "__main__":
    main()
