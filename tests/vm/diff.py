#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Check comparisons of boots of vm/scenarios/diff.sh: equal boots differ by noise, and a
planted leak, planted waste, and a planted peak are each first in their list.

Usage: diff.py FOLDER
FOLDER has the captures none-N/capture, leak/capture, waste/capture, and spike/capture.
Boots with an odd N are the base side."""
import json
import pathlib
import subprocess
import sys

# Name of the boot to field, function, and the bytes that the fault adds: 2000 objects of
# 192 bytes; 2000 frames of 1048 bytes, each in 2048; 8 MB at a time.
FAULTS = {
    "leak": ("live", "faulty_open", 2000 * 192),
    "waste": ("wasted", "faulty_receive", 2000 * (2048 - 1048)),
    "spike": ("peak", "faulty_resize", 8 << 20),
}
# In equal boots, a line that exceeds noise by chance may differ by this part of its kind.
# Most of the noise is that of processes whose memory the kernel has not yet freed.
MAX_BY_CHANCE = 0.10


def compare(base, new, *options):
    """Return the JSON document of a comparison."""
    argv = ["kmemtrace-report", "--json", "--time", ",marker:booted", *options]
    argv += [f"--diff={path}" for path in base]
    done = subprocess.run(argv + new, stdout=subprocess.PIPE, text=True, check=True)
    return json.loads(done.stdout)


def field_list(document, name):
    """Return the entry of a field."""
    return next(entry for entry in document["fields"] if entry["field"] == name)


def first_line(document, field):
    """Return the first line of the list of a field."""
    return document["callsites"][field_list(document, field)["order"][0]]


def judge_fault(folder, name):
    """Return the errors of the comparison of a boot with a fault."""
    field, function, size = FAULTS[name]
    document = compare([folder / "none-1/capture"], [folder / name / "capture"])
    line = first_line(document, field)
    found = line["figures"][field]
    print(f"{name}: first in {field}: {line['callsite']}: {found['base']} -> "
          f"{found['new']}, {found['difference']:+} bytes")
    errors = []
    if not line["callsite"].startswith(function + "+"):
        errors.append(f"{name}: not {function} is first in {field}")
    elif found["difference"] != size:
        errors.append(f"{name}: the difference of {field} is not {size}")
    if document["noise"]["known"] or found["noise"] != "unknown":
        errors.append(f"{name}: noise is known with one capture on each side")
    return errors


def judge_noise(folder):
    """Return the errors of the comparison of equal boots."""
    boots = sorted(folder.glob("none-*/capture"))
    document = compare(boots[0::2], boots[1::2])
    errors = []
    for entry in document["fields"]:
        field = entry["field"]
        largest = 0
        for line in document["callsites"]:
            cell = line["figures"][field]
            total = document["kinds"][line["kind"]][field]["base"]
            part = abs(cell["difference"]) / max(total, 1)
            largest = max(largest, part)
            if cell["noise"] == "exceeds" and part > MAX_BY_CHANCE:
                errors.append(f"{field} of {line['callsite']} ({line['kind']}) differs by "
                              f"{cell['difference']}, {part:.1%} of its kind")
        print(f"equal boots: {field}: {entry['varying']} of {entry['lines']} lines vary, "
              f"{entry['exceeding']} exceed noise (by chance up to "
              f"{entry['exceeding_by_chance']:.1f}); largest difference "
              f"{largest:.2%} of its kind")
    if not document["noise"]["known"]:
        errors.append("noise is unknown with three captures on each side")
    moved = [line["callsite"] for line in document["callsites"]
             if line["match"] == "aligned"]
    if moved:
        errors.append(f"call sites of one build are matched by order: {moved}")
    return errors


def main():
    """Judge the captures."""
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    folder = pathlib.Path(sys.argv[1])
    errors = judge_noise(folder)
    for name in FAULTS:
        errors += judge_fault(folder, name)
    for error in errors:
        print("diff.py:", error)
    return 1 if errors else 0


if __name__ == "__main__":
    sys.exit(main())
