# SPDX-License-Identifier: GPL-2.0-or-later
# Measures how many faults make check finds; not in make check.
EXTRA_DIST += \
	tests/mutation/coverage.py \
	tests/mutation/equivalent.list \
	tests/mutation/run \
	tests/mutation/statements.py \
	tests/mutation/workspace.py
