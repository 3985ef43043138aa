#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Check that no probe and no function tracer reaches code inside the tracer.

Usage: guarded.py BUILD

BUILD is the folder of a built kernel. The code between reservation and commit of
a record, and the code that holds a lock of kmemtrace, must be out of reach of
kprobes and of the function tracer, because an event in such a probe is refused
and lost. The script follows the calls in mm/kmemtrace/*.o from the tracepoint
probes and from the functions that acquire the guard. It fails for each function
on the way that is not NOKPROBE_SYMBOL, that is traced, or that is neither in
mm/kmemtrace/*.o nor in the list ELSEWHERE."""
import glob
import os
import re
import subprocess
import sys

from verdict import equal, failed, holds

# Functions that run inside the tracer or lead there.
ROOTS = re.compile(
    r"probe_\w+|"
    r"kmemtrace_(begin_records|next_record|commit_record|record_time|"
    r"end_records|number_of_stack|unwind|write_mark|write_stop|lock|unlock|"
    r"guard_enter|guard_leave|is_guarded|visit_here|leave|forget|"
    r"report_lost|acquire_records|release_records|buffer_stats|seal|"
    r"sealed_overruns|sealed_consumed|"
    r"buffers_reset|buffers_begin_epoch|buffers_seal|view_get|view_replace|swap|"
    r"counter_sum|test_enter|test_leave|lost|take_snapshot|"
    # Called through pointers that higher layers register with the writer.
    r"filter_passes|trigger_count|trigger_fire)|"
    r"__kmemtrace_operation_(enter|leave|begin)")

# The comparison of stacks in test kernels runs without the guard. The probes of tasks
# and cgroups only store names and paths, and no event needs the locks of their tables.
OUTSIDE = re.compile(r"kmemtrace_test_unwind(\.cold)?|probe_task_\w+|probe_cgroup_rmdir")

# Kernel functions that guarded code calls. A nested event is refused in each of
# them. Check each new function before adding it here.
ELSEWHERE = re.compile(
    # String functions, arithmetic and thunks of the compiler.
    r"mem(cpy|set|move|cmp|chr)|__mem\w+|(sized_)?str(scpy|lcpy|nlen|len|cmp)|"
    r"__x86_\w+|__stack_chk_fail|__sanitizer_\w+|__asan_\w+|__kasan_\w+|"
    r"kasan_\w+|__ubsan_\w+|__udivdi3|"
    # Interrupt flags, preemption, RCU, and locks with their checks.
    r"pv_native_\w+|preempt_\w+|__preempt_\w+|__SCT__\w+|"
    r"trace_hardirqs_(on|off)\w*|lockdep_\w+|_raw_spin_(un)?lock\w*|"
    r"(native_)?queued_spin_lock_slowpath|__this_cpu_preempt_check|"
    r"debug_smp_processor_id|rcu_\w+|__warn_printk|"
    # The clock, and work deferred to an interrupt.
    r"sched_clock\w*|local_clock|ktime_get\w*|(using_)?native_sched_clock|read_tsc|"
    r"irq_work_queue|static_key_\w+|"
    # The unwinders and the stack depot. The stack is saved outside of the guard.
    r"stack_trace_save|stack_depot_\w+|__stack_depot_save|filter_irq_stacks|"
    r"core_kernel_text|__module_(text_)?address|orc_find_call|"
    r"in_task_stack|__kernel_text_address|_printk\w*|"
    # The CPU mask loop that sums all counters.
    r"cpumask_next\w*|_find_next\w*bit|find_next_bit|"
    # Reference counts, when a reader acquires a set.
    r"refcount_warn_saturate|"
    # A folio's head, for the size of a large object.
    r"page_fixed_fake_head|virt_to_\w+|__virt_addr_valid|__phys_addr\w*")


def objdump(*arguments):
    return subprocess.run(("objdump", *arguments), check=True,
                          stdout=subprocess.PIPE, text=True).stdout


class Unit:
    """The functions of an object file."""

    def __init__(self, path):
        self.path = path
        self.calls = {}      # function: set of functions
        self.traced = set()
        self.protected = set()
        self.at = {}         # section: sorted list of (address, function)
        self.read_symbols()
        self.read_code()
        self.read_blacklist()

    def read_symbols(self):
        for line in objdump("-t", self.path).splitlines():
            match = re.match(r"([0-9a-f]+) (.{7}) (\S+)\s+([0-9a-f]+) "
                             r"(?:\.hidden )?(\S+)$", line)
            if not match or "F" not in match[2]:
                continue
            functions = self.at.setdefault(match[3], [])
            functions.append((int(match[1], 16), match[5]))
            if re.match(r"\.(kprobes|noinstr|entry|init)\.text", match[3]):
                self.protected.add(match[5])
        for functions in self.at.values():
            functions.sort()

    def function(self, symbol, offset):
        """Return the function at an offset from a symbol or a section."""
        if symbol not in self.at:
            return symbol
        found = None
        for address, function in self.at[symbol]:
            if address <= offset:
                found = function
        return found

    def read_code(self):
        current = None
        for line in objdump("-dr", "--no-show-raw-insn",
                            self.path).splitlines():
            match = re.match(r"[0-9a-f]+ <(\S+)>:$", line)
            if match:
                current = match[1]
                self.calls.setdefault(current, set())
                continue
            match = re.search(r"\t(?:call|jmp|j\w+)\s+[0-9a-f]+ "
                              r"<([^+>]+)(?:\+0x[0-9a-f]+)?>", line)
            if match:
                # Without a relocation the target is in this section.
                if match[1] != current:
                    self.calls[current].add(match[1])
                continue
            match = re.search(r"R_X86_64_(?:PLT32|PC32)\t(\S+?)"
                              r"(?:([+-])0x([0-9a-f]+))?$", line)
            if not match or current is None:
                continue
            symbol = match[1]
            offset = int(match[3] or "0", 16) * (-1 if match[2] == "-" else 1)
            if symbol == "__fentry__":
                self.traced.add(current)
            elif symbol in self.at:
                self.calls[current].add(self.function(symbol, offset + 4))
            elif match[0].startswith("R_X86_64_PLT32"):
                self.calls[current].add(symbol)

    def read_blacklist(self):
        inside = False
        for line in objdump("-r", self.path).splitlines():
            if line.startswith("RELOCATION RECORDS FOR"):
                inside = line.endswith("[_kprobe_blacklist]:")
            match = re.search(r"R_X86_64_64\s+(\S+?)(?:\+0x([0-9a-f]+))?$",
                              line)
            if match and inside:
                self.protected.add(self.function(match[1],
                                                 int(match[2] or "0", 16)))


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    units = [Unit(path) for path in
             sorted(glob.glob(os.path.join(sys.argv[1], "mm", "kmemtrace",
                                           "*.o")))]
    # Static functions of two files may have the same name.
    home = {}
    for unit in units:
        for function in unit.calls:
            home.setdefault(function, unit)
    todo = [(unit, function) for unit in units for function in unit.calls
            if ROOTS.fullmatch(function)]
    holds("functions to begin with", len(todo), len(todo) > 40)
    seen, problems = set(), []
    while todo:
        unit, function = todo.pop()
        if (unit.path, function) in seen or OUTSIDE.fullmatch(function):
            continue
        seen.add((unit.path, function))
        name = f"{os.path.basename(unit.path)}: {function}"
        if function not in unit.protected:
            problems.append(f"{name} can have a kprobe")
        if function in unit.traced:
            problems.append(f"{name} can be traced")
        for callee in sorted(unit.calls[function]):
            if callee in unit.calls:
                todo.append((unit, callee))
            elif callee in home:
                todo.append((home[callee], callee))
            elif not ELSEWHERE.fullmatch(callee):
                problems.append(f"{name} calls {callee}")
    holds("functions inside of the tracer", len(seen), len(seen) > 60)
    for problem in sorted(problems):
        print(f"guarded.py: {problem}")
    equal("of these in reach of probes and tracers", len(problems), 0)
    return failed()


if __name__ == "__main__":
    sys.exit(main())
