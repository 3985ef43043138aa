#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Options of kmemtrace-report at their limits: wrong values, almost empty captures,
and numbers that need all 64 bits.  One unit: the cases share their captures."""

import csv
import io
import json
import os
import re
import subprocess
import sys
import tempfile
import unittest

import mkcapture

PROGRAM = os.path.join(os.environ.get("top_builddir", "."), "report",
                       "kmemtrace-report")
EMPTY = "cpu 0 little\n"
ONE = EMPTY + "alloc kmalloc t=5000 site=0x10 ptr=0x1000 req=100 alloc=128\n"
AT_ONCE = ONE + """
alloc pages t=5000 site=0x20 ptr=0x2000 req=4096 alloc=4096
alloc kmalloc t=5000 site=0x10 ptr=0x3000 req=100 alloc=128
free kmalloc t=5000 site=0x30 ptr=0x1000
"""
# Above the exact range of a double, and above a signed integer.
LARGE = [2 ** 53 + 1, 2 ** 62 + 3, 2 ** 63 + 5]

# Option, invalid value, and the expected values that the message must list.
WRONG = [
    ("--by", "", "callsite, function, module"),
    ("--by", "site", "callsite, function, module"),
    ("--by", "cpu,", "several separated by commas"),
    ("--fields", "", "the fields are wasted"),
    ("--fields", "live,x", "the fields are wasted"),
    ("--time", "", "START,STOP"), ("--time", "1", "START,STOP"),
    ("--time", "1,2h", "START,STOP"), ("--time", "@,1", "START,STOP"),
    ("--time", "1.5ns,", "START,STOP"), ("--time", "@@1,", "START,STOP"),
    ("--time", "9000000000000ms,", "START,STOP"),
    ("--time", "1,2,3", "START,STOP"),
    ("--time", "-1,", "START,STOP"), ("--time", "@x,1", "START,STOP"),
    ("--time", "1e-3,", "START,STOP"), ("--time", "0x1,", "START,STOP"),
    ("--time", "1 ,2", "START,STOP"),
    ("--time", "0.0000000001,", "START,STOP"),
    ("--time", "9000000000,", "START,STOP"), ("--time", "Peak", "'peak'"),
    ("--windows", "0", "1 to 4294967294"), ("--windows", "-1", "4294967294"),
    ("--windows", "x", "4294967294"), ("--windows", "4294967295", "4294967294"),
    ("--windows", "", "4294967294"),
    ("--histogram", "", "lifetime or size"),
    ("--histogram", "ages", "lifetime or size"),
    ("--churn", "", "100us"), ("--churn", "5", "100us"),
    ("--churn", "1ms-", "100us"), ("--churn", "1ms-2ms", "100us"),
    ("--churn", "1h", "100us"),
    ("--kind", "", "kmalloc, cache, slab, pages, percpu or vmalloc"),
    ("--cpu", "", "0-3,7"), ("--cpu", "3-1", "0-3,7"),
    ("--cpu", "1,", "0-3,7"), ("--cpu", "-1", "0-3,7"),
    ("--cpu", "99999999999999999999", "0-3,7"),
    ("--node", "any", "0-3,7"), ("--node", "0-", "0-3,7"),
    ("--size", "", "64-4k"), ("--size", "-", "64-4k"),
    ("--size", "4k-64", "64-4k"), ("--size", "4g", "64-4k"),
    ("--size", "1-2-3", "64-4k"), ("--size", "18446744073709551616", "64-4k"),
    ("--size", "17179869184G", "64-4k"),
    ("--lifetime", "", "1ms-"), ("--lifetime", "5-7", "1ms-"),
    ("--lifetime", "2s-1ms", "1ms-"), ("--lifetime", "1min-", "1ms-"),
    ("--callsite", "", "* and ?"), ("--module", "", "* and ?"),
    ("--callsite", "a,,b", "* and ?"), ("--module", "a,", "* and ?"),
    ("--cgroup", "", "* and ?"), ("--cgroup", "/a,", "* and ?"),
    ("--kind", "pages,pag", "kmalloc, cache, slab, pages, percpu or vmalloc"),
]
# Options that exclude each other.
TOGETHER = [
    (["--json", "--csv"], "only one"), (["--csv", "--folded"], "only one"),
    (["--leaks", "--windows", "3"], "4 or more"),
    (["--time", "2,1"], "--time: STOP is before START"),
    (["--time", "@2,@1"], "--time: STOP is before START"),
    (["--time", "1s,999ms"], "--time: STOP is before START"),
    (["--lifetime", "1ms-", "--windows", "4"], "--lifetime: not with"),
    (["--lifetime", "1ms-", "--leaks"], "--lifetime: not with"),
    (["--lifetime", "1ms-", "--time", "peak"], "--lifetime: not with"),
    (["--module", "x", "--raw-ip"], "--module"),
    (["--folded", "--fields", "frag"], "--fields 'frag'"),
    (["--csv", "--leaks"], "--leaks: not with --csv, which has the table only; "
     "use --json"),
    (["--csv", "--windows", "4"], "--windows: not with --csv"),
    (["--folded", "--cross-cpu"], "--cross-cpu: not with --folded"),
    (["--folded", "--histogram", "size"], "--histogram: not with --folded"),
    (["--folded", "--fields", "lifetime-p99,live"], "--folded"),
]


class Options(unittest.TestCase):
    """Captures in a temporary directory."""

    def setUp(self):
        scratch = tempfile.TemporaryDirectory()
        self.addCleanup(scratch.cleanup)
        self.dir = scratch.name

    def capture(self, text):
        """Write a compiled capture."""
        path = os.path.join(self.dir, "capture")
        mkcapture.compile_text(text).write(path)
        return path

    @staticmethod
    def run_with(*args):
        """Return the exit status and the outputs, with the line ends unchanged."""
        done = subprocess.run([PROGRAM, *args], capture_output=True,
                              check=False)
        done.stdout = done.stdout.decode()
        done.stderr = done.stderr.decode()
        return done

    def output(self, *args):
        """Return the output of a run that must succeed."""
        done = self.run_with("-q", *args)
        self.assertEqual((done.returncode, done.stderr), (0, ""), args)
        return done.stdout

    def report(self, *args):
        """Return the JSON document of a report."""
        return json.loads(self.output("--json", *args))

    def check_refused(self, args, *words):
        """Expect a message about the mistake, and a hint to --help."""
        done = self.run_with(*args, self.dir)
        self.assertEqual((done.returncode, done.stdout), (1, ""), args)
        message, hint = done.stderr.splitlines()
        for word in words:
            self.assertIn(word, message, args)
        self.assertEqual(hint, "Try 'kmemtrace-report --help' for more "
                         "information.")

    def test_wrong_values(self):
        for option, value, expected in WRONG:
            self.check_refused([f"{option}={value}"], f"{option} '", expected)
        for args, words in TOGETHER:
            self.check_refused(args, words)

    def test_nothing(self):
        """Reports on a capture without a record."""
        capture = self.capture(EMPTY)
        text = self.output("--windows", "5", "--leaks", "--cross-cpu",
                           "--histogram", "size", capture)
        for title in ("OVER TIME (bytes)\nnone\n", "LEAK CANDIDATES\nnone\n",
                      "CROSS-CPU FREES BY CALL SITE (bytes)\nnone\n",
                      "SIZES requested, bytes\nnone\n"):
            self.assertIn(title, text)
        for time in ("peak", "0,0", "5,", ",5", "5,6", "@5,"):
            self.assertIn("CALL SITES (bytes)\nnone\n",
                          self.output("--time", time, "--live", capture))
        report = self.report("--windows", "5", "--leaks", "--cross-cpu",
                             "--time", "3,", capture)
        for key in ("callsites", "windows", "leak_candidates", "frees_by_cpu",
                    "cross_cpu_pairs"):
            self.assertEqual(report[key], [], key)
        self.assertEqual(self.output("--folded", capture), "")
        self.assertEqual(self.output("--csv", "--fields", "churn", capture),
                         "kind,callsite,churn\r\n")

    def check_windows(self, args, want):
        """Compare the allocations and live bytes of slab in each window."""
        windows = self.report(*args)["windows"]
        self.assertEqual([(w["start"], w["slab"]["allocs"],
                           w["slab"]["live_bytes_allocated"])
                          for w in windows], want)

    def test_no_time(self):
        """One record, and several records at the same time."""
        for text, allocs, live in ((ONE, 1, 128), (AT_ONCE, 2, 128)):
            capture = self.capture(text)
            self.check_windows(["--windows", "3", capture],
                               [(0, allocs, live), (0, 0, live),
                                (0, 0, live)])
            report = self.report("--leaks", "--fields", "churn", capture)
            self.assertEqual(report["leak_candidates"], [])
            self.assertIsNone(report["callsites"][0]["churn_per_second"])
            whole = self.report(capture)["kinds"]
            for time in ("0,0", "0,", ",5", "0,5"):
                self.assertEqual(
                    self.report("--time", time, capture)["kinds"], whole)
        self.assertIn("LEAK CANDIDATES\nnone\n", self.output("--leaks",
                                                             capture))

    def test_more_windows_than_time(self):
        """More windows than nanoseconds: some windows have no duration."""
        capture = self.capture(ONE + "free kmalloc t=5002 ptr=0x1000\n")
        self.check_windows(["--windows", "5", capture],
                           [(0, 1, 128), (0, 0, 128), (0, 0, 128),
                            (1, 0, 128), (1, 0, 0)])

    def fails(self, *args):
        """Return the message of a run that must fail while it reads."""
        done = self.run_with(*args)
        self.assertEqual((done.returncode, done.stdout), (1, ""), args)
        self.assertEqual(done.stderr.count("\n"), 1, done.stderr)
        return done.stderr

    def test_beyond_the_end(self):
        """A START after the last record is an error; a STOP is not."""
        capture = self.capture(AT_ONCE + "free kmalloc t=2000005000\n")
        self.assertIn("START is beyond the end: the capture is 2.000000000 s "
                      "long", self.fails("--time", "2000000001ns,", capture))
        for time in ("2,", "2,9", ",9", "2000ms,"):
            self.assertEqual(self.report("--time", time, capture)["kinds"]
                             ["slab"]["live_objects"], 1)

    def test_clocks(self):
        """Times of the kernel's clock, and units."""
        text = "cpu 0 little\n" + "".join(
            f"alloc kmalloc t={7 * 10 ** 9 + i * 10 ** 8} ptr={4096 * i + 8}\n"
            for i in range(30))
        capture = self.capture(text)
        for time, allocs in (("1,", 20), ("@8,", 20), ("1s,1.1", 2),
                             ("@8,@8.1", 2), ("@8,1.1", 2), ("1000ms,@8.1", 2),
                             ("@1,", 30), ("@0,@7", 1), (",100000us", 2),
                             ("@8000.5ms,", 19)):
            self.assertEqual(self.report("--time", time, capture)["kinds"]
                             ["slab"]["allocs"], allocs, time)
        self.assertIn("--time: STOP is before the first record, which is at "
                      "7.000000000 s of the kernel's clock",
                      self.fails("--time", ",@6.9", capture))
        self.assertIn("STOP is before START",
                      self.fails("--time", "@8,0.5", capture))
        self.assertIn("START is beyond the end",
                      self.fails("--time", "@10,", capture))
        text = self.output("--fields", "peak-time", capture)
        self.assertIn("Events:        30 in 2.900 s; the first at 7.000 s of "
                      "the kernel's clock\n", text)
        self.assertRegex(text, r"\npeak at, s +2\.900000000 ")
        self.assertIn("\n2.900000000  kmalloc  ", text)
        self.assertIn("\nCALL SITES (bytes) AT THE PEAK of kmalloc, 2.900 s\n",
                      self.output("--time", "peak", capture))
        self.assertEqual(self.report(capture)["kinds"]["slab"]
                         ["peak_timestamp"], 9900000000)

    def test_moments_of_a_pipe(self):
        """Times of a pipe, where the first records must be buffered."""
        capture = self.capture("cpu 0 little\nalloc kmalloc t=1000000000 "
                               "ptr=8\nalloc kmalloc t=3000000000 ptr=64\n")
        done = subprocess.run(
            ["bash", "-c", '"$0" -q --time @2,@4 --json <(cat "$1"/cpu0.out)',
             PROGRAM, capture], capture_output=True, check=True)
        self.assertEqual(json.loads(done.stdout)["kinds"]["slab"]["allocs"], 1)

    def test_nothing_fits(self):
        """Filters that no object passes."""
        capture = self.capture(AT_ONCE)
        for args in (["--cpu", "7"], ["--node", "3"], ["--size", "1-2"],
                     ["--lifetime", "5s-"], ["--callsite", "x"],
                     ["--module", "x"], ["--cgroup", "x"],
                     ["--kind", "cache"]):
            self.assertIn("CALL SITES (bytes)\nnone\n",
                          self.output(*args, capture))
            self.assertEqual(self.report(*args, capture)["callsites"], [])
            self.assertEqual(self.output("--folded", *args, capture), "")

    def warnings(self, *args):
        """Return the warnings on stderr, which must equal those in JSON."""
        done = self.run_with("--json", *args)
        self.assertEqual(done.returncode, 0, done.stderr)
        warnings = json.loads(done.stdout)["warnings"]
        self.assertEqual(done.stderr, "".join(
            f"kmemtrace-report: warning: {w}\n" for w in warnings))
        return warnings

    def named(self):
        """Make a capture with names, two CPUs, one node and a module."""
        capture = self.capture(
            "meta\n\t[capture]\n\tcomplete=true\n\toverruns=0\n\t[cpu0]\n"
            "\tnode=0\n\t[cpu1]\n\tnode=0\nkallsyms\n"
            "\tffffffff81000000 T _stext\n\tffffffff81000000 T one\n"
            "\tffffffff81000100 T other\n\tffffffff81000200 T _etext\n"
            "\tffffffffa0000000 t ours\t[mod]\n"
            "cpu 0 little\n" + "".join(
                f"alloc kmalloc t={i} site={site} ptr={64 * i + 64} node={node}"
                "\n" for i, (site, node) in enumerate((
                    ("0xffffffff81000010", -1), ("0xffffffff81000020", 0),
                    ("0xffffffff81000110", 2), ("0xffffffffa0000010", -1),
                    ("0x1000", -1)))) + "cpu 1 little\n"
            "alloc pages t=9 site=0xffffffff81000010 ptr=0x9000\n")
        return capture

    def test_call_sites(self):
        """Filter by one or several call sites, written as in the table."""
        capture = self.named()
        for args, sites in (
                (["--callsite", "one"], "one+0x10 one+0x20"),
                (["--callsite", "one+0x10"], "one+0x10"),
                (["--callsite", "one+0x20,oth*"], "one+0x20 other+0x10"),
                (["--callsite", "0xffffffff81000020"], "one+0x20"),
                (["--callsite", "0x0000000000001000"], "0x0000000000001000"),
                (["--callsite", "0x1000,ours"],
                 "0x0000000000001000 ours+0x10 [mod]"),
                (["--callsite", "0x*"], "0x0000000000001000"),
                (["--module", "mod"], "ours+0x10 [mod]"),
                (["--module", "mod,vmlinux", "--kind", "page"], "one+0x10"),
                (["--size", "1K"], None)):
            table = self.output("--csv", "-s", "callsite", *args, capture)
            self.assertEqual(
                sorted({line.split(",")[1] for line in
                        table.split("\r\n")[1:-1]}),
                sorted(re.findall(r"\S+(?: \[\w+\])?", sites or "")), args)
            self.assertEqual(self.warnings(*args, capture), [])

    def test_nobody_meets_a_condition(self):
        """A filter without any match causes a warning."""
        capture = self.named()
        for args, warning in (
                (["--callsite", "one,nobody"],
                 "--callsite 'nobody': no call site has such a name"),
                (["--callsite", "one+0x11"], "--callsite 'one+0x11': "),
                (["--module", "ext4"], "--module 'ext4': no call site is in "
                 "such a module; built-in code belongs to vmlinux, which --by "
                 "directory divides with --vmlinux, --debug-dir or --source"),
                (["--cpu", "2-7"], "--cpu: the capture has none of these CPUs"),
                (["--node", "1,3"], "--node: the capture has none of these"),
                (["--by", "directory"], "--by directory: no directory is known "
                 "without --vmlinux, --debug-dir or --source")):
            self.assertIn(warning, self.warnings(*args, capture)[0])
            self.assertEqual(len(self.warnings(*args, capture)), 1)
        for args in (["--cpu", "1,9"], ["--node", "0,9"], ["--node", "2"],
                     ["--module", "mod*"]):
            self.assertEqual(self.warnings(*args, capture), [], args)

    def test_names_of_fields(self):
        """Field names in any case, and the names of the columns."""
        capture = self.named()
        for typed, name in (("LIVE", "live"), ("Frag%", "frag"),
                            ("FRAG", "frag"), ("objects", "live-objects"),
                            ("live waste", "live-wasted"),
                            ("live-req", "live-requested"),
                            ("peak at", "peak-time"), ("at peak", "at-peak"),
                            ("99%-life", "lifetime-p99"),
                            ("99-life", "lifetime-p99"),
                            ("median age", "age-median"), ("HIT", "allocs"),
                            ("live frag", "live-frag"), ("churn/s", "churn"),
                            ("remote", "remote-node")):
            self.assertEqual(self.output("--csv", "--fields", typed, "-s",
                                         f"-{typed}", "--by", "Module",
                                         capture),
                             self.output("--csv", "--fields", name, "-s",
                                         f"-{name}", "--by", "module",
                                         capture), typed)
        self.check_refused(["-s", "name"], "cannot sort by 'name'")

    def test_a_key_is_a_column(self):
        """In text, a sort key is also a column; other formats have only the
        requested fields."""
        capture = self.named()
        for args, head in ((["-s", "live-objects"], "cross-CPU  objects  kind"),
                           (["-s", "+ptr,live,remote-node"],
                            "cross-CPU  remote  kind"),
                           (["--fields", "frees", "-s", "hit,frees"],
                            "frees  allocs  kind")):
            self.assertIn(head, self.output(*args, capture))
        self.assertEqual(self.output("--csv", "--fields", "frees", "-s", "hit",
                                     capture).split("\r\n")[0],
                         "kind,callsite,frees")

    def test_only_what_was_asked(self):
        """A section option prints the head, the summary and the section."""
        capture = self.named()
        titles = {"--live": ["CALL SITES (bytes)"],
                  "--leaks": ["LEAK CANDIDATES"],
                  "--windows=4": ["OVER TIME (bytes)"],
                  "--histogram=size": ["SIZES requested, bytes"],
                  "--leaks --fields=live": ["CALL SITES (bytes)",
                                            "LEAK CANDIDATES"]}
        for args, expected in titles.items():
            parts = self.output(*args.split(), capture).split("\n\n")
            self.assertEqual([p.split("\n")[0] for p in parts[2:]], expected)
        self.assertEqual(len(self.output("--cross-cpu", capture)
                             .split("\n\n")), 5)
        self.assertIn("\nCROSS-CPU FREES", self.output(capture))
        self.assertNotIn("Findings: ", self.output("--live", capture))
        capture = self.capture(AT_ONCE + "free kmalloc t=6000 ptr=0x1000\n"
                               "free cache t=6000 ptr=0x3000\n")
        self.assertTrue(self.output("--live", capture).endswith(
            "\n\nFindings: 2 unexplained, see the default report\n"))
        self.assertNotIn("Findings: ", self.output(capture))

    def test_folded_others(self):
        """Folded output has one line for the omitted rest, so that the widths are
        right."""
        capture = self.named()
        whole = self.output("--folded", capture).split("\n")[:-1]
        for n in range(1, 7):
            lines = self.output("--folded", "-l", str(n),
                                capture).split("\n")[:-1]
            self.assertEqual(lines[:n], whole[:n])
            for kind in ("kmalloc", "pages"):
                self.assertEqual(*(sum(
                    int(line.split()[-1]) for line in lines
                    if line.startswith(kind)) for lines in (lines, whole)))
            self.assertEqual(sum("(others)" in line for line in lines),
                             len({line.split(";")[0] for line in whole[n:]}))

    def test_call_sites_are_counted_once(self):
        """A call site counts once, however many kinds and CPUs it has."""
        capture = self.capture("cpu 0 little\n" + "".join(
            f"alloc {kind} t={i} site=0x10 ptr={i * 64 + 64}\n"
            for i, kind in enumerate(("kmalloc", "cache", "pages"))))
        path = os.path.join(self.dir, "System.map")
        with open(path, "w", encoding="ascii") as f:
            f.write("ffffffff81000000 T _stext\n")
        self.assertIn("1 of 1 call sites lie in no function", " ".join(
            self.warnings("--system-map", path, "--cpu", "0", capture)))

    def test_no_usable_record(self):
        """A capture without a usable record is an error."""
        path = os.path.join(self.dir, "cpu0.out")
        for content, message in (
                (b"x" * 40, "no record can be used: specify the directory or "
                            "the cpu<n>.out files of a capture"),
                (bytes(56 * 3), "no record can be used"),
                (b"PERFILE2" + bytes(96), "cpu0.out is perf.data"),
                (b"\x17\x08\x44tracing6\0" + bytes(99),
                 "cpu0.out is trace.dat")):
            with open(path, "wb") as f:
                f.write(content)
            self.assertIn(message, self.fails(path))
        os.truncate(path, 0)
        self.output(path)

    def large(self):
        """Make objects whose sizes a double cannot represent."""
        text = "cpu 0 little\n"
        for i, size in enumerate(LARGE):
            text += (f"alloc kmalloc t={i} site={16 + i} ptr={4096 * (i + 1)} "
                     f"req={size - 1} alloc={size}\n")
        text += "cpu 1 little\n" + "".join(
            f"free kmalloc t={9 + i} site=0x99 ptr={4096 * (i + 1)}\n"
            for i in range(len(LARGE)))
        return self.capture(text)

    def test_large_numbers(self):
        """Large numbers are exact in all JSON members and in CSV."""
        capture = self.large()
        report = self.report("--cross-cpu", "--windows", "1", "--sort", "ptr",
                             "--histogram", "size", capture)
        rows = report["callsites"]
        self.assertEqual([r["live_bytes_at_peak"] for r in rows], LARGE)
        self.assertEqual([r["sizes"][0]["from"] for r in rows],
                         [2 ** 53, 2 ** 62, 2 ** 63])
        total = report["windows"][0]["slab"]
        for key in ("bytes_allocated", "peak_bytes_allocated"):
            self.assertEqual(total[key], sum(LARGE))
        self.assertEqual(total["bytes_requested"], sum(LARGE) - len(LARGE))
        self.assertEqual(report["frees_by_cpu"][0]["bytes_allocated"],
                         sum(LARGE))
        self.assertEqual([p["bytes_allocated"]
                          for p in report["cross_cpu_pairs"]], LARGE[::-1])
        table = list(csv.reader(io.StringIO(self.output(
            "--csv", "--sort", "ptr", "--fields", "at-peak,peak",
            capture))))[1:]
        self.assertEqual([int(row[2]) for row in table], LARGE)
        self.assertEqual([int(row[3]) for row in table], LARGE)

    def test_large_growth(self):
        """The growth of a leak is exact."""
        text = "cpu 0 little\n" + "".join(
            f"alloc kmalloc t={i} site=16 ptr={4096 * (i + 1)} "
            f"req={2 ** 59} alloc={2 ** 59 + 1}\n" for i in range(21))
        leak, = self.report("--leaks", self.capture(text))["leak_candidates"]
        self.assertEqual((leak["growth_bytes"], leak["live_objects"]),
                         (18 * (2 ** 59 + 1), 21))

    def grown(self, meta="", times=1):
        """Make two growing sites: one that leaks and frees some objects, and one
        whose addresses are allocated again without a free."""
        text = meta + "cpu 0 little\n"
        for i in range(40):
            time = 10 ** 6 * i
            text += (f"alloc kmalloc t={time} site=0x10 ptr={64 * (i + 1)} "
                     "req=8 alloc=8\n"
                     f"alloc cache t={time} site=0x20 "
                     f"ptr={2 ** 20 + 64 * (i + 1)} req=99 alloc=99\n")
            text += times * (f"alloc cache t={time} site=0x20 ptr={2 ** 30} "
                             "req=8 alloc=8\n")
            if i % 7 == 0:
                text += (f"alloc kmalloc t={time + 10} site=0x10 "
                         f"ptr={2 ** 40} req=8 alloc=8\n"
                         f"free kmalloc t={time + 1550} ptr={2 ** 40}\n")
        return self.capture(text)

    def test_reused(self):
        """A site whose frees are not recorded is not reported as a leak."""
        capture = self.grown()
        report = self.report("--leaks", capture)
        self.assertEqual([(leak["address"][-2:], leak["frees"],
                           leak["reused"], leak["frees_not_seen"])
                          for leak in report["leak_candidates"]],
                         [("10", 6, 0, False), ("20", 0, 39, True)])
        self.assertEqual({r["address"][-2:]: r["reused"]
                          for r in report["callsites"]}, {"10": 0, "20": 39})
        text = self.output("--leaks", capture).split("LEAK CANDIDATES\n")[1]
        first, second = text.split(
            "\n\nOTHER GROUPS THAT GREW (most of their frees are not "
            "recorded)\n")
        self.assertEqual(first, """0x0000000000000010 (kmalloc)
    grew in 9 of 9 windows, by 288 bytes; holds 40 objects, half of them for \
more than 18.9ms;
    of the 6 that were freed, 99 % had lived no more than 1.54us""")
        self.assertIn("""
    no free was recorded;
    39 of its addresses were allocated again without a recorded free:
    its frees are not recorded, so this is no sign of a leak
""", second)
        self.assertNotIn("~", text)
        self.assertIn("""objects  reused  live waste""",
                      self.output("--live", capture))
        self.assertEqual(self.output("--csv", "--fields", "reused", "-s",
                                     "ptr", capture).split("\r\n")[1:],
                         ["kmalloc,0x0000000000000010,0",
                          "cache,0x0000000000000020,39", ""])
        # Objects that were live at START are not distinguished from allocated ones.
        for time, expected in (("0,1", {0, 39}), ("0.01,", {None})):
            self.assertEqual({r["reused"] for r in self.report(
                "--time", time, capture)["callsites"]}, expected)

    def test_reused_and_loss(self):
        """After a loss, reused addresses prove nothing."""
        capture = self.grown("meta\n\t[capture]\n\tcomplete=true\n"
                             "\toverruns=3\n")
        text = self.output("--leaks", capture).split("LEAK CANDIDATES\n")[1]
        for words in ("by 288~ bytes; holds 40~ objects", "of the 6~ that",
                      "\n    39~ of its", "\n~ missing events could"):
            self.assertIn(words, text)
        self.assertIn("  reused~  ", self.output("--live", capture))

    def test_durations(self):
        """Durations have three digits and a suitable unit."""
        for ns, text in ((0, "0ns"), (15, "15ns"), (960, "960ns"),
                         (1000, "960ns"), (1999, "1.92us"), (999999, "983us"),
                         (2048000, "1.97ms"), (2 * 10 ** 9, "1.88s"),
                         (60 * 10 ** 9, "55.8s"), (2 ** 43, "8796s")):
            capture = self.capture(
                "cpu 0 little\nalloc kmalloc t=0 ptr=4096\n"
                f"free kmalloc t={ns} ptr=4096\n")
            line = self.output("--fields", "lifetime-p99", "-l", "1", capture)
            self.assertEqual(line.split("CALL SITES")[1].split("\n")[2]
                             .split()[0], text)
        text = self.output("--histogram", "lifetime", capture)
        self.assertIn("  from 8796s  ###", text)

    def test_large_times(self):
        """The longest possible capture."""
        capture = self.capture(
            f"cpu 0 little\nalloc kmalloc t={-2 ** 63} site=16 ptr=4096\n"
            f"alloc kmalloc t={-2 ** 63} site=32 ptr=8192\n"
            f"free kmalloc t={2 ** 63 - 1} ptr=4096\n")
        report = self.report("--windows", "3", "--sort", "ptr",
                             "--histogram", "lifetime", capture)
        longest = (2 ** 64 - 1) // 3
        self.assertEqual([w["start"] for w in report["windows"]],
                         [0, longest, 2 * longest])
        first, second = report["callsites"]
        for value in (first["lifetime_median"], second["age_median"]):
            self.assertEqual(value, 15 << 60)
        self.assertEqual(first["lifetimes"], [{"from": 2 ** 63, "count": 1}])
        args = ["--sort", "ptr", "--fields", "lifetime-p99", capture]
        self.assertIn(f",{15 << 60}\r\n", self.output("--csv", *args))
        self.assertIn("17293822569s  ", self.output(*args))

    def test_exact_moments(self):
        """Times are exact to nine decimals, even where a double has none."""
        first = 4 * 10 ** 18 + 1
        capture = self.capture(
            "cpu 0 little\nalloc kmalloc t=0 site=16 ptr=4096\n"
            f"alloc kmalloc t={first} site=16 ptr=8192\n"
            f"alloc kmalloc t={first + 1} site=16 ptr=12288\n")
        for start, stop, allocs in ((1, 1, 1), (1, 2, 2), (2, 2, 1),
                                    (2, 9, 1)):
            time = ",".join(f"4000000000.00000000{n}" for n in (start, stop))
            kinds = self.report("--time", time, capture)["kinds"]
            self.assertEqual(kinds["slab"]["allocs"], allocs, time)


if __name__ == "__main__":
    sys.exit(unittest.main())
