# SPDX-License-Identifier: GPL-2.0-or-later
"""The list of messages that were reworded on purpose, and its application.

A line of the list has three fields with tabs between:

    PROGRAM  OLD  NEW

PROGRAM is the name of the program that prints the message, or * for all
programs.  OLD is the message, or a part of it, as the old program prints it; a
* in OLD stands for any text within a line.  NEW is the new wording; it has as
many *, and each stands for the text of the * at the same position in OLD.  \\n
is the end of a line, \\* an asterisk, \\\\ a backslash.  Lines that begin with #
are comments.

Rules do not apply to the result of other rules, but they do apply within the
text of a *.
"""

import re

# JSON keys and kmemtrace.meta keys whose values are messages.
JSON_MESSAGES = {"defect", "description", "incomplete", "not_seen", "warnings"}
META_MESSAGES = {b"incomplete", b"not_seen"}
JSON_TOKEN = re.compile(r'"(?:[^"\\]|\\.)*"(?:\s*:)?|[^"]+')
UNESCAPED = {"n": "\n", "*": "*", "\\": "\\"}


class ListError(Exception):
    """A line of the list is invalid."""


def split(text):
    """Split a field at its asterisks into literal parts."""
    parts = [""]
    for token in re.findall(r"\\.|[^\\]", text):
        if token == "*":
            parts.append("")
        else:
            parts[-1] += UNESCAPED.get(token[1], token) \
                if len(token) > 1 else token
    return parts


def pattern(parts):
    """A regular expression for the literal parts of OLD.

    A part does not begin or end within a word.  A * at the beginning or at the
    end of OLD reaches as far as the line does.
    """
    text = r"([^\n]*?)".join(map(re.escape, parts))
    if not parts[0]:
        text = "^" + text
    elif parts[0][0].isalnum():
        text = r"(?<!\w)" + text
    if not parts[-1]:
        text += "$"
    elif parts[-1][-1].isalnum():
        text += r"(?!\w)"
    return re.compile(text, re.MULTILINE)


class Rule:
    """One line of the list."""

    def __init__(self, line):
        fields = line.split("\t")
        if len(fields) != 3:
            raise ListError("it has not three fields with tabs between")
        self.program, self.text, _ = fields
        self.old, self.new = map(split, fields[1:])
        if len(self.old) != len(self.new):
            raise ListError("the two messages have not equally many *")
        if not any(self.old):
            raise ListError("the old message has no text")
        self.weight = sum(map(len, self.old))
        self.regex = pattern(self.old)
        self.used = 0


class Rewordings:
    """All rules of a list."""

    def __init__(self, path):
        self.rules = []
        with open(path, encoding="utf-8") as f:
            for number, line in enumerate(f, 1):
                if line.startswith("#") or not line.strip():
                    continue
                try:
                    self.rules.append(Rule(line.rstrip("\n")))
                except ListError as e:
                    raise ListError(f"{path}:{number}: {e}") from None

    def apply(self, program, text):
        """Replace the old messages of a program in text by the new ones."""
        rules = [rule for rule in self.rules
                 if rule.program in ("*", program)
                 and all(part in text for part in rule.old)]
        found, out, at = {}, "", 0
        while True:
            for rule in rules:
                match = found.get(rule, False)
                if match is False or match and match.start() < at:
                    found[rule] = rule.regex.search(text, at)
            # The first match; of several, that with the longest message.
            some = [(match.start(), -rule.weight, n)
                    for n, rule in enumerate(rules)
                    if (match := found[rule])]
            if not some:
                return out + text[at:]
            rule = rules[min(some)[2]]
            match = found[rule]
            rule.used += 1
            out += text[at:match.start()] + rule.new[0]
            for group, part in zip(match.groups(), rule.new[1:]):
                out += self.apply(program, group) + part
            at = match.end()

    def reworded(self, program, old):
        """Reword bytes, which need not be UTF-8."""
        return self.apply(program, old.decode("utf-8", "surrogateescape")) \
            .encode("utf-8", "surrogateescape")

    def reworded_json(self, program, old):
        """Reword the texts of JSON that are messages, and nothing else."""
        out, key = [], None
        for token in JSON_TOKEN.findall(old.decode("utf-8", "replace")):
            if token[0] == '"' and token[-1] == ":":
                key = token[1:token.rindex('"')]
            elif token[0] == '"' and key in JSON_MESSAGES:
                text = token[1:-1].replace('\\"', '"')
                text = self.apply(program, text).replace('"', '\\"')
                token = '"' + text + '"'
            out.append(token)
        return "".join(out).encode("utf-8")

    def reworded_meta(self, program, old):
        """Reword the values of kmemtrace.meta that are messages."""
        lines = old.split(b"\n")
        for n, line in enumerate(lines):
            key, _, value = line.partition(b"=")
            if key in META_MESSAGES:
                lines[n] = key + b"=" + self.reworded(program, value)
        return b"\n".join(lines)

    def print_use(self):
        """Print how often each rule was applied, and which rules never were."""
        for rule in sorted(self.rules, key=lambda rule: -rule.used):
            times = f"{rule.used:6} times" if rule.used else " never used"
            print(f"reworded {times}: {rule.program}: {rule.text}")
