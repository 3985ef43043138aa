#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Check that no record is missing between a killed kmemtraced and the next one.

Usage: kill.py OUT

OUT has the captures first/ and second/. The second may repeat records that were
written but not released before the kill. Joined without these repeated records,
both captures must form a trace without errors."""
import os
import shutil
import subprocess
import sys

import capture


def join(first, second, size):
    again = first.rfind(second[:size]) if second else -1
    if again < 0:
        return first + second
    assert again % size == 0 and second.startswith(first[again:]), again
    print(f"kill.py: {len(first) - again} bytes are in both")
    return first[:again] + second


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    first, second, joined = (os.path.join(sys.argv[1], name)
                             for name in ("first", "second", "joined"))
    size = capture.record_size(second)
    os.mkdir(joined)
    for name in ("kallsyms", "modules", "caches", "tasks"):
        shutil.copy(os.path.join(second, name), joined)
    with open(os.path.join(second, "kmemtrace.meta")) as f:
        lines = [line.replace("continues=true", "continues=false")
                 for line in f if not line.startswith(("events=", "bytes="))]
    with open(os.path.join(joined, "kmemtrace.meta"), "w") as f:
        f.writelines(lines)
    for cpu in capture.cpus(second):
        parts = []
        for directory in (first, second):
            with open(os.path.join(directory, f"cpu{cpu}.out"), "rb") as f:
                parts.append(f.read())
        with open(os.path.join(joined, f"cpu{cpu}.out"), "wb") as f:
            f.write(join(*parts, size))
    return subprocess.run(["kmemtrace-check", joined],
                          check=False).returncode


if __name__ == "__main__":
    sys.exit(main())
