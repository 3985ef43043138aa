# SPDX-License-Identifier: GPL-2.0-or-later
"""Find the statements of a C file that a mutation can delete or invert.

The finder is lexical: it relies on balanced braces and parentheses and on the
layout that clang-format gives the tree. A candidate that does not compile is
rejected later by the compiler.
"""
import re
from dataclasses import dataclass


@dataclass(frozen=True)
class Mutant:
    """Replace text[start:end] of file by replacement."""
    file: str
    function: str
    line: int
    kind: str           # "delete", "invert" or "negate-return"
    start: int
    end: int
    replacement: str
    text: str           # the statement or condition on one line

    @property
    def key(self):
        """Name the mutant without line numbers, so that the name survives edits."""
        return (self.file, self.function, self.kind, self.text)


CONTROL = {"if", "while", "for", "switch"}
# Deleting an assertion or a release of memory changes no result. Leaks are
# the concern of the steps valgrind and sanitizers. Functions of the tree that
# free an object may also close files, so they are mutated.
NO_RESULT = re.compile(
    r"(g_assert\w*|g_return_(val_)?if_fail|g_warn_if\w*|_Static_assert|G_STATIC_ASSERT"
    r"|g_free|free|g_clear_\w+|g_\w+_(free|unref)|g_strfreev"
    r"|__builtin_prefetch|\(void\))\b")


def blank(source):
    """Replace comments, strings and preprocessor lines by spaces of equal length."""
    pattern = re.compile(
        r'//[^\n]*|/\*.*?\*/|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\''
        r'|^[ \t]*#(?:\\\n|[^\n])*', re.S | re.M)

    def spaces(match):
        text = match.group()
        # A string stays a token, so that "f("...")" is not an empty call.
        fill = "s" if text[0] in "\"'" else " "
        return re.sub(r"[^\n]", fill, text)
    return pattern.sub(spaces, source)

# A declaration without an initialiser; the compiler rejects most others.
DECLARATION = re.compile(
    r"(?!goto\b)(static |const |struct |enum |union |unsigned )*\w+[\s*]+\w+(\[[^=]*\])*"
    r"(,[\s*]*\w+(\[[^=]*\])*)*\s*$")


class Finder:
    def __init__(self, name, source):
        self.name = name
        self.source = source
        self.code = blank(source)
        self.function = ""
        self.boolean = False
        self.mutants = []

    def add(self, kind, start, end, replacement):
        text = " ".join(self.source[start:end].split())
        # Line numbers of the rest of the file must not change.
        missing = self.source.count("\n", start, end) - replacement.count("\n")
        self.mutants.append(Mutant(
            self.name, self.function, self.source.count("\n", 0, start) + 1,
            kind, start, end, replacement + "\n" * missing, text))

    def skip_space(self, at):
        while at < len(self.code) and self.code[at].isspace():
            at += 1
        return at

    def closing(self, at):
        """Return the offset of the bracket that closes the one at offset at."""
        depth = 0
        for place in range(at, len(self.code)):
            if self.code[place] in "([{":
                depth += 1
            elif self.code[place] in ")]}":
                depth -= 1
                if depth == 0:
                    return place
        raise ValueError(f"{self.name}: unbalanced bracket at offset {at}")

    def stop(self, at):
        """Return the offset of the next ';' or '{' outside parentheses."""
        while self.code[at] not in ";{}":
            at = self.closing(at) + 1 if self.code[at] in "([" else at + 1
        return at

    def word(self, at):
        match = re.match(r"\w+", self.code[at:at + 64])
        return match.group() if match else ""

    def block(self, at):
        """Visit the statements of the block whose '{' is at offset at."""
        end = self.closing(at)
        at = self.skip_space(at + 1)
        while at < end:
            at = self.skip_space(self.statement(at))
        return end + 1

    def control(self, at, word):
        """Visit an if, while, for, switch or a macro that acts like a loop."""
        open_at = self.skip_space(at + len(word))
        close = self.closing(open_at)
        if word in ("if", "while"):
            condition = self.source[open_at + 1:close]
            self.add("invert", open_at + 1, close, f"!({condition})")
        at = self.statement(self.skip_space(close + 1))
        after = self.skip_space(at)
        if word == "if" and self.word(after) == "else":
            return self.statement(self.skip_space(after + 4))
        return at

    def do_while(self, at):
        at = self.skip_space(self.statement(self.skip_space(at + 2)))
        open_at = self.skip_space(at + len("while"))
        close = self.closing(open_at)
        condition = self.source[open_at + 1:close]
        self.add("invert", open_at + 1, close, f"!({condition})")
        return self.code.index(";", close) + 1

    def statement(self, at):
        """Visit the statement at offset at and return the offset behind it."""
        if self.code[at] == "{":
            return self.block(at)
        if self.code[at] == ";":
            return at + 1
        word = self.word(at)
        if word in CONTROL:
            return self.control(at, word)
        if word == "do":
            return self.do_while(at)
        if word in ("case", "default") or re.match(r"\w+\s*:[^:]", self.code[at:at + 80]):
            return self.code.index(":", at) + 1
        end = self.stop(at)
        if self.code[end] == "{":
            head = self.code[at:end].rstrip()
            open_at = self.skip_space(at + len(word))
            if word and head.endswith(")") and self.code[open_at] == "(" and \
                    self.closing(open_at) == at + len(head) - 1:
                return self.block(end)
            # The brace belongs to a type or an initialiser.
            while self.code[end] == "{":
                end = self.stop(self.closing(end) + 1)
        if self.code[end] == "}":
            return end
        self.simple(at, end, word)
        return end + 1

    def simple(self, at, end, word):
        if word == "return":
            value = self.source[at + len(word):end].strip()
            if value and self.boolean:
                self.add("negate-return", at, end, f"return !({value})")
            elif not value:
                self.add("delete", at, end, "")
        elif not NO_RESULT.match(self.code[at:end]) and \
                not DECLARATION.match(self.code[at:end]):
            self.add("delete", at, end, "")

    def run(self):
        """Visit each function body at the top level of the file."""
        at = 0
        begin = 0
        while at < len(self.code):
            char = self.code[at]
            if char == ";":
                begin = at + 1
            elif char == "(":
                at = self.closing(at)
            elif char == "{":
                head = self.code[begin:at].rstrip()
                if head.endswith(")"):
                    # An attribute or a macro without ';' may precede the function.
                    head = re.split(r"\)\s*\n(?=\w)", head)[-1]
                    name = re.search(r"(\w+)\s*\(", head)
                    self.function = name.group(1) if name else ""
                    self.boolean = bool(re.search(r"\b(gboolean|bool)\s+\w+\s*\(", head))
                    at = self.block(at) - 1
                else:
                    at = self.closing(at)
                begin = at + 1
            at += 1
        return self.mutants


def find(name, source):
    """Return the mutants of a C source file, in order of their offsets."""
    return sorted(Finder(name, source).run(), key=lambda m: (m.start, m.kind))
