#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Captures made to mislead kmemtrace-check and kmemtrace-report: neither program
hangs, sends escape sequences to a terminal, needs excessive time, or reports
damage as figures."""

import itertools
import json
import os
import resource
import subprocess
import sys
import tempfile
import threading
import unittest

import mkcapture
from target import EMULATED

BUILD = os.path.abspath(os.environ.get("top_builddir", "."))
CHECK = os.path.join(BUILD, "check", "kmemtrace-check")
REPORT = os.path.join(BUILD, "report", "kmemtrace-report")
BOTH = (CHECK, REPORT)
META = b"[capture]\ncomplete=true\noverruns=0\n"
SECOND = 10 ** 9


def run(program, *args, cwd=None):
    """Run a program and return its result in bytes; waiting for input is an error."""
    return subprocess.run([program, *args], stdin=subprocess.DEVNULL, cwd=cwd,
                          capture_output=True, check=False, timeout=60)


class Hostile(unittest.TestCase):
    """Captures in a temporary directory."""

    def setUp(self):
        holder = tempfile.TemporaryDirectory()
        self.addCleanup(holder.cleanup)
        self.dir = holder.name

    def capture(self, cpus=None, name="capture", **texts):
        """Write a capture directory. texts are in bytes; meta is kmemtrace.meta."""
        capture = mkcapture.Capture()
        for i, data in enumerate(cpus or [mkcapture.alloc(1, 0x1000)]):
            capture.add(i, data)
        path = os.path.join(self.dir, name)
        capture.write(path)
        for key, text in texts.items():
            key = "kmemtrace.meta" if key == "meta" else key
            with open(os.path.join(path, key), "wb") as f:
                f.write(text)
        return path

    def document(self, program, *args, cwd=None):
        """Return the JSON document of a run that can read the capture."""
        done = run(program, "--json", *args, cwd=cwd)
        self.assertIn(done.returncode, (0, 2), done)
        return json.loads(done.stdout.decode("utf-8"))

    def text_line(self, path, start):
        """Return the rest of the line of the report that begins with start, or ""."""
        for line in run(REPORT, path).stdout.decode().split("\n"):
            if line.startswith(start):
                return line[len(start):].strip()
        return ""

    def test_pipes(self):
        """A FIFO among the files of a capture is not waited for."""
        for name in ("cpu1.out", "kmemtrace.meta", "kallsyms", "modules"):
            path = self.capture(name="with-" + name)
            if name == "modules":
                with open(os.path.join(path, "kallsyms"), "wb") as f:
                    f.write(b"ffffffff81000000 T _stext\n")
            os.mkfifo(os.path.join(path, name))
            refused = name in ("cpu1.out", "kmemtrace.meta")
            for program in BOTH:
                done = run(program, path)
                self.assertEqual(done.returncode, int(refused), done)
                self.assertIn(f"{path}/{name}: not a regular file",
                              (done.stderr + done.stdout).decode())

    def test_tables_that_cannot_be_read(self):
        """Each table that is missing or not a regular file has a warning, and the
        capture is read without the table."""
        tables = ("kallsyms", "modules", "info", "caches", "tasks", "cgroups",
                  "marks", "stacks", "tags", "slabinfo")
        listed = META + b"files=cpu0.out;" + ";".join(tables).encode() + b";\n"
        for kind, warning in (
                ("gone", "is missing, although kmemtrace.meta lists it"),
                ("directory", "not a regular file"),
                ("fifo", "not a regular file"),
                ("/dev/zero", "not a regular file"),
                ("/nonexistent", "the link cannot be followed: No such file"),
                ("itself", "the link cannot be followed: Too many levels")):
            path = self.capture(name=os.path.basename(kind), meta=listed)
            for table in tables:
                at = os.path.join(path, table)
                if kind == "directory":
                    os.mkdir(at)
                elif kind == "fifo":
                    os.mkfifo(at)
                elif kind != "gone":
                    os.symlink(table if kind == "itself" else kind, at)
            operands = [path]
            if kind == "gone":
                operands.append(path + ".tar")
                subprocess.run(["tar", "cf", operands[1], "-C", path, "."],
                               check=True)
            for operand, program in itertools.product(operands, BOTH):
                warnings = self.document(program, operand)["warnings"]
                self.assertEqual(sum(warning in text for text in warnings),
                                 len(tables), warnings)
                for table in tables:
                    name = operand + "/:"[operand != path] + table
                    self.assertIn(name, str(warnings))
                self.assertEqual(run(program, operand).returncode, 0)
            # Without the list, a missing table is no defect.
            with open(os.path.join(path, "kmemtrace.meta"), "wb") as f:
                f.write(META)
            warnings = self.document(CHECK, path)["warnings"]
            self.assertEqual(len(warnings),
                             0 if kind == "gone" else len(tables))

    def test_large_tables(self):
        """A table above the limit of its size is not read."""
        meta = META + b"abi_version=3\n"
        record = mkcapture.event_v2(stack=1)
        for table, size in (("caches", 256 << 20), ("marks", 256 << 20),
                            ("tags", 256 << 20), ("tasks", 1 << 30),
                            ("cgroups", 1 << 30), ("stacks", 1 << 30)):
            path = self.capture([record], name=table, meta=meta)
            with open(os.path.join(path, table), "wb") as f:
                f.truncate(size + 1)  # a hole
            done = run(CHECK, path)
            self.assertEqual(done.returncode, 0, done)
            self.assertIn(f"cannot read {path}/{table}: the file has "
                          f"{size + 1} bytes, and the limit is {size}",
                          done.stdout.decode())

    def test_links_to_no_meta(self):
        """A capture whose kmemtrace.meta is a bad link is read without it."""
        for to, reason in (("/nonexistent", "No such file"),
                           ("kmemtrace.meta", "Too many levels")):
            path = self.capture(name="to-" + os.path.basename(to))
            os.symlink(to, os.path.join(path, "kmemtrace.meta"))
            for program in BOTH:
                document = self.document(program, path)
                self.assertIn(f"cannot read {path}/kmemtrace.meta: the link "
                              f"cannot be followed: {reason}",
                              str(document["warnings"]))
                self.assertIsNone(document["capture"]["complete"])
                self.assertEqual(run(program, path).returncode, 0)

    def test_numbers_of_meta(self):
        """Invalid numbers in kmemtrace.meta count as unknown."""
        for number in (b"-1", b"-0", b"18446744073709551616", b"0x10", b"1.5",
                       b"", b"x", b"+1"):
            path = self.capture(meta=b"[capture]\ncomplete=true\noverruns=" +
                                number + b"\n[cpu0]\nbytes=" + number + b"\n")
            for program in BOTH:
                capture = self.document(program, path)["capture"]
                self.assertIsNone(capture["overruns"], number)
            self.assertEqual(run(CHECK, path).returncode, 0)
        path = self.capture(meta=b"[capture]\ncomplete=true\n"
                            b"overruns=18446744073709551615\n")
        for program in BOTH:
            capture = self.document(program, path)["capture"]
            self.assertEqual(capture["overruns"], 2 ** 64 - 1)

    def test_lost_events_of_cpus(self):
        """No loss of a CPU is hidden by a smaller total, or by none."""
        most = 2 ** 64 - 1
        for total, cpus, lost, contradicts in (
                (0, [50], 50, True), (7, [50], 50, True),
                (None, [50], 50, True), (-1, [5, 6], 11, True),
                (most, [50], most, False), (7, [most, 5], most, True),
                (7, [3, 4], 7, False), (7, [3, 2], 7, False),
                (0, [0, 0], 0, False), (None, [0], None, False)):
            meta = "[capture]\ncomplete=true\n"
            if total is not None:
                meta += f"overruns={total}\n"
            # CPU 0 has no file.
            for i, n in enumerate(cpus):
                meta += f"[cpu{i}]\noverruns={n}\nevents=0\n"
            path = self.capture([b"", mkcapture.alloc(1, 0x1000)],
                                meta=(meta + "[cpu1]\n").encode())
            os.remove(os.path.join(path, "cpu0.out"))
            for program in BOTH:
                document = self.document(program, path)
                self.assertEqual(document["capture"]["overruns"], lost, meta)
                self.assertEqual("on its CPUs" in str(document["warnings"]),
                                 contradicts, document["warnings"])
            if lost:
                self.assertEqual(document["capture"]["loss"], "events")
                self.assertIn(f"{lost} events were lost",
                              run(CHECK, path).stdout.decode())

    def test_numbers_of_records(self):
        """Numbers of a damaged record are exact."""
        path = self.capture([mkcapture.alloc(1, 0x1000, req=2 ** 64 - 1,
                                             alloc=2 ** 63)])
        record = self.document(CHECK, path)["errors"][0]["record"]
        self.assertEqual(record["bytes_req"], 2 ** 64 - 1)
        self.assertEqual(record["bytes_alloc"], 2 ** 63)

    def test_directory_name_of_any_bytes(self):
        """With directory names of arbitrary bytes, JSON remains UTF-8 and contains
        them as strings."""
        source = self.capture()
        for name in (b"\xff\xfe", b"\x01123", b"a\"b\\c\n", "ä".encode()):
            path = os.path.join(os.fsencode(self.dir), name)
            os.rename(source, path)
            for program in BOTH:
                document = self.document(program, name, cwd=self.dir)
                self.assertIsInstance(document["capture"]["directory"], str)
            os.rename(path, source)

    def test_node_of_meta(self):
        record = mkcapture.alloc(1, 0x1000, node=1)
        for node, remote in ((b"0", 1), (b"1", 0), (b"-1", 0), (b"x", 0),
                             (b"99999999999", 0), (b"-7", 0)):
            path = self.capture([record],
                                meta=META + b"[cpu0]\nnode=" + node + b"\n")
            kinds = self.document(REPORT, path)["kinds"]
            self.assertEqual(kinds["slab"]["remote_node_allocs"], remote, node)

    def test_terminal(self):
        """Escape sequences of one and two bytes, right-to-left text, and separators
        of lines and paragraphs are not sent to a terminal."""
        odd = (b"a\x1b[2Jb\xc2\x9b2Jc\xe2\x80\xaed\xff\n\x07e"
               b"\xe2\x80\xa8f\xe2\x80\xa9g")
        source = self.capture(
            [mkcapture.alloc(1, 0x1000) + b"rest"],
            meta=META + b"kernel_release=" + odd.replace(b"\n", b"") + b"\n" +
            b"machine=" + odd.replace(b"\n", b"").replace(b"\xff", b"") +
            b"\n")
        path = os.path.join(os.fsencode(self.dir), odd)
        os.rename(source, path)
        damaged = os.path.join(os.fsencode(self.dir), b"damaged")
        os.mkdir(damaged)
        for name, text in ((b"cpu0.out", b""), (b"kmemtrace.meta", odd)):
            with open(os.path.join(damaged, name), "wb") as f:
                f.write(text)
        for program in BOTH:
            for args in ([path], [os.path.join(path, b"cpu0.out")], [damaged],
                         [os.path.join(path, b"none")],
                         ["--json", path]):
                done = run(program, *args)
                for out in (done.stdout, done.stderr):
                    text = out.decode("utf-8")
                    if args[0] == "--json" and out is done.stdout:
                        json.loads(text)
                        continue
                    for c in "\x1b\x07\x9b\u202e\u2028\u2029":
                        self.assertNotIn(c, text)
                    self.assertNotIn("\ne", text)
                if args[0] == path:
                    self.assertIn(b"a?[2Jb?2Jc?d??", done.stdout)

    def test_sizes_that_do_not_fit(self):
        """A file that was truncated or extended by complete records is detected by
        its size."""
        record = mkcapture.alloc(1, 0x1000)
        for size, damaged in ((56, False), (112, True), (0, True)):
            path = self.capture([record], meta=META +
                                b"[cpu0]\nbytes=%d\n" % size)
            self.assertEqual(
                "kmemtrace-check names the file" in
                self.text_line(path, "Files: "), damaged)
            document = self.document(REPORT, path)
            self.assertEqual("differ in size" in str(document["warnings"]),
                             damaged)
            self.assertEqual(bool(document["capture"]["not_exact"]),
                             size > 56)
            self.assertEqual(run(CHECK, path).returncode, 2 * damaged)

    def test_files_of_another_capture(self):
        """A file of a CPU that kmemtrace.meta does not list is reported, unless the
        list of CPUs may be incomplete."""
        one, two = mkcapture.alloc(1, 0x1000), mkcapture.alloc(2, 0x2000)
        listed = META + b"[cpu0]\noverruns=0\n"
        for cpus, meta, n in (
                ([one], listed, 0), ([one, two], listed, 1),
                ([one, two, two], listed, 2),
                ([one, b""], listed, 0),  # a CPU without events
                ([one, two], META, 0),  # no list
                ([one, two], listed.replace(b"true", b"false"), 0),
                ([one, two], listed + b"[cpu1]\nnode=0\n", 0)):
            path = self.capture(cpus, name=f"{n}-{len(cpus)}-{len(meta)}",
                                meta=meta)
            tar = path + ".tar"
            subprocess.run(["tar", "cf", tar, "-C", path, "."], check=True)
            for operand in (path, tar):
                for program in BOTH:
                    document = self.document(program, operand)
                    self.assertEqual(document["capture"]["unlisted_files"], n)
                    warnings = [text for text in document["warnings"]
                                if "another capture" in text]
                    self.assertEqual(len(warnings), min(n, 1))
                    self.assertTrue(all("cpu1.out" in text
                                        for text in warnings), warnings)
                self.assertEqual(run(CHECK, operand).returncode,
                                 2 if n else 0)
            self.assertEqual("ANOTHER CAPTURE" in
                             self.text_line(path, "Files: "), n > 0)
            exact = not self.document(REPORT, path)["capture"]["not_exact"]
            self.assertEqual(exact, n == 0 and b"true" in meta, (n, meta))
            # The number of a file with another name is arbitrary.
            other = os.path.join(path, "other")
            os.rename(os.path.join(path, f"cpu{len(cpus) - 1}.out"), other)
            document = self.document(
                CHECK, *(os.path.join(path, f"cpu{i}.out")
                         for i in range(len(cpus) - 1)), other)
            self.assertEqual(document["capture"]["unlisted_files"],
                             max(n - 1, 0))

    def test_damaged_ends(self):
        """Damaged records do not change the time at which a file was truncated."""
        good = b"".join(mkcapture.alloc(t * SECOND, 0x1000)
                        for t in range(1, 5))
        other = b"".join(mkcapture.alloc(t * SECOND, 0x2000 + t)
                         for t in (1, 9))
        bad = [b"", bytes(56), b"\x01\x09" + b"\x77" * 54,
               mkcapture.alloc(-5, 0), mkcapture.alloc(5, 0)]
        for key in (b"complete=false", b"complete=true\ncontinues=true"):
            seen = set()
            for damage in bad:
                path = self.capture([damage + good + damage, other],
                                    meta=b"[capture]\n" + key + b"\n")
                report = self.document(REPORT, path)
                check = self.document(CHECK, path)["findings"]
                self.assertEqual(check["double_allocations"],
                                 report["findings"]["double_allocations"])
                seen.add(json.dumps([report["capture"]["not_exact"],
                                     check["double_allocations"]]))
            self.assertEqual(len(seen), 1, seen)
        path = self.capture([bytes(56), other],
                            meta=b"[capture]\ncomplete=false\n")
        self.assertEqual(
            self.document(REPORT, path)["capture"]["not_exact"],
            [{"from": SECOND, "until": 9 * SECOND}])

    def test_times_before_zero(self):
        """If the first record has a negative time, no later record is omitted."""
        path = self.capture([b"".join(mkcapture.alloc(t, 0x1000 + 8 * i)
                                      for i, t in enumerate(
                                          (-2 ** 63, -1, 0, 2 ** 63 - 1)))])
        for tolerance in ("0", "1", "1000000000"):
            slab = self.document(REPORT, "--clock-tolerance", tolerance,
                                 path)["kinds"]["slab"]
            self.assertEqual(slab["allocs"], 4, tolerance)
        document = self.document(REPORT, "--windows", "3", path)
        self.assertEqual(document["kinds"]["slab"]["allocs"], 4)
        self.assertEqual([window["slab"]["allocs"]
                          for window in document["windows"]], [1, 2, 1])

    def test_windows_when_time_goes_back(self):
        """If the last record of a file is not the latest, no record is omitted."""
        for times in ((5, 9, 3), (5, 9000, 9001, 6000)):
            path = self.capture([b"".join(
                mkcapture.alloc(t, 0x1000 + 8 * i)
                for i, t in enumerate(times))])
            for option in ("--windows=2", "--leaks"):
                document = self.document(REPORT, option, path)
                self.assertEqual(document["kinds"]["slab"]["allocs"],
                                 len(times), option)

    def cpu_seconds(self, program, *paths):
        """Return the CPU time that a run uses, in seconds. The kernel samples which
        part of the time is that of user space, so only the sum is exact."""
        def used():
            usage = resource.getrusage(resource.RUSAGE_CHILDREN)
            return usage.ru_utime + usage.ru_stime

        before = used()
        self.assertIn(run(program, "-q", *paths).returncode, (0, 2))
        return used() - before

    def test_collisions(self):
        """Addresses that a fixed multiplicative hash maps to one slot."""
        inverse = pow(0x9e3779b97f4a7c15, -1, 2 ** 64)
        n = 60000
        plain = self.capture([b"".join(
            mkcapture.alloc(i, 64 * i, site=64 * i)
            for i in range(1, n))], name="plain")
        pointers = self.capture([b"".join(
            mkcapture.alloc(i, (i << 32 | i) * inverse % 2 ** 64)
            for i in range(1, n))], name="pointers")
        sites = self.capture([b"".join(
            mkcapture.alloc(i, 64 * i, site=(7 << 32 | i) * inverse % 2 ** 64)
            for i in range(1, n))], name="sites")
        # Many names of one address, and a very long name.
        names = self.capture(
            [b"".join(mkcapture.alloc(i, 64 * i,
                                      site=0xffffffff81000000 + i)
                      for i in range(1, n))], name="names",
            kallsyms=b"ffffffff81000000 T first\n" +
            b"".join(b"ffffffff81000000 T f%d\n" % i for i in range(n)) +
            b"ffffffff81000001 T " + b"x" * 10 ** 6 + b"\n")
        for program in BOTH:
            limit = 10 * self.cpu_seconds(program, plain) + 2
            for path in (pointers, sites, names):
                self.assertLess(self.cpu_seconds(program, path), limit, path)
        text = run(REPORT, names).stdout
        self.assertIn(b"first+0x", text)
        self.assertLess(len(text), 100000)

    def test_collisions_of_texts(self):
        """Names of modules and functions that have the same hash in GLib, and sizes
        that differ only in their upper bits."""
        names = ["".join(n) for n in
                 itertools.product(("Ez", "FY"), repeat=16)][:30000]
        first = "ffffffff81000000 T _stext\n"
        sites = [0xffffffff81000000 + 16 * i for i in range(len(names))]
        records = b"".join(mkcapture.alloc(i, 0x1000 + 64 * i, site=site + 4)
                           for i, site in enumerate(sites))
        modules = self.capture(name="modules", kallsyms=(first + "".join(
            f"{0xffffffffc0000000 + 16 * i:x} t f{i} [{name}]\n"
            for i, name in enumerate(names))).encode())
        functions = self.capture(
            [records], name="functions", kallsyms=(first + "".join(
                f"{site:x} t {name}\n"
                for site, name in zip(sites, names))).encode())
        sizes = self.capture([b"".join(
            mkcapture.alloc(i, 0x1000 + 64 * i, req=1, alloc=i << 48)
            for i in range(1, 65536))], name="sizes")
        self.assertLess(self.cpu_seconds(REPORT, modules), 10)
        self.assertLess(self.cpu_seconds(REPORT, "--by=function", functions),
                        10)
        self.assertLess(self.cpu_seconds(REPORT, sizes), 10)

    def test_many_frees_wait(self):
        """Many frees wait for an address that is allocated and freed all the time."""
        n = 40000
        pair = mkcapture.alloc(1, 0x1000) + mkcapture.free(1, 0x1000)
        path = self.capture([mkcapture.free(1, 0x1000) * n + pair * n])
        for program in BOTH:
            self.assertLess(self.cpu_seconds(program, path), 20)

    def test_diff_of_equal_rows(self):
        """A comparison matches functions of one name and module in linear time."""
        n = 30000
        path = self.capture(
            [b"".join(mkcapture.alloc(i, 64 * i, site=0xffffffffc0000000 + 16 * i)
                      for i in range(1, n))],
            kallsyms=b"".join(b"%x t f\t[m]\n" % (0xffffffffc0000000 + 16 * i)
                              for i in range(1, n)))
        limit = 5 * self.cpu_seconds(REPORT, path) + 1
        self.assertLess(self.cpu_seconds(REPORT, f"--diff={path}", path), limit)

    def test_many_cpus(self):
        """Memory per pair of CPUs is not needed for idle CPUs."""
        path = self.capture([mkcapture.alloc(1, 0x1000)
                             + mkcapture.free(2, 0x1000)])
        for cpu in range(1, 20000):
            with open(os.path.join(path, f"cpu{cpu}.out"), "wb"):
                pass
        done = run(REPORT, "--cross-cpu", path)
        self.assertEqual(done.returncode, 0, done)
        self.assertLess(len(done.stdout), 10000)

    @unittest.skipIf(EMULATED, "a limit of RLIMIT_AS ends QEMU")
    def test_few_threads(self):
        """The programs work if few threads can be started."""
        path = self.capture([mkcapture.alloc(1, 0x1000)])

        def limit():
            resource.setrlimit(resource.RLIMIT_AS, (700 << 20, 700 << 20))
        done = subprocess.run([REPORT, "-q", "-j200", path], check=False,
                              capture_output=True, preexec_fn=limit)
        if b"AddressSanitizer" in done.stderr:
            self.skipTest("a sanitizer takes more addresses than these")
        self.assertEqual(done.returncode, 0, done)

    def test_sums_above_64_bits_of_a_span(self):
        """Live bytes from before a time span count; sums from before do not."""
        half, most = 1 << 63, (1 << 64) - 1
        live = [mkcapture.alloc(0, 0x1000, req=half, alloc=half)
                + mkcapture.alloc(SECOND, 0x2000, req=half, alloc=half)
                + mkcapture.free(2 * SECOND, 0x3000)]
        freed = [mkcapture.alloc(0, 0x1000, req=1, alloc=half)
                 + mkcapture.alloc(SECOND, 0x2000, req=1, alloc=half),
                 mkcapture.free(2 * SECOND, 0x1000)
                 + mkcapture.free(2 * SECOND + 1, 0x2000)]
        before = [mkcapture.alloc(0, 0x1000, req=most, alloc=most)
                  + mkcapture.free(1, 0x1000)
                  + mkcapture.alloc(2, 0x1000, req=5, alloc=5)
                  + mkcapture.free(3, 0x1000)
                  + mkcapture.alloc(SECOND, 0x1000)
                  + mkcapture.free(2 * SECOND, 0x1000)]
        for name, cpus, wrong in (("live", live, True), ("freed", freed, True),
                                  ("before", before, False)):
            path = self.capture(cpus, name=name)
            document = self.document(REPORT, "-q", "--time", "0.5,",
                                     "--cross-cpu", path)
            self.assertEqual(
                document["findings"]["sums_overflowed"], wrong, name)

    def test_many_names(self):
        """Ten times as many files with names of no CPU need less than a hundred
        times as long."""
        paths = [os.path.join(self.dir, str(i)) for i in range(10000)]
        for path in paths:
            with open(path, "wb"):
                pass
        for program in BOTH:
            limit = 20 * self.cpu_seconds(program, *paths[::10]) + 1
            self.assertLess(self.cpu_seconds(program, *paths), limit)

    @unittest.skipIf(EMULATED, "QEMU needs descriptors of its own")
    def test_few_descriptors(self):
        """A capture may have more files than a process may have descriptors."""
        for n, most in (80, 64), (300, 256), (600, 560):
            path = self.capture([mkcapture.alloc(1, 0x1000 + cpu)
                                 for cpu in range(n)], name=str(n))
            for program in BOTH:
                done = subprocess.run(
                    [program, "--json", path], capture_output=True, check=False,
                    preexec_fn=lambda limit=most:  # pylint: disable=W1509
                    resource.setrlimit(resource.RLIMIT_NOFILE, (limit, limit)))
                self.assertEqual(done.returncode, 0, done)
                self.assertIn(b"%d" % n, done.stdout)

    def test_file_becomes_shorter(self):
        """A file is truncated while the report waits for its symbols."""
        path = self.capture([mkcapture.alloc(1, 0x1000) * 1000])
        symbols = os.path.join(self.dir, "symbols")
        os.mkfifo(symbols)

        def shorten():
            with open(symbols, "wb") as f:  # blocks until the report opens it
                os.truncate(os.path.join(path, "cpu0.out"), 0)
                f.write(b"ffffffff81000000 T _stext\n")
        thread = threading.Thread(target=shorten)
        thread.start()
        done = run(REPORT, "--kallsyms", symbols, path)
        thread.join()
        self.assertEqual((done.returncode, done.stdout), (1, b""), done)
        self.assertIn(b"became shorter", done.stderr)
        self.assertEqual(done.stderr.count(b"\n"), 1)


if __name__ == "__main__":
    sys.exit(unittest.main())
