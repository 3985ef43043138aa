#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""kmemtrace-import on recordings with different options of perf record: filtered,
with callchains, compressed, through a pipe, by several threads, in several
files."""

import json
import os
import resource
import struct
import subprocess
import sys

from import_case import REPORT, ImportTest, lacks, main
from import_events import A, B, TRACEPOINTS, USUAL, USUAL_RECORDS, Event
from perf_files import (EVENT_ID, LAYOUT, LOST_SAMPLES, ROUND, perf_build_id,
                        perf_command, perf_compressed, perf_data, perf_kernel,
                        perf_lost, perf_other, perf_pipe, perf_record,
                        perf_sample, perf_tasks)
from target import ORDER, pack

BUILD_ID = bytes(range(20))
KERNEL, USER = (1 << 64) - 128, (1 << 64) - 512
CALLCHAIN, READ = 1 << 5, 1 << 4
KMALLOC, KFREE = TRACEPOINTS["kmalloc"][1], TRACEPOINTS["kfree"][1]
EXCLUDE_KERNEL, FREQ, ON_EXEC, BACKWARD = 1 << 5, 1 << 10, 1 << 12, 1 << 27
CPUS = {7: pack("II", 4, 2)}
STACKED = struct.Struct(ORDER + "BBHiQQQQQqIHHII")


def samples(events=USUAL, **settings):
    """Return samples in this order."""
    return b"".join(perf_sample(e, **settings) for e in events)


def kfree(time, cpu=0, ptr=0xffff888000009000):
    """Return a free."""
    return Event("kfree", cpu, time, {"call_site": A, "ptr": ptr})


def event(config=KMALLOC, ids=(EVENT_ID, 56), sample_type=LAYOUT, **attr):
    """Return a tracepoint that was recorded on as many CPUs as it has ids."""
    return (2, sample_type, ids, {"config": config, **attr})


def command(*words):
    """Return features with the command line of perf record."""
    return {11: perf_command("/usr/bin/perf", "record", *words), **CPUS}


class Incomplete(ImportTest):
    """If only a part of the events was recorded, the capture says which part."""

    def reasons(self, records=samples(), **settings):
        """Return the reasons why a capture is incomplete."""
        path = self.write("perf.data", perf_data(records, **settings))
        said = self.imported(path, "-f")
        found = self.meta().get("incomplete", "").strip(";")
        report = json.loads(subprocess.run(
            [REPORT, "--json", self.out], capture_output=True, text=True,
            check=True).stdout)["capture"]
        reasons = found.split(";") if found else []
        self.assertEqual(report["incomplete"], reasons)
        self.assertEqual(report["loss"], "unknown" if found else "none")
        for reason in reasons:
            self.assertIn(f"warning: incomplete: {reason}\n", said)
        return reasons

    def test_complete(self):
        """Recordings that need no warning."""
        for settings in (
                {}, {"features": CPUS, "layouts": (event(),)},
                {"layouts": (event(), event(KFREE, (57, 58))),
                 "records": perf_tasks() + samples(),
                 "features": command("-a", "-e", "kmem:*", "-D", "100",
                                     "-m4M", "--switch-output=1G", "--",
                                     "cmd", "--filter", "x", "-C", "1")},
                # Another event is sampled or filtered.
                {"layouts": (event(), (2, LAYOUT, (9, 8), {
                    "config": 300, "period": 1000})),
                 "features": command("-a", "-e", "kmem:*", "-e",
                                     "sched:sched_switch", "--filter", "x",
                                     "--exclude-perf")},
                # The value of another option looks like an option.
                {"layouts": (event(),),
                 "features": command("-a", "-e", "kmem:*", "-o", "-C",
                                     "--mmap-pages", "-p", "-z=9", "-j", "any",
                                     "-Iax", "--synth=-C", "cmd")},
                {"features": {11: perf_command("perf", "kmem", "record"),
                              **CPUS}, "layouts": (event(),)}):
            with self.subTest(settings=settings):
                self.assertEqual(self.reasons(**settings), [])

    def test_sampling(self):
        for attr, words in (
                ({"period": 10}, "one of 10 events was recorded (perf record "
                 "-c)"),
                ({"period": 99, "flags": FREQ}, "events were sampled, about 99"
                 " a second of each CPU (perf record -F)"),
                ({"flags": EXCLUDE_KERNEL}, "events of the kernel were left "
                 "out (:u of perf record -e)"),
                ({"flags": BACKWARD}, "only the last events of each CPU were "
                 "kept (perf record --overwrite)")):
            self.assertEqual(self.reasons(layouts=(event(**attr),)), [words])
            # One of two events.
            self.assertEqual(
                self.reasons(layouts=(event(), event(KFREE, (7, 8), **attr))),
                [f"kfree: {words}"])

    def test_group(self):
        """In a group (:S), only the leader has samples, which contain the counters
        of all events."""
        self.assertEqual(self.reasons(
            samples(counters=(1, 2)),
            layouts=(event(sample_type=LAYOUT | READ, read_format=4 | 8),
                     event(KFREE, (7, 8), LAYOUT | READ, period=0,
                           read_format=4 | 8))),
            ["kfree: events were counted and not recorded (:S of perf record "
             "-e)"])
        self.assertEqual(self.records(0), USUAL_RECORDS[0])

    def test_cpus(self):
        one = {"layouts": (event(ids=(EVENT_ID,)),)}
        self.assertEqual(self.reasons(features=CPUS, **one),
                         ["only 1 of 2 CPUs were recorded"])
        self.assertEqual(
            self.reasons(features=command("-C", "0", "-e", "kmem:*"), **one),
            ["only CPUs 0 were recorded (perf record -C)"])

    def test_tasks(self):
        """Detect the recorded tasks from the map of tasks, or from the events of
        older versions of perf."""
        child = ["only the command that perf started, and its children, were "
                 "recorded (perf record without -a)"]
        some = ["only the tasks 12,13 were recorded (perf record -p, -t or "
                "-u)"]
        of_task = perf_tasks(12) + samples()
        self.assertEqual(self.reasons(of_task), child)
        self.assertEqual(self.reasons(of_task, layouts=(event(),),
                                      features=command("-e", "kmem:*")), child)
        for words in (("-p", "12,13"), ("-qp12,13",), ("--pid=12,13",),
                      ("--tid", "12,13"), ("-g", "-u", "12,13")):
            for records in (of_task, samples()):
                self.assertEqual(self.reasons(records, layouts=(event(),),
                                              features=command(*words)), some)
        self.assertEqual(self.reasons(layouts=(event(flags=ON_EXEC),)), child)

    def test_choices(self):
        for words, reason in (
                (("--filter", "bytes_req > 9"), "only events that pass "
                 "'bytes_req > 9' were recorded (perf record --filter)"),
                *((("-e", before, "--filter", "x", "-e", "sched:*"),
                   "only events that pass 'x' were recorded (perf record "
                   "--filter)") for before in ("percpu:*", "vmalloc:*")),
                (("--exclude-perf",), "events of perf itself were left out "
                 "(perf record --exclude-perf)"),
                (("-G", "a,b"), "only tasks of the control group a,b were "
                 "recorded (perf record -G)"),
                (("--for-each-cgroup=a",), "only tasks of the control group a "
                 "were recorded (perf record -G)"),
                (("-D", "1-20,30-40"), "only the times 1-20,30-40 ms were "
                 "recorded (perf record -D)"),
                (("--control", "fifo:x"), "events may have been switched off "
                 "at times (perf record --control)")):
            self.assertEqual(self.reasons(
                layouts=(event(),),
                features=command("-a", "-e", "kmem:*", *words, "cmd")),
                [reason])


class Callchains(ImportTest):
    """Stacks of events, and callers of page allocations."""

    CHAIN = (KERNEL, B + 4, A + 9, A + 16, B + 32, B + 40, USER, 0x401000)

    def stacked(self, cpu):
        """Return the records of a CPU with their stacks."""
        with open(os.path.join(self.out, f"cpu{cpu}.out"), "rb") as f:
            return list(STACKED.iter_unpack(f.read()))

    def stacks(self):
        """Return the table of stacks: number to addresses."""
        lines = [line.split() for line in self.text("stacks").splitlines()
                 if not line.startswith("#")]
        return {int(number): [int(a, 16) for a in addresses.split(",")]
                for number, addresses in lines}

    def data(self, events, chain=CHAIN, before=b""):
        """Write a file whose samples have callchains."""
        return self.write("perf.data", perf_data(
            before + samples(events, chain=chain),
            layouts=((2, LAYOUT | CALLCHAIN, (EVENT_ID,)),)))

    def test_slab(self):
        """A stack begins at the call site and ends with the last kernel address."""
        path = self.data(USUAL)
        self.imported(path)
        first, second = self.stacked(0)[:2]
        self.assertEqual((first[2], first[4]), (72, A + 16))
        stacks = self.stacks()
        self.assertEqual(stacks[first[13]], [A + 16, B + 32, B + 40])
        # The call site is not in the chain: the stack has all addresses except the
        # tracepoint's.
        self.assertEqual(stacks[second[13]],
                         [A + 9, A + 16, B + 32, B + 40])
        self.assertEqual(self.meta()["record_size"], "72")
        self.assertEqual([r[:2] + r[3:13] for r in self.stacked(1)][0],
                         USUAL_RECORDS[1][0][:2] + USUAL_RECORDS[1][0][3:])
        # Records of version 1 have no stack.
        self.imported(path, "-f", "--abi", "1")
        self.assertEqual(self.meta()["record_size"], "56")
        self.assertEqual(self.text("stacks"), "")

    def test_pages(self):
        """The call site of a page is the first function outside of the page
        allocator."""
        names = "".join(f"{address:016x} T {name}\n" for address, name in (
            (A, "alloc_pages_noprof"), (A + 10, "mine"),
            (B, "__alloc_pages.isra.0"), (B + 20, "caller"),
            (B + 4096, "_end")))
        pages = [e for e in USUAL if e.name.startswith("mm_page")]
        path = self.data(pages)
        self.imported(path, "--kallsyms", self.write("k", names))
        allocated, freed = self.stacked(1)[0], self.stacked(0)[0]
        for record in (allocated, freed):
            self.assertEqual(record[4], A + 16)
            self.assertEqual(self.stacks()[record[13]],
                             [A + 16, B + 32, B + 40])
        self.assertIn("the requested node of pages", self.meta()["not_seen"])
        self.assertNotIn("the callers that allocate", self.meta()["not_seen"])
        # Without symbols, the call site is the caller of the tracepoint's function.
        self.imported(path, "-f")
        self.assertEqual(self.stacked(1)[0][4], A + 9)

    def test_chains(self):
        """Chains that are empty, only in user space, without a context marker, or
        too long."""
        alloc = [USUAL[3]]
        for chain, expected in (
                ((), None), ((USER, 1, 2), None), ((KERNEL, B), None),
                ((B, A, A + 1), [A, A + 1]),
                ((KERNEL, *range(1, 200)), list(range(2, 130)))):
            with self.subTest(chain=chain):
                self.imported(self.data(alloc, chain), "-f")
                record = self.stacked(1)[0]
                self.assertEqual(self.stacks().get(record[13]), expected)
                self.assertEqual(record[4], expected[0] if expected else 0)
        self.assertNotIn("lost", self.text("stacks"))
        self.imported(self.data(alloc, ()), "-f")
        self.assertIn("# lost: 1\n", self.text("stacks"))

    def test_loss(self):
        """A LOST record has the same size as other records."""
        self.imported(self.data(USUAL, before=perf_lost(5, 0, 900)))
        lost = self.stacked(0)[0]
        self.assertEqual((lost[0], lost[2], lost[6]), (3, 72, 5))


class Forms(ImportTest):
    """Each form of a recording gives the same capture."""

    def test_pipe(self):
        """perf record -o -."""
        self.imported(self.write("pipe", perf_pipe(samples(), features=CPUS)))
        self.assert_usual()
        self.imported(self.write("pipe", perf_pipe(
            perf_compressed(samples(), 3))), "-f")
        self.assert_usual()
        whole = perf_pipe(samples())
        self.out = self.path("new")
        for end in range(1, len(whole) - len(samples()), 57):
            with self.subTest(end=end):
                self.refused(self.write("pipe", whole[:end]), "")

    def test_compressed(self):
        """A record may begin in one compressed block and end in the next."""
        for pieces in (1, 2, 7, 50):
            for newer in (False, True):
                with self.subTest(pieces=pieces, newer=newer):
                    self.imported(self.write("z", perf_data(perf_compressed(
                        samples(), pieces, newer))), "-f")
                    self.assert_usual()
        self.imported(self.write("z", perf_data(
            perf_compressed(samples()[:-8], 2))), "-f")
        self.assertNotIn("overruns", self.meta())
        packed = perf_compressed(samples(), 2)
        self.out = self.path("new")
        self.refused(self.write("z", perf_data(packed[:9] + b"x" +
                                               packed[10:])), "decompressed")

    def threads(self, *parts, features=None):
        """Write a directory of perf record --threads."""
        self.write("perf.data/data", perf_data(perf_kernel(A), features={
            24: pack("Q", 1), **(features or {})}))
        for number, part in enumerate(parts):
            self.write(f"perf.data/data.{number}", part)
        return self.path("perf.data")

    def test_threads(self):
        """Each file has the records of some CPUs."""
        of_cpu = [samples([e for e in USUAL if e.cpu == cpu])
                  for cpu in range(2)]
        self.refused(self.threads(), "data.0")
        path = self.threads(*of_cpu)
        self.refused(self.path("perf.data", "data"), "name the directory")
        self.imported(path)
        self.assert_usual()
        self.threads(b"", perf_compressed(of_cpu[1], 2), of_cpu[0])
        self.imported(path, "-f")
        self.assert_usual()

    def test_switch_output(self):
        """Files in any order; each file counts the losses since the start of the
        recording."""
        def lost(n, event_id=EVENT_ID):
            return perf_other(LOST_SAMPLES, pack("Q", n),
                              event_id=event_id)
        turn = perf_record(ROUND, b"")
        features = command("-a", "--switch-output", "-e", "kmem:*")
        layouts = (event(ids=(EVENT_ID, 56)),)
        bodies = (samples(USUAL[:3]) + turn + lost(5),
                  samples(USUAL[3:7]) + turn + lost(5) + lost(2, 56),
                  samples(USUAL[7:]) + turn + lost(6) + lost(2, 56))
        parts = [self.write(f"perf.data.{i}", perf_data(
            body, features=features, layouts=layouts))
            for i, body in enumerate(bodies)]
        for order in ((0, 1, 2), (2, 0, 1)):
            some = [parts[i] for i in order]
            self.imported(some[0], "-f", *some[1:])
            self.assertEqual([self.records(0), self.records(1)],
                             [USUAL_RECORDS[0], USUAL_RECORDS[1]])
            self.assertEqual(self.meta()["overruns"], "8")
        # A single file does not show how many of the losses preceded it.
        self.imported(parts[1], "-f")
        self.assertNotIn("overruns", self.meta())
        self.out = self.path("new")
        other = self.write("other", perf_data(samples(), layouts=(
            event(ids=(EVENT_ID, 57)),), features=features))
        for last, words in ((other, "not belong to the same recording"),
                            (self.write("text", "text" * 30),
                             "is not a perf.data")):
            self.refused(last, words, options=("-q", last, parts[0]))


class Names(ImportTest):
    """Symbol names from perf's build-id cache."""

    def test_cache(self):
        """The recorded kernel had another address, and its modules may be at any
        address."""
        home = self.path("home")
        path = self.write("perf.data", perf_data(
            perf_kernel(A, "_text") + samples(),
            features={2: perf_build_id(BUILD_ID)}))
        cached = "".join(f"{A + (5 << 20) + offset:016x} {kind} {name}\n"
                         for offset, kind, name in (
                             (-4096, "D", "before"), (0, "T", "_text"),
                             (0, "t", "mine"), (4096, "t", "other"),
                             (8192, "B", "_end"), (9000, "t", "far\t[mod]"),
                             (9999, "T", "beyond")))
        self.write(f"home/.debug/.build-id/00/{BUILD_ID.hex()[2:]}/kallsyms",
                   cached)
        for options, env in (((), {"HOME": home}),
                             (("--buildid-dir", f"{home}/.debug"), {})):
            said = self.imported_with(path, env, *options)
            self.assertIn("relocated to the recorded kernel", said)
            self.assertEqual(self.text("kallsyms"), "".join(
                f"{A + offset:016x} {kind} {name}\n"
                for offset, kind, name in ((0, "T", "_text"), (0, "t", "mine"),
                                           (4096, "t", "other"),
                                           (8192, "B", "_end"))))
        self.write(f"home/.debug/.build-id/00/{BUILD_ID.hex()[2:]}/kallsyms",
                   "0000000000000000 T _text\n")
        self.assertIn("no usable kallsyms",
                      self.imported_with(path, {"HOME": home}))

    def imported_with(self, path, env, *options):
        """Import with environment variables; return the output."""
        saved = dict(os.environ)
        os.environ.update(env)
        try:
            return self.imported(path, "-f", *options)
        finally:
            os.environ.clear()
            os.environ.update(saved)


class Warnings(ImportTest):
    """The report warns only of what the recording lacks."""

    def report(self, *options):
        """Return the messages of a report on stderr."""
        return subprocess.run([REPORT, *options, self.out], check=True,
                              capture_output=True, text=True).stderr

    def test_tables(self):
        """Tables exist even if no event has a cache or a task name."""
        self.imported(self.write("perf.data", perf_data(samples(USUAL[:1]))))
        for option in ("cache", "comm", "context"):
            warnings = self.report("--by", option, "--raw-ip")
            self.assertNotIn("missing or damaged", warnings)
        self.assertIn("needs perf record -g", self.report("--stacks"))


class Time(ImportTest):
    """The start and the end of a capture do not depend on the order of records."""

    def test_round_per_record(self):
        """The time does not grow with the product of CPUs and rounds."""
        n = 2000
        turn = perf_record(ROUND, b"")
        data = perf_sample(kfree(1, cpu=65535)) + b"".join(
            perf_sample(kfree(i + 2, ptr=(i + 1) << 12)) + turn * 500
            for i in range(n))
        result = self.run_import(
            self.write("perf.data", perf_data(data)),
            preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_CPU,
                                                  (10, 10)))
        self.assertEqual((result.returncode, result.stderr), (0, ""))
        self.assertEqual([r[9] for r in self.records(0)],
                         [i + 2 for i in range(n)])


if __name__ == "__main__":
    if lacks("libtraceevent", b"PERFILE2" + bytes(200)):
        sys.exit(77)
    main()
