#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""kmemtrace-report --html: the file, its template, its limits, and hostile names.
html-figures.py compares the figures."""

import json
import os
import re
import subprocess
import unittest
from unittest import mock

import large_captures
import mkcapture
from figures_compare import decimal
from reference_html import data_of
from report_case import PROGRAM, ReportCase

MARKER = "<!--KMT-DATA-->"
TEMPLATE = f"<!doctype html><title>t</title>{MARKER}<p>end\n"
MAX_BYTES = 5000000
META = """meta
  [capture]
  format=1
  abi_version={version}
  record_size={size}
  byte_order=little
  complete=true
  overruns=0
"""
OWNER = " pid=1 cache=1 flags=0"


class Html(ReportCase):
    """Pages with a small template."""

    def setUp(self):
        super().setUp()
        self.use_template(TEMPLATE)
        self.page = os.path.join(self.dir, "page.html")

    def use_template(self, text):
        """Let the program use a template."""
        path = self.write("template.html", text)
        patch = mock.patch.dict(os.environ, KMEMTRACE_HTML_TEMPLATE=path)
        patch.start()
        self.addCleanup(patch.stop)

    def html(self, *args, **kwargs):
        """Return the data of a page, after checking the whole page."""
        done = subprocess.run([PROGRAM, "-q", f"--html={self.page}", *args],
                              capture_output=True, text=True, check=False,
                              **kwargs)
        self.assertEqual((done.returncode, done.stdout, done.stderr),
                         (0, "", ""))
        with open(self.page, encoding="utf-8", newline="") as f:
            page = f.read()
        self.assertLessEqual(len(page.encode()), MAX_BYTES)
        before, after = TEMPLATE.split(MARKER)
        self.assertTrue(page.startswith(
            before + '<script type="application/json" id="kmt-data">{'))
        self.assertTrue(page.endswith("}</script>" + after))
        script = page[len(before):-len(after)]
        data = script[script.index(">") + 1:script.rindex("<")]
        for char in "<>&\u2028\u2029\n\r":
            self.assertNotIn(char, data)
        self.check_sums(data_of(page))
        return data_of(page)

    def check_sums(self, data):
        """Check that all parts have the sums of the kinds."""
        for number, kind in enumerate(data["kinds"]):
            parts = [s for s in data["sites"] + data["sites_rest"]
                     if s["kind"] == number]
            for key in ("allocs", "requested", "allocated", "wasted", "live",
                        "live_objects", "cross_frees"):
                self.assertEqual(sum(p[key] for p in parts), kind[key],
                                 (kind["kind"], key))
            series = data["series"]["kinds"][number]
            if data["windows"]["n"]:
                self.assertEqual(series["live"][-1], kind["live"])
            for key in ("allocs", "frees", "requested", "allocated"):
                self.assertEqual(len(series[key]), data["windows"]["n"])
                self.assertEqual(sum(series[key]), kind[key])
            for tree in ("tree", "stacks"):
                if data[tree]:
                    self.check_tree(data, data[tree]["nodes"], kind)
        self.assertEqual(len(data["series"]["sites"]), len(data["sites"]))
        self.assertLessEqual(max(map(len, (n.encode() for n in data["names"])),
                                 default=0), 256)

    def check_tree(self, data, nodes, kind):
        """Check the sums of the nodes of a kind."""
        kinds, sums = [], [0, 0, 0, 0]
        for i, (parent, name, live, allocated, wasted, _, allocs) in enumerate(
                nodes):
            self.assertLess(parent, i)
            kinds.append(kinds[parent] if parent >= 0 else data["names"][name])
            if kinds[-1] == kind["kind"]:
                sums = [a + b for a, b in zip(
                    sums, (live, allocated, wasted, allocs))]
        self.assertEqual(sums, [kind[key] for key in (
            "live", "allocated", "wasted", "allocs")])

    def names(self, data):
        """Return the names of the call sites."""
        return [data["names"][s["site"]] for s in data["sites"]]

    # ---- captures ----

    def test_empty(self):
        """An empty capture has a page without windows."""
        data = self.html(self.fixture("report-empty"))
        self.assertEqual(data["windows"]["n"], 0)
        self.assertEqual((data["sites"], data["cuts"]), ([], []))

    def test_pipe(self):
        """A pipe gives the same data as the file."""
        path = os.path.join(self.dir, "many")
        large_captures.make("windows", path, 20000)
        file = os.path.join(path, "cpu0.out")
        expected = self.html(file)
        records = os.path.join(self.dir, "records")
        os.rename(file, records)
        os.mkfifo(file)
        with subprocess.Popen(["dd", f"if={records}", f"of={file}", "bs=1000"],
                              stderr=subprocess.DEVNULL):
            got = self.html(file)
        self.assertEqual(got, expected)
        self.assertEqual(got["capture"]["events"], 20000)
        self.assertGreater(got["windows"]["n"], 120)

    def test_span(self):
        """Windows have the figures of the same --time."""
        path = os.path.join(self.dir, "many")
        large_captures.make("windows", path, 5000)
        data = self.html(path)
        width, n = data["windows"]["width_ns"], data["windows"]["n"]
        series = data["series"]["kinds"][0]
        for first, last in ((0, 0), (0, 9), (17, 60), (n - 1, n - 1),
                            (0, n - 1)):
            report = self.report("--time", decimal(first * width) + ","
                                 + decimal((last + 1) * width - 1), path)
            kind = report["kinds"]["kmalloc"]
            for key, name in (("allocs", "allocs"), ("frees", "frees"),
                              ("requested", "bytes_requested"),
                              ("allocated", "bytes_allocated")):
                self.assertEqual(sum(series[key][first:last + 1]), kind[name])
            self.assertEqual(series["live"][last],
                             kind["live_bytes_allocated"])
            self.check_span_sites(data, report, first, last)

    def check_span_sites(self, data, report, first, last):
        """Compare the call sites of a span with a report."""
        expected = {s["address"]: (s["allocs"], s["live_bytes_allocated"])
                    for s in report["callsites"]}
        for site, series in zip(data["sites"], data["series"]["sites"]):
            live, allocs = series[0], 0
            for i in range(1, len(series), 6):
                if series[i] <= last:
                    live = series[i + 1]
                if first <= series[i] <= last:
                    allocs += series[i + 2]
            self.assertEqual((allocs, live),
                             expected.get(site["address"], (0, 0)))

    def test_losses(self):
        """Losses are those of --json."""
        for name in ("report-lost", "report-lost-most", "report-cut",
                     "report-gaps", "report-incomplete", "report-deferred",
                     "report-sample", "report-tags", "report-tags-removed"):
            path = self.fixture(name)
            data, report = self.html(path), self.report(path)
            capture = report["capture"]
            start = data["capture"]["origin_ns"]
            gaps = [(g["cpu"], g["from_ns"] + start, g["until_ns"] + start,
                     g["events"]) for g in data["gaps"]]
            expected = [(h["cpu"], h["from"], h["until"], h["events"])
                        for h in capture["holes"] or []] or [
                (-1, i["from"], i["until"], None)
                for i in capture["not_exact"]]
            self.assertEqual(gaps, expected, name)
            self.assertEqual(data["trust"]["loss"], capture["loss"])
            self.assertEqual(data["trust"]["lost_events"], capture["overruns"])
            self.assertAlmostEqual(data["trust"]["lossy_fraction"],
                                   capture["blind"], 6)
            self.assertEqual(data["capture"]["events"], capture["events"])
            self.assertEqual(data["capture"]["sample"], capture["sample"] or 1)

    def test_many_losses(self):
        """Too many losses are merged, and the page reports this."""
        text = META.format(version=2, size=64) + "cpu 0 little size=64\n"
        for i in range(2500):
            text += (f"lost t={1000 * i + 10} n=1 since={1000 * i}\n"
                     f"alloc kmalloc t={1000 * i + 20} ptr={64 * i + 64} "
                     f"req=8 alloc=8{OWNER}\n")
        data = self.html(self.compiled(text.replace("overruns=0",
                                                    "overruns=2500")))
        self.assertEqual(len(data["gaps"]), 1250)
        self.assertEqual(sum(g["events"] for g in data["gaps"]), 2500)
        self.assertIn("2500 losses", data["cuts"][0])

    def test_findings(self):
        """Findings are sentences of the text report."""
        path = self.fixture("report-findings")
        done = subprocess.run([PROGRAM, path], capture_output=True, text=True,
                              check=False)
        lines = [" ".join(line.split()) for line in done.stdout.splitlines()]
        findings = self.html(path)["findings"]
        self.assertTrue(findings)
        for finding in findings:
            if finding["sites"]:
                self.assertIn(finding["text"], lines)
            else:
                self.assertIn(finding["text"].replace(": ", " ", 1), lines)

    def test_stacks(self):
        """The tree of stacks has the figures of --stacks."""
        path = self.fixture("report-stacks")
        data = self.html(path)
        expected = {}
        for group in self.report("--stacks", path)["groups"]:
            names = [f["symbol"].split("+")[0] for f in group["stack"]]
            key = group["kind"], *reversed(names)
            expected[key] = [group["live_bytes_allocated"],
                             group["bytes_allocated"], group["bytes_wasted"],
                             group["live_bytes_at_peak"], group["allocs"]]
        paths, got = [], {}
        for parent, name, *figures in data["stacks"]["nodes"]:
            paths.append((paths[parent] if parent >= 0 else ())
                         + (data["names"][name],))
            if any(figures):
                got[paths[-1]] = figures
        self.assertEqual(got, expected)

    def test_marks(self):
        """Marks have their time and label; the page of a pipe reports that it has
        none."""
        text = META.format(version=2, size=64) + r"""marks
  : # kmemtrace: marks
  : # columns: number appeared went module types name format
  : # unnumbered: 0
  1 0 - - s marker %s
  2 0 - - i begin begin %d
cpu 0 little size=64
alloc kmalloc t=1000 ptr=64 req=8 alloc=8 pid=1 cache=0 flags=0
mark t=2000 number=2 -1 pid=7
mark t=5000 number=1 s:"</script><b>" pid=7
alloc kmalloc t=9000 ptr=128 req=8 alloc=8 pid=1 cache=0 flags=0
"""
        path = self.compiled(text)
        expected = [{"at_ns": 1000, "label": "begin"},
                    {"at_ns": 4000, "label": "marker:</script><b>"}]
        self.assertEqual(self.html(path)["marks"], expected)
        self.assertEqual(self.html("--time", "begin,", path)["marks"], expected)

    # ---- hostile captures ----

    def test_hostile_names(self):
        """Names are text, printable, and short."""
        bad = ("</script><script>alert(1)</script>", "<!--", "]]>", "&lt;",
               "\u2028\u2029", "'\"\\", "\x1b[31m", "\u202e", "a" * 1000, "b" * 10 ** 7)
        path = self.compiled(META.format(version=2, size=64) + "cpu 0 little "
                             "size=64\n" + "".join(
                                 f"alloc cache t={i} ptr={64 * i + 64} req=8 "
                                 f"alloc=8 pid={i} cache={i} flags=0 "
                                 f"site={0xffffffff81000000 + 16 * i}\n"
                                 for i in range(1, len(bad) + 1)))

        def escaped(text):
            return "".join(
                chr(b) if 33 <= b < 127 and b != 92 else f"\\{b:03o}"
                for b in text.encode())

        for table, columns in (("tasks", "{i} - {name}"),
                               ("caches", "{i} 8 8 0 - {name}")):
            with open(os.path.join(path, table), "w", encoding="ascii") as f:
                f.write(f"# kmemtrace: {table}\n" + "".join(
                    columns.format(i=i, name=escaped(name)) + "\n"
                    for i, name in enumerate(bad, 1)))
        with open(os.path.join(path, "tasks"), "ab") as f:
            f.write(b"99 - \\377\\200\n")
        with open(os.path.join(path, "kallsyms"), "w", encoding="utf-8") as f:
            f.write("".join(f"{0xffffffff81000000 + 16 * i:x} T {name}\n"
                            for i, name in enumerate(bad) if " " not in name))
        data = self.html(path)
        tasks = {data["names"][t[0]] for s in data["sites"]
                 for t in s["tasks"]}
        self.assertIn(bad[0], tasks)
        self.assertIn("?[31m", tasks)
        self.assertIn("??", tasks)
        self.assertIn("a" * 253 + "…", tasks)
        self.assertEqual(len(data["sites"]), len(bad))
        self.assertIn("a" * 253 + "…",
                      {data["names"][c["cache"]] for c in data["caches"]})

    def test_hostile_directory(self):
        """The name of the capture may contain any byte."""
        path = self.fixture("report-summary")
        bad = os.path.join(os.fsencode(self.dir), b"<script>\xff&\n")
        os.rename(path, bad)
        self.assertIn("<script>", self.html(bad)["capture"]["name"])

    def test_size_limit(self):
        """A capture with very many call sites fits, with the rest as sums."""
        path = os.path.join(self.dir, "many")
        large_captures.make("sites", path, 30000)
        data = self.html(path)
        self.assertGreater(os.path.getsize(self.page), MAX_BYTES * 2 // 5)
        self.assertGreater(len(data["sites"]), 1000)
        self.assertEqual(len(data["sites"])
                         + sum(r["n"] for r in data["sites_rest"]), 30000)
        self.assertTrue(any("of 30000 call sites" in c for c in data["cuts"]))
        self.assertTrue(any("flame graph" in c for c in data["cuts"]))

    def test_many_stacks(self):
        """Stacks that do not fit count in their callers."""
        path = os.path.join(self.dir, "many")
        large_captures.make("stacks", path, 2000)
        data = self.html(path)
        self.assertTrue(data["stacks"]["nodes"])

    def test_many_cpus(self):
        """A row of the CPUs stands for several ones."""
        path = os.path.join(self.dir, "many")
        large_captures.make("cpus", path, 300)
        data = self.html(path)
        heat = data["heat"]
        self.assertEqual((heat["block"], len(heat["cpus"])), (3, 100))
        self.assertEqual(heat["cpus"][1], 3)
        report = self.report("--cross-cpu", path)
        frees = {}
        for cell in report["frees_by_cpu"]:
            key = cell["allocating_cpu"] // 3, cell["freeing_cpu"] // 3
            frees[key] = frees.get(key, 0) + cell["frees"]
        self.assertEqual({(a, b): n for a, b, n in heat["frees"]}, frees)
        self.assertTrue(any("300 CPUs" in c for c in data["cuts"]))

    # ---- template ----

    def test_template(self):
        """A template without the marker, with two, or a missing one is refused."""
        path = self.fixture("report-summary")
        for text, message in (("<p>", "is no page for the report"),
                              (MARKER * 2, "is no page for the report"),
                              (MARKER + " " * 10 ** 6, "more than 1000000")):
            self.use_template(text)
            self.refused(f"--html={self.page}", path, message=message)
            self.assertFalse(os.path.exists(self.page))
        with mock.patch.dict(os.environ,
                             KMEMTRACE_HTML_TEMPLATE="/nonexistent/t.html"):
            self.refused(f"--html={self.page}", path,
                         message="where configure finds npm")

    # ---- file ----

    def test_file(self):
        """A file is replaced as a whole, and keeps its data on error."""
        path = self.fixture("report-summary")
        self.write("page.html", "old")
        self.refused(f"--html={self.page}", "/nonexistent",
                     message="/nonexistent")
        with open(self.page, encoding="ascii") as f:
            self.assertEqual(f.read(), "old")
        self.html(path)
        self.assertEqual(sorted(os.listdir(self.dir)),
                         ["page.html", "report-summary", "template.html"])
        link = os.path.join(self.dir, "link.html")
        os.symlink("page.html", link)
        self.write("page.html", "old")
        subprocess.run([PROGRAM, "-q", "--html", link, path], check=True)
        self.assertTrue(os.path.islink(link))
        with open(self.page, encoding="utf-8") as f:
            self.assertIn("kmt-data", f.read())

    def test_unwritable(self):
        """A file that cannot be written is an error before records are read."""
        path = self.fixture("report-summary")
        self.refused("--html=/nonexistent/page.html", path,
                     message="cannot create a file beside "
                     "'/nonexistent/page.html'")
        self.refused(f"--html={self.dir}", path, message="Is a directory")
        self.refused("--html=/dev/full", path, message="No space left")
        # stdio writes a long text before the end of the file.
        self.use_template(MARKER + " " * 100000)
        self.refused("--html=/dev/full", path, message="No space left")

    def test_stdout(self):
        """A dash is stdout; a device is written in place."""
        path = self.fixture("report-summary")
        done = subprocess.run([PROGRAM, "-q", "--html=-", path],
                              capture_output=True, text=True, check=True)
        self.assertTrue(data_of(done.stdout)["sites"])
        subprocess.run([PROGRAM, "-q", "--html=/dev/null", path], check=True)
        self.assertFalse(os.path.isfile("/dev/null"))

    # ---- options ----

    def test_options(self):
        """Options that the page replaces are refused."""
        for option in ("--by=cpu", "--stacks", "--fields=live", "--sort=live",
                       "--lines=3", "--windows=9", "--histogram=size", "--live",
                       "--leaks", "--cross-cpu", "--marks", "--before-trace",
                       "--json", "--csv", "--folded", "--slab", "--page",
                       "--lifetime=1", "--time=peak"):
            self.refused("--html", self.page, option, self.dir,
                         message="--html", usage=True)

    def test_filter(self):
        """The page names the filter of the report."""
        path = self.fixture("report-summary")
        data = self.html("--kind=kmalloc", "--size=1-4096", path)
        self.assertEqual(data["capture"]["filter"],
                         "--kind kmalloc --size 1-4096")
        report = self.report("--kind=kmalloc", "--size=1-4096", path)
        self.assertEqual(data["kinds"][0]["allocs"],
                         report["kinds"]["kmalloc"]["allocs"])

    def test_no_times(self):
        """Records without times have no page."""
        path = os.path.join(self.dir, "cpu0.out")
        with open(path, "wb") as f:
            f.write(mkcapture.older("C", {}) * 3)
        self.refused("-q", "--layout=C", f"--html={self.page}", path,
                     message="whose records have no time")

    def test_json_is_plain(self):
        """The data is JSON without duplicate keys."""
        self.html(self.fixture("report-stacks"))
        with open(self.page, encoding="utf-8") as f:
            text = re.search("kmt-data\">(.*?)</script>", f.read(), re.S)[1]

        def unique(pairs):
            keys = [key for key, _ in pairs]
            self.assertEqual(len(keys), len(set(keys)))
            return dict(pairs)

        json.loads(text, object_pairs_hook=unique)


if __name__ == "__main__":
    unittest.main()
