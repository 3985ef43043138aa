#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Use the HTML report in a browser, and compare its figures with the JSON report.

    html-pages.py BUILD OUT [PAGE...]    only these pages

A PAGE is one of normal, plain, lossy, hostile, empty, compared, compared-hostile,
single, and generated, or a file
*.html that kmemtrace-report has written before, which is opened and not used. BUILD
is a build folder with the HTML report. OUT receives the captures, the pages, and
pictures of each page in light and dark mode and on a narrow screen. The script
needs chromium, node, and npm, which fetches the driver of the browser."""

import json
import os
import shutil
import subprocess
import sys
import time

import page_captures

HERE = os.path.dirname(os.path.abspath(__file__))
BROWSERS = ("chromium", "chromium-browser", "google-chrome")
DRIVER_FILES = ("package.json", "package-lock.json", ".npmrc")
MOST_BYTES = 5_000_000
GENERATED = "1M"


def fetch_driver(out):
    """Fetch the driver of the browser, which the lock file pins; return its folder."""
    folder = os.path.join(out, "driver")
    os.makedirs(folder, exist_ok=True)
    for name in DRIVER_FILES:
        shutil.copy(os.path.join(HERE, name), folder)
    for attempt in range(3):
        done = subprocess.run(
            ["npm", "ci", "--ignore-scripts", "--no-audit", "--no-fund",
             "--prefer-offline"], cwd=folder, stdin=subprocess.DEVNULL,
            capture_output=True, text=True, check=False)
        if done.returncode == 0:
            return os.path.join(folder, "node_modules")
        time.sleep(5 * attempt)
    sys.exit(f"html-pages.py: npm cannot fetch the driver of the browser:\n{done.stderr}")


def generate(build, directory):
    """Write a large capture of synthetic events."""
    subprocess.run([os.path.join(build, "bench", "generate"), "-o", directory,
                    "-n", GENERATED], stdout=subprocess.DEVNULL, check=True)


def write_normal(events, **options):
    """Return a function that writes a capture without losses."""
    return lambda directory: page_captures.write_normal(directory, events=events,
                                                        **options)


def captures(build):
    """Return the pages: the name, the function that writes the capture, and what the
    browser does with the page."""
    used = {"use": True, "word": "card", "details": 4}
    return {
        "normal": (page_captures.write_normal,
                   {**used, "stacks": True, "complete": True, "names": True, "texts": [
                       "card_leak+0x10", "6.12.0-page", "drivers/card/ring.c:19"]}),
        "plain": (lambda d: page_captures.write_normal(d, stacks=False),
                  {**used, "stacks": False, "complete": True, "texts": []}),
        "lossy": (page_captures.write_lossy,
                  {**used, "stacks": True, "complete": False,
                   "texts": ["614"]}),
        "hostile": (page_captures.write_hostile,
                    {"names": True, "texts": ["attack()"]}),
        "empty": (page_captures.write_empty, {"texts": ["6.12.0-page"]}),
        "compared": (write_normal(12000),
                     {"texts": ["Comparison"], "bases": [
                         page_captures.write_lossy, write_normal(9000)],
                      "others": [write_normal(11000, stacks=False)],
                      "options": ["--error-rate", ".4"]}),
        "single": (write_normal(12000), {"texts": ["Noise is not known"], "bases": [
            page_captures.write_lossy]}),
        "compared-hostile": (
            lambda d: page_captures.write_hostile(d, length=3000),
            {"texts": ["attack()"], "hostile": True, "bases": [write_normal(9000)]}),
        "generated": (lambda d: generate(build, d),
                      {"figures": True, "complete": False, "texts": []}),
    }


def write_capture(directory, write):
    """Write a capture; return its directory."""
    # An earlier run may have left its capture.
    shutil.rmtree(directory, ignore_errors=True)
    write(directory)
    return directory


def write_page(program, name, out, write, options):
    """Write the captures and the page; return the options for the browser."""
    page = os.path.join(out, name + ".html")
    paths = [write_capture(os.path.join(out, name), write)]
    paths += [write_capture(os.path.join(out, f"{name}-new{i}"), other)
                  for i, other in enumerate(options.pop("others", []))]
    arguments = ["--diff=" + write_capture(os.path.join(out, f"{name}-base{i}"), base)
                 for i, base in enumerate(options.pop("bases", []))]
    given = {"compared": bool(arguments), "options": [
        *arguments, *options.pop("options", [])], "captures": paths}
    start = time.monotonic()
    subprocess.run([program, "-q", f"--html={page}", *given["options"], *paths],
                   stdin=subprocess.DEVNULL, check=True)
    size = os.path.getsize(page)
    print(f"{name}: {size} bytes, {time.monotonic() - start:.1f} s", flush=True)
    if size > MOST_BYTES:
        sys.exit(f"html-pages.py: {page} has more than {MOST_BYTES} bytes")
    return {"name": name, "capture": paths[0], "page": page, **given, **options}


def main():
    """Write the pages, and open them."""
    build, out, *only = sys.argv[1:]
    build = os.path.abspath(build)
    out = os.path.abspath(out)
    browser = next(filter(None, map(shutil.which, BROWSERS)), None)
    if not browser:
        sys.exit("html-pages.py: there is no chromium; run scripts/install-deps browser")
    os.makedirs(out, exist_ok=True)
    program = os.path.join(build, "report", "kmemtrace-report")
    pages = []
    for name, (write, options) in captures(build).items():
        if not only or name in only:
            pages.append(write_page(program, name, out, write, options))
    for page in only:
        if page.endswith(".html"):
            name = os.path.basename(page).removesuffix(".html")
            pages.append({"name": name, "page": os.path.abspath(page), "texts": []})
    config = os.path.join(out, "pages.json")
    with open(config, "w", encoding="utf-8") as file:
        json.dump({"modules": fetch_driver(out), "chromium": browser, "out": out,
                   "program": program, "pages": pages,
                   "templateFile": os.path.join(build, "report", "html",
                                                "template.html")}, file)
    sys.exit(subprocess.run(["node", os.path.join(HERE, "pages.mjs"), config],
                            stdin=subprocess.DEVNULL, check=False).returncode)


if __name__ == "__main__":
    main()
