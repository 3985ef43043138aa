#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Assemble the template of kmemtrace-report --html from its parts.

The template is one file that loads nothing. Its content security policy permits the
scripts and styles of this build by their hashes, so that nothing from a capture can run.
The output depends only on the contents of the parts."""

import argparse
import base64
import hashlib
import os
import re
import sys

DATA = "<!--KMT-DATA-->"
PLACES = ("<!--KMT-POLICY-->", "<!--KMT-STYLES-->", "<!--KMT-SCRIPTS-->", DATA)


def read(path):
    """Return the text of a part."""
    try:
        with open(path, encoding="utf-8", newline="") as file:
            return file.read().replace("\r\n", "\n")
    except (OSError, UnicodeDecodeError) as error:
        sys.exit(f"assemble.py: {path} cannot be read: {error}")


def element(tag, text, path):
    """Return an element with this text and the hash of the text."""
    # Each of these would change how a browser reads the rest of the page.
    found = re.search(r"</script|</style|<script|<!--", text, re.IGNORECASE)
    if found:
        sys.exit(f"assemble.py: {path} contains '{found.group()}', "
                 "which cannot be part of a page; write it in two parts")
    digest = base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
    return f"<{tag}>{text}</{tag}>", f"'sha256-{digest}'"


def library(path, licence):
    """Return the text of a library with its licence before it."""
    terms = read(licence).strip()
    if "*/" in terms:
        sys.exit(f"assemble.py: {licence} contains '*/'")
    return f"\n/*!\n{os.path.basename(path)}\n\n{terms}\n*/\n{read(path)}"


def policy(styles, scripts):
    """Return the element with the content security policy."""
    text = "; ".join((
        "default-src 'none'",
        "script-src " + " ".join(scripts),
        "style-src " + " ".join(styles),
        "img-src data:",
        "base-uri 'none'",
        "form-action 'none'",
        "require-trusted-types-for 'script'",
    ))
    return f'<meta http-equiv="Content-Security-Policy" content="{text}">'


def assembled(args):
    """Return the text of the template."""
    page = read(args.page)
    for place in PLACES:
        if page.count(place) != 1:
            sys.exit(f"assemble.py: {args.page} must contain {place} once")
    styles = [element("style", "\n" + read(path), path) for path in args.style]
    libraries = [element("script", library(path, licence), path)
                 for path, licence in args.library]
    scripts = libraries + [element("script", "\n" + read(path), path)
                           for path in args.script]
    parts = (policy([h for _, h in styles], [h for _, h in scripts]),
             "\n".join(text for text, _ in styles),
             "\n".join(text for text, _ in scripts))
    for place, part in zip(PLACES, parts):
        page = page.replace(place, part)
    return page


def main():
    """Parse the command line and write the template."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--page", required=True, help="page with the places of the parts")
    parser.add_argument("--style", action="append", default=[], metavar="FILE")
    parser.add_argument("--library", action="append", default=[], nargs=2,
                        metavar=("FILE", "LICENCE"))
    parser.add_argument("--script", action="append", default=[], metavar="FILE")
    parser.add_argument("--output", required=True, metavar="FILE")
    args = parser.parse_args()
    text = assembled(args)
    # A build that is interrupted must not leave a part of a template.
    with open(args.output + ".tmp", "w", encoding="utf-8", newline="\n") as file:
        file.write(text)
    os.replace(args.output + ".tmp", args.output)


if __name__ == "__main__":
    main()
