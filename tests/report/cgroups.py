#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""kmemtrace-report --by cgroup and --cgroup: captures with a table of cgroups that is
missing or damaged, in archives, and of each kind of recorder."""

import csv
import io
import os
import subprocess
import sys
import unittest

from report_case import ReportCase, run

CRON = "/system.slice/cron.service"
DOCKER = "/system.slice/docker-1234.scope"
USER = "/user.slice/a b;c,d\\x2d?.scope"
# Allocated bytes of slab in tests/report/fixtures/report-cgroups.txt.
EXPECTED = {"/": 528, CRON: 32, DOCKER: 192, USER: 256, "(unknown)": 8}
END = ("changes of cgroups were not recorded: each task is shown in the cgroup of "
       "the end of the recording")
NO_TABLE = "the capture has no file cgroups: not all cgroups are known"
DAMAGED = ("the file cgroups of the capture is missing or damaged: not all cgroups "
           "are known")


class Cgroups(ReportCase):
    """Changes of one fixture."""

    def setUp(self):
        super().setUp()
        self.capture = self.fixture("report-cgroups")

    def change(self, name, old, new):
        """Replace text in a file of the capture."""
        path = os.path.join(self.capture, name)
        with open(path, encoding="ascii") as f:
            text = f.read()
        self.assertIn(old, text)
        with open(path, "w", encoding="ascii") as f:
            f.write(text.replace(old, new))

    def remove(self):
        """Remove the table."""
        os.unlink(os.path.join(self.capture, "cgroups"))

    def rows(self, *args, **kwargs):
        """Return the allocated bytes of slab in each cgroup, and the warnings."""
        done = run("--csv", "--slab", "--by", "cgroup", "--fields", "allocated",
                   *args, **kwargs)
        self.assertEqual(done.returncode, 0, done)
        table = csv.DictReader(io.StringIO(done.stdout))
        return ({row["cgroup"]: int(row["allocated"]) for row in table},
                [line.removeprefix("kmemtrace-report: warning: ")
                 for line in done.stderr.splitlines()])

    def warnings(self, *args):
        """Return the warnings of a report, which are also in JSON."""
        warnings = self.report(*args, self.capture)["warnings"]
        done = run(*args, self.capture)
        self.assertEqual(done.stderr, "".join(
            f"kmemtrace-report: warning: {line}\n" for line in warnings))
        return warnings

    def test_archives(self):
        """A directory, an archive, and a pipe with an archive."""
        self.assertEqual(self.rows(self.capture), (EXPECTED, []))
        for options, name in (("cf", "a.tar"), ("czf", "a.tar.gz")):
            path = os.path.join(self.dir, name)
            subprocess.run(["tar", options, path, "-C", self.dir,
                            "report-cgroups"], check=True)
            self.assertEqual(self.rows(path), (EXPECTED, []))
            with open(path, "rb") as archive:
                self.assertEqual(self.rows("-", stdin=archive), (EXPECTED, []))

    def test_no_table(self):
        """Older recorders write no table."""
        self.remove()
        unknown = {"/": 16, "(unknown)": sum(EXPECTED.values()) - 16}
        self.assertEqual(self.rows(self.capture), (unknown, [DAMAGED]))
        for source in ("", "source=relay\n", "source=ftrace\n",
                       "source=import\n"):
            self.capture = self.fixture("report-cgroups")
            self.remove()
            self.change("kmemtrace.meta", "cgroups=tracked\n", source)
            self.assertEqual(self.rows(self.capture), (unknown, [NO_TABLE]))
            self.assertEqual(self.warnings("--by", "comm,pid"), [])

    def test_damaged_table(self):
        """The valid lines of a damaged table are used."""
        self.change("cgroups", "13 - ", "13 x ")
        table = os.path.join(self.capture, "cgroups")
        rows, warnings = self.rows(self.capture)
        self.assertEqual(rows, {"/": 528, CRON: 32, DOCKER: 192,
                                "(unknown)": 264})
        self.assertEqual(warnings, [
            DAMAGED, f"{table}: 1 invalid line is ignored; the first is line 6"])

    def test_missing_cgroups(self):
        """The recorder had no room for some cgroups."""
        self.change("cgroups", "# dropped: 0\n",
                    "# dropped: 3\n# exact_after: 5000\n")
        self.assertEqual(self.rows(self.capture),
                         (EXPECTED, ["3 cgroups of tasks are missing"]))

    def test_cgroups_of_the_end(self):
        """A recorder that does not follow changes is named in one warning, but only
        where cgroups matter."""
        self.assertEqual(self.warnings("--by", "cgroup"), [])
        self.change("kmemtrace.meta", "cgroups=tracked", "cgroups=end")
        for args in (["--by", "cgroup"], ["--by", "comm,cgroup", "--live"],
                     ["--cgroup", CRON], ["--cgroup", CRON, "--by", "cgroup"]):
            self.assertEqual(self.warnings(*args), [END])
        self.assertEqual(self.warnings("--by", "comm"), [])

    def test_globs(self):
        """Objects of the cgroups that match a glob. An asterisk matches a slash, too,
        and a glob without one does not match children."""
        child = CRON + "/child"
        self.change("cgroups", CRON, child)
        sizes = {**EXPECTED, child: EXPECTED[CRON]}
        for globs, found in (
                ("*", ["/", child, DOCKER, USER]), ("/", ["/"]),
                (DOCKER, [DOCKER]), ("/system.slice/*", [child, DOCKER]),
                ("/system.slice", []), (CRON, []), (CRON + "*", [child]),
                (CRON + ",/", ["/"]), ("/*/docker-????.scope", [DOCKER]),
                ("docker-1234.scope", []), ("(unknown)", []),
                (USER.replace(",", "?"), [USER]),
                ("/user*,*/child", [child, USER])):
            rows, _ = self.rows("--cgroup", globs, self.capture)
            self.assertEqual(rows, {name: sizes[name] for name in found}, globs)

    def test_globs_and_other_options(self):
        """All conditions must be met, with any --by."""
        for args, kinds in ((["--cgroup", CRON], {"slab": 1, "pages": 1}),
                            (["--cgroup", CRON, "--kind", "page"],
                             {"slab": 0, "pages": 1}),
                            (["--cgroup", CRON, "--callsite", "kstrdup"],
                             {"slab": 1, "pages": 0}),
                            (["--cgroup", CRON, "--cpu", "1"],
                             {"slab": 0, "pages": 0}),
                            (["--cgroup", DOCKER, "--by", "stack"],
                             {"slab": 2, "pages": 0})):
            document = self.report(*args, self.capture)
            self.assertEqual({kind: document["kinds"][kind]["allocs"]
                              for kind in kinds}, kinds, args)
        document = self.report("--cgroup", DOCKER, self.capture)
        self.assertEqual(document["kinds"]["slab"]["frees"], 1)
        self.assertEqual(document["kinds"]["slab"]["live_bytes_allocated"], 64)

    def test_globs_without_cgroups(self):
        """Each glob that matches nothing has a warning, and so has a missing table."""
        unmet = "--cgroup '{}': no task that allocated memory was in such a cgroup"
        self.assertEqual(self.warnings("--cgroup", f"x,{CRON},/y*"),
                         [unmet.format("x"), unmet.format("/y*")])
        self.change("kmemtrace.meta", "cgroups=tracked\n", "")
        self.remove()
        self.assertEqual(self.rows("--cgroup", "/s*", self.capture),
                         ({}, [unmet.format("/s*"), NO_TABLE]))
        rows, warnings = self.rows("--cgroup", "*", self.fixture("report-race"))
        self.assertEqual(rows, {})
        self.assertIn(unmet.format("*"), warnings)

    def test_version_1(self):
        """Records of version 1 have no task."""
        capture = self.fixture("report-race")
        rows, warnings = self.rows(capture)
        self.assertEqual(set(rows), {"(not recorded)"})
        self.assertIn("the records have no task and context", warnings[-1])

    def test_other_bytes(self):
        """Bytes that are no UTF-8 are printed as a question mark."""
        self.change("cgroups", CRON, "/\\303\\244\\303")
        for args in ([], ["--cgroup", "/??"]):
            rows, _ = self.rows(*args, self.capture)
            self.assertEqual(rows["/\u00e4?"], 32)


if __name__ == "__main__":
    sys.exit(unittest.main())
