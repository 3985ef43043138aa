# SPDX-License-Identifier: GPL-2.0-or-later
"""Check the figures of kmemtrace-report --diff against the JSON reports of the single
captures.  Lines are compared as multisets of names and figures, so that the check
depends neither on the order of lines nor on how the program matched them."""

import collections
import csv
import io
import json
import math
import re
import statistics
import subprocess

import reference_noise

# Keys of the report's JSON for the fields of a comparison, and whether a missing line
# has the value 0.
KEYS = {
    "allocs": ("allocs", True), "frees": ("frees", True),
    "requested": ("bytes_requested", True), "allocated": ("bytes_allocated", True),
    "wasted": ("bytes_wasted", True), "frag": ("fragmentation", False),
    "cross-cpu": ("cross_cpu_frees", True), "remote-node": ("remote_node_allocs", True),
    "live": ("live_bytes_allocated", True), "live-objects": ("live_objects", True),
    "live-requested": ("live_bytes_requested", True),
    "peak": ("peak_bytes_allocated", True), "at-peak": ("live_bytes_at_peak", True),
    "reused": ("reused", True), "deferred": ("deferred_bytes_allocated", True),
    "deferred-objects": ("deferred_objects", True),
    "deferred-frees": ("deferred_frees", True),
    "deferred-peak": ("deferred_peak_bytes_allocated", True),
    "deferred-max": ("deferred_time_max", False)}
FIELDS = list(KEYS)
# Sums over the time, which --per divides.
DIVIDED = {"allocs", "frees", "requested", "allocated", "wasted", "cross-cpu",
           "remote-node", "deferred-frees"}
# Suffixes that compilers append to the name of a function.
OFFSET = re.compile(r"\+0x[0-9a-f]+(/0x[0-9a-f]+)?")
SUFFIX = re.compile(r"\.(isra|constprop|part|cold|llvm)(\.\d+)*")


class Wrong(Exception):
    """A figure of a comparison differs from the single reports."""


def expect(condition, *words):
    """Fail with a message unless a condition holds."""
    if not condition:
        raise Wrong(" ".join(map(str, words)))


def equal(got, want):
    """Compare two figures: integers exactly, others to nine digits."""
    if isinstance(got, float) or isinstance(want, float):
        return (got is not None and want is not None
                and math.isclose(got, want, rel_tol=1e-9, abs_tol=1e-9))
    return got == want


def same_row(got, want):
    """Compare the figures of a line. The JSON of a capture that cannot have deferred
    memory has no key for it; the comparison has 0 or null."""
    return all(equal(g, w) or (w is None and g == 0) for g, w in zip(got, want))


def run(program, *args):
    """Return the output of a run that must succeed."""
    done = subprocess.run([program, "-q", *args], capture_output=True, text=True,
                          check=False)
    expect(done.returncode == 0 and not done.stderr, program, *args, done.stderr)
    return done.stdout


class Single:
    """The figures of one capture."""

    def __init__(self, program, capture, by, fields, options):
        text = run(program, "--json", "--lines", "0", "--by", ",".join(by), *options,
                   capture)
        self.document = json.loads(text)
        self.by, self.fields = by, fields
        rows = self.document.get("callsites", self.document.get("groups"))
        self.rows = collections.Counter(
            (self.name(row), self.figures(row)) for row in rows)

    def name(self, row):
        """Return the kind and the values of a row."""
        texts = []
        for dimension in self.by:
            if dimension == "callsite":
                texts.append(row["symbol"] or row["address"])
            elif dimension == "stack":
                texts.append(tuple((frame["symbol"] or frame["address"])
                                   for frame in row["stack"]))
            elif dimension != "kind":
                texts.append(row[dimension])
        return row["kind"], tuple(texts)

    def figures(self, row):
        """Return the figures of a row in the order of the fields."""
        return tuple(row.get(KEYS[field][0]) for field in self.fields)


class Comparison:
    """A comparison and the reports of its captures."""

    def __init__(self, program, base, new, by=("callsite",), fields=("live",),
                 options=()):
        self.program, self.by, self.fields = program, list(by), list(fields)
        self.base, self.new, self.options = base, new, list(options)
        self.singles = [Single(program, capture, self.by, self.fields, self.options)
                        for capture in base + new]

    def run(self, *options):
        """Return the output of the comparison."""
        return run(self.program, *[f"--diff={path}" for path in self.base], "--by",
                   ",".join(self.by), "--fields", ",".join(self.fields),
                   *self.options, *options, *self.new)

    def check(self, per=None, extra=()):
        """Check the JSON document; return it."""
        text = self.run("--json", *(["--per", per] if per else []), *extra)
        document = json.loads(text)
        expect((document["format"], document["version"]) == ("kmemtrace-diff", 1),
               "format")
        self.lines = document.get("callsites", document.get("groups"))
        self.divisors = self.check_sides(document, per)
        self.check_values()
        for line in self.lines:
            for field in self.fields:
                self.check_cell(document, field, line["figures"][field])
            self.check_match(line)
        self.check_all_matched(document)
        self.check_kinds(document)
        self.check_fields(document)
        return document

    def check_sides(self, document, per):
        """Check the captures of both sides; return the divisor of each."""
        expect([side["path"] for side in document["base"]] == self.base, "base")
        expect([side["path"] for side in document["new"]] == self.new, "new")
        expect(document["per"] == (per.split(":")[0] if per else None), "per")
        divisors = []
        for single, side in zip(self.singles, document["base"] + document["new"]):
            capture = single.document["capture"]
            expect(side["kernel_release"] == capture["kernel_release"], "release")
            expect(side["loss"] == capture["loss"], "loss")
            divisors.append(1 if not per else side["span_ns"] / 1e9
                            if per == "second" else side["occurrences"])
        return divisors

    def values(self, cell):
        """Return the values of all captures."""
        if len(self.singles) == 2:
            return [cell["base"], cell["new"]]
        return cell["base_values"] + cell["new_values"]

    def name(self, line, is_base):
        """Return the kind and the values of a line on a side."""
        if is_base and line["match"] == "aligned":
            line = {**line, **line["base_values"]}
        return line["kind"], tuple(line[dimension] for dimension in self.by
                                   if dimension != "kind")

    def check_values(self):
        """The lines of a capture are those of its report."""
        for i, single in enumerate(self.singles):
            is_base = i < len(self.base)
            got = collections.Counter()
            for line in self.lines:
                absent = line["match"] == ("added" if is_base else "removed")
                figures = tuple(self.values(line["figures"][field])[i]
                                for field in self.fields)
                if absent or figures == self.nothing(single, line["kind"]):
                    expect(figures == self.nothing(single, line["kind"]), line)
                    continue
                got[self.name(line, is_base), figures] += 1
            self.compare(i, got, single.rows)

    def nothing(self, single, kind):
        """Return the figures of a line that a capture does not have."""
        return tuple(0 if KEYS[field][1] and kind in single.document["kinds"] else None
                     for field in self.fields)

    def comparable(self, name, is_alone):
        """Return the name of a line without what a comparison does not preserve: the
        text of a stack is one string, and with several captures on a side, a line has
        the offset of the call site in one of them."""
        kind, texts = name
        kept = []
        for dimension, text in zip([d for d in self.by if d != "kind"], texts):
            if dimension == "stack":
                text = None
            elif dimension == "callsite" and not is_alone:
                text = OFFSET.sub("", text)
            kept.append(text)
        return kind, tuple(kept)

    def compare(self, i, got, rows):
        """Compare the lines of a capture with the rows of its report."""
        divisor = self.divisors[i]
        is_alone = len(self.base if i < len(self.base) else self.new) == 1
        want = collections.Counter()
        for (name, figures), n in rows.items():
            want[self.comparable(name, is_alone), figures] += n
        left = collections.defaultdict(list)
        for (name, figures), n in got.items():
            left[self.comparable(name, is_alone)] += [figures] * n
        for (name, figures), n in want.items():
            figures = tuple(
                value / divisor if field in DIVIDED and divisor != 1
                and value is not None else value
                for field, value in zip(self.fields, figures))
            for _ in range(n):
                found = next((other for other in left[name] if
                              same_row(other, figures)), None)
                if found is None:
                    # A line without any figure may be absent in the comparison.
                    expect(all(value in (0, None) for value in figures), "capture", i,
                           name, figures, "is not in", left[name])
                    continue
                left[name].remove(found)
        expect(not any(left.values()), "capture", i, "does not have",
               {name: rest for name, rest in left.items() if rest})

    def check_cell(self, document, field, cell):
        """Check what follows from the values of a cell."""
        n_base = len(self.base)
        values = self.values(cell)
        is_time = field.endswith("-max")
        sides = []
        for part in (values[:n_base], values[n_base:]):
            known = [value for value in part if value is not None]
            sides.append(statistics.median(known) if known else None)
        for key, value in zip(("base", "new"), sides):
            # A median of times is a whole number of ns.
            expect(equal(cell[key], value) or
                   (is_time and cell[key] == math.floor(value)), key, cell, value)
        base, new = [cell["base"], cell["new"]]
        if base is None or new is None:
            expect(cell["difference"] is None and cell["ratio"] is None, cell)
        else:
            expect(equal(cell["difference"], new - base), "difference", cell)
            expect(cell["ratio"] is None if base == 0 else
                   math.isclose(cell["ratio"], new / base, rel_tol=1e-9), "ratio", cell)
        if None in values:
            expect(cell["noise"] == "unknown" and cell["p"] is None, cell)
            return
        noise = reference_noise.judge(values, n_base, document["noise"]["error_rate"])
        expect(cell["noise"] == noise, "noise", cell, noise)
        expect(cell["p"] is None if noise == "unknown" else math.isclose(
            cell["p"], reference_noise.two_sided(values, n_base), rel_tol=1e-9), cell)
        if len(values) > 2:
            for key, part in (("base_spread", values[:n_base]),
                              ("new_spread", values[n_base:])):
                expect(equal(float(cell[key]), (max(part) - min(part)) / 2), key, cell)

    def check_match(self, line):
        """An aligned line has the same functions on both sides."""
        present = [any(self.values(line["figures"][field])[i] not in (0, None)
                       for field in self.fields) for i in range(len(self.singles))]
        if line["match"] == "aligned":
            for key in ("callsite_frames", "stack_frames"):
                base, new = (line.get(key) or {"base": [], "new": []}).values()
                expect([function_of(frame) for frame in base]
                       == [function_of(frame) for frame in new], line)
        elif line["match"] == "added":
            expect(not any(present[:len(self.base)]), line)
        elif line["match"] == "removed":
            expect(not any(present[len(self.base):]), line)

    def check_all_matched(self, document):
        """In the same build, and without call sites, equal names match."""
        builds = {side["build_id"] for side in document["base"] + document["new"]}
        names = {match: {self.name(line, match == "removed") for line in self.lines
                         if line["match"] == match}
                 for match in ("removed", "added", "aligned")}
        if {"callsite", "stack"}.isdisjoint(self.by):
            builds = {"any"}
        if len(builds) == 1 and None not in builds:
            expect(names["removed"].isdisjoint(names["added"]), names)
            expect(not names["aligned"], names)

    def check_kinds(self, document):
        """Compare the sums of the kinds with the kinds of the reports."""
        for kind, cells in document["kinds"].items():
            for field in self.fields:
                cell = cells[field]
                values = self.values(cell)
                for i, single in enumerate(self.singles):
                    figures = single.document["kinds"].get(kind, {})
                    value = figures.get(KEYS[field][0])
                    if value is None or values[i] is None:
                        continue  # a field without a sum
                    if field in DIVIDED and self.divisors[i] != 1:
                        value /= self.divisors[i]
                    expect(equal(values[i], value), kind, field, values, value)
                self.check_cell(document, field, cell)

    def check_fields(self, document):
        """Check the order of the lines and the numbers of lines that exceed noise."""
        for entry in document["fields"]:
            cells = [line["figures"][entry["field"]] for line in self.lines]
            ranks = [(cells[i]["noise"] != "exceeds",
                      -self.weight(document, entry["field"], self.lines[i]))
                     for i in entry["order"]]
            expect(len(set(entry["order"])) == len(ranks), entry["field"], "order")
            expect(ranks == sorted(ranks), entry["field"], "is not sorted")
            varying = [cell for cell in cells
                       if None not in self.values(cell)
                       and len(set(self.values(cell))) > 1]
            expect(entry["varying"] == len(varying), "varying", entry)
            expect(entry["exceeding"] == sum(cell["noise"] == "exceeds"
                                             for cell in cells), "exceeding", entry)

    @staticmethod
    def weight(document, field, line):
        """Return the number by which a line sorts: memory of an allocator counts only
        as far as the objects in it do not explain the difference."""
        own = abs(line["figures"][field]["difference"] or 0)
        if line["objects_of"] is None:
            return own
        kind = document["kinds"].get(line["objects_of"])
        objects = kind and kind[field]["difference"]
        return own if objects is None else max(0, own - abs(objects))

    # ---- other formats ----

    def check_csv(self):
        """CSV has the figures of the JSON document."""
        document = json.loads(self.run("--json"))
        lines = document.get("callsites", document.get("groups"))
        rows = list(csv.DictReader(io.StringIO(self.run("--csv"), newline="")))
        expect(len(rows) == len(lines), "CSV has", len(rows), "lines, not", len(lines))
        for row, line in zip(rows, lines):
            expect(row["kind"] == line["kind"] and row["match"] == line["match"], row)
            for dimension in self.by:
                expect(row[dimension] == line[dimension], row, line)
            for field in self.fields:
                cell = line["figures"][field]
                for key in ("base", "new", "difference", "ratio", "p"):
                    text = row[f"{field}-{key}"]
                    expect(equal(type(cell[key])(text) if text else None, cell[key]),
                           field, key, row, cell)
                expect(row[f"{field}-noise"] == cell["noise"], row, cell)
                inexact = {(True, True): "", (False, True): "base",
                           (True, False): "new", (False, False): "both"}
                expect(row[f"{field}-inexact"] == inexact[
                    cell["base_exact"], cell["new_exact"]], row, cell)

    def check_folded(self):
        """Folded stacks have both sums of the first field of the JSON document."""
        document = json.loads(self.run("--json"))
        lines = document.get("callsites", document.get("groups"))
        want = collections.Counter()
        for line in lines:
            cell = line["figures"][self.fields[0]]
            for key in ("base", "new"):
                want[line["kind"], key] += max(0, cell[key] or 0)
        got = collections.Counter()
        for row in self.run("--folded").splitlines():
            match = re.fullmatch(r"([^; ]+)((?:;[^; ]*)*) (\d+(?:\.\d*)?) "
                                 r"(\d+(?:\.\d*)?)", row)
            expect(match, "not a folded stack:", repr(row))
            for key, text in (("base", match[3]), ("new", match[4])):
                got[match[1], key] += float(text) if "." in text else int(text)
        expect(+got == +want, "folded", got, want)


def function_of(frame):
    """Return the function of a frame without the suffix of the compiler."""
    name = frame["function"]
    return (name and SUFFIX.sub("", name)), frame["module"]
