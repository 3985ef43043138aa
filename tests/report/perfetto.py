#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""--perfetto of kmemtrace-report: the structure of the timeline, its tracks against
the windows, marks and losses of --json, and its size."""

import json
import os
import unittest

import random_captures
import report_case

KINDS = ("kmalloc", "cache", "pages", "percpu", "vmalloc")
# A version 2 with marks, names that need escapes, and losses on one CPU.
META = """
meta
  [capture]
  format=1
  abi_version=2
  record_size=64
  byte_order=little
  complete=true
  overruns={lost}
  [cpu0]
  overruns={lost}
tasks
  : # kmemtrace: tasks
  : # columns: pid until name
  : # dropped: 0
  7 - a"b</script>
marks
  : # kmemtrace: marks
  : # columns: number appeared went module types name format
  : # unnumbered: 0
  1 0 - - s marker %s
"""


class Perfetto(report_case.ReportCase):
    """Timelines of fixtures and of random captures."""

    def timeline(self, capture, *args):
        """Return the timeline of a capture, after a check of its structure."""
        path = os.path.join(self.dir, "timeline.json")
        done = report_case.run("-q", f"--perfetto={path}", *args, capture)
        self.assertEqual((done.returncode, done.stdout, done.stderr), (0, "", ""))
        with open(path, encoding="utf-8") as f:
            document = json.load(f)
        names = {}
        for event in document["traceEvents"]:
            self.assertEqual(event["pid"], 1)
            self.assertIsInstance(event["ts"], (int, float))
            if event["name"] == "thread_name":
                names[event["tid"]] = event["args"]["name"]
        for event in document["traceEvents"]:
            self.assertIn(event["ph"], ("M", "C", "i", "X"))
            if event["ph"] in "iX":
                self.assertIn(event["tid"], names)
            if event["ph"] == "X":
                self.assertGreaterEqual(event["dur"], 0)
        document["names"] = names
        return document

    @staticmethod
    def ns(event, key="ts"):
        """Return a time of an event in ns from the first record."""
        return round(event[key] * 1000)

    def tracks(self, document):
        """Return {kind: [(ns, bytes)]} of the counters, which are in order."""
        tracks = {}
        for event in document["traceEvents"]:
            if event["ph"] == "C":
                self.assertTrue(event["name"].startswith("live "))
                tracks.setdefault(event["name"][5:], []).append(
                    (self.ns(event), event["args"]["bytes"]))
        for points in tracks.values():
            self.assertEqual([p[0] for p in points], sorted(p[0] for p in points))
        return tracks

    def compare(self, capture, *args, windows=7):
        """Compare the tracks with the windows of the JSON report."""
        want = self.report("--windows", str(windows), *args, capture)
        document = self.timeline(capture, "--windows", str(windows), *args)
        tracks = self.tracks(document)
        self.assertEqual(document["otherData"]["windows"], len(want["windows"]))
        kinds = [k for k in KINDS if k in want["kinds"]]
        if not want["windows"]:
            self.assertEqual(tracks, {})
            return want, document
        self.assertEqual(list(tracks), kinds)
        starts = [w["start"] for w in want["windows"]]
        for kind in kinds:
            points = tracks[kind]
            for i, window in enumerate(want["windows"]):
                end = starts[i + 1] if i + 1 < len(starts) else points[-1][0]
                live = [p[1] for p in points if p[0] <= end]
                self.assertEqual(live[-1] if live else 0,
                                 window[kind]["live_bytes_allocated"],
                                 (kind, i, points))
            peak = want["kinds"][kind]["peak_bytes_allocated"]
            if peak is not None:
                begin = max([0] + [p[1] for p in points])
                self.assertEqual(begin, max(
                    w[kind]["peak_bytes_allocated"] for w in want["windows"]))
            self.assertLessEqual(len(points), 2 * len(starts))
        return want, document

    def test_fixtures(self):
        """All fixtures whose records have times."""
        for name in sorted(os.listdir(report_case.FIXTURES)):
            if name.endswith(".txt"):
                with self.subTest(name):
                    capture = self.fixture(name[:-4])
                    want, document = self.compare(capture)
                    self.compare_losses(want, document)

    def test_spans(self):
        """A part of a capture, and filters."""
        capture = self.fixture("report-summary")
        for args in (["--time", "1us,"], ["--kind", "pages"], ["--cpu", "0"]):
            self.compare(capture, *args)
        # The default number of windows.
        self.assertEqual(
            self.timeline(capture)["otherData"]["windows"], 1000)

    def compare_losses(self, want, document):
        """Compare the slices with the losses of the JSON report."""
        origin = document["otherData"]["first_timestamp"]
        holes, doubts = [], []
        for event in document["traceEvents"]:
            if event["ph"] != "X":
                continue
            begin = self.ns(event) + origin
            track = document["names"][event["tid"]]
            if track == "not exact":
                doubts.append({"from": begin, "until": begin + self.ns(event, "dur")})
                continue
            self.assertTrue(track.startswith("lost events of CPU "))
            holes.append({"cpu": int(track.rsplit(" ", 1)[1]), "from": begin,
                          "until": begin + self.ns(event, "dur"),
                          "events": event["args"]["events"]})
        self.assertEqual(holes, want["capture"]["holes"] or [])
        self.assertEqual(doubts, want["capture"]["not_exact"])
        self.assertEqual(document["otherData"]["loss"], want["capture"]["loss"])

    def test_random(self):
        """Random captures of several CPUs."""
        for seed in range(10):
            records = ["cpu 0 little size=64"]
            for data in random_history(seed):
                records.append(data)
            capture = self.compiled(META.format(lost=0) + "\n".join(records) + "\n",
                                    f"random-{seed}")
            self.compare(capture, windows=1 + seed * 3)

    def test_marks(self):
        """Marks with quotes, markup and control characters, and a long text."""
        texts = ['boot "done"', "</script>", "back\\slash", "x" * 700]
        lines = [f'mark t={2000 + i} number=1 s:"{mark_text(t)}" pid=7'
                 for i, t in enumerate(texts)]
        capture = self.compiled(
            META.format(lost=0) + "cpu 0 little size=64\n" +
            "alloc kmalloc t=1000 ptr=0x1000 req=10 alloc=16 pid=7\n" +
            "\n".join(lines) + "\n")
        want = self.report("--marks", capture)["marks"]
        got = [e for e in self.timeline(capture)["traceEvents"] if e["ph"] == "i"]
        self.assertEqual(
            [(self.ns(e) + 1000, e["args"]["cpu"], e["args"]["pid"],
              e["args"]["comm"]) for e in got],
            [(m["timestamp"], m["cpu"], m["pid"], m["comm"]) for m in want])
        for event, mark in zip(got, want):
            for key, value in (("text", mark["text"]), ("phase", mark["phase"])):
                text = event["args"]["text"] if key == "text" else event["name"]
                self.assertEqual(text, value if len(value) <= 256
                                 else value[:256] + "...")

    def test_size(self):
        """More marks and losses than the file may have."""
        n = 12000
        marks = "".join(f"mark t={10 * i} number=1 s:x pid=7\n"
                        for i in range(1, n))
        capture = self.compiled(META.format(lost=0) + "cpu 0 little size=64\n" +
                                marks)
        document = self.timeline(capture)
        shown = sum(e["ph"] == "i" for e in document["traceEvents"])
        self.assertEqual(shown, 10000)
        self.assertEqual(document["otherData"]["marks_left_out"], n - 1 - shown)
        losses = "".join(
            f"alloc kmalloc t={10 * i} ptr={0x1000 + 64 * i:#x} req=8 alloc=8\n"
            f"lost t={10 * i + 9} since={10 * i + 1 + i % 2} n=1\n"
            for i in range(1, n))
        capture = self.compiled(META.format(lost=n - 1) + "cpu 0 little size=64\n" +
                                losses, "losses")
        document = self.timeline(capture)
        slices = [e for e in document["traceEvents"]
                  if e["ph"] == "X" and e["name"] == "events lost"]
        self.assertLessEqual(len(slices), 10000)
        self.assertEqual(sum(e["args"]["events"] for e in slices), n - 1)
        self.assertGreater(document["otherData"]["losses_joined_within"], 0)


def mark_text(text):
    """Return a text as an argument of a fixture's mark."""
    return text.replace("\\", "\\\\").replace('"', '\\"')


def random_history(seed):
    """Yield lines of random allocations and frees of all kinds."""
    rng = random_captures.random.Random(seed)
    live, now = [], 1000
    for i in range(300):
        now += rng.choice((0, 1, 50, 4000))
        if live and rng.random() < 0.48:
            kind, ptr = live.pop(rng.randrange(len(live)))
            yield f"free {kind} t={now} ptr={ptr:#x} site=0x30"
            continue
        kind, size = rng.choice(KINDS), rng.randrange(1, 9000)
        ptr = 0xffff888000000000 + i * 0x10000
        live.append((kind, ptr))
        yield (f"alloc {kind} t={now} ptr={ptr:#x} req={size} "
               f"alloc={size + rng.randrange(64)} site={rng.randrange(4):#x}")


if __name__ == "__main__":
    unittest.main()
