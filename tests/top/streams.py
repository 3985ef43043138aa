#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""kmemtrace-top --read: names, limits, losses, raw captures, and streams that are
damaged, truncated, or hostile."""

import os
import random
import signal
import struct
import subprocess
import unittest

import mkcapture
import mkstream
import seeds
import stream_parser
from target import BYTE_ORDER, ORDER
from top_case import (CHECK, TIMEOUT_S, TOP, TopCase, documents, report, rows_of_report,
                      rows_of_top, top)

META = """meta
    [capture]
    format=1
    abi_version=3
    record_size=64
    byte_order={order}
    complete=true
    source=bpf
    kernel_release=6.18.0
"""
RECORD = struct.calcsize("<BBHiQQQQQqIHH")


def make_text(n, cpus=1, step=10**6):
    """Return a fixture: n objects of 100 bytes, of which every second one is
    freed."""
    lines = [META.format(order=BYTE_ORDER)]
    for cpu in range(cpus):
        lines.append(f"cpu {cpu} {BYTE_ORDER} size=64")
        for i in range(n):
            at = (i * cpus + cpu) * step
            ptr = 0xffff888000000000 + (cpu * n + i) * 128
            lines.append(f"alloc kmalloc t={at} ptr={ptr} req=100 alloc=128 "
                         "pid=0 cache=0 flags=0")
            if i % 2:
                lines.append(f"free kmalloc t={at + step // 2} ptr={ptr} "
                             "pid=0 cache=0 flags=0")
    return "\n".join(lines) + "\n"


class Figures(TopCase):
    """Views of streams without damage."""

    def test_owners(self):
        """Commands and caches are those of the report."""
        for fixture in ("clean-version2", "clean-merged-caches", "clean-defer"):
            name = fixture + ("-big" if BYTE_ORDER == "big" else "")
            path = f"check/fixtures/{name}.txt"
            if not os.path.exists(os.path.join(os.environ["top_srcdir"],
                                               "tests", path)):
                continue
            directory = self.fixture(path, fixture)
            if mkstream.Source(directory).order != ORDER:
                continue
            stream = self.stream(directory)
            for by in ("cache", "comm", "callsite"):
                self.assertEqual(rows_of_top(self.last(stream, "--by", by)),
                                 rows_of_report(report(directory, "--by", by),
                                                by))

    def test_prefix(self):
        """Each view has the figures of the records up to its tick."""
        directory = self.capture(make_text(100, cpus=2))
        stream = self.stream(directory, tick_ns=20 * 10**6)
        views = self.views(stream, "-d", "0.02", "--clock-tolerance=0")
        self.assertGreater(len(views), 5)
        for view in views[:-1]:
            # The trace of mkstream begins 200 ms before its first tick.
            stop_ns = round(view["header"]["elapsed_s"] * 1e9) - 180 * 10**6 - 1
            want = report(directory, f"--time=,{stop_ns / 1e9:.9f}",
                          "--clock-tolerance=0")
            self.assertEqual(rows_of_top(view), rows_of_report(want, "callsite"))

    def test_rates(self):
        """Rates are those of the interval, and each interval is of its length."""
        directory = self.capture(make_text(2000))
        views = self.views(self.stream(directory, tick_ns=10**8), "-d", "0.5")
        for view in views[1:-1]:
            header, row = view["header"], view["rows"][0]
            self.assertAlmostEqual(header["interval_s"], .5, places=6)
            self.assertEqual(row["interval_allocs"], 500)
            self.assertAlmostEqual(row["allocs_per_s"], 1000)
            self.assertAlmostEqual(row["frees_per_s"], 500)
            self.assertAlmostEqual(row["bytes_per_s"], 128000)
            self.assertEqual(row["growth_bytes"], 250 * 128)
            self.assertEqual(header["interval_events"], 750)
        self.assertEqual(views[-1]["rows"][0]["live_objects"], 1000)

    def test_header(self):
        """The header has the properties of the trace."""
        header = self.last(self.stream(self.capture(make_text(10))))["header"]
        self.assertEqual(header["source"], "bpf")
        self.assertEqual(header["kernel"], "6.18.0")
        self.assertEqual(header["cpus"], 1)
        self.assertEqual(header["events"], 15)
        self.assertEqual(header["live_objects"], 5)
        self.assertTrue(header["ended"])
        self.assertEqual(header["end_reason"], "stopped")
        self.assertFalse(header["limit_reached"])

    def test_query(self):
        """Order, kind, match, and lines select the rows."""
        text = META.format(order=BYTE_ORDER) + "kallsyms\n"
        sites = {"alpha": 3, "beta": 1, "Gamma": 2}
        for i, name in enumerate(sites):
            text += f"    {0xffffffff81000000 + i * 4096:016x} T {name}\n"
        text += f"    {0xffffffff81009000:016x} T _etext\n"
        text += f"cpu 0 {BYTE_ORDER} size=64\n"
        for i, n in enumerate(sites.values()):
            for j in range(n):
                kind = "pages" if i == 1 else "kmalloc"
                text += (f"alloc {kind} t={i * 10 + j} req=4000 alloc=4096 "
                         f"site={0xffffffff81000010 + i * 4096} "
                         f"ptr={0xffff888000000000 + (i * 10 + j) * 4096}\n")
        stream = self.stream(self.capture(text))

        def names(*args):
            return [row["name"].split("+")[0]
                    for row in self.last(stream, *args)["rows"]]

        self.assertEqual(names(), ["alpha", "Gamma", "beta"])
        self.assertEqual(names("-o", "live", "-r"), ["beta", "Gamma", "alpha"])
        self.assertEqual(names("-o", "name"), ["Gamma", "alpha", "beta"])
        self.assertEqual(names("-k", "pages"), ["beta"])
        self.assertEqual(names("-k", "slab"), ["alpha", "Gamma"])
        self.assertEqual(names("-k", "cache"), [])
        self.assertEqual(names("-m", "GAM"), ["Gamma"])
        self.assertEqual(names("-m", "*eta+*"), ["beta"])
        self.assertEqual(names("-l", "1"), ["alpha"])
        self.assertEqual([row["name"] for row in self.last(
            stream, "--by", "module")["rows"]], ["vmlinux", "vmlinux"])

    def test_text(self):
        """The text has the figures of the JSON document."""
        stream = self.stream(self.capture(make_text(10)))
        run = top("-b", f"--read={stream}", "-d", "1000")
        self.assertEqual((run.returncode, run.stderr), (0, ""))
        row, = self.last(stream)["rows"]
        line = run.stdout.rstrip().split("\n")[-1].split()
        self.assertEqual(line[3:8], [str(row[name]) for name in (
            "live_bytes", "live_objects", "wasted_bytes", "growth_bytes",
            "kind")])
        self.assertIn("source bpf, Linux 6.18.0, 1 CPUs", run.stdout)

    def test_iterations(self):
        """-n ends early, and a pipe that is closed is no error."""
        stream = self.stream(self.capture(make_text(2000)), tick_ns=10**8)
        self.assertEqual(len(self.views(stream, "-d", ".3", "-n", "2")), 2)
        with subprocess.Popen([TOP, "-b", f"--read={stream}", "-d", ".1"],
                              stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE) as process:
            process.stdout.close()
            self.assertEqual(process.stderr.read(), b"")

    def test_standard_input(self):
        """--read=- reads a pipe."""
        with open(self.stream(self.capture(make_text(10))), "rb") as file:
            run = top("-b", "--json", "--read=-", stdin=file)
        self.assertEqual(documents(run.stdout)[-1]["header"]["events"], 15)

    def test_empty(self):
        """A trace without records is valid."""
        text = META.format(order=BYTE_ORDER) + f"cpu 0 {BYTE_ORDER} size=64\n"
        view = self.last(self.stream(self.capture(text)))
        self.assertEqual(view["header"]["events"], 0)
        self.assertEqual(view["rows"], [])

    def test_hostile_names(self):
        """Control characters of a capture never reach the terminal."""
        text = make_text(1) + f"cpu 1 {BYTE_ORDER} size=64\n"
        text += ("record event=1 type=0 size=64 t=5 site=0xffffffff81000010 "
                 "ptr=0xffff888010000000 req=8 alloc=8 pid=7 cache=0 flags=0\n")
        directory = self.capture(text)
        with open(os.path.join(directory, "tasks"), "wb") as file:
            file.write(b"# kmemtrace tasks 1\n7 99 \x1b]0;evil\x07\xff<b>\n")
        with open(os.path.join(directory, "kallsyms"), "wb") as file:
            file.write(b"ffffffff81000000 T \x1b[2Jevil\n"
                       b"ffffffff81001000 T _etext\n")
        for by in ("comm", "callsite", "module", "directory", "cache"):
            run = top("-b", f"--read={self.stream(directory)}", "--by", by)
            self.assertEqual(run.returncode, 0, run)
            self.assertNotIn("\x1b", run.stdout + run.stderr)


class Limits(TopCase):
    """The limit of the live objects, and losses."""

    def test_limit(self):
        """Objects beyond the limit are counted, but not tracked."""
        stream = self.stream(self.capture(make_text(20000)), tick_ns=10**8)
        views = self.views(stream, "-d", "1", "--max-objects", "3000")
        header, row = views[-1]["header"], views[-1]["rows"][0]
        self.assertFalse(views[0]["header"]["limit_reached"])
        self.assertTrue(header["limit_reached"])
        self.assertEqual(header["max_objects"], 3000)
        self.assertLessEqual(header["live_objects"], 3000)
        self.assertEqual(row["live_objects"], header["live_objects"])
        self.assertEqual(row["allocs"], 20000)
        self.assertEqual(row["frees"] + row["live_objects"] +
                         header["untracked_allocs"], 20000)
        self.assertEqual(header["events"], 30000)
        run = top("-b", f"--read={stream}", "--max-objects=3000", "-d", "100")
        self.assertIn("LIMIT of 3000 objects reached", run.stdout)

    def test_memory(self):
        """--memory is a limit in bytes."""
        stream = self.stream(self.capture(make_text(2)))
        for text, objects in (("48", 1), ("1k", 21), ("1M", 21845)):
            header = self.last(stream, "--memory", text)["header"]
            self.assertEqual(header["max_objects"], objects)

    def test_losses(self):
        """Losses are in the header, and excuse frees without allocations."""
        writer = self.writer()
        writer.counters({0: 0})
        writer.tick(10, 10**9)
        writer.counters({0: 7})
        writer.tick(20, 2 * 10**9)
        writer.counters({0: None})
        writer.tick(30, 3 * 10**9)
        writer.end(lost=None)
        views = self.views(self.save(writer.data), "-d", "0.9")
        self.assertEqual([(v["header"]["lost"], v["header"]["interval_lost"],
                           v["header"]["losses_unknown"]) for v in views[:2]],
                         [(7, 7, False), (0, 0, True)])

    def writer(self):
        """Return a stream that has begun."""
        writer = mkstream.Writer(order=ORDER, n_cpus=1)
        writer.meta(META.format(order=BYTE_ORDER).replace("    ", "")
                    .replace("meta\n", "", 1).encode())
        return writer

    def peaks(self, n_ticks):
        """Return the peak memory in bytes after n_ticks and after 10 times n_ticks
        times 200 frames of a record, which the watermark follows one tick
        later."""
        # The address sanitizer would keep freed memory.
        options = os.environ.get("ASAN_OPTIONS", "") + ":quarantine_size_mb=0"
        peaks = []
        writer = self.writer()
        with subprocess.Popen([TOP, "-b", "--read=-", "-d", "100000"],
                              env={**os.environ, "ASAN_OPTIONS": options},
                              stdin=subprocess.PIPE,
                              stdout=subprocess.DEVNULL) as process:
            for tick in range(10 * n_ticks):
                for at in range(200 * tick, 200 * (tick + 1)):
                    writer.records(0, mkcapture.event_v2(
                        event_id=1 + at % 2, t=at + 1, ptr=0xffff888000001000,
                        order=BYTE_ORDER))
                writer.tick(200 * tick, (tick + 1) * 10**9)
                process.stdin.write(writer.data)
                writer.data.clear()
                if (tick + 1) in (n_ticks, 10 * n_ticks):
                    with open(f"/proc/{process.pid}/status") as file:
                        peaks += [int(line.split()[1]) << 10 for line in file
                                  if line.startswith("VmHWM:")]
            writer.end()
            process.stdin.write(writer.data)
        self.assertEqual(process.returncode, 0)
        return peaks

    def test_bounded_queues(self):
        """Many frames per tick take no memory after they were counted."""
        before, after = self.peaks(300)
        self.assertLess(after, before + (6 << 20))

    def test_not_seen(self):
        """The views and the raw capture have the latest list of what the source does
        not record."""
        writer = self.writer()
        meta = META.format(order=BYTE_ORDER).replace("    ", "").replace("meta\n", "", 1)
        writer.meta((meta + "not_seen=bulk frees;all pages;\n").encode())
        writer.tick(10, 10**9)
        writer.meta((meta + "not_seen=bulk frees;\n").encode())
        writer.tick(20, 2 * 10**9)
        writer.end()
        stream = self.save(writer.data)
        directory = os.path.join(self.dir, "raw")
        views = self.views(stream, "-d", "0.9", "-D", directory)
        self.assertEqual(views[-1]["header"]["not_seen"], ["bulk frees"])
        with open(os.path.join(directory, "kmemtrace.meta"), encoding="utf-8") as file:
            self.assertIn("not_seen=bulk frees;\n", file.read())
        run = top("-b", f"--read={stream}")
        self.assertIn("\nNot seen: 1 gaps of ", run.stdout)

    def test_frees_before(self):
        """Frees of memory from before the trace are counted apart."""
        text = META.format(order=BYTE_ORDER) + (
            f"cpu 0 {BYTE_ORDER} size=64\n"
            "free kmalloc t=1 ptr=0xffff888000001000\n"
            "free kmalloc t=2 ptr=0xffff888000002000\n"
            "free kmalloc t=3 ptr=0xffff888000002000\n")
        header = self.last(self.stream(self.capture(text)))["header"]
        self.assertEqual(header["frees_before_trace"], 2)
        self.assertEqual(header["unmatched_frees"], 1)


class Captures(TopCase):
    """Raw captures that are written from a stream."""

    def test_capture(self):
        """The capture equals the one of which the stream was made."""
        directory = self.capture(make_text(500, cpus=2))
        other = os.path.join(self.dir, "raw")
        view = self.last(self.stream(directory), "--capture", other)
        self.assertEqual(view["header"]["capture"]["state"], "complete")
        self.assertEqual(view["header"]["capture"]["path"], other)
        check = subprocess.run([CHECK, other], capture_output=True, text=True,
                               check=False)
        self.assertEqual(check.returncode, 0, check)
        for cpu in (0, 1):
            with open(os.path.join(directory, f"cpu{cpu}.out"), "rb") as a, \
                    open(os.path.join(other, f"cpu{cpu}.out"), "rb") as b:
                self.assertEqual(a.read(), b.read())
        self.assertEqual(report(directory)["callsites"],
                         report(other)["callsites"])
        self.assertEqual(rows_of_top(view),
                         rows_of_report(report(other), "callsite"))

    def test_late_cpu(self):
        """A CPU that comes online is counted and captured, one that stays offline
        has no file."""
        writer = mkstream.Writer(order=ORDER, n_cpus=3)
        head = META.format(order=BYTE_ORDER).replace("    ", "").replace(
            "meta\n", "", 1).encode() + b"[cpu0]\nnode=0\n"
        writer.meta(head)
        writer.counters({0: 0})
        writer.tick(10, 10**9)
        late = mkcapture.event_v2(t=20, ptr=0xffff888000001000, order=BYTE_ORDER)
        writer.records(1, late)
        writer.meta(head + b"[cpu1]\nnode=0\n")
        writer.counters({0: 0, 1: 0})
        writer.tick(stream_parser.WATERMARK_END, 2 * 10**9)
        writer.end()
        raw = os.path.join(self.dir, "raw")
        view = self.last(self.save(writer.data), "--capture", raw)
        self.assertEqual(view["header"]["events"], 1)
        self.assertEqual(view["header"]["capture"]["state"], "complete")
        with open(os.path.join(raw, "cpu1.out"), "rb") as file:
            self.assertEqual(file.read(), late)
        self.assertEqual(os.path.getsize(os.path.join(raw, "cpu0.out")), 0)
        self.assertFalse(os.path.exists(os.path.join(raw, "cpu2.out")))
        check = subprocess.run([CHECK, raw], capture_output=True, text=True,
                               check=False)
        self.assertEqual(check.returncode, 0, check)

    def test_record_size(self):
        """A stream whose kmemtrace.meta has no or a wrong size of records."""
        for i, line in enumerate(("", "record_size=0", "record_size=56")):
            writer = mkstream.Writer(order=ORDER, n_cpus=1)
            writer.meta(f"[capture]\nabi_version=3\n{line}\n[cpu0]\n".encode())
            writer.records(0, mkcapture.event_v2(order=BYTE_ORDER))
            writer.tick(stream_parser.WATERMARK_END, 0)
            writer.end()
            other = os.path.join(self.dir, f"raw{i}")
            view = self.last(self.save(writer.data), "--capture", other)
            self.assertEqual(view["header"]["events"], 1)
            self.assertEqual(view["header"]["capture"]["state"], "complete")
            meta = mkstream.Source(other).meta
            self.assertEqual(meta["capture"]["record_size"], "64")
            self.assertEqual(meta["cpu0"]["events"], "1")

    def test_refusal(self):
        """A directory with a capture is not overwritten; the view goes on."""
        directory = self.capture(make_text(10))
        view = self.last(self.stream(directory), "--capture", directory)
        self.assertEqual(view["header"]["capture"]["state"], "failed")
        self.assertTrue(view["header"]["capture"]["error"])
        self.assertEqual(view["header"]["events"], 15)


class Damage(TopCase):
    """Streams that a reader must refuse."""

    def good(self):
        """Return the bytes of a stream."""
        return mkstream.convert(self.capture(make_text(300, cpus=2),
                                             "good"), tick_ns=10**8)

    def refused(self, data, *words):
        """Check that a stream ends in one message, without a crash."""
        path = self.save(data)
        run = top("-b", "--json", f"--read={path}", env=self.environment())
        self.assertEqual(run.returncode, 1, run)
        self.assertTrue(run.stderr.startswith("kmemtrace-top: "), run.stderr)
        self.assertEqual(run.stderr.count("\n"), 1, run.stderr)
        for word in words:
            self.assertIn(word, run.stderr)
        self.assertEqual(os.listdir(self.tmp), [])
        return documents(run.stdout)

    def environment(self):
        """Return an environment with a TMPDIR of its own."""
        self.tmp = os.path.join(self.dir, "tmp")
        os.makedirs(self.tmp, exist_ok=True)
        return {**os.environ, "TMPDIR": self.tmp}

    def test_truncated(self):
        """Each truncation is an error, and the records before it are counted."""
        data = self.good()
        views = self.refused(data[:-8], "ends within a frame")
        self.assertEqual(views[-1]["header"]["events"], 900)
        self.assertIn("ends within", views[-1]["header"]["end_reason"])
        rng = seeds.generator("truncated")
        for at in [1, 63, 64, 65] + [rng.randrange(len(data))
                                     for _ in range(10)]:
            self.refused(data[:at])

    def test_no_end(self):
        """A stream without its end frame is truncated."""
        data = mkstream.convert(self.capture(make_text(10), "good"), end=False)
        views = self.refused(data, "without an end frame")
        self.assertEqual(views[-1]["header"]["events"], 15)

    def test_no_stream(self):
        """Another file, an empty one, and one of a newer version are refused."""
        self.refused(b"x" * 1000, "is not a stream of kmemtraced")
        self.refused(b"", "ends within the header")
        data = bytearray(self.good())
        struct.pack_into(ORDER + "I", data, 12, 2)
        self.refused(data, "newer version")
        other = mkstream.Writer(order={"<": ">", ">": "<"}[ORDER])
        self.refused(other.data, "byte order")

    def test_gap(self):
        """Missing frames are noticed."""
        writer = mkstream.Writer(order=ORDER)
        writer.meta(b"[capture]\nabi_version=3\nrecord_size=64\n[cpu0]\n")
        writer.sequence += 1
        writer.tick(0, 0)
        self.refused(writer.data, "frames before it are missing")

    def test_invalid_frames(self):
        """Frames with invalid payloads are refused."""
        meta = b"[capture]\nabi_version=3\nrecord_size=64\n[cpu0]\nnode=0\n"
        cases = {
            "kmemtrace.meta is invalid": lambda w: w.meta(b"\xff[\0"),
            "kmemtrace.meta is missing": lambda w: w.tick(0, 0),
            "its CPU is not in": lambda w: (w.meta(meta),
                                            w.records(9, bytes(64))),
            "ends within a record": lambda w: (w.meta(meta),
                                               w.records(0, bytes(63))),
            "the frame is too short": lambda w: (
                w.meta(meta), w.frame(stream_parser.TICK, b"12345678")),
            "has too many CPUs": lambda w: (w.meta(meta + b"".join(
                b"[cpu%d]\n" % cpu for cpu in range(1, 8193))), w.tick(0, 0)),
            "the head of a table": lambda w: w.frame(stream_parser.TABLE,
                                                     b"tasks"),
            "the size of a table": lambda w: w.frame(
                stream_parser.TABLE, struct.pack(
                    ORDER + stream_parser.TABLE_HEAD, b"tasks", 9, 3, 4)),
            "a table lacks its beginning": lambda w: w.table("tasks", b"12345",
                                                             n_kept=5),
        }
        for message, make in cases.items():
            writer = mkstream.Writer(order=ORDER, n_cpus=1)
            make(writer)
            self.refused(writer.data, message)

    def test_no_tick(self):
        """Records that no tick covers do not fill the memory."""
        writer = mkstream.Writer(order=ORDER, n_cpus=1)
        writer.meta(b"[capture]\nabi_version=3\nrecord_size=64\n[cpu0]\nnode=0\n")
        writer.tick(-1, 0)
        writer.records(0, mkcapture.event_v2(order=BYTE_ORDER))
        path = self.save(writer.data)
        # Frames of an unknown type, as holes of the file.
        with open(path, "r+b") as file:
            file.seek(0, os.SEEK_END)
            for sequence in range(writer.sequence, writer.sequence + 2200):
                file.write(struct.pack(ORDER + stream_parser.FRAME, 99,
                                       stream_parser.NO_CPU,
                                       stream_parser.PAYLOAD_MAX, 0, sequence))
                file.seek(stream_parser.PAYLOAD_MAX, os.SEEK_CUR)
            file.truncate()
        run = top("-b", f"--read={path}", env=self.environment())
        self.assertEqual(run.returncode, 1, run)
        self.assertIn("no tick covers the records", run.stderr)
        self.assertEqual(os.listdir(self.tmp), [])

    def test_paths(self):
        """The name of a table cannot leave the directory of the tables."""
        writer = mkstream.Writer(order=ORDER, n_cpus=1)
        writer.meta(b"[capture]\nabi_version=3\nrecord_size=64\n[cpu0]\n")
        writer.table("../evil", b"text")
        writer.table("/tmp/evil", b"text")
        writer.tick(stream_parser.WATERMARK_END, 0)
        writer.end()
        self.last(self.save(writer.data))
        self.assertFalse(os.path.exists(os.path.join(self.dir, "evil")))

    def test_random_damage(self):
        """Random damage never crashes the program."""
        good = self.good()
        for seed in seeds.several(40):
            rng = random.Random(seed)
            data = bytearray(good)
            for _ in range(rng.randint(1, 8)):
                at = rng.randrange(len(data)) if rng.random() < .5 \
                    else rng.randrange(min(len(data), 2000))
                data[at] ^= 1 << rng.randrange(8)
            run = top("-b", "--json", f"--read={self.save(data)}",
                      env=self.environment())
            self.assertIn(run.returncode, (0, 1), (seed, run.stderr))
            self.assertEqual(os.listdir(self.tmp), [])

    def test_signal(self):
        """A signal ends the program, which removes its directory."""
        env = self.environment()
        data = self.good()
        with subprocess.Popen([TOP, "-b", "--read=-", "-d", "0.01"], env=env,
                              stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE) as process:
            process.stdin.write(data[:-100])
            process.stdin.flush()
            process.stdout.readline()
            self.assertEqual(len(os.listdir(self.tmp)), 1)
            process.send_signal(signal.SIGTERM)
            self.assertEqual(process.wait(timeout=TIMEOUT_S),
                             128 + signal.SIGTERM)
            self.assertEqual(process.stderr.read(), b"")
        self.assertEqual(os.listdir(self.tmp), [])


class CommandLine(TopCase):
    """Mistakes on the command line."""

    def test_mistakes(self):
        """Each mistake has a message."""
        stream = self.stream(self.capture(make_text(1)))
        for args, message in (
                (["-d", "0"], "--delay"), (["-d", "x"], "--delay"),
                (["-d", "nan"], "--delay"), (["-n", "-1"], "--iterations"),
                (["--by", "x"], "--by: unknown word 'x'"),
                (["-k", "x"], "--kind"), (["-o", "x"], "--sort"),
                (["--memory", "1T"], "--memory"),
                (["--memory", "1M", "--max-objects", "1"], "exclude"),
                (["--source", "bpf"], "--read reads a recorded stream"),
                (["--", "true"], "--read reads a recorded stream"),
                (["--tree", "/none"], "/none")):
            run = top("-b", f"--read={stream}", *args)
            self.assertEqual(run.returncode, 1, args)
            self.assertIn(message, run.stderr, args)
        run = top("-b", "--read=/none")
        self.assertEqual((run.returncode, run.stderr), (
            1, "kmemtrace-top: cannot open /none: No such file or directory\n"))

    def test_help(self):
        """--help and --version work."""
        text = top("--help").stdout
        self.assertIn("Exit status", text)
        self.assertEqual(text.count("--help"), 1)
        self.assertIn("kmemtrace", top("--version").stdout)


if __name__ == "__main__":
    assert RECORD == 64 and mkcapture.V2_SIZE == RECORD
    unittest.main()
