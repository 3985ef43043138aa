# SPDX-License-Identifier: GPL-2.0-or-later
KMT_TOP_TESTS = \
	tests/top/figures.py \
	tests/top/streams.py
TESTS += $(KMT_TOP_TESTS)
EXTRA_DIST += $(KMT_TOP_TESTS)

# The step top-live of scripts/test; not in make check.
EXTRA_DIST += tests/top/top-live.py
