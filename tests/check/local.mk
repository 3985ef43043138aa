# SPDX-License-Identifier: GPL-2.0-or-later
KMT_CHECK_TESTS = \
	tests/check/command-line.sh \
	tests/check/golden.py \
	tests/check/random-damage.py
TESTS += $(KMT_CHECK_TESTS)
EXTRA_DIST += $(KMT_CHECK_TESTS)

EXTRA_DIST += tests/check/fixtures
