# SPDX-License-Identifier: GPL-2.0-or-later
"""Find which test executes which line, with gcov."""
import json
import subprocess
import sys

from workspace import Workspace

TEST_SECONDS = 900


def executed_lines(workspace):
    """Return {file: lines} of what ran since the last call, and reset the counters."""
    counters = sorted(workspace.build.rglob("*.gcda"))
    if not counters:
        return {}
    shown = subprocess.run(
        ["gcov", "--json-format", "--stdout"] + [str(path) for path in counters],
        cwd=workspace.build, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, check=True)
    for path in counters:
        path.unlink()
    lines = {}
    for report in shown.stdout.decode().splitlines():
        if not report.strip():
            continue
        for file in json.loads(report)["files"]:
            name = (workspace.build / file["file"]).resolve()
            if not name.is_relative_to(workspace.source.resolve()):
                continue
            key = str(name.relative_to(workspace.source.resolve()))
            lines.setdefault(key, set()).update(
                line["line_number"] for line in file["lines"] if line["count"])
    return lines


def measure(folder, source):
    """Return {test: {"seconds": s, "lines": {file: [line, ...]}}} of the tests of source."""
    workspace = Workspace(folder, source, "-O0 --coverage")
    found = {}
    for test in workspace.tests():
        passed, seconds = workspace.run_test(test, TEST_SECONDS)
        if not passed:
            print(f"mutation: {test} fails without a mutation; it is not used", file=sys.stderr)
        lines = executed_lines(workspace)
        if passed:
            found[test] = {"seconds": seconds,
                           "lines": {name: sorted(rows) for name, rows in lines.items()}}
        print(f"coverage: {test}: {seconds:.1f} s, "
              f"{sum(map(len, lines.values()))} lines", flush=True)
    return found
