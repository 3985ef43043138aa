#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Check the verdicts of kmemtrace-gate on boots of vm/scenarios/regress.sh.

Usage: gate.py FOLDER TREE
FOLDER has the captures base-1, base-2, and grown, each in FOLDER/NAME/capture. In grown,
each of the 128 entries of the module's table has 1024 instead of 512 bytes. TREE is the
build directory of the kernel."""
import pathlib
import subprocess
import sys
import tempfile
import xml.etree.ElementTree

# Each rule with its verdict on equal boots and on the boot with larger entries.
RULES = (
    ("live at mark:booted, by function regress_add_entry, does not grow",
     "passed", "exceeded"),
    ("live at mark:booted, by function regress_add_entry, grows by at most 64 KiB",
     "passed", "passed"),
    ("live at mark:booted, by directory *regress, grows by at most 99 %",
     "passed", "exceeded"),
    ("live-objects by module kmt_regress does not grow", "passed", "passed"),
    ("requested by module kmt_regress and function, below 128 KiB",
     "passed", "exceeded"),
    ("live at mark:halted does not grow", "cannot be decided", "cannot be decided"),
)
STATUS = {True: 2, False: 3}


def gate(folder, tree, base, new):
    """Return the exit status of the gate and the verdicts."""
    with tempfile.NamedTemporaryFile("w", suffix=".rules") as rules:
        rules.write("".join(rule + "\n" for rule, _, _ in RULES))
        rules.flush()
        done = subprocess.run(
            ["kmemtrace-gate", "--junit=-", "--source", tree, rules.name,
             folder / base / "capture", "--", folder / new / "capture"],
            stdout=subprocess.PIPE, text=True, check=False)
    cases = xml.etree.ElementTree.fromstring(done.stdout).iter("testcase")
    return done.returncode, [next(
        (child.get("type") for child in case if child.tag in ("failure", "error")),
        "passed") for case in cases]


def main():
    """Judge the verdicts. Return the exit status."""
    folder, tree = pathlib.Path(sys.argv[1]), sys.argv[2]
    failures = 0
    for new, column in (("base-2", 1), ("grown", 2)):
        status, verdicts = gate(folder, tree, "base-1", new)
        wanted = [rule[column] for rule in RULES]
        for (rule, *_), verdict, want in zip(RULES, verdicts, wanted):
            print(f"{new}: {verdict}: {rule}")
            if verdict != want:
                print(f"FAILED: not {want}")
                failures += 1
        if len(verdicts) != len(wanted):
            print(f"FAILED: {len(verdicts)} verdicts on {len(wanted)} rules")
            failures += 1
        if status != STATUS["exceeded" in wanted]:
            print(f"FAILED: exit status {status}")
            failures += 1
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
