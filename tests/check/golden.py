#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Compare what kmemtrace-check prints for each fixture with the .expected file
beside the fixture, including the exit status in the last line.

A fixture that is named after a rule breaks only that rule.  KMT_UPDATE_GOLDEN=1
writes the expected files again; review the difference before you commit it.
"""

import json
import os
import subprocess
import sys
import tempfile

import golden_files
import mkcapture

SRC = os.environ.get("top_srcdir", ".")
BUILD = os.path.abspath(os.environ.get("top_builddir", "."))
FIXTURES = os.path.join(SRC, "tests", "check", "fixtures")
CHECK = os.path.join(BUILD, "check", "kmemtrace-check")
JSON_FIXTURES = ("check-mismatched-free", "check-truncated-record",
                 "check-loss-overruns", "check-no-capture",
                 "check-double-defer")


failures = 0


def fail(what, text=""):
    """Count and print a failure."""
    global failures  # pylint: disable=global-statement
    failures += 1
    print(f"FAIL {what}\n{text}")


def run(args, cwd):
    """Return stdout and the exit status, in the form of the golden files."""
    done = subprocess.run([CHECK, *args], cwd=cwd, capture_output=True,
                          text=True, check=False, timeout=60)
    if done.stderr:
        fail(" ".join(args), done.stderr)
    return done.stdout + f"exit {done.returncode}\n"


def compare(golden, text):
    """Compare text with the content of a golden file."""
    difference = golden_files.difference(os.path.join(FIXTURES, golden), text)
    if difference:
        fail(golden, difference)


def only_this_rule(name, text):
    """Check that a fixture named after a rule breaks only that rule. Return the
    rule, or None, and the names of all rules."""
    document, _, status = text.rpartition("exit ")
    rules = {r["name"]: r["errors"] for r in json.loads(document)["rules"]}
    broken = [r for r, n in rules.items() if n]
    rule = name[len("check-"):]
    if rule in rules and (broken != [rule] or status != "2\n"):
        fail(name, f"breaks {broken}, exit {status}")
    if name.startswith("clean") and (broken or status != "0\n"):
        fail(name, f"breaks {broken}, exit {status}")
    return rule if rule in rules else None, set(rules)


def main():
    """Run all fixtures of kmemtrace-check."""
    names = sorted(f[:-4] for f in os.listdir(FIXTURES)
                   if f.startswith(("check-", "clean-"))
                   and f.endswith(".txt"))
    rules, everything = set(), set()
    with tempfile.TemporaryDirectory() as tmp:
        for name in names:
            mkcapture.compile_fixture(os.path.join(FIXTURES, name + ".txt"),
                                      os.path.join(tmp, name))
            compare(name + ".expected", run([name], tmp))
            text = run(["--json", name], tmp)
            rule, listed = only_this_rule(name, text)
            rules.add(rule)
            everything |= listed  # only captures with DEFERs list some rules
            if name in JSON_FIXTURES:
                compare(name + ".json", text)
    for rule in sorted(everything - rules):
        fail(f"no fixture for the rule {rule}")
    print(f"{len(names)} fixtures, {failures} failures")
    return 1 if failures or len(names) < 20 else 0


if __name__ == "__main__":
    sys.exit(main())
