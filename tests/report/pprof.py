#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""--pprof of kmemtrace-report: the format, and every sample against --json."""

import collections
import datetime
import os
import shutil
import subprocess
import sys
import unittest

import pprof_files
import random_captures
import report_case
import source_case
from pprof_files import MEMBERS, TYPES, function_of

KERNEL = "[kernel.kallsyms]"
LARGEST = 2 ** 63 - 1


def is_built():
    """Return whether the program has --pprof."""
    with open(os.path.join(os.path.dirname(report_case.PROGRAM), "..",
                           "config.h"), encoding="utf-8") as f:
        return "\n#define HAVE_PPROF 1\n" in f.read()


def frames_of(place):
    """Return (function, file, line) of each frame of a place in JSON."""
    names = place["inlined"] + [function_of(place)]
    source = place["source"] or {"file": "", "line": 0}
    return [(name, source["file"] if i == 0 else "",
             source["line"] if i == 0 else 0) for i, name in enumerate(names)]


class Pprof(report_case.ReportCase):
    """Profiles of fixtures and of random captures."""

    def profile(self, *args, **kwargs):
        """Return the profile of a capture."""
        path = os.path.join(self.dir, "profile.pb.gz")
        done = report_case.run("-q", f"--pprof={path}", *args, **kwargs)
        self.assertEqual((done.returncode, done.stdout, done.stderr), (0, "", ""))
        return pprof_files.Profile(path)

    def check_header(self, profile):
        """Check what is equal in all profiles."""
        self.assertEqual(profile.types, TYPES)
        self.assertEqual(profile.default_type, "inuse_space")
        self.assertEqual(profile.period_type, "alloc_objects/count")
        self.assertTrue(profile.comments[0].startswith("kmemtrace-report "))

    def expected(self, group, directories, stacks, owners):
        """Return the sample of a group in JSON."""
        if stacks:
            frames = [f for place in group["stack"] for f in frames_of(place)]
            addresses = [int(p["address"], 16) for p in group["stack"]]
        else:
            frames, addresses = frames_of(group), [int(group["address"], 16)]
            if directories:
                frames.append((group["directory"] or "(unknown)", "", 0))
                addresses.append(0)
        labels = {"kind": group["kind"], "cache": group["cache"],
                  "cpu": int(group["cpu"]),
                  "node": group["node"] if group["node"] == "any"
                          else int(group["node"])}
        if owners:
            labels["comm"] = group["comm"]
        return (tuple(frames), tuple(addresses),
                tuple(max(-LARGEST, min(LARGEST, group[m])) for m in MEMBERS),
                tuple(sorted(labels.items())))

    def compare(self, capture, *args, stacks=None):
        """Compare each sample with a group, and the sums with the kinds."""
        profile = self.profile(*args, capture)
        self.check_header(profile)
        document = self.report(*args, capture)
        owners = any("comm" in s.labels for s in profile.samples)
        if stacks is None:
            stacks = (document["capture"]["record_size"] or 0) >= 72
        document = self.report(
            "--by", ("stack" if stacks else "callsite") + ",kind,cache," +
            ("comm," if owners else "") + "cpu,node", *args, capture)
        groups = [g for g in document["groups"] if any(g[m] for m in MEMBERS)]
        directories = any(f.file == "" and f.mapping is None and f.address == 0 and
                          f.name != "(caller not recorded)"
                          for s in profile.samples for f in s.frames)
        want = collections.Counter(
            self.expected(g, directories, stacks, owners) for g in groups)
        got = collections.Counter(
            (tuple((f.name, f.file, f.line) for f in s.frames), s.addresses,
             s.values, tuple(sorted(s.labels.items())))
            for s in profile.samples)
        self.assertEqual(got, want)
        if document["findings"]["sums_overflowed"]:
            return profile
        sums = profile.sums("kind")
        for kind, figures in document["kinds"].items():
            if kind != "slab":
                self.assertEqual(sums.get(kind, [0] * len(MEMBERS)),
                                 [figures[m] for m in MEMBERS], kind)
        return profile

    def test_fixtures(self):
        """All fixtures, and parts of one."""
        for name in sorted(os.listdir(report_case.FIXTURES)):
            if name.endswith(".txt"):
                with self.subTest(name):
                    self.compare(self.fixture(name[:-4]))
        capture = self.fixture("report-summary")
        for args in (["--kind", "pages"], ["--cpu", "1"], ["--time", ",1us"],
                     ["--lifetime", "-1ms"], ["--raw-ip"],
                     ["--callsite", "make_thing"], ["--size", "1-100"]):
            with self.subTest(args):
                self.compare(capture, *args)

    def test_random(self):
        """Captures with every defect of lib/random_captures.py."""
        for seed in range(12):
            maker = random_captures.Maker(seed)
            for _ in range(600):
                maker.step()
            path = os.path.join(self.dir, f"random-{seed}")
            os.mkdir(path)
            maker.write(path)
            with self.subTest(seed):
                self.compare(path)

    def test_jobs_and_pipe(self):
        """The same bytes with any number of threads, and from a pipe."""
        capture = self.fixture("report-stacks")
        files = []
        for i, args in enumerate((["-j1", capture], ["-j4", capture])):
            files.append(os.path.join(self.dir, f"file-{i}"))
            report_case.run("-q", "--pprof", files[-1], *args)
        with open(files[0], "rb") as one, open(files[1], "rb") as other:
            self.assertEqual(one.read(), other.read())
        with subprocess.Popen(["tar", "-C", capture, "-c", "."],
                              stdout=subprocess.PIPE) as tar:
            profile = self.profile("-", stdin=tar.stdout)
        self.assertEqual(profile.sums("kind"), self.profile(capture).sums("kind"))

    def test_header(self):
        """The times, the sample factor, and the mappings."""
        profile = self.profile(self.fixture("report-sample"))
        document = self.report(os.path.join(self.dir, "report-sample"))
        self.assertEqual(profile.period, document["capture"]["sample"])
        capture = self.fixture("report-summary")
        meta = os.path.join(capture, "kmemtrace.meta")
        with open(meta, encoding="utf-8") as f:
            text = f.read().replace(
                "[capture]\n", "[capture]\nstart_time=2026-01-02T03:04:05Z\n"
                "build_id=0011223344556677\n", 1)
        with open(meta, "w", encoding="utf-8") as f:
            f.write(text)
        profile = self.profile(capture)
        start = datetime.datetime(2026, 1, 2, 3, 4, 5, tzinfo=datetime.timezone.utc)
        self.assertEqual(profile.time_nanos, start.timestamp() * 10 ** 9)
        document = self.report(capture)["capture"]
        self.assertEqual(profile.duration_nanos, document["last_timestamp"] -
                         document["first_timestamp"])
        mappings = {profile.text(m["filename"]): m
                    for m in profile.mappings.values()}
        self.assertEqual(list(mappings), [KERNEL, "[mod]"])
        self.assertEqual(profile.text(mappings[KERNEL]["build_id"]),
                         "0011223344556677")
        self.assertEqual(mappings["[mod]"]["build_id"], 0)
        self.assertIn("kernel 6.1.192", profile.comments)

    def test_hostile_names(self):
        """Names that are no UTF-8, or have markup and control characters."""
        capture = self.compiled(
            "cpu 0 little size=64\n"
            "alloc kmalloc t=1 site=0xffffffff81000010 ptr=0x1000 req=1 alloc=8 "
            "pid=1 cache=0 flags=0\n")
        with open(os.path.join(capture, "kallsyms"), "wb") as f:
            f.write(b"ffffffff81000000 T a\xff<b>\"\x1b[2J\n"
                    b"ffffffff81001000 T _end\n")
        with open(os.path.join(capture, "tasks"), "wb") as f:
            f.write(b"# kmemtrace: tasks\n# columns: pid until name\n"
                    b"# dropped: 0\n1 - x\xc3(\n")
        profile = self.profile(capture)
        for text in profile.strings:
            self.assertTrue(text.isprintable(), text)

    def test_large_numbers(self):
        """Figures beyond the range of the format."""
        capture = self.compiled("cpu 0 little\n" + "".join(
            f"alloc kmalloc t={i} site=0x10 ptr={0x1000 * (i + 1):#x} "
            f"req={2 ** 62} alloc={2 ** 62}\n" for i in range(3)))
        profile = self.profile(capture)
        self.assertEqual(profile.samples[0].values,
                         (3, LARGEST, 3, LARGEST, 0))
        self.assertIn("Figures above 2^63-1 are shown as 2^63-1.",
                      profile.comments)

    def test_empty(self):
        """A capture without a record."""
        profile = self.compare(self.compiled("cpu 0 little\n"))
        self.assertEqual(profile.samples, [])


class Lines(source_case.SourceCase):
    """Inlined functions and source lines of debug information."""

    def setUp(self):
        for name in source_case.TOOLS:
            if not shutil.which(name):
                self.skipTest(f"no {name}")
        super().setUp()

    def test_lines(self):
        """The innermost function has the line; directories are the callers."""
        vmlinux = self.build()
        path = self.path("profile.pb.gz")
        done = source_case.run("-q", "--pprof", path, "-k", vmlinux,
                               self.capture(vmlinux))
        if "without libdw" in done.stderr:
            self.skipTest("built without libdw")
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        profile = pprof_files.Profile(path)
        stacks = {tuple((f.name, f.file, f.line) for f in s.frames)
                  for s in profile.samples}
        self.assertIn((("make_thing", "include/thing.h", 4),
                       ("make_things", "", 0), ("grow", "", 0), ("mm", "", 0)),
                      stacks)
        self.assertIn((("start_kernel", "init/main.c", 7), ("init", "", 0)),
                      stacks)
        mapping, = profile.mappings.values()
        for name in ("has_functions", "has_filenames", "has_line_numbers",
                     "has_inline_frames"):
            self.assertEqual(mapping[name], 1)


if __name__ == "__main__":
    if not is_built():
        print("kmemtrace-report was built without protobuf-c")
        sys.exit(77)
    unittest.main()
