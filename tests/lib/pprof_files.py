# SPDX-License-Identifier: GPL-2.0-or-later
"""Read a profile of pprof, with no code of protobuf, and compare it with a report.

The numbers of the fields are those of profile.proto in github.com/google/pprof.
Every byte must be understood: an unknown field, a wrong wire type, and an id that
nothing has are errors."""

import collections
import gzip

TYPES = ["alloc_objects/count", "alloc_space/bytes", "inuse_objects/count",
         "inuse_space/bytes", "wasted_space/bytes"]
# The members of a report that have these values.
MEMBERS = ["allocs", "bytes_allocated", "live_objects", "live_bytes_allocated",
           "bytes_wasted"]
# Fields of each message: number: (name, type); * means repeated.
MESSAGES = {
    "Profile": {1: ("sample_type", "*ValueType"), 2: ("sample", "*Sample"),
                3: ("mapping", "*Mapping"), 4: ("location", "*Location"),
                5: ("function", "*Function"), 6: ("string_table", "*string"),
                7: ("drop_frames", "int"), 8: ("keep_frames", "int"),
                9: ("time_nanos", "int"), 10: ("duration_nanos", "int"),
                11: ("period_type", "ValueType"), 12: ("period", "int"),
                13: ("comment", "*int"), 14: ("default_sample_type", "int")},
    "ValueType": {1: ("type", "int"), 2: ("unit", "int")},
    "Sample": {1: ("location_id", "*uint"), 2: ("value", "*int"),
               3: ("label", "*Label")},
    "Label": {1: ("key", "int"), 2: ("str", "int"), 3: ("num", "int"),
              4: ("num_unit", "int")},
    "Mapping": {1: ("id", "uint"), 2: ("memory_start", "uint"),
                3: ("memory_limit", "uint"), 4: ("file_offset", "uint"),
                5: ("filename", "int"), 6: ("build_id", "int"),
                7: ("has_functions", "uint"), 8: ("has_filenames", "uint"),
                9: ("has_line_numbers", "uint"),
                10: ("has_inline_frames", "uint")},
    "Location": {1: ("id", "uint"), 2: ("mapping_id", "uint"),
                 3: ("address", "uint"), 4: ("line", "*Line"),
                 5: ("is_folded", "uint")},
    "Line": {1: ("function_id", "uint"), 2: ("line", "int")},
    "Function": {1: ("id", "uint"), 2: ("name", "int"), 3: ("system_name", "int"),
                 4: ("filename", "int"), 5: ("start_line", "int")},
}


class Damaged(Exception):
    """The file is no profile."""


def varint(data, at):
    """Return a number of variable length, and the offset after it."""
    value = shift = 0
    while True:
        byte = data[at]
        at += 1
        value |= (byte & 0x7f) << shift
        shift += 7
        if byte < 0x80:
            return value, at
        if shift > 63:
            raise Damaged("a number of more than 10 bytes")


def number(value, kind):
    """Return the number that 64 bits mean."""
    if value >= 2 ** 64:
        raise Damaged(f"{value} has more than 64 bits")
    return value - 2 ** 64 if kind == "int" and value >= 2 ** 63 else value


def message(data, name):
    """Return the fields of a message as a dictionary."""
    fields = MESSAGES[name]
    found = {n: [] if kind[0] == "*" else 0 for n, kind in fields.values()}
    at = 0
    while at < len(data):
        tag, at = varint(data, at)
        if tag >> 3 not in fields:
            raise Damaged(f"{name} has a field {tag >> 3}")
        field, kind = fields[tag >> 3]
        base = kind.lstrip("*")
        if tag & 7 == 0 and base in ("int", "uint"):
            value, at = varint(data, at)
            values = [number(value, base)]
        elif tag & 7 == 2:
            length, at = varint(data, at)
            part, at = data[at:at + length], at + length
            if at > len(data):
                raise Damaged(f"{name}.{field} is cut off")
            values = payload(part, kind)
        else:
            raise Damaged(f"{name}.{field} has the wire type {tag & 7}")
        if kind[0] == "*":
            found[field] += values
        else:
            found[field] = values[-1]
    return found


def payload(part, kind):
    """Return the values of a field with a length."""
    base = kind.lstrip("*")
    if base == "string":
        return [part.decode("utf-8")]
    if base not in ("int", "uint"):
        return [message(part, base)]
    if kind[0] != "*":
        raise Damaged("a single number has a length")
    values, at = [], 0
    while at < len(part):
        value, at = varint(part, at)
        values.append(number(value, base))
    return values


Sample = collections.namedtuple("Sample", "frames addresses values labels")
Frame = collections.namedtuple("Frame", "name file line mapping address")


def function_of(place):
    """Return the name in a profile of the function of a place in JSON."""
    if place["symbol"] is None:
        return ("(caller not recorded)" if int(place["address"], 16) == 0
                else place["address"])
    name = place["symbol"].split(" ")[0].split("+")[0]
    return name + (f" [{place['module']}]" if place["module"] else "")


class Profile:
    """A profile with the names in place of their numbers."""

    def __init__(self, path):
        with gzip.open(path, "rb") as f:
            raw = message(f.read(), "Profile")
        self.strings = raw["string_table"]
        if self.strings[:1] != [""]:
            raise Damaged("the first string is not empty")
        if len(set(self.strings)) != len(self.strings):
            raise Damaged("a string is stored twice")
        self.types = [self.value_type(t) for t in raw["sample_type"]]
        self.period_type = self.value_type(raw["period_type"])
        self.period = raw["period"]
        self.default_type = self.text(raw["default_sample_type"])
        self.time_nanos = raw["time_nanos"]
        self.duration_nanos = raw["duration_nanos"]
        self.comments = [self.text(c) for c in raw["comment"]]
        self.mappings = self.by_id(raw["mapping"])
        self.functions = self.by_id(raw["function"])
        self.locations = self.by_id(raw["location"])
        self.frames = {i: self.frames_of(l) for i, l in self.locations.items()}
        self.samples = [self.sample(s) for s in raw["sample"]]

    def text(self, index):
        """Return a string by its number."""
        if not 0 <= index < len(self.strings):
            raise Damaged(f"there is no string {index}")
        return self.strings[index]

    def value_type(self, raw):
        """Return a type with its unit."""
        return self.text(raw["type"]) + "/" + self.text(raw["unit"])

    @staticmethod
    def by_id(raw):
        """Return messages by their ids, which are unique and not 0."""
        found = {m["id"]: m for m in raw}
        if 0 in found or len(found) != len(raw):
            raise Damaged("an id is 0 or not unique")
        return found

    def frames_of(self, location):
        """Return the frames of a location, the innermost first."""
        mapping, address = location["mapping_id"], location["address"]
        name = None
        if mapping:
            found = self.mappings[mapping]
            name = self.text(found["filename"])
            if not found["memory_start"] <= address <= found["memory_limit"]:
                raise Damaged(f"{address:#x} is outside of {name}")
        frames = []
        for line in location["line"]:
            function = self.functions[line["function_id"]]
            frames.append(Frame(self.text(function["name"]),
                                self.text(function["filename"]), line["line"],
                                name, address))
        return frames

    def sample(self, raw):
        """Return a sample; a label is a text or a number."""
        if len(raw["value"]) != len(self.types):
            raise Damaged("a sample has not one value for each type")
        labels = {}
        for label in raw["label"]:
            key = self.text(label["key"])
            if key in labels or bool(label["str"]) == bool(label["num_unit"]):
                raise Damaged(f"the label {key}")
            labels[key] = self.text(label["str"]) or label["num"]
        frames = [f for i in raw["location_id"] for f in self.frames[i]]
        return Sample(tuple(frames), tuple(self.locations[i]["address"]
                                           for i in raw["location_id"]),
                      tuple(raw["value"]), labels)

    def sums(self, key=None):
        """Return the sums of the values by a label; None: of all samples."""
        sums = {}
        for sample in self.samples:
            line = sums.setdefault(sample.labels.get(key), [0] * len(self.types))
            for i, value in enumerate(sample.values):
                line[i] += value
        return sums
