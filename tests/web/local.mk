# SPDX-License-Identifier: GPL-2.0-or-later
# Tests of the page of kmemtrace-report --html that need no browser.
KMT_WEB_TESTS = \
	tests/web/page-logic.py \
	tests/web/template.py
TESTS += $(KMT_WEB_TESTS)
EXTRA_DIST += $(KMT_WEB_TESTS) tests/web/page-logic.cjs
