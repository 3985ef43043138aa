#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""kmemtrace-import on valid and invalid trace.dat files.  One unit: the cases share
the same events and files."""

import mmap
import os
import signal
import struct
import subprocess
import sys
import time

from import_case import (PROGRAM, REPORT, ImportTest, lacks, main,
                         sanitizer_environment)
from import_events import (A, MORE, TRACEPOINTS, USUAL, Event, Field,
                           more_records, of_cpu)
from target import ORDER, pack
from trace_dat_files import (PAGE, dat_option, dat_stats, ring_page, trace_dat,
                             trace_dat7, usual_kallsyms)


def usual(tracepoints=None, **settings):
    """Return a file with the usual events."""
    points = tracepoints or TRACEPOINTS
    return trace_dat([[ring_page(of_cpu(USUAL, cpu), points)]
                      for cpu in (0, 1)], points, **settings)


def usual7(**settings):
    """Return a file of version 7 with the usual events."""
    return trace_dat7([("", [[ring_page(of_cpu(USUAL, cpu), TRACEPOINTS)]
                             for cpu in (0, 1)])], **settings)


def kfree(when, ptr=0xffff888000009000):
    """Return a free."""
    return Event("kfree", 0, when, {"call_site": A, "ptr": ptr})


def asleep(pid):
    """Return whether a process sleeps."""
    with open(f"/proc/{pid}/stat") as file:
        return file.read().rsplit(")", 1)[1].split()[0] == "S"


class TraceDat(ImportTest):
    """A trace.dat file of version 6 or 7."""

    def test_usual(self):
        said = self.imported(self.write("trace.dat", usual()))
        self.assert_usual()
        self.assertIn("7 events of 2 CPUs, 0 lost", said)
        meta = self.meta()
        self.assertEqual([meta[k] for k in ("imported_from", "recorded_by",
                                            "clock", "word_size")],
                         ["trace.dat", "trace-cmd", "trace-cmd", "8"])
        self.assertIn("7 - a task\n", self.text("tasks"))
        self.assertEqual(self.text("kallsyms"),
                         usual_kallsyms().decode())

    def test_percpu_and_vmalloc(self):
        """The file contains the number of CPUs."""
        self.imported(self.write("trace.dat", trace_dat(
            [[ring_page(MORE, TRACEPOINTS)], [], []])))
        self.assertEqual(self.records(0), more_records(3 * 24))

    def test_no_names(self):
        """Without symbols in the file, a message recommends --kallsyms."""
        path = self.write("trace.dat", usual(kallsyms=b"", comms=b""))
        self.assertIn("--kallsyms", self.imported(path))
        self.assertEqual(self.text("kallsyms"), "")
        self.assertIn("7 - :7\n", self.text("tasks"))

    def test_hidden_addresses(self):
        """A table of zeros has no addresses; one non-zero address suffices."""
        zeros = "".join(f"{0:016x} T hidden{i}\n" for i in range(3))
        for kallsyms in (zeros, zeros[:-1]):
            path = self.write("trace.dat", usual(kallsyms=kallsyms.encode()))
            self.assertIn("--kallsyms", self.imported(path, "-f"))
            self.assertEqual(self.text("kallsyms"), "")
        kallsyms = zeros + f"{A:016x} T shown\n"
        path = self.write("trace.dat", usual(kallsyms=kallsyms.encode()))
        self.assertNotIn("--kallsyms", self.imported(path, "-f"))
        self.assertIn("T shown\n", self.text("kallsyms"))

    def test_counters_cut_off(self):
        """A counter that is missing in the option counts as absent."""
        for text, overruns in (("CPU: 1", "0"), ("CPU: 1\noverrun: 4", "0"),
                               ("CPU: 1\noverrun: 4\ncommit overrun: 3", "7"),
                               ("CPU", "0"), ("", "0"), ("\n\n", "0")):
            for end in ("", "\n"):
                options = dat_option(2, f"{text}{end}\0".encode())
                self.imported(self.write("trace.dat", usual(options=options)),
                              "-f")
                self.assertEqual(self.meta().get("overruns", "0"), overruns)

    def test_pages(self):
        """Many pages, and a CPU without any page."""
        events = [kfree(t * 10, ptr=t << 8) for t in range(1, 1001)]
        pages = [ring_page(events[i:i + 100], TRACEPOINTS)
                 for i in range(0, 1000, 100)]
        self.imported(self.write("trace.dat", trace_dat([pages, []])))
        self.assertEqual([r[9] for r in self.records(0)],
                         [t * 10 for t in range(1, 1001)])
        self.assertEqual(self.meta()["cpus"], "1")

    def test_loss(self):
        """The ring buffer has the number of lost events, or only the fact."""
        for missed, overruns in ((4, "4"), (-1, None)):
            pages = [ring_page([kfree(10)], TRACEPOINTS),
                     ring_page([kfree(50, 0x9000)], TRACEPOINTS, missed)]
            said = self.imported(self.write("trace.dat", trace_dat([pages])),
                                 "-f")
            meta = self.meta()
            self.assertEqual(meta.get("overruns"), overruns)
            self.assertEqual(meta.get("cpu0.overruns"), overruns)
            self.assertEqual(meta.get("losses"),
                             None if overruns else "unnumbered")
            self.assertEqual([(r[0], r[6]) for r in self.records(0)],
                             [(2, 0), (3, max(missed, 0)), (2, 0)])
            self.assertIn("4 lost" if overruns else "unknown number",
                          said)

    def test_counters(self):
        """The kernel's counters of each CPU complete what a page lacks."""
        for missed, stats, overruns, at_place in (
                (-1, {"overrun": 9}, 9, 9),
                (-1, {"overrun": 9, "dropped": 2}, 11, 0),
                (4, {"overrun": 4, "commit": 3}, 7, 4),
                (None, {"overrun": 5}, 5, None),
                (None, {}, 0, None)):
            for build in (lambda pages, options: trace_dat(
                              [[], pages], options=options),
                          lambda pages, options: trace_dat7(
                              [("", [[], pages])], options=options)):
                pages = [ring_page([kfree(10)], TRACEPOINTS),
                         ring_page([kfree(50, 0x9000)], TRACEPOINTS, missed)]
                options = dat_stats(0) + dat_stats(1, unread=2, **stats)
                self.imported(self.write("trace.dat", build(pages, options)),
                              "-f")
                meta = self.meta()
                self.assertEqual((meta["overruns"], meta["cpu1.overruns"],
                                  meta["complete"]),
                                 (str(overruns), str(overruns), "true"))
                self.assertEqual([r[6] for r in self.records(1)
                                  if r[0] == 3],
                                 [] if at_place is None else [at_place])

    def test_version_7(self):
        """Version 7 gives the same capture as version 6."""
        for packing in ("none", "zstd", "zlib"):
            self.imported(self.write("trace.dat", usual7(packing=packing)),
                          "-f")
            self.assert_usual()
            self.assertEqual(self.text("kallsyms"),
                             usual_kallsyms().decode())
            self.assertIn("7 - a task\n", self.text("tasks"))
            self.assertEqual(self.meta()["trace_clock"], "local")
        subprocess.run(["rm", "-r", self.out], check=True)
        self.refused(self.write("trace.dat", usual7().replace(
            b"zstd\0", b"lzma\0")), "lzma", "trace-cmd convert "
            "--file-version 6 --compression none -i", "trace.dat")

    def test_machine(self):
        """The versions of the kernel and of trace-cmd."""
        options = dat_option(5, b"Linux a-host 6.1.0-9-amd64 x86_64\0") + \
            dat_option(9, b"3.1.6 x\0")
        for data in (usual(options=options), usual7(options=options)):
            self.imported(self.write("trace.dat", data), "-f")
            meta = self.meta()
            self.assertEqual([meta[key] for key in (
                "kernel_release", "machine", "recorded_by")],
                ["6.1.0-9-amd64", "x86_64", "trace-cmd 3.1.6 x"])

    def test_clocks(self):
        """Clocks of nanoseconds, or with a known factor; others are refused."""
        def of(clock, more=b""):
            text = f"local [{clock}] global\n\0".encode()
            return (usual(options=dat_option(4, text) + more),
                    usual7(clock=clock, options=more))
        for clock in ("local", "global", "mono", "boot", "perf", "tai"):
            for data in of(clock):
                self.imported(self.write("trace.dat", data), "-f")
                self.assert_usual()
                self.assertEqual(self.meta()["trace_clock"], clock)
        for data in of("uptime"):
            self.imported(self.write("trace.dat", data), "-f")
            self.assertEqual(self.records(0)[0][9], 1000 * 10000000)
        # 1.5 ns for each cycle.
        for data in of("x86-tsc", dat_option(14, pack("IIQ", 3, 1, 0))):
            self.imported(self.write("trace.dat", data), "-f")
            self.assertEqual(self.records(0)[0][9], 1500)
        subprocess.run(["rm", "-r", self.out], check=True)
        for clock in ("x86-tsc", "counter", "ppc-tb"):
            for data in of(clock):
                self.refused(self.write("trace.dat", data), clock,
                             "does not count nanoseconds", "-C mono")

    def test_modules(self):
        """Symbols of modules remain symbols of modules."""
        kallsyms = usual_kallsyms() + \
            f"{A + 0x40000000:016x} t of_module\t[a_module]\n".encode()
        event = Event("kfree", 0, 10, {"call_site": A + 0x40000010,
                                       "ptr": 0xffff888000009000})
        path = self.write("trace.dat", trace_dat(
            [[ring_page([event], TRACEPOINTS)]], kallsyms=kallsyms))
        self.imported(path)
        self.assertIn("\t[a_module]\n", self.text("kallsyms"))
        shown = subprocess.run([REPORT, "--before-trace", self.out],
                               capture_output=True, text=True, check=True)
        self.assertIn("of_module", shown.stdout)
        self.assertIn("a_module", shown.stdout)

    def test_one_task(self):
        """Events of a single task suggest trace-cmd record -F; a few events do not."""
        for count, pids, incomplete in ((40, 1, False), (1000, 1, True),
                                        (1000, 2, False)):
            events = [Event("kfree", 0, 10 * t, {
                "call_site": A, "ptr": 0xffff888000000000 + t * 64,
                "common_pid": 7 + t % pids}) for t in range(1, count + 1)]
            said = self.imported(self.write("trace.dat", trace_dat(
                [[ring_page(events[i:i + 100], TRACEPOINTS)
                  for i in range(0, count, 100)]])), "-f")
            for text in said, self.meta().get("incomplete", ""):
                self.assertEqual(f"probably a recording of one task, as by "
                                 f"trace-cmd record -F or -P (a guess, since "
                                 f"trace.dat does not store the options): "
                                 f"all {count} events are of task 7" in text,
                                 incomplete)

    def test_silent_cpus(self):
        """CPUs without events cause a note, because they may have been idle."""
        for count, noted in ((40, False), (1000, True)):
            events = [kfree(10 * t)._replace(values={
                "call_site": A, "ptr": 1 << 63 | t << 8,
                "common_pid": 7 + t % 2}) for t in range(1, count + 1)]
            said = self.imported(self.write("trace.dat", trace_dat(
                [[], [ring_page(events[i:i + 100], TRACEPOINTS)
                      for i in range(0, count, 100)]])), "-f")
            self.assertEqual("note: 1 of 2 CPUs have no event: they were idle,"
                             " or trace-cmd record -M" in said, noted)
            self.assertNotIn("incomplete", self.meta())

    def test_odd_counters(self):
        """Counters after an empty line, and counters without a number."""
        for text in (b"\nCPU: 0\noverrun: 7\ncommit overrun: 0\n",
                     b"\n", b"CPU: x\n", b"CPU: 99999999\n", b""):
            self.imported(self.write("trace.dat", usual(
                options=dat_option(2, text))), "-f")
            self.assertEqual(self.meta()["overruns"],
                             "7" if b"7" in text else "0")

    def test_unknown_caller(self):
        """A call site of 0 does not suggest the symbols of another kernel."""
        events = [Event("kmalloc", 0, 10, {"ptr": 0xffff888000001000,
                                           "bytes_req": 8, "bytes_alloc": 8}),
                  Event("mm_page_alloc", 0, 20, {"pfn": 9})]
        self.imported(self.write("trace.dat", trace_dat(
            [[ring_page(events, TRACEPOINTS)]])))
        shown = subprocess.run([REPORT, self.out], capture_output=True,
                               text=True, check=True)
        self.assertEqual(shown.stderr, "")

    def test_old_pages(self):
        """Linux before 4.1 records the address of struct page: slab events are
        imported, and pages are reported as missing."""
        old = Field("struct page *", "page", 8, 8, 0)
        points = dict(TRACEPOINTS)
        for name in ("mm_page_alloc", "mm_page_free"):
            system, number, fields = points[name]
            points[name] = (system, number, (old, *fields[1:]))
        events = [e._replace(values={**e.values,
                                     "page": 0xffffea0000001000})
                  if e.name.startswith("mm_page_") else e for e in USUAL]
        for data in (trace_dat([[ring_page(of_cpu(events, cpu), points)]
                                for cpu in (0, 1)], points),
                     trace_dat7([("", [[ring_page(of_cpu(events, cpu),
                                                  points)]
                                       for cpu in (0, 1)])],
                                tracepoints=points)):
            self.imported(self.write("trace.dat", data), "-f")
            self.assertEqual({r[1] for cpu in (0, 1)
                              for r in self.records(cpu)}, {0, 1})
            self.assertIn("kmem:mm_page_alloc, which has the address of "
                          "struct page", self.meta()["not_seen"])

    def test_cut(self):
        """Files that are truncated within the formats or the tables, before the
        events."""
        data = usual()
        for end in (9, 14, 18, 60, 200, 1000, data.index(b"options"),
                    data.index(b"flyrecord") + 3):
            with self.subTest(end=end):
                self.refused(self.write("cut", data[:end]),
                             "not a perf.data" if end < 10 else "cut off")

    def test_same_pages_twice(self):
        """Two CPUs or buffers that refer to the same pages, or a CPU that occurs
        twice, are refused, because the pages would be read again for each."""
        pages = [[ring_page(of_cpu(USUAL, cpu), TRACEPOINTS)]
                 for cpu in (0, 1)]
        data = usual()
        at = data.index(b"flyrecord\0") + 10
        first = data[at:at + 16]
        six = data[:at + 16] + first + data[at + 32:]
        whole = pack("QQ", *struct.unpack(ORDER + "Q8x", first), 2 * PAGE)
        overlap = data[:at] + whole + data[at + 16:]
        two = trace_dat(pages, instance=("mine", pages))
        one = two.index(b"flyrecord\0") + 10
        buffers = two[:one + 42] + two[one:one + 32] + two[one + 74:]
        seven = trace_dat7([("", pages)], packing="none")
        entry = seven.index(pack("I", 1), seven.rindex(b"local\0"))
        other = pack("IQQ", 1, *struct.unpack_from(
            ORDER + "QQ", seven, entry - 16))
        pages_again = seven[:entry] + other + seven[entry + 20:]
        cpu_again = seven[:entry] + bytes(4) + seven[entry + 4:]
        for name, bad in (("version 6", six), ("overlap", overlap),
                          ("buffers", buffers), ("version 7", pages_again),
                          ("CPU", cpu_again)):
            with self.subTest(name):
                self.refused(self.write("bad", bad), "the same pages, or the "
                             "same CPU, twice")

    def test_many_buffers(self):
        """Many buffers that refer to one table of CPUs are refused."""
        options = b"".join(pack("HIQ", 3, 10, 60) + b"b\0"
                           for _ in range(5000))
        data = usual(options=options)
        at = data.index(b"options  \0") - 4
        for cpus in (2, 60000):
            self.refused(self.write("bad", data[:at] + pack("I", cpus)
                                    + data[at + 4:]),
                         "cut off or damaged within its options")

    def test_shortened(self):
        """Another process truncates the file during the import."""
        data = usual()
        start = struct.unpack_from(ORDER + "Q", data, data.index(
            b"flyrecord\0") + 10)[0]
        at = data.index(b"flyrecord\0") + 18
        size = 1 << 30
        path = self.write("big", data[:at] + pack("Q", size) +
                          bytes(16) + data[at + 24:start])
        os.truncate(path, start + size)
        with subprocess.Popen([PROGRAM, path, self.out], stderr=subprocess.PIPE,
                              text=True, env=sanitizer_environment()) as program:
            children = f"/proc/{program.pid}/task/{program.pid}/children"
            mapped = ""
            while path not in mapped:
                with open(children, encoding="ascii") as file:
                    child = file.read().strip()
                if child:
                    with open(f"/proc/{child}/maps", encoding="ascii") as file:
                        mapped = file.read()
                self.assertIsNone(program.poll())
            os.truncate(path, start)
            said = program.stderr.read()
        self.assertEqual((program.returncode, said), (
            1, f"kmemtrace-import: cannot import {path}: it became shorter "
               f"while it was read: import it when it is complete\n"))
        self.assertFalse(os.path.exists(self.out))

    def test_changed(self):
        """Another process changes the file during the import: an error, or a
        consistent state."""
        pages = [ring_page([kfree(t * 10)], TRACEPOINTS)
                 for t in range(1, 4001)]
        data = trace_dat7([("", [pages])], chunk_pages=1)
        path = self.write("trace.dat", data)
        at = data.index(pack("I", len(pages)))
        self.imported(path, "-f")
        self.assertEqual(len(self.records(0)), len(pages))
        changed = False
        deadline = time.monotonic() + 120
        with open(path, "r+b") as file, \
                mmap.mmap(file.fileno(), 0) as mapped:
            # The passes of one import may see different states of the file.
            while not changed:
                self.assertLess(time.monotonic(), deadline)
                with subprocess.Popen(
                        [PROGRAM, "-f", path, self.out],
                        stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                        text=True, env=sanitizer_environment()) as program:
                    while program.poll() is None:
                        for count in (1, len(pages)):
                            mapped[at:at + 4] = pack("I", count)
                    said = program.stderr.read()
                if program.returncode == 1:
                    self.assertIn("it changed while it was read", said)
                    changed = True
                else:
                    self.assertIn(len([r for r in self.records(0)
                                       if r[0] == 2]), (1, len(pages)))

    def test_several(self):
        """The message about several operands contains a command that works."""
        one, two = (self.write(name, usual()) for name in ("a.dat", "b.dat"))
        result = subprocess.run([PROGRAM, one, two, self.out], check=False,
                                capture_output=True, text=True)
        self.assertEqual(result.returncode, 1)
        self.assertIn("several trace.dat cannot become one capture",
                      result.stderr)
        command = result.stderr[result.stderr.index("for f in"):].strip()
        subprocess.run(["sh", "-ec", command], check=True, env={
            **os.environ, "PATH": os.path.dirname(os.path.abspath(PROGRAM)) +
            ":" + os.environ["PATH"]}, stdout=subprocess.DEVNULL)
        for path in one, two:
            self.assertTrue(os.path.exists(path + ".capture/kmemtrace.meta"))

    def test_files_of_cpus(self):
        """Files of single CPUs, which trace-cmd joins when it ends: a message
        contains the command."""
        names = [self.write(f"trace.dat.cpu{cpu}", ring_page(
            of_cpu(USUAL, cpu), TRACEPOINTS)) for cpu in (0, 1)]
        for paths in (names, names[:1]):
            result = subprocess.run([PROGRAM, *paths, self.out], check=False,
                                    capture_output=True, text=True)
            self.assertEqual(result.returncode, 1)
            self.assertIn("trace-cmd restore -o trace.dat '" +
                          "' '".join(paths) + "'\n", result.stderr)

    def test_no_page_size(self):
        """Without a valid page size, pages cannot be read."""
        data = usual()
        at = data.index(b"\0", 10) + 3
        for size in (0, 4095):
            self.refused(self.write("bad", data[:at] +
                                    pack("I", size) + data[at + 4:]),
                         "no valid page size")

    def test_damaged(self):
        """A damaged file is imported completely, with a warning, or refused with a
        message."""
        data = usual()
        for at in range(10, len(data) - 8192, 199):
            bad = data[:at] + bytes([data[at] ^ 0x55]) + data[at + 1:]
            result = self.run_import(self.write("bad", bad))
            self.assertIn(result.returncode, (0, 1, 2), (at, result.stderr))
            if result.returncode == 1:
                said = [line for line in result.stderr.splitlines()
                        if line.startswith("kmemtrace-import: ")]
                self.assertEqual(len(said), 1, result.stderr)
                self.assertFalse(os.path.exists(self.out))
            else:
                self.assertEqual(self.meta()["complete"],
                                 "false" if result.returncode else "true")
                subprocess.run(["rm", "-r", self.out], check=True)

    def test_other_byte_order(self):
        """The header contains the byte order of the recorded machine."""
        for data in (usual(), usual7()):
            at = data.index(b"\0", 10) + 1
            self.refused(self.write("x", data[:at] + bytes([1 - data[at]]) +
                                    data[at + 1:]), "other byte order")

    def test_newer(self):
        self.refused(self.write("trace.dat", usual(version=b"99")),
                     "not supported by kmemtrace-import", "trace-cmd convert")

    def test_fields(self):
        system, number, fields = TRACEPOINTS["kmem_cache_free"]
        points = {**TRACEPOINTS,
                  "kmem_cache_free": (system, number, fields[:1])}
        self.refused(self.write("trace.dat", usual(points)),
                     "kmem:kmem_cache_free has no field 'ptr'")
        pages = ring_page([Event("sched_switch", 0, 10)], TRACEPOINTS)
        self.refused(self.write("trace.dat", trace_dat([[pages]])),
                     "no memory event", "trace-cmd record -e kmem")
        self.refused(self.write("trace.dat", trace_dat([[]])),
                     "no memory event")

    def test_instance(self):
        """An instance is imported if it alone has events, or if it is named."""
        pages = [[ring_page(of_cpu(USUAL, cpu), TRACEPOINTS)]
                 for cpu in (0, 1)]
        path = self.write("trace.dat", trace_dat([[], []],
                                                 instance=("mine", pages)))
        self.imported(path)
        self.assert_usual()
        one = [[ring_page([kfree(10)], TRACEPOINTS)], []]
        path = self.write("trace.dat", trace_dat(one,
                                                 instance=("mine", pages)))
        self.imported(path, "-f")
        self.assertEqual(self.meta()["events"], "1")
        self.imported(path, "-f", "-B", "mine")
        self.assert_usual()

    def test_which_buffer(self):
        """The messages name the imported buffer and the other buffers."""
        one = [[ring_page([kfree(10)], TRACEPOINTS)], []]
        pages = [[ring_page(of_cpu(USUAL, cpu), TRACEPOINTS)]
                 for cpu in (0, 1)]
        for data in (trace_dat(one, instance=("mine", pages)),
                     trace_dat7([("", one), ("mine", pages)])):
            path = self.write("trace.dat", data)
            self.assertIn("imported the buffer of the whole machine; the file "
                          "also has the buffer 'mine'",
                          self.imported(path, "-f"))
            self.assertNotIn("buffer", self.meta())
            self.assertIn("imported the buffer 'mine'; the file also has the "
                          "buffer of the whole machine",
                          self.imported(path, "-f", "-B", "mine"))
            self.assert_usual()
            self.assertEqual(self.meta()["buffer"], "mine")
        self.assertNotIn("buffer", self.imported(
            self.write("trace.dat", usual()), "-f"))

    def test_counters_of_instance(self):
        """Counters of another buffer are ignored."""
        options = dat_stats(0, overrun=3) + \
            dat_option(2, b"\nBuffer: mine\n\n\0") + \
            dat_stats(0, overrun=8)
        one = [[ring_page([kfree(10)], TRACEPOINTS)]]
        for data in (trace_dat(one, instance=("mine", one), options=options),
                     trace_dat7([("", one), ("mine", one)], options=options)):
            path = self.write("trace.dat", data)
            self.imported(path, "-f")
            self.assertEqual(self.meta()["overruns"], "3")
            self.imported(path, "-f", "-B", "mine")
            self.assertEqual(self.meta()["overruns"], "8")

    def test_buffer(self):
        path = self.write("trace.dat", usual())
        self.refused(path, "no buffer 'x'", "trace-cmd report",
                     options=("--buffer", "x"))

    def test_ended(self):
        """A signal ends the import, and no file remains."""
        fifo = self.path("fifo")
        os.mkfifo(fifo)
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGKILL):
            with subprocess.Popen([PROGRAM, fifo, self.out]) as program:
                while not os.path.exists(self.out) or not asleep(program.pid):
                    time.sleep(0.01)
                program.send_signal(number)
            self.assertEqual(program.returncode, -number)
            if number != signal.SIGKILL:
                self.assertFalse(os.path.exists(self.out))


if __name__ == "__main__":
    if lacks("libtraceevent", b"PERFILE2" + bytes(200)):
        sys.exit(77)
    main()
