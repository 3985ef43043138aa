# SPDX-License-Identifier: GPL-2.0-or-later
"""Run kmemtrace-report on a capture and compare its output with the reference in
reference_figures.py."""

import json
import os
import re
import subprocess

from reference_figures import Figures
from reference_totals import Options
from reference_output import DETAILS, Output

BUILD = os.environ.get("top_builddir", ".")
REPORT = os.path.join(BUILD, "report", "kmemtrace-report")
SMALL = os.path.join(BUILD, "tests", "report",
                     "report-small")  # with blocks of 3 records
# Programs and numbers of threads; all outputs must be equal.
RUNS = [(REPORT, 1), (REPORT, 3), (SMALL, 1), (SMALL, 3)]


class Wrong(Exception):
    """The output of the program differs from the reference."""


def differences(got, want, where=""):
    """Return a line for each difference between two documents."""
    if isinstance(want, dict) and isinstance(got, dict):
        lines = [f"{where}: keys {sorted(set(got) ^ set(want))}"
                 ] if set(got) != set(want) else []
        for key in want:
            if key in got:
                lines += differences(got[key], want[key], f"{where}.{key}")
        return lines
    if isinstance(want, list) and isinstance(got, list):
        lines = [f"{where}: {len(got)} of them, must be {len(want)}"
                 ] if len(got) != len(want) else []
        for i, (g, w) in enumerate(zip(got, want)):
            lines += differences(g, w, f"{where}[{i}]")
        return lines
    if isinstance(want, float) and isinstance(got, (int, float)):
        if abs(got - want) <= 1e-9 * max(1.0, abs(want)):
            return []
    elif got == want and isinstance(got, bool) == isinstance(want, bool):
        return []
    return [f"{where}: {got!r}, must be {want!r}"]


def decimal(time):
    """Return nanoseconds as seconds, without trailing zeros."""
    text = f"{time // 10**9}.{time % 10**9:09}"
    return text.rstrip("0").rstrip(".") or "0"


def span_of(limits, unit=""):
    """Return MIN-MAX, without MAX if there is no limit."""
    low, high = limits
    if low == high:
        return f"{low}{unit}"
    return f"{low}{unit}-" + ("" if high == float("inf") else f"{high}{unit}")


def arguments(options):
    """Return the command line for options of the reference."""
    o = options
    args = ["--by", ",".join(o.by), "--churn", f"{o.churn}ns",
            "--lines", str(o.lines), "--clock-tolerance", str(o.tolerance),
            "--sort", ",".join(("+" if up else "-") + key
                               for key, up in o.sort)]
    if o.fields:
        args += ["--fields", ",".join(o.fields)]
    if o.start or o.stop is not None:
        stop = "" if o.stop is None else decimal(o.stop)
        args += ["--time", f"{decimal(o.start) if o.start else ''},{stop}"]
    if o.shows_windows:
        args += ["--windows", str(o.windows)]
    for name in ("leaks", "cross_cpu", "slab", "page", "live"):
        if getattr(o, name):
            args.append("--" + name.replace("_", "-"))
    for name in ("kinds", "cpus", "nodes"):
        if getattr(o, name) is not None:
            args += [f"--{name[:-1]}", ",".join(
                str(value) for value in sorted(getattr(o, name)))]
    for name in ("callsite", "module", "cgroup"):
        if getattr(o, name) is not None:
            args += [f"--{name}", getattr(o, name)]
    if o.size:
        args += ["--size", span_of(o.size)]
    if o.lifetime:
        args += ["--lifetime", span_of(o.lifetime, "ns")]
    return args


def complete(options, histogram=False):
    """Set the options that follow from other options."""
    keys = list(options.fields) + [key for key, _ in options.sort]
    options.windows = options.windows or (10 if options.leaks else 0)
    options.details = bool(histogram or options.windows
                           or any(key in DETAILS for key in keys))
    return options


def run(program, jobs, args):
    """Return the output of a program that must succeed."""
    done = subprocess.run([program, "--quiet", "--jobs", str(jobs), *args],
                          capture_output=True, check=False)
    if done.returncode or done.stderr:
        raise Wrong(f"{program} {' '.join(args)}: exit status "
                    f"{done.returncode}, {done.stderr.decode()}")
    return done.stdout.decode()


def table_of(text, title):
    """Return the cells of the text table, without its header."""
    part = text.split(f"\n{title} (bytes)\n", 1)[1].split("\n\n", 1)[0]
    lines = part.split("\n")
    if lines == ["none"]:
        return []
    return [re.split(r"  +", line.strip()) for line in lines[1:]
            if line and not line.startswith(("~ ", "* "))]


def title_of(by):
    """Return the heading of the text table."""
    titles = [Output.plural(d) for d in by]
    if len(titles) == 1:
        return titles[0].upper()
    return (", ".join(titles[:-1]) + " and " + titles[-1]).upper()


class Comparison:
    """The output for one capture and one set of options."""

    def __init__(self, capture, names, options, extra=(), runs=None):
        self.capture = capture
        self.options = options
        self.args = [*arguments(options), *extra, capture.directory]
        self.runs = runs or RUNS
        self.output = Output(Figures(capture, options, names))

    def print(self, *form):
        """Return the output, which must be equal for all programs."""
        texts = [run(program, jobs, [*form, *self.args])
                 for program, jobs in self.runs]
        for (program, jobs), text in zip(self.runs, texts):
            if text != texts[0]:
                raise Wrong(f"{program} --jobs {jobs} {' '.join(form)} "
                            f"{' '.join(self.args)}: another output")
        return texts[0]

    def print_table(self, form):
        """Run without the options that add other tables."""
        kept = []
        args = iter(self.args)
        for arg in args:
            if arg in ("--windows", "--histogram"):
                next(args)
            elif arg not in ("--leaks", "--cross-cpu"):
                kept.append(arg)
        questions, self.args = self.args, kept
        text = self.print(form)
        self.args = questions
        return text

    def fail(self, form, lines):
        """Raise Wrong with the command line if there are lines."""
        if lines:
            more = f"\n({len(lines)} in all)" if len(lines) > 8 else ""
            raise Wrong(f"{form} {' '.join(self.args)}:\n"
                        + "\n".join(lines[:8]) + more)

    def overflowed(self):
        """Return whether a sum exceeds 64 bits."""
        f = self.output.figures
        totals = list(f.kinds.values()) + [g.totals
                                           for g in f.groups.values()]
        return any(value >> 64 for t in totals for value in (t.req, t.alloc))

    def json(self):
        """Compare the JSON document; return False if it reports an overflow."""
        report = json.loads(self.print("--json"))
        saturated = self.output.figures.saturated
        if report["findings"]["sums_overflowed"] and not saturated:
            return False
        self.fail("--json", ["a sum overflowed, and the report does not say so"]
                  if self.overflowed() and not saturated else [])
        want = self.output.document()
        got = {key: report.get(key) for key in report
               if key not in ("format", "version", "capture", "warnings")}
        lines = differences(got, want)
        capture = self.output.capture()
        given = {k: report["capture"].get(k, "no such key") for k in capture}
        # Two losses of a CPU may begin at the same time, in either order.
        given["holes"] = given["holes"] and sorted(
            given["holes"], key=lambda h: list(h.values()))
        lines += differences(given, capture, "capture")
        self.fail("--json", lines)
        return True

    def csv(self):
        """Compare the CSV output byte by byte."""
        self.fail("--csv", differences(self.print_table("--csv").split("\n"),
                                       self.output.csv().split("\n")))

    def folded(self):
        """Compare the folded stacks byte by byte."""
        self.fail("--folded", differences(
            self.print_table("--folded").split("\n"),
            self.output.folded().split("\n")))

    def text(self):
        """Compare the text table cell by cell."""
        text = self.print()
        got = table_of(text, title_of(self.options.by))
        self.fail("text", differences(got, self.output.table()))


__all__ = ["Comparison", "Options", "Wrong", "complete"]
