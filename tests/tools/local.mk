# SPDX-License-Identifier: GPL-2.0-or-later
# Tests of bench/, of tests/mutation/ and of the source tree itself.
KMT_TOOLS_TESTS = \
	tests/tools/allocator-figures.py \
	tests/tools/bench-generate.py \
	tests/tools/bench-scripts.py \
	tests/tools/include-graph.py \
	tests/tools/include-graph-rules.py \
	tests/tools/install-deps.py \
	tests/tools/mutation-statements.py \
	tests/tools/object-layers.py \
	tests/tools/path-figures.py \
	tests/tools/python-tests.py
TESTS += $(KMT_TOOLS_TESTS)
EXTRA_DIST += $(KMT_TOOLS_TESTS)

EXTRA_DIST += tests/tools/include-graph.list tests/tools/object-graph.py

# Run by hand on two builds.
EXTRA_DIST += \
	tests/tools/compare-programs.py \
	tests/tools/compare_captures.py \
	tests/tools/compare_imports.py \
	tests/tools/reworded.list \
	tests/tools/rewordings.py
