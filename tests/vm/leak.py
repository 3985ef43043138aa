#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Check that a report finds the leak that vm/scenarios/bpf-leak.sh plants, and
nothing else as likely.

Usage: leak.py CAPTURE"""
import json
import subprocess
import sys


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    done = subprocess.run(["kmemtrace-report", "--leaks", "--json", sys.argv[1]],
                          capture_output=True, text=True, check=True)
    leaks = json.loads(done.stdout)["leak_candidates"]
    for leak in leaks:
        print("leak.py:", json.dumps(leak))
    likely = [leak["symbol"].split("+")[0] for leak in leaks
              if not leak["frees_not_seen"] and not leak["keeps_objects_of"]]
    if likely != ["faulty_open"]:
        print("leak.py: not exactly the leak of faulty_open is likely")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
