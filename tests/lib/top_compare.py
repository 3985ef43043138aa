# SPDX-License-Identifier: GPL-2.0-or-later
"""Compare the views of kmemtrace-top with the report of the raw capture that it wrote
at the same time."""

from top_case import report, rows_of_report, rows_of_top


class Differs(Exception):
    """A figure of kmemtrace-top differs."""


def check(condition, text):
    """Raise Differs unless the condition holds."""
    if not condition:
        raise Differs(text)


def without_names(rows):
    """Return the figures of each kind: the symbols of modules that were loaded
    meanwhile may be known only at the end."""
    sums = {}
    for (_, kind), figures in rows.items():
        for name, value in figures.items():
            sums[kind, name] = sums.get((kind, name), 0) + value
    return sums


def check_trace(views, directory, source):
    """Compare all views of one trace, grouped by call site, with the report."""
    last, header = views[-1], views[-1]["header"]
    document = report(directory)
    check(header["ended"], "the last view has not ended")
    check(header["source"] == source, f"source {header['source']}")
    check(header["capture"]["state"] == "complete", str(header["capture"]))
    check(header["events"] == document["capture"]["events"],
          f"{header['events']} events, but {document['capture']['events']}")
    check(header["events"] > 1000, f"only {header['events']} events")
    check(sum(view["header"]["interval_events"] for view in views)
          == header["events"], "the intervals do not add up")
    print(f"{len(views)} views, {header['events']} events, {header['lost']} lost, "
          f"{header['late_records']} late, {header['live_objects']} live objects, {header['memory_bytes']} bytes")
    if header["lost"] or header["losses_unknown"]:
        print("events were lost, so the order of decisions may differ")
        return
    got, want = rows_of_top(last), rows_of_report(document, "callsite")
    if got != want:
        different = [key for key in sorted({*got, *want})
                     if got.get(key) != want.get(key)]
        print(f"{len(different)} of {len(want)} call sites differ in their name")
    got, want = without_names(got), without_names(want)
    check(got == want, "\n".join(f"{key}: {got.get(key)}, must be {want.get(key)}"
                                 for key in sorted({*got, *want})
                                 if got.get(key) != want.get(key)))
