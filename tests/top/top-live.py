#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""kmemtrace-top on the running kernel, by each source that works here: its figures
are those of the report of the raw capture that it writes at the same time.

The test needs root; without it, or without a source, it exits with status 77.

    top-live.py WORK
"""

import os
import shutil
import signal
import subprocess
import sys

TESTS = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..")
sys.path[:0] = [os.path.join(TESTS, "lib"), os.path.join(TESTS, "vm")]
import capture  # pylint: disable=wrong-import-position
from live_tracefs import (  # pylint: disable=wrong-import-position
    check, skip, take_tracefs)
from top_case import (  # pylint: disable=wrong-import-position
    CHECK, TIMEOUT_S, documents, top)
from top_compare import check_trace  # pylint: disable=wrong-import-position

WORK = "for i in 1 2 3; do find /usr /etc -xdev | tail -n 1; sleep 1; done"


def try_source(source, folder):
    """Record by one source and compare; return whether the source works here."""
    probe = top("-b", "-s", source, "-n", "1", "-d", ".01")
    if probe.returncode:
        print(f"source {source}: {probe.stderr.strip()}")
        return False
    directory = os.path.join(folder, source)
    run = top("-b", "--json", "-d", "1", "-s", source, "-D", directory, "--", "sh", "-c",
              WORK)
    check(run.returncode == 0, source, run.stderr)
    check(run.stderr == "", run.stderr)
    checked = subprocess.run([CHECK, directory], capture_output=True, text=True,
                             check=False, timeout=TIMEOUT_S)
    check(checked.returncode == 0, checked.stdout)
    check_trace(documents(run.stdout), directory, source)
    return True


def check_not_seen(source, folder):
    """The raw capture and the views know what is not recorded as kmemtraced does, also
    during the recording, when kmemtraced has not concluded it yet."""
    program = os.path.join(os.environ["top_builddir"], "kmemtraced", "kmemtraced")
    directory = os.path.join(folder, "not-seen")
    subprocess.run([program, "-q", "-s", source, "-w", ".1", "-D", directory],
                   check=True, timeout=TIMEOUT_S)
    expected = capture.meta(directory)["not_seen"]
    views = documents(top("-b", "--json", "-s", source, "-n", "1", "-d", "1").stdout)
    check(";".join(views[0]["header"]["not_seen"] + [""]) == expected, expected,
          views[0]["header"])
    check(capture.meta(os.path.join(folder, source))["not_seen"] == expected, expected)


def check_signal(source, folder):
    """A signal ends the recording: the raw capture is complete."""
    directory = os.path.join(folder, "signal")
    command = [os.path.join(os.environ["top_builddir"], "top", "kmemtrace-top"), "-b",
               "--json", "-d", ".2", "-s", source, "-D", directory]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        lines = iter(process.stdout.readline, "")
        check("{\n" == next(lines), "no document")
        process.send_signal(signal.SIGINT)
        rest = "".join(lines)
    check(process.returncode == 128 + signal.SIGINT, process.returncode)
    check(documents("{\n" + rest), rest)
    checked = subprocess.run([CHECK, directory], capture_output=True, text=True,
                             check=False, timeout=TIMEOUT_S)
    check(checked.returncode == 0, checked.stdout)


def main():
    """Run the test."""
    folder, = sys.argv[1:]
    take_tracefs("events/kmem")
    shutil.rmtree(folder, ignore_errors=True)
    os.makedirs(folder)
    works = [source for source in ("bpf", "ftrace") if try_source(source, folder)]
    if not works:
        skip("no source works here")
    check_signal(works[0], folder)
    check_not_seen(works[0], folder)


if __name__ == "__main__":
    main()
