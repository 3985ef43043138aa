#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Compare each figure in the data of kmemtrace-report --html with the reference, for
random captures with every defect, time spans, and filters.

    html-figures.py [SEED...]     only these seeds
"""

import os
import random
import subprocess
import sys

from figures import Chooser, random_capture, run_seeds
from figures_compare import REPORT, SMALL, Options, Wrong, arguments, differences
from reference_html import Expected, data_of

N_SEEDS = 40
N_OPTIONS = 2
MAX_SITES = 50   # of a finding
TEMPLATE = "<!doctype html><title>t</title><!--KMT-DATA--><p>end\n"
RUNS = [(REPORT, 1), (REPORT, 3), (SMALL, 2)]


def options_of(chooser):
    """Return random options that --html allows."""
    chosen = chooser.options()
    o = Options(churn=chosen.churn, tolerance=chosen.tolerance)
    for name in ("start", "stop", "kinds", "cpus", "nodes", "size", "callsite",
                 "module", "cgroup"):
        setattr(o, name, getattr(chosen, name))
    return o


def command_line(options, directory):
    """Return the words of a command line, without --html."""
    words = iter(arguments(options))
    kept = []
    for word in words:
        if word in ("--by", "--lines", "--sort"):
            next(words)
        else:
            kept.append(word)
    return [*kept, directory]


def pages(directory, words):
    """Return the page, which must be equal for all programs and numbers of
    threads."""
    template = os.path.join(directory, "template.html")
    with open(template, "w", encoding="ascii") as f:
        f.write(TEMPLATE)
    texts = []
    for program, jobs in RUNS:
        done = subprocess.run(
            [program, "--quiet", "--jobs", str(jobs), "--html=-", *words],
            env={**os.environ, "KMEMTRACE_HTML_TEMPLATE": template},
            capture_output=True, check=False)
        if done.returncode or done.stderr:
            raise Wrong(f"--html {' '.join(words)}: exit status "
                        f"{done.returncode}, {done.stderr.decode()}")
        texts.append(done.stdout.decode())
    os.unlink(template)
    if any(text != texts[0] for text in texts):
        raise Wrong(f"--html {' '.join(words)}: another output")
    return texts[0]


class Page:
    """The data of a page, with names instead of their numbers."""

    def __init__(self, data):
        self.data = data
        self.kinds = [k["kind"] for k in data["kinds"]]

    def name(self, number):
        """Return a name, None for -1."""
        return None if number < 0 else self.data["names"][number]

    def parts(self, rows):
        """Replace the number of the name in each row."""
        return [[self.name(row[0]), *row[1:]] for row in rows]

    def sites(self):
        """Return the call sites by kind and address."""
        result = {}
        for site, series in zip(self.data["sites"],
                                self.data["series"]["sites"]):
            key = self.kinds[site.pop("kind")], site.pop("address")
            site.pop("leak")
            for name in ("site", "module", "dir", "source"):
                site[name] = self.name(site[name])
            for name in ("caches", "tasks", "freed_by"):
                site[name] = self.parts(site[name])
            site["series"] = series
            if key in result:
                raise Wrong(f"two call sites {key}")
            result[key] = site
        return result

    def tree(self, nodes):
        """Return {path: figures} of the nodes with figures."""
        paths, result = [], {}
        for parent, name, *figures in nodes:
            path = (paths[parent] if parent >= 0 else ()) + (self.name(name),)
            paths.append(path)
            if any(figures):
                result[path] = figures
        return result

    def caches(self):
        """Return {kind and cache: figures}."""
        return {(self.kinds[c.pop("kind")], self.name(c.pop("cache"))): c
                for c in self.data["caches"]}

    def heat(self):
        """Return {pair of CPUs: frees}."""
        cpus = self.data["heat"]["cpus"]
        return {(cpus[a], cpus[b]): n for a, b, n in self.data["heat"]["frees"]}


def compare_findings(page, want):
    """Return a line for each difference in the findings."""
    lines = []
    got = {f["text"]: f for f in page.data["findings"]}
    cuts = list(page.data["cuts"])
    for title, sites in want.findings().items():
        found = got.get(title, {"sites": [], "count": 0})
        names = [[n, page.name(a), page.name(b)] for n, a, b in found["sites"]]
        lines += differences(found["count"], sum(n for n, _, _ in sites), title)
        lines += differences(sorted(n for n, _, _ in names),
                             sorted(n for n, _, _ in sites[:MAX_SITES]), title)
        if len(sites) > MAX_SITES:
            cuts.remove(f"{title}: the first {MAX_SITES} of {len(sites)} are "
                        "listed.")
        else:
            lines += differences(sorted(map(str, names)),
                                 sorted(map(str, sites)), title)
    return lines + [f"cut: {cut}" for cut in cuts]


def compare(data, want):
    """Return a line for each difference."""
    page = Page(data)
    kinds = data["kinds"]
    lines = differences(page.kinds, want.kinds, "kinds")
    lines += differences(kinds, [want.kind(k) for k in want.kinds], "kinds")
    lines += differences(data["windows"], want.windows(), "windows")
    lines += differences(data["series"]["kinds"],
                         [want.kind_series(k) for k in want.kinds], "series")
    lines += differences(page.tree(data["tree"]["nodes"]), want.tree(), "tree")
    lines += differences(page.caches(), want.caches(), "caches")
    lines += differences(page.heat(), want.heat(), "heat")
    leaks = [(page.name(x["name"]), page.kinds[x["kind"]], x["growth"],
              x["grown"], x["windows"], x["doubt"], x["frees"],
              x["age_median_ns"]) for x in data["leaks"]]
    expected = [(x["symbol"] or x["address"], x["kind"], x["growth_bytes"],
                 x["windows_grown"], x["windows"],
                 "frees_missing" if x["frees_not_seen"] else
                 "allocator" if x["keeps_objects_of"] else "none", x["frees"],
                 x["age_median"]) for x in want.leaks()]
    lines += differences(leaks, expected, "leaks")
    lines += differences(page.sites(), want.sites(), "sites")
    lines += compare_findings(page, want)
    return lines


def run_seed(seed, directory):
    """Compare pages of one capture; return the covered properties."""
    rng = random.Random(seed)
    capture, names = random_capture(seed, rng, directory)
    chooser = Chooser(rng, capture)
    met = set()
    for _ in range(N_OPTIONS):
        options = options_of(chooser)
        words = command_line(options, directory)
        data = data_of(pages(directory, words))
        want = Expected(capture, options, names)
        f = want.figures
        if f.saturated or any(max(t.alloc, t.req, t.live, t.live_req) >> 63
                              for t in f.kinds.values()):
            met.add("overflow")
            continue
        lines = compare(data, want)
        if lines:
            raise Wrong(f"--html {' '.join(words)}:\n" + "\n".join(lines[:8])
                        + f"\n({len(lines)} in all)")
        met |= {name for name, value in (
            ("a leak", data["leaks"]), ("a sample", capture.sample > 1),
            ("start", options.start), ("stop", options.stop is not None),
            ("a filter", f.filter.is_set), ("no record", not capture.records),
            ("deferred", f.kinds["slab"].deferred.objects),
            ("240 windows", data["windows"]["n"] > 120),
            ("tasks", any(s["tasks"] and s["tasks"][0][0] != "(not recorded)"
                          for s in data["sites"]))) if value}
    return met


MUST = ["a leak", "a sample", "start", "stop", "a filter", "no record", "deferred",
        "240 windows", "tasks", "overflow"]


if __name__ == "__main__":
    sys.exit(run_seeds(N_SEEDS, run_seed, MUST))
