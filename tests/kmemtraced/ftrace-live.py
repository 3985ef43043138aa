#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""kmemtraced on the tracepoints of the running kernel.  One unit: the cases share
the state of one machine.

The test needs root and a kernel with tracefs, which is mounted in a private
namespace if necessary.  Without either, the test prints the reason and exits with
status 77.  The programs are found through PATH, bench/load in BUILDDIR.

    ftrace-live.py BUILDDIR WORK     KMT_SEED selects the moments of signals
"""

import configparser
import json
import os
import re
import shutil
import signal
import struct
import subprocess
import sys
import time

import seeds
from live_tracefs import (PIPE_ARRAY_BYTES, TRACEFS, check, resize_pipes, skip,
                          take_tracefs)

# Each second, below which the machine is too slow for the test to tell
# anything, while two processes make the kernel allocate as fast as they can.
RATE_MIN = 100_000
SECONDS = 3
RECORD = struct.Struct("=BBHiQQQQQqIHH")
INSTANCE = os.path.join(TRACEFS, "instances", "kmemtrace")
STOPS = (signal.SIGSTOP, signal.SIGTSTP, signal.SIGTTIN, signal.SIGTTOU)
ALLOC, FREE = 1, 2
RESIZES = 500
KMALLOC = 0
PAGES, PERCPU, VMALLOC = 2, 3, 4


def read(name):
    """Return the content of a file in tracefs."""
    with open(os.path.join(TRACEFS, name), encoding="ascii") as file:
        return file.read()


def machine_state():
    """Return the settings of the machine's own trace buffer, which kmemtraced must
    not change."""
    names = ("tracing_on", "trace_clock", "set_event", "set_event_pid",
             "current_tracer", "buffer_size_kb", "events/kmem/enable",
             "options/overwrite", "options/event-fork", "options/record-cmd",
             "tracing_cpumask", "events/enable", "events/task/enable",
             "buffer_total_size_kb")
    names = [name for name in names
             if os.path.exists(os.path.join(TRACEFS, name))]
    return {name: read(name) for name in names}


def wait_for(condition, what):
    """Wait until the condition is true."""
    deadline = time.monotonic() + 60
    while not condition():
        check(time.monotonic() < deadline, "waited in vain:", what)
        time.sleep(0.01)


def read_path(path):
    """Return the content of a small file."""
    with open(path, encoding="ascii") as file:
        return file.read()


def counted(key):
    """Return the sum of a counter of the file stats over all CPUs of the instance."""
    folder = os.path.join(INSTANCE, "per_cpu")
    lines = "".join(read_path(os.path.join(folder, cpu, "stats"))
                    for cpu in os.listdir(folder)).splitlines()
    return sum(int(line.split(": ")[1]) for line in lines
               if line.startswith(key + ": "))


class Load:
    """Two processes that allocate and free without end."""

    def __init__(self, builddir, work):
        self.folder = os.path.join(work, "load")
        shutil.rmtree(self.folder, ignore_errors=True)
        os.mkdir(self.folder)
        self.argv = [os.path.join(builddir, "bench/load"), "2", "1000000000",
                     self.folder]
        self.process = None

    def __enter__(self):
        # pylint: disable=consider-using-with
        self.process = subprocess.Popen(self.argv, start_new_session=True)
        path = f"/proc/{self.process.pid}/task/{self.process.pid}/children"
        wait_for(lambda: len(read_path(path).split()) == 2,
                 "both processes of bench/load")
        return self

    def __exit__(self, *exc):
        os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait()


# Run a command where neither tracefs nor debugfs is mounted.
UNMOUNTED = ("unshare", "--mount", "sh", "-c", "for fs in tracing debug; do while umount "
             "-l /sys/kernel/$fs 2>&1; do :; done; done >/dev/null; exec \"$@\"", "sh")


def start(out, *args, prefix=()):
    """Start a kmemtraced."""
    shutil.rmtree(out, ignore_errors=True)
    return subprocess.Popen([*prefix, "kmemtraced", "-s", "ftrace", "-D", out, *args],
                            stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                            text=True)


def finish(daemon, status=0):
    """Wait for the end of kmemtraced; return its stdout and stderr."""
    try:
        out, err = daemon.communicate(timeout=120)
    except subprocess.TimeoutExpired:
        daemon.kill()
        raise
    print(err, out, sep="")
    check(daemon.returncode == status, "exit status", daemon.returncode)
    return out, err


def meta_of(out):
    """Return the parsed kmemtrace.meta of a capture."""
    meta = configparser.ConfigParser()
    meta.optionxform = str
    meta.read(os.path.join(out, "kmemtrace.meta"))
    return meta


def records(out):
    """Return all records of a capture, sorted by time."""
    found = []
    for name in sorted(os.listdir(out)):
        if name.endswith(".out"):
            with open(os.path.join(out, name), "rb") as file:
                found += RECORD.iter_unpack(file.read())
    found.sort(key=lambda r: r[9])
    return found


def no_instance(what):
    """Expect that the instance does not exist, or disappears within ten seconds."""
    deadline = time.monotonic() + 10
    while os.path.exists(INSTANCE):
        check(time.monotonic() < deadline, f"{INSTANCE} is left {what}")
        time.sleep(0.02)


def wait_recording(daemon):
    """Wait until kmemtraced prints that it records."""
    line = daemon.stderr.readline()
    while "recording" not in line:
        check(line, "kmemtraced ended before it recorded")
        line = daemon.stderr.readline()


def test_under_load(builddir, work):
    """No event is lost, all events are plausible, and tasks have names."""
    out = os.path.join(work, "capture")
    with Load(builddir, work):
        finish(start(out, "-w", str(SECONDS)))
    no_instance("after a normal end")
    meta = meta_of(out)["capture"]
    rate = int(meta["events"]) / SECONDS
    print(f"{rate:.0f} events/s, {meta['overruns']} lost, "
          f"{meta['own_events']} of its own left out")
    check(rate >= RATE_MIN, f"only {rate:.0f} events/s")
    check(meta["overruns"] == "0", f"{meta['overruns']} events were lost at "
          f"{rate:.0f} events/s")
    check(meta["source"] == "ftrace" and meta["complete"] == "true", meta)
    checked = subprocess.run(["kmemtrace-check", out], capture_output=True,
                             text=True, check=False)
    check(checked.returncode == 0, checked.stdout)
    check("not seen by this source" in checked.stdout, checked.stdout)
    report = json.loads(subprocess.run(
        ["kmemtrace-report", "--json", out], capture_output=True, text=True,
        check=True).stdout)
    slab = [s for s in report["callsites"]
            if s["kind"] in ("kmalloc", "cache")]
    known = [s for s in slab if s["symbol"]]
    check(len(slab) > 50, len(slab), "call sites")
    check(len(known) > 0.99 * len(slab), len(known), "names of", len(slab))
    check(report["capture"]["not_seen"], "the report names no gaps")
    plausible(records(out))
    named(out)


def test_large(work):
    """A kmalloc() of more than a slab object can hold is recorded once, with the
    call site of its caller."""
    out = os.path.join(work, "large")
    daemon = start(out)
    wait_recording(daemon)
    resize_pipes(RESIZES)
    daemon.send_signal(signal.SIGINT)
    finish(daemon)
    capture = meta_of(out)["capture"]
    check(capture["overruns"] == "0", capture["overruns"], "events lost")
    sites = [r[4] for r in records(out) if r[0] == ALLOC and r[1] == KMALLOC
             and r[6] == PIPE_ARRAY_BYTES and r[10] == os.getpid()]
    print(f"{len(sites)} large allocations of {len(set(sites))} call sites, "
          f"{capture['kmalloc_duplicates']} events left out")
    # Both events stay if the test moves to another CPU between them.
    check(0 <= len(sites) - RESIZES <= 2, len(sites), "of", RESIZES)
    check(len(set(sites)) <= 1 + len(sites) - RESIZES, set(sites))


def commands(out):
    """Run a report by comm; return the allocations of each name and the warnings."""
    done = subprocess.run(
        ["kmemtrace-report", "--json", "--by", "comm", out],
        capture_output=True, text=True, check=True)
    check("commands are known" not in done.stderr, done.stderr)
    allocs = {}
    for group in json.loads(done.stdout)["groups"]:
        allocs[group["comm"]] = allocs.get(group["comm"], 0) + group["allocs"]
    return allocs


def named(out):
    """Expect names for nearly all tasks, and above all for the load."""
    allocs = commands(out)
    total = sum(allocs.values())
    print(sorted(allocs.items(), key=lambda item: -item[1])[:5])
    check(allocs.get("load", 0) == max(allocs.values()), "of load", allocs)
    unknown = allocs.get("(unknown)", 0)
    check(unknown < total / 100, unknown, "allocations of unknown tasks, of", total)


def plausible(found):
    """Check properties that the events of every kernel have."""
    pairs = live = 0
    objects = {}
    for event, kind, size, node, _, ptr, req, alloc, _, _, _, _, _ in found:
        check(event in (ALLOC, FREE) and size == 64 and kind <= VMALLOC,
              event)
        if event == ALLOC:
            check(0 < req <= alloc, req, alloc)
            check(-1 <= node < 1024, node)
        # Per-CPU memory is identified by an offset, not by an address.
        check(ptr >> 63 == 1 or kind == PERCPU, hex(ptr))
        if kind >= PAGES:
            continue
        if event == ALLOC:
            objects[ptr] = alloc
            live += 1
        elif objects.pop(ptr, None):
            pairs += 1
    print(f"{live} slab allocations, {pairs} of them seen freed")
    check(pairs > live / 2, "most slab objects are never seen freed")


def test_ends(work):
    """However kmemtraced ends, no instance remains."""
    out = os.path.join(work, "ends")
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        daemon = start(out)
        wait_recording(daemon)
        check(os.path.exists(INSTANCE), "there is no instance")
        daemon.send_signal(number)
        finish(daemon)
        no_instance(f"after {number}")
    daemon = start(out)
    wait_recording(daemon)
    daemon.kill()
    daemon.wait()
    no_instance("after SIGKILL")
    check(meta_of(out)["capture"]["complete"] == "false", "cut off")


def guard_of(pid):
    """Return the pid of the cleanup process."""
    children = f"/proc/{pid}/task/{pid}/children"
    if os.path.exists(children):
        with open(children, encoding="ascii") as file:
            pids = file.read().split()
        return int(pids[0]) if pids else None
    found = subprocess.run(["pgrep", "-P", str(pid)], capture_output=True,
                           text=True, check=True).stdout
    return int(found.split()[0])


def kill_all(daemon):
    """Stop both processes first, so that neither acts on the end of the other."""
    guard = guard_of(daemon.pid)
    for number in (signal.SIGSTOP, signal.SIGKILL):
        for pid in (daemon.pid, guard):
            os.kill(pid, number)
    daemon.wait()
    wait_for(lambda: not os.path.exists(f"/proc/{guard}"), "the guard ends")


def test_guard_killed(work):
    """A new cleanup process replaces a killed one and restores the kernel."""
    out = os.path.join(work, "guard")
    for last in (signal.SIGINT, signal.SIGKILL):
        shutil.rmtree(out, ignore_errors=True)
        daemon = start(out)
        wait_recording(daemon)
        for _ in range(3):
            old = guard_of(daemon.pid)
            os.kill(old, signal.SIGKILL)
            wait_for(lambda: guard_of(daemon.pid) not in (old, None),
                     "another guard")
        daemon.send_signal(last)
        daemon.communicate(timeout=60)
        no_instance(f"by the new guard, after {last}")


def test_all_killed(work):
    """If both processes were killed, the next start of any program removes the
    instance."""
    out = os.path.join(work, "all")
    for program in ("kmemtrace-check", "kmemtrace-report"):
        shutil.rmtree(out, ignore_errors=True)
        daemon = start(out)
        wait_recording(daemon)
        kill_all(daemon)
        check(os.path.exists(INSTANCE), "nothing is left")
        done = subprocess.run([program, "/nonexistent"], capture_output=True,
                              text=True, check=False)
        check("instance of a killed kmemtraced" in done.stderr,
              done.stderr)
        no_instance("by " + program)


def test_not_mounted(work):
    """Where tracefs is not mounted, kmemtraced has a mount of its own.  After a kill
    of both processes, any program finds the instance, with and without a mount."""
    out = os.path.join(work, "unmounted")
    found, _ = finish(start(out, "-w", "0.5", prefix=UNMOUNTED))
    check(int(re.search(r"(\d+) events,", found)[1]) > 100, found)
    no_instance("after a recording")
    for prefix in UNMOUNTED, ():
        daemon = start(out, prefix=UNMOUNTED)
        wait_recording(daemon)
        with open(f"/proc/{daemon.pid}/mounts", encoding="ascii") as file:
            check("tracefs" not in file.read(), "the mount has a mount point")
        kill_all(daemon)
        check(os.path.exists(INSTANCE), "nothing is left")
        done = subprocess.run([*prefix, "kmemtrace-check", "/nonexistent"],
                              capture_output=True, text=True, check=False)
        check("instance of a killed kmemtraced" in done.stderr, done.stderr)
        no_instance("by kmemtrace-check")


def test_left(work):
    """The cleanup process was killed as well."""
    out = os.path.join(work, "left")
    daemon = start(out)
    wait_recording(daemon)
    second = start(out + "2", "-w", "0.1")
    _, err = finish(second, status=1)
    check("another kmemtraced uses" in err, err)
    kill_all(daemon)
    check(os.path.exists(INSTANCE), "nothing is left")
    _, err = finish(start(out, "-w", "0.1"))
    check("instance of a killed kmemtraced" in err, err)
    no_instance("by the next one")


def signal_sent(out, number, group, early, delay):
    """Start one kmemtraced, send one signal, and send SIGTERM if kmemtraced still
    runs."""
    shutil.rmtree(out, ignore_errors=True)
    # pylint: disable=consider-using-with
    daemon = subprocess.Popen(["kmemtraced", "-s", "ftrace", "-D", out],
                              stdout=subprocess.DEVNULL,
                              stderr=subprocess.PIPE, text=True,
                              start_new_session=True)
    if not early:
        wait_recording(daemon)
    time.sleep(delay)
    pid = -daemon.pid if group else daemon.pid
    for each in (number, *([signal.SIGCONT] if number in STOPS else []),
                 signal.SIGTERM):
        if daemon.poll() is None:
            os.kill(pid, each)
            pid = daemon.pid
    daemon.communicate(timeout=60)
    no_instance(f"after signal {number} to {'all' if group else 'one'}, "
                f"{delay:.4f} s after {'its start' if early else 'recording'}")


def test_signals(work):
    """Whichever signal arrives at whichever time, the kernel's state is restored."""
    rng = seeds.generator("the signals")
    out = os.path.join(work, "signals")
    before = machine_state()
    numbers = [*range(1, 32), signal.SIGRTMIN, signal.SIGRTMIN + 9,
               signal.SIGRTMAX]
    deadly = (signal.SIGKILL, signal.SIGALRM, signal.SIGUSR1, signal.SIGQUIT)
    for number in numbers + [rng.choice(deadly) for _ in range(40)]:
        for group in (False, True):
            early = rng.random() < .7
            signal_sent(out, number, group, early, rng.uniform(0, 0.15))
    check(machine_state() == before, "the machine's tracing changed", before,
          machine_state())


def write_instance(name, text):
    """Write as a shell does: with > to the file trace, and with >> to other files."""
    flags = os.O_WRONLY | (os.O_TRUNC if name == "trace" else os.O_APPEND)
    fd = os.open(os.path.join(INSTANCE, name), flags)
    if text:
        os.write(fd, text.encode())
    os.close(fd)


def interfered(out, change, *names, **meta):
    """If another program changes the instance, the capture records the
    interference."""
    daemon = start(out)
    wait_recording(daemon)
    change()
    daemon.send_signal(signal.SIGINT)
    _, err = finish(daemon, status=1 if names else 0)
    no_instance("after a change by somebody else")
    capture = meta_of(out)["capture"]
    found = set(filter(None, capture.get("interference", "").split(";")))
    # A change of the clock also clears the buffers, which shows only if they held
    # unread events.
    if "trace_clock" in names:
        found.discard("trace")
    check(found == set(names), "changed", names, "found", found, err)
    check(capture["complete"] == ("false" if names else "true"), dict(capture))
    for key, value in meta.items():
        check(capture.get(key) == value, key, capture.get(key), value)


def test_interference(work):
    """Another program switches events, sets filters, clears or reads the buffers of
    the instance."""
    out = os.path.join(work, "interference")

    def twice(name, first, second):
        write_instance(name, first)
        write_instance(name, second)

    def read_page():
        path = os.path.join(INSTANCE, "per_cpu/cpu0/trace_pipe_raw")
        fd = os.open(path, os.O_RDONLY | os.O_NONBLOCK)
        deadline = time.monotonic() + 10
        while time.monotonic() < deadline:
            try:
                if os.read(fd, 65536):
                    break
            except BlockingIOError:
                pass
        os.close(fd)

    interfered(out, lambda: None)
    interfered(out, lambda: write_instance("trace_marker", "hello"))
    interfered(out, lambda: twice("tracing_on", "0", "1"), "tracing_on")
    kfree = "events/kmem/kfree/enable"
    interfered(out, lambda: write_instance(kfree, "0"), kfree,
               events_off="kfree;")
    interfered(out, lambda: twice(kfree, "0", "1"), kfree,
               events_off="kfree;")
    interfered(out, lambda: write_instance("set_event", "!kmem:kfree\n"),
               kfree, "set_event", events_off="kfree;")
    name = "events/kmem/kmalloc/filter"
    interfered(out, lambda: write_instance(name, "bytes_req > 7"), name,
               filter_changed="true", filter=name + "=bytes_req > 7")
    mask = read("tracing_cpumask").strip()
    interfered(out, lambda: twice("tracing_cpumask", "1", mask),
               "tracing_cpumask", filter_changed="true")
    interfered(out, lambda: write_instance("set_event_pid", "1"),
               "set_event_pid", filter_changed="true",
               filter="set_event_pid=1")
    interfered(out, lambda: write_instance("trace_clock", "global"),
               "trace_clock")
    interfered(out, lambda: write_instance("trace", ""), "trace")
    interfered(out, read_page, "trace")


def test_loss(builddir, work):
    """While the reader is stopped, lost events are counted with their time."""
    out = os.path.join(work, "loss")
    with Load(builddir, work):
        daemon = start(out, "-b", "64")
        wait_recording(daemon)
        wait_for(lambda: counted("read events") > 1000, "events are read")
        daemon.send_signal(signal.SIGSTOP)
        wait_for(lambda: counted("overrun") > 10000, "events are lost")
        before = counted("read events")
        daemon.send_signal(signal.SIGCONT)
        wait_for(lambda: counted("read events") > before + 1000,
                 "events are read again")
        daemon.send_signal(signal.SIGINT)
        out_text, err = finish(daemon)
    meta = meta_of(out)
    lost = int(meta["capture"]["overruns"])
    check(lost > 1000, lost, "events lost")
    check(f"{lost} events lost" in out_text, out_text)
    check("give each CPU a buffer of -b" in err, err)
    sums = 0
    for cpu in meta.sections()[1:]:
        sums += int(meta[cpu]["overruns"])
        if int(meta[cpu]["overruns"]):
            check(int(meta[cpu]["lost_from"]) < int(meta[cpu]["lost_until"]),
                  dict(meta[cpu]))
    check(sums == lost, sums, lost)
    checked = subprocess.run(["kmemtrace-check", out], capture_output=True,
                             text=True, check=False)
    check(checked.returncode == 0, checked.stdout)
    check(f"{lost} events were lost" in checked.stdout, checked.stdout)


def test_processes(work):
    """Record only one process and the processes that it starts."""
    out = os.path.join(work, "processes")
    with subprocess.Popen(
            ["sh", "-c", "read go; for i in 1 2 3 4 5; do ls / >/dev/null; "
             "done"], stdin=subprocess.PIPE) as shell:
        daemon = start(out, "-p", str(shell.pid), "-c")
        wait_recording(daemon)
        shell.communicate(b"go\n")
    daemon.send_signal(signal.SIGINT)
    finish(daemon)
    events = int(meta_of(out)["capture"]["events"])
    check(events > 100, events, "events of five processes")
    allocs = commands(out)
    check(allocs.get("ls", 0) > 0 and "(unknown)" not in allocs, allocs)
    quiet = start(out, "-p", str(os.getpid()))
    wait_recording(quiet)
    subprocess.run(["ls", "-R", "/etc"], stdout=subprocess.DEVNULL,
                   check=False)
    quiet.send_signal(signal.SIGINT)
    finish(quiet)
    sites = json.loads(subprocess.run(
        ["kmemtrace-report", "--json", out], capture_output=True, text=True,
        check=True).stdout)["callsites"]
    names = [s["symbol"] or "" for s in sites]
    check(not any("readdir" in name or "dirent" in name for name in names),
          "what ls does is in it", names)


def test_command(work):
    """The exit status of the command is passed on; with -c only the command is
    recorded."""
    out = os.path.join(work, "command")
    finish(start(out, "--", "sh", "-c", "exit 3"), status=3)
    no_instance("after a command")
    finish(start(out, "--", "/nonexistent"), status=127)
    check(not os.path.exists(out), "a capture of nothing")
    no_instance("after no command")
    finish(start(out, "-c", "--", "sh", "-c", "ls -R /etc >/dev/null; true"))
    events = int(meta_of(out)["capture"]["events"])
    check(events > 1000, events, "events of ls -R /etc")
    allocs = commands(out)
    check(allocs.get("ls", 0) > 100 and allocs.get("sh", 0) > 0, allocs)
    # With the tracepoints of tasks, no name depends on /proc.
    if meta_of(out)["capture"]["task_names"] == "tracepoints":
        check("(unknown)" not in allocs, allocs)


def main():
    """Run all tests if the machine permits."""
    builddir, work = sys.argv[1:]
    take_tracefs("instances")
    try:
        os.mkdir(os.path.join(TRACEFS, "instances", "kmemtrace-test"))
        os.rmdir(os.path.join(TRACEFS, "instances", "kmemtrace-test"))
    except OSError as e:
        skip(f"tracefs allows no instances: {e.strerror}")
    os.makedirs(work, exist_ok=True)
    before = machine_state()
    test_under_load(builddir, work)
    test_large(work)
    test_ends(work)
    test_left(work)
    test_guard_killed(work)
    test_all_killed(work)
    test_not_mounted(work)
    test_signals(work)
    test_interference(work)
    test_loss(builddir, work)
    test_processes(work)
    test_command(work)
    after = machine_state()
    check(before == after, "the machine's tracing changed:", before, after)


if __name__ == "__main__":
    main()
