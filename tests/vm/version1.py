#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Check a kernel that writes records of version 1.

Usage: version1.py OUT

OUT is the output of vm/scenarios/version1.sh."""
import os
import sys

import capture
import control
from verdict import equal, failed, holds

EVENTS = {"kmalloc", "kfree", "cache_alloc", "cache_free", "page_alloc",
          "page_free"}


def judge_info(out, name):
    """Check the record size and the events in info."""
    keys, lines = control.info(os.path.join(out, f"info.{name}"))
    equal(f"{name}: version and size of the records",
          (keys["abi_version"], keys["record_size"]), ("1", "56"))
    equal(f"{name}: records", [words[1] for words in lines["record"]],
          ["alloc", "free"])
    equal(f"{name}: bytes of the fields",
          sum(int(words[3]) for words in lines["field"]), 2 * 56)
    equal(f"{name}: types", [words[1] for words in lines["type"]],
          list(capture.TYPES[:3]))
    equal(f"{name}: events", {words[0] for words in lines["event"]}, EVENTS)
    equal(f"{name}: annotations", lines["mark"], [])
    return {words[0]: words[3:] for words in lines["event"]}


def main():
    """Check all captures."""
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    out = sys.argv[1]
    judged = {}
    for name in ("size", "pid", "sample", "off", "again"):
        judged[name] = control.Judged(out, name)
        holds(f"{name}: events", len(judged[name].events),
              judged[name].events)
        equal(f"{name}: other records than these two", {
            e.event_id for e in judged[name].events}
            - {capture.ALLOC, capture.FREE}, set())
    storms = {name: (j.storm(j.allocs()), j.storm(j.frees()))
              for name, j in judged.items()}

    judge_info(out, "size")
    judged["size"].expect_meta(filter="size=64", filter_frees="all")
    equal("size: bytes", {e.bytes_alloc for e in judged["size"].allocs()}, {64})
    equal("size: the storm", storms["size"], (2000, 2000))
    judged["pid"].expect_meta(filter="pid=1", filter_frees="all")
    equal("pid: the storm of another", storms["pid"], (0, 2000))
    judged["sample"].expect_meta(filter="sample=10", filter_frees="all",
                                 sample="10")
    holds("sample: the storm", storms["sample"],
          186 <= storms["sample"][0] <= 214 and storms["sample"][1] == 2000)
    equal("off: state", judge_info(out, "off")["kfree"], ["off", "missed"])
    judged["off"].expect_meta(events_off="kfree;")
    equal("off: the storm", storms["off"], (2000, 0))
    judge_info(out, "all")
    with open(os.path.join(out, "events")) as f:
        equal("folders of events", set(f.read().split()), EVENTS)
    judged["again"].expect_meta()
    equal("again: the storm", storms["again"], (2000, 2000))
    equal("again: tables", [table for table in
                            ("caches", "tasks", "marks", "stacks")
                            if os.path.exists(os.path.join(
                                judged["again"].directory, table))], [])
    return failed()


if __name__ == "__main__":
    sys.exit(main())
