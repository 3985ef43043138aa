# SPDX-License-Identifier: GPL-2.0-or-later
# Tests of the page of kmemtrace-report --html that need no browser.
KMT_WEB_TESTS = \
	tests/web/page-logic.py \
	tests/web/template.py
TESTS += $(KMT_WEB_TESTS)
EXTRA_DIST += $(KMT_WEB_TESTS) tests/web/page-logic.cjs

# The HTML report in a browser, for the step html of scripts/test; not in make check.
EXTRA_DIST += \
	tests/web/.npmrc \
	tests/web/browser.mjs \
	tests/web/expectations.mjs \
	tests/web/html-pages.py \
	tests/web/package-lock.json \
	tests/web/package.json \
	tests/web/page-comparison.mjs \
	tests/web/page-panels.mjs \
	tests/web/page-safety.mjs \
	tests/web/page-tables.mjs \
	tests/web/page_captures.py \
	tests/web/pages.mjs \
	tests/web/report-json.mjs
