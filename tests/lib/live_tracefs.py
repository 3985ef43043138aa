# SPDX-License-Identifier: GPL-2.0-or-later
"""Prepare tests on the running kernel, and end them as scripts/test expects."""

import ctypes
import fcntl
import os
import signal
import sys

# nohup and a shell's "&" leave signals ignored, and kmemtraced inherits an ignored
# SIGHUP.
for number in signal.SIGHUP, signal.SIGINT, signal.SIGQUIT, signal.SIGTERM:
    signal.signal(number, signal.SIG_DFL)

TRACEFS = "/sys/kernel/tracing"
# Flags of unshare(2) and mount(2).
CLONE_NEWNS, MS_REC, MS_PRIVATE = 0x20000, 0x4000, 1 << 18


def take_tracefs(folder):
    """Make tracefs available, to one test of this machine at a time: trace-cmd
    changes settings of the whole machine.  Skip the test if tracefs cannot be used,
    or does not have the folder."""
    if os.geteuid() != 0:
        skip("not root")
    if not os.path.isdir(os.path.join(TRACEFS, "events")):
        mount_tracefs()
    # All mounts and namespaces share the root directory, which is locked until this
    # process ends.
    lock = os.open(TRACEFS, os.O_RDONLY | os.O_DIRECTORY)
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        print("waiting for another test that traces this machine", flush=True)
        fcntl.flock(lock, fcntl.LOCK_EX)
    if not os.path.isdir(os.path.join(TRACEFS, folder)):
        skip(f"no tracefs on {TRACEFS}")


def mount_tracefs():
    """Mount tracefs for this process and its children; the mount namespace ends
    with the last of them."""
    with open("/proc/filesystems", encoding="ascii") as file:
        if "tracefs" not in file.read().split():
            skip("this kernel has no tracefs")
    libc = ctypes.CDLL(None, use_errno=True)
    if (libc.unshare(CLONE_NEWNS) or
            libc.mount(None, b"/", None, MS_REC | MS_PRIVATE, None) or
            libc.mount(b"none", TRACEFS.encode(), b"tracefs", 0, None)):
        skip(f"cannot mount tracefs on {TRACEFS}: " +
             os.strerror(ctypes.get_errno()))
    print(f"tracefs is mounted on {TRACEFS} for this test alone")


# A pipe of this many bytes has an array of one struct pipe_buffer (40 bytes) for
# each page, which a kmalloc() of a variable size allocates.
PIPE_BYTES = 1 << 20
PIPE_ARRAY_BYTES = PIPE_BYTES // os.sysconf("SC_PAGESIZE") * 40


def resize_pipes(number):
    """Make pipes of PIPE_BYTES: as many kmalloc() of PIPE_ARRAY_BYTES."""
    for _ in range(number):
        ends = os.pipe()
        fcntl.fcntl(ends[0], fcntl.F_SETPIPE_SZ, PIPE_BYTES)
        for end in ends:
            os.close(end)


def skip(reason):
    """Exit with the status that scripts/test shows as skipped."""
    print(reason)
    sys.exit(77)


def check(condition, *what):
    """Exit with the observed values unless the condition holds."""
    if not condition:
        print("FAILED:", *what)
        sys.exit(1)
