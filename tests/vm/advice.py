#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Compare the savings that kmemtrace-report --advise predicts with the slabs of a
kernel that was changed as advised. Arguments: the list of the changes, the output of
--advise --json for the unchanged kernel, and the results of vm/scenarios/advice.sh on
the unchanged and on the changed kernel. Prints a table in Markdown."""

import argparse
import collections
import json
import os
import sys

PAGE = 4096
# A measured saving may differ from the prediction by this share.
TOLERANCE = 0.1
# The simulated slabs of kmalloc() may differ from those of the kernel by this share.
SIMULATION_TOLERANCE = 0.05

# A line of the list.
Trial = collections.namedtuple("Trial",
                               "kind objects function size action old new")


def read_trials(path):
    """Return the lines of the list."""
    with open(path, encoding="utf-8") as f:
        lines = [line.split() for line in f
                 if line.strip() and not line.startswith("#")]
    return [Trial(kind, int(objects), function, int(size), action, old, new)
            for kind, objects, function, size, action, old, new in lines]


def slab_bytes(path):
    """Return the bytes of the slabs of each cache in a copy of slabinfo."""
    held = {}
    with open(path, encoding="ascii") as f:
        for line in f:
            if line.startswith(("#", "slabinfo")):
                continue
            fields = line.split()
            pages, slabs = int(fields[5]), int(fields[14])
            held[fields[0]] = pages * slabs * PAGE
    return held


def growth(folder, kind):
    """Return how much each cache grew while the objects of a kind were made."""
    before, after = (slab_bytes(os.path.join(folder, "slabinfo",
                                             f"{kind}-{moment}"))
                     for moment in ("before", "after"))
    return {cache: held - before.get(cache, 0)
            for cache, held in after.items()}


def prediction(advice, trial):
    """Return the predicted saving for the objects of a trial."""
    for number, finding in enumerate(advice["findings"], 1):
        symbols = [site["symbol"] or "" for site in finding["sites"]]
        # The compiler may add a suffix to the function: alloc_super.constprop.0.
        names = {symbol.split("+")[0].split(".")[0] for symbol in symbols}
        if (finding["topic"] == "size" and trial.function in names and
                finding["inputs"]["bytes_requested"] == trial.size):
            break
    else:
        sys.exit(f"no finding names {trial.function} with {trial.size} bytes")
    for change in finding["changes"]:
        if change["action"] == trial.action:
            # Objects of the boot are in the advice, but not in the growth.
            live = finding["inputs"]["objects_live"]
            if live < trial.objects:
                sys.exit(f"{trial.function}: the advice has {live} objects of "
                         f"{trial.objects}")
            return number, change["saving_live"] * trial.objects // live
    return sys.exit(f"{trial.function}: the advice has no {trial.action}")


def saving(base, new, trial):
    """Return the bytes that the caches of a trial grew less, and all caches."""
    grown = [growth(folder, trial.kind) for folder in (base, new)]
    caches = [sum(held.get(cache, 0) for cache in {trial.old, trial.new})
              for held in grown]
    return caches[0] - caches[1], sum(grown[0].values()) - sum(grown[1].values())


def kmalloc_slabs(folder, kind):
    """Return the bytes of the slabs of kmalloc() after a kind was made."""
    held = slab_bytes(os.path.join(folder, "slabinfo", f"{kind}-after"))
    return sum(bytes_held for cache, bytes_held in held.items()
               if cache.startswith("kmalloc-"))


def is_near(measured, predicted, tolerance=TOLERANCE):
    """Return whether a figure is as predicted."""
    return abs(measured - predicted) <= tolerance * predicted


def describe(measured, predicted):
    """Return the difference in percent."""
    return f"{100 * (measured - predicted) / predicted:+.1f} %"


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    for name in ("trials", "advice", "base", "new"):
        parser.add_argument(name)
    args = parser.parse_args()
    with open(args.advice, encoding="utf-8") as f:
        advice = json.load(f)["advice"]
    for folder in (args.base, args.new):
        with open(os.path.join(folder, "total_overruns"),
                  encoding="ascii") as f:
            if int(f.read()):
                sys.exit(f"{folder}: events were lost")
    trials, wrong, sums = read_trials(args.trials), [], [0, 0, 0]
    print("| call site | bytes | objects | change | line of the advice | "
          "predicted | measured | difference | all caches |\n"
          "| --- | ---: | ---: | --- | ---: | ---: | ---: | ---: | ---: |")
    for trial in trials:
        number, predicted = prediction(advice, trial)
        measured, everywhere = saving(args.base, args.new, trial)
        print(f"| `{trial.function}()` | {trial.size} | {trial.objects} | "
              f"`{trial.action}` | {number} | {predicted} | {measured} | "
              f"{describe(measured, predicted)} | {everywhere} |")
        sums = [a + b for a, b in zip(sums, (predicted, measured, everywhere))]
        if not is_near(measured, predicted):
            wrong.append(f"{trial.function}: {measured} bytes instead of "
                         f"{predicted}")
    print(f"| all | | | | | {sums[0]} | {sums[1]} | "
          f"{describe(sums[1], sums[0])} | {sums[2]} |")
    if not is_near(sums[2], sums[0]):
        wrong.append(f"all caches: {sums[2]} bytes instead of {sums[0]}")
    simulated = advice["size_classes"]["sets"][0]["slabs_at_end"]
    held = kmalloc_slabs(args.base, trials[-1].kind)
    print(f"\nSlabs of all sizes of kmalloc: {simulated} bytes simulated, "
          f"{held} in slabinfo, {describe(held, simulated)}.")
    if not is_near(held, simulated, SIMULATION_TOLERANCE):
        wrong.append("the simulated slabs of kmalloc differ")
    if wrong:
        sys.exit("\n".join(wrong))


if __name__ == "__main__":
    main()
