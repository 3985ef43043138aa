#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Judge which call sites kmemtrace-report --diff matches between two builds of a kernel, by
the source lines that addr2line finds in both vmlinux files.

Usage: diff_matches.py BASE BASE-VMLINUX NEW NEW-VMLINUX
BASE and NEW are captures of kernels that run at the addresses of their vmlinux."""
import collections
import functools
import json
import re
import subprocess
import sys

# Of the judged matches, this part may be wrong; of the pairs of call sites in functions of
# one name, this part may be missed.
MAX_WRONG = 0.01
MAX_MISSED = 0.05


def function(symbol):
    """Return the function of a call site without a suffix of the compiler."""
    return symbol.partition("+")[0].partition(".")[0]


class Lines:
    """The source lines of the call sites of a capture."""

    def __init__(self, capture, vmlinux):
        report = json.loads(subprocess.run(
            ["kmemtrace-report", "-q", "--json", capture], stdout=subprocess.PIPE,
            check=True).stdout)
        addresses = collections.defaultdict(set)
        for site in report["callsites"]:
            if not site["module"]:
                addresses[site["symbol"]].add(int(site["address"], 16))
        # Functions of one name can have call sites of one name.
        self.address = {symbol: found.pop() for symbol, found in addresses.items()
                        if len(found) == 1}
        self.chains = self.read_chains(vmlinux)

    def read_chains(self, vmlinux):
        """Return {address: [(function, file:line)]}, from the innermost inlined function
        to the function of the symbol."""
        wanted = sorted(set(self.address.values()))
        # The call precedes the return address.
        text = "".join(f"{address - 1:#x}\n" for address in wanted)
        output = subprocess.run(["addr2line", "-a", "-i", "-f", "-e", vmlinux], input=text,
                                stdout=subprocess.PIPE, text=True, check=True).stdout
        chains = {}
        lines = iter(output.splitlines())
        for line in lines:
            if line.startswith("0x"):
                chain = chains[int(line, 16) + 1] = []
            else:
                chain.append((line, next(lines).split(" ")[0]))
        return chains

    def truth(self, symbol):
        """Return the place of a call site in the source: the innermost line in a file
        that is not a header, and the outermost line. None if it is unknown."""
        chain = self.chains.get(self.address.get(symbol), [])
        if not chain or any("?" in line for _, line in chain):
            return None
        lines = [self.relative(line) for _, line in chain]
        inner = next((line for line in lines if ".h:" not in line), lines[-1])
        return inner, lines[-1]

    def inlines(self, symbol, name):
        """Return whether a function is inlined at a call site."""
        return any(inlined == name for inlined, _ in self.chains[self.address[symbol]])

    def is_repeated(self, symbol):
        """Return whether the function of a call site has other ones whose innermost line
        is the same."""
        inner = self.truth(symbol)[0]
        return 1 < sum(function(other) == function(symbol) and truth[0] == inner
                       for other, truth in self.truths().items())

    @functools.lru_cache(None)
    def truths(self):
        """Return {symbol: its place} of all call sites with a known place."""
        found = {symbol: self.truth(symbol) for symbol in self.address}
        return {symbol: truth for symbol, truth in found.items() if truth}

    @staticmethod
    def relative(line):
        """Return a file name without the build directory in the tree."""
        return re.sub(r"^.*/kmt-[^/]*/\.\./", "", line)


class Judge:
    """Count the matches of a comparison by their truth."""

    def __init__(self, base, new):
        self.base = base
        self.new = new
        self.counts = collections.Counter()
        self.wrong = []
        self.missed = []

    def is_right(self, base_symbol, new_symbol):
        """Return whether the source lines are those of one call site. The outermost line
        of inlined code depends on the optimization, so it decides only between call sites
        of the same innermost line."""
        base, new = self.base.truth(base_symbol), self.new.truth(new_symbol)
        return base == new or base[0] == new[0] and not (
            self.base.is_repeated(base_symbol) or self.new.is_repeated(new_symbol))

    def is_right_guess(self, base_symbol, new_symbol):
        """Return whether one side has the call site in a function that is inlined into the
        function of the other side, or the innermost line is the same."""
        return (self.base.truth(base_symbol)[0] == self.new.truth(new_symbol)[0]
                or self.base.inlines(base_symbol, function(new_symbol))
                or self.new.inlines(new_symbol, function(base_symbol)))

    def judge(self, base_symbol, new_symbol, what, is_right):
        """Count a pair that the comparison matches or guesses."""
        truth = self.base.truth(base_symbol), self.new.truth(new_symbol)
        if None in truth:
            self.counts[what, "unknown"] += 1
        elif is_right(base_symbol, new_symbol):
            self.counts[what, "right"] += 1
        else:
            self.counts[what, "wrong"] += 1
            self.wrong.append((what, base_symbol, new_symbol, truth))

    def judge_unmatched(self, removed, added):
        """Count the removed lines whose code is that of an added line of the same kind:
        in a function of the same source, or inlined into another function."""
        by_truth = collections.defaultdict(list)
        for line in added:
            truth = self.new.truth(line["callsite"])
            if truth:
                by_truth[line["kind"], truth].append(line)
                by_truth[line["kind"], truth[0]].append(line)
        for line in removed:
            truth = self.base.truth(line["callsite"])
            if truth is None:
                self.counts["removed", "unknown"] += 1
            elif by_truth[line["kind"], truth]:
                self.counts["removed", "missed"] += 1
                self.missed.append((line["callsite"], truth,
                                    by_truth[line["kind"], truth][0]["callsite"]))
            elif by_truth[line["kind"], truth[0]]:
                self.counts["removed", "inlined elsewhere"] += 1
            else:
                self.counts["removed", "gone"] += 1


def compare(base, new):
    """Return the lines of a comparison without those of modules."""
    done = subprocess.run(["kmemtrace-report", "-q", "--json", f"--diff={base}", new],
                          stdout=subprocess.PIPE, text=True, check=True)
    return [line for line in json.loads(done.stdout)["callsites"]
            if "[" not in line["callsite"]]


def judge(base, new, lines):
    """Return the Judge of all lines."""
    result = Judge(base, new)
    for line in lines:
        if line["match"] in ("same", "aligned"):
            old = line.get("base_values", line)["callsite"]
            result.judge(old, line["callsite"], "match", result.is_right)
        elif line["match"] == "removed" and line["possible_match"]:
            result.judge(line["callsite"], line["possible_match"]["callsite"], "guess",
                         result.is_right_guess)
    result.judge_unmatched([line for line in lines if line["match"] == "removed"],
                           [line for line in lines if line["match"] == "added"])
    return result


def print_result(lines, result):
    """Print the counts and the errors."""
    print("lines:", dict(collections.Counter(line["match"] for line in lines)))
    for (what, verdict), n in sorted(result.counts.items()):
        print(f"{what}: {n} {verdict}")
    for what, base_symbol, new_symbol, truth in result.wrong:
        print(f"wrong {what}: {base_symbol} {truth[0]}, {new_symbol} {truth[1]}")
    for base_symbol, truth, new_symbol in result.missed:
        print(f"missed: {base_symbol}, {new_symbol} {truth}")


def main():
    """Compare the captures and judge the matches."""
    if len(sys.argv) != 5:
        sys.exit(__doc__)
    base, base_vmlinux, new, new_vmlinux = sys.argv[1:]
    lines = compare(base, new)
    result = judge(Lines(base, base_vmlinux), Lines(new, new_vmlinux), lines)
    print_result(lines, result)
    right, wrong = (result.counts["match", verdict] for verdict in ("right", "wrong"))
    missed = result.counts["removed", "missed"]
    if not right:
        print("diff_matches.py: no match was judged")
    elif wrong > MAX_WRONG * (right + wrong):
        print(f"diff_matches.py: more than {MAX_WRONG:.0%} of the matches are wrong")
    elif missed > MAX_MISSED * (right + missed):
        print(f"diff_matches.py: more than {MAX_MISSED:.0%} of the pairs are missed")
    else:
        return 0
    return 1


if __name__ == "__main__":
    sys.exit(main())
