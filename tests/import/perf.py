#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""kmemtrace-import on valid and invalid perf.data files."""

import os
import struct
import subprocess
import sys
from resource import RLIMIT_FSIZE, RLIMIT_NOFILE, setrlimit

from import_case import PROGRAM, ImportTest, lacks, main
from import_events import A, MORE, TRACEPOINTS, USUAL, Event, more_records
from perf_files import (EVENT_ID, LAYOUT, LOST_SAMPLES, MAGIC, ROUND,
                        perf_build_id, perf_comm, perf_data, perf_kernel,
                        perf_lost, perf_other, perf_record, perf_sample, perf_text)
from target import ORDER, pack

BUILD_ID = bytes(range(20))


def samples(events=USUAL):
    """Return samples in this order."""
    return b"".join(perf_sample(e) for e in events)


def kfree(time, cpu=0, ptr=0xffff888000009000):
    """Return a free."""
    return Event("kfree", cpu, time, {"call_site": A, "ptr": ptr})


def without(name, field):
    """Return tracepoints of which one lacks a field."""
    system, number, fields = TRACEPOINTS[name]
    return {**TRACEPOINTS, name: (system, number, tuple(
        f for f in fields if f.name != field))}


class Perf(ImportTest):
    """A perf.data file."""

    def test_ids_that_overlap(self):
        """Lists of ids that overlap are refused, because they would take as long as
        many files."""
        ids = tuple(range(100, 500))
        data = bytearray(perf_data(samples(), layouts=tuple(
            (1, LAYOUT, ids if i == 0 else (i,)) for i in range(1000))))
        first = 104 + 8 * (len(ids) + 999)
        for i in range(1000):
            struct.pack_into(ORDER + "QQ", data, first + 144 * i + 128, 104,
                             8 * len(ids))
        self.refused(self.write("perf.data", bytes(data)),
                     "list of events is damaged")

    def test_losses_beyond_all_numbers(self):
        """The sum of the losses saturates."""
        records = samples() + perf_lost(1 << 63, 0, 900) * 2
        said = self.run_import(self.data(records)).stdout
        self.assertIn(f", {2 ** 64 - 1} lost", said)
        meta = self.meta()
        self.assertEqual((meta["overruns"], meta["cpu0.overruns"]),
                         (str(2 ** 64 - 1),) * 2)

    def test_caches_beyond_all_numbers(self):
        """More caches than numbers; caches of the same name are found again."""
        self.imported(self.data(samples(
            Event("kmem_cache_alloc", 0, 1 + i, {
                "call_site": A, "ptr": 0xffff888000000000 + 8 * i,
                "name": "c", "bytes_req": 8, "bytes_alloc": 8 + i % 66000})
            for i in range(70000))))
        self.assertEqual(self.text("caches").count("\n"), 2 + 65535)
        self.assertEqual([r[11] for r in self.records(0)],
                         list(range(1, 65536)) + [0] * 465 +
                         list(range(1, 4001)))

    def data(self, *args, **settings):
        """Write a perf.data file and return its path."""
        return self.write("perf.data", perf_data(*args, **settings))

    def test_usual(self):
        said = self.imported(self.data(
            perf_comm(7, "a task") + samples(), features={
                4: perf_text("6.1.0-test"), 5: perf_text("6.1.9"),
                6: perf_text("x86_64")}))
        self.assert_usual()
        self.assertIn("7 events of 2 CPUs, 0 lost", said)
        self.assertIn("2 events without memory", said)
        self.assertIn("2 events of other tracepoints", said)
        self.assertIn("--kallsyms", said)
        meta = self.meta()
        self.assertEqual(
            [meta[k] for k in ("imported_from", "recorded_by", "machine",
                               "kernel_release", "clock", "word_size")],
            ["perf.data", "perf 6.1.9", "x86_64", "6.1.0-test", "perf", "8"])
        self.assertIn("7 - a task\n", self.text("tasks"))
        self.assertEqual(self.text("kallsyms"), "")

    def test_quiet_and_version_1(self):
        path = self.data(perf_lost(3, 0, 1) + samples())
        self.assertEqual(self.imported(path, "-q", "--abi", "1"), "")
        meta = self.meta()
        self.assertEqual((meta["abi_version"], meta["record_size"],
                          meta["events"], meta["overruns"]),
                         ("1", "56", "7", "3"))
        self.assertEqual(os.path.getsize(os.path.join(self.out, "cpu0.out")),
                         4 * 56)
        self.assertEqual(self.text("tasks") + self.text("caches"), "")

    def test_other_layouts(self):
        """Events whose samples have different layouts are distinguished by their
        ids."""
        other = perf_record(9, pack("QQ", 99, 5))
        self.imported(self.data(other + samples() + other, layouts=(
            (1, 1 << 16, (99,)), (2, LAYOUT, (EVENT_ID, 56)))))
        self.assertEqual(self.meta()["other_events"], "4")

    def test_order(self):
        """Samples of one CPU are in any order within a round; records are sorted by
        time."""
        late = [kfree(t, ptr=t << 8) for t in (50, 20, 30, 60, 40)]
        turn = perf_record(ROUND, b"")
        self.imported(self.data(samples(late[:2]) + turn + samples(late[2:]) +
                                turn + turn))
        self.assertEqual([r[9] for r in self.records(0)],
                         [20, 30, 40, 50, 60])
        # More samples than are written at once.
        many = [kfree(1000 + i, ptr=(i + 1) << 12) for i in range(5000)]
        said = self.imported(
            self.data(samples(many) + turn + turn +
                      samples([kfree(20, ptr=0x9000),
                               kfree(9000, ptr=0x8000)])), "-f")
        self.assertEqual([r[9] for r in self.records(0)][-3:],
                         [5999, 5999, 9000])
        self.assertIn("1 times were before", said)

    def test_loss(self):
        """The place and number of lost events; perf's own count may be larger."""
        path = self.data(samples([kfree(10)]) + perf_lost(5, 0, 20) +
                         samples([kfree(30, ptr=0x9000)]))
        self.assertIn("5 lost", self.imported(path))
        lost = self.records(0)[1]
        self.assertEqual((lost[0], lost[6], lost[7], lost[9]), (3, 5, 10, 20))
        meta = self.meta()
        self.assertEqual((meta["overruns"], meta["cpu0.overruns"],
                          meta["events"]), ("5", "5", "3"))
        self.imported(self.data(samples([kfree(10)]) + perf_other(
            LOST_SAMPLES, pack("Q", 8))), "-f")
        self.assertEqual(self.meta()["overruns"], "8")

    def test_tasks(self):
        """Names that change, are unusual, or are missing."""
        events = [kfree(t, ptr=t << 8) for t in (10, 20)]
        events.append(Event("kfree", 0, 30, {"call_site": A, "ptr": 0x9000,
                                             "common_pid": 8}))
        self.imported(self.data(
            perf_comm(7, "first") + samples(events) +
            perf_comm(7, "a \\ and\n", 15)))
        table = self.text("tasks")
        self.assertIn("7 15 first\n", table)
        self.assertIn("7 - a \\134 and\\012\n", table)
        self.assertIn("8 - :8\n", table)

    def test_caches_of_one_name(self):
        """Two caches of one name and different sizes are different; a free does not
        show which one it belongs to."""
        def alloc(time, ptr, size):
            return Event("kmem_cache_alloc", 0, time, {
                "call_site": A, "ptr": ptr, "name": "x", "bytes_req": size,
                "bytes_alloc": size})
        self.imported(self.data(samples([
            alloc(10, 0x10000, 64), alloc(20, 0x20000, 128),
            alloc(30, 0x30000, 64), alloc(35, 0x50000, 128),
            Event("kmem_cache_free", 0, 40,
                  {"call_site": A, "ptr": 0x20000, "name": "x"})])))
        self.assertEqual([r[11] for r in self.records(0)], [1, 2, 1, 2, 0])
        self.assertIn("1 64 64 0 - x\n2 128 128 0 - x\n", self.text("caches"))

    def test_cache_names_of_any_length(self):
        """A name may lack the final NUL. An empty name, or one beyond the end of
        the event, counts as missing."""
        names = ("long_name", b"ab", b"c\0d", b"", b"\0")
        self.imported(self.data(samples([
            Event("kmem_cache_alloc", 0, 10 + n, {
                "call_site": A, "ptr": 0x10000 + 0x100 * n, "name": name,
                "bytes_req": 8, "bytes_alloc": 8})
            for n, name in enumerate(names)])))
        self.assertEqual([r[11] for r in self.records(0)], [1, 2, 3, 0, 0])
        self.assertEqual([line.split()[-1] for line in
                          self.text("caches").splitlines()
                          if line[0] != "#"], ["long_name", "ab", "c"])

    def test_percpu_and_vmalloc(self):
        """Sizes are those of all CPUs, if the file contains the number of CPUs."""
        for features, percpu_bytes in (({7: pack("II", 4, 3)}, 96),
                                       ({}, 100)):
            self.imported(self.data(samples(MORE), features=features), "-f")
            self.assertEqual(self.records(0), more_records(percpu_bytes))
            self.assertEqual(self.meta()["no_memory"], "1")
            self.assertNotIn("all per-CPU memory", self.meta()["not_seen"])
        self.imported(self.data(samples()), "-f")
        self.assertIn("all vmalloc areas", self.meta()["not_seen"])

    def test_no_event_of_a_kind(self):
        """The capture names a kind that has no event."""
        self.imported(self.data(samples([kfree(10)])))
        self.assertIn("kmem:kmem_cache_free, which has no event in the file",
                      self.meta()["not_seen"])

    def machine(self, build_id=BUILD_ID, text=0xffffffff81000000):
        """Make the files of the machine that runs the kernel."""
        self.write("sys/kernel/notes", pack("III", 4, 20, 3) +
                   b"GNU\0" + build_id)
        self.write("proc/kallsyms", f"{text:016x} T _text\n"
                   f"{A:016x} T a_function\n")
        self.write("proc/modules", "")

    def test_names_of_this_machine(self):
        """Symbols of the running machine are used if it runs the same kernel at the
        same address."""
        path = self.data(perf_kernel(0xffffffff81000000) + samples(),
                         features={2: perf_build_id(BUILD_ID)})
        self.machine()
        self.assertIn("names come from this machine", self.imported(path))
        self.assertIn("a_function", self.text("kallsyms"))
        self.assertEqual(self.meta()["build_id"], BUILD_ID.hex())
        for other in ({"build_id": bytes(20)}, {"text": 0xffffffff82000000}):
            self.machine(**other)
            self.assertIn("does not run the recorded boot",
                          self.imported(path, "-f"))
            self.assertEqual(self.text("kallsyms"), "")

    def test_names_given(self):
        names = self.write("k", f"{A:016x} T mine\n")
        modules = self.write("m", "x 1 0 - Live 0x0\n")
        self.imported(self.data(samples()), "--kallsyms", names, "--modules",
                      modules)
        self.assertIn("mine", self.text("kallsyms"))
        self.assertIn("Live", self.text("modules"))
        self.refused_option("--kallsyms", "cannot open /nonexistent")
        self.refused_option("--modules", "cannot open /nonexistent")

    def refused_option(self, option, words):
        """Expect an error about a file that does not exist."""
        result = self.run_import(self.data(samples()), option, "/nonexistent",
                                 out=self.path("other"))
        self.assertEqual(result.returncode, 1)
        self.assertIn(words, result.stderr)
        self.assertFalse(os.path.exists(self.path("other")))

    def test_cut(self):
        """Files that are truncated at any byte."""
        data = perf_data(samples(), features={4: perf_text("6.1")})
        for end, words in ((0, "it is empty"), (4, "not a perf.data"),
                           (8, "within its header"), (103, "its header"),
                           (150, "within its samples"), (400, "samples"),
                           (len(data) - 1, None)):
            with self.subTest(end=end):
                if words:
                    self.refused(self.write("cut", data[:end]), words)
        # All other lengths cause a message, too.
        for end in range(104, len(data) - 10, 41):
            with self.subTest(end=end):
                self.refused(self.write("cut", data[:end]), "cut off")

    def test_killed(self):
        data = bytearray(perf_data(samples()))
        data[48:56] = bytes(8)
        self.refused(self.write("killed", bytes(data)), "was killed before it "
                     "ended", "Ctrl+C")

    def test_foreign(self):
        self.refused(self.write("x", "text " * 100), "it is not a perf.data, "
                     "a trace.dat, or a directory of CTF")
        self.refused(self.path("nothing"), "No such file")
        self.refused(self.write("big", perf_data(samples()).replace(
            MAGIC, MAGIC[::-1])), "other byte order")
        self.refused(self.write("pipe", MAGIC + pack("Q", 16) + bytes(500)),
                     "damaged")

    def test_bad_events(self):
        """Each message names an action."""
        bare = LAYOUT & ~(1 << 10)
        for layouts, words in (
                (((2, bare, (EVENT_ID,)),), "no data, time or CPU"),
                (((2, LAYOUT & ~(1 << 16), ()), (2, LAYOUT & ~(1 << 16) | 8,
                                                 ())), "different layouts")):
            with self.subTest(words=words):
                self.refused(self.data(samples(), layouts=layouts), words)
        self.refused(self.data(perf_record(81, bytes(8))), "compressed")
        self.refused(self.data(perf_sample(USUAL[0])[:-8]), "damaged")
        self.refused(self.data(pack("IHH", 9, 0, 4)), "damaged")
        short = pack("QQIIQIIQI", EVENT_ID, 0, 7, 7, 1, 0, 0, 1, 12)
        self.refused(self.data(perf_record(9, short + pack(
            "HHiI", TRACEPOINTS["kfree"][1], 0, 7, 0))),
            "an event of kfree has 12 bytes, but its format requires 24")
        self.refused(self.data(perf_sample(kfree(1, cpu=70000))), "CPU 70000")

    def test_fields(self):
        """A format without a required field, and tracepoints that are not needed."""
        self.refused(self.data(samples(), without("kfree", "ptr")),
                     "kmem:kfree has no field 'ptr'")
        self.refused(self.data(samples(), {
            **TRACEPOINTS, "kfree": ("kmem", 70000, TRACEPOINTS["kfree"][2])}),
            "kmem:kfree cannot be parsed")
        self.refused(self.data(perf_sample(USUAL[-1])), "no memory event",
                     "perf record -a -e 'kmem:*'")
        self.refused(self.data(samples([kfree(1, ptr=0)])),
                     "no memory event")
        # An optional field is absent.
        self.imported(self.data(samples(USUAL[:1]),
                                without("kmalloc", "node")))
        self.assertEqual(self.records(0)[0][3], -1)

    def test_output(self):
        """The output directory exists, cannot be made, or its disk is full."""
        path = self.data(samples())
        self.imported(path)
        result = self.run_import(path)
        self.assertEqual(result.returncode, 1)
        self.assertIn("there is a capture already", result.stderr)
        self.assertIn("with -f", result.stderr)
        self.assert_usual()
        self.imported(path, "-f")
        result = self.run_import(path, out="/nonexistent/out")
        self.assertEqual(result.returncode, 1)
        self.assertIn("whose parent exists", result.stderr)
        full = self.data(samples([kfree(t, ptr=t << 8)
                                  for t in range(1, 3000)]))
        result = self.run_import(
            full, out=self.path("full"), preexec_fn=lambda: setrlimit(
                RLIMIT_FSIZE, (65536, 65536)))
        self.assertEqual(result.returncode, 1)
        self.assertIn("File too large", result.stderr)
        self.assertIn("make room there", result.stderr)
        self.assertFalse(os.path.exists(self.path("full")))

    def test_many_cpus(self):
        """A capture with thousands of CPUs needs no more memory than the import may
        use."""
        many = 3000
        path = self.data(samples(kfree(t, t % many, 1 << 63 | t << 8)
                                 for t in range(1, 3 * many)))
        self.imported(path)
        self.assertEqual(self.meta()["cpus"], str(many))
        self.assertEqual([r[9] for r in self.records(many - 1)],
                         [many - 1, 2 * many - 1, 3 * many - 1])
        # Each CPU has an open file; the hard limit may be too low.
        result = self.run_import(path, out=self.path("few"), preexec_fn=lambda:
                                 setrlimit(RLIMIT_NOFILE, (500, 500)))
        self.assertEqual(result.returncode, 1)
        self.assertIn("Too many open files", result.stderr)
        self.assertIn("ulimit", result.stderr)
        self.assertFalse(os.path.exists(self.path("few")))

    def test_stdout(self):
        """A full disk behind stdout is an error."""
        with open("/dev/full", "wb") as full:
            result = subprocess.run(
                [PROGRAM, self.data(samples()), self.out], stdout=full,
                stderr=subprocess.PIPE, text=True, check=False)
        self.assertEqual(result.returncode, 1)
        self.assertIn("cannot write", result.stderr)


if __name__ == "__main__":
    if lacks("libtraceevent", b"PERFILE2" + bytes(200)):
        sys.exit(77)
    main()
