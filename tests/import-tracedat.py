#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""kmemtrace-import on trace.dat, good and bad."""

import os
import signal
import struct
import subprocess
import sys
import time

from import_files import (A, B, MORE, PROGRAM, TRACEPOINTS, USUAL, Event,
                          ImportTest, lacks, main, more_records, of_cpu,
                          ring_page, trace_dat)


def usual(tracepoints=None, **settings):
    """The file with these events."""
    points = tracepoints or TRACEPOINTS
    return trace_dat([[ring_page(of_cpu(USUAL, cpu), points)]
                      for cpu in (0, 1)], points, **settings)


def kfree(when, ptr=0xffff888000009000):
    """A free."""
    return Event("kfree", 0, when, {"call_site": A, "ptr": ptr})


class TraceDat(ImportTest):
    """trace.dat"""

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
                         f"{A:016x} t a_function\n{B:016x} t b_function\n")

    def test_percpu_and_vmalloc(self):
        """It tells how many CPUs there are."""
        self.imported(self.write("trace.dat", trace_dat(
            [[ring_page(MORE, TRACEPOINTS)], [], []])))
        self.assertEqual(self.records(0), more_records(3 * 24))

    def test_no_names(self):
        """Then they have to be given."""
        path = self.write("trace.dat", usual(kallsyms=b"", comms=b""))
        self.assertIn("--kallsyms", self.imported(path))
        self.assertEqual(self.text("kallsyms"), "")
        self.assertEqual(self.text("tasks"), "")

    def test_pages(self):
        """Many of them, and a CPU without any."""
        events = [kfree(t * 10, ptr=t << 8) for t in range(1, 1001)]
        pages = [ring_page(events[i:i + 100], TRACEPOINTS)
                 for i in range(0, 1000, 100)]
        self.imported(self.write("trace.dat", trace_dat([pages, []])))
        self.assertEqual([r[9] for r in self.records(0)],
                         [t * 10 for t in range(1, 1001)])
        self.assertEqual(self.meta()["cpus"], "1")

    def test_loss(self):
        """So many as the ring buffer says, or nobody knows how many."""
        for missed, overruns in ((4, "4"), (-1, None)):
            pages = [ring_page([kfree(10)], TRACEPOINTS),
                     ring_page([kfree(50, 0x9000)], TRACEPOINTS, missed)]
            said = self.imported(self.write("trace.dat", trace_dat([pages])),
                                 "-f")
            meta = self.meta()
            self.assertEqual(meta.get("overruns"), overruns)
            self.assertEqual(meta.get("cpu0.overruns"), overruns)
            kinds = [r[0] for r in self.records(0)]
            self.assertEqual(kinds, [2, 3, 2] if overruns else [2, 2])
            self.assertIn("4 lost" if overruns else "nobody knows how many",
                          said)

    def test_cut(self):
        """Wherever it ends: within the formats, the tables, the events."""
        data = usual()
        for end in (9, 14, 18, 60, 200, 1000, data.index(b"options"),
                    data.index(b"flyrecord") + 3, len(data) - 4096,
                    len(data) - 1):
            with self.subTest(end=end):
                self.refused(self.write("cut", data[:end]),
                             "no perf.data" if end < 10 else "cut off")

    def test_no_page_size(self):
        """All bytes of pages would be wrong."""
        data = usual()
        at = data.index(b"\0", 10) + 3
        for size in (0, 4095):
            self.refused(self.write("bad", data[:at] +
                                    struct.pack("<I", size) + data[at + 4:]),
                         "no size of pages")

    def test_damaged(self):
        """Nobody knows what comes out, but it is told, or whole."""
        data = usual()
        for at in range(10, len(data) - 8192, 199):
            bad = data[:at] + bytes([data[at] ^ 0x55]) + data[at + 1:]
            result = self.run_import(self.write("bad", bad))
            self.assertIn(result.returncode, (0, 1), (at, result.stderr))
            if result.returncode:
                said = [line for line in result.stderr.splitlines()
                        if line.startswith("kmemtrace-import: ")]
                self.assertEqual(len(said), 1, result.stderr)
                self.assertFalse(os.path.exists(self.out))
            else:
                self.assertEqual(self.meta()["complete"], "true")
                subprocess.run(["rm", "-r", self.out], check=True)

    def test_newer(self):
        self.refused(self.write("trace.dat", usual(version=b"99")),
                     "newer than the library")

    def test_fields(self):
        system, number, fields = TRACEPOINTS["kmem_cache_free"]
        points = {**TRACEPOINTS,
                  "kmem_cache_free": (system, number, fields[:1])}
        self.refused(self.write("trace.dat", usual(points)),
                     "kmem:kmem_cache_free has no field 'ptr'")
        pages = ring_page([Event("sched_switch", 0, 10)], TRACEPOINTS)
        self.refused(self.write("trace.dat", trace_dat([[pages]])),
                     "no event of memory", "trace-cmd record -e kmem")
        self.refused(self.write("trace.dat", trace_dat([[]])),
                     "no event of memory")

    def test_instance(self):
        """Taken if it alone has events, or if it is named."""
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

    def test_buffer(self):
        path = self.write("trace.dat", usual())
        self.refused(path, "no buffer 'x'", "trace-cmd report",
                     options=("--buffer", "x"))

    def test_ended(self):
        """A signal ends it, and nothing is left."""
        fifo = self.path("fifo")
        os.mkfifo(fifo)
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGKILL):
            with subprocess.Popen([PROGRAM, fifo, self.out]) as program:
                while not os.path.exists(self.out):
                    time.sleep(0.01)
                time.sleep(0.1)
                program.send_signal(number)
            self.assertEqual(program.returncode, -number)
            if number != signal.SIGKILL:
                self.assertFalse(os.path.exists(self.out))


if __name__ == "__main__":
    if lacks("libtraceevent", b"PERFILE2" + bytes(200)) or \
            lacks("libtracecmd", b"\x17\x08\x44tracing6\0"):
        sys.exit(77)
    main()
